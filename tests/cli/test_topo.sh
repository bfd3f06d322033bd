#!/usr/bin/env bash
# talus-topo: a raster becomes a terrain of the catalog; what is wrong is told and leaves no catalog.
# With TALUS_DATA set to a folder that holds topography/avaKot_5m.asc, that real raster too.
# sanitized: reads rasters
set -u
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
bad=0
fail() { echo "FAILED: $*"; bad=1; }
topo() { "$BIN/talus-topo" "$@" >out.txt 2>err.txt; }
refused() { # STATUS TEXT arguments...
  local want=$1 text=$2; shift 2
  topo "$@" --catalog=no.tals; local got=$?
  [ "$got" = "$want" ] || fail "exit $got, not $want: $*"
  grep -qF -- "$text" err.txt || { fail "no '$text' in the message of: $*"; cat err.txt; }
  [ ! -e no.tals ] || { fail "a catalog was made by: $*"; rm -f no.tals; }
}
value() { sed -n "s/^$1: \([^ ]*\).*/\1/p" out.txt; }
is() { [ "$(value "$1")" = "$2" ] || fail "$1 is $(value "$1"), not $2"; }

head6() { printf 'ncols %d\nnrows %d\nxllcorner %s\nyllcorner %s\ncellsize 10\nNODATA_value -9999\n' "$@"; }
# 45 degrees, rising to the north, in coordinates of a million metres
plane() { awk -v n="$1" 'BEGIN {for (r = n; r > 0; r--) {for (c = 0; c < n; c++) printf "%g ", 1500 + 10 * r; print ""}}'; }
{ head6 20 20 1000000 5200000; plane 20; } >plane.asc

topo plane.asc --catalog=c.tals --name=slope || { fail "the plane"; cat err.txt; }
is columns 20; is rows 20; is data 400; is holes_filled 0; is slope_p50 45.05
is origin_east 1000005; is origin_north 5200005; is origin_height 1510
is height_min 1510; is height_max 1700; is band_half_width 30
points=$(value band_points)
[ "$points" -gt 2800 ] || fail "only $points band points"
name=$(sqlite3 c.tals "SELECT name FROM terrain")
[ "$name" = slope ] || fail "the catalog holds '$name'"
sqlite3 c.tals "SELECT argv FROM run" | grep -q plane.asc || fail "no provenance of the run"

# a name is taken once, unless --overwrite
topo plane.asc --catalog=c.tals --name=slope && fail "took the same name twice"
grep -qF -- --overwrite err.txt || fail "the message does not name --overwrite"
topo plane.asc --catalog=c.tals --name=slope --overwrite --refine=2 || fail "--overwrite"
is band_spacing 5
[ "$(sqlite3 c.tals 'SELECT count(*) FROM terrain')" = 1 ] || fail "the old terrain is still there"
topo plane.asc --catalog=c.tals || fail "without --name"
is terrain plane

# crop, dry run, JSON
topo plane.asc --catalog=c.tals --name=part --crop=1000020,5200020,1000120,5200100 || fail "--crop"
is columns 10; is rows 8
topo plane.asc --catalog=dry.tals --dry-run || fail "--dry-run"
[ ! -e dry.tals ] || fail "--dry-run made a catalog"
topo plane.asc --catalog=c.tals --name=j --json || fail "--json"
grep -q '^{.*"band_points": [0-9]*.*}$' out.txt || fail "--json"
topo plane.asc --catalog=c.tals --name=q -q; [ ! -s err.txt ] || fail "-q talks"

# outline and holes
{ head6 5 5 0 0; printf -- '-9999 1 1 1 -9999\n1 1 1 1 1\n1 1 -9999 1 1\n1 1 1 1 1\n1 1 1 1 1\n'; } >hole.asc
refused 1 "hole.asc: 1 hole of no-data (1 samples)" hole.asc
grep -qF -- --fill-holes err.txt || fail "the message does not name --fill-holes"
grep -qF "(25, 25)" err.txt || fail "the message does not say where the hole is"
topo hole.asc --catalog=c.tals --fill-holes || fail "--fill-holes"
is holes_filled 1; is no_data 3; is data 23; is height_min 1; is height_max 1

# what cannot be terrain
head -c 900 plane.asc >short.asc
refused 1 "short.asc: the file ends in row" short.asc
{ head6 5 5 0 0; yes -- -9999 | head -25; } >void.asc
refused 1 "all 25 samples" void.asc
sed 's/cellsize 10/cellsize 0.01/; s/1000000/11/; s/5200000/47/' plane.asc >degrees.asc
refused 1 gdalwarp degrees.asc
sed 's/1600/16OO/' plane.asc >letters.asc
refused 1 "'16OO' is not a number" letters.asc
refused 1 absent.asc absent.asc
refused 2 "--crop" plane.asc --crop=1,2,3
refused 1 "inside the crop" plane.asc --crop=1,2,3,4
refused 2 "--band-cells" plane.asc --band-cells=0.5
refused 2 "--catalogue" plane.asc --catalogue=x
topo plane.asc; [ $? = 2 ] || fail "no --catalog is not a usage error"
"$BIN/talus-topo" --help >out.txt 2>err.txt || fail "--help"
grep -q "^Example" out.txt || fail "the help has no example"

# classes of the ground: whole numbers over the whole terrain, by the nearest cell
classes() { # VALUE_SOUTH VALUE_NORTH COLUMNS
  head6 "$3" 20 1000000 5200000
  awk -v s="$1" -v n="$2" -v c="$3" 'BEGIN {for (r = 1; r <= 20; r++) {for (i = 0; i < c; i++) printf "%s ", (r > 10 ? s : n); print ""}}'
}
classes 3 7 20 >good.asc
rm -f k.tals
topo plane.asc --catalog=k.tals --classes=good.asc || { fail "--classes"; cat err.txt; }
sqlite3 k.tals "SELECT argv FROM run" | grep -q good.asc || fail "no provenance of the classes"
"$BIN/talus-catalog" verify k.tals >out.txt 2>err.txt || { fail "verify with classes"; cat err.txt; }
# the solver finds both halves: a study that leaves one out is refused by its number
cat >k.yaml <<'YAML'
catalog: k.tals
time: {dt_s: 1.0e-3, steps: 1}
shapes: [{name: ball, diameter_m: 20}]
bodies: [{shape: ball, position_m: [50, 50, 300]}]
terrain: {name: plane, classes: [{id: 3}]}
YAML
"$BIN/talus-solve" k.yaml --dry-run >out.txt 2>err.txt && fail "class 7 is not missed"
grep -qF "ground of class 7" err.txt || { fail "class 7 is not named"; cat err.txt; }
sed -i 's/{id: 3}/{id: 3}, {id: 7}/' k.yaml
"$BIN/talus-solve" k.yaml --dry-run >out.txt 2>err.txt || { fail "both classes"; cat err.txt; }
grep -q median_diameter out.txt && fail "a study of bodies alone has a median diameter"
"$BIN/talus-solve" k.yaml --dry-run --set shapes.3.diameter_m=1 >out.txt 2>err.txt && fail "shapes.3"
grep -qF "that list has 1 entry, 0; not '3'" err.txt || { fail "the list's length"; cat err.txt; }
classes 3.5 7 20 >float.asc
refused 1 "float.asc: class 3.5 at east 1000005, north 5200005; whole numbers" plane.asc --classes=float.asc
classes -2 7 20 >minus.asc
refused 1 "minus.asc: class -2 at" plane.asc --classes=minus.asc
classes 3 -9999 20 >void.asc
refused 1 "void.asc: no class at east 1000005, north 5200105" plane.asc --classes=void.asc
topo plane.asc --catalog=k.tals --name=filled --classes=void.asc --class-default=7 || fail "--class-default"
classes 3 7 19 >narrow.asc
refused 1 "narrow.asc: no class at east 1000195, north 5200005" plane.asc --classes=narrow.asc
refused 1 absent.asc plane.asc --classes=absent.asc

kot=${TALUS_DATA:-}/topography/avaKot_5m.asc
if [ -n "${TALUS_DATA:-}" ] && [ -e "$kot" ]; then
  topo "$kot" --catalog=c.tals || { fail "avaKot"; cat err.txt; }
  is no_data 90023; is data 136940; is height_min 1052.15; is height_max 2206.97
fi
exit $bad
