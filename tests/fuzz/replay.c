/* Runs the harnesses over files, without libFuzzer: fuzz-replay [--flips=N | --say] READER FILE...
 * Each file is given as it is, then N times with bits turned over, bytes set and its end cut off
 * (the same ones each time). A reader that does more than return ends the process; an input that
 * takes longer than LONGEST_S of processor time is a failure. "fuzz-replay" alone lists the
 * readers. */
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/random.h"
#include "fuzz/fuzz.h"
#include "fuzz/made.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READERS(R)                                                                                 \
  R(h5_stack)                                                                                      \
  R(h5_dictionary)                                                                                 \
  R(h5_run)                                                                                        \
  R(h5_frame)                                                                                      \
  R(volume)                                                                                        \
  R(tiff)                                                                                          \
  R(raw)                                                                                           \
  R(stl)                                                                                           \
  R(obj)                                                                                           \
  R(ply)                                                                                           \
  R(csv)                                                                                           \
  R(study)                                                                                         \
  R(raster)                                                                                        \
  R(vector)                                                                                        \
  R(morphology)                                                                                    \
  R(catalog)                                                                                       \
  R(catalog_rows)                                                                                  \
  R(checkpoint)                                                                                    \
  R(resume)

#define R(name) void tl_fuzz_##name(const uint8_t *bytes, size_t size);
READERS(R)
#undef R

static const struct {
  const char *name;
  void (*run)(const uint8_t *bytes, size_t size);
} readers[] = {
#define R(name) {#name, tl_fuzz_##name},
    READERS(R)
#undef R
};
enum { COUNT = sizeof readers / sizeof *readers, LONGEST_S = 20 };

static uint64_t draw(uint64_t i, uint64_t below) {
  return tl_random_bits(17, 0, i) % below;
}

/* The k-th change of the bytes; the new size. */
static size_t spoil(uint8_t *bytes, size_t size, uint64_t k) {
  uint64_t at = 100 * k, changes = 1 + draw(at, 4);
  if (size == 0) return 0;
  for (uint64_t i = 0; i < changes; i++) {
    uint64_t place = draw(at + 10 * i + 1, size);
    switch (draw(at + 10 * i + 2, 3)) {
    case 0:
      bytes[place] ^= (uint8_t)(1u << draw(at + 10 * i + 3, 8));
      break;
    case 1:
      bytes[place] = (uint8_t)draw(at + 10 * i + 3, 256);
      break;
    default:
      bytes[place] = draw(at + 10 * i + 3, 2) ? 0xff : 0;
    }
  }
  return draw(at + 5, 10) == 0 ? (size_t)draw(at + 6, size) : size;
}

static void run_one(int r, const char *path, uint64_t flip, const void *bytes, size_t size) {
  double start = tl_clock_process_cpu_s();
  /* memory of exactly this size: a read past its end is seen */
  uint8_t *exact = malloc(size ? size : 1);
  if (!exact) abort();
  memcpy(exact, bytes, size);
  readers[r].run(exact, size);
  free(exact);
  double took = tl_clock_process_cpu_s() - start;
  if (took <= LONGEST_S) return;
  fprintf(stderr, "%s: %s, change %llu: took %.1f s\n", readers[r].name, path,
          (unsigned long long)flip, took);
  exit(1);
}

int main(int argc, char **argv) {
  uint64_t flips = 0;
  int r = 0, first = 1;
  if (argc > 1 && strncmp(argv[1], "--flips=", 8) == 0) {
    flips = strtoull(argv[1] + 8, NULL, 10);
    first = 2;
  } else if (argc > 1 && strcmp(argv[1], "--say") == 0) {
    tl_fuzz_says = true;
    first = 2;
  }
  for (; argc <= first && r < COUNT; r++) printf("%s\n", readers[r].name);
  if (argc <= first) return 0;
  while (r < COUNT && strcmp(readers[r].name, argv[first]) != 0) r++;
  if (r == COUNT) return fprintf(stderr, "no reader '%s'\n", argv[first]), 2;
  for (int f = first + 1; f < argc; f++) {
    char *bytes;
    size_t size;
    tl_fuzz_must(tl_file_read(argv[f], &bytes, &size));
    if (tl_fuzz_says) printf("%s\n", argv[f]);
    run_one(r, argv[f], 0, bytes, size);
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy) abort();
    for (uint64_t k = 1; k <= flips; k++) {
      memcpy(copy, bytes, size);
      size_t left = spoil(copy, size, k);
      if (strcmp(readers[r].name, "resume") == 0) tl_made_mend_checkpoint(copy, left);
      run_one(r, argv[f], k, copy, left);
    }
    free(copy);
    tl_free(bytes);
  }
  printf("%s: %d files, %llu changes of each\n", readers[r].name, argc - first - 1,
         (unsigned long long)flips);
  return 0;
}
