/* A study on many ranks against the same study on one.  ranks: 1 2 4 8
 * With an argument the program only makes the catalog of scene.h there (for the tests of tools). */
#include "mpi/mpitest.h"
#include "mpi/scene.h"

#include "base/file.h"
#include "base/log.h"
#include "run/run.h"
#include "support/tltest.h"

static char folder[256];

static const char box_study[] = "catalog: c.sqlite\n"
                                "time: {dt_s: 5.0e-4, steps: 40}\n"
                                "grains: {sample: sand}\n"
                                "release:\n"
                                "  assembly: lattice\n"
                                "  low_m: [0, 0, 0]\n"
                                "  high_m: [0.0095, 0.0095, 0.0119]\n"
                                "  velocity_m_s: [0.1, 0.05, -0.3]\n"
                                "planes:\n"
                                "- {point_m: [0, 0, 0], normal: [0, 0, 1]}\n"
                                "- {point_m: [0, 0, 0], normal: [1, 0, 0]}\n"
                                "- {point_m: [0, 0, 0], normal: [0, 1, 0]}\n"
                                "- {point_m: [0.0095, 0, 0], normal: [-1, 0, 0]}\n"
                                "- {point_m: [0, 0.0095, 0], normal: [0, -1, 0]}\n"
                                "contact: {friction: 0.4, restitution: 0.3}\n"
                                "parallel: {balance_every_steps: 7, imbalance: 1}\n";

/* Runs off the lower edge of the terrain too: grains are taken out on the way. */
static const char slope_study[] = "catalog: c.sqlite\n"
                                  "time: {dt_s: 1.0e-3, steps: 35}\n" SCENE_SLOPE_RELEASE;

static const char scanned_study[] = "catalog: c.sqlite\n"
                                    "time: {dt_s: 1.0e-3, steps: 20}\n"
                                    "grains: {sample: sand, grain_scale: 1.5}\n"
                                    "release: {position_m: [0.08, 0.05, 0], rotation_deg: [10, 0, "
                                    "30], along_ground: true}\n"
                                    "terrain: {name: slope}\n";

/* 840 grains in free flight, then in touch with the floor. */
static const char many_study[] = "catalog: c.sqlite\n"
                                 "time: {dt_s: 1.0e-3, steps: 3}\n"
                                 "grains: {sample: sand}\n"
                                 "release:\n"
                                 "  assembly: lattice\n"
                                 "  low_m: [0, 0, 0]\n"
                                 "  high_m: [0.1, 0.06, 0.05]\n"
                                 "  count: 840\n"
                                 "  velocity_m_s: [0, 0, -0.2]\n"
                                 "planes:\n"
                                 "- {point_m: [0, 0, 0], normal: [0, 0, 1]}\n";

/* Placed by one rank, handed to all; shapes beside the catalog. */
static const char drawn_study[] = "catalog: c.sqlite\n"
                                  "time: {dt_s: 5.0e-4, steps: 20}\n"
                                  "shapes:\n"
                                  "- {name: ball, diameter_m: 2.0e-3}\n"
                                  "- {name: jack, kind: cross, length_m: 3.0e-3, width_m: 1.0e-3}\n"
                                  "grains: {sample: sand, shapes: [ball, jack]}\n"
                                  "release: {assembly: drawn, count: 60, high_m: [0.01, 0.01, "
                                  "0.02]}\n"
                                  "bodies: [{shape: ball, position_m: [0.005, 0.005, 0.03], count: "
                                  "3, step_m: [0, 0, 0.004], spin_rad_s: [1, 2, 3]}]\n"
                                  "planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]\n";

static const char poured_study[] =
    "catalog: c.sqlite\n"
    "time: {dt_s: 1.0e-3, steps: 40}\n"
    "grains: {sample: sand}\n"
    "release: {assembly: poured, count: 40, low_m: [0, 0, 0.009], high_m: [0.009, 0.009, 0.018], "
    "velocity_m_s: [0.05, 0, -0.3]}\n"
    "planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]\n"
    "parallel: {balance_every_steps: 7, imbalance: 1}\n";

/* Two beads start inside balls at either end of the row, others fall on it. */
static const char embedded_study[] =
    "time: {dt_s: 1.0e-3, steps: 60}\n"
    "shapes: [{name: ball, diameter_m: 4.0e-3}, {name: bead, diameter_m: 2.0e-3}]\n"
    "bodies:\n"
    "- {shape: ball, position_m: [0, 0, 0.002], count: 6, step_m: [0.006, 0, 0]}\n"
    "- {shape: bead, position_m: [0.0005, 0, 0.0022], count: 2, step_m: [0.03, 0, 0]}\n"
    "- {shape: bead, position_m: [0.0003, 0.0002, 0.009], count: 6, step_m: [0.006, 0, 0]}\n"
    "planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]\n"
    "parallel: {balance_every_steps: 7, imbalance: 1}\n";

/* Moved by table, turned as a drum, gone, come: all in the 60 steps. */
static const char walls_study[] =
    "catalog: c.sqlite\n"
    "time: {dt_s: 5.0e-4, steps: 60}\n"
    "grains: {sample: sand}\n"
    "release: {assembly: lattice, low_m: [0, 0, 0], high_m: [0.0095, 0.0095, 0.0119], "
    "velocity_m_s: [0.1, 0.05, -0.3]}\n"
    "walls:\n"
    "- {kind: box, grains: inside, size_m: [0.0095, 0.0095, 0.02], point_m: [0.00475, 0.00475, "
    "0.01], open: [+z, +x], velocity_m_s: [0, 0.02, 0]}\n"
    "- {kind: plane, point_m: [0.0095, 0, 0], normal: [-1, 0, 0], until_s: 0.012}\n"
    "- {kind: cylinder, radius_m: 0.003, length_m: 0.02, axis: [0, 1, 0], point_m: [0.013, 0.005, "
    "0.002], spin_rad_s: [0, 40, 0]}\n"
    "- {kind: box, size_m: [0.03, 0.03, 0.001], point_m: [0.005, 0.005, 0.03], from_s: 0.005, "
    "table: way.csv}\n"
    "contact: {friction: 0.4, restitution: 0.3}\n"
    "parallel: {balance_every_steps: 7, imbalance: 1}\n";

/* Contacts that remember, on surfaces and points, under a wall that comes down on them. */
static const char penalty_study[] =
    "catalog: c.sqlite\n"
    "time: {dt_s: 2.5e-5, steps: 160}\n"
    "grains: {sample: sand}\n"
    "shapes: [{name: ball, diameter_m: 2.0e-3}]\n"
    "bodies: [{shape: ball, position_m: [0.0045, 0.0045, 0.0135], count: 3, step_m: [0.001, 0, "
    "0.0021], spin_rad_s: [1, 20, 3], velocity_m_s: [0, 0, -0.5]}]\n"
    "release: {assembly: lattice, low_m: [0, 0, 0], high_m: [0.0095, 0.0095, 0.0119], "
    "velocity_m_s: [0.3, 0.15, -0.4]}\n"
    "walls:\n"
    "- {kind: box, grains: inside, size_m: [0.0095, 0.0095, 0.03], point_m: [0.00475, 0.00475, "
    "0.015], open: [+z], velocity_m_s: [0, 0.1, 0]}\n"
    "contact: {friction: 0.4, restitution: 0.5, damping_per_s: 2}\n"
    "solver: {method: penalty}\n"
    "penalty: {spread: traction, normal_Pa_m: 2.0e+8, normal_N_m: 150}\n"
    "parallel: {balance_every_steps: 7, imbalance: 1}\n";

/* Grains of a frame of drawn_study's, some cut away, spheres in place of all. */
static const char again_study[] = "catalog: c.sqlite\n"
                                  "time: {dt_s: 5.0e-4, steps: 20}\n"
                                  "shapes:\n"
                                  "- {name: jack, kind: cross, length_m: 3.0e-3, width_m: 1.0e-3}\n"
                                  "- {name: ball, diameter_m: 2.0e-3}\n"
                                  "grains: {as_spheres: yes}\n"
                                  "release:\n"
                                  "  assembly: from-run\n"
                                  "  run: drawn.run\n"
                                  "  keep_velocities: yes\n"
                                  "  rotation_deg: [0, 0, 20]\n"
                                  "  cut: {kind: box, low_m: [0, 0, 0], high_m: [0.01, 0.008, 1]}\n"
                                  "planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]\n";

typedef struct Outcome {
  uint64_t hash;
  int64_t grains, outside, embedded;
  double kinetic, potential, overlap, work;
} Outcome;

static Outcome run_on(TlComm *comm, const char *study) {
  TlRun run;
  Outcome o;
  TlRunOptions options = {.study = study, .no_output = true};
  REQUIRE_OK(tl_run_open(&run, comm, &options));
  REQUIRE_OK(tl_run_go(&run));
  REQUIRE_OK(tl_run_hash(&run, &o.hash));
  o.grains = run.state->grains;
  o.outside = run.state->totals.outside;
  o.embedded = run.state->totals.embedded;
  o.kinetic = run.state->totals.kinetic_J;
  o.potential = run.state->totals.potential_J;
  o.overlap = run.state->totals.overlap_share;
  o.work = run.state->totals.wall_work_J;
  tl_run_close(&run);
  return o;
}

/* The same bits of state; sums over grains within the rounding of adding them in another order. */
static Outcome same_on_one_rank(TlComm *comm, const char *name, const char *text) {
  char *path = write_text(comm, folder, name, text);
  Outcome many = run_on(comm, path);
  if (tl_comm_rank(comm) == 0 && tl_comm_size(comm) > 1) {
    Outcome one = run_on(NULL, path);
    REQUIRE(one.hash == many.hash, "%s: state differs from that on one rank", name);
    REQUIRE(one.outside == many.outside, "%lld", (long long)one.outside);
    REQUIRE(one.embedded == many.embedded, "%lld", (long long)one.embedded);
    REQUIRE(fabs(one.kinetic - many.kinetic) <= 1e-12 * one.kinetic, "%g", one.kinetic);
    REQUIRE(fabs(one.potential - many.potential) <= 1e-12 * fabs(one.potential), "%g",
            one.potential);
    REQUIRE(fabs(one.work - many.work) <= 1e-12 * fabs(one.work), "%g %g", one.work, many.work);
    REQUIRE(one.overlap == many.overlap, "%g %g", one.overlap, many.overlap);
  }
  tl_comm_barrier(comm);
  tl_free(path);
  return many;
}

static void runs_do_not_depend_on_ranks(TlComm *comm) {
  if (tl_comm_size(comm) >= 8) return; /* cores are few: eight ranks are for the memory test */
  Outcome box = same_on_one_rank(comm, "box.yaml", box_study);
  REQUIRE(box.grains == 3 * 3 * 4, "%lld grains", (long long)box.grains);
  Outcome slope = same_on_one_rank(comm, "slope.yaml", slope_study);
  REQUIRE(slope.outside > 0 && slope.outside < slope.grains, "%lld of %lld left",
          (long long)slope.outside, (long long)slope.grains);
  char text[2048];
  snprintf(text, sizeof text, "%soutside: stop\n", slope_study);
  Outcome stopped = same_on_one_rank(comm, "stopped.yaml", text);
  REQUIRE(stopped.outside > 0 && stopped.hash != slope.hash, "%lld", (long long)stopped.outside);
  Outcome scanned = same_on_one_rank(comm, "scanned.yaml", scanned_study);
  REQUIRE(scanned.grains == 8 && scanned.kinetic > 0, "%lld", (long long)scanned.grains);
}

/* What the ranks wrote together is read again by the first. */
static void a_start_from_results_does_not_depend_on_ranks(TlComm *comm) {
  TlRun run;
  char *study = tl_path_join(folder, "drawn.yaml");
  TlRunOptions options = {.study = study, .output = tl_test_results(study), .overwrite = true};
  REQUIRE_OK(tl_run_open(&run, comm, &options));
  REQUIRE_OK(tl_run_go(&run));
  tl_run_close(&run);
  tl_free(study);
  Outcome again = same_on_one_rank(comm, "again.yaml", again_study);
  REQUIRE(again.grains > 20 && again.grains < 63, "%lld grains", (long long)again.grains);
  REQUIRE(again.kinetic > 0, "%g J", again.kinetic);
}

static void assemblies_do_not_depend_on_ranks(TlComm *comm) {
  if (tl_comm_size(comm) >= 8) return;
  Outcome drawn = same_on_one_rank(comm, "drawn.yaml", drawn_study);
  REQUIRE(drawn.grains == 63 && drawn.kinetic > 0, "%lld", (long long)drawn.grains);
  a_start_from_results_does_not_depend_on_ranks(comm);
  Outcome poured = same_on_one_rank(comm, "poured.yaml", poured_study);
  REQUIRE(poured.grains == 40, "%lld", (long long)poured.grains);
}

static void what_becomes_of_embedded_grains_does_not_depend_on_ranks(TlComm *comm) {
  if (tl_comm_size(comm) >= 8) return;
  char text[2048];
  tl_log_set("test", TL_LOG_ERROR); /* each embedded grain is a warning */
  snprintf(text, sizeof text, "%sunresolved: {embedded: drop}\n", embedded_study);
  Outcome dropped = same_on_one_rank(comm, "dropped.yaml", text);
  snprintf(text, sizeof text, "%sunresolved: {embedded: freeze}\n", embedded_study);
  Outcome frozen = same_on_one_rank(comm, "frozen.yaml", text);
  tl_log_set("test", TL_LOG_WARN);
  REQUIRE(dropped.embedded == 2, "%lld taken out", (long long)dropped.embedded);
  REQUIRE(frozen.embedded >= 2 && frozen.hash != dropped.hash, "%lld", (long long)frozen.embedded);
}

static void moving_walls_do_not_depend_on_ranks(TlComm *comm) {
  if (tl_comm_size(comm) >= 8) return;
  tl_free(write_text(comm, folder, "way.csv", "time_s,x_m,y_m,z_m\n0,0,0,0\n0.03,0,0,-0.022\n"));
  Outcome walls = same_on_one_rank(comm, "walls.yaml", walls_study);
  REQUIRE(walls.grains == 3 * 3 * 4 && walls.work != 0, "%lld grains, %g J",
          (long long)walls.grains, walls.work);
}

/* ---- contacts in frames ---- */

static char *run_with_contacts(TlComm *comm, const char *study, const char *every_s,
                               const char *name) {
  char *results = tl_path_join(folder, name), *items = tl_format("time.frame_every_s=%s", every_s);
  TlTexts sets = {.items = &items, .count = 1};
  TlRun run;
  TlRunOptions options = {.study = study, .sets = &sets, .output = results, .overwrite = true};
  REQUIRE_OK(tl_run_open(&run, comm, &options));
  REQUIRE_OK(tl_run_go(&run));
  tl_run_close(&run);
  tl_free(items);
  return results;
}

static int64_t place_of(const TlFrame *f, int64_t id) {
  for (int64_t i = 0; i < f->count; i++)
    if (f->rows[i].id == id) return i;
  return -1;
}

/* Away from the box's planes, whose hybrid scheme also stops what would end inside them. */
static bool is_inner(TlVec3 x, double reach) {
  const double side = 0.0095;
  return x.x > reach && x.y > reach && x.z > reach && x.x < side - reach && x.y < side - reach;
}

/* Without damping, m (v - v_before)/dt - m g is the sum of the contacts' forces on a grain. Returns
 * the grains held to it that had contacts. */
static int64_t forces_change_velocities(const TlScene *scene, const TlFrame *before,
                                        const TlFrame *after, const TlFrameContacts *c) {
  TlVec3 sum[64] = {{0, 0, 0}};
  double largest = 0;
  REQUIRE(after->count <= 64, "%lld", (long long)after->count);
  for (int64_t i = 0; i < c->count; i++) {
    const TlContactRow *r = &c->rows[i];
    int64_t a = place_of(after, r->first), b = place_of(after, r->second);
    REQUIRE(a >= 0 && (b >= 0 || r->second < 0) && r->second != r->first, "%lld %lld",
            (long long)r->first, (long long)r->second);
    REQUIRE(tl_dot(r->normal, r->force_N) > 0, "contact %lld pulls", (long long)i);
    REQUIRE(tl_dot(r->normal, tl_sub(after->rows[a].position_m, r->point_m)) > 0, "normal %lld",
            (long long)i);
    sum[a] = tl_add(sum[a], r->force_N);
    if (b >= 0) sum[b] = tl_sub(sum[b], r->force_N);
    largest = fmax(largest, tl_norm(r->force_N));
  }
  int64_t held = 0;
  for (int64_t i = 0; i < after->count; i++) {
    const TlBodyRow *x = &after->rows[i];
    const TlAvatar *shape = tl_scene_avatar(scene, x->avatar_id);
    double m = scene->density_kg_m3 * pow(x->scale, 3) * shape->volume_m3;
    if (!is_inner(before->rows[i].position_m, 1.2 * x->scale * shape->radius_m)) continue;
    TlVec3 change = tl_sub(x->velocity_m_s, before->rows[i].velocity_m_s);
    TlVec3 want = tl_scale(m, tl_add(tl_scale(1 / scene->step_s, change), tl_vec3(0, 0, 9.81)));
    double off = tl_norm(tl_sub(want, sum[i]));
    /* a correction that lifts a grain takes kinetic energy that no contact shows */
    REQUIRE(off <= 0.02 * (largest + m * 9.81), "grain %lld: %g of %g N", (long long)x->id, off,
            largest);
    held += tl_norm(sum[i]) > 0;
  }
  return held;
}

static void same_contacts(const TlFrameContacts *a, const TlFrameContacts *b) {
  REQUIRE(a->there && b->there && a->count == b->count, "%lld %lld", (long long)a->count,
          (long long)b->count);
  REQUIRE(a->count == 0 || memcmp(a->rows, b->rows, (size_t)a->count * sizeof *a->rows) == 0,
          "contacts differ from those on one rank");
}

static void forces_balance(TlComm *comm, const char *study) {
  char *results = run_with_contacts(comm, study, "5.0e-4", "balance.run");
  TlScene scene;
  TlFrame before = {0}, after;
  TlFrameContacts c;
  int64_t held = 0;
  REQUIRE_OK(tl_results_read_scene(results, &scene));
  for (int64_t f = 0; f <= 40; f++) {
    REQUIRE_OK(tl_results_read_frame(results, f, &after));
    REQUIRE_OK(tl_results_read_contacts(results, f, &c));
    REQUIRE(c.there && (f > 0 || c.count == 0), "frame %lld", (long long)f);
    if (f > 0) held += forces_change_velocities(&scene, &before, &after, &c);
    tl_frame_free(&before);
    tl_frame_contacts_free(&c);
    before = after;
  }
  REQUIRE(held > 20, "%lld grains with contacts", (long long)held);
  tl_frame_free(&before);
  tl_scene_free(&scene);
  tl_free(results);
}

static void contacts_do_not_depend_on_ranks(TlComm *comm, const char *study) {
  char *many = run_with_contacts(comm, study, "5.0e-3", "many.run");
  if (tl_comm_rank(comm) == 0) {
    char *one = run_with_contacts(NULL, study, "5.0e-3", "one.run");
    int64_t points = 0;
    for (int64_t f = 0; f <= 4; f++) {
      TlFrameContacts a, b;
      REQUIRE_OK(tl_results_read_contacts(one, f, &a));
      REQUIRE_OK(tl_results_read_contacts(many, f, &b));
      same_contacts(&a, &b);
      points += a.count;
      tl_frame_contacts_free(&a);
      tl_frame_contacts_free(&b);
    }
    REQUIRE(points > 20, "%lld points", (long long)points);
    tl_free(one);
  }
  tl_comm_barrier(comm);
  tl_free(many);
}

static void contacts_in_frames(TlComm *comm) {
  char text[2048];
  if (tl_comm_size(comm) >= 8) return;
  snprintf(text, sizeof text, "%sframes: {contacts: true}\n", box_study);
  char *path = write_text(comm, folder, "contacts.yaml", text);
  if (tl_comm_size(comm) == 1)
    forces_balance(comm, path);
  else
    contacts_do_not_depend_on_ranks(comm, path);
  tl_free(path);
}

static void penalty_does_not_depend_on_ranks(TlComm *comm) {
  if (tl_comm_size(comm) >= 8) return;
  Outcome many = same_on_one_rank(comm, "penalty.yaml", penalty_study);
  REQUIRE(many.grains == 3 * 3 * 4 + 3 && many.work != 0, "%lld grains, %g J",
          (long long)many.grains, many.work);
  REQUIRE(many.overlap > 0 && many.overlap < 0.25, "%g", many.overlap);
}

static void no_rank_holds_all_grains(TlComm *comm) {
  if (tl_comm_size(comm) < 8) return;
  char *path = write_text(comm, folder, "many.yaml", many_study);
  TlRun run;
  TlRunOptions options = {.study = path, .no_output = true};
  REQUIRE_OK(tl_run_open(&run, comm, &options));
  REQUIRE(run.state->grains == 840, "%lld", (long long)run.state->grains);
  REQUIRE_OK(tl_run_go(&run));
  TlDistCounters c = tl_dist_counters(run.dist);
  REQUIRE(c.largest_array < 840, "an array has %lld elements", (long long)c.largest_array);
  size_t rows = run.state->dem.bodies.pairs.of[TL_IMPULSES].capacity;
  REQUIRE(rows < 840 * 12, "%zu", rows);
  REQUIRE(c.comm.largest_collective_bytes < 840 * 8, "a collective of %lld bytes",
          (long long)c.comm.largest_collective_bytes);
  tl_run_close(&run);
  tl_free(path);
}

static void fails(TlComm *comm, const char *text, const char *message) {
  char *path = write_text(comm, folder, "wrong.yaml", text);
  TlRun run;
  TlRunOptions options = {.study = path, .no_output = true};
  TlStatus status = tl_run_open(&run, comm, &options);
  if (status == TL_OK) status = tl_run_go(&run);
  REQUIRE(status == TL_EINPUT, "status %d", (int)status);
  REQUIRE(strstr(tl_message(), message), "'%s' is not in '%s'", message, tl_message());
  tl_run_close(&run);
  tl_free(path);
}

static void ranks_leave_together(TlComm *comm) {
  char text[2048];
  snprintf(text, sizeof text, "%soutside: error\n", slope_study);
  fails(comm, text, "left the terrain in step");
  fails(comm,
        "catalog: c.sqlite\ntime: {dt_s: 1e-3, steps: 1}\ngrains: {sample: sand}\n"
        "release: {position_m: [5, 5, 0]}\nterrain: {name: slope}\n",
        "wrong.yaml:4:11: release.position_m: there is no terrain at x = 5");
  fails(comm,
        "catalog: c.sqlite\ntime: {dt_s: 1e-3, steps: 1}\ngrains: {sample: sand, grain_scale: "
        "0.1}\nrelease: {position_m: [0.05, 0.05, 0]}\nterrain: {name: slope}\n",
        "wrong.yaml:3:24: grains.grain_scale: the median grain");
}

static void body(TlComm *comm) {
  if (tl_comm_rank(comm) == 0) {
    char *path;
    snprintf(folder, sizeof folder, "%s", tl_test_folder());
    path = tl_path_join(folder, "c.sqlite");
    REQUIRE_OK(scene_catalog(path));
    tl_free(path);
  }
  REQUIRE_OK(tl_comm_broadcast(comm, folder, sizeof folder, 0));
  tl_log_set("test", TL_LOG_WARN);
  runs_do_not_depend_on_ranks(comm);
  assemblies_do_not_depend_on_ranks(comm);
  what_becomes_of_embedded_grains_does_not_depend_on_ranks(comm);
  moving_walls_do_not_depend_on_ranks(comm);
  contacts_in_frames(comm);
  penalty_does_not_depend_on_ranks(comm);
  no_rank_holds_all_grains(comm);
  ranks_leave_together(comm);
}

int main(int argc, char **argv) {
  TlComm *comm;
  if (tl_comm_start(&comm, &argc, &argv) != TL_OK) return 1;
  if (argc > 1)
    REQUIRE_OK(scene_catalog(argv[1]));
  else
    body(comm);
  tl_comm_stop(comm);
  return 0;
}
