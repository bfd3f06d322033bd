#!/usr/bin/env bash
# Tables and plot of threshold.mk:
#   threshold.sh OUT DRAWS SHIFT...
# d10 to d90 are diameters of spheres of the grains' volumes below which 10 to 90% of the volume lies, of the grains that
# the border does not cut; low and high enclose 95% of DRAWS samples of as many grains drawn from them with replacement.
set -euo pipefail
out=$1 draws=$2
shift 2
at=$out/threshold
voxel_mm=$(awk '$1 == "voxel_size_um:" {printf "%.9g", 1e-3 * ($2 * $4 * $6) ^ (1 / 3)}' "$out/logs/binarize.txt")
[ "$voxel_mm" ] || { echo "$out/logs/binarize.txt: says no voxel size" >&2; exit 1; }
read -r void grain half <"$at/levels.txt"

# NAME SHIFT TABLE LOG: a line of threshold.csv; the curve goes to the grading's table
row() {
  awk -F, -v name="$1" -v shift_="$2" -v voxel="$voxel_mm" -v draws="$draws" -v log_="$4" -v curves="$at/threshold_grading.csv" -v half="$half" \
    -v gap="$(awk -v a="$grain" -v b="$void" 'BEGIN {print a - b}')" '
  function quantiles(count, of, to,   i, k, total, sum) { # of[i]: how often grain i, sorted by size, is in the sample
    total = 0; for (i = 1; i <= count; i++) total += of[i] * volume[i]
    sum = 0; k = 1
    for (i = 1; i <= count && k <= 4; i++) {
      sum += of[i] * volume[i]
      while (k <= 4 && sum >= share[k] * total) to[k++] = d[i]
    }
  }
  function add(k, x) {drawn[k, ++many[k]] = x}
  function limit(k, p,   i, j, n, x, a) { # quantile of what was drawn
    n = many[k]; for (i = 1; i <= n; i++) a[i] = drawn[k, i]
    for (i = 2; i <= n; i++) {x = a[i]; for (j = i - 1; j >= 1 && a[j] > x; j--) a[j + 1] = a[j]; a[j + 1] = x}
    i = int(p * n) + 1; return a[i > n ? n : i]
  }
  BEGIN {
    srand(1); share[1] = 0.1; share[2] = 0.5; share[3] = 0.6; share[4] = 0.9
    while ((getline line <log_) > 0) {split(line, w, " "); if (w[1] == "porosity:") porosity = w[2]; if (w[1] == "void_ratio:") e = w[2]}
  }
  NR > 1 {all++; if ($4 == 0) {n++; volume[n] = $2; d[n] = $3 * voxel}}
  END {
    if (n < 10) {printf "%s: %d whole grains are too few for a grading\n", FILENAME, n >"/dev/stderr"; exit 1}
    for (i = 2; i <= n; i++) { # by size
      x = volume[i]; y = d[i]
      for (j = i - 1; j >= 1 && volume[j] > x; j--) {volume[j + 1] = volume[j]; d[j + 1] = d[j]}
      volume[j + 1] = x; d[j + 1] = y
    }
    for (i = 1; i <= n; i++) {one[i] = 1; total += volume[i]}
    for (i = 1; i <= n; i++) {sum += volume[i]; printf "%s,%.6g,%.6g\n", name, d[i], 100 * sum / total >>curves}
    quantiles(n, one, q)
    for (k = 1; k <= draws; k++) {
      for (i = 1; i <= n; i++) times[i] = 0
      for (i = 1; i <= n; i++) times[1 + int(n * rand())]++
      quantiles(n, times, s)
      for (j = 1; j <= 4; j++) add(j, s[j])
      add(5, s[3] / s[1])
    }
    printf "%s,%s,%.7g,%s,%s,%d,%d", name, shift_, shift_ == "" ? "nan" : half + 0.01 * shift_ * gap, porosity, e, all, n
    for (j = 1; j <= 4; j++) printf ",%.6g,%.6g,%.6g", q[j], limit(j, 0.025), limit(j, 0.975)
    printf ",%.6g,%.6g,%.6g\n", q[3] / q[1], limit(5, 0.025), limit(5, 0.975)
  }' "$3"
}

rm -f "$at/threshold_grading.csv.tmp"
echo "mask,diameter_mm,finer_percent" >"$at/threshold_grading.csv"
{
  printf 'mask,shift_percent,threshold_grey,porosity,void_ratio,grains,whole_grains'
  for d in d10 d50 d60 d90; do printf ',%s_mm,%s_low_mm,%s_high_mm' $d $d $d; done
  echo ',uniformity_cu,uniformity_cu_low,uniformity_cu_high'
  for shift in "$@"; do row "$shift %" "$shift" "$at/$shift/grains.csv" "$out/logs/threshold-$shift-mask.txt"; done
  row "own mask" "" "$at/own.csv" "$out/logs/binarize.txt"
} >"$at/threshold.csv.tmp"
mv "$at/threshold.csv.tmp" "$at/threshold.csv"

range=$(awk '$1 == "void_ratio_range:" {print $2, $4}' "$out/logs/binarize.txt")
awk -F, -v range="$range" '
  NR > 1 && $1 != "own mask" {n++; x[n] = $2; e[n] = $5; d[n] = $11; dl[n] = $12; dh[n] = $13}
  NR > 1 && $1 == "own mask" {own = $5; od = $11; ol = $12; oh = $13; cu = $20; cl = $21; ch = $22; whole = $7}
  END {
    for (i = 1; i <= n; i++) {sx += x[i]; se += e[i]; sd += d[i]}
    for (i = 1; i <= n; i++) {a += (x[i] - sx / n) ^ 2; b += (x[i] - sx / n) * (e[i] - se / n); c += (x[i] - sx / n) * (d[i] - sd / n)}
    split(range, r, " ")
    printf "void_ratio: %s\n", own
    if (r[2] != "") printf "void_ratio_range: %s to %s\n", r[1], r[2]
    if (a > 0) printf "void_ratio_per_percent_of_the_step: %.5f\n", b / a
    printf "d50: %.5g mm\nd50_range: %.5g to %.5g mm\n", od, ol, oh
    if (a > 0) printf "d50_per_percent_of_the_step: %.5g mm\n", c / a
    printf "uniformity_cu: %.4g\nuniformity_cu_range: %.4g to %.4g\nwhole_grains: %d\n", cu, cl, ch, whole
  }' "$at/threshold.csv" >"$at/summary.txt"

# gnuplot reads tables by their names and writes to its standard output: no name is in the script
(cd "$at" && gnuplot >threshold.png.tmp) <<PLOT
set terminal pngcairo size 1200,480 font 'sans,11'
set datafile separator ','
set multiplot layout 1,3 margins 0.06,0.98,0.14,0.9 spacing 0.07,0
set xlabel 'threshold, % of the step from void to grain'
set grid lc rgb '#dddddd'
set title 'void ratio'
set key bottom right
low = ${range% *}; high = ${range#* }
set xrange [*:*]
stats 'threshold.csv' every ::1 using 2 nooutput
set xrange [STATS_min - 2:STATS_max + 2]
set object 1 rectangle from graph 0, first low to graph 1, first high fc rgb '#cfe2f3' fs solid noborder behind
plot 'threshold.csv' every ::1 using 2:5 with linespoints pt 7 lc rgb '#1f4e79' title 'cut at the threshold', \
  '< tail -1 threshold.csv' using (0):5 with points pt 9 ps 1.6 lc rgb '#c0504d' title "the chain's own mask", \
  NaN with boxes fc rgb '#cfe2f3' fs solid title 'range that its report gives'
unset object 1
set title 'd50 and its 95% range, mm'
plot 'threshold.csv' every ::1 using 2:11:12:13 with yerrorlines pt 7 lc rgb '#1f4e79' notitle, \
  '< tail -1 threshold.csv' using (0):11:12:13 with yerrorbars pt 9 ps 1.6 lc rgb '#c0504d' notitle
set title 'grading by volume'
set xlabel 'diameter, mm'
set ylabel '% finer' offset 2,0
set xrange [*:*]
set logscale x
set key bottom right
plot $(for shift in "$@"; do printf "'< grep \"^%s %%,\" threshold_grading.csv' using 2:3 with lines lw 1.5 title '%s %%', " "$shift" "$shift"; done) \
  '< grep "^own mask," threshold_grading.csv' using 2:3 with lines lw 2.5 lc rgb '#c0504d' title "own mask"
unset multiplot
PLOT
mv "$at/threshold.png.tmp" "$at/threshold.png"
