#!/usr/bin/env bash
# The packages of `make deb` in a Debian 12 with nothing else: installed with what they depend on, used from another
# folder as a newcomer would, removed without a trace. Needs root, debootstrap and a Debian mirror; outside CI.
#   check.sh OUT    OUT: the folder with the packages; the root system is made in OUT/root and removed again
set -euo pipefail
out=$(cd "$1" && pwd)
root=$out/root
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
[ "$(id -u)" = 0 ] || { echo "check.sh: a clean root system can be made by root only" >&2; exit 1; }
command -v debootstrap >/dev/null || { echo "check.sh: debootstrap is missing; apt-get install debootstrap" >&2; exit 1; }
trap 'umount -q "$root/proc" || true; rm -rf "$root"' EXIT
rm -rf "$root"
debootstrap --variant=minbase bookworm "$root" "$mirror" >"$out/debootstrap.log" || { tail "$out/debootstrap.log" >&2; exit 1; }
mount -t proc proc "$root/proc"
mkdir "$root/packages"
cp "$out"/*.deb "$root/packages"
inside() { chroot "$root" /usr/bin/env -i PATH=/usr/bin:/bin HOME=/root LC_ALL=C DEBIAN_FRONTEND=noninteractive bash -euc "trap 'echo \"failed: \$BASH_COMMAND\" >&2' ERR
$1"; }
inside 'find / -xdev -not -path "/proc/*" -not -path "/packages/*" | sort >/tmp/before'
inside 'apt-get -qq update; apt-get -qq install -y --no-install-recommends /packages/*.deb >/tmp/install.log 2>&1 || { tail -20 /tmp/install.log; exit 1; }'
inside 'mkdir /root/first && cd /root/first
  talus-phantom --terrain --seed=1 -o slope.asc -q
  talus-topo slope.asc --catalog=site.tals --name=slope -q
  talus-ensemble /usr/share/talus/rockfall.yaml --catalog=site.tals --set ensemble.count=10 --set time.duration_s=5 -o blocks.run >summary 2>log
  grep -q "^blocks: 10" summary
  talus-measure blocks.run -o maps --maps=tif --trajectories=gpkg -q
  test -s maps/stops.gpkg && test -s maps/passages.tif
  talus-report blocks.run -o blocks.html -q && test -s blocks.html
  python3 -c "import talus; run = talus.Run(\"blocks.run\"); print(sum(1 for frame in run.frames()))" >frames
  make -s -f /usr/share/talus/demo.mk OUT=demo >demo.log 2>&1 || { tail demo.log >&2; false; }
  talus-phantom --size=44,44,44 --d50-voxels=14 --voxel-size-um=20 --seed=4 -o scan.tif -q
  printf "stack: scan.tif\ngrains: 100\npressure_kPa: 10\nstrain: 0.001\n" >test.yaml
  make -s -f /usr/share/talus/triaxial.mk TEST=test.yaml OUT=cell AVATAR_FLAGS=--min-voxels=200 RENDER_FLAGS="--width=160 --height=100" \
    >cell.log 2>&1 || { tail cell.log >&2; false; }
  test -s cell/measures/triaxial_stress_strain.png && test -s cell/report.html && test -s cell/run/run.vtkhdf
  for page in laboratory hazard-map; do # the tutorials as printed, each in an empty folder
    mkdir /root/$page && cd /root/$page
    awk "/^<!-- not run:/ {skip = 1; next} /^\`\`\`sh\$/ {on = !skip; skip = 0; next} /^\`\`\`/ {on = 0; next} on" \
      /usr/share/doc/talus-doc/docs/guide/$page.md >commands
    test "$(wc -l <commands)" -gt 10
    BLOCKS=8 STRAIN=0.001 VOXELS=44 AVATAR_FLAGS=--min-voxels=200 bash -eu -o pipefail commands >log 2>&1 || { tail log >&2; false; }
  done
  test -s /root/laboratory/test/report.html && test -s /root/hazard-map/site.html
  cd /root/first
  man -w talus-solve 2>/dev/null || test -f /usr/share/man/man1/talus-solve.1.gz'
inside 'apt-get -qq remove -y talus libtalus-dev python3-talus talus-doc >/dev/null 2>&1
  for left in /usr/bin/talus-* /usr/share/talus /usr/lib/python3/dist-packages/talus /usr/include/talus.h; do
    [ ! -e "$left" ] || { echo "left behind: $left" >&2; false; }
  done'
echo "the packages install, work and go in a clean Debian 12"
