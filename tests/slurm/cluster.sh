#!/usr/bin/env bash
# A Slurm of one node on this machine, for tests/slurm/run.sh: cluster.sh start|stop FOLDER. Everything it makes is
# in FOLDER, which start fills: keys, state, logs, and slurm.conf for SLURM_CONF. It has ports and sockets of its own,
# so a Slurm that is here already is left alone. Needs root, since slurmd starts jobs as other users.
set -eu
what=$1 folder=$(realpath -m "$2")
need() { command -v "$1" >/dev/null || { echo "cluster.sh: $1 is missing (Debian: munge slurm-wlm)" >&2; exit 1; }; }
start() {
  local tool cpus host port
  for tool in munged slurmctld slurmd sbatch srun scontrol; do need $tool; done
  [ "$(id -u)" = 0 ] || { echo "cluster.sh: root is needed to start slurmd" >&2; exit 1; }
  host=$(hostname -s) cpus=$(nproc --all) port=$((20000 + RANDOM % 20000))
  mkdir -p "$folder"/{state,spool,munge}
  chmod 755 "$folder" "$folder/munge"
  head -c 128 /dev/urandom >"$folder/munge.key"; chmod 600 "$folder/munge.key"
  munged --force --key-file="$folder/munge.key" --socket="$folder/munge/socket" --pid-file="$folder/munge/pid" \
    --log-file="$folder/munge.log" --seed-file="$folder/munge.seed"
  cat >"$folder/slurm.conf" <<CONF
ClusterName=talus
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket,cred_expire=10
CredType=cred/munge
SlurmctldPort=$port
SlurmdPort=$((port + 1))
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
SchedulerParameters=sched_interval=2,batch_sched_delay=1
OverTimeLimit=0
KillWait=30
NodeName=$host NodeAddr=127.0.0.1 CPUs=$cpus State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE OverSubscribe=FORCE:8 State=UP
CONF
  export SLURM_CONF=$folder/slurm.conf
  slurmctld -i
  slurmd
  for _ in $(seq 300); do
    [ "$(sinfo -h -o %T 2>/dev/null)" = idle ] && return 0
    sleep 0.1
  done
  echo "cluster.sh: the node does not become idle: $(sinfo 2>&1); $(tail -n 3 "$folder"/slurm*.log)" >&2
  exit 1
}
stop() {
  local file pid
  for file in slurmd.pid slurmctld.pid munge/pid; do
    [ -s "$folder/$file" ] || continue
    pid=$(cat "$folder/$file")
    kill "$pid" 2>/dev/null || continue
    for _ in $(seq 100); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
  done
}
case $what in
start) start ;;
stop) stop ;;
*) echo "cluster.sh: start or stop" >&2; exit 2 ;;
esac
