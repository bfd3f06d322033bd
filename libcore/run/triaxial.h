/* A triaxial test (an apparatus, run/apparatus.h): the stages of section triaxial
 * (below), the platen and the cell pressure of the moment, and triaxial.csv.
 *
 * Measures, compression positive throughout (Tan 2022 4.4; Corrections 18-20 are followed):
 *   height          between the platens' faces, at the middle of the top one
 *   volume          pi (R - r)^2 height: R of the cylinder that encloses as much as the membrane's
 *                   first layer of centres does (divergence theorem), r the spheres' radius
 *   axial stress    mean force on the top platen since the last line, over volume/height
 *   radial stress   of the cell pressure on the specimen's side: on the triangles of centres
 *                   presses p0 = p (R0 - r)/R0, R0 the tube's radius at the start, on the specimen
 *                   p0 R/(R - r); the pressure of the stretched membrane itself is not in it
 *   strains         ln(L0/L) and ln(V0/V) from the start of the first shear stage, 0 before it
 *   inertia number  |strain rate| d sqrt(density/mean stress), d of a sphere of the mean volume of
 *                   the grains, density with which they are moved
 *
 * The run's own history.csv stands beside it. */
#ifndef TL_RUN_TRIAXIAL_H
#define TL_RUN_TRIAXIAL_H

#include "conf/study.h"
#include "run/apparatus.h"

/* ---- the section of a study (setup_triaxial.c) ---- */

/* Section triaxial: a triaxial cell round the grains of a study, and what is done with it.
 *
 * The cell stands upright on base_m, the middle of its bottom platen's face: a rough or smooth
 * plane below, a cylinder on a piston above, and between them a membrane, a net closed to a tube
 * (solve/membrane.h) of which the first row is fixed and the last goes with the top platen.
 */

typedef enum TlStageKind {
  TL_STAGE_CONSOLIDATE = 0, /* the top platen under the load of the cell pressure */
  TL_STAGE_SHEAR,           /* driven */
  TL_STAGE_HOLD             /* held where it is */
} TlStageKind;
extern const char *const tl_stage_kinds[];

typedef struct TlStageSetup {
  int kind; /* TlStageKind */
  double pressure_Pa, ramp_s, rate_per_s;
  double until_strain, until_deviatoric_Pa, until_unbalanced, until_kinetic_share;
  double least_s, most_s;
  double friction, damping_per_s;
  double void_ratio; /* consolidate: relaxed to it; 0: none */
} TlStageSetup;

typedef struct TlCellMembrane {
  double spacing_m, radius_m, stiffness_N_m, tangential_stiffness_N_m, density_kg_m3, damping,
      friction, stretch_most;
  int64_t layers;
  char *material;
} TlCellMembrane;

typedef struct TlTriaxialSetup {
  double radius_m, height_m, base_m[3], platen_m; /* radius 0: the study has no cell */
  char *platen_material;
  bool tilts;
  int64_t look_every_steps;
  TlCellMembrane membrane;
  TlStudyList stages; /* of TlStageSetup */
} TlTriaxialSetup;

struct TlSetup;

/* The section of a study; has it a cell, what one key says against another, and the cell's parts:
 * a plane, a shape and a body for the top platen, a net (run/apparatus.h). */
const TlTriaxialSetup *tl_triaxial_section(const struct TlSetup *setup);
bool tl_triaxial_there(const struct TlSetup *setup);
TlStatus tl_triaxial_check(const struct TlSetup *setup, const TlStudy *study);
TlStatus tl_triaxial_expand(struct TlSetup *setup);

/* ---- as it runs (triaxial.c) ---- */

struct TlRun;

/* What a checkpoint keeps (model/record.h). */
#define TL_TRIAXIAL_FIELDS(F)                                                                      \
  F(int64_t, platen, "", TL_SAVE, "id of the top platen's body")                                   \
  F(int64_t, stage, "", TL_SAVE, "stage in progress, from 0; their number: all are done")          \
  F(int64_t, begun, "", TL_SAVE, "step in which it began")                                         \
  F(int64_t, sign, "", TL_SAVE, "sign of what until_deviatoric_Pa lacked then")                    \
  F(int64_t, relaxed, "", TL_SAVE, "step in which its void_ratio was reached; 0: not yet")         \
  F(double, from_Pa, "Pa", TL_SAVE, "cell pressure when the stage began")                          \
  F(double, pressure_Pa, "Pa", TL_SAVE, "cell pressure now")                                       \
  F(double, height_m, "m", TL_SAVE, "height of the specimen when it was last measured")            \
  F(double, volume_m3, "m3", TL_SAVE, "volume of the specimen then")                               \
  F(double, membrane_m3, "m3", TL_SAVE, "volume of the first layer of the membrane then")          \
  F(double, solid_m3, "m3", TL_SAVE, "volume of the grains then")                                  \
  F(double, tilt_rad, "1", TL_SAVE, "tilt of the top platen then")                                 \
  F(int64_t, grains, "", TL_SAVE, "grains in the cell then")                                       \
  F(double, start_height_m, "m", TL_SAVE, "height from which strains count; 0: not sheared yet")   \
  F(double, start_volume_m3, "m3", TL_SAVE, "volume from which volumetric strains count")          \
  F(double, look_N, "N", TL_SAVE,                                                                  \
    "sum of the platen's force over the steps since the specimen was measured")                    \
  F(int64_t, look_steps, "", TL_SAVE, "their number")                                              \
  F(double, line_N, "N", TL_SAVE,                                                                  \
    "sum of the platen's force over the steps since the last line of the table")                   \
  F(double, line_base_N, "N", TL_SAVE, "the same of the base")                                     \
  F(int64_t, line_steps, "", TL_SAVE, "their number")                                              \
  F(double, unbalanced, "1", TL_SAVE, "unbalanced force of the last step")                         \
  F(int64_t, warned, "", TL_SAVE, "1: the inertia number of this stage has been warned of")

typedef struct TlTriaxial {
#define F(type, name, ...) type name;
  TL_TRIAXIAL_FIELDS(F)
#undef F
} TlTriaxial;

/* The state of a run with a cell. */
TlTriaxial *tl_triaxial_state(const struct TlRun *run);

#endif
