#include "post/bands.h"

#include "base/mem.h"

const char *const tl_band_names[TL_BAND_KINDS] = {"rotation", "strain", "joint"};

void tl_bands_free(TlBands *b) {
  tl_free(b->angle_rad);
  tl_strains_free(&b->strain);
  for (int k = 0; k < TL_BAND_KINDS; k++) tl_free(b->in[k]);
  *b = (TlBands){0};
}

static void leave_out(const TlPacking *p, const TlRegion *region, TlBands *b) {
  for (int64_t i = 0; i < p->grain_count; i++)
    if (!tl_packing_in(p, region, i))
      b->angle_rad[i] = b->strain.deviatoric[i] = b->strain.volumetric[i] = NAN;
}

static TlStatus fill(const TlPacking *p, const TlRegion *region, TlBands *b) {
  const TlBandOptions o = {.dilatancy_deg = NAN};
  TlBand *joint = &b->band[TL_BAND_JOINT];
  TlBand other;
  TL_TRY(TL_NEW(b->angle_rad, (size_t)p->grain_count));
  for (int k = 0; k < TL_BAND_KINDS; k++) TL_TRY(TL_NEW(b->in[k], (size_t)p->grain_count));
  tl_band_rotations(p->first, p, b->angle_rad);
  TL_TRY(tl_strains_of(p->first, p, &b->strain));
  leave_out(p, region, b);
  *joint = (TlBand){.mean = NAN, .sd = NAN};
  tl_band_choose(b->angle_rad, p->grain_count, 0, b->in[TL_BAND_JOINT], &other);
  tl_band_choose(b->strain.deviatoric, p->grain_count, 0, b->in[TL_BAND_STRAIN], &other);
  for (int64_t i = 0; i < p->grain_count; i++) b->in[TL_BAND_JOINT][i] |= b->in[TL_BAND_STRAIN][i];
  TL_TRY(tl_band_match(p, &o, joint, b->in[TL_BAND_JOINT]));
  TL_TRY(tl_band_find(p, b->angle_rad, &o, &b->band[TL_BAND_ROTATION], b->in[TL_BAND_ROTATION]));
  return tl_band_find(p, b->strain.deviatoric, &o, &b->band[TL_BAND_STRAIN], b->in[TL_BAND_STRAIN]);
}

TlStatus tl_bands_of(const TlPacking *p, const TlRegion *region, TlBands *bands) {
  *bands = (TlBands){0};
  TlStatus status = fill(p, region, bands);
  if (status != TL_OK) tl_bands_free(bands);
  return status;
}

const TlBand *tl_bands_best(const TlBands *b) {
  static const TlBandKind order[] = {TL_BAND_JOINT, TL_BAND_ROTATION, TL_BAND_STRAIN};
  for (int k = 0; k < TL_BAND_KINDS; k++)
    if (b->band[order[k]].found) return &b->band[order[k]];
  return NULL;
}

TlRegion tl_band_region(const TlBand *band, const TlRegion *region, int side) {
  TlRegion part = *region;
  part.slab = side;
  part.slab_point = band->point_m;
  part.slab_normal = band->normal;
  part.slab_half_m = 0.5 * band->thickness_m;
  return part;
}

/* ---- the table ---- */

static double mean_of(const double *x, int64_t n) {
  double sum = 0;
  int64_t there = 0;
  for (int64_t i = 0; i < n; i++)
    if (!isnan(x[i])) sum += x[i], there++;
  return there ? sum / (double)there : NAN;
}

typedef struct Row {
  bool there; /* there is a first frame to compare with */
  double volumetric;
  TlBand strain, joint;
} Row;

static TlStatus measure(const TlPacking *p, const TlRegion *region, void *row) {
  TlBands b;
  if (!p->first) return TL_OK;
  TL_TRY(tl_bands_of(p, region, &b));
  *(Row *)row = (Row){true, mean_of(b.strain.volumetric, p->grain_count), b.band[TL_BAND_STRAIN],
                      b.band[TL_BAND_JOINT]};
  tl_bands_free(&b);
  return TL_OK;
}

#define OF(C, kind, what)                                                                          \
  C(kind##_band_grains, "", "grains in the plane of the band of " what,                            \
    row->kind.found ? (double)row->kind.kept : NAN)                                                \
  C(kind##_band_inclination_deg, "deg", "angle of that plane to the horizontal",                   \
    row->kind.found ? row->kind.inclination_deg : NAN)                                             \
  C(kind##_band_thickness_m, "m", "thickness of that band",                                        \
    row->kind.found ? row->kind.thickness_m : NAN)                                                 \
  C(kind##_band_thickness_d50, "", "the same over the median diameter",                            \
    row->kind.found ? row->kind.thickness_d50 : NAN)
#define COLUMNS(C)                                                                                 \
  C(local_strain_mean, "", "mean local deviatoric strain of the grains since the first frame",     \
    row->there ? row->strain.mean : NAN)                                                           \
  C(local_strain_sd, "", "standard deviation of these strains", row->there ? row->strain.sd : NAN) \
  C(local_volumetric_strain_mean, "", "mean local volumetric strain, compression positive",        \
    row->there ? row->volumetric : NAN)                                                            \
  C(strained_grains, "", "grains strained more than the mean and two standard deviations",         \
    row->there ? (double)row->strain.chosen : NAN)                                                 \
  OF(C, strain, "large strains")                                                                   \
  OF(C, joint, "large strains or rotations")
TL_PACK_MEASURE(strain, COLUMNS);
