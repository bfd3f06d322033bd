#include "dem/boundary.h"

#include <string.h>

static const TlBoundaryKind *const boundary_kinds[] = {&tl_boundary_plane, &tl_boundary_terrain};

const TlBoundaryKind *tl_boundary_kind(const char *name) {
  for (size_t i = 0; i < sizeof boundary_kinds / sizeof *boundary_kinds; i++)
    if (strcmp(boundary_kinds[i]->name, name) == 0) return boundary_kinds[i];
  return NULL;
}
