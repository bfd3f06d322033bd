#include "run/output.h"

#include "base/log.h"
#include "base/mem.h"

/* ---- the scene's avatars ---- */

static TlStatus write_avatar(TlOutput *output, const TlAvatarCache *avatars, int64_t id) {
  TlAvatar avatar;
  const TlAvatar *known = tl_avatars_of_study(avatars, id);
  if (known) return tl_results_add_avatar(output->writer, known);
  TL_TRY(tl_catalog_load_avatar(avatars->catalog, id, &avatar));
  TlStatus status = tl_results_add_avatar(output->writer, &avatar);
  tl_avatar_free(&avatar);
  return status;
}

/* The first of a sorted list that is not yet passed. */
static int64_t next_of(const int64_t *ids, int64_t count, int64_t *at, int64_t passed) {
  while (*at < count && ids[*at] <= passed) (*at)++;
  return *at < count ? ids[*at] : INT64_MAX;
}

/* By rising id: each rank says its next one, the least is written and passed. One message an
 * avatar, once a run; no rank needs a list of all. */
static TlStatus write_used(TlOutput *output, const TlAvatarCache *avatars, const int64_t *used,
                           int64_t count, const TlInts *later) {
  int64_t at = 0, at_later = 0, passed = INT64_MIN;
  for (;;) {
    int64_t mine = next_of(used, count, &at, passed),
            then = next_of(later->items, later->count, &at_later, passed);
    int64_t next = -1 - (mine < then ? mine : then); /* the least by the most; cannot overflow */
    TL_TRY(tl_comm_most_int(output->comm, &next, 1));
    passed = -1 - next;
    if (passed == INT64_MAX) return TL_OK;
    TlStatus status = output->writer ? write_avatar(output, avatars, passed) : TL_OK;
    TL_TRY(tl_comm_agree(output->comm, status));
  }
}

TlStatus tl_output_open(TlOutput *output, TlComm *comm, const char *folder, bool overwrite,
                        const TlScene *scene, const TlAvatarCache *avatars, const TlBodies *bodies,
                        const TlInts *later) {
  int64_t *used = NULL, count = 0;
  *output = (TlOutput){.comm = comm};
  TlStatus status = tl_avatars_used(bodies, &used, &count);
  if (status == TL_OK && tl_comm_rank(comm) == 0)
    status = tl_results_create(&output->writer, folder, scene, overwrite);
  status = tl_comm_agree(comm, status);
  if (status == TL_OK) status = write_used(output, avatars, used, count, later);
  if (status == TL_OK && output->writer) status = tl_results_scene_done(output->writer);
  tl_free(used);
  return tl_comm_agree(comm, status);
}

TlStatus tl_output_resume(TlOutput *output, TlComm *comm, const char *folder, const char *study,
                          const TlColumns *const columns[TL_TABLES], int64_t step) {
  TlTableKept kept[TL_TABLES] = {{0}};
  char *header[TL_TABLES] = {NULL};
  output->comm = comm;
  output->frames = output->kept_frames;
  TlStatus status = TL_OK;
  for (int t = 0; status == TL_OK && t < TL_TABLES; t++) {
    if (!columns[t]) continue;
    header[t] = tl_columns_header(columns[t]);
    kept[t] = (TlTableKept){header[t], output->kept_bytes.table[t]};
    if (!header[t]) status = TL_ENOMEM;
  }
  if (status == TL_OK && tl_comm_rank(comm) == 0)
    status = tl_results_resume(&output->writer, folder, study, kept, step, output->kept_frames);
  for (int t = 0; t < TL_TABLES; t++) tl_free(header[t]);
  return tl_comm_agree(comm, status);
}

static TlStatus look_at_tables(const TlOutput *output, bool sync, int64_t bytes[TL_TABLES]) {
  TlStatus status = TL_OK;
  for (int t = 0; status == TL_OK && output->writer && t < TL_TABLES; t++)
    status = tl_results_table_bytes(output->writer, (TlResultsTable)t, sync, &bytes[t]);
  return status;
}

TlStatus tl_output_keep(TlOutput *output) {
  output->kept_frames = output->frames;
  return look_at_tables(output, false, output->kept_bytes.table);
}

TlStatus tl_output_sync(TlOutput *output) {
  int64_t bytes[TL_TABLES];
  return look_at_tables(output, true, bytes);
}

void tl_output_view(const TlOutput *output, const char *folder) {
  if (!output->writer) return;
  double start = tl_clock_s();
  if (tl_results_write_paraview(folder) != TL_OK)
    tl_log_error("warning: %s: without " TL_PARAVIEW_FILE ", which ParaView opens: %s", folder,
                 tl_message()); /* with --quiet, too: a product is missing */
  tl_log_debug("%s: " TL_PARAVIEW_FILE " took %.2f s", folder, tl_clock_s() - start);
}

void tl_output_close(TlOutput *output) {
  if (output->writer) tl_results_close(output->writer);
  *output = (TlOutput){0};
}

/* ---- frames ---- */

enum { TAG_SIZES = 18, TAG_PLACES = 19 };

/* A table of a frame on its way: rank 0 keeps the file and says where chunks of the others go. */
typedef struct Writing {
  TlOutput *output;
  TlSharedFile *file;
  TlPortion part;
  TlFrameChunks chunks;  /* of this rank's part; above rank 0 */
  int64_t *size, *place; /* of the chunks of one rank */
  TlCommBatch batch;
} Writing;

static int64_t rows_of(const Writing *w, int writer) {
  return tl_portion_first(&w->part, writer + 1) - tl_portion_first(&w->part, writer);
}

/* Rank 0 writes its part; the others have theirs ready as chunks. Memory is asked for here, where
 * ranks can still leave together. */
static TlStatus make_part(Writing *w) {
  const TlRows *rows = &w->part.rows;
  TlResultsWriter *writer = w->output->writer;
  int64_t most = TL_FRAME_BLOCK, chunks = 0;
  size_t bytes = tl_rows_bytes(rows);
  unsigned char *row;
  for (int r = 1; r < w->part.writers; r++) {
    int64_t n = tl_frame_chunks_of(rows->record, rows_of(w, r));
    chunks = n > chunks ? n : chunks;
  }
  TL_TRY(TL_NEW(w->size, (size_t)chunks));
  TL_TRY(TL_NEW(w->place, (size_t)chunks));
  TL_TRY(tl_comm_batch_reserve(&w->batch, 2));
  if (!writer) TL_TRY(tl_frame_chunks_begin(&w->chunks, rows->record, w->part.all));
  TL_TRY(TL_NEW(row, (size_t)(rows->count < most ? rows->count : most) * bytes));
  TlStatus status = TL_OK;
  for (int64_t first = 0; status == TL_OK && first < rows->count; first += most) {
    int64_t n = rows->count - first < most ? rows->count - first : most;
    rows->pack(rows->of, first, n, row);
    status = writer ? tl_results_frame_rows(writer, row + rows->head, bytes, n)
                    : tl_frame_chunks_add(&w->chunks, row + rows->head, bytes, n);
  }
  tl_free(row);
  return status;
}

/* Rank 0: an answer to each writer, also after a failure. */
static TlStatus say_places(Writing *w) {
  TlComm *comm = w->output->comm;
  TlStatus status = TL_OK;
  for (int r = 1; r < w->part.writers; r++) {
    int64_t rows = rows_of(w, r), n = tl_frame_chunks_of(w->part.rows.record, rows);
    size_t bytes = (size_t)n * sizeof(int64_t);
    TL_TRY(tl_comm_receive(comm, &w->batch, r, TAG_SIZES, w->size, bytes));
    TL_TRY(tl_comm_wait(comm, &w->batch));
    if (status == TL_OK)
      status = tl_results_frame_reserve(w->output->writer, rows, w->size, n, w->place);
    if (status != TL_OK) w->place[0] = -1;
    TL_TRY(tl_comm_send(comm, &w->batch, r, TAG_PLACES, w->place, bytes));
    TL_TRY(tl_comm_wait(comm, &w->batch));
  }
  return status;
}

static TlStatus write_chunks(Writing *w) {
  TlComm *comm = w->output->comm;
  size_t bytes = (size_t)w->chunks.count * sizeof(int64_t);
  const TlOutPart *part;
  if (w->chunks.count == 0) return TL_OK;
  TL_TRY(tl_comm_send(comm, &w->batch, 0, TAG_SIZES, w->chunks.size, bytes));
  TL_TRY(tl_comm_receive(comm, &w->batch, 0, TAG_PLACES, w->place, bytes));
  TL_TRY(tl_comm_wait(comm, &w->batch));
  if (w->place[0] < 0) return tl_fail(TL_EOTHER, "the frame has no place for this rank's rows");
  TL_TRY(tl_shared_file_part(w->file, &part));
  return tl_frame_chunks_put(&w->chunks, part, w->place);
}

static TlStatus write_together(Writing *w) {
  TlOutput *output = w->output;
  bool hurry = false;
  const TlOutFile *file = output->writer ? tl_results_frame_file(output->writer, &hurry) : NULL;
  TL_TRY(tl_shared_file_tell(output->comm, file, !hurry, w->file));
  return tl_comm_agree(output->comm, output->writer ? say_places(w) : write_chunks(w));
}

static TlStatus write_table(TlOutput *output, const TlFrameRows *t, TlSharedFile *file) {
  Writing w = {.output = output, .file = file};
  TL_TRY(tl_portion_take(output->comm, &t->rows, TL_FRAME_BLOCK, &w.part));
  TlStatus status = TL_OK;
  if (output->writer)
    status = tl_results_frame_table(output->writer, t->table, t->rows.record, w.part.all);
  if (status == TL_OK) status = make_part(&w);
  status = tl_comm_agree(output->comm, status);
  if (status == TL_OK && w.part.writers > 1) status = write_together(&w);
  tl_portion_free(&w.part);
  tl_frame_chunks_free(&w.chunks);
  tl_free(w.size);
  tl_free(w.place);
  tl_comm_batch_free(&w.batch);
  return status;
}

TlStatus tl_output_frame(TlOutput *output, const TlFrameRows *tables, int count, int64_t step,
                         double time_s) {
  TlStatus status = TL_OK;
  TlSharedFile file = {0};
  if (output->writer) status = tl_results_frame_begin(output->writer, output->frames, step, time_s);
  status = tl_comm_agree(output->comm, status);
  for (int k = 0; status == TL_OK && k < count; k++)
    status = write_table(output, &tables[k], &file);
  bool shared = file.names != NULL;
  TlStatus closed = tl_shared_file_close(&file);
  if (status == TL_OK) status = shared ? tl_comm_agree(output->comm, closed) : closed;
  if (status == TL_OK && output->writer) status = tl_results_frame_end(output->writer);
  output->frames++;
  return tl_comm_agree(output->comm, status);
}

TlStatus tl_output_header(TlOutput *output, TlResultsTable table, const TlColumns *columns) {
  TlStatus status = TL_OK;
  if (output->writer) {
    char *header = tl_columns_header(columns);
    status = header ? tl_results_table_header(output->writer, table, header) : TL_ENOMEM;
    tl_free(header);
  }
  return tl_comm_agree(output->comm, status);
}

TlStatus tl_output_line(TlOutput *output, TlResultsTable table, const TlColumns *columns,
                        const void *row) {
  double value[TL_COLUMNS_MOST];
  const char *text;
  if (!output->writer) return TL_OK;
  int count = tl_columns_fill(columns, row, value, &text);
  return tl_results_table_line(output->writer, table, value, count, text);
}

TlStatus tl_output_row(TlOutput *output, TlResultsTable table, const TlColumns *columns,
                       const void *row) {
  return tl_comm_agree(output->comm, tl_output_line(output, table, columns, row));
}
