#!/usr/bin/env bash
# Run test programs: tests/run.sh KIND... with BIN and TESTBIN set by make.
# unit: each program; mpi: each at the rank counts its source names ("ranks: 1 2 4"); cli: scripts.
# A test has a time limit; stray output of a CLI script is a failure. Ends with "N passed, N failed".
set -u
cd "$(dirname "$0")/.." || exit 1
BIN=$(realpath "$BIN"); TESTBIN=$(realpath "$TESTBIN")
export BIN TESTBIN LC_ALL=C CK_VERBOSITY=minimal CK_DEFAULT_TIMEOUT=600
export OMPI_MCA_rmaps_base_oversubscribe=1
if [ "${TALUS_SANITIZED:-0}" = 1 ]; then
  export CK_FORK=no OMP_NUM_THREADS=2
  LSAN_OPTIONS="suppressions=$PWD/tests/lsan.supp:print_suppressions=0"
  # gcc 12's runtime guesses where libraries loaded late keep thread-local data from bytes before the
  # block; a wrong guess makes the leak check itself crash.
  ASAN_OPTIONS="detect_odr_violation=0:detect_leaks=1:intercept_tls_get_addr=0"
  UBSAN_OPTIONS="print_stacktrace=1"
  export LSAN_OPTIONS ASAN_OPTIONS UBSAN_OPTIONS
fi
limit=${TALUS_TEST_LIMIT:-600}
logs=$(mktemp -d); trap 'rm -rf "$logs"' EXIT
passed=0; failed=0

one() { # name, command...
  local name=$1; shift
  local log="$logs/${name//\//_}" start end
  start=$(date +%s.%N)
  local code=0
  timeout -k 10 "$limit" "$@" >"$log" 2>&1 </dev/null || code=$?
  if [ "$code" = 0 ]; then
    passed=$((passed + 1)); verdict=ok
  else
    failed=$((failed + 1)); verdict="FAILED (exit $code)"
  fi
  end=$(date +%s.%N)
  printf '%-44s %6.1f s  %s\n' "$name" "$(echo "$end $start" | awk '{print $1-$2}')" "$verdict"
  [ "$verdict" = ok ] || sed 's/^/    /' "$log" | tail -60
}

for kind in "$@"; do
  case $kind in
  unit)
    for source in tests/unit/test_*.c; do
      name=$(basename "$source" .c); one "unit/$name" "$TESTBIN/$name"
    done ;;
  mpi)
    # Open MPI's leaks are known by library only when the whole stack is walked.
    [ -z "${ASAN_OPTIONS:-}" ] || export ASAN_OPTIONS="$ASAN_OPTIONS:fast_unwind_on_malloc=0"
    for source in tests/mpi/test_*.c; do
      [ -e "$source" ] || continue
      name=$(basename "$source" .c)
      for n in $(sed -n 's/.*ranks: *\([0-9 ]*\).*/\1/p' "$source" | head -1); do
        CK_FORK=no OMP_NUM_THREADS=1 one "mpi/$name-n$n" "$BIN/talus-mpirun" -n "$n" "$TESTBIN/$name"
      done
    done ;;
  cli)
    for script in tests/cli/test_*.sh; do
      [ -e "$script" ] || continue
      one "cli/$(basename "$script" .sh)" bash "$script"
    done ;;
  *) echo "tests/run.sh: unknown kind '$kind'" >&2; exit 2 ;;
  esac
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
