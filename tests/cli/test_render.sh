#!/usr/bin/env bash
# talus-render: plots of a table over time, refusals.
set -u
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
bad=0
fail() { echo "FAILED: $*"; bad=1; }
is_png() { [ "$(head -c 8 "$1" 2>/dev/null | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ]; }

mkdir "run's folder"
{ echo "time_s,kinetic_energy_J,dissipated_energy_J,runout_m,contacts,outside,angle_deg"
  for i in 0 1 2 3 4 5; do echo "$i.5,$((i * 30)),$((i * 10)),$i,$((9 - i)),0,"; done; } >"run's folder/history.csv"
"$BIN/talus-render" "run's folder" --plots -o plots >/dev/null 2>err.txt || fail "plots: $(cat err.txt)"
[ "$(grep -vc 'no number in column angle_deg' err.txt)" = 0 ] || fail "plots say: $(cat err.txt)"
is_png plots/history.png || fail "history.png is no PNG"
is_png plots/energy.png || fail "energy.png is no PNG"
"$BIN/talus-render" "run's folder" --plots -o plots >/dev/null 2>&1
[ $? = 2 ] || fail "plots are replaced without --overwrite"
cp "run's folder/history.csv" measures.csv
"$BIN/talus-render" "run's folder" --plots --csv=measures.csv --overwrite -o plots >/dev/null 2>err.txt || fail "csv: $(cat err.txt)"
is_png plots/measures.png || fail "measures.png is no PNG"

PATH=/nonexistent "$BIN/talus-render" "run's folder" --plots --overwrite -o plots2 >/dev/null 2>err.txt
[ $? = 1 ] && grep -q 'gnuplot-nox' err.txt || fail "missing gnuplot: $(cat err.txt)"
"$BIN/talus-render" absent --plots -o plots3 >/dev/null 2>err.txt
[ $? = 1 ] && grep -q 'absent/history.csv' err.txt || fail "missing table: $(cat err.txt)"
"$BIN/talus-render" absent -o x.png >/dev/null 2>err.txt
[ $? = 1 ] && grep -q absent err.txt || fail "missing run: $(cat err.txt)"
"$BIN/talus-render" absent --colour=mass -o x.png >/dev/null 2>err.txt
[ $? = 2 ] || fail "unknown colour"
[ ! -e x.png ] || fail "x.png is there"
[ -z "$(find . -name '*.tmp')" ] || fail "temporary files are left"
exit $bad
