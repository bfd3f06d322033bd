"""Read the effective study that talus-solve writes.

It is YAML of one form: two blanks a level, a key a line, every value valid JSON but for bare words
(the choices of a key). Readers of YAML 1.1 take its numbers like 1e-06 for texts.
"""

from __future__ import annotations

import json
import re
from typing import Any

from .errors import TalusError

_LINE = re.compile(r"( *)((?:- )?)([A-Za-z_][A-Za-z0-9_]*):(?: (.*))?")


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def parse_study(text: str, source: str) -> dict[str, Any]:
    """The study as dictionaries and lists."""
    root: dict[str, Any] = {}
    maps: list[tuple[int, dict[str, Any]]] = [(0, root)]  # those that are open, by indent
    lists: dict[int, list[Any]] = {}  # those that are open, by the indent of their dashes
    empty: tuple[dict[str, Any], str] | None = None  # a key whose value begins in the next line
    for number, line in enumerate(text.splitlines(), start=1):
        match = _LINE.fullmatch(line)
        if not match:
            raise TalusError(
                f"{source}: line {number} of the study is not of the form that talus-solve writes"
            )
        indent, dash, key, value = len(match[1]), match[2], match[3], match[4]
        deeper = empty is not None and indent > maps[-1][0]
        while maps[-1][0] > indent:
            maps.pop()
        if dash:
            if deeper and empty:
                lists[indent] = empty[0][empty[1]] = []
            if indent not in lists:
                raise TalusError(f"{source}: line {number} of the study belongs to no list")
            entry: dict[str, Any] = {}
            lists[indent].append(entry)
            indent += 2
            maps.append((indent, entry))
        elif deeper and empty:
            maps.append((indent, empty[0][empty[1]]))
        home_indent, home = maps[-1]
        if home_indent != indent:
            raise TalusError(f"{source}: line {number} of the study is indented by {indent} blanks")
        home[key] = {} if value is None else _value(value)
        empty = (home, key) if value is None else None
    return root
