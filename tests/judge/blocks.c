#include "judge/blocks.h"

#include "judge/judge.h"

#include <math.h>
#include <stdio.h>

/* A facet with its corners about the normal n: those with n.v = d. */
static void put_facet(FILE *file, const TlVec3 *v, int count, TlVec3 n, double d) {
  int corner[6], corners = 0;
  double angle[6];
  TlVec3 side =
      tl_unit(tl_cross(n, fabs(n.x) < 0.9 * tl_norm(n) ? tl_vec3(1, 0, 0) : tl_vec3(0, 1, 0)));
  TlVec3 up = tl_unit(tl_cross(n, side));
  for (int i = 0; i < count; i++) {
    if (fabs(tl_dot(n, v[i]) - d) > 1e-9) continue;
    double a = atan2(tl_dot(up, v[i]), tl_dot(side, v[i]));
    int at = corners++;
    for (; at > 0 && angle[at - 1] > a; at--) {
      angle[at] = angle[at - 1];
      corner[at] = corner[at - 1];
    }
    angle[at] = a;
    corner[at] = i;
  }
  for (int k = 2; k < corners; k++)
    fprintf(file, "f %d %d %d\n", corner[0] + 1, corner[k - 1] + 1, corner[k] + 1);
}

/* The permutations of (0, +-1, +-2). */
static void plain_corners(TlVec3 v[JUDGE_CORNERS]) {
  int count = 0;
  for (int zero = 0; zero < 3; zero++)
    for (int k = 0; k < 8; k++) {
      double c[3] = {0, 0, 0}, one = k & 1 ? 1 : -1, two = k & 2 ? 2 : -2;
      c[(zero + 1) % 3] = k & 4 ? one : two;
      c[(zero + 2) % 3] = k & 4 ? two : one;
      v[count++] = tl_vec3(c[0], c[1], c[2]);
    }
}

void judge_octahedron(const double size_m[3], TlVec3 v[JUDGE_CORNERS]) {
  plain_corners(v);
  for (int i = 0; i < JUDGE_CORNERS; i++)
    v[i] = tl_vec3(v[i].x * size_m[0] / 4, v[i].y * size_m[1] / 4, v[i].z * size_m[2] / 4);
}

void judge_write_octahedron(const char *path, const double size_m[3]) {
  TlVec3 v[JUDGE_CORNERS], at[JUDGE_CORNERS];
  FILE *file = fopen(path, "w");
  if (!file) JUDGE_OK(tl_fail_errno(path, "cannot write"));
  plain_corners(v);
  judge_octahedron(size_m, at);
  for (int i = 0; i < JUDGE_CORNERS; i++)
    fprintf(file, "v %.17g %.17g %.17g\n", at[i].x, at[i].y, at[i].z);
  for (int axis = 0; axis < 3; axis++)
    for (int sign = -1; sign <= 1; sign += 2)
      put_facet(file, v, JUDGE_CORNERS,
                tl_vec3(axis == 0 ? sign : 0, axis == 1 ? sign : 0, axis == 2 ? sign : 0), 2);
  for (int k = 0; k < 8; k++)
    put_facet(file, v, JUDGE_CORNERS, tl_vec3(k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1), 3);
  fclose(file);
}

TlQuat judge_attitude(TlRandom *x) {
  return tl_quat_unit((TlQuat){tl_random_next_normal(x), tl_random_next_normal(x),
                               tl_random_next_normal(x), tl_random_next_normal(x)});
}
