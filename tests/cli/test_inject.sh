#!/usr/bin/env bash
# Text from outside is never a command: names of files, folders and columns, titles and labels go to
# gnuplot and to terminals as what they are. (tests/cli/test_make_text.sh does so for pipeline/.)
set -u
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
bad=0
fail() { echo "FAILED: $*"; bad=1; }
is_png() { [ "$(head -c 8 "$1" 2>/dev/null | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ]; }
no_command_ran() { [ -z "$(find "$dir" -name 'ran*')" ] || { fail "a command ran: $*"; find "$dir" -name 'ran*' -delete; }; }
# what would run 'touch ran...' if it reached a shell or gnuplot as it is
evil=("x
system(\"touch ran1\")
" "|touch ran2" "<touch ran3" "'; system('touch ran4'); '" '`touch ran5`' '$(touch ran6)' ';touch ran7;' '"."'"' \\
!touch ran8
" "~@_^{}" $'\x1b]0;ran9\x07\xff\xe2\x80\xae')

awk 'BEGIN {print "time_s,step,stage,kind,axial_strain,volumetric_strain,axial_stress_Pa,radial_stress_Pa,deviatoric_stress_Pa,mean_stress_Pa,friction_angle_deg,void_ratio,inertia_number,unbalanced_force,platen_force_N,base_force_N,tilt_deg,escaped,kinetic_energy_J,piston_work_J,pressure_work_J,elastic_J,friction_J,viscous_J,drag_J,net_elastic_J,net_damping_J,balance_error_J,height_m,volume_m3"
  for (i = 0; i < 60; i++) {e = i*1e-3; q = 4e5*e/(0.01 + e); printf "%g,%d,1,%s,%g,%g,%g,1e5,%g,%g,20,0.6,1e-4,0.002,50,48,0.1,0,1e-6,0,0,0,0,0,0,0,0.001,0,0.1,5e-5\n", i/100, i, i < 9 ? "consolidate" : "shear", e, 0.1*e, 1e5 + q, q, 1e5 + q/3}}' >triaxial.csv
printf 'axial_strain,deviatoric_stress_Pa\n0.01,2e5\n0.05,3.3e5\n' >lab.csv
"$BIN/talus-avatars" --superellipsoid-um=500,400,300,0.5,0.5 --sample=a --catalog=c.tals --nodes=60 -q >out.txt 2>err.txt
"$BIN/talus-avatars" --superellipsoid-um=300,250,200,0.5,0.5 --sample=b --catalog=c.tals --nodes=60 -q >out.txt 2>err.txt
k=0
for name in "${evil[@]}"; do
  k=$((k + 1))
  run="$k$name"; [ "${name:0:1}" != '<' ] && [ "${name:0:1}" != '|' ] || run=$name # at the start they are commands
  run=${run//\//_}
  mkdir "$run" && cp triaxial.csv "$run" && printf 'contact: {friction: 0.%d}\n' "$k" >"$run/study.yaml"
  { printf 'time_s,a_J,%s\n' "$(tr -d ',\r\n' <<<"$name")"; for i in 1 2 3; do echo "$i,$i,$((i * i))"; done; } >"$run/history.csv"
  # the table, the picture and a column have such names
  "$BIN/talus-render" "$run" --plots --csv="$run/history.csv" -o "$run" --overwrite >out.txt 2>err.txt ||
    fail "plots of $(printf %q "$run"): $(cat err.txt)"
  is_png "$run/history.png" && is_png "$run/energy.png" || fail "no plots in $(printf %q "$run")"
  no_command_ran "plots of $(printf %q "$run")"
  (cd "$run" && cp history.csv "$name.csv" && "$BIN/talus-render" . --plots --csv="$name.csv" -o plots --overwrite >../out.txt 2>../err.txt) ||
    fail "a table named $(printf %q "$name"): $(cat err.txt)"
  no_command_ran "a table named $(printf %q "$name")"
  # labels, the folders of runs, the laboratory's curve
  cp lab.csv "$run/$name.csv"
  "$BIN/talus-measure" "$run" --triaxial --plot --compare="$run/$name.csv" --with=. --with="$run" \
    --label="$name" --label=b --label="c$name" -o "$run/m" >out.txt 2>err.txt || fail "labels $(printf %q "$name"): $(cat err.txt)"
  is_png "$run/m/triaxial_stress_strain.png" || fail "no plot with label $(printf %q "$name")"
  awk -F'"' 'END {exit NR != 4}' "$run/m/triaxial_runs.csv" || fail "a label breaks the table: $(cat "$run/m/triaxial_runs.csv")"
  [ "$k" -gt 4 ] || "$BIN/talus-measure" "$run" --triaxial --plot -o "$run/n" >out.txt 2>err.txt || fail "by the folder's name $(printf %q "$run"): $(cat err.txt)"
  no_command_ran "labels and folders $(printf %q "$name")"
  (cd "$run" && "$BIN/talus-catalog" grading ../c.tals --plot="$name" --overwrite -q >../out.txt 2>../err.txt) || fail "grading into $(printf %q "$name"): $(cat err.txt)"
  is_png "$run/$name" || fail "no grading in $(printf %q "$name")"
  no_command_ran "grading into $(printf %q "$name")"
done

# ---- terminals: no control character but ends of lines, on either stream ----
clean() { # what a terminal gets of a command
  "$@" >out.txt 2>err.txt
  if LC_ALL=C grep -qP '[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xa8-\xae]' out.txt err.txt; then
    fail "control characters from: $*"; cat -v out.txt err.txt
  fi
}
escape=$'\x1b]0;owned\x07\x1b[2J\x9b31m\xc2\x9b1m\xe2\x80\xaeabc\r\n'
"$BIN/talus-avatars" --superellipsoid-um=500,400,300,0.5,0.5 --sample="sand $escape" --catalog=e.tals --nodes=60 -q >out.txt 2>err.txt
clean "$BIN/talus-catalog" list e.tals
grep -qF 'sand \x1b]0;owned\x07' out.txt || fail "the name is not shown: $(cat -v out.txt)"
clean "$BIN/talus-catalog" list e.tals --json
python3 -c 'import json, sys; json.load(open("out.txt"))' 2>err.txt || fail "not JSON: $(cat err.txt)"
clean "$BIN/talus-catalog" show e.tals --grain=1
clean "$BIN/talus-catalog" list "$escape"
clean "$BIN/talus-catalog" remove-sample e.tals "$escape"
clean "$BIN/talus-volume" info "$escape.tif"
clean "$BIN/talus-denoise" "$escape" -o "$escape.h5"
clean "$BIN/talus-solve" "$escape"
clean "$BIN/talus-denoise" a.tif "--$escape"
printf 'title: x\n"%s": 1\n' '\x1b[2J' >w.yaml
clean "$BIN/talus-solve" w.yaml
"$BIN/talus-phantom" --size=16,16,8 --d50-voxels=8 -o "s$escape.tif" -q >out.txt 2>err.txt
clean "$BIN/talus-volume" info "s$escape.tif"
grep -q 'nx: 16' out.txt || fail "a stack of such a name is not read: $(cat -v err.txt)"
mv "s$escape.tif" "Größe µm.tif"
"$BIN/talus-volume" info "Größe µm.tif" >out.txt 2>err.txt
grep -q '^stack: Größe µm.tif$' out.txt || fail "letters of other languages are not shown: $(cat -v out.txt)"
exit $bad
