"""Runout and trajectories of an avalanche.

    python3 avalanche_runout.py RUN.run [-o TRAJECTORIES.csv]

Prints the front over time and how far the grains travelled. The front is the largest grain centre
along the travel direction, which goes from the first mass centre to the last, counted from the
first mass centre (docs/reference/results.md). -o writes a line a grain and frame, in the coordinates of the
raster (CRS) where the run has a terrain.
"""

import argparse
import csv

import numpy as np

import talus


def mass_centre(run: talus.Run, frame: talus.Frame) -> np.ndarray:
    shapes = run.avatars
    volume_m3 = dict(zip(shapes["id"].tolist(), shapes["volume_m3"].tolist(), strict=True))
    here = frame.grain_mask & ~frame.outside_mask
    mass_kg = run.density_kg_m3 * frame["scale"][here] ** 3
    mass_kg *= [volume_m3[i] for i in frame["avatar_id"][here].tolist()]
    return np.average(frame["position_m"][here], axis=0, weights=mass_kg)


def main() -> None:
    parser = argparse.ArgumentParser(description="Runout and trajectories of an avalanche.")
    parser.add_argument("run")
    parser.add_argument("-o", "--output", metavar="TRAJECTORIES.csv", help="write the trajectories")
    arguments = parser.parse_args()

    run = talus.Run(arguments.run)
    up = -run.gravity_m_s2 / np.linalg.norm(run.gravity_m_s2)
    first = mass_centre(run, next(run.frames()))
    travel = mass_centre(run, run.frame(-1)) - first
    travel -= up * (travel @ up)
    length = np.linalg.norm(travel)
    if length == 0:
        raise talus.TalusError(f"{run.path}: the grains have not moved; look at the study")

    print("time_s,front_m,fastest_m_s,kinetic_energy_J")
    history = run.history
    energy_J = np.interp(run.times_s, history["time_s"], history["kinetic_energy_J"])
    for frame, energy in zip(run.frames(), energy_J, strict=True):
        here = frame.grain_mask & ~frame.outside_mask
        front = np.max((frame["position_m"][here] - first) @ travel / length)
        fastest = np.linalg.norm(frame["velocity_m_s"][here], axis=1).max()
        print(f"{frame.time_s:.6g},{front:.6g},{fastest:.6g},{energy:.6g}")

    times_s, ids, position_m = run.trajectories()
    here = np.isfinite(position_m[0, :, 0]) & np.isfinite(position_m[-1, :, 0])
    way = position_m[-1, here] - position_m[0, here]
    distance = np.linalg.norm(way - np.outer(way @ up, up), axis=1)
    low, middle, high = np.percentile(distance, [5, 50, 95])
    print(
        f"horizontal distance of {here.sum()} grains: median {middle:.4g} m, "
        f"5% {low:.4g} m, 95% {high:.4g} m; left the terrain or were taken out: {np.sum(~here)}"
    )

    if arguments.output:
        place = position_m if run.terrain is None else run.terrain.to_crs(position_m)
        with open(arguments.output, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["id", "time_s", "x_m", "y_m", "z_m"])
            for n, grain in enumerate(ids.tolist()):
                for time, point in zip(times_s.tolist(), place[:, n].tolist(), strict=True):
                    if np.isfinite(point[0]):
                        writer.writerow([grain, time, *point])


if __name__ == "__main__":
    main()
