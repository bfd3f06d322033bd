#!/usr/bin/env bash
# What talus-solve --dry-run says of a study before it runs.
set -u
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
export OMP_NUM_THREADS=1
bad=0
fail() { echo "FAILED: $*"; bad=1; }
plan() { "$BIN/talus-solve" -n "$@" >out 2>err || fail "--dry-run $*: $(cat err)"; }
value() { sed -n "s/^$1: //p" out; }

# ---- the method, of a study that does not name one, too; in the summary of a run as well ----
cat >two.yaml <<'YAML'
title: two balls on each other
gravity_m_s2: [0, 0, -9.81]
time: {dt_s: 1.0e-3, steps: 5}
shapes: [{name: ball, kind: sphere, diameter_m: 0.02}]
bodies:
  - {shape: ball, position_m: [0, 0, 0.01]}
  - {shape: ball, position_m: [0, 0, 0.03]}
walls: [{kind: plane, point_m: [0, 0, 0], normal: [0, 0, 1]}]
YAML
plan two.yaml
[ "$(value method)" = etm-level ] || fail "the method is not named: $(cat out)"
"$BIN/talus-solve" two.yaml -o two.run --set solver.method=nonsmooth --set nonsmooth.young_Pa=1e7 >out 2>err || fail "the run: $(cat err)"
[ "$(value method)" = nonsmooth ] || fail "the summary does not name the method: $(cat out)"

# ---- an output that is there ----
plan two.yaml -o two.run
for text in out err; do
  grep -q 'refused: two.run: already holds results (.*); give --overwrite' $text || fail "results that are there: $(cat $text)"
done
plan two.yaml -o two.run --overwrite
[ -z "$(value refused)" ] || fail "--overwrite: $(cat out)"
plan --resume two.run
[ -z "$(value refused)" ] || fail "--resume: $(cat out)"

# ---- the time: of grains that fall it is not known, of poured ones all count ----
cat >heap.yaml <<'YAML'
title: balls fall far, or are poured
gravity_m_s2: [0, 0, -9.81]
time: {dt_s: 1.0e-3, steps: 1000}
shapes: [{name: ball, kind: sphere, diameter_m: 0.02}]
grains: {shapes: [ball]}
release: {assembly: drawn, count: 40, low_m: [0, 0, 0.5], high_m: [0.1, 0.1, 1]}
walls: [{kind: box, grains: inside, size_m: [0.1, 0.1, 2], point_m: [0.05, 0.05, 1]}]
solver: {method: nonsmooth}
nonsmooth: {young_Pa: 1.0e+7}
YAML
plan heap.yaml --set time.steps=4000000 --set time.frame_every_s=1000 --set gravity_m_s2='[0, 0, -1.0e-9]' --set free_fall=yes
[ "$(value time)" = "not known: few grains touch yet" ] && [ -z "$(value time_at_this_pace)" ] &&
  [ -n "$(value time_at_least)" ] || fail "balls in the air: $(cat out)"
plan heap.yaml
taken=$(sed -n 's/.* s a step after \([0-9]*\) steps: .* for all at this pace.*/\1/p' err)
[ "${taken:-0}" -gt 250 ] && [ "$taken" -lt 1000 ] || fail "the pace is not that of balls that touch, but of step ${taken:-?}: $(cat err)"
plan heap.yaml --set release.assembly=poured --set release.rate_per_s=50 --set time.steps=1500
[ "$(value grains)" = 40 ] || fail "poured balls: $(cat out)"
grep -q '40 grains, 40 of them still to be poured, on 1 rank' err || fail "poured balls: $(cat err)"
[ -e heap.run ] && fail "a plan wrote: $(ls heap.run)"

# ---- laws: what the method and its law read, of pairs that can meet ----
say() { # method, arguments of the plan...
  local method=$1; shift
  plan laws.yaml --set solver.method="$method" "$@"
}
pair() { # number, what is printed of it
  [ "$(value "pair_$1")" = "$2" ] || fail "pair_$1 is not '$2': $(cat out)"
}
cat >laws.yaml <<'YAML'
title: steel balls on rubber
gravity_m_s2: [0, 0, -9.81]
time: {dt_s: 1.0e-5, steps: 5}
materials: [{name: steel, density_kg_m3: 7850}, {name: rubber}]
pairs: [{between: [steel, rubber], friction: 0.7, restitution: 0.1}]
shapes: [{name: ball, kind: sphere, diameter_m: 0.02, material: steel}]
grains: {shapes: [ball]}
release: {assembly: drawn, count: 4, low_m: [0, 0, 0], high_m: [0.1, 0.1, 0.1]}
walls: [{kind: plane, point_m: [0, 0, 0], normal: [0, 0, 1], material: rubber}]
nonsmooth: {young_Pa: 1.0e+7, poisson: 0.3, normal_N_m: 2000}
penalty: {young_Pa: 1.0e+8, poisson: 0.2, normal_N_m: 3000, normal_Pa_m: 4.0e+9, tangential_ratio: 0.5}
YAML
say etm
pair 1 "steel on steel: friction 0.5, restitution 0.2, tangential_restitution 0"
pair 2 "steel on rubber: friction 0.7, restitution 0.1, tangential_restitution 0"
pair 3 "" # no grain is of the material 'grain'
grep -q '^material_0' out && fail "a material that nothing is of: $(cat out)"
say nonsmooth
pair 1 "steel on steel: friction 0.5, restitution 0.2, young_Pa 10000000 Pa, poisson 0.3"
say nonsmooth --set nonsmooth.law=linear --set contact.rolling=0.1
pair 1 "steel on steel: friction 0.5, restitution 0.2, rolling 0.1, normal_N_m 2000 N/m"
say penalty
pair 1 "steel on steel: friction 0.5, restitution 0.2, normal_N_m 3000 N/m, normal_Pa_m 4000000000 Pa/m, tangential_ratio 0.5"
say penalty --set penalty.spread=deepest
pair 1 "steel on steel: friction 0.5, restitution 0.2, normal_N_m 3000 N/m, tangential_ratio 0.5"
say penalty --set penalty.spread=deepest --set penalty.law=hertz
pair 1 "steel on steel: friction 0.5, restitution 0.2, young_Pa 100000000 Pa, poisson 0.2"
sed '/^pairs/d; s/, material: rubber}/}/' laws.yaml >own.yaml
plan own.yaml --set contact.boundary_scar_modulus_Pa=1e7 --set contact.boundary_restitution_half_m_s=3
pair 1 "boundary on steel: friction 0.5, restitution 0.2, tangential_restitution 0, restitution_half_m_s 3 m/s, restitution_power 1, scar_modulus_Pa 10000000 Pa, scar_density_kg_m3 1700 kg/m3, scar_coefficient 1"

# ---- the rules of the nonsmooth method ----
near() { # what it is, number, what it should be
  awk -v x="$2" -v y="$3" 'BEGIN {exit !((x - y) ^ 2 < (0.01 * y) ^ 2)}' || fail "$1 is '$2' and not $3: $(cat err)"
}
rule() { # arguments of the plan: the step of the rule
  plan "$@" --set solver.method=nonsmooth --set nonsmooth.young_Pa=1e7
  step=$(sed -n 's/.*rules ask for steps of \([0-9.e-]*\) s at most.*/\1/p' err)
}
warned() { # step of the study
  grep -q "warning: .*dt_s: $1 s is above the $step s that the rule for steps" err || fail "no warning of a step of $1 s: $(cat err)"
}
rule two.yaml # eps 0.01, d 0.02 m: sqrt(2 eps d/g)
near "the step of balls at rest" "$step" 0.00639
grep -q "is above" err && fail "a step below the rule: $(cat err)"
grep -q "and for 20 iterations where all lie on each other, 2 on end$" err || fail "iterations of two balls: $(cat err)"
rule two.yaml --set time.dt_s=7e-3 --set nonsmooth.iterations=19
warned 0.007
grep -q "for 20 iterations .*; nonsmooth.iterations is 19, which is fewer$" err || fail "iterations below the rule: $(cat err)"
# a belt at 3 m/s; a drum of radius 0.5 m at 6 rad/s; a paddle whose corner is 0.5 m from its axis; eps d/v = 2e-4/v
sed 's/normal: \[0, 0, 1\]/&, velocity_m_s: [3, 0, 0]/' two.yaml >belt.yaml
rule belt.yaml
near "the step on a belt" "$step" 6.67e-5
warned 0.001
grep -q "a speed of 3 m/s" err || fail "the belt's speed: $(cat err)"
sed 's/normal: \[0, 0, 1\]/&, surface_velocity_m_s: [3, 0, 0]/' two.yaml >runs.yaml
rule runs.yaml
near "the step on a surface that runs" "$step" 6.67e-5
walls() { # the wall in place of the plane
  sed '$d' two.yaml
  echo "walls: [{$1}]"
}
walls 'kind: cylinder, grains: inside, axis: [0, 1, 0], radius_m: 0.5, length_m: 0.4, point_m: [0, 0, 0.5], spin_rad_s: [0, 6, 0]' >drum.yaml
rule drum.yaml
near "the step in a drum" "$step" 6.67e-5
walls 'kind: box, size_m: [0.6, 0.1, 0.8], point_m: [0, 0, -2], spin_rad_s: [0, 6, 0]' >paddle.yaml
rule paddle.yaml --set free_fall=yes
near "the step with a paddle" "$step" 6.67e-5
cat >arm.yaml <<'YAML'
title: a ball on an arm and a slider
gravity_m_s2: [0, 0, 0]
time: {dt_s: 1.0e-5, steps: 2}
shapes: [{name: ball, kind: sphere, diameter_m: 0.02}]
bodies:
  - {name: arm, shape: ball, position_m: [0, 0, 0]}
  - {name: cart, shape: ball, position_m: [3, 0, 0]}
  - {shape: ball, position_m: [5, 0, 0]}
joints:
  - {kind: hinge, body: arm, point_m: [0.29, 5, 0], axis: [0, 1, 0], motor_rad_s: -10, motor_most_N_m: 1}
  - {kind: slider, body: cart, point_m: [3, 0, 0], axis: [1, 0, 0], motor_m_s: 2, motor_most_N: 1}
YAML
rule arm.yaml
near "the step with a motor that turns" "$step" 6.67e-5
rule arm.yaml --set joints.0.motor_rad_s=1
near "the step with a motor that pushes" "$step" 1e-4
# the same numbers on any number of ranks
{
  sed '/^bodies/,$d' two.yaml
  echo 'bodies:'
  for ((i = 0; i < 250; i++)); do echo "  - {shape: ball, position_m: [$((i % 10)), 0, 0.$(printf %03d $((i * 3 + 10)))]}"; done
  sed -n '/^walls/,$p' two.yaml
} >stack.yaml
rule stack.yaml
grep 'rules ask' err >one
"$BIN/talus-mpirun" -n 2 "$BIN/talus-solve" -n stack.yaml --set solver.method=nonsmooth --set nonsmooth.young_Pa=1e7 >out 2>err ||
  fail "two ranks: $(cat err)"
grep 'rules ask' err | cmp -s one - || fail "two ranks say $(grep 'rules ask' err), one $(cat one)"
# grains that are poured: from their size and the speed after the fall of 0.5 m; iterations when all are there
cat >pour.yaml <<'YAML'
title: balls are poured
gravity_m_s2: [0, 0, -9.81]
time: {dt_s: 1.0e-3, steps: 200}
shapes: [{name: ball, kind: sphere, diameter_m: 0.02}]
grains: {shapes: [ball]}
release: {assembly: poured, count: 10, rate_per_s: 100, low_m: [0, 0, 0.4], high_m: [0.1, 0.1, 0.5]}
walls: [{kind: plane, point_m: [0, 0, 0], normal: [0, 0, 1]}]
YAML
rule pour.yaml
near "the step of poured balls" "$step" 6.45e-5 # their bounding spheres are up to 2% larger
warned 0.001
grep -q "iterations will be printed when all 10 grains are poured" err || fail "iterations of poured grains: $(cat err)"
"$BIN/talus-solve" pour.yaml -o pour.run --set solver.method=nonsmooth --set nonsmooth.young_Pa=1e7 >out 2>err || fail "poured: $(cat err)"
[ "$(grep -c 'rules ask' err)" = 2 ] && grep -q "and for [0-9]* iterations where all lie on each other" err ||
  fail "the iterations are not printed when all are poured: $(cat err)"
[ "$(grep -c 'is above' err)" = 1 ] || fail "not one warning of the step: $(cat err)"
plan pour.yaml --set solver.method=nonsmooth --set nonsmooth.young_Pa=1e7 --set release.rate_per_s=0
grep -q "and for [0-9]* iterations" err || fail "all are poured at once, and no iterations: $(cat err)"
exit $bad
