#!/bin/sh
# Say where the products of a chain lie, what each stage cost and what the run says:
#   summary.sh OUT
set -eu
out=$1
echo
echo "== the chain's products in $out"
for product in denoised.h5 mask.h5 labels.h5 catalog.tals run measures pictures report.html; do
  [ ! -e "$out/$product" ] || printf '  %-14s %s\n' "$product" "$(du -sh "$out/$product" | cut -f1)"
done
echo
echo "== what each stage cost (last run of it)"
awk -F, 'NR > 1 {if (!($1 in line)) order[++n] = $1; line[$1] = $0}
  END {printf "  %-10s %8s %8s %10s\n", "stage", "wall s", "CPU s", "peak MB"
       for (i = 1; i <= n; i++) {split(line[order[i]], f, ","); total += f[2]
         printf "  %-10s %8.1f %8.1f %10.0f\n", f[1], f[2], f[3], f[4]}
       printf "  %-10s %8.1f\n", "total", total}' "$out/stages.csv"
echo
echo "== what the measures say (all in $out/measures)"
sed 's/^/  /' "$out/logs/measure.txt"
echo
echo "== pictures"
find "$out/pictures" -name '*.png' | sort | awk '{f[NR] = $0} END {for (i = 1; i <= NR; i++)
  if (NR <= 12 || i <= 3 || i > NR - 6) print "  " f[i]; else if (i == 4) print "  ... (" NR " in all)"}'
