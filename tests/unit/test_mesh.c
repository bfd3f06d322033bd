#include "support/tltest.h"

#include "base/file.h"
#include "base/mem.h"
#include "io/csv.h"
#include "io/mesh.h"
#include "io/vtk.h"
#include "post/export_morphology.h"
#include "post/measure_grading.h"
#include "post/surface.h"
#include "shape/superellipsoid.h"

#include <stdio.h>

static const double PI = 3.14159265358979323846;

static char *in_folder(const char *name) {
  return tl_path_join(tl_test_folder(), name);
}

START_TEST(surface_is_closed_outward_and_has_the_grains_volume) {
  /* radius in cells: the triangles of a sphere on 12 cells a radius lie 1/(8 12^2) inside */
  const double half[3][3] = {{1, 1, 1}, {1.5, 1, 0.7}, {2, 0.8, 0.6}};
  for (int s = 0; s < 3; s++) {
    TlAvatar a;
    TlMesh mesh;
    double shift;
    CK_OK(tl_avatar_superellipsoid(half[s][0], half[s][1], half[s][2], 1, 1, 0.08, 100, &a));
    CK_OK(tl_surface_make(&a, 0, &mesh, &shift));
    CK_OK(tl_surface_check_closed(&mesh));
    /* two Newton steps from a defect of about 1%: its fourth power, and float vertices */
    CK_NEAR(tl_mesh_volume(&mesh), a.volume_m3, 1e-5 * a.volume_m3);
    ck_assert(shift > 0 && shift < 0.05 * a.spacing_m);
    /* facets within h/R of the tangent plane lose or gain area to second order: (h/2R)^2/2 */
    CK_NEAR(tl_mesh_area(&mesh), a.area_m2, 0.01 * a.area_m2);
    tl_mesh_free(&mesh);
    tl_avatar_free(&a);
  }
}
END_TEST

START_TEST(surface_of_a_sphere_lies_on_the_sphere) {
  TlAvatar a;
  TlMesh mesh;
  double shift, h = 0.1;
  CK_OK(tl_avatar_sphere(1, h, 100, &a));
  CK_OK(tl_surface_make(&a, 0, &mesh, &shift));
  for (size_t i = 0; i < mesh.vertex_count; i++) /* chord error of a cell's diagonal, 3 h^2/8 */
    CK_NEAR(tl_norm(tl_mesh_vertex(&mesh, (int32_t)i)), 1, 3 * h * h / 8 + shift);
  CK_NEAR(tl_mesh_area(&mesh), 4 * PI, 0.005 * 4 * PI);
  tl_mesh_free(&mesh);
  tl_avatar_free(&a);
}
END_TEST

START_TEST(coarser_surface_keeps_closure_and_volume_with_fewer_triangles) {
  TlAvatar a;
  TlMesh fine, coarse;
  double shift;
  CK_OK(tl_avatar_superellipsoid(1.5, 1, 0.8, 0.6, 0.8, 0.05, 100, &a));
  CK_OK(tl_surface_make(&a, 0, &fine, &shift));
  CK_OK(tl_surface_make(&a, 12, &coarse, &shift));
  CK_OK(tl_surface_check_closed(&coarse));
  CK_NEAR(tl_mesh_volume(&coarse), a.volume_m3, 1e-3 * a.volume_m3);
  ck_assert_uint_lt(10 * coarse.triangle_count, fine.triangle_count);
  tl_mesh_free(&fine);
  tl_mesh_free(&coarse);
  tl_avatar_free(&a);
}
END_TEST

START_TEST(an_open_or_inside_out_mesh_is_found) {
  float vertex[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  int32_t triangle[12] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2};
  TlMesh mesh = {.vertex_count = 4, .triangle_count = 4, .vertex_m = vertex, .triangle = triangle};
  CK_OK(tl_surface_check_closed(&mesh));
  CK_NEAR(tl_mesh_volume(&mesh), 1.0 / 6, 1e-7);
  mesh.triangle_count = 3;
  CK_FAILS(tl_surface_check_closed(&mesh), TL_EINPUT, "edge");
  mesh.triangle_count = 4;
  triangle[9] = 2, triangle[11] = 0; /* the last one turned over */
  triangle[10] = 3;
  CK_FAILS(tl_surface_check_closed(&mesh), TL_EINPUT, "edge");
}
END_TEST

START_TEST(stl_holds_the_facets_in_its_unit_and_is_no_text_file) {
  char *path = in_folder("a.stl"), *bytes;
  size_t size;
  const float vertex[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  const int32_t triangle[12] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2};
  CK_OK(tl_stl_write(path, false, "Talus, unit mm", vertex, triangle, 4, 1000));
  CK_FAILS(tl_stl_write(path, false, "again", vertex, triangle, 4, 1), TL_EUSAGE, "--overwrite");
  CK_OK(tl_file_read(path, &bytes, &size));
  uint32_t count;
  memcpy(&count, bytes + 80, 4);
  ck_assert_uint_eq(count, 4);
  ck_assert_uint_eq(size, 84 + 4 * 50);
  ck_assert_int_ne(strncmp(bytes, "solid", 5), 0);
  double volume = 0; /* by the divergence theorem, from the file alone */
  for (int t = 0; t < 4; t++) {
    float f[12];
    memcpy(f, bytes + 84 + 50 * t, sizeof f);
    TlVec3 n = {f[0], f[1], f[2]}, a = {f[3], f[4], f[5]}, b = {f[6], f[7], f[8]},
           c = {f[9], f[10], f[11]}, area = tl_cross(tl_sub(b, a), tl_sub(c, a));
    volume += tl_dot(a, tl_cross(b, c)) / 6;
    CK_NEAR(tl_norm(n), 1, 1e-6);
    CK_NEAR(tl_dot(n, area), tl_norm(area), 1);
  }
  CK_NEAR(volume, 1e9 / 6, 1e3);
  tl_free(bytes);
  tl_free(path);
}
END_TEST

START_TEST(morphology_text_round_trip_keeps_the_bits) {
  char *path = in_folder("grain.txt"), *again = in_folder("again.txt"), *one, *two;
  size_t size[2];
  TlAvatar a, b;
  CK_OK(tl_avatar_superellipsoid(1.3e-4, 1e-4, 0.8e-4, 0.7, 0.9, 1e-5, 300, &a));
  CK_OK(tl_morphology_write(path, false, &a));
  CK_OK(tl_morphology_read(path, a.spacing_m, 1, &b));
  size_t points = (size_t)a.nx * (size_t)a.ny * (size_t)a.nz;
  ck_assert_int_eq(b.node_count, a.node_count);
  ck_assert_mem_eq(b.phi, a.phi, points * sizeof(float));
  ck_assert_mem_eq(b.node_m, a.node_m, 3 * (size_t)a.node_count * sizeof(float));
  CK_NEAR(b.volume_m3, a.volume_m3, 1e-15 * a.volume_m3);
  CK_NEAR(b.inertia_m5.z, a.inertia_m5.z, 2e-15 * a.inertia_m5.z);
  CK_NEAR(b.origin_m.x, a.origin_m.x, 1e-15 * fabs(a.origin_m.x));
  CK_NEAR(b.area_m2, a.area_m2, 0.01 * a.area_m2);
  double areas = 0;
  for (int i = 0; i < b.node_count; i++) areas += b.node_area_m2[i];
  CK_NEAR(areas, b.area_m2, 1e-5 * b.area_m2);
  CK_OK(tl_morphology_write(again, false, &b));
  CK_OK(tl_file_read(path, &one, &size[0]));
  CK_OK(tl_file_read(again, &two, &size[1]));
  int lines = 0;
  for (const char *c = one; *c; c++) lines += *c == '\n';
  ck_assert_int_eq(lines, 8);
  /* the long lines, nodes and level set, are the same text; the rest to the last digit or two */
  const char *l1 = strchr(one, '\n'), *l2 = strchr(two, '\n');
  for (int i = 1; i < 4; i++) l1 = strchr(l1 + 1, '\n'), l2 = strchr(l2 + 1, '\n');
  size_t nodes = strcspn(l1 + 1, "\n");
  ck_assert_uint_gt(nodes, 300);
  ck_assert_int_eq(strncmp(l1, l2, nodes + 1), 0);
  ck_assert_str_eq(strrchr(one, ' ') - 2000, strrchr(two, ' ') - 2000);
  tl_free(one);
  tl_free(two);
  tl_free(path);
  tl_free(again);
  tl_avatar_free(&a);
  tl_avatar_free(&b);
}
END_TEST

START_TEST(broken_morphology_text_is_refused_with_its_line) {
  char *path = in_folder("bad.txt"), *text;
  size_t size;
  TlAvatar a, b;
  CK_OK(tl_avatar_sphere(5, 1, 20, &a));
  CK_OK(tl_morphology_write(path, false, &a));
  CK_OK(tl_file_read(path, &text, &size));
  for (size_t cut = 0; cut < size - 1; cut += size / 200 + 1) {
    CK_OK(tl_file_write(path, text, cut, true));
    CK_FAILS(tl_morphology_read(path, 1, 1, &b), TL_EINPUT, "bad.txt:");
    ck_assert_ptr_null(b.phi);
  }
  char *more = tl_format("%s1 2 3\n", text);
  CK_OK(tl_file_write(path, more, strlen(more), true));
  CK_FAILS(tl_morphology_read(path, 1, 1, &b), TL_EINPUT, "eighth line");
  const struct {
    const char *text, *message;
  } cases[] = {{"1\n1 1\n", "bad.txt:2"},
               {"1\n1 1 1 1\n", "bad.txt:2"},
               {"nan\n", "bad.txt:1"},
               {"1\n1 1 1\n1 1 1\n3\n", "bad.txt:4"},
               {"1\n1 1 1\n1 1 1\n4.5\n", "bad.txt:4"},
               {"1\n1 1 1\n1 1 1\n-4\n", "bad.txt:4"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CK_OK(tl_file_write(path, cases[i].text, strlen(cases[i].text), true));
    CK_FAILS(tl_morphology_read(path, 1, 1, &b), TL_EINPUT, cases[i].message);
  }
  tl_free(text);
  tl_free(more);
  tl_free(path);
  tl_avatar_free(&a);
}
END_TEST

START_TEST(grading_of_known_grains_gives_the_known_sizes) {
  /* volumes 1, 2, 7 of sizes 1, 10, 100: 10%, 30%, 100% finer */
  TlGrading g;
  CK_OK(tl_grading_make((double[]){100, 1, 10}, (double[]){7, 1, 2}, 3, &g));
  CK_NEAR(tl_grading_size(&g, 0.1), 1, 0);
  CK_NEAR(tl_grading_size(&g, 0.05), 1, 0);
  CK_NEAR(tl_grading_size(&g, 0.2), sqrt(10), 1e-12); /* half way in log size */
  CK_NEAR(tl_grading_size(&g, 0.3), 10, 1e-12);
  CK_NEAR(tl_grading_size(&g, 0.65), 10 * sqrt(10), 1e-12);
  CK_NEAR(tl_grading_size(&g, 1), 100, 1e-12);
  tl_grading_free(&g);
  CK_FAILS(tl_grading_make(NULL, NULL, 0, &g), TL_EINPUT, "no grains");
}
END_TEST

START_TEST(csv_reads_back_exactly_and_is_absent_until_whole) {
  char *path = in_folder("t.csv"), *text;
  size_t size;
  TlCsv csv;
  CK_OK(tl_csv_begin(&csv, path, false, "time_s,energy_J,angle_deg"));
  CK_OK(tl_csv_row(&csv, (double[]){0.1, 2.0 / 3, NAN}, 3));
  ck_assert(!tl_file_exists(path));
  CK_OK(tl_csv_commit(&csv));
  CK_OK(tl_file_read(path, &text, &size));
  double time, energy;
  char rest[8] = "";
  ck_assert_int_eq(sscanf(text, "time_s,energy_J,angle_deg\n%lf,%lf%7s", &time, &energy, rest), 3);
  ck_assert(time == 0.1 && energy == 2.0 / 3);
  ck_assert_str_eq(rest, ",");
  tl_free(text);
  CK_OK(tl_csv_begin(&csv, path, true, "a"));
  tl_csv_abort(&csv);
  ck_assert(tl_file_exists(path));
  tl_free(path);
}
END_TEST

START_TEST(vtk_offsets_lead_to_the_arrays) {
  char *path = in_folder("p.vtp"), *text;
  size_t size;
  const double point[] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  const int64_t corner[] = {0, 1, 2};
  const float value[] = {1.5f, 2.5f, 3.5f};
  const TlVtkArray array = {"a<b&\"c\"", TL_VTK_F32, 1, value};
  CK_OK(tl_vtk_write_poly(path, false,
                          &(TlVtkPoly){.point_count = 3,
                                       .point = point,
                                       .triangle_count = 1,
                                       .triangle = corner,
                                       .point_arrays = 1,
                                       .point_array = &array}));
  CK_OK(tl_file_read(path, &text, &size));
  ck_assert_ptr_nonnull(strstr(text, "Name=\"a&lt;b&amp;&quot;c&quot;\""));
  const char *raw = strstr(text, "<AppendedData encoding=\"raw\">\n_");
  ck_assert_ptr_nonnull(raw);
  raw = strchr(raw, '_') + 1;
  const struct {
    const char *name;
    const void *values;
    uint64_t bytes;
  } want[] = {{"a&lt;b", value, 12}, {"Points\"", point, 72}, {"connectivity", corner, 24}};
  for (int i = 0; i < 3; i++) {
    const char *at = strstr(strstr(text, want[i].name), "offset=\"");
    size_t offset = strtoul(at + 8, NULL, 10);
    uint64_t bytes;
    memcpy(&bytes, raw + offset, 8);
    ck_assert_uint_eq(bytes, want[i].bytes);
    ck_assert_mem_eq(raw + offset + 8, want[i].values, bytes);
  }
  tl_free(text);
  tl_free(path);
}
END_TEST

TL_TEST_MAIN("mesh", surface_is_closed_outward_and_has_the_grains_volume,
             surface_of_a_sphere_lies_on_the_sphere,
             coarser_surface_keeps_closure_and_volume_with_fewer_triangles,
             an_open_or_inside_out_mesh_is_found,
             stl_holds_the_facets_in_its_unit_and_is_no_text_file,
             morphology_text_round_trip_keeps_the_bits,
             broken_morphology_text_is_refused_with_its_line,
             grading_of_known_grains_gives_the_known_sizes,
             csv_reads_back_exactly_and_is_absent_until_whole, vtk_offsets_lead_to_the_arrays)
