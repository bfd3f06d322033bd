#!/usr/bin/env bash
# talus-phantom: files, truth, repeatability, refusals.
set -u
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
bad=0
fail() { echo "FAILED: $*"; bad=1; }
small=("--size=48,44,40" --d50-voxels=12 -q)

"$BIN/talus-phantom" "${small[@]}" --seed=5 -o a.tif --labels=labels.h5 --truth=truth.csv \
  --clean=clean.tif --json >out.json 2>err.txt || fail "stack: $(cat err.txt)"
for f in a.tif labels.h5 truth.csv clean.tif; do [ -s $f ] || fail "no $f"; done
grains=$(sed -n 's/.*"grains": *\([0-9]*\).*/\1/p' out.json)
rows=$(($(wc -l <truth.csv) - 1))
[ "$grains" = "$rows" ] || fail "$grains grains reported, $rows rows of truth"
# the true volumes add up to the solid fraction
awk -F, 'NR > 1 {v += $5; if (NF != 19) exit 2} END {f = v / (48 * 44 * 40); exit !(f > 0.59 && f < 0.61)}' \
  truth.csv || fail "true volumes do not add up to the solid fraction"

"$BIN/talus-phantom" "${small[@]}" --seed=5 -@ 1 -o b.tif --truth=b.csv >/dev/null 2>&1 || fail "again"
cmp -s truth.csv b.csv || fail "same seed, other truth with one thread"
"$BIN/talus-phantom" "${small[@]}" --seed=6 -o c.tif --truth=c.csv >/dev/null 2>&1 || fail "seed 6"
cmp -s truth.csv c.csv && fail "another seed, same truth"

"$BIN/talus-phantom" "${small[@]}" --seed=5 -o a.tif >/dev/null 2>err.txt
[ $? = 2 ] || fail "an existing file is replaced without --overwrite"
grep -q overwrite err.txt || fail "the message does not name --overwrite"
"$BIN/talus-phantom" "${small[@]}" --seed=6 -o new.tif --labels=labels.h5 >/dev/null 2>&1
[ $? = 2 ] && [ ! -e new.tif ] || fail "labels that exist: a half product is left"
"$BIN/talus-phantom" --size=48.5,44,40 --d50-voxels=12 -o d.tif >/dev/null 2>err.txt
[ $? = 2 ] && grep -q 48.5 err.txt || fail "half voxels"
"$BIN/talus-phantom" --size=40,40,40 --d50-voxels=20 --disc -o d.tif >/dev/null 2>err.txt
[ $? = 2 ] && grep -q narrow err.txt || fail "a narrow disc"
"$BIN/talus-phantom" "${small[@]}" --dry-run -o d.tif >/dev/null 2>&1 || fail "dry run"
[ ! -e d.tif ] || fail "a refused or dry run left a file"

# a folder with everything a judge needs; the same bytes for any thread count; nothing replaced
faults=("--shapes=faceted" "--size-ratio=2" "--roughness-voxels=0.2" "--specks-fraction=0.01"
  "--rings-grey=3" "--cupping-grey=4" "--bias-z-grey=3" "--noise-correlation-voxels=0.8")
"$BIN/talus-phantom" "${small[@]}" "${faults[@]}" --folder -@ 1 -o one >/dev/null 2>err.txt || fail "folder: $(cat err.txt)"
"$BIN/talus-phantom" "${small[@]}" "${faults[@]}" --folder -@ 3 -o three >/dev/null 2>&1 || fail "folder with three threads"
for f in clean_u16.tif low_u16.tif high_u16.tif labels_u16.tif grains.csv surface_f32.raw; do
  [ -s "one/phantom_48x44x40_$f" ] || fail "no $f in the folder"
done
for f in grains.csv surface_f32.raw; do
  cmp -s "one/phantom_48x44x40_$f" "three/phantom_48x44x40_$f" || fail "other $f with three threads"
done
[ "$(($(stat -c %s one/phantom_48x44x40_surface_f32.raw) % 28))" = 0 ] || fail "surface records"
head -1 one/phantom_48x44x40_grains.csv | grep -q '^label,body,border,grey,volume,cz,cy,cx,Izz,Iyy,Ixx,Iyx,Izx,Izy,I1,I2,I3' || fail "columns"
"$BIN/talus-phantom" "${small[@]}" --folder -o one >/dev/null 2>err.txt
[ $? = 2 ] && grep -q overwrite err.txt || fail "a folder's files are replaced without --overwrite"
"$BIN/talus-phantom" "${small[@]}" --folder --truth=t.csv -o four >/dev/null 2>err.txt
[ $? = 2 ] && [ ! -e four ] || fail "--folder with --truth"

"$BIN/talus-phantom" --terrain --nodata-outline --seed=3 -o valley.asc >v.txt 2>err.txt || fail "valley: $(cat err.txt)"
head -6 valley.asc | grep -qi '^ncols *120' || fail "valley.asc has no 120 columns"
head -6 valley.asc | grep -qiE '^yll(corner +5204000|center +5204000\.5)' || fail "valley.asc lies elsewhere"
grep -q '^no_data: [1-9]' v.txt || fail "the outline cut nothing"
"$BIN/talus-phantom" --terrain --seed=3 --disc -o w.asc >/dev/null 2>err.txt
[ $? = 2 ] || fail "--terrain with --disc"
exit $bad
