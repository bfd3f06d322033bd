#include "run/assembly_kinds.h"

#include "base/log.h"

static bool in_box(const TlCutSetup *c, TlVec3 p, double in) {
  double x[3] = {p.x, p.y, p.z};
  for (int a = 0; a < 3; a++)
    if (x[a] < c->low_m[a] + in || x[a] > c->high_m[a] - in) return false;
  return true;
}

static bool in_cylinder(const TlCutSetup *c, TlVec3 p, double in) {
  TlVec3 axis = tl_unit(tl_vec3_of(c->axis)), d = tl_sub(p, tl_vec3_of(c->foot_m));
  double along = tl_dot(d, axis), out = tl_norm(tl_axpy(d, -along, axis));
  return along >= in && along <= c->height_m - in && out <= c->radius_m - in;
}

bool tl_cut_keeps(const TlCutSetup *c, TlVec3 centre, double radius_m) {
  double in = c->whole ? radius_m : 0;
  if (c->kind == TL_CUT_BOX) return in_box(c, centre, in);
  return c->kind == TL_CUT_NONE || in_cylinder(c, centre, in);
}

TlVec3 tl_cut_foot(const TlCutSetup *c) {
  if (c->kind == TL_CUT_CYLINDER) return tl_vec3_of(c->foot_m);
  return tl_vec3(0.5 * (c->low_m[0] + c->high_m[0]), 0.5 * (c->low_m[1] + c->high_m[1]),
                 c->low_m[2]);
}

TlStatus tl_cut_judge(const TlCutSetup *c, int64_t kept, int64_t all, const TlStudy *study) {
  if (c->kind == TL_CUT_NONE) return TL_OK;
  if (kept == 0)
    return tl_study_fail(study, TL_EINPUT, "release.cut",
                         "none of %lld grains lies in it; it counts in metres and axes of the "
                         "scan, or of the earlier run",
                         (long long)all);
  tl_log_info("cut: %lld of %lld grains kept, %lld left out", (long long)kept, (long long)all,
              (long long)(all - kept));
  return TL_OK;
}
