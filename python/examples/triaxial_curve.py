"""Stress-strain curve of a triaxial test.

    python3 triaxial_curve.py RUN.run [-o CURVE.csv]

Prints the peak of the first shear. -o writes the curve in the units that laboratories use: strains
in percent, stresses in kPa. Compression is positive, strains are logarithmic.
"""

import argparse
import csv
import os

import numpy as np

import talus


def main() -> None:
    parser = argparse.ArgumentParser(description="Stress-strain curve of a triaxial test.")
    parser.add_argument("run")
    parser.add_argument("-o", "--output", metavar="CURVE.csv", help="write the curve")
    arguments = parser.parse_args()

    run = talus.Run(arguments.run)
    rows = run.triaxial
    sheared = rows.where(rows["kind"] == "shear")
    if sheared.rows == 0:
        raise talus.TalusError(f"{run.path}: the test has not been sheared yet; resume the run")
    print(f"{run.title or os.path.basename(run.path)}: {sheared.rows} rows of shear")
    print(f"radial stress at the start: {1e-3 * sheared['radial_stress_Pa'][0]:.4g} kPa")
    print(f"void ratio before the shear: {sheared['void_ratio'][0]:.4f}")

    peak = int(np.argmax(sheared["deviatoric_stress_Pa"]))
    print(
        f"peak: deviatoric stress {1e-3 * sheared['deviatoric_stress_Pa'][peak]:.4g} kPa, "
        f"friction angle {sheared['friction_angle_deg'][peak]:.2f} deg, "
        f"at {100 * sheared['axial_strain'][peak]:.3g}% axial strain"
    )
    quick = sheared["inertia_number"].max()
    if quick > 1e-2:
        print(f"the largest inertia number is {quick:.2g}: too fast for a quasi-static test")

    if arguments.output:
        curve = {
            "axial_strain_percent": 100 * sheared["axial_strain"],
            "volumetric_strain_percent": 100 * sheared["volumetric_strain"],
            "deviatoric_stress_kPa": 1e-3 * sheared["deviatoric_stress_Pa"],
            "mean_stress_kPa": 1e-3 * sheared["mean_stress_Pa"],
            "friction_angle_deg": sheared["friction_angle_deg"],
            "void_ratio": sheared["void_ratio"],
        }
        with open(arguments.output, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(curve)
            writer.writerows(zip(*(column.tolist() for column in curve.values()), strict=True))


if __name__ == "__main__":
    main()
