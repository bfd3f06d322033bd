/* Small fixed-size algebra: 3-vectors, symmetric and full 3x3 matrices, unit quaternions.
 * Quaternions are (w, x, y, z), unit, Hamilton product, and rotate body -> world (Correction 11:
 * the papers' matrix is the transpose of the usual one). All by value, double. */
#ifndef TL_NUM_VEC_H
#define TL_NUM_VEC_H

#include <math.h>

#define TL_DEG (180 / M_PI) /* degrees of a radian */

typedef struct TlVec3 {
  double x, y, z;
} TlVec3;
typedef struct TlQuat {
  double w, x, y, z;
} TlQuat;
typedef struct TlMat3 {
  double m[3][3]; /* row, column */
} TlMat3;
typedef struct TlSym3 {
  double xx, yy, zz, xy, xz, yz;
} TlSym3;

/* One instruction where fmin and fmax are calls; of a NaN and a number they give the number b. */
static inline double tl_min(double a, double b) {
  return a < b ? a : b;
}
static inline double tl_max(double a, double b) {
  return a > b ? a : b;
}

static inline TlVec3 tl_vec3(double x, double y, double z) {
  return (TlVec3){x, y, z};
}
static inline TlVec3 tl_add(TlVec3 a, TlVec3 b) {
  return tl_vec3(a.x + b.x, a.y + b.y, a.z + b.z);
}
static inline TlVec3 tl_sub(TlVec3 a, TlVec3 b) {
  return tl_vec3(a.x - b.x, a.y - b.y, a.z - b.z);
}
static inline TlVec3 tl_scale(double s, TlVec3 a) {
  return tl_vec3(s * a.x, s * a.y, s * a.z);
}
/* a + s b */
static inline TlVec3 tl_axpy(TlVec3 a, double s, TlVec3 b) {
  return tl_vec3(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}
static inline double tl_dot(TlVec3 a, TlVec3 b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
static inline TlVec3 tl_cross(TlVec3 a, TlVec3 b) {
  return tl_vec3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
static inline double tl_norm2(TlVec3 a) {
  return tl_dot(a, a);
}
static inline double tl_norm(TlVec3 a) {
  return sqrt(tl_dot(a, a));
}
/* a/|a|; the zero vector stays zero. */
static inline TlVec3 tl_unit(TlVec3 a) {
  double n = tl_norm(a);
  return n > 0 ? tl_scale(1 / n, a) : a;
}
/* A unit vector across n: across its least axis, which keeps the product well conditioned. */
static inline TlVec3 tl_across(TlVec3 n) {
  TlVec3 axis = fabs(n.x) <= fabs(n.y) && fabs(n.x) <= fabs(n.z) ? tl_vec3(1, 0, 0)
                : fabs(n.y) <= fabs(n.z)                         ? tl_vec3(0, 1, 0)
                                                                 : tl_vec3(0, 0, 1);
  return tl_unit(tl_cross(n, axis));
}
/* Unit vectors u and v = n x u across the unit vector n, as contacts measure curvatures along them.
 * Not the axis of tl_across, for the sake of the last bits of all runs. */
static inline void tl_tangents(TlVec3 n, TlVec3 *u, TlVec3 *v) {
  *u = tl_unit(tl_cross(n, fabs(n.x) < 0.6 ? tl_vec3(1, 0, 0) : tl_vec3(0, 1, 0)));
  *v = tl_cross(n, *u);
}

static inline TlVec3 tl_mat_vec(TlMat3 a, TlVec3 v) {
  return tl_vec3(a.m[0][0] * v.x + a.m[0][1] * v.y + a.m[0][2] * v.z,
                 a.m[1][0] * v.x + a.m[1][1] * v.y + a.m[1][2] * v.z,
                 a.m[2][0] * v.x + a.m[2][1] * v.y + a.m[2][2] * v.z);
}
/* A^T v */
static inline TlVec3 tl_mat_tvec(TlMat3 a, TlVec3 v) {
  return tl_vec3(a.m[0][0] * v.x + a.m[1][0] * v.y + a.m[2][0] * v.z,
                 a.m[0][1] * v.x + a.m[1][1] * v.y + a.m[2][1] * v.z,
                 a.m[0][2] * v.x + a.m[1][2] * v.y + a.m[2][2] * v.z);
}
static inline TlMat3 tl_mat_mul(TlMat3 a, TlMat3 b) {
  TlMat3 r;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      r.m[i][j] = a.m[i][0] * b.m[0][j] + a.m[i][1] * b.m[1][j] + a.m[i][2] * b.m[2][j];
  return r;
}
/* A^T B */
static inline TlMat3 tl_mat_tmul(TlMat3 a, TlMat3 b) {
  TlMat3 r;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      r.m[i][j] = a.m[0][i] * b.m[0][j] + a.m[1][i] * b.m[1][j] + a.m[2][i] * b.m[2][j];
  return r;
}
static inline TlSym3 tl_sym_add(TlSym3 a, TlSym3 b) {
  return (TlSym3){a.xx + b.xx, a.yy + b.yy, a.zz + b.zz, a.xy + b.xy, a.xz + b.xz, a.yz + b.yz};
}
static inline TlVec3 tl_sym_vec(TlSym3 s, TlVec3 v) {
  return tl_vec3(s.xx * v.x + s.xy * v.y + s.xz * v.z, s.xy * v.x + s.yy * v.y + s.yz * v.z,
                 s.xz * v.x + s.yz * v.y + s.zz * v.z);
}

/* Rotation matrix body -> world of a unit quaternion. */
static inline TlMat3 tl_quat_matrix(TlQuat q) {
  double xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z, xy = q.x * q.y, xz = q.x * q.z,
         yz = q.y * q.z, wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
  return (TlMat3){{{1 - 2 * (yy + zz), 2 * (xy - wz), 2 * (xz + wy)},
                   {2 * (xy + wz), 1 - 2 * (xx + zz), 2 * (yz - wx)},
                   {2 * (xz - wy), 2 * (yz + wx), 1 - 2 * (xx + yy)}}};
}
static inline TlQuat tl_quat_mul(TlQuat a, TlQuat b) {
  return (TlQuat){
      a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
      a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}
static inline TlQuat tl_quat_conj(TlQuat q) {
  return (TlQuat){q.w, -q.x, -q.y, -q.z};
}
static inline TlQuat tl_quat_unit(TlQuat q) {
  double s = 1 / sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
  return (TlQuat){s * q.w, s * q.x, s * q.y, s * q.z};
}
static inline TlVec3 tl_quat_rotate(TlQuat q, TlVec3 v) {
  return tl_mat_vec(tl_quat_matrix(q), v);
}
/* Rotation by the vector r (axis * angle, rad). */
static inline TlQuat tl_quat_from_rotation(TlVec3 r) {
  double angle = tl_norm(r), half = 0.5 * angle;
  double s = angle > 1e-8 ? sin(half) / angle : 0.5 - angle * angle / 48;
  return (TlQuat){cos(half), s * r.x, s * r.y, s * r.z};
}
/* Quaternion of a proper rotation matrix (Shepperd's choice of the largest component). */
TlQuat tl_quat_from_matrix(TlMat3 r);

/* Eigenvalues (ascending) and orthonormal eigenvectors (columns of *vectors, right-handed) of a
 * symmetric matrix, by cyclic Jacobi; accurate to rounding. */
void tl_sym_eigen(TlSym3 s, double values[3], TlMat3 *vectors);
/* Inverse of a symmetric positive definite matrix (adjugate over determinant). */
TlSym3 tl_sym_inverse(TlSym3 s);
/* R diag(d) R^T */
static inline TlSym3 tl_sym_rotated_diagonal(TlMat3 r, TlVec3 d) {
  TlSym3 s;
  double(*m)[3] = r.m;
  s.xx = m[0][0] * m[0][0] * d.x + m[0][1] * m[0][1] * d.y + m[0][2] * m[0][2] * d.z;
  s.yy = m[1][0] * m[1][0] * d.x + m[1][1] * m[1][1] * d.y + m[1][2] * m[1][2] * d.z;
  s.zz = m[2][0] * m[2][0] * d.x + m[2][1] * m[2][1] * d.y + m[2][2] * m[2][2] * d.z;
  s.xy = m[0][0] * m[1][0] * d.x + m[0][1] * m[1][1] * d.y + m[0][2] * m[1][2] * d.z;
  s.xz = m[0][0] * m[2][0] * d.x + m[0][1] * m[2][1] * d.y + m[0][2] * m[2][2] * d.z;
  s.yz = m[1][0] * m[2][0] * d.x + m[1][1] * m[2][1] * d.y + m[1][2] * m[2][2] * d.z;
  return s;
}

#endif
