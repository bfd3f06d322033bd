#!/usr/bin/env bash
# Catalogs that were made to harm: sizes beyond their arrays, spacings that are none, triggers, views
# and tables that are not ours. Each is refused by verify and by what would use it, in seconds, with
# the file's name, and what is in it stays.
# sanitized: reads catalogs that were made to break the tools
set -u
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
bad=0
fail() { echo "FAILED: $*"; bad=1; }
quiet() { "$@" >out.txt 2>err.txt || { fail "should work: $*"; sed 's/^/    /' err.txt; }; }

# three spheres and a valley
sphere() { awk -v R="$1" 'BEGIN {
  pi = 3.14159265358979; n = 2 * int(R + 3) + 1; c = (n - 1) / 2; V = 4 / 3 * pi * R ^ 3
  printf "%.15g\n%.15g %.15g %.15g\n%g %g %g\n60\n", V, .4 * V * R * R, .4 * V * R * R, .4 * V * R * R, c, c, c
  for (i = 0; i < 60; i++) {z = -1 + (2 * i + 1) / 60; r = sqrt(1 - z * z); t = 2.399963 * i
    printf "%s%.9g %.9g %.9g", i ? " " : "", R * r * cos(t), R * r * sin(t), R * z}
  printf "\n%.15g\n%d %d %d\n", R * 1.001, n, n, n
  for (k = 0; k < n; k++) for (j = 0; j < n; j++) for (i = 0; i < n; i++)
    printf "%s%.9g", i + j + k ? " " : "", sqrt((i - c) ^ 2 + (j - c) ^ 2 + (k - c) ^ 2) - R
  print ""}'; }
for r in 4 5 6; do sphere $r >in_$r.txt; done
quiet "$BIN/talus-catalog" import good.tals in_4.txt in_5.txt in_6.txt --sample=balls --spacing-um=100
{ printf 'ncols 6\nnrows 6\nxllcorner 0\nyllcorner 0\ncellsize 1\n'; for i in 1 2 3 4 5 6; do echo "$i $i $i $i $i $i"; done; } >hill.asc
quiet "$BIN/talus-topo" hill.asc --metres --catalog=good.tals --name=hill
quiet "$BIN/talus-catalog" verify good.tals
sqlite3 good.tals ANALYZE # a user may: its tables are SQLite's own
quiet "$BIN/talus-catalog" verify good.tals

# hostile NAME SQL: a copy that was changed by the shell
hostile() {
  cp good.tals "$1.tals"
  sqlite3 -unsafe-testing "$1.tals" "PRAGMA foreign_keys = OFF; $2" 2>/dev/null ||
    sqlite3 "$1.tals" "PRAGMA foreign_keys = OFF; $2" || fail "the shell cannot make $1"
}
# refused NAME TEXT command...: exit 1 within 20 s, one message with the file and the text
refused() {
  local name=$1 text=$2 got; shift 2
  timeout 20 "$@" >out.txt 2>err.txt; got=$?
  [ "$got" = 1 ] || fail "$name: exit $got, not 1: $*"
  grep -q "$name.tals" err.txt && grep -qF -- "$text" err.txt || { fail "$name: no '$text' in the message of: $*"; cat err.txt; }
}
verify() { refused "$1" "$2" "$BIN/talus-catalog" verify "$1.tals"; }

hostile terrain 'UPDATE terrain SET nx = 4294967296, ny = 4294967296'
verify terrain 'not usable'
hostile band 'UPDATE terrain SET bnx = 4294967296, bny = 4294967296'
verify band 'not usable'
hostile thin 'UPDATE terrain SET bnx = 1, bny = 1'
verify thin 'not usable'
hostile values 'UPDATE terrain SET band_count = 4611686018427387904'
verify values 'not usable'
hostile cell 'UPDATE terrain SET cell_m = 0'
verify cell 'not usable'
hostile place 'UPDATE terrain SET x0_m = 9e999'
verify place 'not a finite number'
hostile avatar 'UPDATE avatar SET nx = 1 << 30, ny = 1 << 30, nz = 16'
verify avatar 'not usable'
refused avatar 'not usable' "$BIN/talus-catalog" export avatar.tals --format=stl -o x
hostile cut 'UPDATE avatar SET nx = nx + (1 << 32)'
verify cut 'out of range'
hostile large 'UPDATE avatar SET nx = 30000, ny = 30000, nz = 30000'
verify large 'large.tals'
hostile nodes 'UPDATE avatar SET node_count = -1'
verify nodes 'out of range'
hostile spacing 'UPDATE avatar SET spacing_m = 0'
verify spacing 'not usable'
refused spacing 'not usable' "$BIN/talus-catalog" export spacing.tals --format=morphology -o x
[ ! -e x ] || fail "an export of a spacing of 0 is there"
hostile voxel 'UPDATE sample SET voxel_x_m = -1'
verify voxel 'a voxel of -1'
hostile turn 'UPDATE avatar SET scan_qw = 9e999'
verify turn 'not finite'
hostile part "INSERT INTO avatar_blob SELECT avatar_id, kind, 1, raw_bytes, crc32, data FROM avatar_blob WHERE kind = 'phi'"
verify part 'one too many'
hostile raw "UPDATE avatar_blob SET raw_bytes = 1 << 40 WHERE kind = 'phi'"
verify raw 'wrong size'
hostile frame "UPDATE avatar_blob SET data = x'28B52FFD2000010000' WHERE kind = 'phi'"
verify frame 'wrong size'

hostile trigger 'CREATE TRIGGER gone AFTER INSERT ON run BEGIN DELETE FROM avatar; DELETE FROM terrain; END'
verify trigger "the trigger 'gone'"
refused trigger "the trigger 'gone'" "$BIN/talus-catalog" remove-sample trigger.tals other
refused trigger "the trigger 'gone'" "$BIN/talus-topo" hill.asc --metres --catalog=trigger.tals --name=more
[ "$(sqlite3 trigger.tals 'SELECT count(*) FROM avatar')" = 3 ] || fail "the trigger emptied a table"
hostile view 'DROP VIEW run_command; CREATE VIEW run_command AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS run_id, i AS command FROM n'
verify view "its view 'run_command'"
refused view "its view 'run_command'" "$BIN/talus-catalog" show view.tals --grain=1
hostile table 'CREATE TABLE notes (text TEXT)'
verify table "the table 'notes'"
hostile virtual 'CREATE VIRTUAL TABLE notes USING rtree(id, a, b)'
verify virtual "the table 'notes'"
hostile index 'DROP INDEX avatar_of_sample; CREATE INDEX avatar_of_sample ON avatar(hex(zeroblob(1000 * id)))'
verify index "its index 'avatar_of_sample'"
hostile lacks 'DROP INDEX run_of_digest'
verify lacks "lacks the index 'run_of_digest'"
hostile column 'ALTER TABLE avatar ADD COLUMN more TEXT AS (hex(zeroblob(100000000)))'
verify column "its table 'avatar'"
exit $bad
