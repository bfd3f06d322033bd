#include "run/standstill.h"

#include "base/log.h"
#include "num/exact.h"
#include "run/forecast.h"
#include "run/pour.h"
#include "run/run.h"
#include "shape/moving.h"

#include <math.h>

enum { LOOKS = 10 };
static const double falls = 10; /* the window over sqrt(d/g) when the study does not say it */

/* What may move and counts: grains, and bodies on the study's joints. An apparatus has no such joints
 * but a piston, which it moves itself. */
static bool can_move(const TlRun *run, int64_t i) {
  const int never = TL_BODY_FROZEN | TL_BODY_NET;
  return !(run->state->dem.bodies.flags[i] &
           (run->model->apparatus ? never | TL_BODY_GUIDED : never));
}

static double diameter_of(double mass, double density) {
  return cbrt(6 * mass / (M_PI * density));
}

/* Of the sphere of its volume. */
static double body_diameter(const TlRun *run, int64_t i) {
  const TlBodies *b = &run->state->dem.bodies;
  const TlMaterial *m = run->model->materials.material;
  if (b->parts[i] > 0)
    return diameter_of(tl_run_plain_mass(run, i), m[TL_MATERIAL_GRAIN].density_kg_m3);
  return diameter_of(b->mass[i], m[b->colliders.material[b->first[i]]].density_kg_m3);
}

static double gravity_of(const TlRun *run) {
  return tl_norm(tl_setup_solver(&run->model->setup).gravity_m_s2);
}

/* Of one that can move. */
static double pace_of(const TlRun *run, int64_t i, double gravity) {
  const TlBodies *b = &run->state->dem.bodies;
  return tl_pace(b->velocity[i], tl_bodies_spin(b, i), body_diameter(run, i), gravity);
}

double tl_standstill_pace(const TlRun *run, int64_t i) {
  return can_move(run, i) ? pace_of(run, i, gravity_of(run)) : 0;
}

TlStatus tl_standstill_look(const TlRun *run, TlLook *look) {
  enum { MASS, MOVING, SPEED, SUMS };
  const TlBodies *b = &run->state->dem.bodies;
  double gravity = gravity_of(run), value[SUMS];
  TlExact sum[SUMS] = {{{0}}}; /* exact: the same for any ranks and order of the bodies */
  int64_t grains = 0;
  *look = (TlLook){0};
  for (int64_t i = 0; i < b->owned; i++) {
    if (!can_move(run, i)) continue;
    double speed = tl_norm(b->velocity[i]), pace = pace_of(run, i, gravity);
    tl_exact_add(&sum[MASS], b->mass[i]);
    if (pace > tl_moving_pace) tl_exact_add(&sum[MOVING], b->mass[i]);
    look->largest_pace = fmax(look->largest_pace, pace);
    tl_exact_add(&sum[SPEED], speed);
    look->largest_speed_m_s = fmax(look->largest_speed_m_s, speed);
    grains++;
  }
  for (int k = 0; k < SUMS; k++) {
    TL_TRY(tl_comm_sum_int(run->comm, sum[k].limb, TL_EXACT_LIMBS));
    value[k] = tl_exact_value(&sum[k]);
  }
  TL_TRY(tl_comm_sum_int(run->comm, &grains, 1));
  TL_TRY(tl_comm_most(run->comm, &look->largest_speed_m_s, 1));
  TL_TRY(tl_comm_most(run->comm, &look->largest_pace, 1));
  look->bodies = grains;
  if (grains == 0) return TL_OK;
  look->moving_fraction = value[MOVING] / value[MASS];
  look->mean_speed_m_s = value[SPEED] / (double)grains;
  return TL_OK;
}

/* Of the selection, or of the grain of mean volume where the study only places bodies. */
static TlStatus typical_diameter(const TlRun *run, double *diameter) {
  const TlBodies *b = &run->state->dem.bodies;
  TlExact mass = {{0}};
  int64_t grains = 0;
  *diameter = run->model->setup.grains.grain_scale * run->model->selection.median_diameter_m;
  if (run->model->selection.count > 0) return TL_OK;
  for (int64_t i = 0; i < b->owned; i++) {
    if (!can_move(run, i)) continue;
    tl_exact_add(&mass, tl_run_plain_mass(run, i));
    grains++;
  }
  TL_TRY(tl_comm_sum_int(run->comm, mass.limb, TL_EXACT_LIMBS));
  TL_TRY(tl_comm_sum_int(run->comm, &grains, 1));
  double density = run->model->materials.material[TL_MATERIAL_GRAIN].density_kg_m3;
  *diameter = grains ? diameter_of(tl_exact_value(&mass) / (double)grains, density) : 0;
  return TL_OK;
}

TlStatus tl_standstill_start(TlRun *run) {
  const TlTimeSetup *t = &run->model->setup.time;
  double diameter, gravity = gravity_of(run);
  run->state->still = (TlStandstill){.since = -1};
  if (!t->until_rest) return TL_OK;
  TL_TRY(typical_diameter(run, &diameter));
  double window_s = t->rest_for_s > 0 ? t->rest_for_s : falls * sqrt(diameter / gravity);
  run->state->still.window_s = fmax(window_s, t->dt_s); /* without anything that moves: a step */
  return TL_OK;
}

TlStatus tl_standstill_begin(TlRun *run) {
  const TlTimeSetup *t = &run->model->setup.time;
  char window[32];
  TL_TRY(tl_standstill_start(run));
  if (!t->until_rest || tl_comm_rank(run->comm) != 0) return TL_OK;
  tl_forecast_text(window, run->state->still.window_s);
  tl_log_info("the run ends when the grains were at rest for %s (at most %g%% of the mass faster "
              "than %g sqrt(g d), no grain faster than %g sqrt(g d)), or after %g s",
              window, 100 * t->rest_mass, tl_moving_pace, tl_resting_pace,
              (double)tl_setup_steps(&run->model->setup) * t->dt_s);
  return TL_OK;
}

/* More grains are to come, or a wall will still appear, stop or vanish. */
static bool awaits(const TlRun *run, double time_s) {
  if (tl_pour_left(run) > 0) return true;
  for (int64_t i = 0; i < run->model->walls.walls; i++) {
    const TlDrive *d = &run->model->walls.data[i].drive;
    if (d->from_s > time_s || d->until_s > time_s) return true;
    if (d->rows > 0 && d->time_s[d->rows - 1] > time_s) return true;
  }
  return false;
}

static bool looks_after(const TlRun *run, int64_t step) {
  const TlStandstill *s = &run->state->still;
  return s->window_s > 0 && step % tl_setup_every(&run->model->setup, s->window_s / LOOKS) == 0;
}

/* A look after this step found this. */
static void note(const TlRun *run, int64_t step, double moving_fraction, double pace,
                 int64_t *since) {
  const TlTimeSetup *t = &run->model->setup.time;
  if (!tl_at_rest(moving_fraction, pace, t->rest_mass) || awaits(run, (double)step * t->dt_s))
    *since = -1;
  else if (*since < 0)
    *since = step;
}

void tl_standstill_body(const TlRun *run, int64_t step, int64_t body, int64_t *since) {
  if (!looks_after(run, step)) return;
  double pace = tl_standstill_pace(run, body);
  note(run, step, pace > tl_moving_pace, pace, since);
}

TlStatus tl_standstill_after(TlRun *run, int64_t step) {
  TlStandstill *s = &run->state->still;
  TlLook look;
  if (!looks_after(run, step)) return TL_OK;
  TL_TRY(tl_standstill_look(run, &look));
  note(run, step, look.moving_fraction, look.largest_pace, &s->since);
  s->reached = s->since >= 0 &&
               (double)(step - s->since) * run->model->setup.time.dt_s >= s->window_s * (1 - 1e-9);
  return TL_OK;
}
