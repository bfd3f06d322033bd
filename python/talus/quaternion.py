"""Rotations.

Talus stores a rotation as a unit quaternion in the order w, x, y, z. It turns coordinates in the
body frame (origin at the centre of mass, axes along the principal axes of inertia) into
coordinates in the world frame of a run, or in the scan frame of a grain that lies in its scan:

    x_world = position + scale * rotate(rotation_wxyz, x_body)

q and -q are the same rotation. A turn by the angle a about the unit axis n is
(cos(a/2), n sin(a/2)), anticlockwise when n points at the observer. SciPy's Rotation takes the
order x, y, z, w.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def rotation_matrix(rotation_wxyz: ArrayLike) -> np.ndarray:
    """Matrices from body to world, shape (..., 3, 3), of quaternions of shape (..., 4)."""
    q = np.asarray(rotation_wxyz, float)
    if q.shape[-1:] != (4,):
        raise ValueError(f"a quaternion has 4 components w, x, y, z; the shape is {q.shape}")
    w, x, y, z = np.moveaxis(q / np.linalg.norm(q, axis=-1, keepdims=True), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, -1) for row in rows], -2)


def rotate(rotation_wxyz: ArrayLike, vector: ArrayLike) -> np.ndarray:
    """Turn vectors from the body frame into the world frame.

    One quaternion turns one vector or many (n, 3); n quaternions turn n vectors one by one.
    """
    return np.einsum("...ij,...j->...i", rotation_matrix(rotation_wxyz), np.asarray(vector, float))
