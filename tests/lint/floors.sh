#!/usr/bin/env bash
# The floors: which folder of libcore may include which, and the one door of each dependency.
set -u
cd "$(dirname "$0")/../.." || exit 1
status=0
complain() { echo "lint: $*" >&2; status=1; }

declare -A may=(
  [base]="" [num]="base" [conf]="base num" [itk]="num base" [io]="itk num base"
  [image]="itk num base" [shape]="num base" [phantom]="shape num base"
  [model]="shape num base" [store]="model shape num base"
  [contact]="model shape num base" [solve]="contact model shape conf num base"
  [dist]="solve contact model shape conf num base"
  [run]="dist solve contact model store shape conf io num base" [post]="store shape conf io num base"
  [stage]="post store phantom shape image conf io num base"
)
for file in $(git ls-files -co --exclude-standard 'libcore/*.c' 'libcore/*.h' 'libcore/*.cpp' 'libcore/*.hpp'); do
  floor=$(cut -d/ -f2 <<<"$file")
  [ -n "${may[$floor]+x}" ] || { complain "$file: no such floor '$floor'"; continue; }
  while IFS=: read -r line target; do
    case " $floor ${may[$floor]} " in
    *" $target "*) ;;
    *) complain "$file:$line: $floor/ may not include $target/ (allowed: ${may[$floor]})" ;;
    esac
  done < <(grep -nE '^#include "[a-z]+/' "$file" | sed -E 's/^([0-9]+):#include "([a-z]+)\/.*/\1:\2/')
done

door() { # header regexp, allowed path regexp
  local hit
  hit=$(git ls-files -co --exclude-standard '*.c' '*.h' '*.cpp' '*.hpp' | grep -vE "$2" |
    xargs -r grep -nE "#include [<\"]($1)[>\"]" || true)
  [ -z "$hit" ] || complain "only $2 may include $1:
$hit"
}
door 'mpi\.h' '^libcore/(base/comm|dist/)|^tests/mpi/'
door 'omp\.h' '^libcore/base/par\.c'
door 'sqlite3\.h' '^libcore/store/catalog|^tests/fuzz/'
door 'tiffio\.h' '^libcore/io/tiff|^tests/'
door 'hdf5\.h' '^libcore/(base/h5_|io/h5|store/results)|^tests/'
door '(gdal|ogr_|cpl_).*\.h' '^libcore/io/(gdal_functions|gdal_library|raster|vector|vector_write)\.|^tests/'
door 'yaml\.h' '^libcore/conf/'
door 'png\.h' '^libcore/io/png|^tests/'
door 'jpeglib\.h' '^libcore/io/jpeg'
door 'zlib\.h' '^libcore/base/zlib|^tests/'
door 'zstd\.h' '^libcore/store/'
door 'cblas\.h|lapacke\.h' '^libcore/num/linear'
door 'libqhull_r/.*\.h' '^libcore/num/delaunay'
door 'fftw3\.h' '^libcore/image/|^tests/'
door 'itk[A-Z].*\.h' '^libcore/itk/.*pp$|^tests/'
# One door to other programs: no shell, and no text that one would act on. base/par.c and
# base/sandbox.c start this program itself again.
hit=$(git ls-files -co --exclude-standard 'libcore/*.c' 'libcore/*.h' 'libcore/*.cpp' 'tools/*.c' 'tools/*.h' |
  grep -vE '^libcore/(post/gnuplot|base/par|base/sandbox)\.c$' | xargs -r grep -nE '\b(popen|system|exec[lv]p?e?|posix_spawnp?)[[:space:]]*\(' || true)
[ -z "$hit" ] || complain "only libcore/post/gnuplot.c may start a program:
$hit"
exit $status
