/* Labels against the true ones: from the noisy stacks through the chain, and from the true mask.
 * And grains counted by way of the mask (Tan 2022, Fig. 2.6), on the first phantom. */
#include "judge/judge.h"
#include "score/score.h"

#include "base/mem.h"
#include "image/label_quality.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- where two grains are parted ---- */

enum { LEAST_FACES = 40 }; /* of a true contact that is looked at */

/* Which true grain a found one was matched with, by found label. */
static uint32_t *owners(const ScorePhantom *p, const ScoreLabels *s, const TlVolume *found) {
  uint32_t most = 0, *owner;
  for (int64_t i = 0; i < tl_volume_count(found); i++)
    most = found->u32[i] > most ? found->u32[i] : most;
  JUDGE_OK(TL_NEW(owner, (size_t)most + 1));
  for (int64_t l = 1; l <= p->grain_count; l++)
    if (s->match[l]) owner[s->match[l]] = (uint32_t)l;
  return owner;
}

typedef struct Contact {
  double faces[3], wrong; /* wrong: voxels of one of the two that the other one's label has */
} Contact;

static Contact *contact(Contact *table, int64_t grains, uint32_t a, uint32_t b) {
  return &table[a < b ? a * (grains + 1) + b : b * (grains + 1) + a];
}

/* Mean over the true contacts of wrong voxels over the area, voxels. */
static double contact_offset(const ScorePhantom *p, const ScoreLabels *s, const TlVolume *found) {
  const TlVolume *t = &p->labels;
  const int64_t step[3] = {1, t->nx, t->nx * t->ny}, n = p->grain_count;
  uint32_t *owner = owners(p, s, found);
  double sum = 0, count = 0;
  Contact *table;
  JUDGE_OK(TL_NEW(table, (size_t)((n + 1) * (n + 1))));
  for (int64_t i = 0; i < tl_volume_count(t); i++) {
    const bool inside[3] = {i % t->nx + 1 < t->nx, i / t->nx % t->ny + 1 < t->ny,
                            i / step[2] + 1 < t->nz};
    uint32_t a = t->u32[i], has = owner[found->u32[i]];
    for (int k = 0; k < 3; k++) {
      uint32_t b = inside[k] ? t->u32[i + step[k]] : 0;
      if (a && b && a != b) contact(table, n, a, b)->faces[k]++;
    }
    if (a && has && a != has) contact(table, n, a, has)->wrong++;
  }
  for (int64_t i = 0; i < (n + 1) * (n + 1); i++) {
    const double *f = table[i].faces;
    double area = sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]);
    if (area < LEAST_FACES || !s->match[i / (n + 1)] || !s->match[i % (n + 1)]) continue;
    sum += table[i].wrong / area;
    count++;
  }
  tl_free(table);
  tl_free(owner);
  return sum / count;
}

/* ---- figures ---- */

static const char *phantom_word(const ScorePhantom *p) {
  return *p->suffix ? p->suffix + 1 : "first";
}

static void say(const ScorePhantom *p, const char *of, TlVolume *labels, double ari) {
  ScoreLabels s;
  char figure[4][64];
  JUDGE_OK(score_labels(p, labels, &s));
  snprintf(figure[0], 64, "label_unmatched_%s", of);
  snprintf(figure[1], 64, "label_splits_%s", of);
  snprintf(figure[2], 64, "label_merges_%s", of);
  snprintf(figure[3], 64, "label_ari_%s", of);
  judge_at_most(JUDGE_GOAL, score_name(p, figure[0]), (double)(s.wanted - s.matched), "grains", 0);
  judge_at_most(JUDGE_GOAL, score_name(p, figure[1]), (double)s.splits, "grains", 0);
  judge_at_most(JUDGE_GOAL, score_name(p, figure[2]), (double)s.merges, "grains", 0);
  judge_at_least(JUDGE_GOAL, score_name(p, figure[3]), s.ari, "1",
                 1 - (1 - ari) * score_surface_factor(p));
  if (*of == 'm')
    judge_note("The %s phantom has %lld grains of %d voxels or more.", phantom_word(p),
               (long long)s.wanted, SCORE_LEAST_VOXELS);
  judge_note("The %s phantom, labels of `%s`: true contacts are parted %.2f voxels off in the mean "
             "(voxels on the wrong side over the contact's area).",
             phantom_word(p), of, contact_offset(p, &s, labels));
  score_labels_free(&s);
  tl_volume_free(labels);
}

static void from_true_mask(const ScorePhantom *p, TlVolume *labels) {
  TlVolume mask;
  char in[1200];
  snprintf(in, sizeof in, "%s", judge_path("true_mask.tif"));
  JUDGE_OK(tl_volume_like(&mask, &p->labels, TL_U8));
  for (int64_t i = 0; i < tl_volume_count(&mask); i++) mask.u8[i] = p->labels.u32[i] > 0;
  score_write(in, &mask);
  tl_volume_free(&mask);
  const char *out = judge_path("true_mask_labels.tif");
  score_tool("talus-label '%s' -o '%s' --overwrite", in, out);
  score_read(out, TL_U32, labels);
}

/* ---- Fig. 2.6: grains counted by way of the mask ---- */

enum { WAYS = 3 };
static const char *const ways[WAYS] = {"otsu", "kmeans", "hmrf-em"};
/* Grains in the paper's Fig. 2.6, one slice of a scan without truth. */
static const double paper_grains[WAYS] = {289, 284, 229};

static double greatest(const TlVolume *labels) {
  uint32_t most = 0;
  for (int64_t i = 0; i < tl_volume_count(labels); i++)
    most = labels->u32[i] > most ? labels->u32[i] : most;
  return most;
}

/* A textbook's watershed: peaks of the distance map that rise by half a voxel, all of them kept. */
static double count_grains(const char *mask, bool plain, const char *way) {
  TlVolume labels;
  char out[1200];
  snprintf(out, sizeof out, "%s", judge_path("ways_labels.tif"));
  score_tool("talus-label '%s' -o '%s' --overwrite %s --preview='%s'", mask, out,
             plain ? "--sigma-voxels=0 --neck=0 --h-relative=0 --h-voxels=0.5 --min-voxels=1" : "",
             judge_path(plain ? "ways.png" : way));
  score_read(out, TL_U32, &labels);
  double count = greatest(&labels);
  tl_volume_free(&labels);
  return count;
}

typedef struct Counts {
  double plain[WAYS], ours[WAYS], right;
} Counts;

/* On a noisy stack as it is. */
static Counts count_by_ways(const ScorePhantom *p, int noise) {
  Counts c = {.right = 0};
  for (int64_t i = 0; i < p->grain_count; i++) c.right += p->grains[i].voxels >= 100;
  for (int k = 0; k < WAYS; k++) {
    TlVolume read;
    char mask[1200], picture[64];
    snprintf(mask, sizeof mask, "%s", judge_path("ways_mask.tif"));
    bool shown = noise == 1 && k != 1;
    snprintf(picture, sizeof picture, "%s_%s_%s.png", shown ? "label_ways" : "ways",
             score_noise_name(noise), ways[k]); /* the docs show two of the six */
    score_tool("talus-binarize '%s' -o '%s' --overwrite --method=%s",
               score_stack_path(p, score_noise_name(noise)), mask, ways[k]);
    score_read(mask, TL_U8, &read);
    c.plain[k] = count_grains(mask, true, picture);
    c.ours[k] = count_grains(mask, false, picture);
    judge_note("Noisy %s stack of the first phantom by %s: Dice %.4f, %.0f grains by the "
               "textbook's watershed, %.0f by talus-label; there are %.0f of 100 voxels or more.",
               score_noise_name(noise), ways[k], score_dice(&read, &p->labels), c.plain[k],
               c.ours[k], c.right);
    tl_volume_free(&read);
  }
  return c;
}

static void draw_ways(const Counts c[2]) {
  FILE *data = judge_data("ways.dat");
  for (int noise = 0; noise < 2; noise++)
    for (int k = 0; k < WAYS; k++)
      fprintf(data, "\"%s\\n%s\" %g %g %g\n", score_noise_name(noise), ways[k], c[noise].plain[k],
              c[noise].ours[k], c[noise].right);
  fclose(data);
  judge_gnuplot("label_ways",
                "set logscale y; set style data histogram; set style fill solid 0.6\n"
                "set ylabel 'grains'; set key top left; set yrange [50:*]\n"
                "plot 'ways.dat' using 2:xtic(1) title 'textbook watershed', "
                "'' using 3 title 'talus-label', '' using 4 title 'true' with lines lw 2\n");
}

static void say_ways(const ScorePhantom *p) {
  Counts c[2];
  for (int noise = 0; noise < 2; noise++) {
    c[noise] = count_by_ways(p, noise);
    const double *n = c[noise].plain;
    judge_paper(score_noise_figure(p, "label_ways_otsu_over_hmrf", noise), n[0] / n[2],
                paper_grains[0] / paper_grains[2], "1", "Tan 2022, Fig. 2.6");
    judge_paper(score_noise_figure(p, "label_ways_kmeans_over_hmrf", noise), n[1] / n[2],
                paper_grains[1] / paper_grains[2], "1", "Tan 2022, Fig. 2.6");
  }
  draw_ways(c);
}

/* ---- noise that neighbours share, and rings ---- */

#define CONTACT_LIMIT 0.7 /* of shape/quality.c: grains with a wider contact are doubtful */

typedef struct Verdicts {
  double parts, parts_seen, grains, grains_blamed;
} Verdicts;

/* Which of the found grains have a contact as wide as the face that cuts a grain. parts: those of
 * grains that are parted (ScoreLabels: splits); grains: found ones that overlap with a true one by
 * more than 0.8. Both only where the border does not cut them, for such grains are not used. */
static Verdicts judge_contacts(const ScorePhantom *p, const ScoreLabels *s, const TlVolume *found) {
  const TlRoi whole = {.kind = TL_ROI_ALL};
  const int64_t voxels = tl_volume_count(found), n = p->grain_count;
  int64_t most = 0, *size, *both, *parts;
  uint8_t *border;
  double *width;
  TlLayers layers;
  Verdicts v = {0};
  for (int64_t i = 0; i < voxels; i++) most = found->u32[i] > most ? found->u32[i] : most;
  tl_layers_of(found, &layers);
  JUDGE_OK(tl_label_contacts(&layers, &whole, (uint32_t)most, 16, &border, &width));
  tl_layers_close(&layers);
  JUDGE_OK(TL_NEW(size, (size_t)most + 1));
  JUDGE_OK(TL_NEW(both, (size_t)((most + 1) * (n + 1))));
  JUDGE_OK(TL_NEW(parts, (size_t)n + 1));
  for (int64_t i = 0; i < voxels; i++) {
    size[found->u32[i]]++;
    both[found->u32[i] * (n + 1) + p->labels.u32[i]]++;
  }
  for (int pass = 0; pass < 2; pass++) /* count the parts, then judge them */
    for (int64_t f = 1; f <= most; f++)
      for (int64_t t = 1; t <= n; t++) {
        int64_t common = both[f * (n + 1) + t], voxels_of_t = p->grains[t - 1].voxels;
        if (voxels_of_t < SCORE_LEAST_VOXELS || 2 * common <= size[f]) continue;
        bool part = 10 * common >= voxels_of_t && !border[f], wide = width[f] > CONTACT_LIMIT;
        if (pass == 0) {
          parts[t] += 10 * common >= voxels_of_t;
        } else if (part && parts[t] > 1) {
          v.parts++;
          v.parts_seen += wide;
        } else if (!border[f] && s->match[t] == f && s->overlap[t] > 0.8) {
          v.grains++;
          v.grains_blamed += wide;
        }
      }
  tl_free(size);
  tl_free(both);
  tl_free(parts);
  tl_free(border);
  tl_free(width);
  return v;
}

/* mask, grey: files. The labels that these options give; freed by the caller. */
static ScoreLabels label_with(const ScorePhantom *p, const char *mask, const char *grey,
                              const char *options, Verdicts *v) {
  TlVolume labels;
  ScoreLabels s;
  char out[1200], beside[1300] = "";
  snprintf(out, sizeof out, "%s", judge_path("fault_labels.tif"));
  if (*grey) snprintf(beside, sizeof beside, "--grey='%s'", grey);
  score_tool("talus-label '%s' -o '%s' --overwrite %s %s", mask, out, beside, options);
  score_read(out, TL_U32, &labels);
  JUDGE_OK(score_labels(p, &labels, &s));
  *v = judge_contacts(p, &s, &labels);
  tl_volume_free(&labels);
  return s;
}

/* The phantom's grains in a scan whose noise neighbours share, or with rings: the grey may be used
 * only where it does no harm. And what verdicts say of the labels that it would spoil. */
static void say_faults(const ScorePhantom *p) {
  static const struct {
    const char *name, *options;
  } fault[] = {{"correlated", "--noise=12 --noise-correlation-voxels=1"},
               {"reconstruction", "--noise=12 --noise-filter=hann"},
               {"rings", "--noise=8 --rings-grey=4"}};
  double parts = 0, parts_seen = 0;
  char stack[1200], grey[1200], mask[1200], figure[64];
  snprintf(stack, sizeof stack, "%s", judge_path("fault.tif"));
  snprintf(grey, sizeof grey, "%s", judge_path("fault_denoised.tif"));
  snprintf(mask, sizeof mask, "%s", judge_path("fault_mask.tif"));
  for (int k = 0; k < 3; k++) {
    score_tool("talus-phantom -o '%s' --overwrite %s %s", stack, score_options(p->suffix),
               fault[k].options);
    score_tool("talus-denoise '%s' -o '%s' --overwrite", stack, grey);
    score_tool("talus-binarize '%s' -o '%s' --overwrite", grey, mask);
    Verdicts v[3];
    ScoreLabels s[3] = {label_with(p, mask, grey, "", &v[0]), label_with(p, mask, "", "", &v[1]),
                        label_with(p, mask, grey, "--dip=0.02", &v[2])};
    snprintf(figure, sizeof figure, "label_ari_%s", fault[k].name);
    judge_at_least(JUDGE_GOAL, figure, s[0].ari, "1", s[1].ari - 0.002);
    snprintf(figure, sizeof figure, "label_splits_%s", fault[k].name);
    judge_at_most(JUDGE_GOAL, figure, (double)s[0].splits, "grains", (double)s[1].splits + 1);
    snprintf(figure, sizeof figure, "label_blamed_%s", fault[k].name);
    judge_at_most(JUDGE_GOAL, figure, v[0].grains_blamed / v[0].grains, "1", 0.05);
    judge_note("First phantom with `%s`: ARI %.4f with %lld splits and %lld unmatched; by the mask "
               "alone %.4f, %lld and %lld; with the grey whatever its noise (`--dip=0.02`) %.4f, "
               "%lld and %lld. There verdicts call %.0f of %.0f parts of parted grains doubtful, "
               "and %.0f of %.0f grains that were found whole.",
               fault[k].options, s[0].ari, (long long)s[0].splits,
               (long long)(s[0].wanted - s[0].matched), s[1].ari, (long long)s[1].splits,
               (long long)(s[1].wanted - s[1].matched), s[2].ari, (long long)s[2].splits,
               (long long)(s[2].wanted - s[2].matched), v[2].parts_seen, v[2].parts,
               v[2].grains_blamed, v[2].grains);
    parts += v[2].parts;
    parts_seen += v[2].parts_seen;
    for (int i = 0; i < 3; i++) score_labels_free(&s[i]);
  }
  judge_at_least(JUDGE_GOAL, "label_parts_seen", parts_seen / parts, "1", 0.9);
}

/* The goal of ARI is the high noise's; what a peer reached on the true mask is the mask's. */
int main(int argc, char **argv) {
  judge_open("label", argc, argv);
  for (ScorePhantom p = {0}; score_next(&p);) {
    TlVolume labels;
    for (int noise = 0; noise < 2; noise++) {
      score_labelled(&p, noise, &labels);
      say(&p, score_noise_name(noise), &labels, 0.945);
    }
    from_true_mask(&p, &labels);
    say(&p, "mask", &labels, 0.996);
    if (!*p.suffix) say_ways(&p);
    if (!*p.suffix) say_faults(&p);
  }
  judge_note("Labels of `low` and `high` are made with the denoised stack beside its mask "
             "(`--grey`), as the pipeline does; those of `mask` from the true mask alone.");
  return judge_close();
}
