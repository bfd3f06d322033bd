#!/usr/bin/env bash
# The imaging tools refuse what they cannot work with: exit status, message, nothing written.
# sanitized: reads damaged stacks
set -u
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
bad=0
fail() { echo "FAILED: $*"; bad=1; }
expect() { # STATUS TEXT command...
  local want=$1 text=$2; shift 2
  "$@" >out.txt 2>err.txt; local got=$?
  [ "$got" = "$want" ] || { fail "exit $got, not $want: $*"; sed 's/^/    /' err.txt; }
  grep -qF -- "$text" err.txt || { fail "no '$text' in the message of: $*"; sed 's/^/    /' err.txt; }
  [ ! -e out.h5 ] || { fail "out.h5 is there after: $*"; rm -f out.h5; }
}
nrrd() { printf 'NRRD0004\ntype: %s\ndimension: 3\nsizes: %s\nendian: little\nencoding: raw\n\n' "$1" "$2"; }

{ nrrd uchar "12 12 12"; head -c 1728 /dev/zero; } >void.nrrd
expect 1 "same grey" "$BIN/talus-denoise" void.nrrd -o out.h5
expect 1 "same grey" "$BIN/talus-binarize" void.nrrd -o out.h5
expect 1 "all void" "$BIN/talus-label" void.nrrd -o out.h5

{ nrrd float "4 4 4"; for ((i = 0; i < 63; i++)); do printf '\0\0\200?'; done; printf '\0\0\300\177'; } >nan.nrrd
for tool in denoise binarize; do
  expect 1 "voxel (3, 3, 3) is not a number" "$BIN/talus-$tool" nan.nrrd -o out.h5
  grep -q 'nan.nrrd' err.txt || fail "the file is not named"
done

# all void with noise: one population of greys
awk 'BEGIN { srand(4); for (i = 0; i < 13824; i++) { s = 0; for (k = 0; k < 12; k++) s += rand();
  printf "%c", int(90 + 6 * (s - 6) + 0.5) } }' </dev/null | LC_ALL=C head -c 13824 >noise.raw
{ nrrd uchar "24 24 24"; cat noise.raw; } >noise.nrrd
expect 1 "one population" "$BIN/talus-binarize" noise.nrrd -o out.h5
expect 1 "leaves no grain voxel" "$BIN/talus-binarize" noise.nrrd -o out.h5 --method=threshold --threshold=250

expect 2 "go together" "$BIN/talus-binarize" noise.nrrd -o out.h5 --threshold=90
expect 2 "go together" "$BIN/talus-binarize" noise.nrrd -o out.h5 --method=threshold
expect 2 "not a number" "$BIN/talus-binarize" noise.nrrd -o out.h5 --method=threshold --threshold=9x
expect 2 "odd" "$BIN/talus-denoise" noise.nrrd -o out.h5 --patch=4
expect 2 "odd" "$BIN/talus-denoise" noise.nrrd -o out.h5 --search=10
expect 2 "cylinder:X,Y,R" "$BIN/talus-denoise" noise.nrrd -o out.h5 --roi=cylinder:3,4
expect 2 "outside the slices" "$BIN/talus-denoise" noise.nrrd -o out.h5 --roi=cylinder:300,4,5
expect 1 "missing.tif" "$BIN/talus-denoise" noise.nrrd -o out.h5 --roi=missing.tif
expect 1 "must be equal" "$BIN/talus-denoise" noise.nrrd -o out.h5 --roi=void.nrrd
expect 2 "--voxel-size-um" "$BIN/talus-denoise" noise.nrrd -o out.h5 --voxel-size-um=-3
echo kept >out2.h5
expect 2 "--overwrite" "$BIN/talus-label" noise.nrrd -o out2.h5
[ "$(cat out2.h5)" = kept ] || fail "an existing file was touched"
exit $bad
