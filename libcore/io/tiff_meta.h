/* Voxel size and history from the description and resolution tags of a TIFF's first page: OME-XML,
 * ImageJ, plain. */
#ifndef TL_IO_TIFF_META_H
#define TL_IO_TIFF_META_H

#include "base/status.h"

#include <stdbool.h>
#include "num/volume.h"

#include <stddef.h>
#include <stdint.h>

typedef struct TlTiffMeta {
  double voxel_m[3];      /* x, y, z; 0 = not said */
  double cylinder[3];     /* as in TlVolume */
  const char *voxel_from; /* "OME", "ImageJ", "the resolution tags", NULL; static */
  bool imagej;
  int64_t images;                   /* of ImageJ; 0 = not said */
  int64_t channels, slices, frames; /* ImageJ or OME; 1 when not said */
  char *history;                    /* what tl_tiff_describe put there; owned, may be NULL */
} TlTiffMeta;

/* pixels_per: of x and y, 0 when the tags are missing; tag_unit_m: 0.0254 or 0.01, 0 for none.
 * Units are never guessed: OME's own default (micrometre) is part of its schema. ImageJ leaves out
 * a spacing of exactly 1; that is taken so only where x and y are 1, too. */
TlStatus tl_tiff_meta(const char *description, const double pixels_per[2], double tag_unit_m,
                      TlTiffMeta *meta);

/* The description our writer gives the first page (fresh memory): ImageJ's keys, the voxel size
 * with all digits, the history. */
TlStatus tl_tiff_describe(const TlVolume *head, const char *history, char **out);

#endif
