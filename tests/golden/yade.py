"""What the YADE loader makes of two grains, with a stand-in for YADE: Debian's NumPy alone is needed.

    yade.py FOLDER    yade_grains.py and its arrays lie there; grain 1 stands turned by 90 degrees about z
                      with its centre at (0.1, 0.2, 0.3), grain 2 by 90 degrees about x at (1, 2, 3)

YADE's Quaternion(a, b, c, d) is w, x, y, z (minieigen); an orientation turns the body frame to the world.
"""
import sys
import types

import numpy as np


class Vector3(tuple):
    def __new__(cls, x, y, z):
        return tuple.__new__(cls, (float(x), float(y), float(z)))

    def __rmul__(self, factor):
        return Vector3(*(factor * v for v in self))


def matrix(w, x, y, z):
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


class Body:
    def __init__(self, **given):
        self.given = given
        self.shape, self.state = types.SimpleNamespace(updateAttrs=self.attributes), types.SimpleNamespace()

    def attributes(self, values):
        self.nodes = values['surfNodes']


class Bodies(list):
    def append(self, body):
        list.append(self, body)
        return len(self) - 1


yade = types.ModuleType('yade')
yade.Vector3, yade.Quaternion = Vector3, lambda w, x, y, z: matrix(w, x, y, z)
yade.RegularGrid = lambda **given: types.SimpleNamespace(**given)
yade.utils = types.SimpleNamespace(levelSetBody=Body)
sys.modules['yade'] = yade


def main(folder):
    sys.path.insert(0, folder)
    import yade_grains
    scene = types.SimpleNamespace(bodies=Bodies())
    assert yade_grains.load(scene, folder, density=1000) == [0], 'the second is cut by the border'
    scene = types.SimpleNamespace(bodies=Bodies())
    assert yade_grains.load(scene, folder, density=1000, with_border=True) == [0, 1]
    centres = [(0.1, 0.2, 0.3), (1, 2, 3)]
    turns = [np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]]), np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]])]
    for i, body in enumerate(scene.bodies):
        given, grid = body.given, body.given['grid']
        assert given['center'] == centres[i], given['center']
        assert np.allclose(given['orientation'], turns[i], atol=1e-12), given['orientation']
        phi = np.array(given['distField'])
        assert phi.shape == tuple(grid.nGP)
        # nodes lie on phi = 0: trilinear between the points of the grid, indices x y z
        low, h = np.array(grid.min), grid.spacing
        assert len(body.nodes) > 50
        for node in body.nodes:
            at = (np.array(node) - low) / h
            cell = np.floor(at).astype(int)
            f = at - cell
            value = sum(phi[tuple(cell + (a, b, c))] * np.prod(np.where((a, b, c), f, 1 - f))
                        for a in (0, 1) for b in (0, 1) for c in (0, 1))
            assert abs(value) < 0.05 * h, (node, value / h)
        # the grid's cells inside make the volume; half axes 3, 2, 1 mm along z, y, x: moments ascend
        volume = 4 / 3 * np.pi * 6e-9
        assert abs(body.state.mass / (1000 * volume) - 1) < 0.01, body.state.mass
        want = [0.2 * 1000 * volume * v * 1e-6 for v in (1 + 4, 1 + 9, 4 + 9)]
        assert np.allclose(body.state.inertia, want, rtol=0.02), (body.state.inertia, want)
        assert abs((phi < 0).sum() * h**3 / volume - 1) < 0.05


if __name__ == '__main__':
    main(sys.argv[1])
