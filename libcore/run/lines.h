/* Lines of a table whose rows lie on all ranks. They are put in order, an equal part on each rank
 * (run/portion.h), and each rank writes the lines of its part at their place in the file. So a rank
 * holds and sends rows over ranks, rank 0 as well, and the bytes do not depend on the ranks. A table
 * that fits into one block of rows goes to rank 0 alone.
 *
 * What other ranks wrote is on the disk when rank 0 synchronises the table on the same machine; a
 * network's file system takes it over when they close the file. */
#ifndef TL_RUN_LINES_H
#define TL_RUN_LINES_H

#include "run/output.h"
#include "store/linefile.h"

typedef struct TlLines {
  TlComm *comm;     /* borrowed, as all here */
  TlOutput *output; /* without a writer on rank 0: nothing is written */
  TlResultsTable table;
  const TlColumns *columns;
  TlLineText text; /* above rank 0: lines of this rank's part */
} TlLines;

/* Collective, and agreed upon. Rows with equal keys come to the same rank, those of the lower rank first.
 * take gets them packed, in blocks, and at the end none (count 0); it calls tl_lines_put. */
TlStatus tl_lines_write(TlLines *lines, const TlRows *rows,
                        TlStatus (*take)(void *context, const unsigned char *records,
                                         int64_t count),
                        void *context);
/* The next line, of a row of the columns. */
TlStatus tl_lines_put(TlLines *lines, const void *row);

/* Rows that pack as one piece of memory, which begins with the keys. */
TlRows tl_line_rows(size_t bytes, int keys, int64_t count,
                    void (*pack)(const void *of, int64_t first, int64_t count, unsigned char *to),
                    const void *of);

#endif
