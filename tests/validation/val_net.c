/* Grains fall into a clamped net: sag, wave, rest (Tan 2024, Fig. 7); and the sag of a net under
 * pressure against that of a membrane. Both by impulses and by penalty from the same files. */
#include "judge/overlap.h"
#include "validation/barrier.h"
#include "validation/history.h"
#include "validation/membrane_oracle.h"
#include "validation/pictures.h"

#include "base/par.h"
#include "run/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- runs ---- */

typedef struct Case {
  TlRun run;
  TlTexts sets;
  JudgeDeepest deepest;
} Case;

static void run_study(Case *c, TlComm *comm, const char *study, const char *folder,
                      const char *const *sets, int count) {
  c->sets = (TlTexts){(char **)(uintptr_t)sets, count};
  JudgeDeepestOfRun of_run = {.run = &c->run};
  TlRunOptions options = {.study = study,
                          .sets = &c->sets,
                          .output = folder,
                          .overwrite = true,
                          .stop = judge_deepest_stop,
                          .stop_context = &of_run};
  JUDGE_OK(tl_run_open(&c->run, comm, &options));
  JUDGE_OK(tl_run_go(&c->run));
  c->deepest = of_run.deepest;
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
  JUDGE_OK(tl_results_read_frame(c.run.folder, c.run.state->totals.frames - 1, &last));
  Sheet sheet = sheet_of(&c.run.model->nets.net[0]);
  double error, ours = -lowest_net(&last), theirs = membrane_oracle_sag(&sheet, 16, 16, &error);
  judge_at_most(JUDGE_GOAL, figure, fabs(ours / theirs - 1), "", 0.05);
  judge_note("%s: under 10 Pa the net of %d x %d spheres sags by %.4f m; the membrane of the same "
             "stiffness, "
             "of triangles (tests/validation/membrane_oracle.h), by %.4f m, known to %.1e m.",
             method, c.run.model->nets.net[0].rows, c.run.model->nets.net[0].columns, ours, theirs,
             error);
  tl_frame_free(&last);
  judge_deepest_free(&c.deepest);
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
  for (int64_t i = 0; i < run->state->totals.frames; i++) {
    TlFrame frame;
    JUDGE_OK(tl_results_read_frame(run->folder, i, &frame));
    double low = lowest_net(&frame);
    if (-low > s->deepest) {
      s->deepest = -low;
      s->deepest_s = frame.time_s;
    }
    s->last = -low;
    for (int64_t k = 0; i + 1 == run->state->totals.frames && k < frame.count; k++) {
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
  for (int64_t i = 0; i < run->state->dem.bodies.owned; i++)
    if (!(run->state->dem.bodies.flags[i] & TL_BODY_FROZEN)) mass += run->state->dem.bodies.mass[i];
  return 9.81 * mass;
}

typedef struct Fall {
  Story story;
  double drop_J, rise, balance_error, kinetic,
      hooks; /* fractions of the drop's energy; over the weight */
  double cpu_s;
  int64_t steps, spheres;
  JudgeOverlap worst, truth; /* of any step, at the end */
} Fall;

/* The same file by either method. */
static void fall(TlComm *comm, const char *method, const char *folder, Fall *f, TlRun *run) {
  static const char *const fine[] = {"nets.0.spacing_m=0.02", "nets.0.radius_m=0.01",
                                     "nets.0.density_kg_m3=200", "time.duration_s=3.2",
                                     "penalty.dt_s=3e-5"};
  const char *sets[6] = {method, fine[0], fine[1], fine[2], fine[3], fine[4]};
  Case c = {0};
  run_study(&c, comm, "config/validation/net.yaml", judge_path(folder), sets, judge_full() ? 6 : 1);
  const TlRunTotals *t = &c.run.state->totals;
  *f = (Fall){.worst = judge_deepest_of_run(&c.deepest, &c.run),
              .cpu_s = t->cpu_s,
              .steps = t->steps,
              .spheres = tl_nets_spheres(&c.run.model->nets)};
  read_story(&c.run, &f->story);
  f->rise = history_rise(&c.run, &f->drop_J);
  f->balance_error = fabs(t->balance.error_J) / f->drop_J;
  f->kinetic = barrier_grains_kinetic(&c.run.state->dem.bodies) / f->drop_J;
  f->hooks = -hooks(&c.run).z / total_weight(&c.run);
  f->truth = judge_overlap_of_run(&c.run);
  *run = c.run;
}

/* mark: of the method, in the rows' names. */
static void judge_rest(const char *mark, const Fall *f) {
  char name[64];
  const Story *s = &f->story;
  snprintf(name, sizeof name, "net_%sheld_share", mark);
  judge_at_least(JUDGE_CORRECT, name, (double)s->held / (double)s->grains, "", 1);
  snprintf(name, sizeof name, "net_%swave_overshoot", mark);
  judge_at_least(JUDGE_GOAL, name, s->deepest / s->last, "", 1.1);
  snprintf(name, sizeof name, "net_%srest_kinetic_share", mark);
  judge_at_most(JUDGE_GOAL, name, f->kinetic, "", 1e-4);
  if (*mark)
    judge_at_most(JUDGE_CORRECT, "net_penalty_energy_defect", f->balance_error, "", 0.01);
  else
    judge_at_most(JUDGE_CORRECT, "net_energy_rise_share", f->rise, "", 0.01);
  snprintf(name, sizeof name, "net_%shooks_over_weight", mark);
  judge_between(JUDGE_CORRECT, name, f->hooks, "", 0.98, 1.02);
  snprintf(name, sizeof name, "net_%sworst_overlap", mark);
  judge_worst_overlap(name, &f->worst);
  snprintf(name, sizeof name, "net_%strue_overlap", mark);
  judge_true_overlap(name, &f->truth);
  judge_note("%s: %lld grains on %lld spheres: deepest sag %.3f m at %.1f s, %.3f m at the end; "
             "the drop gave %.1f J; %.3g ms CPU a step, %lld steps.",
             *mark ? "Penalty" : "Impulses", (long long)s->grains, (long long)f->spheres,
             s->deepest, s->deepest_s, s->last, f->drop_J, 1e3 * f->cpu_s / (double)f->steps,
             (long long)f->steps);
}

static void draw(const TlRun *run) {
  static const double fraction[] = {0, 1.0 / 6, 0.25, 1};
  static const char *const names[] = {"net_start.png", "net_sag.png", "net_wave.png",
                                      "net_rest.png"};
  Gallery g = {.folder = run->folder,
               .from = {0.5, -1.9, 1.1},
               .at = {0.5, 0.45, 0.02},
               .colour = TL_COLOUR_ID,
               .width = 720,
               .height = 480};
  pictures(&g, 4, fraction, names);
}

static void judge_fall(TlComm *comm) {
  Fall f[2];
  TlRun run;
  fall(comm, "solver.method=etm-level", "fall", &f[0], &run);
  draw(&run);
  tl_run_close(&run);
  fall(comm, "solver.method=penalty", "fall_penalty", &f[1], &run);
  tl_run_close(&run);
  judge_rest("", &f[0]);
  judge_rest("penalty_", &f[1]);
  const Story *s[2] = {&f[0].story, &f[1].story};
  judge_both("net_rest_sag",
             &(JudgeBoth){1e3 * s[0]->last, 1e3 * s[1]->last, f[0].cpu_s, f[1].cpu_s, 0}, "mm", "");
  judge_both("net_deepest_sag",
             &(JudgeBoth){1e3 * s[0]->deepest, 1e3 * s[1]->deepest, f[0].cpu_s, f[1].cpu_s, 0},
             "mm", "");
  judge_at_most(JUDGE_GOAL, "net_penalty_sag_difference", fabs(s[1]->last / s[0]->last - 1), "",
                0.05);
  judge_paper("net_steps", (double)f[0].steps, 16000, "", "Tan 2024, section 4.2");
  judge_paper("net_cpu_s", f[0].cpu_s, 120, "s", "Tan 2024, section 4.2");
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
