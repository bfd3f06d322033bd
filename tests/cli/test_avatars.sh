#!/usr/bin/env bash
# talus-avatars: what it reports, stores and refuses; the same avatars from one thread and from two.
set -u
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
bad=0
fail() { echo "FAILED: $*"; bad=1; }
quiet() { "$@" >out.txt 2>err.txt || { fail "should work: $*"; sed 's/^/    /' err.txt; }; }
expect() { # STATUS TEXT command...
  local want=$1 text=$2; shift 2
  "$@" >out.txt 2>err.txt; local got=$?
  [ "$got" = "$want" ] || { fail "exit $got, not $want: $*"; sed 's/^/    /' err.txt; }
  grep -qF -- "$text" err.txt || { fail "no '$text' in: $*"; sed 's/^/    /' err.txt; }
}
value() { sed -n "s/^$1: \([-0-9.e+]*\).*/\1/p" out.txt; }
holds() { awk "BEGIN {exit !($1)}" || fail "$1 does not hold"; }

quiet "$BIN/talus-phantom" --size=40,40,40 --d50-voxels=11 --solid-fraction=0.5 --seed=4 \
  -o stack.tif --labels=labels.h5
make=("$BIN/talus-avatars" labels.h5 --grey=stack.tif --sample=grains --min-voxels=200)

quiet "${make[@]}" --catalog=one.tals --threads=1
holds "$(value grains) > 12 && $(value rejected) == 0 && $(value too_small) > 0"
holds "$(value grains_cut_by_border) > 5 && $(value grains_cut_by_border) < $(value grains)"
holds "$(value median_volume_change) < 5 && $(value median_nodes) > 100"
holds "$(value median_diameter) > 60 && $(value median_diameter) < 120"
grains=$(value grains); cut=$(value grains_cut_by_border)
quiet "$BIN/talus-catalog" verify one.tals
quiet "${make[@]}" --catalog=two.tals --threads=2
dump() { sqlite3 "$1" .dump | grep '^INSERT INTO avatar' | sha256sum; }
[ "$(sqlite3 one.tals .dump | grep -c '^INSERT INTO avatar')" -ge "$grains" ] ||
  fail "the dump holds no avatars"
[ "$(dump one.tals)" = "$(dump two.tals)" ] || fail "avatars differ between one thread and two"

# read by layers, in groups of grains that fit: no grain differs, those in the layers between two
# groups neither; other labels' types, a noisy stack, voxels that are no cubes
differ() { diff <(sqlite3 "$1" .dump | grep '^INSERT INTO avatar') \
  <(sqlite3 "$2" .dump | grep '^INSERT INTO avatar') | grep -c '^[<>]'; }
quiet "${make[@]}" --catalog=m.tals --memory=27 --threads=1 --dry-run
grep -q 'read in \([2-9]\|[1-9][0-9]\) groups' err.txt || fail "not several groups: $(cat err.txt)"
[ ! -e m.tals ] || fail "a dry run wrote a catalog"
quiet "${make[@]}" --catalog=m.tals --memory=27 --threads=1
[ "$(differ one.tals m.tals)" = 0 ] || fail "$(differ one.tals m.tals) lines of avatars differ by --memory"
quiet "$BIN/talus-volume" convert labels.h5 -o labels.tif --voxel-size-um=10,10,13
two=("$BIN/talus-avatars" labels.tif --grey=stack.tif --raw=stack.tif --sample=g --min-voxels=900
  "--voxel-size-um=10,10,13")
quiet "${two[@]}" --catalog=a.tals
quiet "${two[@]}" --catalog=b.tals --memory=27 --threads=1
[ "$(differ a.tals b.tals)" = 0 ] || fail "$(differ a.tals b.tals) lines differ with oblong voxels"
quiet "${make[@]}" --catalog=e.tals --memory=40 --every=8
holds "$(value grains) == int(($grains + 7) / 8)"
expect 2 --memory "${make[@]}" --catalog=x.tals --memory=2 --threads=1

# a sample's name is taken once; --overwrite replaces it; a refusal changes nothing
before=$(sha256sum <one.tals)
expect 2 --overwrite "${make[@]}" --catalog=one.tals
[ "$before" = "$(sha256sum <one.tals)" ] || fail "a refused run changed the catalog"
quiet "${make[@]}" --catalog=one.tals --overwrite --no-with-border
holds "$(value grains) == $grains - $cut && $(value border_left_out) == $cut"

# each grain has a verdict, shown; grains overlap by less than a tenth of a voxel
holds "$(value deepest_overlap) < 0.1 && $(value volume_in_two_grains) < 0.01"
holds "$(value verdict_good) + $(value verdict_doubtful) + $(value verdict_rejected) == $(value grains)"
holds "$(value verdict_good) > 0.7 * $(value grains)"
[ "$(sqlite3 one.tals 'SELECT count(*) FROM avatar_check')" = "$(sqlite3 one.tals 'SELECT count(*) FROM avatar')" ] ||
  fail "grains without a verdict"
quiet "$BIN/talus-catalog" show one.tals --grain="$(sqlite3 one.tals 'SELECT min(id) FROM avatar')"
grep -q '^verdict: ' out.txt || fail "no verdict is shown"
grep -q '^roundness: ' out.txt || fail "no descriptors are shown"
# a rejected grain is left out of what is exported
sqlite3 one.tals "UPDATE avatar_check SET verdict = 'rejected' WHERE avatar_id = (SELECT min(avatar_id) FROM avatar_check)"
quiet "$BIN/talus-catalog" export one.tals --format=csv --with-border -o all.csv
holds "$(wc -l <all.csv) == $(sqlite3 one.tals 'SELECT count(*) FROM avatar')"

# a grey stack, or a scan, of other voxels than the labels is refused, by both tools that take one; a size that is said wins
quiet "$BIN/talus-volume" convert stack.tif -o wide.tif --voxel-size-um=20
quiet "$BIN/talus-volume" convert stack.tif -o near.tif --voxel-size-um=10.001
expect 1 'wide.tif has voxels of 20 x 20 x 20 um, labels.h5 of 10 x 10 x 10 um' "$BIN/talus-avatars" labels.h5 --grey=wide.tif --sample=g --catalog=w.tals
expect 1 'wide.tif has voxels of 20 x 20 x 20 um, labels.h5 of' "$BIN/talus-avatars" labels.h5 --grey=stack.tif --raw=wide.tif --sample=g --catalog=w.tals
expect 1 'wide.tif has voxels of 20 x 20 x 20 um, labels.h5 of' "$BIN/talus-label" labels.h5 --grey=wide.tif -o w.h5
grep -q -- '--voxel-size-um' err.txt || fail "the refusal names no remedy: $(cat err.txt)"
[ ! -e w.tals ] && [ ! -e w.h5 ] || fail "a refused run wrote something"
quiet "$BIN/talus-avatars" labels.h5 --grey=near.tif --sample=g --catalog=w.tals --min-voxels=900 --dry-run
quiet "$BIN/talus-label" labels.h5 --grey=wide.tif -o w.h5 --voxel-size-um=10
grep -q 'warning: wide.tif: voxel size along x: 10 um as given, not 20' err.txt || fail "no word of the size that was said: $(cat err.txt)"

# a mask in place of labels: of grains that the border cuts, and of two that it does not; one large label among many; and no
# word of that for labels, nor for the label of a single grain
mask_words='looks like a mask'
quiet "${make[@]}" --catalog=w.tals --dry-run
grep -q "$mask_words" err.txt && fail "labels are taken for a mask: $(cat err.txt)"
quiet "$BIN/talus-binarize" stack.tif -o mask.h5
quiet "$BIN/talus-avatars" mask.h5 --grey=stack.tif --sample=g --catalog=w.tals
grep -q "warning: mask.h5: its only label is cut by the border.*$mask_words.*talus-label" err.txt || fail "a mask: $(cat err.txt)"
pieces() { # NAME EXPRESSION: labels by a formula of x, y, z, in 40^3 voxels
  awk 'BEGIN {for (z = 0; z < 40; z++) for (y = 0; y < 40; y++) for (x = 0; x < 40; x++) printf "\\%03o", ('"$2"')}' | { IFS= read -r text; printf '%b' "$text"; } >"$1.raw"
  quiet "$BIN/talus-volume" convert "$1.raw" --raw=40,40,40,u8,little -o "$1.tif" --voxel-size-um=10
}
ball1='((x - 12) ^ 2 + (y - 20) ^ 2 + (z - 20) ^ 2 < 64)'
pieces two "$ball1 || ((x - 30) ^ 2 + (y - 20) ^ 2 + (z - 20) ^ 2 < 36)"
quiet "$BIN/talus-avatars" two.tif --method=distance --sample=g --catalog=w2.tals
grep -q "two.tif: its only label is in several pieces: this $mask_words" err.txt || fail "two whole grains of one label: $(cat err.txt)"
pieces one "$ball1"
quiet "$BIN/talus-avatars" one.tif --method=distance --sample=one --catalog=w2.tals
grep -q "$mask_words" err.txt && fail "a single grain is taken for a mask: $(cat err.txt)"
pieces many "z < 30 ? 1 : z > 33 && x % 10 > 1 && y % 10 > 1 ? 2 + int(x / 10) + 4 * int(y / 10) : 0"
quiet "$BIN/talus-avatars" many.tif --method=distance --sample=many --catalog=w2.tals --dry-run
grep -q "one of its labels has more than half.*$mask_words" err.txt || fail "one large label: $(cat err.txt)"

# a grey stack of another scan fits none of the labels
quiet "$BIN/talus-phantom" --size=40,40,40 --d50-voxels=11 --solid-fraction=0.5 --seed=7 -o elsewhere.tif
quiet "$BIN/talus-avatars" labels.h5 --grey=elsewhere.tif --sample=g --catalog=w3.tals --min-voxels=400
grep -q 'warning: no grain is good: elsewhere.tif fits none of the [0-9]* labels of labels.h5, so it may be of another scan' err.txt ||
  fail "another scan's grey: $(tail -3 err.txt)"

# a grain that its labels cut in two is not good, neither half; the whole one is; a catalog of schema 3,
# which has no such residual, is still read
ball() { # LABEL of the upper half: two balls of radius 9 in 48 x 24 x 24 voxels, the first cut at its middle
  awk -v upper="$1" 'BEGIN {for (z = 0; z < 24; z++) for (y = 0; y < 24; y++) for (x = 0; x < 48; x++) {
    a = (x - 12) ^ 2 + (y - 12) ^ 2 + (z - 12) ^ 2 < 81; b = (x - 35) ^ 2 + (y - 12) ^ 2 + (z - 12) ^ 2 < 81
    printf "\\%03o", a ? (z < 12 ? 1 : upper) : b ? 2 : 0}}' | { IFS= read -r text; printf '%b' "$text"; } >ball.raw
  quiet "$BIN/talus-volume" convert ball.raw --raw=24,24,48,u8,little --voxel-size-um=10 -o ball.h5 --overwrite
  quiet "$BIN/talus-avatars" ball.h5 --method=distance --sample=s --overwrite --catalog=ball.tals
}
verdict() { sqlite3 ball.tals "SELECT verdict FROM avatar_check JOIN avatar ON id = avatar_id WHERE label = $1"; }
ball 1
[ "$(verdict 1) $(verdict 2)" = "good good" ] || fail "whole balls are $(verdict 1) and $(verdict 2)"
ball 3
[ "$(verdict 1) $(verdict 2) $(verdict 3)" = "doubtful good doubtful" ] ||
  fail "halves of a ball are $(verdict 1) and $(verdict 3), the whole one beside them $(verdict 2)"
half=$(sqlite3 ball.tals 'SELECT id FROM avatar WHERE label = 3')
quiet "$BIN/talus-catalog" show ball.tals --grain="$half"
grep -q '^reason: perhaps a part of its neighbour' out.txt || fail "no reason: $(cat out.txt)"
wide=$(value widest_contact_over_cross_section)
holds "$wide > 1.5 && $wide < 1.7" # 2^(2/3)
sqlite3 ball.tals 'ALTER TABLE avatar_check DROP COLUMN contact_width; DROP TABLE terrain_filled; PRAGMA user_version = 3'
quiet "$BIN/talus-catalog" show ball.tals --grain="$half"
grep -q '^verdict: doubtful' out.txt && ! grep -q '^widest_contact' out.txt || fail "schema 3: $(cat out.txt)"
quiet "$BIN/talus-avatars" ball.h5 --method=distance --sample=t --catalog=ball.tals
[ "$(sqlite3 ball.tals "PRAGMA user_version; SELECT count(*) FROM avatar_check WHERE contact_width > 1")" = $'5\n2' ] ||
  fail "schema 3 is not brought to 5"

# the stack before denoising, mixed in, for every fourth grain
fourth="int(($grains + 3) / 4)"
quiet "${make[@]}" --raw=stack.tif --catalog=r.tals --every=4
holds "$(value grains) == $fourth"
expect 1 absent.tif "${make[@]}" --raw=absent.tif --catalog=x.tals

# the other methods
quiet "$BIN/talus-avatars" labels.h5 --method=distance --sample=d --min-voxels=200 --catalog=d.tals
holds "$(value grains) == $grains && $(value median_volume_change) < 3"
quiet "${make[@]}" --every=4 --catalog=d.tals --method=edge --curvature-steps=5 --nodes=80
holds "$(value median_nodes) == 80 && $(value median_curvature_loss_restored) > 1"

# refusals
expect 2 1/6 "${make[@]}" --catalog=x.tals --mu=0.2
expect 2 --grey "$BIN/talus-avatars" labels.h5 --sample=a --catalog=x.tals
expect 2 --catalog "$BIN/talus-avatars" labels.h5 --grey=stack.tif --sample=a
expect 2 --sample "$BIN/talus-avatars" labels.h5 --grey=stack.tif --catalog=x.tals
expect 2 --surface-sigma "${make[@]}" --catalog=x.tals --surface-sigma=much
expect 2 --nu "${make[@]}" --catalog=x.tals --nu=strong
expect 1 --min-voxels "$BIN/talus-avatars" labels.h5 --grey=stack.tif --sample=a --catalog=x.tals \
  --min-voxels=1000000
quiet "$BIN/talus-phantom" --size=40,40,38 --d50-voxels=10 --solid-fraction=0.4 -o other.tif
expect 1 other.tif "$BIN/talus-avatars" labels.h5 --grey=other.tif --sample=a --catalog=x.tals
expect 1 absent.tif "$BIN/talus-avatars" labels.h5 --grey=absent.tif --sample=a --catalog=x.tals
expect 1 "too many" "${make[@]}" --catalog=x.tals --nodes=900000
[ ! -e x.tals ] || fail "a catalog was left by refused runs"
exit $bad
