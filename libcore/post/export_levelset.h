/* Grains' level sets for other solvers: LAMMPS' grid file and NumPy arrays for YADE.
 *
 * LAMMPS: text; line 1 a comment, 2 nx ny nz, 3 the stride (grid spacing), 4 the grid's minimum
 * relative to the centre of mass, then one value a line, x fastest, positive OUTSIDE. Lengths are
 * metres times per_metre. Body frame: principal axes, moments ascending.
 * YADE: NAME_phi.npy, float32 distField[i][j][k] in metres, negative inside (stored with x fastest,
 * NumPy's Fortran order), and NAME_nodes.npy, float32 (n, 3); yade_grains.py beside them places the
 * grains with these nodes (YADE's own are traced along rays from the centre).
 */
#ifndef TL_POST_EXPORT_LEVELSET_H
#define TL_POST_EXPORT_LEVELSET_H

#include "store/catalog.h"

TlStatus tl_lammps_write(const char *path, bool overwrite, const TlAvatar *avatar,
                         double per_metre);
/* What the file does not hold is worked out: mass, area and moments from phi, which must be a
 * distance; nodes by `nodes`. Where the grid does not stand on the principal axes (moments'
 * products over 1% or a centre of mass more than 0.1 cell off), it is turned there and the pose in
 * the file's frame kept; else phi stays to the float. TL_EINPUT names the line. */
TlStatus tl_lammps_read(const char *path, double per_metre, int32_t nodes, TlAvatar *avatar);

/* path_phi.npy and path_nodes.npy of one grain. */
TlStatus tl_npy_write(const char *path, bool overwrite, const TlAvatar *avatar);
/* The loader: a table of the grains of the folder and code that makes YADE bodies of them. */
TlStatus tl_yade_loader_write(const char *folder, bool overwrite, const TlGrainRow *row,
                              int64_t count, TlCatalog *catalog);

#endif
