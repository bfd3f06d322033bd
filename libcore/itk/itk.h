/* The one door to ITK: reads MetaImage and NRRD files and labels connected components. C types
 * only; volumes as in num/volume.h. The results do not depend on the number of threads. C++
 * exceptions become TL_ELIB, an unreadable file TL_EINPUT. ITK's distance map, watershed and
 * filters serve the tests as oracles and stand there (tests/oracle/itk_oracles.h).
 */
#ifndef TL_ITK_ITK_H
#define TL_ITK_ITK_H

#include "num/volume.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Read a MetaImage (.mhd/.mha) or NRRD (.nrrd/.nhdr), 3-D scalar. Spacing: the files have no unit;
 * spacing_unit_m > 0 is the length of one unit (0: voxel_m stays 0). */
TlStatus tl_itk_read(const char *path, double spacing_unit_m, TlVolume *volume);

/* Connected components of a mask, 6 or 26 neighbours, labels 1..count in order of first voxel. */
TlStatus tl_itk_components(const TlVolume *mask, int neighbours, TlVolume *out, uint32_t *count);

#ifdef __cplusplus
}
#endif

#endif
