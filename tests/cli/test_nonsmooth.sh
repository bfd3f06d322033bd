#!/usr/bin/env bash
# A study of method nonsmooth: the conveyor with its hinged gate, and what is refused by name.
set -u
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
export OMP_NUM_THREADS=1
solve=$BIN/talus-solve
bad=0
fail() { echo "FAILED: $*"; bad=1; }

"$solve" config/conveyor.yaml -q --set time.duration_s=0.2 -o "$dir/run" >/dev/null 2>"$dir/log" ||
  fail "the conveyor does not run: $(cat "$dir/log")"
# before anything reaches it the hinge bears gate and counterweight: 7850 g (0.01 0.19 0.16 + 0.04 0.19 0.03)
awk -F, '$NF == "hinge" {if ($11 < 40.96 || $11 > 40.98) exit 1; n++} END {exit n < 10}' "$dir/run/constraint.csv" ||
  fail "the hinge does not bear the weight: $(grep -m1 hinge "$dir/run/constraint.csv")"
awk -F, 'NR == 1 {for (i = 1; i <= NF; i++) at[$i] = i; next} {w = $at["wall_work_J"]; e = $at["energy_balance_error_J"]}
         END {exit !(w > 0.1 && e * e < (1e-9 * w) ^ 2)}' "$dir/run/history.csv" || fail "the energy balance is off"

# what falls off the belt's end is taken out: table, summary and the list of departures agree
"$solve" config/conveyor.yaml --set time.duration_s=2 -o "$dir/end" >"$dir/summary" 2>"$dir/log" ||
  fail "the conveyor does not run to its end: $(cat "$dir/log")"
gone=$(awk -F, '$NF == "entered a sink" {n++; m += $6} END {printf "%d %.6g\n", n, m}' "$dir/end/departures.csv")
told=$(sed -nE 's/^(grains|mass)_sunk: ([0-9.e+-]+).*/\2/p' "$dir/summary" | paste -sd' ')
line=$(awk -F, 'NR == 1 {for (i = 1; i <= NF; i++) at[$i] = i} END {printf "%d %.6g %d\n", $at["sunk"], $at["sunk_mass_kg"],
       $at["grains"]}' "$dir/end/history.csv")
[ "${gone%% *}" -gt 5 ] && [ "$gone" = "$told" ] && [ "$gone $((26 - ${gone%% *}))" = "$line" ] ||
  fail "taken out at the belt's end: '$gone', '$told', '$line'"

# a motor turns the jaw of a breaker with the torque it has and no more, and stands where the stones bear that
"$solve" config/jaw.yaml -q --set time.duration_s=0.7 --set release.count=30 --set joints.0.motor_most_N_m=60 \
  -o "$dir/jaw" >/dev/null 2>"$dir/log" || fail "the jaw does not run: $(cat "$dir/log")"
awk -F, '$NF == "motor" {m = $13 < 0 ? -$13 : $13; if (m > 60.001) exit 1; if (m > 59.99) n++} END {exit n < 5}' \
  "$dir/jaw/constraint.csv" || fail "the motor's torque is not held to its limit"
# before it digs, the bucket's hinge bears its plates: 173.9 N, less what its turn takes
"$solve" config/digging.yaml -q --set time.duration_s=0.06 --set release.count=20 -o "$dir/digs" >/dev/null 2>"$dir/log" ||
  fail "the bucket does not run: $(cat "$dir/log")"
awk -F, '$NF == "hinge" {if ($11 < 171 || $11 > 175) exit 1; n++} END {exit n < 2}' "$dir/digs/constraint.csv" ||
  fail "the hinge does not bear the bucket: $(grep -m1 hinge "$dir/digs/constraint.csv")"

# a solve that is cut short is told at the end, in the summary and in the report; a run that is resumed keeps its counts
"$solve" config/jaw.yaml --set time.duration_s=0.3 --set nonsmooth.iterations=1 --set nonsmooth.impact_iterations=1 \
  -o "$dir/cut" >"$dir/summary" 2>"$dir/log" || fail "the jaw with one iteration does not run: $(cat "$dir/log")"
counts() { sed -nE 's/^(unconverged_steps|inaccurate_steps|largest_residual): ([^ ]+).*/\2/p' "$1" | paste -sd' '; }
read -r unconverged inaccurate residual <<<"$(counts "$dir/summary")"
[ "$unconverged" = 600 ] && [ "$inaccurate" -gt 300 ] && awk -v r="$residual" 'BEGIN {exit !(r > 0.1)}' ||
  fail "steps that did not converge: $(counts "$dir/summary")"
grep -q "in $inaccurate of 600 steps a solve ended at its limit of iterations" "$dir/log" || fail "not warned: $(cat "$dir/log")"
"$BIN/talus-report" "$dir/cut" -q -o "$dir/cut.html" >/dev/null 2>"$dir/log" || fail "no report: $(cat "$dir/log")"
grep -q "In $inaccurate of 600 steps a solve ended" "$dir/cut.html" || fail "the report is silent on the solves"
"$solve" config/jaw.yaml -q --set nonsmooth.iterations=1 --set nonsmooth.impact_iterations=1 --set time.duration_s=0.2 \
  -o "$dir/two" 2>/dev/null
"$solve" --resume "$dir/two" --set time.duration_s=0.3 >"$dir/half" 2>/dev/null
[ "$(counts "$dir/half")" = "$(counts "$dir/summary")" ] || fail "resumed: $(counts "$dir/half")"
# too long a step makes energy up, which is told as well
"$solve" config/jaw.yaml --set time.dt_s=0.05 -o "$dir/long" >"$dir/half" 2>"$dir/log" || fail "a long step: $(cat "$dir/log")"
grep -q "contact damping gave .* J where it can only take energy" "$dir/log" || fail "no warning of made-up energy: $(cat "$dir/log")"
"$BIN/talus-report" "$dir/long" -q -o "$dir/long.html" >/dev/null 2>"$dir/log" || fail "no report: $(cat "$dir/log")"
grep -q "Made-up energy: contact damping gave" "$dir/long.html" || fail "the report is silent on made-up energy"
# iterations by the rule: a few steps end above the tolerance, which is no reason to warn
"$solve" config/jaw.yaml --set time.duration_s=0.3 -o "$dir/whole" >"$dir/summary" 2>"$dir/log"
grep -qE "limit of iterations|energy" "$dir/log" && fail "warned without a reason: $(cat "$dir/log")"

# a pendulum that swings is not at rest, and time.until_rest waits for it
cat >"$dir/pendulum.yaml" <<'YAML'
gravity_m_s2: [0, 0, -9.81]
time: {dt_s: 1.0e-3, duration_s: 0.4, frame_every_s: 0.1, until_rest: true, rest_for_s: 0.05}
shapes: [{name: bob, kind: box, size_m: [0.1, 0.1, 0.1]}]
bodies: [{name: bob, shape: bob, position_m: [0.5, 0, 0]}]
joints: [{kind: hinge, body: bob, point_m: [0, 0, 0], axis: [0, 1, 0]}]
walls: [{kind: plane, point_m: [0, 0, -2], normal: [0, 0, 1]}]
solver: {method: nonsmooth}
nonsmooth: {young_Pa: 1.0e+9}
YAML
"$solve" "$dir/pendulum.yaml" -o "$dir/swing" >"$dir/summary" 2>"$dir/log" || fail "the pendulum does not run: $(cat "$dir/log")"
grep -qx 'steps: 400' "$dir/summary" && grep -qx 'at_rest: no' "$dir/summary" && grep -qx 'moving_mass: 100 percent' "$dir/summary" ||
  fail "a pendulum that swings is at rest: $(grep -E 'steps:|rest|moving|speed' "$dir/summary")"
"$BIN/talus-report" "$dir/swing" -q -o "$dir/swing.html" >/dev/null 2>"$dir/log" || fail "no report: $(cat "$dir/log")"
grep -q "bodies on joints still move (1 of them)" "$dir/swing.html" || fail "the report takes the pendulum to be at rest"

refused() { # text of the message, then what is set
  local text=$1; shift
  "$solve" config/conveyor.yaml -q "$@" -o "$dir/no" >/dev/null 2>"$dir/log" && fail "not refused: $*"
  grep -qF "$text" "$dir/log" || fail "'$text' is not in: $(cat "$dir/log")"
}
refused "joints.0.kind: the method sqm does not solve a hinge of the body 'gate' and the world" --set solver.method=sqm
"$solve" config/conveyor-pile.yaml -q --set solver.method=sqm --set reduction.split=off -o "$dir/no" >/dev/null 2>"$dir/log" &&
  fail "sqm takes rolling"
grep -q "pairs.[0-9]*.rolling: rolling of materials '.*' and '.*': method sqm has none" "$dir/log" || fail "rolling: $(cat "$dir/log")"
refused "nonsmooth.young_Pa" --set nonsmooth.young_Pa=0
sed 's/body: gate, point_m/body: gait, point_m/' config/conveyor.yaml > "$dir/study.yaml"
"$solve" "$dir/study.yaml" -q -o "$dir/no" >/dev/null 2>"$dir/log" && fail "an unknown body is taken"
grep -qF "there is no body of name 'gait'" "$dir/log" || fail "unknown body: $(cat "$dir/log")"
exit $bad
