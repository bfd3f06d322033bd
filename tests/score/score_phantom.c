/* The phantoms themselves: is what was asked for in them, and does ours agree with the given one
 * in the statistics that decide how hard a stack is? */
#include "judge/judge.h"
#include "num/sort.h"
#include "score/score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BINS = 2048 }; /* of 1/8 grey level */

typedef struct Statistics {
  double solid, mask_porosity, grains, large, whole;
  double diameter, diameter_spread;  /* of the whole grains: median, sd of ln d */
  double elongation, flatness;       /* mean axes b/a and c/b of the ellipsoids of equal inertia */
  double contacts, contact_fraction; /* neighbours a grain; of the surface faces, in contact */
  double opaque, grain_grey_sd;      /* of the grains; of those not opaque */
  double noise[2], void_noise[2];    /* low, high: sd at 160 and at 90 */
  double edges;                      /* voxels of clean grey 105 to 145, fraction */
  double points, point_contacts;     /* surface points a square voxel of faces x 2/3; in contacts */
  double *histogram[3];              /* clean, low, high: cumulative */
} Statistics;

/* ---- grains ---- */

static void count_grains(const ScorePhantom *p, Statistics *s) {
  double *d = malloc((size_t)p->grain_count * sizeof *d), sum = 0, square = 0;
  double grey = 0, grey2 = 0, plain = 0;
  int64_t n = 0;
  if (!d) abort();
  for (int64_t i = 0; i < p->grain_count; i++) {
    const ScoreGrain *g = &p->grains[i];
    s->solid += g->volume / (double)tl_volume_count(&p->labels);
    s->large += g->voxels >= SCORE_LEAST_VOXELS;
    bool opaque = g->grey > SCORE_CLIP;
    s->opaque += opaque / (double)p->grain_count;
    if (!opaque) plain++, grey += g->grey, grey2 += g->grey * g->grey;
    if (g->border) continue;
    const double *m = g->principal;
    double half = 0.5 * (m[0] + m[1] + m[2]);
    s->elongation += sqrt((half - m[1]) / (half - m[0]));
    s->flatness += sqrt((half - m[2]) / (half - m[1]));
    d[n] = cbrt(g->volume * 1.909859317102744);
    sum += log(d[n]);
    square += log(d[n]) * log(d[n]);
    n++;
  }
  qsort(d, (size_t)n, sizeof *d, tl_by_real);
  s->grains = (double)p->grain_count;
  s->whole = (double)n;
  s->diameter = 0.5 * (d[(n - 1) / 2] + d[n / 2]);
  s->diameter_spread = sqrt(square / s->whole - sum * sum / (s->whole * s->whole));
  s->elongation /= s->whole;
  s->flatness /= s->whole;
  s->grain_grey_sd = sqrt(grey2 / plain - grey * grey / (plain * plain));
  free(d);
}

/* ---- faces of voxels between grains ---- */

static int by_number(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static double different(uint64_t *key, size_t count) {
  double n = 0;
  qsort(key, count, sizeof *key, by_number);
  for (size_t i = 0; i < count; i++) n += i == 0 || key[i] != key[i - 1];
  return n;
}

/* Pairs with a shared face; faces of grains against void and against others. */
static void count_faces(const ScorePhantom *p, Statistics *s, double *free_faces) {
  const TlVolume *l = &p->labels;
  uint64_t *key = malloc(3 * (size_t)tl_volume_count(l) * sizeof *key);
  size_t keys = 0;
  double faces[2] = {0, 0};
  const int64_t step[3] = {1, l->nx, l->nx * l->ny};
  if (!key) abort();
  for (int64_t i = 0; i < tl_volume_count(l); i++) {
    bool inside[3] = {i % l->nx + 1 < l->nx, i / l->nx % l->ny + 1 < l->ny,
                      i / (l->nx * l->ny) + 1 < l->nz};
    for (int k = 0; k < 3; k++) {
      if (!inside[k]) continue;
      uint32_t a = l->u32[i], b = l->u32[i + step[k]];
      if (a == b) continue;
      faces[a && b]++;
      if (a && b) key[keys++] = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
    }
  }
  s->contacts = 2 * different(key, keys) / (double)p->grain_count;
  s->contact_fraction = 2 * faces[1] / (faces[0] + 2 * faces[1]);
  *free_faces = faces[0];
  free(key);
}

static uint32_t label_at(const TlVolume *l, TlVec3 x) {
  int64_t at[3] = {(int64_t)floor(x.x + 0.5), (int64_t)floor(x.y + 0.5), (int64_t)floor(x.z + 0.5)};
  if (at[0] < 0 || at[1] < 0 || at[2] < 0 || at[0] >= l->nx || at[1] >= l->ny || at[2] >= l->nz)
    return 0;
  return l->u32[tl_volume_at(l, at[0], at[1], at[2])];
}

/* Do the surface points include the contact faces? Share with another grain 1 voxel outside. */
static void look_past_points(const ScorePhantom *p, Statistics *s) {
  double contacts = 0, area = 0;
  for (int64_t l = 1; l <= p->grain_count; l++) {
    for (int64_t i = p->first[l]; i < p->first[l + 1]; i++) {
      uint32_t past = label_at(&p->labels, tl_axpy(p->points[i].at, 1, p->points[i].normal));
      contacts += past && past != (uint32_t)l;
    }
    if (!p->grains[l - 1].border) area += cbrt(p->grains[l - 1].volume * p->grains[l - 1].volume);
  }
  double points = (double)p->first[p->grain_count + 1];
  s->points = points / (4.835975862049409 * area); /* (36 pi)^(1/3) V^(2/3): equal spheres */
  s->point_contacts = contacts / points;
}

/* ---- grey ---- */

static double *cumulative(const TlVolume *stack) {
  double *h = calloc(BINS, sizeof *h), n = (double)tl_volume_count(stack);
  if (!h) abort();
  for (int64_t i = 0; i < tl_volume_count(stack); i++) {
    int k = stack->u16[i] / 25;
    h[k < BINS ? k : BINS - 1] += 1 / n;
  }
  for (int k = 1; k < BINS; k++) h[k] += h[k - 1];
  return h;
}

/* Kolmogorov's distance. */
static double apart(const double *a, const double *b) {
  double most = 0;
  for (int k = 0; k < BINS; k++) most = fmax(most, fabs(a[k] - b[k]));
  return most;
}

static double noise_near(const ScorePhantom *p, int noise, double level) {
  const TlVolume *stack = score_noisy(p, noise);
  double sum = 0, square = 0, n = 0;
  for (int64_t i = 0; i < tl_volume_count(stack); i++) {
    if (fabs(p->clean.u16[i] / 200.0 - level) > 2) continue;
    double d = (stack->u16[i] - p->clean.u16[i]) / 200.0;
    sum += d;
    square += d * d;
    n++;
  }
  return sqrt(square / n - sum * sum / (n * n));
}

static Statistics statistics(const ScorePhantom *p) {
  Statistics s = {0};
  double faces, voxels = (double)tl_volume_count(&p->labels);
  count_grains(p, &s);
  count_faces(p, &s, &faces);
  look_past_points(p, &s);
  for (int64_t i = 0; i < tl_volume_count(&p->labels); i++) {
    s.mask_porosity += (p->labels.u32[i] == 0) / voxels;
    s.edges += (p->clean.u16[i] > 105 * 200 && p->clean.u16[i] < 145 * 200) / voxels;
  }
  for (int noise = 0; noise < 2; noise++) {
    s.noise[noise] = noise_near(p, noise, 160);
    s.void_noise[noise] = noise_near(p, noise, 90);
  }
  s.histogram[0] = cumulative(&p->clean);
  s.histogram[1] = cumulative(&p->low);
  s.histogram[2] = cumulative(&p->high);
  return s;
}

/* ---- figures ---- */

/* Half of the noise's variance at the grain level (sd) is Poisson's, in proportion to the grey. */
static void say_ours(const ScorePhantom *p, const Statistics *s) {
  static const double asked[2] = {6, 20};
  for (int noise = 0; noise < 2; noise++) {
    double sd = asked[noise], in_void = sd * sqrt(0.5 * (90.0 / 160 + 1));
    judge_between(JUDGE_CORRECT, score_noise_figure(p, "phantom_noise", noise), s->noise[noise],
                  "grey", 0.99 * sd, 1.01 * sd);
    judge_between(JUDGE_CORRECT, score_noise_figure(p, "phantom_void_noise", noise),
                  s->void_noise[noise], "grey", 0.99 * in_void, 1.01 * in_void);
  }
  judge_between(JUDGE_CORRECT, score_name(p, "phantom_solid_fraction"), s->solid, "1", 0.598,
                0.604);
  judge_between(JUDGE_CORRECT, score_name(p, "phantom_mask_porosity"),
                100 * (s->mask_porosity - (1 - s->solid)), "points", -0.25, 0.05);
  judge_at_least(JUDGE_CORRECT, score_name(p, "phantom_whole_grains"), s->whole, "1", 30);
}

static void beside(const char *name, double ours, double given, const char *unit) {
  char figure[128];
  snprintf(figure, sizeof figure, "phantom_%s_given", name);
  judge_paper(figure, ours, given, unit, "the given phantom");
}

static void say_given(const Statistics *o, const Statistics *g) {
  beside("solid_fraction", o->solid, g->solid, "1");
  beside("porosity_of_mask", o->mask_porosity, g->mask_porosity, "1");
  beside("grains", o->grains, g->grains, "1");
  beside("grains_over_500", o->large, g->large, "1");
  beside("whole_grains", o->whole, g->whole, "1");
  beside("median_diameter", o->diameter, g->diameter, "voxels");
  beside("sd_of_ln_diameter", o->diameter_spread, g->diameter_spread, "1");
  beside("axes_b_over_a", o->elongation, g->elongation, "1");
  beside("axes_c_over_b", o->flatness, g->flatness, "1");
  beside("neighbours_a_grain", o->contacts, g->contacts, "1");
  beside("surface_in_contact", o->contact_fraction, g->contact_fraction, "1");
  beside("opaque_grains", o->opaque, g->opaque, "1");
  beside("grey_sd_of_grains", o->grain_grey_sd, g->grain_grey_sd, "grey");
  beside("noise_low", o->noise[0], g->noise[0], "grey");
  beside("noise_high", o->noise[1], g->noise[1], "grey");
  beside("void_noise_low", o->void_noise[0], g->void_noise[0], "grey");
  beside("void_noise_high", o->void_noise[1], g->void_noise[1], "grey");
  beside("voxels_at_edges", o->edges, g->edges, "1");
  beside("surface_points", o->points, g->points, "1/voxel^2");
  beside("surface_points_in_contact", o->point_contacts, g->point_contacts, "1");
  static const char *const names[3] = {"histogram_clean", "histogram_low", "histogram_high"};
  for (int k = 0; k < 3; k++) /* Kolmogorov's distance; the same would be 0 */
    beside(names[k], apart(o->histogram[k], g->histogram[k]), 0, "1");
}

int main(int argc, char **argv) {
  judge_open("phantom", argc, argv);
  Statistics ours = {0};
  for (ScorePhantom p = {0}; score_next(&p);) {
    Statistics s = statistics(&p);
    if (!*p.suffix) ours = s;
    if (!strcmp(p.suffix, "_given"))
      say_given(&ours, &s);
    else
      say_ours(&p, &s);
    for (int k = 0; k < 3 && *p.suffix; k++) free(s.histogram[k]);
  }
  for (int k = 0; k < 3; k++) free(ours.histogram[k]);
  judge_note("Ours is `talus-phantom --folder %s`; beside it the phantom given by TALUS_PHANTOM.",
             score_options(""));
  return judge_close();
}
