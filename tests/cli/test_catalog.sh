#!/usr/bin/env bash
# talus-catalog: grains go in and out unchanged, and every number is explained.
set -u
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
bad=0
fail() { echo "FAILED: $*"; bad=1; }
run() { "$BIN/talus-catalog" "$@" >out.txt 2>err.txt; }
good() { run "$@" || { fail "should work: $*"; cat err.txt; }; }
refused() { # STATUS TEXT arguments...
  local want=$1 text=$2; shift 2
  run "$@"; local got=$?
  [ "$got" = "$want" ] || fail "exit $got, not $want: $*"
  grep -qF -- "$text" err.txt || { fail "no '$text' in the message of: $*"; cat err.txt; }
}
value() { sed -n "s/^$1: \([^ ]*\).*/\1/p" out.txt; }

# A sphere of radius R in grid units as LS-DEM text: closed form, no tool of ours in it.
sphere() { awk -v R="$1" 'BEGIN {
  pi = 3.14159265358979; n = 2 * int(R + 3) + 1; c = (n - 1) / 2; V = 4 / 3 * pi * R ^ 3
  printf "%.15g\n%.15g %.15g %.15g\n%g %g %g\n60\n", V, .4 * V * R * R, .4 * V * R * R, .4 * V * R * R, c, c, c
  for (i = 0; i < 60; i++) {z = -1 + (2 * i + 1) / 60; r = sqrt(1 - z * z); t = 2.399963 * i
    printf "%s%.9g %.9g %.9g", i ? " " : "", R * r * cos(t), R * r * sin(t), R * z}
  printf "\n%.15g\n%d %d %d\n", R * 1.001, n, n, n
  for (k = 0; k < n; k++) for (j = 0; j < n; j++) for (i = 0; i < n; i++)
    printf "%s%.9g", i + j + k ? " " : "", sqrt((i - c) ^ 2 + (j - c) ^ 2 + (k - c) ^ 2) - R
  print ""}'; }
for r in 5 6 7.5 10; do sphere $r >in_$r.txt; done

good import c.tals in_5.txt in_6.txt in_7.5.txt in_10.txt --sample=spheres --spacing-um=100
[ "$(value grains)" = 4 ] || fail "imported $(value grains) grains"
good list c.tals
[ "$(value samples)" = 1 ] && [ "$(value grains)" = 4 ] || fail "list says $(cat out.txt)"
good verify c.tals
[ "$(value grains_checked)" = 4 ] || fail "verify checked $(value grains_checked)"

# the grain's measures and the command behind it; the same answer from one SQL query
good show c.tals --grain=4
awk -v d="$(value diameter)" 'BEGIN {exit !(d > 1999.9 && d < 2000.1)}' || fail "diameter $(value diameter) um, not 2000"
grep -q 'run_1_command: .*talus-catalog import c.tals in_5.txt' out.txt || fail "show does not say the command"
grep -q "run_1_inputs: in_5.txt .*sha256 $(sha256sum <in_5.txt | cut -d' ' -f1)" out.txt || fail "show does not say the inputs"
sqlite3 c.tals 'SELECT tool, command, inputs FROM grain_provenance WHERE grain = 4' >sql.txt
grep -q "^talus-catalog|.*import c.tals.*sha256 $(sha256sum <in_5.txt | cut -d' ' -f1)" sql.txt || fail "SQL says $(cat sql.txt)"
good show c.tals --grain=4 --json
[ "$(sqlite3 :memory: "SELECT json_valid(readfile('out.txt'))")" = 1 ] || fail "show --json is no JSON"

# out again: nodes and level set to float's last place, and the same text the second time round
good export c.tals --format=morphology -o m
for pair in 1:5 2:6 3:7.5 4:10; do
  paste -d' ' <(sed -n '5p;8p' "m/grain_00000${pair%:*}.txt" | tr ' ' '\n') \
    <(sed -n '5p;8p' "in_${pair#*:}.txt" | tr ' ' '\n') >both.txt
  awk 'NF != 2 || ($1 - $2) ^ 2 > (1.2e-7 * $2) ^ 2 + 1e-30 {bad = 1} END {exit bad || NR < 1000}' both.txt ||
    fail "nodes or level set of grain ${pair%:*} changed"
done
[ "$(wc -l <m/positions.txt)" = 4 ] && [ "$(head -1 m/rotations.txt)" = "1 0 0 0" ] || fail "poses beside the grains"
good import again.tals m/grain_*.txt --sample=s --spacing-um=100
good export again.tals --format=morphology -o m2
for i in 1 2 3 4; do cmp -s m/grain_00000$i.txt m2/grain_00000$i.txt || fail "grain $i differs the second time"; done

# grading of volumes 125, 216, 421.875, 1000: closed form
good grading c.tals -o curve.csv --plot=curve.png
awk -v d10="$(value d10)" -v d50="$(value d50)" -v cu="$(value uniformity_cu)" 'BEGIN {
  V = 125 + 216 + 421.875 + 1000; s = (125 + 216 + 421.875) / V
  D50 = exp(log(1.5) + (.5 - s) / (1 - s) * log(2 / 1.5)); t = (.1 - 125 / V) / (216 / V)
  D10 = exp(log(1) + t * log(1.2)); D60 = exp(log(1.5) + (.6 - s) / (1 - s) * log(2 / 1.5))
  exit !((d50 / D50 - 1) ^ 2 < 1e-8 && (d10 / D10 - 1) ^ 2 < 1e-8 && (cu / (D60 / D10) - 1) ^ 2 < 1e-8)}' ||
  fail "grading: d10 $(value d10) d50 $(value d50) cu $(value uniformity_cu)"
[ "$(wc -l <curve.csv)" = 5 ] || fail "curve.csv has $(wc -l <curve.csv) lines"
[ "$(head -c 4 curve.png | tail -c 3)" = PNG ] || fail "curve.png is no PNG"
refused 2 --overwrite grading c.tals -o curve.csv
good grading c.tals -o curve.csv --plot=curve.png --overwrite

# what is wrong is said, and nothing is left
refused 1 "no grain 99" show c.tals --grain=99
refused 2 --grain show c.tals
refused 1 "no sample 'mud'" export c.tals --sample=mud --format=csv -o none.csv
[ ! -e none.csv ] || fail "a table without grains was written"
refused 2 --spacing-um import c.tals in_5.txt --sample=x
refused 2 "already there" import c.tals in_5.txt --sample=spheres --spacing-um=100
head -c 3000 in_6.txt >cut.txt
before=$(sha256sum <c.tals)
refused 1 cut.txt:8 import c.tals in_5.txt cut.txt --sample=x --spacing-um=100
[ "$before" = "$(sha256sum <c.tals)" ] || fail "a failed import changed the catalog"
refused 2 "no such verb" lst c.tals
refused 2 "did you mean --format" export c.tals --fromat=csv -o x

# a spoilt grid is named (the blob is replaced by one byte of it)
cp c.tals spoilt.tals
sqlite3 spoilt.tals "UPDATE avatar_blob SET data = substr(data, 1, 20) WHERE avatar_id = 3 AND kind = 'phi'"
refused 1 "grain 3" verify spoilt.tals
sqlite3 spoilt.tals "DELETE FROM avatar_blob WHERE avatar_id = 2 AND kind = 'node'"
refused 1 "grain 2" verify spoilt.tals

# a catalog in a folder nobody may write to can be read (not as root, whom nothing stops)
if [ "$(id -u)" = 0 ] && command -v setpriv >setpriv.txt; then
  chmod 755 . && mkdir locked && cp c.tals locked && chmod 555 locked && chmod 444 locked/c.tals
  nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
  if "${nobody[@]}" test -x "$BIN/talus-catalog"; then
    "${nobody[@]}" "$BIN/talus-catalog" verify locked/c.tals >out.txt 2>err.txt || { fail "reading a read-only catalog"; cat err.txt; }
    "${nobody[@]}" "$BIN/talus-catalog" remove-sample locked/c.tals spheres >out.txt 2>err.txt && fail "wrote a read-only catalog"
    grep -q 'locked/c.tals: cannot be written' err.txt || { fail "no clear message"; cat err.txt; }
  fi
fi
# a full disk, where a small one can be mounted
if [ "$(id -u)" = 0 ] && mkdir small && mount -t tmpfs -o size=160k tmpfs small 2>mount.txt; then
  refused 1 "full" import small/c.tals in_10.txt in_7.5.txt in_6.txt in_10.txt in_10.txt in_10.txt --sample=x --spacing-um=10
  umount small
fi

good remove-sample c.tals spheres
[ "$(value grains_removed)" = 4 ] || fail "removed $(value grains_removed)"
refused 1 "no sample" remove-sample c.tals spheres
exit $bad
