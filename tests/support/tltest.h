/* What every Check test of this project needs: a main from a list of tests, and numeric asserts that
 * say both sides. Tests are named after what they hold. */
#ifndef TL_TESTS_SUPPORT_TLTEST_H
#define TL_TESTS_SUPPORT_TLTEST_H

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

/* Of two sizes, the second under the sanitizers: all code once, the figures elsewhere. */
#define TL_SIZE(plain, sanitized) (getenv("TALUS_SANITIZED") ? (sanitized) : (plain))

/* First in a test of figures, or of bits over much data: beside it smaller tests take the same code
 * through the sanitizers, under which it would take a minute. */
#define TL_NOT_SANITIZED()                                                                         \
  do {                                                                                             \
    if (getenv("TALUS_SANITIZED")) return;                                                         \
  } while (0)

/* The call must succeed; the message is printed when it does not. */
#define CK_OK(call)                                                                                \
  do {                                                                                             \
    TlStatus ck_ok_status_ = (call);                                                               \
    ck_assert_msg(ck_ok_status_ == TL_OK, "%s: %s", #call, tl_message());                          \
  } while (0)

/* The call must fail with this code and a message holding text. */
#define CK_FAILS(call, code, text)                                                                 \
  do {                                                                                             \
    TlStatus ck_fails_status_ = (call);                                                            \
    ck_assert_msg(ck_fails_status_ == (code), "%s gave %d, not %d (%s)", #call,                    \
                  (int)ck_fails_status_, (int)(code), tl_message());                               \
    ck_assert_msg(strstr(tl_message(), (text)) != NULL, "'%s' is not in the message '%s'", (text), \
                  tl_message());                                                                   \
  } while (0)

#define CK_NEAR(a, b, tolerance)                                                                   \
  do {                                                                                             \
    double ck_a_ = (a), ck_b_ = (b), ck_t_ = (tolerance);                                          \
    ck_assert_msg(fabs(ck_a_ - ck_b_) <= ck_t_, "%s = %.17g, %s = %.17g, |difference| %g > %g",    \
                  #a, ck_a_, #b, ck_b_, fabs(ck_a_ - ck_b_), ck_t_);                               \
  } while (0)

/* A temporary folder of this process, removed at exit. Borrowed. */
const char *tl_test_folder(void);
/* NAME.run beside a study NAME.yaml: where its results go. Good until the next call. */
const char *tl_test_results(const char *study);
/* How many temporaries of products (base/outfile.h) lie in a folder. */
int tl_test_temporaries(const char *folder);

/* int main of a test file: TL_TEST_MAIN(name, test_a, test_b, ...), tests made by START_TEST. */
#define TL_TEST_MAIN(name, ...)                                                                    \
  int main(void) {                                                                                 \
    const TTest *const tests_[] = {__VA_ARGS__};                                                   \
    Suite *suite_ = suite_create(name);                                                            \
    TCase *case_ = tcase_create(name);                                                             \
    tcase_set_timeout(case_, 600);                                                                 \
    for (size_t i_ = 0; i_ < sizeof tests_ / sizeof *tests_; i_++)                                 \
      tcase_add_test(case_, tests_[i_]);                                                           \
    suite_add_tcase(suite_, case_);                                                                \
    SRunner *runner_ = srunner_create(suite_);                                                     \
    srunner_run_all(runner_, CK_ENV);                                                              \
    int failed_ = srunner_ntests_failed(runner_);                                                  \
    srunner_free(runner_);                                                                         \
    return failed_ ? EXIT_FAILURE : EXIT_SUCCESS;                                                  \
  }

#endif
