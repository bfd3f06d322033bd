#include "image/label_quality.h"

#include "base/mem.h"
#include "num/hull.h"
#include "image/label_impl.h"
#include "image/saddles.h"

#include <math.h>
#include <string.h>

/* Rows of voxels of a grain that still continues. */
typedef struct Rows {
  TlPoint3 *corner; /* of all row ends so far */
  size_t count, capacity;
  int64_t seen; /* plane */
} Rows;

typedef struct Survey {
  int64_t nx, ny, nz;
  double edge[3];
  uint32_t count;
  TlLabelQuality *quality;
  Rows *rows; /* by label */
  uint32_t *open, *plane, *below;
  size_t opens, open_capacity;
  TlSaddleTable *contacts;
} Survey;

/* ---- convex volume ---- */

static TlStatus add_row(Rows *r, int64_t x0, int64_t x1, int64_t y, int64_t z) {
  TL_TRY(TL_RESERVE(r->corner, r->capacity, r->count + 8));
  for (int k = 0; k < 8; k++)
    r->corner[r->count++] = (TlPoint3){.x = (int32_t)(k & 1 ? x1 : x0),
                                       .y = (int32_t)(y + (k >> 1 & 1)),
                                       .z = (int32_t)(z + (k >> 2))};
  return TL_OK;
}

static TlStatus rows_of_plane(Survey *s, int64_t z) {
  for (int64_t y = 0; y < s->ny; y++) {
    const uint32_t *row = s->plane + y * s->nx;
    for (int64_t x = 0; x < s->nx;) {
      uint32_t label = row[x];
      int64_t begin = x;
      while (x < s->nx && row[x] == label) x++;
      if (label == 0) continue;
      if (label > s->count)
        return tl_fail(TL_EINPUT, "label %u, where there should be %u grains", label, s->count);
      if (s->rows[label].capacity == 0) {
        TL_TRY(TL_RESERVE(s->open, s->open_capacity, s->opens + 1));
        s->open[s->opens++] = label;
      }
      TL_TRY(add_row(&s->rows[label], begin, x, y, z));
      s->rows[label].seen = z;
      s->quality[label].voxels += x - begin;
    }
  }
  return TL_OK;
}

static TlStatus finish(Survey *s, uint32_t label) {
  Rows *r = &s->rows[label];
  double volume;
  TL_TRY(tl_lattice_hull(r->corner, r->count, &volume));
  s->quality[label].under += volume;
  tl_free(r->corner);
  *r = (Rows){0};
  return TL_OK;
}

/* What misses a plane is over. (The user's markers can make a grain of pieces with planes between:
 * then the hulls of its pieces add up.) */
static TlStatus finish_before(Survey *s, int64_t z) {
  size_t kept = 0;
  for (size_t i = 0; i < s->opens; i++) {
    if (s->rows[s->open[i]].seen < z)
      TL_TRY(finish(s, s->open[i]));
    else
      s->open[kept++] = s->open[i];
  }
  s->opens = kept;
  return TL_OK;
}

/* ---- contacts ---- */

static TlStatus meet(Survey *s, const uint32_t *a, const uint32_t *b, int64_t count, int axis) {
  for (int64_t i = 0; i < count; i++)
    if (a[i] != b[i] && a[i] && b[i])
      TL_TRY(tl_saddles_meet(s->contacts, a[i], b[i], 0, 0, 1, 0, axis, -1));
  return TL_OK;
}

static TlStatus contacts_of_plane(Survey *s, int64_t z) {
  int64_t plane = s->nx * s->ny;
  for (int64_t y = 0; y < s->ny; y++)
    TL_TRY(meet(s, s->plane + y * s->nx, s->plane + y * s->nx + 1, s->nx - 1, 0));
  TL_TRY(meet(s, s->plane, s->plane + s->nx, plane - s->nx, 1));
  return z > 0 ? meet(s, s->below, s->plane, plane, 2) : TL_OK;
}

/* Each pair once, in order of labels: the first of equals is the same for any cut. Owner of *pair:
 * the caller. */
static TlStatus gather_pairs(Survey *s, TlSaddle **pair, size_t *count) {
  *count = tl_saddles_count(s->contacts);
  TL_TRY(TL_NEW(*pair, *count));
  if (*count) memcpy(*pair, tl_saddles_all(s->contacts), *count * sizeof **pair);
  tl_saddles_clear(s->contacts);
  tl_saddles_merge(*pair, count);
  return TL_OK;
}

static double area_of(const Survey *s, const TlSaddle *pair) {
  const double *e = s->edge;
  double x = pair->faces[0] * e[1] * e[2], y = pair->faces[1] * e[2] * e[0];
  double z = pair->faces[2] * e[0] * e[1];
  return sqrt(x * x + y * y + z * z);
}

static void note_contact(TlLabelQuality *q, double area, uint32_t other) {
  double over = sqrt(4 * area / M_PI) / q->diameter;
  q->neighbours++;
  if (over <= q->over) return;
  q->over = over;
  q->neighbour = other;
}

static TlStatus judge_contacts(Survey *s) {
  size_t count;
  TlSaddle *pair;
  TL_TRY(gather_pairs(s, &pair, &count));
  for (size_t i = 0; i < count; i++) {
    double area = area_of(s, &pair[i]);
    note_contact(&s->quality[pair[i].a], area, pair[i].b);
    note_contact(&s->quality[pair[i].b], area, pair[i].a);
  }
  tl_free(pair);
  return TL_OK;
}

/* ---- plane by plane ---- */

static TlStatus survey_planes(Survey *s, const TlLayers *labels, const TlRoi *roi,
                              uint8_t *border) {
  for (int64_t z = 0; z < s->nz; z++) {
    TL_TRY(tl_layers_read(labels, z, 1, s->plane));
    TL_TRY(rows_of_plane(s, z));
    TL_TRY(finish_before(s, z));
    TL_TRY(contacts_of_plane(s, z));
    tl_label_flag_planes(&labels->head, roi, z, z + 1, s->plane, border);
    uint32_t *was = s->below;
    s->below = s->plane;
    s->plane = was;
  }
  return finish_before(s, s->nz);
}

static TlStatus survey(Survey *s, const TlLayers *labels, const TlRoi *roi) {
  uint8_t *border = NULL;
  TL_TRY(TL_NEW(s->plane, (size_t)(s->nx * s->ny)));
  TL_TRY(TL_NEW(s->below, (size_t)(s->nx * s->ny)));
  TL_TRY(TL_NEW(s->rows, (size_t)s->count + 1));
  TL_TRY(tl_saddles_open(&s->contacts));
  TL_TRY(TL_NEW(border, (size_t)s->count + 1));
  TlStatus status = survey_planes(s, labels, roi, border);
  for (uint32_t g = 1; g <= s->count; g++) {
    s->quality[g].border = border[g];
    if (s->quality[g].voxels > 0) s->quality[g].under /= (double)s->quality[g].voxels;
    s->quality[g].diameter = cbrt(6 * (double)s->quality[g].voxels / M_PI);
  }
  tl_free(border);
  return status == TL_OK ? judge_contacts(s) : status;
}

TlStatus tl_label_quality(const TlLayers *labels, const TlRoi *roi, uint32_t count,
                          TlLabelQuality **quality) {
  const TlVolume *head = &labels->head;
  TlLabelField field; /* for the edges only: one rule of units */
  Survey s = {.nx = head->nx, .ny = head->ny, .nz = head->nz, .count = count};
  tl_label_field_init(&field, head, 0);
  for (int k = 0; k < 3; k++) s.edge[k] = field.edge[k];
  TL_TRY(TL_NEW(s.quality, (size_t)count + 1));
  TlStatus status = survey(&s, labels, roi);
  for (uint32_t g = 0; s.rows && g <= count; g++) tl_free(s.rows[g].corner);
  tl_free(s.rows);
  tl_free(s.open);
  tl_free(s.plane);
  tl_free(s.below);
  tl_saddles_free(s.contacts);
  if (status != TL_OK) tl_free(s.quality);
  *quality = status == TL_OK ? s.quality : NULL;
  return status;
}

/* ---- contacts alone ---- */

static TlStatus count_voxels(const Survey *s, const uint32_t *plane, int64_t *voxels) {
  for (int64_t i = 0; i < s->nx * s->ny; i++) {
    if (plane[i] > s->count)
      return tl_fail(TL_EINPUT, "label %u, where there should be %u grains", plane[i], s->count);
    voxels[plane[i]]++;
  }
  return TL_OK;
}

static TlStatus walk_planes(Survey *s, const TlLayers *labels, const TlRoi *roi, int64_t at_once,
                            uint32_t *block, int64_t *voxels, uint8_t *border) {
  int64_t area = s->nx * s->ny;
  uint32_t *below = s->below;
  for (int64_t z = 0; z < s->nz; z += at_once) {
    int64_t end = z + at_once < s->nz ? z + at_once : s->nz;
    TL_TRY(tl_layers_read(labels, z, end - z, block));
    for (int64_t k = z; k < end; k++) TL_TRY(count_voxels(s, block + (k - z) * area, voxels));
    tl_label_flag_planes(&labels->head, roi, z, end, block, border);
    for (int64_t k = z; k < end; k++) {
      s->plane = block + (k - z) * area;
      s->below = k > z ? s->plane - area : below;
      TL_TRY(contacts_of_plane(s, k));
    }
    memcpy(below, s->plane, (size_t)area * sizeof *below);
  }
  return TL_OK;
}

static TlStatus widest(Survey *s, const int64_t *voxels, const uint8_t *border, double *width) {
  size_t count;
  TlSaddle *pair;
  TL_TRY(gather_pairs(s, &pair, &count));
  for (size_t i = 0; i < count; i++) {
    uint32_t a = pair[i].a, b = pair[i].b, smaller = voxels[a] < voxels[b] ? a : b;
    if (border[smaller]) continue;
    double section = M_PI * pow(0.75 * (double)voxels[smaller] / M_PI, 2.0 / 3);
    double w = area_of(s, &pair[i]) / section;
    width[a] = fmax(width[a], w);
    width[b] = fmax(width[b], w);
  }
  tl_free(pair);
  return TL_OK;
}

TlStatus tl_label_contacts(const TlLayers *labels, const TlRoi *roi, uint32_t count,
                           int64_t at_once, uint8_t **border, double **width) {
  const TlVolume *head = &labels->head;
  TlLabelField field; /* for the edges only: one rule of units */
  Survey s = {.nx = head->nx, .ny = head->ny, .nz = head->nz, .count = count};
  uint32_t *block = NULL, *below = NULL;
  int64_t *voxels = NULL;
  *border = NULL;
  *width = NULL;
  tl_label_field_init(&field, head, 0);
  for (int k = 0; k < 3; k++) s.edge[k] = field.edge[k];
  TlStatus status = TL_NEW(*border, (size_t)count + 1);
  if (status == TL_OK) status = TL_NEW(*width, (size_t)count + 1);
  if (status == TL_OK) status = TL_NEW(voxels, (size_t)count + 1);
  if (status == TL_OK) status = TL_NEW(block, (size_t)(s.nx * s.ny * at_once));
  if (status == TL_OK) status = TL_NEW(below, (size_t)(s.nx * s.ny));
  if (status == TL_OK) status = tl_saddles_open(&s.contacts);
  s.below = below;
  if (status == TL_OK) status = walk_planes(&s, labels, roi, at_once, block, voxels, *border);
  if (status == TL_OK) status = widest(&s, voxels, *border, *width);
  tl_saddles_free(s.contacts);
  tl_free(block);
  tl_free(below);
  tl_free(voxels);
  if (status != TL_OK) TL_FREE(*border);
  if (status != TL_OK) TL_FREE(*width);
  return status;
}
