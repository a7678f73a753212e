"""What stores keep of a parsed file is what was parsed, however little of it is read, and corruption is an error."""

import pickle
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.errors import IndexCorrupt
from dowse.stores import row_codec
from dowse.types.source import Chunk, Entity, Kind, ParsedFile, ParseHealth

NUMBERS = st.integers(0, 2**32 - 2)
WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@st.composite
def parsed_files(draw: st.DrawFn) -> ParsedFile:
    """Any file whose entities are in entities before them, and whose chunks are of entities that are there."""

    def one_of(count: int) -> st.SearchStrategy[int | None]:
        return st.none() | st.integers(0, count - 1) if count else st.none()

    kinds = st.sampled_from(Kind)
    count = draw(st.integers(0, 5))
    entities = tuple(
        draw(st.builds(Entity, WORDS, WORDS, kinds, NUMBERS, NUMBERS, NUMBERS, one_of(place), WORDS, WORDS))
        for place in range(count)
    )
    chunks = st.builds(Chunk, NUMBERS, NUMBERS, NUMBERS, NUMBERS, one_of(count))
    return ParsedFile(
        "python", draw(st.sampled_from(ParseHealth)), entities, tuple(draw(st.lists(chunks, max_size=5)))
    )


FILE = ParsedFile(
    "python",
    ParseHealth.OK,
    (
        Entity("Cart", "Cart", Kind.CLASS, 1, 9, 1, None, "class Cart", 'Says "line\nbreak".'),
        Entity("add", "Cart.add", Kind.METHOD, 3, 9, 4, 0, "def add(self)", ""),
    ),
    (Chunk(1, 5, 0, 80, 0), Chunk(6, 9, 80, 120, None)),
)


def again(parsed: ParsedFile) -> ParsedFile:
    return row_codec.unpack_parsed(parsed.language, parsed.health.value, row_codec.pack_parsed(parsed))


@given(parsed_files())
def test_what_is_unpacked_is_what_was_packed(parsed: ParsedFile) -> None:
    found = again(parsed)
    assert found == parsed and (list(found.entities), list(found.chunks)) == (
        list(parsed.entities),
        list(parsed.chunks),
    )
    assert row_codec.pack_parsed(again(parsed)) == row_codec.pack_parsed(parsed), (
        "whether it was read before or not"
    )
    assert pickle.loads(pickle.dumps(again(parsed))) == parsed


def test_values_are_of_the_types_they_were() -> None:
    method = again(FILE).entities[1]
    assert type(method) is Entity and method.kind is Kind.METHOD and type(method.parent) is int
    assert again(FILE).chunks[1].entity is None


@pytest.mark.parametrize("left", range(len(row_codec.pack_parsed(FILE))))
def test_what_is_cut_short_is_damaged(left: int) -> None:
    with pytest.raises(IndexCorrupt, match="corrupt"):
        list(row_codec.unpack_parsed("python", "ok", row_codec.pack_parsed(FILE)[:left]).entities)


LONG_FILE = replace(
    FILE, entities=tuple([one._replace(doc=f"{one.name} does. " * 300) for one in FILE.entities])
)


def test_long_texts_are_compressed_and_come_back() -> None:
    assert len(row_codec.pack_parsed(LONG_FILE)) < 500
    assert again(LONG_FILE) == LONG_FILE


@pytest.mark.parametrize("left", range(len(row_codec.pack_parsed(LONG_FILE))))
def test_compressed_texts_that_are_cut_short_are_damaged(left: int) -> None:
    with pytest.raises(IndexCorrupt, match="corrupt"):
        list(row_codec.unpack_parsed("python", "ok", row_codec.pack_parsed(LONG_FILE)[:left]).entities)


def test_a_kind_that_is_none_is_damage() -> None:
    with pytest.raises(IndexCorrupt, match="corrupt"):
        list(
            row_codec.unpack_parsed(
                "python", "ok", row_codec.pack_parsed(FILE).replace(b'"class"', b'"clasp"')
            ).entities
        )
