"""Git hooks that reindex in the background after a commit, a checkout, a merge or a rebase: install and uninstall.

A section of our own is added to hooks that exist; what else is in them stays.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from dowse.errors import UsageError
from dowse.indexing import git_index
from dowse.interfaces.self_command import launch_command
from dowse.services import git as program

HOOK_NAMES = ("post-commit", "post-checkout", "post-merge", "post-rewrite")

FALLBACK_HINT = "the folder of its hooks is not known; 'dowse index' in a hook of your own does the same"

BEGIN_MARK = "# dowse: begin"
END_MARK = "# dowse: end"

_LEADING_COMMENTS = re.compile(r"(#.*(\n|\Z))*")
"""The comment lines at the top of a script."""


def install(root: Path) -> list[Path]:
    """Add our section to the hooks, next to what they do already; return the files that changed."""
    changed = []
    for path, before in _read_hooks(root):
        if before and not _is_shell_script(before):
            raise UsageError(
                f"{path} is not a shell script: add this line to it yourself: {_shell_command()}"
            )
        after = _add_section(before)
        if after != before:
            path.parent.mkdir(parents=True, exist_ok=True)
            _write(path, after)
            path.chmod(path.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
            changed.append(path)
    return changed


def uninstall(root: Path) -> list[Path]:
    """Remove our section from the hooks, and hooks with nothing else in them; return the files that changed."""
    changed = []
    for path, before in _read_hooks(root):
        after = _remove_section(before)
        if after == before:
            continue
        changed.append(path)
        if after.strip() in ("", "#!/bin/sh"):
            path.unlink()
        else:
            _write(path, after)
    return changed


def list_installed(root: Path) -> dict[Path, bool]:
    """Say of each hook whether it has our section, as it is now."""
    return {path: _build_section().strip() in text for path, text in _read_hooks(root)}


def _read_hooks(root: Path) -> Iterator[tuple[Path, str]]:
    """Read the hooks that may start dowse; the text of one that does not exist is empty."""
    folder = _hooks_folder(root)
    for name in HOOK_NAMES:
        path = folder / name
        _check_place(path, root)
        yield path, _read(path)


def _hooks_folder(root: Path) -> Path:
    """Find the folder of the hooks, which ``core.hooksPath`` may set."""
    default = git_index.find_hooks_folder(root)
    if default is None:
        raise UsageError(f"{root} is not in a git repository: there are no hooks to install")
    named = program.read_configured_path(root, "core.hooksPath", otherwise=FALLBACK_HINT)
    if not named:
        return default
    top = program.run_text(root, "rev-parse", "--show-toplevel", otherwise=FALLBACK_HINT).rstrip("\r\n")
    return (Path(top) / named).resolve()


def _check_place(path: Path, root: Path) -> None:
    """Raise an error for a hook that is a pipe, or a link out of the repository: that file is for other things too."""
    try:
        target = path.resolve()
    except (OSError, RuntimeError) as error:  # links in a circle
        raise UsageError(f"{path} cannot be read: {error}") from error
    places = (root, path.parent.parent) if path.parent.name == "hooks" else (root, path.parent)
    if not any(target.is_relative_to(place.resolve()) for place in places):
        raise UsageError(
            f"{path} is {target}, outside the repository: add this line to it yourself: {_shell_command()}"
        )
    if target.exists() and not target.is_file():
        raise UsageError(f"{path} is not a file: remove it")


def _read(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "surrogateescape") if path.exists() else ""


def _write(path: Path, text: str) -> None:
    path.write_bytes(text.encode("utf-8", "surrogateescape"))


def _shell_command() -> str:
    quoted = " ".join(
        "'{}'".format(word.replace(os.sep, "/").replace("'", "'\\''")) for word in launch_command()
    )
    return f"( {quoted} index >/dev/null 2>&1 </dev/null & ) >/dev/null 2>&1"


def _build_section() -> str:
    top = "$(git rev-parse --show-toplevel)"
    return f'{BEGIN_MARK}\n(unset GIT_DIR GIT_INDEX_FILE; cd "{top}" && {_shell_command()})\n{END_MARK}\n'


def _is_shell_script(text: str) -> bool:
    first = text.split("\n", 1)[0]
    return first.startswith("#!") and first.rstrip().endswith(("sh", "bash", "zsh", "dash"))


def _add_section(text: str) -> str:
    """Insert our section before everything that is run: the script may end with ``exit`` or ``exec``."""
    script = _remove_section(text) or "#!/bin/sh\n"
    comments = _LEADING_COMMENTS.match(script)
    head = comments[0] if comments else ""
    if head.endswith("\n"):
        return head + _build_section() + script[len(head) :]
    return f"{head}\n{_build_section()}".removesuffix(
        "\n"
    )  # without its last line break it can be taken out exactly


def _remove_section(text: str) -> str:
    start, end = text.find(BEGIN_MARK), text.find(END_MARK)
    if start < 0 or end < start:
        return text
    before, after = text[:start], text[end + len(END_MARK) :]
    return before + after.removeprefix("\n") if after else before.removesuffix("\n")
