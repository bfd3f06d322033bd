/* Nets and blankets: sheets of equal spheres in a hexagonal pattern, held together by springs that
 * stay (Tan 2024 section 4.2, Tan 2022 3.4.5 and 4.4.2). Flat, or closed to a tube round an axis,
 * the membrane of a triaxial specimen: columns run round it, rows along it, layers outwards.
 *
 * A net's spheres are bodies with TL_BODY_NET; their ids run from first_id by layer, row and
 * column, so that who neighbours whom is index arithmetic. A bond that holds is a touch
 * (dem/bodies.h) with key TL_TOUCH_BOND: it travels, is stored and hashed with the bodies, and a
 * broken bond has none. Its vector is the tangential displacement s of the spring, metres, in the
 * world frame.
 *
 * Force on the bond's lower sphere a from the other, b; l = |x_a - x_b|, n = (x_a - x_b)/l, l0 the
 * length at the start, u the relative velocity (a - b) at the middle point p of the two centres:
 *   F = -(k_n (l - l0) + c_n u.n) n - (k_t s + c_t u_t),   -F on b, both at p.
 * One point in both arms keeps angular momentum; with the spheres' spins in u a net that turns as a
 * whole stretches nothing. s turns with the bond and with the pair's mean spin about it (PHYSICS
 * note 14; Tan 2022 Eq. 3.9 prints its first term wrongly), then grows by the tangential way of the
 * step. c = damping * 2 sqrt(k m/2).
 *
 * Order (Tan 2024 section 4.2): collisions are resolved by impulses, positions advance with the
 * velocities they leave, and immediately afterwards the net's velocities are corrected by springs
 * and pressure at the new positions: symplectic Euler. Stable below tl_net_stable_step.
 *
 * Bonded spheres do not collide; all others do, those of one net too. Bonds join no islands.
 * All sums run over the bonds in the order of ids, whoever owns the bodies.
 */
#ifndef TL_DEM_MEMBRANE_H
#define TL_DEM_MEMBRANE_H

#include "base/mem.h"
#include "dem/bodies.h"
#include "dem/sync.h"
#include "num/exact.h"

#include <stdbool.h>

#define TL_TOUCH_BOND INT64_MIN /* key: before all contact points of its pair */

enum { /* sides that can be clamped */
       TL_NET_FIRST_ROW = 1,
       TL_NET_LAST_ROW = 2,
       TL_NET_FIRST_COLUMN = 4,
       TL_NET_LAST_COLUMN = 8,
       TL_NET_ALL_SIDES = 15
};
enum { TL_NET_NEIGHBOURS = 9 }; /* most bonds of a sphere: six in its layer, three to the other */

/* A row that a body carries along, as a platen does the membrane's end. */
typedef struct TlNetHold {
  int64_t body; /* id; < 0: nobody */
  TlVec3 position;
  TlQuat rotation; /* of the body where the net was made: the row keeps its place in it */
} TlNetHold;

typedef struct TlNet {
  int64_t first_id; /* ids first_id .. first_id + tl_net_spheres - 1 are this net's */
  int64_t shape_id; /* avatar id of its spheres */
  int32_t rows, columns, layers;
  double tube_radius_m; /* 0: flat; else of the first layer's centres: closed */
  TlVec3 corner; /* flat: sphere (row 0, column 0) of the first layer; closed: the axis' point
                    amid row 0 */
  TlVec3 along, across; /* unit, at right angles. Flat: columns follow along, rows follow across;
                           layers and a pressure's outside lie towards along x across. Closed:
                           across is the axis, along points from it to column 0; columns turn
                           counterclockwise about it, layers and outside lie outwards */
  double radius_m, spacing_m, layer_gap_m, mass_kg; /* spacing: of a row's spheres in the first
                        layer, closed: tl_net_tube_spacing; rows are sqrt(3)/2 of it apart; mass of
                        a sphere */
  double normal_N_m, tangential_N_m;                /* spring stiffness k_n, k_t */
  double damping;               /* share of the critical damping of a bonded pair */
  double strength_N;            /* a bond pulled harder breaks; 0: never */
  double stretch_most;          /* a bond longer than 1 + this times its length ends the run; ghosts
                                   are chosen so far out */
  double pressure_Pa;           /* on the triangles: -p S_T, a third a sphere (PHYSICS note 18) */
  double friction, restitution; /* of contacts with this net's spheres */
  int clamped;                  /* sides whose spheres are frozen */
  bool held;                    /* the last row is carried, too: it moves with its holder alone */
  TlNetHold hold;
} TlNet;

int64_t tl_net_spheres(const TlNet *net);
/* Between two neighbours of a row of `columns` spheres round a tube. */
double tl_net_tube_spacing(double tube_radius_m, int32_t columns);
/* Between two rows of spheres so far apart. */
double tl_net_row_gap(double spacing_m);
/* TL_EUSAGE names the value that makes no sense. */
TlStatus tl_net_check(const TlNet *net);
/* Sphere `number` in [0, tl_net_spheres) at rest at its place. */
TlBodyState tl_net_sphere(const TlNet *net, int64_t number);
/* Append the spheres [begin, end) as owned bodies, and their bonds; tl_history_sort when all are
 * there. */
TlStatus tl_net_add(const TlNet *net, TlBodies *bodies, int64_t begin, int64_t end);
/* Numbers of the neighbours of sphere `number`, ascending; returns how many. */
int tl_net_neighbours(const TlNet *net, int64_t number, int64_t neighbour[TL_NET_NEIGHBOURS]);
/* Length at rest of the bond between two neighbours (by number): as they lie at the start. */
double tl_net_rest_length(const TlNet *net, int64_t one, int64_t two);
/* The longest of all bonds at rest. */
double tl_net_longest_bond(const TlNet *net);
/* Steps below this are stable. Each bond is given 1/9 of its spheres' mass, B = 9 the most bonds of
 * a sphere (6 in a single layer): the largest frequency of the net is no more than that of the
 * stiffest such piece (Irons, Treharne 1971), omega^2 = 2 B max(k_n/m, k_t (1/m + (l0/2)^2/I)), and
 * with damping beta = c/k the explicit step must stay under
 * (2/omega)(sqrt(1 + zeta^2) - zeta), zeta = beta omega/2. Grains only add mass. */
double tl_net_stable_step(const TlNet *net);

/* The net a body belongs to; NULL: none. */
const TlNet *tl_net_of(const TlNet *nets, int count, int64_t id);
/* Does the bond between two ids hold (as far as this rank owns one of them)? */
bool tl_net_bonded(const TlHistory *history, int64_t one, int64_t two);

/* What a closed net's first layer encloses, its ends closed by planes (a cone from the middle of
 * the first and of the last row to its edges): V = 1/6 sum a.(b x c) over triangles with their
 * corners in outward sense (Tan 2022 Eq. 3.30, which prints an area; PHYSICS note 18). Sums of
 * this rank's share, exact, so that adding ranks' shares leaves no trace of how they were cut. */
enum { TL_NET_VOLUME_SUMS = 13 };
typedef struct TlNetVolume {
  TlExact sum[TL_NET_VOLUME_SUMS]; /* the side; of each end its spheres' places and areas */
} TlNetVolume;
/* Bodies as they are, ghosts too: the neighbours of owned spheres must be here. A triangle counts
 * where its lowest id is owned. */
TlStatus tl_net_volume_add(const TlNet *net, const TlBodies *bodies, TlArena *arena,
                           TlNetVolume *share);
double tl_net_volume(const TlNet *net, const TlNetVolume *whole);

typedef struct TlNetCount {
  int64_t bonds,
      broken; /* holding after the step; broken in it; of bonds whose lower id is owned */
  double elastic_J;
  TlExact elastic; /* the same, exact */
} TlNetCount;

/* Who neighbours whom, by local index, and lengths at rest: kept from call to call as long as the
 * same bodies lie at the same indices. No part of state. One for one array of nets: free it with
 * them. */
typedef struct TlNetMemo TlNetMemo;
TlStatus tl_net_memo_new(TlNetMemo **memo);
void tl_net_memo_free(TlNetMemo *memo); /* NULL: nothing */

/* After the move: bonds follow, net velocities and momenta of owned bodies are corrected. start:
 * positions of all local bodies before the move. Collective when sync is set. TL_ELIMIT names the
 * bond that is longer than it may be. */
TlStatus tl_membrane_correct(const TlNet *nets, int count, TlBodies *bodies, const TlVec3 *start,
                             double step_s, const TlSync *sync, TlNetMemo *memo, TlArena *arena,
                             TlNetCount *out);

/* The same forces for a method that kicks all bodies at once by what acts on them where they are
 * (step_penalty.c). Arrays of bodies->total in the arena; NULL without nets. Valid for owned
 * bodies. */
typedef struct TlNetLoad {
  TlVec3 *force, *torque;     /* of bonds and pressure, N, N m */
  TlVec3 *drag, *drag_torque; /* the bonds' dampers' part of them */
  TlVec3 *press;              /* the pressure's */
  TlExact elastic;            /* held by the bonds, J: of those whose lower id is owned */
} TlNetLoad;
/* As the bodies stand; their ghosts are fresh. Dampers see the velocities of the state. */
TlStatus tl_membrane_load(const TlNet *nets, int count, TlBodies *bodies, TlNetMemo *memo,
                          TlArena *arena, TlNetLoad *load);
/* After the move: rows are carried, bonds follow; nothing is kicked. Else as
 * tl_membrane_correct. */
TlStatus tl_membrane_follow(const TlNet *nets, int count, TlBodies *bodies, const TlVec3 *start,
                            double step_s, const TlSync *sync, TlNetMemo *memo, TlArena *arena,
                            TlNetCount *out);

#endif
