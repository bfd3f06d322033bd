#!/bin/sh
# Run one stage of a chain and note what it cost:
#   stage.sh NAME LEDGER PROGRAM [ARGUMENT]...
# Appends "stage,wall_s,cpu_s,peak_memory_MB,status" to LEDGER (a CSV with a header), keeps the
# program's exit status. With several ranks the peak is the largest of them.
set -u
name=$1 ledger=$2
shift 2
[ -e "$ledger" ] || echo "stage,wall_s,cpu_s,peak_memory_MB,status" >"$ledger"
note=$(mktemp)
/usr/bin/time -q -o "$note" -f '%e %U %S %M' "$@"
status=$?
awk -v name="$name" -v status="$status" \
  'NF == 4 {printf "%s,%.2f,%.2f,%.1f,%d\n", name, $1, $2 + $3, $4 / 1024, status}' "$note" >>"$ledger"
rm -f "$note"
exit "$status"
