#!/usr/bin/env bash
# talus-measure --trajectories and --fences: balls that fly straight over flat ground without gravity give lines, stops,
# crossings, energies and needed heights in closed form, as GeoPackage, GeoJSON and CSV with the same values and the
# terrain's CRS; a ball that flies off the terrain ends where it left; a body of two parts counts once. 6 seconds.
# sanitized: writes files for other programs
set -u
python=${PYTHON:-/usr/bin/python3} # Debian's, for which python3-gdal is installed
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
bad=0
fail() { echo "FAILED: $*"; bad=1; }
measure() { "$BIN/talus-measure" "$@" >out 2>err || fail "talus-measure $*: $(cat err)"; }
refused() { # TEXT -- arguments
  local text=$1; shift 2
  "$BIN/talus-measure" "$@" >out 2>err && fail "taken: $*"
  grep -qF -- "$text" err || fail "'$text' is not in the message: $(cat err)"
}

{ printf 'ncols 20\nnrows 12\nxllcorner 500000\nyllcorner 5200000\ncellsize 10\n'
  for _ in {1..12}; do printf '100 %.0s' {1..20}; echo; done; } >flat.asc
"$BIN/talus-topo" flat.asc --catalog=c.tals --name=flat --crs=EPSG:32632 >/dev/null 2>err || fail "the terrain: $(cat err)"
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
  for k in 1 2 3 4; do
    echo "- {shape: ball, position_m: [500022, 5200035, $((100 + 10 * k))], velocity_m_s: [$k, 0, 0], spin_rad_s: [0, 0, $k]}"
  done
  echo "- {shape: ball, position_m: [500013, 5200062, 180], velocity_m_s: [40, 0, 0]}"
  echo "- {position_m: [500050, 5200090, 130], velocity_m_s: [0, 1, 0], parts: [{shape: ball, position_m: [-1.5, 0, 0]}, {shape: ball, position_m: [1.5, 0, 0]}]}"
} >fly.yaml
"$BIN/talus-solve" fly.yaml -o fly.run -q >out 2>err || fail "the flight: $(cat err)"
cat >lines.geojson <<'JSON'
{"type": "FeatureCollection", "crs": {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::32632"}}, "features": [
 {"type": "Feature", "properties": {"name": "near", "height_m": 25}, "geometry": {"type": "LineString", "coordinates": [[500030, 5200000], [500030, 5200050]]}},
 {"type": "Feature", "properties": {"name": "far, east", "height_m": null}, "geometry": {"type": "LineString", "coordinates": [[500045, 5200000], [500045, 5200034], [500045, 5200100]]}},
 {"type": "Feature", "properties": {"name": "none"}, "geometry": {"type": "LineString", "coordinates": [[500190, 5200000], [500190, 5200050]]}}]}
JSON
for kind in gpkg geojson csv; do measure fly.run -o "$kind" --trajectories=$kind --fences=lines.geojson; done
grep -q '^blocks: 6$' out && grep -q '^blocks_moving: 5$' out && grep -q '^blocks_left: 1$' out || fail "blocks: $(grep blocks out)"
grep -q '^fence_passages: 7$' out || fail "passages: $(grep fence out)"
grep -q 'off the terrain' err && fail "fences on the terrain: $(cat err)"
# a fence over the border (the samples of the raster end at 500195), and one beyond it
cat >beyond.geojson <<'JSON'
{"type": "FeatureCollection", "crs": {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::32632"}}, "features": [
 {"type": "Feature", "properties": {"name": "edge"}, "geometry": {"type": "LineString", "coordinates": [[500095, 5200050], [500295, 5200050]]}},
 {"type": "Feature", "properties": {}, "geometry": {"type": "LineString", "coordinates": [[510000, 5200050], [510060, 5200050]]}}]}
JSON
measure fly.run -o beyond --fences=beyond.geojson
grep -qF 'fence 0 (edge): 100 of its 200 m lie off the terrain' err || fail "the fence over the border: $(cat err)"
grep -qF 'fence 1: 60 of its 60 m lie off the terrain, where no block is followed' err || fail "the fence beyond: $(cat err)"
measure fly.run -o again --trajectories=gpkg
for f in stops trajectories; do cmp -s gpkg/$f.gpkg again/$f.gpkg || fail "$f.gpkg differs from run to run"; done
for f in gpkg/*.tmp; do [ ! -e "$f" ] || fail "left behind: $f"; done

"$python" - <<'PYTHON' || bad=1
import csv, math, sys
from osgeo import ogr
ogr.UseExceptions()
bad = False
def fail(text):
    global bad; bad = True; print("FAILED:", text)
def close(a, b): return a is not None and math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)
stops = {r["id"]: r for r in csv.DictReader(open("csv/stops.csv"))}
ways = list(csv.DictReader(open("csv/trajectories.csv")))
mass = 2500 * 4 / 3 * math.pi
for k in range(1, 5):
    s = stops[str(k - 1)]
    want = {"east_m": 500022 + 10 * k, "north_m": 5200035, "height_m": 100 + 10 * k, "mass_kg": mass, "runout_m": 10 * k, "drop_m": 0,
            "largest_speed_m_s": k, "largest_energy_kJ": 0.7 * mass * k * k / 1000, "largest_jump_height_m": 10 * k, "volume_m3": 4 / 3 * math.pi}
    for name, value in want.items():
        if not close(float(s[name]), value): fail(f"block {k}: {name} is {s[name]}, not {value}")
    if s["end"] != "moving" or s["stop_time_s"] != "" or s["run"] != "fly.run": fail(f"block {k}: {s}")
    rows = [r for r in ways if r["id"] == str(k - 1)]
    if len(rows) != 21: fail(f"{len(rows)} rows of block {k}")
    for i, r in enumerate(rows):
        if not (close(float(r["time_s"]), 0.5 * i) and close(float(r["east_m"]), 500022 + 0.5 * i * k)): fail(f"block {k}: {r}")
gone = stops["4"]
if gone["end"] != "left" or not 500194.99 < float(gone["east_m"]) < 500201: fail(f"the ball that left: {gone}")
two = stops["5"]
if not (close(float(two["mass_kg"]), 2 * mass) and close(float(two["east_m"]), 500050) and close(float(two["largest_energy_kJ"]), mass / 1000)):
    fail(f"the body of two parts: {two}")
for kind in ("gpkg", "geojson"):
    for name, geometry in (("stops", "POINT"), ("trajectories", "LINESTRING")):
        data = ogr.Open(f"{kind}/{name}.{kind}"); layer = data.GetLayer(0)
        if "32N" not in layer.GetSpatialRef().GetName(): fail(f"{kind}: the CRS is {layer.GetSpatialRef().GetName()}")
        if layer.GetName() != name or layer.GetFeatureCount() != 6: fail(f"{kind}: {layer.GetName()} of {layer.GetFeatureCount()}")
        for feature in layer:
            s = stops[str(feature["id"])]; g = feature.GetGeometryRef()
            if g.GetGeometryName() != geometry: fail(f"{kind}: a {g.GetGeometryName()}")
            if not all(close(a, float(s[n])) for a, n in zip(g.GetPoint(g.GetPointCount() - 1), ("east_m", "north_m", "height_m"))): fail(f"{kind}: {name} {feature['id']} ends elsewhere")
            if geometry == "LINESTRING":   # frames, and where the ball was after its first step in each cell since the frame before
                frames = [tuple(float(r[n]) for n in ("east_m", "north_m", "height_m")) for r in ways if r["id"] == s["id"]]
                points = g.GetPoints()
                at = 0
                for p in points:
                    if at < len(frames) and all(close(a, b) for a, b in zip(p, frames[at])): at += 1
                cells = len({math.floor(p[0] / 10) for p in points})
                if at != len(frames) or len(points) < len(frames) + cells - 2 or any(b[0] < a[0] for a, b in zip(points, points[1:])):
                    fail(f"{kind}: points of {feature['id']}: {len(points)} with {at} of {len(frames)} frames in {cells} cells")
            for n, v in s.items():
                if n in ("east_m", "north_m", "height_m", "id"): continue
                have = feature.GetField(n) if feature.IsFieldSetAndNotNull(n) else None
                if (have is None) != (v == "") or (have is not None and (have != v if n in ("run", "end") else not close(have, float(v)))): fail(f"{kind}: {n} of {feature['id']} is {have}, not {v}")
fences = {r["name"]: r for r in csv.DictReader(open("csv/fences.csv"))}
near, far, none = fences["near"], fences["far, east"], fences["none"]
def check(f, who, above):
    n = len(who)
    if int(f["blocks"]) != n or not close(float(f["blocks_share"]), n / 6): fail(f"blocks of {f}")
    if f["blocks_above"] != above: fail(f"above: {f}")
    for name, of in (("speed_m_s", lambda k: k), ("energy_kJ", lambda k: 0.7 * mass * k * k / 1000), ("height_needed_m", lambda k: 10 * k + 1)):
        v = [of(k) for k in who]
        near_to = (lambda a, b: -1e-9 <= a - b < 0.05) if name == "height_needed_m" else close  # a bound of the radius
        if n and not (near_to(float(f[name + "_mean"]), sum(v) / n) and near_to(float(f[name + "_max"]), max(v)) and near_to(float(f[name + "_p50"]), (sorted(v)[(n - 1) // 2] + sorted(v)[n // 2]) / 2)): fail(f"{name}: {f}")
        if not n and f[name + "_max"] != "": fail(f"{name} of nothing: {f}")
check(near, [1, 2, 3, 4], "2")
check(none, [], "")
if int(far["blocks"]) != 3 or far["blocks_above"] != "" or not close(float(far["speed_m_s_max"]), 40): fail(f"far: {far}")
passages = [r for r in csv.DictReader(open("csv/passages.csv")) if r["fence"] == "near"]
for k, r in zip(range(1, 5), passages):
    if not (close(float(r["time_s"]), 8 / k) and close(float(r["east_m"]), 500030) and 0 <= float(r["height_needed_m"]) - 10 * k - 1 < 0.05): fail(f"passage {r}")
sys.exit(bad)
PYTHON

printf '{"type": "FeatureCollection", "crs": {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::32632"}}, "features": [{"type": "Feature", "properties": {"height_m": "high"}, "geometry": {"type": "LineString", "coordinates": [[500030, 5200000], [500030, 5200050]]}}]}' >high.geojson
refused "height_m is 'high'; metres above 0 are wanted" -- fly.run -o no --fences=high.geojson
sed 's/LineString/Point/; s/\[\[500030, 5200000\], \[500030, 5200050\]\]/[500030, 5200000]/' high.geojson >point.geojson
refused 'lines are wanted' -- fly.run -o no --fences=point.geojson
refused '--triaxial excludes' -- fly.run -o no --triaxial --fences=lines.geojson
refused 'gpkg/stops.gpkg' -- fly.run -o gpkg --trajectories=gpkg
exit $bad
