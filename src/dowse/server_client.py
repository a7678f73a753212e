"""Client of a running server: have ``dowse serve`` or an MCP server of the same tree answer a search command.

Everything here is done before anything else is imported, which is the point: the answer comes after a tenth of the
instructions. ``interfaces/command_socket.py`` is the other side, and decides whether its answer would be the very
same. If it would not, or if anything goes wrong, the command goes on as if there were no server.

A request is texts separated by NUL; an answer is pieces of a kind, a length and bytes.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # as in ``typing``, which takes as long to import as all of this
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from socket import socket

SOCKET_SUFFIX = ".sock"
SOCKET_FOLDER = "commands"
"""The folder of the sockets, in the user's state directory: only the user may enter it."""

LENGTH_BYTES = 4
OUTPUT, ERRORS, EXIT, ACCEPTED = b"o", b"e", b"x", b"a"
"""Kinds of pieces: for standard output and standard error; the exit code, at the end; that an answer will come."""

NO_SERVER_FLAG = "--no-server"
_OTHER_FLAGS = frozenset({NO_SERVER_FLAG, "-h", "--help", "--version", "--debug", "-"})
"""Arguments of commands that no server answers."""

CONNECT_SECONDS = 2.0
ANSWER_SECONDS = 60.0
"""How long a server may take to say that it answers, and to answer: it may have to index changes first."""

_VARIABLES = ("HOME", "LOCALAPPDATA")
_VARIABLE_PREFIXES = ("DOWSE_", "XDG_", "GIT_")
_SERVER_VARIABLES = ("DOWSE_SERVE_TOKEN", "DOWSE_MCP_TOKEN")
"""Environment variables that an answer may depend on, and those of them that only a server reads."""


def ask_server(args: Sequence[str], environment: Mapping[str, str], version: str) -> int | None:
    """Have a server answer a command; return the exit code, or None if no server did."""
    if os.name != "posix" or not args or _OTHER_FLAGS.intersection(args):
        return None
    try:
        if os.isatty(1) or not all(map(os.fstat, (0, 1, 2))):  # a terminal is shown more than the answer
            return None
        folder = find_socket_folder(environment)
        sockets = [name for name in os.listdir(folder) if name.endswith(SOCKET_SUFFIX)]
        if not sockets or not is_private(folder):
            return None
        request = encode_request(args, os.getcwd(), environment, version)
        for name in sockets:
            if (pieces := _ask(f"{folder}/{name}", request)) is not None:
                return _write(pieces)
    except (OSError, ValueError):
        return None
    return None


def find_socket_folder(environment: Mapping[str, str]) -> str:
    """Find the folder of the sockets in the user's state directory, as the settings do."""
    if not (state := environment.get("DOWSE_STATE_DIR", "")):
        home = environment.get("HOME") or os.path.expanduser("~")
        base = environment.get("XDG_STATE_HOME", "")
        if sys.platform == "darwin":
            base = f"{home}/Library/Application Support"
        state = f"{base if os.path.isabs(base) else f'{home}/.local/state'}/dowse"
    return f"{state}/{SOCKET_FOLDER}"


def is_private(path: str) -> bool:
    """Return whether a folder or socket is the user's own, and nobody else may use it."""
    status = os.lstat(path)
    return status.st_uid == os.geteuid() and not status.st_mode & 0o077


def encode_request(args: Sequence[str], cwd: str, environment: Mapping[str, str], version: str) -> bytes:
    """Encode a command: which program this is, where it was started, its arguments, and what its answer depends on."""
    program = f"{version} {os.path.dirname(os.path.abspath(__file__))}"
    variables = [f"{name}={value}" for name, value in sorted(select_variables(environment).items())]
    texts = [program, cwd, str(os.getpid()), str(len(args)), *args, *variables]
    data = os.fsencode("\0".join(texts))
    return len(data).to_bytes(LENGTH_BYTES, "big") + data


def select_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Select the variables that an answer may depend on."""
    return {
        name: value
        for name, value in environment.items()
        if (name in _VARIABLES or name.startswith(_VARIABLE_PREFIXES)) and name not in _SERVER_VARIABLES
    }


def _ask(path: str, request: bytes) -> list[tuple[bytes, bytes]] | None:
    """Send a request to a server; return all pieces of its answer, or None if it gives none."""
    import _socket  # the module in C: the one in Python takes three times as long to import as all of this

    if not is_private(path):
        return None
    server: socket = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)  # type: ignore[assignment]
    try:
        server.settimeout(CONNECT_SECONDS)
        server.connect(path)
        server.sendall(request)
        if receive(server, 1) != ACCEPTED:
            return None
        server.settimeout(ANSWER_SECONDS)
        pieces: list[tuple[bytes, bytes]] = []
        while not pieces or pieces[-1][0] != EXIT:
            kind, length = receive(server, 1), int.from_bytes(receive(server, LENGTH_BYTES), "big")
            pieces.append((kind, receive(server, length)))
        return pieces
    except OSError:  # it has gone, or is too slow
        return None
    finally:
        server.close()


def receive(connection: socket, length: int) -> bytes:
    """Receive so many bytes; raise an ``OSError`` if the other side ends before."""
    parts, missing = [], length
    while missing:
        if not (part := connection.recv(missing)):
            raise OSError("the other side has gone")
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)


def _write(pieces: list[tuple[bytes, bytes]]) -> int:
    """Write an answer; return its exit code."""
    try:
        for kind, data in pieces[:-1]:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(1 if kind == OUTPUT else 2, rest) :]
    except BrokenPipeError:
        return 0  # the reader has closed the pipe
    return int(pieces[-1][1])
