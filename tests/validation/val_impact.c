/* One sphere on a plane, closed forms of Correction 4: m = 2/5 r^2 inertia, so that a tangential
 * impulse J changes the contact's velocity by 3.5 J/m. Walton's tangential restitution: a contact
 * that sticks ends at -e_t u_t. Boxes on a corner and grains made like scans on a node: Keller's equations. */
#include "judge/judge.h"
#include "judge/scene.h"
#include "judge/study.h"
#include "support/keller.h"
#include "support/materials.h"

#include <math.h>

static const double R = 0.01, VZ = 1;
static const char *const methods[3] = {"etm-level", "etm", "sqm"};
static const int increments[6] = {1, 2, 5, 20, 100, 500};

typedef struct Errors {
  double normal, slide, stick, tangential, gain;
} Errors;

static double velocity_error(const TlRun *run, int64_t id, double vx, double spin) {
  int64_t i = judge_study_body(run, id);
  return fmax(fabs(run->state->dem.bodies.velocity[i].x - vx),
              fabs(tl_bodies_spin(&run->state->dem.bodies, i).y - spin) * R);
}

/* Of the oblique sphere (u_t = 1) and of the spinning one (u_t = -1): a tangential impulse j m. */
static void weigh(Errors *worst, const TlRun *run, double *which, double j, double e) {
  *which = fmax(*which, velocity_error(run, 1, 1 - j, 2.5 * j / R));
  *which = fmax(*which, velocity_error(run, 2, j, 100 - 2.5 * j / R));
  for (int64_t id = 0; id < 3; id++) {
    double vz = run->state->dem.bodies.velocity[judge_study_body(run, id)].z;
    worst->normal = fmax(worst->normal, fabs(vz - e * VZ));
  }
  worst->gain =
      fmax(worst->gain, run->state->totals.kinetic_J / run->state->totals.kinetic_start_J - 1);
}

static void one_case(Errors *worst, const char *method, int k, double mu, double e, double et) {
  TlRun run;
  judge_study_open(&run, "impact",
                   "solver.method=%s solver.increments=%d contact.boundary_friction=%.17g "
                   "contact.boundary_restitution=%.17g "
                   "contact.boundary_tangential_restitution=%.17g",
                   method, k, mu, e, et);
  judge_study_go(&run, NULL, NULL);
  double most = mu * (1 + e) * VZ, need = (1 + et) * 2.0 / 7, j = fmin(most, need);
  weigh(worst, &run,
        et > 0        ? &worst->tangential
        : most < need ? &worst->slide
                      : &worst->stick,
        j, e);
  tl_run_close(&run);
}

/* A contact that slides all through as by impulses; one that holds, with nothing lost, gives the
 * whole tangential velocity back, with stiffnesses of 2/7: both springs swing in step. */
static void by_penalty(void) {
  Errors worst = {.gain = -1};
  for (int c = 0; c < 3; c++) {
    TlRun run;
    double mu = c == 2 ? 0.5 : 0.1, e = c == 0 ? 0.5 : 1, j = c == 2 ? 4.0 / 7 : mu * (1 + e);
    judge_study_open(&run, "impact",
                     "solver.method=penalty contact.boundary_friction=%.17g "
                     "contact.boundary_restitution=%.17g",
                     mu, e);
    judge_study_go(&run, NULL, NULL);
    weigh(&worst, &run, c == 2 ? &worst.stick : &worst.slide, j, e);
    tl_run_close(&run);
  }
  judge_at_most(JUDGE_CORRECT, "impact_penalty_restitution_error", worst.normal, "of v", 5e-3);
  judge_at_most(JUDGE_CORRECT, "impact_penalty_sliding_error", worst.slide, "of v", 5e-3);
  judge_at_most(JUDGE_CORRECT, "impact_penalty_sticking_error", worst.stick, "of v", 5e-3);
  judge_at_most(JUDGE_CORRECT, "impact_penalty_energy_gain", worst.gain, "of the start", 1e-5);
  judge_note(
      "By penalty friction 0.1 at e = 0.5 and 1, and 0.5 at e = 1: a contact that holds gives "
      "the tangential velocity back, where impulses take it to %g of itself.",
      5.0 / 7);
}

static void impacts(void) {
  Errors worst = {.gain = -1};
  for (int m = 0; m < 3; m++)
    for (int k = 0; k < 6; k++)
      for (int c = 0; c < 8; c++)
        one_case(&worst, methods[m], increments[k], c & 1 ? 0.5 : 0.1, c & 2 ? 1 : 0.5,
                 c & 4 ? 0.6 : 0);
  judge_at_most(JUDGE_CORRECT, "impact_restitution_error", worst.normal, "of v", 1e-9);
  judge_at_most(JUDGE_CORRECT, "impact_sliding_error", worst.slide, "of v", 1e-9);
  judge_at_most(JUDGE_CORRECT, "impact_sticking_error", worst.stick, "of v", 1e-9);
  judge_at_most(JUDGE_CORRECT, "impact_tangential_restitution_error", worst.tangential, "of v",
                1e-9);
  judge_at_most(JUDGE_CORRECT, "impact_energy_gain", worst.gain, "of the start", 1e-12);
  judge_note("Worst of three methods (etm-level, etm, sqm), 1 to 500 increments, friction 0.1 and "
             "0.5, e = 0.5 and 1, tangential restitution 0 and 0.6; an oblique and a spinning "
             "sphere.");
}

enum { BOXES = 3 };
static const TlVec3 sides[BOXES] = {
    {0.02, 0.02, 0.02}, {0.03, 0.02, 0.014}, {0.03, 0.03, 0.01}}; /* of the study */

typedef struct Corners {
  Keller want[BOXES]; /* as of before the last step in flight */
  double error[BOXES], mu, e;
  bool met[BOXES];
} Corners;

/* From the centre to the lowest corner of a box, to the lowest node of a grain; m: its attitude. */
static TlVec3 lowest_corner(const TlMat3 *m, TlVec3 side) {
  TlVec3 low = {0, 0, 0};
  for (int c = 0; c < 8; c++) {
    TlVec3 at = {side.x * (c & 1 ? 0.5 : -0.5), side.y * (c & 2 ? 0.5 : -0.5),
                 side.z * (c & 4 ? 0.5 : -0.5)};
    at = tl_mat_vec(*m, at);
    if (at.z < low.z) low = at;
  }
  return low;
}

static TlVec3 lowest_node(const TlMat3 *m, const TlAvatar *grain) {
  TlVec3 low = {0, 0, 0};
  for (int32_t k = 0; k < grain->node_count; k++) {
    const float *x = &grain->node_m[3 * k];
    TlVec3 at = tl_mat_vec(*m, tl_vec3((double)x[0], (double)x[1], (double)x[2]));
    if (at.z < low.z) low = at;
  }
  return low;
}

static TlVec3 box_moments(double mass, TlVec3 side) {
  TlVec3 square = {side.x * side.x, side.y * side.y, side.z * side.z};
  return tl_scale(mass / 12,
                  tl_vec3(square.y + square.z, square.x + square.z, square.x + square.y));
}

/* The K of a body that touches the plane z = 0 at ra, from mass and moments, one unit impulse after the other. */
static Keller impact_of(const TlBodies *b, int64_t i, double mass, TlVec3 moments, TlVec3 ra,
                        double mu, double e) {
  static const int axis[3] = {2, 0, 1}; /* n is z */
  TlMat3 m = tl_quat_matrix(b->rotation[i]);
  TlVec3 u = tl_add(b->velocity[i], tl_cross(tl_bodies_spin(b, i), ra));
  double velocity[3] = {u.x, u.y, u.z};
  TlSym3 inverse = tl_sym_rotated_diagonal(m, tl_vec3(1 / moments.x, 1 / moments.y, 1 / moments.z));
  Keller s = {.mu = mu, .e = e};
  for (int j = 0; j < 3; j++) {
    TlVec3 p = {axis[j] == 0, axis[j] == 1, axis[j] == 2};
    TlVec3 du = tl_axpy(tl_cross(tl_sym_vec(inverse, tl_cross(ra, p)), ra), 1 / mass, p);
    double rate[3] = {du.x, du.y, du.z};
    for (int k = 0; k < 3; k++) s.k[k][j] = rate[axis[k]];
    s.u[j] = velocity[axis[j]];
  }
  s.impulse[0] = mass * b->velocity[i].z; /* on top of the momentum before */
  s.impulse[1] = mass * b->velocity[i].x;
  s.impulse[2] = mass * b->velocity[i].y;
  return s;
}

static void watch_corners(TlRun *run, void *context) {
  Corners *c = context;
  const TlBodies *b = &run->state->dem.bodies;
  for (int64_t id = 0; id < BOXES; id++) {
    int64_t i = judge_study_body(run, id);
    Keller *want = &c->want[id];
    TlVec3 momentum = tl_scale(b->mass[i], b->velocity[i]);
    TlVec3 before = {want->impulse[1], want->impulse[2], want->impulse[0]};
    double change = tl_norm(tl_sub(momentum, before));
    if (c->met[id]) continue;
    if (run->state->totals.steps > 1 && change > 1e-6 * tl_norm(momentum)) {
      c->met[id] = true;
      keller_impact(want, 20000);
      TlVec3 end = {want->impulse[1], want->impulse[2], want->impulse[0]};
      c->error[id] = tl_norm(tl_sub(momentum, end)) / change;
    } else {
      TlMat3 m = tl_quat_matrix(b->rotation[i]);
      *want = impact_of(b, i, b->mass[i], box_moments(b->mass[i], sides[id]),
                        lowest_corner(&m, sides[id]), c->mu, c->e);
    }
  }
}

/* Against Keller's equations, integrated for themselves (support/keller.h). sqm takes a whole impact as one
 * impulse and is left out. */
static void corners(int k, const char *direction, const char *figure, double goal) {
  double worst = 0, turned = 0;
  for (int m = 0; m < 2; m++) {
    TlRun run;
    Corners c = {.mu = 0.3, .e = 0.5};
    judge_study_open(&run, "impact-corner",
                     "solver.method=%s solver.increments=%d solver.friction_direction=%s",
                     methods[m], k, direction);
    judge_study_go(&run, watch_corners, &c);
    for (int i = 0; i < BOXES; i++) {
      worst = c.met[i] ? fmax(worst, c.error[i]) : INFINITY;
      turned = fmax(turned, c.want[i].turned);
    }
    tl_run_close(&run);
  }
  if (goal > 0) judge_at_most(JUDGE_CORRECT, figure, worst, "of the impulse", goal);
  judge_note("Three boxes on a corner, %d increments, solver.friction_direction %s, by etm-level "
             "and etm: impulses off by %.2g at most against Keller's equations; the sliding "
             "velocity turns by up to %.0f degrees.",
             k, direction, worst, turned * 180 / acos(-1));
}

/* ---- 24 boxes and 24 grains ---- */

enum { STRIKES = 24, FIRST_BOX = 1000 };
static const double DENSITY = 2650, STRIKE_MU = 0.3, STRIKE_E = 0.5;

typedef struct Strike {
  double mass;
  TlVec3 moments, arm; /* arm: as of the last step, to what touches first */
  TlVec3 side;         /* of a box */
  Keller want;
  TlVec3 v, w; /* before the impact */
  double error;
  bool met;
} Strike;

/* Boxes of 10 to 30 mm; or grains made like scans, of 12 mm: rounded, angular, elongated, with hollows; six of each. */
static void open_strikes(JudgeScene *scene, TlMethod method, bool grains, Strike *strike) {
  TlRandom x = {1986, grains, 0};
  judge_scene_open(scene);
  TlSolverConfig *c = &scene->config;
  c->method = method;
  c->step_s = 1e-6; /* so that what touches meets the plane where it touches it */
  c->gravity_m_s2 = tl_vec3(0, 0, 0);
  c->density_kg_m3 = DENSITY;
  c->impulses.increments = 200;
  c->impulses.friction_direction = TL_FRICTION_SLIDING;
  c->search.edges = TL_EDGES_NODES; /* a grain touches with a node, whose place its avatar tells */
  TL_TEST_SET(c, TL_TEST_BOTH, friction, STRIKE_MU);
  TL_TEST_SET(c, TL_TEST_BOTH, restitution, STRIKE_E);
  for (int i = 0; grains && i < STRIKES; i++) {
    TlAvatar grain;
    judge_grain((TlGrainKind)(i % 4), 0.012, 24, 800, (uint64_t)i + 1, &grain);
    judge_scene_avatar(scene, &grain);
  }
  judge_scene_plane(scene, tl_vec3(0, 0, 0), tl_vec3(0, 0, 1));
  judge_scene_start(scene);
  for (int i = 0; i < STRIKES; i++) {
    Strike *s = &strike[i];
    *s = (Strike){.error = INFINITY};
    TlQuat q = judge_turned(&x);
    TlMat3 m = tl_quat_matrix(q);
    if (grains) {
      const TlAvatar *a = scene->avatar[i];
      s->mass = DENSITY * a->volume_m3;
      s->moments = tl_scale(DENSITY, a->inertia_m5);
      s->arm = lowest_node(&m, a);
    } else {
      s->side = tl_vec3(0.01 + 0.02 * tl_random_next(&x), 0.01 + 0.02 * tl_random_next(&x),
                        0.01 + 0.02 * tl_random_next(&x));
      s->mass = DENSITY * s->side.x * s->side.y * s->side.z;
      s->moments = box_moments(s->mass, s->side);
      s->arm = lowest_corner(&m, s->side);
      double size[3] = {s->side.x, s->side.y, s->side.z};
      JUDGE_OK(stepper_add_closed(scene->solver, FIRST_BOX + i, &tl_closed_box, size));
    }
    double turns = 1 / tl_norm(s->arm);
    TlVec3 w = {turns * tl_random_next_normal(&x), turns * tl_random_next_normal(&x),
                turns * tl_random_next_normal(&x)};
    TlVec3 u = {tl_random_next_normal(&x), tl_random_next_normal(&x), -1 - tl_random_next(&x)};
    judge_scene_put(scene, grains ? i + 1 : FIRST_BOX + i, 1, tl_vec3(0.1 * i, 0, 2e-5 - s->arm.z),
                    q, tl_sub(u, tl_cross(w, s->arm)));
    JUDGE_OK(stepper_refresh(scene->solver, &scene->bodies));
    tl_bodies_set_spin(&scene->bodies, i, w);
  }
}

/* Of one body after a step: of the changes of its velocity and of its spin times the arm, as the step made them, what
 * Keller's equations do not give, over the change of the velocity. */
static void judge_strike(const TlBodies *b, int64_t i, Strike *s) {
  TlVec3 dv = tl_sub(b->velocity[i], s->v), dw = tl_sub(tl_bodies_spin(b, i), s->w);
  if (!(tl_norm(dv) > 1e-6 * tl_norm(s->v))) return;
  s->met = true;
  keller_impact(&s->want, 20000);
  TlVec3 end = {s->want.impulse[1], s->want.impulse[2], s->want.impulse[0]};
  TlVec3 p = tl_axpy(end, -s->mass, s->v); /* the impulse */
  TlMat3 m = tl_quat_matrix(b->rotation[i]);
  TlSym3 inverse =
      tl_sym_rotated_diagonal(m, tl_vec3(1 / s->moments.x, 1 / s->moments.y, 1 / s->moments.z));
  TlVec3 due = tl_sym_vec(inverse, tl_cross(s->arm, p));
  double v = tl_norm(tl_axpy(dv, -1 / s->mass, p)), w = tl_norm(tl_sub(dw, due));
  s->error = fmax(v, w * tl_norm(s->arm)) / tl_norm(dv);
}

static void strikes(bool grains) {
  static const TlMethod method[2] = {TL_ETM_LEVEL, TL_ETM_PRIORITY};
  double worst = 0, turned = 0;
  int reversed = 0;
  for (int m = 0; m < 2; m++) {
    JudgeScene scene;
    Strike strike[STRIKES];
    open_strikes(&scene, method[m], grains, strike);
    const TlBodies *b = &scene.bodies;
    for (int k = 0; k < 60; k++) {
      for (int i = 0; i < STRIKES; i++) {
        Strike *s = &strike[i];
        if (s->met) continue;
        TlMat3 at = tl_quat_matrix(b->rotation[i]);
        s->arm = grains ? lowest_node(&at, scene.avatar[i]) : lowest_corner(&at, s->side);
        s->want = impact_of(b, i, s->mass, s->moments, s->arm, STRIKE_MU, STRIKE_E);
        s->v = b->velocity[i];
        s->w = tl_bodies_spin(b, i);
      }
      judge_scene_steps(&scene, 1);
      for (int i = 0; i < STRIKES; i++)
        if (!strike[i].met) judge_strike(b, i, &strike[i]);
    }
    for (int i = 0; i < STRIKES; i++) {
      worst = fmax(worst, strike[i].error);
      turned = fmax(turned, strike[i].want.turned);
      reversed += m == 0 && strike[i].want.turned > 0.5;
    }
    judge_scene_close(&scene);
  }
  judge_at_most(JUDGE_CORRECT, grains ? "impact_keller_grains_error" : "impact_keller_boxes_error",
                worst, "of the change of velocity, 200 increments", 0.002);
  judge_note("%d %s, 200 increments, by etm-level and etm: velocity and spin off by %.2g at most "
             "against Keller's equations; the sliding velocity turns by up to %.0f degrees, of %d "
             "by more than half a radian.",
             STRIKES, grains ? "grains made like scans" : "boxes of random sides", worst,
             turned * 180 / acos(-1), reversed);
}

typedef struct Flight {
  double top, last, worst, stop_s;
  int bounces;
} Flight;

static void follow(TlRun *run, void *context) {
  Flight *f = context;
  double z = run->state->dem.bodies.position[0].z - R, v = run->state->dem.bodies.velocity[0].z;
  if (f->last < 0 && v > 0) f->top = 0;
  f->top = fmax(f->top, z);
  if (f->last > 0 && v <= 0 && f->bounces < 6) {
    f->bounces++;
    f->worst = fmax(f->worst, fabs(f->top / (0.5 * pow(0.8, 2 * f->bounces)) - 1));
  }
  if (fabs(v) > 0.02) f->stop_s = (double)run->state->totals.steps * run->model->setup.time.dt_s;
  f->last = v;
}

/* The time of an impact is known to a step: heights to about 2 v dt/h + g dt/v a bounce. */
static void bounce(const char *method, const char *mark) {
  TlRun run;
  Flight f = {0};
  char figure[48];
  judge_study_open(&run, "impact-bounce", "solver.method=%s", method);
  judge_study_go(&run, follow, &f);
  double whole = sqrt(2 * 0.5 / 9.81) * (1 + 0.8) / (1 - 0.8);
  snprintf(figure, sizeof figure, "impact_%sbounce_height_error", mark);
  judge_at_most(JUDGE_GOAL, figure, f.worst, "of the height", 0.01);
  snprintf(figure, sizeof figure, "impact_%sbounce_time_error", mark);
  judge_at_most(JUDGE_GOAL, figure, fabs(f.stop_s / whole - 1), "of the time", 0.02);
  judge_note(
      "By %s the ball stops after %.3f s; sqrt(2h/g)(1+e)/(1-e) = %.3f s. Six bounces judged.",
      method, f.stop_s, whole);
  tl_run_close(&run);
}

int main(int argc, char **argv) {
  judge_open("impact", argc, argv);
  impacts();
  by_penalty();
  corners(20, "sliding", "impact_keller_20_error", 0.02);
  corners(200, "sliding", "impact_keller_200_error", 0.002);
  corners(200, "tang", "", 0);
  strikes(false);
  strikes(true);
  bounce("etm-level", "");
  bounce("penalty", "penalty_");
  return judge_close();
}
