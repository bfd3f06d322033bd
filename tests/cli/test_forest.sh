#!/usr/bin/env bash
# terrain.forest: balls that fly straight through stems lose a whole number of stems' energies, as many as density,
# diameters and way give (a Poisson number, within four deviations); stems stand at the same places for two ranks, for
# blocks of an ensemble and for each of them alone, and elsewhere with another seed; over the stems and in a class
# without any nothing is lost; a stem that can take it all stops the ball; what cannot be is refused. 8 seconds.
set -u
python=${PYTHON:-/usr/bin/python3} # Debian's, for which python3-h5py is installed
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
bad=0
fail() { echo "FAILED: $*"; bad=1; }
solve() { "$BIN/talus-solve" "$@" -q >out 2>err || fail "$*: $(cat err)"; }
refused() { # TEXT -- arguments
  local text=$1; shift 2
  "$BIN/talus-solve" "$@" -q >out 2>err && fail "taken: $*"
  grep -qF -- "$text" err || fail "'$text' is not in the message: $(cat err)"
}
raster() { # VALUE of column c
  printf 'ncols 36\nnrows 30\nxllcorner 0\nyllcorner 0\ncellsize 5\n'
  awk 'BEGIN {for (r = 0; r < 30; r++) {for (c = 0; c < 36; c++) printf "%g ", '"$1"'; print ""}}'
}
raster 0 >flat.asc
raster 'c < 18 ? 1 : 2' >cover.asc
"$BIN/talus-topo" flat.asc --catalog=c.tals --name=flat --classes=cover.asc >/dev/null 2>err || fail "$(cat err)"
{ cat <<'YAML'
catalog: c.tals
crs: terrain
seed: 4
gravity_m_s2: [0, 0, 0]
free_fall: yes
time: {dt_s: 5.0e-3, duration_s: 5, frame_every_s: 5}
shapes: [{name: ball, diameter_m: 1}]
grains: {density_kg_m3: 2700}
terrain: {name: flat, forest: {stems_per_ha: 400, stem_diameter_m: 0.4, stem_height_m: 8, stem_energy_kJ: 1}, classes: [{id: 1}, {id: 2}]}
bodies:
YAML
  for k in $(seq 0 23); do
    echo "- {shape: ball, position_m: [10, $((5 + 6 * k)), 3], velocity_m_s: [30, 0, 0]}"
  done; } >fly.yaml
solve fly.yaml -o fly.run
"$BIN/talus-mpirun" -n 2 "$BIN/talus-solve" fly.yaml -o two.run -q >out 2>err || fail "two ranks: $(cat err)"
solve fly.yaml -o seed.run --set seed=5
solve fly.yaml -o over.run --set terrain.forest.stem_height_m=2.9
solve fly.yaml -o half.run --set terrain.classes.1.stems_per_ha=0
solve fly.yaml -o thick.run --set terrain.forest.stem_energy_kJ=1000
solve fly.yaml -o size.run --set terrain.forest.stem_energy_kJ=0 --set terrain.forest.stem_diameter_m=0.1
"$BIN/talus-ensemble" fly.yaml --set ensemble.count=24 --set ensemble.from=bodies --set time.rest_for_s=1 -o many.run --no-progress >out 2>err || fail "ensemble: $(cat err)"
"$python" - <<'PYTHON' || bad=1
import glob, math, sys
import h5py, numpy as np
bad = False
def fail(text):
    global bad; bad = True; print("FAILED:", text)
def speeds(run):
    f = h5py.File(sorted(glob.glob(run + "/frame_*.h5"))[-1])
    v = dict(zip(f["id"][:].ravel(), f["velocity_m_s"][:]))
    return np.array([v[i] for i in sorted(v)]), f["position_m"][:][np.argsort(f["id"][:].ravel())]
mass = 2700 * math.pi / 6
def hits(run, stem=1.0):
    v, x = speeds(run)
    if np.abs(v[:, 1:]).max() > 0: fail(f"{run}: the direction turns")
    n = (900 - (v ** 2).sum(1)) * 0.5 * mass / 1000 / stem
    if np.abs(n - np.round(n)).max() > 1e-6: fail(f"{run}: no whole stems: {n}")
    return np.round(n), x
def expect(name, n, expected):
    if abs(n.sum() - expected) > 4 * math.sqrt(expected): fail(f"{name}: {n.sum()} stems, {expected:.0f} expected")
fly, x = hits("fly.run")
expect("fly", fly, (0.04 * 1.4 * (x[:, 0] - 10)).sum())
if abs(fly.var(ddof=1) / fly.mean() - 1) > 1.2: fail(f"scatter: {fly}")
for run in ("two.run", "many.run"):
    if not np.array_equal(speeds(run)[0], speeds("fly.run")[0]): fail(f"{run} is not fly.run")
if np.array_equal(hits("seed.run")[0], fly): fail("another seed, the same stems")
if hits("over.run")[0].any(): fail("stems are higher than they are")
half, x = hits("half.run")
expect("half", half, 24 * 0.04 * 1.4 * 80)
if (half > fly).any(): fail("half of the forest has more stems")
thick, x = speeds("thick.run")
if np.abs(thick).max() > 0: fail(f"a ball goes on: {thick}")
energy = 38.7 * 10 ** 2.31 / 1000
n = (900 - (speeds("size.run")[0] ** 2).sum(1)) * 0.5 * mass / 1000 / energy
if np.abs(n - np.round(n)).max() > 1e-6 or not n.any(): fail(f"energy by the diameter: {n}")
sys.exit(bad)
PYTHON
refused 'terrain.forest: is of the methods by impulses' -- fly.yaml -o no.run --set solver.method=penalty --set penalty.normal_N_m=1e6
refused 'air_kg_m3: is of the methods by impulses' -- fly.yaml -o no.run --set solver.method=penalty --set penalty.normal_N_m=1e6 --set air_kg_m3=1.2 --set terrain.forest.stems_per_ha=0
refused 'they have drag_per_s, too; each is the drag of the ground' -- fly.yaml -o no.run --set terrain.ground=soft --set contact.boundary_scar_modulus_Pa=1e7
exit $bad
