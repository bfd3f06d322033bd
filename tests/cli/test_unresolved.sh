#!/usr/bin/env bash
# An embedded grain (a grain inside another) ends a run by default with both named, is fixed or taken
# out where the study says so, and is counted. One to whose collisions there is no end (a ball between
# walls that close) is named once and left, or handled as the study says.
# sanitized: grains that are dropped or frozen in a run
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export OMP_NUM_THREADS=1
fail() { echo "test_unresolved: $*"; exit 1; }

cat >s.yaml <<'YAML'
title: a small ball in a large one
gravity_m_s2: [0, 0, 0]
time: {dt_s: 1.0e-3, steps: 5}
shapes:
  - {name: large, kind: sphere, diameter_m: 0.02}
  - {name: small, kind: sphere, diameter_m: 0.006}
bodies:
  - {shape: large, position_m: [0, 0, 0]}
  - {shape: small, position_m: [0.004, 0, 0]}
YAML

got=0
"$BIN/talus-solve" -q s.yaml >out 2>err || got=$?
[ "$got" = 1 ] || fail "the default ended with $got"
for text in "grain 1 " "in grain 0 " "step 1" "inside the other" "unresolved: {embedded: drop}"; do
  grep -qF -- "$text" err || fail "'$text' is not in: $(cat err)"
done

last() { # column by name in the last line of history.csv
  awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i } END { print $c }' \
    s.run/history.csv
}
"$BIN/talus-solve" s.yaml --overwrite --set unresolved.embedded=drop >out 2>err || fail "drop: $(cat err)"
[ "$(last grains)" = 1 ] && [ "$(last embedded)" = 1 ] || fail "drop: $(tail -1 s.run/history.csv)"
grep -q '^grains_embedded: 1$' out || fail "drop: not in the summary"
grep -q 'grain 1 .*taken out' err || fail "drop: not said: $(cat err)"

"$BIN/talus-solve" s.yaml --overwrite --set unresolved.embedded=freeze >out 2>err || fail "freeze: $(cat err)"
[ "$(last grains)" = 2 ] && [ "$(last embedded)" = 1 ] || fail "freeze: $(tail -1 s.run/history.csv)"
grep -q 'grain 1 .*frozen' err || fail "freeze: not said: $(cat err)"

# the names of the version before, in --set and in a study: read, with a warning that names the new one
"$BIN/talus-solve" s.yaml --overwrite --set poor.action=drop >out 2>err || fail "former names: $(cat err)"
grep -q '^grains_embedded: 1$' out || fail "former names: $(cat out)"
grep -qF "'unresolved'" err && grep -qF "'embedded'" err || fail "former names: no warning: $(cat err)"
{ cat s.yaml; echo 'poor: {action: drop}'; } >former.yaml
"$BIN/talus-solve" former.yaml -o former.run >out 2>err || fail "a former study: $(cat err)"
grep -q '^grains_embedded: 1$' out || fail "a former study: $(cat out)"
grep -q 'former.yaml:.*poor' err || fail "a former study: the warning has no place: $(cat err)"

# a ball that springs bear, 16% of its radius deep: it is the springs that are too soft, not the wall that is wrong
cat >soft.yaml <<'YAML'
title: a heavy ball on soft ground
gravity_m_s2: [0, 0, -9.81]
time: {dt_s: 1.0e-3, steps: 400}
materials: [{name: lead, density_kg_m3: 8000}]
shapes: [{name: ball, kind: sphere, diameter_m: 0.02, material: lead}]
bodies: [{shape: ball, position_m: [0, 0, 0.01]}]
walls: [{kind: plane, point_m: [0, 0, 0], normal: [0, 0, 1]}]
solver: {method: nonsmooth}
nonsmooth: {law: linear, normal_N_m: 100}
YAML
got=0
"$BIN/talus-solve" -q soft.yaml >out 2>err || got=$?
[ "$got" = 1 ] || fail "soft ground ended with $got"
for text in "grain 0 " "in the wall walls.0" "too soft for their load" "normal_N_m of section nonsmooth" \
  "unresolved: {overlap_share: 0.3"; do
  grep -qF -- "$text" err || fail "soft ground: '$text' is not in: $(cat err)"
done
"$BIN/talus-solve" -q soft.yaml --overwrite --set unresolved.overlap_share=0.7 >out 2>err ||
  fail "soft ground, allowed: $(cat err)"

# springs of the penalty method bear two balls however deep: named once, counted, and the run continues
cat >springs.yaml <<'YAML'
title: two balls on springs that are too soft
gravity_m_s2: [0, 0, -9.81]
time: {dt_s: 2.0e-5, duration_s: 0.3}
shapes: [{name: ball, kind: sphere, diameter_m: 0.02}]
bodies:
  - {shape: ball, position_m: [0, 0, 0.01]}
  - {shape: ball, position_m: [0, 0, 0.03]}
walls: [{kind: plane, point_m: [0, 0, 0], normal: [0, 0, 1]}]
solver: {method: penalty}
penalty: {normal_N_m: 60, normal_Pa_m: 1.0e+5}
YAML
"$BIN/talus-solve" springs.yaml >out 2>err || fail "soft springs: $(cat err)"
[ "$(grep -c 'warning: step .* grain 0 rests .* deep in the wall walls.0, the deepest of 2 such pairs: contacts are too soft' err)" = 1 ] ||
  fail "soft springs are not named once: $(cat err)"
grep -q '^pairs_embedded: 2$' out || fail "soft springs: $(cat out)"
"$BIN/talus-mpirun" -n 2 "$BIN/talus-solve" springs.yaml --overwrite >out 2>two.err || fail "soft springs on two ranks: $(cat two.err)"
[ "$(grep ' rests ' err)" = "$(grep ' rests ' two.err)" ] || fail "soft springs on two ranks: $(cat two.err)"
grep -q '^pairs_embedded: 2$' out || fail "soft springs on two ranks: $(cat out)"
"$BIN/talus-solve" springs.yaml --overwrite --set unresolved.overlap_share=0.5 >out 2>err || fail "soft springs, allowed: $(cat err)"
grep -q ' rests ' err && fail "soft springs that are allowed: $(cat err)"
# a hard blow that goes as deep, 100 steps long and more, is none
sed 's/\[0, 0, 0.01\]/&, velocity_m_s: [0, 0, -2]/; /0.03/d' springs.yaml >blow.yaml
"$BIN/talus-solve" blow.yaml --set penalty.normal_N_m=2000 --set time.duration_s=0.2 >out 2>err || fail "a blow: $(cat err)"
awk '$1 == "deepest_boundary_overlap_share:" {exit !($2 > 0.2)}' out || fail "the blow is not deep: $(cat out)"
grep -q ' rests ' err && fail "a blow is taken for an embedded grain: $(cat err)"
grep -q '^pairs_embedded: 0$' out || fail "a blow: $(cat out)"

cat >j.yaml <<'YAML'
title: a ball between closing walls
gravity_m_s2: [0, 0, 0]
time: {dt_s: 1.0e-3, steps: 60}
shapes:
  - {name: ball, kind: sphere, diameter_m: 0.02}
bodies:
  - {shape: ball, position_m: [0, 0, 0]}
  - {shape: ball, position_m: [0, 0, 1]}
walls:
  - {kind: box, size_m: [0.02, 0.1, 0.1], point_m: [-0.0202, 0, 0], velocity_m_s: [0.01, 0, 0]}
  - {kind: box, size_m: [0.02, 0.1, 0.1], point_m: [0.0202, 0, 0], velocity_m_s: [-0.01, 0, 0]}
unresolved: {steps: 20}
YAML
solve() {
  got=0
  "$BIN/talus-solve" j.yaml --overwrite "$@" >out 2>err || got=$?
}
unresolved() { # by the history and by the summary
  [ "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "unresolved") c = i } END { print $c }' \
    j.run/history.csv)" = "$1" ] || fail "history: $(tail -1 j.run/history.csv)"
  grep -q "^grains_unresolved: $1$" out || fail "summary: $(cat out)"
}
solve
[ "$got" = 0 ] || fail "a jam: $(cat err)"
unresolved 1
[ "$(grep -c 'is unresolved' err)" = 1 ] || fail "a jam is not named once: $(cat err)"
for text in "grain 0 (shape 'ball') at (" "with the wall walls." "in 20 consecutive steps, up to step" "left alone"; do
  grep -qF -- "$text" err || fail "'$text' is not in: $(cat err)"
done
grep -q "^islands_unfinished: [1-9]" out || fail "$(cat out)"
solve --set unresolved.collisions=freeze
unresolved 1
grep -q 'is unresolved: .*frozen' err || fail "jam, freeze: $(cat err)"
solve --set unresolved.collisions=drop
unresolved 1
grep -q '^grains: 2$' out && grep -q 'is unresolved: .*taken out' err || fail "jam, drop: $(cat err)"
[ "$(awk -F, 'END { print $3 }' j.run/history.csv)" = 1 ] || fail "jam, drop: it is still there"
solve --set unresolved.collisions=stop
[ "$got" = 1 ] && grep -q 'is unresolved' err && grep -qF 'unresolved: {collisions: warn}' err || fail "jam, stop: $(cat err)"
