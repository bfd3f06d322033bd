/* The report: packed surfaces and motion against their sources, text of unknown origin, the page's
 * form, its size, and that the same run gives the same bytes. What a browser makes of the page is
 * tested by tests/report (make check-report). */
#include "support/tltest.h"
#include "support/frame_rows.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/random.h"
#include "base/zlib_bytes.h"
#include "post/report.h"
#include "post/report_motion.h"
#include "post/report_skin.h"
#include "post/surface.h"
#include "shape/spline.h"
#include "shape/superellipsoid.h"
#include "shape/terrain_build.h"

#include <ctype.h>
#include <stdio.h>

/* ---- text ---- */

START_TEST(text_of_unknown_origin_stays_text) {
  TlHtml h = {0};
  tl_html_text(&h, "</title><script>alert('1')&\"\x01\xff\xe2\x80\xae");
  CK_OK(h.status);
  ck_assert_str_eq(h.text, "&lt;/title&gt;&lt;script&gt;alert(&#39;1&#39;)&amp;&quot;\\x01"
                           "\xef\xbf\xbd\\u202e");
  tl_html_free(&h);
  tl_html_json(&h, "a\"b\\</script>\n&\xc3\xbc");
  ck_assert_str_eq(h.text, "\"a\\\"b\\\\\\u003c/script\\u003e\\u000a\\u0026\xc3\xbc\"");
  tl_html_free(&h);
  /* surrogates, overlong forms and cut sequences are no UTF-8 */
  tl_html_text(&h, "\xed\xa0\x80|\xc0\xaf|\xe2\x82");
  ck_assert(!strstr(h.text, "\xed\xa0\x80") && !strstr(h.text, "\xc0\xaf"));
  tl_html_free(&h);
}
END_TEST

START_TEST(a_part_that_ran_out_of_memory_fails_its_page) {
  TlHtml page = {0}, part = {0}, empty = {0};
  tl_html(&page, "<p>");
  tl_html_add(&page, &empty);
  CK_OK(page.status);
  ck_assert_str_eq(page.text, "<p>");
  tl_mem_fail_at(1);
  tl_html(&part, "grains");
  tl_mem_fail_at(0);
  ck_assert_int_eq(part.status, TL_ENOMEM);
  tl_html_add(&page, &part);
  ck_assert_int_eq(page.status, TL_ENOMEM);
  tl_html_free(&part);
  tl_html_free(&page);
}
END_TEST

START_TEST(base_64_and_numbers_for_readers) {
  static const char *const wanted[] = {"",         "Zg==",     "Zm8=",    "Zm9v",
                                       "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"}; /* RFC 4648, 10 */
  for (size_t n = 0; n < 7; n++) {
    TlHtml h = {0};
    tl_html_base64(&h, "foobar", n);
    ck_assert_str_eq(h.text ? h.text : "", wanted[n]);
    tl_html_free(&h);
  }
  char text[40];
  static const struct {
    double value;
    const char *text;
  } shown[] = {{0, "0"},        {1.5, "1.5"},        {123.456, "123.5"},
               {1234, "1234"},  {123456, "123 456"}, {0.00012, "0.00012"},
               {1e-5, "1e-05"}, {2.5e8, "2.5e+08"},  {-45678, "-45 678"}};
  for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
    tl_html_value(text, shown[i].value);
    ck_assert_str_eq(text, shown[i].text);
  }
}
END_TEST

/* ---- surfaces ---- */

typedef struct Fit {
  double volume, rms; /* relative error; over the radius of the sphere of equal volume */
} Fit;

static Fit fit_of_skin(const TlAvatar *a, const TlSkin *skin) {
  TlMesh mesh;
  TlSpline spline;
  double radius = 0.5 * tl_avatar_diameter_m(a), sum = 0, area = 0;
  CK_OK(tl_spline_make(a, &spline));
  CK_OK(tl_skin_mesh(skin, &mesh));
  CK_OK(tl_surface_check_closed(&mesh));
  for (size_t t = 0; t < mesh.triangle_count; t++) {
    TlVec3 p[3];
    for (size_t c = 0; c < 3; c++) p[c] = tl_mesh_vertex(&mesh, mesh.triangle[3 * t + c]);
    double part = tl_norm(tl_cross(tl_sub(p[1], p[0]), tl_sub(p[2], p[0])));
    for (size_t c = 0; c < 4; c++) { /* middle of each side, and of the triangle */
      TlVec3 x = c < 3 ? tl_scale(0.5, tl_add(p[c], p[(c + 1) % 3]))
                       : tl_scale(1.0 / 3, tl_add(p[0], tl_add(p[1], p[2])));
      double phi = tl_spline_phi(&spline, x, NULL, NULL);
      sum += part * phi * phi;
      area += part;
    }
  }
  Fit f = {fabs(tl_mesh_volume(&mesh) / a->volume_m3 - 1), sqrt(sum / area) / radius};
  tl_mesh_free(&mesh);
  tl_spline_free(&spline);
  return f;
}

static Fit fit_of(const TlAvatar *a, int32_t cells, size_t *bytes) {
  TlSkin skin;
  CK_OK(tl_skin_make(a, cells, &skin));
  Fit f = fit_of_skin(a, &skin);
  if (bytes)
    *bytes = 3 * (size_t)skin.vertices + (size_t)(skin.n[0] * skin.n[1] * skin.n[2]) / 8 + 32;
  tl_skin_free(&skin);
  return f;
}

START_TEST(packed_surfaces_are_closed_and_near_the_level_set) {
  static const double axes[][5] = {{1, 1, 1, 1, 1},
                                   {1.2, 1, 0.8, 0.6, 0.6},
                                   {1, 0.9, 0.75, 0.4, 0.4},
                                   {1.5, 0.8, 0.5, 1.2, 0.8},
                                   {1, 0.9, 0.3, 1, 1}};
  static const int32_t cells[] = {18, 14, 10, 8};
  for (size_t k = 0; k < sizeof axes / sizeof *axes; k++) {
    const double *x = axes[k];
    TlAvatar a;
    CK_OK(tl_avatar_superellipsoid(x[0], x[1], x[2], x[3], x[4], 0.05, 300, &a));
    for (int level = 0; level < 4; level++) {
      size_t bytes;
      Fit f = fit_of(&a, cells[level], &bytes);
      ck_assert_msg(f.volume < 0.005, "shape %zu, %d cells: volume off by %.3f%%", k, cells[level],
                    100 * f.volume);
      if (level == 0) {
        ck_assert_msg(f.rms < 0.005, "shape %zu: rms %.3f%% of R", k, 100 * f.rms);
        ck_assert_uint_lt(bytes, 9000);
      }
    }
    Fit coarse = fit_of(&a, 5, NULL);
    ck_assert_msg(coarse.volume < 0.02, "shape %zu, 5 cells: volume off by %.3f%%", k,
                  100 * coarse.volume);
    tl_avatar_free(&a);
  }
}
END_TEST

/* A sphere on a grid of six cells a radius, whose surface the trilinear phi cuts by half a percent of
 * it: the mesh lies on the sphere, and the distance that is told is the true one. */
START_TEST(a_coarse_grid_is_no_error_of_the_mesh) {
  TlAvatar a;
  TlSkin skin;
  TlMesh mesh;
  double error, sum = 0, area = 0;
  CK_OK(tl_avatar_sphere(1, 1.0 / 6, 300, &a));
  CK_OK(tl_skin_make_within(&a, 18, 18, 1e-6, &skin, &error));
  CK_OK(tl_skin_mesh(&skin, &mesh));
  for (size_t t = 0; t < mesh.triangle_count; t++) {
    TlVec3 p[3];
    for (size_t c = 0; c < 3; c++) p[c] = tl_mesh_vertex(&mesh, mesh.triangle[3 * t + c]);
    double part = tl_norm(tl_cross(tl_sub(p[1], p[0]), tl_sub(p[2], p[0])));
    for (size_t c = 0; c < 3; c++) {
      double off = tl_norm(tl_scale(0.5, tl_add(p[c], p[(c + 1) % 3]))) - 1;
      sum += part * off * off;
      area += part;
    }
  }
  double true_error = sqrt(sum / area);
  ck_assert_msg(true_error < 0.0015, "%.3f%% of the radius from the sphere", 100 * true_error);
  CK_NEAR(error, true_error, 2e-4);
  CK_NEAR(tl_mesh_volume(&mesh) / (4.0 / 3 * M_PI), 1, 0.005);
  tl_mesh_free(&mesh);
  tl_skin_free(&skin);
  tl_avatar_free(&a);
}
END_TEST

/* A block with sharp edges, which few cells round by more than half a percent of its radius. */
START_TEST(a_surface_too_far_off_gets_more_cells) {
  TlAvatar a;
  TlSkin skin;
  double error;
  CK_OK(tl_avatar_superellipsoid(1.3, 0.9, 0.6, 0.1, 0.1, 0.03, 300, &a));
  Fit plain = fit_of(&a, 9, NULL);
  ck_assert_msg(plain.rms > 0.006, "9 cells are fine enough already: %.3f%%", 100 * plain.rms);
  CK_OK(tl_skin_make_within(&a, 9, 60, 0.005, &skin, &error));
  Fit f = fit_of_skin(&a, &skin);
  ck_assert_msg(f.rms < 0.005 && f.volume < 0.005, "rms %.3f%%, volume %.3f%%", 100 * f.rms,
                100 * f.volume);
  ck_assert_double_le(fabs(error - f.rms), 0.1 * f.rms);
  tl_skin_free(&skin);
  CK_OK(tl_skin_make_within(&a, 6, 9, 1e-6, &skin, &error)); /* no more than asked */
  ck_assert_double_gt(error, 0.006);
  tl_skin_free(&skin);
  tl_avatar_free(&a);
}
END_TEST

/* A thin plate whose faces are nearer than a cell, and two balls that just touch: signs on a coarse
 * grid cross there, and have to be mended. */
START_TEST(surfaces_that_a_coarse_grid_cannot_part_are_mended) {
  TlAvatar a;
  CK_OK(tl_avatar_superellipsoid(1, 1, 1, 1, 1, 0.1, 200, &a));
  for (int64_t i = 0; i < (int64_t)a.nx * a.ny * a.nz; i++) {
    TlVec3 p =
        tl_axpy(a.origin_m, a.spacing_m,
                tl_vec3((double)(i % a.nx), (double)(i / a.nx % a.ny), (double)(i / a.nx / a.ny)));
    double one = tl_norm(tl_sub(p, tl_vec3(0.36, 0.3, 0.2))),
           two = tl_norm(tl_sub(p, tl_vec3(-0.36, -0.3, -0.2)));
    a.phi[i] = (float)(fmin(one, two) - 0.5);
  }
  a.volume_m3 = 2 * 4.0 / 3 * M_PI * 0.125;
  for (int32_t cells = 4; cells <= 20; cells++) {
    TlSkin skin;
    TlMesh mesh;
    CK_OK(tl_skin_make(&a, cells, &skin));
    CK_OK(tl_skin_mesh(&skin, &mesh));
    CK_OK(tl_surface_check_closed(&mesh));
    tl_skin_free(&skin);
    tl_mesh_free(&mesh);
  }
  tl_avatar_free(&a);
}
END_TEST

/* ---- a run ---- */

enum { BODIES = 24, FRAMES = 30 };

typedef struct Sample {
  TlAvatar avatar[2]; /* a stone, and a ball */
  TlPlane plane;
  TlScene scene;
} Sample;

static void make_sample(Sample *s, const char *title) {
  CK_OK(tl_avatar_superellipsoid(0.3, 0.2, 0.15, 0.7, 0.7, 0.03, 200, &s->avatar[0]));
  CK_OK(tl_avatar_sphere(0.2, 0.02, 200, &s->avatar[1]));
  s->avatar[0].id = 1;
  s->avatar[1].id = 2;
  s->plane = (TlPlane){{0, 0, 0}, {0, 0, 1}};
  s->scene = (TlScene){.study = (char *)(uintptr_t) "time:\n  dt_s: 0.001\n  duration_s: 2.9\n",
                       .title = (char *)(uintptr_t)title,
                       .provenance = (char *)(uintptr_t) "[{\"tool\":\"talus-solve\",\"version\":"
                                                         "\"1</code>\",\"host\":\"<b>\"}]",
                       .grain_scale = 1,
                       .density_kg_m3 = 2650,
                       .gravity_m_s2 = {0, 0, -9.81},
                       .step_s = 1e-3,
                       .avatar_count = 2,
                       .avatars = s->avatar,
                       .plane_count = 1,
                       .planes = &s->plane};
}

static void free_sample(Sample *s) {
  tl_avatar_free(&s->avatar[0]);
  tl_avatar_free(&s->avatar[1]);
}

/* Body 3 is poured in frame 5; body 4 leaves after frame 20. */
static bool is_there(int b, int f) {
  return !(b == 3 && f < 5) && !(b == 4 && f > 20);
}

/* Slow and fast, tumbling and resting, far and near: all that the packing has cases for. */
static TlBodyRow row_of(int b, int f) {
  double t = 0.1 * f, u = tl_random_uniform(5, 1, (uint64_t)b);
  TlBodyRow r = {.id = 100 + 3 * b, .avatar_id = b % 5 == 4 ? 2 : 1, .scale = 1 + 0.3 * u};
  r.position_m = tl_vec3(20 * u + (b % 3) * t * t, -3 * b + 2 * sin(t * (b % 4)),
                         1 + b + 5 * t - 0.5 * 9.81 * t * t * (b % 2));
  TlVec3 axis = tl_vec3(sin(b), cos(2 * b), 0.4);
  r.rotation = tl_quat_from_rotation(tl_scale((b % 6) * t * t + b, axis));
  if (b % 7 == 6)
    r.rotation =
        tl_quat_from_rotation(tl_vec3(9 * tl_random_uniform(5, 2, (uint64_t)(100 * b + f)),
                                      9 * tl_random_uniform(5, 3, (uint64_t)(100 * b + f)), f));
  r.velocity_m_s = tl_vec3(2.0 * (b % 3) * t, 0, 5 - 9.81 * t * (b % 2));
  return r;
}

static char *write_sample(const char *name, const Sample *s, int frames) {
  char *folder = tl_path_join(tl_test_folder(), name);
  TlResultsWriter *w;
  CK_OK(tl_results_create(&w, folder, &s->scene, false));
  for (int i = 0; i < 2; i++) CK_OK(tl_results_add_avatar(w, &s->avatar[i]));
  CK_OK(tl_results_scene_done(w));
  CK_OK(tl_results_table_header(w, TL_TABLE_HISTORY, "time_s,kinetic_energy_J,outside,embedded"));
  for (int f = 0; f < frames; f++) {
    int count = 0;
    for (int b = 0; b < BODIES; b++) count += is_there(b, f);
    CK_OK(tl_test_frame(w, f, 100 * f, 0.1 * f, count));
    for (int b = BODIES - 1; b >= 0; b--) {
      TlBodyRow r = row_of(b, f);
      if (is_there(b, f)) CK_OK(tl_test_put_bodies(w, &r, 1));
    }
    CK_OK(tl_results_frame_end(w));
    CK_OK(tl_results_table_line(w, TL_TABLE_HISTORY, (double[]){0.1 * f, 3.0 * f, 1, 2}, 4, NULL));
  }
  tl_results_close(w);
  return folder;
}

static const TlSection *section_of(const TlReportData *data, const char *name, uint8_t **bytes) {
  for (size_t i = 0; i < data->count; i++) {
    TlSection *s = &data->section[i];
    if (strcmp(s->name, name) != 0) continue;
    CK_OK(TL_NEW(*bytes, s->size));
    CK_OK(tl_zlib_unpack(s->packed, s->packed_size, *bytes, s->size));
    for (size_t k = 1; s->difference && k < s->size; k++)
      (*bytes)[k] = (uint8_t)((*bytes)[k] + (*bytes)[k - 1]);
    return s;
  }
  ck_abort_msg("no section %s", name);
}

static int64_t unzigzag(uint32_t n) {
  return n & 1 ? -(int64_t)(n / 2) - 1 : (int64_t)(n / 2);
}

static uint32_t from_planes(const uint8_t *p, int64_t count, int64_t i, int bytes) {
  uint32_t value = 0;
  for (int b = 0; b < bytes; b++) value |= (uint32_t)p[b * count + i] << 8 * b;
  return value;
}

/* Written after the header's text alone. */
START_TEST(unpacked_places_and_turns_are_the_runs) {
  Sample s;
  make_sample(&s, "packing");
  char *folder = write_sample("packing", &s, FRAMES);
  TlReportMotion m;
  TlReportData data = {0};
  CK_OK(tl_report_motion_read(folder, &s.scene, 1, &m));
  ck_assert_int_eq(m.bodies, BODIES);
  ck_assert_int_eq(m.turning, BODIES - 4); /* bodies 4, 9, 14 and 19 are balls */
  TlReportMotionSteps steps = tl_report_motion_steps(&m, &s.scene);
  CK_OK(tl_report_motion_pack(&m, &steps, &data));
  uint8_t *place, *order, *turn, *left, *slow, *speed;
  section_of(&data, "place", &place);
  section_of(&data, "order", &order);
  section_of(&data, "turn", &turn);
  section_of(&data, "left", &left);
  section_of(&data, "slow", &slow);
  section_of(&data, "speed", &speed);
  double off = 0, angle = 0;
  int64_t all = 3 * m.bodies * m.frames, turns = m.turning * m.frames;
  for (int64_t b = 0; b < m.bodies; b++) {
    int body = (int)(m.id[b] - 100) / 3;
    int32_t steps_before[3] = {0, 0, 0};
    int64_t q[3][3] = {{0}};
    for (int64_t f = 0; f < m.frames; f++) {
      TlBodyRow r = row_of(body, (int)f);
      bool there = is_there(body, (int)f);
      ck_assert_int_eq(speed[b * m.frames + f] != 0, there);
      double place_m[3], q_part[4], rest = 1;
      const double low[3] = {steps.low_m.x, steps.low_m.y, steps.low_m.z};
      for (int axis = 0; axis < 3; axis++) {
        int64_t line = axis * m.bodies + b, k = order[line] < f ? order[line] : f, *p = q[axis];
        int64_t told = k == 0   ? 0
                       : k == 1 ? p[0]
                       : k == 2 ? 2 * p[0] - p[1]
                                : 3 * p[0] - 3 * p[1] + p[2];
        int64_t now = told + unzigzag(from_planes(place, all, line * m.frames + f, 4));
        p[2] = p[1], p[1] = p[0], p[0] = now;
        place_m[axis] = low[axis] + steps.step_m * (double)now;
      }
      if (there) {
        off = fmax(off, fabs(place_m[0] - r.position_m.x));
        off = fmax(off, fabs(place_m[1] - r.position_m.y));
        off = fmax(off, fabs(place_m[2] - r.position_m.z));
        CK_NEAR(m.largest_speed_m_s * pow((speed[b * m.frames + f] - 1) / 254.0, 2),
                tl_norm(r.velocity_m_s), m.largest_speed_m_s / 254);
      }
      if (b >= m.turning) continue;
      int64_t i = b * m.frames + f;
      for (int c = 0, k = 0; c < 4; c++) {
        if (c == left[i]) continue;
        uint32_t value = from_planes(turn, 3 * turns, k * turns + i, 2);
        int64_t now = slow[b] ? steps_before[k] + unzigzag(value) : value;
        now = (now % TL_TURN_STEPS + TL_TURN_STEPS) % TL_TURN_STEPS;
        steps_before[k++] = (int32_t)now;
        q_part[c] = (2.0 * (double)now / (TL_TURN_STEPS - 1) - 1) * M_SQRT1_2;
        rest -= q_part[c] * q_part[c];
      }
      q_part[left[i]] = sqrt(fmax(0, rest));
      if (!there) continue;
      TlQuat back = tl_quat_mul(tl_quat_conj(r.rotation),
                                (TlQuat){q_part[0], q_part[1], q_part[2], q_part[3]});
      double sine = sqrt(back.x * back.x + back.y * back.y + back.z * back.z);
      angle = fmax(angle, 2 * atan2(sine, fabs(back.w)) * TL_DEG);
    }
  }
  ck_assert_msg(off <= 0.5 * steps.step_m * (1 + 1e-6), "%g m off, half a step is %g", off,
                0.5 * steps.step_m);
  ck_assert_msg(angle < 0.1 && angle > 0.001, "%g degrees off", angle);
  uint8_t *parts[] = {place, order, turn, left, slow, speed};
  for (int i = 0; i < 6; i++) tl_free(parts[i]);
  tl_data_free(&data);
  tl_report_motion_free(&m);
  tl_free(folder);
  free_sample(&s);
}
END_TEST

/* Whatever the turn: the largest error of the packed quaternion over many random ones. */
START_TEST(turns_are_within_a_tenth_of_a_degree) {
  double worst = 0;
  for (uint64_t n = 0; n < 200000; n++) {
    TlQuat q = {tl_random_normal(3, 1, n), tl_random_normal(3, 2, n), tl_random_normal(3, 3, n),
                tl_random_normal(3, 4, n)};
    q = tl_quat_unit(q);
    const double c[4] = {q.w, q.x, q.y, q.z};
    int left = 0;
    for (int i = 1; i < 4; i++)
      if (fabs(c[i]) > fabs(c[left])) left = i;
    double half = 0.5 * M_SQRT2 / (TL_TURN_STEPS - 1), off = 0, sum = 0;
    for (int i = 0; i < 4; i++) {
      if (i == left) continue;
      double x = c[left] < 0 ? -c[i] : c[i], s = 2 * half;
      double rounded = round((x + M_SQRT1_2) / s) * s - M_SQRT1_2;
      off += (rounded - x) * (rounded - x);
      sum += x * (rounded - x);
    }
    double last = sum / fabs(c[left]);
    worst = fmax(worst, 2 * sqrt(off + last * last) * TL_DEG);
  }
  ck_assert_msg(worst < 0.1, "%g degrees", worst);
}
END_TEST

/* ---- the page ---- */

static bool is_void(const char *tag, size_t n) {
  static const char *const those[] = {"meta", "link", "img", "br", "input"};
  for (size_t i = 0; i < sizeof those / sizeof *those; i++)
    if (strlen(those[i]) == n && strncmp(those[i], tag, n) == 0) return true;
  return false;
}

/* Start tags have their end tags in order, attributes are quoted and named once, ids are given
 * once, no attribute asks for a script or a style, and nothing points out of the page. Elements of
 * SVG may close themselves. */
static void check_markup(const char *text) {
  char open[64][24], id[256][40];
  int depth = 0, ids = 0;
  const char *p = strchr(text, '>') + 1;
  ck_assert_msg(strncmp(text, "<!DOCTYPE html>", 15) == 0, "the page has no doctype");
  while (*p) {
    if (*p != '<') {
      ck_assert_msg(*p != '>', "a bare > at: %.60s", p);
      if (*p == '&') ck_assert_msg(strchr(p, ';') && strchr(p, ';') - p < 9, "bare &: %.40s", p);
      p++;
      continue;
    }
    const char *here = p++;
    bool end = *p == '/';
    if (end) p++;
    size_t n = strspn(p, "abcdefghijklmnopqrstuvwxyz0123456789");
    ck_assert_msg(n > 0 && n < 24, "no tag at: %.60s", here);
    char tag[24];
    snprintf(tag, sizeof tag, "%.*s", (int)n, p);
    p += n;
    if (end) {
      ck_assert_msg(*p == '>', "%.60s", here);
      ck_assert_msg(depth > 0 && strcmp(open[depth - 1], tag) == 0, "</%s> closes <%s>: %.80s", tag,
                    depth ? open[depth - 1] : "nothing", here);
      depth--;
      p++;
      continue;
    }
    bool closed = false;
    for (;;) {
      p += strspn(p, " \n");
      if (*p == '>') break;
      if (*p == '/' && p[1] == '>') {
        closed = true;
        p++;
        break;
      }
      n = strcspn(p, "= >\n");
      char name[40];
      snprintf(name, sizeof name, "%.*s", (int)n, p);
      for (size_t i = 0; i < n; i++)
        ck_assert_msg(isalnum((unsigned char)p[i]) || p[i] == '-', "attribute at: %.60s", p);
      ck_assert_msg(strncmp(name, "on", 2) != 0 && strcmp(name, "style") != 0, "<%s %s", tag, name);
      p += n;
      if (*p != '=') continue; /* hidden, checked, disabled */
      ck_assert_msg(p[1] == '"', "an unquoted attribute: %.60s", here);
      p += 2;
      if (strcmp(name, "src") == 0) ck_assert_msg(strncmp(p, "data:", 5) == 0, "src=\"%.60s", p);
      if (strcmp(name, "href") == 0)
        ck_assert_msg(*p == '#' || strncmp(p, "data:", 5) == 0, "href=\"%.60s", p);
      if (strcmp(name, "id") == 0) {
        snprintf(id[ids], sizeof id[ids], "%.*s", (int)strcspn(p, "\""), p);
        for (int i = 0; i < ids; i++)
          ck_assert_msg(strcmp(id[i], id[ids]) != 0, "id %s comes twice", id[i]);
        ck_assert_int_lt(++ids, 256);
      }
      p += strcspn(p, "\"<"); /* the page leaves no < in a value */
      ck_assert_msg(*p == '"', "an open attribute: %.60s", here);
      p++;
    }
    p++;
    if (closed || is_void(tag, strlen(tag))) continue;
    if (strcmp(tag, "script") == 0 || strcmp(tag, "style") == 0) {
      char close[32];
      snprintf(close, sizeof close, "</%s>", tag);
      p = strstr(p, close);
      ck_assert_msg(p != NULL, "an open %s", tag);
      p += strlen(close);
      continue;
    }
    ck_assert_int_lt(depth, 64);
    memcpy(open[depth++], tag, sizeof tag);
  }
  ck_assert_int_eq(depth, 0);
}

static const char *const nasty = "</title><script>alert(1)</script>\"'&\x07\xff<!--";

START_TEST(a_page_is_valid_injection_safe_and_the_same_each_time) {
  Sample s;
  make_sample(&s, nasty);
  char *folder = write_sample("page <i>&'", &s, FRAMES), *one[] = {folder};
  TlReportOptions options = {.max_mb = 5};
  TlHtml page, again;
  TlReportSize size;
  CK_OK(tl_report_make(one, 1, &options, &page, &size));
  CK_OK(tl_report_make(one, 1, &options, &again, &size));
  ck_assert_uint_eq(page.size, again.size);
  ck_assert_int_eq(memcmp(page.text, again.text, page.size), 0);
  ck_assert_uint_eq(strlen(page.text), page.size);
  check_markup(page.text);
  ck_assert_ptr_null(strstr(page.text, "alert(1)</script>"));
  ck_assert_ptr_null(strstr(page.text, "<b>"));
  ck_assert_ptr_nonnull(strstr(page.text, "&lt;script&gt;alert(1)"));
  ck_assert_ptr_nonnull(strstr(page.text, "default-src 'none'"));
  ck_assert_ptr_null(strstr(page.text, "unsafe-inline"));
  /* the script's digest in the policy is that of the script, which comes last */
  const char *script = page.text;
  for (const char *next = script; (next = strstr(next + 1, "<script>"));) script = next;
  script += strlen("<script>");
  char hex[65], *policy = strstr(page.text, "script-src 'sha256-") + strlen("script-src 'sha256-");
  tl_sha256(script, (size_t)(strstr(script, "</script>") - script), hex);
  unsigned char digest[32];
  for (int i = 0; i < 32; i++) sscanf(hex + 2 * i, "%2hhx", &digest[i]);
  TlHtml base = {0};
  tl_html_base64(&base, digest, 32);
  ck_assert_int_eq(strncmp(policy, base.text, strlen(base.text)), 0);
  tl_html_free(&base);
  /* what not to trust: one left, all move, and the table's last row says two embedded */
  ck_assert_int_ge(size.warnings, 3);
  ck_assert_ptr_nonnull(strstr(page.text, "Not at rest"));
  ck_assert_ptr_nonnull(
      strstr(page.text, "1 of 24 grains left the terrain or were taken out (112)"));
  ck_assert_ptr_nonnull(strstr(page.text, "2 grains could not be brought out of another"));
  tl_html_free(&page);
  tl_html_free(&again);
  tl_free(folder);
  free_sample(&s);
}
END_TEST

START_TEST(runs_are_compared_and_wrong_calls_say_what_is_wrong) {
  Sample s;
  make_sample(&s, "two");
  char *a = write_sample("two_a", &s, 6), *b = write_sample("two_b", &s, 9), *both[] = {a, b};
  char *names[] = {(char *)(uintptr_t) "first <run>", (char *)(uintptr_t) "second"};
  TlReportOptions options = {.max_mb = 5, .label = names, .labels = 2};
  TlHtml page;
  TlReportSize size;
  CK_OK(tl_report_make(both, 2, &options, &page, &size));
  check_markup(page.text);
  ck_assert_ptr_nonnull(strstr(page.text, "<th class=\"n\">first &lt;run&gt;</th>"));
  ck_assert_ptr_nonnull(strstr(page.text, "\"label\":\"first \\u003crun\\u003e\""));
  tl_html_free(&page);
  options.labels = 1;
  CK_FAILS(tl_report_make(both, 2, &options, &page, &size), TL_EUSAGE, "--label");
  options.labels = 0;
  options.measured = "lab.csv";
  CK_FAILS(tl_report_make(both, 1, &options, &page, &size), TL_EUSAGE, "no triaxial test");
  both[0] = (char *)(uintptr_t)tl_test_folder();
  options.measured = NULL;
  CK_FAILS(tl_report_make(both, 1, &options, &page, &size), TL_EINPUT, "is neither a run");
  tl_free(a);
  tl_free(b);
  free_sample(&s);
}
END_TEST

START_TEST(a_page_stays_below_its_limit_and_says_what_it_left_out) {
  TL_NOT_SANITIZED();
  Sample s;
  make_sample(&s, "limit");
  char *folder = write_sample("limit", &s, 300), *one[] = {folder};
  TlReportOptions options = {.max_mb = 5};
  TlHtml page;
  TlReportSize size;
  TlReportMotion m;
  TlReportData data = {0};
  CK_OK(tl_report_motion_read(folder, &s.scene, 1, &m));
  TlReportMotionSteps steps = tl_report_motion_steps(&m, &s.scene);
  CK_OK(tl_report_motion_pack(&m, &steps, &data));
  double motion = 4e-6 / 3 * (double)data.packed_size;
  CK_OK(tl_report_make(one, 1, &options, &page, &size));
  ck_assert_int_eq(size.frame_every, 1);
  ck_assert_int_eq(size.cells, 18);
  ck_assert_ptr_null(strstr(page.text, "To keep this file under"));
  double full = size.mb;
  tl_html_free(&page);
  for (int k = 0; k < 2; k++) { /* a little less, and what leaves half of the motion */
    options.max_mb = k == 0 ? full - 0.002 : full - 0.7 * motion;
    CK_OK(tl_report_make(one, 1, &options, &page, &size));
    ck_assert_msg(size.mb <= options.max_mb, "%g MB, %g allowed", size.mb, options.max_mb);
    ck_assert_ptr_nonnull(strstr(page.text, "To keep this file under"));
    ck_assert_int_lt(size.cells, 18);
    ck_assert_int_eq(size.frame_every > 1, k == 1);
    tl_html_free(&page);
  }
  options.max_mb = full - 1.1 * motion - 0.02;
  CK_FAILS(tl_report_make(one, 1, &options, &page, &size), TL_EUSAGE, "--max-mb=");
  tl_data_free(&data);
  tl_report_motion_free(&m);
  tl_free(folder);
  free_sample(&s);
}
END_TEST

/* 200 bodies of 10 shapes in 250 frames, as sand that slides and comes to rest: a tenth of what is
 * to stay under 8 MB. */
START_TEST(motion_takes_few_bytes) {
  enum { N = 200, F = 250 };
  TlAvatar a;
  CK_OK(tl_avatar_superellipsoid(0.3, 0.2, 0.15, 0.7, 0.7, 0.03, 200, &a));
  TlScene scene = {.avatar_count = 1, .avatars = &a};
  TlReportMotion m = {.frames = F, .bodies = N, .turning = N};
  CK_OK(TL_NEW(m.id, N));
  CK_OK(TL_NEW(m.shape, N));
  CK_OK(TL_NEW(m.flags, N));
  CK_OK(TL_NEW(m.scale, N));
  CK_OK(TL_NEW(m.time_s, F));
  CK_OK(TL_NEW(m.there, N * F));
  CK_OK(TL_NEW(m.place_m, N * F));
  CK_OK(TL_NEW(m.turn, N * F));
  CK_OK(TL_NEW(m.speed_m_s, N * F));
  for (int b = 0; b < N; b++) {
    TlVec3 x = {40 * tl_random_uniform(1, 1, (uint64_t)b),
                30 * tl_random_uniform(1, 2, (uint64_t)b), 0},
           w = {0, 0, 0};
    TlQuat q = {1, 0, 0, 0};
    m.scale[b] = 1;
    for (int f = 0; f < F; f++) {
      uint64_t n = (uint64_t)(b * F + f);
      double v = 8 * sin(M_PI * fmin(1, f / 200.0)), dt = 0.08;
      int64_t at = tl_report_motion_at(&m, b, f);
      x = tl_add(x, tl_scale(dt, tl_vec3(v, 0.1 * v * tl_random_normal(1, 3, n),
                                         -0.6 * v + 0.05 * v * tl_random_normal(1, 4, n))));
      w = tl_scale(v, tl_vec3(0.5 * tl_random_normal(1, 5, n), 1.5 + tl_random_normal(1, 6, n),
                              0.5 * tl_random_normal(1, 7, n)));
      q = tl_quat_unit(tl_quat_mul(tl_quat_from_rotation(tl_scale(dt, w)), q));
      m.there[at] = true;
      m.place_m[at] = x;
      m.turn[at] = q;
      m.speed_m_s[at] = v;
      m.largest_speed_m_s = fmax(m.largest_speed_m_s, v);
    }
  }
  TlReportData data = {0};
  TlReportMotionSteps steps = tl_report_motion_steps(&m, &scene);
  CK_OK(tl_report_motion_pack(&m, &steps, &data));
  double bytes = (double)data.packed_size / (N * F);
  ck_assert_msg(bytes < 8, "%.2f bytes a body and frame", bytes);
  tl_data_free(&data);
  tl_report_motion_free(&m);
  tl_avatar_free(&a);
}
END_TEST

TL_TEST_MAIN("report", text_of_unknown_origin_stays_text,
             a_part_that_ran_out_of_memory_fails_its_page, base_64_and_numbers_for_readers,
             packed_surfaces_are_closed_and_near_the_level_set,
             a_coarse_grid_is_no_error_of_the_mesh, a_surface_too_far_off_gets_more_cells,
             surfaces_that_a_coarse_grid_cannot_part_are_mended,
             unpacked_places_and_turns_are_the_runs, turns_are_within_a_tenth_of_a_degree,
             a_page_is_valid_injection_safe_and_the_same_each_time,
             runs_are_compared_and_wrong_calls_say_what_is_wrong,
             a_page_stays_below_its_limit_and_says_what_it_left_out, motion_takes_few_bytes)
