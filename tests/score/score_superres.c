/* Super-resolution against the fine stacks: phantoms reduced by two in all axes (box means), clean
 * and noisy, refined by `talus-superres apply` with dictionaries trained on other phantoms, beside
 * the interpolations that need no training. With TALUS_SCAN=FILE (a grey stack of 384 x 384 x 24
 * voxels or more) a part of a real scan, too, the dictionary from another part.
 *
 * Edges: voxels where the true gradient is above 8 grey levels a voxel. Banding: root mean square
 * of the error's steps between neighbours along z over that along x and y.
 */
#include "judge/judge.h"
#include "score/score.h"

#include "image/superres.h"
#include "image/superres_base.h"
#include "io/h5_dictionary.h"
#include "io/image.h"
#include "io/stack.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What the dictionaries are trained on: no phantom that is scored. */
static const struct {
  const char *name, *options;
} sources[] = {
    {"rounded",
     "--seed=11 --shapes=rounded --d50-voxels=30 --size-ratio=1.82 --solid-fraction=0.602"},
    {"faceted", "--seed=21 --shapes=faceted --roughness-voxels=0.3 --d50-voxels=26 --size-ratio=3"},
};
enum { ROUNDED, FACETED, SOURCES };

enum { NEAREST, TRILINEAR, CUBIC, LANCZOS, BACK, METHODS, SPLINE = METHODS, SPARSE };
static const char *const method_name[METHODS] = {"nearest", "trilinear", "cubic", "Lanczos",
                                                 "Lanczos and back-projection"};

/* ---- interpolations ---- */

static double keys(double x) { /* cubic convolution, a = -1/2 (Keys 1981) */
  x = fabs(x);
  return x < 1 ? (1.5 * x - 2.5) * x * x + 1 : x < 2 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : 0;
}

/* The cubic spline through the voxels: sum over k of h[k] b(x - k), h the inverse of 1/6 4/6 1/6.
 */
static double spline(double x) {
  const double pole = sqrt(3) - 2;
  double sum = 0;
  for (int k = -12; k <= 12; k++) {
    double t = fabs(x - k);
    double b = t < 1 ? 2.0 / 3 - t * t + t * t * t / 2 : t < 2 ? pow(2 - t, 3) / 6 : 0;
    sum += -6 * pole / (1 - pole * pole) * pow(pole, abs(k)) * b;
  }
  return sum;
}

static double hat(double x) {
  return fmax(1 - fabs(x), 0);
}

static double weight(int method, double x) {
  if (method == NEAREST) return fabs(x) < 0.5;
  if (method == CUBIC) return keys(x);
  return method == SPLINE ? spline(x) : hat(x);
}

static void upsampler(int method, TlUpsampler *u) {
  if (method == LANCZOS) tl_upsampler_lanczos(2, u);
  if (method == BACK) tl_upsampler(2, u);
  if (method == LANCZOS || method == BACK) return;
  *u = (TlUpsampler){.factor = 2};
  for (int f = 0; f < 2; f++)
    for (int j = 0; j < TL_UPSAMPLE_TAPS; j++)
      u->tap[f][j] = (float)weight(method, f * 0.5 - 0.25 - (j - TL_UPSAMPLE_REACH));
}

/* ---- errors ---- */

typedef struct Errors {
  double all, edges, banding;
} Errors;

static bool at_edge(const TlVolume *v, int64_t x, int64_t y, int64_t z) {
  if (x < 1 || y < 1 || z < 1 || x > v->nx - 2 || y > v->ny - 2 || z > v->nz - 2) return false;
  int64_t i = tl_volume_at(v, x, y, z), row = v->nx, layer = v->nx * v->ny;
  double a = (double)v->f32[i + 1] - (double)v->f32[i - 1];
  double b = (double)v->f32[i + row] - (double)v->f32[i - row];
  double c = (double)v->f32[i + layer] - (double)v->f32[i - layer];
  return a * a + b * b + c * c > 4 * 8 * 8;
}

static double error_at(const TlVolume *out, const TlVolume *truth, int64_t i) {
  return (double)out->f32[i] - (double)truth->f32[i];
}

/* Root mean square of the error's steps along an axis. */
static double steps_along(int axis, const TlVolume *out, const TlVolume *truth) {
  const int64_t n[3] = {truth->nx, truth->ny, truth->nz}, by[3] = {1, n[0], n[0] * n[1]};
  double sum = 0, count = 0;
  for (int64_t i = 0; i < tl_volume_count(truth); i++) {
    if (i / by[axis] % n[axis] + 1 == n[axis]) continue;
    double d = error_at(out, truth, i + by[axis]) - error_at(out, truth, i);
    sum += d * d, count++;
  }
  return sqrt(sum / count);
}

static Errors errors_of(const TlVolume *out, const TlVolume *truth) {
  double all = 0, edges = 0, edge_count = 0;
  for (int64_t i = 0; i < tl_volume_count(truth); i++) {
    int64_t layer = truth->nx * truth->ny;
    double e = error_at(out, truth, i);
    bool edge = at_edge(truth, i % truth->nx, i % layer / truth->nx, i / layer);
    all += e * e;
    edges += edge ? e * e : 0;
    edge_count += edge;
  }
  double x = steps_along(0, out, truth), y = steps_along(1, out, truth);
  return (Errors){.all = sqrt(all / (double)tl_volume_count(truth)),
                  .edges = sqrt(edges / edge_count),
                  .banding = steps_along(2, out, truth) / sqrt((x * x + y * y) / 2)};
}

static Errors interpolate(int method, const TlVolume *coarse, const TlVolume *truth,
                          TlVolume *kept) {
  TlUpsampler u;
  TlVolume fine;
  upsampler(method, &u);
  JUDGE_OK(tl_upsample(&u, coarse, &fine));
  Errors e = errors_of(&fine, truth);
  if (kept)
    *kept = fine;
  else
    tl_volume_free(&fine);
  return e;
}

/* ---- pictures ---- */

enum { CROP = 80, ZOOM = 2, GAP = 4, COLUMNS = 4 };

/* A crop of the middle layer of panel (column, row): greys, or what differs from the truth. */
static void draw(TlImage *image, int column, int row, const TlVolume *v, const TlVolume *truth) {
  for (int y = 0; y < CROP * ZOOM; y++)
    for (int x = 0; x < CROP * ZOOM; x++) {
      int64_t i = tl_volume_at(v, v->nx / 4 + x / ZOOM, v->ny / 4 + y / ZOOM, v->nz / 2);
      double shade =
          truth ? 127.5 + 127.5 * error_at(v, truth, i) / 20 : 255 * ((double)v->f32[i] - 60) / 140;
      int64_t to = (int64_t)(row * (CROP * ZOOM + GAP) + y) * image->width +
                   column * (CROP * ZOOM + GAP) + x;
      memset(image->rgb + 3 * to, (int)fmin(fmax(shade, 0), 255), 3);
    }
}

/* Two rows: the coarse voxels, Lanczos, ours, the truth; below what each differs from it. */
static void draw_rows(TlImage *image, int row, const TlVolume *coarse, const TlVolume *ours,
                      const TlVolume *truth) {
  TlVolume nearest, lanczos;
  interpolate(NEAREST, coarse, truth, &nearest);
  interpolate(LANCZOS, coarse, truth, &lanczos);
  const TlVolume *shown[COLUMNS] = {&nearest, &lanczos, ours, truth};
  for (int k = 0; k < COLUMNS; k++) {
    draw(image, k, row, shown[k], NULL);
    draw(image, k, row + 1, shown[k], truth);
  }
  tl_volume_free(&nearest);
  tl_volume_free(&lanczos);
}

static void new_picture(TlImage *image, int rows) {
  int edge = CROP * ZOOM + GAP;
  JUDGE_OK(tl_image_new(image, COLUMNS * edge - GAP, rows * edge - GAP));
  memset(image->rgb, 255, 3 * (size_t)image->width * (size_t)image->height);
}

static void finish_picture(TlImage *image, const char *name) {
  JUDGE_OK(tl_image_write_png(image, judge_path(name), true));
  tl_image_free(image);
}

/* ---- one coarse stack ---- */

static const char *dictionary_path(int source) {
  return judge_path(source == ROUNDED ? "rounded.h5" : "faceted.h5");
}

static void read_grey(const char *path, TlVolume *grey) {
  TlVolume stack;
  score_read(path, TL_U16, &stack);
  JUDGE_OK(score_grey(&stack, grey));
  tl_volume_free(&stack);
}

/* The tool's product of judge_path("coarse.h5"). */
static Errors refine(const char *dictionary, const TlVolume *truth, TlVolume *ours) {
  score_tool("talus-superres apply '%s' --dictionary='%s' -o '%s' --overwrite",
             judge_path("coarse.h5"), dictionary, judge_path("fine.h5"));
  read_grey(judge_path("fine.h5"), ours);
  return errors_of(ours, truth);
}

/* judge_path("coarse.h5") and its grey levels: what the fine stack is reduced to, denoised or not.
 */
static void reduce(const char *fine_path, bool denoised, TlVolume *coarse) {
  score_tool("talus-volume downsample '%s' -o '%s' --overwrite", fine_path,
             judge_path(denoised ? "reduced.h5" : "coarse.h5"));
  if (denoised)
    score_tool("talus-denoise '%s' -o '%s' --overwrite", judge_path("reduced.h5"),
               judge_path("coarse.h5"));
  read_grey(judge_path("coarse.h5"), coarse);
}

/* Ours is to be better than the best of the two, in both errors. */
static void judge_case(const ScorePhantom *p, const char *which, const TlVolume *coarse,
                       const TlVolume *truth, const Errors *ours) {
  Errors e[METHODS];
  char name[80], table[600] = "";
  for (int m = 0; m < METHODS; m++) {
    e[m] = interpolate(m, coarse, truth, NULL);
    size_t end = strlen(table);
    snprintf(table + end, sizeof table - end, "%s %.3f / %.3f, ", method_name[m], e[m].all,
             e[m].edges);
  }
  snprintf(name, sizeof name, "superres_rmse_%s", which);
  judge_at_most(JUDGE_GOAL, score_name(p, name), ours->all, "grey",
                fmin(e[LANCZOS].all, e[BACK].all));
  snprintf(name, sizeof name, "superres_edges_%s", which);
  judge_at_most(JUDGE_GOAL, score_name(p, name), ours->edges, "grey",
                fmin(e[LANCZOS].edges, e[BACK].edges));
  judge_note("%s%s, all voxels / at edges: %ssparse coding %.3f / %.3f.", which, p->suffix, table,
             ours->all, ours->edges);
  if (strcmp(p->suffix, "_given") || strcmp(which, "clean")) return;
  static const double paper[3] = {5.80, 4.81, 5.10};
  for (int m = 0; m < 3; m++) {
    snprintf(name, sizeof name, "superres_%s_given", method_name[m]);
    judge_paper(name, e[m].all, paper[m], "grey", "Tan 2022 2.3.4, its own scan, slices");
  }
  judge_paper("superres_sparse_given", ours->all, 2.98, "grey",
              "Tan 2022 2.3.4, its own scan, slices");
}

/* Is z special to us? The stack with x and z exchanged is refined, too: steps of the error between
 * layers (along z) over those along x, of the same two directions of the sample. A stack with more
 * or sharper edges along one of its axes says nothing here. */
static void judge_turned(const ScorePhantom *p, const TlVolume *truth, const TlVolume *ours) {
  TlVolume turned, stack, coarse, other;
  JUDGE_OK(tl_volume_new(&turned, TL_F32, truth->nz, truth->ny, truth->nx));
  JUDGE_OK(tl_volume_new(&stack, TL_U16, truth->nz, truth->ny, truth->nx));
  for (int64_t i = 0; i < tl_volume_count(truth); i++) {
    int64_t layer = truth->nx * truth->ny;
    int64_t to = tl_volume_at(&turned, i / layer, i % layer / truth->nx, i % truth->nx);
    turned.f32[to] = truth->f32[i];
    stack.u16[to] = (uint16_t)lround(200 * (double)truth->f32[i]);
  }
  score_write(judge_path("turned.h5"), &stack);
  reduce(judge_path("turned.h5"), false, &coarse);
  (void)refine(dictionary_path(ROUNDED), &turned, &other);
  double along_z = hypot(steps_along(2, ours, truth), steps_along(2, &other, &turned));
  double along_x = hypot(steps_along(0, ours, truth), steps_along(0, &other, &turned));
  judge_between(JUDGE_GOAL, score_name(p, "superres_banding_turned"), along_z / along_x, "1", 0.95,
                1.05);
  tl_volume_free(&turned), tl_volume_free(&stack);
  tl_volume_free(&coarse), tl_volume_free(&other);
}

/* ---- phantoms ---- */

static void score_phantom_cases(const ScorePhantom *p) {
  static const struct {
    const char *name, *stack;
    bool denoised, banding, drawn;
  } cases[] = {{"clean", "clean", false, true, true},
               {"low", "low", false, false, false},
               {"high", "high", false, true, true},
               {"low_denoised", "low", true, false, false},
               {"high_denoised", "high", true, false, false}};
  TlVolume truth;
  TlImage image;
  int row = 0;
  JUDGE_OK(score_grey(&p->clean, &truth));
  new_picture(&image, 4);
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    TlVolume coarse, ours;
    reduce(score_stack_path(p, cases[k].stack), cases[k].denoised, &coarse);
    Errors e = refine(dictionary_path(ROUNDED), &truth, &ours);
    judge_case(p, cases[k].name, &coarse, &truth, &e);
    if (cases[k].banding) {
      char name[80];
      snprintf(name, sizeof name, "superres_banding_%s", cases[k].name);
      judge_between(JUDGE_GOAL, score_name(p, name), e.banding, "1", 0.95, 1.05);
    }
    if (cases[k].drawn) draw_rows(&image, row, &coarse, &ours, &truth), row += 2;
    if (k == 0) {
      TlVolume others;
      Errors other = refine(dictionary_path(FACETED), &truth, &others);
      tl_volume_free(&others);
      Errors peer = interpolate(BACK, &coarse, &truth, NULL);
      judge_note("banding%s: %.3f; of Lanczos and back-projection, which knows no direction, %.3f.",
                 p->suffix, e.banding, peer.banding);
      judge_at_most(JUDGE_GOAL, score_name(p, "superres_rmse_faceted_dictionary"), other.all,
                    "grey", peer.all);
      judge_turned(p, &truth, &ours);
    }
    tl_volume_free(&ours);
    tl_volume_free(&coarse);
  }
  if (*p->suffix)
    tl_image_free(&image);
  else
    finish_picture(&image, "superres_phantom.png");
  tl_volume_free(&truth);
}

/* ---- the peers' reduction ---- */

static TlStatus refine_layer(int method, const TlDictionary *d, const TlVolume *coarse,
                             TlVolume *fine) {
  TlSuperresOptions options = {.planes = 4, .quiet = true};
  TlUpsampler u;
  if (method == SPARSE) return tl_superres(d, &options, coarse, fine);
  upsampler(method, &u);
  return tl_upsample(&u, coarse, fine);
}

/* A layer reduced by 2 x 2 means and refined, as if in a stack that does not change along z. */
static double plane_rmse(int method, const TlDictionary *d, const TlVolume *from,
                         const TlVolume *truth) {
  TlVolume layer, coarse, fine;
  double sum = 0;
  int64_t n = from->nx * from->ny;
  for (int64_t z = 0; z < from->nz; z++) {
    JUDGE_OK(tl_volume_new(&layer, TL_F32, from->nx, from->ny, 2));
    for (int k = 0; k < 2; k++)
      memcpy(layer.f32 + k * n, from->f32 + z * n, (size_t)n * sizeof(float));
    JUDGE_OK(tl_box_means(&layer, 2, &coarse));
    JUDGE_OK(refine_layer(method, d, &coarse, &fine));
    for (int64_t i = 0; i < n; i++) {
      double e = (double)fine.f32[i] - (double)truth->f32[z * n + i];
      sum += e * e;
    }
    tl_volume_free(&layer), tl_volume_free(&coarse), tl_volume_free(&fine);
  }
  return sqrt(sum / (double)tl_volume_count(truth));
}

static void judge_planes(const ScorePhantom *p) {
  static const struct {
    const char *figure;
    int method;
    bool noisy;
    double peer;
  } cases[] = {{"superres_cubic_in_the_plane", CUBIC, false, 2.34},
               {"superres_spline_in_the_plane", SPLINE, false, 2.34},
               {"superres_back_projection_in_the_plane", BACK, false, 1.70},
               {"superres_sparse_in_the_plane", SPARSE, false, 1.70},
               {"superres_bilinear_noisy_in_the_plane", TRILINEAR, true, 7.17}};
  TlVolume truth, noisy;
  TlDictionary d;
  JUDGE_OK(tl_dictionary_read(dictionary_path(ROUNDED), NULL, &d));
  d.tolerance /= 200; /* of the stack's units */
  JUDGE_OK(score_grey(&p->clean, &truth));
  JUDGE_OK(score_grey(&p->high, &noisy));
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
    judge_paper(score_name(p, cases[k].figure),
                plane_rmse(cases[k].method, &d, cases[k].noisy ? &noisy : &truth, &truth),
                cases[k].peer, "grey",
                cases[k].method == SPARSE ? "a peer's back-projection" : "a peer, same phantom");
  tl_dictionary_free(&d);
  tl_volume_free(&truth);
  tl_volume_free(&noisy);
}

/* ---- a real scan ---- */

enum { SCAN_TRAIN = 256, SCAN_EDGE = 128, SCAN_LAYERS = 100 };

/* Part of the scan from x, y on as a stack like a phantom's: stored times 200. */
static void cut_part(const TlVolume *scan, int64_t x, int64_t y, int64_t edge, const char *path) {
  TlVolume part;
  int64_t nz = scan->nz < SCAN_LAYERS ? scan->nz : SCAN_LAYERS;
  JUDGE_OK(tl_volume_new(&part, TL_U16, edge, edge, nz));
  for (int64_t i = 0; i < tl_volume_count(&part); i++) {
    int64_t at = tl_volume_at(scan, x + i % edge, y + i / edge % edge, i / edge / edge);
    part.u16[i] = (uint16_t)fmin(fmax(200 * tl_volume_value(scan, at), 0), 65535);
  }
  score_write(path, &part);
  tl_volume_free(&part);
}

/* The truth is the scan's own part, with its own noise: no method can foretell that. */
static void score_scan(const char *path) {
  static const ScorePhantom named = {.suffix = "_scan_given"};
  TlVolume scan, coarse, truth, ours;
  TlImage image;
  char fine[1024];
  snprintf(fine, sizeof fine, "%s", judge_path("scan.h5"));
  JUDGE_OK(tl_stack_read(path, &(TlStackOptions){0}, NULL, &scan));
  if (scan.nx < SCAN_TRAIN + SCAN_EDGE || scan.ny < SCAN_TRAIN + SCAN_EDGE || scan.nz < 24)
    judge_ok(tl_fail(TL_EINPUT, "too small for a part to train on and another"), path);
  cut_part(&scan, 0, 0, SCAN_TRAIN, fine);
  score_tool("talus-superres train '%s' -o '%s' --overwrite", fine, judge_path("scan_learnt.h5"));
  cut_part(&scan, scan.nx - SCAN_EDGE, scan.ny - SCAN_EDGE, SCAN_EDGE, fine);
  tl_volume_free(&scan);
  reduce(fine, false, &coarse);
  read_grey(fine, &truth);
  Errors e = refine(judge_path("scan_learnt.h5"), &truth, &ours);
  judge_case(&named, "clean", &coarse, &truth, &e);
  judge_between(JUDGE_GOAL, score_name(&named, "superres_banding"), e.banding, "1", 0.95, 1.05);
  new_picture(&image, 2);
  draw_rows(&image, 0, &coarse, &ours, &truth);
  finish_picture(&image, "superres_scan.png");
  tl_volume_free(&coarse), tl_volume_free(&truth), tl_volume_free(&ours);
}

int main(int argc, char **argv) {
  judge_open("superres", argc, argv);
  for (int s = 0; s < SOURCES; s++) {
    const char *stack = judge_path("source.tif");
    score_tool("talus-phantom %s --noise=0 -o '%s' --overwrite", sources[s].options, stack);
    score_tool("talus-superres train '%s' -o '%s' --overwrite", stack, dictionary_path(s));
  }
  for (ScorePhantom p = {0}; score_next(&p);) {
    score_phantom_cases(&p);
    if (!strcmp(p.suffix, "_given")) judge_planes(&p);
  }
  const char *scan = getenv("TALUS_SCAN");
  if (scan && *scan) score_scan(scan);
  return judge_close();
}
