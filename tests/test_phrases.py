"""Messages of programs, typed without quotes: the literal that gave them is found, whatever was filled in."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from dowse import Engine, SearchResponse
from dowse.code.string_literals import find_literals, read_message, tokenize_literals
from dowse.frozen import replace
from dowse.search.channels.phrase_lookup import MAX_WORDS, find_best_match
from dowse.search.channels.resource_keys import find_keys
from dowse.search.ranking.message_places import lead_with_messages
from dowse.types.queries import Frame

LITERALS = {
    "python": (
        'raise ValueError("no such " + name + " in the "\n    "table")',
        [("no", "such"), ("in", "the", "table")],
    ),
    "python f-string": ("fail(f'expected {a!r}, got {b[0]}')", [("expected",), ("got",)]),
    "javascript": ("throw new Error(`cannot find ${x.y} in path`)", [("cannot", "find"), ("in", "path")]),
    "go": ('fmt.Errorf("open %q: %w after %d tries", a, b, c)', [("open",), ("after",), ("tries",)]),
    "rust": ("fn f<'a>(x: &'a str) { panic!(\"bad value {x:?} here\") }", [("bad", "value"), ("here",)]),
    "ruby": ('raise "unknown key #{key} for hash"', [("unknown", "key"), ("for", "hash")]),
    "php": ('throw new E("missing $name->id in row");', [("missing",), ("in", "row")]),
    "swift": (r'fatalError("index \(i) out of range")', [("index",), ("out", "of", "range")]),
    "c": ('die("cannot open \\"%s\\" for "\n   "writing\\n", p);', [("cannot", "open"), ("for", "writing")]),
    "java": ('log.info("job " + id + \' \' + " is done");', [("job",), ("is", "done")]),
    "ini": ("open.failed = Could not open {0} now", [("could", "not", "open"), ("now",)]),
    "xml": ('<string name="a">Please try again</string>', [("please", "try", "again")]),
    "yaml": ("error: the file is empty", [("the", "file", "is", "empty")]),
}


@pytest.mark.parametrize("case", LITERALS)
def test_a_literal_is_cut_at_its_placeholders(case: str) -> None:
    text, pieces = LITERALS[case]
    assert [list(literal.pieces) for literal in find_literals(text, case.partition(" ")[0])] == [pieces]


def test_documentation_and_prose_have_no_literals() -> None:
    assert not list(find_literals('def f():\n    """Open "the big" file."""\n', "python"))
    assert not list(find_literals('It says "no such file here".', "markdown"))


def test_two_literals_of_one_call_are_not_joined() -> None:
    found = [literal.words for literal in find_literals('f("one two", x, "three four")', "python")]
    assert found == [["one", "two"], ["three", "four"]]


def test_the_tokens_of_a_chunk_are_few() -> None:
    text = "\n".join(f'x = "word{i} and{i} other{i} things{i} more{i}"' for i in range(1000))
    assert len(tokenize_literals(text, "python").split()) == 400


@pytest.mark.parametrize(
    ("literal", "printed"),
    [
        (
            '"could not open the file %s: %s"',
            "2024-01-02 ERROR app: could not open the file /a/b.txt: No such file",
        ),
        ('"expected {}, got {}"', "expected int, got string"),
        ('"no route to " + host + " from here"', 'No route to "my host" from here'),
        ('"port %d is taken"', "port 8080 is taken"),
    ],
)
def test_a_filled_message_is_the_whole_of_its_literal(literal: str, printed: str) -> None:
    other = '"something else could not open here"'
    (right,) = find_literals(literal, "python")
    match = find_best_match(
        read_message(printed, MAX_WORDS), [*find_literals(other, "python"), right._replace(start=7)]
    )
    assert match is not None
    assert match.start == 7


def test_words_that_a_literal_shares_by_chance_say_nothing() -> None:
    message = read_message("where is the file that was written last", MAX_WORDS)
    assert find_best_match(message, find_literals('"is the best of all"', "python")) is None


RESOURCES = {
    "locales/en.json": '{\n  "en": {\n    "basket": {\n      "empty": "Nothing is in your basket yet"\n    }\n  }\n}\n',
    "messages.properties": "order.done=Thank you\norder.refused=The warehouse {0} refused the order\n",
    "locale/de/django.po": '#: number.py:2\nmsgid "Enter a whole number."\nmsgstr "Bitte eine ganze Zahl eingeben."\n',
    "res/values/strings.xml": '<resources>\n  <string name="no_room">There is no room left</string>\n</resources>\n',
    "basket.ts": 'export const show = (n: number) => (n ? "" : t("basket.empty"));\n',
    "order.java": 'class Order { String refuse() { return text("order.refused"); } }\n',
    "number.py": 'def check(value):\n    raise Invalid(_("Enter a whole number."))\n',
    "room.kt": "fun warn() = toast(R.string.no_room)\n",
    **{
        f"other_{n}.ts": "export const basket = (order: number, room: string) => order; // no warehouse\n"
        for n in range(5)
    },
}


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    root = tmp_path / "tree"
    (root / "tests").mkdir(parents=True)
    (root / "open.py").write_text(
        "def read(path):\n    try:\n        return open(path)\n    except OSError as error:\n"
        '        raise Failure(f"could not read {path!r} as it "\n                      f"is: {error}")\n'
    )
    (root / "could_read.py").write_text(
        "def could_not_read(path):\n    '''Whether it could not be read.'''\n" * 9
    )
    (root / "tests" / "test_open.py").write_text(
        "def test_read():\n    assert 'could not read x as it is: gone'\n"
    )
    (root / "messages.properties").write_text(
        "a.b = Something\nquota.exceeded = The quota of {0} is used up\n"
    )
    with Engine.open(root, embedder="none") as engine:
        yield engine


def first(response: SearchResponse) -> tuple[str, bool]:
    hit = response.results[0]
    return hit.path, any(reason.name == "phrases" for reason in hit.reasons)


def test_the_literal_of_a_message_comes_first(engine: Engine) -> None:
    response = engine.search("could not read '/var/x.json' as it is: permission denied")
    assert first(response) == ("open.py", True)
    assert response.results[0].start_line <= 5 <= response.results[0].end_line
    assert response.results[0].relevance > 0.5


def test_a_message_in_a_resource_file_is_found(engine: Engine) -> None:
    assert first(engine.search("The quota of user 17 is used up")) == ("messages.properties", True)


def test_a_message_leads_from_its_key_in_a_resource_file_to_the_code(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    for path, text in RESOURCES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    with Engine.open(root, index_dir=str(tmp_path / "index"), embedder="none") as engine:
        for message, resource, code in (
            ("Nothing is in your basket yet", "locales/en.json", "basket.ts"),
            ("The warehouse north-7 refused the order", "messages.properties", "order.java"),
            ("Bitte eine ganze Zahl eingeben", "locale/de/django.po", "number.py"),
            ("There is no room left", "res/values/strings.xml", "room.kt"),
        ):
            found = engine.search(message).results[:2]
            assert {hit.path for hit in found} == {resource, code}, message
            assert all("phrases" in {reason.name for reason in hit.reasons} for hit in found)


def test_keys_of_a_text_are_dotted_and_say_more_than_a_word() -> None:
    content = RESOURCES["locales/en.json"].encode()
    assert find_keys(content, content.index(b"Nothing is")) == ["en.basket.empty", "basket.empty"]
    assert find_keys(b"a text of no key", 3) == []
    assert find_keys(b"title: A text", 8) == []


def test_a_test_that_repeats_a_message_comes_after_what_prints_it(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    said = "no slice may be taken from a closed queue"
    (tmp_path / "queue.py").write_text(f'def slice(queue):\n    raise TypeError("{said}")\n')
    (tmp_path / "tests" / "test_queue_slice.py").write_text(
        f'def test_slice_of_closed_queue():\n    with raises(TypeError, match="{said}"):\n        slice(closed_queue)\n'
        * 3
    )
    with Engine.open(tmp_path, embedder="none") as engine:
        assert first(engine.search(f"TypeError: {said}")) == ("queue.py", True)


def test_the_line_that_prints_a_message_leads_in_its_file(tmp_path: Path) -> None:
    (tmp_path / "run.py").write_text(
        'def load(file):\n    return file.number\n\n\nnumbers = """\n'
        + "No file to run is what it says.\n" * 60
        + '"""\n\n\ndef make_code(file):\n    raise NoCode(f"No file to run: {file!r}")\n'
    )
    with Engine.open(tmp_path, embedder="none") as engine:
        engine.index()
    with (
        Engine.open(tmp_path, embedder="none") as engine,
        engine.candidates("No file to run: 'main'") as context,
    ):
        (file,) = context.files
        printing = dict(context.channels["phrases"].hits)
        assert printing
        for place in file.places:
            place.score = 1.0 if place.id in printing else 2.0
        lead_with_messages(
            replace(context.query, frames=(Frame("run.py", 3),)), context.channels, file.places
        )
        assert max(place.score for place in file.places) == 2.0
        lead_with_messages(context.query, context.channels, file.places)
        best = max(file.places, key=lambda place: place.score)
        assert best.id in printing
        assert [detail for _, _, detail in best.adjustments] == ["the message is printed from here"]


def test_the_channel_respects_filters_and_is_skipped_for_exact_phrases(engine: Engine) -> None:
    filtered = engine.search("could not read /x as it is: gone path:tests/**")
    assert {hit.path for hit in filtered.results} == {"tests/test_open.py"}
    channels = {report.name for report in engine.search('"could not read"').channels}
    assert "phrases" not in channels
