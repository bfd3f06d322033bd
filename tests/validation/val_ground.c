/* Ground whose friction rises with the distance slid and that drags while a block touches it (Leine and
 * others 2014, Eqs. 46-47): a block on a plane against the equations, integrated for themselves. */
#include "judge/judge.h"
#include "judge/study.h"

#include <math.h>

typedef struct Law {
  double friction, most, rise, decay, drag, slope, g;
} Law;

/* By Runge and Kutta: distance slid, speed. */
typedef struct Slide {
  double distance, speed;
} Slide;

static double acceleration(const Law *l, Slide s) {
  double mu = l->friction + 2 / acos(-1) * (l->most - l->friction) * atan(l->rise * s.distance);
  return l->g * (sin(l->slope) - mu * cos(l->slope)) - l->drag * s.speed;
}

static Slide moved(Slide s, Slide rate, double dt) {
  return (Slide){s.distance + dt * rate.distance, s.speed + dt * rate.speed};
}

static Slide slide_to(const Law *l, Slide s, double time_s) {
  enum { STEPS = 20000 };
  double dt = time_s / STEPS;
  for (int i = 0; i < STEPS && s.speed > 0; i++) {
    Slide a = {s.speed, acceleration(l, s)}, at = moved(s, a, 0.5 * dt);
    Slide b = {at.speed, acceleration(l, at)};
    at = moved(s, b, 0.5 * dt);
    Slide c = {at.speed, acceleration(l, at)};
    at = moved(s, c, dt);
    Slide d = {at.speed, acceleration(l, at)};
    s.distance += dt / 6 * (a.distance + 2 * b.distance + 2 * c.distance + d.distance);
    s.speed += dt / 6 * (a.speed + 2 * b.speed + 2 * c.speed + d.speed);
  }
  return s;
}

typedef struct Watch {
  Law law;
  TlVec3 start;
  double worst; /* of distance and speed, of the largest of each */
  double stop_distance;
} Watch;

static void follow(TlRun *run, void *context) {
  Watch *w = context;
  double dt = run->model->setup.time.dt_s, time = (double)run->state->totals.steps * dt;
  if (run->state->totals.steps % 50 != 0) return;
  Slide want = slide_to(&w->law, (Slide){0, 8}, time);
  double distance = tl_norm(tl_sub(run->state->dem.bodies.position[0], w->start));
  double speed = tl_norm(run->state->dem.bodies.velocity[0]);
  if (want.speed > 0.2)
    w->worst =
        fmax(w->worst, fmax(fabs(distance / want.distance - 1), fabs(speed - want.speed) / 8));
  w->stop_distance = distance;
}

/* On a slope of this many degrees; sets: what differs from the study. */
static Watch run_slide(const char *method, double dt_s, double degrees, const Law *law) {
  TlRun run;
  double slope = degrees * acos(-1) / 180;
  judge_study_open(&run, "ground-slide",
                   "solver.method=%s time.dt_s=%.17g gravity_m_s2=[%.17g,0,%.17g] "
                   "contact.boundary_friction=%.17g contact.boundary_slip_friction=%.17g "
                   "contact.boundary_slip_per_m=%.17g contact.boundary_slip_decay_per_s=%.17g "
                   "contact.boundary_drag_per_s=%.17g",
                   method, dt_s, law->g * sin(slope), -law->g * cos(slope), law->friction,
                   law->most, law->rise, law->decay, law->drag);
  Watch w = {.law = *law, .start = run.state->dem.bodies.position[0]};
  w.law.slope = slope;
  judge_study_go(&run, follow, &w);
  tl_run_close(&run);
  return w;
}

/* A block that was thrown forgets the distance slid while in the air: friction where it lands is that of
 * the distance that is left. */
typedef struct Flight {
  double slid, left; /* at the last touch, and just before the next */
  double error;      /* of the decay in between */
  double since_s;
} Flight;

static void fly(TlRun *run, void *context) {
  Flight *f = context;
  const TlBodies *b = &run->state->dem.bodies;
  double dt = run->model->setup.time.dt_s;
  if (b->colliders.contacts[0] > 0) {
    f->slid = b->slid[0];
    f->since_s = 0;
    return;
  }
  if (!(f->slid > 0)) return;
  f->since_s += dt;
  f->error = fmax(f->error, fabs(b->slid[0] / (f->slid * exp(-f->since_s * 5)) - 1));
  f->left = b->slid[0];
}

/* A ball that comes down: with which velocity it came, and what it has at the end. */
typedef struct Drop {
  TlVec3 before, after;
  double touch_s;
  bool touched;
} Drop;

static void drop(TlRun *run, void *context) {
  Drop *d = context;
  const TlBodies *b = &run->state->dem.bodies;
  double dt = run->model->setup.time.dt_s;
  d->after = b->velocity[0];
  if (d->touched) return;
  d->touched = run->state->totals.steps > 1 && d->after.z > d->before.z;
  d->touch_s = (double)run->state->totals.steps * dt;
  if (!d->touched) d->before = b->velocity[0];
}

static Drop run_drop(const char *method, const char *sets) {
  TlRun run;
  Drop d = {.touched = false};
  judge_study_open(&run, "ground-drop", "solver.method=%s %s", method, sets);
  judge_study_go(&run, drop, &d);
  double dt = run.model->setup.time.dt_s; /* a step collides first, and falls then */
  d.after.z += 9.81 * ((double)run.state->totals.steps * dt - d.touch_s + dt);
  tl_run_close(&run);
  return d;
}

/* Restitution 0.8 that is half at 6 m/s: rebound over approach, at the power 1 and 2. */
static double rebound_error(const char *method) {
  double worst = 0;
  for (int power = 1; power <= 2; power++) {
    char sets[160];
    snprintf(sets, sizeof sets,
             "contact.boundary_restitution=0.8 contact.boundary_restitution_half_m_s=6 "
             "contact.boundary_restitution_power=%d",
             power);
    Drop d = run_drop(method, sets);
    double v = -d.before.z;
    worst = fmax(worst, fabs(d.after.z / (0.8 * v / (1 + pow(v / 6, power))) - 1));
  }
  return worst;
}

/* The ball slides without friction in its scar: v = v0/(1 + k v0 t), k of the closed form for the
 * velocity with which it came. */
static double scar_error(const char *method) {
  Drop d = run_drop(method, "contact.boundary_scar_modulus_Pa=1.5e7 "
                            "contact.boundary_scar_coefficient=2 time.duration_s=1.5");
  double pi = acos(-1), radius = 0.5, mass = 2650 * 4 / 3. * pi * pow(radius, 3);
  double v = -d.before.z;
  double depth = 0.1 * cbrt(mass) * pow(15000, -0.4) * pow(v, 0.8), h = radius - depth;
  double section = radius * radius * acos(h / radius) - h * sqrt(radius * radius - h * h);
  double k = 0.5 * (1 + 2) * 1700 * section / mass;
  return fabs(d.after.x / (12 / (1 + k * 12 * (1.5 - d.touch_s))) - 1);
}

static void fall(TlRun *run, void *context) {
  double radius = 0.1, density = 2650, t = (double)run->state->totals.steps * 1e-3;
  double terminal = sqrt(8 * density * 9.81 * radius / (3 * 0.5 * 1.2)); /* m g = C rho A v^2/2 */
  double *worst = context, v = -run->state->dem.bodies.velocity[0].z;
  *worst = fmax(*worst, fabs(v - terminal * tanh(9.81 * t / terminal)) / terminal);
}

int main(int argc, char **argv) {
  static const Law medium = {0.35, 2, 2, 150, 0.6, 0, 9.81}, soft = {0.20, 2, 1, 50, 0.9, 0, 9.81};
  static const char *const methods[] = {"etm-level", "etm", "sqm"};
  judge_open("ground", argc, argv);
  double worst = 0, stop_error = 0;
  for (int m = 0; m < 3; m++) {
    Watch flat = run_slide(methods[m], 5e-4, 0, &medium),
          steep = run_slide(methods[m], 5e-4, 35, &soft);
    worst = fmax(worst, fmax(flat.worst, steep.worst));
    Slide end = slide_to(&flat.law, (Slide){0, 8}, 10);
    stop_error = fmax(stop_error, fabs(flat.stop_distance / end.distance - 1));
    judge_note(
        "%s: a block of 8 m/s on medium ground stops after %.3f m, by the equations %.3f m; on "
        "extra soft ground of 35 degrees way and speed are within %.2g.",
        methods[m], flat.stop_distance, end.distance, steep.worst);
  }
  judge_at_most(JUDGE_CORRECT, "ground_slide_error", worst, "of way and speed", 5e-3);
  judge_at_most(JUDGE_CORRECT, "ground_stop_error", stop_error, "of the way", 5e-3);
  double coarse = run_slide("etm-level", 2e-3, 35, &soft).worst,
         fine = run_slide("etm-level", 1e-3, 35, &soft).worst;
  judge_between(JUDGE_CORRECT, "ground_order", log2(coarse / fine), "", 0.8, 2.5);
  TlRun run;
  Flight flight = {0};
  judge_study_open(&run, "ground-hop", "%s", "");
  judge_study_go(&run, fly, &flight);
  tl_run_close(&run);
  judge_at_most(JUDGE_CORRECT, "ground_flight_error", flight.left > 0 ? flight.error : INFINITY,
                "of the way remembered", 1e-9);
  double rebound = 0, scar = 0, air = 0;
  static const char *const all[] = {"etm-level", "etm", "sqm", "smm"};
  for (int m = 0; m < 4; m++) {
    rebound = fmax(rebound, rebound_error(all[m]));
    scar = fmax(scar, scar_error(all[m]));
  }
  judge_at_most(JUDGE_CORRECT, "ground_rebound_error", rebound, "of the rebound", 1e-9);
  judge_at_most(JUDGE_CORRECT, "ground_scar_error", scar, "of the speed", 5e-3);
  judge_study_open(&run, "ground-air", "%s", "");
  judge_study_go(&run, fall, &air);
  tl_run_close(&run);
  judge_at_most(JUDGE_CORRECT, "ground_air_error", air, "of the terminal speed", 1e-3);
  return judge_close();
}
