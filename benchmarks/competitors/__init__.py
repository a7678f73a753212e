"""Table of the engines that are measured, with one adapter file each.

An adapter has ``index(path) -> object`` and ``search(object, query, k) -> [(path, start, end), ...]``, and
``close(object)`` if there is something to clean up. It runs in a process of its own, under its own
interpreter (``serve.py``), so that no engine pays for another's imports.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.data import MissingDataError, cache_folder

SEMBLE = "semble==0.7.0"
SEMBLE_MCP = "semble[mcp]==0.7.0"
RIPGREP = "ripgrep==14.1.0"
"""Pinned: figures are about these versions."""

SEMBLE_CACHE = "SEMBLE_CACHE_LOCATION"
"""Variable for the folder of semble's saved indexes. Its Python interface loads them too, so it is set to an empty
folder: then indexing is really measured."""

_PROGRAMS = "Scripts" if os.name == "nt" else "bin"


@dataclass(frozen=True, slots=True)
class Launch:
    """How an adapter's process is started."""

    python: str
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Competitor:
    """An engine: a row of the table. ``launch`` raises ``MissingDataError`` if it is not available."""

    name: str
    version: Callable[[], str]
    launch: Callable[[], Launch]

    @property
    def adapter(self) -> Path:
        """File of the adapter."""
        return Path(__file__).with_name(f"{self.name}.py")


def use_own_python() -> Launch:
    """Launch with the interpreter that runs this."""
    return Launch(sys.executable, {})


def find_semble() -> Launch:
    """Find the Python that has semble: BENCH_SEMBLE_PYTHON, else an environment in the cache."""
    value = os.environ.get("BENCH_SEMBLE_PYTHON")
    python = Path(value) if value else _install("semble", SEMBLE) / _PROGRAMS / "python"
    if value and not python.is_file():
        raise MissingDataError("BENCH_SEMBLE_PYTHON is not a file: it should be the Python that has semble")
    model = os.environ.get("BENCH_SEMBLE_MODEL")
    offline = {"SEMBLE_MODEL_NAME": model, "HF_HUB_OFFLINE": "1"} if model else {}
    return Launch(str(python), {SEMBLE_CACHE: str(cache_folder() / "semble-empty"), **offline})


def find_semble_server(cache: str) -> tuple[str, Mapping[str, str]]:
    """Find the MCP server of semble and its variables: BENCH_SEMBLE_MCP, else an environment in the cache."""
    value = os.environ.get("BENCH_SEMBLE_MCP")
    program = Path(value) if value else _install("semble-mcp", SEMBLE_MCP) / _PROGRAMS / "semble"
    if value and not program.is_file():
        raise MissingDataError(
            "BENCH_SEMBLE_MCP is not a file: it should be the program semble, installed with its MCP extra"
        )
    return str(program), {**find_semble().environment, SEMBLE_CACHE: cache}


def get_semble_model() -> str:
    """Return the name of the model that semble uses."""
    return Path(os.environ.get("BENCH_SEMBLE_MODEL") or "its default").name


def find_ripgrep() -> Launch:
    """Find ripgrep: BENCH_RG, else ``rg`` on the path, else the wheel from PyPI in the cache."""
    program = os.environ.get("BENCH_RG") or shutil.which("rg")
    if not program:
        program = str(_install("ripgrep", RIPGREP) / _PROGRAMS / "rg")
    return Launch(sys.executable, {"BENCH_RG": program})


COMPETITORS = {
    row.name: row
    for row in (
        Competitor("dowse", lambda: "of this tree", use_own_python),
        Competitor("semble", lambda: f"0.7.0, model {get_semble_model()}", find_semble),
        Competitor("bm25", lambda: "chunks and tokens of this tree", use_own_python),
        Competitor("bm25_windows", lambda: "windows of 30 lines, tokens of this tree", use_own_python),
        Competitor("ripgrep", lambda: "files by the number of lines that match a word", find_ripgrep),
    )
}


def _install(name: str, requirement: str) -> Path:
    """Install one package into a virtual environment in the cache, if it is not there yet."""
    home = cache_folder() / "peers" / name
    if (home / "ready").exists():
        return home
    venv.create(home, with_pip=True, clear=True)
    install = [str(home / _PROGRAMS / "python"), "-m", "pip", "install", "--quiet", "--only-binary", ":all:"]
    if subprocess.run([*install, requirement], check=False).returncode:
        raise MissingDataError(f"{requirement} cannot be installed from the package index")
    (home / "ready").touch()
    return home
