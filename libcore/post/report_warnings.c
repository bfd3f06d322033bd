#include "post/report_run.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "conf/param.h"
#include "conf/yaml_tree.h"
#include "post/ensemble_scene.h"
#include "shape/ground_sources.h"
#include "shape/rock.h"
#include "store/scene_depth.h"
#include "store/trust.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void warn(TlHtml *items, int64_t *count, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void warn(TlHtml *items, int64_t *count, const char *format, ...) {
  char text[1200];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  tl_html(items, "<li>");
  tl_html_text(items, text);
  tl_html(items, "</li>\n");
  ++*count;
}

static const char *number(char text[40], double value) {
  snprintf(text, 40, value >= 1000 ? "%.0f" : "%.3g", value);
  return text;
}

static const char *text_at(const TlYamlNode *map, const char *key) {
  const TlYamlNode *of = map && map->kind == TL_YAML_MAP ? tl_yaml_find(map, key) : NULL;
  return of && of->text ? of->text : "";
}

/* Last value of a column of history.csv; 0 where there is none. */
static double last_of(const TlReportRun *run, const char *column) {
  int c = run->history.rows > 0 ? tl_table_column(&run->history, column) : -1;
  double value = 0;
  if (c < 0 || tl_table_number(&run->history, run->history.rows - 1, c, &value) != TL_OK) return 0;
  return isfinite(value) ? value : 0;
}

static double largest_of(const TlReportRun *run, const char *column) {
  int c = run->history.rows > 0 ? tl_table_column(&run->history, column) : -1;
  double value, most = 0;
  for (int64_t i = 0; c >= 0 && i < run->history.rows; i++)
    if (tl_table_number(&run->history, i, c, &value) == TL_OK && value > most) most = value;
  return most;
}

/* "3, 17, 20 and 5 more": ids of the grains for which `wanted` holds, rising; how many. */
static int64_t name_grains(const TlReportRun *run, bool (*wanted)(const TlReportRun *, int64_t),
                           char *text, size_t size) {
  enum { NAMED = 12 };
  int64_t count = 0, least[NAMED];
  size_t used = 0;
  text[0] = 0;
  for (int64_t b = 0; b < run->motion.bodies; b++) {
    if (!tl_report_motion_grain(&run->motion, b) || !wanted(run, b)) continue;
    int64_t id = run->motion.id[b], kept = count < NAMED ? count : NAMED, k = kept;
    count++;
    for (; k > 0 && least[k - 1] > id; k--)
      if (k < NAMED) least[k] = least[k - 1];
    if (k < NAMED) least[k] = id;
  }
  for (int64_t k = 0; k < count && k < NAMED && used < size; k++)
    used += (size_t)snprintf(text + used, size - used, "%s%lld", k > 0 ? ", " : "",
                             (long long)least[k]);
  if (count > NAMED && used < size)
    snprintf(text + used, size - used, " and %lld more", (long long)count - NAMED);
  return count;
}

static bool flagged_embedded(const TlReportRun *run, int64_t b) {
  return run->motion.flags[b] & TL_ROW_EMBEDDED;
}
static bool flagged_unresolved(const TlReportRun *run, int64_t b) {
  return run->motion.flags[b] & TL_ROW_UNRESOLVED;
}
static bool left(const TlReportRun *run, int64_t b) {
  return tl_report_motion_gone(&run->motion, b);
}

/* Of a test with a device: stages that most_s ended, and the one in which the test ended. */
static void warn_stages(const TlReportRun *run, double end_s, TlHtml *items, int64_t *count) {
  char had[40], name[80];
  for (int64_t k = 0; k < run->stages; k++) {
    const TlDeviceStage *s = &run->stage[k];
    if (run->device == TL_DEVICE_DIRECT_SHEAR)
      snprintf(name, sizeof name, "%s", s->kind);
    else
      snprintf(name, sizeof name, "stage %lld of %lld%s%s%s", (long long)k + 1,
               (long long)run->stages, *s->kind ? " (" : "", s->kind, *s->kind ? ")" : "");
    if (s->late)
      warn(items, count,
           "S%s was ended by its most_s and not by its own condition: %s. A larger most_s lets it "
           "come to its end.",
           name + 1, s->reached);
    if (s->ended) continue;
    double until = fmax(run->motion.time_s[run->motion.frames - 1],
                        run->column[TL_DEVICE_TIME][run->rows - 1]);
    number(had, until);
    if (until >= end_s - 1.5 * run->scene.step_s)
      warn(items, count,
           "The test is not complete: the time of the run, %s s, was over in %s: %s. A longer "
           "time.duration_s and talus-solve --resume continue it.",
           had, name, s->reached);
    else
      warn(items, count,
           "The test is not complete: its results end at %s s, in %s: %s. It was stopped, has "
           "failed, or still runs. talus-solve --resume continues it, or repeats the message of "
           "its failure.",
           had, name, s->reached);
    return; /* the others have not begun */
  }
}

static void warn_unfinished(const TlReportRun *run, const TlYamlNode *study, TlHtml *items,
                            int64_t *count) {
  double duration = NAN, steps = NAN, dt = run->scene.step_s;
  const TlYamlNode *time = tl_yaml_find(study, "time");
  if (tl_parse_real(text_at(time, "duration_s"), &duration) != TL_OK) duration = NAN;
  if (tl_parse_real(text_at(time, "steps"), &steps) != TL_OK) steps = NAN;
  const TlFrameMotion *last = &run->measure.frame[run->measure.frame_count - 1].motion;
  bool rests =
      strcmp(text_at(time, "until_rest"), "true") == 0 && (last->at_rest || last->bodies == 0);
  double end = duration > 0 ? duration : steps * dt,
         until = run->motion.time_s[run->motion.frames - 1];
  char had[40], wanted[40];
  if (run->device) {
    warn_stages(run, end, items, count);
    return;
  }
  if (rests || !(end > 0) || until >= end - 1.5 * dt) return;
  double every = run->motion.frames > 1 ? until - run->motion.time_s[run->motion.frames - 2] : 0;
  if (until + every > end + 1.5 * dt) return; /* the next frame would lie beyond the end */
  warn(items, count,
       "The run is not complete: the study asks for %s s, the last frame is at %s s. It was "
       "stopped, or still runs. talus-solve --resume continues it.",
       number(wanted, end), number(had, until));
}

/* Poured grains have the ids from 0 on, in the order in which they come. */
static void warn_inlet(const TlReportRun *run, const TlYamlNode *study, TlHtml *items,
                       int64_t *count) {
  const TlReportMotion *m = &run->motion;
  const TlYamlNode *release = tl_yaml_find(study, "release");
  double grains = NAN, rate = NAN;
  int64_t entered = 0, last = llround(m->time_s[m->frames - 1] / run->scene.step_s) - 1;
  char text[40], by[64] = "";
  if (strcmp(text_at(release, "assembly"), "poured") != 0 ||
      tl_parse_real(text_at(release, "count"), &grains) != TL_OK ||
      tl_parse_real(text_at(release, "rate_per_s"), &rate) != TL_OK)
    return;
  for (int64_t b = 0; b < m->bodies; b++)
    if (tl_report_motion_grain(m, b) && (double)m->id[b] < grains && m->id[b] >= entered)
      entered = m->id[b] + 1;
  int64_t due = tl_grains_due(rate, run->scene.step_s, last > 0 ? last : 0, (int64_t)grains);
  if (rate > 0) snprintf(by, sizeof by, " by release.rate_per_s of %s", number(text, rate));
  if (tl_inlet_distrusted(due - entered, due))
    warn(items, count,
         "The inlet let in %lld of the %lld grains that were due%s: for the others it had no free "
         "place, because grains lay in it or did not leave it as fast. What there is of them is "
         "less "
         "than the study asks for.",
         (long long)entered, (long long)due, by);
}

static TlStatus warn_motion(const TlReportRun *run, TlHtml *items, int64_t *count) {
  const TlReportMotion *m = &run->motion;
  char text[40], other[40], ids[300];
  double mass = 0, moving = 0;
  int64_t grains = 0, movers = 0;
  for (int64_t i = 0; i < run->last.count; i++) {
    const TlBodyRow *row = &run->last.rows[i];
    double part;
    if (row->flags & (TL_ROW_NO_GRAIN | TL_ROW_OUTSIDE)) continue;
    grains++;
    if (row->flags & TL_ROW_FROZEN) continue;
    TL_TRY(tl_measure_mass(&run->scene, row, &part));
    mass += part;
    if (tl_report_row_moves(&run->scene, row)) moving += part, movers++;
  }
  if (!run->device && moving > 0.01 * mass)
    warn(items, count,
         "Not at rest: in the last frame, at %s s, %lld of %lld grains still move, %s%% of the "
         "mass. Runout, stopping places and deposit are not final. (A grain moves when its "
         "surface is faster than a hundredth of sqrt(g d).)",
         number(text, m->time_s[m->frames - 1]), (long long)movers, (long long)grains,
         number(other, 100 * moving / mass));
  int64_t gone = name_grains(run, left, ids, sizeof ids);
  if (gone > 0)
    warn(
        items, count,
        "%lld of %lld grains left the terrain or were taken out (%s). How far they would have "
        "gone is not known: runout, front and quantiles count them at the place where they left%s.",
        (long long)gone, (long long)(grains + gone), ids,
        run->unresolved > 0 ? "; distances and reach angles leave out blocks that were unresolved"
                            : "");
  if (m->frames < 3) return TL_OK;
  /* how far grains go from frame to frame, in their diameters */
  double most = 0;
  for (int64_t b = 0; b < m->bodies; b++) {
    if (!tl_report_motion_grain(m, b)) continue;
    double d = m->scale[b] * tl_avatar_diameter_m(&run->scene.avatars[m->shape[b]]);
    for (int64_t f = 1; f < m->frames; f++) {
      int64_t at = tl_report_motion_at(m, b, f);
      if (m->there[at] && m->there[at - 1])
        most = fmax(most, tl_norm(tl_sub(m->place_m[at], m->place_m[at - 1])) / d);
    }
  }
  if (most > 3)
    warn(items, count,
         "Frames are far apart: up to %s diameters of a grain from one to the next. Paths on maps "
         "are straight between frames%s. A shorter time.frame_every_s in the study shows more.",
         number(text, most),
         run->step_speed_m_s ? ", as is the playback; maps of values are of all steps"
                             : ", and largest speeds and energies of single grains may be missed");
  return TL_OK;
}

/* Bodies on the study's joints, which no measure counts as grains; pistons of tests are not meant. */
static void warn_joints(const TlReportRun *run, const TlYamlNode *study, TlHtml *items,
                        int64_t *count) {
  const TlYamlNode *joints = tl_yaml_find(study, "joints");
  int64_t movers = 0, last = -1; /* rows of a body's parts follow each other */
  if (!joints || joints->kind != TL_YAML_LIST || joints->count == 0) return;
  for (int64_t i = 0; i < run->last.count; i++) {
    const TlBodyRow *row = &run->last.rows[i];
    if (!(row->flags & TL_ROW_GUIDED) || row->flags & TL_ROW_FROZEN || row->body == last) continue;
    if (!tl_report_row_moves(&run->scene, row)) continue;
    last = row->body;
    movers++;
  }
  if (movers > 0)
    warn(items, count,
         "Not at rest: in the last frame bodies on joints still move (%lld of them). Measures of "
         "grains do not count them.",
         (long long)movers);
}

/* Blocks of an ensemble, or on ground of a named kind, that came to rest within their diameter of where they were released, and
 * blocks that are not of rock. */
static TlStatus warn_blocks(const TlReportRun *run, TlHtml *items, int64_t *count) {
  const TlReportMotion *m = &run->motion;
  int64_t blocks = 0, never = 0, light = 0;
  for (int64_t b = 0; b < m->bodies; b++) {
    if (!tl_report_motion_grain(m, b)) continue;
    const TlBodyRow row = {.id = m->id[b], .material = m->material[b]};
    double volume = run->scene.avatars[m->shape[b]].volume_m3 * pow(m->scale[b], 3), density;
    TlVec3 start = m->place_m[tl_report_motion_at(m, b, 0)],
           end = m->place_m[tl_report_motion_at(m, b, m->frames - 1)];
    TL_TRY(tl_scene_density(&run->scene, &row, &density));
    blocks++;
    never += !left(run, b) && !run->moving[b] && tl_never_started(start, end, volume);
    light += density < TL_ROCK_LEAST_KG_M3 || density > TL_ROCK_MOST_KG_M3;
  }
  if (never > 0)
    warn(items, count,
         "%lld of %lld blocks never started: they lie within their diameter of where they were "
         "released. They count in what is said of all grains%s.",
         (long long)never, (long long)blocks,
         run->runout_m ? ", but not in distances travelled and reach angles" : "");
  if (light > 0)
    warn(items, count,
         "%lld of %lld blocks have a density outside of %d to %d kg/m3, that of rock: energies are "
         "as wrong as the density.",
         (long long)light, (long long)blocks, TL_ROCK_LEAST_KG_M3, TL_ROCK_MOST_KG_M3);
  return TL_OK;
}

/* ---- values of the ground ---- */

static double number_at(const TlYamlNode *map, const char *key) {
  double value = 0;
  return tl_parse_real(text_at(map, key), &value) == TL_OK ? value : 0;
}

/* Kinds that are moved between those of the table have values of several. */
static bool is_shifted(const TlYamlNode *study, const TlYamlNode *terrain) {
  const TlYamlNode *ensemble = tl_yaml_find(study, "ensemble");
  const TlYamlNode *ranges =
      ensemble && ensemble->kind == TL_YAML_MAP ? tl_yaml_find(ensemble, "ranges") : NULL;
  for (size_t i = 0; ranges && i < ranges->count; i++)
    if (strcmp(text_at(&ranges->children[i], "key"), "terrain.ground_shift") == 0) return true;
  return number_at(terrain, "ground_shift") != 0;
}

static bool is_kind(const char *ground) {
  return *ground && strcmp(ground, "none") != 0;
}

static TlStatus add_kind(const char *kind, bool shifted, TlGrowingText *kinds) {
  if (!is_kind(kind)) return TL_OK;
  if (tl_ground_is_compared(kind) && !shifted) return TL_OK;
  size_t length = strlen(kind);
  for (const char *at = kinds->text ? kinds->text : ""; *at;) { /* once each */
    size_t word = strcspn(at, ",");
    if (word == length && strncmp(at, kind, length) == 0) return TL_OK;
    at += word + strspn(at + word, ", ");
  }
  return tl_text_add(kinds, ", ", kind);
}

/* Of the ground and its forest: values that are from memory, which shape/ground_sources.h names. */
static TlStatus warn_sources(const TlYamlNode *study, TlHtml *items, int64_t *count) {
  const TlYamlNode *terrain = tl_yaml_find(study, "terrain");
  if (!terrain || terrain->kind != TL_YAML_MAP) return TL_OK;
  const TlYamlNode *classes = tl_yaml_find(terrain, "classes"),
                   *forest = tl_yaml_find(terrain, "forest");
  TlGrowingText kinds = {0};
  bool shifted = is_shifted(study, terrain), stems = number_at(forest, "stems_per_ha") > 0;
  TlStatus status = add_kind(text_at(terrain, "ground"), shifted, &kinds);
  for (size_t i = 0; status == TL_OK && classes && i < classes->count; i++) {
    status = add_kind(text_at(&classes->children[i], "ground"), shifted, &kinds);
    stems |= number_at(&classes->children[i], "stems_per_ha") > 0;
  }
  if (status == TL_OK && kinds.text)
    warn(items, count,
         "Values of the ground were not compared with a published source%s: %s. They are a "
         "starting point; neighbouring kinds show what depends on them (docs/theory/ground.md).",
         shifted ? ", since kinds are moved along their table" : "", kinds.text);
  if (status == TL_OK && stems && !(number_at(forest, "stem_energy_kJ") > 0))
    warn(items, count,
         "The energy that a stem takes follows from its diameter by a relation for conifers that "
         "was not compared with a source: terrain.forest.stem_energy_kJ gives that of the "
         "species (docs/theory/ground.md).");
  tl_free(kinds.text);
  return status;
}

static bool names_ground(const TlYamlNode *study) {
  const TlYamlNode *terrain = tl_yaml_find(study, "terrain");
  const TlYamlNode *classes =
      terrain && terrain->kind == TL_YAML_MAP ? tl_yaml_find(terrain, "classes") : NULL;
  for (size_t i = 0; classes && i < classes->count; i++)
    if (is_kind(text_at(&classes->children[i], "ground"))) return true;
  return is_kind(text_at(terrain, "ground"));
}

/* Of blocks on ground, as far as the study tells of them. */
static TlStatus warn_rockfall(const TlReportRun *run, const TlYamlNode *study, TlHtml *items,
                              int64_t *count) {
  if (tl_scene_is_ensemble(&run->scene) || names_ground(study))
    TL_TRY(warn_blocks(run, items, count));
  return warn_sources(study, items, count);
}

static void warn_collisions(const TlReportRun *run, TlHtml *items, int64_t *count) {
  char text[40], ids[300];
  double embedded = last_of(run, "embedded"), unresolved = last_of(run, "unresolved");
  int64_t flagged = name_grains(run, flagged_embedded, ids, sizeof ids);
  if (embedded > 0 || flagged > 0)
    warn(items, count,
         "%s grains could not be brought out of another grain or a wall%s%s%s. Their shapes may be "
         "badly reconstructed, or they were placed into each other.",
         number(text, fmax(embedded, (double)flagged)), flagged > 0 ? " (" : "", ids,
         flagged > 0 ? ")" : "");
  flagged = name_grains(run, flagged_unresolved, ids, sizeof ids);
  if (unresolved > 0 || flagged > 0)
    warn(items, count,
         "%s grains had collisions that the solver could not resolve%s%s%s; they may have gained "
         "or lost energy.",
         number(text, fmax(unresolved, (double)flagged)), flagged > 0 ? " (" : "", ids,
         flagged > 0 ? ")" : "");
}

static void warn_depth(const TlReportRun *run, TlHtml *items, int64_t *count) {
  const TlMeasure *m = &run->measure;
  char text[40], other[40], third[40];
  /* measures see nodes, of balls the surfaces; the solver sees its own contacts: the larger of both counts */
  double solver = last_of(run, "overlap_share"), in_wall = last_of(run, "boundary_overlap_share");
  double overlap = fmax(m->largest_overlap_fraction, solver), last_step = fmax(solver, in_wall),
         measured = fmax(m->largest_overlap_fraction, m->largest_penetration_fraction);
  double during = fmax(largest_of(run, "overlap_share"), largest_of(run, "boundary_overlap_share"));
  during = fmax(during, fmax(last_of(run, "deepest_overlap_share"),
                             last_of(run, "deepest_boundary_overlap_share")));
  if (m->has_solid && m->largest_penetration_fraction > tl_deep_fraction)
    warn(items, count,
         "Penetration: grain %lld lies %s%% of its radius deep in the ground or a wall in the last "
         "frame; %lld grains lie deeper than %g%%.",
         (long long)m->deepest_id, number(text, 100 * m->largest_penetration_fraction),
         (long long)m->below_2_percent, 100 * tl_deep_fraction);
  else if (in_wall > tl_deep_fraction)
    warn(items, count,
         "Penetration: a grain lies %s%% of its radius deep in the ground or a wall in the last "
         "step, by the solver's contacts; its nodes do not show it.",
         number(text, 100 * in_wall));
  if (overlap > TL_OVERLAP_LIMIT && !tl_scene_is_ensemble(&run->scene))
    warn(items, count,
         "Two grains overlap by %s%% of the smaller one's radius in the last frame (%lld pairs "
         "overlap at all%s). Stiffer contacts or a shorter step lower it.",
         number(text, 100 * overlap), (long long)m->overlapping_pairs,
         solver > m->largest_overlap_fraction
             ? " by their nodes; the depth is the solver's, at the start of the last step"
             : "");
  if (during > TL_OVERLAP_LIMIT && during > 1.5 * fmax(last_step, measured))
    warn(items, count,
         "During the run overlaps reached %s%% of a radius by the solver's contacts, which were up "
         "to %s%% deep at the start of the last step; measured in the last frame the deepest is "
         "%s%%.",
         number(text, 100 * during), number(other, 100 * last_step), number(third, 100 * measured));
  if (!run->scene.has_terrain) return;
  double on_filled = tl_report_on_filled(&run->scene, &run->motion, run->moving);
  if (run->scene.terrain.holes_filled > 0 && isnan(on_filled))
    warn(items, count,
         "%lld samples of the terrain had no data and were filled from their rim: what grains do "
         "there, and that they stop there, is a guess. Which samples is not stored with this run.",
         (long long)run->scene.terrain.holes_filled);
  else if (run->scene.terrain.holes_filled > 0)
    warn(items, count,
         "%lld samples of the terrain had no data and were filled from their rim: what grains do "
         "there is a guess. %.0f grains came to rest there.",
         (long long)run->scene.terrain.holes_filled, on_filled);
  int64_t small = 0, grains = 0;
  for (int64_t b = 0; b < run->motion.bodies; b++) {
    if (!tl_report_motion_grain(&run->motion, b)) continue;
    const TlAvatar *a = &run->scene.avatars[run->motion.shape[b]];
    grains++;
    small += run->motion.scale[b] * tl_avatar_diameter_m(a) < run->scene.terrain.cell_m;
  }
  if (small > 0)
    warn(items, count,
         "%lld of %lld grains are smaller across than the terrain's cell of %s m: the ground has "
         "no detail at their size, so bounces are smoother than in the field.",
         (long long)small, (long long)grains, number(text, run->scene.terrain.cell_m));
}

static void warn_solves(const TlReportRun *run, TlHtml *items, int64_t *count) {
  double inaccurate = last_of(run, "inaccurate_steps"), steps = last_of(run, "step");
  char text[40];
  if (tl_solves_distrusted(inaccurate, steps))
    warn(items, count,
         "In %.0f of %.0f steps a solve ended at its limit of iterations far from its solution, "
         "with a residual of up to %s m/s: forces, friction and overlaps are not those of the "
         "contact law. More nonsmooth.iterations and nonsmooth.impact_iterations (or auto) or a "
         "shorter time.dt_s would help.",
         inaccurate, steps, number(text, last_of(run, "largest_residual_m_s")));
}

/* Methods that book no energy have 0 in these columns. */
static void warn_energy(const TlReportRun *run, TlHtml *items, int64_t *count) {
  const TlTurnover e = {.damping_J = last_of(run, "contact_damping_loss_J"),
                        .other_J = last_of(run, "friction_loss_J") + last_of(run, "impact_loss_J") +
                                   last_of(run, "merge_loss_J") +
                                   last_of(run, "global_damping_loss_J"),
                        .wall_J = last_of(run, "wall_work_J"),
                        .most_kinetic_J = largest_of(run, "kinetic_energy_J"),
                        .potential_J = last_of(run, "potential_energy_J"),
                        .balance_error_J = last_of(run, "energy_balance_error_J")};
  char text[40], other[40];
  number(other, tl_turned_over_J(&e));
  if (tl_damping_distrusted(&e))
    warn(
        items, count,
        "Made-up energy: contact damping gave %s J where it can only take energy, with %s J turned "
        "over. The time step is too long or the solve too rough; neither motion nor forces are to "
        "be trusted. A shorter time.dt_s (or more iterations) would help.",
        number(text, -e.damping_J), other);
  if (run->device != TL_DEVICE_TRIAXIAL &&
      tl_balance_distrusted(&e)) /* warn_test judges the balance of a test */
    warn(
        items, count,
        "%s J are missing from the energy balance, with %s J turned over (1%% or less is usual). A "
        "shorter time.dt_s would show by how much results depend on the step.",
        number(text, fabs(e.balance_error_J)), other);
}

/* Of an ensemble's releases, by blocks.csv, whose blocks follow each other. */
typedef struct Releases {
  int64_t count, above; /* all; those with more than the limit */
  double most;
} Releases;

/* Of results of an older version, which have no such column, none. */
static TlStatus count_releases(const TlTable *t, const char *name, double limit, Releases *r) {
  int column = tl_table_column(t, name), release = tl_table_column(t, "release");
  double before = NAN;
  *r = (Releases){0};
  for (int64_t i = 0; column >= 0 && release >= 0 && i < t->rows; i++) {
    double number, value;
    TL_TRY(tl_table_number(t, i, release, &number));
    TL_TRY(tl_table_number(t, i, column, &value));
    if (number == before) continue;
    before = number;
    r->count++;
    r->above += value > limit;
    r->most = fmax(r->most, value);
  }
  return TL_OK;
}

static TlStatus warn_table(const TlTable *t, TlHtml *items, int64_t *count) {
  Releases r;
  char text[40];
  TL_TRY(count_releases(t, "release_overlap_share", TL_OVERLAP_LIMIT, &r));
  if (r.above > 0)
    warn(
        items, count,
        "In %lld of %lld releases blocks overlapped by more than %g%% of the smaller one's radius, "
        "by up to %s%%. Stiffer contacts or a shorter step lower it.",
        (long long)r.above, (long long)r.count, 100 * TL_OVERLAP_LIMIT, number(text, 100 * r.most));
  TL_TRY(count_releases(t, "release_inaccurate_share", TL_INACCURATE_LIMIT, &r));
  if (r.above > 0)
    warn(
        items, count,
        "In %lld of %lld releases more than %g%% of the steps had a solve that ended at its "
        "limit of iterations far from its solution: motion and forces are not those of the contact "
        "law. More nonsmooth.iterations and nonsmooth.impact_iterations (or auto) or a shorter "
        "time.dt_s would help.",
        (long long)r.above, (long long)r.count, 100 * TL_INACCURATE_LIMIT);
  TL_TRY(count_releases(t, "release_made_up_energy_share", TL_ENERGY_LIMIT, &r));
  if (r.above > 0)
    warn(items, count,
         "Made-up energy: in %lld of %lld releases contact damping gave energy where it can only "
         "take some, up to %s%% of what was turned over. Their motion is not to be trusted. A "
         "shorter time.dt_s (or more iterations) would help.",
         (long long)r.above, (long long)r.count, number(text, 100 * r.most));
  TL_TRY(count_releases(t, "release_balance_error_share", TL_ENERGY_LIMIT, &r));
  if (r.above > 0)
    warn(items, count,
         "In %lld of %lld releases more than %g%% of the energy that was turned over is missing "
         "from "
         "the balance, up to %s%% (1%% or less is usual). A shorter time.dt_s would show by how "
         "much "
         "results depend on the step.",
         (long long)r.above, (long long)r.count, 100 * TL_ENERGY_LIMIT, number(text, 100 * r.most));
  return TL_OK;
}

/* Where each release had its own ground, the frames cannot tell. */
static TlStatus warn_other_grounds(const TlTable *t, TlHtml *items, int64_t *count) {
  Releases r;
  char text[40];
  TL_TRY(count_releases(t, "release_depth_share", tl_deep_fraction, &r));
  if (r.above > 0)
    warn(items, count,
         "Penetration: in %lld of %lld releases a block lies deeper than %g%% of its radius in the "
         "ground or a wall at the end, the deepest %s%%.",
         (long long)r.above, (long long)r.count, 100 * tl_deep_fraction,
         number(text, 100 * r.most));
  return TL_OK;
}

static TlStatus warn_releases(const TlReportRun *run, TlHtml *items, int64_t *count) {
  TlTable table = {0};
  if (!tl_scene_is_ensemble(&run->scene)) return TL_OK;
  char *path = tl_path_join(run->folder, "blocks.csv");
  TlStatus status = path ? TL_OK : TL_ENOMEM;
  if (status == TL_OK && tl_file_exists(path)) status = tl_table_read(path, &table);
  if (status == TL_OK && table.path) status = warn_table(&table, items, count);
  if (status == TL_OK && table.path && tl_scene_other_grounds(&run->scene))
    status = warn_other_grounds(&table, items, count);
  tl_table_free(&table);
  tl_free(path);
  return status;
}

static void warn_reduction(const TlReportRun *run, const TlYamlNode *study, TlHtml *items,
                           int64_t *count) {
  const char *split = text_at(tl_yaml_find(study, "reduction"), "split");
  if (*split && strcmp(split, "off") != 0)
    warn(
        items, count,
        "Model reduction was on (reduction.split: %s): in the last step %.0f bodies of %.0f grains "
        "moved as parts of rigid aggregates. It makes piles stiffer; compare angles and loads with "
        "a run without it.",
        split, last_of(run, "merged"), last_of(run, "grains"));
}

static void warn_test(const TlReportRun *run, TlHtml *items, int64_t *count) {
  const TlFigures *f = &run->figures;
  char text[40];
  double inertia = tl_figures_get(f, "largest_inertia_number"),
         balance = tl_figures_get(f, "platen_base_difference"),
         error = tl_figures_get(f, "energy_balance_error_share"),
         escaped = tl_figures_get(f, "grains_escaped");
  if (inertia > 1e-3)
    warn(items, count,
         "The shear is fast: the inertia number reaches %s, above 1e-3, so stresses depend on the "
         "rate. A slower rate_per_s would show by how much.",
         number(text, inertia));
  if (balance > 0.05)
    warn(items, count,
         "Base and platen forces differ by %s%% on average: the specimen is not in balance between "
         "its ends.",
         number(text, 100 * balance));
  if (error > 1)
    warn(items, count,
         "%s%% of the work is missing from the energy balance (1%% or less is usual).",
         number(text, error));
  if (escaped > 0)
    warn(items, count, "%s grains got out of the membrane or past a platen.",
         number(text, escaped));
}

/* study: without children where it cannot be read. */
static TlStatus warn_of_all(const TlReportRun *run, const TlYamlNode *study, TlHtml *items,
                            int64_t *count) {
  char text[40];
  warn_unfinished(run, study, items, count);
  warn_inlet(run, study, items, count);
  TL_TRY(warn_motion(run, items, count));
  warn_joints(run, study, items, count);
  TL_TRY(warn_rockfall(run, study, items, count));
  warn_collisions(run, items, count);
  warn_depth(run, items, count);
  warn_solves(run, items, count);
  warn_energy(run, items, count);
  TL_TRY(warn_releases(run, items, count));
  warn_reduction(run, study, items, count);
  if (run->device == TL_DEVICE_TRIAXIAL) warn_test(run, items, count);
  if (run->scene.grain_scale != 1)
    warn(items, count,
         "Grains are %s times their scanned size: the shapes are those of the scan, sizes and "
         "masses are not.",
         number(text, run->scene.grain_scale));
  if (run->scene.ranks_matter)
    warn(items, count,
         "The run was made with solver.deterministic: no. On another number of ranks it has other "
         "results.");
  if (run->history_fault)
    warn(items, count, "The run's table over time cannot be read, so its plots are missing: %s",
         run->history_fault);
  if (run->table_fault)
    warn(items, count, "The table of the test cannot be read, so how it ended is not known: %s",
         run->table_fault);
  if (run->scene.provenance && strstr(run->scene.provenance, "-dirty\""))
    warn(items, count,
         "A program behind this run was built from changed sources (its commit ends in -dirty), so "
         "the commit alone does not tell what ran.");
  return items->status;
}

TlStatus tl_report_run_warnings(const TlReportRun *run, TlHtml *items, int64_t *count) {
  const char *text = run->scene.study ? run->scene.study : "";
  TlYamlNode study = {0};
  if (tl_yaml_parse("study", text, strlen(text), &study) != TL_OK || study.kind != TL_YAML_MAP)
    tl_yaml_free(&study);
  TlStatus status = warn_of_all(run, &study, items, count);
  tl_yaml_free(&study);
  return status;
}
