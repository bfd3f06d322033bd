/* A laboratory curve beside a test's.
 *
 * The file is a CSV with a header (io/csv_table.h). A column's name states quantity and unit, and
 * nothing is guessed: axial_strain, volumetric_strain (logarithmic, compression positive),
 * engineering_axial_strain (1 - L/L0), engineering_volumetric_strain (1 - V/V0), each also with
 * _percent; deviatoric_stress, mean_stress, axial_stress, radial_stress with _Pa, _kPa or _MPa;
 * friction_angle, dilatancy_angle with _deg or _rad; stress_ratio (q/p), principal_stress_ratio,
 * void_ratio. The usual symbols (q, p, eps_v ...) and units in brackets, "Axial strain [%]", are understood; other
 * columns are left out with a warning. One axial strain is needed, and one thing more.
 */
#ifndef TL_POST_TRIAXIAL_COMPARE_H
#define TL_POST_TRIAXIAL_COMPARE_H

#include "post/triaxial.h"

typedef struct TlMeasured {
  char *path; /* owned */
  int64_t count;
  double *x[TL_TX_COUNT]; /* [count] in the test's units and measure; NULL: not measured; owned */
} TlMeasured;

/* TL_EINPUT: a known quantity without its unit, a quantity twice, no axial strain or nothing beside it; the
 * message names what is allowed. */
TlStatus tl_measured_read(const char *path, TlMeasured *measured);
void tl_measured_free(TlMeasured *measured);

typedef struct TlDifference {
  double rms;       /* sqrt of the mean over the common strain of (ours - measured)^2 */
  double low, high; /* the common range of axial strain */
} TlDifference;

/* Both curves without their cycles (rows whose strain exceeds all before), straight between their
 * points; the mean is over the strain, exact, not over the points. TL_EINPUT: no common range. */
TlStatus tl_measured_difference(const TlTxTest *test, const TlMeasured *measured, TlTx column,
                                TlDifference *difference);
/* "rms_" and the column's name without unit, for each quantity measured, and its range of strain.
 */
TlStatus tl_measured_figures(const TlTxTest *test, const TlMeasured *measured, TlFigures *figures);

#endif
