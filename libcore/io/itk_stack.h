/* MetaImage and NRRD as layers. The header is read strictly first (io/volume_header.h); voxels that
 * lie plainly in a file are read from there, layer by layer; what is compressed, text or a list of
 * files is read whole by ITK in a process of its own (base/sandbox.h). */
#ifndef TL_IO_ITK_STACK_H
#define TL_IO_ITK_STACK_H

#include "io/stack_parts.h"

TlStatus tl_itk_layers(const char *path, TlStackInfo *info, TlLayers *layers);

#endif
