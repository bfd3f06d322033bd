/* What the stages share that begin with a stack: the options of the input and its region, opening
 * both, memory in megabytes, the first lines of the report, the preview. For the files of stage/
 * only. */
#ifndef TL_STAGE_INPUT_H
#define TL_STAGE_INPUT_H

#include "image/roi.h"
#include "io/stack.h"
#include "stage/grains.h"
#include "stage/imaging.h"

#include <stddef.h>

/* Rows of a parameter table for a struct with a member `input`. */
#define TL_INPUT_STACK_PARAMS(Values)                                                              \
  {NULL, TL_P_HEADING, 0, NULL, NULL, 0, 0, NULL, "Input", NULL},                                  \
      {"roi",                                                                                      \
       TL_P_TEXT,                                                                                  \
       offsetof(Values, input.roi),                                                                \
       "",                                                                                         \
       "auto",                                                                                     \
       0,                                                                                          \
       0,                                                                                          \
       NULL,                                                                                       \
       "region of the specimen: auto (a disc when the corners hold none), none, "                  \
       "cylinder:X,Y,R in voxels, or a mask stack",                                                \
       "auto|none|cylinder:X,Y,R|FILE"},                                                           \
      {"voxel-size-um",                                                                            \
       TL_P_TEXT,                                                                                  \
       offsetof(Values, input.voxel_size_um),                                                      \
       "um",                                                                                       \
       "",                                                                                         \
       0,                                                                                          \
       0,                                                                                          \
       NULL,                                                                                       \
       "voxel size, one number or X,Y,Z; wins over what the file says",                            \
       "X[,Y,Z]"},                                                                                 \
  {                                                                                                \
    "allow-gaps", TL_P_FLAG, offsetof(Values, input.allow_gaps), "", "false", 0, 0, NULL,          \
        "let numbers of a slice series be missing", NULL                                           \
  }

/* ... and of one that may begin with the scan itself. */
#define TL_INPUT_INPUT_PARAMS(Values)                                                              \
  TL_INPUT_STACK_PARAMS(Values), {                                                                 \
    "raw", TL_P_TEXT, offsetof(Values, input.raw), "", "", 0, 0, NULL,                             \
        "the file has no header: 'NZ,NY,NX,TYPE,ENDIAN[,OFFSET]', say 1000,800,800,u16,little",    \
        "SPEC"                                                                                     \
  }

/* ... and of one whose product is a stack of the input's size. */
#define TL_INPUT_PREVIEW_PARAM(Values)                                                             \
  {                                                                                                \
    "preview", TL_P_TEXT, offsetof(Values, input.preview), "", "", 0, 0, NULL,                     \
        "write the three middle slices before, after and what changed as PNG", "FILE.png",         \
        TL_ROLE_REPLACES                                                                           \
  }

/* Of a stage whose product goes into a catalog. For a struct with a `catalog`. */
#define TL_INPUT_CATALOG_PARAM(Values)                                                             \
  {                                                                                                \
    "catalog", TL_P_TEXT, offsetof(Values, catalog), "", "", 0, 0, NULL,                           \
        "catalog to write to; made when it is not there", "FILE", TL_ROLE_CHANGES                  \
  }

/* Memory is counted in MB, 10^6 bytes, by all tools: what may be used, what a plan says and what
 * was taken. For a struct with a double `memory_mb`. */
#define TL_INPUT_MEMORY_PARAM(Values, usual, help)                                                 \
  { "memory", TL_P_REAL, offsetof(Values, memory_mb), "MB", usual, 0, 1e9, NULL, help, NULL }
#define TL_INPUT_SLABS_HELP                                                                        \
  "work in slabs of layers that fit into this; 0: the whole stack at once. The product is the "    \
  "same to the bit"
#define TL_INPUT_MB 1e6

int64_t tl_input_bytes(double memory_mb);
TlStatus tl_input_report_bytes(TlReport *report, const char *key, int64_t bytes);

/* The region that a text of --roi means in a stack. The caller frees it (tl_roi_free). */
TlStatus tl_input_roi(const char *text, const TlLayers *stack, TlProvenance *provenance,
                      TlRoi *roi);
TlStatus tl_input_options(const TlStackInput *input, TlStackOptions *options);
/* Opens the first input by layers and finds its region. On failure nothing is left to release. */
TlStatus tl_input_open(const TlStageCall *call, const TlStackInput *input, TlLayers *stack,
                       TlRoi *roi);
/* TL_EINPUT when both stacks say a voxel size and they differ by more than rounding. */
TlStatus tl_input_same_voxels(const char *path, const TlVolume *stack, const char *other_path,
                              const TlVolume *other);
/* A product's cylinder is the region it was made in: what lies outside is no sample to the stages
 * after this one either. */
void tl_input_keep_region(TlVolume *product, const TlRoi *roi);

/* A stage records what it warns of in its product's history under this name, and the stages after
 * it repeat the warning. */
#define TL_INPUT_WARNING "warning"
TlStatus tl_input_repeat_warnings(const char *path, const TlVolume *head, TlReport *report);

/* Stack size, voxel size and region: the first lines of every report. */
TlStatus tl_input_report(TlReport *report, const TlVolume *stack, const TlRoi *roi);
/* Draws input->preview, if it is given, from the stack before and the finished product. */
TlStatus tl_input_preview(const TlStageCall *call, const TlStackInput *input,
                          const TlLayers *before);

/* Avatars without a scan, from closed meshes and from formulas: a part of tl_stage_avatars, for the
 * files of stage/ only. */

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
