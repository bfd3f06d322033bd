/* Tables that are read: quoted cells hold separators and quotes, what is written is read back, spreadsheets' separators
 * and decimal commas, and rows that do not fit their header. */
#include "support/tltest.h"

#include "base/file.h"
#include "base/mem.h"
#include "io/csv.h"
#include "io/csv_table.h"

#include <stdio.h>
#include <string.h>

static TlStatus read_text(const char *text, TlTable *t) {
  char *path = tl_path_join(tl_test_folder(), "t.csv");
  CK_OK(tl_file_write(path, text, strlen(text), true));
  TlStatus status = tl_table_read(path, t);
  tl_free(path);
  return status;
}

static void is_cell(const TlTable *t, int64_t row, int column, const char *text) {
  ck_assert_str_eq(tl_table_text(t, row, column), text);
}

START_TEST(quoted_cells_hold_separators_and_quotes) {
  TlTable t;
  CK_OK(read_text("id, \"name, of it\" ,z\n"
                  "1,\"a, b; c\",3\n"
                  "2, \"say \"\"yes\"\"\" , 4\r\n"
                  "3,\"\",5\n"
                  "4,\"\"\"\",6\n"
                  "5,5\" pipe,7\n"      /* a quote that opens no cell is text */
                  "6,\"open\" end,8\n", /* nor does one that closes within it */
                  &t));
  ck_assert_int_eq(t.columns, 3);
  ck_assert_int_eq(t.rows, 6);
  ck_assert_str_eq(t.name[1], "name, of it");
  const char *const wanted[] = {"a, b; c", "say \"yes\"", "", "\"", "5\" pipe", "\"open\" end"};
  for (int i = 0; i < 6; i++) is_cell(&t, i, 1, wanted[i]);
  for (int i = 0; i < 6; i++) {
    double x;
    CK_OK(tl_table_number(&t, i, 2, &x));
    ck_assert(x == 3 + i);
  }
  tl_table_free(&t);
}
END_TEST

START_TEST(what_is_written_is_read_back) {
  static const char *const text[] = {"plain",    "a, b",     "\"",   "\"\"",
                                     "x\"y,\"z", " inside ", ";\t|", ""};
  enum { N = sizeof text / sizeof *text };
  char *path = tl_path_join(tl_test_folder(), "back.csv");
  FILE *to = fopen(path, "w");
  fputs("one,two\n", to);
  for (int i = 0; i < N; i++) {
    tl_csv_put_text(to, text[i]);
    fputc(',', to);
    tl_csv_put_text(to, text[N - 1 - i]);
    fputc('\n', to);
  }
  fclose(to);
  TlTable t;
  CK_OK(tl_table_read(path, &t));
  ck_assert_int_eq(t.rows, N);
  for (int i = 0; i < N; i++) {
    if (strchr(text[i], '\t')) continue; /* control characters are written as escapes */
    is_cell(&t, i, 0, text[i]);
    is_cell(&t, N - 1 - i, 1, text[i]);
  }
  tl_table_free(&t);
  tl_free(path);
}
END_TEST

START_TEST(separators_of_spreadsheets) {
  TlTable t;
  double x;
  CK_OK(read_text("a;\"b, c\"\n1,5;\"x; y\"\n", &t));
  ck_assert_int_eq(t.separator, ';');
  ck_assert_str_eq(t.name[1], "b, c");
  CK_OK(tl_table_number(&t, 0, 0, &x));
  ck_assert(x == 1.5);
  is_cell(&t, 0, 1, "x; y");
  tl_table_free(&t);
  CK_OK(read_text("a\tb\n\t2,25\n", &t));
  ck_assert_int_eq(t.separator, '\t');
  is_cell(&t, 0, 0, "");
  CK_OK(tl_table_number(&t, 0, 1, &x));
  ck_assert(x == 2.25);
  tl_table_free(&t);
  CK_OK(read_text("\"a; b\",c\n1,2\n", &t));
  ck_assert_int_eq(t.separator, ',');
  tl_table_free(&t);
}
END_TEST

START_TEST(rows_of_another_length_are_named) {
  TlTable t;
  ck_assert_int_eq(read_text("a,b\n1,2\n\n# said\n1,\"2,3\",4\n", &t), TL_EINPUT);
  ck_assert_msg(strstr(tl_message(), "t.csv:5: 3 cells; the header has 2") != NULL, "%s",
                tl_message());
}
END_TEST

TL_TEST_MAIN("csv_table", quoted_cells_hold_separators_and_quotes, what_is_written_is_read_back,
             separators_of_spreadsheets, rows_of_another_length_are_named)
