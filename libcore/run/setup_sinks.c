#include "run/setup_sinks.h"

#include "conf/keys.h"
#include "run/setup.h"

#include <stdio.h>

const TlParam tl_sink_params[] = {
    CHOICE(TlSinkSetup, kind, NULL, "plane|box", "all that lies behind a plane, or a box"),
    VEC3(TlSinkSetup, point_m, "m", "0,0,0", -1e8, 1e8,
         "a point of the plane; the middle of the box"),
    VEC3(TlSinkSetup, normal, "", "0,0,1", -1e3, 1e3,
         "plane: points to where grains stay, of any length"),
    VEC3(TlSinkSetup, size_m, "m", "0,0,0", 0, 1e7, "box: its sides"),
    VEC3(TlSinkSetup, rotation_deg, "deg", "0,0,0", -360, 360, "box: turn about x, then y, then z"),
};
_Static_assert(COUNT(tl_sink_params) == TL_SINK_PARAMS, "setup_sinks.h counts them");

/* The key of a sink that does not go with the others, and why; NULL: none. */
static const char *wrong_key(const TlSinkSetup *s, const char **why) {
  bool plane = s->kind == TL_SINK_PLANE;
  *why = "is the zero vector; a direction is wanted";
  if (plane && !(tl_norm(tl_vec3_of(s->normal)) > 1e-12)) return "normal";
  *why = "a box wants three positive sides";
  for (int a = 0; !plane && a < 3; a++)
    if (!(s->size_m[a] > 0)) return "size_m";
  *why = "only a box has it; a plane takes all that lies behind it";
  if (plane && tl_norm(tl_vec3_of(s->size_m)) > 0) return "size_m";
  return plane && tl_norm(tl_vec3_of(s->rotation_deg)) > 0 ? "rotation_deg" : NULL;
}

TlStatus tl_sinks_check(const TlStudyList *sinks, const TlStudy *study) {
  const TlSinkSetup *s = sinks->items;
  for (int64_t i = 0; i < sinks->count; i++) {
    char path[48];
    const char *why, *key = wrong_key(&s[i], &why);
    if (!key) continue;
    snprintf(path, sizeof path, "sinks.%lld.%s", (long long)i, key);
    return tl_study_fail(study, TL_EINPUT, path, "%s", why);
  }
  return TL_OK;
}
