#!/usr/bin/env bash
# make check-faults: each tool and verb on a small input, again and again, one call of our own code
# failing in each run: an allocation, opening, reading, writing, syncing, renaming, closing or asking
# about a file. shim.c makes calls fail and says what is our own code; inject.c runs and judges.
# With BIN and TESTBIN set by make. ONLY=regular expression: these cases; KINDS=alloc,open,...: these
# calls; OF=library: calls that this library makes in place of our own code's, such as libsqlite3 (not a
# part of the count: what a library does then is its own); LIBRARIES=1: cases of these too; FULL=1: every
# call (else four of each call path at most); MOST=N: runs of a kind
# and case at most; JOBS=N at a time (two a core: starting MPI is mostly waiting). LOG=FILE takes what was not clean.
# Exit 1 when a run crashed, hung, succeeded silently, or left things untidy.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
jobs=${JOBS:-$((2 * $(nproc)))} # nproc heeds OMP_NUM_THREADS
export LC_ALL=C OMP_NUM_THREADS=1 OMPI_MCA_rmaps_base_oversubscribe=1 GOMP_SPINCOUNT=1000
# a solver that starts alone needs no helper process of Open MPI's, nor does a rank a network
export OMPI_MCA_ess_singleton_isolated=1 OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader
BIN=$(realpath "$BIN"); TESTBIN=$(realpath "$TESTBIN")
export PATH="$BIN:$PATH"
log=$(realpath -m "${LOG:-build/faults.log}"); mkdir -p "$(dirname "$log")"; : >"$log"
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
mkdir "$dir/in"
cd "$dir/in" || exit 2
need() { "$@" >out.txt 2>err.txt || { echo "tests/faults/run.sh: $*: $(cat err.txt)" >&2; exit 2; }; }

# ---- inputs ----
studies() {
  cat >drop.yaml <<'YAML'
title: drop
catalog: c.tals
time: {dt_s: 1.0e-3, steps: 6, frame_every_s: 2.0e-3}
checkpoint: {every_steps: 4, keep: 99}
frames: {contacts: true}
grains: {sample: sand}
release: {assembly: lattice, low_m: [0.05, 0.05, 0.08], high_m: [0.055, 0.055, 0.083], count: 4}
terrain: {name: slope}
YAML
  cat >blocks.yaml <<'YAML'
title: blocks one by one
catalog: c.tals
time: {dt_s: 1.0e-3, steps: 6, frame_every_s: 2.0e-3}
shapes: [{name: cube, kind: box, size_m: [0.004, 0.004, 0.004], spacing_m: 1.0e-3, nodes: 20}]
release: {low_m: [0.05, 0.05, 0], high_m: [0.055, 0.055, 0]}
terrain: {name: slope}
ensemble: {count: 3, velocity_spread_m_s: [1, 1, 0]}
YAML
  cat >walls.yaml <<'YAML'
title: a small packing
time: {dt_s: 5.0e-4, steps: 8, frame_every_s: 2.0e-3}
frames: {contacts: true}
shapes:
- {name: ball, diameter_m: 2.0e-3}
- {name: egg, kind: superellipsoid, size_m: [3.2e-3, 2.0e-3, 1.6e-3]}
grains: {shapes: [ball, egg]}
release: {assembly: drawn, count: 6, high_m: [0.006, 0.006, 0.01]}
walls:
- {kind: box, grains: inside, size_m: [0.01, 0.01, 0.04], point_m: [0.005, 0.005, 0.02], open: [+z]}
- {kind: box, size_m: [0.1, 0.1, 0.1], point_m: [0, 0, -0.2], table: way.csv}
contact: {friction: 0.4, boundary_friction: 0, restitution: 0.1}
YAML
  printf 'time_s,x_m,y_m,z_m\n0,0,0,0\n1,0,0,0.001\n' >way.csv
  cp "$root/tests/support/cell.yaml" .
}
# A tetrahedron of 1 mm in three formats.
meshes() {
  cat >t.obj <<'OBJ'
v 0 0 0
v 1 0 0
v 0 1 0
v 0 0 1
f 1 3 2
f 1 2 4
f 1 4 3
f 2 3 4
OBJ
  { printf 'ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n'
    printf 'element face 4\nproperty list uchar int vertex_indices\nend_header\n'
    printf '0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n'; } >t.ply
  { echo "solid t"
    for f in "0 0 0 0 1 0 1 0 0" "0 0 0 1 0 0 0 0 1" "0 0 0 0 0 1 0 1 0" "1 0 0 0 1 0 0 0 1"; do
      read -r a b c d e g h i j <<<"$f"
      printf 'facet normal 0 0 0\nouter loop\nvertex %s %s %s\nvertex %s %s %s\nvertex %s %s %s\nendloop\nendfacet\n' \
        "$a" "$b" "$c" "$d" "$e" "$g" "$h" "$i" "$j"
    done
    echo "endsolid t"; } >t.stl
}
prepare() {
  need talus-phantom --size=24,24,24 --d50-voxels=9 --seed=3 --voxel-size-um=10 -o scan.tif
  need talus-volume convert scan.tif -o scan.h5
  mkdir slices; need talus-volume crop scan.tif --size=12,12,1 -o slices/s_1.tif
  need talus-volume crop scan.tif --low=0,0,1 --size=12,12,1 -o slices/s_2.tif
  { printf 'NRRD0004\ntype: uchar\ndimension: 3\nsizes: 12 12 12\nencoding: raw\n\n'; head -c 1728 scan.tif; } >scan.nrrd
  head -c 1728 scan.tif >scan.raw
  need talus-volume crop scan.h5 --size=14,14,14 -o small.h5
  need talus-denoise scan.tif --h-factor=0.75 --reach=3 -o denoised.h5
  need talus-binarize denoised.h5 -o mask.h5
  need talus-label mask.h5 --grey=denoised.h5 -o labels.h5
  need talus-phantom --terrain --columns=20 --rows=24 -o valley.asc
  need talus-phantom --terrain --columns=20 --rows=24 -o valley.tif
  awk 'NR <= 6 {print; next} {for (i = 1; i <= NF; i++) printf "%d ", i % 3; print ""}' valley.asc >classes.asc
  need talus-superres train scan.h5 --pairs=200 --atoms=16 --rounds=1 -o dictionary.h5
  meshes; studies
  need talus-avatars --mesh t.obj --unit=mm --spacing-um=100 --nodes=60 --sample=mesh --catalog=c.tals
  need talus-avatars --superellipsoid-um=500,400,300,1,1 --superellipsoid-um=400,400,300,1,1 --spacing-um=100 --nodes=60 --sample=sand --catalog=c.tals
  need talus-topo valley.asc --catalog=c.tals --name=valley
  awk 'BEGIN {print "ncols 12\nnrows 12\nxllcorner 0\nyllcorner 0\ncellsize 0.01\nNODATA_value -9999"
    for (j = 0; j < 12; j++) {for (i = 0; i < 12; i++) printf "%g ", 0.1 - 0.005 * i; print ""}}' >slope.asc
  need talus-topo slope.asc --catalog=c.tals --name=slope --metres
  mkdir morphology; need talus-catalog export c.tals --sample=sand --format=morphology --overwrite -o morphology
  mkdir lammps; need talus-catalog export c.tals --sample=sand --format=lammps --overwrite -o lammps
  need talus-solve drop.yaml -o drop.run
  need talus-solve walls.yaml -o walls.run
  need talus-solve cell.yaml -o cell.run
  need talus-solve drop.yaml -o part.run --set time.steps=4
  echo old >r.html
  rm -f out.txt err.txt
}

# ---- cases: name, files it needs, options of inject.c, --, command ----
told='@(*.tck|run.vtkhdf|*/run.vtkhdf)' # a run goes on without them, and says so
# Cases run side by side, the runs of a case one after the other and always in the same folder, for
# products may hold their full path.
most=${MOST:-$([ -n "${FULL:-}" ] && echo 0 || echo 60)}
few=$([ "$most" = 0 ] && echo 0 || echo $(((most + 14) / 15))) # a report takes 2.5 CPU seconds
running=0 started=0
one() { # number, case, arguments of fault-inject
  local at=$1 name=$2; shift 2
  # Open MPI's session folders: processes that start and end at one time trip over a common one
  export OMPI_MCA_orte_tmpdir_base=$dir/mpi.$at
  mkdir "$dir/scratch.$at" "$dir/mpi.$at"
  "$TESTBIN/fault-inject" --shim="${PRELOAD:+$PRELOAD:}$TESTBIN/fault-shim.so" --template="$dir/template.$at" \
    --scratch="$dir/scratch.$at" --log="$log" --most="$most" ${KINDS:+--kinds=$KINDS} ${OF:+--of=$OF} "$@" >"$dir/table.$at"
  echo $? >"$dir/code.$at"
  echo "$SECONDS s: $name" >&2
  rm -rf "$dir/template.$at" "$dir/scratch.$at" "$dir/mpi.$at"
}
SECONDS=0
try() {
  local name=$1 files=$2 options=() file template at; shift 2
  while [ "$1" != -- ]; do options+=("$1"); shift; done
  [[ $name =~ ${ONLY:-.} ]] || return 0
  at=$(printf '%03d' $started); template=$dir/template.$at
  started=$((started + 1))
  mkdir "$template"
  for file in $files; do cp -r --parents "$file" "$template"; done
  if [ "$running" -ge "$jobs" ]; then wait -n; else running=$((running + 1)); fi
  one "$at" "$name" "${options[@]}" "$name" "$@" &
}
again() { # the product is there already and is to be replaced
  local name=$1 files=$2; shift 2
  try "$name" "$files" "$@" --overwrite
}

cases() {
  try phantom "" -- talus-phantom -q --size=6,6,6 --d50-voxels=5 --shapes=rounded --size-ratio=1 --solid-fraction=0.3 -o s.tif --labels=l.h5 --truth=t.csv --clean=c.h5
  try phantom-folder "" -- talus-phantom -q --folder --size=6,6,6 --d50-voxels=5 --shapes=rounded --size-ratio=1 --solid-fraction=0.3 -o ph
  try phantom-terrain-asc "" -- talus-phantom -q --terrain --columns=20 --rows=24 -o v.asc
  try phantom-terrain-tif "" -- talus-phantom -q --terrain --columns=20 --rows=24 -o v.tif
  try phantom-refused scan.tif --exit=2 -- talus-phantom -q --size=12,12,8 --d50-voxels=9 -o scan.tif
  try volume-help "" -- talus-volume --help
  try volume-man "" -- talus-volume --man
  try volume-version "" -- talus-volume --version
  try volume-wrong-option "" --exit=2 -- talus-volume info --bogus
  try volume-info scan.tif -- talus-volume info -q --json scan.tif
  try volume-info-slices slices -- talus-volume info -q slices
  try volume-info-nrrd scan.nrrd -- talus-volume info -q scan.nrrd
  try volume-info-raw scan.raw -- talus-volume info -q --raw=12,12,12,u8,little scan.raw
  again volume-convert-h5 "scan.tif scan.h5" -- talus-volume convert -q scan.tif -o scan.h5
  again volume-convert-tif "scan.tif scan.h5" -- talus-volume convert -q scan.h5 -o scan.tif
  try volume-crop scan.h5 -- talus-volume crop -q scan.h5 --low=2,2,2 --size=8,8,8 -o crop.h5
  try volume-downsample scan.h5 -- talus-volume downsample -q scan.h5 -o coarse.tif
  try volume-mask-cylinder scan.h5 -- talus-volume mask-cylinder -q scan.h5 --roi=cylinder:12,12,10 -o disc.h5
  try volume-histogram scan.h5 -- talus-volume histogram -q scan.h5 -o h.csv
  try volume-slice scan.h5 -- talus-volume slice -q scan.h5 -o s.png
  again denoise "small.h5 denoised.h5" -- talus-denoise -q small.h5 --sigma-noise=1400 -o denoised.h5 --preview=p.png
  try denoise-slabs scan.h5 -- talus-denoise -q scan.h5 --memory=0.5 --method=gaussian -o d.tif
  try denoise-bilateral scan.h5 -- talus-denoise -q scan.h5 --method=bilateral -o d.h5
  try denoise-median scan.h5 -- talus-denoise -q scan.h5 --method=median -o d.h5
  try denoise-diffusion scan.h5 -- talus-denoise -q scan.h5 --method=diffusion --rounds=2 -o d.h5
  try denoise-dry-run scan.h5 -- talus-denoise -q -n scan.h5 -o d.h5
  try superres-train scan.h5 -- talus-superres train -q scan.h5 --pairs=200 --atoms=16 --rounds=1 -o d.h5
  try superres-apply "dictionary.h5 small.h5" -- talus-superres apply -q small.h5 --dictionary=dictionary.h5 -o fine.h5 --preview=p.png
  again binarize "denoised.h5 mask.h5" -- talus-binarize -q denoised.h5 -o mask.h5 --preview=p.png
  try binarize-otsu denoised.h5 -- talus-binarize -q denoised.h5 --method=otsu --min-island=10 -o m.tif
  try binarize-kmeans denoised.h5 -- talus-binarize -q denoised.h5 --method=kmeans -o m.h5
  try binarize-slabs denoised.h5 -- talus-binarize -q denoised.h5 --memory=1 -o m.h5
  again label "mask.h5 denoised.h5 labels.h5" -- talus-label -q mask.h5 --grey=denoised.h5 -o labels.h5 --grains=g.csv --preview=p.png
  try label-sweep mask.h5 -- talus-label -q mask.h5 -o l.h5 --sweep-h=sweep.csv
  try label-slabs mask.h5 -- talus-label -q mask.h5 --memory=2 -o l.h5
  try avatars "labels.h5 denoised.h5" -- talus-avatars -q labels.h5 --grey=denoised.h5 --catalog=n.tals --sample=s --every=3 --nodes=60 --edge-steps=6 --region-steps=4
  try avatars-into "labels.h5 denoised.h5 c.tals" -- talus-avatars -q labels.h5 --grey=denoised.h5 --catalog=c.tals --sample=s --every=5 --method=edge --edge-steps=6
  try avatars-slabs "labels.h5" -- talus-avatars -q labels.h5 --method=distance --memory=4 --catalog=n.tals --sample=s --every=5 --nodes=60
  try avatars-obj t.obj -- talus-avatars -q --mesh t.obj --unit=mm --spacing-um=100 --nodes=60 --sample=m --catalog=n.tals
  try avatars-ply t.ply -- talus-avatars -q --mesh t.ply --unit=mm --spacing-um=100 --nodes=60 --sample=m --catalog=n.tals
  try avatars-stl t.stl -- talus-avatars -q --mesh t.stl --unit=mm --spacing-um=100 --nodes=60 --sample=m --catalog=n.tals
  try avatars-formula c.tals -- talus-avatars -q --superellipsoid-um=500,400,300,1,1 --spacing-um=100 --nodes=60 --sample=sand --catalog=c.tals --overwrite
  try topo valley.asc -- talus-topo -q valley.asc --catalog=n.tals --name=v
  try topo-classes "valley.tif classes.asc c.tals" -- talus-topo -q valley.tif --classes=classes.asc --catalog=c.tals --name=valley --overwrite
  try catalog-list c.tals -- talus-catalog list -q c.tals
  try catalog-show c.tals -- talus-catalog show -q --json c.tals --grain=1
  try catalog-verify c.tals -- talus-catalog verify -q c.tals
  try catalog-grading c.tals -- talus-catalog grading -q c.tals -o g.csv --plot=g.png
  try catalog-export-csv c.tals -- talus-catalog export -q c.tals -o g.csv
  try catalog-export-stl c.tals -- talus-catalog export -q c.tals --grain=2 --format=stl -o g.stl
  try catalog-export-ply c.tals -- talus-catalog export -q c.tals --grain=2 --format=ply -o g.ply
  try catalog-export-vtp c.tals -- talus-catalog export -q c.tals --grain=2 --format=vtp -o g.vtp
  try catalog-export-vti c.tals -- talus-catalog export -q c.tals --grain=2 --format=vti -o g.vti
  again catalog-export-morphology "c.tals morphology" -- talus-catalog export -q c.tals --sample=sand --format=morphology -o morphology
  try catalog-export-lammps c.tals -- talus-catalog export -q c.tals --format=lammps -o l
  try catalog-export-yade c.tals -- talus-catalog export -q c.tals --format=yade -o y
  try catalog-import "morphology" -- talus-catalog import -q n.tals morphology/grain_000002.txt morphology/grain_000003.txt --sample=s --spacing-um=100
  try catalog-import-lammps "c.tals lammps" -- talus-catalog import -q c.tals lammps/grain_000002.grid --format=lammps --sample=s --nodes=50
  try catalog-remove-sample c.tals -- talus-catalog remove-sample -q c.tals sand
  try solve-keys "" -- talus-solve --keys
  try solve-dry-run "drop.yaml c.tals" --any-output -- talus-solve -q -n drop.yaml
  try solve-drop "drop.yaml c.tals" --grows='*.csv' --told="$told" -- talus-solve -q drop.yaml -o r
  try solve-over "drop.yaml c.tals drop.run" --grows='*.csv' --told="$told" --clears='drop.run/*' -- talus-solve -q drop.yaml -o drop.run --overwrite
  try solve-resume "drop.yaml c.tals part.run" --grows='*.csv' --told="$told" -- talus-solve -q --resume part.run --set time.steps=6
  try ensemble "blocks.yaml c.tals" --grows='*.csv' --saves='r/blocks/*.tck' -- talus-ensemble -q blocks.yaml -o r
  try releases "blocks.yaml c.tals" --grows='*.csv' --saves='r/blocks/*.tck' -- talus-ensemble -q blocks.yaml -o r \
    --set ensemble.count=2 --set ensemble.blocks_together=2 --set ensemble.grounds=2 --set terrain.roughness_m=0.01 \
    --set 'ensemble.ranges=[{key: contact.friction, low: 0.2, high: 0.6}]'
  try solve-walls "walls.yaml way.csv" --grows='*.csv' --told="$told" -- talus-solve -q walls.yaml -o r
  try solve-cell cell.yaml --grows='*.csv' --told="$told" -- talus-solve -q cell.yaml -o r
  try measure drop.run -- talus-measure -q drop.run -o m
  try measure-packing walls.run -- talus-measure -q walls.run -o m --packing
  try measure-packing-plot walls.run --limit=60 -- talus-measure -q walls.run -o m --packing --plot
  try measure-triaxial cell.run --limit=60 -- talus-measure -q cell.run -o m --triaxial --plot --with=cell.run --modulus-strain=0.005
  try render drop.run -- talus-render -q drop.run --width=64 --height=64 --no-smooth -o p.png
  try render-all drop.run -- talus-render -q drop.run --frame=all --width=64 --height=64 --no-smooth -o p
  try render-chains walls.run -- talus-render -q walls.run --chains --width=64 --height=64 --no-smooth -o p.png
  try render-strain walls.run -- talus-render -q walls.run --colour=strain --cut=30 --width=64 --height=64 --no-smooth -o p.png
  try render-cell cell.run -- talus-render -q cell.run --width=64 --height=64 --no-smooth -o p.png
  try render-plots drop.run --limit=60 -- talus-render -q drop.run --plots -o p
  try export drop.run -- talus-export -q drop.run -o e
  try export-surfaces walls.run -- talus-export -q walls.run -o e --surfaces --cells=6
  try report drop.run --limit=60 --most=$few -- talus-report -q drop.run -o r.html
  try report-cells cell.run --limit=60 --most=$few -- talus-report -q cell.run -o r.html
  try report-two "drop.run part.run" --limit=60 --most=$few -- talus-report -q drop.run part.run --label=a --label=b -o r.html
  try report-scan "c.tals labels.h5 scan.h5 r.html" --limit=60 --most=$few -- talus-report -q c.tals --stack=scan.h5 --stack=labels.h5 -o r.html --overwrite
  for rank in 0 1; do
    try solve-two-ranks-$rank "drop.yaml c.tals" --grows='*.csv' --told="$told" --rank=$rank --limit=60 -- talus-mpirun -n 2 "$BIN/talus-solve" -q drop.yaml -o r
  done
  [ -z "${LIBRARIES:-}" ] || libraries
}
# What the libraries behind our files do about broken disks, as far as we can see it.
libraries() {
  local io=open,read,write,fsync,rename,close,stat
  try volume-convert-libhdf5 "scan.tif" --of=libhdf5 --kinds=$io -- talus-volume convert -q scan.tif -o s.h5
  try volume-crop-libhdf5 "scan.h5" --of=libhdf5 --kinds=$io -- talus-volume crop -q scan.h5 --size=8,8,8 -o s.tif
  try volume-convert-libtiff "scan.h5" --of=libtiff --kinds=$io -- talus-volume convert -q scan.h5 -o s.tif
  try volume-crop-libtiff "scan.tif" --of=libtiff --kinds=$io -- talus-volume crop -q scan.tif --size=8,8,8 -o s.h5
  try catalog-import-libsqlite3 "c.tals lammps" --of=libsqlite3 --kinds=$io -- talus-catalog import -q c.tals lammps/grain_000002.grid --format=lammps --sample=s --nodes=50
  try measure-libhdf5 drop.run --of=libhdf5 --kinds=$io -- talus-measure -q drop.run -o m
}

prepare
cases
wait
awk -F'\t' '
  BEGIN {head = "%-26s %-7s %7s %6s %6s %6s %6s %6s %6s %6s %6s\n"
    printf head, "case", "call", "calls", "paths", "runs", "clean", "same", "crash", "hang", "silent", "untidy"}
  $3 > 0 {printf head, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11; for (i = 3; i <= 11; i++) sum[i] += $i}
  END {printf head, "all", "", sum[3], sum[4], sum[5], sum[6], sum[7], sum[8], sum[9], sum[10], sum[11]}' "$dir"/table.*
worst=$(cat "$dir"/code.* | sort -n | tail -1)
[ "$started" -gt 0 ] && [ "$(cat "$dir"/code.* | wc -l)" = "$started" ] || worst=2
exit "$worst"
