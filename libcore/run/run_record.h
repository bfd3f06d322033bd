/* What a checkpoint holds of a run beside its bodies: counts, sums and extremes so far, and how
 * much of the results belongs to this state (model/record.h).
 *
 * The last column says where the value is, with `run`, a TlRun, and `departed`, its TlDeparted or
 * that of all ranks.
 */
#ifndef TL_RUN_RUN_RECORD_H
#define TL_RUN_RUN_RECORD_H

#include "model/record.h"

/* type, name, unit, attributes, meaning, place */
#define TL_RUN_FIELDS(F)                                                                           \
  F(int64_t, grains, "", TL_SAVE, "of all ranks: at the start and poured since",                   \
    run->state->grains)                                                                            \
  F(int64_t, poured, "", TL_SAVE, "grains let in by the inlet so far", run->state->poured)         \
  F(double, lifted_m, "m", TL_SAVE, "by which the release was lifted at the start",                \
    run->state->lifted_m)                                                                          \
  F(TlVec3, start_centre_m, "m", TL_SAVE, "centre of mass at the start", run->state->start_centre) \
  F(int64_t, frames_kept, "", TL_SAVE, "frames that belong to this state",                         \
    run->output.kept_frames)                                                                       \
  F(int64_t, history_bytes_kept, "", TL_SAVE, "bytes of history.csv that belong to it",            \
    run->output.kept_bytes.table[TL_TABLE_HISTORY])                                                \
  F(int64_t, departures_bytes_kept, "", TL_SAVE, "bytes of departures.csv",                        \
    run->output.kept_bytes.table[TL_TABLE_DEPARTURES])                                             \
  F(int64_t, boundary_bytes_kept, "", TL_SAVE, "bytes of boundary.csv",                            \
    run->output.kept_bytes.table[TL_TABLE_BOUNDARY])                                               \
  F(int64_t, constraint_bytes_kept, "", TL_SAVE, "bytes of constraint.csv",                        \
    run->output.kept_bytes.table[TL_TABLE_CONSTRAINT])                                             \
  F(int64_t, cells_bytes_kept, "", TL_SAVE, "bytes of cells.csv",                                  \
    run->output.kept_bytes.table[TL_TABLE_CELLS])                                                  \
  F(int64_t, apparatus_bytes_kept, "", TL_SAVE, "bytes of the apparatus' table",                   \
    run->output.kept_bytes                                                                         \
        .table[run->model->apparatus ? run->model->apparatus->table : TL_TABLES])                  \
  F(TlExact, departed_mass, "kg", TL_SAVE | TL_EXACT_SUM, "mass of grains that left",              \
    departed->mass)                                                                                \
  F(TlExact, departed_sunk_mass, "kg", TL_SAVE | TL_EXACT_SUM, "mass of grains that sinks took",   \
    departed->sunk_mass)                                                                           \
  F(TlExact, departed_potential, "J", TL_SAVE | TL_EXACT_SUM,                                      \
    "their potential energy where they left", departed->potential)                                 \
  F(TlExact, departed_moment_x, "kg m", TL_SAVE | TL_EXACT_SUM, "their mass times x",              \
    departed->moment[0])                                                                           \
  F(TlExact, departed_moment_y, "kg m", TL_SAVE | TL_EXACT_SUM, "their mass times y",              \
    departed->moment[1])                                                                           \
  F(TlExact, departed_moment_z, "kg m", TL_SAVE | TL_EXACT_SUM, "their mass times z",              \
    departed->moment[2])                                                                           \
  F(double, departed_front_m, "m", TL_SAVE | TL_MOST,                                              \
    "horizontal distance of the farthest from the start", departed->front_m)                       \
  F(double, standstill_window_s, "s", TL_SAVE,                                                     \
    "grains must be at rest this long; 0: no end at rest", run->state->still.window_s)             \
  F(int64_t, standstill_since, "", TL_SAVE,                                                        \
    "first step of the looks in a row that found rest; -1: none", run->state->still.since)         \
  F(int64_t, standstill_reached, "", TL_SAVE, "1: at rest over the whole window",                  \
    run->state->still.reached)                                                                     \
  F(int64_t, steps, "", TL_SAVE, "steps done", run->state->totals.steps)                           \
  F(int64_t, frames, "", TL_SAVE, "frames written", run->state->totals.frames)                     \
  F(int64_t, outside, "", TL_SAVE, "grains that left so far", run->state->totals.outside)          \
  F(int64_t, sunk, "", TL_SAVE, "grains that sinks took so far", run->state->totals.sunk)          \
  F(int64_t, embedded, "", TL_SAVE, "grains that could not be brought out of another so far",      \
    run->state->totals.embedded)                                                                   \
  F(int64_t, unresolved, "", TL_SAVE, "grains whose collisions the solver could not end so far",   \
    run->state->totals.unresolved)                                                                 \
  F(double, wall_s, "s", TL_SAVE | TL_OWN, "wall clock of the stepping",                           \
    run->state->totals.wall_s)                                                                     \
  F(double, cpu_s, "s", TL_SAVE | TL_SUM, "CPU time of the stepping", run->state->totals.cpu_s)    \
  F(double, overlap_share, "1", TL_SAVE,                                                           \
    "deepest overlap of two grains over the smaller bounding radius so far",                       \
    run->state->totals.overlap_share)                                                              \
  F(double, overlap_m, "m", TL_SAVE, "deepest overlap of two grains so far",                       \
    run->state->totals.overlap_m)                                                                  \
  F(double, boundary_overlap_share, "1", TL_SAVE,                                                  \
    "deepest overlap with a boundary over the radius so far",                                      \
    run->state->totals.boundary_overlap_share)                                                     \
  F(double, boundary_overlap_m, "m", TL_SAVE, "deepest overlap with a boundary so far",            \
    run->state->totals.boundary_overlap_m)                                                         \
  F(double, travel_share, "1", TL_SAVE, "longest displacement in a step over the radius so far",   \
    run->state->totals.travel_fraction)                                                            \
  F(double, kinetic_start_J, "J", TL_SAVE, "kinetic energy at the start",                          \
    run->state->totals.kinetic_start_J)                                                            \
  F(double, potential_start_J, "J", TL_SAVE, "potential energy at the start",                      \
    run->state->totals.potential_start_J)                                                          \
  F(double, kinetic_J, "J", TL_SAVE, "kinetic energy at the last line of history.csv",             \
    run->state->totals.kinetic_J)                                                                  \
  F(double, potential_J, "J", TL_SAVE, "potential energy at the last line of history.csv",         \
    run->state->totals.potential_J)                                                                \
  F(double, wall_work_J, "J", TL_SAVE, "done by moving walls so far",                              \
    run->state->totals.wall_work_J)                                                                \
  F(double, sleep_J, "J", TL_SAVE, "kinetic energy of grains that fell asleep so far",             \
    run->state->totals.sleep_J)                                                                    \
  F(int64_t, sleep_key, "", TL_SAVE, "what sleeping grains rely on; 0: nobody may sleep",          \
    run->state->dem.sleep_key)                                                                     \
  F(double, friction_J, "J", TL_SAVE, "penalty: taken by friction so far",                         \
    run->state->totals.balance.friction_J)                                                         \
  F(double, viscous_J, "J", TL_SAVE, "penalty: taken by contact damping so far",                   \
    run->state->totals.balance.viscous_J)                                                          \
  F(double, drag_J, "J", TL_SAVE, "penalty: taken by global damping so far",                       \
    run->state->totals.balance.drag_J)                                                             \
  F(double, balance_wall_J, "J", TL_SAVE, "energy balance: done by moving walls so far",           \
    run->state->totals.balance.wall_J)                                                             \
  F(double, balance_start_J, "J", TL_SAVE, "energy balance: energy at its start",                  \
    run->state->totals.balance.start_J)                                                            \
  F(double, balance_error_J, "J", TL_SAVE, "energy balance: its error now",                        \
    run->state->totals.balance.error_J)                                                            \
  F(double, balance_net_J, "J", TL_SAVE, "energy balance: held by nets",                           \
    run->state->totals.balance.net_J)                                                              \
  F(double, balance_net_damping_J, "J", TL_SAVE,                                                   \
    "energy balance: taken by the nets' dampers so far", run->state->totals.balance.net_damping_J) \
  F(double, balance_pressure_J, "J", TL_SAVE, "energy balance: done by the nets' pressure so far", \
    run->state->totals.balance.pressure_J)                                                         \
  F(double, balance_kinetic_J, "J", TL_SAVE,                                                       \
    "energy balance: kinetic energy at the start of the last step",                                \
    run->state->totals.balance.kinetic_J)                                                          \
  F(double, balance_potential_J, "J", TL_SAVE, "energy balance: potential energy, likewise",       \
    run->state->totals.balance.potential_J)                                                        \
  F(double, balance_elastic_J, "J", TL_SAVE, "energy balance: held by contacts, likewise",         \
    run->state->totals.balance.elastic_J)                                                          \
  F(double, balance_most_kinetic_J, "J", TL_SAVE, "energy balance: largest kinetic energy so far", \
    run->state->totals.balance.most_kinetic_J)                                                     \
  F(double, balance_impact_J, "J", TL_SAVE, "energy balance: taken by impacts so far",             \
    run->state->totals.balance.impact_J)                                                           \
  F(double, balance_stored_J, "J", TL_SAVE,                                                        \
    "energy balance: taken by normal rows so far, with what they store",                           \
    run->state->totals.balance.stored_J)                                                           \
  F(double, balance_merge_J, "J", TL_SAVE, "energy balance: lost where bodies merged so far",      \
    run->state->totals.balance.merge_J)                                                            \
  F(double, anchor_x_N_s, "N s", TL_SAVE,                                                          \
    "impulse of boundaries on what they take along so far, x", run->state->totals.anchor_N_s[0])   \
  F(double, anchor_y_N_s, "N s", TL_SAVE, "the same, y", run->state->totals.anchor_N_s[1])         \
  F(double, anchor_z_N_s, "N s", TL_SAVE, "the same, z", run->state->totals.anchor_N_s[2])         \
  F(int64_t, merges, "", TL_SAVE, "bodies that became part of an aggregate so far",                \
    run->state->totals.merges)                                                                     \
  F(int64_t, splits, "", TL_SAVE, "bodies that were split off aggregates so far",                  \
    run->state->totals.splits)                                                                     \
  F(int64_t, balance_moving, "", TL_SAVE, "bodies in it in the last step",                         \
    run->state->totals.balance.moving)                                                             \
  F(int64_t, zero_finishes, "", TL_SAVE, "islands finished with restitution 0 so far",             \
    run->state->totals.zero_finishes)                                                              \
  F(int64_t, unfinished, "", TL_SAVE,                                                              \
    "islands whose compression reached the limit of sweeps so far", run->state->totals.unfinished) \
  F(int64_t, rest_unfinished, "", TL_SAVE, "islands whose resting solve was cut short so far",     \
    run->state->totals.rest_unfinished)                                                            \
  F(int64_t, unconverged_steps, "", TL_SAVE,                                                       \
    "steps so far in which a solve ended at its limit of iterations above the tolerance",          \
    run->state->totals.unconverged_steps)                                                          \
  F(int64_t, inaccurate_steps, "", TL_SAVE,                                                        \
    "of these: with a residual above a tenth of the velocity that the forces give in a step",      \
    run->state->totals.inaccurate_steps)                                                           \
  F(double, unconverged_m_s, "m/s", TL_SAVE, "largest residual of these steps so far",             \
    run->state->totals.unconverged_m_s)                                                            \
  F(int64_t, impulses, "", TL_SAVE, "ETM impulses so far", run->state->totals.impulses)            \
  F(int64_t, last_contacts, "", TL_SAVE, "contact points of the last step",                        \
    run->state->totals.last.contacts)                                                              \
  F(int64_t, last_islands, "", TL_SAVE, "islands of the last step",                                \
    run->state->totals.last.islands)                                                               \
  F(int64_t, last_merged, "", TL_SAVE, "bodies in aggregates, last step",                          \
    run->state->totals.last.merged)                                                                \
  F(double, last_overlap_share, "1", TL_SAVE,                                                      \
    "deepest overlap of two grains over the radius, last step",                                    \
    run->state->totals.last.overlap_share)                                                         \
  F(double, last_boundary_overlap_share, "1", TL_SAVE, "the same with a boundary",                 \
    run->state->totals.last.boundary_overlap_share)

#define F(type, name, ...) type name;
typedef struct TlRunRecord {
  TL_RUN_FIELDS(F)
} TlRunRecord;
#undef F
extern const TlRecord tl_run_record;

#endif
