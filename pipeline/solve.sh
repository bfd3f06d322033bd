#!/usr/bin/env bash
# Run a study, or go on where the same command was stopped:
#   solve.sh RUN INPUT... -- SOLVER... -- STUDY [OPTION]...
# SOLVER is the command that starts the solver; RUN gets its results, RUN.command what they are of
# and RUN.asked what was asked last, which the solver may have refused: a refused command neither
# takes the results before it for its own nor takes them away from the command they are of.
# With the same command, no INPUT younger than it and a checkpoint that is, the run is resumed.
set -u
run=$1
shift
inputs=() solver=()
while [ "$1" != -- ]; do inputs+=("$1"); shift; done
shift
while [ "$1" != -- ]; do solver+=("$1"); shift; done
shift
asked=$(printf '%s\n' "$@")
if [ "$run/study.yaml" -nt "$run.asked" ] && [ -e "$run.asked" ]; then # not refused
  mv "$run.asked" "$run.command" || exit 1
fi
again=$([ -e "$run.command" ] && [ "$(cat "$run.command")" = "$asked" ] &&
  [ -n "$(find "$run" -name 'checkpoint_*.tck' -newer "$run.command" 2>/dev/null)" ] && echo yes)
for input in "${inputs[@]}"; do
  [ ! "$input" -nt "$run.command" ] || again=
done
if [ "$again" ]; then
  rm -f "$run.asked"
  exec "${solver[@]}" --resume "$run"
fi
printf '%s\n' "$asked" >"$run.asked" || exit 1
exec "${solver[@]}" "$@" -o "$run" --overwrite
