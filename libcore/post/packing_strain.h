/* Local strain of each grain between two frames, from Delaunay cells (Tan 2022 section 4.6.3:
 * beside the rotations the second thing a shear band is found by; how is not said there).
 *
 * Cells: Delaunay tetrahedra of the grains' centres in the first frame, grains of both frames only;
 * without those that have an edge longer than 2.5 times the mean of its grains' diameters (across
 * hollows of the surface, and grains out of reach of each other). A cell's deformation gradient F
 * takes its first edges to its second; a grain's F is the mean over its cells, by their first
 * volumes. Of F: principal stretches l_k (roots of the eigenvalues of F^T F), strains h_k = ln l_k;
 *   deviatoric  sqrt(2/3 sum (h_k - mean h)^2), the axial strain where volume stays
 *   volumetric  -ln det F, compression positive
 * Finite: an affine deformation is exact however large, a rigid motion is none.
 */
#ifndef TL_POST_PACKING_STRAIN_H
#define TL_POST_PACKING_STRAIN_H

#include "post/packing.h"

typedef struct TlStrains {
  double *deviatoric, *volumetric; /* [grain_count of now], owned; NaN: not there, or no cell */
  int64_t cells;                   /* that were used */
} TlStrains;

/* Fewer than five common grains, or all in a plane: no cell, all NaN. */
TlStatus tl_strains_of(const TlPacking *before, const TlPacking *now, TlStrains *strains);
void tl_strains_free(TlStrains *strains);

#endif
