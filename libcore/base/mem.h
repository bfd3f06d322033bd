/* Memory: overflow-checked, zeroed allocation with a message on failure; growable arrays; arena.
 *
 * TL_NEW(p, n) allocates n zeroed elements of *p; TL_RESERVE(p, cap, need) grows p so that it holds
 * need elements (cap is updated, doubling); both give TL_OK or TL_ENOMEM and leave p valid.
 * Release with tl_free(). Counts are size_t: a 2000^3 stack has 8e9 voxels.
 */
#ifndef TL_BASE_MEM_H
#define TL_BASE_MEM_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/* Zeroed memory for count*size bytes (64-byte aligned); NULL with a message when it cannot be had.
 * A count of 0 gives a valid pointer. Owner: the caller. */
void *tl_calloc(size_t count, size_t size);
/* realloc with the same rules; new bytes are not zeroed; on failure the old block stays valid. */
void *tl_realloc(void *block, size_t old_count, size_t count, size_t size);
void tl_free(void *block);
/* Releases and forgets: the pointer is NULL afterwards, so that whoever owns it may release again.
 */
#define TL_FREE(p) (tl_free(p), (p) = NULL)
/* Copy of a string; NULL with a message when memory is out. */
char *tl_strdup(const char *text);
/* printf into fresh memory; NULL with a message when memory is out. */
char *tl_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define TL_NEW(p, count) (((p) = tl_calloc((count), sizeof *(p))) ? TL_OK : TL_ENOMEM)

void *tl_reserve_(void *block, size_t *capacity, size_t need, size_t size);
/* A statement expression (GNU and Clang): evaluates to a TlStatus. */
#define TL_RESERVE(p, capacity, need)                                                              \
  __extension__({                                                                                  \
    TlStatus tl_reserve_status_ = TL_OK;                                                           \
    if ((size_t)(need) > (capacity)) {                                                             \
      void *tl_moved_ = tl_reserve_((p), &(capacity), (size_t)(need), sizeof *(p));                \
      if (tl_moved_)                                                                               \
        (p) = tl_moved_;                                                                           \
      else                                                                                         \
        tl_reserve_status_ = TL_ENOMEM;                                                            \
    }                                                                                              \
    tl_reserve_status_;                                                                            \
  })

/* Test hook: the k-th allocation from now fails (0 switches it off). Not thread-safe. */
void tl_mem_fail_at(int64_t k);

/* Scratch arena: push blocks, reset all at once; blocks are 64-byte aligned and not zeroed. */
typedef struct TlArena {
  struct TlArenaChunk *chunks;
  size_t size, wanted; /* bytes of all chunks; of the next one, where there is none */
} TlArena;
void *tl_arena_push(TlArena *arena, size_t count, size_t size); /* NULL with a message */
void tl_arena_reset(TlArena *arena);
void tl_arena_free(TlArena *arena);

/* From now on blocks of this many bytes or more go back to the system when they are freed, where
 * the C library can do that: it would keep up to some 32 MB of each size in hand, which a stage
 * that promises its memory cannot have. Costs the pages of each such block anew. */
void tl_mem_give_back(int64_t bytes);
/* Memory of this machine, bytes; 0 when the system does not report it. The sizes in a file are held
 * against it before it is asked for: the kernel would kill the program without a word. */
int64_t tl_mem_machine_bytes(void);
/* Peak resident memory of this process so far, bytes. */
int64_t tl_mem_peak_bytes(void);
/* Of its resident memory, what it may have in common with other processes (Linux; elsewhere 0), bytes. */
int64_t tl_mem_common_bytes(void);

#endif
