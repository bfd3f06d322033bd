#!/usr/bin/env bash
# The imaging chain held to the phantom's truth: stack -> denoise -> binarize -> label -> avatars.
# Grains found / true within 3%, median volume error under 3%, median centroid error under 0.25
# voxel (all true grains of 500 voxels or more that the box does not cut).
set -u
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
bad=0
fail() { echo "FAILED: $*"; bad=1; }
quiet() { "$@" >out.txt 2>err.txt || { fail "$*"; cat err.txt; exit 1; }; }

size=104
quiet "$BIN/talus-phantom" --size="$size,$size,$size" --d50-voxels=22 --seed=5 -o stack.tif --truth=truth.csv
quiet "$BIN/talus-denoise" stack.tif -o denoised.h5
quiet "$BIN/talus-binarize" denoised.h5 -o mask.h5
quiet "$BIN/talus-label" mask.h5 --grey=denoised.h5 -o labels.h5
quiet "$BIN/talus-avatars" labels.h5 --grey=denoised.h5 --catalog=c.tals --sample=grains
quiet "$BIN/talus-catalog" verify c.tals
quiet "$BIN/talus-catalog" export c.tals --format=csv --with-border -o grains.csv

# Each true grain is matched to the avatar whose centroid is nearest and within half its radius.
awk -F, '
  FNR == 1 {for (i = 1; i <= NF; i++) column[FILENAME, $i] = i; next}
  FILENAME == "grains.csv" {
    n++
    volume[n] = $column[FILENAME, "volume_m3"] / 1e-15
    x[n] = $column[FILENAME, "scan_x_m"] / 1e-5
    y[n] = $column[FILENAME, "scan_y_m"] / 1e-5
    z[n] = $column[FILENAME, "scan_z_m"] / 1e-5
    if (volume[n] >= 500) found++
    next
  }
  {
    v = $column[FILENAME, "volume"]
    if (v < 500) next
    true_count++
    if ($column[FILENAME, "border"] == 1) next
    whole++
    tx = $column[FILENAME, "cx"]; ty = $column[FILENAME, "cy"]; tz = $column[FILENAME, "cz"]
    best = 1e30; at = 0
    for (i = 1; i <= n; i++) {
      d = (x[i] - tx) ^ 2 + (y[i] - ty) ^ 2 + (z[i] - tz) ^ 2
      if (d < best) {best = d; at = i}
    }
    if (sqrt(best) > 0.25 * exp(log(v) / 3)) next
    matched++
    print (volume[at] > v ? volume[at] - v : v - volume[at]) / v >"volume_error.txt"
    print sqrt(best) >"centroid_error.txt"
  }
  END {printf "%d %d %d %d\n", found, true_count, matched, whole}' grains.csv truth.csv >counts.txt
median() { sort -g "$1" | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'; }
read -r found true_count matched whole <counts.txt
dv=$(median volume_error.txt); dc=$(median centroid_error.txt)
awk -v f="$found" -v t="$true_count" 'BEGIN {exit !(f / t > 0.97 && f / t < 1.03)}' ||
  fail "grains of 500 voxels or more: found $found, true $true_count"
[ "$whole" -ge 5 ] || fail "only $whole whole grains: the phantom is too small to judge by"
awk -v f="$matched" -v t="$whole" 'BEGIN {exit !(f / t >= 0.97)}' || fail "whole grains matched $matched of $whole"
awk -v e="$dv" 'BEGIN {exit !(e < 0.03)}' || fail "median volume error $dv"
awk -v e="$dc" 'BEGIN {exit !(e < 0.25)}' || fail "median centroid error $dc voxel"
[ -z "${TALUS_SHOW:-}" ] || echo "found $found / $true_count, whole matched $matched / $whole, median volume error $dv, centroid $dc voxel"

# One query says which command, version and inputs made a grain.
quiet "$BIN/talus-catalog" show c.tals --grain="$(awk -F, 'NR == 2 {print $1}' grains.csv)"
for tool in talus-phantom talus-denoise talus-binarize talus-label talus-avatars; do
  grep -q "$tool" out.txt || fail "the grain's provenance does not name $tool"
done
exit $bad
