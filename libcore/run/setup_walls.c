#include "run/setup_walls.h"

#include "num/vec.h"
#include "conf/keys.h"

#include <stdio.h>
#include <string.h>

const TlParam tl_wall_params[] = {
    CHOICE(TlWallSetup, kind, NULL, "plane|box|cylinder", "shape of the wall"),
    CHOICE(TlWallSetup, grains, "outside", "outside|inside",
           "box, cylinder: an obstacle with the grains outside, or a container"),
    VEC3(TlWallSetup, point_m, "m", "0,0,0", -1e8, 1e8,
         "a point of the plane; the middle of box or cylinder"),
    VEC3(TlWallSetup, normal, "", "0,0,1", -1e3, 1e3, "plane: points to the grains; made unit"),
    VEC3(TlWallSetup, axis, "", "0,0,1", -1e3, 1e3, "cylinder: its axis; made unit"),
    VEC3(TlWallSetup, size_m, "m", "0,0,0", 0, 1e7,
         "box: its sides; of a container the inner ones"),
    VEC3(TlWallSetup, rotation_deg, "deg", "0,0,0", -360, 360, "box: turn about x, then y, then z"),
    REAL(TlWallSetup, radius_m, "m", "0", 0, 1e7, "cylinder: radius; of a container the inner one"),
    REAL(TlWallSetup, length_m, "m", "0", 0, 1e7, "cylinder: length along the axis"),
    REAL(TlWallSetup, thickness_m, "m", "0", 0, 1e6,
         "container: thickness of its walls, which end at their rims; 0: they have no end"),
    TEXTS(TlWallSetup, open,
          "container: faces that are not there, of -x, +x, -y, +y, -z, +z of the box, or of -z, +z "
          "for the ends of the cylinder's axis"),
    TEXT(TlWallSetup, material, "", "in the list of materials; none: 'boundary'"),
    TL_OLD_FORM_ROWS(TlWallSetup, "-1", "-1", -1, "there; negative: that of contact.boundary_*"),
    VEC3(TlWallSetup, velocity_m_s, "m/s", "0,0,0", -1e4, 1e4,
         "velocity from from_s to until_s, with which the wall travels; along its own face a plane "
         "is a belt without an end"),
    VEC3(TlWallSetup, spin_rad_s, "rad/s", "0,0,0", -1e4, 1e4,
         "turning from from_s to until_s: axis times angular velocity"),
    VEC3(TlWallSetup, pivot_m, "m", "0,0,0", -1e7, 1e7,
         "from point_m to the point that the spin turns about; it moves with the wall"),
    VEC3(TlWallSetup, surface_velocity_m_s, "m/s", "0,0,0", -1e4, 1e4,
         "plane, box: velocity of the surface along the wall, which stays where it is: a belt that "
         "ends "
         "where the box does. What of it lies along the face that is touched counts: a face "
         "across it, as at the belt's end, stands still. It turns with the wall"),
    TEXT(
        TlWallSetup, table, "",
        "CSV file of displacements, header time_s,x_m,y_m,z_m, linear between rows and held before "
        "and after; a path from the study's folder"),
    REAL(TlWallSetup, from_s, "s", "0", 0, 1e9, "the wall appears at this time"),
    REAL(TlWallSetup, until_s, "s", "0", 0, 1e9, "the wall vanishes at this time; 0: never"),
};
_Static_assert(COUNT(tl_wall_params) == TL_WALL_PARAMS, "setup_walls.h counts them");

int tl_wall_face(const char *name) {
  static const char *const names[6] = {"-x", "+x", "-y", "+y", "-z", "+z"};
  for (int i = 0; i < 6; i++)
    if (strcmp(name, names[i]) == 0) return i;
  return -1;
}

static double length(const double x[3]) {
  return tl_norm(tl_vec3(x[0], x[1], x[2]));
}

/* The key of a wall that does not go with the others, and why; NULL: none. */
static const char *wrong_key(const TlWallSetup *w, const char **why) {
  *why = "is the zero vector; a direction is wanted";
  if (w->kind == TL_WALL_PLANE && !(length(w->normal) > 1e-12)) return "normal";
  if (w->kind == TL_WALL_CYLINDER && !(length(w->axis) > 1e-12)) return "axis";
  *why = "a box wants three positive sides";
  for (int a = 0; w->kind == TL_WALL_BOX && a < 3; a++)
    if (!(w->size_m[a] > 0)) return "size_m";
  *why = "a cylinder wants a positive radius and length";
  if (w->kind == TL_WALL_CYLINDER && !(w->radius_m > 0)) return "radius_m";
  if (w->kind == TL_WALL_CYLINDER && !(w->length_m > 0)) return "length_m";
  *why = "a plane has the grains on the side of its normal";
  if (w->kind == TL_WALL_PLANE && w->grains) return "grains";
  *why = "only a container (grains: inside) has it";
  if (!w->grains && w->thickness_m > 0) return "thickness_m";
  if (!w->grains && w->open.count > 0) return "open";
  *why = "faces are -x, +x, -y, +y, -z, +z; a cylinder's ends -z, +z";
  for (int64_t i = 0; i < w->open.count; i++) {
    int face = tl_wall_face(w->open.items[i]);
    if (face < 0 || (w->kind == TL_WALL_CYLINDER && face < 4)) return "open";
  }
  *why = "the surface of a cylinder moves by a spin_rad_s about its axis";
  if (w->kind == TL_WALL_CYLINDER && length(w->surface_velocity_m_s) > 0)
    return "surface_velocity_m_s";
  *why = "the wall must vanish after it appears";
  return w->until_s > 0 && w->until_s <= w->from_s ? "until_s" : NULL;
}

TlStatus tl_walls_check(const TlStudyList *walls, const TlStudy *study) {
  const TlWallSetup *w = walls->items;
  for (int64_t i = 0; i < walls->count; i++) {
    char path[48];
    const char *why, *key = wrong_key(&w[i], &why);
    if (!key) continue;
    snprintf(path, sizeof path, "walls.%lld.%s", (long long)i, key);
    return tl_study_fail(study, TL_EINPUT, path, "%s", why);
  }
  return TL_OK;
}
