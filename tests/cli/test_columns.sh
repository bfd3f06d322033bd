#!/usr/bin/env bash
# Columns of a run's tables: the page of them is current, their formats stand in run.h5, earlier names
# are the same in C and in Python; boundary.csv against a weight, lever arms and the frames' contacts, on
# 1 and 2 ranks. 10 seconds.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
python=${PYTHON:-/usr/bin/python3}
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
bad=0
fail() { echo "FAILED: $*"; bad=1; }
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$root/python
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

"$BIN/talus-solve" --columns >"$dir/columns.md" || fail "talus-solve --columns"
"$BIN/talus-measure" --columns >>"$dir/columns.md" || fail "talus-measure --columns"
cmp -s "$dir/columns.md" "$root/docs/reference/columns.md" ||
  fail "docs/reference/columns.md is not what talus-solve and talus-measure --columns print; run make reference"

# Two blocks at rest: one on a plane, off the origin, and one in a box with walls.
cat >"$dir/rest.yaml" <<'YAML'
time: {dt_s: 2.0e-5, duration_s: 0.2, frame_every_s: 0.2, history_every_s: 0.1, boundary_forces: yes}
frames: {contacts: yes}
shapes: [{name: block, kind: box, size_m: [0.1, 0.1, 0.05]}]
grains: {density_kg_m3: 2650}
bodies:
- {shape: block, position_m: [0.3, -0.2, 0.025]}
- {shape: block, position_m: [2, 0, 0.025]}
planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]
walls: [{kind: box, grains: inside, point_m: [2, 0, 0.149], size_m: [0.3, 0.3, 0.3], thickness_m: 0.02, open: [+z]}]
solver: {method: penalty}
penalty: {spread: traction, normal_Pa_m: 1.0e+10, normal_N_m: 1.0e+6}
contact: {friction: 0.4, restitution: 0.2, damping_per_s: 100}
YAML
for ranks in 1 2; do
  "$BIN/talus-mpirun" -n $ranks "$BIN/talus-solve" "$dir/rest.yaml" -o "$dir/rest$ranks.run" --no-progress \
    >"$dir/rest$ranks.log" 2>&1 || { fail "the run on $ranks ranks"; cat "$dir/rest$ranks.log"; exit 1; }
done
cmp "$dir/rest1.run/boundary.csv" "$dir/rest2.run/boundary.csv" || fail "boundary.csv depends on the ranks"
"$BIN/talus-solve" "$dir/rest.yaml" -o "$dir/without.run" --set time.boundary_forces=no --no-progress >"$dir/log" 2>&1 ||
  fail "the run without boundary forces"
[ ! -e "$dir/without.run/boundary.csv" ] || fail "boundary.csv was not asked for"
cmp <(cut -d, -f1-37 "$dir/without.run/history.csv") <(cut -d, -f1-37 "$dir/rest1.run/history.csv") ||
  fail "asking for boundary.csv moves history.csv"
"$python" - "$dir" "$root" <<'PYTHON' || bad=1
import csv
import re
import sys

import h5py
import numpy as np
import talus
from talus.table import EARLIER_NAMES

folder, root = sys.argv[1:]


def rows(name):
    with open(f"{folder}/{name}", newline="") as file:
        return list(csv.DictReader(file))


# each boundary has a row a moment; both containers' parts are told apart
table = rows("rest1.run/boundary.csv")
times = sorted({float(row["time_s"]) for row in table})
assert times == [0.1, 0.2], times
last = [row for row in table if float(row["time_s"]) == times[-1]]
assert [row["name"] for row in last] == ["planes.0"] + 5 * ["walls.0"], last
assert [int(float(row["part"])) for row in last] == [0, 0, 1, 2, 3, 4], last
# the plane and the container's floor, 1 mm below it, bear: both blocks stand on the plane
weight = 2650 * 0.1 * 0.1 * 0.05 * 9.81
plane = {key: float(value) for key, value in last[0].items() if key != "name"}
assert abs(plane["force_z_N"] + 2 * weight) < 1e-4 * weight, plane
assert abs(plane["normal_force_N"] - 2 * weight) < 1e-4 * weight, plane
assert abs(plane["force_x_N"]) + abs(plane["force_y_N"]) < 1e-4 * weight, plane
# r x F: the blocks' weights at (0.3, -0.2) and (2, 0)
assert abs(plane["moment_x_N_m"] - 0.2 * weight) < 1e-4 * weight, plane
assert abs(plane["moment_y_N_m"] - 2.3 * weight) < 1e-4 * weight, plane
for wall in last[1:]:
    assert all(abs(float(wall[key])) < 1e-9 for key in wall if key.endswith(("_N", "_N_m"))), wall
# and the frame's own contacts say the same
run = talus.Run(f"{folder}/rest1.run")
with h5py.File(f"{folder}/rest1.run/frame_000001.h5") as frame:
    contact = frame["contact"]
    on = np.asarray(contact["second"]) == -1
    force = -np.asarray(contact["force_N"])[on].sum(axis=0)
    assert on.sum() == plane["contacts"], (on.sum(), plane)
for axis, value in zip("xyz", force, strict=True):
    assert abs(value - plane[f"force_{axis}_N"]) < 1e-9, (axis, value, plane)
# formats of the run's tables
with h5py.File(f"{folder}/rest1.run/run.h5") as file:
    formats = dict(file["table"].attrs)
assert formats == {"history.csv": 3, "departures.csv": 1, "boundary.csv": 1}, formats
# one list of earlier names
with open(f"{root}/libcore/io/column_names.h") as file:
    pairs = re.findall(r'N\("(\w+)", "(\w+)"\)', file.read())
assert pairs and dict(pairs) == EARLIER_NAMES, (pairs, EARLIER_NAMES)
assert list(run.table("boundary")["boundary"][:6]) == [0, 1, 2, 3, 4, 5]
try:
    run.table("oedometer")
    raise AssertionError("there is no oedometer.csv")
except talus.TalusError as error:
    assert "has no section `oedometer`" in str(error), error
history = run.history
assert (history["speed_max_m_s"] == history["surface_speed_max_m_s"]).all()
PYTHON
exit $bad
