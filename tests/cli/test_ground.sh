#!/usr/bin/env bash
# Ground of rockfall engineers: terrain.ground and the ground of classes reach the law of the pair as the table of
# docs/theory/ground.md has it; soft ground stops a block sooner than hard; two ranks, and a run that was stopped and
# resumed, give the frames of one run; what cannot be is refused. 8 seconds.
set -u
python=${PYTHON:-/usr/bin/python3} # Debian's, for which python3-h5py is installed
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
root=$(cd "$(dirname "$0")/../.." && pwd)
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

raster() { # VALUE OF ROW AND COLUMN in awk
  printf 'ncols 30\nnrows 30\nxllcorner 0\nyllcorner 0\ncellsize 5\n'
  awk 'BEGIN {for (r = 30; r > 0; r--) {for (c = 0; c < 30; c++) printf "%g ", '"$1"'; print ""}}'
}
raster '3 * r' >slope.asc
raster 'c < 15 ? 1 : 2' >cover.asc
"$BIN/talus-topo" slope.asc --catalog=c.tals --name=slope --classes=cover.asc >/dev/null 2>err || fail "$(cat err)"
cat >fall.yaml <<'YAML'
catalog: c.tals
seed: 3
time: {dt_s: 2.0e-3, duration_s: 4, frame_every_s: 1}
checkpoint: {every_steps: 700}
shapes: [{name: block, kind: superellipsoid, size_m: [1.2, 1, 0.8], exponent_e: 0.4, exponent_n: 0.4}]
grains: {shapes: [block], density_kg_m3: 2700}
release: {assembly: lattice, low_m: [50, 110, 0], high_m: [100, 130, 0], layers: 1, count: 12, above_ground_m: 1}
terrain: {name: slope}
contact: {friction: 0.6, restitution: 0.3}
YAML
for kind in extra-soft soft medium-soft medium medium-hard hard extra-hard; do
  solve fall.yaml -o $kind.run --set terrain.ground=$kind --set time.duration_s=0.01 --set checkpoint.every_steps=0
done
hash_of() { # --set ... ; the state after two seconds
  "$BIN/talus-solve" fall.yaml -o hash.run --overwrite --no-progress --set time.duration_s=2 "$@" 2>err | sed -n 's/^state_hash: //p'
}
soft=$(hash_of --set terrain.ground=soft)
[ "$(hash_of --set terrain.ground=medium --set terrain.ground_shift=-2)" = "$soft" ] || fail "medium, 2 kinds softer, is not soft"
[ "$(hash_of --set terrain.ground=extra-soft --set terrain.ground_shift=1)" = "$soft" ] || fail "extra-soft, 1 kind harder, is not soft"
half=$(hash_of --set terrain.ground=soft --set terrain.ground_shift=0.5)
[ ${#soft} = 16 ] && [ ${#half} = 16 ] && [ "$half" != "$soft" ] || fail "half a kind: $half, soft: $soft; $(cat err)"
[ "$(hash_of --set terrain.ground=soft --set terrain.ground_shift=-5)" = "$(hash_of --set terrain.ground=extra-soft)" ] || fail "softer than extra-soft"
solve fall.yaml -o long-soft.run --set terrain.ground=extra-soft
solve fall.yaml -o long-coulomb.run --set contact.boundary_friction=0.2 --set contact.boundary_restitution=0
# the report names the kinds whose values were not compared with a source, and stems whose energy was not given
told() { # RUN: what its report says of sources
  "$BIN/talus-report" "$1" -o told.html --overwrite -q >out 2>err || fail "the report of $1: $(cat err)"
  sed -n 's/^<li>\(.*not compared with a.* source.*\)<\/li>$/\1/p' told.html
}
told extra-hard.run >said; [ ! -s said ] || fail "extra-hard: $(cat said)"
told medium.run >said; grep -q 'published source: medium\.' said || fail "medium: $(cat said)"
sed 's/^terrain: .*/terrain: {name: slope, classes: [{id: 1, name: a, ground: extra-hard}, {id: 2, name: b, ground: soft, stems_per_ha: 50}]}/' \
  fall.yaml >wooded.yaml
solve wooded.yaml -o wooded.run --set time.duration_s=0.01
told wooded.run >said
[ "$(grep -c . said)" = 2 ] && grep -q 'published source: soft\.' said && grep -q 'stem takes' said || fail "classes and stems: $(cat said)"
solve fall.yaml -o shifted.run --set time.duration_s=0.01 --set terrain.ground=extra-hard --set terrain.ground_shift=-0.5 \
  --set terrain.forest.stems_per_ha=50 --set terrain.forest.stem_energy_kJ=100
told shifted.run >said
[ "$(grep -c . said)" = 1 ] && grep -q 'moved along their table: extra-hard' said || fail "shifted: $(cat said)"
# blocks that are not of rock, on ground whose values are of rock; on other ground nothing is said
light=(fall.yaml --set time.duration_s=0.01 --set grains.density_kg_m3=1000 -o light.run --overwrite --no-progress)
"$BIN/talus-solve" "${light[@]}" --set terrain.ground=soft >out 2>err || fail "light blocks: $(cat err)"
grep -q '12 blocks are of 1000 kg/m3 (material grain); rock has 2300 to 3000' err || fail "no word on the density: $(cat err)"
"$BIN/talus-report" light.run -o light.html -q >out 2>err || fail "the report of light blocks: $(cat err)"
grep -q '12 of 12 blocks have a density outside of 2300 to 3000' light.html || fail "the density is not in the report"
"$BIN/talus-mpirun" -n 2 "$BIN/talus-solve" "${light[@]}" --set terrain.ground=soft >out 2>err || fail "light blocks on two ranks: $(cat err)"
[ "$(grep -c '12 blocks are of 1000 kg/m3' err)" = 1 ] || fail "the density on two ranks: $(cat err)"
for more in "--set terrain.ground=soft --set grains.density_kg_m3=2700" ""; do
  # shellcheck disable=SC2086 # words
  "$BIN/talus-solve" "${light[@]}" $more >out 2>err || fail "a density: $(cat err)"
  grep -q 'kg/m3' err && fail "a word on a density that is none to talk of: $(cat err)"
done
sed 's/terrain: {name: slope}/terrain: {name: slope, ground: soft, classes: [{id: 1, ground: hard}, {id: 2}]}/' fall.yaml >classes.yaml
solve classes.yaml -o classes.run
talus_mpirun=$BIN/talus-mpirun
"$talus_mpirun" -n 2 "$BIN/talus-solve" classes.yaml -o two.run -q >out 2>err || fail "two ranks: $(cat err)"
solve classes.yaml -o part.run --set time.duration_s=2
"$BIN/talus-solve" classes.yaml -o part.run --resume -q >out 2>err || fail "resume: $(cat err)"

"$python" - "$root" <<'PYTHON' || bad=1
import glob, math, re, sys
import h5py, numpy as np
bad = False
def fail(text):
    global bad; bad = True; print("FAILED:", text)
def laws(run):
    f = h5py.File(run + "/run.h5"); p = f["pair"]
    names = [n.decode() if isinstance(n, bytes) else n for n in f["material/name"][:].ravel()]
    key = ("friction", "restitution", "slip_friction", "slip_decay_per_s", "slip_per_m", "drag_per_s")
    return {(names[i], names[j]): [float(p[k][:].ravel()[n]) for k in key] for n, (i, j) in enumerate(zip(p["first"][:].ravel(), p["second"][:].ravel()))}
table = {}
for line in open(sys.argv[1] + "/docs/theory/ground.md"):
    m = re.match(r"\| `([a-z-]+)` \| ([0-9.]+) \| ([0-9.]+) \| ([0-9.]+) \| ([0-9.]+) \| ([0-9.]+) \|", line)
    if m: table[m[1]] = [float(m[2]), 0, float(m[3]), float(m[4]), float(m[5]), float(m[6])]
if len(table) != 7: fail(f"the table of ground.md has {len(table)} kinds")
for kind, want in table.items():
    have = laws(kind + ".run")
    pair = [v for k, v in have.items() if kind + " ground" in k and "grain" in k]
    if pair != [want]: fail(f"{kind}: {pair}, not {want}")
    own = have["grain", "grain"]
    if own != [0.6, 0.3, 0, 0, 0, 0]: fail(f"grain on grain: {own}")
have = laws("classes.run")
if have.get(("grain", "terrain.classes.0")) != table["hard"] or have.get(("grain", "soft ground")) != table["soft"]: fail(f"classes: {have}")
def last(run):
    f = h5py.File(sorted(glob.glob(run + "/frame_*.h5"))[-1])
    o = np.argsort(f["id"][:].ravel())
    return f["position_m"][:].reshape(-1, 3)[o], f["velocity_m_s"][:].reshape(-1, 3)[o]
for run in ("two.run", "part.run"):
    for a, b in zip(last("classes.run"), last(run)):
        if not np.array_equal(a, b): fail(f"{run} differs from classes.run by {np.abs(a - b).max()}")
soft, free = last("long-soft.run")[0][:, 1].mean(), last("long-coulomb.run")[0][:, 1].mean()
if not soft > free + 2: fail(f"extra soft ground holds blocks at y = {soft}, Coulomb's friction of 0.2 at {free}")
sys.exit(bad)
PYTHON

refused 'ground and material exclude each other' -- fall.yaml -o no.run --set terrain.ground=soft --set terrain.material=boundary
refused 'ground excludes material, friction and restitution' -- classes.yaml -o no.run --set terrain.classes.0.friction=0.3
refused 'boundary_slip_friction' -- fall.yaml -o no.run --set contact.slip_friction=1
refused 'methods by impulses' -- fall.yaml -o no.run --set terrain.ground=soft --set solver.method=penalty --set penalty.normal_Pa_m=1e9 --set penalty.dt_s=1e-5
refused 'this study names none' -- fall.yaml -o no.run --set terrain.ground_shift=1
refused 'none|extra-soft' -- fall.yaml -o no.run --set terrain.ground=swamp
[ ! -e no.run ] || fail "a refused study left no.run"
exit $bad
