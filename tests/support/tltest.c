#include "support/tltest.h"

#include "base/outfile.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];
static pid_t owner;

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *where) {
  (void)info;
  (void)type;
  (void)where;
  return remove(path);
}

static void remove_folder(void) {
  if (getpid() == owner) nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *tl_test_folder(void) {
  if (owner == getpid()) return folder; /* a forked test gets its own */
  snprintf(folder, sizeof folder, "/tmp/talus-test-XXXXXX");
  if (!mkdtemp(folder)) abort();
  owner = getpid();
  atexit(remove_folder);
  return folder;
}

int tl_test_temporaries(const char *path) {
  DIR *list = opendir(path);
  size_t length;
  int count = 0;
  if (!list) abort();
  for (struct dirent *entry; (entry = readdir(list));)
    count += tl_outfile_is_temp(entry->d_name, &length);
  closedir(list);
  return count;
}

const char *tl_test_results(const char *study) {
  static char path[512];
  const char *dot = strrchr(study, '.');
  snprintf(path, sizeof path, "%.*s.run", dot ? (int)(dot - study) : (int)strlen(study), study);
  return path;
}
