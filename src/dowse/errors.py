"""Exception hierarchy and exit codes; every message says what to do next.

    DowseError                      exit code 4
    +-- UsageError                  2   the caller asked for something that cannot be
    |   +-- SettingsError           2   a configuration key or value is wrong
    |   +-- PatternTooSlow          2   a regular expression takes longer than anybody waits
    |   +-- EntityNotFound          2   nothing in the graph has this id or name
    |   +-- EntityAmbiguous         2   several things have this name
    |   +-- RootError               2   the folder to search is missing, unreadable or refused
    +-- IndexProblem                3   the index cannot be used as it is
    |   +-- IndexMissing            3   there is none, and making one was not allowed
    |   +-- IndexForeign            3   somebody else made it, or something in it is not dowse's
    |   +-- IndexLocked             3   another process is writing it
    |   +-- IndexCorrupt            3   its files are corrupt
    |   +-- IndexTooNew             3   a newer dowse wrote it
    |   +-- IndexUnwritable         3   no permission or no space to write it
    |   +-- IndexUnreachable        3   its server is away, refuses, or lacks something
    +-- EmbedderError               4   text could not be turned into vectors
    +-- RewriterError               4   a query could not be rewritten: the search goes on with the original
    +-- OutputError                 4   the answer could not be written to standard output

Errors of other libraries are mapped to these at the seam where they arise.
"""

import errno

_PERMISSION_ERRORS = (errno.EACCES, errno.EPERM, errno.EROFS)
"""What the system says where not space is missing but permission."""


class DowseError(Exception):
    """Anything dowse reports on purpose."""

    exit_code = 4


class UsageError(DowseError):
    """The caller asked for something that cannot be."""

    exit_code = 2


class PatternTooSlow(UsageError):
    """A regular expression takes longer than anybody waits."""


class EntityNotFound(UsageError):
    """Nothing in the graph has this id or name."""


class EntityAmbiguous(UsageError):
    """Several things have this name: the message lists them for choosing."""


class SettingsError(UsageError):
    """A configuration key or value is wrong."""


class RootError(UsageError):
    """The folder to search is missing, unreadable or refused."""


class IndexProblem(DowseError):
    """The index cannot be used as it is."""

    exit_code = 3


class IndexMissing(IndexProblem):
    """There is no index, and making one was not allowed."""


class IndexForeign(IndexProblem):
    """Somebody else made the index, or put something into its folder: nothing of it is read or deleted."""


class IndexLocked(IndexProblem):
    """Another process is writing the index."""


class IndexCorrupt(IndexProblem):
    """The files of the index are corrupt: what is, and what to do about it."""

    def __init__(self, what: str, advice: str = "run 'dowse index' to repair it") -> None:
        super().__init__(f"{what}: {advice}")
        self.what = what
        self.is_repairable = True

    @classmethod
    def beyond_repair(cls, what: str) -> "IndexCorrupt":
        """Of a part that can only be made again from the tree."""
        error = cls(what, "run 'dowse index --rebuild'")
        error.is_repairable = False
        return error


class IndexTooNew(IndexProblem):
    """A newer version of dowse wrote the index."""


class IndexUnwritable(IndexProblem):
    """The index cannot be written: no permission, or no space left."""

    @classmethod
    def because(cls, what: str, problem: object) -> "IndexUnwritable":
        """Of a part that could not be written, and what the system said."""
        is_closed = isinstance(problem, OSError) and problem.errno in _PERMISSION_ERRORS
        advice = "make it writable" if is_closed else "free some space"
        return cls(f"{what} cannot be written ({problem}): {advice}, or set index_dir to another place")


class IndexUnreachable(IndexProblem):
    """The server of the index is away, does not answer in time, refuses, or lacks something."""


class EmbedderError(DowseError):
    """Text could not be turned into vectors."""


class RewriterError(DowseError):
    """A query could not be rewritten."""


class OutputError(DowseError):
    """The answer could not be written to standard output."""

    @classmethod
    def because(cls, problem: OSError) -> "OutputError":
        """With what the system said."""
        why = "it is closed" if problem.errno == errno.EBADF else problem.strerror
        return cls(f"standard output cannot be written ({why}): send it to a file or another program")
