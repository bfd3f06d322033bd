/* The catalog: avatars, terrains and the provenance of both in one SQLite file
 * (docs/reference/catalog.md).
 *
 * application_id 0x54414C53 ("TALS"), user_version = TL_CATALOG_SCHEMA, STRICT tables, foreign keys
 * on, rollback journal, busy timeout. Grids are zstd-compressed blobs with their CRC. A catalog of
 * another version or application is refused with what to do. Every write happens inside a run:
 * begin (a provenance row) ... commit, all or nothing.
 * The provenance is copied at begin (end time and peak memory are put in at commit), so inputs and
 * parameters are added to it before. A second writer waits for the first, up to ten minutes.
 * An avatar that tl_avatar_check refuses is not stored.
 * One connection a process and thread; many ranks may read at once.
 */
#ifndef TL_STORE_CATALOG_H
#define TL_STORE_CATALOG_H

#include "base/provenance.h"
#include "shape/avatar.h"
#include "shape/descriptors.h"
#include "shape/quality.h"
#include "shape/terrain.h"

enum { TL_CATALOG_SCHEMA = 5 };

typedef struct TlCatalog TlCatalog;

typedef enum TlCatalogMode {
  TL_CATALOG_READ = 0,
  TL_CATALOG_WRITE, /* must exist */
  TL_CATALOG_CREATE /* made when missing, opened for writing when there */
} TlCatalogMode;

TlStatus tl_catalog_open(TlCatalog **catalog, const char *path, TlCatalogMode mode);
/* NULL is fine. An open run is rolled back; a catalog that was made by this opening and holds no
 * run is removed again. */
void tl_catalog_close(TlCatalog *catalog);

/* A writing session: stores the run and (once each) the runs of history, the JSON array that came
 * with the input stack; later rows refer to it. */
TlStatus tl_catalog_begin(TlCatalog *catalog, const TlProvenance *provenance, const char *history);
TlStatus tl_catalog_commit(TlCatalog *catalog);

/* Avatars. add sets *id. A sample is a named set of avatars (one scan): its name must be new, or
 * replace must be set: then its earlier avatars go. */
TlStatus tl_catalog_sample(TlCatalog *catalog, const char *sample, bool replace,
                           const double voxel_m[3], int64_t *sample_id);
TlStatus tl_catalog_add_avatar(TlCatalog *catalog, int64_t sample_id, const TlAvatar *avatar,
                               int64_t *id);
TlStatus tl_catalog_load_avatar(TlCatalog *catalog, int64_t id, TlAvatar *avatar);

/* Residuals, verdict and descriptors of a stored avatar; putting them again replaces them. get:
 * *there is false where none were stored. */
TlStatus tl_catalog_put_check(TlCatalog *catalog, int64_t id, const TlQuality *quality,
                              const TlDescriptors *descriptors);
TlStatus tl_catalog_get_check(TlCatalog *catalog, int64_t id, TlQuality *quality,
                              TlDescriptors *descriptors, bool *there);
/* Measures the overlaps of a sample's grains where they lay in the scan, and judges all that have
 * residuals (tl_quality_judge); a session must be open. Memory: the grains that one plane z cuts.
 */
typedef struct TlJudged {
  int64_t count[3];                           /* by verdict */
  double deepest_cells, volume_m3, common_m3; /* deepest overlap; of all grains; in two of them */
} TlJudged;
TlStatus tl_catalog_judge(TlCatalog *catalog, const char *sample, TlJudged *judged);
/* Grains by verdict; those without one count as good. NULL: all samples. */
TlStatus tl_catalog_count_verdicts(TlCatalog *catalog, const char *sample, int64_t count[3]);

/* What a listing and an assembly need of a grain, without its grid. */
typedef struct TlGrainRow {
  int64_t id, sample_id;
  uint32_t label;
  bool border;
  double volume_m3, area_m2, radius_m, spacing_m;
  TlVec3 inertia_m5;
  double axes_m[3];
  TlVec3 scan_centroid_m;
  TlQuat scan_rotation;
  int32_t node_count;
} TlGrainRow;

typedef struct TlGrainQuery {
  const char *sample;                       /* NULL: all samples */
  bool with_border;                         /* also grains cut by the border */
  bool with_rejected;                       /* also those with the verdict rejected */
  double least_diameter_m, most_diameter_m; /* volume-equivalent; 0: no bound */
  int64_t offset, limit;                    /* in order of id; limit 0: all */
} TlGrainQuery;

TlStatus tl_catalog_count_grains(TlCatalog *catalog, const TlGrainQuery *query, int64_t *count);
/* visit(context, row) for each grain in order of id; a status other than TL_OK ends the walk. */
TlStatus tl_catalog_walk_grains(TlCatalog *catalog, const TlGrainQuery *query,
                                TlStatus (*visit)(void *context, const TlGrainRow *row),
                                void *context);
TlStatus tl_catalog_grain(TlCatalog *catalog, int64_t id, TlGrainRow *row); /* TL_EINPUT: none */

/* Terrains, by unique name; replace as for samples. */
TlStatus tl_catalog_add_terrain(TlCatalog *catalog, const TlTerrain *terrain, bool replace,
                                int64_t *id);
TlStatus tl_catalog_load_terrain(TlCatalog *catalog, const char *name, TlTerrain *terrain);

/* ---- listings: texts of a row are borrowed for the visit ---- */

typedef struct TlSampleRow {
  int64_t id;
  const char *name;
  double voxel_m[3];
  int64_t grains, border_grains; /* all of them; those cut by the border */
} TlSampleRow;
typedef struct TlTerrainRow {
  int64_t id;
  const char *name, *crs;
  int64_t nx, ny;
  double cell_m, band_m, band_spacing_m;
  double origin[3];  /* CRS coordinates of the local origin */
  double x0_m, y0_m; /* local place of the first sample */
  int64_t holes_filled;
} TlTerrainRow;
/* A run behind a grain: step 0 is the oldest, the last one is the run that stored the grain. */
typedef struct TlRunRow {
  int64_t step;
  const char *tool, *version, *commit, *command, *host, *start_utc, *end_utc, *inputs, *parameters;
} TlRunRow;

TlStatus tl_catalog_walk_samples(TlCatalog *catalog,
                                 TlStatus (*visit)(void *context, const TlSampleRow *row),
                                 void *context);
TlStatus tl_catalog_walk_terrains(TlCatalog *catalog,
                                  TlStatus (*visit)(void *context, const TlTerrainRow *row),
                                  void *context);
TlStatus tl_catalog_walk_provenance(TlCatalog *catalog, int64_t grain,
                                    TlStatus (*visit)(void *context, const TlRunRow *row),
                                    void *context);
/* Removes a sample with its grains; a session must be open. TL_EINPUT: no such sample. */
TlStatus tl_catalog_remove_sample(TlCatalog *catalog, const char *sample, int64_t *avatars);

/* JSON array of the runs behind this catalog (for results); fresh memory. */
TlStatus tl_catalog_history(TlCatalog *catalog, char **json);
/* quick_check, foreign keys, every blob's CRC and every avatar by tl_avatar_check. */
TlStatus tl_catalog_verify(TlCatalog *catalog, int64_t *avatars, int64_t *terrains);

#endif
