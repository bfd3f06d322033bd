#!/usr/bin/env bash
# The commands of docs/guide run as they are printed (tests/guide.py), in the order of docs/guide/README.md, in one
# fresh folder, but for the tutorials, which tests/cli/test_tutorials.sh runs from an installed copy. Each message of the
# page on troubleshooting is one that the program has. The longest runs are made smaller (SMALLER below).
set -u
repository=$PWD
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
export PATH="$BIN:$PATH" OMP_NUM_THREADS=1 HOME="$dir" PIPELINES="$repository/pipeline" BIN OMPI_MCA_btl=self,vader
tutorials=$(sed -n 's/^pages="\(.*\)"$/\1/p' tests/cli/test_tutorials.sh)
PYTHONPATH="$repository/tests" PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 - "$repository" "$dir" "$tutorials" <<'PYTHON'
import os
import re
import sys

from guide import Pages

repository, folder, tutorials = sys.argv[1:]
guide = os.path.join(repository, "docs/guide")
work = os.path.join(folder, "work")
os.mkdir(work)
SMALLER = [
    ("triaxial.md", "count: 70", "count: 40"),
    ("triaxial.md", "height_m: 0.031", "height_m: 0.018"),
    ("triaxial.md", "until_strain: 0.06", "until_strain: 0.02"),
    ("triaxial.md", "ramp_s: 0.01, damping_per_s: 200, most_s: 0.04", "ramp_s: 0.005, damping_per_s: 200, most_s: 0.01"),
    ("triaxial.md", "dt_s: 1.0e-5, duration_s: 0.2", "dt_s: 2.0e-5, duration_s: 0.2"),
    ("rockfall.md", "  count: 20\n", "  count: 8\n"),
    ("rockfall.md", "ground=medium -o medium.run", "ground=medium -o medium.run --set time.duration_s=4"),
    ("rockfall.md", "duration_s: 40, until_rest: yes", "duration_s: 10, until_rest: yes"),
    ("rockfall.md", "ensemble: {count: 100,", "ensemble: {count: 20,"),
    ("rockfall.md", "ensemble: {count: 10, blocks_together: 20,", "ensemble: {count: 2, blocks_together: 6,"),
    ("rockfall.md", "release-0.yaml -o release-0.run", "release-0.yaml -o release-0.run --set time.duration_s=2"),
    ("rockfall.md", "  count: 100\n", "  count: 10\n"),
]
pages = Pages(guide, work, SMALLER)


def read(name):
    with open(os.path.join(guide, name), encoding="utf-8") as file:
        return file.read()


table = re.findall(r"\]\((\w[\w-]*\.md)\)", read("README.md"))
for page in sorted(os.listdir(guide)):
    if page.endswith(".md") and page != "README.md" and page not in table:
        pages.fail(f"{page} is not in the guide's table")
if len(tutorials.split()) != 2:
    pages.fail(f"tests/cli/test_tutorials.sh names the pages '{tutorials}', not two")
for page in table:
    if page not in tutorials.split():
        pages.run(page)
if pages.ran < 25:
    pages.fail(f"only {pages.ran} blocks were run")

# What the page on troubleshooting quotes is in the sources, adjacent strings joined.
strings = []
for root in ("libcore", "tools"):
    for place, _, names in os.walk(os.path.join(repository, root)):
        for name in names:
            if name.endswith((".c", ".h")):
                with open(os.path.join(place, name), encoding="utf-8") as file:
                    strings.append(re.sub(r'"\s*"', "", file.read()))
strings = "\n".join(strings)
messages = re.findall(r"^- `([^`]+)`:", read("troubleshooting.md"), re.M)
for message in messages:
    if message not in strings:
        pages.fail(f"troubleshooting.md: no message contains '{message}'")
if len(messages) < 20:
    pages.fail(f"only {len(messages)} messages were found")
print("the slowest blocks:", pages.slowest())
print(f"{pages.ran} blocks run, {pages.left_out} left out with a reason, {len(messages)} messages")
sys.exit(pages.failed > 0)
PYTHON
