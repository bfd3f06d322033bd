/* Nets and blankets at work: sheets of spheres (net.h) held together by springs that stay (Tan 2024
 * section 4.2, Tan 2022 3.4.5 and 4.4.2); closed to a tube, the membrane of a triaxial specimen.
 *
 * Force on the bond's lower sphere a from the other, b; l = |x_a - x_b|, n = (x_a - x_b)/l, l0 the
 * length at the start, u the relative velocity (a - b) at the middle point p of the two centres:
 *   F = -(k_n (l - l0) + c_n u.n) n - (k_t s + c_t u_t),   -F on b, both at p.
 * One point in both arms keeps angular momentum; with the spheres' spins in u a net that turns as a
 * whole stretches nothing. s turns with the bond and with the pair's mean spin about it (Correction
 * 14; Tan 2022 Eq. 3.9 prints its first term wrongly), then grows by the tangential displacement of the
 * step. c = damping * 2 sqrt(k m/2).
 *
 * Order (Tan 2024 section 4.2): collisions are resolved by impulses, positions advance with the
 * velocities they leave, and immediately afterwards the net's velocities are corrected by springs
 * and pressure at the new positions: symplectic Euler. Stable below tl_net_stable_step.
 *
 * Bonded spheres do not collide; all others do, those of one net too. Bonds join no islands.
 * All sums run over the bonds in the order of ids, whoever owns the bodies. The nonsmooth method solves
 * the bonds as rows of its own (nonsmooth_bonds.h) and takes from here where they are.
 */
#ifndef TL_SOLVE_MEMBRANE_H
#define TL_SOLVE_MEMBRANE_H

#include "base/mem.h"
#include "model/constraint_row.h"
#include "model/net.h"
#include "solve/sync.h"
#include "num/exact.h"

#include <stdbool.h>

/* What a closed net's first layer encloses, its ends closed by planes (a cone from the middle of
 * the first and of the last row to its edges): V = 1/6 sum a.(b x c) over triangles with their
 * corners in outward sense (Tan 2022 Eq. 3.30, which prints an area; Correction 18). Sums of
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
      broken;      /* holding after the step; broken in it; of bonds whose lower id is owned */
  TlExact elastic; /* J, of those that hold */
} TlNetCount;

/* Who neighbours whom, by local index, and lengths at rest: kept from call to call as long as the
 * same bodies lie at the same indices. No part of state. One for one array of nets: free it with
 * them. */
typedef struct TlNetMemo TlNetMemo;
TlStatus tl_net_memo_new(TlNetMemo **memo);
void tl_net_memo_free(TlNetMemo *memo); /* NULL: nothing */
/* From the next step on: note what each bond does, or do not (as when it is new). */
void tl_net_memo_keep_rows(TlNetMemo *memo, bool keep);
void tl_net_memo_drop_rows(TlNetMemo *memo);
/* Of the last step, those whose lower id is owned, in the order of their keys; borrowed. */
const TlConstraintRow *tl_net_memo_rows(const TlNetMemo *memo, size_t *count);

/* The nets of a run, the pressure on each, the bodies that hold them, and memory for a step. */
typedef struct TlMembranes {
  const TlNet *nets;
  const double *pressure_Pa; /* [count] */
  int count;
  TlBodies *bodies;
  TlNetMemo *memo;
  TlArena *arena;
} TlMembranes;

/* After the move: bonds follow, net velocities and momenta of owned bodies are corrected. start:
 * positions of all local bodies before the move. Collective when sync is set. TL_ELIMIT names the
 * bond that is longer than it may be. */
TlStatus tl_membrane_correct(const TlMembranes *membranes, const TlVec3 *start, double step_s,
                             const TlSync *sync, TlNetCount *out);

/* The same forces for a method that kicks all bodies at once by what acts on them where they are
 * (step_penalty.c). Arrays of bodies->total in the arena; NULL without nets. Valid for owned
 * bodies. */
typedef struct TlNetLoad {
  TlVec3 *force, *torque;     /* of bonds and pressure, N, N m */
  TlVec3 *drag, *drag_torque; /* the bonds' dampers' part of them */
  TlVec3 *pressure_force;     /* the pressure's */
  TlExact elastic;            /* held by the bonds, J: of those whose lower id is owned */
} TlNetLoad;
/* As the bodies stand; their ghosts are fresh. Dampers see the velocities of the state. */
TlStatus tl_membrane_load(const TlMembranes *membranes, TlNetLoad *load);
/* A bond as it stands. */
typedef struct TlNetBond {
  TlPairKey key;
  int32_t a, b; /* indices of its lower sphere and of the higher one */
  const TlBondLaw *law;
  TlVec3 n; /* unit, from b to a */
  double length, stretch;
  TlVec3 displacement; /* across n */
} TlNetBond;
/* For a method that solves the bonds itself (step_nonsmooth.c): as tl_membrane_load, but `force` is the
 * pressure's alone, and the bonds that hold are listed in the order of their keys. */
TlStatus tl_membrane_bonds(const TlMembranes *membranes, TlNetLoad *load, TlNetBond **bond,
                           int32_t *bonds);
/* Are rows of bonds wanted (tl_net_memo_keep_rows)? */
bool tl_net_memo_keeps_rows(const TlNetMemo *memo);
/* After the move: rows are carried, bonds follow; nothing is kicked. Else as
 * tl_membrane_correct. */
TlStatus tl_membrane_follow(const TlMembranes *membranes, const TlVec3 *start, double step_s,
                            const TlSync *sync, TlNetCount *out);
typedef TlStatus (*TlMembraneMove)(const TlMembranes *membranes, const TlVec3 *start, double step_s,
                                   const TlSync *sync, TlNetCount *out);

#endif
