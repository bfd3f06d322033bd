/* The nets of a run: made from the study, laid among the bodies, handed to the solver.
 *
 * Their spheres' ids start at TL_NET_FIRST_ID, far above any grain's, so that grains that come
 * later move none of them; their shapes are those of run/shapes.h beyond TL_SHAPES_MOST.
 */
#ifndef TL_RUN_NETS_H
#define TL_RUN_NETS_H

#include "base/comm.h"
#include "run/setup.h"

#define TL_NET_FIRST_ID ((int64_t)1 << 40)

typedef struct TlNets {
  TlNet *net;       /* owned */
  TlAvatar *avatar; /* owned; a sphere's picture, one a net */
  int64_t count;
} TlNets;

/* TL_EINPUT at the study's key. nets: to be closed, also after a failure. */
TlStatus tl_nets_open(TlNets *nets, const TlSetup *setup, const TlStudy *study);
void tl_nets_close(TlNets *nets);
/* Collective; this rank's part as owned bodies with their bonds. */
TlStatus tl_nets_make(const TlNets *nets, TlComm *comm, TlBodies *bodies);
/* Hand them to a solver that is new. */
TlStatus tl_nets_register(const TlNets *nets, TlModel *model);
/* The avatar of a net's spheres; NULL: not the id of one. */
const TlAvatar *tl_nets_avatar(const TlNets *nets, int64_t avatar_id);
/* Spheres of all nets. */
int64_t tl_nets_spheres(const TlNets *nets);

#endif
