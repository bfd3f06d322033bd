#include "model/contact_record.h"

#define FRAME(type, name, unit, attributes, meaning)                                               \
  {#name, unit, meaning, TL_FIELD_KIND(type), attributes, offsetof(TlContactRow, name), #name},
static const TlRecordField row[] = {TL_CONTACT_ROW_FIELDS(FRAME)};
#undef FRAME
const TlRecord tl_contact_row_record =
    TL_RECORD("contact of a frame", "The columns of a frame's contacts, one row a contact point.",
              TlContactRow, row);
