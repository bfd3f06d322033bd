/* The cases DEM-01 to DEM-05 of MFiX's verification manual: a ball falls and bounces, bounces six
 * times, two balls are squeezed between planes, a ball slips on a rough plane, a ball meets a plane
 * under an angle. Sizes, densities, stiffnesses, restitutions, frictions and angles are that
 * manual's (docs/validation.md says which are not).
 *
 * By penalty against the linear spring and dashpot, solved here: damped oscillation under gravity
 * (01, 02), two coupled oscillators by Runge-Kutta (03), a tangential spring with Coulomb's cone under
 * a known normal force (04, 05). As the solver's contacts never pull, a contact ends when its force is
 * zero. By impulses against rigid spheres. Not 03: four radii do not fit into 3.6.
 *
 * Goals come from the steps, before any result. By penalty w = sqrt(k/m) and zeta the fraction of the
 * critical damping: dashpots take the velocity half a step late, and begin up to a step late, which
 * makes an error of the velocity of about 2 zeta w dt a contact; springs alone (w dt)^2/24. By
 * impulses the time of an impact is known to a step: (1 + e) v dt of the place after it.
 */
#include "judge/judge.h"
#include "judge/study.h"

#include <math.h>
#include <string.h>

static const double PI = 3.14159265358979323846, G = 9.81;

static double ball_mass(double r, double density) {
  return 4.0 / 3 * PI * r * r * r * density;
}

/* ---- the normal contact, in closed form ---- */

/* Velocity that a contact without gravity returns, of 1: h'' = -h - 2 z h', Runge-Kutta until the
 * force is zero. */
static double returned(double z) {
  const double step = 1e-3;
  double h = 0, v = -1;
  do {
    double v1 = v, a1 = -h - 2 * z * v;
    double v2 = v + 0.5 * step * a1, a2 = -(h + 0.5 * step * v1) - 2 * z * v2;
    double v3 = v + 0.5 * step * a2, a3 = -(h + 0.5 * step * v2) - 2 * z * v3;
    double v4 = v + step * a3, a4 = -(h + step * v3) - 2 * z * v4;
    h += step / 6 * (v1 + 2 * v2 + 2 * v3 + v4);
    v += step / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
  } while (v < 0 || -h - 2 * z * v > 0);
  return v;
}

/* Fraction of the critical damping of this restitution. */
static double damping(double e) {
  double low = 0, high = 0.9;
  if (e >= 1) return 0;
  for (int i = 0; i < 40; i++) {
    double middle = 0.5 * (low + high);
    *(returned(middle) > e ? &low : &high) = middle;
  }
  return 0.5 * (low + high);
}

/* The manual's: the contact ends at depth 0, with tension before. */
static double damping_with_tension(double e) {
  return -log(e) / sqrt(PI * PI + log(e) * log(e));
}

typedef struct Spot { /* height of the lowest point over the plane */
  double h, v;
} Spot;

typedef struct Spring {
  double w, z; /* sqrt(k/m), fraction of the critical damping */
  bool tension;
} Spring;

/* t after touching at v < 0: h'' = -g - w^2 h - 2 z w h'. */
static Spot in_contact(const Spring *s, double v, double t) {
  double wd = s->w * sqrt(1 - s->z * s->z), zw = s->z * s->w, sink = G / (s->w * s->w);
  double a = sink, b = (v + zw * a) / wd, c = cos(wd * t), n = sin(wd * t), fade = exp(-zw * t);
  return (Spot){fade * (a * c + b * n) - sink,
                fade * ((b * wd - zw * a) * c - (a * wd + zw * b) * n)};
}

static double holds(const Spring *s, double v, double t) {
  Spot p = in_contact(s, v, t);
  return s->tension ? -p.h : -s->w * s->w * p.h - 2 * s->z * s->w * p.v;
}

/* When the contact is over; INFINITY: the ball stays. */
static double contact_time(const Spring *s, double v) {
  const double scan = 1e-3 / s->w;
  double low = scan, high = 2 * scan;
  while (holds(s, v, high) > 0) {
    low = high, high += scan;
    if (high * s->w > 20) return INFINITY;
  }
  for (int i = 0; i < 60; i++) {
    double middle = 0.5 * (low + high);
    *(holds(s, v, middle) > 0 ? &low : &high) = middle;
  }
  return high;
}

enum { BOUNCES = 6 };

/* A fall from rest and what follows. */
typedef struct Flight {
  int count;                                 /* of bounces that rise over the plane */
  double touch_s[BOUNCES], touch_v[BOUNCES]; /* each contact's begin */
  double leave_s[BOUNCES];
  Spot leave[BOUNCES];
  double top_s[BOUNCES], top[BOUNCES];
  Spring spring;
  double height;
} Flight;

static Flight fall(double height, Spring spring) {
  Flight f = {.spring = spring, .height = height};
  double t = sqrt(2 * height / G), v = -G * t;
  for (int k = 0; k < BOUNCES; k++) {
    double lasts = contact_time(&spring, v);
    f.touch_s[k] = t, f.touch_v[k] = v;
    f.leave_s[k] = t + lasts;
    if (isinf(lasts)) break;
    f.leave[k] = in_contact(&spring, v, lasts);
    f.top[k] = f.leave[k].h + f.leave[k].v * f.leave[k].v / (2 * G);
    f.top_s[k] = f.leave_s[k] + f.leave[k].v / G;
    if (!(f.top[k] > 0)) break;
    f.count = k + 1;
    t = f.top_s[k] + sqrt(2 * f.top[k] / G), v = -sqrt(2 * G * f.top[k]);
  }
  return f;
}

/* Up to the second touch. */
static Spot first_bounce(const Flight *f, double t) {
  double since = t - f->leave_s[0];
  if (t <= f->touch_s[0]) return (Spot){f->height - 0.5 * G * t * t, -G * t};
  if (since < 0) return in_contact(&f->spring, f->touch_v[0], t - f->touch_s[0]);
  return (Spot){f->leave[0].h + f->leave[0].v * since - 0.5 * G * since * since,
                f->leave[0].v - G * since};
}

static Spot rigid_bounce(double height, double e, double t) {
  double touch = sqrt(2 * height / G), since = t - touch;
  if (since <= 0) return (Spot){height - 0.5 * G * t * t, -G * t};
  return (Spot){(e * G * touch - 0.5 * G * since) * since, e * G * touch - G * since};
}

/* ---- DEM-01 and DEM-02 ---- */

static const double BALL_R = 0.1, BALL_DENSITY = 2600, DROP = 0.4; /* m, kg/m3, m */

typedef struct Watch01 {
  bool penalty;
  double e, place, speed; /* worst errors */
  Flight soft;
} Watch01;

static void watch_01(TlRun *run, void *context) {
  Watch01 *w = context;
  const TlBodies *b = &run->state->dem.bodies;
  double dt = run->model->setup.time.dt_s, t = (double)run->state->totals.steps * dt;
  double h = b->position[0].z - BALL_R, v = b->velocity[0].z;
  Spot at = w->penalty ? first_bounce(&w->soft, t) : rigid_bounce(DROP, w->e, t);
  w->place = fmax(w->place, fabs(h - at.h));
  if (w->penalty) w->speed = fmax(w->speed, fabs(v - first_bounce(&w->soft, t - 0.5 * dt).v));
}

/* The steps of penalty are sqrt(m/k)/1000, so 2 zeta w dt is 3e-4 at e = 0.6. By impulses with steps of
 * 1e-5 s (1 + e) v dt is 1.4e-4 of the drop, and g t dt/2 of symplectic Euler 0.6e-4. */
static void case_01(void) {
  static const double stiffness[4] = {1e4, 2.5e4, 5e4, 1e5}, e[5] = {1, 0.9, 0.8, 0.7, 0.6};
  const double v = sqrt(2 * G * DROP);
  double place = 0, speed = 0, rigid = 0, tension = 0;
  for (int k = 0; k < 4; k++)
    for (int j = k == 0 ? 1 : 0; j < 5; j++) {
      TlRun run;
      double w = sqrt(stiffness[k] / ball_mass(BALL_R, BALL_DENSITY));
      Watch01 watch = {.penalty = true, .soft = fall(DROP, (Spring){w, damping(e[j]), false})};
      Flight manual = fall(DROP, (Spring){w, damping_with_tension(e[j]), true});
      judge_study_open(&run, "dem-01",
                       "solver.method=penalty contact.boundary_restitution=%.17g "
                       "penalty.normal_N_m=%.17g penalty.dt_s=%.17g",
                       e[j], stiffness[k], 1e-3 / w);
      judge_study_go(&run, watch_01, &watch);
      tl_run_close(&run);
      place = fmax(place, watch.place / DROP);
      speed = fmax(speed, watch.speed / v);
      for (double t = 0; t <= 0.5; t += 1e-4)
        tension = fmax(tension, fabs(first_bounce(&watch.soft, t).h - first_bounce(&manual, t).h));
    }
  for (int j = 0; j < 5; j++) {
    TlRun run;
    Watch01 watch = {.e = e[j]};
    judge_study_open(&run, "dem-01", "contact.boundary_restitution=%.17g", e[j]);
    judge_study_go(&run, watch_01, &watch);
    tl_run_close(&run);
    rigid = fmax(rigid, watch.place / DROP);
  }
  judge_at_most(JUDGE_CORRECT, "dem_cases_01_place_error", rigid, "of the drop", 5e-4);
  judge_at_most(JUDGE_CORRECT, "dem_cases_01_penalty_place_error", place, "of the drop", 1e-3);
  judge_at_most(JUDGE_CORRECT, "dem_cases_01_penalty_speed_error", speed, "of v", 1e-3);
  judge_note("DEM-01: at any time up to 0.5 s; stiffness 1e4 to 1e5 N/m, e = 0.6 to 1 (19 cases; "
             "not 1e4 N/m with e = 1, which lets the ball's centre through the plane). In the "
             "manual's solution, of the same restitution, the contact pulls before it ends: its "
             "places differ by up to %.2g of the drop from those judged here.",
             tension / DROP);
}

typedef struct Watch02 {
  double top[BOUNCES], last;
  int count;
} Watch02;

/* Highest places over the plane. */
static void watch_02(TlRun *run, void *context) {
  Watch02 *w = context;
  const TlBodies *b = &run->state->dem.bodies;
  double h = b->position[0].z - BALL_R, v = b->velocity[0].z;
  if (w->last > 0 && v <= 0 && h > 0 && w->count < BOUNCES) w->top[w->count++] = h;
  w->last = v;
}

/* Against what each bounce should reach; missing bounces are wrong by 1. */
static double tops_error(const Watch02 *w, const double *want, int count, double least) {
  double worst = 0;
  for (int k = 0; k < count; k++)
    if (want[k] >= least) worst = fmax(worst, fabs(w->top[k] / want[k] - 1));
  return worst;
}

static Watch02 bounce(const char *method, double e, double stiffness, double dt, double until) {
  TlRun run;
  Watch02 watch = {0};
  judge_study_open(&run, "dem-02",
                   "solver.method=%s contact.boundary_restitution=%.17g penalty.normal_N_m=%.17g "
                   "time.dt_s=%.17g penalty.dt_s=%.17g time.duration_s=%.17g",
                   method, e, stiffness, dt, dt, until);
  judge_study_go(&run, watch_02, &watch);
  tl_run_close(&run);
  return watch;
}

/* By impulses about 2 v dt/h + g dt/v of the height a bounce: with these steps 0.3% at most of the
 * sixth, and the bounces before add as much. By penalty 2 zeta w dt is 1e-3 or less a contact, so six
 * of them are wrong by 1.2% of the height; a bounce that hardly rises over the plane is worse, and those
 * below the ball's own sink m g/k are left out. */
static void case_02(void) {
  static const double stiffness[3] = {5e4, 5e5, 5e6}, e[6] = {0.5, 0.6, 0.7, 0.8, 0.9, 1};
  static const double steps[6] = {2e-6, 4e-6, 1e-5, 1e-5, 1e-5, 1e-5};
  double rigid = 0, soft = 0, apart[3] = {0};
  int judged = 0;
  for (int j = 0; j < 6; j++) {
    double want[BOUNCES], t = sqrt(2 * DROP / G), until = t;
    for (int k = 1; k <= BOUNCES; k++) {
      want[k - 1] = DROP * pow(e[j], 2 * k);
      until += (k < BOUNCES ? 2 : 1) * t * pow(e[j], k);
    }
    Watch02 watch = bounce("etm-level", e[j], 5e6, steps[j], until + 5e-3);
    rigid = fmax(rigid, tops_error(&watch, want, BOUNCES, 0));
  }
  for (int k = 0; k < 3; k++)
    for (int j = 0; j < 6; j++) {
      double w = sqrt(stiffness[k] / ball_mass(BALL_R, BALL_DENSITY)), z = damping(e[j]);
      Flight want = fall(DROP, (Spring){w, z, false});
      Watch02 watch = bounce("penalty", e[j], stiffness[k], fmin(5e-4 / fmax(z, 1e-9), 1e-2) / w,
                             want.top_s[want.count - 1] + 1e-3);
      soft = fmax(soft, tops_error(&watch, want.top, want.count, G / (w * w)));
      apart[k] = fmax(apart[k], fabs(want.top[0] / (DROP * e[j] * e[j]) - 1));
      for (int i = 0; i < want.count; i++) judged += want.top[i] >= G / (w * w);
    }
  judge_at_most(JUDGE_CORRECT, "dem_cases_02_height_error", rigid, "of the height", 0.01);
  judge_at_most(JUDGE_CORRECT, "dem_cases_02_penalty_height_error", soft, "of the height", 0.02);
  judge_note(
      "DEM-02: six bounces, e = 0.5 to 1; by penalty %d bounces of 18 cases, stiffness 5e4, 5e5 "
      "and 5e6 N/m. Because the ball's weight acts during the contact as well, the height of its "
      "first bounce differs from a rigid ball's by up to %.2g%%, %.2g%% and %.2g%%.",
      judged, 100 * apart[0], 100 * apart[1], 100 * apart[2]);
}

/* ---- DEM-03 ---- */

typedef struct Squeeze {
  double r, gap, k, m[2], c[3]; /* c: lower plane, between, upper plane */
  double y[2], v[2];            /* state of the oracle */
  double place, speed, fastest; /* worst errors; largest speed */
  bool pulls;                   /* a force that would pull was met */
} Squeeze;

static double pushes(Squeeze *s, double depth, double opening, double c) {
  double force = s->k * depth - c * opening;
  if (force < 0) s->pulls = true;
  return depth > 0 && force > 0 ? force : 0;
}

static void rates(Squeeze *s, const double *y, const double *v, double *a) {
  double low = pushes(s, s->r - y[0], v[0], s->c[0]);
  double mid = pushes(s, 2 * s->r - (y[1] - y[0]), v[1] - v[0], s->c[1]);
  double top = pushes(s, y[1] + s->r - s->gap, -v[1], s->c[2]);
  a[0] = (low - mid) / s->m[0] - G;
  a[1] = (mid - top) / s->m[1] - G;
}

static void advance(Squeeze *s, double dt) {
  static const double part[4] = {0, 0.5, 0.5, 1}, weight[4] = {1, 2, 2, 1};
  double v[2] = {0}, a[2] = {0}, y0[2], v0[2], dy[2] = {0}, dv[2] = {0};
  memcpy(y0, s->y, sizeof y0);
  memcpy(v0, s->v, sizeof v0);
  for (int stage = 0; stage < 4; stage++) {
    double y[2];
    for (int i = 0; i < 2; i++) {
      y[i] = y0[i] + part[stage] * dt * v[i];
      v[i] = v0[i] + part[stage] * dt * a[i];
    }
    rates(s, y, v, a);
    for (int i = 0; i < 2; i++) {
      dy[i] += weight[stage] * v[i];
      dv[i] += weight[stage] * a[i];
    }
  }
  for (int i = 0; i < 2; i++) {
    s->y[i] = y0[i] + dt / 6 * dy[i];
    s->v[i] = v0[i] + dt / 6 * dv[i];
  }
}

/* Velocities stand half a step before places. */
static void watch_03(TlRun *run, void *context) {
  Squeeze *s = context;
  double dt = run->model->setup.time.dt_s;
  const TlBodies *b = &run->state->dem.bodies;
  for (int half = 0; half < 2; half++) {
    advance(s, 0.5 * dt);
    for (int id = 0; id < 2; id++) {
      int64_t i = judge_study_body(run, id);
      if (half == 0) {
        s->speed = fmax(s->speed, fabs(b->velocity[i].z - s->v[id]));
        s->fastest = fmax(s->fastest, fabs(s->v[id]));
      } else {
        s->place = fmax(s->place, fabs(b->position[i].z - s->y[id]));
      }
    }
  }
}

/* w dt is 5e-4 (w = sqrt(3 k/m) of the lighter ball), so 2 zeta w dt is 2e-4 of the velocity at e =
 * 0.5; places swing by less than 0.1 r. */
static void case_03(void) {
  double place = 0, speed = 0;
  bool pulls = false;
  const double r = 5e-4, k = 1e3;
  for (int j = 0; j < 6; j++) {
    TlRun run;
    double e = 1 - 0.1 * j, z = damping(e), m[2] = {ball_mass(r, 20000), ball_mass(r, 10000)};
    Squeeze s = {.r = r, .gap = 3.6 * r, .k = k, .m = {m[0], m[1]}};
    s.c[0] = 2 * z * sqrt(k * m[0]);
    s.c[1] = 2 * z * sqrt(k * m[0] * m[1] / (m[0] + m[1]));
    s.c[2] = 2 * z * sqrt(k * m[1]);
    s.y[0] = 0.25 * s.gap, s.y[1] = 0.75 * s.gap;
    judge_study_open(&run, "dem-03", "pairs.0.restitution=%.17g contact.boundary_restitution=%.17g",
                     e, e);
    judge_study_go(&run, watch_03, &s);
    tl_run_close(&run);
    place = fmax(place, s.place / r);
    speed = fmax(speed, s.speed / s.fastest);
    pulls = pulls || s.pulls;
  }
  judge_at_most(JUDGE_CORRECT, "dem_cases_03_penalty_place_error", place, "of the radius", 1e-4);
  judge_at_most(JUDGE_CORRECT, "dem_cases_03_penalty_speed_error", speed, "of the fastest", 1e-3);
  judge_note("DEM-03: 1000 N/m, e = 0.5 to 1, 1 ms, %s contact force is cut off.",
             pulls ? "now and then a" : "no");
}

/* ---- the tangential contact of a ball ---- */

/* u: of the centre, slip: of the touching point, s: of the spring (m). All per mass: normal force f(t),
 * tangential -w2 s, |s| <= mu f/w2. slip' is 7/2 of u', as inertia is 2/5 m r^2. */
typedef struct Tangent {
  double mu, w2;
  double (*f)(const void *, double t), (*df)(const void *, double t);
  const void *normal;
  double t, x, u, slip, s;
  bool sliding;
} Tangent;

static double cap(const Tangent *c, double t) {
  return c->mu * c->f(c->normal, t) / c->w2;
}

static void tangent_step(Tangent *c, double dt) {
  /* Where the cone shrinks, the spring can be on the other side than the slip. */
  double side = (c->s != 0 ? c->s : c->slip) < 0 ? -1 : 1;
  if (c->sliding && side * c->slip < c->mu * c->df(c->normal, c->t) / c->w2) c->sliding = false;
  if (c->sliding) { /* Simpson */
    double f0 = c->f(c->normal, c->t), f1 = c->f(c->normal, c->t + 0.5 * dt);
    double f2 = c->f(c->normal, c->t + dt), du = -side * c->mu * dt / 6 * (f0 + 4 * f1 + f2);
    c->x += dt * c->u - side * c->mu * dt * dt / 6 * (f0 + 2 * f1);
    c->u += du;
    c->slip += 3.5 * du;
    c->s = side * cap(c, c->t + dt);
  } else { /* a free oscillation */
    double w = sqrt(3.5 * c->w2), co = cos(w * dt), si = sin(w * dt);
    double s = c->s * co + c->slip / w * si, slip = c->slip * co - c->s * w * si;
    c->x += dt * (c->u + 0.5 * (slip - c->slip) / 3.5);
    c->u += (slip - c->slip) / 3.5;
    c->slip = slip;
    c->s = s;
    double most = cap(c, c->t + dt);
    if (fabs(c->s) > most) {
      c->s = copysign(most, c->s);
      c->sliding = true;
    }
  }
  c->t += dt;
}

/* ---- DEM-04 ---- */

typedef struct Slip {
  bool penalty;
  double r, before, before_u; /* slip, speed half a step before */
  double end_s, place, speed; /* when it slips no more */
} Slip;

static void watch_04(TlRun *run, void *context) {
  Slip *s = context;
  const TlBodies *b = &run->state->dem.bodies;
  double dt = run->model->setup.time.dt_s, t = (double)run->state->totals.steps * dt;
  double u = b->velocity[0].x, slip = u - tl_bodies_spin(b, 0).y * s->r;
  if (s->end_s > 0) return;
  if (s->penalty && slip <= 0) { /* velocities stand half a step before places */
    double part = s->before / (s->before - slip);
    s->end_s = t + (part - 1.5) * dt;
    s->place = b->position[0].x + (s->end_s - t) * u;
    s->speed = s->before_u + part * (u - s->before_u);
  } else if (!s->penalty && fabs(slip) < 1e-9) {
    s->end_s = t;
    s->place = b->position[0].x;
    s->speed = u;
  }
  s->before = slip, s->before_u = u;
}

/* The ball is put down without depth and e = 1: it bobs, and F = m g (1 - cos w t). */
static double bobbing(const void *w, double t) {
  return G * (1 - cos(*(const double *)w * t));
}
static double bobbing_rate(const void *w, double t) {
  return G * *(const double *)w * sin(*(const double *)w * t);
}

/* w dt is 9e-3. The rigid ball's friction is steady, that of the springs swings: 1/w of time, which is
 * 0.8% of the shortest slide. */
static void case_04(void) {
  const double u0 = 0.1, r = 5e-4, k = 1e4, w = sqrt(k / ball_mass(r, 10000));
  double rigid[3] = {0}, soft[3] = {0}, manual[2] = {0};
  for (int j = 1; j <= 10; j++) {
    double mu = 0.1 * j, end = 2 * u0 / (7 * mu * G), place = 12 * u0 * u0 / (49 * mu * G);
    Slip seen[2] = {{.r = r}, {.r = r, .penalty = true, .before = u0, .before_u = u0}};
    for (int i = 0; i < 2; i++) {
      TlRun run;
      judge_study_open(&run, "dem-04",
                       "solver.method=%s contact.boundary_friction=%.17g time.duration_s=%.17g",
                       i ? "penalty" : "etm-level", mu, 1.1 * end);
      judge_study_go(&run, watch_04, &seen[i]);
      double dt = run.model->setup.time.dt_s;
      tl_run_close(&run);
      if (i) continue;
      rigid[0] = fmax(rigid[0], fabs(seen[i].end_s - end) / dt);
      rigid[1] = fmax(rigid[1], fabs(seen[i].place - place) / (u0 * dt));
      rigid[2] = fmax(rigid[2], fabs(seen[i].speed / (5 * u0 / 7) - 1));
    }
    Tangent c = {.mu = mu,
                 .w2 = w * w,
                 .f = bobbing,
                 .df = bobbing_rate,
                 .normal = &w,
                 .u = u0,
                 .slip = u0,
                 .sliding = true};
    while (c.slip > 0) tangent_step(&c, 1e-3 / w);
    soft[0] = fmax(soft[0], fabs(seen[1].end_s / c.t - 1));
    soft[1] = fmax(soft[1], fabs(seen[1].place / c.x - 1));
    soft[2] = fmax(soft[2], fabs(seen[1].speed / (5 * u0 / 7) - 1));
    manual[0] = fmax(manual[0], fabs(seen[1].end_s / end - 1));
    manual[1] = fmax(manual[1], fabs(seen[1].place / place - 1));
  }
  judge_at_most(JUDGE_CORRECT, "dem_cases_04_time_error", rigid[0], "steps", 1);
  judge_at_most(JUDGE_CORRECT, "dem_cases_04_place_error", rigid[1], "of u0 dt", 1);
  judge_at_most(JUDGE_CORRECT, "dem_cases_04_speed_error", rigid[2], "of 5 u0/7", 1e-9);
  judge_at_most(JUDGE_CORRECT, "dem_cases_04_penalty_time_error", soft[0], "of the time", 1e-3);
  judge_at_most(JUDGE_CORRECT, "dem_cases_04_penalty_place_error", soft[1], "of the distance",
                1e-3);
  /* whatever friction does, the angular momentum about the line of contact is kept */
  judge_at_most(JUDGE_CORRECT, "dem_cases_04_penalty_speed_error", soft[2], "of 5 u0/7", 1e-9);
  judge_at_most(JUDGE_GOAL, "dem_cases_04_penalty_rigid_time_error", manual[0], "of 2 u0/(7 mu g)",
                0.01);
  judge_at_most(JUDGE_GOAL, "dem_cases_04_penalty_rigid_place_error", manual[1],
                "of 12 u0^2/(49 mu g)", 0.01);
  judge_note(
      "DEM-04: friction 0.1 to 1. By penalty the ball, put down without depth and with e = 1, "
      "bobs on its spring, and friction with it; rows penalty_rigid compare with the steady "
      "friction of a rigid ball, as the manual does.");
}

/* ---- DEM-05 ---- */

enum { ANGLES = 35 };
static const double MEETS = 3.9, OBLIQUE_MU = 0.092; /* m/s */

/* 0 to 2.5 degrees by 0.5, then to 65 by 2.5: the manual's; 70 to 85 by 5. */
static double angle(int i) {
  double degrees = i < 6 ? 0.5 * i : i < 31 ? 2.5 * (i - 4) : 65 + 5 * (i - 30);
  return degrees * PI / 180;
}

typedef struct Half {
  double w, v; /* of the normal motion: h = -v/w sin(w t) */
} Half;
static double half_wave(const void *h, double t) {
  const Half *n = h;
  return n->v * n->w * sin(n->w * t);
}
static double half_wave_rate(const void *h, double t) {
  const Half *n = h;
  return n->v * n->w * n->w * cos(n->w * t);
}

typedef struct Rebound {
  TlVec3 v;           /* along the plane, across, normal */
  double spin, stray; /* r times that across; r times what is about other axes */
} Rebound;

static Rebound strike(const char *study, const char *method, double a, double about, double r) {
  TlRun run;
  double c = cos(about), s = sin(about);
  judge_study_open(&run, study, "solver.method=%s bodies.0.velocity_m_s=[%.17g,%.17g,%.17g]",
                   method, MEETS * sin(a) * c, MEETS * sin(a) * s, -MEETS * cos(a));
  judge_study_go(&run, NULL, NULL);
  TlVec3 v = run.state->dem.bodies.velocity[0], w = tl_bodies_spin(&run.state->dem.bodies, 0);
  tl_run_close(&run);
  return (Rebound){{v.x * c + v.y * s, v.y * c - v.x * s, v.z},
                   r * (w.y * c - w.x * s),
                   r * hypot(w.x * c + w.y * s, w.z)};
}

/* Worst of what leaves: velocity, spin (of v), angle of rebound (degrees). */
static void weigh(double worst[3], const Rebound *seen, double u, double normal, double spin) {
  TlVec3 off = {seen->v.x - u, seen->v.y, seen->v.z - normal};
  worst[0] = fmax(worst[0], tl_norm(off) / MEETS);
  worst[1] = fmax(worst[1], hypot(seen->spin - spin, seen->stray) / MEETS);
  worst[2] = fmax(worst[2], fabs(atan2(seen->v.x, seen->v.z) - atan2(u, normal)) * 180 / PI);
}

/* w dt is 2.6e-3: the cone is met up to a step late, 7 mu w dt of the velocity at most, 2e-3; typically
 * its half in either direction. In angles 1e-3 is 0.06 degrees. */
static void case_05(void) {
  const double r = 2.5e-3, k = 1.72e7, ratio = 1.48 / 1.72;
  const double w = sqrt(k / ball_mass(r, 4000));
  double rigid[3] = {0}, soft[3] = {0}, sliding[3] = {0}, least = INFINITY, most = 0;
  int slides = 0;
  FILE *data = judge_data("dem_cases.dat");
  for (int i = 0; i < ANGLES; i++) {
    double a = angle(i), u = MEETS * sin(a), v = MEETS * cos(a), about = 2.4 * i;
    Rebound hard = strike("dem-05", "etm-level", a, about, r),
            given = strike("dem-05", "penalty", a, about, r);
    double j = fmin(OBLIQUE_MU * 2 * v, 2.0 / 7 * u);
    weigh(rigid, &hard, u - j, v, 2.5 * j);
    Half normal = {w, v};
    Tangent c = {.mu = OBLIQUE_MU,
                 .w2 = ratio * w * w,
                 .f = half_wave,
                 .df = half_wave_rate,
                 .normal = &normal,
                 .u = u,
                 .slip = u,
                 .sliding = u > OBLIQUE_MU / ratio * v};
    const int steps = 100000;
    for (int n = 0; n < steps; n++) tangent_step(&c, PI / w / steps);
    weigh(soft, &given, c.u, v, 2.5 * (u - c.u));
    bool slides_through = a > 29 * PI / 180;
    if (slides_through) { /* slides all through if tan(a) > mu (7 - 1/ratio) */
      weigh(sliding, &given, u - OBLIQUE_MU * 2 * v, v, 5 * OBLIQUE_MU * v);
      slides++;
    }
    if (i) {
      if (!slides_through) least = fmin(least, given.v.x / u), most = fmax(most, given.v.x / u);
      fprintf(data, "%g %g %g %g\n", a * 180 / PI, hard.v.x / u, given.v.x / u, c.u / u);
    }
  }
  fclose(data);
  judge_at_most(JUDGE_CORRECT, "dem_cases_05_velocity_error", rigid[0], "of v", 1e-9);
  judge_at_most(JUDGE_CORRECT, "dem_cases_05_spin_error", rigid[1], "of v/r", 1e-9);
  judge_at_most(JUDGE_CORRECT, "dem_cases_05_angle_error", rigid[2], "degrees", 1e-6);
  judge_at_most(JUDGE_CORRECT, "dem_cases_05_penalty_velocity_error", soft[0], "of v", 1e-3);
  judge_at_most(JUDGE_CORRECT, "dem_cases_05_penalty_spin_error", soft[1], "of v/r", 1e-3);
  judge_at_most(JUDGE_CORRECT, "dem_cases_05_penalty_angle_error", soft[2], "degrees", 0.1);
  judge_at_most(JUDGE_CORRECT, "dem_cases_05_penalty_sliding_error", fmax(sliding[0], sliding[1]),
                "of v", 1e-3);
  judge_note(
      "DEM-05: %d angles from 0 to 85 degrees, each in another direction along the plane. From 30 "
      "degrees on (%d angles) the springs slide all through, and from 32.8 degrees on impulses do, "
      "with one closed form for both. At smaller angles the springs swing back: %.3f to %.3f of "
      "the tangential velocity is left, where impulses leave 5/7.",
      (int)ANGLES, slides, least, most);
  judge_gnuplot("dem_cases",
                "set xlabel 'angle of impact, degrees'; set key right bottom\n"
                "set ylabel 'tangential velocity after over before'\n"
                "plot 'dem_cases.dat' using 1:4 with lines lw 2 title 'springs, oracle', "
                "'dem_cases.dat' using 1:3 with points pt 7 title 'penalty', "
                "'dem_cases.dat' using 1:2 with linespoints pt 6 dt 2 title 'impulses'\n");
}

/* ---- DEM-05 by Hertz ---- */

/* Of aluminium oxide on soda-lime glass: 380 GPa and 0.23, 70 GPa and 0.25 (the manual's). */
typedef struct Hertz {
  double kn, kt; /* over the mass: of d^1.5; of sqrt(d) s */
} Hertz;

static Hertz hertz_of(double r, double mass) {
  const double young[2] = {380e9, 70e9}, poisson[2] = {0.23, 0.25};
  double compliance = 0, shear = 0;
  for (int i = 0; i < 2; i++) {
    compliance += (1 - poisson[i] * poisson[i]) / young[i];
    shear += 2 * (2 - poisson[i]) * (1 + poisson[i]) / young[i];
  }
  return (Hertz){4.0 / 3 / compliance * sqrt(r) / mass, 8 / shear * sqrt(r) / mass};
}

typedef struct HertzState {
  double d, v, u, slip,
      f; /* depth, its rate, speed along the plane, of the point, friction over mass */
} HertzState;

/* Of a contact that sticks: what a spring of this depth holds grows with it at the same force, and falls
 * with it at the same length (Thornton 2013). */
static HertzState hertz_rate(const Hertz *h, const HertzState *s) {
  double deep = fmax(s->d, 0), root = sqrt(deep);
  double f = h->kt * root * s->slip + (s->v < 0 && deep > 0 ? 0.5 * s->f * s->v / deep : 0);
  return (HertzState){s->v, -h->kn * deep * root, -s->f, -3.5 * s->f, f};
}

static HertzState hertz_add(HertzState a, double k, HertzState b) {
  return (HertzState){a.d + k * b.d, a.v + k * b.v, a.u + k * b.u, a.slip + k * b.slip,
                      a.f + k * b.f};
}

/* Runge-Kutta, projected on the cone after each step. Returns the speed along the plane; lasted: seconds. */
static double hertz_strike(const Hertz *h, double mu, double u, double v, double *lasted) {
  double deepest = pow(1.25 * v * v / h->kn, 0.4), dt = deepest / v / 2e5;
  HertzState s = {.d = 0, .v = v, .u = u, .slip = u};
  for (*lasted = 0; s.d > 0 || s.v > 0; *lasted += dt) {
    HertzState k1 = hertz_rate(h, &s), at = hertz_add(s, 0.5 * dt, k1);
    HertzState k2 = hertz_rate(h, &at);
    at = hertz_add(s, 0.5 * dt, k2);
    HertzState k3 = hertz_rate(h, &at);
    at = hertz_add(s, dt, k3);
    HertzState k4 = hertz_rate(h, &at);
    s = hertz_add(s, dt / 6,
                  hertz_add(hertz_add(k1, 2, k2), 1, hertz_add(hertz_add(k3, 1, k3), 1, k4)));
    double most = mu * h->kn * pow(fmax(s.d, 0), 1.5);
    if (fabs(s.f) > most) s.f = copysign(most, s.f);
  }
  return s.u;
}

/* A step is deepest/(v) over 500 or less: the cone and the end are met up to a step late, 1e-3 of v
 * typically; the time to two steps. */
static void case_05_hertz(void) {
  const double r = 2.5e-3;
  Hertz h = hertz_of(r, ball_mass(r, 4000));
  double soft[3] = {0}, rigid[3] = {0}, sliding = 0, time = 0, least = INFINITY;
  FILE *data = judge_data("dem_cases_hertz.dat");
  for (int i = 0; i < ANGLES; i++) {
    double a = angle(i), u = MEETS * sin(a), v = MEETS * cos(a), lasted;
    Rebound given = strike("dem-05-hertz", "penalty", a, 2.4 * i, r);
    Rebound hard = strike("dem-05-hertz", "nonsmooth", a, 2.4 * i, r);
    double j = fmin(OBLIQUE_MU * 2 * v, 2.0 / 7 * u),
           left = hertz_strike(&h, OBLIQUE_MU, u, v, &lasted);
    weigh(soft, &given, left, v, 2.5 * (u - left));
    weigh(rigid, &hard, u - j, v, 2.5 * j);
    time = fmax(time, fabs(lasted / (2.943275 * pow(1.25 * v * v / h.kn, 0.4) / v) - 1));
    if (a > 35 * PI / 180)
      sliding = fmax(sliding, fabs(given.v.x - (u - OBLIQUE_MU * 2 * v)) / MEETS);
    if (i) least = fmin(least, given.v.x / u);
    if (i) fprintf(data, "%g %g %g %g\n", a * 180 / PI, hard.v.x / u, given.v.x / u, left / u);
  }
  fclose(data);
  judge_at_most(JUDGE_CORRECT, "dem_cases_05_hertz_velocity_error", soft[0], "of v", 2e-3);
  judge_at_most(JUDGE_CORRECT, "dem_cases_05_hertz_spin_error", soft[1], "of v/r", 5e-3);
  judge_at_most(JUDGE_CORRECT, "dem_cases_05_hertz_angle_error", soft[2], "degrees", 0.1);
  judge_at_most(JUDGE_CORRECT, "dem_cases_05_hertz_sliding_error", sliding, "of v", 1e-3);
  judge_at_most(JUDGE_CORRECT, "dem_cases_05_hertz_oracle_time_error", time, "of 2.9433 d/v", 1e-4);
  judge_at_most(JUDGE_CORRECT, "dem_cases_05_nonsmooth_velocity_error", rigid[0], "of v", 1e-9);
  judge_at_most(JUDGE_CORRECT, "dem_cases_05_nonsmooth_spin_error", rigid[1], "of v/r", 1e-9);
  judge_note("DEM-05 by Hertz and Mindlin: 380 and 70 GPa, no slip within the contact area; at "
             "least %.3f of the "
             "tangential velocity is left. The nonsmooth method is held against rigid balls, as "
             "impulses are: its "
             "impacts know no stiffness.",
             least);
  judge_gnuplot(
      "dem_cases_hertz",
      "set xlabel 'angle of impact, degrees'; set key right bottom\n"
      "set ylabel 'tangential velocity after over before'\n"
      "plot 'dem_cases_hertz.dat' using 1:4 with lines lw 2 title 'Hertz and Mindlin, oracle', "
      "'dem_cases_hertz.dat' using 1:3 with points pt 7 title 'penalty', "
      "'dem_cases_hertz.dat' using 1:2 with linespoints pt 6 dt 2 title 'nonsmooth'\n");
}

int main(int argc, char **argv) {
  judge_open("dem_cases", argc, argv);
  case_01();
  case_02();
  case_03();
  case_04();
  case_05();
  case_05_hertz();
  return judge_close();
}
