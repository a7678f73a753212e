"""Keys of resource files: the text of a message has a key there, by which the code that prints it names it."""

from __future__ import annotations

from dowse.lazy_regex import compile_lazily
from dowse.types.source import Role
from dowse.types.stored import StoredFile

RESOURCE_ROLES = frozenset({Role.DATA, Role.CONFIG})
RESOURCE_ENDINGS = (".resx", ".strings", ".xliff", ".xlf", ".arb", ".ftl")

MAX_LINES = 2000
"""Lines above a message that are read for the keys around its own."""

_ENTRY = compile_lazily(rb"([ \t]*)(?:- )?[\"']?([\w.$-]{1,100})[\"']?[ \t]*[:=]")
_NAMED = compile_lazily(
    rb"<(?:string|data|entry|text|trans-unit)\b[^>]{0,200}?\b(?:name|key|id)=\"([\w.-]{1,100})\""
)
_ORIGINAL = compile_lazily(rb"msgid \"([^\"\n]{3,300})\"")
_TELLING = compile_lazily(r"[^\W_]{2,}[._-][^\W_]|[a-z][A-Z]")
"""What a key has that is more than a word: two parts."""


def is_resource(file: StoredFile) -> bool:
    """Return whether a file may hold the texts of a program by keys."""
    return file.role in RESOURCE_ROLES or file.path.endswith(RESOURCE_ENDINGS)


def find_keys(content: bytes, position: int) -> list[str]:
    """Find the ways in which code may name the text at a position, most telling first: ``cart.empty`` before ``empty``.

    A translation of gettext is named by the original text.
    """
    above = content[:position].split(b"\n")[-MAX_LINES:]
    line = above[-1] + content[position:].partition(b"\n")[0]
    if line.lstrip().startswith((b"msgstr", b'"')) and (original := _find_original(above)):
        return [original]
    if named := _NAMED.search(line):
        return [named.group(1).decode()]
    if not (entry := _ENTRY.match(line)):
        return []
    parts = [entry.group(2).decode("utf-8", "replace"), *_find_parents(above[:-1], len(entry.group(1)))]
    dotted = [".".join(reversed(parts[:count])) for count in range(len(parts), 0, -1)]
    return [key for key in dotted if _TELLING.search(key)]


def _find_original(above: list[bytes]) -> str:
    for line in reversed(above[-20:]):
        if found := _ORIGINAL.match(line):
            return found.group(1).decode("utf-8", "replace")
    return ""


def _find_parents(above: list[bytes], indentation: int) -> list[str]:
    """Find the keys around a line, innermost first: each is less indented than what it holds."""
    found: list[str] = []
    for line in reversed(above):
        if not indentation:
            break
        entry = _ENTRY.match(line)
        if entry and len(entry.group(1)) < indentation:
            found.append(entry.group(2).decode("utf-8", "replace"))
            indentation = len(entry.group(1))
    return found
