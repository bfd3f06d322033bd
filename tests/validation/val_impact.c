/* One sphere on a plane, closed forms of Correction 4: m = 2/5 r^2 inertia, so that a tangential
 * impulse J changes the contact's velocity by 3.5 J/m. Walton's tangential restitution: a contact
 * that sticks ends at -e_t u_t. */
#include "judge/judge.h"
#include "judge/study.h"
#include "support/keller.h"

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

/* The lowest corner's K from mass and moments, one unit impulse after the other. */
static Keller corner_impact(const TlBodies *b, int64_t i, TlVec3 side, double mu, double e) {
  static const int axis[3] = {2, 0, 1}; /* n is z */
  TlMat3 m = tl_quat_matrix(b->rotation[i]);
  TlVec3 ra = {0, 0, 0};
  for (int c = 0; c < 8; c++) {
    TlVec3 at = {side.x * (c & 1 ? 0.5 : -0.5), side.y * (c & 2 ? 0.5 : -0.5),
                 side.z * (c & 4 ? 0.5 : -0.5)};
    at = tl_mat_vec(m, at);
    if (at.z < ra.z) ra = at;
  }
  TlVec3 u = tl_add(b->velocity[i], tl_cross(tl_bodies_spin(b, i), ra));
  double mass = b->mass[i], velocity[3] = {u.x, u.y, u.z};
  TlVec3 square = {side.x * side.x, side.y * side.y, side.z * side.z};
  TlSym3 inverse = tl_sym_rotated_diagonal(m, tl_vec3(12 / (mass * (square.y + square.z)),
                                                      12 / (mass * (square.x + square.z)),
                                                      12 / (mass * (square.x + square.y))));
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
      *want = corner_impact(b, i, sides[id], c->mu, c->e);
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
  bounce("etm-level", "");
  bounce("penalty", "penalty_");
  return judge_close();
}
