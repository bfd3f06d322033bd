#!/usr/bin/env bash
# talus-denoise: slabs give the voxels of the whole, the plan of a dry run, warnings about the scan.
set -u
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
bad=0
fail() { echo "FAILED: $*"; bad=1; }
quiet() { "$@" >out.txt 2>err.txt || { fail "exit $?: $*"; sed 's/^/    /' err.txt; }; }
value() { sed -n "s/^$1: //p" out.txt; }

quiet "$BIN/talus-phantom" --size=44,40,60 --d50-voxels=20 --noise=8 -o p.tif
for method in nlm gaussian median bilateral diffusion; do
  options=(p.tif "--method=$method" --patch=3 --search=5 --rounds=3 --threads=1 --sigma-noise=1500)
  quiet "$BIN/talus-denoise" "${options[@]}" -n -o plan.h5
  [ -e plan.h5 ] && fail "a dry run wrote"
  [ "$(value slabs)" = 1 ] || fail "$method: not in one slab without a limit"
  [ -n "$(value time_about)" ] || fail "$method: no time in the plan"
  # a little less than the whole takes
  memory=$(value memory | awk '{ printf "%.3f", $1 - 0.5 }')
  quiet "$BIN/talus-denoise" "${options[@]}" -o whole.h5 --overwrite
  whole=$(value removed_rms)
  quiet "$BIN/talus-denoise" "${options[@]}" -o slabs.h5 --overwrite --memory="$memory"
  [ "$(value slabs)" -ge 2 ] || fail "$method: one slab in $memory MB"
  [ "$(value removed_rms)" = "$whole" ] || fail "$method: slabs change what is removed"
  for z in 0 29 30 59; do
    for s in whole slabs; do
      quiet "$BIN/talus-volume" slice $s.h5 --z=$z -o $s.png --overwrite
    done
    cmp -s whole.png slabs.png || fail "$method: slice $z differs between whole and slabs"
  done
done
# within a limit the noise is estimated from 20 layers of the stack: 2 bytes a voxel, as read, and 4
for size in 24,240,240 24,240,120; do
  head -c $((2 * ${size//,/ * })) /dev/urandom >flat.raw
  quiet "$BIN/talus-denoise" flat.raw --raw=$size,u16,little --method=bilateral --threads=1 --memory=500 -n -o plan.h5
  value memory >>bands.txt
done
awk '{ m[NR] = $1 } END { d = m[1] - m[2] - 20 * 120 * 240 * 6e-6; exit !(d * d < 0.02) }' bands.txt ||
  fail "the estimate of the noise takes another memory: $(cat bands.txt)"
"$BIN/talus-denoise" p.tif -o few.h5 --memory=20 >out.txt 2>err.txt && fail "20 MB were enough"
grep -q 'too few: one layer' err.txt || fail "what is needed is not said"
[ -e few.h5 ] && fail "few.h5 was written"
exit $bad
