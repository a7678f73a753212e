"""The folders and files of an index: the pane beside a file, which opens folder by folder, and the page of a folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from dowse.engine import Engine
from dowse.interfaces.http.problems import HttpProblem
from dowse.interfaces.web.html_builder import Html, element, fill, join
from dowse.interfaces.web.page_frame import PageRequest, file_address, full_page

MAX_ROWS = 2000
"""Files and folders of one folder that are listed."""


class Folder(NamedTuple):
    """What is in a folder: the names of its folders, with the number of files below each, and of its files."""

    folders: dict[str, int]
    files: list[str]


def list_folder(paths: Iterable[str], folder: str) -> Folder:
    """List what is in a folder, by name."""
    prefix = f"{folder}/" if folder else ""
    folders: Counter[str] = Counter()
    files: list[str] = []
    for path in paths:
        if path.startswith(prefix):
            name, slash, _ = path[len(prefix) :].partition("/")
            if slash:
                folders[name] += 1
            else:
                files.append(name)
    return Folder(dict(sorted(folders.items())[:MAX_ROWS]), sorted(files)[:MAX_ROWS])


def render_tree(repository: str, paths: Iterable[str], current: str) -> Html:
    """Render the pane with the folders above a file open; the others are fetched when they are opened."""
    return _render_level(repository, list(paths), "", current)


def _render_level(repository: str, paths: list[str], folder: str, current: str) -> Html:
    prefix = f"{folder}/" if folder else ""
    below = [path for path in paths if path.startswith(prefix)]
    listed = list_folder(below, folder)
    rows = []
    for name in listed.folders:
        path = prefix + name
        is_open = current.startswith(f"{path}/")
        inner = (
            _render_level(repository, below, path, current)
            if is_open
            else element("a", "show its files", href=file_address(repository, path), class_="later")
        )
        summary = element("summary", name)
        rows.append(
            element(
                "li", element("details", summary, inner, open=is_open, data_folder=path), class_="is-folder"
            )
        )
    for name in listed.files:
        mark = ' aria-current="page"' if prefix + name == current else ""
        rows.append(
            fill(f'<li><a href="{{}}"{mark}>{{}}</a></li>', file_address(repository, prefix + name), name)
        )
    return element("ul", rows)


def tree_part(request: PageRequest) -> str:
    """Make the part of the pane that is below one folder."""
    return _render_level(request.repository, request.engine.paths(), request.get("folder"), "")


def breadcrumbs(repository: str, path: str) -> Html:
    """Render the folders above a path as links."""
    parts = path.split("/") if path else []
    links = [element("a", repository, href=file_address(repository, ""))]
    for depth, part in enumerate(parts, 1):
        is_last = depth == len(parts)
        href = file_address(repository, "/".join(parts[:depth]))
        links.append(element("span", part, aria_current="page") if is_last else element("a", part, href=href))
    return join(*(join(" / " if number else "", link) for number, link in enumerate(links)))


def folder_page(request: PageRequest, engine: Engine, repository: str, folder: str) -> str:
    """Make the page of a folder: its folders and files that are in the index."""
    prefix = f"{folder}/" if folder else ""
    listed = list_folder(engine.paths(), folder)
    if not listed.files and not listed.folders:
        raise HttpProblem(
            404, f"{folder or repository} is not in the index: see the index page for what is skipped"
        )
    rows = [
        element(
            "li",
            element("a", f"{name}/", href=file_address(repository, prefix + name), class_="is-folder"),
            element("span", f"{count:,} file{'s' if count != 1 else ''}", class_="count"),
        )
        for name, count in listed.folders.items()
    ]
    rows += [
        element("li", element("a", name, href=file_address(repository, prefix + name)))
        for name in listed.files
    ]
    main = element(
        "section",
        element("h1", breadcrumbs(repository, folder), class_="crumbs"),
        element("ul", rows, class_="tree"),
        class_="folder",
    )
    return full_page(request, folder or repository, main, kind="folder")
