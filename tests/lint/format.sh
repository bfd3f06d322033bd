#!/usr/bin/env bash
# clang-format holds, no trailing blanks, no tabs in C.
set -u
cd "$(dirname "$0")/../.." || exit 1
status=0
mapfile -t files < <(git ls-files -co --exclude-standard '*.c' '*.h' '*.cpp' '*.hpp')
clang-format --dry-run -Werror "${files[@]}" 2>&1 | grep -E 'error' | cut -d: -f1 | sort | uniq -c |
  awk '{print "lint: " $2 ": " $1 " places to format; run make format"; bad = 1} END {exit bad}' || status=1
if grep -nP '\t|[ ]+$' "${files[@]}" | head -20 | grep .; then
  echo "lint: tabs or trailing blanks above" >&2; status=1
fi
exit $status
