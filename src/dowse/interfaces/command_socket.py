"""Command socket: a running server answers ``dowse search`` for other processes of its user, as they would themselves.

``server_client`` asks. A server answers only what it can answer to the byte: a search of a tree that it serves, with
the settings that the command would have, from the same installation. Anything else it refuses, and the command runs
by itself. The socket is in a folder that nobody but the user may enter.
"""

from __future__ import annotations

import os
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from dowse import __version__, roots, server_client, settings
from dowse.interfaces.workspace import Workspace
from dowse.settings_schema import FIELDS

MAX_REQUEST_BYTES = 4_000_000
MAX_WAITING = 16
REQUEST_SECONDS = 5.0
"""How long a client may take to send a request, and to take the answer."""

START_SECONDS = 1.0
"""How long after its start a server begins to listen."""

ANSWERING_MODULES = ("dowse.engine", "dowse.interfaces.cli.search")

_OWN_FLAGS = ("index_dir", "store", "embedder", "repos", "near", "term_graph", "opened", "allow_home", "web")
"""Flags of a search that only its own process heeds: other indexes, editors, paths from the working directory."""

ANSWER_SETTINGS = frozenset({"limit", "min_relevance", "show_low_confidence", "hybrid", "refresh", "cache"})
"""Settings in which a command may differ from the server: they count for one answer."""


class _Request(NamedTuple):
    """A command that a client asks to have answered."""

    cwd: str
    process: int
    args: list[str]
    variables: dict[str, str]


class CommandSocket:
    """The socket of one server. Without one (no such system, no place for it), commands answer themselves."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._closed = threading.Event()
        self._listener: socket.socket | None = None
        self._path = ""

    def start(self) -> None:
        """Listen, in a thread of its own and after a moment: agents wait for the first answer of their server."""
        if os.name == "posix":
            threading.Thread(target=self._serve, name="dowse-commands", daemon=True).start()

    def close(self) -> None:
        """Stop listening."""
        self._closed.set()
        if self._listener is not None:
            with suppress(OSError):
                os.unlink(self._path)
            with suppress(OSError):
                self._listener.shutdown(socket.SHUT_RDWR)  # which ends the thread

    def _serve(self) -> None:
        if self._closed.wait(START_SECONDS):
            return
        for module in ANSWERING_MODULES:  # now rather than when somebody waits for an answer
            import_module(module)
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
            self._bind(listener)  # if there is nowhere to put it, commands do without
            while not self._closed.is_set():
                client, _ = listener.accept()
                threading.Thread(
                    target=self._answer, args=(client,), name="dowse-command", daemon=True
                ).start()

    def _bind(self, listener: socket.socket) -> None:
        """Put the socket into its folder, open for nobody else from the start."""
        folder = server_client.find_socket_folder(settings.read_variables())
        os.makedirs(folder, mode=0o700, exist_ok=True)
        if not server_client.is_private(folder):
            raise PermissionError(folder)
        _remove_left_behind(folder)
        self._path = f"{folder}/{os.getpid()}{server_client.SOCKET_SUFFIX}"
        new = f"{self._path}.new"
        listener.bind(new)
        os.chmod(new, 0o600)
        listener.listen(MAX_WAITING)
        self._listener = listener
        os.rename(new, self._path)

    def _answer(self, client: socket.socket) -> None:
        """Answer one client; whatever goes wrong, it finds out by itself."""
        with client, suppress(Exception):
            client.settimeout(REQUEST_SECONDS)
            if not _is_same_user(client) or (request := _receive(client)) is None:
                return
            for kind, data in self._run(request):
                length = b"" if kind == server_client.ACCEPTED else len(data).to_bytes(4, "big")
                client.sendall(kind + length + data)

    def _run(self, request: _Request) -> Iterator[tuple[bytes, bytes]]:
        """Run a search as its own process would; nothing for what only that can do."""
        from dowse.interfaces import render
        from dowse.interfaces.cli import add_default_command
        from dowse.interfaces.cli import search as search_command
        from dowse.interfaces.cli.elapsed import measure_elapsed

        completed = add_default_command(request.args)
        if request.variables != server_client.select_variables(settings.read_variables()):
            return
        if completed[0] != search_command.search.name:
            return
        context = search_command.search.make_context(completed[0], completed[1:])
        flags: dict[str, Any] = dict(context.params)
        words, root = flags.pop("words"), flags.pop("root")
        if any(flags[name] for name in _OWN_FLAGS) or _are_relative(flags) or flags["color"] == "always":
            return
        search_command.refuse_contradictions(flags)
        folder = _resolve_root(request.cwd, root)
        given = search_command.pick_settings(flags)
        del given["allow_home"]  # no setting
        engine = self._find_engine(folder, given)
        if engine is None:
            return
        yield server_client.ACCEPTED, b""
        engine.force_check()
        response = search_command.search_engine(engine, " ".join(words), flags)
        view = render.View(cwd=request.cwd, explain=flags["explain"])
        for text, is_remark in search_command.compose(
            response, view, measure_elapsed(request.process), flags
        ):
            yield _encode_text(text, is_remark=is_remark)
        if completed != request.args and len(words) == 1 and (remark := search_command.suggest(words[0])):
            yield _encode_text(remark, is_remark=True)
        yield server_client.EXIT, str(search_command.find_exit_code(response)).encode()

    def _find_engine(self, folder: Path, given: dict[str, Any]) -> Any:
        """Return the engine of a folder, if a command would have opened the same; None if there is none."""
        if self._workspace.allowed.read_only or folder not in self._workspace.list_folders():
            return None
        resolved = settings.resolve(folder, given)
        engine = self._workspace.get_engine(folder)
        wanted, known = resolved.settings, engine.settings
        different = {
            name: getattr(wanted, name) for name in FIELDS if getattr(wanted, name) != getattr(known, name)
        }
        if not wanted.use_server or not different.keys() <= ANSWER_SETTINGS:
            return None
        if engine.notes[: len(resolved.notes)] != resolved.notes:
            return None
        return self._workspace.get_engine(folder, **different)


def _receive(client: socket.socket) -> _Request | None:
    """Receive a request; None if it is of another installation, or none."""
    length = int.from_bytes(server_client.receive(client, server_client.LENGTH_BYTES), "big")
    if length > MAX_REQUEST_BYTES:
        return None
    texts = os.fsdecode(server_client.receive(client, length)).split("\0")
    program, cwd, process, count, *rest = texts
    args, variables = rest[: int(count)], rest[int(count) :]
    own = server_client.encode_request(args, cwd, {}, __version__)[server_client.LENGTH_BYTES :]
    if os.fsdecode(own).split("\0")[0] != program:
        return None
    pairs = (variable.partition("=") for variable in variables)
    return _Request(cwd, int(process), args, {name: value for name, _, value in pairs})


def _is_same_user(client: socket.socket) -> bool:
    """Return whether the other process is of the same user, where the system says that."""
    if not hasattr(socket, "SO_PEERCRED"):
        return True  # nobody else may enter the folder of the socket
    credentials = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    user: int = struct.unpack("3i", credentials)[1]
    return user == os.geteuid()


def _are_relative(flags: dict[str, Any]) -> bool:
    """Return whether patterns are relative to the working directory of the command."""
    return any(pattern.startswith(("./", "../")) for pattern in (*flags["paths"], *flags["not_paths"]))


def _resolve_root(cwd: str, root: str | None) -> Path:
    """Resolve the folder that a command searches, which was started elsewhere."""
    if root is None:
        return roots.resolve_root(roots.find_project_root(Path(cwd)))
    return roots.resolve_root(Path(cwd) / Path(root).expanduser())


def _encode_text(text: str, *, is_remark: bool) -> tuple[bytes, bytes]:
    """Encode a text as the streams of a command do."""
    kind = server_client.ERRORS if is_remark else server_client.OUTPUT
    return kind, f"{text}\n".encode("utf-8", "backslashreplace")


def _remove_left_behind(folder: str) -> None:
    """Remove the sockets of servers that ended without closing theirs."""
    for name in os.listdir(folder):
        process = name.partition(".")[0]
        if not process.isdecimal():
            continue
        try:
            os.kill(int(process), 0)
            is_left = int(process) == os.getpid()
        except ProcessLookupError:
            is_left = True
        except OSError:
            is_left = False
        if is_left:
            with suppress(OSError):
                os.unlink(f"{folder}/{name}")
