"""Files that anybody may have put there: never waited for, never followed out, never read beyond a bound."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from dowse import safe_files
from dowse.safe_files import LinkRefused, NotRegular, TooLarge, UnsafeFile, open_regular, read_regular

posix_only = pytest.mark.skipif(os.name == "nt", reason="Windows has no such thing")

PATIENCE_SECONDS = 20


@pytest.fixture(autouse=True)
def no_endless_wait() -> Iterator[None]:
    """Fail what waits for ever."""
    if os.name == "nt":
        yield
        return

    def give_up(*_: object) -> None:
        raise AssertionError(f"it took more than {PATIENCE_SECONDS} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(PATIENCE_SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


# --- opening and reading ---------------------------------------------------------------------------


def test_a_regular_file_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for size in (0, 1, 999_999, 1_000_000, 1_000_001, 3_500_000):
        data = os.urandom(size)
        path.write_bytes(data)
        assert read_regular(path, 3_500_000) == data
        assert read_regular(str(path), size) == data


def test_more_than_the_bound_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * 11)
    with pytest.raises(TooLarge, match="11 bytes, the limit is 10"):
        read_regular(path, 10)
    with path.open("wb") as file:
        file.truncate(100_000_000_000)  # no block of it is on disk
    with pytest.raises(TooLarge):
        read_regular(path, 1_000_000_000)


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="there is no /proc")
def test_a_file_that_says_it_is_empty_is_read_up_to_the_bound() -> None:
    whole = read_regular("/proc/self/status", 100_000)
    assert whole.startswith(b"Name:")
    with pytest.raises(TooLarge):
        read_regular("/proc/self/status", 10)


@posix_only
def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        monkeypatch.chdir(tmp_path)  # the name of a socket has few bytes
        listener.bind("socket")
        for path, kind in (
            (tmp_path / "pipe", "a pipe"),
            (tmp_path, "a folder"),
            (Path("/dev/zero"), "a device"),
        ):
            with pytest.raises(NotRegular, match=kind):
                read_regular(path, 10)
        with pytest.raises(OSError, match=r"."):
            read_regular(tmp_path / "socket", 10)
    with pytest.raises(OSError, match=r"."):  # nobody reads it: the system refuses
        open_regular(tmp_path / "pipe", os.O_WRONLY)


@posix_only
def test_links_are_refused_and_missing_files_are_missing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "circle").symlink_to("circle")
    for name in ("link", "circle"):
        with pytest.raises(LinkRefused, match="a link"):
            read_regular(tmp_path / name, 10)
    with pytest.raises(FileNotFoundError):
        read_regular(tmp_path / "nothing", 10)
    with pytest.raises(UnsafeFile):
        read_regular(f"{tmp_path}/a\0b", 10)
    with pytest.raises(LinkRefused):
        open_regular(tmp_path / "link", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    assert (tmp_path / "file").read_text() == "x"


def test_a_file_can_be_made(tmp_path: Path) -> None:
    descriptor = open_regular(tmp_path / "new", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    os.write(descriptor, b"made")
    assert not os.get_inheritable(descriptor)
    os.close(descriptor)
    assert (tmp_path / "new").read_bytes() == b"made"


@posix_only
def test_a_link_may_stay_in_the_tree(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "deep").mkdir(parents=True)
    (tree / "deep" / "file").write_text("inside")
    (tmp_path / "file").write_text("outside")
    (tree / "inside").symlink_to("deep/file")
    (tree / "outside").symlink_to("../file")
    (tree / "circle").symlink_to("circle")
    assert safe_files.read_inside(tree, "inside", 10) == b"inside"
    assert safe_files.read_inside(tree, "deep/file", 10) == b"inside"
    with pytest.raises(LinkRefused, match="out of the tree"):
        safe_files.read_inside(tree, "outside", 10)
    with pytest.raises(OSError, match=r"."):
        safe_files.read_inside(tree, "circle", 10)
