#include "model/collider_record.h"

#define F(...) TL_FIELD(TlBodyState, __VA_ARGS__)
#define FRAME(...) TL_FIELD_FRAME(TlBodyState, __VA_ARGS__)
static const TlRecordField body[] = {TL_BODY_LIST(F, FRAME)};
#undef F
#undef FRAME
const TlRecord tl_body_record =
    TL_RECORD("body", "A rigid body, as checkpoints and other ranks get it.", TlBodyState, body);

#define F(...) TL_FIELD(TlColliderState, __VA_ARGS__)
#define FRAME(...) TL_FIELD_FRAME(TlColliderState, __VA_ARGS__)
static const TlRecordField collider[] = {TL_COLLIDER_LIST(F, FRAME)};
#undef F
#undef FRAME
const TlRecord tl_collider_record =
    TL_RECORD("collider", "A part of a body that touches, as checkpoints and other ranks get it.",
              TlColliderState, collider);

#define FRAME(type, name, unit, attributes, meaning, member, column)                               \
  {column, unit, meaning, TL_FIELD_KIND(type), TL_FRAME, offsetof(TlBodyRow, member), column},
static const TlRecordField row[] = {TL_FRAME_FIELDS(FRAME)};
#undef FRAME
const TlRecord tl_body_row_record =
    TL_RECORD("body of a frame", "The columns of a frame, one row a collider.", TlBodyRow, row);
