#include "run/setup_release.h"

#include "num/vec.h"
#include "conf/keys.h"

#include <stdio.h>

const TlParam tl_release_params[] = {
    CHOICE(TlReleaseSetup, assembly, "as-scanned", "as-scanned|lattice|drawn|poured|from-run",
           "as-scanned: the in-situ poses of the sample; lattice: grains drawn at random, each in "
           "a cell of its own, turned at random; drawn: by size and count into a region without "
           "overlap, clear of bodies; poured: let in through the box during the run; from-run: the "
           "grains of a "
           "frame of "
           "an earlier run"),
    TEXT(TlReleaseSetup, run, "",
         "from-run: results folder of the earlier run; a path from the study's folder"),
    INT(TlReleaseSetup, frame, "-1", -1, 1e12, "from-run: number of its frame; -1: the last"),
    FLAG(TlReleaseSetup, keep_velocities, "false",
         "from-run: velocities and spins of the frame in place of velocity_m_s and none"),
    VEC3(TlReleaseSetup, position_m, "m", "0,0,0", -1e8, 1e8,
         "as-scanned: where the middle of the foot of the assembly, or of its cut, goes; z counts "
         "from the ground where there is a terrain; from-run: where the earlier run's origin goes"),
    VEC3(TlReleaseSetup, rotation_deg, "deg", "0,0,0", -360, 360,
         "as-scanned, from-run: turn about x, then y, then z"),
    FLAG(TlReleaseSetup, along_ground, "false",
         "as-scanned: tilt the assembly to stand on the slope at position_m"),
    REAL(TlReleaseSetup, clearance_m, "m", "0", 0, 1e6,
         "least gap between the grains' bounding spheres and the ground at the start; drawn: also "
         "between grains, and to boundaries"),
    REAL(TlReleaseSetup, above_ground_m, "m", "0", 0, 1e5,
         "over a terrain, of grains whose place follows the ground (as-scanned, layers, depth_m): "
         "all are lifted by this"),
    REAL(TlReleaseSetup, blocks_per_year, "1/year", "0", 0, 1e9,
         "how often blocks come from all of the area, of which those of the run are a sample: "
         "talus-measure --maps then gives return periods; 0: not known"),
    REAL(TlReleaseSetup, releases_per_year, "1/year", "0", 0, 1e9,
         "the same of releases, where several blocks start together (ensemble.blocks_together)"),
    VEC3(TlReleaseSetup, low_m, "m", "0,0,0", -1e8, 1e8,
         "lattice, drawn, poured: lower corner of the box (poured: the inlet, in which grains come "
         "at "
         "random places); lattice: its cells follow each other from this corner, and what is too "
         "narrow for one more stays empty along the faces at high_m"),
    VEC3(TlReleaseSetup, high_m, "m", "0,0,0", -1e8, 1e8,
         "lattice, drawn, poured: upper corner of the box"),
    REAL(TlReleaseSetup, spacing, "", "1.02", 1, 100,
         "lattice, poured: cell side over the largest bounding diameter"),
    INT(TlReleaseSetup, layers, "0", 0, 1e6,
        "lattice: this many layers that follow the ground, whatever low and high z; 0: fill the "
        "box"),
    INT(TlReleaseSetup, count, "0", 0, 1e12,
        "lattice: so many grains, spread evenly in plan from the lowest cells up, 0: all cells; "
        "drawn, poured: so many"),
    VEC3(TlReleaseSetup, velocity_m_s, "m/s", "0,0,0", -1e4, 1e4, "velocity at the start"),
    FLAG(TlReleaseSetup, round, "false",
         "lattice, drawn, poured: the upright cylinder inscribed in the box in place of the box"),
    REAL(
        TlReleaseSetup, depth_m, "m", "0", 0, 1e6,
        "drawn, over a terrain: centres lie up to this far above the ground, whatever low and high "
        "z; 0: fill the box"),
    FLAG(TlReleaseSetup, resize, "false",
         "drawn, with sizes: any grain of the selection, made to a diameter drawn evenly from its "
         "range; else grains that have such a diameter (at grain_scale)"),
    TEXT(
        TlReleaseSetup, polygon_file, "",
        "lattice, drawn, poured, over a terrain, in place of polygon: GIS file with release areas, "
        "a path from the study's folder; fields of a single area take the place of the keys of "
        "their names; with layers or depth_m the areas' bounds stand in for low_m and high_m"),
    INT(TlReleaseSetup, tries, "5000", 1, 1e9,
        "drawn: places and turns tried for one grain before the region counts as full"),
    REAL(TlReleaseSetup, rate_per_s, "1/s", "0", 0, 1e12,
         "poured: grains a second; 0: as many as the inlet has free cells for"),
};

static const TlParam corner_params[] = {
    REAL(TlCorner, x_m, "m", NULL, -1e8, 1e8, "x of a corner"),
    REAL(TlCorner, y_m, "m", NULL, -1e8, 1e8, "y of a corner"),
};
static const TlParam size_params[] = {
    REAL(TlSizeSetup, least_diameter_m, "m", NULL, 1e-9, 1e4,
         "least volume-equivalent diameter, as released"),
    REAL(TlSizeSetup, most_diameter_m, "m", NULL, 1e-9, 1e4, "largest"),
    INT(TlSizeSetup, count, "0", 0, 1e12, "so many grains; or mass_share"),
    REAL(
        TlSizeSetup, mass_share, "", "0", 0, 1e9,
        "in place of count: part of the mass of release.count grains, relative to the other rows'"),
};
static const TlParam cut_params[] = {
    CHOICE(TlCutSetup, kind, "none", "none|box|cylinder", "what is cut out"),
    FLAG(TlCutSetup, whole, "false",
         "only grains whose bounding sphere lies inside; else those whose centre does"),
    VEC3(TlCutSetup, low_m, "m", "0,0,0", -1e7, 1e7, "box: lower corner"),
    VEC3(TlCutSetup, high_m, "m", "0,0,0", -1e7, 1e7, "box: upper corner"),
    VEC3(TlCutSetup, foot_m, "m", "0,0,0", -1e7, 1e7, "cylinder: middle of its foot"),
    VEC3(TlCutSetup, axis, "", "0,0,1", -1e3, 1e3, "cylinder: from foot to top; made unit"),
    REAL(TlCutSetup, radius_m, "m", "0", 0, 1e7, "cylinder: its radius"),
    REAL(TlCutSetup, height_m, "m", "0", 0, 1e7, "cylinder: its length along the axis"),
};
const TlStudySection tl_release_sections[] = {
    {"polygon", offsetof(TlReleaseSetup, polygon), sizeof(TlCorner), true,
     "Lattice, drawn, poured: only cells (drawn: grains) whose middle lies inside this polygon; "
     "corners in "
     "order",
     corner_params, COUNT(corner_params), NULL, 0},
    {"sizes", offsetof(TlReleaseSetup, sizes), sizeof(TlSizeSetup), true,
     "Drawn: ranges of diameters; a grading is such a list with mass_share", size_params,
     COUNT(size_params), NULL, 0},
    {"cut", offsetof(TlReleaseSetup, cut), sizeof(TlCutSetup), false,
     "As-scanned, from-run: only the grains in a part of the space they come from, in metres and "
     "axes of the scan or of the earlier run",
     cut_params, COUNT(cut_params), NULL, 0}};
_Static_assert(COUNT(tl_release_params) == TL_RELEASE_PARAMS, "setup_release.h counts them");
_Static_assert(COUNT(tl_release_sections) == TL_RELEASE_SECTIONS, "setup_release.h counts them");

static TlStatus check_ground(const TlReleaseSetup *r, bool terrain, const TlStudy *study) {
  if (r->layers > 0 && !terrain)
    return tl_study_fail(study, TL_EINPUT, "release.layers",
                         "layers follow the ground, and this study has no terrain");
  if (r->depth_m > 0 && !terrain)
    return tl_study_fail(study, TL_EINPUT, "release.depth_m",
                         "depth counts from the ground, and this study has no terrain");
  bool follows = r->layers > 0 || r->depth_m > 0 || r->assembly == TL_ASSEMBLY_AS_SCANNED;
  if (r->above_ground_m > 0 && (!terrain || !follows))
    return tl_study_fail(study, TL_EINPUT, "release.above_ground_m",
                         terrain ? "is for grains that follow the ground: as-scanned, or with "
                                   "layers or depth_m; the heights of a box are in low_m and high_m"
                                 : "counts from the ground, and this study has no terrain");
  if (r->along_ground && !terrain)
    return tl_study_fail(study, TL_EINPUT, "release.along_ground",
                         "this study has no terrain to stand on");
  return TL_OK;
}

static TlStatus check_sizes(const TlReleaseSetup *r, const TlStudy *study) {
  const TlSizeSetup *s = r->sizes.items;
  bool by_mass = false;
  char path[64];
  for (int64_t i = 0; i < r->sizes.count; i++) {
    snprintf(path, sizeof path, "release.sizes.%lld.most_diameter_m", (long long)i);
    if (s[i].most_diameter_m < s[i].least_diameter_m)
      return tl_study_fail(study, TL_EINPUT, path, "is below least_diameter_m");
    if ((s[i].count > 0) == (s[i].mass_share > 0))
      return tl_study_fail(study, TL_EINPUT, path, "its row wants either count or mass_share");
    by_mass = by_mass || s[i].mass_share > 0;
  }
  if ((r->sizes.count == 0 || by_mass) && r->count == 0)
    return tl_study_fail(study, TL_EINPUT, "release.count", "is missing: how many grains to draw");
  return TL_OK;
}

static TlStatus check_cut(const TlReleaseSetup *r, const TlStudy *study) {
  const TlCutSetup *c = &r->cut;
  if (c->kind == TL_CUT_NONE) return TL_OK;
  if (r->assembly != TL_ASSEMBLY_AS_SCANNED && r->assembly != TL_ASSEMBLY_FROM_RUN)
    return tl_study_fail(
        study, TL_EINPUT, "release.cut",
        "is for as-scanned and from-run; low_m, high_m and round bound the others");
  for (int a = 0; c->kind == TL_CUT_BOX && a < 3; a++)
    if (!(c->high_m[a] > c->low_m[a]))
      return tl_study_fail(study, TL_EINPUT, "release.cut.high_m",
                           "must lie above low_m in every direction (%c: %g to %g)", "xyz"[a],
                           c -> low_m[a], c -> high_m[a]);
  if (c->kind == TL_CUT_BOX) return TL_OK;
  if (!(c->radius_m > 0))
    return tl_study_fail(study, TL_EINPUT, "release.cut.radius_m", "a cylinder wants its radius");
  if (!(c->height_m > 0))
    return tl_study_fail(study, TL_EINPUT, "release.cut.height_m", "a cylinder wants its height");
  if (!(tl_norm(tl_vec3(c->axis[0], c->axis[1], c->axis[2])) > 1e-12))
    return tl_study_fail(study, TL_EINPUT, "release.cut.axis", "is the zero vector");
  return TL_OK;
}

static TlStatus check_run(const TlReleaseSetup *r, const TlStudy *study) {
  bool from = r->assembly == TL_ASSEMBLY_FROM_RUN;
  if (from && !r->run)
    return tl_study_fail(study, TL_EINPUT, "release.run",
                         "is missing: the results folder whose grains are taken");
  if (!from && r->run)
    return tl_study_fail(study, TL_EINPUT, "release.run", "is for assembly: from-run");
  return TL_OK;
}

static TlStatus check_box(const TlReleaseSetup *r, const TlStudy *study) {
  bool flat = r->layers > 0 || r->depth_m > 0;
  if (flat && r->polygon_file) return TL_OK; /* its bounds */
  for (int a = 0; a < (flat ? 2 : 3); a++)
    if (!(r->high_m[a] > r->low_m[a]))
      return tl_study_fail(study, TL_EINPUT, "release.high_m",
                           "must lie above low_m in every direction (%c: %g to %g)", "xyz"[a],
                           r -> low_m[a], r -> high_m[a]);
  return TL_OK;
}

static TlStatus check_polygon_file(const TlReleaseSetup *r, bool terrain, const TlStudy *study) {
  if (!r->polygon_file) return TL_OK;
  if (!terrain)
    return tl_study_fail(study, TL_EINPUT, "release.polygon_file",
                         "its polygons lie on a terrain, and this study names none");
  if (r->polygon.count > 0)
    return tl_study_fail(study, TL_EINPUT, "release.polygon_file",
                         "takes the place of polygon: keep one of them");
  if (r->assembly == TL_ASSEMBLY_AS_SCANNED || r->assembly == TL_ASSEMBLY_FROM_RUN)
    return tl_study_fail(study, TL_EINPUT, "release.polygon_file",
                         "is for assembly: lattice, drawn or poured");
  return TL_OK;
}

TlStatus tl_release_check(const TlReleaseSetup *r, bool terrain, const TlStudy *study) {
  if (r->blocks_per_year > 0 && r->releases_per_year > 0)
    return tl_study_fail(study, TL_EINPUT, "release.releases_per_year",
                         "and blocks_per_year both say how often: keep one");
  if (r->polygon.count > 0 && r->polygon.count < 3)
    return tl_study_fail(study, TL_EINPUT, "release.polygon", "a polygon has at least 3 corners");
  TL_TRY(check_ground(r, terrain, study));
  TL_TRY(check_polygon_file(r, terrain, study));
  TL_TRY(check_run(r, study));
  TL_TRY(check_cut(r, study));
  if (r->assembly == TL_ASSEMBLY_AS_SCANNED || r->assembly == TL_ASSEMBLY_FROM_RUN) return TL_OK;
  if (r->assembly == TL_ASSEMBLY_DRAWN) TL_TRY(check_sizes(r, study));
  if (r->assembly == TL_ASSEMBLY_POURED && r->count == 0)
    return tl_study_fail(study, TL_EINPUT, "release.count", "is missing: how many grains to pour");
  return check_box(r, study);
}
