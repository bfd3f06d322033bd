#include "run/ground_kinds.h"

typedef struct Kind {
  const char *name;
  double friction, decay, rise, drag;
} Kind;
static const Kind kinds[] = {{.name = "none"},
#define K(id, name, friction, decay, rise, drag) {name, friction, decay, rise, drag},
                             TL_GROUND_KINDS(K)
#undef K
};

const char *tl_ground_name(TlGroundKind kind) {
  return kinds[kind].name;
}

void tl_ground_law(TlGroundKind kind, TlPairLaw *law) {
  const Kind *k = &kinds[kind];
  if (kind == TL_GROUND_NONE) return;
  law->friction = k->friction;
  law->restitution = law->tangential_restitution = 0;
  law->slip_friction = TL_GROUND_MOST_FRICTION;
  law->slip_per_m = k->rise;
  law->slip_decay_per_s = k->decay;
  law->drag_per_s = k->drag;
}
