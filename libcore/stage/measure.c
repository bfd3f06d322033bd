/* What a run says, as numbers. */
#include "stage/results.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "post/avaframe.h"
#include "post/ensemble_scene.h"
#include "post/fences.h"
#include "post/maps.h"
#include "post/measure.h"
#include "post/overlap.h"
#include "post/packing.h"
#include "post/triaxial_run.h"
#include "post/trajectories.h"
#include "store/scene_depth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const TlParam params[] = {
    {"cell-m", TL_P_REAL, offsetof(TlMeasureStage, cell_m), "m", "0", 0, 1e6, NULL,
     "cell of the deposit's grid; 0: twice the median grain diameter", NULL},
    {"repose-low-m", TL_P_VEC3, offsetof(TlMeasureStage, repose_low_m), "m", "0,0,0", 0, 0, NULL,
     "lower corner of a floor, z its height: angle of repose of the grains against its wall, by "
     "lines through the highest nodes of 16 x 8 cells, falling along its longer side, or that of "
     "--repose-along",
     NULL},
    {"repose-high-m", TL_P_VEC3, offsetof(TlMeasureStage, repose_high_m), "m", "0,0,0", 0, 0, NULL,
     "upper corner of that floor; the same as the lower one: no such fit", NULL},
    {"repose-along", TL_P_CHOICE, offsetof(TlMeasureStage, repose_along), "", "long", 0, 0,
     "long|x|y", "the side of that floor that the slope falls along, for floors wider than long",
     NULL},
    {"packing", TL_P_FLAG, offsetof(TlMeasureStage, packing), "", "false", 0, 0, NULL,
     "also stress, coordination, fabric, forces and force chains of each frame; the study must "
     "have "
     "kept them (frames: {contacts: true})",
     NULL},
    {"box-low-m", TL_P_VEC3, offsetof(TlMeasureStage, box_low_m), "m", "0,0,0", 0, 0, NULL,
     "with --packing: lower corner of the box to measure in; without box and cylinder all grains, "
     "in the specimen's volume of a triaxial test, else in the least box about them",
     NULL},
    {"box-high-m", TL_P_VEC3, offsetof(TlMeasureStage, box_high_m), "m", "0,0,0", 0, 0, NULL,
     "upper corner of that box", NULL},
    {"cylinder-foot-m", TL_P_VEC3, offsetof(TlMeasureStage, cylinder_foot_m), "m", "0,0,0", 0, 0,
     NULL, "with --packing: middle of one end of the cylinder to measure in", NULL},
    {"cylinder-axis-m", TL_P_VEC3, offsetof(TlMeasureStage, cylinder_axis_m), "m", "0,0,0", 0, 0,
     NULL, "from there to the middle of the other end", NULL},
    {"cylinder-radius-m", TL_P_REAL, offsetof(TlMeasureStage, cylinder_radius_m), "m", "0", 0, 1e6,
     NULL, "radius of that cylinder; 0: no cylinder", NULL},
    {"from-frame", TL_P_INT, offsetof(TlMeasureStage, from_frame), "", "-1", -1, 1e9, NULL,
     "with --packing: frame from which rotations and local strains are counted; -1: the first, "
     "with "
     "--triaxial the last before the shear begins",
     NULL},
    {"plot", TL_P_FLAG, offsetof(TlMeasureStage, plot), "", "false", 0, 0, NULL,
     "with --packing: packing.png, directions and forces of the last frame; with --triaxial: "
     "triaxial_*.png (gnuplot)",
     NULL},
    {"triaxial", TL_P_FLAG, offsetof(TlMeasureStage, triaxial), "", "false", 0, 0, NULL,
     "the curves of a triaxial test, from RUN/triaxial.csv; without --packing the frames are not "
     "read",
     NULL},
    {"strain-window", TL_P_REAL, offsetof(TlMeasureStage, strain_window), "", "0.01", 1e-6, 1, NULL,
     "with --triaxial: axial strain over which the slope for the dilatancy angle is fitted", NULL},
    {"modulus-strain", TL_P_REAL, offsetof(TlMeasureStage, modulus_strain), "", "0.001", 1e-7, 1,
     NULL, "with --triaxial: axial strain over which tangent moduli are fitted", NULL},
    {"compare", TL_P_TEXT, offsetof(TlMeasureStage, compare), "", "", 0, 0, NULL,
     "with --triaxial: laboratory curve to set beside it, with the rms difference; columns "
     "axial_strain or engineering_axial_strain (_percent), deviatoric_stress (_Pa, _kPa, _MPa), "
     "volumetric_strain, friction_angle_deg, stress_ratio and others of triaxial.csv (talus-solve "
     "--columns); draws",
     "FILE.csv"},
    {"with", TL_P_TEXTS, offsetof(TlMeasureStage, with), "", "", 0, 0, NULL,
     "with --triaxial: one more run drawn over it; with --maps, --trajectories, --fences or "
     "--avaframe: one more run over the same terrain, whose blocks are counted, too; may be given "
     "again and "
     "again",
     "RUN"},
    {"columns", TL_P_FLAG, offsetof(TlMeasureStage, columns), "", "false", 0, 0, NULL,
     "print the columns of packing.csv, with units and meaning, and stop", NULL},
    {"label", TL_P_TEXTS, offsetof(TlMeasureStage, label), "", "", 0, 0, NULL,
     "name of a curve, the run's own first, then one for each --with; default: the keys in which "
     "their studies differ",
     "TEXT"},
    {"overlap", TL_P_FLAG, offsetof(TlMeasureStage, overlap), "", "false", 0, 0, NULL,
     "also the true overlap of the grains' surfaces with each other, the walls and the ground, "
     "which nodes do not see: exact for spheres, boxes, tetrahedra and crosses, by dense samples "
     "for all others (docs/theory/contact.md)",
     NULL},
    {"overlap-frames", TL_P_TEXT, offsetof(TlMeasureStage, overlap_frames), "", "last", 0, 0, NULL,
     "with --overlap: last, all, or the number of a frame", "FRAMES"},
    {"maps", TL_P_CHOICE, offsetof(TlMeasureStage, maps), "", "none", 0, 0, "none|tif|asc",
     "also maps of the paths, stops, speeds, energies and jump heights of the blocks on the "
     "terrain's raster, as GeoTIFF with its CRS or as Esri ASCII grids",
     NULL},
    {"release-per-year", TL_P_REAL, offsetof(TlMeasureStage, release_per_year), "1/year", "0", 0,
     1e9, NULL,
     "with --maps: releases in a year (of single blocks, or of those that an ensemble releases "
     "together); gives energies and intensities of return periods of 30, 100 and 300 years; 0: as "
     "the study says (release.releases_per_year, blocks_per_year)",
     NULL},
    {"danger", TL_P_TEXT, offsetof(TlMeasureStage, danger), "", "", 0, 0, NULL,
     "with --maps: danger levels by this matrix of letters r (red), b (blue) and y (yellow) for "
     "strong, "
     "medium and weak intensity, each of events of up to 30, 100 and 300 years, as rrr/bby/byy "
     "(the Canton of Ticino's; the federal guideline of Switzerland was not compared, see "
     "docs/guide/rockfall.md)",
     "MATRIX"},
    {"avaframe", TL_P_CHOICE, offsetof(TlMeasureStage, avaframe), "", "none", 0, 0, "none|tif|asc",
     "also the blocks as simulations of AvaFrame, for its probability maps and its QGIS connector, "
     "in "
     "the folder avaframe",
     NULL},
    {"trajectories", TL_P_CHOICE, offsetof(TlMeasureStage, trajectories), "", "none", 0, 0,
     "none|gpkg|geojson|csv",
     "also where blocks went and stopped, as lines and points in the terrain's CRS, or as tables",
     NULL},
    {"fences", TL_P_TEXT, offsetof(TlMeasureStage, fences), "", "", 0, 0, NULL,
     "also what passes virtual fences, lines of a GIS file with the optional fields name and "
     "height_m: number, energies, speeds, and the height needed",
     "FILE"},
};

const TlParamTable tl_measure_table = TL_PARAM_TABLE(params, TlMeasureStage);

/* Values that do not exist (no heap, nothing moved) are left out rather than printed as nan. */
static TlStatus real(TlReport *report, const char *name, double value, const char *unit) {
  return isfinite(value) ? tl_report_real(report, name, value, unit) : TL_OK;
}

static TlStatus report_motion(TlReport *r, const TlMeasure *m, const char *folder) {
  const TlFrameMeasure *last = &m->frame[m->frame_count - 1];
  double fastest = 0, peak = 0;
  for (int64_t i = 0; i < m->frame_count; i++) {
    fastest = fmax(fastest, m->frame[i].motion.max_speed_m_s);
    peak = fmax(peak, m->frame[i].translational_J + m->frame[i].rotational_J);
  }
  TL_TRY(tl_report_int(r, "frames", m->frame_count, ""));
  TL_TRY(tl_report_int(r, "grains", last->bodies, ""));
  /* Where grains left counts in all that follows; those of older runs, which do not say it, do not. */
  TL_TRY(tl_report_int(r, "grains_gone", last->gone + m->lost, ""));
  TL_TRY(tl_report_int(r, "grains_outside", last->outside, ""));
  /* Of them nothing tells where they began: what counts from there is left out. */
  if (m->joined > 0) TL_TRY(tl_report_int(r, "grains_joined", m->joined, ""));
  if (m->joined > 0)
    tl_log_info("%lld grains came in after the first frame (poured): potential and total energy, "
                "travel and drop of the mass centre are left out; history.csv has the potential "
                "energy and the mass centre of those that are there",
                (long long)m->joined);
  if (m->lost > 0)
    tl_log_warn("%s: %lld grains of the first frame are not in the last, and the run does not say "
                "where they left (it has no departures.csv): runout, front and mass centre are "
                "without them",
                folder, (long long)m->lost);
  TL_TRY(tl_departures_report(&m->departures, tl_departures_until(&m->departures, last->step),
                              folder, r));
  TL_TRY(real(r, "time", last->time_s, "s"));
  TL_TRY(real(r, "mass", last->mass_kg, "kg"));
  TL_TRY(real(r, "largest_kinetic_energy", peak, "J"));
  TL_TRY(real(r, "last_kinetic_energy", last->translational_J + last->rotational_J, "J"));
  TL_TRY(real(r, "potential_energy_change", last->potential_J, "J"));
  TL_TRY(real(r, "largest_speed", fastest, "m/s"));
  if (last->motion.bodies > 0)
    TL_TRY(tl_report_text(r, "at_rest", last->motion.at_rest ? "yes" : "no"));
  TL_TRY(real(r, "moving_mass", 100 * last->motion.moving_fraction, "percent"));
  TL_TRY(real(r, "last_mean_speed", last->motion.mean_speed_m_s, "m/s"));
  TL_TRY(real(r, "travel_of_mass_centre", last->travel_m, "m"));
  TL_TRY(real(r, "drop_of_mass_centre", last->drop_m, "m"));
  TL_TRY(real(r, "runout_of_front", last->front_m, "m"));
  TL_TRY(real(r, "travel_angle", last->travel_angle_deg, "deg"));
  TL_TRY(real(r, "reach_angle", last->reach_angle_deg, "deg"));
  TL_TRY(real(r, "contacts_per_grain", last->contacts_per_grain, ""));
  return tl_report_int(r, "grains_without_contact", last->without_contact, "");
}

static TlStatus report_deposit(TlReport *r, const TlDeposit *d) {
  TL_TRY(real(r, "deposit_cell", d->cell_m, "m"));
  TL_TRY(real(r, "deposit_area", d->area_m2, "m2"));
  TL_TRY(real(r, "deposit_solid_volume", d->volume_m3, "m3"));
  TL_TRY(real(r, "deposit_length", d->length_m, "m"));
  TL_TRY(real(r, "deposit_breadth", d->breadth_m, "m"));
  TL_TRY(real(r, "deposit_mean_thickness", d->mean_thickness_m, "m"));
  TL_TRY(real(r, "deposit_largest_thickness", d->max_thickness_m, "m"));
  TL_TRY(real(r, "radius_of_95_percent_mass", d->radius_95_m, "m"));
  TL_TRY(real(r, "height_99th_percentile", d->height_p99_m, "m"));
  TL_TRY(real(r, "deposit_surface_slope", d->surface_deg, "deg"));
  return real(r, "angle_of_repose", d->repose_deg, "deg");
}

static TlStatus report_ground(TlReport *r, const TlScene *scene, const TlMeasure *m) {
  TL_TRY(real(r, "largest_penetration", m->largest_penetration_m, "m"));
  TL_TRY(
      real(r, "largest_penetration_of_radius", 100 * m->largest_penetration_fraction, "percent"));
  if (m->deepest_id >= 0) TL_TRY(tl_report_int(r, "deepest_grain", m->deepest_id, ""));
  TL_TRY(tl_report_int(r, "grains_deeper_than_2_percent", m->below_2_percent, ""));
  if (m->below_2_percent > 0)
    tl_log_warn(
        "%lld grains lie deeper than %g%% of their radius in what holds them%s",
        (long long)m->below_2_percent, 100 * tl_deep_fraction,
        m->small ? "; with terrain.contact: band grains smaller than a cell meet a ground that is "
                   "interpolated, not the raster's own (docs/theory/terrain.md, Limits)"
                 : "");
  if (m->unjudged > 0)
    tl_log_warn("%lld grains lie with no surface node over the terrain: how deep they are in it "
                "cannot be measured",
                (long long)m->unjudged);
  if (!scene->has_terrain) return TL_OK;
  TL_TRY(tl_report_int(r, "grains_smaller_than_a_cell", m->small, ""));
  return tl_report_int(r, "grains_not_over_terrain", m->unjudged, "");
}

/* Of the last frame. */
static TlStatus report_repose(const TlStageCall *call, const TlMeasureStage *o,
                              const TlScene *scene, const TlMeasure *m) {
  TlReport *r = call->report;
  const double *a = o->repose_low_m, *b = o->repose_high_m;
  TlFrame frame = {0};
  TlRepose repose;
  if (a[0] == b[0] && a[1] == b[1]) return TL_OK;
  TL_TRY(tl_results_read_frame(call->input[0], m->frame[m->frame_count - 1].index, &frame));
  TlStatus status = tl_measure_repose(scene, &frame,
                                      &(TlReposeOptions){.x0_m = a[0],
                                                         .y0_m = a[1],
                                                         .x1_m = b[0],
                                                         .y1_m = b[1],
                                                         .z0_m = a[2],
                                                         .along = (TlReposeSide)o->repose_along},
                                      &repose);
  tl_frame_free(&frame);
  TL_TRY(status);
  TL_TRY(real(r, "repose_mean", repose.mean_deg, "deg"));
  TL_TRY(real(r, "repose_least", repose.least_deg, "deg"));
  TL_TRY(real(r, "repose_most", repose.most_deg, "deg"));
  return tl_report_int(r, "repose_cells", repose.filled, "");
}

static TlStatus report(const TlStageCall *call, const TlMeasureStage *o, const TlScene *scene,
                       const TlMeasure *m) {
  TlReport *r = call->report;
  TL_TRY(real(r, "grain_scale", scene->grain_scale, ""));
  int64_t resumes; /* after a stop, and from which steps */
  char *steps;
  TL_TRY(tl_provenance_values(scene->provenance, "resumed_from_step", &steps, &resumes));
  TlStatus status = tl_report_int(r, "resumes", resumes, "");
  if (status == TL_OK && resumes > 0) status = tl_report_text(r, "resumed_from_steps", steps);
  tl_free(steps);
  TL_TRY(status);
  TL_TRY(report_motion(r, m, call->input[0]));
  TL_TRY(real(r, "largest_overlap", m->largest_overlap_m, "m"));
  TL_TRY(real(r, "largest_overlap_of_radius", 100 * m->largest_overlap_fraction, "percent"));
  TL_TRY(tl_report_int(r, "overlapping_pairs", m->overlapping_pairs, ""));
  if (m->has_solid) TL_TRY(report_ground(r, scene, m));
  if (m->deposit.nx) TL_TRY(report_deposit(r, &m->deposit));
  return report_repose(call, o, scene, m);
}

/* ---- the packing ---- */

static TlVec3 vector(const double x[3]) {
  return tl_vec3(x[0], x[1], x[2]);
}

/* Does the option have the value that its row gives it? */
static bool is_default(const char *name, double value) {
  for (size_t i = 0; i < sizeof params / sizeof *params; i++)
    if (strcmp(params[i].key, name) == 0) return value == strtod(params[i].def, NULL);
  return false;
}

/* *given: whether a region was. */
static TlStatus region_of(const TlMeasureStage *o, TlRegion *region, bool *given) {
  *region = (TlRegion){.low = vector(o->box_low_m),
                       .high = vector(o->box_high_m),
                       .foot = vector(o->cylinder_foot_m),
                       .axis = vector(o->cylinder_axis_m),
                       .radius_m = o->cylinder_radius_m,
                       .round = o->cylinder_radius_m > 0};
  TlVec3 size = tl_sub(region->high, region->low);
  bool box = tl_norm2(size) > 0;
  bool cylinder = region->round || tl_norm2(region->axis) > 0 || tl_norm2(region->foot) > 0;
  *given = box || cylinder;
  if (*given && !o->packing)
    return tl_fail(TL_EUSAGE, "--box-... and --cylinder-... want --packing");
  if (o->plot && !o->packing && !o->triaxial)
    return tl_fail(TL_EUSAGE, "--plot wants --packing or --triaxial");
  if (box && cylinder) return tl_fail(TL_EUSAGE, "--box-... and --cylinder-... exclude each other");
  if (box && !(size.x > 0 && size.y > 0 && size.z > 0))
    return tl_fail(TL_EUSAGE, "--box-high-m: is not above --box-low-m in all of x, y, z");
  if (cylinder && !region->round)
    return tl_fail(TL_EUSAGE, "--cylinder-radius-m: is missing, the radius of the cylinder of "
                              "--cylinder-foot-m and --cylinder-axis-m");
  if (region->round && !(tl_norm2(region->axis) > 0))
    return tl_fail(TL_EUSAGE, "--cylinder-axis-m: is missing, the vector from end to end");
  return TL_OK;
}

static TlStatus measure_frames(const TlStageCall *call, const TlMeasureStage *o,
                               const TlRegion *region, TlFigures *figures) {
  const char *run = call->input[0];
  TlScene scene;
  TlMeasure measure = {0};
  TL_TRY(tl_results_read_scene(run, &scene));
  TlStatus status = tl_measure_run(run, &scene, &(TlMeasureOptions){.cell_m = o->cell_m}, &measure);
  if (status == TL_OK && o->packing) status = tl_packing_check(run);
  if (status == TL_OK && (o->overlap || o->packing) && tl_scene_is_ensemble(&scene))
    status =
        tl_fail(TL_EINPUT,
                "%s: is an ensemble, whose blocks never meet those of other releases: --overlap "
                "and --packing say nothing of it; talus-ensemble --block writes the study of a "
                "release alone",
                run);
  if (status == TL_OK && o->overlap)
    status = tl_overlap_run(run, &scene, o->overlap_frames, call->output, call->overwrite, figures);
  if (status == TL_OK) status = tl_measure_write(&measure, call->output, call->overwrite);
  if (status == TL_OK && o->packing) {
    /* figures: the triaxial test's, if it was measured; the band's are added */
    TlPackingOptions how = {.region = region,
                            .plot = o->plot,
                            .from_frame = o->from_frame,
                            .from_s = tl_figures_get(figures, "shear_begins"),
                            .friction_deg = tl_figures_get(figures, "peak_friction_angle"),
                            .dilatancy_deg = tl_figures_get(figures, "peak_dilatancy_angle")};
    status = tl_packing_run(run, &scene, &how, call->output, call->overwrite, figures);
  }
  if (status == TL_OK) status = report(call, o, &scene, &measure);
  tl_measure_free(&measure);
  tl_scene_free(&scene);
  return status;
}

/* Of what maps, trajectories and fences of these blocks cannot show. */
static void warn_of_blocks(const TlBlocks *blocks, const char *const *run) {
  int64_t fate[TL_FATES] = {0}, other = 0, twice = tl_blocks_twice(blocks, &other);
  for (int64_t i = 0; i < blocks->count; i++) fate[blocks->block[i].end]++;
  if (fate[TL_FATE_MOVING] > 0)
    tl_log_warn("%lld of %lld blocks still moved in the last frame of their run: what they would "
                "have reached is in no map and passes no fence; a longer time.duration_s lets them "
                "come to rest",
                (long long)fate[TL_FATE_MOVING], (long long)blocks->count);
  if (fate[TL_FATE_UNRESOLVED] > 0)
    tl_log_warn("%lld of %lld blocks were frozen or taken out as unresolved, and went no farther",
                (long long)fate[TL_FATE_UNRESOLVED], (long long)blocks->count);
  if (twice > 0)
    tl_log_warn(
        "%lld blocks have the number, size and path of blocks of another run (%s has such): the "
        "same draws count twice, and the sample looks larger than it is; another seed of "
        "the study gives others",
        (long long)twice, run[other]);
}

static TlStatus measure_blocks(const TlStageCall *call, const TlMeasureStage *o,
                               TlFigures *figures) {
  static const char *const map[] = {NULL, "tif", "asc"};
  static const char *const vector[] = {NULL, "gpkg", "geojson", "csv"};
  const char **run;
  TlBlocks blocks = {0};
  TL_TRY(TL_NEW(run, (size_t)o->with.count + 1));
  run[0] = call->input[0];
  for (int64_t i = 0; i < o->with.count; i++) run[i + 1] = o->with.items[i];
  TlStatus status = TL_OK;
  for (int64_t i = 1; status == TL_OK && i <= o->with.count; i++)
    for (int64_t k = 0; status == TL_OK && k < i; k++)
      if (tl_same_file(run[k], run[i]))
        status =
            tl_fail(TL_EUSAGE,
                    "--with=%s: this run was given already; its blocks would count twice", run[i]);
  if (status == TL_OK) status = tl_blocks_read(run, o->with.count + 1, &blocks);
  if (status == TL_OK) warn_of_blocks(&blocks, run);
  if (status == TL_OK && o->maps)
    status = tl_maps_write(&blocks, run,
                           &(TlMapOptions){.folder = call->output,
                                           .extension = map[o->maps],
                                           .overwrite = call->overwrite,
                                           .release_per_year = o->release_per_year > 0
                                                                   ? o->release_per_year
                                                                   : blocks.releases_per_year,
                                           .danger = o->danger && o->danger[0] ? o->danger : NULL},
                           figures);
  if (status == TL_OK && o->trajectories)
    status = tl_trajectories_write(&blocks, run, call->output, vector[o->trajectories],
                                   call->overwrite, figures);
  if (status == TL_OK && o->fences && o->fences[0])
    status = tl_fences_write(&blocks, run, o->fences, call->output, call->overwrite, figures);
  if (status == TL_OK && o->avaframe)
    status = tl_avaframe_write(&blocks, run, call->output, map[o->avaframe], figures);
  tl_blocks_free(&blocks);
  tl_free(run);
  return status;
}

static TlStatus measure_all(const TlStageCall *call, const TlMeasureStage *o, TlFigures *figures) {
  TlRegion region;
  bool given;
  TL_TRY(region_of(o, &region, &given));
  if (!o->overlap && strcmp(o->overlap_frames, "last") != 0)
    return tl_fail(TL_EUSAGE, "--overlap-frames wants --overlap");
  if (!o->triaxial && (o->compare || o->label.count > 0))
    return tl_fail(TL_EUSAGE, "--compare and --label want --triaxial");
  if (!o->triaxial && !is_default("strain-window", o->strain_window))
    return tl_fail(TL_EUSAGE, "--strain-window wants --triaxial");
  if (!o->triaxial && !is_default("modulus-strain", o->modulus_strain))
    return tl_fail(TL_EUSAGE, "--modulus-strain wants --triaxial");
  if (!o->packing && o->from_frame >= 0) return tl_fail(TL_EUSAGE, "--from-frame wants --packing");
  bool blocks = o->maps || o->trajectories || o->avaframe || (o->fences && o->fences[0]);
  if (blocks && o->triaxial)
    return tl_fail(
        TL_EUSAGE,
        "--triaxial excludes --maps, --trajectories, --fences and --avaframe, which are of "
        "blocks on a terrain");
  if (o->release_per_year > 0 && !o->maps)
    return tl_fail(TL_EUSAGE, "--release-per-year wants --maps");
  if (o->danger && o->danger[0] && !o->maps) return tl_fail(TL_EUSAGE, "--danger wants --maps");
  if (!o->triaxial && !blocks && o->with.count > 0)
    return tl_fail(TL_EUSAGE,
                   "--with wants --triaxial, --maps, --trajectories, --fences or --avaframe");
  if (o->triaxial && o->packing) TL_TRY(tl_packing_check(call->input[0])); /* before any file */
  if (o->triaxial) {
    TlTxRun how = {.run = call->input[0],
                   .options = {.window = o->strain_window, .modulus_strain = o->modulus_strain},
                   .measured = o->compare,
                   .with = o->with.items,
                   .with_count = o->with.count,
                   .label = o->label.items,
                   .label_count = o->label.count,
                   .plot = o->plot || o->compare || o->with.count > 0};
    TL_TRY(tl_tx_run(&how, call->output, call->overwrite, figures));
  }
  if (blocks) TL_TRY(measure_blocks(call, o, figures));
  if (!o->triaxial || o->packing || o->overlap)
    TL_TRY(measure_frames(call, o, given ? &region : NULL, figures));
  for (int64_t i = 0; i < figures->count; i++) {
    const TlFigure *f = &figures->item[i];
    /* what the warning of a curve that is not level speaks of */
    bool said =
        strcmp(f->name, "critical_friction_angle") == 0 || strcmp(f->name, "softening") == 0;
    TL_TRY(said && isnan(f->value) ? tl_report_text(call->report, f->name, "none")
                                   : real(call->report, f->name, f->value, f->unit));
  }
  return tl_report_text(call->report, "output", call->output);
}

TlStatus tl_stage_measure(const TlStageCall *call, const TlMeasureStage *options) {
  TlFigures figures = {0};
  TlStatus status = measure_all(call, options, &figures);
  tl_figures_free(&figures);
  return status;
}
