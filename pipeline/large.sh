#!/bin/sh
# What each stage of large.mk cost, and whether it kept within the memory:
#   large.sh STAGES.csv MEMORY_MB
# Memory in 10^6 bytes; the ledger's peaks are in 2^20. Exit status 1: a stage went over.
set -eu
awk -F, -v most="$2" 'NR > 1 {if (!($1 in line)) order[++n] = $1; line[$1] = $0}
  END {printf "%-10s %10s %10s %10s\n", "stage", "wall s", "CPU s", "peak MB"
       for (i = 1; i <= n; i++) {
         split(line[order[i]], f, ","); peak = f[4] * 1.048576; wall += f[2]; cpu += f[3]
         over = peak > most; bad += over
         printf "%-10s %10.1f %10.1f %10.0f%s\n", f[1], f[2], f[3], peak, over ? "  over " most : ""}
       printf "%-10s %10.1f %10.1f\n", "total", wall, cpu
       exit bad > 0}' "$1"
