/* Functions of labelling in memory (label.c) and by slabs (label_stack.c). Internal to them. */
#ifndef TL_IMAGE_LABEL_IMPL_H
#define TL_IMAGE_LABEL_IMPL_H

#include "image/grains.h"
#include "image/label_field.h"

#include <stdbool.h>

/* TL_EINPUT with what to do when there are none. */
TlStatus tl_label_check_grains(const TlLabelOptions *o, const TlGrains *grains);
/* After the last slab. users: basins with the user's markers are the grains. */
TlStatus tl_label_find_grains(TlRelief *relief, const TlLabelOptions *o, const double edge[3],
                              bool users, TlGrains *grains);
/* ids of the relief -> number by hill, in place. */
TlStatus tl_label_renumber(const TlRelief *relief, const uint32_t *number, uint32_t *ids,
                           int64_t count);
TlStatus tl_label_summarise(const TlGrains *grains, const uint8_t *border, TlLabelResult *result);

#endif
