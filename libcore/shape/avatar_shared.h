/* Avatars whose arrays the ranks of a machine hold in common (base/shared.h). */
#ifndef TL_SHAPE_AVATAR_SHARED_H
#define TL_SHAPE_AVATAR_SHARED_H

#include "base/shared.h"
#include "shape/avatar.h"

/* Parts of the key of a block; the id is the avatar's. */
typedef enum TlSharedPart {
  TL_SHARED_AVATAR = 1,
  TL_SHARED_THINNED,  /* the avatar with fewer nodes */
  TL_SHARED_SHAPE,    /* model/shape_shared.h */
  TL_SHARED_ELEMENTS, /* there too */
  TL_SHARED_TERRAIN   /* run/run_open.c */
} TlSharedPart;

/* How an avatar is made where nobody has made it. */
typedef struct TlAvatarMaker {
  void *context;
  TlStatus (*make)(void *context, int64_t id, TlAvatar *out);
} TlAvatarMaker;

/* The avatar from common memory, made there if need be; where there is none, made for this rank alone. *there: false
 * when another rank makes it now; only without wait. */
TlStatus tl_avatar_share(TlShared *shared, int64_t id, TlSharedPart part, bool wait,
                         const TlAvatarMaker *maker, TlAvatar *out, bool *there);
/* Frees it, and gives the block back whose arrays it has. */
void tl_avatar_unshare(TlShared *shared, TlSharedPart part, TlAvatar *avatar);

#endif
