/* Tang 2014, Figs. 7 and 8. Ground: velocities reversed and no spin, by symmetry. Offset: the
 * points of the contact lie on one half of the moving cube's face, so it must turn: whatever their
 * impulses, the motion after is that of a cube held by their resultant J, one point in effect, J (1
 * + r^2 m/I) = 2 m v at an arm r that lies where the faces touch, 0.2 to 0.5 of the edge from the
 * axis and no more than half an edge to either side. Simultaneous impulses (each u_n to -e u_n at
 * once, some contacts pull) leave it without spin, at +v.
 */
#include "judge/judge.h"
#include "judge/study.h"

#include <math.h>

typedef struct End {
  TlVec3 v, w;
  double energy;
} End;

static End collide(const char *study, const char *method, int increments, int64_t id) {
  TlRun run;
  judge_study_open(&run, study, "solver.method=%s solver.increments=%d", method, increments);
  judge_study_go(&run, NULL, NULL);
  int64_t i = judge_study_body(&run, id);
  End end = {run.state->dem.bodies.velocity[i], tl_bodies_spin(&run.state->dem.bodies, i),
             run.state->totals.kinetic_J / run.state->totals.kinetic_start_J};
  tl_run_close(&run);
  return end;
}

/* Tang 2014 Eq. 70 for the velocity, and the spin over v/r. */
static double ground_error(const char *method, int increments) {
  End end = collide("boxes-ground", method, increments, 0);
  double v = tl_norm(tl_sub(end.v, tl_vec3(1, 1, 10))) / sqrt(102.0);
  double w = tl_norm(end.w) / sqrt(102.0);
  judge_note("Box on the ground, %s, %d increments: velocity error %.2g, spin %.3g rad/s.", method,
             increments, v, tl_norm(end.w));
  return fmax(v, w);
}

/* The resultant of the moving cube's impulses for unit mass and edge; I = 1/6, v = 10. */
typedef struct Resultant {
  double x, y;  /* arms, of the edge: the point lies at (-x, y) from the centre */
  double error; /* of the closed form, of J */
} Resultant;

static Resultant resultant_of(const End *end) {
  double j = end->v.z + 10, x = end->w.y / 6 / j, y = end->w.x / 6 / j;
  return (Resultant){x, y, fabs(j * (1 + 6 * (x * x + y * y)) / 20 - 1)};
}

/* Springs at the cubes' corners and where their edges cross. */
static void by_penalty(void) {
  End ground = collide("boxes-ground", "penalty", 30, 0),
      end = collide("boxes-offset", "penalty", 30, 1);
  Resultant r = resultant_of(&end);
  judge_at_most(JUDGE_CORRECT, "boxes_penalty_ground_error",
                fmax(tl_norm(tl_sub(ground.v, tl_vec3(1, 1, 10))), tl_norm(ground.w)) / sqrt(102.0),
                "of v", 1e-3);
  judge_between(JUDGE_CORRECT, "boxes_penalty_offset_arm", r.x, "of the edge", 0.2, 0.5);
  judge_at_most(JUDGE_CORRECT, "boxes_penalty_offset_error", r.error, "of J", 1e-3);
  judge_note("Cube on the edge of another, penalty: velocity (%.3f, %.3f, %.3f) m/s, spin (%.3f, "
             "%.3f, %.3f) rad/s.",
             end.v.x, end.v.y, end.v.z, end.w.x, end.w.y, end.w.z);
}

/* Tang 2014, Fig. 7a: no spin, +10; and the box on the ground as by energy tracking. Solved to
 * 1e-6 of the tolerance for approach, which is 1e-6 of the speed: 1e-11 m/s. */
static void by_simultaneous(void) {
  End ground = collide("boxes-ground", "smm", 30, 0), end = collide("boxes-offset", "smm", 30, 1);
  judge_at_most(JUDGE_CORRECT, "boxes_ground_error_smm",
                fmax(tl_norm(tl_sub(ground.v, tl_vec3(1, 1, 10))), tl_norm(ground.w)), "m/s", 1e-9);
  judge_at_most(JUDGE_CORRECT, "boxes_offset_spin_smm", tl_norm(end.w), "rad/s", 1e-9);
  judge_at_most(JUDGE_CORRECT, "boxes_offset_velocity_error_smm",
                tl_norm(tl_sub(end.v, tl_vec3(0, 0, 10))), "m/s", 1e-9);
  judge_note("Cube on the edge of another, smm: velocity (%.3f, %.3f, %.3f) m/s, spin (%.1g, %.1g, "
             "%.1g) rad/s; no impulses that only push can do that: some contacts pull.",
             end.v.x, end.v.y, end.v.z, end.w.x, end.w.y, end.w.z);
}

int main(int argc, char **argv) {
  static const int more[4] = {1, 5, 100, 500};
  judge_open("boxes", argc, argv);
  double level = ground_error("etm-level", 30);
  ground_error("sqm", 30); /* corner after corner: it spins (Tang 2014, Fig. 8) */
  ground_error("etm", 30);
  for (int k = 0; k < 4; k++) ground_error("etm-level", more[k]);
  judge_at_most(JUDGE_CORRECT, "boxes_ground_error", level, "of v", 1e-12);
  static const char *const methods[3] = {"etm-level", "etm", "sqm"};
  for (int m = 0; m < 3; m++) {
    End end = collide("boxes-offset", methods[m], 30, 1);
    char figure[64];
    judge_note("Cube on the edge of another, %s: velocity (%.3f, %.3f, %.3f) m/s, spin (%.3f, "
               "%.3f, %.3f) rad/s.",
               methods[m], end.v.x, end.v.y, end.v.z, end.w.x, end.w.y, end.w.z);
    const char *name = m == 0 ? "level" : methods[m];
    Resultant r = resultant_of(&end);
    snprintf(figure, sizeof figure, "boxes_offset_arm_%s", name);
    judge_between(JUDGE_CORRECT, figure, r.x, "of the edge", 0.2, 0.5);
    /* The cubes are their own mirror images across y = 0. By levels an image pair of corners is lifted alike. In order
     * of approach one is ahead of the other by an increment of 1/30 at most, at half an edge to its side. One corner's
     * whole impulse after the other's says nothing of the side. */
    snprintf(figure, sizeof figure, "boxes_offset_side_%s", name);
    if (m < 2)
      judge_at_most(JUDGE_CORRECT, figure, fabs(r.y), "of the edge", m == 0 ? 1e-12 : 0.5 / 30);
    else
      judge_note("By sqm the resultant lies %.3f of the edge to one side.", fabs(r.y));
    snprintf(figure, sizeof figure, "boxes_offset_error_%s", name);
    judge_at_most(JUDGE_CORRECT, figure, r.error, "of J", 1e-12);
  }
  by_simultaneous();
  by_penalty();
  return judge_close();
}
