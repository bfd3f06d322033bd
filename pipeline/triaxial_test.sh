#!/usr/bin/env bash
# A triaxial test in a dozen keys, all with defaults but where the grains come from (pipeline/triaxial.mk TEST=FILE):
#   triaxial_test.sh FILE      prints what the makefile sets, for it to include
# FILE has lines "key: value", and comments behind #. What a key means stands in the list below. Sizes are those of
# config/triaxial*.yaml times the cube root of the number of grains over 500; pressure and all stiffness are theirs times
# one factor, and times over its root, which leaves strains and inertia numbers alone.
set -eu
file=$1
[ -r "$file" ] || { echo "$file: cannot be read" >&2; exit 1; }
awk -v file="$file" -v folder="$(dirname "$file")" '
function fail(text) {printf "%s:%d: %s\n", file, NR, text >"/dev/stderr"; bad = 1; exit 1}
function number(low, high) {
  if (value !~ /^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$/ || value + 0 < low || value + 0 > high)
    fail(key ": " value ", not a number from " low " to " high)
}
function there(key, name, line,   shown) {
  if (key == "stack" && v[key] ~ /[*%]/) return # a pattern of slices, which make looks up
  shown = name; gsub(/\047/, "\047\\\047\047", name)
  if (system("[ -e \047" name "\047 ]") == 0) return
  printf "%s:%d: %s: %s: there is no such file; names count from the folder of %s\n", file, line, key, shown, file >"/dev/stderr"
  bad = 1
}
function path(name) {return name == "" || name ~ /^\// ? name : folder "/" name}
BEGIN {
  # key, default, least, greatest; a key without bounds is a text
  split("stack labels grey voxel_um grains pressure_kPa friction platen_friction settle_friction void_ratio strain tilts", order, " ")
  v["stack"] = ""            # the scan; or
  v["labels"] = ""           # its labels, and
  v["grey"] = ""             # the denoised scan, for their surfaces
  v["voxel_um"] = ""         # where the stack does not say it: X or X,Y,Z
  v["grains"] = 500;          low["grains"] = 100;         high["grains"] = 2000
  v["pressure_kPa"] = 100;    low["pressure_kPa"] = 0.1;   high["pressure_kPa"] = 1e5
  v["friction"] = 0.5;        low["friction"] = 0;         high["friction"] = 10   # of the grains
  v["platen_friction"] = 0.1; low["platen_friction"] = 0;  high["platen_friction"] = 10
  v["settle_friction"] = "";  low["settle_friction"] = 0;  high["settle_friction"] = 10 # 0: dense, 0.5: loose
  v["void_ratio"] = "";       low["void_ratio"] = 0.01;    high["void_ratio"] = 10 # to which it is relaxed
  v["strain"] = 0.2;          low["strain"] = 0.001;       high["strain"] = 0.6    # axial, at the end
  v["tilts"] = "no"          # yes: the platen leans freely
}
{sub(/\r$/, ""); sub(/(^|[ \t])#.*$/, ""); sub(/[ \t]+$/, "")}
/^$/ || /^---$/ {next}
{
  colon = index($0, ":")
  if (!colon || $0 ~ /^[ \t-]/) fail("\"" $0 "\" is no line \"key: value\"")
  key = substr($0, 1, colon - 1); value = substr($0, colon + 1); sub(/^[ \t]+/, "", value)
  if (value ~ /^".*"$/ || value ~ /^\047.*\047$/) value = substr(value, 2, length(value) - 2)
  if (!(key in v)) {
    all = ""; for (i = 1; i in order; i++) all = all (i > 1 ? ", " : "") order[i]
    fail(key ": no such key; there are " all)
  }
  if (key in seen) fail(key ": given twice, before on line " seen[key])
  seen[key] = NR
  if (value == "") fail(key ": has no value; leave the line out for its default")
  if (index(value, "$") || index(value, "#") || index(value, "\\")) fail(key ": make cannot carry $, # and \\ in a name")
  if (key in low) number(low[key], high[key])
  if (key == "tilts" && value != "yes" && value != "no") fail("tilts: " value ", not yes or no")
  if (key == "grains" && value != int(value)) fail("grains: " value " is no whole number")
  v[key] = value
}
END {
  if (bad) exit 1
  if ((v["stack"] == "") == (v["labels"] == "")) fail("stack or labels is wanted, one of them: where do the grains come from?")
  if (v["grey"] != "" && v["labels"] == "") fail("grey: goes with labels; a stack is denoised by the chain")
  split("stack labels grey", files, " ")
  for (i = 1; i in files; i++) if (v[files[i]] != "") there(files[i], path(v[files[i]]), seen[files[i]])
  if (bad) exit 1
  if (v["settle_friction"] == "") v["settle_friction"] = v["void_ratio"] == "" ? 0 : 1
  if (v["stack"] != "") print "STACK := " path(v["stack"])
  if (v["labels"] != "") print "LABELS := " path(v["labels"])
  if (v["grey"] != "") print "GREY := " path(v["grey"])
  if (v["voxel_um"] != "") print "VOXEL_UM := " v["voxel_um"]
  printf "TEST_TITLE := triaxial compression at %s kPa\n", v["pressure_kPa"]
  g = (v["grains"] / 500) ^ (1 / 3); r = 0.028 * g; h = 0.1 * g
  printf "TEST_SPECIMEN_SET := release.count=%d time.duration_s=%.4g release.low_m=[-%.6g,-%.6g,0] release.high_m=[%.6g,%.6g,%.6g]", \
    v["grains"], 0.5 * (g > 1 ? sqrt(g) : 1), r, r, r, r, 0.36 * g
  printf " walls.0.radius_m=%.6g walls.0.length_m=%.6g walls.0.point_m=[0,0,%.6g] contact.friction=%s contact.boundary_friction=%s\n", \
    r, 0.38 * g, 0.19 * g, v["settle_friction"], v["settle_friction"]
  s = v["pressure_kPa"] / 100; t = sqrt(s)
  printf "TEST_SET := triaxial.radius_m=%.6g triaxial.height_m=%.6g release.cut.radius_m=%.6g release.cut.height_m=%.6g", \
    r + 2e-4, h + 1e-3, 1.8 * r, h + 0.05
  printf " triaxial.membrane.stiffness_N_m=%.6g triaxial.membrane.tangential_stiffness_N_m=%.6g penalty.normal_Pa_m=%.6g penalty.normal_N_m=%.6g", \
    1500 * s, 300 * s, 3e11 * s, 5e4 * s
  printf " time.dt_s=%.6g time.duration_s=%.6g time.frame_every_s=%.6g time.history_every_s=%.6g contact.damping_per_s=%.6g", \
    5e-6 / t, (0.5 + 3 * v["strain"]) / t, (v["strain"] < 0.024 ? v["strain"] / 1.2 : 0.02) / t, 2e-4 / t, 5 * t
  printf " triaxial.stages.0.pressure_Pa=%.6g triaxial.stages.0.damping_per_s=%.6g triaxial.stages.1.rate_per_s=%.6g triaxial.stages.1.until_strain=%s", \
    1e3 * v["pressure_kPa"], 200 * t, 0.6 * t, v["strain"]
  if (v["void_ratio"] == "") printf " triaxial.stages.0.ramp_s=%.6g triaxial.stages.0.most_s=%.6g", 0.02 / t, 0.1 / t
  else printf " triaxial.stages.0.void_ratio=%s triaxial.stages.0.friction=0 triaxial.stages.0.ramp_s=%.6g triaxial.stages.0.most_s=%.6g" \
    " triaxial.stages.0.until_unbalanced=0.003 triaxial.stages.0.until_kinetic_share=0.001", v["void_ratio"], 0.04 / t, 0.3 / t
  printf " contact.friction=%s contact.boundary_friction=%s triaxial.tilts=%s\n", v["friction"], v["platen_friction"], v["tilts"]
}' "$file"
