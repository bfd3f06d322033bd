#!/usr/bin/env bash
# A run that is killed, at any moment, goes on to the same end, bit by bit; damaged checkpoints are
# named and skipped; a changed study is refused; a full disk leaves the older checkpoints whole.
# sanitized: reads and writes checkpoints
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export OMP_NUM_THREADS=1
"$TESTBIN/test_run" c.sqlite
# 12 grains fall into a corner: contacts from step 20 on
cat >s.yaml <<'YAML'
catalog: c.sqlite
time: {dt_s: 5.0e-4, steps: 400, frame_every_s: 0.02, history_every_s: 2.0e-3}
grains: {sample: sand}
release: {assembly: lattice, low_m: [0, 0, 0], high_m: [0.0066, 0.0066, 0.0099], velocity_m_s: [0.1, 0.05, -0.3]}
planes:
- {point_m: [0, 0, 0], normal: [0, 0, 1]}
- {point_m: [0, 0, 0], normal: [1, 0, 0]}
- {point_m: [0.0066, 0, 0], normal: [-1, 0, 0]}
- {point_m: [0, 0, 0], normal: [0, 1, 0]}
- {point_m: [0, 0.0066, 0], normal: [0, -1, 0]}
checkpoint: {every_steps: 9}
YAML

fail() { echo "test_resume: $*"; exit 1; }
same() { "$TESTBIN/test_resume" "$@" || fail "results differ: $*"; }
solve() { "$BIN/talus-solve" "$@"; }
refused() { # status, text in the message, arguments
  local want=$1 text=$2 got=0
  shift 2
  "$BIN/talus-solve" "$@" >out 2>err || got=$?
  [ "$got" = "$want" ] || fail "$*: exit $got, not $want: $(cat err)"
  grep -qF -- "$text" err || fail "$*: '$text' is not in: $(cat err)"
}

start=$(date +%s%N)
solve s.yaml -o whole >whole.out
took=$((($(date +%s%N) - start) / 1000000)) # ms
hash=$(grep ^state_hash: whole.out)
[ -n "$hash" ] || fail "no state_hash in the summary"
[ "$(find whole -name '*.tck' | wc -l)" = 2 ] || fail "not two checkpoints are kept"

# kill -9 at ten random moments, each time going on from what is there; before there is a
# checkpoint it starts anew
RANDOM=${TALUS_TEST_SEED:-$$}
seed=$RANDOM
arguments=()
choose() {
  arguments=(s.yaml --overwrite -o killed)
  [ -z "$(find killed -name '*.tck' 2>/dev/null)" ] || arguments=(--resume killed)
}
for _ in 1 2 3 4 5 6 7 8 9 10; do
  choose
  "$BIN/talus-solve" "${arguments[@]}" >out 2>err &
  pid=$!
  sleep "$(awk -v r=$RANDOM -v t="$took" 'BEGIN { print r / 32768 * t / 1000 * 0.7 }')"
  kill -9 $pid 2>/dev/null || true
  wait $pid 2>/dev/null || true
done
choose
# kills that all came before a checkpoint, or after the end, leave nothing to go on from
least=0
[ "${arguments[0]}" != --resume ] || [ -e killed/checkpoint_000000000400.tck ] || least=1
solve "${arguments[@]}" >out 2>err || fail "after ten kills (seed $seed): $(cat err)"
grep -qxF "$hash" out || fail "after ten kills (seed $seed): $(grep ^state_hash: out), not $hash"
same whole killed
half=$(find killed -name '*.tmp')
[ -z "$half" ] || fail "half files are left (seed $seed): $half"

# killed while a checkpoint is written: the half file is not looked at and goes
mkdir half
cp whole/* half/
rm half/checkpoint_000000000400.tck
head -c 3000 half/checkpoint_000000000396.tck >half/checkpoint_000000000400.tck.0123abcd-99-567-89abcdef.tmp
solve --resume half >out 2>err || fail "with a half checkpoint: $(cat err)"
same whole half
[ ! -e half/checkpoint_000000000400.tck.0123abcd-99-567-89abcdef.tmp ] || fail "the half checkpoint is still there"

# each who went on is on record in run.h5 beside the one who began: command, step, host, ranks
records() { h5dump -d provenance "$1/run.h5" | tr -d '\n' | sed 's/\\"/"/g'; }
[ "$("$BIN/talus-measure" whole -o w.m --overwrite | grep ^resumes:)" = "resumes: 0" ] || fail "whole: a resume"
"$BIN/talus-measure" half -o h.m --overwrite >out
grep -qx "resumes: 1" out && grep -qx "resumed_from_steps: 396" out || fail "no record of the resume: $(cat out)"
"$BIN/talus-measure" killed -o k.m --overwrite --json >out
resumes=$(grep -o '"resumes": [0-9]*' out | cut -d' ' -f2)
[ "$resumes" -ge "$least" ] || fail "ten kills (seed $seed): $resumes resumes on record, not $least: $(cat out)"
if command -v h5dump >/dev/null; then
  records half | grep -q '"argv": \["[^"]*talus-solve", .*"--resume", "half"\], "host": "..*"resumed_from_step": "396"' ||
    fail "the record lacks something: $(records half)"
fi

# damaged ones are named and skipped: the newest cut short, then a bit flipped
rm -r half
cp -r whole damaged
truncate -s 3000 damaged/checkpoint_000000000400.tck
"$BIN/talus-solve" --resume damaged >out 2>err || fail "damaged: $(cat err)"
grep -q "warning: damaged/checkpoint_000000000400.tck: damaged: it is cut short; it is skipped" err ||
  fail "the cut one is not named: $(cat err)"
grep -q "resuming from damaged/checkpoint_000000000396.tck: step 396" err || fail "$(cat err)"
same whole damaged
flip() { printf '\x5a' | dd of="$1" bs=1 seek="$2" conv=notrunc status=none; }
flip damaged/checkpoint_000000000400.tck 3500
"$BIN/talus-solve" --resume damaged >out 2>err || fail "flipped: $(cat err)"
grep -q "400.tck: damaged: section '.*' does not match its digest; it is skipped" err ||
  fail "the flipped one is not named: $(cat err)"
same whole damaged
flip damaged/checkpoint_000000000400.tck 3500
flip damaged/checkpoint_000000000396.tck 3500
refused 1 "damaged: holds no whole checkpoint" --resume damaged

# SIGTERM saves, says how to go on, and the run goes on from the study as well as from the folder
"$BIN/talus-solve" s.yaml >out 2>err &
pid=$!
for _ in $(seq 2000); do [ ! -s s.run/frame_000001.h5 ] || break; sleep 0.002; done
kill -STOP $pid # held still: the whole run takes a fifth of a second
refused 2 "s.run: another run is writing there" --overwrite s.yaml
kill -TERM $pid
kill -CONT $pid
got=0; wait $pid || got=$?
[ "$got" = 1 ] || fail "a signal gives exit $got"
grep -q "stopped by a signal after step .*; resume with: talus-solve --resume s.run" err ||
  fail "no word how to go on: $(cat err)"
# the command that it prints can be copied into a shell, whatever the folder is called
mkdir "it's here"
"$BIN/talus-solve" s.yaml -o "it's here/s run" >out 2>err &
pid=$!
for _ in $(seq 2000); do [ ! -s "it's here/s run/frame_000001.h5" ] || break; sleep 0.002; done
kill -TERM $pid
wait $pid && fail "a signal gives exit 0"
command=$(sed -n 's/.*resume with: talus-solve //p' err)
[ "$command" = "--resume 'it'\\''s here/s run'" ] || fail "the command to resume: $(cat err)"
eval "\"$BIN/talus-solve\" -q $command" >out 2>err || fail "the printed command: $(cat err)"
refused 2 "--set contact.friction: was 0.5 when s.run/checkpoint_" --resume s.yaml --set contact.friction=0.3
sed 's/dt_s: 5.0e-4/dt_s: 4.0e-4/' s.yaml >t.yaml
refused 1 "t.yaml:2:8: time.dt_s: was 0.0005 when" --resume t.yaml -o s.run
refused 2 "--set time.steps: ends with step 5, and" --resume s.run --set time.steps=5
refused 2 "choose one" --resume s.yaml --overwrite
refused 1 "nowhere.yaml" --resume nowhere.yaml
cp -r s.run two.run
# another catalog in its place: the same ids, other grains
cp c.sqlite other.sqlite
sqlite3 other.sqlite "UPDATE avatar SET volume_m3 = volume_m3 * 1.001"
refused 1 "of the catalog is not the one that s.run/checkpoint_" --resume s.run --catalog=other.sqlite
solve --resume s.yaml >out 2>err || fail "--resume of a study: $(cat err)"
same whole s.run
OMP_NUM_THREADS=2 "$BIN/talus-mpirun" -n 2 "$BIN/talus-solve" --resume two.run >out 2>err ||
  fail "on two ranks: $(cat err)"
grep -qxF "$hash" out || fail "two ranks go on to another state"
same whole two.run 11 # columns that do not say how islands lie on ranks
# a wall's table that was changed under its name
printf 'time_s,x_m,y_m,z_m\n0,0,0,0\n1,0,0,0.001\n' >way.csv
{ cat s.yaml; echo 'walls: [{kind: box, size_m: [0.1, 0.1, 0.1], point_m: [0, 0, -0.2], table: way.csv}]'; } >w.yaml
solve w.yaml -o w.run --set time.steps=20 >out 2>err || fail "with a table: $(cat err)"
solve --resume w.run --set time.steps=30 >out 2>err || fail "the same table: $(cat err)"
sed -i 's/0.001/0.002/' way.csv
refused 1 "walls.0.table: the walls' tables are not those that w.run/checkpoint_" --resume w.run --set time.steps=40
# finished: nothing to do; longer: on it goes, as if it had been longer from the start
solve --resume s.run >out 2>err || fail "a finished run: $(cat err)"
grep -qxF "$hash" out || fail "a finished run has another state"
solve s.yaml -o long --set time.steps=430 >long.out
solve --resume s.run --set time.steps=430 >out 2>err || fail "longer: $(cat err)"
same long s.run
cmp -s <(grep ^state_hash: out) <(grep ^state_hash: long.out) || fail "longer: another state"

# a disk that gets full: said, nothing half is left, and with space again the run resumes
mkdir disk
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=560k tmpfs disk 2>/dev/null; then
  trap 'umount "$folder/disk"; rm -rf "$folder"' EXIT
  got=0
  solve s.yaml -o disk/run >out 2>err || got=$?
  [ "$got" = 1 ] || fail "a full disk gives exit $got"
  grep -q "disk/run/.*: " err || fail "a full disk: $(cat err)"
  [ -z "$(find disk -name '*.tmp')" ] || fail "a full disk leaves half files"
  cp -r disk/run room
  solve --resume room >out 2>err || fail "after the full disk: $(cat err)"
  same whole room
fi
