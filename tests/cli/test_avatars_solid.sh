#!/usr/bin/env bash
# talus-avatars without a scan: meshes of every kind and formulas become grains of a catalog;
# what bounds no body, or says no unit, is refused and leaves no catalog.
# sanitized: reads meshes that users bring
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
fail() { echo "test_avatars_solid: $*"; exit 1; }
refused() { # status, text in the message, arguments
  local want=$1 text=$2 got=0
  shift 2
  "$BIN/talus-avatars" "$@" --catalog=no.tals --sample=x >out 2>err || got=$?
  [ "$got" = "$want" ] || fail "$*: exit $got, not $want: $(cat err)"
  grep -qF -- "$text" err || fail "$*: '$text' is not in: $(cat err)"
  [ ! -e no.tals ] || fail "$*: left a catalog"
}
value() { awk -v key="$1:" '$1 == key { print $2 }' out; }

# box of 2 x 3 x 4 by its faces; `flip` turns them, `skip` leaves one out
corners() { for v in 0 1 2 3 4 5 6 7; do
  echo "v $((v % 2 * 2)) $((v / 2 % 2 * 3)) $((v / 4 * 4))"; done; }
box() {
  corners
  for f in "1 3 2" "2 3 4" "5 6 7" "6 8 7" "1 2 5" "2 6 5" "3 7 4" "4 7 8" "1 5 3" "3 5 7" "2 4 6" "4 8 6"; do
    read -r a b c <<<"$f"
    [ "${1:-}" = flip ] && echo "f $c $b $a" || echo "f $a $b $c"
  done
}
box >box.obj
box flip >flip.obj
box | head -n -1 >open.obj
box | sed '$s/.*/f 6 8 4/' >mixed.obj
{ box; box | sed 's/^f .*//'; } >unused.obj
{ box; corners | awk '{ print "v", $2 + 9, $3, $4 }'
  box | awk '/^f/ { print "f", $2 + 8, $3 + 8, $4 + 8 }'; } >two.obj
{ box; echo "v 1 1 -1"; echo "f 1 2 9"; } >fin.obj
{ box | sed '1s/.*/v nan 0 0/'; } >nan.obj
: >empty.stl
{ printf '%-80s' binary; printf '\5\0\0\0'; head -c 100 /dev/zero; } >short.stl

refused 2 "--unit: m|cm|mm|um|inch wanted" --mesh box.obj
refused 2 "--unit: furlong is no unit" --mesh box.obj --unit=furlong
refused 2 "mesh files wanted" --mesh --unit=mm
refused 2 "one stack of labels wanted" box.obj open.obj
refused 1 "open.obj: the surface is open" --mesh open.obj --unit=mm
refused 1 "mixed.obj: its triangles do not agree which side is out" --mesh mixed.obj --unit=mm
refused 1 "two.obj: 2 separate shells" --mesh two.obj --unit=mm
refused 1 "fin.obj: not the surface of a body: more than two triangles meet" --mesh fin.obj --unit=mm
refused 1 "nan.obj: line 1: vertex 1 is not finite" --mesh nan.obj --unit=mm
refused 1 "empty.stl: the file is empty" --mesh empty.stl --unit=mm
refused 1 "short.stl: the header speaks of 5 facets" --mesh short.stl --unit=mm
refused 1 "absent.stl" --mesh absent.stl --unit=mm
# one bad mesh of two: nothing is stored
refused 1 "open.obj" --mesh box.obj open.obj --unit=mm
refused 2 "five numbers" --superellipsoid-um=1,2,3
refused 2 "box.obj: a half axis of 0.001 m spans less than two cells" --mesh box.obj --unit=mm --spacing-um=5000

make_it() { "$BIN/talus-avatars" "$@" >out 2>err || fail "$*: $(cat err)"; }
make_it --mesh box.obj --unit=mm --spacing-um=250 --nodes=300 --sample=box --catalog=c.tals
[ "$(value volume)" = 24 ] && [ "$(value nodes)" = 300 ] || fail "$(cat out)"
grep -q "2 x 3 x 4 mm" err || fail "the size is not said: $(cat err)"
make_it --mesh flip.obj --unit=inch --scale=0.5 --sample=flip --catalog=c.tals
awk -v v="$(value volume)" 'BEGIN { exit !(v > 49161.1 && v < 49161.3) }' || # 24 inch3 / 8
  fail "half of 2 x 3 x 4 inch: $(cat out)"
grep -q "flip.obj: all facets pointed inwards; they were turned" err || fail "$(cat err)"
make_it --superellipsoid-um=500,400,300,1,1 --superellipsoid-um=300,300,300,0.2,0.2 \
  --sample=formula --catalog=c.tals
[ "$(value grains)" = 2 ] || fail "$(cat out)"
id=$(sed -n 's/.*: grain \([0-9]*\): 500,400,300,1,1: .*/\1/p' err)
make_it --mesh unused.obj --unit=mm --sample=box --overwrite --catalog=c.tals
"$BIN/talus-catalog" verify c.tals >out 2>err || fail "verify: $(cat err)"
grep -q "grains_checked: 4" out || fail "not four grains: $(cat out)"
make_it -n --mesh box.obj --unit=mm --sample=dry --catalog=dry.tals
[ ! -e dry.tals ] || fail "--dry-run wrote"

# there and back: the surface of a catalog's ellipsoid as STL is the ellipsoid to a percent
"$BIN/talus-catalog" export c.tals --grain="$id" --format=stl --unit=um -o e.stl >out 2>err ||
  fail "export: $(cat err)"
make_it --mesh e.stl --unit=um --spacing-um=25 --sample=back --catalog=c.tals
awk -v v="$(value volume)" 'BEGIN { w = 4 / 3 * 3.14159265 * 0.5 * 0.4 * 0.3; exit !(v > 0.99 * w && v < 1.01 * w) }' ||
  fail "an ellipsoid there and back: $(cat out)"
