/* Command lines of the tools: from one table follow parsing, --help, man page and exit status.
 *
 * A tool is a TlTool; its main() is `return tl_cli_main(&tool, argc, argv);`. Options every tool
 * has: -h/--help, --version, -q/--quiet, -v/--verbose, -n/--dry-run, -o/--output,
 * -@/--threads, --overwrite, --seed, --json, --progress / --no-progress, --man (the page itself),
 * --completion (what a shell completes, conf/completion.h; of a tool, not of its verbs).
 * --key=value and --key value; "--" ends the options; unknown options name the nearest one.
 * What -o and the options of a role (conf/param.h) name is claimed before the tool runs: an output
 * that exists needs --overwrite, and one that is an input is refused in any case.
 * tl_cli_main prints "tool: message" on stderr on failure and returns 0 / 1 / 2.
 * With verbs (talus-catalog list ...), argv[1] names a verb: a TlTool of its own.
 */
#ifndef TL_CONF_CLI_H
#define TL_CONF_CLI_H

#include "base/provenance.h"
#include "conf/param.h"

/* Which of the common options a tool takes (-h, --version, -q, -v, progress, -@ always). */
enum {
  TL_TAKES_OUTPUT = 1, /* -o/--output, --overwrite */
  TL_NEEDS_OUTPUT = 3, /* ... and cannot do without */
  TL_TAKES_SEED = 4,
  TL_TAKES_DRY_RUN = 8,
  TL_TAKES_JSON = 16,
  TL_OUTPUT_FOLDER = 32, /* -o is a folder, or may be: one that exists is taken */
  TL_TELLS = 64          /* what it prints is its product: --quiet leaves it */
};

typedef struct TlCall {
  void *values; /* the tool's own struct, filled through its table */
  int argc;     /* positional arguments */
  char **argv;  /* borrowed */
  char *output; /* NULL when not given */
  bool overwrite, dry_run, json;
  uint64_t seed;
  TlProvenance *provenance; /* tool, argv, start, threads and seed are filled in */
} TlCall;

typedef struct TlTool {
  const char *name;        /* "talus-denoise" */
  const char *purpose;     /* a line */
  const char *arguments;   /* positional part of the usage line: "STACK" */
  const char *description; /* paragraphs of the help, plain text, lines under 79 columns */
  const char *example;     /* lines a user can paste */
  int least_arguments, most_arguments; /* most < 0: any number */
  unsigned takes;
  const TlParamTable *options; /* NULL: none of its own */
  TlStatus (*run)(const TlCall *call);
  const struct TlTool *const *verbs;  /* NULL-terminated, or NULL */
  const struct TlStudySection *study; /* schema of the keys that the option --set takes, or NULL */
} TlTool;

int tl_cli_main(const TlTool *tool, int argc, char **argv);
/* The same for a tool that starts alone or under mpirun: begins and ends MPI (tl_comm_world), and lets
 * the ranks of a machine share its cores. *in_step: set by the tool once its ranks ask each other how
 * they fare (tl_comm_agree); what fails before fails on one alone, but for wrong usage, which all of
 * them see. */
int tl_cli_ranks_main(const TlTool *tool, const bool *in_step, int argc, char **argv);

/* The options that a tool takes, its own before the common ones, without headings; NULL after the
 * last. */
const TlParam *tl_cli_option(const TlTool *tool, size_t index);
/* The letter of an option ('o' of --output); 0: it has none. */
char tl_cli_letter(const TlParam *option);

#endif
