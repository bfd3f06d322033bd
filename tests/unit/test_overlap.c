/* The oracle of overlap (post/overlap.h) against closed forms, brute force and itself. */
#include "support/tltest.h"

#include "base/mem.h"
#include "base/par.h"
#include "base/random.h"
#include "post/measure.h"
#include "post/overlap.h"
#include "post/overlap_terrain.h"
#include "shape/formula.h"

#include <stdio.h>

static const TlQuat as_is = {1, 0, 0, 0};

static TlVec3 random_vector(TlRandom *random) {
  double x = tl_random_next_normal(random), y = tl_random_next_normal(random);
  return tl_vec3(x, y, tl_random_next_normal(random));
}

static TlQuat random_turn(TlRandom *random) {
  TlQuat q = {tl_random_next_normal(random), tl_random_next_normal(random),
              tl_random_next_normal(random), tl_random_next_normal(random)};
  return tl_quat_unit(q);
}

static TlBodyRow row_of(int64_t id, int64_t avatar, TlVec3 x, TlQuat q, double scale) {
  return (TlBodyRow){
      .id = id, .body = id, .avatar_id = avatar, .scale = scale, .position_m = x, .rotation = q};
}

/* A scene of the shapes of a study, which lies about it as run.h5 has it. */
typedef struct Shapes {
  TlScene scene;
  TlAvatar avatar[8];
  TlOverlapShape *shape;
} Shapes;

static void open_shapes(Shapes *s, const char *study, const TlFormula *formula, int count) {
  *s = (Shapes){
      .scene = {
          .study = (char *)study, .step_s = 1e-3, .avatars = s->avatar, .avatar_count = count}};
  for (int i = 0; i < count; i++) { /* sorted by id: shape i has -1 - i */
    CK_OK(tl_formula_avatar(&formula[i], &s->avatar[count - 1 - i]));
    s->avatar[count - 1 - i].id = -1 - i;
  }
  CK_OK(tl_overlap_shapes(&s->scene, &s->shape));
}

static void close_shapes(Shapes *s) {
  tl_overlap_shapes_free(s->shape, s->scene.avatar_count);
  for (int64_t i = 0; i < s->scene.avatar_count; i++) tl_avatar_free(&s->avatar[i]);
}

static const TlOverlapShape *shape_of(const Shapes *s, int64_t index) {
  return &s->shape[s->scene.avatar_count - 1 - index];
}

static TlOverlapDepth depth_of(const TlOverlapShape *a, const TlBodyRow *row_a,
                               const TlOverlapShape *b, const TlBodyRow *row_b,
                               TlOverlapTest *test) {
  TlOverlapBody one = tl_overlap_body(a, row_a), two = tl_overlap_body(b, row_b);
  TlOverlapDepth deepest;
  CK_OK(tl_overlap_pair(&one, &two, &deepest, test));
  return deepest;
}

/* ---- exact forms ---- */

START_TEST(two_spheres_overlap_by_their_radii_less_the_distance) {
  Shapes s;
  TlOverlapTest test;
  open_shapes(&s, "", &(TlFormula){.kind = TL_FORMULA_SPHERE, .diameter_m = 2e-2}, 1);
  ck_assert_int_eq(shape_of(&s, 0)->form, TL_OVERLAP_BALL);
  TlRandom random = {.seed = 1};
  for (int i = 0; i < 100; i++) {
    TlVec3 u = tl_unit(random_vector(&random)), x = random_vector(&random);
    double depth = 1e-2 * (tl_random_next(&random) - 0.3);
    TlBodyRow a = row_of(0, -1, x, random_turn(&random), 1);
    TlBodyRow b = row_of(1, -1, tl_axpy(x, 3e-2 - depth, u), random_turn(&random), 2);
    TlOverlapDepth d = depth_of(shape_of(&s, 0), &a, shape_of(&s, 0), &b, &test);
    ck_assert_int_eq(test, TL_OVERLAP_CLOSED);
    CK_NEAR(d.depth_m, fmax(depth, 0), 1e-12 * 1e-2 + 4e-15);
    if (!(depth > 0)) continue;
    CK_NEAR(tl_norm(tl_add(d.normal, u)), 0, 1e-12);
    CK_NEAR(tl_norm(tl_sub(d.point_m, tl_axpy(x, 1e-2 - 0.5 * depth, u))), 0, 1e-12);
  }
  close_shapes(&s);
}
END_TEST

/* Cubes of edge 1: what lies how far below the upper one's centre, and turned how. */
typedef struct Touch {
  const char *name;
  TlQuat upper, lower;
  double below, above; /* of the touching feature from the centres */
} Touch;

static int cube_touches(Touch touch[4]) {
  TlQuat x45 = tl_quat_from_rotation(tl_vec3(M_PI / 4, 0, 0)),
         y45 = tl_quat_from_rotation(tl_vec3(0, M_PI / 4, 0)),
         z20 = tl_quat_from_rotation(tl_vec3(0, 0, 0.35));
  /* (1, 1, 1) comes to lie along -z */
  TlVec3 axis = tl_unit(tl_cross(tl_vec3(1, 1, 1), tl_vec3(0, 0, -1)));
  TlQuat corner = tl_quat_from_rotation(tl_scale(M_PI - acos(1 / sqrt(3)), axis));
  touch[0] = (Touch){"face in face", z20, as_is, 0.5, 0.5};
  touch[1] = (Touch){"edge on edge", x45, y45, sqrt(0.5), sqrt(0.5)};
  touch[2] = (Touch){"vertex in face", corner, as_is, sqrt(0.75), 0.5};
  touch[3] = (Touch){"edge in face", x45, z20, sqrt(0.5), 0.5};
  return 4;
}

START_TEST(two_cubes_overlap_by_separating_axes_as_they_were_put) {
  Touch touch[4];
  TlConvex cube = tl_convex_box(tl_vec3(0.5, 0.5, 0.5));
  TlRandom random = {.seed = 2};
  int kinds = cube_touches(touch);
  for (int i = 0; i < 400; i++) {
    const Touch *t = &touch[i % kinds];
    double depth = 0.1 * tl_random_next(&random);
    if (i % 5 == 4) depth = -depth;
    TlQuat turn = random_turn(&random);
    TlVec3 aside = tl_vec3(0.1 * tl_random_next(&random), 0.1 * tl_random_next(&random), 0);
    TlVec3 apart = tl_add(aside, tl_vec3(0, 0, t->below + t->above - depth)), n, p;
    TlConvex a = tl_convex_placed(&cube, 1, tl_quat_matrix(tl_quat_mul(turn, t->upper)),
                                  tl_quat_rotate(turn, apart));
    TlConvex b =
        tl_convex_placed(&cube, 1, tl_quat_matrix(tl_quat_mul(turn, t->lower)), tl_vec3(0, 0, 0));
    double seen = tl_convex_depth(&a, &b, &n, &p);
    ck_assert_msg(fabs(seen - fmax(depth, 0)) <= 1e-12, "%s: %.15g, not %.15g", t->name, seen,
                  depth);
    if (!(depth > 1e-6)) continue;
    CK_NEAR(tl_norm(tl_sub(n, tl_quat_rotate(turn, tl_vec3(0, 0, 1)))), 0, 1e-9);
    ck_assert(tl_convex_distance(&a, p, NULL) < 1e-12 && tl_convex_distance(&b, p, NULL) < 1e-12);
    /* the translation parts them, and nine tenths of it do not */
    TlConvex off = tl_convex_placed(&a, 1, tl_quat_matrix(as_is), tl_scale(depth + 1e-9, n));
    ck_assert(tl_convex_depth(&off, &b, &n, &p) == 0);
    off = tl_convex_placed(&a, 1, tl_quat_matrix(as_is), tl_scale(0.9 * depth, n));
    CK_NEAR(tl_convex_depth(&off, &b, &n, &p), 0.1 * depth, 1e-12);
  }
}
END_TEST

/* Of the vertices, edges and faces of a polyhedron by samples: no sample is nearer, one is as near. */
START_TEST(distance_of_a_point_to_a_polyhedron_is_that_to_its_nearest_sample) {
  TlConvex body[2] = {tl_convex_box(tl_vec3(0.3, 0.5, 0.9)), tl_convex_tetrahedron(1)};
  TlRandom random = {.seed = 3};
  for (int i = 0; i < 40; i++) {
    const TlConvex *c = &body[i % 2];
    TlVec3 p = tl_scale(0.6, random_vector(&random)), g;
    double d = tl_convex_distance(c, p, &g), nearest = INFINITY, h = 1e-6;
    bool inside = true;
    for (int f = 0; f < c->faces; f++) {
      enum { N = 200 };
      const TlVec3 *v = c->vertex;
      TlVec3 o = v[c->face[f][0]], e = tl_sub(v[c->face[f][1]], o),
             k = tl_sub(v[c->face[f][c->corners - 1]], o);
      inside = inside && tl_dot(c->normal[f], tl_sub(p, o)) <= 0;
      for (int a = 0; a <= N; a++)
        for (int b = 0; b <= (c->corners == 3 ? N - a : N); b++) {
          TlVec3 q = tl_axpy(tl_axpy(o, (double)a / N, e), (double)b / N, k);
          nearest = fmin(nearest, tl_norm(tl_sub(p, q)));
        }
    }
    ck_assert_int_eq(d <= 0, inside);
    ck_assert_msg(fabs(d) <= nearest + 1e-12 && fabs(d) >= nearest - 0.01, "%g, by samples %g", d,
                  nearest);
    TlVec3 moved = tl_axpy(p, h, g);
    CK_NEAR(tl_convex_distance(c, moved, NULL) - d, h, 1e-9);
  }
}
END_TEST

static const char study[] = "shapes:\n"
                            "- {name: cube, kind: box, size_m: [0.02, 0.03, 0.05]}\n"
                            "- {name: tetra, kind: tetrahedron, length_m: 0.04}\n"
                            "- {name: cross, kind: cross, length_m: 0.06, width_m: 0.02}\n"
                            "- {name: ball, kind: sphere, diameter_m: 0.02}\n"
                            "- {name: egg, kind: superellipsoid, size_m: [0.02, 0.02, 0.03]}\n";
static const TlFormula formulas[] = {{.kind = TL_FORMULA_BOX, .size_m = {0.02, 0.03, 0.05}},
                                     {.kind = TL_FORMULA_TETRAHEDRON, .length_m = 0.04},
                                     {.kind = TL_FORMULA_CROSS, .length_m = 0.06, .width_m = 0.02},
                                     {.kind = TL_FORMULA_SPHERE, .diameter_m = 0.02},
                                     {.kind = TL_FORMULA_SUPERELLIPSOID,
                                      .size_m = {0.02, 0.02, 0.03},
                                      .exponent_e = 1,
                                      .exponent_n = 1}};

START_TEST(exact_forms_are_found_in_the_study_and_lie_on_the_nodes) {
  Shapes s;
  const TlOverlapForm form[] = {TL_OVERLAP_CONVEX, TL_OVERLAP_CONVEX, TL_OVERLAP_CONVEX,
                                TL_OVERLAP_BALL, TL_OVERLAP_GRID};
  open_shapes(&s, study, formulas, 5);
  for (int i = 0; i < 5; i++) {
    const TlOverlapShape *shape = shape_of(&s, i);
    ck_assert_int_eq(shape->form, form[i]);
    for (int32_t n = 0; n < shape->avatar->node_count; n++) {
      const float *x = shape->avatar->node_m + 3 * n;
      CK_NEAR(tl_overlap_shape_phi(shape, tl_vec3(x[0], x[1], x[2]), NULL), 0,
              0.5 * shape->avatar->spacing_m); /* grids round a vertex off */
    }
  }
  close_shapes(&s);
  /* a cube whose study says another size is measured by its grid */
  open_shapes(&s, "shapes:\n- {name: cube, kind: box, size_m: [0.02, 0.03, 0.051]}\n", formulas, 1);
  ck_assert_int_eq(shape_of(&s, 0)->form, TL_OVERLAP_GRID);
  close_shapes(&s);
}
END_TEST

/* A cross whose bar stands on another one's bar, and beside the middle of its other bars. */
START_TEST(crosses_and_mixed_pairs_overlap_as_they_were_put) {
  Shapes s;
  TlOverlapTest test;
  open_shapes(&s, study, formulas, 5);
  const TlOverlapShape *cross = shape_of(&s, 2), *tetra = shape_of(&s, 1), *ball = shape_of(&s, 3);
  TlBodyRow low = row_of(0, -3, tl_vec3(5, 6, 7), as_is, 1);
  for (int i = 0; i < 20; i++) {
    double depth = 1e-4 * (i + 1);
    /* tip on tip, along z */
    TlBodyRow high = row_of(1, -3, tl_vec3(5, 6, 7.06 - depth), as_is, 1);
    TlOverlapDepth d = depth_of(cross, &high, cross, &low, &test);
    CK_NEAR(d.depth_m, depth, 1e-12);
    CK_NEAR(d.normal.z, 1, 1e-12);
    ck_assert_int_eq(test, TL_OVERLAP_AXES);
    /* a tip on the upper side of the bar along x */
    high.position_m = tl_vec3(5.021, 6, 7.04 - depth);
    CK_NEAR(depth_of(cross, &high, cross, &low, &test).depth_m, depth, 1e-12);
    /* a tetrahedron's vertex, (1, 1, 1) down, in the end of the upper bar */
    TlVec3 axis = tl_unit(tl_cross(tl_vec3(1, 1, 1), tl_vec3(0, 0, -1)));
    TlQuat down = tl_quat_from_rotation(tl_scale(M_PI - acos(1 / sqrt(3)), axis));
    TlBodyRow tip = row_of(2, -2, tl_vec3(5, 6, 7.03 + 0.04 * sqrt(3.0 / 8) - depth), down, 1);
    CK_NEAR(depth_of(tetra, &tip, cross, &low, &test).depth_m, depth, 1e-12);
    /* a ball of radius 0.01 on it, either way round */
    TlBodyRow round = row_of(3, -4, tl_vec3(5, 6, 7.04 - depth), down, 1);
    d = depth_of(ball, &round, cross, &low, &test);
    CK_NEAR(d.depth_m, depth, 1e-12);
    CK_NEAR(d.normal.z, 1, 1e-12);
    d = depth_of(cross, &low, ball, &round, &test);
    CK_NEAR(d.depth_m, depth, 1e-12);
    CK_NEAR(d.normal.z, -1, 1e-12);
  }
  close_shapes(&s);
}
END_TEST

/* ---- by samples ---- */

/* The point of an ellipsoid's surface with the outward normal n (body frame). */
static TlVec3 support(TlVec3 half, TlVec3 n) {
  TlVec3 d = tl_vec3(half.x * half.x * n.x, half.y * half.y * n.y, half.z * half.z * n.z);
  return tl_scale(1 / sqrt(tl_dot(n, d)), d);
}

typedef struct Errors {
  double least, most, sum;
  int count;
} Errors;

static void note(Errors *e, double error) {
  e->least = e->count ? fmin(e->least, error) : error;
  e->most = e->count ? fmax(e->most, error) : error;
  e->sum += error;
  e->count++;
}

/* Two ellipsoids whose points with opposed normals were put together and then pushed past each
 * other by `depth` along the normal: the point of one is that deep in the other, and no point can
 * be deeper, since that translation parts two convex bodies. */
static Errors ellipsoid_errors(TlVec3 half, double spacing, int nodes, int pairs) {
  TlAvatar a;
  TlOverlapShape shape;
  TlOverlapTest test;
  Errors errors = {0};
  const TlFormula f = {.kind = TL_FORMULA_SUPERELLIPSOID,
                       .size_m = {2 * half.x, 2 * half.y, 2 * half.z},
                       .exponent_e = 1,
                       .exponent_n = 1,
                       .spacing_m = spacing,
                       .nodes = nodes};
  CK_OK(tl_formula_avatar(&f, &a));
  CK_OK(tl_overlap_shape_of_grid(&a, &shape));
  TlRandom random = {.seed = 4};
  double r = 0.5 * tl_avatar_diameter_m(&a);
  for (int i = 0; i < pairs; i++) {
    double depth = r * 0.03 * tl_random_next(&random), scale = 1.5;
    TlQuat qa = random_turn(&random), qb = random_turn(&random);
    TlVec3 n = tl_unit(random_vector(&random)), x = random_vector(&random);
    TlVec3 na = tl_quat_rotate(tl_quat_conj(qa), tl_scale(-1, n)),
           nb = tl_quat_rotate(tl_quat_conj(qb), n);
    TlVec3 pa = tl_quat_rotate(qa, support(half, na)),
           pb = tl_scale(scale, tl_quat_rotate(qb, support(half, nb)));
    TlBodyRow one = row_of(0, 1, tl_axpy(tl_sub(x, pa), -depth, n),
                           tl_quat_mul(qa, a.scan_rotation), 1),
              two = row_of(1, 1, tl_sub(x, pb), tl_quat_mul(qb, a.scan_rotation), scale);
    TlOverlapDepth d = depth_of(&shape, &one, &shape, &two, &test);
    ck_assert_int_eq(test, TL_OVERLAP_SAMPLES);
    note(&errors, (d.depth_m - depth) / r);
    if (depth > 0.01 * r) ck_assert(tl_dot(d.normal, n) > 0.999);
  }
  tl_free(shape.cell);
  tl_avatar_free(&a);
  return errors;
}

START_TEST(ellipsoids_by_their_grids_overlap_to_the_stated_error) {
  Errors e = ellipsoid_errors(tl_vec3(1, 0.8, 0.6), 0.06, 300, 100);
  printf("ellipsoids, 20 cells across: error %.2g to %.2g of the radius, mean %.2g\n", e.least,
         e.most, e.sum / e.count);
  ck_assert(e.least > -2e-4 && e.most < 2e-4);
  e = ellipsoid_errors(tl_vec3(1, 1, 1), 0.1, 300, 50);
  printf("spheres by their grids, 20 cells across: %.2g to %.2g, mean %.2g\n", e.least, e.most,
         e.sum / e.count);
  ck_assert(e.least > -2e-4 && e.most < 2e-4);
  e = ellipsoid_errors(tl_vec3(1, 0.8, 0.6), 0.12, 300, 50);
  printf("ellipsoids, 10 cells across: %.2g to %.2g, mean %.2g\n", e.least, e.most,
         e.sum / e.count);
  ck_assert(e.least > -1e-3 && e.most < 1e-3);
}
END_TEST

/* Cubes by their grids. A point of an edge leaves the other cube through the nearer of its two
 * faces: where edges cross at right angles that is depth / sqrt 2. */
START_TEST(cubes_by_their_grids_overlap_to_the_stated_error) {
  TL_NOT_SANITIZED();
  TlAvatar a;
  TlOverlapShape shape;
  TlOverlapTest test;
  Touch touch[4];
  int kinds = cube_touches(touch);
  const TlFormula f = {
      .kind = TL_FORMULA_BOX, .size_m = {1, 1, 1}, .spacing_m = 0.05, .nodes = 300};
  CK_OK(tl_formula_avatar(&f, &a));
  CK_OK(tl_overlap_shape_of_grid(&a, &shape));
  TlRandom random = {.seed = 5};
  for (int k = 0; k < kinds; k++) {
    const double fraction = k == 1 ? sqrt(0.5) : 1;
    Errors e = {0};
    for (int i = 0; i < 25; i++) {
      double depth = 0.05 * tl_random_next(&random);
      TlQuat turn = random_turn(&random);
      TlVec3 x = random_vector(&random);
      TlVec3 apart = tl_vec3(0.1 * tl_random_next(&random), 0.1 * tl_random_next(&random),
                             touch[k].below + touch[k].above - depth);
      TlBodyRow one = row_of(0, 1, tl_add(x, tl_quat_rotate(turn, apart)),
                             tl_quat_mul(turn, touch[k].upper), 1),
                two = row_of(1, 1, x, tl_quat_mul(turn, touch[k].lower), 1);
      TlOverlapDepth d = depth_of(&shape, &one, &shape, &two, &test);
      note(&e, d.depth_m - fraction * depth);
    }
    printf("cubes by their grids, 20 cells across, %s: error %.2g to %.2g of the edge, mean %.2g\n",
           touch[k].name, e.least, e.most, e.sum / e.count);
    ck_assert(e.least > -0.02 && e.most < 0.01);
  }
  tl_free(shape.cell);
  tl_avatar_free(&a);
}
END_TEST

/* Every seed of the lattice, brought onto the surface by bisection along the field's slope: deepest
 * of them in the other grain. */
static double deepest_of_all(const TlOverlapBody *p, const TlOverlapBody *q) {
  const TlOverlapShape *shape = p->shape;
  const TlAvatar *a = shape->avatar;
  TlOverlapAgainst against = tl_overlap_against_body(q);
  double step = shape->sample_m, deepest = 0, e[3] = {a->nx - 1, a->ny - 1, a->nz - 1};
  for (double z = 0; z < e[2] * a->spacing_m; z += step)
    for (double y = 0; y < e[1] * a->spacing_m; y += step)
      for (double x = 0; x < e[0] * a->spacing_m; x += step) {
        TlVec3 at = tl_add(a->origin_m, tl_vec3(x, y, z)), g;
        double f = tl_overlap_shape_phi(shape, at, NULL), low = -2 * step, high = 2 * step;
        if (fabs(f) > 0.9 * step) continue;
        tl_overlap_shape_phi(shape, at, &g);
        g = tl_unit(g);
        if (tl_overlap_shape_phi(shape, tl_axpy(at, low, g), NULL) > 0 ||
            tl_overlap_shape_phi(shape, tl_axpy(at, high, g), NULL) < 0)
          continue;
        for (int k = 0; k < 30; k++) {
          double middle = 0.5 * (low + high);
          if (tl_overlap_shape_phi(shape, tl_axpy(at, middle, g), NULL) < 0)
            low = middle;
          else
            high = middle;
        }
        TlVec3 on =
            tl_axpy(p->row->position_m, p->row->scale, tl_mat_vec(p->turn, tl_axpy(at, low, g)));
        deepest = fmax(deepest, -against.phi(q, on, INFINITY, NULL));
      }
  return deepest;
}

START_TEST(skipping_cells_by_a_bound_loses_no_deeper_sample) {
  TL_NOT_SANITIZED();
  const TlFormula f[] = {
      {.kind = TL_FORMULA_SUPERELLIPSOID,
       .size_m = {1, 0.8, 0.6},
       .exponent_e = 0.4,
       .exponent_n = 0.4,
       .spacing_m = 0.05,
       .nodes = 25},
      {.kind = TL_FORMULA_BOX, .size_m = {0.9, 0.8, 0.7}, .spacing_m = 0.06, .nodes = 25}};
  TlRandom random = {.seed = 6};
  for (int kind = 0; kind < 2; kind++) {
    TlAvatar a;
    TlOverlapShape shape;
    int touching = 0;
    CK_OK(tl_formula_avatar(&f[kind], &a));
    CK_OK(tl_overlap_shape_of_grid(&a, &shape));
    for (int i = 0; i < 10; i++) {
      double far = 0.75 + 0.2 * tl_random_next(&random);
      TlBodyRow one = row_of(0, 1, tl_vec3(0, 0, 0), random_turn(&random), 1);
      TlBodyRow two =
          row_of(1, 1, tl_scale(far, tl_unit(random_vector(&random))), random_turn(&random), 1);
      TlOverlapBody p = tl_overlap_body(&shape, &one), q = tl_overlap_body(&shape, &two);
      TlOverlapAgainst in_q = tl_overlap_against_body(&q);
      TlOverlapDepth d = {0};
      CK_OK(tl_overlap_deepest(&p, &in_q, &d));
      double all = deepest_of_all(&p, &q);
      ck_assert_msg(d.depth_m >= all - 1e-6 && d.depth_m <= all + 0.01, "%g, of all samples %g",
                    d.depth_m, all);
      touching += d.depth_m > 0.01;
    }
    ck_assert_int_gt(touching, 3);
    tl_free(shape.cell);
    tl_avatar_free(&a);
  }
}
END_TEST

static double power(double x, double exponent) {
  return copysign(pow(fabs(x), exponent), x);
}

/* Its edges are round, a cell and a half in radius: weights that are for sharper edges would shift its surface, by 0.06% of
 * the radius in the mean. */
START_TEST(surface_of_a_coarse_block_with_round_edges_is_that_of_its_formula) {
  const double size[3] = {1.1, 1, 0.8}, e = 0.4, r = 0.4;
  const TlFormula f = {.kind = TL_FORMULA_SUPERELLIPSOID,
                       .size_m = {size[0], size[1], size[2]},
                       .exponent_e = e,
                       .exponent_n = e,
                       .spacing_m = 0.0729,
                       .nodes = 300};
  TlAvatar a;
  TlOverlapShape shape;
  double sum = 0, squares = 0;
  int count = 0;
  CK_OK(tl_formula_avatar(&f, &a));
  CK_OK(tl_overlap_shape_of_grid(&a, &shape));
  for (int i = 0; i < 100; i++)
    for (int j = 0; j < 200; j++, count++) {
      double up = M_PI * ((i + 0.5) / 100 - 0.5), round = 2 * M_PI * (j + 0.5) / 200;
      TlVec3 x = {0.5 * size[0] * power(cos(up), e) * power(cos(round), e),
                  0.5 * size[1] * power(cos(up), e) * power(sin(round), e),
                  0.5 * size[2] * power(sin(up), e)};
      double phi =
          tl_overlap_shape_phi(&shape, tl_quat_rotate(tl_quat_conj(a.scan_rotation), x), NULL) / r;
      sum += phi;
      squares += phi * phi;
    }
  printf("surface of a coarse block: mean %.2g, rms %.2g of the radius\n", sum / count,
         sqrt(squares / count));
  ck_assert(fabs(sum / count) < 1e-4);
  ck_assert(sqrt(squares / count) < 1.2e-3);
  tl_free(shape.cell);
  tl_avatar_free(&a);
}
END_TEST

START_TEST(field_of_a_grid_has_the_slope_that_it_tells) {
  TlAvatar a;
  TlOverlapShape shape;
  CK_OK(tl_formula_avatar(
      &(TlFormula){.kind = TL_FORMULA_BOX, .size_m = {1, 1, 1}, .spacing_m = 0.1}, &a));
  CK_OK(tl_overlap_shape_of_grid(&a, &shape));
  TlRandom random = {.seed = 9};
  for (int i = 0; i < 2000; i++) {
    TlVec3 p = tl_vec3(1.4 * tl_random_next(&random) - 0.7, 1.4 * tl_random_next(&random) - 0.7,
                       1.4 * tl_random_next(&random) - 0.7),
           g;
    double x[3], value = tl_overlap_shape_phi(&shape, p, &g), h = 1e-6;
    CK_NEAR(tl_overlap_shape_phi(&shape, p, NULL), value, 1e-12);
    for (int k = 0; k < 3; k++) {
      TlVec3 e = tl_vec3(k == 0 ? h : 0, k == 1 ? h : 0, k == 2 ? h : 0);
      x[k] = (tl_overlap_shape_phi(&shape, tl_add(p, e), NULL) -
              tl_overlap_shape_phi(&shape, tl_sub(p, e), NULL)) /
             (2 * h);
    }
    CK_NEAR(tl_norm(tl_sub(g, tl_vec3(x[0], x[1], x[2]))), 0, 1e-4);
  }
  tl_free(shape.cell);
  tl_avatar_free(&a);
}
END_TEST

/* ---- ground ---- */

static double height_of(int kind, double x, double y) {
  if (kind == 0) return 0.3 * x - 0.2 * y;
  return kind == 1 ? 0.4 * x * y + 0.2 * x : -0.8 * fabs(x); /* a twisted cell; a ridge along y */
}

/* A raster of cells of 1 about the origin, a sample at each whole (x, y). */
static void make_terrain(TlTerrain *t, int kind) {
  *t = (TlTerrain){.nx = 5, .ny = 5, .cell_m = 1, .x0_m = -2, .y0_m = -2};
  CK_OK(TL_NEW(t->height_m, 25));
  for (int j = 0; j < 5; j++)
    for (int i = 0; i < 5; i++) t->height_m[5 * j + i] = (float)height_of(kind, i - 2, j - 2);
}

/* Point and unit normal of the bilinear ground, which in the cell 0 < x, y < 1 is the formula. */
static TlVec3 ground_at(int kind, double x, double y, TlVec3 *n) {
  double h = 1e-6, zx = (height_of(kind, x + h, y) - height_of(kind, x - h, y)) / (2 * h),
         zy = (height_of(kind, x, y + h) - height_of(kind, x, y - h)) / (2 * h);
  *n = tl_unit(tl_vec3(-zx, -zy, 1));
  return tl_vec3(x, y, height_of(kind, x, y));
}

START_TEST(grains_on_a_bilinear_cell_lie_as_deep_as_they_were_put) {
  const TlVec3 half = {0.12, 0.1, 0.08};
  const TlFormula f[] = {{.kind = TL_FORMULA_SPHERE, .diameter_m = 0.2},
                         {.kind = TL_FORMULA_SUPERELLIPSOID,
                          .size_m = {0.24, 0.2, 0.16},
                          .exponent_e = 1,
                          .exponent_n = 1,
                          .spacing_m = 0.008,
                          .nodes = 200}};
  Shapes s;
  TlOverlapTest test;
  TlRandom random = {.seed = 7};
  open_shapes(&s, "", f, 2);
  for (int kind = 0; kind < 2; kind++) {
    Errors e = {0};
    make_terrain(&s.scene.terrain, kind);
    s.scene.has_terrain = true;
    for (int i = 0; i < 30; i++) {
      TlVec3 n, x = ground_at(kind, 0.3 + 0.4 * tl_random_next(&random),
                              0.3 + 0.4 * tl_random_next(&random), &n);
      double depth = 0.004 * tl_random_next(&random);
      const TlOverlapShape *egg = shape_of(&s, 1);
      TlQuat q = random_turn(&random);
      TlVec3 foot = support(half, tl_quat_rotate(tl_quat_conj(q), tl_scale(-1, n)));
      TlBodyRow ball = row_of(0, -1, tl_axpy(x, 0.1 - depth, n), q, 1);
      TlBodyRow other = row_of(1, -2, tl_axpy(tl_sub(x, tl_quat_rotate(q, foot)), -depth, n),
                               tl_quat_mul(q, egg->avatar->scan_rotation), 1);
      TlOverlapBody one = tl_overlap_body(shape_of(&s, 0), &ball),
                    two = tl_overlap_body(egg, &other);
      TlOverlapDepth d = {0};
      CK_OK(tl_overlap_boundary(&s.scene, NULL, 0, &one, &d, &test));
      ck_assert_int_eq(test, TL_OVERLAP_CLOSED);
      CK_NEAR(d.depth_m, depth, 1e-8); /* heights are floats */
      CK_NEAR(tl_dot(d.normal, n), 1, 1e-6);
      d = (TlOverlapDepth){0};
      CK_OK(tl_overlap_boundary(&s.scene, NULL, 0, &two, &d, &test));
      ck_assert_int_eq(test, TL_OVERLAP_SAMPLES);
      note(&e, (d.depth_m - depth) / 0.1);
      if (depth > 1e-3) CK_NEAR(tl_dot(d.normal, n), 1, 1e-3);
    }
    printf("ellipsoids on a raster, %s: error %.2g to %.2g of the radius, mean %.2g\n",
           kind ? "twisted cell" : "plane", e.least, e.most, e.sum / e.count);
    ck_assert(e.least > -2e-4 && e.most < 2e-4);
    tl_free(s.scene.terrain.height_m);
  }
  close_shapes(&s);
}
END_TEST

/* The ridge comes up through the lower face of a cube, between its nodes. */
START_TEST(a_ridge_between_the_nodes_of_a_cube_is_found) {
  const TlFormula f = {.kind = TL_FORMULA_BOX, .size_m = {0.2, 0.2, 0.2}, .nodes = 8};
  Shapes s;
  TlOverlapTest test;
  open_shapes(&s, "shapes:\n- {name: cube, kind: box, size_m: [0.2, 0.2, 0.2]}\n", &f, 1);
  make_terrain(&s.scene.terrain, 2);
  s.scene.has_terrain = true;
  TlBodyRow cube = row_of(0, -1, tl_vec3(0.013, 0.4, 0.1 - 0.017), as_is, 1);
  TlOverlapBody body = tl_overlap_body(shape_of(&s, 0), &cube);
  TlOverlapDepth d = {0};
  CK_OK(tl_overlap_boundary(&s.scene, NULL, 0, &body, &d, &test));
  CK_NEAR(d.depth_m, 0.017, 1e-6);
  CK_NEAR(d.point_m.x, 0, 1e-3);
  CK_NEAR(d.normal.z, 1, 1e-6);
  ck_assert(tl_overlap_boundary_nodes(&s.scene, NULL, 0, &body) == 0);
  tl_free(s.scene.terrain.height_m);
  close_shapes(&s);
}
END_TEST

/* By the least distance over points of all patches. */
START_TEST(distance_to_bilinear_patches_is_that_to_their_nearest_sample) {
  TL_NOT_SANITIZED();
  TlTerrain t = {.nx = 4, .ny = 4, .cell_m = 0.5, .x0_m = 1, .y0_m = -1};
  TlRandom random = {.seed = 8};
  enum { N = 200 };
  CK_OK(TL_NEW(t.height_m, 16));
  for (int round = 0; round < 12; round++) {
    for (int i = 0; i < 16; i++) t.height_m[i] = (float)(1.5 * tl_random_next(&random));
    TlVec3 p = tl_vec3(1 + 1.5 * tl_random_next(&random), -1 + 1.5 * tl_random_next(&random),
                       2 * tl_random_next(&random) - 0.5),
           nearest;
    double least = INFINITY, d = tl_overlap_ground_distance(&t, p, 5, &nearest), z;
    for (int j = 0; j <= 3 * N; j++)
      for (int i = 0; i <= 3 * N; i++) {
        double x = 1 + 0.5 * i / N, y = -1 + 0.5 * j / N;
        ck_assert(tl_overlap_ground_height(&t, x, y, &z));
        least = fmin(least, tl_norm(tl_sub(tl_vec3(x, y, z), p)));
      }
    /* a sample lies within 1.8 mm in x and y, the slope is 3 sqrt 2 at most */
    ck_assert_msg(d <= least + 1e-9 && least * least - d * d <= 6e-5, "%.9g, by samples %.9g", d,
                  least);
    CK_NEAR(tl_norm(tl_sub(nearest, p)), d, 1e-9);
    ck_assert(isinf(tl_overlap_ground_distance(&t, p, 0.99 * d, &nearest)));
  }
  tl_free(t.height_m);
}
END_TEST

START_TEST(walls_and_planes_are_met_where_they_are) {
  Shapes s;
  TlOverlapTest test;
  TlPlane plane = {.point_m = {0, 0, 1}, .normal = {0, 0, 1}};
  TlQuat turn = tl_quat_from_rotation(tl_vec3(0.3, 0.2, -0.4));
  TlWallPart part[3] = {
      {.kind = TL_PART_BOX, .size_m = {1, 2, 3}, .turn = tl_quat_matrix(turn)},
      {.kind = TL_PART_TUBE, .size_m = {0.5, 2}, .turn = tl_quat_matrix(turn)},
      {.kind = TL_PART_CYLINDER, .size_m = {0.5, 2}, .turn = tl_quat_matrix(turn)}};
  open_shapes(&s, study, formulas, 5);
  s.scene.planes = &plane, s.scene.plane_count = 1;
  s.scene.parts = part, s.scene.part_count = 3;
  ck_assert_int_eq(tl_overlap_boundaries(&s.scene), 4);
  TlPlacement place[3];
  for (int k = 0; k < 3; k++) place[k] = tl_scene_place(&s.scene, &part[k], &(TlFrame){.step = 1});
  const double half[5] = {0.025, 0, 0.03, 0.01, 0.015}, depth = 3e-4;
  for (int i = 0; i < 5; i++) {
    if (i == 1) continue;
    /* body axes of the avatar are turned so that the given z lies along the wall's normal */
    const TlOverlapShape *shape = shape_of(&s, i);
    for (int b = 0; b < 4; b++) {
      /* the given z axis: along the world's z, the wall's z, inward and outward along its x */
      TlQuat to_x = tl_quat_from_rotation(tl_vec3(0, M_PI / 2, 0));
      TlQuat q = b == 0 ? as_is : b == 1 ? turn : tl_quat_mul(turn, to_x);
      TlVec3 z = tl_quat_rotate(q, tl_vec3(0, 0, 1));
      double stand = b == 0   ? half[i]
                     : b == 1 ? 1.5 + half[i]
                     : b == 2 ? 0.5 - half[i]
                              : 0.5 + half[i];
      TlVec3 at = b == 0 ? tl_vec3(3, 4, 1 + stand - depth)
                         : tl_scale(b == 2 ? stand + depth : stand - depth, z);
      TlBodyRow row = row_of(0, -1 - i, at, tl_quat_mul(q, shape->avatar->scan_rotation), 1);
      TlOverlapBody body = tl_overlap_body(shape, &row);
      TlOverlapDepth d = {0};
      CK_OK(tl_overlap_boundary(&s.scene, place, b, &body, &d, &test));
      double wanted = depth;
      if (b == 2 && i == 0) wanted = hypot(0.5 + depth, 0.015) - 0.5; /* its corners in the tube */
      if (b == 2 && i == 2) wanted = hypot(0.5 + depth, 0.01) - 0.5;
      ck_assert_msg(fabs(d.depth_m - wanted) <= (test == TL_OVERLAP_SAMPLES ? 2e-6 : 1e-9),
                    "shape %d, boundary %d (%s): %g, not %g", i, b, tl_overlap_test_name[test],
                    d.depth_m, wanted);
      TlVec3 out = b == 2 ? tl_scale(-1, z) : z;
      if (!(b == 2 && (i == 0 || i == 2))) CK_NEAR(tl_dot(d.normal, out), 1, 1e-3);
    }
  }
  close_shapes(&s);
}
END_TEST

/* ---- a frame ---- */

/* Cubes that cross by their edges at 5% of the edge, which the nodes do not see; a cube in the
 * plane; two frozen cubes inside each other, which count for nothing. */
START_TEST(a_frame_tells_what_was_planted_whatever_the_threads) {
  const TlFormula f = {.kind = TL_FORMULA_BOX, .size_m = {0.02, 0.02, 0.02}, .nodes = 8};
  Shapes s;
  Touch touch[4];
  cube_touches(touch);
  open_shapes(&s, "shapes:\n- {name: cube, kind: box, size_m: [0.02, 0.02, 0.02]}\n", &f, 1);
  TlPlane plane = {.normal = {0, 0, 1}};
  s.scene.planes = &plane, s.scene.plane_count = 1;
  TlBodyRow rows[6];
  double r = 0.01 * cbrt(6 / M_PI);
  rows[0] = row_of(3, -1, tl_vec3(0, 0, 0.1), touch[1].lower, 1);
  rows[1] = row_of(5, -1, tl_vec3(0, 0, 0.1 + 0.02 * sqrt(2) - 0.001), touch[1].upper, 1);
  rows[2] = row_of(6, -1, tl_vec3(0.1, 0, 0.01 - 5e-5), as_is, 1);
  rows[3] = row_of(7, -1, tl_vec3(0.5, 0, 0.2), as_is, 1);
  rows[4] = row_of(8, -1, tl_vec3(0.5, 0, 0.21), as_is, 1);
  rows[5] = row_of(9, -1, tl_vec3(0.1, 0.02 - 1e-4, 0.01), as_is, 1);
  rows[3].flags = TL_ROW_FROZEN, rows[4].flags = TL_ROW_NET;
  TlFrame frame = {.index = 4, .count = 6, .rows = rows};
  TlOverlapRows one = {0}, two = {0};
  TlOverlapSums pairs, ground;
  tl_par_set_threads(1);
  CK_OK(tl_overlap_frame(&s.scene, s.shape, &frame, &one));
  tl_par_set_threads(2);
  CK_OK(tl_overlap_frame(&s.scene, s.shape, &frame, &two));
  ck_assert_int_eq(one.count, two.count);
  for (int64_t i = 0; i < one.count; i++)
    ck_assert(one.row[i].depth_m == two.row[i].depth_m && one.row[i].first == two.row[i].first &&
              one.row[i].second == two.row[i].second);
  CK_OK(tl_overlap_sums(&one, 4, false, &pairs));
  CK_OK(tl_overlap_sums(&one, -1, true, &ground));
  ck_assert_int_eq(pairs.touching, 2);
  ck_assert_int_eq(pairs.first, 3);
  ck_assert_int_eq(pairs.second, 5);
  CK_NEAR(pairs.largest_m, 0.001, 1e-12);
  CK_NEAR(pairs.largest_fraction, 0.001 / r, 1e-9);
  CK_NEAR(pairs.median_m, 0.5 * (0.001 + 1e-4), 1e-12);
  ck_assert_int_eq(pairs.over_2_percent, 1);
  ck_assert_int_eq(pairs.over_1_percent, 1);
  ck_assert(pairs.nodes_largest_m < 2e-4); /* the nodes see the faces alone */
  ck_assert_int_eq(pairs.nodes_over_2_percent, 0);
  ck_assert_int_eq(ground.touching, 1);
  ck_assert_int_eq(ground.first, 6);
  ck_assert_int_eq(ground.second, -1);
  CK_NEAR(ground.largest_m, 5e-5, 1e-12);
  CK_OK(tl_overlap_sums(&one, 3, false, &pairs));
  ck_assert(pairs.touching == 0 && isnan(pairs.median_m));
  rows[2].avatar_id = 77;
  CK_FAILS(tl_overlap_frame(&s.scene, s.shape, &frame, &two), TL_EINPUT, "avatar 77");
  tl_overlap_rows_free(&one);
  tl_overlap_rows_free(&two);
  tl_par_set_threads(0);
  close_shapes(&s);
}
END_TEST

TL_TEST_MAIN("overlap", two_spheres_overlap_by_their_radii_less_the_distance,
             two_cubes_overlap_by_separating_axes_as_they_were_put,
             distance_of_a_point_to_a_polyhedron_is_that_to_its_nearest_sample,
             exact_forms_are_found_in_the_study_and_lie_on_the_nodes,
             crosses_and_mixed_pairs_overlap_as_they_were_put,
             ellipsoids_by_their_grids_overlap_to_the_stated_error,
             cubes_by_their_grids_overlap_to_the_stated_error,
             surface_of_a_coarse_block_with_round_edges_is_that_of_its_formula,
             field_of_a_grid_has_the_slope_that_it_tells,
             skipping_cells_by_a_bound_loses_no_deeper_sample,
             grains_on_a_bilinear_cell_lie_as_deep_as_they_were_put,
             a_ridge_between_the_nodes_of_a_cube_is_found,
             distance_to_bilinear_patches_is_that_to_their_nearest_sample,
             walls_and_planes_are_met_where_they_are,
             a_frame_tells_what_was_planted_whatever_the_threads)
