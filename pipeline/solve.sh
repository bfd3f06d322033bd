#!/usr/bin/env bash
# Run a study, or go on where the same command was stopped:
#   solve.sh RUN "INPUT..." "SOLVER..." STUDY [OPTION]...
# SOLVER is the command that starts the solver; RUN gets its results, RUN.command what was asked.
# With a checkpoint in RUN, the same command and no INPUT younger than it, the run is resumed.
set -u
run=$1 inputs=$2 solver=$3
shift 3
asked=$(printf '%s\n' "$@")
again=$([ -e "$run.command" ] && [ "$(cat "$run.command")" = "$asked" ] &&
  [ -n "$(find "$run" -name 'checkpoint_*.tck' 2>/dev/null)" ] && echo yes)
for input in $inputs; do
  [ ! "$input" -nt "$run.command" ] || again=
done
# SOLVER is words: shellcheck disable=SC2086
if [ "$again" ]; then
  exec $solver --resume "$run"
fi
printf '%s\n' "$asked" >"$run.command" || exit 1
# shellcheck disable=SC2086
exec $solver "$@" -o "$run" --overwrite
