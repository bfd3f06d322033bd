#!/usr/bin/env bash
# The run of pipeline/large.mk at a small size: all stages by slabs within the memory given, the
# products those of the stages without --memory (bit for bit: unit tests; here by their greys), and a stage that goes over is said.
set -u
here=$PWD
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
bad=0
fail() { echo "FAILED: $*"; bad=1; }
quick="--search=5 --h-factor=0.5 --reach=5 --sigma-noise=4000"
make -s -f "$here/pipeline/large.mk" BIN="$BIN" OUT=out BLOCK=36 TILES=2 D50=10 MEMORY_MB=71 EVERY=40 \
  DENOISE_FLAGS="$quick" >log.txt 2>&1 || over=$?
# sanitizers multiply what a process takes: then only the stages must have run
[ "${over:-0}" = 0 ] || { [ "${TALUS_SANITIZED:-0}" = 1 ] && [ -e out/avatars.done ]; } ||
  { fail "the large run"; tail -20 log.txt; }
for stage in phantom denoise binarize label avatars; do
  grep -q "^$stage " log.txt || fail "$stage is not in the table"
done
grep -q 'slab 2 of' log.txt || fail "denoise took the whole stack at once"
quiet() { "$@" >out.txt 2>err.txt || { fail "should work: $*"; sed 's/^/    /' err.txt; }; }
# shellcheck disable=SC2086
quiet "$BIN/talus-denoise" out/stack.tif -o d.tif $quick
quiet "$BIN/talus-binarize" out/denoised.tif -o m.h5
quiet "$BIN/talus-label" out/mask.h5 --grey=out/denoised.tif -o l.h5
for pair in "d.tif out/denoised.tif" "m.h5 out/mask.h5" "l.h5 out/labels.h5"; do
  read -r a b <<<"$pair"
  quiet "$BIN/talus-volume" histogram "$a" -o a.csv --overwrite
  quiet "$BIN/talus-volume" histogram "$b" -o b.csv --overwrite
  cmp -s a.csv b.csv || fail "$b has other greys than without --memory"
done
if "$here/pipeline/large.sh" out/stages.csv 5 >table.txt; then fail "a stage over the memory passes"; fi
grep -q '^denoise .* over 5' table.txt || fail "which stage went over is not said"
exit $bad
