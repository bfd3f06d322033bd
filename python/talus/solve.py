"""Run a study with talus-solve, or an ensemble with talus-ensemble."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from .errors import TalusError
from .results import Run


def _find(tool: str, folder: str | os.PathLike[str] | None) -> str:
    """The path of a tool: in folder, else in the folder TALUS_BIN, else on PATH."""
    place = folder or os.environ.get("TALUS_BIN")
    found = shutil.which(tool, path=os.fspath(place) if place else None)
    if found:
        return found
    where = f"in {os.fspath(place)}" if place else "on PATH"
    raise TalusError(
        f"{tool}: there is no such program {where}; install Talus, or name the folder of its "
        "tools by bin= or the environment variable TALUS_BIN"
    )


def _setting(key: str, value: Any) -> str:
    """KEY=VALUE for --set. JSON is YAML, and texts in quotes stay texts."""
    if value is None:
        return f"--set={key}="
    plain = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
    if isinstance(plain, os.PathLike):
        plain = os.fspath(plain)
    try:
        return f"--set={key}={json.dumps(plain, ensure_ascii=False, allow_nan=False)}"
    except (TypeError, ValueError) as error:
        raise TalusError(
            f"set={{{key!r}: {value!r}}}: cannot be written as YAML: {error}"
        ) from error


def run(
    study: str | os.PathLike[str],
    *,
    set: Mapping[str, Any] | None = None,
    output: str | os.PathLike[str] | None = None,
    catalog: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    resume: bool = False,
    ranks: int = 1,
    threads: int | None = None,
    ensemble: bool = False,
    verbose: bool = False,
    bin: str | os.PathLike[str] | None = None,
) -> Run:
    """Run a study and return its results.

    set gives keys of the study anew: {"contact.friction": 0.3, "planes.0.point_m": [0, 0, 1]};
    None leaves a key out. Paths among them count from the study's folder. output is the results
    folder, by default the study's name with .run in the working directory; overwrite replaces
    what is there, resume goes on from the newest checkpoint. ensemble runs a study with a section
    of that name by talus-ensemble: Run.table("blocks") then has a line a block. verbose passes on what talus-solve
    says while it runs. The tools are looked for in the folder bin, else in the folder TALUS_BIN,
    else on PATH.

    A failure raises TalusError with the message of talus-solve. Run.reported has its summary and
    Run.log what it said, warnings among it. An interrupt is passed on: the solver saves a
    checkpoint and ends, and the run can be resumed.
    """
    command = [_find("talus-ensemble" if ensemble else "talus-solve", bin), "--json"]
    if ranks != 1:
        command = [_find("talus-mpirun", bin), "-n", str(ranks), *command]
    command += [_setting(key, value) for key, value in (set or {}).items()]
    command += [f"--output={os.fspath(output)}"] if output is not None else []
    command += [f"--catalog={os.fspath(catalog)}"] if catalog is not None else []
    command += [f"--threads={threads}"] if threads is not None else []
    command += ["--overwrite"] if overwrite else []
    command += ["--resume"] if resume else []
    path = os.fspath(study)
    command.append(os.path.join(".", path) if path.startswith("-") else path)

    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as answer:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=answer,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
        assert process.stderr is not None
        lines: list[str] = []
        try:
            for line in process.stderr:
                lines.append(line)
                if verbose:
                    print(line, end="", file=sys.stderr, flush=True)
            status = process.wait()
        except KeyboardInterrupt:
            process.send_signal(signal.SIGINT)
            process.stderr.read()
            process.wait()
            raise
        finally:
            process.stderr.close()
        answer.seek(0)
        said = answer.read()
    log = "".join(lines)
    if status != 0:
        ended = f"exit status {status}" if status > 0 else f"ended by signal {-status}"
        last = "\n".join(log.rstrip().splitlines()[-5:]) or "it said nothing"
        if not ensemble and "talus-ensemble runs it" in last:
            last += " (from Python: talus.run(..., ensemble=True))"
        raise TalusError(f"{last}\n({ended}: {shlex.join(command)})")
    try:
        reported = json.loads(said)
        folder = reported["output"]
    except (ValueError, KeyError, TypeError) as error:
        raise TalusError(
            f"{command[0]}: its summary is not understood ({error}); do the tools and this module "
            f"belong to the same Talus?\n{said[:500]}"
        ) from error
    result = Run(folder)
    result.reported, result.log = reported, log
    return result
