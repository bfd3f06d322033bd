/* Records that one list describes: packing, layout, hash, sums over ranks, and the reference page
 * made from the lists (docs/reference/records.md; write it anew by `make reference`). */
#include "base/file.h"
#include "base/mem.h"
#include "base/random.h"
#include "base/text.h"
#include "solve/nonsmooth_record.h"
#include "solve/step_report.h"
#include "model/contact_record.h"
#include "run/apparatus.h"
#include "run/run_record.h"
#include "support/tltest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const TlRecord *const records[] = {&tl_body_record,     &tl_collider_record,
                                          &tl_body_row_record, &tl_contact_row_record,
                                          &tl_run_record,      &tl_step_report_record};
enum {
  RECORDS = sizeof records / sizeof *records,
  PAIRS_END = RECORDS + TL_PAIR_KINDS,
  APPARATUS_END = PAIRS_END + TL_APPARATUS_COUNT,
  ALL = APPARATUS_END + TL_NS_LISTS
};
static const TlRecord *record_at(int i) {
  if (i < RECORDS) return records[i];
  if (i < PAIRS_END) return &tl_pair_record[i - RECORDS];
  return i < APPARATUS_END ? &tl_apparatus(i - PAIRS_END)->state : &tl_ns_record[i - APPARATUS_END];
}

#define PAGE "docs/reference/records.md"
static const char head[] =
    "# Records of state\n\n"
    "What the solver keeps of bodies, contacts and the run, field by field. This page is made "
    "from\n"
    "the lists in `libcore/` that the programs use themselves (`libcore/model/record.h`); `make\n"
    "reference` writes it, and a test checks that it is current.\n\n"
    "Attributes: `save`: in checkpoints, where the fields lie one after the other without "
    "padding,\n"
    "and with a body that moves to another rank; `hash`: part of the state's hash; `halo once` "
    "and\n"
    "`halo each step`: what other ranks get of a body near their own, constant values and those "
    "of\n"
    "each step; `frame`: a column of frames under that name; `sum`, `exact sum`, `largest`, "
    "`least`:\n"
    "how the values of several ranks become one. `TlVec3` is three doubles x, y, z, `TlQuat` "
    "four:\n"
    "w, x, y, z, and `TlExact` a sum of reals without rounding (`libcore/num/exact.h`).\n\n";

static char *page(void) {
  TlGrowingText text = {0};
  CK_OK(tl_text_add(&text, "", head));
  for (int i = 0; i < ALL; i++) {
    char *section = tl_record_markdown(record_at(i));
    ck_assert_ptr_nonnull(section);
    CK_OK(tl_text_add(&text, i ? "\n" : "", section));
    tl_free(section);
  }
  return text.text;
}

START_TEST(the_reference_page_is_current) {
  char *is, *now = page();
  size_t size;
  if (getenv("TALUS_WRITE_REFERENCE")) CK_OK(tl_file_write(PAGE, now, strlen(now), true));
  CK_OK(tl_file_read(PAGE, &is, &size));
  ck_assert_msg(size == strlen(now) && memcmp(is, now, size) == 0,
                "%s is not what the lists of fields say: run make reference", PAGE);
  tl_free(is);
  tl_free(now);
}
END_TEST

START_TEST(every_field_says_what_it_means) {
  for (int i = 0; i < ALL; i++)
    for (int k = 0; k < record_at(i)->count; k++) {
      const TlRecordField *f = &record_at(i)->field[k];
      bool real = f->kind != TL_FIELD_I32 && f->kind != TL_FIELD_I64;
      ck_assert_msg(f->meaning[0] && (!real || f->unit[0]), "%s.%s has no unit or meaning",
                    record_at(i)->name, f->name);
      ck_assert_msg(strpbrk(f->meaning, "\n") == NULL, "%s.%s", record_at(i)->name, f->name);
    }
}
END_TEST

/* Bytes of fields in turn; a field with another attribute stays out and comes back as 0. */
START_TEST(packed_fields_come_back_and_the_others_stay_or_are_zero) {
  TlBodies b = {0};
  int64_t i;
  unsigned char bytes[256], *end;
  CK_OK(tl_bodies_add(&b, 7, 1, &i));
  CK_OK(tl_bodies_add(&b, 8, 1, &i));
  TlColliders *c = &b.colliders;
  c->material[0] = 3;
  c->avatar_id[0] = 0x5a5a;
  c->offset[0] = tl_vec3(1, 2, 3);
  c->offset[1] = tl_vec3(4, 5, 6);
  size_t size = tl_record_packed_bytes(&tl_collider_record, TL_GRAIN);
  ck_assert_uint_eq(size, 8 + 8 + 4);
  end = tl_record_pack(&tl_collider_record, TL_GRAIN, c, 0, bytes);
  ck_assert(end == bytes + size);
  ck_assert(tl_record_unpack(&tl_collider_record, TL_GRAIN, c, 1, bytes) == end);
  ck_assert(c->id[1] == 8 && c->material[1] == 3 && c->avatar_id[1] == 0x5a5a);
  ck_assert(c->offset[1].x == 4 && c->body_id[1] == 8);
  tl_bodies_free(&b);
  /* of structs the others become 0 */
  TlContactRow in[2] = {{.first = 1}, {.first = 5, .second = 6, .friction = 0.5}}, out[2];
  TlRecord half = tl_contact_row_record;
  TlRecordField field[16];
  memcpy(field, half.field, (size_t)half.count * sizeof *field);
  field[1].attributes = 0;
  half.field = field;
  memset(out, 0x5a, sizeof out);
  end = tl_record_pack(&half, TL_FRAME, in, 1, bytes);
  ck_assert(tl_record_unpack(&half, TL_FRAME, out, 1, bytes) == end);
  ck_assert(out[1].first == 5 && out[1].second == 0 && out[1].friction == 0.5);
  ck_assert(out[0].first != 1 && out[0].first != 0);
  size = tl_record_packed_bytes(&tl_collider_record, TL_SAVE);
  ck_assert_uint_eq(size, 3 * 8 + 8 + 24 + 32 + 4);
  ck_assert_uint_eq(size, tl_record_packed_bytes(&tl_collider_record, TL_HALO));
  size = tl_record_packed_bytes(&tl_body_record, TL_SAVE);
  size_t work = 2 * 8 + 24; /* which ghosts need not know */
  ck_assert_uint_eq(size, 8 + 3 * 24 + 5 * 8 + 32 + 5 * 4 + work);
  ck_assert_uint_eq(size - 4, tl_record_packed_bytes(&tl_body_record, TL_HALO) + work);
}
END_TEST

START_TEST(a_layout_names_types_names_and_units) {
  char text[464], less[80], other[80];
  tl_record_layout(&tl_body_record, TL_HALO_ONCE, text, sizeof text);
  ck_assert_str_eq(text, "int64_t id; int32_t parts; ");
  tl_record_layout(&tl_body_record, TL_SAVE, text, sizeof text);
  ck_assert_ptr_nonnull(strstr(text, "TlVec3 velocity m/s; TlVec3 momentum kg m2/s; "));
  /* too long for the text: a hash of it, which another unit changes */
  tl_record_layout(&tl_body_record, TL_SAVE, less, sizeof less);
  ck_assert_ptr_nonnull(strstr(less, "body: 18 fields, hash"));
  TlRecordField field[32];
  memcpy(field, tl_body_record.field, (size_t)tl_body_record.count * sizeof *field);
  TlRecord changed = tl_body_record;
  changed.field = field;
  field[4].unit = "km/h";
  tl_record_layout(&changed, TL_SAVE, other, sizeof other);
  ck_assert_str_ne(less, other);
}
END_TEST

START_TEST(the_hash_takes_each_field_that_has_the_attribute) {
  TlSpring touch;
  TlRecordField none[8];
  memset(&touch, 0, sizeof touch);
  uint64_t before = tl_record_hash(&tl_pair_record[TL_SPRINGS], &touch, 0, 2);
  for (size_t k = 0; k < sizeof touch; k += 8) {
    unsigned char *byte = (unsigned char *)&touch + k;
    *byte = 1;
    ck_assert_msg(tl_record_hash(&tl_pair_record[TL_SPRINGS], &touch, 0, 2) != before, "byte %zu",
                  k);
    *byte = 0;
  }
  TlRecord quiet = tl_pair_record[TL_SPRINGS];
  memcpy(none, quiet.field, (size_t)quiet.count * sizeof *none);
  for (int k = 0; k < quiet.count; k++) none[k].attributes &= ~(unsigned)TL_HASH;
  quiet.field = none;
  ck_assert(tl_record_hash(&quiet, &touch, 0, 2) == 2);
}
END_TEST

/* ---- sums over ranks: two ranks, the other one's values being what `sum` and `least` add ---- */

typedef struct Other {
  int64_t sum;
  double least;
  int calls, limbs;
} Other;

/* Counts, then the exact sums that are not empty. */
static TlStatus other_sum_int(void *ctx, int64_t *values, int count) {
  Other *o = ctx;
  const TlRecord *record = &tl_step_report_record;
  int counts = 0;
  for (int k = 0; k < record->count; k++) counts += record->field[k].attributes & TL_SUM ? 1 : 0;
  for (int k = 0; k < counts; k++) values[k] += o->sum;
  for (int k = counts; k < count; k++) values[k] *= 2; /* the same exact sums there */
  o->limbs = count - counts;
  o->calls++;
  return TL_OK;
}
static TlStatus other_least(void *ctx, double *values, int count) {
  Other *o = ctx;
  for (int k = 0; k < count; k++)
    if (o->least < values[k]) values[k] = o->least;
  o->calls++;
  return TL_OK;
}

/* Each field, by its attribute: a new line of the list is covered without a change here. */
START_TEST(the_report_of_all_ranks_follows_the_attributes) {
  Other other = {.sum = 1000, .least = -50};
  TlSync sync = {.ctx = &other, .least = other_least, .sum_int = other_sum_int};
  TlStepSums sums_here = {0};
  TlStepReport r;
  memset(&r, 0, sizeof r);
  TlExact *sum = (TlExact *)&sums_here;
  int sums = 0;
  const TlRecord *record = &tl_step_report_record;
  for (int k = 0; k < record->count; k++) {
    void *at = (unsigned char *)&r + record->field[k].offset;
    if (record->field[k].attributes & TL_EXACT_SUM)
      tl_exact_add(sum++, k + 0.25), sums++;
    else if (record->field[k].kind == TL_FIELD_I64)
      *(int64_t *)at = k;
    else
      *(double *)at = k + 0.5;
  }
  CK_OK(tl_step_report_ranks(&sync, &sums_here, &r));
  ck_assert_int_eq(other.calls, 2);
  ck_assert_int_eq(other.limbs, sums * TL_EXACT_LIMBS);
  for (int k = 0; k < record->count; k++) {
    const TlRecordField *f = &record->field[k];
    const void *at = (const unsigned char *)&r + f->offset;
    double mine = f->kind == TL_FIELD_I64 ? k : k + 0.5, want = mine;
    double is = f->kind == TL_FIELD_I64 ? (double)*(const int64_t *)at : *(const double *)at;
    if (f->attributes & TL_SUM) want = k + 1000;
    if (f->attributes & TL_EXACT_SUM) want = 2 * (k + 0.25);
    if (f->attributes & TL_MOST) want = mine > 50 ? mine : 50;
    if (f->attributes & TL_LEAST) want = -50;
    ck_assert_msg(is == want, "%s is %g, not %g", f->name, is, want);
  }
  /* empty sums are 0 and are not exchanged */
  sums_here = (TlStepSums){0};
  memset(&r, 0, sizeof r);
  other.least = 0;
  CK_OK(tl_step_report_ranks(&sync, &sums_here, &r));
  ck_assert_int_eq(other.limbs, 0);
  ck_assert(r.kinetic_J == 0 && r.contact_N == 0);
}
END_TEST

TL_TEST_MAIN("records", the_reference_page_is_current, every_field_says_what_it_means,
             packed_fields_come_back_and_the_others_stay_or_are_zero,
             a_layout_names_types_names_and_units, the_hash_takes_each_field_that_has_the_attribute,
             the_report_of_all_ranks_follows_the_attributes)
