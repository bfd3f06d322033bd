/* Rows of all ranks in the order of their keys, in equal parts: each writer holds a piece of the
 * whole table that lies in one run of rows, and writes it by itself.
 *
 * The rows are counted in blocks of a fixed number. Ranks 0 .. writers-1 have a part each, whole
 * blocks but for the table's end, as even as blocks allow; a table of one block is rank 0's. Where
 * the parts begin is found by counting: of values between which a border must lie, the ranks say
 * how many of their rows lie below each, and the interval shrinks. So no rank sees more than its own
 * rows and those of its part: memory and traffic fall as rows over ranks.
 */
#ifndef TL_RUN_PORTION_H
#define TL_RUN_PORTION_H

#include "base/comm.h"
#include "base/outfile.h"
#include "base/outpart.h"
#include "model/record.h"

typedef struct TlPortion {
  TlRows rows; /* this rank's part: row i of it is row first + i of all. On one rank those given */
  int64_t first, all;
  int writers;
  int64_t block;
  unsigned char *out, *in;   /* owned; none on one rank */
  const unsigned char **row; /* into them, in order */
} TlPortion;

/* Collective. Each rank gives its rows in ascending order of their keys; they and *part stay where they
 * are until tl_portion_free, for part->rows reads them. Of rows with equal keys those of the lower rank
 * come first. After a failure there is nothing to free. */
TlStatus tl_portion_take(TlComm *comm, const TlRows *rows, int64_t block, TlPortion *part);
/* The same, but that rows with equal keys come to one rank: a part begins with the first of those among
 * which it would begin otherwise. first and tl_portion_first do not say where. */
TlStatus tl_portion_take_groups(TlComm *comm, const TlRows *rows, int64_t block, TlPortion *part);
void tl_portion_free(TlPortion *part);

/* Number of the first row of a writer's part; of the one after the last: all. */
int64_t tl_portion_first(const TlPortion *part, int writer);

/* A file that rank 0 has begun and others write in, too. */
typedef struct TlSharedFile {
  char *names; /* owned: path and temporary; NULL: they were not told yet */
  const char *temp;
  bool sync;
  TlOutPart part; /* open once this rank has something to write */
} TlSharedFile;

/* Collective. file, and whether what is written must be on the disk once it is closed, matter on
 * rank 0. Nothing happens where the others know it already. */
TlStatus tl_shared_file_tell(TlComm *comm, const TlOutFile *file, bool sync, TlSharedFile *shared);
/* For this rank's own writing; opened when first asked for. */
TlStatus tl_shared_file_part(TlSharedFile *shared, const TlOutPart **part);
/* Each rank for itself, before rank 0 gives the file its name. */
TlStatus tl_shared_file_close(TlSharedFile *shared);

#endif
