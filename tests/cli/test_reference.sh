#!/usr/bin/env bash
# The generated pages of docs/reference (tools, keys of a study, schema of the catalog) are those of the tools of
# today. 5 seconds.
set -u
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
bad=0
docs/reference/generate.sh "$dir" >"$dir/log" 2>&1 || { echo "FAILED: docs/reference/generate.sh"; cat "$dir/log"; exit 1; }
for page in tools.md catalog-schema.md study.md; do
  [ -s "$dir/$page" ] || { echo "FAILED: $page is not written"; bad=1; }
  diff -u "docs/reference/$page" "$dir/$page" | head -20 | grep . && {
    echo "FAILED: docs/reference/$page is not of today's tools; run make reference"; bad=1; }
done
# every tool and verb has its heading, every key of the schema its row
[ "$(grep -c '^## talus-' "$dir/tools.md")" = "$(ls tools/talus-*.c | wc -l)" ] || { echo "FAILED: a tool is missing"; bad=1; }
grep -q '^### talus-catalog export$' "$dir/tools.md" || { echo "FAILED: no verbs"; bad=1; }
grep -A1 '^Options:$' "$dir/tools.md" | grep -q '^$' && { echo "FAILED: a heading Options with nothing under it"; bad=1; }
grep -q '^| `dt_s` ' "$dir/study.md" || { echo "FAILED: no keys"; bad=1; }
exit $bad
