#!/usr/bin/env bash
# What the tests of talus-ensemble share, sourced by them: a folder of their own that is the current one from here on,
# how they call it, and a catalog c.tals in it with the terrain "hill".
# shellcheck disable=SC2034 # for those that source it
python=${PYTHON:-/usr/bin/python3} # Debian's, for which python3-gdal and python3-h5py are installed
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
# shellcheck disable=SC2034
bad=0
fail() { echo "FAILED: $*"; bad=1; }
ensemble() { "$BIN/talus-ensemble" "$@" --no-progress >out 2>err || fail "talus-ensemble $*: $(cat err)"; }
refused() { # STATUS TEXT -- arguments
  local status=$1 text=$2 got; shift 3
  "$BIN/talus-ensemble" "$@" >out 2>err
  got=$?
  [ $got = "$status" ] || fail "exit status $got: $*"
  grep -qF -- "$text" err || fail "'$text' is not in the message: $(cat err)"
}

# 30 x 50 cells of 4 m: 80 m of flat ground, then a slope of 35 degrees to the north
{ printf 'ncols 30\nnrows 50\nxllcorner 600000\nyllcorner 5100000\ncellsize 4\n'
  awk 'BEGIN {for (r = 50; r > 0; r--) {h = r > 20 ? 0.7 * 4 * (r - 20) : 0; for (c = 0; c < 30; c++) printf "%g ", 500 + h; print ""}}'; } >hill.asc
"$BIN/talus-topo" hill.asc --catalog=c.tals --name=hill --crs=EPSG:32632 >/dev/null 2>err || fail "the terrain: $(cat err)"
