/* Bodies for tests: for a solver to fill in what is derived, and for the contact search without
 * one. */
#ifndef TL_TESTS_SUPPORT_PLACED_H
#define TL_TESTS_SUPPORT_PLACED_H

#include "base/random.h"
#include "model/bodies.h"
#include "model/shapes.h"
#include "support/grain_state.h"
#include "support/tltest.h"

#include <math.h>

/* Append a body of scale 1 at rest but for v; its index, which is its id, too. */
static inline int64_t tl_test_put(TlBodies *b, int64_t shape, TlVec3 x, TlQuat q, TlVec3 v) {
  CK_OK(tl_test_add(b, &(TlGrainState){.id = b->total,
                                       .avatar_id = shape,
                                       .scale = 1,
                                       .position = x,
                                       .rotation = q,
                                       .velocity = v}));
  return b->total - 1;
}

/* Append a body whose shape is in shapes; reach_m: beyond its radius. Its index. */
static inline int64_t tl_test_place(TlBodies *b, const TlShapes *shapes, TlGrainState state,
                                    double reach_m) {
  CK_OK(tl_test_add(b, &state));
  int64_t i = b->total - 1;
  b->colliders.shape[i] = tl_shapes_find(shapes, state.avatar_id);
  b->radius[i] = state.scale * b->colliders.shape[i]->radius_m;
  b->colliders.reach[i] = b->radius[i] + reach_m;
  return i;
}

/* Direction and rotation number i of a stream. */
static inline TlVec3 tl_test_unit(uint64_t stream, uint64_t i) {
  return tl_unit(tl_vec3(tl_random_normal(stream, 0, i), tl_random_normal(stream, 1, i),
                         tl_random_normal(stream, 2, i)));
}
static inline TlQuat tl_test_turn(uint64_t stream, uint64_t i) {
  return tl_quat_from_rotation(
      tl_scale(2 * M_PI * tl_random_uniform(stream, 3, i), tl_test_unit(stream, i)));
}

#endif
