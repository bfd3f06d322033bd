#include "support/tltest.h"

#include "base/mem.h"
#include "conf/cli.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

typedef struct Values {
  double sigma, centre[3];
  int64_t patch;
  bool fast;
  int method;
  char *roi;
} Values;

static const TlParam params[] = {
    {"sigma", TL_P_REAL, offsetof(Values, sigma), "grey", "1.5", 0.1, 100, NULL, "noise", NULL},
    {"centre", TL_P_VEC3, offsetof(Values, centre), "m", "0,0,0", 0, 0, NULL, "centre", NULL},
    {"patch", TL_P_INT, offsetof(Values, patch), "voxels", "5", 1, 15, NULL, "patch", NULL},
    {"fast", TL_P_FLAG, offsetof(Values, fast), "", "true", 0, 0, NULL, "fast way", NULL},
    {"method", TL_P_CHOICE, offsetof(Values, method), "", "nlm", 0, 0, "nlm|gaussian|median",
     "method", NULL},
    {"roi", TL_P_TEXT, offsetof(Values, roi), "", "auto", 0, 0, NULL, "region", NULL},
};
enum { COUNT = sizeof params / sizeof *params };

static Values seen;
static char seen_roi[32], seen_output[32], seen_argument[32];

static TlStatus keep(const TlCall *call) {
  seen = *(Values *)call->values;
  snprintf(seen_roi, sizeof seen_roi, "%s", seen.roi);
  snprintf(seen_output, sizeof seen_output, "%s", call->output ? call->output : "");
  snprintf(seen_argument, sizeof seen_argument, "%s", call->argc ? call->argv[0] : "");
  return strcmp(seen_argument, "bad") == 0 ? tl_fail(TL_EINPUT, "bad: is bad; give another")
                                           : TL_OK;
}

static const TlParamTable table = TL_PARAM_TABLE(params, Values);

static const TlTool tool = {.name = "talus-test",
                            .purpose = "Try the command line",
                            .arguments = "STACK",
                            .least_arguments = 1,
                            .most_arguments = 1,
                            .takes = TL_TAKES_OUTPUT | TL_TAKES_JSON,
                            .options = &table,
                            .run = keep,
                            .example = "  talus-test stack.tif"};

static char captured[16384];

/* Exit status of a command line; what it prints goes into captured. */
static int run_line(int argc, char **argv) {
  char path[128];
  snprintf(path, sizeof path, "%s/out", tl_test_folder());
  fflush(NULL);
  int out = dup(1), err = dup(2), fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
  dup2(fd, 1), dup2(fd, 2);
  int status = tl_cli_main(&tool, argc, argv);
  fflush(NULL);
  dup2(out, 1), dup2(err, 2);
  close(out), close(err);
  ssize_t got = pread(fd, captured, sizeof captured - 1, 0);
  captured[got < 0 ? 0 : got] = 0;
  close(fd);
  return status;
}
#define RUN(...)                                                                                   \
  run_line((int)(sizeof((char *[]){__VA_ARGS__}) / sizeof(char *)), (char *[]){__VA_ARGS__})

START_TEST(options_in_both_spellings_reach_the_struct) {
  ck_assert_int_eq(RUN("t", "--sigma=2.5", "--patch", "7", "--no-fast", "a.tif", "--method=median",
                       "-oout.h5", "--centre=1,-2,3e-1"),
                   0);
  ck_assert(seen.sigma == 2.5 && seen.patch == 7 && !seen.fast && seen.method == 2);
  ck_assert(seen.centre[0] == 1 && seen.centre[1] == -2 && seen.centre[2] == 0.3);
  ck_assert_str_eq(seen_roi, "auto");
  ck_assert_str_eq(seen_output, "out.h5");
  ck_assert_str_eq(seen_argument, "a.tif");
  ck_assert_int_eq(RUN("t", "-q", "-o", "x", "--", "--sigma"), 0);
  ck_assert_str_eq(seen_argument, "--sigma");
}
END_TEST

START_TEST(wrong_usage_exits_2_and_says_what_is_right) {
  struct {
    const char *option, *says;
  } cases[] = {{"--sigm=2", "did you mean --sigma?"},
               {"--sigma=2x", "'x' follows"},
               {"--sigma=nan", "finite"},
               {"--sigma=1e9", "0.1 to 100"},
               {"--sigma=", "not a number"},
               {"--method=mean", "nlm|gaussian|median"},
               {"--patch=3.5", "whole number"},
               {"--centre=1,2", "three numbers"},
               {"--fast=1", "takes no value"},
               {"-z", "no such option"},
               {"--seed=3", "no such option"},
               {"two", "one argument too many"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ck_assert_int_eq(RUN("t", "a.tif", (char *)cases[i].option), 2);
    ck_assert_msg(strstr(captured, cases[i].says) != NULL, "%s: '%s'", cases[i].option, captured);
    ck_assert_ptr_eq(strstr(captured, "talus-test: "), captured);
  }
  ck_assert_int_eq(RUN("t"), 2);
  ck_assert_int_eq(RUN("t", "a", "--sigma"), 2);
}
END_TEST

START_TEST(failure_exits_1_with_its_message) {
  ck_assert_int_eq(RUN("t", "bad"), 1);
  ck_assert_str_eq(captured, "talus-test: bad: is bad; give another\n");
}
END_TEST

START_TEST(help_and_man_show_every_option) {
  const char *pages[] = {"--help", "--man"};
  for (int p = 0; p < 2; p++) {
    ck_assert_int_eq(RUN("t", (char *)pages[p]), 0);
    for (int i = 0; i < COUNT; i++) ck_assert_ptr_nonnull(strstr(captured, params[i].key));
    ck_assert_ptr_nonnull(strstr(captured, "0.1 to 100"));
    ck_assert_ptr_nonnull(strstr(captured, "grey"));
  }
  ck_assert_int_eq(RUN("t", "--version"), 0);
  ck_assert_ptr_nonnull(strstr(captured, tl_version()));
}
END_TEST

START_TEST(formatted_values_parse_back_to_the_same_bits) {
  Values v = {0}, w = {0};
  CK_OK(tl_params_defaults(params, COUNT, &v));
  CK_OK(tl_params_defaults(params, COUNT, &w));
  v.sigma = 0.1 + 0.2, v.centre[1] = 1.0 / 3, v.method = 1, v.fast = false, v.patch = 9;
  for (int i = 0; i < COUNT; i++) {
    char *text = tl_param_format(&params[i], &v);
    CK_OK(tl_param_parse(&params[i], &w, text));
    tl_free(text);
  }
  ck_assert(v.sigma == w.sigma && v.centre[1] == w.centre[1] && v.method == w.method &&
            v.fast == w.fast && v.patch == w.patch);
  tl_params_free(params, COUNT, &v);
  tl_params_free(params, COUNT, &w);
}
END_TEST

TL_TEST_MAIN("conf", options_in_both_spellings_reach_the_struct,
             wrong_usage_exits_2_and_says_what_is_right, failure_exits_1_with_its_message,
             help_and_man_show_every_option, formatted_values_parse_back_to_the_same_bits)
