#include "run/avatars.h"

#include "base/mem.h"
#include "shape/nodes.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static int64_t bytes_of(const TlAvatar *a) {
  return (int64_t)a->nx * a->ny * a->nz * 4 + (int64_t)a->node_count * 16;
}

static void drop(TlAvatarCache *cache, TlAvatar *avatar) {
  cache->bytes -= bytes_of(avatar);
  tl_avatar_free(avatar);
  tl_free(avatar);
}

void tl_avatars_free(TlAvatarCache *cache) {
  for (size_t i = 0; i < cache->count; i++) drop(cache, cache->avatar[i]);
  tl_free(cache->avatar);
  *cache = (TlAvatarCache){.catalog = cache->catalog,
                           .shapes = cache->shapes,
                           .nets = cache->nets,
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
static TlStatus load(const TlAvatarCache *cache, const TlAvatar *known, int64_t id, TlAvatar *out) {
  TlAvatar whole = {0};
  if (cache->nodes_every <= 1) return tl_catalog_load_avatar(cache->catalog, id, out);
  if (known) return tl_avatar_thin(known, cache->nodes_every, out);
  TL_TRY(tl_catalog_load_avatar(cache->catalog, id, &whole));
  TlStatus status = tl_avatar_thin(&whole, cache->nodes_every, out);
  tl_avatar_free(&whole);
  return status;
}

const TlAvatar *tl_avatars_get(TlAvatarCache *cache, int64_t id) {
  size_t at = place_of(cache, id);
  TlAvatar *avatar;
  if (at < cache->count && cache->avatar[at]->id == id) return cache->avatar[at];
  const TlAvatar *known = tl_avatars_of_study(cache, id);
  bool thin = known && cache->nodes_every > 1 && tl_study_shapes_gridded(cache->shapes, id);
  if (known ? !thin : !cache->catalog) return known;
  if (TL_RESERVE(cache->avatar, cache->capacity, cache->count + 1) != TL_OK ||
      TL_NEW(avatar, 1) != TL_OK)
    return NULL;
  if (load(cache, known, id, avatar) != TL_OK) {
    tl_free(avatar);
    return NULL;
  }
  memmove(cache->avatar + at + 1, cache->avatar + at, (cache->count - at) * sizeof *cache->avatar);
  cache->avatar[at] = avatar;
  cache->count++;
  cache->bytes += bytes_of(avatar);
  return avatar;
}

static const TlAvatar *source_get(void *ctx, int64_t id) {
  return tl_avatars_get(ctx, id);
}

TlAvatarSource tl_avatars_source(TlAvatarCache *cache) {
  return (TlAvatarSource){cache, source_get};
}

TlStatus tl_avatars_load(TlAvatarCache *cache, const TlBodies *bodies, int64_t first) {
  const TlColliders *c = &bodies->colliders;
  for (int64_t i = first; i < c->total; i++)
    if (!tl_avatars_get(cache, c->avatar_id[i]))
      return tl_fail(TL_EINPUT, "body %lld: %s", (long long)c->body_id[i], tl_message());
  return TL_OK;
}

static int compare(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? -1 : x > y;
}

TlStatus tl_avatars_used(const TlBodies *bodies, int64_t **ids, int64_t *count) {
  const TlColliders *c = &bodies->colliders;
  int64_t *list, kept = 0;
  TL_TRY(TL_NEW(list, (size_t)c->total));
  for (int64_t i = 0; i < c->total; i++) list[i] = c->avatar_id[i];
  qsort(list, (size_t)c->total, sizeof *list, compare);
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
    bool keep = bsearch(&avatar->id, used, (size_t)count, sizeof *used, compare) != NULL;
    if (keep)
      cache->avatar[kept++] = avatar;
    else
      drop(cache, avatar);
  }
  cache->count = kept;
}
