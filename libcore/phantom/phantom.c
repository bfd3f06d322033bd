#include "phantom/phantom.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/par.h"
#include "phantom/phantom_grey.h"
#include "phantom/phantom_shape.h"
#include "phantom/phantom_voxels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Diameters: lognormal by mass, cut at +-2 sd: at most d50/sqrt 5 to d50 sqrt 5. */
#define SIZE_RATIO_MOST 5.0
enum { MASS_BINS = 48 };
/* Packed a little denser than asked, so that the offset that brings the fraction back is inwards
 * of the jammed state: most neighbours then still touch, over small patches. */
#define PACK_DENSER 1.045

typedef struct Making {
  const TlPhantomOptions *options;
  TlPhantomBox box;
  TlPhantomShape *shapes;
  TlPhantomPose *poses;
  int64_t count;
  TlPhantomPiece *pieces;
  int64_t *piece_shape; /* index of the shape of each piece */
  int *piece_image;     /* 0 to 26: which image of the shape, x fastest, 13: itself */
  size_t shape_capacity, piece_count, piece_capacity, index_capacity, image_capacity;
  TlPhantomSums *sums;
  bool *opaque; /* of each shape */
  TlVolume grey;
} Making;

TlPhantomOptions tl_phantom_defaults(void) {
  return (TlPhantomOptions){.nx = 128,
                            .ny = 128,
                            .nz = 128,
                            .d50_voxels = 28,
                            .size_ratio = SIZE_RATIO_MOST,
                            .shapes = TL_SHAPES_MIXED,
                            .roughness_length_voxels = 6,
                            .solid_fraction = 0.60,
                            .noise_sd = 6,
                            .blur_sigma = 0.7,
                            .grey_sd = 6,
                            .opaque = 0.03,
                            .water_saturation = 0.5,
                            .water_grey = TL_PHANTOM_WATER,
                            .voxel_m = 10e-6,
                            .seed = 1};
}

/* The largest grain is 2.24 d50, longer when elongated: a periodic box must be wider than that. */
static double least_side(const TlPhantomOptions *o) {
  return 3.5 * o->d50_voxels;
}

static TlStatus check_options(const TlPhantomOptions *o) {
  double least = (double)(o->nx < o->ny ? o->nx : o->ny);
  if (o->d50_voxels < 4) return tl_fail(TL_EUSAGE, "d50 of %g voxels; at least 4", o->d50_voxels);
  if (o->disc && least < 1.1 * least_side(o))
    return tl_fail(TL_EUSAGE,
                   "a disc of %g voxels is too narrow for grains of d50 = %g voxels; give sides of "
                   "at least %g or a d50 of at most %g",
                   least, o->d50_voxels, ceil(1.1 * least_side(o)), floor(least / 3.85));
  int64_t thinnest = o->nz < (int64_t)least ? o->nz : (int64_t)least;
  if (o->periodic && (o->disc || (double)thinnest < least_side(o)))
    return tl_fail(TL_EUSAGE,
                   "copies side by side need a block of %g voxels or more along each side for "
                   "grains of d50 = %g voxels, and no disc",
                   ceil(least_side(o)), o->d50_voxels);
  if (o->periodic && (o->faults.noise_correlation_voxels > 0 || o->faults.noise_filter))
    return tl_fail(TL_EUSAGE, "correlated noise is not made over copies side by side");
  if (o->periodic && o->water)
    return tl_fail(TL_EUSAGE, "water is not put into copies side by side: its menisci would have "
                              "seams");
  if (o->water && !(o->water_saturation > 0 && o->water_saturation <= 1))
    return tl_fail(TL_EUSAGE, "water in %g of the pores; above 0 to 1", o->water_saturation);
  if (o->solid_fraction < 0.3 || o->solid_fraction > 0.68)
    return tl_fail(TL_EUSAGE, "solid fraction %g; 0.3 to 0.68 can be packed", o->solid_fraction);
  if (!(o->size_ratio >= 1 && o->size_ratio <= SIZE_RATIO_MOST))
    return tl_fail(TL_EUSAGE, "sizes of 1:%g; 1:1 to 1:%g can be packed", o->size_ratio,
                   SIZE_RATIO_MOST);
  if (!(o->roughness_voxels >= 0 && o->roughness_voxels <= 1) ||
      o->roughness_length_voxels < fmax(4, 9 * o->roughness_voxels))
    return tl_fail(
        TL_EUSAGE,
        "roughness of %g voxels in waves of %g: at most 1, and waves of at least 4 voxels "
        "and 9 times the roughness",
        o->roughness_voxels, o->roughness_length_voxels);
  if (o->specks < 0 || o->specks > 0.2)
    return tl_fail(TL_EUSAGE, "specks in %g of the solid; 0 to 0.2", o->specks);
  const TlPhantomFaults *f = &o->faults;
  if (f->noise_correlation_voxels > 0 && f->noise_filter)
    return tl_fail(TL_EUSAGE,
                   "noise is smoothed by a Gaussian or by a reconstruction's filter, not "
                   "by both");
  if (f->noise_correlation_voxels < 0 || f->noise_correlation_voxels > 4 || f->rings_grey < 0)
    return tl_fail(TL_EUSAGE, "noise correlation is 0 to 4 voxels, rings are >= 0");
  if (o->noise_sd < 0 || o->blur_sigma < 0 || o->grey_sd < 0 || o->opaque < 0 || o->opaque > 1)
    return tl_fail(TL_EUSAGE, "noise, blur and grey spread are >= 0, opaque is 0 to 1");
  return TL_OK;
}

/* ---- which grains ---- */

/* Quantile of the standard normal by bisection: called a hundred times. */
static double normal_quantile(double u) {
  double low = -6, high = 6;
  for (int i = 0; i < 60; i++) {
    double x = 0.5 * (low + high);
    if (0.5 * erfc(-x * 0.7071067811865476) < u)
      low = x;
    else
      high = x;
  }
  return 0.5 * (low + high);
}

/* Diameter below which the fraction u of the mass lies. */
static double diameter_at(const TlPhantomOptions *o, double u) {
  double sigma = 0.25 * log(o->size_ratio), tail = 0.02275013194817921;
  return o->d50_voxels * exp(sigma * normal_quantile(tail + u * (1 - 2 * tail)));
}

static TlGrainKind random_kind(double diameter, const TlPhantomOptions *o, TlRandom *random) {
  double u = tl_random_next(random);
  if (o->shapes != TL_SHAPES_MIXED) return (TlGrainKind)o->shapes;
  if (u < 0.35) return TL_GRAIN_ANGULAR;
  if (u < 0.55) return TL_GRAIN_CONCAVE;
  /* a long grain of the largest size would span a small box */
  if (u < 0.75 && diameter < 1.4 * o->d50_voxels) return TL_GRAIN_ELONGATED;
  return TL_GRAIN_ROUNDED;
}

/* Equal parts of the mass, from coarse to fine; what a part leaves over is added to the next. */
static TlStatus choose_grains(Making *m, double volume) {
  const TlPhantomOptions *o = m->options;
  TlRandom random = {o->seed, 0x517e5, 0};
  double part = volume / MASS_BINS, left = 0.5 * part;
  for (int b = MASS_BINS - 1; b >= 0; b--) {
    left += part;
    double d = b == MASS_BINS - 1 ? diameter_at(o, 1) : 0;
    for (;; d = 0) {
      if (d == 0) d = diameter_at(o, (b + tl_random_next(&random)) / MASS_BINS);
      double v = 0.5235987755982988 * d * d * d;
      if (left < 0.5 * v && m->count > 0) break; /* the coarsest grain is always there */
      left -= v;
      TL_TRY(TL_RESERVE(m->shapes, m->shape_capacity, (size_t)m->count + 1));
      TlRandom own = {o->seed, 0x5a9e00000u + (uint64_t)m->count, 0};
      tl_phantom_shape_make(&m->shapes[m->count++], random_kind(d, o, &own), d, &own);
    }
  }
  return TL_OK;
}

/* Exactly round(fraction n) of them, those with the least random number; the coarse ones are never
 * heavy minerals. */
static TlStatus choose_opaque(Making *m) {
  TL_TRY(TL_NEW(m->opaque, (size_t)m->count));
  int64_t want = (int64_t)floor(m->options->opaque * (double)m->count + 0.5);
  for (int64_t k = 0; k < want; k++) {
    int64_t best = -1;
    double least = 2;
    for (int64_t i = 0; i < m->count; i++) {
      double u = tl_random_uniform(m->options->seed, 0x0ba9e, (uint64_t)i);
      if (m->opaque[i] || u >= least || m->shapes[i].diameter > 1.4 * m->options->d50_voxels)
        continue;
      least = u;
      best = i;
    }
    if (best < 0) break;
    m->opaque[best] = true;
  }
  return TL_OK;
}

/* ---- the specimen ---- */

/* The scan's circle touches the square's sides; inside it the container's wall, then the grains. */
static double scan_radius(const TlPhantomOptions *o) {
  return 0.5 * (double)(o->nx < o->ny ? o->nx : o->ny) - 0.5;
}
static double wall_outside(const TlPhantomOptions *o) {
  return 0.94 * scan_radius(o);
}
static double wall_inside(const TlPhantomOptions *o) {
  return 0.89 * scan_radius(o);
}

/* The part of x * y * z that grains may fill. */
static double space_for_grains(double cylinder_radius, double x, double y, double z) {
  double r = cylinder_radius;
  return (r > 0 ? M_PI * r * r : x * y) * z;
}

/* The packing's box: the stack, or more where that is thinner than the grains are long. */
static TlPhantomBox box_of(const TlPhantomOptions *o) {
  double least = least_side(o);
  TlPhantomBox box = {{fmax((double)o->nx, o->disc ? 0 : least),
                       fmax((double)o->ny, o->disc ? 0 : least), fmax((double)o->nz, least)},
                      o->disc ? wall_inside(o) : 0};
  return box;
}

/* Part of the pixel within the radius of the axis, by 8 x 8 points. */
static double pixel_inside(double dx, double dy, double radius) {
  double r = hypot(dx, dy);
  if (r < radius - 1) return 1;
  if (r > radius + 1) return 0;
  int inside = 0;
  for (int i = 0; i < 64; i++)
    inside += hypot(dx + (i % 8 - 3.5) / 8, dy + (i / 8 - 3.5) / 8) <= radius;
  return inside / 64.0;
}

static TlStatus make_background(Making *m) {
  const TlPhantomOptions *o = m->options;
  TL_TRY(tl_volume_new(&m->grey, TL_F32, o->nx, o->ny, o->nz));
  for (int k = 0; k < 3; k++) m->grey.voxel_m[k] = o->voxel_m;
  const int64_t area = o->nx * o->ny;
  double cx = 0.5 * (double)(o->nx - 1), cy = 0.5 * (double)(o->ny - 1);
  for (int64_t i = 0; i < area; i++) {
    double wall = 0, dx = (double)(i % o->nx) - cx, dy = (double)(i / o->nx) - cy;
    if (o->disc)
      wall = pixel_inside(dx, dy, wall_outside(o)) - pixel_inside(dx, dy, wall_inside(o));
    m->grey.f32[i] = (float)(TL_PHANTOM_VOID + wall * (TL_PHANTOM_WALL - TL_PHANTOM_VOID));
  }
  for (int64_t z = 1; z < o->nz; z++)
    memcpy(m->grey.f32 + z * area, m->grey.f32, (size_t)area * sizeof *m->grey.f32);
  return TL_OK;
}

/* A reconstruction knows nothing outside its circle: those voxels are 0 there. */
static void blank_outside(const TlPhantomOptions *o, TlVolume *stack) {
  double cx = 0.5 * (double)(o->nx - 1), cy = 0.5 * (double)(o->ny - 1);
  for (int64_t i = 0; o->disc && i < tl_volume_count(stack); i++) {
    double dx = (double)(i % o->nx) - cx, dy = (double)(i / o->nx % o->ny) - cy;
    if (hypot(dx, dy) > scan_radius(o)) stack->u16[i] = 0;
  }
}

/* ---- pieces: the grains and their periodic images that reach into the stack ---- */

static TlStatus make_pieces(Making *m) {
  const TlPhantomOptions *o = m->options;
  int side = m->box.cylinder_radius > 0 ? 0 : 1;
  for (int64_t i = 0; i < m->count; i++)
    for (int k = 0; k < 27; k++) {
      int dx = k % 3 - 1, dy = k / 3 % 3 - 1, dz = k / 9 - 1;
      if (abs(dx) > side || abs(dy) > side) continue;
      TlVec3 c = m->poses[i].position; /* the box starts half a voxel before the first centre */
      c = tl_vec3(c.x - 0.5 + dx * m->box.size[0], c.y - 0.5 + dy * m->box.size[1],
                  c.z - 0.5 + dz * m->box.size[2]);
      double r = m->shapes[i].radius + 3;
      if (!(c.x + r > -0.5 && c.y + r > -0.5 && c.z + r > -0.5 && c.x - r < (double)o->nx - 0.5 &&
            c.y - r < (double)o->ny - 0.5 && c.z - r < (double)o->nz - 0.5))
        continue; /* does not reach into the stack */
      double level = m->opaque[i] ? TL_PHANTOM_OPAQUE : TL_PHANTOM_SOLID;
      level += o->grey_sd * tl_random_normal(o->seed, 0x93e7, (uint64_t)i);
      TL_TRY(TL_RESERVE(m->pieces, m->piece_capacity, m->piece_count + 1));
      TL_TRY(TL_RESERVE(m->piece_shape, m->index_capacity, m->piece_count + 1));
      TL_TRY(TL_RESERVE(m->piece_image, m->image_capacity, m->piece_count + 1));
      m->piece_shape[m->piece_count] = i;
      m->piece_image[m->piece_count] = k;
      m->pieces[m->piece_count++] =
          (TlPhantomPiece){&m->shapes[i], c, tl_quat_matrix(m->poses[i].rotation), (float)level};
    }
  TL_TRY(TL_NEW(m->sums, m->piece_count));
  for (size_t k = 0; k < m->piece_count; k++) {
    TlVec3 c = m->pieces[k].centre;
    m->sums[k].origin[0] = (int64_t)floor(c.x + 0.5);
    m->sums[k].origin[1] = (int64_t)floor(c.y + 0.5);
    m->sums[k].origin[2] = (int64_t)floor(c.z + 0.5);
  }
  return TL_OK;
}

/* ---- truth ---- */

/* Sub-samples are cubes of a quarter voxel: each adds its own h^2/12 to a second moment. */
static void grain_moments(const TlPhantomSums *s, TlPhantomGrain *g) {
  double n = (double)s->count, cx = (double)s->x / n, cy = (double)s->y / n, cz = (double)s->z / n;
  double cube = 1.0 / (16 * 12);
  double xx = ((double)s->xx / n - cx * cx) / 64 + cube,
         yy = ((double)s->yy / n - cy * cy) / 64 + cube,
         zz = ((double)s->zz / n - cz * cz) / 64 + cube;
  g->volume = n / 64;
  g->centroid = tl_vec3((double)s->origin[0] + cx / 8, (double)s->origin[1] + cy / 8,
                        (double)s->origin[2] + cz / 8);
  g->inertia.xx = g->volume * (yy + zz);
  g->inertia.yy = g->volume * (xx + zz);
  g->inertia.zz = g->volume * (xx + yy);
  g->inertia.xy = -g->volume * ((double)s->xy / n - cx * cy) / 64;
  g->inertia.xz = -g->volume * ((double)s->xz / n - cx * cz) / 64;
  g->inertia.yz = -g->volume * ((double)s->yz / n - cy * cz) / 64;
  TlMat3 axes;
  tl_sym_eigen(g->inertia, g->principal, &axes);
}

/* Pieces that own nothing get no label; the labels of the others close up. label_of: by piece + 1,
 * zeroed. */
static TlStatus make_truth(Making *m, uint32_t *label_of, TlPhantom *phantom) {
  TL_TRY(TL_NEW(phantom->grains, m->piece_count));
  double solid = 0;
  for (size_t k = 0; k < m->piece_count; k++) {
    if (m->sums[k].count == 0) continue;
    TlPhantomGrain *g = &phantom->grains[phantom->grain_count++];
    int64_t i = m->piece_shape[k];
    g->label = label_of[k + 1] = (uint32_t)phantom->grain_count;
    g->body = i;
    for (int a = 0, image = m->piece_image[k]; a < 3; a++, image /= 3) g->cell[a] = image % 3 - 1;
    g->kind = m->shapes[i].kind;
    g->border = m->sums[k].border > 0;
    g->opaque = m->opaque[i];
    g->grey = (double)m->pieces[k].grey;
    g->whole_diameter = m->shapes[i].diameter;
    grain_moments(&m->sums[k], g);
    solid += g->volume;
  }
  const TlVolume *l = &phantom->labels;
  phantom->solid_fraction =
      solid / space_for_grains(m->box.cylinder_radius, (double)l->nx, (double)l->ny, (double)l->nz);
  const int64_t count = tl_volume_count(&phantom->labels);
  for (int64_t i = 0; i < count; i++) phantom->labels.u32[i] = label_of[phantom->labels.u32[i]];
  return TL_OK;
}

/* ---- contacts ---- */

static int compare_u64(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

typedef struct Pairs {
  uint64_t *key;
  size_t count, capacity;
} Pairs;

static TlStatus add_pair(Pairs *pairs, uint32_t a, uint32_t b) {
  if (a == b || a == 0 || b == 0) return TL_OK;
  uint64_t key = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
  if (pairs->count > 0 && pairs->key[pairs->count - 1] == key) return TL_OK;
  TL_TRY(TL_RESERVE(pairs->key, pairs->capacity, pairs->count + 1));
  pairs->key[pairs->count++] = key;
  return TL_OK;
}

static TlStatus count_contacts(const TlVolume *labels, int64_t *contacts) {
  Pairs pairs = {0};
  const int64_t step[3] = {1, labels->nx, labels->nx * labels->ny};
  TlStatus status = TL_OK;
  for (int64_t z = 0; z < labels->nz; z++)
    for (int64_t y = 0; y < labels->ny; y++)
      for (int64_t x = 0; x < labels->nx && status == TL_OK; x++) {
        int64_t i = tl_volume_at(labels, x, y, z);
        const uint32_t *l = labels->u32 + i;
        if (*l == 0) continue;
        if (x + 1 < labels->nx) status = add_pair(&pairs, *l, l[step[0]]);
        if (status == TL_OK && y + 1 < labels->ny) status = add_pair(&pairs, *l, l[step[1]]);
        if (status == TL_OK && z + 1 < labels->nz) status = add_pair(&pairs, *l, l[step[2]]);
      }
  *contacts = 0;
  if (pairs.count > 0) qsort(pairs.key, pairs.count, sizeof *pairs.key, compare_u64);
  for (size_t k = 0; k < pairs.count; k++) *contacts += k == 0 || pairs.key[k] != pairs.key[k - 1];
  tl_free(pairs.key);
  return status;
}

/* ---- surface ---- */

#define SURFACE_DENSITY 0.5 /* points a square voxel */

typedef struct Points {
  TlPhantomPoint *point;
  size_t count, capacity;
} Points;

typedef struct Surfacing {
  const Making *making;
  const TlPhantomField *field;
  const TlPhantom *phantom;
  const uint32_t *label_of; /* by piece + 1 */
  Points *of;               /* by label */
} Surfacing;

static TlStatus surface_of(void *context, int64_t begin, int64_t end, int64_t block, int thread) {
  (void)block, (void)thread, (void)end;
  const Surfacing *s = context;
  uint32_t label = s->label_of[begin + 1];
  if (label == 0 || s->phantom->grains[label - 1].border) return TL_OK;
  Points *p = &s->of[label];
  return tl_phantom_surface(s->field, begin, label, SURFACE_DENSITY, s->making->options->seed,
                            &p->point, &p->count, &p->capacity);
}

static TlStatus make_surface(const Making *m, const TlPhantomField *field, const uint32_t *label_of,
                             TlPhantom *phantom) {
  Surfacing s = {m, field, phantom, label_of, NULL};
  TL_TRY(TL_NEW(s.of, (size_t)phantom->grain_count + 1));
  TlStatus status = tl_par_blocks(field->piece_count, 1, surface_of, &s);
  for (int64_t l = 1; l <= phantom->grain_count; l++) phantom->surface_count += s.of[l].count;
  if (status == TL_OK) status = TL_NEW(phantom->surface, phantom->surface_count);
  size_t at = 0;
  for (int64_t l = 1; status == TL_OK && l <= phantom->grain_count; l++) {
    if (s.of[l].count == 0) continue;
    memcpy(phantom->surface + at, s.of[l].point, s.of[l].count * sizeof *phantom->surface);
    at += s.of[l].count;
  }
  for (int64_t l = 0; l <= phantom->grain_count; l++) tl_free(s.of[l].point);
  tl_free(s.of);
  return status;
}

/* ---- all together ---- */

static TlStatus assemble(Making *m, TlPhantom *phantom) {
  const TlPhantomOptions *o = m->options;
  const double *size = m->box.size;
  double volume = space_for_grains(m->box.cylinder_radius, size[0], size[1], size[2]);
  TL_TRY(choose_grains(m, PACK_DENSER * o->solid_fraction * volume));
  TL_TRY(choose_opaque(m));
  TL_TRY(TL_NEW(m->poses, (size_t)m->count));
  TL_TRY(tl_phantom_pack(&m->box, m->shapes, m->count, o->seed, m->poses, &phantom->deepest_cut));
  for (int64_t i = 0; i < m->count; i++) {
    TlRandom own = {o->seed, 0x409600000u + (uint64_t)i, 0};
    tl_phantom_shape_roughen(&m->shapes[i], o->roughness_voxels, o->roughness_length_voxels, &own);
  }
  return make_pieces(m);
}

/* The grains are put in once to know the pores, and again over water where there is some. */
static TlStatus fill(Making *m, const TlPhantomField *field, TlPhantom *phantom) {
  const TlPhantomOptions *o = m->options;
  TlVolume part;
  TL_TRY(tl_phantom_fill(field, &m->grey, &phantom->labels, m->sums));
  if (!o->water) return TL_OK;
  TL_TRY(tl_phantom_water(&phantom->labels, m->box.cylinder_radius, o->water, o->water_saturation,
                          &part, &phantom->water_saturation));
  tl_volume_free(&m->grey);
  TlStatus status = make_background(m);
  for (int64_t i = 0; status == TL_OK && i < tl_volume_count(&part); i++)
    m->grey.f32[i] += part.f32[i] * ((float)o->water_grey - m->grey.f32[i]);
  tl_volume_free(&part);
  for (size_t k = 0; k < m->piece_count; k++) {
    TlPhantomSums *s = &m->sums[k];
    *s = (TlPhantomSums){.origin = {s->origin[0], s->origin[1], s->origin[2]}};
  }
  return status == TL_OK ? tl_phantom_fill(field, &m->grey, &phantom->labels, m->sums) : status;
}

static TlStatus voxelise(Making *m, TlPhantom *phantom) {
  const TlPhantomOptions *o = m->options;
  TL_TRY(make_background(m));
  TL_TRY(tl_volume_like(&phantom->labels, &m->grey, TL_U32));
  TlPhantomField field = {m->pieces,
                          (int64_t)m->piece_count,
                          0,
                          {0.5 * (double)(o->nx - 1), 0.5 * (double)(o->ny - 1)},
                          m->box.cylinder_radius};
  TL_TRY(tl_phantom_find_offset(&field, &m->grey, o->solid_fraction));
  phantom->offset = field.offset;
  TL_TRY(fill(m, &field, phantom));
  uint32_t *label_of;
  TL_TRY(TL_NEW(label_of, m->piece_count + 1));
  TlStatus status = make_truth(m, label_of, phantom);
  if (status == TL_OK && o->keep_surface) status = make_surface(m, &field, label_of, phantom);
  tl_free(label_of);
  return status == TL_OK ? count_contacts(&phantom->labels, &phantom->contacts) : status;
}

TlStatus tl_phantom_scan(const TlPhantom *phantom, const TlPhantomOptions *options, double noise_sd,
                         int scan, TlVolume *out) {
  uint64_t seed = options->seed + 0x9e3779b97f4a7c15u * (uint64_t)scan;
  TL_TRY(tl_phantom_noise(&phantom->ideal, &options->faults, noise_sd, seed, out));
  blank_outside(options, out);
  return TL_OK;
}

static TlStatus picture(Making *m, TlPhantom *phantom) {
  const TlPhantomOptions *o = m->options;
  if (o->specks > 0)
    tl_phantom_specks(&m->grey, &phantom->labels, o->specks, TL_PHANTOM_OPAQUE, o->seed);
  TL_TRY(tl_phantom_blur(&m->grey, o->blur_sigma, o->periodic));
  phantom->ideal = m->grey;
  m->grey = (TlVolume){0};
  TL_TRY(tl_phantom_scan(phantom, o, o->noise_sd, 0, &phantom->stack));
  if (!o->keep_clean) return TL_OK;
  TL_TRY(tl_phantom_noise(&phantom->ideal, NULL, 0, o->seed, &phantom->clean));
  blank_outside(o, &phantom->clean);
  return TL_OK;
}

TlStatus tl_phantom_make(const TlPhantomOptions *options, TlPhantom *phantom) {
  *phantom = (TlPhantom){0};
  TL_TRY(check_options(options));
  Making m = {.options = options, .box = box_of(options)};
  phantom->cylinder_radius = m.box.cylinder_radius;
  TlStatus status = assemble(&m, phantom);
  if (status == TL_OK) status = voxelise(&m, phantom);
  if (status == TL_OK) status = picture(&m, phantom);
  tl_free(m.shapes);
  tl_free(m.poses);
  tl_free(m.pieces);
  tl_free(m.piece_shape);
  tl_free(m.piece_image);
  tl_free(m.sums);
  tl_free(m.opaque);
  tl_volume_free(&m.grey);
  if (status != TL_OK) tl_phantom_free(phantom);
  return status;
}

void tl_phantom_free(TlPhantom *phantom) {
  tl_volume_free(&phantom->stack);
  tl_volume_free(&phantom->clean);
  tl_volume_free(&phantom->labels);
  tl_volume_free(&phantom->ideal);
  tl_free(phantom->grains);
  tl_free(phantom->surface);
  *phantom = (TlPhantom){0};
}

/* ---- copies side by side ---- */

void tl_phantom_tile(const TlPhantom *phantom, const TlPhantomOptions *options,
                     const int64_t tiles[3], int64_t z, int64_t count, uint16_t *out) {
  const TlVolume *tile = &phantom->ideal;
  TlVolume head = {.nx = tile->nx * tiles[0], .ny = tile->ny * tiles[1], .nz = tile->nz * tiles[2]};
  tl_phantom_noise_tiled(tile, &head, &options->faults, options->noise_sd, options->seed, z, count,
                         out);
}

/* A grain of the large stack is a shape in a cell of the lattice; cells are -1 to n along an axis.
 */
static int64_t lattice_place(const TlPhantomGrain *g, const int64_t tiles[3], const int64_t t[3]) {
  int64_t at = g->body;
  for (int a = 0; a < 3; a++) at = at * (tiles[a] + 2) + t[a] - g->cell[a] + 1;
  return at;
}

TlStatus tl_phantom_tile_grains(const TlPhantom *phantom, const int64_t tiles[3], int64_t *grains) {
  int64_t bodies = 0, t[3];
  for (int64_t k = 0; k < phantom->grain_count; k++)
    if (phantom->grains[k].body >= bodies) bodies = phantom->grains[k].body + 1;
  int64_t places = bodies * (tiles[0] + 2) * (tiles[1] + 2) * (tiles[2] + 2);
  char *there;
  TL_TRY(TL_NEW(there, (size_t)places));
  for (t[2] = 0; t[2] < tiles[2]; t[2]++)
    for (t[1] = 0; t[1] < tiles[1]; t[1]++)
      for (t[0] = 0; t[0] < tiles[0]; t[0]++)
        for (int64_t k = 0; k < phantom->grain_count; k++)
          there[lattice_place(&phantom->grains[k], tiles, t)] = 1;
  *grains = 0;
  for (int64_t i = 0; i < places; i++) *grains += there[i];
  tl_free(there);
  return TL_OK;
}

/* ---- files ---- */

TlStatus tl_phantom_write_truth(const TlPhantom *phantom, const char *path, bool overwrite) {
  TlOutFile out;
  TL_TRY(tl_outfile_begin(&out, path, overwrite));
  FILE *f = fopen(out.temp, "w");
  bool fine = f != NULL;
  if (f) {
    fprintf(f, "label,body,border,grey,volume,cz,cy,cx,Izz,Iyy,Ixx,Iyx,Izx,Izy,I1,I2,I3,kind,"
               "opaque\n");
    for (int64_t i = 0; i < phantom->grain_count; i++) {
      const TlPhantomGrain *g = &phantom->grains[i];
      const TlSym3 *t = &g->inertia;
      fprintf(f, "%u,%lld,%d,%.3f,%.4f,%.5f,%.5f,%.5f,", g->label, (long long)g->body, g->border,
              g->grey, g->volume, g->centroid.z, g->centroid.y, g->centroid.x);
      fprintf(f, "%.3f,%.3f,%.3f,%.3f,%.3f,%.3f,", t->zz, t->yy, t->xx, t->xy, t->xz, t->yz);
      fprintf(f, "%.3f,%.3f,%.3f,%s,%d\n", g->principal[0], g->principal[1], g->principal[2],
              tl_grain_kind_name(g->kind), g->opaque);
    }
    fine = !ferror(f);
    if (fclose(f) != 0) fine = false;
  }
  TlStatus status = fine ? tl_outfile_commit(&out) : tl_fail_errno(path, "cannot write");
  tl_outfile_abort(&out);
  return status;
}

TlStatus tl_phantom_write_surface(const TlPhantom *phantom, const char *path, bool overwrite) {
  float *record;
  const size_t n = phantom->surface_count;
  TL_TRY(TL_NEW(record, 7 * n));
  for (size_t i = 0; i < n; i++) {
    const TlPhantomPoint *p = &phantom->surface[i];
    const float r[7] = {(float)p->label, p->z, p->y, p->x, p->nz, p->ny, p->nx};
    memcpy(record + 7 * i, r, sizeof r);
  }
  TlStatus status = tl_file_write(path, record, 28 * n, overwrite);
  tl_free(record);
  return status;
}
