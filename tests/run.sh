#!/usr/bin/env bash
# Run test programs: tests/run.sh KIND... (or unit/test_X, mpi/test_X, cli/test_X) with BIN and TESTBIN set by make.
# unit: each program; mpi: each at the rank counts its source names ("ranks: 1 2 4"); cli: scripts.
# As many at a time as there are cores (TALUS_TEST_JOBS), those of several ranks by themselves. Each has a time
# limit (TALUS_TEST_LIMIT) and prints its time and CPU time. Ends with "N passed, N failed".
# TALUS_SANITIZED=1: of the scripts those that say so ("# sanitized: reason": they read what users bring, or write
# what others read; what the others drive, the test programs call), tests on at most 2 ranks, and not those of
# test programs that begin with TL_NOT_SANITIZED().
# TALUS_TEST_STOP=1: run the tests in the order given and start no more after the first that fails.
set -u
cd "$(dirname "$0")/.." || exit 1
BIN=$(realpath "$BIN"); TESTBIN=$(realpath "$TESTBIN")
export BIN TESTBIN LC_ALL=C CK_VERBOSITY=minimal CK_DEFAULT_TIMEOUT=600
# A tool that runs alone starts MPI four times as fast without a daemon beside it, and without a look at networks.
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_ess_singleton_isolated=1 OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader
if [ "${TALUS_SANITIZED:-0}" = 1 ]; then
  export CK_FORK=no OMP_NUM_THREADS=2
  LSAN_OPTIONS="suppressions=$PWD/tests/lsan.supp:print_suppressions=0"
  # gcc 12's runtime guesses where libraries loaded late keep thread-local data from bytes before the
  # block; a wrong guess makes the leak check itself crash.
  ASAN_OPTIONS="detect_odr_violation=0:detect_leaks=1:intercept_tls_get_addr=0"
  UBSAN_OPTIONS="print_stacktrace=1"
  export LSAN_OPTIONS ASAN_OPTIONS UBSAN_OPTIONS
fi
# Two processes of two threads each share two cores: a thread that waits gives its core away soon.
export GOMP_SPINCOUNT=${GOMP_SPINCOUNT:-1000}
limit=${TALUS_TEST_LIMIT:-600}
jobs=${TALUS_TEST_JOBS:-$(nproc)}
logs=$(mktemp -d); trap 'rm -rf "$logs"' EXIT
: >"$logs/verdicts"

# Run one test; its line, and its last words when it failed, come out in one piece.
one() { # name, command...
  local name=$1 code=0 verdict=ok start end; shift
  local log="$logs/${name//\//_}" TIMEFORMAT='%U %S'
  start=$(date +%s.%N)
  { time timeout -k 10 "$limit" "$@" >"$log" 2>&1 </dev/null; } 2>"$log.cpu" || code=$?
  end=$(date +%s.%N)
  [ "$code" = 0 ] || verdict="FAILED (exit $code)"
  (
    flock 9
    awk -v name="$name" -v wall="$(echo "$end $start" | awk '{print $1-$2}')" -v verdict="$verdict" '
      {cpu = $1 + $2} END {printf "%-36s %6.1f s %7.1f CPU s  %s\n", name, wall, cpu, verdict}' "$log.cpu"
    [ "$code" = 0 ] || sed 's/^/    /' "$log" | tail -60
    echo "$verdict" >>"$logs/verdicts"
  ) 9>"$logs/lock"
}

# The longest first, so that none is left over to run alone at the end; then the others as they come.
long="cli/test_help_examples cli/test_guide unit/test_ranks cli/test_laboratory cli/test_chain cli/test_tutorials cli/test_install cli/test_pipeline
  cli/test_python cli/test_ensemble cli/test_avatars cli/test_replace cli/test_imaging_chain cli/test_fuzz_corpus unit/test_binarize unit/test_phantom
  unit/test_tractions unit/test_ground_contact unit/test_denoise unit/test_report cli/test_maps cli/test_gis_files"
by_length() { # sources in, one a line
  awk -v long="$long" 'BEGIN {n = split(long, first)} {
    name = $0; sub(/^tests\//, "", name); sub(/\.[a-z]+$/, "", name); source[name] = $0; order[NR] = name} END {
    for (i = 1; i <= n; i++) if (first[i] in source) {print source[first[i]]; delete source[first[i]]}
    for (i = 1; i <= NR; i++) if (order[i] in source) print source[order[i]]}'
}
start_one() { # source
  local name=${1#tests/}; name=${name%.*}
  case $name in
  unit/*) one "$name" "$TESTBIN/${name#unit/}" ;;
  cli/*) one "$name" bash "$1" ;;
  mpi/*) on_ranks 1 "$1" ;;
  esac
}
ranks_of() { # source of a test under MPI
  sed -nE 's/.*ranks: *([0-9][0-9 ]*).*/\1/p' "$1" | head -1
}
on_ranks() { # number of them, source
  local name; name=$(basename "$2" .c)
  CK_FORK=no OMP_NUM_THREADS=1 one "mpi/$name-n$1" "$BIN/talus-mpirun" -n "$1" "$TESTBIN/$name"
}

# Ranks under MPI hand messages to and fro and wait milliseconds for a core that is taken: tests with
# several of them run when nothing else does, and scripts that say so ("# alone: reason"); one rank, and scripts that
# start several for a moment, run among the others.
names=(); alone=(); mpi=()
for kind in "$@"; do
  case $kind in
  unit) names+=(tests/unit/test_*.c) ;;
  cli) names+=(tests/cli/test_*.sh) ;;
  unit/*) names+=("tests/$kind.c") ;;
  cli/*) names+=("tests/$kind.sh") ;;
  mpi) mpi+=(tests/mpi/test_*.c) ;;
  mpi/*) mpi+=("tests/$kind.c") ;;
  *) echo "tests/run.sh: unknown kind '$kind'" >&2; exit 2 ;;
  esac
done
for source in "${mpi[@]}"; do
  ranks=$(ranks_of "$source")
  [ -n "$ranks" ] || { echo "tests/run.sh: $source says no ranks" >&2; exit 2; }
  [[ " $ranks " != *" 1 "* ]] || names+=("$source")
done
stop=${TALUS_TEST_STOP:-0}
go_on() { [ "$stop" != 1 ] || ! grep -q FAILED "$logs/verdicts"; }
order=by_length; [ "$stop" != 1 ] || order='cat'
running=0; started=0
for source in $(printf '%s\n' "${names[@]}" | $order); do
  go_on || break
  if [ "${TALUS_SANITIZED:-0}" = 1 ] && [[ $source = *.sh ]] && ! grep -q '^# sanitized: ' "$source"; then
    continue
  fi
  if grep -q '^# alone: ' "$source"; then alone+=("$source"); continue; fi
  if [ "$running" -ge "$jobs" ]; then wait -n; running=$((running - 1)); fi
  start_one "$source" &
  running=$((running + 1)); started=$((started + 1))
done
wait
for source in "${alone[@]}"; do
  go_on || break
  start_one "$source"; started=$((started + 1))
done
for source in "${mpi[@]}"; do
  for n in $(ranks_of "$source"); do
    [ "$n" != 1 ] || continue
    go_on || break
    # More processes than cores, all sanitized, take minutes; what depends on their number is bits.
    [ "${TALUS_SANITIZED:-0}" != 1 ] || [ "$n" -le 2 ] || continue
    on_ranks "$n" "$source"
    started=$((started + 1))
  done
done
passed=$(grep -cx ok "$logs/verdicts"); failed=$(grep -cvx ok "$logs/verdicts")
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ] && [ "$passed" = "$started" ]
