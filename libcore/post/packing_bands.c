#include "post/packing_write.h"

#include "base/mem.h"
#include "io/vtk.h"
#include "post/packing_plot.h"
#include "post/bands.h"
#include "post/packing_fabric.h"
#include "post/packing_forces.h"

#include <stdio.h>

typedef struct Job {
  const TlPackWriting *to;
  const TlPacking *packing;
  const TlRegion *region;
  const TlPackingOptions *options;
  TlFigures *figures; /* of this table only */
  TlBands bands;
} Job;

/* ---- a line a grain ---- */

static TlStatus put_grains(TlCsv *csv, const Job *j) {
  const TlBands *b = &j->bands;
  for (int64_t i = 0; i < j->packing->grain_count; i++) {
    const TlPackGrain *g = &j->packing->grain[i];
    const double row[] = {(double)g->id,
                          g->centre_m.x,
                          g->centre_m.y,
                          g->centre_m.z,
                          b->angle_rad[i] * TL_DEG,
                          b->band[TL_BAND_ROTATION].found && b->in[TL_BAND_ROTATION][i],
                          b->strain.deviatoric[i],
                          b->strain.volumetric[i],
                          b->band[TL_BAND_STRAIN].found && b->in[TL_BAND_STRAIN][i],
                          b->band[TL_BAND_JOINT].found && b->in[TL_BAND_JOINT][i]};
    TL_TRY(tl_csv_row(csv, row, sizeof row / sizeof *row));
  }
  return TL_OK;
}

static TlStatus write_grains(const Job *j) {
  TlCsv csv;
  TL_TRY(tl_pack_begin(j->to, "rotations.csv",
                       "id,x_m,y_m,z_m,rotation_deg,in_band,deviatoric_strain,volumetric_strain,"
                       "in_strain_band,in_joint_band",
                       &csv));
  return tl_pack_finish(&csv, put_grains(&csv, j));
}

/* The file's arrays hold NaN where nothing is known: ParaView has a colour for that. */
static TlStatus write_points(const Job *j, const char *path, double *point, int64_t *id) {
  const TlBands *b = &j->bands;
  int64_t n = j->packing->grain_count;
  for (int64_t i = 0; i < n; i++) {
    TlVec3 x = j->packing->grain[i].centre_m;
    point[3 * i] = x.x, point[3 * i + 1] = x.y, point[3 * i + 2] = x.z;
    id[i] = j->packing->grain[i].id;
  }
  const TlVtkArray array[] = {{"id", TL_VTK_I64, 1, id},
                              {"rotation_rad", TL_VTK_F64, 1, b->angle_rad},
                              {"deviatoric_strain", TL_VTK_F64, 1, b->strain.deviatoric},
                              {"volumetric_strain", TL_VTK_F64, 1, b->strain.volumetric},
                              {"in_band", TL_VTK_U8, 1, b->in[TL_BAND_ROTATION]},
                              {"in_strain_band", TL_VTK_U8, 1, b->in[TL_BAND_STRAIN]},
                              {"in_joint_band", TL_VTK_U8, 1, b->in[TL_BAND_JOINT]}};
  const TlVtkPoly poly = {.point_count = n,
                          .point = point,
                          .point_arrays = sizeof array / sizeof *array,
                          .point_array = array};
  return tl_vtk_write_poly(path, j->to->overwrite, &poly);
}

static TlStatus write_vtk(const Job *j) {
  size_t n = (size_t)j->packing->grain_count;
  double *point = NULL;
  int64_t *id = NULL;
  char *path = tl_path_join(j->to->folder, "local_strain.vtp");
  TlStatus status = path ? TL_NEW(point, 3 * n) : TL_ENOMEM;
  if (status == TL_OK) status = TL_NEW(id, n);
  if (status == TL_OK) status = write_points(j, path, point, id);
  tl_free(point);
  tl_free(id);
  tl_free(path);
  return status;
}

/* ---- figures ---- */

static TlStatus add(const Job *j, const char *before, const char *name, double value,
                    const char *unit, const char *source) {
  char text[64];
  snprintf(text, sizeof text, "%s_%s", before, name);
  return tl_figures_add(j->figures, text, value, unit, source);
}

static TlStatus add_plane(const Job *j, TlBandKind kind) {
  static const char *const before[] = {"band_rotation", "band_strain", "band_joint"};
  static const char how[] = "Tan 2022 4.6.3: plane by total least squares";
  const TlBand *b = &j->bands.band[kind];
  bool there = b->found;
  TL_TRY(add(j, before[kind], "grains", there ? (double)b->kept : 0, "", how));
  TL_TRY(add(j, before[kind], "inclination", there ? b->inclination_deg : NAN, "deg",
             "of the plane to the horizontal"));
  TL_TRY(add(j, before[kind], "thickness", there ? b->thickness_m : NAN, "m",
             "2 sqrt(3) times the rms distance"));
  return add(j, before[kind], "thickness_d50", there ? b->thickness_d50 : NAN, "", "over D50");
}

static TlStatus add_theories(const Job *j) {
  double phi = j->options->friction_deg, psi = j->options->dilatancy_deg;
  const TlBand *b = tl_bands_best(&j->bands);
  TL_TRY(tl_figures_add(j->figures, "band_inclination", b ? b->inclination_deg : NAN, "deg",
                        "joint plane, else that of rotations, else that of strains"));
  if (isnan(phi) && isnan(psi)) return TL_OK;
  TL_TRY(tl_figures_add(j->figures, "roscoe_inclination", 45 + 0.5 * psi, "deg",
                        "Tan 2022 Eq. 4.24: 45 + psi/2"));
  TL_TRY(tl_figures_add(j->figures, "coulomb_inclination", 45 + 0.5 * phi, "deg", "45 + phi/2"));
  return tl_figures_add(j->figures, "arthur_inclination", 45 + 0.25 * (phi + psi), "deg",
                        "45 + (phi + psi)/4");
}

static TlStatus add_fabric(const Job *j, const char *side, const TlRegion *part) {
  TlVec3 g = j->packing->gravity_m_s2, up = tl_norm2(g) > 0 ? tl_unit(g) : tl_vec3(0, 0, 1);
  for (int kind = 0; kind < TL_FABRIC_KINDS; kind++) {
    TlVec3 *direction;
    int64_t n;
    char name[64];
    TL_TRY(tl_fabric_directions(j->packing, part, (TlFabricKind)kind, &direction, &n));
    TlFabric f = tl_fabric_of(direction, n);
    tl_free(direction);
    snprintf(name, sizeof name, "%s_%s", side, tl_fabric_names[kind]);
    TL_TRY(add(j, name, "count", (double)n, "", "directions"));
    TL_TRY(add(j, name, "anisotropy", f.anisotropy, "", "Tan 2022 Eqs. 4.6-4.10, mended"));
    TL_TRY(add(j, name, "major_from_vertical",
               n ? acos(fmin(1, fabs(tl_dot(f.major, up)))) * TL_DEG : NAN, "deg",
               "angle of the direction where E(n) is largest"));
  }
  return TL_OK;
}

static TlStatus add_forces(const Job *j, const char *side, const TlRegion *part) {
  TlForces f = tl_forces_of(j->packing, part);
  TL_TRY(add(j, side, "pairs", (double)f.pairs, "", "of touching grains"));
  TL_TRY(add(j, side, "mean_normal_force", f.mean_N, "N", "over these pairs"));
  TL_TRY(add(j, side, "strong_share", f.strong_fraction, "", "F_n above their mean"));
  TL_TRY(add(j, side, "strong_exponent", f.beta, "", "exp(-beta f)"));
  TL_TRY(add(j, side, "weak_exponent", f.alpha, "", "f^alpha"));
  TL_TRY(add(j, side, "sliding_share", f.sliding, "", "F_t >= 0.99 mu F_n"));
  TL_TRY(add(j, side, "sliding_share_strong", f.sliding_strong, "", "of the strong"));
  return add(j, side, "sliding_share_weak", f.sliding_weak, "", "of the weak");
}

static TlStatus add_grains(const Job *j, const char *side, const TlRegion *part) {
  double turn = 0, strain = 0;
  int64_t grains = 0, turned = 0, strained = 0;
  for (int64_t i = 0; i < j->packing->grain_count; i++) {
    if (!tl_packing_in(j->packing, part, i)) continue;
    grains++;
    if (!isnan(j->bands.angle_rad[i])) turn += j->bands.angle_rad[i], turned++;
    if (!isnan(j->bands.strain.deviatoric[i])) strain += j->bands.strain.deviatoric[i], strained++;
  }
  TL_TRY(add(j, side, "grains", (double)grains, "", "by their centres"));
  TL_TRY(add(j, side, "mean_rotation", turned ? turn / (double)turned * TL_DEG : NAN, "deg", ""));
  return add(j, side, "mean_deviatoric_strain", strained ? strain / (double)strained : NAN, "",
             "local, Delaunay");
}

static TlStatus add_sides(const Job *j, const TlBand *band) {
  static const char *const name[] = {"inside", "outside"};
  for (int k = 0; k < 2; k++) {
    TlRegion part = tl_band_region(band, j->region, k == 0 ? 1 : -1);
    TL_TRY(add_grains(j, name[k], &part));
    TL_TRY(add_fabric(j, name[k], &part));
    TL_TRY(add_forces(j, name[k], &part));
  }
  return TL_OK;
}

static TlStatus add_all(const Job *j) {
  const TlBand *best = tl_bands_best(&j->bands);
  for (int kind = 0; kind < TL_BAND_KINDS; kind++) TL_TRY(add_plane(j, (TlBandKind)kind));
  TL_TRY(add_theories(j));
  return best ? add_sides(j, best) : TL_OK;
}

/* ---- histograms inside and outside ---- */

static TlStatus put_fabric(TlCsv *csv, const Job *j, const TlBand *band) {
  for (int inside = 1; inside >= 0; inside--)
    for (int kind = 0; kind < TL_FABRIC_KINDS; kind++) {
      TlRegion part = tl_band_region(band, j->region, inside ? 1 : -1);
      double lead = inside;
      TlVec3 *direction;
      int64_t n;
      TL_TRY(tl_fabric_directions(j->packing, &part, (TlFabricKind)kind, &direction, &n));
      TlStatus status = tl_pack_put_cells(csv, &lead, 1, kind, direction, n);
      tl_free(direction);
      TL_TRY(status);
    }
  return TL_OK;
}

static TlStatus put_forces(TlCsv *csv, const Job *j, const TlBand *band) {
  for (int inside = 1; inside >= 0; inside--) {
    TlRegion part = tl_band_region(band, j->region, inside ? 1 : -1);
    int64_t count[TL_FORCES_BINS];
    double all = (double)tl_forces_of(j->packing, &part).pairs * TL_FORCES_BIN;
    tl_forces_histogram(j->packing, &part, count);
    for (int k = 0; k < TL_FORCES_BINS; k++) {
      const double row[] = {inside, k * TL_FORCES_BIN,
                            k + 1 < TL_FORCES_BINS ? (k + 1) * TL_FORCES_BIN : NAN,
                            (double)count[k], all > 0 ? (double)count[k] / all : NAN};
      TL_TRY(tl_csv_row(csv, row, 5));
    }
  }
  return TL_OK;
}

static TlStatus write_sides(const Job *j, const TlBand *band) {
  TlCsv csv;
  TL_TRY(tl_pack_begin(j->to, "fabric_band.csv", "inside," TL_PACK_CELL_COLUMNS, &csv));
  TL_TRY(tl_pack_finish(&csv, put_fabric(&csv, j, band)));
  TL_TRY(
      tl_pack_begin(j->to, "forces_band.csv", "inside,force_low,force_high,count,density", &csv));
  return tl_pack_finish(&csv, put_forces(&csv, j, band));
}

static TlStatus draw(const Job *j, const TlBand *band) {
  TL_TRY(tl_band_plot(j->packing, &j->bands, j->to->folder, j->to->overwrite));
  if (!band) return TL_OK;
  const TlRegion part[2] = {tl_band_region(band, j->region, 1),
                            tl_band_region(band, j->region, -1)};
  const char *const name[2] = {"inside the band", "outside"};
  return tl_fabric_plot(j->packing, part, name, 2, j->to->folder, "fabric_band.png",
                        j->to->overwrite);
}

static TlStatus write_figures(const Job *j, TlFigures *all) {
  char *path = tl_path_join(j->to->folder, "band.csv");
  TlStatus status = path ? tl_figures_write(j->figures, path, j->to->overwrite) : TL_ENOMEM;
  tl_free(path);
  for (int64_t i = 0; i < j->figures->count && status == TL_OK; i++) {
    const TlFigure *f = &j->figures->item[i];
    if (!tl_figures_has(all, f->name))
      status = tl_figures_add(all, f->name, f->value, f->unit, f->source);
  }
  return status;
}

static TlStatus write_all(const Job *j, TlFigures *all) {
  const TlBand *best = tl_bands_best(&j->bands);
  TL_TRY(write_grains(j));
  TL_TRY(write_vtk(j));
  TL_TRY(add_all(j));
  TL_TRY(write_figures(j, all));
  if (best) TL_TRY(write_sides(j, best));
  return j->options->plot ? draw(j, best) : TL_OK;
}

TlStatus tl_packing_bands(const TlPackWriting *to, const TlPacking *packing, const TlRegion *region,
                          const TlPackingOptions *options, TlFigures *figures, TlBand *best) {
  TlFigures own = {0};
  Job j = {.to = to, .packing = packing, .region = region, .options = options, .figures = &own};
  TL_TRY(tl_bands_of(packing, region, &j.bands));
  TlStatus status = write_all(&j, figures);
  const TlBand *found = tl_bands_best(&j.bands);
  *best = found ? *found : (TlBand){.found = false};
  tl_bands_free(&j.bands);
  tl_figures_free(&own);
  return status;
}
