#include "support/tltest.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "conf/study.h"

#include <stdio.h>

typedef struct Wall {
  double point_m[3];
  char *name;
} Wall;
typedef struct Deep {
  int64_t count, rounds;
} Deep;
typedef struct Timing {
  double step_s, end_s;
  Deep deep;
} Timing;
typedef struct Root {
  char *title;
  int mode;
  bool fast;
  TlInts ids;
  TlTexts names;
  Timing timing;
  TlStudyList walls;
} Root;

static const TlParam wall_params[] = {
    {"point_m", TL_P_VEC3, offsetof(Wall, point_m), "m", NULL, -10, 10, NULL, "a point", NULL},
    {"name", TL_P_TEXT, offsetof(Wall, name), "", "", 0, 0, NULL, "its name", NULL},
};
static const TlParam deep_params[] = {
    {"count", TL_P_INT, offsetof(Deep, count), "", "7", 1, 100, NULL, "how many", NULL,
     .was = "number"},
    {"rounds", TL_P_INT, offsetof(Deep, rounds), "", "auto", 0, 50, NULL, "how often", NULL,
     .zero = "auto"},
};
static const TlParam timing_params[] = {
    {"step_s", TL_P_REAL, offsetof(Timing, step_s), "s", NULL, 1e-9, 1, NULL, "time step", NULL},
    {"end_s", TL_P_REAL, offsetof(Timing, end_s), "s", "0.1", 0, 0, NULL, "end", NULL},
};
static const TlParam root_params[] = {
    {"title", TL_P_TEXT, offsetof(Root, title), "", "", 0, 0, NULL, "what it is", NULL},
    {"mode", TL_P_CHOICE, offsetof(Root, mode), "", "one", 0, 0, "one|two", "which", NULL},
    {"fast", TL_P_FLAG, offsetof(Root, fast), "", "false", 0, 0, NULL, "faster", NULL},
    {"ids", TL_P_INTS, offsetof(Root, ids), "", "", 1, 1e9, NULL, "which ones", NULL},
    {"names", TL_P_TEXTS, offsetof(Root, names), "", "", 0, 0, NULL, "called what", NULL},
};
static const TlStudySection timing_sections[] = {{"deep", offsetof(Timing, deep), sizeof(Deep),
                                                  false, "deeper", deep_params, 2, NULL, 0,
                                                  .was = "nested"}};
static const TlStudySection root_sections[] = {
    {"timing", offsetof(Root, timing), sizeof(Timing), false, "time", timing_params, 2,
     timing_sections, 1},
    {"walls", offsetof(Root, walls), sizeof(Wall), true, "walls", wall_params, 2, NULL, 0},
};
static const TlStudySection schema = {"",          0, sizeof(Root),  false, "all",
                                      root_params, 5, root_sections, 2};

static TlStatus fill(const char *text, Root *root) {
  TlStudy study;
  *root = (Root){0};
  TlStatus status = tl_study_parse(&study, "a.yaml", text, strlen(text));
  if (status == TL_OK) status = tl_study_fill(&study, &schema, root);
  tl_study_free(&study);
  return status;
}

static void refused(const char *text, const char *message) {
  Root root;
  CK_FAILS(fill(text, &root), TL_EINPUT, message);
  tl_study_values_free(&schema, &root);
}

START_TEST(values_and_defaults_arrive) {
  Root root;
  CK_OK(fill("title: a b # said\nmode: two\nfast: yes\nids: [4, 5, 90]\nnames: [a, \"b, "
             "c\"]\ntiming:\n  step_s: 1e-3\n"
             "walls:\n- point_m: [1, 2.5, -3]\n- {point_m: [0, 0, 0], name: \"x: y\"}\n",
             &root));
  ck_assert_str_eq(root.title, "a b");
  ck_assert_int_eq(root.mode, 1);
  ck_assert(root.fast);
  ck_assert_int_eq(root.ids.count, 3);
  ck_assert_int_eq(root.ids.items[2], 90);
  ck_assert_int_eq(root.names.count, 2);
  ck_assert_str_eq(root.names.items[1], "b, c");
  ck_assert_double_eq(root.timing.step_s, 1e-3);
  ck_assert_double_eq(root.timing.end_s, 0.1);
  ck_assert_int_eq(root.timing.deep.count, 7);
  ck_assert_int_eq(root.walls.count, 2);
  const Wall *walls = root.walls.items;
  ck_assert_double_eq(walls[0].point_m[1], 2.5);
  ck_assert_ptr_null(walls[0].name);
  ck_assert_str_eq(walls[1].name, "x: y");
  tl_study_values_free(&schema, &root);
}
END_TEST

START_TEST(unknown_key_names_the_nearest_one) {
  refused("timing:\n  step: 1\n  step_s: 1\n", "a.yaml:2:3: timing.step: no such key; did you mean "
                                               "'step_s'?");
  refused("timeing: {step_s: 1}\n", "a.yaml:1:1: timeing: no such key; did you mean 'timing'?");
  refused("timing: {step_s: 1, fast: true}\n", "it belongs at the top level");
  refused("end_s: 1\n", "it belongs in section 'timing'");
  refused("timing: {step_s: 1}\nwalls:\n- {point_m: [1, 2, 3], end_s: 1}\n",
          "a.yaml:3:24: walls.0.end_s: no such key here; an item of 'walls' has point_m, name");
  refused("quux_of_all: 1\n", "talus-solve --keys lists them");
}
END_TEST

START_TEST(former_names_are_read_with_a_warning) {
  Root root;
  CK_OK(fill("timing: {step_s: 1, nested: {number: 9}}\n", &root));
  ck_assert_int_eq(root.timing.deep.count, 9);
  tl_study_values_free(&schema, &root);
  refused("timing: {step_s: 1, deep: {count: 8, number: 9}}\n",
          "a.yaml:1:38: timing.deep.number: is the former name of 'count'");
  refused("timing: {step_s: 1, nested: {number: 0}}\n", "timing.deep.count: 0 is out of range");
}
END_TEST

START_TEST(what_is_set_by_hand_replaces_a_key_by_its_former_name_too) {
  static const char text[] = "timing: {step_s: 1, deep: {number: 9}}\n";
  static const char *const sets[] = {"timing.deep.count=5", "timing.deep.number=5",
                                     "timing.nested.number=5", "count=5"};
  for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
    Root root = {0};
    TlStudy study;
    CK_OK(tl_study_parse(&study, "a.yaml", text, strlen(text)));
    CK_OK(tl_study_set(&study, &schema, sets[i]));
    CK_OK(tl_study_fill(&study, &schema, &root));
    ck_assert_int_eq(root.timing.deep.count, 5);
    tl_study_values_free(&schema, &root);
    tl_study_free(&study);
  }
}
END_TEST

START_TEST(wrong_types_are_refused_at_their_place) {
  refused("timing:\n  step_s: soon\n", "a.yaml:2:11: timing.step_s: 'soon' is not a number");
  refused("timing:\n  step_s: [1]\n",
          "a.yaml:2:11: timing.step_s: is a list; one number is wanted");
  refused("timing:\n  step_s: \"1\"\n", "a.yaml:2:11: timing.step_s: is quoted text");
  refused("timing: 3\n", "a.yaml:1:9: timing: is a single value");
  refused("timing: {step_s: 1, deep: {count: 2.5}}\n", "a.yaml:1:35: timing.deep.count: '2.5' is "
                                                       "not a whole number");
  refused("fast: maybe\ntiming: {step_s: 1}\n", "a.yaml:1:7: fast: 'maybe' is neither");
  refused("mode: three\ntiming: {step_s: 1}\n", "a.yaml:1:7: mode: 'three' is not one of one|two");
  refused("timing: {step_s: 1}\nwalls: {point_m: [1, 2, 3]}\n", "a.yaml:2:8: walls: is a section");
  refused("timing: {step_s: 1}\nwalls:\n- point_m: [1, 2]\n", "a.yaml:3:12: walls.0.point_m: has 2 "
                                                              "elements");
  refused("timing: {step_s: 1}\nwalls:\n- point_m: [1, 2, up]\n", "a.yaml:3:19: walls.0.point_m: "
                                                                  "'up' is not a number");
  refused("timing: {step_s: 1}\nwalls: [4]\n", "a.yaml:2:9: walls.0: is a single value");
  refused("title:\ntiming: {step_s: 1}\n", "a.yaml:1:7: title: has no value");
  refused("names: one\ntiming: {step_s: 1}\n", "names: is a single value; a list, [a, b, c]");
  refused("ids: [1, x]\ntiming: {step_s: 1}\n", "a.yaml:1:10: ids: 'x' is not a whole number");
}
END_TEST

/* A word may stand for 0: it is the default, is read and written, and 0 is still read. */
START_TEST(a_word_may_stand_for_a_number) {
  static const struct {
    const char *text, *written;
    int64_t rounds;
  } cases[] = {{"", "rounds: auto\n", 0},
               {"rounds: auto", "rounds: auto\n", 0},
               {"rounds: 0", "rounds: auto\n", 0},
               {"rounds: 12", "rounds: 12\n", 12}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    Root root;
    char *study = tl_format("timing: {step_s: 1, deep: {%s}}\n", cases[i].text), *written;
    CK_OK(fill(study, &root));
    ck_assert_int_eq(root.timing.deep.rounds, cases[i].rounds);
    CK_OK(tl_study_write(&schema, &root, &written));
    ck_assert_msg(strstr(written, cases[i].written) != NULL, "%s: %s", study, written);
    tl_free(written);
    tl_free(study);
    tl_study_values_free(&schema, &root);
  }
  refused("timing: {step_s: 1, deep: {rounds: often}}\n",
          "a.yaml:1:36: timing.deep.rounds: 'often' is not a whole number, nor 'auto'");
  refused("timing: {step_s: 1, deep: {rounds: -1}}\n", "-1 is out of range; allowed: 0 to 50");
  refused("timing: {step_s: 1, deep: {count: auto}}\n", "'auto' is not a whole number");
  char *table;
  CK_OK(tl_study_table(&schema, &table));
  ck_assert_ptr_nonnull(strstr(table, "| `rounds` | whole number or auto |  | auto | 0 to 50 |"));
  ck_assert_ptr_nonnull(strstr(table, "| `count` | whole number |"));
  tl_free(table);
}
END_TEST

START_TEST(text_after_a_number_is_refused) {
  refused("timing: {step_s: 5.7 ms}\n", "a.yaml:1:18: timing.step_s: '5.7 ms' is not a number: "
                                        "' ms' follows it");
}
END_TEST

START_TEST(numbers_must_be_finite_and_in_range) {
  refused("timing: {step_s: .nan}\n", "is not a number");
  refused("timing: {step_s: nan}\n", "is not a finite number");
  refused("timing: {step_s: inf}\n", "is not a finite number");
  refused("timing: {step_s: 1e999}\n", "is not a finite number");
  refused("timing:\n  step_s: 2\n", "a.yaml:2:11: timing.step_s: 2 is out of range; allowed: 1e-09 "
                                    "to 1 s");
  refused("timing: {step_s: 1, deep: {count: 0}}\n", "out of range");
  refused("ids: [1, 0]\ntiming: {step_s: 1}\n", "a.yaml:1:10: ids: 0 is out of range");
}
END_TEST

START_TEST(a_key_that_comes_twice_is_refused) {
  refused("timing:\n  step_s: 1\n  end_s: 2\n  step_s: 3\n", "a.yaml:4:3: 'step_s' comes twice "
                                                             "(first in line 2)");
}
END_TEST

START_TEST(a_missing_key_is_named_where_it_should_stand) {
  refused("title: x\n", "a.yaml:1:1: timing.step_s: is missing: time step [s]");
  refused("title: x\ntiming:\n  end_s: 1\n", "a.yaml:2:1: timing.step_s: is missing");
  refused("timing: {step_s: 1}\nwalls:\n- name: a\n", "a.yaml:3:3: walls.0.point_m: is missing");
  refused("", "a.yaml: the study is empty: keys with values are wanted");
  refused("# nothing yet\n", "a.yaml: the study is empty");
}
END_TEST

START_TEST(what_studies_do_not_use_of_yaml_is_refused) {
  refused("title: &a x\n", "anchors");
  refused("title: !!str x\n", "tags");
  refused("timing: {step_s: 1}\n---\nb: 1\n", "a.yaml:3:1: a second document");
  refused("- a\n- b\n", "a.yaml:1:1: not a study");
  refused("title: [a\n", "not YAML");
  refused("a: b: c\n", "a.yaml:1:5: not YAML");
  refused("\tx: 1\n", "a.yaml:1:1: a tab; YAML sets lines in with spaces");
  refused("timing:\n\tstep_s: 1\n", "a.yaml:2:1: a tab;");
  refused("timing:\n  step_s: 1\n  \tend_s: 2\n", "a.yaml:3:3: a tab;");
  refused("walls:\n-\tname: a\n\tpoint_m: [1, 2, 3]\n", "a tab;");
  refused("title: \xff\n", "not readable as YAML");
  refused("title: *a\n", "anchors, aliases");
}
END_TEST

/* A map of 200,000 keys took 30 s: each was looked for among those before it. */
START_TEST(many_keys_and_long_lists_take_no_time) {
  enum { KEYS = 200000 };
  TlYamlNode root;
  TlGrowingText text = {0};
  char line[32];
  for (int i = 0; i < KEYS; i++) {
    snprintf(line, sizeof line, "key_%d: %d\n", i * 7919 % KEYS, i);
    CK_OK(tl_text_add(&text, "", line));
  }
  double start = tl_clock_process_cpu_s();
  CK_OK(tl_yaml_parse("many.yaml", text.text, text.length, &root));
  double parsed = tl_clock_process_cpu_s() - start;
  ck_assert_uint_eq(root.count, KEYS);
  tl_yaml_free(&root);
  CK_OK(tl_text_add(&text, "", "key_77: again\n"));
  CK_FAILS(tl_yaml_parse("many.yaml", text.text, text.length, &root), TL_EINPUT,
           "many.yaml:200001:1: 'key_77' comes twice (first in line ");
  tl_yaml_free(&root);
  tl_free(text.text);
  ck_assert_msg(parsed < 5, "200,000 keys took %g s", parsed);

  TlInts many = {.count = KEYS};
  const TlParam param = {.key = "list", .type = TL_P_INTS};
  CK_OK(TL_NEW(many.items, KEYS));
  start = tl_clock_process_cpu_s();
  char *list = tl_param_format(&param, &many);
  ck_assert_ptr_nonnull(list);
  ck_assert_uint_eq(strlen(list), 2 * KEYS - 1);
  ck_assert_msg(tl_clock_process_cpu_s() - start < 5, "a list of 200,000 numbers took long");
  tl_free(list);
  tl_free(many.items);
}
END_TEST

START_TEST(what_would_take_memory_is_refused_by_line) {
  TlYamlNode root;
  TlGrowingText text = {0};
  CK_OK(tl_text_add(&text, "", "a: 1\nb: "));
  char *word = tl_calloc(70001, 1);
  memset(word, 'x', 70000);
  CK_OK(tl_text_add(&text, "", word));
  CK_FAILS(tl_yaml_parse("long.yaml", text.text, text.length, &root), TL_EINPUT,
           "long.yaml:2:4: a value of more than 65,536 bytes");
  tl_yaml_free(&root);
  text.length = 0;
  CK_OK(tl_text_add(&text, "", "a: 1\n"));
  CK_OK(tl_text_add(&text, "", word));
  CK_OK(tl_text_add(&text, "", ": 2\n"));
  CK_FAILS(tl_yaml_parse("long.yaml", text.text, text.length, &root), TL_EINPUT, "long.yaml:2:");
  tl_yaml_free(&root);
  tl_free(word);
  text.length = 0;
  CK_OK(tl_text_add(&text, "", "[0"));
  for (int i = 0; i < 1000000; i++) CK_OK(tl_text_add(&text, "", ",0"));
  CK_OK(tl_text_add(&text, "", "]"));
  CK_FAILS(tl_yaml_parse("wide.yaml", text.text, text.length, &root), TL_EINPUT,
           "wide.yaml:1:2000002: more than 1,000,000 values");
  tl_yaml_free(&root);
  tl_free(text.text);
  static const char laughs[] = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n";
  CK_FAILS(tl_yaml_parse("laughs.yaml", laughs, strlen(laughs), &root), TL_EINPUT,
           "laughs.yaml:1:4: anchors");
  tl_yaml_free(&root);
}
END_TEST

START_TEST(hostile_nesting_is_refused) {
  char text[4001];
  memset(text, '[', 4000);
  text[4000] = 0;
  refused(text, "nested too deeply");
}
END_TEST

START_TEST(the_command_line_goes_over_the_file) {
  const char *text = "timing: {step_s: 0.5}\nwalls:\n- point_m: [1, 2, 3]\n";
  TlStudy study;
  Root root = {0};
  CK_OK(tl_study_parse(&study, "a.yaml", text, strlen(text)));
  CK_OK(tl_study_set(&study, &schema, "timing.step_s=0.25"));
  CK_OK(tl_study_set(&study, &schema, "count=9"));
  CK_OK(tl_study_set(&study, &schema, "walls.0.point_m=[3, 2, 1]"));
  CK_OK(tl_study_set(&study, &schema, "title=two words"));
  CK_OK(tl_study_set(&study, &schema, "mode=two"));
  CK_OK(tl_study_set(&study, &schema, "mode="));
  CK_OK(tl_study_fill(&study, &schema, &root));
  ck_assert_double_eq(root.timing.step_s, 0.25);
  ck_assert_int_eq(root.timing.deep.count, 9);
  ck_assert_double_eq(((Wall *)root.walls.items)->point_m[0], 3);
  ck_assert_str_eq(root.title, "two words");
  ck_assert_int_eq(root.mode, 0);
  tl_study_values_free(&schema, &root);
  CK_FAILS(tl_study_set(&study, &schema, "timing"), TL_EUSAGE, "section.key=value");
  CK_FAILS(tl_study_set(&study, &schema, "title.x=3"), TL_EUSAGE, "holds no further keys");
  CK_OK(tl_study_set(&study, &schema, "step_s=4"));
  CK_FAILS(tl_study_fill(&study, &schema, &root), TL_EUSAGE,
           "--set timing.step_s: 4 is out of range");
  tl_study_values_free(&schema, &root);
  tl_study_free(&study);
}
END_TEST

START_TEST(the_effective_study_reads_back_to_the_same_bits) {
  Root root, back;
  char *text, *again;
  CK_OK(fill("title: 'quote \" and: colon'\nids: [3, 1]\nnames: ['a \"b\"', c]\n"
             "timing: {step_s: 0.1234567890123456789, end_s: 1e-300}\n"
             "walls:\n- point_m: [0.1, -0.3333333333333333, 7]\n  name: w\n- point_m: [0, 0, 0]\n",
             &root));
  CK_OK(tl_study_write(&schema, &root, &text));
  CK_OK(fill(text, &back));
  ck_assert_double_eq(back.timing.step_s, root.timing.step_s);
  ck_assert_double_eq(back.timing.end_s, root.timing.end_s);
  ck_assert_str_eq(back.title, root.title);
  ck_assert_int_eq(back.timing.deep.count, 7);
  ck_assert_mem_eq(((Wall *)back.walls.items)->point_m, ((Wall *)root.walls.items)->point_m, 24);
  CK_OK(tl_study_write(&schema, &back, &again));
  ck_assert_str_eq(text, again);
  tl_free(text);
  tl_free(again);
  tl_study_values_free(&schema, &root);
  tl_study_values_free(&schema, &back);
}
END_TEST

START_TEST(a_later_failure_is_placed_at_its_key) {
  const char *text = "title: x\ntiming:\n  step_s: 1\nwalls:\n- point_m: [1, 2, 3]\n";
  TlStudy study;
  CK_OK(tl_study_parse(&study, "a.yaml", text, strlen(text)));
  CK_FAILS(tl_study_fail(&study, TL_EINPUT, "timing.step_s", "too %s", "long"), TL_EINPUT,
           "a.yaml:3:3: timing.step_s: too long");
  CK_FAILS(tl_study_fail(&study, TL_EINPUT, "timing.end_s", "x"), TL_EINPUT,
           "a.yaml:2:1: timing.e");
  CK_FAILS(tl_study_fail(&study, TL_EINPUT, "walls.0.point_m", "x"), TL_EINPUT,
           "a.yaml:5:3: walls");
  CK_FAILS(tl_study_fail(&study, TL_EINPUT, "mode", "x"), TL_EINPUT, "a.yaml:1:1: mode: x");
  tl_study_free(&study);
}
END_TEST

START_TEST(the_table_of_keys_names_every_key) {
  char *table;
  CK_OK(tl_study_table(&schema, &table));
  ck_assert_ptr_nonnull(
      strstr(table, "| `step_s` | number | s | **required** | 1e-09 to 1 | time"));
  ck_assert_ptr_nonnull(strstr(table, "### timing.deep"));
  ck_assert_ptr_nonnull(strstr(table, "### walls (a list)"));
  ck_assert_ptr_nonnull(strstr(table, "one or two"));
  tl_free(table);
}
END_TEST

START_TEST(a_file_that_is_not_there_is_said) {
  TlStudy study;
  CK_FAILS(tl_study_read(&study, "/nowhere/a.yaml"), TL_EIO, "/nowhere/a.yaml");
  tl_study_free(&study);
}
END_TEST

TL_TEST_MAIN("study", values_and_defaults_arrive, unknown_key_names_the_nearest_one,
             former_names_are_read_with_a_warning,
             what_is_set_by_hand_replaces_a_key_by_its_former_name_too,
             wrong_types_are_refused_at_their_place, a_word_may_stand_for_a_number,
             text_after_a_number_is_refused, numbers_must_be_finite_and_in_range,
             a_key_that_comes_twice_is_refused, a_missing_key_is_named_where_it_should_stand,
             what_studies_do_not_use_of_yaml_is_refused, hostile_nesting_is_refused,
             many_keys_and_long_lists_take_no_time, what_would_take_memory_is_refused_by_line,
             the_command_line_goes_over_the_file, the_effective_study_reads_back_to_the_same_bits,
             a_later_failure_is_placed_at_its_key, the_table_of_keys_names_every_key,
             a_file_that_is_not_there_is_said)
