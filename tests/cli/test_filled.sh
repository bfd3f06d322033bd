#!/usr/bin/env bash
# Blocks that stop on ground that was filled in: boxes slide over a flat raster with a hole of 3 x 3 cells, into it, out
# of it, beside it and off the raster. blocks.csv, stops of talus-measure, maps, summaries, report and Python say which
# stopped on filled ground; rough ground changes nothing; a catalog of schema 4 is read, says that it does not know, and
# is brought to 5; its terrain is made again. 10 seconds.
# sanitized: reads rasters with holes
set -u
python=${PYTHON:-/usr/bin/python3} # Debian's, for which python3-gdal and python3-h5py are installed
root=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$root/python
bad=0
fail() { echo "FAILED: $*"; bad=1; }
quiet() { "$BIN/$1" "${@:2}" >out 2>err || fail "$*: $(cat err)"; }
says() { grep -qF -- "$1" "$2" || fail "'$1' is not in $2: $(cat "$2")"; }

# 20 x 12 cells of 10 m; no data in columns 10 to 12 of rows 5 to 7
{ printf 'ncols 20\nnrows 12\nxllcorner 500000\nyllcorner 5200000\ncellsize 10\nNODATA_value -9999\n'
  awk 'BEGIN {for (r = 0; r < 12; r++) {for (c = 0; c < 20; c++) printf "%s ", (c > 9 && c < 13 && r > 4 && r < 8 ? "-9999" : "100"); print ""}}'; } >hole.asc
quiet talus-topo hole.asc --catalog=c.tals --name=hole --crs=EPSG:32632 --fill-holes
# each slides some 4.5 m east: samples lie at 500105 to 500125 east, so filled ground spans 500095 to 500135
cat >slide.yaml <<'YAML'
catalog: c.tals
crs: terrain
time: {dt_s: 4.0e-3, duration_s: 3, frame_every_s: 0.5}
shapes: [{name: box, kind: box, size_m: [1, 1, 1], spacing_m: 0.125, nodes: 100}]
grains: {density_kg_m3: 2600}
terrain: {name: hole}
contact: {boundary_friction: 0.4, boundary_restitution: 0}
bodies:
- {shape: box, position_m: [500110, 5200055, 100.5], velocity_m_s: [6, 0, 0]}
- {shape: box, position_m: [500092, 5200055, 100.5], velocity_m_s: [6, 0, 0]}
- {shape: box, position_m: [500085, 5200055, 100.5], velocity_m_s: [6, 0, 0]}
- {shape: box, position_m: [500132, 5200055, 100.5], velocity_m_s: [6, 0, 0]}
- {shape: box, position_m: [500110, 5200015, 100.5], velocity_m_s: [6, 0, 0]}
- {shape: box, position_m: [500188, 5200055, 100.5], velocity_m_s: [20, 0, 0]}
ensemble: {count: 6, from: bodies, orientation: as-given}
YAML
quiet talus-ensemble slide.yaml -o slide.run
says 'blocks_stopped: 5' out; says 'blocks_stopped_on_filled: 2' out
says '9 samples of the terrain had no data' err; says '2 blocks stopped there (on_filled in blocks.csv)' err
quiet talus-ensemble slide.yaml -o rough.run --set terrain.roughness_m=0.001 --set terrain.roughness_spacing_m=4
says 'blocks_stopped_on_filled: 2' out
quiet talus-solve slide.yaml --set ensemble.count=0 -o solve.run -q
for run in slide rough solve; do
  for kind in csv gpkg; do quiet talus-measure $run.run -o $run.$kind --trajectories=$kind --maps=tif; done
  says 'blocks_stopped_on_filled: 2' out; says 'map_blocks_stopped_on_filled: 2' out
done
quiet talus-report slide.run -o slide.html
says '9 samples of the terrain had no data and were filled from their rim: what grains do there is a guess. 2 grains came to rest there.' slide.html
says 'ground without data that was filled in (2 at rest on it)' slide.html
quiet talus-render slide.run -o slide.png --width=320 --height=240

# ---- a catalog of before: the number alone ----
cp c.tals old.tals
sqlite3 old.tals 'DROP TABLE terrain_filled; PRAGMA user_version = 4'
sum=$(sha256sum old.tals)
old=(slide.yaml --set catalog=old.tals)
quiet talus-ensemble "${old[@]}" -o old.run
says 'blocks_stopped_on_filled: not known' out; says 'The catalog does not say which samples; talus-topo --overwrite' err
[ "$sum" = "$(sha256sum old.tals)" ] || fail "reading changed a catalog of schema 4"
quiet talus-measure old.run -o old.csv --trajectories=csv --maps=tif
[ ! -e old.csv/filled_ground.tif ] || fail "a map of filled ground that is not known"
quiet talus-report old.run -o old.html
says 'Which samples is not stored with this run.' old.html
"$python" - <<'PYTHON' || bad=1
import csv, sqlite3, sys
import numpy as np
from osgeo import gdal, ogr
import talus
gdal.UseExceptions(); ogr.UseExceptions()
bad = False
def fail(text):
    global bad; bad = True; print("FAILED:", text)
want = ["1", "1", "0", "0", "0", "0"]
for file in ("slide.run/blocks.csv", "rough.run/blocks.csv", "slide.csv/stops.csv", "rough.csv/stops.csv", "solve.csv/stops.csv"):
    rows = list(csv.DictReader(open(file)))
    have = [r["on_filled"] for r in rows]
    if have != want: fail(f"{file}: {have}")
    if [r["end"] for r in rows] != 5 * ["stopped"] + ["left"]: fail(f"{file}: {[r['end'] for r in rows]}")
for name in ("stops", "trajectories"):
    data = ogr.Open(f"slide.gpkg/{name}.gpkg")
    have = [str(f["on_filled"]) for f in data.GetLayer(0)]
    if have != want: fail(f"{name}.gpkg: {have}")
for file in ("old.run/blocks.csv", "old.csv/stops.csv"):
    have = [r["on_filled"] for r in csv.DictReader(open(file))]
    if have != 5 * [""] + ["0"]: fail(f"{file}: {have}")
filled = np.zeros((12, 20), bool); filled[4:7, 10:13] = True   # from the south
for kind in ("slide", "rough"):
    data = gdal.Open(f"{kind}.csv/filled_ground.tif")
    band = data.GetRasterBand(1)
    a = band.ReadAsArray()[::-1]
    if not np.array_equal(a == 1, filled) or not (a[~filled] == band.GetNoDataValue()).all(): fail(f"filled_ground of {kind}: {a}")
with talus.Catalog("c.tals") as c:
    if not np.array_equal(c.terrain("hole").filled, filled): fail("Catalog.terrain")
with talus.Catalog("old.tals") as c:
    if c.terrain("hole").filled is not None: fail("Catalog.terrain of schema 4")
if not np.array_equal(talus.Run("slide.run").terrain.filled, filled): fail("Run.terrain")
if talus.Run("old.run").terrain.filled is not None: fail("Run.terrain of an old catalog")
sys.exit(bad)
PYTHON

# ---- brought to 5, and made again ----
quiet talus-topo hole.asc --catalog=old.tals --name=hole --crs=EPSG:32632 --fill-holes --overwrite
says 'schema 4 is brought to 5' err
quiet talus-ensemble "${old[@]}" -o new.run
says 'blocks_stopped_on_filled: 2' out
cmp new.run/blocks.csv slide.run/blocks.csv || fail "the terrain that was made again differs"
quiet talus-catalog verify old.tals
sqlite3 old.tals 'DELETE FROM terrain_filled' && quiet talus-catalog verify old.tals # as one of before that was upgraded
sqlite3 c.tals 'UPDATE terrain SET holes_filled = 8'
"$BIN/talus-catalog" verify c.tals >out 2>err && fail "9 marks for 8 samples are taken"
says '9 samples are marked as filled, 8 are said to be' err
exit $bad
