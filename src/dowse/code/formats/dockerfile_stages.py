"""Dockerfiles by their stages: what each begins with, copies from other stages and runs in the end."""

from __future__ import annotations

import re

from dowse.code.formats.reading import IN_FILE, FormatResult, FormatSource, Item
from dowse.code.formats.script_paths import find_paths
from dowse.types.source import Kind, ReferenceKind

_FROM = re.compile(r"\s*FROM\s+(?:--\S+\s+)*(?P<image>\S+)(?:\s+AS\s+(?P<name>\S+))?", re.IGNORECASE)
_COPY_FROM = re.compile(r"\s*(?:COPY|ADD|RUN)\s.*?(?:--from=|,from=)(?P<stage>[\w.-]+)", re.IGNORECASE)
_LAST_COMMAND = re.compile(r"\s*(?P<word>ENTRYPOINT|CMD|HEALTHCHECK)\s+(?P<rest>.*)", re.IGNORECASE)


def read(source: FormatSource) -> FormatResult:
    """Read the stages of a file."""
    code = source.parse_as("dockerfile")
    result = FormatResult(tree=code.tree, health=code.health)
    result.references.update(code.references)
    lines = source.content.decode("utf-8", "replace").split("\n")
    last = max((row for row, line in enumerate(lines) if line.strip()), default=0)
    stages: list[Item] = []
    for row, line in enumerate(lines):
        if found := _FROM.match(line):
            name = found["name"] or found["image"]
            if stages:
                stages[-1].last = _end_above(lines, row)
            qualified = f"stage/{found['name'] or len(stages)}"
            stages.append(Item(Kind.STAGE, name, row + 1, last + 1, qualified, line.strip()))
            result.link(f"stage/{found['image']}", row, IN_FILE)
        elif found := _COPY_FROM.match(line[:1000]):
            result.link(f"stage/{found['stage']}", row, IN_FILE)
        elif stages and (found := _LAST_COMMAND.match(line)):
            word = found["word"].upper()
            name = f"{stages[-1].qualified}/{word}"
            result.items.append(Item(Kind.STEP, word, row + 1, row + 1, name, line.strip()))
            for path, at in find_paths(lines, row, row):
                result.link(path, at, "path")
    result.items += stages
    if result.references.get(ReferenceKind.IMPORT):
        own = {stage.name for stage in stages}
        images = result.references[ReferenceKind.IMPORT]
        result.references[ReferenceKind.IMPORT] = [image for image in images if image[0] not in own]
    return result


def _end_above(lines: list[str], row: int) -> int:
    """Return the last line above a row that is neither blank nor a comment."""
    while row > 0 and (not lines[row - 1].strip() or lines[row - 1].lstrip().startswith("#")):
        row -= 1
    return row
