#!/usr/bin/env bash
# A poor avatar (a grain inside another) ends a run by default with both named, is fixed or taken
# out where the study says so, and is counted.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export OMP_NUM_THREADS=1
fail() { echo "test_poor: $*"; exit 1; }

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
for text in "grain 1 " "in grain 0 " "step 1" "inside the other" "poor: {action: drop}"; do
  grep -qF -- "$text" err || fail "'$text' is not in: $(cat err)"
done

last() { # column by name in the last line of history.csv
  awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i } END { print $c }' \
    s.run/history.csv
}
"$BIN/talus-solve" s.yaml --overwrite --set poor.action=drop >out 2>err || fail "drop: $(cat err)"
[ "$(last grains)" = 1 ] && [ "$(last poor)" = 1 ] || fail "drop: $(tail -1 s.run/history.csv)"
grep -q '^grains_poor: 1$' out || fail "drop: not in the summary"
grep -q 'grain 1 .*taken out' err || fail "drop: not said: $(cat err)"

"$BIN/talus-solve" s.yaml --overwrite --set poor.action=freeze >out 2>err || fail "freeze: $(cat err)"
[ "$(last grains)" = 2 ] && [ "$(last poor)" = 1 ] || fail "freeze: $(tail -1 s.run/history.csv)"
grep -q 'grain 1 .*frozen' err || fail "freeze: not said: $(cat err)"
