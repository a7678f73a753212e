"""Safe git subprocess: run git read-only, with hooks, filters, external diffs and other repository configuration
disabled.

A repository may come from anywhere, and its configuration can name programs: pagers, text converters, file system
monitors, signature checkers, transports. None is started, nothing is fetched or written, and nobody is prompted.
"""

from __future__ import annotations

import os
import subprocess
import threading
from contextlib import suppress
from pathlib import Path

from dowse.errors import UsageError

TIMEOUT_SECONDS = 120
"""How long a call of git may take."""

PLAIN_DIFF = ("--no-color", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty")
"""Options for every call that compares: git compares by itself, without external programs."""

NO_REPOSITORY_MESSAGE = "not a git repository"

_TRANSPORTS = ("ext", "file", "git", "http", "https", "ssh")
_SETTINGS = {
    "core.quotepath": "off",
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "log.showSignature": "false",
    **{f"protocol.{name}.allow": "never" for name in _TRANSPORTS},  # a partial clone fetches what it lacks
}
_FILTER_KINDS = ("clean", "process", "smudge")


def command(*arguments: str) -> list[str]:
    """Build the command line of a git call."""
    settings = [part for key, value in _SETTINGS.items() for part in ("-c", f"{key}={value}")]
    return ["git", "--no-pager", "--no-optional-locks", *settings, *arguments]


def run(root: Path, *arguments: str, otherwise: str) -> subprocess.CompletedProcess[bytes]:
    """Run git in a folder and return its result, also if it refuses; ``otherwise`` is what a user can do without it."""
    if pipe := _find_pipe(root):
        raise UsageError(f"{pipe} is a pipe, which git would wait for: {otherwise}")
    try:
        return subprocess.run(
            command(*arguments),
            cwd=root,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    except FileNotFoundError:
        raise UsageError(f"git is not installed: {otherwise}") from None
    except subprocess.TimeoutExpired:
        raise UsageError(f"git took more than {TIMEOUT_SECONDS} s: {otherwise}") from None


def _find_pipe(root: Path) -> Path | None:
    """Find something among git's own files that is neither a file nor a folder: git opens it, and waits."""
    tree = next((folder for folder in (root, *root.parents) if os.path.lexists(folder / ".git")), root)
    for folder in (tree / ".git", tree / ".git" / "info", tree / ".git" / "objects" / "info"):
        with suppress(OSError):
            for path in folder.iterdir():
                if path.exists() and not (path.is_file() or path.is_dir()):
                    return path
    return None


def run_text(root: Path, *arguments: str, otherwise: str) -> str:
    """Run git and return what it prints; raise an error if it refuses."""
    done = run(root, *arguments, otherwise=otherwise)
    if done.returncode:
        raise refusal_error(done, otherwise)
    return done.stdout.decode("utf-8", "replace")


def read_configured_path(root: Path, key: str, *, otherwise: str) -> str:
    """Read the path that the configuration of the user or of the repository has for a key; empty if none."""
    result = run(root, "config", "--type=path", "--show-scope", "-z", "--get-all", key, otherwise=otherwise)
    if result.returncode > 1:  # 1: there is none
        raise refusal_error(result, otherwise)
    parts = result.stdout.decode("utf-8", "surrogateescape").split("\0")
    scoped = zip(parts[:-1:2], parts[1::2], strict=True)
    values = [path for scope, path in scoped if scope != "command"]  # which is what we say ourselves
    return values[-1] if values else ""


def refusal_error(done: subprocess.CompletedProcess[bytes], otherwise: str) -> UsageError:
    """Make the error for a call that git refused."""
    reason = " ".join(done.stderr.decode("utf-8", "replace").split())[:300]
    if NO_REPOSITORY_MESSAGE in reason.lower():  # what follows is how to use git
        reason = NO_REPOSITORY_MESSAGE
    return UsageError(f"git cannot answer here ({reason or 'no reason given'}): {otherwise}")


def disable_filters(root: Path, *, otherwise: str) -> list[str]:
    """Build the arguments that switch off the filters which the repository itself configures."""
    listing = ("config", "--local", "--includes", "--name-only", "-z", "--get-regexp", r"^filter\.")
    keys = run(root, *listing, otherwise=otherwise).stdout.decode("utf-8", "replace").split("\0")
    names = dict.fromkeys(key.rpartition(".")[0] for key in keys if key)
    off = [f"{name}.{kind}=" for name in names for kind in _FILTER_KINDS] + [
        f"{name}.required=false" for name in names
    ]
    return [part for setting in off for part in ("-c", setting)]


def run_within(root: Path, max_bytes: int, seconds: float, *arguments: str) -> bytes:
    """Run git and return the beginning of what it prints, within limits; nothing where git or a repository lacks."""
    if _find_pipe(root):
        return b""
    try:
        process = subprocess.Popen(
            command(*arguments),
            cwd=root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except FileNotFoundError:
        return b""
    timer = threading.Timer(seconds, process.kill)
    timer.start()
    try:
        assert process.stdout is not None
        output = process.stdout.read(max_bytes)
    finally:
        timer.cancel()
        process.kill()
        process.communicate()
    return output
