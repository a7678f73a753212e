"""Turn the bytes of a fuzzer into what readers take: texts, parts, folders with files."""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

SEPARATOR = b"\n%%\n"
"""Stands between the parts of an input that is read as several; a line that no reader here gives a meaning to."""


def decode_text(data: bytes) -> str:
    """Decode as a command line does: what is not UTF-8 becomes lone surrogates."""
    return data.decode("utf-8", "surrogateescape")


def decode_json_text(data: bytes) -> str:
    """Decode so that every lone surrogate of a JSON escape can come up: UTF-8 that may encode them."""
    return data.decode("utf-8", "surrogatepass") if _has_only_surrogates(data) else decode_text(data)


def _has_only_surrogates(data: bytes) -> bool:
    try:
        data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True


def split(data: bytes, parts: int) -> list[bytes]:
    """Cut an input into so many parts; the missing ones are empty."""
    pieces = data.split(SEPARATOR, parts - 1)
    return pieces + [b""] * (parts - len(pieces))


def choose(data: bytes, count: int) -> tuple[int, bytes]:
    """Take the first byte as a choice of so many, and the rest as the input."""
    return (data[0] % count if data else 0), data[1:]


def decode_json(data: bytes) -> Any:
    """Decode an input that stands for a JSON value; None if it is none."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


@cache
def make_folder(name: str) -> Path:
    """Make a folder for the files of a target, removed when the process ends."""
    folder = Path(tempfile.mkdtemp(prefix=f"dowse-fuzz-{name}-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
