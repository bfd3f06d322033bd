#!/usr/bin/env bash
# talus-solve --audit: work that ranks share adds up to that of one rank, collectives are the same on all ranks, and the
# state is what it is without; by impulses with an island of over 256 bodies on two ranks, and by penalty forces.
set -eu
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
cd "$folder"
export OMP_NUM_THREADS=1
fail() { echo "test_audit: $*"; exit 1; }
cat >s.yaml <<'YAML'
time: {dt_s: 5.0e-4, duration_s: 0.03, frame_every_s: 0}
shapes: [{name: pebble, kind: superellipsoid, size_m: [1.2e-2, 1.0e-2, 8.0e-3], exponent_e: 0.8, exponent_n: 0.8, spacing_m: 1.0e-3, nodes: 100}]
grains: {shapes: [pebble]}
release: {assembly: lattice, low_m: [0, 0, 0], high_m: [0.16, 0.06, 0.06], spacing: 1, velocity_m_s: [0, 0, -1]}
planes: [{point_m: [0, 0, 0], normal: [0, 0, 1]}]
contact: {friction: 0.5}
penalty: {dt_s: 2.0e-5, spread: nodes, normal_N_m: 1.0e+3}
YAML
run() { # ranks, output, arguments
  "$BIN/talus-mpirun" -n "$1" "$BIN/talus-solve" s.yaml -o "$2" "${@:3}" >"$2.out" 2>"$2.err" || fail "$2: $(cat "$2.err")"
}
total() { # table, phase, column: over the ranks
  awk -F, -v phase="$2" -v name="$3" 'NR == 1 {for (i = 1; i <= NF; i++) if ($i == name) c = i}
    $2 == phase {sum += $c} END {printf "%d\n", sum}' "$1"
}
for method in etm-level penalty; do
  set=(--set "solver.method=$method" --overwrite)
  [ $method = etm-level ] || set+=(--set time.duration_s=2.0e-3)
  run 1 plain "${set[@]}"
  run 1 one "${set[@]}" --audit=one.csv
  run 2 two "${set[@]}" --audit=two.csv
  for other in one two; do
    cmp -s <(grep ^state_hash: plain.out) <(grep ^state_hash: $other.out) || fail "$method: another state with an audit"
  done
  [ "$(head -1 one.csv)" = "rank,phase,steps,work,work_unit,seconds,messages,message_bytes,collectives,received_bytes,supersteps" ] || fail "$(head -1 one.csv)"
  [ "$(wc -l <one.csv)" = 10 ] && [ "$(wc -l <two.csv)" = 19 ] || fail "$method: $(wc -l one.csv two.csv)"
  shared="move"; [ $method = penalty ] || shared="islands collisions resting move"
  for phase in $shared; do
    [ "$(total one.csv $phase work)" -gt 0 ] || fail "$method: no work in $phase"
    [ "$(total one.csv $phase work)" = "$(total two.csv $phase work)" ] ||
      fail "$method: work in $phase: $(total one.csv $phase work) and $(total two.csv $phase work)"
  done
  [ "$(total two.csv search work)" -ge "$(total one.csv search work)" ] || fail "$method: look-ups are lost"
  [ "$(total two.csv ghosts work)" -gt 0 ] && [ "$(total one.csv ghosts work)" = 0 ] || fail "$method: ghosts"
  for phase in ghosts search islands collisions resting move sums migration output; do
    [ "$(total one.csv $phase messages)" = 0 ] || fail "$method: messages of one rank in $phase"
    awk -F, -v phase=$phase '$2 == phase {n[$1] = $9} END {exit n[0] != n[1]}' two.csv || fail "$method: collectives of $phase differ"
    # a rank waits in each collective, and, where it has messages, once more at least
    awk -F, -v phase=$phase '$2 == phase && ($11 < $9 + ($7 + $10 > 0) || $7 == 0 && $10 == 0 && $11 != $9) {exit 1}' two.csv ||
      fail "$method: supersteps of $phase: $(grep ",$phase," two.csv)"
    [ "$(total one.csv $phase supersteps)" = 0 ] || fail "$method: one rank waits in $phase"
  done
  [ "$(total two.csv ghosts message_bytes)" -gt 0 ] || fail "$method: ghosts without bytes"
  [ $method = penalty ] || [ "$(total two.csv resting messages)" -gt 0 ] || fail "no messages of an island on two ranks"
  # bodies come near in each step, and ranks agree on it
  awk -F, '$2 == "ghosts" && $9 < 4 * $3 {exit 1}' two.csv || fail "$method: ranks that agree are not counted: $(grep ghosts two.csv)"
  grep -q "audit, a step, most of a rank (mean): ghosts " two.err || fail "no summary: $(cat two.err)"
done
# what a ghost costs in bytes does not depend on how many grains there are
bytes_a_ghost() { awk -F, '$2 == "ghosts" {ghosts += $4; bytes += $8 - 8 * $7} END {printf "%d\n", bytes / ghosts}' "$1"; }
run 2 more "${set[@]}" --set "release.high_m=[0.16, 0.12, 0.12]" --audit=more.csv
[ "$(total more.csv move work)" -gt $((3 * $(total two.csv move work))) ] || fail "not three times the grains"
few=$(bytes_a_ghost two.csv) many=$(bytes_a_ghost more.csv)
[ "$few" -gt 50 ] && [ $((100 * many)) -lt $((103 * few)) ] && [ $((103 * many)) -gt $((100 * few)) ] ||
  fail "a ghost takes $few bytes, and $many where there are more grains"
echo "a ghost takes $few bytes, and $many where there are more grains"
got=0
"$BIN/talus-solve" s.yaml -o fresh --audit=one.csv >out 2>err || got=$?
[ "$got" = 2 ] && grep -q "one.csv: .*--overwrite" err || fail "an older table is replaced: exit $got: $(cat err)"
echo "test_audit: all good"
