#include "shape/avatar_shared.h"

#include "base/flat.h"

static size_t lay_out(TlFlat *flat, TlAvatar *a) {
  void *first = tl_flat_pass(flat, a, sizeof *a);
  if (flat->mode == TL_FLAT_READ) memcpy(a, first, sizeof *a);
  TL_FLAT_ARRAY(flat, a->phi, (size_t)a->nx * (size_t)a->ny * (size_t)a->nz);
  TL_FLAT_ARRAY(flat, a->node_m, 3 * (size_t)a->node_count);
  TL_FLAT_ARRAY(flat, a->node_area_m2, a->node_count);
  return flat->at;
}

static void use(const void *block, int64_t id, TlAvatar *out) {
  TlFlat flat = {.mode = TL_FLAT_READ, .bytes = (unsigned char *)(uintptr_t)block};
  lay_out(&flat, out);
  out->id = id;
  out->borrowed = true;
}

/* One that is made, into common memory; what was made is freed then. */
static void hand_over(TlShared *shared, int64_t id, TlSharedPart part, TlAvatar *made) {
  TlFlat size = {.mode = TL_FLAT_MEASURE}, flat = {.mode = TL_FLAT_WRITE};
  flat.bytes = tl_shared_reserve(shared, id, part, lay_out(&size, made));
  if (!flat.bytes) return;
  lay_out(&flat, made);
  tl_avatar_free(made);
  use(tl_shared_publish(shared, id, part), id, made);
}

TlStatus tl_avatar_share(TlShared *shared, int64_t id, TlSharedPart part, bool wait,
                         const TlAvatarMaker *maker, TlAvatar *out, bool *there) {
  const void *block;
  TlSharedAnswer answer = tl_shared_ask(shared, id, part, wait, &block);
  *there = answer != TL_SHARED_BUSY;
  if (answer == TL_SHARED_BUSY) return TL_OK;
  if (answer == TL_SHARED_THERE) {
    use(block, id, out);
    return TL_OK;
  }
  TlStatus status = maker->make(maker->context, id, out);
  if (answer != TL_SHARED_MAKE) return status;
  if (status == TL_OK)
    hand_over(shared, id, part, out);
  else
    tl_shared_give_up(shared, id, part);
  return status;
}

void tl_avatar_unshare(TlShared *shared, TlSharedPart part, TlAvatar *avatar) {
  if (avatar->borrowed) tl_shared_release(shared, avatar->id, part);
  tl_avatar_free(avatar);
}
