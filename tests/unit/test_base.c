#include "support/tltest.h"

#include "base/log.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/par.h"
#include "base/provenance.h"
#include "base/random.h"
#include "base/report.h"

#include <stdio.h>
#include <unistd.h>

START_TEST(failure_carries_its_message_and_context) {
  ck_assert_int_eq(tl_fail(TL_EINPUT, "slice %d is short", 7), TL_EINPUT);
  ck_assert_int_eq(tl_context(TL_EINPUT, "a.tif"), TL_EINPUT);
  ck_assert_str_eq(tl_message(), "a.tif: slice 7 is short");
  ck_assert_int_eq(tl_fail(TL_EIO, "%s again", tl_message()), TL_EIO); /* may quote itself */
  ck_assert_str_eq(tl_message(), "a.tif: slice 7 is short again");
  ck_assert_int_eq(tl_exit_code(TL_EUSAGE), 2);
  ck_assert_int_eq(tl_exit_code(TL_EIO), 1);
}
END_TEST

START_TEST(allocation_overflow_and_failure_are_reported) {
  int *p;
  ck_assert_ptr_null(tl_calloc(SIZE_MAX / 2, 4));
  tl_mem_fail_at(2);
  ck_assert_int_eq(TL_NEW(p, 3), TL_OK);
  tl_free(p);
  ck_assert_int_eq(TL_NEW(p, 3), TL_ENOMEM);
  ck_assert_ptr_nonnull(strstr(tl_message(), "out of memory"));
  tl_mem_fail_at(0);
}
END_TEST

START_TEST(reserve_keeps_what_was_there) {
  int *p = NULL;
  size_t capacity = 0;
  for (int i = 0; i < 1000; i++) {
    CK_OK(TL_RESERVE(p, capacity, i + 1));
    p[i] = i;
  }
  for (int i = 0; i < 1000; i++) ck_assert_int_eq(p[i], i);
  tl_free(p);
}
END_TEST

/* A caller may have made the first block itself, as large as it needed. */
START_TEST(reserve_grows_a_block_of_any_capacity) {
  for (size_t first = 1; first < 5; first++) {
    size_t capacity = first;
    char *p;
    CK_OK(TL_NEW(p, first));
    CK_OK(TL_RESERVE(p, capacity, 100));
    ck_assert_uint_ge(capacity, 100);
    tl_free(p);
  }
}
END_TEST

START_TEST(arena_blocks_do_not_overlap) {
  TlArena arena = {0};
  for (int round = 0; round < 3; round++) {
    char *blocks[200];
    for (int i = 0; i < 200; i++) {
      blocks[i] = tl_arena_push(&arena, 1000, 1);
      memset(blocks[i], i, 1000);
    }
    for (int i = 0; i < 200; i++)
      for (int k = 0; k < 1000; k++) ck_assert_int_eq((unsigned char)blocks[i][k], i);
    tl_arena_reset(&arena);
  }
  tl_arena_free(&arena);
}
END_TEST

/* What a step used is had in one piece from the next one on, with an eighth to spare, and then nothing is
 * allocated: an allocation would fail. */
START_TEST(a_steady_arena_allocates_nothing) {
  enum { BLOCKS = 300, BYTES = 50000 };
  TlArena arena = {0};
  for (int round = 0; round < 4; round++) {
    if (round == 2) tl_mem_fail_at(1);
    for (int i = 0; i < BLOCKS; i++) ck_assert_ptr_nonnull(tl_arena_push(&arena, BYTES, 1));
    if (round > 0) ck_assert_uint_le(arena.size, (size_t)BLOCKS * (BYTES + 64) * 9 / 8);
    tl_arena_reset(&arena);
  }
  ck_assert_ptr_null(tl_arena_push(&arena, arena.size + 1, 1)); /* so the hook was set */
  tl_mem_fail_at(0);
  tl_arena_free(&arena);
}
END_TEST

START_TEST(output_file_is_whole_or_absent) {
  char path[128];
  snprintf(path, sizeof path, "%s/out.txt", tl_test_folder());
  TlOutFile out;
  CK_OK(tl_outfile_begin(&out, path, false));
  FILE *file = fopen(out.temp, "w");
  fputs("half", file);
  fclose(file);
  tl_outfile_abort(&out);
  ck_assert(!tl_file_exists(path));
  CK_OK(tl_file_write(path, "whole", 5, false));
  CK_FAILS(tl_file_write(path, "other", 5, false), TL_EUSAGE, "--overwrite");
  char *text;
  size_t size;
  CK_OK(tl_file_read(path, &text, &size));
  ck_assert_str_eq(text, "whole");
  tl_free(text);
  CK_FAILS(tl_file_write("/nonexistent/x", "a", 1, false), TL_EIO, "/nonexistent");
}
END_TEST

START_TEST(sha256_is_the_published_one) {
  char hex[65];
  CK_OK(tl_sha256("abc", 3, hex)); /* FIPS 180-4 example */
  ck_assert_str_eq(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}
END_TEST

static TlStatus sum_block(void *context, int64_t begin, int64_t end, int64_t block, int thread) {
  (void)thread;
  double *sums = context;
  for (int64_t i = begin; i < end; i++) sums[block] += 1.0 / (double)(i + 1);
  return block == 3 && sums[99] != 0 ? tl_fail(TL_EINPUT, "block 3") : TL_OK;
}

START_TEST(block_sums_have_the_same_bits_for_any_thread_count) {
  double total[3];
  for (int t = 1; t <= 3; t++) {
    double sums[100] = {0};
    tl_par_set_threads(t);
    CK_OK(tl_par_blocks(10000, 101, sum_block, sums));
    total[t - 1] = 0;
    for (int b = 0; b < 100; b++) total[t - 1] += sums[b];
  }
  ck_assert(total[0] == total[1] && total[1] == total[2]);
  double sums[101] = {[99] = 1};
  CK_FAILS(tl_par_blocks(10100, 101, sum_block, sums), TL_EINPUT, "block 3");
}
END_TEST

static TlStatus note_thread(void *context, int64_t begin, int64_t end, int64_t block, int thread) {
  int *thread_of = context;
  (void)begin;
  (void)end;
  thread_of[block] = thread;
  double start = tl_clock_s();
  while (tl_clock_s() < start + 1e-3) continue; /* so that no thread does all */
  return block == 7 ? tl_fail(TL_EINPUT, "block 7") : TL_OK;
}

/* Blocks of a loop of this much work that another thread than the first did. */
static int done_by_others(double each_ns) {
  int thread_of[20], others = 0;
  CK_FAILS(tl_par_loop(200, 10, each_ns, note_thread, thread_of), TL_EINPUT, "block 7");
  for (int i = 0; i < 20; i++) others += thread_of[i] > 0;
  return others;
}

START_TEST(small_loops_stay_on_one_thread_and_large_ones_are_shared) {
  tl_par_set_threads(2);
  ck_assert(!tl_par_pays(100, 10) && tl_par_pays(1000000, 10));
  ck_assert_int_eq(done_by_others(10), 0);
  ck_assert_int_gt(done_by_others(1e6), 0);
  tl_par_set_threads(1);
  ck_assert(!tl_par_pays(1000000, 1000));
  ck_assert_int_eq(done_by_others(1e6), 0);
}
END_TEST

/* Loops of 0 to 99 blocks; a block's number comes from two of the loop before, so that a block done
 * too early, twice or not at all shows in all later ones. */
typedef struct Relay {
  uint64_t now[100], before[100];
  int loop;
  bool *caller; /* of the thread that opened the chain */
  int strangers;
} Relay;
static _Thread_local bool is_caller;

static int64_t next_leg(void *context) {
  Relay *r = context;
  r->strangers += &is_caller != r->caller;
  memcpy(r->before, r->now, sizeof r->now);
  r->loop++;
  return r->loop > 3000 ? 0 : 1 + r->loop * 37 % 99;
}

static void run_leg(void *context, int64_t block, int thread) {
  Relay *r = context;
  if (thread < 0 || thread >= tl_par_threads()) return; /* shows as not done */
  if ((block + r->loop) % 29 == 0)
    for (volatile int i = 0; i < 3000; i++) continue; /* some are late */
  r->now[block] = r->now[block] * 6364136223846793005u + r->before[(block + 1) % 100] +
                  (r->before[(7 * block + 3) % 100] >> 7) + (uint64_t)r->loop;
}

START_TEST(a_chain_of_loops_does_every_block_once_and_in_turn) {
  Relay alone = {.caller = &is_caller};
  tl_par_set_threads(1);
  CK_OK(tl_par_chain(&(TlParChain){next_leg, run_leg, &alone, false}, false));
  for (int threads = 1; threads <= 5; threads++)
    for (int only = 0; only < 2; only++) {
      Relay r = {.caller = &is_caller};
      tl_par_set_threads(threads);
      CK_OK(tl_par_chain(&(TlParChain){next_leg, run_leg, &r, only}, true));
      ck_assert(memcmp(r.now, alone.now, sizeof r.now) == 0);
      if (only) ck_assert_int_eq(r.strangers, 0);
    }
  tl_par_set_threads(1);
}
END_TEST

START_TEST(random_numbers_are_uniform_and_repeatable) {
  enum { N = 100000 };
  double mean = 0, square = 0, normal = 0, normal2 = 0;
  for (int i = 0; i < N; i++) {
    double u = tl_random_uniform(5, 7, (uint64_t)i), g = tl_random_normal(5, 8, (uint64_t)i);
    ck_assert(u >= 0 && u < 1);
    ck_assert(u == tl_random_uniform(5, 7, (uint64_t)i));
    mean += u / N, square += u * u / N, normal += g / N, normal2 += g * g / N;
  }
  /* five standard errors of each mean */
  CK_NEAR(mean, 0.5, 5 * sqrt(1.0 / 12 / N));
  CK_NEAR(square, 1.0 / 3, 5 * sqrt(4.0 / 45 / N));
  CK_NEAR(normal, 0, 5 / sqrt(N));
  CK_NEAR(normal2, 1, 5 * sqrt(2.0 / N));
}
END_TEST

START_TEST(provenance_grows_as_a_json_array) {
  char *argv[] = {"talus-x", "a \"quoted\" file"};
  TlProvenance p;
  tl_provenance_begin(&p, "talus-x", 2, argv);
  CK_OK(tl_provenance_parameter(&p, "sigma", "2"));
  char *one, *two;
  CK_OK(tl_provenance_append(&p, NULL, &one));
  CK_OK(tl_provenance_append(&p, one, &two));
  ck_assert_int_eq(two[0], '[');
  ck_assert_int_eq(two[strlen(two) - 1], ']');
  ck_assert_ptr_nonnull(strstr(one, "a \\\"quoted\\\" file"));
  ck_assert_ptr_nonnull(strstr(strstr(two, "\"tool\"") + 1, "\"tool\""));
  char *joined;
  CK_OK(tl_provenance_join("[{\"a\": 1}]", "[{\"b\": [2]}]", &joined));
  ck_assert_str_eq(joined, "[{\"a\": 1}, {\"b\": [2]}]");
  tl_free(joined);
  CK_OK(tl_provenance_join(NULL, "[{\"b\": 2}]", &joined));
  ck_assert_str_eq(joined, "[{\"b\": 2}]");
  tl_free(joined);
  CK_OK(tl_provenance_join("[]", NULL, &joined));
  ck_assert_str_eq(joined, "[]");
  tl_free(joined);
  tl_free(one);
  tl_free(two);
  tl_provenance_free(&p);
}
END_TEST

TL_TEST_MAIN("base", failure_carries_its_message_and_context,
             allocation_overflow_and_failure_are_reported, reserve_keeps_what_was_there,
             reserve_grows_a_block_of_any_capacity, arena_blocks_do_not_overlap,
             a_steady_arena_allocates_nothing, output_file_is_whole_or_absent,
             sha256_is_the_published_one, small_loops_stay_on_one_thread_and_large_ones_are_shared,
             a_chain_of_loops_does_every_block_once_and_in_turn,
             block_sums_have_the_same_bits_for_any_thread_count,
             random_numbers_are_uniform_and_repeatable, provenance_grows_as_a_json_array)
