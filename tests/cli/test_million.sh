#!/usr/bin/env bash
# A small edition of config/million.yaml: what a run takes of memory grows with the grains and no faster, lies below
# what the plan says before it starts, and so does what it writes; by impulses and by penalty forces.
set -eu
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
export OMP_NUM_THREADS=2
fail() { echo "test_million: $*"; exit 1; }
for side in 0.125 0.275; do
  sed "s/high_m: \[2.78, 2.78,/high_m: [$side, $side,/; s/count: 1000000/count: 0/" config/million.yaml >"$folder/$side.yaml"
done
cd "$folder"
measured() { # arguments of talus-solve: peak bytes of the run on stdout
  /usr/bin/python3 - "$BIN/talus-solve" "$@" <<'PYTHON'
import resource
import subprocess
import sys

done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
if done.returncode:
    sys.exit(done.stderr)
if "contacts: 0\n" in done.stdout or "\nsteps: 100\n" not in done.stdout:
    sys.exit("no contacts, or not 100 steps: " + done.stdout)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
PYTHON
}
planned() { awk -v name="$1:" '$1 == name {print $2}' plan; }
for method in etm-level penalty; do
  arguments=(--overwrite --set "solver.method=$method")
  [ $method = etm-level ] || arguments+=(--set time.duration_s=2.0e-3)
  # 3 kB a body and 4 kB a contact point, of which a grain has one here at most, and what threads keep in hand: 8 to 9,
  # once 10.1, for how much of it lies free at the peak is chance; of three runs one must be within
  for _ in 1 2 3; do
    few=$(measured 0.125.yaml "${arguments[@]}" -o few)   # 1,944 grains
    many=$(measured 0.275.yaml "${arguments[@]}" -o many) # 9,600
    grain=$(((many - few) / 7656))
    if [ "$grain" -lt 10000 ]; then break; fi
  done
  [ "$grain" -gt 400 ] && [ "$grain" -lt 10000 ] || fail "$method: $grain bytes a grain ($few and $many)"
  "$BIN/talus-solve" -n -q 0.275.yaml "${arguments[@]}" -o many >plan
  grep -qx "grains: 9600" plan || fail "not the grains of the plan: $(cat plan)"
  [ "$many" -lt "$(planned memory_estimate)" ] || fail "$method: $many bytes of memory, said were $(planned memory_estimate)"
  [ "$many" -lt $(($(planned memory_estimate_loose) * 5 / 4)) ] ||
    fail "$method: $many bytes of memory, said were $(planned memory_estimate_loose) while grains fall"
  disk=$(du -sb many | cut -f1)
  [ "$disk" -lt "$(planned disk_estimate)" ] || fail "$method: $disk bytes on the disk, said were $(planned disk_estimate)"
  echo "test_million: $method: $grain bytes a grain, $many of $(planned memory_estimate_loose) planned, $disk on the disk of $(planned disk_estimate)"
done
