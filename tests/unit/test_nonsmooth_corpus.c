/* The kept problems of one step, tests/problems: problem_NN.txt with the lists and columns of the file that the program
 * writes, and answer_NN.txt with the velocities that the slow solver came to, a line a body. They stay as they are when
 * the program changes, so that a solver which goes wrong with its own rows is found out.
 *
 * The scenes are made again, too, and what the program writes of them must be what is kept, within round-off. Where rows
 * or columns change on purpose, `make problems` writes the corpus anew (TALUS_WRITE_PROBLEMS=1). */
#include "support/problem.h"
#include "support/problem_file.h"
#include "support/problem_scene.h"
#include "support/slow_solver.h"
#include "support/tltest.h"

#include "base/file.h"
#include "run/step_problems.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FOLDER "tests/problems"
#define RENEW "; make problems writes the corpus anew, where the change is meant"
enum { PROBLEMS = 32 };
static const double R = PROBLEM_R, FALL = PROBLEM_G * 1e-3;

typedef struct Paths {
  char problem[64], answer[64];
} Paths;

static Paths paths_of(int number) {
  Paths p;
  snprintf(p.problem, sizeof p.problem, FOLDER "/problem_%02d.txt", number);
  snprintf(p.answer, sizeof p.answer, FOLDER "/answer_%02d.txt", number);
  return p;
}

/* ---- answers ---- */

/* The slow solver's, to a residual of 1e-8 of g h. */
static void solve_slowly(const TlNsProblem *q, Slow *slow, int number) {
  CK_OK(slow_make(slow, q, R));
  double reached = slow_solve(slow, 1e-8 * FALL);
  ck_assert_msg(reached <= 1e-8 * FALL, "problem %d: the slow solver stops at %g of g h", number,
                reached / FALL);
  slow_move(slow, slow->lambda, false);
}

static void write_answer(const char *path, const TlNsBody *body, int32_t bodies) {
  FILE *file = fopen(path, "w");
  ck_assert_ptr_nonnull(file);
  fprintf(file, "# v_x v_y v_z (m/s) w_x w_y w_z (rad/s)\n");
  for (int32_t i = 0; i < bodies; i++)
    fprintf(file, "%.17g %.17g %.17g %.17g %.17g %.17g\n", body[i].v.x, body[i].v.y, body[i].v.z,
            body[i].w.x, body[i].w.y, body[i].w.z);
  ck_assert_int_eq(fclose(file), 0);
}

/* Largest difference of a surface's velocity from the kept answer, over g h. */
static double off_answer(const char *path, const TlNsBody *body, int32_t bodies) {
  FILE *file = fopen(path, "r");
  char line[200];
  double off = 0;
  int32_t read = -1; /* the head */
  ck_assert_msg(file != NULL, "%s is missing" RENEW, path);
  for (; fgets(line, sizeof line, file); read++) {
    TlVec3 v, w;
    if (read < 0) continue;
    ck_assert_int_lt(read, bodies);
    ck_assert_int_eq(sscanf(line, "%lf %lf %lf %lf %lf %lf", &v.x, &v.y, &v.z, &w.x, &w.y, &w.z),
                     6);
    off = fmax(off, tl_norm(tl_sub(body[read].v, v)) + R * tl_norm(tl_sub(body[read].w, w)));
  }
  ck_assert_int_eq(read, bodies);
  fclose(file);
  return off / FALL;
}

/* ---- kept problems are solved ---- */

static void check_answers(int number) {
  static const char *const name[] = {"extrapolated", "gauss-seidel", "nncg"};
  Paths path = paths_of(number);
  TlNsProblem kept;
  Slow slow;
  problem_text_read(path.problem, &kept);
  ck_assert_int_ge(kept.patches, 4);
  solve_slowly(&kept, &slow, number);
  double off = off_answer(path.answer, slow.body, kept.bodies);
  ck_assert_msg(off < 1e-6, "problem %d: the slow solver is %g of g h off the kept answer" RENEW,
                number, off);
  for (int solver = 0; solver < 3; solver++) {
    TlNsProblem fast;
    double *lambda;
    problem_text_read(path.problem, &fast);
    problem_file_solve(&fast, (TlNsSolver)solver, 100000, 1e-10 * FALL);
    CK_OK(TL_NEW(lambda, (size_t)slow.rows + 1));
    slow_take(&fast, lambda);
    double left = slow_residual(&slow, lambda) / FALL;
    ck_assert_msg(left < 1e-6, "problem %d by %s: residual %g of g h", number, name[solver], left);
    /* residuals of 1e-8 and 1e-6, over the least eigenvalue of a pile of so few */
    off = off_answer(path.answer, fast.body, fast.bodies);
    ck_assert_msg(off < 1e-4, "problem %d by %s: %g of g h off the kept answer", number,
                  name[solver], off);
    tl_free(lambda);
    problem_lists_free(&fast);
  }
  slow_free(&slow);
  problem_lists_free(&kept);
}

START_TEST(kept_problems_are_solved_by_all_solvers) {
  for (int number = 0; number < PROBLEMS; number++) check_answers(number);
}
END_TEST

/* ---- the program still writes them ---- */

/* Largest size of the columns with this unit; of velocities at least what a step of free fall gives. */
static double largest(const TlRecord *record, const char *unit, const char *row, int64_t rows) {
  double most = strcmp(unit, "m/s") == 0 ? FALL : strcmp(unit, "rad/s") == 0 ? FALL / R : 0;
  for (int64_t i = 0; i < rows; i++, row += record->bytes)
    for (int f = 0; f < record->count; f++)
      for (int k = 0; k < problem_numbers(&record->field[f]); k++) {
        double x = fabs(problem_number(&record->field[f], row, k));
        if (strcmp(record->field[f].unit, unit) == 0 && isfinite(x)) most = fmax(most, x);
      }
  return most;
}

/* Numbers of rows and bodies are the same, others within 1e-6 of the largest with their unit: they follow from some 200
 * steps. */
static void compare_column(const TlRecord *record, const TlRecordField *field, const char *a,
                           const char *b, int64_t rows, int number) {
  double most = largest(record, field->unit, a, rows), off = 0;
  for (int64_t i = 0; i < rows; i++, a += record->bytes, b += record->bytes)
    for (int k = 0; k < problem_numbers(field); k++) {
      double x = problem_number(field, a, k), y = problem_number(field, b, k);
      if (x == y) continue; /* both may be infinite */
      off = fmax(off, field->kind == TL_FIELD_I32 ? INFINITY : fabs(x - y));
    }
  ck_assert_msg(off <= 1e-6 * most, "problem %d, %s, %s: %g off, the largest is %g" RENEW, number,
                record->name, field->name, off, most);
}

/* The scene's problem, as the program writes it. */
static void make_anew(int number, TlNsProblem *q) {
  ProblemScene scene;
  Problem problem;
  char path[600];
  int kind = number / 8; /* spheres without and with friction, then boxes, eight of each */
  CK_OK(problem_scene_small(&scene, kind / 2, kind % 2 ? 0.5 : 0, (uint64_t)(number % 8)));
  CK_OK(problem_of(&problem, scene.solver, &scene.bodies));
  snprintf(path, sizeof path, "%s/again.h5", tl_test_folder());
  CK_OK(tl_step_problem_write(path, number, 0, &problem.rows.problem));
  problem_read(path, q);
  problem_free(&problem);
  problem_scene_free(&scene);
}

static void check_rows(int number) {
  TlNsProblem kept, now;
  make_anew(number, &now);
  problem_text_read(paths_of(number).problem, &kept);
  for (int list = 0; list < TL_NS_LISTS; list++) {
    const TlRecord *record = &tl_ns_record[list];
    int64_t was, is;
    const char *a = tl_ns_rows(&kept, (TlNsList)list, &was),
               *b = tl_ns_rows(&now, (TlNsList)list, &is);
    ck_assert_msg(was == is, "problem %d, %s: %lld rows, kept are %lld" RENEW, number, record->name,
                  (long long)is, (long long)was);
    for (int f = 0; f < record->count; f++)
      compare_column(record, &record->field[f], a, b, is, number);
  }
  problem_lists_free(&kept);
  problem_lists_free(&now);
}

START_TEST(the_program_writes_what_is_kept) {
  for (int number = 0; number < PROBLEMS; number++) check_rows(number);
}
END_TEST

/* ---- the corpus is written ---- */

static void write_anew(int number) {
  Paths path = paths_of(number);
  TlNsProblem now;
  Slow slow;
  make_anew(number, &now);
  problem_text_write(path.problem, &now);
  solve_slowly(&now, &slow, number);
  write_answer(path.answer, slow.body, now.bodies);
  slow_free(&slow);
  problem_lists_free(&now);
}

/* Before the others, when it is asked for. */
START_TEST(the_corpus_is_written_when_asked) {
  if (!getenv("TALUS_WRITE_PROBLEMS")) return;
  for (int number = 0; number < PROBLEMS; number++) write_anew(number);
}
END_TEST

TL_TEST_MAIN("nonsmooth corpus", the_corpus_is_written_when_asked,
             kept_problems_are_solved_by_all_solvers, the_program_writes_what_is_kept)
