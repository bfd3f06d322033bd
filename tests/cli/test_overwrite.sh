#!/usr/bin/env bash
# No tool replaces a file that it reads, by whatever name the output leads to it and with --overwrite:
# exit status 2, both names in the message, every file of the folder as it was. Outputs that are no
# files, and two outputs of one name, are refused too.
# sanitized: writes over and beside what is there
set -u
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
bad=0
fail() { echo "FAILED: $*"; bad=1; }
export OMP_NUM_THREADS=1
quiet() { "$@" >out.txt 2>err.txt || fail "should work: $*: $(cat err.txt)"; }
everything() { find . -not -name out.txt -not -name err.txt \( -type f -exec sha256sum {} + -o -type l -printf 'link  %p\n' \) | sort -k2; }
# refused INPUT OUTPUT command...: both names in the message
refused() {
  local input=$1 output=$2 got before; shift 2
  before=$(everything)
  "$@" >out.txt 2>err.txt; got=$?
  [ "$got" = 2 ] || fail "exit $got, not 2: $*: $(tail -3 err.txt)"
  grep -F -- "$output" err.txt | grep -qF -- "$input" || fail "no '$input' and '$output' in: $(tail -3 err.txt) of: $*"
  [ "$(everything)" = "$before" ] || { fail "files changed by: $*"; diff <(echo "$before") <(everything); }
}

# ---- stacks ----
quiet "$BIN/talus-phantom" --size=40,40,16 --d50-voxels=14 --seed=3 -o scan.tif --labels=labels.h5
mkdir other slices
ln -s scan.tif link.tif
ln -s ../scan.tif other/link.tif
ln other/../scan.tif hard.tif
for name in scan.tif ./scan.tif other/../scan.tif link.tif other/link.tif hard.tif "$PWD/scan.tif"; do
  refused scan.tif "$name" "$BIN/talus-denoise" scan.tif --method=gaussian -o "$name" --overwrite
done
refused link.tif scan.tif "$BIN/talus-denoise" link.tif --method=gaussian -o scan.tif --overwrite
refused scan.tif scan.tif "$BIN/talus-denoise" scan.tif --method=gaussian -o scan.tif --overwrite --dry-run
refused scan.tif scan.tif "$BIN/talus-denoise" scan.tif --method=gaussian -o new.h5 --preview=scan.tif --overwrite
refused scan.tif scan.tif "$BIN/talus-binarize" scan.tif -o scan.tif --overwrite
quiet "$BIN/talus-binarize" scan.tif --method=otsu -o mask.h5
refused mask.h5 mask.h5 "$BIN/talus-binarize" scan.tif --roi=mask.h5 -o mask.h5 --overwrite
refused mask.h5 mask.h5 "$BIN/talus-label" mask.h5 -o mask.h5 --overwrite
refused scan.tif scan.tif "$BIN/talus-label" mask.h5 --grey=scan.tif -o scan.tif --overwrite
refused labels.h5 labels.h5 "$BIN/talus-label" mask.h5 --markers=labels.h5 -o labels.h5 --overwrite
refused mask.h5 mask.h5 "$BIN/talus-label" mask.h5 -o new.h5 --grains=mask.h5 --overwrite
for verb in convert "downsample --factor=2" "crop --size=8,8,8" "mask-cylinder --roi=cylinder:20,20,15" "slice --z=1" histogram; do
  # shellcheck disable=SC2086 # words
  refused scan.tif ./scan.tif "$BIN/talus-volume" $verb scan.tif -o ./scan.tif --overwrite
done
for i in 1 2 3; do quiet "$BIN/talus-volume" crop scan.tif --low=0,0,$i --size=40,40,1 -o slices/s_$i.tif; done
refused slices/s_2.tif slices/s_2.tif "$BIN/talus-denoise" slices --method=gaussian -o slices/s_2.tif --overwrite
refused s_3.tif slices/../slices/s_3.tif "$BIN/talus-volume" convert slices/s_%d.tif -o slices/../slices/s_3.tif --overwrite
refused s_1.tif slices/s_1.tif "$BIN/talus-volume" convert 'slices/s_*.tif' -o slices/s_1.tif --overwrite
quiet "$BIN/talus-volume" convert scan.tif -o scan.h5
refused scan.h5 scan.h5 "$BIN/talus-volume" convert scan.h5:/stack -o scan.h5 --overwrite
# the voxels of a header lie in a file of their own
head -c 4096 /dev/zero | tr '\0' '\7' >voxels.raw
printf 'ObjectType = Image\nNDims = 3\nDimSize = 16 16 16\nElementType = MET_UCHAR\nElementDataFile = voxels.raw\n' >head.mhd
printf 'NRRD0004\ntype: uchar\ndimension: 3\nsizes: 16 16 16\nencoding: raw\ndata file: ./voxels.raw\n' >head.nhdr
refused voxels.raw voxels.raw "$BIN/talus-volume" slice head.mhd -o voxels.raw --overwrite
refused voxels.raw voxels.raw "$BIN/talus-volume" slice head.nhdr -o voxels.raw --overwrite
# by any spelling of the key that the reader takes, behind a note of that name, by a list and by numbers
nrrd() { printf 'NRRD0004\ntype: uchar\ndimension: 3\nsizes: 16 16 16\nencoding: raw\n%b' "$2" >"$1"; }
mkdir parts
for i in 1 2; do head -c 2048 voxels.raw >parts/v$i.tif; done
cp voxels.raw voxels.tif
nrrd tab.nhdr 'data\tfile: voxels.tif\n'
nrrd blanks.nhdr 'Data  File : voxels.tif\n'
nrrd note.nhdr 'datafile:=a note\ndata file: voxels.tif\n'
nrrd list.nhdr 'DATA FILE: LIST\nparts/v1.tif\nparts/v2.tif\n'
nrrd numbers.nhdr 'data\tfile: parts/v%d.tif 1 2 1\n'
for head in tab blanks note; do
  refused voxels.tif voxels.tif "$BIN/talus-volume" downsample $head.nhdr --factor=2 -o voxels.tif --overwrite
done
for head in list numbers; do
  refused parts/v2.tif parts/v2.tif "$BIN/talus-volume" downsample $head.nhdr --factor=2 -o parts/v2.tif --overwrite
done
refused voxels.raw voxels.raw "$BIN/talus-volume" slice voxels.raw --raw=16,16,16,u8,little -o voxels.raw --overwrite
quiet "$BIN/talus-phantom" --size=64,64,32 --d50-voxels=20 --noise=1 --seed=5 -o fine.tif
refused fine.tif fine.tif "$BIN/talus-superres" train fine.tif --atoms=32 --pairs=200 --rounds=1 -o fine.tif --overwrite
quiet "$BIN/talus-superres" train fine.tif --atoms=32 --pairs=200 --rounds=1 -o d.h5
refused d.h5 d.h5 "$BIN/talus-superres" apply scan.tif --dictionary=d.h5 -o d.h5 --overwrite
refused scan.tif scan.tif "$BIN/talus-superres" apply scan.tif --dictionary=d.h5 -o scan.tif --overwrite
refused -o --labels "$BIN/talus-phantom" --size=32,32,8 -o a.tif --labels=./a.tif --overwrite
refused -o --preview "$BIN/talus-denoise" scan.tif -o other/b.tif --preview=slices/../other/b.tif --overwrite

# ---- outputs that are no files ----
expect2() { # TEXT command...
  local text=$1 got; shift
  "$@" >out.txt 2>err.txt; got=$?
  [ "$got" = 2 ] && grep -qF -- "$text" err.txt || fail "exit $got, not 2 with '$text': $* : $(cat err.txt)"
}
mkfifo pipe; mkdir folder.png
expect2 pipe "$BIN/talus-volume" slice scan.tif -o pipe --overwrite
[ -p pipe ] || fail "a pipe was replaced"
rm pipe
expect2 folder "$BIN/talus-volume" slice scan.tif -o folder.png --overwrite

# ---- catalogs and rasters ----
refused labels.h5 labels.h5 "$BIN/talus-avatars" labels.h5 --grey=scan.tif --sample=s --catalog=labels.h5 --overwrite
refused scan.tif link.tif "$BIN/talus-avatars" labels.h5 --grey=scan.tif --sample=s --catalog=link.tif --overwrite
quiet "$BIN/talus-phantom" --terrain --columns=40 --rows=40 --seed=2 -o dem.asc
cp dem.asc classes.asc
refused dem.asc dem.asc "$BIN/talus-topo" dem.asc --catalog=dem.asc --overwrite
refused classes.asc classes.asc "$BIN/talus-topo" dem.asc --classes=classes.asc --catalog=classes.asc
quiet "$BIN/talus-avatars" --superellipsoid-um=500,400,300,0.5,0.5 --sample=sand --catalog=c.tals --nodes=60
refused c.tals ./c.tals "$BIN/talus-catalog" grading c.tals -o ./c.tals --overwrite
refused c.tals c.tals "$BIN/talus-catalog" grading c.tals --plot=c.tals --overwrite
refused c.tals c.tals "$BIN/talus-catalog" export c.tals -o c.tals --overwrite
refused c.tals c.tals "$BIN/talus-catalog" export c.tals --grain=1 --format=stl -o c.tals --overwrite
quiet "$BIN/talus-catalog" export c.tals --grain=1 --format=morphology -o grain.txt
refused grain.txt grain.txt "$BIN/talus-catalog" import grain.txt grain.txt --sample=x --spacing-um=10
quiet "$BIN/talus-catalog" export c.tals --grain=1 --format=stl --unit=mm -o grain.stl
refused grain.stl grain.stl "$BIN/talus-avatars" --mesh grain.stl --unit=mm --sample=x --catalog=grain.stl

# ---- runs ----
cat >s.yaml <<'YAML'
title: tiny
catalog: c.tals
time: {dt_s: 1.0e-5, steps: 4, frame_every_s: 2.0e-5}
grains: {sample: sand}
release: {assembly: lattice, low_m: [0, 0, 0.001], high_m: [0.01, 0.01, 0.01], count: 4}
planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]
YAML
quiet "$BIN/talus-solve" -q s.yaml -o run
quiet "$BIN/talus-solve" -q s.yaml -o run --overwrite
mkdir mine; cp s.yaml mine/study.yaml; sed -i 's|c.tals|../c.tals|' mine/study.yaml
refused mine/study.yaml mine/study.yaml "$BIN/talus-solve" -q mine/study.yaml -o mine --overwrite
echo 'output: .' >>mine/study.yaml
refused study.yaml mine/./study.yaml "$BIN/talus-solve" -q mine/study.yaml --overwrite
# the earlier run that the grains come from, by another name
sed 's/^release: .*/release: {assembly: from-run, run: run}/; /^grains/d' s.yaml >again.yaml
ln -s run alias
refused run/ run/ "$BIN/talus-solve" -q again.yaml -o run --overwrite
refused run/ alias/ "$BIN/talus-solve" -q again.yaml -o alias --overwrite
quiet "$BIN/talus-solve" -q again.yaml -o later
# a table that a wall follows, named as a table of results is
mkdir driven; printf 'time_s,x_m,y_m,z_m\n0,0,0,0\n1,0,0,0.1\n' >driven/history.csv
cat s.yaml - >wall.yaml <<'YAML'
walls: [{kind: box, size_m: [0.1, 0.1, 0.1], point_m: [0, 0, -0.1], table: driven/history.csv}]
YAML
refused driven/history.csv driven/history.csv "$BIN/talus-solve" -q wall.yaml -o driven --overwrite

# ---- what is read of runs ----
for file in run.h5 frame_000000.h5 frame_000002.h5 history.csv study.yaml; do
  refused "run/$file" "./run/$file" "$BIN/talus-render" run --frame=last --width=64 --height=64 -o "./run/$file" --overwrite
done
ln -s ../run/run.h5 other/frames.csv
refused run/run.h5 other/frames.csv "$BIN/talus-measure" run -o other --overwrite
rm other/frames.csv; ln run/frame_000001.h5 other/grains.pvd
before=$(sha256sum run/*)
expect2 other/grains.pvd "$BIN/talus-export" run -o other --overwrite
[ "$(sha256sum run/*)" = "$before" ] || fail "talus-export changed the run"
rm -f other/*
quiet "$BIN/talus-measure" run -o run --overwrite
quiet "$BIN/talus-measure" run -o run --overwrite
quiet "$BIN/talus-render" run --plots --csv=run/frames.csv -o run --overwrite
cp run/frames.csv run/table.png
refused run/table.png run/table.png "$BIN/talus-render" run --plots --csv=run/table.png -o run --overwrite
mkdir -p cell m
awk 'BEGIN {print "time_s,step,stage,kind,axial_strain,volumetric_strain,axial_stress_Pa,radial_stress_Pa,deviatoric_stress_Pa,mean_stress_Pa,friction_angle_deg,void_ratio,inertia_number,unbalanced_force,platen_force_N,base_force_N,tilt_deg,escaped,kinetic_energy_J,piston_work_J,pressure_work_J,elastic_J,friction_J,viscous_J,drag_J,net_elastic_J,net_damping_J,balance_error_J,height_m,volume_m3"
  for (i = 0; i < 60; i++) {e = i*1e-3; q = 4e5*e/(0.01 + e); printf "%g,%d,1,%s,%g,%g,%g,1e5,%g,%g,20,0.6,1e-4,0.002,50,48,0.1,0,1e-6,0,0,0,0,0,0,0,0.001,0,0.1,5e-5\n", i/100, i, i < 9 ? "consolidate" : "shear", e, 0.1*e, 1e5 + q, q, 1e5 + q/3}}' >cell/triaxial.csv
echo 'seed: 1' >cell/study.yaml
printf 'axial_strain,deviatoric_stress_Pa\n0.01,2e5\n0.05,3.3e5\n' >m/triaxial_curves.csv
refused m/triaxial_curves.csv m/triaxial_curves.csv "$BIN/talus-measure" cell --triaxial --compare=m/triaxial_curves.csv -o m --overwrite
mv m/triaxial_curves.csv m/lab.csv
quiet "$BIN/talus-measure" cell --triaxial --compare=m/lab.csv -o m
exit $bad
