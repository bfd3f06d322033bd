#!/usr/bin/env bash
# talus-superres: train and apply on files, slabs give the voxels of the whole, means come back,
# wrong input leaves nothing.
set -u
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
bad=0
fail() { echo "FAILED: $*"; bad=1; }
quiet() { "$@" >out.txt 2>err.txt || { fail "exit $?: $*"; sed 's/^/    /' err.txt; }; }
refused() { # exit status, text, command...
  local want=$1 text=$2; shift 2
  "$@" >out.txt 2>err.txt
  local got=$?
  [ $got = "$want" ] || fail "exit $got, not $want: $*"
  grep -q -- "$text" err.txt || { fail "'$text' is not said: $*"; sed 's/^/    /' err.txt; }
}
value() { sed -n "s/^$1: //p" out.txt; }

small=(--atoms=64 --pairs=1000 --rounds=2)
quiet "$BIN/talus-phantom" --size=48,48,48 --d50-voxels=16 --noise=0 --voxel-size-um=5 -o fine.tif
quiet "$BIN/talus-volume" downsample fine.tif -o coarse.h5
quiet "$BIN/talus-superres" train fine.tif "${small[@]}" -n -o d.h5
[ -e d.h5 ] && fail "a dry run wrote"
quiet "$BIN/talus-superres" train fine.tif "${small[@]}" -o d.h5
quiet "$BIN/talus-superres" apply coarse.h5 --dictionary=d.h5 --denoise=no --preview=p.png -o whole.h5
[ -s p.png ] || fail "no preview"
quiet "$BIN/talus-superres" apply coarse.h5 --dictionary=d.h5 --sigma-noise=0 -o whole.h5 --overwrite
quiet "$BIN/talus-superres" apply coarse.h5 --dictionary=d.h5 --sigma-noise=0 -n -o slabs.h5
memory=$(value memory | awk '{ printf "%.3f", $1 - 0.3 }')
quiet "$BIN/talus-superres" apply coarse.h5 --dictionary=d.h5 --sigma-noise=0 --memory="$memory" -o slabs.h5
[ "$(value slabs)" -ge 2 ] || fail "one slab in $memory MB"
quiet "$BIN/talus-volume" info whole.h5
[ "$(value nx)" = "48 voxels" ] && [ "$(value voxel_size_z)" = "5 um" ] || fail "size: $(value nx), $(value voxel_size_z)"
for z in 0 21 22 23 47; do
  for s in whole slabs; do quiet "$BIN/talus-volume" slice $s.h5 --z=$z -o $s.png --overwrite; done
  cmp -s whole.png slabs.png || fail "slice $z differs between whole and slabs"
done
quiet "$BIN/talus-volume" downsample whole.h5 -o back.h5
for s in coarse back; do
  quiet "$BIN/talus-volume" histogram $s.h5 --roi=none -o $s.csv
  quiet "$BIN/talus-volume" info $s.h5; echo "$(value mean)" >$s.mean
done
awk 'NR==FNR { a=$1; next } { d=$1-a; exit !(d<1 && d>-1) }' coarse.mean back.mean || fail "the mean moved"

# Noise is found and taken out before, little is left.
quiet "$BIN/talus-superres" apply coarse.h5 --dictionary=d.h5 --sigma-noise=1 -o x.h5
[ "$(value denoised)" = no ] || fail "denoised 0.005 grey of noise"
quiet "$BIN/talus-phantom" --size=32,32,32 --d50-voxels=16 --noise=20 --voxel-size-um=5 -o noisy.tif
quiet "$BIN/talus-volume" downsample noisy.tif -o noisy.h5
quiet "$BIN/talus-superres" apply noisy.h5 --dictionary=d.h5 -o x.h5 --overwrite
[ "$(value denoised)" = "yes, by non-local means" ] || fail "not denoised: $(value sigma_noise)"
quiet "$BIN/talus-superres" apply noisy.h5 --dictionary=d.h5 --denoise=no -o x.h5 --overwrite
[ "$(value denoised)" = no ] || fail "denoised against --denoise=no"
rm -f x.h5

refused 2 'dictionary' "$BIN/talus-superres" apply coarse.h5 -o x.h5
refused 1 'none.h5' "$BIN/talus-superres" apply coarse.h5 --dictionary=none.h5 -o x.h5
refused 1 'coarse.h5: is no dictionary' "$BIN/talus-superres" apply coarse.h5 --dictionary=coarse.h5 -o x.h5
refused 1 'proportions' "$BIN/talus-superres" apply coarse.h5 --voxel-size-um=10,10,20 --dictionary=d.h5 -o x.h5
refused 2 'too few' "$BIN/talus-superres" apply coarse.h5 --dictionary=d.h5 --memory=5 -o x.h5
refused 2 'multiple of 16' "$BIN/talus-superres" train fine.tif --atoms=100 -o x.h5
quiet "$BIN/talus-volume" crop fine.tif --size=20,20,20 -o tiny.h5
refused 1 'too few to train on' "$BIN/talus-superres" train tiny.h5 -o x.h5
refused 2 'overwrite' "$BIN/talus-superres" apply coarse.h5 --dictionary=d.h5 -o whole.h5
[ -e x.h5 ] && fail "x.h5 was written"
exit $bad
