/* Shapes whose arrays the ranks of a machine hold in common (base/shared.h): each rank has the structs, which are
 * small, and the arrays that they point to are there once.
 *
 * Elements are a block of their own, for a shape gets them later than the rest, or never. Closed forms have no arrays
 * to speak of and are not shared.
 */
#ifndef TL_MODEL_SHAPE_SHARED_H
#define TL_MODEL_SHAPE_SHARED_H

#include "base/shared.h"
#include "model/shapes.h"

typedef TlStatus TlShapeMaker(const TlShapes *shapes, int64_t id, const TlAvatar *avatar,
                              TlShape **out);

/* The shape of an avatar from common memory, made there if need be; where there is none, made for this rank alone.
 * *out stays NULL when another rank makes it now; only without wait. */
TlStatus tl_shape_share(const TlShapes *shapes, int64_t id, const TlAvatar *avatar, bool wait,
                        TlShapeMaker *make, TlShape **out);
/* The same of the elements of a shape, into its place shape. */
TlStatus tl_elements_share(TlShared *shared, bool wait, TlShape *shape);
/* Frees it, and gives the blocks back whose arrays it has. */
void tl_shape_unshare(TlShared *shared, TlShape *shape);

#endif
