"""Note of the HTTP servers that run as this user, so that commands can open a page or print a link to it.

A file for each in the state directory, which only the user can read: it has the key that signs the browser in.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import quote, urlencode

from dowse import settings

SIGN_IN_PATH = "/sign-in"

MAX_FILE_BYTES = 100_000


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A server that runs: its address, the folders it serves, the key of the user's browser, its process."""

    url: str
    folders: tuple[str, ...]
    key: str
    process: int

    def link(self, path: str) -> str:
        """Return a link that opens a page and signs the browser in."""
        return (
            f"{self.url}{SIGN_IN_PATH}?{urlencode({'key': self.key, 'next': path})}"
            if self.key
            else self.url + path
        )


def search_path(query: str) -> str:
    """Return the address of a query on the page."""
    return f"/?q={quote(query, safe='')}"


def _folder() -> Path:
    return settings.user_state_dir() / "servers"


def note_server(server: RunningServer) -> Path:
    """Write the note of a server; return its file, for removing it."""
    _folder().mkdir(parents=True, exist_ok=True, mode=0o700)
    file = _folder() / f"{server.process}.json"
    with suppress(FileNotFoundError):
        file.unlink()
    with os.fdopen(
        os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8"
    ) as stream:
        json.dump(asdict(server), stream)
    return file


def find_server(folder: Path) -> RunningServer | None:
    """Find a running server that serves a folder; notes of servers that are gone are removed."""
    for file in sorted(_folder().glob("*.json")):
        server = _read_note(file)
        if server is None or not _is_running(server.process):
            with suppress(OSError):
                file.unlink()
        elif str(folder) in server.folders:
            return server
    return None


def _read_note(file: Path) -> RunningServer | None:
    try:
        values = json.loads(file.read_bytes()[:MAX_FILE_BYTES])
        folders: Sequence[str] = values["folders"]
        return RunningServer(
            str(values["url"]), tuple(map(str, folders)), str(values["key"]), int(values["process"])
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _is_running(process: int) -> bool:
    if os.name == "nt":
        return True  # asking there would end it
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
