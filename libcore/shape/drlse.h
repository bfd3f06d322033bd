/* A grain's surface from the grey stack: distance-regularised level set evolution (DRLSE).
 *
 * phi_t = mu div(d_p grad phi) + lambda delta(phi) div(g grad phi/|grad phi|) + nu g delta(phi)
 * (Tan 2022 Eqs. 2.42-2.54, after Li 2010), phi < 0 inside, nu > 0 shrinks; d_p of Li's double
 * well (Correction 28), which may start from anything and is stable for dt mu < 1/6 in 3-D;
 * g = 1/(1 + (s |grad G u|)^2), u the grey level scaled to 0 in the void and 1 in the grain.
 * Edge-only evolution (method edge) shrinks grains: the inward shift of the edge on convex bodies,
 * curve shortening, no edge at contacts (2.3% of the volume on a phantom of that scan). The default
 * two-stage method runs it first, then phi_t = mu reg - 0.5 delta clip(2 (u - level), -1, 1),
 * level = 0.5 - b kappa/(2 sqrt(2 pi)): the grey half level, corrected for the blur b of a convex
 * edge by the local curvature kappa of the surface smoothed by 1.5 voxels (of the surface itself it
 * would be backward diffusion, which grows the noise). There u is freed of what the neighbours'
 * blur adds to it between close grains (drlse_box.c). The noise left on the surface is then taken
 * off by a low pass that keeps what is wider than a few voxels, phi <- 2 G phi - G G phi (a kernel
 * without second moment: spheres do not shrink). After every step phi stays above the smoothed
 * mid-surface to the neighbouring labels, so that no two grains overlap at any grid point, and
 * within 3.5 voxels of the label. Method distance takes the label alone: its Gaussian-smoothed
 * indicator, at the level that keeps the label's volume. All on the label's box in the stack plus a
 * margin; cubic voxels; grid units (voxels). Serial per grain, safe to call from many threads, same
 * bits every time; about 0.1 s for 28 voxels across.
 */
#ifndef TL_SHAPE_DRLSE_H
#define TL_SHAPE_DRLSE_H

#include "num/volume.h"
#include "shape/reinit.h"

typedef enum TlDrlseMethod {
  TL_DRLSE_TWO_STAGE = 0,
  TL_DRLSE_EDGE,
  TL_DRLSE_DISTANCE /* no evolution: the label's smoothed distance */
} TlDrlseMethod;

typedef struct TlDrlseOptions {
  TlDrlseMethod method;
  double mu, lambda, dt;
  double nu;               /* used when nu_balance is false */
  bool nu_balance;         /* nu = -2 lambda/R: the mean curvature's pull in balance */
  double epsilon;          /* half width of delta, voxels */
  int32_t edge_steps;      /* 60 */
  int32_t region_steps;    /* 40; two-stage only */
  double edge_scale;       /* s above, per unit of u and voxel */
  double edge_sigma;       /* Gaussian G, voxels */
  double blur_sigma;       /* of the scan's edges with the voxels' own: b above; 0.8 voxel */
  double surface_sigma;    /* G of the low pass, voxels; 0: none; < 0: 1.5 where the noise is 0.1 of
                            * the class gap or more, in proportion below, and no more than R/8 */
  int32_t curvature_steps; /* clean-up flow afterwards, dt 0.1, volume restored */
} TlDrlseOptions;

TlDrlseOptions tl_drlse_defaults(void);
/* TL_EUSAGE when the step is unstable (dt mu >= 1/6) or a value is out of range. */
TlStatus tl_drlse_check(const TlDrlseOptions *options);

/* What is looked at of the stack around one grain. */
typedef struct TlGrainPart {
  const TlVolume *grey, *labels; /* F32, U32, of one size; grey NULL for method distance */
  int64_t origin[3];             /* voxel of the stack that is their first */
  int64_t whole[3];              /* voxels of the stack; beyond is void */
} TlGrainPart;
/* How far about a label's box, voxels; less where the stack ends (shape/grain_stack.h). */
enum { TL_GRAIN_REACH = 12 };

/* Where a label lies: inclusive voxel bounds x, y, z; voxels 0: no such label. */
typedef struct TlLabelBox {
  int64_t low[3], high[3];
  int64_t voxels;
} TlLabelBox;
/* Grey levels of the phases: medians over voxels whose whole neighbourhood (radius 2) is of the
 * same phase, void taken near grains only. grey: F32. TL_EINPUT when a phase has no such voxel or
 * the grains are not brighter than the void. */
typedef struct TlGreyLevels {
  double void_level, grain_level;
  double noise; /* spread of the grains' cores: scaled median deviation, grey */
} TlGreyLevels;

typedef struct TlDrlseReport {
  double grain_level;      /* of this grain's own core, or the global one */
  double noise;            /* of the grey used, over the class gap */
  bool own_level;          /* the core was large enough for a median of its own */
  int32_t dropped, filled; /* loose pieces dropped, closed pores filled */
  double curvature_volume; /* relative volume the clean-up flow took, before it was restored */
  double moved;            /* volume change against the label, relative */
  double agreement;        /* Dice with the label as seed */
} TlDrlseReport;

/* Edge of the grid's cubic cells: the least edge of the stack's voxels; 0 where it is not known
 * (voxels are cubes then). */
double tl_grain_cell_m(const TlVolume *stack);

/* Evolve one grain. boxes: of all labels (grain_stack.h). levels may be NULL for method distance
 * (grey too). *grid: fresh, owner: the caller (tl_free(grid->phi)), a distance near its surface, in
 * cells; corner: its point (0,0,0) lies at corner * cell in the scan frame; where voxels are no
 * cubes the grey is interpolated (Catmull-Rom) and labels are taken from the nearest voxel.
 * TL_EINPUT when the grain vanishes. */
TlStatus tl_drlse_grain(const TlGrainPart *part, uint32_t label, const TlLabelBox *boxes,
                        const TlGreyLevels *levels, const TlDrlseOptions *options, TlPhiGrid *grid,
                        int64_t corner[3], TlDrlseReport *report);

#endif
