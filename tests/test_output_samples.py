"""One sample of every format of program output: its raising place in the user's own code comes first."""

import tomllib
from pathlib import Path

import pytest

from dowse import Engine
from dowse.search.query.error_message import find_error_message
from dowse.search.query.stack_traces import find_frames

SAMPLES = Path(__file__).parent / "output_samples"
FORMATS = tomllib.loads((SAMPLES / "formats.toml").read_text(encoding="utf-8"))
WITH_PLACE = [name for name, row in FORMATS.items() if row["place"] and not row["place"].endswith(":0")]


def read_sample(name: str) -> str:
    return (SAMPLES / f"{name}.txt").read_text(encoding="utf-8")


def test_every_sample_is_in_the_table_and_most_are_of_real_programs() -> None:
    assert {path.stem for path in SAMPLES.glob("*.txt")} == set(FORMATS)
    made = [row for row in FORMATS.values() if row["by"] != "documentation"]
    assert len(made) >= 0.6 * len(FORMATS)


@pytest.mark.parametrize("name", FORMATS)
def test_the_raising_place_is_first(name: str) -> None:
    frames = find_frames(read_sample(name))
    assert (f"{frames[0].path}:{frames[0].line}" if frames else "") == FORMATS[name]["place"]


@pytest.mark.parametrize("name", FORMATS)
def test_the_message_is_what_the_program_said(name: str) -> None:
    assert FORMATS[name]["message"] in find_error_message(read_sample(name))


@pytest.mark.parametrize("name", WITH_PLACE)
def test_pasted_output_finds_the_file_where_it_is_in_the_tree(name: str, tmp_path: Path) -> None:
    """The paths of the sample are those of another machine; the tree has the same file in a folder of its own."""
    path, _, line = FORMATS[name]["place"].rpartition(":")
    root = tmp_path / "tree"
    file = root / "services" / "shop" / path.rpartition("/")[2]
    file.parent.mkdir(parents=True)
    file.write_text("".join(f"line {number} of the cart is empty\n" for number in range(1, int(line) + 5)))
    for number in range(5):
        (root / f"other_{number}.txt").write_text(
            "the cart is empty, and an error is no total of any order\n" * 9
        )
    with Engine.open(root, index_dir=str(tmp_path / "index"), embedder="none") as engine:
        first = engine.search(read_sample(name)).results[0]
    assert first.path == file.relative_to(root).as_posix()
    assert first.start_line <= int(line) <= first.end_line
