#include "run/contacts.h"

#include "base/mem.h"
#include "run/gather.h"

#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 10 };

/* What two contacts of one pair are told apart by. */
static void numbers(const TlFrameContact *c, double x[NUMBERS]) {
  const TlVec3 v[3] = {c->point_m, c->normal, c->force_N};
  for (int k = 0; k < 3; k++) {
    x[3 * k] = v[k].x;
    x[3 * k + 1] = v[k].y;
    x[3 * k + 2] = v[k].z;
  }
  x[9] = c->gap_m;
}

static int by_place(const void *one, const void *two) {
  const TlFrameContact *a = one, *b = two;
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
  *contacts = (TlContacts){0};
}

TlStatus tl_contacts_take(TlContacts *contacts, const TlModel *model, const TlState *state,
                          const TlWorkspace *work) {
  TlContactRow *from;
  int64_t count;
  tl_contacts_free(contacts);
  TL_TRY(tl_step_contacts(model, state, work, &from, &count));
  TlStatus status = TL_NEW(contacts->rows, (size_t)count);
  for (int64_t i = 0; status == TL_OK && i < count; i++)
    contacts->rows[contacts->count++] =
        (TlFrameContact){.first = from[i].low,
                         .second = from[i].high,
                         .point_m = from[i].point,
                         .normal = from[i].normal,
                         .force_N = tl_scale(1 / model->step_s, from[i].impulse_N_s),
                         .gap_m = from[i].gap_m,
                         .friction = from[i].friction};
  tl_free(from);
  if (contacts->count > 1)
    qsort(contacts->rows, (size_t)contacts->count, sizeof *contacts->rows, by_place);
  return status;
}

/* ---- to rank 0 ---- */

/* All contacts of a pair are one rank's: its number in the pair makes the keys unique. */
typedef struct Record {
  int64_t key[3];
  TlFrameContact contact;
} Record;

typedef struct Way {
  const TlContacts *contacts;
  int64_t *in_pair;
  TlResultsWriter *writer;
  TlStatus written;
} Way;

static TlStatus number_pairs(Way *w) {
  const TlFrameContact *row = w->contacts->rows;
  TL_TRY(TL_NEW(w->in_pair, (size_t)w->contacts->count));
  for (int64_t i = 1; i < w->contacts->count; i++)
    if (row[i].first == row[i - 1].first && row[i].second == row[i - 1].second)
      w->in_pair[i] = w->in_pair[i - 1] + 1;
  return TL_OK;
}

static void fill(void *context, int64_t first, int64_t count, unsigned char *to) {
  const Way *w = context;
  for (int64_t i = first; i < first + count; i++, to += sizeof(Record)) {
    const TlFrameContact *c = &w->contacts->rows[i];
    Record r = {{c->first, c->second, w->in_pair[i]}, *c};
    memcpy(to, &r, sizeof r);
  }
}

static TlStatus take(void *context, const unsigned char *records, int64_t count) {
  Way *w = context;
  TlFrameContact *rows;
  TL_TRY(w->written);
  TL_TRY(TL_NEW(rows, (size_t)count));
  for (int64_t i = 0; i < count; i++) {
    Record r;
    memcpy(&r, records + (size_t)i * sizeof r, sizeof r);
    rows[i] = r.contact;
  }
  TlStatus status = tl_results_frame_contacts(w->writer, rows, count);
  tl_free(rows);
  return status;
}

TlStatus tl_contacts_write(const TlContacts *contacts, TlComm *comm, double friction,
                           TlResultsWriter *writer, TlStatus written) {
  Way w = {.contacts = contacts, .writer = writer, .written = written};
  int64_t all = contacts->count;
  TlStatus status = tl_comm_agree(comm, number_pairs(&w));
  if (status == TL_OK) status = tl_comm_sum_int(comm, &all, 1);
  if (status == TL_OK && writer && written == TL_OK)
    w.written = tl_results_frame_contacts_begin(writer, friction, all);
  TlGather g = {.comm = comm,
                .record_bytes = sizeof(Record),
                .keys = 3,
                .count = contacts->count,
                .fill = fill,
                .take = take,
                .context = &w};
  if (status == TL_OK) status = tl_gather_sorted(&g);
  tl_free(w.in_pair);
  return status == TL_OK ? w.written : status;
}
