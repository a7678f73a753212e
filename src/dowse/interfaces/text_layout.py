"""Text formatting: pluralized counts, byte sizes, aligned table columns."""

from __future__ import annotations

from collections.abc import Sequence


def format_count(number: int, noun: str, plural: str = "") -> str:
    """Format a number with its noun: ``1 file``, ``2 files``."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def format_table(rows: Sequence[Sequence[str]]) -> str:
    """Align rows in columns; the last column is not padded."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][:-1] if rows else []
    return "\n".join(
        "  ".join([*(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False)), row[-1]]).rstrip()
        for row in rows
    )


def format_size(number: float) -> str:
    """Format a number of bytes: ``512 bytes``, ``1.5 MB``."""
    for unit in ("bytes", "kB", "MB"):
        if number < 1000:
            return f"{number:.0f} {unit}" if unit == "bytes" else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} GB"
