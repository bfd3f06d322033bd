"""The Python module on files that the tools made (tests/cli/test_python.sh makes them, here: the
working directory): against closed forms, against h5py, csv and sqlite3 alone, and against the
tools' own exports.
"""

import csv
import glob
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
import unittest

import h5py
import numpy as np

import talus
import talus.openvdb

BIN = os.environ["BIN"]
ROOT = os.environ["TALUS_ROOT"]
G = 9.81


def tool(*arguments):
    return subprocess.run(
        [os.path.join(BIN, arguments[0]), *arguments[1:]],
        check=True,
        capture_output=True,
        text=True,
    ).stdout


class Quaternions(unittest.TestCase):
    def test_quarter_turn(self):
        half = np.sqrt(0.5)
        np.testing.assert_allclose(talus.rotate([half, 0, 0, half], [1, 0, 0]), [0, 1, 0], atol=1e-15)
        np.testing.assert_allclose(talus.rotate([half, half, 0, 0], [0, 1, 0]), [0, 0, 1], atol=1e-15)
        np.testing.assert_allclose(talus.rotate([half, 0, half, 0], [0, 0, 1]), [1, 0, 0], atol=1e-15)

    def test_rodrigues(self):
        axis, angle, v = np.array([2, -1, 2]) / 3, 0.7, np.array([0.3, 0.5, -1.1])
        q = np.concatenate([[np.cos(angle / 2)], axis * np.sin(angle / 2)])
        turned = v * np.cos(angle) + np.cross(axis, v) * np.sin(angle)
        turned += axis * (axis @ v) * (1 - np.cos(angle))
        np.testing.assert_allclose(talus.rotate(q, v), turned, atol=1e-15)
        np.testing.assert_allclose(talus.rotate(np.stack([q, -q]), np.stack([v, v])), [turned] * 2, atol=1e-15)
        matrix = talus.rotation_matrix(q)
        np.testing.assert_allclose(matrix @ matrix.T, np.eye(3), atol=1e-15)
        self.assertAlmostEqual(np.linalg.det(matrix), 1)


class Flight(unittest.TestCase):
    """talus.run() and what it returns, held to free flight and to a ball at rest."""

    @classmethod
    def setUpClass(cls):
        cls.run_ = talus.run(
            "flight.yaml",
            set={"time.dt_s": 5e-4, "bodies.0.velocity_m_s": np.array([2.0, 0, 0]), "seed": np.int64(7)},
            output="flight 1.run",
            threads=1,
        )

    def test_study_is_the_effective_one(self):
        study = self.run_.study
        self.assertEqual(study["title"], 'a box: "in flight"')
        self.assertEqual(self.run_.title, 'a box: "in flight"')
        self.assertEqual(study["seed"], 7)
        time = study["time"]
        self.assertEqual((time["dt_s"], time["duration_s"], time["steps"]), (5e-4, 0.5, 0))
        self.assertEqual((time["frame_every_s"], time["history_every_s"]), (0.1, 0.01))
        self.assertEqual(study["bodies"][0]["velocity_m_s"], [2, 0, 0])
        self.assertEqual([b["shape"] for b in study["bodies"]], ["brick", "ball"])
        self.assertEqual(study["walls"][0]["open"], ["-z", "+z"])
        self.assertEqual([w["kind"] for w in study["walls"]], ["box", "plane"])
        self.assertEqual(study["solver"]["slop"], 0.001)
        self.assertIs(study["frames"]["contacts"], True)
        with open("flight 1.run/study.yaml", encoding="utf-8") as file:
            self.assertEqual(self.run_.study_text, file.read())

    def test_nested_lists_of_a_study(self):
        stages = talus.Run("cell.run").study["triaxial"]["stages"]
        self.assertEqual([s["kind"] for s in stages], ["consolidate", "shear"])
        self.assertEqual(stages[0]["pressure_Pa"], 1e4)
        self.assertEqual(stages[1]["until_strain"], 0.5)
        self.assertEqual(talus.Run("cell.run").study["triaxial"]["membrane"]["stiffness_N_m"], 400)

    def test_attributes(self):
        run = self.run_
        self.assertEqual((run.step_s, run.density_kg_m3, run.grain_scale), (5e-4, 2650, 1))
        np.testing.assert_array_equal(run.gravity_m_s2, [0, 0, -G])
        self.assertIn("SI", run.units)
        self.assertEqual(run.provenance[-1]["tool"], "talus-solve")
        self.assertEqual(run.reported["steps"], 1000)
        self.assertIn("talus-solve:", run.log)
        self.assertEqual(list(run.checkpoints), [0, 1000])
        self.assertTrue(all(os.path.isfile(path) for path in run.checkpoints.values()))
        np.testing.assert_array_equal(run.planes["normal"], [[0, 0, 1]])
        self.assertIsNone(run.terrain)
        self.assertEqual(list(run.materials["name"]), ["grain", "boundary"])
        np.testing.assert_array_equal(run.materials["density_kg_m3"], [2650, 2650])
        pairs = run.pairs
        np.testing.assert_array_equal(pairs["first"], [0, 0, 1])
        np.testing.assert_array_equal(pairs["second"], [0, 1, 1])
        contact = run.study["contact"]
        self.assertEqual(pairs["friction"][0], contact["friction"])
        self.assertEqual(pairs["restitution"][1], contact["boundary_restitution"])
        np.testing.assert_array_equal(run.frame(0)["material"], [0, 0])
        # the box's four sides and the plane
        walls = run.walls
        np.testing.assert_array_equal(walls["wall"], [0] * 4 + [1])
        np.testing.assert_array_equal(walls["velocity_m_s"][-1], [0, 0, 1])

    def test_flight_of_the_brick(self):
        """x = v t; z falls by the sums of the step's scheme; it turns by w t about z."""
        for index in range(6):
            frame = self.run_.frame(index)
            self.assertEqual((frame.index, frame.body_count, list(frame["id"])), (index, 2, [0, 1]))
            t, dt = frame.time_s, 5e-4
            self.assertAlmostEqual(t, 0.1 * index, delta=1e-12)
            x, y, z = frame["position_m"][0]
            np.testing.assert_allclose([x, y], [2 * t, 0], atol=1e-12)
            self.assertLess(abs(z - (5 - 0.5 * G * t * t)), 0.5 * G * t * dt * 1.001 + 1e-12)
            np.testing.assert_allclose(frame["velocity_m_s"][0], [2, 0, -G * t], atol=1e-9)
            # body axes: moments ascend, so x of the body is the longest side, z the shortest
            long = talus.rotate(frame["rotation_wxyz"][0], [1, 0, 0])
            side = talus.rotate(frame["rotation_wxyz"][0], [0, 0, 1])
            direction = np.array([np.cos(3 * t), np.sin(3 * t), 0])
            self.assertAlmostEqual(abs(long @ direction), 1, delta=1e-9)
            self.assertAlmostEqual(abs(side[2]), 1, delta=1e-9)

    def test_frame_by_time(self):
        self.assertEqual(self.run_.frame(time_s=0.26).index, 3)
        self.assertEqual(self.run_.frame(time_s=0.24).index, 2)
        self.assertEqual(self.run_.frame(time_s=-5).index, 0)
        self.assertEqual(self.run_.frame(time_s=99).index, 5)
        self.assertEqual(self.run_.frame(-1).index, 5)
        np.testing.assert_allclose(self.run_.times_s, np.arange(6) / 10, atol=1e-12)
        self.assertEqual([f.index for f in self.run_.frames()], list(range(6)))

    def test_ball_at_rest_bears_its_weight(self):
        frame = self.run_.frame(-1)
        points = frame.contacts
        mine = points.where(points["first"] == 1)
        np.testing.assert_array_equal(mine["second"], [-1])  # the study's one plane
        weight = 2650 * np.pi / 6 * 0.02**3 * G
        np.testing.assert_allclose(mine["force_N"].sum(axis=0), [0, 0, weight], rtol=1e-3, atol=1e-4 * weight)
        np.testing.assert_allclose(mine["normal"][0], [0, 0, 1], atol=1e-12)

    def test_history_is_the_kinetic_energy(self):
        history = self.run_.history
        t = history["time_s"]
        mass = 2650 * 0.03 * 0.02 * 0.01
        turning = 0.5 * mass / 12 * (0.03**2 + 0.02**2) * 3**2
        energy = 0.5 * mass * (4 + (G * t) ** 2) + turning
        np.testing.assert_allclose(history["kinetic_energy_J"], energy, rtol=1e-3)
        self.assertEqual(history.rows, 51)

    def test_shapes(self):
        frame = self.run_.frame(0)
        brick, ball = (self.run_.grain(i) for i in frame["avatar_id"])
        self.assertAlmostEqual(brick.volume_m3, 6e-6, delta=1e-12)
        a, b, c = 0.03, 0.02, 0.01
        moments = brick.volume_m3 / 12 * np.array([b * b + c * c, a * a + c * c, a * a + b * b])
        np.testing.assert_allclose(brick.inertia_m5, moments, rtol=1e-9)
        np.testing.assert_allclose(brick.inertia_kg_m2(2650, 2), 2650 * 32 * moments, rtol=1e-9)
        self.assertAlmostEqual(ball.diameter_m, 0.02, delta=1e-9)
        self.assertAlmostEqual(ball.mass_kg(1000, 2), 8000 * np.pi / 6 * 0.02**3, delta=1e-9)
        points = 0.0095 * np.array([[1, 0, 0], [0, -0.6, 0.8], [0.36, 0.48, 0.8]])
        np.testing.assert_allclose(ball.phi_at(points), -0.0005, atol=2e-4)
        self.assertLess(ball.phi_at([0, 0, 0]), 0)
        self.assertTrue(np.isnan(ball.phi_at([1, 0, 0])))
        # each grid point is where the documents say: x fastest, from the origin
        k, j, i = 3, 2, 1
        place = brick.origin_m + brick.spacing_m * np.array([i, j, k])
        self.assertAlmostEqual(float(brick.phi_at(place)), float(brick.phi_m[k, j, i]), delta=1e-9)

    def test_resume_makes_the_run_longer(self):
        shutil.rmtree("longer.run", ignore_errors=True)
        shutil.copytree("flight 1.run", "longer.run")
        run = talus.run("longer.run", set={"time.duration_s": 0.7}, resume=True, bin=BIN)
        self.assertEqual(len(run.frame_paths), 8)
        self.assertAlmostEqual(run.summary()["last_time_s"], 0.7)

    def test_summary(self):
        s = self.run_.summary()
        self.assertEqual((s["frames"], s["grains"], s["grains_at_start"], s["checkpoints"]), (6, 2, 2, 2))
        self.assertAlmostEqual(s["last_time_s"], 0.5)
        self.assertAlmostEqual(s["fastest_grain_m_s"], np.hypot(2, G * 0.5), delta=1e-6)
        self.assertEqual(s["method"], "etm-level")


class Slope(unittest.TestCase):
    """A run on a terrain, against h5py alone."""

    def setUp(self):
        self.run_ = talus.Run("slope.run")

    def test_columns_are_those_of_the_documents(self):
        with open(os.path.join(ROOT, "docs/reference/results.md"), encoding="utf-8") as file:
            section = file.read().split("## frame_NNNNNN.h5")[1].split("**Contacts**")[0]
        cells = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
        documented = set(re.findall("`(.*?)`", " ".join(cells)))
        self.assertEqual(set(self.run_.frame(0)), documented)

    def test_frames_by_id(self):
        for path in sorted(glob.glob("slope.run/frame_*.h5")):
            with h5py.File(path) as file:
                rows = {int(i): row for row, i in enumerate(file["id"])}
                frame = self.run_.frame(int(file.attrs["index"]))
                self.assertEqual((frame.time_s, frame.step), (file.attrs["time_s"], file.attrs["step"]))
                self.assertEqual(list(frame["id"]), sorted(rows))
                for name in file:
                    if not isinstance(file[name], h5py.Dataset):
                        continue
                    values = file[name][...]
                    for n, i in enumerate(frame["id"]):
                        np.testing.assert_array_equal(frame[name][n], values[rows[int(i)]], name)

    def test_rows_of_any_order(self):
        """Frames are written in no particular order; a shuffled one reads the same."""
        shutil.rmtree("shuffled.run", ignore_errors=True)
        shutil.copytree("slope.run", "shuffled.run")
        before = self.run_.frame(-1)
        path = os.path.join("shuffled.run", os.path.basename(before.path))
        order = np.random.default_rng(1).permutation(before.body_count)
        with h5py.File(path, "r+") as file:
            for name in file:
                if isinstance(file[name], h5py.Dataset):
                    file[name][...] = file[name][...][order]
        after = talus.Run("shuffled.run").frame(-1)
        self.assertEqual(set(after), set(before))
        for name in before:
            np.testing.assert_array_equal(after[name], before[name])

    def test_trajectories(self):
        times, ids, place = self.run_.trajectories()
        self.assertEqual(place.shape, (len(times), len(ids), 3))
        for n, frame in enumerate(self.run_.frames()):
            self.assertEqual(times[n], frame.time_s)
            np.testing.assert_array_equal(place[n], frame["position_m"])

    def test_trajectories_of_grains_that_come_and_go(self):
        shutil.rmtree("gone.run", ignore_errors=True)
        shutil.copytree("slope.run", "gone.run")
        path = os.path.join("gone.run", os.path.basename(self.run_.frame(1).path))
        with h5py.File(path, "r+") as file:
            columns = {name: (file[name][...], dict(file[name].attrs)) for name in file}
            for name, (values, attributes) in columns.items():
                del file[name]
                file[name] = values[columns["id"][0] != 2]
                file[name].attrs.update(attributes)
        _, ids, place = talus.Run("gone.run").trajectories()
        self.assertTrue(np.isnan(place[1, list(ids).index(2)]).all())
        self.assertEqual(np.isnan(place).sum(), 3)

    def test_flags(self):
        """Spheres of a membrane and the platen are no grains."""
        frame = talus.Run("cell.run").frame(-1)
        self.assertEqual(frame.grain_mask.sum(), 8)
        self.assertGreater(frame.body_count, 20)
        np.testing.assert_array_equal(frame["id"][frame.grain_mask], np.arange(8))

    def test_terrain(self):
        ground, rows = self.run_.terrain, []
        with open("valley.asc", encoding="utf-8") as file:
            head = dict(file.readline().split() for _ in range(6))
            rows = [[float(word) for word in line.split()] for line in file if line.strip()]
        height = np.array(rows)[::-1]  # the file's first row is north
        with talus.Catalog("sand.tals") as catalog:
            self.assertEqual(catalog.terrains, ["valley"])
            for terrain in (ground, catalog.terrain("valley")):
                self.assertEqual(terrain.name, "valley")
                self.assertEqual(terrain.height_m.shape, (int(head["nrows"]), int(head["ncols"])))
                np.testing.assert_allclose(terrain.height_m + terrain.origin[2], height, atol=1e-4)
                corner = terrain.to_crs([terrain.x_m[0], terrain.y_m[0], 0])
                self.assertEqual(corner[0], float(head["xllcenter"]))
                self.assertEqual(corner[1], float(head["yllcenter"]))
                self.assertEqual(terrain.cell_m, float(head["cellsize"]))
                self.assertIsNone(terrain.classes)

    def test_avatars_are_the_catalogs(self):
        with talus.Catalog("sand.tals") as catalog:
            for number in self.run_.avatars["id"][:3]:
                ours, stored = self.run_.grain(number), catalog.grain(int(number))
                for name in ("phi_m", "node_m", "node_area_m2", "origin_m", "inertia_m5", "axes_m",
                             "scan_centroid_m", "scan_rotation_wxyz", "spacing_m", "volume_m3",
                             "area_m2", "radius_m", "phi_error_m", "label", "border"):  # fmt: skip
                    np.testing.assert_array_equal(getattr(ours, name), getattr(stored, name), name)


class Tables(unittest.TestCase):
    def test_triaxial_against_csv_and_closed_forms(self):
        table = talus.Run("cell.run").triaxial
        with open("cell.run/triaxial.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual((table.rows, list(table)), (len(rows), list(rows[0])))
        self.assertEqual(list(table["kind"]), [row["kind"] for row in rows])
        for name in table:
            if name != "kind":
                np.testing.assert_array_equal(table[name], [float(row[name]) for row in rows])
        axial, radial = table["axial_stress_Pa"], table["radial_stress_Pa"]
        np.testing.assert_allclose(table["deviatoric_stress_Pa"], axial - radial, atol=1e-6)
        np.testing.assert_allclose(table["mean_stress_Pa"], (axial + 2 * radial) / 3, atol=1e-6)
        shear = table.where(table["kind"] == "shear")
        first = np.log(shear["height_m"] / shear["height_m"][0]) + shear["axial_strain"]
        np.testing.assert_allclose(first, first[0], atol=1e-9)
        np.testing.assert_allclose(table["void_ratio"], table["volume_m3"] / table["solid_volume_m3"] - 1)

    def test_a_table_that_is_being_written(self):
        with open("growing.csv", "w", encoding="utf-8") as file:
            file.write("time_s,kind,x_m\n0,a,\n1,b,2.5\n2,c,1")
        table = talus.read_csv("growing.csv")
        np.testing.assert_array_equal(table["time_s"], [0, 1])
        np.testing.assert_array_equal(table["x_m"], [np.nan, 2.5])
        self.assertEqual(list(table["kind"]), ["a", "b"])
        self.assertEqual(table.columns, ["time_s", "kind", "x_m"])

    def test_pandas_where_it_is(self):
        table = talus.Run("slope.run").frame(0).table()
        try:
            import pandas
        except ImportError:
            with self.assertRaisesRegex(talus.TalusError, "pandas.*install"):
                table.to_pandas()
            return
        data = table.to_pandas()
        self.assertIsInstance(data, pandas.DataFrame)
        np.testing.assert_array_equal(data["position_m_2"], table["position_m"][:, 2])


class Catalogs(unittest.TestCase):
    def setUp(self):
        self.catalog = talus.Catalog("sand.tals")
        self.addCleanup(self.catalog.close)

    def test_columns_against_sqlite(self):
        with sqlite3.connect("sand.tals") as base:
            base.row_factory = sqlite3.Row
            rows = base.execute(
                "SELECT * FROM avatar JOIN avatar_check ON avatar_id = id"
                " WHERE border = 0 AND verdict <> 'rejected' ORDER BY id"
            ).fetchall()
            everything = base.execute("SELECT count(*) FROM avatar").fetchone()[0]
        grains = self.catalog.grains("sand")
        self.assertGreater(len(rows), 5)
        self.assertEqual(grains.rows, len(rows))
        for name in grains:
            if name not in ("sample", "diameter_m"):
                wanted = [np.nan if row[name] is None else row[name] for row in rows]
                np.testing.assert_array_equal(grains[name], wanted, name)
        np.testing.assert_allclose(np.pi / 6 * grains["diameter_m"] ** 3, grains["volume_m3"])
        every = self.catalog.grains(with_border=True, with_rejected=True)
        self.assertEqual(every.rows, everything)
        self.assertEqual(set(every["sample"]), {"sand"})
        (sample,) = self.catalog.samples
        self.assertEqual((sample.name, sample.grains), ("sand", everything))
        self.assertEqual(sample.border_grains, every["border"].sum())
        np.testing.assert_allclose(sample.voxel_m, 1e-5)

    def test_columns_are_those_of_the_documents(self):
        with open(os.path.join(ROOT, "docs/reference/catalog.md"), encoding="utf-8") as file:
            section = file.read().split("| `avatar` |")[1].split("| `avatar_check` |")[0]
        documented = set(re.findall(r"`([a-z0-9_]+)`|([a-z_0-9]+_m\d?)\b", section.split("avatar_blob")[0]))
        names = {a or b for a, b in documented}
        for name in names - {"sample_id", "run_id", "inertia_1_m5", "inertia_3_m5"}:
            self.assertIn(name, self.catalog.grains(), name)

    def test_grids_against_the_tools_own_export(self):
        """talus-catalog writes the same arrays for NumPy without SQLite or Zstandard between."""
        shutil.rmtree("yade", ignore_errors=True)
        tool("talus-catalog", "export", "sand.tals", "--format=yade", "-o", "yade")
        files = sorted(glob.glob("yade/grain_*_phi.npy"))
        self.assertEqual(len(files), self.catalog.grains().rows)
        for path in files:
            grain = self.catalog.grain(int(re.search(r"grain_(\d+)_phi", path)[1]))
            np.testing.assert_array_equal(np.load(path).transpose(2, 1, 0), grain.phi_m)
            np.testing.assert_array_equal(np.load(path.replace("_phi", "_nodes")), grain.node_m)

    def test_grains_hang_together(self):
        grains = self.catalog.grains()
        for number in grains["id"][:5]:
            grain = self.catalog.grain(int(number))
            row = grains.where(grains["id"] == number)
            self.assertEqual((grain.id, grain.sample, grain.volume_m3), (number, "sand", row["volume_m3"][0]))
            self.assertEqual(grain.quality["verdict"], row["verdict"][0])
            self.assertLess(np.abs(grain.phi_at(grain.node_m)).max(), 0.02 * grain.spacing_m)
            self.assertAlmostEqual(grain.node_area_m2.sum() / grain.area_m2, 1, delta=1e-4)
            self.assertLessEqual(np.linalg.norm(grain.node_m, axis=1).max(), grain.radius_m * (1 + 1e-6))
            self.assertTrue(np.all(np.diff(grain.inertia_m5) >= 0))
            # volume of the points inside, by counting
            counted = np.count_nonzero(grain.phi_m < 0) * grain.spacing_m**3
            self.assertAlmostEqual(counted / grain.volume_m3, 1, delta=0.03)

    def test_pose_leads_back_into_the_scan(self):
        """A grain's own points, turned and moved into the scan, lie on its label."""
        with talus.Stack("labels.h5") as stack:
            labels = stack[...]
            dz, dy, dx = stack.voxel_size_m
        for number in self.catalog.grains()["id"][:5]:
            grain = self.catalog.grain(int(number))
            k, j, i = np.nonzero(grain.phi_m < -1.5 * grain.spacing_m)
            body = grain.origin_m + grain.spacing_m * np.stack([i, j, k], axis=1)
            scan = grain.scan_centroid_m + talus.rotate(grain.scan_rotation_wxyz, body)
            x, y, z = np.rint(scan / [dx, dy, dz]).astype(int).T
            self.assertGreater(len(x), 10)
            self.assertGreater(np.mean(labels[z, y, x] == grain.label), 0.99)

    def test_history(self):
        number = int(self.catalog.grains()["id"][0])
        history = self.catalog.history(number)
        with sqlite3.connect("sand.tals") as base:
            rows = base.execute(
                "SELECT tool, version, command FROM grain_provenance WHERE grain = ? ORDER BY step", (number,)
            ).fetchall()
        self.assertEqual([(record["tool"], record["version"]) for record in history], [row[:2] for row in rows])
        self.assertEqual(history[-1]["tool"], "talus-avatars")
        self.assertIn("labels.h5", history[-1]["argv"])

    def test_sphere_and_grading_in_closed_form(self):
        """Spheres as text: phi is |x| - R, and the grading follows from their volumes."""
        radii = [5, 6, 7.5, 10]
        for radius in radii:
            n = 2 * int(radius + 3) + 1
            c = (n - 1) / 2
            volume = 4 / 3 * np.pi * radius**3
            k, j, i = np.indices((n, n, n))
            phi = np.sqrt((i - c) ** 2 + (j - c) ** 2 + (k - c) ** 2) - radius
            up = -1 + (2 * np.arange(60) + 1) / 60
            turn = 2.399963 * np.arange(60)
            flat = np.sqrt(1 - up**2)
            nodes = radius * np.stack([flat * np.cos(turn), flat * np.sin(turn), up], axis=1)
            lines = [[volume], [0.4 * volume * radius**2] * 3, [c] * 3, [60], nodes.ravel(), [radius * 1.001],
                     [n] * 3, phi.ravel()]  # fmt: skip
            with open(f"ball_{radius}.txt", "w", encoding="utf-8") as file:
                file.writelines(" ".join(f"{v:.9g}" for v in line) + "\n" for line in lines)
        if os.path.exists("balls.tals"):
            os.remove("balls.tals")
        tool("talus-catalog", "import", "balls.tals", *(f"ball_{r}.txt" for r in radii),
             "--sample=balls", "--spacing-um=100")  # fmt: skip
        with talus.Catalog("balls.tals") as balls:
            for number, radius in enumerate(radii, start=1):
                grain = balls.grain(number)
                R = radius * 1e-4
                self.assertAlmostEqual(grain.diameter_m, 2 * R, delta=1e-8)
                k, j, i = np.indices(grain.phi_m.shape)
                place = grain.origin_m + grain.spacing_m * np.stack([i, j, k], axis=-1)
                np.testing.assert_allclose(grain.phi_m, np.linalg.norm(place, axis=-1) - R, atol=1e-9)
                np.testing.assert_allclose(grain.inertia_m5, 0.4 * grain.volume_m3 * R**2, rtol=1e-6)
            grading = balls.grading()
        share = np.cumsum(np.array(radii) ** 3) / np.sum(np.array(radii) ** 3)
        np.testing.assert_allclose(grading.finer, share)
        np.testing.assert_allclose(grading.size_m, 2e-4 * np.array(radii), rtol=1e-6)
        d50 = 1.5e-3 * (2 / 1.5) ** ((0.5 - share[2]) / (1 - share[2]))
        self.assertAlmostEqual(grading.d(50) / d50, 1, delta=1e-6)
        self.assertEqual(grading.d(1), grading.size_m[0])

    def test_grading_is_the_tools(self):
        said = json.loads(tool("talus-catalog", "grading", "sand.tals", "--json"))
        for by, lead in (("diameter_m", ""), ("axis_b_m", "sieve_")):
            grading = self.catalog.grading(by=by)
            self.assertEqual(len(grading.size_m), said["grains"])
            for percent in (10, 30, 50, 60, 90):
                self.assertAlmostEqual(1e3 * grading.d(percent) / said[f"{lead}d{percent}_mm"], 1, delta=1e-5)
            self.assertAlmostEqual(grading.uniformity_cu / said[lead + "uniformity_cu"], 1, delta=1e-5)
            self.assertAlmostEqual(grading.curvature_cc / said[lead + "curvature_cc"], 1, delta=1e-5)

    def test_nothing_is_written(self):
        with open("sand.tals", "rb") as file:
            before = file.read()
        with self.assertRaises(talus.TalusError):
            self.catalog._rows("DELETE FROM avatar")
        with self.assertRaises(talus.TalusError):
            self.catalog._rows("CREATE TEMP TABLE t (x)")
        with open("sand.tals", "rb") as file:
            self.assertEqual(file.read(), before)


try:
    import pyopenvdb
except ImportError:  # make deps installs it
    pyopenvdb = None


@unittest.skipUnless(pyopenvdb, "python3-openvdb is not installed")
class OpenVdb(unittest.TestCase):
    """Out and in again; OpenVDB's own sphere against its closed form."""

    def setUp(self):
        self.catalog = talus.Catalog("sand.tals")
        self.ids = [int(i) for i in self.catalog.grains()["id"][:2]]
        self.addCleanup(self.catalog.close)

    def back(self, unit, **how):
        talus.openvdb.write("grains.vdb", [self.catalog.grain(i) for i in self.ids], unit=unit, **how)
        count = talus.openvdb.import_grains("grains.vdb", "back.tals", sample="back", unit=unit, replace=True, bin=BIN)
        self.assertEqual(count, len(self.ids))
        with talus.Catalog("back.tals") as catalog:
            return [catalog.grain(int(i)) for i in catalog.grains()["id"]]

    def test_there_and_back(self):
        # mass of a grid is worked out by the corners of its cells, that of a scanned grain by its voxels
        for unit, how in (("mm", {}), ("um", {"half_width": 3}), ("mm", {"in_scan": True})):
            for old, new in zip((self.catalog.grain(i) for i in self.ids), self.back(unit, **how)):
                np.testing.assert_allclose(new.volume_m3, old.volume_m3, rtol=2e-3)
                np.testing.assert_allclose(new.inertia_m5, old.inertia_m5, rtol=4e-3)
                self.assertAlmostEqual(new.spacing_m / old.spacing_m, 1, 6)

    def test_values_are_kept(self):
        talus.openvdb.write("grains.vdb", [self.catalog.grain(i) for i in self.ids], unit="mm")
        for i, one in zip(self.ids, talus.openvdb.read("grains.vdb", unit="mm")):
            grain = self.catalog.grain(i)
            self.assertEqual(one.name, f"grain_{i}")
            first = np.rint((grain.origin_m - one.origin_m) / grain.spacing_m).astype(int)[::-1]
            inner = tuple(slice(f, f + n) for f, n in zip(first, grain.phi_m.shape))
            np.testing.assert_allclose(one.phi_m[inner], grain.phi_m, rtol=0, atol=1e-6 * grain.diameter_m)
        # where it lay in the scan: the centre of the grid comes to lie there
        talus.openvdb.write("scan.vdb", [grain], unit="mm", in_scan=True)
        grid = pyopenvdb.readAll("scan.vdb")[0][0]
        node = grain.node_m[7]
        there = grid.transform.indexToWorld(tuple((node - grain.origin_m) / grain.spacing_m))
        want = grain.scan_centroid_m + talus.rotate(grain.scan_rotation_wxyz, node)
        np.testing.assert_allclose(there, 1e3 * want, rtol=0, atol=1e-6)

    def test_a_sphere_of_openvdb(self):
        sphere = pyopenvdb.createLevelSetSphere(radius=1.0, center=(3.0, -2.0, 0.5), voxelSize=0.1)
        pyopenvdb.write("sphere.vdb", grids=[sphere])
        (one,) = talus.openvdb.read("sphere.vdb", unit="mm")
        z, y, x = np.indices(one.phi_m.shape)
        place = one.origin_m + one.spacing_m * np.stack([x, y, z], -1)
        distance = np.linalg.norm(place - 1e-3 * np.array([3.0, -2.0, 0.5]), axis=-1) - 1e-3
        # beyond the band of three voxels through the nearest voxel of its rim: at most half its diagonal longer
        off = np.abs(one.phi_m - distance)
        self.assertLess(off[np.abs(distance) < 2.5e-4].max(), 1e-9)
        self.assertLess(off[distance < 0].max(), 0.9e-4)
        talus.openvdb.import_grains("sphere.vdb", "sphere.tals", sample="s", unit="mm", bin=BIN)
        with talus.Catalog("sphere.tals") as catalog:
            grain = catalog.grain(int(catalog.grains()["id"][0]))
        self.assertAlmostEqual(grain.volume_m3 / (4 / 3 * np.pi * 1e-9), 1, 2)
        np.testing.assert_allclose(np.linalg.norm(grain.node_m, axis=1), 1e-3, rtol=0.01)

    def test_refusals(self):
        with self.assertRaisesRegex(talus.TalusError, "one of m, cm, mm, um"):
            talus.openvdb.read("grains.vdb", unit="inch")
        with self.assertRaisesRegex(talus.TalusError, "too small for OpenVDB; a smaller unit"):
            talus.openvdb.write("small.vdb", [self.catalog.grain(self.ids[0])], unit="m")
        self.assertFalse(os.path.exists("small.vdb"))
        with self.assertRaisesRegex(talus.TalusError, "no such file"):
            talus.openvdb.read("absent.vdb", unit="mm")
        with open("text.vdb", "w", encoding="utf-8") as file:
            file.write("no level set")
        with self.assertRaisesRegex(talus.TalusError, "text.vdb: cannot be read as OpenVDB"):
            talus.openvdb.read("text.vdb", unit="mm")
        pyopenvdb.write("fog.vdb", grids=[pyopenvdb.BoolGrid()])
        with self.assertRaisesRegex(talus.TalusError, "no level set of floats"):
            talus.openvdb.read("fog.vdb", unit="mm")


class Stacks(unittest.TestCase):
    def test_voxels_of_a_raw_file(self):
        voxels = np.arange(5 * 6 * 7, dtype="<u2").reshape(5, 6, 7)
        voxels.tofile("plain.raw")
        tool("talus-volume", "convert", "plain.raw", "--raw=5,6,7,u16,little", "--voxel-size-um=3,2,1",
             "-o", "plain.h5", "--overwrite")  # fmt: skip
        with talus.Stack("plain.h5") as stack:
            self.assertEqual((stack.shape, stack.dtype, len(stack)), ((5, 6, 7), np.uint16, 5))
            self.assertEqual(stack.voxel_size_um, (1, 2, 3))  # z, y, x
            np.testing.assert_allclose(stack.voxel_size_m, [1e-6, 2e-6, 3e-6])
            np.testing.assert_array_equal(stack[...], voxels)
            np.testing.assert_array_equal(np.asarray(stack), voxels)
            np.testing.assert_array_equal(stack[2, 1:3, ::2], voxels[2, 1:3, ::2])
            self.assertIsNone(stack.cylinder_voxels)
            self.assertEqual(stack.history[-1]["tool"], "talus-volume")

    def test_history_of_the_chain(self):
        with talus.Stack("labels.h5") as stack:
            self.assertEqual(stack.dtype, np.uint32)
            tools = [record["tool"] for record in stack.history]
            self.assertEqual(tools, ["talus-" + t for t in ("phantom", "denoise", "binarize", "label")])

    def test_cylinder(self):
        tool("talus-volume", "mask-cylinder", "denoised.h5", "--roi=cylinder:27,28,20", "-o",
             "masked.h5", "--overwrite")  # fmt: skip
        with talus.Stack("masked.h5") as stack:
            self.assertEqual(stack.cylinder_voxels, (27, 28, 20))

    def test_foreign_files(self):
        with h5py.File("foreign.h5", "w") as file:
            file["a/b"] = np.zeros((2, 3, 4), "f4")
            file["c"] = np.zeros(3)
        with talus.Stack("foreign.h5") as stack:
            self.assertEqual(stack.shape, (2, 3, 4))
            self.assertIsNone(stack.voxel_size_um)
            self.assertEqual(stack.history, [])
            with self.assertRaisesRegex(talus.TalusError, "foreign.h5.*voxel-size-um"):
                stack.voxel_size_m
        with h5py.File("foreign.h5", "a") as file:
            file["d"] = np.ones((2, 2, 2), "u1")
        with self.assertRaisesRegex(talus.TalusError, "a/b, d; name one"):
            talus.Stack("foreign.h5")
        for name in ("d", "/d"):  # the tools print it with the slash
            with talus.Stack("foreign.h5", name) as stack:
                self.assertEqual(stack.shape, (2, 2, 2))


class Refusals(unittest.TestCase):
    """Each error names the file, what is wrong and what to do."""

    def refused(self, pattern, call, *arguments, **options):
        with self.assertRaisesRegex(talus.TalusError, pattern):
            call(*arguments, **options)

    def test_runs(self):
        self.refused(r"nowhere.run: there is no such folder.*talus-solve", talus.Run, "nowhere.run")
        self.refused(r"slope.yaml: is a file; a run is the folder", talus.Run, "slope.yaml")
        os.makedirs("empty.run", exist_ok=True)
        self.refused(r"empty.run/run.h5: there is no such file", talus.Run, "empty.run")
        run = talus.Run("slope.run")
        self.refused("triaxial.csv.*section `triaxial`", lambda: run.triaxial)
        self.refused(r"holds no contacts.*contacts: true", lambda: run.frame(0).contacts)
        for index in (99, -99):
            with self.assertRaisesRegex(IndexError, "slope.run.*0 to 6"):
                run.frame(index)
        with self.assertRaises(TypeError):
            run.frame(1, time_s=2)
        with self.assertRaisesRegex(KeyError, "no column 'position'.*position_m"):
            run.frame(0)["position"]
        with self.assertRaisesRegex(KeyError, "no column 'energy'.*kinetic_energy_J"):
            run.history["energy"]

    def test_damaged_runs(self):
        shutil.rmtree("bad.run", ignore_errors=True)
        shutil.copytree("slope.run", "bad.run")
        with open("bad.run/frame_000001.h5", "r+b") as file:
            file.truncate(2000)
        self.refused(r"frame_000001.h5: cannot be opened", talus.Run("bad.run").frame, 1)
        with h5py.File("bad.run/frame_000002.h5", "r+") as file:
            file.attrs["format_version"] = 2
        self.refused(r"frame_000002.h5: has format version 2", talus.Run("bad.run").frame, 2)
        with h5py.File("bad.run/frame_000003.h5", "r+") as file:
            del file["position_m"]
            file["position_m"] = h5py.ExternalLink("frame_000004.h5", "position_m")
        frame = talus.Run("bad.run").frame(3)
        self.refused(r"frame_000003.h5: 'position_m' is a link", frame.__getitem__, "position_m")
        with h5py.File("bad.run/run.h5", "r+") as file:
            file.attrs["format"] = "something"
        self.refused(r"run.h5: its attribute 'format' is 'something'", talus.Run, "bad.run")
        with open("bad.csv", "w", encoding="utf-8") as file:
            file.write("a_m,b_m\n1,2\n3\n")
        self.refused(r"bad.csv: line 3 has 1 cells", talus.read_csv, "bad.csv")

    def test_catalogs(self):
        self.refused("none.tals: no such catalog; talus-avatars", talus.Catalog, "none.tals")
        self.refused("slope.yaml: .*not an SQLite file", talus.Catalog, "slope.yaml")
        if os.path.exists("other.db"):
            os.remove("other.db")
        base = sqlite3.connect("other.db")
        base.execute("CREATE TABLE t (x)")
        base.commit()
        base.close()
        self.refused("other.db: .*not a Talus catalog", talus.Catalog, "other.db")

        def spoilt(*statements):
            shutil.copy("sand.tals", "spoilt.tals")
            base = sqlite3.connect("spoilt.tals")
            for sql in statements:
                base.execute(sql)
            base.commit()
            base.close()
            return talus.Catalog("spoilt.tals")

        self.refused("schema version 9", spoilt, "PRAGMA user_version = 9")
        self.refused(
            "'avatar' should be a table and is view", spoilt, "PRAGMA foreign_keys = OFF",
            "ALTER TABLE avatar RENAME TO hidden", "CREATE VIEW avatar AS SELECT * FROM hidden",
        )  # fmt: skip
        with talus.Catalog("sand.tals") as catalog:
            number = int(catalog.grains()["id"][0])
            self.refused("no sample 'mud'; there are: sand", catalog.grains, "mud")
            self.refused("no terrain 'hill'; there are: valley", catalog.terrain, "hill")
            with self.assertRaisesRegex(KeyError, "no grain 99999"):
                catalog.grain(99999)
        for change, pattern in [
            ("data = substr(data, 1, 20)", "'phi' of avatar .*backup"),
            ("crc32 = crc32 + 1", "checksum of part 0 is wrong"),
            ("raw_bytes = raw_bytes - 4", "bytes where .* are wanted"),
            ("part = 1", "part 0 is missing"),
        ]:
            sql = f"UPDATE avatar_blob SET {change} WHERE avatar_id = {number} AND kind = 'phi'"
            with spoilt(sql) as catalog:
                self.refused(pattern, catalog.grain, number)
        with spoilt(f"UPDATE avatar SET nx = 1000000000, ny = 100000 WHERE id = {number}") as catalog:
            self.refused("are wanted", catalog.grain, number)

    def test_stacks(self):
        self.refused("none.h5: there is no such file", talus.Stack, "none.h5")
        self.refused("stack.tif: is not an HDF5 file; `talus-volume convert", talus.Stack, "stack.tif")
        with h5py.File("new.h5", "w") as file:
            file.attrs["talus_format"] = 2
            file["stack"] = np.zeros((2, 2, 2))
        self.refused("new.h5: has talus_format 2", talus.Stack, "new.h5")


class Solving(unittest.TestCase):
    def test_the_tools_own_message(self):
        with self.assertRaisesRegex(talus.TalusError, r"time.dt_s: is quoted text[\s\S]*exit status 2"):
            talus.run("flight.yaml", set={"time.dt_s": "soon"}, output="never.run")
        with self.assertRaisesRegex(talus.TalusError, r"did you mean 'friction'"):
            talus.run("flight.yaml", set={"contact.fricton": 0.1}, output="never.run")
        with self.assertRaisesRegex(talus.TalusError, "already holds results.*--overwrite"):
            talus.run("slope.yaml", output="slope.run")
        with self.assertRaisesRegex(talus.TalusError, "set=.*cannot be written as YAML"):
            talus.run("flight.yaml", set={"seed": object()}, output="never.run")
        self.assertFalse(os.path.exists("never.run"))

    def test_kinds_of_values(self):
        run = talus.run(
            "flight.yaml",
            set={
                "title": "über: [no] 'list' # at all",
                "frames.contacts": False,
                "time.duration_s": None,
                "time.steps": 3,
                "solver.method": "sqm",
                "gravity_m_s2": (0, 0, -1.5),
                "grains.density_kg_m3": np.float32(1500),
            },
            output="values.run",
            overwrite=True,
        )
        self.assertEqual(run.title, "über: [no] 'list' # at all")
        self.assertEqual(run.study["title"], run.title)
        self.assertEqual((run.study["time"]["steps"], run.study["time"]["duration_s"]), (3, 0))
        self.assertEqual(run.study["solver"]["method"], "sqm")
        self.assertEqual((run.density_kg_m3, list(run.gravity_m_s2)), (1500, [0, 0, -1.5]))
        self.assertIs(run.study["frames"]["contacts"], False)

    def test_ensemble(self):
        with open("blocks.yaml", "w", encoding="utf-8") as file:
            file.write(
                "catalog: sand.tals\n"
                "time: {dt_s: 2.0e-3, duration_s: 0.4}\n"
                "shapes: [{name: ball, diameter_m: 1.5}]\n"
                "release: {low_m: [58, 158, 0], high_m: [62, 162, 0], above_ground_m: 0.5}\n"
                "ensemble: {count: 2}\n"
                "terrain: {name: valley, ground: hard}\n"
            )
        with self.assertRaisesRegex(talus.TalusError, r"talus-ensemble runs it[\s\S]*ensemble=True"):
            talus.run("blocks.yaml", output="blocks.run")
        run = talus.run(
            "blocks.yaml", set={"ensemble.count": 3}, output="blocks.run", ensemble=True, overwrite=True
        )
        blocks = run.table("blocks")
        self.assertEqual((run.reported["blocks"], len(blocks["id"])), (3, 3))
        self.assertEqual(list(run.frame(0)["id"]), [0, 1, 2])
        with open("blocks.run/blocks.csv", "r+b") as file:  # cut within its last line
            file.truncate(os.path.getsize("blocks.run/blocks.csv") - 5)
        with self.assertRaisesRegex(talus.TalusError, "blocks.csv: ends within line 4, so it is damaged"):
            talus.Run("blocks.run").table("blocks")
        with self.assertRaisesRegex(talus.TalusError, "blocks.csv.*none of talus-ensemble"):
            talus.Run("slope.run").table("blocks")

    def test_ranks(self):
        short = {"set": {"time.steps": 20, "time.duration_s": 0}, "overwrite": True}
        one = talus.run("flight.yaml", output="one.run", **short)
        two = talus.run("flight.yaml", output="two.run", ranks=2, threads=1, **short)
        self.assertIn("2 ranks", two.log)
        self.assertEqual(one.reported["state_hash"], two.reported["state_hash"])

    def test_where_the_tools_are(self):
        saved = dict(os.environ)
        try:
            os.environ.pop("TALUS_BIN", None)
            os.environ["PATH"] = "/usr/bin:/bin"
            short = {"set": {"time.duration_s": 0.01}, "output": "found.run", "overwrite": True}
            with self.assertRaisesRegex(talus.TalusError, "talus-solve: .*on PATH; .*TALUS_BIN"):
                talus.run("flight.yaml", **short)
            talus.run("flight.yaml", bin=BIN, **short)
            os.environ["TALUS_BIN"] = BIN
            talus.run("flight.yaml", **short)
            with self.assertRaisesRegex(talus.TalusError, "no such program in empty.bin"):
                talus.run("flight.yaml", bin="empty.bin", **short)
            del os.environ["TALUS_BIN"]
            os.environ["PATH"] += os.pathsep + BIN
            talus.run("flight.yaml", **short)
        finally:
            os.environ.clear()
            os.environ.update(saved)

    def test_an_interrupt_leaves_a_run_to_resume(self):
        shutil.rmtree("stopped.run", ignore_errors=True)
        script = (
            "import talus\n"
            "try:\n"
            "    talus.run('flight.yaml', set={'time.duration_s': 10000}, output='stopped.run')\n"
            "except KeyboardInterrupt:\n"
            "    print('interrupted')\n"
        )
        process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
        for _ in range(600):
            if glob.glob("stopped.run/frame_000003.h5"):
                break
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.communicate(timeout=60)[0], "interrupted\n")
        run = talus.Run("stopped.run")
        done = max(run.checkpoints)
        self.assertGreater(done, 0)
        self.assertLess(done, 10_000_000)
        # it was stopped and saved, not killed: the checkpoint is of the step at hand
        self.assertGreaterEqual(done, run.frame(-1).step)
        self.assertEqual(len(run.checkpoints), 2)


class Document(unittest.TestCase):
    def test_examples_of_the_page_run(self):
        with open(os.path.join(ROOT, "docs/guide/reading-results.md"), encoding="utf-8") as file:
            blocks = re.findall(r"```python\n(.*?)```", file.read(), re.DOTALL)
        self.assertGreater(len(blocks), 4)
        names = {}
        for number, block in enumerate(blocks, start=1):
            with self.subTest(block=number):
                exec(compile(textwrap.dedent(block), f"docs/guide/reading-results.md, block {number}", "exec"), names)


if __name__ == "__main__":
    os.environ.setdefault("TALUS_BIN", BIN)
    unittest.main(verbosity=1)
