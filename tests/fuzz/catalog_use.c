#include "fuzz/catalog_use.h"

#include "base/mem.h"
#include "fuzz/fuzz.h"
#include "store/catalog.h"

#include <math.h>
#include <stdlib.h>

static TlStatus each_sample(void *context, const TlSampleRow *row) {
  (void)context;
  return row->name ? TL_OK : tl_fail(TL_EINPUT, "a sample without a name");
}

static TlStatus each_terrain(void *of, const TlTerrainRow *row) {
  TlCatalog *c = of;
  TlTerrain t;
  TlVec3 n;
  double phi;
  if (!row->name) return TL_OK;
  TL_TRY(tl_catalog_load_terrain(c, row->name, &t));
  for (int k = 0; k < 20; k++)
    (void)tl_terrain_phi(&t, tl_vec3(sin(k) * 4, cos(k) * 4, k - 10), &phi, &n);
  (void)tl_terrain_class(&t, 1, 1);
  tl_terrain_free(&t);
  return TL_OK;
}

static TlStatus each_run(void *context, const TlRunRow *row) {
  (void)context;
  return row->tool ? TL_OK : tl_fail(TL_EINPUT, "a run without a tool");
}

static TlStatus each_grain(void *of, const TlGrainRow *row) {
  TlCatalog *c = of;
  TlAvatar a;
  TlQuality quality;
  TlDescriptors descriptors;
  TlVec3 g;
  bool there;
  tl_fuzz_done(tl_catalog_get_check(c, row->id, &quality, &descriptors, &there));
  tl_fuzz_done(tl_catalog_walk_provenance(c, row->id, each_run, NULL));
  TL_TRY(tl_catalog_load_avatar(c, row->id, &a));
  for (int k = 0; k < 20; k++)
    (void)tl_avatar_phi(&a, tl_scale(a.spacing_m, tl_vec3(sin(k) * 4, cos(k) * 4, k - 10)), &g);
  tl_avatar_free(&a);
  return TL_OK;
}

static void write_to(const char *path) {
  TlCatalog *c;
  TlProvenance p;
  TlJudged judged;
  int64_t gone;
  char *argv[] = {(char *)(uintptr_t) "fuzz", NULL};
  TlStatus status = tl_catalog_open(&c, path, TL_CATALOG_WRITE);
  tl_fuzz_done(status);
  if (status != TL_OK) return;
  tl_provenance_begin(&p, "fuzz", 1, argv);
  status = tl_catalog_begin(c, &p, "[]");
  if (status == TL_OK) tl_fuzz_done(tl_catalog_judge(c, "sand", &judged));
  if (status == TL_OK) status = tl_catalog_remove_sample(c, "sand", &gone);
  tl_fuzz_done(status);
  tl_provenance_free(&p);
  tl_catalog_close(c);
}

void tl_catalog_use(const char *path) {
  TlCatalog *c;
  int64_t avatars, terrains, count[3];
  char *history = NULL;
  TlGrainQuery all = {.with_border = true, .with_rejected = true}, good = {.sample = "sand"};
  TlStatus status = tl_catalog_open(&c, path, TL_CATALOG_READ);
  tl_fuzz_done(status);
  if (status != TL_OK) return;
  TlStatus verified = tl_catalog_verify(c, &avatars, &terrains);
  tl_fuzz_done(verified);
  tl_fuzz_done(tl_catalog_walk_samples(c, each_sample, NULL));
  TlStatus loaded = tl_catalog_walk_terrains(c, each_terrain, c);
  if (loaded == TL_OK) loaded = tl_catalog_walk_grains(c, &all, each_grain, c);
  tl_fuzz_done(loaded);
  if (verified == TL_OK) tl_fuzz_must(loaded); /* what is verified can be loaded */
  tl_fuzz_done(tl_catalog_count_grains(c, &good, &avatars));
  tl_fuzz_done(tl_catalog_count_verdicts(c, NULL, count));
  tl_fuzz_done(tl_catalog_history(c, &history));
  tl_free(history);
  tl_catalog_close(c);
  write_to(path);
}
