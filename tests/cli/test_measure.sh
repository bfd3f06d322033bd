#!/usr/bin/env bash
# talus-measure: files, summary and refusals, on the run of four grains that slide down 45 degrees
# (written by the unit test of the measures, which holds the numbers to their closed forms).
# sanitized: reads results
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

# a frame that is gone from the middle
cp -r run gap; rm gap/frame_000001.h5
"$BIN/talus-measure" gap -o g >out.txt 2>err.txt || { fail "a gap"; cat err.txt; }
grep -qF "gap: frames between the first and the last are missing (1; 1 in all)" err.txt || { fail "a missing frame is not named"; cat err.txt; }

# the true overlap: spheres of the run above in their slope, by closed form
"$BIN/talus-measure" run -o o --overlap >out.txt 2>err.txt || { fail "measuring overlap"; cat err.txt; }
near "ground overlap" "$(value ground_overlap_largest_of_radius)" 50 1e-4
near "the nodes' ground overlap" "$(value ground_overlap_nodes_largest_of_radius)" 50 0.5
near "grains deeper than 2%" "$(value ground_overlap_over_2_percent)" 2 0
# two cubes whose edges cross 1 mm deep, which their corners do not see, as a run's first frame has them
cat >cubes.yaml <<'EOF'
time: {dt_s: 1.0e-5, duration_s: 2.0e-5, frame_every_s: 2.0e-5}
gravity_m_s2: [0, 0, 0]
shapes:
- {name: cube, kind: box, size_m: [0.02, 0.02, 0.02], gridded: yes, nodes: 8}
bodies:
- {shape: cube, position_m: [0, 0, 0], turn_deg: [0, 45, 0]}
- {shape: cube, position_m: [0, 0, 0.02728427124746190], turn_deg: [45, 0, 0]}
EOF
"$BIN/talus-solve" cubes.yaml -o cubes.run >out.txt 2>err.txt || { fail "running two cubes"; cat err.txt; }
"$BIN/talus-measure" cubes.run -o p --overlap --overlap-frames=0 >out.txt 2>err.txt || { fail "measuring two cubes"; cat err.txt; }
near "overlap of two edges" "$(value overlap_largest)" 0.001 1e-9
near "its share" "$(value overlap_largest_of_radius)" 8.05996 1e-4
near "pairs over 2%" "$(value overlap_over_2_percent)" 1 0
near "the nodes' overlap" "$(value overlap_nodes_largest)" 0 0
[ -z "$(value ground_overlap_touching)" ] || fail "ground contacts without ground"
[ "$(cut -d, -f1-3,14 p/overlap.csv | tail -n +2)" = "0,0,1,separating axes" ] || { fail "overlap.csv"; cat p/overlap.csv; }
"$BIN/talus-measure" cubes.run -o q --overlap --overlap-frames=all >out.txt 2>err.txt || { fail "all frames"; cat err.txt; }
[ "$(wc -l <q/overlap_frames.csv)" = 5 ] || { fail "overlap_frames.csv"; cat q/overlap_frames.csv; }
for wrong in "--overlap --overlap-frames=7" "--overlap --overlap-frames=first" "--overlap-frames=0"; do
  # shellcheck disable=SC2086
  "$BIN/talus-measure" cubes.run -o w $wrong >out.txt 2>err.txt
  [ $? = 2 ] && grep -q -- --overlap err.txt || { fail "$wrong"; cat err.txt; }
done

"$BIN/talus-measure" nowhere -o n >out.txt 2>err.txt
[ $? = 1 ] && grep -q nowhere/run.h5 err.txt || fail "a run that is not there"
head -c 2000 run/frame_000001.h5 >short && mv short run/frame_000001.h5
"$BIN/talus-measure" run -o n >out.txt 2>err.txt
[ $? = 1 ] && grep -q frame_000001.h5 err.txt || { fail "a truncated frame"; cat err.txt; }
[ ! -e n ] || fail "measures of a broken run were written"
exit $bad
