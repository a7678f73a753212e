"""Single-file components of Vue, Svelte and Astro: script with TypeScript, components used in the template, styles.

A component is called like its file. Everything but the scripts is blanked out for the parser, so that lines stay; what
the template uses is called by the component.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from dowse.code.formats.reading import FormatResult, FormatSource, Item, keep_ranges
from dowse.types.source import Kind, Reference, ReferenceKind

MAX_USES = 1_000
"""Components and functions that are read of one template."""

_SECTION_TAG = re.compile(
    rb"<(?P<tag>script|style|template)\b(?P<attributes>(?:[^<>\"']|\"[^\"]{0,500}\"|'[^']{0,500}')*)>",
    re.IGNORECASE,
)
_TYPESCRIPT = re.compile(rb"\blang\s*=\s*[\"']?(?:ts|tsx|typescript)\b")
_FRONTMATTER = re.compile(rb"\A\s*---[ \t]*\r?\n(?P<code>.*?)^---[ \t]*$", re.DOTALL | re.MULTILINE)
_COMPONENT_TAG = re.compile(r"<(?P<name>[A-Z]\w*(?:\.\w+)*|[a-z][\w]*-[\w-]+)")
_CALL = re.compile(r"(?<![\w.$])(?P<name>[A-Za-z_$][\w$]*)\s*\(")
_EXPRESSION = re.compile(
    r"\{\{([^{}]{1,500})\}\}|(?<![\w:.@-])(?:[@:]|v-)[\w:.-]+=\"([^\"]{1,500})\"|(?<![\w\"'{])\{([^{}]{1,500})\}"
)
_HANDLER = re.compile(r"@[\w:.-]+=\"(?P<name>[A-Za-z_$][\w$]*)\"|\bon:?\w+=\{(?P<other>[A-Za-z_$][\w$]*)\}")
_KEYWORDS = frozenset("if for while switch catch function return typeof await each".split())


class _Section(NamedTuple):
    """A part of a component: its tag, and the byte ranges of all of it and of what is inside."""

    tag: str
    start: int
    inner_start: int
    inner_end: int
    end: int
    is_typescript: bool


def read(source: FormatSource) -> FormatResult:
    """Read a component: its scripts as one module, then what its template uses."""
    content = source.content
    sections = list(_find_sections(content, is_astro=source.language.name == "astro"))
    scripts = [section for section in sections if section.tag == "script"]
    is_typescript = source.language.name == "astro" or any(section.is_typescript for section in scripts)
    result = FormatResult()
    name = source.name.partition(".")[0]
    last_line = content.count(b"\n") + (not content.endswith(b"\n"))
    if name:
        component = Item(Kind.COMPONENT, name, 1, max(1, last_line), name, f"component {name}")
        result.items.append(component)
        result.references[ReferenceKind.BIND] = (("default", 1, name),)
    ranges = [(section.inner_start, section.inner_end) for section in scripts]
    code = source.parse_as("typescript" if is_typescript else "javascript", keep_ranges(content, ranges))
    result.add_embedded(code)
    result.tree, result.health = code.tree, code.health
    result.items += _list_sections(content, sections)
    calls = dict.fromkeys(_find_uses(content, sections))
    result.references[ReferenceKind.CALL] = (*result.references.get(ReferenceKind.CALL, ()), *calls)
    return result


def _find_sections(content: bytes, *, is_astro: bool) -> Iterator[_Section]:
    """Find the outer sections of a component, in order."""
    position = 0
    if is_astro and (found := _FRONTMATTER.match(content)):
        yield _Section("script", found.start(), found.start("code"), found.end("code"), found.end(), True)
        position = found.end()
    while found := _SECTION_TAG.search(content, position):
        if found["attributes"].endswith(b"/"):
            position = found.end()
            continue
        tag = found["tag"].lower()
        close = _find_close(content, tag, found.end())
        end = content.find(b">", close) + 1 or len(content)
        is_typescript = _TYPESCRIPT.search(found["attributes"]) is not None
        yield _Section(tag.decode(), found.start(), found.end(), close, end, is_typescript)
        position = end


def _find_close(content: bytes, tag: bytes, start: int) -> int:
    """Find the closing tag of a section; templates may hold templates, so theirs is the last."""
    close = b"</" + tag
    if tag == b"template":
        last = content.rfind(close, start)
        script = content.find(b"\n<script", start)
        if script >= 0 and script < last:
            last = max(content.rfind(close, start, script), start)
        return last if last >= 0 else len(content)
    found = content.find(close, start)
    return found if found >= 0 else len(content)


def _list_sections(content: bytes, sections: list[_Section]) -> Iterator[Item]:
    """List the template and the styles of a component as blocks."""
    for section in sections:
        if section.tag != "script":
            first = content.count(b"\n", 0, section.start) + 1
            last = first + content.count(b"\n", section.start, section.end)
            yield Item(Kind.BLOCK, section.tag, first, last, section.tag)


def _find_uses(content: bytes, sections: list[_Section]) -> Iterator[Reference]:
    """Find the components that a template uses, and the functions that it calls."""
    hidden = [(s.start, s.end) for s in sections if s.tag in ("script", "style")]
    ends = [0, *(end for _, end in hidden)]
    starts = [*(start for start, _ in hidden), len(content)]
    markup = keep_ranges(content, [(a, b) for a, b in zip(ends, starts, strict=True) if b > a])
    count = 0
    for row, line in enumerate(markup.decode("utf-8", "replace").split("\n"), 1):
        for name in _list_line_uses(line[:2000]):
            yield name, row, ""
            count += 1
            if count >= MAX_USES:
                return


def _list_line_uses(line: str) -> Iterator[str]:
    if "<" in line:
        for found in _COMPONENT_TAG.finditer(line):
            yield _as_component(found["name"])
    if "{" in line or "=" in line:
        for found in _HANDLER.finditer(line):
            yield found["name"] or found["other"]
        for found in _EXPRESSION.finditer(line):
            text = found[1] or found[2] or found[3]
            yield from (call["name"] for call in _CALL.finditer(text) if call["name"] not in _KEYWORDS)


def _as_component(tag: str) -> str:
    """Return the name of a component that a tag means: ``user-card`` is ``UserCard``."""
    return "".join(part[:1].upper() + part[1:] for part in tag.split("-")) if "-" in tag else tag
