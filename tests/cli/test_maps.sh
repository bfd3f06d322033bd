#!/usr/bin/env bash
# talus-measure --maps: five balls that fly along a row of cells without gravity give each cell the closed forms of
# speed, energies, height, mean and quantiles; a slanted flight passes the cells that exact fractions name; blocks that
# bounce down a slope give what a frame of each step gives, with the same bytes on two ranks and after a stop (and what
# passes a fence, too), and
# without cells.csv what dense samples of their ways give; two runs count twice, with a warning where they are the same blocks. GDAL reads the rasters on the
# terrain's own grid and CRS, .tif and .asc with the same values. Danger levels follow a matrix and have colours; blocks
# are simulations under the names that AvaFrame reads. 15 seconds.
set -u
python=${PYTHON:-/usr/bin/python3} # Debian's, for which python3-gdal and python3-h5py are installed
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
bad=0
fail() { echo "FAILED: $*"; bad=1; }
solve() { "$BIN/talus-solve" "$@" -q >out 2>err || fail "$*: $(cat err)"; }
measure() { "$BIN/talus-measure" "$@" >out 2>err || fail "talus-measure $*: $(cat err)"; }
refused() { # TEXT -- arguments
  local text=$1; shift 2
  "$BIN/talus-measure" "$@" >out 2>err && fail "taken: $*"
  grep -qF -- "$text" err || fail "'$text' is not in the message: $(cat err)"
}

grid() { # NAME RISE: 20 x 12 cells of 10 m, rising to the north
  { printf 'ncols 20\nnrows 12\nxllcorner 500000\nyllcorner 5200000\ncellsize 10\n'
    awk -v rise="$2" 'BEGIN {for (r = 12; r > 0; r--) {for (c = 0; c < 20; c++) printf "%g ", 100 + rise * (r - 1); print ""}}'; } >"$1.asc"
  "$BIN/talus-topo" "$1.asc" --catalog=c.tals --name="$1" --crs=EPSG:32632 >/dev/null 2>err || fail "the terrain: $(cat err)"
}
grid flat 0
grid steep 7

# ---- five balls fly east at 1 to 5 m/s and 10 to 50 m above the ground; a sixth flies slantwise ----
{ cat <<'YAML'
catalog: c.tals
crs: terrain
gravity_m_s2: [0, 0, 0]
time: {dt_s: 0.01, duration_s: 10, frame_every_s: 0.5}
shapes: [{name: ball, diameter_m: 2}]
grains: {density_kg_m3: 2500}
terrain: {name: flat}
bodies:
YAML
  for k in 1 2 3 4 5; do
    echo "- {shape: ball, position_m: [500022, 5200035, $((100 + 10 * k))], velocity_m_s: [$k, 0, 0], spin_rad_s: [0, 0, $k]}"
  done
  echo "- {shape: ball, position_m: [500013, 5200062, 180], velocity_m_s: [15, 4, 0]}"; } >fly.yaml
solve fly.yaml -o fly.run
measure fly.run -o fly --maps=tif
grep -q '^map_blocks: 6$' out || fail "blocks: $(grep map_ out)"
grep -q '^map_blocks_in_last_frame: 6$' out || fail "blocks: $(grep map_ out)"
measure fly.run -o ascii --maps=asc
refused 'this run was given already' -- fly.run -o no --maps=tif --with=fly.run/.
cp -r fly.run copy.run
measure fly.run -o twice --maps=tif --with=copy.run
grep -q '^talus-measure: warning: 6 blocks have the number, size and path of blocks of another run (copy.run' err || fail "counted twice: $(cat err)"
grep -q '12 of 12 blocks still moved in the last frame' err || fail "moving: $(cat err)"
measure fly.run -o years --maps=tif --release-per-year=0.05
grep -q '6 releases, of which 0.05 come a year, are those of 120 years: maps of 300 years hold the largest energies of the sample, which are too small, .* 15 releases make 300 years, 150 ten times as many' err || fail "a short sample: $(cat err)"
grep -q '^map_years_of_releases: 120 a$' out || fail "years: $(grep map_ out)"
{ echo "release: {blocks_per_year: 0.05}"; cat fly.yaml; } >often.yaml
solve often.yaml -o often.run --set terrain.cells=no
measure often.run -o often --maps=tif
measure often.run -o differ --maps=tif --with=fly.run
grep -q 'count twice' err && [ "$(grep -c 'count twice' err)" = 1 ] || fail "runs with other keys, the same blocks: $(cat err)"
[ ! -e differ/intensity_30y.tif ] || fail "runs that say different things of how often blocks come"
measure fly.run -o danger --maps=tif --release-per-year=0.015 --danger=rrb/rby/bby
grep -q '^danger_cells_residual: ' out || fail "no number of cells: $(grep danger out)"
measure fly.run -o danger-asc --maps=asc --release-per-year=0.015 --danger=rrb/rby/bby --with=often.run
refused '--danger=rrr/bbb/yy is no matrix' -- fly.run -o no --maps=tif --release-per-year=1 --danger=rrr/bbb/yy
refused '--danger=rrrbbbyyy is no matrix' -- fly.run -o no --maps=tif --release-per-year=1 --danger=rrrbbbyyy
refused 'how often blocks come' -- fly.run -o no --maps=tif --danger=rrb/rby/byy
refused '--danger wants --maps' -- fly.run -o no --danger=rrb/rby/byy
measure fly.run -o export --avaframe=tif --with=often.run
grep -q '^avaframe_simulations: 12$' out || fail "simulations: $(grep avaframe out)"
refused 'export/avaframe: is there already' -- fly.run -o export --avaframe=asc --overwrite
"$python" - <<'PYTHON' || bad=1
import math, sys
from fractions import Fraction
import numpy as np
from osgeo import gdal
gdal.UseExceptions()
bad = False
def fail(text):
    global bad; bad = True; print("FAILED:", text)
def read(path):
    data = gdal.Open(path)
    a = data.GetRasterBand(1).ReadAsArray().astype(float)
    a[a == data.GetRasterBand(1).GetNoDataValue()] = np.nan
    return a[::-1], data   # rows go north
passages, data = read("fly/passages.tif")
if data.GetGeoTransform() != (500000, 10, 0, 5200120, 0, -10) or passages.shape != (12, 20): fail("the grid differs")
if data.GetSpatialRef().GetAuthorityCode(None) not in ("32632", None) or "UTM zone 32N" not in data.GetSpatialRef().GetName(): fail("the CRS differs")
row = {c: [k for k in range(1, 6) if 2 <= c and 22 + 10 * k > 10 * c] for c in range(20)}
want = np.zeros((12, 20))
for c, who in row.items(): want[3, c] = len(who)
x0, y0, x1, y1 = Fraction(13), Fraction(62), Fraction(163), Fraction(102)
for r in range(12):   # the open square is crossed where the clipped leg is longer than nothing
    for c in range(20):
        low, high = Fraction(0), Fraction(1)
        for a, d, edge in ((x0, x1 - x0, 10 * c), (y0, y1 - y0, 10 * r)):
            t = sorted(((edge - a) / d, (edge + 10 - a) / d))
            low, high = max(low, t[0]), min(high, t[1])
        want[r, c] += low < high
if not np.array_equal(passages, want): fail(f"passages {passages} are not {want}")
mass = 2500 * 4 / 3 * math.pi
values = {"speed_m_s": lambda k: k, "translational_kJ": lambda k: 0.5 * mass * k * k / 1000,
          "rotational_kJ": lambda k: 0.2 * mass * k * k / 1000, "energy_kJ": lambda k: 0.7 * mass * k * k / 1000,
          "jump_height_m": lambda k: 10 * k}
statistics = {"max": np.max, "mean": np.mean, "p50": np.median, "p90": lambda v: np.quantile(v, 0.9),
              "p95": lambda v: np.quantile(v, 0.95), "p99": lambda v: np.quantile(v, 0.99)}
for name, value in values.items():
    for statistic, of in statistics.items():
        have, _ = read(f"fly/{name}_{statistic}.tif")
        if not np.array_equal(np.isnan(have), want == 0): fail(f"{name}_{statistic} has values where nothing passed, or none where something did")
        for c, who in row.items():
            if who and not math.isclose(have[3, c], of([value(k) for k in who]), rel_tol=1e-5):
                fail(f"{name}_{statistic} in cell {c}: {have[3, c]}, not {of([value(k) for k in who])}")
        text, _ = read(f"ascii/{name}_{statistic}.asc")
        if not np.allclose(text, have, rtol=1e-6, equal_nan=True): fail(f"{name}_{statistic}.asc differs")
deposit, thickness = read("fly/deposit_count.tif")[0], read("fly/deposit_thickness_m.tif")[0]
stops = np.zeros((12, 20))
for k in range(1, 6): stops[3, (22 + 10 * k) // 10] += 1
stops[10, 16] += 1
if not np.array_equal(deposit, stops): fail("deposit_count")
if not np.allclose(thickness, stops * 4 / 3 * math.pi / 100, rtol=1e-5): fail("deposit_thickness_m")
# 6 blocks at 0.05 a year are those of 120 years: what 4 of them exceed comes once in 30 years, what 3 exceed is rarer; of 100
# years are 1.2 of them, and of 300 there is no sample
for years, k in ((30, 3), (100, 1), (300, 0)):
    energy, intensity = read(f"years/energy_kJ_{years}y.tif")[0], read(f"years/intensity_{years}y.tif")[0]
    for c in range(20):
        v = sorted((0.7 * mass * w * w / 1000 for w in row[c]), reverse=True)
        if np.isnan(energy[3, c]) != (len(v) <= k): fail(f"{years} years, cell {c}: {energy[3, c]} of {len(v)} blocks")
        if len(v) > k and not math.isclose(energy[3, c], v[k], rel_tol=1e-5): fail(f"{years} years, cell {c}: {energy[3, c]}, not {v[k]}")
        if len(v) > k and intensity[3, c] != (1 if v[k] <= 30 else 2 if v[k] <= 300 else 3): fail(f"{years} years, cell {c}: intensity {intensity[3, c]}")
for t in (30, 100, 300):   # blocks_per_year of the study
    if not np.array_equal(read(f"years/intensity_{t}y.tif")[0], read(f"often/intensity_{t}y.tif")[0], equal_nan=True):
        fail(f"blocks_per_year of the study, {t} years")
# what a map says of itself, in QGIS and for who reads .asc: quantity, unit, how the runs ended, and what is missed
def about(path):
    data = gdal.Open(path); band = data.GetRasterBand(1)
    return data.GetMetadataItem("TIFFTAG_IMAGEDESCRIPTION") or "", band.GetDescription(), band.GetUnitType()
state = ", at 10 s: 6 grains, 100% of the mass moves, mean 5.1 m/s"
ended = "fly.run" + state   # a run without a title has its folder's name
for path, what, name, unit in (("fly/energy_kJ_p95.tif", "kinetic energy: 95% quantile", "energy_kJ_p95", "kJ"),
                               ("fly/passages.tif", "blocks whose mass centre passed", "passages", ""),
                               ("years/energy_kJ_30y.tif", "once in 30 years, of 0.05 releases a year, by the 6 releases of 120 years", "energy_kJ_30y", "kJ"),
                               ("danger/danger.tif", "by the matrix rrb/rby/bby", "danger", ""),
                               ("danger/danger.tif", "the matrix was given for this map and was not compared with a guideline", "danger", "")):
    text, band, given = about(path)
    if what not in text or not text.endswith("\n" + ended) or (band, given) != (name, unit): fail(f"{path} says {text!r}, {band}, {given}")
if not about("often/passages.tif")[0].endswith("often.run" + state + "; of stored frames only, between which peaks are missed"): fail(f"frames only: {about('often/passages.tif')}")
if open("ascii/maps.txt").read() != ended + "\n": fail(f"maps.txt: {open('ascii/maps.txt').read()!r}")
if open("twice/maps.txt").read() != ended + "\ncopy.run" + state + "\n": fail(f"maps.txt of two runs: {open('twice/maps.txt').read()!r}")
# danger: the highest level of the three periods; residual where blocks pass and none of the three has an intensity
matrix = {3: "rrb", 2: "rby", 1: "bby"}; number = {"y": 2, "b": 3, "r": 4}
intensity = [read(f"danger/intensity_{t}y.tif")[0] for t in (30, 100, 300)]
level = np.where(want > 0, 1.0, np.nan)
for k, of in enumerate(intensity):
    for r, c in zip(*np.nonzero(~np.isnan(of))): level[r, c] = max(level[r, c], number[matrix[of[r, c]][k]])
danger, data = read("danger/danger.tif")
if not np.array_equal(danger, level, equal_nan=True): fail(f"danger {danger} is not {level}")
if len(set(level[~np.isnan(level)])) < 3: fail(f"the danger shows nothing: {level}")
band = data.GetRasterBand(1); table = band.GetColorTable()
if band.DataType != gdal.GDT_Byte or band.GetNoDataValue() != 0 or table is None: fail("danger.tif has no colours")
elif not (table.GetColorEntry(4)[0] > 200 > 100 > table.GetColorEntry(4)[2] and table.GetColorEntry(3)[2] > 200 > table.GetColorEntry(3)[0]
          and min(table.GetColorEntry(2)[:2]) > 200 > table.GetColorEntry(2)[2]): fail("the colours of danger.tif")
if not np.array_equal(read("danger-asc/danger.asc")[0], level, equal_nan=True): fail("danger.asc, of two runs")
# AvaFrame parts names at "_": release area, simulation, C for changed, type, model, result
import configparser, glob, os
seen = {}
for path in sorted(glob.glob("export/avaframe/Outputs/com1DFA/peakFiles/*")):
    parts = os.path.splitext(os.path.basename(path))[0].split("_")
    if len(parts) != 6 or parts[2:5] != ["C", "null", "talus"] or parts[5] not in ("pfv", "pke"): fail(f"the name {path}")
    ini = configparser.ConfigParser()
    ini.read("export/avaframe/Outputs/com1DFA/configurationFiles/" + "_".join(parts[:5]) + ".ini")
    block = int(ini["GENERAL"]["block"])
    seen.setdefault((parts[0], parts[1]), set()).add(parts[5])
    have, data = read(path)
    if data.GetGeoTransform() != (500000, 10, 0, 5200120, 0, -10): fail(f"{path}: the grid")
    if block < 5:
        k = block + 1
        peak = np.zeros((12, 20))
        for c, who in row.items():
            if k in who: peak[3, c] = k if parts[5] == "pfv" else 0.7 * mass * k * k / 1000 / 100
        if not np.allclose(have, peak, rtol=1e-5): fail(f"{path}: {have} is not {peak}")
if len(seen) != 12 or any(v != {"pfv", "pke"} for v in seen.values()): fail(f"simulations: {seen}")
ground, _ = read("export/avaframe/Inputs/DEM.tif")
if not np.allclose(ground, 100): fail("AvaFrame's ground")
if not np.allclose(read("fly/reach_probability.tif")[0], want / 6): fail("reach_probability")
if not np.array_equal(read("twice/passages.tif")[0], 2 * want): fail("two runs do not count twice")
if not np.allclose(read("twice/reach_probability.tif")[0], want / 6): fail("reach_probability of two runs")
sys.exit(bad)
PYTHON

# ---- blocks that bounce down a slope: maps of frames alone, against dense samples ----
cat >down.yaml <<'YAML'
catalog: c.tals
time: {dt_s: 4.0e-3, duration_s: 6, frame_every_s: 0.1}
shapes: [{name: block, kind: superellipsoid, size_m: [2.4, 2, 1.6], exponent_e: 0.5, exponent_n: 0.5}]
grains: {shapes: [block]}
release: {assembly: lattice, low_m: [60, 80, 0], high_m: [120, 100, 0], layers: 1, count: 12, above_ground_m: 5}
terrain: {name: steep}
contact: {boundary_friction: 0.4, boundary_restitution: 0.5}
YAML
solve down.yaml -o down.run --set terrain.cells=no
[ ! -e down.run/cells.csv ] || fail "terrain.cells: no writes cells.csv"
measure down.run -o down --maps=tif --json
"$python" - <<'PYTHON' || fail "the maps of the slope"
import glob, sys
import h5py, numpy as np
from osgeo import gdal
gdal.UseExceptions()
N = 400
def read(path):
    data = gdal.Open(path)
    return data.GetRasterBand(1).ReadAsArray().astype(float)[::-1]
terrain = h5py.File("down.run/run.h5")["terrain"]
origin = dict(terrain.attrs)["origin"]
best = {}; last = None
for path in sorted(glob.glob("down.run/frame_*.h5")):
    f = h5py.File(path)
    x = f["position_m"][:].reshape(-1, 3) + origin; v = np.linalg.norm(f["velocity_m_s"][:].reshape(-1, 3), axis=1)
    now = {i: (p, s) for i, p, s in zip(f["id"][:].ravel(), x, v)}
    for i in now:
        if last is None or i not in last: continue
        (a, va), (b, vb) = last[i], now[i]
        t = np.linspace(0, 1, N + 1)[:, None]
        p = a + t * (b - a); s = va + t[:, 0] * (vb - va)
        ground = np.clip(100 + 0.7 * (p[:, 1] - 5200005), 100, 177)
        for c, r, speed, jump in zip(np.floor((p[:, 0] - 500000) / 10), np.floor((p[:, 1] - 5200000) / 10), s, p[:, 2] - ground):
            old = best.get((int(r), int(c), i), (0, 0))
            best[int(r), int(c), i] = max(old[0], speed), max(old[1], jump)
    last = now
passages, speed, jump = read("down/passages.tif"), read("down/speed_m_s_max.tif"), read("down/jump_height_m_mean.tif")
want = np.zeros(passages.shape)
for r, c, i in best: want[r, c] += 1
if (passages < want).any() or (passages - want).sum() > 0.01 * want.sum(): print("passages differ by", passages - want); sys.exit(1)
for r, c in zip(*np.nonzero(want)):
    mine = [b for (y, x, i), b in best.items() if (y, x) == (r, c)]
    if abs(speed[r, c] - max(m[0] for m in mine)) > 0.02: print("speed", r, c, speed[r, c], max(m[0] for m in mine)); sys.exit(1)
    if passages[r, c] == len(mine) and abs(jump[r, c] - np.mean([m[1] for m in mine])) > 0.03: print("jump", r, c, jump[r, c], np.mean([m[1] for m in mine])); sys.exit(1)
if want.sum() < 30: print("the case shows nothing"); sys.exit(1)
PYTHON
grep -q '"map_runs_of_frames_only": 1' out || fail "runs of frames only: $(grep map_ out)"

# ---- every step: the maps of a run with few frames are what a frame of each step shows ----
seldom=(down.yaml --set time.frame_every_s=1.5)
solve "${seldom[@]}" -o seldom.run
cat >lines.geojson <<'JSON'
{"type": "FeatureCollection", "crs": {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::32632"}}, "features": [
 {"type": "Feature", "properties": {"name": "high"}, "geometry": {"type": "LineString", "coordinates": [[500000, 5200077], [500200, 5200077]]}},
 {"type": "Feature", "properties": {"name": "slant"}, "geometry": {"type": "LineString", "coordinates": [[500000, 5200066], [500200, 5200046]]}}]}
JSON
measure seldom.run -o seldom --maps=tif --trajectories=csv --fences=lines.geojson
grep -q 'no cells.csv' err && fail "a warning of fences: $(cat err)"
measure down.run -o down-fences --fences=lines.geojson
grep -q '1 of 1 runs have no cells.csv' err || fail "no warning of fences: $(cat err)"
grep -q 'moved by up to' err && fail "a warning of frames: $(cat err)"
solve down.yaml --set time.frame_every_s=0.004 -o all.run
OMP_NUM_THREADS=2 "$BIN/talus-mpirun" -n 2 "$BIN/talus-solve" "${seldom[@]}" -o ranks.run -q >out 2>err || fail "two ranks: $(cat err)"
solve "${seldom[@]}" --set time.duration_s=2.14 --set checkpoint.every_steps=100 -o again.run
solve down.yaml --set time.frame_every_s=1.5 --set checkpoint.every_steps=100 -o again.run --resume
for run in ranks again; do cmp seldom.run/cells.csv $run.run/cells.csv || fail "cells.csv of $run.run differs"; done
"$python" - <<'PYTHON' || fail "the maps of every step"
import csv, glob, sys
import h5py, numpy as np
from osgeo import gdal
gdal.UseExceptions()
def read(path):
    data = gdal.Open(path)
    return data.GetRasterBand(1).ReadAsArray().astype(float)[::-1]
origin = dict(h5py.File("all.run/run.h5")["terrain"].attrs)["origin"]
best = {}; fastest = {}
for path in sorted(glob.glob("all.run/frame_*.h5")):
    f = h5py.File(path)
    for i, x, v, w in zip(f["id"][:].ravel(), f["position_m"][:] + origin, f["velocity_m_s"][:], f["spin_rad_s"][:]):
        fastest[i] = max(fastest.get(i, 0), np.linalg.norm(v))
        if f.attrs["step"] > 0 and np.linalg.norm(v) + np.linalg.norm(w) < 0.05: continue   # near the pace that counts as moving
        ground = min(max(100 + 0.7 * (x[1] - 5200005), 100), 177)
        k = int((x[1] - 5200000) // 10), int((x[0] - 500000) // 10), i
        old = best.get(k, (0, 0)); best[k] = max(old[0], np.linalg.norm(v)), max(old[1], x[2] - ground)
want = np.zeros((12, 20)); passages, speed, jump, mean = (read(f"seldom/{n}.tif") for n in ("passages", "speed_m_s_max", "jump_height_m_max", "speed_m_s_mean"))
for r, c, i in best: want[r, c] += 1
if not np.array_equal(passages, want): print("passages differ by", passages - want); sys.exit(1)
for r, c in zip(*np.nonzero(want)):
    mine = [b for (y, x, i), b in best.items() if (y, x) == (r, c)]
    have = speed[r, c], jump[r, c], mean[r, c]
    should = max(m[0] for m in mine), max(m[1] for m in mine), np.mean([m[0] for m in mine])
    if not np.allclose(have, should, rtol=1e-5, atol=1e-4): print(r, c, have, should); sys.exit(1)
frames = read("down/jump_height_m_max.tif")
if not np.nanmax(jump - frames) > 0.005: print("the case shows nothing: frames see it all"); sys.exit(1)
for row in csv.DictReader(open("seldom/stops.csv")):
    if not np.isclose(float(row["largest_speed_m_s"]), fastest[int(row["id"])], rtol=1e-5): print("stops.csv:", row, fastest[int(row["id"])]); sys.exit(1)
PYTHON
# what passes the fences, by the steps' own frames: time, place, height of the crossing, largest speed in its cell
"$python" - <<'PYTHON' || fail "the fences of every step"
import csv, glob, sys
import h5py, numpy as np
run = h5py.File("all.run/run.h5")
origin = dict(run["terrain"].attrs)["origin"]
path = {}
for name in sorted(glob.glob("all.run/frame_*.h5")):
    f = h5py.File(name)
    for i, x, v in zip(f["id"][:].ravel(), f["position_m"][:] + origin, f["velocity_m_s"][:]):
        path.setdefault(i, []).append((f.attrs["time_s"], *x, np.linalg.norm(v)))
line = {"high": lambda x: 5200077 + 0 * x, "slant": lambda x: 5200066 - (x - 500000) / 10}
count = near = 0
for row in csv.DictReader(open("seldom/passages.csv")):
    p = np.array(path[int(row["id"])])
    side = p[:, 2] - line[row["fence"]](p[:, 1])
    hits = np.nonzero(side[:-1] * side[1:] < 0)[0]
    if len(hits) != 1: continue
    k = hits[0]; w = side[k] / (side[k] - side[k + 1])
    at = p[k] + w * (p[k + 1] - p[k])
    cell = np.floor((p[:, 1] - 500000) / 10), np.floor((p[:, 2] - 5200000) / 10)
    inside = (cell[0] == np.floor((at[1] - 500000) / 10)) & (cell[1] == np.floor((at[2] - 5200000) / 10))
    inside[0] = False
    have = [float(row[n]) for n in ("time_s", "east_m", "north_m", "speed_m_s", "height_needed_m")]
    ground = min(max(100 + 0.7 * (at[2] - 5200005), 100), 177)
    jump, most = at[3] - ground, (p[inside, 3] - np.clip(100 + 0.7 * (p[inside, 2] - 5200005), 100, 177)).max()
    count += 1; near += have[4] - 1.87 < jump + 0.1
    # the height is a bound: of the sphere that holds the block (1.2 m at least, 1.87 m at most), and of an arc no higher than the cell's
    if abs(have[0] - at[0]) > 0.3 or np.hypot(have[1] - at[1], have[2] - at[2]) > 1 or abs(have[3] - p[inside, 4].max()) > 1e-5 * have[3] or not jump + 1.2 - 0.02 < have[4] < most + 1.87:
        print(row, at, p[inside, 4].max(), jump, most); sys.exit(1)
if count < 12 or near < 4: print("only", count, "crossings,", near, "by a close bound"); sys.exit(1)
PYTHON
sed '5s/,[^,]*$/,nan/' seldom.run/cells.csv >spoilt.csv; cp spoilt.csv seldom.run/cells.csv
refused 'seldom.run/cells.csv:5: is no cell of this terrain' -- seldom.run -o no --maps=tif

refused '--with wants --triaxial, --maps, --trajectories, --fences or --avaframe' -- fly.run -o no --with=down.run
refused '--release-per-year wants --maps' -- fly.run -o no --release-per-year=1
refused 'down.run: has another terrain' -- fly.run -o no --maps=tif --with=down.run
printf 'shapes: [{name: ball, diameter_m: 2}]\nbodies: [{shape: ball, position_m: [0, 0, 5]}]\nplanes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]\ntime: {dt_s: 0.01, steps: 2}\n' >plane.yaml
solve plane.yaml -o plane.run
refused 'plane.run: has no terrain' -- plane.run -o no --maps=tif
[ -z "$(ls no 2>/dev/null)" ] || fail "refused maps left $(ls no)"
measure plane.run -o plain
[ ! -e plain/passages.tif ] || fail "maps without --maps"
exit $bad
