"""The index page: repositories, generation, languages, skipped files with reasons, masked secrets, health, indexing."""

from __future__ import annotations

from collections.abc import Mapping

from dowse.errors import DowseError
from dowse.interfaces.http.access import Permission
from dowse.interfaces.text_layout import format_size
from dowse.interfaces.web.html_builder import Html, element, join
from dowse.interfaces.web.page_frame import PageRequest, address, file_address, full_page
from dowse.types.stored import IndexState, IndexStatus

MAX_LANGUAGES = 14
MAX_SKIPPED = 300
MAX_SECRETS = 200


def index_page(request: PageRequest) -> str:
    """Make the page: a section for each repository, or for the one that the address names."""
    names = [request.get("repo")] if request.get("repo") else list(request.served.folders(request.caller))
    about = element("p", "For programs: ", element("a", "the HTTP API", href="/api"), class_="soft")
    inner = join(element("h1", "Index"), [_render_repository(request, name) for name in names], about)
    return full_page(request, "Index", inner, kind="index")


def _render_repository(request: PageRequest, name: str) -> Html:
    try:
        engine = request.served.engine(request.caller, name)
        status, pending = engine.status(), engine.count_pending()
    except DowseError as error:
        return element(
            "section", element("h2", name), element("p", str(error), class_="problem"), class_="card"
        )
    notes = [element("p", note, class_="note") for note in engine.notes]
    return element(
        "section",
        element(
            "header",
            element("h2", element("a", name, href=file_address(name, ""))),
            _index_button(request, name),
        ),
        element("p", str(engine.root), class_="soft path"),
        notes,
        _render_tiles(status, pending),
        element(
            "div",
            element("div", _render_languages(status)) if status.languages else None,
            element("div", _render_skipped(request, name, status)),
            class_="columns",
        ),
        _render_secrets(name, status),
        class_="card",
    )


def _index_button(request: PageRequest, name: str) -> Html | None:
    if not (request.served.may_index and Permission.INDEX in request.caller.permissions):
        return None
    return element(
        "span",
        element("progress", max=100, hidden=True, aria_label=f"indexing {name}"),
        element("span", class_="progress-text soft", role="status"),
        element("button", "Index now", type="button", class_="index-now", data_repo=name),
        class_="index-action",
    )


def _render_tiles(status: IndexStatus, pending: int | None) -> Html:
    fresh = {IndexState.MISSING: "not made yet", IndexState.CURRENT: "current"}.get(
        status.state, status.state.value
    )
    if status.state is IndexState.CURRENT and pending:
        fresh = f"{pending:,} changed since"
    healthy = status.health.get("ok", 0)
    parsed = sum(status.health.values()) - status.health.get("no grammar", 0)
    tiles = (
        (fresh, "state"),
        (f"{status.files:,}", "files"),
        (f"{status.entities:,}", "definitions"),
        (f"{status.chunks:,}", "chunks"),
        (format_size(status.size_bytes), "on disk"),
        (str(status.generation), "generation"),
        (f"{healthy / parsed:.0%}" if parsed else "\N{EN DASH}", "parsed without errors"),
    )
    return element(
        "dl",
        [element("div", element("dt", label), element("dd", value)) for value, label in tiles],
        class_="tiles",
    )


def _render_languages(status: IndexStatus) -> Html:
    ordered = sorted(status.languages.items(), key=lambda item: -item[1])
    rest = sum(count for _, count in ordered[MAX_LANGUAGES:])
    rows = [*ordered[:MAX_LANGUAGES], *([("other", rest)] if rest else [])]
    return join(element("h3", "Languages"), _bars(dict(rows)))


def _bars(counts: Mapping[str, int]) -> Html:
    most = max(counts.values(), default=1)
    rows = []
    for name, count in counts.items():
        bar = element("rect", x=0, y=0, width=round(100 * count / most, 1), height=8, rx=1.5, class_="r0")
        svg = element(
            "svg", bar, viewBox="0 0 100 8", preserveAspectRatio="none", class_="bar", aria_hidden="true"
        )
        rows.append(
            element(
                "tr",
                element("th", name, scope="row"),
                element("td", svg),
                element("td", f"{count:,}", class_="number"),
            )
        )
    return element("table", element("tbody", rows), class_="bars")


def _render_skipped(request: PageRequest, name: str, status: IndexStatus) -> Html | None:
    report = status.report
    if report is None:
        return None
    found = [(str(reason), count, "files") for reason, count in report.skipped.items()]
    found += [(str(reason), count, "folders") for reason, count in report.skipped_folders.items()]
    failures = [
        element(
            "li",
            element("code", failure.path),
            f" {failure.reason} ",
            element("span", failure.detail, class_="soft"),
        )
        for failure in report.failures
    ]
    if not found and not failures:
        return None
    rows = [
        element(
            "tr",
            element("th", reason, scope="row"),
            element("td", what, class_="soft"),
            element("td", f"{count:,}", class_="number"),
        )
        for reason, count, what in found
    ]
    link = element("a", "every one, with its rule", href=address("/skipped", repo=name))
    return join(
        element("h3", "Not in the index"),
        element("table", element("tbody", rows), class_="bars"),
        element("p", link, class_="links"),
        (element("h3", "Failed"), element("ul", failures)) if failures else None,
    )


def _render_secrets(name: str, status: IndexStatus) -> Html | None:
    if not status.secrets:
        return None
    rows = [
        element(
            "li",
            element("a", f"{secret.path}:{secret.line}", href=file_address(name, secret.path, secret.line)),
            element("span", secret.rule, class_="soft"),
        )
        for secret in status.secrets[:MAX_SECRETS]
    ]
    title = f"{len(status.secrets):,} masked secret{'s' if len(status.secrets) != 1 else ''}"
    return element("details", element("summary", title), element("ul", rows, class_="places"))


def skipped_page(request: PageRequest) -> str:
    """Make the page with the files that are not in the index, as the disk is now."""
    name = request.repository
    rows: list[Html] = []
    is_cut = False
    for skipped in request.served.engine(request.caller, name).list_skipped():
        if len(rows) == MAX_SKIPPED:
            is_cut = True
            break
        rows.append(
            element(
                "tr",
                element("td", element("code", skipped.path)),
                element("td", skipped.reason.value),
                element("td", skipped.detail, class_="soft"),
            )
        )
    head = element("tr", [element("th", text, scope="col") for text in ("Path", "Reason", "Rule")])
    more = (
        element("p", f"The first {MAX_SKIPPED}: 'dowse list --skipped' has all.", class_="note")
        if is_cut
        else None
    )
    inner = join(
        element("h1", "Not in the index of ", element("a", name, href=address("/index", repo=name))),
        more,
        element("table", element("thead", head), element("tbody", rows), class_="wide")
        if rows
        else element("p", "Nothing is skipped."),
    )
    return full_page(request, "Skipped files", inner, kind="index")
