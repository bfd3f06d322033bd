/* What the runout of an ensemble's blocks depends on, in its report: of the volume and of each number
 * that was drawn from a range of the study, from blocks.csv. A range is drawn for a release, so of
 * several blocks that start together the farthest and the strongest count. */
#include "post/report_run.h"

#include "base/file.h"
#include "base/mem.h"
#include "conf/yaml_tree.h"
#include "num/relation.h"
#include "post/ensemble_scene.h"
#include "post/report_chart.h"
#include "shape/fate.h"

#include <math.h>
#include <string.h>

/* Columns of blocks.csv that the study draws, in this order; how many. Their names lie in root. */
static int64_t drawn_columns(const TlScene *scene, const TlYamlNode *root, const char *name[],
                             int64_t most) {
  int64_t count = 0;
  const TlYamlNode *section = tl_yaml_find(root, "ensemble"),
                   *ranges = section ? tl_yaml_find(section, "ranges") : NULL;
  if (tl_scene_number(scene, "ensemble", "most_volume_m3") >
      tl_scene_number(scene, "ensemble", "least_volume_m3"))
    name[count++] = "volume_m3";
  for (size_t i = 0; ranges && i < ranges->count && count < most; i++) {
    const TlYamlNode *key = tl_yaml_find(&ranges->children[i], "key");
    if (key && key->text) name[count++] = key->text;
  }
  return count;
}

/* Of the blocks that have a runout, one by one or (release: a column) the largest of each release, whose rows
 * follow each other; how many. */
static TlStatus take_column(const TlTable *t, int column, int end, int release, double *value,
                            int64_t *n) {
  double before = NAN;
  *n = 0;
  for (int64_t i = 0; i < t->rows; i++) {
    double x, number = NAN;
    if (!tl_fate_has_runout(tl_fate_of(tl_table_text(t, i, end)))) continue;
    TL_TRY(tl_table_number(t, i, column, &x));
    if (release >= 0) TL_TRY(tl_table_number(t, i, release, &number));
    if (number == before)
      value[*n - 1] = fmax(value[*n - 1], x);
    else
      value[(*n)++] = x;
    before = number;
  }
  return TL_OK;
}

static void put_number(TlHtml *to, double value) {
  if (isfinite(value))
    tl_html(to, fabs(value) < 1000 ? "<td class=\"n\">%.3g</td>" : "<td class=\"n\">%.0f</td>",
            value);
  else
    tl_html(to, "<td class=\"n\">-</td>");
}

static TlStatus put_drawn(TlHtml *rows, TlHtml *charts, const char *name, const char *title,
                          const double *x, const double *runout, const double *energy, int64_t n) {
  TlRelation far, strong;
  double low = INFINITY, high = -INFINITY;
  TL_TRY(tl_relation(x, runout, n, &far));
  TL_TRY(tl_relation(x, energy, n, &strong));
  for (int64_t i = 0; i < n; i++) {
    low = fmin(low, x[i]);
    high = fmax(high, x[i]);
  }
  tl_html(rows, "<tr><th scope=\"row\">");
  tl_html_text(rows, name);
  tl_html(rows, "</th>");
  put_number(rows, low);
  put_number(rows, high);
  put_number(rows, far.correlation);
  put_number(rows, strong.correlation);
  put_number(rows, far.lowest);
  put_number(rows, far.highest);
  tl_html(rows, "</tr>\n");
  TlCurve curve = {.dots = true, .count = n, .x = x, .y = runout};
  TlChart chart = {.title = title,
                   .x_label = name,
                   .y_label = "runout [m]",
                   .from_zero = true,
                   .run = -1,
                   .mark = NAN};
  tl_chart(charts, &chart, &curve, 1);
  return TL_OK;
}

static TlStatus put_all(TlHtml *to, const char *label, const TlTable *t, const char *const *name,
                        int64_t count, bool together) {
  static const char each[] = "Runout of each block";
  TlHtml charts = {0};
  double *x = NULL, *runout, *energy;
  int column[3], end, release = together ? tl_table_column(t, "release") : -1;
  int64_t n = 0;
  TL_TRY(tl_table_need(t, "end", &end));
  TL_TRY(tl_table_need(t, "runout_m", &column[1]));
  TL_TRY(tl_table_need(t, "largest_energy_kJ", &column[2]));
  TL_TRY(TL_NEW(x, 3 * (size_t)t->rows));
  runout = x + t->rows;
  energy = runout + t->rows;
  TlStatus status = take_column(t, column[1], end, release, runout, &n);
  tl_html(to, "<h2>What the result depends on%s", label ? ": " : "");
  if (label) tl_html_text(to, label);
  tl_html(to,
          "</h2>\n<p>The study draws these numbers anew for each %s. A rank correlation is 1 if "
          "runout (or the largest energy) rises with the number, -1 if it falls, and 0 without a "
          "relation; of %lld %ss one nearer to 0 than %.2g says nothing. Beside it stand the "
          "median runouts of the quarter with the smallest values, and with the largest.%s Blocks "
          "that never started, or were not resolved, are left out.</p>\n<div class=\"wide\"><table "
          "class=\"quantiles\"><thead><tr><th>number</th><th>least</th><th>most</th><th>rank "
          "correlation with runout</th><th>with energy</th><th>runout at the smallest [m]</th>"
          "<th>at the largest [m]</th></tr></thead><tbody>\n",
          release >= 0 ? "release" : "block", (long long)n, release >= 0 ? "release" : "block",
          tl_relation_by_chance(n),
          release >= 0 ? " Volumes are those of the blocks; of the other numbers runout and energy "
                         "are the largest of the blocks of each release."
                       : "");
  for (int64_t k = 0; status == TL_OK && k < count; k++) {
    int of = strcmp(name[k], "volume_m3") == 0 ? -1 : release;
    status = tl_table_need(t, name[k], &column[0]);
    if (status == TL_OK) status = take_column(t, column[0], end, of, x, &n);
    if (status == TL_OK) status = take_column(t, column[1], end, of, runout, &n);
    if (status == TL_OK) status = take_column(t, column[2], end, of, energy, &n);
    if (status == TL_OK)
      status = put_drawn(to, &charts, name[k], of >= 0 ? "Farthest runout of each release" : each,
                         x, runout, energy, n);
  }
  tl_html(to, "</tbody></table></div>\n<div class=\"charts\">\n");
  tl_html_add(to, &charts);
  tl_html(to, "</div>\n");
  tl_html_free(&charts);
  tl_free(x);
  return status;
}

TlStatus tl_report_run_ranges(TlHtml *to, const TlReportRun *run, const char *label) {
  enum { MOST = 64 };
  const char *name[MOST];
  const char *study = run->scene.study ? run->scene.study : "";
  TlYamlNode root = {0};
  TlTable table = {0};
  if (!tl_scene_is_ensemble(&run->scene)) return TL_OK;
  char *path = tl_path_join(run->folder, "blocks.csv");
  TlStatus status = path ? tl_yaml_parse("study", study, strlen(study), &root) : TL_ENOMEM;
  int64_t count = status == TL_OK ? drawn_columns(&run->scene, &root, name, MOST) : 0;
  if (count > 0) status = tl_table_read(path, &table);
  if (count > 0 && status == TL_OK)
    status = put_all(to, label, &table, name, count, tl_scene_blocks_together(&run->scene) > 1);
  tl_table_free(&table);
  tl_yaml_free(&root);
  tl_free(path);
  return status;
}
