#!/usr/bin/env bash
# What cannot be meant is refused or warned of, with what was probably meant: density in g/cm3, gravity that
# points away from the ground, no ground, a step that is too long, positions in CRS coordinates. --quiet
# prints nothing, -o . is refused where files lie. talus-catalog says where a terrain's origin is.
set -u
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
export OMP_NUM_THREADS=1
bad=0
fail() { echo "FAILED: $*"; bad=1; }
solve() { "$BIN/talus-solve" "$@" >out 2>err; }
says() { # TEXT...
  for text; do grep -qF -- "$text" err || { fail "'$text' is not in the message:"; cat err; }; done
}
refused() { # arguments..., then -- TEXT...
  local arguments=()
  while [ "$1" != -- ]; do arguments+=("$1"); shift; done
  shift
  solve "${arguments[@]}" -o refused && fail "not refused: ${arguments[*]}"
  says "$@"
  [ ! -e refused ] || { fail "results of a refused study: ${arguments[*]}"; rm -rf refused; }
}

cat >balls.yaml <<'YAML'
time: {dt_s: 1.0e-3, duration_s: 0.1}
shapes: [{name: ball, kind: sphere, diameter_m: 0.02}]
bodies: [{shape: ball, position_m: [0, 0, 0.011], count: 3, step_m: [0, 0, 0.0201]}]
YAML
# what is no study, and no run to resume
mkdir some.run
refused some.run -- "some.run: is a folder, and a study is a file" "--resume some.run continues the run"
solve --resume balls.yaml --set free_fall=yes && fail "a run that is not there is resumed"
says "balls.run: there is no such folder of results, and so no run to resume"
echo "# nothing" >empty.yaml
refused empty.yaml -- "empty.yaml: the study is empty"
printf 'time:\n\tdt_s: 1.0e-3\n' >tab.yaml
refused tab.yaml -- "tab.yaml:2:1: a tab; YAML sets lines in with spaces"
refused balls.yaml --set penalty.normal_N_m=1e4 --set solver.method=penalty -- \
  "balls.yaml: penalty.normal_Pa_m: is needed for law linear with spread traction; normal_N_m is of law: linear"
# bodies are called by their names
cat >jaw.yaml <<'YAML'
time: {dt_s: 1.0e-3, duration_s: 0.1}
shapes: [{name: ball, kind: sphere, diameter_m: 0.02}]
bodies:
- {shape: ball, position_m: [0, 0, 0], count: 2, step_m: [0, 0, 1]}
- {name: jaw, shape: ball, position_m: [0, 0, 0.001]}
free_fall: yes
YAML
solve jaw.yaml -o jaw.run && fail "a body in another is taken"
says "the body 'jaw' (id 2) lies" "deep in grain 0 (shape 'ball')"

{ cat balls.yaml; echo "planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]"; } >heap.yaml

# ---- a sound study: no warning, and nothing at all with --quiet ----
solve heap.yaml -o sound || fail "the sound study: $(cat err)"
grep -q warning err && fail "a sound study is warned of: $(cat err)"
solve heap.yaml -o quiet -q || fail "-q: $(cat err)"
[ ! -s out ] && [ ! -s err ] || fail "--quiet prints: $(cat out err)"
[ -s quiet/history.csv ] || fail "no results with --quiet"
solve heap.yaml -q --json -o json || fail "-q --json"
grep -q '"state_hash"' out || fail "--quiet leaves out what --json asked for"

# ---- -o . ----
solve heap.yaml -o . && fail "-o . was taken"
says "-o .: is the current folder and not empty" "-o results"
[ ! -e history.csv ] && [ ! -e run.h5 ] || fail "-o . left files: $(ls)"
rm -f history.csv run.h5
mkdir empty; (cd empty && "$BIN/talus-solve" ../heap.yaml -q -o .) || fail "-o . in an empty folder"
[ -e empty/history.csv ] || fail "nothing in the empty folder"

# ---- density ----
cat >lattice.yaml <<'YAML'
time: {dt_s: 1.0e-3, duration_s: 0.002}
shapes: [{name: pebble, kind: superellipsoid, size_m: [0.02, 0.016, 0.014], spacing_m: 2.0e-3, nodes: 40}]
grains: {shapes: [pebble]}
release: {assembly: lattice, low_m: [0, 0, 0], high_m: [0.05, 0.05, 0.03]}
planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]
YAML
solve lattice.yaml -o light --set grains.density_kg_m3=2.65 || fail "density 2.65: $(cat err)"
says "warning: grains.density_kg_m3: 2.65 kg/m3" "did you mean 2650"
solve lattice.yaml -o heavy --set grains.density_kg_m3=5e4 || fail "density 5e4: $(cat err)"
says "warning: grains.density_kg_m3: 50000 kg/m3"
solve lattice.yaml -o stone --set grains.density_kg_m3=2650 || fail "density 2650: $(cat err)"
grep -q density err && fail "2650 kg/m3 is warned of"

# ---- no ground, gravity upwards ----
refused balls.yaml -- "balls.yaml" "there is no ground" "normal: [0, 0, 1]" "free_fall: yes"
solve balls.yaml -o fall --set free_fall=yes || fail "free_fall: $(cat err)"
solve balls.yaml -o space --set 'gravity_m_s2=[0,0,0]' || fail "without gravity: $(cat err)"
refused heap.yaml --set 'gravity_m_s2=[0,0,9.81]' -- "points away from all" "did you mean [0, 0, -9.81]?"

# ---- a step that is too long ----
refused heap.yaml --set time.dt_s=0.05 -- "time.dt_s" "0.05 s is too long" "would do"
grep -qi "shape\|avatar" err && fail "the long step is blamed on shapes: $(cat err)"
advised=$(sed -n 's/.*through others; \([0-9.e-]*\) s would do.*/\1/p' err)
solve heap.yaml -o advised --set time.dt_s="$advised" --set time.duration_s=0.01 || fail "the advised step: $(cat err)"
grep -q "time.dt_s" err && fail "the advised step is warned of: $(cat err)"
solve heap.yaml -o long --set time.dt_s=0.02 || fail "dt 0.02: $(cat err)"
says "warning: time.dt_s: 0.02 s is long"
# of a method with a step of its own, the key of its section is named
soft=(--set solver.method=penalty --set penalty.normal_Pa_m=1 --set penalty.normal_N_m=1e-3)
refused heap.yaml "${soft[@]}" --set penalty.dt_s=0.05 -- "penalty.dt_s" "0.05 s is too long"
solve heap.yaml -o soft "${soft[@]}" --set penalty.dt_s=0.02
says "warning: penalty.dt_s: 0.02 s is long"
# balls thrown at each other end deep inside each other: the step is to blame, and the advised one does
cat >thrown.yaml <<'YAML'
gravity_m_s2: [0, 0, 0]
time: {dt_s: 2.0e-3, duration_s: 0.02}
shapes: [{name: ball, kind: sphere, diameter_m: 0.02}]
bodies:
- {shape: ball, position_m: [0, 0, 0], velocity_m_s: [8, 0, 0]}
- {shape: ball, position_m: [0.0461, 0, 0], velocity_m_s: [-8, 0, 0]}
YAML
solve thrown.yaml -o thrown
says "too long" "time.dt_s"
grep -qi "avatar" err && fail "the long step of thrown balls is blamed on shapes: $(cat err)"
advised=$(sed -n 's/.*time.dt_s: \([0-9.e-]*\) would do.*/\1/p; s/.*happen, \([0-9.e-]*\) s would do.*/\1/p' err | tail -1)
solve thrown.yaml -o slow --set time.dt_s="$advised" || fail "thrown with the advised step: $(cat err)"
grep -q "too long" err && fail "thrown with $advised s: $(cat err)"

# ---- positions in CRS coordinates, a terrain's origin ----
{ printf 'ncols 30\nnrows 30\nxllcorner 1000000\nyllcorner 5200000\ncellsize 10\n'
  awk 'BEGIN {for (r = 30; r > 0; r--) {for (c = 0; c < 30; c++) printf "%g ", 1500 + 2 * r; print ""}}'; } >plane.asc
"$BIN/talus-topo" plane.asc --catalog=c.tals --name=slope >/dev/null || fail "the terrain"
cat >slope.yaml <<'YAML'
catalog: c.tals
time: {dt_s: 5.0e-3, duration_s: 0.02}
shapes: [{name: block, kind: sphere, diameter_m: 4}]
grains: {shapes: [block]}
release: {assembly: lattice, low_m: [100, 100, 0], high_m: [140, 140, 60]}
terrain: {name: slope}
YAML
solve slope.yaml -o local || fail "positions in the local frame: $(cat err)"
refused slope.yaml --set 'release.low_m=[1000105,5200105,0]' --set 'release.high_m=[1000145,5200145,60]' -- \
  "--set release.low_m" "east 1000005, north 5200005, height 1502 m" "subtract the origin" "x = 100, y = 100"
list=$("$BIN/talus-catalog" list c.tals)
[[ "$list" == *"local origin at east 1000005, north 5200005, height 1502 m"* ]] || fail "list says no origin: $list"
shown=$("$BIN/talus-catalog" show c.tals --terrain=slope)
for text in "origin: east 1000005, north 5200005, height 1502 m" "local_extent: x 0 to 290, y 0 to 290 m" \
  "extent_of_samples: east 1000005 to 1000295, north 5200005 to 5200295 m" "crs: none"; do
  [[ "$shown" == *"$text"* ]] || fail "show --terrain does not say '$text': $shown"
done
# a catalog with one terrain needs no name; with several it does; a CRS comes with its code
[ "$("$BIN/talus-catalog" show c.tals)" = "$shown" ] || fail "show without --terrain is not the only terrain"
"$BIN/talus-topo" plane.asc --catalog=c.tals --name=utm --crs=EPSG:32632 >/dev/null || fail "the second terrain"
"$BIN/talus-catalog" show c.tals >out 2>err && fail "show without --terrain among two"
says "has 2 terrains" "--terrain=NAME" "slope, utm"
"$BIN/talus-catalog" show c.tals --terrain=utm | grep -qxF "crs: WGS 84 / UTM zone 32N (EPSG:32632)" || fail "no code of the CRS"
"$BIN/talus-catalog" show c.tals --terrain=hill >out 2>err && fail "a terrain that is not there"
says "no terrain 'hill'" "talus-catalog list"
[ -n "$("$BIN/talus-catalog" list c.tals -q)" ] || fail "a listing prints nothing with -q"
# ---- an inlet that is blocked: how many were due, how many came, and why ----
cat >inlet.yaml <<'YAML'
time: {dt_s: 1.0e-3, duration_s: 0.6, until_rest: true}
shapes: [{name: ball, diameter_m: 0.04}]
grains: {shapes: [ball]}
release: {assembly: poured, low_m: [0, 0, 0], high_m: [0.05, 0.05, 0.12], rate_per_s: 100, count: 70}
walls: [{kind: box, grains: inside, size_m: [0.05, 0.05, 0.2], point_m: [0.025, 0.025, 0.1]}]
solver: {method: nonsmooth}
nonsmooth: {young_Pa: 1.0e+7}
YAML
solve inlet.yaml -o inlet || fail "inlet.yaml: $(cat err)"
there=$(sed -n 's/^grains: //p' out)
[ "$(sed -n 's/^grains_not_poured: //p' out)" = $((70 - there)) ] || fail "grains that were not poured: $(cat out)"
says "the inlet let in $there of the 59 grains that were due by release.rate_per_s of 100: for $((59 - there)) there was no free place" \
  "before it came to rest: $((70 - there)) of 70 grains have not been poured yet, $((59 - there)) of them for want of a free place in the inlet and 11 that are due later"
"$BIN/talus-report" inlet -o inlet.html >/dev/null 2>err || fail "talus-report: $(cat err)"
grep -qF "The inlet let in $there of the 59 grains that were due by release.rate_per_s of 100" inlet.html ||
  fail "the report does not say that the inlet was blocked"
# one that lets all in, but later; one that keeps its rate; without a rate
free=(--set "walls=[{kind: plane}]" --set "release.low_m=[0, 0, 1]" --set "release.high_m=[0.05, 0.05, 1.05]" --set time.until_rest=false)
solve inlet.yaml -o late "${free[@]}" --set release.count=4 || fail "late: $(cat err)"
says "the inlet did not keep release.rate_per_s of 100: up to" "of 4 grains that were due waited at once"
[ "$(sed -n 's/^grains_not_poured: //p' out)" = 0 ] || fail "late: $(cat out)"
solve inlet.yaml -o kept "${free[@]}" --set release.count=4 --set release.rate_per_s=10 || fail "kept: $(cat err)"
grep -q "the inlet" err && fail "an inlet that keeps its rate is warned of: $(cat err)"
solve inlet.yaml -o first "${free[@]}" --set release.rate_per_s=0 || fail "first: $(cat err)"
says "of the 70 grains that were due: for"

# ---- sinks that take all there is at once ----
cat >sunk.yaml <<'YAML'
time: {dt_s: 1.0e-3, steps: 3}
shapes: [{name: ball, diameter_m: 0.02}]
grains: {shapes: [ball]}
release: {assembly: lattice, low_m: [0, 0, 0.1], high_m: [0.05, 0.05, 0.15]}
sinks:
- {kind: box, point_m: [9, 9, 9], size_m: [1, 1, 1]}
- {kind: plane, normal: [0, 0, -1]}
planes: [{point_m: [0, 0, -1], normal: [0, 0, 1]}]
YAML
solve sunk.yaml -o sunk || fail "sunk.yaml: $(cat err)"
says "sinks.1: 8 of 8 grains lie in it at the start" "its normal points to where grains stay: is normal the other way round?"
solve sunk.yaml -o in --set release.assembly=poured --set release.count=5 || fail "an inlet in a sink: $(cat err)"
says "sinks.1: all of the inlet from release.low_m to release.high_m lies in it" "is normal the other way round?"
solve sunk.yaml -o right --set sinks.1.normal=[0,0,1] || fail "a sink below: $(cat err)"
grep -q "sinks" err && fail "a sink that lies below is warned of: $(cat err)"
exit $bad
