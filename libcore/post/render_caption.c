#include "post/render.h"

#include "base/mem.h"
#include "post/ensemble_scene.h"
#include "post/ink.h"
#include "post/measure.h"
#include "post/render_colour.h"
#include "post/study_label.h"
#include "shape/rock.h"
#include "store/scene_depth.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const TlInk white = {255, 255, 255, 1}, grey = {205, 208, 212, 1}, dark = {22, 25, 29, 0.72};

/* Picture metrics: everything follows the size of the small text. */
typedef struct Layout {
  double text, pad, strip; /* height of small capitals, padding, height of the bottom strip */
} Layout;

static double metres_a_pixel(const TlImage *image, const TlCamera *camera) {
  return 2 * camera->focus_m * camera->tan_x / image->width;
}

static Layout layout_of(const TlImage *image) {
  Layout l;
  l.text = fmax(7, fmin(image->width / 110.0, image->height / 65.0));
  l.pad = 1.3 * l.text;
  l.strip = 5.4 * l.text;
  return l;
}

/* Cut with "..." to fit the width. */
static void fitted_text(TlImage *image, double x, double y, double size, const char *text,
                        double width, TlInk ink) {
  char copy[512];
  snprintf(copy, sizeof copy, "%s", text);
  size_t n = strlen(copy);
  while (n > 4 && tl_ink_text_width(copy, size) > width) {
    n--;
    snprintf(copy + n - 3, 4, "...");
  }
  tl_ink_text(image, x, y, size, copy, ink);
}

/* ---- what of the frame is drawn ---- */

enum { LINE = TL_RENDER_DESCRIPTION, MOST_LINES = 4 };

static void add(char line[LINE], const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What does not fit is left out at the end. */
static void add(char line[LINE], const char *format, ...) {
  size_t used = strlen(line);
  va_list list;
  va_start(list, format);
  vsnprintf(line + used, LINE - used, format, list);
  va_end(list);
}

/* Of an ensemble: densities that are not of rock. */
static TlStatus describe_density(const TlScene *scene, const TlFrame *frame, char line[LINE]) {
  double least = INFINITY, most = 0, density;
  for (int64_t i = 0; i < frame->count; i++) {
    TL_TRY(tl_scene_density(scene, &frame->rows[i], &density));
    least = fmin(least, density);
    most = fmax(most, density);
  }
  if (frame->count == 0 || (least >= TL_ROCK_LEAST_KG_M3 && most <= TL_ROCK_MOST_KG_M3))
    return TL_OK;
  if (most > least)
    add(line, ", %.4g to %.4g kg/m3", least, most);
  else
    add(line, ", %.4g kg/m3", least);
  return TL_OK;
}

static TlStatus describe_motion(const TlScene *scene, const TlFrame *frame, char line[LINE]) {
  TlFrameMotion motion;
  if (frame->step == 0) return TL_OK; /* let go just now: they stand still, but not at rest */
  TL_TRY(tl_measure_motion(scene, frame, tl_measure_still(scene), &motion));
  if (motion.bodies == 0) return TL_OK;
  if (motion.at_rest)
    add(line, ", at rest (mean %.2g m/s)", motion.mean_speed_m_s);
  else
    add(line, ", %.3g%% of the mass moves, mean %.2g m/s", 100 * motion.moving_fraction,
        motion.mean_speed_m_s);
  return TL_OK;
}

TlStatus tl_render_describe(const TlScene *scene, const TlFrame *frame, const TlRenderOptions *o,
                            char line[LINE]) {
  int64_t grains = 0, gone = 0, filled = 0, unresolved = 0;
  TlDepths depths = {0};
  for (int64_t i = 0; i < frame->count; i++) {
    const TlBodyRow *row = &frame->rows[i];
    if (row->flags & TL_ROW_NO_GRAIN) continue;
    grains += !o->blocks || row->body == row->id; /* a block of several parts is one */
    unresolved += (row->flags & (TL_ROW_UNRESOLVED | TL_ROW_EMBEDDED)) != 0;
    filled += scene->has_terrain && tl_terrain_filled(&scene->terrain, row->position_m.x,
                                                      row->position_m.y) == TL_GROUND_FILLED;
  }
  int64_t left = o->departures ? tl_departures_until(o->departures, frame->step) : 0;
  for (int64_t i = 0; i < left; i++) gone += o->departures->row[i].removed;
  line[0] = 0;
  add(line, "%lld %s%s", (long long)grains, o->blocks ? "block" : "grain", grains == 1 ? "" : "s");
  if (tl_scene_blocks_together(scene) > 1)
    add(line, " of %.0f releases", tl_scene_number(scene, "ensemble", "count"));
  if (gone > 0) add(line, ", %lld gone", (long long)gone);
  if (o->not_started > 0) add(line, ", %lld never started", (long long)o->not_started);
  if (filled > 0) add(line, ", %lld over filled ground", (long long)filled);
  if (unresolved > 0) add(line, ", %lld unresolved", (long long)unresolved);
  if (!tl_scene_other_grounds(scene)) TL_TRY(tl_scene_depths(scene, frame, &depths));
  if (depths.deep > 0)
    add(line, ", %lld with penetration up to %.2g%% of the radius", (long long)depths.deep,
        100 * depths.fraction);
  if (o->blocks) TL_TRY(describe_density(scene, frame, line));
  if (scene->grain_scale != 1 && scene->grain_scale > 0)
    add(line, ", grains x %.6g", scene->grain_scale);
  if (scene->ranks_matter) add(line, ", not repeatable over ranks");
  if (o->enlarge > 0 && o->enlarge != 1) add(line, ", drawn x %.6g", o->enlarge);
  if (o->chains)
    add(line, ", %lld pairs, %lld chains", (long long)o->chains->pairs,
        (long long)o->chains->chains);
  if (o->cut) add(line, ", section");
  return describe_motion(scene, frame, line);
}

/* Cuts the text behind commas into lines that fit the width, as far as that goes; how many. A line
 * begins at *of[k] and ends with the next 0. */
static int fold(char text[LINE], double size, double width, const char *of[MOST_LINES]) {
  int lines = 0;
  for (char *from = text; from && lines < MOST_LINES;) {
    of[lines++] = from;
    char *cut = NULL;
    for (char *comma = strstr(from, ", "); comma && lines < MOST_LINES;) {
      comma[1] = 0;
      bool fits = tl_ink_text_width(from, size) <= width;
      comma[1] = ' ';
      if (!fits && cut) break;
      cut = comma;
      comma = strstr(comma + 2, ", ");
      if (!fits) break;
    }
    if (!cut || tl_ink_text_width(from, size) <= width) break;
    cut[1] = 0;
    from = cut + 2;
  }
  return lines;
}

TlStatus tl_render_title(const TlScene *scene, const char *folder, char **title) {
  if (scene->title && scene->title[0]) {
    *title = tl_strdup(scene->title);
    return *title ? TL_OK : TL_ENOMEM;
  }
  return tl_study_folder(folder ? folder : "run", title);
}

static TlStatus draw_title(TlImage *image, Layout l, const TlScene *scene, const TlFrame *frame,
                           const TlRenderOptions *o) {
  char line[LINE], moment[64];
  const char *of[MOST_LINES];
  double size = 1.35 * l.text, y = l.pad + size + 0.9 * l.pad, right;
  snprintf(moment, sizeof moment, "frame %lld, step %lld", (long long)frame->index,
           (long long)frame->step);
  right = tl_ink_text_width(moment, l.text);
  double width = fmax(0.4 * image->width, image->width - right - 4 * l.pad);
  TL_TRY(tl_render_describe(scene, frame, o, line));
  int lines = fold(line, l.text, width, of);
  tl_ink_box(image, 0, 0, image->width, y + l.text + (lines - 1) * 1.6 * l.text + l.pad, dark);
  for (int k = 0; k < lines; k++)
    fitted_text(image, l.pad, y + k * 1.6 * l.text, l.text, of[k], width, grey);
  tl_ink_text(image, image->width - l.pad - right, y, l.text, moment, grey);
  snprintf(moment, sizeof moment, "t = %.*f s", frame->time_s < 100 ? 2 : 1, frame->time_s);
  right = tl_ink_text_width(moment, size);
  char *title;
  TL_TRY(tl_render_title(scene, o->folder, &title));
  fitted_text(image, l.pad, l.pad, size, title, image->width - right - 4 * l.pad, white);
  tl_free(title);
  tl_ink_text(image, image->width - l.pad - right, l.pad, size, moment, white);
  return TL_OK;
}

/* Holds at the camera's focus, across the line of sight: perspective changes it elsewhere. */
static void draw_scale_bar(TlImage *image, Layout l, const TlCamera *camera, bool north_up) {
  double metres = metres_a_pixel(image, camera);
  double length = tl_ink_nice(0.22 * image->width * metres), pixels = length / metres;
  double x = l.pad, y = image->height - l.strip + l.pad + 1.75 * l.text;
  char text[32];
  tl_ink_length(length, text);
  tl_ink_text(image, x, image->height - l.strip + l.pad, l.text, text, white);
  double width = tl_ink_text_width(text, l.text);
  tl_ink_text(image, x + width + 0.6 * l.text, image->height - l.strip + l.pad, l.text,
              north_up ? "north is up" : "at the middle", grey);
  tl_ink_box(image, x, y, pixels, 0.45 * l.text, white);
  for (int k = 0; k < 2; k++)
    tl_ink_box(image, x + k * (pixels - 0.2 * l.text), y - 0.3 * l.text, 0.2 * l.text,
               1.05 * l.text, white);
}

typedef struct Legend {
  const char *what, *unit;
  double factor; /* shown = factor * SI */
} Legend;

static Legend legend_of(const TlRenderOptions *o) {
  static const Legend lengths[] = {
      {"grain diameter", "um", 1e6}, {"grain diameter", "mm", 1e3}, {"grain diameter", "m", 1}};
  switch (o->colour) {
  case TL_COLOUR_SPEED:
    return (Legend){"speed", "m/s", 1};
  case TL_COLOUR_SIZE:
    return lengths[o->high < 1e-3 ? 0 : o->high < 0.5 ? 1 : 2];
  case TL_COLOUR_HEIGHT:
    return (Legend){"height", "m", 1};
  case TL_COLOUR_ROTATION:
    return (Legend){"rotation since frame", "deg", 1};
  case TL_COLOUR_STRAIN:
    return (Legend){"local strain since frame", "1", 1};
  case TL_COLOUR_FORCE:
    return (Legend){"normal force", "N", 1};
  default:
    return (Legend){"", "", 1};
  }
}

/* Few ticks for wide numbers, so that they never touch. */
static double tick_step(double low, double high, double width, double size) {
  char text[32];
  snprintf(text, sizeof text, "%.6g", high);
  double labels = fmax(2, floor(width / (1.6 * tl_ink_text_width(text, size) + size)));
  double step = tl_ink_nice((high - low) / labels);
  while ((high - low) / step > labels) step = tl_ink_nice(2.6 * step);
  return step;
}

/* A name that is too long begins before the bar. */
static void name_legend(TlImage *image, double x, double y, double size, const TlRenderOptions *o) {
  Legend legend = legend_of(o);
  char text[96];
  if (o->colour == TL_COLOUR_ROTATION || o->colour == TL_COLOUR_STRAIN)
    snprintf(text, sizeof text, "%s %lld [%s]", legend.what, (long long)o->since, legend.unit);
  else
    snprintf(text, sizeof text, "%s [%s]%s", legend.what, legend.unit,
             o->chains ? "; grey: in no chain" : "");
  x = fmin(x, image->width - size - tl_ink_text_width(text, size));
  tl_ink_text(image, x, y, size, text, white);
}

/* A bar; of chains a wedge, as thick as a tube of that force is at the camera's focus. */
static double bar_height(const TlImage *image, Layout l, const TlCamera *camera,
                         const TlRenderOptions *o) {
  return o->chains ? o->chain_m / metres_a_pixel(image, camera) : 0.8 * l.text;
}

static void draw_bar(TlImage *image, double x, double y, double width, double height,
                     const TlRenderOptions *o) {
  for (int i = 0; i < (int)width; i++) {
    uint8_t c[3];
    double t = (i + 0.5) / width, part = o->chains ? t * height : height;
    tl_colour_to_bytes(tl_colour_map(t), c);
    tl_ink_box(image, x + i, y + height - part, 1, part, (TlInk){c[0], c[1], c[2], 1});
  }
}

static void draw_legend(TlImage *image, Layout l, const TlCamera *camera,
                        const TlRenderOptions *o) {
  double width = fmin(0.36 * image->width, 46 * l.text), x = image->width - 2 * l.pad - width;
  double top = image->height - l.strip + 0.8 * l.pad, y = top + 1.5 * l.text;
  double high = bar_height(image, l, camera, o);
  Legend legend = legend_of(o);
  char text[64];
  if (o->colour == TL_COLOUR_ID) {
    tl_ink_text(image, x, top, l.text, "colours tell the grains apart", grey);
    return;
  }
  if (o->colour == TL_COLOUR_AGGREGATE) {
    tl_ink_text(image, x, top, l.text, "one colour an aggregate; white: in none", grey);
    return;
  }
  name_legend(image, x, top, l.text, o);
  draw_bar(image, x, y, width, high, o);
  double low = legend.factor * o->low, up = legend.factor * o->high;
  double step = tick_step(low, up, width, 0.85 * l.text);
  for (double v = step * ceil(low / step - 1e-9); v <= up + 1e-9 * step; v += step) {
    double at = x + width * (v - low) / (up - low);
    snprintf(text, sizeof text, "%.6g", fabs(v) < 1e-9 * step ? 0 : v);
    tl_ink_box(image, at - 0.5, y + high, 1, 0.3 * l.text, white);
    double half = 0.5 * tl_ink_text_width(text, 0.85 * l.text);
    tl_ink_text(image, at - half, y + high + 0.5 * l.text, 0.85 * l.text, text, white);
  }
}

TlStatus tl_render_captions(TlImage *image, const TlScene *scene, const TlFrame *frame,
                            const TlCamera *camera, const TlRenderOptions *options) {
  Layout l = layout_of(image);
  l.strip += fmax(0, bar_height(image, l, camera, options) - 0.8 * l.text);
  tl_ink_box(image, 0, image->height - l.strip, image->width, l.strip, dark);
  TL_TRY(draw_title(image, l, scene, frame, options));
  draw_scale_bar(image, l, camera, options->north_up);
  draw_legend(image, l, camera, options);
  return TL_OK;
}
