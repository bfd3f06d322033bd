#!/usr/bin/env bash
# talus-ensemble, blocks that cannot be brought out of others: taken out or frozen, they are called unresolved, count
# neither among the runouts nor in the deposit, and are warned of; talus-measure says the same of the stored run.
# Blocks that stay frozen where they left the terrain have left in both. Shapes with separators and quotes in their names
# are written and read. A run of bodies that cannot move ends at rest at once. 5 seconds.
set -u
# shellcheck source=tests/support/ensemble.sh
. "$(dirname "$0")/../support/ensemble.sh"
cat >stuck.yaml <<'YAML'
catalog: c.tals
time: {dt_s: 2.0e-3, duration_s: 3, frame_every_s: 0.5}
shapes: [{name: "cube, big", kind: box, size_m: [2, 2, 2]}, {name: 'a "small" ball; round', kind: sphere, diameter_m: 0.6}]
grains: {density_kg_m3: 2600}
bodies:
- {shape: "cube, big", position_m: [60, 130, 0], above_ground_m: 0.3}
- {shape: 'a "small" ball; round', position_m: [60.1, 130, 0], above_ground_m: 1}
terrain: {name: hill}
outside: stop
contact: {boundary_friction: 0.5, boundary_restitution: 0.3, friction: 0.4}
ensemble: {count: 3, blocks_together: 2, from: bodies}
YAML
$python - <<'PY' || fail "python cannot write its script"
open("ends.py", "w").write("""
import csv, sys
print(*[row["end"].replace(" ", "_") for row in csv.DictReader(open(sys.argv[1]))])
print(*[row["shape"] for row in csv.DictReader(open(sys.argv[1]))], sep="|")
""")
PY
for way in drop freeze; do
  ensemble stuck.yaml -o $way.run --set unresolved.embedded=$way
  cp out $way.txt
  { grep -q '^blocks_unresolved: 3$' out && grep -q '^runout_blocks: 3$' out; } || fail "$way: $(grep -E 'blocks' out)"
  grep -q '3 of 6 blocks were frozen or taken out' err || fail "$way: not warned of: $(cat err)"
  grep -q 'left the terrain' err && fail "$way: blocks that are unresolved did not leave: $(cat err)"
  $python ends.py $way.run/blocks.csv >ends || fail "blocks.csv of $way"
  [ "$(sed -n 2p ends)" = 'cube, big|a "small" ball; round|cube, big|a "small" ball; round|cube, big|a "small" ball; round' ] || fail "names: $(sed -n 2p ends)"
  [ "$(sed -n 1p ends | tr ' ' '\n' | grep -c unresolved)" = 3 ] || fail "$way: ends $(sed -n 1p ends)"
  "$BIN/talus-measure" $way.run -o $way.gis --maps=asc --trajectories=csv >out 2>err || fail "talus-measure of $way: $(cat err)"
  { grep -q '^map_blocks_in_last_frame: 3$' out && grep -q '^map_blocks_unresolved: 3$' out; } || fail "$way: $(grep map_ out)"
  [ "$(cut -d, -f3 $way.gis/stops.csv | grep -c unresolved)" = 3 ] || fail "$way: stops $(cut -d, -f1-4 $way.gis/stops.csv)"
  cp $way.run/blocks.csv blocks.csv
  [ $way = drop ] || sed -i '0,/"\(stopped\|moving\)"/s//"not started"/' $way.run/blocks.csv
  "$BIN/talus-report" $way.run -o $way.html >/dev/null 2>err || fail "talus-report of $way: $(cat err)"
  mv blocks.csv $way.run/blocks.csv
done
grep -q 'of the 3 of 6 blocks that have a runout, as in the summary of talus-ensemble. Left out are 3 that were frozen' drop.html || fail "the report does not say who is left out"
grep -q 'of the 2 of 6 blocks .*Left out are 1 that never started (.*) and 3 that were frozen' freeze.html || fail "the report of a block that never started"
cat >runouts.py <<'PY' || fail "no script"
# the report's row of distances has the numbers of the summary; angles have their low quantiles
import re, sys
page, says = open("drop.html").read(), dict(line.rstrip("\n").split(": ", 1) for line in open("drop.txt") if ": " in line)
def cells(title):
    row = re.search(r"<tr><td>" + title + r"<br>.*?</tr>", page, re.S).group(0)
    return [float(c) for c in re.findall(r'<td class="n">([-0-9.e+]+)', row)]
n, mean, _, *row = cells("Distance travelled")
want = [float(says["runout_" + k].split()[0]) for k in ("mean", "median", "90_percent", "95_percent", "99_percent", "largest")]
assert n == 3 and all(abs(a - b) <= 0.006 * b for a, b in zip([mean] + row, want)), f"{n}, {mean}, {row}: the summary has {want}"
n, _, _, *row = cells("Reach angle")
assert n == 3 and row == sorted(row, reverse=True) and row[0] > row[-1] > 0, f"{n}, {row}"
assert re.search(r'>median</th><th class="n">10%</th><th class="n">5%</th><th class="n">1%</th><th class="n">smallest<.*?>Reach angle<', page, re.S), "heads of the angles"
PY
$python runouts.py || fail "the report's runouts"
[ "$(grep -c 'lay in another grain' drop.run/departures.csv)" = 3 ] || fail "departures: $(cat drop.run/departures.csv)"
grep -v '^time_s' drop.run/departures.csv | grep -qv ',1,-1,lay in another grain$' && fail "not taken out: $(cat drop.run/departures.csv)"
[ "$(tail -n 1 drop.run/history.csv | cut -d, -f3)" = 3 ] || fail "taken out, and in the last frame: $(tail -n 1 drop.run/history.csv)"

# ---- frozen where they left: left in blocks.csv and in what is measured ----
cat >leave.yaml <<'YAML'
catalog: c.tals
time: {dt_s: 2.0e-3, duration_s: 3, frame_every_s: 0.5}
shapes: [{name: ball, diameter_m: 1}]
bodies: [{shape: ball, position_m: [60, 5, 0], above_ground_m: 1, velocity_m_s: [0, -20, 0]}]
terrain: {name: hill}
outside: stop
ensemble: {count: 3, from: bodies}
YAML
ensemble leave.yaml -o leave.run
grep -q '^blocks_left: 3$' out || fail "left: $(grep blocks out)"
"$BIN/talus-measure" leave.run -o leave.gis --maps=asc >out 2>err || fail "talus-measure: $(cat err)"
grep -q '^map_blocks_in_last_frame: 0$' out || fail "frozen outside counts as deposited: $(grep map_ out)"

cp -r leave.run again.run # blocks that all start in one place, in two runs
"$BIN/talus-measure" leave.run -o both.gis --maps=asc --with=again.run >out 2>err || fail "two runs: $(cat err)"
grep -q 'warning: 3 blocks have the number, size and path of blocks of another run (again.run' err || fail "twice the same: $(cat err)"

# ---- nothing can move ----
cat >fixed.yaml <<'YAML'
time: {dt_s: 1.0e-3, duration_s: 1, until_rest: yes}
shapes: [{name: ball, diameter_m: 1}]
bodies: [{shape: ball, position_m: [0, 0, 0], fixed: yes}]
YAML
"$BIN/talus-solve" fixed.yaml -o fixed.run >out 2>err || fail "fixed bodies: $(cat err)"
[ "$(awk -F': ' '$1 == "steps" {print $2}' out)" -lt 100 ] || fail "nothing moves, and it went on: $(cat out)"
grep -q 'before it came to rest' err && fail "at rest and not at rest: $(cat err)"
exit $bad
