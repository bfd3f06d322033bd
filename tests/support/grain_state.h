/* A grain's whole state as one struct, for tests that make or compare grains by hand. */
#ifndef TL_TESTS_SUPPORT_GRAIN_STATE_H
#define TL_TESTS_SUPPORT_GRAIN_STATE_H

#include "base/mem.h"
#include "model/bodies.h"

#include <string.h>

#define F(type, name, ...) type name;
typedef struct TlGrainState {
  TL_BODY_FIELDS(F)
  TL_COLLIDER_SHAPE_LIST(F, F)
} TlGrainState;
#undef F

static inline TlGrainState tl_test_grain_state(const TlBodies *b, int64_t i) {
  TlGrainState grain;
  memset(&grain, 0, sizeof grain);
#define F(type, name, ...) grain.name = b->name[i];
  TL_BODY_FIELDS(F)
#undef F
#define F(type, name, ...) grain.name = b->colliders.name[b->first[i]];
  TL_COLLIDER_SHAPE_LIST(F, F)
#undef F
  return grain;
}
static inline void tl_test_set_grain(TlBodies *b, int64_t i, const TlGrainState *grain) {
#define F(type, name, ...) b->name[i] = grain->name;
  TL_BODY_FIELDS(F)
#undef F
#define F(type, name, ...) b->colliders.name[b->first[i]] = grain->name;
  TL_COLLIDER_SHAPE_LIST(F, F)
#undef F
}
/* Append it as an owned body. */
static inline TlStatus tl_test_add(TlBodies *b, const TlGrainState *grain) {
  int64_t i;
  TL_TRY(tl_bodies_add(b, grain->id, 0, &i));
  tl_test_set_grain(b, i, grain);
  return tl_bodies_check(b, i);
}
/* What another rank would get of it to own, in fresh memory; NULL: no memory. */
static inline unsigned char *tl_test_pack(TlBodies *b, int64_t i, size_t *size) {
  TlBodyMoves moves = {.bodies = b};
  TlParcels parcels = tl_bodies_to_own(&moves);
  unsigned char *bytes = NULL;
  if (tl_body_moves_list(&moves, &i, 1) == TL_OK) {
    *size = parcels.size(parcels.of, 0);
    bytes = tl_calloc(*size, 1);
    if (bytes) parcels.pack(parcels.of, 0, bytes);
  }
  tl_body_moves_free(&moves);
  return bytes;
}

#endif
