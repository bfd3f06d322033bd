#include "run/ground_kinds.h"

#include <math.h>

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

void tl_ground_law(TlGroundKind kind, double shift, TlPairLaw *law) {
  enum { LAST = sizeof kinds / sizeof *kinds - 1 };
  if (kind == TL_GROUND_NONE) return;
  double place = fmin(fmax(kind + shift, 1), LAST);
  int below = (int)place < LAST ? (int)place : LAST - 1;
  double t = place - below; /* of a kind itself exactly 0 or 1 */
  const Kind *a = &kinds[below], *b = a + 1;
  law->friction = (1 - t) * a->friction + t * b->friction;
  law->restitution = law->tangential_restitution = 0;
  law->slip_friction = TL_GROUND_MOST_FRICTION;
  law->slip_per_m = (1 - t) * a->rise + t * b->rise;
  law->slip_decay_per_s = (1 - t) * a->decay + t * b->decay;
  law->drag_per_s = (1 - t) * a->drag + t * b->drag;
}
