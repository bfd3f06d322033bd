#!/bin/bash
# A job of Slurm that runs a study and resumes it until it is done:
#   sbatch [OPTION...] talus-job.sh STUDY.yaml FOLDER [ARGUMENT...]
# or, as an array, a study with other keys or seeds in each task:
#   sbatch --array=1-N [OPTION...] talus-job.sh STUDY.yaml FOLDER CASES.txt [ARGUMENT...]
# FOLDER takes the results; ARGUMENTs are talus-solve's. A line of CASES.txt is one case: the name of its folder
# within FOLDER, then its own arguments, parted by blanks, such as
#   friction-0.3 --set contact.friction=0.3
#
# Before the time limit, and on scancel --signal=USR2, talus-solve saves its state and ends. The job is then queued
# again, and resumes from there. So it does when a rank is killed or a node fails. A job that ends with an error and
# has saved nothing new since it started is not queued again. scancel --signal=USR1 saves the state; the run continues.
# One file for both kinds of job, since Slurm runs a copy of it, which finds no other file beside it.
#SBATCH --job-name=talus
#SBATCH --signal=USR2@120
#SBATCH --requeue
#SBATCH --open-mode=append
set -u
fail() { echo "talus-job.sh: $*" >&2; exit 2; }
[ $# -ge 2 ] || fail "sbatch talus-job.sh STUDY.yaml FOLDER [ARGUMENT...]"
study=$1 folder=$2
shift 2
arguments=()
if [ -n "${SLURM_ARRAY_TASK_ID:-}" ]; then
  [ $# -ge 1 ] || fail "an array wants a file of cases: talus-job.sh STUDY.yaml FOLDER CASES.txt"
  cases=$1
  shift
  [ -r "$cases" ] || fail "$cases: cannot read this file of cases"
  read -r -a arguments < <(sed -n "${SLURM_ARRAY_TASK_ID}p" "$cases")
  [ "${#arguments[@]}" -gt 0 ] || fail "$cases: has no line $SLURM_ARRAY_TASK_ID; --array goes from 1 to its number of lines"
  folder=$folder/${arguments[0]}
  arguments=("${arguments[@]:1}")
  mkdir -p "$(dirname "$folder")" || exit 1
fi
newest() { find "$folder" -maxdepth 1 -name 'checkpoint_*.tck' 2>/dev/null | sort | tail -n 1; }

export OMP_NUM_THREADS=${SLURM_CPUS_PER_TASK:-1} SRUN_CPUS_PER_TASK=${SLURM_CPUS_PER_TASK:-1}
before=$(newest)
if [ -n "$before" ]; then
  srun talus-solve --resume "$folder" "${arguments[@]}" "$@"
elif [ "${SLURM_RESTART_COUNT:-0}" -gt 0 ]; then # killed before it saved anything
  srun talus-solve "$study" -o "$folder" --overwrite "${arguments[@]}" "$@"
else
  srun talus-solve "$study" -o "$folder" "${arguments[@]}" "$@"
fi
code=$?
[ "$code" != 0 ] || exit 0
after=$(newest)
if [ "$after" = "$before" ]; then
  echo "talus-job.sh: exit status $code, and nothing new was saved in $folder; the job ends" >&2
  exit "$code"
fi
echo "talus-job.sh: exit status $code; $after is there, so the job is queued again" >&2
scontrol requeue "$SLURM_JOB_ID" || fail "cannot queue the job again; submit it once more, and it resumes"
sleep 60 # Slurm ends this script
exit "$code"
