/* A triaxial test's curves, from the triaxial.csv that the solver writes beside its frames, and the
 * table of their measures (docs/reference/results.md has the formulas).
 *
 * Signs: stress and strain compression positive; strains logarithmic, ln(L0/L) and ln(V0/V), from
 * the start of the first shear stage; angles > 0: dilating, shearing towards compression.
 * A leg is a run of rows of shear in which the axial strain goes one way; where it turns (by more
 * than 1e-4 of the whole range) the row belongs to both legs. Holds and consolidation end a leg.
 * A measure is one file triaxial_NAME.c and one line in triaxial.c. SI.
 */
#ifndef TL_POST_TRIAXIAL_H
#define TL_POST_TRIAXIAL_H

#include "post/figures.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum TlTxKind { TL_TX_CONSOLIDATE, TL_TX_SHEAR, TL_TX_HOLD } TlTxKind;

typedef enum TlTx {
  /* read from the file; tl_tx_name has the columns' names */
  TL_TX_TIME,
  TL_TX_STAGE,
  TL_TX_AXIAL_STRAIN,
  TL_TX_VOLUME_STRAIN,
  TL_TX_AXIAL,  /* sigma_a */
  TL_TX_RADIAL, /* sigma_r */
  TL_TX_Q,
  TL_TX_P,
  TL_TX_FRICTION, /* mobilised friction angle, degrees */
  TL_TX_VOID,
  TL_TX_INERTIA,
  TL_TX_UNBALANCED,
  TL_TX_PLATEN, /* force on the top platen and on the base, N */
  TL_TX_BASE,
  TL_TX_TILT,
  TL_TX_ESCAPED,
  TL_TX_KINETIC, /* energies from here */
  TL_TX_PISTON_WORK,
  TL_TX_PRESSURE_WORK,
  TL_TX_ELASTIC,
  TL_TX_FRICTION_LOSS,
  TL_TX_VISCOUS,
  TL_TX_DRAG,
  TL_TX_NET_ELASTIC,
  TL_TX_NET_DAMPING,
  TL_TX_BALANCE_ERROR,
  TL_TX_HEIGHT,
  TL_TX_VOLUME,
  TL_TX_READ, /* how many are read */
  /* made of them */
  TL_TX_STRESS_RATIO = TL_TX_READ, /* q/p */
  TL_TX_PRINCIPAL_RATIO,           /* sigma_a/sigma_r */
  TL_TX_RATE,                      /* D = -d eps_v/d eps_a, > 0: dilating */
  TL_TX_DILATANCY,                 /* psi, degrees */
  TL_TX_BALANCE,                   /* base over platen force */
  TL_TX_PISTON,                    /* of the piston, N: its work over its travel since the last row,
                                      so with what it bears on the membrane's row; in shear */
  TL_TX_PISTON_FRICTION,           /* mobilised friction angle by it, degrees */
  TL_TX_COUNT
} TlTx;
extern const char *const tl_tx_name[TL_TX_COUNT];

typedef struct TlTxLeg {
  int64_t first, last; /* rows */
  int direction;       /* direction; 1: loading (axial strain grows), -1: unloading */
} TlTxLeg;

typedef struct TlTxTest {
  char *path; /* owned */
  int64_t count;
  double *x[TL_TX_COUNT]; /* [count] each, NaN: not defined there; owned */
  TlTxKind *kind;         /* [count] owned */
  int64_t leg_count;
  TlTxLeg *leg; /* owned */
} TlTxTest;

typedef struct TlTxOptions {
  double window;         /* of axial strain, for slopes of the volumetric strain; 0: 0.01 */
  double modulus_strain; /* over which moduli are fitted; 0: 0.001 */
} TlTxOptions;

/* folder/triaxial.csv. Columns it does not know are passed over. TL_EINPUT: a needed column is
 * missing, a kind is unknown, or rows are missing; the message names file and column or line. */
TlStatus tl_tx_read(const char *folder, const TlTxOptions *options, TlTxTest *test);
void tl_tx_free(TlTxTest *test);

/* ---- helpers of the measures ---- */

/* Least-squares slope of y over x at n places, those with NaN left out; NaN with fewer than three
 * or without spread in x. */
double tl_tx_slope(const double *x, const double *y, int64_t n);
/* Row of the largest value among the loading legs' rows; -1: none. */
int64_t tl_tx_largest(const TlTxTest *test, TlTx column);
/* The last leg of this direction; NULL: none. */
const TlTxLeg *tl_tx_last_leg(const TlTxTest *test, int direction);
/* Rows in which axial strain exceeds that of all earlier rows of loading legs: the curve without
 * its cycles. row[count] owned by the caller; returns how many. */
int64_t tl_tx_backbone(const TlTxTest *test, int64_t *row);

/* y at `at`, straight between the x[count], which never fall; beyond their ends as along the first
 * and the last piece. *k: its piece, from 0, only ever moved on. */
double tl_tx_between(const double *x, const double *y, int64_t count, double at, int64_t *k);

/* ---- the table of measures ---- */

typedef TlStatus (*TlTxMeasure)(const TlTxTest *test, const TlTxOptions *options,
                                TlFigures *figures);
TlStatus tl_tx_strength(const TlTxTest *, const TlTxOptions *, TlFigures *);
TlStatus tl_tx_volume(const TlTxTest *, const TlTxOptions *, TlFigures *);
TlStatus tl_tx_stiffness(const TlTxTest *, const TlTxOptions *, TlFigures *);
TlStatus tl_tx_quality(const TlTxTest *, const TlTxOptions *, TlFigures *);

/* All of them, in that order. */
TlStatus tl_tx_measure(const TlTxTest *test, const TlTxOptions *options, TlFigures *figures);

#endif
