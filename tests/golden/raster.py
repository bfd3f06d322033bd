"""Elevation rasters by GDAL's Python, for tests/unit/test_golden_raster.c.

    raster.py write FOLDER    scaled.tif, south.tif, tall.asc, south_tall.tif
    raster.py check FILE      a GeoTIFF as Talus wrote it
"""
import sys

import numpy as np
from osgeo import gdal, osr

gdal.UseExceptions()


def geotiff(path, values, transform, epsg=None, nodata=None, scale=None, offset=None):
    kind = {'int16': gdal.GDT_Int16, 'float32': gdal.GDT_Float32}[values.dtype.name]
    rows, columns = values.shape
    data = gdal.GetDriverByName('GTiff').Create(path, columns, rows, 1, kind, ['TILED=YES', 'COMPRESS=LZW'])
    data.SetGeoTransform(transform)
    if epsg:
        crs = osr.SpatialReference()
        crs.ImportFromEPSG(epsg)
        data.SetProjection(crs.ExportToWkt())
    band = data.GetRasterBand(1)
    if nodata is not None:
        band.SetNoDataValue(nodata)
    if scale is not None:
        band.SetScale(scale)
        band.SetOffset(offset)
    band.WriteArray(values)
    data.FlushCache()


def counted(rows, columns):
    """100 times the row from the north, and the column."""
    return (100 * np.arange(rows)[:, None] + np.arange(columns)[None, :]).astype('int16')


def write(folder):
    values = counted(5, 7)
    values[1, 2] = -32768
    geotiff(folder + '/scaled.tif', values, (600000, 2, 0, 5200000, 0, -2), 32632, -32768, 0.25, 1500)
    geotiff(folder + '/south.tif', counted(5, 7).astype('float32'), (600000, 2, 0, 5200000, 0, 2), 32632)
    # 800 rows of 0.09: from 300 at the north edge to 228 at the south edge
    with open(folder + '/tall.asc', 'w') as file:
        file.write('ncols 2\nnrows 800\nxllcorner 10\nyllcorner 228\ncellsize 0.09\n')
        file.write('1 2\n' * 800)
    # from 300 at the first row's edge up to 372, beyond what degrees can be
    geotiff(folder + '/south_tall.tif', np.ones((800, 2), 'float32'), (10, 0.09, 0, 300, 0, 0.09))


def check(path):
    """4 x 3 samples of 10 row from the south + column, one without data."""
    data = gdal.Open(path)
    found = data.ReadAsArray()
    band = data.GetRasterBand(1)
    nodata = band.GetNoDataValue()
    want = np.array([[20, 21, 22, 23], [10, 11, nodata, 13], [0, 1, 2, 3]], 'float64')
    assert np.array_equal(found, want), found
    assert np.allclose(data.GetGeoTransform(), (599997.5, 5, 0, 5200012.5, 0, -5), atol=1e-6), data.GetGeoTransform()
    crs = osr.SpatialReference(data.GetProjection())
    assert crs.GetAuthorityCode(None) == '32632', data.GetProjection()
    assert band.DataType == gdal.GDT_Float64 and band.GetScale() in (None, 1) and band.GetOffset() in (None, 0)


if __name__ == '__main__':
    {'write': write, 'check': check}[sys.argv[1]](sys.argv[2])
