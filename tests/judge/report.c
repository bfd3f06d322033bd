/* judge-report: from the records of judging programs to CSV lines and the tables of docs/.
 *
 *   judge-report rows DIR              a program's rows as CSV
 *   judge-report crash DIR STUDY TEXT  add the row that says STUDY did not end well
 *   judge-report recorded CSV [STUDY]  rows of earlier full runs as CSV, names ending in _recorded
 *   judge-report keep CSV DIR COMMIT DATE MACHINE WALL [SUFFIX]   append a run's rows to CSV, or
 * those only whose names end in SUFFIX
 *   judge-report docs DOC CSV whole|part DIR...  rewrite the studies' blocks of DOC; with whole,
 * hold misses to one row in five over all of DIR and CSV
 *
 * DIR/records.txt is written by judge.c, tabs between fields; the study is DIR's last name.
 * Exit status 1 where a `no` stands in what was read (rows, recorded, docs), 2 on trouble.
 */
#include "judge/judge.h"

#include <libgen.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIELDS = 12, LINE = 2048, STUDY = 64 };
#define CSV_HEADER "figure,value,unit,goal,within,kind,source,commit,date,machine,wall_s"

/* One record; a field the kind of record does not have is "". */
typedef struct Item {
  enum { ROW, PAPER, BOTH, NOTE } what; /* BOTH: value by penalty, paper by impulses */
  bool recorded;
  char study[STUDY];
  char figure[128], value[32], unit[64], goal[96], within[8], kind[16];
  char text[LINE]; /* source of a paper's value, words of a note, origin of a recorded row */
  char paper[32];
} Item;

typedef struct List {
  Item *items;
  int count, capacity;
} List;

static void __attribute__((noreturn, format(printf, 1, 2))) stop(const char *format, ...) {
  va_list args;
  va_start(args, format);
  fputs("judge-report: ", stderr);
  vfprintf(stderr, format, args);
  fputc('\n', stderr);
  va_end(args);
  exit(2);
}

static Item *add(List *list, const char *study) {
  if (list->count == list->capacity) {
    list->capacity = 2 * list->capacity + 64;
    list->items = realloc(list->items, (size_t)list->capacity * sizeof *list->items);
    if (!list->items) stop("out of memory");
  }
  Item *item = &list->items[list->count++];
  memset(item, 0, sizeof *item);
  snprintf(item->study, sizeof item->study, "%s", study);
  return item;
}

/* Cuts line at separator; missing fields are "". */
static int cut(char *line, char separator, char *field[FIELDS]) {
  static char none[] = "";
  line[strcspn(line, "\r\n")] = '\0';
  for (int i = 0; i < FIELDS; i++) field[i] = none;
  int n = 0;
  for (char *at = line; at && n < FIELDS; n++) {
    field[n] = at;
    at = strchr(at, separator);
    if (at) *at++ = '\0';
  }
  return n;
}

#define PUT(to, from) snprintf((to), sizeof(to), "%s", (from))

static void put_row(Item *item, char **field) {
  item->what = ROW;
  PUT(item->figure, field[0]);
  PUT(item->value, field[1]);
  PUT(item->unit, field[2]);
  PUT(item->goal, field[3]);
  PUT(item->within, field[4]);
  PUT(item->kind, field[5]);
  if (!strcmp(item->kind, "goal") && strcmp(item->within, "yes")) /* what the docs say now counts */
    PUT(item->within, judge_documented(item->figure) ? "miss" : "no");
}

static void study_of(const char *dir, char study[STUDY]) {
  char copy[LINE];
  PUT(copy, dir);
  snprintf(study, STUDY, "%.60s", basename(copy));
}

static void read_record(List *list, const char *study, char *line) {
  char *field[FIELDS];
  cut(line, '\t', field);
  if (!strcmp(field[0], "row")) {
    put_row(add(list, study), field + 1);
  } else if (!strcmp(field[0], "paper") || !strcmp(field[0], "both")) {
    Item *item = add(list, study);
    item->what = field[0][0] == 'p' ? PAPER : BOTH;
    PUT(item->figure, field[1]);
    PUT(item->value, field[2]);
    PUT(item->paper, field[3]);
    PUT(item->unit, field[4]);
    PUT(item->text, field[5]);
  } else if (!strcmp(field[0], "note")) {
    Item *item = add(list, study);
    item->what = NOTE;
    PUT(item->text, field[1]);
  }
}

/* The records of DIR; none at all is no error here, the harness adds a crash's row. */
static void read_dir(List *list, const char *dir) {
  char path[LINE], line[LINE], study[STUDY];
  study_of(dir, study);
  snprintf(path, sizeof path, "%s/records.txt", dir);
  FILE *file = fopen(path, "r");
  if (!file) return;
  while (fgets(line, sizeof line, file)) read_record(list, study, line);
  fclose(file);
}

/* ---- full.csv ---- */

static void forget_older(List *list, const Item *newer) {
  for (int i = 0; i < list->count; i++) {
    const Item *old = &list->items[i];
    if (old == newer || !old->recorded || old->what != newer->what) continue;
    if (strcmp(old->figure, newer->figure)) continue;
    memmove(&list->items[i], &list->items[i + 1],
            (size_t)(list->count - i - 1) * sizeof *list->items);
    list->count--;
    return;
  }
}

/* The newest row of each figure. */
static void read_recorded(List *list, const char *csv, const char *study) {
  FILE *file = fopen(csv, "r");
  if (!file) return; /* nothing recorded yet */
  char line[LINE], *field[FIELDS];
  while (fgets(line, sizeof line, file)) {
    if (cut(line, ',', field) != 11) stop("%s: a line without 11 fields: %s", csv, line);
    if (!strcmp(field[0], "figure")) continue;
    char owner[STUDY];
    size_t length = study ? strlen(study) : strcspn(field[0], "_");
    if (study && (strncmp(field[0], study, length) || field[0][length] != '_')) continue;
    snprintf(owner, sizeof owner, "%.*s", (int)length, field[0]);
    Item *item = add(list, owner);
    put_row(item, field);
    item->recorded = true;
    if (!strcmp(field[5], "paper") || !strcmp(field[5], "both")) {
      item->what = field[5][0] == 'p' ? PAPER : BOTH;
      PUT(item->paper, field[3]);
    }
    snprintf(item->text, sizeof item->text, "%.600s%srecorded %.40s at %.20s, %.100s, %.20s s",
             field[6], *field[6] ? "; " : "", field[8], field[7], field[9], field[10]);
    forget_older(list, item);
  }
  fclose(file);
}

static void commas_away(char *text) {
  for (char *c = text; *c; c++)
    if (*c == ',') *c = ';';
}

static bool ends_in(const char *text, const char *suffix) {
  size_t n = strlen(text), m = strlen(suffix);
  return n >= m && !strcmp(text + n - m, suffix);
}

static int keep(const char *csv, const char *dir, char **origin, const char *suffix) {
  List list = {0};
  read_dir(&list, dir);
  bool fresh = access(csv, F_OK) != 0;
  FILE *file = fopen(csv, "a");
  if (!file) stop("cannot write %s", csv);
  if (fresh) fputs(CSV_HEADER "\n", file);
  for (int i = 0; i < 4; i++) commas_away(origin[i]);
  for (int i = 0; i < list.count; i++) {
    Item *it = &list.items[i];
    if (it->what == NOTE || !ends_in(it->figure, suffix)) continue;
    const char *kind = it->what == PAPER ? "paper" : it->what == BOTH ? "both" : it->kind;
    commas_away(it->text);
    commas_away(it->unit);
    fprintf(file, "%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s\n", it->figure, it->value, it->unit,
            it->what == ROW ? it->goal : it->paper, it->within, kind, it->text, origin[0],
            origin[1], origin[2], origin[3]);
  }
  free(list.items);
  if (fclose(file)) stop("cannot write %s", csv);
  return 0;
}

/* ---- rows as CSV ---- */

static int print_rows(const List *list) {
  int nos = 0;
  for (int i = 0; i < list->count; i++) {
    const Item *it = &list->items[i];
    if (it->what != ROW) continue;
    nos += it->within[0] == 'n';
    printf("%s%s,%s,%s,%s,%s\n", it->figure, it->recorded ? "_recorded" : "", it->value, it->unit,
           it->goal, it->within);
  }
  return nos ? 1 : 0;
}

static int crash(const char *dir, const char *study, const char *text) {
  char path[LINE];
  snprintf(path, sizeof path, "%s/records.txt", dir);
  FILE *file = fopen(path, "a");
  if (!file) stop("cannot write %s", path);
  fprintf(file, "\nrow\t%s_ends\t0\t\t>= 1\tno\tcorrect\nnote\tThe program did not end well: %s.\n",
          study, text);
  return fclose(file) ? 2 : 0;
}

/* ---- docs ---- */

static void write_row(FILE *out, const Item *it) {
  const char *what = !it->recorded ? "" : ends_in(it->figure, "_given") ? " (" : " (full, ";
  fprintf(out, "| %s%s%s%s | %s | %s | %s | %s |\n", it->figure, what, it->recorded ? it->text : "",
          it->recorded ? ")" : "", it->value, it->unit, it->goal, it->within);
}

/* Ours beside the paper's, or penalty's beside the impulses'. */
static void write_compared(FILE *out, const Item *it) {
  double ours = atof(it->value), paper = atof(it->paper);
  char difference[32] = "";
  if (paper < 0 || paper > 0)
    snprintf(difference, sizeof difference, "%+.2g%%", 100 * (ours - paper) / paper);
  else
    snprintf(difference, sizeof difference, "%+.3g", ours);
  bool both = it->what == BOTH;
  fprintf(out, "| %s%s | %s | %s | %s | %s | %s |\n", it->figure, it->recorded ? " (full)" : "",
          both ? it->paper : it->value, both ? it->value : it->paper, it->unit, difference,
          it->text);
}

static bool belongs(const Item *it, const char *study, int what) {
  return !strcmp(it->study, study) && (int)it->what == what;
}

static int count_of(const List *list, const char *study, int what) {
  int n = 0;
  for (int i = 0; i < list->count; i++) n += belongs(&list->items[i], study, what);
  return n;
}

/* A list item in lines of at most 118 characters, the width of a line of a document. */
static void write_note(FILE *out, const char *text) {
  size_t column = 1;
  fputc('-', out);
  for (const char *word = text; *word;) {
    size_t length = strcspn(word, " ");
    if (column > 1 && column + 1 + length > 118) column = (size_t)fprintf(out, "\n ") - 1;
    column += 1 + length;
    fprintf(out, " %.*s", (int)length, word);
    word += length + strspn(word + length, " ");
  }
  fputc('\n', out);
}

static void write_block(FILE *out, const List *list, const char *study) {
  if (count_of(list, study, ROW))
    fputs("\n| figure | value | unit | goal | within |\n|---|---|---|---|---|\n", out);
  for (int i = 0; i < list->count; i++)
    if (belongs(&list->items[i], study, ROW)) write_row(out, &list->items[i]);
  if (count_of(list, study, PAPER))
    fputs("\n| figure | ours | the paper's | unit | difference | source |\n"
          "|---|---|---|---|---|---|\n",
          out);
  for (int i = 0; i < list->count; i++)
    if (belongs(&list->items[i], study, PAPER)) write_compared(out, &list->items[i]);
  if (count_of(list, study, BOTH))
    fputs(
        "\n| figure | impulses | penalty | unit | difference | CPU-s, impulses | CPU-s, penalty | "
        "ratio | the paper's ratio |\n|---|---|---|---|---|---|---|---|---|\n",
        out);
  for (int i = 0; i < list->count; i++)
    if (belongs(&list->items[i], study, BOTH)) write_compared(out, &list->items[i]);
  if (count_of(list, study, NOTE)) fputc('\n', out);
  for (int i = 0; i < list->count; i++)
    if (belongs(&list->items[i], study, NOTE)) write_note(out, list->items[i].text);
  fputc('\n', out);
}

/* The study named by a line "<!-- rows: NAME -->"; false for any other line. */
static bool block_begins(const char *line, char study[STUDY]) {
  char end[8];
  return sscanf(line, " <!-- rows: %63s %7s", study, end) == 2 && !strcmp(end, "-->");
}

static bool ran(const char *study, int dirs, char **dir, char *seen) {
  for (int i = 0; i < dirs; i++) {
    char name[STUDY];
    study_of(dir[i], name);
    if (strcmp(name, study)) continue;
    seen[i] = 1;
    return true;
  }
  return false;
}

/* A block whose study did not run stays as it stands. */
static void copy_doc(FILE *in, FILE *out, const char *doc, const List *list, int dirs, char **dir,
                     char *seen) {
  char *line = NULL, study[STUDY];
  size_t capacity = 0;
  bool skip = false, inside = false;
  while (getline(&line, &capacity, in) >= 0) {
    bool end = !strncmp(line, "<!-- end -->", 12);
    if (inside && end) {
      if (skip) write_block(out, list, study);
      skip = inside = false;
    }
    if (!skip) fputs(line, out);
    if (!inside && block_begins(line, study)) inside = true, skip = ran(study, dirs, dir, seen);
  }
  free(line);
  if (inside) stop("%s: the block of %s has no <!-- end -->", doc, study);
}

static void rewrite(const char *doc, const List *list, int dirs, char **dir) {
  char temporary[LINE], *seen = calloc((size_t)dirs + 1, 1);
  snprintf(temporary, sizeof temporary, "%s.tmp", doc);
  FILE *in = fopen(doc, "r"), *out = fopen(temporary, "w");
  if (!seen || !in || !out) stop("cannot read %s or write %s", doc, temporary);
  copy_doc(in, out, doc, list, dirs, dir, seen);
  for (int i = 0; i < dirs; i++) { /* a study nobody made a section for gets one at the end */
    char study[STUDY];
    study_of(dir[i], study);
    if (seen[i]) continue;
    fprintf(out, "\n## %s\n\n<!-- rows: %s -->\n", study, study);
    write_block(out, list, study);
    fputs("<!-- end -->\n", out);
  }
  free(seen);
  fclose(in);
  if (fflush(out) || fsync(fileno(out)) || fclose(out) || rename(temporary, doc))
    stop("cannot write %s", doc);
}

static int judge_all(const List *list, bool whole) {
  int rows = 0, misses = 0, nos = 0;
  for (int i = 0; i < list->count; i++) {
    if (list->items[i].what != ROW) continue;
    rows++;
    misses += list->items[i].within[0] == 'm';
    nos += list->items[i].within[0] == 'n';
  }
  fprintf(stderr, "%d figures: %d within, %d missed with a cause, %d not within\n", rows,
          rows - misses - nos, misses, nos);
  if (whole && 5 * misses > rows) {
    fprintf(stderr, "more than one figure in five is a miss: that is not allowed\n");
    return 1;
  }
  return nos ? 1 : 0;
}

static int docs(const char *doc, const char *csv, bool whole, int dirs, char **dir) {
  List list = {0};
  for (int i = 0; i < dirs; i++) {
    char study[STUDY];
    study_of(dir[i], study);
    read_dir(&list, dir[i]);
    read_recorded(&list, csv, study);
  }
  rewrite(doc, &list, dirs, dir);
  int status = judge_all(&list, whole);
  free(list.items);
  return status;
}

int main(int argc, char **argv) {
  const char *verb = argc > 2 ? argv[1] : "";
  List list = {0};
  int status = 2;
  if (!strcmp(verb, "rows")) {
    read_dir(&list, argv[2]);
    status = print_rows(&list);
  } else if (!strcmp(verb, "recorded")) {
    read_recorded(&list, argv[2], argc > 3 ? argv[3] : NULL);
    status = print_rows(&list);
  } else if (!strcmp(verb, "crash") && argc == 5) {
    status = crash(argv[2], argv[3], argv[4]);
  } else if (!strcmp(verb, "keep") && (argc == 8 || argc == 9)) {
    status = keep(argv[2], argv[3], argv + 4, argc == 9 ? argv[8] : "");
  } else if (!strcmp(verb, "docs") && argc >= 6) {
    status = docs(argv[2], argv[3], !strcmp(argv[4], "whole"), argc - 5, argv + 5);
  } else {
    fputs("judge-report: see the head of tests/judge/report.c\n", stderr);
  }
  free(list.items);
  if (fflush(stdout)) status = 2;
  return status;
}
