#!/usr/bin/env bash
# Files that are made to harm: every case of tests/fuzz/corpus, and twenty small changes of each, is
# refused or read by its reader (make check-fuzz finds new cases), and no reader is left out.
set -u
corpus=$(dirname "$0")/../fuzz/corpus
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT
export TMPDIR=$T OMP_NUM_THREADS=1
export TALUS_SANDBOX_LEAKS=1 # sanitized builds: a reader that leaks in its process is a failure
fail() { echo "FAILED: $*" >&2; exit 1; }

readers=$("$TESTBIN/fuzz-replay") || fail "fuzz-replay names no readers"
for source in "$corpus"/../fuzz_*.c; do
  name=$(basename "$source" .c); grep -qx "${name#fuzz_}" <<<"$readers" || fail "fuzz-replay leaves out ${name#fuzz_}"
done
for reader in $readers; do
  files=("$corpus/$reader"/*)
  [ -f "${files[0]}" ] || fail "there are no cases for the reader $reader"
  "$TESTBIN/fuzz-replay" --flips="${FLIPS:-20}" "$reader" "${files[@]}" >"$T/log" 2>&1 || {
    cat "$T/log"; fail "$reader"; }
  grep -q "^$reader: ${#files[@]} files" "$T/log" || fail "$reader: $(tail -1 "$T/log")"
done
# A case is small: what is found is made smaller before it is kept (docs/notebook/fuzzing.md).
bytes=$(find "$corpus" -type f -printf "%s\n" | awk "{s += \$1} END {print s}")
[ "$bytes" -le 500000 ] || fail "tests/fuzz/corpus takes $bytes bytes"
echo ok
