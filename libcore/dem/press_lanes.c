/* Both sides of a choice may be computed: nobody asks which operation raised which flag. Results
 * are the same. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-trapping-math")
#endif

#include "dem/press_lanes.h"

#include "base/lanes.h"

#include <math.h>

enum { N = TL_PRESS_LANES };

static inline TlVec3 at(const TlLane x[3], int k) {
  return tl_vec3(x[0][k], x[1][k], x[2][k]);
}
static inline void put(TlLane x[3], int k, TlVec3 v) {
  x[0][k] = v.x;
  x[1][k] = v.y;
  x[2][k] = v.z;
}

TL_LANES_CLONES static void place(TlPressLanes *l, int count) {
  for (int k = 0; k < count; k++) {
    TlVec3 d = at(l->d, k);
    double square = tl_norm2(d), length = sqrt(square);
    double inverse = 1 / (length > 0 ? length : 1);
    TlVec3 n = tl_scale(inverse, d);
    n.z = length > 0 ? n.z : 1;
    double depth = l->radius_a[k] + l->radius_b[k] - length;
    put(l->n, k, n);
    put(l->arm_a, k, tl_scale(-l->radius_a[k], n));
    put(l->arm_b, k, tl_axpy(d, -l->radius_a[k], n));
    l->depth[k] = depth;
    l->bearing[k] = depth < l->cap[k] ? depth : l->cap[k];
    l->radius[k] = 1 / l->curvature[k];
    l->mass[k] = 1 / l->inverse_mass[k];
    l->area[k] = 0;
  }
}

/* After the law. */
TL_LANES_CLONES static void damp(TlPressLanes *l, int count, double factor) {
  for (int k = 0; k < count; k++) {
    double slope = l->slope[k], shear = l->shear[k], damping = factor * l->damping[k];
    double stiff = slope > shear ? slope : shear;
    l->normal_damping[k] = damping * sqrt(l->mass[k] * slope);
    l->tangential_damping[k] = damping * sqrt(l->mass[k] * shear);
    l->stiff_a[k] = stiff * l->radius_a[k] * l->radius_a[k];
  }
}

/* The spring as the last step left it, turned (spring.h) and with the stiffness of now
 * (penalty.c). */
static inline TlVec3 turned(TlVec3 s, TlVec3 n0, TlVec3 n, double half) {
  TlVec3 a = tl_cross(n0, n);
  double c = tl_dot(n0, n);
  double share = tl_dot(a, s) / (c > -0.999 ? 1 + c : 1);
  TlVec3 t = tl_axpy(tl_add(tl_scale(c, s), tl_cross(a, s)), share, a);
  t.x = c > -0.999 ? t.x : s.x;
  t.y = c > -0.999 ? t.y : s.y;
  t.z = c > -0.999 ? t.z : s.z;
  t = tl_axpy(t, -tl_dot(t, n), n);
  double inverse = 1 / (1 + half * half);
  return tl_axpy(tl_scale((1 - half * half) * inverse, t), 2 * half * inverse, tl_cross(n, t));
}

TL_LANES_CLONES static void bear(TlPressLanes *l, int count, double dt) {
  for (int k = 0; k < count; k++) {
    TlVec3 n = at(l->n, k), arm_a = at(l->arm_a, k), arm_b = at(l->arm_b, k);
    TlVec3 wa = at(l->wa, k), wb = at(l->wb, k);
    TlVec3 u = tl_sub(tl_add(at(l->va, k), tl_cross(wa, arm_a)),
                      tl_add(at(l->vb, k), tl_cross(wb, arm_b)));
    double un = tl_dot(u, n), slope = l->slope[k], shear = l->shear[k];
    double fn = l->normal_force[k] - l->normal_damping[k] * un;
    fn = fn > 0 ? fn : 0;
    TlVec3 ut = tl_axpy(u, -un, n);
    /* the spring */
    TlVec3 old = at(l->stiff_n, k);
    double before = tl_norm(old);
    TlVec3 n0 = tl_scale(1 / (before > 0 ? before : 1), old);
    double half = 0.25 * dt * tl_dot(tl_add(wa, wb), n);
    TlVec3 s = turned(at(l->s, k), n0, n, half);
    double share = before / (shear > 0 ? shear : 1);
    share = before < shear ? share : shear > 0 ? 1 : 0;
    double lost = 0.5 * tl_norm2(s) * (before - shear * share * share);
    TlVec3 start = tl_scale(share, s), trial = tl_axpy(start, dt, ut);
    /* Coulomb */
    TlVec3 f = tl_scale(-shear, trial), g = tl_scale(-l->tangential_damping[k], ut);
    double most = l->friction[k] * fn, square = tl_norm2(f), over = square - most * most;
    double cut = most / sqrt(square > 0 ? square : 1);
    cut = over > 0 ? cut : 1;
    TlVec3 s_end = tl_scale(cut, trial);
    double slip = 0.5 * shear * tl_dot(tl_add(start, s_end), tl_sub(trial, s_end));
    /* as much of the dashpot as the cone has room for */
    double gg = tl_norm2(g), fg = tl_dot(f, g), root = fg * fg - gg * over;
    double part = (sqrt(root > 0 ? root : 0) - fg) / (gg > 0 ? gg : 1);
    part = part > 0 ? part : 0;
    part = part < 1 ? part : 1;
    part = gg + 2 * fg + over <= 0 ? 1 : part;
    part = over > 0 ? 0 : part;
    TlVec3 force = tl_axpy(tl_axpy(tl_scale(cut, f), part, g), fn, n);
    put(l->force, k, force);
    put(l->torque_a, k, tl_cross(arm_a, force));
    put(l->torque_b, k, tl_cross(force, arm_b));
    put(l->s_end, k, s_end);
    double stiff = slope > shear ? slope : shear;
    l->stiff[k] = stiff;
    l->stiff_b[k] = stiff * tl_norm2(arm_b);
    l->normal_N[k] = fn;
    double beyond = l->normal_force[k] * (l->depth[k] - l->bearing[k]); /* work past the cap */
    l->elastic[k] = l->energy[k] + beyond + 0.5 * shear * tl_norm2(s_end);
    l->slip[k] = lost + slip;
    TlVec3 viscous = tl_axpy(tl_scale(part, g), fn - l->normal_force[k], n);
    put(l->viscous, k, viscous);
    put(l->viscous_torque_a, k, tl_cross(arm_a, viscous));
    put(l->viscous_torque_b, k, tl_cross(viscous, arm_b));
    l->size[k] = tl_norm(force);
    l->sliding[k] = over > 0 ? 1 : 0;
  }
}

static int whole_vectors(int count) {
  return (count + 3) / 4 * 4; /* the last ones by half a vector where it holds eight */
}

void tl_press_law(const TlNormalLaw *law, const TlStiffness *stiffness, TlPressLanes *l) {
  TlLawPoints points = {stiffness, l->area, l->radius, l->bearing};
  TlLawArrays values = {l->normal_force, l->slope, l->energy, l->shear};
  law->many(&points, whole_vectors(l->count), &values);
}

void tl_press_bear(TlPressLanes *l, double step_s) {
  bear(l, whole_vectors(l->count), step_s);
}

void tl_press_lanes(const TlNormalLaw *law, const TlStiffness *stiffness, double step_s,
                    TlPressLanes *l) {
  place(l, whole_vectors(l->count));
  tl_press_law(law, stiffness, l);
  damp(l, whole_vectors(l->count), 2 * law->damping_factor);
  tl_press_bear(l, step_s);
}
