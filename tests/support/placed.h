/* Bodies for tests of the contact search, which has no solver to fill what is derived. */
#ifndef TL_TESTS_SUPPORT_PLACED_H
#define TL_TESTS_SUPPORT_PLACED_H

#include "dem/bodies.h"
#include "dem/shapes.h"
#include "support/tltest.h"

/* Append a body whose shape is in shapes; reach_m: beyond its radius. Its index. */
static inline int64_t tl_test_place(TlBodies *b, const TlShapes *shapes, TlBodyState state,
                                    double reach_m) {
  CK_OK(tl_bodies_add(b, &state));
  int64_t i = b->total - 1;
  b->shape[i] = tl_shapes_find(shapes, state.avatar_id);
  b->radius[i] = state.scale * b->shape[i]->radius_m;
  b->reach[i] = b->radius[i] + reach_m;
  return i;
}

#endif
