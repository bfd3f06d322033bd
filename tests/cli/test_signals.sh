#!/usr/bin/env bash
# Signals: a run saves its state and ends, alone and under MPI, also where the disk is slow; a second
# signal ends it at once; a run says with its exit status when a checkpoint could not be saved.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"; jobs -p | xargs -r kill -9 2>/dev/null' EXIT
cd "$folder"
export OMP_NUM_THREADS=1
"$TESTBIN/test_run" c.sqlite
fail() { echo "test_signals: $*"; exit 1; }
shim() { # VARIABLE=VALUE, command...: with the misbehaving disk, in place of this shell
  local setting=$1; shift
  exec env "$setting" LD_PRELOAD="$TESTBIN/disk-shim.so" ASAN_OPTIONS="${ASAN_OPTIONS:-}:verify_asan_link_order=0" "$@"
}
cat >s.yaml <<'YAML'
catalog: c.sqlite
time: {dt_s: 5.0e-4, steps: 1000000, frame_every_s: 0.01, history_every_s: 5.0e-3}
grains: {sample: sand}
release: {assembly: lattice, low_m: [0, 0, 0], high_m: [0.0066, 0.0066, 0.0099], velocity_m_s: [0.1, 0.05, -0.3]}
planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]
YAML
# the disk becomes slow when the signal is about to come
slow=TALUS_SHIM_SYNC_S=0.3
export TALUS_SHIM_SLOW=$folder/slow
wait_for() { # file that must come to be there
  for _ in $(seq 3000); do [ ! -e "$1" ] || return 0; sleep 0.02; done
  fail "$1 does not come: $(cat err)"
}
signal() { touch slow; kill "-$1" "$2"; } # and the disk is slow from here on
newest() { find "$1" -name 'checkpoint_*.tck' -printf '%f\n' | sort | tail -1; }
saved() { # folder: a checkpoint of the step at which the run ended, and a word how to resume
  grep -q "stopped by a signal after step .*--resume $1" err || fail "$2: no word how to resume: $(cat err)"
  local step; step=$(sed -n 's/.*stopped by a signal after step \([0-9]*\).*/\1/p' err | head -1)
  [ "$(newest "$1")" = "$(printf 'checkpoint_%012d.tck' "$step")" ] || fail "$2: stopped at step $step, saved $(newest "$1")"
  [ "$step" -gt 0 ] || fail "$2: saved step 0"
}
ends_with() { # status, what: the last job does
  local got=0
  wait "$!" || got=$?
  [ "$got" = "$1" ] || fail "$2: exit $got, not $1: $(cat err)"
}

# alone: each of the signals, on a slow disk
for signal in TERM INT HUP USR2; do
  rm -f slow
  (shim $slow env --default-signal=INT,HUP "$BIN/talus-solve" -q s.yaml -o "$signal" >out 2>err) &
  wait_for "$signal/frame_000001.h5"
  signal $signal $!
  ends_with 1 "SIG$signal"
  saved "$signal" "SIG$signal"
done
"$BIN/talus-solve" --resume TERM --set time.steps=3000 >out 2>err || fail "resume: $(cat err)"
hash=$(grep ^state_hash: out)
"$BIN/talus-solve" s.yaml -o whole --set time.steps=3000 >out 2>err || fail "whole: $(cat err)"
grep -qxF "$hash" out || fail "resumed after a signal the run ends in another state"

# nohup: the terminal may go
(trap '' HUP; exec "$BIN/talus-solve" -q s.yaml -o nohup --set time.steps=2000 >out 2>err) &
wait_for nohup/frame_000001.h5
kill -HUP $!
ends_with 0 "SIGHUP under nohup"

# under talus-mpirun, again and again: no rank is killed before the state is saved
for signal in TERM INT HUP TERM; do
  rm -rf two slow
  (shim $slow env --default-signal=INT,HUP "$BIN/talus-mpirun" -n 2 "$BIN/talus-solve" -q s.yaml -o two >out 2>err) &
  wait_for two/frame_000001.h5
  signal $signal $!
  ends_with 1 "SIG$signal to talus-mpirun"
  saved two "SIG$signal to talus-mpirun"
done
"$BIN/talus-solve" --resume two --set time.steps=3000 >out 2>err || fail "resume of two ranks: $(cat err)"
grep -qxF "$hash" out || fail "resumed after a signal to two ranks the run ends in another state"

# SIGUSR1: a checkpoint, and the run continues, alone and on two ranks
for ranks in 1 2; do
  rm -rf usr1 slow
  command=("$BIN/talus-solve")
  [ "$ranks" = 1 ] || command=("$BIN/talus-mpirun" -n 2 "$BIN/talus-solve")
  "${command[@]}" -q s.yaml -o usr1 >out 2>err &
  wait_for usr1/frame_000001.h5
  before=$(newest usr1)
  kill -USR1 $!
  for _ in $(seq 500); do [ "$(newest usr1)" != "$before" ] && break; sleep 0.02; done
  [ "$(newest usr1)" != "$before" ] || fail "SIGUSR1 on $ranks ranks saves no state: $(cat err)"
  frames=$(find usr1 -name 'frame_*.h5' | wc -l)
  wait_for "usr1/$(printf 'frame_%06d.h5' $((frames + 1)))"
  kill -TERM $!
  ends_with 1 "SIGTERM after SIGUSR1"
  saved usr1 "SIGTERM after SIGUSR1"
done

# mpirun by itself kills the ranks a second after its SIGTERM, whatever the disk does
options=(--oversubscribe --bind-to none)
[ "$(id -u)" != 0 ] || options+=(--allow-run-as-root)
good=0
for _ in 1 2 3; do
  rm -rf plain slow
  (shim $slow mpirun "${options[@]}" -n 2 "$BIN/talus-solve" -q s.yaml -o plain >out 2>err) &
  wait_for plain/frame_000001.h5
  before=$(newest plain)
  signal TERM $!
  wait $! 2>/dev/null || true
  [ "$(newest plain)" = "$before" ] || good=$((good + 1))
done
[ "$good" -ge 1 ] || fail "SIGTERM to mpirun: $good of 3 saved"

# a second signal: the same request within 1.5 s; later it ends the run at once, saved or not
rm slow
(shim TALUS_SHIM_SYNC_S=4 "$BIN/talus-solve" -q s.yaml -o twice >out 2>err) &
wait_for twice/frame_000001.h5
signal TERM $!; sleep 0.5; kill -TERM $!
ends_with 1 "SIGTERM twice in half a second"
saved twice "SIGTERM twice in half a second"
rm slow
(shim TALUS_SHIM_SYNC_S=60 "$BIN/talus-solve" -q s.yaml -o never >out 2>err) &
wait_for never/frame_000001.h5
signal TERM $!; sleep 2; kill -TERM $!
start=$SECONDS
ends_with 143 "a second SIGTERM"
[ $((SECONDS - start)) -lt 20 ] || fail "a second SIGTERM takes $((SECONDS - start)) s"

# checkpoints that cannot be saved: the run goes to its end, and says so with its exit status
got=0
(shim TALUS_SHIM_FULL=.tck "$BIN/talus-solve" -q s.yaml -o full --set time.steps=100 --set checkpoint.every_steps=30 >out 2>err) || got=$?
[ "$got" = 1 ] || fail "without any checkpoint: exit $got: $(cat err)"
grep -q "the run went to its end, but 5 checkpoints could not be saved, the last at step 100: .*tck: cannot rename" err || fail "$(cat err)"
[ -e full/frame_000005.h5 ] || fail "no last frame"
(shim TALUS_SHIM_FULL=.tck "$BIN/talus-solve" -q s.yaml -o lost >out 2>err) &
wait_for lost/frame_000001.h5
kill -TERM $!
got=0; wait $! || got=$?
[ "$got" = 1 ] && ! grep -q "resume" err || fail "a signal whose checkpoint cannot be saved: exit $got: $(cat err)"
echo "test_signals: all good ($good of 3 saved by plain mpirun)"
