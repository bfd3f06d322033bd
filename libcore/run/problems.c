#include "run/departures.h"

#include "base/log.h"
#include "base/mem.h"
#include "run/run.h"
#include "run/sense.h"

#include <stdio.h>

/* As results name it. */
static long long shown_id(const TlRun *run, int64_t id) {
  return (long long)(id < TL_NET_FIRST_ID ? id + run->first_id : id);
}

/* "grain 7 (avatar 3)", "grain 7 (shape 'ball')", "the body 'jaw' (id 60)". */
static const char *name_grain(const TlRun *run, int64_t id, int64_t avatar, char text[160]) {
  const TlStudyList *shapes = &run->model->setup.shapes;
  const char *name = tl_bodies_name(&run->model->setup.bodies, run->first_placed, id);
  if (name)
    snprintf(text, 160, "the body '%.100s' (id %lld)", name, shown_id(run, id));
  else if (avatar < 0 && -1 - avatar < shapes->count)
    snprintf(text, 160, "grain %lld (shape '%.100s')", shown_id(run, id),
             ((const TlShapeSetup *)shapes->items)[-1 - avatar].name);
  else
    snprintf(text, 160, "grain %lld (avatar %lld)", shown_id(run, id), (long long)avatar);
  return text;
}

/* The study's wall that boundary `place` is a part of; -1: none. Terrain and planes come first. */
static int64_t wall_of(const TlRun *run, int64_t place) {
  int64_t part = place - (run->model->boundary_count - run->model->walls.count);
  return part >= 0 ? run->model->walls.part[part].wall : -1;
}

void tl_problem_boundary(const TlRun *run, int64_t place, char *text, size_t size) {
  int64_t wall = wall_of(run, place);
  if (wall >= 0)
    snprintf(text, size, "the wall walls.%lld", (long long)wall);
  else if (run->model->has_terrain && place == 0)
    snprintf(text, size, "the terrain");
  else
    snprintf(text, size, "the plane planes.%lld", (long long)(place - run->model->has_terrain));
}

static void name_other(const TlRun *run, const TlProblemRow *row, char text[160]) {
  if (row->other >= 0)
    name_grain(run, row->other, row->other_avatar, text);
  else
    tl_problem_boundary(run, -1 - row->other, text, 160);
}

/* A wall that came upon grains: its fault, not that of their shapes. */
static TlStatus stop_wall(const TlRun *run, const TlProblemRow *row, int64_t wall, int64_t step) {
  const TlWallSetup *w = (const TlWallSetup *)run->model->setup.walls.items + wall;
  char text[640], key[48], one[160];
  snprintf(
      text, sizeof text,
      "%s lies %.3g m (%.0f%% of its radius)%s in this wall in step %lld, and nothing "
      "moves it out; the wall is there from %g s on: it must not come where grains are (a "
      "plane holds all the space behind it, a box is bounded), or unresolved: {embedded: drop} or "
      "{embedded: freeze}",
      name_grain(run, row->grain, row->avatar, one), row->overlap_m, 100 * row->fraction,
      row->inside ? ", its centre too," : "", (long long)step, w->from_s);
  snprintf(key, sizeof key, "walls.%lld.%s", (long long)wall, w->from_s > 0 ? "from_s" : "point_m");
  return tl_study_fail(&run->model->study, TL_EINPUT, key, "%s", text);
}

/* Springs hold it there, and have for many steps: impulses would have moved it. */
static TlStatus stop_soft(const TlRun *run, const TlProblemRow *row, const char *other,
                          int64_t step) {
  char one[160];
  return tl_fail(
      TL_EINPUT,
      "%s: %s lies %.3g m (%.0f%% of the smaller radius) deep in %s in step %lld, and has for %d "
      "steps: contacts are too soft for their load (young_Pa or normal_N_m "
      "of section %s), the solver's iterations too few, or the shapes begin inside each other%s; "
      "unresolved: {overlap_share: %.2g} lets grains lie that deep",
      run->options.study, name_grain(run, row->grain, row->avatar, one), row->overlap_m,
      100 * row->fraction, other, (long long)step, row->steps,
      tl_method_name(run->model->setup.solver.method),
      run->model->setup.reduction.split == TL_SPLIT_OFF
          ? ""
          : "; model reduction is on: see whether it happens with reduction.split: off, too",
      fmin(10, 2 * row->fraction));
}

static TlStatus stop_overlap(const TlRun *run, const TlProblemRow *row, int64_t step) {
  char other[160], one[160];
  int64_t wall = row->other < 0 ? wall_of(run, -1 - row->other) : -1;
  const TlWallSetup *walls = run->model->setup.walls.items;
  bool came = wall >= 0 && walls[wall].from_s > 0;
  name_other(run, row, other);
  if (tl_setup_method(&run->model->setup)->bears_force && !row->inside && !came)
    return stop_soft(run, row, other, step);
  if (wall >= 0) return stop_wall(run, row, wall, step);
  double travel = run->state->totals.travel_fraction;
  if (travel > tl_long_travel)
    return tl_fail(TL_EINPUT,
                   "%s: %s lies %.3g m (%.0f%% of the smaller radius) deep in %s in step "
                   "%lld, and nothing moves it out: the time step is too long, for grains moved by "
                   "up to %.2g of their radius in a step; time.dt_s: %g would do in place of %g",
                   run->options.study, name_grain(run, row->grain, row->avatar, one),
                   row->overlap_m, 100 * row->fraction, other, (long long)step, travel,
                   tl_sense_shorter(run->model->setup.time.dt_s, travel),
                   run->model->setup.time.dt_s);
  return tl_fail(TL_EINPUT,
                 "%s: %s lies %.3g m (%.0f%% of the smaller radius) deep in %s in step %lld%s, and "
                 "nothing moves it out: look at both shapes and where they start; leave one out, "
                 "or unresolved: {embedded: drop} or {embedded: freeze}",
                 run->options.study, name_grain(run, row->grain, row->avatar, one), row->overlap_m,
                 100 * row->fraction, other, (long long)step,
                 row->inside ? ", the centre of one inside the other" : "");
}

/* "grain 7 (avatar 3) at (x, y, z) m ... held by grain 9 (avatar 2)" */
static void describe_unresolved(const TlRun *run, const TlProblemRow *row, int64_t step, char *text,
                                size_t size) {
  char other[160], one[160];
  TlVec3 x = row->position_m;
  name_other(run, row, other);
  snprintf(text, size,
           "%s at (%.6g, %.6g, %.6g) m is unresolved: the solver could "
           "not end its collisions with %s in %d consecutive steps, up to step %lld (%.6g s)",
           name_grain(run, row->grain, row->avatar, one), x.x, x.y, x.z, other, row->steps,
           (long long)step, (double)step * run->model->setup.time.dt_s);
}

static TlStatus stop_unresolved(const TlRun *run, const TlProblemRow *row, int64_t step) {
  char text[640];
  describe_unresolved(run, row, step, text, sizeof text);
  return tl_fail(TL_EINPUT,
                 "%s: %s; look at both shapes, at walls that close, and at solver.max_rounds, or "
                 "unresolved: {collisions: warn}, {collisions: freeze} or {collisions: drop}",
                 run->options.study, text);
}

/* The first of the kind that ends the run, on the rank that has one. */
static TlStatus stop(const TlRun *run, int64_t step) {
  const TlProblemSetup *setup = &run->model->setup.problems;
  int64_t count;
  const TlProblemRow *row = tl_step_problem_rows(run->work, &count);
  for (int64_t i = 0; i < count; i++) {
    if (row[i].unresolved && setup->collisions == TL_UNRESOLVED_STOP)
      return stop_unresolved(run, &row[i], step);
    if (!row[i].unresolved && setup->embedded == TL_EMBEDDED_STOP)
      return stop_overlap(run, &row[i], step);
  }
  return TL_OK;
}

static void say(const TlRun *run, int64_t step) {
  static const char *const done[] = {"it is left alone", "", "frozen", "taken out"};
  int64_t count;
  const TlProblemRow *row = tl_step_problem_rows(run->work, &count);
  char text[640], other[160];
  for (int64_t i = 0; i < count; i++) {
    if (row[i].unresolved) {
      describe_unresolved(run, &row[i], step, text, sizeof text);
      tl_log_warn("%s: %s", text, done[run->model->setup.problems.collisions]);
      continue;
    }
    name_other(run, &row[i], other);
    tl_log_warn("step %lld: %s cannot be brought out of %s (%.0f%% of the smaller radius): %s",
                (long long)step, name_grain(run, row[i].grain, row[i].avatar, text), other,
                100 * row[i].fraction,
                run->model->setup.problems.embedded == TL_EMBEDDED_DROP ? "taken out" : "frozen");
  }
}

/* ---- what is done ---- */

static void freeze(TlBodies *b, int32_t flags) {
  for (int64_t i = 0; i < b->owned; i++) {
    if (!(b->flags[i] & flags)) continue;
    b->flags[i] |= TL_BODY_FROZEN;
    b->velocity[i] = b->momentum[i] = tl_vec3(0, 0, 0);
  }
}

static TlStatus take_out(TlRun *run, int32_t flags, int64_t step) {
  const TlBodies *b = &run->state->dem.bodies;
  unsigned char *leaves;
  TL_TRY(tl_comm_agree(run->comm, TL_NEW(leaves, (size_t)b->owned)));
  for (int64_t i = 0; i < b->owned; i++) {
    int32_t why = b->flags[i] & flags;
    leaves[i] = why & TL_BODY_EMBEDDED ? TL_EMBEDDED_OUT : why ? TL_UNRESOLVED_OUT : TL_STAYS;
  }
  TlStatus status = tl_departures_take(run, leaves, true, step);
  tl_free(leaves);
  return status;
}

TlStatus tl_run_handle_problems(TlRun *run, int64_t step) {
  const TlProblemSetup *setup = &run->model->setup.problems;
  int64_t embedded = run->state->totals.last.embedded,
          unresolved = run->state->totals.last.unresolved;
  if (embedded + unresolved == 0) return TL_OK;
  run->state->totals.embedded += embedded;
  run->state->totals.unresolved += unresolved;
  TL_TRY(tl_comm_agree(run->comm, stop(run, step)));
  say(run, step);
  int32_t still = (setup->embedded == TL_EMBEDDED_FREEZE ? TL_BODY_EMBEDDED : 0) |
                  (setup->collisions == TL_UNRESOLVED_FREEZE ? TL_BODY_UNRESOLVED : 0);
  int32_t out = (setup->embedded == TL_EMBEDDED_DROP ? TL_BODY_EMBEDDED : 0) |
                (setup->collisions == TL_UNRESOLVED_DROP ? TL_BODY_UNRESOLVED : 0);
  freeze(&run->state->dem.bodies, still);
  if ((still & TL_BODY_EMBEDDED && embedded > 0) || (still & TL_BODY_UNRESOLVED && unresolved > 0))
    tl_energy_balance_restart(&run->state->totals.balance);
  return out ? take_out(run, out, step) : TL_OK;
}
