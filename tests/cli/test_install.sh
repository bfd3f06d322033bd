#!/usr/bin/env bash
# make install and uninstall below a folder of their own: studies and chains run from anywhere with only
# PREFIX/bin on PATH and write into the folder they are called from; every study is checked;
# uninstalling takes away what was installed, and nothing that a user put or changed there. 40 CPU-seconds.
set -u
here=$PWD
dir=$(mktemp -d); trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
bad=0
fail() { echo "FAILED: $*"; bad=1; }
root="$dir/stage area" prefix=/opt/talus
unset MAKEFLAGS MFLAGS
# The tools are taken as they are: this make does not know the flags that they were built with.
bin=${BIN#"$here"/}; tools=$(cd "$BIN" && echo talus-* | sed 's/talus-mpirun//')
built=(-o tools -o "${bin%/bin}/lib/libtalus.a" BIN="$bin" TOOLS="$tools"); for tool in $tools; do built+=(-o "$bin/$tool"); done
do_make() { make -s -C "$here" -o man -o completion "$@" "${built[@]}" DESTDIR="$root" PREFIX="$prefix" >"$dir/log" 2>&1; }
# Those of an earlier build would stay, since the tools are taken for old.
( flock 9 && rm -rf "$here/build/man" "$here/build/completion" && make -s -C "$here" "${built[@]}" man completion ) 9<"$BIN" >"$dir/log" 2>&1 ||
  fail "man pages and completion: $(cat "$dir/log")"
everything() { (cd "$root" && find . -type f -o -type l | sort); }
mkdir -p "$root$prefix/bin" "$root$prefix/share/talus" && echo mine >"$root$prefix/bin/my-tool" && echo mine >"$root$prefix/share/talus/notes.txt"
before=$(everything)
do_make install || { fail "install: $(cat "$dir/log")"; exit 1; }
at="$root$prefix"
for tool in $tools; do
  cmp -s "$at/share/bash-completion/completions/$tool" <("$BIN/$tool" --completion=bash) || fail "bash's completion of $tool"
  cmp -s "$at/share/zsh/vendor-completions/_$tool" <("$BIN/$tool" --completion=zsh) || fail "zsh's completion of $tool"
done
# GDAL is loaded when it is needed: its libraries take longer to load than a short run
for tool in $tools; do ! readelf -d "$BIN/$tool" | grep -q "NEEDED.*libgdal" || fail "$tool is linked with GDAL: libcore/io/gdal_functions.h"; done
for file in bin/talus-solve bin/talus-mpirun include/talus.h lib/libtalus.a lib/pkgconfig/talus.pc share/talus/demo.mk share/talus/drop.yaml share/talus/common.mk share/talus/solve.sh share/man/man1/talus-solve.1 share/bash-completion/completions/talus-solve share/zsh/vendor-completions/_talus-solve; do
  [ -e "$at/$file" ] || fail "$file is not installed"
done
"$at/bin/talus-solve" --version >"$dir/log" 2>&1 || fail "an installed tool: $(cat "$dir/log")"

# ---- elsewhere, where nothing of the source is, and the installed folder may not be written to ----
work="$dir/work"; mkdir "$work"; cd "$work" || exit 1
share="$at/share/talus"; ln -s "$share" ../talus; share=../talus # make cannot carry the blank
chmod a-w "$at/share/talus"
run() { (cd "$work" && env -i PATH="$at/bin:/usr/bin:/bin" HOME="$work" OMP_NUM_THREADS=1 "$@" >"$dir/log" 2>&1); }
run talus-solve "$share/drop.yaml" --set time.steps=20 --set time.duration_s= --set grains.shapes='[pebble]' --set release.count=20 ||
  fail "drop.yaml: $(tail -5 "$dir/log")"
[ -s drop.run/run.h5 ] || fail "drop.yaml writes elsewhere: $(find "$dir" -name run.h5)"
for study in "$at"/share/talus/*.yaml; do
  ! grep -nE '^(catalog|output):|\.\./' "$study" || fail "$(basename "$study") names a place of the source"
done
# the chain of the demo up to the grains, on the smallest stack; the whole chain is make demo's
mkdir demo
run talus-phantom --size=44,44,44 --d50-voxels=14 --seed=1 -o demo/phantom.tif || fail phantom
run talus-phantom --terrain --columns=60 --rows=100 --cell-m=2 -o demo/valley.asc || fail valley
run make -s -f "$share/demo.mk" SET="time.duration_s=0.2 time.frame_every_s=0.1 grains.grain_scale=9000" AVATAR_FLAGS="--min-voxels=200 --no-with-border" \
  RENDER_FLAGS="--width=128 --height=80 --no-smooth" ||
  fail "the installed demo: $(tail -20 "$dir/log")"
for product in demo/catalog.tals demo/run/run.h5 demo/measures/frames.csv demo/pictures/path.png; do
  [ -s "$product" ] || fail "the demo made no $product"
done
# every study is checked whole from here, with grains and ground of the demo where it wants some. Eight trial steps are
# enough: more of them say how long the run would take, which nothing here asks.
run talus-solve "$share/triaxial-specimen.yaml" --catalog=demo/catalog.tals --set release.count=30 --set time.steps=5 --set time.duration_s= \
  --set time.frame_every_s=0.001 --set grains.grain_scale=30 -o settled || fail "a specimen: $(tail -3 "$dir/log")"
for study in "$at"/share/talus/*.yaml; do
  words=()
  grep -qE '\bduration_s: *[0-9.]+' "$study" || fail "$(basename "$study") has no duration"
  case $(basename "$study" .yaml) in
  triaxial-specimen | triaxial-full-specimen) words=(--catalog=demo/catalog.tals) ;;
  triaxial | triaxial-full) words=(--catalog=demo/catalog.tals --set release.run="$work/settled" --set time.dt_s=1.0e-6) ;; # few and small grains
  avalanche | rockfall) words=(--catalog=demo/catalog.tals) ;;
  kot) words=(--catalog=demo/catalog.tals --set grains.sample=grains --set grains.least_diameter_m=0 --set grains.most_diameter_m=0
    --set terrain.name=slope --set 'release.low_m=[30,100,0]' --set 'release.high_m=[90,180,0]' --set release.count=10) ;;
  million) words=(--set release.count=1000) ;; # the whole number: tests/cli/test_million.sh
  esac
  tool=talus-solve
  ! grep -q '^ensemble:' "$study" || tool=talus-ensemble
  run $tool --dry-run "$share/$(basename "$study")" -o dry --set time.steps=8 --set time.duration_s= "${words[@]}" || fail "$(basename "$study"): $(tail -3 "$dir/log")"
  checked=$((${checked:-0} + 1))
done
[ "${checked:-0}" -ge 16 ] || fail "only ${checked:-0} studies were checked"
chmod u+w "$at/share/talus"

# ---- taken away again ----
mkdir "$at/share/talus/drop.run" && echo results >"$at/share/talus/drop.run/history.csv"
echo "# my own numbers" >>"$at/share/talus/hopper.yaml"
echo mine >"$at/share/man/man1/mine.1"
cp "$at/bin/talus-volume" "$dir/kept"; ln -sf "$dir/kept" "$at/bin/talus-label" # a wrapper of the user's
do_make uninstall || fail "uninstall: $(cat "$dir/log")"
grep -q 'hopper.yaml was changed' "$dir/log" || fail "no word of the changed study: $(cat "$dir/log")"
left=$(everything)
wanted=$(printf '%s\n' "$before" ".$prefix/bin/talus-label" ".$prefix/share/man/man1/mine.1" ".$prefix/share/talus/drop.run/history.csv" ".$prefix/share/talus/hopper.yaml" | sort)
[ "$left" = "$wanted" ] || fail "left after uninstall: $(diff <(echo "$wanted") <(echo "$left"))"
[ "$(cat "$at/share/talus/drop.run/history.csv")" = results ] || fail "results are gone"
folders=$(cd "$root$prefix" && find . -type d | sort | tr '\n' ' ')
[ "$folders" = ". ./bin ./share ./share/man ./share/man/man1 ./share/talus ./share/talus/drop.run " ] || fail "folders left after uninstall: $folders"
if do_make uninstall; then fail "a second uninstall finds something"; fi
# alone, nothing is left of it, of a second install over the first neither
rm -rf "$root"; mkdir -p "${root}/opt"
do_make install && do_make install || fail "a second install: $(cat "$dir/log")"
do_make uninstall || fail "a second uninstall: $(cat "$dir/log")"
[ "$(cd "$root" && find .)" = $'.\n./opt' ] || fail "left: $(find "$root")"
# folders that were there before stay, though they are empty
mkdir -p "$at/share/zsh/vendor-completions" "$at/bin"
do_make install || fail "a third install: $(cat "$dir/log")"
do_make uninstall || fail "a third uninstall: $(cat "$dir/log")"
folders=$(cd "$at" && find . | sort | tr '\n' ' ')
[ "$folders" = ". ./bin ./share ./share/zsh ./share/zsh/vendor-completions " ] || fail "left where folders were before: $folders"
exit $bad
