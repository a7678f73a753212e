"""How a file is cut: what holds for any text, any tree and any target size."""

from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate, pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.code import chunking, languages, parsing, symbols
from dowse.code.chunking import MAX_LINE_TARGETS
from dowse.types.source import Chunk, Entity

HERE = Path(__file__).parent
SAMPLES = sorted(
    path
    for path in [*(HERE / "languages" / "samples").rglob("*"), *(HERE.parent / "src" / "dowse").rglob("*.py")]
    if path.is_file() and path.stat().st_size < 40_000
)
TARGETS = (100, 300, 1000)


def cut(
    path: str, content: bytes, target: int, overlap: int = 0
) -> tuple[tuple[Chunk, ...], tuple[Entity, ...]]:
    """The chunks and the entities of a content."""
    language = languages.load_builtin().detect(path, content)
    tree, _ = parsing.parse(language, content)
    entities = symbols.find(language, parsing.run_queries(language, tree).definitions, content)
    return chunking.cut_chunks(content, entities, tree, target, overlap), entities


def offsets(content: bytes) -> list[int]:
    """Where each line starts, and where the last one ends."""
    lines = content.split(b"\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    return [*starts[:-1], len(content)]


def assert_sound(
    content: bytes, chunks: tuple[Chunk, ...], entities: tuple[Entity, ...], target: int
) -> None:
    """What holds without overlap."""
    starts = offsets(content)
    for chunk in chunks:
        assert 0 <= chunk.start < chunk.end <= len(content)
        assert content[chunk.start : chunk.end].strip(), "no blank chunk"
        first, last = chunk.start_line - 1, chunk.end_line - 1
        if first == last:
            assert starts[first] <= chunk.start < chunk.end <= starts[last + 1]
            assert chunk.end - chunk.start <= MAX_LINE_TARGETS * target
        else:
            assert (chunk.start, chunk.end) == (starts[first], starts[last + 1])
            assert chunk.end - chunk.start <= target
        if chunk.entity is not None:
            entity = entities[chunk.entity]
            assert entity.start_line <= chunk.start_line <= chunk.end_line <= entity.end_line
    for one, two in pairwise(chunks):
        assert one.end <= two.start, "in order, and no byte twice"
    assert_covered(content, chunks)


def assert_covered(content: bytes, chunks: tuple[Chunk, ...]) -> None:
    """Between the chunks there is nothing but blank lines."""
    end = 0
    for chunk in chunks:
        assert not content[end : chunk.start].strip()
        end = max(end, chunk.end)
    assert not content[end:].strip()


LINE = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=60)
LINES = st.lists(st.one_of(st.just(""), st.just("   "), LINE), max_size=60).map("\n".join)


@given(LINES, st.integers(1, 300))
def test_any_text_is_cut_soundly(text: str, target: int) -> None:
    content = text.encode()
    assert_sound(content, chunking.cut_chunks(content, (), None, target), (), target)


@given(st.binary(max_size=2000), st.integers(1, 50))
def test_any_bytes_are_cut_soundly(content: bytes, target: int) -> None:
    assert_sound(content, chunking.cut_chunks(content, (), None, target), (), target)


CODE = st.lists(
    st.sampled_from(
        [
            "def f(a, b):",
            "    return a",
            "    if a:",
            "        pass",
            "class C:",
            "    def m(self):",
            "        x = {",
            "        }",
            "# comment",
            "@decorated",
            "X = [1,",
            "]",
            "",
            "'''",
            "def g(): pass; y = 1",
            "größe = 'ü' * 3",
        ]
    ),
    max_size=60,
).map("\n".join)


@given(CODE, st.integers(20, 300))
def test_any_python_right_or_wrong_is_cut_soundly(text: str, target: int) -> None:
    content = text.encode()
    chunks, entities = cut("a.py", content, target)
    assert_sound(content, chunks, entities, target)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_real_files_are_cut_soundly(path: Path) -> None:
    content = path.read_bytes()
    for target in TARGETS:
        chunks, entities = cut(path.name, content, target)
        assert_sound(content, chunks, entities, target)
        assert_definitions_are_whole(content, chunks, entities, target)


def assert_definitions_are_whole(
    content: bytes, chunks: tuple[Chunk, ...], entities: tuple[Entity, ...], target: int
) -> None:
    """One that fits the target is never cut, unless it shares a line with its neighbour."""
    starts = offsets(content)
    ends = [chunk.end for chunk in chunks]
    for entity in entities:
        start, end = starts[entity.start_line - 1], starts[entity.end_line]
        if end - start > target or shares_a_line(entity, entities):
            continue
        holder = chunks[bisect_right(ends, start)]
        assert content[start:end].strip() in content[holder.start : holder.end], entity


def shares_a_line(entity: Entity, entities: tuple[Entity, ...]) -> bool:
    """Whether another entity begins or ends on the first or last line, other than around or inside."""
    return any(
        (other.end_line == entity.start_line or other.start_line == entity.end_line)
        and (other.start_line, other.end_line) != (entity.start_line, entity.end_line)
        for other in entities
        if other is not entity and other.parent == entity.parent
    ) or (entity.parent is not None and shares_a_line(entities[entity.parent], entities))


# --- examples --------------------------------------------------------------------------------------


def function(name: str, lines: int) -> str:
    body = "\n".join(f"    value_{i} = compute({i})" for i in range(lines))
    return f"def {name}():\n{body}\n"


def texts(source: str, target: int, overlap: int = 0) -> Iterator[str]:
    content = source.encode()
    chunks, _ = cut("a.py", content, target, overlap)
    return (content[chunk.start : chunk.end].decode() for chunk in chunks)


def test_a_small_file_is_one_chunk() -> None:
    source = function("a", 3) + "\n" + function("b", 3)
    assert list(texts(source, 1000)) == [source]


@pytest.mark.parametrize("source", ["", "\n\n", "  \n\t\n"])
def test_nothing_is_no_chunk(source: str) -> None:
    assert list(texts(source, 1000)) == []


def test_small_neighbours_share_a_chunk_up_to_the_target() -> None:
    source = "\n".join(function(f"f{i}", 3) for i in range(20))
    chunks = list(texts(source, 500))
    assert all(300 < len(chunk) <= 500 for chunk in chunks[:-1])
    assert all(chunk.startswith("def f") for chunk in chunks)


def test_a_long_function_is_cut_at_statements() -> None:
    block = "    if check({0}):\n        for item in items:\n            handle(item, {0})\n"
    source = "def long():\n" + "".join(block.format(i) for i in range(40))
    for chunk in list(texts(source, 400))[1:]:
        assert chunk.startswith("    if check("), chunk


def test_the_methods_of_a_long_class_are_its_chunks() -> None:
    methods = "\n".join(
        "    " + function(f"m{i}", 12).replace("\n", "\n    ").rstrip() + "\n" for i in range(5)
    )
    source = f"class Big:\n    '''About it.'''\n\n{methods}"
    content = source.encode()
    chunks, entities = cut("a.py", content, 500)
    owners = [entities[chunk.entity].qualified for chunk in chunks if chunk.entity is not None]
    assert owners == ["Big", *(f"Big.m{i}" for i in range(1, 5))], "the first fits beside the head"


def test_neighbours_of_different_definitions_are_not_joined() -> None:
    source = f"import os\n\n{function('long', 60)}\nrun()\n"
    content = source.encode()
    chunks, entities = cut("a.py", content, 400)
    for chunk in chunks:
        text = content[chunk.start : chunk.end]
        assert not (b"import os" in text and b"value_" in text)
    assert entities[chunks[1].entity or 0].name == "long"
    assert chunks[0].entity is None
    assert chunks[-1].entity is None


def test_a_run_of_lines_ends_at_a_blank_one_if_there_is_one() -> None:
    paragraphs = "\n\n".join("\n".join(["some words on a line"] * 4) for _ in range(10))
    content = paragraphs.encode()
    for chunk in chunking.cut_chunks(content, (), None, 200):
        assert (chunk.end_line - chunk.start_line + 1) % 5 == 4, "whole paragraphs"


def test_plain_text_fills_its_chunks() -> None:
    content = b"word " * 7 + b"\n"
    chunks = chunking.cut_chunks(content * 500, (), None, 1000)
    assert all(900 < chunk.end - chunk.start <= 1000 for chunk in chunks[:-1])


def test_a_line_that_is_far_too_long_is_cut_between_characters() -> None:
    content = b"start\n" + "ü日😀".encode() * 2000 + b"\nend\n"
    chunks = chunking.cut_chunks(content, (), None, 100)
    pieces = [chunk for chunk in chunks if chunk.start_line == chunk.end_line == 2]
    assert len(pieces) > 10
    for chunk in pieces:
        content[chunk.start : chunk.end].decode()
        assert chunk.end - chunk.start <= 400
    assert b"".join(content[c.start : c.end] for c in chunks) == content


def test_bytes_without_a_beginning_of_a_character_come_to_an_end() -> None:
    content = b"\x80" * 5000
    chunks = chunking.cut_chunks(content, (), None, 100)
    assert b"".join(content[c.start : c.end] for c in chunks) == content


def test_deep_nesting_is_no_problem() -> None:
    depth = 3000
    source = "".join(f"{' ' * (i % 40)}[\n" for i in range(depth)) + "1\n" + "]\n" * depth
    content = source.encode()
    chunks, entities = cut("deep.json", content, 300)
    assert_sound(content, chunks, entities, 300)


def test_windows_line_ends_stay_with_their_lines() -> None:
    content = function("a", 30).replace("\n", "\r\n").encode()
    chunks, entities = cut("a.py", content, 300)
    assert_sound(content, chunks, entities, 300)
    assert all(content[c.start : c.end].endswith(b"\r\n") for c in chunks)


# --- overlap ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("overlap", [1, 60, 200, 5000])
def test_overlap_only_adds_lines_above_from_the_same_definition(overlap: int) -> None:
    source = "\n".join([function("a", 40), function("b", 3), function("c", 60)])
    content = source.encode()
    plain, entities = cut("a.py", content, 400)
    overlapping, _ = cut("a.py", content, 400, overlap)
    assert len(plain) == len(overlapping)
    starts = offsets(content)
    for without, chunk in zip(plain, overlapping, strict=True):
        assert (chunk.end, chunk.end_line, chunk.entity) == (without.end, without.end_line, without.entity)
        assert without.start - overlap <= chunk.start <= without.start
        assert chunk.start == starts[chunk.start_line - 1]
        if chunk.entity is None:
            assert chunk == without
        else:
            assert chunk.start_line >= entities[chunk.entity].start_line
    grown = sum(chunk.start < without.start for without, chunk in zip(plain, overlapping, strict=True))
    assert (grown > 0) == (overlap >= 60)


def test_overlap_takes_as_many_lines_as_fit() -> None:
    content = function("a", 60).encode()
    plain, _ = cut("a.py", content, 400)
    overlapping, _ = cut("a.py", content, 400, 100)
    for without, chunk in list(zip(plain, overlapping, strict=True))[1:]:
        line_above = content.rindex(b"\n", 0, chunk.start - 1) + 1
        assert without.start - chunk.start <= 100 < without.start - line_above


@given(CODE, st.integers(50, 300), st.integers(0, 400))
def test_overlap_never_loses_a_line(text: str, target: int, overlap: int) -> None:
    content = text.encode()
    chunks, entities = cut("a.py", content, target, overlap)
    assert_covered(content, chunks)
    starts = offsets(content)
    for chunk in chunks:
        assert chunk.end - chunk.start <= MAX_LINE_TARGETS * target + overlap
        if chunk.start_line < chunk.end_line:
            assert (chunk.start, chunk.end) == (starts[chunk.start_line - 1], starts[chunk.end_line])
        if chunk.entity is not None:
            assert entities[chunk.entity].start_line <= chunk.start_line
