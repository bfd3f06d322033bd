#!/usr/bin/env bash
# The lint of documents refuses what it says, and lets pass what is free: in a small repository of its own. 1 second.
set -u
here=$PWD
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
bad=0
fail() { echo "FAILED: $*"; bad=1; }
mkdir -p tests/lint docs libcore/base tools
cp "$here"/tests/lint/{documents.py,phrases} tests/lint
git init -q . || exit 1
lint() { python3 tests/lint/documents.py "$@" >out 2>&1; }
refused() { # name, text of the complaint
  if lint; then fail "$1 passed"; fi
  grep -qF -- "$2" out || { fail "$1: no word '$2'"; cat out; }
}
good() { lint || { fail "$1 is refused"; cat out; }; }
long=$(printf 'word %.0s' {1..30})

printf '# Page\nA line.\n\n| a table %s |\n|---|\n\n```text\n%s\n```\n\n    %s\n' "$long" "$long" "$long" >docs/page.md
good "a table, a block and an indented block that are long"
printf '%s\n' "$long" >>docs/page.md; refused "a long line" 'docs/page.md:12: 150 characters'

echo 'See docs/other.md and [it](other.md#place).' >docs/page.md
refused "a document that is not there" 'the document docs/other.md is not in the repository'
refused "a link that leads nowhere" 'the link leads to other.md#place'
touch docs/other.md; good "a document that is there"
echo '/* docs/gone.md has the numbers. */' >libcore/base/a.c; refused "a comment that cites" 'libcore/base/a.c:1: the document docs/gone.md'
echo '/* PHYSICS.md */' >libcore/base/a.c; refused "a name in capitals" 'PHYSICS.md is not in the repository'

echo '/* The run goes on. */ int jammed; const char *key = "jammed";' >libcore/base/a.c; good "a comment and a key"
if lint --comments; then fail "--comments lists nothing"; fi
grep -q 'a.c:1: .goes on.' out || { fail "--comments"; cat out; }
echo 'const char *text = "the run goes on from a checkpoint";' >libcore/base/a.c; refused "a message" "'goes on': write resume"
rm libcore/base/a.c
for words in 'The energy ledger is kept.' 'The ram is driven.' 'The balance has a defect.' 'A grain is jammed.' 'In this issue it was mended.' \
  'The Fahrboeschung is 20 degrees.' 'Use every manieth node.'; do
  echo "$words" >docs/page.md; refused "$words" 'docs/page.md:1: '
done
echo 'The way is shared; a guide to the room. A jammed pack has `ram_work_J` and `jammed`; 24 GB of RAM.' >docs/page.md
good "ordinary words, keys in backticks, a packing that jams"
mkdir -p docs/guide
echo 'static const char *const names[] = {"piston_force_N", "largest_of_radius", "overlap"};' >libcore/base/a.c
echo 'Columns `piston_force_N`, `overlap_largest_of_radius`, `piston_`.' >docs/guide/page.md; good "names of the code"
echo 'Column `ram_force_N`.' >docs/guide/page.md; refused "an old name" "docs/guide/page.md:1: 'ram_force_N' is no column"
exit $bad
