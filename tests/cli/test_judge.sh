#!/usr/bin/env bash
# The judging harness: rows, exit status, misses, docs rewritten, crashes, recorded full runs.
set -u
root=$PWD dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
bad=0
fail() { echo "FAILED: $*"; bad=1; }
mkdir "$dir/bin" "$dir/docs"
cp "$TESTBIN/judge-report" "$dir/bin"; cp "$TESTBIN/judge-sample" "$dir/bin/val_sample"
cp "$TESTBIN/judge-sample" "$dir/bin/bench_sample"
export JUDGE_OUT=$dir/out JUDGE_DOCS=$dir/docs
cd "$root" || exit 1

page() {
  printf '# Page\nbefore\n<!-- rows: sample -->\nold\n<!-- end -->\nbetween\n<!-- rows: other -->\nkept\n<!-- end -->\nafter\n'
}
run() { # how, kind, want, study
  local code=0
  JUDGE_SAMPLE=$1 TESTBIN=$dir/bin tests/judge/run.sh "$2" "${@:4}" >"$dir/rows" 2>"$dir/talk" || code=$?
  [ "$code" = "$3" ] || { fail "$1 $2 gave $code, not $3"; cat "$dir/talk"; }
}
has() { grep -qF -- "$2" "$1" || { fail "no '$2' in $1"; cat "$1"; }; }
hasnt() { ! grep -qF -- "$2" "$1" || { fail "'$2' in $1"; cat "$1"; }; }

page >"$dir/docs/validation.md"; page >"$dir/docs/performance.md"
run good validation 0
[ "$(head -1 "$dir/rows")" = figure,value,unit,goal,within ] || fail "the header"
[ "$(grep -c '^figure,' "$dir/rows")" = 1 ] || fail "one header"
awk -F, 'NF != 5 {exit 1}' "$dir/rows" || fail "rows of five fields"
has "$dir/rows" 'sample_error,1e-12,1,<= 1e-09,yes'
has "$dir/rows" 'sample_gain,6,1,>= 5,yes'
has "$dir/rows" 'sample_ratio,1.5,1,1..2,yes'
doc=$dir/docs/validation.md
for text in 'before' '| sample_gain | 6 | 1 | >= 5 | yes |' '| sample_ratio | 1.5 | 1.2 | 1 | +25% | Someone 2024, Table 1 |' \
  '| sample_height | 2 | 2.5 | m | +25% | 3 | 12 | 4 | 8, Someone 2024, Table 2 |' '- a note' between kept after; do has "$doc" "$text"; done
hasnt "$doc" old
has "$dir/talk" 'validation: '
[ -s "$dir/docs/pictures/sample-line.png" ] || fail "the picture"
cp "$doc" "$dir/once"; run good validation 0; cmp -s "$doc" "$dir/once" || fail "a second run changed the page"
run good bench 0; has "$dir/docs/performance.md" '| sample_gain | 6 |'

# out of goal: no; with its heading, number and words: miss; correctness never
run out validation 1; has "$dir/rows" 'sample_gain,3,1,>= 5,no'
printf '\n### sample_gain\nshort 3\n' >>"$doc"
run out validation 1; has "$dir/rows" 'sample_gain,3,1,>= 5,no'
echo "seen 3, the profile says that the copy takes most of it; tried twice, once with tiles and once with a tree, both slower than this" >>"$doc"
run out validation 0; has "$dir/rows" 'sample_gain,3,1,>= 5,miss'; has "$doc" '| sample_gain | 3 | 1 | >= 5 | miss |'
sed 's/sample_gain/sample_overlap/' "$doc" >"$dir/new" && cp "$dir/new" "$doc"
run wrong validation 1; has "$dir/rows" 'sample_overlap,0.05,1,<= 0.02,no'
run nan validation 1; has "$dir/rows" 'sample_ratio,nan,1,1..2,no'

# a recorded row belongs to the study whose whole name it begins with, of two words, too
printf '%s\n' figure,value,unit,goal,within,kind,source,commit,date,machine,wall_s \
  'two_words_gain,6,1,>= 5,yes,goal,,abc,2026-01-01,here,9' 'two_others,7,1,>= 5,yes,goal,,abc,2026-01-01,here,9' >"$dir/two.csv"
"$dir/bin/judge-report" recorded "$dir/two.csv" two_words >"$dir/rows" || fail "recorded rows of two_words"
has "$dir/rows" 'two_words_gain_recorded,6,'; hasnt "$dir/rows" two_others

# a crash is a no, in the rows and on the page; what it said before stays
page >"$doc"
run crash validation 1; has "$dir/rows" 'sample_ends,0,,>= 1,no'; has "$dir/rows" 'sample_error,1e-12,1,<= 1e-09,yes'
has "$doc" '| sample_ends | 0 |'
JUDGE_LIMIT=0.0001 run good validation 1; has "$dir/rows" 'sample_ends,0,,>= 1,no'

# several side by side: each one's rows whole, a crash beside others, and none left behind when it is interrupted
cp "$dir/bin/val_sample" "$dir/bin/val_second"; cp "$dir/bin/val_sample" "$dir/bin/val_repose"; page >"$doc"
JUDGE_JOBS=3 run good validation 0
[ "$(grep -c '^sample_gain,6,1,>= 5,yes$' "$dir/rows")" = 3 ] || fail "the rows of three studies"
for study in sample second repose; do has "$dir/talk" "$study: "; done
JUDGE_JOBS=2 run crash validation 1; [ "$(grep -c '_ends,0,,>= 1,no$' "$dir/rows")" = 3 ] || fail "three crashes"
for study in second repose; do
  printf '#!/bin/sh\necho $$ >%s\nexec sleep 300\n' "$dir/$study.pid" >"$dir/bin/val_$study"
done
JUDGE_SAMPLE=good JUDGE_JOBS=2 TESTBIN=$dir/bin tests/judge/run.sh validation >/dev/null 2>&1 &
both=$!
for _ in $(seq 100); do [ ! -s "$dir/second.pid" ] || [ ! -s "$dir/repose.pid" ] || break; sleep 0.1; done
kill "$both"; wait "$both"; code=$?
[ "$code" = 130 ] || fail "an interrupted run gave $code"
sleep 0.5
for study in second repose; do ! kill -0 "$(cat "$dir/$study.pid")" 2>/dev/null || fail "$study goes on"; done
rm "$dir/bin/val_second" "$dir/bin/val_repose"

# more than one miss in five: three misses of ten rows recorded and new
page >"$doc"; mkdir -p "$dir/docs/validation"
for figure in sample_a sample_b; do
  printf '\n### %s\nseen 3 of 5 because of this and that and much more of it than anybody would have thought before trying it twice over\n' $figure >>"$doc"
done
csv=$dir/docs/validation/full.csv
echo figure,value,unit,goal,within,kind,source,commit,date,machine,wall_s >"$csv"
for figure in sample_a sample_b; do echo "$figure,3,1,>= 5,no,goal,,abc,2026-01-01,some cpu,12" >>"$csv"; done
run good validation 1; has "$dir/talk" 'one figure in five'; has "$dir/rows" 'sample_a_recorded,3,1,>= 5,miss'
run good validation 0 sample; has "$doc" 'sample_a (full, recorded 2026-01-01 at abc, some cpu, 12 s)'

# a study that has no block gets a section; full runs are recorded, the newest counts
rm -r "$(dirname "$csv")"; echo '# Page' >"$doc"
run good full 2
run good full 0 sample; has "$csv" 'sample_size,2,1,<= 2,yes,goal'; run good full 0 sample
has "$csv" 'sample_height,2.5,m,2,,both,3 | 12 | 4 | 8; Someone 2024; Table 2,'
has "$csv" 'sample_speed,3,s; a step,2,,paper,Someone 2024; Table 3,'
[ "$(grep -c '^sample_size,' "$csv")" = 2 ] || fail "two full runs recorded"
run recorded validation 0; has "$doc" '<!-- rows: sample -->'; has "$doc" 'recorded: a peer, 100 us there'
has "$doc" '| sample_height | 2 |'; has "$doc" '| sample_height (full) | 2 |'; has "$doc" '| sample_speed (full) | 3 | 2 | s; a step |'
[ "$(grep -c '^sample_size_recorded,' "$dir/rows")" = 1 ] || fail "the newest recorded row"
run good validation 2 nothing

# score: its own page and record; a given phantom's rows are recorded, then shown as such
cp "$dir/bin/val_sample" "$dir/bin/score_sample"; rm -rf "$dir/docs/validation"; page >"$dir/docs/imaging.md"
doc=$dir/docs/imaging.md csv=$dir/docs/validation/score.csv
run good score 0; has "$doc" '| sample_gain | 6 |'; [ ! -e "$csv" ] || fail "a record without a given phantom"
TALUS_PHANTOM=/some/where run given score 0; has "$csv" 'sample_ari_given,0.9,1,>= 0.8,yes,goal'
has "$doc" '| sample_ari_given | 0.9 |'; hasnt "$csv" sample_gain
TALUS_PHANTOM=/some/where run given score 0; [ "$(grep -c '^sample_ari_given,' "$csv")" = 1 ] || fail "one record of a given figure"
run good score 0; has "$dir/rows" 'sample_ari_given_recorded,0.9,1,>= 0.8,yes'; has "$doc" '| sample_ari_given (recorded '
run out score 1; printf '\n### sample_gain\nseen 3, the profile says that the copy takes most of it; tried twice, once with tiles and once with a tree, both slower\n' >>"$doc"
run out score 0; has "$dir/rows" 'sample_gain,3,1,>= 5,miss'
exit $bad
