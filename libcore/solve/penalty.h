/* Forces of one contact by the penalty method (Tan 2022 3.3.3-3.3.4; Corrections 14-17).
 *
 * Each touching point k of a pair, gap g_k < 0, depth d = -g_k, normal n from b to a, bears on a
 *   F_n = max(law.force(d) - c_k u.n, 0) n
 *   F_t = -k_t s, cut to mu |F_n|: what is cut off slips, s is made to fit; where nothing slips
 *         -c_t u_t, cut so that F_t stays within the cone
 * and -F on b, at the one point p in both arms, so that momentum and angular momentum hold to
 * rounding. s, the tangential displacement since contact began, turns with the contact (spring.h)
 * and is remembered with its normal under (low id, high id, key). u is the relative velocity of the
 * half step before.
 *
 * Which points bear (spread):
 *   nodes     every touching node of the lower id, with the same stiffness each, as in the papers:
 *             stiffer the finer the nodes
 *   traction  the surfaces of both sides, each with half of its area. Where places serve the pair
 *             (contact/search.h, surface) a point is a patch of a smooth overlap or a piece of a
 *             polyhedron's face (contact/patches.h, facet_surface.h); elsewhere a node with the area it
 *             stands for, or with edges refine what the surface about it bears (contact/tractions.h),
 *             and a closed form's point alone. F_n is times the length of grad phi, which a
 *             grid's phi has not exactly 1: so the force is the derivative of the energy that it books,
 *             and does no work around a closed loop
 *   deepest   the deepest point of the pair, which keeps one spring whichever node it is
 *
 * Viscous damping of a pair: c = 2 damping factor sqrt(m* K), K the sum of the points' slopes, m*
 * the reduced mass, shared by slope; tangentially the same with the tangential stiffness.
 */
#ifndef TL_SOLVE_PENALTY_H
#define TL_SOLVE_PENALTY_H

#include "model/bodies.h"
#include "solve/contact.h"
#include "solve/law.h"
#include "solve/penalty_setup.h"
#include "contact/narrow.h"

/* What a contact asks of a collider: where its centre is, and how that moved in the half step
 * before; of its body the mass. Two cache lines. */
typedef struct TlPenaltyBody {
  TlVec3 x, v, w;
  double radius, inverse_mass, curvature; /* 1/radius */
  int64_t id;
  int32_t material;
  bool ball; /* a sphere */
  char unused[19];
} TlPenaltyBody;

/* One contact: a grain pair, or a grain at a boundary (b < 0). */
typedef struct TlPenaltyContact {
  const TlColliders *colliders;
  const TlPenaltyBody *body; /* one a collider */
  const TlPenalty *penalty;
  int32_t a, b, boundary;
  const TlPairLaw *law;
  TlVec3 (*wall_velocity)(const void *wall, TlVec3 point, TlVec3 normal);
  const void *wall; /* NULL: a pair, or a wall that stands */
  double step_s;
  const TlSpring *known; /* of the last step, by number, which is the point's key */
  size_t known_count;
  struct TlForceLanes *lanes; /* scratch for several points, zeroed once (force_lanes.h) */
} TlPenaltyContact;

typedef struct TlPenaltyForce {
  TlVec3 force;              /* on a; -force on b */
  TlVec3 torque_a, torque_b; /* about the colliders' centres */
  int32_t points, sliding, capped;
  double depth_m;       /* deepest */
  double normal_N;      /* sum of the normal forces */
  TlVec3 point, normal; /* where they act on the whole, world, and their direction */
  double elastic_J;     /* held by normal and tangential springs at the end */
  double slip_J;        /* what friction took in the step */
  double wall_work_J;   /* what a moving boundary did on a */
  /* the dashpots' part of force and torques, and of that work: what damping took is known when the
   * kick is (step_penalty.c) */
  TlVec3 viscous, viscous_torque_a, viscous_torque_b;
  double wall_viscous_J;
  double stiffness_a[2],
      stiffness_b[2]; /* sums of slopes: for v, and times the arm squared for w */
} TlPenaltyForce;

/* A spring's normal times its stiffness, which is what its formulas ask for: where it was, and, as
 * its length, how stiff. */
static inline TlVec3 tl_spring_vector(const TlSpring *spring) {
  return tl_scale(spring->stiffness, spring->normal);
}

/* Points with gap >= 0 are passed over; they may be reordered. New springs are appended to
 * `springs` (by key). */
TlStatus tl_penalty_force(const TlPenaltyContact *contact, TlPoints *points, TlPairRows *springs,
                          TlPenaltyForce *out);

/* The same of one point, which need not be in a list. */
TlStatus tl_penalty_force_one(const TlPenaltyContact *contact, const TlPoint *point,
                              TlPairRows *springs, TlPenaltyForce *out);

#endif
