#include "run/setup_joints.h"

#include "conf/keys.h"
#include "num/vec.h"
#include "run/setup.h"

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

const char *tl_bodies_name(const TlStudyList *bodies, int64_t first, int64_t id) {
  const TlBodySetup *b = bodies->items;
  for (int64_t i = 0; first >= 0 && i < bodies->count && id >= first; i++) {
    first += b[i].count * (b[i].parts.count > 0 ? b[i].parts.count : 1);
    if (id < first) return b[i].name;
  }
  return NULL;
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
  if (!slider && !hinge && tl_norm2(tl_vec3_of(j->axis)) > 0) return "axis";
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

/* Does the method solve joints of this kind, between two bodies or a body and the world? */
static bool solves(TlMethod method, TlPairKind kind, bool world) {
  const TlMethodKind *m = tl_method(method);
  return (m->solves | (world ? m->solves_on_world : 0)) & TL_KIND_BIT(kind);
}

static TlStatus check_solved(const TlJointSetup *j, int64_t i, TlMethod method,
                             const TlStudy *study) {
  TlPairKind joint = tl_joint_kind(j);
  bool motor = j->motor_most_N_m > 0 || j->motor_most_N > 0,
       limits = joint != TL_DISTANCES &&
                (j->least_deg != 0 || j->most_deg != 0 || j->least_m != 0 || j->most_m != 0),
       world = !j->other;
  const TlPairKind parts[] = {joint, motor ? TL_MOTORS : joint, limits ? TL_LIMITS : joint};
  const char *keys[] = {"kind", joint == TL_HINGES ? "motor_most_N_m" : "motor_most_N",
                        joint == TL_HINGES ? "most_deg" : "most_m"};
  char path[64], others[160] = "";
  size_t k = 0, used = 0;
  while (k < 3 && solves(method, parts[k], world)) k++;
  if (k == 3) return TL_OK;
  for (TlMethod m = 0; m < TL_METHOD_COUNT; m++)
    if (solves(m, parts[0], world) && solves(m, parts[1], world) && solves(m, parts[2], world))
      used += (size_t)snprintf(others + used, sizeof others - used, "%s%s", used ? " or " : "",
                               tl_method_name(m));
  snprintf(path, sizeof path, "joints.%lld.%s", (long long)i, keys[k]);
  return tl_study_fail(
      study, TL_EINPUT, path,
      "the method %s does not solve a %s%s of the body '%s' and %s%s%s: solver.method: %s does, or "
      "leave %s out",
      tl_method_name(method), k > 0 ? tl_pair_kind_name[parts[k]] : tl_pair_kind_name[joint],
      k > 0 ? " on a joint" : "", j->body, world ? "the world" : "the body '",
      world ? "" : j->other, world ? "" : "'", others, k > 0 ? "it" : "the joint");
}

static TlStatus check_joint(const TlJointSetup *j, int64_t i, const TlStudyList *bodies,
                            const TlStudy *study) {
  char path[64];
  const double rounding = 0.01; /* a distance may be given by a few digits */
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
  char place[256];
  if (kind == TL_HINGES && !tl_study_says(study, PATH("point_m"), place, sizeof place))
    return tl_study_fail(study, TL_EINPUT, PATH("axis"),
                         "a hinge wants a point_m, too: where its axis passes");
  const char *idle = idle_key(j);
  if (idle)
    return tl_study_fail(study, TL_EINPUT, PATH(idle), "this kind of joint has no use for it");
  if (j->motor_rad_s != 0 && !(j->motor_most_N_m > 0))
    return tl_study_fail(study, TL_EINPUT, PATH("motor_rad_s"),
                         "a motor without a moment does nothing: motor_most_N_m is missing, the "
                         "largest moment [N m] of this motor");
  if (j->motor_m_s != 0 && !(j->motor_most_N > 0))
    return tl_study_fail(study, TL_EINPUT, PATH("motor_m_s"),
                         "a motor without a force does nothing: motor_most_N is missing, the "
                         "largest force [N] of this motor");
  if (j->least_deg > j->most_deg)
    return tl_study_fail(study, TL_EINPUT, PATH("least_deg"), "is above most_deg");
  if (j->least_m > j->most_m)
    return tl_study_fail(study, TL_EINPUT, PATH("least_m"), "is above most_m");
  if (kind == TL_DISTANCES && !(j->least_m >= 0 && j->most_m > 0))
    return tl_study_fail(study, TL_EINPUT, PATH("most_m"),
                         "a distance wants 0 <= least_m <= most_m and most_m above 0");
  if (j->least_deg > 0 || j->most_deg < 0)
    return tl_study_fail(study, TL_EINPUT, PATH(j->least_deg > 0 ? "least_deg" : "most_deg"),
                         "the limits of %g to %g deg leave out the start, where the angle is 0: "
                         "angles count from there",
                         j->least_deg, j->most_deg);
  if (kind == TL_SLIDERS && (j->least_m > 0 || j->most_m < 0))
    return tl_study_fail(study, TL_EINPUT, PATH(j->least_m > 0 ? "least_m" : "most_m"),
                         "the limits of %g to %g m leave out the start, where the displacement is "
                         "0: displacements count from there",
                         j->least_m, j->most_m);
  double apart = tl_norm(tl_sub(tl_vec3_of(j->other_point_m), tl_vec3_of(j->point_m)));
  if (kind == TL_DISTANCES &&
      (j->least_m - apart > rounding * apart || apart - j->most_m > rounding * j->most_m))
    return tl_study_fail(study, TL_EINPUT, PATH(j->least_m > apart ? "least_m" : "most_m"),
                         "the limits of %g to %g m leave out the start, where point_m and "
                         "other_point_m are %.6g m apart",
                         j->least_m, j->most_m, apart);
  return TL_OK;
#undef PATH
}

TlStatus tl_joints_check(const TlStudyList *joints, const TlStudyList *bodies, TlMethod method,
                         const TlStudy *study) {
  const TlBodySetup *b = bodies->items;
  char path[64];
  for (int64_t i = 0; i < bodies->count; i++) {
    if (!b[i].name || tl_bodies_index(bodies, b[i].name) == i) continue;
    snprintf(path, sizeof path, "bodies.%lld.name", (long long)i);
    return tl_study_fail(study, TL_EINPUT, path, "'%s' comes twice", b[i].name);
  }
  for (int64_t i = 0; i < joints->count; i++) {
    const TlJointSetup *joint = (const TlJointSetup *)joints->items + i;
    TL_TRY(check_joint(joint, i, bodies, study));
    TL_TRY(check_solved(joint, i, method, study));
  }
  return TL_OK;
}
