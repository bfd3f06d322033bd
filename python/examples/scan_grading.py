"""Grading and shape of the grains of a scan.

    python3 scan_grading.py CATALOG [--sample NAME] [-o GRAINS.csv]

Prints the grading by volume for two sizes and the quartiles of the shape descriptors. -o writes a
line a grain, with units in the names of the columns.
"""

import argparse
import csv

import numpy as np

import talus

FORM = ["elongation", "flatness", "sphericity", "krumbein", "convexity", "roundness"]
COLUMNS = ["id", "label", "diameter_m", "axis_a_m", "axis_b_m", "axis_c_m", "volume_m3", *FORM]


def main() -> None:
    parser = argparse.ArgumentParser(description="Grading and shape of the grains of a scan.")
    parser.add_argument("catalog")
    parser.add_argument("--sample", help="only the grains of this scan")
    parser.add_argument("-o", "--output", metavar="GRAINS.csv", help="write a line a grain")
    arguments = parser.parse_args()

    with talus.Catalog(arguments.catalog) as catalog:
        grains = catalog.grains(arguments.sample)
        print(f"grains: {grains.rows} (without those that the border cuts or that were rejected)")
        for by, name in [("diameter_m", "sphere of equal volume"), ("axis_b_m", "sieve")]:
            grading = catalog.grading(arguments.sample, by=by)
            sizes = ", ".join(f"D{p} {1e3 * grading.d(p):.4g} mm" for p in (10, 30, 50, 60, 90))
            print(f"{name}: {sizes}, Cu {grading.uniformity_cu:.4g}, Cc {grading.curvature_cc:.4g}")
        for name in FORM:
            values = grains[name][np.isfinite(grains[name])]
            if len(values):
                low, middle, high = np.percentile(values, [25, 50, 75])
                print(f"{name}: median {middle:.3f}, quartiles {low:.3f} and {high:.3f}")

    if arguments.output:
        with open(arguments.output, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(COLUMNS)
            writer.writerows(zip(*(grains[name].tolist() for name in COLUMNS), strict=True))


if __name__ == "__main__":
    main()
