#include "post/report_scan.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/yaml_tree.h"
#include "io/image.h"
#include "io/stack.h"
#include "post/export_catalog.h"
#include "post/measure_grading.h"
#include "post/slice.h"
#include "post/report_chart.h"
#include "post/report_page.h"
#include "post/report_run.h"
#include "store/catalog.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { STAGES_MAX = 8, BINS = 128, WIDEST = 1250, PANEL = 250 };
static const double fov_deg = 32;

typedef struct Scan {
  const TlReportOptions *options;
  char *catalog_path, *folder; /* owned */
  TlCatalog *catalog;
  TlGrainRow *row; /* [count] owned */
  int64_t count;
  TlQuality *quality;      /* [count] owned */
  TlDescriptors *form;     /* [count] owned */
  bool *judged;            /* [count] owned */
  char *history;           /* owned */
  char *stack[STAGES_MAX]; /* paths of the stages, owned */
  int stacks;
  TlScene scene; /* the avatars */
  TlReportMotion motion;
} Scan;

bool tl_scan_is_catalog(const char *path) {
  struct stat s;
  char head[16] = "";
  if (stat(path, &s) != 0 || !S_ISREG(s.st_mode)) return false;
  FILE *f = fopen(path, "rb");
  bool is = f && fread(head, 1, sizeof head, f) == sizeof head &&
            memcmp(head, "SQLite format 3", 16) == 0;
  if (f) fclose(f);
  return is;
}

static void release(Scan *s) {
  tl_catalog_close(s->catalog);
  tl_free(s->catalog_path);
  tl_free(s->folder);
  tl_free(s->row);
  tl_free(s->quality);
  tl_free(s->form);
  tl_free(s->judged);
  tl_free(s->history);
  for (int i = 0; i < s->stacks; i++) tl_free(s->stack[i]);
  tl_scene_free(&s->scene);
  tl_report_motion_free(&s->motion);
}

/* ---- reading ---- */

static TlStatus load_grains(Scan *s) {
  TlGrainQuery query = {.with_border = true, .with_rejected = true};
  TL_TRY(tl_export_ids(s->catalog, &query, &s->row, &s->count));
  size_t n = (size_t)s->count;
  TL_TRY(TL_NEW(s->quality, n));
  TL_TRY(TL_NEW(s->form, n));
  TL_TRY(TL_NEW(s->judged, n));
  TL_TRY(TL_NEW(s->scene.avatars, n));
  for (int64_t i = 0; i < s->count; i++) {
    TL_TRY(tl_catalog_load_avatar(s->catalog, s->row[i].id, &s->scene.avatars[i]));
    s->scene.avatar_count = i + 1;
    TL_TRY(
        tl_catalog_get_check(s->catalog, s->row[i].id, &s->quality[i], &s->form[i], &s->judged[i]));
  }
  s->scene.grain_scale = 1;
  s->scene.title = tl_strdup("");
  return s->scene.title ? TL_OK : TL_ENOMEM;
}

/* One frame: the grains where they lay. */
static TlStatus place_grains(Scan *s) {
  TlReportMotion *m = &s->motion;
  size_t n = (size_t)s->count;
  *m = (TlReportMotion){.frames = 1, .bodies = s->count, .turning = s->count};
  TL_TRY(TL_NEW(m->index, 1));
  TL_TRY(TL_NEW(m->time_s, 1));
  TL_TRY(TL_NEW(m->id, n));
  TL_TRY(TL_NEW(m->shape, n));
  TL_TRY(TL_NEW(m->flags, n));
  TL_TRY(TL_NEW(m->scale, n));
  TL_TRY(TL_NEW(m->there, n));
  TL_TRY(TL_NEW(m->place_m, n));
  TL_TRY(TL_NEW(m->turn, n));
  TL_TRY(TL_NEW(m->speed_m_s, n));
  for (int64_t i = 0; i < s->count; i++) {
    m->id[i] = s->row[i].id;
    m->shape[i] = (int32_t)i;
    m->scale[i] = 1;
    m->there[i] = true;
    m->place_m[i] = s->row[i].scan_centroid_m;
    m->turn[i] = s->row[i].scan_rotation;
  }
  return TL_OK;
}

static TlStatus add_stack(Scan *s, char *path) {
  if (!path) return TL_ENOMEM;
  if (s->stacks < STAGES_MAX && tl_file_exists(path))
    s->stack[s->stacks++] = path;
  else
    tl_free(path);
  return TL_OK;
}

/* The stack that the first stage read, where it still lies there. */
static TlStatus add_raw(Scan *s) {
  TlYamlNode root = {0};
  TlStatus status = tl_yaml_parse("provenance", s->history, strlen(s->history), &root);
  for (size_t i = 0; status == TL_OK && i < root.count && s->stacks == 0; i++) {
    const TlYamlNode *tool = tl_yaml_find(&root.children[i], "tool"),
                     *inputs = tl_yaml_find(&root.children[i], "inputs");
    if (!tool || !tool->text || strcmp(tool->text, "talus-denoise") != 0) continue;
    const TlYamlNode *path = inputs && inputs->kind == TL_YAML_LIST && inputs->count == 1
                                 ? tl_yaml_find(&inputs->children[0], "path")
                                 : NULL;
    if (!path || !path->text) continue;
    status = add_stack(s, tl_strdup(path->text));
    const char *name = strrchr(path->text, '/');
    if (status == TL_OK && s->stacks == 0) /* a path from another folder than this program's */
      status = add_stack(s, tl_path_join(s->folder, name ? name + 1 : path->text));
  }
  tl_yaml_free(&root);
  return status == TL_ENOMEM ? status : TL_OK;
}

static TlStatus find_stacks(Scan *s) {
  static const char *const usual[] = {"denoised.h5", "mask.h5", "labels.h5"};
  for (int64_t i = 0; i < s->options->stacks; i++) {
    if (i == STAGES_MAX) return tl_fail(TL_EUSAGE, "--stack: at most %d stages", STAGES_MAX);
    if (!tl_file_exists(s->options->stack[i]))
      return tl_fail(TL_EIO, "--stack=%s: there is no such file", s->options->stack[i]);
    TL_TRY(add_stack(s, tl_strdup(s->options->stack[i])));
  }
  if (s->options->stacks > 0) return TL_OK;
  TL_TRY(add_raw(s));
  for (int i = 0; i < 3; i++) TL_TRY(add_stack(s, tl_path_join(s->folder, usual[i])));
  if (s->stacks < 2)
    tl_log_info("%s: no stacks beside it, so the report has no slices; --stack names them",
                s->catalog_path);
  return TL_OK;
}

static TlStatus open_scan(Scan *s, const char *path) {
  bool file = tl_scan_is_catalog(path);
  s->catalog_path = file ? tl_strdup(path) : tl_path_join(path, "catalog.tals");
  s->folder = file ? tl_path_directory(path) : tl_strdup(path);
  if (!s->catalog_path || !s->folder) return TL_ENOMEM;
  TL_TRY(tl_catalog_open(&s->catalog, s->catalog_path, TL_CATALOG_READ));
  TL_TRY(tl_catalog_history(s->catalog, &s->history));
  TL_TRY(load_grains(s));
  if (s->count == 0) return tl_fail(TL_EINPUT, "%s: holds no grain", s->catalog_path);
  TL_TRY(place_grains(s));
  return find_stacks(s);
}

/* ---- slices and histograms of the stages ---- */

static TlStatus halve(TlImage *image) {
  TlImage small;
  TL_TRY(tl_image_new(&small, image->width / 2, image->height / 2));
  for (int y = 0; y < small.height; y++)
    for (int x = 0; x < small.width; x++)
      for (int c = 0; c < 3; c++) {
        const uint8_t *p =
            image->rgb + 3 * ((size_t)(2 * y) * (size_t)image->width + 2 * (size_t)x) + c;
        size_t down = 3 * (size_t)image->width;
        small.rgb[3 * ((size_t)y * (size_t)small.width + (size_t)x) + (size_t)c] =
            (uint8_t)((p[0] + p[3] + p[down] + p[down + 3] + 2) / 4);
      }
  tl_image_free(image);
  *image = small;
  return TL_OK;
}

static TlStatus put_picture(TlHtml *to, TlImage *image, const char *alt) {
  uint8_t *jpeg;
  size_t size;
  while (image->width > WIDEST) TL_TRY(halve(image));
  TL_TRY(tl_image_jpeg(image, 86, &jpeg, &size));
  tl_html(to, "<img class=\"slice\" width=\"%d\" height=\"%d\" alt=\"", image->width,
          image->height);
  tl_html_text(to, alt);
  tl_html(to, "\" src=\"data:image/jpeg;base64,");
  tl_html_base64(to, jpeg, size);
  tl_html(to, "\">");
  tl_free(jpeg);
  return TL_OK;
}

static TlStatus put_stage(TlHtml *to, const char *from, const char *until) {
  TlLayers before = {0}, after = {0};
  TlImage image = {0};
  TlStatus status = tl_stack_open(from, NULL, NULL, &before);
  if (status == TL_OK) status = tl_stack_open(until, NULL, NULL, &after);
  if (status == TL_OK) status = tl_preview_draw(&before, &after, PANEL, &image);
  if (status == TL_OK) {
    tl_html(to, "<figure><h3><code>");
    tl_html_text(to, from);
    tl_html(to, "</code> → <code>");
    tl_html_text(to, until);
    tl_html(to, "</code></h3>");
    status = put_picture(to, &image, "Three slices before and after the stage");
    bool alike = before.head.type == after.head.type && after.head.type != TL_U32;
    tl_html(to, "<figcaption>The three middle slices, %lld x %lld x %lld voxels",
            (long long)before.head.nx, (long long)before.head.ny, (long long)before.head.nz);
    if (before.head.voxel_m[0] > 0)
      tl_html(to, " of %.6g x %.6g x %.6g µm", 1e6 * before.head.voxel_m[0],
              1e6 * before.head.voxel_m[1], 1e6 * before.head.voxel_m[2]);
    tl_html(to, "; left before, middle after, right %s.</figcaption></figure>\n",
            alike ? "the difference (grey: none, darker: less)"
                  : "the slice before with the borders after in colour");
  }
  tl_image_free(&image);
  tl_layers_close(&before);
  tl_layers_close(&after);
  return status;
}

/* Histogram of a grey stack, over its range; bins as percentages of all voxels. */
static TlStatus grey_histogram(TlLayers *stack, double x[BINS], double fraction[BINS]) {
  double low = INFINITY, high = -INFINITY;
  int64_t total = 0;
  for (int b = 0; b < BINS; b++) fraction[b] = 0;
  for (int pass = 0; pass < 2; pass++)
    for (int64_t z = 0; z < stack->head.nz; z++) {
      TlVolume layer = {0};
      TL_TRY(tl_layers_grey(stack, z, 1, &layer));
      for (int64_t i = 0; i < tl_volume_count(&layer); i++) {
        double v = layer.f32[i];
        if (pass == 0) {
          low = fmin(low, v);
          high = fmax(high, v);
          total++;
        } else {
          int b = high > low ? (int)((v - low) / (high - low) * BINS) : 0;
          fraction[b < BINS ? b : BINS - 1] += 100 / (double)total;
        }
      }
      tl_volume_free(&layer);
    }
  for (int b = 0; b < BINS; b++) x[b] = low + (b + 0.5) * (high - low) / BINS;
  return TL_OK;
}

/* A mask has two values, labels are wide numbers. */
static bool is_grey(const TlLayers *stack, const double fraction[BINS]) {
  int values = 0;
  for (int b = 0; b < BINS; b++) values += fraction[b] > 0;
  return stack->head.type != TL_U32 && values > 2;
}

static TlStatus put_histograms(TlHtml *to, const Scan *s) {
  double(*x)[BINS], (*y)[BINS];
  TlCurve curve[STAGES_MAX];
  int curves = 0;
  TL_TRY(TL_NEW(x, STAGES_MAX));
  TlStatus status = TL_NEW(y, STAGES_MAX);
  for (int i = 0; i < s->stacks && i < 2 && status == TL_OK; i++) {
    TlLayers stack = {0};
    status = tl_stack_open(s->stack[i], NULL, NULL, &stack);
    if (status == TL_OK) status = grey_histogram(&stack, x[curves], y[curves]);
    if (status == TL_OK && is_grey(&stack, y[curves])) {
      curve[curves] = (TlCurve){
          .label = s->stack[i], .colour = i, .count = BINS, .x = x[curves], .y = y[curves]};
      curves++;
    }
    tl_layers_close(&stack);
  }
  TlChart chart = {.title = "Grey levels",
                   .x_label = "grey level",
                   .y_label = "voxels [%]",
                   .note = "Of the whole stack, in 128 bins over its range. A wide valley between "
                           "the two peaks makes the threshold safe.",
                   .from_zero = true,
                   .run = -1,
                   .mark = NAN};
  if (status == TL_OK) tl_chart(to, &chart, curve, curves);
  tl_free(x);
  tl_free(y);
  return status;
}

/* ---- grading, form, residuals ---- */

static TlStatus put_grading(TlHtml *to, const Scan *s, TlHtml *table) {
  double *size[2] = {0}, *volume = NULL;
  TlGrading g[2] = {0};
  double *x[2] = {0}, *y[2] = {0};
  TlCurve curve[2];
  int64_t n = 0;
  TlStatus status = TL_NEW(volume, (size_t)s->count);
  for (int k = 0; k < 2 && status == TL_OK; k++) status = TL_NEW(size[k], (size_t)s->count);
  for (int64_t i = 0; i < s->count && status == TL_OK; i++) {
    if (s->row[i].border) continue;
    size[0][n] = tl_grain_diameter_m(&s->row[i]);
    size[1][n] = s->row[i].axes_m[1];
    volume[n++] = s->row[i].volume_m3;
  }
  static const char *const name[] = {"diameter of the sphere of equal volume",
                                     "intermediate axis (the sieve a grain just passes)"};
  for (int k = 0; k < 2 && status == TL_OK && n > 0; k++) {
    status = tl_grading_make(size[k], volume, n, &g[k]);
    if (status == TL_OK) status = TL_NEW(x[k], (size_t)g[k].count);
    if (status == TL_OK) status = TL_NEW(y[k], (size_t)g[k].count);
    for (int64_t i = 0; status == TL_OK && i < g[k].count; i++) {
      x[k][i] = 1e3 * g[k].size_m[i];
      y[k][i] = 100 * g[k].finer[i];
    }
    curve[k] = (TlCurve){.label = name[k], .colour = k, .count = g[k].count, .x = x[k], .y = y[k]};
  }
  if (status == TL_OK && n > 0) {
    TlChart chart = {.title = "Grading",
                     .x_label = "size [mm]",
                     .y_label = "finer by volume [%]",
                     .note = "Grains cut by the scan's border are left out.",
                     .x_log = true,
                     .y_low = 0,
                     .y_high = 100,
                     .run = -1,
                     .mark = NAN};
    tl_chart(to, &chart, curve, 2);
    static const double fraction[] = {0.1, 0.3, 0.5, 0.6, 0.9};
    for (int k = 0; k < 2; k++) {
      char text[40];
      tl_html(table, "<tr><td>%s</td>", name[k]);
      for (int q = 0; q < 5; q++) {
        tl_html_value(text, 1e3 * tl_grading_size(&g[k], fraction[q]));
        tl_html(table, "<td class=\"n\">%s</td>", text);
      }
      double d10 = tl_grading_size(&g[k], 0.1), d30 = tl_grading_size(&g[k], 0.3),
             d60 = tl_grading_size(&g[k], 0.6);
      tl_html(table, "<td class=\"n\">%.2f</td><td class=\"n\">%.2f</td></tr>\n", d60 / d10,
              d30 * d30 / (d10 * d60));
    }
  }
  for (int k = 0; k < 2; k++) {
    tl_free(size[k]);
    tl_free(x[k]);
    tl_free(y[k]);
    tl_grading_free(&g[k]);
  }
  tl_free(volume);
  return status;
}

typedef struct Measure {
  const char *title, *x_label, *note;
  size_t at;
  bool of_form; /* of the descriptors, else of the residuals */
  double factor, low, high, limit;
  const char *limit_name;
} Measure;

#define FORM(member) offsetof(TlDescriptors, member), true
#define RESIDUAL(member) offsetof(TlQuality, member), false
static const Measure forms[] = {
    {"Elongation b/a", "b/a",
     "Axes a ≥ b ≥ c: extents along the principal axes. 1: as broad as "
     "long.",
     FORM(elongation), 1, 0, 1, NAN, NULL},
    {"Flatness c/b", "c/b", "1: as thick as broad.", FORM(flatness), 1, 0, 1, NAN, NULL},
    {"Sphericity (Wadell)", "sphericity",
     "Area of the sphere of equal volume over the grain's "
     "area; 1: a sphere.",
     FORM(sphericity), 1, 0.5, 1, NAN, NULL},
    {"Roundness", "roundness",
     "Share of the surface that is no sharper than the largest inscribed "
     "sphere (Hayakawa, Oguchi 2005); 1: a sphere.",
     FORM(roundness), 1, 0, 1, NAN, NULL},
    {"Convexity", "convexity", "Volume over that of the convex hull; 1: no hollows.",
     FORM(convexity), 1, 0.7, 1, NAN, NULL},
};
static const Measure residuals[] = {
    {"Slope of the distance field", "off by [%]", "Rms of | |grad phi| - 1 | near the surface.",
     RESIDUAL(gradient), 100, 0, 0, 10, "doubtful"},
    {"Volume two ways", "difference [%]", "From the nodes and from the distance field.",
     RESIDUAL(volume), 100, 0, 0, 5, "doubtful"},
    {"Overlap with neighbours", "deepest [cells]", "Where the grains lay in the scan.",
     RESIDUAL(overlap_depth), 1, 0, 0, 0.25, "doubtful"},
    {"Agreement with the label", "Dice [%]", "Of the grain and the label that it was made from.",
     RESIDUAL(agreement), 100, 0, 0, 90, "doubtful below"},
};

static TlStatus put_measure(TlHtml *to, const Scan *s, const Measure *m) {
  enum { SMALL = 24 };
  double *value, count[SMALL], low = INFINITY, high = -INFINITY;
  TL_TRY(TL_NEW(value, (size_t)s->count));
  for (int64_t i = 0; i < s->count; i++) {
    const char *of = m->of_form ? (const char *)&s->form[i] : (const char *)&s->quality[i];
    value[i] = NAN;
    if (!s->judged[i] || s->row[i].border) continue;
    memcpy(&value[i], of + m->at, sizeof *value);
    value[i] *= m->factor;
    if (!isfinite(value[i])) continue;
    low = fmin(low, value[i]);
    high = fmax(high, value[i]);
  }
  if (high >= low) {
    if (m->high > m->low) {
      low = fmin(low, m->low), high = fmax(high, m->high);
    } else if (isfinite(m->limit)) {
      low = fmin(low, fmin(m->limit, m->limit > 50 ? 100 : 0)), high = fmax(high, 1.1 * m->limit);
    }
    if (!(high > low)) high = low + 1;
    tl_chart_count(value, s->count, low, high, SMALL, count);
    TlChart chart = {.title = m->title,
                     .x_label = m->x_label,
                     .y_label = "grains",
                     .note = m->note,
                     .run = -1,
                     .mark = m->limit,
                     .mark_label = m->limit_name};
    tl_chart_bars(to, &chart, count, SMALL, low, (high - low) / SMALL);
  }
  tl_free(value);
  return TL_OK;
}

static TlStatus put_zingg(TlHtml *to, const Scan *s) {
  double *x, *y;
  TL_TRY(TL_NEW(x, (size_t)s->count));
  TlStatus status = TL_NEW(y, (size_t)s->count);
  for (int64_t i = 0; i < s->count && status == TL_OK; i++) {
    const double *a = s->row[i].axes_m;
    x[i] = s->row[i].border ? NAN : a[2] / a[1];
    y[i] = a[1] / a[0];
  }
  TlChart chart = {.title = "Form (Zingg)",
                   .x_label = "flatness c/b",
                   .y_label = "elongation b/a",
                   .note = "Above 2/3 in both: compact; low c/b: flat; low b/a: rod.",
                   .run = -1,
                   .mark = NAN};
  TlCurve dots = {.dots = true, .count = s->count, .x = x, .y = y};
  if (status == TL_OK) tl_chart(to, &chart, &dots, 1);
  tl_free(x);
  tl_free(y);
  return status;
}

static void put_doubtful(TlHtml *to, const Scan *s) {
  int64_t shown = 0;
  tl_html(to, "<details><summary>Grains that are doubtful or rejected, and why</summary><div "
              "class=\"wide\"><table><thead><tr><th>grain</th><th>label in the scan</th><th>"
              "diameter, mm</th><th>verdict</th><th>reason</th></tr></thead><tbody>\n");
  for (int64_t i = 0; i < s->count; i++) {
    char text[40];
    if (!s->judged[i] || s->quality[i].verdict == TL_GOOD) continue;
    if (++shown > 500) continue;
    tl_html_value(text, 1e3 * tl_grain_diameter_m(&s->row[i]));
    tl_html(to,
            "<tr><td class=\"n\">%lld</td><td class=\"n\">%lld</td><td class=\"n\">%s</td>"
            "<td>%s</td><td>",
            (long long)s->row[i].id, (long long)s->row[i].label, text,
            tl_verdict_name(s->quality[i].verdict));
    tl_html_text(to, s->quality[i].reason);
    tl_html(to, "</td></tr>\n");
  }
  tl_html(to, "</tbody></table></div>%s%s</details>\n", shown == 0 ? "<p>None.</p>" : "",
          shown > 500 ? "<p>The first 500 of them are listed; talus-catalog export --format=csv "
                        "lists all.</p>"
                      : "");
}

/* ---- the page ---- */

static int64_t put_warnings(TlHtml *to, const Scan *s) {
  int64_t of[3] = {0, 0, 0}, border = 0, small = 0, warnings = 0;
  TlHtml items = {0};
  for (int64_t i = 0; i < s->count; i++) {
    if (s->judged[i]) of[s->quality[i].verdict]++;
    border += s->row[i].border;
    small += !s->row[i].border && tl_grain_diameter_m(&s->row[i]) < 10 * s->row[i].spacing_m;
  }
  if (of[TL_DOUBTFUL] + of[TL_REJECTED] > 0 && ++warnings)
    tl_html(&items,
            "<li>%lld grains are doubtful and %lld rejected by their residuals; the solver "
            "leaves rejected ones out. They are listed below.</li>",
            (long long)of[TL_DOUBTFUL], (long long)of[TL_REJECTED]);
  if (border > 0 && ++warnings)
    tl_html(&items,
            "<li>%lld of %lld grains are cut by the border of the scan or of its region: "
            "their shapes are not whole, and grading and form leave them out.</li>",
            (long long)border, (long long)s->count);
  if (small > 0 && ++warnings)
    tl_html(&items,
            "<li>%lld grains are less than 10 cells of their grid across: their form, "
            "roundness above all, is that of the resolution.</li>",
            (long long)small);
  if (s->count - border < 100 && ++warnings)
    tl_html(&items,
            "<li>%lld whole grains are few for a grading: one large grain moves D60 and "
            "above.</li>",
            (long long)(s->count - border));
  if (strstr(s->history, "-dirty\"") && ++warnings)
    tl_html(&items, "<li>A program behind this catalog was built from changed sources (its commit "
                    "ends in -dirty), so the commit alone does not tell what ran.</li>");
  tl_html(to, "<section class=\"warnings%s\"><h2>%s</h2><ul>", warnings ? "" : " none",
          warnings ? "What not to trust" : "No warnings");
  tl_html_add(to, &items);
  tl_html(to, "</ul></section>\n");
  tl_html_free(&items);
  return warnings;
}

static TlStatus put_body(TlHtml *to, const Scan *s) {
  TlHtml table = {0};
  tl_html(to, "<h2 id=\"slices\">Slices before and after each stage</h2>\n");
  if (s->stacks < 2)
    tl_html(to, "<p>The stacks do not lie beside the catalog; talus-report --stack=FILE for each "
                "stage, in order, shows them.</p>\n");
  for (int i = 0; i + 1 < s->stacks; i++) TL_TRY(put_stage(to, s->stack[i], s->stack[i + 1]));
  tl_html(to, "<h2 id=\"plots\">Grey levels, grading, form</h2>\n<div class=\"charts\">\n");
  TL_TRY(put_histograms(to, s));
  TlStatus status = put_grading(to, s, &table);
  TL_TRY(status);
  TL_TRY(put_zingg(to, s));
  for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) TL_TRY(put_measure(to, s, &forms[k]));
  tl_html(to, "</div>\n<div class=\"wide\"><table><thead><tr><th>size</th><th "
              "class=\"n\">D10, mm</th><th class=\"n\">D30</th><th class=\"n\">D50</th><th "
              "class=\"n\">D60</th><th class=\"n\">D90</th><th class=\"n\">Cu = D60/D10</th><th "
              "class=\"n\">Cc = D30²/(D10 D60)</th></tr></thead><tbody>\n");
  tl_html_add(to, &table);
  tl_html(to, "</tbody></table></div>\n");
  tl_html_free(&table);
  tl_html(to, "<h2 id=\"residuals\">Residuals of the avatars</h2>\n<p>How far a grain's level set "
              "agrees with itself, with its neighbours and with the scan.</p>\n<div "
              "class=\"charts\">\n");
  for (size_t k = 0; k < sizeof residuals / sizeof *residuals; k++)
    TL_TRY(put_measure(to, s, &residuals[k]));
  tl_html(to, "</div>\n");
  put_doubtful(to, s);
  tl_html(to, "<h2 id=\"what\">What ran</h2>\n");
  TL_TRY(tl_report_run_provenance(to, s->history, NULL));
  return to->status;
}

static TlStatus view_of(const Scan *s, TlFrame *frame, TlCamera *camera) {
  TlRenderPath path = {0};
  TL_TRY(TL_NEW(frame->rows, (size_t)s->count));
  frame->count = s->count;
  for (int64_t i = 0; i < s->count; i++)
    frame->rows[i] = (TlBodyRow){.id = s->row[i].id,
                                 .avatar_id = s->row[i].id,
                                 .scale = 1,
                                 .position_m = s->row[i].scan_centroid_m,
                                 .rotation = s->row[i].scan_rotation};
  TlStatus status = tl_render_path_add(&path, &s->scene, frame);
  if (status == TL_OK)
    status = tl_camera_automatic(&s->scene, &path, true, fov_deg, TL_STILL_WIDTH, TL_STILL_HEIGHT,
                                 camera);
  tl_render_path_free(&path);
  return status;
}

/* Coarser surfaces until they fit. */
static TlStatus pack(const Scan *s, const TlCamera *camera, double budget, TlHtml *head,
                     TlReportData *data, TlReportSize *size) {
  static const int32_t cells[][TL_PLAYBACK_LEVELS] = {
      {18, 10, 5}, {14, 8, 5}, {10, 7, 5}, {8, 6, 4}, {6, 5, 4}};
  double *value[3] = {0};
  TlStatus status = TL_OK;
  for (int k = 0; k < 3 && status == TL_OK; k++) status = TL_NEW(value[k], (size_t)s->count);
  double deepest = 0;
  for (int64_t i = 0; i < s->count && status == TL_OK; i++) {
    value[0][i] = s->judged[i] ? (double)s->quality[i].verdict : NAN;
    value[1][i] = s->judged[i] ? s->form[i].sphericity : NAN;
    value[2][i] = s->judged[i] ? s->quality[i].overlap_depth : NAN;
    if (isfinite(value[2][i])) deepest = fmax(deepest, value[2][i]);
  }
  const TlPlaybackField field[] = {
      {"verdict", "verdict", "", "0 good, 1 doubtful, 2 rejected; grey: not judged", value[0], 2},
      {"sphericity", "sphericity", "", "1: a sphere", value[1], 1},
      {"overlap", "overlap", "cells", "deepest with a neighbour in the scan", value[2],
       deepest > 0 ? deepest : 1}};
  TlPlayback how = {.scene = &s->scene,
                    .motion = &s->motion,
                    .label = s->catalog_path,
                    .stride = 1,
                    .camera = *camera,
                    .fov_deg = fov_deg,
                    .moment = "grains where they lay in the scan",
                    .field = field,
                    .fields = 3};
  size->frame_every = 1;
  double bytes = 0;
  for (size_t k = 0; k < sizeof cells / sizeof *cells && status == TL_OK; k++) {
    tl_html_free(head);
    tl_data_free(data);
    memcpy(how.cells, cells[k], sizeof how.cells);
    how.most_error = k == 0 ? 0.005 : 0;
    size->cells = cells[k][0];
    status = tl_playback_pack(&how, head, data);
    bytes = (double)head->size + 4.0 / 3 * (double)data->packed_size;
    if (bytes <= budget) break;
  }
  for (int k = 0; k < 3; k++) tl_free(value[k]);
  if (status == TL_OK && bytes > budget)
    status = tl_fail(TL_EUSAGE,
                     "--max-mb=%g: pictures and tables leave %.2f MB for the grains, which take "
                     "%.2f MB with the coarsest surfaces; give more",
                     s->options->max_mb, fmax(0, budget) / 1e6, bytes / 1e6);
  return status;
}

static TlStatus write_scan(Scan *s, TlHtml *page, TlReportSize *size) {
  TlFrame frame = {0};
  TlCamera camera;
  TlHtml line = {0}, body = {0}, player = {0}, head = {0};
  TlReportData data = {0};
  tl_html(&line, "Scan: <code>");
  tl_html_text(&line, s->catalog_path);
  tl_html(&line, "</code>, %lld grains", (long long)s->count);
  tl_page_begin(page, s->options->title ? s->options->title : "Grains of a scan", &line);
  size->warnings = put_warnings(page, s);
  tl_html(page, "<nav><ul><li><a href=\"#playback\">Grains in 3-D</a></li><li><a "
                "href=\"#slices\">Slices</a></li><li><a href=\"#plots\">Plots</a></li><li><a "
                "href=\"#residuals\">Residuals</a></li><li><a href=\"#what\">What ran</a></li>"
                "</ul></nav>\n<h2 id=\"playback\">Grains in 3-D</h2>\n");
  TlStatus status = view_of(s, &frame, &camera);
  if (status == TL_OK)
    status = tl_page_player(
        &player, &(TlPageStill){.scene = &s->scene, .frame = &frame, .camera = &camera}, 1, NULL);
  if (status == TL_OK) status = put_body(&body, s);
  double budget = 1e6 * s->options->max_mb - (double)tl_page_end_bytes(1) - 800 -
                  (double)page->size - (double)body.size - (double)player.size;
  if (status == TL_OK) status = pack(s, &camera, budget, &head, &data, size);
  if (status == TL_OK) {
    tl_html_add(page, &player);
    tl_html(page,
            "<p class=\"small\">Surfaces follow the level sets, drawn with %d cells along a "
            "grain's longest axis. Axes are those of the scan.</p>\n",
            (int)size->cells);
    tl_html_add(page, &body);
    tl_page_end(page, &head, &data, 1);
    status = page->status;
  }
  tl_frame_free(&frame);
  tl_html_free(&line);
  tl_html_free(&body);
  tl_html_free(&player);
  tl_html_free(&head);
  tl_data_free(&data);
  return status;
}

TlStatus tl_report_scan(const char *path, const TlReportOptions *options, TlHtml *page,
                        TlReportSize *size) {
  Scan s = {.options = options};
  TlStatus status = open_scan(&s, path);
  if (status == TL_OK) status = write_scan(&s, page, size);
  release(&s);
  return status;
}
