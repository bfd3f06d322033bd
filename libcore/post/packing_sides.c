#include "post/packing_sides.h"

#include "base/log.h"
#include "base/mem.h"
#include "io/csv_table.h"
#include "post/bands.h"
#include "post/gnuplot.h"

#include <string.h>

static const TlPackMeasure *const measures[] = {&tl_pack_fabric, &tl_pack_forces};
enum { MEASURES = 2, SIDES = 2 };
static const char *const side_name[SIDES] = {"inside", "outside"};
static const int side_of[SIDES] = {1, -1};

/* ---- the table ---- */

char *tl_sides_header(void) {
  char *text = tl_strdup("frame,step,time_s");
  for (int s = 0; s < SIDES; s++)
    for (int k = 0; k < MEASURES; k++)
      for (int i = 0; i < measures[k]->count && text; i++) {
        char *longer = tl_format("%s,%s_%s", text, side_name[s], measures[k]->column[i].name);
        tl_free(text);
        text = longer;
      }
  return text;
}

TlStatus tl_sides_line(TlCsv *csv, const TlFrame *frame, const TlPacking *p, const TlRegion *region,
                       const TlBand *band) {
  double *value;
  int n = 3, all = 3;
  for (int k = 0; k < MEASURES; k++) all += SIDES * measures[k]->count;
  TL_TRY(TL_NEW(value, (size_t)all));
  value[0] = (double)frame->index;
  value[1] = (double)frame->step;
  value[2] = frame->time_s;
  TlStatus status = TL_OK;
  for (int s = 0; s < SIDES; s++) {
    TlRegion part = tl_band_region(band, region, side_of[s]);
    for (int k = 0; k < MEASURES && status == TL_OK; n += measures[k++]->count)
      status = tl_pack_values(measures[k], p, &part, value + n);
  }
  if (status == TL_OK) status = tl_csv_row(csv, value, n);
  tl_free(value);
  return status;
}

/* ---- the picture ---- */

static const char *const panel_title[] = {"anisotropy of contact normals",
                                          "anisotropy of long axes", "fraction of sliding pairs"};
static const char *const panel_column[] = {"normal_anisotropy", "long_axis_anisotropy",
                                           "sliding_share"};
enum { PANELS = 3 };

typedef struct Sides {
  const char *path;
  int time, column[PANELS][SIDES]; /* of the table; -1: without a number in any frame */
} Sides;

static TlStatus find(const TlTable *t, Sides *s) {
  TL_TRY(tl_table_need(t, "time_s", &s->time));
  for (int p = 0; p < PANELS; p++)
    for (int k = 0; k < SIDES; k++) {
      char name[64];
      int64_t there = 0;
      snprintf(name, sizeof name, "%s_%s", side_name[k], panel_column[p]);
      TL_TRY(tl_table_need(t, name, &s->column[p][k]));
      for (int64_t i = 0; i < t->rows; i++) {
        double x;
        TL_TRY(tl_table_number(t, i, s->column[p][k], &x));
        there += !isnan(x);
      }
      if (there == 0) s->column[p][k] = -1;
    }
  return TL_OK;
}

static bool drawn(const Sides *s, int panel) {
  return s->column[panel][0] >= 0 || s->column[panel][1] >= 0;
}

static void put_panel(TlPlot *plot, const Sides *s, int panel) {
  static const char *const colour[SIDES] = {"#c1440e", "#1f5fa8"};
  bool begun = false;
  tl_plot(plot, "set title %s\nset xlabel 'time [s]'\n", panel_title[panel]);
  for (int k = 0; k < SIDES; k++) {
    if (s->column[panel][k] < 0) continue;
    tl_plot_next(plot, &begun);
    tl_plot_table(plot, s->path);
    tl_plot(plot, " every ::1 using %d:%d with linespoints pt 7 ps 0.6 lw 2 lc rgb %s title %s",
            s->time + 1, s->column[panel][k] + 1, colour[k], side_name[k]);
  }
  tl_plot(plot, "\n");
}

static int panels_of(const Sides *s) {
  int n = 0;
  for (int p = 0; p < PANELS; p++) n += drawn(s, p);
  return n;
}

static void put(TlPlot *plot, const void *context) {
  const Sides *s = context;
  int n = panels_of(s);
  tl_plot_page(plot, 480 * n, 380, 11);
  tl_plot(plot,
          "set datafile separator ','\nset datafile missing ''\nset border 3\n"
          "set tics nomirror out\nset grid lc rgb '#dddddd'\nset yrange [0:*]\n"
          "set key outside top right horizontal\nset multiplot layout 1,%d\n",
          n);
  for (int p = 0; p < PANELS; p++)
    if (drawn(s, p)) put_panel(plot, s, p);
  tl_plot(plot, "unset multiplot\n");
}

static TlStatus draw(const char *table, const char *picture, bool overwrite) {
  Sides s = {.path = table};
  TlTable t;
  TL_TRY(tl_table_read(table, &t));
  TlStatus status = find(&t, &s);
  bool enough = t.rows > 1 && panels_of(&s) > 0;
  tl_table_free(&t);
  if (status == TL_OK && enough) return tl_gnuplot(put, &s, table, picture, overwrite);
  if (status == TL_OK) tl_log_info("%s: nothing to draw", picture);
  return status;
}

TlStatus tl_sides_plot(const char *folder, bool overwrite) {
  char *table = tl_path_join(folder, "band_frames.csv"),
       *picture = tl_path_join(folder, "band_frames.png");
  TlStatus status = table && picture ? draw(table, picture, overwrite) : TL_ENOMEM;
  tl_free(table);
  tl_free(picture);
  return status;
}
