#include "run/ensemble.h"

#include "base/log.h"
#include "base/mem.h"
#include "num/quantile.h"
#include "num/relation.h"
#include "num/sort.h"
#include "run/densities.h"
#include "run/sense.h"
#include "store/scene_depth.h"
#include "store/trust.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Quantiles of the runout. */
static const struct {
  const char *name;
  double p;
} quantiles[] = {{"median", 0.5}, {"90_percent", 0.9}, {"95_percent", 0.95}, {"99_percent", 0.99}};
enum { QUANTILES = sizeof quantiles / sizeof *quantiles };

/* So many blocks (releases, of several blocks) should lie beyond a quantile. */
static const double beyond = 10;

static bool has_runout(const TlBlockRecord *r) {
  return tl_fate_has_runout((TlFate)r->fate);
}

/* Of the blocks of a release that have a runout the farthest, and the largest energy; false: none
 * has one. */
static bool farthest(const TlEnsemble *e, int64_t release, double *runout, double *energy) {
  bool any = false;
  *runout = *energy = 0;
  for (int64_t k = 0; k < e->together; k++) {
    const TlBlockRecord *r = &e->record[release * e->together + k];
    if (!has_runout(r)) continue;
    any = true;
    *runout = fmax(*runout, tl_block_runout(r));
    *energy = fmax(*energy, r->energy_J);
  }
  return any;
}

static int64_t releases_with_runout(const TlEnsemble *e) {
  double runout, energy;
  int64_t sum = 0;
  for (int64_t m = 0; m < e->releases; m++) sum += farthest(e, m, &runout, &energy);
  return sum;
}

TlGroundFilled tl_block_ends_on(const TlEnsemble *e, const TlBlockRecord *r) {
  if (r->fate == TL_FATE_LEFT) return TL_GROUND_MEASURED;
  return tl_terrain_filled(&e->run.model->terrain, r->end.position.x, r->end.position.y);
}

/* ---- runouts ---- */

/* Runouts that are looked at: of the blocks that have one, in groups that are independent of each other
 * (those of a release), or one of each release. */
typedef struct Runouts {
  double *value; /* group by group */
  int64_t *end;  /* of each group among them */
  int64_t groups, count;
  double *sorted; /* rising */
} Runouts;

static void free_runouts(Runouts *x) {
  tl_free(x->value);
  tl_free(x->sorted);
  tl_free(x->end);
}

/* each: of each block; else the farthest of each release. x: zero, to be freed also after a failure. */
static TlStatus take_runouts(const TlEnsemble *e, bool each, Runouts *x) {
  double runout, energy;
  TL_TRY(TL_NEW(x->value, (size_t)e->count));
  TL_TRY(TL_NEW(x->sorted, (size_t)e->count));
  TL_TRY(TL_NEW(x->end, (size_t)e->releases));
  for (int64_t m = 0; m < e->releases; m++) {
    if (!farthest(e, m, &runout, &energy)) continue;
    for (int64_t k = 0; each && k < e->together; k++) {
      const TlBlockRecord *r = &e->record[m * e->together + k];
      if (has_runout(r)) x->value[x->count++] = tl_block_runout(r);
    }
    if (!each) x->value[x->count++] = runout;
    x->end[x->groups++] = x->count;
  }
  memcpy(x->sorted, x->value, (size_t)x->count * sizeof *x->sorted);
  if (x->count > 0) qsort(x->sorted, (size_t)x->count, sizeof *x->sorted, tl_by_real);
  return TL_OK;
}

/* Sum over the groups of the square of what their members add to a sum: of the values less a mean
 * (below NaN), or of those up to `below` less the expected fraction. */
static double squares(const Runouts *x, double below, double less) {
  double all = 0;
  for (int64_t g = 0, i = 0; g < x->groups; g++) {
    double sum = 0;
    for (; i < x->end[g]; i++) sum += (isnan(below) ? x->value[i] : x->value[i] <= below) - less;
    all += sum * sum;
  }
  return all;
}

/* Half the distance of the values that lie as many ranks to either side as the number of values below
 * the quantile has as its standard deviation: sqrt(n p (1 - p)) of independent values, else from the
 * numbers of the groups. */
static double quantile_error(const Runouts *x, double p) {
  double n = (double)x->count, value = tl_quantile_of_sorted(x->sorted, x->count, p);
  double aside = x->groups == x->count ? sqrt(p * (1 - p) / n) : sqrt(squares(x, value, p)) / n;
  return 0.5 * (tl_quantile_of_sorted(x->sorted, x->count, p + aside) -
                tl_quantile_of_sorted(x->sorted, x->count, p - aside));
}

static TlStatus real(TlReport *r, const char *name, double value, const char *unit) {
  return isfinite(value) ? tl_report_real(r, name, value, unit)
                         : tl_report_text(r, name, "too few blocks");
}

static TlStatus report_line(TlReport *r, const char *key, const char *what, double value,
                            const char *unit) {
  char name[192];
  snprintf(name, sizeof name, "%s_%s", key, what);
  for (char *c = name; *c; c++)
    if (*c == '.') *c = '_';
  return real(r, name, value, unit);
}

static TlStatus report_runouts(const Runouts *x, const char *of, TlReport *r) {
  double sum = 0, n = (double)x->count, groups = (double)x->groups;
  for (int64_t i = 0; i < x->count; i++) sum += x->sorted[i];
  double mean = x->count > 0 ? sum / n : NAN;
  double error = x->groups > 1 ? sqrt(groups / (groups - 1) * squares(x, NAN, mean)) / n : NAN;
  TL_TRY(report_line(r, of, "mean", mean, "m"));
  TL_TRY(report_line(r, of, "mean_error", error, "m"));
  for (int q = 0; q < QUANTILES; q++) {
    char name[64];
    double p = quantiles[q].p;
    snprintf(name, sizeof name, "%s_error", quantiles[q].name);
    TL_TRY(
        report_line(r, of, quantiles[q].name, tl_quantile_of_sorted(x->sorted, x->count, p), "m"));
    TL_TRY(report_line(r, of, name, x->count > 0 ? quantile_error(x, p) : NAN, "m"));
  }
  return report_line(r, of, "largest", x->count > 0 ? x->sorted[x->count - 1] : NAN, "m");
}

/* Of the blocks; of releases of several blocks also the farthest block's of each. */
static TlStatus report_all_runouts(const TlEnsemble *e, TlReport *r) {
  Runouts x = {0}, far = {0};
  TlStatus status = take_runouts(e, true, &x);
  if (status == TL_OK) status = tl_report_int(r, "runout_blocks", x.count, "");
  if (status == TL_OK) status = report_runouts(&x, "runout", r);
  if (status == TL_OK && e->together > 1) status = take_runouts(e, false, &far);
  if (status == TL_OK && e->together > 1) status = report_runouts(&far, "release_runout", r);
  free_runouts(&x);
  free_runouts(&far);
  return status;
}

typedef struct Sums {
  int64_t fate[TL_FATES], steps;
  double on_filled; /* stopped there, or never started; NaN: not known */
  double speed, energy, jump;
} Sums;

/* Of all releases: the worst of each figure, and how many are not to be trusted for it. */
typedef struct Trust {
  TlReleaseTrust worst;
  int64_t overlapping, inaccurate, made_up, missing; /* releases */
  int64_t deep;                                      /* blocks */
} Trust;

static void take_trust(Trust *sum, const TlReleaseTrust *one) {
  TlReleaseTrust *w = &sum->worst;
  w->travel = fmax(w->travel, one->travel);
  w->overlap_share = fmax(w->overlap_share, one->overlap_share);
  w->depth_share = fmax(w->depth_share, one->depth_share);
  w->inaccurate_share = fmax(w->inaccurate_share, one->inaccurate_share);
  w->made_up_share = fmax(w->made_up_share, one->made_up_share);
  w->missing_share = fmax(w->missing_share, one->missing_share);
  sum->deep += one->deep;
  sum->overlapping += one->overlap_share > TL_OVERLAP_LIMIT;
  sum->inaccurate += one->inaccurate_share > TL_INACCURATE_LIMIT;
  sum->made_up += one->made_up_share > TL_ENERGY_LIMIT;
  sum->missing += one->missing_share > TL_ENERGY_LIMIT;
}

static Trust trust_of(const TlEnsemble *e) {
  Trust sum = {.worst = {.inaccurate_share = NAN, .made_up_share = NAN, .missing_share = NAN}};
  for (int64_t m = 0; m < e->releases; m++) take_trust(&sum, &e->record[m * e->together].trust);
  return sum;
}

static Sums sums_of(const TlEnsemble *e) {
  Sums s = {{0}};
  for (int64_t i = 0; i < e->count; i++) {
    const TlBlockRecord *r = &e->record[i];
    s.fate[r->fate]++;
    s.steps += r->steps;
    if (r->fate == TL_FATE_STOPPED || r->fate == TL_FATE_NOT_STARTED)
      s.on_filled += tl_ground_filled_number(tl_block_ends_on(e, r));
    s.speed = fmax(s.speed, r->speed_m_s);
    s.energy = fmax(s.energy, r->energy_J);
    s.jump = fmax(s.jump, r->jump_m);
  }
  return s;
}

/* ---- what runout and energy depend on ---- */

enum { DRAWN, RUNOUT, ENERGY, FIGURES };

/* What was drawn for block i (range -1: the volume) or release i, with the runout and energy of this
 * block, or of the farthest and the strongest of the release; false: it has no runout. */
static bool drawn(const TlEnsemble *e, int64_t range, int64_t i, double value[FIGURES]) {
  if (range >= 0) {
    value[DRAWN] = tl_ensemble_value(&e->run.model->setup, range, i);
    return farthest(e, i, &value[RUNOUT], &value[ENERGY]);
  }
  value[DRAWN] = e->record[i].volume_m3;
  value[RUNOUT] = tl_block_runout(&e->record[i]);
  value[ENERGY] = e->record[i].energy_J;
  return has_runout(&e->record[i]);
}

/* value: space for a number of each block. */
static TlStatus report_dependence(const TlEnsemble *e, int64_t range, const char *key,
                                  double *const value[FIGURES], TlReport *r) {
  int64_t n = 0;
  double low = INFINITY, high = -INFINITY;
  TlRelation runout, energy;
  for (int64_t i = 0; i < (range < 0 ? e->count : e->releases); i++) {
    double x[FIGURES];
    bool counts = drawn(e, range, i, x);
    low = fmin(low, x[DRAWN]);
    high = fmax(high, x[DRAWN]);
    if (!counts) continue;
    for (int k = 0; k < FIGURES; k++) value[k][n] = x[k];
    n++;
  }
  TL_TRY(tl_relation(value[DRAWN], value[RUNOUT], n, &runout));
  TL_TRY(tl_relation(value[DRAWN], value[ENERGY], n, &energy));
  TL_TRY(report_line(r, key, "least", low, ""));
  TL_TRY(report_line(r, key, "most", high, ""));
  TL_TRY(report_line(r, key, "rank_correlation_with_runout", runout.correlation, ""));
  TL_TRY(report_line(r, key, "rank_correlation_with_energy", energy.correlation, ""));
  TL_TRY(report_line(r, key, "lowest_quarter_runout_median", runout.lowest, "m"));
  return report_line(r, key, "highest_quarter_runout_median", runout.highest, "m");
}

static TlStatus report_ranges(const TlEnsemble *e, TlReport *r) {
  const TlEnsembleSetup *s = &e->run.model->setup.ensemble;
  const TlRangeSetup *range = s->ranges.items;
  bool volume = s->most_volume_m3 > s->least_volume_m3;
  double *all;
  size_t n = (size_t)e->count;
  if (!volume && s->ranges.count == 0) return TL_OK;
  TL_TRY(TL_NEW(all, FIGURES * n));
  double *const value[FIGURES] = {all, all + n, all + 2 * n};
  TlStatus status = TL_OK;
  for (int64_t k = volume ? -1 : 0; status == TL_OK && k < s->ranges.count; k++)
    status = report_dependence(e, k, k < 0 ? "volume_m3" : range[k].key, value, r);
  tl_free(all);
  TL_TRY(status);
  return real(r, "rank_correlation_by_chance", tl_relation_by_chance(releases_with_runout(e)), "");
}

/* What the nets bore: each release has its own. */
static TlStatus report_nets(const TlEnsemble *e, TlReport *r) {
  int64_t broken = 0;
  double energy = 0;
  if (e->run.model->nets.count == 0) return TL_OK;
  for (int64_t m = 0; m < e->releases; m++) {
    const TlBlockRecord *first = &e->record[m * e->together];
    broken += first->net_broken > 0;
    energy = fmax(energy, first->net_energy_J);
  }
  TL_TRY(tl_report_int(r, "releases_that_broke_bonds_of_nets", broken, ""));
  return tl_report_real(r, "largest_net_energy", energy / 1000, "kJ");
}

static TlStatus report_trust(const TlEnsemble *e, const Trust *trust, TlReport *r) {
  const TlReleaseTrust *w = &trust->worst;
  if (e->together > 1) TL_TRY(tl_report_real(r, "deepest_overlap_share", w->overlap_share, ""));
  TL_TRY(tl_report_real(r, "largest_penetration_of_radius", 100 * w->depth_share, "percent"));
  TL_TRY(tl_report_int(r, "blocks_deeper_than_2_percent", trust->deep, ""));
  if (!isnan(w->inaccurate_share))
    TL_TRY(tl_report_int(r, "releases_with_inaccurate_solves", trust->inaccurate, ""));
  if (!isnan(w->missing_share)) {
    TL_TRY(tl_report_real(r, "largest_made_up_energy", 100 * w->made_up_share, "percent"));
    TL_TRY(tl_report_real(r, "largest_energy_balance_error", 100 * w->missing_share, "percent"));
  }
  return tl_report_real(r, "largest_travel_per_step_of_radius", w->travel, "");
}

TlStatus tl_ensemble_report(const TlEnsemble *e, TlReport *r) {
  static const char *const name[TL_FATES] = {"blocks_stopped", "blocks_moving", "blocks_left",
                                             "blocks_not_started", "blocks_unresolved"};
  Sums s = sums_of(e);
  Trust trust = trust_of(e);
  TL_TRY(tl_report_text(r, "output", e->run.folder));
  if (e->together > 1) TL_TRY(tl_report_int(r, "releases", e->releases, ""));
  TL_TRY(tl_report_int(r, "blocks", e->count, ""));
  for (int f = 0; f < TL_FATES; f++) TL_TRY(tl_report_int(r, name[f], s.fate[f], ""));
  TL_TRY(isnan(s.on_filled)
             ? tl_report_text(r, "blocks_stopped_on_filled", "not known")
             : tl_report_int(r, "blocks_stopped_on_filled", (int64_t)s.on_filled, ""));
  TL_TRY(report_all_runouts(e, r));
  TL_TRY(report_ranges(e, r));
  TL_TRY(tl_report_real(r, "largest_speed", s.speed, "m/s"));
  TL_TRY(tl_report_real(r, "largest_energy", s.energy / 1000, "kJ"));
  TL_TRY(tl_report_real(r, "largest_jump_height", s.jump, "m"));
  TL_TRY(report_nets(e, r));
  TL_TRY(report_trust(e, &trust, r));
  TL_TRY(tl_report_int(r, "frames", e->run.state->totals.frames, ""));
  TL_TRY(tl_report_int(r, "steps", s.steps, ""));
  TL_TRY(tl_report_int(r, "ranks", tl_comm_size(e->comm), ""));
  TL_TRY(tl_report_int(r, "threads_per_rank", e->threads, ""));
  return tl_report_real(r, "wall", e->wall_s, "s");
}

static void warn_of_density(const TlEnsemble *e) {
  const TlMaterials *m = &e->run.model->materials;
  for (int32_t k = 0; k < m->count; k++) {
    int64_t blocks = 0;
    for (int64_t i = 0; i < e->count; i++)
      blocks += e->start.colliders.material[e->start.first[i]] == k;
    tl_density_warn(&m->material[k], blocks);
  }
}

/* Blocks that would have gone farther: which statistics of the runouts are too small for them. A quantile
 * below the shortest of their runouts is not. */
static void list_too_small(const TlEnsemble *e, TlFate fate, const Runouts *all, char text[120]) {
  double shortest = INFINITY;
  for (int64_t i = 0; i < e->count; i++)
    if (e->record[i].fate == fate) shortest = fmin(shortest, tl_block_runout(&e->record[i]));
  size_t used = (size_t)snprintf(text, 120, "runout_mean");
  for (int q = 0; q < QUANTILES; q++)
    if (tl_quantile_of_sorted(all->sorted, all->count, quantiles[q].p) >= shortest)
      used += (size_t)snprintf(text + used, 120 - used, ", runout_%s", quantiles[q].name);
}

/* Blocks that are smaller across than the ground's cells, where no roughness stands in for what these leave out. */
static void warn_of_small(const TlEnsemble *e) {
  const TlTerrain *t = &e->run.model->terrain;
  int64_t small = 0;
  if (e->run.model->setup.terrain.roughness_m > 0) return;
  for (int64_t i = 0; i < e->count; i++)
    small += cbrt(6 * e->record[i].volume_m3 / M_PI) < t->cell_m;
  if (small > 0)
    tl_log_warn(
        "%lld of %lld blocks are smaller across than the ground's cell of %.3g m, which has no "
        "detail at their size: they bounce less than in the field (terrain.roughness_m adds "
        "some)",
        (long long)small, (long long)e->count, t->cell_m);
}

/* Of releases that are not to be trusted (store/trust.h). */
static void warn_of_trust(const TlEnsemble *e) {
  Trust trust = trust_of(e);
  const TlReleaseTrust *w = &trust.worst;
  double dt = e->run.model->setup.time.dt_s;
  long long all = (long long)e->releases;
  const char *each = e->together > 1 ? "release" : "block";
  if (w->travel > tl_long_travel)
    tl_log_warn("a block moved by %.2g of its radius in a step; time.dt_s of %g s is too long for "
                "its contacts to be found where they happen, %g s would do",
                w->travel, dt, tl_sense_shorter(dt, w->travel));
  if (trust.overlapping > 0)
    tl_log_warn("in %lld of %lld releases blocks overlapped by more than %g%% of the smaller one's "
                "radius, by up to %.3g%%; %sa shorter time.dt_s would lower it",
                (long long)trust.overlapping, all, 100 * TL_OVERLAP_LIMIT, 100 * w->overlap_share,
                tl_method(e->run.model->dem->method)->bears_force
                    ? "stiffer contacts (young_Pa, normal_N_m or normal_Pa_m) or "
                    : "");
  if (trust.deep > 0)
    tl_log_warn(
        "%lld of %lld blocks lie deeper than %g%% of their radius in what holds them at the "
        "end of their release, the deepest %.3g%%",
        (long long)trust.deep, (long long)e->count, 100 * tl_deep_fraction, 100 * w->depth_share);
  if (trust.inaccurate > 0)
    tl_log_warn("in %lld of %lld %ss more than %g%% of the steps had a solve that ended at "
                "its limit of iterations far from its solution: forces, friction and overlaps are "
                "not to be trusted; more nonsmooth.iterations and nonsmooth.impact_iterations (or "
                "auto) or a shorter time.dt_s would help",
                (long long)trust.inaccurate, all, each, 100 * TL_INACCURATE_LIMIT);
  if (trust.made_up > 0)
    tl_log_warn("in %lld of %lld %ss contact damping gave energy, where it can only take some, up "
                "to %.3g%% of what was turned over: the step is too long or the solve too rough, "
                "and their motion is not to be trusted; a shorter time.dt_s (or more iterations) "
                "would help",
                (long long)trust.made_up, all, each, 100 * w->made_up_share);
  if (trust.missing > 0)
    tl_log_warn("in %lld of %lld %ss more than %g%% of the energy that was turned over is missing "
                "from the balance, up to %.3g%% (1%% or less is usual); a shorter time.dt_s would "
                "show by how much results depend on the step",
                (long long)trust.missing, all, each, 100 * TL_ENERGY_LIMIT, 100 * w->missing_share);
}

void tl_ensemble_warn(const TlEnsemble *e) {
  Sums s = sums_of(e);
  int64_t count = releases_with_runout(e);
  warn_of_trust(e);
  warn_of_density(e);
  warn_of_small(e);
  long long filled = (long long)e->run.model->terrain.holes_filled;
  if (filled > 0 && isnan(s.on_filled))
    tl_log_warn("%lld samples of the terrain had no data and were filled from their rim: what "
                "blocks do there, and that they stop there, is a guess. The catalog does not say "
                "which samples; talus-topo --overwrite makes the terrain again with them",
                filled);
  else if (filled > 0)
    tl_log_warn("%lld samples of the terrain had no data and were filled from their rim: what "
                "blocks do there is a guess. %.0f blocks stopped there (on_filled in blocks.csv)",
                filled, s.on_filled);
  for (int q = QUANTILES - 1; q >= 0; q--) {
    double p = quantiles[q].p, wanted = ceil(beyond / (1 - p) - 1e-6);
    if ((double)count >= wanted) continue;
    tl_log_warn("%lld %s%s with a runout: the %g%% quantile wants %g, so that %g lie beyond it",
                (long long)count, e->together > 1 ? "release" : "block", count == 1 ? "" : "s",
                100 * p, wanted, beyond);
    break;
  }
  Runouts all = {0};
  char text[120];
  int64_t moving = s.fate[TL_FATE_MOVING], left = s.fate[TL_FATE_LEFT],
          rest = s.fate[TL_FATE_NOT_STARTED], unresolved = s.fate[TL_FATE_UNRESOLVED];
  TlStatus status = moving + left > 0 ? take_runouts(e, true, &all) : TL_OK;
  if (status == TL_OK && moving > 0) {
    list_too_small(e, TL_FATE_MOVING, &all, text);
    tl_log_warn("%lld block%s still moved when time was over: runouts are too short, and too small "
                "are: %s; a longer time.duration_s lets %s rest",
                (long long)moving, moving == 1 ? "" : "s", text, moving == 1 ? "it" : "them");
  }
  if (status == TL_OK && left > 0) {
    list_too_small(e, TL_FATE_LEFT, &all, text);
    tl_log_warn(
        "%lld block%s left the terrain: runouts end at its border, and too small are: %s; a "
        "larger raster lets %s come to rest",
        (long long)left, left == 1 ? "" : "s", text, left == 1 ? "it" : "them");
  }
  free_runouts(&all);
  if (unresolved > 0)
    tl_log_warn("%lld of %lld blocks were frozen or taken out where they could not be brought out "
                "of what they lay in, or their collisions did not end (section unresolved): they "
                "are not among the runouts",
                (long long)unresolved, (long long)e->count);
  if (rest > 0)
    tl_log_warn("%lld block%s never started: %s came to rest within %s diameter of where %s "
                "released, and %s not among the runouts",
                (long long)rest, rest == 1 ? "" : "s", rest == 1 ? "it" : "they",
                rest == 1 ? "its" : "their", rest == 1 ? "it was" : "they were",
                rest == 1 ? "is" : "are");
}
