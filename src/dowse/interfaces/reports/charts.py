"""Charts as inline SVG (bars, histogram, curves, forest plot) for the HTML report, without scripts.

No font and nothing from elsewhere; colours are classes of the page's style sheet.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

WIDE_UNITS = 680
"""Width of a chart as wide as the page, which scales it to its column."""

NARROW_UNITS = 460
"""Width of a chart that has half of the page."""

LABEL_UNITS = 150
"""Width of the names at the left."""

VALUE_UNITS = 175
"""Width of the numbers at the right."""

BAR_UNITS = 16
GAP_UNITS = 6
GROUP_GAP_UNITS = 10


class Bar(NamedTuple):
    """A value with its interval."""

    value: float
    low: float
    high: float
    label: str


def draw_bars(groups: Sequence[tuple[str, Sequence[Bar]]]) -> str:
    """Draw groups of horizontal bars from 0 to 1 with their intervals; the n-th of each group has the n-th colour."""
    parts: list[str] = []
    y = 4
    room = WIDE_UNITS - LABEL_UNITS - VALUE_UNITS
    for name, group in groups:
        middle = y + (len(group) * (BAR_UNITS + GAP_UNITS) - GAP_UNITS) / 2 + 4
        parts.append(_text(LABEL_UNITS - 10, middle, name, "end"))
        for place, bar in enumerate(group):
            at, end = LABEL_UNITS, LABEL_UNITS + room * min(1.0, bar.value)
            low, high = (LABEL_UNITS + room * min(1.0, max(0.0, edge)) for edge in (bar.low, bar.high))
            parts.append(
                f'<rect class="track" x="{at}" y="{y}" width="{room}" height="{BAR_UNITS}" rx="3"/>'
                f'<rect class="c{place % 6}" x="{at}" y="{y}" width="{end - at:.1f}" height="{BAR_UNITS}" rx="3"/>'
                f'<path class="whisker" d="M{low:.1f} {y + BAR_UNITS / 2}H{high:.1f}M{low:.1f} {y + 4}v{BAR_UNITS - 8}'
                f'M{high:.1f} {y + 4}v{BAR_UNITS - 8}"/>'
            )
            parts.append(_text(LABEL_UNITS + room + 10, y + BAR_UNITS - 4, bar.label, "start", "num"))
            y += BAR_UNITS + GAP_UNITS
        y += GROUP_GAP_UNITS
    return _svg(y, parts, "values with 95 % intervals")


def draw_columns(bins: Sequence[tuple[str, Sequence[int]]]) -> str:
    """Draw a histogram: groups of upright bars with their numbers on top."""
    height, floor, top = 220, 190, 24
    most = max((number for _, numbers in bins for number in numbers), default=0) or 1
    slot = (NARROW_UNITS - 20) / max(1, len(bins))
    parts = [f'<path class="axis" d="M10 {floor}H{NARROW_UNITS - 10}"/>']
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
    return _svg(height, parts, "number of queries by rank of the first right result", NARROW_UNITS)


def draw_curves(names: Sequence[str], lines: Sequence[Sequence[float]]) -> str:
    """Draw lines from 0 to 1 over evenly spaced, named steps."""
    height, floor, top, left = 250, 205, 16, 44
    step = (NARROW_UNITS - left - 40) / max(1, len(names) - 1)
    parts = []
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = floor - (floor - top) * tick
        parts.append(f'<path class="grid" d="M{left} {y:.1f}H{NARROW_UNITS - 20}"/>')
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
    parts.append(_text((left + NARROW_UNITS - 20) / 2, floor + 38, "tokens", "middle", "faint"))
    return _svg(height, parts, "recall within a number of tokens", NARROW_UNITS)


def draw_forest(rows: Sequence[tuple[str, Bar]]) -> str:
    """Draw differences with their intervals around zero (a forest plot)."""
    reach = max((max(abs(bar.low), abs(bar.high)) for _, bar in rows), default=0.0) or 0.01
    room = WIDE_UNITS - LABEL_UNITS - VALUE_UNITS - 20
    zero = LABEL_UNITS + room / 2
    bottom = 8 + len(rows) * 26
    parts = [f'<path class="axis" d="M{zero} 4V{bottom}"/>']
    for place, (name, bar) in enumerate(rows):
        y = 20 + place * 26
        low, middle, high = (zero + edge / reach * room / 2 for edge in (bar.low, bar.value, bar.high))
        look = "good" if bar.low > 0 else "bad" if bar.high < 0 else "even"
        parts.append(_text(LABEL_UNITS - 10, y + 4, name, "end"))
        parts.append(
            f'<path class="range {look}" d="M{low:.1f} {y}H{high:.1f}M{low:.1f} {y - 4}v8M{high:.1f} {y - 4}v8"/>'
            f'<circle class="dot {look}" cx="{middle:.1f}" cy="{y}" r="5"/>'
        )
        parts.append(_text(WIDE_UNITS - VALUE_UNITS, y + 4, bar.label, "start", "num"))
    parts.append(_text(zero, bottom + 16, "0", "middle", "num"))
    parts.append(_text(LABEL_UNITS, bottom + 16, f"-{reach:.2f}", "start", "num"))
    parts.append(_text(LABEL_UNITS + room, bottom + 16, f"+{reach:.2f}", "end", "num"))
    return _svg(bottom + 24, parts, "differences with 95 % intervals")


def draw_legend(names: Sequence[str]) -> str:
    """Draw which colour is which run; nothing for a single run."""
    if len(names) < 2:
        return ""
    items = (f'<span><i class="swatch s{i % 6}"></i>{escape(name)}</span>' for i, name in enumerate(names))
    return f'<p class="legend">{"".join(items)}</p>'


def _svg(height: float, parts: Iterable[str], label: str, width: int = WIDE_UNITS) -> str:
    return f'<svg viewBox="0 0 {width} {height:.0f}" role="img" aria-label="{escape(label)}">{"".join(parts)}</svg>'


def _text(x: float, y: float, text: str, anchor: str, look: str = "") -> str:
    kind = f' class="{look}"' if look else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{kind}>{escape(text)}</text>'
