/* Imaging held to truth: phantoms, and how far a stage's product is from them.
 *
 * A program tests/score/score_STAGE.c walks the phantoms, runs its stage on each and says its
 * figures (judge/judge.h):
 *
 *   judge_open("label", argc, argv);
 *   for (ScorePhantom p = {0}; score_next(&p);) {
 *     ...
 *     judge_at_least(JUDGE_GOAL, score_name(&p, "label_ari_high"), s.ari, "1", 0.945);
 *   }
 *   return judge_close();
 *
 * Everything is in voxels and index coordinates (voxel centres at integers), grey levels are those
 * of the model (void 90, grains about 160: a stack's unit is 1/200 of one), volumes are z, y, x
 * with x fastest. Functions that return a TlStatus leave a message; nothing here depends on the
 * thread count.
 */
#ifndef TL_TESTS_SCORE_H
#define TL_TESTS_SCORE_H

#include "num/vec.h"
#include "num/volume.h"
#include "shape/avatar.h"
#include "shape/drlse.h"

#include <stdbool.h>
#include <stdint.h>

#define SCORE_PEAK 255.0       /* of the PSNR, grey levels */
#define SCORE_CLIP 200.0       /* greys above are cut before a threshold (opaque minerals) */
#define SCORE_LEAST_VOXELS 500 /* grains that count */

/* ---- phantoms ---- */

typedef struct ScoreGrain {
  uint32_t label;      /* grains[i].label = i + 1 */
  int64_t voxels;      /* of the label */
  bool border;         /* cut by the box */
  double grey, volume; /* volume: true, of the exact shape inside the box */
  TlVec3 centroid;
  double principal[3]; /* moments of inertia at unit density, ascending, voxel^5 */
} ScoreGrain;

typedef struct ScorePoint {
  TlVec3 at, normal; /* on the true surface; outward, unit */
} ScorePoint;

typedef struct ScorePhantom {
  const char *suffix;        /* of the figures' names: "" for our own */
  char folder[1024];         /* where its files are */
  TlVolume clean, low, high; /* U16: blurred without noise; noise of sd 6 and of sd 20 */
  TlVolume labels;           /* U32, 0 void */
  ScoreGrain *grains;
  int64_t grain_count;
  ScorePoint *points; /* of the whole grains only, ordered by label */
  int64_t *first;     /* points of label l: first[l] .. first[l + 1] - 1 (grain_count + 2) */
} ScorePhantom;

/* A folder with one file each named *_clean_u16.tif, *_low_u16.tif, *_high_u16.tif,
 * *_labels_u16.tif (or _u32), *_grains.csv and *_surface_f32.raw, as `talus-phantom --folder`
 * writes it. TL_EINPUT naming the file when they do not belong together. */
TlStatus score_phantom_read(const char *folder, ScorePhantom *phantom);
void score_phantom_free(ScorePhantom *phantom);

/* The phantoms to score, one after the other: ours (suffix "", the shared one's statistics), ours
 * with other grains ("_facets": flat faces, rough, sizes 1:3, another seed), then the one in
 * TALUS_PHANTOM
 * ("_given"). Frees the last; false after the last one. Ours are made by talus-phantom once for all
 * studies, in the folder phantoms beside the study's own, and anew when the tool is. */
bool score_next(ScorePhantom *phantom);
/* talus-phantom's options of our phantom with this suffix. */
const char *score_options(const char *suffix);
/* figure + suffix; borrowed for a few calls. */
const char *score_name(const ScorePhantom *phantom, const char *figure);

/* The noisy stacks by index, for loops: 0 low, 1 high. */
static inline const TlVolume *score_noisy(const ScorePhantom *p, int noise) {
  return noise ? &p->high : &p->low;
}
static inline const char *score_noise_name(int noise) {
  return noise ? "high" : "low";
}
/* "label_ari", 1 -> "label_ari_high" + suffix, as score_name. */
const char *score_noise_figure(const ScorePhantom *phantom, const char *figure, int noise);

/* ---- the chain as a user has it ---- */

/* Runs a tool of the project (the folder BIN of the environment, default build/bin) quietly, e.g.
 * score_tool("talus-denoise '%s' -o '%s' --overwrite", in, judge_path("denoised.tif")). A tool that
 * fails ends the program. */
void score_tool(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The path of a phantom's stack: "clean", "low" or "high". Borrowed as score_name's. */
const char *score_stack_path(const ScorePhantom *phantom, const char *which);
/* The stack of this noise through the tools' defaults, each product read back (a fresh volume of
 * the phantom's size), made once for all studies as long as the tools are the same: score_denoised
 * gives U16 units, score_mask U8, score_labelled U32. A failure ends the program. */
void score_denoised(const ScorePhantom *phantom, int noise, TlVolume *stack);
void score_mask(const ScorePhantom *phantom, int noise, TlVolume *mask);
void score_labelled(const ScorePhantom *phantom, int noise, TlVolume *labels);
/* A stack of this type from a file, and to one; a failure ends the program. */
void score_read(const char *path, TlVoxelType type, TlVolume *volume);
void score_write(const char *path, const TlVolume *volume);
/* Where those products lie: "denoised", "mask", "labels". Borrowed as score_name's. */
const char *score_product_path(const ScorePhantom *phantom, int noise, const char *product);

/* ---- grey ---- */

/* U16 units -> a new F32 volume of grey levels. */
TlStatus score_grey(const TlVolume *stack, TlVolume *grey);
/* Over the whole stack, both F32 grey levels. */
double score_rms_difference(const TlVolume *a, const TlVolume *b);
double score_psnr(const TlVolume *grey, const TlVolume *clean); /* dB, peak SCORE_PEAK */

/* ---- masks: U8, > 0 is grain; the true mask is labels > 0 ---- */

/* 2 |A and B| / (|A| + |B|) over the whole stack. */
double score_dice(const TlVolume *mask, const TlVolume *labels);
/* Percentage points of porosity too much (> 0) or too little, against the true mask. That counts
 * voxels of just half grain as grain: its own porosity lies 0.1 to 0.15 points under that of the
 * true volumes (phantom_mask_porosity). */
double score_porosity_error(const TlVolume *mask, const TlVolume *labels);
/* A mask of a threshold: grey above is grain. For a baseline: score_otsu is the threshold that
 * parts the histogram of the greys (cut at SCORE_CLIP, 4096 bins) best. */
TlStatus score_threshold(const TlVolume *grey, double threshold, TlVolume *mask);
double score_otsu(const TlVolume *grey);

/* Errors of masks and labels lie at the surface. The goals were set on a phantom whose
 * clean stack has 14% of its voxels between the grey levels 105 and 145; for one with more surface
 * the allowed error is larger by as much: this factor, 1 or more. (Settled before any was scored.)
 */
double score_surface_factor(const ScorePhantom *phantom);

/* ---- labels: U32, 0 void; numbers need not be dense ---- */

typedef struct ScoreLabels {
  double ari;      /* adjusted Rand index over the voxels that truly are grain (found void counts
                    * as one cluster) */
  int64_t wanted;  /* true grains of SCORE_LEAST_VOXELS voxels or more */
  int64_t matched; /* of those, with a found grain of intersection over union > 0.5 */
  int64_t splits;  /* of those, parted: two or more found grains that lie in it for the most part,
                    * each with a tenth of its voxels or more */
  int64_t merges;  /* found grains that hold half or more of two or more of those */
  uint32_t *match; /* by true label (0 .. grain_count), the found one or 0; small grains too */
  double *overlap; /* its intersection over union */
} ScoreLabels;

TlStatus score_labels(const ScorePhantom *phantom, const TlVolume *found, ScoreLabels *score);
void score_labels_free(ScoreLabels *score);
/* The parts, for tests: the index alone. */
TlStatus score_ari(const TlVolume *truth, const TlVolume *found, double *ari);

/* ---- bodies ---- */

/* A grain as a stage gives it. phi < 0 inside, about a distance; points: dense on its surface. */
typedef struct ScoreBody {
  double volume;
  TlVec3 centroid;
  double principal[3]; /* ascending */
  double (*phi)(const void *context, TlVec3 x);
  const void *context;
  TlVec3 *points; /* owned */
  int64_t point_count;
} ScoreBody;

/* What the solver uses: the stored trilinear phi and the vertices of its triangles. voxel_m of the
 * stack it came from. The avatar is borrowed. */
TlStatus score_body_of_avatar(const TlAvatar *avatar, double voxel_m, ScoreBody *body);
/* What the best peer pipeline takes: the half level between the void's median and the grain's own
 * mean grey, in the grain's own cell (other grains' voxels count as void: cut hard at contacts),
 * trilinear; volume and moments of its triangles. All is borrowed. */
typedef struct ScoreIso {
  const TlVolume *grey, *labels; /* F32, U32 */
  TlLabelBox *boxes;             /* owned */
  TlGreyLevels levels;
} ScoreIso;
/* Boxes and levels of a stack in memory. */
TlStatus score_iso_open(const TlVolume *grey, const TlVolume *labels, ScoreIso *iso);
void score_iso_close(ScoreIso *iso);
TlStatus score_body_of_iso(const ScoreIso *iso, uint32_t label, ScoreBody *body);
void score_body_free(ScoreBody *body);

#define SCORE_REACH 6.0 /* voxels: a true point without surface within it has this distance */
/* Farther along the normal than this, the nearest of the surface's points counts where it is
 * nearer: beside a sharp edge a normal runs along the next face and misses a surface that lies a
 * tenth of a voxel inside it. */
#define SCORE_NORMAL_REACH 1.0

typedef struct ScoreErrors {
  double volume;    /* |V / V0 - 1| */
  double centroid;  /* voxels */
  double inertia;   /* largest relative error of the three principal moments */
  double surface;   /* mean of both directions: true points to the surface along their normals
                     * (SCORE_NORMAL_REACH), surface points to the nearest true one's tangent plane;
                     * voxels */
  double hausdorff; /* the largest of them */
} ScoreErrors;

ScoreErrors score_body(const ScorePhantom *phantom, uint32_t label, const ScoreBody *body);
/* Over count grains: means, of hausdorff the median. All NaN for none. */
ScoreErrors score_mean(const ScoreErrors *errors, int64_t count);

#endif
