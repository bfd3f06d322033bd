#!/usr/bin/env bash
# Positions of a study in the terrain's CRS: the same run, bit for bit, as with local ones; local ones, exchanged
# axes and heights of the wrong frame are recognised. above_ground_m sets bodies and releases on the ground;
# where they then stand is compared with the closed form on an inclined plane, and read back by h5py.
# sanitized: reads places in several frames
set -u
python=${PYTHON:-/usr/bin/python3}
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
bad=0
fail() { echo "FAILED: $*"; bad=1; }
solve() { "$BIN/talus-solve" "$@" >out 2>err; }
says() { for text; do grep -qF -- "$text" err || { fail "'$text' is not in the message:"; cat err; }; done }
refused() { # arguments..., then -- TEXT...
  local arguments=()
  while [ "$1" != -- ]; do arguments+=("$1"); shift; done
  shift
  solve "${arguments[@]}" -o refused && fail "not refused: ${arguments[*]}"
  says "$@"
  rm -rf refused
}
hash_of() { sed -n 's/^state_hash: //p' "$1"; }

# a plane that rises by 2 m in 10 to the north; samples at east 1000005 + 10 i, north 5200005 + 10 j
{ printf 'ncols 30\nnrows 30\nxllcorner 1000000\nyllcorner 5200000\ncellsize 10\n'
  awk 'BEGIN {for (r = 30; r > 0; r--) {for (c = 0; c < 30; c++) printf "%g ", 1500 + 2 * r; print ""}}'; } >plane.asc
"$BIN/talus-topo" plane.asc --catalog=c.tals --name=slope >/dev/null || fail "the terrain"

# ---- the same study in local and in CRS coordinates ----
cat >common.yaml <<'YAML'
catalog: c.tals
time: {dt_s: 2.0e-3, duration_s: 0.4}
shapes: [{name: block, kind: box, size_m: [1.2, 1, 0.8]}, {name: ball, kind: sphere, diameter_m: 2}]
grains: {shapes: [block]}
terrain: {name: slope}
YAML
{ cat common.yaml; cat <<'YAML'
release: {assembly: lattice, low_m: [100, 100, 0], high_m: [140, 140, 0], layers: 1, count: 6, polygon: [{x_m: 104, y_m: 104}, {x_m: 136, y_m: 104}, {x_m: 120, y_m: 136}]}
bodies: [{shape: ball, position_m: [50, 60, 20]}]
planes: [{point_m: [0, 10, 0], normal: [0, 1, 0]}]
walls: [{kind: box, point_m: [200, 200, 45], size_m: [10, 2, 20]}]
nets: [{corner_m: [60, 40, 40], along_m: [3, 0, 0], across_m: [0, 3, 0], spacing_m: 0.5, radius_m: 0.05, stiffness_N_m: 100}]
YAML
} >local.yaml
{ cat common.yaml; cat <<'YAML'
crs: terrain
release: {assembly: lattice, low_m: [1000105, 5200105, 0], high_m: [1000145, 5200145, 0], layers: 1, count: 6, polygon: [{x_m: 1000109, y_m: 5200109}, {x_m: 1000141, y_m: 5200109}, {x_m: 1000125, y_m: 5200141}]}
bodies: [{shape: ball, position_m: [1000055, 5200065, 1522]}]
planes: [{point_m: [1000005, 5200015, 1502], normal: [0, 1, 0]}]
walls: [{kind: box, point_m: [1000205, 5200205, 1547], size_m: [10, 2, 20]}]
nets: [{corner_m: [1000065, 5200045, 1542], along_m: [3, 0, 0], across_m: [0, 3, 0], spacing_m: 0.5, radius_m: 0.05, stiffness_N_m: 100}]
YAML
} >crs.yaml
solve local.yaml -o local || fail "local: $(cat err)"; cp out local.txt
solve crs.yaml -o crs || fail "crs: $(cat err)"; cp out crs.txt
[ -n "$(hash_of local.txt)" ] && [ "$(hash_of local.txt)" = "$(hash_of crs.txt)" ] ||
  fail "other bits in the CRS: $(hash_of local.txt), $(hash_of crs.txt)"
# all columns but cpu_s, the last one
diff <(sed 's/,[^,]*$//' local/history.csv) <(sed 's/,[^,]*$//' crs/history.csv) >diff.txt || fail "history.csv differs: $(head -4 diff.txt)"
cmp -s local/study.yaml crs/study.yaml || fail "the effective studies differ: $(diff local/study.yaml crs/study.yaml)"
grep -q 'crs: local' crs/study.yaml || fail "the effective study is not local"
# as-scanned and from-run: from-run's position is a displacement, so an earlier run stays where it was
cat >again.yaml <<'YAML'
catalog: c.tals
crs: terrain
time: {dt_s: 2.0e-3, steps: 1}
shapes: [{name: block, kind: box, size_m: [1.2, 1, 0.8]}, {name: ball, kind: sphere, diameter_m: 2}]
release: {assembly: from-run, run: crs, frame: 0}
terrain: {name: slope}
YAML
solve again.yaml -o again || fail "from-run: $(cat err)"

# ---- the wrong frame ----
refused local.yaml --set 'bodies.0.position_m=[1000055,5200065,1522]' -- "coordinates of the terrain's CRS" \
  "crs: terrain at the top of the study" "x = 50, y = 60" "bodies.0.position_m"
refused crs.yaml --set 'bodies.0.position_m=[50,60,20]' -- "bodies.0.position_m" "coordinates of the terrain's local frame" \
  "write east 1000055, north 5200065"
refused crs.yaml --set 'release.low_m=[5200105,1000105,0]' --set 'release.high_m=[5200145,1000145,0]' -- "release.low_m" "when east and north are exchanged" \
  "covers east 1000005 to 1000295, north 5200005 to 5200295"
solve local.yaml -o high --set 'bodies.0.position_m=[50,60,1522]' || fail "a height of the CRS: $(cat err)"
says "bodies.0.position_m: z = 1522 m is 1510 m above the ground; did you mean 20" "above_ground_m"
grep -q "did you mean" <(solve local.yaml -o fine; cat err) && fail "a sound height is warned of"
refused local.yaml --set 'bodies.0.position_m=[5200065,1000055,20]' -- "bodies.0.position_m" "with north before east" "east 1000055, north 5200065"
# in the CRS, too, a height far above the ground is warned of, and a body where there is no ground at all is refused
solve crs.yaml -o tall --set 'bodies.0.position_m=[1000055,5200065,3022]' || fail "a tall start: $(cat err)"
says "bodies.0.position_m: starts 1508 m above the ground, at x = 1000055, y = 5200065, z = 3022 m of the CRS"
grep -q "above the ground" <(solve crs.yaml -o fine-crs; cat err) && fail "a sound height of the CRS is warned of"
sed -E 's/position_m: \[([^],]*), *([^],]*), *[^]]*\]/position_m: [\1, \2, 0], above_ground_m: 300/' crs.yaml >drop.yaml
solve drop.yaml -n
says "bodies.0.above_ground_m: starts 300 m above the ground: it is counted from the ground, not from sea level"
cat >alone.yaml <<'YAML'
catalog: c.tals
time: {dt_s: 2.0e-3, steps: 1}
shapes: [{name: ball, kind: sphere, diameter_m: 2}]
bodies: [{shape: ball, position_m: [-500, 60, 20]}]
terrain: {name: slope}
YAML
refused alone.yaml -- "bodies.0.position_m: lies off the terrain, at x = -500, y = 60 m (east 999505, north 5200065)" "covers x 0 to 290"
echo 'planes: [{point_m: [0, 0, -10], normal: [0, 0, 1]}]' >>alone.yaml
solve alone.yaml -o beside || fail "a body beside the terrain, over a plane: $(cat err)"
cat >nowhere.yaml <<'YAML'
crs: terrain
time: {dt_s: 2.0e-3, steps: 1}
shapes: [{name: ball, kind: sphere, diameter_m: 2}]
bodies: [{shape: ball, position_m: [1000055, 5200065, 1522]}]
planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]
YAML
refused nowhere.yaml -- "this study names no terrain" "leave crs out"

# ---- above the ground: a ball touches a plane of slope s at r sqrt(1 + s^2) above it ----
cat >stand.yaml <<'YAML'
catalog: c.tals
crs: terrain
gravity_m_s2: [0, 0, 0]
time: {dt_s: 1.0e-3, steps: 1}
shapes:
- {name: ball, kind: sphere, diameter_m: 2}
- {name: cube, kind: box, size_m: [2, 2, 2]}
terrain: {name: slope}
bodies:
- {shape: ball, position_m: [1000105, 5200105, 0], above_ground_m: 0}
- {shape: ball, position_m: [1000125, 5200105, 0], above_ground_m: 40, scale: 0.5}
- {shape: cube, position_m: [1000145, 5200105, 0], above_ground_m: 0.25}
- {shape: cube, position_m: [1000165, 5200105, 0], above_ground_m: 0, turn_deg: [11.309932474020213, 0, 0], count: 2, step_m: [0, 30, 0]}
- {position_m: [1000185, 5200105, 0], above_ground_m: 1, parts: [{shape: ball, position_m: [0, 0, 7]}, {shape: ball, position_m: [0, 3, 7]}]}
YAML
solve stand.yaml -o stand || fail "above_ground_m: $(cat err)"
"$python" - <<'PYTHON' || bad=1
import glob, h5py, math, sys
f = h5py.File(sorted(glob.glob("stand/frame_*.h5"))[0])
z = [float(p[2]) for p in f["position_m"][:]]
y = [float(p[1]) for p in f["position_m"][:]]
ground = lambda north: 0.2 * north                      # local, origin at height 1502
slant = math.sqrt(1 + 0.2 ** 2)
want = [ground(100) + slant, ground(100) + 40 + 0.5 * slant,
        ground(100) + 1 + 0.2 + 0.25,                   # an upright cube stands on its two northern corners
        ground(100) + slant, ground(130) + slant,       # turned along the slope: it lies on its face
        # two balls 3 m apart, the northern one touches: both 1 m above that
        ground(103) + slant + 1, ground(103) + slant + 1]
for k, w in enumerate(want):
    if abs(z[k] - w) > 1e-4:
        print(f"FAILED: body {k} stands at {z[k]:.6f}, not {w:.6f}"); sys.exit(1)
PYTHON
refused stand.yaml --set 'bodies.1.position_m=[1000905,5200105,0]' -- "bodies.1.position_m" "no terrain at x = 900, y = 100 m (east 1000905, north 5200105)"
sed '/^terrain/d; /^catalog/d; /^crs/d' stand.yaml >air.yaml
refused air.yaml -- "bodies.0.above_ground_m" "no terrain to stand on"

# releases: layers, depth_m and as-scanned are lifted by it, a box is not
cat >lift.yaml <<'YAML'
catalog: c.tals
gravity_m_s2: [0, 0, 0]
time: {dt_s: 1.0e-3, steps: 1}
shapes: [{name: ball, kind: sphere, diameter_m: 2}]
grains: {shapes: [ball]}
terrain: {name: slope}
release: {assembly: lattice, low_m: [100, 100, 0], high_m: [110, 110, 0], layers: 2, count: 20}
YAML
solve lift.yaml -o flat || fail "layers: $(cat err)"
solve lift.yaml -o lifted --set release.above_ground_m=7.5 || fail "layers lifted: $(cat err)"
drawn=(--set release.assembly=drawn --set release.layers=0 --set release.depth_m=3 --set release.count=9)
solve lift.yaml -o drawn "${drawn[@]}" || fail "drawn: $(cat err)"
solve lift.yaml -o drawn-lifted "${drawn[@]}" --set release.above_ground_m=7.5 || fail "drawn lifted: $(cat err)"
"$python" - <<'PYTHON' || bad=1
import glob, h5py, sys
def z(run): return h5py.File(sorted(glob.glob(run + "/frame_*.h5"))[0])["position_m"][:, 2]
a, b = z("flat"), z("lifted")
if len(a) != 20 or abs(b - a - 7.5).max() > 1e-9: print("FAILED: layers are not lifted by 7.5 m", b - a); sys.exit(1)
y = h5py.File(sorted(glob.glob("drawn-lifted/frame_*.h5"))[0])["position_m"][:, 1]
up = z("drawn-lifted") - 0.2 * y
if len(y) != 9 or up.min() < 7.5 or up.max() > 10.5: print("FAILED: drawn grains lie", up.min(), up.max()); sys.exit(1)
PYTHON
refused lift.yaml --set release.above_ground_m=5 --set release.layers=0 --set 'release.high_m=[110,110,60]' -- \
  "release.above_ground_m" "low_m and high_m"
exit $bad
