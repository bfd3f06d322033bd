#!/usr/bin/env bash
# The Python module: what it reads of files that the tools made, against closed forms, against h5py,
# csv and sqlite3 alone and against the tools' own numbers; its examples and docs/guide/reading-results.md run.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
python=${PYTHON:-/usr/bin/python3} # Debian's, for which python3-h5py is installed
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
bad=0
fail() { echo "FAILED: $*"; bad=1; }
quiet() { "$@" >out.txt 2>err.txt || { fail "$*"; cat out.txt err.txt; exit 1; }; }
export PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1

# A small scan, its grains, a valley.
quiet "$BIN/talus-phantom" --seed=1 --size=44,44,44 --d50-voxels=14 -o stack.tif
quiet "$BIN/talus-denoise" stack.tif -o denoised.h5
quiet "$BIN/talus-binarize" denoised.h5 -o mask.h5
quiet "$BIN/talus-label" mask.h5 --grey=denoised.h5 -o labels.h5
quiet "$BIN/talus-avatars" labels.h5 --grey=denoised.h5 --catalog=sand.tals --sample=sand
quiet "$BIN/talus-phantom" --terrain --seed=1 -o valley.asc
quiet "$BIN/talus-topo" valley.asc --catalog=sand.tals --name=valley
cat >slope.yaml <<'YAML'
title: sand on a slope
catalog: sand.tals
time: {dt_s: 4.0e-3, duration_s: 1.2, frame_every_s: 0.2, history_every_s: 0.02}
grains: {sample: sand, grain_scale: 8000}
release: {position_m: [60, 160, 0], along_ground: true, clearance_m: 0.05}
terrain: {name: valley}
contact: {friction: 0.5, restitution: 0.2, boundary_friction: 0.4, boundary_restitution: 0.2}
YAML
quiet "$BIN/talus-solve" slope.yaml
quiet "$BIN/talus-measure" slope.run -o measures --overlap
# A box that flies and turns about one axis, a ball at rest on a plane.
cat >flight.yaml <<'YAML'
title: "a box: \"in flight\""
time: {dt_s: 1.0e-3, duration_s: 0.5, frame_every_s: 0.1, history_every_s: 0.01}
frames: {contacts: true}
shapes:
- {name: brick, kind: box, size_m: [0.03, 0.02, 0.01]}
- {name: ball, kind: sphere, diameter_m: 0.02}
bodies:
- {shape: brick, position_m: [0, 0, 5], velocity_m_s: [1, 0, 0], spin_rad_s: [0, 0, 3]}
- {shape: ball, position_m: [1, 0, 0.01]}
planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]
walls:
- {kind: box, grains: inside, point_m: [0, 0, 50], size_m: [100, 100, 100], open: [-z, +z]}
- {kind: plane, point_m: [0, 0, -9], velocity_m_s: [0, 0, 1]}
YAML
quiet "$BIN/talus-solve" "$root/tests/support/cell.yaml" -o cell.run # eight balls in a triaxial cell

# What pip installs is what is tested. The copy keeps the build's files out of the sources.
cp -r "$root/python" source
if "$python" -m pip --version >out.txt 2>&1; then
  quiet "$python" -m pip install --quiet --no-index --disable-pip-version-check \
    --root-user-action=ignore --target="$dir/installed" ./source
else
  fail "pip is missing: make deps installs python3-pip"
fi
for file in "$root"/python/talus/*; do
  [ -d "$file" ] || cmp -s "$file" "installed/talus/${file##*/}" || fail "pip does not install ${file##*/}"
done
export PYTHONPATH=$dir/installed
version=$(sed -n 's/^VERSION := //p' "$root/Makefile")
[ "$("$python" -c 'import talus; print(talus.__version__)')" = "$version" ] || fail "talus.__version__ is not $version"

TALUS_ROOT=$root "$python" "$root/tests/python/test_talus.py" >out.txt 2>&1 || { fail "tests/python/test_talus.py"; cat out.txt; }

# The examples; the numbers that the tools have too are the same.
examples=$root/python/examples
value() { sed -n "s/^$1: \([^ ]*\).*/\1/p" tool.txt; }
same() { [ "$2" = "$3" ] || fail "$1: $2 by the example, $3 by the tool"; }
quiet "$python" "$examples/scan_grading.py" sand.tals -o grains.csv
cp out.txt example.txt
"$BIN/talus-catalog" grading sand.tals >tool.txt 2>err.txt || fail "talus-catalog grading"
for kind in "sphere of equal volume:" "sieve:sieve_"; do
  line=$(grep "^${kind%:*}: " example.txt)
  for d in 10 50 90; do
    same "${kind%:*} D$d" "$(sed -n "s/.*D$d \([^ ]*\) mm.*/\1/p" <<<"$line")" "$(value "${kind#*:}d$d" | xargs printf %.4g)"
  done
  same "${kind%:*} Cu" "$(sed -n 's/.*Cu \([^,]*\),.*/\1/p' <<<"$line")" "$(value "${kind#*:}uniformity_cu" | xargs printf %.4g)"
done
[ "$(wc -l <grains.csv)" = $(($(value grains) + 1)) ] || fail "grains.csv has $(wc -l <grains.csv) lines"

quiet "$python" "$examples/triaxial_curve.py" cell.run -o curve.csv
cp out.txt example.txt
"$BIN/talus-measure" cell.run -o measures --triaxial >tool.txt 2>err.txt || { fail "talus-measure --triaxial"; cat err.txt; }
same "peak stress, kPa" "$(sed -n 's/^peak: deviatoric stress \([^ ]*\) kPa.*/\1/p' example.txt)" \
  "$(awk -F, '$1 == "peak_deviatoric_stress" {printf "%.4g", $2/1e3}' measures/triaxial_summary.csv)"
# the curve has the names and units that talus-measure takes from a laboratory, so it lies on itself
quiet "$BIN/talus-measure" cell.run -o compared --triaxial --compare=curve.csv
awk -F, '$1 == "rms_deviatoric_stress" {found = 1; if ($2 > 1) exit 1} END {if (!found) exit 1}' compared/triaxial_summary.csv ||
  { fail "the curve is not the run's own"; grep rms_ compared/triaxial_summary.csv; }

quiet "$python" "$examples/avalanche_runout.py" slope.run -o paths.csv
cp out.txt example.txt
"$BIN/talus-measure" slope.run -o runout >tool.txt 2>err.txt || { fail "talus-measure"; cat err.txt; }
same "runout" "$(grep '^[0-9]' example.txt | tail -1 | cut -d, -f2 | xargs printf %.5g)" "$(value runout_of_front | xargs printf %.5g)"
same "lines of the trajectories" "$(wc -l <paths.csv)" "$(($(value frames) * $(value grains) + 1))"
awk -F, 'NR > 1 && ($3 < 452000 || $3 > 452120 || $4 < 5204000 || $4 > 5204200) {exit 1}' paths.csv ||
  fail "trajectories are not in the raster's coordinates"
exit $bad
