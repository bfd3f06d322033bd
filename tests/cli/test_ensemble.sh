#!/usr/bin/env bash
# talus-ensemble: a block of an ensemble is the run of that block alone, bit for bit; one thread and two, 20 blocks and
# 60, one rank and two, and an ensemble that was killed and resumed on another number of ranks give the same; numbers
# drawn from ranges lie in them, reach the block and stand in blocks.csv, with their rank correlations recomputed; blocks that start at one place do not meet; places,
# volumes, turns and velocities are drawn as the study says; maxima over all steps, counts, mean, quantiles and their
# errors are recomputed; talus-measure reads the folder; what cannot be is refused at its line. 50 seconds.
set -u
# shellcheck source=tests/support/ensemble.sh
. "$(dirname "$0")/../support/ensemble.sh"
cat >hill.yaml <<'YAML'
title: hill
catalog: c.tals
crs: terrain
seed: 5
time: {dt_s: 4.0e-3, duration_s: 16, frame_every_s: 0.4}
shapes:
- {name: slab, kind: superellipsoid, size_m: [2.4, 2, 1], exponent_e: 0.5, exponent_n: 0.5, nodes: 200}
- {name: block, kind: superellipsoid, size_m: [2, 1.8, 1.6], exponent_e: 0.7, exponent_n: 0.7, nodes: 200}
- {name: unused, diameter_m: 1}
grains: {shapes: [slab, block], density_kg_m3: 2700}
release:
  low_m: [600040, 5100130, 0]
  high_m: [600080, 5100160, 0]
  polygon: [{x_m: 600040, y_m: 5100130}, {x_m: 600080, y_m: 5100130}, {x_m: 600040, y_m: 5100160}]
  above_ground_m: 0.5
  velocity_m_s: [0, -1, 0]
terrain: {name: hill}
contact: {boundary_friction: 0.5, boundary_restitution: 0.4}
ensemble: {count: 60, least_volume_m3: 1, most_volume_m3: 8, velocity_spread_m_s: [0.5, 0.5, 0]}
YAML

# ---- one thread and two; fewer blocks ----
ensemble hill.yaml -o one.run -@ 1
cp out one.txt
ensemble hill.yaml -o two.run -@ 2
ensemble hill.yaml -o few.run --set ensemble.count=20
# which runouts are too small for blocks that left or still moved: those quantiles that are not below the shortest of theirs
ensemble hill.yaml -o cut.run --set time.duration_s=6
cp out cut.out; cp err cut.err
"$python" - <<'PYTHON' || fail "which runouts are too small: $(cat cut.err)"
import csv, re, sys
import numpy as np
rows = list(csv.DictReader(open("cut.run/blocks.csv")))
said = open("cut.err").read()
have = np.array([float(r["runout_m"]) for r in rows if r["end"] != "not started"])
names = (("median", 0.5), ("90_percent", 0.9), ("95_percent", 0.95), ("99_percent", 0.99))
listed = 0
for end, text in (("moving", "still moved"), ("left", "left the terrain")):
    theirs = [float(r["runout_m"]) for r in rows if r["end"] == end]
    line = re.search(rf"(\d+) blocks? {text}[^\n]*too small are: ([^;]*);", said)
    if not theirs:
        assert not line, line.group(0)
        continue
    want = ["runout_mean"] + ["runout_" + n for n, p in names if np.quantile(have, p) >= min(theirs)]
    assert line and int(line.group(1)) == len(theirs) and line.group(2).split(", ") == want, f"{line and line.group(0)} is not {want}"
    listed += len(want) > 1
sys.exit(0 if listed else f"the case shows nothing: {[r['end'] for r in rows]}")
PYTHON
"$BIN/talus-ensemble" hill.yaml -o none.run --set ensemble.least_volume_m3=1e-4 >out 2>err && fail "blocks far smaller than the ground's cells"
grep -q 'ensemble.least_volume_m3: a block of 0.0001 m3 is 0.058 m across, under 1/20 of the' err || fail "small blocks: $(cat err)"
ensemble hill.yaml -o small.run --set ensemble.least_volume_m3=0.02 --set ensemble.most_volume_m3=0.03 --set ensemble.count=1 --set time.duration_s=1
grep -q '1 of 1 blocks are smaller across than the ground.s cell of' err || fail "no word on small blocks: $(cat err)"
for f in blocks.csv departures.csv history.csv study.yaml; do cmp one.run/$f two.run/$f || fail "$f differs with two threads"; done
cmp few.run/blocks.csv <(head -21 one.run/blocks.csv) || fail "20 blocks are not the first 20 of 60"
[ ! -e one.run/blocks ] || fail "parts were left behind: $(ls one.run/blocks)"
[ -z "$(find one.run -name "*.tmp")" ] || fail "left behind: $(ls one.run)"

# ---- each of some blocks alone ----
for k in 0 7 33 59; do
  "$BIN/talus-ensemble" hill.yaml --block=$k >alone.$k.yaml 2>err || fail "--block=$k: $(cat err)"
  "$BIN/talus-solve" alone.$k.yaml -o alone.$k -q >out 2>err || fail "block $k alone: $(cat err)"
done

# ---- ranges: of a pair with its copies for each density, of the density, and of kinds of ground ----
sed -e '/^ensemble/d' -e 's/^terrain.*/terrain: {name: hill, material: meadow}/' hill.yaml >ranges.yaml
cat >>ranges.yaml <<'YAML'
materials: [{name: meadow}]
pairs: [{between: [grain, meadow], friction: 0.5, restitution: 0.3}]
ensemble:
  count: 60
  ranges:
  - {key: pairs.0.friction, low: 0.2, high: 0.8, law: log}
  - {key: pairs.0.restitution, low: 0, high: 0.6}
  - {key: density_kg_m3, low: 2400, high: 2900}
YAML
ensemble ranges.yaml -o ranges.run -@ 2
cp out ranges.txt
"$BIN/talus-mpirun" -n 2 "$BIN/talus-ensemble" ranges.yaml -o ranks.run -q >out 2>err || fail "two ranks: $(cat err)"
for f in blocks.csv departures.csv history.csv cells.csv study.yaml; do cmp ranges.run/$f ranks.run/$f || fail "$f differs with two ranks"; done
[ ! -e ranks.run/blocks ] || fail "parts of two ranks were left behind: $(ls ranks.run/blocks)"
for k in 3 20; do
  "$BIN/talus-ensemble" ranges.yaml --block=$k >drawn.$k.yaml 2>err || fail "--block=$k of ranges: $(cat err)"
  "$BIN/talus-solve" drawn.$k.yaml -o drawn.$k -q >out 2>err || fail "block $k of ranges alone: $(cat err)"
done
"$BIN/talus-report" ranges.run one.run -o ranges.html >/dev/null 2>err || fail "a report of ranges: $(cat err)"
sed -e '/^ensemble/d' -e 's/^terrain.*/terrain: {name: hill, ground: medium}/' hill.yaml >ground.yaml
echo 'ensemble: {count: 40, ranges: [{key: terrain.ground_shift, low: -3, high: 3}]}' >>ground.yaml
ensemble ground.yaml -o ground.run --set time.duration_s=12
"$BIN/talus-ensemble" ground.yaml --set time.duration_s=12 --block=5 >ground.5.yaml 2>err || fail "--block=5 on shifted ground: $(cat err)"
"$BIN/talus-solve" ground.5.yaml -o ground.5 -q >out 2>err || fail "block 5 on shifted ground: $(cat err)"

# ---- what talus-measure makes of it ----
"$BIN/talus-measure" one.run -o measures --maps=tif --trajectories=csv >measured 2>err || fail "talus-measure: $(cat err)"
grep -q '^map_blocks: 60$' measured || fail "maps: $(grep map_ measured)"
grep -q '^overlapping_pairs: 0$' measured || fail "blocks that never met overlap: $(grep overlap measured)"
"$BIN/talus-report" one.run -o report.html >/dev/null 2>err || fail "talus-report: $(cat err)"

"$python" - <<'PYTHON' || bad=1
import csv, glob, math, sys
import h5py, numpy as np
from osgeo import gdal
gdal.UseExceptions()
bad = False
def fail(text):
    global bad; bad = True; print("FAILED:", text)
def frames(folder): return [h5py.File(path) for path in sorted(glob.glob(folder + "/frame_*.h5"))]
columns = ("position_m", "rotation_wxyz", "velocity_m_s", "spin_rad_s", "scale")
one, two = frames("one.run"), frames("two.run")
if open("one.run/cells.csv").read() != open("two.run/cells.csv").read(): fail("cells.csv differs with two threads")
if len(one) != len(two) or len(one) < 20: fail(f"{len(one)} and {len(two)} frames")
for f, g in zip(one, two):
    for name in f:
        if not np.array_equal(f[name][()], g[name][()]): fail(f"{f.filename}: {name} differs with two threads")
blocks = list(csv.DictReader(open("one.run/blocks.csv")))
ends = [b["end"] for b in blocks]
for end in ("stopped", "left"):
    if end not in ends: fail(f"the case shows nothing: no block has {end}")
origin = dict(h5py.File("one.run/run.h5")["terrain"].attrs)["origin"]
followed = 0
for k in (0, 7, 33, 59):
    b, alone = blocks[k], frames(f"alone.{k}")
    at = {int(f.attrs["step"]): f for f in one}
    for f in alone:
        step = int(f.attrs["step"])
        if step not in at or len(f["id"]) == 0 or step * 4e-3 > float(b["time_s"]) - 1e-9: continue
        g = at[step]; i = list(g["id"][:].ravel()).index(k); followed += 1
        for name in columns:
            if not np.array_equal(f[name][0], g[name][i]): fail(f"block {k}, step {step}: {name} {g[name][i]} is {f[name][0]} alone")
    last = [f for f in alone if len(f["id"])][-1]
    gone = list(csv.DictReader(open(f"alone.{k}/departures.csv")))
    place = [float(gone[0][c]) for c in ("x_m", "y_m", "z_m")] if gone else last["position_m"][0]
    if bool(gone) != (b["end"] == "left"): fail(f"block {k}: {b['end']}, alone {gone}")
    if [float(b[c]) for c in ("end_east_m", "end_north_m", "end_height_m")] != list(np.array(place) + origin): fail(f"block {k} ends elsewhere than alone")
    history = list(csv.DictReader(open(f"alone.{k}/history.csv")))   # a line a step
    most = max(float(r["kinetic_energy_J"]) for r in history) / 1000
    if not gone and not math.isclose(most, float(b["largest_energy_kJ"]), rel_tol=1e-9): fail(f"block {k}: largest energy {b['largest_energy_kJ']}, alone {most}")
    if gone and most > float(b["largest_energy_kJ"]) * (1 + 1e-9): fail(f"block {k}: largest energy {b['largest_energy_kJ']}, alone {most}")
if followed < 60: fail(f"only {followed} poses were compared")

# ---- what is drawn ----
volume = np.array([float(b["volume_m3"]) for b in blocks])
if volume.min() < 1 or volume.max() > 8 or not 3.5 < volume.mean() < 5.5: fail(f"volumes {volume}")
if any(not math.isclose(float(b["mass_kg"]), 2700 * float(b["volume_m3"]), rel_tol=1e-9) for b in blocks): fail("masses")
if {b["shape"] for b in blocks} != {"slab", "block"}: fail("shapes")
u = np.array([(float(b["start_east_m"]) - 600040) / 40 for b in blocks]); v = np.array([(float(b["start_north_m"]) - 5100130) / 30 for b in blocks])
if u.min() < 0 or v.min() < 0 or (u + v).max() > 1: fail("a block starts outside the polygon")
if abs(u.mean() - 1 / 3) > 0.12 or abs(v.mean() - 1 / 3) > 0.12: fail(f"places are not even: {u.mean()} {v.mean()}")
q = one[0]["rotation_wxyz"][:]
axis = np.stack([2 * (q[:, 1] * q[:, 3] + q[:, 0] * q[:, 2]), 2 * (q[:, 2] * q[:, 3] - q[:, 0] * q[:, 1]), 1 - 2 * (q[:, 1] ** 2 + q[:, 2] ** 2)])
if np.abs(axis.mean(1)).max() > 0.3 or np.abs((axis[:, None] * axis[None]).mean(2) - np.eye(3) / 3).max() > 0.15: fail("orientations are not even")
w = one[0]["velocity_m_s"][:]
if np.abs(w - [0, -1, 0]).max() > 0.5 or np.abs(w[:, :2] - [0, -1]).max() < 0.4 or np.abs(w[:, 2]).max() > 0: fail("velocities")
for b in blocks:
    d = math.dist((float(b["start_east_m"]), float(b["start_north_m"])), (float(b["end_east_m"]), float(b["end_north_m"])))
    if not math.isclose(d, float(b["runout_m"]), rel_tol=1e-6): fail(f"runout of block {b['id']}")

# ---- the summary ----
says = dict(line.rstrip("\n").split(": ", 1) for line in open("one.txt"))
for end, name in (("stopped", "stopped"), ("moving", "moving"), ("left", "left"), ("not started", "not_started")):
    if int(says["blocks_" + name]) != ends.count(end): fail(f"blocks_{name}")
x = np.sort([float(b["runout_m"]) for b in blocks if b["end"] != "not started"]); n = len(x)
def same(name, value):
    if not math.isclose(float(says[name].split()[0]), value, rel_tol=1e-5): fail(f"{name} is {says[name]}, not {value}")
same("runout_mean", x.mean()); same("runout_mean_error", x.std(ddof=1) / math.sqrt(n))
for p, name in ((0.5, "median"), (0.9, "90_percent"), (0.95, "95_percent"), (0.99, "99_percent")):
    same("runout_" + name, np.quantile(x, p))
    aside = math.sqrt(p * (1 - p) / n)
    if p + aside <= 1: same(f"runout_{name}_error", (np.quantile(x, p + aside) - np.quantile(x, p - aside)) / 2)
    elif says[f"runout_{name}_error"] != "too few blocks": fail(f"the error of {name}")
same("largest_speed", max(float(b["largest_speed_m_s"]) for b in blocks))

# ---- ranges ----
def ranks(x): # of equal ones the mean
    order = np.argsort(x, kind="stable"); rank = np.empty(len(x)); s = np.asarray(x)[order]
    for i in range(len(x)): rank[order[i]] = (np.searchsorted(s, s[i], "left") + np.searchsorted(s, s[i], "right") - 1) / 2
    return rank
for name, base in (("ranges", 2700), ("ground", 2700)):
    rows = list(csv.DictReader(open(f"{name}.run/blocks.csv")))
    summary = dict(line.rstrip("\n").split(": ", 1) for line in open("ranges.txt")) if name == "ranges" else {}
    limits = {"ranges": {"pairs.0.friction": (0.2, 0.8), "pairs.0.restitution": (0, 0.6), "density_kg_m3": (2400, 2900)}, "ground": {"terrain.ground_shift": (-3, 3)}}[name]
    for key, (low, high) in limits.items():
        x = np.array([float(r[key]) for r in rows])
        middle = math.sqrt(low * high) if key == "pairs.0.friction" else (low + high) / 2
        if x.min() < low or x.max() > high or np.ptp(x) < 0.8 * (high - low): fail(f"{key}: drawn from {x.min()} to {x.max()}")
        if len(x) > 50 and abs(np.median(x) - middle) > 0.13 * (high - low): fail(f"{key}: the median is {np.median(x)}, of the law {middle}")
        if not summary: continue
        started = [i for i, r in enumerate(rows) if r["end"] != "not started"]
        a = ranks(x[started])
        for what, column in (("runout", "runout_m"), ("energy", "largest_energy_kJ")):
            b = ranks([float(rows[i][column]) for i in started])
            line = f"{key.replace('.', '_')}_rank_correlation_with_{what}"
            if abs(float(summary[line]) - np.corrcoef(a, b)[0, 1]) > 1e-5: fail(f"{line}: {summary[line]}, recomputed {np.corrcoef(a, b)[0, 1]}")
        quarter = np.argsort(x[started], kind="stable"); n = len(started) // 4
        for part, some in (("lowest", quarter[:n]), ("highest", quarter[-n:])):
            median = np.median([float(rows[started[i]]["runout_m"]) for i in some])
            if not math.isclose(float(summary[f"{key.replace('.', '_')}_{part}_quarter_runout_median"].split()[0]), median, rel_tol=1e-5): fail(f"{key}: median of the {part} quarter")
    if name == "ranges": # the page says what the summary says, and one.run has a volume alone
        page = open("ranges.html", encoding="utf-8").read()
        for key, depends in (("pairs.0.friction", summary), ("density_kg_m3", summary)):
            said = page.split(f'<tr><th scope="row">{key}</th>')[1].split("</tr>")[0].split('<td class="n">')[3].split("<")[0]
            if said != f"{float(depends[key.replace('.', '_') + '_rank_correlation_with_runout']):.3g}": fail(f"the page says {said} of {key}")
        if page.count("What the result depends on") != 2 or page.count('<th scope="row">volume_m3</th>') != 1: fail("sections of the page")
        if any(not math.isclose(float(r["mass_kg"]), float(r["density_kg_m3"]) * float(r["volume_m3"]), rel_tol=1e-9) for r in rows): fail("masses of drawn densities")
        if len({r["density_kg_m3"] for r in rows}) < 10: fail("few densities")
        if not math.isclose(float(summary["rank_correlation_by_chance"]), 2 / math.sqrt(len(started) - 1), rel_tol=1e-5): fail("correlation by chance")
    else: # soft ground holds blocks
        far = np.array([float(r["runout_m"]) for r in rows])[np.argsort(x)]
        if np.median(far[-10:]) < np.median(far[:10]) + 10: fail(f"on soft ground {np.median(far[:10])} m, on hard {np.median(far[-10:])} m")
    for k in (3, 20) if name == "ranges" else (5,):
        alone = f"drawn.{k}" if name == "ranges" else f"ground.{k}"
        gone = list(csv.DictReader(open(f"{alone}/departures.csv")))
        last = [f for f in frames(alone) if len(f["id"])][-1]
        place = [float(gone[0][c]) for c in ("x_m", "y_m", "z_m")] if gone else last["position_m"][0]
        end = [float(rows[k][c]) for c in ("end_east_m", "end_north_m", "end_height_m")]
        if end != list(np.array(place) + origin): fail(f"block {k} of {name} ends at {end}, alone at {place}")
for f, g in zip(frames("ranges.run"), frames("ranks.run")):
    for c in f:
        if not np.array_equal(f[c][()], g[c][()]): fail(f"{f.filename}: {c} differs with two ranks")

# ---- maps and trajectories ----
stops = {r["id"]: r for r in csv.DictReader(open("measures/stops.csv"))}
for b in blocks:
    s = stops[b["id"]]
    end = b["end"]
    if s["end"] != end or s["east_m"] != b["end_east_m"] or s["north_m"] != b["end_north_m"]: fail(f"stops.csv: {s}, blocks.csv: {b}")
    steps, cells = float(b["largest_speed_m_s"]), float(s["largest_speed_m_s"])   # cells.csv has seven digits
    if cells > steps * (1 + 1e-6) or (end != "left" and cells < steps * (1 - 1e-6)): fail(f"block {b['id']}: largest speed {cells} in cells, {steps} over steps")
passages = gdal.Open("measures/passages.tif").ReadAsArray()
if passages.max() < 5 or passages.max() > 60: fail(f"passages {passages.max()}")
sys.exit(bad)
PYTHON

# ---- blocks do not meet; places of bodies, in turn; those that never start ----
cat >same.yaml <<'YAML'
catalog: c.tals
time: {dt_s: 4.0e-3, duration_s: 6, frame_every_s: 0.4}
shapes: [{name: box, kind: box, size_m: [2, 2, 2], spacing_m: 0.2, nodes: 200}]
grains: {density_kg_m3: 1200}
bodies:
- {shape: box, position_m: [60, 150, 0], above_ground_m: 1, turn_deg: [20, 10, 0], count: 2, step_m: [0, 0, 0]}
- {shape: box, position_m: [60, 40, 0], above_ground_m: 0, volume_m3: 3}
terrain: {name: hill}
contact: {boundary_friction: 0.5, boundary_restitution: 0.4}
ensemble: {count: 4, from: bodies, orientation: as-given}
YAML
ensemble same.yaml -o same.run
grep -q '1200 kg/m3 (material grain); rock has 2300 to 3000' err || fail "no word on the density: $(cat err)"
grep -q '4 blocks started\|3 blocks with a runout: the 99% quantile wants 1000' err || fail "no word on the count: $(cat err)"
grep -q '^blocks_not_started: 1$' out || fail "never started: $(grep blocks out)"
"$BIN/talus-measure" same.run -o same.csv --trajectories=csv >out 2>err || fail "stops of blocks that never started: $(cat err)"
grep -q '^blocks_not_started: 1$' out && [ "$(grep -c ',not started,' same.csv/stops.csv)" = 1 ] || fail "stops: $(cut -d, -f3 same.csv/stops.csv)"
"$python" - <<'PYTHON' || bad=1
import csv, sys
rows = [[v for k, v in r.items() if k not in ("id", "release")] for r in csv.DictReader(open("same.run/blocks.csv"))]
if not rows[0] == rows[1] == rows[3] or rows[0] == rows[2] or float(rows[0][14]) < 3: print("FAILED: blocks at one place:", rows); sys.exit(1)
if rows[2][1] != "not started" or abs(float(rows[2][3]) - 3) > 1e-9: print("FAILED: the third:", rows[2]); sys.exit(1)
PYTHON
"$BIN/talus-solve" same.yaml --set ensemble.count=0 --set bodies.0.count=1 -o lone.run -q >out 2>err || fail "one of them alone: $(cat err)"
"$python" -c '
import h5py, sys
a, b = (h5py.File(f + "/frame_000005.h5")["position_m"][0] for f in ("same.run", "lone.run"))
if list(a) != list(b): print("FAILED: not what it does alone:", a, b); sys.exit(1)' || bad=1

# ---- killed, resumed on two ranks ----
slow=(hill.yaml --set ensemble.count=300 --set time.duration_s=2)
ensemble "${slow[@]}" -o whole.run
"$BIN/talus-ensemble" "${slow[@]}" -o killed.run -q >/dev/null 2>&1 &
pid=$!
while [ ! -e killed.run/blocks/checkpoint_000000000005.tck ] && kill -0 $pid 2>/dev/null; do sleep 0.02; done
kill -9 $pid 2>/dev/null; wait $pid 2>/dev/null
[ ! -e killed.run/blocks.csv ] || fail "it was not killed in time: the case shows nothing"
refused 2 '--resume continues it, --overwrite starts anew' -- "${slow[@]}" -o killed.run
refused 1 'is of another study or terrain' -- "${slow[@]}" -o killed.run --resume --set seed=6
"$BIN/talus-mpirun" -n 2 "$BIN/talus-ensemble" "${slow[@]}" -o killed.run --resume --no-progress >out 2>err || fail "resumed on two ranks: $(cat err)"
grep -Eq '[1-9][05] of 300 blocks are there already' err || fail "nothing was resumed: $(cat err)"
for f in blocks.csv departures.csv history.csv cells.csv; do cmp whole.run/$f killed.run/$f || fail "$f differs after a kill"; done
refused 2 'the ensemble is finished' -- "${slow[@]}" -o killed.run --resume
refused 2 'holds no blocks of an ensemble' -- hill.yaml -o none.run --resume
[ ! -e none.run ] || fail "a refused resume made a folder"

# told to stop, it says what stays and how it continues, and ends by the signal
"$BIN/talus-ensemble" "${slow[@]}" -o told.run -q >/dev/null 2>told.err &
pid=$!
while [ ! -e told.run/blocks/checkpoint_000000000002.tck ] && kill -0 $pid 2>/dev/null; do sleep 0.02; done
kill -TERM $pid 2>/dev/null; wait $pid 2>/dev/null
[ $? = 143 ] || fail "SIGTERM did not end it"
grep -q 'stopped by a signal; parts of blocks that are finished stay in told.run/blocks, and --resume' told.err || fail "no word of a stop: $(cat told.err)"

# ---- refusals ----
before=$(sha256sum few.run/*)
refused 2 'give --overwrite to replace' -- hill.yaml -o few.run
[ "$before" = "$(sha256sum few.run/*)" ] || fail "a refused ensemble changed the older one"
ensemble hill.yaml --set ensemble.count=3 -o few.run --overwrite
[ "$(wc -l <few.run/blocks.csv)" = 4 ] || fail "--overwrite: $(wc -l <few.run/blocks.csv) lines"
ensemble hill.yaml -n -o dry.run
grep -q '^blocks: 60$' out || fail "--dry-run: $(cat out)"
awk '/^time_of_a_block:/ {one = $2} /^time_about:/ {all = $2} /^threads_per_rank:/ {n = $2} END {d = all * n / one - 60; exit !(one > 0 && d * d < 0.01)}' out ||
  fail "--dry-run: the time: $(cat out)"
[ ! -e dry.run ] || fail "--dry-run wrote"
refused 2 '-o says where the results go' -- hill.yaml
refused 2 'there is no block 60' -- hill.yaml --block=60
refused 2 'ensemble.count: is missing' -- hill.yaml -o no.run --set ensemble.count=0
refused 2 'ensemble.shapes.0: there is no' -- hill.yaml -o no.run --set 'ensemble.shapes=[cone]'
refused 1 'hill.yaml:19:' -- hill.yaml -o no.run --set ensemble.least_volume_m3=9
refused 2 'is below least_volume_m3' -- hill.yaml -o no.run --set ensemble.most_volume_m3=0.5
refused 2 'a range of volumes has two ends' -- hill.yaml -o no.run --set ensemble.most_volume_m3=0
refused 2 "'penalty.normal_N_m' cannot vary" -- ranges.yaml -o no.run --set ensemble.ranges.0.key=penalty.normal_N_m
refused 2 "'pairs.1.friction' cannot vary" -- ranges.yaml -o no.run --set ensemble.ranges.0.key=pairs.1.friction
refused 2 "'pairs.0.restitution' comes twice" -- ranges.yaml -o no.run --set ensemble.ranges.2.key=pairs.0.restitution
refused 2 '11 is out of the range of pairs.0.friction, 0 to 10' -- ranges.yaml -o no.run --set ensemble.ranges.0.high=11
refused 1 'ensemble.ranges.1.high: is below low' -- ranges.yaml -o no.run --set ensemble.ranges.1.low=0.7
refused 2 'must be above 0 where law is log' -- ranges.yaml -o no.run --set ensemble.ranges.0.low=0
refused 2 'this study names none' -- hill.yaml -o no.run --set 'ensemble.ranges=[{key: terrain.ground_shift, low: 0, high: 1}]'
refused 2 'changes nothing where blocks of this study touch its ground' -- ground.yaml -o no.run --set 'ensemble.ranges=[{key: contact.boundary_friction, low: 0.1, high: 1}]'
refused 2 'has no list of bodies' -- hill.yaml -o no.run --set ensemble.from=bodies
refused 2 'bodies have no part' -- same.yaml -o no.run --set ensemble.from=area
refused 2 'fixed: the blocks of an ensemble move' -- same.yaml -o no.run --set bodies.1.fixed=yes
refused 2 'release.high_m: must lie above low_m' -- hill.yaml -o no.run --set 'release.high_m=[600000, 5100160, 0]'
refused 1 'lies in the release area and on the terrain' -- hill.yaml -o no.run --set 'release.low_m=[600070, 5100150, 0]'
refused 1 'this study names none' -- hill.yaml -o no.run --set terrain.name= --set crs=local
refused 1 'left the terrain in step' -- hill.yaml -o left.run --set outside=error --set 'release.velocity_m_s=[60, 0, 0]'
[ ! -e no.run ] || fail "a refused ensemble made a folder"
"$BIN/talus-solve" hill.yaml -o no.run >out 2>err && fail "talus-solve runs an ensemble"
grep -q 'talus-ensemble runs it' err || fail "talus-solve: $(cat err)"
"$BIN/talus-measure" one.run -o no --overlap >out 2>err && fail "--overlap of an ensemble"
grep -q 'is an ensemble, whose blocks never meet' err || fail "--overlap: $(cat err)"
exit $bad
