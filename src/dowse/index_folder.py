"""Index ownership check: an index folder that another user or machine made (a *foreign index*) is refused, not read.

A source tree may come from anybody, and a ``.dowse`` folder with it. Index files are therefore in a *data folder* with
a name that nobody else can know: a keyed hash (blake2b) of its path, under a secret in the user's state directory. A
data folder that was moved with its tree is known by its *seal*, a keyed hash of its inode, which a copy does not have.
What else is in the folder is neither read nor deleted.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from hashlib import blake2b
from pathlib import Path

from dowse import safe_files, settings
from dowse.errors import IndexForeign, IndexUnwritable
from dowse.frozen import frozen
from dowse.lazy_regex import compile_lazily

SEAL_FILE = "seal"
IGNORE_FILE = ".gitignore"
HARMLESS_NAMES = frozenset({IGNORE_FILE, "queries"})
"""What a tree may bring along in the folder of its index: an index beside it is the user's own all the same."""

KEY_FILE = "index.key"

KEY_BYTES = 32
KEY_MODE = 0o600
NAME_BYTES = 16
_DATA_NAME = compile_lazily(r"[0-9a-f]{32}")

_LINK_ATTRIBUTE = getattr(stat, "FILE_ATTRIBUTE_REPARSE_POINT", 0)
"""What Windows says of junctions and links of every kind."""


@frozen
class IndexFolder:
    """The index folder as the user knows it, and the data folder inside it that holds the files."""

    path: Path
    data: Path
    any_owner: bool = False  # whether files of another user are accepted

    @classmethod
    def from_data_folder(cls, folder: Path) -> IndexFolder:
        """Take a folder for the data folder itself, whoever made it: for folders that only this process knows."""
        return cls(folder, folder)

    def is_there(self) -> bool:
        """Whether the data folder is there, and is no link."""
        return is_own_folder(self.data, any_owner=self.any_owner)

    def create(self) -> None:
        """Make the data folder if there is none, hidden from git and sealed."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self.data.mkdir(mode=0o700, exist_ok=True)
            if not self.is_there():
                raise IndexForeign(f"{self.data} is a link, or belongs to another user: remove it")
            if not os.path.lexists(self.data / IGNORE_FILE):
                safe_files.write_regular(self.data / IGNORE_FILE, b"*\n", KEY_MODE)
            if not os.path.lexists(self.data / SEAL_FILE):
                with suppress(IndexUnwritable) if self.any_owner else nullcontext():
                    seal(self.data)
        except OSError as error:
            raise IndexUnwritable.because(f"the index at {self.path}", error) from error


def open_folder(path: Path, *, trusts_any: bool = False, holds_others: bool = False) -> IndexFolder:
    """Find the data folder in a folder, there or still to be made; raise ``IndexForeign`` if it is not the user's own.

    ``trusts_any`` takes the data folder that is there, whoever made it; but a link, which leads to something else, is
    not followed for anybody. ``holds_others``: no tree brings this folder, so what else is in it does not matter.
    """
    own = path / _data_name(path, trusts_any=trusts_any)
    if is_own_folder(own) and is_own_folder(path):
        return IndexFolder(path, own, any_owner=trusts_any)
    if not os.path.lexists(path):
        return IndexFolder(path, own, any_owner=trusts_any)
    if not is_own_folder(path, any_owner=trusts_any):
        raise IndexForeign(f"{path} is a link, not a folder, or belongs to another user")
    if trusts_any:
        return IndexFolder(path, next(list_data_folders(path), own), any_owner=True)
    moved = next(filter(_has_valid_seal, list_data_folders(path)), None)
    if moved is not None:
        return IndexFolder(path, moved)
    if not holds_others and not HARMLESS_NAMES.issuperset(os.listdir(path)):
        raise IndexForeign(f"{path} was not made by you on this machine")
    return IndexFolder(path, own)


def make_fresh(path: Path) -> IndexFolder:
    """Make a new and empty data folder in a folder, beside what is there."""
    _check_own(path)
    folder = IndexFolder(path, path / _data_name(path))
    folder.create()
    return folder


def find_foreign(path: Path) -> IndexFolder:
    """Find the one data folder in a folder, whoever made it, for a user who may want to trust it."""
    _check_own(path)
    found = [data for data in list_data_folders(path) if is_own_folder(data)]
    if len(found) != 1:
        raise IndexForeign(
            f"{path} holds {len(found)} indexes, and only one can be trusted: remove the others, "
            "or say --fresh to make a new one"
        )
    return IndexFolder(path, found[0])


def _check_own(path: Path) -> None:
    if not is_own_folder(path):
        raise IndexForeign(
            f"{path} is missing, a link, or belongs to another user: only your own folder can be trusted"
        )


def is_own_folder(path: Path, *, any_owner: bool = False) -> bool:
    """Whether a path is a folder, not a link to one, that belongs to this user."""
    try:
        status = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and is_own(status, any_owner=any_owner)


def is_own(status: os.stat_result, *, any_owner: bool = False) -> bool:
    """Whether something on the disk belongs to this user and is no link of any kind."""
    if getattr(status, "st_file_attributes", 0) & _LINK_ATTRIBUTE or stat.S_ISLNK(status.st_mode):
        return False
    return any_owner or not hasattr(os, "geteuid") or status.st_uid == os.geteuid()


def list_data_folders(path: Path) -> Iterator[Path]:
    """List the folders, not links, that are called like a data folder, by name."""
    try:
        names = sorted(os.listdir(path))
    except OSError:
        return iter(())
    return filter(_is_folder, (path / name for name in names if _DATA_NAME.fullmatch(name)))


def _is_folder(path: Path) -> bool:
    return is_own_folder(path, any_owner=True)


# --- the key and what is made with it ---


def _data_name(path: Path, *, trusts_any: bool = False) -> str:
    """Name the data folder of a folder; without a key only for who trusts any."""
    where = os.fsencode(path)
    try:
        return _hash(where)
    except IndexUnwritable:
        if trusts_any:
            return blake2b(where, digest_size=NAME_BYTES).hexdigest()
        raise


def seal(data: Path) -> None:
    """Mark a data folder as made, or trusted, by this user: holds for this very folder, wherever it is moved."""
    try:
        safe_files.write_regular(data / SEAL_FILE, _compute_seal(data).encode(), KEY_MODE)
    except OSError as error:
        raise IndexUnwritable.because(f"the index at {data.parent}", error) from error


def _has_valid_seal(data: Path) -> bool:
    try:
        return is_own_folder(data) and safe_files.read_regular(
            data / SEAL_FILE, 64
        ).decode() == _compute_seal(data)
    except (OSError, UnicodeDecodeError):
        return False


def _compute_seal(data: Path) -> str:
    status = os.lstat(data)
    return _hash(f"{data.name} {status.st_dev} {status.st_ino}".encode())


def _hash(data: bytes) -> str:
    """Hash data with the key that this user's indexes are named with, which is made the first time."""
    path = settings.user_state_dir() / KEY_FILE
    try:
        key = safe_files.read_regular(path, KEY_BYTES) if os.path.lexists(path) else b""
        key = key if len(key) == KEY_BYTES else _make_key(path)
    except OSError as error:
        raise IndexUnwritable(
            f"the key of your indexes cannot be kept in {path.parent} ({error}): set DOWSE_STATE_DIR to "
            "a folder that can be written, or DOWSE_TRUST_INDEX=1 if nobody else can have made the index of this tree"
        ) from error
    return blake2b(data, key=key, digest_size=NAME_BYTES).hexdigest()


def _make_key(path: Path) -> bytes:
    """Write a new key, unless another process has just done so; whoever comes second takes the first one's."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = path.with_name(f"{KEY_FILE}.{os.getpid()}.{os.urandom(4).hex()}")
    safe_files.write_regular(new, os.urandom(KEY_BYTES), KEY_MODE)
    try:
        if path.exists() and path.stat().st_size != KEY_BYTES:  # cut short by a full disk
            os.replace(new, path)
        else:
            os.link(new, path)
    except FileExistsError:
        pass
    except OSError:  # no hard links here
        os.replace(new, path)
    new.unlink(missing_ok=True)
    return safe_files.read_regular(path, KEY_BYTES)
