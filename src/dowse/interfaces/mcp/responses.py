"""MCP tool responses within a token budget: compact text for the model, and structured content with the same.

Some clients show the model the text, some the values: each on its own keeps the budget.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from dowse.interfaces.mcp.session import SentLines
from dowse.interfaces.theme import escape_text
from dowse.search.output.budget import Packer, pack_at_detail, truncate_hit
from dowse.search.output.hit_view import MIN_TEXT_LINES, format_location
from dowse.search.output.token_estimate import estimate_tokens
from dowse.types.answers import Detail, Packed, PackedHit, SearchResult
from dowse.types.discovered import Revision

SENT_BEFORE = "sent before"

MAX_REASONS = 3
"""Reasons of a hit that are named."""

COMMIT_DIGITS = 10
"""Digits of a commit that are shown."""

MAX_DIRTY_FILES = 5
"""Changed files that are named."""

MAX_OMITTED_PLACES = 3
"""Places without room that are still named."""

FIELD_NAME_TOKENS = 32
"""Tokens of the field names and quotation marks that a hit has as values, but not as text."""

HIT_OVERHEAD_TOKENS = 60
"""Tokens of a hit as values that are not its code, roughly: an estimate of how many lines have room uses it."""

MAX_TRIES = 8
MIN_CUT_TOKENS = 12
"""How often an answer is cut until it fits, and how many tokens each cut removes at least."""

FOOTER_TOKENS = 40
"""Tokens reserved for the lines below the hits in the first try."""

MAX_HIT_TOKENS = 400
PAGE_FILL_FACTOR = 1.25
MIN_PAGE_HITS = 3
CHARACTERS_PER_TOKEN = 3.4
"""A page has as many hits as fill its budget ``PAGE_FILL_FACTOR`` times, but ``MIN_PAGE_HITS`` at least. Each counts as
``MAX_HIT_TOKENS`` at most, as longer ones are cut. Hits that could only be named are left to the next page: there they
have room for their code."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a tool."""

    text: str
    values: dict[str, Any]
    is_error: bool = False

    def add_lines(self, lines: Sequence[str]) -> Answer:
        """Return the answer with further lines below its text."""
        return replace(self, text="\n".join([self.text, *lines])) if lines else self

    def result(self) -> dict[str, Any]:
        """Return the answer as the protocol wants it."""
        content = [{"type": "text", "text": self.text}]
        if self.is_error:
            return {"content": content, "isError": True}
        return {"content": content, "structuredContent": self.values, "isError": False}


def describe_hit(hit: SearchResult) -> str:
    """Say how likely a hit is right, and why, in a few words; nothing of a place that was asked for."""
    return f"{hit.strength}: {hit.match.words}" if hit.reasons else ""


@dataclass(frozen=True, slots=True)
class ResponseOptions:
    """How a client wants its answer."""

    budget: int
    detail: Detail | None = None
    words: Sequence[str] = ()
    repeat: bool = False
    explain: Callable[[SearchResult], str] = describe_hit


_encode_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

Footer = Callable[[Sequence[PackedHit], Sequence[str]], tuple[list[str], dict[str, Any]]]
"""Makes the lines and values below the hits, from the hits that are shown and the places of those that are not."""


def error_answer(message: str) -> Answer:
    """Return the answer to a call that failed; the message says what to do."""
    return Answer(message, {}, is_error=True)


def answer_hits(
    hits: Sequence[SearchResult], options: ResponseOptions, sent: SentLines, footer: Footer
) -> Answer:
    """Answer with hits within the budget; those whose code the client has are only named.

    The values are what the text shows. Names and escapes take more room there: code of the last hits may be missing.
    What both show counts as sent.
    """
    notes = {
        format_location(h): _HitNote(options.explain(h), not options.repeat and sent.has(h)) for h in hits
    }
    trimmed = [hit._replace(text="") if notes[format_location(hit)].is_known else hit for hit in hits]
    pack_into = _choose_packer(trimmed, options, notes)
    as_text, text, text_fits = _fit_text(pack_into, options.budget, footer)
    as_values, values, values_fit = _fit_values(as_text, options.budget, notes, footer)
    for hit in as_values:
        sent.add(hit)
    places = [format_location(hit.result) for hit in as_text.hits]
    if not text_fits:
        text = pack_into(options.budget).text if places else _truncate(text, options.budget)
    return Answer(text, values if values_fit else _place_values(places, options.budget))


class _HitNote(NamedTuple):
    """What an answer notes about a hit: why it was found, and whether the client has its code."""

    why: str
    is_known: bool


def count_page_hits(hits: Sequence[SearchResult], options: ResponseOptions, sent: SentLines) -> int:
    """Count the hits that go on a page together, so that there is room for the code of each."""
    left = options.budget * PAGE_FILL_FACTOR
    for count, hit in enumerate(hits):
        code = 0 if not options.repeat and sent.has(hit) else len(hit.text)
        left -= min(code / CHARACTERS_PER_TOKEN + FOOTER_TOKENS, MAX_HIT_TOKENS)
        if left < 0 and count >= MIN_PAGE_HITS:
            return count
    return len(hits)


def _fit_text(pack_into: Callable[[int], Packed], budget: int, footer: Footer) -> tuple[Packed, str, bool]:
    """Pack as many hits as fit with the lines below them; return also whether a few tries were enough."""
    room = max(1, budget - FOOTER_TOKENS)
    for _ in range(MAX_TRIES):
        packed = pack_into(max(1, room))
        below = "\n".join(footer(packed.hits, packed.omitted)[0])
        below = f"\n\n{below}" if packed.text else below
        text = packed.text + below
        needed = packed.tokens + estimate_tokens(below)  # the hits are counted, and the count adds up
        if needed <= budget:
            return packed, text, True
        room -= max(MIN_CUT_TOKENS, (needed - budget) * room // needed)
    return packed, text, False


class _SizedValues(NamedTuple):
    """A hit as values, and an upper bound of their tokens."""

    hit: PackedHit
    values: dict[str, Any]
    tokens: int

    @property
    def has_code(self) -> bool:
        return "text" in self.values


def _size_values(hit: PackedHit, notes: Mapping[str, _HitNote]) -> _SizedValues:
    """Convert a hit to values with their size, without counting its text again: each escape adds at most a token."""
    values = _hit_values(hit, notes)
    tokens = hit.tokens + FIELD_NAME_TOKENS
    if (signature := values.get("signature", "")) and not hit.lines[0].endswith(signature):
        tokens += estimate_tokens(signature)
    texts = (values["name"], values.get("text", ""), signature)
    return _SizedValues(hit, values, tokens + sum([len(_encode_json(text)) - len(text) for text in texts]))


def _fit_values(
    packed: Packed, budget: int, notes: Mapping[str, _HitNote], footer: Footer
) -> tuple[list[PackedHit], dict[str, Any], bool]:
    """Convert the hits of a text to values within the budget; return also whether any fit.

    Where they do not, the last ones go without their code, the first one without its last lines.
    """
    shown = [_size_values(hit, notes) for hit in packed.hits]
    omitted = list(packed.omitted)
    while True:
        hits = [one.hit for one in shown]
        below = footer(hits, omitted)[1]
        footer_tokens = estimate_tokens(_encode_json({"hits": [], **below}))
        over = sum([one.tokens for one in shown]) + footer_tokens - budget
        if over <= 0 or not shown:
            values = {"hits": [one.values for one in shown], **below}
            return hits, values, over <= 0 and bool(shown or not packed.hits)
        if not any(one.has_code for one in shown):
            omitted.insert(0, format_location(shown.pop().hit.result))
            continue
        for at in reversed(range(len(shown))):
            if over > 0 and shown[at].has_code:
                whole = shown[at]
                less = _size_values(truncate_hit(whole.hit, 0), notes) if at else _shorten(whole, over, notes)
                over -= whole.tokens - less.tokens
                shown[at] = less


def _shorten(whole: _SizedValues, over: int, notes: Mapping[str, _HitNote]) -> _SizedValues:
    """Cut the given number of tokens off a hit, or all of its code; the note about missing lines takes some too."""
    most = whole.tokens - over - estimate_tokens(format_location(whole.hit.result)) - 1
    rows, tokens = len(whole.hit.lines) - 1, whole.tokens
    room = most - HIT_OVERHEAD_TOKENS
    while (rows := min(rows - 1, rows * room // max(1, tokens - HIT_OVERHEAD_TOKENS))) >= MIN_TEXT_LINES:
        less = _size_values(truncate_hit(whole.hit, rows), notes)
        tokens = less.tokens
        if tokens <= most:
            return less
    return _size_values(truncate_hit(whole.hit, 0), notes)


def answer_tree(
    most: int,
    total: int,
    draw: Callable[[int], str],
    rows: Callable[[int], list[dict[str, Any]]],
    below: Sequence[str],
    budget: int,
    key: str = "edges",
) -> Answer:
    """Answer with rows as text and as values under a key: as many of each as fit, of ``most`` at the most."""

    def text(count: int) -> str:
        left = total - count
        more = [f"... {left} more: ask with a larger budget, or about one of these"] if left else []
        return "\n".join([draw(count), *more, *below])

    def values(count: int) -> dict[str, Any]:
        return {key: rows(count), "omitted": total - count, "notes": list(below)}

    shown = _find_largest(most, lambda count: estimate_tokens(text(count)) <= budget)
    kept = _find_largest(most, lambda count: estimate_tokens(_encode_json(values(count))) <= budget)
    return Answer(_truncate(text(shown), budget), values(kept))


def _find_largest(most: int, fits: Callable[[int], bool]) -> int:
    """Find the largest number up to ``most`` that fits, by bisection; 0 if none does."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def _choose_packer(
    hits: Sequence[SearchResult], options: ResponseOptions, notes: Mapping[str, _HitNote]
) -> Callable[[int], Packed]:
    """Return the function that packs the hits into a number of tokens."""

    def label(hit: SearchResult) -> str:
        note = notes[format_location(hit)]
        marks = (escape_text(note.why), SENT_BEFORE) if note.is_known else (escape_text(note.why),)
        return "".join([f" [{mark}]" for mark in marks if mark])

    if options.detail is None:
        return Packer(hits, words=options.words, label=label).pack
    detail = options.detail
    return lambda room: pack_at_detail(hits, detail, room, options.words, label)


def omitted_lines(places: Sequence[str]) -> list[str]:
    """Return a line that names some of the places for which there was no room; none if there are none."""
    if not places:
        return []
    more = " ..." if len(places) > MAX_OMITTED_PLACES else ""
    return [f"not shown for lack of budget: {', '.join(places[:MAX_OMITTED_PLACES])}{more}"]


def name_reasons(hit: SearchResult) -> str:
    """Name the reasons that speak most for a hit."""
    return ", ".join([reason.name for reason in hit.reasons if reason.value > 0][:MAX_REASONS])


def _hit_values(hit: PackedHit, notes: Mapping[str, _HitNote]) -> dict[str, Any]:
    result, at = hit.result, format_location(hit.result)
    values: dict[str, Any] = {
        "at": at,
        "name": result.entity,
        "kind": result.kind.value,
        "why": notes[at].why,
        "fresh": result.fresh,
    }
    if notes[at].is_known:
        return values | {"sent_before": True}
    if len(hit.lines) > 1:
        values["text"] = "\n".join(hit.lines[1:])
    elif result.signature and hit.detail is not Detail.IDS:
        values["signature"] = result.signature
    return values


def _place_values(places: Sequence[str], budget: int) -> dict[str, Any]:
    """Return only the first places, as many as fit."""
    hits = [{"at": at} for at in places]
    kept = _find_largest(
        len(hits), lambda count: estimate_tokens(_encode_json({"hits": hits[:count]})) <= budget
    )
    return {"hits": hits[:kept]}


def _truncate(text: str, budget: int) -> str:
    return text[: _find_largest(len(text), lambda length: estimate_tokens(text[:length]) <= budget)]


def state_line(states: Mapping[str, tuple[int, Revision | None]]) -> str:
    """Render the state of each repository: ``index 12, commit 1a2b3c4d, not committed: src/x.py``."""
    return "; ".join(_format_state(name, *state) for name, state in states.items())


def _format_state(name: str, generation: int, revision: Revision | None) -> str:
    parts = [f"{name}: index {generation}" if name else f"index {generation}"]
    if revision and revision.commit:
        parts.append(f"commit {revision.commit[:COMMIT_DIGITS]}")
    if revision and revision.dirty:
        more = (
            f" and {len(revision.dirty) - MAX_DIRTY_FILES} more"
            if len(revision.dirty) > MAX_DIRTY_FILES
            else ""
        )
        parts.append(f"not committed: {', '.join(map(escape_text, revision.dirty[:MAX_DIRTY_FILES]))}{more}")
    return ", ".join(parts)


def state_values(states: Mapping[str, tuple[int, Revision | None]]) -> list[dict[str, Any]]:
    """Convert the state of each repository to values."""
    return [
        {
            **({"repo": name} if name else {}),
            "generation": generation,
            "commit": revision.commit[:COMMIT_DIGITS] if revision else "",
            "dirty": list(revision.dirty[:MAX_DIRTY_FILES]) if revision else [],
        }
        for name, (generation, revision) in states.items()
    ]
