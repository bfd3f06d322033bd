#!/usr/bin/env bash
# talus-solve: wrong studies are refused with their place, a tiny run ends with frames, a signal
# ends a run with its last frame closed, ranks give the same frames.
# sanitized: runs the solver from the study to the results
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export OMP_NUM_THREADS=1
"$TESTBIN/test_run" c.sqlite

cat >s.yaml <<'YAML'
title: tiny
catalog: c.sqlite
time: {dt_s: 1.0e-3, steps: 6, frame_every_s: 3.0e-3}
grains: {sample: sand}
release: {position_m: [0.05, 0.05, 0], along_ground: true}
terrain: {name: slope}
YAML

fail() { echo "test_solve: $*"; exit 1; }
# status, text in the message, arguments
refused() {
  local want=$1 text=$2 got=0
  shift 2
  "$BIN/talus-solve" "$@" >out 2>err || got=$?
  [ "$got" = "$want" ] || fail "$*: exit $got, not $want: $(cat err)"
  grep -qF -- "$text" err || fail "$*: '$text' is not in: $(cat err)"
  [ ! -s out ] || fail "$*: something on stdout"
}
wrong() { # text in the message, study text
  printf '%s\n' "$2" >w.yaml
  refused 1 "$1" w.yaml
}

refused 2 "--bogus: no such option" --bogus
refused 2 "one study is wanted"
refused 2 "one argument too many" a.yaml b.yaml
refused 1 "no.yaml" no.yaml
refused 2 "--set time.dt: no such key; did you mean 'dt_s'?" s.yaml --set time.dt=1
refused 2 "--set time.dt_s: 'soon' is not a number" s.yaml --set time.dt_s=soon
refused 1 "nowhere.sqlite" s.yaml --catalog=nowhere.sqlite
base=$(cat s.yaml)
wrong "w.yaml:3:22: time.stepz: no such key; did you mean 'steps'?" "${base/steps/stepz}"
wrong "w.yaml:4:10: grains.sample: c.sqlite: there is no sample 'send'" "${base/sand/send}"
wrong "w.yaml:4:19: grains.ids.1: c.sqlite: there is no grain 99" "${base/sample: sand/ids: [3, 99]}"
wrong "w.yaml:6:11: terrain.name: c.sqlite: there is no terrain 'valley'" "${base/slope/valley}"
wrong "w.yaml:2:1: catalog: " "${base/c.sqlite/none.sqlite}"
wrong "no grain of 'sand' is left" "${base/sample: sand/sample: sand, least_diameter_m: 1}"
wrong "grains.grain_scale: the median grain" "${base/sample: sand/sample: sand, grain_scale: 0.01}"

"$BIN/talus-solve" s.yaml >out 2>err || fail "the run failed: $(cat err)"
for f in run.h5 frame_000000.h5 frame_000001.h5 frame_000002.h5; do
  [ -s "s.run/$f" ] || fail "s.run/$f is missing"
done
[ ! -e s.run/frame_000003.h5 ] || fail "a frame too many"
[ "$(wc -l <s.run/history.csv)" = 8 ] || fail "history.csv: $(wc -l <s.run/history.csv) lines"
head -1 s.run/history.csv | grep -q '^time_s,.*kinetic_energy_J' || fail "header of history.csv"
grep -q '^frames: 3$' out || fail "no count of frames on stdout"
awk -F, 'NR == 2 { start = $5 } END { print $5 - start }' s.run/history.csv >change
awk 'NR == FNR { want = $1; next } $1 == "potential_energy_change:" {
  found = $2 < 0 && ($2 - want) ^ 2 <= (1e-4 * want) ^ 2 } END { exit !found }' change out ||
  fail "potential_energy_change is not history.csv's $(cat change) J: $(cat out)"
refused 2 "--overwrite" s.yaml
"$BIN/talus-solve" -q s.yaml --overwrite --json >out 2>err || fail "--overwrite: $(cat err)"
grep -q '"steps": 6' out || fail "no JSON"

"$BIN/talus-solve" -n -q s.yaml -o dry >out 2>err || fail "--dry-run: $(cat err)"
[ ! -e dry ] || fail "--dry-run wrote"
grep -q '^grains: 8$' out || fail "--dry-run does not count the grains"
for key in memory_estimate_loose memory_estimate memory_of_first_steps disk_estimate disk_free step_time time_at_this_pace; do
  awk -v key="$key:" '$1 == key && $2 > 0 { found = 1 } END { exit !found }' out ||
    fail "--dry-run does not say $key: $(cat out)"
done
awk '$1 == "step_time:" { step = $2 } $1 == "time_at_this_pace:" { all = $2 }
  END { exit !((all - 6 * step) ^ 2 < (1e-4 * all) ^ 2) }' out ||
  fail "time_at_this_pace is not that of 6 steps: $(cat out)"
# the laws of all pairs that can meet, listed or combined
sed '$a\
materials: [{name: steel, density_kg_m3: 7850}]\
pairs: [{between: [steel, steel], friction: 0.15, restitution: 0.7}]' s.yaml >pairs.yaml
"$BIN/talus-solve" -n -q pairs.yaml -o dry --set grains.material=steel >out 2>err ||
  fail "--dry-run with materials: $(cat err)"
grep -q '^material_0: steel, 7850 kg/m3$' out || fail "--dry-run does not name the material: $(cat out)"
grep -q '^pair_1: steel on steel: friction 0.15, restitution 0.7, tangential_restitution 0' out ||
  fail "--dry-run does not say the pair's law: $(cat out)"
grep -q '^pair_2: steel on boundary: friction ' out || fail "--dry-run lacks a pair: $(cat out)"
# frames that fill any disk: refused before the first step
refused 1 "and the disk has" s.yaml -o dry --set time.steps=1000000000000000 \
  --set time.frame_every_s=1e-3
[ ! -e dry ] || fail "a run too large for the disk wrote"

# Runs side by side share no folder of Open MPI: one that ends would take it from one that starts.
TMPDIR=$folder/s.yaml/none "$BIN/talus-solve" -q s.yaml -o alone >out 2>err || fail "without a temporary folder: $(cat err)"
mkdir temporary
TMPDIR=$folder/temporary "$BIN/talus-mpirun" -n 2 bash -c 'ls -d "$0"/talus-mpirun.*/ompi*' "$folder/temporary" >out 2>err ||
  fail "ranks have no session of their own: $(cat err)"
TMPDIR=$folder/temporary "$BIN/talus-mpirun" -n 2 "$BIN/talus-solve" -q s.yaml -o two >out 2>err || fail "-n 2: $(cat err)"
rmdir temporary || fail "talus-mpirun leaves a folder: $(find temporary)"
cut -d, -f1-3,11 s.run/history.csv | cmp -s - <(cut -d, -f1-3,11 two/history.csv) ||
  fail "two ranks count other contacts than one"

"$BIN/talus-solve" s.yaml -o long --set time.steps=1000000 >out 2>err &
pid=$!
for _ in $(seq 100); do [ ! -s long/frame_000003.h5 ] || break; sleep 0.1; done
kill -TERM $pid
got=0; wait $pid || got=$?
[ "$got" = 1 ] || fail "a signal gives exit $got"
grep -q "stopped by a signal after step" err || fail "no word of the signal: $(cat err)"
ls long/*.tmp >/dev/null 2>&1 && fail "a half frame is left"
[ -s long/frame_000003.h5 ] || fail "frames are missing after the signal"

# steel balls beside sand in one drum: the pair that is not listed has the lesser of both
cd - >/dev/null
"$BIN/talus-solve" -n -q config/drum-steel.yaml -o "$folder/steel" >"$folder/out" 2>"$folder/err" ||
  fail "drum-steel: $(cat "$folder/err")"
grep -q '^material_2: steel, 7850 kg/m3$' "$folder/out" || fail "drum-steel has no steel"
grep -q '^pair_2: sand on steel: friction 0.2, restitution 0.2, ' "$folder/out" ||
  fail "drum-steel: sand on steel is not combined: $(cat "$folder/out")"
[ ! -s "$folder/err" ] || fail "drum-steel warns: $(cat "$folder/err")"
