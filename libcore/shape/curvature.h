/* Mean-curvature flow phi_t = kappa |grad phi| (Tan 2022 Eqs. 2.55-2.56 with the sign of Correction
 * 28): wears off adhering fines and noise, and shrinks: r^2 = r0^2 - 4 t for a sphere. The
 * volume is therefore restored afterwards by moving the surface along its normal, and the shift is
 * reported. Grid units; time in cells squared. Serial, repeatable.
 */
#ifndef TL_SHAPE_CURVATURE_H
#define TL_SHAPE_CURVATURE_H

#include "shape/reinit.h"

/* steps of length dt (< 1/6, TL_EUSAGE else) on |phi| < 3, with a new distance map after each step.
 * phi must be a distance, the surface at least 3 cells from the faces; TL_EINPUT when the grain
 * vanishes. */
TlStatus tl_curvature_flow(TlPhiGrid *grid, int32_t steps, double dt);

/* Shift phi by a constant so that the volume is as given (within 1e-4 of it); phi stays a distance.
 * *shift (may be NULL): how far the surface moved out, cells. */
TlStatus tl_restore_volume(TlPhiGrid *grid, double volume, double *shift);

#endif
