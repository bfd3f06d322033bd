#!/usr/bin/env bash
# Debian packages from an installed tree: talus (tools, man pages, completion, studies and pipelines), libtalus-dev,
# python3-talus, talus-doc. The same tree and commit give the same bytes. `make deb` calls it.
#   deb.sh TREE VERSION OUT    TREE: what make install PREFIX=/usr DESTDIR=TREE wrote
set -euo pipefail
tree=$(cd "$1" && pwd) version=$2 out=$3
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
architecture=$(dpkg --print-architecture)
SOURCE_DATE_EPOCH=$(git -C "$root" log -1 --format=%ct 2>/dev/null || echo 1700000000)
export SOURCE_DATE_EPOCH LC_ALL=C
maintainer=${DEB_MAINTAINER:-The authors of Talus <talus@example.org>} # who builds says who answers for it
mkdir -p "$out"

take() { # PACKAGE PATH ...: moves what is below usr to the package
  local package=$1 path
  shift
  for path in "$@"; do
    mkdir -p "$work/$package/usr/$(dirname "$path")"
    cp -a "$tree/usr/$path" "$work/$package/usr/$path"
  done
}

take talus bin share/man share/bash-completion share/zsh share/talus
rm -f "$work"/talus/usr/share/talus/installed.*
take libtalus-dev include lib/libtalus.a lib/pkgconfig
take python3-talus lib/python3
mkdir -p "$work/talus-doc/usr/share/doc/talus-doc"
cp -r "$root/README.md" "$root/docs" "$work/talus-doc/usr/share/doc/talus-doc"
find "$work" -name __pycache__ -prune -exec rm -rf {} +
find "$work" -name '*.sh' -path '*/talus-doc/*' -delete

strip --strip-unneeded "$work"/talus/usr/bin/talus-[a-z]* 2>/dev/null || true # scripts stay
find "$work/talus/usr/share/man" -type f -exec gzip -9n {} +

# Libraries that the tools are linked with.
mkdir -p "$work/shlibs/debian"
printf 'Source: talus\nPackage: talus\nArchitecture: any\n' >"$work/shlibs/debian/control"
programs=()
for program in "$work"/talus/usr/bin/*; do
  if [ "$(head -c 4 "$program" | tail -c 3)" = ELF ]; then programs+=("$program"); fi
done
libraries=$(cd "$work/shlibs" && dpkg-shlibdeps -O "${programs[@]}" 2>/dev/null | sed 's/^shlibs:Depends=//')
# GDAL is loaded when a raster is read or written.
gdal=$(dpkg-query -S '*/libgdal.so.[0-9][0-9]' | sed 's/:.*//' | head -1)
libraries="$libraries${gdal:+, $gdal}"
[ -n "$libraries" ] || { echo "deb.sh: dpkg-shlibdeps names no libraries" >&2; exit 1; }

pack() { # PACKAGE ARCHITECTURE SECTION DEPENDS SUMMARY DESCRIPTION
  local package=$1 folder=$work/$1
  mkdir -p "$folder/DEBIAN" "$folder/usr/share/doc/$package"
  gzip -9nc "$root/CHANGELOG.md" >"$folder/usr/share/doc/$package/NEWS.gz"
  {
    printf 'talus (%s) unstable; urgency=medium\n\n  * What changed: NEWS.gz.\n\n' "$version"
    printf ' -- %s  %s\n' "$maintainer" "$(date -u -R -d "@$SOURCE_DATE_EPOCH")"
  } | gzip -9n >"$folder/usr/share/doc/$package/changelog.gz"
  {
    echo 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/'
    echo 'Upstream-Name: Talus'
    echo
    echo 'Files: *'
    echo "Copyright: $(date -u -d "@$SOURCE_DATE_EPOCH" +%Y) the authors of Talus"
    echo 'License: undecided'
    echo ' The owner has not chosen a licence yet (README.md, section Licence).'
  } >"$folder/usr/share/doc/$package/copyright"
  find "$folder" -type d -exec chmod 755 {} +
  find "$folder/usr" -type f -exec chmod go-w,u+rw,go+r {} +
  {
    printf 'Package: %s\nVersion: %s\nArchitecture: %s\n' "$package" "$version" "$2"
    printf 'Maintainer: %s\n' "$maintainer"
    printf 'Installed-Size: %s\n' "$(du -sk --apparent-size "$folder/usr" | cut -f1)"
    [ -z "$4" ] || printf 'Depends: %s\n' "$4"
    printf 'Section: %s\nPriority: optional\nDescription: %s\n %s\n' "$3" "$5" "$6"
  } >"$folder/DEBIAN/control"
  if [ -d "$folder/usr/lib/python3" ]; then # what Python compiled when root imported the module
    printf '#!/bin/sh\nset -e\nfind %s -name __pycache__ -prune -exec rm -rf {} +\n' \
      /usr/lib/python3/dist-packages/talus >"$folder/DEBIAN/prerm"
    chmod 755 "$folder/DEBIAN/prerm"
  fi
  (cd "$folder" && find usr -type f -printf '%P\0' | LC_ALL=C sort -z | sed -z 's|^|usr/|' | xargs -0 md5sum) \
    >"$folder/DEBIAN/md5sums"
  find "$folder" -print0 | xargs -0 touch -h -d "@$SOURCE_DATE_EPOCH"
  dpkg-deb --root-owner-group -Zxz --build "$folder" "$out/${package}_${version}_$2.deb" >/dev/null
  echo "$out/${package}_${version}_$2.deb"
}

pack talus "$architecture" science "$libraries, openmpi-bin, gnuplot-nox, make, time" \
  'level-set discrete elements from X-ray CT scans' \
  'Tools that take scans of sand and rock to simulations of the grains themselves.'
pack libtalus-dev "$architecture" libdevel "libhdf5-dev, libsqlite3-dev" \
  'level-set discrete elements: C library' 'Header, static library and pkg-config file for programs of your own.'
pack python3-talus all python "python3, python3-numpy, python3-h5py" \
  'level-set discrete elements: results in Python' 'Reads runs, catalogs and stacks of Talus, and starts runs.'
pack talus-doc all doc '' 'level-set discrete elements: documents' 'Guide, reference, theory and notebook of Talus.'
