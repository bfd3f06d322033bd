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

# balls roll on a heavy cube that is placed fixed, which is no grain: not in numbers, masses, centres, nor in what moves
cat >cube.yaml <<'EOF'
time: {dt_s: 1.0e-3, duration_s: 0.5, frame_every_s: 0.1}
shapes: [{name: c, kind: box, size_m: [1, 1, 1]}, {name: s, diameter_m: 0.03}]
bodies:
- {shape: c, position_m: [0, 0, -0.5], fixed: true}
- {shape: s, position_m: [-0.2, 0, 0.0151], velocity_m_s: [0.1, 0, 0], count: 5, step_m: [0, 0.05, 0]}
planes: [{point_m: [0, 0, -2], normal: [0, 0, 1]}]
EOF
"$BIN/talus-solve" cube.yaml -o cube.run >out.txt 2>err.txt || { fail "running balls on a cube"; cat err.txt; }
"$BIN/talus-measure" cube.run -o cube >out.txt 2>err.txt || { fail "measuring balls on a cube"; cat err.txt; }
near "grains beside a fixed cube" "$(value grains)" 5 0
near "their mass" "$(value mass)" 0.1873 1e-3
near "their travel" "$(value travel_of_mass_centre)" 0.045 0.01
near "what moves of it" "$(value moving_mass)" 100 0
[ "$(value at_rest)" = no ] || fail "rolling balls are at rest: $(cat out.txt)"
column() { awk -F, -v c="$2" 'NR == 1 {for (i = 1; i <= NF; i++) if ($i == c) at = i} END {print $at}' "$1"; }
near "the centre in history.csv" "$(column cube.run/history.csv centre_z_m)" "$(column cube/frames.csv centre_z_m)" 1e-4
near "grains in history.csv" "$(column cube.run/history.csv grains)" 5 0
"$BIN/talus-report" cube.run -o cube.html >out.txt 2>err.txt || { fail "reporting balls on a cube"; cat err.txt; }
grep -q "Not at rest: in the last frame, at 0.5 s, 5 of 5 grains still move, 100% of the mass" cube.html || fail "the report says nothing of rolling balls"

# a mechanism without grains moves as the solver says, and of nothing that can move nothing says that it is at rest
cat >pendulum.yaml <<'EOF'
time: {dt_s: 1.0e-3, duration_s: 0.3, frame_every_s: 0.1}
free_fall: yes
shapes: [{name: s, diameter_m: 0.1}]
bodies: [{name: bob, shape: s, position_m: [1, 0, 0]}]
joints: [{kind: hinge, body: bob, point_m: [0, 0, 0], axis: [0, 1, 0]}]
solver: {method: nonsmooth}
nonsmooth: {young_Pa: 1.0e+7}
EOF
"$BIN/talus-solve" pendulum.yaml -o pendulum.run >out.txt 2>err.txt || { fail "running a pendulum"; cat err.txt; }
[ "$(value at_rest)" = no ] || fail "the solver's pendulum: $(cat out.txt)"
speed=$(value mean_speed)
"$BIN/talus-measure" pendulum.run -o pendulum >out.txt 2>err.txt || { fail "measuring a pendulum"; cat err.txt; }
near "grains of a pendulum" "$(value grains)" 0 0
[ "$(value at_rest)" = no ] || fail "a pendulum swings: $(cat out.txt)"
near "the pendulum's speed" "$(value last_mean_speed)" "$speed" 1e-4
sed -e '/shape: s/d' cube.yaml >fixed.yaml
"$BIN/talus-solve" fixed.yaml -o fixed.run >out.txt 2>err.txt || { fail "running a fixed cube"; cat err.txt; }
[ -z "$(value at_rest)" ] || fail "the solver says that nothing is at rest: $(cat out.txt)"
"$BIN/talus-measure" fixed.run -o fixed >out.txt 2>err.txt || { fail "measuring a fixed cube"; cat err.txt; }
[ -z "$(value at_rest)" ] && [ -z "$(column fixed/frames.csv at_rest)" ] || fail "nothing is at rest: $(cat out.txt)"

# of poured grains, of which the first frame has few, no potential energy nor travel counts from there
cat >pour.yaml <<'EOF'
time: {dt_s: 1.0e-3, duration_s: 0.4, frame_every_s: 0.1}
shapes: [{name: s, diameter_m: 0.03}]
grains: {shapes: [s]}
release: {assembly: poured, count: 10, rate_per_s: 30, low_m: [0, 0, 0.4], high_m: [0.1, 0.1, 0.5]}
planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]
EOF
"$BIN/talus-solve" pour.yaml -o pour.run >out.txt 2>err.txt || { fail "pouring"; cat err.txt; }
"$BIN/talus-measure" pour.run -o pour >out.txt 2>err.txt || { fail "measuring poured grains"; cat err.txt; }
for name in potential_energy_J total_energy_J travel_m drop_m travel_angle_deg; do
  [ -z "$(column pour/frames.csv $name)" ] || fail "poured grains: $name is $(column pour/frames.csv $name)"
done
[ -n "$(column pour/frames.csv translational_energy_J)" ] || fail "poured grains have no kinetic energy"
grep -q '^potential_energy_change\|^travel_of_mass_centre\|^drop_of_mass_centre' out.txt && fail "poured grains: $(cat out.txt)"
near "grains that were poured in" "$(value grains_joined)" "$(($(value grains) - 1))" 2
"$BIN/talus-report" pour.run -o pour.html >out.txt 2>err.txt || { fail "reporting poured grains"; cat err.txt; }
grep -q 'came in after the first frame' pour.html || fail "the report does not tell of poured grains"

"$BIN/talus-measure" nowhere -o n >out.txt 2>err.txt
[ $? = 1 ] && grep -q nowhere/run.h5 err.txt || fail "a run that is not there"
head -c 2000 run/frame_000001.h5 >short && mv short run/frame_000001.h5
"$BIN/talus-measure" run -o n >out.txt 2>err.txt
[ $? = 1 ] && grep -q frame_000001.h5 err.txt || { fail "a truncated frame"; cat err.txt; }
[ ! -e n ] || fail "measures of a broken run were written"
exit $bad
