#include "run/output.h"

#include "base/mem.h"
#include "run/avatars.h"

#include <stdlib.h>

enum {
  BLOCK_ROWS = 2048, /* rows of one message */
  USED_WORDS = 16,   /* avatars asked about at once: 64 a word */
  TAG_COUNT = 11,
  TAG_ROWS = 12
};

/* ---- the scene's avatars ---- */

typedef struct Used {
  const int64_t *ids; /* used here, sorted */
  int64_t count;
  int64_t block[64 * USED_WORDS]; /* ids of the selection's rows in question */
  int rows;
} Used;

static TlStatus note_row(void *context, const TlGrainRow *row) {
  Used *u = context;
  u->block[u->rows++] = row->id;
  return TL_OK;
}

static int compare(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? -1 : x > y;
}

static TlStatus write_avatar(TlOutput *output, const TlSelection *selection, int64_t id) {
  TlAvatar avatar;
  TL_TRY(tl_catalog_load_avatar(selection->catalog, id, &avatar));
  TlStatus status = tl_results_add_avatar(output->writer, &avatar);
  tl_avatar_free(&avatar);
  return status;
}

static TlStatus write_block(TlOutput *output, const TlSelection *selection, Used *u,
                            int64_t begin) {
  uint64_t bits[USED_WORDS] = {0};
  int64_t end = begin + 64 * USED_WORDS;
  u->rows = 0;
  TlStatus status = tl_selection_walk(selection, begin,
                                      end < selection->count ? end : selection->count, note_row, u);
  TL_TRY(tl_comm_agree(output->comm, status));
  for (int i = 0; i < u->rows; i++)
    if (bsearch(&u->block[i], u->ids, (size_t)u->count, sizeof *u->ids, compare))
      bits[i / 64] |= (uint64_t)1 << (i % 64);
  TL_TRY(tl_comm_any_bits(output->comm, bits, USED_WORDS));
  for (int i = 0; output->writer && status == TL_OK && i < u->rows; i++)
    if (bits[i / 64] >> (i % 64) & 1) status = write_avatar(output, selection, u->block[i]);
  return tl_comm_agree(output->comm, status);
}

static TlStatus write_avatars(TlOutput *output, const TlSelection *selection,
                              const TlBodies *bodies) {
  int64_t *ids = NULL;
  Used *u = NULL;
  TlStatus status = TL_NEW(u, 1);
  if (status == TL_OK) status = tl_avatars_used(bodies, &ids, &u->count);
  if (status == TL_OK) u->ids = ids;
  status = tl_comm_agree(output->comm, status);
  for (int64_t begin = 0; status == TL_OK && begin < selection->count; begin += 64 * USED_WORDS)
    status = write_block(output, selection, u, begin);
  tl_free(ids);
  tl_free(u);
  return status;
}

TlStatus tl_output_open(TlOutput *output, TlComm *comm, const char *folder, bool overwrite,
                        const TlScene *scene, const TlSelection *selection,
                        const TlBodies *bodies) {
  *output = (TlOutput){.comm = comm};
  TlStatus status = TL_NEW(output->block, BLOCK_ROWS);
  if (status == TL_OK && tl_comm_rank(comm) == 0)
    status = tl_results_create(&output->writer, folder, scene, overwrite);
  TL_TRY(tl_comm_agree(comm, status));
  TL_TRY(write_avatars(output, selection, bodies));
  if (output->writer) status = tl_results_scene_done(output->writer);
  return tl_comm_agree(comm, status);
}

void tl_output_close(TlOutput *output) {
  if (output->writer) tl_results_close(output->writer);
  tl_free(output->block);
  *output = (TlOutput){0};
}

/* ---- frames ---- */

static TlBodyRow row_of(const TlBodies *b, int64_t i) {
  return (TlBodyRow){.id = b->id[i],
                     .avatar_id = b->avatar_id[i],
                     .scale = b->scale[i],
                     .position_m = b->position[i],
                     .rotation = b->rotation[i],
                     .velocity_m_s = b->velocity[i],
                     .spin_rad_s = tl_bodies_spin(b, i),
                     .contacts = b->contacts[i],
                     .flags = b->flags[i]};
}

static int64_t fill_block(TlOutput *output, const TlBodies *b, int64_t first) {
  int64_t n = b->owned - first < BLOCK_ROWS ? b->owned - first : BLOCK_ROWS;
  for (int64_t i = 0; i < n; i++) output->block[i] = row_of(b, first + i);
  return n;
}

/* Rank 0 says go, so that at most one block is on its way to it at any time. */
static TlStatus send_rows(TlOutput *output, const TlBodies *b) {
  TlCommBatch batch = {0};
  TlStatus status = TL_OK;
  int64_t go;
  for (int64_t first = 0; status == TL_OK && first < b->owned; first += BLOCK_ROWS) {
    int64_t n = fill_block(output, b, first);
    status = tl_comm_receive(output->comm, &batch, 0, TAG_COUNT, &go, sizeof go);
    if (status == TL_OK) status = tl_comm_wait(output->comm, &batch);
    if (status == TL_OK)
      status = tl_comm_send(output->comm, &batch, 0, TAG_ROWS, output->block,
                            (size_t)n * sizeof *output->block);
    if (status == TL_OK) status = tl_comm_wait(output->comm, &batch);
  }
  tl_comm_batch_free(&batch);
  return status;
}

static TlStatus take_rows(TlOutput *output, int rank, int64_t count, TlStatus written) {
  TlCommBatch batch = {0};
  int64_t go = 1;
  TlStatus status = TL_OK;
  for (int64_t first = 0; status == TL_OK && first < count; first += BLOCK_ROWS) {
    int64_t n = count - first < BLOCK_ROWS ? count - first : BLOCK_ROWS;
    status = tl_comm_receive(output->comm, &batch, rank, TAG_ROWS, output->block,
                             (size_t)n * sizeof *output->block);
    if (status == TL_OK)
      status = tl_comm_send(output->comm, &batch, rank, TAG_COUNT, &go, sizeof go);
    if (status == TL_OK) status = tl_comm_wait(output->comm, &batch);
    /* after a failed write the others' rows are still taken: they wait to be rid of them */
    if (status == TL_OK && written == TL_OK)
      written = tl_results_frame_rows(output->writer, output->block, n);
  }
  tl_comm_batch_free(&batch);
  return status != TL_OK ? status : written;
}

static TlStatus write_rows(TlOutput *output, const TlBodies *b, const int64_t *counts, int64_t step,
                           double time_s) {
  int64_t all = 0;
  int ranks = tl_comm_size(output->comm);
  for (int r = 0; r < ranks; r++) all += counts[r];
  TlStatus status = tl_results_frame_begin(output->writer, output->frames, step, time_s, all);
  for (int64_t first = 0; status == TL_OK && first < b->owned; first += BLOCK_ROWS)
    status = tl_results_frame_rows(output->writer, output->block, fill_block(output, b, first));
  for (int r = 1; r < ranks; r++) status = take_rows(output, r, counts[r], status);
  return status == TL_OK ? tl_results_frame_end(output->writer) : status;
}

TlStatus tl_output_frame(TlOutput *output, const TlBodies *bodies, int64_t step, double time_s) {
  int64_t *counts;
  TL_TRY(tl_comm_agree(output->comm, TL_NEW(counts, (size_t)tl_comm_size(output->comm))));
  TlStatus status = tl_comm_gather_all(output->comm, &bodies->owned, counts, sizeof bodies->owned);
  if (status == TL_OK)
    status = output->writer ? write_rows(output, bodies, counts, step, time_s)
                            : send_rows(output, bodies);
  tl_free(counts);
  output->frames++;
  return tl_comm_agree(output->comm, status);
}

TlStatus tl_output_history_header(TlOutput *output, const char *header) {
  TlStatus status = output->writer ? tl_results_history_header(output->writer, header) : TL_OK;
  return tl_comm_agree(output->comm, status);
}

TlStatus tl_output_history(TlOutput *output, const double *values, int count) {
  TlStatus status = output->writer ? tl_results_history_line(output->writer, values, count) : TL_OK;
  return tl_comm_agree(output->comm, status);
}
