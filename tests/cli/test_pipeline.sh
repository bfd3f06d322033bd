#!/usr/bin/env bash
# The avalanche pipeline on small data: -j works, a second call does nothing, a stage that is gone is
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
    AVATAR_FLAGS=--min-voxels=200 RENDER_FLAGS="--width=160 --height=100 --no-smooth" "$@" >log.txt 2>&1
}
stages() { tail -n +2 out/stages.csv | cut -d, -f1 | tr '\n' ' '; }

pipeline -j2 || { fail "the chain"; tail -20 log.txt; }
first="denoise binarize label avatars topo solve measure render view plots grading "
[ "$(stages)" = "$first" ] || fail "stages ran as: $(stages)"
grep -q 'deepest_grain\|grains_deeper' log.txt || fail "the summary says nothing of penetration"
for product in out/run/study.yaml out/run/history.csv out/pictures/path.png out/measures/grading.csv; do
  [ -s "$product" ] || fail "no $product"
done
pipeline || fail "the second call"
[ "$(stages)" = "$first" ] || fail "the second call ran something: $(stages)"
rm out/labels.h5
pipeline || fail "after the labels went"
[ "$(stages)" = "${first}label avatars solve measure render view plots grading " ] ||
  fail "after the labels went it ran: $(stages)"
rm out/mask.h5
if BINARIZE_FLAGS=--threshold=nonsense pipeline BINARIZE_FLAGS=--threshold=nonsense; then fail "a wrong option passed"; fi
[ ! -e out/mask.h5 ] || fail "a failed stage left its product"
exit $bad
