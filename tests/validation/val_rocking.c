/* A block on one edge of its foot falls onto the foot and rocks on over the other edge, with friction enough not to
 * slide and without rebound. Where the blow acts at the other edge alone, angular momentum about it gives the spins'
 * ratio (Housner 1963): 1 - 3/2 sin^2 alpha, tan alpha = width over height. Impulses and constraints act at corners
 * and edges, and so does a spring at the deepest point. The sequential method strikes the edge's two corners one after
 * the other: the second blow lifts the first corner again. Springs over the whole face meet the ground all at once,
 * and their blow acts nearer to the middle. Both leave more of the spin: how much, two blows reckoned here say, and an
 * integration of a block in its plane on strips of springs and dashpots of the same law.
 *
 * The ratio is that of the square roots of the energies, those of the way down included.
 */
#include "judge/judge.h"
#include "judge/study.h"

#include "num/linear.h"

#include <math.h>
#include <stdio.h>

static const double G = 9.81, WIDTH = 0.02, DENSITY = 2650, TILT_DEG = 2, SPIN = 5, END_S = 0.011;
static const double PENALTY_PA_M = 2e9;
enum { HEIGHTS = 3 };
static const double height[HEIGHTS] = {1, 2, 4}; /* over the width */

typedef struct Block {
  double h, mass, inertia; /* height, m */
  double x, z, vx, vz, tilt_rad,
      spin; /* middle; tilt: the right side up; spin: towards the right */
} Block;

/* On its left edge, which stands at the origin. */
static Block start_of(double h) {
  double mass = DENSITY * WIDTH * WIDTH * h, t = TILT_DEG * acos(-1) / 180;
  Block b = {.h = h,
             .mass = mass,
             .inertia = mass * (WIDTH * WIDTH + h * h) / 12,
             .x = WIDTH / 2 * cos(t) - h / 2 * sin(t),
             .z = WIDTH / 2 * sin(t) + h / 2 * cos(t),
             .tilt_rad = t,
             .spin = SPIN};
  b.vx = b.spin * b.z;
  b.vz = -b.spin * b.x;
  return b;
}

static double energy_of(const Block *b) {
  return b->mass * ((b->vx * b->vx + b->vz * b->vz) / 2 + G * (b->z - b->h / 2)) +
         b->inertia * b->spin * b->spin / 2;
}

/* ---- by the program ---- */

static double rocked(double over_width, const char *sets) {
  TlRun run;
  Block b = start_of(over_width * WIDTH);
  double begin = energy_of(&b);
  judge_study_open(&run, "rocking",
                   "shapes.0.size_m=[%.17g,%.17g,%.17g] bodies.0.position_m=[%.17g,0,%.17g] "
                   "bodies.0.velocity_m_s=[%.17g,0,%.17g] %s",
                   WIDTH, WIDTH, b.h, b.x, b.z, b.vx, b.vz, sets);
  judge_study_go(&run, NULL, NULL);
  const TlBodies *bodies = &run.state->dem.bodies;
  TlVec3 v = bodies->velocity[0];
  b.x = bodies->position[0].x;
  b.z = bodies->position[0].z;
  b.vx = v.x;
  b.vz = v.z;
  b.spin = tl_bodies_spin(bodies, 0).y;
  tl_run_close(&run);
  return sqrt(fmax(0, energy_of(&b)) / begin);
}

/* ---- a foot of springs ---- */

enum { STRIPS = 400 };

/* Of critical damping, c = 2 sqrt(m/K) k a strip, K of all that touch; along the ground as stiff, within Coulomb's cone
 * of friction 1. Returns the force along the ground; load: on the strip. */
static double along(double stiffness, double damping, double load, double speed, double *slip) {
  double spring = -stiffness * *slip;
  if (fabs(spring) > load) {
    spring = copysign(load, spring);
    *slip = -spring / stiffness;
    return spring;
  }
  return fmax(-load, fmin(load, spring - damping * speed));
}

static double rocked_on_springs(double over_width) {
  const double dt = 1e-6, stiffness = PENALTY_PA_M * WIDTH * WIDTH / STRIPS;
  Block b = start_of(over_width * WIDTH);
  double begin = energy_of(&b), slip[STRIPS] = {0};
  for (double t = 0; t < END_S; t += dt) {
    double force_x = 0, force_z = -b.mass * G, moment = 0, c = cos(b.tilt_rad), s = sin(b.tilt_rad);
    double x[STRIPS], z[STRIPS];
    int touching = 0;
    for (int i = 0; i < STRIPS; i++) {
      double at = WIDTH * ((i + 0.5) / STRIPS - 0.5);
      x[i] = at * c + b.h / 2 * s;
      z[i] = at * s - b.h / 2 * c;
      touching += b.z + z[i] < 0;
    }
    for (int i = 0; i < STRIPS; i++) {
      double depth = -(b.z + z[i]), ux = b.vx + b.spin * z[i], uz = b.vz - b.spin * x[i];
      if (depth <= 0) {
        slip[i] = 0;
        continue;
      }
      double damping = 2 * sqrt(b.mass / (touching * stiffness)) * stiffness;
      double load = fmax(0, stiffness * depth - damping * uz);
      slip[i] += ux * dt;
      double drag = along(stiffness, damping, load, ux, &slip[i]);
      force_x += drag;
      force_z += load;
      moment += drag * z[i] - load * x[i];
    }
    b.vx += dt * force_x / b.mass;
    b.vz += dt * force_z / b.mass;
    b.spin += dt * moment / b.inertia;
    b.x += dt * b.vx;
    b.z += dt * b.vz;
    b.tilt_rad -= dt * b.spin;
  }
  return sqrt(fmax(0, energy_of(&b)) / begin);
}

/* ---- blows ---- */

static double housner(double over_width) {
  return 1 - 1.5 / (1 + over_width * over_width);
}

/* Stops the point r from the middle, of a unit of mass with this diagonal inertia. */
static void stop_point(TlVec3 r, TlVec3 inertia, TlVec3 *v, TlVec3 *w) {
  TlVec3 u = tl_add(*v, tl_cross(*w, r));
  double blow[3] = {-u.x, -u.y, -u.z};
  double yields[9] = {1 + r.z * r.z / inertia.y + r.y * r.y / inertia.z,
                      -r.x * r.y / inertia.z,
                      -r.x * r.z / inertia.y,
                      -r.x * r.y / inertia.z,
                      1 + r.z * r.z / inertia.x + r.x * r.x / inertia.z,
                      -r.y * r.z / inertia.x,
                      -r.x * r.z / inertia.y,
                      -r.y * r.z / inertia.x,
                      1 + r.y * r.y / inertia.x + r.x * r.x / inertia.y};
  JUDGE_OK(tl_linear_solve(3, yields, 1, blow));
  TlVec3 j = {blow[0], blow[1], blow[2]}, turn = tl_cross(r, j);
  *v = tl_add(*v, j);
  *w = tl_add(*w, tl_vec3(turn.x / inertia.x, turn.y / inertia.y, turn.z / inertia.z));
}

/* Both corners of the edge once: afterwards neither approaches. */
static double one_corner_after_the_other(double h) {
  TlVec3 inertia = {(1 + h * h) / 12, (1 + h * h) / 12, 1. / 6}, w = {0, 1, 0},
         v = {h / 2, 0, -0.5};
  double begin = tl_dot(v, v) + inertia.y;
  for (int side = -1; side <= 1; side += 2)
    stop_point(tl_vec3(0.5, side * 0.5, -h / 2), inertia, &v, &w);
  return sqrt(
      (tl_dot(v, v) + inertia.x * w.x * w.x + inertia.y * w.y * w.y + inertia.z * w.z * w.z) /
      begin);
}

/* ---- judging ---- */

typedef struct Method {
  const char *figure, *said, *sets;
  double (*expected)(double over_width);
  double goal;
} Method;

/* A step of the impulses is 2e-3 of the fall; springs give way by some hundredths of it. */
static const Method methods[] = {
    {"rocking_etm_level_error", "energy tracking by level", "solver.method=etm-level", housner,
     0.01},
    {"rocking_etm_error", "energy tracking in order", "solver.method=etm", housner, 0.01},
    {"rocking_sqm_error", "the sequential method", "solver.method=sqm", one_corner_after_the_other,
     0.01},
    {"rocking_smm_error", "the simultaneous method", "solver.method=smm", housner, 0.01},
    {"rocking_nonsmooth_error", "the nonsmooth method", "solver.method=nonsmooth", housner, 0.01},
    {"rocking_deepest_error", "a spring at the deepest point",
     "solver.method=penalty penalty.spread=deepest", housner, 0.02},
    {"rocking_surfaces_error", "springs over the face", "solver.method=penalty", rocked_on_springs,
     0.05},
};
enum { METHODS = sizeof methods / sizeof *methods };

static void picture(const double ratio[METHODS][HEIGHTS]) {
  FILE *curves = judge_data("curves.dat"), *points = judge_data("points.dat");
  for (double h = 1; h < 4.1; h += 0.25)
    fprintf(curves, "%g %g %g\n", h, housner(h), rocked_on_springs(h));
  for (int k = 0; k < HEIGHTS; k++) {
    fprintf(points, "%g", height[k]);
    for (int m = 0; m < METHODS; m++) fprintf(points, " %g", ratio[m][k]);
    fprintf(points, "\n");
  }
  fclose(curves);
  fclose(points);
  judge_gnuplot("rocking",
                "set xlabel 'height over width'; set ylabel 'spin after over spin before'\n"
                "set key bottom right; set xrange [0.9:4.1]; set yrange [0:1]\n"
                "plot 'curves.dat' using 1:2 with lines title 'blow at the edge (Housner 1963)', "
                "'curves.dat' using 1:3 with lines title 'foot of springs, integrated', "
                "'points.dat' using 1:2 with points pt 7 title 'impulses', "
                "'points.dat' using 1:6 with points pt 6 ps 2 title 'nonsmooth', "
                "'points.dat' using 1:7 with points pt 2 ps 2 title 'penalty, deepest point', "
                "'points.dat' using 1:8 with points pt 5 title 'penalty, over surfaces'\n");
}

int main(int argc, char **argv) {
  judge_open("rocking", argc, argv);
  double ratio[METHODS][HEIGHTS];
  for (int m = 0; m < METHODS; m++) {
    const Method *by = &methods[m];
    double worst = 0;
    for (int k = 0; k < HEIGHTS; k++) {
      ratio[m][k] = rocked(height[k], by->sets);
      worst = fmax(worst, fabs(ratio[m][k] - by->expected(height[k])));
    }
    judge_at_most(JUDGE_CORRECT, by->figure, worst, "of the spin", by->goal);
    judge_note(
        "Spin left by %s: %.3f, %.3f and %.3f of what it was, of blocks 1, 2 and 4 widths high.",
        by->said, ratio[m][0], ratio[m][1], ratio[m][2]);
  }
  judge_note("Two blows, one corner after the other, leave %.3f, %.3f and %.3f.",
             one_corner_after_the_other(1), one_corner_after_the_other(2),
             one_corner_after_the_other(4));
  judge_note(
      "A blow at the edge leaves %.3f, %.3f and %.3f, a foot of springs %.3f, %.3f and %.3f.",
      housner(1), housner(2), housner(4), rocked_on_springs(1), rocked_on_springs(2),
      rocked_on_springs(4));
  picture(ratio);
  return judge_close();
}
