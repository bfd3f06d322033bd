#!/usr/bin/python3
"""Documents and words: every document that is cited exists, lines of documents have at most 120
characters (tables, code and addresses aside), and the phrases of tests/lint/phrases are in no document,
help text or message. Names of columns, figures and keys that the guide and the results' reference give in
backticks occur in the code. With --comments also the phrases in comments of the code are listed."""
import os
import re
import subprocess
import sys

WIDTH = 120
ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
CODE = (".c", ".h", ".cpp")
TEXT = CODE + (".md", ".py", ".sh", ".mk", ".yaml", ".cff", ".toml", ".js", ".txt")
# What documents record of the past keeps its words: the list of changes, and measured rows.
OLD = ("CHANGELOG.md",)
OWN = ("tests/lint/phrases", "tests/lint/documents.py", "tests/cli/test_lint_documents.sh")

bad = 0


def complain(path, line, text):
    global bad
    bad += 1
    print(f"lint: {path}:{line}: {text}", file=sys.stderr)


def tracked():
    names = subprocess.check_output(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, text=True
    ).splitlines()
    for name in names:
        base = os.path.basename(name)
        if name in OWN or "/corpus/" in name or not os.path.isfile(os.path.join(ROOT, name)):
            continue
        if name.endswith(TEXT) or base == "Makefile" or "." not in base:
            with open(os.path.join(ROOT, name), encoding="utf-8", errors="replace") as file:
                yield name, file.read()


def phrases():
    with open(os.path.join(ROOT, "tests/lint/phrases"), encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                pattern, better = line.rstrip("\n").split("\t")
                yield re.compile(pattern, re.IGNORECASE), better


def exists(name, path):
    """Whether a cited document is there: from the root, or beside the one that cites it."""
    places = (ROOT, os.path.join(ROOT, os.path.dirname(path)))
    return any(os.path.exists(os.path.join(place, name)) for place in places)


# A path of the repository, or a name in capitals (PHYSICS.md) wherever it stands; in documents any page.
PLACE = r"(?:docs|tests|data|python)/[\w./-]*\w\.(?:md|csv|png)|[A-Z]{3,}\.md"
CITED = re.compile(rf"(?<![\w/.*{{$-])({PLACE})\b")
CITED_BY_DOCUMENT = re.compile(rf"(?<![\w/.*{{$-])({PLACE}|[\w-]+\.md)\b")
LINK = re.compile(r"\]\(([^)\s]+)\)")


def check_cited(path, number, line):
    for name in (CITED_BY_DOCUMENT if path.endswith(".md") else CITED).findall(line):
        if not exists(name, path) and not exists("docs/" + name, path):
            complain(path, number, f"the document {name} is not in the repository")
    if not path.endswith(".md"):
        return
    for target in LINK.findall(re.sub(r"`[^`]*`", "", line)):
        file = target.split("#")[0]
        if file and "://" not in target and not target.startswith("mailto:"):
            if not os.path.exists(os.path.join(ROOT, os.path.dirname(path), file)):
                complain(path, number, f"the link leads to {target}, which is not there")


def prose(text):
    """(number, line) of what is neither code block nor written from the tools (the keys of a study)."""
    fence, generated = None, False
    for number, line in enumerate(text.splitlines(), start=1):
        mark = re.match(r"\s*(```+|~~~+)", line)
        if mark and (fence is None or mark.group(1).startswith(fence)):
            fence = mark.group(1) if fence is None else None
            continue
        generated = generated or line == "<!-- keys -->"
        generated = generated and line != "<!-- end of keys -->"
        if fence is None and not generated and not line.startswith("    "):
            yield number, line


def check_width(path, text):
    for number, line in prose(text):
        if len(line) <= WIDTH or line.lstrip().startswith("|"):
            continue
        if re.fullmatch(r"\s*(?:[-*] )?\S+", line) or line.lstrip().startswith("!["):
            continue
        complain(path, number, f"{len(line)} characters; lines of documents have at most {WIDTH}")


def check_words(path, number, line, words):
    for pattern, better in words:
        found = pattern.search(line)
        if found:
            complain(path, number, f"'{found.group(0).strip()}': write {better}")


# Pages that name columns, figures and keys: a name with an underscore, in backticks, is one of today's.
NAMES = ("README.md", "docs/glossary.md", "docs/guide/", "docs/reference/results.md")
NAMED = re.compile(r"`([a-z][a-z0-9_]*_[a-z0-9_A-Z]*)`")
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
NUMBERED = re.compile(r"_(\d+y|\d|K)(?=_|$)")  # return periods, components, legs
CODE_OF_NAMES = ("libcore/", "tools/", "python/", "pipeline/", "config/", "include/", "Makefile")


def is_known(name, words):
    """As it stands, a beginning of names, or put together from two parts that the code has."""
    part = NUMBERED.sub("", name).split("_")
    cuts = [("_".join(part[:k]), "_".join(part[k:])) for k in range(1, len(part))]
    return name in words or name.endswith("_") or len(part) == 1 or any(a in words and b in words for a, b in cuts)


def check_names(files):
    words = set()
    for path, text in files:
        if path.startswith(CODE_OF_NAMES):
            words.update(WORD.findall(text))
    for path, text in files:
        if path.endswith(".md") and path.startswith(NAMES):
            for number, line in enumerate(text.splitlines(), start=1):
                for name in NAMED.findall(line):
                    if not is_known(name, words):
                        complain(path, number, f"'{name}' is no column, figure or key of the code")


STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


def without_comments(text):
    """The same text with comments blanked; a string that holds a comment's mark stays."""
    part = re.compile(r'"(?:[^"\\\n]|\\.)*"|' + COMMENT.pattern, re.DOTALL)
    return part.sub(lambda m: m.group(0) if m.group(0).startswith('"') else re.sub(r"[^\n]", " ", m.group(0)), text)


def main():
    words = list(phrases())
    comments = "--comments" in sys.argv[1:]
    files = list(tracked())
    check_names(files)
    for path, text in files:
        for number, line in enumerate(text.splitlines(), start=1):
            if path not in OLD:
                check_cited(path, number, line)
        if path.endswith((".md", ".cff")) and path not in OLD:
            check_width(path, text)
            for number, line in prose(text):
                check_words(path, number, re.sub(r"`[^`]*`", "", line), words)
        elif path.endswith(CODE) and path.startswith(("libcore/", "tools/")):
            plain = without_comments(text)
            for number, line in enumerate(plain.splitlines(), start=1):
                for string in STRING.findall(line):
                    if " " in string:  # a name of a key or a column stands alone
                        check_words(path, number, string, words)
            if comments:
                for match in COMMENT.finditer(text):
                    first = text.count("\n", 0, match.start()) + 1
                    for offset, line in enumerate(match.group(0).splitlines()):
                        check_words(path, first + offset, line, words)
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
