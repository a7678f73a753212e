"""What a chunk is found by: its tokens by field, and the text that is embedded."""

from itertools import pairwise

from dowse.code import languages, tokens
from dowse.code.chunk_fields import (
    MAX_EMBEDDED_CHARS,
    build_documents,
    build_embedding_texts,
    build_passages,
    chunk_terms,
    definitions_by_chunk,
    pair_with_entities,
)
from dowse.indexing.analyze_file import ParserConfig, analyze
from dowse.types.source import ChunkTerms, ParsedFile

SMALL = '''"""Things about users."""

class UserStore:
    """Keeps the users."""

    def find_user(self, user_id: int) -> User:
        """Look one up."""
        return self.rows[user_id]
'''


def parsed(source: str, path: str = "a.py", target: int = 1000) -> ParsedFile:
    return analyze(ParserConfig(languages.load_builtin(), target, 0), path, source.encode()).parsed


def long_class(methods: int, lines: int = 30) -> str:
    bodies = [
        f"    def method_{m}(self, argument_{m}):\n        '''Describes {m}.'''\n"
        + "\n".join(f"        local_{m}_{i} = compute({i})" for i in range(lines))
        for m in range(methods)
    ]
    return "class Machine:\n    '''Does things.'''\n\n" + "\n\n".join(bodies) + "\n"


def terms_of(path: str, content: bytes, file: ParsedFile) -> tuple[ChunkTerms, ...]:
    return chunk_terms(path, build_passages(content, file, definitions_by_chunk(file)))


def test_the_fields_of_a_chunk() -> None:
    (terms,) = terms_of("src/auth/user_store.py", SMALL.encode(), parsed(SMALL))
    assert terms.name.split() == ["userstore", "user", "store", "find_user", "find", "user"]
    assert terms.path.split() == (
        ["src", "auth", "user_store", "user", "store", "user_store", "user", "store", "py"]
    )
    assert terms.signature.split()[:4] == ["class", "userstore", "user", "store"]
    assert "int" in terms.signature.split()
    assert terms.doc.split() == ["keep", "the", "user", "look", "one", "up"]
    assert set(terms.signature.split()) <= set(terms.body.split()), "what is in the text is in the body too"


def test_a_chunk_inside_a_definition_has_its_name_but_not_its_documentation() -> None:
    source = long_class(1, 80)
    content, file = source.encode(), parsed(source, target=500)
    terms = terms_of("a.py", content, file)
    assert len(terms) > 3
    assert all("method_0" in chunk.name.split() for chunk in terms[1:])
    assert all("machin" in chunk.name.split() for chunk in terms), "and the name of the class around it"
    assert sum("describ" in chunk.doc.split() for chunk in terms) == 1
    assert sum("argument_0" in chunk.signature.split() for chunk in terms) == 1


def test_every_entity_begins_in_the_chunk_with_its_line() -> None:
    source = long_class(6)
    file = parsed(source, target=400)
    by_chunk = definitions_by_chunk(file)
    assert len(by_chunk) == len(file.chunks)
    assert sorted(index for chunk in by_chunk for index in chunk) == list(range(len(file.entities)))
    for (chunk, entities), ordinals in zip(pair_with_entities(file, by_chunk), by_chunk, strict=True):
        assert [file.entities[i] for i in ordinals] == entities
        assert all(chunk.start_line <= entity.line <= chunk.end_line for entity in entities)


def test_a_file_with_nothing_in_it_has_no_terms() -> None:
    assert terms_of("a.py", b"\n\n", parsed("\n\n")) == ()
    assert definitions_by_chunk(parsed("\n\n")) == ()
    assert build_embedding_texts("a.py", b"\n\n", parsed("\n\n"), ()) == []


def test_the_embedded_text_says_where_it_stands_first() -> None:
    source = long_class(3)
    content, file = source.encode(), parsed(source, target=400)
    texts = build_embedding_texts("src/engine/machine.py", content, file, definitions_by_chunk(file))
    assert len(texts) == len(file.chunks)
    for text, chunk in zip(texts, file.chunks, strict=True):
        head, _, body = text.partition("\n")
        assert head.startswith("src engine machine machine Machine")
        assert body == content[chunk.start : chunk.end].decode()


def test_the_embedded_text_is_bounded() -> None:
    source = "x = '" + "ü " * 3000 + "'\n"
    content, file = source.encode(), parsed(source)
    for text in build_embedding_texts("a.py", content, file, definitions_by_chunk(file)):
        assert len(text) <= MAX_EMBEDDED_CHARS + 100


def test_overlapping_chunks_do_not_share_definitions() -> None:
    source = long_class(2, 60)
    file = analyze(ParserConfig(languages.load_builtin(), 500, 200), "a.py", source.encode()).parsed
    assert any(two.start < one.end for one, two in pairwise(file.chunks)), "they do overlap"
    held = [index for chunk in definitions_by_chunk(file) for index in chunk]
    assert sorted(held) == list(range(len(file.entities)))


def test_a_document_is_cut_where_its_text_is() -> None:
    """The opening is the first line that says something, a name is said once, whichever way a chunk is read."""
    twice = "def add(one): ...\ndef add(one, two): ...\n"
    for source in (SMALL, long_class(3), "\n\n" + SMALL, "x = 1", twice):
        file, content = parsed(source), source.encode()
        definitions = definitions_by_chunk(file)
        texts = build_embedding_texts("src/a.py", content, file, definitions)
        found = build_passages(content, file, definitions)
        for text, document in zip(texts, build_documents("src/a.py", content, found), strict=True):
            heading, _, body = text.partition("\n")
            opening, _, _ = body.lstrip().partition("\n")
            assert document.heading == tokens.split_runs(heading)
            assert document.opening == tokens.split_runs(opening)
            assert document.opening + document.rest == tokens.split_runs(body)
