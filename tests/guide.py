#!/usr/bin/python3
"""Run pages of the guide as they are printed.

guide.py GUIDE WORK PAGE...    GUIDE: docs/guide; WORK: the folder in which the commands run

The blocks marked sh of each page run in the order of the pages. A block is left out only where the page states a
reason ("<!-- not run: ... -->" before it); ALSO in the environment is a reason that holds no longer, whose blocks
run, too (tests/slurm/run.sh). Lines of a block marked text that follows one must be in its output.
"""
import os
import re
import subprocess
import sys
import time

BLOCK = re.compile(r"(?:<!-- not run: (?P<reason>[^\n]+?) -->\n)?^```(?P<kind>\w*)\n(?P<text>.*?)^```$", re.M | re.S)


class Pages:
    """What ran, what was left out, what failed. smaller: (page, printed, in its place) for sizes of long runs."""

    def __init__(self, guide, work, smaller=()):
        self.guide, self.work, self.smaller = guide, work, smaller
        self.ran = self.left_out = self.failed = 0
        self.took = []

    def fail(self, text):
        self.failed += 1
        print("FAILED:", text, flush=True)

    def run(self, page):
        with open(os.path.join(self.guide, page), encoding="utf-8") as file:
            text = file.read()
        for name, words, others in self.smaller:
            if name == page and words not in text:
                self.fail(f"{page} does not print '{words}'")
            if name == page:
                text = text.replace(words, others)
        printed, end = "", 0
        for block in BLOCK.finditer(text):
            line = text.count("\n", 0, block.start()) + 1
            between = text[end:block.start()]
            end = block.end()
            if block["kind"] == "sh" and block["reason"] and block["reason"] != os.environ.get("ALSO"):
                self.left_out += 1
                printed = None
            elif block["kind"] == "sh":
                self.ran += 1
                begin = time.monotonic()
                done = subprocess.run(["bash", "-eu", "-o", "pipefail", "-c", block["text"]], cwd=self.work, text=True,
                                      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                self.took.append((time.monotonic() - begin, f"{page}:{line}"))
                printed = done.stdout
                if done.returncode:
                    self.fail(f"{page}:{line}: exit status {done.returncode}:\n{block['text']}\n{printed[-2000:]}")
            elif block["kind"] == "text" and printed is None and not between.strip():
                continue  # of a block that was left out
            elif block["kind"] == "text" and not between.strip():
                for want in block["text"].splitlines():
                    if want not in printed.splitlines():
                        self.fail(f"{page}:{line}: '{want}' is not in what the commands before it print")
            elif block["kind"] not in ("yaml", "python", "text", "c"):
                self.fail(f"{page}:{line}: a block of kind '{block['kind']}': sh, yaml, python, c or text")

    def slowest(self):
        return ", ".join(f"{place} {seconds:.0f} s" for seconds, place in sorted(self.took)[:-11:-1])


if __name__ == "__main__":
    pages = Pages(sys.argv[1], sys.argv[2])
    for name in sys.argv[3:]:
        pages.run(name)
    print("the slowest blocks:", pages.slowest())
    print(f"{pages.ran} blocks run, {pages.left_out} left out with a reason")
    sys.exit(pages.failed > 0 or pages.ran == 0)
