#!/usr/bin/env bash
# run.vtkhdf, by which ParaView opens a run: read step by step by the rules of VTKHDF 2.0 and compared with
# the frames, from another folder and after the run was moved; read by VTK's own reader where python3-vtk9
# is installed (9.1, which takes all steps as the parts of one grid). Grains leave, so steps differ in
# size.
set -u
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
bad=0
fail() { echo "FAILED: $*"; bad=1; }
export OMP_NUM_THREADS=1
python=/usr/bin/python3
"$BIN/talus-phantom" -q --terrain --seed=1 -o valley.asc && "$BIN/talus-topo" -q valley.asc --catalog=c.tals --name=slope >out.txt 2>&1 ||
  { fail "the ground"; cat out.txt; exit 1; }
cat >s.yaml <<'YAML'
title: balls of two sizes fly over the western edge one after the other
catalog: c.tals
outside: remove
time: {dt_s: 4.0e-3, steps: 400, frame_every_s: 0.1}
shapes: [{name: small, diameter_m: 2}, {name: large, diameter_m: 4}]
bodies:
- {shape: small, position_m: [60, 100, 100], count: 2, step_m: [0, 6, 0]}
- {shape: large, position_m: [6, 80, 100], scale: 1.5, velocity_m_s: [-12, 0, 0], count: 2, step_m: [8, 10, 0]}
terrain: {name: slope}
YAML
"$BIN/talus-solve" -q s.yaml >out.txt 2>&1 || { fail "the run"; cat out.txt; exit 1; }
mkdir elsewhere && mv s.run elsewhere/moved.run

cat >check.py <<'END'
import glob, math, sys
import h5py
import numpy as np

folder = sys.argv[1]
file = h5py.File(folder + "/run.vtkhdf")
g = file["VTKHDF"]
kind = g.attrs.get_id("Type").get_type()
assert kind.get_cset() == h5py.h5t.CSET_ASCII and g.attrs["Type"] == b"UnstructuredGrid", g.attrs["Type"]
assert list(g.attrs["Version"]) == [2, 0]
steps = g["Steps"]
frames = sorted(glob.glob(folder + "/frame_*.h5"))
assert steps.attrs["NSteps"] == len(frames) == len(steps["Values"])
run = h5py.File(folder + "/run.h5")
volume = dict(zip(run["avatar/id"][:], run["avatar/volume_m3"][:]))
sizes = set()
for i, name in enumerate(frames):
    with h5py.File(name) as frame:
        assert steps["Values"][i] == frame.attrs["time_s"]
        # the reader's rules: parts of the step, then points, cells and ids from the step's offsets on
        assert steps["NumberOfParts"][i] == 1
        part = steps["PartOffsets"][i]
        points, cells, ids = (g[n][part] for n in ("NumberOfPoints", "NumberOfCells", "NumberOfConnectivityIds"))
        at, cell, link = (steps[n][i] for n in ("PointOffsets", "CellOffsets", "ConnectivityIdOffsets"))
        n = len(frame["id"])
        sizes.add(n)
        assert points == cells == ids == n
        assert np.array_equal(g["Points"][at:at + n], frame["position_m"][:])
        assert np.array_equal(g["Offsets"][cell + part:cell + part + n + 1], np.arange(n + 1))
        assert np.array_equal(g["Connectivity"][link:link + n], np.arange(n))
        assert (g["Types"][cell:cell + n] == 1).all()  # vertices
        for column, data in g["PointData"].items():
            at = steps["PointDataOffsets"][column][i]
            want = ([s * (0.75 / math.pi * volume[a]) ** (1 / 3) for s, a in zip(frame["scale"][:], frame["avatar_id"][:])]
                    if column == "radius_m" else frame[column][:])
            assert np.allclose(data[at:at + n], want, rtol=1e-12, atol=0), column
        missing = set(frame) - set(g["PointData"]) - {"position_m", "contact"}
        assert not missing, missing
        last = n
for name, data in g["PointData"].items():
    if name != "radius_m":
        assert data.is_virtual and data.attrs.get("unit", b"") == h5py.File(frames[0])[name].attrs.get("unit", b""), name
assert len(sizes) >= int(sys.argv[2]), sizes
radii = sorted(set(np.round(g["PointData/radius_m"][:], 9)))
assert radii == [1, 3], radii

try:
    from vtkmodules.vtkIOHDF import vtkHDFReader
except ImportError:
    print("without VTK's reader")
    sys.exit()
reader = vtkHDFReader()
reader.SetFileName(folder + "/run.vtkhdf")
assert reader.CanReadFile(folder + "/run.vtkhdf")
reader.Update()
grid = reader.GetOutputDataObject(0)
total = sum(g["NumberOfPoints"][:])
if grid.GetNumberOfPoints() == total:  # 9.1 knows no steps: they are parts
    where = range(total)
else:  # the first step
    where = range(g["NumberOfPoints"][0])
    assert grid.GetNumberOfPoints() == len(where)
for i in where:
    assert grid.GetPoint(i) == tuple(g["Points"][i]) and grid.GetCellType(i) == 1
    assert grid.GetCell(i).GetPointId(0) == i
    assert grid.GetPointData().GetArray("id").GetTuple1(i) == g["PointData/id"][i]
    assert grid.GetPointData().GetArray("velocity_m_s").GetTuple3(i) == tuple(g["PointData/velocity_m_s"][i])
    assert grid.GetPointData().GetArray("radius_m").GetTuple1(i) == g["PointData/radius_m"][i]
print("VTK's reader:", grid.GetNumberOfPoints(), "points")
END
"$python" check.py elsewhere/moved.run 3 >out.txt 2>&1 || { fail "the moved run"; cat out.txt; }
cat out.txt

# resumed and made longer: the file speaks of the frames that are there then
mv elsewhere/moved.run s.run
"$BIN/talus-solve" -q s.yaml --set time.steps=500 --resume >out.txt 2>&1 || { fail "resuming"; cat out.txt; }
"$python" check.py s.run 3 >out.txt 2>&1 || { fail "the resumed run"; cat out.txt; }
# replaced: the new run has its own
"$BIN/talus-solve" -q s.yaml --set time.steps=400 --overwrite >out.txt 2>&1 || { fail "replacing"; cat out.txt; }
"$python" check.py s.run 1 >out.txt 2>&1 || { fail "the new run"; cat out.txt; }
# frames of more rows than are made at a time (65,536)
cat >many.yaml <<'YAML'
time: {dt_s: 1.0e-4, steps: 1, frame_every_s: 1.0e-4}
free_fall: yes
shapes: [{name: ball, diameter_m: 2.0e-3}]
grains: {shapes: [ball]}
release: {assembly: lattice, low_m: [0, 0, 0], high_m: [0.084, 0.084, 0.084], spacing: 1}
YAML
"$BIN/talus-solve" -q many.yaml >out.txt 2>&1 || { fail "many grains"; cat out.txt; }
"$python" - >out.txt 2>&1 <<'END' || { fail "the file of many grains"; cat out.txt; }
import h5py
import numpy as np

g = h5py.File("many.run/run.vtkhdf")["VTKHDF"]
steps = g["Steps"]
n = len(h5py.File("many.run/frame_000000.h5")["id"])
assert n > 65536 and list(g["NumberOfPoints"]) == [n, n]
for i in range(2):
    at = steps["CellOffsets"][i] + i
    assert np.array_equal(g["Offsets"][at:at + n + 1], np.arange(n + 1))
assert len(g["Offsets"]) == 2 * (n + 1)
assert np.array_equal(g["Connectivity"][:], np.tile(np.arange(n), 2))
assert (g["Types"][:] == 1).all() and len(g["Types"]) == 2 * n
assert np.allclose(g["PointData/radius_m"][:], 1e-3, rtol=1e-9) and len(g["PointData/radius_m"]) == 2 * n
END

# a folder in its place is told before the run begins, and nothing is lost
rm -rf s.run && mkdir -p s.run/run.vtkhdf
"$BIN/talus-solve" s.yaml --set time.steps=20 --overwrite >out.txt 2>&1 && fail "a folder in the file's place is not told"
grep -q 'run.vtkhdf: is a folder' out.txt || { fail "a folder in the file's place"; cat out.txt; }
exit $bad
