/* Grains of a catalog as files for other programs.
 *
 * One grain goes to one file; several go into a folder as grain_NNNNNN.EXT (csv: always one table).
 * STL has no unit: coordinates are metres times per_metre (1000: mm). In the scan frame grains
 * stand where they lay in the scan, else in their body frame. Morphology: post/export_morphology.h;
 * beside the grains a folder gets positions.txt, rotations.txt and labels.txt (one line a grain, in
 * order of file name; positions in grid spacings, quaternions w x y z, body -> scan; label in the
 * scan and 1 for a grain cut by its border) and README.txt, which states this and the spacing.
 */
#ifndef TL_POST_EXPORT_CATALOG_H
#define TL_POST_EXPORT_CATALOG_H

#include "store/catalog.h"

typedef enum TlGrainFormat {
  TL_GRAIN_CSV = 0,
  TL_GRAIN_STL,
  TL_GRAIN_VTP,
  TL_GRAIN_VTI,
  TL_GRAIN_MORPHOLOGY,
  TL_GRAIN_PLY,
  TL_GRAIN_LAMMPS, /* export_levelset.h */
  TL_GRAIN_YADE    /* folders only */
} TlGrainFormat;

typedef struct TlGrainExport {
  TlGrainFormat format;
  double per_metre; /* STL, PLY, LAMMPS */
  const char *unit; /* its name, "mm" */
  bool scan_frame;  /* STL, VTP */
  int32_t cells;    /* of a coarser surface, 0: the grid's own */
  bool overwrite;
} TlGrainExport;

TlStatus tl_export_one(TlCatalog *catalog, int64_t id, const TlGrainExport *how, const char *path);
/* All grains of the query into a folder. */
TlStatus tl_export_many(TlCatalog *catalog, const TlGrainQuery *query, const TlGrainExport *how,
                        const char *folder, int64_t *count);
/* The table of properties; query order. */
TlStatus tl_export_table(TlCatalog *catalog, const TlGrainQuery *query, const char *path,
                         bool overwrite, int64_t *count);

/* Ids of the query in fresh memory. */
TlStatus tl_export_ids(TlCatalog *catalog, const TlGrainQuery *query, TlGrainRow **rows,
                       int64_t *count);
/* Derived descriptors of a grain: pi^(1/3) (6 V)^(2/3) / A. */
double tl_grain_sphericity(const TlGrainRow *row);
double tl_grain_diameter_m(const TlGrainRow *row);

#endif
