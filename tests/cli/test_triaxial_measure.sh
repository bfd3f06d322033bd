#!/usr/bin/env bash
# talus-measure --triaxial on written curves: tables, pictures, a laboratory curve, runs over each other,
# refusals. The numbers themselves are held by the unit test triaxial_measures.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
bad=0
fail() { echo "FAILED: $*"; bad=1; }
test_of() { # folder, peak deviatoric stress, its strain (0.04)
  mkdir -p "$1"
  awk -v q1="$2" -v at="${3:-0.04}" 'function row(kind, e, v, q) {
      printf "%g,%d,1,%s,%.9g,%.9g,%.9g,1e5,%.9g,%.9g,%.9g,%.9g,1e-4,0.002,50,48,0.1,0,1e-6,%g,%g,0,0,0,0,0,0,0.001,%.9g,%.9g\n",
        n/100, 100*n, kind, e, v, 1e5 + q, q, 1e5 + q/3, atan2(q/(2e5 + q), sqrt(1 - (q/(2e5 + q))^2))*180/3.14159265358979,
        0.6 - v, 100*e, -20*e, 0.1*exp(-e), 5e-5*exp(-v); n++}
    BEGIN {
      print "time_s,step,stage,kind,axial_strain,volumetric_strain,axial_stress_Pa,radial_stress_Pa,deviatoric_stress_Pa,mean_stress_Pa,friction_angle_deg,void_ratio,inertia_number,unbalanced_force,platen_force_N,base_force_N,tilt_deg,escaped,kinetic_energy_J,piston_work_J,pressure_work_J,elastic_J,friction_J,viscous_J,drag_J,net_elastic_J,net_damping_J,balance_error_J,height_m,volume_m3"
      for (i = 0; i < 10; i++) row("consolidate", 0, 0, 0)
      for (i = 0; i <= 400; i++) {e = i*5e-4; x = e/at; row("shear", e, 0.3*e - 4*e*e, 2*q1*x/(1 + x*x))}
    }' >"$1/triaxial.csv"
}
test_of a 4e5; test_of b 5e5
printf 'contact:\n  friction: 0.5\nseed: 1\n' >a/study.yaml
printf 'contact:\n  friction: 0.7\nseed: 1\n' >b/study.yaml
measure() { "$BIN/talus-measure" "$@" >out.txt 2>err.txt; }
measure a -o m --triaxial --plot --modulus-strain=0.002 || { fail "measuring"; cat err.txt; }
[ ! -s err.txt ] || { fail "talk while measuring"; cat err.txt; }
pictures="stress_strain friction states dilatancy quality energy"
for p in $pictures; do [ -s "m/triaxial_$p.png" ] || fail "no m/triaxial_$p.png"; done
awk -F, 'NR == 1 {n = NF} NF != n {exit 1} END {exit NR != 412}' m/triaxial_curves.csv || fail "triaxial_curves.csv is ragged or short"
value() { awk -F, -v name="$2" '$1 == name {print $2}' "$1/triaxial_summary.csv"; }
near() { awk -v a="$2" -v b="$3" -v t="$4" 'BEGIN {exit !(a - b <= t && b - a <= t && a != "")}' || fail "$1 is $2, not $3"; }
near "peak" "$(value m peak_deviatoric_stress)" 4e5 1
near "its strain" "$(value m peak_friction_strain)" 0.04 1e-9
near "its angle" "$(value m peak_friction_angle)" 41.8103 1e-4
near "least volume's strain" "$(value m largest_contraction_strain)" 0.0375 1e-9
grep -q '^peak_friction_angle: 41.81' out.txt || fail "the summary on standard output"
[ ! -e m/frames.csv ] || fail "frames measured without being asked"
head -1 m/triaxial_curves.csv | grep -q ',piston_force_N,piston_friction_angle_deg$' || fail "the piston is not among the curves"
awk -F, 'END {exit !($NF > 20 && $(NF - 1) > 0)}' m/triaxial_curves.csv || fail "the piston's force and angle: $(tail -1 m/triaxial_curves.csv)"
# a curve that still rises at its end has no critical state; one that is level has one, though its peak is there
test_of rising 4e5 0.4; mkdir level
awk -F, -v OFS=, 'NR > 1 && $5 > 0.05 {$11 = NR == 410 ? 42 : 41} 1' a/triaxial.csv >level/triaxial.csv
measure rising -o rm --triaxial --modulus-strain=0.002 || { fail "a rising curve"; cat err.txt; }
grep -qF "rising/triaxial.csv: the curve has not come level" err.txt || { fail "a rising curve is not warned of"; cat err.txt; }
for figure in critical_friction_angle softening; do grep -qx "$figure: none" out.txt || fail "$figure of a rising curve: $(grep $figure out.txt)"; done
[ -z "$(value rm critical_void_ratio)$(value rm critical_friction_angle_by_piston)" ] || fail "critical figures of a rising curve"
measure level -o lm --triaxial --modulus-strain=0.002 || { fail "a level curve"; cat err.txt; }
[ ! -s err.txt ] || { fail "talk of a level curve"; cat err.txt; }
near "critical angle of a level curve" "$(value lm critical_friction_angle)" 41 0.1
# a laboratory curve 10 kPa above, in other units and strains
awk -F, 'NR > 20 && NR % 5 == 0 {printf "%.9g,%.9g\n", 100*(1 - exp(-$5)), $9/1e3 + 10}' a/triaxial.csv >points.csv
{ echo "engineering_axial_strain_percent,deviatoric_stress_kPa"; cat points.csv; } >lab.csv
measure a -o c --triaxial --compare=lab.csv --with=b --json --modulus-strain=0.002 || { fail "comparing"; cat err.txt; }
[ ! -s err.txt ] || { fail "talk while comparing"; cat err.txt; }
near "rms difference" "$(value c rms_deviatoric_stress)" 10000 50 # chords of the curve between the points
for p in $pictures; do [ -s "c/triaxial_$p.png" ] || fail "no c/triaxial_$p.png"; done
python3 -c 'import json; json.load(open("out.txt"))["rms_deviatoric_stress_Pa"]' 2>/dev/null || grep -q '"rms_deviatoric_stress_Pa"' out.txt || fail "json"
[ "$(cut -d, -f1,4 c/triaxial_runs.csv | tail -2 | tr '\n' ' ')" = '"contact.friction = 0.5",400000 "contact.friction = 0.7",500000 ' ] ||
  { fail "triaxial_runs.csv"; cat c/triaxial_runs.csv; }
cmp -s m/triaxial_stress_strain.png c/triaxial_stress_strain.png && fail "the measured curve is not in the picture"
measure a -o named --triaxial --with=b --label=rough --label=smooth || { fail "naming runs"; cat err.txt; }
[ "$(cut -d, -f1 named/triaxial_runs.csv | tail -2 | tr '\n' ' ')" = '"rough" "smooth" ' ] ||
  { fail "labels"; cat named/triaxial_runs.csv; }
# the solver's own table has the columns that are read
"$BIN/talus-solve" -q "$root/tests/support/cell.yaml" -o cell.run >out.txt 2>&1 || { fail "a cell"; cat out.txt; }
# the platen is no grain: not in the plan, not in the summary, not in what is resumed
[ "$("$BIN/talus-solve" -n "$root/tests/support/cell.yaml" 2>/dev/null | sed -n 's/^grains: //p')" = 8 ] || fail "grains of the plan"
[ "$("$BIN/talus-solve" "$root/tests/support/cell.yaml" -o again.run 2>err.txt | sed -n 's/^grains: //p')" = 8 ] || fail "grains of the summary"
grep -q ' 8 grains on 1 rank' err.txt || { fail "grains said at the start"; cat err.txt; }
"$BIN/talus-solve" --resume again.run --set time.steps=140 >out.txt 2>err.txt || { fail "resuming a cell"; cat err.txt; }
grep -q 'step 120, 8 of 8 grains' err.txt || { fail "grains that are resumed"; cat err.txt; }
measure cell.run -o s --triaxial --packing --modulus-strain=0.005 || { fail "measuring a cell"; cat err.txt; }
near "grains of the cell" "$(awk -F, 'NR == 1 {for (i = 1; i <= NF; i++) if ($i == "grains") c = i} {v = $c} END {print v}' s/packing.csv)" 8 0 # the platen is none
last() { awk -F, -v want="$2" 'NR == 1 {for (i = 1; i <= NF; i++) if ($i == want) c = i} {v = $c} END {print v}' "$1"; }
near "void ratio of the cell" "$(last s/packing.csv void_ratio)" "$(last cell.run/triaxial.csv void_ratio)" 1e-4
near "base and platen" "$(value s platen_base_difference)" 0 1
awk -v q="$(value s peak_deviatoric_stress)" 'BEGIN {exit !(q > 100)}' || fail "no deviatoric stress in the cell: $(value s peak_deviatoric_stress)"
refused() { # status, text, arguments
  local want=$1 text=$2 got=0; shift 2
  "$BIN/talus-measure" "$@" >out.txt 2>err.txt || got=$?
  [ "$got" = "$want" ] && grep -qF -- "$text" err.txt || { fail "$*: exit $got"; cat err.txt; }
}
refused 2 "want --triaxial" a -o n --compare=lab.csv
refused 2 "--label: 1 for 2 runs" a -o n --triaxial --with=b --label=one
refused 2 "--overwrite" a -o m --triaxial
refused 2 "--strain-window" a -o n --triaxial --strain-window=0
{ head -1 lab.csv; tac points.csv; } >falls.csv
refused 1 "falls.csv: the axial strain falls from the first row to the last: the rows must be in the order of ascending strain" a -o n --triaxial --compare=falls.csv
echo "axial_strain,deviatoric_stress" >bad.csv
refused 1 "bad.csv: column deviatoric_stress says no unit of its quantity; allowed are" a -o n --triaxial --compare=bad.csv
refused 1 "no/triaxial.csv" no -o n --triaxial
refused 1 "b/gone/triaxial.csv" a -o n --triaxial --with=b/gone
cut -d, -f1-8,10- a/triaxial.csv >b/triaxial.csv
refused 1 "b/triaxial.csv: no column deviatoric_stress_Pa" b -o n --triaxial
[ ! -e n ] || fail "measures of a refused test were written"
exit $bad
