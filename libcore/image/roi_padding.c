#include "image/roi.h"

#include "base/mem.h"

#include <math.h>
#include <string.h>

enum { CORNERS = 8, FEW_VALUES = 8, AT_ONCE = 16 };
static const double RARE_INSIDE = 0.05, FEW_ENCLOSED = 0.02, LEAST_INSIDE = 0.25,
                    LEAST_OF_COLUMNS = 0.75, MUCH = 0.1;

typedef struct Search {
  const TlLayers *stack;
  int64_t nx, ny, nz;
  double value[CORNERS]; /* of the corners that are padding */
  int values;
  uint8_t *same; /* bits: of one of these values */
  uint8_t *met;  /* bits: all around is, too, and connected to a corner */
  int64_t *todo; /* voxels of a layer to continue from */
} Search;

static bool get(const uint8_t *bits, int64_t i) {
  return bits[i >> 3] >> (i & 7) & 1;
}
static void set(uint8_t *bits, int64_t i) {
  bits[i >> 3] |= (uint8_t)(1 << (i & 7));
}

/* ---- corners ---- */

static int64_t least_side(const Search *s) {
  int64_t side = s->nx < s->ny ? s->nx : s->ny;
  return side < s->nz ? side : s->nz;
}

/* Is the cube in this corner of part (the first or last layers) of one value? */
static bool one_value(const TlVolume *part, int64_t side, int corner, double *value) {
  int64_t x0 = corner & 1 ? part->nx - side : 0, y0 = corner & 2 ? part->ny - side : 0;
  *value = tl_volume_value(part, tl_volume_at(part, x0, y0, 0));
  for (int64_t z = 0; z < side; z++)
    for (int64_t y = y0; y < y0 + side; y++)
      for (int64_t x = x0; x < x0 + side; x++)
        if (tl_volume_value(part, tl_volume_at(part, x, y, z)) != *value) return false;
  return isfinite(*value);
}

static TlStatus look_at_corners(Search *s, bool corner[CORNERS]) {
  int64_t side = least_side(s) / 24 + 2;
  TlVolume part;
  TL_TRY(tl_volume_new(&part, s->stack->head.type, s->nx, s->ny, side));
  TlStatus status = TL_OK;
  for (int end = 0; end < 2 && status == TL_OK; end++) {
    status = tl_layers_read(s->stack, end ? s->nz - side : 0, side, part.data);
    for (int k = 0; k < 4 && status == TL_OK; k++) {
      double value;
      corner[4 * end + k] = one_value(&part, side, k, &value);
      if (!corner[4 * end + k]) continue;
      bool known = false;
      for (int i = 0; i < s->values; i++) known = known || s->value[i] == value;
      if (!known) s->value[s->values++] = value;
    }
  }
  tl_volume_free(&part);
  return status;
}

/* A layer of a mask or of few grains' labels. */
static TlStatus has_few_values(const Search *s, bool *few) {
  double value[FEW_VALUES];
  int values = 0;
  TlVolume layer;
  TL_TRY(tl_volume_new(&layer, s->stack->head.type, s->nx, s->ny, 1));
  TlStatus status = tl_layers_read(s->stack, s->nz / 2, 1, layer.data);
  for (int64_t i = 0; status == TL_OK && i < s->nx * s->ny && values <= FEW_VALUES; i++) {
    double here = tl_volume_value(&layer, i);
    int k = 0;
    while (k < values && value[k] != here) k++;
    if (k < values) continue;
    if (values < FEW_VALUES) value[values] = here;
    values++;
  }
  tl_volume_free(&layer);
  *few = values <= FEW_VALUES;
  return status;
}

/* ---- what is connected to them ---- */

static TlStatus mark_same(Search *s) {
  TlVolume part;
  TL_TRY(tl_volume_new(&part, s->stack->head.type, s->nx, s->ny, AT_ONCE));
  TlStatus status = TL_OK;
  for (int64_t z = 0; z < s->nz && status == TL_OK; z += AT_ONCE) {
    int64_t count = s->nz - z < AT_ONCE ? s->nz - z : AT_ONCE;
    status = tl_layers_read(s->stack, z, count, part.data);
    for (int64_t i = 0; i < count * s->nx * s->ny && status == TL_OK; i++) {
      double here = tl_volume_value(&part, i);
      for (int k = 0; k < s->values; k++)
        if (here == s->value[k]) set(s->same, z * s->nx * s->ny + i);
    }
  }
  tl_volume_free(&part);
  return status;
}

typedef struct Reach { /* voxels around one, cut to the stack */
  int64_t low[3], high[3];
} Reach;

static Reach around(const Search *s, int64_t i) {
  const int64_t at[3] = {i % s->nx, i / s->nx % s->ny, i / (s->nx * s->ny)};
  const int64_t n[3] = {s->nx, s->ny, s->nz};
  Reach r;
  for (int a = 0; a < 3; a++) {
    r.low[a] = at[a] > 0 ? at[a] - 1 : 0;
    r.high[a] = at[a] + 1 < n[a] ? at[a] + 1 : at[a];
  }
  return r;
}

static bool is_core(const Search *s, int64_t i) {
  if (!get(s->same, i)) return false;
  Reach r = around(s, i);
  for (int64_t z = r.low[2]; z <= r.high[2]; z++)
    for (int64_t y = r.low[1]; y <= r.high[1]; y++)
      for (int64_t x = r.low[0]; x <= r.high[0]; x++)
        if (!get(s->same, (z * s->ny + y) * s->nx + x)) return false;
  return true;
}

static bool beside_met(const Search *s, int64_t i) {
  Reach r = around(s, i);
  for (int64_t z = r.low[2]; z <= r.high[2]; z++)
    for (int64_t y = r.low[1]; y <= r.high[1]; y++)
      for (int64_t x = r.low[0]; x <= r.high[0]; x++)
        if (get(s->met, (z * s->ny + y) * s->nx + x)) return true;
  return false;
}

/* Meets i if it is core and new. */
static void meet(const Search *s, int64_t i, int64_t *count) {
  if (get(s->met, i) || !is_core(s, i)) return;
  set(s->met, i);
  s->todo[(*count)++] = i;
}

/* In the layer, from what a layer beside it has met; how many more. */
static int64_t flood_layer(const Search *s, int64_t z, int64_t before) {
  int64_t area = s->nx * s->ny, count = 0, met = 0;
  for (int64_t i = 0; i < area; i++)
    if (get(s->met, before * area + i)) {
      meet(s, z * area + i, &count);
      met += count;
      while (count > 0) {
        int64_t at = s->todo[--count], x = at % s->nx, y = at / s->nx % s->ny, had = count;
        if (x > 0) meet(s, at - 1, &count);
        if (x + 1 < s->nx) meet(s, at + 1, &count);
        if (y > 0) meet(s, at - s->nx, &count);
        if (y + 1 < s->ny) meet(s, at + s->nx, &count);
        met += count - had;
      }
    }
  return met;
}

/* Layers up and down until none meets more: frames take two rounds. A corner's own layer is met
 * from the next one, which is in its cube, too. */
static void flood(const Search *s, const bool corner[CORNERS]) {
  for (int k = 0; k < CORNERS; k++) {
    int64_t x = k & 1 ? s->nx - 1 : 0, y = k & 2 ? s->ny - 1 : 0, z = k & 4 ? s->nz - 1 : 0;
    if (corner[k]) set(s->met, (z * s->ny + y) * s->nx + x);
  }
  for (int64_t more = 1; more > 0;) {
    more = 0;
    for (int64_t z = 1; z < s->nz; z++) more += flood_layer(s, z, z - 1);
    for (int64_t z = s->nz - 2; z >= 0; z--) more += flood_layer(s, z, z + 1);
  }
}

/* ---- is it a field of view that is left? ---- */

typedef struct Tally {
  int64_t inside, padding, enclosed, alike; /* alike: inside, of the padding's value */
  int64_t columns, padding_columns;         /* columns that these reach */
} Tally;

/* First and last voxel inside of a line; count voxels, stride apart. */
typedef struct Ends {
  int64_t first, last;
} Ends;
static Ends ends_of(const uint8_t *inside, int64_t at, int64_t stride, int64_t count) {
  Ends e = {count, -1};
  for (int64_t i = 0; i < count; i++)
    if (get(inside, at + i * stride)) {
      if (e.first == count) e.first = i;
      e.last = i;
    }
  return e;
}

static TlStatus tally(const Search *s, const uint8_t *inside, Tally *t) {
  int64_t area = s->nx * s->ny;
  Ends *column;
  uint8_t *reached = NULL; /* by column: 1 inside, 2 padding, 3 both */
  *t = (Tally){0};
  TL_TRY(TL_NEW(column, (size_t)s->nx));
  TlStatus status = TL_NEW(reached, (size_t)area);
  for (int64_t z = 0; z < s->nz && status == TL_OK; z++) {
    for (int64_t x = 0; x < s->nx; x++) column[x] = ends_of(inside, z * area + x, s->nx, s->ny);
    for (int64_t y = 0; y < s->ny; y++) {
      int64_t row = z * area + y * s->nx;
      Ends e = ends_of(inside, row, 1, s->nx);
      for (int64_t x = 0; x < s->nx; x++) {
        bool in = get(inside, row + x);
        t->inside += in;
        t->alike += in && get(s->same, row + x);
        t->enclosed +=
            !in && x > e.first && x < e.last && y > column[x].first && y < column[x].last;
        reached[y * s->nx + x] |= in ? 1 : 2;
      }
    }
  }
  t->padding = area * s->nz - t->inside;
  for (int64_t i = 0; i < area && status == TL_OK; i++) {
    t->columns += reached[i] & 1;
    t->padding_columns += reached[i] >> 1;
  }
  tl_free(column);
  tl_free(reached);
  return status;
}

static bool is_field_of_view(const Search *s, const Tally *t) {
  double all = (double)(s->nx * s->ny * s->nz), inside = (double)t->inside;
  double padding = (double)t->padding;
  bool rare = (double)t->alike < RARE_INSIDE * inside;
  bool frame =
      padding >= MUCH * all && padding >= LEAST_OF_COLUMNS * (double)(t->padding_columns * s->nz);
  return padding > 0 && inside >= LEAST_INSIDE * all &&
         inside >= LEAST_OF_COLUMNS * (double)(t->columns * s->nz) && (rare || frame) &&
         (double)t->enclosed < FEW_ENCLOSED * padding;
}

/* The cores met and what is like them around. */
static void mark_inside(const Search *s, uint8_t *inside) {
  for (int64_t i = 0; i < s->nx * s->ny * s->nz; i++)
    if (!get(s->same, i) || !beside_met(s, i)) set(inside, i);
}

static TlStatus find(Search *s, const bool corner[CORNERS], TlRoiPadding *padding) {
  size_t bytes = (size_t)(s->nx * s->ny * s->nz / 8 + 1);
  Tally t;
  TL_TRY(TL_NEW(s->same, bytes));
  TL_TRY(TL_NEW(s->met, bytes));
  TL_TRY(TL_NEW(s->todo, (size_t)(s->nx * s->ny)));
  TL_TRY(mark_same(s));
  flood(s, corner);
  TL_TRY(TL_NEW(padding->inside, bytes));
  mark_inside(s, padding->inside);
  TlStatus status = tally(s, padding->inside, &t);
  padding->voxels = t.padding;
  padding->grey = s->value[0];
  if (status != TL_OK || !is_field_of_view(s, &t)) tl_free(padding->inside);
  if (status != TL_OK || !is_field_of_view(s, &t)) *padding = (TlRoiPadding){0};
  return status;
}

TlStatus tl_roi_find_padding(const TlLayers *stack, TlRoiPadding *padding) {
  const TlVolume *head = &stack->head;
  Search s = {.stack = stack, .nx = head->nx, .ny = head->ny, .nz = head->nz};
  bool corner[CORNERS] = {false}, few = false;
  *padding = (TlRoiPadding){0};
  if (head->type == TL_U32 || head->type == TL_I32 || least_side(&s) < 4) return TL_OK;
  TL_TRY(look_at_corners(&s, corner));
  if (s.values == 0) return TL_OK;
  TL_TRY(has_few_values(&s, &few));
  if (few) return TL_OK;
  TlStatus status = find(&s, corner, padding);
  tl_free(s.same);
  tl_free(s.met);
  tl_free(s.todo);
  return status;
}
