#!/usr/bin/env bash
# pipeline/: text given to make reaches the tools as it is and is never run; what make cannot carry is
# refused before anything runs. The tools are stand-ins that note their arguments and touch outputs.
set -u
here=$PWD
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
bad=0
fail() { echo "FAILED: $*"; bad=1; }
work="$dir/a folder"; mkdir "$work"; cd "$work" || exit 1
ln -s "$here" talus # the pipelines by a relative path, in a folder whose name has a blank
mkdir "$dir/tools here"
cat >"$dir/tools here/stub" <<'SH'
#!/bin/bash
log=$ARGUMENTS
[ "${0##*/}" != talus-mpirun ] || { printf '%s\0' "talus-mpirun" "$1" "$2" >>"$log"; shift 2; exec "$@"; }
printf '%s\0' "${0##*/}" "$@" >>"$log"
output= last=
for word; do
  [ "$last" != -o ] || output=$word
  case $word in --preview=*|--plot=*) touch "${word#*=}" ;; esac
  last=$word
done
case ${0##*/} in
talus-solve) mkdir -p "$output"; touch "$output/study.yaml" "$output/checkpoint_000000000001.tck" ;;
talus-catalog) echo "d50: 0.2 mm" ;;
talus-measure|talus-render) [ "${output%.png}" != "$output" ] && touch "$output" || mkdir -p "$output"
  case ${0##*/} in talus-measure) touch "$output"/{triaxial_summary,packing,triaxial_runs}.csv ;; esac ;;
*) [ -z "$output" ] || touch "$output" ;;
esac
SH
chmod +x "$dir/tools here/stub"
for tool in talus-mpirun "$here"/tools/talus-*.c; do
  ln -s stub "$dir/tools here/$(basename "$tool" .c)"
done
export ARGUMENTS="$dir/arguments"
evil="a;touch ran1;b'\"\`touch ran2\`|touch ran4&(x) <y>[z]{w}*?~!%=:,@+#"
evil_file="my scans/s;touch ran5 '1'\"&(2)\`touch ran6\`<x>[3]{4}*?~!=:#,.tif"
mkdir "my scans"; touch "$evil_file" "dem & 'x'.asc" "study;touch ran7 \"y\".yaml"

chain() { # MAKEFILE ARGUMENT...: with fresh products
  : >"$ARGUMENTS"
  rm -rf out
  make -s -f "talus/pipeline/$1" BIN="$dir/tools here" OUT=out THREADS=1 "${@:2}" >"$dir/log" 2>&1
}
has() { # WORD: an argument, to the letter
  grep -qzFx -- "$1" "$ARGUMENTS" || fail "no argument '$1' among: $(tr '\0\n' '\n ' <"$ARGUMENTS" | head -60)"
}
nothing_ran() { [ -z "$(find "$dir" -name 'ran*')" ] || { fail "a command ran: $*"; find "$dir" -name 'ran*' -delete; }; }

chain avalanche.mk STACK="$evil_file" DEM="dem & 'x'.asc" STUDY="study;touch ran7 \"y\".yaml" SAMPLE="$evil" TERRAIN="t$evil" \
  VOXEL_UM=10,10,12.5 SET="title=x;touch_ran8 a.b='1' c=[1,2]" RANKS=2 DENOISE_FLAGS="--a=;touch ran9 --b='c'" \
  BINARIZE_FLAGS='`touch' LABEL_FLAGS='|touch' AVATAR_FLAGS='&touch' TOPO_FLAGS='<x' RENDER_FLAGS='>ran10' ||
  { fail "the avalanche"; cat "$dir/log"; }
nothing_ran avalanche
for word in "$evil_file" "--raw=$evil_file" "dem & 'x'.asc" "study;touch ran7 \"y\".yaml" "--sample=$evil" "--name=t$evil" \
  --voxel-size-um=10,10,12.5 "--set=title=x;touch_ran8" "--set=a.b='1'" "--set=c=[1,2]" "--a=;touch" ran9 "--b='c'" \
  '`touch' '|touch' '&touch' '<x' '>ran10'; do has "$word"; done
tr '\0' ' ' <"$ARGUMENTS" | grep -q 'talus-mpirun -n 2 talus-solve ' || fail "not on 2 ranks"
# a second call has nothing to do; a newer stack is worked on again
again() { # ARGUMENT...: the same once more, with what ARGUMENT says anew
  : >"$ARGUMENTS"
  make -s -f talus/pipeline/avalanche.mk BIN="$dir/tools here" OUT=out THREADS=1 STACK="$evil_file" DEM="dem & 'x'.asc" \
    STUDY="study;touch ran7 \"y\".yaml" SAMPLE="$evil" TERRAIN="t$evil" VOXEL_UM=10,10,12.5 SET="title=x;touch_ran8 a.b='1' c=[1,2]" \
    DENOISE_FLAGS="--a=;touch ran9 --b='c'" BINARIZE_FLAGS='`touch' LABEL_FLAGS='|touch' AVATAR_FLAGS='&touch' TOPO_FLAGS='<x' \
    RENDER_FLAGS='>ran10' "$@" >"$dir/log" 2>&1 || fail "once more with $*: $(cat "$dir/log")"
  nothing_ran "once more with $*"
}
ran() { tr '\0' '\n' <"$ARGUMENTS" | grep '^talus-[a-z]*$' | grep -v mpirun | tr '\n' ' '; }
starts() { # TOOL ARGUMENT...: with this other setting it is what runs first, and then there is nothing to do
  again "${@:2}"
  [[ $(ran) == "$1 "* ]] || fail "with ${*:2} this ran: $(ran); $(cat "$dir/log")"
  again "${@:2}"
  [ ! -s "$ARGUMENTS" ] || fail "twice with ${*:2}: $(ran); $(cat "$dir/log")"
}
again
[ ! -s "$ARGUMENTS" ] || fail "the second call ran: $(tr '\0' ' ' <"$ARGUMENTS")"
touch -d '+1 minute' "$evil_file"
again
has talus-denoise
touch "$evil_file"
# so are another stack, which is older, the same one of another time, and each setting from its stage on
touch -d '2001-01-01' older.tif older.asc older.yaml
starts talus-denoise STACK=older.tif
touch -d '2000-01-01' older.tif
starts talus-denoise STACK=older.tif
starts talus-denoise VOXEL_UM=20
grep -q 'before: VOXEL_UM=10,10,12.5' "$dir/log" && fail "said twice"
again VOXEL_UM=10
grep -q 'before: VOXEL_UM=20$' "$dir/log" && grep -q 'now:    VOXEL_UM=10$' "$dir/log" || fail "no word of the voxel size: $(cat "$dir/log")"
has --voxel-size-um=10
again
starts talus-binarize BINARIZE_FLAGS=--x; again
starts talus-label LABEL_FLAGS=--x; again
starts talus-avatars AVATAR_FLAGS=--x; again
starts talus-avatars SAMPLE=x; again
starts talus-topo DEM=older.asc; again
starts talus-topo TERRAIN=x; again
starts talus-solve STUDY=older.yaml; again
starts talus-solve SET=a=b; again
starts talus-render RENDER_FLAGS=--x; again
[ "$(make -s -n -f talus/pipeline/avalanche.mk BIN="$dir/tools here" OUT=out STACK=older.tif DEM=older.asc | grep -c stage.sh)" -gt 9 ] ||
  fail "a trial run does not see other settings"
make -s -f talus/pipeline/avalanche.mk BIN="$dir/tools here" OUT=out STACK=gone.tif DEM=older.asc >"$dir/log" 2>&1 && fail "a stack that is not there"
grep -q "gone.tif" "$dir/log" || fail "no word of a stack that is not there: $(cat "$dir/log")"
again # and what it would be made from is not noted
[ ! -s "$ARGUMENTS" ] || fail "a refused call changed something: $(ran)"
# labels in place of the stack
touch -d '2001-01-01' one.h5 two.h5
labelled() { : >"$ARGUMENTS"; make -s -f talus/pipeline/triaxial.mk BIN="$dir/tools here" OUT=out3 "$@" >"$dir/log" 2>&1 || fail "labels: $(cat "$dir/log")"; }
labelled LABELS=one.h5 VOXEL_UM=10
labelled LABELS=one.h5 VOXEL_UM=10
[ ! -s "$ARGUMENTS" ] || fail "the same labels again: $(ran)"
labelled LABELS=one.h5 VOXEL_UM=20
has --voxel-size-um=20
labelled LABELS=two.h5 VOXEL_UM=20
has two.h5
labelled LABELS=two.h5 VOXEL_UM=20 MEDIAN_M=0.01
[[ $(ran) == "talus-catalog talus-solve "* ]] || fail "another median: $(ran)"

chain triaxial.mk STACK="$evil_file" SAMPLE="$evil" STUDY="study;touch ran7 \"y\".yaml" SPECIMEN_STUDY="study;touch ran7 \"y\".yaml" \
  SET='a=;touch_ran11' SPECIMEN_SET='b=`touch_ran12`' MEASURE_FLAGS='$(touch ran13)' RENDER_FLAGS=';touch' 2>&1
grep -q 'MEASURE_FLAGS: holds a dollar sign' "$dir/log" || fail "no word of the dollar sign: $(cat "$dir/log")"
chain triaxial.mk STACK="$evil_file" SAMPLE="$evil" STUDY="study;touch ran7 \"y\".yaml" SPECIMEN_STUDY="study;touch ran7 \"y\".yaml" \
  SET='a=;touch_ran11' SPECIMEN_SET='b=`touch_ran12`' MEASURE_FLAGS='$$(touch ran13)' RENDER_FLAGS=';touch' ||
  { fail "the triaxial test"; cat "$dir/log"; }
for word in '--set=a=;touch_ran11' '--set=b=`touch_ran12`' '$(touch' 'ran13)' ';touch' "--set=release.run=$PWD/out/specimen"; do has "$word"; done
chain parametric.mk FIGURE=friction VALUES="0.1 0.2" STACK="$evil_file" STUDY="study;touch ran7 \"y\".yaml" \
  SPECIMEN_STUDY="study;touch ran7 \"y\".yaml" SET='a=;touch_ran14' || { fail "the figure"; cat "$dir/log"; }
for word in --set=contact.friction=0.2 '--set=a=;touch_ran14' --with=out/friction/0.1; do has "$word"; done
chain parametric.mk FIGURE=void VALUES="0.1" STACK="$evil_file" || { fail "the figure void"; cat "$dir/log"; }
for word in --set=contact.friction=0.1 --set=contact.boundary_friction=0.1; do has "$word"; done
chain large.mk STACK="$evil_file" DENOISE_FLAGS=';touch ran15' || { fail "the large stack"; cat "$dir/log"; }
has ';touch'; has "$evil_file"
chain demo.mk || { fail "the demo"; cat "$dir/log"; }
nothing_ran "the other chains"

# patterns are for the tools; the files behind them decide whether something is to be done
mkdir slices; touch slices/s_1.tif slices/s_2.tif
for stack in 'slices/s_*.tif' 'slices/s_%d.tif' slices; do
  chain avalanche.mk STACK="$stack" DEM="dem & 'x'.asc" || { fail "$stack"; cat "$dir/log"; }
  has "$stack"
  touch -d '2001-01-01' slices/s_2.tif
  : >"$ARGUMENTS"
  make -s -f talus/pipeline/avalanche.mk BIN="$dir/tools here" OUT=out STACK="$stack" DEM="dem & 'x'.asc" THREADS=1 >"$dir/log" 2>&1 ||
    fail "another slice of $stack: $(cat "$dir/log")"
  has "$stack"
  touch slices/s_2.tif
done

refuses() { # TEXT ARGUMENT...: before anything runs
  local text=$1; shift
  : >"$ARGUMENTS"
  make -s -f talus/pipeline/avalanche.mk BIN="$dir/tools here" STACK=slices DEM="dem & 'x'.asc" OUT=out2 "$@" >"$dir/log" 2>&1 &&
    fail "not refused: $*"
  grep -qF -- "$text" "$dir/log" || fail "no '$text' for $*: $(cat "$dir/log")"
  [ ! -s "$ARGUMENTS" ] || fail "tools ran before: $*"
  nothing_ran "$*"
}
for out in 'a b' "a'b" 'a"b' 'a;touch ran20' 'a`touch ran21`' 'a:b' 'a%b' 'a#b' 'a=b' 'a*b' '-x' '~x' $'a\tb' 'a|b' 'a(b)' '\a'; do
  refuses "OUT='" OUT="$out"
done
refuses "OUT='a\$(shell touch ran22)b' holds a dollar sign" OUT='a$(shell touch ran22)b'
refuses "OUT='a\$\$b' holds" OUT='a$$b'
refuses 'SAMPLE: holds an end of line' SAMPLE=$'a\ntouch ran23\n'
refuses 'SAMPLE: holds a dollar sign' SAMPLE='a$(shell touch ran24)'
refuses 'STACK: holds an end of line' STACK=$'a\ntouch ran25'
refuses "STACK='a|b': make cannot carry a |" STACK='a|b'
refuses "RANKS='1;touch ran26' holds" RANKS='1;touch ran26'
refuses "THREADS='1;touch' holds" THREADS='1;touch'
refuses "VOXEL_UM='\`x\`' holds" VOXEL_UM='`x`'
mkdir -p out2; echo mine >out2/mask.h5; ln -s out2/mask.h5 scan.h5
refuses 'STACK=out2/mask.h5 is what this chain writes' STACK=out2/mask.h5
refuses 'STACK=scan.h5 is what this chain writes' STACK=scan.h5
[ "$(cat out2/mask.h5)" = mine ] || fail "a stack was replaced"
exit $bad
