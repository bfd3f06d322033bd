#include "run/setup_release.h"

#include "run/setup_keys.h"

#include <stdio.h>

const TlParam tl_release_params[] = {
    CHOICE(TlReleaseSetup, assembly, "as-scanned", "as-scanned|lattice|drawn|poured",
           "as-scanned: the in-situ poses of the sample; lattice: grains drawn at random, each in "
           "a cell of its own, turned at random; drawn: by size and count into a region without "
           "overlap; poured: let in through the box during the run"),
    VEC3(TlReleaseSetup, position_m, "m", "0,0,0", -1e7, 1e7,
         "as-scanned: where the middle of the assembly's foot goes; z counts from the ground where "
         "there is a terrain"),
    VEC3(TlReleaseSetup, rotation_deg, "deg", "0,0,0", -360, 360,
         "as-scanned: turn about x, then y, then z"),
    FLAG(TlReleaseSetup, along_ground, "false",
         "as-scanned: tilt the assembly to stand on the slope at position_m"),
    REAL(TlReleaseSetup, clearance_m, "m", "0", 0, 1e6,
         "least gap between the grains' bounding spheres and the ground at the start; drawn: also "
         "between grains, and to boundaries"),
    VEC3(TlReleaseSetup, low_m, "m", "0,0,0", -1e7, 1e7,
         "not as-scanned: lower corner of the box (poured: the inlet)"),
    VEC3(TlReleaseSetup, high_m, "m", "0,0,0", -1e7, 1e7,
         "not as-scanned: upper corner of the box"),
    REAL(TlReleaseSetup, spacing, "", "1.02", 1, 100,
         "lattice, poured: cell side over the largest bounding diameter"),
    INT(TlReleaseSetup, layers, "0", 0, 1e6,
        "lattice: this many layers that follow the ground, whatever low and high z; 0: fill the "
        "box"),
    INT(TlReleaseSetup, count, "0", 0, 1e12,
        "lattice: at most this many grains, 0: all cells; drawn, poured: so many"),
    VEC3(TlReleaseSetup, velocity_m_s, "m/s", "0,0,0", -1e4, 1e4, "velocity at the start"),
    FLAG(TlReleaseSetup, round, "false",
         "drawn: the upright cylinder inscribed in the box in place of the box"),
    REAL(
        TlReleaseSetup, depth_m, "m", "0", 0, 1e6,
        "drawn, over a terrain: centres lie up to this far above the ground, whatever low and high "
        "z; 0: fill the box"),
    FLAG(TlReleaseSetup, resize, "false",
         "drawn, with sizes: any grain of the selection, made to a diameter drawn evenly from its "
         "range; else grains that have such a diameter (at grain_scale)"),
    INT(TlReleaseSetup, tries, "5000", 1, 1e9,
        "drawn: places and turns tried for one grain before the region counts as full"),
    REAL(TlReleaseSetup, rate_per_s, "1/s", "0", 0, 1e12,
         "poured: grains a second; 0: as many as the inlet has free cells for"),
};

static const TlParam corner_params[] = {
    REAL(TlCorner, x_m, "m", NULL, -1e7, 1e7, "x of a corner"),
    REAL(TlCorner, y_m, "m", NULL, -1e7, 1e7, "y of a corner"),
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
const TlStudySection tl_release_sections[] = {
    {"polygon", offsetof(TlReleaseSetup, polygon), sizeof(TlCorner), true,
     "Not as-scanned: only cells (drawn: grains) whose middle lies inside this polygon; corners in "
     "order",
     corner_params, COUNT(corner_params), NULL, 0},
    {"sizes", offsetof(TlReleaseSetup, sizes), sizeof(TlSizeSetup), true,
     "Drawn: ranges of diameters; a grading is such a list with mass_share", size_params,
     COUNT(size_params), NULL, 0}};
_Static_assert(COUNT(tl_release_params) == TL_RELEASE_PARAMS, "setup_release.h counts them");
_Static_assert(COUNT(tl_release_sections) == TL_RELEASE_SECTIONS, "setup_release.h counts them");

static TlStatus check_ground(const TlReleaseSetup *r, bool terrain, const TlStudy *study) {
  if (r->layers > 0 && !terrain)
    return tl_study_fail(study, TL_EINPUT, "release.layers",
                         "layers follow the ground, and this study has no terrain");
  if (r->depth_m > 0 && !terrain)
    return tl_study_fail(study, TL_EINPUT, "release.depth_m",
                         "depth counts from the ground, and this study has no terrain");
  if (r->along_ground && !terrain)
    return tl_study_fail(study, TL_EINPUT, "release.along_ground",
                         "this study has no terrain to stand on");
  return TL_OK;
}

static TlStatus check_sizes(const TlReleaseSetup *r, const TlStudy *study) {
  const TlSizeSetup *s = r->sizes.items;
  bool shares = false;
  char path[64];
  for (int64_t i = 0; i < r->sizes.count; i++) {
    snprintf(path, sizeof path, "release.sizes.%lld.most_diameter_m", (long long)i);
    if (s[i].most_diameter_m < s[i].least_diameter_m)
      return tl_study_fail(study, TL_EINPUT, path, "is below least_diameter_m");
    if ((s[i].count > 0) == (s[i].mass_share > 0))
      return tl_study_fail(study, TL_EINPUT, path, "its row wants either count or mass_share");
    shares = shares || s[i].mass_share > 0;
  }
  if ((r->sizes.count == 0 || shares) && r->count == 0)
    return tl_study_fail(study, TL_EINPUT, "release.count", "is missing: how many grains to draw");
  return TL_OK;
}

static TlStatus check_box(const TlReleaseSetup *r, const TlStudy *study) {
  bool flat = r->layers > 0 || r->depth_m > 0;
  for (int a = 0; a < (flat ? 2 : 3); a++)
    if (!(r->high_m[a] > r->low_m[a]))
      return tl_study_fail(study, TL_EINPUT, "release.high_m",
                           "must lie above low_m in every direction (%c: %g to %g)", "xyz"[a],
                           r -> low_m[a], r -> high_m[a]);
  return TL_OK;
}

TlStatus tl_release_check(const TlReleaseSetup *r, bool terrain, const TlStudy *study) {
  if (r->polygon.count > 0 && r->polygon.count < 3)
    return tl_study_fail(study, TL_EINPUT, "release.polygon", "a polygon has at least 3 corners");
  TL_TRY(check_ground(r, terrain, study));
  if (r->assembly == TL_ASSEMBLY_AS_SCANNED) return TL_OK;
  if (r->assembly == TL_ASSEMBLY_DRAWN) TL_TRY(check_sizes(r, study));
  if (r->assembly == TL_ASSEMBLY_POURED && r->count == 0)
    return tl_study_fail(study, TL_EINPUT, "release.count", "is missing: how many grains to pour");
  return check_box(r, study);
}
