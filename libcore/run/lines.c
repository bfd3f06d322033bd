#include "run/lines.h"

#include "base/mem.h"

enum { BLOCK = 1024 };

TlRows tl_line_rows(size_t bytes, int keys, int64_t count,
                    void (*pack)(const void *of, int64_t first, int64_t count, unsigned char *to),
                    const void *of) {
  static const TlRecord no_fields = {"line", "", NULL, 0, 0};
  return (TlRows){
      .record = &no_fields, .head = bytes, .keys = keys, .count = count, .pack = pack, .of = of};
}

TlStatus tl_lines_put(TlLines *l, const void *row) {
  double value[TL_COLUMNS_MOST];
  const char *text;
  if (tl_comm_rank(l->comm) == 0) return tl_output_line(l->output, l->table, l->columns, row);
  int count = tl_columns_fill(l->columns, row, value, &text);
  return tl_linetext_add(&l->text, value, count, text);
}

/* Rank 0 writes its lines, which are the first; the others make theirs. */
static TlStatus make(const TlRows *rows,
                     TlStatus (*take)(void *context, const unsigned char *records, int64_t count),
                     void *context) {
  int64_t most = rows->count < BLOCK ? rows->count : BLOCK;
  unsigned char *packed;
  TL_TRY(TL_NEW(packed, (size_t)most * tl_rows_bytes(rows)));
  TlStatus status = TL_OK;
  for (int64_t first = 0; status == TL_OK && first < rows->count; first += most) {
    int64_t n = rows->count - first < most ? rows->count - first : most;
    rows->pack(rows->of, first, n, packed);
    status = take(context, packed, n);
  }
  tl_free(packed);
  return status == TL_OK ? take(context, NULL, 0) : status;
}

/* Above rank 0: the lines at their place. */
static TlStatus write_text(const TlLines *l, TlSharedFile *file, int64_t at) {
  const TlOutPart *part;
  if (l->text.used == 0) return TL_OK;
  TL_TRY(tl_shared_file_part(file, &part));
  return tl_outpart_put(part, at, l->text.text, l->text.used);
}

/* where: space for a number of each rank. Rank 0 says where its lines end, the others how long theirs are. */
static TlStatus write_others(TlLines *l, int64_t *where) {
  TlResultsWriter *writer = l->output->writer;
  TlOutFile named = {0};
  TlSharedFile file = {0};
  int me = tl_comm_rank(l->comm);
  int64_t mine = (int64_t)l->text.used, at, length = 0;
  TlStatus status = TL_OK;
  if (me == 0) mine = -1;
  if (writer) status = tl_results_table_bytes(writer, l->table, false, &mine);
  if (writer) named = tl_results_table_file(writer, l->table);
  TL_TRY(tl_comm_agree(l->comm, status));
  TL_TRY(tl_comm_gather_all(l->comm, &mine, where, sizeof mine));
  if (where[0] < 0) return TL_OK;
  at = where[0];
  for (int r = 1; r < tl_comm_size(l->comm); r++) {
    length += where[r];
    if (r < me) at += where[r];
  }
  TL_TRY(tl_shared_file_tell(l->comm, &named, false, &file));
  status = write_text(l, &file, at);
  TlStatus closed = tl_shared_file_close(&file);
  status = tl_comm_agree(l->comm, status == TL_OK ? closed : status);
  if (!writer) return status;
  if (status == TL_OK) return tl_results_table_pass(writer, l->table, length);
  TL_CLEAN_UP(tl_results_table_cut(writer, l->table));
  return status;
}

static TlStatus write_part(TlLines *l, const TlPortion *part,
                           TlStatus (*take)(void *context, const unsigned char *records,
                                            int64_t count),
                           void *context) {
  int64_t *where;
  TlStatus status = TL_NEW(where, (size_t)tl_comm_size(l->comm));
  if (status == TL_OK) status = make(&part->rows, take, context);
  status = tl_comm_agree(l->comm, status);
  if (status == TL_OK && part->writers > 1) status = tl_comm_agree(l->comm, write_others(l, where));
  tl_free(where);
  return status;
}

TlStatus tl_lines_write(TlLines *l, const TlRows *rows,
                        TlStatus (*take)(void *context, const unsigned char *records,
                                         int64_t count),
                        void *context) {
  TlPortion part;
  TL_TRY(tl_portion_take_groups(l->comm, rows, BLOCK, &part));
  TlStatus status = part.all > 0 ? write_part(l, &part, take, context) : TL_OK;
  tl_portion_free(&part);
  tl_free(l->text.text);
  l->text = (TlLineText){0};
  return status;
}
