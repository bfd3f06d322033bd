#include "run/output.h"

#include "base/log.h"
#include "base/log.h"
#include "base/mem.h"

#include <string.h>

enum {
  BLOCK_ROWS = 2048, /* rows of one message */
  TAG_COUNT = 11,
  TAG_ROWS = 12
};

/* What a block needs beside the arrays of the state: values of the colliders' bodies, and computed
 * ones. */
struct TlFrameBlock {
#define FRAME(type, name, ...) type name[BLOCK_ROWS];
  TL_BODY_LIST(TL_NO_COLUMN, FRAME)
  TL_COLLIDER_COMPUTED_LIST(FRAME)
#undef FRAME
  unsigned char message[BLOCK_ROWS * TL_BODY_COLUMNS * sizeof(TlQuat)];
};

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

/* The messages of frames: a block of rows, and the leave to send it. */
static TlStatus take_memory(TlOutput *output) {
  TL_TRY(TL_NEW(output->block, 1));
  return tl_comm_batch_reserve(&output->batch, 2);
}

TlStatus tl_output_open(TlOutput *output, TlComm *comm, const char *folder, bool overwrite,
                        const TlScene *scene, const TlAvatarCache *avatars, const TlBodies *bodies,
                        const TlInts *later) {
  int64_t *used = NULL, count = 0;
  *output = (TlOutput){.comm = comm};
  TlStatus status = take_memory(output);
  if (status == TL_OK) status = tl_avatars_used(bodies, &used, &count);
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
  TlStatus status = take_memory(output);
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
  tl_free(output->block);
  tl_comm_batch_free(&output->batch);
  *output = (TlOutput){0};
}

/* ---- frames ---- */

static const size_t widths[] = {
#define FRAME(type, ...) sizeof(type),
    TL_FRAME_FIELDS(FRAME)
#undef FRAME
};

/* Owned colliders from `first` on: where the values of their columns lie. */
static int64_t point_to_block(TlOutput *output, const TlBodies *b, int64_t first,
                              TlFrameColumn column[TL_BODY_COLUMNS]) {
  const TlColliders *c = &b->colliders;
  struct TlFrameBlock *block = output->block;
  int64_t n = c->owned - first < BLOCK_ROWS ? c->owned - first : BLOCK_ROWS;
  for (int64_t i = 0; i < n; i++) {
    int32_t body = c->body[first + i];
#define FRAME(type, name, ...) block->name[i] = b->name[body];
    TL_BODY_LIST(TL_NO_COLUMN, FRAME)
#undef FRAME
    block->velocity[i] = tl_collider_velocity(b, first + i);
    block->spin[i] = tl_bodies_spin(b, body);
  }
  int k = 0;
#define FRAME(type, name, ...) column[k++] = (TlFrameColumn){c->name + first, sizeof(type)};
  TL_COLLIDER_LIST(TL_NO_COLUMN, FRAME)
  TL_COLLIDER_PLACE_LIST(TL_NO_COLUMN, FRAME)
#undef FRAME
#define FRAME(type, name, ...) column[k++] = (TlFrameColumn){block->name, sizeof(type)};
  TL_COLLIDER_COMPUTED_LIST(FRAME)
  TL_BODY_LIST(TL_NO_COLUMN, FRAME)
#undef FRAME
#define FRAME(type, name, ...) column[k++] = (TlFrameColumn){c->name + first, sizeof(type)};
  TL_COLLIDER_DERIVED_LIST(TL_NO_COLUMN, FRAME)
#undef FRAME
  return n;
}

/* A message has column after column. */
static size_t message_bytes(int64_t rows) {
  size_t bytes = 0;
  for (int c = 0; c < TL_BODY_COLUMNS; c++) bytes += (size_t)rows * widths[c];
  return bytes;
}

static void pack_block(struct TlFrameBlock *block, const TlFrameColumn *column, int64_t n) {
  unsigned char *to = block->message;
  for (int c = 0; c < TL_BODY_COLUMNS; c++) {
    memcpy(to, column[c].value, (size_t)n * widths[c]);
    to += (size_t)n * widths[c];
  }
}

static void point_to_message(const struct TlFrameBlock *block, int64_t n, TlFrameColumn *column) {
  const unsigned char *from = block->message;
  for (int c = 0; c < TL_BODY_COLUMNS; c++) {
    column[c] = (TlFrameColumn){from, widths[c]};
    from += (size_t)n * widths[c];
  }
}

/* Rank 0 says go, so that at most one block is on its way to it at any time. */
static TlStatus send_rows(TlOutput *output, const TlBodies *b) {
  TlStatus status = TL_OK;
  int64_t go;
  for (int64_t first = 0; status == TL_OK && first < b->colliders.owned; first += BLOCK_ROWS) {
    TlFrameColumn column[TL_BODY_COLUMNS];
    int64_t n = point_to_block(output, b, first, column);
    pack_block(output->block, column, n);
    status = tl_comm_receive(output->comm, &output->batch, 0, TAG_COUNT, &go, sizeof go);
    if (status == TL_OK) status = tl_comm_wait(output->comm, &output->batch);
    if (status == TL_OK)
      status = tl_comm_send(output->comm, &output->batch, 0, TAG_ROWS, output->block->message,
                            message_bytes(n));
    if (status == TL_OK) status = tl_comm_wait(output->comm, &output->batch);
  }
  return status;
}

static TlStatus take_rows(TlOutput *output, int rank, int64_t count, TlStatus written) {
  int64_t go = 1;
  TlStatus status = TL_OK;
  for (int64_t first = 0; status == TL_OK && first < count; first += BLOCK_ROWS) {
    TlFrameColumn column[TL_BODY_COLUMNS];
    int64_t n = count - first < BLOCK_ROWS ? count - first : BLOCK_ROWS;
    status = tl_comm_receive(output->comm, &output->batch, rank, TAG_ROWS, output->block->message,
                             message_bytes(n));
    if (status == TL_OK)
      status = tl_comm_send(output->comm, &output->batch, rank, TAG_COUNT, &go, sizeof go);
    if (status == TL_OK) status = tl_comm_wait(output->comm, &output->batch);
    point_to_message(output->block, n, column);
    /* after a failed write the others' rows are still taken: they wait to be rid of them */
    if (status == TL_OK && written == TL_OK)
      written = tl_results_frame_columns(output->writer, column, n);
  }
  return status != TL_OK ? status : written;
}

static TlStatus write_rows(TlOutput *output, const TlBodies *b, const int64_t *counts, int64_t step,
                           double time_s) {
  int64_t all = 0;
  int ranks = tl_comm_size(output->comm);
  for (int r = 0; r < ranks; r++) all += counts[r];
  TlStatus status = tl_results_frame_begin(output->writer, output->frames, step, time_s, all);
  for (int64_t first = 0; status == TL_OK && first < b->colliders.owned; first += BLOCK_ROWS) {
    TlFrameColumn column[TL_BODY_COLUMNS];
    int64_t n = point_to_block(output, b, first, column);
    status = tl_results_frame_columns(output->writer, column, n);
  }
  for (int r = 1; r < ranks; r++) status = take_rows(output, r, counts[r], status);
  return status;
}

TlStatus tl_output_frame(TlOutput *output, const TlBodies *bodies, const TlContacts *contacts,
                         int64_t step, double time_s) {
  int64_t *counts;
  TL_TRY(tl_comm_agree(output->comm, TL_NEW(counts, (size_t)tl_comm_size(output->comm))));
  const int64_t *owned = &bodies->colliders.owned;
  TlStatus status = tl_comm_gather_all(output->comm, owned, counts, sizeof *owned);
  if (status == TL_OK)
    status = output->writer ? write_rows(output, bodies, counts, step, time_s)
                            : send_rows(output, bodies);
  /* a rank that stopped amid its messages would leave the others waiting in what follows */
  status = tl_comm_agree(output->comm, status);
  if (contacts) status = tl_contacts_write(contacts, output->comm, output->writer, status);
  if (status == TL_OK && output->writer) status = tl_results_frame_end(output->writer);
  tl_free(counts);
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
