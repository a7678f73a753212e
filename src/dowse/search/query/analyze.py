"""Query analysis: weighted tokens, stop words, identifiers, file names, and the query type (intent classification)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from dowse.code import tokens
from dowse.frozen import replace
from dowse.lazy_regex import compile_lazily
from dowse.search.channels import version_checks
from dowse.search.query import stack_traces
from dowse.search.query import views as views_module
from dowse.search.query.error_message import find_error_message
from dowse.search.query.issue_text import IssueText, read_issue
from dowse.types.queries import ParsedQuery, Query, Term
from dowse.types.stored import Filter

MAX_TERMS = 64
"""Terms that are searched for; a longer text says nothing new after its first few dozen distinct words."""

MAX_NAMES = 8
"""Names that are looked up one by one."""

MAX_TEXT_CHARS = 20_000
"""Characters of a query that are read at all."""

MAX_WORD_CHARS = 200
"""Characters of a word that are read: the patterns below take the square of its length in time."""

WHOLE_WEIGHT = 1.0
PART_WEIGHT = 0.5
"""An identifier counts as a whole; its parts, which are found in more places, half."""

REPORT_TYPES = frozenset({"words", "mixed"})
"""Types of long texts that are reports though they have no markup."""

ADDED_WEIGHT = 0.5
"""What a term counts that the term graph added: less than what the user said."""

PLAIN_NAME_WORDS = 3
"""In a query of up to this many words, a plain word may be the name of something."""

MAX_WORDS_BESIDE_FILE = 1
"""A query that has a file name and up to this many words besides asks for the file."""

DECLARATION_WORDS = frozenset("def fn func fun impl".split())
ENGLISH_DECLARATION_WORDS = frozenset(
    "class enum function interface method module protocol struct trait type".split()
)
"""Words before the name of a definition. Those of the second row are English too, and only count before a capital."""

STOP_WORDS = frozenset(
    "a an and are as at be been being but by can could did do does doing done for from had has have having how i "
    "if in into is it its itself me my of on or our shall should so some such than that the their them then there "
    "these they this those to too up us was we were what when where which while who whom whose why will with would "
    "you your".split()
)
"""English words that say nothing about code. Words that are also names in code (get, set, all) are not here."""

POLITE_WORDS = frozenset("please pls plz thank thanks thx".split())
"""Said to people. Others that are (help, issue, github) are in a short query as likely what it is about."""

IDLE_WORDS = STOP_WORDS | POLITE_WORDS

ABBREVIATIONS = compile_lazily(
    r"(?<![\w./\\])(?:e\.\s?g|i\.\s?e|a\.k\.a|aka|etc)\b\.?(?![\w/\\(])", re.IGNORECASE
)
"""Of text, not of code; ``i.e`` would be read as a name. ``/etc`` is a folder."""

LANGUAGE_EXTENSIONS = frozenset(
    "c cc cjs cpp cs cxx dart ex exs h hh hpp hs java jl js jsx kt kts lua mjs ml mli mts php pl pm py pyi pyx rb rs "
    "scala sh swift ts tsx zig".split()
)
"""Extensions that only say in which language a file is written, and are no words of their own (``.json``, ``.log``).
Code seldom says them, so that such a one would count as a rare word, and find lists of files."""

_DOTTED = r"[^\W\d]\w*(?:(?:\.|::|->|#|\\)[^\W\d]\w*)*"
_NAME = compile_lazily(rf"(?<![\w*]){_DOTTED}\*|{_DOTTED}")
_FILE = compile_lazily(r"[\w./\\~-]*[\w-]\.[A-Za-z][A-Za-z0-9]{0,9}\b|[\w.-]+(?:/[\w.-]+)+")
_LINE = compile_lazily(r"(\.\w+):\d+(?::\d+)?\b")  # the numbers of ``cart.py:12``
_LINE_IN_WORDS = compile_lazily(r"\w\.\w+\"?,? (?:on )?line \d")  # ``at cart.pl line 12``
_SPECIAL_METHOD = compile_lazily(r"\b__\w{1,40}__\b(?!\.py)")
_RECEIVER = compile_lazily(r"\b(?:self|this|cls)\.(?=\w)")
_PATTERN = compile_lazily(
    r"(?<![\w*])\*?[^\W\d]\w*(?:[*?]\w+)+\*?(?![\w*])|(?<![\w*])\*[^\W\d]\w*\*?(?![\w*])"
)
_SEPARATOR = compile_lazily(r"\.|::|->|#|\\")


def analyze_query(parsed: ParsedQuery, filter: Filter, is_extension: Callable[[str], bool]) -> Query:
    """Analyze a parsed query, with the lines that it names; of a program's output, what went wrong and where."""
    text, frames = parsed.text, []
    has_only_words = "  " not in text and text.replace(" ", "").isalpha()  # so no line of it is a frame
    if "\n" in text and (issue := read_issue(text)) is not None:
        frames = stack_traces.find_frames(text) if issue.message else []
        query = _analyze_issue(issue, is_extension, filter.names)
    elif not has_only_words and stack_traces.looks_like_output(text):
        frames = stack_traces.find_frames(text)
        functions = dict.fromkeys(frame.function for frame in frames if frame.function)
        text = " ".join([find_error_message(text), *functions])
        query = replace(analyze_text(text, is_extension, filter.names), type="output")
    else:
        views = views_module.split_text(text)
        if (":" in text and _LINE.search(text)) or (" line " in text and _LINE_IN_WORDS.search(text)):
            frames = [frame for frame in stack_traces.find_frames(text) if frame.line]
            text = _LINE.sub(r"\1", text)
        added = [one.term for one in parsed.rewrite.added]
        query = _add_terms(analyze_text(text, is_extension, filter.names), added)
        query = replace(query, views=views if query.type in REPORT_TYPES else ())
    if parsed.has_filters and not (parsed.text.strip() or filter.names or parsed.phrases or parsed.regexes):
        query = replace(query, type="filters")
    return replace(
        query,
        frames=tuple(frames),
        filter=filter,
        phrases=parsed.phrases,
        regexes=parsed.regexes,
        unwanted=parsed.unwanted,
        rewrite=parsed.rewrite,
        depends_on_time=parsed.changed is not None,
    )


def analyze_text(text: str, is_extension: Callable[[str], bool], patterns: Sequence[str] = ()) -> Query:
    """Analyze the words of a query.

    ``is_extension`` knows those of source files (``.py``), and is asked only if need be; ``patterns`` are
    the names of a filter (``name:*Handler``), which are looked up as well.
    """
    clean = " ".join(word[:MAX_WORD_CHARS] for word in text[:MAX_TEXT_CHARS].replace("\0", " ").split())
    abbreviated = ABBREVIATIONS.findall(clean)
    if abbreviated:
        spelled_out = ABBREVIATIONS.sub(" ", clean)
        clean, abbreviated = (spelled_out, abbreviated) if tokens.split_words(spelled_out) else (clean, [])
    files = _find_files(clean, is_extension)
    sources = [file for file in files if file.rpartition(".")[2].lower() in LANGUAGE_EXTENSIONS]
    words = list(dict.fromkeys(tokens.split_words(_remove_files(clean, sources, keep_stem=True))))
    kept = [word for word in words if word.lower() not in IDLE_WORDS] or words
    meant, versions = (
        frozenset(kept),
        version_checks.find_versions(clean) if any(map(str.isdigit, clean)) else (),
    )
    names = tuple(dict.fromkeys([*patterns, *_find_names(_remove_files(clean, sources), kept)]))[:MAX_NAMES]
    return Query(
        text=text,
        terms=(*_make_terms(kept), *(version_checks.make_idiom_terms(versions) if versions else ()))[
            :MAX_TERMS
        ],
        names=names,
        files=tuple(dict.fromkeys(files.values()))[:MAX_NAMES],
        words=tuple(
            dict.fromkeys(tokens.stem(part) for word in kept for part in tokens.split_identifier(word))
        ),
        dropped=(*(word for word in words if word not in meant), *dict.fromkeys(abbreviated)),
        type=_classify(names, kept, _outside_files(clean, kept) if files else kept),
        versions=versions,
    )


def find_lone_name(query: Query) -> str:
    """Return the plain word that is all a query asks for (``Session``, ``class Session``), if it is one."""
    (name,) = query.names if len(query.names) == 1 else ("",)
    return "" if is_identifier(name) else name


def split_name(name: str) -> tuple[str, ...]:
    """Split a dotted name, ``Class::method`` or the like; without the ``*`` of a prefix."""
    return tuple(part for part in _SEPARATOR.split(name.rstrip("*")) if part)


def _analyze_issue(issue: IssueText, is_extension: Callable[[str], bool], patterns: Sequence[str]) -> Query:
    """Analyze a report: its title first, then prose, then code; special methods and ``self`` name nothing."""
    query = analyze_text(_RECEIVER.sub("", _SPECIAL_METHOD.sub(" ", issue.text)), is_extension, patterns)
    return replace(query, type="issue", message=issue.message, views=views_module.split_issue(issue))


def _add_terms(query: Query, added: Sequence[str]) -> Query:
    """Add terms to look for; what was asked counts as before."""
    if not added:
        return query
    more = analyze_text(" ".join(added), lambda suffix: False)
    known = {term.text for term in query.terms}
    terms = (Term(text, weight * ADDED_WEIGHT) for text, weight in more.terms if text not in known)
    names = [name for name in more.names if is_identifier(name)]
    return replace(
        query,
        text=" ".join([query.text, *added]),
        terms=(*query.terms, *terms)[:MAX_TERMS],
        names=tuple(dict.fromkeys([*query.names, *names]))[:MAX_NAMES],
    )


@lru_cache(maxsize=5_000)
def is_identifier(word: str) -> bool:
    """Return whether a word looks like a name in code: ``getUser``, ``get_user``, ``_get``, ``a.b``."""
    if _SEPARATOR.search(word.rstrip("*")) or "*" in word:
        return True
    if word.startswith("_") and word.strip("_"):
        return True
    has_inner_capital = any(c.isupper() for c in word[1:]) and any(c.islower() for c in word)
    return len(tokens.split_identifier(word)) > 1 and ("_" in word.strip("_") or has_inner_capital)


def get_last_part(name: str) -> str:
    """Return ``Session`` of ``auth.Session``, ``auth::Session``, ``auth->Session``; without the star of a prefix."""
    parts = split_name(name)
    return parts[-1] if parts else name


def join_with_dots(name: str) -> str:
    """Return ``auth.Session`` of ``auth::Session``, ``auth->Session`` and the like."""
    return _SEPARATOR.sub(".", name)


def _make_terms(words: list[str]) -> tuple[Term, ...]:
    weights: dict[str, float] = {}
    for word in words:
        found = tokens.tokenize_runs((word,)).split()
        for position, token in enumerate(found):
            weight = PART_WEIGHT if position and len(found) > 1 else WHOLE_WEIGHT
            weights[token] = max(weight, weights.get(token, 0.0))
    return tuple(Term(token, weight) for token, weight in weights.items())


def _find_names(text: str, kept: list[str]) -> tuple[str, ...]:
    patterns = _find_patterns(text)
    for pattern in patterns:
        text = text.replace(pattern, " ")
    found = [*patterns, *(match for match in _NAME.findall(text) if is_identifier(match))]
    if not found and _is_declaration(kept):
        return (kept[1],)
    if len(kept) <= PLAIN_NAME_WORDS:
        parts = {part for name in found for part in split_name(name)}
        own = frozenset(tokens.split_words(text))
        found += [word for word in kept if len(word) > 2 and word in own and word not in parts]
    return tuple(dict.fromkeys(found))[:MAX_NAMES]


def _find_patterns(text: str) -> list[str]:
    """Find the patterns of names in a short query (``Ses*ion``, ``*Handler``); in a text, a star is for emphasis."""
    is_short = "*" in text and len(text.split()) <= PLAIN_NAME_WORDS
    return [match for match in _PATTERN.findall(text) if "*" in match] if is_short else []


def _is_declaration(kept: list[str]) -> bool:
    """Return whether a query is written as a declaration begins: ``class Session``, but not ``class loader``."""
    if len(kept) != 2:
        return False
    return kept[0] in DECLARATION_WORDS or (
        kept[0].lower() in ENGLISH_DECLARATION_WORDS and kept[1][:1].isupper()
    )


def _find_files(text: str, is_extension: Callable[[str], bool]) -> dict[str, str]:
    """Find the names of files in a text: as they are written there, and as paths are."""
    found: dict[str, str] = {}
    if "." not in text and "/" not in text:  # as in most queries
        return found
    for match in _FILE.findall(text):
        name = match.replace("\\", "/").removeprefix("./").strip("/")
        suffix = "." + name.rpartition(".")[2].lower()
        if "/" in name or is_extension(suffix):
            found[match] = name
    return found


def _remove_files(text: str, files: Iterable[str], *, keep_stem: bool = False) -> str:
    """Return a text without its file names, or without their extensions."""
    for file in files:
        text = text.replace(file, file.rpartition(".")[0] if keep_stem else " ")
    return text


def _outside_files(text: str, kept: list[str]) -> list[str]:
    """Return the words that count and are no part of a file name."""
    rest = frozenset(tokens.split_words(_FILE.sub(" ", text)))
    return [word for word in kept if word in rest]


def _classify(names: tuple[str, ...], kept: list[str], outside: list[str]) -> str:
    identifiers = [name for name in names if is_identifier(name)]
    if len(outside) < len(kept) and len(outside) <= MAX_WORDS_BESIDE_FILE:
        return "file"
    if identifiers and len(identifiers) >= len(kept) / 2:
        return "symbol"
    return "mixed" if identifiers else "words"
