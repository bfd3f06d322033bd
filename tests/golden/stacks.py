"""Voxel stacks by NumPy, h5py and GDAL, for tests/unit/test_golden_stack.c.

    stacks.py write FOLDER        stacks of 5 x 4 x 3 voxels (x, y, z) in several formats
    stacks.py check FILE          one that Talus wrote, .h5 or .tif

Voxel (x, y, z) is 100 z + 10 y + x, times -1 in signed types; voxel size 1.5 x 2.5 x 4 micrometres.
"""
import json
import sys

import h5py
import numpy as np
from osgeo import gdal

gdal.UseExceptions()
NX, NY, NZ = 5, 4, 3


def voxels(kind):
    z, y, x = np.meshgrid(np.arange(NZ), np.arange(NY), np.arange(NX), indexing='ij')
    sign = -1 if kind in ('int16', 'int32', 'float32') else 1
    value = sign * (100 * z + 10 * y + x)
    return value.astype(kind)


def write(folder):
    with open(folder + '/a.nrrd', 'wb') as file:
        file.write(b'NRRD0004\ntype: unsigned short\ndimension: 3\nsizes: 5 4 3\nencoding: raw\n'
                   b'endian: little\nspacings: 1.5 2.5 4\n\n')
        file.write(voxels('uint16').astype('<u2').tobytes())
    with open(folder + '/b.nhdr', 'w') as file:
        file.write('NRRD0004\ntype: float\ndimension: 3\nsizes: 5 4 3\nencoding: raw\nendian: big\n'
                   'data file: b.raw\n')
    voxels('float32').astype('>f4').tofile(folder + '/b.raw')
    with open(folder + '/c.mha', 'wb') as file:
        file.write(b'ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = True\n'
                   b'DimSize = 5 4 3\nElementSpacing = 1.5 2.5 4\nElementType = MET_SHORT\n'
                   b'ElementDataFile = LOCAL\n')
        file.write(voxels('int16').astype('>i2').tobytes())
    with open(folder + '/d.mhd', 'w') as file:
        file.write('ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = False\n'
                   'DimSize = 5 4 3\nElementType = MET_UINT\nElementDataFile = d.raw\n')
    voxels('uint32').astype('<u4').tofile(folder + '/d.raw')
    with h5py.File(folder + '/e.h5', 'w') as file:
        stack = file.create_dataset('stack', data=voxels('int32'), chunks=(2, 3, 4), compression='gzip')
        stack.attrs['element_size_um'] = np.array([4, 2.5, 1.5])
        stack.attrs['talus_cylinder'] = np.array([2.25, 1.75, 1.5])
        file.create_dataset('other/two', data=voxels('uint8')[:, :, ::-1])
    driver = gdal.GetDriverByName('GTiff')
    for z, plane in enumerate(voxels('uint16')):
        page = gdal.GetDriverByName('MEM').Create('', NX, NY, 1, gdal.GDT_UInt16)
        page.GetRasterBand(1).WriteArray(plane)
        options = ['COMPRESS=DEFLATE', 'PREDICTOR=2', 'PROFILE=BASELINE', 'BIGTIFF=YES', 'ENDIANNESS=BIG']
        driver.CreateCopy(folder + '/f.tif', page, options=options + (['APPEND_SUBDATASET=YES'] if z else []))


def same(name, found, want):
    assert found.dtype == want.dtype and found.shape == want.shape and np.array_equal(found, want), \
        (name, found.dtype, found)


def check(path):
    want = voxels('int16')
    if path.endswith('.h5'):
        with h5py.File(path, 'r') as file:
            same(path, file['stack'][...], want)
            assert np.allclose(file['stack'].attrs['element_size_um'], [4, 2.5, 1.5], rtol=1e-12)
            assert np.allclose(file['stack'].attrs['talus_cylinder'], [2.25, 1.75, 1.5], rtol=1e-15)
            assert file.attrs['talus_format'] == 1
            history = json.loads(file['provenance'][()])
    else:
        data = gdal.Open(path)
        pages = data.GetSubDatasets()
        assert len(pages) == NZ, pages
        found = np.array([gdal.Open(name).ReadAsArray() for name, _ in pages])
        same(path, found, want)
        words = dict(line.split('=', 1) for line in
                     data.GetMetadataItem('TIFFTAG_IMAGEDESCRIPTION').split('\n') if '=' in line)
        assert words['images'] == words['slices'] == str(NZ) and words['unit'] in ('um', 'micron'), words
        assert float(words['spacing']) == 4, words
        x, y = (float(data.GetMetadataItem('TIFFTAG_%sRESOLUTION' % c)) for c in 'XY')
        assert abs(1 / x - 1.5) < 1e-6 and abs(1 / y - 2.5) < 1e-6, (x, y)
        assert np.allclose([float(v) for v in words['talus_voxel_um'].split(',')], [1.5, 2.5, 4], rtol=1e-12)
        assert np.allclose([float(v) for v in words['talus_cylinder'].split(',')], [2.25, 1.75, 1.5])
        history = json.loads(words['talus_provenance'])
    assert [r['tool'] for r in history] == ['talus-test'] and history[0]['parameters']['level'] == '7', history


if __name__ == '__main__':
    {'write': write, 'check': check}[sys.argv[1]](sys.argv[2])
