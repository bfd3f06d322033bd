#!/usr/bin/env bash
# A folder of nasty stacks, made here byte by byte (large ones with holes): each is read exactly or
# refused by one line that names the file and what is wrong.
# sanitized: reads stacks of other programs
set -u
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
volume=$BIN/talus-volume
bad=0
fail() { echo "FAILED: $*"; bad=1; }

# ---- bytes: `order` le or be, number, width ----
order=le
put() { # NUMBER BYTES: appended to standard output
  local k shift out=""
  for ((k = 0; k < $2; k++)); do
    shift=$((8 * k))
    [ $order = le ] || shift=$((8 * ($2 - 1 - k)))
    out+=$(printf '\\x%02x' $((($1 >> shift) & 255)))
  done
  printf '%b' "$out"
}
entry() { # TAG TYPE COUNT VALUE; classic, a SHORT lies in the first two bytes of four
  put "$1" 2; put "$2" 2; put "$3" 4
  if [ "$2" = 3 ]; then put "$4" 2; put 0 2; else put "$4" 4; fi
}
magic() { if [ $order = le ]; then printf 'II'; else printf 'MM'; fi; }
# One directory at 8, text at 400, voxels at 512. WIDTH HEIGHT BITS FORMAT PHOTOMETRIC TEXT [STRIP [OFFSET]]
classic() {
  local bytes=$(($1 * $2 * $3 / 8)) text=$6
  magic; put 42 2; put 8 4; put 10 2
  entry 256 4 1 "$1"; entry 257 4 1 "$2"; entry 258 3 1 "$3"; entry 259 3 1 1; entry 262 3 1 "$5"
  entry 270 2 $((${#text} + 1)) 400; entry 273 4 1 "${8:-512}"; entry 278 4 1 "$2"
  entry 279 4 1 "${7:-$bytes}"; entry 339 3 1 "$4"
  put 0 4
  head -c $((400 - 8 - 2 - 120 - 4)) /dev/zero
  printf '%s' "$text"; head -c $((112 - ${#text})) /dev/zero
}
numbers() { local i; for ((i = $1; i <= $2; i++)); do put "$i" "$3"; done; }

reads() { # FILE LINE... of talus-volume info
  local file=$1; shift
  "$volume" info -q "$file" >out 2>err || { fail "$file: $(cat err)"; return; }
  for line in "$@"; do grep -qx -- "$line" out || fail "$file: no '$line' in: $(tr '\n' ';' <out)"; done
}
refuses() { # TEXT FILE [OPTION]...: by one line with the file's name
  local text=$1 file=$2; shift 2
  "$volume" info -q "$@" "$file" >out 2>err && { fail "$file is read: $(tr '\n' ';' <out)"; return; }
  [ "$(wc -l <err)" = 1 ] && grep -qF -- "${file%%/\*}" err && grep -qE -- "$text" err ||
    fail "$file: no '$text' in: $(cat err)"
}

# ---- voxels of every sort, both byte orders ----
for order in le be; do
  { classic 4 3 16 1 1 x; numbers 1000 1011 2; } >u16_$order.tif
  reads u16_$order.tif 'type: u16' 'min: 1000' 'max: 1011'
  { classic 4 3 16 2 1 x; numbers -6 5 2; } >i16_$order.tif
  reads i16_$order.tif 'type: i16' 'min: -6' 'max: 5'
  { classic 4 3 8 1 0 x; numbers 0 11 1; } >white_$order.tif # white is zero: turned over
  reads white_$order.tif 'type: u8' 'min: 244' 'max: 255'
  { classic 2 1 32 3 1 x; put $((0x3fc00000)) 4; put $((0xc0000000)) 4; } >f32_$order.tif
  reads f32_$order.tif 'type: f32' 'min: -2' 'max: 1.5'
  { classic 2 1 32 3 1 x; put $((0x7fc00000)) 4; put 0 4; } >nan_$order.tif
  "$volume" histogram -q nan_$order.tif >out 2>err && ! grep -qi 'not_finite\|no_number\|left_out' out &&
    fail "NaN goes unsaid: $(cat out)"
  { classic 8 3 1 1 1 x; put $((0xa1)) 1; put 0 1; put $((0xff)) 1; } >bits_$order.tif
  reads bits_$order.tif 'type: u8' 'min: 0' 'max: 1' 'mean: 0.458333' # 11 of 24
  { classic 2 1 64 3 1 x; put $((0x3ff8000000000000)) 8; put $((0xc000000000000000)) 8; } >f64_$order.tif
  reads f64_$order.tif 'type: f32' 'min: -2' 'max: 1.5'
done
order=le

# ---- larger than 4 GiB, with a hole: a BigTIFF whose parts lie far out (ImageJ's: test_tiff) ----
far=$((5 << 30))
{ printf 'II'; put 43 2; put 8 2; put 0 2; put $far 8; } >big.tif
truncate -s $far big.tif
wide() { put "$1" 2; put "$2" 2; put "$3" 8; put "$4" 8; }
{ put 9 8; wide 256 4 1 4; wide 257 4 1 3; wide 258 3 1 16; wide 259 3 1 1; wide 262 3 1 1
  wide 273 16 1 $((far + 1000)); wide 278 4 1 3; wide 279 16 1 24; wide 339 3 1 1; put 0 8; } >>big.tif
truncate -s $((far + 1000)) big.tif
numbers 500 511 2 >>big.tif
reads big.tif 'nx: 4 voxels' 'min: 500' 'max: 511'
truncate -s $((far + 1010)) big.tif
refuses 'page|beyond|short|read' big.tif

# ---- 12 bits in 16, a comb ----
{ classic 16 16 16 1 1 x; for i in $(seq 0 255); do put $((i * 16)) 2; done; } >twelve.tif
"$volume" histogram -q --roi=none twelve.tif >out 2>err || fail "twelve: $(cat err)"
grep -q '^bits_used: 12$' out || fail "12 bits in 16 are not said: $(cat out)"
grep -q '^empty_levels_between: [1-9]' out || grep -qi 'empty' out || fail "the comb is not said: $(cat out)"

# ---- what no reader should believe ----
{ classic 4 3 16 1 1 x 24 99999999; numbers 1 12 2; } >beyond.tif
refuses 'end|beyond|page' beyond.tif
{ classic 4000000000 4000000000 16 1 1 x 100; } >huge.tif
refuses 'huge.tif' huge.tif
{ classic 0 3 16 1 1 x 24; } >zero.tif
refuses 'zero.tif' zero.tif
{ classic 4 3 4 1 1 x 24; numbers 1 12 2; } >fourbit.tif
refuses '4-bit' fourbit.tif
{ classic 4 3 16 1 2 x; numbers 1 12 2; } >rgb.tif
refuses 'colour|RGB|photometric|grey' rgb.tif
{ classic 4 3 16 1 1 "ImageJ=1.53t
images=9
slices=9
"; numbers 1 12 2; } >fewer.tif
refuses 'page' fewer.tif
{ magic; put 42 2; put 8 4; put 0 2; put 8 4; } >loop.tif
refuses 'loop.tif' loop.tif
head -c 300 u16_le.tif >cut.tif
refuses 'cut.tif' cut.tif
: >empty.tif
refuses 'empty' empty.tif
printf 'ObjectType = Image\nNDims = 3\nDimSize = 4 3 2\nElementType = MET_USHORT\nElementDataFile = gone.raw\n' >gone.mhd
refuses 'gone' gone.mhd

# ---- axes of an NRRD or MetaImage that are flipped or exchanged: voxels are taken as they lie, and that is said ----
numbers 1 24 2 >v.raw
axes() { # NAME LINE WORDS: what is said of the file; none: nothing
  local kind='NRRD0004\ntype: ushort\ndimension: 3\nsizes: 4 3 2\nendian: little\nencoding: raw\ndata file: v.raw\nspace directions: %s\n'
  [ "${1##*.}" = nhdr ] || kind='ObjectType = Image\nNDims = 3\nDimSize = 4 3 2\nTransformMatrix = %s\nElementType = MET_USHORT\nElementDataFile = v.raw\n'
  printf "$kind" "$2" >"$1"
  "$volume" info "$1" >out 2>err || fail "$1: $(cat err)"
  if [ "$3" ]; then grep -qF -- "warning: $1: its axes are $3" err || fail "$1: no '$3': $(cat err)"; fi
  if [ -z "$3" ]; then grep -q 'its axes' err && fail "$1: $(cat err)"; fi
  grep -q '^mean: 12.5' out || fail "$1: other voxels: $(cat out)"
}
axes same.nhdr '(2,0,0) (0,2,0) (0,0,5)' ''
axes flip.nhdr '(-2,0,0) (0,2,0) (0,0,5)' 'flipped (those of the voxels run along -x, y, z of the scanner); voxels are taken in the order in which they lie, so grains are mirror images of those in the'
axes turn.nhdr '(-2,0,0) (0,-2,0) (0,0,5)' 'flipped (those of the voxels run along -x, -y, z of the scanner); voxels are taken in the order in which they lie, so grains are turned against'
axes swap.nhdr '(0,0,2) (0,2,0) (5,0,0)' 'exchanged (those of the voxels run along z, y, x of the scanner); voxels are taken in the order in which they lie, so grains are mirror'
axes cycle.nhdr '(0,2,0) (0,0,2) (5,0,0)' 'exchanged (those of the voxels run along y, z, x of the scanner); voxels are taken in the order in which they lie, so grains are turned'
axes both.nhdr '(0,0,2) (0,-2,0) (5,0,0)' 'flipped and exchanged (those of the voxels run along z, -y, x of the scanner); voxels are taken in the order in which they lie, so grains are turned'
axes same.mhd '1 0 0 0 1 0 0 0 1' ''
axes flip.mhd '1 0 0 0 1 0 0 0 -1' 'flipped (those of the voxels run along x, y, -z'

# ---- folders ----
mkdir none gap mixed types foreign
refuses 'none' none
for i in 1 2 4; do cp u16_le.tif gap/s_$i.tif; done
refuses 's_2.tif and s_4.tif' gap
"$volume" info -q --allow-gaps gap >out 2>err && grep -q '^nz: 3 voxels' out || fail "a gap that is allowed: $(cat err)"
cp u16_le.tif mixed/s_1.tif; { classic 3 4 16 1 1 x; numbers 1 12 2; } >mixed/s_2.tif
refuses 's_2.tif' mixed
cp u16_le.tif types/s_1.tif; cp i16_le.tif types/s_2.tif
refuses 's_2.tif' types
cp u16_le.tif foreign/s_1.tif; echo prose >foreign/s_2.tif
refuses 's_2.tif' foreign
exit $bad
