#include "post/report_run.h"

#include "base/file.h"
#include "base/mem.h"
#include "num/quantile.h"
#include "num/sort.h"
#include "post/blocks.h"
#include "post/departures.h"
#include "post/ensemble_scene.h"
#include "post/report_chart.h"
#include "shape/fate.h"
#include "shape/moving.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- opening ---- */

bool tl_report_row_moves(const TlScene *scene, const TlBodyRow *row) {
  const TlAvatar *a = tl_scene_avatar(scene, row->avatar_id);
  const double *g = scene->gravity_m_s2;
  double d = a ? row->scale * tl_avatar_diameter_m(a) : 0;
  return tl_pace(row->velocity_m_s, row->spin_rad_s, d, tl_norm(tl_vec3(g[0], g[1], g[2]))) >
         tl_moving_pace;
}

/* A grain that was taken out stays where it left, not where the last frame before saw it. */
static TlStatus take_departures(TlReportRun *run) {
  TlReportMotion *m = &run->motion;
  TlDepartures departures;
  TL_TRY(tl_departures_read(run->folder, &departures));
  for (int64_t i = 0; i < departures.count; i++) {
    int64_t b = 0;
    while (b < m->bodies && m->id[b] != departures.row[i].id) b++;
    for (int64_t f = m->frames - 1;
         b < m->bodies && f >= 0 && !m->there[tl_report_motion_at(m, b, f)]; f--)
      m->place_m[tl_report_motion_at(m, b, f)] = departures.row[i].position_m;
  }
  tl_departures_free(&departures);
  return TL_OK;
}

static TlStatus find_moving(TlReportRun *run) {
  const TlReportMotion *m = &run->motion;
  TL_TRY(TL_NEW(run->moving, (size_t)m->bodies));
  for (int64_t b = 0; b < m->bodies; b++) {
    TlBodyRow *row = NULL;
    int64_t low = 0, high = run->last.count;
    while (low < high) {
      int64_t middle = low + (high - low) / 2;
      if (run->last.rows[middle].id < m->id[b])
        low = middle + 1;
      else
        high = middle;
    }
    if (low < run->last.count && run->last.rows[low].id == m->id[b]) row = &run->last.rows[low];
    run->moving[b] = row && !(row->flags & (TL_ROW_NO_GRAIN | TL_ROW_FROZEN)) &&
                     tl_report_row_moves(&run->scene, row);
  }
  return TL_OK;
}

/* A run without a history, or killed amid a line, or that still runs, is reported all the same. A
 * history that the disk does not give is an error. */
static TlStatus read_history(TlReportRun *run) {
  char *path = tl_path_join(run->folder, "history.csv");
  if (!path) return TL_ENOMEM;
  TlStatus status = tl_table_read(path, &run->history);
  bool tolerable = status == TL_EINPUT || (status == TL_EIO && !tl_file_exists(path));
  tl_free(path);
  if (!tolerable) return status;
  tl_table_free(&run->history);
  run->history = (TlTable){0};
  run->history_fault = tl_strdup(tl_message());
  return run->history_fault ? TL_OK : TL_ENOMEM;
}

typedef struct Named {
  int64_t id, body;
} Named;

static int by_id(const void *one, const void *two) {
  const Named *a = one, *b = two;
  return (a->id > b->id) - (a->id < b->id);
}

/* The bodies of the motion, which are in order of their shapes, by id; fresh memory, [bodies]. */
static TlStatus sort_bodies(const TlReportMotion *m, Named **named) {
  TL_TRY(TL_NEW(*named, (size_t)m->bodies));
  for (int64_t b = 0; b < m->bodies; b++) (*named)[b] = (Named){m->id[b], b};
  if (m->bodies > 0) qsort(*named, (size_t)m->bodies, sizeof **named, by_id);
  return TL_OK;
}

static int by_block(const void *one, const void *two) {
  const TlBlockCell *a = one, *b = two;
  return (a->block > b->block) - (a->block < b->block);
}

/* Largest values of the steps between the frames (run/cells.h). */
static TlStatus take_steps(TlReportRun *run) {
  TlBlocks blocks;
  TlBlockCell *cell = NULL;
  Named *named = NULL;
  int64_t count = 0;
  TlStatus status = tl_blocks_read(&run->folder, 1, &blocks);
  if (status == TL_OK) status = sort_bodies(&run->motion, &named);
  if (status == TL_OK && blocks.every_step[0]) {
    status = tl_blocks_read_cells(&blocks, &run->folder, &cell, &count);
    if (status == TL_OK) status = TL_NEW(run->step_speed_m_s, (size_t)run->motion.bodies);
    if (status == TL_OK) status = TL_NEW(run->step_energy_J, (size_t)run->motion.bodies);
    if (status == TL_OK) status = TL_NEW(run->step_jump_m, (size_t)run->motion.bodies);
    if (status == TL_OK && count > 0) {
      qsort(cell, (size_t)count, sizeof *cell, by_block);
      tl_map_grid_free(&run->grid);
      status = tl_map_grid_of_steps(&run->scene.terrain, cell, count, &run->grid);
    }
  }
  for (int64_t i = 0; status == TL_OK && i < count; i++) {
    const Named key = {.id = blocks.block[cell[i].block].id},
                *found = bsearch(&key, named, (size_t)run->motion.bodies, sizeof key, by_id);
    if (!found) continue;
    int64_t b = found->body;
    double speed = cell[i].value[TL_CELL_SPEED], energy = 1000 * cell[i].value[TL_CELL_ENERGY];
    run->step_speed_m_s[b] = fmax(run->step_speed_m_s[b], speed);
    run->step_energy_J[b] = fmax(run->step_energy_J[b], energy);
    run->step_jump_m[b] = fmax(run->step_jump_m[b], cell[i].value[TL_CELL_JUMP]);
  }
  tl_free(cell);
  tl_free(named);
  tl_blocks_free(&blocks);
  return status;
}

/* Runouts as the summary of talus-ensemble counts them. */
static TlStatus read_runouts(TlReportRun *run, const TlTable *t) {
  int id, end = tl_table_column(t, "end"), runout, drop;
  Named *named = NULL;
  if (end < 0) return TL_OK; /* of an earlier version */
  TL_TRY(tl_table_need(t, "id", &id));
  TL_TRY(tl_table_need(t, "runout_m", &runout));
  TL_TRY(tl_table_need(t, "drop_m", &drop));
  TL_TRY(TL_NEW(run->runout_m, (size_t)run->motion.bodies));
  TL_TRY(TL_NEW(run->drop_m, (size_t)run->motion.bodies));
  for (int64_t b = 0; b < run->motion.bodies; b++) run->runout_m[b] = run->drop_m[b] = NAN;
  run->blocks = t->rows;
  TlStatus status = sort_bodies(&run->motion, &named);
  for (int64_t i = 0; i < t->rows && status == TL_OK; i++) {
    TlFate fate = tl_fate_of(tl_table_text(t, i, end));
    double number;
    run->not_started += fate == TL_FATE_NOT_STARTED;
    run->unresolved += fate == TL_FATE_UNRESOLVED;
    status = tl_table_number(t, i, id, &number);
    const Named key = {.id = status == TL_OK ? (int64_t)number : -1},
                *found = bsearch(&key, named, (size_t)run->motion.bodies, sizeof key, by_id);
    if (!found || !tl_fate_has_runout(fate)) continue;
    status = tl_table_number(t, i, runout, &run->runout_m[found->body]);
    if (status == TL_OK) status = tl_table_number(t, i, drop, &run->drop_m[found->body]);
  }
  tl_free(named);
  return status;
}

static TlStatus take_runouts(TlReportRun *run) {
  TlTable table = {0};
  if (!tl_scene_is_ensemble(&run->scene)) return TL_OK;
  char *path = tl_path_join(run->folder, "blocks.csv");
  TlStatus status = path ? TL_OK : TL_ENOMEM;
  bool there = path && tl_file_exists(path);
  if (there) status = tl_table_read(path, &table);
  if (there && status == TL_OK) status = read_runouts(run, &table);
  tl_table_free(&table);
  tl_free(path);
  return status;
}

static TlStatus open_parts(TlReportRun *run) {
  TlMeasureOptions options = {0};
  TL_TRY(tl_results_read_scene(run->folder, &run->scene));
  TL_TRY(tl_report_motion_read(run->folder, &run->scene, 1, &run->motion));
  const TlReportMotion *m = &run->motion;
  TL_TRY(tl_results_read_frame(run->folder, m->index[m->frames - 1], &run->last));
  TL_TRY(take_departures(run));
  TL_TRY(find_moving(run));
  TL_TRY(tl_measure_run(run->folder, &run->scene, &options, &run->measure));
  if (run->scene.has_terrain) TL_TRY(tl_map_grid(&run->scene, m, 0, &run->grid));
  if (run->scene.has_terrain) TL_TRY(take_steps(run));
  TL_TRY(take_runouts(run));
  TL_TRY(read_history(run));
  TL_TRY(tl_report_device_read(run));
  if (run->device != TL_DEVICE_TRIAXIAL) return TL_OK;
  TlTxOptions tx = {0};
  TL_TRY(tl_tx_read(run->folder, &tx, &run->test));
  return tl_tx_measure(&run->test, &tx, &run->figures);
}

TlStatus tl_report_run_open(const char *folder, char *label, TlReportRun *run) {
  *run = (TlReportRun){.folder = folder, .label = label};
  TlStatus status = label ? open_parts(run) : TL_ENOMEM;
  if (status != TL_OK) tl_report_run_close(run);
  return status;
}

void tl_report_run_close(TlReportRun *run) {
  tl_free(run->label);
  tl_scene_free(&run->scene);
  tl_report_motion_free(&run->motion);
  tl_frame_free(&run->last);
  tl_free(run->moving);
  tl_measure_free(&run->measure);
  tl_map_grid_free(&run->grid);
  tl_free(run->step_speed_m_s);
  tl_free(run->step_energy_J);
  tl_free(run->step_jump_m);
  tl_free(run->runout_m);
  tl_free(run->drop_m);
  tl_table_free(&run->history);
  tl_free(run->history_fault);
  tl_report_device_free(run);
  tl_tx_free(&run->test);
  tl_figures_free(&run->figures);
  *run = (TlReportRun){0};
}

/* ---- energies ---- */

/* J, or kJ where the largest of the values has reached 1 kJ, as blocks have it. Other units stay. */
typedef struct Unit {
  const char *name;
  double factor;
} Unit;
static Unit unit_for(const char *unit, double most) {
  return strcmp(unit, "J") == 0 && most >= 1000 ? (Unit){"kJ", 1e-3} : (Unit){unit, 1};
}

/* "energy [kJ]" */
static void name_axis(char text[80], const char *what, const char *unit) {
  if (unit[0])
    snprintf(text, 80, "%s [%s]", what, unit);
  else
    snprintf(text, 80, "%s", what);
}

/* ---- figures ---- */

#define COUNT(list) (sizeof(list) / sizeof *(list))

typedef struct Figure {
  const char *name, *unit, *meaning;
  double (*value)(const TlReportRun *run);
  const char *figure; /* of a test, by name; with a factor */
  double factor;
} Figure;

static const TlFrameMeasure *last_of(const TlReportRun *r) {
  return &r->measure.frame[r->measure.frame_count - 1];
}
static double grains(const TlReportRun *r) {
  return (double)last_of(r)->bodies;
}
static double mass(const TlReportRun *r) {
  return last_of(r)->mass_kg;
}
static double time_s(const TlReportRun *r) {
  return last_of(r)->time_s;
}
static double runout(const TlReportRun *r) {
  return last_of(r)->front_m;
}
static double travel(const TlReportRun *r) {
  return last_of(r)->travel_m;
}
static double drop(const TlReportRun *r) {
  return last_of(r)->drop_m;
}
static double travel_angle(const TlReportRun *r) {
  return last_of(r)->travel_angle_deg;
}
static double reach_angle(const TlReportRun *r) {
  return last_of(r)->reach_angle_deg;
}
static double top_speed(const TlReportRun *r) {
  double most = r->motion.largest_speed_m_s;
  for (int64_t b = 0; r->step_speed_m_s && b < r->motion.bodies; b++)
    most = fmax(most, r->step_speed_m_s[b]);
  return most;
}
/* Of one grain, and of its translation and rotation. */
static double grain_energy(const TlReportRun *r, int64_t b) {
  return fmax(r->motion.energy_J[b], r->step_energy_J ? r->step_energy_J[b] : 0);
}
static double top_energy(const TlReportRun *r) {
  double most = 0;
  for (int64_t b = 0; b < r->motion.bodies; b++)
    if (tl_report_motion_grain(&r->motion, b)) most = fmax(most, grain_energy(r, b));
  return most;
}
/* Of all together; blocks of an ensemble are never under way at one time. */
static double peak_energy(const TlReportRun *r) {
  double most = tl_scene_is_ensemble(&r->scene) ? NAN : 0;
  for (int64_t i = 0; isfinite(most) && i < r->measure.frame_count; i++)
    most = fmax(most, r->measure.frame[i].translational_J + r->measure.frame[i].rotational_J);
  return most;
}
static double deposit_area(const TlReportRun *r) {
  return r->measure.deposit.nx ? r->measure.deposit.area_m2 : NAN;
}
static double deposit_thickness(const TlReportRun *r) {
  return r->measure.deposit.nx ? r->measure.deposit.max_thickness_m : NAN;
}
static double repose(const TlReportRun *r) {
  return r->measure.deposit.nx ? r->measure.deposit.repose_deg : NAN;
}
/* In a frame of an ensemble blocks lie together that never met. */
static double contacts(const TlReportRun *r) {
  return tl_scene_is_ensemble(&r->scene) ? NAN : last_of(r)->contacts_per_grain;
}
static double overlap(const TlReportRun *r) {
  return tl_scene_is_ensemble(&r->scene) ? NAN : 100 * r->measure.largest_overlap_fraction;
}
static double penetration(const TlReportRun *r) {
  return r->measure.has_solid ? 100 * r->measure.largest_penetration_fraction : NAN;
}
static double grain_scale(const TlReportRun *r) {
  return r->scene.grain_scale;
}

static const Figure of_runs[] = {
    {"grains in the last frame", "",
     "without spheres of nets, bodies on pistons or joints, and fixed ones", grains, NULL, 0},
    {"mass", "kg", "of those grains", mass, NULL, 0},
    {"grain scale", "", "grains are this many times their scanned size", grain_scale, NULL, 0},
    {"time", "s", "of the last frame", time_s, NULL, 0},
    {"runout of the front", "m",
     "farthest grain centre in the last frame, horizontally along the mean direction of travel, "
     "from the mass centre at the start",
     runout, NULL, 0},
    {"travel of the mass centre", "m", "horizontal", travel, NULL, 0},
    {"drop of the mass centre", "m", "", drop, NULL, 0},
    {"travel angle", "deg", "arctangent of drop over travel: for a slide the mean friction angle",
     travel_angle, NULL, 0},
    {"reach angle (Fahrböschung)", "deg",
     "slope of the line from the highest grain at the start to the front grain", reach_angle, NULL,
     0},
    {"largest speed", "m/s",
     "of a grain's centre, over all steps (without cells.csv: in the frames)", top_speed, NULL, 0},
    {"largest kinetic energy of a grain", "J", "of its translation and rotation, likewise",
     top_energy, NULL, 0},
    {"largest kinetic energy of all grains", "J",
     "together, of translation and rotation, in the frames", peak_energy, NULL, 0},
    {"deposit area", "m2", "cells of the measuring grid that hold a grain's surface", deposit_area,
     NULL, 0},
    {"largest deposit thickness", "m", "highest node over the ground", deposit_thickness, NULL, 0},
    {"angle of repose", "deg", "of a cone fitted to the heap; none where there is no heap", repose,
     NULL, 0},
    {"contacts a grain", "",
     "contact points in the last frame; one between two grains counts for "
     "both",
     contacts, NULL, 0},
    {"deepest overlap of two grains", "% of the smaller radius", "in the last frame", overlap, NULL,
     0},
    {"deepest penetration of ground or walls", "% of the radius", "in the last frame", penetration,
     NULL, 0},
};

static const Figure of_tests[] = {
    {"peak friction angle", "deg",
     "largest asin((s1 - s3)/(s1 + s3)) while loading, s1 and s3 the largest and least stress",
     NULL, "peak_friction_angle", 1},
    {"axial strain there", "%", "logarithmic, compression positive", NULL, "peak_friction_strain",
     100},
    {"friction angle at large strain", "deg",
     "mean over the last fifth of the strain of the last loading; critical only where the curve "
     "has come level",
     NULL, "critical_friction_angle", 1},
    {"its scatter", "deg", "standard deviation over the same rows", NULL,
     "critical_friction_scatter", 1},
    {"peak deviatoric stress", "kPa", "axial less radial stress", NULL, "peak_deviatoric_stress",
     1e-3},
    {"peak dilatancy angle", "deg", "sin psi = D/(2 + D), D = -d eps_v/d eps_a", NULL,
     "peak_dilatancy_angle", 1},
    {"largest contraction", "%", "volumetric strain while loading, compression positive", NULL,
     "largest_contraction", 100},
    {"void ratio before shear", "", "volume of voids over that of solid", NULL,
     "void_ratio_before_shear", 1},
    {"void ratio at the end", "", "", NULL, "void_ratio_at_end", 1},
    {"initial modulus", "MPa", "slope of the deviatoric stress over the first 0.1% of strain", NULL,
     "initial_modulus", 1e-6},
    {"secant modulus to half of the peak", "MPa", "", NULL, "secant_modulus_50", 1e-6},
    {"largest inertia number", "",
     "strain rate times d sqrt(density/mean stress); slow shear stays under 1e-3", NULL,
     "largest_inertia_number", 1},
    {"mean difference of base and platen force", "% of the platen force",
     "two platens in balance say the same", NULL, "platen_base_difference", 100},
    {"energy missing from the balance", "% of the work put in", "", NULL,
     "energy_balance_error_share", 1},
    {"grains that got out of the membrane", "", "", NULL, "grains_escaped", 1},
    {"grains in the last frame", "", "without the membrane's spheres and the platen", grains, NULL,
     0},
    {"deepest overlap of two grains", "% of the smaller radius", "in the last frame", overlap, NULL,
     0},
};

#define OF_ALL_TESTS                                                                               \
  {"grains in the last frame", "", "without the platen", grains, NULL, 0},                         \
      {"deepest overlap of two grains",                                                            \
       "% of the smaller radius",                                                                  \
       "in the last frame",                                                                        \
       overlap,                                                                                    \
       NULL,                                                                                       \
       0},                                                                                         \
      {"deepest penetration of ground or walls",                                                   \
       "% of the radius",                                                                          \
       "in the last frame",                                                                        \
       penetration,                                                                                \
       NULL,                                                                                       \
       0},

static const Figure of_oedometers[] = {
    {"largest vertical stress", "kPa", "on the top platen, at the end of a stage", NULL,
     "largest_vertical_stress", 1e-3},
    {"K0 there", "", "lateral stress over the mean of the stresses on platen and base", NULL,
     "K0_there", 1},
    {"void ratio there", "", "volume of voids over that of solid", NULL, "void_ratio_there", 1},
    {"void ratio of the seated specimen", "", "at the end of the first stage", NULL,
     "void_ratio_seated", 1},
    {"void ratio at the end", "", "of the last stage that ended", NULL, "void_ratio_at_end", 1},
    OF_ALL_TESTS};

static const Figure of_shear_tests[] = {
    {"peak shear stress", "kPa",
     "largest shear force of a line of the table over the area of the box", NULL,
     "peak_shear_stress", 1e-3},
    {"stress ratio there", "", "shear over normal stress", NULL, "peak_stress_ratio", 1},
    {"displacement there", "mm", "of the lower half against the upper one", NULL,
     "peak_displacement", 1e3},
    {"displacement at the end", "mm", "", NULL, "displacement", 1e3},
    {"dilation at the end", "mm", "height less that when shearing began", NULL, "dilation_at_end",
     1e3},
    {"void ratio before shear", "", "volume of voids over that of solid", NULL,
     "void_ratio_before_shear", 1},
    {"void ratio at the end", "", "of the whole specimen", NULL, "void_ratio_at_end", 1},
    OF_ALL_TESTS};

static double value_of(const Figure *f, const TlReportRun *run) {
  return f->value ? f->value(run) : f->factor * tl_figures_get(&run->figures, f->figure);
}

static void put_rows(TlHtml *to, const Figure *f, size_t figures, const TlReportRun *run,
                     int64_t count) {
  for (size_t k = 0; k < figures; k++) {
    double most = NAN;
    for (int64_t i = 0; i < count; i++)
      if (isfinite(value_of(&f[k], &run[i]))) most = fmax(most, fabs(value_of(&f[k], &run[i])));
    if (isnan(most)) continue;
    Unit unit = unit_for(f[k].unit, most);
    tl_html(to, "<tr><th scope=\"row\">");
    tl_html_text(to, f[k].name);
    tl_html(to, "</th>");
    for (int64_t i = 0; i < count; i++) {
      char text[40];
      tl_html_value(text, unit.factor * value_of(&f[k], &run[i]));
      tl_html(to, "<td class=\"n\">%s</td>", text);
    }
    tl_html(to, "<td>");
    tl_html_text(to, unit.name);
    tl_html(to, "</td><td class=\"small\">");
    tl_html_text(to, f[k].meaning);
    tl_html(to, "</td></tr>\n");
  }
}

static void table_head(TlHtml *to, const TlReportRun *run, int64_t count, const char *first) {
  tl_html(to, "<div class=\"wide\"><table><thead><tr><th>%s</th>", first);
  for (int64_t i = 0; i < count; i++) {
    tl_html(to, "<th class=\"n\">");
    tl_html_text(to, count > 1 ? run[i].label : "value");
    tl_html(to, "</th>");
  }
}

void tl_report_run_figures(TlHtml *to, const TlReportRun *run, int64_t count) {
  table_head(to, run, count, "figure");
  tl_html(to, "<th>unit</th><th>meaning</th></tr></thead><tbody>\n");
  switch (run->device) {
  case TL_DEVICE_TRIAXIAL:
    put_rows(to, of_tests, COUNT(of_tests), run, count);
    break;
  case TL_DEVICE_OEDOMETER:
    put_rows(to, of_oedometers, COUNT(of_oedometers), run, count);
    break;
  case TL_DEVICE_DIRECT_SHEAR:
    put_rows(to, of_shear_tests, COUNT(of_shear_tests), run, count);
    break;
  default:
    put_rows(to, of_runs, COUNT(of_runs), run, count);
  }
  tl_html(to, "</tbody></table></div>\n");
  for (int64_t i = 0; i < count; i++)
    if (!run->device && run[i].measure.joined > 0) {
      tl_html(to, "<p class=\"small\">%lld grains", (long long)run[i].measure.joined);
      if (count > 1) tl_html(to, " of ");
      if (count > 1) tl_html_text(to, run[i].label);
      tl_html(to, " came in after the first frame: travel, drop and travel angle of the mass "
                  "centre, which count from where all began, are left out.</p>\n");
    }
  tl_report_device_stages(to, run, count);
  if (run->device != TL_DEVICE_TRIAXIAL) return;
  tl_html(to, "<details><summary>All figures of the test, as talus-measure --triaxial writes "
              "them</summary>");
  table_head(to, run, count, "figure");
  tl_html(to, "<th>unit</th><th>source</th></tr></thead><tbody>\n");
  for (int64_t k = 0; k < run->figures.count; k++) {
    const TlFigure *f = &run->figures.item[k];
    tl_html(to, "<tr><td><code>");
    tl_html_text(to, f->name);
    tl_html(to, "</code></td>");
    for (int64_t i = 0; i < count; i++) {
      char text[40];
      tl_html_value(text, tl_figures_get(&run[i].figures, f->name));
      tl_html(to, "<td class=\"n\">%s</td>", text);
    }
    tl_html(to, "<td>");
    tl_html_text(to, f->unit);
    tl_html(to, "</td><td class=\"small\">");
    tl_html_text(to, f->source ? f->source : "");
    tl_html(to, "</td></tr>\n");
  }
  tl_html(to, "</tbody></table></div></details>\n");
}

/* ---- plots over time ---- */

typedef struct TimePlot {
  const char *column, *title, *y_label, *unit, *note;
  double factor;
  bool change;   /* since the first row */
  bool together; /* of all bodies at one time, which blocks of an ensemble do not have */
  bool of_tests; /* of a test in a device, too */
} TimePlot;

static const TimePlot time_plots[] = {
    {"kinetic_energy_J", "Kinetic energy", "kinetic energy", "J",
     "Of all bodies, translation and rotation.", 1, false, true, true},
    {"potential_energy_J", "Change of potential energy", "change", "J",
     "Since the start; grains that were taken out stay in it, where they left, and grains that are "
     "poured bring theirs.",
     1, true, true},
    {"surface_speed_max_m_s", "Fastest body (bound of its surface)", "speed", "m/s",
     "No surface is faster: speed of the centre and spin times the bounding radius, the largest of "
     "all bodies, those on joints and spheres of nets among them.",
     1, false},
    {"front_m", "Front", "distance", "m",
     "Farthest grain centre horizontally from the mass centre at the start.", 1, false},
    {"contacts", "Contacts", "contact points", "", "Contact points that carried an impulse.", 1,
     false},
    {"overlap_share", "Deepest overlap of two grains", "overlap", "% of the radius",
     "Of the smaller grain's radius. Overlap is an error of the method; 1% is usual.", 100, false,
     false, true},
    {"boundary_overlap_share", "Deepest overlap with ground or walls", "overlap", "% of the radius",
     "Of the grain's radius.", 100, false, false, true},
    {"outside", "Grains that left", "grains", "", "Left the terrain so far.", 1, false},
    {"embedded", "Grains that cannot be got out of others", "grains", "", "So far.", 1, false,
     false, true},
    {"unresolved", "Unresolved collisions", "grains", "",
     "Grains to whose collisions the solver found no end, so far.", 1, false, false, true},
    {"energy_balance_error_J", "Energy missing from the balance", "energy", "J",
     "Work less all energies and losses, so far; 0 in a perfect calculation.", 1, false, false,
     true},
};

/* A column of a run's history; false: not there, or zero throughout. x, y: [rows] fresh memory. */
static TlStatus take_column(const TlReportRun *run, const TimePlot *plot, double **x, double **y,
                            bool *there) {
  const TlTable *h = &run->history;
  int time = h->rows > 1 ? tl_table_column(h, "time_s") : -1,
      column = h->rows > 1 ? tl_table_column(h, plot->column) : -1;
  *there = false;
  if (time < 0 || column < 0) return TL_OK;
  TL_TRY(TL_NEW(*x, (size_t)h->rows));
  TL_TRY(TL_NEW(*y, (size_t)h->rows));
  for (int64_t i = 0; i < h->rows; i++) {
    TL_TRY(tl_table_number(h, i, time, &(*x)[i]));
    TL_TRY(tl_table_number(h, i, column, &(*y)[i]));
    (*y)[i] = plot->factor * ((*y)[i] - (plot->change && i > 0 ? (*y)[0] / plot->factor : 0));
    *there = *there || (*y)[i] != 0;
  }
  if (plot->change) (*y)[0] = 0;
  return TL_OK;
}

static TlStatus put_time_plot(TlHtml *to, const TlReportRun *run, int64_t count,
                              const TimePlot *plot) {
  TlCurves own;
  int curves = 0;
  double most = 0;
  TlStatus status = tl_curves_new(&own, count);
  for (int64_t i = 0; i < count && status == TL_OK; i++) {
    bool there;
    status = take_column(&run[i], plot, &own.x[i], &own.y[i], &there);
    if (status != TL_OK || !there) continue;
    own.curve[curves++] = (TlCurve){.label = count > 1 ? run[i].label : NULL,
                                    .colour = (int)i,
                                    .count = run[i].history.rows,
                                    .x = own.x[i],
                                    .y = own.y[i]};
    for (int64_t k = 0; k < run[i].history.rows; k++) most = fmax(most, fabs(own.y[i][k]));
  }
  Unit unit = unit_for(plot->unit, most);
  for (int64_t i = 0; i < count && status == TL_OK; i++)
    for (int64_t k = 0; own.y[i] && k < run[i].history.rows; k++) own.y[i][k] *= unit.factor;
  char label[80];
  name_axis(label, plot->y_label, unit.name);
  TlChart chart = {.title = plot->title,
                   .x_label = "time [s]",
                   .y_label = label,
                   .note = plot->note,
                   .from_zero = true,
                   .run = count == 1 ? 0 : -1,
                   .mark = NAN};
  if (status == TL_OK) tl_chart(to, &chart, own.curve, curves);
  tl_curves_free(&own);
  return status;
}

/* ---- plots of a triaxial test ---- */

typedef struct TestPlot {
  TlTx x, y;
  const char *title, *x_label, *y_label, *note;
  double x_factor, y_factor;
  bool dots;
} TestPlot;

static const TestPlot test_plots[] = {
    {TL_TX_AXIAL_STRAIN, TL_TX_Q, "Deviatoric stress", "axial strain [%]",
     "deviatoric stress [kPa]", "Axial less radial stress.", 100, 1e-3, false},
    {TL_TX_AXIAL_STRAIN, TL_TX_VOLUME_STRAIN, "Volumetric strain", "axial strain [%]",
     "volumetric strain [%]", "Logarithmic; contraction is positive, below 0 the specimen dilates.",
     100, 100, false},
    {TL_TX_AXIAL_STRAIN, TL_TX_FRICTION, "Mobilised friction angle", "axial strain [%]",
     "angle [deg]", "asin((s1 - s3)/(s1 + s3)) of the largest and least stress.", 100, 1, false},
    {TL_TX_AXIAL_STRAIN, TL_TX_VOID, "Void ratio", "axial strain [%]", "void ratio",
     "Volume of voids over that of solid; overlaps count twice as solid.", 100, 1, false},
    {TL_TX_P, TL_TX_Q, "Stress path", "mean stress [kPa]", "deviatoric stress [kPa]", NULL, 1e-3,
     1e-3, false},
    {TL_TX_AXIAL_STRAIN, TL_TX_DILATANCY, "Dilatancy angle", "axial strain [%]", "angle [deg]",
     "sin psi = D/(2 + D), D = -d eps_v/d eps_a fitted over 1% of strain.", 100, 1, false},
    {TL_TX_TIME, TL_TX_INERTIA, "Inertia number", "time [s]", "inertia number",
     "Slow shear stays under 1e-3; above it the rate has its share in the stresses.", 1, 1, false},
    {TL_TX_TIME, TL_TX_UNBALANCED, "Unbalanced force", "time [s]", "unbalanced over contact force",
     "Mean force that accelerates a body over the mean contact force.", 1, 1, false},
    {TL_TX_TIME, TL_TX_BALANCE, "Base over platen force", "time [s]", "base over platen",
     "1 where the specimen is in balance between its ends.", 1, 1, true},
    {TL_TX_TIME, TL_TX_BALANCE_ERROR, "Energy missing from the balance", "time [s]", "energy [J]",
     "Work less all energies and losses, so far; 0 in a perfect calculation.", 1, 1, false},
};

static TlStatus scaled(const double *from, int64_t n, double factor, double **to) {
  TL_TRY(TL_NEW(*to, (size_t)n));
  for (int64_t i = 0; i < n; i++) (*to)[i] = factor * from[i];
  return TL_OK;
}

static TlStatus put_test_plot(TlHtml *to, const TlReportRun *run, int64_t count,
                              const TlMeasured *measured, const TestPlot *plot) {
  int64_t most = count + 1, curves = 0;
  TlCurves own;
  TlStatus status = tl_curves_new(&own, most);
  bool lab = measured && measured->x[plot->x] && measured->x[plot->y], names = count > 1 || lab;
  for (int64_t i = 0; i < count + lab && status == TL_OK; i++) {
    bool of_lab = i == count;
    int64_t n = of_lab ? measured->count : run[i].test.count;
    status = scaled(of_lab ? measured->x[plot->x] : run[i].test.x[plot->x], n, plot->x_factor,
                    &own.x[i]);
    if (status == TL_OK)
      status = scaled(of_lab ? measured->x[plot->y] : run[i].test.x[plot->y], n, plot->y_factor,
                      &own.y[i]);
    /* consolidation has no strain: all of it would stand at 0 and set the range */
    for (int64_t k = 0; status == TL_OK && !of_lab && plot->x == TL_TX_AXIAL_STRAIN && k < n; k++)
      if (run[i].test.kind[k] == TL_TX_CONSOLIDATE) own.y[i][k] = NAN;
    own.curve[curves++] = (TlCurve){.label = !names   ? NULL
                                             : of_lab ? "measured"
                                                      : run[i].label,
                                    .colour = (int)i,
                                    .dots = plot->dots && !of_lab,
                                    .measured = of_lab,
                                    .count = n,
                                    .x = own.x[i],
                                    .y = own.y[i]};
  }
  bool any = false; /* impulses tell no energies */
  for (int64_t i = 0; status == TL_OK && i < curves; i++)
    for (int64_t k = 0; k < own.curve[i].count; k++) any |= !isnan(own.curve[i].y[k]);
  TlChart chart = {.title = plot->title,
                   .x_label = plot->x_label,
                   .y_label = plot->y_label,
                   .note = plot->note,
                   .run = count == 1 && plot->x == TL_TX_TIME ? 0 : -1,
                   .mark = NAN};
  if (any) tl_chart(to, &chart, own.curve, (int)curves);
  tl_curves_free(&own);
  return status;
}

TlStatus tl_report_run_plots(TlHtml *to, const TlReportRun *run, int64_t count,
                             const TlMeasured *measured) {
  TlStatus status = TL_OK;
  tl_html(to, "<div class=\"charts\">\n");
  if (run->device == TL_DEVICE_TRIAXIAL)
    for (size_t k = 0; k < sizeof test_plots / sizeof *test_plots && status == TL_OK; k++)
      status = put_test_plot(to, run, count, measured, &test_plots[k]);
  else if (run->device)
    status = tl_report_device_plots(to, run, count);
  if (run->device != TL_DEVICE_TRIAXIAL)
    for (size_t k = 0; k < COUNT(time_plots) && status == TL_OK; k++)
      if (run->device ? time_plots[k].of_tests
                      : !time_plots[k].together || !tl_scene_is_ensemble(&run->scene))
        status = put_time_plot(to, run, count, &time_plots[k]);
  tl_html(to, "</div>\n");
  return status;
}

/* ---- quantiles over the grains ---- */

enum { OF_RUNOUT, OF_SPEED, OF_ENERGY, OF_JUMP, OF_ANGLE, QUANTITIES };

static const struct {
  const char *title, *unit, *x_label, *what;
  bool small; /* small values are the dangerous ones */
} quantity[QUANTITIES] = {
    {"Distance travelled", "m", "distance",
     "horizontal, from a grain's place in its first frame to that in its last"},
    {"Largest speed", "m/s", "speed",
     "of a grain's centre, over all steps (without cells.csv: in all frames)"},
    {"Largest kinetic energy", "J", "energy",
     "of a grain's translation and rotation together, likewise"},
    {"Largest jump height", "m", "height",
     "of a grain's centre above the ground, upright, over all steps"},
    {"Reach angle", "deg", "angle",
     "arctangent of a grain's own drop over its own horizontal distance", true},
};

/* value[QUANTITIES][n], fresh memory; n: grains. */
static TlStatus take_quantities(const TlReportRun *run, double *value[QUANTITIES], int64_t *n) {
  const TlReportMotion *m = &run->motion;
  for (int q = 0; q < QUANTITIES; q++) value[q] = NULL;
  for (int q = 0; q < QUANTITIES; q++) TL_TRY(TL_NEW(value[q], (size_t)m->bodies));
  *n = 0;
  for (int64_t b = 0; b < m->bodies; b++) {
    if (!tl_report_motion_grain(m, b)) continue;
    const TlAvatar *a = &run->scene.avatars[m->shape[b]];
    TlVec3 displacement = tl_sub(m->place_m[tl_report_motion_at(m, b, m->frames - 1)],
                                 m->place_m[tl_report_motion_at(m, b, 0)]);
    double far = hypot(displacement.x, displacement.y), speed = 0;
    for (int64_t f = 0; f < m->frames; f++)
      if (m->there[tl_report_motion_at(m, b, f)])
        speed = fmax(speed, m->speed_m_s[tl_report_motion_at(m, b, f)]);
    double drop = -displacement.z;
    if (run->runout_m) far = run->runout_m[b], drop = run->drop_m[b];
    value[OF_RUNOUT][*n] = far;
    value[OF_SPEED][*n] = speed;
    value[OF_ENERGY][*n] = grain_energy(run, b);
    if (run->step_speed_m_s) value[OF_SPEED][*n] = fmax(speed, run->step_speed_m_s[b]);
    value[OF_JUMP][*n] = run->step_jump_m ? run->step_jump_m[b] : NAN;
    value[OF_ANGLE][*n] =
        far > m->scale[b] * tl_avatar_diameter_m(a) ? atan2(drop, far) * TL_DEG : NAN;
    ++*n;
  }
  return TL_OK;
}

/* The values that are numbers, in order; how many. */
static int64_t in_order(double *value, int64_t n) {
  int64_t kept = 0;
  for (int64_t i = 0; i < n; i++)
    if (isfinite(value[i])) value[kept++] = value[i];
  qsort(value, (size_t)kept, sizeof *value, tl_by_real);
  return kept;
}

/* "86.3 (80.1 to 95.4)": the quantile and the values between which it lies in 95 of 100 samples of
 * this size, by the ranks n p +- 1.96 sqrt(n p (1 - p)), whatever the distribution. */
static const char *brief(char text[40], double value) {
  if (fabs(value) >= 1e5)
    tl_html_value(text, 1e3 * round(1e-3 * value));
  else
    snprintf(text, 40, fabs(value) >= 1000 ? "%.0f" : "%.3g", value);
  return text;
}

static void put_quantile(TlHtml *to, const double *sorted, int64_t n, double p) {
  char text[40], low[40], high[40];
  double half = 1.96 * sqrt((double)n * p * (1 - p)), from = (double)n * p - half,
         until = (double)n * p + half;
  bool open_above = until > (double)n - 1; /* its rank would lie above the largest value's */
  tl_html(to, "<td class=\"n\">%s", brief(text, tl_quantile_of_sorted(sorted, n, p)));
  if (n > 1)
    tl_html(to, "<br><span class=\"small\">%s%s<br>to %s%s</span>", from < 1 ? "under " : "",
            brief(low, from < 1 ? sorted[0] : sorted[(int64_t)from - 1]), open_above ? "over " : "",
            brief(high, open_above ? sorted[n - 1] : sorted[(int64_t)ceil(until)]));
  tl_html(to, "</td>");
}

static void put_spread(TlHtml *to, const double *value, int64_t n) {
  char mean_text[40], sd_text[40], error_text[40];
  double mean = 0, sum = 0;
  for (int64_t i = 0; i < n; i++) mean += value[i] / (double)n;
  for (int64_t i = 0; i < n; i++) sum += (value[i] - mean) * (value[i] - mean);
  double sd = n > 1 ? sqrt(sum / (double)(n - 1)) : NAN;
  tl_html(to,
          "<td class=\"n\">%lld</td><td class=\"n\">%s<br><span class=\"small\">± %s</span></td>"
          "<td class=\"n\">%s</td>",
          (long long)n, brief(mean_text, n > 0 ? mean : NAN),
          brief(error_text, sd / sqrt((double)n)), brief(sd_text, sd));
}

static TlStatus put_fractions(TlHtml *to, const TlReportRun *run, int64_t count, int q,
                              const char *unit, double *const *value, const int64_t *n) {
  TlCurve *curve;
  double **part;
  TL_TRY(TL_NEW(curve, (size_t)count));
  TL_TRY(TL_NEW(part, (size_t)count));
  TlStatus status = TL_OK;
  for (int64_t i = 0; i < count && status == TL_OK; i++) {
    status = TL_NEW(part[i], (size_t)n[i]);
    for (int64_t k = 0; status == TL_OK && k < n[i]; k++)
      part[i][k] = 100 * ((double)k + 1) / (double)n[i];
    curve[i] = (TlCurve){.label = count > 1 ? run[i].label : NULL,
                         .colour = (int)i,
                         .count = n[i],
                         .x = value[i],
                         .y = part[i]};
  }
  char label[80];
  name_axis(label, quantity[q].x_label, unit);
  TlChart chart = {.title = quantity[q].title,
                   .x_label = label,
                   .y_label = "grains with less [%]",
                   .note = NULL,
                   .y_low = 0,
                   .y_high = 100,
                   .run = -1,
                   .mark = NAN};
  if (status == TL_OK) tl_chart(to, &chart, curve, (int)count);
  for (int64_t i = 0; i < count; i++) tl_free(part[i]);
  tl_free(part);
  tl_free(curve);
  return status;
}

/* Of one quantity: a row a run, and its curves; nothing where no run has it. */
static TlStatus put_quantity(TlHtml *to, TlHtml *charts, const TlReportRun *run, int64_t count,
                             int q, double *(*value)[QUANTITIES], double **one, int64_t *n) {
  static const double large[] = {0.5, 0.9, 0.95, 0.99}, small[] = {0.5, 0.1, 0.05, 0.01};
  double most = 0;
  bool known = false;
  for (int64_t i = 0; i < count; i++) {
    int64_t all = run[i].motion.bodies, grains_there = 0;
    for (int64_t b = 0; b < all; b++) grains_there += tl_report_motion_grain(&run[i].motion, b);
    one[i] = value[i][q];
    n[i] = in_order(one[i], grains_there);
    if (n[i] > 0) most = fmax(most, one[i][n[i] - 1]);
    known |= n[i] > 0;
  }
  if (!known) return TL_OK; /* no run has cells.csv */
  Unit unit = unit_for(quantity[q].unit, most);
  for (int64_t i = 0; i < count; i++) {
    char text[40];
    double *v = one[i];
    for (int64_t k = 0; k < n[i]; k++) v[k] *= unit.factor;
    tl_html(to, "<tr><td>%s<br><span class=\"small\">%s</span></td><td>%s</td>", quantity[q].title,
            quantity[q].what, unit.name);
    if (count > 1) {
      tl_html(to, "<td>");
      tl_html_text(to, run[i].label);
      tl_html(to, "</td>");
    }
    put_spread(to, v, n[i]);
    for (int k = 0; k < 4; k++) put_quantile(to, v, n[i], quantity[q].small ? small[k] : large[k]);
    tl_html(to, "<td class=\"n\">%s</td></tr>\n",
            brief(text, n[i] > 0 ? v[quantity[q].small ? 0 : n[i] - 1] : NAN));
  }
  return put_fractions(charts, run, count, q, unit.name, one, n);
}

/* A table of those whose large values are the dangerous ones, and one of the others. */
static TlStatus put_quantities(TlHtml *to, const TlReportRun *run, int64_t count,
                               double *(*value)[QUANTITIES]) {
  static const char *const heads[][5] = {{"median", "90%", "95%", "99%", "largest"},
                                         {"median", "10%", "5%", "1%", "smallest"}};
  int64_t *n;
  double **one;
  TL_TRY(TL_NEW(n, (size_t)count));
  TL_TRY(TL_NEW(one, (size_t)count));
  TlHtml charts = {0};
  TlStatus status = TL_OK;
  for (int small = 0; small < 2 && status == TL_OK; small++) {
    TlHtml rows = {0};
    for (int q = 0; q < QUANTITIES && status == TL_OK; q++)
      if (quantity[q].small == (small == 1))
        status = put_quantity(&rows, &charts, run, count, q, value, one, n);
    if (rows.size > 0 && small)
      tl_html(to, "<p>Small reach angles are the dangerous ones, so here are the quantiles at the "
                  "lower end: one block of ten has a smaller angle than the 10%% quantile.</p>\n");
    if (rows.size > 0) {
      tl_html(to,
              "<div class=\"wide\"><table class=\"quantiles\"><thead><tr><th>of each "
              "grain</th><th>unit</th>%s<th class=\"n\">grains</th><th class=\"n\">mean</th>"
              "<th class=\"n\">standard deviation</th>",
              count > 1 ? "<th>run</th>" : "");
      for (int k = 0; k < 5; k++) tl_html(to, "<th class=\"n\">%s</th>", heads[small][k]);
      tl_html(to, "</tr></thead><tbody>\n");
      tl_html_add(to, &rows);
      tl_html(to, "</tbody></table></div>\n");
    }
    tl_html_free(&rows);
  }
  tl_html(to, "<div class=\"charts\">\n");
  tl_html_add(to, &charts);
  tl_html(to, "</div>\n");
  tl_html_free(&charts);
  tl_free(n);
  tl_free(one);
  return status;
}

/* Which blocks have no distance and no angle. */
static void say_left_out(TlHtml *to, const TlReportRun *run, const char *label) {
  int64_t without = run->not_started + run->unresolved;
  if (!run->runout_m || without == 0) return;
  tl_html(to, "<p>");
  if (label) tl_html_text(to, label);
  tl_html(to,
          "%sDistances and reach angles are those of the %lld of %lld blocks that have a runout, "
          "as in the summary of talus-ensemble. Left out are ",
          label ? ": " : "", (long long)(run->blocks - without), (long long)run->blocks);
  if (run->not_started > 0)
    tl_html(to,
            "%lld that never started (at rest within their diameter of where they were released)%s",
            (long long)run->not_started, run->unresolved > 0 ? " and " : "");
  if (run->unresolved > 0)
    tl_html(to, "%lld that were frozen or taken out because their collisions were not resolved",
            (long long)run->unresolved);
  tl_html(to, ". The other rows are of all blocks.</p>\n");
}

TlStatus tl_report_run_quantiles(TlHtml *to, const TlReportRun *run, int64_t count) {
  double *(*value)[QUANTITIES];
  TL_TRY(TL_NEW(value, (size_t)count));
  TlStatus status = TL_OK;
  for (int64_t i = 0; i < count && status == TL_OK; i++) {
    int64_t n;
    status = take_quantities(&run[i], value[i], &n);
  }
  tl_html(to,
          "<p>A quantile is what so many of a hundred grains stay below. The small figures "
          "below it bound it: were the grains drawn anew from what made them, it would lie "
          "between them 95 times of 100 (by ranks, for any distribution; \"under\" and "
          "\"over\" where there are too few grains to bound it). The mean's ± is its standard "
          "error. %s</p>\n",
          tl_scene_blocks_together(&run->scene) > 1
              ? "Blocks of one release hit each other and are not independent, so the true "
                "uncertainty is larger; the summary of talus-ensemble says it."
          : tl_scene_is_ensemble(&run->scene)
              ? "Each block ran alone, so they are independent."
              : "Grains of one avalanche push each other and are not independent, so the true "
                "uncertainty is larger.");
  for (int64_t i = 0; i < count; i++) say_left_out(to, &run[i], count > 1 ? run[i].label : NULL);
  if (status == TL_OK) status = put_quantities(to, run, count, value);
  for (int64_t i = 0; i < count; i++)
    for (int q = 0; q < QUANTITIES; q++) tl_free(value[i][q]);
  tl_free(value);
  return status;
}
