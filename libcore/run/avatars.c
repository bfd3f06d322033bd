#include "run/avatars.h"

#include "base/mem.h"
#include "num/sort.h"
#include "shape/avatar_shared.h"
#include "shape/nodes.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static int64_t bytes_of(const TlAvatar *a) {
  return (int64_t)a->nx * a->ny * a->nz * 4 + (int64_t)a->node_count * 16;
}

static TlSharedPart part_of(const TlAvatarCache *cache) {
  return cache->nodes_every > 1 ? TL_SHARED_THINNED : TL_SHARED_AVATAR;
}

static void drop(TlAvatarCache *cache, TlAvatar *avatar) {
  cache->bytes -= bytes_of(avatar);
  tl_avatar_unshare(cache->shared, part_of(cache), avatar);
  tl_free(avatar);
}

void tl_avatars_free(TlAvatarCache *cache) {
  for (size_t i = 0; i < cache->count; i++) drop(cache, cache->avatar[i]);
  tl_free(cache->avatar);
  *cache = (TlAvatarCache){.catalog = cache->catalog,
                           .shapes = cache->shapes,
                           .nets = cache->nets,
                           .shared = cache->shared,
                           .nodes_every = cache->nodes_every};
}

/* Index of the first avatar with an id not below this one. */
static size_t place_of(const TlAvatarCache *cache, int64_t id) {
  size_t low = 0, high = cache->count;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (cache->avatar[mid]->id < id)
      low = mid + 1;
    else
      high = mid;
  }
  return low;
}

const TlAvatar *tl_avatars_of_study(const TlAvatarCache *cache, int64_t id) {
  const TlAvatar *known = cache->shapes ? tl_study_shapes_get(cache->shapes, id) : NULL;
  return known || !cache->nets ? known : tl_nets_avatar(cache->nets, id);
}

/* A fresh one, thinned where that is asked for. */
static TlStatus load(void *context, int64_t id, TlAvatar *out) {
  const TlAvatarCache *cache = context;
  const TlAvatar *known = tl_avatars_of_study(cache, id);
  TlAvatar whole = {0};
  if (cache->nodes_every <= 1) return tl_catalog_load_avatar(cache->catalog, id, out);
  if (known) return tl_avatar_thin(known, cache->nodes_every, out);
  TL_TRY(tl_catalog_load_avatar(cache->catalog, id, &whole));
  TlStatus status = tl_avatar_thin(&whole, cache->nodes_every, out);
  tl_avatar_free(&whole);
  return status;
}

/* *found NULL: another rank of this machine makes it now; only without wait. */
static TlStatus get(TlAvatarCache *cache, int64_t id, bool wait, const TlAvatar **found) {
  size_t at = place_of(cache, id);
  TlAvatar *avatar;
  bool there;
  if (at < cache->count && cache->avatar[at]->id == id) {
    *found = cache->avatar[at];
    return TL_OK;
  }
  const TlAvatar *known = *found = tl_avatars_of_study(cache, id);
  bool thin = known && cache->nodes_every > 1 && tl_study_shapes_gridded(cache->shapes, id);
  if (known && !thin) return TL_OK;
  if (!known && !cache->catalog)
    return tl_fail(TL_EINPUT, "avatar %lld is not known", (long long)id);
  TL_TRY(TL_RESERVE(cache->avatar, cache->capacity, cache->count + 1));
  TL_TRY(TL_NEW(avatar, 1));
  const TlAvatarMaker maker = {cache, load};
  TlStatus status =
      tl_avatar_share(cache->shared, id, part_of(cache), wait, &maker, avatar, &there);
  *found = NULL;
  if (status != TL_OK || !there) {
    tl_free(avatar);
    return status;
  }
  memmove(cache->avatar + at + 1, cache->avatar + at, (cache->count - at) * sizeof *cache->avatar);
  cache->avatar[at] = avatar;
  cache->count++;
  cache->bytes += bytes_of(avatar);
  *found = avatar;
  return TL_OK;
}

const TlAvatar *tl_avatars_get(TlAvatarCache *cache, int64_t id) {
  const TlAvatar *found;
  return get(cache, id, true, &found) == TL_OK ? found : NULL;
}

static const TlAvatar *source_get(void *ctx, int64_t id) {
  return tl_avatars_get(ctx, id);
}

TlAvatarSource tl_avatars_source(TlAvatarCache *cache) {
  return (TlAvatarSource){cache, source_get};
}

/* Makes what no rank of this machine has made or makes now; each begins at another place of its list. */
static TlStatus make_some(TlAvatarCache *cache, const TlModel *model, const TlColliders *c,
                          int64_t first) {
  int64_t n = c->total - first,
          start = n * tl_shared_rank(cache->shared) / tl_shared_ranks(cache->shared);
  for (int64_t k = 0; k < n; k++) {
    int64_t i = first + (k + start) % n, id = c->avatar_id[i];
    const TlAvatar *avatar;
    if (tl_shapes_find(model->shapes, id)) continue;
    TL_TRY(tl_context(get(cache, id, false, &avatar), "body %lld", (long long)c->body_id[i]));
    if (avatar) TL_TRY(tl_shapes_try_add(model->shapes, id, avatar));
  }
  return TL_OK;
}

TlStatus tl_avatars_load(TlAvatarCache *cache, const TlModel *model, const TlBodies *bodies,
                         int64_t first) {
  const TlColliders *c = &bodies->colliders;
  if (cache->shared) TL_TRY(make_some(cache, model, c, first));
  for (int64_t i = first; i < c->total; i++)
    if (!tl_avatars_get(cache, c->avatar_id[i]))
      return tl_fail(TL_EINPUT, "body %lld: %s", (long long)c->body_id[i], tl_message());
  return TL_OK;
}

TlStatus tl_avatars_used(const TlBodies *bodies, int64_t **ids, int64_t *count) {
  const TlColliders *c = &bodies->colliders;
  int64_t *list, kept = 0;
  TL_TRY(TL_NEW(list, (size_t)c->total));
  for (int64_t i = 0; i < c->total; i++) list[i] = c->avatar_id[i];
  qsort(list, (size_t)c->total, sizeof *list, tl_by_int);
  for (int64_t i = 0; i < c->total; i++)
    if (i == 0 || list[i] != list[i - 1]) list[kept++] = list[i];
  *ids = list;
  *count = kept;
  return TL_OK;
}

void tl_avatars_evict(TlAvatarCache *cache, const int64_t *used, int64_t count) {
  size_t kept = 0;
  for (size_t i = 0; i < cache->count; i++) {
    TlAvatar *avatar = cache->avatar[i];
    bool keep = bsearch(&avatar->id, used, (size_t)count, sizeof *used, tl_by_int) != NULL;
    if (keep)
      cache->avatar[kept++] = avatar;
    else
      drop(cache, avatar);
  }
  cache->count = kept;
}
