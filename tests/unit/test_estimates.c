/* What users are told about time and disk, and random numbers that must stay what they are: a seed
 * makes the same specimen in every version. */
#include "support/tltest.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/par.h"
#include "base/random.h"
#include "run/plan.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* By an implementation of SplitMix64 and Box and Muller's formula in another language. */
START_TEST(random_numbers_are_those_of_every_version) {
  const struct {
    uint64_t seed, stream, index, bits;
    double uniform, normal;
  } known[] = {{0, 0, 0, 0x8a2da167cc9cd5acu, 0.5397587660232717, -1.2231700338840652},
               {1, 2, 3, 0x54751fd1944cea13u, 0.3299121748607835, 0.8934151693187116},
               {18446744073709551615u, 7, 1099511627776, 0xbead12167579fff6u, 0.7448283486205368,
                -0.2611212329606011}};
  for (int i = 0; i < 3; i++) {
    uint64_t s = known[i].seed, t = known[i].stream, k = known[i].index;
    ck_assert(tl_random_bits(s, t, k) == known[i].bits);
    CK_NEAR(tl_random_uniform(s, t, k), known[i].uniform, 1e-16);
    CK_NEAR(tl_random_normal(s, t, k), known[i].normal, 1e-14);
    TlRandom r = {s, t, k};
    CK_NEAR(tl_random_next(&r), known[i].uniform, 1e-16);
    ck_assert(r.index == k + 1);
  }
}
END_TEST

/* What is written to stderr meanwhile. */
static char *said_of(const TlProgress *start, int64_t done) {
  char *path = tl_path_join(tl_test_folder(), "said.txt"), *text;
  size_t size;
  int before = dup(STDERR_FILENO);
  ck_assert_ptr_nonnull(freopen(path, "w", stderr));
  TlProgress progress = *start;
  tl_progress(&progress, done);
  fflush(stderr);
  dup2(before, STDERR_FILENO);
  close(before);
  CK_OK(tl_file_read(path, &text, &size));
  tl_free(path);
  return text;
}

/* Without a terminal a line whenever another tenth is done, not in the first second. */
START_TEST(progress_says_what_is_done_and_what_is_left) {
  tl_log_set("test", TL_LOG_INFO);
  TlProgress p = tl_progress_start("slices", 200);
  p.bar = p.silent = false;
  p.start_s = tl_clock_s() - 100;
  p.last_shown = 40;
  char *text = said_of(&p, 80);
  ck_assert_msg(strcmp(text, "test: slices:  40%, 100.0 s, 150 s left\n") == 0, "%s", text);
  tl_free(text);
  p.last_shown = 60;
  text = said_of(&p, 79); /* in the same tenth */
  ck_assert_str_eq(text, "");
  tl_free(text);
  p.last_shown = 0;
  text = said_of(&p, 200); /* the end needs no word */
  ck_assert_str_eq(text, "");
  tl_free(text);
  p.start_s = tl_clock_s();
  text = said_of(&p, 100); /* quick work needs none */
  ck_assert_str_eq(text, "");
  tl_free(text);
}
END_TEST

static int64_t bytes_in(const char *folder, const char *const *names, int count) {
  int64_t sum = 0;
  for (int i = 0; i < count; i++) {
    char *path = tl_path_join(folder, names[i]);
    int64_t size;
    CK_OK(tl_file_size(path, &size));
    sum += size;
    tl_free(path);
  }
  return sum;
}

/* 100 balls, eleven frames and one more at the end, 51 lines, two checkpoints kept: the results
 * come to no more than was said, and to more than half of it. */
START_TEST(the_disk_estimate_bounds_what_a_run_writes) {
  static const char text[] =
      "time: {dt_s: 1.0e-3, steps: 105, frame_every_s: 1.0e-2, history_every_s: 2.0e-3}\n"
      "shapes: [{name: ball, diameter_m: 0.01}]\n"
      "bodies: [{shape: ball, position_m: [0, 0, 0.01], count: 100, step_m: [0.02, 0.001, "
      "0.001]}]\n"
      "planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]\n"
      "checkpoint: {every_steps: 50}\n";
  static const char *const names[] = {"history.csv",
                                      "frame_000000.h5",
                                      "frame_000001.h5",
                                      "frame_000002.h5",
                                      "frame_000003.h5",
                                      "frame_000004.h5",
                                      "frame_000005.h5",
                                      "frame_000006.h5",
                                      "frame_000007.h5",
                                      "frame_000008.h5",
                                      "frame_000009.h5",
                                      "frame_000010.h5",
                                      "frame_000011.h5",
                                      "checkpoint_000000000100.tck",
                                      "checkpoint_000000000105.tck"};
  TlRun run;
  char *study = tl_path_join(tl_test_folder(), "disk.yaml"),
       *results = tl_path_join(tl_test_folder(), "disk.run");
  CK_OK(tl_file_write(study, text, strlen(text), true));
  TlRunOptions options = {.study = study, .output = results, .overwrite = true};
  tl_par_set_threads(1);
  CK_OK(tl_run_open(&run, NULL, &options));
  int64_t said = tl_run_disk(&run), memory = tl_run_memory(&run, TL_CONTACTS_PACKED);
  CK_OK(tl_run_go(&run));
  int64_t written = bytes_in(results, names, sizeof names / sizeof *names);
  ck_assert_msg(written <= said && written > said / 2, "%lld bytes, said were %lld",
                (long long)written, (long long)said);
  ck_assert(memory > (40 << 20) && memory < (43 << 20));
  tl_run_close(&run);
  tl_free(study);
  tl_free(results);
}
END_TEST

TL_TEST_MAIN("estimates", random_numbers_are_those_of_every_version,
             progress_says_what_is_done_and_what_is_left,
             the_disk_estimate_bounds_what_a_run_writes)
