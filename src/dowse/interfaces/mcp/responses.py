"""Writes answers: compact text for the model and the same as values, both within the budget.

Some clients show the model the text, some the values: each on its own keeps the budget.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from dowse.interfaces.mcp.session import Sent
from dowse.interfaces.theme import escape_text
from dowse.search.output.budget import LEAST_LINES, Packer, cut_down, estimate_tokens, pack_at, place
from dowse.settings import SIGNALS
from dowse.types import Detail, Packed, PackedHit, Reason, Revision, SearchResult

SENT_BEFORE = "sent before"

REASONS = 3
"""Reasons of a hit that are named."""

COMMIT = 10
"""Digits of a commit that are shown."""

DIRTY = 5
"""Changed files that are named."""

NAMED = 3
"""Places left out that are named."""

NAMES = 32
"""Tokens that a hit has more as values than as text, but for escapes: names of values, quotation marks."""

AROUND = 60
"""Tokens of a hit as values that are not its code, about: how many lines have room is guessed with it."""

TRIES = 8
SLACK = 12
"""Times an answer is cut down until it fits, in proportion, by this many tokens at least."""

BELOW = 40
"""Tokens kept free for what stands below the hits, to begin with."""

LONGEST_HIT = 400
FILLED = 1.25
LEAST_HITS = 3
CHARACTERS = 3.4
"""A page has as many hits as fill its budget so many times, each taken for so many tokens at the most (longer ones are
cut) at so many characters a token, but some hits at least. Hits that could only be named are left to the next page:
there they have room for their code."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool says."""

    text: str
    values: dict[str, Any]
    is_error: bool = False

    def result(self) -> dict[str, Any]:
        """As the protocol has it."""
        content = [{"type": "text", "text": self.text}]
        if self.is_error:
            return {"content": content, "isError": True}
        return {"content": content, "structuredContent": self.values, "isError": False}


@dataclass(frozen=True, slots=True)
class Wish:
    """How a client wants its answer."""

    budget: int
    detail: Detail | None = None
    words: Sequence[str] = ()
    repeat: bool = False


_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

Footer = Callable[[Sequence[PackedHit], Sequence[str]], tuple[list[str], dict[str, Any]]]
"""What stands below the hits, as lines and as values, given what is shown and the places of hits that are not."""


def failed(message: str) -> Answer:
    """A call that could not be answered; the message says what to do."""
    return Answer(message, {}, is_error=True)


def listed(hits: Sequence[SearchResult], wish: Wish, sent: Sent, footer: Footer) -> Answer:
    """Hits within the budget; those that the client has are only named.

    The values are what the text shows. Names and escapes take more room there: code of the last hits may be missing.
    What both show counts as sent.
    """
    told = {place(h): _Told(why_found(h.reasons), not wish.repeat and sent.has(h)) for h in hits}
    briefly = [hit._replace(text="") if told[place(hit)].known else hit for hit in hits]
    fit = _fitting(briefly, wish, told)
    as_text, text, text_fits = _text_within(fit, wish.budget, footer)
    as_values, values, values_fit = _values_within(as_text, wish.budget, told, footer)
    for hit in as_values:
        sent.note(hit)
    places = [place(hit.result) for hit in as_text.hits]
    if not text_fits:
        text = fit(wish.budget).text if places else _beginning(text, wish.budget)
    return Answer(text, values if values_fit else _bare(places, wish.budget))


class _Told(NamedTuple):
    """What is said of a hit: why it was found, and whether the client has its code."""

    why: str
    known: bool


def filling(hits: Sequence[SearchResult], wish: Wish, sent: Sent) -> int:
    """How many of the hits go on a page together, so that there is room for the code of each."""
    left = wish.budget * FILLED
    for count, hit in enumerate(hits):
        code = 0 if not wish.repeat and sent.has(hit) else len(hit.text)
        left -= min(code / CHARACTERS + BELOW, LONGEST_HIT)
        if left < 0 and count >= LEAST_HITS:
            return count
    return len(hits)


def _text_within(fit: Callable[[int], Packed], budget: int, footer: Footer) -> tuple[Packed, str, bool]:
    """As many hits as fit with what stands below them, and whether a few tries were enough for that."""
    room = max(1, budget - BELOW)
    for _ in range(TRIES):
        packed = fit(max(1, room))
        below = "\n".join(footer(packed.hits, packed.omitted)[0])
        below = f"\n\n{below}" if packed.text else below
        text = packed.text + below
        needed = packed.tokens + _tokens(below)  # the hits are counted, and the count adds up
        if needed <= budget:
            return packed, text, True
        room -= max(SLACK, (needed - budget) * room // needed)
    return packed, text, False


class _Written(NamedTuple):
    """A hit as values, and the most tokens that these have."""

    hit: PackedHit
    values: dict[str, Any]
    tokens: int

    @property
    def has_code(self) -> bool:
        return "text" in self.values


def _written(hit: PackedHit, told: Mapping[str, _Told]) -> _Written:
    """What the text says is not counted again: as a value it has at most a token more for each character of escapes."""
    values = _hit_values(hit, told)
    tokens = hit.tokens + NAMES
    if (signature := values.get("signature", "")) and not hit.lines[0].endswith(signature):
        tokens += _tokens(signature)
    said = (values["name"], values.get("text", ""), signature)
    return _Written(hit, values, tokens + sum([len(_compact(text)) - len(text) for text in said]))


def _values_within(
    packed: Packed, budget: int, told: Mapping[str, _Told], footer: Footer
) -> tuple[list[PackedHit], dict[str, Any], bool]:
    """The hits of a text as values, and whether any fit.

    Where they do not, the last ones go without their code, the first one without its last lines.
    """
    shown = [_written(hit, told) for hit in packed.hits]
    omitted = list(packed.omitted)
    while True:
        hits = [one.hit for one in shown]
        below = footer(hits, omitted)[1]
        over = sum([one.tokens for one in shown]) + _tokens(_compact({"hits": [], **below})) - budget
        if over <= 0 or not shown:
            values = {"hits": [one.values for one in shown], **below}
            return hits, values, over <= 0 and bool(shown or not packed.hits)
        if not any(one.has_code for one in shown):
            omitted.insert(0, place(shown.pop().hit.result))
            continue
        for at in reversed(range(len(shown))):
            if over > 0 and shown[at].has_code:
                whole = shown[at]
                less = _written(cut_down(whole.hit, 0), told) if at else _shortened(whole, over, told)
                over -= whole.tokens - less.tokens
                shown[at] = less


def _shortened(whole: _Written, over: int, told: Mapping[str, _Told]) -> _Written:
    """A hit with so many tokens less, or without code; that lines are missing will be said, and that takes some too."""
    most = whole.tokens - over - _tokens(place(whole.hit.result)) - 1
    rows, tokens = len(whole.hit.lines) - 1, whole.tokens
    while (rows := min(rows - 1, rows * (most - AROUND) // max(1, tokens - AROUND))) >= LEAST_LINES:
        less = _written(cut_down(whole.hit, rows), told)
        tokens = less.tokens
        if tokens <= most:
            return less
    return _written(cut_down(whole.hit, 0), told)


def fitted(
    most: int,
    drawn: Callable[[int], str],
    edges: Callable[[int], list[dict[str, Any]]],
    below: Sequence[str],
    budget: int,
) -> Answer:
    """A tree, drawn with so many of its edges, and these as values: as many of each as fit."""

    def text(count: int) -> str:
        left = most - count
        more = [f"... {left} more: ask with a larger budget, or about one of these"] if left else []
        return "\n".join([drawn(count), *more, *below])

    def values(count: int) -> dict[str, Any]:
        return {"edges": edges(count), "left_out": most - count, "notes": list(below)}

    shown = _largest(most, lambda count: _tokens(text(count)) <= budget)
    kept = _largest(most, lambda count: _tokens(_compact(values(count))) <= budget)
    return Answer(_beginning(text(shown), budget), values(kept))


def _largest(most: int, fits: Callable[[int], bool]) -> int:
    """The largest number that fits, of those up to the most; 0 if none does."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def _fitting(hits: Sequence[SearchResult], wish: Wish, told: Mapping[str, _Told]) -> Callable[[int], Packed]:
    """What shows the hits in so much room."""

    def label(hit: SearchResult) -> str:
        said = told[place(hit)]
        marks = (escape_text(said.why), SENT_BEFORE) if said.known else (escape_text(said.why),)
        return "".join([f" [{mark}]" for mark in marks if mark])

    if wish.detail is None:
        return Packer(hits, words=wish.words, label=label).within
    detail = wish.detail
    return lambda room: pack_at(hits, detail, room, wish.words, label)


def left_out(places: Sequence[str]) -> list[str]:
    """A line that names some of the places for which there was no room; none if there are none."""
    if not places:
        return []
    more = " ..." if len(places) > NAMED else ""
    return [f"not shown for lack of budget: {', '.join(places[:NAMED])}{more}"]


def why_found(reasons: Sequence[Reason]) -> str:
    """The first reasons of a hit by name: channels that found it, signals that moved it up."""
    moved_down = {reason.name for reason in reasons if reason.name in SIGNALS and reason.value <= 1.0}
    names = dict.fromkeys(reason.name for reason in reasons if reason.name not in moved_down)
    return ", ".join(list(names)[:REASONS])


def _hit_values(hit: PackedHit, told: Mapping[str, _Told]) -> dict[str, Any]:
    result, at = hit.result, place(hit.result)
    values: dict[str, Any] = {
        "at": at,
        "name": result.entity,
        "kind": result.kind.value,
        "why": told[at].why,
        "fresh": result.fresh,
    }
    if told[at].known:
        return values | {"sent_before": True}
    if len(hit.lines) > 1:
        values["text"] = "\n".join(hit.lines[1:])
    elif result.signature and hit.detail is not Detail.IDS:
        values["signature"] = result.signature
    return values


def _bare(places: Sequence[str], budget: int) -> dict[str, Any]:
    """Where there is room for little: the first places."""
    hits = [{"at": at} for at in places]
    kept = _largest(len(hits), lambda count: _tokens(_compact({"hits": hits[:count]})) <= budget)
    return {"hits": hits[:kept]}


def _beginning(text: str, budget: int) -> str:
    return text[: _largest(len(text), lambda length: _tokens(text[:length]) <= budget)]


def _tokens(text: str) -> int:
    return estimate_tokens(text)


def state_line(states: Mapping[str, tuple[int, Revision | None]]) -> str:
    """``index 12, commit 1a2b3c4d, changed since: src/x.py``, for each repository that was asked."""
    return "; ".join(_state(name, *state) for name, state in states.items())


def _state(name: str, generation: int, revision: Revision | None) -> str:
    parts = [f"{name}: index {generation}" if name else f"index {generation}"]
    if revision and revision.commit:
        parts.append(f"commit {revision.commit[:COMMIT]}")
    if revision and revision.dirty:
        more = f" and {len(revision.dirty) - DIRTY} more" if len(revision.dirty) > DIRTY else ""
        parts.append(f"not committed: {', '.join(map(escape_text, revision.dirty[:DIRTY]))}{more}")
    return ", ".join(parts)


def state_values(states: Mapping[str, tuple[int, Revision | None]]) -> list[dict[str, Any]]:
    """The same as values."""
    return [
        {
            **({"repo": name} if name else {}),
            "generation": generation,
            "commit": revision.commit[:COMMIT] if revision else "",
            "dirty": list(revision.dirty[:DIRTY]) if revision else [],
        }
        for name, (generation, revision) in states.items()
    ]
