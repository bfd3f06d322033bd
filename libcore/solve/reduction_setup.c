#include "solve/reduction_setup.h"

#include "base/log.h"
#include "base/mem.h"
#include "conf/keys.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

const TlParam tl_reduction_params[] = {
    CHOICE(TlReductionSetup, split, "off", "off|sensors|contact|trial|both",
           "method nonsmooth: bodies in touch that move together are moved as one rigid aggregate, "
           "and this parts it again: sensors alone, contacts that impact or slide, a solve of all "
           "bodies in the background, or both of these; off: every body moves for itself"),
    FLAG(
        TlReductionSetup, boundaries, "true",
        "bodies that move as a boundary with friction does, or as a fixed body, are moved with it"),
    REAL(TlReductionSetup, from_s, "s", "0", 0, 1e9,
         "until this time a run is as without reduction"),
    REAL(TlReductionSetup, merge_in_m_s, "m/s", "2.5e-3", 0, 1e3,
         "contacts that approach no faster merge their bodies, if they slide and roll no faster "
         "than the next three say (Servin 2015 Eqs. 26-28)"),
    REAL(TlReductionSetup, merge_out_m_s, "m/s", "2.5e-3", 0, 1e3, "and separate no faster"),
    REAL(TlReductionSetup, merge_tangential_m_s, "m/s", "2.5e-3", 0, 1e3, "and slide no faster"),
    REAL(TlReductionSetup, merge_rolling_rad_s, "rad/s", "0.5", 0, 1e6,
         "and have no larger relative spin; where surfaces lie on each other at three points or "
         "more, these must not slide"),
    REAL(TlReductionSetup, split_in_m_s, "m/s", "0.15", 0, 1e6,
         "split contact, both: a contact that approaches faster splits the aggregates of its "
         "bodies (Servin 2015 Eqs. 29-30)"),
    REAL(TlReductionSetup, split_tangential_m_s, "m/s", "0.15", 0, 1e6, "or slides faster"),
    INT(TlReductionSetup, split_depth, "2", 1, 1000,
        "how far into the aggregate: 1, the body of the contact; 2, those that touch it, too"),
    INT(TlReductionSetup, trial_iterations, "40", 1, 1000000,
        "split trial, both: iterations of the solve in the background"),
    REAL(
        TlReductionSetup, trial_force, "", "0.06", 0, 1,
        "a body is split off where weight and contact forces add up to this fraction of the sum "
        "of their sizes (Servin 2015 Eq. 35, there 0.15 and 0.25, at which a column that loses its "
        "support may stay standing)"),
    REAL(TlReductionSetup, trial_torque, "", "0.05", 0, 1e3,
         "or, but for spheres, where the turn that it begins has as much energy as a velocity of "
         "this "
         "fraction of the sum, over mass and times step"),
    FLAG(TlReductionSetup, trial_velocity, "false",
         "or where the solve in the background has a contact move faster than the last three say "
         "(Servin 2015 Eqs. 32-33)"),
    REAL(TlReductionSetup, trial_in_m_s, "m/s", "2.6", 0, 1e6, "approaching"),
    REAL(TlReductionSetup, trial_out_m_s, "m/s", "0.26", 0, 1e6, "separating"),
    REAL(TlReductionSetup, trial_tangential_m_s, "m/s", "0.26", 0, 1e6, "sliding"),
};
_Static_assert(COUNT(tl_reduction_params) == TL_REDUCTION_PARAMS, "rows of section reduction");

static const TlParam sensor_params[] = {
    VEC3(TlSensorSetup, low_m, "m", NULL, -1e8, 1e8, "lowest corner of a box along the axes"),
    VEC3(TlSensorSetup, high_m, "m", NULL, -1e8, 1e8, "its highest corner"),
};
const TlStudySection tl_reduction_sections[] = {
    {"sensors", offsetof(TlReductionSetup, sensors), sizeof(TlSensorSetup), true,
     "Boxes in which every body moves for itself, at most 16 of them", sensor_params,
     COUNT(sensor_params), NULL, 0},
};
_Static_assert(COUNT(tl_reduction_sections) == TL_REDUCTION_SECTIONS, "sections of reduction");

/* What would merge and be split again at once: NULL, or the key. */
static const char *merges_above_split(const TlReductionSetup *s) {
  if (s->split != TL_SPLIT_CONTACT && s->split != TL_SPLIT_BOTH) return NULL;
  if (s->merge_in_m_s > s->split_in_m_s) return "merge_in_m_s";
  return s->merge_tangential_m_s > s->split_tangential_m_s ? "merge_tangential_m_s" : NULL;
}

static bool starts(const char *key, const char *with) {
  return strncmp(key, with, strlen(with)) == 0;
}

/* Why a key does nothing beside the others; NULL: it does something. */
static const char *idle_because(const TlReductionSetup *s, const char *key) {
  bool speeds = strcmp(key, "trial_in_m_s") == 0 || strcmp(key, "trial_out_m_s") == 0 ||
                strcmp(key, "trial_tangential_m_s") == 0;
  if (starts(key, "trial_") && s->split != TL_SPLIT_TRIAL && s->split != TL_SPLIT_BOTH)
    return "it is of split: trial or both";
  if (speeds && !s->trial_velocity) return "it wants trial_velocity: yes";
  if (starts(key, "split_") && s->split != TL_SPLIT_CONTACT && s->split != TL_SPLIT_BOTH)
    return "it is of split: contact or both";
  return NULL;
}

/* Only of values that are not the default: a study that a run has saved says all keys. */
static TlStatus warn_of_idle(const TlReductionSetup *s, double end_s, bool weightless,
                             const TlStudy *study) {
  TlReductionSetup usual = *s;
  char path[64], place[256];
  TL_TRY(tl_params_defaults(tl_reduction_params, TL_REDUCTION_PARAMS, &usual));
  if (s->split == TL_SPLIT_OFF) {
    if (tl_study_says(study, "reduction", place, sizeof place) &&
        !tl_study_says(study, "reduction.split", path, sizeof path))
      tl_log_warn("%s: section reduction does nothing: reduction.split is not given", place);
    if (s->sensors.count > 0 && tl_study_says(study, "reduction.sensors", place, sizeof place))
      tl_log_warn("%s: reduction.sensors does nothing: reduction.split is off", place);
    return TL_OK;
  }
  for (size_t i = 0; i < TL_REDUCTION_PARAMS; i++) {
    const TlParam *p = &tl_reduction_params[i];
    const char *why = idle_because(s, p->key);
    if (!why) continue;
    char *now = tl_param_format(p, s), *preset = tl_param_format(p, &usual);
    bool other = now && preset && strcmp(now, preset) != 0;
    tl_free(now);
    tl_free(preset);
    snprintf(path, sizeof path, "reduction.%s", p->key);
    if (other && tl_study_says(study, path, place, sizeof place))
      tl_log_warn("%s: %s does nothing: %s", place, path, why);
  }
  if (s->from_s >= end_s && tl_study_says(study, "reduction.from_s", place, sizeof place))
    tl_log_warn("%s: reduction.from_s: nothing is merged before %g s, and the run ends at %g s",
                place, s->from_s, end_s);
  bool tries = s->split == TL_SPLIT_TRIAL || s->split == TL_SPLIT_BOTH;
  if (tries && weightless && tl_study_says(study, "reduction.split", place, sizeof place))
    tl_log_warn("%s: reduction.split: without gravity a trial has no weight to compare forces "
                "with, so what merged is split in each step; take contact",
                place);
  return TL_OK;
}

TlStatus tl_reduction_check(const TlReductionSetup *s, bool reduces, double end_s, bool weightless,
                            const TlStudy *study) {
  const TlSensorSetup *sensor = s->sensors.items;
  if (s->split != TL_SPLIT_OFF && !reduces)
    return tl_study_fail(study, TL_EINPUT, "reduction.split",
                         "is of method nonsmooth: another solver.method has no aggregates");
  if (s->split == TL_SPLIT_SENSORS && s->sensors.count == 0)
    return tl_study_fail(
        study, TL_EINPUT, "reduction.split",
        "sensors alone would part aggregates, and there are none: nothing that has "
        "merged would ever move apart; list reduction.sensors, or take contact, "
        "trial or both");
  if (s->sensors.count > TL_SENSORS)
    return tl_study_fail(study, TL_EINPUT, "reduction.sensors", "there may be %d", TL_SENSORS);
  for (int64_t i = 0; i < s->sensors.count; i++)
    for (int k = 0; k < 3; k++) {
      char path[48];
      snprintf(path, sizeof path, "reduction.sensors.%lld.high_m", (long long)i);
      if (!(sensor[i].low_m[k] < sensor[i].high_m[k]))
        return tl_study_fail(study, TL_EINPUT, path, "must lie above low_m along each axis");
    }
  const char *above = merges_above_split(s);
  if (above) {
    char path[64];
    const char *quantity = &above[strlen("merge_")];
    bool in = strcmp(quantity, "in_m_s") == 0;
    snprintf(path, sizeof path, "reduction.%s", above);
    return tl_study_fail(study, TL_EINPUT, path,
                         "%g m/s is above split_%s, %g m/s: what merges would be split at once",
                         in ? s->merge_in_m_s : s->merge_tangential_m_s, quantity,
                         in ? s->split_in_m_s : s->split_tangential_m_s);
  }
  return warn_of_idle(s, end_s, weightless, study);
}

static TlVec3 corner(const double x[3]) {
  return tl_vec3(x[0], x[1], x[2]);
}

TlReduction tl_reduction_of(const TlReductionSetup *s) {
  TlReduction r = {.split = (TlSplit)s->split,
                   .boundaries = s->boundaries,
                   .from_s = s->from_s,
                   .merge_in_m_s = s->merge_in_m_s,
                   .merge_out_m_s = s->merge_out_m_s,
                   .merge_tangential_m_s = s->merge_tangential_m_s,
                   .merge_rolling_rad_s = s->merge_rolling_rad_s,
                   .split_in_m_s = s->split_in_m_s,
                   .split_tangential_m_s = s->split_tangential_m_s,
                   .split_depth = (int)s->split_depth,
                   .trial_iterations = (int)s->trial_iterations,
                   .trial_force = s->trial_force,
                   .trial_torque = s->trial_torque,
                   .trial_velocity = s->trial_velocity,
                   .trial_in_m_s = s->trial_in_m_s,
                   .trial_out_m_s = s->trial_out_m_s,
                   .trial_tangential_m_s = s->trial_tangential_m_s,
                   .sensors = (int)s->sensors.count};
  const TlSensorSetup *sensor = s->sensors.items;
  for (int i = 0; i < r.sensors; i++)
    r.sensor[i] = (TlSensor){corner(sensor[i].low_m), corner(sensor[i].high_m)};
  return r;
}
