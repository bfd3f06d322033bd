#!/usr/bin/env bash
# talus-measure: files, summary and refusals, on the run of four grains that slide down 45 degrees
# (written by the unit test of the measures, which holds the numbers to their closed forms).
set -u
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
bad=0
fail() { echo "FAILED: $*"; bad=1; }
TALUS_KEEP_RUN=$dir/run "$TESTBIN/test_measure" >out.txt 2>&1 || { fail "making the run"; cat out.txt; }
value() { sed -n "s/^$1: \([^ ]*\).*/\1/p" out.txt; }
near() { awk -v a="$2" -v b="$3" -v t="$4" 'BEGIN {exit !(a - b <= t && b - a <= t && a != "")}' || fail "$1 is $2, not $3"; }

"$BIN/talus-measure" run -o m >out.txt 2>err.txt || { fail "measuring"; cat err.txt; }
near frames "$(value frames)" 3 0
near travel "$(value travel_of_mass_centre)" 0.5 1e-5
near angle "$(value travel_angle)" 45 1e-4
near speed "$(value largest_speed)" 1.41421 1e-4
near penetration "$(value largest_penetration_of_radius)" 50 0.5
near deeper "$(value grains_deeper_than_2_percent)" 2 0
for file in frames:4 grains:5; do
  [ "$(wc -l <"m/${file%:*}.csv")" = "${file#*:}" ] || fail "${file%:*}.csv has $(wc -l <"m/${file%:*}.csv") lines"
done
# every line has as many fields as its header; sums of the columns agree
for file in m/*.csv; do
  awk -F, 'NR == 1 {n = NF} NF != n {exit 1}' "$file" || fail "$file is ragged"
done
awk -F, 'NR > 1 {d = $7 + $8 + $9 - $10; if (d * d > 1e-20 * $10 * $10) exit 1}' m/frames.csv || fail "the energies do not add up"
awk -F, 'NR > 1 {v += $6 * 1} END {exit !(v > 0)}' m/deposit.csv || fail "an empty deposit"

"$BIN/talus-measure" run -o m >out.txt 2>err.txt
[ $? = 2 ] && grep -q -- --overwrite err.txt || fail "measured over measures"
"$BIN/talus-measure" run -o m --overwrite --json >out.txt 2>err.txt || fail "overwriting"
[ "$(sqlite3 :memory: "SELECT json_valid(readfile('out.txt'))")" = 1 ] || fail "--json is no JSON"
"$BIN/talus-measure" run -o c --cell-m=1e-7 >out.txt 2>err.txt
[ $? = 2 ] && grep -q -- --cell-m= err.txt || { fail "a grid of 1e16 cells"; cat err.txt; }
"$BIN/talus-measure" nowhere -o n >out.txt 2>err.txt
[ $? = 1 ] && grep -q nowhere/run.h5 err.txt || fail "a run that is not there"
head -c 2000 run/frame_000001.h5 >short && mv short run/frame_000001.h5
"$BIN/talus-measure" run -o n >out.txt 2>err.txt
[ $? = 1 ] && grep -q frame_000001.h5 err.txt || { fail "a truncated frame"; cat err.txt; }
[ ! -e n ] || fail "measures of a broken run were written"
exit $bad
