"""Index migration: copy an index from one store to another, incrementally; contents that the target has are skipped."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

from dowse.code import chunk_fields
from dowse.errors import IndexMissing
from dowse.stores.protocol import KnownFile, Snapshot, Store, Writer
from dowse.types.discovered import SourceFile
from dowse.types.source import MaskedSecret
from dowse.types.stored import IndexState

BATCH_BYTES = 8_000_000
"""Source bytes per commit."""


def copy(source: Store, target: Store, progress: Callable[[str, int, int], None]) -> int:
    """Make the target what the source is, and return how many files were copied."""
    status = source.status()
    if status.state is not IndexState.CURRENT or status.report is None:
        raise IndexMissing(
            f"the index to copy ({status.location}) is {status.state}: run 'dowse index' on it first"
        )
    secrets: dict[str, list[MaskedSecret]] = defaultdict(list)
    for secret in status.secrets:
        secrets[secret.path].append(secret)
    with target.writer() as writer:
        with source.snapshot() as snapshot:
            copied, watched = _copy_files(snapshot, writer, secrets, progress), dict(snapshot.list_watched())
        writer.finish(status.report, watched)  # a server may wait then for all who read
    return copied


def _copy_files(
    snapshot: Snapshot,
    writer: Writer,
    secrets: Mapping[str, list[MaskedSecret]],
    progress: Callable[[str, int, int], None],
) -> int:
    theirs, ours = writer.manifest(), snapshot.manifest()
    gone = [path for path in theirs if path not in ours]
    new = sorted(path for path in ours if _differs(ours[path], theirs.get(path)))
    copied = 0
    for batch in _read_batches(snapshot, new, secrets, any_vectors=_has_vectors(snapshot, ours)):
        writer.apply(gone, batch)
        copied, gone = copied + len(batch), []
        progress("copy", copied, len(new))
    if gone:
        writer.apply(gone, [])
    stamps = {path: file.stamp for path, file in ours.items() if path in theirs and path not in set(new)}
    if stamps:
        writer.restamp(stamps)
    return copied


def _differs(ours: KnownFile, theirs: KnownFile | None) -> bool:
    return theirs is None or theirs.content_hash != ours.content_hash


def _has_vectors(snapshot: Snapshot, manifest: Mapping[str, KnownFile]) -> bool:
    """Whether the index has vectors at all: a file without any waits for them then."""
    for path in sorted(manifest):
        file = snapshot.file_at(path)
        if file is not None and file.parsed.chunks and snapshot.file_vectors(file.id):
            return True
    return False


def _read_batches(
    snapshot: Snapshot,
    paths: Sequence[str],
    secrets: Mapping[str, Sequence[MaskedSecret]],
    *,
    any_vectors: bool,
) -> Iterator[list[SourceFile]]:
    batch: list[SourceFile] = []
    size = 0
    for path in paths:
        file = snapshot.file_at(path)
        assert file is not None, "the manifest of a snapshot names its files"
        (references,) = snapshot.references({path})
        content, vectors = snapshot.content(file.id), snapshot.file_vectors(file.id)
        batch.append(
            SourceFile(
                path,
                file.stamp,
                file.content_hash,
                file.role,
                content,
                file.parsed,
                file.definitions,
                chunk_fields.chunk_terms(
                    path, chunk_fields.build_passages(content, file.parsed, file.definitions)
                ),
                tuple(secrets.get(path, ())),
                vectors,
                references.packed,
                awaits_vectors=any_vectors and bool(file.parsed.chunks) and not vectors,
            )
        )
        size += len(content)
        if size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
