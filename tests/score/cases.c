/* Which phantoms are scored, and the chain's tools on them (score.h). */
#include "score/score.h"

#include "base/file.h"
#include "io/stack.h"
#include "judge/judge.h"

#include <glob.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Ours: `talus-phantom` with these options. The first has the shared one's statistics by default;
 * the second is what a stage has not been tuned to. */
static const struct {
  const char *suffix, *options;
} ours[] = {
    {"", "--seed=1"},
    {"_facets", "--seed=2 --facets --roughness-voxels=0.3 --d50-voxels=26"},
};
enum { OURS = sizeof ours / sizeof *ours };

static const char *keep(const char *format, ...) __attribute__((format(printf, 1, 2)));
static const char *keep(const char *format, ...) {
  static char text[8][2048];
  static int turn;
  turn = (turn + 1) % 8;
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

/* ---- the phantoms ---- */

static const char *phantom_folder(int which) {
  return keep("%s", judge_path(keep("phantom%s", ours[which].suffix)));
}

bool score_next(ScorePhantom *phantom) {
  static int next;
  const char *given = getenv("TALUS_PHANTOM");
  if (next) score_phantom_free(phantom);
  int which = next++;
  if (which < OURS) {
    const char *folder = phantom_folder(which);
    score_tool("talus-phantom --folder -o '%s' --overwrite %s", folder, ours[which].options);
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

static const char *tools(void) {
  const char *bin = getenv("BIN");
  return bin && *bin ? bin : "build/bin";
}

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
  return keep("%s",
              judge_path(keep("%s_%s%s.tif", product, score_noise_name(noise), phantom->suffix)));
}

/* Makes a product by `tool input -o product` unless this run has made it. */
static const char *product(const ScorePhantom *phantom, int noise, const char *name,
                           const char *tool, const char *input) {
  static char made[64][1200];
  static int count;
  const char *path = score_product_path(phantom, noise, name);
  for (int i = 0; i < count; i++)
    if (!strcmp(made[i], path)) return path;
  score_tool("%s '%s' -o '%s' --overwrite", tool, input, path);
  if (count < 64) snprintf(made[count++], sizeof made[0], "%s", path);
  return path;
}

static const char *denoised(const ScorePhantom *p, int noise) {
  return product(p, noise, "denoised", "talus-denoise",
                 score_stack_path(p, score_noise_name(noise)));
}
static const char *mask(const ScorePhantom *p, int noise) {
  return product(p, noise, "mask", "talus-binarize", denoised(p, noise));
}
static const char *labels(const ScorePhantom *p, int noise) {
  return product(p, noise, "labels", "talus-label", mask(p, noise));
}

static void read_as(const char *path, TlVoxelType type, TlVolume *volume) {
  JUDGE_OK(tl_stack_read(path, &(TlStackOptions){0}, NULL, volume));
  if (volume->type != type)
    judge_ok(
        tl_fail(TL_EINPUT, "%s voxels, not %s", tl_voxel_name(volume->type), tl_voxel_name(type)),
        path);
}

void score_denoised(const ScorePhantom *phantom, int noise, TlVolume *stack) {
  read_as(denoised(phantom, noise), TL_U16, stack);
}
void score_mask(const ScorePhantom *phantom, int noise, TlVolume *volume) {
  read_as(mask(phantom, noise), TL_U8, volume);
}
void score_labelled(const ScorePhantom *phantom, int noise, TlVolume *volume) {
  read_as(labels(phantom, noise), TL_U32, volume);
}
