#include "base/claims.h"

#include "base/file.h"
#include "base/mem.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct Claim {
  char *path, *canonical;
  uint64_t mark; /* a hash of canonical: stacks have thousands of slices */
  char *option;  /* of an output; owned */
  dev_t device;
  ino_t inode;
} Claim;

typedef struct List {
  Claim *items;
  size_t count, capacity;
} List;

static List reads, writes, made;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* Of a file that need not be there: its folder's canonical path and its name. */
static char *canonical_of(const char *path) {
  char *real = realpath(path, NULL), *full = NULL;
  if (real) {
    full = tl_strdup(real);
    free(real); /* realpath's own */
    return full;
  }
  const char *slash = strrchr(path, '/');
  char *folder = tl_path_directory(path);
  if (folder) {
    real = realpath(folder, NULL);
    full = tl_format("%s/%s", real ? real : folder, slash ? slash + 1 : path);
    free(real);
  }
  tl_free(folder);
  return full;
}

static void release(Claim *claim) {
  tl_free(claim->path);
  tl_free(claim->canonical);
  tl_free(claim->option);
}

static void clear(List *list) {
  for (size_t i = 0; i < list->count; i++) release(&list->items[i]);
  tl_free(list->items);
  *list = (List){0};
}

/* Takes the claim over, also when memory is out. */
static TlStatus add(List *list, Claim claim) {
  TlStatus status = TL_RESERVE(list->items, list->capacity, list->count + 1);
  if (status == TL_OK)
    list->items[list->count++] = claim;
  else
    release(&claim);
  return status;
}

/* The file as it is now; inode 0: there is none. */
static TlStatus look(const char *path, Claim *claim) {
  struct stat info = {0};
  *claim = (Claim){.path = tl_strdup(path), .canonical = canonical_of(path)};
  if (!claim->path || !claim->canonical) return release(claim), TL_ENOMEM;
  claim->mark = 14695981039346656037u; /* FNV-1a */
  for (const char *c = claim->canonical; *c; c++)
    claim->mark = (claim->mark ^ (unsigned char)*c) * 1099511628211u;
  if (stat(path, &info) != 0) return TL_OK;
  claim->device = info.st_dev;
  claim->inode = info.st_ino;
  return TL_OK;
}

/* Numbers of inodes are given out again: an older claim's holds while its own path leads there. */
static bool still_there(const Claim *claim) {
  struct stat info;
  return claim->inode && stat(claim->canonical, &info) == 0 && info.st_dev == claim->device &&
         info.st_ino == claim->inode;
}

static bool same(const Claim *old, const Claim *now) {
  if (old->mark == now->mark && strcmp(old->canonical, now->canonical) == 0) return true;
  return now->inode && old->inode == now->inode && old->device == now->device && still_there(old);
}

static Claim *find(const List *list, const Claim *claim) {
  for (size_t i = 0; i < list->count; i++)
    if (same(&list->items[i], claim)) return &list->items[i];
  return NULL;
}

static TlStatus refuse(const Claim *output, const Claim *input) {
  return tl_fail(
      TL_EUSAGE, "%s%s%s: would replace %s, which this command reads; give the output another name",
      output->option ? output->option : "", output->option ? " " : "", output->path, input->path);
}

/* An output's file may have come since it was claimed: its path is looked at again. */
static TlStatus check_output(const Claim *output, const Claim *input) {
  Claim now;
  TL_TRY(look(output->path, &now));
  TlStatus status = same(input, &now) ? refuse(output, input) : TL_OK;
  release(&now);
  return status;
}

static TlStatus read_locked(Claim *claim) {
  if (find(&made, claim) || find(&reads, claim)) return release(claim), TL_OK;
  TlStatus status = TL_OK;
  for (size_t i = 0; status == TL_OK && i < writes.count; i++)
    status = check_output(&writes.items[i], claim);
  return status == TL_OK ? add(&reads, *claim) : (release(claim), status);
}

TlStatus tl_claim_read(const char *path) {
  struct stat info;
  Claim claim;
  if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return TL_OK;
  TL_TRY(look(path, &claim));
  pthread_mutex_lock(&mutex);
  TlStatus status = read_locked(&claim);
  pthread_mutex_unlock(&mutex);
  return status;
}

static TlStatus write_locked(Claim *claim) {
  const Claim *input = find(&reads, claim);
  TlStatus status = input ? refuse(claim, input) : TL_OK;
  for (size_t i = 0; status == TL_OK && i < writes.count; i++)
    if (strcmp(writes.items[i].option, claim->option) != 0 && same(&writes.items[i], claim))
      status = tl_fail(TL_EUSAGE, "%s %s and %s %s name the same file; give each output its own",
                       claim->option, claim->path, writes.items[i].option, writes.items[i].path);
  return status == TL_OK ? add(&writes, *claim) : (release(claim), status);
}

TlStatus tl_claim_write(const char *path, const char *option) {
  Claim claim;
  TL_TRY(look(path, &claim));
  if (!(claim.option = tl_strdup(option))) return release(&claim), TL_ENOMEM;
  pthread_mutex_lock(&mutex);
  TlStatus status = write_locked(&claim);
  pthread_mutex_unlock(&mutex);
  return status;
}

TlStatus tl_claim_output(const char *path, const char *option, bool replace) {
  TL_TRY(tl_claim_write(path, option));
  if (replace || !tl_file_exists(path)) return TL_OK;
  return tl_fail(TL_EUSAGE, "%s %s: already exists; give --overwrite to replace it", option, path);
}

TlStatus tl_claim_replace(const char *path) {
  Claim claim;
  TL_TRY(look(path, &claim));
  pthread_mutex_lock(&mutex);
  const Claim *input = find(&reads, &claim);
  TlStatus status = input ? refuse(&claim, input) : TL_OK;
  pthread_mutex_unlock(&mutex);
  release(&claim);
  return status;
}

TlStatus tl_claim_made(const char *path) {
  Claim claim;
  TL_TRY(look(path, &claim));
  pthread_mutex_lock(&mutex);
  Claim *old = find(&made, &claim);
  TlStatus status = TL_OK;
  if (old) {
    old->device = claim.device;
    old->inode = claim.inode;
    release(&claim);
  } else {
    status = add(&made, claim);
  }
  pthread_mutex_unlock(&mutex);
  return status;
}

void tl_claims_forget(void) {
  pthread_mutex_lock(&mutex);
  clear(&reads);
  clear(&writes);
  clear(&made);
  pthread_mutex_unlock(&mutex);
}
