#!/usr/bin/env bash
# Places of bodies and release areas from GeoPackage, GeoJSON and shapefile, written by GDAL's Python module in three
# CRS: bodies stand where the points are (a point on the central meridian has the closed form east 500000), as large
# as their volume_m3 says; of a lattice exactly the grains are kept that OGR finds inside the areas; fields set keys
# and hold before the row's; points with heights stand there, densities of points and areas are those of their blocks;
# the run is that of the effective study, which names no file, on one and two ranks; what
# cannot be used is refused at the study's key, with what to do.
# sanitized: reads files of other programs
set -u
python=${PYTHON:-/usr/bin/python3} # Debian's, for which python3-gdal and python3-h5py are installed
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
bad=0
fail() { echo "FAILED: $*"; bad=1; }
solve() { "$BIN/talus-solve" "$@" >out 2>err; }
refused() { # STUDY TEXT...
  local study=$1 text; shift
  solve "$study" -o refused.run && fail "$study was taken"
  for text; do grep -qF -- "$text" err || { fail "'$text' is not in the message of $study:"; cat err; }; done
  rm -rf refused.run
}
hash_of() { sed -n 's/^state_hash: //p' "$1"; }

mkdir study && "$python" - <<'PYTHON' || exit 1
from osgeo import ogr, osr
ogr.UseExceptions(); osr.UseExceptions()
def crs(code):
    s = osr.SpatialReference(); s.ImportFromEPSG(code); s.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
    return s
REAL, TEXT, INT = ogr.OFTReal, ogr.OFTString, ogr.OFTInteger
def write(driver, name, code, layers):
    data = ogr.GetDriverByName(driver).CreateDataSource("study/" + name)
    for layer, fields, features in layers:
        options = ["COORDINATE_PRECISION=13"] if driver == "GeoJSON" else []
        table = data.CreateLayer(layer, crs(code) if code else None, options=options)
        for field, kind in fields.items(): table.CreateField(ogr.FieldDefn(field, kind))
        for wkt, values in features:
            f = ogr.Feature(table.GetLayerDefn()); g = ogr.CreateGeometryFromWkt(wkt)
            if code and code != 32632: g.Transform(osr.CoordinateTransformation(crs(32632), crs(code)))
            f.SetGeometry(g)
            for k, v in values.items(): f[k] = v
            table.CreateFeature(f)
POINTS = [("POINT (500050 5200060)", dict(volume_m3=3.0, shape="slab", note="from the scar", velocity_m="1,2,3")),
          ("MULTIPOINT (500100 5200110, 500120 5200115)", dict(count=2)),
          ("POINT (500200 5200205)", dict(above_grou=7.0))]
FIELDS = dict(volume_m3=REAL, shape=TEXT, note=TEXT, count=INT, above_grou=REAL, velocity_m=TEXT)
write("GPKG", "points.gpkg", 32632, [("other", {}, []), ("starts", FIELDS, POINTS)])
write("GeoJSON", "points.geojson", 4326, [("starts", FIELDS, POINTS)])
write("ESRI Shapefile", "points.shp", 32633, [("points", FIELDS, [p for p in POINTS if "MULTI" not in p[0]])])
# an L with a hole, a part of its own, and a square that overlaps the L
AREAS = [("POLYGON ((500060 5200060, 500140 5200060, 500140 5200100, 500100 5200100, 500100 5200160, 500060 5200160,"
          " 500060 5200060), (500070 5200070, 500090 5200070, 500090 5200150, 500070 5200150, 500070 5200070))",
          dict(name="scar", count=9)),
         ("MULTIPOLYGON (((500160 5200160, 500190 5200160, 500175 5200190, 500160 5200160)),"
          " ((500120 5200080, 500155 5200080, 500155 5200120, 500120 5200120, 500120 5200080)))",
          dict(name="blocks", count=None))]
write("GPKG", "areas.gpkg", 32632, [("areas", dict(name=TEXT, count=INT), AREAS)])
write("GeoJSON", "areas.geojson", 4326, [("areas", dict(name=TEXT, count=INT), AREAS)])
write("GPKG", "over.gpkg", 32632, [("areas", {}, [("POLYGON ((499900 5200060, 500090 5200060, 500090 5200100, 499900 5200060))", {})])])
write("GPKG", "lost.gpkg", None, [("points", {}, POINTS[:0] + [("POINT (500050 5200060)", {})])])
write("GPKG", "far.gpkg", 32632, [("points", {}, [("POINT (500050 5200060)", {}), ("POINT (500050 5300060)", {})])])
write("GPKG", "line.gpkg", 32632, [("lines", {}, [("LINESTRING (500050 5200060, 500060 5200060)", {})])])
write("GPKG", "bow.gpkg", 32632, [("areas", {}, [("POLYGON ((500060 5200060, 500080 5200080, 500080 5200060, 500060"
                                                  " 5200080, 500060 5200060))", {})])])
write("GPKG", "bad.gpkg", 32632, [("points", dict(scale=TEXT, shape=TEXT), [("POINT (500050 5200060)", dict(scale="big")),
                                  ("POINT (500050 5200060)", dict(shape="cone")), ("POINT (500050 5200060)", dict(scale="-1"))])])
HIGH = [("POINT Z (500050 5200060 1600)", dict(density_kg_m3=2650.0)), ("POINT Z (500100 5200110 1620.5)", dict(density_kg_m3=2650.0)),
        ("POINT Z (500200 5200205 0)", dict(density_kg_m3=3100.0, above_ground_m=7.0)), ("POINT Z (500150 5200160 1650)", {})]
for driver, name, code in (("GPKG", "high.gpkg", 32632), ("GeoJSON", "high.geojson", 4326)):
    write(driver, name, code, [("high", dict(density_kg_m3=REAL, above_ground_m=REAL), HIGH)])
write("GPKG", "deep.gpkg", 32632, [("deep", {}, [("POINT Z (500050 5200060 1500)", {})])])
write("GPKG", "heavy.gpkg", 32632, [("area", dict(count=INT, density_kg_m3=REAL), [(AREAS[0][0], dict(count=5, density_kg_m3=2900.0))])])
for driver, name, fields in (("GPKG", "sized.gpkg", dict(count=5, volume_m3=0.5)),
                             ("ESRI Shapefile", "sized.shp", dict(least_volume_m3=0.3, most_volume_m3=0.9)),
                             ("GeoJSON", "sized.geojson", dict(least_volume_m3=0.9, most_volume_m3=0.3))):
    short = {key[:10] if name.endswith("shp") else key: value for key, value in fields.items()}
    write(driver, name, 32632, [("area", {key: REAL if "_" in key else INT for key in short}, [(AREAS[0][0], short)])])
open("study/meridian.geojson", "w").write('{"type": "Feature", "properties": null, "geometry": {"type": "Point", "coordinates": [9, 46.9545]}}')
PYTHON

# a plane that rises by 2 m in 10 to the north
{ printf 'ncols 30\nnrows 30\nxllcorner 499990\nyllcorner 5200000\ncellsize 10\n'
  awk 'BEGIN {for (r = 30; r > 0; r--) {for (c = 0; c < 30; c++) printf "%g ", 1500 + 2 * r; print ""}}'; } >plane.asc
"$BIN/talus-topo" plane.asc --catalog=study/c.tals --name=slope --crs=EPSG:32632 >/dev/null || fail "the terrain"
"$BIN/talus-topo" plane.asc --catalog=study/bare.tals --name=slope >/dev/null || fail "the terrain without CRS"
make_study() { # NAME LINE...
  { cat <<'YAML'
catalog: c.tals
time: {dt_s: 1.0e-3, steps: 2}
gravity_m_s2: [0, 0, 0]
shapes: [{name: block, kind: box, size_m: [1.2, 1, 0.8], spacing_m: 0.1}, {name: slab, kind: box, size_m: [1, 2, 3]}]
terrain: {name: slope}
YAML
    printf '%s\n' "${@:2}"; } >"study/$1.yaml"
}

# ---- points ----
for source in 'points.gpkg|layername=starts' points.geojson points.shp; do
  for frame in local terrain; do
    make_study p "crs: $frame" "bodies: [{shape: block, points_file: '$source', above_ground_m: 1, step_m: [0, 5, 0]}]"
    rm -rf p.run
    solve study/p.yaml -o p.run || { fail "$source: $(cat err)"; continue; }
    grep -qE "fields used: .*volume_m3.*; not used: note" err || fail "$source does not say its fields: $(cat err)"
    "$python" - "$source" <<'PYTHON' || fail "$source in the frame $frame"
import h5py, sys
import numpy as np
run, frame = h5py.File("p.run/run.h5"), h5py.File("p.run/frame_000000.h5")
origin = dict(run["terrain"].attrs)["origin"]
x = frame["position_m"][:].reshape(-1, 3)[np.argsort(frame["id"][:])] + origin
scale = frame["scale"][:][np.argsort(frame["id"][:])]
want = [(500050, 5200060), (500100, 5200110), (500100, 5200115), (500120, 5200115), (500120, 5200120), (500200, 5200205)]
if "shp" in sys.argv[1]: want = [want[0], want[5]]
size = np.full(len(want), 1.0); size[0] = np.cbrt(3.0 / 6)
d = np.abs(x[:, :2] - want).max()
# the lowest corner of an upright box of half width w on the plane: over its northern edge
slab, block = size[0] * np.array([2, 3]) / 2, np.array([1, 0.8]) / 2
ground = 1500 + 0.2 * (np.array(want)[:, 1] - 5199995)
high = ground + np.array([0.2 * (slab if i == 0 else block)[0] + (slab if i == 0 else block)[1] + (7 if i == len(want) - 1 else 1)
                          for i in range(len(want))])
e = np.abs(x[:, 2] - high).max()
v = frame["velocity_m_s"][:].reshape(-1, 3)[np.argmin(frame["id"][:])]
if d > 1e-5 or e > 2e-3 or np.abs(scale - size).max() > 1e-12 or abs(v - [1, 2, 3]).max() > 0:
    print("off by", d, "m in plan,", e, "m in height; scale", scale, "velocity", v); sys.exit(1)
PYTHON
  done
done
first=$(hash_of out)
grep -q points_file p.run/study.yaml && grep -q "points_file: \"..*\"" p.run/study.yaml && fail "the effective study names a file"
cp p.run/study.yaml study/effective.yaml
rm -rf again.run; solve study/effective.yaml -o again.run --set catalog=c.tals || fail "the effective study: $(cat err)"
[ -n "$first" ] && [ "$(hash_of out)" = "$first" ] || fail "the effective study gives other bits"
make_study m 'bodies: [{shape: block, points_file: meridian.geojson, above_ground_m: 1}]'
rm -rf m.run; solve study/m.yaml -o m.run || fail "the meridian: $(cat err)"
"$python" -c 'import h5py, sys
x = h5py.File("m.run/frame_000000.h5")["position_m"][:].ravel()[0] + dict(h5py.File("m.run/run.h5")["terrain"].attrs)["origin"][0]
sys.exit(0 if abs(x - 500000) < 1e-5 else f"east {x}")' || fail "a point on the central meridian"

# ---- heights and densities ----
for source in high.gpkg high.geojson; do
  make_study h 'crs: local' "bodies: [{shape: block, points_file: $source, velocity_m_s: [2, 0, 0]}]" \
    'materials: [{name: rock, density_kg_m3: 2500}, {name: ice}]' 'grains: {material: rock}' \
    'pairs: [{between: [rock, rock], friction: 0.7}, {between: [ice, rock], friction: 0.1}]'
  rm -rf h.run h.out; solve study/h.yaml -o h.run || { fail "$source: $(cat err)"; continue; }
  grep -q 'fields used: density_kg_m3, above_ground_m; not used: none' err || fail "$source does not say its fields: $(cat err)"
  "$BIN/talus-measure" h.run -o h.out --trajectories=csv -q >out 2>err || fail "$source: $(cat err)"
  "$python" - <<'PYTHON' || fail "heights and densities of $source"
import csv, sys
rows = sorted(csv.DictReader(open("h.out/trajectories.csv")), key=lambda r: (float(r["time_s"]), int(r["id"])))[:4]
mass = {r["id"]: float(r["mass_kg"]) for r in csv.DictReader(open("h.out/stops.csv"))}
# the lowest corner over the northern edge of an upright box 1 m wide and 0.8 m high
down = 1500 + 0.2 * (5200205 - 5199995) + 0.2 * 0.5 + 0.4 + 7
for r, height, density in zip(rows, (1600, 1620.5, down, 1650), (2650, 2650, 3100, 2500)):
    if abs(float(r["height_m"]) - height) > 2e-3 or abs(mass[r["id"]] - 0.96 * density) > 1e-6 * mass[r["id"]]:
        print(r, mass[r["id"]], height, 0.96 * density); sys.exit(1)
PYTHON
done
for want in '"rock, 2650 kg/m3"' '"rock, 3100 kg/m3"'; do
  [ "$(grep -c "name: $want" h.run/study.yaml)" = 1 ] || fail "$want is not once among the materials: $(grep -A40 '^materials' h.run/study.yaml)"
done
[ "$(grep -c 'friction: 0.7$' h.run/study.yaml)" = 6 ] && [ "$(grep -c 'friction: 0.1$' h.run/study.yaml)" = 3 ] || fail "pairs: $(grep -B1 -A3 between h.run/study.yaml)"
cp h.run/study.yaml study/effective.yaml; solve study/h.yaml -o h1.run; first=$(hash_of out)
solve study/effective.yaml -o h2.run --set catalog=c.tals; [ -n "$first" ] && [ "$(hash_of out)" = "$first" ] || fail "the effective study of densities"
make_study deep 'bodies: [{shape: block, points_file: deep.gpkg}]'
refused study/deep.yaml 'bodies.0.points_file' 'feature 1: its height of 1500 m is 13 m below the ground (1513 m)' 'above_ground_m'
make_study heavy 'grains: {shapes: [block]}' 'release: {assembly: lattice, layers: 1, polygon_file: heavy.gpkg}'
rm -rf heavy.run; solve study/heavy.yaml -o heavy.run || fail "a density of an area: $(cat err)"
"$BIN/talus-measure" heavy.run -o heavy.out -q >out 2>err; awk '$1 == "mass:" {exit !(($2 - 5 * 0.96 * 2900) ^ 2 < 1)}' out || fail "mass of the area's blocks: $(grep mass out)"

# ---- areas ----
lattice='assembly: lattice, layers: 1'
make_study all 'grains: {shapes: [block]}' "release: {$lattice, low_m: [60, 50, 0], high_m: [195, 195, 0]}"
make_study cut 'grains: {shapes: [block]}' "release: {$lattice, low_m: [60, 50, 0], high_m: [195, 195, 0], polygon_file: areas.gpkg}"
make_study geo 'grains: {shapes: [block]}' "release: {$lattice, low_m: [60, 50, 0], high_m: [195, 195, 0], polygon_file: areas.geojson}"
make_study own 'grains: {shapes: [block]}' "release: {$lattice, polygon_file: areas.gpkg}"
for name in all cut geo own; do
  rm -rf $name.run; solve study/$name.yaml -o $name.run || fail "$name: $(cat err)"
done
rm -rf cut2.run; "$BIN/talus-mpirun" -n 2 "$BIN/talus-solve" study/cut.yaml -o cut2.run >two 2>err || fail "two ranks: $(cat err)"
rm -rf cut1.run; solve study/cut.yaml -o cut1.run
[ -n "$(hash_of two)" ] && [ "$(hash_of out)" = "$(hash_of two)" ] || fail "other bits on two ranks"
"$python" - <<'PYTHON' || fail "the areas"
import h5py, sys
import numpy as np
from osgeo import ogr
ogr.UseExceptions()
def places(run):
    o = dict(h5py.File(run + "/run.h5")["terrain"].attrs)["origin"]
    return h5py.File(run + "/frame_000000.h5")["position_m"][:].reshape(-1, 3)[:, :2] + o[:2]
data = ogr.Open("study/areas.gpkg"); layer = data.GetLayer(0)
areas = [f.GetGeometryRef().Clone() for f in layer]
def inside(p):
    point = ogr.Geometry(ogr.wkbPoint); point.AddPoint_2D(*p)
    return any(a.Contains(point) for a in areas)
want = sorted(tuple(p) for p in places("all.run") if inside(p))
for run in ("cut.run", "geo.run"):
    have = sorted(tuple(p) for p in places(run))
    if have != want: print(run, len(have), "grains,", len(want), "wanted"); sys.exit(1)
everything = len(places("all.run"))
if not 100 < len(want) < everything: print("the case shows nothing:", len(want), everything); sys.exit(1)
own = places("own.run")
if not all(inside(p) for p in own) or abs(len(own) - len(want)) > 0.1 * len(want):
    print("bounds of the areas:", len(own), "grains"); sys.exit(1)
PYTHON
# an area that reaches beyond the terrain: blocks start on the terrain, and that is said
grep -q 'reaches beyond' err && fail "areas on the terrain: $(cat err)"
make_study over 'grains: {shapes: [block]}' 'release: {polygon_file: over.gpkg, above_ground_m: 1}' 'ensemble: {count: 20}'
rm -rf over.run; "$BIN/talus-ensemble" study/over.yaml --set "gravity_m_s2=[0,0,-9.81]" -o over.run >out 2>err || fail "an area over the border: $(cat err)"
grep -q 'over.gpkg: the release area reaches beyond the terrain, from east 499900 to 500090, where that covers 499995' err || fail "no word of the border: $(cat err)"
awk -F, 'NR > 1 && $7 < 499990 {bad = 1} END {exit bad || NR != 21}' over.run/blocks.csv || fail "places over the border: $(cut -d, -f7 over.run/blocks.csv)"
# volumes of an ensemble's blocks from its release area; how many are drawn is not the area's to say
for source in gpkg shp geojson; do
  make_study sized 'grains: {shapes: [block]}' "release: {polygon_file: sized.$source, above_ground_m: 1}" \
    'ensemble: {count: 20, least_volume_m3: 2, most_volume_m3: 3}'
  rm -rf sized.run; "$BIN/talus-ensemble" study/sized.yaml --set "gravity_m_s2=[0,0,-9.81]" -o sized.run >out 2>err
  code=$?
  if [ $source = geojson ]; then
    [ $code = 1 ] && grep -q 'ensemble.most_volume_m3: is below least_volume_m3' err || fail "a range upside down: $(cat err)"
    continue
  fi
  [ $code = 0 ] || fail "volumes of an area ($source): $(cat err)"
  case $source in
  gpkg) grep -q 'fields used: volume_m3; not used: count$' err || fail "fields of $source: $(cat err)"; low=0.5 high=0.5;;
  shp) grep -q 'fields used: least_volu, most_volum; not used: none' err || fail "fields of $source: $(cat err)"; low=0.3 high=0.9;;
  esac
  awk -F, -v low=$low -v high=$high 'NR > 1 && ($5 < low - 1e-9 || $5 > high + 1e-9) {bad = 1} NR > 1 {least = NR == 2 || $5 < least ? $5 : least}
    END {exit bad || NR != 21 || least > low + 0.3}' sized.run/blocks.csv || fail "volumes of $source: $(cut -d, -f5 sized.run/blocks.csv)"
done
make_study nine 'grains: {shapes: [block]}' "release: {$lattice, polygon_file: \"areas.gpkg|subset=name = 'scar'\"}"
rm -rf nine.run; solve study/nine.yaml -o nine.run || fail "a subset: $(cat err)"
grep -q '^grains: 9$' out || fail "the field count is not used: $(grep ^grains: out)"

# ---- refused, each at the key ----
points() { make_study r "bodies: [{shape: block, points_file: '$1', above_ground_m: 1}]"; }
points points.gpkg; refused study/r.yaml 'r.yaml:6:' 'bodies.0.points_file: ' 'holds several layers' 'points.gpkg|layername=NAME' starts other
points 'points.gpkg|layername=start'; refused study/r.yaml 'there is no such layer' starts other
points 'points.geojson|layer=starts'; refused study/r.yaml "'layer=starts' is neither layername=NAME nor subset=CONDITION"
points 'points.geojson|subset=volume_m3 > 99'; refused study/r.yaml 'holds no feature for which volume_m3 > 99'
points 'points.geojson|subset=volume_m3 >>'; refused study/r.yaml 'is no condition on the fields'
points none.gpkg; refused study/r.yaml none.gpkg
points c.tals; refused study/r.yaml bodies.0.points_file
points areas.gpkg; refused study/r.yaml 'feature 1 is a POLYGON; points are wanted'
points line.gpkg; refused study/r.yaml 'feature 1 is a LINESTRING; points are wanted'
points lost.gpkg; refused study/r.yaml 'says no CRS' 'ogr2ogr -a_srs EPSG:CODE OUT.gpkg'
points far.gpkg; refused study/r.yaml 'feature 2: lies at' 'north 5300060' 'the terrain covers east'
points 'bad.gpkg|subset=fid=1'; refused study/r.yaml "feature 1, field scale: 'big' is not a number"
points 'bad.gpkg|subset=fid=2'; refused study/r.yaml "feature 2: there is no 'cone' in the list of shapes"
points 'bad.gpkg|subset=fid=3'; refused study/r.yaml 'feature 3, field scale: -1 is out of range'
make_study r 'bodies: [{shape: block, points_file: meridian.geojson}]'
refused study/r.yaml 'above_ground_m says how far above'
make_study r 'bodies: [{shape: block, points_file: meridian.geojson, position_m: [1, 2, 3], above_ground_m: 1}]'
refused study/r.yaml 'takes the place of position_m'
make_study r 'bodies: [{shape: block}]'; refused study/r.yaml 'bodies.0.position_m: is missing' points_file
make_study r 'bodies: [{shape: block, position_m: [50, 50, 50], scale: 2, volume_m3: 1}]'; refused study/r.yaml 'both say how large'
points meridian.geojson; sed -i 's/c.tals/bare.tals/' study/r.yaml; refused study/r.yaml 'the terrain has none' 'talus-topo --crs=EPSG:CODE'
areas() { make_study r 'grains: {shapes: [block]}' "release: {$lattice, $1}"; }
areas 'polygon_file: bow.gpkg'; refused study/r.yaml 'release.polygon_file: ' 'is no valid polygon' 'ogr2ogr -makevalid'
areas 'polygon_file: meridian.geojson'; refused study/r.yaml 'is a POINT; polygons are wanted'
areas 'polygon_file: areas.gpkg, polygon: [{x_m: 1, y_m: 1}, {x_m: 2, y_m: 1}, {x_m: 2, y_m: 2}]'
refused study/r.yaml 'takes the place of polygon'
exit $bad
