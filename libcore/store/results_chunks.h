/* A table of a frame as the chunks that its HDF5 file holds, made without HDF5: by any process, which
 * then writes them where the file's one owner has reserved places for them.
 *
 * A block of rows is a chunk in each column, shuffled and deflated as HDF5's own filters do it. A
 * chunk's bytes follow from its rows alone, so a file does not depend on who made which. */
#ifndef TL_STORE_RESULTS_CHUNKS_H
#define TL_STORE_RESULTS_CHUNKS_H

#include "base/outpart.h"
#include "model/record.h"

/* Rows of a block: few, so that a frame has blocks for many writers, and enough to pack well; a chunk
 * has 16 to 128 kB before it is packed. */
enum { TL_FRAME_BLOCK = 4096 };

typedef struct TlFrameChunks {
  int64_t count;       /* of chunks: the columns of a block, block after block */
  int64_t *size;       /* of each, bytes; owned */
  unsigned char *byte; /* one after the other, owned */
  struct TlFrameForm *form;
  size_t size_capacity, bytes, byte_capacity;
} TlFrameChunks;

/* Of a table of so many rows in all. After a failure there is nothing to free. */
TlStatus tl_frame_chunks_begin(TlFrameChunks *chunks, const TlRecord *record, int64_t rows);
/* Chunks of so many of its rows. */
int64_t tl_frame_chunks_of(const TlRecord *record, int64_t rows);
/* The next block of packed rows, `stride` bytes from one to the next, by all threads; the table's last
 * one may have fewer. */
TlStatus tl_frame_chunks_add(TlFrameChunks *chunks, const unsigned char *rows, size_t stride,
                             int64_t count);
/* What was added is forgotten; memory is kept. */
void tl_frame_chunks_clear(TlFrameChunks *chunks);
/* To the places of the file, one a chunk. */
TlStatus tl_frame_chunks_put(const TlFrameChunks *chunks, const TlOutPart *part,
                             const int64_t *place);
void tl_frame_chunks_free(TlFrameChunks *chunks);

#endif
