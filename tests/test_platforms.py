"""Nothing that only some operating systems have is needed to load any part of the program."""

import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "dowse"

POSIX_ONLY = ("fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty")
OPTIONAL = ("mcp", "psycopg", "onnxruntime", "tokenizers", "watchfiles")

LOAD_ALL = f"""
import asyncio, ctypes, importlib, logging, multiprocessing, os, pathlib, random, shutil, signal, socket, sqlite3
import ssl, subprocess, sys, tempfile, threading, typing  # parts of Python that look for these modules themselves
import click, filelock, numpy, pygments, simsimd, tantivy
for name in {OPTIONAL!r}:
    try:
        importlib.import_module(name)
    except ImportError:
        pass
for name in {POSIX_ONLY!r}:
    sys.modules[name] = None
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
    except ImportError as error:
        if (error.name or "").partition(".")[0] in {POSIX_ONLY!r}:
            raise SystemExit(f"{{name}}: {{error}}")
        if (error.name or "").partition(".")[0] not in {OPTIONAL!r}:
            raise
"""


def modules() -> list[str]:
    paths = (path.relative_to(SOURCE.parent).with_suffix("") for path in sorted(SOURCE.rglob("*.py")))
    return [".".join(path.parts).removesuffix(".__init__") for path in paths if path.name != "__main__.py"]


def test_no_module_needs_what_only_posix_has() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOAD_ALL, *modules()], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
