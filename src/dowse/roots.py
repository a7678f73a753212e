"""Project root detection: the root of a tree, the folder of its index, and the main checkout of a git worktree.

Also names a tree for stores that several users share, by its git remote.
"""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path
from typing import NamedTuple

from dowse import settings as settings_module
from dowse.errors import IndexForeign, RootError, SettingsError
from dowse.index_folder import IndexFolder, list_data_folders, open_folder
from dowse.safe_files import is_utf8, read_inside, read_regular
from dowse.settings import Settings
from dowse.settings_files import CONFIG_FILE, MAX_CONFIG_BYTES

INDEX_FOLDER = ".dowse"

PROJECT_MARKERS = (INDEX_FOLDER, CONFIG_FILE, ".git")
"""Entries that show the root of a project, searched from the working directory upwards."""


def resolve_root(path: str | os.PathLike[str] | None, *, allow_home: bool = False) -> Path:
    """Resolve the folder to search: the given one, or the project around the working directory."""
    try:
        root = Path(path).expanduser().resolve() if path is not None else find_project_root(Path.cwd())
    except FileNotFoundError:
        raise RootError("the working directory does not exist any more: change to one that does") from None
    if not is_utf8(str(root)):
        raise RootError(f"{str(root)!r} is not valid UTF-8: rename the folder")
    if not root.exists():
        raise RootError(f"{root} does not exist: give a folder")
    if not root.is_dir():
        raise RootError(
            f"{root} is a file: give the folder it is in, and use --path to search only that file"
        )
    if not os.access(root, os.R_OK | os.X_OK):
        raise RootError(f"{root} cannot be read: no permission")
    if not allow_home and root in (Path(root.anchor), Path.home()):
        raise RootError(
            f"{root} is hardly a source tree: give a folder below it, or --allow-home if you mean it"
        )
    return root


def find_project_root(start: Path) -> Path:
    """Find the nearest folder upwards that looks like the root of a project, or return the folder itself."""
    start = start.resolve()
    home = Path.home()
    for folder in (start, *start.parents):
        if folder == home or folder == Path(folder.anchor):
            break
        if any((folder / mark).exists() for mark in PROJECT_MARKERS):
            return folder
    return start


class IndexLocation(NamedTuple):
    """The folder of an index, and what a user should know about it."""

    folder: IndexFolder
    note: str = ""


def locate_index(root: Path, settings: Settings) -> IndexLocation:
    """Find the index of a tree: with the main checkout of a repository, so that work trees share it.

    Where that folder is somebody else's or cannot be written, the index is in the user's cache.
    """
    if settings.index_dir:
        return IndexLocation(_open_chosen_folder(root, settings))
    home = find_main_checkout(root) or root
    folder = home / INDEX_FOLDER
    try:
        found = open_folder(folder, trusts_any=settings.trust_index)
    except IndexForeign as error:
        location = _locate_in_cache(home, settings)
        return location._replace(
            note=f"{error}, so it is left alone and the index is in {location.folder.path}; "
            "run 'dowse trust' to use it all the same, or 'dowse trust --fresh' to have a new index beside it"
        )
    if os.access(folder if folder.exists() else home, os.W_OK):
        return IndexLocation(found)
    location = _locate_in_cache(home, settings)
    return location._replace(note=f"{home} cannot be written, so the index is in {location.folder.path}")


def default_index_folder(root: Path, settings: Settings) -> Path:
    """Find the folder that would hold the index of a tree if it were the user's own."""
    return (
        _chosen_path(root, settings)
        if settings.index_dir
        else (find_main_checkout(root) or root) / INDEX_FOLDER
    )


def _open_chosen_folder(root: Path, settings: Settings) -> IndexFolder:
    """Open the folder that the user chose for an index; raise an error if it holds other things."""
    folder = _chosen_path(root, settings)
    try:
        return open_folder(folder, trusts_any=settings.trust_index)
    except IndexForeign as error:
        if not any(list_data_folders(folder)) and folder.is_dir():
            raise SettingsError(
                f"{folder} holds other things than an index: set index_dir to a folder of its own"
            ) from error
        raise IndexForeign(f"{error}: run 'dowse trust --index-dir {folder}' if you trust it") from error


def _chosen_path(root: Path, settings: Settings) -> Path:
    return (root / Path(settings.index_dir).expanduser()).resolve()


def _locate_in_cache(home: Path, settings: Settings) -> IndexLocation:
    folder = settings_module.user_cache_dir() / _name_with_hash(home)
    return IndexLocation(open_folder(folder, trusts_any=settings.trust_index, holds_others=True))


def search_log_path(root: Path) -> Path:
    """Return the path of the log of the queries about a tree, for users who want one; never in the tree."""
    return settings_module.user_state_dir() / "searches" / f"{_name_with_hash(root)}.jsonl"


def last_answer_path(root: Path) -> Path:
    """Return the path of the note on the last answer about a tree that a terminal showed."""
    return settings_module.user_state_dir() / "answers" / f"{_name_with_hash(root)}.json"


def _name_with_hash(folder: Path) -> str:
    """Make a name for what is kept of a tree elsewhere: that of its folder, and a hash that tells namesakes apart."""
    digest = hashlib.sha256(str(folder).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return f"{folder.name or 'root'}-{digest}"


class SharedNames(NamedTuple):
    """The names of a tree and of this checkout of it in a shared store."""

    repository: str
    view: str


def name_shared_index(root: Path) -> SharedNames:
    """Name the repository by its git remote, so that all its users share it, and the view by machine and folder."""
    import socket

    here = f"{socket.gethostname()}:{root.as_posix()}"
    home = find_main_checkout(root) or root
    remote = _read_remote(home / ".git" / "config")
    return SharedNames(remote or f"{socket.gethostname()}:{home.as_posix()}", here)


def _read_remote(config: Path) -> str:
    """Read the URL of the remote ``origin`` as host and path, without login: ``github.com/owner/name``."""
    try:
        if config.parent.is_symlink():  # the repository of somebody else
            return ""
        text = read_inside(config.parent, config.name, MAX_CONFIG_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
    section = re.search(r'^\[remote "origin"\]([^\[]*)', text, re.MULTILINE)
    url = section and re.search(r"^\s*url\s*=\s*(\S+)", section[1], re.MULTILINE)
    if not url:
        return ""
    match = re.fullmatch(r"(?:[a-z+]+://)?(?:[^@/]*@)?([^:/]+)(?::\d+(?=/))?[:/]+(.+?)(?:\.git)?/?", url[1])
    return f"{match[1].lower()}/{match[2]}" if match and "." in match[1] else ""


def find_main_checkout(root: Path) -> Path | None:
    """Return the main checkout that a linked git work tree belongs to, if the root is one.

    A tree may have a file that points at any repository. That is believed only if the repository points back: its
    folder for the work tree, which only its owner can write, names the file.
    """
    mark = root / ".git"
    try:
        target = read_inside(root, ".git", MAX_CONFIG_BYTES).decode().removeprefix("gitdir:").strip()
        linked = (root / target).resolve()
        common = (linked / _read_line(linked / "commondir")).resolve()
        if linked.parent != common / "worktrees":
            return None
        if (linked / _read_line(linked / "gitdir")).resolve() != mark.resolve():
            return None
    except (OSError, ValueError, RuntimeError):  # no text, a NUL in a path, links in a circle
        return None
    return common.parent if common.name == ".git" and common.parent.is_dir() else None


def _read_line(path: Path) -> str:
    """Read a file of git's that holds a path."""
    return read_regular(path, MAX_CONFIG_BYTES).decode().strip()
