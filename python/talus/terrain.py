"""The ground."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True, eq=False)
class Terrain:
    """Heights on a grid in the local frame: x east, y north, z up, metres.

    height_m[j, i] is the height at (x_m[i], y_m[j]), row by row from the south; NaN: no data.
    CRS coordinates are local ones plus origin.
    """

    name: str
    crs: str  # WKT or empty
    origin: np.ndarray  # CRS coordinates x, y, z of the local origin
    x0_m: float
    y0_m: float
    cell_m: float
    height_m: np.ndarray  # (ny, nx)
    classes: np.ndarray | None = None  # (ny, nx), where the catalog's terrain has them
    # (ny, nx) True where the raster had no data and was filled; None: not known where
    filled: np.ndarray | None = None

    @property
    def x_m(self) -> np.ndarray:
        return self.x0_m + self.cell_m * np.arange(self.height_m.shape[1])

    @property
    def y_m(self) -> np.ndarray:
        return self.y0_m + self.cell_m * np.arange(self.height_m.shape[0])

    def to_crs(self, point_m: ArrayLike) -> np.ndarray:
        """CRS coordinates of local points (..., 3)."""
        return np.asarray(point_m, float) + self.origin
