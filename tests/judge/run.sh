#!/usr/bin/env bash
# Run judging programs: tests/judge/run.sh validation|bench|score|full [STUDY]; make sets TESTBIN.
# score: with TALUS_PHANTOM the figures on that phantom (names ending in _given) are recorded in
# docs/validation/score.csv, without it they are shown from there.
# stdout: one line a figure. docs/ are rewritten from the same records: all blocks of what ran.
# All of validation runs JUDGE_JOBS studies side by side (by default one a core), each with one thread, the longest
# first. A single study has the machine to itself, and so has each program of bench.
set -u
cd "$(dirname "$0")/../.." || exit 2
kind=$1 only=${2:-}
: "${TESTBIN:?set by make}"
out=${JUDGE_OUT:-build} docs=${JUDGE_DOCS:-docs}
csv=$docs/validation/full.csv report=$TESTBIN/judge-report
prefix=val doc=$docs/validation.md extra=() limit=${JUDGE_LIMIT:-1800}
case $kind in
validation) ;;
bench) prefix=bench doc=$docs/performance.md csv=/dev/null ;;
score) prefix=score doc=$docs/imaging.md csv=$docs/validation/score.csv ;;
full) extra=(--full) limit=${JUDGE_LIMIT:-86400}
  [ -n "$only" ] || { echo "make validation-full needs STUDY=name" >&2; exit 2; } ;;
*) echo "tests/judge/run.sh: validation, bench, score or full, not '$kind'" >&2; exit 2 ;;
esac

programs=("$TESTBIN/${prefix}_"*)
[ -z "$only" ] || programs=("$TESTBIN/${prefix}_$only")
[ -x "${programs[0]}" ] || { echo "no study '${only:-$prefix}': there is ${prefix}_*.c in tests/" >&2; exit 2; }
study_of() { local name; name=$(basename "$1"); echo "${name#"${prefix}"_}"; }
folder_of() { echo "$out/$kind/$(study_of "$1")"; }
started=$(date +%s) dirs=() early=() bad=0 jobs=1 busy=0
for program in "${programs[@]}"; do dirs+=("$(folder_of "$program")"); done
if [ "$kind" = validation ] && [ -z "$only" ]; then
  jobs=${JUDGE_JOBS:-$(nproc)} limit=${JUDGE_LIMIT:-3600}
  [ "$jobs" -le 1 ] || export OMP_NUM_THREADS=1
  for study in three_methods triaxial repose heap avalanche reduction lsdrop traction chantsura; do
    [ ! -x "$TESTBIN/${prefix}_$study" ] || early+=("$TESTBIN/${prefix}_$study")
  done
fi
mapfile -t queue < <(printf '%s\n' "${early[@]}" "${programs[@]}" | awk 'NF && !seen[$0]++')
given=
commit=$(git describe --always --dirty --abbrev=10 2>/dev/null || echo unknown) # before docs/ are written
if [ "$kind" = score ] && [ -n "${TALUS_PHANTOM:-}" ]; then
  given=yes
  mkdir -p "$(dirname "$csv")" || exit 2
fi
# Append the rows just made (those whose names end in $2) to the record.
keep() { # wall seconds, suffix
  "$report" keep "$csv" "$dir" "$commit" "$(date -u +%F)" \
    "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1) $(nproc --all) cores" "$1" ${2:+"$2"} || exit 2
}
# Those that run write a line here when they end: exit status, seconds, program.
running=()
fifo=$(mktemp -u) && mkfifo "$fifo" && exec {ended}<>"$fifo" && rm "$fifo" || exit 2
trap 'kill "${running[@]}" 2>/dev/null; exit 130' INT TERM
start() { # program
  local dir
  dir=$(folder_of "$1")
  mkdir -p "$dir" && rm -f "$dir/records.txt"
  {
    trap 'kill $! 2>/dev/null' INT TERM
    timeout -k 10 "$limit" "$1" --out "$dir" "${extra[@]}" >"$dir/stdout.txt" 2>"$dir/stderr.txt" </dev/null &
    began=$(date +%s) code=0
    wait $! || code=$?
    echo "$code $(($(date +%s) - began)) $1" >&"$ended"
  } &
  running+=($!) busy=$((busy + 1))
}
# Wait for the next to end; its rows, pictures and records.
finish() {
  read -r code wall one <&"$ended"
  study=$(study_of "$one") dir=$(folder_of "$one") busy=$((busy - 1))
  if [ "$code" -gt 1 ] || ! grep -q '^end' "$dir/records.txt" 2>/dev/null; then
    "$report" crash "$dir" "$study" "exit status $code after $wall s" || exit 2
    tail -20 "$dir/stderr.txt" >&2
  fi
  "$report" rows "$dir" || bad=1
  for picture in "$dir/$study"*.png; do
    [ ! -e "$picture" ] || { mkdir -p "$docs/pictures" && cp "$picture" "$docs/pictures/"; }
  done
  if [ "$kind" = full ]; then
    mkdir -p "$(dirname "$csv")" || exit 2
    keep "$wall"
  elif [ "$given" ] && [ "$code" -le 1 ]; then
    [ ! -e "$csv" ] || sed -i "/^${study}_[^,]*_given,/d" "$csv"
    keep "$wall" _given
  fi
  echo "$study: $wall s" >&2
}
echo figure,value,unit,goal,within
for program in "${queue[@]}"; do
  [ "$busy" -lt "$jobs" ] || finish
  start "$program"
done
while [ "$busy" -gt 0 ]; do finish; done
if [ "$kind" != full ]; then
  [ -z "$given" ] || csv=/dev/null # they are among the rows just made
  [ "$kind" = bench ] || [ "$given" ] || "$report" recorded "$csv" ${only:+"$only"} || bad=1
  "$report" docs "$doc" "$csv" "$([ -z "$only" ] && echo whole || echo part)" "${dirs[@]}" || bad=1
fi
echo "$kind: $(($(date +%s) - started)) s in all" >&2
exit $bad
