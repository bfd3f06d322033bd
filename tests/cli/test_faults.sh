#!/usr/bin/env bash
# Wrong input never crashes and never half-writes: each case gives its exit status, a message that
# names the file, and leaves no product and no temporary behind.
# sanitized: reads damaged files
set -u
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
bad=0
fail() { echo "FAILED: $*"; bad=1; }

# expect STATUS TEXT PRODUCT command...: exit status, text in stderr, PRODUCT absent afterwards
expect() {
  local want=$1 text=$2 product=$3; shift 3
  "$@" >out.txt 2>err.txt; local got=$?
  [ "$got" = "$want" ] || { fail "exit $got, not $want: $*"; sed 's/^/    /' err.txt; }
  grep -qF -- "$text" err.txt || { fail "no '$text' in the message of: $*"; sed 's/^/    /' err.txt; }
  if [ -n "$product" ] && [ -e "$product" ]; then fail "$product is there after: $*"; rm -rf "$product"; fi
  local left; left=$(find . -name '*.tmp' | head -3)
  [ -z "$left" ] || { fail "left behind $left by: $*"; find . -name '*.tmp' -delete; }
}
quiet() { "$@" >out.txt 2>err.txt || { fail "should work: $*"; sed 's/^/    /' err.txt; }; }

# a stack to spoil
quiet "$BIN/talus-phantom" --size=48,48,24 --d50-voxels=14 --seed=3 -o good.tif --voxel-size-um=10

# --- stacks
head -c 20000 good.tif >short.tif
expect 1 short.tif d.h5 "$BIN/talus-denoise" short.tif -o d.h5
: >empty.tif
expect 1 empty.tif d.h5 "$BIN/talus-denoise" empty.tif -o d.h5
expect 1 absent.tif d.h5 "$BIN/talus-denoise" absent.tif -o d.h5
echo "this is not a stack" >text.tif
expect 1 text.tif d.h5 "$BIN/talus-denoise" text.tif -o d.h5
mkdir slices none
quiet "$BIN/talus-phantom" --size=32,32,8 --d50-voxels=14 -o slices/s_1.tif
quiet "$BIN/talus-phantom" --size=30,32,8 --d50-voxels=14 -o slices/s_2.tif
expect 1 s_2.tif d.h5 "$BIN/talus-denoise" slices -o d.h5
expect 1 none d.h5 "$BIN/talus-denoise" none -o d.h5

# NaN in a float stack (NRRD, raw little-endian float32)
{ printf 'NRRD0004\ntype: float\ndimension: 3\nsizes: 8 8 8\nendian: little\nencoding: raw\n\n'
  for ((i = 0; i < 511; i++)); do printf '\0\0\200?'; done
  printf '\0\0\300\177'; } >nan.nrrd
expect 1 "nan.nrrd" d.h5 "$BIN/talus-denoise" nan.nrrd -o d.h5
grep -qi 'nan\|not a number' err.txt || fail "the message does not say NaN"

# all void: one grey level
{ printf 'NRRD0004\ntype: uchar\ndimension: 3\nsizes: 16 16 16\nencoding: raw\n\n'
  head -c 4096 /dev/zero; } >void.nrrd
expect 1 void.nrrd m.h5 "$BIN/talus-binarize" void.nrrd -o m.h5
expect 1 void.nrrd l.h5 "$BIN/talus-label" void.nrrd -o l.h5

# --- outputs
quiet "$BIN/talus-denoise" good.tif --method=gaussian -o d.h5
expect 2 overwrite "" "$BIN/talus-denoise" good.tif --method=gaussian -o d.h5
rm -f d.h5
expect 1 nowhere "" "$BIN/talus-denoise" good.tif --method=gaussian -o nowhere/d.h5
expect 2 --metod "" "$BIN/talus-denoise" good.tif --metod=nlm -o d.h5
expect 2 "" "" "$BIN/talus-denoise"

# full disk: writes beyond 4 KiB fail, as they do on a full disk
limited() { (trap '' XFSZ; ulimit -f 4; "$@"); }
expect 1 d.h5 d.h5 limited "$BIN/talus-denoise" good.tif --method=gaussian -o d.h5
expect 1 d.tif d.tif limited "$BIN/talus-denoise" good.tif --method=gaussian -o d.tif
expect 1 p.tif p.tif limited "$BIN/talus-phantom" --size=48,48,24 --d50-voxels=14 -o p.tif
if [ "$(id -u)" = 0 ] && mkdir small && mount -t tmpfs -o size=64k tmpfs small 2>/dev/null; then
  expect 1 small/d.h5 small/d.h5 "$BIN/talus-denoise" good.tif --method=gaussian -o small/d.h5
  umount small
fi

# --- catalogs
quiet "$BIN/talus-phantom" --terrain --seed=2 -o valley.asc
quiet "$BIN/talus-topo" valley.asc --catalog=c.tals --name=valley
cp c.tals other.tals
sqlite3 other.tals 'PRAGMA user_version = 99'
expect 1 99 "" "$BIN/talus-catalog" list other.tals
cp c.tals foreign.tals
sqlite3 foreign.tals 'PRAGMA application_id = 1'
expect 1 foreign.tals "" "$BIN/talus-catalog" list foreign.tals
echo "no database" >text.tals
expect 1 text.tals "" "$BIN/talus-catalog" list text.tals
expect 1 absent.tals absent.tals "$BIN/talus-catalog" list absent.tals
before=$(sha256sum <c.tals)
expect 1 c.tals "" limited "$BIN/talus-topo" valley.asc --catalog=c.tals --name=again
[ "$before" = "$(sha256sum <c.tals)" ] || fail "a failed write changed the catalog"
quiet "$BIN/talus-catalog" verify c.tals

# a disk that fills while a new catalog is made leaves none, and nothing else beside it
mkdir new
expect 1 new/c.tals new/c.tals limited "$BIN/talus-topo" valley.asc --catalog=new/c.tals
expect 1 new/c.tals new/c.tals limited "$BIN/talus-avatars" --superellipsoid-um=500,400,300,0.5,0.5 --sample=s --catalog=new/c.tals
quiet "$BIN/talus-avatars" --superellipsoid-um=500,400,300,0.5,0.5 --sample=s --catalog=g.tals --nodes=60
quiet "$BIN/talus-catalog" export g.tals --grain=1 --format=morphology -o grain.txt
expect 1 g.tals new/c.tals "$BIN/talus-catalog" import new/c.tals grain.txt g.tals --sample=s --spacing-um=1
[ -z "$(ls new)" ] || fail "left beside a catalog that could not be made: $(ls new)"
if [ "$(id -u)" = 0 ] && mkdir -p small && mount -t tmpfs -o size=24k tmpfs small 2>/dev/null; then
  expect 1 small/c.tals small/c.tals "$BIN/talus-topo" valley.asc --catalog=small/c.tals
  [ -z "$(ls small)" ] || fail "left on the full disk: $(ls small)"
  umount small
fi
# another process's catalog is not taken away when the one that began the file fails
expect 1 absent.txt "" "$BIN/talus-catalog" import g.tals grain.txt absent.txt --sample=t --spacing-um=1
quiet "$BIN/talus-catalog" verify g.tals

# --- pictures: cut short by the disk's end they do not replace good ones, whoever draws them
mkdir table plots
{ echo time_s,a_J,b_m; for ((i = 0; i < 60; i++)); do echo "$i,$((i * i % 37)),$((i * 7 % 11))"; done; } >table/history.csv
quiet "$BIN/talus-render" table --plots -o plots
quiet "$BIN/talus-catalog" grading g.tals --plot=plots/grading.png
quiet "$BIN/talus-volume" slice good.tif --zoom=4 -o plots/slice.png
before=$(cd plots && sha256sum -- *.png)
expect 1 plots/history.png "" limited "$BIN/talus-render" table --plots -o plots --overwrite
expect 1 plots/grading.png "" limited "$BIN/talus-catalog" grading g.tals --plot=plots/grading.png --overwrite
expect 1 plots/slice.png "" limited "$BIN/talus-volume" slice good.tif --zoom=4 -o plots/slice.png --overwrite
[ "$before" = "$(cd plots && sha256sum -- *.png)" ] || fail "a picture that was cut short replaced a good one"
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=32k tmpfs small 2>/dev/null; then
  "$BIN/talus-catalog" grading g.tals --plot=small/g.png >out.txt 2>err.txt || fail "no picture on a small disk: $(cat err.txt)"
  before=$(sha256sum small/g.png)
  head -c 32768 /dev/zero >small/fill 2>err.txt
  expect 1 small/g.png "" "$BIN/talus-catalog" grading g.tals --plot=small/g.png --overwrite
  [ "$before" = "$(sha256sum small/g.png)" ] || fail "a full disk replaced a good picture"
  umount small
fi
# a program that draws half a picture, one that dies, and one that says nothing
for how in 'cat >/dev/null; head -c 3000 "$WHOLE"' 'exit 3' 'cat >/dev/null' 'kill -9 $$' \
  'cat >/dev/null; head -c 5000 "$WHOLE"; head -c 100 /dev/zero; tail -c +5101 "$WHOLE"'; do
  mkdir -p fake && printf '#!/bin/sh\n%s\n' "$how" >fake/gnuplot && chmod +x fake/gnuplot
  before=$(sha256sum plots/grading.png)
  expect 1 plots/grading.png "" env WHOLE="$PWD/plots/history.png" PATH="$PWD/fake:$PATH" \
    "$BIN/talus-catalog" grading g.tals --plot=plots/grading.png --overwrite
  [ "$before" = "$(sha256sum plots/grading.png)" ] || fail "gnuplot that does '$how' replaced a picture"
done

# --- two writers of one product without --overwrite: one succeeds, the other says so
for round in 1 2 3; do
  for k in 1 2; do
    ("$BIN/talus-denoise" good.tif --method=gaussian --sigma-voxels="$k" -o "both$round.h5" >/dev/null 2>"err$k.txt"; echo $? >"code$k.txt") &
  done
  wait
  [ "$(sort -n code1.txt code2.txt | tr '\n' ' ')" = "0 2 " ] || fail "two writers end with $(cat code1.txt code2.txt)"
  cat err1.txt err2.txt | grep -q overwrite || fail "the second writer is not told: $(cat err1.txt err2.txt)"
  "$BIN/talus-volume" info -q "both$round.h5" >out.txt 2>err.txt || fail "two writers leave a broken product: $(cat err.txt)"
done
# a temporary of a killed tool goes with the next one, a link that lies in wait does not lead astray
mkdir killed
"$BIN/talus-denoise" good.tif --search=41 --sigma-noise=5 --h-factor=1 --threads=1 -o killed/d.h5 >out.txt 2>err.txt &
victim=$!
for ((i = 0; i < 200; i++)); do [ -z "$(ls killed)" ] || break; sleep 0.05; done
kill -9 $victim; wait $victim 2>/dev/null
[ -n "$(ls killed)" ] || fail "the tool was killed before it began"
quiet "$BIN/talus-denoise" good.tif --method=gaussian -o killed/d.h5
[ "$(ls killed)" = d.h5 ] || fail "a killed tool's temporary stays: $(ls killed)"

# --- rasters
{ printf 'ncols 5\nnrows 5\nxllcorner 1000\nyllcorner 2000\ncellsize 10\nNODATA_value -9999\n'
  printf '10 10 10 10 10\n9 9 9 9 9\n8 8 -9999 8 8\n7 7 7 7 7\n6 6 6 6 6\n'; } >hole.asc
expect 1 hole.asc h.tals "$BIN/talus-topo" hole.asc --catalog=h.tals --name=hole
grep -qF -- --fill-holes err.txt || fail "the message does not name --fill-holes"
quiet "$BIN/talus-topo" hole.asc --catalog=h.tals --name=hole --fill-holes
head -c 3000 valley.asc >short.asc
expect 1 short.asc s.tals "$BIN/talus-topo" short.asc --catalog=s.tals --name=short

# --- studies
expect 1 absent.yaml run "$BIN/talus-solve" absent.yaml -o run
printf 'a: [1\n' >broken.yaml
expect 1 broken.yaml: run "$BIN/talus-solve" broken.yaml -o run
exit $bad
