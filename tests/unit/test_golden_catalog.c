/* The catalog against SQLite itself: each column and array of docs/reference/catalog.md, written by
 * Talus and read by another program, and the other way round. */
#include "post/export_levelset.h"
#include "shape/superellipsoid.h"
#include "store/catalog.h"
#include "support/golden.h"
#include "support/same.h"

#include "base/file.h"

/* ---- a list of what stands where, for tests/golden/catalog.py ---- */

static FILE *list;
static const char *row_of; /* "TABLE KEY ID" of the row at hand */

static void open_list(const char *name) {
  char *path = tl_path_join(tl_test_folder(), name);
  list = fopen(path, "w");
  ck_assert_ptr_nonnull(list);
  tl_free(path);
}

static void number(const char *column, double value) {
  fprintf(list, "number %s %s %.17g\n", row_of, column, value);
}

static void text(const char *column, const char *value) {
  fprintf(list, "text %s %s %s\n", row_of, column, value);
}

static void blob(const char *kind, const void *values, int64_t count, size_t width) {
  static int files;
  char *path = tl_format("%s/raw%d", tl_test_folder(), files++);
  CK_OK(tl_file_write(path, values, (size_t)count * width, true));
  fprintf(list, "blob %s %s %zu %s\n", row_of, kind, width, path);
  tl_free(path);
}

static void ask_python(const char *what, const char *catalog, const char *name) {
  fclose(list);
  char *arguments = tl_format("%s %s %s/%s", what, catalog, tl_test_folder(), name);
  golden("catalog", arguments);
  tl_free(arguments);
}

/* ---- by the document's names ---- */

static void list_avatar(const TlAvatar *a) {
  int64_t points = (int64_t)a->nx * a->ny * a->nz;
  row_of = "avatar id 1";
  number("label", a->label);
  number("border", a->border);
  number("nx", a->nx);
  number("ny", a->ny);
  number("nz", a->nz);
  number("node_count", a->node_count);
  number("spacing_m", a->spacing_m);
  number("origin_x_m", a->origin_m.x);
  number("origin_y_m", a->origin_m.y);
  number("origin_z_m", a->origin_m.z);
  number("phi_error_m", a->phi_error_m);
  number("gradient_max", a->gradient_max);
  number("volume_m3", a->volume_m3);
  number("area_m2", a->area_m2);
  number("inertia_1_m5", a->inertia_m5.x);
  number("inertia_2_m5", a->inertia_m5.y);
  number("inertia_3_m5", a->inertia_m5.z);
  number("radius_m", a->radius_m);
  number("scan_x_m", a->scan_centroid_m.x);
  number("scan_y_m", a->scan_centroid_m.y);
  number("scan_z_m", a->scan_centroid_m.z);
  number("scan_qw", a->scan_rotation.w);
  number("scan_qx", a->scan_rotation.x);
  number("scan_qy", a->scan_rotation.y);
  number("scan_qz", a->scan_rotation.z);
  number("axis_a_m", a->axes_m[0]);
  number("axis_b_m", a->axes_m[1]);
  number("axis_c_m", a->axes_m[2]);
  row_of = "avatar_blob avatar_id 1";
  blob("phi", a->phi, points, 4);
  blob("node", a->node_m, 3 * (int64_t)a->node_count, 4);
  blob("node_area", a->node_area_m2, a->node_count, 4);
}

static void list_check(const TlQuality *q, const TlDescriptors *d) {
  static const char *const verdict[] = {"good", "doubtful", "rejected"};
  row_of = "avatar_check avatar_id 1";
  text("verdict", verdict[q->verdict]);
  text("reason", q->reason);
  number("gradient", q->gradient);
  number("node_cells", q->node);
  number("volume_gap", q->volume);
  number("overlap_cells", q->overlap_depth);
  number("overlap_share", q->overlap_share);
  number("agreement", q->agreement);
  number("elongation", d->elongation);
  number("flatness", d->flatness);
  number("sphericity", d->sphericity);
  number("krumbein", d->krumbein);
  number("convexity", d->convexity);
  number("roundness", d->roundness);
  number("inscribed", d->inscribed);
}

static void list_terrain(const TlTerrain *t) {
  row_of = "terrain id 1";
  text("name", t->name);
  text("crs", t->crs);
  number("origin_x", t->origin[0]);
  number("origin_y", t->origin[1]);
  number("origin_z", t->origin[2]);
  number("nx", (double)t->nx);
  number("ny", (double)t->ny);
  number("cell_m", t->cell_m);
  number("x0_m", t->x0_m);
  number("y0_m", t->y0_m);
  number("holes_filled", (double)t->holes_filled);
  number("band_m", t->band_m);
  number("band_spacing_m", t->band_spacing_m);
  number("z0_m", t->z0_m);
  number("bnx", (double)t->bnx);
  number("bny", (double)t->bny);
  number("band_count", (double)t->band_count);
  row_of = "terrain_blob terrain_id 1";
  blob("height", t->height_m, t->nx * t->ny, 4);
  blob("k_low", t->k_low, t->bnx * t->bny, 4);
  blob("k_count", t->k_count, t->bnx * t->bny, 4);
  blob("start", t->start, t->bnx * t->bny, 8);
  blob("band_phi", t->band_phi, t->band_count, 4);
  row_of = "terrain_class terrain_id 1";
  blob("class", t->class_id, t->nx * t->ny, 4);
  row_of = "terrain_filled terrain_id 1";
  blob("filled", t->filled, t->nx * t->ny, 1);
}

/* ---- what goes in: every number another one ---- */

enum { NX = 4, NY = 3, COLUMNS = 6, BAND = 7 };

typedef struct Things {
  TlAvatar avatar;
  TlQuality quality;
  TlDescriptors descriptors;
  TlTerrain terrain;
  float height[NX * NY], phi[BAND];
  int32_t low[COLUMNS], count[COLUMNS], classes[NX * NY];
  int64_t start[COLUMNS];
  uint8_t filled[NX * NY];
} Things;

/* seed: another one gives other numbers everywhere. */
static void make_checks(Things *t, double seed) {
  t->quality = (TlQuality){.gradient = 1.01 * seed,
                           .node = 0.02 * seed,
                           .volume = 0.003 * seed,
                           .overlap_depth = 0.4 * seed,
                           .overlap_share = 0.05 * seed,
                           .agreement = 0.96 * seed,
                           .verdict = seed > 1 ? TL_REJECTED : TL_DOUBTFUL};
  snprintf(t->quality.reason, sizeof t->quality.reason, "because %g", seed);
  t->descriptors = (TlDescriptors){.elongation = 0.81 * seed,
                                   .flatness = 0.72 * seed,
                                   .sphericity = 0.63 * seed,
                                   .krumbein = 0.54 * seed,
                                   .convexity = 0.45 * seed,
                                   .roundness = 0.36 * seed,
                                   .inscribed = 0.27 * seed};
}

static void make_terrain(Things *t, double seed) {
  static char name[] = "hill", crs[] = "EPSG:2056";
  for (int i = 0; i < NX * NY; i++)
    t->height[i] = (float)(seed * (i + 0.5)), t->classes[i] = (int32_t)(10 * seed) + i;
  for (int i = 0; i < NX * NY; i++) t->filled[i] = i > 3 && i < 4 + (int)(4 * seed);
  for (int i = 0; i < BAND; i++) t->phi[i] = (float)(seed * (i - 3.5));
  for (int i = 0; i < COLUMNS; i++) {
    t->low[i] = (int32_t)(5 * seed) - i;
    t->count[i] = i == 1 ? 3 : i == 4 ? 4 : 0;
    t->start[i] = i <= 1 ? 0 : 3;
  }
  t->terrain = (TlTerrain){.name = name,
                           .crs = crs,
                           .origin = {6e5 + seed, 5e6 + 2 * seed, 1e3 + 3 * seed},
                           .nx = NX,
                           .ny = NY,
                           .cell_m = 5 * seed,
                           .x0_m = -6 * seed,
                           .y0_m = -7 * seed,
                           .height_m = t->height,
                           .class_id = t->classes,
                           .filled = t->filled,
                           .holes_filled = (int64_t)(4 * seed),
                           .band_m = 8 * seed,
                           .band_spacing_m = 2.5 * seed,
                           .z0_m = -9 * seed,
                           .bnx = 3,
                           .bny = 2,
                           .k_low = t->low,
                           .k_count = t->count,
                           .start = t->start,
                           .band_count = BAND,
                           .band_phi = t->phi};
}

static char *new_catalog(const char *name, Things *t) {
  static char *command[] = {"talus-test"};
  TlProvenance p;
  TlCatalog *c;
  int64_t sample, id;
  char *path = tl_path_join(tl_test_folder(), name);
  CK_OK(tl_avatar_superellipsoid(1.1e-3, 9e-4, 7e-4, 1, 0.8, 1e-4, 90, &t->avatar));
  t->avatar.label = 77;
  t->avatar.border = true;
  t->avatar.scan_centroid_m = tl_vec3(0.1, 0.2, 0.3);
  t->avatar.scan_rotation = (TlQuat){0.1, 0.7, 0.5, -0.5};
  make_checks(t, 1);
  make_terrain(t, 1);
  CK_OK(tl_catalog_open(&c, path, TL_CATALOG_CREATE));
  tl_provenance_begin(&p, "talus-test", 1, command);
  CK_OK(tl_catalog_begin(c, &p, NULL));
  CK_OK(tl_catalog_sample(c, "sand", false, (double[]){1e-5, 2e-5, 3e-5}, &sample));
  CK_OK(tl_catalog_add_avatar(c, sample, &t->avatar, &id));
  CK_OK(tl_catalog_put_check(c, id, &t->quality, &t->descriptors));
  CK_OK(tl_catalog_add_terrain(c, &t->terrain, false, &id));
  CK_OK(tl_catalog_commit(c));
  tl_catalog_close(c);
  tl_provenance_free(&p);
  return path;
}

START_TEST(what_talus_writes_sqlite_reads) {
  Things t;
  char *path = new_catalog("written.tals", &t);
  open_list("written.txt");
  list_avatar(&t.avatar);
  list_check(&t.quality, &t.descriptors);
  list_terrain(&t.terrain);
  row_of = "sample id 1";
  text("name", "sand");
  number("voxel_x_m", 1e-5);
  number("voxel_y_m", 2e-5);
  number("voxel_z_m", 3e-5);
  ask_python("check", path, "written.txt");
  tl_avatar_free(&t.avatar);
  tl_free(path);
}
END_TEST

START_TEST(what_sqlite_writes_talus_reads) {
  Things t;
  TlCatalog *c;
  TlAvatar avatar, *a = &t.avatar;
  TlQuality q;
  TlDescriptors d;
  TlTerrain terrain;
  TlGrainRow row;
  bool there;
  char *path = new_catalog("golden.tals", &t);
  a->label = 4000000000u;
  a->border = false;
  double *real[] = {
      &a->spacing_m,         &a->origin_m.x,        &a->origin_m.y,        &a->origin_m.z,
      &a->phi_error_m,       &a->gradient_max,      &a->volume_m3,         &a->area_m2,
      &a->inertia_m5.x,      &a->inertia_m5.y,      &a->inertia_m5.z,      &a->radius_m,
      &a->scan_centroid_m.x, &a->scan_centroid_m.y, &a->scan_centroid_m.z, &a->scan_rotation.w,
      &a->scan_rotation.x,   &a->scan_rotation.y,   &a->scan_rotation.z,   &a->axes_m[0],
      &a->axes_m[1],         &a->axes_m[2]};
  for (size_t i = 0; i < sizeof real / sizeof *real; i++) *real[i] *= 1 + 1e-3 * (double)(i + 1);
  for (int i = 0; i < a->node_count; i++) a->node_area_m2[i] = (float)(7 * i);
  make_checks(&t, 1.5);
  make_terrain(&t, 1.5);
  open_list("golden.txt");
  list_avatar(a);
  list_check(&t.quality, &t.descriptors);
  list_terrain(&t.terrain);
  ask_python("write", path, "golden.txt");
  CK_OK(tl_catalog_open(&c, path, TL_CATALOG_READ));
  CK_OK(tl_catalog_load_avatar(c, 1, &avatar));
  same_avatar(&avatar, a);
  CK_OK(tl_catalog_grain(c, 1, &row));
  ck_assert(row.label == a->label && row.border == a->border && row.node_count == a->node_count);
  SAME(row.volume_m3, a->volume_m3);
  SAME(row.area_m2, a->area_m2);
  SAME(row.radius_m, a->radius_m);
  SAME(row.spacing_m, a->spacing_m);
  SAME(row.inertia_m5, a->inertia_m5);
  SAME(row.axes_m, a->axes_m);
  SAME(row.scan_centroid_m, a->scan_centroid_m);
  SAME(row.scan_rotation, a->scan_rotation);
  CK_OK(tl_catalog_get_check(c, 1, &q, &d, &there));
  ck_assert(there && q.verdict == TL_REJECTED);
  ck_assert_str_eq(q.reason, "because 1.5");
  ck_assert_int_eq(memcmp(&q, &t.quality, offsetof(TlQuality, verdict)), 0);
  ck_assert_int_eq(memcmp(&d.elongation, &t.descriptors.elongation, 7 * sizeof(double)), 0);
  CK_NEAR(d.diameter_m, cbrt(6 * a->volume_m3 / M_PI), 1e-15);
  SAME(d.axes_m, a->axes_m);
  CK_OK(tl_catalog_load_terrain(c, "hill", &terrain));
  same_terrain(&terrain, &t.terrain);
  ck_assert_int_eq(memcmp(terrain.class_id, t.terrain.class_id, sizeof(int32_t) * NX * NY), 0);
  tl_catalog_close(c);
  tl_terrain_free(&terrain);
  tl_avatar_free(&avatar);
  tl_avatar_free(a);
  tl_free(path);
}
END_TEST

/* YADE would make bodies of these grains where they lay and as they were turned. */
START_TEST(the_yade_loader_places_and_turns_grains) {
  static char *command[] = {"talus-test"};
  const double half = sqrt(0.5);
  const TlQuat turn[] = {{half, 0, 0, half}, {half, half, 0, 0}};
  const TlVec3 centre[] = {{0.1, 0.2, 0.3}, {1, 2, 3}};
  TlGrainRow row[2];
  TlProvenance p;
  TlCatalog *c;
  TlAvatar a;
  int64_t sample, id;
  char *path = tl_path_join(tl_test_folder(), "yade.tals"),
       *folder = tl_path_join(tl_test_folder(), "yade");
  CK_OK(tl_dir_make(folder));
  CK_OK(tl_catalog_open(&c, path, TL_CATALOG_CREATE));
  tl_provenance_begin(&p, "talus-test", 1, command);
  CK_OK(tl_catalog_begin(c, &p, NULL));
  CK_OK(tl_catalog_sample(c, "sand", false, (double[]){1e-5, 1e-5, 1e-5}, &sample));
  for (int i = 0; i < 2; i++) {
    CK_OK(tl_avatar_superellipsoid(3e-3, 2e-3, 1e-3, 1, 1, 1e-4, 90, &a));
    a.label = (uint32_t)i + 1;
    a.border = i == 1;
    a.scan_centroid_m = centre[i];
    a.scan_rotation = turn[i];
    CK_OK(tl_catalog_add_avatar(c, sample, &a, &id));
    CK_OK(tl_catalog_grain(c, id, &row[i]));
    char *stem = tl_format("%s/grain_%06d", folder, (int)id);
    CK_OK(tl_npy_write(stem, false, &a));
    tl_free(stem);
    tl_avatar_free(&a);
  }
  CK_OK(tl_yade_loader_write(folder, false, row, 2, c));
  CK_OK(tl_catalog_commit(c));
  tl_catalog_close(c);
  tl_provenance_free(&p);
  golden("yade", folder);
  tl_free(folder);
  tl_free(path);
}
END_TEST

TL_TEST_MAIN("golden catalog", what_talus_writes_sqlite_reads, what_sqlite_writes_talus_reads,
             the_yade_loader_places_and_turns_grains)
