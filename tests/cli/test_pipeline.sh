#!/usr/bin/env bash
# The pipelines on small data: from the grains of the avalanche's to the curves of a triaxial test; -j
# works, a second call does nothing, one with another voxel size does all of the scan again, a stage that is gone is
# made again with all that follows it and nothing before it, a failing stage leaves no product.
set -u
here=$PWD
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
bad=0
fail() { echo "FAILED: $*"; bad=1; }
"$BIN/talus-phantom" --size=44,44,44 --d50-voxels=14 --seed=4 -o stack.tif -q >log.txt 2>&1 || fail phantom
"$BIN/talus-phantom" --terrain --columns=60 --rows=100 --cell-m=2 -o slope.asc -q >log.txt 2>&1 || fail valley
pipeline() {
  OMPI_MCA_btl=self,vader make -s -f "$here/pipeline/avalanche.mk" BIN="$BIN" STACK=stack.tif DEM=slope.asc OUT=out \
    STUDY="$here/config/avalanche.yaml" SET="time.duration_s=0.2 time.frame_every_s=0.1" \
    AVATAR_FLAGS="--min-voxels=200 --no-with-border" RENDER_FLAGS="--width=160 --height=100 --no-smooth" "$@" >log.txt 2>&1
}
stages() { tail -n +2 out/stages.csv | cut -d, -f1 | tr '\n' ' '; }

pipeline -j2 || { fail "the chain"; tail -20 log.txt; }
first="denoise binarize label avatars topo solve measure render view plots grading report "
[ "$(stages)" = "$first" ] || fail "stages ran as: $(stages)"
grep -q 'deepest_grain\|grains_deeper' log.txt || fail "the summary says nothing of penetration"
for product in out/run/study.yaml out/run/history.csv out/pictures/path.png out/measures/grading.csv out/report.html; do
  [ -s "$product" ] || fail "no $product"
done
pipeline || fail "the second call"
[ "$(stages)" = "$first" ] || fail "the second call ran something: $(stages)"

# 24 grains, seven diameters round and three high: sheared to 1%, too fast to mean anything.
mkdir cell && cp -rp out/{denoised.h5,mask.h5,labels.h5,catalog.tals,avatars.done,settings} cell
sed 's/0\.028/0.0125/g; s/count: 500/count: 24/; s/duration_s: 0.5/duration_s: 0.2/; s/0\.36\]/0.1]/' \
  "$here/config/triaxial-specimen.yaml" >specimen.yaml
echo 'solver: {edges: nodes}' >>specimen.yaml # where the pack of so few grains ends depends on the search
sed 's/radius_m: 0.0282/radius_m: 0.0126/; s/height_m: 0.101/height_m: 0.029/; s/height_m: 0.15/height_m: 0.084/
  s/dt_s: 5.0e-6/dt_s: 1.0e-5/; s/history_every_s: 2.0e-4/history_every_s: 1.0e-4/; s/frame_every_s: 0.02/frame_every_s: 4.0e-3/
  s/pressure_Pa: 1.0e+5, ramp_s: 0.02/pressure_Pa: 2.0e+3, ramp_s: 5.0e-3/; s/most_s: 0.1/most_s: 0.01/
  s/rate_per_s: 0.6, until_strain: 0.2/rate_per_s: 4, until_strain: 0.01/; s/normal_Pa_m: [0-9.e+]*/normal_Pa_m: 1.0e+9/' \
  "$here/config/triaxial.yaml" >cell.yaml
echo 'checkpoint: {every_steps: 300, keep: 9}' >>cell.yaml
cell() { # MAKEFILE ARGUMENT...
  OMPI_MCA_btl=self,vader make -s -f "$here/pipeline/$1" BIN="$BIN" STACK=stack.tif OUT=cell STUDY=cell.yaml THREADS=1 \
    SPECIMEN_STUDY=specimen.yaml AVATAR_FLAGS="--min-voxels=200 --no-with-border" RENDER_FLAGS="--width=160 --height=100 --no-smooth" "${@:2}" >log.txt 2>&1
}
resumes() { "$BIN/talus-measure" cell/friction/0.1 -o m --overwrite 2>/dev/null | sed -n "s/^resumes: //p"; }
cell triaxial.mk || { fail "the triaxial chain"; tail -20 log.txt; }
[ "$(tail -n +2 cell/stages.csv | cut -d, -f1 | tr '\n' ' ')" = "specimen solve measure render chains section plots report " ] ||
  fail "the triaxial chain's stages: $(cat cell/stages.csv)"
for product in cell/run/triaxial.csv cell/measures/triaxial_stress_strain.png cell/pictures/{chains,rotation,history}.png; do
  [ -s "$product" ] || fail "no $product"
done
awk -F, '$1 == "peak_deviatoric_stress" {found = $2 > 100} END {exit !found}' cell/measures/triaxial_summary.csv ||
  fail "sheared without a stress: $(cat cell/measures/triaxial_summary.csv)"
# The same test with one more friction: the first run stays, the second differs by that key alone.
cell parametric.mk FIGURE=friction VALUES=0.1 || { fail "the parametric figure"; tail -20 log.txt; }
[ "$(tail -n +2 cell/stages.csv | cut -d, -f1 | tr '\n' ' ')" = "specimen solve measure render chains section plots report friction-0.1 friction-measures " ] ||
  fail "the figure's stages: $(cat cell/stages.csv)"
diff cell/run/study.yaml cell/friction/0.1/study.yaml | grep '^>' | grep -v friction: | grep -v output: && fail "other keys differ, too"
[ "$(wc -l <cell/friction/measures/triaxial_runs.csv)" = 3 ] || fail "not two curves: $(cat cell/friction/measures/triaxial_runs.csv)"
# Another list of values is measured again, the same one is not.
measured() { grep -c '^friction-measures' cell/stages.csv; }
cell parametric.mk FIGURE=friction VALUES=0.1 || fail "the same values"
[ "$(measured)" = 1 ] || fail "the same values measured again"
cell parametric.mk FIGURE=friction VALUES="0.1 0.1" || fail "other values"
[ "$(measured)" = 2 ] || fail "other values not measured"
# Stopped before its end, it goes on from its newest checkpoint and not from the start; with another key it begins anew.
whole=$(ls cell/friction/0.1/checkpoint_*.tck | tail -1)
cp cell/friction/0.1/triaxial.csv whole.csv
rm "$whole" cell/friction/0.1.done
cell parametric.mk FIGURE=friction VALUES=0.1 || { fail "resumed"; tail -20 log.txt; }
[ "$(resumes)" = 1 ] || fail "not resumed"
cmp whole.csv cell/friction/0.1/triaxial.csv || fail "resumed, the curve is another"
rm cell/friction/0.1.done
cell parametric.mk FIGURE=friction VALUES=0.1 SET=contact.restitution=0.4 || { fail "with another key"; tail -20 log.txt; }
[ "$(resumes)" = 0 ] || fail "resumed although a key is another"
# Refused, it is refused again: the checkpoints that are there are not its own. The command whose they are goes on from them.
rm "$(ls cell/friction/0.1/checkpoint_*.tck | tail -1)" cell/friction/0.1.done
for time in first second; do
  if cell parametric.mk FIGURE=friction VALUES=0.1 SET=contact.restitution=7; then fail "a wrong key passed the $time time"; fi
done
grep -q 'restitution' log.txt || fail "no word of the wrong key: $(cat log.txt)"
cell parametric.mk FIGURE=friction VALUES=0.1 SET=contact.restitution=0.4 || { fail "after a wrong key"; tail -20 log.txt; }
[ "$(resumes)" = 1 ] || fail "not resumed after a wrong key"
if cell parametric.mk FIGURE=scale VALUES=7; then fail "a value that the figure has not"; fi
grep -q 'FIGURE=scale has no value 7' log.txt || fail "no word of the value: $(cat log.txt)"

# The first voxel size was wrong: all is made again with the right one, and the figures are of that.
said() { sed -n "s/^$2: *//p" "out/logs/$1.txt"; }
grep -q '^voxel_size_um: 10 x 10 x 10' out/logs/binarize.txt || fail "the voxel size of the first call: $(said binarize voxel_size_um)"
pipeline VOXEL_UM=20 || { fail "with another voxel size"; tail -20 log.txt; }
second="$first${first/topo /}" # the terrain stays
[ "$(stages)" = "$second" ] || fail "with another voxel size it ran: $(stages)"
grep -q '^voxel_size_um: 20 x 20 x 20' out/logs/binarize.txt || fail "another voxel size: $(said binarize voxel_size_um)"
grep -q 'now:    VOXEL_UM=20' log.txt || fail "no word of the other voxel size: $(cat log.txt)"
first=$second

rm out/labels.h5
pipeline VOXEL_UM=20 || fail "after the labels went"
[ "$(stages)" = "${first}label avatars solve measure render view plots grading report " ] ||
  fail "after the labels went it ran: $(stages)"
rm out/mask.h5
if BINARIZE_FLAGS=--threshold=nonsense pipeline VOXEL_UM=20 BINARIZE_FLAGS=--threshold=nonsense; then fail "a wrong option passed"; fi
[ ! -e out/mask.h5 ] || fail "a failed stage left its product"
exit $bad
