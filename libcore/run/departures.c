#include "run/departures.h"

#include "base/mem.h"
#include "run/lines.h"
#include "solve/sleep.h"
#include "run/run.h"
#include "run/sinks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 15 };

/* A line on its way to the rank that writes it. */
typedef struct Record {
  int64_t id, reason;
  double number[NUMBERS];
} Record;

typedef Record Row;

#define COLUMNS(C)                                                                                 \
  C(time_s, "s", "time at which the grain left", row->number[0])                                   \
  C(step, "", "number of the step", row->number[1])                                                \
  C(id, "", "the grain", row->number[2])                                                           \
  C(avatar_id, "", "its shape", row->number[3])                                                    \
  C(scale, "", "its size over that of the shape", row->number[4])                                  \
  C(mass_kg, "kg", "its mass", row->number[5])                                                     \
  C(x_m, "m", "where it left, x", row->number[6])                                                  \
  C(y_m, "m", "where it left, y", row->number[7])                                                  \
  C(z_m, "m", "where it left, z", row->number[8])                                                  \
  C(velocity_x_m_s, "m/s", "its velocity then, x", row->number[9])                                 \
  C(velocity_y_m_s, "m/s", "its velocity then, y", row->number[10])                                \
  C(velocity_z_m_s, "m/s", "its velocity then, z", row->number[11])                                \
  C(material, "", "number of its material", row->number[12])                                       \
  C(removed, "", "1: taken out of the run; 0: frozen where it left", row->number[13])              \
  C(sink, "", "number of the sink that it entered, from 0; -1: none", row->number[14])

static const char *column_reason(const void *row) {
  return tl_leaving_reasons[((const Row *)row)->reason];
}

COLUMNS(TL_COLUMN_GET)
static const TlColumn columns[] = {
    COLUMNS(TL_COLUMN_ROW){"reason", "", "why it left", NULL, column_reason}};
const TlColumns tl_departures_columns = {"a grain that left the run", 1, columns,
                                         sizeof columns / sizeof *columns};

typedef struct Leaving {
  Record *record;
  int64_t count;
  TlLines lines;
} Leaving;

static int by_id(const void *a, const void *b) {
  int64_t x = ((const Record *)a)->id, y = ((const Record *)b)->id;
  return (x > y) - (x < y);
}

static void pack(const void *of, int64_t first, int64_t count, unsigned char *to) {
  memcpy(to, (const Record *)of + first, (size_t)count * sizeof(Record));
}

static TlStatus take(void *context, const unsigned char *records, int64_t count) {
  Leaving *w = context;
  for (int64_t i = 0; i < count; i++) {
    Record r;
    memcpy(&r, records + (size_t)i * sizeof r, sizeof r);
    TL_TRY(tl_lines_put(&w->lines, &r));
  }
  return TL_OK;
}

/* What masses are divided by to be those of the grains themselves. */
static double heavier(const TlRun *run) {
  return tl_setup_choice(&run->model->setup).mass_scale;
}

/* A line a grain: of a body with several parts one each, with its own mass. */
static TlStatus list(const TlRun *run, const unsigned char *leaves, bool removed, int64_t step,
                     Leaving *w) {
  const TlBodies *b = &run->state->dem.bodies;
  const TlColliders *c = &b->colliders;
  TL_TRY(TL_NEW(w->record, (size_t)c->owned));
  for (int64_t k = 0; k < c->owned; k++) {
    int32_t i = c->body[k];
    if (leaves[i] == TL_STAYS) continue;
    TlVec3 x = c->position[k], v = tl_collider_velocity(b, k);
    w->record[w->count++] = (Record){
        c->id[k],
        leaves[i],
        {(double)step * run->model->setup.time.dt_s, (double)step, (double)c->id[k],
         (double)c->avatar_id[k], c->scale[k], tl_run_part_mass(run, k) / heavier(run), x.x, x.y,
         x.z, v.x, v.y, v.z, (double)c->material[k], removed,
         leaves[i] == TL_LEFT_BY_SINK ? (double)tl_sink_at(&run->model->setup, b->position[i])
                                      : -1}};
  }
  qsort(w->record, (size_t)w->count, sizeof *w->record, by_id);
  return TL_OK;
}

static TlStatus write(TlRun *run, const unsigned char *leaves, bool removed, int64_t step) {
  Leaving w = {.lines = {run->comm, &run->output, TL_TABLE_DEPARTURES, &tl_departures_columns}};
  TlStatus status = tl_comm_agree(run->comm, list(run, leaves, removed, step, &w));
  TlRows rows = tl_line_rows(sizeof(Record), 1, w.count, pack, w.record);
  if (status == TL_OK) status = tl_lines_write(&w.lines, &rows, take, &w);
  tl_free(w.record);
  return status;
}

static void add(TlRun *run, int64_t i, int leaving) {
  const TlBodies *b = &run->state->dem.bodies;
  TlDeparted *d = &run->state->departed;
  TlVec3 x = b->position[i], g = tl_setup_solver(&run->model->setup).gravity_m_s2;
  double m = b->mass[i];
  const double moment[3] = {m * x.x, m * x.y, m * x.z};
  if (b->flags[i] & TL_BODY_NO_GRAIN) return;
  tl_exact_add(&d->mass, m);
  if (leaving == TL_LEFT_BY_SINK) tl_exact_add(&d->sunk_mass, m / heavier(run));
  tl_exact_add(&d->potential, -m * tl_dot(g, x));
  for (int k = 0; k < 3; k++) tl_exact_add(&d->moment[k], moment[k]);
  d->front_m =
      fmax(d->front_m, hypot(x.x - run->state->start_centre.x, x.y - run->state->start_centre.y));
}

static TlStatus take_out(TlRun *run, const unsigned char *leaves) {
  TlBodies *b = &run->state->dem.bodies;
  unsigned char *keep;
  TL_TRY(TL_NEW(keep, (size_t)b->owned));
  for (int64_t i = 0; i < b->owned; i++) {
    keep[i] = leaves[i] == TL_STAYS;
    if (!keep[i]) add(run, i, leaves[i]);
  }
  tl_bodies_drop_ghosts(b);
  TlStatus status = tl_bodies_keep(b, keep);
  tl_free(keep);
  return status;
}

/* What was merged with them is parted from them, on all ranks. */
static TlStatus part_from(TlRun *run, const unsigned char *leaves) {
  TlBodies *b = &run->state->dem.bodies;
  int64_t *gone;
  size_t count = 0;
  if (!run->dist->together) return TL_OK;
  TL_TRY(tl_comm_agree(run->comm, TL_NEW(gone, (size_t)b->owned + 1)));
  for (int64_t i = 0; i < b->owned; i++)
    if (leaves[i] != TL_STAYS) gone[count++] = b->id[i];
  TlStatus status =
      tl_comm_agree(run->comm, tl_together_forget(tl_dist_sync(run->dist), b, gone, count));
  tl_free(gone);
  return status;
}

/* Where a body that sleeps or is fixed goes, something may have rested on it. */
static TlStatus wake_for(TlRun *run, const unsigned char *leaves) {
  TlBodies *b = &run->state->dem.bodies;
  int64_t bearers = 0;
  for (int64_t i = 0; i < b->owned; i++)
    bearers += leaves[i] != TL_STAYS && (b->asleep[i] != 0 || b->flags[i] & TL_BODY_FROZEN);
  TL_TRY(tl_comm_sum_int(run->comm, &bearers, 1));
  return bearers > 0 ? tl_comm_agree(run->comm, tl_sleep_wake_all(b)) : TL_OK;
}

TlStatus tl_departures_take(TlRun *run, const unsigned char *leaves, bool removed, int64_t step) {
  TlBodies *b = &run->state->dem.bodies;
  int64_t leaving = 0;
  for (int64_t i = 0; i < b->owned; i++) leaving += leaves[i] != TL_STAYS;
  TL_TRY(tl_comm_sum_int(run->comm, &leaving, 1));
  if (leaving == 0) return TL_OK;
  tl_energy_balance_restart(&run->state->totals.balance);
  TL_TRY(write(run, leaves, removed, step));
  if (removed) TL_TRY(wake_for(run, leaves));
  TL_TRY(part_from(run, leaves)); /* what is frozen would hold them */
  if (removed) return tl_comm_agree(run->comm, take_out(run, leaves));
  for (int64_t i = 0; i < b->owned; i++) {
    if (leaves[i] == TL_STAYS) continue;
    b->flags[i] |= TL_BODY_FROZEN;
    b->velocity[i] = b->momentum[i] = tl_vec3(0, 0, 0);
  }
  return TL_OK;
}

TlStatus tl_departed_gather(const TlRun *run, TlDeparted *all) {
  *all = run->state->departed;
  TlExact *const sums[] = {&all->mass,      &all->sunk_mass, &all->potential,
                           &all->moment[0], &all->moment[1], &all->moment[2]};
  for (int k = 0; k < 6; k++) TL_TRY(tl_comm_sum_int(run->comm, sums[k]->limb, TL_EXACT_LIMBS));
  return tl_comm_most(run->comm, &all->front_m, 1);
}
