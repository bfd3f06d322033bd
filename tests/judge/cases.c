#include "judge/cases.h"

#include "judge/judge.h"

#include "base/par.h"
#include "base/provenance.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Kept { /* what a kept result begins with */
  char commit[64];
  size_t size;
} Kept;

static Kept kept_now(const JudgeCases *cases) {
  Kept head;
  memset(&head, 0, sizeof head);
  snprintf(head.commit, sizeof head.commit, "%s", tl_commit());
  head.size = cases->size;
  return head;
}

static const char *path_of(const JudgeCases *cases, int which, const char *end) {
  char name[96];
  snprintf(name, sizeof name, "%scase_%02d.%s", cases->named ? cases->named : "", which, end);
  return judge_path(name);
}

static bool take_kept(const JudgeCases *cases, int which, void *result) {
  Kept head, now = kept_now(cases);
  FILE *file = judge_full() ? fopen(path_of(cases, which, "bin"), "rb") : NULL;
  if (!file) return false;
  bool good = fread(&head, sizeof head, 1, file) == 1 && memcmp(&head, &now, sizeof now) == 0 &&
              fread(result, cases->size, 1, file) == 1;
  fclose(file);
  if (!good) memset(result, 0, cases->size);
  return good;
}

static void keep(const JudgeCases *cases, int which, const void *result) {
  Kept head = kept_now(cases);
  const char *path = path_of(cases, which, "bin"), *part = path_of(cases, which, "part");
  FILE *file = fopen(part, "wb");
  bool good =
      file && fwrite(&head, sizeof head, 1, file) == 1 && fwrite(result, cases->size, 1, file) == 1;
  if (file && fclose(file)) good = false;
  if (!good || rename(part, path)) judge_ok(tl_fail(TL_EIO, "cannot write %s", path), "keep");
}

typedef struct Shared {
  atomic_int next;
  _Alignas(max_align_t) char result[];
} Shared;

static void work(const JudgeCases *cases, Shared *shared) {
  tl_par_set_threads(1);
  for (int k = shared->next++; k < cases->count; k = shared->next++) {
    int which = cases->order ? cases->order[k] : k;
    void *result = shared->result + (size_t)which * cases->size;
    if (take_kept(cases, which, result)) continue;
    cases->run(which, result, cases->context);
    if (judge_full()) keep(cases, which, result);
  }
}

void *judge_cases(const JudgeCases *cases) {
  size_t bytes = sizeof(Shared) + (size_t)cases->count * cases->size;
  Shared *shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  bool whole = shared != MAP_FAILED;
  fflush(NULL); /* else each child writes what stands in the buffers again */
  for (int w = 0; whole && w < cases->count && w < tl_par_threads(); w++) {
    pid_t child = fork();
    if (child == 0) {
      work(cases, shared);
      fflush(NULL);
      _exit(0);
    }
    whole = child > 0;
  }
  for (int status; wait(&status) > 0;) whole = whole && status == 0;
  JUDGE_OK(whole ? TL_OK : tl_fail(TL_EIO, "a process of the cases failed"));
  return shared->result;
}
