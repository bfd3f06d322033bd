"""The one door to HDF5: files are opened for reading, and what is read lies in the file itself."""

from __future__ import annotations

import os
from typing import Any

import h5py
import numpy as np

from .errors import TalusError


def open_file(path: str) -> h5py.File:
    if not os.path.exists(path):
        raise TalusError(f"{path}: there is no such file")
    if os.path.isdir(path):
        raise TalusError(f"{path}: is a folder, not an HDF5 file")
    try:
        return h5py.File(path, "r")
    except OSError as error:
        raise TalusError(f"{path}: cannot be opened as an HDF5 file: {error}") from error


def check_format(file: h5py.File, path: str, name: str, newest: int) -> None:
    """The attributes format and format_version of a file of results."""
    found = text(file.attrs.get("format", ""))
    if found != name:
        raise TalusError(
            f"{path}: its attribute 'format' is {found!r}, not {name!r}; "
            "is this a file that talus-solve wrote?"
        )
    version = int(file.attrs.get("format_version", 0))
    if not 1 <= version <= newest:
        raise TalusError(
            f"{path}: has format version {version}, this module reads up to {newest}; "
            "use the Python module of the Talus that wrote the file"
        )


def attribute(node: h5py.HLObject, name: str, path: str) -> Any:
    if name not in node.attrs:
        raise TalusError(
            f"{path}: '{node.name}' has no attribute '{name}'; the file is damaged or not of this "
            "format"
        )
    return node.attrs[name]


def text(value: Any) -> str:
    return value.decode("utf-8") if isinstance(value, bytes) else str(value)


def dataset(group: h5py.Group, name: str, path: str) -> h5py.Dataset:
    """A dataset, refused if its values lie in another file."""
    node: Any = group
    for part in name.strip("/").split("/"):  # the tools print names with a leading slash
        link = node.get(part, getlink=True) if isinstance(node, h5py.Group) else None
        if link is None:
            raise TalusError(
                f"{path}: has no dataset '{name}'; the file is damaged or not of this format"
            )
        if not isinstance(link, h5py.HardLink):
            raise TalusError(
                f"{path}: '{name}' is a link to somewhere else; copy the data into the file "
                "(h5repack does that) and read it again"
            )
        node = node[part]
    if not isinstance(node, h5py.Dataset):
        raise TalusError(f"{path}: '{name}' is a group, where a dataset is wanted")
    if node.external or node.is_virtual:
        raise TalusError(
            f"{path}: the values of '{name}' lie in other files; copy them into this one "
            "(h5repack does that) and read it again"
        )
    return node


def read(group: h5py.Group, name: str, path: str, part: Any = ...) -> Any:
    data = dataset(group, name, path)
    try:
        return data[()] if data.shape == () else data[part]
    except (OSError, ValueError) as error:
        raise TalusError(
            f"{path}: '{name}' cannot be read, the file is damaged: {error}"
        ) from error


def columns(group: h5py.Group, path: str) -> dict[str, np.ndarray]:
    """Every dataset of a group that has rows."""
    names = [name for name in group if group.get(name, getclass=True) is h5py.Dataset]
    found = {name: np.asarray(read(group, name, path)) for name in names}
    lengths = {len(values) for values in found.values()}
    if len(lengths) > 1:
        raise TalusError(f"{path}: the columns of '{group.name}' differ in length; it is damaged")
    return found
