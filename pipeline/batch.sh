#!/usr/bin/env bash
# Scans of a batch beside each other: batch.csv, a line a scan, and batch.png, their gradings.
#   batch.sh CATALOG_TOOL OUT NAME...
set -euo pipefail
tool=$1 out=$2
shift 2
said() { awk -v key="$2:" -v field="$3" '$1 == key {print $field; exit}' "$1"; }
{
  echo 'scan,porosity,void_ratio,void_ratio_low,void_ratio_high,grains,grains_cut_by_border,verdict_doubtful,verdict_rejected,d10_mm,d50_mm,d60_mm,d90_mm,uniformity_cu'
  for name in "$@"; do
    logs=$out/$name/logs
    "$tool" grading "$out/$name/catalog.tals" -o "$out/$name/grading.csv" --overwrite >"$logs/grading.txt"
    printf '%s' "$name"
    printf ',%s' "$(said "$logs/binarize.txt" porosity 2)" "$(said "$logs/binarize.txt" void_ratio 2)" \
      "$(said "$logs/binarize.txt" void_ratio_range 2)" "$(said "$logs/binarize.txt" void_ratio_range 4)" \
      "$(said "$logs/avatars.txt" grains 2)" "$(said "$logs/avatars.txt" grains_cut_by_border 2)" \
      "$(said "$logs/avatars.txt" verdict_doubtful 2)" "$(said "$logs/avatars.txt" verdict_rejected 2)"
    for d in d10 d50 d60 d90 uniformity_cu; do printf ',%s' "$(said "$logs/grading.txt" $d 2)"; done
    echo
  done
} >"$out/batch.csv.tmp"
mv "$out/batch.csv.tmp" "$out/batch.csv"
(cd "$out" && gnuplot >batch.png.tmp) <<PLOT
set terminal pngcairo size 720,480 font 'sans,11'
set datafile separator ','
set logscale x
set xlabel 'diameter of the sphere of equal volume, mm'
set ylabel '% finer by volume'
set key bottom right
set grid
plot $(for name in "$@"; do printf "'%s/grading.csv' every ::1 using 1:2 with lines lw 2 title '%s' noenhanced, " "$name" "$name"; done)
PLOT
mv "$out/batch.png.tmp" "$out/batch.png"
