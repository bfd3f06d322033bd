#!/usr/bin/env bash
# The commands of docs/guide run as they are printed: the blocks marked sh of each page, in the order of
# docs/guide/README.md, in one fresh folder. A block is left out only where the page states a reason
# ("<!-- not run: ... -->" before it). Lines of a block marked text that follows one must be in its
# output. Each message of the page on troubleshooting is one that the program has. 80 CPU-seconds.
# unsanitized: the tools' own tests run the same code, and these commands would take five minutes.
set -u
repository=$PWD
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
export PATH="$BIN:$PATH" OMP_NUM_THREADS=1 HOME="$dir" PIPELINES="$repository/pipeline" BIN OMPI_MCA_btl=self,vader
/usr/bin/python3 - "$repository" "$dir" <<'PYTHON'
import os
import re
import subprocess
import sys
import time

repository, folder = sys.argv[1:]
guide = os.path.join(repository, "docs/guide")
work = os.path.join(folder, "work")
os.mkdir(work)
bad = ran = left_out = 0
took = []


def fail(text):
    global bad
    bad = 1
    print("FAILED:", text)


def read(name):
    with open(os.path.join(guide, name), encoding="utf-8") as file:
        return file.read()


BLOCK = re.compile(r"(?:<!-- not run: (?P<reason>[^\n]+?) -->\n)?^```(?P<kind>\w*)\n(?P<text>.*?)^```$", re.M | re.S)
pages = re.findall(r"\]\((\w[\w-]*\.md)\)", read("README.md"))
for page in sorted(os.listdir(guide)):
    if page.endswith(".md") and page != "README.md" and page not in pages:
        fail(f"{page} is not in the guide's table")
for page in pages:
    printed, end = "", 0
    text = read(page)
    for block in BLOCK.finditer(text):
        line = text.count("\n", 0, block.start()) + 1
        between = text[end:block.start()]
        end = block.end()
        if block["kind"] == "sh" and block["reason"]:
            left_out += 1
            printed = ""
        elif block["kind"] == "sh":
            ran += 1
            begin = time.monotonic()
            done = subprocess.run(["bash", "-eu", "-o", "pipefail", "-c", block["text"]], cwd=work, text=True,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            took.append((time.monotonic() - begin, f"{page}:{line}"))
            printed = done.stdout
            if done.returncode:
                fail(f"{page}:{line}: exit status {done.returncode}:\n{block['text']}\n{printed[-2000:]}")
        elif block["kind"] == "text" and not between.strip():
            for want in block["text"].splitlines():
                if want not in printed.splitlines():
                    fail(f"{page}:{line}: '{want}' is not in what the commands before it print")
        elif block["kind"] not in ("yaml", "python", "text", "c"):
            fail(f"{page}:{line}: a block of kind '{block['kind']}': sh, yaml, python, c or text")
if ran < 25:
    fail(f"only {ran} blocks were run")

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
        fail(f"troubleshooting.md: no message contains '{message}'")
if len(messages) < 20:
    fail(f"only {len(messages)} messages were found")
print("the slowest blocks:", ", ".join(f"{place} {seconds:.0f} s" for seconds, place in sorted(took)[:-11:-1]))
print(f"{ran} blocks run, {left_out} left out with a reason, {len(messages)} messages")
sys.exit(bad)
PYTHON
