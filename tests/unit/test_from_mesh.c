/* Closed meshes into avatars: files of every kind read the same body; what bounds no body is
 * refused with its reason; distance, mass properties and nodes against known shapes. */
#include "base/file.h"
#include "base/mem.h"
#include "io/mesh_read.h"
#include "shape/from_mesh.h"
#include "shape/superellipsoid.h"
#include "shape/triangle_tree.h"
#include "support/tltest.h"

#include <stdio.h>

static const double pi = 3.14159265358979323846;

/* Box [0,x] x [0,y] x [0,z], each facet with corners of its own, as STL has it. */
static void add_box(TlTriangles *m, TlVec3 at, TlVec3 size, bool inwards) {
  static const int face[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                                  {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  for (int t = 0; t < 12; t++) {
    for (int k = 0; k < 3; k++) {
      int v = face[t][inwards ? 2 - k : k];
      CK_OK(tl_triangles_add_vertex(
          m, tl_add(at, tl_vec3(v & 1 ? size.x : 0, v & 2 ? size.y : 0, v & 4 ? size.z : 0))));
    }
    CK_OK(tl_triangles_add(m, m->vertices - 3, m->vertices - 2, m->vertices - 1));
  }
}

static TlTriangles box_mesh(double x, double y, double z) {
  TlTriangles m = {0};
  TlTrianglesReport report;
  add_box(&m, tl_vec3(0, 0, 0), tl_vec3(x, y, z), false);
  CK_OK(tl_triangles_make_body(&m, &report));
  ck_assert(m.vertices == 8 && m.triangles == 12 && report.welded == 28 && !report.turned);
  return m;
}

/* Rings of a sphere of radius 1; vertices lie on it, so the polyhedron is inside it. */
static TlTriangles sphere_mesh(int rings) {
  TlTriangles m = {0};
  TlTrianglesReport report;
  int n = 2 * rings;
  for (int r = 0; r <= rings; r++)
    for (int k = 0; k < n; k++) {
      double t = pi * r / rings, f = 2 * pi * k / n, s = r == 0 || r == rings ? 0 : sin(t);
      CK_OK(tl_triangles_add_vertex(&m, tl_vec3(s * cos(f), s * sin(f), cos(t))));
    }
  for (int r = 0; r < rings; r++)
    for (int k = 0; k < n; k++) {
      int a = r * n + k, b = r * n + (k + 1) % n;
      CK_OK(tl_triangles_add(&m, a, a + n, b));
      CK_OK(tl_triangles_add(&m, b, a + n, b + n));
    }
  CK_OK(tl_triangles_make_body(&m, &report));
  ck_assert_int_eq(report.collapsed, 2 * n); /* at the poles */
  return m;
}

/* ---- what bounds a body ---- */

static void refuse(TlTriangles *m, const char *text) {
  TlTrianglesReport report;
  CK_FAILS(tl_triangles_make_body(m, &report), TL_EINPUT, text);
  tl_triangles_free(m);
}

START_TEST(only_closed_surfaces_pass) {
  TlTriangles m = {0};
  TlTrianglesReport report;
  TlVec3 o = tl_vec3(0, 0, 0), one = tl_vec3(1, 1, 1);
  refuse(&m, "no triangles");
  add_box(&m, o, one, false);
  m.triangles--;
  refuse(&m, "the surface is open (3 edges have one triangle only): edge from (");
  m = (TlTriangles){0};
  add_box(&m, o, one, false);
  int32_t keep = m.corner[0];
  m.corner[0] = m.corner[1], m.corner[1] = keep;
  refuse(&m, "do not agree which side is out: edge from (");
  m = (TlTriangles){0};
  add_box(&m, o, one, false);
  add_box(&m, tl_vec3(3, 0, 0), one, false);
  refuse(&m, "2 separate shells");
  m = (TlTriangles){0};
  add_box(&m, o, one, false);
  add_box(&m, tl_vec3(1, 1, 0), one, false); /* they share an edge */
  refuse(&m, "more than two triangles meet");
  m = (TlTriangles){0};
  add_box(&m, o, one, false);
  add_box(&m, one, one, false); /* they share a corner */
  refuse(&m, "2 separate shells");
  m = (TlTriangles){0};
  add_box(&m, o, tl_vec3(1, 1, 0), false);
  refuse(&m, ""); /* flat: facets fall together */
  CK_FAILS(tl_triangles_add_vertex(&m, tl_vec3(0, NAN, 0)), TL_EINPUT, "is not finite");
  CK_FAILS(tl_triangles_add(&m, 0, 1, 2), TL_EINPUT, "names vertex 1, and there are 0");
  add_box(&m, o, tl_vec3(1, 2, 3), true);
  CK_OK(tl_triangles_make_body(&m, &report));
  ck_assert(report.turned);
  CK_NEAR(tl_triangles_volume(&m), 6, 1e-14);
  CK_NEAR(tl_triangles_area(&m), 22, 1e-14);
  tl_triangles_free(&m);
}
END_TEST

/* A ring of eight cubes about a hole whose two ends touch in one vertex would be two fans; the
 * smallest such body: two tetrahedra joined along a path and touching at their tips. Here: a sphere
 * whose poles are one vertex. */
START_TEST(a_vertex_where_it_touches_itself_is_refused) {
  TlTriangles m = {0};
  enum { RINGS = 8, N = 12 };
  TlVec3 pole = tl_vec3(0, 0, 0);
  CK_OK(tl_triangles_add_vertex(&m, pole));
  for (int r = 1; r < RINGS; r++)
    for (int k = 0; k < N; k++) {
      double t = 2 * pi * r / RINGS, f = 2 * pi * k / N, s = 2 - 2 * cos(t);
      CK_OK(tl_triangles_add_vertex(&m, tl_vec3(s * cos(f), s * sin(f), sin(t))));
    }
  for (int k = 0; k < N; k++) {
    int l = (k + 1) % N, last = 1 + (RINGS - 2) * N;
    CK_OK(tl_triangles_add(&m, 0, 1 + k, 1 + l));
    CK_OK(tl_triangles_add(&m, 0, last + l, last + k));
    for (int r = 0; r + 2 < RINGS; r++) {
      int a = 1 + r * N;
      CK_OK(tl_triangles_add(&m, a + k, a + N + k, a + l));
      CK_OK(tl_triangles_add(&m, a + l, a + N + k, a + N + l));
    }
  }
  refuse(&m, "it touches itself in 1 vertices");
}
END_TEST

/* ---- distance and mass ---- */

START_TEST(a_cube_mesh_is_the_box) {
  TlTriangles m = box_mesh(2, 3, 4);
  TlAvatar a, b;
  TlFromMesh options = {.spacing_m = 0.25, .nodes = 500};
  CK_OK(tl_avatar_from_mesh(&m, &options, &a));
  CK_OK(tl_avatar_box(2, 1.5, 1, 0.25, 500, &b)); /* body axes: longest first */
  CK_NEAR(a.volume_m3, 24, 1e-13);
  CK_NEAR(a.area_m2, 52, 1e-13);
  CK_NEAR(a.inertia_m5.x, b.inertia_m5.x, 1e-12);
  CK_NEAR(a.inertia_m5.y, b.inertia_m5.y, 1e-12);
  CK_NEAR(a.inertia_m5.z, b.inertia_m5.z, 1e-12);
  ck_assert(a.nx == b.nx && a.ny == b.ny && a.nz == b.nz);
  for (int64_t i = 0; i < (int64_t)a.nx * a.ny * a.nz; i++)
    CK_NEAR(a.phi[i], b.phi[i], 1e-6); /* float's rounding at 1 m */
  CK_NEAR(a.scan_centroid_m.x, 1, 1e-14);
  CK_NEAR(a.scan_centroid_m.z, 2, 1e-14);
  CK_NEAR(a.radius_m, b.radius_m, 1e-5);
  /* corners and edges are nodes */
  double corners = 0, area = 0;
  for (int32_t i = 0; i < a.node_count; i++) {
    const float *p = a.node_m + 3 * i;
    bool on[3] = {fabs(fabs(p[0]) - 2) < 1e-4, fabs(fabs(p[1]) - 1.5) < 1e-4,
                  fabs(fabs(p[2]) - 1) < 1e-4};
    corners += on[0] && on[1] && on[2];
    area += a.node_area_m2[i];
  }
  CK_NEAR(corners, 8, 0);
  CK_NEAR(area, 52, 1e-4);
  ck_assert_int_eq(a.node_count, 500);
  tl_avatar_free(&a);
  tl_avatar_free(&b);
  tl_triangles_free(&m);
}
END_TEST

/* Every distance against the nearest of all triangles, and the sign against the winding number, of
 * a concave body: an L. */
START_TEST(distance_is_exact_and_its_side_right) {
  TlTriangles m = {0};
  TlTrianglesReport report;
  TlTriangleTree tree;
  static const double corner[6][2] = {{0, 0}, {2, 0}, {2, 1}, {1, 1}, {1, 3}, {0, 3}};
  for (int i = 0; i < 12; i++)
    CK_OK(tl_triangles_add_vertex(&m, tl_vec3(corner[i % 6][0], corner[i % 6][1], i / 6)));
  static const int top[4][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 4}, {0, 4, 5}};
  for (int t = 0; t < 4; t++) {
    CK_OK(tl_triangles_add(&m, top[t][0], top[t][2], top[t][1]));
    CK_OK(tl_triangles_add(&m, 6 + top[t][0], 6 + top[t][1], 6 + top[t][2]));
  }
  for (int i = 0; i < 6; i++) {
    int j = (i + 1) % 6;
    CK_OK(tl_triangles_add(&m, i, j, 6 + i));
    CK_OK(tl_triangles_add(&m, j, 6 + j, 6 + i));
  }
  CK_OK(tl_triangles_make_body(&m, &report));
  CK_OK(tl_triangle_tree_make(&tree, &m));
  for (int i = 0; i < 4000; i++) {
    TlVec3 p = tl_vec3(-0.55 + 0.1937 * (i % 16), -0.53 + 0.2713 * (i / 16 % 16),
                       -0.47 + 0.1291 * (i / 256)),
           near;
    double d = tl_triangle_tree_distance(&tree, p, &near), least = INFINITY;
    double turns = tl_triangles_winding(&m, p);
    ck_assert_msg((d < 0) == (turns > 0.5), "(%g, %g, %g): d %g, winding %g", p.x, p.y, p.z, d,
                  turns);
    /* by hand: an L is the union of two boxes; outside, the nearer of them */
    TlVec3 q = tl_vec3(fmax(fmax(-p.x, p.x - 2), 0), fmax(fmax(-p.y, p.y - 1), 0),
                       fmax(fmax(-p.z, p.z - 1), 0));
    TlVec3 r = tl_vec3(fmax(fmax(-p.x, p.x - 1), 0), fmax(fmax(-p.y, p.y - 3), 0),
                       fmax(fmax(-p.z, p.z - 1), 0));
    least = fmin(tl_norm(q), tl_norm(r));
    if (d > 0) CK_NEAR(d, least, 1e-13);
    CK_NEAR(fabs(d), tl_norm(tl_sub(p, near)), 1e-13);
  }
  tl_triangle_tree_free(&tree);
  tl_triangles_free(&m);
}
END_TEST

/* Volume and inertia of an inscribed polyhedron fall short by the square of the facets' angle:
 * about 2 (pi/rings)^2 / 3 and more. */
START_TEST(a_sphere_mesh_is_the_sphere) {
  enum { RINGS = 40 };
  TlTriangles m = sphere_mesh(RINGS);
  TlPolyhedron body = tl_polyhedron(&m);
  double angle2 = (pi / RINGS) * (pi / RINGS), v = 4 * pi / 3;
  CK_NEAR(body.volume, v, v * angle2);
  CK_NEAR(body.inertia.xx, 0.4 * v, 0.4 * v * 2 * angle2);
  CK_NEAR(tl_norm(body.centroid), 0, 1e-12);
  TlAvatar a;
  TlFromMesh options = {.spacing_m = 0.1, .nodes = 400};
  CK_OK(tl_avatar_from_mesh(&m, &options, &a));
  double sag = 0.5 * angle2; /* of a facet below the sphere, two facets a ring wide */
  for (int64_t i = 0; i < (int64_t)a.nx * a.ny * a.nz; i += 7) {
    TlVec3 p =
        tl_axpy(a.origin_m, 0.1,
                tl_vec3((double)(i % a.nx), (double)(i / a.nx % a.ny), (double)(i / a.nx / a.ny)));
    CK_NEAR(a.phi[i], tl_norm(p) - 1, sag + 1e-6);
  }
  double least = INFINITY, most = 0;
  for (int32_t i = 0; i < a.node_count; i++) {
    least = fmin(least, a.node_area_m2[i]);
    most = fmax(most, a.node_area_m2[i]);
  }
  ck_assert_msg(most < 3 * least, "areas %g to %g", least, most);
  tl_avatar_free(&a);
  tl_triangles_free(&m);
}
END_TEST

START_TEST(a_surface_through_itself_is_refused) {
  TlTriangles m = sphere_mesh(16);
  TlAvatar a;
  TlFromMesh options = {.spacing_m = 0.1};
  for (int64_t i = 0; i < m.vertices; i++) /* the upper cap is pushed out below the lower one */
    if (m.vertex[i].z > 0.6) m.vertex[i].z -= 2.6;
  CK_FAILS(tl_avatar_from_mesh(&m, &options, &a), TL_EINPUT, "passes through itself");
  tl_triangles_free(&m);
}
END_TEST

/* ---- files ---- */

static char *put(const char *name, const void *bytes, size_t size) {
  char *path = tl_path_join(tl_test_folder(), name);
  CK_OK(tl_file_write(path, bytes, size, true));
  return path;
}

static const char tetra_stl[] =
    "solid a name with words\n"
    "facet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 0 1 0\nvertex 1 0 0\nendloop\nendfacet\n"
    "facet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 0 1\nendloop\nendfacet\n"
    "facet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 0 0 1\nvertex 0 1 0\nendloop\nendfacet\n"
    "facet normal 0 0 0\nouter loop\nvertex 1 0 0\nvertex 0 1 0\nvertex 0 0 1e0\nendloop\n"
    "endfacet\nendsolid a name with words\n";
static const char tetra_obj[] = "# four points\nv 0 0 0\nv 1 0 0\nvt 0 0\nv 0 1 0\nv 0 0 1 1.0\n"
                                "f 1/1/1 3//1 2\nf 1 2 4\nf 1 4 3\nf -3 -2 -1\n";
static const char tetra_ply[] =
    "ply\nformat ascii 1.0\ncomment x\nelement vertex 4\nproperty float x\n"
    "property float y\nproperty uchar red\nproperty double z\n"
    "element face 4\nproperty list uchar int vertex_indices\n"
    "property float quality\nelement edge 1\nproperty int a\nend_header\n"
    "0 0 255 0\n1 0 255 0\n0 1 255 0\n0 0 255 1\n"
    "3 0 2 1 0.5\n3 0 1 3 0.5\n3 0 3 2 0.5\n3 1 2 3 0.5\n7\n";

static void is_tetra(const char *path) {
  TlTriangles m;
  TlTrianglesReport report;
  CK_OK(tl_mesh_read(path, &m));
  CK_OK(tl_triangles_make_body(&m, &report));
  ck_assert(m.vertices == 4 && m.triangles == 4 && !report.turned);
  CK_NEAR(tl_triangles_volume(&m), 1.0 / 6, 1e-15);
  tl_triangles_free(&m);
}

static size_t binary_stl(char *to) { /* its header begins with "solid" */
  static const float p[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  static const int face[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
  uint32_t count = 4;
  memset(to, 0, 84 + 200);
  snprintf(to, 80, "solid but binary");
  memcpy(to + 80, &count, 4);
  for (int t = 0; t < 4; t++)
    for (int k = 0; k < 3; k++) memcpy(to + 84 + 50 * t + 12 + 12 * k, p[face[t][k]], 12);
  return 84 + 200;
}

static size_t binary_ply(char *to, bool big) {
  static const float p[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  static const int32_t face[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
  int n = sprintf(to,
                  "ply\r\nformat binary_%s_endian 1.0\r\nelement vertex 4\r\nproperty float32 x\r\n"
                  "property float32 y\r\nproperty float32 z\r\nelement face 4\r\nproperty list "
                  "uint8 int32 vertex_index\r\nend_header\r\n",
                  big ? "big" : "little");
  for (int i = 0; i < 24 + 4; i++) {
    char word[4];
    int face_at = i - 12;
    if (i >= 12 && face_at % 4 == 0) to[n++] = 3;
    if (i >= 12 && face_at % 4 == 0) continue;
    if (i < 12)
      memcpy(word, &p[i], 4);
    else
      memcpy(word, &face[face_at / 4 * 3 + face_at % 4 - 1], 4);
    for (int k = 0; k < 4; k++) to[n++] = word[big ? 3 - k : k];
  }
  return (size_t)n;
}

START_TEST(all_kinds_of_files_hold_the_same_body) {
  char bytes[1024];
  char *path[6] = {
      put("a.stl", tetra_stl, strlen(tetra_stl)),    put("a.obj", tetra_obj, strlen(tetra_obj)),
      put("a.ply", tetra_ply, strlen(tetra_ply)),    put("b.STL", bytes, binary_stl(bytes)),
      put("b.ply", bytes, binary_ply(bytes, false)), put("c.ply", bytes, binary_ply(bytes, true))};
  for (int i = 0; i < 6; i++) {
    is_tetra(path[i]);
    tl_free(path[i]);
  }
}
END_TEST

static void bad_file(const char *name, const void *bytes, size_t size, const char *text) {
  TlTriangles m;
  char *path = put(name, bytes, size);
  CK_FAILS(tl_mesh_read(path, &m), TL_EINPUT, text);
  ck_assert_ptr_nonnull(strstr(tl_message(), path));
  tl_triangles_free(&m);
  tl_free(path);
}

START_TEST(wrong_files_are_named_with_their_fault) {
  char bytes[1024];
  float nan = NAN;
  bad_file("e.stl", "", 0, "the file is empty");
  bad_file("e.txt", "hello", 5, "no known kind of mesh");
  bad_file("e.stl", tetra_stl, 200, "the file is cut short");
  bad_file("e.stl", "solid x\nendsolid x\n", 19, "no triangles");
  bad_file("e.stl", "solid x\nvertex 1 2 b\nendsolid", 29, "line 2: 'b' where a number is wanted");
  size_t size = binary_stl(bytes);
  bad_file("e.stl", bytes, size - 20, "it is cut short or no STL");
  memcpy(bytes + 84 + 50 + 12, &nan, 4);
  bad_file("e.stl", bytes, size, "facet 2: vertex 4 is not finite");
  bad_file("e.obj", "v 0 0 0\nf 1 2 3\n", 16, "line 2: triangle 1 names vertex 2, and there are 1");
  bad_file("e.obj", "v 0 0\n", 6, "line 1: three coordinates wanted");
  bad_file("e.obj", "v 0 0 nan\n", 10, "is not finite");
  bad_file("e.ply", tetra_ply, strlen(tetra_ply) - 20, "the file is cut short");
  bad_file("e.ply", tetra_ply, 60, "the header has no end");
  bad_file("e.ply", "plx", 3, "does not begin with the line 'ply'");
  size = binary_ply(bytes, true);
  bad_file("e.ply", bytes, size - 3, "face 4 of 4: the file is cut short");
  bad_file("e.ply", "ply\nformat ascii 1.0\nelement vertex 0\nproperty float x\nend_header\n", 66,
           "it has no faces");
}
END_TEST

/* Counts that the file cannot hold took minutes, or went into a conversion without meaning. */
START_TEST(counts_that_a_ply_file_cannot_hold_are_refused_at_once) {
#define HEAD "ply\nformat ascii 1.0\n"
#define XYZ "property float x\nproperty float y\nproperty float z\n"
#define FACES "property list uchar int vertex_indices\nend_header\n"
  static const struct {
    const char *text, *says;
  } cases[] = {
      {HEAD "element vertex 9000000000000000000\n" XYZ "element face 1\n" FACES "0 0 0\n",
       "cannot be in 6 bytes"},
      {HEAD "element vertex 1\n" XYZ "element face 1\n"
            "property list uint int vertex_indices\nend_header\n0 0 0\n1e300 0 0 0\n",
       "a list of"},
      {HEAD "element vertex 1\n" XYZ "element face 1\n" FACES "0 0 0\nnan 0 0 0\n", "a list of"},
      {HEAD "element vertex 1\n" XYZ "element face 1\n" FACES "0 0 0\n-5 0 0 0\n", "a list of"},
      {HEAD "element vertex 1\n" XYZ "element face 1\n" FACES "0 0 0\n3 0 1e30 0\n",
       "names vertex"},
      {HEAD "element vertex 1\n" XYZ "element face 1\n" FACES "0 0 0\n3 0 nan 0\n",
       "names vertex"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    bad_file("e.ply", cases[i].text, strlen(cases[i].text), cases[i].says);
  /* an element without properties takes no bytes, however many there are */
  static const char nothing[] = HEAD "element nothing 9000000000000000000\nelement vertex 1\n" XYZ
                                     "element face 1\n" FACES "0 0 0\n3 0 0 1\n";
  bad_file("e.ply", nothing, sizeof nothing - 1, "names vertex 2");
  bad_file("e.obj", "v 0 0\n5\nf 1 1 1\n", 16, "line 1: three coordinates wanted");
}
END_TEST

TL_TEST_MAIN("from_mesh", only_closed_surfaces_pass, a_vertex_where_it_touches_itself_is_refused,
             a_cube_mesh_is_the_box, distance_is_exact_and_its_side_right,
             a_sphere_mesh_is_the_sphere, a_surface_through_itself_is_refused,
             all_kinds_of_files_hold_the_same_body, wrong_files_are_named_with_their_fault,
             counts_that_a_ply_file_cannot_hold_are_refused_at_once)
