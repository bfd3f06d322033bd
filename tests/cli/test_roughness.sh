#!/usr/bin/env bash
# terrain.roughness_m: the run's ground goes through the raster's plane on average, with normal deviates of the asked
# standard deviation that do not depend on each other, on cells that are small enough; classes stay where they were;
# another seed gives another ground, the same seed the same; blocks stand on it. 6 seconds.
set -u
python=${PYTHON:-/usr/bin/python3} # Debian's, for which python3-h5py is installed
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
bad=0
fail() { echo "FAILED: $*"; bad=1; }
solve() { "$BIN/talus-solve" "$@" -q >out 2>err || fail "$*: $(cat err)"; }

raster() { # VALUE OF ROW AND COLUMN in awk
  printf 'ncols 16\nnrows 12\nxllcorner 1000\nyllcorner 2000\ncellsize 5\n'
  awk 'BEGIN {for (r = 12; r > 0; r--) {for (c = 0; c < 16; c++) printf "%g ", '"$1"'; print ""}}'
}
raster '2 * r + c' >slope.asc
raster 'c < 8 ? 1 : 2' >cover.asc
"$BIN/talus-topo" slope.asc --catalog=c.tals --name=slope --classes=cover.asc >/dev/null 2>err || fail "$(cat err)"
cat >rest.yaml <<'YAML'
catalog: c.tals
time: {dt_s: 2.0e-3, duration_s: 1}
shapes: [{name: ball, diameter_m: 1}]
bodies: [{shape: ball, position_m: [40, 30, 0], above_ground_m: 0.5}]
terrain: {name: slope, roughness_m: 0.07, classes: [{id: 1}, {id: 2}]}
contact: {boundary_friction: 1, boundary_restitution: 0}
YAML
solve rest.yaml -o a.run
solve rest.yaml -o b.run
solve rest.yaml -o c.run --set seed=2 --set terrain.roughness_spacing_m=0.3
grep -q '^grains_deeper_than_2_percent: 0$' out || "$BIN/talus-measure" c.run -o m >out 2>err || fail "$(cat err)"
"$python" - <<'PYTHON' || bad=1
import sys
import h5py, numpy as np
bad = False
def fail(text):
    global bad; bad = True; print("FAILED:", text)
def ground(run):
    t = h5py.File(run + "/run.h5")["terrain"]; a = dict(t.attrs)
    nx, ny = int(a["nx"]), int(a["ny"])
    return t["height_m"][:].reshape(ny, nx), a, t["class_id"][:].reshape(ny, nx) if "class_id" in t else None
for run, n in (("a.run", 10), ("c.run", 17)):
    h, a, classes = ground(run)
    if h.shape != (11 * n + 1, 15 * n + 1) or not np.isclose(a["cell_m"], 5 / n): fail(f"{run}: {h.shape} samples every {a['cell_m']} m")
    j, i = np.mgrid[: h.shape[0], : h.shape[1]] / n
    off = h + a["origin"][2] - (2 * (j + 1) + i)
    k = off.size
    if abs(off.mean()) > 4 * 0.07 / np.sqrt(k): fail(f"{run}: mean {off.mean()}")
    if abs(off.std() / 0.07 - 1) > 4 / np.sqrt(2 * k): fail(f"{run}: standard deviation {off.std()}")
    for d in ((0, 1), (1, 0), (1, 1)):
        r = np.corrcoef(off[: h.shape[0] - d[0], : h.shape[1] - d[1]].ravel(), off[d[0]:, d[1]:].ravel())[0, 1]
        if abs(r) > 4 / np.sqrt(k): fail(f"{run}: neighbours {d} are correlated, {r}")
    if abs(((off / off.std()) ** 4).mean() - 3) > 0.2: fail(f"{run}: no normal deviates")
    if classes is not None and not np.array_equal(classes, np.where(i < 7.5, 1, 2)): fail(f"{run}: classes moved")
if not np.array_equal(ground("a.run")[0], ground("b.run")[0]): fail("the same seed gives another ground")
sys.exit(bad)
PYTHON
"$BIN/talus-solve" rest.yaml -o no.run -q --set terrain.roughness_spacing_m=0.001 >out 2>err && fail "taken: 4e9 samples"
grep -qF 'a larger roughness_spacing_m' err || fail "the message: $(cat err)"
exit $bad
