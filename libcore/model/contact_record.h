/* A contact point of a step: what measures ask the solver for, and what frames hold of it
 * (model/record.h). World frame, SI.
 */
#ifndef TL_MODEL_CONTACT_RECORD_H
#define TL_MODEL_CONTACT_RECORD_H

#include "model/record.h"

/* In the order of a frame's columns, which have these names. */
#define TL_CONTACT_ROW_FIELDS(F)                                                                   \
  F(int64_t, first, "", TL_FRAME, "id of the body with the lower id, or of the one at a boundary") \
  F(int64_t, second, "", TL_FRAME,                                                                 \
    "id of the other body, or -1 - number of the boundary (terrain, planes, walls' parts)")        \
  F(TlVec3, point_m, "m", TL_FRAME, "where they touch")                                            \
  F(TlVec3, normal, "1", TL_FRAME, "unit, to the first")                                           \
  F(TlVec3, force_N, "N", TL_FRAME, "on the first: impulse over the step divided by the step")     \
  F(double, gap_m, "m", TL_FRAME, "below 0: overlap")                                              \
  F(double, friction, "1", TL_FRAME | TL_LATER,                                                    \
    "coefficient that the step was made with; frames of older versions have one for all contacts")

#define F(type, name, ...) type name;
typedef struct TlContactRow {
  TL_CONTACT_ROW_FIELDS(F)
} TlContactRow;
#undef F

extern const TlRecord tl_contact_row_record; /* of a TlContactRow */

#endif
