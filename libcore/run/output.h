/* What a run leaves: scene, frames and history (store/results.h). Rank 0 writes the scene and the
 * tables of lines, and begins and names each frame.
 *
 * Rows of a frame go to as many ranks as there are blocks for (run/portion.h); each packs its blocks as
 * the file will hold them and writes them at the places that rank 0 reserves for them. Rank 0 hears 8
 * bytes of each chunk of the others, so what a rank holds, sends and writes falls as rows over ranks,
 * and a frame's bytes do not depend on the ranks.
 */
#ifndef TL_RUN_OUTPUT_H
#define TL_RUN_OUTPUT_H

#include "base/comm.h"
#include "run/avatars.h"
#include "run/columns.h"
#include "run/portion.h"
#include "store/results.h"

/* The last is that of a run without an apparatus: 0. */
typedef struct TlTableBytes {
  int64_t table[TL_TABLES + 1];
} TlTableBytes;

typedef struct TlOutput {
  TlComm *comm;            /* borrowed */
  TlResultsWriter *writer; /* rank 0 only */
  int64_t frames;          /* written so far */
  /* What is kept when the run resumes from here: without a last frame out of turn */
  int64_t kept_frames;
  TlTableBytes kept_bytes; /* rank 0 */
} TlOutput;

/* Collective. scene matters on rank 0; its avatars are those that bodies of any rank use, or will
 * (later: more ids, sorted), taken from avatars' sources one by one. */
TlStatus tl_output_open(TlOutput *output, TlComm *comm, const char *folder, bool overwrite,
                        const TlScene *scene, const TlAvatarCache *avatars, const TlBodies *bodies,
                        const TlInts *later);
/* Collective. Resume in a folder, of which kept_frames and kept_bytes (set by the caller) stay, and
 * the checkpoints up to step. columns: of the tables, NULL where the run has none. */
TlStatus tl_output_resume(TlOutput *output, TlComm *comm, const char *folder, const char *study,
                          const TlColumns *const columns[TL_TABLES], int64_t step);
/* What was written so far is kept when the run resumes from the next checkpoint. */
TlStatus tl_output_keep(TlOutput *output);
/* Rank 0: the tables are on the disk when this returns. */
TlStatus tl_output_sync(TlOutput *output);
/* Collective. A frame of these tables, each with this rank's rows. */
typedef struct TlFrameRows {
  const TlFrameTable *table;
  TlRows rows;
} TlFrameRows;
TlStatus tl_output_frame(TlOutput *output, const TlFrameRows *tables, int count, int64_t step,
                         double time_s);
/* Collective. Begin a table with its header; write a line, made from rank 0's row. */
TlStatus tl_output_header(TlOutput *output, TlResultsTable table, const TlColumns *columns);
TlStatus tl_output_row(TlOutput *output, TlResultsTable table, const TlColumns *columns,
                       const void *row);
/* The same of one rank for itself: rank 0 writes, the others do nothing. */
TlStatus tl_output_line(TlOutput *output, TlResultsTable table, const TlColumns *columns,
                        const void *row);
/* For ParaView, at the end of a run, when all frames are there. A run without it is a whole run: what
 * fails is told as a warning. */
void tl_output_view(const TlOutput *output, const char *folder);
void tl_output_close(TlOutput *output);

#endif
