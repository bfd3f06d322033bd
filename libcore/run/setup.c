#include "run/setup.h"

#include "base/log.h"
#include "conf/keys.h"
#include "run/constraint_forces.h"
#include "run/ground_kinds.h"
#include "run/materials.h"

#include <math.h>
#include <stdio.h>

static const TlParam time_params[] = {
    REAL(TlTimeSetup, dt_s, "s", NULL, 1e-9, 1, "time step"),
    REAL(TlTimeSetup, duration_s, "s", "0", 0, 1e9, "time to simulate; or give steps"),
    INT(TlTimeSetup, steps, "0", 0, 1e15, "number of steps; or give duration_s"),
    FLAG(
        TlTimeSetup, until_rest, "false",
        "end the run when the grains have come to rest, after duration_s (or steps) at the latest"),
    REAL(
        TlTimeSetup, rest_mass, "", "0.05", 0, 1,
        "until_rest: fraction of the mass that may still move, at speeds of 0.01 to 0.1 sqrt(g d)"),
    REAL(TlTimeSetup, rest_for_s, "s", "0", 0, 1e9,
         "until_rest: time for which the grains must have been at rest; 0: ten times sqrt(d/g), d "
         "the median diameter"),
    REAL(TlTimeSetup, frame_every_s, "s", "0.1", 0, 1e9,
         "time between frames; 0: the first and the last only"),
    REAL(TlTimeSetup, history_every_s, "s", "0", 0, 1e9,
         "time between lines of history.csv; 0: every step"),
    FLAG(
        TlTimeSetup, boundary_forces, "false",
        "write boundary.csv, too: force and moment of the grains on each boundary, at the times of "
        "history.csv"),
    CHOICE(TlTimeSetup, constraint_forces, "joints", TL_CONSTRAINT_FORCES,
           "of which constraints constraint.csv has force and moment, at the times of history.csv: "
           "joints (a platen's piston), or all: of the bonds of nets, too, a line a bond and time"),
};

static const TlParam frame_params[] = {
    FLAG(TlFrameSetup, contacts, "false",
         "also the contact points of the frame's step: ids, place, normal, force, gap; wanted by "
         "talus-measure --packing"),
};

static const TlParam grain_params[] = {
    TEXT(TlGrainSetup, sample, "",
         "sample of the catalog that the grains come from; all when none"),
    {"ids", TL_P_INTS, offsetof(TlGrainSetup, ids), "", "", 1, 9e15, NULL,
     "these grains of the catalog, in place of a sample", NULL},
    TEXTS(TlGrainSetup, shapes,
          "not as-scanned: names in the list of shapes to draw from, as often as each grain of the "
          "sample "
          "or ids; without those, shapes alone"),
    FLAG(TlGrainSetup, with_border, "false", "also grains that the scan's border cuts"),
    REAL(TlGrainSetup, least_diameter_m, "m", "0", 0, 1e3,
         "only grains with at least this volume-equivalent diameter, as scanned"),
    REAL(TlGrainSetup, most_diameter_m, "m", "0", 0, 1e3,
         "only grains with at most this diameter, as scanned; 0: no bound"),
    REAL(TlGrainSetup, grain_scale, "", "1", 1e-6, 1e6,
         "grains are made this many times their scanned size (mass by its cube)"),
    TEXT(TlGrainSetup, material, "",
         "in the list of materials: of grains whose shape has none; none: 'grain'"),
    REAL(TlGrainSetup, density_kg_m3, "kg/m3", TL_DEFAULT_DENSITY, 1e-3, 1e5,
         "density of materials that have none of their own"),
    FLAG(TlGrainSetup, as_spheres, "false",
         "in place of each grain of the assembly a sphere of its volume at its centre"),
};

static const TlParam terrain_params[] = {
    TEXT(TlTerrainSetup, name, "", "terrain of the catalog; none: no terrain"),
    TEXT(TlTerrainSetup, material, "", "in the list of materials; none: 'boundary'"),
    CHOICE(
        TlTerrainSetup, ground, "none", TL_GROUND_CHOICES,
        "what rockfall engineers call the ground: friction that rises with the distance slid, drag "
        "while a block touches, no restitution (docs/theory/ground.md: values of soft to "
        "medium-hard and the drag of hard were not compared with a source); none: "
        "contact.boundary_*"),
    REAL(
        TlTerrainSetup, ground_shift, "", "0", -6, 6,
        "moves all kinds of ground so far from extra-soft to extra-hard: 1 makes soft medium-soft, "
        "-0.5 lies halfway to the next softer kind; no farther than the two ends"),
    CHOICE(TlTerrainSetup, contact, "raster", "raster|band",
           "distance of a grain to the ground: to the raster's own bilinear surface, sought "
           "between the "
           "grain's nodes too, or interpolated in the band of stored distances and at nodes only"),
    REAL(TlTerrainSetup, roughness_m, "m", "0", 0, 100,
         "ground between the samples of the raster: standard deviation of heights drawn anew for "
         "each seed; 0: bilinear"),
    REAL(TlTerrainSetup, roughness_spacing_m, "m", "0.5", 1e-3, 1e4,
         "largest spacing of these heights; the terrain's cells become as small"),
    FLAG(TlTerrainSetup, cells, "true",
         "cells.csv: largest speed, energy and jump height of each block in each cell of the "
         "raster over all steps, from which talus-measure --maps makes maps"),
};
static const TlParam class_params[] = {
    INT(TlClassSetup, id, NULL, 0, 1e9,
        "number of the class, of talus-topo --classes or --class-polygons"),
    TEXT(TlClassSetup, name, "", "what it is"),
    TEXT(TlClassSetup, material, "", "in the list of materials; none: terrain.material"),
    CHOICE(TlClassSetup, ground, "none", TL_GROUND_CHOICES, "as terrain.ground; none: that"),
    REAL(TlClassSetup, stems_per_ha, "1/ha", "-1", -1, 1e5, "there; negative: the terrain's"),
    TL_OLD_FORM_ROWS(TlClassSetup, "-1", "-1", -1, "there; negative: that of contact.boundary_*"),
};
static const TlParam forest_params[] = {
    REAL(TlForest, stems_per_ha, "1/ha", "0", 0, 1e5, "0: no forest"),
    REAL(TlForest, stem_diameter_m, "m", "0.3", 0, 10, "their diameter"),
    REAL(TlForest, stem_height_m, "m", "10", 0, 100,
         "blocks whose mass centre is higher above the ground pass over them"),
    REAL(
        TlForest, stem_energy_kJ, "kJ", "0", 0, 1e6,
        "energy that a stem can take; 0: by its diameter D in cm, 38.7 D^2.31 J (for conifers; not "
        "compared with a source)"),
};
static const TlStudySection terrain_sections[] = {
    {"forest", offsetof(TlTerrainSetup, forest), sizeof(TlForest), false,
     "Stems at random places, which take energy from blocks that hit them (docs/theory/ground.md)",
     forest_params, COUNT(forest_params), NULL, 0},
    {"classes", offsetof(TlTerrainSetup, classes), sizeof(TlClassSetup), true,
     "Classes of the ground, all that the terrain has", class_params, COUNT(class_params), NULL,
     0}};
static const TlParam plane_params[] = {
    VEC3(TlPlaneSetup, point_m, "m", NULL, -1e8, 1e8, "a point of the plane"),
    VEC3(TlPlaneSetup, normal, "", NULL, -1e3, 1e3, "points to the grains; made unit"),
    TEXT(TlPlaneSetup, material, "", "in the list of materials; none: 'boundary'"),
};
static const TlParam parallel_params[] = {
    INT(TlParallelSetup, balance_every_steps, "20", 1, 1e9,
        "look every so many steps whether space should be cut anew"),
    REAL(TlParallelSetup, imbalance, "", "1.15", 1, 1e6,
         "cut anew when the work of the rank that has most exceeds this many times the mean"),
};

static const TlParam checkpoint_params[] = {
    REAL(TlCheckpointSetup, every_minutes, "min", "10", 0, 1e6,
         "save the state when so much wall time has passed; 0 here and in every_steps: on a signal "
         "only"),
    INT(TlCheckpointSetup, every_steps, "0", 0, 1e15,
        "save the state every so many steps; 0: by time only"),
    INT(TlCheckpointSetup, keep, "2", 1, 1000, "keep this many, the newest"),
};

static const TlParam root_params[] = {
    TEXT(TlSetup, title, "", "what the study is, for captions"),
    TEXT(TlSetup, catalog, "", "catalog of grains and terrains; a path from the study's folder"),
    TEXT(TlSetup, output, "",
         "results folder; a path from the study's folder; none: the study's name with "
         ".run, in the current folder"),
    INT(TlSetup, seed, "1", 0, 9e15, "seed of the random numbers"),
    CHOICE(TlSetup, outside, "remove", "remove|stop|error",
           "grains that leave the terrain are counted and taken out, or frozen where they left, or "
           "end the run with exit status 1"),
    CHOICE(TlSetup, crs, "local", "local|terrain",
           "what positions of this study are coordinates of: the terrain's local frame, or its CRS "
           "(x is east, y north, z the height): release.position_m, low_m, high_m and polygon, "
           "bodies, planes, walls, nets"),
    VEC3(TlSetup, gravity_m_s2, "m/s2", TL_DEFAULT_GRAVITY, -1e3, 1e3, "acceleration of gravity"),
    REAL(TlSetup, air_kg_m3, "kg/m3", "0", 0, 100,
         "density of the air, which drags bodies by air_drag air_kg_m3 A v^2/2, A the section of "
         "the "
         "sphere of their volume; 0: none, 1.2 at sea level"),
    REAL(TlSetup, air_drag, "", "0.5", 0, 10, "coefficient of that drag"),
    FLAG(TlSetup, free_fall, "false",
         "grains may fall for ever; else a study in which nothing could stop them is refused"),
};
static const TlStudySection root_sections[] = {
    {"time", offsetof(TlSetup, time), sizeof(TlTimeSetup), false, "Steps and output times",
     time_params, COUNT(time_params), NULL, 0},
    {"frames", offsetof(TlSetup, frames), sizeof(TlFrameSetup), false,
     "What frames hold beside the bodies; moves no bit of the state", frame_params,
     COUNT(frame_params), NULL, 0},
    {"materials", offsetof(TlSetup, materials), sizeof(TlMaterialSetup), true,
     "Materials of grains and boundaries; section contact serves where there is one kind of each",
     tl_material_params, TL_MATERIAL_PARAMS, NULL, 0},
    {"pairs", offsetof(TlSetup, pairs), sizeof(TlPairSetup), true,
     "What happens where two materials touch. What is not given: of a material with itself as in "
     "section contact; of two the lesser friction, restitutions and tangential ratio, and the "
     "stiffnesses in series; of 'boundary' with another as in contact.boundary_*",
     tl_pair_params, TL_PAIR_PARAMS, NULL, 0},
    {"grains", offsetof(TlSetup, grains), sizeof(TlGrainSetup), false, "Which grains", grain_params,
     COUNT(grain_params), NULL, 0},
    {"shapes", offsetof(TlSetup, shapes), sizeof(TlShapeSetup), true,
     "Shapes by formula, beside the grains of a catalog", tl_shape_params, TL_SHAPE_PARAMS, NULL,
     0},
    {"bodies", offsetof(TlSetup, bodies), sizeof(TlBodySetup), true,
     "Bodies placed one by one; their ids follow the assembly's, a body with parts has one id a "
     "part",
     tl_body_params, TL_BODY_PARAMS, tl_body_sections, TL_BODY_SECTIONS},
    {"joints", offsetof(TlSetup, joints), sizeof(TlJointSetup), true,
     "Joints of two bodies, or of a body and the world, as they stand at the start; they and the "
     "bodies that they hold together do not touch each other",
     tl_joint_params, TL_JOINT_PARAMS, NULL, 0},
    {"nets", offsetof(TlSetup, nets), sizeof(TlNetSetup), true,
     "Nets and blankets of spheres in a hexagonal pattern, held together by springs", tl_net_params,
     TL_NET_PARAMS, NULL, 0},
#define A(id, key, title, params, sections)                                                        \
  {#key,                                                                                           \
   offsetof(TlSetup, apparatus[TL_APPARATUS_##id]),                                                \
   sizeof(TlApparatusSection),                                                                     \
   false,                                                                                          \
   title,                                                                                          \
   tl_##key##_params,                                                                              \
   params,                                                                                         \
   tl_##key##_sections,                                                                            \
   sections},
    TL_APPARATUSES(A)
#undef A
        {"release", offsetof(TlSetup, release), sizeof(TlReleaseSetup), false,
         "Where the grains are at the start", tl_release_params, TL_RELEASE_PARAMS,
         tl_release_sections, TL_RELEASE_SECTIONS},
    {"ensemble", offsetof(TlSetup, ensemble), sizeof(TlEnsembleSetup), false,
     "Releases of single blocks, or of blocks that start together and hit each other; each release "
     "is alone on the terrain until it rests or has left: for talus-ensemble",
     tl_ensemble_params, TL_ENSEMBLE_PARAMS, tl_ensemble_sections, TL_ENSEMBLE_SECTIONS},
    {"terrain", offsetof(TlSetup, terrain), sizeof(TlTerrainSetup), false, "The ground",
     terrain_params, COUNT(terrain_params), terrain_sections, COUNT(terrain_sections)},
    {"planes", offsetof(TlSetup, planes), sizeof(TlPlaneSetup), true, "Rigid planes", plane_params,
     COUNT(plane_params), NULL, 0},
    {"walls", offsetof(TlSetup, walls), sizeof(TlWallSetup), true,
     "Rigid walls that may move, appear and vanish", tl_wall_params, TL_WALL_PARAMS, NULL, 0},
    {"sinks", offsetof(TlSetup, sinks), sizeof(TlSinkSetup), true,
     "Regions that take grains out of the run whose centres come into them; what is fixed, on a "
     "joint or part of a net stays",
     tl_sink_params, TL_SINK_PARAMS, NULL, 0},
    {"contact", offsetof(TlSetup, contact), sizeof(TlContactSetup), false,
     "What happens in contacts that no pair is listed for", tl_contact_params, TL_CONTACT_PARAMS,
     NULL, 0},
    {"solver", offsetof(TlSetup, solver), sizeof(TlSolverSetup), false, "How it is solved",
     tl_solver_params, TL_SOLVER_PARAMS, NULL, 0},
#define S(id, key, section, type, doc, rows, count)                                                \
  {#key, offsetof(TlSetup, key), sizeof(section), false, doc, rows, count, NULL, 0},
    TL_METHOD_SECTIONS(S)
#undef S
        {"reduction", offsetof(TlSetup, reduction), sizeof(TlReductionSetup), false,
         "Bodies that move together are moved as one, by method nonsmooth", tl_reduction_params,
         TL_REDUCTION_PARAMS, tl_reduction_sections, TL_REDUCTION_SECTIONS},
    {"unresolved", offsetof(TlSetup, problems), sizeof(TlProblemSetup), false,
     "Grains that lie inside others and cannot be moved out, and collisions without an end",
     tl_problem_params, TL_PROBLEM_PARAMS, NULL, 0, .was = "poor"},
    {"parallel", offsetof(TlSetup, parallel), sizeof(TlParallelSetup), false,
     "How grains lie on ranks; moves no bit of the result", parallel_params, COUNT(parallel_params),
     NULL, 0},
    {"checkpoint", offsetof(TlSetup, checkpoint), sizeof(TlCheckpointSetup), false,
     "When the state is saved, from which --resume continues; moves no bit of the result",
     checkpoint_params, COUNT(checkpoint_params), NULL, 0},
};
const TlStudySection tl_setup_schema = {"",
                                        0,
                                        sizeof(TlSetup),
                                        false,
                                        "What the whole study shares",
                                        root_params,
                                        COUNT(root_params),
                                        root_sections,
                                        COUNT(root_sections)};

/* ---- the method's section ---- */

typedef struct MethodSection {
  const char *key; /* NULL: the method has none */
  size_t at;
} MethodSection;

static const MethodSection method_section[TL_METHOD_COUNT] = {
#define S(id, key, ...) [id] = {#key, offsetof(TlSetup, key)},
    TL_METHOD_SECTIONS(S)
#undef S
};

static const void *section_of(const TlSetup *s) {
  return (const char *)s + method_section[s->solver.method].at;
}

const TlMethodKind *tl_setup_method(const TlSetup *s) {
  return tl_method((TlMethod)s->solver.method);
}

TlMethodChoice tl_setup_choice(const TlSetup *s) {
  const TlMethodKind *method = tl_setup_method(s);
  return method->choose ? method->choose(section_of(s))
                        : (TlMethodChoice){.mass_scale = 1, .nodes_every = 1};
}

TlStepKey tl_setup_step_key(const TlSetup *s) {
  TlStepKey key;
  bool own = tl_setup_choice(s).step_s > 0;
  snprintf(key.path, sizeof key.path, "%s.dt_s",
           own ? method_section[s->solver.method].key : "time");
  return key;
}

/* Springs need a far shorter step than impulses: a study for both names both. */
static TlStatus take_step(TlSetup *s, const TlStudy *study) {
  double step_s = tl_setup_choice(s).step_s;
  if (!(step_s > 0)) return TL_OK;
  if (s->time.steps > 0)
    return tl_study_fail(study, TL_EINPUT, tl_setup_step_key(s).path,
                         "as many steps of another length are another time: give "
                         "time.duration_s in place of time.steps");
  s->time.dt_s = step_s;
  return TL_OK;
}

static TlStatus check_time(const TlSetup *s, const TlStudy *study) {
  if ((s->time.duration_s > 0) == (s->time.steps > 0))
    return tl_study_fail(study, TL_EINPUT, "time.duration_s",
                         "either duration_s or steps must be given, and not both");
  if (s->time.until_rest && !(tl_norm(tl_vec3_of(s->gravity_m_s2)) > 0) &&
      !(s->time.rest_for_s > 0))
    return tl_study_fail(study, TL_EINPUT, "time.rest_for_s",
                         "without gravity until_rest wants the time for which nothing moves");
  if (s->contact.damping_per_s * s->time.dt_s > 1)
    return tl_study_fail(study, TL_EINPUT, "contact.damping_per_s",
                         "%g 1/s times dt_s %g is above 1; the least step would reverse velocities",
                         s->contact.damping_per_s, s->time.dt_s);
  return TL_OK;
}

/* They take energy between steps, which the energy balance of springs would miss. */
static TlStatus check_surroundings(const TlSetup *s, const TlStudy *study) {
  bool forest = tl_forest_stands(s), impulses = tl_setup_method(s)->collide != NULL;
  if (forest && !s->terrain.name)
    return tl_study_fail(study, TL_EINPUT, "terrain.forest", "this study names no terrain");
  if (!impulses && (forest || s->air_kg_m3 > 0))
    return tl_study_fail(study, TL_EINPUT, forest ? "terrain.forest" : "air_kg_m3",
                         "is of the methods by impulses: another solver.method");
  return TL_OK;
}

bool tl_setup_has_ground(const TlSetup *s) {
  const TlClassSetup *c = s->terrain.classes.items;
  bool has = s->terrain.ground != TL_GROUND_NONE;
  for (int64_t i = 0; i < s->terrain.classes.count; i++) has = has || c[i].ground != TL_GROUND_NONE;
  return has;
}

static TlStatus check_terrain(const TlSetup *s, const TlStudy *study) {
  const TlClassSetup *c = s->terrain.classes.items;
  char path[64];
  TL_TRY(check_surroundings(s, study));
  if (s->terrain.ground && !s->terrain.name)
    return tl_study_fail(study, TL_EINPUT, "terrain.ground", "this study names no terrain");
  if (s->terrain.ground && s->terrain.material)
    return tl_study_fail(study, TL_EINPUT, "terrain.ground",
                         "ground and material exclude each other; keep one of them");
  if (s->terrain.ground_shift != 0 && !tl_setup_has_ground(s))
    return tl_study_fail(study, TL_EINPUT, "terrain.ground_shift",
                         "moves kinds of ground, and this study names none (terrain.ground, or "
                         "ground of a class)");
  for (int64_t i = 0; i < s->terrain.classes.count; i++) {
    snprintf(path, sizeof path, "terrain.classes.%lld.ground", (long long)i);
    if (c[i].ground && (c[i].material || c[i].own.friction >= 0 || c[i].own.restitution >= 0))
      return tl_study_fail(study, TL_EINPUT, path,
                           "ground excludes material, friction and restitution; keep one of them");
  }
  if (s->contact.slip_friction > 0 || s->contact.drag_per_s > 0)
    return tl_study_fail(study, TL_EINPUT,
                         s->contact.slip_friction > 0 ? "contact.slip_friction"
                                                      : "contact.drag_per_s",
                         "grains on grains have neither; boundary_slip_friction and "
                         "boundary_drag_per_s are of terrain, planes and walls");
  if (s->terrain.classes.count == 0 || s->terrain.name) return TL_OK;
  return tl_study_fail(study, TL_EINPUT, "terrain.classes", "this study names no terrain");
}

static TlStatus check_planes(TlSetup *s, const TlStudy *study) {
  TlPlaneSetup *planes = s->planes.items;
  for (int64_t i = 0; i < s->planes.count; i++) {
    char path[48];
    TlVec3 n = tl_vec3_of(planes[i].normal);
    snprintf(path, sizeof path, "planes.%lld.normal", (long long)i);
    if (!(tl_norm(n) > 1e-12))
      return tl_study_fail(study, TL_EINPUT, path, "is the zero vector; a direction is wanted");
  }
  return TL_OK;
}

bool tl_setup_draws(const TlSetup *s) {
  return s->release.assembly != TL_ASSEMBLY_AS_SCANNED || s->grains.sample ||
         s->grains.ids.count > 0;
}

bool tl_setup_draws_catalog(const TlSetup *s) {
  return tl_setup_draws(s) && s->release.assembly != TL_ASSEMBLY_FROM_RUN &&
         (s->grains.sample || s->grains.ids.count > 0 || s->grains.shapes.count == 0);
}

static bool needs_catalog(const TlSetup *s) {
  const TlBodySetup *b = s->bodies.items;
  bool needs = tl_setup_draws_catalog(s) || s->terrain.name;
  for (int64_t i = 0; i < s->bodies.count; i++) needs = needs || b[i].grain > 0;
  return needs;
}

static TlStatus check_grains(const TlSetup *s, const TlStudy *study) {
  if (s->grains.ids.count > 0 && s->grains.sample)
    return tl_study_fail(study, TL_EINPUT, "grains.ids",
                         "ids and sample exclude each other; keep one of them");
  if (s->release.assembly == TL_ASSEMBLY_AS_SCANNED && s->grains.shapes.count > 0)
    return tl_study_fail(study, TL_EINPUT, "grains.shapes",
                         "shapes have no pose in a scan; another release.assembly, or bodies");
  if (s->release.assembly == TL_ASSEMBLY_FROM_RUN &&
      (s->grains.sample || s->grains.ids.count > 0 || s->grains.shapes.count > 0))
    return tl_study_fail(study, TL_EINPUT, "grains",
                         "the grains are those of release.run: no sample, ids or shapes here");
  if (!tl_setup_draws(s) && s->bodies.count == 0 && s->nets.count == 0)
    return tl_study_fail(
        study, TL_EINPUT, "grains.sample",
        "an as-scanned assembly wants the name of a sample (or ids); grains without a "
        "catalog: grains.shapes with another assembly, or a list of bodies");
  if (!s->catalog && needs_catalog(s))
    return tl_study_fail(study, TL_EINPUT, "catalog",
                         "is missing: the catalog that grains or terrain are in");
  return tl_shapes_check_names(&s->shapes, &s->grains.shapes, "grains.shapes", study);
}

static void warn_of_stale_forces(const TlSetup *s, const TlStudy *study) {
  char place[256];
  bool renewed = s->reduction.split == TL_SPLIT_OFF || s->reduction.split == TL_SPLIT_TRIAL ||
                 s->reduction.split == TL_SPLIT_BOTH;
  if (!s->time.boundary_forces || renewed || !s->reduction.boundaries ||
      !tl_study_says(study, "reduction.split", place, sizeof place))
    return;
  tl_log_warn("%s: time.boundary_forces: with this reduction.split contacts of grains that have "
              "merged with a boundary keep the force with which they merged; take trial or both, "
              "which renew it, or boundaries: false",
              place);
}

TlStatus tl_setup_fill(TlSetup *setup, TlStudy *study) {
  TL_TRY(tl_study_fill(study, &tl_setup_schema, setup));
  TL_TRY(tl_ensemble_settle(setup, study));
  TL_TRY(take_step(setup, study));
  TL_TRY(check_time(setup, study));
  TL_TRY(check_planes(setup, study));
  TL_TRY(tl_materials_check(setup, study));
  TL_TRY(check_terrain(setup, study));
  const TlMethodKind *method = tl_setup_method(setup);
  if (method->check_section) TL_TRY(method->check_section(section_of(setup), study));
  double end_s = (double)tl_setup_steps(setup) * setup->time.dt_s;
  bool weightless = tl_norm2(tl_vec3_of(setup->gravity_m_s2)) == 0;
  TL_TRY(tl_reduction_check(&setup->reduction, method->reduces, end_s, weightless, study));
  warn_of_stale_forces(setup, study);
  TL_TRY(tl_apparatus_check(setup, study));
  TL_TRY(tl_walls_check(&setup->walls, study));
  TL_TRY(tl_sinks_check(&setup->sinks, study));
  TL_TRY(tl_release_check(&setup->release, setup->terrain.name != NULL, study));
  TL_TRY(tl_shapes_check(&setup->shapes, &setup->bodies, setup->terrain.name != NULL, study));
  TL_TRY(tl_joints_check(&setup->joints, &setup->bodies, (TlMethod)setup->solver.method, study));
  return check_grains(setup, study);
}

void tl_setup_free(TlSetup *setup) {
  tl_study_values_free(&tl_setup_schema, setup);
}

int64_t tl_setup_steps(const TlSetup *setup) {
  if (setup->time.steps > 0) return setup->time.steps;
  return (int64_t)ceil(setup->time.duration_s / setup->time.dt_s - 1e-9);
}

int64_t tl_setup_every(const TlSetup *setup, double every_s) {
  int64_t steps = (int64_t)llround(every_s / setup->time.dt_s);
  return steps > 1 ? steps : 1;
}

TlSolverConfig tl_setup_solver(const TlSetup *s) {
  TlSolverConfig c = {.step_s = s->time.dt_s};
  double heavier = tl_setup_choice(s).mass_scale;
  c.gravity_m_s2 = tl_scale(1 / heavier, tl_vec3_of(s->gravity_m_s2));
  c.density_kg_m3 = tl_material_density(s, TL_MATERIAL_GRAIN);
  tl_solver_configure(&s->contact, &s->solver, &s->problems, &c);
  const TlMethodKind *method = tl_setup_method(s);
  if (method->configure) method->configure(section_of(s), &c);
  if (method->reduces) c.nonsmooth.reduction = tl_reduction_of(&s->reduction);
  return c;
}
