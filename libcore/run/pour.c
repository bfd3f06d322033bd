#include "run/pour.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/random.h"
#include "run/assembly_kinds.h"
#include "run/refusal.h"
#include "run/sinks.h"
#include "store/trust.h"

#include <math.h>
#include <stdlib.h>

enum { STREAM_CELL = 121, STREAM_SHIFT, STREAM_JITTER, STREAM_IN_CELL, MOST_CELLS = 1 << 20 };

/* ---- what is to come ---- */

static bool pours(const TlRun *run) {
  return run->model->setup.release.assembly == TL_ASSEMBLY_POURED &&
         run->model->selection.count > 0;
}

int64_t tl_pour_left(const TlRun *run) {
  return pours(run) ? run->model->setup.release.count - run->state->poured : 0;
}

/* This rank's part of the grains to come, from id `first` on, at no place yet. */
static TlStatus draw_part(TlRun *run, int64_t first, TlBodies *some) {
  int64_t n = run->model->setup.release.count, me = tl_comm_rank(run->comm),
          ranks = tl_comm_size(run->comm);
  TlPlace place = tl_run_place(run);
  for (int64_t id = n * me / ranks; id < n * (me + 1) / ranks; id++) {
    int64_t i;
    if (id < first) continue;
    TL_TRY(tl_bodies_add(some, id, 0, &i));
    some->colliders.scale[some->first[i]] = run->model->setup.grains.grain_scale;
  }
  return tl_lattice_draw(&place, some, 0, NULL);
}

/* Avatars of this rank's part of the ids: the scene's list is made of all ranks' parts. */
static TlStatus note_avatars(TlRun *run) {
  TlBodies some = {0};
  TlStatus status = draw_part(run, 0, &some);
  if (status == TL_OK) status = tl_avatars_used(&some, &run->later.items, &run->later.count);
  tl_bodies_free(&some);
  return status;
}

TlStatus tl_pour_check(TlRun *run) {
  TlState some = {.steps = run->state->dem.steps};
  if (!pours(run)) return TL_OK;
  TlStatus status = draw_part(run, run->state->poured, &some.bodies);
  if (status == TL_OK)
    status = tl_avatars_load(&run->model->avatars, run->model->dem, &some.bodies, 0);
  if (status == TL_OK)
    status = tl_run_refuse(
        run, tl_step_check(run->model->dem, &some, run->work, tl_comm_size(run->comm)), NULL);
  tl_state_free(&some);
  return tl_comm_agree(run->comm, status);
}

/* A sink that all that is poured falls into at once. */
static void warn_of_sink(const TlRun *run, const TlLattice *l) {
  const TlSetup *setup = &run->model->setup;
  int64_t cells = l->n[0] * l->n[1] * l->n[2], sink = -1;
  TlVec3 p;
  for (int64_t g = 0; g < cells; g++) {
    if (!tl_lattice_cell(l, g, &p)) continue;
    sink = tl_sink_at(setup, p);
    if (sink < 0) return;
  }
  if (tl_comm_rank(run->comm) == 0)
    tl_log_warn("sinks.%lld: all of the inlet from release.low_m to release.high_m lies in it, and "
                "grains leave in the step in which they come; %s",
                (long long)sink, tl_sink_hint(setup, sink));
}

static TlStatus check_inlet(const TlRun *run, const TlLattice *l) {
  int64_t cells = l->n[0] * l->n[1] * l->n[2], filled = 0;
  TlVec3 p;
  if (cells > MOST_CELLS)
    return tl_study_fail(&run->model->study, TL_EINPUT, "release.high_m",
                         "an inlet of %lld cells is too large; at most %d", (long long)cells,
                         MOST_CELLS);
  for (int64_t g = 0; g < cells; g++) filled += tl_lattice_cell(l, g, &p);
  if (filled == 0)
    return tl_study_fail(&run->model->study, TL_EINPUT, "release.high_m",
                         "no cell of %g m side fits in the inlet, the polygon and clear of ground "
                         "and boundaries",
                         l->side);
  if (run->model->setup.sinks.count > 0) warn_of_sink(run, l);
  tl_log_info("%lld grains are poured, at most %lld at a time",
              (long long)run->model->setup.release.count, (long long)filled);
  return TL_OK;
}

TlStatus tl_pour_open(TlRun *run) {
  TlPlace place = tl_run_place(run);
  TlLattice lattice;
  if (!pours(run)) return TL_OK;
  TlStatus status = tl_lattice_plan(&place, &lattice);
  if (status == TL_OK) status = check_inlet(run, &lattice);
  if (status == TL_OK) status = note_avatars(run);
  return tl_comm_agree(run->comm, status);
}

/* ---- the inlet ---- */

typedef struct Inlet {
  TlLattice lattice;
  int64_t cells;
  uint64_t *busy; /* a bit a cell, the same on all ranks once gathered */
} Inlet;

static int64_t clamp(double x, int64_t n) {
  return x < 0 ? 0 : x > (double)n - 1 ? n - 1 : (int64_t)x;
}

/* Cells whose own largest sphere meets the sphere about a body. */
static void mark(Inlet *inlet, TlVec3 p, double radius) {
  const TlLattice *l = &inlet->lattice;
  const double *low = l->place->setup->release.low_m, x[3] = {p.x, p.y, p.z};
  double reach = radius + l->radius, far = reach + l->jitter_m;
  int64_t a[3], b[3];
  bool flat = l->place->setup->release.layers > 0; /* layers follow the ground: look at all */
  for (int k = 0; k < 3; k++) {
    bool all = flat && k == 2;
    double from = x[k] - low[k] - l->shift_m[k];
    a[k] = all ? 0 : clamp(floor((from - far) / l->side - 0.5), l->n[k]);
    b[k] = all ? l->n[k] - 1 : clamp(ceil((from + far) / l->side - 0.5), l->n[k]);
  }
  for (int64_t k = a[2]; k <= b[2]; k++)
    for (int64_t j = a[1]; j <= b[1]; j++)
      for (int64_t i = a[0]; i <= b[0]; i++) {
        int64_t g = (k * l->n[1] + j) * l->n[0] + i;
        TlVec3 middle;
        if (tl_lattice_cell(l, g, &middle) && tl_norm2(tl_sub(middle, p)) < reach * reach)
          inlet->busy[g / 64] |= (uint64_t)1 << (g % 64);
      }
}

static TlStatus look(const TlRun *run, Inlet *inlet) {
  const TlBodies *b = &run->state->dem.bodies;
  int64_t words = (inlet->cells + 63) / 64;
  TL_TRY(tl_comm_agree(run->comm, TL_NEW(inlet->busy, (size_t)words)));
  for (int64_t i = 0; i < b->owned; i++) mark(inlet, b->position[i], b->radius[i]);
  return tl_comm_any_bits(run->comm, inlet->busy, (int)words);
}

typedef struct Cell {
  uint64_t order;
  int64_t cell;
} Cell;

static int compare_cell(const void *a, const void *b) {
  const Cell *x = a, *y = b;
  if (x->order != y->order) return x->order < y->order ? -1 : 1;
  return x->cell < y->cell ? -1 : x->cell > y->cell;
}

/* Free cells, shuffled anew for each batch. */
static int64_t list_free(const TlRun *run, const Inlet *inlet, Cell *list) {
  int64_t count = 0;
  TlVec3 p;
  uint64_t stream = STREAM_CELL + ((uint64_t)run->state->poured << 8);
  for (int64_t g = 0; g < inlet->cells; g++) {
    if (inlet->busy[g / 64] >> (g % 64) & 1 || !tl_lattice_cell(&inlet->lattice, g, &p)) continue;
    list[count++] =
        (Cell){tl_random_bits((uint64_t)run->model->setup.seed, stream, (uint64_t)g), g};
  }
  qsort(list, (size_t)count, sizeof *list, compare_cell);
  return count;
}

/* Of a sphere within the one that its cell was found free for. */
static TlVec3 within(uint64_t seed, int64_t id, double room) {
  double u[4];
  for (uint64_t k = 0; k < 4; k++)
    u[k] = tl_random_uniform(seed, STREAM_IN_CELL, 4 * (uint64_t)id + k);
  double z = 2 * u[0] - 1, across = sqrt(fmax(0, 1 - z * z)), angle = 2 * M_PI * u[1];
  return tl_scale(room * cbrt(u[2]), tl_vec3(across * cos(angle), across * sin(angle), z));
}

/* A grain smaller than the largest has room in its cell, which is free for the largest. */
static void scatter(const TlLattice *l, TlBodies *b, int64_t first, const double *radius) {
  for (int64_t i = first; i < b->owned; i++) {
    double room = l->radius - radius[i - first];
    if (!(room > 1e-9 * l->radius)) continue;
    TlVec3 p = tl_add(b->position[i], within((uint64_t)l->place->setup->seed, b->id[i], room));
    if (tl_inside_polygon(&l->place->setup->release.polygon, p.x, p.y)) b->position[i] = p;
  }
}

/* Each rank takes its share of the batch; migration brings them home. */
static TlStatus fill(TlRun *run, const Inlet *inlet, const Cell *list, int64_t count) {
  int64_t me = tl_comm_rank(run->comm), ranks = tl_comm_size(run->comm),
          first = run->state->dem.bodies.owned;
  for (int64_t i = count * me / ranks; i < count * (me + 1) / ranks; i++) {
    TlVec3 p;
    tl_lattice_cell(&inlet->lattice, list[i].cell, &p);
    TL_TRY(tl_lattice_add(&inlet->lattice, p, run->state->poured + i, &run->state->dem.bodies));
  }
  double *radius;
  TL_TRY(TL_NEW(radius, (size_t)(run->state->dem.bodies.owned - first)));
  TlStatus status = tl_lattice_draw(inlet->lattice.place, &run->state->dem.bodies, first, radius);
  if (status == TL_OK) scatter(&inlet->lattice, &run->state->dem.bodies, first, radius);
  tl_free(radius);
  return status == TL_OK ? tl_bodies_check(&run->state->dem.bodies, first) : status;
}

static TlStatus let_in(TlRun *run, Inlet *inlet, int64_t wanted) {
  Cell *list;
  TL_TRY(look(run, inlet));
  TL_TRY(tl_comm_agree(run->comm, TL_NEW(list, (size_t)inlet->cells)));
  int64_t count = list_free(run, inlet, list);
  if (count > wanted) count = wanted;
  if (run->model->setup.release.rate_per_s > 0 && wanted - count > run->waited)
    run->waited = wanted - count;
  TlStatus status = count > 0 ? fill(run, inlet, list, count) : TL_OK;
  tl_free(list);
  TL_TRY(tl_comm_agree(run->comm, status));
  if (count == 0) return TL_OK;
  run->state->poured += count;
  run->state->grains += count;
  return tl_dist_migrate(run->dist, &run->state->dem.bodies, NULL);
}

/* Grains due after so many steps. */
static int64_t due_after(const TlRun *run, int64_t step) {
  const TlReleaseSetup *r = &run->model->setup.release;
  return tl_grains_due(r->rate_per_s, run->model->setup.time.dt_s, step, r->count);
}

int64_t tl_pour_due(const TlRun *run) {
  int64_t last = run->state->totals.steps - 1; /* each step lets in what is due before it */
  return pours(run) ? due_after(run, last > 0 ? last : 0) : 0;
}

/* Moves the lattice at random in the inlet, anew in each step, so that grains do not come in columns:
 * along each axis by what its cells leave free. Where that is less than half a cell and as many as
 * are wanted find places in one row or column fewer, it does without that one. Of random places none
 * may be free in an inlet that boundaries narrow to the cells from its corner on: one step in
 * UNMOVED has those. */
static void move_lattice(TlLattice *l, int64_t step, int64_t wanted) {
  enum { UNMOVED = 64 };
  const TlReleaseSetup *r = &l->place->setup->release;
  uint64_t seed = (uint64_t)l->place->setup->seed;
  if (step % UNMOVED == UNMOVED - 1) return;
  for (int a = 0; a < (r->layers > 0 ? 2 : 3); a++) {
    double left = r->high_m[a] - r->low_m[a] - (double)l->n[a] * l->side;
    if (a < 2 && l->n[a] > 1 && left < 0.5 * l->side &&
        l->n[0] * l->n[1] * l->n[2] / l->n[a] * (l->n[a] - 1) >= wanted) {
      l->n[a]--;
      left += l->side;
    }
    l->shift_m[a] =
        fmax(0, left) * tl_random_uniform(seed, STREAM_SHIFT, 3 * (uint64_t)step + (uint64_t)a);
  }
  if (r->layers > 0) return; /* in a column each stands on the one below */
  l->jitter_m = 0.5 * l->side - l->radius;
  l->jitter_stream = STREAM_JITTER + ((uint64_t)step << 8);
}

TlStatus tl_pour(TlRun *run, int64_t step) {
  if (tl_pour_left(run) == 0) return TL_OK;
  int64_t wanted = due_after(run, step) - run->state->poured;
  if (wanted <= 0) return TL_OK;
  TlPlace place = tl_run_place(run);
  Inlet inlet = {0};
  tl_bodies_drop_ghosts(&run->state->dem.bodies);
  /* bounding radii: bodies that came from another rank have none yet */
  TL_TRY(tl_comm_agree(run->comm, tl_avatars_load(&run->model->avatars, run->model->dem,
                                                  &run->state->dem.bodies, 0)));
  TL_TRY(tl_comm_agree(run->comm, tl_run_refresh(run)));
  TL_TRY(tl_lattice_plan(&place, &inlet.lattice));
  move_lattice(&inlet.lattice, step, wanted);
  inlet.cells = inlet.lattice.n[0] * inlet.lattice.n[1] * inlet.lattice.n[2];
  TlStatus status = let_in(run, &inlet, wanted);
  tl_free(inlet.busy);
  return status;
}

/* Sum over the steps up to this one of the grains that are due. */
static double sum_due(const TlRun *run, double step) {
  const TlReleaseSetup *r = &run->model->setup.release;
  double per_step = r->rate_per_s * run->model->setup.time.dt_s, count = (double)r->count;
  if (!(per_step > 0)) return count * step;
  double full = count / per_step; /* step with which all are there */
  if (step <= full) return 0.5 * per_step * step * step;
  return count * (step - 0.5 * full);
}

double tl_pour_sum(const TlRun *run, int64_t first, int64_t last) {
  double others = (double)run->state->grains, steps = (double)(last - first);
  if (!pours(run)) return others * steps;
  others = fmax(0, others - (double)run->state->poured);
  return others * steps + sum_due(run, (double)last) - sum_due(run, (double)first);
}
