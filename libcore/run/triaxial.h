/* A triaxial test as it runs: the stages of section triaxial (run/setup_triaxial.h), the platen and
 * the cell pressure of the moment, and triaxial.csv.
 *
 * Measures, compression positive throughout (Tan 2022 4.4; Corrections 18-20 are followed):
 *   height          between the platens' faces, at the middle of the top one
 *   volume          pi (R - r)^2 height: R of the cylinder that encloses as much as the membrane's
 *                   first layer of centres does (divergence theorem), r the spheres' radius
 *   axial stress    mean force on the top platen since the last line, over volume/height
 *   radial stress   of the cell pressure on the specimen's side: on the triangles of centres
 * presses p0 = p (R0 - r)/R0, R0 the tube's radius at the start, on the specimen p0 R/(R - r); what
 * the stretched membrane itself presses is not in it strains         ln(L0/L) and ln(V0/V) from the
 * start of the first shear stage, 0 before it inertia number  |strain rate| d sqrt(density/mean
 * stress), d of a sphere of the mean volume of the grains, density with which they are moved A
 * run's own history.csv stands beside it.
 */
#ifndef TL_RUN_TRIAXIAL_H
#define TL_RUN_TRIAXIAL_H

#include "base/status.h"
#include "dem/step.h"

#include <stdbool.h>
#include <stdint.h>

struct TlRun;

/* What a checkpoint keeps: type, name. 8 bytes each. */
#define TL_TRIAXIAL_FIELDS(F)                                                                      \
  F(int64_t, platen)     /* id of the top platen's body */                                         \
  F(int64_t, stage)      /* in hand, from 0; their number: all are done */                         \
  F(int64_t, begun)      /* step in which it began */                                              \
  F(int64_t, sign)       /* of what until_deviatoric_Pa lacked then */                             \
  F(int64_t, relaxed)    /* step in which its void_ratio was reached; 0: not yet */                \
  F(double, from_Pa)     /* cell pressure then */                                                  \
  F(double, pressure_Pa) /* now */                                                                 \
  F(double, height_m)    /* at the last look, as the next four */                                  \
  F(double, volume_m3)   /* of the specimen */                                                     \
  F(double, membrane_m3) /* of the membrane's first layer */                                       \
  F(double, solid_m3)    /* of the grains */                                                       \
  F(double, tilt_rad)    /* of the top platen */                                                   \
  F(int64_t, grains)                                                                               \
  F(double, start_height_m) /* of the strains; 0: not sheared yet */                               \
  F(double, start_volume_m3)                                                                       \
  F(double, look_N) /* sum of the platen's force since the last look */                            \
  F(int64_t, look_steps)                                                                           \
  F(double, line_N) /* since the last line, and the base's */                                      \
  F(double, line_base_N)                                                                           \
  F(int64_t, line_steps)                                                                           \
  F(double, unbalanced) /* of the last step */                                                     \
  F(int64_t, warned)    /* of the inertia number, in this stage */

typedef struct TlTriaxial {
#define F(type, name) type name;
  TL_TRIAXIAL_FIELDS(F)
#undef F
} TlTriaxial;

extern const char tl_triaxial_header[]; /* of triaxial.csv */

/* Does this run's study have a cell? */
bool tl_triaxial_there(const struct TlRun *run);
/* The membrane's last row will go with a platen: before the net's spheres are made. */
void tl_triaxial_hold(struct TlRun *run);
/* Grains and platen were made, the first id of placed bodies given: which one is the platen. */
void tl_triaxial_made(struct TlRun *run, int64_t first_placed);
/* The platen's id is known, made or read: tell the membrane. */
void tl_triaxial_place(struct TlRun *run);

/* Before a step, with fresh ghosts. When it is time: a look, a line, the next stage, grains outside
 * the cell found (*escaped, of all ranks: flagged, for the study's policy). Always: guides,
 * pressure, friction and damping of the solver. Collective. */
TlStatus tl_triaxial_before(struct TlRun *run, int64_t *escaped);
/* After it: what the line and the stage need of it. */
void tl_triaxial_after(struct TlRun *run, const TlStepReport *report);
/* All stages done? */
bool tl_triaxial_done(const struct TlRun *run);
/* At the end of a run, with fresh ghosts: a last line, and a word when stages are left. Collective.
 */
TlStatus tl_triaxial_end(struct TlRun *run);

#endif
