#include "conf/cli.h"

#include "base/claims.h"
#include "base/comm.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/par.h"
#include "base/report.h"
#include "conf/completion.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The options that every tool shares, read through the same kind of table. */
typedef struct Common {
  bool help, version, quiet, verbose, dry_run, overwrite, json, progress, man;
  int64_t threads, seed;
  int completion; /* a TlShell; below 0: not asked for */
  char *output;
} Common;

static const TlParam common_params[] = {
    {"output", TL_P_TEXT, offsetof(Common, output), "", "", 0, 0, NULL,
     "write the product here (-o)", "FILE"},
    {"overwrite", TL_P_FLAG, offsetof(Common, overwrite), "", "false", 0, 0, NULL,
     "replace the output when it exists", NULL},
    {"seed", TL_P_INT, offsetof(Common, seed), "", "1", 0, 9e15, NULL,
     "seed of the random numbers; the same seed gives the same product", "N"},
    {"dry-run", TL_P_FLAG, offsetof(Common, dry_run), "", "false", 0, 0, NULL,
     "say what would be done (sizes, memory, outputs) and stop (-n)", NULL},
    {"json", TL_P_FLAG, offsetof(Common, json), "", "false", 0, 0, NULL,
     "print the summary as one JSON object", NULL},
    {"threads", TL_P_INT, offsetof(Common, threads), "", "0", 0, 4096, NULL,
     "threads to use; 0: the CPUs that affinity and control groups leave (-@)", "N"},
    {"progress", TL_P_FLAG, offsetof(Common, progress), "", "false", 0, 0, NULL,
     "show progress even when stderr is no terminal; --no-progress: never", NULL},
    {"quiet", TL_P_FLAG, offsetof(Common, quiet), "", "false", 0, 0, NULL,
     "print nothing but errors, and what --json, --dry-run or a listing was asked for (-q)", NULL},
    {"verbose", TL_P_FLAG, offsetof(Common, verbose), "", "false", 0, 0, NULL, "say more (-v)",
     NULL},
    {"help", TL_P_FLAG, offsetof(Common, help), "", "false", 0, 0, NULL, "print this help (-h)",
     NULL},
    {"version", TL_P_FLAG, offsetof(Common, version), "", "false", 0, 0, NULL,
     "print version, commit and build flags", NULL},
    {"man", TL_P_FLAG, offsetof(Common, man), "", "false", 0, 0, NULL, "print the man page (roff)",
     NULL},
    {"completion", TL_P_CHOICE, offsetof(Common, completion), "", NULL, 0, 0, TL_SHELLS,
     "print what this shell completes for the tool, as a script for it", NULL},
};
enum { COMMON_COUNT = sizeof common_params / sizeof *common_params };

static const TlParamTable *options_of(const TlTool *tool) {
  static const TlParamTable none;
  return tool->options ? tool->options : &none;
}

static bool taken(const TlTool *tool, const TlParam *param) {
  const char *key = param->key;
  if (strcmp(key, "output") == 0 || strcmp(key, "overwrite") == 0)
    return tool->takes & TL_TAKES_OUTPUT;
  if (strcmp(key, "seed") == 0) return tool->takes & TL_TAKES_SEED;
  if (strcmp(key, "dry-run") == 0) return tool->takes & TL_TAKES_DRY_RUN;
  if (strcmp(key, "json") == 0) return tool->takes & TL_TAKES_JSON;
  if (strcmp(key, "completion") == 0) return !strchr(tool->name, ' '); /* a verb has none */
  return true;
}

static const struct {
  char letter;
  const char *key;
} letters[] = {{'h', "help"},    {'q', "quiet"},  {'v', "verbose"},
               {'n', "dry-run"}, {'o', "output"}, {'@', "threads"}};
enum { LETTERS = sizeof letters / sizeof *letters };

static const char *long_of_short(char c) {
  for (size_t i = 0; i < LETTERS; i++)
    if (letters[i].letter == c) return letters[i].key;
  return NULL;
}

char tl_cli_letter(const TlParam *option) {
  if (option < common_params || option >= common_params + COMMON_COUNT) return 0;
  for (size_t i = 0; i < LETTERS; i++)
    if (strcmp(letters[i].key, option->key) == 0) return letters[i].letter;
  return 0;
}

const TlParam *tl_cli_option(const TlTool *tool, size_t index) {
  const TlParamTable *own = options_of(tool);
  for (size_t i = 0; i < own->count; i++)
    if (own->rows[i].type != TL_P_HEADING && index-- == 0) return &own->rows[i];
  for (size_t i = 0; i < COMMON_COUNT; i++)
    if (taken(tool, &common_params[i]) && index-- == 0) return &common_params[i];
  return NULL;
}

static const TlParam *find(const TlParam *params, size_t count, const char *key, size_t length) {
  for (size_t i = 0; i < count; i++)
    if (params[i].type != TL_P_HEADING && strncmp(params[i].key, key, length) == 0 &&
        params[i].key[length] == 0)
      return &params[i];
  return NULL;
}

/* ---- help and man page, from the tables ---- */

/* "sentence; unit; range; default" of an option. */
static void explain(const TlParam *p, char *text, size_t size) {
  int used = snprintf(text, size, "%s", p->help);
  if (p->unit && p->unit[0]) used += snprintf(text + used, size - (size_t)used, " [%s]", p->unit);
  if (p->min != 0 || p->max != 0)
    used += snprintf(text + used, size - (size_t)used, " (%g to %g)", p->min, p->max);
  if (p->type != TL_P_FLAG && p->def && p->def[0])
    snprintf(text + used, size - (size_t)used, " (default %s)", p->def);
}

static void print_wrapped(const char *text, int indent, int width) {
  int column = indent;
  while (*text) {
    int length = (int)strcspn(text, " ");
    if (column > indent && column + 1 + length > width) {
      printf("\n%*s", indent, "");
      column = indent;
    } else if (column > indent) {
      putchar(' ');
      column++;
    }
    printf("%.*s", length, text);
    column += length;
    text += length;
    while (*text == ' ') text++;
  }
  putchar('\n');
}

static void print_option(const TlParam *p) {
  char text[1024];
  if (p->type == TL_P_HEADING) {
    printf("\n%s:\n", p->help);
    return;
  }
  const char *arg = tl_param_value_name(p);
  int used = printf("  --%s%s%s", p->key, arg ? "=" : "", arg ? arg : "");
  explain(p, text, sizeof text);
  if (used > 26)
    printf("\n%28s", "");
  else
    printf("%*s", 28 - used, "");
  print_wrapped(text, 28, 100);
}

static void print_help(const TlTool *tool) {
  printf("Usage: %s %s%s%s\n%s.\n", tool->name, tool->verbs ? "VERB " : "",
         tool->verbs ? "..." : "[OPTION]... ", tool->arguments ? tool->arguments : "",
         tool->purpose);
  if (tool->description) printf("\n%s\n", tool->description);
  if (tool->verbs) {
    printf("\nVerbs (each has its own --help):\n");
    for (const TlTool *const *verb = tool->verbs; *verb; verb++)
      printf("  %-26s%s\n", strchr((*verb)->name, ' ') + 1, (*verb)->purpose);
  }
  bool headed = options_of(tool)->count > 0 && options_of(tool)->rows[0].type == TL_P_HEADING;
  if (options_of(tool)->count > 0 && !headed) printf("\nOptions:\n");
  for (size_t i = 0; i < options_of(tool)->count; i++) print_option(&options_of(tool)->rows[i]);
  printf("\nCommon options:\n");
  for (size_t i = 0; i < COMMON_COUNT; i++)
    if (taken(tool, &common_params[i])) print_option(&common_params[i]);
  if (tool->example) printf("\nExample:\n%s\n", tool->example);
  printf("\nExit status: 0 done, 1 failed, 2 wrong usage.\n");
}

static void roff_text(const char *text) {
  bool start = true;
  for (; *text; text++) {
    if (start && (*text == '.' || *text == '\'')) fputs("\\&", stdout);
    if (*text == '\\')
      fputs("\\e", stdout);
    else if (*text == '-')
      fputs("\\-", stdout);
    else
      putchar(*text);
    start = *text == '\n';
  }
}

static void man_options(const TlTool *tool, const TlParam *params, size_t count) {
  char text[1024];
  for (size_t i = 0; i < count; i++) {
    if (params[i].type == TL_P_HEADING) {
      printf(".SS ");
      roff_text(params[i].help);
      putchar('\n');
      continue;
    }
    if (params == common_params && !taken(tool, &params[i])) continue;
    const char *arg = tl_param_value_name(&params[i]);
    printf(".TP\n.B ");
    roff_text("--");
    roff_text(params[i].key);
    if (arg) printf("=\\fI%s\\fR", arg);
    putchar('\n');
    explain(&params[i], text, sizeof text);
    roff_text(text);
    putchar('\n');
  }
}

static void man_body(const TlTool *tool) {
  printf(".SH SYNOPSIS\n.B ");
  roff_text(tool->name);
  printf("\n%s%s\n", tool->verbs ? "VERB ..." : "[OPTION]... ",
         tool->arguments ? tool->arguments : "");
  printf(".SH DESCRIPTION\n");
  roff_text(tool->purpose);
  printf(".\n");
  if (tool->description) {
    printf(".PP\n.nf\n");
    roff_text(tool->description);
    printf("\n.fi\n");
  }
  printf(".SH OPTIONS\n");
  man_options(tool, options_of(tool)->rows, options_of(tool)->count);
  man_options(tool, common_params, COMMON_COUNT);
  if (!tool->example) return;
  printf(".SH EXAMPLE\n.nf\n");
  roff_text(tool->example);
  printf("\n.fi\n");
}

static void print_man(const TlTool *tool) {
  printf(".TH %s 1 \"\" \"Talus %s\" \"Talus manual\"\n.SH NAME\n", tool->name, tl_version());
  roff_text(tool->name);
  printf(" \\- ");
  roff_text(tool->purpose);
  putchar('\n');
  man_body(tool);
  for (const TlTool *const *verb = tool->verbs; verb && *verb; verb++) {
    printf(".SH VERB ");
    roff_text(strchr((*verb)->name, ' ') + 1);
    putchar('\n');
    roff_text((*verb)->purpose);
    printf(".\n");
    if ((*verb)->description) {
      printf(".PP\n.nf\n");
      roff_text((*verb)->description);
      printf("\n.fi\n");
    }
    man_options(*verb, options_of(*verb)->rows, options_of(*verb)->count);
  }
  printf(".SH EXIT STATUS\n0 done, 1 failed, 2 wrong usage.\n");
}

/* ---- parsing ---- */

static TlStatus unknown_option(const TlTool *tool, const char *text, size_t length) {
  char key[64];
  snprintf(key, sizeof key, "%.*s", (int)length, text);
  const char *near = tl_param_nearest(options_of(tool)->rows, options_of(tool)->count, key);
  if (!near) near = tl_param_nearest(common_params, COMMON_COUNT, key);
  const TlParam *common = near ? find(common_params, COMMON_COUNT, near, strlen(near)) : NULL;
  if (common && !taken(tool, common)) near = NULL;
  return tl_fail(TL_EUSAGE, "--%s: no such option%s%s%s; see %s --help", key,
                 near ? "; did you mean --" : "", near ? near : "", near ? "?" : "", tool->name);
}

/* One "--key", "--key=value" or "--no-key"; *used counts arguments eaten. */
static TlStatus long_option(const TlTool *tool, void *values, Common *common, const char *text,
                            const char *next, int *used) {
  const char *equals = strchr(text, '=');
  size_t length = equals ? (size_t)(equals - text) : strlen(text);
  void *base = values;
  bool negated = false;
  const TlParam *param = find(options_of(tool)->rows, options_of(tool)->count, text, length);
  if (!param && (param = find(common_params, COMMON_COUNT, text, length))) base = common;
  if (!param && strncmp(text, "no-", 3) == 0) {
    negated = true;
    base = values;
    param = find(options_of(tool)->rows, options_of(tool)->count, text + 3, length - 3);
    if (!param && (param = find(common_params, COMMON_COUNT, text + 3, length - 3))) base = common;
    if (param && param->type != TL_P_FLAG) param = NULL;
  }
  if (!param || (base == common && !taken(tool, param))) return unknown_option(tool, text, length);
  if (base == common && strcmp(param->key, "progress") == 0)
    tl_progress_mode(negated ? TL_PROGRESS_OFF : TL_PROGRESS_ON);
  const char *value = equals ? equals + 1 : next;
  if (param->type == TL_P_FLAG) {
    if (equals) return tl_fail(TL_EUSAGE, "--%s takes no value", param->key);
    value = negated ? "false" : "true";
  } else if (!value) {
    return tl_fail(TL_EUSAGE, "--%s wants a value: --%s=%s", param->key, param->key,
                   tl_param_value_name(param));
  } else if (!equals) {
    *used = 2;
  }
  TlStatus status = tl_context(tl_param_parse(param, base, value), "--%s", param->key);
  return status == TL_EINPUT ? TL_EUSAGE : status;
}

/* "-o FILE", "-oFILE", "-qv". */
static TlStatus short_options(const TlTool *tool, void *values, Common *common, const char *text,
                              const char *next, int *used) {
  for (const char *c = text; *c; c++) {
    const char *key = long_of_short(*c);
    const TlParam *param = key ? find(common_params, COMMON_COUNT, key, strlen(key)) : NULL;
    if (!param || !taken(tool, param))
      return tl_fail(TL_EUSAGE, "-%c: no such option; see %s --help", *c, tool->name);
    if (param->type == TL_P_FLAG) {
      TL_TRY(long_option(tool, values, common, key, NULL, used));
      continue;
    }
    return long_option(tool, values, common, key, c[1] ? c + 1 : next, used) == TL_OK
               ? (*used = c[1] ? 1 : 2, TL_OK)
               : TL_EUSAGE;
  }
  return TL_OK;
}

static TlStatus parse(const TlTool *tool, int argc, char **argv, void *values, Common *common,
                      TlCall *call) {
  bool options = true;
  for (int i = 1; i < argc;) {
    const char *arg = argv[i], *next = i + 1 < argc ? argv[i + 1] : NULL;
    int used = 1;
    if (options && strcmp(arg, "--") == 0)
      options = false;
    else if (options && strncmp(arg, "--", 2) == 0)
      TL_TRY(long_option(tool, values, common, arg + 2, next, &used));
    else if (options && arg[0] == '-' && arg[1])
      TL_TRY(short_options(tool, values, common, arg + 1, next, &used));
    else
      call->argv[call->argc++] = argv[i];
    i += used;
  }
  return TL_OK;
}

/* "-o ." would scatter a run's or a measure's files among the user's own. */
static TlStatus check_folder(const char *output) {
  struct stat it, here;
  if (stat(output, &it) != 0 || !S_ISDIR(it.st_mode) || stat(".", &here) != 0 ||
      it.st_dev != here.st_dev || it.st_ino != here.st_ino)
    return TL_OK;
  DIR *list = opendir(output);
  if (!list) return tl_fail_errno(output, "cannot list the folder");
  int others = 0;
  for (struct dirent *entry; (entry = readdir(list));)
    others += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
  closedir(list);
  if (others == 0) return TL_OK;
  return tl_fail(TL_EUSAGE,
                 "-o %s: is the current folder and not empty; the files would lie among those that "
                 "are there: give a folder of their own, e.g. -o results",
                 output);
}

static TlStatus check(const TlTool *tool, const TlCall *call) {
  if (call->argc < tool->least_arguments)
    return tl_fail(TL_EUSAGE, "%s wanted; see %s --help", tool->arguments, tool->name);
  if (tool->most_arguments >= 0 && call->argc > tool->most_arguments)
    return tl_fail(TL_EUSAGE, "'%s': one argument too many; see %s --help",
                   call->argv[tool->most_arguments], tool->name);
  if ((tool->takes & TL_NEEDS_OUTPUT) == TL_NEEDS_OUTPUT && !call->output)
    return tl_fail(TL_EUSAGE, "-o/--output wanted: where to write the result");
  return call->output ? check_folder(call->output) : TL_OK;
}

static TlStatus claim_output(const TlCall *call, const char *option, const char *path) {
  return tl_claim_output(path, option, call->overwrite || call->dry_run);
}

static TlStatus claim_outputs(const TlTool *tool, const TlCall *call) {
  if (call->output)
    TL_TRY(tool->takes & TL_OUTPUT_FOLDER ? tl_claim_write(call->output, "-o")
                                          : claim_output(call, "-o", call->output));
  for (size_t i = 0; i < options_of(tool)->count; i++) {
    const TlParam *param = &options_of(tool)->rows[i];
    const char *path = param->role ? *(char **)((char *)call->values + param->offset) : NULL;
    if (!path || !path[0]) continue;
    char option[64];
    snprintf(option, sizeof option, "--%s", param->key);
    TL_TRY(param->role == TL_ROLE_CHANGES ? tl_claim_write(path, option)
                                          : claim_output(call, option, path));
  }
  return TL_OK;
}

/* What was set goes into the provenance, all parameters of the tool with their values. */
static TlStatus record(const TlTool *tool, const void *values, TlProvenance *provenance) {
  for (size_t i = 0; i < options_of(tool)->count; i++) {
    if (options_of(tool)->rows[i].type == TL_P_HEADING) continue;
    char *text = tl_param_format(&options_of(tool)->rows[i], values);
    if (!text) return TL_ENOMEM;
    TlStatus status = tl_provenance_parameter(provenance, options_of(tool)->rows[i].key, text);
    tl_free(text);
    if (status != TL_OK) return status;
  }
  return TL_OK;
}

static TlStatus run(const TlTool *tool, const Common *common, TlCall *call) {
  tl_log_set(tool->name, common->quiet     ? TL_LOG_ERROR
                         : common->verbose ? TL_LOG_DEBUG
                                           : TL_LOG_INFO);
  if (common->threads > 0) tl_par_set_threads((int)common->threads);
  tl_log_debug("%d thread%s: %s", tl_par_threads(), tl_par_threads() > 1 ? "s" : "",
               tl_par_reason());
  call->output = common->output;
  call->overwrite = common->overwrite;
  call->dry_run = common->dry_run;
  call->json = common->json;
  call->seed = (uint64_t)common->seed;
  tl_report_mute(common->quiet && !common->json && !common->dry_run && !(tool->takes & TL_TELLS));
  call->provenance->threads = tl_par_threads();
  call->provenance->plan = call->dry_run;
  call->provenance->seed = call->seed;
  TL_TRY(check(tool, call));
  TL_TRY(claim_outputs(tool, call));
  TL_TRY(record(tool, call->values, call->provenance));
  return tool->run(call);
}

static TlStatus parse_and_run(const TlTool *tool, int argc, char **argv, TlCall *call,
                              Common *common) {
  TL_TRY(tl_params_defaults(common_params, COMMON_COUNT, common));
  TL_TRY(tl_params_defaults(options_of(tool)->rows, options_of(tool)->count, call->values));
  TL_TRY(parse(tool, argc, argv, call->values, common, call));
  if (common->help) return print_help(tool), TL_OK;
  if (common->man) return print_man(tool), TL_OK;
  if (common->completion >= 0) return tl_completion_print(tool, (TlShell)common->completion), TL_OK;
  if (common->version) {
    printf("%s %s (%s)\n%s\n", tool->name, tl_version(), tl_commit(), tl_build());
    return TL_OK;
  }
  if (!tool->run) return tl_fail(TL_EUSAGE, "a verb is wanted first; see %s --help", tool->name);
  return run(tool, common, call);
}

static const TlTool *verb_of(const TlTool *tool, int argc, char **argv) {
  if (argc < 2) return NULL;
  for (const TlTool *const *verb = tool->verbs; verb && *verb; verb++)
    if (strcmp(strchr((*verb)->name, ' ') + 1, argv[1]) == 0) return *verb;
  return NULL;
}

int tl_cli_main(const TlTool *tool, int argc, char **argv) {
  TlProvenance provenance;
  tl_par_start(argv);
  tl_provenance_begin(&provenance, tool->name, argc, argv);
  const TlTool *verb = verb_of(tool, argc, argv);
  Common common = {.completion = -1};
  TlCall call = {.provenance = &provenance};
  TlStatus status = TL_OK;
  tl_log_set(tool->name, TL_LOG_INFO);
  if (verb) {
    tool = verb;
    argc--;
    argv++;
  } else if (tool->verbs && argc > 1 && argv[1][0] != '-') {
    status = tl_fail(TL_EUSAGE, "'%s': no such verb; see %s --help", argv[1], tool->name);
  }
  call.values = tl_calloc(1, options_of(tool)->size + 1);
  call.argv = tl_calloc((size_t)argc + 1, sizeof *call.argv);
  if (!call.values || !call.argv) status = TL_ENOMEM;
  if (status == TL_OK) status = parse_and_run(tool, argc, argv, &call, &common);
  if (status == TL_OK) status = tl_report_flush();
  if (status != TL_OK) tl_log_error("%s", tl_message());
  if (call.values) tl_params_free(options_of(tool)->rows, options_of(tool)->count, call.values);
  tl_params_free(common_params, COMMON_COUNT, &common);
  tl_free(call.values);
  tl_free(call.argv);
  tl_provenance_free(&provenance);
  tl_claims_forget();
  return tl_exit_code(status);
}

/* Ranks of a machine share its cores. */
static TlStatus share_cores(TlComm *comm) {
  TlCpuSet mine = tl_par_cpus(), *all;
  TL_TRY(tl_comm_agree(comm, TL_NEW(all, (size_t)tl_comm_node_size(comm))));
  TlStatus status = tl_comm_gather_node(comm, &mine, all, sizeof mine);
  if (status == TL_OK)
    tl_par_set_fair_threads(all, tl_comm_node_size(comm), tl_comm_node_rank(comm));
  tl_free(all);
  return status;
}

int tl_cli_ranks_main(const TlTool *tool, const bool *in_step, int argc, char **argv) {
  TlComm *comm = NULL;
  tl_log_set(tool->name, TL_LOG_INFO);
  tl_par_start(argv);
  TlStatus status = tl_comm_start(&comm, &argc, &argv);
  if (status == TL_OK) status = share_cores(comm);
  if (status != TL_OK) {
    tl_log_error("%s", tl_message());
    tl_comm_stop(comm);
    return 1;
  }
  int code = tl_cli_main(tool, argc, argv);
  if (code == 1 && !*in_step) tl_comm_abort(comm);
  tl_comm_stop(comm);
  return code;
}
