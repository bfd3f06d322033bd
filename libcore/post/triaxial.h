/* A triaxial test's curves, from the triaxial.csv that the solver writes beside its frames, and the
 * table of what is measured of them (docs/results.md has the formulas).
 *
 * Signs: stress and strain compression positive; strains logarithmic, ln(L0/L) and ln(V0/V), from
 * the start of the first shear stage; angles > 0: dilating, shearing towards compression.
 * A leg is a run of rows of shear in which the axial strain goes one way; where it turns (by more
 * than 1e-4 of the whole range) the row belongs to both legs. Holds and consolidation end a leg.
 * A measure is one file triaxial_NAME.c and one line in triaxial.c. SI.
 */
#ifndef TL_POST_TRIAXIAL_H
#define TL_POST_TRIAXIAL_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum TlStageKind { TL_STAGE_CONSOLIDATE, TL_STAGE_SHEAR, TL_STAGE_HOLD } TlStageKind;

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
  TL_TX_TILT,
  TL_TX_ESCAPED,
  TL_TX_KINETIC, /* energies from here */
  TL_TX_RAM_WORK,
  TL_TX_PRESSURE_WORK,
  TL_TX_ELASTIC,
  TL_TX_FRICTION_LOSS,
  TL_TX_VISCOUS,
  TL_TX_DRAG,
  TL_TX_NET_ELASTIC,
  TL_TX_NET_DAMPING,
  TL_TX_DEFECT,
  TL_TX_READ, /* how many are read */
  /* made of them */
  TL_TX_STRESS_RATIO = TL_TX_READ, /* q/p */
  TL_TX_PRINCIPAL_RATIO,           /* sigma_a/sigma_r */
  TL_TX_RATE,                      /* D = -d eps_v/d eps_a, > 0: dilating */
  TL_TX_DILATANCY,                 /* psi, degrees */
  TL_TX_COUNT
} TlTx;
extern const char *const tl_tx_name[TL_TX_COUNT];

typedef struct TlTxLeg {
  int64_t first, last; /* rows */
  int way;             /* 1: loading (axial strain grows), -1: unloading */
} TlTxLeg;

typedef struct TlTriaxial {
  char *path; /* owned */
  int64_t count;
  double *x[TL_TX_COUNT]; /* [count] each, NaN: not defined there; owned */
  TlStageKind *kind;      /* [count] owned */
  int64_t leg_count;
  TlTxLeg *leg; /* owned */
} TlTriaxial;

typedef struct TlTriaxialOptions {
  double window;         /* of axial strain, for slopes of the volumetric strain; 0: 0.01 */
  double modulus_strain; /* over which moduli are fitted; 0: 0.001 */
} TlTriaxialOptions;

/* folder/triaxial.csv. Columns it does not know are passed over. TL_EINPUT: a needed column is
 * missing, a kind is unknown, or rows are missing; the message names file and column or line. */
TlStatus tl_triaxial_read(const char *folder, const TlTriaxialOptions *options, TlTriaxial *test);
void tl_triaxial_free(TlTriaxial *test);

/* ---- helpers of the measures ---- */

/* Least-squares slope of y over x at n places, those with NaN left out; NaN with fewer than three
 * or without spread in x. */
double tl_tx_slope(const double *x, const double *y, int64_t n);
/* Row of the largest value among the loading legs' rows; -1: none. */
int64_t tl_tx_largest(const TlTriaxial *test, TlTx column);
/* The last leg of this way; NULL: none. */
const TlTxLeg *tl_tx_last_leg(const TlTriaxial *test, int way);
/* Rows in which axial strain exceeds that of all earlier rows of loading legs: the curve without
 * its cycles. row[count] owned by the caller; returns how many. */
int64_t tl_tx_backbone(const TlTriaxial *test, int64_t *row);

/* ---- figures ---- */

typedef struct TlFigure {
  char name[64];
  double value;       /* NaN: not defined in this test */
  const char *unit;   /* "" when none */
  const char *source; /* the paper's equation, or how */
} TlFigure;

typedef struct TlFigures {
  TlFigure *item; /* owned */
  int64_t count;
  size_t capacity;
} TlFigures;

TlStatus tl_figures_add(TlFigures *figures, const char *name, double value, const char *unit,
                        const char *source);
/* NaN when there is none of that name. */
double tl_figures_get(const TlFigures *figures, const char *name);
void tl_figures_free(TlFigures *figures);

/* ---- the table of measures ---- */

typedef TlStatus (*TlTriaxialMeasure)(const TlTriaxial *test, const TlTriaxialOptions *options,
                                      TlFigures *figures);
TlStatus tl_tx_strength(const TlTriaxial *, const TlTriaxialOptions *, TlFigures *);
TlStatus tl_tx_volume(const TlTriaxial *, const TlTriaxialOptions *, TlFigures *);
TlStatus tl_tx_stiffness(const TlTriaxial *, const TlTriaxialOptions *, TlFigures *);
TlStatus tl_tx_quality(const TlTriaxial *, const TlTriaxialOptions *, TlFigures *);

/* All of them, in that order. */
TlStatus tl_triaxial_measure(const TlTriaxial *test, const TlTriaxialOptions *options,
                             TlFigures *figures);

#endif
