#!/usr/bin/env bash
# The readers of foreign files under libFuzzer: tests/fuzz/run.sh [READER]..., with TESTBIN and
# FUZZ_SECONDS set by make check-fuzz. Starts from tests/fuzz/corpus and from what earlier rounds
# kept in build/fuzz/corpus; what is found lies in build/fuzz/found. One line a reader (crashes: of
# the libraries in the process that decodes for the caller, which became errors); exit 1 when
# anything was found: a crash, a hang, too much memory, a leak, or a fault of our own code in the
# process that reads for the caller.
set -u
cd "$(dirname "$0")/../.." || exit 1
seconds=${FUZZ_SECONDS:-120}
found=build/fuzz/found
mkdir -p "$found"
# Every input becomes a file: on a disk in memory where there is one.
TMPDIR=$(mktemp -d "$([ -w /dev/shm ] && echo /dev/shm || echo /tmp)/talus-fuzz-XXXXXX"); export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
export OMP_NUM_THREADS=1
# A failed allocation is an answer that readers must cope with. HDF5, ITK and GDAL are not ours to
# mend: what they leak is let pass, and they run in a process of their own.
export ASAN_OPTIONS="allocator_may_return_null=1:max_allocation_size_mb=2000:detect_odr_violation=0"
export LSAN_OPTIONS="suppressions=$PWD/tests/lsan.supp:print_suppressions=0"
export UBSAN_OPTIONS="print_stacktrace=1"
readers=("$@")
if [ ${#readers[@]} = 0 ]; then
  for file in tests/fuzz/fuzz_*.c; do name=${file##*/fuzz_}; readers+=("${name%.c}"); done
fi
bad=0
printf '%-14s %12s %8s %10s %8s %s\n' reader executions seconds coverage crashes state
for reader in "${readers[@]}"; do
  mkdir -p "build/fuzz/corpus/$reader"
  log=build/fuzz/$reader.log
  start=$(date +%s)
  more=(); [ "$reader" = study ] && more=(config)
  longest=65536; [ "$reader" = h5_run ] && longest=200000
  "$TESTBIN/fuzz_$reader" -max_total_time="$seconds" -timeout=30 -rss_limit_mb=3000 -max_len=$longest \
    -print_final_stats=1 -artifact_prefix="$found/$reader-" \
    "build/fuzz/corpus/$reader" "tests/fuzz/corpus/$reader" "${more[@]}" >"$log" 2>&1 </dev/null
  code=$?
  state=clean
  [ $code = 0 ] || state="FOUND (exit $code, $log)"
  [ "$state" = clean ] || bad=1
  crashes=$(sed -n 's/^libraries crashed in the sandbox: //p' "$log")
  printf '%-14s %12s %8s %10s %8s %s\n' "$reader" \
    "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -1)" $(($(date +%s) - start)) \
    "$(grep -o ' cov: [0-9]*' "$log" | tail -1 | tr -dc 0-9)" "${crashes:-0}" "$state"
done
exit $bad
