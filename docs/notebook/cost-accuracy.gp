# Redraws docs/pictures/cost_accuracy.png and cost_accuracy_scenes.png from cost-accuracy.csv:
#   cd docs/notebook && gnuplot cost-accuracy.gp
# ratio (of CPU times at 0.5%, outflow), cost_impulses and cost_penalty there may be given with -e.
set datafile separator ','
if (!exists("data")) data = 'cost-accuracy.csv'
if (!exists("out")) out = '../pictures/'
rows(scene, variant, x) = sprintf("< awk -F, '$1 == \"%s\" && $2 == \"%s\" {print $%d \",\" $7 \",\" $3}' %s", scene, variant, x, data)
# The first or the last point of a curve, with a text.
end(scene, variant, x, text, which) = sprintf("< awk -F, '$1 == \"%s\" && $2 == \"%s\" {row = $%d \",\" $7; if (!n++) first = row; last = row} END {print %s \",%s\"}' %s", scene, variant, x, which, text, data)

set terminal pngcairo size 900,720 font 'sans,14' noenhanced
set logscale xy
set grid lc rgb '#e4e4e4'
set border 3
set tics nomirror
set format x '%g'
set format y '%g'
BLUE = '#1f5fbf'; RED = '#c0392b'; ORANGE = '#e08a1e'; GREEN = '#3c8d40'; PURPLE = '#8e44ad'

# ---- one scene, for readers in a hurry ----
set output out . 'cost_accuracy.png'
set title '80 grains flow out of a box: what does accuracy cost?' font ',16'
set xlabel 'how far grains really overlap: largest at five times of the run, % of the radius'
set ylabel 'CPU seconds for each simulated second and grain'
set xrange [0.02:20]
set yrange [0.004:4]
set bmargin 10.5
set key default
set key at graph 0.8,-0.2 Left reverse samplen 2
set arrow 1 from 0.5,0.004 to 0.5,4 nohead dt 2 lw 1.5 lc rgb '#666666'
set label 1 '0.5%' at 0.48,3 right tc rgb '#666666'
if (exists("ratio")) {
  set arrow 2 from 0.5,cost_penalty to 0.5,cost_impulses heads filled lw 2.5 lc rgb 'black' front
  set label 2 sprintf('%.2g times', ratio) at 0.54,0.6*sqrt(cost_penalty*cost_impulses) font ',18' front
}
plot rows('outflow', 'penalty', 8) using 1:2 with linespoints pt 7 ps 1.4 lw 2.5 lc rgb RED title 'penalty: one spring a contact, soft to stiff', \
     rows('outflow', 'penalty_surfaces', 8) using 1:2 with linespoints pt 13 ps 1.4 lw 1.5 lc rgb PURPLE title 'penalty: springs over surfaces, the default', \
     rows('outflow', 'penalty_nodes', 8) using 1:2 with linespoints pt 5 ps 1.2 lw 1.5 dt 3 lc rgb ORANGE title 'penalty: springs on nodes only', \
     rows('outflow', 'nonsmooth', 8) using 1:2 with linespoints pt 9 ps 1.3 lw 1.5 lc rgb GREEN title 'nonsmooth, long to short steps', \
     rows('outflow', 'impulses', 8) using 1:2 with linespoints pt 7 ps 1.4 lw 2.5 lc rgb BLUE title 'impulses, long to short steps', \
     end('outflow', 'penalty', 8, '300 N/m', 'first') using 1:2:3 with labels offset 0,1 tc rgb RED notitle, \
     end('outflow', 'penalty', 8, '3 MN/m', 'last') using 1:2:3 with labels right offset -1,0 tc rgb RED notitle, \
     end('outflow', 'impulses', 8, 'steps of 2.6 ms', 'first') using 1:2:3 with labels left offset 1,-0.3 tc rgb BLUE notitle, \
     end('outflow', 'impulses', 8, '0.04 ms', 'last') using 1:2:3 with labels right offset -1,0 tc rgb BLUE notitle

# ---- all scenes, and where the grains end ----
unset label; unset arrow; unset title; unset bmargin
set terminal pngcairo size 1300,820 font 'sans,12' noenhanced
set output out . 'cost_accuracy_scenes.png'
set multiplot layout 2,3 margins 0.08,0.985,0.08,0.94 spacing 0.06,0.12
do for [scene in "outflow heap avalanche"] {
  set title scene font ',14'
  set logscale xy; set xrange [0.01:20]; set autoscale y
  set xlabel 'largest true overlap, % of the radius'
  if (scene eq 'outflow') { set ylabel 'CPU s a simulated s and grain' } else { unset ylabel }
  set arrow 1 from 0.5,graph 0 to 0.5,graph 1 nohead dt 2 lc rgb '#666666'
  unset key
  if (scene eq 'heap') { set yrange [0.001:100]; set key default; set key top right Left reverse samplen 1 font ',10' } # a decade for the key
  plot rows(scene, 'penalty', 8) using 1:2 with linespoints pt 7 lw 2 lc rgb RED title 'penalty, one spring', \
       rows(scene, 'penalty_surfaces', 8) using 1:2 with linespoints pt 13 lc rgb PURPLE title 'penalty, surfaces', \
       rows(scene, 'penalty_nodes', 8) using 1:2 with linespoints pt 5 dt 3 lc rgb ORANGE notitle, \
       keyentry with linespoints pt 5 dt 3 lc rgb ORANGE title 'penalty, nodes', \
       rows(scene, 'nonsmooth', 8) using 1:2 with linespoints pt 9 lc rgb GREEN title 'nonsmooth', \
       rows(scene, 'impulses', 8) using 1:2 with linespoints pt 7 lw 2 lc rgb BLUE title 'impulses'
}
unset arrow; unset key
array what[3] = ['spread of the mound, mm', 'height of the centre of mass, mm', 'travel of the centre of mass, m']
array factor[3] = [1e3, 1e3, 1]
i = 0
do for [scene in "outflow heap avalanche"] {
  i = i + 1
  unset title
  unset logscale x; set autoscale x; set logscale y
  set xlabel what[i]
  if (i == 1) { set ylabel 'CPU s a simulated s and grain' } else { unset ylabel }
  if (i == 2) { set xtics 0.5 } else { set xtics 1 }
  f = factor[i]
  plot rows(scene, 'penalty', 12) using (f*$1):2 with linespoints pt 7 lw 2 lc rgb RED, \
       rows(scene, 'penalty_surfaces', 12) using (f*$1):2 with linespoints pt 13 lc rgb PURPLE, \
       rows(scene, 'penalty_nodes', 12) using (f*$1):2 with linespoints pt 5 dt 3 lc rgb ORANGE, \
       rows(scene, 'nonsmooth', 12) using (f*$1):2 with linespoints pt 9 lc rgb GREEN, \
       rows(scene, 'impulses', 12) using (f*$1):2 with linespoints pt 7 lw 2 lc rgb BLUE
}
unset multiplot
