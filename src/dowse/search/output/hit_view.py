"""Snippet layout of one hit: its header, its lines in order of importance, and what each part costs in tokens."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise

from dowse.code import tokens
from dowse.search.output.token_estimate import TokenCounter, estimate_tokens
from dowse.types.answers import Detail, PackedHit, SearchResult

PREVIEW_LINES = 8
"""Lines of a hit in a preview."""

MIN_TEXT_LINES = 3
"""Fewer lines of a long text say nothing that its signature does not say."""

MAX_LINE_CHARS = 300
"""Characters of a line that are shown: what is longer was not written by a person."""

MAX_SIGNATURE_CHARS = 200
MAX_SIGNATURE_LINES = 6
"""How long a signature may be, and within how many lines of the text it is looked for."""

NEIGHBOR_LINES = 2
"""Lines on either side of a good line that make it readable."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_BLANKS = re.compile(r"\s+")

HitLabel = Callable[[SearchResult], str]
"""Makes the text that follows the name of a hit in its header."""


def omit_label(hit: SearchResult) -> str:
    """Add nothing to the name."""
    return ""


def format_location(hit: SearchResult) -> str:
    """Format ``path:start-end``, by which a hit can be read again."""
    return format_range(hit, hit.start_line, hit.end_line)


def render_hit(hit: SearchResult, detail: Detail, words: Collection[str] = ()) -> tuple[str, ...]:
    """Render a hit at a level of detail; ``words`` are the stems of the query, by which a preview chooses lines."""
    if detail is Detail.IDS:
        return (format_location(hit),)
    view = HitView(hit, words, estimate_tokens)
    if detail is Detail.SIGNATURE:
        return (view.header,)
    if detail is Detail.FULL:
        return tuple(view.render(range(len(view.lines))))
    return tuple(view.render(view.line_order[:PREVIEW_LINES]))


class _QueryWordMemo(dict[str, frozenset[str]]):
    """The words of a query in each run of text, remembered: most runs come again and again."""

    def __init__(self, words: frozenset[str]) -> None:
        self._words = words

    def __missing__(self, run: str) -> frozenset[str]:
        shared = self[run] = self._words.intersection(tokens.tokenize_runs((run,)).split())
        return shared


@lru_cache(maxsize=2)
def _find_memo(words: frozenset[str]) -> _QueryWordMemo:
    """Find the memo of the last queries."""
    return _QueryWordMemo(words)


class HitView:
    """A hit as header and lines, with what its parts cost in tokens."""

    def __init__(
        self, hit: SearchResult, words: Collection[str], count: TokenCounter, label: HitLabel = omit_label
    ) -> None:
        self.hit = hit
        self.words = frozenset(words)
        self.count = count
        self.name = format_location(hit) + _format_name(hit) + label(hit)
        self.signature = _join_lines(hit.signature or _find_first_line(hit.text))[:MAX_SIGNATURE_CHARS]
        self.header = f"{self.name}: {self.signature}" if self.signature else self.name

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the text, long ones shortened."""
        return [_shorten(line) for line in self.hit.text.split("\n")] if self.hit.text else []

    @cached_property
    def cut_lines(self) -> frozenset[int]:
        """The indexes of the lines that are shortened."""
        return frozenset(i for i, line in enumerate(self.hit.text.split("\n")) if len(line) > MAX_LINE_CHARS)

    @cached_property
    def signature_lines(self) -> int:
        """How many lines from the top hold the signature, which then need not be in the header; 0 if they do not."""
        wanted = _BLANKS.sub("", self.signature)
        seen = ""
        for number, line in enumerate(self.lines[:MAX_SIGNATURE_LINES], 1):
            seen += _BLANKS.sub("", line)
            if wanted and wanted in seen:
                return number
        return 0

    @cached_property
    def line_order(self) -> list[int]:
        """The indexes of the lines, most important first, each good one with those around it."""
        return self.order_lines(NEIGHBOR_LINES)

    def order_lines(self, neighbors: int) -> list[int]:
        """Order lines by importance: the signature, those with words of the query and their neighbors, the rest."""
        lines, offsets = self.lines, sorted(range(-neighbors, neighbors + 1), key=abs)
        found = self.words_by_line if self.words else []
        common = Counter(word for here in found for word in here)
        scores = {i: sum(1 / common[word] for word in here) for i, here in enumerate(found) if here}
        order = dict.fromkeys(range(self.signature_lines))
        for best in sorted(scores, key=lambda i: (-scores[i], i)):
            if len(order) == len(lines):
                break
            order.update(dict.fromkeys(best + step for step in offsets if 0 <= best + step < len(lines)))
        order.update(dict.fromkeys(range(len(lines))))
        return list(order)

    @property
    def words_by_line(self) -> list[set[str]]:
        """The words of the query in each line."""
        memo = _find_memo(self.words)
        return [
            set().union(*map(memo.__getitem__, runs)) for runs in tokens.split_runs_by_line(self.hit.text)
        ]

    @cached_property
    def costs(self) -> list[int]:
        """The cost of each line."""
        return [self.count(line + "\n") for line in self.lines]

    @cached_property
    def header_cost(self) -> int:
        """The cost of the header alone."""
        return self.count(self.header + "\n")

    @cached_property
    def frame_cost(self) -> int:
        """The cost besides the lines when text is shown: the header, and the empty line after the text."""
        return self.count((self.name if self.signature_lines else self.header) + "\n") + self.count("\n")

    @cached_property
    def gap_cost(self) -> int:
        """The most that a mark for skipped lines costs."""
        last = self.hit.start_line + len(self.lines)
        return self.count(f"... {last} lines ({last}-{last})\n")

    @cached_property
    def whole_cost(self) -> int:
        """The cost of the hit with all of its text."""
        return self.frame_cost + self.count("\n".join(self.lines) + "\n") if self.lines else self.header_cost

    @cached_property
    def prefix_costs(self) -> list[int]:
        """The cost of the hit with the first n lines of the order, by n."""
        count = len(self.lines)
        unseen = [False, *([True] * count), False]  # by line, with one beyond each end
        lines, gaps = self.frame_cost, 1
        costs = [self.header_cost]
        for i in self.line_order:
            unseen[i + 1] = False
            gaps += unseen[i] + unseen[i + 2] - 1
            lines += self.costs[i]
            costs.append(lines + self.gap_cost * gaps)
        costs[count] = self.whole_cost
        return costs

    def cost(self, kept: Sequence[int]) -> int:
        """Compute the cost with these lines, at most: each mark counts as the longest."""
        if len(kept) == len(self.lines):
            return self.whole_cost
        if not kept:
            return self.header_cost
        return self.frame_cost + sum(self.costs[i] for i in kept) + self.gap_cost * len(self.find_gaps(kept))

    def exact_cost(self, kept: Sequence[int]) -> int:
        """Compute the cost with these lines, each mark as long as it is."""
        gaps = self.find_gaps(kept) if kept else []
        first = self.hit.start_line
        marks = sum(self.count(format_gap(first + a, first + b) + "\n") for a, b in gaps)
        return self.cost(kept) + marks - self.gap_cost * len(gaps)

    def find_gaps(self, kept: Sequence[int]) -> list[tuple[int, int]]:
        """Find the runs of lines that are not shown, as first and last index."""
        edges = [-1, *sorted(kept), len(self.lines)]
        return [(a + 1, b - 1) for a, b in pairwise(edges) if b - a > 1]

    def fit_lines(self, allowance: int) -> Sequence[int]:
        """Choose as many lines as fit with the header, most important first; none if these are too few to help."""
        if self.whole_cost <= allowance:
            return range(len(self.lines))
        if allowance - self.frame_cost < MIN_TEXT_LINES:  # not even empty lines
            return ()
        low, high, costs = 0, len(self.line_order), self.prefix_costs
        while low < high:
            middle = (low + high + 1) // 2
            if costs[middle] <= allowance:
                low = middle
            else:
                high = middle - 1
        enough = low >= max(min(MIN_TEXT_LINES, len(self.lines)), self.signature_lines)
        return self.line_order[:low] if enough else ()

    def render(self, kept: Sequence[int]) -> list[str]:
        """Render the header, these lines, and a mark for each gap between them."""
        if not kept:
            return [self.header]
        pieces = {i: self.lines[i] for i in kept}
        first = self.hit.start_line
        pieces |= {a: format_gap(first + a, first + b) for a, b in self.find_gaps(kept)}
        return [self.name if self.signature_lines else self.header, *(pieces[i] for i in sorted(pieces))]

    def pack_lines(self, kept: Sequence[int]) -> PackedHit:
        """Pack the hit with these lines, and note which are cut."""
        first = self.hit.start_line
        cut = [(first + a, first + b) for a, b in self.find_gaps(kept)] if self.lines else []
        cut += [(first + i, first + i) for i in kept if i in self.cut_lines]
        detail = Detail.SIGNATURE if not kept else Detail.PREVIEW if cut else Detail.FULL
        return PackedHit(
            self.hit, detail, tuple(self.render(kept)), tuple(sorted(cut)), self.exact_cost(kept)
        )


def format_range(hit: SearchResult, first: int, last: int) -> str:
    """Format ``path:first-last`` of some lines of a hit."""
    return f"{format_path(hit)}:{first}-{last}"


def format_path(hit: SearchResult) -> str:
    """Format the path of a hit on one line, with its repository if there are several."""
    repository = f"{hit.repository}:" if hit.repository else ""
    path = hit.path if hit.path.isprintable() else _CONTROL.sub("?", hit.path)
    return f"{repository}{path}"


def _format_name(hit: SearchResult) -> str:
    name = _CONTROL.sub(" ", hit.entity)
    return (f" {name} ({hit.kind})" if name else "") + (
        "" if hit.fresh else " [changed since it was indexed]"
    )


def _join_lines(text: str) -> str:
    if text.isprintable():  # no line breaks, no tabs
        return " ".join(text.split())
    return _BLANKS.sub(" ", _CONTROL.sub(" ", text)).strip()


def _find_first_line(text: str) -> str:
    return next((line.strip() for line in text.split("\n", MAX_SIGNATURE_LINES) if line.strip()), "")


def _shorten(line: str) -> str:
    rest = len(line) - MAX_LINE_CHARS
    return line if rest <= 0 else f"{line[:MAX_LINE_CHARS]} ... {rest} characters"


def format_gap(first: int, last: int) -> str:
    """Format the mark that stands for lines that are not shown."""
    return f"... {last - first + 1} line{'s' if last > first else ''} ({first}-{last})"
