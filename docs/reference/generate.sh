#!/usr/bin/env bash
# Write the generated pages of the reference into a folder (default: this one), from what the tools in BIN
# print: tools.md, catalog-schema.md, columns.md, and the table of keys in study.md. `make reference` calls it;
# tests/cli/test_reference.sh compares its pages with those of the repository.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
: "${BIN:?set by make}"
BIN=$(cd "$BIN" && pwd)
out=$(cd "${1:-$here}" && pwd)
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
generated() { printf '<!-- Written by docs/reference/generate.sh (make reference); do not edit. -->\n'; }

# ---- tools ----
verbs() { "$BIN/$1" --help | awk '/^Verbs/ {on = 1; next} !NF {on = 0} on {print $1}'; }
summary() { "$BIN/$1" --help | sed -n 2p; }
page() { # heading, tool and verb
  printf '\n%s\n\n```text\n' "$1"
  shift
  "$BIN/$1" "${@:2}" --help
  printf '```\n'
}
tools=()
for tool in "$here"/../../tools/talus-*.c; do tools+=("$(basename "$tool" .c)"); done
{
  printf '# Tools\n\n'
  generated
  printf '\nWhat each tool prints for `--help`. The same text is its man page. Options that all tools share are listed\n'
  printf 'with each. Square brackets hold the unit, round ones the range that is accepted and the default.\n\n| tool | what it does |\n|---|---|\n'
  for tool in "${tools[@]}"; do printf '| [%s](#%s) | %s |\n' "$tool" "$tool" "$(summary "$tool")"; done
  for tool in "${tools[@]}"; do
    page "## $tool" "$tool"
    for verb in $(verbs "$tool"); do page "### $tool $verb" "$tool" "$verb"; done
  done
} >"$work/tools.md"

# ---- schema of the catalog ----
"$BIN/talus-avatars" --superellipsoid-um=500,400,300,1,1 --sample=one --catalog="$work/catalog.tals" -q
{
  printf '# Schema of the catalog\n\n'
  generated
  printf '\nThe SQL of every table, index and view of a catalog, as SQLite holds it. What the columns mean:\n[catalog](catalog.md).\n'
  /usr/bin/python3 - "$work/catalog.tals" <<'PYTHON'
import re
import sqlite3
import sys

with sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True) as catalog:
    version = catalog.execute("PRAGMA user_version").fetchone()[0]
    application = catalog.execute("PRAGMA application_id").fetchone()[0]
    print(f"\n`PRAGMA user_version` is {version}, `PRAGMA application_id` is {application}.")
    rows = catalog.execute(
        "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'"
        " ORDER BY CASE type WHEN 'table' THEN 0 WHEN 'view' THEN 1 ELSE 2 END, name").fetchall()
for kind, name, sql in rows:
    sql = re.sub(r"\s+", " ", sql).strip()
    if kind == "table":  # one column or rule a line; commas inside brackets stay
        head, body = sql.split("(", 1)
        depth, columns, text = 0, [], ""
        for character in body[: body.rindex(")")]:
            depth += (character == "(") - (character == ")")
            if character == "," and not depth:
                columns.append(text.strip())
                text = ""
            else:
                text += character
        columns.append(text.strip())
        tail = body[body.rindex(")"):]
        sql = head + "(\n  " + ",\n  ".join(columns) + "\n" + tail
    elif kind == "view":
        sql = re.sub(r" (SELECT|FROM|JOIN|LEFT JOIN|WHERE|ORDER BY|GROUP BY) ", r"\n  \1 ", sql)
    print(f"\n## {kind} `{name}`\n\n```sql\n{sql};\n```")
PYTHON
} >"$work/catalog-schema.md"

# ---- keys of a study ----
"$BIN/talus-solve" --keys >"$work/keys"
awk -v keys="$work/keys" '
  /^<!-- keys -->$/ {print; while ((getline line <keys) > 0) print line; skip = 1; next}
  /^<!-- end of keys -->$/ {skip = 0}
  !skip' "$here/study.md" >"$work/study.md"

# ---- columns of a run's tables, and of packing.csv ----
"$BIN/talus-solve" --columns >"$work/columns.md"
"$BIN/talus-measure" --columns >>"$work/columns.md"

for name in tools.md catalog-schema.md study.md columns.md; do cp "$work/$name" "$out/$name"; done
