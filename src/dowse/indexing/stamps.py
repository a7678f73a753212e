"""File stamps (size, mtime, ctime) and times of folders: read them with stat, compare them, judge if they are trusted.

A stamp that is too recent is not trusted, since the file may change again under the same time ("racy" in git). That is
judged just before the content is read. After the analysis it would be too late: by then the time of any file looks old,
and a change in between would never be noticed.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from dowse.types.discovered import FileStamp, WatchedTime

TRUSTED_AGE_NS = 50_000_000
COARSE_TRUSTED_AGE_NS = 2_000_000_000
"""A file read this soon after its last change may change again under the same time stamp (file systems count
in steps; some in whole seconds): its stamp is not trusted, so that it is checked again."""

HAS_CHANGE_TIME = os.name == "posix"


def stamp_of(status: os.stat_result) -> FileStamp:
    """Make the stamp that tells whether a file has changed; on Windows, ``st_ctime`` is when it was made."""
    return FileStamp(status.st_size, status.st_mtime_ns, status.st_ctime_ns if HAS_CHANGE_TIME else 0)


def read_changed_ns(path: str | Path) -> int | None:
    """Read when a file or folder was last changed, in nanoseconds; None if it is not there."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return (HAS_CHANGE_TIME and status.st_ctime_ns) or status.st_mtime_ns


def judge_stamp(stamp: FileStamp) -> FileStamp:
    """Make the stamp to store for a file that is about to be read: not trusted if it is too new.

    A file may have been written just now under an older time: both times count.
    """
    if is_settled(stamp.mtime_ns) and is_settled(stamp.ctime_ns):
        return stamp
    return stamp._replace(is_trusted=False)


def judge_time(changed_ns: int | None) -> WatchedTime:
    """Make the time to store for what is about to be read: not trusted if it is too new."""
    return WatchedTime(changed_ns, changed_ns is None or is_settled(changed_ns))


def is_settled(changed_ns: int) -> bool:
    """Return whether a time is so long ago that what is changed from now on has another one."""
    is_coarse = changed_ns % 1_000_000_000 == 0
    age = time.time_ns() - changed_ns
    return not 0 <= age < (COARSE_TRUSTED_AGE_NS if is_coarse else TRUSTED_AGE_NS)


def is_same_stamp(stored: FileStamp, now: FileStamp) -> bool:
    """Return whether a stored stamp, trusted or not, is that of the file as it is now."""
    return stored._replace(is_trusted=now.is_trusted) == now
