"""The file page: highlighted windows of a file, its outline, the folder tree, a panel for symbols, the raw text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import quote

from dowse.engine import Engine
from dowse.errors import DowseError, UsageError
from dowse.interfaces.http.problems import HttpProblem
from dowse.interfaces.web.code_view import WINDOW_LINES, code_list, highlight
from dowse.interfaces.web.html_builder import Html, element, join
from dowse.interfaces.web.page_frame import PageRequest, address, file_address, full_page
from dowse.types.graph_values import EntityHit, GraphAnswer, Walk
from dowse.types.stored import StoredFile

MAX_PANEL_ROWS = 30
"""Definitions, callers and callees that the symbol panel lists."""

MAX_OUTLINE_ROWS = 2000

MAX_FOUND_ROWS = 200

MAX_FOUND_CHARS = 200
"""Lines that finding a text in a file lists, and what is shown of each."""


def editor_link(request: PageRequest, engine: Engine, place: str) -> str:
    """Return the address that opens a place in the user's editor; empty if none is configured."""
    path, _, line = place.partition(":")
    template = request.served.editor_url
    file = quote(str(Path(engine.root) / path))
    return template.replace("{path}", file).replace("{line}", line or "1")


def split_file_path(request: PageRequest) -> tuple[str, str]:
    """Split the rest of an address into a repository, whose name may have slashes, and a path."""
    rest = request.get("rest")
    for name in sorted(request.served.folders(request.caller), key=len, reverse=True):
        if rest == name or rest.startswith(f"{name}/"):
            return name, rest[len(name) + 1 :]
    raise HttpProblem(404, "there is no such repository here")


def file_page(request: PageRequest) -> str:
    """Make the page of a file, or of a folder."""
    repository, path = split_file_path(request)
    engine = request.served.engine(request.caller, repository)
    engine.refresh()
    loaded = engine.load_file(path) if path else None
    if loaded is None:
        return _folder_page(request, engine, repository, path.rstrip("/"))
    file, text = loaded
    lines = split_lines(text)
    if request.get("part") == "window":
        return _render_window(file, lines, request.get_number("first", 1, 1, len(lines)))
    if request.get("part") == "find":
        return _render_found(request.get("find"), lines)
    place = f"{path}:{request.get_number('line', 1, 1, len(lines))}"
    tools = element(
        "p",
        element("a", "Graph", href=address("/graph", repo=repository, node=path)),
        element("a", "Related", href=address("/related", repo=repository, place=path)),
        element("a", "Raw", href=address("/raw", repo=repository, path=path)),
        element("a", "Open in editor", href=link, class_="editor")
        if (link := editor_link(request, engine, place))
        else None,
        element("button", "Copy link", type="button", class_="copy-link"),
        class_="links",
    )
    wanted = request.get("find")
    find = element(
        "form",
        element(
            "input",
            type="search",
            name="find",
            value=wanted,
            placeholder="Find in this file",
            aria_label="Find in this file",
        ),
        method="get",
        class_="find",
    )
    head = element(
        "header",
        element("h1", breadcrumbs(repository, path), class_="crumbs"),
        element("p", _describe_file(file, len(lines)), class_="soft"),
        element("div", tools, find, class_="tools"),
        _render_found(wanted, lines) if wanted else None,
        class_="file-head",
    )
    code = element("div", head, _render_windows(request, file, lines), class_="file-body")
    panel = element("aside", id="panel", class_="panel", aria_label="Symbol", aria_live="polite", hidden=True)
    side = element(
        "aside", _render_outline(repository, file), class_="side outline-side", aria_label="Outline"
    )
    main = element("div", side, code, panel, class_="file-view", data_repo=repository, data_path=path)
    return full_page(request, path, main, kind="file")


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


def split_lines(text: str) -> list[str]:
    """Split a text into its lines; the end of the last one begins none."""
    lines = text.split("\n")
    return lines[:-1] if len(lines) > 1 and not lines[-1] else lines


def _describe_file(file: StoredFile, count: int) -> str:
    health = "" if file.parsed.health == "ok" else f", parsed: {file.parsed.health.value}"
    definitions = f"{len(file.parsed.entities):,} definitions"
    return f"{file.parsed.language}, {count:,} lines, {definitions}, {file.role.value}{health}"


def breadcrumbs(repository: str, path: str) -> Html:
    """Render the folders above a path as links."""
    parts = path.split("/") if path else []
    links = [element("a", repository, href=file_address(repository, ""))]
    for depth, part in enumerate(parts, 1):
        is_last = depth == len(parts)
        href = file_address(repository, "/".join(parts[:depth]))
        links.append(element("span", part, aria_current="page") if is_last else element("a", part, href=href))
    return join(*(join(" / " if number else "", link) for number, link in enumerate(links)))


def _render_windows(request: PageRequest, file: StoredFile, lines: Sequence[str]) -> Html:
    """Render the window that is asked for, and places for the others, which the page fills as they come into view."""
    line = request.get_number("line", 1, 1, len(lines))
    current = (line - 1) // WINDOW_LINES
    windows = []
    for number in range(-(-len(lines) // WINDOW_LINES)):
        first, last = number * WINDOW_LINES + 1, min(len(lines), (number + 1) * WINDOW_LINES)
        inner = (
            _render_window(file, lines, first)
            if number == current
            else element("a", f"Lines {first} to {last}", href=f"?line={first}", class_="later")
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
    return element("div", windows, class_="code-box", tabindex="0", role="region", aria_label="Code")


def _render_window(file: StoredFile, lines: Sequence[str], first: int) -> Html:
    code = highlight(lines, file.parsed.language, first, first + WINDOW_LINES - 1, file.parsed.entities)
    return code_list(code, anchors=True)


def _render_outline(repository: str, file: StoredFile) -> Html:
    """Render the definitions of a file, nested as they are."""
    rows = []
    for entity in file.parsed.entities[:MAX_OUTLINE_ROWS]:
        depth = min(entity.qualified.count("."), 5)
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
        rows.append(
            element(
                "li",
                element(
                    "span",
                    entity.kind.value[:1].upper(),
                    class_=f"kind-letter {entity.kind.value}",
                    title=entity.kind.value,
                ),
                link,
                ask,
                class_=f"depth-{depth}",
            )
        )
    filter_box = element(
        "input",
        type="search",
        class_="filter",
        placeholder="Filter the outline",
        aria_label="Filter the outline",
    )
    empty = element("p", "No definitions.", class_="soft") if not rows else None
    return element(
        "details",
        element("summary", "Outline"),
        filter_box,
        element("ul", rows, class_="outline"),
        empty,
        open=True,
    )


# --- folders ---


def _folder_page(request: PageRequest, engine: Engine, repository: str, folder: str) -> str:
    """Make the page of a folder: its folders and files that are in the index."""
    prefix = f"{folder}/" if folder else ""
    files: list[str] = []
    folders: dict[str, int] = defaultdict(int)
    for path in engine.paths():
        if path.startswith(prefix):
            name, slash, _ = path[len(prefix) :].partition("/")
            if slash:
                folders[name] += 1
            else:
                files.append(name)
    if not files and not folders:
        raise HttpProblem(
            404, f"{folder or repository} is not in the index: see the index page for what is skipped"
        )
    rows = [
        element(
            "li",
            element("a", f"{name}/", href=file_address(repository, prefix + name), class_="is-folder"),
            element("span", f"{count:,}", class_="count"),
        )
        for name, count in sorted(folders.items())
    ]
    rows += [
        element("li", element("a", name, href=file_address(repository, prefix + name)))
        for name in sorted(files)
    ]
    main = element(
        "section",
        element("h1", breadcrumbs(repository, folder), class_="crumbs"),
        element("ul", rows, class_="tree"),
        class_="folder",
    )
    return full_page(request, folder or repository, main, kind="folder")


def raw_text(request: PageRequest) -> str:
    """Return the text of a file as the index has it: secrets are masked."""
    loaded = request.engine.load_file(request.get("path"))
    if loaded is None:
        raise HttpProblem(404, f"{request.get('path')} is not in the index")
    return loaded[1]


# --- symbols ---


def symbol_part(request: PageRequest) -> str:
    """Make the panel of a symbol: where it is defined, who uses it, what it uses."""
    engine, repository, name = request.engine, request.repository, request.get("name")
    if not name.strip():
        raise UsageError("'name' is missing: the name of a symbol")
    path = request.get("path")
    hits = engine.graph.entities(name, limit=MAX_PANEL_ROWS, content=False)
    exact = [hit for hit in hits if hit.tier in ("id", "exact", "file")] or hits
    exact.sort(key=lambda hit: hit.path != path)
    sections = [element("h2", name), _definitions(repository, exact)]
    if exact:
        sections += _uses(engine, repository, exact[0])
    search = element("a", f"Search for {name}", href=address("/", q=name, repo=request.get("repo")))
    return join(
        element("button", "\N{MULTIPLICATION SIGN}", type="button", class_="close", aria_label="close"),
        sections,
        element("p", search, class_="links"),
    )


def _definitions(repository: str, hits: Iterable[EntityHit]) -> Html:
    rows = [
        element(
            "li",
            element(
                "a",
                hit.id.partition(":")[2] or hit.path,
                href=file_address(repository, hit.path, hit.start_line),
            ),
            element("span", f"{hit.path}:{hit.start_line}", class_="soft"),
        )
        for hit in hits
    ]
    none = element("p", "It is not defined in this repository.", class_="soft") if not rows else None
    return join(element("h3", "Defined"), none, element("ul", rows, class_="places"))


def _uses(engine: Engine, repository: str, hit: EntityHit) -> list[Html]:
    walk = Walk(limit=MAX_PANEL_ROWS)
    found = []
    for title, ask in (("Called by", engine.graph.callers), ("Calls", engine.graph.callees)):
        try:
            answer = ask(hit.id, walk)
        except DowseError:
            continue  # not a thing that can be called
        if answer.steps:
            found += [element("h3", title), element("ul", _steps(repository, answer), class_="places")]
    link = element("a", "Show it in the graph", href=address("/graph", repo=repository, node=hit.id))
    return [*found, element("p", link, class_="links")]


def _steps(repository: str, answer: GraphAnswer) -> Iterable[Html]:
    for step in answer.steps:
        path, _, name = step.node.partition(":")
        node = answer.nodes.get(step.node)
        line = step.edge.line if step.backward else (node.start_line if node else 0)
        shown = (
            element("a", name or path, href=file_address(repository, path, line))
            if node
            else element("span", name or path)
        )
        yield element("li", shown, element("span", f"{path}:{line}" if line else path, class_="soft"))
