/* Checkpoint files: what was written is read back, and what was damaged is not read as whole. Also
 * the sums that history.csv is made of, which must not depend on the ranks. */
#include "base/digest.h"
#include "base/file.h"
#include "base/mem.h"
#include "num/exact.h"
#include "store/checkpoint.h"
#include "support/tltest.h"

#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

typedef struct Row {
  int64_t id;
  double value;
} Row;
static const char layout[] = "int64_t id; double value; ";
enum { ROWS = 5000 };

static const char *make(const char *name, int64_t step) {
  static char folder[512];
  TlCheckpointWriter *w;
  Row rows[ROWS];
  snprintf(folder, sizeof folder, "%s/%s", tl_test_folder(), name);
  CK_OK(tl_dir_make(folder));
  for (int i = 0; i < ROWS; i++) rows[i] = (Row){i, 0.1 * i};
  CK_OK(tl_checkpoint_create(&w, folder, step));
  CK_OK(tl_checkpoint_section(w, "study", "text", 1, 5));
  CK_OK(tl_checkpoint_rows(w, "a: 1\n", 5));
  CK_OK(tl_checkpoint_section(w, "none", layout, sizeof(Row), 0));
  CK_OK(tl_checkpoint_section(w, "rows", layout, sizeof(Row), ROWS));
  CK_OK(tl_checkpoint_rows(w, rows, 17));
  CK_OK(tl_checkpoint_rows(w, rows + 17, ROWS - 17));
  CK_OK(tl_checkpoint_commit(w, true));
  return folder;
}

START_TEST(what_was_written_is_read_back) {
  const char *folder = make("whole", 1200);
  TlCheckpoint *c;
  int64_t count;
  Row row[3];
  char text[6] = "";
  CK_OK(tl_checkpoint_open(&c, folder, 1200, true));
  CK_OK(tl_checkpoint_find(c, "study", "text", 1, &count));
  ck_assert_int_eq(count, 5);
  CK_OK(tl_checkpoint_read(c, "study", 0, 5, text));
  ck_assert_str_eq(text, "a: 1\n");
  CK_OK(tl_checkpoint_find(c, "none", layout, sizeof(Row), &count));
  ck_assert_int_eq(count, 0);
  CK_OK(tl_checkpoint_find(c, "rows", layout, sizeof(Row), &count));
  ck_assert_int_eq(count, ROWS);
  CK_OK(tl_checkpoint_read(c, "rows", 4000, 3, row));
  ck_assert(row[2].id == 4002 && row[2].value == 0.1 * 4002);
  ck_assert_str_eq(tl_checkpoint_name(c, 2), "rows");
  ck_assert_ptr_null(tl_checkpoint_name(c, 3));
  CK_FAILS(tl_checkpoint_find(c, "rows", "int64_t id; float value; ", sizeof(Row), &count),
           TL_EINPUT, "section 'rows' is laid out as");
  CK_FAILS(tl_checkpoint_find(c, "nets", layout, sizeof(Row), &count), TL_EINPUT,
           "has no section 'nets'");
  tl_checkpoint_close(c);
}
END_TEST

/* Any one byte, and any cut: 100 places spread over the file and the ends of each part. */
START_TEST(no_damage_goes_unseen) {
  const char *folder = make("damage", 7);
  char *bytes, path[600];
  size_t size;
  TlCheckpoint *c;
  snprintf(path, sizeof path, "%s/checkpoint_000000000007.tck", folder);
  CK_OK(tl_file_read(path, &bytes, &size));
  for (size_t k = 0; k < 100; k++) {
    size_t at = k < 30 ? k : k < 60 ? size - 1 - (k - 30) : size * (k - 60) / 40;
    bytes[at] = (char)(bytes[at] ^ (1 << k % 8));
    CK_OK(tl_file_write(path, bytes, size, true));
    ck_assert_msg(tl_checkpoint_open(&c, folder, 7, true) == TL_EINPUT,
                  "byte %zu of %zu is flipped, and nobody sees it", at, size);
    ck_assert_ptr_nonnull(strstr(tl_message(), path));
    bytes[at] = (char)(bytes[at] ^ (1 << k % 8));
    CK_OK(tl_file_write(path, bytes, at, true));
    ck_assert_msg(tl_checkpoint_open(&c, folder, 7, true) == TL_EINPUT,
                  "cut at %zu of %zu, and nobody sees it", at, size);
  }
  CK_OK(tl_file_write(path, bytes, size, true));
  CK_OK(tl_checkpoint_open(&c, folder, 7, true));
  tl_checkpoint_close(c);
  tl_free(bytes);
}
END_TEST

/* Digests that several processes take, each of a part, tell the same; of a byte that is flipped, too. */
START_TEST(verification_is_shared) {
  const char *folder = make("shared", 8);
  char path[600], *bytes;
  size_t size;
  TlCheckpoint *c;
  unsigned char digests[32 * TL_DIGEST_BYTES];
  snprintf(path, sizeof path, "%s/checkpoint_000000000008.tck", folder);
  CK_OK(tl_file_read(path, &bytes, &size));
  for (int parts = 1; parts <= 9; parts++)
    for (int flipped = 0; flipped < 2; flipped++) {
      size_t at = size * (size_t)parts / 10;
      bytes[at] = (char)(bytes[at] ^ flipped);
      CK_OK(tl_file_write(path, bytes, size, true));
      CK_OK(tl_checkpoint_open(&c, folder, 8, false));
      int64_t blocks = tl_checkpoint_blocks(c);
      ck_assert_int_eq(blocks, 1 + (ROWS + TL_CHECKPOINT_BLOCK - 1) / TL_CHECKPOINT_BLOCK);
      for (int p = parts - 1; p >= 0; p--) {
        int64_t first = blocks * p / parts, next = blocks * (p + 1) / parts;
        CK_OK(tl_checkpoint_digest(c, first, next - first, digests + first * TL_DIGEST_BYTES));
      }
      TlStatus status = tl_checkpoint_verify(c, digests);
      ck_assert_msg(status == (flipped ? TL_EINPUT : TL_OK), "%d parts, %d flipped", parts,
                    flipped);
      tl_checkpoint_close(c);
      bytes[at] = (char)(bytes[at] ^ flipped);
    }
  tl_free(bytes);
}
END_TEST

START_TEST(the_newest_are_kept) {
  const char *folder = NULL;
  int64_t *steps, count;
  for (int64_t step = 100; step <= 500; step += 100) folder = make("many", step);
  CK_OK(tl_checkpoint_prune(folder, 400, 2));
  CK_OK(tl_checkpoint_list(folder, &steps, &count));
  ck_assert_int_eq(count, 2);
  ck_assert(steps[0] == 400 && steps[1] == 300);
  tl_free(steps);
  ck_assert_int_eq(tl_checkpoint_step("checkpoint_000000000300.tck"), 300);
  ck_assert_int_eq(tl_checkpoint_step("checkpoint_000000000300.tck.17.tmp"), -1);
  ck_assert_int_eq(tl_checkpoint_step("checkpoint_3.tck"), -1);
}
END_TEST

START_TEST(an_unfinished_one_leaves_nothing) {
  char folder[512];
  TlCheckpointWriter *w;
  int64_t *steps, count;
  snprintf(folder, sizeof folder, "%s/unfinished", tl_test_folder());
  CK_OK(tl_dir_make(folder));
  CK_OK(tl_checkpoint_create(&w, folder, 3));
  CK_OK(tl_checkpoint_section(w, "study", "text", 1, 5));
  tl_checkpoint_abort(w);
  CK_OK(tl_checkpoint_list(folder, &steps, &count));
  ck_assert_int_eq(count, 0);
  tl_free(steps);
  ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

START_TEST(a_full_disk_leaves_the_older_one) {
  const char *folder = make("full", 10);
  char path[600];
  struct rlimit old, small;
  TlCheckpointWriter *w;
  TlCheckpoint *c;
  Row rows[ROWS] = {{0}};
  signal(SIGXFSZ, SIG_IGN);
  ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
  small = (struct rlimit){20000, old.rlim_max};
  ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
  CK_OK(tl_checkpoint_create(&w, folder, 10)); /* the same step: the whole one must survive */
  CK_OK(tl_checkpoint_section(w, "rows", layout, sizeof(Row), ROWS));
  TlStatus status = tl_checkpoint_rows(w, rows, ROWS);
  if (status == TL_OK)
    status = tl_checkpoint_commit(w, true);
  else
    tl_checkpoint_abort(w);
  setrlimit(RLIMIT_FSIZE, &old);
  ck_assert_int_eq(status, TL_EIO);
  snprintf(path, sizeof path, "%s/checkpoint_000000000010.tck: ", folder);
  ck_assert_ptr_nonnull(strstr(tl_message(), path));
  CK_OK(tl_checkpoint_open(&c, folder, 10, true));
  tl_checkpoint_close(c);
}
END_TEST

/* Against the exact sum by hand, in any order, and where plain adding loses everything. */
START_TEST(exact_sums_know_no_order) {
  static const double term[] = {1e300, 1.0,       -1e300, 1e-300, 0.1,
                                -0.1,  0x1p-1074, -3.5,   1e16,   -1e16};
  enum { N = sizeof term / sizeof *term };
  TlExact up = {{0}}, down = {{0}};
  for (int i = 0; i < N; i++) {
    tl_exact_add(&up, term[i]);
    tl_exact_add(&down, term[N - 1 - i]);
  }
  ck_assert(tl_exact_value(&up) == -2.5 && tl_exact_value(&down) == -2.5);
  tl_exact_add(&up, 2.5);
  ck_assert(tl_exact_value(&up) == 1e-300); /* and 2^-1074, under its last digit */
  TlExact tenth = {{0}};
  for (int i = 0; i < 1000; i++) tl_exact_add(&tenth, 0.1);
  CK_NEAR(tl_exact_value(&tenth), 100, 100 * 0x1p-52);
  TlExact negative = {{0}};
  tl_exact_add(&negative, -0x1p-1074);
  ck_assert(tl_exact_value(&negative) == -0x1p-1074);
  tl_exact_add(&negative, NAN);
  ck_assert(isnan(tl_exact_value(&negative)));
}
END_TEST

TL_TEST_MAIN("checkpoint", what_was_written_is_read_back, no_damage_goes_unseen,
             verification_is_shared, the_newest_are_kept, an_unfinished_one_leaves_nothing,
             a_full_disk_leaves_the_older_one, exact_sums_know_no_order)
