#!/usr/bin/env bash
# talus-volume: formats into one another, exit codes, messages that name the file, nothing half-written.
# sanitized: reads and writes stacks
set -u
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
volume=$BIN/talus-volume
fail() { echo "FAIL: $*" >&2; exit 1; }
refuses() { # exit code, text in the message, command...
  local code=$1 text=$2; shift 2
  "$@" >out 2>err; local got=$?
  [ $got = "$code" ] || fail "$* gave $got, not $code: $(cat err)"
  grep -qF -- "$text" err || fail "$*: '$text' is not in '$(cat err)'"
  [ "$(wc -l <err)" = 1 ] || fail "$*: more than one line: $(cat err)"
  [ ! -s out ] || fail "$*: wrote to stdout"
}

# 4 x 3 x 2 voxels, little-endian 16 bit, 0 to 23 (with every second byte set), through a MetaImage
for i in $(seq 0 23); do printf "\\x$(printf %02x "$i")\\x01"; done >v.raw
printf 'ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = False\nDimSize = 4 3 2\nElementSpacing = 0.01 0.01 0.02\nElementType = MET_USHORT\nElementDataFile = v.raw\n' >v.mhd
"$volume" info v.mhd >out 2>err || fail "info v.mhd: $(cat err)"
grep -q '^nx: 4 voxels$' out && grep -q '^min: 256$' out && grep -q '^max: 279$' out &&
  grep -q '^mean: 267.5$' out && grep -q '^type: u16$' out || fail "info: $(cat out)"
grep -q '^voxel_size: unknown$' out || fail "a spacing without a unit was taken: $(cat out)"
grep -q 'unit that the file does not say' err || fail "nothing said of the spacing: $(cat err)"

# without a header
"$volume" info --raw=2,3,4,u16,little v.raw >out 2>err || fail "raw: $(cat err)"
grep -q '^nx: 4 voxels$' out && grep -q '^mean: 267.5$' out || fail "raw: $(cat out)"
refuses 1 'v.raw: holds 48 bytes' "$volume" info --raw=2,3,5,u16,little v.raw
refuses 2 "raw voxels '2,3,4'" "$volume" info --raw=2,3,4 v.raw

# round the formats; values, size and history stay
"$volume" convert -q v.mhd --voxel-size-um=10,10,20 -o a.h5 >out 2>err || fail "convert: $(cat err)"
[ ! -s err ] || fail "-q and yet: $(cat err)"
"$volume" convert a.h5 -o b.tif >out 2>err || fail "convert: $(cat err)"
"$volume" convert b.tif -o c.hdf5 >out 2>err || fail "convert: $(cat err)"
"$volume" info --json -q c.hdf5 >json 2>err || fail "info: $(cat err)"
for want in '"nx_voxels": 4' '"voxel_size_z_um": 20' '"mean": 267.5' '"provenance_records": 3'; do
  grep -qF "$want" json || fail "$want is not in $(cat json)"
done

# slices in a folder, a pattern, a template
mkdir s
for i in 8 9 10; do
  sed 's/DimSize.*/DimSize = 4 6 1/' v.mhd >one.mhd
  "$volume" convert -q one.mhd -o "s/z$i.tif" >/dev/null 2>err || fail "slice: $(cat err)"
done
for what in s 's/z*.tif' s/z%d.tif; do
  "$volume" info "$what" >out 2>err || fail "$what: $(cat err)"
  grep -q '^nz: 3 voxels$' out || fail "$what: $(cat out)"
  grep -q '3 slices, z8.tif to z10.tif' err || fail "$what: $(cat err)"
done
rm s/z9.tif
refuses 1 'between z8.tif and z10.tif' "$volume" info s
"$volume" info -q --allow-gaps s >out 2>err || fail "gaps: $(cat err)"

# parts, coarser copies, the specimen's cylinder, grey levels
"$volume" crop a.h5 --low=1,0,1 --size=2,3,1 -o part.tif >out 2>err || fail "crop: $(cat err)"
grep -q '^nx: 2 voxels$' out && grep -q '^nz: 1 voxels$' out && grep -q '^min: 269$' out &&
  grep -q '^max: 278$' out && grep -q '^voxel_size_z: 20 um$' out || fail "crop: $(cat out)"
"$volume" crop a.h5 --low=2,0,0 -o rest.h5 >out 2>err || fail "crop to the end: $(cat err)"
grep -q '^nx: 2 voxels$' out && grep -q '^ny: 3 voxels$' out || fail "crop to the end: $(cat out)"
refuses 2 '2 voxels from voxel 3 along x' "$volume" crop -q a.h5 --low=3,0,0 --size=2,1,1 -o no.h5
refuses 2 "--low: '1,2' is not" "$volume" crop -q a.h5 --low=1,2 -o no.h5
"$volume" downsample a.h5 --factor=2 -o half.h5 >out 2>err || fail "downsample: $(cat err)"
grep -q '^nx: 2 voxels$' out && grep -q '^voxel_size_z: 40 um$' out && grep -q '^min: 265$' out ||
  fail "downsample: $(cat out)"
"$volume" mask-cylinder a.h5 --roi=cylinder:1,1,1 -o disc.tif >out 2>err || fail "mask: $(cat err)"
grep -q '14 of 24 voxels lie outside' err && grep -q '^cylinder_radius: 1 voxels$' out ||
  fail "mask: $(cat out err)"
"$volume" convert disc.tif -o disc.h5 >out 2>err && grep -q '^cylinder_x: 1 voxels$' out ||
  fail "the cylinder was lost: $(cat out err)"
"$volume" histogram disc.h5 -o grey.csv >out 2>err || fail "histogram: $(cat err)"
grep -q '^voxels_inside: 10$' out && grep -q '^bits_used: 9$' out && [ "$(wc -l <grey.csv)" = 11 ] &&
  grep -q '^257,1$' grey.csv && ! grep -q '^256,' grey.csv || fail "histogram: $(cat out grey.csv)"
refuses 1 'no specimen' "$volume" mask-cylinder -q a.h5 -o no.h5
[ ! -e no.h5 ] || fail "a refused verb left no.h5"

# what goes wrong
head -c 200 b.tif >cut.tif; head -c 900 a.h5 >cut.h5; : >empty.tif; echo prose >prose.tif
head -c 40 v.raw >short.raw; sed 's/v.raw/short.raw/' v.mhd >short.mhd
refuses 1 'cut.tif: page' "$volume" info cut.tif
refuses 1 'cut.h5' "$volume" info cut.h5
refuses 1 'empty.tif: the file is empty' "$volume" info empty.tif
refuses 1 'prose.tif: not a TIFF' "$volume" info prose.tif
refuses 1 'short.mhd' "$volume" info short.mhd
refuses 1 'gone.tif: cannot open' "$volume" info gone.tif
refuses 2 'already exists' "$volume" convert v.mhd -o b.tif
refuses 2 '.h5 or .tif' "$volume" convert v.mhd -o b.png
refuses 2 "voxel size '5um'" "$volume" convert v.mhd --voxel-size-um=5um -o d.h5
refuses 1 'nowhere/d.h5' "$volume" convert v.mhd -o nowhere/d.h5
refuses 1 'short.mhd' "$volume" convert short.mhd -o d.h5
[ ! -e d.h5 ] || fail "a failed conversion left d.h5"

# a file that may not grow: as a full disk, without one
for name in d.h5 d.tif; do
  (ulimit -f 0; trap '' XFSZ; "$volume" convert -q v.mhd -o $name >out 2>/dev/null) && fail "$name on a full disk"
  [ ! -e $name ] || fail "a full disk left $name"
done
[ -z "$(ls -- *.tmp 2>/dev/null)" ] || fail "left behind: $(ls -- *.tmp)"
exit 0
