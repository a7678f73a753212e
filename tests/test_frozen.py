"""Value classes behave as frozen dataclasses do."""

import pickle
import re
import subprocess
import sys
from dataclasses import asdict, dataclass, fields, is_dataclass, replace

import pytest

from dowse import frozen as frozen_module
from dowse.frozen import frozen
from dowse.lazy_regex import compile_lazily
from dowse.types.answers import ResolvedOptions, SearchOptions
from dowse.types.stored import IndexState, IndexStatus


@frozen
class Point:
    x: int
    y: int = 0
    label: str = "here"

    @property
    def is_origin(self) -> bool:
        return not (self.x or self.y)


@frozen
class Single:
    value: int


@dataclass(frozen=True, slots=True)
class Witness:
    x: int
    y: int = 0
    label: str = "here"


def test_values_are_given_by_place_by_name_or_by_default() -> None:
    assert (Point(1).y, Point(1, 2).y, Point(x=1, y=3).y) == (0, 2, 3)
    assert Point(0).is_origin
    assert Single(3).value == 3


@pytest.mark.parametrize(
    ("args", "given"), [((), {}), ((1, 2, "a", 4), {}), ((1,), {"x": 2}), ((1,), {"z": 2})]
)
def test_wrong_values_are_refused_as_by_a_dataclass(args: tuple[int, ...], given: dict[str, int]) -> None:
    for kind in (Point, Witness):
        with pytest.raises(TypeError):
            kind(*args, **given)  # type: ignore[arg-type]


def test_equal_values_are_equal_and_have_one_hash() -> None:
    assert Point(1, 2) == Point(1, 2) != Point(1, 3)
    assert Point(1, 2) != Witness(1, 2)  # type: ignore[comparison-overlap]
    assert len({Point(1), Point(1), Single(1), Single(1)}) == 2


def test_nothing_can_be_changed() -> None:
    point = Point(1)
    with pytest.raises(AttributeError, match="frozen"):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(AttributeError, match="frozen"):
        del point.x
    with pytest.raises(AttributeError):
        point.z = 2  # type: ignore[attr-defined]
    assert not hasattr(point, "__dict__")


def test_it_is_written_and_copied_like_a_dataclass() -> None:
    point = Point(1, 2)
    assert repr(point) == "Point(x=1, y=2, label='here')"
    assert pickle.loads(pickle.dumps(point)) == point
    assert replace(point, y=5) == Point(1, 5)
    assert asdict(point) == asdict(Witness(1, 2))
    assert [(f.name, f.default) for f in fields(Point)] == [(f.name, f.default) for f in fields(Witness)]
    match point:
        case Point(x, y):
            assert (x, y) == (1, 2)
    assert is_dataclass(Point)


def test_a_subclass_may_require_what_was_optional() -> None:
    options = ResolvedOptions(limit=3, min_relevance=0.0, show_low_confidence=False, text=False)
    assert isinstance(options, SearchOptions)
    assert (options.limit, options.text, options.before) == (3, False, None)
    assert [f.name for f in fields(options)] == [f.name for f in fields(SearchOptions)]
    with pytest.raises(TypeError):
        ResolvedOptions(limit=3)  # type: ignore[call-arg]


def test_a_default_that_is_a_mapping_is_copied_by_asdict() -> None:
    status = IndexStatus(IndexState.MISSING, "x")
    assert asdict(status)["parts"] == {}
    assert asdict(status)["parts"] is not status.parts


def test_a_pattern_is_compiled_when_it_is_used() -> None:
    words = compile_lazily(r"\w+", re.IGNORECASE)
    assert words.findall("a b") == ["a", "b"]
    assert words.pattern == r"\w+"
    broken = compile_lazily("(")
    with pytest.raises(re.error):
        broken.search("x")


def test_a_search_loads_no_dataclass_of_the_types() -> None:
    code = "import sys, dowse.types.answers, dowse.types.explanations; print('dataclasses' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"


def test_replacing_a_field_gives_what_dataclasses_would_give() -> None:
    for value in (Point(1, 2), Point(0), Point(3, label="there")):
        assert frozen_module.replace(value, y=5) == replace(value, y=5)
        assert frozen_module.replace(value) == value
    assert frozen_module.replace(Single(1), value=2) == Single(2)
    with pytest.raises(TypeError, match="no field z"):
        frozen_module.replace(Point(1), z=2)  # type: ignore[call-arg]


def test_replacing_a_field_does_not_load_dataclasses() -> None:
    code = (
        "import sys; from dowse.frozen import replace; from dowse.types.queries import ParsedQuery, Query;"
        "query = Query('a', (), (), (), (), (), 'words'); assert replace(query, type='file').type == 'file';"
        "assert 'dataclasses' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
