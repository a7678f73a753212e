"""The file page: highlighted windows of a file, its outline and the tree of files, the raw text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from dowse.engine import Engine
from dowse.interfaces.http.problems import HttpProblem
from dowse.interfaces.web.code_view import WINDOW_LINES, code_list, highlight
from dowse.interfaces.web.file_history_view import (
    SHOWN_HASH,
    find_link_commit,
    history_part,
    load_text_at,
    render_blame,
)
from dowse.interfaces.web.folder_tree import breadcrumbs, folder_page, render_tree
from dowse.interfaces.web.html_builder import Html, element
from dowse.interfaces.web.page_frame import PageRequest, address, file_address, full_page
from dowse.types.source import Entity
from dowse.types.stored import StoredFile

MAX_OUTLINE_ROWS = 2000

MAX_FOUND_ROWS = 200

MAX_FOUND_CHARS = 200
"""Lines that finding a text in a file lists, and what is shown of each."""


class ShownFile(NamedTuple):
    """A file as the page shows it: as it is, or as a commit has it."""

    engine: Engine
    repository: str
    file: StoredFile
    lines: Sequence[str]
    commit: str = ""
    with_blame: bool = False

    @property
    def path(self) -> str:
        """The path of the file."""
        return self.file.path

    @property
    def entities(self) -> Sequence[Entity]:
        """The definitions of the file, whose lines are known only as it is now."""
        return () if self.commit else self.file.parsed.entities


def file_page(request: PageRequest) -> str:
    """Make the page of a file, or of a folder."""
    repository, path = split_file_path(request)
    engine = request.served.ready_engine(request.caller, repository)
    engine.refresh()
    loaded = engine.load_file(path) if path else None
    if loaded is None:
        return folder_page(request, engine, repository, path.rstrip("/"))
    file, text = loaded
    if commit := request.get("at"):
        text = load_text_at(engine, path, commit)
    with_blame = bool(request.get("blame")) and not commit
    shown = ShownFile(engine, repository, file, split_lines(text), commit, with_blame)
    part = request.get("part")
    if part == "window":
        return _render_window(shown, request.get_number("first", 1, 1, len(shown.lines)))
    if part == "find":
        return _render_found(request.get("find"), shown.lines)
    if part == "history":
        return history_part(engine, repository, path)
    if part == "commit":
        return find_link_commit(engine, path)
    code = element("div", _render_head(request, shown), _render_windows(request, shown), class_="file-body")
    panel = element("aside", id="panel", class_="panel", aria_label="Symbol", aria_live="polite", hidden=True)
    main = element(
        "div", _render_side(shown), code, panel, class_="file-view", data_repo=repository, data_path=path
    )
    return full_page(request, path, main, kind="file")


def split_file_path(request: PageRequest) -> tuple[str, str]:
    """Split the rest of an address into a repository, whose name may have slashes, and a path."""
    rest = request.get("rest")
    for name in sorted(request.served.folders(request.caller), key=len, reverse=True):
        if rest == name or rest.startswith(f"{name}/"):
            return name, rest[len(name) + 1 :]
    raise HttpProblem(404, "there is no such repository here")


def split_lines(text: str) -> list[str]:
    """Split a text into its lines; the end of the last one begins none."""
    lines = text.split("\n")
    return lines[:-1] if len(lines) > 1 and not lines[-1] else lines


def editor_link(request: PageRequest, engine: Engine, place: str) -> str:
    """Return the address that opens a place in the user's editor; empty if none is configured."""
    path, _, line = place.partition(":")
    template = request.served.editor_url
    file = quote(str(Path(engine.root) / path))
    return template.replace("{path}", file).replace("{line}", line or "1")


# --- the head: what file this is, and what can be done with it ---


def _render_head(request: PageRequest, shown: ShownFile) -> Html:
    wanted = request.get("find")
    label = "Find in this file"
    box = element("input", type="search", name="find", value=wanted, placeholder=label, aria_label=label)
    bar = element(
        "div",
        element("h1", breadcrumbs(shown.repository, shown.path), class_="crumbs"),
        element("form", box, method="get", class_="find"),
        class_="file-bar",
    )
    return element(
        "header",
        bar,
        element(
            "div",
            element("p", _describe_file(shown), class_="soft"),
            _render_tools(request, shown),
            class_="tools",
        ),
        _render_commit_note(shown) if shown.commit else None,
        _render_found(wanted, shown.lines) if wanted else None,
        class_="file-head",
    )


def _render_tools(request: PageRequest, shown: ShownFile) -> Html:
    repository, path, commit = shown.repository, shown.path, shown.commit
    line = request.get_number("line", 1, 1, len(shown.lines))
    editor = editor_link(request, shown.engine, f"{path}:{line}")
    blame = (
        element("a", "Blame", href=address(request.path, blame="" if shown.with_blame else 1),
                aria_current="true" if shown.with_blame else None, class_="show-blame")
        if not commit
        else None
    )  # fmt: skip
    return element(
        "p",
        element("a", "Graph", href=address("/graph", repo=repository, node=path)),
        element("a", "Related", href=address("/related", repo=repository, place=path)),
        element("button", "History", type="button", class_="show-history"),
        blame,
        element("a", "Raw", href=address("/raw", repo=repository, path=path, at=commit)),
        element("a", "Open in editor", href=editor, class_="editor") if editor else None,
        element("button", "Copy link", type="button", class_="copy-link"),
        element("button", "Copy permalink", type="button", class_="copy-permalink") if not commit else None,
        element("button", "Copy for an agent", type="button", class_="copy-agent"),
        class_="links",
    )


def _render_commit_note(shown: ShownFile) -> Html:
    now = element("a", "show it as it is now", href=file_address(shown.repository, shown.path))
    return element("p", "As of commit ", element("code", shown.commit[:SHOWN_HASH]), ": ", now, class_="note")


def _describe_file(shown: ShownFile) -> str:
    file = shown.file
    parts = [file.parsed.language, f"{len(shown.lines):,} lines"]
    if not shown.commit:
        parts += [f"{len(file.parsed.entities):,} definitions", file.role.value]
        parts += [] if file.parsed.health == "ok" else [f"parsed: {file.parsed.health.value}"]
    return ", ".join(parts)


def _render_found(wanted: str, lines: Sequence[str]) -> Html:
    """Render the lines that have a text, in any letter case unless it has capitals."""
    is_exact = wanted != wanted.lower()
    found = [number for number, line in enumerate(lines, 1) if wanted in (line if is_exact else line.lower())]
    rows = [
        element(
            "li",
            element("a", str(number), href=f"?line={number}#L{number}"),
            " ",
            element("code", lines[number - 1].strip()[:MAX_FOUND_CHARS]),
        )
        for number in found[:MAX_FOUND_ROWS]
    ]
    many = f", the first {MAX_FOUND_ROWS} of them" if len(found) > MAX_FOUND_ROWS else ""
    title = element("h2", f"{len(found):,} line{'s' if len(found) != 1 else ''} with {wanted}{many}")
    return element("section", title, element("ul", rows, class_="places found"))


# --- the lines ---


def _render_windows(request: PageRequest, shown: ShownFile) -> Html:
    """Render the window that is asked for, and places for the others, which the page fills as they come into view."""
    count = len(shown.lines)
    current = (request.get_number("line", 1, 1, count) - 1) // WINDOW_LINES
    windows = []
    for number in range(-(-count // WINDOW_LINES)):
        first, last = number * WINDOW_LINES + 1, min(count, (number + 1) * WINDOW_LINES)
        href = address(request.path, line=first, at=shown.commit, blame=int(shown.with_blame))
        inner = (
            _render_window(shown, first)
            if number == current
            else element("a", f"Lines {first} to {last}", href=href, class_="later")
        )
        windows.append(
            element(
                "div",
                inner,
                class_="window" if number == current else "window waiting",
                data_first=first,
                data_last=last,
            )
        )
    kind = "code-box with-blame" if shown.with_blame else "code-box"
    return element("div", windows, class_=kind, tabindex="0", role="region", aria_label="Code")


def _render_window(shown: ShownFile, first: int) -> Html:
    last = min(len(shown.lines), first + WINDOW_LINES - 1)
    code = highlight(shown.lines, shown.file.parsed.language, first, last, shown.entities)
    blame = render_blame(shown.engine, shown.repository, shown.path, first, last) if shown.with_blame else ()
    return code_list(code, anchors=True, before=blame)


# --- the side: all files, and the definitions of this one ---


def _render_side(shown: ShownFile) -> Html:
    files = element(
        "details",
        element("summary", "Files"),
        element("nav", render_tree(shown.repository, shown.engine.paths(), shown.path), aria_label="Files"),
        open=True,
        class_="pane file-tree",
    )
    return element(
        "aside", files, _render_outline(shown), class_="side file-side", aria_label="Files and outline"
    )


def _render_outline(shown: ShownFile) -> Html | None:
    """Render the definitions of a file, nested as they are."""
    rows = []
    for entity in shown.entities[:MAX_OUTLINE_ROWS]:
        depth = min(entity.qualified.count("."), 5)
        kind = entity.kind.value
        link = element(
            "a", entity.name, href=f"#L{entity.start_line}", title=entity.signature or entity.qualified
        )
        ask = element(
            "button",
            "\N{HORIZONTAL ELLIPSIS}",
            type="button",
            class_="ask",
            data_name=entity.qualified,
            aria_label=f"definition and callers of {entity.qualified}",
        )
        letter = element("span", kind[:1].upper(), class_=f"kind-letter {kind}", title=kind)
        rows.append(element("li", letter, link, ask, class_=f"depth-{depth}"))
    if not rows:
        return None
    label = "Filter the outline"
    filter_box = element("input", type="search", class_="filter", placeholder=label, aria_label=label)
    return element(
        "details",
        element("summary", "Outline"),
        filter_box,
        element("ul", rows, class_="outline"),
        open=True,
        class_="pane",
    )


def raw_text(request: PageRequest) -> str:
    """Return the text of a file as the index has it, or as a commit has it: secrets are masked."""
    engine, path = request.engine, request.get("path")
    if commit := request.get("at"):
        return load_text_at(engine, path, commit)
    loaded = engine.load_file(path)
    if loaded is None:
        raise HttpProblem(404, f"{path} is not in the index")
    return loaded[1]
