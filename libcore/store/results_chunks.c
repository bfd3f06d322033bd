#include "store/results_chunks.h"

#include "base/mem.h"
#include "base/par.h"
#include "base/zlib_bytes.h"
#include "store/results_h5.h"

#include <string.h>

/* Of a table, and memory for a group of blocks. */
typedef struct TlFrameForm {
  TlH5Column column[TL_H5_RECORD_COLUMNS];
  int columns;
  int64_t rows;                                       /* of a chunk */
  size_t plain_at[TL_H5_RECORD_COLUMNS], plain;       /* bytes of a block's columns, unpacked */
  size_t packed_at[TL_H5_RECORD_COLUMNS], packed;     /* most that they take packed */
  unsigned char *plain_bytes, *packed_bytes;          /* of a group */
  size_t size[TL_FRAME_GROUP * TL_H5_RECORD_COLUMNS]; /* of each packed chunk */
  /* what is being packed */
  const unsigned char *from;
  size_t stride;
  int64_t count;
} TlFrameForm;

TlStatus tl_frame_chunks_begin(TlFrameChunks *chunks, const TlRecord *record, int64_t rows) {
  TlFrameForm *f;
  *chunks = (TlFrameChunks){0};
  TL_TRY(TL_NEW(chunks->form, 1));
  f = chunks->form;
  f->columns = tl_h5_record_columns(record, true, f->column);
  f->rows = tl_h5_chunk_rows(rows, TL_FRAME_BLOCK);
  for (int c = 0; c < f->columns; c++) {
    size_t bytes = (size_t)f->rows * tl_h5_column_bytes(&f->column[c]);
    f->plain_at[c] = f->plain;
    f->packed_at[c] = f->packed;
    f->plain += bytes;
    f->packed += tl_zlib_bound(bytes);
  }
  size_t blocks =
      rows > TL_FRAME_GROUP * f->rows ? TL_FRAME_GROUP : (size_t)((rows + f->rows - 1) / f->rows);
  TlStatus status = TL_NEW(f->plain_bytes, blocks * f->plain);
  if (status == TL_OK) status = TL_NEW(f->packed_bytes, blocks * f->packed);
  if (status != TL_OK) tl_frame_chunks_free(chunks);
  return status;
}

int64_t tl_frame_chunks_of(const TlRecord *record, int64_t rows) {
  TlH5Column column[TL_H5_RECORD_COLUMNS];
  return (rows + TL_FRAME_BLOCK - 1) / TL_FRAME_BLOCK * tl_h5_record_columns(record, true, column);
}

/* The first bytes of all values, then their second bytes, and so on; rows that are not there are 0. */
static void shuffle(const TlFrameForm *f, const TlH5Column *c, int64_t first, unsigned char *to) {
  size_t size = tl_h5_value_bytes(c), width = (size_t)c->width, values = (size_t)f->rows * width;
  int64_t rows = f->count - first < f->rows ? f->count - first : f->rows;
  if (rows < f->rows) memset(to, 0, values * size);
  for (size_t i = 0; i < (size_t)rows; i++) {
    const unsigned char *from = f->from + ((size_t)first + i) * f->stride + c->offset;
    for (size_t k = 0; k < width; k++, from += size)
      for (size_t b = 0; b < size; b++) to[b * values + i * width + k] = from[b];
  }
}

/* One chunk. */
static TlStatus pack(void *context, int64_t begin, int64_t end, int64_t chunk, int thread) {
  TlFrameForm *f = context;
  int c = (int)(chunk % f->columns);
  size_t block = (size_t)(chunk / f->columns);
  unsigned char *plain = f->plain_bytes + block * f->plain + f->plain_at[c];
  (void)begin;
  (void)end;
  (void)thread;
  shuffle(f, &f->column[c], (int64_t)block * f->rows, plain);
  return tl_zlib_pack_into(TL_H5_DEFLATE_LEVEL, plain,
                           (size_t)f->rows * tl_h5_column_bytes(&f->column[c]),
                           f->packed_bytes + block * f->packed + f->packed_at[c], &f->size[chunk]);
}

TlStatus tl_frame_chunks_add(TlFrameChunks *chunks, const unsigned char *rows, size_t stride,
                             int64_t count) {
  static const double EACH_ROW_NS = 100; /* of a column: 60 MB/s and more */
  TlFrameForm *f = chunks->form;
  int64_t n = (count + f->rows - 1) / f->rows * f->columns;
  size_t bytes = 0;
  f->from = rows;
  f->stride = stride;
  f->count = count;
  TL_TRY(tl_par_loop(n, 1, EACH_ROW_NS * (double)f->rows, pack, f));
  for (int64_t k = 0; k < n; k++) bytes += f->size[k];
  TL_TRY(TL_RESERVE(chunks->size, chunks->size_capacity, (size_t)(chunks->count + n)));
  TL_TRY(TL_RESERVE(chunks->byte, chunks->byte_capacity, chunks->bytes + bytes));
  for (int64_t k = 0; k < n; k++) {
    const unsigned char *packed =
        f->packed_bytes + (size_t)(k / f->columns) * f->packed + f->packed_at[k % f->columns];
    memcpy(chunks->byte + chunks->bytes, packed, f->size[k]);
    chunks->bytes += f->size[k];
    chunks->size[chunks->count++] = (int64_t)f->size[k];
  }
  return TL_OK;
}

void tl_frame_chunks_clear(TlFrameChunks *chunks) {
  chunks->count = 0;
  chunks->bytes = 0;
}

TlStatus tl_frame_chunks_put(const TlFrameChunks *chunks, const TlOutPart *part,
                             const int64_t *place) {
  const unsigned char *from = chunks->byte;
  for (int64_t k = 0; k < chunks->count;) { /* chunks that lie side by side go together */
    int64_t first = place[k], end = first;
    while (k < chunks->count && place[k] == end) end += chunks->size[k++];
    TL_TRY(tl_outpart_put(part, first, from, (size_t)(end - first)));
    from += end - first;
  }
  return TL_OK;
}

void tl_frame_chunks_free(TlFrameChunks *chunks) {
  if (chunks->form) {
    tl_free(chunks->form->plain_bytes);
    tl_free(chunks->form->packed_bytes);
  }
  tl_free(chunks->form);
  tl_free(chunks->size);
  tl_free(chunks->byte);
  *chunks = (TlFrameChunks){0};
}
