#!/usr/bin/env bash
# Files that are made to harm: every case of tests/fuzz/corpus, and twenty small changes of each seed (five in
# sanitized builds, which are ten times slower), is refused or read by its reader (make check-fuzz finds new
# cases), and no reader is left out.
# sanitized: reads files that were made to break the readers
set -u
corpus=$(dirname "$0")/../fuzz/corpus
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT
export TMPDIR=$T OMP_NUM_THREADS=1
export TALUS_SANDBOX_LEAKS=1 # sanitized builds: a reader that leaks in its process is a failure
flips=20
[ "${TALUS_SANITIZED:-0}" = 0 ] || flips=5
fail() { echo "FAILED: $*" >&2; exit 1; }

readers=$("$TESTBIN/fuzz-replay") || fail "fuzz-replay names no readers"
for source in "$corpus"/../fuzz_*.c; do
  name=$(basename "$source" .c); grep -qx "${name#fuzz_}" <<<"$readers" || fail "fuzz-replay leaves out ${name#fuzz_}"
done
replay() { # reader, number of changes of each file, files
  "$TESTBIN/fuzz-replay" --flips="$2" "$1" "${@:3}" >"$T/log" 2>&1 || { cat "$T/log"; fail "$1"; }
  grep -q "^$1: $(($# - 2)) files" "$T/log" || fail "$1: $(tail -1 "$T/log")"
}
for reader in $readers; do
  seeds=("$corpus/$reader"/seed_*) all=("$corpus/$reader"/*)
  [ -f "${seeds[0]}" ] || fail "there are no seeds for the reader $reader"
  replay "$reader" 0 "${all[@]}"
  replay "$reader" "${FLIPS:-$flips}" "${seeds[@]}"
done
# A case is small: what is found is made smaller before it is kept (docs/notebook/fuzzing.md).
bytes=$(find "$corpus" -type f -printf "%s\n" | awk "{s += \$1} END {print s}")
[ "$bytes" -le 500000 ] || fail "tests/fuzz/corpus takes $bytes bytes"
echo ok
