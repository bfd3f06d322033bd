/* Avatars on demand: the shapes this rank needs, read from the catalog once each, and those that
 * the study describes by formula (run/shapes.h), which are there already.
 *
 * A rank holds the avatars its own bodies and ghosts use, never the catalog. Pointers stay valid
 * until the avatar is evicted. Ranks of a machine hold their arrays in common (base/shared.h). Not
 * thread-safe.
 */
#ifndef TL_RUN_AVATARS_H
#define TL_RUN_AVATARS_H

#include "solve/step.h"
#include "run/nets.h"
#include "run/shapes.h"
#include "store/catalog.h"

typedef struct TlAvatarCache {
  TlCatalog *catalog;          /* borrowed; NULL: none */
  const TlStudyShapes *shapes; /* borrowed; NULL: none */
  const TlNets *nets;          /* borrowed; NULL: none */
  TlShared *shared;            /* borrowed; NULL: none */
  int64_t nodes_every;         /* above 1: hand out avatars with every n-th node only */
  TlAvatar **avatar;           /* sorted by id, owned */
  size_t count, capacity;
  int64_t bytes; /* of grids and nodes held */
} TlAvatarCache;

void tl_avatars_free(TlAvatarCache *cache);
/* One that the study itself describes, without a catalog; NULL: none of those. */
const TlAvatar *tl_avatars_of_study(const TlAvatarCache *cache, int64_t id);
/* NULL with a message when the catalog has no such grain or its blob is broken. */
const TlAvatar *tl_avatars_get(TlAvatarCache *cache, int64_t id);
/* The hook of tl_model_new; cache must not move. */
TlAvatarSource tl_avatars_source(TlAvatarCache *cache);
/* Load what bodies [first, total) use, so that a failure shows where ranks can agree on it. Of several ranks on a
 * machine each makes some of what they use in common, with the model's shapes. */
TlStatus tl_avatars_load(TlAvatarCache *cache, const TlModel *model, const TlBodies *bodies,
                         int64_t first);
/* Sorted list without doubles of the avatar ids that bodies [0, total) use, fresh memory. */
TlStatus tl_avatars_used(const TlBodies *bodies, int64_t **ids, int64_t *count);
/* Release all that are not in this sorted list. Whoever holds their pointers must be gone. */
void tl_avatars_evict(TlAvatarCache *cache, const int64_t *used, int64_t count);

#endif
