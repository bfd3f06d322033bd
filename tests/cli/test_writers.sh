#!/usr/bin/env bash
# Frames and checkpoints that several ranks write: the same bytes as one rank's, whole or absent where a rank cannot
# write (with a message that names file and reason, soon), readable by others, and resumed on any number of ranks.
set -eu
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
cd "$folder"
export OMP_NUM_THREADS=1
fail() { echo "test_writers: $*"; exit 1; }
# some 16,000 spheres: four blocks of a frame, sixteen of a checkpoint
cat >s.yaml <<'YAML'
time: {dt_s: 1.0e-4, steps: 6, frame_every_s: 2.0e-4}
free_fall: yes
checkpoint: {every_steps: 2, keep: 2}
frames: {contacts: true}
shapes: [{name: ball, diameter_m: 2.0e-3}]
grains: {shapes: [ball]}
release: {assembly: lattice, low_m: [0, 0, 0], high_m: [0.055, 0.055, 0.055], spacing: 1.05, velocity_m_s: [0, 0, -1]}
YAML
run() { # ranks, arguments of talus-solve: its exit status
  local status=0
  timeout 60 "$BIN/talus-mpirun" -n "$1" "$BIN/talus-solve" --no-progress "${@:2}" >out 2>err || status=$?
  return $status
}
same_frames() { # folders
  for k in 0 1 2 3; do cmp "$1/frame_00000$k.h5" "$2/frame_00000$k.h5" || fail "frame $k of $2 is not that of $1"; done
}
run 1 s.yaml -o one || fail "one rank: $(cat err)"
state=$(grep ^state_hash: out)
run 3 s.yaml -o three --audit=three.csv || fail "three ranks: $(cat err)"
[ "$state" = "$(grep ^state_hash: out)" ] || fail "another state on three ranks"
same_frames one three
# no rank receives what a gather would bring it: each a third of the bytes that are received in all, and a little more
awk -F, 'NR == 1 {for (i = 1; i <= NF; i++) if ($i == "received_bytes") c = i}
  $2 == "output" {got[$1] = $c; sum += $c}
  END {for (r in got) if (got[r] < 0.2 * sum || got[r] > 0.45 * sum) {print "rank", r, "receives", got[r], "of", sum; exit 1}}' three.csv ||
  fail "the output is not shared"
"$BIN/talus-measure" three -o measured --overwrite -q >out 2>err || fail "talus-measure: $(cat err)"
/usr/bin/python3 - one three <<'PYTHON' || fail "h5py"
import sys

import h5py
import numpy as np

for run in sys.argv[1:]:
    with h5py.File(f"{run}/frame_000003.h5", "r") as frame:
        ids = frame["id"][...]
        assert len(ids) > 12288 and (np.diff(ids) > 0).all() and frame["id"].chunks == (4096,)
        assert frame["position_m"].shape == (len(ids), 3) and np.isfinite(frame["position_m"][...]).all()
        assert "first" in frame["contact"]
PYTHON

# solver.deterministic: no is told by the summary and by whoever reads the run
run 2 s.yaml -o no --set solver.deterministic=no --set time.steps=1 || fail "deterministic: no: $(cat err)"
grep -qx "repeatable_over_ranks: no" out || fail "the summary does not say what depends on ranks: $(cat out)"
"$BIN/talus-report" no -o no.html -q 2>err || fail "talus-report: $(cat err)"
grep -q "solver.deterministic: no. On another number of ranks it has other results" no.html || fail "the report does not say it"
if grep -q repeatable <(run 2 s.yaml -o yes --set time.steps=1; cat out); then fail "a run that is repeatable says it is not"; fi

# from the checkpoint of step 4 on another number of ranks
for ranks in 1 2 4; do
  rm -rf again; cp -r three again
  rm again/checkpoint_000000000006.tck
  run $ranks --resume again || fail "resumed on $ranks ranks: $(cat err)"
  [ "$state" = "$(grep ^state_hash: out)" ] || fail "another state when resumed on $ranks ranks"
  same_frames one again
done

# ranks verify a checkpoint together: a bit that is flipped in the part of any of them is seen
for sixth in 1 3 5; do
  rm -rf again; cp -r three again
  newest=again/checkpoint_000000000006.tck
  at=$(($(stat -c %s $newest) * sixth / 6))
  byte=$(od -An -tu1 -j $at -N 1 $newest)
  printf "\\x$(printf %x $((byte ^ 16)))" | dd of=$newest bs=1 seek=$at conv=notrunc status=none
  run 3 --resume again || fail "sixth $sixth is damaged: $(cat err)"
  grep -q "warning: $newest: damaged: section '.*' does not match its digest; it is skipped" err || fail "sixth $sixth: $(cat err)"
  grep -q "resuming from again/checkpoint_000000000004.tck" err || fail "sixth $sixth: $(cat err)"
  [ "$state" = "$(grep ^state_hash: out)" ] || fail "another state after sixth $sixth was damaged"
done

# one rank's disk is full, or does not have the folder: all end, soon, with a message that names rank, file and reason
[ "${TALUS_SANITIZED:-0}" = 0 ] || exit 0
cat >refuse.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int refuses(const char *what) {
  const char *rank = getenv("OMPI_COMM_WORLD_RANK"), *bad = getenv("BAD_RANK");
  return rank && bad && strcmp(rank, bad) == 0 && strcmp(getenv("REFUSE"), what) == 0;
}
int open(const char *path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  int mode = va_arg(list, int);
  va_end(list);
  if (refuses("open") && strstr(path, ".tmp")) return errno = ENOENT, -1;
  return ((int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open"))(path, flags, mode);
}
ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at) {
  if (refuses("write")) return errno = ENOSPC, -1;
  return ((ssize_t(*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, "pwrite"))(fd, bytes, size, at);
}
C
cc -shared -fPIC -o refuse.so refuse.c -ldl
for rank in 0 1 2; do
  for refuse in open write; do
    [ "$rank$refuse" != 0open ] || continue # it has no other's file to open
    rm -rf full
    if BAD_RANK=$rank REFUSE=$refuse LD_PRELOAD=$folder/refuse.so run 3 s.yaml -o full; then fail "rank $rank cannot $refuse, and the run ends well"; fi
    case $rank$refuse in
    0write) words="full/run.h5: cannot write: No space left on device" ;;
    *write) words="rank $rank: full/frame_000000.h5: cannot write: No space left on device" ;;
    *) words="rank $rank: full/frame_000000.h5: cannot open to write a part of it: No such file or directory; every rank" ;;
    esac
    grep -qF "$words" err || fail "rank $rank cannot $refuse: $(cat err)"
    [ ! -e full/frame_000000.h5 ] && [ -z "$(ls full/*.tmp 2>/dev/null)" ] || fail "rank $rank cannot $refuse, and leaves $(ls full)"
  done
done
# at a checkpoint it is a warning, and the frames before are whole
for rank in 1 2; do
  rm -rf full
  if BAD_RANK=$rank REFUSE=write LD_PRELOAD=$folder/refuse.so run 3 s.yaml -o full --set time.frame_every_s=0 \
    --set release.high_m='[0.035, 0.035, 0.035]'; then fail "a missing checkpoint is no failure"; fi
  grep -qF "rank $rank: full/checkpoint_000000000000.tck: cannot write: No space left on device" err || fail "no warning: $(cat err)"
  [ -z "$(ls full/*.tck full/*.tmp 2>/dev/null)" ] && [ -e full/frame_000001.h5 ] || fail "left after checkpoints: $(ls full)"
done
