"""HDF5 stacks: scans, masks and labels."""

from __future__ import annotations

import json
import os
from types import TracebackType
from typing import Any

import h5py
import numpy as np

from . import _hdf5
from .errors import TalusError

_NEWEST = 1  # talus_format


class Stack:
    """A stack of voxels in an HDF5 file. Voxels are read when they are asked for.

    stack[z, y, x] takes numbers and slices as NumPy does and reads only that part; stack[...]
    reads all. Voxel centres lie at whole indices: voxel [k, j, i] is at
    (i dx, j dy, k dz) in the scan frame, dz, dy, dx = stack.voxel_size_m.
    """

    def __init__(self, path: str | os.PathLike[str], dataset: str | None = None) -> None:
        self.path = os.fspath(path)
        if os.path.isfile(self.path) and not h5py.is_hdf5(self.path):
            raise TalusError(
                f"{self.path}: is not an HDF5 file; "
                f"`talus-volume convert {self.path} -o stack.h5` makes one"
            )
        self._file = _hdf5.open_file(self.path)
        try:
            version = int(self._file.attrs.get("talus_format", _NEWEST))
            if version > _NEWEST:
                raise TalusError(
                    f"{self.path}: has talus_format {version}, this module reads up to {_NEWEST}; "
                    "use the Python module of the Talus that wrote the file"
                )
            self._data = _hdf5.dataset(self._file, dataset or self._only(), self.path)
            if self._data.ndim != 3:
                raise TalusError(
                    f"{self.path}: '{self._data.name}' has {self._data.ndim} dimensions, "
                    "a stack has three (z, y, x)"
                )
        except BaseException:
            self._file.close()
            raise

    def _only(self) -> str:
        if "stack" in self._file:
            return "stack"
        names: list[str] = []
        self._file.visititems(
            lambda name, node: names.append(name)
            if isinstance(node, h5py.Dataset) and node.ndim == 3
            else None
        )
        if len(names) == 1:
            return names[0]
        found = ", ".join(names) if names else "none"
        raise TalusError(
            f"{self.path}: has no dataset 'stack', and the datasets with three dimensions are: "
            f"{found}; name one with dataset="
        )

    @property
    def shape(self) -> tuple[int, int, int]:
        """Voxels along z, y, x."""
        nz, ny, nx = self._data.shape
        return nz, ny, nx

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._data.dtype

    @property
    def voxel_size_um(self) -> tuple[float, float, float] | None:
        """Voxel size along z, y, x in micrometres; None if the file does not say it."""
        size = self._data.attrs.get("element_size_um", self._file.attrs.get("element_size_um"))
        if size is None:
            return None
        if np.shape(size) != (3,) or not np.all(np.isfinite(size)) or np.min(size) <= 0:
            raise TalusError(
                f"{self.path}: the attribute element_size_um is {size}, not three lengths above 0; "
                "`talus-volume convert` with --voxel-size-um writes the file with the right ones"
            )
        dz, dy, dx = (float(length) for length in size)
        return dz, dy, dx

    @property
    def voxel_size_m(self) -> tuple[float, float, float]:
        """Voxel size along z, y, x in metres; an error if the file does not say it."""
        size = self.voxel_size_um
        if size is None:
            raise TalusError(
                f"{self.path}: does not say its voxel size; "
                "`talus-volume convert` with --voxel-size-um writes a file that does"
            )
        return size[0] * 1e-6, size[1] * 1e-6, size[2] * 1e-6

    @property
    def cylinder_voxels(self) -> tuple[float, float, float] | None:
        """The specimen's cylinder along z: x and y of its axis and its radius; None if unknown."""
        cylinder = self._data.attrs.get("talus_cylinder")
        if cylinder is None:
            return None
        x, y, radius = (float(value) for value in cylinder)
        return x, y, radius

    @property
    def history(self) -> list[dict[str, Any]]:
        """The tool runs that made the stack, oldest first; empty if the file has no history."""
        if "provenance" not in self._file:
            return []
        try:
            return json.loads(_hdf5.text(_hdf5.read(self._file, "provenance", self.path)))
        except ValueError as error:
            raise TalusError(f"{self.path}: its history is no valid JSON: {error}") from error

    def __getitem__(self, part: Any) -> np.ndarray:
        try:
            return self._data[part]
        except OSError as error:
            raise TalusError(
                f"{self.path}: its voxels cannot be read, the file is damaged: {error}"
            ) from error

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self[...], dtype)

    def __len__(self) -> int:
        return self.shape[0]

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Stack:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Stack {self.path}: {self.shape} (z, y, x) {self.dtype}, {self.voxel_size_um} um>"
