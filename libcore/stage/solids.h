/* Avatars without a scan, from closed meshes and from formulas: a part of tl_stage_avatars, for the
 * files of stage/ only. */
#ifndef TL_STAGE_SOLIDS_H
#define TL_STAGE_SOLIDS_H

#include "stage/grains.h"

#include <stddef.h>

/* Rows of a parameter table for a struct with a member `solid`. */
#define TL_SOLID_AT(Values, member) offsetof(Values, solid.member)
#define TL_SOLID_PARAMS(Values)                                                                    \
  {"", TL_P_HEADING, 0, "", "", 0, 0, NULL, "Grains without a scan", NULL},                        \
      {"mesh", TL_P_FLAG, TL_SOLID_AT(Values, mesh),                                               \
       "",     "false",   0,                                                                       \
       0,      NULL,      "the arguments are closed meshes (STL, PLY, OBJ), one grain each",       \
       NULL},                                                                                      \
      {"unit",                                                                                     \
       TL_P_TEXT,                                                                                  \
       TL_SOLID_AT(Values, unit),                                                                  \
       "",                                                                                         \
       "",                                                                                         \
       0,                                                                                          \
       0,                                                                                          \
       NULL,                                                                                       \
       "unit of the meshes' coordinates: m, cm, mm, um or inch; it stands in no such file and is " \
       "never guessed",                                                                            \
       "UNIT"},                                                                                    \
      {"scale", TL_P_REAL, TL_SOLID_AT(Values, scale),                                             \
       "",      "1",       1e-9,                                                                   \
       1e9,     NULL,      "make the meshes this many times as large",                             \
       NULL},                                                                                      \
      {"superellipsoid-um",                                                                        \
       TL_P_TEXTS,                                                                                 \
       TL_SOLID_AT(Values, superellipsoid_um),                                                     \
       "um",                                                                                       \
       "",                                                                                         \
       0,                                                                                          \
       0,                                                                                          \
       NULL,                                                                                       \
       "a grain by formula: half axes a, b, c and the exponents ee, en (1,1: ellipsoid; towards "  \
       "0: box; 2: octahedron); may be given again and again",                                     \
       "A,B,C,EE,EN"},                                                                             \
      {"spacing-um", TL_P_REAL, TL_SOLID_AT(Values, spacing_um),                                   \
       "um",         "0",       0,                                                                 \
       1e9,          NULL,      "grid spacing of these grains; 0: a thirtieth of the diameter",    \
       NULL},                                                                                      \
  {                                                                                                \
    "sharp-deg", TL_P_REAL, TL_SOLID_AT(Values, sharp_deg), "deg", "30", 1, 180, NULL,             \
        "edges of a mesh where facets turn by more than this get nodes of their own", NULL         \
  }

/* call->input are the meshes. */
TlStatus tl_stage_solids(const TlStageCall *call, const TlAvatarsStage *options);

#endif
