#include "post/render_plots.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "post/gnuplot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MAX = 128, NAME_MAX_ = 64 };

typedef struct Table {
  const char *path; /* borrowed */
  char name[COLUMNS_MAX][NAME_MAX_];
  int columns, time; /* time: index of time_s */
  int64_t rows;
  double low[COLUMNS_MAX], high[COLUMNS_MAX]; /* of the column's numbers */
  bool counts[COLUMNS_MAX];                   /* all of them whole */
} Table;

/* ---- names ---- */

static const struct {
  const char *suffix, *unit;
} units[] = {{"_kg_m3", "kg/m^3"}, {"_kg_m_s", "kg m/s"}, {"_rad_s", "rad/s"}, {"_m_s2", "m/s^2"},
             {"_m_s", "m/s"},      {"_deg", "deg"},       {"_m3", "m^3"},      {"_m2", "m^2"},
             {"_mm", "mm"},        {"_ms", "ms"},         {"_kg", "kg"},       {"_pct", "%"},
             {"_Pa", "Pa"},        {"_J", "J"},           {"_N", "N"},         {"_m", "m"},
             {"_s", "s"},          {"_MB", "MB"}};

void tl_plot_label(const char *column, char label[96]) {
  size_t n = strlen(column), stem = n;
  const char *unit = NULL;
  for (size_t k = 0; k < sizeof units / sizeof *units && !unit; k++) {
    size_t m = strlen(units[k].suffix);
    if (n <= m || strcmp(column + n - m, units[k].suffix) != 0) continue;
    unit = units[k].unit;
    stem = n - m;
  }
  int used = snprintf(label, 96, "%.*s", stem > 60 ? 60 : (int)stem, column);
  for (int i = 0; i < used; i++)
    if (label[i] == '_') label[i] = ' ';
  if (unit) snprintf(label + used, 96 - (size_t)used, " [%s]", unit);
}

static bool is_energy(const char *column) {
  size_t n = strlen(column);
  return n > 2 && strcmp(column + n - 2, "_J") == 0;
}

/* ---- reading what there is ---- */

static TlStatus parse_header(Table *t, const char *text) {
  t->time = -1;
  while (*text && *text != '\n' && *text != '\r') {
    size_t n = strcspn(text, ",\r\n");
    if (t->columns == COLUMNS_MAX)
      return tl_fail(TL_EINPUT, "%s: more than %d columns", t->path, COLUMNS_MAX);
    if (n == 0 || n >= NAME_MAX_)
      return tl_fail(TL_EINPUT, "%s: column %d has no name, or one of over %d characters", t->path,
                     t->columns + 1, NAME_MAX_ - 1);
    memcpy(t->name[t->columns], text, n);
    if (strcmp(t->name[t->columns], "time_s") == 0) t->time = t->columns;
    t->columns++;
    text += n + (text[n] == ',');
  }
  if (t->time < 0)
    return tl_fail(TL_EINPUT, "%s: no column time_s in the header: not a table over time", t->path);
  return TL_OK;
}

/* A row's numbers; fields that are none (empty, nan) are left to gnuplot, which skips them. */
static void read_row(Table *t, const char *line, const char *end) {
  for (int c = 0; c < t->columns && line <= end; c++) {
    char *after;
    double x = strtod(line, &after);
    if (after > line && after <= end && isfinite(x)) {
      t->low[c] = fmin(t->low[c], x);
      t->high[c] = fmax(t->high[c], x);
      t->counts[c] = t->counts[c] && x == floor(x);
    }
    const char *comma = memchr(line, ',', (size_t)(end - line));
    line = comma ? comma + 1 : end + 1;
  }
}

static TlStatus read_table(const char *path, Table *t) {
  memset(t, 0, sizeof *t);
  t->path = path;
  char *text;
  size_t size;
  TL_TRY(tl_file_read(path, &text, &size));
  TlStatus status = parse_header(t, text);
  for (int c = 0; c < COLUMNS_MAX; c++) {
    t->low[c] = INFINITY;
    t->high[c] = -INFINITY;
    t->counts[c] = true;
  }
  const char *line = text + strcspn(text, "\n");
  while (*line == '\n') {
    line++;
    size_t n = strcspn(line, "\r\n");
    if (n > 0) {
      t->rows++;
      read_row(t, line, line + n);
    }
    line += strcspn(line, "\n");
  }
  tl_free(text);
  if (status == TL_OK && t->rows < 2)
    status = tl_fail(TL_EINPUT, "%s: %lld rows; two are needed to plot", path, (long long)t->rows);
  return status;
}

/* ---- gnuplot ---- */

static void put_head(TlPlot *plot, int width, int height) {
  tl_plot_page(plot, width, height, 11);
  tl_plot(plot,
          "set datafile separator ','\nset datafile missing ''\nunset key\n"
          "set border 3 lw 1 lc rgb '#606060'\nset tics nomirror out textcolor rgb '#404040'\n"
          "set grid lc rgb '#dddddd' lw 1\nset format y '%%.4g'\n"
          "set ytics autofreq\nset lmargin 12\n");
}

static void put_column(TlPlot *plot, const Table *t, int column) {
  tl_plot_table(plot, t->path);
  tl_plot(plot, " every ::1 using %d:%d with lines lw 2", t->time + 1, column + 1);
}

/* gnuplot fails at a column without a number, such as an angle of repose before there is a heap. */
static bool has_numbers(const Table *t, int column) {
  return t->low[column] <= t->high[column];
}

/* The step count says no more than the time does. */
static bool in_panel(const Table *t, int column) {
  return column != t->time && strcmp(t->name[column], "step") != 0 && has_numbers(t, column);
}

static bool in_energies(const Table *t, int column) {
  return is_energy(t->name[column]) && has_numbers(t, column);
}

/* Which columns to draw: what is 0 throughout (another method's columns) says nothing beside others
 * that are not. Returns how many. */
static int choose(const Table *t, bool (*wanted)(const Table *, int), bool chosen[COLUMNS_MAX]) {
  int all = 0, alive = 0;
  for (int c = 0; c < t->columns; c++) {
    chosen[c] = wanted(t, c);
    all += chosen[c];
    alive += chosen[c] && (t->low[c] != 0 || t->high[c] != 0);
  }
  for (int c = 0; alive > 0 && c < t->columns; c++)
    chosen[c] = chosen[c] && (t->low[c] != 0 || t->high[c] != 0);
  return alive > 0 ? alive : all;
}

enum { FEW = 5 };

/* gnuplot complains of a column that never changes: give it a range. */
static void put_range(TlPlot *plot, const Table *t, int c) {
  double middle = t->low[c], half = middle != 0 ? 0.1 * fabs(middle) : 1;
  double span = t->high[c] > t->low[c] ? t->high[c] - t->low[c] : 2 * half;
  bool few = t->counts[c] && span <= FEW; /* else there are ticks at halves */
  if (few)
    tl_plot(plot, "set ytics 1\n");
  else
    tl_plot(plot, "set ytics autofreq\n");
  if (t->high[c] > t->low[c])
    tl_plot(plot, "set yrange [*:*]\nplot ");
  else
    tl_plot(plot, "set yrange [%.17g:%.17g]\nplot ", middle - half, middle + half);
}

static void put_panels(TlPlot *plot, const void *context) {
  const Table *t = context;
  bool chosen[COLUMNS_MAX];
  int panels = choose(t, in_panel, chosen);
  int most = panels > 9 ? 4 : 3, across = panels < most ? panels : most,
      down = (panels + across - 1) / across;
  char label[96];
  put_head(plot, 440 * across, 270 * down + 20);
  tl_plot(plot, "set multiplot layout %d,%d\n", down, across);
  for (int c = 0; c < t->columns; c++) {
    if (!chosen[c]) continue;
    tl_plot_label(t->name[c], label);
    tl_plot(plot, "set title %s\nset xlabel 'time [s]'\n", label);
    put_range(plot, t, c);
    put_column(plot, t, c);
    tl_plot(plot, " lc rgb '#1f5fa8'\n");
  }
  tl_plot(plot, "unset multiplot\n");
}

static void put_energies(TlPlot *plot, const void *context) {
  static const char *const colours[] = {"#c1440e", "#1f5fa8", "#2e8b57", "#8a5fbf",
                                        "#b58900", "#555555", "#d0699a", "#2aa1a1"};
  const Table *t = context;
  char label[96];
  bool chosen[COLUMNS_MAX];
  choose(t, in_energies, chosen);
  put_head(plot, 960, 560);
  tl_plot(plot, "set key outside top center horizontal samplen 2\n"
                "set xlabel 'time [s]'\nset ylabel 'energy [J]'\n");
  bool begun = false;
  for (int c = 0, k = 0; c < t->columns; c++) {
    if (!chosen[c]) continue;
    tl_plot_label(t->name[c], label);
    char *unit = strstr(label, " [");
    if (unit) *unit = 0;
    tl_plot_next(plot, &begun);
    put_column(plot, t, c);
    tl_plot(plot, " lc rgb %s title %s", colours[k++ % 8], label);
  }
  tl_plot(plot, "\n");
}

static TlStatus draw(TlPlotScript put, const Table *t, const char *folder, const char *name,
                     bool overwrite) {
  char *path = tl_format("%s/%s.png", folder, name);
  if (!path) return TL_ENOMEM;
  TlStatus status = tl_gnuplot(put, t, t->path, path, overwrite);
  tl_free(path);
  return status;
}

static TlStatus plot_table(const Table *t, const char *name, const char *output, bool overwrite) {
  int energies = 0, panels = 0;
  for (int c = 0; c < t->columns; c++) {
    energies += is_energy(t->name[c]) && has_numbers(t, c);
    if (!has_numbers(t, c)) tl_log_info("%s: no number in column %s", t->path, t->name[c]);
    panels += in_panel(t, c);
  }
  if (panels == 0) return tl_fail(TL_EINPUT, "%s: no column besides time_s", t->path);
  TL_TRY(draw(put_panels, t, output, name, overwrite));
  if (energies == 0 || strcmp(name, "history") != 0) return TL_OK;
  return draw(put_energies, t, output, "energy", overwrite);
}

/* File name without folder and extension. */
static char *stem_of(const char *path) {
  const char *slash = strrchr(path, '/');
  char *stem = tl_strdup(slash ? slash + 1 : path);
  char *dot = stem ? strrchr(stem, '.') : NULL;
  if (dot && dot > stem) *dot = 0;
  return stem;
}

/* Both tables are read before the first picture is drawn: none of the pictures may be a table. */
static TlStatus plot_both(const char *history, const char *csv, const char *output, bool overwrite,
                          Table table[2]) {
  TL_TRY(read_table(history, &table[0]));
  if (csv) TL_TRY(read_table(csv, &table[1]));
  TL_TRY(tl_dir_make(output));
  TL_TRY(plot_table(&table[0], "history", output, overwrite));
  if (!csv) return TL_OK;
  char *stem = stem_of(csv);
  TlStatus status = stem ? plot_table(&table[1], stem, output, overwrite) : TL_ENOMEM;
  tl_free(stem);
  return status;
}

TlStatus tl_render_plots(const char *folder, const char *csv, const char *output, bool overwrite) {
  Table *table;
  TL_TRY(TL_NEW(table, 2));
  char *history = tl_path_join(folder, "history.csv");
  TlStatus status = history ? plot_both(history, csv, output, overwrite, table) : TL_ENOMEM;
  tl_free(history);
  tl_free(table);
  return status;
}
