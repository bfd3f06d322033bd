#!/usr/bin/env bash
# make check-survive: runs that are killed with SIGKILL again and again, one rank or all ranks at a random moment,
# and resumed on another number of ranks, end in the bits of a run that nobody disturbed. When a rank is killed all
# ranks leave. A run of very many steps keeps its memory, its open files and the files of its folder.
# With BIN and TESTBIN set by make. SCENES="impulses penalty nonsmooth avalanche": which; KILLS=50 of each of the
# first three; STEPS=200000 of the avalanche; SEED= that of an earlier round. tests/cli/test_survive.sh runs a small part.
set -eu
kills=${KILLS:-50} steps=${STEPS:-200000} seed=${SEED:-$$} scenes=${SCENES:-impulses penalty nonsmooth avalanche}
limit=${LIMIT:-300} # seconds after which a run counts as hanging, and ranks as staying
BIN=$(realpath "$BIN"); TESTBIN=$(realpath "$TESTBIN")
export OMP_NUM_THREADS=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_ess_singleton_isolated=1 OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader
folder=$(mktemp -d)
trap 'for pid in $(ranks "$folder"); do kill -9 "$pid"; done 2>/dev/null; rm -rf "$folder"' EXIT
cd "$folder"
RANDOM=$seed
scene=
exec 4>&2 # the shell itself says "Killed" of each job that was
fail() { echo "check-survive: $scene (seed $seed): $*" >&4; exit 1; }

# ---- scenes: over 100 bodies each, islands across ranks ----

# By impulses: grains fall on a net of bonded spheres and beside it. Over 256 of them are one island in the end, which
# several ranks solve together.
impulses_study() {
  cat <<'YAML'
time: {dt_s: 5.0e-4, steps: 600, frame_every_s: 0.05, history_every_s: 1.0e-2}
shapes: [{name: pebble, kind: superellipsoid, size_m: [1.2e-2, 1.0e-2, 8.0e-3], exponent_e: 0.8, exponent_n: 0.8, spacing_m: 1.0e-3, nodes: 100}]
grains: {shapes: [pebble]}
release: {assembly: lattice, low_m: [0, 0, 0.03], high_m: [0.18, 0.06, 0.2], count: 330, velocity_m_s: [0.1, 0, -0.4]}
nets: [{corner_m: [0.06, 0.005, 0.02], along_m: [0.06, 0, 0], across_m: [0, 0.05, 0], spacing_m: 0.008, radius_m: 0.002, stiffness_N_m: 50, mass_kg: 1.0e-2, damping: 0.2, stretch_most: 5}]
planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]
checkpoint: {every_steps: 40}
parallel: {balance_every_steps: 29, imbalance: 1}
YAML
}

# By penalty forces: a triaxial cell, with its membrane of bonded spheres and a platen on a slider.
penalty_study() {
  cat <<'YAML'
time: {dt_s: 2.5e-5, duration_s: 1, frame_every_s: 2.0e-2, history_every_s: 5.0e-4}
gravity_m_s2: [0, 0, 0]
shapes: [{name: ball, diameter_m: 8.0e-3}]
solver: {method: penalty}
penalty: {spread: deepest, normal_N_m: 1.0e+4}
contact: {friction: 0.5, restitution: 0.1, boundary_friction: 0.2, damping_per_s: 50}
checkpoint: {every_steps: 60}
parallel: {balance_every_steps: 97, imbalance: 1}
triaxial:
  radius_m: 0.0245
  height_m: 0.041
  tilts: yes
  membrane: {radius_m: 0.004, stiffness_N_m: 400, tangential_stiffness_N_m: 50, damping: 0.3}
  stages:
  - {kind: consolidate, pressure_Pa: 2.0e+4, ramp_s: 1.2e-2, damping_per_s: 400, until_unbalanced: 1.0e-3, until_kinetic_share: 1.0e-3, most_s: 0.06, friction: 0.2}
  - {kind: shear, rate_per_s: 1, until_strain: 6.0e-3}
  - {kind: hold, least_s: 1.0e-3}
bodies:
YAML
  for x in -16.2 -8.1 0 8.1 16.2; do
    for y in -16.2 -8.1 0 8.1 16.2; do
      [ "${x#-}" = 16.2 ] && [ "${y#-}" = 16.2 ] ||
        echo "- {shape: ball, position_m: [${x}e-3, ${y}e-3, 0.0041], count: 5, step_m: [0, 0, 0.0081]}"
    done
  done
}

# By the nonsmooth method: balls and stones on a belt, a gate on a hinge with limits, a weld, a motor.
nonsmooth_study() {
  cat <<'YAML'
time: {dt_s: 1.0e-3, steps: 1000, frame_every_s: 0.1, history_every_s: 0.01, boundary_forces: true}
shapes:
- {name: ball, diameter_m: 0.04}
- {name: stone, kind: box, size_m: [0.04, 0.03, 0.03]}
- {name: plate, kind: box, size_m: [0.01, 0.19, 0.16]}
- {name: paddle, kind: box, size_m: [0.1, 0.15, 0.01]}
bodies:
- {name: gate, shape: plate, position_m: [0.5, 0, 0.09]}
- {name: weight, shape: plate, position_m: [0.5, 0, 0.26]}
- {name: paddle, shape: paddle, position_m: [-0.1, 0, 0.3]}
- {shape: ball, position_m: [-0.8, -0.06, 0.022], count: 26, step_m: [0.045, 0, 0]}
- {shape: ball, position_m: [-0.8, 0.06, 0.022], count: 26, step_m: [0.045, 0, 0]}
- {shape: ball, position_m: [-0.78, -0.05, 0.07], count: 25, step_m: [0.045, 0, 0]}
- {shape: stone, position_m: [-0.78, 0.04, 0.07], count: 24, step_m: [0.045, 0, 0]}
joints:
- {kind: hinge, body: gate, point_m: [0.5, 0, 0.17], axis: [0, 1, 0], least_deg: -100, most_deg: 0}
- {kind: weld, body: gate, other: weight, point_m: [0.5, 0, 0.18]}
- {kind: hinge, body: paddle, point_m: [-0.1, 0, 0.3], axis: [0, 1, 0], motor_rad_s: 4, motor_most_N_m: 5}
walls:
- {kind: plane, point_m: [0, 0, 0], normal: [0, 0, 1], velocity_m_s: [0.5, 0, 0]}
- {kind: plane, point_m: [0, -0.1, 0], normal: [0, 1, 0]}
- {kind: plane, point_m: [0, 0.1, 0], normal: [0, -1, 0]}
solver: {method: nonsmooth}
nonsmooth: {young_Pa: 1.0e+7, poisson: 0.25}
checkpoint: {every_steps: 35}
YAML
}

# ---- runs ----

# Processes of a run into this folder: ranks, not mpirun, and not the helpers that read foreign files.
ranks() { pgrep -f "^$BIN/talus-solve .*$1" || true; } # folder
start() { # ranks, arguments of talus-solve: in the background, in $job
  local count=$1; shift
  if [ "$count" = 1 ]; then
    "$BIN/talus-solve" "$@" >out 2>err &
  else
    "$BIN/talus-mpirun" -n "$count" "$BIN/talus-solve" "$@" >out 2>err &
  fi
  job=$!
}
finish() { # what; $code becomes the exit status
  finish_quietly "$1" 2>/dev/null
}
finish_quietly() {
  local waited=0
  while kill -0 "$job" 2>/dev/null; do
    [ "$waited" -lt $((limit * 10)) ] || fail "$1: still there after $limit s: $(cat err)"
    sleep 0.1; waited=$((waited + 1))
  done
  code=0; wait "$job" || code=$?
  for _ in $(seq $((limit * 10))); do
    [ -n "$(ranks "$folder")" ] || return 0
    sleep 0.1
  done
  fail "$1: ranks stay when the others are gone: $(ranks "$folder")"
}
same() { # whole, other: the bits of frames, tables and state
  local table
  grep -qxF "$hash" out || fail "another state: $(grep ^state_hash: out), not $hash"
  "$TESTBIN/test_resume" "$1" "$2" 11 || fail "other results" # columns that do not say how islands lie on ranks
  for table in triaxial constraint boundary; do
    [ ! -e "$1/$table.csv" ] || cmp "$1/$table.csv" "$2/$table.csv" || fail "another $table.csv"
  done
  [ -z "$(find "$2" -name '*.tmp')" ] || fail "half files are left: $(ls "$2")"
  [ "$(find "$2" -name '*.tck' | wc -l)" = 2 ] || fail "not two checkpoints are kept: $(ls "$2")"
}

largest_island() { # folder: bodies
  awk -F, 'NR == 1 {for (i = 1; i <= NF; i++) if ($i == "largest_island") c = i} NR > 1 && $c > most {most = $c}
    END {print most + 0}' "$1/history.csv"
}

# One chain of kills after the other until there were enough of them; the last one is let go to its end.
survive() { # most ranks
  local most=$1 killed=0 ended=0 first took n one=0 all=0 pids pid counts='' last=0
  "${scene}_study" >"$scene.yaml"
  first=$(date +%s%N)
  start 1 "$folder/$scene.yaml" -o "$folder/whole"; finish "the run that nobody disturbs"
  [ "$code" = 0 ] || fail "the run that nobody disturbs: exit $code: $(cat err)"
  took=$((($(date +%s%N) - first) / 1000000)) # ms
  hash=$(grep ^state_hash: out)
  [ "$scene" != impulses ] || [ "$(largest_island whole)" -gt 256 ] || fail "no island is large enough for several ranks"
  while [ "$killed" -lt "$kills" ] || [ "$ended" = 0 ]; do
    ended=0
    n=$((RANDOM % most + 1))
    [ "$n" != "$last" ] || n=$((n % most + 1))
    last=$n
    if [ -n "$(find cut -name '*.tck' 2>/dev/null)" ]; then
      start $n --resume "$folder/cut"
    else
      start $n "$folder/$scene.yaml" --overwrite -o "$folder/cut"
    fi
    if [ "$killed" -lt "$kills" ]; then
      sleep "$(awk -v r="$RANDOM" -v t="$took" 'BEGIN {print 0.15 + r / 32768 * t / 1000 * 0.5}')"
      mapfile -t pids < <(ranks "$folder/cut")
      if [ "${#pids[@]}" -gt 0 ]; then
        killed=$((killed + 1)); counts="$counts $n"
        if [ $((RANDOM % 2)) = 0 ]; then
          one=$((one + 1)); pids=("${pids[RANDOM % ${#pids[@]}]}")
        else
          all=$((all + 1))
        fi
        for pid in "${pids[@]}"; do kill -9 "$pid" 2>/dev/null || true; done
        finish "killed ${pids[*]} of $n ranks"
        [ "$code" != 0 ] || grep -qF "$hash" out || fail "a rank is killed and the exit status is 0: $(cat err)"
        [ "$code" = 0 ] || continue
      fi
    fi
    finish "a resumed run on $n ranks"
    [ "$code" = 0 ] || fail "a resumed run on $n ranks: exit $code: $(cat err)"
    same "$folder/whole" "$folder/cut"
    ended=1
    rm -r cut
  done
  echo "$scene: $killed kills, $one of one rank, $all of all, on ranks$counts: all ends are the bits of the whole run"
  rm -r whole
}

# ---- many steps ----

held() { # process: resident memory kB, open files, and files of the run's folder
  echo "$(awk '/^VmRSS/ {print $2}' "/proc/$1/status")" "$(find "/proc/$1/fd" -type l | wc -l)" "$(find long -type f | wc -l)"
}
history_step() { tail -n 1 long/history.csv 2>/dev/null | cut -d, -f2; }

# Looked at when a tenth of the steps is done, and from then on.
avalanche() {
  local at=0 early='' now most_kB=0 most_files=0 most_open=0 looks=0 pid
  "$TESTBIN/test_run" c.sqlite # makes the catalog
  cat >long.yaml <<YAML
catalog: c.sqlite
time: {dt_s: 2.0e-4, steps: $steps, frame_every_s: 0, history_every_s: $(awk -v n="$steps" 'BEGIN {print 2e-4 * n / 200}')}
grains: {sample: sand}
release: {assembly: lattice, low_m: [0.02, 0.02, 0], high_m: [0.03, 0.03, 0], layers: 2, velocity_m_s: [0.2, 0, 0]}
terrain: {name: slope}
planes: [{point_m: [0.1, 0, 0], normal: [-1, 0, 0]}, {point_m: [0, 0.012, 0], normal: [0, 1, 0]}, {point_m: [0, 0.04, 0], normal: [0, -1, 0]}]
contact: {friction: 0.3, boundary_friction: 0.2}
checkpoint: {every_steps: $((steps / 97))}
YAML
  start 1 "$folder/long.yaml" -o "$folder/long"
  pid=$job
  while kill -0 "$pid" 2>/dev/null; do
    at=$(history_step || true)
    if [[ "$at" =~ ^[0-9]+$ ]] && [ "$at" -ge $((steps / 10)) ] && now=$(held "$pid") && [ "${now%% *}" -gt 0 ]; then
      read -r kB open files <<<"$now"
      [ -n "$early" ] || early=$kB
      looks=$((looks + 1))
      most_kB=$((kB > most_kB ? kB : most_kB))
      most_open=$((open > most_open ? open : most_open))
      most_files=$((files > most_files ? files : most_files))
    fi
    sleep 0.2
  done 2>/dev/null
  code=0; wait "$pid" || code=$?
  [ "$code" = 0 ] || fail "exit $code: $(cat err)"
  [ "$looks" -ge 5 ] || fail "the run was over after $looks looks at it; more STEPS are wanted"
  # the allocator's own reserve comes and goes by some MB
  [ "$most_kB" -le $((early + early / 10 + 4096)) ] || fail "memory grows: $early kB after a tenth of the steps, then $most_kB kB"
  [ "$most_files" -le 14 ] || fail "$most_files files in the folder: $(ls long)"
  [ "$most_open" -le 40 ] || fail "$most_open open files"
  [ "$(find long -name '*.tck' | wc -l)" = 2 ] || fail "not two checkpoints are kept"
  echo "avalanche: $steps steps, $looks looks: $early kB after a tenth of them, at most $most_kB kB, $most_files files, $most_open open"
}

for scene in $scenes; do
  case $scene in
  impulses | penalty | nonsmooth) survive 3 ;;
  avalanche) avalanche ;;
  *) fail "no such scene" ;;
  esac
done
