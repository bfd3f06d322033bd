#include "run/setup_joints.h"

#include "conf/keys.h"
#include "num/vec.h"
#include "run/setup_shapes.h"

#include <stdio.h>
#include <string.h>

/* "|weld|hinge"... and "; no relative motion; turning about an axis"..., without what is before the first. */
#define NAME(kind, name, ...) "|" name
#define FREE(kind, name, free) "; " free
const TlParam tl_joint_params[] = {
    CHOICE(TlJointSetup, kind, NULL, &("" TL_JOINT_STATES(NAME))[1],
           &("" TL_JOINT_STATES(FREE))[2]),
    TEXT(TlJointSetup, body, NULL, "name in the list of bodies"),
    TEXT(TlJointSetup, other, "", "the other body; none: the world"),
    VEC3(TlJointSetup, point_m, "m", "0,0,0", -1e8, 1e8,
         "where the two are joined at the start; distance: the point of the body"),
    VEC3(TlJointSetup, other_point_m, "m", "0,0,0", -1e8, 1e8,
         "distance: the point of the other body at the start"),
    VEC3(TlJointSetup, axis, "", "0,0,0", -1e3, 1e3,
         "hinge, slider: direction at the start; made unit"),
    REAL(TlJointSetup, motor_rad_s, "rad/s", "0", -1e6, 1e6,
         "hinge: speed of its motor, of the body about the axis"),
    REAL(TlJointSetup, motor_most_N_m, "N m", "0", 0, 1e20,
         "hinge: largest moment of its motor; 0: it has none"),
    REAL(TlJointSetup, motor_m_s, "m/s", "0", -1e4, 1e4, "slider: speed of its motor"),
    REAL(TlJointSetup, motor_most_N, "N", "0", 0, 1e20,
         "slider: largest force of its motor; 0: it has none"),
    REAL(TlJointSetup, least_deg, "deg", "0", -179, 179,
         "hinge: least angle of the body about the axis, from the start; both 0: no limits"),
    REAL(TlJointSetup, most_deg, "deg", "0", -179, 179, "hinge: largest angle"),
    REAL(TlJointSetup, least_m, "m", "0", -1e6, 1e6,
         "slider: least displacement from the start (both 0: no limits); distance: the points come "
         "no "
         "nearer"),
    REAL(TlJointSetup, most_m, "m", "0", -1e6, 1e6,
         "slider: largest displacement; distance: nor farther apart"),
};
#undef NAME
#undef FREE
_Static_assert(COUNT(tl_joint_params) == TL_JOINT_PARAMS, "setup_joints.h counts them");

TlPairKind tl_joint_kind(const TlJointSetup *joint) {
#define J(kind, ...) TL_##kind,
  static const TlPairKind kind[] = {TL_JOINT_STATES(J)};
#undef J
  return kind[joint->kind];
}

int64_t tl_bodies_index(const TlStudyList *bodies, const char *name) {
  const TlBodySetup *b = bodies->items;
  for (int64_t i = 0; i < bodies->count; i++)
    if (b[i].name && strcmp(b[i].name, name) == 0) return i;
  return -1;
}

/* A key that the kind has no use for; NULL: none. */
static const char *idle_key(const TlJointSetup *j) {
  TlPairKind kind = tl_joint_kind(j);
  bool hinge = kind == TL_HINGES, slider = kind == TL_SLIDERS, distance = kind == TL_DISTANCES;
  if (!hinge && j->motor_rad_s != 0) return "motor_rad_s";
  if (!hinge && j->motor_most_N_m > 0) return "motor_most_N_m";
  if (!hinge && (j->least_deg != 0 || j->most_deg != 0)) return "least_deg";
  if (!slider && j->motor_m_s != 0) return "motor_m_s";
  if (!slider && j->motor_most_N > 0) return "motor_most_N";
  if (!slider && !distance && (j->least_m != 0 || j->most_m != 0)) return "least_m";
  return NULL;
}

static TlStatus check_body(const TlStudyList *bodies, const char *name, const char *path,
                           const TlStudy *study) {
  const TlBodySetup *b = bodies->items;
  int64_t i = tl_bodies_index(bodies, name);
  if (i < 0) return tl_study_fail(study, TL_EINPUT, path, "there is no body of name '%s'", name);
  if (b[i].count == 1) return TL_OK;
  return tl_study_fail(study, TL_EINPUT, path, "'%s' is a row of %lld bodies; one is wanted", name,
                       (long long)b[i].count);
}

static TlStatus check_joint(const TlJointSetup *j, int64_t i, const TlStudyList *bodies,
                            const TlStudy *study) {
  char path[64];
#define PATH(key) (snprintf(path, sizeof path, "joints.%lld.%s", (long long)i, key), path)
  TlPairKind kind = tl_joint_kind(j);
  bool axis = kind == TL_HINGES || kind == TL_SLIDERS;
  TL_TRY(check_body(bodies, j->body, PATH("body"), study));
  if (j->other) TL_TRY(check_body(bodies, j->other, PATH("other"), study));
  if (j->other && strcmp(j->body, j->other) == 0)
    return tl_study_fail(study, TL_EINPUT, PATH("other"), "is the same body");
  if (axis && !(tl_norm(tl_vec3(j->axis[0], j->axis[1], j->axis[2])) > 1e-12))
    return tl_study_fail(study, TL_EINPUT, PATH("axis"),
                         "is the zero vector; a direction is wanted");
  const char *idle = idle_key(j);
  if (idle)
    return tl_study_fail(study, TL_EINPUT, PATH(idle), "this kind of joint has no use for it");
  if (j->least_deg > j->most_deg)
    return tl_study_fail(study, TL_EINPUT, PATH("least_deg"), "is above most_deg");
  if (j->least_m > j->most_m)
    return tl_study_fail(study, TL_EINPUT, PATH("least_m"), "is above most_m");
  if (kind == TL_DISTANCES && !(j->least_m >= 0 && j->most_m > 0))
    return tl_study_fail(study, TL_EINPUT, PATH("most_m"),
                         "a distance wants 0 <= least_m <= most_m and most_m above 0");
  return TL_OK;
#undef PATH
}

TlStatus tl_joints_check(const TlStudyList *joints, const TlStudyList *bodies,
                         const TlStudy *study) {
  const TlBodySetup *b = bodies->items;
  char path[64];
  for (int64_t i = 0; i < bodies->count; i++) {
    if (!b[i].name || tl_bodies_index(bodies, b[i].name) == i) continue;
    snprintf(path, sizeof path, "bodies.%lld.name", (long long)i);
    return tl_study_fail(study, TL_EINPUT, path, "'%s' comes twice", b[i].name);
  }
  for (int64_t i = 0; i < joints->count; i++)
    TL_TRY(check_joint((const TlJointSetup *)joints->items + i, i, bodies, study));
  return TL_OK;
}
