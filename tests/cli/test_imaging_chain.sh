#!/usr/bin/env bash
# Denoise, binarize, label on a small phantom: products hold what they should, every tool says what
# it found, plans without writing, and the region and the input's name are in the messages.
set -u
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
bad=0
fail() { echo "FAILED: $*"; bad=1; }
quiet() { "$@" >out.txt 2>err.txt || { fail "should work: $*"; sed 's/^/    /' err.txt; }; }
value() { sed -n "s/^$1: \([-0-9.e+]*\).*/\1/p" out.txt; }
holds() { awk "BEGIN { exit !($1) }" || fail "not so: $1 ($2)"; }

quiet "$BIN/talus-phantom" --size=64,64,48 --d50-voxels=20 --seed=5 -o scan.tif --labels=truth.tif --voxel-size-um=10
quiet "$BIN/talus-denoise" scan.tif -o d.h5 --patch=3 --search=7
holds "$(value sigma_noise) > 900 && $(value sigma_noise) < 1300" "noise of 6 grey levels times 200"
grep -q '^region: whole stack' out.txt || fail "the region is not said"
[ -s d.h5 ] || fail "no denoised stack"

quiet "$BIN/talus-binarize" d.h5 -o m.h5
holds "$(value porosity) > 0.37 && $(value porosity) < 0.43" "solid fraction 0.6"
holds "$(value threshold) > 24000 && $(value threshold) < 27000" "half-way of 90 and 160 times 200"
holds "$(value energy_end) <= $(value energy_start)" "energy"
grep -q 'HMRF-EM round 1: energy' err.txt || fail "rounds are not printed"
quiet "$BIN/talus-binarize" d.h5 -o t.h5 --method=threshold --threshold=25000
quiet "$BIN/talus-binarize" d.h5 -o k.h5 --method=kmeans --min-island=20

quiet "$BIN/talus-label" m.h5 -o l.h5 --min-voxels=60
holds "$(value grains) > 20 && $(value border_grains) < $(value grains)" "grains"
grep -q '^median_diameter: .* um' out.txt || fail "the voxel size got lost on the way"
quiet "$BIN/talus-label" m.h5 -o l.tif --json --min-voxels=60
grep -q '"grains":' out.txt || fail "no JSON"

# water in the pores is a third phase: it is said, the range of the porosity holds the true one, and the
# next stage repeats the warning; a dry stack has none, and its two phases are not split into three
grep -q '^third_phase: ' out.txt && fail "label looks for phases"
quiet "$BIN/talus-binarize" d.h5 -o m.h5 --overwrite
grep -q '^third_phase: none' out.txt || fail "a dry stack: $(grep third out.txt)"
quiet "$BIN/talus-phantom" --size=48,48,48 --d50-voxels=20 --seed=6 --noise=3 --opaque-fraction=0 -o plain.tif
"$BIN/talus-binarize" plain.tif -o three.h5 --phases=3 >out.txt 2>err.txt && fail "three phases in a dry stack"
grep -q 'give --phases=2' err.txt && [ ! -e three.h5 ] || fail "three phases: $(cat err.txt)"
if [ "${TALUS_SANITIZED:-0}" = 0 ]; then # unit/test_third_phase runs the same code
  quiet "$BIN/talus-phantom" --size=60,60,60 --d50-voxels=20 --size-ratio=2 --shapes=faceted --seed=7 --noise=3 \
    --water=menisci --water-grey=130 -o wet.tif --truth=wet.csv
  quiet "$BIN/talus-binarize" wet.tif -o wet.h5
  grep -q '^third_phase: found' out.txt || fail "water: $(grep third out.txt)"
  grep -q 'there is a third phase between void and grain' err.txt || fail "no warning of water: $(cat err.txt)"
  true=$(awk -F, 'NR > 1 {v += $5} END {print 1 - v / 216000}' wet.csv)
  range=$(sed -n 's/^porosity_range: \([0-9.]*\) to \([0-9.]*\)$/\1 < '"$true"' \&\& '"$true"' < \2/p' out.txt)
  holds "$range" "the range of the porosity of wet sand"
  quiet "$BIN/talus-label" wet.h5 -o wet_labels.h5 --min-voxels=60
  grep -q 'wet.h5 was made with this warning: there is a third phase' err.txt || fail "label forgets the warning"
fi

# median and gaussian; a plan writes nothing
quiet "$BIN/talus-denoise" scan.tif -o g.tif --method=gaussian --sigma-voxels=1.5
quiet "$BIN/talus-denoise" scan.tif -o med.tif --method=median --radius=1
for tool in "talus-denoise scan.tif" "talus-binarize d.h5" "talus-label m.h5"; do
  # shellcheck disable=SC2086
  quiet "$BIN"/$tool -o plan.h5 --dry-run
  holds "$(value memory) > 0" "$tool: memory"
  [ ! -e plan.h5 ] || fail "$tool --dry-run wrote a file"
done

# a plan does not read the stack: one with holes, larger than memory, is planned at once
truncate -s 16000000000 holes.raw
for tool in talus-denoise talus-binarize talus-label; do
  memory=3000; [ $tool = talus-binarize ] && memory=20000
  timeout 60 "$BIN/$tool" --raw=2000,2000,2000,u16,little --roi=none --memory=$memory --dry-run holes.raw -o plan.h5 \
    >out.txt 2>err.txt || fail "$tool --dry-run of 2000^3: $(cat err.txt)"
  holds "$(value memory) > 500" "$tool plans 2000^3"
done

# the region is told once: later stages take the cylinder that lies in the product
quiet "$BIN/talus-denoise" scan.tif -o cylinder.h5 --method=gaussian --roi=cylinder:31,30,25
quiet "$BIN/talus-binarize" cylinder.h5 -o cm.h5
grep -q '^region: cylinder x 31.0 y 30.0 r 25.0' out.txt || fail "binarize: $(grep region out.txt)"
grep -q '^void_ratio_range: 0\.[0-9]* to 0\.[0-9]*$' out.txt || fail "no range of the void ratio"
quiet "$BIN/talus-label" cm.h5 -o cl.h5 --min-voxels=60
grep -q '^region: cylinder x 31.0 y 30.0 r 25.0' out.txt || fail "label: $(grep region out.txt)"

# threads do not change the product
quiet "$BIN/talus-volume" crop scan.tif --low=0,0,0 --size=40,40,32 -o part.tif
quiet "$BIN/talus-denoise" part.tif -o one.tif --patch=3 --search=7 --threads=1
quiet "$BIN/talus-denoise" part.tif -o two.tif --patch=3 --search=7 --threads=2
quiet "$BIN/talus-binarize" one.tif -o m1.h5 --threads=1
one=$(value energy_end)
quiet "$BIN/talus-binarize" two.tif -o m2.h5 --threads=2
[ "$one" = "$(value energy_end)" ] || fail "threads change the product"
exit $bad
