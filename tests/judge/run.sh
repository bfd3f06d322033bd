#!/usr/bin/env bash
# Run judging programs: tests/judge/run.sh validation|bench|score|full [STUDY]; make sets TESTBIN.
# score: with TALUS_PHANTOM the figures on that phantom (names ending in _given) are recorded in
# docs/validation/score.csv, without it they are shown from there.
# stdout: one line a figure. docs/ are rewritten from the same records: all blocks of what ran.
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
start=$(date +%s) dirs=() bad=0
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
echo figure,value,unit,goal,within
for program in "${programs[@]}"; do
  study=$(basename "$program"); study=${study#"${prefix}"_}
  dir=$out/$kind/$study
  mkdir -p "$dir" && rm -f "$dir/records.txt"
  begin=$(date +%s) code=0
  timeout -k 10 "$limit" "$program" --out "$dir" "${extra[@]}" >"$dir/stdout.txt" 2>"$dir/stderr.txt" </dev/null || code=$?
  wall=$(($(date +%s) - begin))
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
  dirs+=("$dir")
done
if [ "$kind" != full ]; then
  [ -z "$given" ] || csv=/dev/null # they are among the rows just made
  [ "$kind" = bench ] || [ "$given" ] || "$report" recorded "$csv" ${only:+"$only"} || bad=1
  "$report" docs "$doc" "$csv" "$([ -z "$only" ] && echo whole || echo part)" "${dirs[@]}" || bad=1
fi
echo "$kind: $(($(date +%s) - start)) s in all" >&2
exit $bad
