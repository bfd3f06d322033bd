#include "support/tltest.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/random.h"
#include "io/stack.h"

#include <hdf5.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <tiffio.h>
#include <unistd.h>

__attribute__((constructor)) static void be_quiet(void) {
  tl_log_set("test", TL_LOG_ERROR);
}

static const char *at(const char *name) {
  static char paths[32][256]; /* a turn of 32: more than one test holds at a time */
  static int turn;
  char *path = paths[turn++ % 32];
  snprintf(path, 256, "%s/%s", tl_test_folder(), name);
  return path;
}

static void make_volume(TlVolume *v, TlVoxelType type, int64_t nx, int64_t ny, int64_t nz) {
  CK_OK(tl_volume_new(v, type, nx, ny, nz));
  size_t bytes = (size_t)tl_volume_count(v) * tl_voxel_size(type);
  for (size_t i = 0; i < bytes; i++) v->u8[i] = (uint8_t)tl_random_bits(3, type, i);
  for (int64_t i = 0; type == TL_F32 && i < tl_volume_count(v); i++)
    v->f32[i] = i == 5 ? NAN : (float)(tl_random_uniform(3, 4, (uint64_t)i) - 0.5);
  v->voxel_m[0] = 5.3e-6;
  v->voxel_m[1] = 5.2e-6;
  v->voxel_m[2] = 1.0 / 3 * 1e-6;
}

static void check_same(const TlVolume *a, const TlVolume *b) {
  ck_assert(a->nx == b->nx && a->ny == b->ny && a->nz == b->nz && a->type == b->type);
  ck_assert(memcmp(a->data, b->data, (size_t)tl_volume_count(a) * tl_voxel_size(a->type)) == 0);
  for (int k = 0; k < 3; k++) /* through micrometres and back: two roundings */
    CK_NEAR(a->voxel_m[k], b->voxel_m[k], 2 * 2.3e-16 * b->voxel_m[k]);
}

START_TEST(every_type_survives_both_formats) {
  const char *names[] = {"trip.h5", "trip.tif"};
  for (int i = 0; i < 14; i++) {
    TlVolume v, back;
    make_volume(&v, (TlVoxelType)(i % 7), 70, 130, 33); /* chunks end inside */
    CK_OK(tl_stack_write(at(names[i / 7]), &v, NULL, true));
    CK_OK(tl_stack_read(at(names[i / 7]), NULL, NULL, &back));
    check_same(&back, &v);
    ck_assert(back.history == NULL);
    tl_volume_free(&v);
    tl_volume_free(&back);
  }
}
END_TEST

static void write_by_parts(const char *path, const TlVolume *v, const int64_t *parts) {
  TlLayerSink sink;
  size_t layer = (size_t)(v->nx * v->ny) * tl_voxel_size(v->type);
  CK_OK(tl_stack_begin(path, v, NULL, true, &sink));
  for (int64_t z = 0, k = 0; z < v->nz; z += parts[k++])
    CK_OK(tl_sink_append(&sink, parts[k], v->u8 + (size_t)z * layer));
  CK_OK(tl_sink_end(&sink, TL_OK));
}

/* Any cut into layers makes the same file as the whole; any layers are read from any place. */
START_TEST(layers_are_read_and_written_in_any_parts) {
  static const int64_t cuts[3][6] = {{1, 15, 16, 3, 5, 1}, {17, 20, 4}, {41}};
  static const int64_t looks[5][2] = {{40, 1}, {0, 41}, {15, 2}, {3, 30}, {0, 1}};
  const char *names[] = {"parts.h5", "parts.tif"};
  for (int i = 0; i < 6; i++) {
    TlVolume v, back;
    TlLayers layers;
    uint16_t got[41 * 9 * 130];
    make_volume(&v, TL_U16, 130, 9, 41);
    write_by_parts(at(names[i % 2]), &v, cuts[i / 2]);
    CK_OK(tl_stack_read(at(names[i % 2]), NULL, NULL, &back));
    check_same(&back, &v);
    CK_OK(tl_stack_open(at(names[i % 2]), NULL, NULL, &layers));
    ck_assert(layers.head.nz == 41 && layers.head.data == NULL);
    for (int k = 0; k < 5; k++) {
      CK_OK(tl_layers_read(&layers, looks[k][0], looks[k][1], got));
      ck_assert(memcmp(got, v.u16 + looks[k][0] * 9 * 130, (size_t)looks[k][1] * 9 * 130 * 2) == 0);
    }
    tl_layers_close(&layers);
    tl_volume_free(&back);
    tl_volume_free(&v);
  }
}
END_TEST

START_TEST(a_dropped_product_leaves_nothing) {
  const char *names[] = {"dropped.h5", "dropped.tif"};
  for (int i = 0; i < 2; i++) {
    TlVolume v;
    TlLayerSink sink;
    make_volume(&v, TL_U8, 9, 8, 7);
    CK_OK(tl_stack_begin(at(names[i]), &v, NULL, true, &sink));
    CK_OK(tl_sink_append(&sink, 3, v.data));
    ck_assert_int_eq(tl_sink_end(&sink, TL_EINPUT), TL_EINPUT);
    ck_assert(!tl_file_exists(at(names[i])));
    CK_OK(tl_stack_write(at(names[i]), &v, NULL, false)); /* and nothing is in the way */
    tl_volume_free(&v);
  }
}
END_TEST

static void put_raw(const char *path, const TlVolume *v, size_t header, bool turned) {
  size_t size = tl_voxel_size(v->type), bytes = (size_t)tl_volume_count(v) * size;
  uint8_t *all = calloc(1, header + bytes);
  for (size_t i = 0; i < bytes; i++)
    all[header + i] = v->u8[turned ? i / size * size + (size - 1 - i % size) : i];
  CK_OK(tl_file_write(path, all, header + bytes, true));
  free(all);
}

START_TEST(voxels_without_a_header_are_read_as_told) {
  static const char *const type[] = {"u8", "i8", "u16", "i16", "u32", "i32", "f32"};
  for (int i = 0; i < 14; i++) {
    TlVolume v, back;
    char spec[64];
    TlStackOptions how = {.voxel_um = {5.3, 5.2, 1.0 / 3}, .raw = spec};
    make_volume(&v, (TlVoxelType)(i % 7), 7, 6, 5);
    put_raw(at("voxels.raw"), &v, 11, i >= 7);
    snprintf(spec, sizeof spec, "5,6,7,%s,%s,11", type[i % 7], i >= 7 ? "big" : "little");
    CK_OK(tl_stack_read(at("voxels.raw"), &how, NULL, &back));
    check_same(&back, &v);
    tl_volume_free(&back);
    snprintf(spec, sizeof spec, "5,6,7,%s,little,12", type[i % 7]);
    CK_FAILS(tl_stack_read(at("voxels.raw"), &how, NULL, &back), TL_EINPUT, "voxels.raw: holds");
    tl_volume_free(&v);
  }
  static const char *const wrong[] = {"5,6,7,u16",
                                      "5,6,7,u12,little",
                                      "5,6,7,u16,middle",
                                      "5,6,0,u16,little",
                                      "5,6,7,u16,little,",
                                      "5,6,7,u16,little,-1",
                                      "5,6,7,u16,little,0,1",
                                      "a",
                                      "9999999999,6,7,u8,big"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    TlVolume back;
    CK_FAILS(tl_stack_read(at("voxels.raw"), &(TlStackOptions){.raw = wrong[i]}, NULL, &back),
             TL_EUSAGE, "NZ,NY,NX");
  }
}
END_TEST

START_TEST(an_unknown_voxel_size_stays_unknown) {
  const char *names[] = {"unknown.h5", "unknown.tif"};
  for (int i = 0; i < 2; i++) {
    TlVolume v, back;
    make_volume(&v, TL_U8, 5, 4, 3);
    v.voxel_m[0] = v.voxel_m[1] = v.voxel_m[2] = 0;
    CK_OK(tl_stack_write(at(names[i]), &v, NULL, true));
    CK_OK(tl_stack_read(at(names[i]), NULL, NULL, &back));
    check_same(&back, &v);
    CK_FAILS(tl_stack_need_voxel_size(names[i], &back), TL_EINPUT, "--voxel-size-um");
    tl_volume_free(&back);
    TlStackOptions given = {.voxel_um = {1, 2, 3}};
    CK_OK(tl_stack_read(at(names[i]), &given, NULL, &back));
    CK_NEAR(back.voxel_m[2], 3e-6, 1e-20);
    CK_OK(tl_stack_need_voxel_size(names[i], &back));
    tl_volume_free(&v);
    tl_volume_free(&back);
  }
}
END_TEST

START_TEST(the_given_voxel_size_wins_over_the_file) {
  TlVolume v, back;
  TlStackOptions given = {.voxel_um = {1, 2, 3}};
  make_volume(&v, TL_U8, 5, 4, 3);
  CK_OK(tl_stack_write(at("wins.tif"), &v, NULL, true));
  CK_OK(tl_stack_read(at("wins.tif"), &given, NULL, &back));
  CK_NEAR(back.voxel_m[0], 1e-6, 1e-20);
  CK_NEAR(back.voxel_m[1], 2e-6, 1e-20);
  CK_NEAR(back.voxel_m[2], 3e-6, 1e-20);
  tl_volume_free(&v);
  tl_volume_free(&back);
}
END_TEST

START_TEST(history_grows_by_one_record_a_tool) {
  const char *names[] = {"history.h5", "history.tif"};
  for (int i = 0; i < 2; i++) {
    char *arguments[] = {"tool", "a \"quoted\"\nname"};
    TlProvenance first, second;
    TlVolume v, back;
    tl_provenance_begin(&first, "talus-first", 2, arguments);
    tl_provenance_begin(&second, "talus-second", 2, arguments);
    make_volume(&v, TL_U8, 5, 4, 3);
    CK_OK(tl_stack_write(at(names[i]), &v, &first, true));
    CK_OK(tl_stack_read(at(names[i]), NULL, &second, &back));
    ck_assert(strstr(second.inputs, names[i]) && strstr(second.inputs, "sha256"));
    tl_volume_free(&v);
    CK_OK(tl_stack_write(at(names[i]), &back, &second, true));
    tl_volume_free(&back);
    CK_OK(tl_stack_read(at(names[i]), NULL, NULL, &back));
    const char *one = strstr(back.history, "\"talus-first\""),
               *two = strstr(back.history, "\"talus-second\"");
    ck_assert(one && two && one < two && back.history[0] == '[');
    ck_assert_int_eq(back.history[strlen(back.history) - 1], ']');
    tl_volume_free(&back);
    tl_provenance_free(&first);
    tl_provenance_free(&second);
  }
}
END_TEST

/* Attributes of HDF5 end at 64 KiB; a history does not. */
START_TEST(a_long_history_is_kept_whole) {
  const char *names[] = {"long.h5", "long.tif"};
  for (int i = 0; i < 2; i++) {
    TlVolume v, back;
    make_volume(&v, TL_U8, 5, 4, 3);
    CK_OK(TL_NEW(v.history, 200001));
    memset(v.history, 'x', 200000);
    memcpy(v.history, "[{\"", 3);
    memcpy(v.history + 199997, "\"}]", 3);
    CK_OK(tl_stack_write(at(names[i]), &v, NULL, true));
    CK_OK(tl_stack_read(at(names[i]), NULL, NULL, &back));
    ck_assert_str_eq(back.history, v.history);
    tl_volume_free(&v);
    tl_volume_free(&back);
  }
}
END_TEST

START_TEST(voxel_size_text_is_parsed_strictly) {
  double um[3];
  CK_OK(tl_stack_parse_voxel_um("5.25", um));
  ck_assert(um[0] == 5.25 && um[1] == 5.25 && um[2] == 5.25);
  CK_OK(tl_stack_parse_voxel_um("1,2.5,3e1", um));
  ck_assert(um[0] == 1 && um[1] == 2.5 && um[2] == 30);
  CK_OK(tl_stack_parse_voxel_um("", um));
  ck_assert(um[0] == 0 && um[1] == 0 && um[2] == 0);
  CK_OK(tl_stack_parse_voxel_um(NULL, um));
  const char *bad[] = {"0",    "-1", "x",   "5um", "1,2",   "1,2,3,4", "1,2,",
                       "1,,3", ",1", "nan", "inf", "1,0,3", "5,",      "1;2;3"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    CK_FAILS(tl_stack_parse_voxel_um(bad[i], um), TL_EUSAGE, bad[i]);
}
END_TEST

/* ---- what is not a stack ---- */

START_TEST(what_is_not_a_stack_is_refused_by_name) {
  TlVolume v;
  CK_FAILS(tl_stack_read(at("missing.tif"), NULL, NULL, &v), TL_EIO, "missing.tif");
  CK_OK(tl_file_write(at("empty.tif"), "", 0, true));
  CK_FAILS(tl_stack_read(at("empty.tif"), NULL, NULL, &v), TL_EINPUT,
           "empty.tif: the file is empty");
  CK_OK(tl_file_write(at("prose.tif"), "Dear diary", 10, true));
  CK_FAILS(tl_stack_read(at("prose.tif"), NULL, NULL, &v), TL_EINPUT, "not a TIFF, PNG, HDF5");
  CK_OK(tl_file_write(at("x"), "II", 2, true));
  CK_FAILS(tl_stack_read(at("x"), NULL, NULL, &v), TL_EINPUT, "not a TIFF");
  CK_FAILS(tl_stack_read(at("nothing*.tif"), NULL, NULL, &v), TL_EINPUT, "no file fits");
  CK_OK(tl_dir_make(at("hollow")));
  CK_FAILS(tl_stack_read(at("hollow"), NULL, NULL, &v), TL_EINPUT, "no .tif");
}
END_TEST

START_TEST(output_names_and_places_are_checked) {
  TlVolume v;
  make_volume(&v, TL_U8, 3, 3, 3);
  CK_FAILS(tl_stack_write(at("out.png"), &v, NULL, false), TL_EUSAGE, ".h5 or .tif");
  CK_FAILS(tl_stack_write(at("no/where/out.h5"), &v, NULL, false), TL_EIO, "folder");
  CK_OK(tl_stack_write(at("out.h5"), &v, NULL, false));
  CK_FAILS(tl_stack_write(at("out.h5"), &v, NULL, false), TL_EUSAGE, "--overwrite");
  CK_FAILS(tl_stack_check_output(at("out.h5"), false), TL_EUSAGE, "--overwrite");
  CK_OK(tl_stack_check_output(at("out.h5"), true));
  ck_assert(tl_file_exists(at("out.h5")));
  tl_volume_free(&v);
}
END_TEST

/* ---- folders of slices ---- */

static void write_slice(const char *path, int value, int64_t width, TlVoxelType type, int pages) {
  TlVolume v;
  CK_OK(tl_volume_new(&v, type, width, 4, pages));
  memset(v.data, value, (size_t)tl_volume_count(&v) * tl_voxel_size(type));
  CK_OK(tl_stack_write(path, &v, NULL, true));
  tl_volume_free(&v);
}

/* A folder of slices 7 to 12 without leading zeros; slice n is filled with n. */
static const char *series(const char *name) {
  char path[300];
  const char *folder = at(name);
  CK_OK(tl_dir_make(folder));
  for (int n = 7; n <= 12; n++) {
    snprintf(path, sizeof path, "%s/s2_%d.tif", folder, n);
    write_slice(path, n, 5, TL_U8, 1);
  }
  return folder;
}

static void check_series(const char *path, int64_t count) {
  TlVolume v;
  CK_OK(tl_stack_read(path, NULL, NULL, &v));
  ck_assert(v.nx == 5 && v.ny == 4 && v.nz == count);
  for (int64_t i = 0; i < tl_volume_count(&v); i++) ck_assert_int_eq(v.u8[i], 7 + i / 20);
  tl_volume_free(&v);
}

START_TEST(slices_are_read_in_natural_order) {
  const char *folder = series("natural");
  char path[300];
  CK_OK(tl_file_write(at("natural/readme.txt"), "x", 1, true)); /* no TIFF: left aside */
  CK_OK(tl_file_write(at("natural/._s2_8.tif"), "x", 1, true)); /* a Mac's shadow file */
  check_series(folder, 6);
  snprintf(path, sizeof path, "%s/s2_*.tif", folder);
  check_series(path, 6);
  snprintf(path, sizeof path, "%s/s2_%%02d.tif", folder);
  check_series(path, 6);
  snprintf(path, sizeof path, "%s/s2_[789].tif", folder);
  check_series(path, 3);
}
END_TEST

START_TEST(every_slice_becomes_an_input_of_the_run) {
  char *arguments[] = {"tool"};
  const char *folder = series("inputs");
  TlProvenance provenance;
  TlVolume v;
  tl_provenance_begin(&provenance, "talus-test", 1, arguments);
  CK_OK(tl_stack_read(folder, NULL, &provenance, &v));
  ck_assert(strstr(provenance.inputs, "s2_7.tif") && strstr(provenance.inputs, "s2_12.tif"));
  tl_provenance_free(&provenance);
  tl_volume_free(&v);
}
END_TEST

START_TEST(a_gap_in_the_numbers_is_refused_unless_allowed) {
  TlVolume v;
  TlStackOptions gaps = {.allow_gaps = true};
  const char *folder = series("gap");
  ck_assert(remove(at("gap/s2_9.tif")) == 0);
  CK_FAILS(tl_stack_read(folder, NULL, NULL, &v), TL_EINPUT, "between s2_8.tif and s2_10.tif");
  CK_OK(tl_stack_read(folder, &gaps, NULL, &v));
  ck_assert_int_eq(v.nz, 5);
  tl_volume_free(&v);
}
END_TEST

START_TEST(slices_that_do_not_belong_together_are_refused_by_name) {
  TlVolume v;
  const char *folder = series("strangers");
  write_slice(at("strangers/s2_9.tif"), 9, 6, TL_U8, 1);
  CK_FAILS(tl_stack_read(folder, NULL, NULL, &v), TL_EINPUT, "s2_9.tif: 6 x 4");
  write_slice(at("strangers/s2_9.tif"), 9, 5, TL_U16, 1);
  CK_FAILS(tl_stack_read(folder, NULL, NULL, &v), TL_EINPUT, "s2_9.tif: u16");
  write_slice(at("strangers/s2_9.tif"), 9, 5, TL_U8, 2);
  CK_FAILS(tl_stack_read(folder, NULL, NULL, &v), TL_EINPUT, "s2_9.tif: holds 2 pages");
  write_slice(at("strangers/s2_9.tif"), 9, 5, TL_U8, 1);
  write_slice(at("strangers/s2_009.tif"), 9, 5, TL_U8, 1);
  CK_FAILS(tl_stack_read(folder, NULL, NULL, &v), TL_EINPUT, "same slice number");
  ck_assert(remove(at("strangers/s2_009.tif")) == 0);
  write_slice(at("strangers/preview.tif"), 9, 5, TL_U8, 1);
  CK_FAILS(tl_stack_read(folder, NULL, NULL, &v), TL_EINPUT, "preview.tif");
  ck_assert(remove(at("strangers/preview.tif")) == 0);
  CK_OK(tl_file_write(at("strangers/s2_13.tif"), "II*", 3, true));
  CK_FAILS(tl_stack_read(folder, NULL, NULL, &v), TL_EINPUT, "s2_13.tif");
}
END_TEST

/* ---- foreign HDF5 ---- */

static void add_dataset(hid_t file, const char *name, hid_t type, int axes, const hsize_t *size,
                        const void *values) {
  hid_t space = H5Screate_simple(axes, size, NULL), links = H5Pcreate(H5P_LINK_CREATE);
  H5Pset_create_intermediate_group(links, 1);
  hid_t set = H5Dcreate2(file, name, type, space, links, H5P_DEFAULT, H5P_DEFAULT);
  ck_assert(set >= 0);
  if (values) ck_assert(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  H5Dclose(set);
  H5Pclose(links);
  H5Sclose(space);
}

static hid_t new_file(const char *path) {
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  ck_assert(file >= 0);
  return file;
}

static const hsize_t foreign_size[3] = {2, 3, 4};

START_TEST(a_foreign_file_with_one_volume_is_read_in_its_type_and_order) {
  uint16_t values[24]; /* big-endian on disk, at any depth of groups, beside tables */
  TlVolume v;
  for (uint16_t i = 0; i < 24; i++) values[i] = (uint16_t)(256 * (i + 1) + 99);
  hid_t file = new_file(at("foreign.h5"));
  add_dataset(file, "t0/channel/data", H5T_STD_U16BE, 3, foreign_size, values);
  add_dataset(file, "table", H5T_NATIVE_INT, 2, foreign_size, NULL);
  H5Fclose(file);
  CK_OK(tl_stack_read(at("foreign.h5"), NULL, NULL, &v));
  ck_assert(v.type == TL_U16 && v.nx == 4 && v.ny == 3 && v.nz == 2 && v.voxel_m[0] == 0);
  for (int i = 0; i < 24; i++) ck_assert_int_eq(v.u16[i], 256 * 99 + i + 1); /* swapped */
  tl_volume_free(&v);
}
END_TEST

START_TEST(a_foreign_file_with_several_volumes_asks_which) {
  uint8_t values[24];
  double deep[24];
  int64_t whole[24] = {0};
  TlVolume v;
  char path[300];
  memset(values, 7, sizeof values);
  for (int i = 0; i < 24; i++) deep[i] = i / 7.0;
  hid_t file = new_file(at("several.h5"));
  add_dataset(file, "raw", H5T_STD_U8LE, 3, foreign_size, NULL);
  add_dataset(file, "labels", H5T_STD_U8LE, 3, foreign_size, values);
  add_dataset(file, "deep", H5T_NATIVE_DOUBLE, 3, foreign_size, deep);
  add_dataset(file, "whole", H5T_NATIVE_INT64, 3, foreign_size, whole);
  H5Fclose(file);
  CK_FAILS(tl_stack_read(at("several.h5"), NULL, NULL, &v), TL_EINPUT,
           "/deep, /labels, /raw, /whole");
  snprintf(path, sizeof path, "%s:/labels", at("several.h5"));
  CK_OK(tl_stack_read(path, NULL, NULL, &v));
  ck_assert_int_eq(v.u8[5], 7);
  tl_volume_free(&v);
  snprintf(path, sizeof path, "%s:/deep", at("several.h5"));
  CK_OK(tl_stack_read(path, NULL, NULL, &v)); /* doubles become floats */
  ck_assert_int_eq(v.type, TL_F32);
  for (int i = 0; i < 24; i++) ck_assert(v.f32[i] == (float)deep[i]);
  tl_volume_free(&v);
  snprintf(path, sizeof path, "%s:/whole", at("several.h5"));
  CK_FAILS(tl_stack_read(path, NULL, NULL, &v), TL_EINPUT, "type");
  snprintf(path, sizeof path, "%s:/none", at("several.h5"));
  CK_FAILS(tl_stack_read(path, NULL, NULL, &v), TL_EINPUT, "no dataset /none");
}
END_TEST

/* Where the object's header lies in the file. */
static long header_of(const char *path, const char *name) {
  H5O_info_t info;
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  ck_assert(H5Oget_info_by_name2(file, name, &info, H5O_INFO_BASIC, H5P_DEFAULT) >= 0);
  H5Fclose(file);
  return (long)info.addr;
}

START_TEST(a_history_that_cannot_be_read_is_not_an_absent_one) {
  uint8_t values[24] = {0};
  TlVolume v;
  hid_t file = new_file(at("history.h5"));
  add_dataset(file, "stack", H5T_STD_U8LE, 3, foreign_size, values);
  H5Fclose(file);
  CK_OK(tl_stack_read(at("history.h5"), NULL, NULL, &v));
  ck_assert_ptr_null(v.history);
  tl_volume_free(&v);
  file = new_file(at("history.h5"));
  add_dataset(file, "stack", H5T_STD_U8LE, 3, foreign_size, values);
  add_dataset(file, "provenance", H5T_NATIVE_INT, 1, foreign_size, NULL); /* not a text: not ours */
  H5Fclose(file);
  CK_OK(tl_stack_read(at("history.h5"), NULL, NULL, &v));
  ck_assert_ptr_null(v.history);
  tl_volume_free(&v);
  long header = header_of(at("history.h5"), "provenance");
  FILE *bytes = fopen(at("history.h5"), "r+b");
  ck_assert(bytes && fseek(bytes, header, SEEK_SET) == 0);
  for (int i = 0; i < 8; i++) fputc(0xff, bytes);
  fclose(bytes);
  CK_FAILS(tl_stack_read(at("history.h5"), NULL, NULL, &v), TL_EINPUT, "provenance");
}
END_TEST

/* How h5py writes a mask. */
START_TEST(booleans_of_h5py_are_a_mask) {
  int8_t values[24], no = 0, yes = 1;
  TlVolume v;
  for (int i = 0; i < 24; i++) values[i] = i % 3 == 0;
  hid_t type = H5Tenum_create(H5T_STD_I8LE);
  H5Tenum_insert(type, "FALSE", &no);
  H5Tenum_insert(type, "TRUE", &yes);
  hid_t file = new_file(at("mask.h5"));
  add_dataset(file, "mask", type, 3, foreign_size, values);
  H5Tclose(type);
  H5Fclose(file);
  CK_OK(tl_stack_read(at("mask.h5"), NULL, NULL, &v));
  ck_assert_int_eq(v.type, TL_U8);
  for (int i = 0; i < 24; i++) ck_assert_int_eq(v.u8[i], i % 3 == 0);
  tl_volume_free(&v);
}
END_TEST

START_TEST(hdf5_without_a_volume_is_refused) {
  TlVolume v;
  hid_t file = new_file(at("flat.h5"));
  add_dataset(file, "table", H5T_NATIVE_INT, 2, foreign_size, NULL);
  H5Fclose(file);
  CK_FAILS(tl_stack_read(at("flat.h5"), NULL, NULL, &v), TL_EINPUT, "no 3-D dataset");
  file = new_file(at("flat.h5"));
  add_dataset(file, "stack", H5T_NATIVE_INT, 2, foreign_size, NULL);
  H5Fclose(file);
  CK_FAILS(tl_stack_read(at("flat.h5"), NULL, NULL, &v), TL_EINPUT, "2 axes");
}
END_TEST

START_TEST(a_cut_hdf5_file_is_an_error_that_names_it) {
  TlVolume v, back;
  char *file;
  size_t size;
  make_volume(&v, TL_U16, 30, 20, 10);
  CK_OK(tl_stack_write(at("whole.h5"), &v, NULL, true));
  CK_OK(tl_file_read(at("whole.h5"), &file, &size));
  for (size_t k = 0; k < 20; k++) {
    CK_OK(tl_file_write(at("cut.h5"), file, size * k / 20, true));
    TlStatus status = tl_stack_read(at("cut.h5"), NULL, NULL, &back);
    ck_assert_msg(status == TL_EINPUT && strstr(tl_message(), "cut.h5"), "%zu/20: %s", k,
                  tl_message());
  }
  /* damaged voxels: the compressed chunk no longer unpacks */
  memset(file + size / 2, 0x5a, 256);
  CK_OK(tl_file_write(at("cut.h5"), file, size, true));
  CK_FAILS(tl_stack_read(at("cut.h5"), NULL, NULL, &back), TL_EINPUT, "cut.h5");
  tl_free(file);
  tl_volume_free(&v);
}
END_TEST

/* ---- a disk that fills up: the same short writes, by the limit on a file's size ---- */

START_TEST(a_full_disk_is_an_error_and_leaves_nothing) {
  const char *names[] = {"full.h5", "full.tif"};
  signal(SIGXFSZ, SIG_IGN); /* then write() gives EFBIG, as a full disk gives ENOSPC */
  for (int i = 0; i < 2; i++) {
    TlVolume v, back;
    struct rlimit before, tight;
    make_volume(&v, TL_U16, 90, 90, 90); /* 1.4 MB that does not compress */
    CK_OK(tl_stack_write(at(names[i]), &v, NULL, true));
    int64_t whole;
    CK_OK(tl_file_size(at(names[i]), &whole));
    ck_assert(getrlimit(RLIMIT_FSIZE, &before) == 0);
    for (int64_t k = 0; k < 12; k++) {
      v.u16[0] = (uint16_t)k; /* the old product must stay as it is */
      tight = (struct rlimit){(rlim_t)(whole * k / 12), before.rlim_max};
      ck_assert(setrlimit(RLIMIT_FSIZE, &tight) == 0);
      TlStatus status = tl_stack_write(at(names[i]), &v, NULL, true);
      ck_assert(setrlimit(RLIMIT_FSIZE, &before) == 0);
      ck_assert_msg(status == TL_EIO && strstr(tl_message(), names[i]), "%lld/12: %d %s",
                    (long long)k, (int)status, tl_message());
      ck_assert_int_eq(tl_test_temporaries(tl_test_folder()), 0);
    }
    CK_OK(tl_stack_read(at(names[i]), NULL, NULL, &back));
    ck_assert(memcmp(back.u16 + 1, v.u16 + 1, 2 * (size_t)tl_volume_count(&v) - 2) == 0);
    tl_volume_free(&back);
    tl_volume_free(&v);
  }
}
END_TEST

/* Every allocation of ours may fail: an error then, and no leak (the sanitized build looks). */
START_TEST(memory_may_run_out_at_any_place) {
  const char *names[] = {"memory.h5", "memory.tif"};
  for (int i = 0; i < 2; i++) {
    TlVolume v, back;
    make_volume(&v, TL_U8, 9, 8, 7);
    CK_OK(tl_stack_write(at(names[i]), &v, NULL, true));
    int failures = 0;
    for (int64_t k = 1; k < 200; k++) {
      tl_mem_fail_at(k);
      TlStatus status = tl_stack_read(at(names[i]), NULL, NULL, &back);
      if (status == TL_OK) status = tl_stack_write(at(names[i]), &back, NULL, true);
      tl_mem_fail_at(0);
      tl_volume_free(&back);
      ck_assert(status == TL_OK || status == TL_ENOMEM);
      failures += status != TL_OK;
      if (status == TL_OK) break;
    }
    ck_assert_int_gt(failures, 3);
    tl_volume_free(&v);
  }
}
END_TEST

TL_TEST_MAIN("stack", every_type_survives_both_formats, layers_are_read_and_written_in_any_parts,
             a_dropped_product_leaves_nothing, voxels_without_a_header_are_read_as_told,
             an_unknown_voxel_size_stays_unknown, the_given_voxel_size_wins_over_the_file,
             history_grows_by_one_record_a_tool, a_long_history_is_kept_whole,
             voxel_size_text_is_parsed_strictly, what_is_not_a_stack_is_refused_by_name,
             output_names_and_places_are_checked, slices_are_read_in_natural_order,
             every_slice_becomes_an_input_of_the_run,
             a_gap_in_the_numbers_is_refused_unless_allowed,
             slices_that_do_not_belong_together_are_refused_by_name,
             a_foreign_file_with_one_volume_is_read_in_its_type_and_order,
             a_foreign_file_with_several_volumes_asks_which,
             a_history_that_cannot_be_read_is_not_an_absent_one, booleans_of_h5py_are_a_mask,
             hdf5_without_a_volume_is_refused, a_cut_hdf5_file_is_an_error_that_names_it,
             a_full_disk_is_an_error_and_leaves_nothing, memory_may_run_out_at_any_place)
