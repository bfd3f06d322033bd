"""A folder of results as docs/reference/results.md describes it, by h5py and not by Talus.

    results.py write FOLDER    write run.h5 and frame_000003.h5
    results.py older FOLDER    the same as versions before materials and parts wrote them
    results.py wrong FOLDER    the same with a pair of a material that is not there
    results.py check FOLDER    read both as Talus wrote them; what differs is printed, exit 1

Each number says where it belongs: 100 times the number of its field, 10 times the row, the component,
and 0.25 of a real. tests/unit/test_golden_results.c has the same numbers in the fields of its structs.
"""
import sys

import h5py
import numpy as np

I32, I64, U8, U32, F32, F64 = 'int32', 'int64', 'uint8', 'uint32', 'float32', 'float64'


def rows(field, count, width=1, kind=F64):
    part = 0.25 if kind in (F32, F64) else 0
    value = [[100 * field + 10 * r + c + part for c in range(width)] for r in range(count)]
    return np.array(value, kind).reshape((count,) if width == 1 else (count, width))


def turns(first, count):
    """Unit quaternions w x y z with no two numbers the same but for the signs."""
    return np.array([[0.1, 0.7, 0.5, -0.5], [0.3, -0.9, 0.3, 0.1]] * count, F64)[first:first + count]


BODIES, CONTACTS, PLANES, PARTS, TABLE = 3, 2, 2, 2, 3
SIZES = [(5, 6, 7), (6, 5, 5)]  # of the avatars' grids
NODES = [4, 5]
POINTS = [a * b * c for a, b, c in SIZES]

FRAME = {
    'id': (np.array([4, 5, 6], I64), None),
    'avatar_id': (np.array([8, 9, 8], I64), None),
    'body': (np.array([4, 4, 6], I64), None),
    'position_m': (rows(1, BODIES, 3), 'm'),
    'rotation_wxyz': (turns(0, BODIES), '1'),
    'velocity_m_s': (rows(2, BODIES, 3), 'm/s'),
    'spin_rad_s': (rows(3, BODIES, 3), 'rad/s'),
    'aggregate': (np.array([4, -1, 4], I64), None),
    'scale': (rows(4, BODIES), '1'),
    'contacts': (rows(5, BODIES, kind=I32), None),
    'flags': (np.array([0, 2, 1], I32), None),
    'material': (np.array([0, 1, 1], I32), None),
    'contact/first': (np.array([4, 5], I64), None),
    'contact/second': (np.array([6, -2], I64), None),
    'contact/point_m': (rows(6, CONTACTS, 3), 'm'),
    'contact/normal': (np.array([[0.6, 0, 0.8], [0, -1, 0]]), '1'),
    'contact/force_N': (rows(7, CONTACTS, 3), 'N'),
    'contact/gap_m': (rows(8, CONTACTS), 'm'),
    'contact/friction': (rows(9, CONTACTS), '1'),
}
FRAME_ATTRIBUTES = {'': {'format': 'talus frame', 'format_version': 1, 'index': 3, 'step': 17,
                         'time_s': 0.017, 'body_count': BODIES}}
OLDER_ATTRIBUTES = {'contact': {'friction': 0.4}}  # in place of the column

RUN = {
    'study': ('title: golden\n', None), 'title': ('golden', None), 'provenance': ('[]', None),
    'plane_point_m': (rows(9, PLANES, 3), 'm'),
    'plane_normal': (np.array([[0, 0, 1.], [0.6, 0, 0.8]]), '1'),
    'wall/wall': (np.array([0, 1], I32), None),
    'wall/kind': (np.array([1, 3], I32), None),
    'wall/inside': (np.array([0, 1], I32), None),
    'wall/centre_m': (rows(10, PARTS, 3), 'm'),
    'wall/axis_x': (np.array([[1., 0, 0], [0, 1, 0]]), '1'),
    'wall/axis_y': (np.array([[0, 0.6, 0.8], [0, 0, 1]]), '1'),
    'wall/axis_z': (np.array([[0, -0.8, 0.6], [1, 0, 0]]), '1'),
    'wall/size_m': (rows(11, PARTS, 3), 'm'),
    'wall/from_s': (rows(12, PARTS), 's'),
    'wall/until_s': (rows(13, PARTS), 's'),
    'wall/velocity_m_s': (rows(14, PARTS, 3), 'm/s'),
    'wall/spin_rad_s': (rows(15, PARTS, 3), 'rad/s'),
    'wall/pivot_m': (rows(16, PARTS, 3), 'm'),
    'wall/table_rows': (np.array([0, TABLE], I64), None),
    'wall/table_start': (np.array([0, 0], I64), None),
    'wall/table_time_s': (rows(17, TABLE), 's'),
    'wall/table_way_m': (rows(18, TABLE, 3), 'm'),
    'material/name': (np.array([b'sand', 'f\u00fcr Stahl'.encode()], 'S64'), None),
    'material/density_kg_m3': (rows(35, 2), 'kg/m3'),
    'material/young_Pa': (rows(36, 2), 'Pa'),
    'material/poisson': (rows(37, 2), '1'),
    'pair/first': (np.array([0, 0, 1], I32), None),
    'pair/second': (np.array([0, 1, 1], I32), None),
    'pair/friction': (rows(38, 3), '1'),
    'pair/restitution': (rows(39, 3), '1'),
    'pair/tangential_restitution': (rows(40, 3), '1'),
    'pair/slip_friction': (rows(46, 3), '1'),
    'pair/slip_per_m': (rows(47, 3), '1/m'),
    'pair/slip_decay_per_s': (rows(48, 3), '1/s'),
    'pair/drag_per_s': (rows(49, 3), '1/s'),
    'pair/rolling': (rows(50, 3), '1'),
    'pair/twisting': (rows(51, 3), '1'),
    'pair/adhesion_N': (rows(52, 3), 'N'),
    'pair/adhesive_overlap_m': (rows(53, 3), 'm'),
    'pair/restitution_half_m_s': (rows(54, 3), 'm/s'),
    'pair/restitution_power': (rows(55, 3), '1'),
    'pair/scar_modulus_Pa': (rows(56, 3), 'Pa'),
    'pair/scar_density_kg_m3': (rows(57, 3), 'kg/m3'),
    'pair/scar_coefficient': (rows(58, 3), '1'),
    'pair/normal_N_m': (rows(41, 3), 'N/m'),
    'pair/normal_Pa_m': (rows(42, 3), 'Pa/m'),
    'pair/tangential_ratio': (rows(43, 3), '1'),
    'pair/young_Pa': (rows(44, 3), 'Pa'),
    'pair/poisson': (rows(45, 3), '1'),
    'terrain/name': ('hill', None), 'terrain/crs': ('EPSG:2056', None),
    'terrain/height_m': (rows(19, 6, kind=F32), 'm'),
    'terrain/filled': (np.array([0, 0, 0, 0, 1, 0], U8), None),
    'terrain/k_low': (np.array([-1, 0, 1, 2], I32), None),
    'terrain/k_count': (np.array([2, 0, 3, 0], I32), None),
    'terrain/start': (np.array([0, 2, 2, 5], I64), None),
    'terrain/band_phi': (rows(20, 5, kind=F32), 'm'),
    'avatar/id': (np.array([8, 9], I64), None),
    'avatar/label': (rows(21, 2, kind=U32), None),
    'avatar/border': (np.array([0, 1], U8), None),
    'avatar/nx': (np.array([s[0] for s in SIZES], I32), None),
    'avatar/ny': (np.array([s[1] for s in SIZES], I32), None),
    'avatar/nz': (np.array([s[2] for s in SIZES], I32), None),
    'avatar/node_count': (np.array(NODES, I32), None),
    'avatar/phi_start': (np.array([0, POINTS[0]], I64), None),
    'avatar/node_start': (np.array([0, NODES[0]], I64), None),
    'avatar/spacing_m': (rows(22, 2), 'm'),
    'avatar/origin_m': (rows(23, 2, 3), 'm'),
    'avatar/phi_error_m': (rows(24, 2), 'm'),
    'avatar/gradient_max': (rows(25, 2), '1'),
    'avatar/volume_m3': (rows(26, 2), 'm3'),
    'avatar/area_m2': (rows(27, 2), 'm2'),
    'avatar/inertia_m5': (rows(28, 2, 3), 'm5'),
    'avatar/radius_m': (rows(29, 2), 'm'),
    'avatar/scan_centroid_m': (rows(30, 2, 3), 'm'),
    'avatar/scan_rotation_wxyz': (turns(1, 2), '1'),
    'avatar/axes_m': (rows(31, 2, 3), 'm'),
    'avatar/phi_m': (rows(32, sum(POINTS), kind=F32), 'm'),
    'avatar/node_m': (rows(33, sum(NODES), 3, F32), 'm'),
    'avatar/node_area_m2': (rows(34, sum(NODES), kind=F32), 'm2'),
}
RUN_ATTRIBUTES = {
    '': {'format': 'talus run', 'format_version': 1, 'grain_scale': 1.5, 'density_kg_m3': 2650.0,
         'gravity_m_s2': np.array([0.5, -1, -9.75]), 'step_s': 0.001, 'body_count': BODIES,
         'units': 'SI: m, kg, s, rad; world frame of the study'},
    'terrain': {'id': 2, 'nx': 3, 'ny': 2, 'bnx': 2, 'bny': 2, 'holes_filled': 1, 'cell_m': 5.0,
                'origin': np.array([6e5, 5e6, 1e3]), 'x0_m': -5.0, 'y0_m': -2.5, 'band_m': 4.0,
                'band_spacing_m': 2.5, 'z0_m': -7.0},
}
FILES = {'run.h5': (RUN, RUN_ATTRIBUTES), 'frame_000003.h5': (FRAME, FRAME_ATTRIBUTES)}


def fixed(value):
    """A text of fixed length in UTF-8, as docs/reference/results.md has them."""
    return np.array(value.encode(), h5py.string_dtype('utf-8', len(value.encode()) + 1))


def write(folder, older=False):
    for name, (sets, attributes) in FILES.items():
        with h5py.File('%s/%s' % (folder, name), 'w', libver='earliest') as file:
            for path, (value, unit) in sets.items():
                if older and (path.split('/')[0] in ('material', 'pair', 'body', 'aggregate')
                              or path in ('contact/friction', 'terrain/filled')):
                    continue
                if isinstance(value, str):
                    file.create_dataset(path, data=fixed(value))
                    continue
                if value.dtype.kind == 'S':
                    value = value.astype(h5py.string_dtype('utf-8', 64))
                data = file.create_dataset(path, data=value)
                if unit:
                    data.attrs['unit'] = fixed(unit)
            more = OLDER_ATTRIBUTES if older and sets is FRAME else {}
            for path, values in {**attributes, **more}.items():
                target = file[path] if path else file
                for key, value in values.items():
                    target.attrs[key] = fixed(value) if isinstance(value, str) else value


def text(value):
    return value.decode() if isinstance(value, bytes) else value


def check(folder):
    wrong = []
    for name, (sets, attributes) in FILES.items():
        with h5py.File('%s/%s' % (folder, name), 'r') as file:
            for path, (value, unit) in sets.items():
                if path not in file:
                    wrong.append('%s: no %s' % (name, path))
                elif isinstance(value, str):
                    if text(file[path][()]) != value:
                        wrong.append('%s: %s is %r' % (name, path, file[path][()]))
                else:
                    found = file[path]
                    if found.dtype != value.dtype or not np.array_equal(found[...], value):
                        wrong.append('%s: %s is %s %s, not %s %s' % (
                            name, path, found.dtype, found[...], value.dtype, value))
                    if unit and text(found.attrs['unit']) != unit:
                        wrong.append('%s: unit of %s' % (name, path))
            for path, values in attributes.items():
                for key, value in values.items():
                    found = text((file[path] if path else file).attrs[key])
                    if not np.array_equal(found, value):
                        wrong.append('%s: attribute %s of /%s is %r, not %r' % (
                            name, key, path, found, value))
            extra = []
            file.visititems(lambda path, item: extra.append(path) if isinstance(
                item, h5py.Dataset) and path not in sets else None)
            wrong += ['%s: %s is not in the document' % (name, path) for path in extra]
    print('\n'.join(wrong))
    return 1 if wrong else 0


if __name__ == '__main__':
    if sys.argv[1] == 'wrong':
        RUN['pair/second'] = (np.array([0, 1, 7], I32), None)
    sys.exit(check(sys.argv[2]) if sys.argv[1] == 'check' else write(sys.argv[2], sys.argv[1] == 'older'))
