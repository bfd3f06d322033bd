"""Read what Talus writes, and run Talus studies.

    run = talus.run("slope.yaml", set={"contact.friction": 0.4})   # or talus.Run("slope.run")
    frame = run.frame(-1)
    catalog = talus.Catalog("sand.tals")
    grain = catalog.grain(17)
    stack = talus.Stack("labels.h5")

Units are SI and stand in every name (`position_m`, `kinetic_energy_J`). Quaternions are unit
quaternions in the order w, x, y, z and turn body coordinates into world coordinates
(`talus.rotate`). Grids have the axis order z, y, x. Files are opened for reading only.
docs/guide/reading-results.md has examples; the formats are in docs/reference/results.md, docs/reference/catalog.md and
docs/reference/formats.md.
"""

from ._version import __version__
from .catalog import Catalog, Grading, Sample
from .errors import TalusError
from .grain import Grain
from .quaternion import rotate, rotation_matrix
from .results import Frame, Run
from .solve import run
from .stack import Stack
from .table import Table, read_csv
from .terrain import Terrain

__all__ = [
    "Catalog",
    "Frame",
    "Grading",
    "Grain",
    "Run",
    "Sample",
    "Stack",
    "Table",
    "TalusError",
    "Terrain",
    "__version__",
    "read_csv",
    "rotate",
    "rotation_matrix",
    "run",
]
