#include "model/shape_shared.h"

#include "base/flat.h"
#include "model/elements.h"
#include "model/place_shape.h"
#include "shape/avatar_shared.h"

static void lay_out_spline(TlFlat *flat, TlSpline *s) {
  size_t all = (size_t)(s->nx + 2) * (size_t)(s->ny + 2) * (size_t)(s->nz + 2);
  TL_FLAT_ARRAY(flat, s->coefficient, all + 4); /* as tl_spline_make has them */
}

static void lay_out_tree(TlFlat *flat, TlShape *s) {
  TL_FLAT_ARRAY(flat, s->node, s->node_count - (s->avatar ? s->avatar->node_count : 0));
  TL_FLAT_ARRAY(flat, s->node_index, s->node_count);
  TL_FLAT_ARRAY(flat, s->sphere, s->sphere_count);
}

static void lay_out_place(TlFlat *flat, TlPlaceShape *p, int32_t nodes) {
  if (!p) return;
  lay_out_spline(flat, &p->spline);
  TL_FLAT_ARRAY(flat, p->near, nodes);
  TL_FLAT_ARRAY(flat, p->part, p->part_count);
  if (flat->mode == TL_FLAT_READ) p->elements = NULL; /* a block of their own */
}

static void lay_out_ground(TlFlat *flat, TlGroundShape *g, int32_t nodes) {
  if (!g) return;
  TL_FLAT_ARRAY(flat, g->x, g->count);
  TL_FLAT_ARRAY(flat, g->y, g->count);
  TL_FLAT_ARRAY(flat, g->z, g->count);
  lay_out_spline(flat, &g->spline);
  TL_FLAT_ARRAY(flat, g->normal, nodes);
  TL_FLAT_ARRAY(flat, g->near, nodes);
}

/* *shape: not NULL; where it is read a new one comes in its place, or NULL. */
static size_t lay_out_shape(TlFlat *flat, TlShape **shape, const TlAvatar *avatar) {
  TL_FLAT_STRUCT(flat, *shape);
  TlShape *s = *shape;
  if (!s) return 0;
  s->avatar = avatar;
  s->borrowed = flat->mode == TL_FLAT_READ;
  lay_out_tree(flat, s);
  TL_FLAT_STRUCT(flat, s->place);
  lay_out_place(flat, s->place, avatar->node_count);
  TL_FLAT_STRUCT(flat, s->ground);
  lay_out_ground(flat, s->ground, s->node_count);
  return flat->at;
}

static size_t lay_out_elements(TlFlat *flat, TlElements **elements) {
  TL_FLAT_STRUCT(flat, *elements);
  TlElements *e = *elements;
  if (!e) return 0;
  e->borrowed = flat->mode == TL_FLAT_READ;
  TL_FLAT_ARRAY(flat, e->point, e->point_count);
  TL_FLAT_ARRAY(flat, e->element, e->count);
  TL_FLAT_STRUCT(flat, e->middles);
  if (!e->middles) return 0;
  e->middles->borrowed = e->borrowed;
  lay_out_tree(flat, e->middles);
  return flat->at;
}

static TlFlat reading(const void *block) {
  return (TlFlat){.mode = TL_FLAT_READ, .bytes = (unsigned char *)(uintptr_t)block};
}

/* ---- shapes ---- */

static TlStatus use_shape(TlShared *shared, const void *block, int64_t id, const TlAvatar *avatar,
                          TlShape **out) {
  TlFlat flat = reading(block);
  TlShape *shape = (TlShape *)(uintptr_t)block;
  lay_out_shape(&flat, &shape, avatar);
  if (flat.status == TL_OK) {
    *out = shape;
    return TL_OK;
  }
  tl_shape_free(shape);
  tl_shared_release(shared, id, TL_SHARED_SHAPE);
  return flat.status;
}

TlStatus tl_shape_share(const TlShapes *shapes, int64_t id, const TlAvatar *avatar, bool wait,
                        TlShapeMaker *make, TlShape **out) {
  TlShared *shared = shapes->shared;
  TlShape *made = NULL;
  const void *block;
  TlSharedAnswer answer = tl_shared_ask(shared, id, TL_SHARED_SHAPE, wait, &block);
  if (answer == TL_SHARED_BUSY) return TL_OK;
  if (answer == TL_SHARED_OWN) return make(shapes, id, avatar, out);
  if (answer == TL_SHARED_MAKE) {
    TlStatus status = make(shapes, id, avatar, &made);
    if (status != TL_OK) {
      tl_shared_give_up(shared, id, TL_SHARED_SHAPE);
      return status;
    }
    TlFlat size = {.mode = TL_FLAT_MEASURE}, flat = {.mode = TL_FLAT_WRITE};
    size_t bytes = lay_out_shape(&size, &made, avatar);
    flat.bytes = tl_shared_reserve(shared, id, TL_SHARED_SHAPE, bytes);
    if (!flat.bytes) {
      *out = made;
      return TL_OK;
    }
    lay_out_shape(&flat, &made, avatar);
    tl_shape_free(made);
    block = tl_shared_publish(shared, id, TL_SHARED_SHAPE);
  }
  return use_shape(shared, block, id, avatar, out);
}

void tl_shape_unshare(TlShared *shared, TlShape *shape) {
  if (shape->place && shape->place->elements && shape->place->elements->borrowed)
    tl_shared_release(shared, shape->id, TL_SHARED_ELEMENTS);
  if (shape->borrowed) tl_shared_release(shared, shape->id, TL_SHARED_SHAPE);
  tl_shape_free(shape);
}

/* ---- elements ---- */

static TlStatus use_elements(TlShared *shared, const void *block, TlShape *shape) {
  TlFlat flat = reading(block);
  TlElements *elements = (TlElements *)(uintptr_t)block;
  lay_out_elements(&flat, &elements);
  if (flat.status == TL_OK) {
    shape->place->elements = elements;
    return TL_OK;
  }
  tl_elements_free(elements);
  tl_shared_release(shared, shape->id, TL_SHARED_ELEMENTS);
  return flat.status;
}

TlStatus tl_elements_share(TlShared *shared, bool wait, TlShape *shape) {
  TlElements **own = &shape->place->elements, *made = NULL;
  const void *block;
  if (!shape->avatar) return tl_elements_new(own, shape);
  TlSharedAnswer answer = tl_shared_ask(shared, shape->id, TL_SHARED_ELEMENTS, wait, &block);
  if (answer == TL_SHARED_BUSY) return TL_OK;
  if (answer == TL_SHARED_OWN) return tl_elements_new(own, shape);
  if (answer == TL_SHARED_MAKE) {
    TlStatus status = tl_elements_new(&made, shape);
    if (status != TL_OK) {
      tl_shared_give_up(shared, shape->id, TL_SHARED_ELEMENTS);
      return status;
    }
    TlFlat size = {.mode = TL_FLAT_MEASURE}, flat = {.mode = TL_FLAT_WRITE};
    size_t bytes = lay_out_elements(&size, &made);
    flat.bytes = tl_shared_reserve(shared, shape->id, TL_SHARED_ELEMENTS, bytes);
    if (!flat.bytes) {
      *own = made;
      return TL_OK;
    }
    lay_out_elements(&flat, &made);
    tl_elements_free(made);
    block = tl_shared_publish(shared, shape->id, TL_SHARED_ELEMENTS);
  }
  return use_elements(shared, block, shape);
}
