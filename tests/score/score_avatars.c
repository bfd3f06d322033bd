/* Avatars from the noisy stacks through the whole chain, held to the true bodies: all true grains
 * of 500 voxels or more that the box does not cut; one that is not found counts as a figure of its
 * own, not in the means.
 *
 * The goals were set on the given phantom, whose grains are round and of like size; the same stand
 * for ours, also for the one of faceted and smaller grains. *_to_peer: over the error of the grey
 * iso-surface of the same labels and the same denoised stack, on the same grains.
 */
#include "judge/judge.h"
#include "score/score.h"

#include "base/mem.h"
#include "store/catalog.h"

#include <stdio.h>

typedef struct Found {
  TlCatalog *catalog;
  int64_t *grain; /* by label of the found stack */
  uint32_t most;
} Found;

static TlStatus note_grain(void *context, const TlGrainRow *row) {
  Found *f = context;
  if (row->label <= f->most) f->grain[row->label] = row->id;
  return TL_OK;
}

/* Does a label that stands for a whole true grain reach the stack's faces? Those it is cut by are
 * three in four of all: they are made only where one of them is wanted. */
static bool whole_ones_reach_the_faces(const ScorePhantom *p, const TlVolume *labels,
                                       const ScoreLabels *match) {
  uint8_t *wanted;
  uint32_t most = 0;
  bool found = false;
  for (int64_t i = 0; i < tl_volume_count(labels); i++)
    if (labels->u32[i] > most) most = labels->u32[i];
  JUDGE_OK(TL_NEW(wanted, (size_t)most + 1));
  for (int64_t i = 0; i < p->grain_count; i++)
    if (!p->grains[i].border) wanted[match->match[p->grains[i].label]] = 1;
  wanted[0] = 0;
  for (int64_t i = 0; i < tl_volume_count(labels); i++) {
    int64_t x = i % labels->nx, y = i / labels->nx % labels->ny, z = i / labels->nx / labels->ny;
    bool face = x == 0 || y == 0 || z == 0 || x == labels->nx - 1 || y == labels->ny - 1 ||
                z == labels->nz - 1;
    found = found || (face && wanted[labels->u32[i]]);
  }
  tl_free(wanted);
  return found;
}

static void make_avatars(const ScorePhantom *p, int noise, const TlVolume *labels, bool with_border,
                         Found *found) {
  const char *path = judge_path("avatars.tals");
  remove(path);
  score_tool("talus-avatars '%s' --grey='%s' --raw='%s' --voxel-size-um=10 --min-voxels=300 "
             "%s --catalog='%s' --sample=score",
             score_product_path(p, noise, "labels"), score_product_path(p, noise, "denoised"),
             score_stack_path(p, score_noise_name(noise)), with_border ? "" : "--no-with-border",
             path);
  *found = (Found){0};
  for (int64_t i = 0; i < tl_volume_count(labels); i++)
    if (labels->u32[i] > found->most) found->most = labels->u32[i];
  JUDGE_OK(TL_NEW(found->grain, (size_t)found->most + 1));
  JUDGE_OK(tl_catalog_open(&found->catalog, path, TL_CATALOG_READ));
  TlGrainQuery all = {.with_border = true};
  JUDGE_OK(tl_catalog_walk_grains(found->catalog, &all, note_grain, found));
}

static bool score_grain(const ScorePhantom *p, uint32_t label, const ScoreLabels *match, Found *f,
                        const ScoreIso *iso, ScoreErrors *errors, ScoreErrors *peer) {
  uint32_t mine = match->match[label];
  if (mine == 0 || f->grain[mine] == 0) return false;
  TlAvatar avatar;
  ScoreBody body;
  JUDGE_OK(score_body_of_iso(iso, mine, &body));
  *peer = score_body(p, label, &body);
  score_body_free(&body);
  JUDGE_OK(tl_catalog_load_avatar(f->catalog, f->grain[mine], &avatar));
  JUDGE_OK(score_body_of_avatar(&avatar, 10e-6, &body));
  *errors = score_body(p, label, &body);
  score_body_free(&body);
  tl_avatar_free(&avatar);
  return true;
}

/* volume, centroid, inertia, surface, hausdorff; low, high */
static const double goal[5][2] = {{0.5, 0.7}, {0.04, 0.06}, {1.5, 1.9}, {0.10, 0.145}, {1.5, 1.6}};
static const char *const figure[5] = {"avatars_volume", "avatars_centroid", "avatars_inertia",
                                      "avatars_surface", "avatars_hausdorff"};
static const char *const unit[5] = {"%", "voxel", "%", "voxel", "voxel"};

static void take(ScoreErrors e, double value[5]) {
  const double v[5] = {100 * e.volume, e.centroid, 100 * e.inertia, e.surface, e.hausdorff};
  for (int k = 0; k < 5; k++) value[k] = v[k];
}

static void tell(const ScorePhantom *p, int noise, const ScoreErrors *mine,
                 const ScoreErrors *peers, int64_t count) {
  double value[5], peer[5];
  take(score_mean(mine, count), value);
  take(score_mean(peers, count), peer);
  for (int k = 0; k < 5; k++)
    judge_at_most(JUDGE_GOAL, score_noise_figure(p, figure[k], noise), value[k], unit[k],
                  goal[k][noise]);
  for (int k = 0; k < 5; k++) {
    char name[64];
    snprintf(name, sizeof name, "%s_to_peer", figure[k]);
    judge_at_most(JUDGE_GOAL, score_noise_figure(p, name, noise), value[k] / peer[k], "1", 1);
  }
  judge_note("Phantom '%s', noise %s: %lld whole grains; the peers' iso-surface: volume %.2f%%, "
             "centroid %.3f voxel, inertia %.2f%%, surface %.3f voxel, median Hausdorff %.2f.",
             *p->suffix ? p->suffix + 1 : "first", score_noise_name(noise), (long long)count,
             peer[0], peer[1], peer[2], peer[3], peer[4]);
}

static void open_iso(const ScorePhantom *p, int noise, const TlVolume *labels, TlVolume *grey,
                     ScoreIso *iso) {
  TlVolume denoised;
  score_denoised(p, noise, &denoised);
  JUDGE_OK(score_grey(&denoised, grey));
  tl_volume_free(&denoised);
  JUDGE_OK(score_iso_open(grey, labels, iso));
}

static void say(const ScorePhantom *p, int noise) {
  TlVolume labels, grey;
  ScoreLabels match;
  Found found;
  ScoreIso iso;
  ScoreErrors *errors, *peers;
  int64_t count = 0, missing = 0;
  score_labelled(p, noise, &labels);
  JUDGE_OK(score_labels(p, &labels, &match));
  make_avatars(p, noise, &labels, whole_ones_reach_the_faces(p, &labels, &match), &found);
  open_iso(p, noise, &labels, &grey, &iso);
  JUDGE_OK(TL_NEW(errors, (size_t)p->grain_count));
  JUDGE_OK(TL_NEW(peers, (size_t)p->grain_count));
  for (int64_t i = 0; i < p->grain_count; i++) {
    const ScoreGrain *g = &p->grains[i];
    if (g->border || g->voxels < SCORE_LEAST_VOXELS) continue;
    if (score_grain(p, g->label, &match, &found, &iso, &errors[count], &peers[count]))
      count++;
    else
      missing++;
  }
  tell(p, noise, errors, peers, count);
  judge_at_most(JUDGE_GOAL, score_noise_figure(p, "avatars_missing", noise), (double)missing,
                "grains", 0);
  tl_free(errors);
  tl_free(peers);
  score_iso_close(&iso);
  tl_free(found.grain);
  tl_catalog_close(found.catalog);
  score_labels_free(&match);
  tl_volume_free(&grey);
  tl_volume_free(&labels);
}

int main(int argc, char **argv) {
  judge_open("avatars", argc, argv);
  for (ScorePhantom p = {0}; score_next(&p);)
    for (int noise = 1; noise >= 0; noise--) say(&p, noise);
  return judge_close();
}
