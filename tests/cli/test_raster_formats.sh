#!/usr/bin/env bash
# Elevation rasters of many formats, written by GDAL's Python module (XYZ and VRT as text): talus-topo stores the
# same heights, origin and CRS from each, read back from the catalog's terrain by talus-solve's results with h5py.
# Degrees, feet, rotated and oblong cells are refused with the line that mends them, places without data that hold a
# height of 0 with the one that declares them, files of several rasters with the gdal_translate line, and a
# VRT leads to no other kind of file and to no network.
# sanitized: reads files of other programs
set -u
python=${PYTHON:-/usr/bin/python3} # Debian's, for which python3-gdal and python3-h5py are installed
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
bad=0
fail() { echo "FAILED: $*"; bad=1; }
refused() { # FILE TEXT...
  local file=$1 text; shift
  "$BIN/talus-topo" "$file" --catalog=no.tals >out 2>err && fail "$file was taken"
  for text; do grep -qF -- "$text" err || { fail "'$text' is not in the message of $file:"; cat err; }; done
  [ ! -e no.tals ] || { fail "a catalog was made of $file"; rm -f no.tals; }
}

"$python" - <<'PYTHON' || exit 1
import numpy
from osgeo import gdal, osr
gdal.UseExceptions()
NX, NY, CELL, WEST, NORTH = 24, 20, 5.0, 500000.0, 5200100.0
z = numpy.fromfunction(lambda r, c: 1500 + 3 * (NY - 1 - r) + 0.5 * c, (NY, NX)).astype("float32")
z[3, 7] += 2  # so that a mirrored raster is another one
def crs(code):
    s = osr.SpatialReference(); s.ImportFromEPSG(code); return s
def memory(code=32632, cell=CELL, west=WEST, north=NORTH):
    set_ = gdal.GetDriverByName("MEM").Create("", NX, NY, 1, gdal.GDT_Float32)
    set_.SetGeoTransform((west, cell, 0, north, 0, -cell))
    if code: set_.SetSpatialRef(crs(code))
    set_.GetRasterBand(1).WriteArray(z)
    return set_
numpy.save("z.npy", z)
made = []
for driver, name, options in (("GTiff", "a.tif", []), ("GPKG", "b.gpkg", ["TILE_FORMAT=TIFF"]), ("netCDF", "c.nc", []),
                              ("AAIGrid", "d.asc", []), ("HFA", "e.img", []), ("ENVI", "f.bin", []),
                              ("EHdr", "g.flt", []), ("SAGA", "h.sdat", []), ("GSAG", "i.grd", []),
                              ("GSBG", "j.grd", []), ("GS7BG", "k.grd", []), ("BT", "m.bt", [])):
    gdal.GetDriverByName(driver).CreateCopy(name, memory(), options=options).FlushCache()
    made.append(name)
with open("n.xyz", "w") as f:
    for r in range(NY):
        for c in range(NX): f.write(f"{WEST + (c + 0.5) * CELL} {NORTH - (r + 0.5) * CELL} {z[r, c]}\n")
made.append("n.xyz")
vrt = lambda source: f"""<VRTDataset rasterXSize="{NX}" rasterYSize="{NY}"><SRS>EPSG:32632</SRS>
<GeoTransform>{WEST}, {CELL}, 0, {NORTH}, 0, {-CELL}</GeoTransform>
<VRTRasterBand dataType="Float32" band="1"><SimpleSource><SourceFilename relativeToVRT="1">{source}</SourceFilename>
<SourceBand>1</SourceBand></SimpleSource></VRTRasterBand></VRTDataset>"""
open("o.vrt", "w").write(vrt("a.tif")); made.append("o.vrt")
open("made.txt", "w").write("\n".join(made) + "\n")
# what is refused
open("gone.vrt", "w").write(vrt("gone.tif"))
open("web.vrt", "w").write(vrt("a.tif").replace('relativeToVRT="1">a.tif', 'relativeToVRT="0">/vsicurl/http://127.0.0.1:9/a.tif'))
gdal.GetDriverByName("GIF").CreateCopy("a.gif", gdal.Translate("", memory(), format="MEM", outputType=gdal.GDT_Byte)).FlushCache()
open("gif.vrt", "w").write(vrt("a.gif"))
for driver, name in (("GTiff", "degrees.tif"), ("netCDF", "degrees.nc"), ("GPKG", "degrees.gpkg")):
    options = ["TILE_FORMAT=TIFF"] if driver == "GPKG" else []
    gdal.GetDriverByName(driver).CreateCopy(name, memory(4326, 1e-3, 11, 47), options=options).FlushCache()
open("degrees.vrt", "w").write(vrt("degrees.tif").replace("EPSG:32632", "EPSG:4326")
                               .replace(f"{WEST}, {CELL}, 0, {NORTH}, 0, {-CELL}", "11, 1e-3, 0, 47, 0, -1e-3"))
with open("degrees.xyz", "w") as f:
    for r in range(4):
        for c in range(4): f.write(f"{11 + c * 1e-3} {47 - r * 1e-3} {1500 + c}\n")
for driver, name in (("GTiff", "feet.tif"), ("netCDF", "feet.nc"), ("GPKG", "feet.gpkg")):
    options = ["TILE_FORMAT=TIFF"] if driver == "GPKG" else []
    gdal.GetDriverByName(driver).CreateCopy(name, memory(2263, 10, 980000, 200000), options=options).FlushCache()
def tif(name, set_, transform=None, unit=None, srs=None):
    if transform: set_.SetGeoTransform(transform)
    if unit: set_.GetRasterBand(1).SetUnitType(unit)
    if srs: set_.SetProjection(srs)
    gdal.GetDriverByName("GTiff").CreateCopy(name, set_).FlushCache()
tif("south.tif", memory(4326, 1e-3, -70, -33))
tif("flat-degrees.tif", memory(4326), (11, 1e-3, 0, 47, 0, -5e-4))
ROTATED = (WEST, 4.9, 0.8, NORTH, 0.8, -4.9)
tif("rotated.tif", memory(), ROTATED)
tif("wide.tif", memory(), (WEST, 5, 0, NORTH, 0, -7))
tif("high-feet.tif", memory(), unit="ft")
datum = osr.SpatialReference(); datum.SetFromUserInput("EPSG:32632+8228")
tif("datum-feet.tif", memory(), srs=datum.ExportToWkt())
tif("browser.tif", memory(3857, 5, 1.2e6, 5.9e6))
tif("sphere.tif", memory(3395, 5, 1.2e6, 5.9e6))
tif("south-sea.tif", memory(3857, 5, 1.2e6, 1.5e6))
tif("europe.tif", memory(3035, 5, 2.6e6, 2.0e6))
gdal.Warp("zeros.tif", "rotated.tif", resampleAlg="bilinear")
gdal.Warp("warped.tif", "rotated.tif", resampleAlg="bilinear", dstNodata=-9999)
gdal.Translate("declared.tif", "zeros.tif", noData=0)
sea = memory(); sea.GetRasterBand(1).WriteArray(numpy.maximum(z - 1520, 0)); tif("sea.tif", sea)  # zeros that are the sea's
set_ = gdal.GetDriverByName("GPKG").CreateCopy("two.gpkg", memory(), options=["TILE_FORMAT=TIFF", "RASTER_TABLE=dem"]); set_ = None
set_ = gdal.GetDriverByName("GPKG").CreateCopy("two.gpkg", memory(), options=["TILE_FORMAT=TIFF", "RASTER_TABLE=dsm", "APPEND_SUBDATASET=YES"]); set_ = None
PYTHON

cat >one.yaml <<'YAML'
catalog: c.tals
time: {dt_s: 1.0e-3, steps: 1}
shapes: [{name: ball, diameter_m: 2}]
bodies: [{shape: ball, position_m: [50, 50, 300]}]
terrain: {name: t}
YAML
while read -r name; do
  rm -rf c.tals one.run
  "$BIN/talus-topo" "$name" --catalog=c.tals --name=t --crs=EPSG:32632 >out 2>err || { fail "$name: $(cat err)"; continue; }
  "$BIN/talus-solve" one.yaml -o one.run -q || { fail "the study on $name"; continue; }
  "$python" - "$name" <<'PYTHON' || fail "$name"
import h5py, numpy, sys
z = numpy.load("z.npy")[::-1]                     # rows go north
t = h5py.File("one.run/run.h5")["terrain"]
a = dict(t.attrs)
h = t["height_m"][:]
origin = a["origin"]
d = numpy.abs(h.reshape(z.shape) + origin[2] - z).max()
if d > 1e-3: print("heights differ by", d); sys.exit(1)
PYTHON
  "$BIN/talus-catalog" show c.tals >out
  grep -qF "extent_of_samples: east 500002.5 to 500117.5, north 5200002.5 to 5200097.5 m" out || fail "$name lies elsewhere: $(grep extent out)"
done <made.txt
# the CRS comes from the file where it holds one
for name in a.tif b.gpkg c.nc o.vrt; do
  rm -f c.tals
  "$BIN/talus-topo" $name --catalog=c.tals >out 2>err || fail "$name with its own CRS: $(cat err)"
  "$BIN/talus-catalog" show c.tals | grep -qE '^crs: WGS 84 / UTM zone 32N' || fail "the CRS of $name: $("$BIN/talus-catalog" show c.tals | grep ^crs)"
done

for name in degrees.tif degrees.nc degrees.gpkg degrees.vrt degrees.xyz; do
  from=""; [ $name = degrees.xyz ] && from="-s_srs EPSG:4326 "
  refused $name "$name: coordinates" degrees \
    "gdalwarp $from-t_srs EPSG:32632 -tr 111 111 -r bilinear -dstnodata -9999 $name OUT.tif (UTM zone 32N"
done
for name in feet.tif feet.nc feet.gpkg; do
  refused $name "$name: coordinates are in" "0.3048" \
    "gdalwarp -t_srs EPSG:32618 -tr 3.05 3.05 -r bilinear -dstnodata -9999 $name OUT.tif" "gdal_calc.py -A OUT.tif --calc='A*0.3048"
done
refused south.tif "EPSG:32719"
refused flat-degrees.tif "-t_srs EPSG:32632 -tr 55.6 55.6 "   # not first to be made square in degrees
refused rotated.tif "gdalwarp -r bilinear -dstnodata -9999 rotated.tif OUT.tif"
refused wide.tif "gdalwarp -tr 5 5 -r bilinear -dstnodata -9999 wide.tif OUT.tif"
refused high-feet.tif "gdal_calc.py -A high-feet.tif --calc='A*0.3048' --outfile=OUT.tif"
refused datum-feet.tif "gdal_translate -a_srs EPSG:CODE datum-feet.tif FLAT.tif" "gdal_calc.py -A FLAT.tif --calc='A*0.3048'"
# a CRS whose metres are none on the ground: refused from a tenth on, below it is said, and the national grids are taken
for name in browser.tif sphere.tif; do
  refused $name "whose metre is 0.68" "gdalwarp -t_srs EPSG:32632 -tr 3.4"
done
for name in south-sea.tif europe.tif; do
  "$BIN/talus-topo" $name --catalog=c.tals --name=${name%.tif} >out 2>err || fail "$name: $(cat err)"
done
"$BIN/talus-topo" south-sea.tif --catalog=c.tals --name=sea2 >out 2>err
grep -q 'a metre of its CRS is 0.967 m' err || fail "stretched by 3%: $(cat err)"
"$BIN/talus-topo" a.tif --catalog=c.tals --name=utm >out 2>err
grep -q 'metre of its CRS' err && fail "a UTM zone: $(cat err)"
# What gdalwarp leaves in the corners when it is not told otherwise is a height of 0, and no ground; the lines above
# tell it otherwise, and what they make is taken.
refused zeros.tif "are above 1500 m" "gdal_translate -a_nodata 0 zeros.tif OUT.tif"
for name in warped.tif declared.tif sea.tif; do
  rm -f c.tals
  "$BIN/talus-topo" $name --catalog=c.tals >out 2>err || fail "$name: $(cat err)"
done
refused two.gpkg "two.gpkg: holds several rasters" "gdal_translate 'NAME' OUT.tif" "GPKG:two.gpkg:dem" "GPKG:two.gpkg:dsm"
refused gone.vrt gone.vrt
refused gif.vrt gif.vrt
refused web.vrt web.vrt
refused a.gif "no elevation raster" "gdal_translate a.gif OUT.tif"
exit $bad
