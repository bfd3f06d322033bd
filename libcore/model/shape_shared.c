#include "model/shape_shared.h"

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

/* ---- shapes ---- */

typedef struct SharedShape {
  const TlShapes *shapes;
  int64_t id;
  const TlAvatar *avatar;
  TlShapeMaker *make;
  TlShape *shape;
} SharedShape;

static TlStatus make_shape(void *it) {
  SharedShape *s = it;
  return s->make(s->shapes, s->id, s->avatar, &s->shape);
}

static void lay_out_shape(TlFlat *flat, void *it) {
  SharedShape *s = it;
  if (flat->mode == TL_FLAT_READ) s->shape = (TlShape *)(void *)flat->bytes;
  TL_FLAT_STRUCT(flat, s->shape);
  TlShape *shape = s->shape;
  if (!shape) return;
  shape->avatar = s->avatar;
  shape->borrowed = flat->mode == TL_FLAT_READ;
  lay_out_tree(flat, shape);
  TL_FLAT_STRUCT(flat, shape->place);
  lay_out_place(flat, shape->place, s->avatar->node_count);
  TL_FLAT_STRUCT(flat, shape->ground);
  lay_out_ground(flat, shape->ground, shape->node_count);
}

static void free_shape(void *it) {
  tl_shape_free(((SharedShape *)it)->shape);
}

static const TlSharedForm shape_form = {make_shape, lay_out_shape, free_shape};

TlStatus tl_shape_share(const TlShapes *shapes, int64_t id, const TlAvatar *avatar, bool wait,
                        TlShapeMaker *make, TlShape **out) {
  SharedShape s = {shapes, id, avatar, make, NULL};
  bool there;
  TL_TRY(tl_shared_get(shapes->shared, id, TL_SHARED_SHAPE, wait, &shape_form, &s, &there));
  *out = there ? s.shape : NULL;
  return TL_OK;
}

void tl_shape_unshare(TlShared *shared, TlShape *shape) {
  if (shape->place && shape->place->elements && shape->place->elements->borrowed)
    tl_shared_release(shared, shape->id, TL_SHARED_ELEMENTS);
  if (shape->borrowed) tl_shared_release(shared, shape->id, TL_SHARED_SHAPE);
  tl_shape_free(shape);
}

/* ---- elements ---- */

typedef struct SharedElements {
  const TlShape *shape;
  TlElements *elements;
} SharedElements;

static TlStatus make_elements(void *it) {
  SharedElements *s = it;
  return tl_elements_new(&s->elements, s->shape);
}

static void lay_out_elements(TlFlat *flat, void *it) {
  SharedElements *s = it;
  if (flat->mode == TL_FLAT_READ) s->elements = (TlElements *)(void *)flat->bytes;
  TL_FLAT_STRUCT(flat, s->elements);
  TlElements *e = s->elements;
  if (!e) return;
  e->borrowed = flat->mode == TL_FLAT_READ;
  TL_FLAT_ARRAY(flat, e->point, e->point_count);
  TL_FLAT_ARRAY(flat, e->element, e->count);
  TL_FLAT_STRUCT(flat, e->middles);
  if (!e->middles) return;
  e->middles->borrowed = e->borrowed;
  lay_out_tree(flat, e->middles);
}

static void free_elements(void *it) {
  tl_elements_free(((SharedElements *)it)->elements);
}

static const TlSharedForm elements_form = {make_elements, lay_out_elements, free_elements};

TlStatus tl_elements_share(TlShared *shared, bool wait, TlShape *shape) {
  SharedElements s = {shape, NULL};
  bool there;
  if (!shape->avatar) return tl_elements_new(&shape->place->elements, shape);
  TL_TRY(tl_shared_get(shared, shape->id, TL_SHARED_ELEMENTS, wait, &elements_form, &s, &there));
  if (there) shape->place->elements = s.elements;
  return TL_OK;
}
