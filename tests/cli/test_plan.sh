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
exit $bad
