"""The one error of this module."""

from __future__ import annotations

import importlib
from types import ModuleType


class TalusError(RuntimeError):
    """What is wrong with which file, and what to do about it."""


def optional_module(name: str, purpose: str) -> ModuleType:
    """Import a module that Talus works without."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise TalusError(
            f"{purpose} needs the Python module {name}, which cannot be imported ({error}); "
            f"install it (pip install {name})"
        ) from error
