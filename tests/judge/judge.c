#include "judge/judge.h"

#include <ctype.h>
#include <malloc.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WORDS_OF_A_MISS = 20 };

static struct {
  const char *study;
  char dir[512];
  bool full;
  FILE *records;
  int rows, nos;
} judge;

static void __attribute__((noreturn, format(printf, 1, 2))) give_up(const char *format, ...) {
  va_list args;
  va_start(args, format);
  fflush(stdout);
  fprintf(stderr, "%s: ", judge.study ? judge.study : "judge");
  vfprintf(stderr, format, args);
  fputc('\n', stderr);
  va_end(args);
  exit(2);
}

void judge_ok(TlStatus status, const char *what) {
  if (status != TL_OK) give_up("%s: %s", what, tl_message());
}

/* ---- the study ---- */

static void make_folders(const char *path) {
  char part[sizeof judge.dir];
  snprintf(part, sizeof part, "%s", path);
  for (char *c = part + 1;; c++) {
    if (*c != '/' && *c != '\0') continue;
    char kept = *c;
    *c = '\0';
    struct stat info;
    if (mkdir(part, 0777) && (stat(part, &info) || !S_ISDIR(info.st_mode)))
      give_up("cannot make the folder %s", part);
    if (!kept) return;
    *c = kept;
  }
}

void judge_open(const char *study, int argc, char **argv) {
  if (judge.study) give_up("judge_open a second time, for %s", study);
  judge.study = study;
  snprintf(judge.dir, sizeof judge.dir, "build/validation/%s", study);
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--full"))
      judge.full = true;
    else if (!strcmp(argv[i], "--out") && i + 1 < argc && strlen(argv[i + 1]) < sizeof judge.dir)
      snprintf(judge.dir, sizeof judge.dir, "%s", argv[++i]);
    else
      give_up("'%s' is no option; --full and --out DIR are", argv[i]);
  }
  make_folders(judge.dir);
  judge.records = judge_data("records.txt");
}

bool judge_full(void) {
  return judge.full;
}
const char *judge_dir(void) {
  return judge.dir;
}

const char *judge_path(const char *name) {
  static char path[4][1024];
  static int turn;
  turn = (turn + 1) % 4;
  snprintf(path[turn], sizeof path[turn], "%s/%s", judge.dir, name);
  return path[turn];
}

FILE *judge_data(const char *name) {
  FILE *file = fopen(judge_path(name), "w");
  if (!file) give_up("cannot write %s", judge_path(name));
  return file;
}

int judge_close(void) {
  if (!judge.study) give_up("judge_close before judge_open");
  fprintf(judge.records, "end\t%d\n", judge.rows);
  if (fclose(judge.records) || fflush(stdout))
    give_up("cannot write %s", judge_path("records.txt"));
  return judge.nos ? 1 : 0;
}

/* ---- what is documented as missed ---- */

static bool is_heading(const char *line) {
  return line[0] == '#';
}

static bool heading_names(const char *line, const char *figure) {
  line += strspn(line, "#");
  if (*line != ' ') return false;
  line += strspn(line, " `");
  size_t n = strlen(figure);
  return !strncmp(line, figure, n) && strspn(line + n, "` \r\n") == strlen(line + n);
}

static int words_of(const char *line, bool *number) {
  int words = 0;
  for (const char *c = line; *c; c++) {
    if (isdigit((unsigned char)*c)) *number = true;
    if (!isspace((unsigned char)*c) && (c == line || isspace((unsigned char)c[-1]))) words++;
  }
  return words;
}

static bool documented_in(const char *path, const char *figure) {
  FILE *file = fopen(path, "r");
  if (!file) return false;
  char *line = NULL;
  size_t capacity = 0;
  bool inside = false, number = false;
  int words = 0;
  while (getline(&line, &capacity, file) >= 0) {
    if (is_heading(line)) {
      if (inside) break;
      inside = heading_names(line, figure);
    } else if (inside) {
      words += words_of(line, &number);
    }
  }
  free(line);
  fclose(file);
  return number && words >= WORDS_OF_A_MISS;
}

bool judge_documented(const char *figure) {
  static const char *const names[] = {"performance.md", "validation.md", "imaging.md"};
  const char *docs = getenv("JUDGE_DOCS");
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", docs ? docs : "docs", names[i]);
    if (documented_in(path, figure)) return true;
  }
  return false;
}

/* ---- figures ---- */

static void check_name(const char *figure) {
  size_t n = judge.study ? strlen(judge.study) : 0;
  if (!n || !judge.records) give_up("figure %s before judge_open", figure);
  if (strncmp(figure, judge.study, n) || figure[n] != '_' || strpbrk(figure, ", \t\n"))
    give_up("figure '%s' must begin with '%s_' and hold no comma or blank", figure, judge.study);
}

static void row(JudgeKind kind, const char *figure, double value, const char *unit,
                const char *goal, bool good) {
  check_name(figure);
  const char *within = good                                             ? "yes"
                       : kind == JUDGE_GOAL && judge_documented(figure) ? "miss"
                                                                        : "no";
  judge.rows++;
  judge.nos += within[0] == 'n';
  printf("%s,%.6g,%s,%s,%s\n", figure, value, unit, goal, within);
  fprintf(judge.records, "row\t%s\t%.6g\t%s\t%s\t%s\t%s\n", figure, value, unit, goal, within,
          kind == JUDGE_GOAL ? "goal" : "correct");
  fflush(stdout);
  fflush(judge.records); /* what a crash leaves behind still counts */
}

void judge_at_most(JudgeKind kind, const char *figure, double value, const char *unit,
                   double goal) {
  char text[64];
  snprintf(text, sizeof text, "<= %.6g", goal);
  row(kind, figure, value, unit, text, isfinite(value) && value <= goal);
}

void judge_at_least(JudgeKind kind, const char *figure, double value, const char *unit,
                    double goal) {
  char text[64];
  snprintf(text, sizeof text, ">= %.6g", goal);
  row(kind, figure, value, unit, text, isfinite(value) && value >= goal);
}

void judge_between(JudgeKind kind, const char *figure, double value, const char *unit, double low,
                   double high) {
  char text[96];
  snprintf(text, sizeof text, "%.6g..%.6g", low, high);
  row(kind, figure, value, unit, text, isfinite(value) && value >= low && value <= high);
}

void judge_paper(const char *figure, double ours, double paper, const char *unit,
                 const char *source) {
  check_name(figure);
  fprintf(judge.records, "paper\t%s\t%.6g\t%.6g\t%s\t%s\n", figure, ours, paper, unit, source);
}

/* The last field holds four cells of the table. */
void judge_both(const char *figure, const JudgeBoth *b, const char *unit, const char *source) {
  char paper[32] = "";
  check_name(figure);
  if (b->paper > 0) snprintf(paper, sizeof paper, "%.6g, ", b->paper);
  fprintf(judge.records, "both\t%s\t%.6g\t%.6g\t%s\t%.3g | %.3g | %.3g | %s%s\n", figure,
          b->penalty, b->impulse, unit, b->impulse_cpu_s, b->penalty_cpu_s,
          b->penalty_cpu_s / b->impulse_cpu_s, paper, source);
  fflush(judge.records);
}

void judge_note(const char *format, ...) {
  if (!judge.records) give_up("a note before judge_open");
  va_list args;
  va_start(args, format);
  fputs("note\t", judge.records);
  vfprintf(judge.records, format, args);
  fputc('\n', judge.records);
  fflush(judge.records);
  va_end(args);
}

/* ---- clocks and memory ---- */

static double clock_s(clockid_t id) {
  struct timespec t;
  clock_gettime(id, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double judge_wall_s(void) {
  return clock_s(CLOCK_MONOTONIC);
}
double judge_thread_cpu_s(void) {
  return clock_s(CLOCK_THREAD_CPUTIME_ID);
}
double judge_cpu_s(void) {
  return clock_s(CLOCK_PROCESS_CPUTIME_ID);
}

int64_t judge_held_bytes(void) {
  struct mallinfo2 info = mallinfo2();
  return (int64_t)(info.uordblks + info.hblkhd);
}

/* ---- plots ---- */

void judge_gnuplot(const char *name, const char *script) {
  char file_name[256], command[2048];
  snprintf(file_name, sizeof file_name, "%s.gp", name);
  FILE *file = judge_data(file_name);
  fprintf(file,
          "set terminal pngcairo size 900,600 font 'sans,13' noenhanced\n"
          "set output '%s.png'\nset grid lc rgb '#dddddd'\nset key left top\n%s\n",
          name, script);
  if (fclose(file)) give_up("cannot write %s", judge_path(file_name));
  snprintf(command, sizeof command, "cd '%s' && gnuplot '%s' >gnuplot.log 2>&1", judge.dir,
           file_name);
  fflush(NULL);
  int status = system(command);
  if (status != 0) give_up("gnuplot %s failed: see %s", file_name, judge_path("gnuplot.log"));
}
