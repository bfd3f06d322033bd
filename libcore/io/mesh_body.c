#include "io/mesh_body.h"

#include "base/log.h"
#include "io/mesh_read.h"

#include <string.h>

TlStatus tl_mesh_unit(const char *name, double *metres) {
  static const struct {
    const char *name;
    double metres;
  } units[] = {{"m", 1}, {"cm", 1e-2}, {"mm", 1e-3}, {"um", 1e-6}, {"inch", 0.0254}};
  if (!name || !name[0])
    return tl_fail(TL_EUSAGE, TL_MESH_UNITS " wanted: mesh files do not say in what unit they are");
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (strcmp(name, units[i].name) == 0) return *metres = units[i].metres, TL_OK;
  return tl_fail(TL_EUSAGE, "%s is no unit of a mesh; " TL_MESH_UNITS " wanted", name);
}

static void say(const char *path, const TlTriangles *mesh, const TlTrianglesReport *r,
                double unit_m) {
  TlVec3 low, high;
  tl_triangles_box(mesh, &low, &high);
  TlVec3 size = tl_scale(1e3, tl_sub(high, low));
  tl_log_info("%s: %lld triangles, %lld vertices (%lld welded); %.4g x %.4g x %.4g mm at %g m a "
              "unit, volume %.5g mm3",
              path, (long long)mesh->triangles, (long long)mesh->vertices, (long long)r->welded,
              size.x, size.y, size.z, unit_m, 1e9 * tl_triangles_volume(mesh));
  if (r->turned) tl_log_warn("%s: all facets pointed inwards; they were turned", path);
  if (r->collapsed + r->flat > 0)
    tl_log_warn("%s: %lld facets with two corners in one place were left out, %lld flat ones kept",
                path, (long long)r->collapsed, (long long)r->flat);
}

TlStatus tl_mesh_read_body(const char *path, double unit_m, bool speak, TlTriangles *mesh) {
  TlTrianglesReport report;
  TL_TRY(tl_mesh_read(path, mesh));
  TL_TRY(tl_context(tl_triangles_make_body(mesh, &report), "%s", path));
  for (int64_t i = 0; i < mesh->vertices; i++) mesh->vertex[i] = tl_scale(unit_m, mesh->vertex[i]);
  if (speak) say(path, mesh, &report, unit_m);
  return TL_OK;
}
