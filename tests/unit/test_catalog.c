#include "support/tltest.h"

#include "base/claims.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/random.h"
#include "store/catalog.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const double PI = 3.14159265358979323846;

static char *in_folder(const char *name) {
  return tl_path_join(tl_test_folder(), name);
}

/* A sphere by its closed form: enough nodes for the checks, odd numbers in every field. */
static void make_sphere(TlAvatar *a, double radius_m, uint32_t label) {
  int32_t n = 15, nodes = 40;
  double h = 2.5 * radius_m / (n - 1);
  *a = (TlAvatar){.label = label,
                  .border = label % 2 == 1,
                  .nx = n,
                  .ny = n,
                  .nz = n,
                  .spacing_m = h,
                  .origin_m = {-1.25 * radius_m, -1.25 * radius_m, -1.25 * radius_m},
                  .phi_error_m = 0.01 * h,
                  .gradient_max = 1.01,
                  .node_count = nodes,
                  .volume_m3 = 4 * PI / 3 * pow(radius_m, 3),
                  .area_m2 = 4 * PI * radius_m * radius_m,
                  .radius_m = radius_m * 1.01,
                  .scan_centroid_m = {0.1, 1.0 / 3, -7e-5},
                  .scan_rotation = tl_quat_from_rotation(tl_vec3(0.1, -0.2, 0.3)),
                  .axes_m = {2 * radius_m, 1.9 * radius_m, 1.8 * radius_m}};
  double inertia = 0.4 * a->volume_m3 * radius_m * radius_m;
  a->inertia_m5 = tl_vec3(inertia, inertia * 1.001, inertia * 1.002);
  CK_OK(TL_NEW(a->phi, (size_t)(n * n * n)));
  CK_OK(TL_NEW(a->node_m, (size_t)(3 * nodes)));
  CK_OK(TL_NEW(a->node_area_m2, (size_t)nodes));
  for (int i = 0; i < n * n * n; i++) {
    TlVec3 p = tl_add(a->origin_m, tl_vec3(h * (i % n), h * (i / n % n), h * (i / n / n)));
    a->phi[i] = (float)(tl_norm(p) - radius_m);
  }
  for (int i = 0; i < nodes; i++) {
    double z = -1 + (2 * i + 1.0) / nodes, r = sqrt(1 - z * z), t = 2.4 * i;
    a->node_m[3 * i] = (float)(radius_m * r * cos(t));
    a->node_m[3 * i + 1] = (float)(radius_m * r * sin(t));
    a->node_m[3 * i + 2] = (float)(radius_m * z);
    a->node_area_m2[i] = (float)(a->area_m2 / nodes);
  }
}

static void make_terrain(TlTerrain *t, const char *name) {
  *t = (TlTerrain){.name = tl_strdup(name),
                   .crs = tl_strdup("LOCAL[\"it's\"]"),
                   .origin = {651234.125, 5.2e6 + 1.0 / 3, 1234.5},
                   .nx = 7,
                   .ny = 5,
                   .cell_m = 5,
                   .x0_m = -15,
                   .y0_m = -10,
                   .holes_filled = 3,
                   .band_m = 10,
                   .band_spacing_m = 2.5,
                   .z0_m = -20,
                   .bnx = 13,
                   .bny = 9};
  int64_t columns = t->bnx * t->bny;
  CK_OK(TL_NEW(t->height_m, 35));
  CK_OK(TL_NEW(t->k_low, (size_t)columns));
  CK_OK(TL_NEW(t->k_count, (size_t)columns));
  CK_OK(TL_NEW(t->start, (size_t)columns));
  for (int64_t i = 0; i < columns; i++) {
    t->k_low[i] = (int32_t)(i % 4) - 1;
    t->k_count[i] = (int32_t)(i % 5);
    t->start[i] = t->band_count;
    t->band_count += t->k_count[i];
  }
  CK_OK(TL_NEW(t->band_phi, (size_t)t->band_count));
  for (int64_t i = 0; i < t->band_count; i++)
    t->band_phi[i] = (float)tl_random_normal(3, 1, (uint64_t)i);
  for (int i = 0; i < 35; i++)
    t->height_m[i] = i == 4 ? NAN : (float)tl_random_normal(3, 2, (uint64_t)i);
}

static char *command[] = {"talus-test", "--name=it's", "two words"};

static TlProvenance provenance_of_test(void) {
  TlProvenance p;
  tl_provenance_begin(&p, "talus-test", 3, command);
  p.seed = 18446744073709551615u; /* above SQLite's largest integer */
  CK_OK(tl_provenance_parameter(&p, "voxel_size_um", "10"));
  return p;
}

static void begin(TlCatalog *c, const char *history) {
  TlProvenance p = provenance_of_test();
  CK_OK(tl_catalog_begin(c, &p, history));
  tl_provenance_free(&p);
}

/* One sample "sand" with grains of radius 1, 2, ... mm, labels 1, 2, ... */
static void fill(const char *path, int grains, const char *sample) {
  TlCatalog *c;
  int64_t sample_id, id;
  CK_OK(tl_catalog_open(&c, path, TL_CATALOG_CREATE));
  begin(c, NULL);
  CK_OK(tl_catalog_sample(c, sample, false, (double[]){1e-5, 1e-5, 2e-5}, &sample_id));
  for (int g = 1; g <= grains; g++) {
    TlAvatar a;
    make_sphere(&a, 1e-3 * g, (uint32_t)g);
    CK_OK(tl_catalog_add_avatar(c, sample_id, &a, &id));
    ck_assert_int_eq(id, g);
    tl_avatar_free(&a);
  }
  CK_OK(tl_catalog_commit(c));
  tl_catalog_close(c);
}

static int64_t count_in(const char *path) {
  TlCatalog *c;
  int64_t avatars, terrains;
  CK_OK(tl_catalog_open(&c, path, TL_CATALOG_READ));
  CK_OK(tl_catalog_verify(c, &avatars, &terrains));
  tl_catalog_close(c);
  return avatars;
}

static void assert_same_avatar(const TlAvatar *a, const TlAvatar *b) {
  size_t points = (size_t)a->nx * (size_t)a->ny * (size_t)a->nz;
  ck_assert_int_eq(a->nx, b->nx);
  ck_assert_int_eq(a->node_count, b->node_count);
  ck_assert_uint_eq(a->label, b->label);
  ck_assert_int_eq(a->border, b->border);
  ck_assert_mem_eq(a->phi, b->phi, points * sizeof(float));
  ck_assert_mem_eq(a->node_m, b->node_m, 3 * (size_t)a->node_count * sizeof(float));
  ck_assert_mem_eq(a->node_area_m2, b->node_area_m2, (size_t)a->node_count * sizeof(float));
  ck_assert_mem_eq(&a->spacing_m, &b->spacing_m, sizeof a->spacing_m);
  ck_assert_mem_eq(&a->origin_m, &b->origin_m, sizeof a->origin_m);
  ck_assert_mem_eq(&a->phi_error_m, &b->phi_error_m, 2 * sizeof(double));
  ck_assert_mem_eq(&a->volume_m3, &b->volume_m3,
                   offsetof(TlAvatar, axes_m) + sizeof a->axes_m - offsetof(TlAvatar, volume_m3));
}

START_TEST(avatar_comes_back_bit_for_bit) {
  char *path = in_folder("a.talus");
  fill(path, 3, "sand");
  TlCatalog *c;
  CK_OK(tl_catalog_open(&c, path, TL_CATALOG_READ));
  for (int g = 1; g <= 3; g++) {
    TlAvatar made, read;
    make_sphere(&made, 1e-3 * g, (uint32_t)g);
    CK_OK(tl_catalog_load_avatar(c, g, &read));
    ck_assert_int_eq(read.id, g);
    assert_same_avatar(&made, &read);
    tl_avatar_free(&made);
    tl_avatar_free(&read);
  }
  TlAvatar none;
  CK_FAILS(tl_catalog_load_avatar(c, 77, &none), TL_EINPUT, "no grain 77");
  tl_catalog_close(c);
  tl_free(path);
}
END_TEST

START_TEST(terrain_comes_back_bit_for_bit_and_is_replaced_only_when_asked) {
  char *path = in_folder("t.talus");
  TlCatalog *c;
  TlTerrain made, read;
  int64_t id;
  make_terrain(&made, "valley");
  CK_OK(tl_catalog_open(&c, path, TL_CATALOG_CREATE));
  begin(c, NULL);
  CK_OK(tl_catalog_add_terrain(c, &made, false, &id));
  CK_FAILS(tl_catalog_add_terrain(c, &made, false, &id), TL_EUSAGE, "'valley' is already there");
  CK_OK(tl_catalog_add_terrain(c, &made, true, &id));
  CK_OK(tl_catalog_commit(c));
  CK_OK(tl_catalog_load_terrain(c, "valley", &read));
  size_t columns = (size_t)(made.bnx * made.bny);
  ck_assert_str_eq(read.crs, made.crs);
  ck_assert_mem_eq(read.origin, made.origin, sizeof made.origin);
  ck_assert_mem_eq(&read.nx, &made.nx, offsetof(TlTerrain, height_m) - offsetof(TlTerrain, nx));
  ck_assert_mem_eq(read.height_m, made.height_m, 35 * sizeof(float));
  ck_assert_ptr_null(read.filled); /* of three samples, but not stored which */
  ck_assert_mem_eq(read.k_low, made.k_low, columns * sizeof(int32_t));
  ck_assert_mem_eq(read.k_count, made.k_count, columns * sizeof(int32_t));
  ck_assert_mem_eq(read.start, made.start, columns * sizeof(int64_t));
  ck_assert_int_eq(read.band_count, made.band_count);
  ck_assert_mem_eq(read.band_phi, made.band_phi, (size_t)made.band_count * sizeof(float));
  CK_FAILS(tl_catalog_load_terrain(c, "hill", &(TlTerrain){0}), TL_EINPUT, "no terrain 'hill'");
  CK_OK(TL_NEW(made.filled, 35));
  made.filled[7] = made.filled[20] = 1;
  begin(c, NULL);
  CK_FAILS(tl_catalog_add_terrain(c, &made, true, &id), TL_EINPUT,
           "2 samples are marked as filled, 3 are said to be");
  made.filled[34] = 1;
  CK_OK(tl_catalog_add_terrain(c, &made, true, &id));
  CK_OK(tl_catalog_commit(c));
  tl_terrain_free(&read);
  CK_OK(tl_catalog_load_terrain(c, "valley", &read));
  ck_assert_mem_eq(read.filled, made.filled, 35);
  made.start[columns - 1] = made.band_count; /* one column past the end */
  made.k_count[columns - 1] = 1;
  begin(c, NULL);
  CK_FAILS(tl_catalog_add_terrain(c, &made, true, &id), TL_EINPUT, "outside its");
  tl_catalog_close(c);
  tl_terrain_free(&made);
  tl_terrain_free(&read);
  tl_free(path);
}
END_TEST

static TlStatus note_run(void *context, const TlRunRow *row) {
  char *text = context;
  size_t used = strlen(text);
  snprintf(text + used, 2000 - used, "%lld|%s|%s|%s|%s\n", (long long)row->step, row->tool,
           row->command, row->inputs, row->parameters);
  return TL_OK;
}

START_TEST(provenance_of_a_grain_is_one_query_and_runs_are_stored_once) {
  char *path = in_folder("p.talus"), *history, *again;
  TlProvenance scan;
  char *argv[] = {"talus-denoise", "in put.tif"};
  tl_provenance_begin(&scan, "talus-denoise", 2, argv);
  char *input = in_folder("in put.tif");
  CK_OK(tl_file_write(input, "abc", 3, true));
  CK_OK(tl_provenance_input(&scan, input));
  CK_OK(tl_provenance_append(&scan, NULL, &history));
  tl_provenance_free(&scan);
  TlCatalog *c;
  int64_t sample, id;
  CK_OK(tl_catalog_open(&c, path, TL_CATALOG_CREATE));
  for (int s = 0; s < 2; s++) {
    TlAvatar a;
    make_sphere(&a, 1e-3, 1);
    begin(c, history);
    CK_OK(tl_catalog_sample(c, s ? "b" : "a", false, (double[]){1, 1, 1}, &sample));
    CK_OK(tl_catalog_add_avatar(c, sample, &a, &id));
    CK_OK(tl_catalog_commit(c));
    tl_avatar_free(&a);
  }
  char text[2000] = "";
  CK_OK(tl_catalog_walk_provenance(c, id, note_run, text));
  ck_assert_ptr_nonnull(strstr(text, "0|talus-denoise|talus-denoise 'in put.tif'|"));
  ck_assert_ptr_nonnull(
      strstr(text, "in put.tif (3 bytes, sha256 "
                   "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad)"));
  ck_assert_ptr_nonnull(
      strstr(text, "1|talus-test|talus-test '--name=it'\\''s' 'two words'||voxel_size_um=10\n"));
  CK_OK(tl_catalog_history(c, &again));
  int tools = 0;
  for (const char *at = again; (at = strstr(at, "\"tool\"")); at++) tools++;
  ck_assert_int_eq(tools, 3); /* the scan once, two sessions */
  ck_assert_ptr_nonnull(strstr(again, "18446744073709551615"));
  TlProvenance p = provenance_of_test();
  CK_FAILS(tl_catalog_begin(c, &p, "[{\"tool\": 3"), TL_EINPUT, "history");
  CK_FAILS(tl_catalog_begin(c, &p, "[{\"version\": \"x\"}]"), TL_EINPUT, "history");
  tl_provenance_free(&p);
  tl_catalog_close(c);
  tl_free(history);
  tl_free(again);
  tl_free(input);
  tl_free(path);
}
END_TEST

static TlStatus note_label(void *context, const TlGrainRow *row) {
  char *text = context;
  snprintf(text + strlen(text), 16, "%u ", row->label);
  return TL_OK;
}

START_TEST(grain_queries_choose_by_sample_border_size_and_range) {
  char *path = in_folder("q.talus");
  fill(path, 6, "sand"); /* diameters 2, 4, ... 12 mm; odd labels are cut by the border */
  TlCatalog *c;
  CK_OK(tl_catalog_open(&c, path, TL_CATALOG_READ));
  const struct {
    TlGrainQuery query;
    const char *labels;
  } cases[] = {
      {{.with_border = true}, "1 2 3 4 5 6 "},
      {{.with_border = false}, "2 4 6 "},
      {{.sample = "sand", .with_border = true, .offset = 2, .limit = 3}, "3 4 5 "},
      {{.with_border = true, .least_diameter_m = 5e-3, .most_diameter_m = 11e-3}, "3 4 5 "},
      {{.with_border = false, .least_diameter_m = 5e-3}, "4 6 "},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[200] = "";
    int64_t count;
    CK_OK(tl_catalog_walk_grains(c, &cases[i].query, note_label, text));
    ck_assert_str_eq(text, cases[i].labels);
    CK_OK(tl_catalog_count_grains(c, &cases[i].query, &count));
    ck_assert_int_eq(count, (int64_t)strlen(text) / 2);
  }
  TlGrainRow row;
  CK_OK(tl_catalog_grain(c, 2, &row));
  ck_assert_uint_eq(row.label, 2);
  CK_FAILS(tl_catalog_count_grains(c, &(TlGrainQuery){.sample = "mud"}, &(int64_t){0}), TL_EINPUT,
           "no sample 'mud'");
  tl_catalog_close(c);
  tl_free(path);
}
END_TEST

START_TEST(sample_is_replaced_only_when_asked_and_ids_are_never_used_twice) {
  char *path = in_folder("r.talus");
  fill(path, 2, "sand");
  TlCatalog *c;
  int64_t sample, id, gone;
  TlAvatar a;
  make_sphere(&a, 5e-3, 9);
  CK_OK(tl_catalog_open(&c, path, TL_CATALOG_WRITE));
  begin(c, NULL);
  CK_FAILS(tl_catalog_sample(c, "sand", false, (double[]){1, 1, 1}, &sample), TL_EUSAGE,
           "already there");
  CK_OK(tl_catalog_sample(c, "sand", true, (double[]){1, 1, 1}, &sample));
  CK_OK(tl_catalog_add_avatar(c, sample, &a, &id));
  ck_assert_int_eq(id, 3);
  CK_OK(tl_catalog_commit(c));
  ck_assert_int_eq(count_in(path), 1);
  begin(c, NULL);
  CK_FAILS(tl_catalog_remove_sample(c, "mud", &gone), TL_EINPUT, "no sample");
  CK_OK(tl_catalog_remove_sample(c, "sand", &gone));
  ck_assert_int_eq(gone, 1);
  CK_OK(tl_catalog_commit(c));
  ck_assert_int_eq(count_in(path), 0);
  tl_catalog_close(c);
  tl_avatar_free(&a);
  tl_free(path);
}
END_TEST

START_TEST(bad_avatars_are_refused_and_leave_nothing) {
  char *path = in_folder("bad.talus");
  TlCatalog *c;
  int64_t sample, id;
  TlAvatar a;
  make_sphere(&a, 1e-3, 5);
  CK_OK(tl_catalog_open(&c, path, TL_CATALOG_CREATE));
  CK_FAILS(tl_catalog_add_avatar(c, 1, &a, &id), TL_EUSAGE, "tl_catalog_begin");
  begin(c, NULL);
  CK_OK(tl_catalog_sample(c, "sand", false, (double[]){1, 1, 1}, &sample));
  a.phi[100] = NAN;
  CK_FAILS(tl_catalog_add_avatar(c, sample, &a, &id), TL_EINPUT, "label 5");
  a.phi[100] = 1;
  a.area_m2 = NAN; /* SQLite keeps no NaN either */
  CK_FAILS(tl_catalog_add_avatar(c, sample, &a, &id), TL_EINPUT, "not finite");
  CK_OK(tl_catalog_commit(c));
  tl_catalog_close(c);
  ck_assert_int_eq(count_in(path), 0);
  tl_avatar_free(&a);
  tl_free(path);
}
END_TEST

/* Writes bytes at an offset of a file. */
static void poke(const char *path, off_t at, const void *bytes, size_t size) {
  int fd = open(path, O_WRONLY | O_CREAT, 0666);
  ck_assert_int_ge(fd, 0);
  ck_assert_int_eq(pwrite(fd, bytes, size, at), (ssize_t)size);
  close(fd);
}

START_TEST(other_files_and_other_versions_are_refused_with_what_to_do) {
  char *path = in_folder("v.talus"), *text = in_folder("text.talus"), *empty = in_folder("e.talus");
  TlCatalog *c;
  fill(path, 1, "sand");
  CK_FAILS(tl_catalog_open(&c, "/nowhere/none.talus", TL_CATALOG_READ), TL_EIO, "no such catalog");
  CK_OK(tl_file_write(text,
                      "just some text, and rather a lot of it, as one sees at once........"
                      "....................................................................",
                      130, true));
  CK_FAILS(tl_catalog_open(&c, text, TL_CATALOG_CREATE), TL_EINPUT, "not an SQLite file");
  CK_OK(tl_file_write(empty, "", 0, true));
  CK_FAILS(tl_catalog_open(&c, empty, TL_CATALOG_READ), TL_EINPUT, "empty file");
  /* SQLite's header: user_version at byte 60, application_id at 68, big-endian */
  poke(path, 60, (unsigned char[]){0, 0, 0, 9}, 4);
  for (int mode = TL_CATALOG_READ; mode <= TL_CATALOG_CREATE; mode++) {
    CK_FAILS(tl_catalog_open(&c, path, (TlCatalogMode)mode), TL_EINPUT, "schema version 9");
    ck_assert_ptr_nonnull(strstr(tl_message(), "newer Talus"));
    ck_assert_ptr_null(c);
  }
  poke(path, 60, (unsigned char[]){0, 0, 0, 0}, 4);
  CK_FAILS(tl_catalog_open(&c, path, TL_CATALOG_WRITE), TL_EINPUT, "make it again");
  /* schema 1 is read as it is, and brought to the newest by the first that may write */
  poke(path, 60, (unsigned char[]){0, 0, 0, 1}, 4);
  for (int mode = TL_CATALOG_READ; mode <= TL_CATALOG_CREATE; mode++) {
    char *bytes;
    size_t size;
    CK_OK(tl_catalog_open(&c, path, (TlCatalogMode)mode));
    tl_catalog_close(c);
    CK_OK(tl_file_read(path, &bytes, &size));
    ck_assert_int_eq(bytes[63], mode == TL_CATALOG_READ ? 1 : TL_CATALOG_SCHEMA);
    tl_free(bytes);
  }
  poke(path, 68, (unsigned char[]){1, 2, 3, 4}, 4);
  CK_FAILS(tl_catalog_open(&c, path, TL_CATALOG_WRITE), TL_EINPUT, "0x01020304");
  tl_free(path);
  tl_free(text);
  tl_free(empty);
}
END_TEST

/* The three blobs take about 3.4 kB of the file: at least 20 of the positions fall into them. */
START_TEST(a_flipped_byte_in_a_grid_is_found_and_the_grain_named) {
  char *path = in_folder("crc.talus");
  fill(path, 1, "sand");
  int64_t size, named = 0;
  CK_OK(tl_file_size(path, &size));
  char *bytes;
  size_t length;
  CK_OK(tl_file_read(path, &bytes, &length));
  for (int64_t at = 4096 + 100; at < size; at += 128) {
    unsigned char flipped = (unsigned char)(bytes[at] ^ 0x10);
    poke(path, at, &flipped, 1);
    TlCatalog *c;
    int64_t avatars, terrains;
    TlStatus status = tl_catalog_open(&c, path, TL_CATALOG_READ);
    if (status == TL_OK) status = tl_catalog_verify(c, &avatars, &terrains);
    if (status != TL_OK && strstr(tl_message(), "grain 1: blob")) named++;
    tl_catalog_close(c);
    poke(path, at, bytes + at, 1);
  }
  ck_assert_int_ge(named, 20);
  ck_assert_int_eq(count_in(path), 1);
  tl_free(bytes);
  tl_free(path);
}
END_TEST

/* A whole session that may fail anywhere. */
static TlStatus add_session(const char *path, const TlProvenance *p, const TlAvatar *a) {
  TlCatalog *c;
  int64_t sample, id;
  TL_TRY(tl_catalog_open(&c, path, TL_CATALOG_WRITE));
  TlStatus status = tl_catalog_begin(c, p, NULL);
  if (status == TL_OK) status = tl_catalog_sample(c, "new", false, (double[]){1, 1, 1}, &sample);
  for (int i = 0; i < 3 && status == TL_OK; i++) status = tl_catalog_add_avatar(c, sample, a, &id);
  if (status == TL_OK) status = tl_catalog_commit(c);
  tl_catalog_close(c);
  return status;
}

START_TEST(any_failed_allocation_leaves_the_old_catalog) {
  char *path = in_folder("mem.talus");
  fill(path, 2, "sand");
  TlAvatar a;
  make_sphere(&a, 1e-3, 7);
  TlProvenance p = provenance_of_test();
  int64_t k = 1;
  for (;; k++) {
    tl_mem_fail_at(k);
    TlStatus status = add_session(path, &p, &a);
    tl_mem_fail_at(0);
    if (status == TL_OK) break;
    ck_assert_int_eq(status, TL_ENOMEM);
    ck_assert_int_eq(count_in(path), 2);
  }
  ck_assert_int_gt(k, 20);
  ck_assert_int_eq(count_in(path), 5);
  tl_provenance_free(&p);
  tl_avatar_free(&a);
  tl_free(path);
}
END_TEST

START_TEST(an_addition_that_fails_half_way_leaves_nothing_for_the_commit) {
  char *path = in_folder("half.talus");
  TlCatalog *c;
  int64_t sample, id;
  TlAvatar a;
  make_sphere(&a, 1e-3, 7);
  CK_OK(tl_catalog_open(&c, path, TL_CATALOG_CREATE));
  begin(c, NULL);
  CK_OK(tl_catalog_sample(c, "sand", false, (double[]){1, 1, 1}, &sample));
  for (int64_t k = 1;; k++) {
    tl_mem_fail_at(k);
    TlStatus status = tl_catalog_add_avatar(c, sample, &a, &id);
    tl_mem_fail_at(0);
    if (status == TL_OK) break;
  }
  CK_OK(tl_catalog_commit(c));
  tl_catalog_close(c);
  ck_assert_int_eq(count_in(path), 1);
  tl_avatar_free(&a);
  tl_free(path);
}
END_TEST

START_TEST(a_new_catalog_without_a_run_is_removed_unless_another_process_stores_one) {
  char *path = in_folder("empty.talus");
  TlCatalog *c;
  TlProvenance p = provenance_of_test();
  TlAvatar a;
  int64_t sample;
  int lost = 0, kept = 0;
  make_sphere(&a, 1e-3, 7);
  CK_OK(tl_catalog_open(&c, path, TL_CATALOG_CREATE));
  CK_OK(tl_catalog_begin(c, &p, NULL));
  CK_OK(tl_catalog_sample(c, "sand", false, (double[]){1, 1, 1}, &sample));
  tl_catalog_close(c); /* as after a full disk */
  ck_assert(!tl_file_exists(path));
  CK_OK(tl_file_write(path, "", 0, false)); /* an empty file of the user's stays */
  CK_OK(tl_catalog_open(&c, path, TL_CATALOG_CREATE));
  tl_catalog_close(c);
  ck_assert(tl_file_exists(path));
  remove(path);
  for (int round = 0; round < 6; round++) { /* another process waits for the one that fails */
    int begun[2], ready[2], how;
    char go;
    ck_assert(pipe(begun) == 0 && pipe(ready) == 0);
    pid_t child = fork(); /* before any connection is open: SQLite cannot be forked */
    if (child == 0) {
      TlCatalog *other;
      int64_t id;
      close(begun[1]);
      if (read(begun[0], &go, 1) != 1) _exit(3);
      if (tl_catalog_open(&other, path, TL_CATALOG_WRITE) != TL_OK) _exit(3);
      if (write(ready[1], "r", 1) != 1) _exit(3);
      TlStatus status = tl_catalog_begin(other, &p, NULL);
      if (status == TL_OK)
        status = tl_catalog_sample(other, "sand", false, (double[]){1, 1, 1}, &sample);
      if (status == TL_OK) status = tl_catalog_add_avatar(other, sample, &a, &id);
      if (status == TL_OK) status = tl_catalog_commit(other);
      if (status != TL_OK && !strstr(tl_message(), "removed or renamed")) _exit(3);
      _exit(status != TL_OK);
    }
    CK_OK(tl_catalog_open(&c, path, TL_CATALOG_CREATE));
    CK_OK(tl_catalog_begin(c, &p, NULL));
    ck_assert_int_eq(write(begun[1], "b", 1), 1);
    ck_assert_int_eq(read(ready[0], &go, 1), 1);
    if (round % 2) usleep(120000); /* by then it waits */
    tl_catalog_close(c);
    ck_assert_int_eq(waitpid(child, &how, 0), child);
    ck_assert_msg(WIFEXITED(how) && WEXITSTATUS(how) < 3, "ends with %d", how);
    ck_assert_int_eq(tl_file_exists(path), WEXITSTATUS(how) == 0); /* done and there, or told */
    if (WEXITSTATUS(how) == 0) ck_assert_int_eq(count_in(path), 1);
    kept += WEXITSTATUS(how) == 0;
    lost += WEXITSTATUS(how) == 1;
    remove(path);
    tl_claims_forget();
    for (int k = 0; k < 2; k++) close(begun[k]), close(ready[k]);
  }
  ck_assert_int_eq(kept + lost, 6);
  tl_provenance_free(&p);
  tl_avatar_free(&a);
  tl_free(path);
}
END_TEST

START_TEST(a_killed_writer_and_a_refused_write_leave_the_old_catalog) {
  char *path = in_folder("kill.talus");
  fill(path, 2, "sand");
  TlAvatar a;
  make_sphere(&a, 1e-3, 7);
  TlProvenance p = provenance_of_test();
  pid_t child = fork();
  if (child == 0) { /* writes enough to spill, then dies without a word */
    TlCatalog *c;
    int64_t sample, id;
    if (tl_catalog_open(&c, path, TL_CATALOG_WRITE) != TL_OK) _exit(1);
    if (tl_catalog_begin(c, &p, NULL) != TL_OK) _exit(1);
    if (tl_catalog_sample(c, "sand", true, (double[]){1, 1, 1}, &sample) != TL_OK) _exit(1);
    for (int i = 0; i < 400; i++)
      if (tl_catalog_add_avatar(c, sample, &a, &id) != TL_OK) _exit(1);
    raise(SIGKILL);
  }
  int how;
  ck_assert_int_eq(waitpid(child, &how, 0), child);
  ck_assert(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
  ck_assert_int_eq(count_in(path), 2);
  /* The system refuses to let the file grow (as a quota would). */
  struct rlimit old, tight;
  int64_t size;
  CK_OK(tl_file_size(path, &size));
  signal(SIGXFSZ, SIG_IGN);
  getrlimit(RLIMIT_FSIZE, &old);
  tight = old;
  tight.rlim_cur = (rlim_t)size + 4096;
  setrlimit(RLIMIT_FSIZE, &tight);
  TlStatus status = add_session(path, &p, &a);
  setrlimit(RLIMIT_FSIZE, &old);
  ck_assert_int_eq(status, TL_EIO);
  ck_assert_ptr_nonnull(strstr(tl_message(), path));
  ck_assert_int_eq(count_in(path), 2);
  tl_provenance_free(&p);
  tl_avatar_free(&a);
  tl_free(path);
}
END_TEST

START_TEST(two_readers_read_at_once_and_writers_wait_for_each_other) {
  char *path = in_folder("two.talus");
  fill(path, 2, "sand");
  TlCatalog *one, *two;
  TlAvatar a, b;
  CK_OK(tl_catalog_open(&one, path, TL_CATALOG_READ));
  CK_OK(tl_catalog_open(&two, path, TL_CATALOG_READ));
  CK_OK(tl_catalog_load_avatar(one, 1, &a));
  CK_OK(tl_catalog_load_avatar(two, 1, &b));
  assert_same_avatar(&a, &b);
  tl_catalog_close(one);
  tl_catalog_close(two);
  tl_avatar_free(&b);
  pid_t child[2];
  for (int i = 0; i < 2; i++) {
    child[i] = fork();
    if (child[i]) continue;
    TlCatalog *c;
    int64_t sample, id;
    TlProvenance p = provenance_of_test();
    TlStatus status = tl_catalog_open(&c, path, TL_CATALOG_CREATE);
    if (status == TL_OK) status = tl_catalog_begin(c, &p, NULL);
    if (status == TL_OK)
      status = tl_catalog_sample(c, i ? "x" : "y", false, (double[]){1, 1, 1}, &sample);
    if (status == TL_OK) usleep(200000);
    if (status == TL_OK) status = tl_catalog_add_avatar(c, sample, &a, &id);
    if (status == TL_OK) status = tl_catalog_commit(c);
    _exit(status == TL_OK ? 0 : 1);
  }
  for (int i = 0; i < 2; i++) {
    int how;
    ck_assert_int_eq(waitpid(child[i], &how, 0), child[i]);
    ck_assert(WIFEXITED(how) && WEXITSTATUS(how) == 0);
  }
  ck_assert_int_eq(count_in(path), 4);
  tl_avatar_free(&a);
  tl_free(path);
}
END_TEST

TL_TEST_MAIN("catalog", avatar_comes_back_bit_for_bit,
             terrain_comes_back_bit_for_bit_and_is_replaced_only_when_asked,
             provenance_of_a_grain_is_one_query_and_runs_are_stored_once,
             grain_queries_choose_by_sample_border_size_and_range,
             sample_is_replaced_only_when_asked_and_ids_are_never_used_twice,
             bad_avatars_are_refused_and_leave_nothing,
             other_files_and_other_versions_are_refused_with_what_to_do,
             a_flipped_byte_in_a_grid_is_found_and_the_grain_named,
             any_failed_allocation_leaves_the_old_catalog,
             an_addition_that_fails_half_way_leaves_nothing_for_the_commit,
             a_new_catalog_without_a_run_is_removed_unless_another_process_stores_one,
             a_killed_writer_and_a_refused_write_leave_the_old_catalog,
             two_readers_read_at_once_and_writers_wait_for_each_other)
