/* Problems of a step as files, ready to be solved: as the program writes them (run/step_problems.h), and as text with
 * the same lists and columns, which takes a tenth of the space. */
#ifndef TL_TESTS_PROBLEM_FILE_H
#define TL_TESTS_PROBLEM_FILE_H

#include "base/mem.h"
#include "solve/nonsmooth_record.h"
#include "solve/nonsmooth_solve.h"
#include "store/results_h5.h"
#include "support/tltest.h"

#include <stdio.h>
#include <string.h>

static inline void *problem_rows_read(const TlH5File *f, const TlRecord *record, int32_t *count) {
  TlH5Column column[TL_H5_RECORD_COLUMNS];
  int columns = tl_h5_record_columns(record, false, column);
  int64_t n;
  hid_t group = H5Gopen2(f->id, record->name, H5P_DEFAULT);
  CK_OK(tl_h5_array_rows(f, group, column[0].name, &n));
  char *rows = tl_calloc((size_t)n + 1, record->bytes);
  ck_assert_ptr_nonnull(rows);
  if (n > 0) CK_OK(tl_h5_columns_read(f, group, column, columns, rows, record->bytes, n));
  H5Gclose(group);
  *count = (int32_t)n;
  return rows;
}

/* What sweeps need beside what is kept. */
static inline void problem_prepare(TlNsProblem *q) {
  for (int32_t i = 0; i < q->patches; i++) tl_nonsmooth_prepare(q, &q->patch[i]);
  for (int32_t i = 0; i < q->bonds; i++) {
    q->bond[i].inverse_t = q->bond[i].inverse_t > 0 ? 1 : 0;
    tl_nonsmooth_prepare_bond(q, &q->bond[i]);
  }
}

static inline void problem_read(const char *path, TlNsProblem *q) {
  TlH5File f;
  int32_t arms;
  CK_OK(tl_h5_open(&f, path));
  *q = (TlNsProblem){0};
  q->body = problem_rows_read(&f, &tl_ns_record[TL_NS_BODIES], &q->bodies);
  q->patch = problem_rows_read(&f, &tl_ns_record[TL_NS_PATCHES], &q->patches);
  q->point = problem_rows_read(&f, &tl_ns_record[TL_NS_NORMALS], &q->points);
  q->arm = problem_rows_read(&f, &tl_ns_record[TL_NS_ARMS], &arms);
  q->resist = problem_rows_read(&f, &tl_ns_record[TL_NS_RESISTS], &q->resists);
  q->bond = problem_rows_read(&f, &tl_ns_record[TL_NS_BONDS], &q->bonds);
  CK_OK(tl_h5_close(&f));
  problem_prepare(q);
}

/* ---- as text ---- */

/* Numbers of a field, one after the other from its place on. */
static inline int problem_numbers(const TlRecordField *field) {
  return field->kind == TL_FIELD_VEC3 ? 3 : 1;
}
static inline double problem_number(const TlRecordField *field, const char *row, int k) {
  double x;
  int32_t n;
  if (field->kind == TL_FIELD_I32) return memcpy(&n, row + field->offset, sizeof n), n;
  return memcpy(&x, row + field->offset + (size_t)k * sizeof x, sizeof x), x;
}
static inline void problem_set_number(const TlRecordField *field, char *row, int k, double x) {
  int32_t n = (int32_t)x;
  if (field->kind == TL_FIELD_I32)
    memcpy(row + field->offset, &n, sizeof n);
  else
    memcpy(row + field->offset + (size_t)k * sizeof x, &x, sizeof x);
}

/* "problem_bodies 12 v w inverse_mass": the list, its rows, its columns. */
static inline void problem_text_head(const TlRecord *record, long long count, char text[400]) {
  int used = snprintf(text, 400, "%s %lld", record->name, count);
  for (int f = 0; f < record->count; f++)
    used += snprintf(text + used, 400 - (size_t)used, " %s", record->field[f].name);
  snprintf(text + used, 400 - (size_t)used, "\n");
}

static inline void problem_text_write(const char *path, const TlNsProblem *q) {
  FILE *file = fopen(path, "w");
  ck_assert_ptr_nonnull(file);
  for (int list = 0; list < TL_NS_LISTS; list++) {
    const TlRecord *record = &tl_ns_record[list];
    int64_t count;
    char head[400];
    const char *row = tl_ns_rows(q, (TlNsList)list, &count);
    problem_text_head(record, count, head);
    fputs(head, file);
    for (int64_t i = 0; i < count; i++, row += record->bytes)
      for (int f = 0; f < record->count; f++)
        for (int k = 0; k < problem_numbers(&record->field[f]); k++)
          fprintf(file, "%.17g%c", problem_number(&record->field[f], row, k),
                  f + 1 == record->count && k + 1 == problem_numbers(&record->field[f]) ? '\n'
                                                                                        : ' ');
  }
  ck_assert_int_eq(fclose(file), 0);
}

static inline void *problem_text_rows(FILE *file, const char *path, const TlRecord *record,
                                      int32_t *count) {
  char head[400], due[400];
  long long n;
  ck_assert_msg(fgets(head, sizeof head, file) && sscanf(head, "%*s %lld", &n) == 1, "%s: %s", path,
                record->name);
  problem_text_head(record, n, due);
  ck_assert_msg(strcmp(head, due) == 0, "%s has '%s', the program '%s'", path, head, due);
  char *rows = tl_calloc((size_t)n + 1, record->bytes), *row = rows;
  ck_assert_ptr_nonnull(rows);
  for (long long i = 0; i < n; i++, row += record->bytes)
    for (int f = 0; f < record->count; f++)
      for (int k = 0; k < problem_numbers(&record->field[f]); k++) {
        double x;
        ck_assert_msg(fscanf(file, "%lf", &x) == 1, "%s: %s, row %lld", path, record->name, i);
        problem_set_number(&record->field[f], row, k, x);
      }
  if (n > 0) fgetc(file); /* the line's end */
  *count = (int32_t)n;
  return rows;
}

static inline void problem_text_read(const char *path, TlNsProblem *q) {
  FILE *file = fopen(path, "r");
  int32_t arms;
  ck_assert_msg(file != NULL, "%s is missing", path);
  *q = (TlNsProblem){0};
  q->body = problem_text_rows(file, path, &tl_ns_record[TL_NS_BODIES], &q->bodies);
  q->patch = problem_text_rows(file, path, &tl_ns_record[TL_NS_PATCHES], &q->patches);
  q->point = problem_text_rows(file, path, &tl_ns_record[TL_NS_NORMALS], &q->points);
  q->arm = problem_text_rows(file, path, &tl_ns_record[TL_NS_ARMS], &arms);
  q->resist = problem_text_rows(file, path, &tl_ns_record[TL_NS_RESISTS], &q->resists);
  q->bond = problem_text_rows(file, path, &tl_ns_record[TL_NS_BONDS], &q->bonds);
  fclose(file);
  problem_prepare(q);
}

static inline void problem_lists_free(TlNsProblem *q) {
  tl_free(q->body);
  tl_free(q->patch);
  tl_free(q->point);
  tl_free(q->arm);
  tl_free(q->resist);
  tl_free(q->bond);
}

/* Iterate a problem without joints as one island, in the order of its file, from the impulses that it has: at most so
 * often, until an iteration changes no velocity by more. Gives the iterations. */
static inline int64_t problem_file_solve(TlNsProblem *q, TlNsSolver solver, int iterations,
                                         double change_m_s) {
  static const int32_t phase_start[] = {0, 1};
  double scratch[3], change[1], product[3] = {0}, beyond[TL_BEYOND_VALUES];
  int32_t range_at[] = {0, 1}, group_range[] = {0, 1}, first_island[] = {0, 1};
  size_t rows = (size_t)(q->points + q->patches + q->bonds) + 1;
  TlNsImpulses *impulses[] = {&q->before, &q->last, &q->more};
  TlPair pair = {0};
  TlGroup group = {.pair = &pair,
                   .pairs = 1,
                   .islands = 1,
                   .phase_start = phase_start,
                   .phases = 1,
                   .scratch = scratch,
                   .beyond = beyond};
  TlNsRange range = {.last = q->patches, .last_bond = q->bonds};
  TlNsIsland island = {.force_m_s = change_m_s};
  TlNsCount count;
  int lists = solver == TL_NS_SWEEPS ? 0 : solver == TL_NS_EXTRAPOLATED ? 2 : 3;
  for (int k = 0; k < lists; k++) {
    CK_OK(TL_NEW(impulses[k]->point, rows));
    CK_OK(TL_NEW(impulses[k]->patch, rows));
    CK_OK(TL_NEW(impulses[k]->resist, rows));
    CK_OK(TL_NEW(impulses[k]->bond, rows));
  }
  TlNsRows r = {.problem = *q,
                .range = &range,
                .range_at = range_at,
                .group_range = group_range,
                .ranges = 1,
                .island = &island,
                .first_island = first_island,
                .change = change,
                .product = product,
                .islands = 1};
  r.groups = (TlGroups){.group = &group, .count = 1, .pair = &pair};
  CK_OK(tl_nonsmooth_solve(&r, 0, &(TlNsStage){.iterations = iterations, .tolerance = 1}, &count));
  for (int k = 0; k < lists; k++) {
    tl_free(impulses[k]->point);
    tl_free(impulses[k]->patch);
    tl_free(impulses[k]->resist);
    tl_free(impulses[k]->bond);
    *impulses[k] = (TlNsImpulses){0};
  }
  return count.iterations;
}

#endif
