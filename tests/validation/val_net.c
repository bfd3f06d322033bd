/* Grains fall into a clamped net: sag, wave, rest (Tan 2024, Fig. 7); and the sag of a net under
 * pressure against that of a membrane. */
#include "validation/barrier.h"
#include "validation/history.h"
#include "validation/membrane_oracle.h"
#include "validation/pictures.h"

#include "base/par.h"
#include "run/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- runs ---- */

typedef struct Case {
  TlRun run;
  TlTexts sets;
} Case;

static void run_study(Case *c, TlComm *comm, const char *study, const char *folder,
                      const char *const *sets, int count) {
  c->sets = (TlTexts){(char **)(uintptr_t)sets, count};
  TlRunOptions options = {.study = study, .sets = &c->sets, .output = folder, .overwrite = true};
  JUDGE_OK(tl_run_open(&c->run, comm, &options));
  JUDGE_OK(tl_run_go(&c->run));
}

static double lowest_net(const TlFrame *frame) {
  double z = INFINITY;
  for (int64_t i = 0; i < frame->count; i++)
    if (frame->rows[i].flags & TL_ROW_NET) z = fmin(z, frame->rows[i].position_m.z);
  return z;
}

/* What the hooks carry. */
static TlVec3 hooks(const TlRun *run) {
  Barrier net;
  barrier_open(&net, run);
  TlVec3 force = barrier_force(&net);
  barrier_close(&net);
  return force;
}

/* ---- a net under pressure ---- */

/* Hexagons of bonds k_n, k_t that turn with their spheres stretch as a sheet in plane stress with
 * E h = 2 sqrt(3) k_n (k_n + k_t)/(3 k_n + k_t), nu = (k_n - k_t)/(3 k_n + k_t). */
static Sheet sheet_of(const TlNet *net) {
  double kn = net->normal_N_m, kt = net->tangential_N_m;
  return (Sheet){.width_m = (net->columns - 1) * net->spacing_m,
                 .length_m = (net->rows - 1) * 0.5 * sqrt(3) * net->spacing_m,
                 .modulus_N_m = 2 * sqrt(3) * kn * (kn + kt) / (3 * kn + kt),
                 .poisson = (kn - kt) / (3 * kn + kt),
                 .pressure_Pa = net->pressure_Pa};
}

static void judge_sag(TlComm *comm, const char *method, const char *figure) {
  static const char *const fine[] = {"nets.0.spacing_m=0.02", "nets.0.radius_m=0.01",
                                     "nets.0.density_kg_m3=200"};
  const char *sets[4] = {method, fine[0], fine[1], fine[2]};
  Case c = {0};
  TlFrame last;
  run_study(&c, comm, "config/validation/net_sag.yaml", judge_path("sag"), sets,
            judge_full() ? 4 : 1);
  JUDGE_OK(tl_results_read_frame(c.run.folder, c.run.totals.frames - 1, &last));
  Sheet sheet = sheet_of(&c.run.nets.net[0]);
  double error, ours = -lowest_net(&last), theirs = membrane_oracle_sag(&sheet, 16, 16, &error);
  judge_at_most(JUDGE_GOAL, figure, fabs(ours / theirs - 1), "", 0.05);
  judge_note("%s: under 10 Pa the net of %d x %d spheres sags by %.4f m; the membrane of the same "
             "stiffness, "
             "of triangles (tests/validation/membrane_oracle.h), by %.4f m, known to %.1e m.",
             method, c.run.nets.net[0].rows, c.run.nets.net[0].columns, ours, theirs, error);
  tl_frame_free(&last);
  tl_run_close(&c.run);
}

/* ---- grains ---- */

typedef struct Story {
  double deepest, deepest_s, last; /* sag */
  double grain_speed;              /* largest at the end */
  int64_t held, grains;
} Story;

static void read_story(const TlRun *run, Story *s) {
  *s = (Story){0};
  for (int64_t i = 0; i < run->totals.frames; i++) {
    TlFrame frame;
    JUDGE_OK(tl_results_read_frame(run->folder, i, &frame));
    double low = lowest_net(&frame);
    if (-low > s->deepest) {
      s->deepest = -low;
      s->deepest_s = frame.time_s;
    }
    s->last = -low;
    for (int64_t k = 0; i + 1 == run->totals.frames && k < frame.count; k++) {
      const TlBodyRow *row = &frame.rows[k];
      if (row->flags & TL_ROW_NET) continue;
      s->grains++;
      s->held += row->position_m.z > low;
      s->grain_speed = fmax(s->grain_speed, tl_norm(row->velocity_m_s));
    }
    tl_frame_free(&frame);
  }
}

static double total_weight(const TlRun *run) {
  double mass = 0;
  for (int64_t i = 0; i < run->bodies.owned; i++)
    if (!(run->bodies.flags[i] & TL_BODY_FROZEN)) mass += run->bodies.mass[i];
  return 9.81 * mass;
}

static void judge_fall(TlComm *comm) {
  static const char *const fine[] = {"nets.0.spacing_m=0.02", "nets.0.radius_m=0.01",
                                     "nets.0.density_kg_m3=200", "time.steps=16000"};
  Case c = {0};
  Story s;
  double drop;
  run_study(&c, comm, "config/validation/net.yaml", judge_path("fall"), fine, judge_full() ? 4 : 0);
  const TlRunTotals *t = &c.run.totals;
  read_story(&c.run, &s);
  double rise = history_rise(&c.run, &drop), kinetic = barrier_grains_kinetic(&c.run.bodies);
  judge_at_least(JUDGE_CORRECT, "net_held_share", (double)s.held / (double)s.grains, "", 1);
  judge_at_least(JUDGE_GOAL, "net_wave_overshoot", s.deepest / s.last, "", 1.1);
  judge_at_most(JUDGE_GOAL, "net_rest_kinetic_share", kinetic / drop, "", 1e-4);
  judge_at_most(JUDGE_CORRECT, "net_energy_rise_share", rise, "", 0.01);
  judge_between(JUDGE_CORRECT, "net_hooks_over_weight", -hooks(&c.run).z / total_weight(&c.run), "",
                0.98, 1.02);
  judge_at_most(JUDGE_CORRECT, "net_overlap_share", t->overlap_share, "", 0.02);
  judge_paper("net_steps", (double)t->steps, 16000, "", "Tan 2024, section 4.2");
  judge_paper("net_cpu_s", t->cpu_s, 120, "s", "Tan 2024, section 4.2");
  judge_note(
      "%lld grains on %lld spheres: deepest sag %.3f m at %.1f s, %.3f m at the end; the drop "
      "gave %.1f J; largest island %lld bodies at the end.",
      (long long)s.grains, (long long)tl_nets_spheres(&c.run.nets), s.deepest, s.deepest_s, s.last,
      drop, (long long)t->last.largest_island);
  static const double share[] = {0, 0.125, 0.25, 1};
  static const char *const names[] = {"net_start.png", "net_sag.png", "net_wave.png",
                                      "net_rest.png"};
  Gallery g = {.folder = c.run.folder,
               .from = {0.5, -1.9, 1.1},
               .at = {0.5, 0.45, 0.02},
               .colour = TL_COLOUR_ID,
               .width = 720,
               .height = 480};
  pictures(&g, 4, share, names);
  tl_run_close(&c.run);
}

int main(int argc, char **argv) {
  TlComm *comm;
  judge_open("net", argc, argv);
  JUDGE_OK(tl_comm_start(&comm, &argc, &argv));
  if (!judge_full())
    tl_par_set_threads(1); /* small scenes: a second thread costs more than it gives */
  judge_sag(comm, "solver.method=etm-level", "net_sag_error");
  judge_sag(comm, "solver.method=penalty", "net_penalty_sag_error");
  judge_fall(comm);
  int status = judge_close();
  tl_comm_stop(comm);
  return status;
}
