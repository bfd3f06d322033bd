/* Which phantoms are scored, and the chain's tools on them (score.h). */
#include "score/score.h"

#include "base/file.h"
#include "base/mem.h"
#include "io/stack.h"
#include "judge/judge.h"

#include <glob.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Ours: `talus-phantom` with these options. The first has the shared one's statistics by default;
 * the second is what a stage has not been tuned to. */
static const struct {
  const char *suffix, *options;
} ours[] = {
    {"", "--seed=1 --shapes=rounded --d50-voxels=30 --size-ratio=1.82 --solid-fraction=0.602"},
    {"_facets", "--seed=2 --shapes=faceted --roughness-voxels=0.3 --d50-voxels=26 --size-ratio=3"},
};
enum { OURS = sizeof ours / sizeof *ours };

static const char *keep(const char *format, ...) __attribute__((format(printf, 1, 2)));
static const char *keep(const char *format, ...) {
  static char text[16][2048];
  static int turn;
  turn = (turn + 1) % 16;
  va_list args;
  va_start(args, format);
  vsnprintf(text[turn], sizeof text[turn], format, args);
  va_end(args);
  return text[turn];
}

const char *score_name(const ScorePhantom *phantom, const char *figure) {
  return keep("%s%s", figure, phantom->suffix);
}

const char *score_noise_figure(const ScorePhantom *phantom, const char *figure, int noise) {
  return keep("%s_%s%s", figure, score_noise_name(noise), phantom->suffix);
}

const char *score_options(const char *suffix) {
  for (int i = 0; i < OURS; i++)
    if (!strcmp(suffix, ours[i].suffix)) return ours[i].options;
  return "";
}

/* ---- the phantoms ---- */

/* All programs share the phantoms and the chain's products: beside the study's own folder. */
static const char *shared_path(const char *name) {
  return keep("%s/../phantoms/%s", judge_dir(), name);
}

static const char *tools(void) {
  const char *bin = getenv("BIN");
  return bin && *bin ? bin : "build/bin";
}

/* As make would: product is there and not older than what it is made by and from ("": nothing). */
static bool up_to_date(const char *product, const char *tool, const char *input) {
  struct stat made, from;
  if (stat(product, &made)) return false;
  const char *sources[2] = {keep("%s/%s", tools(), tool), input};
  for (int k = 0; k < 2; k++) {
    if (!*sources[k]) continue;
    if (stat(sources[k], &from)) return false;
    if (from.st_mtim.tv_sec > made.st_mtim.tv_sec || (from.st_mtim.tv_sec == made.st_mtim.tv_sec &&
                                                      from.st_mtim.tv_nsec >= made.st_mtim.tv_nsec))
      return false;
  }
  return true;
}

static bool says(const char *path, const char *text) {
  char *held;
  size_t size;
  if (tl_file_read(path, &held, &size) != TL_OK) return false;
  bool same = !strcmp(held, text);
  tl_free(held);
  return same;
}

static const char *make_ours(int which) {
  const char *folder = shared_path(keep("ours%s", ours[which].suffix));
  const char *stamp = keep("%s/options.txt", folder);
  if (up_to_date(stamp, "talus-phantom", "") && says(stamp, ours[which].options)) return folder;
  score_tool("talus-phantom --folder -o '%s' --overwrite %s", folder, ours[which].options);
  JUDGE_OK(tl_file_write(stamp, ours[which].options, strlen(ours[which].options), true));
  return folder;
}

bool score_next(ScorePhantom *phantom) {
  static int next;
  const char *given = getenv("TALUS_PHANTOM");
  if (next) score_phantom_free(phantom);
  int which = next++;
  if (which < OURS) {
    const char *folder = make_ours(which);
    JUDGE_OK(score_phantom_read(folder, phantom));
    phantom->suffix = ours[which].suffix;
    return true;
  }
  if (which > OURS || !given || !*given) return false;
  JUDGE_OK(score_phantom_read(given, phantom));
  phantom->suffix = "_given";
  return true;
}

/* ---- the tools ---- */

void score_tool(const char *format, ...) {
  char command[8192], log[1200];
  snprintf(log, sizeof log, "%s", judge_path("tool.log"));
  int n = snprintf(command, sizeof command, "'%s'/", tools());
  va_list args;
  va_start(args, format);
  n += vsnprintf(command + n, sizeof command - (size_t)n, format, args);
  va_end(args);
  snprintf(command + n, sizeof command - (size_t)n, " -q >'%s' 2>&1", log);
  fflush(NULL);
  if (system(command) == 0) return;
  char *text = NULL;
  size_t size;
  if (tl_file_read(log, &text, &size) != TL_OK) text = NULL;
  judge_ok(tl_fail(TL_EINPUT, "%s", text ? text : "no message"), command);
}

const char *score_stack_path(const ScorePhantom *phantom, const char *which) {
  glob_t found;
  const char *path = "";
  if (glob(keep("%s/*_%s_u16.tif", phantom->folder, which), 0, NULL, &found) == 0) {
    path = keep("%s", found.gl_pathv[0]);
    globfree(&found);
  }
  return path;
}

const char *score_product_path(const ScorePhantom *phantom, int noise, const char *product) {
  return shared_path(keep("%s_%s%s.tif", product, score_noise_name(noise), phantom->suffix));
}

/* Products of a given phantom are made anew in each program: the next may be another's. */
static const char *product(const ScorePhantom *phantom, int noise, const char *name,
                           const char *tool, const char *input, const char *options) {
  static char made[16][1200];
  static int count;
  const char *path = score_product_path(phantom, noise, name);
  bool given = !strcmp(phantom->suffix, "_given"), fresh = !given && up_to_date(path, tool, input);
  for (int i = 0; i < count; i++) fresh = fresh || !strcmp(made[i], path);
  if (fresh) return path;
  score_tool("%s '%s' -o '%s' --overwrite %s", tool, input, path, options);
  if (count < 16) snprintf(made[count++], sizeof made[0], "%s", path);
  return path;
}

static const char *denoised(const ScorePhantom *p, int noise) {
  return product(p, noise, "denoised", "talus-denoise",
                 score_stack_path(p, score_noise_name(noise)), "");
}
static const char *mask(const ScorePhantom *p, int noise) {
  return product(p, noise, "mask", "talus-binarize", denoised(p, noise), "");
}
static const char *labels(const ScorePhantom *p, int noise) {
  const char *from = mask(p, noise);
  return product(p, noise, "labels", "talus-label", from, keep("--grey='%s'", denoised(p, noise)));
}

void score_read(const char *path, TlVoxelType type, TlVolume *volume) {
  JUDGE_OK(tl_stack_read(path, &(TlStackOptions){0}, NULL, volume));
  if (volume->type != type)
    judge_ok(
        tl_fail(TL_EINPUT, "%s voxels, not %s", tl_voxel_name(volume->type), tl_voxel_name(type)),
        path);
}

void score_write(const char *path, const TlVolume *volume) {
  JUDGE_OK(tl_stack_write(path, volume, NULL, true));
}

void score_denoised(const ScorePhantom *phantom, int noise, TlVolume *stack) {
  score_read(denoised(phantom, noise), TL_U16, stack);
}
void score_mask(const ScorePhantom *phantom, int noise, TlVolume *volume) {
  score_read(mask(phantom, noise), TL_U8, volume);
}
void score_labelled(const ScorePhantom *phantom, int noise, TlVolume *volume) {
  score_read(labels(phantom, noise), TL_U32, volume);
}
