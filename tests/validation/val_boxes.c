/* Tang 2014, Figs. 7 and 8. Ground: velocities reversed and no spin, by symmetry. Offset: the
 * points of the contact lie on one half of the moving cube's face, so it must turn; simultaneous
 * impulses (each u_n to -e u_n at once) leave it without spin. Energy tells an error of the method:
 * for a plane face the motion after is that of a box held by the contact's resultant, one point in
 * effect.
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

/* Springs at the cubes' corners and where their edges cross: whatever their resultant, the motion
 * after is that of a cube held by it, J = 2 v m/(1 + r^2 m/I) at an arm r = w I/J that lies where
 * the faces touch, 0.2 to 0.5 from the axis; I = m/6. */
static void by_penalty(void) {
  End ground = collide("boxes-ground", "penalty", 30, 0),
      end = collide("boxes-offset", "penalty", 30, 1);
  double j = end.v.z + 10, arm = fabs(end.w.y) / 6 / j;
  judge_at_most(JUDGE_CORRECT, "boxes_penalty_ground_error",
                fmax(tl_norm(tl_sub(ground.v, tl_vec3(1, 1, 10))), tl_norm(ground.w)) / sqrt(102.0),
                "of v", 1e-3);
  judge_between(JUDGE_CORRECT, "boxes_penalty_offset_arm", arm, "of the edge", 0.2, 0.5);
  judge_at_most(JUDGE_CORRECT, "boxes_penalty_offset_error", fabs(j * (1 + 6 * arm * arm) / 20 - 1),
                "of J", 1e-3);
  judge_at_most(JUDGE_CORRECT, "boxes_penalty_offset_energy", fabs(end.energy - 1), "of the start",
                1e-3);
  judge_note("Cube on the edge of another, penalty: velocity (%.3f, %.3f, %.3f) m/s, spin (%.3f, "
             "%.3f, %.3f) rad/s.",
             end.v.x, end.v.y, end.v.z, end.w.x, end.w.y, end.w.z);
}

int main(int argc, char **argv) {
  static const int more[4] = {1, 5, 100, 500};
  judge_open("boxes", argc, argv);
  double level = ground_error("etm-level", 30), sqm = ground_error("sqm", 30);
  ground_error("etm", 30);
  for (int k = 0; k < 4; k++) ground_error("etm-level", more[k]);
  judge_at_most(JUDGE_CORRECT, "boxes_ground_error", level, "of v", 1e-12);
  judge_at_least(JUDGE_CORRECT, "boxes_ground_sqm_over_etm", sqm / fmax(level, 1e-16), "times", 10);
  static const char *const methods[3] = {"etm-level", "etm", "sqm"};
  for (int m = 0; m < 3; m++) {
    End end = collide("boxes-offset", methods[m], 30, 1);
    char figure[64];
    judge_note("Cube on the edge of another, %s: velocity (%.3f, %.3f, %.3f) m/s, spin (%.3f, "
               "%.3f, %.3f) rad/s.",
               methods[m], end.v.x, end.v.y, end.v.z, end.w.x, end.w.y, end.w.z);
    snprintf(figure, sizeof figure, "boxes_offset_spin_%s", m == 0 ? "level" : methods[m]);
    judge_at_least(JUDGE_CORRECT, figure, fabs(end.w.y), "rad/s", 1);
    snprintf(figure, sizeof figure, "boxes_offset_energy_%s", m == 0 ? "level" : methods[m]);
    judge_at_most(JUDGE_CORRECT, figure, fabs(end.energy - 1), "of the start", 1e-9);
  }
  by_penalty();
  return judge_close();
}
