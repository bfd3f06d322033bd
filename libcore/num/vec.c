#include "num/vec.h"

TlQuat tl_quat_from_matrix(TlMat3 r) {
  double t[4] = {r.m[0][0] + r.m[1][1] + r.m[2][2], r.m[0][0], r.m[1][1], r.m[2][2]};
  int k = 0;
  for (int i = 1; i < 4; i++)
    if (t[i] > t[k]) k = i;
  double a = r.m[2][1] - r.m[1][2], b = r.m[0][2] - r.m[2][0], c = r.m[1][0] - r.m[0][1];
  double d = r.m[1][0] + r.m[0][1], e = r.m[0][2] + r.m[2][0], f = r.m[2][1] + r.m[1][2];
  TlQuat q;
  if (k == 0)
    q = (TlQuat){1 + t[0], a, b, c};
  else if (k == 1)
    q = (TlQuat){a, 1 + 2 * r.m[0][0] - t[0], d, e};
  else if (k == 2)
    q = (TlQuat){b, d, 1 + 2 * r.m[1][1] - t[0], f};
  else
    q = (TlQuat){c, e, f, 1 + 2 * r.m[2][2] - t[0]};
  return tl_quat_unit(q);
}

static void rotate_pair(double a[3][3], double v[3][3], int p, int q) {
  if (a[p][q] == 0) return;
  double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
  double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
  double c = 1 / sqrt(t * t + 1), s = t * c;
  for (int k = 0; k < 3; k++) {
    double x = a[k][p], y = a[k][q];
    a[k][p] = c * x - s * y;
    a[k][q] = s * x + c * y;
  }
  for (int k = 0; k < 3; k++) {
    double x = a[p][k], y = a[q][k];
    a[p][k] = c * x - s * y;
    a[q][k] = s * x + c * y;
    x = v[k][p], y = v[k][q];
    v[k][p] = c * x - s * y;
    v[k][q] = s * x + c * y;
  }
}

void tl_sym_eigen(TlSym3 s, double values[3], TlMat3 *vectors) {
  double a[3][3] = {{s.xx, s.xy, s.xz}, {s.xy, s.yy, s.yz}, {s.xz, s.yz, s.zz}};
  double v[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  for (int sweep = 0; sweep < 16; sweep++) { /* quadratic: 5 are usually enough */
    rotate_pair(a, v, 0, 1);
    rotate_pair(a, v, 0, 2);
    rotate_pair(a, v, 1, 2);
  }
  int order[3] = {0, 1, 2};
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2 - i; j++)
      if (a[order[j]][order[j]] > a[order[j + 1]][order[j + 1]]) {
        int swap = order[j];
        order[j] = order[j + 1];
        order[j + 1] = swap;
      }
  for (int i = 0; i < 3; i++) {
    values[i] = a[order[i]][order[i]];
    for (int k = 0; k < 3; k++) vectors->m[k][i] = v[k][order[i]];
  }
  double(*m)[3] = vectors->m;
  double det = m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
               m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
               m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
  if (det < 0)
    for (int k = 0; k < 3; k++) m[k][2] = -m[k][2];
}

TlSym3 tl_sym_inverse(TlSym3 s) {
  double cxx = s.yy * s.zz - s.yz * s.yz, cxy = s.xz * s.yz - s.xy * s.zz,
         cxz = s.xy * s.yz - s.xz * s.yy;
  double inverse = 1 / (s.xx * cxx + s.xy * cxy + s.xz * cxz);
  return (TlSym3){.xx = cxx * inverse,
                  .xy = cxy * inverse,
                  .xz = cxz * inverse,
                  .yy = (s.xx * s.zz - s.xz * s.xz) * inverse,
                  .yz = (s.xy * s.xz - s.xx * s.yz) * inverse,
                  .zz = (s.xx * s.yy - s.xy * s.xy) * inverse};
}
