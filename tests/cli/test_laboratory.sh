#!/usr/bin/env bash
# The laboratory's chains at small size: a triaxial test in a few keys from a labelled stack, a batch of scans and one of
# tests, and what the threshold of the binarization does. Wrong files of keys are refused with file and line.
set -u
here=$PWD
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
bad=0
fail() { echo "FAILED: $*"; bad=1; }
export OMP_NUM_THREADS=1 OMPI_MCA_btl=self,vader
unset MAKEFLAGS MFLAGS
chain() { make -s -f "$here/pipeline/$1" BIN="$BIN" "${@:2}" >log.txt 2>&1; }
for seed in 4 5; do
  "$BIN/talus-phantom" --size=44,44,44 --d50-voxels=14 --voxel-size-um=20 --seed=$seed -o scan$seed.tif -q >log.txt 2>&1 || fail phantom
done

# ---- keys ----
keys() { "$here/pipeline/triaxial_test.sh" t.yaml >keys.txt 2>err.txt; }
refused() { # WHAT MESSAGE LINE...
  printf '%s\n' "${@:3}" >t.yaml
  if keys; then fail "$1 passes: $(cat keys.txt)"; fi
  grep -qF -- "$2" err.txt || fail "$1: $(cat err.txt)"
}
refused "an unknown key" "t.yaml:2: presure_kPa: no such key; there are stack, labels" "stack: a.tif" "presure_kPa: 100"
refused "a word for a number" "t.yaml:2: grains: many, not a number" "stack: a.tif" "grains: many"
refused "too much" "friction: 11, not a number from 0 to 10" "stack: a.tif" "friction: 11"
refused "a key twice" "t.yaml:3: strain: given twice, before on line 2" "stack: a.tif" "strain: 0.1" "strain: 0.2"
refused "no grains" "stack or labels is wanted" "grains: 200"
refused "a list" "is no line" "- stack: a.tif"
refused "a file that is not there" "t.yaml:2: stack: ./a'b.tif: there is no such file" "grains: 200" "stack: a'b.tif"
refused "labels that are not there" "t.yaml:1: labels: ./gone.h5: there is no such file" "labels: gone.h5"
refused "a name for make" "make cannot carry" 'stack: $(shell touch x).tif'
[ ! -e x ] || fail "a name was run"
# at 500 grains and 100 kPa the keys are those of the studies; four times the pressure, twice the speed
: >"my scan.tif"; : >l.h5
printf 'stack: "my scan.tif" # here\n' >t.yaml; keys || fail "the shortest file: $(cat err.txt)"
grep -qx 'STACK := ./my scan.tif' keys.txt || fail "the stack: $(cat keys.txt)"
value() { tr ' ' '\n' <keys.txt | sed -n "s/^$1=//p" | tail -1; }
same() { [ "$(value "$1")" = "$2" ] || fail "$1 is $(value "$1"), not $2"; }
same triaxial.radius_m 0.0282; same triaxial.height_m 0.101; same penalty.normal_Pa_m 3e+11; same time.dt_s 5e-06
same triaxial.stages.1.rate_per_s 0.6; same release.count 500; same walls.0.radius_m 0.028
printf 'labels: l.h5\npressure_kPa: 400\ngrains: 864\nvoid_ratio: 0.6\n' >t.yaml; keys || fail "$(cat err.txt)"
same penalty.normal_Pa_m 1.2e+12; same time.dt_s 2.5e-06; same triaxial.stages.1.rate_per_s 1.2; same walls.0.radius_m 0.0336
same triaxial.stages.0.void_ratio 0.6; same triaxial.stages.0.pressure_Pa 400000
# every default of the list is that of the studies, where they have one
"$BIN/talus-solve" --keys >all.txt 2>/dev/null
for key in $(tr ' ' '\n' <keys.txt | sed -n 's/^\([a-z_.0-9A-Za-z]*\)=.*/\1/p' | sed 's/.*\.//' | sort -u); do
  grep -q "^| \`$key\`" all.txt || fail "$key is no key of a study"
done

# ---- a batch of scans ----
chain batch.mk STACKS="scan4.tif scan5.tif" OUT=scans AVATAR_FLAGS=--min-voxels=200 || { fail "the scans"; tail -20 log.txt; }
[ "$(wc -l <scans/batch.csv)" = 3 ] || fail "batch.csv: $(cat scans/batch.csv)"
awk -F, 'NR > 1 && !($2 > 0.3 && $2 < 0.6 && $4 <= $3 + 1e-4 && $3 <= $5 + 1e-4 && $6 > 20 && $10 < $11 && $11 < $12 && $12 < $13 && $11 > 0.1 && $11 < 0.5) {
  print "FAILED: batch.csv: " $0; bad = 1} END {exit bad}' scans/batch.csv || bad=1
for product in scans/scan4/scan.html scans/scan5/scan.html scans/batch.png; do [ -s $product ] || fail "no $product"; done
made=$(cat scans/scan?/stages.csv | cksum)
chain batch.mk STACKS="scan4.tif scan5.tif" OUT=scans AVATAR_FLAGS=--min-voxels=200 || fail "the scans again"
[ "$made" = "$(cat scans/scan?/stages.csv | cksum)" ] || fail "what is there is made again"
# one that is damaged: the good ones have their table and picture, the other is named, and make ends with an error
head -c 3000 scan4.tif >short.tif
rm scans/batch.*
if chain batch.mk STACKS="short.tif scan4.tif scan5.tif" OUT=scans AVATAR_FLAGS=--min-voxels=200; then fail "a damaged scan passes"; fi
[ ! -e scans/batch.csv ] || fail "without -k it goes on"
if chain batch.mk -k STACKS="short.tif scan4.tif scan5.tif" OUT=scans AVATAR_FLAGS=--min-voxels=200; then fail "a damaged scan passes -k"; fi
grep -q '^scans/short: failed, and is left out$' log.txt || fail "the damaged scan is not named: $(cat log.txt)"
grep -q '^scans/scan' log.txt && fail "a good scan is said to have failed: $(cat log.txt)"
[ "$(cut -d, -f1 scans/batch.csv | tr '\n' ' ')" = "scan scan4 scan5 " ] || fail "batch.csv: $(cat scans/batch.csv)"
[ -s scans/batch.png ] || fail "no picture of the good scans"
[ "$made" = "$(cat scans/scan?/stages.csv | cksum)" ] || fail "a good scan is made again"
if chain batch.mk -k STACKS=short.tif OUT=scans; then fail "a damaged scan alone passes -k"; fi
grep -q 'none could be made: scans/short' log.txt || fail "no word of the only scan: $(cat log.txt)"
cp scan4.tif short.tif # mended
chain batch.mk -k STACKS="short.tif scan4.tif" OUT=scans AVATAR_FLAGS=--min-voxels=200 || { fail "mended"; tail -5 log.txt; }
[ "$(wc -l <scans/batch.csv)" = 3 ] || fail "mended: $(cat scans/batch.csv)"
mkdir other; cp scan4.tif other
if chain batch.mk STACKS="scan4.tif other/scan4.tif" OUT=two; then fail "two scans share a folder"; fi

# ---- the threshold ----
chain threshold.mk STACK=scan4.tif OUT=scans/scan4 SHIFTS="-8 8" DRAWS=50 || { fail "the threshold"; tail -20 log.txt; }
[ "$(grep -c '^threshold' scans/scan4/stages.csv)" = 5 ] || fail "stages of the threshold: $(cat scans/scan4/stages.csv)"
awk -F, 'NR == 1 {for (i = 1; i <= NF; i++) at[$i] = i; next} {e[++n] = $at["void_ratio"]; low = $at["d50_low_mm"]; d = $at["d50_mm"]; high = $at["d50_high_mm"]
  if (!(low <= d && d <= high && low > 0)) {print "FAILED: range of d50: " $0; bad = 1}}
  END {if (n != 3 || !(e[1] < e[3] && e[3] < e[2])) {print "FAILED: void ratio does not rise with the threshold"; bad = 1} exit bad}' \
  scans/scan4/threshold/threshold.csv || bad=1
head -c 4 scans/scan4/threshold/threshold.png | grep -q PNG || fail "no plot"
if chain threshold.mk STACK=scan4.tif OUT=scans/scan4 SHIFTS="1 x"; then fail "a shift that is no number"; fi

# ---- tests in a few keys, sheared to a thousandth, too fast to mean anything ----
cp scans/scan4/labels.h5 scans/scan4/denoised.h5 .
for friction in 0.2 0.6; do
  printf 'labels: labels.h5\ngrey: denoised.h5\ngrains: 100\npressure_kPa: 10\nstrain: 0.001\nfriction: %s\n' $friction >f$friction.yaml
done
# a coarse edition: softer contacts bear a longer step
coarse=(AVATAR_FLAGS="--min-voxels=200 --no-with-border" RENDER_FLAGS="--width=160 --height=100 --no-smooth" SPECIMEN_SET="time.duration_s=0.1" SET="penalty.normal_Pa_m=1.0e+9 time.dt_s=5.0e-5 triaxial.stages.0.most_s=0.01 triaxial.stages.0.ramp_s=0.005
  time.frame_every_s=0.02 triaxial.stages.1.rate_per_s=0.2")
coarse[3]=$(echo "${coarse[3]}" | tr '\n' ' ')
chain batch.mk TESTS="f0.2.yaml f0.6.yaml" OUT=pair "${coarse[@]}" ||
  { fail "the tests"; tail -20 log.txt; }
for product in pair/f0.2/run/triaxial.csv pair/f0.6/report.html pair/report.html pair/measures/triaxial_stress_strain.png; do
  [ -s $product ] || fail "no $product"
done
[ "$(wc -l <pair/measures/triaxial_runs.csv)" = 3 ] || fail "runs: $(cat pair/measures/triaxial_runs.csv)"
diff pair/f0.2/run/study.yaml pair/f0.6/run/study.yaml | grep '^[<>]' | grep -vE 'friction: 0.[26]|pair/f0' && fail "more than the friction differs"
made=$(cat pair/f*/stages.csv | cksum)
chain batch.mk TESTS="f0.2.yaml f0.6.yaml" OUT=pair "${coarse[@]}" || fail "the tests again"
[ "$made" = "$(cat pair/f*/stages.csv | cksum)" ] || fail "a test is made again"
# another key in the file: its run is made anew, and not what comes before the specimen
sed -i 's/friction: 0.6/friction: 0.4/' f0.6.yaml; sleep 1; touch f0.6.yaml
chain batch.mk TESTS="f0.2.yaml f0.6.yaml" OUT=pair "${coarse[@]}" || { fail "another key"; tail log.txt; }
grep -q 'friction: 0.4' pair/f0.6/run/study.yaml || fail "another key changes nothing"
[ "$(grep -c ^avatars pair/f0.6/stages.csv)" = 1 ] || fail "the grains are made again"
exit $bad
