#!/usr/bin/env bash
# A status is never dropped (base/status.h): each function that returns a TlStatus is compiled as one
# whose result must be used. The attribute belongs to functions, and a type cannot carry it in C17, so
# the name of the type stands for both here. Where a status may be dropped: TL_CLEAN_UP.
set -u
cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
printf '#define TL_VERSION ""\n#define TL_COMMIT ""\n#define TL_BUILD_FLAGS ""\n' >"$work/version.h"
read -ra packages < <(pkg-config --cflags hdf5-serial libtiff-4 fftw3 fftw3f sqlite3 yaml-0.1 gdal libpng libzstd \
  libcrypto ompi-c lapacke openblas qhull_r | sed 's/-I/-isystem /g')
read -ra compiler <<<"${CC:-gcc}"
compile() {
  "${compiler[@]}" -std=c17 -fopenmp -Werror=unused-result -Wno-attributes -Wno-psabi -D_DEFAULT_SOURCE -D_XOPEN_SOURCE=700 \
    '-DTlStatus=__attribute__((warn_unused_result)) TlStatus' -Ilibcore -Iinclude "-I$work" "${packages[@]}" -S -o /dev/null "$1"
}
one() {
  compile "$1" 2>&1 | grep -E 'error' | sed 's/^/lint: a status is dropped: /' >&2
  [ "${PIPESTATUS[0]}" = 0 ]
}
status=0 running=0
for file in libcore/*/*.c tools/*.c; do
  if [ "$running" -ge "$(nproc)" ]; then wait -n || status=1; else running=$((running + 1)); fi
  one "$file" &
done
while [ "$running" -gt 0 ]; do wait -n || status=1; running=$((running - 1)); done
exit $status
