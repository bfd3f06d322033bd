#!/usr/bin/env bash
# talus-report: a run, a run that is stopped over a line of its table, an ensemble on filled ground, a scan; the same
# bytes twice; refusals.
set -u
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
bad=0
fail() { echo "FAILED: $*"; bad=1; }
export OMP_NUM_THREADS=1
cat >s.yaml <<'YAML'
title: five balls & <b>one</b> plane
time: {dt_s: 1.0e-4, steps: 60, frame_every_s: 2.0e-3}
frames: {contacts: true}
shapes: [{name: ball, diameter_m: 2.0e-3}]
bodies: [{shape: ball, position_m: [0, 0, 0.001], count: 5, step_m: [0, 0, 0.002]}]
planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]
YAML
"$BIN/talus-solve" -q s.yaml >out.txt 2>&1 || { fail "the run"; cat out.txt; }
report() { "$BIN/talus-report" "$@" >out.txt 2>err.txt; }
report s.run -o a.html || fail "a run: $(cat err.txt)"
grep -q '^size: ' out.txt || fail "no size: $(cat out.txt)"
report s.run -o b.html || fail "again: $(cat err.txt)"
cmp -s a.html b.html || fail "two reports of one run differ"
OMP_NUM_THREADS=2 report s.run -o b.html --overwrite || fail "two threads: $(cat err.txt)"
cmp -s a.html b.html || fail "another number of threads makes another report"
grep -q 'five balls &amp; &lt;b&gt;one&lt;/b&gt; plane' a.html || fail "the title is not escaped"
grep -q '"key":"force"' a.html || fail "no forces to colour by"
grep -q '"glass":false,"plane":true' a.html || fail "the playback does not know its plane, which is glass from behind"
grep -q 'Fastest body (bound of its surface)' a.html || fail "the plot of the bound of all bodies"
grep -q 'Since the start; grains that were taken out stay in it, where they left' a.html || fail "the plot of the potential energy"
grep -q "default-src 'none'" a.html || fail "no security policy"
[ "$(grep -c 'talus-solve' a.html)" -gt 0 ] || fail "what ran is not told"

report s.run -o a.html; [ $? = 2 ] || fail "a report is replaced without --overwrite"
report s.run --max-mb=0.1 -o c.html; [ $? = 2 ] && grep -q -- '--max-mb' err.txt || fail "too small a limit: $(cat err.txt)"
[ ! -e c.html ] || fail "a refused report is there"
report absent -o c.html; [ $? = 1 ] && grep -q 'is neither a run' err.txt || fail "no run: $(cat err.txt)"
report s.run --compare=x.csv -o c.html; [ $? = 2 ] && grep -q 'triaxial' err.txt || fail "--compare: $(cat err.txt)"

# overlaps between two lines of history.csv, and of balls whose nodes look past each other
cat >soft.yaml <<'YAML'
time: {dt_s: 1.0e-5, duration_s: 0.1, frame_every_s: 0.1, history_every_s: 0.1}
shapes: [{name: ball, diameter_m: 2.0e-3}]
bodies: [{shape: ball, position_m: [0, 0, 0.001]}, {shape: ball, position_m: [0, 0, 0.0031], velocity_m_s: [0, 0, -2.5]}]
planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]
solver: {method: penalty}
penalty: {spread: deepest, normal_N_m: 1000}
contact: {friction: 0.5, restitution: 0.1}
YAML
"$BIN/talus-solve" soft.yaml >out.txt 2>&1 || { fail "soft balls"; cat out.txt; }
grep -q "warning: grains overlapped by up to [0-9.]*% of the smaller one's radius" out.txt || fail "no warning of deep overlaps: $(cat out.txt)"
report soft.run -o soft.html || fail "soft balls: $(cat err.txt)"
grep -q 'During the run overlaps reached' soft.html || fail "overlaps between lines are not told"
grep -qE "by the solver.*s contacts, which were up to [0-9.]*% deep at the start of the last step; measured in the last frame the deepest is" soft.html ||
  fail "two depths are not told apart: $(grep 'overlaps reached' soft.html)"
column() { awk -F, -v c="$2" 'NR == 1 {for (i = 1; i <= NF; i++) at[$i] = i} END {print $at[c]}' "$1/history.csv"; }
sed -e 's/normal_N_m: 1000/normal_N_m: 10/; s/1.0e-5/8.0e-5/; s/, velocity_m_s.*-2.5]//' soft.yaml >softer.yaml
"$BIN/talus-solve" softer.yaml >out.txt 2>&1 || { fail "softer balls"; cat out.txt; }
grep -q "grains overlapped" out.txt && fail "warned of overlaps of 1%: $(cat out.txt)"
"$BIN/talus-measure" softer.run -o m >out.txt 2>err.txt || fail "softer balls: $(cat err.txt)"
awk -v own="$(column softer.run overlap_share)" '/^largest_overlap_of_radius/ {seen = $2 / 100}
  END {exit !(own > 0.005 && seen > own - 0.0005 && seen < own + 0.0005)}' out.txt || fail "balls overlap by $(column softer.run overlap_share): $(grep overlap out.txt)"

# killed while it wrote a line: told, and the rest is reported
printf '0.0061,6' >>s.run/history.csv
report s.run -o d.html || fail "a cut table: $(cat err.txt)"
grep -q 'cannot be read, so its plots are missing' d.html || fail "a cut table is not told"

# blocks of light stuff on ground with a hole: what is not to be trusted, and whole numbers of grains on the map
{ printf 'ncols 20\nnrows 20\nxllcorner 600000\nyllcorner 5100000\ncellsize 4\nNODATA_value -9\n'
  awk 'BEGIN {for (r = 20; r > 0; r--) {for (c = 0; c < 20; c++) printf "%g ", r == 8 && c == 10 ? -9 : 500 + 2.4 * r; print ""}}'; } >hole.asc
"$BIN/talus-topo" hole.asc --catalog=t.tals --name=hole --crs=EPSG:32632 --fill-holes -q >out.txt 2>err.txt || fail "ground with a hole: $(cat err.txt)"
cat >e.yaml <<'YAML'
catalog: t.tals
time: {dt_s: 4.0e-3, duration_s: 3, frame_every_s: 0.5}
shapes: [{name: ball, diameter_m: 2}]
grains: {density_kg_m3: 1000}
release: {low_m: [38, 60, 0], high_m: [42, 64, 0], above_ground_m: 0.2}
terrain: {name: hole}
ensemble: {count: 4}
YAML
"$BIN/talus-ensemble" e.yaml -o e.run --no-progress >out.txt 2>err.txt || fail "the ensemble: $(cat err.txt)"
grep -q '1 samples of the terrain had no data' err.txt && grep -q '4 blocks are of 1000 kg/m3' err.txt || fail "the ensemble's warnings: $(cat err.txt)"
report e.run -o e.html || fail "an ensemble: $(cat err.txt)"
grep -q '1 samples of the terrain had no data and were filled' e.html || fail "filled ground is not told"
grep -q '4 of 4 blocks have a density outside of 2300 to 3000' e.html || fail "the density is not told"
grep -qE 'contacts a grain|deepest overlap of two' e.html && fail "blocks that never meet have contacts"
grep -oE '</svg> [^<]*</span>' e.html >classes.txt
grep -qx '</svg> 1</span>' classes.txt || fail "no class of one grain: $(cat classes.txt)"
grep -qE '[0-9]{5}' classes.txt && fail "classes are no round numbers: $(cat classes.txt)"
# an ensemble is called so; its blocks were never together; energies of blocks are in kJ with their rotation, the
# largest that of the table of blocks, and those of small balls in J
grep -q 'Ensemble of single blocks' e.html || fail "an ensemble is not called one"
grep -qE 'energy of all grains|<text[^>]*>Kinetic energy<' e.html && fail "blocks that never met have an energy together"
grep -q 'Each block ran alone, so they are independent' e.html || fail "the blocks' independence"
largest() { # PAGE: unit and largest of the quantiles of energy
  sed -n 's|.*Largest kinetic energy<br>[^/]*</span></td><td>\([kJ]*\)</td>.*|\1|p' "$1"
}
[ "$(largest e.html)" = kJ ] || fail "energies of blocks are in '$(largest e.html)'"
[ "$(largest a.html)" = J ] || fail "energies of small balls are in '$(largest a.html)'"
grep -q 'translation and rotation together' e.html || fail "rotation is not told"
# blocks of two shapes, which stand in the page in order of their shapes: each has its own largest values of all steps,
# those of blocks.csv, and the maps are of all steps, too
sed -e 's/^shapes.*/shapes: [{name: ball, diameter_m: 2}, {name: cube, kind: box, size_m: [1.5, 1.5, 1.5]}]/' -e 's/1000/2600/' \
  -e 's/count: 4/count: 12/' -e 's/frame_every_s: 0.5/frame_every_s: 3/' e.yaml >two.yaml
"$BIN/talus-ensemble" two.yaml -o two.run --no-progress >out.txt 2>err.txt || fail "two shapes: $(cat err.txt)"
report two.run -o two.html || fail "two shapes: $(cat err.txt)"
grep -q 'peaks between two frames are missed' two.html && fail "maps of frames, where there are steps"
/usr/bin/python3 - <<'PYTHON' || fail "the largest values of blocks of two shapes"
import csv, re, sys
page = open("two.html", encoding="utf-8").read()
rows = list(csv.DictReader(open("two.run/blocks.csv")))
shapes = [r["shape"] for r in rows]
assert sorted(shapes) != shapes, "the shapes come in order: another seed"
bad = 0
for title, column in (("Largest speed", "largest_speed_m_s"), ("Largest kinetic energy", "largest_energy_kJ"), ("Largest jump height", "largest_jump_height_m")):
    cells = re.search(title + r'<br>.*?</td><td>(\w[^<]*)</td><td class="n">12</td><td class="n">([^<]*)<br>.*?<td class="n">([^<]*)</td></tr>', page)
    v = [float(r[column]) for r in rows]
    mean, most = float(cells.group(2)), float(cells.group(3))
    if abs(mean - sum(v) / 12) > 0.006 * mean or abs(most - max(v)) > 0.006 * most:
        print(f"FAILED: {title}: mean {mean}, largest {most} {cells.group(1)}, and blocks.csv has {sum(v) / 12}, {max(v)}"); bad = 1
for said in ("Largest speed of a grain's centre in the cell, over all steps", "rotation of a grain in the cell, over all steps",
             "above the ground, upright, over all steps. Cells of", "were in the cell after some step"):
    if said not in page: print(f"FAILED: no map that says: {said}"); bad = 1
sys.exit(bad)
PYTHON
/usr/bin/python3 - <<'PYTHON' || fail "the largest energy"
import csv, re, sys
rows = list(csv.DictReader(open("e.run/blocks.csv")))
most = max(float(r["largest_energy_kJ"]) for r in rows)
page = open("e.html", encoding="utf-8").read()
row = re.search(r'largest kinetic energy of a grain</th><td class="n">([^<]*)</td><td>kJ</td>', page)
said = float(row.group(1).replace("\u202f", "").replace("\u2009", "").replace(" ", "")) if row else -1
# cells.csv has seven digits, the page four; translation alone is at least a twentieth less for rolling balls
if abs(said - most) > 1e-3 * most: sys.exit(f"the page says {said} kJ, blocks.csv {most}")
translation = max(0.5 * float(r["mass_kg"]) * float(r["largest_speed_m_s"]) ** 2 / 1000 for r in rows)
if not most > 1.02 * translation: sys.exit(f"the case shows nothing: {most} and {translation}")
PYTHON
# captions of its pictures: nothing but the text differs when blocks never started
picture() { "$BIN/talus-render" e.run -o "$1.png" --width=320 --height=200 --no-smooth -q >out.txt 2>err.txt || fail "a picture: $(cat err.txt)"; }
picture as-is
sed -i 's/,"stopped",/,"not started",/; s/,"moving",/,"not started",/' e.run/blocks.csv
picture not-started
/usr/bin/python3 - <<'PYTHON' || fail "the caption does not say that blocks never started"
import sys
from osgeo import gdal
a, b = (gdal.Open(n).ReadAsArray() for n in ("as-is.png", "not-started.png"))
rows = (a != b).any(axis=(0, 2)).nonzero()[0]
sys.exit(0 if len(rows) and rows.max() < 80 else f"rows {rows} differ")
PYTHON

# the same of a grain whose collisions were not resolved, and of one on filled ground
caption_of() { # NAME PYTHON: what a change of the last frame or the run, f, does to the picture is in its caption alone
  rm -rf change.run && cp -r e.run change.run
  /usr/bin/python3 -c "import glob, h5py
f = h5py.File(sorted(glob.glob('change.run/frame_*.h5'))[-1], 'r+'); r = h5py.File('change.run/run.h5', 'r+'); $2" || fail "$1: the change"
  "$BIN/talus-render" change.run -o change.png --width=320 --height=200 --no-smooth --overwrite -q >out.txt 2>err.txt || fail "$1: $(cat err.txt)"
  /usr/bin/python3 - <<'PYTHON' || fail "the caption does not say: $1"
import sys
from osgeo import gdal
a, b = (gdal.Open(n).ReadAsArray() for n in ("not-started.png", "change.png"))
rows = (a != b).any(axis=(0, 2)).nonzero()[0]
sys.exit(0 if len(rows) and rows.max() < 80 else f"rows {rows} differ")
PYTHON
}
caption_of "an unresolved grain" "f['flags'][0] |= 16"
caption_of "grains on filled ground" "r['terrain/filled'][...] = 1; r['terrain'].attrs['holes_filled'] = 400"

# grains without a scan: no stacks, but all that the catalog holds
"$BIN/talus-avatars" --superellipsoid-um=600,500,400,0.7,0.7 --spacing-um=40 --sample=one --catalog=c.tals >/dev/null 2>err.txt ||
  fail "the catalog: $(cat err.txt)"
report c.tals -o scan.html || fail "a catalog: $(cat err.txt)"
grep -q 'The stacks do not lie beside the catalog' scan.html || fail "missing stacks are not told"
grep -q '"key":"verdict"' scan.html || fail "no verdicts to colour by"
report c.tals --stack=absent.tif -o scan2.html; [ $? = 1 ] && grep -q 'absent.tif' err.txt || fail "--stack: $(cat err.txt)"
# a scan from another folder: the stack is found beside the catalog, and the mask is none of the grey levels
mkdir scan && "$BIN/talus-phantom" --size=36,36,36 --d50-voxels=14 --seed=4 -o scan/p.tif -q >out.txt 2>err.txt || fail "a phantom: $(cat err.txt)"
(cd scan && "$BIN/talus-denoise" p.tif -o denoised.h5 -q && "$BIN/talus-binarize" denoised.h5 -o mask.h5 -q &&
  "$BIN/talus-label" mask.h5 --grey=denoised.h5 -o labels.h5 -q &&
  "$BIN/talus-avatars" labels.h5 --method=distance --sample=s --catalog=catalog.tals -q) >out.txt 2>err.txt || fail "the chain: $(cat err.txt)"
report scan -o stages.html || fail "a scan: $(cat err.txt)"
grep -q '<code>scan/p.tif</code> → <code>scan/denoised.h5</code>' stages.html || fail "the first stack is not found"
marks=$(grep -oE '>Grading<.*' stages.html | sed 's|</svg>.*||' | grep -oE 'text-anchor="middle">[0-9.]+<' | wc -l)
[ "$marks" -ge 3 ] || fail "the axis of the grading has $marks marks"
grep -q '"compass":false' a.html && grep -q '"compass":true' e.html || fail "an arrow to the north is of terrains, and of nothing else"
report scan --stack=scan/denoised.h5 --stack=scan/mask.h5 -o grey.html || fail "two stacks: $(cat err.txt)"
grep -q '━</span> scan/denoised.h5' grey.html || fail "no grey levels"
grep -q '━</span> scan/mask.h5' grey.html && fail "a mask has grey levels"
report s.run c.tals -o both.html; [ $? != 0 ] || fail "a run and a catalog in one report"
exit $bad
