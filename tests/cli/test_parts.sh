#!/usr/bin/env bash
# Bodies of several parts: the same state for 1, 2 and 4 ranks and after a stop, by impulses and by penalty;
# frames whose rows say which body they are a part of; the example study as it stands.
# sanitized: bodies of several parts from the study to the frames
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
root=$(pwd)
cd "$folder"
export OMP_NUM_THREADS=1
fail() { echo "test_parts: $*" >&2; exit 1; }

# dumbbells and crosses fall on each other over the borders between ranks
cat >s.yaml <<'YAML'
title: dumbbells and crosses in a box
time: {dt_s: 5.0e-4, duration_s: 0.12, frame_every_s: 0.06}
penalty: {dt_s: 1.0e-4, law: linear, spread: deepest, normal_N_m: 1.0e4, boundary_normal_N_m: 1.0e4}
contact: {friction: 0.4, restitution: 0.2, boundary_friction: 0.4, boundary_restitution: 0.2}
checkpoint: {every_steps: 120}
frames: {contacts: yes}
shapes:
  - {name: ball, diameter_m: 0.02}
  - {name: bar, kind: box, size_m: [0.05, 0.012, 0.012]}
bodies:
  - position_m: [-0.06, -0.02, 0.02]
    turn_deg: [10, 20, 30]
    count: 4
    step_m: [0.04, 0.004, 0.012]
    parts: [{shape: ball, position_m: [0.012, 0, 0]}, {shape: ball, position_m: [-0.012, 0, 0], scale: 1.2}]
  - position_m: [-0.05, 0, 0.07]
    turn_deg: [0, 15, 40]
    spin_rad_s: [3, 0, 5]
    count: 3
    step_m: [0.05, 0, 0.01]
    parts: [{shape: bar}, {shape: bar, turn_deg: [0, 0, 90]}, {shape: bar, turn_deg: [0, 90, 0]}]
  - {shape: ball, position_m: [-0.05, 0.02, 0.11], count: 4, step_m: [0.035, -0.01, 0]}
planes:
  - {point_m: [0, 0, 0], normal: [0, 0, 1]}
  - {point_m: [-0.09, 0, 0], normal: [1, 0, 0]}
  - {point_m: [0.09, 0, 0], normal: [-1, 0, 0]}
YAML

solve() { # ranks, method, further arguments
  local ranks=$1 method=$2
  shift 2
  "$BIN/talus-mpirun" -n "$ranks" "$BIN/talus-solve" s.yaml --set solver.method="$method" "$@" >out 2>err ||
    fail "$ranks ranks, $method: $(cat err)"
  grep ^state_hash: out || fail "no state_hash"
}
many=4
[ "${TALUS_SANITIZED:-0}" = 0 ] || many=2 # more ranks say nothing more of memory, and cost a minute
for method in etm-level penalty; do
  one=$(solve 1 $method -o "$method")
  [ -n "$one" ] || fail "no state_hash"
  [ "$(solve 2 $method -o two --overwrite)" = "$one" ] || fail "$method: two ranks end in another state"
  [ "$many" = 2 ] || [ "$(solve 4 $method -o four --overwrite)" = "$one" ] ||
    fail "$method: four ranks end in another state"
  rm -rf half
  solve 2 $method -o half --set time.duration_s=0.06 >half.out
  cmp -s half.out <(echo "$one") && fail "$method: half the steps end in the same state"
  "$BIN/talus-mpirun" -n "$many" "$BIN/talus-solve" s.yaml --set solver.method=$method -o half --resume >out 2>err ||
    fail "$method: resume: $(cat err)"
  [ "$(grep ^state_hash: out)" = "$one" ] || fail "$method: resumed on other ranks it ends in another state"
done

# 4 dumbbells, 3 crosses, 4 balls: 21 rows of 11 bodies; ids in the order of the study
"$BIN/talus-measure" etm-level -o measures --packing >out 2>err || fail "measure: $(cat err)"
[ -s measures/packing.csv ] || fail "no packing.csv"
grains=$(head -1 etm-level/history.csv | tr , '\n' | grep -n '^grains$' | cut -d: -f1)
[ "$(tail -1 etm-level/history.csv | cut -d, -f"$grains")" = 21 ] || fail "history.csv does not count 21 grains"

# an earlier run with such a body is no assembly of single grains
sed -e '/^bodies:/,/^planes:/{/^planes:/!d}' s.yaml >again.yaml
cat >>again.yaml <<'YAML'
release: {assembly: from-run, run: etm-level}
YAML
got=0
"$BIN/talus-solve" -n -q again.yaml >out 2>err || got=$?
[ "$got" = 1 ] || fail "from-run of such a run ended with $got"
grep -q "holds a body of several parts" err || fail "from-run: $(cat err)"

# the example as it stands
"$BIN/talus-solve" -q "$root/config/bucket.yaml" -o bucket >out 2>err || fail "bucket: $(cat err)"
[ ! -s err ] || fail "bucket warns: $(cat err)"
[ -s bucket/frame_000008.h5 ] || fail "bucket: frames are missing"
"$BIN/talus-measure" -q bucket -o deep --overlap >out 2>err || fail "overlap of the bucket: $(cat err)"
# its parts lie in one another by half a plate's thickness, 5 mm: that is no contact
awk -F, 'NR > 1 && ($2 < 5 && $3 >= 0 && $3 < 5 || $2 == 11 && $3 == 12) { exit 1 }' deep/overlap.csv ||
  fail "overlap.csv has pairs of parts of one body: $(grep -E '^8,[0-4],[0-4],' deep/overlap.csv)"
[ "$(wc -l <deep/overlap.csv)" -gt 3 ] || fail "overlap.csv knows no contact of the bucket's load"
