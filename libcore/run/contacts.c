#include "run/contacts.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 10 };

/* What two contacts of one pair are told apart by. */
static void numbers(const TlContactRow *c, double x[NUMBERS]) {
  const TlVec3 v[3] = {c->point_m, c->normal, c->force_N};
  for (int k = 0; k < 3; k++) {
    x[3 * k] = v[k].x;
    x[3 * k + 1] = v[k].y;
    x[3 * k + 2] = v[k].z;
  }
  x[9] = c->gap_m;
}

static int by_place(const void *one, const void *two) {
  const TlContactRow *a = one, *b = two;
  double x[NUMBERS], y[NUMBERS];
  if (a->first != b->first) return a->first < b->first ? -1 : 1;
  if (a->second != b->second) return a->second < b->second ? -1 : 1;
  numbers(a, x);
  numbers(b, y);
  for (int k = 0; k < NUMBERS; k++)
    if (x[k] != y[k]) return x[k] < y[k] ? -1 : 1;
  return 0;
}

void tl_contacts_free(TlContacts *contacts) {
  tl_free(contacts->rows);
  tl_free(contacts->in_pair);
  *contacts = (TlContacts){0};
}

TlStatus tl_contacts_take(TlContacts *contacts, const TlModel *model, const TlState *state,
                          const TlWorkspace *work) {
  tl_contacts_free(contacts);
  TL_TRY(tl_step_contacts(model, state, work, &contacts->rows, &contacts->count));
  TL_TRY(TL_NEW(contacts->in_pair, (size_t)contacts->count));
  TlContactRow *row = contacts->rows;
  if (contacts->count > 1) qsort(row, (size_t)contacts->count, sizeof *row, by_place);
  for (int64_t i = 1; i < contacts->count; i++)
    if (row[i].first == row[i - 1].first && row[i].second == row[i - 1].second)
      contacts->in_pair[i] = contacts->in_pair[i - 1] + 1;
  return TL_OK;
}

/* All contacts of a pair are one rank's: its number in the pair makes the keys unique. */
enum { KEYS = 3 };

static void pack(const void *of, int64_t first, int64_t count, unsigned char *to) {
  const TlContacts *contacts = of;
  for (int64_t i = first; i < first + count; i++) {
    const TlContactRow *c = &contacts->rows[i];
    const int64_t key[KEYS] = {c->first, c->second, contacts->in_pair[i]};
    memcpy(to, key, sizeof key);
    to = tl_record_pack(&tl_contact_row_record, TL_FRAME, contacts->rows, i, to + sizeof key);
  }
}

TlRows tl_contacts_rows(const TlContacts *contacts) {
  return (TlRows){.record = &tl_contact_row_record,
                  .attributes = TL_FRAME,
                  .head = KEYS * sizeof(int64_t),
                  .keys = KEYS,
                  .count = contacts->count,
                  .pack = pack,
                  .of = contacts};
}
