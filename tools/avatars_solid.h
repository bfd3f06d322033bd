/* talus-avatars without a scan: grains from closed meshes and from superellipsoids. */
#ifndef TL_TOOLS_AVATARS_SOLID_H
#define TL_TOOLS_AVATARS_SOLID_H

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/report.h"
#include "conf/cli.h"
#include "io/mesh_body.h"
#include "shape/from_mesh.h"
#include "shape/superellipsoid.h"
#include "store/catalog.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct SolidValues {
  bool mesh;
  char *unit;
  TlTexts superellipsoid_um;
  double scale, spacing_um, sharp_deg;
} SolidValues;

/* What the modes share of the tool's other options. */
typedef struct SolidJob {
  const TlCall *call;
  const SolidValues *values;
  const char *catalog, *sample;
  bool overwrite;
  int32_t nodes;
} SolidJob;

/* Rows of a parameter table for a struct with a member `solid`. */
#define SOLID_AT(Values, member) offsetof(Values, solid.member)
#define SOLID_PARAMS(Values)                                                                       \
  {"", TL_P_HEADING, 0, "", "", 0, 0, NULL, "Grains without a scan", NULL},                        \
      {"mesh", TL_P_FLAG, SOLID_AT(Values, mesh),                                                  \
       "",     "false",   0,                                                                       \
       0,      NULL,      "the arguments are closed meshes (STL, PLY, OBJ), one grain each",       \
       NULL},                                                                                      \
      {"unit",                                                                                     \
       TL_P_TEXT,                                                                                  \
       SOLID_AT(Values, unit),                                                                     \
       "",                                                                                         \
       "",                                                                                         \
       0,                                                                                          \
       0,                                                                                          \
       NULL,                                                                                       \
       "unit of the meshes' coordinates: m, cm, mm, um or inch; it stands in no such file and is " \
       "never guessed",                                                                            \
       "UNIT"},                                                                                    \
      {"scale", TL_P_REAL, SOLID_AT(Values, scale),                                                \
       "",      "1",       1e-9,                                                                   \
       1e9,     NULL,      "make the meshes this many times as large",                             \
       NULL},                                                                                      \
      {"superellipsoid-um",                                                                        \
       TL_P_TEXTS,                                                                                 \
       SOLID_AT(Values, superellipsoid_um),                                                        \
       "um",                                                                                       \
       "",                                                                                         \
       0,                                                                                          \
       0,                                                                                          \
       NULL,                                                                                       \
       "a grain by formula: half axes a, b, c and the exponents ee, en (1,1: ellipsoid; towards "  \
       "0: box; 2: octahedron); may be given again and again",                                     \
       "A,B,C,EE,EN"},                                                                             \
      {"spacing-um", TL_P_REAL, SOLID_AT(Values, spacing_um),                                      \
       "um",         "0",       0,                                                                 \
       1e9,          NULL,      "grid spacing of these grains; 0: a thirtieth of the diameter",    \
       NULL},                                                                                      \
  {                                                                                                \
    "sharp-deg", TL_P_REAL, SOLID_AT(Values, sharp_deg), "deg", "30", 1, 180, NULL,                \
        "edges of a mesh where facets turn by more than this get nodes of their own", NULL         \
  }

static inline bool solid_wanted(const SolidValues *v) {
  return v->mesh || v->superellipsoid_um.count > 0;
}

/* first: the look before anything is made, which speaks and notes the file in the provenance. */
static inline TlStatus solid_read_mesh(const SolidJob *job, const char *path, bool first,
                                       TlTriangles *mesh) {
  double unit_m = 1;
  *mesh = (TlTriangles){0};
  TL_TRY(tl_context(tl_mesh_unit(job->values->unit, &unit_m), "--unit"));
  if (first) TL_TRY(tl_provenance_input(job->call->provenance, path));
  return tl_mesh_read_body(path, unit_m * job->values->scale, first, mesh);
}

static inline TlStatus solid_from_mesh(const SolidJob *job, const char *path, TlAvatar *avatar) {
  TlTriangles mesh;
  TlFromMesh options = {.spacing_m = 1e-6 * job->values->spacing_um,
                        .nodes = job->nodes,
                        .sharp_deg = job->values->sharp_deg};
  TlStatus status = solid_read_mesh(job, path, false, &mesh);
  if (status == TL_OK)
    status = tl_context(tl_avatar_from_mesh(&mesh, &options, avatar), "%s", path);
  tl_triangles_free(&mesh);
  return status;
}

static inline TlStatus solid_from_text(const SolidJob *job, const char *text, TlAvatar *avatar) {
  double x[5];
  char more;
  if (sscanf(text, "%lf,%lf,%lf,%lf,%lf%c", &x[0], &x[1], &x[2], &x[3], &x[4], &more) != 5)
    return tl_fail(TL_EUSAGE, "--superellipsoid-um=%s: five numbers A,B,C,EE,EN wanted", text);
  double spacing = job->values->spacing_um;
  /* the sphere of the same three half axes is near enough for a default */
  if (!(spacing > 0)) spacing = 2 * cbrt(x[0] * x[1] * x[2]) / 30;
  return tl_context(tl_avatar_superellipsoid(1e-6 * x[0], 1e-6 * x[1], 1e-6 * x[2], x[3], x[4],
                                             1e-6 * spacing, job->nodes, avatar),
                    "--superellipsoid-um=%s", text);
}

typedef struct SolidTotals {
  int64_t grains, nodes;
  double volume_m3, least_um, most_um, error;
} SolidTotals;

static inline TlStatus solid_add(TlCatalog *catalog, int64_t sample, const char *name,
                                 TlAvatar *avatar, SolidTotals *t) {
  int64_t id;
  double diameter_um = 1e6 * tl_avatar_diameter_m(avatar);
  avatar->label = (uint32_t)(t->grains + 1);
  TL_TRY(tl_context(tl_catalog_add_avatar(catalog, sample, avatar, &id), "%s", name));
  tl_log_info("grain %lld: %s: diameter %.5g um, %d x %d x %d grid of %.4g um, %d nodes",
              (long long)id, name, diameter_um, avatar->nx, avatar->ny, avatar->nz,
              1e6 * avatar->spacing_m, avatar->node_count);
  t->least_um = t->grains == 0 ? diameter_um : fmin(t->least_um, diameter_um);
  t->most_um = fmax(t->most_um, diameter_um);
  t->error = fmax(t->error, avatar->phi_error_m / avatar->spacing_m);
  t->volume_m3 += avatar->volume_m3;
  t->nodes += avatar->node_count;
  t->grains++;
  return TL_OK;
}

static inline TlStatus solid_all(const SolidJob *job, TlCatalog *catalog, int64_t *sample,
                                 SolidTotals *t) {
  int64_t meshes = job->values->mesh ? job->call->argc : 0;
  for (int64_t i = 0; i < meshes + job->values->superellipsoid_um.count; i++) {
    TlAvatar avatar = {0};
    const char *name =
        i < meshes ? job->call->argv[i] : job->values->superellipsoid_um.items[i - meshes];
    TL_TRY(i < meshes ? solid_from_mesh(job, name, &avatar) : solid_from_text(job, name, &avatar));
    double voxel[3] = {avatar.spacing_m, avatar.spacing_m, avatar.spacing_m};
    TlStatus status = TL_OK;
    if (t->grains == 0) /* the sample says the first one's spacing; each grain has its own */
      status = tl_catalog_sample(catalog, job->sample, job->overwrite, voxel, sample);
    if (status == TL_OK) status = solid_add(catalog, *sample, name, &avatar, t);
    tl_avatar_free(&avatar);
    TL_TRY(status);
  }
  return TL_OK;
}

static inline TlStatus solid_report(const SolidJob *job, const SolidTotals *t) {
  TlReport r = {0};
  TlStatus s = tl_report_text(&r, "sample", job->sample);
  if (s == TL_OK) s = tl_report_int(&r, "grains", t->grains, "");
  if (s == TL_OK) s = tl_report_real(&r, "volume", 1e9 * t->volume_m3, "mm3");
  if (s == TL_OK) s = tl_report_real(&r, "least_diameter", t->least_um, "um");
  if (s == TL_OK) s = tl_report_real(&r, "largest_diameter", t->most_um, "um");
  if (s == TL_OK) s = tl_report_real(&r, "distance_error", t->error, "spacings");
  if (s == TL_OK) s = tl_report_int(&r, "nodes", t->nodes, "");
  if (s == TL_OK) s = tl_report_print(&r, job->call->json);
  tl_report_free(&r);
  return s;
}

/* All meshes are read and checked before anything is made; a dry run does no more. */
static inline TlStatus solid_check_only(const SolidJob *job) {
  for (int i = 0; job->values->mesh && i < job->call->argc; i++) {
    TlTriangles mesh;
    TlStatus status = solid_read_mesh(job, job->call->argv[i], true, &mesh);
    tl_triangles_free(&mesh);
    TL_TRY(status);
  }
  return TL_OK;
}

static inline TlStatus solid_run(const SolidJob *job) {
  TlCatalog *catalog = NULL;
  SolidTotals totals = {0};
  int64_t sample = 0;
  const SolidValues *v = job->values;
  if (v->mesh && job->call->argc == 0) return tl_fail(TL_EUSAGE, "--mesh: mesh files wanted");
  if (!v->mesh && job->call->argc > 0)
    return tl_fail(TL_EUSAGE, "%s: --superellipsoid-um takes no files (for meshes: --mesh)",
                   job->call->argv[0]);
  TL_TRY(solid_check_only(job));
  if (job->call->dry_run) return TL_OK;
  TlStatus s = tl_catalog_open(&catalog, job->catalog, TL_CATALOG_CREATE);
  if (s == TL_OK) s = tl_catalog_begin(catalog, job->call->provenance, NULL);
  if (s == TL_OK) s = solid_all(job, catalog, &sample, &totals);
  if (s == TL_OK) s = tl_catalog_commit(catalog);
  tl_catalog_close(catalog);
  return s == TL_OK ? solid_report(job, &totals) : s;
}

#endif
