/* Nets of equal spheres in a hexagonal pattern: who lies where, who neighbours whom, how long bonds
 * are at rest. Flat, or closed to a tube round an axis: columns run round it, rows along it, layers
 * outwards. What their bonds and pressure do is membrane.h's.
 *
 * A net's spheres are bodies with TL_BODY_NET; their ids run from first_id by layer, row and
 * column, so that who neighbours whom is index arithmetic. A bond that holds is a
 * constraint (model/pair_state.h): it travels, is stored and hashed with the bodies, and a broken
 * one is gone. What it keeps is the tangential displacement of its spring, in the world frame.
 */
#ifndef TL_MODEL_NET_H
#define TL_MODEL_NET_H

#include "model/bodies.h"

#include <stdbool.h>

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

/* What bonds are like; a bond names its law by number. */
typedef struct TlBondLaw {
  double normal_N_m, tangential_N_m;     /* k_n, k_t */
  double normal_N_s_m, tangential_N_s_m; /* c_n, c_t */
  double strength_N;                     /* a bond pulled harder breaks; 0: never */
  double stretch_most; /* a bond longer than 1 + this times its length ends the run */
} TlBondLaw;

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
  double damping;      /* fraction of the critical damping of a bonded pair */
  double strength_N;   /* a bond pulled harder breaks; 0: never */
  double stretch_most; /* a bond longer than 1 + this times its length ends the run; ghosts
                          are chosen so far out */
  double pressure_Pa;  /* on the triangles: -p S_T, a third a sphere (Correction 18) */
  int32_t material;    /* of its spheres */
  int32_t bond_law;    /* number of its bonds' law: its place in the list of nets */
  int clamped;         /* sides whose spheres are frozen */
  bool held;           /* the last row is carried, too: it moves with its holder alone */
  TlNetHold hold;
} TlNet;

int64_t tl_net_spheres(const TlNet *net);
/* Between two neighbours of a row of `columns` spheres round a tube. */
double tl_net_tube_spacing(double tube_radius_m, int32_t columns);
/* Between two rows of spheres so far apart. */
double tl_net_row_gap(double spacing_m);
/* TL_EUSAGE names the value that makes no sense. */
TlStatus tl_net_check(const TlNet *net);
/* Where sphere `number` in [0, tl_net_spheres) is at rest. */
TlVec3 tl_net_point(const TlNet *net, int64_t number);
/* Append the spheres [begin, end) as owned bodies, and their bonds; tl_history_sort when all are
 * there. */
TlStatus tl_net_add(const TlNet *net, TlBodies *bodies, int64_t begin, int64_t end);
/* Numbers of the neighbours of sphere `number`, ascending; returns how many. */
int tl_net_neighbours(const TlNet *net, int64_t number, int64_t neighbour[TL_NET_NEIGHBOURS]);
/* The law of its bonds: dampers c = damping * 2 sqrt(k m/2). */
TlBondLaw tl_net_bond_law(const TlNet *net);
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

typedef struct TlNetPlace {
  int64_t layer, row, column;
} TlNetPlace;
TlNetPlace tl_net_place(const TlNet *net, int64_t number);
/* Of the row that its holder carries? */
bool tl_net_carried(const TlNet *net, TlNetPlace place);
/* Numbers of the six spheres round one, counterclockwise seen from along x across (from outside),
 * and the first again; -1 where the net ends. Triangle t is the sphere, round[t], round[t + 1]. */
void tl_net_round(const TlNet *net, int64_t number, int64_t round[7]);
/* Of triangle t from the least corner on: its three spheres must find the same bits. */
void tl_net_corners(int64_t number, const int64_t round[7], int t, int64_t corner[3]);

/* The net a body belongs to; NULL: none. */
const TlNet *tl_net_of(const TlNet *nets, int count, int64_t id);
/* Does the bond between two ids hold (as far as this rank owns one of them)? */
/* The id of the bond of two neighbours, low < high; by their numbers in the net. */
int64_t tl_net_bond_id(const TlNet *net, int64_t low, int64_t high);
bool tl_net_bonded(const TlPairState *pairs, int64_t one, int64_t two);

#endif
