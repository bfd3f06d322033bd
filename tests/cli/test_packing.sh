#!/usr/bin/env bash
# A study that keeps its contacts, and talus-measure --packing on it: files, regions, refusals, and
# the stress of grains at rest in a frictionless box, which their weight alone says:
# sigma_zz V = sum of m g z about a floor at z = 0.
# sanitized: reads results
set -u
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
bad=0
fail() { echo "FAILED: $*"; bad=1; }
export OMP_NUM_THREADS=1
cat >s.yaml <<'YAML'
title: a small packing
time: {dt_s: 5.0e-4, steps: 700, frame_every_s: 0}
frames: {contacts: true}
shapes:
- {name: ball, diameter_m: 2.0e-3}
- {name: egg, kind: superellipsoid, size_m: [3.2e-3, 2.0e-3, 1.6e-3]}
grains: {shapes: [ball, egg]}
release: {assembly: drawn, count: 70, high_m: [0.01, 0.01, 0.025]}
walls:
- {kind: box, grains: inside, size_m: [0.01, 0.01, 0.04], point_m: [0.005, 0.005, 0.02], open: [+z]}
contact: {friction: 0.4, boundary_friction: 0, restitution: 0.1}
YAML
"$BIN/talus-solve" -q s.yaml >out.txt 2>&1 || { fail "the run"; cat out.txt; }
"$BIN/talus-measure" s.run -o m --packing --plot >out.txt 2>err.txt || { fail "measuring"; cat err.txt; }
for file in packing.csv grain_stress.csv fabric.csv forces.csv chains.csv chains.vtp rotations.csv band.csv local_strain.vtp packing.png fabric.png band.png frames.csv; do
  [ -s "m/$file" ] || fail "no m/$file"
done
for file in m/*.csv; do
  sed 's/"[^"]*"//' "$file" | awk -F, 'NR == 1 {n = NF} NF != n {exit 1}' || fail "$file is ragged"
done
value() { awk -F, -v name="$2" 'NR == 1 {for (i = 1; i <= NF; i++) if ($i == name) c = i} {v = $c} END {print v}' "$1"; }
near() { awk -v a="$2" -v b="$3" -v t="$4" 'BEGIN {exit !(a - b <= t && b - a <= t && a != "")}' || fail "$1 is $2, not $3"; }
weight=$(awk -v m="$(value m/frames.csv mass_kg)" -v z="$(value m/frames.csv centre_z_m)" 'BEGIN {print m*9.81*z}')
held=$(awk -v s="$(value m/packing.csv stress_zz_Pa)" -v v="$(value m/packing.csv region_volume_m3)" 'BEGIN {print s*v}')
near "stress times volume over m g z" "$(awk -v a="$held" -v b="$weight" 'BEGIN {print a/b}')" 1 0.01
near "unbalanced force" "$(value m/packing.csv unbalanced_force)" 0 0.01
near grains "$(value m/packing.csv grains)" 70 0
awk -v e="$(value m/packing.csv void_ratio)" 'BEGIN {exit !(e > 0.6 && e < 2)}' || fail "void ratio $(value m/packing.csv void_ratio)"
[ "$(wc -l <m/grain_stress.csv)" = 71 ] && [ "$(wc -l <m/fabric.csv)" = 433 ] || fail "lines of the tables"
# each kind's cells hold all its directions
awk -F, 'NR > 1 {n[$1] += $6} END {print n[0], n[1], n[2]}' m/fabric.csv >sums.txt
[ "$(cat sums.txt)" = "$(value m/packing.csv normal_count) $(value m/packing.csv branch_count) $(value m/packing.csv long_axis_count)" ] ||
  fail "fabric.csv counts $(cat sums.txt)"
[ "$(value m/packing.csv rotated_grains)" -ge 0 ] && [ "$(wc -l <m/rotations.csv)" = 71 ] || fail "rotations"
"$BIN/talus-render" s.run --plots --csv=m/packing.csv -o r >out.txt 2>&1 && [ -s r/packing.png ] || fail "plots of packing.csv"
# a box and a cylinder in the middle; the cylinder inscribed in the box has the share pi/4 of it
"$BIN/talus-measure" s.run -o b --packing --box-low-m=0.002,0.002,0.001 --box-high-m=0.008,0.008,0.005 >out.txt 2>&1 || fail "a box"
"$BIN/talus-measure" s.run -o c --packing --cylinder-foot-m=0.005,0.005,0.001 --cylinder-axis-m=0,0,0.004 --cylinder-radius-m=0.003 >out.txt 2>&1 || fail "a cylinder"
near "cylinder over box" "$(awk -v a="$(value c/packing.csv region_volume_m3)" -v b="$(value b/packing.csv region_volume_m3)" 'BEGIN {print a/b}')" 0.785398 1e-5
awk -v a="$(value c/packing.csv solid_fraction)" -v b="$(value b/packing.csv solid_fraction)" 'BEGIN {exit !(a > 0.4 && a < 0.75 && b > 0.4 && b < 0.75)}' ||
  fail "solid fractions $(value c/packing.csv solid_fraction) $(value b/packing.csv solid_fraction)"
# a column of five balls by the penalty method: its four contacts bear 1, 2, 3 and 4 times m g
cat >p.yaml <<'YAML'
time: {dt_s: 2.0e-5, steps: 8000, frame_every_s: 0}
frames: {contacts: true}
solver: {method: penalty}
penalty: {spread: deepest, normal_N_m: 100.0}
shapes: [{name: ball, diameter_m: 2.0e-3}]
bodies: [{shape: ball, position_m: [0, 0, 0.001], count: 5, step_m: [0, 0, 0.002]}]
planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]
contact: {friction: 0.4, restitution: 0.1, damping_per_s: 20}
YAML
"$BIN/talus-solve" -q p.yaml >out.txt 2>&1 && "$BIN/talus-measure" p.run -o p --packing >>out.txt 2>&1 || { fail "penalty"; cat out.txt; }
near "pairs of the column" "$(value p/packing.csv pairs)" 4 0
# the two contacts that bear more than the mean make a chain: lines from point 0 to 1 and from 1 to 2
start=$(grep -abo 'encoding="raw">' p/chains.vtp | cut -d: -f1) # then a line's end, _, and 8 bytes of size
offset=$(sed -n 's/.*"connectivity".*offset="\([0-9]*\)".*/\1/p' p/chains.vtp)
lines=$(od -An -v -t d8 -j $((start + 17 + offset + 8)) -N 32 p/chains.vtp | xargs)
[ "$lines" = "0 1 1 2" ] || fail "chains.vtp joins points $lines"
near "mean force over m g" "$(awk -v m="$(value p/frames.csv mass_kg)" -v f="$(value p/packing.csv mean_normal_force_N)" 'BEGIN {print f/(m/5*9.81)}')" 2.5 1e-5
# a dumbbell that stands on one end with a ball on the other: the branches of its contacts run from the centre
# of the whole body, so stress times volume is the sum of m g z; from its parts' centres it would be less than half
cat >d.yaml <<'YAML'
time: {dt_s: 1.0e-5, steps: 16000, frame_every_s: 0}
frames: {contacts: true}
solver: {method: penalty}
penalty: {spread: deepest, normal_N_m: 1000.0}
shapes: [{name: ball, diameter_m: 2.0e-3}]
bodies:
- {position_m: [0, 0, 0.0025], parts: [{shape: ball, position_m: [0, 0, 0.0015]}, {shape: ball, position_m: [0, 0, -0.0015]}]}
- {shape: ball, position_m: [0, 0, 0.006]}
planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]
contact: {friction: 0.4, restitution: 0.1, damping_per_s: 20}
YAML
"$BIN/talus-solve" -q d.yaml >out.txt 2>&1 && "$BIN/talus-measure" d.run -o d --packing >>out.txt 2>&1 || { fail "dumbbell"; cat out.txt; }
near "stress times volume over m g z of a dumbbell and a ball" "$(awk -v s="$(value d/packing.csv stress_zz_Pa)" -v v="$(value d/packing.csv region_volume_m3)" \
  -v m="$(value d/frames.csv mass_kg)" -v z="$(value d/frames.csv centre_z_m)" 'BEGIN {print s*v/(m*9.81*z)}')" 1 0.01
near "pairs of the dumbbell and the ball" "$(value d/packing.csv pairs)" 1 0
near "bodies and planes that the dumbbell and the ball touch" "$(value d/packing.csv neighbours_per_grain)" 1.5 0
near "unbalanced force of the dumbbell" "$(value d/packing.csv unbalanced_force)" 0 1e-3
# of a test whose shear begins at 0.2 s: bands are counted from the last frame before it, theories told
awk 'BEGIN {
  print "time_s,stage,kind,axial_strain,volumetric_strain,axial_stress_Pa,radial_stress_Pa,deviatoric_stress_Pa,mean_stress_Pa,friction_angle_deg,void_ratio,inertia_number,unbalanced_force,platen_force_N,base_force_N,tilt_deg,escaped,kinetic_energy_J,piston_work_J,pressure_work_J,elastic_J,friction_J,viscous_J,drag_J,net_elastic_J,net_damping_J,balance_error_J,height_m,volume_m3"
  for (i = 0; i <= 35; i++) {e = i > 20 ? (i - 20)*1e-3 : 0
    printf "%g,1,%s,%g,%g,2e5,1e5,1e5,1.3e5,30,0.6,1e-4,0.001,50,49,0,0,0,0,0,0,0,0,0,0,0,0,%g,5e-5\n", i/100, i < 20 ? "consolidate" : "shear", e, -e/2, 0.1*exp(-e)}}' >s.run/triaxial.csv
"$BIN/talus-solve" -q s.yaml -o s2.run --set time.frame_every_s=0.1 >out.txt 2>&1 && cp s.run/triaxial.csv s2.run || { fail "more frames"; cat out.txt; }
"$BIN/talus-measure" s2.run -o t --packing --triaxial >out.txt 2>err.txt || { fail "both"; cat err.txt; }
at() { sed -n "s/^$1: \([^ ]*\).*/\1/p" out.txt; }
near "frame before the shear" "$(at bands_from_frame)" 2 0
near "Roscoe's angle" "$(at roscoe_inclination)" 50.7685 1e-3 # D = 1/2: 45 + asin(0.5/2.5)/2
near "no rotation from itself" "$(awk -F, 'NR == 1 {for (i = 1; i <= NF; i++) if ($i == "rotation_mean_deg") c = i} NR == 4 {print $c}' t/packing.csv)" 0 0
"$BIN/talus-measure" s2.run -o u --packing --from-frame=1 >out.txt 2>err.txt || { fail "from a frame"; cat err.txt; }
near "frame given" "$(at bands_from_frame)" 1 0
# a region in mm where the grains are in m
"$BIN/talus-measure" s.run -o e --packing --box-low-m=5,5,5 --box-high-m=6,6,6 >out.txt 2>err.txt || { fail "an empty box"; cat err.txt; }
grep -qF "in 2 of 2 frames no grain has its centre in the region that is measured" err.txt &&
  grep -qE "reach from x = [0-9.e-]*, y = .* m$" err.txt || { fail "an empty box is not warned of"; cat err.txt; }
refused() { # status, text, arguments
  local want=$1 text=$2 got=0; shift 2
  "$BIN/talus-measure" s.run "$@" >out.txt 2>err.txt || got=$?
  [ "$got" = "$want" ] && grep -qF -- "$text" err.txt || { fail "$*: exit $got"; cat err.txt; }
}
refused 2 "wants --packing" -o n --plot
refused 2 "exclude each other" -o n --packing --cylinder-radius-m=1 --box-high-m=1,1,1
refused 2 "--box-high-m" -o n --packing --box-high-m=1,0,1
refused 2 "--cylinder-axis-m" -o n --packing --cylinder-radius-m=1
refused 2 "--cylinder-radius-m: is missing" -o n --packing --cylinder-axis-m=0,0,1
refused 2 "--cylinder-radius-m: is missing" -o n --packing --cylinder-foot-m=0,0,1 --cylinder-axis-m=0,0,1
refused 2 "--cylinder-... want --packing" -o n --cylinder-axis-m=0,0,1
refused 2 "--from-frame wants --packing" -o n --from-frame=1
refused 2 "--strain-window wants --triaxial" -o n --packing --strain-window=0.02
refused 2 "--modulus-strain wants --triaxial" -o n --modulus-strain=0.002
refused 2 "--overwrite" -o m --packing
refused 1 "holds no frame 9; its frames are 0 to 1" -o n --packing --from-frame=9
rm -rf n
"$BIN/talus-solve" -q s.yaml --overwrite --set time.steps=2 --set frames.contacts=false >out.txt 2>&1 || fail "without contacts"
refused 1 "frame 1 has no contacts; run the study with frames: {contacts: true}" -o n --packing
cp s2.run/triaxial.csv s.run
refused 1 "frame 1 has no contacts" -o n --packing --triaxial
[ ! -e n ] || fail "measures of a refused run were written"
exit $bad
