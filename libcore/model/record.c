#include "model/record.h"

#include "base/mem.h"
#include "base/random.h"
#include "base/text.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct {
  const char *type;
  size_t bytes;
} kinds[TL_FIELD_KINDS] = {
    [TL_FIELD_I32] = {"int32_t", sizeof(int32_t)}, [TL_FIELD_I64] = {"int64_t", sizeof(int64_t)},
    [TL_FIELD_F64] = {"double", sizeof(double)},   [TL_FIELD_VEC3] = {"TlVec3", sizeof(TlVec3)},
    [TL_FIELD_QUAT] = {"TlQuat", sizeof(TlQuat)},  [TL_FIELD_EXACT] = {"TlExact", sizeof(TlExact)}};

static size_t field_bytes(const TlRecordField *field) {
  return kinds[field->kind].bytes;
}

/* ---- bytes ---- */

/* Where a field of a row lies; NULL: its array is not there. */
static unsigned char *place_of(const TlRecord *record, const TlRecordField *field, const void *rows,
                               int64_t index) {
  unsigned char *at = (unsigned char *)(uintptr_t)rows + field->offset;
  if (record->bytes > 0) return at + (size_t)index * record->bytes;
  memcpy(&at, at, sizeof at);
  return at ? at + (size_t)index * field_bytes(field) : NULL;
}

/* The same to read from. */
static const unsigned char *value_of(const TlRecord *record, const TlRecordField *field,
                                     const void *rows, int64_t index) {
  static const unsigned char none[sizeof(TlExact)] = {0};
  static const TlQuat upright = {1, 0, 0, 0};
  const unsigned char *at = place_of(record, field, rows, index);
  if (at) return at;
  return field->kind == TL_FIELD_QUAT ? (const unsigned char *)&upright : none;
}

size_t tl_record_packed_bytes(const TlRecord *record, unsigned attributes) {
  size_t bytes = 0;
  for (int k = 0; k < record->count; k++)
    if (record->field[k].attributes & attributes) bytes += field_bytes(&record->field[k]);
  return bytes;
}

unsigned char *tl_record_pack(const TlRecord *record, unsigned attributes, const void *rows,
                              int64_t index, unsigned char *to) {
  for (int k = 0; k < record->count; k++) {
    const TlRecordField *f = &record->field[k];
    if (!(f->attributes & attributes)) continue;
    memcpy(to, value_of(record, f, rows, index), field_bytes(f));
    to += field_bytes(f);
  }
  return to;
}

const unsigned char *tl_record_unpack(const TlRecord *record, unsigned attributes, void *rows,
                                      int64_t index, const unsigned char *from) {
  if (record->bytes > 0)
    memset((unsigned char *)rows + (size_t)index * record->bytes, 0, record->bytes);
  for (int k = 0; k < record->count; k++) {
    const TlRecordField *f = &record->field[k];
    unsigned char *at = place_of(record, f, rows, index);
    if (!(f->attributes & attributes)) continue;
    if (at) memcpy(at, from, field_bytes(f));
    from += field_bytes(f);
  }
  return from;
}

size_t tl_rows_bytes(const TlRows *rows) {
  return rows->head + tl_record_packed_bytes(rows->record, rows->attributes);
}

bool tl_rows_before(int keys, const unsigned char *a, const unsigned char *b) {
  for (int k = 0; k < keys; k++) {
    int64_t x, y;
    memcpy(&x, a + (size_t)k * sizeof x, sizeof x);
    memcpy(&y, b + (size_t)k * sizeof y, sizeof y);
    if (x != y) return x < y;
  }
  return false;
}

/* ---- layout ---- */

/* Text as far as it fits, its whole length, and a hash of all of it (FNV-1a). */
typedef struct Layout {
  char *text;
  size_t size, length;
  uint64_t hash;
} Layout;

static void add(Layout *l, const char *more) {
  for (; *more; more++, l->length++) {
    if (l->length + 1 < l->size) l->text[l->length] = *more;
    l->hash = (l->hash ^ (unsigned char)*more) * 0x100000001b3u;
  }
}

void tl_record_layout(const TlRecord *record, unsigned attributes, char *text, size_t size) {
  Layout l = {.text = text, .size = size, .hash = 0xcbf29ce484222325u};
  int fields = 0;
  memset(text, 0, size);
  for (int k = 0; k < record->count; k++) {
    const TlRecordField *f = &record->field[k];
    if (!(f->attributes & attributes)) continue;
    fields++;
    add(&l, kinds[f->kind].type);
    add(&l, " ");
    add(&l, f->name);
    if (f->unit[0]) add(&l, " ");
    add(&l, f->unit);
    add(&l, "; ");
  }
  if (l.length < size) return;
  snprintf(text, size, "%s: %d fields, hash of their types, names and units %016llx", record->name,
           fields, (unsigned long long)l.hash);
}

/* ---- hash ---- */

uint64_t tl_record_hash(const TlRecord *record, const void *rows, int64_t index, uint64_t h) {
  for (int k = 0; k < record->count; k++) {
    const TlRecordField *f = &record->field[k];
    const unsigned char *from = value_of(record, f, rows, index);
    if (!(f->attributes & TL_HASH)) continue;
    for (size_t left = field_bytes(f); left > 0;) {
      size_t n = left < 8 ? left : 8;
      uint64_t word = 0;
      memcpy(&word, from, n);
      h = tl_random_mix(h ^ word) + 0x9e3779b97f4a7c15u;
      from += n;
      left -= n;
    }
  }
  return h;
}

bool tl_record_finite(const TlRecord *record, const void *rows, int64_t index) {
  for (int k = 0; k < record->count; k++) {
    const TlRecordField *f = &record->field[k];
    if (f->kind != TL_FIELD_F64 && f->kind != TL_FIELD_VEC3 && f->kind != TL_FIELD_QUAT) continue;
    double x[4];
    size_t reals = field_bytes(f) / sizeof *x;
    memcpy(x, value_of(record, f, rows, index), field_bytes(f));
    for (size_t i = 0; i < reals; i++)
      if (!isfinite(x[i])) return false;
  }
  return true;
}

/* ---- reference ---- */

static const struct {
  unsigned attribute;
  const char *word;
} words[] = {{TL_SAVE, "save"},           {TL_HASH, "hash"},
             {TL_HALO_ONCE, "halo once"}, {TL_HALO_STEP, "halo each step"},
             {TL_GRAIN, "grain"},         {TL_SUM, "sum"},
             {TL_EXACT_SUM, "exact sum"}, {TL_MOST, "largest"},
             {TL_LEAST, "least"},         {TL_ALIKE, "same on all ranks"},
             {TL_OWN, "of each rank"}};

static TlStatus add_field(TlGrowingText *to, const TlRecordField *f) {
  const char *between = "";
  TL_TRY(tl_text_add(to, "\n| `", f->name));
  TL_TRY(tl_text_add(to, "` | ", kinds[f->kind].type));
  TL_TRY(tl_text_add(to, " | ", f->unit));
  TL_TRY(tl_text_add(to, " | ", ""));
  for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
    if (!(f->attributes & words[k].attribute)) continue;
    TL_TRY(tl_text_add(to, between, words[k].word));
    between = ", ";
  }
  if (f->column) {
    TL_TRY(tl_text_add(to, between, "frame `"));
    TL_TRY(tl_text_add(to, "", f->column));
    TL_TRY(tl_text_add(to, "", "`"));
  }
  TL_TRY(tl_text_add(to, " | ", f->meaning));
  return tl_text_add(to, " |", "");
}

char *tl_record_markdown(const TlRecord *record) {
  TlGrowingText text = {0};
  TlStatus status = tl_text_add(&text, "", "## ");
  if (status == TL_OK) status = tl_text_add(&text, "", record->name);
  if (status == TL_OK) status = tl_text_add(&text, "\n\n", record->meaning);
  if (status == TL_OK)
    status = tl_text_add(&text, "\n\n",
                         "| field | type | unit | attributes | meaning |\n|---|---|---|---|---|");
  for (int k = 0; status == TL_OK && k < record->count; k++)
    status = add_field(&text, &record->field[k]);
  if (status == TL_OK) status = tl_text_add(&text, "\n", "");
  if (status != TL_OK) TL_FREE(text.text);
  return text.text;
}
