#include "post/slice.h"

#include "base/mem.h"
#include "post/ink.h"

#include <math.h>
#include <string.h>

enum { WIDEST = 600, GAP = 12, HEAD = 26, PLANES = 3 };
static const char *const plane_name[PLANES] = {"xy", "xz", "yz"};
static const TlInk text_ink = {30, 30, 30, 1};

typedef struct Cuts {
  TlVolume plane[PLANES]; /* one layer each */
} Cuts;

static void free_cuts(Cuts *c) {
  for (int p = 0; p < PLANES; p++) tl_volume_free(&c->plane[p]);
}

static void copy_line(const TlVolume *layer, int64_t first, int64_t step, TlVolume *plane,
                      int64_t row) {
  size_t size = tl_voxel_size(layer->type);
  for (int64_t i = 0; i < plane->nx; i++)
    memcpy(plane->u8 + (size_t)(row * plane->nx + i) * size,
           layer->u8 + (size_t)(first + i * step) * size, size);
}

static void take_layer(const TlVolume *layer, int64_t z, int64_t nz, Cuts *c) {
  int64_t nx = layer->nx, ny = layer->ny;
  if (z == nz / 2)
    memcpy(c->plane[0].data, layer->data, (size_t)(nx * ny) * tl_voxel_size(layer->type));
  copy_line(layer, ny / 2 * nx, 1, &c->plane[1], z);
  copy_line(layer, nx / 2, nx, &c->plane[2], z);
}

static TlStatus read_layers(const TlLayers *stack, TlVolume *layer, Cuts *c) {
  const TlVolume *h = &stack->head;
  const int64_t size[PLANES][2] = {{h->nx, h->ny}, {h->nx, h->nz}, {h->ny, h->nz}};
  for (int p = 0; p < PLANES; p++)
    TL_TRY(tl_volume_new(&c->plane[p], h->type, size[p][0], size[p][1], 1));
  for (int64_t z = 0; z < h->nz; z++) {
    TL_TRY(tl_layers_read(stack, z, 1, layer->data));
    take_layer(layer, z, h->nz, c);
  }
  return TL_OK;
}

static TlStatus cut(const TlLayers *stack, Cuts *c) {
  TlVolume layer;
  *c = (Cuts){0};
  TL_TRY(tl_volume_new(&layer, stack->head.type, stack->head.nx, stack->head.ny, 1));
  TlStatus status = read_layers(stack, &layer, c);
  tl_volume_free(&layer);
  if (status != TL_OK) free_cuts(c);
  return status;
}

/* Every step-th voxel, so that no panel is wider than WIDEST. */
static TlStatus thin(TlVolume *plane, int64_t step) {
  TlVolume small;
  size_t size = tl_voxel_size(plane->type);
  if (step == 1) return TL_OK;
  TL_TRY(tl_volume_new(&small, plane->type, (plane->nx + step - 1) / step,
                       (plane->ny + step - 1) / step, 1));
  for (int64_t i = 0; i < tl_volume_count(&small); i++)
    memcpy(small.u8 + (size_t)i * size,
           plane->u8 + (size_t)(i / small.nx * step * plane->nx + i % small.nx * step) * size,
           size);
  tl_volume_free(plane);
  *plane = small;
  return TL_OK;
}

/* ---- the third column ---- */

static TlStatus draw_difference(const TlVolume *before, const TlVolume *after, TlImage *image) {
  TlVolume change;
  double most = 0;
  TL_TRY(tl_volume_like(&change, before, TL_F32));
  for (int64_t i = 0; i < tl_volume_count(before); i++) {
    double d = tl_volume_value(after, i) - tl_volume_value(before, i);
    change.f32[i] = isfinite(d) ? (float)d : 0;
    most = fmax(most, fabs(change.f32[i]));
  }
  if (most == 0) most = 1;
  TlSliceStyle style = {.zoom = 1, .low = -most, .high = most};
  TlStatus status = tl_slice_draw(&change, &style, image);
  tl_volume_free(&change);
  return status;
}

static bool at_border(const TlVolume *v, int64_t i) {
  double here = tl_volume_value(v, i);
  int64_t x = i % v->nx, y = i / v->nx;
  return (x + 1 < v->nx && tl_volume_value(v, i + 1) != here) ||
         (y + 1 < v->ny && tl_volume_value(v, i + v->nx) != here);
}

static TlStatus draw_borders(const TlVolume *before, const TlVolume *after, TlImage *image) {
  static const uint8_t colour[3] = {255, 170, 0};
  TlSliceStyle style = {.zoom = 1};
  TL_TRY(tl_slice_draw(before, &style, image));
  for (int64_t i = 0; i < tl_volume_count(after); i++)
    if (at_border(after, i)) memcpy(image->rgb + 3 * i, colour, 3);
  return TL_OK;
}

/* ---- the sheet ---- */

static void blit(const TlImage *panel, int zoom, TlImage *sheet, int x, int y) {
  for (int row = 0; row < zoom * panel->height; row++)
    for (int column = 0; column < zoom * panel->width; column++)
      memcpy(sheet->rgb + 3 * ((int64_t)(y + row) * sheet->width + x + column),
             panel->rgb + 3 * ((int64_t)(row / zoom) * panel->width + column / zoom), 3);
}

static TlStatus draw_plane(const TlVolume *before, const TlVolume *after, int column,
                           TlImage *panel) {
  TlSliceStyle style = {.zoom = 1};
  bool alike = before->type == after->type && before->type != TL_U32;
  if (column == 0) return tl_slice_draw(before, &style, panel);
  if (column == 2)
    return alike ? draw_difference(before, after, panel) : draw_borders(before, after, panel);
  if (alike) TL_TRY(tl_slice_stretch(before, &style));
  return tl_slice_draw(after, &style, panel);
}

static TlStatus draw_sheet(const Cuts *before, const Cuts *after, int wanted, TlImage *sheet) {
  static const char *const title[] = {"before", "after", "changed"};
  int widest = 0, y = HEAD, height = HEAD;
  for (int p = 0; p < PLANES; p++) widest = (int)fmax(widest, (double)before->plane[p].nx);
  int zoom = wanted > widest ? (int)lround((double)wanted / widest) : 1;
  widest *= zoom;
  for (int p = 0; p < PLANES; p++) height += zoom * (int)before->plane[p].ny + GAP;
  TL_TRY(tl_image_new(sheet, 3 * (widest + GAP) + HEAD, height));
  memset(sheet->rgb, 255, 3 * (size_t)sheet->width * (size_t)sheet->height);
  for (int p = 0; p < PLANES; y += zoom * (int)before->plane[p++].ny + GAP) {
    tl_ink_text(sheet, 3, y, 9, plane_name[p], text_ink);
    for (int column = 0; column < 3; column++) {
      TlImage panel = {0};
      TL_TRY(draw_plane(&before->plane[p], &after->plane[p], column, &panel));
      int x = HEAD + column * (widest + GAP);
      blit(&panel, zoom, sheet, x, y);
      if (p == 0) tl_ink_text(sheet, x, 7, 11, title[column], text_ink);
      tl_image_free(&panel);
    }
  }
  return TL_OK;
}

static TlStatus thin_all(Cuts *c) {
  int64_t widest = 0;
  for (int p = 0; p < PLANES; p++)
    widest = (int64_t)fmax((double)widest, fmax((double)c->plane[p].nx, (double)c->plane[p].ny));
  for (int p = 0; p < PLANES; p++) TL_TRY(thin(&c->plane[p], (widest + WIDEST - 1) / WIDEST));
  return TL_OK;
}

TlStatus tl_preview_draw(const TlLayers *before, const TlLayers *after, int wanted,
                         TlImage *image) {
  const TlVolume *a = &before->head, *b = &after->head;
  Cuts one, two;
  if (a->nx != b->nx || a->ny != b->ny || a->nz != b->nz)
    return tl_fail(TL_EINPUT, "a preview needs two stacks of one size");
  *image = (TlImage){0};
  TL_TRY(cut(before, &one));
  TlStatus status = cut(after, &two);
  if (status == TL_OK) {
    status = thin_all(&one);
    if (status == TL_OK) status = thin_all(&two);
    if (status == TL_OK) status = draw_sheet(&one, &two, wanted, image);
    free_cuts(&two);
  }
  free_cuts(&one);
  if (status != TL_OK) tl_image_free(image);
  return status;
}
