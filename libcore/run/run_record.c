#include "run/run_record.h"

#define F(type, name, unit, attributes, meaning, place)                                            \
  TL_FIELD(TlRunRecord, type, name, unit, attributes, meaning)
static const TlRecordField fields[] = {TL_RUN_FIELDS(F)};
#undef F
const TlRecord tl_run_record =
    TL_RECORD("run", "Counts, sums and extremes of a run so far, one record a checkpoint.",
              TlRunRecord, fields);
