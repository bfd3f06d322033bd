/* Chant Sura: rebounds of blocks on an alpine meadow, with measured velocities before and after. Each
 * impact is thrown many times, each time in another attitude and on another roughness. What is not
 * measured was named before the first run and is not tuned: ground `medium`, roughness of 0.15
 * diameters every 0.5 m, the shape of EOTA221 norm rocks (a wheel, 2:2:1; the few equant blocks 1:1:1)
 * as a truncated octahedron of the measured mass and 2670 kg/m3, random attitudes, and the spin of
 * rolling. The scars, a second attempt, were named before their first run, too: the middle of the
 * published ranges, with the friction of `medium`. Outgoing is the speed where the block leaves the ground for a flight of 0.1 s or more, or
 * half a second after the first touch. */
#include "judge/blocks.h"
#include "judge/cases.h"
#include "judge/judge.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/provenance.h"
#include "io/csv_table.h"
#include "shape/terrain_build.h"
#include "store/catalog.h"
#include "talus.h"

#include <math.h>
#include <string.h>

enum {
  IMPACTS = 6,
  CONTACTS = 11,
  MOST_IMPACTS = 11,
  SEEDS = 4,
  THROWS = 25, /* of each impact and seed */
  MOST = MOST_IMPACTS * SEEDS * THROWS
};
static const double STEP_S = 1e-3, FLIGHT_S = 0.1, MOST_S = 0.5, DENSITY = 2670, SIDE_M = 40,
                    IMPACT_SLOPE_DEG = 30;

/* Planes on which a block is thrown, each a terrain. */
typedef enum Plane { LEVEL, THIRTY, STEEP, PLANES } Plane;
static const char *const plane_name[PLANES] = {"level", "thirty", "steep"};

typedef struct Setting {
  const char *ground, *law; /* the law in the section contact, where the ground is none */
  const char *called;       /* that law in words */
  double roughness;         /* over the diameter */
  bool contacts, rolls;     /* which of the two tables */
  Plane plane;
} Setting;
/* Friction of medium ground; in place of its drag scars, with the middle of M_E's and of C's range. */
#define SCARS                                                                                      \
  "boundary_friction: 0.35, boundary_slip_friction: 2, boundary_slip_per_m: 2, "                   \
  "boundary_slip_decay_per_s: 150, boundary_restitution: 0, boundary_scar_modulus_Pa: 1.75e7, "    \
  "boundary_scar_coefficient: 2"
static const Setting settings[] = {
    {"medium", "", "", 0.15, false, true, THIRTY},
    {"medium", "", "", 0, false, true, THIRTY},
    {"medium", "", "", 0.15, false, false, THIRTY},
    {"soft", "", "", 0.15, false, true, THIRTY},
    {"hard", "", "", 0.15, false, true, THIRTY},
    {"extra-hard", "", "", 0.15, false, true, THIRTY},
    {"none", "boundary_friction: 0.5, boundary_restitution: 0.2",
     "by Coulomb's law boundary_friction: 0.5, boundary_restitution: 0.2", 0.15, false, true,
     THIRTY},
    {"none", SCARS, "medium with scars", 0.15, false, true, THIRTY},
    {"none", SCARS, "medium with scars", 0.15, false, false, THIRTY},
    {"medium", "", "", 0.15, true, false, LEVEL},
    {"medium", "", "", 0.15, true, false, THIRTY},
    {"medium", "", "", 0.15, true, false, STEEP}};
enum { SETTINGS = sizeof settings / sizeof *settings };

/* Before the impact, on a plane that rises to the north. */
typedef struct Impact {
  double mass_kg, velocity_m_s[3], kept; /* kept: measured */
  bool equant;
} Impact;

typedef struct Kept {
  int count;
  double fraction[MOST];
} Kept;

typedef struct Site {
  TlTable impacts, contacts;
  double steep_deg, uphill[2]; /* the plane through the places of contact */
  const char *folder;
} Site;

static double cell(const TlTable *t, int64_t row, const char *name) {
  int column;
  double value;
  JUDGE_OK(tl_table_need(t, name, &column));
  JUDGE_OK(tl_table_number(t, row, column, &value));
  return value;
}

/* ---- files of the study ---- */

/* Least squares of z over x and y. */
static void fit_plane(Site *s) {
  const TlTable *t = &s->contacts;
  double n = (double)t->rows, m[3] = {0}, xx = 0, xy = 0, yy = 0, xz = 0, yz = 0;
  static const char *const name[3] = {"x_m", "y_m", "z_m"};
  for (int64_t i = 0; i < t->rows; i++)
    for (int a = 0; a < 3; a++) m[a] += cell(t, i, name[a]) / n;
  for (int64_t i = 0; i < t->rows; i++) {
    double x = cell(t, i, "x_m") - m[0], y = cell(t, i, "y_m") - m[1], z = cell(t, i, "z_m") - m[2];
    xx += x * x, xy += x * y, yy += y * y, xz += x * z, yz += y * z;
  }
  double d = xx * yy - xy * xy, a = (xz * yy - yz * xy) / d, b = (yz * xx - xz * xy) / d;
  s->steep_deg = atan(hypot(a, b)) * TL_DEG;
  s->uphill[0] = a / hypot(a, b);
  s->uphill[1] = b / hypot(a, b);
}

static double slope_deg(const Site *s, Plane plane) {
  return plane == LEVEL ? 0 : plane == THIRTY ? IMPACT_SLOPE_DEG : s->steep_deg;
}

static void add_plane(const Site *s, TlCatalog *catalog, Plane plane) {
  enum { SAMPLES = 41 };
  double height[SAMPLES * SAMPLES], cell_m = SIDE_M / (SAMPLES - 1);
  TlTerrain terrain = {0};
  int64_t id;
  for (int k = 0; k < SAMPLES * SAMPLES; k++)
    height[k] = 100 + tan(slope_deg(s, plane) / TL_DEG) * cell_m * (k / SAMPLES);
  TlTerrainSource source = {plane_name[plane], "", SAMPLES, SAMPLES, cell_m, 0, 0, height};
  JUDGE_OK(tl_terrain_build(&terrain, &source, &(TlTerrainOptions){.band_cells = 3, .refine = 1}));
  JUDGE_OK(tl_catalog_add_terrain(catalog, &terrain, false, &id));
  tl_terrain_free(&terrain);
}

static void make_catalog(int which, void *result, void *context) {
  TlProvenance p;
  TlCatalog *catalog;
  (void)which, (void)result;
  remove(judge_path("chantsura.tals"));
  JUDGE_OK(tl_catalog_open(&catalog, judge_path("chantsura.tals"), TL_CATALOG_CREATE));
  tl_provenance_begin(&p, "val_chantsura", 1, (char *[]){"val_chantsura", NULL});
  JUDGE_OK(tl_catalog_begin(catalog, &p, NULL));
  for (int k = 0; k < PLANES; k++) add_plane(context, catalog, (Plane)k);
  JUDGE_OK(tl_catalog_commit(catalog));
  tl_catalog_close(catalog);
  tl_provenance_free(&p);
}

/* Half of the box is the block. */
static void size_of(const Impact *of, double size_m[3]) {
  double flat = of->equant ? 1 : 0.5, side = cbrt(2 * of->mass_kg / DENSITY / flat);
  size_m[0] = size_m[1] = side;
  size_m[2] = flat * side;
}

static double roughness_of(const Setting *how, const Impact *of) {
  return how->roughness * cbrt(6 * of->mass_kg / DENSITY / M_PI);
}

/* How far the mass centre is from a plane that the block, in this attitude, touches. */
static double support(const Impact *of, TlQuat turn, TlVec3 normal) {
  TlVec3 corner[JUDGE_CORNERS], down = tl_mat_tvec(tl_quat_matrix(turn), tl_scale(-1, normal));
  double size[3], most = 0;
  size_of(of, size);
  judge_octahedron(size, corner);
  for (int i = 0; i < JUDGE_CORNERS; i++) most = fmax(most, tl_dot(down, corner[i]));
  return most;
}

static Impact impact_of(const Site *s, const Setting *how, int64_t row) {
  Impact to = {0};
  double slope = slope_deg(s, how->plane) / TL_DEG;
  if (!how->contacts) {
    const TlTable *t = &s->impacts;
    double normal = cell(t, row, "normal_m_s"), along = cell(t, row, "tangent_m_s");
    to = (Impact){.mass_kg = cell(t, row, "mass_kg"), .kept = cell(t, row, "energy_kept")};
    to.velocity_m_s[1] = -along * cos(slope) + normal * sin(slope);
    to.velocity_m_s[2] = -along * sin(slope) - normal * cos(slope);
    return to;
  }
  static const char *const in[] = {"incoming_vx_m_s", "incoming_vy_m_s", "incoming_vz_m_s"},
                           *const out[] = {"outgoing_vx_m_s", "outgoing_vy_m_s", "outgoing_vz_m_s"};
  double v[3], w[3];
  int event;
  JUDGE_OK(tl_table_need(&s->contacts, "event", &event));
  for (int a = 0; a < 3; a++) v[a] = cell(&s->contacts, row, in[a]);
  for (int a = 0; a < 3; a++) w[a] = cell(&s->contacts, row, out[a]);
  to.mass_kg = cell(&s->contacts, row, "mass_kg");
  to.kept = (w[0] * w[0] + w[1] * w[1] + w[2] * w[2]) / (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  to.velocity_m_s[0] = v[0] * s->uphill[1] - v[1] * s->uphill[0];
  to.velocity_m_s[1] = v[0] * s->uphill[0] + v[1] * s->uphill[1];
  to.velocity_m_s[2] = v[2];
  to.equant = tl_table_text(&s->contacts, row, event)[4] == 'e'; /* RF20e200r1 */
  return to;
}

/* ---- throws ---- */

static TalusModel *open_model(const Site *s, const Setting *how, const Impact *of, uint64_t seed) {
  char text[1400];
  TalusModel *model;
  snprintf(text, sizeof text,
           "catalog: chantsura.tals\nseed: %llu\noutside: remove\n"
           "time: {dt_s: %g, duration_s: 10}\n"
           "shapes: [{name: block, kind: mesh, file: block-%g.obj, unit: m}]\n"
           "grains: {density_kg_m3: %g}\n"
           "bodies: [{shape: block, position_m: [20, 20, 0], above_ground_m: 5}]\n"
           "contact: {%s}\nterrain: {name: %s, ground: %s, roughness_m: %g}\n",
           (unsigned long long)seed, STEP_S, of->equant ? -of->mass_kg : of->mass_kg, DENSITY,
           how->law, plane_name[how->plane], how->ground, roughness_of(how, of));
  char *name = tl_path_join(s->folder, "study.yaml");
  if (!name || talus_model_open_text(&model, name, text, NULL, 0) != TALUS_OK)
    JUDGE_OK(tl_fail(TL_EINPUT, "%s", talus_message()));
  tl_free(name);
  return model;
}

/* Fraction of the translational energy that is left. NaN: no touch. */
static double throw_block(TalusState *state, TalusWorkspace *work, double speed_m_s) {
  double before[3], out = NAN, first = -1, last = -1;
  memcpy(before, talus_state_velocities_m_s(state), sizeof before);
  for (int step = 1; step < 1000; step++) {
    if (talus_step(state, work, 1) != TALUS_OK) JUDGE_OK(tl_fail(TL_ELIMIT, "%s", talus_message()));
    if (talus_state_count(state) == 0) break;
    const double *v = talus_state_velocities_m_s(state);
    double falls = v[2] - before[2] + 9.81 * STEP_S, now = step * STEP_S;
    if (fabs(v[0] - before[0]) + fabs(v[1] - before[1]) + fabs(falls) > 1e-9) {
      if (first < 0) first = now;
      last = now;
      out = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    }
    memcpy(before, v, sizeof before);
    if (first >= 0 && (now - last >= FLIGHT_S || now - first >= MOST_S)) break;
  }
  return out / (speed_m_s * speed_m_s);
}

/* ground_m: of the plane at the place of the throws, local. */
static void throw_all(const Setting *how, const Impact *of, double slope, double ground_m,
                      TalusState *start, TalusWorkspace *work, TlRandom *x, Kept *kept) {
  const double *v = of->velocity_m_s;
  double speed = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]), size[3];
  TlVec3 normal = tl_vec3(0, -sin(slope), cos(slope));
  size_of(of, size);
  double spin[3] = {how->rolls ? hypot(v[1], v[2]) / (0.5 * size[0]) : 0, 0, 0};
  for (int k = 0; k < THROWS; k++) {
    TalusState *state;
    TlQuat q = judge_attitude(x);
    double gap_m = support(of, q, normal) + 2 * roughness_of(how, of) + 0.02;
    double at[3] = {20, 20, ground_m + gap_m / cos(slope)}, turn[4] = {q.w, q.x, q.y, q.z};
    if (talus_state_clone(&state, start) != TALUS_OK ||
        talus_state_set_body(state, talus_state_ids(state)[0], at, turn, v, spin) != TALUS_OK)
      JUDGE_OK(tl_fail(TL_EINPUT, "%s", talus_message()));
    double fraction = throw_block(state, work, speed);
    if (isfinite(fraction)) kept->fraction[kept->count++] = fraction;
    talus_state_free(state);
  }
}

static void run_case(int which, void *result, void *context) {
  const Site *s = context;
  const Setting *how = &settings[which];
  int64_t rows = how->contacts ? CONTACTS : IMPACTS;
  TlCatalog *catalog;
  TlTerrain terrain;
  double ground_m = 0;
  JUDGE_OK(tl_catalog_open(&catalog, judge_path("chantsura.tals"), TL_CATALOG_READ));
  JUDGE_OK(tl_catalog_load_terrain(catalog, plane_name[how->plane], &terrain));
  tl_terrain_height(&terrain, 20, 20, &ground_m, NULL);
  tl_terrain_free(&terrain);
  tl_catalog_close(catalog);
  for (int64_t row = 0; row < rows; row++)
    for (int seed = 0; seed < SEEDS; seed++) {
      Impact of = impact_of(s, how, row);
      TlRandom x = {2019 + (uint64_t)seed, (uint64_t)row, 0};
      TalusModel *model = open_model(s, how, &of, 1 + (uint64_t)seed);
      TalusState *start;
      TalusWorkspace *work;
      if (talus_state_new(&start, model) != TALUS_OK ||
          talus_workspace_new(&work, model) != TALUS_OK)
        JUDGE_OK(tl_fail(TL_EINPUT, "%s", talus_message()));
      throw_all(how, &of, slope_deg(s, how->plane) / TL_DEG, ground_m, start, work, &x, result);
      talus_workspace_free(work);
      talus_state_free(start);
      talus_model_free(model);
    }
}

/* ---- figures ---- */

typedef struct Spread {
  double mean, deviation;
} Spread;

static Spread spread_of(const Kept *k) {
  double sum = 0, squares = 0;
  for (int i = 0; i < k->count; i++) sum += k->fraction[i];
  double mean = sum / k->count;
  for (int i = 0; i < k->count; i++) squares += (k->fraction[i] - mean) * (k->fraction[i] - mean);
  return (Spread){mean, sqrt(squares / (k->count - 1))};
}

static Spread measured(const Site *s, const Setting *how) {
  Kept kept = {0};
  for (int64_t i = 0; i < (how->contacts ? CONTACTS : IMPACTS); i++)
    kept.fraction[kept.count++] = impact_of(s, how, i).kept;
  return spread_of(&kept);
}

static void write_shapes(const Site *s) {
  static const Setting tables[] = {{.contacts = false}, {.contacts = true}};
  for (int t = 0; t < 2; t++)
    for (int64_t i = 0; i < (t ? CONTACTS : IMPACTS); i++) {
      Impact of = impact_of(s, &tables[t], i);
      char name[48];
      double size[3];
      size_of(&of, size);
      snprintf(name, sizeof name, "block-%g.obj", of.equant ? -of.mass_kg : of.mass_kg);
      judge_write_octahedron(judge_path(name), size);
    }
}

int main(int argc, char **argv) {
  judge_open("chantsura", argc, argv);
  Site site = {.folder = judge_dir()};
  JUDGE_OK(tl_table_read("data/chant_sura_impacts.csv", &site.impacts));
  JUDGE_OK(tl_table_read("data/chant_sura_contacts.csv", &site.contacts));
  fit_plane(&site);
  judge_cases(&(JudgeCases){1, sizeof(int), make_catalog, &site, NULL});
  write_shapes(&site);
  talus_set_quiet(1);
  const Kept *kept = judge_cases(&(JudgeCases){SETTINGS, sizeof(Kept), run_case, &site, NULL});
  for (int k = 0; k < SETTINGS; k++) {
    const Setting *how = &settings[k];
    Spread s = spread_of(&kept[k]), truth = measured(&site, how);
    judge_note("%s on a plane of %.0f degrees, ground %s, roughness %g diameters, %s: energy kept "
               "%.2f, deviation %.2f of %d throws (measured %.2f and %.2f).",
               how->contacts ? "Contacts" : "Impacts", slope_deg(&site, how->plane),
               strcmp(how->ground, "none") == 0 ? how->called : how->ground, how->roughness,
               how->rolls ? "rolling" : "without spin", s.mean, s.deviation, kept[k].count,
               truth.mean, truth.deviation);
    if (k > 0) continue;
    judge_at_most(JUDGE_GOAL, "chantsura_mean_error", 100 * fabs(s.mean / truth.mean - 1), "%", 10);
    judge_at_most(JUDGE_GOAL, "chantsura_deviation_error",
                  100 * fabs(s.deviation / truth.deviation - 1), "%", 25);
  }
  tl_table_free(&site.impacts);
  tl_table_free(&site.contacts);
  return judge_close();
}
