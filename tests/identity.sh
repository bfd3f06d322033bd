#!/usr/bin/env bash
# Does a change of the program leave the physics alone, bit for bit?
#
#   tests/identity.sh OLD NEW [CASE...]
#
# OLD and NEW are two checkouts, each with its tools built (make tools). Both programs run short
# editions (at most 200 steps) of the study files of OLD, on 1 and on 2 ranks, and every frame
# (position, rotation, velocity and spin of each body, byte for byte) and every line of history.csv
# and triaxial.csv (each column by its name, but CPU times) must be the same. The hash of the bodies is
# not compared: it mixes in the layout of records, so it changes whenever a record does.
#
# tests/identity/cases lists the cases: name, study, ranks, steps and the keys set for it. Columns that
# NEW calls otherwise stand in tests/identity/columns, cases that may differ, each with its bound and the
# reason, in tests/identity/exceptions. The products lie in build/identity (OUT=...).
# Exit status 0: the same everywhere; 1: a difference (printed); 2: something could not run.
set -u
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 2 ] || { sed -n '2,/^set/p' "$0" | sed '$d; s/^# \{0,1\}//' >&2; exit 2; }
old=$(realpath "$1"); new=$(realpath "$2"); shift 2
out=${OUT:-$here/../build/identity}
mkdir -p "$out"; out=$(realpath "$out")
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
for tree in "$old" "$new"; do
  [ -x "$tree/build/bin/talus-solve" ] || { echo "identity: $tree has no build/bin/talus-solve; run make tools there" >&2; exit 2; }
done

# Grains and a valley for the studies that want a catalog, made once by OLD from labels that are true.
catalog=$out/catalog.tals
if [ ! -f "$catalog" ]; then
  echo "identity: making the catalog" >&2
  (cd "$out" && bin=$old/build/bin &&
    "$bin/talus-phantom" --seed=3 --size=88,88,88 --d50-voxels=20 -o grey.tif --labels=labels.tif --overwrite &&
    "$bin/talus-avatars" labels.tif --grey=grey.tif --voxel-size-um=12.5 --catalog=new.tals --sample=grains --with-border --overwrite &&
    "$bin/talus-phantom" --terrain --seed=1 -o valley.asc --overwrite &&
    "$bin/talus-topo" valley.asc --catalog=new.tals --name=slope --overwrite &&
    mv new.tals catalog.tals) >"$out/catalog.log" 2>&1 || { tail -5 "$out/catalog.log" >&2; exit 2; }
fi

solve() { # side, tree, case, study, ranks, steps, sets
  local side=$1 tree=$2 name=$3 study=$4 ranks=$5 steps=$6 sets=$7 key args=()
  local folder=$out/$name/$side
  sets=${sets//@OUT/$out}; sets=${sets//@SIDE/$side}
  for key in $sets; do
    if [ "$key" = catalog ]; then args+=(--catalog="$catalog"); else args+=(--set "$key"); fi
  done
  rm -rf "$folder"; mkdir -p "$out/$name"
  OMP_NUM_THREADS=1 timeout 600 "$tree/build/bin/talus-mpirun" -n "$ranks" "$tree/build/bin/talus-solve" "$old/$study" \
    -o "$folder" --set time.duration_s= --set "time.steps=$steps" --set time.history_every_s=0 "${args[@]}" --no-progress >"$folder.log" 2>&1 </dev/null
}

status=0 compared=0
while IFS='|' read -r name study ranks steps sets; do
  name=${name// /}; study=${study// /}; ranks=${ranks// /}; steps=${steps// /}
  case $name in '' | '#'*) continue ;; esac
  if [ $# -gt 0 ]; then case " $* " in *" ${name%-n[0-9]} "* | *" $name "*) ;; *) continue ;; esac; fi
  for side in old new; do
    tree=$old; [ $side = new ] && tree=$new
    if ! solve $side "$tree" "$name" "$study" "$ranks" "$steps" "$sets"; then
      echo "$name: the $side program failed:"; tail -3 "$out/$name/$side.log"; status=2; continue 2
    fi
  done
  /usr/bin/python3 "$here/identity/compare.py" "$name" "$out/$name/old" "$out/$name/new" \
    "$here/identity/columns" "$here/identity/exceptions" || [ $status = 2 ] || status=1
  compared=$((compared + 1))
done <"$here/identity/cases"
echo "$compared cases compared"
[ "$compared" -gt 0 ] || status=2
exit $status
