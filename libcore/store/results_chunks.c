#include "store/results_chunks.h"

#include "base/mem.h"
#include "base/par.h"
#include "base/zlib_bytes.h"
#include "store/results_h5.h"

#include <string.h>

/* Of a table, and memory for a block. */
typedef struct TlFrameForm {
  TlH5Column column[TL_H5_RECORD_COLUMNS];
  int columns;
  int64_t rows;                           /* of a chunk */
  size_t plain_at[TL_H5_RECORD_COLUMNS];  /* where the columns begin, unpacked */
  size_t packed_at[TL_H5_RECORD_COLUMNS]; /* and packed, at most */
  unsigned char *plain, *packed;
  size_t size[TL_H5_RECORD_COLUMNS]; /* of each packed chunk */
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
  size_t plain = 0, packed = 0;
  for (int c = 0; c < f->columns; c++) {
    size_t bytes = (size_t)f->rows * tl_h5_column_bytes(&f->column[c]);
    f->plain_at[c] = plain;
    f->packed_at[c] = packed;
    plain += bytes;
    packed += tl_zlib_bound(bytes);
  }
  TlStatus status = TL_NEW(f->plain, plain);
  if (status == TL_OK) status = TL_NEW(f->packed, packed);
  if (status != TL_OK) tl_frame_chunks_free(chunks);
  return status;
}

int64_t tl_frame_chunks_of(const TlRecord *record, int64_t rows) {
  TlH5Column column[TL_H5_RECORD_COLUMNS];
  return (rows + TL_FRAME_BLOCK - 1) / TL_FRAME_BLOCK * tl_h5_record_columns(record, true, column);
}

/* The first bytes of all values, then their second bytes, and so on; rows that are not there are 0. */
static void shuffle(const TlFrameForm *f, const TlH5Column *c, unsigned char *to) {
  size_t size = tl_h5_value_bytes(c), width = (size_t)c->width, values = (size_t)f->rows * width;
  if (f->count < f->rows) memset(to, 0, values * size);
  for (size_t i = 0; i < (size_t)f->count; i++) {
    const unsigned char *from = f->from + i * f->stride + c->offset;
    for (size_t k = 0; k < width; k++, from += size)
      for (size_t b = 0; b < size; b++) to[b * values + i * width + k] = from[b];
  }
}

/* The chunk of one column. */
static TlStatus pack(void *context, int64_t begin, int64_t end, int64_t c, int thread) {
  TlFrameForm *f = context;
  unsigned char *plain = f->plain + f->plain_at[c];
  (void)begin;
  (void)end;
  (void)thread;
  shuffle(f, &f->column[c], plain);
  return tl_zlib_pack_into(TL_H5_DEFLATE_LEVEL, plain,
                           (size_t)f->rows * tl_h5_column_bytes(&f->column[c]),
                           f->packed + f->packed_at[c], &f->size[c]);
}

TlStatus tl_frame_chunks_add(TlFrameChunks *chunks, const unsigned char *rows, size_t stride,
                             int64_t count) {
  static const double EACH_ROW_NS = 100; /* of a column */
  TlFrameForm *f = chunks->form;
  size_t bytes = 0;
  f->from = rows;
  f->stride = stride;
  f->count = count;
  TL_TRY(tl_par_loop(f->columns, 1, EACH_ROW_NS * (double)f->rows, pack, f));
  for (int c = 0; c < f->columns; c++) bytes += f->size[c];
  TL_TRY(TL_RESERVE(chunks->size, chunks->size_capacity, (size_t)(chunks->count + f->columns)));
  TL_TRY(TL_RESERVE(chunks->byte, chunks->byte_capacity, chunks->bytes + bytes));
  for (int c = 0; c < f->columns; c++) {
    memcpy(chunks->byte + chunks->bytes, f->packed + f->packed_at[c], f->size[c]);
    chunks->bytes += f->size[c];
    chunks->size[chunks->count++] = (int64_t)f->size[c];
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
    tl_free(chunks->form->plain);
    tl_free(chunks->form->packed);
  }
  tl_free(chunks->form);
  tl_free(chunks->size);
  tl_free(chunks->byte);
  *chunks = (TlFrameChunks){0};
}
