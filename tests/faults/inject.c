/* Runs one command again and again, a call of our own code failing in each run (shim.c), and judges
 * what the command does about it.
 *
 *   inject [OPTION]... CASE -- COMMAND [ARGUMENT]...
 *     --shim=FILE      the library to preload (and others before it, separated by colons)
 *     --template=DIR   files that are there before each run; each run begins with a fresh copy as
 * its current folder
 *     --kinds=A,B,...  kinds of calls (shim.c); default all
 *     --most=N         runs of each kind at most; 0: every call fails once
 *     --limit=SECONDS  a run that takes longer, and 30 times as long as the undisturbed one, hangs
 * (20)
 *     --told=GLOB      products that a success may lack when standard error names them; @(A|B): A or B
 *     --clears=GLOB    files of an earlier run, which --overwrite removes before the new one begins
 *     --exit=STATUS    of the undisturbed command (0)
 *     --rank=R         under mpirun: calls of this rank only; what mpirun itself says on standard
 *                      error, and standard output, are then left out of the judgement
 *     --of=NAME        calls of the library whose file's name begins so, in place of our own code's
 *     --grows=GLOB     files that a run writes line by line: after a failure they may be a part of
 *                      what they would have become
 *     --saves=GLOB     what a run leaves to be resumed from when it fails, and takes away in the end
 *     --any-output     standard output tells measured times: it is left out of the judgement
 *     --scratch=DIR    where the runs are made
 *     --log=FILE       runs that were not clean are told there, with the call path that failed
 *
 * First the command runs undisturbed, twice: exit status, files and standard output are what it
 * ought to produce, and must be the same in both. The calls that it makes are told apart by their
 * call path (the return addresses in our own code); the first, second, middle and last call of each
 * path are made to fail, or all with --most=0. Verdicts: clean     exit 1 or 2 with one message;
 * every file is as it was before, or as it ought to become same      exit 0, and everything is as
 * it ought to be: the call was not needed crash     ended by a signal, or with another exit status
 *   hang      not ended within the limit
 *   silent    exit 0, though a file or standard output is not as it ought to be
 *   untidy    exit 1 or 2, but without a message, with several, or with a file changed, lost or
 * left A line goes to standard output for each kind: case, kind, calls, call paths, runs, and the
 * number of runs with each verdict, separated by tabs. Exit 1 when a verdict is crash, hang, silent
 * or untidy.
 */
#define _GNU_SOURCE
#include "report.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef enum Verdict { CLEAN, SAME, CRASH, HANG, SILENT, UNTIDY, VERDICTS } Verdict;
static const char *const verdict_name[VERDICTS] = {"clean", "same",   "crash",
                                                   "hang",  "silent", "untidy"};

static struct {
  const char *shim, *template, *kinds, *scratch, *log, *grows, *told, *clears, *saves, *of, *name;
  int most, rank;
  bool any_output;
  int exit;
  double limit_s;
  char **command;
} option = {.kinds = "alloc,open,read,write,fsync,rename,close,stat",
            .most = 400,
            .rank = -1,
            .limit_s = 20};

static void die(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "inject: ");
  vfprintf(stderr, format, arguments);
  fprintf(stderr, "\n");
  va_end(arguments);
  exit(2);
}

static void *need(void *block) {
  if (!block) die("out of memory");
  return block;
}

/* ---- folders in memory ---- */

typedef struct Entry {
  char *path;
  bool folder;
  char *bytes;
  size_t size;
} Entry;
typedef struct Tree {
  Entry *entry;
  size_t count;
} Tree;

static void load_file(const char *path, Entry *e) {
  FILE *file = fopen(path, "rb");
  if (!file) die("%s: %s", path, strerror(errno));
  size_t capacity = 0;
  e->bytes = NULL;
  e->size = 0;
  for (;;) {
    if (e->size == capacity)
      e->bytes = need(realloc(e->bytes, capacity = capacity ? 2 * capacity : 4096));
    size_t got = fread(e->bytes + e->size, 1, capacity - e->size, file);
    if (got == 0) break;
    e->size += got;
  }
  fclose(file);
}

static void add_entry(Tree *tree, const char *path, bool folder, const char *from) {
  tree->entry = need(realloc(tree->entry, (tree->count + 1) * sizeof *tree->entry));
  Entry *e = &tree->entry[tree->count++];
  *e = (Entry){.path = need(strdup(path)), .folder = folder};
  if (!folder) load_file(from, e);
}

static void load_folder(Tree *tree, const char *root, const char *below) {
  char path[PATH_MAX], full[PATH_MAX];
  struct dirent **list;
  snprintf(full, sizeof full, "%s/%s", root, below);
  int n = scandir(full, &list, NULL, alphasort);
  if (n < 0) die("%s: %s", full, strerror(errno));
  for (int i = 0; i < n; i++) {
    const char *name = list[i]->d_name;
    struct stat info;
    if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0) {
      if (snprintf(path, sizeof path, "%s%s%s", below, below[0] ? "/" : "", name) >= PATH_MAX ||
          snprintf(full, sizeof full, "%s/%s", root, path) >= PATH_MAX)
        die("%s: the name is too long", path);
      if (lstat(full, &info) != 0) die("%s: %s", full, strerror(errno));
      add_entry(tree, path, S_ISDIR(info.st_mode), full);
      if (S_ISDIR(info.st_mode)) load_folder(tree, root, path);
    }
    free(list[i]);
  }
  free(list);
}

static const Entry *find(const Tree *tree, const char *path) {
  for (size_t i = 0; i < tree->count; i++)
    if (strcmp(tree->entry[i].path, path) == 0) return &tree->entry[i];
  return NULL;
}

static bool equal(const Entry *a, const Entry *b) {
  return a && b && a->folder == b->folder && a->size == b->size &&
         (a->size == 0 || memcmp(a->bytes, b->bytes, a->size) == 0);
}

static void write_folder(const Tree *tree, const char *root) {
  char full[PATH_MAX];
  if (mkdir(root, 0777) != 0) die("%s: %s", root, strerror(errno));
  for (size_t i = 0; i < tree->count; i++) {
    const Entry *e = &tree->entry[i];
    if (snprintf(full, sizeof full, "%s/%s", root, e->path) >= PATH_MAX) die("name too long");
    if (e->folder) {
      if (mkdir(full, 0777) != 0) die("%s: %s", full, strerror(errno));
      continue;
    }
    FILE *file = fopen(full, "wb");
    if (!file || fwrite(e->bytes, 1, e->size, file) != e->size || fclose(file) != 0)
      die("%s: %s", full, strerror(errno));
  }
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *where) {
  (void)info;
  (void)type;
  (void)where;
  return remove(path);
}

static void remove_folder(const char *path) {
  nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* ---- one run ---- */

typedef struct Run {
  int status; /* of wait */
  bool timed_out;
  Tree files;
  Entry out, error;
  Report *report;
} Run;

static double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void start_command(const char *folder, const char *work, const char *fault) {
  char path[PATH_MAX], report[PATH_MAX], rank[16];
  setpgid(0, 0);
  snprintf(report, sizeof report, "%s/report", folder);
  snprintf(path, sizeof path, "%s/out", folder);
  int out = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  snprintf(path, sizeof path, "%s/error", folder);
  int error = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666), in = open("/dev/null", O_RDONLY);
  if (out < 0 || error < 0 || in < 0 || chdir(work) != 0) die("%s: %s", folder, strerror(errno));
  dup2(in, 0);
  dup2(out, 1);
  dup2(error, 2);
  close(in);
  close(out);
  close(error);
  setenv("TALUS_FAULT_REPORT", report, 1);
  if (fault) setenv("TALUS_FAULT", fault, 1);
  if (option.rank >= 0) {
    snprintf(rank, sizeof rank, "%d", option.rank);
    setenv("TALUS_FAULT_RANK", rank, 1);
  }
  if (option.of) setenv("TALUS_FAULT_OF", option.of, 1);
  setenv("LD_PRELOAD", option.shim, 1);
  execvp(option.command[0], option.command);
  _exit(127);
}

/* Whether the child ends in time; the limit is kept by waiting for SIGCHLD, which is blocked. */
static bool wait_for(pid_t child, double limit_s, int *status) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  for (double end = now_s() + limit_s;;) {
    pid_t got = waitpid(child, status, WNOHANG);
    if (got == child) return true;
    double left = end - now_s();
    if (left <= 0) return false;
    struct timespec t = {.tv_sec = (time_t)left, .tv_nsec = (long)(1e9 * (left - (int)left))};
    sigtimedwait(&set, NULL, &t);
  }
}

/* The file that the shim counts in; most of it is a hole. */
static Report *map_report(const char *folder) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/report", folder);
  int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666);
  if (fd < 0 || ftruncate(fd, sizeof(Report)) != 0) die("%s: %s", path, strerror(errno));
  Report *report = mmap(NULL, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (report == MAP_FAILED) die("%s: %s", path, strerror(errno));
  close(fd);
  return report;
}

static void load_output(const char *folder, const char *name, Entry *e) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  *e = (Entry){0};
  if (access(path, F_OK) == 0) load_file(path, e);
}

static void run_once(const char *folder, const Tree *before, const char *fault, Run *run) {
  char work[PATH_MAX];
  *run = (Run){0};
  remove_folder(folder);
  if (mkdir(folder, 0777) != 0) die("%s: %s", folder, strerror(errno));
  snprintf(work, sizeof work, "%s/work", folder);
  write_folder(before, work);
  run->report = map_report(folder);
  sigset_t set, old;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  sigprocmask(SIG_BLOCK, &set, &old);
  pid_t child = fork();
  if (child < 0) die("fork: %s", strerror(errno));
  if (child == 0) {
    sigprocmask(SIG_SETMASK, &old, NULL);
    start_command(folder, work, fault);
  }
  if (!wait_for(child, option.limit_s, &run->status)) {
    run->timed_out = true;
    kill(-child, SIGTERM); /* mpirun ends its ranks when it is asked to */
    if (!wait_for(child, 5, &run->status)) {
      kill(-child, SIGKILL);
      waitpid(child, &run->status, 0);
    }
  }
  kill(-child, SIGKILL); /* what it left running */
  sigprocmask(SIG_SETMASK, &old, NULL);
  load_folder(&run->files, work, "");
  load_output(folder, "out", &run->out);
  load_output(folder, "error", &run->error);
}

static void free_tree(Tree *tree) {
  for (size_t i = 0; i < tree->count; i++) {
    free(tree->entry[i].path);
    free(tree->entry[i].bytes);
  }
  free(tree->entry);
}

static void free_run(Run *run) {
  free_tree(&run->files);
  free(run->out.bytes);
  free(run->error.bytes);
  munmap(run->report, sizeof *run->report);
}

/* ---- judging ---- */

/* Lines of standard error; the first begins in *first. Of an MPI job only lines of our tools. */
static int messages(const Entry *error, char *first, size_t size) {
  int lines = 0;
  first[0] = 0;
  for (size_t at = 0; at < error->size;) {
    const char *line = error->bytes + at, *end = memchr(line, '\n', error->size - at);
    size_t length = end ? (size_t)(end - line) : error->size - at;
    at += length + 1;
    if (length == 0 || (option.rank >= 0 && strncmp(line, "talus-", 6) != 0)) continue;
    if (lines++ == 0) snprintf(first, size, "%.*s", (int)length, line);
  }
  return lines;
}

static bool said(const Entry *error, const char *word) {
  return error->size > 0 && memmem(error->bytes, error->size, word, strlen(word)) != NULL;
}

/* A file that is neither as before nor as it ought to become, or "". */
static void find_harm(const Tree *before, const Run *good, const Run *run, char *text,
                      size_t size) {
  for (size_t i = 0; i < run->files.count; i++) {
    const Entry *is = &run->files.entry[i], *was = find(before, is->path),
                *ought = find(&good->files, is->path);
    if (equal(is, was) || equal(is, ought) || is->folder) continue;
    if (option.grows && fnmatch(option.grows, is->path, 0) == 0 && ought &&
        is->size <= ought->size && memcmp(is->bytes, ought->bytes, is->size) == 0)
      continue;
    if (option.saves && fnmatch(option.saves, is->path, 0) == 0 && !was && !ought) continue;
    snprintf(text, size, "%s is %s", is->path,
             was     ? "changed"
             : ought ? "not whole"
                     : "left behind");
    return;
  }
  for (size_t i = 0; i < before->count; i++) {
    const char *path = before->entry[i].path;
    if (find(&run->files, path) || !find(&good->files, path)) continue;
    if (option.clears && fnmatch(option.clears, path, 0) == 0) continue;
    snprintf(text, size, "%s is lost", path);
    return;
  }
}

/* How the files and standard output differ from what they ought to be, or "". */
static void find_difference(const Run *good, const Run *run, char *text, size_t size) {
  for (size_t i = 0; i < good->files.count; i++) {
    const Entry *ought = &good->files.entry[i], *is = find(&run->files, ought->path);
    if (equal(is, ought)) continue;
    /* of several ranks the later checkpoints count the messages of one that was given up */
    const char *slash = strrchr(ought->path, '/');
    bool told = said(&run->error, slash ? slash + 1 : ought->path) ||
                (is && option.rank >= 0 && said(&run->error, "could not be saved"));
    if (option.told && fnmatch(option.told, ought->path, FNM_EXTMATCH) == 0 && told &&
        (!is || option.rank >= 0))
      continue;
    snprintf(text, size, "%s is %s", ought->path, is ? "different" : "missing");
    return;
  }
  for (size_t i = 0; i < run->files.count; i++)
    if (!find(&good->files, run->files.entry[i].path)) {
      snprintf(text, size, "%s is left behind", run->files.entry[i].path);
      return;
    }
  if (option.rank < 0 && !option.any_output && !equal(&good->out, &run->out))
    snprintf(text, size, "standard output is different");
}

static Verdict judge(const Tree *before, const Run *good, const Run *run, bool memory, char *text,
                     size_t size) {
  char first[400];
  int lines = messages(&run->error, first, sizeof first);
  text[0] = 0;
  if (run->timed_out) return HANG;
  int code = WIFEXITED(run->status) ? WEXITSTATUS(run->status) : -1;
  if (code < 0 || code > 2) {
    if (code < 0)
      snprintf(text, size, "signal %d: %s", WTERMSIG(run->status), first);
    else
      snprintf(text, size, "exit %d: %s", code, first);
    return CRASH;
  }
  if (code == 0) {
    if (WEXITSTATUS(good->status) != 0)
      snprintf(text, size, "exit 0, not %d", WEXITSTATUS(good->status));
    else
      find_difference(good, run, text, size);
    return text[0] ? SILENT : SAME;
  }
  /* Lost checkpoints are told one by one and once more at the end; all else is as it ought to be. */
  if (said(&run->error, "the run went to its end, but")) {
    find_difference(good, run, text, size);
    return text[0] ? UNTIDY : CLEAN;
  }
  find_harm(before, good, run, text, size);
  const char *colon = strstr(first, ": ");
  if (!text[0] && (lines == 0 || !colon || !colon[2]))
    snprintf(text, size, "exit %d without a message%s%s", code, lines ? ": " : "", first);
  if (!text[0] && lines > 1) snprintf(text, size, "exit %d, %d messages: %s", code, lines, first);
  if (!text[0] && memory && !said(&run->error, "memory"))
    snprintf(text, size, "the message is not about memory: %s", first);
  return text[0] ? UNTIDY : CLEAN;
}

/* ---- which calls ---- */

typedef struct Choice {
  int *number;
  int count, calls, paths;
} Choice;

/* The first, the second, the middle and the last call of each path; when these are too many, evenly
 * spaced ones of them. */
static Choice choose(const Run *good, Kind kind) {
  const Report *report = good->report;
  Choice c = {.calls = report->count[kind]};
  size_t n = (size_t)c.calls + 1;
  uint64_t *path = need(calloc(n, sizeof *path)); /* of each call of the kind */
  bool *chosen = need(calloc(n, sizeof *chosen)), *done = need(calloc(n, sizeof *done));
  int *same = need(calloc(n, sizeof *same)); /* calls of one path */
  c.number = need(calloc(n, sizeof *c.number));
  if (report->calls > MOST_CALLS) die("%s: more than %d calls", option.name, MOST_CALLS);
  for (int i = 0; i < report->calls; i++)
    if (report->call[i].kind == (int)kind) path[report->call[i].number - 1] = report->call[i].path;
  for (int i = 0; i < c.calls; i++) {
    int count = 0;
    if (done[i]) continue;
    c.paths++;
    for (int k = i; k < c.calls; k++)
      if (path[k] == path[i]) {
        done[k] = true;
        same[count++] = k;
      }
    chosen[same[0]] = chosen[same[count > 1]] = true;
    chosen[same[count / 2]] = chosen[same[count - 1]] = true;
  }
  for (int i = 0; i < c.calls; i++)
    if (chosen[i] || option.most == 0) c.number[c.count++] = i + 1;
  for (int i = 0; option.most > 0 && c.count > option.most && i < option.most; i++)
    c.number[i] = c.number[(int64_t)i * c.count / option.most];
  if (option.most > 0 && c.count > option.most) c.count = option.most;
  free(path);
  free(chosen);
  free(done);
  free(same);
  return c;
}

/* ---- all runs of a kind ---- */

static void tell(Kind kind, int number, Verdict verdict, const char *text, const Report *report) {
  FILE *log = option.log ? fopen(option.log, "a") : NULL;
  if (!log) return;
  fprintf(log, "%s\t%s:%d\t%s\t%s\t", option.name, kind_name[kind], number, verdict_name[verdict],
          text);
  if (report->failed == 0) fprintf(log, "not reached");
  for (int i = 0; i < report->frames; i++)
    fprintf(log, "%s0x%llx", i ? " " : "", (unsigned long long)report->frame[i]);
  fprintf(log, "\n");
  fclose(log);
}

/* True: all runs were as they ought to be. */
static bool do_kind(Kind kind, const char *folder, const Tree *before, const Run *good) {
  Choice c = choose(good, kind);
  int tally[VERDICTS] = {0};
  for (int i = 0; i < c.count; i++) {
    char fault[64], text[1200];
    Run run;
    snprintf(fault, sizeof fault, "%s:%d", kind_name[kind], c.number[i]);
    run_once(folder, before, fault, &run);
    Verdict verdict = judge(before, good, &run, kind == ALLOC, text, sizeof text);
    tally[verdict]++;
    if (verdict != CLEAN) tell(kind, c.number[i], verdict, text, run.report);
    free_run(&run);
  }
  printf("%s\t%s\t%d\t%d\t%d", option.name, kind_name[kind], c.calls, c.paths, c.count);
  for (int v = 0; v < VERDICTS; v++) printf("\t%d", tally[v]);
  printf("\n");
  fflush(stdout);
  free(c.number);
  return tally[CLEAN] + tally[SAME] == c.count;
}

static char *value_of(char *argument, const char *name) {
  size_t length = strlen(name);
  return strncmp(argument, name, length) == 0 ? argument + length : NULL;
}

static void read_options(int argc, char **argv) {
  int i = 1;
  for (char *v; i < argc && strncmp(argv[i], "--", 2) == 0 && argv[i][2]; i++) {
    if ((v = value_of(argv[i], "--shim=")))
      option.shim = v;
    else if ((v = value_of(argv[i], "--template=")))
      option.template = v;
    else if ((v = value_of(argv[i], "--kinds=")))
      option.kinds = v;
    else if ((v = value_of(argv[i], "--scratch=")))
      option.scratch = v;
    else if ((v = value_of(argv[i], "--log=")))
      option.log = v;
    else if ((v = value_of(argv[i], "--grows=")))
      option.grows = v;
    else if ((v = value_of(argv[i], "--told=")))
      option.told = v;
    else if ((v = value_of(argv[i], "--saves=")))
      option.saves = v;
    else if ((v = value_of(argv[i], "--clears=")))
      option.clears = v;
    else if ((v = value_of(argv[i], "--of=")))
      option.of = v;
    else if ((v = value_of(argv[i], "--most=")))
      option.most = atoi(v);
    else if ((v = value_of(argv[i], "--rank=")))
      option.rank = atoi(v);
    else if ((v = value_of(argv[i], "--exit=")))
      option.exit = atoi(v);
    else if ((v = value_of(argv[i], "--limit=")))
      option.limit_s = atof(v);
    else if (strcmp(argv[i], "--any-output") == 0)
      option.any_output = true;
    else
      die("%s: no such option", argv[i]);
  }
  if (i + 2 >= argc || strcmp(argv[i + 1], "--") != 0 || !option.shim || !option.template ||
      !option.scratch)
    die("wanted: --shim, --template, --scratch, CASE -- COMMAND");
  /* the command's current folder is another one */
  option.scratch = realpath(option.scratch, NULL);
  if (!option.scratch) die("--scratch: %s", strerror(errno));
  option.name = argv[i];
  option.command = argv + i + 2;
}

int main(int argc, char **argv) {
  char folder[PATH_MAX], text[1200] = "", kinds[200];
  Tree before = {0};
  Run good, again;
  bool fine = true;
  read_options(argc, argv);
  load_folder(&before, option.template, "");
  /* always in the same folder: products may hold their full path */
  if (snprintf(folder, sizeof folder, "%s/run", option.scratch) >= PATH_MAX) die("--scratch: long");
  double start = now_s(), limit_s = option.limit_s;
  option.limit_s = 600; /* of the undisturbed runs, on a busy machine too */
  run_once(folder, &before, NULL, &again);
  start = now_s() - start;
  run_once(folder, &before, NULL, &good);
  option.limit_s = 30 * start > limit_s ? 30 * start : limit_s;
  if (good.timed_out || !WIFEXITED(good.status) || WEXITSTATUS(good.status) != option.exit ||
      (good.report->calls == 0 && !option.of))
    die("%s: the undisturbed command fails: %.*s", option.name, (int)good.error.size,
        good.error.size ? good.error.bytes : "");
  find_difference(&good, &again, text, sizeof text);
  if (text[0]) die("%s: two undisturbed runs differ: %s", option.name, text);
  free_run(&again);
  snprintf(kinds, sizeof kinds, "%s", option.kinds);
  for (char *rest = kinds, *name; (name = strsep(&rest, ","));) {
    int kind = 0;
    while (kind < KINDS && strcmp(name, kind_name[kind]) != 0) kind++;
    if (kind == KINDS) die("--kinds: no such kind: %s", name);
    fine = do_kind((Kind)kind, folder, &before, &good) && fine;
  }
  remove_folder(folder);
  return !fine;
}
