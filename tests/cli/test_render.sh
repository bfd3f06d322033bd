#!/usr/bin/env bash
# talus-render: plots of a table over time, pictures of chains and of sections, refusals.
# sanitized: draws results
set -u
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
bad=0
fail() { echo "FAILED: $*"; bad=1; }
is_png() { [ "$(head -c 8 "$1" 2>/dev/null | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ]; }

mkdir "run's folder"
{ echo "time_s,kinetic_energy_J,dissipated_energy_J,runout_m,contacts,outside,angle_deg"
  for i in 0 1 2 3 4 5; do echo "$i.5,$((i * 30)),$((i * 10)),$i,$((9 - i)),0,"; done; } >"run's folder/history.csv"
"$BIN/talus-render" "run's folder" --plots -o plots >/dev/null 2>err.txt || fail "plots: $(cat err.txt)"
[ "$(grep -vc 'no number in column angle_deg' err.txt)" = 0 ] || fail "plots say: $(cat err.txt)"
is_png plots/history.png || fail "history.png is no PNG"
is_png plots/energy.png || fail "energy.png is no PNG"
"$BIN/talus-render" "run's folder" --plots -o plots >/dev/null 2>&1
[ $? = 2 ] || fail "plots are replaced without --overwrite"
cp "run's folder/history.csv" measures.csv
"$BIN/talus-render" "run's folder" --plots --csv=measures.csv --overwrite -o plots >/dev/null 2>err.txt || fail "csv: $(cat err.txt)"
is_png plots/measures.png || fail "measures.png is no PNG"

PATH=/nonexistent "$BIN/talus-render" "run's folder" --plots --overwrite -o plots2 >/dev/null 2>err.txt
[ $? = 1 ] && grep -q 'gnuplot-nox' err.txt || fail "missing gnuplot: $(cat err.txt)"
"$BIN/talus-render" absent --plots -o plots3 >/dev/null 2>err.txt
[ $? = 1 ] && grep -q 'absent/history.csv' err.txt || fail "missing table: $(cat err.txt)"
"$BIN/talus-render" absent -o x.png >/dev/null 2>err.txt
[ $? = 1 ] && grep -q absent err.txt || fail "missing run: $(cat err.txt)"
"$BIN/talus-render" absent --colour=mass -o x.png >/dev/null 2>err.txt
[ $? = 2 ] || fail "unknown colour"
[ ! -e x.png ] || fail "x.png is there"

# five balls in a heap at rest, with their contacts: a chain's picture is not that of the grains, a
# section not that of the whole, and limits given are taken
export OMP_NUM_THREADS=1
cat >s.yaml <<'YAML'
time: {dt_s: 1.0e-4, steps: 60, frame_every_s: 2.0e-3}
frames: {contacts: true}
shapes: [{name: ball, diameter_m: 2.0e-3}]
bodies: [{shape: ball, position_m: [0, 0, 0.001], count: 5, step_m: [0, 0, 0.002]}]
planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]
YAML
"$BIN/talus-solve" -q s.yaml >out.txt 2>&1 || { fail "the run"; cat out.txt; }
draw() { # picture, arguments
  "$BIN/talus-render" s.run --width=96 --height=96 --no-smooth -o "$@" >/dev/null 2>err.txt && is_png "$1" || { fail "$*"; cat err.txt; }
}
differ() { cmp -s "$1" "$2" && fail "$1 and $2 are one picture"; }
draw grains.png
# a run without a title is headed by its folder's name
cp -r s.run other.run
for run in s other; do
  for option in --captions --no-captions; do
    "$BIN/talus-render" $run.run --width=96 --height=96 --no-smooth $option -o "$run$option.png" >/dev/null 2>err.txt || fail "$option: $(cat err.txt)"
  done
done
differ s--captions.png other--captions.png
cmp -s s--no-captions.png other--no-captions.png || fail "the folder's name is in the picture without captions"
"$BIN/talus-render" s.run --width=96 --height=96 -o grains.jpg >/dev/null 2>err.txt || fail "a JPEG: $(cat err.txt)"
[ "$(head -c 3 grains.jpg | od -An -tx1 | tr -d ' ')" = ffd8ff ] || fail "grains.jpg is no JPEG"
"$BIN/talus-render" s.run -o grains.tif >/dev/null 2>err.txt && fail "a PNG is called .tif"
grep -qF "grains.tif: pictures are written as PNG or JPEG" err.txt || fail "grains.tif: $(cat err.txt)"
draw chains.png --chains
draw turned.png --colour=rotation --since=1
draw turned1.png --colour=rotation --since=1 --colour-high=7
draw strain.png --colour=strain
draw cut.png --colour=rotation --since=1 --cut=30,0.0005
draw slice.png --chains --cut=30 --cut-depth-m=0.001
draw view.png --view=30,6
draw cut0.png --cut=30
differ grains.png chains.png
differ turned.png turned1.png
differ view.png cut0.png
refused() { # status, text, arguments
  local want=$1 text=$2 got=0; shift 2
  "$BIN/talus-render" s.run --width=96 --height=96 -o no.png "$@" >/dev/null 2>err.txt || got=$?
  [ "$got" = "$want" ] && grep -qF -- "$text" err.txt || { fail "$*: exit $got"; cat err.txt; }
}
refused 1 "there is no frame 77; it has 4, from 0 to 3" --colour=rotation --since=77
refused 1 "there is no frame 88; it has 4, from 0 to 3" --chains --frame=88
refused 1 "no shear band was found between frames 0 and 3" --cut=band
refused 2 "--since=soon" --colour=strain --since=soon
refused 2 "--cut=north" --cut=north
refused 2 "wants a number or two" --cut=1,2,3
refused 2 "--view=30: wants two numbers" --view=30
refused 2 "95 degrees above the horizon" --view=30,95
refused 2 "--cut-depth-m goes with --cut" --cut-depth-m=1
refused 2 "--trajectories and --chains exclude each other" --trajectories --chains
refused 2 "exclude each other" --view=30,5 --from=1,1,1 --at=0,0,0
refused 2 "the colours begin at" --colour=size --colour-high=1e-9
"$BIN/talus-solve" -q s.yaml --overwrite --set frames.contacts=false >out.txt 2>&1 || fail "without contacts"
refused 1 "frame 3 has no contacts; run the study with frames: {contacts: true}" --chains
# a ball flies east, seen from above: three times as large it is three times as wide, and its trajectory is a line of
# some pixels from where it came
cat >fly.yaml <<'YAML'
free_fall: yes
gravity_m_s2: [0, 0, 0]
time: {dt_s: 0.01, duration_s: 1, frame_every_s: 0.25}
shapes: [{name: ball, diameter_m: 1}]
bodies: [{shape: ball, position_m: [0, 0, 0], velocity_m_s: [12, 0, 0]}]
YAML
"$BIN/talus-solve" -q fly.yaml >out.txt 2>&1 || fail "the flight: $(cat out.txt)"
for how in plain enlarge=3 trajectories; do
  option=("--$how")
  [ $how = plain ] && option=()
  "$BIN/talus-render" fly.run --width=240 --height=240 --no-captions --view=-90,90 "${option[@]}" -o "fly-${how%=*}.png" >/dev/null 2>err.txt || fail "$how: $(cat err.txt)"
done
/usr/bin/python3 - <<'PYTHON' || fail "trajectories and larger grains"
import sys
import numpy as np
from osgeo import gdal
gdal.UseExceptions()
def mask(name):
    data = gdal.Open(name)
    a = data.ReadAsArray().astype(int)
    return (np.abs(a - a[:, :1, :1]).sum(0) > 60)
plain, large, line = (mask(f"fly-{n}.png") for n in ("plain", "enlarge", "trajectories"))
width = lambda m: np.ptp(np.nonzero(m.any(0))[0]) + 1
height = lambda m: m.sum(0).max()
if not plain.any() or abs(height(large) - 3 * height(plain)) > 4: print("heights", height(plain), height(large)); sys.exit(1)
scale = height(plain)
if abs(width(line) - width(plain) - 12 * scale + scale / 2) > 0.8 * scale: print("widths", width(plain), width(line), scale); sys.exit(1)
left = line & ~plain
rows = left[:, np.nonzero(left.any(0))[0][3:-3]].sum(0)
if rows.min() < 1 or rows.max() > 6: print("the line is", rows.min(), "to", rows.max(), "pixels thick"); sys.exit(1)
PYTHON
# from straight above a picture is a map: a ball 15 m above another is as large; by perspective it is larger
sed -e 's/^bodies.*/bodies: [{shape: ball, position_m: [-6, 0, 0], scale: 3}, {shape: ball, position_m: [6, 0, 15], scale: 3}]/' fly.yaml >high.yaml
"$BIN/talus-solve" -q high.yaml >out.txt 2>&1 || fail "two heights: $(cat out.txt)"
"$BIN/talus-render" high.run --width=320 --height=200 --no-captions --view=-90,90 -o map.png >/dev/null 2>err.txt || fail "a map: $(cat err.txt)"
"$BIN/talus-render" high.run --width=320 --height=200 --no-captions --view=-90,90 --fov-deg=32 -o near.png >/dev/null 2>err.txt || fail "from above: $(cat err.txt)"
/usr/bin/python3 - <<'PYTHON' || fail "a map has no perspective"
import sys
from osgeo import gdal
gdal.UseExceptions()
import numpy as np
def widths(name):
    a = gdal.Open(name).ReadAsArray().astype(int)
    columns = np.nonzero((np.abs(a - a[:, :1, :1]).sum(0) > 60).any(0))[0]
    parts = np.split(columns, np.nonzero(np.diff(columns) > 3)[0] + 1)
    return [len(p) for p in parts]
flat, near = widths("map.png"), widths("near.png")
print(flat, near)
sys.exit(not (len(flat) == len(near) == 2 and abs(flat[0] - flat[1]) <= 1 < 12 < min(flat) and near[1] > 1.15 * near[0]))
PYTHON
[ ! -e no.png ] || fail "a refused picture was written"
[ -z "$(find . -name '*.tmp')" ] || fail "temporary files are left"
exit $bad
