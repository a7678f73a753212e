"""Token budget packing: fit search results into a context window: which hits to show, and how much of each.

Every hit in rank order gets its header (location, name, signature) while there is room; the rest is shared out for
their text, more to the better hits. Text that does not fit is cut to its first lines and those around the best ones.
The budget is hard, and of the first hit something is always shown. Tokens are counted by ``estimate_tokens`` or by the
caller's own function.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from dowse.errors import UsageError
from dowse.frozen import replace
from dowse.search.output.hit_view import (
    PREVIEW_LINES,
    HitLabel,
    HitView,
    format_gap,
    format_location,
    format_path,
    format_range,
    omit_label,
)
from dowse.search.output.token_estimate import TokenCounter, estimate_tokens
from dowse.types.answers import Detail, Packed, PackedHit, SearchResult

RANK_DECAY = 0.5
"""Share of each hit's text in the budget, compared with an equally relevant hit one rank above."""

WHOLE_TEXT_FACTOR = 2
"""A text that is shown whole may take so many times its share: two half functions help less than one."""

MIN_SHARE_RELEVANCE = 0.05
"""Hits below still get a share: they were good enough to be listed."""

NOTE_RESERVE_TOKENS = 30
"""Tokens reserved for the note that says which hits were omitted."""

UNNAMED_HIT = "?"
"""Stands for a first hit whose location does not fit."""


def pack(
    hits: Sequence[SearchResult],
    budget_tokens: int,
    count: TokenCounter = estimate_tokens,
    words: Collection[str] = (),
    label: HitLabel = omit_label,
) -> Packed:
    """Pack the best mix of hits that fits the token budget; with more room there are never fewer hits.

    A budget below the first hit's header shows its location, and one below that ``UNNAMED``. A ``count`` that does not
    add up over lines is applied to the whole text again, and less is shown if that is too much.
    """
    return Packer(hits, count, words, label).pack(budget_tokens)


class Packer:
    """Packs the same hits into one token budget after another: what their lines cost is counted once."""

    def __init__(
        self,
        hits: Sequence[SearchResult],
        count: TokenCounter = estimate_tokens,
        words: Collection[str] = (),
        label: HitLabel = omit_label,
    ) -> None:
        self._hits = hits
        self._count = count
        self._views = [HitView(hit, words, count, label) for hit in hits]

    def pack(self, budget_tokens: int) -> Packed:
        """Pack the hits into a budget, as ``pack`` does."""
        if budget_tokens < 1:
            raise UsageError(f"a budget of {budget_tokens} tokens holds nothing: give at least 1")
        if not self._views:
            return Packed((), (), (), "", 0, budget_tokens)
        room = budget_tokens
        while room > 0:
            packed = _pack_views(self._views, room, self._count)
            if packed is None:
                break
            if packed.tokens <= budget_tokens:
                return replace(packed, budget=budget_tokens)
            room -= packed.tokens - budget_tokens
        return _pack_location(self._hits, budget_tokens, self._count)


def pack_at_detail(
    hits: Sequence[SearchResult],
    detail: Detail,
    budget_tokens: int,
    words: Collection[str] = (),
    label: HitLabel = omit_label,
) -> Packed:
    """Pack the first hits that fit, each at the same level of detail; of the first something is always shown."""
    if detail is Detail.IDS:
        bare = [hit._replace(text="", signature="", entity="") for hit in hits]
        return pack(bare, budget_tokens, label=omit_label)
    if detail is Detail.SIGNATURE:
        return pack([hit._replace(text="") for hit in hits], budget_tokens, label=label)
    shown_hits: list[PackedHit] = []
    left = budget_tokens
    for hit in hits:
        view = HitView(hit, words, estimate_tokens, label)
        lines = range(len(view.lines)) if detail is Detail.FULL else view.line_order[:PREVIEW_LINES]
        cost = view.cost(lines)
        if cost > left:
            break
        left -= cost
        shown_hits.append(view.pack_lines(lines))
    if not shown_hits:
        return pack(hits, budget_tokens, words=words, label=label)
    omitted = [format_location(hit) for hit in hits[len(shown_hits) :]]
    note = _write_note(omitted, left, estimate_tokens)
    return _assemble(shown_hits, omitted, note, budget_tokens, estimate_tokens)


def truncate_hit(hit: PackedHit, rows: int) -> PackedHit:
    """Cut a packed hit down to so many rows below its header, and a mark for the rest."""
    start, last = hit.result.start_line, hit.result.start_line + hit.result.text.count("\n")
    jumps = {(first, format_gap(first, end)): end for first, end in hit.cut}
    number = upto = start  # the line that comes next, and the one after the last line of code
    kept = 0
    for position, row in enumerate(hit.lines[1 : rows + 1], 1):
        jump = jumps.get((number, row))
        number = (jump or number) + 1
        if jump is None:
            kept, upto = position, number
    lines = hit.lines[: kept + 1]
    if not kept:
        return PackedHit(hit.result, Detail.SIGNATURE, lines, ((start, last),), _count_tokens(lines))
    lines += (format_gap(upto, last),)
    cut = (*(gap for gap in hit.cut if gap[1] < upto), (upto, last))
    return PackedHit(hit.result, Detail.PREVIEW, lines, cut, _count_tokens(lines) + estimate_tokens("\n"))


def _count_tokens(lines: Sequence[str]) -> int:
    return estimate_tokens("\n".join(lines) + "\n")


def list_cut_ranges(hits: Sequence[PackedHit]) -> list[str]:
    """List the lines of hits that are not shown, as ``path:start-end``."""
    return [format_range(hit.result, first, last) for hit in hits for first, last in hit.cut]


@dataclass(slots=True)
class _HitShare:
    """The part of a budget that a hit has: the lines of it that are shown, and what they cost."""

    view: HitView
    kept: Sequence[int]
    cost: int

    def grow(self, room: int) -> int:
        """Show what fits into so much more room, and return what that takes."""
        before = self.cost
        self.kept = self.view.fit_lines(before + room)
        self.cost = self.view.cost(self.kept)
        return self.cost - before


def _pack_views(views: Sequence[HitView], room: int, count: TokenCounter) -> Packed | None:
    """Pack headers, then text, then a note; return nothing if not even the first header fits."""
    shares: list[_HitShare] = []
    left = room
    for view in views:
        if view.header_cost > left:
            break
        shares.append(_HitShare(view, (), view.header_cost))
        left -= view.header_cost
    if not shares:
        return None
    omitted = [format_location(view.hit) for view in views[len(shares) :]]
    reserve = min(left, NOTE_RESERVE_TOKENS) if omitted else 0
    left = _distribute(shares, left - reserve) + reserve
    note = _write_note(omitted, left, count)
    return _assemble([share.view.pack_lines(share.kept) for share in shares], omitted, note, room, count)


def _distribute(shares: Sequence[_HitShare], left: int) -> int:
    """Give every hit its share for text, then what remains to those that were cut; return what still remains."""
    weights = [max(s.view.hit.relevance, MIN_SHARE_RELEVANCE) * RANK_DECAY**i for i, s in enumerate(shares)]
    for i, share in enumerate(shares):
        portion = int(left * weights[i] / sum(weights[i:]))
        whole = share.view.whole_cost - share.cost
        left -= share.grow(whole if whole <= min(left, WHOLE_TEXT_FACTOR * portion) else portion)
    for share in shares:
        if len(share.kept) < len(share.view.lines):
            left -= share.grow(left)
    return left


def _write_note(omitted: Sequence[str], left: int, count: TokenCounter) -> str:
    """Write which hits are not shown, as many of them as fit."""
    note = f"... {len(omitted)} more hits" if len(omitted) > 1 else "... 1 more hit"
    if not omitted or count(note + "\n") > left:
        return ""
    for position, id in enumerate(omitted):
        longer = f"{note}{', ' if position else ': '}{id}"
        if count(longer + "\n") > left:
            break
        note = longer
    return note


def _assemble(
    hits: Sequence[PackedHit],
    omitted: Sequence[str],
    note: str,
    budget: int,
    count: TokenCounter,
) -> Packed:
    """Put hits and note together; a counter that adds up over lines need not count the hits again."""
    lines: list[str] = []
    for hit in hits:
        lines += hit.lines
        lines += [""] if len(hit.lines) > 1 else []
    whole = "\n".join([*lines, note])
    text = whole.rstrip("\n")
    if count is estimate_tokens:
        tokens = sum(hit.tokens for hit in hits) + count(note) - (len(whole) - len(text))
    else:
        tokens = count(text)
    return Packed(tuple(hits), tuple(omitted), tuple(list_cut_ranges(hits)), text, tokens, budget)


def _pack_location(hits: Sequence[SearchResult], budget: int, count: TokenCounter) -> Packed:
    """Pack the location of the first hit, or where it begins: never half a path or number, which is another one."""
    first = hits[0]
    id = format_location(first)
    text = next(
        (text for text in (id, f"{format_path(first)}:{first.start_line}") if count(text) <= budget),
        UNNAMED_HIT,
    )
    text = text if count(text) <= budget else ""
    hit = PackedHit(first, Detail.IDS, (text,), ((first.start_line, first.end_line),), count(text))
    return Packed((hit,), tuple(map(format_location, hits[1:])), (id,), text, count(text), budget)
