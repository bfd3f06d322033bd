#include "support/tltest.h"
#include "support/frame_rows.h"

#include "base/claims.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/random.h"
#include "store/linefile.h"
#include "store/results.h"

#include <dirent.h>
#include <hdf5.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static char *in_folder(const char *name) {
  return tl_path_join(tl_test_folder(), name);
}

static double draw(uint64_t stream, int64_t i) {
  return tl_random_normal(11, stream, (uint64_t)i);
}

static TlBodyRow body(int64_t id) {
  return (TlBodyRow){.id = id,
                     .avatar_id = 5 + id % 3,
                     .scale = 1 + 0.25 * (double)(id % 5),
                     .position_m = {draw(1, id), 1e6 + draw(2, id), -draw(3, id)},
                     .rotation = tl_quat_from_rotation(tl_vec3(draw(4, id), 0.1, 0.2)),
                     .velocity_m_s = {draw(5, id), draw(6, id), draw(7, id)},
                     .spin_rad_s = {draw(8, id), draw(9, id), draw(10, id)},
                     .contacts = (int32_t)(id % 7),
                     .flags = (int32_t)(id % 4)};
}

static void make_avatar(TlAvatar *a, int64_t id) {
  int32_t n = 4 + (int32_t)id % 3;
  *a = (TlAvatar){.id = id,
                  .label = 4000000000u,
                  .border = id % 2 == 0,
                  .nx = n,
                  .ny = n + 1,
                  .nz = n + 2,
                  .spacing_m = 1e-4,
                  .origin_m = {-1, -2, -3},
                  .phi_error_m = 1e-6,
                  .gradient_max = 1.25,
                  .node_count = 3 + (int32_t)id,
                  .volume_m3 = 1e-9,
                  .area_m2 = 2e-6,
                  .inertia_m5 = {1e-15, 2e-15, 2.5e-15},
                  .radius_m = 1e-3,
                  .scan_centroid_m = {0.1, 0.2, 0.3},
                  .scan_rotation = {0.5, 0.5, -0.5, 0.5},
                  .axes_m = {3e-3, 2e-3, 1e-3}};
  int64_t points = (int64_t)a->nx * a->ny * a->nz;
  CK_OK(TL_NEW(a->phi, (size_t)points));
  CK_OK(TL_NEW(a->node_m, 3 * (size_t)a->node_count));
  CK_OK(TL_NEW(a->node_area_m2, (size_t)a->node_count));
  for (int64_t i = 0; i < points; i++) a->phi[i] = (float)draw(20 + (uint64_t)id, i);
  for (int i = 0; i < 3 * a->node_count; i++) a->node_m[i] = (float)draw(30 + (uint64_t)id, i);
  for (int i = 0; i < a->node_count; i++) a->node_area_m2[i] = (float)draw(40 + (uint64_t)id, i);
}

static void make_scene(TlScene *scene, TlPlane *plane) {
  *plane = (TlPlane){{0, 0, -1}, {0, 0.6, 0.8}};
  *scene = (TlScene){.study = "grains: [1, 2]\n# \xc3\xa9\n",
                     .title = "a test",
                     .provenance = "[{\"tool\": \"talus-solve\"}]",
                     .grain_scale = 2000,
                     .ranks_matter = true,
                     .density_kg_m3 = 2650,
                     .gravity_m_s2 = {0, 0, -9.81},
                     .step_s = 1e-3,
                     .body_count = 100,
                     .plane_count = 1,
                     .planes = plane,
                     .has_terrain = true};
  TlTerrain *t = &scene->terrain;
  static float height[6] = {1, 2, 3, NAN, 5, 6}, phi[5] = {-1, -0.5, 0, 0.5, 1};
  static int32_t low[4] = {-1, 0, 1, 2}, count[4] = {2, 0, 3, 0};
  static int64_t start[4] = {0, 2, 2, 5};
  *t = (TlTerrain){.id = 3,
                   .name = "hill",
                   .crs = "EPSG",
                   .origin = {6e5, 5e6, 1000},
                   .nx = 3,
                   .ny = 2,
                   .cell_m = 5,
                   .x0_m = -5,
                   .y0_m = -2.5,
                   .height_m = height,
                   .holes_filled = 2,
                   .band_m = 4,
                   .band_spacing_m = 2.5,
                   .z0_m = -7,
                   .bnx = 2,
                   .bny = 2,
                   .k_low = low,
                   .k_count = count,
                   .start = start,
                   .band_count = 5,
                   .band_phi = phi};
}

static TlResultsWriter *create(const char *folder, bool overwrite) {
  TlScene scene;
  TlPlane plane;
  TlResultsWriter *w;
  make_scene(&scene, &plane);
  CK_OK(tl_results_create(&w, folder, &scene, overwrite));
  return w;
}

/* Two drives, the second by a table; a wall that is not there at the frame's time. */
START_TEST(walls_come_back_bit_for_bit_and_stand_where_their_drive_says) {
  static const double time_s[3] = {0, 0.25, 1};
  static const TlVec3 displacement_m[3] = {{0, 0, 0}, {1, 0, 0.5}, {1, 2, 0.1}};
  TlMat3 turn = tl_quat_matrix(tl_quat_from_rotation(tl_vec3(0.3, 0.2, -1.1)));
  TlWallPart part[2] = {{.wall = 0,
                         .kind = TL_PART_RING,
                         .inside = 1,
                         .centre = {0.1, 0.2, 0.3},
                         .turn = turn,
                         .size_m = {0.5, 1.25, 0.0625},
                         .drive = {.from_s = 0.25, .until_s = 0.75, .spin_rad_s = {0, 0, 3}}},
                        {.wall = 4,
                         .kind = TL_PART_BOX,
                         .turn = turn,
                         .size_m = {1, 2, 3},
                         .drive = {.rows = 3,
                                   .time_s = time_s,
                                   .displacement_m = displacement_m,
                                   .pivot_m = {7, 8, 9},
                                   .velocity_m_s = {0, 0, 0.1}}}};
  TlScene scene, read;
  TlPlane plane;
  TlResultsWriter *w;
  char *folder = in_folder("walls");
  make_scene(&scene, &plane);
  scene.parts = part;
  scene.part_count = 2;
  CK_OK(tl_results_create(&w, folder, &scene, false));
  CK_OK(tl_results_scene_done(w));
  tl_results_close(w);
  CK_OK(tl_results_read_scene(folder, &read));
  ck_assert_int_eq(read.part_count, 2);
  for (int i = 0; i < 2; i++) {
    const TlWallPart *a = &part[i], *b = &read.parts[i];
    ck_assert(a->wall == b->wall && a->kind == b->kind && a->inside == b->inside);
    ck_assert_mem_eq(&a->centre, &b->centre, sizeof a->centre);
    ck_assert_mem_eq(&a->turn, &b->turn, sizeof a->turn);
    ck_assert_mem_eq(a->size_m, b->size_m, sizeof a->size_m);
    ck_assert_int_eq(a->drive.rows, b->drive.rows);
    for (int64_t step = 200; step < 900; step += 90) {
      TlFrame frame = {.step = step};
      TlPlacement p = tl_scene_place(&scene, a, &frame), q = tl_scene_place(&read, b, &frame);
      ck_assert(p.absent == q.absent && p.absent == (i == 0 && (step < 250 || step >= 750)));
      ck_assert_mem_eq(&p.displacement, &q.displacement, sizeof p.displacement);
      ck_assert_mem_eq(&p.turn, &q.turn, sizeof p.turn);
      ck_assert_mem_eq(&p.pivot, &q.pivot, sizeof p.pivot);
    }
  }
  TlFrame frame = {.step = 625};
  CK_NEAR(tl_scene_place(&read, &read.parts[1], &frame).displacement.y, 1, 1e-12);
  tl_scene_free(&read);
  tl_free(folder);
}
END_TEST

START_TEST(scene_comes_back_bit_for_bit_and_avatars_are_found_by_id) {
  char *folder = in_folder("scene");
  TlResultsWriter *w = create(folder, false);
  for (int64_t id = 9; id >= 5; id -= 2) { /* not in order */
    TlAvatar a;
    make_avatar(&a, id);
    CK_OK(tl_results_add_avatar(w, &a));
    tl_avatar_free(&a);
  }
  TlScene read, made;
  TlPlane plane;
  CK_FAILS(tl_results_read_scene(folder, &read), TL_EIO, "run.h5");
  CK_OK(tl_results_scene_done(w));
  tl_results_close(w);
  make_scene(&made, &plane);
  CK_OK(tl_results_read_scene(folder, &read));
  ck_assert_str_eq(read.study, made.study);
  ck_assert_str_eq(read.title, made.title);
  ck_assert_str_eq(read.provenance, made.provenance);
  ck_assert(read.grain_scale == 2000 && read.step_s == 1e-3 && read.body_count == 100);
  ck_assert(read.ranks_matter);
  ck_assert_mem_eq(read.gravity_m_s2, made.gravity_m_s2, sizeof made.gravity_m_s2);
  ck_assert_int_eq(read.plane_count, 1);
  ck_assert_mem_eq(read.planes, &plane, sizeof plane);
  ck_assert(read.has_terrain);
  ck_assert_str_eq(read.terrain.name, "hill");
  ck_assert_mem_eq(read.terrain.height_m, made.terrain.height_m, 6 * sizeof(float));
  ck_assert_mem_eq(read.terrain.start, made.terrain.start, 4 * sizeof(int64_t));
  ck_assert_mem_eq(read.terrain.k_low, made.terrain.k_low, 4 * sizeof(int32_t));
  ck_assert_mem_eq(read.terrain.band_phi, made.terrain.band_phi, 5 * sizeof(float));
  ck_assert_mem_eq(read.terrain.origin, made.terrain.origin, 3 * sizeof(double));
  ck_assert_int_eq(read.avatar_count, 3);
  ck_assert_ptr_null(tl_scene_avatar(&read, 6));
  ck_assert_ptr_null(tl_scene_avatar(&read, 10));
  for (int64_t id = 5; id <= 9; id += 2) {
    TlAvatar a;
    make_avatar(&a, id);
    const TlAvatar *b = tl_scene_avatar(&read, id);
    ck_assert_ptr_nonnull(b);
    ck_assert_uint_eq(b->label, a.label);
    ck_assert_int_eq(b->border, a.border);
    ck_assert_mem_eq(b->phi, a.phi, (size_t)(a.nx * a.ny * a.nz) * sizeof(float));
    ck_assert_mem_eq(b->node_m, a.node_m, 3 * (size_t)a.node_count * sizeof(float));
    ck_assert_mem_eq(b->node_area_m2, a.node_area_m2, (size_t)a.node_count * sizeof(float));
    ck_assert_mem_eq(&b->volume_m3, &a.volume_m3,
                     offsetof(TlAvatar, axes_m) + sizeof a.axes_m - offsetof(TlAvatar, volume_m3));
    tl_avatar_free(&a);
  }
  tl_scene_free(&read);
  tl_free(folder);
}
END_TEST

/* Rows handed in as ranks would: in blocks, in an order of their own. */
static void write_frame(TlResultsWriter *w, int64_t index, int64_t n) {
  CK_OK(tl_test_frame(w, index, 10 * index, 0.1 * (double)index, n));
  TlBodyRow block[700];
  int64_t used = 0;
  for (int64_t i = 0; i < n; i++) {
    block[used++] = body(1 + (i * 7919 + 13) % n); /* 7919 is prime: a permutation */
    if (used < 700 && i < n - 1) continue;
    CK_OK(tl_test_put_bodies(w, block, used));
    used = 0;
  }
  CK_OK(tl_results_frame_end(w));
}

START_TEST(frame_rows_in_any_order_come_back_sorted_and_bit_for_bit) {
  char *folder = in_folder("frames");
  TlResultsWriter *w = create(folder, false);
  CK_OK(tl_results_scene_done(w));
  const int64_t index[] = {1000000, 3, 0}, n[] = {20000, 1, 0};
  for (int f = 0; f < 3; f++) write_frame(w, index[f], n[f]);
  tl_results_close(w);
  int64_t *there, count;
  CK_OK(tl_results_frames(folder, &there, &count));
  ck_assert_int_eq(count, 3);
  ck_assert(there[0] == 0 && there[1] == 3 && there[2] == 1000000);
  tl_free(there);
  for (int f = 0; f < 3; f++) {
    TlFrame frame;
    CK_OK(tl_results_read_frame(folder, index[f], &frame));
    ck_assert_int_eq(frame.count, n[f]);
    ck_assert_int_eq(frame.step, 10 * index[f]);
    ck_assert(frame.time_s == 0.1 * (double)index[f]);
    for (int64_t i = 0; i < n[f]; i++) {
      TlBodyRow want = body(i + 1);
      ck_assert_mem_eq(&frame.rows[i], &want, sizeof want);
    }
    tl_frame_free(&frame);
  }
  CK_FAILS(tl_results_read_frame(folder, 4, &(TlFrame){0}), TL_EIO, "frame_000004.h5");
  tl_free(folder);
}
END_TEST

static TlContactRow contact(int64_t i) {
  return (TlContactRow){.first = i / 3,
                        .second = i % 5 ? i / 3 + 1 : -1 - i % 2,
                        .point_m = {draw(50, i), 1e6 + draw(51, i), draw(52, i)},
                        .normal = tl_unit(tl_vec3(draw(53, i), draw(54, i), draw(55, i))),
                        .force_N = {draw(56, i), draw(57, i), draw(58, i)},
                        .gap_m = -1e-6 * draw(59, i),
                        .friction = draw(60, i)};
}

static TlStatus put_contacts(TlResultsWriter *w, int64_t announced, int64_t n) {
  TlBodyRow row = body(1);
  TlContactRow block[70];
  TL_TRY(tl_test_frame(w, announced, 10, 0.25, 1));
  TL_TRY(tl_test_put_bodies(w, &row, 1));
  TL_TRY(tl_results_frame_table(w, &tl_frame_contacts, &tl_contact_row_record, announced));
  for (int64_t i = 0, used = 0; i < n; i++) {
    block[used++] = contact(i);
    if (used < 70 && i < n - 1) continue;
    TL_TRY(tl_test_put_contacts(w, block, used));
    used = 0;
  }
  return tl_results_frame_end(w);
}

START_TEST(contacts_come_back_bit_for_bit_and_frames_without_have_none) {
  char *folder = in_folder("contacts");
  TlResultsWriter *w = create(folder, false);
  TlFrameContacts read;
  CK_OK(tl_results_scene_done(w));
  CK_OK(put_contacts(w, 5000, 5000));
  CK_OK(put_contacts(w, 0, 0));
  write_frame(w, 3, 20);
  CK_FAILS(put_contacts(w, 10, 11), TL_EUSAGE, "more than the 10 rows in 'contact of a frame'");
  CK_FAILS(put_contacts(w, 10, 9), TL_EUSAGE, "9 rows of the 10 in");
  CK_FAILS(tl_results_frame_table(w, &tl_frame_contacts, &tl_contact_row_record, 1), TL_EUSAGE,
           "no frame is open");
  tl_results_close(w);
  CK_OK(tl_results_read_contacts(folder, 5000, &read));
  ck_assert(read.there && read.count == 5000);
  for (int64_t i = 0; i < read.count; i++) {
    TlContactRow want = contact(i);
    ck_assert_mem_eq(&read.rows[i], &want, sizeof want);
  }
  tl_frame_contacts_free(&read);
  CK_OK(tl_results_read_contacts(folder, 0, &read));
  ck_assert(read.there && read.count == 0);
  tl_frame_contacts_free(&read);
  CK_OK(tl_results_read_contacts(folder, 3, &read));
  ck_assert(!read.there && read.count == 0);
  CK_FAILS(tl_results_read_contacts(folder, 10, &read), TL_EIO, "frame_000010.h5");
  tl_free(folder);
}
END_TEST

static int files_in(const char *folder) {
  DIR *list = opendir(folder);
  int count = 0;
  for (struct dirent *e; (e = readdir(list));) count += e->d_name[0] != '.';
  closedir(list);
  return count;
}

START_TEST(unfinished_frames_are_neither_listed_nor_left) {
  char *folder = in_folder("half"),
       *stale = in_folder("half/frame_000007.h5.0123abcd-1234-567-89abcdef.tmp");
  TlResultsWriter *w = create(folder, false);
  CK_OK(tl_results_scene_done(w));
  TlBodyRow row = body(1);
  CK_OK(tl_test_frame(w, 1, 1, 0.5, 2));
  CK_OK(tl_test_put_bodies(w, &row, 1));
  CK_FAILS(tl_results_frame_end(w), TL_EUSAGE, "1 rows of the 2");
  CK_OK(tl_test_frame(w, 1, 1, 0.5, 2));
  CK_OK(tl_test_put_bodies(w, &row, 1));
  int64_t *index, count;
  CK_OK(tl_results_frames(folder, &index, &count));
  ck_assert_int_eq(count, 0);
  tl_free(index);
  tl_results_close(w);
  ck_assert_int_eq(files_in(folder), 2);
  CK_OK(tl_file_write(stale, "x", 1, true)); /* what a killed run leaves */
  CK_OK(tl_results_frames(folder, &index, &count));
  ck_assert_int_eq(count, 0);
  tl_free(index);
  tl_free(folder);
  tl_free(stale);
}
END_TEST

START_TEST(a_folder_with_results_is_cleared_only_when_asked_and_only_of_ours) {
  char *folder = in_folder("over"), *mine = in_folder("over/notes.txt"),
       *stale = in_folder("over/frame_000007.h5.0123abcd-1234-567-89abcdef.tmp");
  TlResultsWriter *w = create(folder, false);
  CK_OK(tl_results_scene_done(w));
  write_frame(w, 1, 3);
  CK_OK(tl_results_table_header(w, TL_TABLE_HISTORY, "time_s,kinetic_energy_J"));
  tl_results_close(w);
  CK_OK(tl_file_write(mine, "x", 1, true));
  CK_OK(tl_file_write(stale, "x", 1, true));
  TlScene scene;
  TlPlane plane;
  make_scene(&scene, &plane);
  CK_FAILS(tl_results_create(&w, folder, &scene, false), TL_EUSAGE, "--overwrite");
  ck_assert_int_eq(files_in(folder), 6);
  w = create(folder, true);
  CK_OK(tl_results_scene_done(w));
  tl_results_close(w);
  ck_assert_int_eq(files_in(folder), 3); /* run.h5 and notes.txt */
  ck_assert(tl_file_exists(mine));
  tl_free(folder);
  tl_free(mine);
  tl_free(stale);
}
END_TEST

START_TEST(history_numbers_read_back_exactly) {
  char *folder = in_folder("history"), *path = in_folder("history/history.csv"), *text;
  size_t size;
  TlResultsWriter *w = create(folder, false);
  CK_OK(tl_results_table_header(w, TL_TABLE_HISTORY, "time_s,kinetic_energy_J"));
  CK_OK(tl_results_table_line(w, TL_TABLE_HISTORY, (double[]){0.1, 1.0 / 3}, 2, NULL));
  CK_FAILS(tl_results_table_line(w, TL_TABLE_HISTORY, (double[]){0.1}, 1, NULL), TL_EUSAGE,
           "1 values for 2");
  CK_OK(tl_file_read(path, &text, &size)); /* before closing: every line is flushed */
  double time, energy;
  ck_assert_int_eq(sscanf(text, "time_s,kinetic_energy_J\n%lf,%lf", &time, &energy), 2);
  ck_assert(time == 0.1 && energy == 1.0 / 3);
  ck_assert_ptr_nonnull(strstr(text, "\n0.1,"));
  tl_results_close(w);
  tl_free(text);
  tl_free(path);
  tl_free(folder);
}
END_TEST

START_TEST(damaged_and_foreign_files_are_refused) {
  char *folder = in_folder("bad"), *run = in_folder("bad/run.h5"),
       *frame = in_folder("bad/frame_000001.h5"), *bytes;
  size_t size;
  TlResultsWriter *w = create(folder, false);
  CK_OK(tl_results_scene_done(w));
  write_frame(w, 1, 5000);
  tl_results_close(w);
  TlScene scene;
  TlFrame read;
  CK_OK(tl_file_read(frame, &bytes, &size));
  for (size_t cut = 0; cut < size; cut += size / 37) {
    CK_OK(tl_file_write(frame, bytes, cut, true));
    CK_FAILS(tl_results_read_frame(folder, 1, &read), TL_EINPUT, "frame_000001.h5");
  }
  CK_OK(tl_file_write(run, bytes, size, true));
  CK_FAILS(tl_results_read_scene(folder, &scene), TL_EINPUT, "not a talus run file");
  CK_FAILS(tl_results_read_scene("/nowhere", &scene), TL_EIO, "/nowhere/run.h5");
  tl_free(bytes);
  tl_free(folder);
  tl_free(run);
  tl_free(frame);
}
END_TEST

/* The system refuses every byte past a limit, as a full disk does; HDF5 must neither crash nor
 * keep the file, and later frames work. */
START_TEST(a_full_disk_is_an_error_and_leaves_no_half_frame) {
  char *folder = in_folder("full");
  TlResultsWriter *w = create(folder, false);
  CK_OK(tl_results_scene_done(w));
  signal(SIGXFSZ, SIG_IGN);
  struct rlimit old, tight;
  getrlimit(RLIMIT_FSIZE, &old);
  tight = old;
  TlBodyRow rows[1000];
  int failures = 0;
  for (rlim_t limit = 0; limit < 400000; limit += 30011) {
    tight.rlim_cur = limit;
    setrlimit(RLIMIT_FSIZE, &tight);
    TlStatus status = tl_test_frame(w, 2, 2, 0.5, 2000);
    for (int64_t b = 0; status == TL_OK && b < 2; b++) {
      for (int64_t i = 0; i < 1000; i++) rows[i] = body(1000 * b + i);
      status = tl_test_put_bodies(w, rows, 1000);
    }
    TlContactRow touch = contact(1);
    if (status == TL_OK)
      status = tl_results_frame_table(w, &tl_frame_contacts, &tl_contact_row_record, 1);
    if (status == TL_OK) status = tl_test_put_contacts(w, &touch, 1);
    if (status == TL_OK) status = tl_results_frame_end(w);
    setrlimit(RLIMIT_FSIZE, &old);
    if (status == TL_OK) break;
    ck_assert_int_eq(status, TL_EIO);
    ck_assert_ptr_nonnull(strstr(tl_message(), "frame_000002.h5: cannot write"));
    ck_assert_int_eq(files_in(folder), 2);
    /* nothing stays open: that is what makes HDF5 crash at exit */
    ck_assert_int_eq(H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL), 0);
    failures++;
  }
  ck_assert_int_ge(failures, 4);
  ck_assert_int_eq(files_in(folder), 3);
  tl_results_close(w);
  tl_free(folder);
}
END_TEST

START_TEST(a_line_that_does_not_fit_on_the_disk_is_cut_off_again) {
  char *folder = in_folder("half_line"), *text;
  TlResultsWriter *w = create(folder, false);
  size_t size, whole;
  CK_OK(tl_results_scene_done(w));
  CK_OK(tl_results_table_header(w, TL_TABLE_HISTORY, "time_s,kinetic_energy_J"));
  CK_OK(tl_results_table_line(w, TL_TABLE_HISTORY, (double[]){0.1, 1.0 / 3}, 2, NULL));
  char *path = tl_path_join(folder, "history.csv");
  CK_OK(tl_file_read(path, &text, &whole));
  tl_free(text);
  signal(SIGXFSZ, SIG_IGN);
  struct rlimit old, tight;
  getrlimit(RLIMIT_FSIZE, &old);
  for (size_t more = 0; more < 12; more++) { /* the line has 23 bytes with its end */
    tight = old;
    tight.rlim_cur = whole + more;
    setrlimit(RLIMIT_FSIZE, &tight);
    TlStatus status = tl_results_table_line(w, TL_TABLE_HISTORY, (double[]){0.2, 1.0 / 3}, 2, NULL);
    setrlimit(RLIMIT_FSIZE, &old);
    ck_assert_int_eq(status, TL_EIO);
    ck_assert_ptr_nonnull(strstr(tl_message(), "history.csv: cannot write"));
    CK_OK(tl_file_read(path, &text, &size));
    ck_assert_uint_eq(size, whole);
    tl_free(text);
  }
  CK_OK(tl_results_table_line(w, TL_TABLE_HISTORY, (double[]){0.3, 1.0 / 3}, 2, NULL));
  tl_results_close(w);
  CK_OK(tl_file_read(path, &text, &size));
  ck_assert_str_eq(text, "time_s,kinetic_energy_J\n0.1,0.3333333333333333\n"
                         "0.3,0.3333333333333333\n");
  tl_free(text);
  tl_free(path);
  tl_free(folder);
}
END_TEST

/* One whole writing of scene and frame that may fail anywhere. */
static TlStatus write_all(const char *folder, const TlAvatar *a, const TlBodyRow *row) {
  TlScene scene;
  TlPlane plane;
  TlResultsWriter *w;
  make_scene(&scene, &plane);
  TL_TRY(tl_results_create(&w, folder, &scene, true));
  TlStatus status = tl_results_add_avatar(w, a);
  if (status == TL_OK) status = tl_results_scene_done(w);
  if (status == TL_OK) status = tl_test_frame(w, 1, 1, 0.5, 1);
  if (status == TL_OK) status = tl_test_put_bodies(w, row, 1);
  if (status == TL_OK) status = tl_results_frame_end(w);
  tl_results_close(w);
  return status;
}

START_TEST(any_failed_allocation_leaves_whole_files_only) {
  char *folder = in_folder("mem");
  TlAvatar a;
  TlBodyRow row = body(1);
  make_avatar(&a, 5);
  int64_t k = 1;
  for (;; k++) {
    tl_mem_fail_at(k);
    TlStatus status = write_all(folder, &a, &row);
    tl_mem_fail_at(0);
    if (status == TL_OK) break;
    ck_assert_int_eq(status, TL_ENOMEM);
    TlScene scene;
    char *run = tl_path_join(folder, "run.h5");
    if (tl_file_exists(run)) {
      CK_OK(tl_results_read_scene(folder, &scene));
      tl_scene_free(&scene);
      tl_claims_forget(); /* it is written again */
    }
    tl_free(run);
  }
  ck_assert_int_gt(k, 10);
  for (k = 1;; k++) {
    TlScene scene;
    tl_mem_fail_at(k);
    TlStatus status = tl_results_read_scene(folder, &scene);
    tl_mem_fail_at(0);
    tl_scene_free(&scene);
    if (status == TL_OK) break;
    ck_assert_int_eq(status, TL_ENOMEM);
  }
  ck_assert_int_gt(k, 10);
  tl_avatar_free(&a);
  tl_free(folder);
}
END_TEST

START_TEST(a_table_that_the_run_reads_is_not_cut_when_the_run_resumes) {
  static const char text[] = "time_s,z_m\n0,0\n1,0.1\n";
  char *folder = in_folder("cut"), *data = in_folder("lift.csv"),
       *link = in_folder("cut/history.csv"), *now;
  size_t size;
  CK_OK(tl_dir_make(folder));
  CK_OK(tl_file_write(data, text, sizeof text - 1, true));
  ck_assert_int_eq(symlink("../lift.csv", link), 0);
  tl_claims_forget();
  CK_OK(tl_claim_read(data));
  TlLineFile table = tl_linefile(TL_TABLE_HISTORY);
  CK_FAILS(tl_linefile_resume(&table, folder, "time_s,z_m", 15), TL_EUSAGE, "lift.csv");
  tl_linefile_close(&table);
  tl_claims_forget();
  CK_OK(tl_file_read(data, &now, &size));
  ck_assert_str_eq(now, text);
  tl_free(now);
  tl_claims_forget(); /* as another program, which does not read it */
  CK_OK(tl_linefile_resume(&table, folder, "time_s,z_m", 15));
  tl_linefile_close(&table);
  tl_free(link);
  tl_free(data);
  tl_free(folder);
}
END_TEST

TL_TEST_MAIN("results", walls_come_back_bit_for_bit_and_stand_where_their_drive_says,
             scene_comes_back_bit_for_bit_and_avatars_are_found_by_id,
             frame_rows_in_any_order_come_back_sorted_and_bit_for_bit,
             contacts_come_back_bit_for_bit_and_frames_without_have_none,
             unfinished_frames_are_neither_listed_nor_left,
             a_folder_with_results_is_cleared_only_when_asked_and_only_of_ours,
             history_numbers_read_back_exactly,
             a_table_that_the_run_reads_is_not_cut_when_the_run_resumes,
             damaged_and_foreign_files_are_refused,
             a_full_disk_is_an_error_and_leaves_no_half_frame,
             a_line_that_does_not_fit_on_the_disk_is_cut_off_again,
             any_failed_allocation_leaves_whole_files_only)
