/* Avatars without a scan: grains from closed meshes and from superellipsoids. */
#include "stage/input.h"

#include "base/log.h"
#include "base/mem.h"
#include "io/mesh_body.h"
#include "shape/from_mesh.h"
#include "shape/superellipsoid.h"
#include "store/catalog.h"

#include <math.h>
#include <stdio.h>

/* What the modes share of the tool's other options. */
typedef struct Job {
  const TlStageCall *call;
  const TlSolidStage *values;
  const char *catalog, *sample;
  bool overwrite;
  int32_t nodes;
} Job;

/* first: the look before anything is made, which speaks and notes the file in the provenance. */
static TlStatus read_mesh(const Job *job, const char *path, bool first, TlTriangles *mesh) {
  double unit_m = 1;
  *mesh = (TlTriangles){0};
  TL_TRY(tl_context(tl_mesh_unit(job->values->unit, &unit_m), "--unit"));
  if (first) TL_TRY(tl_provenance_input(job->call->provenance, path));
  return tl_mesh_read_body(path, unit_m * job->values->scale, first, mesh);
}

static TlStatus from_mesh(const Job *job, const char *path, TlAvatar *avatar) {
  TlTriangles mesh;
  TlFromMesh options = {.spacing_m = 1e-6 * job->values->spacing_um,
                        .nodes = job->nodes,
                        .sharp_deg = job->values->sharp_deg};
  TlStatus status = read_mesh(job, path, false, &mesh);
  if (status == TL_OK)
    status = tl_context(tl_avatar_from_mesh(&mesh, &options, avatar), "%s", path);
  tl_triangles_free(&mesh);
  return status;
}

static TlStatus from_text(const Job *job, const char *text, TlAvatar *avatar) {
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

typedef struct Totals {
  int64_t grains, nodes;
  double volume_m3, least_um, most_um, error;
} Totals;

static TlStatus add(TlCatalog *catalog, int64_t sample, const char *name, TlAvatar *avatar,
                    Totals *t) {
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

static TlStatus add_all(const Job *job, TlCatalog *catalog, int64_t *sample, Totals *t) {
  int64_t meshes = job->values->mesh ? job->call->inputs : 0;
  for (int64_t i = 0; i < meshes + job->values->superellipsoid_um.count; i++) {
    TlAvatar avatar = {0};
    const char *name =
        i < meshes ? job->call->input[i] : job->values->superellipsoid_um.items[i - meshes];
    TL_TRY(i < meshes ? from_mesh(job, name, &avatar) : from_text(job, name, &avatar));
    double voxel[3] = {avatar.spacing_m, avatar.spacing_m, avatar.spacing_m};
    TlStatus status = TL_OK;
    if (t->grains == 0) /* the sample says the first one's spacing; each grain has its own */
      status = tl_catalog_sample(catalog, job->sample, job->overwrite, voxel, sample);
    if (status == TL_OK) status = add(catalog, *sample, name, &avatar, t);
    tl_avatar_free(&avatar);
    TL_TRY(status);
  }
  return TL_OK;
}

static TlStatus report(const Job *job, const Totals *t) {
  TlReport *r = job->call->report;
  TL_TRY(tl_report_text(r, "sample", job->sample));
  TL_TRY(tl_report_int(r, "grains", t->grains, ""));
  TL_TRY(tl_report_real(r, "volume", 1e9 * t->volume_m3, "mm3"));
  TL_TRY(tl_report_real(r, "least_diameter", t->least_um, "um"));
  TL_TRY(tl_report_real(r, "largest_diameter", t->most_um, "um"));
  TL_TRY(tl_report_real(r, "distance_error", t->error, "spacings"));
  return tl_report_int(r, "nodes", t->nodes, "");
}

/* All meshes are read and checked before anything is made; a dry run does no more. */
static TlStatus check_meshes(const Job *job) {
  for (int i = 0; job->values->mesh && i < job->call->inputs; i++) {
    TlTriangles mesh;
    TlStatus status = read_mesh(job, job->call->input[i], true, &mesh);
    tl_triangles_free(&mesh);
    TL_TRY(status);
  }
  return TL_OK;
}

TlStatus tl_stage_solids(const TlStageCall *call, const TlAvatarsStage *options) {
  const Job own = {call,
                   &options->solid,
                   options->catalog,
                   options->sample,
                   options->overwrite,
                   (int32_t)options->nodes};
  const Job *job = &own;
  TlCatalog *catalog = NULL;
  Totals totals = {0};
  int64_t sample = 0;
  const TlSolidStage *v = job->values;
  if (v->mesh && job->call->inputs == 0) return tl_fail(TL_EUSAGE, "--mesh: mesh files wanted");
  if (!v->mesh && job->call->inputs > 0)
    return tl_fail(TL_EUSAGE, "%s: --superellipsoid-um takes no files (for meshes: --mesh)",
                   job->call->input[0]);
  TL_TRY(check_meshes(job));
  if (job->call->dry_run) return TL_OK;
  TlStatus s = tl_catalog_open(&catalog, job->catalog, TL_CATALOG_CREATE);
  if (s == TL_OK) s = tl_catalog_begin(catalog, job->call->provenance, NULL);
  if (s == TL_OK) s = add_all(job, catalog, &sample, &totals);
  if (s == TL_OK) s = tl_catalog_commit(catalog);
  tl_catalog_close(catalog);
  return s == TL_OK ? report(job, &totals) : s;
}
