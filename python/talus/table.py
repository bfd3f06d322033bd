"""Tables: columns by name, units in the names."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from .errors import TalusError, optional_module


# Columns that were renamed: earlier name -> name now. The same list as libcore/io/column_names.h.
EARLIER_NAMES = {
    "speed_max_m_s": "surface_speed_max_m_s",
    "poor": "embedded",
    "jammed": "unresolved",
    "energy_defect_J": "energy_balance_error_J",
    "defect_J": "balance_error_J",
    "ram_work_J": "piston_work_J",
    "fahrboeschung_deg": "reach_angle_deg",
}


class Table(Mapping[str, np.ndarray]):
    """Arrays of equal length by name: table["time_s"]. Earlier names of columns work, too."""

    def __init__(self, columns: Mapping[str, np.ndarray], source: str) -> None:
        self._columns = dict(columns)
        self.source = source

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._columns:
            for earlier, now in EARLIER_NAMES.items():
                for asked, there in ((earlier, now), (now, earlier)):
                    if name == asked and there in self._columns:
                        return self._columns[there]
            known = ", ".join(self._columns)
            raise KeyError(f"{self.source} has no column {name!r}; it has {known}")
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        """The number of columns, as of every mapping; rows counts the rows."""
        return len(self._columns)

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in their order."""
        return list(self._columns)

    @property
    def rows(self) -> int:
        return len(next(iter(self._columns.values()))) if self._columns else 0

    def where(self, mask: np.ndarray) -> Table:
        """The rows for which mask is true."""
        return Table({name: column[mask] for name, column in self.items()}, self.source)

    def to_pandas(self) -> Any:
        """A pandas DataFrame; vectors become columns with _0, _1, ... at the end."""
        pandas = optional_module("pandas", "Table.to_pandas()")
        flat: dict[str, np.ndarray] = {}
        for name, column in self.items():
            if column.ndim == 1:
                flat[name] = column
            else:
                flat |= {f"{name}_{i}": column[:, i] for i in range(column.shape[1])}
        return pandas.DataFrame(flat)

    def __repr__(self) -> str:
        return f"<Table of {self.source}: {self.rows} rows, columns {', '.join(self)}>"


def _numbers(cells: list[str]) -> np.ndarray:
    """Numbers where every cell is one (an empty cell is NaN), else texts."""
    try:
        return np.array([float(cell) if cell else np.nan for cell in cells])
    except ValueError:
        return np.array(cells)


def read_csv(path: str | os.PathLike[str], *, whole: bool = False) -> Table:
    """A table that Talus wrote as CSV.

    A last line without its end is still being written, and left out; of a table that is written
    as a whole it is damage.
    """
    path = os.fspath(path)
    try:
        with open(path, newline="", encoding="utf-8") as file:
            lines = file.read().splitlines(keepends=True)
    except (OSError, UnicodeDecodeError) as error:
        raise TalusError(f"{path}: cannot be read as a table: {error}") from error
    if lines and not lines[-1].endswith("\n"):
        if whole:
            raise TalusError(
                f"{path}: ends within line {len(lines)}, so it is damaged; copy or make it again"
            )
        lines.pop()
    rows = list(csv.reader(lines))
    if not rows or not rows[0]:
        raise TalusError(f"{path}: has no line with the names of its columns; is the run complete?")
    names, rows = rows[0], rows[1:]
    if len(set(names)) != len(names):
        raise TalusError(f"{path}: a column's name comes twice in its first line")
    for number, row in enumerate(rows, start=2):
        if len(row) != len(names):
            raise TalusError(
                f"{path}: line {number} has {len(row)} cells, the first line names {len(names)} "
                "columns; the file is damaged, write it again"
            )
    columns = {name: _numbers([row[i] for row in rows]) for i, name in enumerate(names)}
    return Table(columns, path)
