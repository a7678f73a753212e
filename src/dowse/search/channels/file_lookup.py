"""File name lookup channel: files that a query names by path, name or stem (``parser.py``, ``Dockerfile``)."""

from __future__ import annotations

from collections.abc import Sequence

from dowse.search.channels.request import ChannelRequest, NotRun
from dowse.stores.protocol import Snapshot
from dowse.types.stored import Filter, Scored, StoredFile, chunk_id

MAX_FILES_PER_NAME = 5

NO_FILE_NAME = "no word of the query looks like a file name"
"""Why the channel does not run."""

MAX_NAMESAKES = 20
"""Files of one name or stem that are looked at where a query is one word."""


def find(request: ChannelRequest) -> Sequence[Scored] | NotRun:
    """Find the first chunks of the files that a query names, or its only word; an empty file has none."""
    snapshot, query = request.snapshot, request.query
    if query.files:
        files = _find_files(snapshot, query.files, query.filter, MAX_FILES_PER_NAME)
    else:
        files = _find_by_word(snapshot, query.text.strip(), query.filter)
        if not files:
            return NotRun(NO_FILE_NAME)
    return [Scored(chunk_id(file.id, 0), 1.0) for file in files if file.parsed.chunks]


def _find_files(snapshot: Snapshot, names: Sequence[str], filter: Filter, limit: int) -> list[StoredFile]:
    """Find the files of some names, at most so many of each."""
    ids = dict.fromkeys(id for name in names for id in snapshot.find_files_named(name, filter, limit))
    return [file for id in ids if (file := snapshot.file(id))]


def _find_by_word(snapshot: Snapshot, word: str, filter: Filter) -> list[StoredFile]:
    """Find the files that a word names (``Dockerfile``), in capitals without the extension (``README``)."""
    files = _find_files(snapshot, [word], filter, MAX_NAMESAKES)
    names = {file.id: file.path.rpartition("/")[2] for file in files}
    whole = [file for file in files if names[file.id].lower() == word.lower()]
    return whole or [file for file in files if word.isupper() and names[file.id].partition(".")[0] == word]
