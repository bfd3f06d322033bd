#include "run/output.h"

#include "base/log.h"
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
    tl_log_warn("%s: without " TL_PARAVIEW_FILE ", which ParaView opens: %s", folder, tl_message());
  tl_log_debug("%s: " TL_PARAVIEW_FILE " took %.2f s", folder, tl_clock_s() - start);
}

void tl_output_close(TlOutput *output) {
  if (output->writer) tl_results_close(output->writer);
  *output = (TlOutput){0};
}

/* ---- frames ---- */

typedef struct Writing {
  TlResultsWriter *writer;
  size_t head, stride;
} Writing;

static TlStatus take_rows(void *context, const unsigned char *rows, int64_t count) {
  const Writing *w = context;
  return tl_results_frame_rows(w->writer, rows + w->head, w->stride, count);
}

static TlStatus write_table(TlOutput *output, const TlFrameRows *t) {
  Writing w = {output->writer, t->rows.head, tl_gather_row_bytes(&t->rows)};
  int64_t all = t->rows.count;
  TlStatus status = tl_comm_sum_int(output->comm, &all, 1);
  if (status == TL_OK && output->writer)
    status = tl_results_frame_table(output->writer, t->table, t->rows.record, all);
  TL_TRY(tl_comm_agree(output->comm, status));
  return tl_comm_agree(output->comm, tl_gather_rows(output->comm, &t->rows, take_rows, &w));
}

TlStatus tl_output_frame(TlOutput *output, const TlFrameRows *tables, int count, int64_t step,
                         double time_s) {
  TlStatus status = TL_OK;
  if (output->writer) status = tl_results_frame_begin(output->writer, output->frames, step, time_s);
  status = tl_comm_agree(output->comm, status);
  for (int k = 0; status == TL_OK && k < count; k++) status = write_table(output, &tables[k]);
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
