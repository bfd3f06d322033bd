#!/usr/bin/env bash
# Wrong input never crashes and never half-writes: each case gives its exit status, a message that
# names the file, and leaves no product and no temporary behind.
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
