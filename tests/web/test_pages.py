"""The pages as a client without scripts gets them: links, windows, drawings, errors, and hostile text shown as text."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote

import httpx2
import pytest

from dowse.interfaces.http.request_guard import SECURITY_HEADERS
from dowse.interfaces.web.assets import ASSETS, asset_url, read_asset
from dowse.interfaces.web.code_view import WINDOW_LINES, build_word_pattern, highlight, mark_words
from dowse.interfaces.web.facets import list_filters
from dowse.interfaces.web.graph_layout import NODE_UNITS, lay_out
from dowse.interfaces.web.html_builder import Html, element, fill, show_text
from dowse.interfaces.web.search_page import FIRST_HITS
from dowse.types.answers import Match
from tests.agents.clients import make_tree
from tests.web.serving import serve_here

HTML = {"Accept": "text/html"}

MAX_PAGE_BYTES = 150_000
"""Script, styles and icon together."""

PAGES = (
    "/", "/?q=retry+with+backoff", "/?q=retry&hit=2", "/?q=lang:klingon+x", "/?q=zebra+quagga+lang:python",
    "/file/project/src/retry.py", "/file/project/src", "/file/project/", "/graph", "/graph?node=retry_with_backoff",
    "/graph?node=src/retry.py&view=impact", "/graph?node=test_retry_gives_up&view=path&to=retry_with_backoff",
    "/graph?node=nobody", "/index", "/skipped", "/evaluations", "/api", "/related?place=src/retry.py:4", "/sign-in",
)  # fmt: skip

SECRET = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'&\x1b[2J\u202e\x00"


class PageReader(HTMLParser):
    """What a browser would run or follow."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.problems: list[str] = []
        self.ids: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name.startswith("on") or name in ("style", "srcdoc"):
                self.problems.append(f"{tag} {name}={value}")
            if name in ("href", "src", "action") and value is not None:
                self.links.append(value)
                if not value.startswith(("/", "#", "?")) or value.startswith("//"):
                    self.problems.append(f"{tag} {name}={value}")
            if name == "id" and value:
                self.ids.append(value)
        if tag in ("style", "iframe", "object", "embed", "base"):
            self.problems.append(tag)
        if tag == "script" and not re.fullmatch(
            r"/assets/\w+\.js\?v=[0-9a-f]{8}", dict(attrs).get("src") or ""
        ):
            self.problems.append(f"script {attrs}")


def read_page(client: httpx2.Client, path: str, status: int = 200) -> str:
    answered = client.get(path, headers=HTML)
    assert answered.status_code == status, answered.text
    return answered.text


@pytest.mark.parametrize("path", PAGES)
def test_pages_have_nothing_inline_nothing_from_elsewhere_and_no_id_twice(
    client: httpx2.Client, path: str
) -> None:
    page = PageReader(read_page(client, path))
    assert page.problems == []
    assert len(page.ids) == len(set(page.ids))


def test_every_link_of_every_page_leads_somewhere(client: httpx2.Client) -> None:
    links = {
        link
        for path in PAGES
        for link in PageReader(read_page(client, path)).links
        if link.startswith("/") and not link.startswith("/api/v1/")  # forms, which need what is filled in
    }
    failed = {link: status for link in links if (status := client.get(link, headers=HTML).status_code) >= 400}
    assert failed == {} and len(links) > 60


def test_the_assets_are_small_and_may_be_kept() -> None:
    assert sum(len(read_asset(name)) for name in ASSETS) < MAX_PAGE_BYTES


def test_assets_need_no_token_and_pages_do(client: httpx2.Client) -> None:
    with httpx2.Client(base_url=client.base_url) as stranger:
        answered = stranger.get(asset_url("page.js"))
        assert answered.status_code == 200 and "immutable" in answered.headers["cache-control"]
        assert stranger.get("/assets/..%2fassets.py").status_code in (401, 404)
        refused = stranger.get("/?q=secret plan", headers=HTML)
        assert refused.status_code == 303
        assert refused.headers["location"] == "/sign-in?next=%2F%3Fq%3Dsecret%2520plan"
        assert stranger.get("/?q=retry").status_code == 401


def test_hits_have_their_place_their_lines_and_what_speaks_for_them(client: httpx2.Client) -> None:
    page = read_page(client, "/?q=retry with backoff")
    assert 'data-path="src/retry.py"' in page and "<mark>" in page
    found = client.get("/api/v1/search", params={"query": "retry with backoff"}).json()["results"][0]
    for reason in found["reasons"]:
        assert f"{reason['value']:+.2f}" in page and reason["name"].replace("_", " ") in page


def test_what_does_not_meet_the_query_is_not_shown_as_what_does(client: httpx2.Client) -> None:
    page = read_page(client, "/?q=retry+%22never written like this%22")
    assert "Nothing meets all of the query" in page and 'data-path="src/retry.py"' in page
    assert "Nothing meets all of the query" not in read_page(client, "/?q=retry")


def test_every_kind_of_evidence_has_words() -> None:
    assert all(0 < len(match.words.split()) <= 6 for match in Match)


def test_a_snippet_begins_with_a_line_that_says_something_and_is_not_indented(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "tree")
    (tree / "src/zebra.py").write_text(
        "class Z:\n    def a(self):\n\n\n        zebra = 1\n        return zebra\n"
    )
    with serve_here(tree) as client:
        page = read_page(client, "/?q=zebra")
    lines = re.findall("<code>(.*?)</code></li>", page.partition('class="preview"')[0])
    assert lines and not any(line.startswith(" ") for line in lines[:1])


def test_relevance_never_contradicts_the_order(client: httpx2.Client) -> None:
    shown = [
        float(x)
        for x in re.findall(r"<title>[\w ]+: relevance ([\d.]+)</title>", read_page(client, "/?q=retry"))
    ]
    assert shown and shown == sorted(shown, reverse=True)


def test_the_filters_of_a_query_can_be_taken_out_one_by_one() -> None:
    found = dict(list_filters("retry lang:py,go -path:tests kind:class changed:2d"))
    assert found["lang:py"] == "lang:go -path:tests kind:class changed:2d retry"
    assert found["-path:tests"] == "lang:py,go kind:class changed:2d retry"
    assert set(found) == {"lang:py", "lang:go", "-path:tests", "kind:class", "changed:2d"}
    assert list_filters("lang:") == [] and list_filters("/(/") == []


def test_a_file_comes_in_windows(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "tree")
    body = "\n".join(f"value_{number} = {number}" for number in range(1, 10_001))
    (tree / "src/long.py").write_text(f"{body}\n")
    with serve_here(tree) as client:
        page = read_page(client, "/file/tree/src/long.py?line=5000")
        assert "id=L5000>" in page and "id=L1>" not in page
        found = read_page(client, "/file/tree/src/long.py?find=value_777 ")
        assert "1 line with value_777" in found and 'href="?line=777#L777"' in found
        assert page.count('class="window waiting"') == 10_000 // WINDOW_LINES - 1
        part = read_page(client, "/file/tree/src/long.py?part=window&first=401")
        assert part.count("<li") == WINDOW_LINES and "id=L401>" in part and "<html" not in part


def test_a_window_knows_what_was_open_before_it() -> None:
    class Entity:
        parent, start_line = None, 1

    lines = ["def f():", '    """A text', *["    of many lines"] * 10, '    """']
    shown = highlight(lines, "python", 5, 13, [Entity()])  # type: ignore[list-item]
    assert shown.first == 5 and all('class="c"' in line for line in shown.lines)


def test_words_are_marked_in_text_and_never_in_tags() -> None:
    words = build_word_pattern(["span", "amp", "load"])
    line = Html('<span class="k">span</span> &amp; preload reLoad')
    marked = mark_words(line, words)
    assert marked == '<span class="k"><mark>span</mark></span> &amp; preload re<mark>Load</mark>'


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[httpx2.Client, str]]:
    """A tree with two commits and a change that is not committed; a client, and the hash of the first commit."""
    tree = make_tree(tmp_path_factory.mktemp("history") / "tree")
    old = tree / "src/old.py"
    old.write_text(f"TOKEN = '{SECRET}'\nfirst = 1\n<script>alert(1)</script>\n")
    run_git(tree, "init", "-q")
    run_git(tree, "add", ".")
    run_git(tree, "commit", "-qm", "The <b>first</b> commit")
    first = run_git(tree, "rev-parse", "HEAD").strip()
    old.write_text("first = 1\nsecond = 2\n")
    run_git(tree, "commit", "-qam", "The second commit")
    old.write_text("first = 1\nsecond = 2\nthird = 3\n")
    (tree / ".gitignore").write_text("ignored.py\n")
    (tree / "ignored.py").write_text("ignored = 1\n")
    run_git(tree, "add", "-f", "ignored.py")
    run_git(tree, "commit", "-qm", "A file that is ignored", "ignored.py")
    with serve_here(tree) as client:
        client.get("/api/v1/search?query=retry")
        yield client, first


def run_git(tree: Path, *args: str) -> str:
    quiet = ["git", "-c", "user.name=Ada & co", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main"]
    return subprocess.run([*quiet, *args], cwd=tree, check=True, capture_output=True, text=True).stdout


def test_blame_says_of_each_line_who_changed_it_last(history: tuple[httpx2.Client, str]) -> None:
    page = read_page(history[0], "/file/tree/src/old.py?blame=1")
    assert PageReader(page).problems == []
    lines = re.findall("<li id=L\\d+.*?</li>", page)
    assert "The &lt;b&gt;first&lt;/b&gt; commit" in lines[0] and "Ada &amp; co" in lines[0]
    assert "The second commit" in lines[1] and "not committed yet" in lines[2]
    assert 'class="blame' not in read_page(history[0], "/file/tree/src/old.py")


def test_the_history_of_a_file_leads_to_the_file_as_it_was(history: tuple[httpx2.Client, str]) -> None:
    client, first = history
    part = read_page(client, "/file/tree/src/old.py?part=history")
    assert part.index("The second commit") < part.index("The &lt;b&gt;first&lt;/b&gt; commit")
    page = read_page(client, PageReader(part).links[1])
    assert PageReader(page).problems == [] and "alert" in page
    assert "third" not in page and first[:10] in page
    assert SECRET not in page and SECRET not in read_page(
        client, f"/raw?repo=tree&path=src/old.py&at={first}"
    )
    assert read_page(client, "/file/tree/src/old.py?part=commit").split()[1:] == ["changed"]
    assert read_page(client, "/file/tree/src/retry.py?part=commit").split()[1:] == []


@pytest.mark.parametrize("commit", ["HEAD", "--help", "deadbeef00", "main:../x", "..", "0" * 40, "a" * 5000])
def test_only_commits_that_are_there_are_shown(history: tuple[httpx2.Client, str], commit: str) -> None:
    assert "first" not in read_page(history[0], f"/file/tree/src/old.py?at={commit}", 404)


def test_what_is_not_in_the_index_is_not_shown_as_it_was(history: tuple[httpx2.Client, str]) -> None:
    head = read_page(history[0], "/file/tree/src/retry.py?part=commit").split()[0]
    for path in ("ignored.py", "../tree/src/old.py", ".git/config"):
        assert "ignored = 1" not in read_page(history[0], f"/raw?repo=tree&path={path}&at={head}", 404)
        read_page(history[0], f"/file/tree/{quote(path, safe='')}?at={head}", 404)


def test_a_tree_without_git_has_no_history(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "tree")
    with serve_here(tree) as client:
        assert "Git knows nothing" in read_page(client, "/file/tree/src/retry.py?part=history")
        assert "id=L1>" in read_page(client, "/file/tree/src/retry.py?blame=1")
        read_page(client, "/file/tree/src/retry.py?part=commit", 404)


def test_the_tree_of_files_is_open_at_the_file(client: httpx2.Client) -> None:
    page = read_page(client, "/file/project/src/retry.py")
    assert '<a href="/file/project/src/retry.py" aria-current="page">' in page
    assert 'data-folder="src"' in page and "/file/project/tests/test_retry.py" not in page
    part = read_page(client, "/tree?repo=project&folder=tests")
    assert "/file/project/tests/test_retry.py" in part and "retry.py" in part and "<html" not in part
    assert read_page(client, "/tree?repo=project&folder=..") == "<ul></ul>"


def test_who_types_gets_the_first_hits_first_and_the_rest_after(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "tree")
    for number in range(25):
        (tree / f"src/part_{number}.py").write_text(f"def part_{number}():\n    return 'Retry part.'\n")
    with serve_here(tree) as client:
        whole = re.findall('id="(hit-\\d+)"', read_page(client, "/?q=retry+part&part=results"))
        first, rest = (read_page(client, f"/?q=retry+part&part={part}") for part in ("first", "rest"))
        assert re.findall('id="(hit-\\d+)"', first + rest) == whole == [f"hit-{n}" for n in range(1, 21)]
        assert re.findall('id="(hit-\\d+)"', first) == whole[:FIRST_HITS]


def test_the_symbol_panel_says_where_it_is_defined_and_who_calls_it(client: httpx2.Client) -> None:
    part = read_page(client, "/symbol?repo=project&path=src/session.py&name=retry_with_backoff")
    assert "/file/project/src/retry.py?line=4#L4" in part and "test_retry_gives_up" in part
    assert "not defined" in read_page(client, "/symbol?repo=project&path=src/session.py&name=nobody")


def test_completions_are_whole_queries(client: httpx2.Client) -> None:
    assert 'data-query="retry lang:python"' in read_page(client, "/complete?q=retry lang:p")
    assert 'data-query="retry -kind:class"' in read_page(client, "/complete?q=retry -kind:cl")
    assert 'data-query="retry_with_backoff"' in read_page(client, "/complete?q=retry_wi")
    assert read_page(client, "/complete?q=") == ""


def test_the_graph_is_drawn_and_exported(client: httpx2.Client) -> None:
    page = read_page(client, "/graph?node=retry_with_backoff")
    assert 'class="node function centre"' in page and "test_retry_gives_up" in page and "edge invokes" in page
    svg = client.get("/graph.svg?node=retry_with_backoff")
    assert svg.headers["content-type"].startswith("image/svg+xml") and svg.text.startswith("<svg")
    assert "sandbox" in svg.headers["content-security-policy"] and "<a " not in svg.text
    assert read_page(client, "/graph.mmd?node=retry_with_backoff").startswith("graph LR")


def test_a_layout_puts_users_left_and_used_right_and_nothing_on_top_of_another() -> None:
    layers = {"centre": 0, **{f"user{n}": -1 for n in range(30)}, **{f"used{n}": 1 for n in range(60)}}
    points, width, height = lay_out(layers, [(f"user{n}", "centre") for n in range(30)])
    assert len(set(points.values())) == len(layers)
    assert all(points[f"user{n}"].x < points["centre"].x for n in range(30))
    assert all(points[f"used{n}"].x > points["centre"].x for n in range(60))
    assert all(
        NODE_UNITS / 2 <= point.x <= width - NODE_UNITS / 2 and 0 < point.y < height
        for point in points.values()
    )


def test_errors_are_pages_for_browsers_and_problems_for_programs(client: httpx2.Client) -> None:
    for path in ("/nothing", "/file/project/missing.py", "/file/nowhere/x", "/evaluations?name=none"):
        assert "<h1>" in read_page(client, path, 404)
        assert client.get(path).headers["content-type"] == "application/problem+json"
    assert client.get("/api/v1/nothing", headers=HTML).headers["content-type"] == "application/problem+json"


def test_browsers_are_told_how_to_search(client: httpx2.Client) -> None:
    text = client.get("/opensearch.xml").text
    assert (
        f'template="{client.base_url}?q={{searchTerms}}"' in text.replace("//?", "/?")
        or "?q={searchTerms}" in text
    )


# --- hostile text ---


def test_text_is_escaped_unless_it_is_html() -> None:
    assert element("p", HOSTILE, title=HOSTILE).count("<") == 2
    assert element("p", Html("<b>x</b>")) == "<p><b>x</b></p>"
    assert fill("<p>{}</p>", HOSTILE).count("<") == 2 and fill("<p>{}</p>", Html("<i>")) == "<p><i></p>"
    assert fill("{}{}", [None, "<"], ()) == "&lt;"
    assert show_text("a\u202eb\udcffc\x1b") == "a\\u202eb\ufffdc\ufffd"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory):  # type: ignore[no-untyped-def]
    tree = tmp_path_factory.mktemp("hostile") / "tree"
    names = [
        "<img src=x onerror=alert(1)>.py",
        'quote"onload=alert(1) x.py',
        "javascript:alert(1).py",
        "a&b;c.md",
    ]
    text = HOSTILE.replace("\0", "")
    code = f"def retry_hostile():\n    '''{text}'''\n    return '</script></template><script>x()'\n"
    for name in names:
        (tree / "src").mkdir(parents=True, exist_ok=True)
        (tree / "src" / name).write_text(code)
    (tree / "src/page.html").write_text("<h1 onclick=alert(1)>retry hostile</h1><script>alert(1)</script>")
    (tree / "src/page.svg").write_text("<svg onload=alert(1)>retry hostile</svg>")
    with serve_here(tree) as client:
        client.get("/api/v1/search?query=retry")
        yield client


def test_hostile_names_and_contents_are_shown_as_text(hostile: httpx2.Client) -> None:
    paths = [row["path"] for row in hostile.get("/api/v1/files").json()["files"]]
    assert len(paths) >= 5
    asked = [
        "/?q=retry hostile",
        f"/?q={quote(HOSTILE)}",
        f"/graph?node={quote(HOSTILE)}",
        "/index",
        "/file/tree/src",
    ]
    for path in paths:
        asked += [f"/file/tree/{quote(path)}", f"/graph?node={quote(path)}", f"/related?place={quote(path)}:1",
                  f"/preview?repo=tree&path={quote(path)}&first=1&last=3&words=script",
                  f"/symbol?repo=tree&path={quote(path)}&name={quote(HOSTILE)}"]  # fmt: skip
    for path in asked:
        answered = hostile.get(path, headers=HTML)
        assert answered.status_code in (200, 400, 404), path
        assert PageReader(answered.text).problems == [], path
        assert not re.search("[\x00-\x08\x1b\u202e]", answered.text), path


def test_the_raw_text_is_never_a_page(hostile: httpx2.Client) -> None:
    for name in ("page.html", "page.svg"):
        answered = hostile.get("/raw", params={"repo": "tree", "path": f"src/{name}"}, headers=HTML)
        assert answered.headers["content-type"] == "text/plain; charset=utf-8"
        assert answered.headers["x-content-type-options"] == SECURITY_HEADERS["X-Content-Type-Options"]


@pytest.mark.parametrize(
    "path", ["../secret", "%2e%2e/secret", "/etc/passwd", "src/../../secret", "..%5csecret"]
)
def test_pages_show_nothing_outside_of_the_index(client: httpx2.Client, tree: Path, path: str) -> None:
    (tree.parent / "secret").write_text("the secret outside")
    for asked in (
        f"/file/project/{path}",
        f"/raw?repo=project&path={path}",
        f"/preview?repo=project&path={path}&first=1&last=2",
        f"/related?repo=project&place={path}",
    ):
        answered = client.get(asked, headers=HTML)
        assert answered.status_code in (400, 404) and "the secret" not in answered.text, asked
