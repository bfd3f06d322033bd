/* Section reduction: bodies that move together are moved as one (solve/reduction.h), by method nonsmooth;
 * and the options that the solver keeps of it. */
#ifndef TL_SOLVE_REDUCTION_SETUP_H
#define TL_SOLVE_REDUCTION_SETUP_H

#include "conf/study.h"
#include "num/vec.h"

/* What parts an aggregate again; sensors do so in any case. */
typedef enum TlSplit {
  TL_SPLIT_OFF = 0, /* there are no aggregates */
  TL_SPLIT_SENSORS, /* sensors alone */
  TL_SPLIT_CONTACT, /* contacts that impact or slide */
  TL_SPLIT_TRIAL,   /* a solve of the whole in the background */
  TL_SPLIT_BOTH
} TlSplit;

enum { TL_SENSORS = 16 };

/* A box of the world, upright, in which every body moves for itself. */
typedef struct TlSensor {
  TlVec3 low_m, high_m;
} TlSensor;

/* Options of the solver. Speeds are relative ones at a contact. */
typedef struct TlReduction {
  TlSplit split;
  bool boundaries; /* aggregates grow on boundaries and fixed bodies, too */
  double from_s;   /* before this time all is as without reduction */
  double merge_in_m_s, merge_out_m_s, merge_tangential_m_s, merge_rolling_rad_s;
  double split_in_m_s, split_tangential_m_s;
  int split_depth; /* 1: the bodies of the contact; 2: and those that touch these; ... */
  int trial_iterations;
  double trial_force;  /* imbalance over the forces */
  double trial_torque; /* and of torques: speed at the radius of gyration, over theirs */
  bool trial_velocity; /* relative velocities split, too */
  double trial_in_m_s, trial_out_m_s, trial_tangential_m_s;
  int sensors;
  TlSensor sensor[TL_SENSORS];
} TlReduction;

/* The section of a study. */
typedef struct TlReductionSetup {
  int split;
  bool boundaries, trial_velocity;
  double from_s, merge_in_m_s, merge_out_m_s, merge_tangential_m_s, merge_rolling_rad_s;
  double split_in_m_s, split_tangential_m_s;
  int64_t split_depth, trial_iterations;
  double trial_force, trial_torque, trial_in_m_s, trial_out_m_s, trial_tangential_m_s;
  TlStudyList sensors; /* of TlSensorSetup */
} TlReductionSetup;

typedef struct TlSensorSetup {
  double low_m[3], high_m[3];
} TlSensorSetup;

enum { TL_REDUCTION_PARAMS = 17, TL_REDUCTION_SECTIONS = 1 };
extern const TlParam tl_reduction_params[];
extern const TlStudySection tl_reduction_sections[];

/* TL_EINPUT names the key. reduces: does the study's method? end_s: of the run. weightless: is there no
 * gravity? Keys that do nothing beside the others, or without it, are warned of. */
TlStatus tl_reduction_check(const TlReductionSetup *setup, bool reduces, double end_s,
                            bool weightless, const TlStudy *study);
TlReduction tl_reduction_of(const TlReductionSetup *setup);

#endif
