#include "run/history.h"

#include "num/exact.h"
#include "run/run.h"

#include <math.h>

/* ---- measures over all grains ---- */

static double kinetic_of(const TlBodies *b, int64_t i) {
  return 0.5 * b->mass[i] * tl_norm2(b->velocity[i]) +
         0.5 * tl_dot(b->momentum[i], tl_bodies_spin(b, i));
}

TlStatus tl_history_measure(TlRun *run, TlMeasure *m) {
  enum { OF_BODIES = 6, SUMS };
  const TlBodies *b = &run->state->dem.bodies;
  const TlDeparted *d = &run->state->departed;
  TlVec3 g = tl_setup_solver(&run->model->setup).gravity_m_s2;
  /* exact: neither ranks nor the bodies' order move history.csv */
  TlExact sum[SUMS] = {d->mass,      d->potential, d->moment[0], d->moment[1],
                       d->moment[2], {{0}},        d->sunk_mass};
  double front = d->front_m, value[SUMS];
  int64_t grains = 0;
  for (int64_t i = 0; i < b->owned; i++) {
    TlVec3 x = b->position[i];
    bool grain = !(b->flags[i] & TL_BODY_NO_GRAIN);
    double mass = grain ? b->mass[i] : 0;
    double term[OF_BODIES] = {
        mass, -b->mass[i] * tl_dot(g, x), mass * x.x, mass * x.y, mass * x.z, kinetic_of(b, i)};
    for (int k = 0; k < OF_BODIES; k++) tl_exact_add(&sum[k], term[k]);
    grains += grain ? tl_bodies_parts(b, i) : 0;
    if (grain)
      front =
          fmax(front, hypot(x.x - run->state->start_centre.x, x.y - run->state->start_centre.y));
  }
  for (int k = 0; k < SUMS; k++) TL_TRY(tl_comm_sum_int(run->comm, sum[k].limb, TL_EXACT_LIMBS));
  TL_TRY(tl_comm_sum_int(run->comm, &grains, 1));
  TL_TRY(tl_comm_most(run->comm, &front, 1));
  for (int k = 0; k < SUMS; k++) value[k] = tl_exact_value(&sum[k]);
  double mass = value[0] > 0 ? value[0] : 1;
  TlVec3 centre = tl_vec3(value[2] / mass, value[3] / mass, value[4] / mass);
  *m = (TlMeasure){value[0], value[1], front, value[5], value[6], grains, centre};
  return TL_OK;
}

/* ---- a line ---- */

typedef struct Row {
  const TlRun *run;
  const TlStepReport *r;
  TlMeasure m;
  int64_t step;
  double cpu_s;
} Row;

static double reduction_level(const TlStepReport *r) {
  return r->merged > 0 ? 1 - (double)r->units / (double)r->moving : 0;
}

static double reduction_overhead(const TlStepReport *r) {
  int64_t all = r->trial_visits + r->visits;
  return r->trial_visits > 0 ? (double)r->trial_visits / (double)all : 0;
}

#define COLUMNS(C)                                                                                 \
  C(time_s, "s", "time", (double)row->step * row->run->model->setup.time.dt_s)                     \
  C(step, "", "number of the step", row->step)                                                     \
  C(grains, "", "grains in the run", row->m.grains)                                                \
  C(kinetic_energy_J, "J", "kinetic energy of all bodies", row->m.kinetic)                         \
  C(potential_energy_J, "J", "-m g.x of all bodies, and of grains taken out where they left",      \
    row->m.potential)                                                                              \
  C(front_m, "m", "horizontal distance of the farthest grain from where the mass centre began",    \
    row->m.front)                                                                                  \
  C(centre_x_m, "m", "mass centre of the grains, x", row->m.centre.x)                              \
  C(centre_y_m, "m", "mass centre of the grains, y", row->m.centre.y)                              \
  C(centre_z_m, "m", "mass centre of the grains, z", row->m.centre.z)                              \
  C(surface_speed_max_m_s, "m/s",                                                                  \
    "bound of the largest surface speed: of the centre plus radius times spin",                    \
    row->r->speed_max_m_s)                                                                         \
  C(contacts, "", "contact points", row->r->contacts)                                              \
  C(islands, "", "islands of grains in contact", row->r->islands)                                  \
  C(largest_island, "", "grains in the largest island", row->r->largest_island)                    \
  C(impulses, "", "impulses of the energy tracking method in the step", row->r->impulses)          \
  C(rounds, "", "most rounds of compression and separation of an island", row->r->rounds)          \
  C(zero_finishes, "", "islands finished with restitution 0 in the step", row->r->zero_finishes)   \
  C(rest_sweeps, "", "most sweeps of the resting solve of an island", row->r->rest_sweeps)         \
  C(impact_sweeps, "", "nonsmooth: most sweeps of the impact stage of an island",                  \
    row->r->impact_sweeps)                                                                         \
  C(solve_residual_m_s, "m/s",                                                                     \
    "largest change of a velocity in the last sweep of a resting solve",                           \
    row->r->rest_residual_m_s)                                                                     \
  C(unconverged_steps, "",                                                                         \
    "nonsmooth: steps so far in which a solve ended at its limit of iterations above the "         \
    "tolerance",                                                                                   \
    row->run->state->totals.unconverged_steps)                                                     \
  C(inaccurate_steps, "",                                                                          \
    "of these: with a residual above a tenth of the velocity that the forces give in a step (of "  \
    "that of the fastest impact)",                                                                 \
    row->run->state->totals.inaccurate_steps)                                                      \
  C(largest_residual_m_s, "m/s", "nonsmooth: largest residual of such solves so far",              \
    row->run->state->totals.unconverged_m_s)                                                       \
  C(overlap_m, "m", "deepest overlap of two grains", row->r->overlap_m)                            \
  C(overlap_share, "",                                                                             \
    "largest overlap of two grains over the radius of the smaller one's bounding sphere",          \
    row->r->overlap_share)                                                                         \
  C(boundary_overlap_m, "m", "deepest overlap of a grain and a boundary",                          \
    row->r->boundary_overlap_m)                                                                    \
  C(boundary_overlap_share, "", "largest overlap with a boundary over the grain's radius",         \
    row->r->boundary_overlap_share)                                                                \
  C(deepest_overlap_share, "",                                                                     \
    "deepest overlap of two grains so far, over the radius of the smaller one's bounding sphere",  \
    row->run->state->totals.overlap_share)                                                         \
  C(deepest_boundary_overlap_share, "",                                                            \
    "deepest overlap with a boundary so far, over the grain's radius",                             \
    row->run->state->totals.boundary_overlap_share)                                                \
  C(outside, "", "grains that have left the terrain or the apparatus so far",                      \
    row->run->state->totals.outside)                                                               \
  C(sunk, "", "grains that sinks took so far", row->run->state->totals.sunk)                       \
  C(sunk_mass_kg, "kg", "their mass", row->m.sunk)                                                 \
  C(embedded, "", "grains so far that could not be brought out of others",                         \
    row->run->state->totals.embedded)                                                              \
  C(unresolved, "", "grains so far whose collision stayed unresolved",                             \
    row->run->state->totals.unresolved)                                                            \
  C(asleep, "", "grains that sleep", row->r->asleep)                                               \
  C(sleep_energy_J, "J", "kinetic energy taken from grains that fell asleep, so far",              \
    row->run->state->totals.sleep_J)                                                               \
  C(wall_work_J, "J", "work of moving boundaries on the grains so far",                            \
    row->run->state->totals.wall_work_J)                                                           \
  C(net_elastic_energy_J, "J", "energy held by the bonds of nets", row->r->net_elastic_end_J)      \
  C(net_bonds, "", "bonds of nets that hold", row->r->net_bonds)                                   \
  C(elastic_energy_J, "J", "penalty, nonsmooth: energy held by the contacts", row->r->elastic_J)   \
  C(friction_loss_J, "J", "penalty, nonsmooth: taken by friction so far",                          \
    row->run->state->totals.balance.friction_J)                                                    \
  C(contact_damping_loss_J, "J", "penalty, nonsmooth: taken by contact damping so far",            \
    row->run->state->totals.balance.viscous_J)                                                     \
  C(global_damping_loss_J, "J", "penalty, nonsmooth: taken by global damping so far",              \
    row->run->state->totals.balance.drag_J)                                                        \
  C(energy_balance_error_J, "J", "penalty, nonsmooth: energy balance error",                       \
    row->run->state->totals.balance.error_J)                                                       \
  C(impact_loss_J, "J", "nonsmooth: taken by impacts so far",                                      \
    row->run->state->totals.balance.impact_J)                                                      \
  C(merge_loss_J, "J", "reduction: motion lost where bodies merged so far",                        \
    row->run->state->totals.balance.merge_J)                                                       \
  C(reduction_level, "",                                                                           \
    "reduction: 1 less the number of bodies and aggregates that move for themselves over that of " \
    "all bodies",                                                                                  \
    reduction_level(row->r))                                                                       \
  C(aggregates, "", "reduction: aggregates", row->r->aggregates)                                   \
  C(merged, "", "reduction: bodies in aggregates", row->r->merged)                                 \
  C(merges, "", "reduction: bodies that became part of an aggregate so far",                       \
    row->run->state->totals.merges)                                                                \
  C(splits, "", "reduction: bodies that were split off so far", row->run->state->totals.splits)    \
  C(anchor_impulse_x_N_s, "N s",                                                                   \
    "reduction: impulse so far of boundaries and fixed bodies on what they take along, beyond "    \
    "the contacts that are solved, x",                                                             \
    row->run->state->totals.anchor_N_s[0])                                                         \
  C(anchor_impulse_y_N_s, "N s", "the same, y", row->run->state->totals.anchor_N_s[1])             \
  C(anchor_impulse_z_N_s, "N s", "the same, z", row->run->state->totals.anchor_N_s[2])             \
  C(reduction_overhead, "",                                                                        \
    "reduction: contacts times iterations of the solve in the background over those of the step",  \
    reduction_overhead(row->r))                                                                    \
  C(unbalanced_force, "",                                                                          \
    "penalty, nonsmooth: mean force that accelerates a body over that of a contact",               \
    tl_unbalanced_force(row->r))                                                                   \
  C(stable_step_s, "s", "penalty: 2/omega of the stiffest grain as it stands; 0: none moves",      \
    row->r->stable_step_s < 1e30 ? row->r->stable_step_s : 0)                                      \
  C(touching_points, "", "penalty: points that touch", row->r->touching)                           \
  C(sliding_points, "", "penalty: points that slide", row->r->sliding)                             \
  C(capped_points, "", "penalty: points deeper than penalty.most_share", row->r->capped)           \
  C(cpu_s, "s", "CPU time of the step, of all ranks", row->cpu_s)

COLUMNS(TL_COLUMN_GET)
static const TlColumn columns[] = {COLUMNS(TL_COLUMN_ROW)};
const TlColumns tl_history_columns = {"the run at one moment", 3, columns,
                                      sizeof columns / sizeof *columns};

TlStatus tl_history_write(TlRun *run, int64_t step, double cpu_s) {
  Row row = {.run = run, .r = &run->state->totals.last, .step = step, .cpu_s = cpu_s};
  TL_TRY(tl_history_measure(run, &row.m));
  TL_TRY(tl_comm_sum(run->comm, &row.cpu_s, 1));
  run->state->totals.kinetic_J = row.m.kinetic;
  run->state->totals.potential_J = row.m.potential;
  if (run->options.no_output) return TL_OK;
  return tl_output_row(&run->output, TL_TABLE_HISTORY, &tl_history_columns, &row);
}
