#!/usr/bin/env bash
# Every example of every tool's --help, and of its verbs', runs as it is printed, in a folder that holds
# the files they name: a scan, what each stage makes of it, two runs, two rasters, config/. So that they take a minute, the studies
# of config/ end early there, and pictures are drawn without smoothing.
set -u
repository=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
mkdir "$dir/ready"; cd "$dir/ready" || exit 1
export PATH="$BIN:$PATH" OMP_NUM_THREADS=1
bad=0
fail() { echo "FAILED: $*"; bad=1; }
need() { "$@" >"$dir/log" 2>&1 || { echo "FAILED: preparing: $*"; cat "$dir/log"; exit 1; }; }

# ---- the files that examples name ----
cp -r "$repository/config" .
sed -i -E 's/duration_s: [0-9.]+/duration_s: 1/; s/roughness_m: [0-9.]+/roughness_m: 0/' config/avalanche.yaml config/rockfall.yaml
need talus-phantom --size=48,48,40 --d50-voxels=14 --seed=2 -o scan.tif
need talus-phantom --size=48,48,48 --d50-voxels=16 --opaque-fraction=0.3 --seed=3 -o soil.tif
cp scan.tif large.tif
need talus-volume convert scan.tif -o scan.h5
cp scan.h5 fine.h5
mkdir slices
for k in 0 1 2 3; do need talus-volume crop scan.tif --low=0,0,$k --size=48,48,1 -o slices/s_$k.tif; done
need talus-denoise scan.tif -o denoised.h5
need talus-binarize denoised.h5 -o mask.h5
need talus-label mask.h5 --grey=denoised.h5 -o labels.h5
mkdir out
need talus-avatars labels.h5 --grey=denoised.h5 --raw=scan.tif --catalog=out/catalog.tals --sample=grains
need talus-avatars --superellipsoid-um=500,400,300,1,1 --sample=old --catalog=out/catalog.tals
# a stone of 60 mm; STL files are written in millimetres
need talus-avatars --superellipsoid-um=30000,24000,18000,1,1 --sample=stone --catalog=stone.tals
need talus-catalog export stone.tals --grain=1 --format=stl -o stone.stl
need talus-phantom --terrain --seed=1 -o valley.tif
need talus-phantom --terrain --seed=2 --cell-m=10 --west-m=177900 --south-m=376400 -o alps.asc
need talus-topo valley.tif --catalog=out/catalog.tals --name=slope
cat >heap.yaml <<'YAML'
time: {dt_s: 1.0e-3, duration_s: 0.25, frame_every_s: 0.05}
frames: {contacts: true}
shapes: [{name: pebble, kind: superellipsoid, size_m: [0.02, 0.016, 0.014], spacing_m: 1.5e-3, nodes: 80}]
grains: {shapes: [pebble]}
release: {assembly: lattice, low_m: [0, 0, 0], high_m: [0.05, 0.05, 0.05]}
planes:
- {point_m: [0, 0, 0], normal: [0, 0, 1]}
- {point_m: [0, 0, 0], normal: [1, 0, 0]}
- {point_m: [0, 0, 0], normal: [0, 1, 0]}
- {point_m: [0.09, 0, 0], normal: [-1, 0, 0]}
- {point_m: [0, 0.09, 0], normal: [0, -1, 0]}
YAML
need talus-solve heap.yaml -o run
cp -r run out/run
cell=("$repository/tests/support/cell.yaml" --set time.steps=200 --set time.history_every_s=5e-5)
need talus-solve "${cell[@]}" -o out/dense
need talus-solve "${cell[@]}" -o out/loose --set contact.friction=0.3
awk -F, 'NR == 1 {for (i = 1; i <= NF; i++) c[$i] = i; print "axial_strain,deviatoric_stress_Pa"}
  NR > 1 && $c["kind"] == "shear" {print $c["axial_strain"] "," $c["deviatoric_stress_Pa"]}' out/dense/triaxial.csv >lab.csv
[ "$(sqlite3 out/catalog.tals "SELECT count(*) FROM avatar WHERE id = 12")" = 1 ] || { echo "FAILED: no grain 12"; exit 1; }

# ---- the examples ----
count=0
examples() { "$@" --help | awk '/^Example:/ {on = 1; next} /^Exit status:/ {on = 0} on && NF {sub(/^ +/, ""); print}'; }
try_all() { # tool and verb
  examples "$@" >"$dir/examples"
  [ -s "$dir/examples" ] || { fail "$* --help has no example"; return; }
  while IFS= read -r line; do
    count=$((count + 1))
    [[ "$line" == *"$1"* ]] || fail "$*: the example '$line' does not use the tool"
    local begin=$SECONDS run=$line
    [[ "$line" != "talus-render "* || "$line" == *--plots* ]] || run="$line --no-smooth"
    bash -c "$run" >"$dir/log" 2>&1 </dev/null || { fail "$* --help: $line"; tail -5 "$dir/log"; }
    echo "$((SECONDS - begin)) s $line" >>"$dir/took"
  done <"$dir/examples"
}
# A fresh folder for each: without what its examples make, with what earlier verbs made.
fresh() { # tool and verb
  rm -rf "$dir/work"; cp -r "$dir/ready" "$dir/work"; cd "$dir/work" || exit 1
  case "$*" in
  talus-phantom) rm -rf ./* ;;
  talus-volume | "talus-volume convert") rm scan.h5 ;;
  talus-denoise) rm denoised.h5 ;;
  talus-binarize) rm mask.h5 ;;
  talus-label) rm labels.h5 ;;
  "talus-catalog import") need talus-catalog export out/catalog.tals --format=morphology --sample=grains -o morphology ;;
  "talus-superres apply") need talus-superres train fine.h5 -o sand.h5 ;;
  esac
}
for tool in "$repository"/tools/talus-*.c; do
  tool=$(basename "$tool" .c)
  fresh "$tool"; try_all "$tool"
  for verb in $("$tool" --help | awk '/^Verbs/ {on = 1; next} !NF {on = 0} on {print $1}'); do
    fresh "$tool" "$verb"; try_all "$tool" "$verb"
  done
done
echo "$count examples, the slowest:"; sort -rn "$dir/took" | head -12
[ "$count" -ge 40 ] || fail "only $count examples were found"
exit $bad
