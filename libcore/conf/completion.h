/* Completion scripts for shells, printed from the tables of a tool (conf/cli.h): its verbs, its
 * options, the choices of an option, and the keys of a study that --set takes. A script completes
 * names of files where an option's value or an argument may be a file. It stands by itself: it
 * needs neither the tool nor another package when it completes.
 *
 * Values are told apart by the row of the option (conf/param.h): the choices of TL_P_CHOICE, and
 * of a text the words of its `arg` in lower case ("auto|none|FILE"); FILE, STACK, RUN and RASTER
 * in `arg`, or no `arg`, mean files. Lists in a study are left out: their keys have a number.
 */
#ifndef TL_CONF_COMPLETION_H
#define TL_CONF_COMPLETION_H

#include "conf/cli.h"

/* In the order of TL_SHELLS, the choices of --completion. */
typedef enum TlShell { TL_SHELL_BASH, TL_SHELL_ZSH } TlShell;
#define TL_SHELLS "bash|zsh"

/* On stdout. Whether it arrived is for tl_report_flush to say. */
void tl_completion_print(const TlTool *tool, TlShell shell);

#endif
