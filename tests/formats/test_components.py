"""Components that are broken, or written to take long."""

import time

import pytest

from dowse.indexing.analyze_file import parse
from dowse.types.source import ParsedFile
from tests.stores.building import HOW


def read(text: str, path: str = "A.vue") -> ParsedFile:
    return parse(HOW, path, text.encode())[0]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<",
        "<script",
        "<script>function kept() {}",
        "<template><template></template>",
        "<script>const a = '</script>'",
        "<style>p {",
        "---\nimport x",
        "<script setup lang='ts'>\nfunction kept(a: number) {}\n",
    ],
)
@pytest.mark.parametrize("path", ["A.vue", "A.svelte", "A.astro"])
def test_a_broken_component_is_read_as_far_as_it_goes(text: str, path: str) -> None:
    parsed = read(text, path)
    assert parsed.entities[0].name == "A"
    if "kept" in text:
        assert "kept" in [entity.name for entity in parsed.entities]


@pytest.mark.parametrize(
    "text",
    [
        "<script " * 30_000,
        "<template>" * 20_000,
        "{{" * 50_000,
        '@a="' * 50_000,
        "<A" * 60_000,
        "{" * 100_000,
    ],
)
def test_time_grows_with_the_length_alone(text: str) -> None:
    started = time.process_time()
    read(text[: len(text) // 4])
    quarter = time.process_time() - started
    started = time.process_time()
    read(text)
    assert time.process_time() - started < 0.3 + 8 * quarter
