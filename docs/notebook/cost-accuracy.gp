# Redraws docs/pictures/cost_accuracy.png from cost-accuracy.csv, and prints what its pages say of it:
#   cd docs/notebook && gnuplot cost-accuracy.gp
# Cost against true overlap (upper row) and against the error in where the grains end (lower row), three scenes.
# The error is that against the mean of all runs of the scene, by any method, whose grains overlap by less than
# `limit` % of the radius at most; the grey band is the standard deviation of these runs.
set datafile separator ','
if (!exists("data")) data = 'cost-accuracy.csv'
if (!exists("out")) out = '../pictures/'
limit = 0.5
PLACE = 12
# A curve's points: column 8 (largest overlap) or PLACE, and the cost.
rows(scene, variant, x) = sprintf("< awk -F, '$1 == \"%s\" && $2 == \"%s\" {print $%d \",\" $7}' %s", scene, variant, x, data)
# Where runs of less than `limit` end.
ends(scene) = sprintf("< awk -F, '$1 == \"%s\" && $8 < %g {print $%d}' %s", scene, limit, PLACE, data)
# Least cost at `limit`, of the cheapest way that the pattern matches: of runs below it, and where the line between two
# neighbours of a curve (on logarithms) crosses it. As cost_at of tests/validation/val_cost_accuracy.c.
at_limit(scene, pattern) = real(system(sprintf("awk -F, -v goal=%g 'function less(c) {if (!best || c < best) best = c} \
  $1 == \"%s\" && $2 ~ /%s/ { \
    if ($8 <= goal) less($7); \
    if ($2 == variant && ($8 <= goal) != (overlap <= goal)) less(cost * ($7 / cost) ^ (log(goal / overlap) / log($8 / overlap))); \
    variant = $2; overlap = $8; cost = $7} \
  END {print best}' %s", limit, scene, pattern, data)))
# Least cost of runs that end within `sd` % of `from`.
at_place(scene, pattern, from, sd) = real(system(sprintf("awk -F, '$1 == \"%s\" && $2 ~ /%s/ && ($%d / %.9g - 1) ^ 2 <= (%.9g / 100) ^ 2 \
  && (!best || $7 < best) {best = $7} END {print best}' %s", scene, pattern, PLACE, from, sd, data)))

BLUE = '#1f5fbf'; RED = '#c0392b'; ORANGE = '#e08a1e'; GREEN = '#3c8d40'; PURPLE = '#8e44ad'; BAND = '#e3e6ea'
set style line 1 lc rgb BLUE lw 2.5 pt 7 ps 1.3
set style line 2 lc rgb RED lw 2.5 pt 5 ps 1.2
set style line 3 lc rgb PURPLE lw 1.5 pt 13 ps 1.4
set style line 4 lc rgb ORANGE lw 1.5 dt 3 pt 4 ps 1.2
set style line 5 lc rgb GREEN lw 1.5 pt 9 ps 1.4

style(v) = v eq 'impulses' ? 1 : v eq 'penalty' ? 2 : v eq 'penalty_surfaces' ? 3 : v eq 'penalty_nodes' ? 4 : 5
array titled[5] = ['impulses, long to short steps', 'penalty: one spring a contact', 'penalty: springs over surfaces', \
  'penalty: springs on nodes only', 'nonsmooth, long to short steps']
bands = 'scatter of the runs below 0.5%'

array scenes[3] = ['outflow', 'heap', 'avalanche']
array titles[3] = ['80 grains flow out of a box', '80 grains fall into a heap', 'avalanche of 60 boulders']
array what[3] = ['error in run-out (spread), %', 'error in height, %', 'error in run-out, %']
array low[3] = [0.004, 0.004, 0.001]
array high[3] = [8, 3, 0.2]

set terminal pngcairo size 900,820 font 'sans,13' noenhanced
set output out . 'cost_accuracy.png'
set multiplot
set encoding utf8
set grid lc rgb '#e4e4e4'
set border 3
set tics nomirror
set format y '%g'
set logscale y
set lmargin 0; set rmargin 0; set tmargin 0; set bmargin 0
width = 0.236; left(i) = 0.098 + (i - 1) * 0.315
do for [i=1:3] {
  scene = scenes[i]
  variants = (i == 1 ? 'penalty_nodes ' : '') . 'penalty_surfaces penalty nonsmooth impulses' # the last in front
  set autoscale # stats leaves out what is beyond the axes
  stats ends(scene) using 1 nooutput
  from = STATS_mean; sd = 100 * STATS_ssd / from; runs = STATS_records
  set lmargin at screen left(i); set rmargin at screen left(i) + width
  set yrange [low[i]:high[i]]

  # ---- cost against true overlap ----
  set tmargin at screen 0.945; set bmargin at screen 0.63
  set title titles[i] offset 0,-0.3
  set logscale x
  set xrange [0.01:14]
  set xtics ('0.01' 0.01, '0.1' 0.1, '1' 1, '10' 10)
  set xlabel 'true overlap, % of the radius' offset 0,0.3
  impulses = at_limit(scene, '^impulses$'); springs = at_limit(scene, '^penalty')
  set arrow 1 from limit,graph 0 to limit,graph 1 nohead dt 2 lw 1.2 lc rgb '#888888'
  set arrow 2 from limit,springs to limit,impulses heads filled size screen 0.008,20 lw 2.2 lc rgb 'black' front
  set label 1 sprintf('%.0f×', springs / impulses) at limit,sqrt(springs * impulses) offset 0.6,0 font ',15' front
  set label 2 sprintf('%g%%', limit) at limit,graph 0.95 offset -0.4,0 right tc rgb '#666666' font ',12'
  unset key
  plot for [v in variants] rows(scene, v, 8) using 1:2 with linespoints ls style(v)
  unset arrow; unset label; unset title

  # ---- cost against error ----
  set tmargin at screen 0.53; set bmargin at screen 0.215
  print sprintf('%s: %d runs below %g%% end at %.5g, standard deviation %.2g%%.', scene, runs, limit, from, sd)
  print sprintf('  Cost at %g%%: impulses %.3g, springs %.3g, ratio %.3g.', limit, impulses, springs, springs / impulses)
  impulses = at_place(scene, '^impulses$', from, sd); springs = at_place(scene, '^penalty', from, sd)
  print sprintf('  Cheapest that ends within the deviation: impulses %.3g, springs %.3g, ratio %.3g.', impulses, springs, springs / impulses)
  unset logscale x
  set xrange [-8:8]
  set xtics ('-8' -8, '-4' -4, '0' 0, '+4' 4, '+8' 8)
  set xlabel what[i]
  set object 1 rectangle from -sd,graph 0 to sd,graph 1 fc rgb BAND fs solid noborder behind
  set arrow 1 from 0,graph 0 to 0,graph 1 nohead lw 1.2 lc rgb '#888888'
  plot for [v in variants] rows(scene, v, PLACE) using (100 * ($1 / from - 1)):2 with linespoints ls style(v)
  unset object; unset arrow
}

# ---- what is what ----
set lmargin at screen 0.02; set rmargin at screen 0.99; set tmargin at screen 0.13; set bmargin at screen 0.005
unset border; unset tics; unset grid; unset xlabel; unset logscale
set label 3 'CPU seconds a simulated second and grain' at screen 0.017,0.58 center rotate
set key center center Left reverse samplen 2.5 vertical maxrows 3 width 1
set xrange [0:1]; set yrange [0:1]
plot NaN notitle, for [k=1:5] keyentry with linespoints ls k title titled[k], \
     keyentry with boxes fc rgb BAND fs solid title bands
unset multiplot
