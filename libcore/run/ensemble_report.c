#include "run/ensemble.h"

#include "base/log.h"
#include "base/mem.h"
#include "num/relation.h"
#include "shape/rock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Quantiles of the runout. */
static const struct {
  const char *name, *error;
  double p;
} quantiles[] = {{"runout_median", "runout_median_error", 0.5},
                 {"runout_90_percent", "runout_90_percent_error", 0.9},
                 {"runout_95_percent", "runout_95_percent_error", 0.95},
                 {"runout_99_percent", "runout_99_percent_error", 0.99}};
enum { QUANTILES = sizeof quantiles / sizeof *quantiles };

/* So many blocks should lie beyond a quantile. */
static const double beyond = 10;

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

TlGroundFilled tl_block_ends_on(const TlEnsemble *e, const TlBlockRecord *r) {
  if (r->fate == TL_FATE_LEFT) return TL_GROUND_MEASURED;
  return tl_terrain_filled(&e->run.model->terrain, r->end.position.x, r->end.position.y);
}

/* Runouts of the blocks that started, rising, fresh memory. */
static TlStatus runouts(const TlEnsemble *e, double **value, int64_t *count) {
  *count = 0;
  TL_TRY(TL_NEW(*value, (size_t)e->count));
  for (int64_t i = 0; i < e->count; i++)
    if (e->record[i].fate != TL_FATE_NOT_STARTED)
      (*value)[(*count)++] = tl_block_runout(&e->record[i]);
  if (*count > 0) qsort(*value, (size_t)*count, sizeof **value, by_value);
  return TL_OK;
}

/* Straight between the sorted values; NaN outside of them. */
static double quantile(const double *sorted, int64_t count, double p) {
  if (count == 0 || p < 0 || p > 1) return NAN;
  double at = p * (double)(count - 1);
  int64_t k = (int64_t)at;
  if (k >= count - 1) return sorted[count - 1];
  return sorted[k] + (at - (double)k) * (sorted[k + 1] - sorted[k]);
}

/* The number of blocks below the quantile has the standard deviation sqrt(n p (1 - p)): half the
 * distance of the values that lie so many ranks to either side. */
static double quantile_error(const double *sorted, int64_t count, double p) {
  double aside = sqrt(p * (1 - p) / (double)count);
  return 0.5 * (quantile(sorted, count, p + aside) - quantile(sorted, count, p - aside));
}

static TlStatus real(TlReport *r, const char *name, double value, const char *unit) {
  return isfinite(value) ? tl_report_real(r, name, value, unit)
                         : tl_report_text(r, name, "too few blocks");
}

static TlStatus report_runouts(const double *sorted, int64_t n, TlReport *r) {
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < n; i++) sum += sorted[i];
  double mean = n > 0 ? sum / (double)n : NAN;
  for (int64_t i = 0; i < n; i++) squares += (sorted[i] - mean) * (sorted[i] - mean);
  double error = n > 1 ? sqrt(squares / (double)(n - 1) / (double)n) : NAN;
  TL_TRY(tl_report_int(r, "runout_blocks", n, ""));
  TL_TRY(real(r, "runout_mean", mean, "m"));
  TL_TRY(real(r, "runout_mean_error", error, "m"));
  for (int q = 0; q < QUANTILES; q++) {
    TL_TRY(real(r, quantiles[q].name, quantile(sorted, n, quantiles[q].p), "m"));
    TL_TRY(real(r, quantiles[q].error, quantile_error(sorted, n, quantiles[q].p), "m"));
  }
  return real(r, "runout_largest", n > 0 ? sorted[n - 1] : NAN, "m");
}

typedef struct Sums {
  int64_t fate[TL_FATES], steps;
  double on_filled; /* stopped there, or never started; NaN: not known */
  double speed, energy, jump, travel;
} Sums;

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
    s.travel = fmax(s.travel, r->travel);
  }
  return s;
}

/* ---- what runout and energy depend on ---- */

/* What was drawn: of a range of the study, or (range -1) the volume. */
static double drawn(const TlEnsemble *e, int64_t range, int64_t block) {
  return range < 0 ? e->record[block].volume_m3
                   : tl_ensemble_value(&e->run.model->setup, range, block);
}

enum { DRAWN, RUNOUT, ENERGY, FIGURES };

static TlStatus report_line(TlReport *r, const char *key, const char *what, double value,
                            const char *unit) {
  char name[192];
  snprintf(name, sizeof name, "%s_%s", key, what);
  for (char *c = name; *c; c++)
    if (*c == '.') *c = '_';
  return real(r, name, value, unit);
}

/* value: room for a number of each block. */
static TlStatus report_dependence(const TlEnsemble *e, int64_t range, const char *key,
                                  double *const value[FIGURES], TlReport *r) {
  int64_t n = 0;
  double low = INFINITY, high = -INFINITY;
  TlRelation runout, energy;
  for (int64_t i = 0; i < e->count; i++) {
    double x = drawn(e, range, i);
    low = fmin(low, x);
    high = fmax(high, x);
    if (e->record[i].fate == TL_FATE_NOT_STARTED) continue;
    value[DRAWN][n] = x;
    value[RUNOUT][n] = tl_block_runout(&e->record[i]);
    value[ENERGY][n++] = e->record[i].energy_J;
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
  return real(r, "rank_correlation_by_chance",
              tl_relation_by_chance(e->count - sums_of(e).fate[TL_FATE_NOT_STARTED]), "");
}

TlStatus tl_ensemble_report(const TlEnsemble *e, TlReport *r) {
  static const char *const name[TL_FATES] = {"blocks_stopped", "blocks_moving", "blocks_left",
                                             "blocks_not_started"};
  Sums s = sums_of(e);
  double *sorted;
  int64_t n;
  TL_TRY(tl_report_text(r, "output", e->run.folder));
  TL_TRY(tl_report_int(r, "blocks", e->count, ""));
  for (int f = 0; f < TL_FATES; f++) TL_TRY(tl_report_int(r, name[f], s.fate[f], ""));
  TL_TRY(isnan(s.on_filled)
             ? tl_report_text(r, "blocks_stopped_on_filled", "not known")
             : tl_report_int(r, "blocks_stopped_on_filled", (int64_t)s.on_filled, ""));
  TL_TRY(runouts(e, &sorted, &n));
  TlStatus status = report_runouts(sorted, n, r);
  tl_free(sorted);
  TL_TRY(status);
  TL_TRY(report_ranges(e, r));
  TL_TRY(tl_report_real(r, "largest_speed", s.speed, "m/s"));
  TL_TRY(tl_report_real(r, "largest_energy", s.energy / 1000, "kJ"));
  TL_TRY(tl_report_real(r, "largest_jump_height", s.jump, "m"));
  TL_TRY(tl_report_real(r, "largest_travel_per_step_of_radius", s.travel, ""));
  TL_TRY(tl_report_int(r, "frames", e->run.state->totals.frames, ""));
  TL_TRY(tl_report_int(r, "steps", s.steps, ""));
  TL_TRY(tl_report_int(r, "ranks", tl_comm_size(e->comm), ""));
  TL_TRY(tl_report_int(r, "threads_per_rank", e->threads, ""));
  return tl_report_real(r, "wall", e->wall_s, "s");
}

static void warn_of_density(const TlEnsemble *e) {
  const TlMaterials *m = &e->run.model->materials;
  for (int32_t k = 0; k < m->count; k++) {
    double density = m->material[k].density_kg_m3;
    int64_t blocks = 0;
    for (int64_t i = 0; i < e->count; i++) blocks += e->start.colliders.material[i] == k;
    if (blocks > 0 && (density < TL_ROCK_LEAST_KG_M3 || density > TL_ROCK_MOST_KG_M3))
      tl_log_warn("%lld blocks are of %g kg/m3 (material %s); rock has %d to %d: energies are as "
                  "wrong as the density",
                  (long long)blocks, density, m->material[k].name, TL_ROCK_LEAST_KG_M3,
                  TL_ROCK_MOST_KG_M3);
  }
}

void tl_ensemble_warn(const TlEnsemble *e) {
  Sums s = sums_of(e);
  int64_t started = e->count - s.fate[TL_FATE_NOT_STARTED];
  warn_of_density(e);
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
    if ((double)started >= wanted) continue;
    tl_log_warn("%lld blocks started: the %g%% quantile wants %g, so that %g lie beyond it",
                (long long)started, 100 * p, wanted, beyond);
    break;
  }
  if (s.fate[TL_FATE_MOVING] > 0)
    tl_log_warn("%lld blocks still moved when time was over: their runouts are too short; a longer "
                "time.duration_s lets them rest",
                (long long)s.fate[TL_FATE_MOVING]);
  if (s.fate[TL_FATE_LEFT] > 0)
    tl_log_warn("%lld blocks left the terrain: their runouts end at its border",
                (long long)s.fate[TL_FATE_LEFT]);
  if (s.fate[TL_FATE_NOT_STARTED] > 0)
    tl_log_warn("%lld blocks never started: they came to rest within their diameter of where they "
                "were released, and are not among the runouts",
                (long long)s.fate[TL_FATE_NOT_STARTED]);
}
