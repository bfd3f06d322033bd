#!/usr/bin/env bash
# Classes of the ground from polygons of GIS files in another CRS, from a raster, and from both: each sample has the
# class that GDAL's Contains says, read back by the Python module; of overlapping polygons the last in the file counts,
# with a warning; gaps fall to the raster, then to --class-default, else they are refused, as are fields that are no
# whole numbers and a raster of another CRS.
# sanitized: reads files of other programs
set -u
python=${PYTHON:-/usr/bin/python3} # Debian's, for which python3-gdal and python3-h5py are installed
source=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$source/python"
bad=0
fail() { echo "FAILED: $*"; bad=1; }
topo() { # NAME options...
  local name=$1; shift
  "$BIN/talus-topo" dem.tif --catalog=c.tals --name="$name" "$@" >out 2>err || fail "$name: $(cat err)"
}
refused() { # TEXT -- options
  local text=$1; shift 2
  "$BIN/talus-topo" dem.tif --catalog=no.tals "$@" >out 2>err && fail "taken: $*"
  grep -qF -- "$text" err || fail "'$text' is not in the message: $(cat err)"
  [ ! -e no.tals ] || { fail "a catalog was made: $*"; rm -f no.tals; }
}

cat >made.py <<'PYTHON'
import numpy
from osgeo import gdal, ogr, osr
gdal.UseExceptions(); ogr.UseExceptions(); osr.UseExceptions()
NX, NY, CELL, WEST, NORTH = 40, 30, 5.0, 500000.0, 5200150.0
def crs(code):
    s = osr.SpatialReference(); s.ImportFromEPSG(code); s.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
    return s
def raster(name, values, code=32632, kind=gdal.GDT_Float32, void=None):
    set_ = gdal.GetDriverByName("GTiff").Create(name, NX, NY, 1, kind)
    set_.SetGeoTransform((WEST, CELL, 0, NORTH, 0, -CELL)); set_.SetSpatialRef(crs(code))
    if void is not None: set_.GetRasterBand(1).SetNoDataValue(void)
    set_.GetRasterBand(1).WriteArray(values)
# two rectangles of one feature, the first with a hole; a triangle over both; a strip of a class of its own
AREAS = [(7, "MULTIPOLYGON (((500011 5200011, 500101 5200011, 500101 5200101, 500011 5200101, 500011 5200011),"
             " (500036 5200036, 500076 5200036, 500076 5200076, 500036 5200076, 500036 5200036)),"
             " ((500151 5200021, 500181 5200021, 500181 5200131, 500151 5200131, 500151 5200021)))"),
         (3, "POLYGON ((500061 5200061, 500171 5200083, 500061 5200141, 500061 5200061))"),
         (9, "POLYGON ((499991 5199991, 500209 5199991, 500209 5200006, 499991 5200006, 499991 5199991))")]
WHOLE = [(1, "POLYGON ((499990 5199990, 500210 5199990, 500210 5200160, 499990 5200160, 499990 5199990))")]
PYTHON
"$python" - <<'PYTHON' || exit 1
from made import *
raster("dem.tif", numpy.fromfunction(lambda r, c: 900 + 2 * (NY - r) + 0 * c, (NY, NX)))
cover = numpy.fromfunction(lambda r, c: numpy.where(c < 20, 11, 12), (NY, NX)); cover[2, 30:33] = 255
raster("cover.tif", cover, kind=gdal.GDT_Byte, void=255)
raster("elsewhere.tif", cover, code=32633, kind=gdal.GDT_Byte)
def write(driver, name, code, features, kind=ogr.OFTInteger, field="class"):
    data = ogr.GetDriverByName(driver).CreateDataSource(name)
    layer = data.CreateLayer("ground", crs(code), options=["COORDINATE_PRECISION=12"] if driver == "GeoJSON" else [])
    layer.CreateField(ogr.FieldDefn(field, kind))
    for value, wkt in features:
        f = ogr.Feature(layer.GetLayerDefn()); g = ogr.CreateGeometryFromWkt(wkt); g.AssignSpatialReference(crs(32632))
        if code != 32632: g.TransformTo(crs(code))
        f.SetGeometry(g); f[field] = value; layer.CreateFeature(f)
write("GPKG", "areas.gpkg", 32632, AREAS)
write("GeoJSON", "areas.geojson", 4326, AREAS)
write("ESRI Shapefile", "areas.shp", 32633, AREAS, field="KIND")
write("GPKG", "all.gpkg", 32632, WHOLE + AREAS)
write("GPKG", "words.gpkg", 32632, [("scree", AREAS[1][1])], kind=ogr.OFTString)
write("GPKG", "lines.gpkg", 32632, [(1, "LINESTRING (500000 5200000, 500100 5200100)")])
PYTHON

topo holes --class-polygons=areas.gpkg --class-default=0
grep -q '^class_samples_of_default: [1-9]' out || fail "no number of samples with the default: $(cat out)"
grep -qF "areas.gpkg: polygons of different classes overlap at" err || fail "no warning of the overlap: $(cat err)"
grep -qF "(7 and 3): the one that stands last in the file counts" err || fail "the classes of the overlap: $(cat err)"
topo degrees --class-polygons=areas.geojson --class-default=0
topo shape --class-polygons=areas.shp --class-field=kind --class-default=0
topo both --class-polygons=areas.gpkg --classes=cover.tif --class-default=5
topo all --class-polygons="all.gpkg|layername=ground|subset=class <> 9"
grep -q '^class_samples_of_default: 0$' out || fail "gaps of polygons that have none: $(cat out)"
topo raster --classes=cover.tif --class-default=5
refused "areas.gpkg: no class at east 50" -- --class-polygons=areas.gpkg
refused "cover.tif: no class at east 500152.5, north 5200137.5, and at 3 samples" -- --classes=cover.tif
refused "class is 'scree'; whole numbers" -- --class-polygons=words.gpkg --class-default=0
refused "has no field 'kind' with the class of each polygon; its fields are: class" -- --class-polygons=areas.gpkg --class-field=kind
refused "polygons are wanted" -- --class-polygons=lines.gpkg
refused "gdalwarp -t_srs EPSG:CODE -r near elsewhere.tif OUT.tif" -- --classes=elsewhere.tif --class-default=0
"$python" - <<'PYTHON' || bad=1
from made import *
import sys, talus
def expected(features, under):
    out = under.copy()
    for j in range(NY):
        for i in range(NX):
            p = ogr.Geometry(ogr.wkbPoint); p.AddPoint_2D(WEST + (i + 0.5) * CELL, NORTH - (NY - j - 0.5) * CELL)
            for value, wkt in features:
                if ogr.CreateGeometryFromWkt(wkt).Contains(p): out[j, i] = value
    return out
zero = numpy.zeros((NY, NX), int)
cover = numpy.fromfunction(lambda r, c: numpy.where(c < 20, 11, 12), (NY, NX)); cover[2, 30:33] = 5
cover = cover[::-1]  # rows go north
want = {"holes": expected(AREAS, zero), "both": expected(AREAS, cover), "raster": cover,
        "all": expected(WHOLE + AREAS[:2], zero)}
want["degrees"] = want["shape"] = want["holes"]
assert len(numpy.unique(want["holes"])) == 4 and (want["all"] == 0).sum() == 0
bad = 0
with talus.Catalog("c.tals") as catalog:
    for name, classes in want.items():
        have = catalog.terrain(name).classes
        if not numpy.array_equal(numpy.asarray(have).reshape(NY, NX), classes):
            print("FAILED:", name, "differs at", int((numpy.asarray(have).reshape(NY, NX) != classes).sum()), "samples"); bad = 1
sys.exit(bad)
PYTHON
exit $bad
