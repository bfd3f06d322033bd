"""The results of a run: a folder NAME.run with run.h5, frames, tables and checkpoints."""

from __future__ import annotations

import bisect
import functools
import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

import h5py
import numpy as np

from . import _hdf5
from ._study import parse_study
from .errors import TalusError
from .grain import Grain
from .table import Table, read_csv
from .terrain import Terrain

_NEWEST = 1  # format_version of run.h5 and frames
_OUTSIDE, _NET, _GUIDED, _FIXED = 1, 4, 32, 64  # bits of a body's flags
_FRAME = re.compile(r"frame_(\d{6,})\.h5")
_CHECKPOINT = re.compile(r"checkpoint_(\d{12,})\.tck")


class Frame(Mapping[str, np.ndarray]):
    """The bodies at one time, ordered by id: frame["position_m"] has the shape (bodies, 3).

    The columns are those of docs/reference/results.md: id, avatar_id, position_m, rotation_wxyz (body to
    world), velocity_m_s, spin_rad_s, scale, contacts, flags, body. A row is a grain, or a part of
    a body of several; `body` is the id of its body (of older results: its own), so that rows of
    one rigid body share it. A column is read when it is asked for. grain_mask is true for grains and
    false for spheres of nets and membranes, for platens and bodies on joints, and for bodies that the study places as fixed.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        with _hdf5.open_file(path) as file:
            _hdf5.check_format(file, path, "talus frame", _NEWEST)
            self.index = int(_hdf5.attribute(file, "index", path))
            self.step = int(_hdf5.attribute(file, "step", path))
            self.time_s = float(_hdf5.attribute(file, "time_s", path))
            self._names = [name for name in file if name != "contact"]
            self._has_contacts = "contact" in file
            ids = _hdf5.read(file, "id", path)
        self._order = np.argsort(ids, kind="stable")
        self._columns = {"id": ids[self._order]}
        if "body" not in self._names:  # results of an older version: each grain is a body of its own
            self._names.append("body")
            self._columns["body"] = self._columns["id"]

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._names:
            raise KeyError(f"{self.path} has no column {name!r}; it has {', '.join(self._names)}")
        if name not in self._columns:
            with _hdf5.open_file(self.path) as file:
                values = _hdf5.read(file, name, self.path)
            if len(values) != len(self._order):
                raise TalusError(f"{self.path}: '{name}' and 'id' differ in length; it is damaged")
            self._columns[name] = values[self._order]
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        """The number of columns, as of every mapping; body_count counts the bodies."""
        return len(self._names)

    @property
    def body_count(self) -> int:
        return len(self._order)

    @property
    def grain_mask(self) -> np.ndarray:
        return (self["flags"] & (_NET | _GUIDED | _FIXED)) == 0

    @property
    def outside_mask(self) -> np.ndarray:
        """Bodies that have left the terrain."""
        return (self["flags"] & _OUTSIDE) != 0

    @functools.cached_property
    def contacts(self) -> Table:
        """The contact points of the frame's step: first, second, point_m, normal, force_N, gap_m."""
        if not self._has_contacts:
            raise TalusError(
                f"{self.path}: holds no contacts; run the study with "
                "`frames: {contacts: true}` to have them"
            )
        with _hdf5.open_file(self.path) as file:
            return Table(_hdf5.columns(file["contact"], self.path), self.path)

    def table(self) -> Table:
        """All columns at once."""
        return Table(dict(self), self.path)

    def __repr__(self) -> str:
        return f"<Frame {self.index}: {self.time_s:g} s, {self.body_count} bodies>"


class Run:
    """A results folder. Small things are read at once, frames and tables when they are asked for.

    run.frame(3), run.frame(-1), run.frame(time_s=2.5); for frame in run.frames(): ...
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.path = os.fspath(folder)
        if os.path.isfile(self.path):
            raise TalusError(
                f"{self.path}: is a file; a run is the folder that talus-solve wrote, by default "
                "the study's name with .run"
            )
        if not os.path.isdir(self.path):
            raise TalusError(
                f"{self.path}: there is no such folder; give the folder that talus-solve wrote, "
                "by default the study's name with .run"
            )
        self._h5 = os.path.join(self.path, "run.h5")
        if not os.path.exists(self._h5):
            raise TalusError(
                f"{self._h5}: there is no such file, so {self.path} is no results folder of "
                "talus-solve, or its run was stopped before it began"
            )
        with _hdf5.open_file(self._h5) as file:
            _hdf5.check_format(file, self._h5, "talus run", _NEWEST)
            self.units = _hdf5.text(_hdf5.attribute(file, "units", self._h5))
            self.grain_scale = float(_hdf5.attribute(file, "grain_scale", self._h5))
            self.density_kg_m3 = float(_hdf5.attribute(file, "density_kg_m3", self._h5))
            self.gravity_m_s2 = np.asarray(_hdf5.attribute(file, "gravity_m_s2", self._h5), float)
            self.step_s = float(_hdf5.attribute(file, "step_s", self._h5))
            self.title = _hdf5.text(_hdf5.read(file, "title", self._h5))
            self.study_text = _hdf5.text(_hdf5.read(file, "study", self._h5))
            self._provenance = _hdf5.text(_hdf5.read(file, "provenance", self._h5))
        self.reported: dict[str, Any] = {}  # the summary of talus-solve, if talus.run() made this
        self.log = ""  # what it said meanwhile, warnings among it

    # ---- what ran ----

    @functools.cached_property
    def study(self) -> dict[str, Any]:
        """The effective study, every default filled in: run.study["time"]["dt_s"]."""
        return parse_study(self.study_text, self._h5)

    @property
    def provenance(self) -> list[dict[str, Any]]:
        """The tool runs behind the results, talus-solve last."""
        try:
            return json.loads(self._provenance)
        except ValueError as error:
            raise TalusError(f"{self._h5}: its provenance is no valid JSON: {error}") from error

    def _numbered(self, pattern: re.Pattern[str]) -> dict[int, str]:
        found = [(pattern.fullmatch(name), name) for name in os.listdir(self.path)]
        return dict(sorted((int(m[1]), os.path.join(self.path, name)) for m, name in found if m))

    @property
    def checkpoints(self) -> dict[int, str]:
        """Files to resume from, by the number of steps done; read anew each time."""
        return self._numbered(_CHECKPOINT)

    # ---- frames ----

    @property
    def frame_paths(self) -> dict[int, str]:
        """Frame files by index; read anew each time, for a run may still be writing."""
        return self._numbered(_FRAME)

    def frame(self, index: int | None = None, *, time_s: float | None = None) -> Frame:
        """A frame by its index (negative: from the end), or the one nearest to a time.

        Of two that are equally near the earlier one is taken.
        """
        if (index is None) == (time_s is None):
            raise TypeError("Run.frame() takes an index or time_s=, one of them")
        paths = self.frame_paths
        if not paths:
            raise TalusError(f"{self.path}: holds no frames yet")
        indices = list(paths)
        if index is not None:
            number = indices[index] if -len(indices) <= index < 0 else index
            if number not in paths:
                raise IndexError(
                    f"{self.path}: has no frame {index}; its {len(indices)} frames are "
                    f"{indices[0]} to {indices[-1]}"
                )
            return Frame(paths[number])
        time = float(time_s or 0)
        after = bisect.bisect_left(indices, time, key=lambda i: _time_s(paths[i]))
        near = indices[max(after - 1, 0) : after + 1]
        return Frame(paths[min(near, key=lambda i: abs(_time_s(paths[i]) - time))])

    def frames(self) -> Iterator[Frame]:
        """All frames, one after the other; only one is in memory at a time."""
        return (Frame(path) for path in self.frame_paths.values())

    @property
    def times_s(self) -> np.ndarray:
        """The times of all frames."""
        return np.array([_time_s(path) for path in self.frame_paths.values()])

    def trajectories(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Times (frames,), ids (grains,) and positions (frames, grains, 3) of all grains in metres.

        Positions are NaN where a grain is not in the frame (not poured yet, or taken out).
        """
        times, ids, places = [], [], []
        for frame in self.frames():
            mask = frame.grain_mask
            times.append(frame.time_s)
            ids.append(frame["id"][mask])
            places.append(frame["position_m"][mask])
        if not ids:
            raise TalusError(f"{self.path}: holds no frames yet")
        every = np.unique(np.concatenate(ids))
        position_m = np.full((len(times), len(every), 3), np.nan)
        for n, (present, place) in enumerate(zip(ids, places, strict=True)):
            position_m[n, np.searchsorted(every, present)] = place
        return np.array(times), every, position_m

    # ---- tables ----

    @property
    def history(self) -> Table:
        """history.csv: energies, front, contacts, ... over time."""
        return read_csv(os.path.join(self.path, "history.csv"))

    @property
    def triaxial(self) -> Table:
        """triaxial.csv: stresses and strains of a triaxial test, compression positive."""
        return self.table("triaxial")

    def table(self, name: str) -> Table:
        """A table beside the frames: "blocks", "oedometer", "direct_shear", "boundary", "departures", ..."""
        path = os.path.join(self.path, f"{name}.csv")
        if not os.path.exists(path):
            reason = f"the study has no section `{name}`"
            if name == "blocks":
                reason = "the run is none of talus-ensemble"
            if name == "boundary":
                reason = "the study does not say time.boundary_forces: yes"
            if name == "constraint":
                reason = "the run has no constraints of those that time.constraint_forces asks for"
            raise TalusError(f"{path}: there is no such file; {reason}")
        return read_csv(path, whole=name == "blocks")

    # ---- the scene ----

    @functools.cached_property
    def avatars(self) -> Table:
        """The shapes in use, a row each, with the columns of docs/reference/results.md."""
        with _hdf5.open_file(self._h5) as file:
            rows = len(_hdf5.read(file, "avatar/id", self._h5))
            group = file["avatar"]
            names = [name for name in group if name not in ("phi_m", "node_m", "node_area_m2")]
            found = {name: _hdf5.read(group, name, self._h5) for name in names}
        if any(len(values) != rows for values in found.values()):
            raise TalusError(f"{self._h5}: the columns of 'avatar' differ in length; it is damaged")
        return Table(found, self._h5)

    def grain(self, avatar_id: int) -> Grain:
        """The shape of the bodies with this avatar_id."""
        rows = np.flatnonzero(self.avatars["id"] == avatar_id)
        if len(rows) != 1:
            known = ", ".join(str(i) for i in self.avatars["id"][:10])
            raise KeyError(f"{self._h5} has no avatar {avatar_id}; it has {known}, ...")
        row = {name: column[rows[0]] for name, column in self.avatars.items()}
        nz, ny, nx = (int(row[name]) for name in ("nz", "ny", "nx"))
        phi = slice(int(row["phi_start"]), int(row["phi_start"]) + nx * ny * nz)
        node = slice(int(row["node_start"]), int(row["node_start"]) + int(row["node_count"]))
        with _hdf5.open_file(self._h5) as file:
            phi_m = _hdf5.read(file, "avatar/phi_m", self._h5, phi)
            node_m = _hdf5.read(file, "avatar/node_m", self._h5, node)
            node_area_m2 = _hdf5.read(file, "avatar/node_area_m2", self._h5, node)
        if len(phi_m) != nx * ny * nz or len(node_m) != row["node_count"]:
            raise TalusError(f"{self._h5}: the arrays of avatar {avatar_id} are cut short")
        return Grain(
            id=int(row["id"]),
            label=int(row["label"]),
            border=bool(row["border"]),
            phi_m=phi_m.reshape(nz, ny, nx),
            node_m=node_m,
            node_area_m2=node_area_m2,
            spacing_m=float(row["spacing_m"]),
            phi_error_m=float(row["phi_error_m"]),
            volume_m3=float(row["volume_m3"]),
            area_m2=float(row["area_m2"]),
            radius_m=float(row["radius_m"]),
            origin_m=row["origin_m"],
            inertia_m5=row["inertia_m5"],
            axes_m=row["axes_m"],
            scan_centroid_m=row["scan_centroid_m"],
            scan_rotation_wxyz=row["scan_rotation_wxyz"],
        )

    @functools.cached_property
    def terrain(self) -> Terrain | None:
        """The ground; None in a run without."""
        with _hdf5.open_file(self._h5) as file:
            if "terrain" not in file:
                return None
            ground = file["terrain"]
            return Terrain(
                name=_hdf5.text(_hdf5.read(file, "terrain/name", self._h5)),
                crs=_hdf5.text(_hdf5.read(file, "terrain/crs", self._h5)),
                origin=np.asarray(_hdf5.attribute(ground, "origin", self._h5), float),
                x0_m=float(_hdf5.attribute(ground, "x0_m", self._h5)),
                y0_m=float(_hdf5.attribute(ground, "y0_m", self._h5)),
                cell_m=float(_hdf5.attribute(ground, "cell_m", self._h5)),
                height_m=_heights(file, self._h5),
                filled=_filled(file, self._h5),
            )

    @property
    def planes(self) -> Table:
        """Planes: point_m and normal, which points to the grains."""
        with _hdf5.open_file(self._h5) as file:
            found = {
                "point_m": _hdf5.read(file, "plane_point_m", self._h5),
                "normal": _hdf5.read(file, "plane_normal", self._h5),
            }
        return Table(found, self._h5)

    @property
    def walls(self) -> Table | None:
        """The parts of the study's walls (docs/reference/results.md); None in a run without."""
        with _hdf5.open_file(self._h5) as file:
            if "wall" not in file:
                return None
            group = file["wall"]
            names = [name for name in group if name not in ("table_time_s", "table_way_m")]
            return Table({name: _hdf5.read(group, name, self._h5) for name in names}, self._h5)

    @property
    def materials(self) -> Table | None:
        """The materials by the number that a frame's column material holds: name, density_kg_m3,
        young_Pa, poisson (docs/reference/results.md); None in a run of an older version."""
        return self._group("material")

    @property
    def pairs(self) -> Table | None:
        """The law of each pair of materials: first, second (their numbers), friction, ...; None in
        a run of an older version."""
        return self._group("pair")

    def _group(self, name: str) -> Table | None:
        with _hdf5.open_file(self._h5) as file:
            if name not in file:
                return None
            found = _hdf5.columns(file[name], self._h5)
        if "name" in found:
            found["name"] = np.array([_hdf5.text(value) for value in found["name"]])
        return Table(found, self._h5)

    # ---- in short ----

    def summary(self) -> dict[str, Any]:
        """What the run is and how far it has come, with units in the names."""
        first, last = self.frame(self._first_index()), self.frame(-1)
        grains = last.grain_mask & ~last.outside_mask
        speed = np.linalg.norm(last["velocity_m_s"][grains], axis=1)
        return {
            "title": self.title,
            "method": self.study["solver"]["method"],
            "step_s": self.step_s,
            "grain_scale": self.grain_scale,
            "density_kg_m3": self.density_kg_m3,
            "frames": len(self.frame_paths),
            "first_time_s": first.time_s,
            "last_time_s": last.time_s,
            "grains_at_start": int(np.count_nonzero(first.grain_mask)),
            "grains": int(np.count_nonzero(grains)),
            "fastest_grain_m_s": float(speed.max(initial=0.0)),
            "checkpoints": len(self.checkpoints),
        }

    def _first_index(self) -> int:
        if not self.frame_paths:
            raise TalusError(f"{self.path}: holds no frames yet")
        return next(iter(self.frame_paths))

    def __repr__(self) -> str:
        return f"<Run {self.path}: {self.title!r}, {len(self.frame_paths)} frames>"


def _heights(file: h5py.File, path: str) -> np.ndarray:
    ground = file["terrain"]
    nx, ny = (int(_hdf5.attribute(ground, name, path)) for name in ("nx", "ny"))
    height_m = _hdf5.read(ground, "height_m", path)
    if height_m.size != nx * ny:
        raise TalusError(f"{path}: the terrain has {height_m.size} heights, not {nx} x {ny}")
    return height_m.reshape(ny, nx)


def _filled(file: h5py.File, path: str) -> np.ndarray | None:
    ground = file["terrain"]
    nx, ny = (int(_hdf5.attribute(ground, name, path)) for name in ("nx", "ny"))
    if "filled" not in ground:
        none = int(_hdf5.attribute(ground, "holes_filled", path)) == 0
        return np.zeros((ny, nx), bool) if none else None
    filled = _hdf5.read(ground, "filled", path)
    if filled.size != nx * ny:
        raise TalusError(f"{path}: the terrain has {filled.size} marks, not {nx} x {ny}")
    return filled.reshape(ny, nx) != 0


@functools.lru_cache(maxsize=100_000)
def _time_of(path: str, changed_ns: int) -> float:
    with _hdf5.open_file(path) as file:
        _hdf5.check_format(file, path, "talus frame", _NEWEST)
        return float(_hdf5.attribute(file, "time_s", path))


def _time_s(path: str) -> float:
    """The time of a frame, read once as long as the file is the same."""
    return _time_of(path, os.stat(path).st_mtime_ns)
