#!/usr/bin/env bash
# The guide's two tutorials run as they are printed (tests/guide.py) from an installed copy, as a newcomer runs them: in
# an empty folder, with the installed tools on PATH and nothing of the sources. They are made small by variables that
# the pages print, and by settings of the makefile in the environment. 60 CPU-seconds.
set -u
here=$PWD
pages="laboratory.md hazard-map.md"
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
bad=0
fail() { echo "FAILED: $*"; bad=1; }
unset MAKEFLAGS MFLAGS PIPELINES PYTHONPATH
# The tools are taken as they are: this make does not know the flags that they were built with.
bin=${BIN#"$here"/}; tools=$(cd "$BIN" && echo talus-* | sed 's/talus-mpirun//')
built=(-o tools -o "${bin%/bin}/lib/libtalus.a" BIN="$bin" TOOLS="$tools"); for tool in $tools; do built+=(-o "$bin/$tool"); done
flock "$BIN" make -s -C "$here" "${built[@]}" man completion >"$dir/log" 2>&1 || fail "man pages and completion: $(cat "$dir/log")"
make -s -C "$here" -o man -o completion "${built[@]}" PREFIX="$dir/prefix" install >"$dir/log" 2>&1 || { fail "install: $(cat "$dir/log")"; exit 1; }
mkdir "$dir/work"; cp tests/guide.py "$dir"; for page in $pages; do cp "docs/guide/$page" "$dir"; done
small=(VOXELS=44 STRAIN=0.001 AVATAR_FLAGS="--min-voxels=200 --no-with-border" RENDER_FLAGS="--width=160 --height=100 --no-smooth"
  SPECIMEN_SET=time.duration_s=0.1 BLOCKS=8
  SET="penalty.normal_Pa_m=1.0e+10 time.dt_s=2.5e-5 triaxial.stages.0.most_s=0.02 triaxial.stages.1.rate_per_s=0.1 time.frame_every_s=0.005")
cd "$dir/work" || exit 1
# shellcheck disable=SC2086 # the names of two pages
env -i PATH="$dir/prefix/bin:/usr/bin:/bin" HOME="$dir/work" LC_ALL=C OMP_NUM_THREADS=1 OMPI_MCA_btl=self,vader \
  "${small[@]}" /usr/bin/python3 "$dir/guide.py" "$dir" "$dir/work" $pages || bad=1

# ---- what they say is there ----
for product in test/report.html test/scan.html test/measures/triaxial_stress_strain.png test/run/run.vtkhdf test/catalog.tals \
  site.html both.html site.png site.gis/trajectories.gpkg site.gis/stops.gpkg site.gis/reach_probability.tif; do
  [ -s "$product" ] || fail "there is no $product"
done
named=$(sed -n 's/^| *\(`.*`\) *|.*/\1/p' "$dir/laboratory.md" "$dir/hazard-map.md" | grep -oE '`[^` ]+/[^` ]+`' | tr -d '`' | sort -u)
for product in $named; do [ -e "$product" ] || fail "the pages speak of $product, which is not there"; done
[ "$(echo "$named" | wc -l)" -ge 11 ] || fail "the pages name only: $named"
cmp -s lab.csv <(sed -n "/^cat >lab.csv/,/^EOF/p" "$dir/laboratory.md" | sed '1d;$d') || fail "lab.csv is not as printed"
grep -q 'class="curve k1 measured"' test/report.html || fail "the laboratory's curve is not in the report"
awk -F, 'NR > 1 && $2 > 0 {n++} END {exit n != 8}' <(cut -d, -f1,5 site.run/blocks.csv) || fail "not eight blocks: $(cat site.run/blocks.csv)"
for page in test/report.html test/scan.html; do # steps from the oldest on
  grep -oE '<summary>talus-[a-z]+ [0-9.]+, [0-9T:Z-]+' "$page" | sed 's/.*, //' >"$dir/ends"
  [ "$(wc -l <"$dir/ends")" -ge 5 ] && sort -c "$dir/ends" || fail "$page: the steps' order: $(cat "$dir/ends")"
done
# ---- nothing of it knows the sources ----
if grep -rlF "$here" . >"$dir/log"; then fail "these name the folder of the sources: $(cat "$dir/log")"; fi
exit $bad
