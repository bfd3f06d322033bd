/* Both sides of a choice may be computed: nobody asks which operation raised which flag. Results
 * are the same. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-trapping-math")
#endif

#include "solve/force_lanes.h"

#include "base/lanes.h"

#include <math.h>

enum { N = TL_FORCE_LANES };

static inline TlVec3 at(const TlLane x[3], int k) {
  return tl_vec3(x[0][k], x[1][k], x[2][k]);
}
static inline void put(TlLane x[3], int k, TlVec3 v) {
  x[0][k] = v.x;
  x[1][k] = v.y;
  x[2][k] = v.z;
}

TL_LANES_CLONES static void place(TlForceLanes *l, int count) {
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
    l->beyond[k] = depth - l->bearing[k];
    l->radius[k] = 1 / l->curvature[k];
    l->mass[k] = 1 / l->inverse_mass[k];
    l->area[k] = l->twist[k] = 0;
  }
}

/* After the law. */
TL_LANES_CLONES static void damp(TlForceLanes *l, int count, double factor) {
  for (int k = 0; k < count; k++) {
    double slope = l->slope[k], shear = l->shear[k], damping = factor * l->pair.damping[k];
    double stiff = slope > shear ? slope : shear;
    l->normal_damping[k] = damping * sqrt(l->mass[k] * slope);
    l->tangential_damping[k] = damping * sqrt(l->mass[k] * shear);
    l->stiff_a[k] = stiff * l->radius_a[k] * l->radius_a[k];
  }
}

TL_LANES_CLONES static void bear(TlForceLanes *l, int count, double dt) {
  for (int k = 0; k < count; k++) {
    TlForceInput p = {.n = at(l->n, k),
                      .arm_a = at(l->arm_a, k),
                      .arm_b = at(l->arm_b, k),
                      .va = at(l->va, k),
                      .wa = at(l->wa, k),
                      .vb = at(l->vb, k),
                      .wb = at(l->wb, k),
                      .s = at(l->s, k),
                      .stiff_n = at(l->stiff_n, k),
                      .force = l->normal_force[k],
                      .slope = l->slope[k],
                      .energy = l->energy[k],
                      .shear = l->shear[k],
                      .beyond = l->beyond[k],
                      .twist = l->twist[k],
                      .normal_damping = l->normal_damping[k],
                      .tangential_damping = l->tangential_damping[k]};
#define F(value) p.law.value = l->pair.value[k];
    TL_FORCE_VALUES(F)
#undef F
    TlForceOutput done = tl_force_point(&p, dt);
    put(l->force, k, done.force);
    put(l->torque_a, k, done.torque_a);
    put(l->torque_b, k, done.torque_b);
    put(l->s_end, k, done.s);
    l->stiff[k] = done.stiff;
    l->stiff_b[k] = done.stiff * tl_norm2(p.arm_b);
    l->normal_N[k] = done.normal_N;
    l->elastic[k] = done.elastic_J;
    l->slip[k] = done.slip_J;
    put(l->viscous, k, done.viscous);
    put(l->viscous_torque_a, k, done.viscous_torque_a);
    put(l->viscous_torque_b, k, done.viscous_torque_b);
    l->size[k] = tl_norm(done.force);
    l->sliding[k] = done.sliding;
  }
}

/* The values that the kernels read, out of the laws. */
static void take_laws(TlForceLanes *l) {
  for (int k = 0; k < l->count; k++) {
#define F(value) l->pair.value[k] = l->law[k]->value;
    TL_FORCE_VALUES(F)
#undef F
  }
}

static int whole_vectors(int count) {
  return (count + 3) / 4 * 4; /* the last ones by half a vector where it holds eight */
}

void tl_force_lanes_law(const TlNormalLaw *law, const TlStiffness *stiffness, TlForceLanes *l) {
  TlLawPoints points = {stiffness, l->area, l->radius, l->bearing};
  TlLawArrays values = {l->normal_force, l->slope, l->energy, l->shear};
  law->many(&points, whole_vectors(l->count), &values);
}

void tl_force_lanes_bear(TlForceLanes *l, double step_s) {
  take_laws(l);
  bear(l, whole_vectors(l->count), step_s);
}

void tl_force_lanes(const TlNormalLaw *law, const TlStiffness *stiffness, double step_s,
                    TlForceLanes *l) {
  take_laws(l);
  place(l, whole_vectors(l->count));
  tl_force_lanes_law(law, stiffness, l);
  damp(l, whole_vectors(l->count), 2 * law->damping_factor);
  bear(l, whole_vectors(l->count), step_s);
}
