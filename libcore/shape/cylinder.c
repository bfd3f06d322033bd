#include "shape/formula.h"
#include "shape/nodes.h"
#include "shape/solid.h"
#include "shape/solids.h"

#include <math.h>

typedef struct Cylinder {
  double r, h; /* radius, half length */
  int axis;    /* of the body: 0 or 2 */
} Cylinder;

static TlVec3 to_body(const Cylinder *s, double x, double y, double z) {
  return s->axis == 2 ? tl_vec3(x, y, z) : tl_vec3(z, x, y);
}

static double distance(const void *solid, TlVec3 p) {
  const Cylinder *s = solid;
  double t = s->axis == 2 ? hypot(p.x, p.y) : hypot(p.y, p.z), z = s->axis == 2 ? p.z : p.x;
  double u = t - s->r, v = fabs(z) - s->h;
  return fmin(0, fmax(u, v)) + hypot(fmax(u, 0), fmax(v, 0));
}

static void mass(Cylinder *s, TlAvatar *out) {
  double v = 2 * M_PI * s->r * s->r * s->h, along = v * s->r * s->r / 2,
         across = v * (3 * s->r * s->r + 4 * s->h * s->h) / 12;
  s->axis = along > across ? 2 : 0;
  out->volume_m3 = v;
  out->area_m2 = 2 * M_PI * s->r * (s->r + 2 * s->h);
  out->inertia_m5 = s->axis == 2 ? tl_vec3(across, across, along) : tl_vec3(along, across, across);
  /* body x, y, z are the given z, x, y: a third of a turn about (1, 1, 1) */
  out->scan_rotation = s->axis == 2 ? (TlQuat){1, 0, 0, 0} : (TlQuat){0.5, -0.5, -0.5, -0.5};
}

static int around(double r, double step) {
  return (int)fmax(6, rint(2 * M_PI * r / step));
}

static TlStatus ring(const Cylinder *s, double r, double z, int count, double turn, double area,
                     TlAvatar *out) {
  for (int i = 0; i < count; i++) {
    double angle = 2 * M_PI * (i + turn) / count;
    TL_TRY(tl_solid_node(out, to_body(s, r * cos(angle), r * sin(angle), z), area / count));
  }
  return TL_OK;
}

static TlStatus end(const Cylinder *s, double z, int rings, double step, TlAvatar *out) {
  double d = s->r / rings;
  TL_TRY(tl_solid_node(out, to_body(s, 0, 0, z), M_PI * d * d / 4));
  for (int j = 1; j < rings; j++) {
    double area = M_PI * d * d * ((j + 0.5) * (j + 0.5) - (j - 0.5) * (j - 0.5));
    TL_TRY(ring(s, j * d, z, around(j * d, step), 0.5 * (j % 2), area, out));
  }
  return TL_OK;
}

static TlStatus place(const Cylinder *s, double step, TlAvatar *out) {
  int rings = (int)fmax(1, rint(s->r / step)), rows = (int)fmax(1, rint(2 * s->h / step));
  int n = around(s->r, step);
  double d = s->r / rings, row = 2 * M_PI * s->r * 2 * s->h / rows;
  double rim = M_PI * (s->r * s->r - (s->r - d / 2) * (s->r - d / 2));
  int64_t most = (int64_t)(rows + 1) * n + 2;
  for (int j = 1; j < rings; j++) most += 2 * around(j * d, step);
  TL_TRY(tl_solid_reserve_nodes(out, most));
  TL_TRY(end(s, -s->h, rings, step, out));
  for (int k = 0; k <= rows; k++) {
    bool edge = k == 0 || k == rows;
    TL_TRY(ring(s, s->r, -s->h + 2 * s->h * k / rows, n, 0.5 * (k % 2), edge ? row / 2 + rim : row,
                out));
  }
  TL_TRY(end(s, s->h, rings, step, out));
  return tl_nodes_extents(out);
}

static TlStatus build(Cylinder s, double spacing, int32_t nodes, TlAvatar *out) {
  mass(&s, out);
  TlVec3 half = to_body(&s, s.r, s.r, s.h);
  TL_TRY(tl_solid_grid(tl_scale(-1, half), half, spacing, out));
  TL_TRY(tl_solid_fill(distance, &s, out));
  return place(&s, tl_solid_node_step(out, nodes), out);
}

TlStatus tl_avatar_cylinder(double radius, double length, double spacing, int32_t nodes,
                            TlAvatar *out) {
  *out = (TlAvatar){0};
  TL_TRY(tl_solid_check(fmin(radius, length / 2), fmax(radius, length / 2), spacing, nodes));
  TlStatus status = build((Cylinder){.r = radius, .h = length / 2}, spacing, nodes, out);
  if (status != TL_OK) tl_avatar_free(out);
  return status;
}

TlStatus tl_formula_cylinder(const TlFormula *f, double spacing, TlAvatar *out) {
  return tl_avatar_cylinder(f->diameter_m / 2, f->length_m, spacing, f->nodes, out);
}
