"""The catalog: an SQLite file of grains and terrains."""

from __future__ import annotations

import json
import os
import sqlite3
import urllib.request
import zlib
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import numpy as np

from . import _zstd
from .errors import TalusError
from .grain import Grain
from .table import Table
from .terrain import Terrain

_APPLICATION = 0x54414C53  # "TALS"
_NEWEST = 5  # user_version
_PART_BYTES = 64 << 20
_NUMBERS = (
    ["id", "label", "border", "nx", "ny", "nz", "spacing_m"]
    + ["origin_x_m", "origin_y_m", "origin_z_m", "phi_error_m", "gradient_max", "node_count"]
    + ["volume_m3", "area_m2", "radius_m", "inertia_1_m5", "inertia_2_m5", "inertia_3_m5"]
    + ["scan_x_m", "scan_y_m", "scan_z_m", "scan_qw", "scan_qx", "scan_qy", "scan_qz"]
    + ["axis_a_m", "axis_b_m", "axis_c_m"]
)
_WHOLE = {"id", "label", "border", "nx", "ny", "nz", "node_count"}
_RESIDUALS = ["gradient", "node_cells", "volume_gap", "overlap_cells", "overlap_share", "agreement"]
_FORM = ["elongation", "flatness", "sphericity", "krumbein", "convexity", "roundness", "inscribed"]
_TABLES = ["run", "run_history", "sample", "avatar", "avatar_blob", "terrain", "terrain_blob"]
_LATER_TABLES = ["terrain_class", "avatar_check", "terrain_filled"]  # since schema 2, 3 and 5


@dataclass(frozen=True)
class Sample:
    """A scan."""

    name: str
    voxel_m: tuple[float, float, float]  # x, y, z
    grains: int
    border_grains: int  # of these, cut by the scan's border


@dataclass(frozen=True, eq=False)
class Grading:
    """A grading curve: the share finer[i] of the solid volume is in grains no larger than size_m[i]."""

    size_m: np.ndarray  # ascending, one a grain
    finer: np.ndarray

    def d(self, percent: float) -> float:
        """The size in metres that this percentage of the volume is finer than: d(50) is D50.

        Linear in log size between grains; below the smallest grain's own share it is its size.
        """
        if not 0 <= percent <= 100:
            raise ValueError(f"a percentage lies between 0 and 100; it is {percent}")
        return float(np.exp(np.interp(percent / 100, self.finer, np.log(self.size_m))))

    @property
    def uniformity_cu(self) -> float:
        """D60/D10."""
        return self.d(60) / self.d(10)

    @property
    def curvature_cc(self) -> float:
        """D30^2/(D10 D60)."""
        return self.d(30) ** 2 / (self.d(10) * self.d(60))


class Catalog:
    """A catalog, opened for reading only. Use it in a with statement or close() it."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        if not os.path.isfile(self.path):
            raise TalusError(f"{self.path}: no such catalog; talus-avatars and talus-topo make one")
        location = urllib.request.pathname2url(os.path.abspath(self.path))
        try:
            self._base = sqlite3.connect(f"file:{location}?mode=ro", uri=True, timeout=60)
        except sqlite3.Error as error:
            raise self._error(error) from error
        try:
            self._defend()
            self._check_kind()
        except BaseException:
            self._base.close()
            raise

    # ---- SQLite ----

    def _defend(self) -> None:
        """A file from elsewhere may not run code of its own or make SQLite trust what it says."""
        for setting in (
            "query_only = ON",
            "trusted_schema = OFF",
            "cell_size_check = ON",
            "mmap_size = 0",
        ):
            self._rows(f"PRAGMA {setting}")
        if hasattr(self._base, "setconfig"):  # since Python 3.12
            self._base.setconfig(getattr(sqlite3, "SQLITE_DBCONFIG_DEFENSIVE"), True)
        if hasattr(self._base, "setlimit"):  # since Python 3.11
            self._base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 2 * _PART_BYTES)
            self._base.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)

    def _check_kind(self) -> None:
        application = self._rows("PRAGMA application_id")[0][0] & 0xFFFFFFFF
        schema = self._rows("PRAGMA user_version")[0][0]
        if application != _APPLICATION:
            raise TalusError(
                f"{self.path}: is an SQLite file, but not a Talus catalog "
                f"(application_id 0x{application:08X}, not 0x{_APPLICATION:08X})"
            )
        if not 1 <= schema <= _NEWEST:
            raise TalusError(
                f"{self.path}: is a catalog of schema version {schema}, this module reads 1 to "
                f"{_NEWEST}; use the Python module of the Talus that wrote it"
            )
        kinds: dict[str, str] = {}
        for name, kind in self._rows("SELECT name, type FROM sqlite_master"):
            kinds[name] = kind
        for name in _TABLES + _LATER_TABLES:
            if kinds.get(name, "table" if name in _LATER_TABLES else "missing") != "table":
                raise TalusError(
                    f"{self.path}: '{name}' should be a table and is {kinds.get(name, 'missing')}; "
                    "`talus-catalog verify` says more; make the catalog again from its stacks"
                )
        self._tables = set(kinds)

    def _error(self, error: sqlite3.Error) -> TalusError:
        said = str(error)
        if "locked" in said:
            remedy = "another process writes to it; read it again when that is done"
        elif "not a database" in said:
            remedy = "it is not a Talus catalog (not an SQLite file)"
        elif "unable to open" in said or "readonly" in said:
            remedy = (
                "if a program that wrote to it was killed, `talus-catalog verify` restores it; "
                "else look at its permissions"
            )
        else:
            remedy = "`talus-catalog verify` says more; make it again from its stacks"
        return TalusError(f"{self.path}: SQLite says: {said}; {remedy}")

    def _rows(self, sql: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        try:
            return self._base.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise self._error(error) from error

    def _blob(self, table: str, owner: int, kind: str, dtype: str, count: int) -> np.ndarray:
        """An array of a grain or a terrain, put together from its parts and checked."""
        column = "avatar_id" if table == "avatar_blob" else "terrain_id"
        where = f"FROM {table} WHERE {column} = ? AND kind = ?"
        width = np.dtype(dtype).itemsize
        sizes = [
            row[0] for row in self._rows(f"SELECT raw_bytes {where} ORDER BY part", (owner, kind))
        ]
        total = count * width
        wanted = [min(_PART_BYTES, total - start) for start in range(0, total, _PART_BYTES)]
        place = f"{self.path}: '{kind}' of {column.removesuffix('_id')} {owner}"
        damaged = "make the catalog again from its stacks or take a backup"
        if count < 0 or sizes != wanted:
            raise TalusError(
                f"{place}: its parts have {sizes} bytes where {count} values of {width} bytes are "
                f"wanted; {damaged}"
            )
        parts = []
        for part, size in enumerate(sizes):
            found = self._rows(f"SELECT crc32, data {where} AND part = ?", (owner, kind, part))
            if len(found) != 1:
                raise TalusError(f"{place}: part {part} is missing; {damaged}")
            crc, data = found[0]
            try:
                shuffled = _zstd.decompress(data, size)
            except ValueError as error:
                raise TalusError(f"{place}: part {part}: {error}; {damaged}") from error
            if len(shuffled) != size:
                raise TalusError(f"{place}: part {part} is cut short; {damaged}")
            raw = np.frombuffer(shuffled, np.uint8).reshape(width, -1).T.tobytes()
            if zlib.crc32(raw) != crc:
                raise TalusError(f"{place}: the checksum of part {part} is wrong; {damaged}")
            parts.append(raw)
        return np.frombuffer(b"".join(parts), dtype)

    # ---- grains ----

    @property
    def samples(self) -> list[Sample]:
        rows = self._rows(
            "SELECT name, voxel_x_m, voxel_y_m, voxel_z_m,"
            " (SELECT count(*) FROM avatar WHERE sample_id = sample.id),"
            " (SELECT count(*) FROM avatar WHERE sample_id = sample.id AND border = 1)"
            " FROM sample ORDER BY id"
        )
        return [Sample(name, (x, y, z), count, cut) for name, x, y, z, count, cut in rows]

    def grains(
        self,
        sample: str | None = None,
        *,
        with_border: bool = False,
        with_rejected: bool = False,
    ) -> Table:
        """A row a grain: the columns of docs/reference/catalog.md, sample, diameter_m, verdict and form.

        Left out unless asked for are grains that the scan's border cuts and those that
        talus-avatars rejected. Residuals and descriptors that were not measured are NaN.
        """
        if sample is not None and sample not in [s.name for s in self.samples]:
            known = ", ".join(s.name for s in self.samples) or "none"
            raise TalusError(f"{self.path}: there is no sample {sample!r}; there are: {known}")
        checks = _RESIDUALS + _FORM
        judged = "avatar_check" in self._tables
        columns = [f"a.{name}" for name in _NUMBERS] + ["s.name"]
        columns += ["c.verdict"] + [f"c.{name}" for name in checks] if judged else []
        sql = f"SELECT {', '.join(columns)} FROM avatar a JOIN sample s ON s.id = a.sample_id"
        sql += " LEFT JOIN avatar_check c ON c.avatar_id = a.id" if judged else ""
        sql += " WHERE (?1 IS NULL OR s.name = ?1) AND (?2 OR a.border = 0)"
        sql += " AND (?3 OR c.verdict IS NOT 'rejected')" if judged else " AND (?3 OR 1)"
        rows = self._rows(sql + " ORDER BY a.id", (sample, with_border, with_rejected))
        names = _NUMBERS + ["sample", "verdict"] + checks
        by_name = dict(zip(names, zip(*rows, strict=True) if rows else [()] * len(names)))
        found: dict[str, np.ndarray] = {}
        for name in names:
            values = by_name.get(name, (None,) * len(rows))
            if name in _WHOLE:
                found[name] = np.array(values, np.int64)
            elif name in ("sample", "verdict"):
                found[name] = np.array([value or "" for value in values], str)
            else:
                found[name] = np.array(values, float)  # None becomes NaN
        found["border"] = found["border"].astype(bool)
        found["diameter_m"] = np.cbrt(6 * found["volume_m3"] / np.pi)
        return Table(found, self.path)

    def grain(self, id: int) -> Grain:
        """The grain with this number."""
        rows = self._rows(
            f"SELECT {', '.join('a.' + name for name in _NUMBERS)}, s.name"
            " FROM avatar a JOIN sample s ON s.id = a.sample_id WHERE a.id = ?",
            (id,),
        )
        if not rows:
            raise KeyError(f"{self.path} has no grain {id}; Catalog.grains()['id'] lists them")
        row = dict(zip(_NUMBERS + ["sample"], rows[0], strict=True))
        nx, ny, nz = row["nx"], row["ny"], row["nz"]
        if min(nx, ny, nz) < 2:
            raise TalusError(f"{self.path}: the grid of grain {id} is {nx} x {ny} x {nz}")
        phi_m = self._blob("avatar_blob", id, "phi", "<f4", nx * ny * nz)
        node_m = self._blob("avatar_blob", id, "node", "<f4", 3 * row["node_count"])

        def vector(*names: str) -> np.ndarray:
            return np.array([row[name] for name in names])

        return Grain(
            id=id,
            label=row["label"],
            border=bool(row["border"]),
            phi_m=phi_m.reshape(nz, ny, nx),
            spacing_m=row["spacing_m"],
            origin_m=vector("origin_x_m", "origin_y_m", "origin_z_m"),
            phi_error_m=row["phi_error_m"],
            node_m=node_m.reshape(-1, 3),
            node_area_m2=self._blob("avatar_blob", id, "node_area", "<f4", row["node_count"]),
            volume_m3=row["volume_m3"],
            area_m2=row["area_m2"],
            radius_m=row["radius_m"],
            inertia_m5=vector("inertia_1_m5", "inertia_2_m5", "inertia_3_m5"),
            axes_m=vector("axis_a_m", "axis_b_m", "axis_c_m"),
            scan_centroid_m=vector("scan_x_m", "scan_y_m", "scan_z_m"),
            scan_rotation_wxyz=vector("scan_qw", "scan_qx", "scan_qy", "scan_qz"),
            sample=row["sample"],
            quality=self._quality(id),
        )

    def _quality(self, id: int) -> dict[str, Any]:
        if "avatar_check" not in self._tables:
            return {}
        names = ["verdict", "reason"] + _RESIDUALS + _FORM
        rows = self._rows(f"SELECT {', '.join(names)} FROM avatar_check WHERE avatar_id = ?", (id,))
        return dict(zip(names, rows[0], strict=True)) if rows else {}

    def history(self, id: int) -> list[dict[str, Any]]:
        """The tool runs that made a grain, oldest first: tool, version, argv, inputs, parameters."""
        rows = self._rows(
            "SELECT r.record FROM avatar a JOIN run_history h ON h.run_id = a.run_id"
            " JOIN run r ON r.id = h.ancestor_id WHERE a.id = ? ORDER BY h.position",
            (id,),
        )
        if not rows:
            raise KeyError(f"{self.path} has no grain {id}; Catalog.grains()['id'] lists them")
        try:
            return [json.loads(row[0]) for row in rows]
        except ValueError as error:
            raise TalusError(
                f"{self.path}: a record behind grain {id} is no valid JSON: {error}; "
                "`talus-catalog verify` says more"
            ) from error

    def grading(
        self,
        sample: str | None = None,
        *,
        by: str = "diameter_m",
        with_border: bool = False,
        with_rejected: bool = False,
    ) -> Grading:
        """The grading curve by volume, as `talus-catalog grading` has it.

        by: "diameter_m", of the sphere of equal volume, or "axis_b_m", the intermediate principal
        axis, which stands for the square sieve that a grain just passes.
        """
        if by not in ("diameter_m", "axis_b_m"):
            raise ValueError(f"by is 'diameter_m' or 'axis_b_m', not {by!r}")
        grains = self.grains(sample, with_border=with_border, with_rejected=with_rejected)
        if grains.rows == 0:
            raise TalusError(
                f"{self.path}: there are no grains to make a grading curve of; with_border=True "
                "takes those that the scan's border cuts, too"
            )
        order = np.lexsort((grains["volume_m3"], grains[by]))
        sums = np.cumsum(grains["volume_m3"][order])
        return Grading(grains[by][order], sums / sums[-1])

    # ---- terrains ----

    @property
    def terrains(self) -> list[str]:
        return [row[0] for row in self._rows("SELECT name FROM terrain ORDER BY id")]

    def terrain(self, name: str) -> Terrain:
        rows = self._rows(
            "SELECT id, crs, origin_x, origin_y, origin_z, nx, ny, cell_m, x0_m, y0_m, holes_filled"
            " FROM terrain WHERE name = ?",
            (name,),
        )
        if not rows:
            known = ", ".join(self.terrains) or "none"
            raise TalusError(f"{self.path}: there is no terrain {name!r}; there are: {known}")
        id, crs, x, y, z, nx, ny, cell_m, x0_m, y0_m, holes_filled = rows[0]
        height_m = self._blob("terrain_blob", id, "height", "<f4", nx * ny)

        def of_samples(table: str, kind: str, dtype: str) -> np.ndarray | None:
            if table not in self._tables or not self._rows(
                f"SELECT 1 FROM {table} WHERE terrain_id = ? LIMIT 1", (id,)
            ):
                return None
            return self._blob(table, id, kind, dtype, nx * ny).reshape(ny, nx)

        filled = of_samples("terrain_filled", "filled", "u1")
        if filled is None and holes_filled == 0:
            filled = np.zeros((ny, nx))
        return Terrain(
            name=name,
            crs=crs,
            origin=np.array([x, y, z]),
            x0_m=x0_m,
            y0_m=y0_m,
            cell_m=cell_m,
            height_m=height_m.reshape(ny, nx),
            classes=of_samples("terrain_class", "class", "<i4"),
            filled=None if filled is None else filled != 0,
        )

    def close(self) -> None:
        self._base.close()

    def __enter__(self) -> Catalog:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        samples = ", ".join(f"{s.name} ({s.grains} grains)" for s in self.samples)
        return f"<Catalog {self.path}: {samples or 'no grains'}; terrains {self.terrains}>"
