/* The problem of a step of the nonsmooth method, and projected Gauss-Seidel over it.
 *
 * Sources: AGX section 35, Servin and Wang 2015 appendix A, with Corrections 22 to 27c; the equations are
 * in docs/theory/nonsmooth.md. A contact of two colliders is a patch: one to four normal rows, one
 * block of two frictional rows at the centre of the normal force, and, where asked for, rows against
 * rolling and twisting. All rows are scaled to velocities and impulses: with u the relative velocity
 * of the first body, positive where it separates, and l an impulse on it,
 *
 *   normal:   0 <= u_n + sigma l_n - rhs   perp   l_n - least >= 0
 *   friction: |l_t| <= mu sum (l_n - least), u_t = 0 or opposite to l_t
 *   rolling:  |l_r| <= mu_r r* sum (l_n - least), likewise twisting, with relative spins.
 *
 * Friction at several points also resists that the face twists, by a moment m about the normal. With F = mu sum (l_n -
 * least), and s the mean distance of the points from the centre of force, weighted by l_n - least,
 *
 *   face:     (l_t, m/s) lies within 2 F/3 of the double cone |l_t| + |m|/s <= F/3; there (u_t, w_n s) = 0, or it
 *             points against the outward normal of this set at (l_t, m/s).
 *
 * A face bears F across or F s about the normal, and what twists slides the more easily (docs/theory/nonsmooth.md).
 *
 * Joints and the bonds of nets are rows that hold both ways.
 *
 * A problem knows no grains, no materials and no steps: tests make problems of their own. World frame,
 * SI.
 */
#ifndef TL_SOLVE_NONSMOOTH_H
#define TL_SOLVE_NONSMOOTH_H

#include "base/status.h"
#include "num/vec.h"

#include <stdbool.h>
#include <stdint.h>

/* What impulses act on; two cache lines. */
typedef struct TlNsBody {
  TlVec3 v, w;
  double inverse_mass; /* 0: fixed */
  TlSym3 inverse_inertia;
  double moved,
      turned; /* sums of the sizes of all changes of v and w that rows made: only differences count */
  double unused;
} TlNsBody;

/* A normal row. */
typedef struct TlNsPoint {
  double rhs, sigma;
  double inverse, stiff; /* 1/(n.K n + sigma), and that without the 1/ */
  double lambda, least;
  double arm;      /* from the centre of force, across the normal: what friction twists about */
  double weight;   /* fraction of the patch's compliance that it has, see nonsmooth_rows.c */
  int32_t contact; /* in the list it was made from */
  int32_t unused;
} TlNsPoint;

/* Of a row of a patch with several: where a patch has one, the patch's own n, ra and rb do. */
typedef struct TlNsArm {
  TlVec3 n, ran, rbn;    /* ra x n, rb x n */
  TlVec3 turn_a, turn_b; /* I_a^-1 (ra x n), I_b^-1 (rb x n) */
  double wall_n;         /* n.velocity of the boundary */
} TlNsArm;

/* Rows against rolling (along t1, t2) and twisting (along n). */
typedef struct TlNsResist {
  double rolling, twisting;             /* mu_r r*, mu_t r*, m */
  double spread;                        /* 1: of a face, which twists against friction */
  double rolling_step, twisting_step;   /* 1/K */
  double rolling_stiff, twisting_stiff; /* K */
  double wall[3];                       /* spin of the boundary along n, t1, t2 */
  double lambda[3];                     /* N m s, along n, t1, t2 */
} TlNsResist;

typedef struct TlNsPatch {
  int32_t a, b;         /* bodies */
  int32_t first, count; /* points, and arms where there are several */
  /* Passed over while `moved` of both bodies and `turned` times these arms add up to less (tl_nonsmooth_sweep). */
  double idle_until, arm_a, arm_b;
  TlVec3 n, t1, t2;    /* of the friction block */
  TlVec3 ra, rb;       /* from the bodies' centres to the centre of force */
  double wall[3];      /* velocity of the boundary there along n, t1, t2 */
  double kn1, kn2;     /* n.K t1, n.K t2 */
  double slide, stiff; /* 1 over K's largest eigenvalue there, and that */
  double friction;
  double lambda[2]; /* along t1, t2 */
  int32_t resist;   /* < 0: none */
  bool impacts;     /* a point of it closes faster than the threshold in this step */
} TlNsPatch;

/* A row of a joint: u = along.(v_a - v_b) + turn_a.w_a + turn_b.w_b, with
 * u + sigma l - rhs = 0 where least < l < most. */
typedef struct TlNsRow {
  TlVec3 along, turn_a, turn_b;
  TlVec3 spin_a, spin_b; /* I_a^-1 turn_a, I_b^-1 turn_b */
  double rhs, sigma, inverse, lambda;
  double least, most; /* of a bounded row */
} TlNsRow;

enum { TL_NS_EQUAL = 6, TL_NS_ROWS = 9 };
enum { TL_NS_POINTS = 4 };                /* most of a patch */
static const double TL_NS_CONE = 1.0 / 3; /* fraction of the friction that the double cone has */

/* A joint of two bodies: its first `equal` rows hold at once, solved together, the others within
 * bounds, one by one. */
typedef struct TlNsJoint {
  int32_t a, b; /* bodies */
  int32_t equal, rows;
  TlNsRow row[TL_NS_ROWS];
  double inverse[TL_NS_EQUAL][TL_NS_EQUAL]; /* of J M^-1 J^T + Sigma */
} TlNsJoint;

/* A bond of two spheres at the middle of their centres: with
 * u = v_a - v_b - half (w_a + w_b) x n, the row along n and the two across it hold
 * u + sigma l - rhs = 0. A sphere turns alike about every axis, so no row disturbs the others. */
typedef struct TlNsBond {
  int32_t a, b;                                  /* bodies */
  TlVec3 n;                                      /* unit, from b to a */
  double half;                                   /* half the distance of the centres */
  TlVec3 rhs;                                    /* world frame */
  double sigma_n, sigma_t, inverse_n, inverse_t; /* inverse_t 0: no rows across */
  TlVec3 lambda;                                 /* impulse on a, world frame */
} TlNsBond;

/* Impulses of all rows, as lists beside the problem's. */
typedef struct TlNsImpulses {
  double *point;       /* [points] */
  double (*patch)[2];  /* [patches] */
  double (*resist)[3]; /* [resists] */
  TlVec3 *bond;        /* [bonds] */
  double (*joint)[TL_NS_ROWS];
} TlNsImpulses;

typedef struct TlNsProblem {
  TlNsBody *body; /* [bodies] */
  TlNsPatch *patch;
  TlNsPoint *point;
  TlNsArm *arm; /* as `point` */
  TlNsResist *resist;
  TlNsJoint *joint;
  TlNsBond *bond;
  int32_t bodies, patches, points, resists, joints, bonds;
  double
      slack_m_s; /* sweeps pass over patches that change velocities by less; 0: none that bears */
  TlNsImpulses before, last,
      more; /* scratch of steps beyond sweeps, lists NULL: without (tl_nonsmooth_further) */
} TlNsProblem;

/* Rows of one island that are visited one after the other: joints [first_joint, last_joint), then bonds
 * [first_bond, last_bond), then patches [first, last). */
typedef struct TlNsRange {
  int32_t first, last, first_joint, last_joint, first_bond, last_bond;
  int32_t island; /* number among all, for who made the problem */
} TlNsRange;

/* Each of these visits the rows of a range. Ranges that are visited at the same time must share no body
 * that moves. */

/* Apply the impulses that the rows have. */
void tl_nonsmooth_warm(const TlNsProblem *problem, const TlNsRange *range);
/* One iteration of projected Gauss-Seidel; gives the largest change of a velocity, squared.
 *
 * Most rows of a step are of contacts to come that bear nothing. A visit to such a patch tells by how much its
 * relative velocity may change before it bears; until its bodies' velocities have changed by that much in all, it
 * is passed over. Visits would change nothing meanwhile: the result is the same to the bit.
 *
 * With slack_m_s, for a rough answer, a patch that bears is passed over, too, once a visit has changed velocities by
 * less than this, until its bodies' have changed by this much. */
double tl_nonsmooth_sweep(const TlNsProblem *problem, const TlNsRange *range);

/* Steps beyond sweeps (beyond.h), with scratch for them in the problem.
 *
 * Note the impulses before a sweep. */
void tl_nonsmooth_note(const TlNsProblem *problem, const TlNsRange *range);
/* What it changed, an energy: its square, and its product with what the sweep noted before this one changed. */
typedef struct TlNsChange {
  double square, with_last;
} TlNsChange;
TlNsChange tl_nonsmooth_compare(const TlNsProblem *problem, const TlNsRange *range);
/* Move on. Normal impulses that are at their bounds stay, the others keep within theirs, and friction in its disc.
 * again: the step before went beyond its sweep, too (`more` knows how far). */
void tl_nonsmooth_further(const TlNsProblem *problem, const TlNsRange *range, double beta,
                          bool again);

/* Fill the rows' spins and inverses and the joint's inverse, from the rest. */
void tl_nonsmooth_prepare_joint(const TlNsProblem *problem, TlNsJoint *joint);
/* Relative velocity of a joint's row. */
double tl_nonsmooth_row_velocity(const TlNsRow *row, const TlNsBody *a, const TlNsBody *b);
/* Fill the inverses of a bond, from the rest. */
void tl_nonsmooth_prepare_bond(const TlNsProblem *problem, TlNsBond *bond);
/* Relative velocity of a bond. */
TlVec3 tl_nonsmooth_bond_velocity(const TlNsBond *bond, const TlNsBody *a, const TlNsBody *b);
/* Fill kn1 to stiff, the points' `inverse` (which adds sigma), the arms' turns and what idle patches know, from the
 * rest. */
void tl_nonsmooth_prepare(const TlNsProblem *problem, TlNsPatch *patch);

#endif
