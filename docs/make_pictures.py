"""Make the pictures of the terminal in ``images/`` from the real program: ``python docs/make_pictures.py``.

Every command runs in a terminal of its own, 80 and 120 columns wide, on the installed sources of click, and what it
prints is drawn by rich in a dark and a light theme. The session shows one command after the other.
"""

from __future__ import annotations

import fcntl
import importlib.util
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import DEFAULT_TERMINAL_THEME, SVG_EXPORT_THEME, TerminalTheme
from rich.text import Text

IMAGES = Path(__file__).parent / "images"
WIDTHS = (80, 120)
HEIGHT = 40
SESSION_WIDTH = 100
SECONDS_PER_FRAME = 4
THEMES: dict[str, TerminalTheme] = {"dark": SVG_EXPORT_THEME, "light": DEFAULT_TERMINAL_THEME}

PAGES: dict[str, Sequence[str]] = {
    "answer": ("where are the options of a command parsed", "-n", "5", "--pager", "never"),
    "guesses": ("kubernetes ingress annotations", "--pager", "never"),
    "explain": ("get_current_context", "-n", "2", "--explain", "--pager", "never"),
}
SESSION: Sequence[Sequence[str]] = (
    ("how does prompting hide a password", "-n", "3", "--pager", "never"),
    ("callers", "style", "-n", "8"),
    ("Context.invoke -is:test", "-n", "2", "--pager", "never"),
)
_QUOTED = re.compile(r"[^\w./:=-]")


def run_in_terminal(arguments: Sequence[str], folder: Path, width: int) -> str:
    """Run dowse in a terminal of a width, and return what it prints, with its colours."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", HEIGHT, width, 0, 0))
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("DOWSE_", "NO_COLOR"))}
    home = str(folder.parent)
    environment = kept | {
        "HOME": home,
        "XDG_CACHE_HOME": home,
        "XDG_CONFIG_HOME": home,
        "TERM": "xterm-256color",
    }
    command = [sys.executable, "-m", "dowse", *arguments]
    process = subprocess.Popen(
        command, cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    )
    os.close(theirs)
    parts = []
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        parts.append(part)
    process.wait()
    os.close(ours)
    return b"".join(parts).decode("utf-8", "replace").replace("\r\n", "\n")


def draw(texts: Sequence[str], width: int, theme: TerminalTheme, name: str, height: int = 0) -> str:
    """Draw what was typed and printed as an SVG; shorter texts are filled up to a height."""
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        console = Console(
            record=True, width=width, file=nowhere, force_terminal=True, color_system="truecolor"
        )
        for text in texts:
            console.print(Text.from_ansi(text), no_wrap=True, crop=True, overflow="crop", soft_wrap=True)
        for _ in range(height - count_lines(texts)):
            console.print()
        return console.export_svg(title="dowse", theme=theme, unique_id=name)


def count_lines(texts: Sequence[str]) -> int:
    """Count the lines of some texts."""
    return sum(text.count("\n") + 1 for text in texts)


def show_command(arguments: Sequence[str]) -> str:
    """Write a command as it is typed."""
    typed = [argument for argument in arguments if argument not in ("--pager", "never")]
    words = [f'"{word}"' if _QUOTED.search(word) else word for word in typed]
    return "\x1b[1m$ dowse " + " ".join(words) + "\x1b[0m"


def join_frames(frames: Sequence[str]) -> str:
    """Join drawings of one size into one that shows them in turn."""
    opened = re.match(r'<svg[^>]*viewBox="([^"]*)"[^>]*>', frames[0])
    assert opened
    total, share = SECONDS_PER_FRAME * len(frames), 100 / len(frames)
    style = (
        f".frame {{ visibility: hidden; animation: turn {total}s steps(1) infinite; }}\n"
        f"@keyframes turn {{ 0% {{ visibility: visible; }} {share:.3f}% {{ visibility: hidden; }} }}\n"
        "@media (prefers-reduced-motion: reduce) "
        "{ .frame { animation: none; } .frame:last-of-type { visibility: visible; } }"
    )
    groups = [
        f'<g class="frame" style="animation-delay: {n * SECONDS_PER_FRAME}s">\n{frame}\n</g>'
        for n, frame in enumerate(frames)
    ]
    head = f'<svg viewBox="{opened[1]}" xmlns="http://www.w3.org/2000/svg">\n<style>{style}</style>'
    return "\n".join([head, *groups, "</svg>\n"])


def copy_sources(folder: Path) -> Path:
    """Copy the installed sources of click into a folder."""
    found = importlib.util.find_spec("click")
    assert found and found.origin
    target = folder / "click"
    shutil.copytree(
        Path(found.origin).parent, target / "src" / "click", ignore=shutil.ignore_patterns("__pycache__")
    )
    return target


def main() -> None:
    """Make every picture."""
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        tree = copy_sources(Path(folder))
        run_in_terminal(("index",), tree, WIDTHS[0])
        for page, arguments in PAGES.items():
            for width in WIDTHS:
                texts = [show_command(arguments), run_in_terminal(arguments, tree, width).rstrip("\n")]
                for theme, colours in THEMES.items():
                    name = f"terminal-{page}-{width}-{theme}"
                    (IMAGES / f"{name}.svg").write_text(draw(texts, width, colours, name), encoding="utf-8")
        shown = [
            [show_command(arguments), run_in_terminal(arguments, tree, SESSION_WIDTH).rstrip("\n")]
            for arguments in SESSION
        ]
        height = max(map(count_lines, shown))
        frames = [
            draw(texts, SESSION_WIDTH, SVG_EXPORT_THEME, f"session-{n}", height)
            for n, texts in enumerate(shown)
        ]
        (IMAGES / "session.svg").write_text(join_frames(frames), encoding="utf-8")


if __name__ == "__main__":
    main()
