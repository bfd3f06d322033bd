#include "run/advice.h"

#include "base/log.h"
#include "num/exact.h"
#include "run/pour.h"
#include "solve/step_common.h"

#include <math.h>
#include <stdio.h>

/* ---- speeds of walls and motors ---- */

static double from_axis(TlVec3 point, TlVec3 pivot, TlVec3 axis) {
  TlVec3 r = tl_sub(point, pivot);
  return tl_norm(tl_axpy(r, -tl_dot(r, axis), axis));
}

/* How far a wall reaches from the axis that it turns about; of a plane, which has no end, its farthest body. */
static double wall_reach(const TlRun *run, const TlWallSetup *w, const TlDrive *drive) {
  const TlBodies *b = &run->state->dem.bodies;
  TlVec3 axis = tl_unit(drive->spin_rad_s), centre = tl_vec3_of(w->point_m);
  double far = 0;
  if (w->kind == TL_WALL_PLANE) {
    for (int64_t i = 0; i < b->owned; i++)
      far = fmax(far, from_axis(b->position[i], drive->pivot_m, axis) + b->radius[i]);
    return far;
  }
  if (w->kind == TL_WALL_CYLINDER) {
    TlVec3 end = tl_scale(0.5 * w->length_m, tl_unit(tl_vec3_of(w->axis)));
    far = fmax(from_axis(tl_add(centre, end), drive->pivot_m, axis),
               from_axis(tl_sub(centre, end), drive->pivot_m, axis));
    return far + w->radius_m + w->thickness_m;
  }
  TlMat3 turn = tl_wall_turn(w->rotation_deg);
  for (int k = 0; k < 8; k++) {
    TlVec3 half = tl_vec3((k & 1 ? 0.5 : -0.5) * w->size_m[0], (k & 2 ? 0.5 : -0.5) * w->size_m[1],
                          (k & 4 ? 0.5 : -0.5) * w->size_m[2]);
    far = fmax(far, from_axis(tl_add(centre, tl_mat_vec(turn, half)), drive->pivot_m, axis));
  }
  return far;
}

static double walls_speed(const TlRun *run) {
  const TlWallSetup *wall = run->model->setup.walls.items;
  double most = 0;
  for (int64_t i = 0; i < run->model->walls.walls; i++) {
    const TlDrive *d = &run->model->walls.data[i].drive;
    double spin = tl_norm(d->spin_rad_s), table = 0;
    for (int64_t k = 1; k < d->rows; k++)
      table = fmax(table, tl_norm(tl_sub(d->displacement_m[k], d->displacement_m[k - 1])) /
                              (d->time_s[k] - d->time_s[k - 1]));
    most = fmax(most, tl_norm(d->velocity_m_s) + tl_norm(d->surface_m_s) + table +
                          (spin > 0 ? spin * wall_reach(run, &wall[i], d) : 0));
  }
  return most;
}

/* How far a body reaches from the axis of its hinge; 0 where it is another rank's. */
static double body_reach(const TlBodies *b, int64_t id, TlVec3 anchor, TlVec3 axis) {
  const TlColliders *c = &b->colliders;
  double far = 0;
  for (int64_t i = 0; i < b->owned; i++) {
    if (b->id[i] != id) continue;
    TlVec3 pivot = tl_add(b->position[i], tl_quat_rotate(b->rotation[i], anchor)),
           along = tl_quat_rotate(b->rotation[i], axis);
    for (int64_t k = b->first[i]; k < b->first[i] + tl_bodies_parts(b, i); k++)
      far = fmax(far, from_axis(c->position[k], pivot, along) + c->radius[k]);
  }
  return far;
}

static double motors_speed(const TlRun *run) {
  const TlBodies *b = &run->state->dem.bodies;
  const TlPairRows *motors = &b->pairs.of[TL_MOTORS], *hinges = &b->pairs.of[TL_HINGES];
  const TlMotor *motor = motors->row;
  const TlHinge *hinge = hinges->row;
  double most = 0;
  for (size_t i = 0; i < motors->count; i++) {
    if (!motor[i].turns) most = fmax(most, fabs(motor[i].speed));
    for (size_t k = 0; motor[i].turns && k < hinges->count; k++) {
      const TlHinge *h = &hinge[k];
      if (h->low != motor[i].low || h->high != motor[i].high || h->number != motor[i].joint)
        continue;
      double far = body_reach(b, h->low, h->anchor_low, h->axis_low);
      if (h->high >= 0) far = fmax(far, body_reach(b, h->high, h->anchor_high, h->axis_high));
      most = fmax(most, fabs(motor[i].speed) * far);
    }
  }
  return most;
}

/* ---- grains to come ---- */

static TlStatus take_size(void *context, const TlGrainRow *row) {
  double *least = context;
  *least = fmin(*least, 2 * row->radius_m);
  return TL_OK;
}

/* How far a point falls until it meets a boundary, where these are at rest; 0: it meets none. */
static double fall_m(const TlRun *run, TlVec3 from, TlVec3 down) {
  enum { MOST = 1000 };
  const TlReleaseSetup *r = &run->model->setup.release;
  double size = tl_norm(tl_sub(tl_vec3_of(r->high_m), tl_vec3_of(r->low_m))), fallen = 0;
  for (int i = 0; i < MOST && fallen < 1e4 * size; i++) {
    double near = INFINITY, phi;
    TlVec3 n, at = tl_axpy(from, fallen, down);
    for (int k = 0; k < run->model->boundary_count; k++) {
      const TlBoundary *b = &run->model->boundaries[k];
      if (b->kind->phi(b->data, at, &phi, &n)) near = fmin(near, phi);
    }
    if (near < 1e-3 * size) return fallen;
    fallen += near;
  }
  return 0;
}

/* Their size, and their speed after the fall from the middle of the inlet's top. */
static TlStatus add_poured(const TlRun *run, TlMethodScene *scene) {
  const TlReleaseSetup *r = &run->model->setup.release;
  TlVec3 g = run->model->dem->gravity_m_s2, v = tl_vec3_of(r->velocity_m_s);
  double least = INFINITY;
  TL_TRY(
      tl_selection_walk(&run->model->selection, 0, run->model->selection.count, take_size, &least));
  TlVec3 middle = tl_scale(0.5, tl_add(tl_vec3_of(r->low_m), tl_vec3_of(r->high_m)));
  middle.z = r->high_m[2];
  double fall = tl_norm(g) > 0 ? fall_m(run, middle, tl_unit(g)) : 0;
  scene->least_m = fmin(scene->least_m, run->model->setup.grains.grain_scale * least);
  scene->speed_m_s = fmax(scene->speed_m_s, sqrt(tl_norm2(v) + 2 * tl_norm(g) * fall));
  return TL_OK;
}

/* ---- all of it ---- */

TlStatus tl_run_scene(const TlRun *run, TlMethodScene *scene) {
  const TlBodies *b = &run->state->dem.bodies;
  TlVec3 up = tl_scale(-1, tl_unit(run->model->dem->gravity_m_s2));
  TlExact diameters = {0};
  double most[] = {fmax(walls_speed(run), motors_speed(run)), -INFINITY},
         least[] = {INFINITY, INFINITY};
  int64_t count = 0;
  for (int64_t i = 0; i < b->owned; i++) {
    if (b->flags[i] & (TL_BODY_FROZEN | TL_BODY_GUIDED)) continue;
    double height = tl_dot(up, b->position[i]), radius = b->radius[i];
    most[0] = fmax(most[0], tl_step_speed(b, i));
    most[1] = fmax(most[1], height + radius);
    least[0] = fmin(least[0], 2 * radius);
    least[1] = fmin(least[1], height - radius);
    tl_exact_add(&diameters, 2 * radius);
    count++;
  }
  TL_TRY(tl_comm_most(run->comm, most, 2));
  TL_TRY(tl_comm_least(run->comm, least, 2));
  TL_TRY(tl_comm_sum_int(run->comm, diameters.limb, TL_EXACT_LIMBS));
  TL_TRY(tl_comm_sum_int(run->comm, &count, 1));
  *scene = (TlMethodScene){.speed_m_s = most[0],
                           .least_m = least[0],
                           .height_m = count > 0 ? most[1] - least[1] : 0,
                           .diameters_m = tl_exact_value(&diameters),
                           .count = count};
  return tl_pour_left(run) > 0 ? tl_comm_agree(run->comm, add_poured(run, scene)) : TL_OK;
}

/* Of iterations that a study fixes. */
static void say_iterations(const TlMethodAdvice *rule, char text[120]) {
  text[0] = '\0';
  if (rule->fixed > 0)
    snprintf(text, 120, "; nonsmooth.iterations is %lld%s", (long long)rule->fixed,
             rule->fixed < rule->iterations ? ", which is fewer" : "");
}

TlStatus tl_run_say_advice(TlRun *run) {
  const TlMethodKind *method = tl_setup_method(&run->model->setup);
  const char *name = tl_method_name((TlMethod)run->model->setup.solver.method);
  double dt = run->model->setup.time.dt_s;
  int64_t left = tl_pour_left(run);
  TlMethodScene scene;
  char fixed[120], iterations[200];
  if (!method->advise) return TL_OK;
  TL_TRY(tl_comm_agree(run->comm, tl_run_refresh(run)));
  TL_TRY(tl_run_scene(run, &scene));
  TlMethodAdvice rule = method->advise(run->model->dem, &scene);
  if (!isfinite(rule.step_s)) return TL_OK;
  say_iterations(&rule, fixed);
  if (left > 0)
    snprintf(iterations, sizeof iterations,
             "that for iterations will be printed when all %lld grains are poured",
             (long long)run->model->setup.release.count);
  else
    snprintf(iterations, sizeof iterations,
             "and for %lld iterations where all lie on each other, %.3g on end%s",
             (long long)rule.iterations, rule.on_end, fixed);
  tl_log_info(
      "%s: its rules ask for steps of %.3g s at most, from a speed of %.3g m/s (of grains%s, "
      "walls and motors) and free fall, time.dt_s is %g; %s",
      name, rule.step_s, scene.speed_m_s, left > 0 ? " that are poured after their fall" : "", dt,
      iterations);
  if (dt > rule.step_s && !run->warned_step)
    tl_log_warn("%s: %g s is above the %.3g s that the rule for steps of method %s allows: grains "
                "may overlap by more than nonsmooth.overlap_share of their diameter",
                tl_setup_step_key(&run->model->setup).path, dt, rule.step_s, name);
  run->warned_step = run->warned_step || dt > rule.step_s;
  return TL_OK;
}
