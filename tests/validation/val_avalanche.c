/* Avalanches on a 25 degree slope: level and 3 degree run-out, and against a single and a double
 * net (Tan 2024, 6.3, Figs. 13-15; Tan 2022, 5.6.3); the first seconds of the level one by penalty, too,
 * in the small edition. */
#include "validation/barrier.h"
#include "validation/history.h"
#include "validation/pictures.h"

#include "base/log.h"
#include "base/provenance.h"
#include "model/shapes.h"
#include "judge/cases.h"
#include "judge/overlap.h"
#include "post/measure.h"
#include "run/run.h"
#include "shape/terrain_build.h"

#include <math.h>
#include <string.h>

/* ---- terrain ---- */

static const double RAD = 0.017453292519943295;
enum { CELL = 1, BEND = 8 }; /* m: of the raster; over which the slope bends */

typedef struct Ground {
  int nx, ny;
  double foot;       /* x where the slope ends */
  double net, width; /* x and width of the net, in the middle */
} Ground;

static Ground ground_of(void) {
  return judge_full() ? (Ground){.nx = 260, .ny = 110, .foot = 80, .net = 92, .width = 44}
                      : (Ground){.nx = 110, .ny = 43, .foot = 30, .net = 38, .width = 28};
}

/* 25 degrees down to the foot, then `runout_deg`; a shallow channel that opens towards the foot. */
static void heights(const Ground *g, double runout_deg, double *height) {
  double level = 100;
  for (int i = 0; i < g->nx; i++) {
    double x = i * CELL, part = fmin(1, fmax(0, (x - g->foot + BEND) / BEND));
    double channel = 0.02 * fmin(1, fmax(0, (g->foot - x) / 15));
    for (int j = 0; j < g->ny; j++) {
      double y = j * CELL - 0.5 * (g->ny - 1) * CELL;
      height[j * g->nx + i] = level + channel * y * y;
    }
    level -= CELL * tan(RAD * ((1 - part) * 25 + part * runout_deg));
  }
}

static void add_terrain(TlCatalog *catalog, const char *name, double runout_deg) {
  Ground g = ground_of();
  double *height;
  TlTerrain terrain = {0};
  int64_t id;
  JUDGE_OK(TL_NEW(height, (size_t)(g.nx * g.ny)));
  heights(&g, runout_deg, height);
  TlTerrainSource source = {name, "", g.nx, g.ny, CELL, 0, 0, height};
  TlTerrainOptions options = {.band_cells = 4, .refine = 1};
  JUDGE_OK(tl_terrain_build(&terrain, &source, &options));
  JUDGE_OK(tl_catalog_add_terrain(catalog, &terrain, false, &id));
  tl_terrain_free(&terrain);
  tl_free(height);
}

static void make_catalog(const char *path, int argc, char **argv) {
  TlCatalog *catalog;
  TlProvenance p;
  remove(path);
  tl_provenance_begin(&p, "val_avalanche", argc, argv);
  JUDGE_OK(tl_catalog_open(&catalog, path, TL_CATALOG_CREATE));
  JUDGE_OK(tl_catalog_begin(catalog, &p, NULL));
  add_terrain(catalog, "flat", 0);
  add_terrain(catalog, "tilted", 3);
  JUDGE_OK(tl_catalog_commit(catalog));
  tl_catalog_close(catalog);
  tl_provenance_free(&p);
}

/* Height of the ground at the net's foot in the run's frame. */
static double foot_height(const char *path) {
  Ground g = ground_of();
  TlCatalog *catalog;
  TlTerrain terrain;
  double z = 0;
  JUDGE_OK(tl_catalog_open(&catalog, path, TL_CATALOG_READ));
  JUDGE_OK(tl_catalog_load_terrain(catalog, "flat", &terrain));
  if (!tl_terrain_height(&terrain, g.net, 0.5 * (g.ny - 1) * CELL, &z, NULL))
    judge_ok(tl_fail(TL_EINPUT, "no ground"), "net");
  tl_terrain_free(&terrain);
  tl_catalog_close(catalog);
  return z;
}

/* ---- what is watched while it runs ---- */

enum { BINS = 2000 };
static const double BIN_S = 0.25; /* forces are means over this time */

typedef struct Flow {
  double load[BINS]; /* impulse on the hooks down the way in each bin, N s */
  double flux[BINS]; /* momentum of the grains that passed the net's place for the first time */
} Flow;

typedef struct Watch {
  TlRun run;
  Barrier net;
  int64_t grains;
  Side *side;   /* of each grain, by id; ROUND stays ROUND, BEYOND stays BEYOND */
  bool *came;   /* past the net's place, net or not */
  double *mass; /* after the first step, kg */
  Flow *flow;   /* borrowed */
  JudgeDeepest deepest;
} Watch;

static void note(double *bins, double time_s, double what) {
  int64_t k = (int64_t)(time_s / BIN_S);
  if (k < BINS) bins[k] += what;
}

static double peak(const double *bins) {
  double most = 0;
  for (int k = 0; k < BINS; k++) most = fmax(most, bins[k] / BIN_S);
  return most;
}

static double sum_until(const double *bins, double time_s) {
  double sum = 0;
  for (int k = 0; k < BINS && k * BIN_S < time_s; k++) sum += bins[k];
  return sum;
}

static double last_filled(const double *bins) {
  int k = BINS;
  while (k > 0 && bins[k - 1] == 0) k--;
  return k * BIN_S;
}

/* Radius of the ball about its centre that a grain holds. */
static double held_radius(const TlBodies *b, int64_t i) {
  return -b->colliders.scale[i] * tl_shape_phi(b->colliders.shape[i], (TlVec3){0, 0, 0}, NULL);
}

static void watch_grain(Watch *w, int64_t i, double time_s, bool look) {
  const TlBodies *b = &w->run.state->dem.bodies;
  int64_t id = b->id[i];
  if (id < 0 || id >= w->grains) judge_ok(tl_fail(TL_EINPUT, "grain %lld", (long long)id), "ids");
  if (!w->came[id] && b->position[i].x > ground_of().net) {
    w->came[id] = true;
    note(w->flow->flux, time_s, b->mass[i] * b->velocity[i].x);
  }
  if (look && w->side[id] == BEFORE)
    w->side[id] = barrier_side(&w->net, b->position[i], held_radius(b, i));
}

/* Asked after each step. A grain moves less than its radius between looks. */
static int watch(void *context) {
  enum { LOOK_EVERY = 10 };
  Watch *w = context;
  const TlBodies *b = &w->run.state->dem.bodies;
  int64_t steps = w->run.state->totals.steps;
  double dt = w->run.model->setup.time.dt_s, time_s = (double)steps * dt;
  bool net = w->run.model->nets.count > 0;
  judge_deepest_look_at_run(&w->deepest, &w->run);
  if (net) note(w->flow->load, time_s, dt * barrier_force(&w->net).x);
  for (int64_t i = 0; steps == 1 && i < b->owned; i++)
    if (!(b->flags[i] & TL_BODY_NET)) w->mass[b->id[i]] = b->mass[i];
  for (int64_t i = 0; i < b->owned; i++)
    if (!(b->flags[i] & TL_BODY_NET)) watch_grain(w, i, time_s, net && steps % LOOK_EVERY == 0);
  return 0;
}

static void watch_open(Watch *w, const TlRunOptions *options) {
  TlRunOptions watched = *options;
  watched.stop = watch;
  watched.stop_context = w;
  JUDGE_OK(tl_run_open(&w->run, NULL, &watched));
  w->grains = w->run.state->grains;
  JUDGE_OK(TL_NEW(w->side, (size_t)w->grains));
  JUDGE_OK(TL_NEW(w->came, (size_t)w->grains));
  JUDGE_OK(TL_NEW(w->mass, (size_t)w->grains));
  if (w->run.model->nets.count) barrier_open(&w->net, &w->run);
}

static void watch_close(Watch *w) {
  tl_free(w->side);
  tl_free(w->came);
  tl_free(w->mass);
  barrier_close(&w->net);
  tl_run_close(&w->run);
}

/* ---- the five ---- */

typedef struct Outcome {
  double rise, kinetic, balance_error; /* fractions of the energy set free */
  double front, run_out; /* front grain from the first mass centre; mass centre from the foot */
  double length, height, energy_line; /* deposit; slope of the path of the mass centre */
  double early; /* displacement of the mass centre in the first seconds, which penalty runs, too */
  double mass, came, through, round; /* mass: of all, that came to the net's place, that passed */
  double through_each;               /* mean mass of one of them */
  double drop_J, lost_height, lost_mass; /* by the frames, against the totals and the start */
  double largest, opening; /* radii of balls: held by one of them; that the mesh lets by */
  double fits;             /* mass of all grains whose balls the mesh at rest lets by */
  double end_s, cpu_s, cpu_step_s;
  int64_t grains, passed, went_round, bonds, spheres, outside;
  JudgeOverlap worst; /* of any step */
  Flow flow;
} Outcome;

/* Of the grains that are left, as they began. 0: others are missing than those that left the terrain. */
static double mass_left(const Watch *w) {
  const TlBodies *b = &w->run.state->dem.bodies;
  double sum = 0;
  int64_t left = 0;
  for (int64_t i = 0; i < b->owned; i++) {
    if (b->flags[i] & TL_BODY_NET) continue;
    sum += w->mass[b->id[i]];
    left++;
  }
  return left + w->run.state->totals.outside == w->grains ? sum : 0;
}

/* So long it runs by penalty: grains fall, collide and slide off. */
static const double PENALTY_S = 3;

static double early_displacement(const TlMeasure *m) {
  for (int64_t k = 0; k < m->frame_count; k++)
    if (fabs(m->frame[k].time_s - PENALTY_S) < 1e-3)
      return tl_norm(tl_sub(m->frame[k].centre_m, m->frame[0].centre_m));
  judge_ok(tl_fail(TL_EINPUT, "no frame after %g s", PENALTY_S), "frames");
  return 0;
}

static void look_deposit(const Watch *w, Outcome *o) {
  const TlRun *run = &w->run;
  TlScene scene;
  TlMeasure m;
  TlMeasureOptions options = {0};
  JUDGE_OK(tl_results_read_scene(run->folder, &scene));
  JUDGE_OK(tl_measure_run(run->folder, &scene, &options, &m));
  const TlFrameMeasure *first = &m.frame[0], *last = &m.frame[m.frame_count - 1];
  o->drop_J =
      -first->mass_kg * run->model->setup.gravity_m_s2[2] * (first->centre_m.z - last->centre_m.z);
  o->lost_mass = fabs(mass_left(w) / last->mass_kg - 1);
  o->early = early_displacement(&m);
  o->front = last->front_m;
  o->run_out = last->centre_m.x - ground_of().foot;
  o->energy_line = tan(RAD * last->travel_angle_deg);
  o->length = m.deposit.length_m;
  o->height = m.deposit.height_p99_m;
  o->grains = m.grain_count;
  tl_measure_free(&m);
  tl_scene_free(&scene);
}

static void look_passed(const Watch *w, Outcome *o) {
  const TlBodies *b = &w->run.state->dem.bodies;
  const TlNet *net = w->run.model->nets.count ? &w->run.model->nets.net[0] : NULL;
  double rest = net ? barrier_opening(net, tl_net_longest_bond(net)) : 0;
  for (int64_t i = 0; i < b->owned; i++) {
    if (b->flags[i] & TL_BODY_NET) continue;
    Side side = w->side[b->id[i]];
    o->mass += b->mass[i];
    if (w->came[b->id[i]]) o->came += b->mass[i];
    if (held_radius(b, i) <= rest) o->fits += b->mass[i];
    if (side == ROUND) o->round += b->mass[i];
    o->went_round += side == ROUND;
    if (side != BEYOND) continue;
    o->through += b->mass[i];
    o->passed++;
    o->largest = fmax(o->largest, held_radius(b, i));
  }
  o->through_each = o->passed ? o->through / (double)o->passed : 0;
}

static void draw(const TlRun *run, const char *name) {
  char *full = judge_full() ? "full_" : "", last[64], middle[64];
  Ground g = ground_of();
  double y = 0.5 * (g.ny - 1) * CELL,
         z = run->model->nets.count ? run->model->nets.net[0].corner.z : 0;
  Gallery view = {.folder = run->folder, .colour = TL_COLOUR_SIZE, .width = 720, .height = 480};
  if (run->model->nets.count) { /* from beyond and beside it */
    view.from = tl_vec3(g.net + 1.1 * g.width, y - 0.9 * g.width, z + 0.7 * g.width);
    view.at = tl_vec3(g.net - 3, y, z);
  }
  snprintf(last, sizeof last, "avalanche_%s%s.png", full, name);
  snprintf(middle, sizeof middle, "avalanche_%s%s_mid.png", full, name);
  const double fraction[] = {0.4, 1};
  const char *const names[] = {middle, last};
  pictures(&view, 2, fraction, names);
}

/* Mean force on the hooks and momentum that comes past the net's place, by time. */
static void write_load(const Outcome *o, const char *name) {
  char file[64];
  snprintf(file, sizeof file, "load_%s.txt", name);
  FILE *out = judge_data(file);
  for (int k = 0; k < BINS && (k + 1) * BIN_S <= o->end_s; k++)
    fprintf(out, "%g %g %g\n", (k + 0.5) * BIN_S, 1e-3 * o->flow.load[k] / BIN_S,
            1e-3 * o->flow.flux[k] / BIN_S);
  fclose(out);
}

static void tell(const char *name, const Outcome *o) {
  judge_note(
      "%s: front %.1f m from the first mass centre, mass centre %.1f m beyond the foot; deposit "
      "%.1f m long and %.2f m high (99th percentile); the mass centre came down %.3f of its way; "
      "kinetic energy at the end %.1e of what was set free; %lld left the terrain; deepest overlap "
      "%.2f%% of a radius (ground %.2f%%); %.4f CPU-s a step.",
      name, o->front, o->run_out, o->length, o->height, o->energy_line, o->kinetic,
      (long long)o->outside, 100 * o->worst.pairs.largest_fraction,
      100 * o->worst.ground.largest_fraction, o->cpu_step_s);
}

static void run_one(const char *study, const char *name, const TlTexts *sets, Outcome *o) {
  Watch *w;
  TlRunOptions options = {.study = study,
                          .sets = sets,
                          .catalog = judge_path("terrain.sqlite"),
                          .output = judge_path(name),
                          .overwrite = true};
  JUDGE_OK(TL_NEW(w, 1));
  w->flow = &o->flow;
  watch_open(w, &options);
  JUDGE_OK(tl_run_go(&w->run));
  const TlRunTotals *t = &w->run.state->totals;
  double set_free;
  look_deposit(w, o);
  look_passed(w, o);
  o->worst = judge_deepest_of_run(&w->deepest, &w->run);
  o->lost_height = fabs(o->drop_J / (t->potential_start_J - t->potential_J) - 1);
  o->rise = history_rise(&w->run, &set_free);
  o->kinetic = barrier_grains_kinetic(&w->run.state->dem.bodies) / set_free;
  o->balance_error = fabs(t->balance.error_J) / set_free;
  o->end_s = (double)t->steps * w->run.model->setup.time.dt_s;
  o->cpu_s = t->cpu_s;
  o->cpu_step_s = t->cpu_s / (double)t->steps;
  o->outside = t->outside;
  if (w->run.model->nets.count) {
    o->opening = barrier_opening(&w->run.model->nets.net[0], w->net.longest);
    o->bonds = t->last.net_bonds;
    o->spheres = tl_nets_spheres(&w->run.model->nets);
  }
  draw(&w->run, name);
  watch_close(w);
  tl_free(w);
}

/* Four by impulses; then, in the small edition, the flat one from the same file by penalty. */
enum { FLAT, TILTED, SINGLE, TWICE, SCENES, PENALTY = SCENES, RUNS };
static const char *const scene_name[RUNS] = {"flat", "tilted", "single", "double", "flat_penalty"};

/* One of the five; judge_cases runs them side by side. */
static void run_scene(int which, void *result, void *context) {
  enum { MOST = 16, WIDE = 96 };
  static const char *const full[] = {
      "time.duration_s=60",        "release.sizes.0.count=2000", "release.depth_m=10",
      "release.low_m=[3,33,-100]", "release.high_m=[39,76,100]", "time.frame_every_s=1",
      "time.dt_s=2.5e-3"};
  /* it comes faster and deeper; the step is smaller */
  static const char *const stiff[] = {"nets.0.stiffness_N_m=4.5e6",
                                      "nets.0.tangential_stiffness_N_m=1.1e5"};
  const double *foot_z = context;
  Ground g = ground_of();
  char text[MOST][WIDE], *sets[MOST];
  int n = 0;
  for (size_t k = 0; judge_full() && k < sizeof full / sizeof *full; k++)
    snprintf(text[n++], WIDE, "%s", full[k]);
  snprintf(text[n++], WIDE, "terrain.name=%s", which == TILTED ? "tilted" : "flat");
  if (which == PENALTY) {
    snprintf(text[n++], WIDE, "solver.method=penalty");
    snprintf(text[n++], WIDE, "time.duration_s=%g", PENALTY_S);
  }
  bool net = which == SINGLE || which == TWICE;
  if (net) {
    snprintf(text[n++], WIDE, "nets.0.corner_m=[%g,%g,%.9g]", g.net,
             0.5 * ((g.ny - 1) * CELL - g.width), *foot_z + 0.25);
    snprintf(text[n++], WIDE, "nets.0.along_m=[0,%g,0]", g.width);
    snprintf(text[n++], WIDE, "nets.0.layers=%d", which == TWICE ? 2 : 1);
    for (int k = 0; judge_full() && k < 2; k++) snprintf(text[n++], WIDE, "%s", stiff[k]);
  }
  for (int k = 0; k < n; k++) sets[k] = text[k];
  TlTexts list = {sets, n};
  const char *study =
      net ? "config/validation/avalanche_net.yaml" : "config/validation/avalanche.yaml";
  run_one(study, scene_name[which], &list, result);
}

static double most_of(const Outcome *o, size_t member) {
  double most = -INFINITY;
  for (int k = 0; k < SCENES; k++)
    most = fmax(most, *(const double *)((const char *)&o[k] + member));
  return most;
}

static const double MU = 0.2; /* of grains on the ground */

static void judge_slides(const Outcome *o) {
  const double tilt = 3 * RAD;
  JudgeOverlap worst = o[0].worst;
  for (int k = 1; k < SCENES; k++) worst = judge_overlap_worse(worst, o[k].worst);
  judge_worst_overlap("avalanche_worst_overlap", &worst);
  judge_at_most(JUDGE_CORRECT, "avalanche_energy_rise", most_of(o, offsetof(Outcome, rise)),
                "of the energy set free", 1e-3);
  judge_at_most(JUDGE_GOAL, "avalanche_kinetic_left", most_of(o, offsetof(Outcome, kinetic)),
                "of the energy set free", 1e-3);
  /* What the frames hold, read back, against the totals: m g times the drop of the mass centre is the
   * potential energy set free, and no mass is lost but of those that left the terrain. */
  judge_at_most(JUDGE_CORRECT, "avalanche_height_balance_error",
                fmax(o[FLAT].lost_height, o[TILTED].lost_height), "of the energy set free", 1e-12);
  judge_at_most(JUDGE_CORRECT, "avalanche_mass_error", fmax(o[FLAT].lost_mass, o[TILTED].lost_mass),
                "of the mass", 1e-12);
  /* A slider that keeps to the ground comes down mu of the distance it runs whatever the profile. Grains that
   * roll lose less than that, grains that collide more: no bound follows. */
  judge_note("The mass centre came down %.3f of mu of its way; a slider comes down 1.",
             o[FLAT].energy_line / MU);
  /* It stops on the tilted run-out after mu/(mu - tan(3 degrees)) of the distance on a level run-out */
  judge_between(JUDGE_GOAL, "avalanche_tilted_run_out",
                o[TILTED].run_out / o[FLAT].run_out * (1 - tan(tilt) / MU), "of a slider's gain",
                0.8, 1.25);
}

static double apart(double impulse, double penalty) {
  return 100 * fabs(penalty / impulse - 1);
}

static void judge_penalty(const Outcome *o) {
  const Outcome *i = &o[FLAT], *p = &o[PENALTY];
  judge_worst_overlap("avalanche_penalty_worst_overlap", &p->worst);
  judge_at_most(JUDGE_CORRECT, "avalanche_penalty_energy_defect", p->balance_error,
                "of the energy set free", 0.01);
  JudgeBoth both = {i->early, p->early, i->cpu_s, p->cpu_s, 0};
  judge_both("avalanche_early_displacement", &both, "m", "");
  judge_at_most(JUDGE_GOAL, "avalanche_penalty_displacement_difference", apart(i->early, p->early),
                "%", 5);
}

static void judge_nets(const Outcome *o) {
  double came = o[FLAT].came;
  double single = 1 - (o[SINGLE].through + o[SINGLE].round) / came,
         twice = 1 - (o[TWICE].through + o[TWICE].round) / came;
  /* At least what the mesh at rest does not let by, if all that it lets by does go through; and most of it. */
  judge_at_least(JUDGE_GOAL, "avalanche_held_single", single, "of what came",
                 fmax(0.5, 1 - o[SINGLE].fits / came));
  judge_at_least(JUDGE_GOAL, "avalanche_held_double", twice - single, "of what came, more", 0);
  judge_at_most(JUDGE_CORRECT, "avalanche_passed_over_opening",
                fmax(o[SINGLE].largest / o[SINGLE].opening, o[TWICE].largest / o[TWICE].opening),
                "of the widest mesh", 1.02);
  judge_at_most(JUDGE_GOAL, "avalanche_passed_mass",
                o[SINGLE].through_each * (double)o[FLAT].grains / o[FLAT].mass, "of the mean grain",
                0.5);
  /* Grains that stop hand over their momentum, less what the ground takes, and those behind lean on
   * them: no bound follows. */
  double until = last_filled(o[FLAT].flow.flux); /* as long as something comes without a net */
  judge_note("While grains come, the hooks of the single net take %.2f of the momentum that comes "
             "without it.",
             sum_until(o[SINGLE].flow.load, until) / sum_until(o[FLAT].flow.flux, until));
}

static void judge_all(const Outcome *o, int runs) {
  for (int k = 0; k < runs; k++) tell(scene_name[k], &o[k]);
  for (int k = 0; k < SCENES; k++) write_load(&o[k], scene_name[k]);
  judge_slides(o);
  if (runs > PENALTY) judge_penalty(o);
  judge_nets(o);
  judge_paper("avalanche_flat_cpu_s", 20000 * o[FLAT].cpu_step_s, 7200, "s/20000 steps",
              "Tan 2024, section 6.3 (number of grains not given)");
  judge_paper("avalanche_net_cpu_s", 20000 * o[SINGLE].cpu_step_s, 18000, "s/20000 steps",
              "Tan 2024, section 6.3 (number of grains not given)");
  for (int k = SINGLE; k <= TWICE; k++)
    judge_note(
        "%s net, %lld spheres, %lld bonds hold: of the %.0f t that pass its place without it %.1f "
        "t in %lld grains slipped through and %.1f t in %lld went round or over; the widest mesh "
        "let a ball of %.2f m by, the largest in a grain that passed measured %.2f m; the hooks "
        "carried %.0f kN at most over %g s, where %.0f kN of momentum come without the net; the "
        "held weigh %.0f kN.",
        k == TWICE ? "Double" : "Single", (long long)o[k].spheres, (long long)o[k].bonds,
        1e-3 * o[FLAT].came, 1e-3 * o[k].through, (long long)o[k].passed, 1e-3 * o[k].round,
        (long long)o[k].went_round, 2 * o[k].opening, 2 * o[k].largest, 1e-3 * peak(o[k].flow.load),
        BIN_S, 1e-3 * peak(o[FLAT].flow.flux),
        9.81e-3 * (o[FLAT].came - o[k].through - o[k].round));
}

static void plot_load(void) {
  judge_gnuplot(judge_full() ? "avalanche_full_load" : "avalanche_load",
                "set xlabel 't [s]'; set ylabel 'kN'; set key top right\n"
                "plot 'load_flat.txt' using 1:3 with lines lw 2 title 'momentum that comes', "
                "'load_single.txt' using 1:2 with lines lw 2 title 'hooks, single net', "
                "'load_double.txt' using 1:2 with lines lw 2 title 'hooks, double net'\n");
}

int main(int argc, char **argv) {
  static const int order[RUNS] = {PENALTY, TWICE, SINGLE, FLAT, TILTED}; /* the longest first */
  judge_open("avalanche", argc, argv);
  bool full = judge_full();
  tl_log_set("val_avalanche", TL_LOG_WARN);
  make_catalog(judge_path("terrain.sqlite"), argc, argv);
  double foot_z = foot_height(judge_path("terrain.sqlite"));
  JudgeCases cases = {full ? SCENES : RUNS, sizeof(Outcome), run_scene, &foot_z, order + full};
  judge_all(judge_cases(&cases), cases.count);
  plot_load();
  return judge_close();
}
