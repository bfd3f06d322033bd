#!/usr/bin/env python3
"""Compare two results folders of one study: compare.py CASE OLD NEW COLUMNS EXCEPTIONS.

Prints one line, and one for each thing that differs. Exit status 1 when something differs that
EXCEPTIONS does not allow. Needs python3-h5py."""
import csv
import glob
import os
import sys

import h5py
import numpy

FIELDS = ("position_m", "rotation_wxyz", "velocity_m_s", "spin_rad_s")
CONTACT = ("first", "second", "point_m", "normal", "force_N", "gap_m")  # in the file's order
CLOCK = ("cpu_s", "wall_s")  # columns that time themselves


def read_pairs(path):
    """Lines 'OLD NEW' of the file of renamed columns."""
    with open(path) as f:
        rows = [line.split("#")[0].split() for line in f]
    return {row[0]: row[1] for row in rows if row}


def read_bound(path, case):
    """The relative bound that the file of exceptions gives this case; 0 without one."""
    with open(path) as f:
        for line in f:
            words = line.split("#")[0].split()
            if words and (words[0] == case or words[0] == case.rsplit("-n", 1)[0]):
                return float(words[1])
    return 0.0


def distance(a, b):
    """Largest difference over the largest size of either."""
    a, b = numpy.asarray(a, float), numpy.asarray(b, float)
    if a.shape != b.shape:
        return numpy.inf
    if a.size == 0:
        return 0.0
    size = max(numpy.max(numpy.abs(a)), numpy.max(numpy.abs(b)))
    gap = numpy.max(numpy.abs(a - b))
    return gap / size if size > 0 else 0.0


def frames(folder):
    return sorted(glob.glob(os.path.join(folder, "frame_*.h5")))


def compare_frames(old, new):
    """Rows (what differs, how far) and the number of frames and bodies."""
    rows, bodies = [], 0
    one, two = frames(old), frames(new)
    if [os.path.basename(p) for p in one] != [os.path.basename(p) for p in two] or not one:
        return [("the list of frames", numpy.inf)], 0, 0
    for a, b in zip(one, two):
        with h5py.File(a, "r") as fa, h5py.File(b, "r") as fb:
            ia, ib = fa["id"][:], fb["id"][:]
            ka, kb = numpy.argsort(ia), numpy.argsort(ib)
            if not numpy.array_equal(ia[ka], ib[kb]):
                rows.append((os.path.basename(a) + " id", numpy.inf))
                continue
            bodies = max(bodies, len(ia))
            for field in FIELDS:
                x, y = fa[field][:][ka], fb[field][:][kb]
                if x.tobytes() != y.tobytes():
                    rows.append((os.path.basename(a) + " " + field, distance(x, y)))
            for field in CONTACT if "contact" in fa else ():
                x, y = fa["contact"][field][:], fb["contact"][field][:]
                if x.tobytes() != y.tobytes():
                    rows.append((os.path.basename(a) + " contact/" + field, distance(x, y)))
    return rows, len(one), bodies


def read_table(path):
    with open(path, newline="") as f:
        return list(csv.reader(f))


def compare_table(old, new, renamed):
    if not os.path.exists(old):
        return [], 0
    name = os.path.basename(old)
    if not os.path.exists(new):
        return [(name, numpy.inf)], 0
    a, b = read_table(old), read_table(new)
    rows = []
    if len(a) != len(b):
        return [("%s: %d lines and %d" % (name, len(a), len(b)), numpy.inf)], 0
    for i, column in enumerate(a[0]):
        if column in CLOCK:
            continue
        other = column if column in b[0] else renamed.get(column)
        if other not in b[0]:
            rows.append(("%s: no column %s" % (name, column), numpy.inf))
            continue
        j = b[0].index(other)
        x, y = [r[i] for r in a[1:]], [r[j] for r in b[1:]]
        if x != y:
            try:
                gap = distance([float(v) for v in x], [float(v) for v in y])
            except ValueError:
                gap = numpy.inf
            rows.append(("%s %s" % (name, column), gap))
    return rows, len(a) - 1


def main():
    case, old, new, columns, exceptions = sys.argv[1:]
    renamed, bound = read_pairs(columns), read_bound(exceptions, case)
    rows, count, bodies = compare_frames(old, new)
    lines = 0
    for table in ("history.csv", "triaxial.csv"):
        more, n = compare_table(os.path.join(old, table), os.path.join(new, table), renamed)
        rows += more
        lines += n
    worst = max([gap for _, gap in rows], default=0.0)
    verdict = "same bits" if not rows else "within %g (%.2g)" % (bound, worst) if worst <= bound else "DIFFERENT"
    print("%-28s %4d frames of %5d bodies, %5d lines: %s" % (case, count, bodies, lines, verdict))
    if worst > bound:
        for what, gap in rows[:12]:
            print("    %s: %.3g" % (what, gap))
        if len(rows) > 12:
            print("    and %d more" % (len(rows) - 12))
        sys.exit(1)


main()
