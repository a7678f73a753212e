"""The vector index of the embedded store: what it finds is what comparing everything in full precision finds."""

import struct
from array import array
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.stores.embedded import vector_index
from dowse.stores.embedded.quantize import pack_vectors, unpack_vectors
from dowse.stores.embedded.vector_index import MAX_SEGMENTS, VectorIndex, _choose_merge
from dowse.stores.embedded.vector_segment import SegmentShape, VectorSegment, quantize_int8, top_k_indices
from dowse.types.discovered import ChunkVector
from dowse.types.stored import chunk_id, split_chunk_id

DIMENSIONS = 64
FILES = 60


def unit(rows: int, seed: int, dimensions: int = DIMENSIONS) -> np.ndarray:
    """Vectors of length one that lie in clusters, and in some directions further apart than in others, as of code."""
    random = np.random.default_rng(seed)
    spread = np.random.default_rng(0).permutation(np.linspace(2.0, 0.1, dimensions) ** 1.5)
    centres = random.standard_normal((12, dimensions)) * spread
    found = (
        centres[random.integers(12, size=rows)] + 0.8 * random.standard_normal((rows, dimensions)) * spread
    )
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), dtype=np.float32)


def chunk_vectors(matrix: np.ndarray) -> list[ChunkVector]:
    return pack_vectors(
        [ChunkVector(bytes([i % 256]) * 16, row.astype("<f4").tobytes()) for i, row in enumerate(matrix)]
    )


def files_of(matrix: np.ndarray, first: int = 1, size: int = 25) -> list[tuple[int, list[ChunkVector]]]:
    """The rows as chunks of files of one size."""
    rows = chunk_vectors(matrix)
    return [(first + i // size, rows[i : i + size]) for i in range(0, len(rows), size)]


@pytest.fixture(scope="module")
def matrix() -> np.ndarray:
    return unit(25 * FILES, 1)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory, matrix: np.ndarray) -> VectorIndex:
    """Three segments."""
    index = VectorIndex(tmp_path_factory.mktemp("vectors"))
    files = files_of(matrix)
    for generation, part in enumerate((files[:10], files[10:40], files[40:]), 1):
        index.append(generation, part, lambda ids: ids >= 0)
    return VectorIndex(index.folder)


def exact(
    matrix: np.ndarray, query: np.ndarray, limit: int, files: frozenset[int] | None = None
) -> list[int]:
    scores = matrix @ query
    ids = [chunk_id(1 + row // 25, row % 25) for row in range(len(matrix))]
    order = [row for row in np.argsort(-scores, kind="stable") if files is None or 1 + row // 25 in files]
    return [ids[row] for row in order[:limit]]


@pytest.mark.parametrize("files", [None, frozenset({2, 3, 11, 45, 60})], ids=["all", "some files"])
def test_the_nearest_are_those_of_full_precision(
    index: VectorIndex, matrix: np.ndarray, files: frozenset[int] | None
) -> None:
    shares = []
    for query in unit(40, 2):
        found = [hit.chunk for hit in index.search(query.tolist(), 100, files)]
        wanted = exact(matrix, query, 100, files)
        assert len(found) == len(wanted)
        shares.append(len(set(found) & set(wanted)) / len(wanted))
    assert np.mean(shares) >= 0.98


@pytest.mark.parametrize("files", [frozenset({7}), frozenset(range(1, FILES, 2))], ids=["one", "half"])
def test_only_rows_of_the_files_are_found_however_few_they_are(
    tmp_path: Path, matrix: np.ndarray, files: frozenset[int]
) -> None:
    """Of one segment: few rows are copied together and compared, many are compared where they are."""
    index = VectorIndex(tmp_path)
    index.append(1, files_of(matrix), lambda ids: ids >= 0)
    for query in unit(10, 6):
        found = index.search(query.tolist(), 10, files)
        wanted = exact(matrix, query, 10, files)
        assert len(found) == 10 and len({hit.chunk for hit in found} & set(wanted)) >= 9
        for chunk, score in found:
            file, ordinal = split_chunk_id(chunk)
            assert score == pytest.approx(float(matrix[(file - 1) * 25 + ordinal] @ query), abs=0.01)


def test_each_question_has_its_own_files(index: VectorIndex) -> None:
    query = unit(1, 5)[0].tolist()
    for files in (frozenset({2}), frozenset({2, 3, 60}), None, frozenset({3}), frozenset({2})):
        found = {split_chunk_id(hit.chunk)[0] for hit in index.search(query, 10_000, files)}
        assert files is None or found == files


def test_scores_are_cosines(index: VectorIndex, matrix: np.ndarray) -> None:
    query = unit(1, 3)[0]
    for chunk, score in index.search(query.tolist(), 50):
        file, ordinal = split_chunk_id(chunk)
        assert score == pytest.approx(float(matrix[(file - 1) * 25 + ordinal] @ query), abs=0.01)


def test_nothing_is_like_nothing(index: VectorIndex) -> None:
    assert index.search([0.0] * DIMENSIONS, 10) == []
    assert index.search(unit(1, 4)[0].tolist(), 0) == []
    assert index.search(unit(1, 4)[0].tolist(), 10, frozenset()) == []
    assert index.search(unit(1, 4)[0].tolist(), 10, frozenset({99_999})) == []


@given(
    scores=st.lists(st.integers(-3, 3), min_size=1, max_size=60),
    limit=st.integers(1, 70),
    files=st.none() | st.frozensets(st.integers(0, 12)),
)
def test_the_best_rows_of_a_segment_are_found(
    scores: list[int], limit: int, files: frozenset[int] | None
) -> None:
    ids = np.array([chunk_id(row // 5, row % 5) for row in range(len(scores))], dtype=np.int64)
    data = ids.tobytes() + np.ones(len(ids), np.float32).tobytes() + np.array(scores, np.int8).tobytes()
    segment = VectorSegment(SegmentShape("segment", len(ids), 1), data)
    rows = [row for row in range(len(ids)) if files is None or row // 5 in files]
    wanted = sorted((scores[row] / 4 for row in rows), reverse=True)[:limit]
    chunks, cosines = segment.find_nearest(array("b", [1]), 0.25, limit, files, -1.0)
    assert set(chunks) <= {ids[row] for row in rows}
    assert sorted(cosines, reverse=True)[:limit] == wanted
    for floor in (-1.0, 0.0, 0.5):
        _, cosines = segment.find_nearest(array("b", [1]), 0.25, limit, files, floor)
        assert sorted(c for c in cosines if c >= floor)[-limit:] == sorted(c for c in wanted if c >= floor)


@given(
    numbers=st.lists(st.floats(2, 4, width=32) | st.sampled_from([2.0, 2.5, 3.0]), max_size=300),
    limit=st.integers(1, 320),
    among=st.none() | st.lists(st.integers(0, 290), max_size=8),
    odd=st.none() | st.sampled_from([0.0, -3.0, 1.5, 8.0, 1e30]),
)
def test_the_largest_are_among_those_that_come_close(
    numbers: list[float], limit: int, among: list[int] | None, odd: float | None
) -> None:
    numbers = numbers if odd is None else [*numbers, odd]
    ranges = None if among is None else [range(min(n, len(numbers)), min(n + 9, len(numbers))) for n in among]
    places = set(range(len(numbers))) if ranges is None else {place for some in ranges for place in some}
    found = list(top_k_indices(struct.pack(f"{len(numbers)}f", *numbers), limit, ranges))
    assert set(found) <= places
    wanted = sorted((numbers[place] for place in places), reverse=True)[:limit]
    assert sorted((numbers[place] for place in set(found)), reverse=True)[:limit] == wanted


@given(st.lists(st.floats(-127, 127, width=32), min_size=1, max_size=300), st.sampled_from([0.25, 1.0, 3.0]))
def test_numbers_are_rounded_as_python_does(numbers: list[float], part: float) -> None:
    found = array("b", quantize_int8([number * part for number in numbers], 1 / part))
    assert len(found) == len(numbers)
    for whole, number in zip(found, numbers, strict=True):
        assert abs(whole - number) <= 0.5001  # a half may go either way


def test_few_come_close(matrix: np.ndarray) -> None:
    numbers = (3 + matrix @ unit(1, 5)[0]).astype(np.float32)
    assert 10 <= len(list(top_k_indices(numbers.tobytes(), 10))) < 100


@given(st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=20))
def test_packing_keeps_half_a_level_and_packs_again_to_the_same(components: list[float]) -> None:
    vector = struct.pack(f"<{len(components)}f", *components)
    (once,) = pack_vectors([ChunkVector(b"k", vector)])
    (again,) = unpack_vectors([once.vector])
    level = max(map(abs, components)) / 127
    found = struct.unpack(f"<{len(components)}f", again)
    assert found == pytest.approx(components, abs=level * 0.51 + 1e-12)
    (twice,) = pack_vectors([ChunkVector(b"k", again)])
    assert twice.vector[4:] == once.vector[4:]


def test_files_that_are_not_kept_go_when_segments_merge(tmp_path: Path, matrix: np.ndarray) -> None:
    index = VectorIndex(tmp_path)
    for generation in range(1, 12):
        index.append(generation, files_of(matrix[:50], first=2 * generation), lambda ids: ids >> 20 > 4)
    left = {split_chunk_id(chunk)[0] for chunk in VectorIndex(tmp_path).chunks()}
    assert left == set(range(5, 24))
    assert len(list(tmp_path.glob("*.segment"))) <= MAX_SEGMENTS


def test_a_merge_copies_a_few_rows_at_a_time(
    tmp_path: Path, matrix: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Segments whose files alternate, so that every part has rows of several; and all of them are in the result."""
    files = files_of(matrix)
    whole = VectorIndex(tmp_path / "whole")
    whole.append(1, files, lambda ids: ids >= 0)
    monkeypatch.setattr(vector_index, "COPIED_ROWS", 40)
    merged = VectorIndex(tmp_path / "merged")
    for generation in range(MAX_SEGMENTS + 1):
        some = files[generation :: MAX_SEGMENTS + 1]
        merged.append(generation + 1, some, lambda ids: ids >= 0)
    (found,) = VectorIndex(merged.folder)._segments.values()
    (expected,) = whole._segments.values()
    assert found.ids == expected.ids and found.scales == expected.scales and found.rows == expected.rows
    source = vector_index._MergedSegment(
        expected,
        np.frombuffer(expected.ids, dtype=np.int64),
        np.frombuffer(expected.scales, dtype=np.float32),
        np.arange(len(matrix)),
    )
    sizes = [len(part) for part in vector_index._join_in_order([source])[2]]
    assert max(sizes) <= 40 and sum(sizes) == len(matrix)


def test_small_changes_leave_a_large_segment_as_it_is(tmp_path: Path, matrix: np.ndarray) -> None:
    index = VectorIndex(tmp_path)
    files = files_of(matrix)
    index.append(1, files[:-8], lambda ids: ids >= 0)
    (large,) = tmp_path.glob("*.segment")
    for generation, file in enumerate(reversed(files[-8:]), 2):
        index.append(generation, [file], lambda ids: ids >= 0)
    again = VectorIndex(tmp_path)
    assert large.exists() and len(list(tmp_path.glob("*.segment"))) <= MAX_SEGMENTS
    assert sorted(again.chunks()) == [chunk_id(1 + row // 25, row % 25) for row in range(len(matrix))]
    some = frozenset({2, 55, 60})
    assert [hit.chunk for hit in again.search(matrix[7].tolist(), 1)] == [chunk_id(1, 7)]
    found = [hit.chunk for hit in again.search(matrix[0].tolist(), 5, some)]
    assert found and {split_chunk_id(chunk)[0] for chunk in found} <= some


def test_what_is_merged() -> None:
    small = {f"small{i}": (10, 10) for i in range(6)}
    assert _choose_merge({"large": (9000, 9000), "other": (9000, 9000), **small, "new": (5, 5)}) == {
        *small,
        "new",
    }
    assert _choose_merge({"gone": (100, 9000), "large": (9000, 9000), **small}) >= {"gone"}
    equal = {f"equal{i}": (9000, 9000) for i in range(MAX_SEGMENTS + 1)}
    assert len(_choose_merge(equal)) >= 2


def test_a_manifest_that_is_open_elsewhere_is_replaced_a_moment_later(
    tmp_path: Path, matrix: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on Windows while somebody reads it."""
    replace, refused = Path.replace, [PermissionError(13, "open elsewhere")] * 3

    def refusing(path: Path, target: Path) -> Path:
        if refused:
            raise refused.pop()
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", refusing)
    VectorIndex(tmp_path).append(1, files_of(matrix[:50]), lambda ids: ids >= 0)
    assert len(VectorIndex(tmp_path)) == 50
