/* Shapes of a study from mesh files: the same body as by formula, the same checks as talus-avatars
 * --mesh. */
#include "support/tltest.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/par.h"
#include "run/run.h"

#include <stdio.h>

static void put_file(const char *name, const char *text) {
  char *path = tl_path_join(tl_test_folder(), name);
  CK_OK(tl_file_write(path, text, strlen(text), true));
  tl_free(path);
}

/* Regular, edge 20 of the file's units, counter-clockwise from outside; `flip` turns the facets,
 * one fewer leaves a hole. */
static void put_tetrahedron(const char *name, bool flip, int facets) {
  static const int corner[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
  static const int vertex[4][3] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
  double half = 20 / sqrt(8);
  char text[2048];
  int at = snprintf(text, sizeof text, "solid tetrahedron\n");
  for (int f = 0; f < facets; f++) {
    at += snprintf(text + at, sizeof text - (size_t)at, "facet normal 0 0 0\nouter loop\n");
    for (int k = 0; k < 3; k++) {
      const int *v = vertex[corner[f][flip ? k : 2 - k]];
      at += snprintf(text + at, sizeof text - (size_t)at, "vertex %.17g %.17g %.17g\n",
                     100 + half * v[0], half * v[1], half * v[2]);
    }
    at += snprintf(text + at, sizeof text - (size_t)at, "endloop\nendfacet\n");
  }
  snprintf(text + at, sizeof text - (size_t)at, "endsolid tetrahedron\n");
  put_file(name, text);
}

static TlStatus open_study(TlRun *run, const char *shape) {
  char *text =
      tl_format("time: {dt_s: 1.0e-3, steps: 200}\nplanes: [{point_m: [0, 0, 0], normal: "
                "[0, 0, 1]}]\nshapes:\n  - {name: rule, kind: tetrahedron, length_m: "
                "0.02, spacing_m: 5.0e-4}\n  - {name: stone, %s}\n"
                "bodies: [{shape: stone, position_m: [0, 0, 0.02], turn_deg: [3, 0, 0]}]\n",
                shape);
  char *path = tl_path_join(tl_test_folder(), "m.yaml");
  CK_OK(tl_file_write(path, text, strlen(text), true));
  TlRunOptions options = {.study = path, .no_output = true};
  tl_par_set_threads(1);
  TlStatus status = tl_run_open(run, NULL, &options);
  tl_free(text);
  tl_free(path);
  return status;
}

static void is_the_tetrahedron(const char *shape, double edge) {
  TlRun run;
  CK_OK(open_study(&run, shape));
  const TlAvatar *mesh = tl_study_shapes_get(&run.model->shapes, tl_study_shape_id(1)),
                 *rule = tl_study_shapes_get(&run.model->shapes, tl_study_shape_id(0));
  double a3 = edge * edge * edge, size = edge / 0.02;
  CK_NEAR(mesh->volume_m3 / (a3 / (6 * sqrt(2))), 1, 1e-12);
  for (int k = 0; k < 3; k++) /* V a^2/20 about any axis through the centre */
    CK_NEAR((&mesh->inertia_m5.x)[k] / (mesh->volume_m3 * edge * edge / 20), 1, 1e-9);
  CK_NEAR(rule->volume_m3 * size * size * size / mesh->volume_m3, 1, 1e-9);
  CK_NEAR(rule->radius_m * size / mesh->radius_m, 1, 0.01); /* of nodes on a grid of a 40th */
  ck_assert_int_eq(mesh->id, tl_study_shape_id(1));
  CK_OK(tl_run_go(&run)); /* it falls on a corner, tips over and lies on a face */
  TlVec3 x = run.state->dem.bodies.position[0];
  CK_NEAR(x.z, edge / sqrt(24), 0.02 * edge);
  tl_run_close(&run);
}

START_TEST(a_tetrahedron_from_a_file_is_that_of_the_formula) {
  put_tetrahedron("t.stl", false, 4);
  put_tetrahedron("flip.stl", true, 4);
  is_the_tetrahedron("kind: mesh, file: t.stl, unit: mm, spacing_m: 5.0e-4", 0.02);
  is_the_tetrahedron("kind: mesh, file: flip.stl, unit: mm, spacing_m: 5.0e-4", 0.02);
  is_the_tetrahedron("kind: mesh, file: t.stl, unit: cm, scale: 0.05, spacing_m: 2.5e-4", 0.01);
}
END_TEST

static void fails(const char *shape, const char *place, const char *message) {
  TlRun run;
  CK_FAILS(open_study(&run, shape), TL_EINPUT, message);
  ck_assert_msg(strstr(tl_message(), place) != NULL, "'%s' is not in '%s'", place, tl_message());
  ck_assert_msg(strstr(tl_message(), "m.yaml:") != NULL, "no file in '%s'", tl_message());
  tl_run_close(&run);
}

START_TEST(what_is_no_mesh_of_a_body_is_refused_with_file_and_place) {
  put_tetrahedron("t.stl", false, 4);
  put_tetrahedron("open.stl", false, 3);
  put_file("text.stl", "solid x\nfacet normal 0 0 0\nouter loop\nvertex 1 2\n");
  fails("kind: mesh, file: open.stl, unit: mm", "shapes.1.file", "open.stl: the surface is open");
  fails("kind: mesh, file: text.stl, unit: mm", "shapes.1.file", "text.stl: line 5");
  fails("kind: mesh, file: none.stl, unit: mm", "shapes.1.file", "none.stl");
  fails("kind: mesh, file: t.stl", "shapes.1", "do not say in what unit");
  fails("kind: mesh, file: t.stl, unit: furlong", "shapes.1.unit", "furlong is no unit");
  fails("kind: mesh, unit: mm", "shapes.1", "a mesh wants file");
  fails("kind: mesh, file: t.stl, unit: mm, length_m: 1", "shapes.1.length_m", "has no length_m");
  fails("kind: mesh, file: t.stl, unit: mm, spacing_m: 0.02", "shapes.1.file", "t.stl: ");
  fails("kind: sphere, diameter_m: 1, file: t.stl", "shapes.1", "kind: mesh wanted");
}
END_TEST

TL_TEST_MAIN("mesh study", a_tetrahedron_from_a_file_is_that_of_the_formula,
             what_is_no_mesh_of_a_body_is_refused_with_file_and_place)
