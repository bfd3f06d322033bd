#include "run/deep.h"

#include "base/log.h"
#include "base/mem.h"
#include "run/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double DEEP_S =
    0.05; /* the 50 steps of a millisecond after which other methods stop */

/* Number of a collider of this rank, ghosts included, by its id. */
typedef struct Place {
  int64_t id, collider;
} Place;

static int by_id(const void *one, const void *two) {
  const Place *a = one, *b = two;
  return (a->id > b->id) - (a->id < b->id);
}

/* The deepest pair of a rank, and how many there are. */
typedef struct Deepest {
  int64_t pairs, first, second; /* second: an id, or -1 - number of a boundary */
  double fraction, overlap_m;
} Deepest;

static TlVec3 velocity_at(const TlBodies *b, int64_t collider, TlVec3 point) {
  int64_t i = b->colliders.body[collider];
  TlVec3 arm = tl_sub(point, b->position[i]);
  return tl_add(b->velocity[i], tl_cross(tl_bodies_spin(b, i), arm));
}

static TlVec3 boundary_velocity(const TlRun *run, int64_t number, TlVec3 point) {
  const TlDrive *drive = run->model->boundaries[number].drive;
  int64_t step = run->state->dem.steps;
  if (!drive) return (TlVec3){0, 0, 0};
  TlPlacement place = tl_drive_place(drive, step, step, run->model->setup.time.dt_s);
  return place.absent ? (TlVec3){0, 0, 0} : tl_placed_velocity(&place, point);
}

static void judge(const TlRun *run, const TlContactRow *row, const Place *place, Deepest *most) {
  const TlBodies *b = &run->state->dem.bodies;
  const TlColliders *c = &b->colliders;
  size_t total = (size_t)c->total;
  const Place *first = bsearch(&(Place){.id = row->first}, place, total, sizeof *place, by_id),
              *second = bsearch(&(Place){.id = row->second}, place, total, sizeof *place, by_id);
  if (!first || (row->second >= 0 && !second)) return;
  double radius = c->radius[first->collider];
  if (second) radius = fmin(radius, c->radius[second->collider]);
  double fraction = -row->gap_m / radius;
  if (!(fraction > run->model->setup.problems.overlap_share)) return;
  if (b->flags[c->body[first->collider]] & TL_BODY_NET) return;
  if (second && b->flags[c->body[second->collider]] & TL_BODY_NET) return;
  TlVec3 u = tl_sub(velocity_at(b, first->collider, row->point_m),
                    second ? velocity_at(b, second->collider, row->point_m)
                           : boundary_velocity(run, -1 - row->second, row->point_m));
  if (fabs(tl_dot(u, row->normal)) * DEEP_S > -row->gap_m) return;
  most->pairs++;
  if (!(fraction > most->fraction)) return;
  most->fraction = fraction;
  most->overlap_m = -row->gap_m;
  most->first = row->first;
  most->second = row->second;
}

/* Rows of the penalty method: one a pair. */
static TlStatus find_mine(const TlRun *run, Deepest *most) {
  const TlColliders *c = &run->state->dem.bodies.colliders;
  TlContactRow *row = NULL;
  int64_t rows = 0;
  Place *place;
  TL_TRY(TL_NEW(place, (size_t)c->total));
  for (int64_t k = 0; k < c->total; k++) place[k] = (Place){c->id[k], k};
  qsort(place, (size_t)c->total, sizeof *place, by_id);
  TlStatus status = tl_step_contacts(run->model->dem, &run->state->dem, run->work, &row, &rows);
  for (int64_t k = 0; status == TL_OK && k < rows; k++)
    if (row[k].gap_m < 0) judge(run, &row[k], place, most);
  tl_free(row);
  tl_free(place);
  return status;
}

/* Of all ranks: the deepest, of equal ones that of the lowest ids. */
static TlStatus find_deepest(const TlRun *run, Deepest *most) {
  size_t ranks = (size_t)tl_comm_size(run->comm);
  Deepest *all, mine = {0};
  TL_TRY(tl_comm_agree(run->comm, TL_NEW(all, ranks)));
  TlStatus status = tl_comm_agree(run->comm, find_mine(run, &mine));
  if (status == TL_OK) status = tl_comm_gather_all(run->comm, &mine, all, sizeof mine);
  *most = (Deepest){0};
  for (size_t r = 0; status == TL_OK && r < ranks; r++) {
    int64_t pairs = most->pairs + all[r].pairs;
    if (all[r].fraction > most->fraction ||
        (all[r].fraction == most->fraction && all[r].pairs > 0 && all[r].first < most->first))
      *most = all[r];
    most->pairs = pairs;
  }
  tl_free(all);
  return status;
}

static void warn(const TlRun *run, const Deepest *most, int64_t step) {
  char other[80], more[80] = "";
  if (most->second >= 0)
    snprintf(other, sizeof other, "grain %lld", (long long)(most->second + run->first_id));
  else
    tl_problem_boundary(run, -1 - most->second, other, sizeof other);
  if (most->pairs > 1)
    snprintf(more, sizeof more, ", the deepest of %lld such pairs", (long long)most->pairs);
  tl_log_warn(
      "step %lld: grain %lld rests %.3g m (%.0f%% of the smaller radius) deep in %s%s: "
      "contacts are too soft for their load; stiffer ones (section %s) take a shorter step. "
      "The run continues; unresolved: {overlap_share: %.2g} allows such overlaps",
      (long long)step, (long long)(most->first + run->first_id), most->overlap_m,
      100 * most->fraction, other, more, tl_method_name((TlMethod)run->model->setup.solver.method),
      fmin(10, 2 * most->fraction));
}

TlStatus tl_run_watch_depth(TlRun *run, bool last) {
  const TlProblemSetup *setup = &run->model->setup.problems;
  const TlStepReport *r = &run->state->totals.last;
  TlRunDeep *d = &run->deep;
  Deepest most = {0};
  if (tl_setup_method(&run->model->setup)->embeds) return TL_OK;
  bool deep = fmax(r->overlap_share, r->boundary_overlap_share) > setup->overlap_share;
  d->steps = deep ? d->steps + 1 : 0;
  bool long_so = (double)d->steps * run->model->setup.time.dt_s >= DEEP_S;
  bool look = deep && (last || (long_so && !d->warned));
  if (look) TL_TRY(find_deepest(run, &most));
  if (look) d->steps = 0; /* looked at again as long after */
  d->known = last;
  d->pairs = most.pairs;
  if (most.pairs == 0 || d->warned) return TL_OK;
  d->warned = true;
  warn(run, &most, run->state->totals.steps);
  return TL_OK;
}
