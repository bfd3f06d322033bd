#!/bin/sh
# Run one stage of a chain, keep what it reports and note what it cost:
#   stage.sh NAME LEDGER PROGRAM [ARGUMENT]...
# LEDGER is a CSV, "stage,wall_s,cpu_s,peak_memory_MB,status"; the program's standard output goes to
# logs/NAME.txt beside it and to ours; its exit status is ours. With several ranks the peak is the
# largest of them.
set -u
name=$1 ledger=$2
shift 2
logs=$(dirname "$ledger")/logs
mkdir -p "$logs"
[ -e "$ledger" ] || echo "stage,wall_s,cpu_s,peak_memory_MB,status" >"$ledger"
note=$(mktemp)
echo "== $name" >&2
/usr/bin/time -q -o "$note" -f '%e %U %S %M' "$@" >"$logs/$name.txt"
status=$?
cat "$logs/$name.txt"
awk -v name="$name" -v status="$status" \
  'NF == 4 {printf "%s,%.2f,%.2f,%.1f,%d\n", name, $1, $2 + $3, $4 / 1024, status}' "$note" >>"$ledger"
rm -f "$note"
exit "$status"
