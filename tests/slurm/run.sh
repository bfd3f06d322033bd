#!/usr/bin/env bash
# make check-slurm: pipeline/slurm/talus-job.sh under a Slurm of one node that is started for it (cluster.sh): the
# guide's page on clusters as it is printed, signals, a time limit, a killed rank, errors. With BIN and TESTBIN set by
# make. Takes five minutes, most of them waiting for the time limit and for jobs that are queued again.
set -eu
BIN=$(realpath "$BIN"); TESTBIN=$(realpath "$TESTBIN")
repository=$PWD
folder=$(mktemp -d)
chmod 755 "$folder"
trap 'scancel --state=RUNNING --name=talus 2>/dev/null; "$repository/tests/slurm/cluster.sh" stop "$folder/slurm"; rm -rf "$folder"' EXIT
tests/slurm/cluster.sh start "$folder/slurm"
export SLURM_CONF=$folder/slurm/slurm.conf SLURM_MPI_TYPE=pmix PATH="$BIN:$PATH" OMP_NUM_THREADS=1 PIPELINES=$repository/pipeline
mkdir "$folder/work"
cd "$folder/work"
fail() { echo "check-slurm: $*"; tail -n 20 slurm-*.out 2>/dev/null; exit 1; }
job_script=$repository/pipeline/slurm/talus-job.sh
field() { scontrol show job "$1" | tr ' ' '\n' | sed -n "s/^$2=//p" | head -1; } # job, name
wait_until() { # seconds, what for, command...
  local seconds=$1 what=$2; shift 2
  for _ in $(seq $((seconds * 5))); do ! "$@" || return 0; sleep 0.2; done
  fail "$what: not within $seconds s"
}
ended() { case $(field "$1" JobState) in COMPLETED | FAILED | TIMEOUT | CANCELLED | NODE_FAIL) return 0 ;; *) return 1 ;; esac }
submit() { sbatch --parsable "$@"; }
completed() { # job, restarts, output: it came to its end, and the state is that of the whole run
  wait_until 240 "job $1 of $3" ended "$1"
  [ "$(field "$1" JobState)" = COMPLETED ] || fail "$3: $(field "$1" JobState)"
  [ "$(field "$1" Restarts)" = "$2" ] || fail "$3: $(field "$1" Restarts) restarts, not $2"
  grep -qxF "$hash" "slurm-$1.out" || fail "$3: another state than that of the whole run"
}
newest() { find "$1" -name 'checkpoint_*.tck' 2>/dev/null | sort | tail -1; }
newer() { [ -n "$(newest "$1")" ] && [ "$(newest "$1")" != "$2" ]; }

# the guide's page, as it is printed
cat >slope.yaml <<'YAML'
time: {dt_s: 1.0e-3, duration_s: 0.3, frame_every_s: 0.1}
shapes: [{name: pebble, kind: superellipsoid, size_m: [0.012, 0.010, 0.008], exponent_e: 0.8, exponent_n: 0.8, nodes: 100}]
grains: {shapes: [pebble]}
release: {assembly: lattice, low_m: [0, 0, 0.005], high_m: [0.06, 0.06, 0.06], count: 40}
planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]
YAML
ALSO="it needs Slurm" /usr/bin/python3 "$repository/tests/guide.py" "$repository/docs/guide" . cluster.md || fail "the guide's page"
[ "$(find sweep -name run.h5 | wc -l)" -ge 4 ] || fail "the array of the guide's page: $(find sweep)"
rm -rf -- *.run sweep slurm-*.out

# A gas that never comes to rest, so that its steps take as long to the end as in the beginning
sed 's/duration_s: 0.3, frame_every_s: 0.1/duration_s: 1000, frame_every_s: 1/; /^planes/d; s/count: 40/count: 40, velocity_m_s: [0.1, 0.2, -0.3]/' slope.yaml >long.yaml
cat >>long.yaml <<'YAML'
gravity_m_s2: [0, 0, 0]
contact: {friction: 0, restitution: 1, boundary_friction: 0, boundary_restitution: 1}
planes:
- {point_m: [0, 0, 0], normal: [0, 0, 1]}
- {point_m: [0, 0, 0.07], normal: [0, 0, -1]}
- {point_m: [-0.01, 0, 0], normal: [1, 0, 0]}
- {point_m: [0.07, 0, 0], normal: [-1, 0, 0]}
- {point_m: [0, -0.01, 0], normal: [0, 1, 0]}
- {point_m: [0, 0.07, 0], normal: [0, -1, 0]}
YAML
steps_a_second() { # of a short run
  talus-solve long.yaml -o pace --overwrite --set time.duration_s=4 2>/dev/null >pace.out
  awk -F'[: ]+' '/^wall:/ {print int(4000 / $2)}' pace.out
}
pace=$(steps_a_second)
size() { awk -v n="$pace" -v s="$1" 'BEGIN {printf "%.3f", s * n / 1000}'; } # time.duration_s of a run of so many seconds
whole() { talus-solve long.yaml -o whole --overwrite --set "time.duration_s=$1" >whole.out 2>err || fail "$(cat err)"; hash=$(grep ^state_hash: whole.out); }

# SIGUSR1 saves and goes on; SIGUSR2 ends the run, and the job resumes by itself; a killed rank likewise
short=$(size 20) # seconds, about; twice as many on two ranks of one machine
whole "$short"
job=$(submit --ntasks=2 --oversubscribe --time=10 "$job_script" long.yaml "$PWD/cut" --set "time.duration_s=$short")
wait_until 60 "the first frame" test -e cut/frame_000001.h5
was=$(newest cut)
scancel --signal=USR1 "$job"
wait_until 30 "a checkpoint after SIGUSR1" newer cut "$was"
frames=$(find cut -name 'frame_*' | wc -l)
wait_until 60 "frames after SIGUSR1" test -e "cut/$(printf 'frame_%06d.h5' $((frames + 1)))"
[ "$(field "$job" Restarts)" = 0 ] || fail "SIGUSR1 ended the run"
scancel --signal=USR2 "$job"
wait_until 60 "queued again" grep -q "the job is queued again" "slurm-$job.out"
wait_until 120 "resumed" grep -q "resuming from $PWD/cut/checkpoint_" "slurm-$job.out"
a_rank="^([^ ]*/)?talus-solve --resume $PWD/cut"
wait_until 60 "a rank" pgrep -f "$a_rank" >/dev/null
was=$(newest cut)
scancel --signal=USR1 "$job"
wait_until 30 "a checkpoint of the resumed run" newer cut "$was"
kill -9 "$(pgrep -f "$a_rank" | head -1)"
completed "$job" 2 "two stops"
echo "check-slurm: SIGUSR1, SIGUSR2 and a killed rank: resumed twice to the bits of the whole run"

# the time limit of a minute, with the signal some time before it
long=$(size 100)
whole "$long"
while wall=$(awk '/^wall:/ {print int($2)}' whole.out) && [ "$wall" -lt 90 ]; do # the machine was busy while the pace was taken
  long=$(awk -v d="$long" -v w="$wall" 'BEGIN {printf "%.3f", d * 110 / (w + 1)}')
  talus-solve --resume whole --set "time.duration_s=$long" >whole.out 2>err || fail "$(cat err)"
  hash=$(grep ^state_hash: whole.out)
done
job=$(submit --ntasks=1 --time=1 --signal=USR2@10 "$job_script" long.yaml limit --set "time.duration_s=$long")
wait_until 400 "the time limit" ended "$job"
[ "$(field "$job" Restarts)" -ge 1 ] || fail "the run ended before its time limit"
completed "$job" "$(field "$job" Restarts)" "a time limit"
echo "check-slurm: a time limit of a minute: resumed $(field "$job" Restarts) times to the bits of the whole run"

# errors end a job: a key that does not exist, a case that is not there
job=$(submit --time=1 "$job_script" long.yaml wrong --set time.nonsense=1)
wait_until 60 "a wrong key" ended "$job"
[ "$(field "$job" JobState)" = FAILED ] && [ "$(field "$job" Restarts)" = 0 ] || fail "a wrong key: $(field "$job" JobState)"
grep -q "nothing new was saved in wrong" "slurm-$job.out" || fail "a wrong key"
echo "one --set seed=1" >cases.txt
job=$(submit --array=2 --time=1 "$job_script" long.yaml sweep cases.txt)
wait_until 60 "a missing case" ended "$job"
grep -q "cases.txt: has no line 2; --array goes from 1" "slurm-${job}_2.out" || fail "a missing case"
echo "check-slurm: all good"
