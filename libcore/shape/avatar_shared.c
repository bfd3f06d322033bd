#include "shape/avatar_shared.h"

typedef struct Shared {
  TlAvatar *avatar;
  int64_t id;
  const TlAvatarMaker *maker;
} Shared;

static TlStatus make(void *it) {
  Shared *s = it;
  return s->maker->make(s->maker->context, s->id, s->avatar);
}

static void lay_out(TlFlat *flat, void *it) {
  Shared *s = it;
  TlAvatar *a = s->avatar;
  void *first = tl_flat_pass(flat, a, sizeof *a);
  if (flat->mode == TL_FLAT_READ) {
    memcpy(a, first, sizeof *a);
    a->id = s->id;
    a->borrowed = true;
  }
  TL_FLAT_ARRAY(flat, a->phi, (size_t)a->nx * (size_t)a->ny * (size_t)a->nz);
  TL_FLAT_ARRAY(flat, a->node_m, 3 * (size_t)a->node_count);
  TL_FLAT_ARRAY(flat, a->node_area_m2, a->node_count);
}

static void forget(void *it) {
  tl_avatar_free(((Shared *)it)->avatar);
}

static const TlSharedForm form = {make, lay_out, forget};

TlStatus tl_avatar_share(TlShared *shared, int64_t id, TlSharedPart part, bool wait,
                         const TlAvatarMaker *maker, TlAvatar *out, bool *there) {
  Shared s = {out, id, maker};
  return tl_shared_get(shared, id, part, wait, &form, &s, there);
}

void tl_avatar_unshare(TlShared *shared, TlSharedPart part, TlAvatar *avatar) {
  if (avatar->borrowed) tl_shared_release(shared, avatar->id, part);
  tl_avatar_free(avatar);
}
