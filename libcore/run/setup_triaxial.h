/* Section triaxial: a triaxial cell round the grains of a study, and what is done with it.
 *
 * The cell stands upright on base_m, the middle of its bottom platen's face: a rough or smooth
 * plane below, a cylinder on a piston above, and between them a membrane, a net closed to a tube
 * (solve/membrane.h) of which the first row is fixed and the last goes with the top platen.
 */
#ifndef TL_RUN_SETUP_TRIAXIAL_H
#define TL_RUN_SETUP_TRIAXIAL_H

#include "conf/study.h"

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

#endif
