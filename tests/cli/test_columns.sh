#!/usr/bin/env bash
# Columns of a run's tables: the page of them is current, their formats stand in run.h5, earlier names
# are the same in C and in Python; boundary.csv against a weight, lever arms and the frames' contacts,
# constraint.csv against an oedometer's load off the axis and a net's weight, on 1 and 2 ranks. 12 seconds.
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
[ ! -e "$dir/rest1.run/constraint.csv" ] || fail "constraint.csv of a study without constraints"
cmp <(cut -d, -f1-37 "$dir/without.run/history.csv") <(cut -d, -f1-37 "$dir/rest1.run/history.csv") ||
  fail "asking for boundary.csv moves history.csv"

# A ball off the axis of an oedometer bears its whole load.
cat >"$dir/piston.yaml" <<'YAML'
time: {dt_s: 1.0e-5, duration_s: 0.5, frame_every_s: 0, history_every_s: 2.0e-3}
gravity_m_s2: [0, 0, 0]
shapes: [{name: ball, kind: sphere, diameter_m: 1.0e-2}]
bodies: [{shape: ball, position_m: [-0.004, 0.003, 0.005]}]
oedometer:
  side_m: 0.02
  height_m: 0.01
  stages: [{vertical_stress_Pa: 1.0e+3, ramp_s: 2.0e-3, until_unbalanced: 1.0e-7, until_kinetic_fraction: 1.0e-13}]
solver: {method: penalty}
penalty: {spread: deepest, normal_N_m: 1.0e+5}
contact: {friction: 0, restitution: 0.5, boundary_friction: 0, damping_per_s: 2000}
YAML
# A net hangs from its first row, along y. By impulses.
cat >"$dir/hang.yaml" <<'YAML'
time: {dt_s: 2.0e-5, duration_s: 0.2, frame_every_s: 0, history_every_s: 0.1, constraint_forces: all}
gravity_m_s2: [0, 9.81, 0]
shapes: [{name: ball, kind: sphere, diameter_m: 1.0e-2}]
bodies: [{shape: ball, position_m: [1, 0, 1]}]
nets:
- {corner_m: [0, 0, 0], along_m: [0.02, 0, 0], across_m: [0, 0.02, 0], spacing_m: 5.0e-3, radius_m: 1.0e-3, mass_kg: 2.0e-4,
   stiffness_N_m: 100, tangential_stiffness_N_m: 40, damping: 0.5, clamped: [first-row]}
contact: {damping_per_s: 200}
YAML
for study in piston hang; do
  for ranks in 1 2; do
    "$BIN/talus-mpirun" -n $ranks "$BIN/talus-solve" "$dir/$study.yaml" -o "$dir/$study$ranks.run" --no-progress \
      >"$dir/$study.log" 2>&1 || { fail "$study on $ranks ranks"; cat "$dir/$study.log"; }
  done
  cmp "$dir/${study}1.run/constraint.csv" "$dir/${study}2.run/constraint.csv" || fail "$study: constraint.csv depends on the ranks"
done
"$BIN/talus-solve" "$dir/piston.yaml" -o "$dir/none.run" --set time.constraint_forces=none --no-progress >"$dir/log" 2>&1 ||
  fail "the oedometer without forces of constraints"
[ ! -e "$dir/none.run/constraint.csv" ] || fail "constraint.csv was not asked for"
cmp "$dir/none.run/oedometer.csv" "$dir/piston1.run/oedometer.csv" || fail "writing constraint.csv moves oedometer.csv"
"$BIN/talus-solve" "$dir/hang.yaml" -o "$dir/joints.run" --set time.constraint_forces=joints --set time.duration_s=0.01 \
  --no-progress >"$dir/log" 2>&1 || fail "the net without forces of bonds"
[ ! -e "$dir/joints.run/constraint.csv" ] || fail "constraint.csv of a study that has bonds alone, which were not asked for"

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
# the piston's force on its platen is the load, its moment that of the ball against it
piston = talus.Run(f"{folder}/piston1.run")
lines = piston.table("constraint")
load = 1e3 * 0.02 * 0.02
assert len(lines["time_s"]) == len(piston.history["time_s"]) - 1, "a line a moment, but not before the first step"
assert set(lines["kind"]) == {"slider"} and set(lines["high_id"]) == {-1}, lines
for axis, value in zip("xyz", (0, 0, -load), strict=True):
    assert abs(lines[f"force_{axis}_N"][-1] - value) < 1e-9 * load, (axis, lines[f"force_{axis}_N"][-1])
# -(x, y, .) x (0, 0, load), of the ball at (-0.004, 0.003)
for axis, value in zip("xyz", (-0.003 * load, -0.004 * load, 0), strict=True):
    assert abs(lines[f"moment_{axis}_N_m"][-1] - value) < 1e-6 * load * 0.005, (axis, lines[f"moment_{axis}_N_m"][-1])
# the bonds of the first row carry the rows that hang on it
hang = talus.Run(f"{folder}/hang1.run")
bonds = hang.table("constraint")
frame = hang.frame(-1)
last = bonds["time_s"] == bonds["time_s"][-1]
assert set(bonds["kind"]) == {"bond"}, bonds
clamped = frame["id"][np.abs(frame["position_m"][:, 1]) < 1e-9]
spheres = set(bonds["low_id"]) | set(bonds["high_id"])
borne = last & np.isin(bonds["low_id"], clamped) & ~np.isin(bonds["high_id"], clamped)
assert len(clamped) == 5 and borne.sum() > 4, (clamped, borne.sum())
weight = (len(spheres) - 5) * 2e-4 * 9.81
for axis, value in zip("xyz", (0, weight, 0), strict=True):
    force = bonds[f"force_{axis}_N"][borne].sum()
    assert abs(force - value) < 1e-6 * weight, (axis, force, value)
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
try:
    run.table("constraint")
    raise AssertionError("there is no constraint.csv")
except talus.TalusError as error:
    assert "no constraints" in str(error), error
history = run.history
assert (history["speed_max_m_s"] == history["surface_speed_max_m_s"]).all()
PYTHON
exit $bad
