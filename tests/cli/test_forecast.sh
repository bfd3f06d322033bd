#!/usr/bin/env bash
# make forecast of a chain, at small size: before anything is there, stages that go voxel by voxel have a time, the others
# say what they wait for, the sum is that of the lines above it, and nothing is written; with labels the avatars have one,
# with a catalog the solver; what is done has the cost that it had; a changed input is to do again; a study that is refused
# is refused here, too. The demo makes its scan first: its forecast makes it in a temporary folder. 50 seconds.
set -u
here=$PWD
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
bad=0
fail() { echo "FAILED: $*"; bad=1; }
export OMP_NUM_THREADS=1 OMPI_MCA_btl=self,vader
unset MAKEFLAGS MFLAGS
chain() { make -s -f "$here/pipeline/avalanche.mk" BIN="$BIN" STACK="a scan.tif" DEM=valley.asc OUT=out SAMPLE="it's" AVATAR_FLAGS=--method=distance \
  SET="grains.sample=it's time.duration_s=0.2 grains.grain_scale=1000" RENDER_FLAGS="--width=160 --height=100" "$@" >log.txt 2>err.txt; }
forecast() { chain forecast || fail "forecast: $(cat err.txt log.txt)"; }
line() { grep -E "^$1 +$2" log.txt || { fail "$1 is not '$2': $(cat log.txt)"; echo; }; }
seconds() { awk -v name="$1" '$1 == name {print $(NF > 3 ? ($2 == "done" ? 3 : 4) : 0)}' log.txt; }
sums() { # the sum is that of the lines to do, to the second
  awk '$2 == "to" && $4 != "?" {sum += $4} /^still to do/ {match($0, /(about|at least) [0-9.]+ s/); split(substr($0, RSTART, RLENGTH), w, " "); said = w[length(w) - 1]}
    END {exit !(said != "" && said - sum < 1.1 && sum - said < 1.1)}' log.txt || fail "the sum: $(cat log.txt)"
}
"$BIN/talus-phantom" --size=48,48,48 --d50-voxels=16 --voxel-size-um=20 --seed=4 -o "a scan.tif" -q >log.txt 2>&1 || fail phantom
"$BIN/talus-phantom" --terrain --seed=1 -o valley.asc -q >log.txt 2>&1 || fail valley

# ---- nothing is there ----
forecast
[ ! -e out ] || fail "a forecast writes: $(ls out)"
for stage in denoise binarize label; do line $stage 'to do +[0-9.]+ +[0-9.]+  --dry-run' >/dev/null; done
line binarize 'to do.*by the size of the stack, on one core' >/dev/null
line avatars 'to do +\? +\?  not known before labels.h5' >/dev/null
line solve 'to do +\? +\?  not known before avatars.done is there' >/dev/null
line topo 'to do +[0-9.]+ ' >/dev/null
line report 'to do +\? ' >/dev/null
sums
grep -q '^not in it: avatars, solve, measure, .*report' log.txt || fail "what is not in the sum: $(cat log.txt)"
grep -q 'at least' log.txt || fail "the sum is not said to be a part: $(cat log.txt)"

# ---- the demo, whose scan is not there yet ----
make -s -f "$here/pipeline/demo.mk" BIN="$BIN" OUT=demo forecast >log.txt 2>err.txt || fail "the demo: $(cat err.txt log.txt)"
[ ! -e demo ] || fail "the demo's forecast writes: $(ls demo)"
for stage in phantom valley; do line $stage 'to do +[0-9.]+ +[0-9.]+  tried in a temporary folder' >/dev/null; done
for stage in denoise binarize label topo; do line $stage 'to do +[0-9.]+ +[0-9.]+  --dry-run' >/dev/null; done
line avatars 'to do +\?' >/dev/null
sums

# ---- up to the labels, then up to the catalog ----
chain out/labels.h5 || { fail "labels"; cat err.txt; }
before=$(cd out && find . -type f -exec cksum {} +)
forecast
[ "$before" = "$(cd out && find . -type f -exec cksum {} +)" ] || fail "a forecast changes what is there"
for stage in denoise binarize label; do
  line $stage 'done' >/dev/null
  took=$(awk -F, -v s=$stage '$1 == s {printf "%.1f", $2}' out/stages.csv)
  [ "$(seconds $stage)" = "$took" ] || fail "$stage took $took, not $(seconds $stage)"
done
line avatars 'to do +[0-9.]+ +[0-9.]+  --dry-run, on one core' >/dev/null
line solve 'to do +\?' >/dev/null
sums
chain out/terrain.done || { fail "the catalog"; cat err.txt; }
forecast
line solve 'to do +[0-9.]+ +[0-9.]+  --dry-run: pace of its first steps' >/dev/null
sums
if chain forecast SET="grains.sample=it's time.duration_s=0.2 contact.friction=-1"; then fail "a friction of -1 has a forecast: $(cat log.txt)"; fi
grep -q 'contact.friction' err.txt || fail "the refusal is not shown: $(cat err.txt)"
line solve 'refused' >/dev/null
if chain forecast DEM=absent.asc; then fail "without a DEM: $(cat log.txt)"; fi
grep -q 'absent.asc' err.txt || fail "the missing file is not named: $(cat err.txt)"

# ---- all; a stage that is older than its input ----
chain || { fail "the chain"; tail -5 err.txt; }
forecast
grep -q '^nothing is left to do$' log.txt || fail "all is done: $(cat log.txt)"
grep -q 'to do  ' log.txt && fail "all is done: $(cat log.txt)"
rm out/measures.done
forecast
line measure 'to do +[0-9.]+ +[0-9.]+  what it took before here' >/dev/null
line solve 'done' >/dev/null
exit $bad
