"""From a chunk to what is shown: which lines, and what they say."""

from pathlib import Path

from dowse import Engine, SearchOptions
from dowse.code import languages
from dowse.code.chunk_fields import definitions_by_chunk
from dowse.indexing.analyze_file import ParserConfig, analyze
from dowse.search.output import expand
from dowse.search.query.analyze import analyze_text
from dowse.search.ranking.candidates import Candidate
from dowse.types.discovered import FileStamp
from dowse.types.explanations import Verdict
from dowse.types.source import Role
from dowse.types.stored import StoredFile

FUNCTIONS = ("open_door", "close_door", "paint_wall")
SOURCE = "\n\n".join(
    f"def {name}(house):\n" + "".join(f"    house.step({i})\n" for i in range(9)) for name in FUNCTIONS
)


def shown(
    text: str, source: str = SOURCE, *, target: int = 1000, channel: str = "lexical"
) -> tuple[int, int, str]:
    """First and last line shown for the first chunk of a source, and their text."""
    content = source.encode()
    parsed = analyze(ParserConfig(languages.load_builtin(), target, 0), "house.py", content).parsed
    file = StoredFile(1, "house.py", FileStamp(0, 0), b"", Role.SOURCE, parsed, definitions_by_chunk(parsed))
    candidate = Candidate(1, 0, file, parsed.chunks[0], 1.0, [(channel, 1.0, 1)])
    query = analyze_text(text, languages.load_builtin().extensions.__contains__)
    expansion = expand.Expansion(query)
    first, last = expansion.choose_lines(candidate, expansion.choose_definitions(candidate), 50, None, None)
    return first, last, expand.cut_text(content, candidate.chunk, first, last)


def lines(source: str, first: int, last: int) -> str:
    return "\n".join(source.split("\n")[first - 1 : last])


def test_of_several_definitions_the_one_that_is_asked_for_is_shown() -> None:
    assert shown("close the door") == (13, 22, lines(SOURCE, 13, 22))
    assert shown("paint") == (25, 34, lines(SOURCE, 25, 34))


def test_those_that_it_points_at_alike_are_shown_together() -> None:
    assert shown("door") == (1, 22, lines(SOURCE, 1, 22))


def test_the_definition_that_is_named_is_shown() -> None:
    source = "\n\n".join(f"def step_{n}(house):\n" + "    house.go()\n" * 9 for n in range(4))
    assert shown("step_2", source) == (25, 34, lines(source, 25, 34))


def test_if_the_question_does_not_tell_them_apart_all_are() -> None:
    assert shown("unrelated words") == (1, 34, SOURCE.rstrip("\n"))


def test_where_the_very_lines_are_asked_for_the_chunk_stays_whole() -> None:
    for channel in ("exact", "places"):
        assert shown("close the door", channel=channel)[:2] == (1, 34)


def test_a_short_definition_is_shown_with_what_follows_it_and_never_with_the_end_of_another() -> None:
    source = "def a_door():\n    return 1\n\n\n" * 4 + "def wall_one():\n    return 1\n"
    assert shown("wall one", source) == (17, 18, lines(source, 17, 18).rstrip("\n"))
    source = "def wall_one():\n    return 1\n\n\n" + "def a_door():\n    return 1\n\n\n" * 4
    assert shown("wall one", source) == (1, 6, lines(source, 1, 6))


def test_of_a_long_definition_the_beginning_is_shown() -> None:
    source = "class House:\n" + "".join(
        f"    def room_{i}(self):\n        return {'x' * 900!r}\n\n" for i in range(30)
    )
    first, last, text = shown("House", source, target=500)
    assert (first, last) == (1, expand.MIN_LINES)
    assert text == lines(source, 1, expand.MIN_LINES).rstrip("\n")


def test_a_definition_that_is_shown_whole_is_shown_once(tmp_path: Path) -> None:
    body = "".join(f"    wall.paint({i}, 'the colour of the wall is {'x' * 60}')\n" for i in range(40))
    (tmp_path / "house.py").write_text(
        f"def paint_wall(wall):\n{body}\n\ndef open_door():\n    return 'wall'\n"
    )
    (tmp_path / "roof.py").write_text("def paint_roof():\n    return 'wall'\n")
    with Engine.open(tmp_path) as engine:
        engine.index()
        with engine.store.snapshot() as snapshot:
            file = snapshot.file_at("house.py")
            assert file is not None and sum(c.entity == 0 for c in file.parsed.chunks) > 1
        hits = engine.search("paint wall").results
        places = [(hit.path, hit.start_line, hit.end_line) for hit in hits]
        assert places[0] == ("house.py", 1, 41)
        assert sorted(path for path, *_ in places) == ["house.py", "house.py", "roof.py"]
        limited = engine.search("paint wall", SearchOptions(limit=2)).results
        assert [(hit.path, hit.start_line) for hit in limited] == [place[:2] for place in places[:2]]
        told = engine.explain("paint wall", "house.py", 30)
        assert (told.verdict, told.rank) == (Verdict.SHOWN, 1)
