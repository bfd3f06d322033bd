#!/usr/bin/env bash
# Results that do not arrive on standard output are an error: exit 1 and one message, whatever printed
# them. 3 seconds.
set -u
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
bad=0
fail() { echo "FAILED: $*"; bad=1; }
[ -c /dev/full ] || { echo "there is no /dev/full here"; exit 1; }
lost() { # command...: with a full disk behind standard output
  "$@" >/dev/full 2>err.txt; local got=$?
  [ "$got" = 1 ] || fail "exit $got, not 1: $*"
  [ "$(wc -l <err.txt)" = 1 ] && grep -q 'standard output: cannot write' err.txt || { fail "the message of: $*"; cat err.txt; }
  "$@" >&- 2>err.txt; got=$?
  [ "$got" = 1 ] || fail "exit $got, not 1, with standard output closed: $*"
}
for tool in "$BIN"/talus-*; do
  [ "${tool##*/}" != talus-mpirun ] || continue
  lost "$tool" --help
  lost "$tool" --version
done
lost "$BIN/talus-solve" --keys
lost "$BIN/talus-volume" --man
"$BIN/talus-phantom" -q --terrain --columns=20 --rows=24 -o v.asc >out.txt 2>&1 || fail "the terrain"
"$BIN/talus-topo" -q v.asc --catalog=c.tals --name=v >out.txt 2>&1 || fail "the catalog"
lost "$BIN/talus-catalog" list -q c.tals
lost "$BIN/talus-catalog" list -q --json c.tals
lost "$BIN/talus-phantom" --terrain --columns=20 --rows=24 --overwrite -o w.asc
[ -s w.asc ] || fail "the product itself is there all the same"
"$BIN/talus-catalog" list -q c.tals >out.txt 2>err.txt && grep -q '^terrains: 1$' out.txt || fail "a good run"
exit $bad
