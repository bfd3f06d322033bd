#include "shape/build.h"

#include "base/mem.h"
#include "shape/mass.h"

#include <math.h>

enum { PADDING = 3 }; /* cells of the body grid beyond the surface */

/* ---- measured errors ---- */

static bool reaches_outside(const float *f, const int64_t step[3]) {
  for (int c = 0; c < 8; c++)
    if (f[(c & 1) * step[0] + (c >> 1 & 1) * step[1] + (c >> 2) * step[2]] >= 0) return true;
  return false;
}

double tl_avatar_measure_gradient(const TlAvatar *a) {
  int64_t step[3] = {1, a->nx, (int64_t)a->nx * a->ny};
  double most = 0;
  for (int64_t k = 0; k + 1 < a->nz; k++)
    for (int64_t j = 0; j + 1 < a->ny; j++)
      for (int64_t i = 0; i + 1 < a->nx; i++) {
        const float *f = a->phi + (k * a->ny + j) * a->nx + i;
        if (!reaches_outside(f, step)) continue;
        for (int c = 0; c < 8; c++) {
          int64_t at = (c & 1) * step[0] + (c >> 1 & 1) * step[1] + (c >> 2) * step[2];
          double g2 = 0;
          for (int d = 0; d < 3; d++) {
            double g =
                (c >> d & 1) ? (double)f[at] - f[at - step[d]] : (double)f[at + step[d]] - f[at];
            g2 += g * g;
          }
          most = fmax(most, g2);
        }
      }
  return sqrt(most) / a->spacing_m;
}

/* At the middles of the cells near the surface, where trilinear interpolation is at its worst; at
 * most about 4000 of them. */
double tl_avatar_measure_error(const TlAvatar *a, TlImplicit f, const void *context) {
  double h = a->spacing_m, most = 0;
  TlVec3 origin = tl_scale(1 / h, a->origin_m);
  int64_t near = (int64_t)(3 * a->area_m2 / (h * h)), stride = near / 4000 + 1, seen = 0;
  for (int64_t k = 0; k + 1 < a->nz; k++)
    for (int64_t j = 0; j + 1 < a->ny; j++)
      for (int64_t i = 0; i + 1 < a->nx; i++) {
        if (fabsf(a->phi[(k * a->ny + j) * a->nx + i]) > 1.5 * h || seen++ % stride) continue;
        TlVec3 x = tl_add(origin, tl_vec3((double)i + 0.5, (double)j + 0.5, (double)k + 0.5));
        double phi = tl_avatar_phi(a, tl_scale(h, x), NULL) / h;
        TlVec3 p, n;
        if (!tl_closest_point(f, context, x, 4, &p, &n)) continue;
        double d = tl_norm(tl_sub(x, p));
        most = fmax(most, fabs(fabs(phi) - d)); /* signs may differ within the error */
      }
  return most * h;
}

TlStatus tl_avatar_finish(TlAvatar *a, const TlNodeOptions *nodes, TlImplicit f,
                          const void *context) {
  a->gradient_max = tl_avatar_measure_gradient(a);
  if (f) a->phi_error_m = tl_avatar_measure_error(a, f, context);
  return tl_nodes_place(a, nodes);
}

/* ---- body frame ---- */

/* What the surface's own extent along the principal axes is, in voxels: from the points of the
 * scan grid near it, moved onto it. */
static void body_extent(const TlPhiGrid *g, TlMat3 r, TlVec3 centre, double low[3],
                        double high[3]) {
  for (int a = 0; a < 3; a++) low[a] = INFINITY, high[a] = -INFINITY;
  for (int64_t k = 1; k + 1 < g->nz; k++)
    for (int64_t j = 1; j + 1 < g->ny; j++)
      for (int64_t i = 1; i + 1 < g->nx; i++) {
        double phi = g->phi[tl_grid_at(g, i, j, k)];
        if (fabs(phi) > 1) continue;
        TlPhiJet jet = tl_phi_jet(g, i, j, k);
        TlVec3 x = tl_vec3((double)i, (double)j, (double)k);
        TlVec3 p = tl_sub(tl_axpy(x, -phi, tl_unit(jet.gradient)), centre);
        TlVec3 b = tl_mat_tvec(r, p);
        double c[3] = {b.x, b.y, b.z};
        for (int a = 0; a < 3; a++) low[a] = fmin(low[a], c[a]), high[a] = fmax(high[a], c[a]);
      }
}

/* A view of the scan grid in cells of the body grid. */
typedef struct BodyView {
  TlGridView view;
  double cells; /* scan voxels a body cell */
  TlVec3 shift; /* body grid point (0,0,0) in body cells; {0} when measured about the origin */
} BodyView;

static double body_phi(const void *context, TlVec3 y, TlVec3 *gradient) {
  const BodyView *b = context;
  return tl_grid_view(&b->view, tl_scale(b->cells, tl_add(y, b->shift)), gradient) / b->cells;
}

static TlStatus fill_body(BodyView *body, double voxel_m, TlAvatar *out) {
  double low[3], high[3], h = body->cells;
  body_extent(body->view.grid, body->view.rotation, body->view.centre, low, high);
  int32_t n[3];
  double first[3];
  for (int a = 0; a < 3; a++) {
    if (!(high[a] > low[a])) return tl_fail(TL_EINPUT, "no surface crosses the grid");
    first[a] = floor(low[a] / h) - PADDING;
    n[a] = (int32_t)(ceil(high[a] / h) + PADDING - first[a]) + 1;
  }
  out->nx = n[0];
  out->ny = n[1];
  out->nz = n[2];
  out->spacing_m = h * voxel_m;
  body->shift = tl_vec3(first[0], first[1], first[2]);
  out->origin_m = tl_scale(out->spacing_m, body->shift);
  TlPhiGrid grid = {n[0], n[1], n[2], NULL};
  TL_TRY(TL_NEW(grid.phi, (size_t)tl_grid_count(&grid)));
  out->phi = grid.phi;
  TL_TRY(tl_distance_fill(body_phi, body, &grid));
  int64_t count = tl_grid_count(&grid);
  for (int64_t i = 0; i < count; i++) grid.phi[i] = (float)(grid.phi[i] * out->spacing_m);
  return TL_OK;
}

static void note_mass(const TlMass *mass, const int64_t corner[3], double voxel_m, TlMat3 *rotation,
                      TlAvatar *out) {
  double moments[3], v3 = voxel_m * voxel_m * voxel_m, v5 = v3 * voxel_m * voxel_m;
  tl_sym_eigen(mass->inertia, moments, rotation);
  out->volume_m3 = mass->volume * v3;
  out->area_m2 = mass->area * voxel_m * voxel_m;
  out->inertia_m5 = tl_scale(v5, tl_vec3(moments[0], moments[1], moments[2]));
  TlVec3 corner_v = tl_vec3((double)corner[0], (double)corner[1], (double)corner[2]);
  out->scan_centroid_m = tl_scale(voxel_m, tl_add(corner_v, mass->centroid));
  out->scan_rotation = tl_quat_from_matrix(*rotation);
}

static TlStatus build(TlPhiGrid *grid, const int64_t corner[3], double voxel_m,
                      const TlBuildOptions *options, TlAvatar *out) {
  TlMass mass;
  TL_TRY(tl_reinit(grid));
  TL_TRY(tl_mass_properties(grid, &mass));
  BodyView body = {.view = {.grid = grid, .centre = mass.centroid},
                   .cells = options->grid_cells > 0 ? options->grid_cells : 1};
  note_mass(&mass, corner, voxel_m, &body.view.rotation, out);
  TL_TRY(fill_body(&body, voxel_m, out));
  body.shift = tl_vec3(0, 0, 0);
  return tl_avatar_finish(out, &options->nodes, body_phi, &body);
}

TlStatus tl_avatar_build_from_phi(TlPhiGrid *grid, const int64_t corner[3], double voxel_m,
                                  uint32_t label, bool border, const TlBuildOptions *options,
                                  TlAvatar *out) {
  *out = (TlAvatar){.label = label, .border = border};
  TlStatus status = build(grid, corner, voxel_m, options, out);
  if (status != TL_OK) tl_avatar_free(out);
  return status;
}
