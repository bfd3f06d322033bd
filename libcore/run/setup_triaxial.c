#include "run/triaxial.h"

#include "base/mem.h"
#include "run/materials.h"
#include "run/setup.h"
#include "conf/keys.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define STAGE_KINDS "consolidate|shear|hold"
const char *const tl_stage_kinds[] = {"consolidate", "shear", "hold"};

static const TlParam membrane_params[] = {
    REAL(TlCellMembrane, spacing_m, "m", "0", 0, 1e3,
         "from sphere to sphere in a row; 0: twice their radius; round the cell the nearest that "
         "closes"),
    REAL(TlCellMembrane, radius_m, "m", "0", 0, 1e3,
         "of the spheres, whose inner sides are radius_m of the cell from its axis"),
    INT(TlCellMembrane, layers, "1", 1, 2,
        "2: a second layer outside, which bears 20% of the "
        "pressure"),
    REAL(TlCellMembrane, stiffness_N_m, "N/m", "0", 0, 1e15, "of a bond along itself"),
    REAL(TlCellMembrane, tangential_stiffness_N_m, "N/m", "-1", -1, 1e15,
         "of a bond across itself; negative: as along"),
    REAL(TlCellMembrane, density_kg_m3, "kg/m3", "1000", 1e-3, 1e6, "of the spheres"),
    REAL(TlCellMembrane, damping, "", "0.1", 0, 10, "of a bond, as a fraction of the critical"),
    TEXT(TlCellMembrane, material, "",
         "in the list of materials: what contacts of the spheres are like; none: by friction"),
    OLD_REAL(TlCellMembrane, friction, "", "0", 0, 10,
             "old form, without a material: of grains on the membrane"),
    REAL(TlCellMembrane, stretch_most, "", "1", 1e-3, 100,
         "a bond longer than 1 + this times its length ends the run"),
};

static const TlParam stage_params[] = {
    CHOICE(TlStageSetup, kind, NULL, STAGE_KINDS,
           "top platen under the load of the cell pressure, driven at rate_per_s, or held still"),
    REAL(TlStageSetup, pressure_Pa, "Pa", "-1", -1, 1e12,
         "cell pressure, on the specimen's side; negative: as before (at first none)"),
    REAL(TlStageSetup, ramp_s, "s", "0", 0, 1e9, "time in which the pressure gets there, linearly"),
    REAL(TlStageSetup, rate_per_s, "1/s", "0", -1e6, 1e6,
         "shear: speed of the top platen over the height at the start of the first shear stage; "
         "positive compresses, negative unloads"),
    REAL(TlStageSetup, until_strain, "", "0", -10, 10,
         "shear: ends when the axial strain has come there; 0: not by strain"),
    REAL(TlStageSetup, until_deviatoric_Pa, "Pa", "-1e15", -1e15, 1e15,
         "shear: ends when the deviatoric stress has come there from the side the stage began on; "
         "-1e15: not by stress"),
    REAL(
        TlStageSetup, until_unbalanced, "", "0.01", 0, 1e3,
        "consolidate: ends when the mean force that accelerates a body is below this fraction of a "
        "contact's, and until_kinetic_share holds, and the pressure has got there"),
    REAL(TlStageSetup, until_kinetic_share, "", "0.01", 0, 1e3,
         "consolidate: kinetic over elastic energy of the contacts"),
    REAL(TlStageSetup, least_s, "s", "0", 0, 1e9, "lasts at least so long; a hold: just so long"),
    REAL(TlStageSetup, most_s, "s", "0", 0, 1e9,
         "the next stage begins by then in any case, with a warning; 0: no bound but "
         "time.duration_s"),
    REAL(
        TlStageSetup, friction, "", "-1", -1, 10,
        "grain on grain (grains.material with itself) in this stage, as low friction makes a dense "
        "specimen; negative: their own"),
    REAL(TlStageSetup, void_ratio, "", "0", 0, 100,
         "consolidate: the specimen is relaxed to this void ratio: when the pressure has got there "
         "friction falls evenly from contact.friction to friction, within another ramp_s, until "
         "the specimen is as dense, and is contact.friction again from then on; 0: none"),
    REAL(TlStageSetup, damping_per_s, "1/s", "-1", -1, 1e4,
         "global damping in this stage; negative: contact.damping_per_s"),
};

const TlParam tl_triaxial_params[] = {
    REAL(TlTriaxialSetup, radius_m, "m", "0", 0, 1e3,
         "of the specimen, to the membrane's inner side; 0: no cell"),
    REAL(TlTriaxialSetup, height_m, "m", "0", 0, 1e3, "from platen to platen at the start"),
    VEC3(TlTriaxialSetup, base_m, "m", "0,0,0", -1e7, 1e7,
         "middle of the bottom platen's face; the cell stands upright on it"),
    REAL(TlTriaxialSetup, platen_m, "m", "0", 0, 1e3,
         "thickness of the top platen, which has the grains' density; 0: a fifth of radius_m"),
    TEXT(TlTriaxialSetup, platen_material, "",
         "of both platens, in the list of materials; none: friction and restitution of "
         "contact.boundary_*"),
    FLAG(TlTriaxialSetup, tilts, "false",
         "the top platen is free to tilt about its middle from the first shear stage on"),
    INT(TlTriaxialSetup, look_every_steps, "20", 1, 1e9,
        "look every so many steps at volume, escaped grains and the end of the stage"),
};

const TlStudySection tl_triaxial_sections[] = {
    {"membrane", offsetof(TlTriaxialSetup, membrane), sizeof(TlCellMembrane), false,
     "The cell's membrane of bonded spheres", membrane_params, COUNT(membrane_params), NULL, 0},
    {"stages", offsetof(TlTriaxialSetup, stages), sizeof(TlStageSetup), true,
     "What is done, one after the other", stage_params, COUNT(stage_params), NULL, 0},
};
TL_APPARATUS_ROWS(TRIAXIAL, TlTriaxialSetup, tl_triaxial_params, tl_triaxial_sections);

const TlTriaxialSetup *tl_triaxial_section(const TlSetup *setup) {
  return (const TlTriaxialSetup *)(const void *)&setup->apparatus[TL_APPARATUS_TRIAXIAL];
}

bool tl_triaxial_there(const TlSetup *setup) {
  return tl_triaxial_section(setup)->radius_m > 0;
}

/* ---- checks ---- */

static TlStatus fail_stage(const TlStudy *study, int64_t i, const char *key, const char *text) {
  char path[64];
  snprintf(path, sizeof path, "triaxial.stages.%lld.%s", (long long)i, key);
  return tl_study_fail(study, TL_EINPUT, path, "%s", text);
}

/* pressure: of this stage; friction: of the grains' material on itself. */
static TlStatus check_stage(const TlStageSetup *s, int64_t i, double pressure, double friction,
                            const TlStudy *study) {
  if (s->kind == TL_STAGE_SHEAR && s->rate_per_s == 0)
    return fail_stage(study, i, "rate_per_s", "is missing: how fast is this specimen sheared?");
  if (s->kind == TL_STAGE_SHEAR && s->until_strain == 0 && s->until_deviatoric_Pa <= -1e15)
    return fail_stage(study, i, "until_strain", "or until_deviatoric_Pa is missing");
  if (s->kind != TL_STAGE_SHEAR && s->rate_per_s != 0)
    return fail_stage(study, i, "rate_per_s", "is a shear stage's");
  if (s->kind == TL_STAGE_HOLD && !(s->least_s > 0))
    return fail_stage(study, i, "least_s", "is missing: how long is it held?");
  if (!(pressure > 0))
    return fail_stage(study, i, "pressure_Pa", "is missing: no stage so far had a cell pressure");
  if (s->void_ratio > 0 && s->kind != TL_STAGE_CONSOLIDATE)
    return fail_stage(study, i, "void_ratio", "is a consolidate stage's");
  if (s->void_ratio > 0 && s->friction < 0)
    return fail_stage(study, i, "friction",
                      "is missing: how low may it fall on the way to void_ratio?");
  if (s->void_ratio > 0 && s->friction >= friction)
    return fail_stage(study, i, "friction",
                      "is no lower than contact.friction (or the listed pair's): it shall fall on "
                      "the way to void_ratio");
  if (s->void_ratio > 0 && !(s->ramp_s > 0))
    return fail_stage(study, i, "ramp_s",
                      "is missing: within what time does the pressure come, and friction fall?");
  if (s->most_s > 0 && s->most_s < s->least_s)
    return fail_stage(study, i, "most_s", "is less than least_s");
  return TL_OK;
}

/* strain: where the stage begins, NAN where that is not known before the run; becomes where it ends. A
 * platen that begins beyond until_strain, in the direction in which it goes, would have arrived at once. */
static TlStatus check_strain(const TlStageSetup *s, int64_t i, double *strain,
                             const TlStudy *study) {
  char path[64];
  if (s->kind == TL_STAGE_HOLD) return TL_OK;
  if (s->kind == TL_STAGE_CONSOLIDATE) { /* after a shear stage the platen moves by its load */
    if (*strain != 0) *strain = NAN;
    return TL_OK;
  }
  double way = (s->until_strain - *strain) * s->rate_per_s;
  if (s->until_strain != 0 && way <= 0) {
    snprintf(path, sizeof path, "triaxial.stages.%lld.until_strain", (long long)i);
    return tl_study_fail(study, TL_EINPUT, path,
                         "is %g and the stage begins at %g: rate_per_s %g leads away from it, and "
                         "the stage would end at once; compression is positive",
                         s->until_strain, *strain, s->rate_per_s);
  }
  bool only_strain = s->until_strain != 0 && s->until_deviatoric_Pa <= -1e15 && s->most_s == 0;
  *strain = only_strain ? s->until_strain : NAN;
  return TL_OK;
}

static TlStatus check_stages(const TlTriaxialSetup *t, double friction, const TlStudy *study) {
  const TlStageSetup *stage = t->stages.items;
  double pressure = 0, strain = 0;
  if (t->stages.count == 0)
    return tl_study_fail(study, TL_EINPUT, "triaxial.stages", "are missing: what shall be done?");
  for (int64_t i = 0; i < t->stages.count; i++) {
    if (stage[i].pressure_Pa >= 0) pressure = stage[i].pressure_Pa;
    TL_TRY(check_stage(&stage[i], i, pressure, friction, study));
    TL_TRY(check_strain(&stage[i], i, &strain, study));
  }
  return TL_OK;
}

TlStatus tl_triaxial_check(const TlSetup *setup, const TlStudy *study) {
  const TlTriaxialSetup *t = tl_triaxial_section(setup);
  if (t->radius_m == 0) {
    if (t->stages.count == 0) return TL_OK;
    return tl_study_fail(study, TL_EINPUT, "triaxial.radius_m", "is missing: the cell's radius");
  }
  if (!(t->height_m > 0))
    return tl_study_fail(study, TL_EINPUT, "triaxial.height_m", "is missing: the cell's height");
  if (!(t->membrane.radius_m > 0))
    return tl_study_fail(study, TL_EINPUT, "triaxial.membrane.radius_m",
                         "is missing: of the membrane's spheres");
  if (!(t->membrane.stiffness_N_m > 0))
    return tl_study_fail(study, TL_EINPUT, "triaxial.membrane.stiffness_N_m",
                         "is missing: of the membrane's bonds");
  if (setup->release.assembly == TL_ASSEMBLY_POURED)
    return tl_study_fail(study, TL_EINPUT, "release.assembly",
                         "grains are poured in a study of their own, and taken from its results");
  return check_stages(t, tl_grain_friction(setup), study);
}

/* ---- the parts ---- */

static const char platen_name[] = "top platen of the triaxial cell";

/* NULL of none. */
static TlStatus copy_name(const char *name, char **copy) {
  *copy = name ? tl_strdup(name) : NULL;
  return name && !*copy ? TL_ENOMEM : TL_OK;
}

static TlStatus add_bottom(TlSetup *setup) {
  TlPlaneSetup *plane = tl_apparatus_append(&setup->planes, sizeof *plane);
  if (!plane) return TL_ENOMEM;
  memcpy(plane->point_m, tl_triaxial_section(setup)->base_m, sizeof plane->point_m);
  plane->normal[2] = 1;
  return copy_name(tl_triaxial_section(setup)->platen_material, &plane->material);
}

static TlStatus add_top(TlSetup *setup) {
  const TlTriaxialSetup *t = tl_triaxial_section(setup);
  double thick = t->platen_m > 0 ? t->platen_m : 0.2 * t->radius_m;
  const TlShapeSetup shape = {
      .kind = TL_FORMULA_CYLINDER, .diameter_m = 2 * t->radius_m, .length_m = thick};
  const double middle[3] = {t->base_m[0], t->base_m[1], t->base_m[2] + (t->height_m + 0.5 * thick)};
  TL_TRY(tl_apparatus_add_platen(setup, &shape, platen_name, middle));
  TlBodySetup *platen = (TlBodySetup *)setup->bodies.items + setup->bodies.count - 1;
  return copy_name(t->platen_material, &platen->material);
}

/* Rows as the height holds, amid it: what is left at each end is less than half a row. */
static TlStatus add_membrane(TlSetup *setup) {
  const TlTriaxialSetup *t = tl_triaxial_section(setup);
  const TlCellMembrane *m = &t->membrane;
  double tube = t->radius_m + m->radius_m;
  double wish = m->spacing_m > 0 ? m->spacing_m : 2 * m->radius_m;
  double columns = fmax(5, floor(2 * M_PI * tube / wish + 0.5));
  double row = tl_net_row_gap(tl_net_tube_spacing(tube, (int32_t)fmin(columns, 1e6)));
  double rows = fmax(2, floor(t->height_m / row) + 1);
  TlNetSetup *net = tl_apparatus_append(&setup->nets, sizeof *net);
  if (!net) return TL_ENOMEM;
  *net = (TlNetSetup){.tube_radius_m = tube,
                      .spacing_m = wish,
                      .columns = (int64_t)columns,
                      .rows = (int64_t)rows,
                      .layers = m->layers,
                      .radius_m = m->radius_m,
                      .density_kg_m3 = m->density_kg_m3,
                      .stiffness_N_m = m->stiffness_N_m,
                      .tangential_stiffness_N_m = m->tangential_stiffness_N_m,
                      .damping = m->damping,
                      .own = {.friction = m->friction},
                      .stretch_most = m->stretch_most};
  TL_TRY(copy_name(m->material, &net->material));
  memcpy(net->corner_m, t->base_m, sizeof net->corner_m);
  net->corner_m[2] += 0.5 * (t->height_m - (rows - 1) * row);
  net->along_m[0] = 1;
  net->across_m[2] = t->height_m;
  TL_TRY(TL_NEW(net->clamped.items, 1));
  net->clamped.items[0] = tl_strdup("first-row");
  net->clamped.count = 1;
  return net->clamped.items[0] ? TL_OK : TL_ENOMEM;
}

TlStatus tl_triaxial_expand(TlSetup *setup) {
  TL_TRY(add_bottom(setup));
  TL_TRY(add_top(setup));
  return add_membrane(setup);
}
