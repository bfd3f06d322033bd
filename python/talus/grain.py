"""A grain's level-set avatar."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True, eq=False)
class Grain:
    """One grain's shape, from Catalog.grain() or Run.grain().

    Lengths are metres in the body frame: origin at the centre of mass, axes along the principal
    axes of inertia, moments ascending. The quaternion scan_rotation_wxyz turns body coordinates
    into scan coordinates (talus.rotate), so the grain's points lie in the scan at
    scan_centroid_m + rotate(scan_rotation_wxyz, point). In a run a body of scale s has lengths
    s, areas s^2, volume and mass s^3 and moments of inertia s^5 times these.
    """

    id: int
    label: int  # in the labelled stack; 0: none
    border: bool  # cut by the scan's border
    phi_m: np.ndarray  # (nz, ny, nx) signed distance, negative inside
    spacing_m: float
    origin_m: np.ndarray  # x, y, z of the grid point phi_m[0, 0, 0]
    phi_error_m: float  # largest error of interpolated phi_m near the surface
    node_m: np.ndarray  # (n, 3) points on the surface
    node_area_m2: np.ndarray  # (n,) area that each of them stands for
    volume_m3: float
    area_m2: float
    radius_m: float  # no point of the surface is farther from the origin
    inertia_m5: np.ndarray  # (3,) principal moments at unit density
    axes_m: np.ndarray  # (3,) principal lengths, longest first
    scan_centroid_m: np.ndarray
    scan_rotation_wxyz: np.ndarray
    sample: str = ""  # name of the scan; empty: from a run
    quality: Mapping[str, Any] = field(default_factory=dict)  # row of avatar_check, if any

    @property
    def diameter_m(self) -> float:
        """Diameter of the sphere of equal volume."""
        return float(np.cbrt(6 * self.volume_m3 / np.pi))

    def mass_kg(self, density_kg_m3: float, scale: float = 1.0) -> float:
        return density_kg_m3 * self.volume_m3 * scale**3

    def inertia_kg_m2(self, density_kg_m3: float, scale: float = 1.0) -> np.ndarray:
        """Principal moments of inertia."""
        return density_kg_m3 * self.inertia_m5 * scale**5

    def phi_at(self, point_m: ArrayLike) -> np.ndarray:
        """Signed distance at points (..., 3) of the body frame, trilinear; NaN outside the grid."""
        place = (np.asarray(point_m, float) - self.origin_m) / self.spacing_m
        most = np.array(self.phi_m.shape[::-1]) - 1
        outside = np.any(~((place >= 0) & (place <= most)), axis=-1)
        place = np.where(outside[..., None], 0.0, place)
        cell = np.minimum(place.astype(int), most - 1)
        i, j, k = np.moveaxis(cell, -1, 0)
        u, v, w = np.moveaxis(place - cell, -1, 0)
        value = np.zeros(outside.shape)
        for dk, dj, di in np.ndindex(2, 2, 2):
            weight = (u if di else 1 - u) * (v if dj else 1 - v) * (w if dk else 1 - w)
            value += weight * self.phi_m[k + dk, j + dj, i + di]
        return np.where(outside, np.nan, value)
