"""The vector index of the embedded store: what it finds is what comparing everything in full precision finds."""

import struct
from array import array
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.stores.embedded import pca_prefilter, vector_index, vector_segment
from dowse.stores.embedded.quantize import quantize_int8
from dowse.stores.embedded.topk import top_k_indices
from dowse.stores.embedded.vector_codec import pack_vectors, unpack_vectors
from dowse.stores.embedded.vector_index import MAX_SEGMENTS, VectorIndex, _choose_merge
from dowse.stores.embedded.vector_segment import SegmentShape, VectorSegment
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


# --- the prefilter --------------------------------------------------------------------------------------

ODD = 61
"""Numbers of a vector that three eighths of are no whole number, and that fill no whole words."""

MANY_FILES = 800


@pytest.fixture(scope="module")
def many() -> np.ndarray:
    return unit(25 * MANY_FILES, 6, ODD)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory, many: np.ndarray) -> VectorIndex:
    """Two segments without a prefilter."""
    return of_two_segments(tmp_path_factory.mktemp("plain"), many)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory, many: np.ndarray) -> VectorIndex:
    """The same two, of which the larger has a prefilter."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vector_index, "PREFILTER_MIN_ROWS", 10_000)
        return of_two_segments(tmp_path_factory.mktemp("large"), many)


def of_two_segments(folder: Path, matrix: np.ndarray) -> VectorIndex:
    index, files = VectorIndex(folder), files_of(matrix)
    index.append(1, files[:700], lambda ids: ids >= 0)
    index.append(2, files[700:], lambda ids: ids >= 0)
    return VectorIndex(folder)


def segment_of(index: VectorIndex) -> VectorSegment:
    """The larger one."""
    found: dict[str, VectorSegment] = vars(index)["_segments"]
    return max(found.values(), key=lambda segment: segment.shape.rows)


WIDE, NARROW = frozenset(range(1, MANY_FILES, 2)), frozenset({2, 3, 300, 301, 790})


@pytest.mark.parametrize("files", [None, WIDE, NARROW], ids=["all", "many files", "few files"])
def test_the_prefilter_loses_little(
    large: VectorIndex,
    plain: VectorIndex,
    many: np.ndarray,
    files: frozenset[int] | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert segment_of(large).shape.has_prefilter and not segment_of(plain).shape.has_prefilter
    chosen: list[int] = []
    nearest = pca_prefilter.find_nearest_runs

    def counted(*args: Any) -> list[tuple[int, int]]:
        runs = nearest(*args)
        chosen.append(sum(end - first for first, end in runs))
        return runs

    monkeypatch.setattr(pca_prefilter, "find_nearest_runs", counted)
    shares = []
    for query in many[::500] + 0.3 * unit(40, 7, ODD):
        wanted = {hit.chunk: hit.score for hit in plain.search(query.tolist(), 10, files)}
        found = {hit.chunk: hit.score for hit in large.search(query.tolist(), 10, files)}
        assert len(found) == len(wanted) == 10
        assert files is None or {chunk >> 20 for chunk in found} <= files
        both = found.keys() & wanted.keys()
        assert {chunk: found[chunk] for chunk in both} == {chunk: wanted[chunk] for chunk in both}
        shares.append(len(both) / len(wanted))
    assert np.mean(shares) >= 0.95  # of numbers by chance, which are harder to tell apart than those of texts
    if files is NARROW:  # too few to be chosen from: nothing is lost
        assert min(shares) == 1.0 and not chosen
    else:
        assert (
            len(chosen) == 40
            and max(chosen) < segment_of(large).shape.rows * vector_segment.MAX_PREFILTERED_SHARE
        )


def test_prefilter_axes_lie_along_the_directions_in_which_rows_spread_most() -> None:
    """Rows that differ in a plane only: two numbers tell all of what tells them apart."""
    random = np.random.default_rng(9)
    plane = np.linalg.qr(random.standard_normal((16, 16)))[0][:2]
    matrix = (random.standard_normal((3000, 2)) @ plane).astype(np.float32)
    scales = np.abs(matrix).max(axis=1) / np.float32(127)
    rows = np.rint(matrix / scales[:, None]).astype(np.int8)
    found = pca_prefilter.build(rows, scales)
    assert found is not None
    assert found.axes.shape == (6, 16) and found.rows.shape == (3000, 6)
    assert found.axes @ found.axes.T == pytest.approx(np.eye(6), abs=1e-5)
    assert np.linalg.norm(found.axes[-2:] @ plane.T) == pytest.approx(np.sqrt(2), abs=0.01)
    shown = (found.rows * found.scales[:, None])[:, -2:]
    assert np.abs(shown @ shown.T - matrix @ matrix.T).max() < 0.02 * (matrix @ matrix.T).max()


def test_a_row_of_zeros_is_projected_to_zeros() -> None:
    rows = np.zeros((5, 8), np.int8)
    rows[1:] = np.arange(32).reshape(4, 8)
    found = pca_prefilter.build(rows, np.ones(5, np.float32))
    assert found is not None
    assert not found.rows[0].any() and np.isfinite(found.scales).all() and found.rows[1:].any(axis=1).all()


def test_rows_that_spread_in_all_directions_alike_are_all_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_index, "PREFILTER_MIN_ROWS", 1000)
    rows = np.random.default_rng(3).standard_normal((5000, DIMENSIONS)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    index = VectorIndex(tmp_path)
    index.append(1, files_of(rows), lambda ids: ids >= 0)
    assert not segment_of(VectorIndex(tmp_path)).shape.has_prefilter
    assert index.search(rows[4321].tolist(), 1)[0].chunk == chunk_id(1 + 4321 // 25, 4321 % 25)


def test_where_a_prefilter_tells_nothing_apart_everything_is_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten thousand copies of a text, and one that is like them."""
    monkeypatch.setattr(vector_index, "PREFILTER_MIN_ROWS", 1000)
    same = np.repeat(unit(1, 8), 10_000, axis=0)
    same[7777] *= -1
    index = VectorIndex(tmp_path)
    index.append(1, files_of(same), lambda ids: ids >= 0)
    assert segment_of(index).shape.has_prefilter
    assert len(index.search(same[0].tolist(), 20)) == 20
    assert index.search((-same[0]).tolist(), 1)[0].chunk == chunk_id(1 + 7777 // 25, 7777 % 25)


def test_a_merge_makes_a_prefilter_of_what_is_left(
    tmp_path: Path, many: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_index, "PREFILTER_MIN_ROWS", 3000)
    index, files = VectorIndex(tmp_path), files_of(many[:10_000])
    for generation in range(1, 12):
        part = files[(generation - 1) * 36 : generation * 36]
        index.append(generation, part, lambda ids: ids >> 20 > 40)
    again = VectorIndex(tmp_path)
    assert segment_of(again).shape.has_prefilter
    assert {split_chunk_id(chunk)[0] for chunk in again.chunks()} == set(range(41, 397))
    for row in range(1000, 9900, 500):
        assert again.search(many[row].tolist(), 1)[0].chunk == chunk_id(1 + row // 25, row % 25)
