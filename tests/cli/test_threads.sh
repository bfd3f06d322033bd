#!/usr/bin/env bash
# How many threads a tool takes by default, what it says of that, and that threads which wait for each
# other do not hold cores that other work wants.
set -eu
folder=$(mktemp -d)
busy=()
clean() { [ ${#busy[@]} = 0 ] || kill "${busy[@]}" 2>/dev/null || true; rm -rf "$folder"; }
trap clean EXIT
cd "$folder"
unset OMP_NUM_THREADS GOMP_SPINCOUNT OMP_WAIT_POLICY
fail() { echo "test_threads: $*"; exit 1; }
says() { # text, command...: the command's two streams hold the text
  local text=$1; shift
  "$@" >out 2>&1 || fail "$*: $(cat out)"
  grep -qF -- "$text" out || fail "$*: '$text' is not in: $(cat out)"
}

cat >s.yaml <<'YAML'
time: {dt_s: 5.0e-4, steps: 100, frame_every_s: 0}
shapes: [{name: egg, kind: superellipsoid, size_m: [2.2e-3, 1.8e-3, 1.5e-3], spacing_m: 1.5e-4, nodes: 160}]
grains: {shapes: [egg]}
release: {assembly: lattice, low_m: [0, 0, 1.0e-3], high_m: [0.017, 0.017, 0.013]}
planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]
YAML
plan=("$BIN/talus-solve" s.yaml -n -v)

# one CPU by affinity is one thread, whatever the machine has; others too, without a study
cpus=$(nproc)
machine=$(getconf _NPROCESSORS_ONLN)
first=$(taskset -cp $$ | sed 's/.*: *//; s/[-,].*//')
says "1 thread: 1 of the machine's $machine CPU" taskset -c "$first" "${plan[@]}"
says '"threads_per_rank": 1' taskset -c "$first" "${plan[@]}" --json
says "1 thread: 1 of the machine's $machine CPU" taskset -c "$first" "$BIN/talus-phantom" -n -v --size=64,64,64 -o p.h5
threads=$("${plan[@]}" --json 2>/dev/null | grep -o '"threads_per_rank": [0-9]*' | grep -o '[0-9]*')
[ "$threads" -ge 1 ] && [ "$threads" -le "$cpus" ] || fail "$threads threads on $cpus CPUs"
# what is asked for goes before, the option before the environment
says "3 threads: as OMP_NUM_THREADS says" env OMP_NUM_THREADS=3 "${plan[@]}"
says "2 threads: as asked for" env OMP_NUM_THREADS=3 "${plan[@]}" --threads=2
# ranks share: two on one CPU have a thread each, and on all CPUs no more than all of them together
says "1 thread: 1 of the machine's $machine CPU" taskset -c "$first" "$BIN/talus-mpirun" -n 2 "${plan[@]}"
"$BIN/talus-mpirun" -n 2 "${plan[@]}" --json >out 2>/dev/null || fail "two ranks: $(cat out)"
ranks_threads=$(grep -o '"threads_per_rank": [0-9]*' out | grep -o '[0-9]*')
[ "$ranks_threads" = $((threads / 2 > 1 ? threads / 2 : 1)) ] || fail "two ranks of $ranks_threads threads on $threads CPUs"

# the runtime's spinning is bounded when it starts, unless the user says how long it is to spin
spins() { OMP_DISPLAY_ENV=verbose "$@" 2>&1 | sed -n "s/.*GOMP_SPINCOUNT = '\([0-9]*\)'.*/\1/p" | tail -1; }
[ "$(spins "$BIN/talus-solve" --version)" = 2000 ] || fail "spins $(spins "$BIN/talus-solve" --version) times"
[ "$(spins "$BIN/talus-denoise" --version)" = 2000 ] || fail "talus-denoise spins longer"
[ "$(spins env GOMP_SPINCOUNT=77 "$BIN/talus-solve" --version)" = 77 ] || fail "GOMP_SPINCOUNT is not obeyed"

# beside four busy loops two threads may take three times as long as one, not seven and more
seconds() { local start; start=$(date +%s%N); "$BIN/talus-solve" -q s.yaml --overwrite "$@" >/dev/null; echo $((($(date +%s%N) - start) / 1000000)); }
for _ in 1 2 3 4; do
  sh -c 'while :; do :; done' &
  busy+=($!)
done
good=0
for _ in 1 2 3; do
  one=$(seconds --threads=1); two=$(seconds --threads=2)
  echo "beside four busy loops: one thread $one ms, two $two ms"
  [ "$two" -gt $((3 * one)) ] || { good=1; break; }
done
[ "$good" = 1 ] || fail "two threads take $two ms where one takes $one"
echo "test_threads: all good"
