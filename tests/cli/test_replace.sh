#!/usr/bin/env bash
# Results in a folder stay as they are until a new run has passed every check and its first file is
# whole: no refused study changes a byte, and a kill at any moment of the replacement leaves the old
# run or the new one, never files of both. Files that no run writes are never touched.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export OMP_NUM_THREADS=1
"$TESTBIN/test_run" c.sqlite
fail() { echo "test_replace: $*"; exit 1; }
shim() { # VARIABLE=VALUE, command...: with the misbehaving disk
  local setting=$1; shift
  env "$setting" LD_PRELOAD="$TESTBIN/disk-shim.so" ASAN_OPTIONS="${ASAN_OPTIONS:-}:verify_asan_link_order=0" "$@"
}

cat >s.yaml <<'YAML'
catalog: c.sqlite
time: {dt_s: 5.0e-4, steps: 30, frame_every_s: 5.0e-3, history_every_s: 1.0e-3}
grains: {sample: sand}
release: {assembly: lattice, low_m: [0, 0, 0], high_m: [0.0066, 0.0066, 0.0099], velocity_m_s: [0.1, 0.05, -0.3]}
planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]
checkpoint: {every_steps: 9}
YAML
penalty=(--set solver.method=penalty --set penalty.normal_N_m=100 --set penalty.normal_Pa_m=1e8 --set penalty.dt_s=1e-5 --set time.steps= --set time.duration_s=2e-4)
solve() { "$BIN/talus-solve" -q "$@" >out 2>err; }
solve s.yaml -o old || fail "the first run: $(cat err)"
# what a user may keep beside it
echo "the run of Tuesday" >old/notes.txt
echo 1 >old/frame_7.h5
cp old/run.h5 old/run.h5.bak
mkdir old/figures
sums() { (cd "$1" && find . -type f -exec sha256sum {} + | sort -k2); }
sums old >before

# ---- refused studies
refused=0
refuse() { # text in the message, arguments
  local text=$1 got=0; shift
  "$BIN/talus-solve" "$@" --overwrite -o old >out 2>err || got=$?
  [ "$got" != 0 ] || fail "$*: is not refused"
  grep -qF -- "$text" err || fail "$*: '$text' is not in: $(cat err)"
  sums old >after
  cmp -s before after || fail "$*: changes the folder: $(diff before after)"
  refused=$((refused + 1))
}
set_refused() { local text=$1; shift; refuse "$text" s.yaml "$@"; }
set_refused "above the" "${penalty[@]}" --set penalty.dt_s=1e-3                   # a step too long
set_refused "above the" "${penalty[@]}" --set penalty.dt_s=1e-3 --set release.assembly=poured \
  --set release.count=4 --set release.rate_per_s=1                                  # of grains that come later
set_refused "give the stiffness of a point" "${penalty[@]}" --set penalty.normal_N_m= --set grains.as_spheres=yes
set_refused "time.dt_s" --set time.dt_s=
set_refused "time.dt_s" --set time.dt_s=-1
set_refused "nowhere" --set nowhere.key=1
set_refused "contact.friction" --set contact.friction=many
set_refused "gravel" --set grains.sample=gravel
set_refused "mountain" --set terrain.name=mountain
set_refused "release.high_m" --set release.high_m=0.001,0.001,0.001
set_refused "release.count" --set release.count=1000
set_refused "release.count" --set release.assembly=drawn --set release.count=500
set_refused "release.run" --set release.assembly=from-run --set release.run=nowhere
set_refused "solver" --set solver.increments=0
set_refused "damping" --set contact.damping_per_s=9000
set_refused "no-such" --catalog=no-such.sqlite
set_refused "grain_scale" --set terrain.name=slope --set grains.grain_scale=0.01
refuse "no-such.yaml" no-such.yaml
printf 'title: [unclosed\n' >broken.yaml
refuse "broken.yaml" broken.yaml
{ cat s.yaml; echo 'nets: [{corner_m: [0, 0, 0.02], along_m: [0.01, 0, 0], across_m: [0, 0.01, 0], spacing_m: 2.0e-3, radius_m: 3.0e-4, stiffness_N_m: 1.0e+6}]'; } >net.yaml
refuse "stiffness_N_m" net.yaml
{ cat s.yaml; echo 'walls: [{kind: box, size_m: [0.1, 0.1, 0.1], point_m: [0, 0, -0.2], table: absent.csv}]'; } >wall.yaml
refuse "absent.csv" wall.yaml
{ cat s.yaml; echo 'bodies: [{shape: ghost, position_m: [0, 0, 0.02]}]'; } >body.yaml
refuse "ghost" body.yaml
{ cat s.yaml; echo 'shapes: [{name: stone, kind: mesh, file: absent.stl, unit: mm}]'; } >mesh.yaml
refuse "absent.stl" mesh.yaml
# without --overwrite, and where a folder has the name of a frame
got=0; "$BIN/talus-solve" s.yaml -o old >out 2>err || got=$?
[ "$got" = 2 ] && grep -q "give --overwrite" err || fail "without --overwrite: $got, $(cat err)"
sums old >after; cmp -s before after || fail "without --overwrite the folder changes"
mkdir old/frame_000099.h5
got=0; "$BIN/talus-solve" s.yaml -o old --overwrite >out 2>err || got=$?
[ "$got" = 2 ] && grep -q "frame_000099.h5: is a folder" err || fail "a folder as a frame: $got, $(cat err)"
sums old >after; cmp -s before after || fail "a folder as a frame: the rest changes"
rmdir old/frame_000099.h5
# a new folder is not even made
"$BIN/talus-solve" s.yaml "${penalty[@]}" --set penalty.dt_s=1e-3 -o fresh >out 2>err && fail "is not refused"
[ ! -e fresh ] || fail "a refused study makes its folder"
# the penalty study itself is sound
solve s.yaml "${penalty[@]}" -o sound || fail "a step short enough is refused: $(cat err)"

# ---- killed while it replaces: after each removal and renaming in turn
other=(s.yaml --set grains.density_kg_m3=2000 --set time.steps=12 --overwrite)
solve "${other[@]}" -o new || fail "the other run: $(cat err)"
ours() { (cd "$1" && find . -maxdepth 1 \( -name '*.h5' -o -name '*.csv' -o -name '*.tck' -o -name study.yaml \) ! -name frame_7.h5 -printf '%f\n' | sort); }
users() { sums "$1" | grep -E 'notes.txt|frame_7.h5|run.h5.bak'; }
kills=0; kept=0; switched=0
for k in $(seq 1 60); do
  rm -rf work; cp -r old work
  got=0
  shim TALUS_SHIM_DIE_AT="$k" "$BIN/talus-solve" -q "${other[@]}" -o work >out 2>err || got=$?
  [ "$(users work)" = "$(users old)" ] || fail "killed at change $k: the user's own files change"
  [ -d work/figures ] || fail "killed at change $k: the user's folder is gone"
  if [ "$got" = 0 ]; then break; fi
  [ "$got" = 9 ] || fail "killed at change $k: exit $got: $(cat err)"
  kills=$((kills + 1))
  [ -s work/run.h5 ] || fail "killed at change $k: no run.h5"
  if cmp -s work/run.h5 old/run.h5; then # the old run: what is there is its own, frames 0, 1, ... without a gap
    kept=$((kept + 1))
    gone=0
    for f in $(cd old && ls frame_0*.h5); do
      if [ -e "work/$f" ]; then
        [ "$gone" = 0 ] || fail "killed at change $k: a frame before $f is gone"
        cmp -s "work/$f" "old/$f" || fail "killed at change $k: $f is not the old run's"
      else
        gone=1
      fi
    done
    [ "$gone" = 0 ] || [ -z "$(find work -name '*.tck')" ] || fail "killed at change $k: frames go before checkpoints"
  else # the new run: nothing of the old one is left
    switched=$((switched + 1))
    size=$(stat -c %s work/run.h5); want=$(stat -c %s new/run.h5) # they differ in the provenance's times
    [ "$(head -c 4 work/run.h5 | tail -c 3)" = HDF ] && [ "$size" -gt $((want - 300)) ] || fail "killed at change $k: run.h5 is not whole"
    for f in $(ours work); do
      if [ -e "old/$f" ] && cmp -s "old/$f" "new/$f"; then continue; fi # both runs write the same
      if [ -e "old/$f" ] && cmp -s "work/$f" "old/$f"; then fail "killed at change $k: $f is the old run's, run.h5 the new one's"; fi
    done
  fi
  solve "${other[@]}" -o work || fail "after the kill at change $k: $(cat err)"
  [ "$(ours work)" = "$(ours new)" ] || fail "after the kill at change $k: $(ours work)"
  [ -z "$(find work -name '*.tmp')" ] || fail "after the kill at change $k: half files stay"
done
[ "$got" = 0 ] && [ "$kept" -ge 8 ] && [ "$switched" -ge 4 ] || fail "$kills kills, $kept with the old run, $switched with the new one, then exit $got"
"$TESTBIN/test_resume" new work || fail "the run that replaced another differs from one in a new folder"

# a disk that has no room for the new run.h5 costs the old run nothing
rm -rf work; cp -r old work
got=0; (ulimit -f 4; trap '' XFSZ; "$BIN/talus-solve" -q "${other[@]}" -o work >out 2>err) || got=$?
[ "$got" = 1 ] || fail "a full disk: exit $got: $(cat err)"
sums work >after; cmp -s before after || fail "a full disk: the old run changes: $(diff before after)"
echo "test_replace: $refused studies refused, $kills kills: the old run $kept times, the new one $switched times"
