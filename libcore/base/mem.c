#include "base/mem.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#if defined(__SANITIZE_ADDRESS__)
#define TL_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TL_SANITIZED 1
#endif
#endif
#ifdef TL_SANITIZED
#include <sanitizer/asan_interface.h>
#endif

enum { ALIGNMENT = 64 };

static _Atomic int64_t fail_countdown;

void tl_mem_fail_at(int64_t k) {
  atomic_store(&fail_countdown, k);
}

static int must_fail(void) {
  if (atomic_load_explicit(&fail_countdown, memory_order_relaxed) == 0) return 0;
  return atomic_fetch_sub(&fail_countdown, 1) == 1;
}

static size_t padded(size_t bytes) {
  return (bytes + ALIGNMENT) / ALIGNMENT * ALIGNMENT;
}

/* AddressSanitizer is told that what a block is padded with belongs to nobody. */
static void *without_padding(void *block, size_t bytes) {
#ifdef TL_SANITIZED
  ASAN_POISON_MEMORY_REGION((char *)block + bytes, padded(bytes) - bytes);
#else
  (void)bytes;
#endif
  return block;
}

static void *out_of_memory(size_t count, size_t size) {
  TlStatus status =
      tl_fail(TL_ENOMEM,
              "out of memory: %zu elements of %zu bytes asked for; end other programs, or give "
              "this one less to do at a time",
              count, size);
  (void)status; /* callers return TL_ENOMEM */
  return NULL;
}

void *tl_calloc(size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes) || bytes > PTRDIFF_MAX - ALIGNMENT || must_fail())
    return out_of_memory(count, size);
  void *block = aligned_alloc(ALIGNMENT, padded(bytes));
  if (!block) return out_of_memory(count, size);
  memset(block, 0, padded(bytes));
  return without_padding(block, bytes);
}

void *tl_realloc(void *block, size_t old_count, size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes) || bytes > PTRDIFF_MAX - ALIGNMENT || must_fail())
    return out_of_memory(count, size);
  void *grown = aligned_alloc(ALIGNMENT, padded(bytes)); /* realloc would lose the alignment */
  if (!grown) return out_of_memory(count, size);
  size_t kept = (old_count < count ? old_count : count) * size;
  if (block && kept) memcpy(grown, block, kept);
  free(block);
  return without_padding(grown, bytes);
}

void tl_free(void *block) {
  free(block);
}

char *tl_strdup(const char *text) {
  return tl_format("%s", text);
}

char *tl_format(const char *format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, args);
  va_end(args);
  char *text = tl_calloc((size_t)(length < 0 ? 0 : length) + 1, 1);
  if (text) vsnprintf(text, (size_t)length + 1, format, again);
  va_end(again);
  return text;
}

void *tl_reserve_(void *block, size_t *capacity, size_t need, size_t size) {
  size_t grown = *capacity ? *capacity : 16;
  while (grown < need) grown += grown / 2 + 1;
  void *moved = tl_realloc(block, *capacity, grown, size);
  if (moved) *capacity = grown;
  return moved;
}

typedef struct TlArenaChunk {
  struct TlArenaChunk *next;
  size_t used, size;
  unsigned char *bytes;
} TlArenaChunk;

/* Half as much again as there is, so that few chunks come in a step; what is not used of one is not
 * touched, and takes no memory. */
static TlArenaChunk *new_chunk(TlArena *arena, size_t bytes) {
  size_t half = arena->size / 2, size = arena->chunks ? half : arena->wanted;
  if (size < (size_t)1 << 16) size = (size_t)1 << 16;
  if (size < bytes) size = bytes;
  TlArenaChunk *chunk = tl_calloc(1, sizeof *chunk);
  if (!chunk) return NULL;
  chunk->bytes = tl_realloc(NULL, 0, size, 1);
  if (!chunk->bytes) {
    tl_free(chunk);
    return NULL;
  }
  chunk->size = size;
  chunk->next = arena->chunks;
  arena->chunks = chunk;
  arena->size += size;
  return chunk;
}

void *tl_arena_push(TlArena *arena, size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) return out_of_memory(count, size);
  bytes = padded(bytes);
  TlArenaChunk *chunk = arena->chunks;
  if (!chunk || chunk->size - chunk->used < bytes) chunk = new_chunk(arena, bytes);
  if (!chunk) return NULL;
  void *block = chunk->bytes + chunk->used;
  chunk->used += bytes;
  return block;
}

static void free_chunks(TlArena *arena) {
  for (TlArenaChunk *chunk = arena->chunks; chunk;) {
    TlArenaChunk *next = chunk->next;
    tl_free(chunk->bytes);
    tl_free(chunk);
    chunk = next;
  }
  arena->chunks = NULL;
  arena->size = 0;
}

/* One chunk stays, so a steady step allocates nothing. Several become one for all that was used and
 * an eighth more, when the next block is asked for. */
void tl_arena_reset(TlArena *arena) {
  TlArenaChunk *first = arena->chunks;
  if (!first) return;
  if (!first->next) {
    first->used = 0;
    return;
  }
  size_t used = 0;
  for (TlArenaChunk *chunk = first; chunk; chunk = chunk->next) used += chunk->used;
  free_chunks(arena);
  arena->wanted = used + used / 8;
}

void tl_arena_free(TlArena *arena) {
  free_chunks(arena);
  *arena = (TlArena){0};
}

void tl_mem_give_back(int64_t bytes) {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, (int)bytes);
#else
  (void)bytes;
#endif
}

int64_t tl_mem_machine_bytes(void) {
  int64_t pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? pages * size : 0;
}

int64_t tl_mem_common_bytes(void) {
  char line[256];
  long long kilobytes = 0;
  FILE *file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, "RssShmem: %lld kB", &kilobytes) == 1) break;
  if (file) fclose(file);
  return 1024 * (int64_t)kilobytes;
}

int64_t tl_mem_peak_bytes(void) {
  struct rusage usage;
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return (int64_t)usage.ru_maxrss * 1024;
}
