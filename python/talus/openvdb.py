"""Grains as OpenVDB level sets, for Blender, Houdini and Sand Atlas, and back into a catalog.

    from talus import openvdb
    with talus.Catalog("sand.tals") as catalog:
        openvdb.write("grain.vdb", [catalog.grain(17)], unit="mm")
    openvdb.import_grains("grain.vdb", "new.tals", sample="from vdb", unit="mm")

Needs the module pyopenvdb (Debian's python3-openvdb). A .vdb file says no unit of length, so the caller
does.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .errors import TalusError
from .grain import Grain
from .quaternion import rotation_matrix
from .solve import _find

_METRES = {"m": 1.0, "cm": 1e-2, "mm": 1e-3, "um": 1e-6}


def _module() -> Any:
    try:
        import pyopenvdb
    except ImportError as error:
        raise TalusError(
            "the module pyopenvdb is not there: apt-get install python3-openvdb"
        ) from error
    return pyopenvdb


def _metres(unit: str) -> float:
    if unit not in _METRES:
        raise TalusError(f"unit={unit!r}: one of {', '.join(_METRES)} is wanted")
    return _METRES[unit]


@dataclass(frozen=True, eq=False)
class LevelSet:
    """One grid of a .vdb file, dense, in the axes of its voxels."""

    name: str
    phi_m: np.ndarray  # (nz, ny, nx) signed distance, negative inside
    spacing_m: float
    origin_m: np.ndarray  # x, y, z of phi_m[0, 0, 0]


def write(
    path: str | os.PathLike[str],
    grains: Iterable[Grain],
    *,
    unit: str,
    in_scan: bool = False,
    half_width: float | None = None,
) -> None:
    """A grid "grain_ID" a grain, lengths in the unit.

    in_scan places each where it lay in the scan, else it is in its body frame. half_width is that of the
    narrow band in voxels (3 is usual in other programs); None keeps every value.
    """
    vdb = _module()
    metre = 1 / _metres(unit)
    grids = []
    for grain in grains:
        phi = np.ascontiguousarray(grain.phi_m.transpose(2, 1, 0), dtype=np.float32) * metre
        spacing = grain.spacing_m * metre
        band = spacing * half_width if half_width is not None else float(np.abs(phi).max()) + spacing
        grid = vdb.FloatGrid(background=float(band))
        grid.copyFromArray(np.clip(phi, -band, band).astype(np.float32), tolerance=0.0)
        turn = rotation_matrix(grain.scan_rotation_wxyz) if in_scan else np.eye(3)
        at = turn @ grain.origin_m + (grain.scan_centroid_m if in_scan else 0)
        matrix = np.zeros((4, 4))  # rows: what a step along x, y, z of the voxels is, then the origin
        matrix[:3, :3] = spacing * turn.T
        matrix[3] = [*(at * metre), 1]
        try:
            grid.transform = vdb.createLinearTransform(matrix.tolist())
        except ArithmeticError as error:
            raise TalusError(
                f"voxels of {spacing:.3g} {unit} are too small for OpenVDB; a smaller unit serves"
            ) from error
        grid.gridClass = vdb.GridClass.LEVEL_SET
        grid.name = f"grain_{grain.id}"
        grid["unit"] = unit
        grids.append(grid)
    if not grids:
        raise TalusError(f"{os.fspath(path)}: no grains were given")
    place = os.fspath(path)
    with tempfile.TemporaryDirectory(dir=os.path.dirname(place) or ".") as folder:
        whole = os.path.join(folder, "whole.vdb")
        vdb.write(whole, grids=grids)
        os.replace(whole, place)


def _fill(phi: np.ndarray, active: np.ndarray, spacing: float) -> None:
    """Beyond the narrow band: through the band's rim, the way to it and its own distance."""
    for side in (-1, 1):
        rim = active & (side * phi > 0)
        far = ~active & (side * phi > 0)
        if not far.any():
            continue
        if not rim.any():
            raise TalusError("a grid with values on one side of the surface only is no level set")
        rim &= side * phi >= (side * phi[rim]).max() - 1.5 * spacing
        known, depth = np.argwhere(rim).astype(np.float32), np.abs(phi[rim])
        wanted = np.argwhere(far).astype(np.float32)
        value = np.empty(len(wanted), np.float32)
        chunk = max(1, 20_000_000 // len(known))
        for at in range(0, len(wanted), chunk):
            part = wanted[at : at + chunk]
            square = (
                (part**2).sum(1)[:, None] + (known**2).sum(1)[None] - 2 * part @ known.T
            )
            way = spacing * np.sqrt(np.maximum(square, 0))
            value[at : at + chunk] = (way + depth).min(1)
        phi[far] = side * value


def read(path: str | os.PathLike[str], *, unit: str) -> list[LevelSet]:
    """All level sets of the file; lengths of the file are in the unit. Voxels must be cubes."""
    vdb = _module()
    metres = _metres(unit)
    place = os.fspath(path)
    if not os.path.exists(place):
        raise TalusError(f"{place}: there is no such file")
    try:
        grids = vdb.readAll(place)[0]
    except Exception as error:  # pyopenvdb has exceptions of its own for each kind of damage
        raise TalusError(f"{place}: cannot be read as OpenVDB: {error}") from error
    found = []
    for grid in grids:
        if type(grid).__name__ != "FloatGrid" or grid.gridClass != vdb.GridClass.LEVEL_SET:
            continue
        low, high = (np.array(corner) for corner in grid.evalActiveVoxelBoundingBox())
        low, size = low - 2, high - low + 5
        corner = np.array(grid.transform.indexToWorld(tuple(map(int, low))))
        steps = np.array(
            [
                np.array(grid.transform.indexToWorld(tuple(map(int, low + axis)))) - corner
                for axis in np.eye(3, dtype=int)
            ]
        )
        spacing = float(np.linalg.norm(steps[0]))
        if not np.allclose(steps @ steps.T, spacing**2 * np.eye(3), atol=1e-5 * spacing**2):
            raise TalusError(f"{place}: voxels of grid {grid.name!r} are no cubes")
        if np.linalg.det(steps) < 0:
            raise TalusError(f"{place}: grid {grid.name!r} is mirrored")
        values = np.empty(tuple(size), np.float32)
        grid.copyToArray(values, ijk=tuple(map(int, low)))
        inactive = np.isclose(np.abs(values), grid.background, rtol=1e-6, atol=0)
        _fill(values, ~inactive, spacing)
        found.append(
            LevelSet(
                grid.name,
                np.ascontiguousarray(values.transpose(2, 1, 0)) * np.float32(metres),
                spacing * metres,
                corner * metres,
            )
        )
    if not found:
        raise TalusError(f"{place}: has no level set of floats")
    return found


def import_grains(
    path: str | os.PathLike[str],
    catalog: str | os.PathLike[str],
    *,
    sample: str,
    unit: str,
    nodes: int = 0,
    replace: bool = False,
    bin: str | os.PathLike[str] | None = None,
) -> int:
    """Level sets of the file as grains of a new sample: their mass is worked out and nodes are placed by
    talus-catalog, in body frames of their own. Gives how many."""
    sets = read(path, unit=unit)
    with tempfile.TemporaryDirectory() as folder:
        names = []
        for number, one in enumerate(sets):
            name = os.path.join(folder, f"{number + 1:06d}.lmp")
            with open(name, "w", encoding="utf-8") as file:
                file.write(f"# {one.name}: signed distance, positive outside, x fastest\n")
                file.write("%d %d %d\n" % one.phi_m.shape[::-1])
                file.write(f"{1e3 * one.spacing_m:.17g}\n")
                file.write("%.17g %.17g %.17g\n" % tuple(1e3 * one.origin_m))
                np.savetxt(file, 1e3 * one.phi_m.ravel(), fmt="%.9g")
            names.append(name)
        command = [_find("talus-catalog", bin), "import", "--format=lammps", "--unit=mm"]
        command += [f"--sample={sample}", f"--nodes={nodes}", "--quiet"]
        command += ["--replace"] if replace else []
        done = subprocess.run(
            [*command, os.fspath(catalog), *names], capture_output=True, text=True, check=False
        )
    if done.returncode != 0:
        raise TalusError(f"{os.fspath(path)}: {done.stderr.strip()}")
    return len(sets)
