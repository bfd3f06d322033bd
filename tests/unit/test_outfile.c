#include "support/tltest.h"

#include "base/claims.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/report.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char *at(const char *name) {
  char *path = tl_path_join(tl_test_folder(), name);
  ck_assert_ptr_nonnull(path);
  return path;
}

static void put(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  ck_assert_ptr_nonnull(file);
  fputs(text, file);
  ck_assert_int_eq(fclose(file), 0);
}

static bool holds(const char *path, const char *text) {
  char *there;
  size_t size;
  FILE *file = fopen(path, "r"); /* not tl_file_read: that would claim it */
  if (!file) return false;
  there = tl_calloc(100, 1);
  size = fread(there, 1, 99, file);
  fclose(file);
  bool same = size == strlen(text) && strcmp(there, text) == 0;
  tl_free(there);
  return same;
}

/* ---- claims ---- */

START_TEST(an_input_is_not_replaced_by_whatever_name_leads_to_it) {
  char *input = at("in"), *link_name = at("link"), *hard = at("hard"), *folder = at("folder"),
       *round = at("folder/../in"), *inside = at("folder/link"), *other = at("other");
  put(input, "raw");
  put(other, "x");
  ck_assert_int_eq(mkdir(folder, 0777), 0);
  ck_assert_int_eq(symlink("in", link_name), 0);
  ck_assert_int_eq(symlink("../link", inside), 0);
  ck_assert_int_eq(link(input, hard), 0);
  const char *const names[] = {input, link_name, hard, round, inside};
  for (int reader = 0; reader < 5; reader++) {
    CK_OK(tl_claim_read(names[reader]));
    for (int k = 0; k < 5; k++) {
      TlOutFile out;
      CK_FAILS(tl_outfile_begin(&out, names[k], true), TL_EUSAGE, names[reader]);
      ck_assert_ptr_nonnull(strstr(tl_message(), names[k]));
      CK_FAILS(tl_claim_write(names[k], "-o"), TL_EUSAGE, "-o ");
      CK_FAILS(tl_claim_replace(names[k]), TL_EUSAGE, "would replace");
    }
    CK_OK(tl_claim_replace(other));
    tl_claims_forget();
  }
  for (int writer = 0; writer < 5; writer++) { /* the other way round */
    CK_OK(tl_claim_write(names[writer], "--preview"));
    for (int k = 0; k < 5; k++) CK_FAILS(tl_claim_read(names[k]), TL_EUSAGE, "--preview");
    CK_OK(tl_claim_read(other));
    tl_claims_forget();
  }
  ck_assert(holds(input, "raw"));
  ck_assert_int_eq(tl_test_temporaries(tl_test_folder()), 0);
  char *const all[] = {input, link_name, hard, folder, round, inside, other};
  for (int k = 0; k < 7; k++) tl_free(all[k]);
}
END_TEST

START_TEST(own_products_may_be_read_and_replaced_and_other_files_may_come_and_go) {
  char *path = at("product"), *old = at("old"), *new_name = at("new");
  tl_claims_forget();
  CK_OK(tl_claim_write(path, "-o"));
  CK_OK(tl_file_write(path, "1", 1, false));
  CK_OK(tl_claim_read(path));
  CK_OK(tl_file_write(path, "22", 2, true));
  ck_assert(holds(path, "22"));
  /* an input that is gone gives its inode's number away */
  put(old, "x");
  CK_OK(tl_claim_read(old));
  ck_assert_int_eq(rename(old, new_name), 0);
  CK_OK(tl_file_write(new_name, "3", 1, true));
  CK_OK(tl_claim_read(tl_test_folder())); /* folders and what is not there are nobody's */
  CK_OK(tl_claim_read(old));
  char *one = at("a"), *same = at("./a");
  CK_OK(tl_claim_write(one, "-o"));
  CK_FAILS(tl_claim_write(same, "--plot"), TL_EUSAGE, "name the same file");
  tl_free(one);
  tl_free(same);
  tl_claims_forget();
  tl_free(path);
  tl_free(old);
  tl_free(new_name);
}
END_TEST

START_TEST(an_input_that_is_opened_while_its_product_is_written_stays) {
  TlOutFile out;
  char *path = at("late");
  put(path, "raw");
  CK_OK(tl_outfile_begin(&out, path, true));
  put(out.temp, "new");
  CK_OK(tl_claim_read(path));
  CK_FAILS(tl_outfile_commit(&out), TL_EUSAGE, "would replace");
  ck_assert(holds(path, "raw"));
  ck_assert_int_eq(tl_test_temporaries(tl_test_folder()), 0);
  tl_claims_forget();
  tl_free(path);
}
END_TEST

START_TEST(claims_survive_failing_allocations) {
  char *in = at("alloc.in"), *out = at("alloc.out");
  put(in, "raw");
  int failures = 0;
  for (int64_t k = 1; k < 60; k++) {
    tl_claims_forget();
    tl_mem_fail_at(k);
    TlStatus status = tl_claim_read(in);
    if (status == TL_OK) status = tl_claim_write(out, "-o");
    if (status == TL_OK) status = tl_file_write(out, "x", 1, true);
    tl_mem_fail_at(0);
    ck_assert_msg(status == TL_OK || status == TL_ENOMEM, "k %d: %s", (int)k, tl_message());
    failures += status != TL_OK;
    ck_assert_int_eq(tl_test_temporaries(tl_test_folder()), 0);
  }
  ck_assert_int_ge(failures, 10);
  tl_claims_forget();
  tl_free(in);
  tl_free(out);
}
END_TEST

/* ---- temporaries ---- */

START_TEST(a_temporary_is_a_new_file_and_its_name_says_whose_it_is) {
  TlOutFile out;
  char *path = at("whose");
  struct stat info;
  size_t length;
  CK_OK(tl_outfile_begin(&out, path, false));
  ck_assert_int_eq(lstat(out.temp, &info), 0);
  ck_assert(S_ISREG(info.st_mode) && info.st_size == 0);
  ck_assert(tl_outfile_is_temp(strrchr(out.temp, '/') + 1, &length));
  ck_assert_uint_eq(length, strlen("whose"));
  TlOutFile second; /* of the same product at once */
  CK_OK(tl_outfile_begin(&second, path, false));
  ck_assert_str_ne(out.temp, second.temp);
  put(out.temp, "first");
  put(second.temp, "second");
  CK_OK(tl_outfile_commit(&out));
  CK_FAILS(tl_outfile_commit(&second), TL_EUSAGE, "another process has made it");
  ck_assert(holds(path, "first"));
  ck_assert_int_eq(tl_test_temporaries(tl_test_folder()), 0);
  static const char *const others[] = {"whose",
                                       "whose.tmp",
                                       "whose.1234.tmp",
                                       ".01234567-1-2-89abcdef.tmp",
                                       "a.01234567-1-2-89abcdeg.tmp",
                                       "a.01234567-1-2-89abcdef0.tmp",
                                       "a.0123456-1-2-89abcdef.tmp",
                                       "a.01234567--2-89abcdef.tmp",
                                       "a.01234567-1- 2-89abcdef.tmp",
                                       "a.01234567-1-2-89abcdef.tmpx",
                                       "a.01234567-99999999999999999999-2-89abcdef.tmp",
                                       "-1-2-.tmp",
                                       "",
                                       ".tmp"};
  for (size_t k = 0; k < sizeof others / sizeof *others; k++)
    ck_assert_msg(!tl_outfile_is_temp(others[k], &length), "%s", others[k]);
  tl_free(path);
}
END_TEST

START_TEST(a_link_laid_where_the_old_names_were_leads_nowhere) {
  char *path = at("trap"), *victim = at("victim"), old[300];
  put(victim, "mine");
  snprintf(old, sizeof old, "%s.%ld.tmp", path, (long)getpid());
  ck_assert_int_eq(symlink("victim", old), 0);
  CK_OK(tl_file_write(path, "x", 1, false));
  ck_assert(holds(victim, "mine"));
  ck_assert(holds(path, "x"));
  tl_free(path);
  tl_free(victim);
}
END_TEST

/* A process that begins a product and is killed; its temporary's name. */
static void killed(const char *path, char *name, size_t size) {
  int ends[2];
  ck_assert_int_eq(pipe(ends), 0);
  pid_t child = fork();
  if (child == 0) {
    TlOutFile out;
    if (tl_outfile_begin(&out, path, true) != TL_OK) _exit(1);
    if (write(ends[1], out.temp, strlen(out.temp) + 1) < 0) _exit(1);
    raise(SIGKILL);
  }
  close(ends[1]);
  ssize_t got = read(ends[0], name, size);
  close(ends[0]);
  ck_assert_int_gt(got, 0);
  int ended;
  ck_assert_int_eq(waitpid(child, &ended, 0), child);
}

START_TEST(what_a_killed_process_left_goes_and_what_lives_or_is_anothers_stays) {
  char left[400], living[400], foreign[400], reused[400], odd[400];
  char *path = at("stale/product"), *folder = at("stale");
  ck_assert_int_eq(mkdir(folder, 0777), 0);
  killed(path, left, sizeof left);
  ck_assert(tl_file_exists(left));
  const char *mark = left + strlen(path) + 1; /* host-process-start-random.tmp */
  long process;
  unsigned long long start;
  ck_assert_int_eq(sscanf(mark + 8, "-%ld-%llu", &process, &start), 2);
  ck_assert_uint_gt(start, 0);
  /* our parent lives, with a start of its own; the same number with another start is gone */
  snprintf(foreign, sizeof foreign, "%s.%s%s", path, strncmp(mark, "0000", 4) ? "0000" : "1111",
           mark + 4);
  snprintf(reused, sizeof reused, "%s.%.8s-%ld-1-00000001.tmp", path, mark, (long)getpid());
  snprintf(odd, sizeof odd, "%s.%.8s-%ld-%llu-00000002.tmp", path, mark, process, start);
  TlOutFile own;
  CK_OK(tl_outfile_begin(&own, path, true));
  snprintf(living, sizeof living, "%s", own.temp);
  ck_assert_msg(!tl_file_exists(left), "%s", left); /* gone with the first begin */
  put(foreign, "x");
  put(reused, "x");
  ck_assert_int_eq(mkdir(odd, 0777), 0); /* no file of ours: left alone */
  pid_t child = fork();                  /* a process looks once at a folder */
  if (child == 0) {
    TlOutFile next;
    _exit(tl_outfile_begin(&next, at("stale/../stale/other"), true) == TL_OK ? 0 : 1);
  }
  int ended;
  ck_assert_int_eq(waitpid(child, &ended, 0), child);
  char *elsewhere = at("elsewhere");
  CK_OK(tl_file_write(elsewhere, "x", 1, true)); /* and once more after another folder */
  TlOutFile next;
  CK_OK(tl_outfile_begin(&next, path, true));
  tl_outfile_abort(&next);
  ck_assert(tl_file_exists(living));
  ck_assert(tl_file_exists(foreign));
  ck_assert(!tl_file_exists(reused));
  ck_assert(tl_file_exists(odd));
  put(reused, "x");
  CK_OK(tl_file_write(elsewhere, "x", 1, true));
  tl_free(elsewhere);
  tl_outfile_clear(folder); /* without a product */
  ck_assert(!tl_file_exists(reused) && tl_file_exists(living) && tl_file_exists(foreign));
  tl_outfile_abort(&own);
  ck_assert(!tl_file_exists(living));
  tl_free(path);
  tl_free(folder);
}
END_TEST

/* ---- one of several writers ---- */

START_TEST(of_many_writers_without_overwrite_exactly_one_succeeds) {
  enum { WRITERS = 8 };
  for (int way = TL_PLACE_RENAME; way <= TL_PLACE_RESERVE; way++) {
    char name[40];
    snprintf(name, sizeof name, "race%d", way);
    char *path = at(name);
    int ends[2], ended, made = 0, taken = 0;
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child[WRITERS];
    for (int k = 0; k < WRITERS; k++) {
      child[k] = fork();
      if (child[k] != 0) continue;
      char go, from[300];
      snprintf(from, sizeof from, "%s.%d", path, k);
      put(from, "whole");
      close(ends[1]);
      if (read(ends[0], &go, 1) != 0) _exit(9); /* all at once: the pipe's end */
      TlStatus status = tl_file_place(from, path, (TlPlaceWay)way);
      if (status == TL_OK && access(from, F_OK) == 0) _exit(8);
      if (status != TL_OK && !holds(from, "whole")) _exit(7);
      _exit(status == TL_OK ? 0 : status == TL_EUSAGE ? 2 : 1);
    }
    close(ends[0]);
    close(ends[1]);
    for (int k = 0; k < WRITERS; k++) {
      ck_assert_int_eq(waitpid(child[k], &ended, 0), child[k]);
      made += WIFEXITED(ended) && WEXITSTATUS(ended) == 0;
      taken += WIFEXITED(ended) && WEXITSTATUS(ended) == 2;
    }
    ck_assert_msg(made == 1 && taken == WRITERS - 1, "way %d: %d made it, %d were told", way, made,
                  taken);
    ck_assert(holds(path, "whole"));
    tl_free(path);
  }
}
END_TEST

START_TEST(what_is_no_file_is_not_replaced) {
  TlOutFile out;
  char *pipe_name = at("pipe"), *dangling = at("dangling");
  ck_assert_int_eq(mkfifo(pipe_name, 0666), 0);
  CK_FAILS(tl_outfile_begin(&out, pipe_name, true), TL_EUSAGE, "a pipe");
  CK_FAILS(tl_outfile_begin(&out, tl_test_folder(), true), TL_EUSAGE, "is a folder");
  CK_FAILS(tl_outfile_begin(&out, "/dev/null", true), TL_EUSAGE, "/dev/null");
  ck_assert_int_eq(symlink("nowhere", dangling), 0);
  CK_FAILS(tl_outfile_begin(&out, dangling, false), TL_EUSAGE, "already exists");
  tl_free(pipe_name);
  tl_free(dangling);
}
END_TEST

/* ---- text ---- */

static void shows(const char *text, const char *wanted) {
  char *shown;
  size_t size;
  FILE *to = open_memstream(&shown, &size);
  tl_text_show(to, text);
  fclose(to);
  ck_assert_str_eq(shown, wanted);
  free(shown);
}

START_TEST(text_is_shown_with_escapes_for_what_terminals_act_on) {
  shows("scan 1.tif", "scan 1.tif");
  shows("Gr\xc3\xb6\xc3\x9f"
        "e \xe2\x82\xac \xf0\x9f\xaa\xa8 \\n",
        "Gr\xc3\xb6\xc3\x9f"
        "e \xe2\x82\xac \xf0\x9f\xaa\xa8 \\n");
  shows("a\nb\rc\td", "a\\nb\\rc\\td");
  shows("\x1b[2J\x07\x7f", "\\x1b[2J\\x07\\x7f");
  shows("\xc2\x9b"
        "31m\xc2\xa0",
        "\\x9b31m\xc2\xa0"); /* C1 controls; a no-break space is none */
  shows("\xe2\x80\xae"
        "fdp",
        "\\u202efdp");                                             /* writes backwards */
  shows("M\xfcller \xff\xfe \x9b", "M\\xfcller \\xff\\xfe \\x9b"); /* no UTF-8 */
  shows("\xc3", "\\xc3");                                          /* cut short */
  shows("\xe2\x82", "\\xe2\\x82");
  shows(
      "\xc0\xaf \xe0\x80\xaf \xed\xa0\x80 \xf4\x90\x80\x80", /* overlong, half a pair, too large */
      "\\xc0\\xaf \\xe0\\x80\\xaf \\xed\\xa0\\x80 \\xf4\\x90\\x80\\x80");
  char *quoted = tl_json_quote("a\"\\\x1b\xc2\x9b\xfc\xc3\xbc\xe2\x80\xae");
  ck_assert_str_eq(quoted, "\"a\\\"\\\\\\u001b\\u009b\\u00fc\xc3\xbc\\u202e\"");
  tl_free(quoted);
}
END_TEST

TL_TEST_MAIN("outfile", an_input_is_not_replaced_by_whatever_name_leads_to_it,
             own_products_may_be_read_and_replaced_and_other_files_may_come_and_go,
             an_input_that_is_opened_while_its_product_is_written_stays,
             claims_survive_failing_allocations,
             a_temporary_is_a_new_file_and_its_name_says_whose_it_is,
             a_link_laid_where_the_old_names_were_leads_nowhere,
             what_a_killed_process_left_goes_and_what_lives_or_is_anothers_stays,
             of_many_writers_without_overwrite_exactly_one_succeeds,
             what_is_no_file_is_not_replaced, text_is_shown_with_escapes_for_what_terminals_act_on)
