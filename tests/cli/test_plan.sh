#!/usr/bin/env bash
# What talus-solve --dry-run says of a study before it runs.
set -u
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
export OMP_NUM_THREADS=1
bad=0
fail() { echo "FAILED: $*"; bad=1; }
plan() { "$BIN/talus-solve" -n "$@" >out 2>err || fail "--dry-run $*: $(cat err)"; }
value() { sed -n "s/^$1: //p" out; }

# ---- the method, of a study that does not name one, too; in the summary of a run as well ----
cat >two.yaml <<'YAML'
title: two balls on each other
gravity_m_s2: [0, 0, -9.81]
time: {dt_s: 1.0e-3, steps: 5}
shapes: [{name: ball, kind: sphere, diameter_m: 0.02}]
bodies:
  - {shape: ball, position_m: [0, 0, 0.01]}
  - {shape: ball, position_m: [0, 0, 0.03]}
walls: [{kind: plane, point_m: [0, 0, 0], normal: [0, 0, 1]}]
YAML
plan two.yaml
[ "$(value method)" = etm-level ] || fail "the method is not named: $(cat out)"
"$BIN/talus-solve" two.yaml -o two.run --set solver.method=nonsmooth --set nonsmooth.young_Pa=1e7 >out 2>err || fail "the run: $(cat err)"
[ "$(value method)" = nonsmooth ] || fail "the summary does not name the method: $(cat out)"
exit $bad
