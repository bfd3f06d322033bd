#!/usr/bin/env bash
# talus-label: slabs give the same labels, own markers, the sweep and its plot, the table of grains, what is refused.
set -u
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
label=$BIN/talus-label
fail() { echo "FAIL: $*" >&2; exit 1; }
refuses() { # exit code, text in the message, product that must not be there, command...
  local code=$1 text=$2 product=$3; shift 3
  "$@" >out 2>err; local got=$?
  [ $got = "$code" ] || fail "$* gave $got, not $code: $(cat err)"
  grep -qF -- "$text" err || fail "$*: '$text' is not in '$(cat err)'"
  [ ! -e "$product" ] || fail "$*: left $product behind"
}
value() { sed -n "s/^$1: \([-0-9.e+]*\).*/\1/p" out; }

"$BIN/talus-phantom" -q --size=64,60,72 --d50-voxels=14 --seed=9 -o p.tif --clean=clean.tif --labels=true.h5 >/dev/null || fail phantom

# the true labels are a mask; by slabs and by markers
"$label" -q true.h5 -o whole.tif --roi=none --sweep-h=h.csv --grains=g.csv >out 2>err || fail "$(cat err)"
grains=$(value grains)
[ "$grains" -gt 50 ] || fail "only $grains grains"
"$label" -q true.h5 -o cut.tif --roi=none --memory=3.5 --grains=c.csv >out 2>err || fail "--memory: $(cat err)"
[ "$(value grains)" = "$grains" ] || fail "slabs: $(value grains) grains, not $grains"
cmp g.csv c.csv || fail "slabs: other grains" # sizes, contacts, hulls of each (unit tests: each voxel)
"$label" -q true.h5 -o marked.tif --roi=none --min-voxels=1 --markers=true.h5 >out 2>err || fail "--markers: $(cat err)"
marked=$(value grains)
"$BIN/talus-volume" info -q true.h5 >info || fail info
[ "$marked" -ge "$grains" ] && [ "$marked" -le "$(sed -n 's/^max: //p' info)" ] || fail "markers: $marked grains"
"$label" -q true.h5 -o again.tif --roi=none --min-voxels=1 --markers=marked.tif --memory=3.5 >out 2>err || fail "again: $(cat err)"
[ "$(value grains)" = "$marked" ] || fail "its own product as markers: $(value grains) grains, not $marked"
[ -z "$(find . -name 'talus-label*')" ] || fail "a scratch file is left: $(ls)"

# with the grey: the same labels by slabs; another stack's grey is refused
"$label" -q true.h5 --grey=clean.tif -o grey.tif --roi=none --grains=gg.csv >out 2>err || fail "--grey: $(cat err)"
grey=$(value grains)
[ "$grey" -gt 50 ] || fail "--grey: $grey grains"
"$label" -q true.h5 --grey=clean.tif -o greycut.tif --roi=none --memory=5.5 --grains=gc.csv >out 2>err || fail "--grey --memory: $(cat err)"
[ "$(value grains)" = "$grey" ] || fail "--grey by slabs: $(value grains) grains, not $grey"
cmp gg.csv gc.csv || fail "--grey by slabs: other grains"
! cmp -s g.csv gg.csv || fail "--grey changes nothing"
"$label" -q true.h5 --grey=clean.tif -o greycut.tif --memory=5.5 --roi=none --dry-run >out 2>err || fail "--grey --dry-run: $(cat err)"
[ "$(value slabs)" -gt 1 ] || fail "--grey: one slab: $(cat out)"

# the plan
"$label" -q true.h5 -o none.tif --roi=none --memory=3.5 --dry-run >out 2>err || fail "--dry-run: $(cat err)"
[ "$(value slabs)" -gt 1 ] && [ ! -e none.tif ] || fail "plan: $(cat out)"
awk -v m="$(value memory)" 'BEGIN { exit !(m > 1 && m <= 3.5) }' || fail "plan: $(cat out)"

# the sweep: a row for each h, fewer grains for larger ones; the table: a row a grain
[ "$(wc -l <h.csv)" = 42 ] && [ -s h.png ] || fail "sweep: $(cat h.csv)"
awk -F, 'NR == 2 { first = $2 } END { exit !(NR == 42 && $1 > 1.4 && $2 <= first && $2 > 0) }' h.csv || fail "sweep: $(cat h.csv)"
grep -q "^0.15,$grains\$" h.csv || fail "sweep: not $grains grains at 0.15: $(cat h.csv)"
[ "$(wc -l <g.csv)" = $((grains + 1)) ] || fail "table: $(wc -l <g.csv) lines"
awk -F, 'NR > 1 && ($1 != NR - 1 || $2 < 100 || $8 < 1 || $7 < 0 || ($6 > 0) != ($5 > 0)) { exit 1 }' g.csv || fail "table: $(cat g.csv)"

# what is refused
refuses 1 'at least' no.tif "$label" true.h5 -o no.tif --roi=none --memory=1
refuses 2 'must end in .csv' no.tif "$label" true.h5 -o no.tif --sweep-h=h.txt
refuses 2 'nothing to vary' no.tif "$label" true.h5 -o no.tif --sweep-h=i.csv --markers=true.h5
refuses 2 'h.csv: already exists' no.tif "$label" true.h5 -o no.tif --sweep-h=h.csv
"$BIN/talus-volume" crop -q true.h5 --size=32,32,32 -o small.tif >/dev/null 2>err || fail "crop: $(cat err)"
refuses 1 'both must be of one stack' no.tif "$label" true.h5 -o no.tif --roi=none --markers=small.tif
refuses 1 'both must be of one stack' no.tif "$label" true.h5 -o no.tif --roi=none --grey=small.tif
refuses 1 'nowhere.tif' no.tif "$label" true.h5 -o no.tif --roi=none --grey=nowhere.tif
exit 0
