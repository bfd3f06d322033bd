#!/usr/bin/env bash
# The worked examples of CONTRIBUTING.md: their new files and changed lines are put into a copy of the sources,
# and each file that they make or change compiles without a warning. No example touches more files than four, which is
# the goal of docs/design.md for a method with a section of its own. 1 second.
set -u
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
cp -r libcore "$dir"
/usr/bin/python3 - "$dir" 3<CONTRIBUTING.md >"$dir/touched" <<'PYTHON' || exit 1
import os
import re
import subprocess
import sys

folder = sys.argv[1]
with open(3, encoding="utf-8") as file:
    text = file.read()
touched = []
for name, body in re.findall(r"^<!-- file: (\S+) -->\n```c\n(.*?)^```$", text, re.M | re.S):
    path = os.path.join(folder, name)
    if os.path.exists(path):
        sys.exit(f"FAILED: {name} is there already")
    with open(path, "w", encoding="utf-8") as file:
        file.write(body)
    touched.append(name)
for body in re.findall(r"^```diff\n(.*?)^```$", text, re.M | re.S):
    done = subprocess.run(["git", "apply", "-p1", "-"], cwd=folder, input=body, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        sys.exit(f"FAILED: these lines are no longer those of the sources:\n{body}\n{done.stdout}")
    touched += re.findall(r"^\+\+\+ b/(\S+)", body, re.M)
for example in text.split("\n### ")[1:]:
    files = set(re.findall(r"^<!-- file: (\S+) -->|^\+\+\+ b/(\S+)", example, re.M))
    if len(files) > 4:
        sys.exit(f"FAILED: {len(files)} files are touched by the example: {example.splitlines()[0]}")
print("\n".join(touched))
PYTHON
[ "$(grep -c '\.c$' "$dir/touched")" -ge 5 ] || { echo "FAILED: examples are missing"; cat "$dir/touched"; exit 1; }
read -ra packages < <(pkg-config --cflags hdf5-serial | sed 's/-I/-isystem /g')
bad=0
cd "$dir" || exit 1
# and those that hold the tables which the new rows are in
for file in $(grep '\.c$' touched) libcore/solve/{methods,law,model,penalty_setup}.c libcore/run/{setup,sense}.c \
  libcore/model/closed.c libcore/model/material.c \
  libcore/shape/formula.c libcore/post/packing.c; do
  gcc -std=c17 -fopenmp -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wno-psabi -Wno-missing-field-initializers -Werror -fsyntax-only \
    -D_DEFAULT_SOURCE -D_XOPEN_SOURCE=700 -Ilibcore "${packages[@]}" "$file" || { echo "FAILED: $file"; bad=1; }
done
exit $bad
