#!/usr/bin/env bash
# A small part of make check-faults, so that it stays alive: the judge tells a program that crashes,
# hangs, succeeds silently or leaves things untidy from one that fails cleanly, and a few tools fail
# cleanly when a call fails. About 20 seconds of one core.
set -u
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
bad=0
fail() { echo "FAILED: $*"; bad=1; }
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:exitcode=99:detect_leaks=0"

mkdir "$dir/template" "$dir/scratch"
echo text >"$dir/template/in"
for mode in clean crash hang silent untidy left; do
  "$TESTBIN/fault-inject" --shim="$TESTBIN/fault-shim.so" --template="$dir/template" --scratch="$dir/scratch" \
    --kinds=alloc --limit=1 "$mode" -- "$TESTBIN/test_fault_control" "$mode" >"$dir/row" 2>"$dir/err"
  got=$?
  column=$(case $mode in clean) echo 6 ;; crash) echo 8 ;; hang) echo 9 ;; silent) echo 10 ;; *) echo 11 ;; esac)
  [ "$(cut -f3,5,"$column" "$dir/row")" = "$(printf '1\t1\t1')" ] || fail "$mode is judged: $(cat "$dir/row" "$dir/err")"
  [ "$got" = "$([ "$mode" = clean ] && echo 0 || echo 1)" ] || fail "$mode: exit $got"
done

# The tools under a sanitizer have its own allocator between them and the shim: the plain suite tests them.
[ -z "${TALUS_SANITIZED:-}" ] || exit $bad

LOG=$dir/log ONLY='^(volume-info-slices|volume-convert-h5|catalog-import|catalog-list)$' MOST=12 \
  tests/faults/run.sh >"$dir/table" 2>"$dir/err" || { fail "the tools"; cat "$dir/table" "$dir/err" "$dir/log"; }
[ "$(awk '$1 == "all" {print ($4 > 100) $7 $8 $9 $10}' "$dir/table")" = 10000 ] || { fail "the table"; cat "$dir/table"; }
exit $bad
