/* Records of state: one list of fields each, from which everything follows that handles them field
 * by field.
 *
 * A record's list names type, name, unit, attributes and meaning of each field. The struct or the
 * arrays that hold it, packing for other ranks, checkpoints and frames, the text of a checkpoint's
 * layout, the hash of the state, the columns of frames and docs/reference/records.md come from that
 * list, so none of them can disagree with another, and a new field is one line.
 *
 * Rows of a record are structs in one array, or lie in an array a field. A row that travels is
 * packed: its fields one after the other (tl_record_pack). Messages, checkpoints and frames hold
 * packed rows, and whoever passes them on need not know what they are (TlRows, TlParcels).
 *
 * The list is a macro that calls another for each field. A field that is a column of frames as well
 * stands under a second macro, for the preprocessor cannot ask for an attribute:
 *
 *   #define TL_THING_LIST(F, FRAME)                                                      \
 *     F(type, name, unit, attributes, meaning)                                           \
 *     FRAME(type, name, unit, attributes, meaning, member of the row, name of the column)
 *   #define TL_THING_FIELDS(F) TL_THING_LIST(F, F)
 *
 * where users of TL_THING_FIELDS write `#define F(type, name, ...)`. Units are SI as text, "1" for
 * a ratio, "" for counts and ids.
 */
#ifndef TL_MODEL_RECORD_H
#define TL_MODEL_RECORD_H

#include "base/status.h"
#include "num/exact.h"
#include "num/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum TlFieldKind {
  TL_FIELD_I32 = 0,
  TL_FIELD_I64,
  TL_FIELD_F64,
  TL_FIELD_VEC3,
  TL_FIELD_QUAT,
  TL_FIELD_EXACT, /* TlExact */
  TL_FIELD_KINDS
} TlFieldKind;

enum {
  TL_SAVE = 1 << 0,      /* a checkpoint and a body that moves to another rank hold it */
  TL_HASH = 1 << 1,      /* mixed into the hash of the state */
  TL_HALO_ONCE = 1 << 2, /* a ghost gets it when it is made: constant while the body lives */
  TL_HALO_STEP = 1 << 3, /* a ghost needs its owner's value of each step */
  TL_HALO = TL_HALO_ONCE | TL_HALO_STEP,
  TL_FRAME = 1 << 4, /* a column of frames (set by the list's second macro) */
  /* How the ranks' values become one: */
  TL_SUM = 1 << 5,       /* their sum, of integers */
  TL_EXACT_SUM = 1 << 6, /* their sum, of reals, without an order (num/exact.h) */
  TL_MOST = 1 << 7,      /* the largest */
  TL_LEAST = 1 << 8,     /* the least */
  TL_ALIKE = 1 << 9,     /* all have the same already */
  TL_OWN = 1 << 10,      /* each keeps its own */
  TL_LATER = 1 << 11,    /* a column that frames of older versions lack */
  TL_GRAIN = 1 << 12 /* of a collider: all that a packed grain has of it; the rest is its body's */
};

typedef struct TlRecordField {
  const char *name, *unit, *meaning;
  TlFieldKind kind;
  unsigned attributes;
  size_t offset;      /* in the struct: of the field, or of the pointer to its array */
  const char *column; /* of frames; NULL: none */
} TlRecordField;

typedef struct TlRecord {
  const char *name, *meaning;
  const TlRecordField *field;
  int count;
  size_t bytes; /* of the struct; 0: each field has an array of its own */
} TlRecord;

#define TL_FIELD_KIND(type)                                                                        \
  _Generic(*(type *)NULL, int32_t                                                                  \
           : TL_FIELD_I32, int64_t                                                                 \
           : TL_FIELD_I64, double                                                                  \
           : TL_FIELD_F64, TlVec3                                                                  \
           : TL_FIELD_VEC3, TlQuat                                                                 \
           : TL_FIELD_QUAT, TlExact                                                                \
           : TL_FIELD_EXACT)
/* A row of a record's table. */
#define TL_FIELD(Struct, type, name, unit, attributes, meaning)                                    \
  {#name, unit, meaning, TL_FIELD_KIND(type), attributes, offsetof(Struct, name), NULL},
#define TL_FIELD_FRAME(Struct, type, name, unit, attributes, meaning, member, column)              \
  {#name, unit, meaning, TL_FIELD_KIND(type), (attributes) | TL_FRAME, offsetof(Struct, name),     \
   column},
#define TL_RECORD(name, meaning, Struct, fields)                                                   \
  { name, meaning, fields, (int)(sizeof(fields) / sizeof *(fields)), sizeof(Struct) }
/* Of rows that lie in arrays, whose pointers have the fields' names. */
#define TL_RECORD_OF_ARRAYS(name, meaning, fields)                                                 \
  { name, meaning, fields, (int)(sizeof(fields) / sizeof *(fields)), 0 }

/* The fields that have one of the attributes, one after the other in the list's order without
 * padding, in the machine's byte order. */
size_t tl_record_packed_bytes(const TlRecord *record, unsigned attributes);
/* Row `index` of rows: an array of structs, or the struct that holds the arrays. An array that is
 * not there (NULL) counts as 0, of quaternions as no rotation. Returns the place behind what it
 * wrote. */
unsigned char *tl_record_pack(const TlRecord *record, unsigned attributes, const void *rows,
                              int64_t index, unsigned char *to);
/* The other fields of a struct become 0, those in arrays stay, and arrays that are not there take
 * nothing. Returns the place behind what it read. */
const unsigned char *tl_record_unpack(const TlRecord *record, unsigned attributes, void *rows,
                                      int64_t index, const unsigned char *from);

/* Rows to be packed, wherever they lie: what checkpoints and frames are made of. */
typedef struct TlRows {
  const TlRecord *record;
  unsigned attributes;
  size_t head; /* bytes before the fields: numbers to order by that are no fields */
  int keys;    /* a packed row begins with so many int64_t, by which the rows are in order */
  int64_t count;
  void (*pack)(const void *of, int64_t first, int64_t count, unsigned char *to);
  const void *of;
} TlRows;
/* Bytes of such a packed row. */
size_t tl_rows_bytes(const TlRows *rows);
/* Whether packed row a comes before b by that many keys. */
bool tl_rows_before(int keys, const unsigned char *a, const unsigned char *b);

/* Things that travel as bytes, each with a number and a size of its own: what messages are made of. */
typedef struct TlParcels {
  size_t (*size)(const void *of, int64_t index);
  unsigned char *(*pack)(const void *of, int64_t index, unsigned char *to);
  /* Adds one; *used: bytes taken. TL_EINPUT: `from` does not hold one. */
  TlStatus (*unpack)(void *of, const unsigned char *from, size_t size, size_t *used);
  /* Once all have come; NULL: nothing is left to do */
  void (*arrived)(void *of);
  void *of;
} TlParcels;

/* What a checkpoint says of such packed records: type, name and unit of each field, or, where that
 * is longer than size - 1 characters, the record's name with a hash of that text. Two programs that
 * give the same text pack alike. */
void tl_record_layout(const TlRecord *record, unsigned attributes, char *text, size_t size);

/* h, further mixed with the fields to be hashed. */
uint64_t tl_record_hash(const TlRecord *record, const void *rows, int64_t index, uint64_t h);

/* Is each real of the row, and of its vectors, finite? */
bool tl_record_finite(const TlRecord *record, const void *rows, int64_t index);

/* The record as a section of docs/reference/records.md, in fresh memory (tl_free); NULL: no memory.
 */
char *tl_record_markdown(const TlRecord *record);

#endif
