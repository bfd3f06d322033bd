#!/usr/bin/env bash
# Model reduction through a study: columns, frames, resuming to the bit, what is refused by name.
set -u
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
export OMP_NUM_THREADS=1
solve=$BIN/talus-solve
bad=0
fail() { echo "FAILED: $*"; bad=1; }
small=(--set time.duration_s=0.6 --set release.rate_per_s=400 --set release.count=150 --set time.frame_every_s=0.2
  --set nonsmooth.iterations=40 --set nonsmooth.impact_iterations=40 --set checkpoint.every_steps=50
  --set checkpoint.keep=9)

hash_of() { # run: that of its last state, which --quiet does not print
  grep ^state_hash: "$dir/$1.out" || echo "$1 has none"
}
run() { # folder, then what is set
  local to=$1; shift
  "$solve" config/conveyor-pile.yaml --no-progress "${small[@]}" "$@" -o "$dir/$to" >"$dir/$to.out" 2>"$dir/log" ||
    fail "$to does not run: $(cat "$dir/log")"
}
column() { # run, name: its last value
  awk -F, -v name="$2" 'NR == 1 {for (i = 1; i <= NF; i++) at[$i] = i; next} {v = $at[name]} END {print v}' \
    "$dir/$1/history.csv"
}

run whole --set time.history_every_s=0.02
[ "$(column whole merged)" -gt 60 ] || fail "only $(column whole merged) spheres of 150 have merged"
awk -v h="$(column whole reduction_level)" 'BEGIN {exit !(h > 0.4 && h < 1)}' ||
  fail "reduction level $(column whole reduction_level)"
[ "$(column whole splits)" -gt 0 ] || fail "nothing was split"
awk -v x="$(column whole anchor_impulse_x_N_s)" 'BEGIN {exit !(x != 0)}' || fail "the belt gave nothing"

# summary and report tell how many are merged, and that this is an approximation
merged=$(column whole merged)
grep -qx "merged: $merged of 150" "$dir/whole.out" || fail "$merged are merged, the summary says: $(grep merged "$dir/whole.out")"
"$BIN/talus-report" "$dir/whole" -q -o "$dir/whole.html" >/dev/null 2>"$dir/log" || fail "no report: $(cat "$dir/log")"
grep -q "Model reduction was on (reduction.split: contact): in the last step $merged bodies of 150 grains" "$dir/whole.html" ||
  fail "the report does not tell of the reduction"

# the frame tells the aggregates: so many members as the column says
python3 -c 'import h5py' 2>/dev/null && ! python3 - "$dir/whole/frame_000003.h5" "$(column whole merged)" <<'PY' &&
import sys
import h5py
with h5py.File(sys.argv[1]) as frame:
    aggregate = frame["aggregate"][:]
    sys.exit(int((aggregate >= 0).sum()) != int(sys.argv[2]) or not set(aggregate) <= {-1, *frame["id"][:]})
PY
  fail "column aggregate of the frame"
"$BIN/talus-render" "$dir/whole" --colour=aggregate --width=320 --height=200 -o "$dir/a.png" >/dev/null 2>"$dir/log" ||
  fail "no picture: $(cat "$dir/log")"

# resumed from a checkpoint among merges: the same bits, history and frames
resumes() { # run; step of the checkpoint, as its file has it; later ones, which are taken away
  mkdir "$dir/half"
  cp "$dir/$1"/* "$dir/half/"
  for later in $3; do rm -f "$dir"/half/checkpoint_*$later*.tck; done
  ls "$dir/half"/checkpoint_*"$2.tck" >/dev/null || fail "$1: there is no checkpoint of step $2"
  "$solve" --resume "$dir/half" --no-progress >"$dir/half.out" 2>"$dir/log" || fail "$1: no resume: $(cat "$dir/log")"
  [ "$(hash_of "$1")" = "$(hash_of half)" ] || fail "$1: resumed to another state"
  "$TESTBIN/test_resume" "$dir/$1" "$dir/half" || fail "$1: resumed results differ"
  rm -r "$dir/half"
}
resumes whole 00050 "0012 0010"

# shaped grains, some of them bodies with parts, that merge and are split again
sed 's/^release:/bodies:\n  - {position_m: [0.02, 0.02, 0.07], parts: [{shape: cube, position_m: [0, 0, 0]}, {shape: cube, position_m: [0.011, 0, 0]}]}\n&/' \
  config/collapse-shapes.yaml >"$dir/shapes.yaml"
shapes=(--set release.high_m=[0.045,0.045,0.06] --set walls.3.point_m=[0,0.046,0] --set walls.4.point_m=[0.046,0,0]
  --set walls.4.until_s=0.48 --set reduction.from_s=0.3 --set time.duration_s=0.56 --set time.frame_every_s=0.002
  --set checkpoint.every_steps=50 --set checkpoint.keep=9)
"$solve" "$dir/shapes.yaml" --no-progress "${shapes[@]}" -o "$dir/shapes" >"$dir/shapes.out" 2>"$dir/log" ||
  fail "shapes: $(cat "$dir/log")"
[ "$(column shapes merges)" -gt "$(column shapes merged)" ] && [ "$(column shapes splits)" -gt 0 ] ||
  fail "shapes: $(column shapes merged) merged, $(column shapes splits) split"
resumes shapes 00250 "0028"

# two ranks write the same: in some steps aggregates of both become one, and the frame of that step tells it
two=("$BIN/talus-mpirun" -n 2 "$solve" "$dir/shapes.yaml" --no-progress)
"${two[@]}" "${shapes[@]}" -o "$dir/ranks" >"$dir/ranks.out" 2>"$dir/log" || fail "two ranks: $(cat "$dir/log")"
[ "$(hash_of shapes)" = "$(hash_of ranks)" ] || fail "two ranks move bits"
for frame in "$dir"/shapes/frame_*.h5; do
  cmp -s "$frame" "$dir/ranks/${frame##*/}" || fail "two ranks: ${frame##*/} differs"
done

# threads move no bit
OMP_NUM_THREADS=3 run threads --set time.history_every_s=0.02
[ "$(hash_of whole)" = "$(hash_of threads)" ] || fail "threads move bits"

# off is as if there were no section
sed '/^reduction:/d' config/conveyor-pile.yaml >"$dir/none.yaml"
run off --set reduction.split=off
"$solve" "$dir/none.yaml" --no-progress "${small[@]}" -o "$dir/none" >"$dir/none.out" 2>"$dir/log" || fail "$(cat "$dir/log")"
[ "$(hash_of off)" = "$(hash_of none)" ] || fail "off is another state"
[ "$(column off merged)" = 0 ] || fail "off merges"

refused() { # text of the message, then what is set
  local text=$1; shift
  "$solve" config/conveyor.yaml -q "$@" -o "$dir/no" >/dev/null 2>"$dir/log" && fail "not refused: $*"
  grep -qF "$text" "$dir/log" || fail "'$text' is not in: $(cat "$dir/log")"
}
refused "reduction.split" --set reduction.split=all
refused "there are none" --set reduction.split=sensors
sed 's/^reduction:.*/reduction: {split: sensors}/' config/conveyor-pile.yaml >"$dir/none.yaml"
"$solve" "$dir/none.yaml" -q -o "$dir/no" >/dev/null 2>"$dir/log" && fail "no sensors are taken"
grep -qF "none.yaml:$(grep -n '^reduction:' "$dir/none.yaml" | cut -d: -f1):" "$dir/log" || fail "no line of the key: $(cat "$dir/log")"
sed -e 's/method: nonsmooth/method: sqm/' -e '/between/s/, rolling.*}/}/' config/conveyor-pile.yaml >"$dir/sqm.yaml"
"$solve" "$dir/sqm.yaml" -q -o "$dir/no" >/dev/null 2>"$dir/log" && fail "sqm takes a reduction"
grep -qF "reduction.split" "$dir/log" || fail "sqm: $(cat "$dir/log")"
sed 's/^reduction:.*/reduction: {split: contact, sensors: [{low_m: [0, 0, 0], high_m: [0.1, 0, 0.1]}]}/' \
  config/conveyor-pile.yaml >"$dir/sensor.yaml"
"$solve" "$dir/sensor.yaml" -q -o "$dir/no" >/dev/null 2>"$dir/log" && fail "an empty sensor is taken"
grep -qF "reduction.sensors.0.high_m" "$dir/log" || fail "sensor: $(cat "$dir/log")"

warned() { # text of the warning, then what is set
  local text=$1; shift
  "$solve" -n config/conveyor-pile.yaml "$@" -o "$dir/no" >/dev/null 2>"$dir/log" || fail "refused: $(cat "$dir/log")"
  grep -qF "$text" "$dir/log" || fail "'$text' is not in: $(cat "$dir/log")"
}
warned "reduction.trial_force does nothing: it is of split: trial or both" --set reduction.trial_force=0.1
warned "nothing is merged before 1000 s, and the run ends at" --set reduction.from_s=1000
warned "keep the force with which they merged" --set time.boundary_forces=true
warned "without gravity a trial has no weight" --set reduction.split=trial --set gravity_m_s2='[0, 0, 0]'

# three balls abreast merge in the air and leave the ground one by one: where one stops it holds none of the others
{ printf 'ncols 4\nnrows 4\nxllcorner 0\nyllcorner 0\ncellsize 10\n'; for _ in 1 2 3 4; do echo 100 100 100 100; done; } >"$dir/flat.asc"
"$BIN/talus-topo" "$dir/flat.asc" --catalog="$dir/c.tals" --name=flat --crs=EPSG:32632 >"$dir/log" 2>&1 || fail "no ground: $(cat "$dir/log")"
cat >"$dir/row.yaml" <<YAML
catalog: $dir/c.tals
crs: terrain
outside: stop
time: {dt_s: 1.0e-3, duration_s: 1.7, history_every_s: 0.1}
shapes: [{name: ball, diameter_m: 1}]
bodies: [{shape: ball, position_m: [32, 20, 130], velocity_m_s: [2, 2, 0], count: 3, step_m: [0.7071067, -0.7071067, 0]}]
terrain: {name: flat}
solver: {method: nonsmooth}
nonsmooth: {young_Pa: 1.0e+8}
reduction: {split: contact}
YAML
"$solve" "$dir/row.yaml" --no-progress -o "$dir/row" >"$dir/row.out" 2>"$dir/log" || fail "the row does not run: $(cat "$dir/log")"
[ "$(awk -F, 'NR == 1 {for (i = 1; i <= NF; i++) at[$i] = i; next} $at["merged"] == 3 {n++} END {print n + 0}' "$dir/row/history.csv")" -gt 0 ] ||
  fail "the row has not merged"
grep -qx "grains_outside: 3" "$dir/row.out" || fail "a ball that stopped outside holds others: $(grep outside "$dir/row.out")"
exit $bad
