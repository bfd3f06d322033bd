#!/usr/bin/env bash
# talus-catalog: grains go in and out unchanged, and every number is explained.
# sanitized: reads and writes the catalog
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

# pose, label and border flag come back from the tables beside the grains
cp c.tals p.tals
sqlite3 p.tals 'UPDATE avatar SET border = id = 3, label = id + 40, scan_x_m = 1e-3 * id, scan_qw = 0.6, scan_qy = 0.8'
good export p.tals --format=morphology --with-border -o mp
good import back.tals mp/grain_*.txt --sample=s --spacing-um=100
pose='SELECT id, label, border, scan_x_m, scan_y_m, scan_z_m, scan_qw, scan_qx, scan_qy, scan_qz FROM avatar ORDER BY id'
[ "$(sqlite3 p.tals "$pose")" = "$(sqlite3 back.tals "$pose")" ] || fail "poses did not come back: $(sqlite3 back.tals "$pose")"
good import free.tals mp/grain_*.txt --sample=s --spacing-um=100 --no-poses
[ "$(sqlite3 free.tals 'SELECT max(border), max(label), max(scan_x_m) FROM avatar')" = "0|4|0.0" ] || fail "--no-poses took them"
refused 1 "--no-poses" import few.tals mp/grain_000001.txt --sample=s --spacing-um=100
[ ! -e few.tals ] || fail "a catalog was left by a refused import"

# LAMMPS' grid there and back: phi to the float, volume within 1%
good export c.tals --format=lammps --unit=mm -o lg
[ "$(sed -n 2p lg/grain_000004.grid)" = "$(sqlite3 c.tals "SELECT nx || ' ' || ny || ' ' || nz FROM avatar WHERE id = 4")" ] || fail "grid size"
good import l.tals lg/grain_*.grid --format=lammps --unit=mm --sample=s --nodes=300
good export l.tals --format=lammps --unit=mm -o lg2
for i in 1 2 3 4; do
  paste -d' ' <(tail -n +5 lg/grain_00000$i.grid) <(tail -n +5 lg2/grain_00000$i.grid) >both.txt
  awk 'NF != 2 || ($1 - $2) ^ 2 > (2e-7 * $2) ^ 2 + 1e-30 {bad = 1} END {exit bad || NR < 500}' both.txt ||
    fail "LAMMPS grid of grain $i changed"
done
good verify l.tals
# a grid that is no cube: a rod with round ends, 20 x 8 mm
awk 'BEGIN {
  print "# rod"; print "29 15 15"; print 1; print -14, -7, -7
  for (z = -7; z <= 7; z++) for (y = -7; y <= 7; y++) for (x = -14; x <= 14; x++) {
    beyond = x > 6 ? x - 6 : x < -6 ? x + 6 : 0
    printf "%.9g\n", sqrt(beyond ^ 2 + y ^ 2 + z ^ 2) - 4 } }' >rod.grid
good import rod.tals rod.grid --format=lammps --unit=mm --sample=rods --nodes=300
good export rod.tals --format=lammps --unit=mm -o rod
paste -d' ' <(tail -n +5 rod.grid) <(tail -n +5 rod/grain_000001.grid) |
  awk 'NF != 2 || ($1 - $2) ^ 2 > 1e-12 {bad = 1} END {exit bad || NR != 29 * 15 * 15}' || fail "the rod changed"
sed '7s/.*/hole/' lg/grain_000001.grid >bad.grid
refused 1 bad.grid:7 import x.tals bad.grid --format=lammps --sample=s
[ ! -e x.tals ] || fail "a catalog was left by a refused grid"

# YADE: arrays that NumPy's format describes, the loader is Python
good export c.tals --format=yade -o y
[ "$(stat -c %s y/grain_000004_phi.npy)" = "$(sqlite3 c.tals 'SELECT 128 + 4 * nx * ny * nz FROM avatar WHERE id = 4')" ] || fail "size of the array"
head -c 6 y/grain_000004_nodes.npy | tail -c 5 | grep -q NUMPY || fail "no NumPy array"
head -c 127 y/grain_000004_phi.npy | tail -c +11 | grep -q "'descr': '<f4', 'fortran_order': True, 'shape': ($(sqlite3 c.tals "SELECT nx || ', ' || ny || ', ' || nz FROM avatar WHERE id = 4")), }" || fail "the array's header"
if command -v python3 >/dev/null; then python3 -m py_compile y/yade_grains.py || fail "the loader is no Python"; fi
refused 2 "folder" export c.tals --format=yade --grain=1 -o y2

# PLY: what talus-avatars reads back has the grain's volume
good export c.tals --grain=4 --format=ply --unit=mm -o g4.ply
"$BIN/talus-avatars" --mesh g4.ply --unit=mm --spacing-um=100 --nodes=200 --sample=s --catalog=ply.tals >out.txt 2>err.txt || fail "PLY is not read back: $(cat err.txt)"
[ "$(sqlite3 ply.tals "ATTACH 'c.tals' AS c; SELECT abs(a.volume_m3 / b.volume_m3 - 1) < 0.01 FROM avatar a JOIN c.avatar b ON b.id = 4")" = 1 ] || fail "volume of the PLY"

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
refused 2 "import --replace" import c.tals in_5.txt --sample=spheres --spacing-um=100
head -c 3000 in_6.txt >cut.txt
before=$(sha256sum <c.tals)
refused 1 cut.txt:8 import c.tals in_5.txt cut.txt --sample=x --spacing-um=100
[ "$before" = "$(sha256sum <c.tals)" ] || fail "a failed import changed the catalog"
refused 2 "no such verb" lst c.tals
refused 2 "overwrite: no such option; see" import --overwrite c.tals x # nor is one proposed that import does not take
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

# while another program writes to the catalog a tool says that it waits, and then does its work
sqlite3 c.tals >holder.txt 2>&1 <<'SQL' &
BEGIN IMMEDIATE;
.shell touch held; sleep 4
COMMIT;
SQL
for _ in $(seq 200); do [ ! -e held ] || break; sleep 0.05; done
good remove-sample c.tals spheres
[ "$(grep -c 'c.tals: waiting for another process that writes to it' err.txt)" = 1 ] || { fail "no word that it waits"; cat err.txt; }
wait
[ "$(value grains_removed)" = 4 ] || fail "removed $(value grains_removed)"
refused 1 "no sample" remove-sample c.tals spheres
exit $bad
