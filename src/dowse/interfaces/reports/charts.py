"""Charts as inline SVG: no script, no font, nothing from elsewhere. Colours are classes of the page's style sheet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

WIDTH = 680
"""Units across; a page scales it to its column."""

NARROW = 460
"""The same of a chart that has half a page."""

LABELS = 150
"""Units for the names at the left."""

VALUES = 175
"""Units for the numbers at the right."""

BAR = 16
GAP = 6
GROUP_GAP = 10


class Bar(NamedTuple):
    """A value with its interval."""

    value: float
    low: float
    high: float
    said: str


def bars(groups: Sequence[tuple[str, Sequence[Bar]]]) -> str:
    """Groups of horizontal bars from 0 to 1 with their intervals; the n-th of each group has the n-th colour."""
    parts: list[str] = []
    y = 4
    room = WIDTH - LABELS - VALUES
    for name, group in groups:
        middle = y + (len(group) * (BAR + GAP) - GAP) / 2 + 4
        parts.append(_text(LABELS - 10, middle, name, "end"))
        for place, bar in enumerate(group):
            at, end = LABELS, LABELS + room * min(1.0, bar.value)
            low, high = (LABELS + room * min(1.0, max(0.0, edge)) for edge in (bar.low, bar.high))
            parts.append(
                f'<rect class="track" x="{at}" y="{y}" width="{room}" height="{BAR}" rx="3"/>'
                f'<rect class="c{place % 6}" x="{at}" y="{y}" width="{end - at:.1f}" height="{BAR}" rx="3"/>'
                f'<path class="whisker" d="M{low:.1f} {y + BAR / 2}H{high:.1f}M{low:.1f} {y + 4}v{BAR - 8}'
                f'M{high:.1f} {y + 4}v{BAR - 8}"/>'
            )
            parts.append(_text(LABELS + room + 10, y + BAR - 4, bar.said, "start", "num"))
            y += BAR + GAP
        y += GROUP_GAP
    return _svg(y, parts, "values with 95 % intervals")


def columns(bins: Sequence[tuple[str, Sequence[int]]]) -> str:
    """How many of what: groups of upright bars with their numbers on top."""
    height, floor, top = 220, 190, 24
    most = max((number for _, numbers in bins for number in numbers), default=0) or 1
    slot = (NARROW - 20) / max(1, len(bins))
    parts = [f'<path class="axis" d="M10 {floor}H{NARROW - 10}"/>']
    for place, (name, numbers) in enumerate(bins):
        left = 10 + place * slot
        width = min(46.0, (slot - 14) / max(1, len(numbers)))
        start = left + (slot - width * len(numbers)) / 2
        for which, number in enumerate(numbers):
            tall = (floor - top) * number / most
            x = start + which * width
            parts.append(
                f'<rect class="c{which % 6}" x="{x + 1:.1f}" y="{floor - tall:.1f}" width="{width - 2:.1f}" '
                f'height="{tall:.1f}" rx="2"/>'
            )
            parts.append(_text(x + width / 2, floor - tall - 5, str(number), "middle", "num"))
        parts.append(_text(left + slot / 2, floor + 18, name, "middle"))
    return _svg(height, parts, "number of questions by rank of the first right result", NARROW)


def curves(names: Sequence[str], lines: Sequence[Sequence[float]]) -> str:
    """Lines from 0 to 1 over evenly spaced, named steps."""
    height, floor, top, left = 250, 205, 16, 44
    step = (NARROW - left - 40) / max(1, len(names) - 1)
    parts = []
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = floor - (floor - top) * tick
        parts.append(f'<path class="grid" d="M{left} {y:.1f}H{NARROW - 20}"/>')
        parts.append(_text(left - 8, y + 4, f"{tick:g}", "end", "num"))
    for place, name in enumerate(names):
        parts.append(_text(left + place * step, floor + 18, name, "middle"))
    for which, values in enumerate(lines):
        points = [(left + i * step, floor - (floor - top) * value) for i, value in enumerate(values)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline class="line l{which % 6}" points="{path}"/>')
        parts += [f'<circle class="c{which % 6}" cx="{x:.1f}" cy="{y:.1f}" r="4"/>' for x, y in points]
        if len(lines) == 1:
            parts += [
                _text(x, y - 9, f"{v:.2f}", "middle", "num") for (x, y), v in zip(points, values, strict=True)
            ]
    parts.append(_text((left + NARROW - 20) / 2, floor + 38, "tokens", "middle", "faint"))
    return _svg(height, parts, "recall within a number of tokens", NARROW)


def forest(rows: Sequence[tuple[str, Bar]]) -> str:
    """Differences with their intervals around zero."""
    reach = max((max(abs(bar.low), abs(bar.high)) for _, bar in rows), default=0.0) or 0.01
    room = WIDTH - LABELS - VALUES - 20
    zero = LABELS + room / 2
    bottom = 8 + len(rows) * 26
    parts = [f'<path class="axis" d="M{zero} 4V{bottom}"/>']
    for place, (name, bar) in enumerate(rows):
        y = 20 + place * 26
        low, middle, high = (zero + edge / reach * room / 2 for edge in (bar.low, bar.value, bar.high))
        look = "good" if bar.low > 0 else "bad" if bar.high < 0 else "even"
        parts.append(_text(LABELS - 10, y + 4, name, "end"))
        parts.append(
            f'<path class="range {look}" d="M{low:.1f} {y}H{high:.1f}M{low:.1f} {y - 4}v8M{high:.1f} {y - 4}v8"/>'
            f'<circle class="dot {look}" cx="{middle:.1f}" cy="{y}" r="5"/>'
        )
        parts.append(_text(WIDTH - VALUES, y + 4, bar.said, "start", "num"))
    parts.append(_text(zero, bottom + 16, "0", "middle", "num"))
    parts.append(_text(LABELS, bottom + 16, f"-{reach:.2f}", "start", "num"))
    parts.append(_text(LABELS + room, bottom + 16, f"+{reach:.2f}", "end", "num"))
    return _svg(bottom + 24, parts, "differences with 95 % intervals")


def legend(names: Sequence[str]) -> str:
    """Which colour is which run; nothing for one."""
    if len(names) < 2:
        return ""
    items = (f'<span><i class="swatch s{i % 6}"></i>{escape(name)}</span>' for i, name in enumerate(names))
    return f'<p class="legend">{"".join(items)}</p>'


def _svg(height: float, parts: Iterable[str], label: str, width: int = WIDTH) -> str:
    return f'<svg viewBox="0 0 {width} {height:.0f}" role="img" aria-label="{escape(label)}">{"".join(parts)}</svg>'


def _text(x: float, y: float, said: str, anchor: str, look: str = "") -> str:
    kind = f' class="{look}"' if look else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{kind}>{escape(said)}</text>'
