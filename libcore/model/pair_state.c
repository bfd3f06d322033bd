#include "model/pair_state.h"

#include "base/mem.h"
#include "num/sort.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define R(kind, Struct, FIELDS, ...)                                                               \
  static_assert(offsetof(Struct, low) == offsetof(TlPairKey, low) &&                               \
                    offsetof(Struct, high) == offsetof(TlPairKey, high) &&                         \
                    offsetof(Struct, number) == offsetof(TlPairKey, number),                       \
                "a row begins with its key");                                                      \
  static const TlRecordField fields_##kind[] = {FIELDS(TL_FIELD, Struct)};
TL_PAIR_STATES(R)
#undef R

const TlRecord tl_pair_record[TL_PAIR_KINDS] = {
#define R(kind, Struct, FIELDS, owner, one, name, meaning)                                         \
  [TL_##kind] = TL_RECORD(name, meaning, Struct, fields_##kind),
    TL_PAIR_STATES(R)
#undef R
};
const TlPairOwner tl_pair_kind_owner[TL_PAIR_KINDS] = {
#define R(kind, Struct, FIELDS, owner, ...) [TL_##kind] = TL_OF_##owner,
    TL_PAIR_STATES(R)
#undef R
};
const char *const tl_pair_kind_name[TL_PAIR_KINDS] = {
#define R(kind, Struct, FIELDS, owner, one, ...) [TL_##kind] = one,
    TL_PAIR_STATES(R)
#undef R
};

/* ---- rows ---- */

static size_t bytes_of(TlPairKind kind) {
  return tl_pair_record[kind].bytes;
}

static unsigned char *row_at(const TlPairRows *rows, TlPairKind kind, size_t index) {
  return (unsigned char *)rows->row + index * bytes_of(kind);
}

TlPairKey tl_pair_key(const TlPairRows *rows, TlPairKind kind, size_t index) {
  TlPairKey key;
  memcpy(&key, row_at(rows, kind, index), sizeof key);
  return key;
}

void tl_pair_state_free(TlPairState *pairs) {
  for (int k = 0; k < TL_PAIR_KINDS; k++) tl_free(pairs->of[k].row);
  *pairs = (TlPairState){0};
}

TlStatus tl_pair_rows_reserve(TlPairRows *rows, TlPairKind kind, size_t count) {
  if (count <= rows->capacity) return TL_OK;
  size_t capacity = rows->capacity + rows->capacity / 2 + 16;
  if (capacity < count) capacity = count;
  void *grown = tl_realloc(rows->row, rows->capacity, capacity, bytes_of(kind));
  if (!grown) return TL_ENOMEM;
  rows->row = grown;
  rows->capacity = capacity;
  return TL_OK;
}

TlStatus tl_pair_state_copy(TlPairState *to, const TlPairState *from) {
  for (int k = 0; k < TL_PAIR_KINDS; k++) {
    const TlPairRows *rows = &from->of[k];
    TL_TRY(tl_pair_rows_reserve(&to->of[k], (TlPairKind)k, rows->count));
    if (rows->count) memcpy(to->of[k].row, rows->row, rows->count * bytes_of((TlPairKind)k));
    to->of[k].count = rows->count;
  }
  return TL_OK;
}

TlStatus tl_pair_state_add(TlPairState *pairs, TlPairKind kind, const void *row) {
  TlPairRows *rows = &pairs->of[kind];
  TL_TRY(tl_pair_rows_reserve(rows, kind, rows->count + 1));
  memcpy(row_at(rows, kind, rows->count++), row, bytes_of(kind));
  return TL_OK;
}

/* ---- order ---- */

int tl_pair_order(const TlPairKey *x, const TlPairKey *y) {
  if (x->low != y->low) return x->low < y->low ? -1 : 1;
  if (x->high != y->high) return x->high < y->high ? -1 : 1;
  return x->number < y->number ? -1 : x->number > y->number;
}

static int compare(const void *a, const void *b) {
  TlPairKey x, y;
  memcpy(&x, a, sizeof x);
  memcpy(&y, b, sizeof y);
  return tl_pair_order(&x, &y);
}

void tl_pair_rows_sort(TlPairRows *rows, TlPairKind kind) {
  if (rows->count == 0) return;
  qsort(rows->row, rows->count, bytes_of(kind), compare);
  size_t kept = 1;
  for (size_t i = 1; i < rows->count; i++) {
    if (compare(row_at(rows, kind, kept - 1), row_at(rows, kind, i)) == 0) continue;
    if (kept < i) memcpy(row_at(rows, kind, kept), row_at(rows, kind, i), bytes_of(kind));
    kept++;
  }
  rows->count = kept;
}

void tl_pair_state_sort(TlPairState *pairs) {
  for (int k = 0; k < TL_PAIR_KINDS; k++) tl_pair_rows_sort(&pairs->of[k], (TlPairKind)k);
}

/* Is the row's pair below (low, high)? */
static inline bool row_before(const unsigned char *row, int64_t low, int64_t high) {
  int64_t pair[2]; /* what every row begins with (TlPairKey) */
  memcpy(pair, row, sizeof pair);
  return pair[0] < low || (pair[0] == low && pair[1] < high);
}

static inline bool row_of(const unsigned char *row, int64_t low, int64_t high) {
  int64_t pair[2];
  memcpy(pair, row, sizeof pair);
  return pair[0] == low && pair[1] == high;
}

/* The first row whose pair is not below (low, high). */
static size_t first_of(const TlPairRows *rows, TlPairKind kind, int64_t low, int64_t high) {
  const unsigned char *row = rows->row;
  size_t first = 0, last = rows->count, bytes = bytes_of(kind);
  while (first < last) {
    size_t mid = first + (last - first) / 2;
    if (row_before(row + mid * bytes, low, high))
      first = mid + 1;
    else
      last = mid;
  }
  return first;
}

size_t tl_pair_rows_first(const TlPairRows *rows, TlPairKind kind, int64_t low) {
  return first_of(rows, kind, low, INT64_MIN);
}

static bool is_before(const TlPairRows *rows, TlPairKind kind, size_t index, int64_t low,
                      int64_t high) {
  return row_before(row_at(rows, kind, index), low, high);
}

/* How many rows of the pair stand from `first` on. */
static size_t rows_from(const TlPairRows *rows, TlPairKind kind, size_t first, int64_t low,
                        int64_t high) {
  size_t n = 0, bytes = bytes_of(kind);
  if (first >= rows->count) return 0; /* there may be none at all */
  const unsigned char *row = row_at(rows, kind, first);
  while (first + n < rows->count && row_of(row + n * bytes, low, high)) n++;
  return n;
}

const void *tl_pair_rows_next(const TlPairRows *rows, TlPairKind kind, int64_t low, int64_t high,
                              size_t *at, size_t *count) {
  enum { NEAR = 12 }; /* a search by halves looks at as many */
  size_t first = *at, most = first + NEAR;
  if (first > rows->count || (first > 0 && !is_before(rows, kind, first - 1, low, high)))
    most = first;
  while (first < most && first < rows->count && is_before(rows, kind, first, low, high)) first++;
  if (first == most) first = first_of(rows, kind, low, high);
  size_t n = rows_from(rows, kind, first, low, high);
  *at = first + n;
  *count = n;
  return n ? row_at(rows, kind, first) : NULL;
}

const void *tl_pair_rows_find(const TlPairRows *rows, TlPairKind kind, int64_t low, int64_t high,
                              size_t *count) {
  size_t first = first_of(rows, kind, low, high), n = rows_from(rows, kind, first, low, high);
  *count = n;
  return n ? row_at(rows, kind, first) : NULL;
}

void tl_pair_rows_keep(TlPairRows *rows, TlPairKind kind,
                       bool (*wanted)(const void *context, const TlPairKey *key),
                       const void *context) {
  size_t kept = 0;
  for (size_t i = 0; i < rows->count; i++) {
    TlPairKey key = tl_pair_key(rows, kind, i);
    if (!wanted(context, &key)) continue;
    if (kept < i) memcpy(row_at(rows, kind, kept), row_at(rows, kind, i), bytes_of(kind));
    kept++;
  }
  rows->count = kept;
}

/* ---- bytes ---- */

/* The list of the body or collider with this id; -1: its rows are in none. */
static int64_t list_of(const TlPairOf *of, int64_t count, int64_t id) {
  const TlPairOf *found = count > 0 ? bsearch(&id, of, (size_t)count, sizeof *of, tl_by_int) : NULL;
  return found ? found->list : -1;
}

/* Counts the rows of each list and kind in `next`, and notes their numbers there where there is space for them. */
static void list_rows(const TlPairLists *to, const TlPairState *pairs, const TlPairsOf *body,
                      const TlPairsOf *collider, size_t *next) {
  for (int k = 0; k < TL_PAIR_KINDS; k++) {
    const TlPairsOf *whose = k >= TL_FIRST_CONSTRAINT ? body : collider;
    for (size_t i = 0; whose->count > 0 && i < pairs->of[k].count; i++) {
      TlPairKey key = tl_pair_key(&pairs->of[k], (TlPairKind)k, i);
      int64_t low = list_of(whose->of, whose->count, key.low),
              high = list_of(whose->of, whose->count, key.high);
      for (int side = 0; side < (low == high ? 1 : 2); side++) {
        int64_t list = side ? high : low;
        if (list < 0) continue;
        size_t at = next[list * TL_PAIR_KINDS + k]++;
        if (to->row) to->row[at] = i;
      }
    }
  }
}

TlStatus tl_pair_lists_make(TlPairLists *to, const TlPairState *pairs, int64_t lists,
                            const TlPairsOf *body, const TlPairsOf *collider) {
  size_t ends = (size_t)lists * TL_PAIR_KINDS;
  *to = (TlPairLists){0};
  TL_TRY(TL_NEW(to->first, ends + 2));
  /* how many stand two places on, from which the beginnings come to stand one place on; as they are filled these
   * become the ends, where the next one begins */
  list_rows(to, pairs, body, collider, to->first + 2);
  for (size_t i = 2; i < ends + 2; i++) to->first[i] += to->first[i - 1];
  TL_TRY(TL_NEW(to->row, to->first[ends + 1]));
  list_rows(to, pairs, body, collider, to->first + 1);
  return TL_OK;
}

void tl_pair_lists_free(TlPairLists *lists) {
  tl_free(lists->first);
  tl_free(lists->row);
  *lists = (TlPairLists){0};
}

/* Of each kind the number of rows, then these. */
size_t tl_pair_state_packed_bytes(const TlPairLists *lists, int64_t list) {
  const size_t *first = lists->first + list * TL_PAIR_KINDS;
  size_t bytes = TL_PAIR_KINDS * sizeof(int64_t);
  for (int k = 0; k < TL_PAIR_KINDS; k++)
    bytes += (first[k + 1] - first[k]) * tl_record_packed_bytes(&tl_pair_record[k], TL_SAVE);
  return bytes;
}

unsigned char *tl_pair_state_pack(const TlPairState *pairs, const TlPairLists *lists, int64_t list,
                                  unsigned char *to) {
  const size_t *first = lists->first + list * TL_PAIR_KINDS;
  for (int k = 0; k < TL_PAIR_KINDS; k++) {
    int64_t n = (int64_t)(first[k + 1] - first[k]);
    memcpy(to, &n, sizeof n);
    to += sizeof n;
    for (size_t i = first[k]; i < first[k + 1]; i++)
      to =
          tl_record_pack(&tl_pair_record[k], TL_SAVE, pairs->of[k].row, (int64_t)lists->row[i], to);
  }
  return to;
}

TlStatus tl_pair_state_unpack(TlPairState *pairs, const unsigned char *from, size_t size,
                              size_t *used) {
  const unsigned char *at = from, *end = from + size;
  for (int k = 0; k < TL_PAIR_KINDS; k++) {
    TlPairRows *rows = &pairs->of[k];
    size_t bytes = tl_record_packed_bytes(&tl_pair_record[k], TL_SAVE);
    int64_t n = -1;
    if ((size_t)(end - at) >= sizeof n) memcpy(&n, at, sizeof n);
    if (n < 0 || (size_t)n > ((size_t)(end - at) - sizeof n) / bytes)
      return tl_fail(TL_EINPUT, "packed %s are cut short", tl_pair_record[k].name);
    at += sizeof n;
    TL_TRY(tl_pair_rows_reserve(rows, (TlPairKind)k, rows->count + (size_t)n));
    for (int64_t i = 0; i < n; i++)
      at = tl_record_unpack(&tl_pair_record[k], TL_SAVE, rows->row, (int64_t)rows->count++, at);
  }
  *used = (size_t)(at - from);
  return TL_OK;
}
