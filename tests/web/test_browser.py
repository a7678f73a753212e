"""The page in a real browser: what script, mouse and keyboard do, in light and dark, wide and narrow; axe-core."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from playwright.sync_api import Browser, Page, expect

from dowse.engine import Engine
from dowse.interfaces.http import index_builds
from tests.agents.clients import make_tree
from tests.web.browsing import PATIENCE_MS, fetch_axe, open_browser
from tests.web.serving import serve_here

LONG = "\n".join(f"long_{n} = {n}" for n in range(1, 3001))

HOSTILE = "def hostile_marker():\n    '''<img src=x onerror=\"window.hacked=1\"><script>window.hacked=1</script>'''\n"

PAGES = (
    "/", "/?q=retry", "/?q=lang:klingon+x", "/?q=zebra+lang:python+path:nowhere", "/file/project/src/retry.py#L4-L6",
    "/file/project/src/retry.py?blame=1", "/file/project/src", "/graph", "/graph?node=retry_with_backoff",
    "/graph?node=src/retry.py&view=impact", "/index", "/skipped", "/evaluations", "/evaluations?name=first", "/api",
    "/related?place=src/retry.py:4", "/nothing", "/sign-in",
)  # fmt: skip

WIDE, NARROW = {"width": 1440, "height": 900}, {"width": 400, "height": 800}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    tree = make_tree(tmp_path_factory.mktemp("trees") / "project")
    (tree / "src/long.py").write_text(LONG)
    (tree / "src/hostile.py").write_text(HOSTILE)
    for number in range(25):
        (tree / f"src/part_{number}.py").write_text(
            f"def part_{number}():\n    '''Retry part.'''\n    return {number}\n"
        )
    git = ["git", "-c", "user.name=somebody", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "A first commit"]):
        subprocess.run([*git, *command], cwd=tree, check=True)
    runs = tree.parent / "runs"
    with serve_here(tree, allow_index=True, evaluations=str(runs), unlimited=True,
                    editor="editor://open{path}:{line}") as client:  # fmt: skip
        client.get("/api/v1/search?query=retry")
        subprocess.run(
            [sys.executable, "-m", "dowse", "eval", "--mine", "5", "--save", str(runs / "first.json")],
            check=True, cwd=tree, capture_output=True,
        )  # fmt: skip
        yield client


def new_page(browser: Browser, server: httpx2.Client, **options: Any) -> Page:
    """A page of a browser that is signed in; an error in the page is a failure of the test."""
    context = browser.new_context(base_url=str(server.base_url), **{"viewport": WIDE, **options})
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on(
        "console", lambda said: problems.append(said.text) if "Content Security Policy" in said.text else None
    )
    page.goto(f"/sign-in?key={server.key}")  # type: ignore[attr-defined]
    page.problems = problems  # type: ignore[attr-defined]
    return page


@pytest.fixture
def page(browser: Browser, server: httpx2.Client) -> Iterator[Page]:
    page = new_page(browser, server)
    yield page
    page.context.close()
    assert page.problems == []  # type: ignore[attr-defined]


def test_hits_come_while_somebody_types_and_the_address_says_what(page: Page) -> None:
    page.keyboard.type("retry with backoff")
    expect(page.locator(".hit .name").first).to_have_text("retry_with_backoff")
    expect(page).to_have_url(re.compile(r"\?q=retry\+with\+backoff$"))
    expect(page.locator("#preview h2")).to_contain_text("src/retry.py:")
    page.reload()
    expect(page.locator(".hit .name").first).to_have_text("retry_with_backoff")
    expect(page.locator("#q")).to_have_value("retry with backoff")


def test_a_late_answer_never_replaces_a_newer_one(page: Page) -> None:
    page.goto("/")
    page.evaluate(
        """() => { const real = window.fetch; window.fetch = async (url, options) => {
            const answer = await real(url, options);
            if (String(url).includes("q=Tok&")) await new Promise((done) => setTimeout(done, 1200));
            return answer; }; }"""
    )
    page.locator("#q").press_sequentially("Tok")
    page.wait_for_timeout(250)
    page.locator("#q").fill("part_7")
    expect(page.locator(".hit .name").first).to_have_text("part_7")
    page.wait_for_timeout(1500)
    expect(page.locator(".hit .name").first).to_have_text("part_7")


def test_half_a_filter_takes_no_hits_away(page: Page) -> None:
    page.goto("/?q=retry")
    page.locator("#q").press("End")
    page.keyboard.type(" lang:pyt")
    page.wait_for_timeout(600)
    expect(page.locator(".hit").first).to_be_visible()
    page.locator("#q").press("Enter")
    expect(page.locator(".empty")).to_contain_text("unknown language")


def test_the_keyboard_does_everything(page: Page) -> None:
    page.goto("/?q=retry")
    page.keyboard.press("j")
    expect(page.locator(".hit.chosen")).to_have_id("hit-2")
    expect(page).to_have_url(re.compile("hit=2"))
    chosen = page.locator(".hit.chosen").get_attribute("data-path") or ""
    expect(page.locator("#preview h2 a")).to_have_text(chosen)
    page.keyboard.press("w")
    expect(page.locator(".hit.chosen .why table")).to_be_visible()
    page.keyboard.press("c")
    expect(page.locator("#said")).to_have_text("copied the place and its lines")
    assert page.evaluate("navigator.clipboard.readText()").startswith(f"{chosen}:")
    page.keyboard.press("k")
    expect(page.locator(".hit.chosen")).to_have_id("hit-1")
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#keys")).to_be_hidden()
    page.keyboard.press("/")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#q")).to_have_value("retry")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/file/project/"))
    page.wait_for_load_state()  # before that, keys are those of nobody
    page.keyboard.press("g")
    page.keyboard.press("i")
    expect(page).to_have_url(re.compile("/index$"))


def test_completions_are_taken_by_keyboard_and_mouse(page: Page) -> None:
    page.goto("/?q=retry")
    box = page.locator("#q")
    box.press("End")
    page.keyboard.type(" lang:p")
    expect(page.locator("#completions li").first).to_contain_text(
        "lang:python"
    )  # not that of what was typed before
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(box).to_have_value("retry lang:python ")
    expect(page.locator(".chip")).to_contain_text("lang:python")
    page.keyboard.type("kind:fu")
    page.locator("#completions li", has_text="kind:function").click()
    expect(box).to_have_value("retry lang:python kind:function ")


def test_facets_and_chips_are_query_language(page: Page) -> None:
    page.goto("/?q=retry")
    page.locator(".facets section", has_text="Kind").get_by_role("link", name="function").first.click()
    expect(page.locator("#q")).to_have_value("retry kind:function")
    page.locator(".facets section", has_text="Folder").get_by_role("link", name="without tests").click()
    expect(page.locator(".chip")).to_have_count(2)
    page.locator(".chip", has_text="kind:function").click()
    expect(page.locator("#q")).to_have_value("-path:tests retry")


def test_back_and_forward_show_what_was_there(page: Page) -> None:
    page.goto("/?q=retry")
    page.locator("#q").fill("Token")
    page.keyboard.press("Enter")
    expect(page.locator(".hit .name").first).to_have_text("Token")
    page.go_back()
    expect(page.locator("#q")).to_have_value("retry")
    page.go_forward()
    expect(page.locator("#q")).to_have_value("Token")


def test_a_link_to_lines_shows_them_also_in_a_long_file(page: Page) -> None:
    page.goto("/file/project/src/long.py#L2500-L2502")
    expect(page.locator("#L2501")).to_be_in_viewport()
    expect(page.locator(".code li.on")).to_have_count(3)
    page.locator("#L2490 .n").click()
    page.locator("#L2495 .n").click(modifiers=["Shift"])
    expect(page).to_have_url(re.compile("#L2490-L2495$"))
    expect(page.locator(".code li.on")).to_have_count(6)


def test_windows_come_into_view_as_they_are_scrolled_to(page: Page) -> None:
    page.goto("/file/project/src/long.py")
    assert not page.locator("#L2900").count()
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    expect(page.locator("#L2950")).to_be_visible()
    assert not page.locator("#L1300").count()


def test_a_symbol_can_be_clicked_and_the_outline_filtered(page: Page) -> None:
    page.goto("/file/project/tests/test_retry.py")
    page.locator(".code .y, .code .d", has_text="retry_with_backoff").last.click()
    expect(page.locator("#panel")).to_contain_text("src/retry.py:4")
    page.keyboard.press("Escape")
    expect(page.locator("#panel")).to_be_hidden()
    page.goto("/file/project/src/session.py")
    page.keyboard.press("l")
    page.keyboard.type("refr")
    expect(page.locator(".outline li:visible")).to_have_count(1)
    page.locator(".outline li:visible .ask").click()
    expect(page.locator("#panel h2")).to_have_text("Token.refresh")
    assert (page.locator(".file-head .editor").get_attribute("href") or "").startswith("editor://open/")


def test_a_text_can_be_found_in_a_file(page: Page) -> None:
    page.goto("/file/project/src/long.py")
    page.keyboard.press("f")
    page.keyboard.type("long_2999 ")
    page.keyboard.press("Enter")
    expect(page.locator("#panel h2")).to_have_text("1 line with long_2999")
    page.locator("#panel .found a").click()
    expect(page.locator("#L2999")).to_be_in_viewport()


def test_a_hit_can_be_expanded_in_place_and_copied_where_there_is_no_preview(
    browser: Browser, server: httpx2.Client
) -> None:
    page = new_page(browser, server, viewport=NARROW)
    page.goto("/?q=retry_with_backoff")
    expect(page.locator("#preview")).to_be_hidden()
    path = page.locator(".hit.chosen").get_attribute("data-path") or ""
    page.keyboard.press("c")
    expect(page.locator("#said")).to_have_text("copied the place and its lines")
    assert page.evaluate("navigator.clipboard.readText()").startswith(f"{path}:")
    page.keyboard.press("x")
    expect(page.locator(".hit.chosen .expanded .code li").first).to_be_visible()
    expect(page.locator(".hit.chosen .expand-hit")).to_have_attribute("aria-expanded", "true")
    page.locator(".hit.chosen .expand-hit").click()
    expect(page.locator(".expanded")).to_have_count(0)
    page.context.close()


def test_all_hits_and_the_preview_are_there_when_the_typing_rests(page: Page) -> None:
    page.goto("/")
    page.locator("#q").fill("part retry")
    expect(page.locator(".hit")).to_have_count(20)
    expect(page.locator("#preview:not(.late) h2 a")).to_have_text(
        page.locator(".hit.chosen").get_attribute("data-path") or ""
    )
    page.locator("#q").press("Enter")
    for _ in range(12):
        page.keyboard.press("j")
    expect(page.locator(".hit.chosen")).to_have_id("hit-13")


def test_the_history_of_a_file_is_a_key_away(page: Page, server: httpx2.Client) -> None:
    page.goto("/file/project/src/retry.py#L4-L5")
    page.keyboard.press("h")
    expect(page.locator("#panel")).to_contain_text("A first commit")
    page.keyboard.press("Escape")
    expect(page.locator("#panel")).to_be_hidden()
    page.keyboard.press("c")
    expect(page.locator("#said")).to_have_text("copied the place and its lines")
    assert page.evaluate("navigator.clipboard.readText()").startswith(
        "src/retry.py:4-5\n\ndef retry_with_backoff("
    )
    page.keyboard.press("y")
    expect(page.locator("#said")).to_have_text("copied a link at this commit")
    link = page.evaluate("navigator.clipboard.readText()")
    assert re.search(r"\?at=[0-9a-f]{10}&line=4#L4-L5$", link)
    page.goto(link)
    expect(page.locator(".note")).to_contain_text("As of commit")
    expect(page.locator(".code li.on")).to_have_count(2)
    page.get_by_role("link", name="show it as it is now").click()
    page.wait_for_load_state()
    page.keyboard.press("b")
    expect(page.locator(".blame").first).to_contain_text("somebody")
    expect(page).to_have_url(re.compile("blame=1"))


def test_the_tree_of_files_opens_folder_by_folder(page: Page) -> None:
    page.goto("/file/project/src/retry.py")
    tree = page.locator(".file-tree")
    expect(tree.get_by_role("link", name="retry.py", exact=True)).to_have_attribute("aria-current", "page")
    page.keyboard.press("t")
    expect(tree.get_by_role("link", name="retry.py", exact=True)).to_be_focused()
    tree.get_by_text("tests", exact=True).click()
    tree.get_by_role("link", name="test_retry.py").click()
    expect(page).to_have_url(re.compile("/file/project/tests/test_retry.py$"))


def test_the_graph_goes_on_with_a_click(page: Page) -> None:
    page.goto("/graph?node=retry_with_backoff")
    page.get_by_role("link", name=re.compile("test_retry_gives_up .*function")).click()
    expect(page.locator(".node.centre text").first).to_have_text("test_retry_gives_up")
    page.locator(".node", has_text="retry_with_backoff").hover()
    page.get_by_role("link", name="expand src/retry.py:retry_with_backoff").click()
    expect(page).to_have_url(re.compile("expand="))
    expect(page.locator(".node.centre")).to_have_count(2)


def test_indexing_shows_its_progress_and_ends(page: Page) -> None:
    page.goto("/index")
    with page.expect_navigation():
        page.get_by_role("button", name="Index now").click()
    expect(page.get_by_role("button", name="Index now")).to_be_enabled()


def test_a_page_waits_for_an_index_and_goes_on_by_itself(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_builds, "PATIENCE_SECONDS", 0.0)
    tree = make_tree(tmp_path / "tree")
    with serve_here(tree) as server, Engine.open(tree) as other:
        with other.store.writer():
            page = new_page(browser, server)
            page.goto("/?q=retry")
            expect(page.locator("#building")).to_contain_text("is being built")
        expect(page.locator(".hit").first).to_be_visible()
        page.context.close()


def test_hostile_text_does_nothing(page: Page) -> None:
    page.goto("/?q=hostile_marker")
    expect(page.locator("#preview")).to_contain_text("onerror=")
    page.goto("/file/project/src/hostile.py")
    expect(page.locator(".code-box")).to_contain_text("<script>window.hacked=1</script>")
    page.goto("/?q=%3Cimg src=x onerror=window.hacked=1%3E")
    assert page.evaluate("window.hacked") is None


def test_signing_in_by_hand(browser: Browser, server: httpx2.Client) -> None:
    context = browser.new_context(base_url=str(server.base_url))
    page = context.new_page()
    page.goto("/?q=retry")
    page.get_by_label("Token").fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_have_text("This token is not known here.")
    page.get_by_label("Token").fill(server.key)  # type: ignore[attr-defined]
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator(".hit").first).to_be_visible()
    context.close()


@pytest.mark.parametrize("viewport", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_and_nothing_sticks_out(
    browser: Browser, server: httpx2.Client, scheme: str, viewport: dict[str, int]
) -> None:
    page = new_page(browser, server, color_scheme=scheme, viewport=viewport)
    script = fetch_axe()
    found: list[str] = []
    for path in PAGES:
        page.goto(path)
        page.wait_for_load_state("networkidle")
        page.evaluate(script)
        result = page.evaluate("axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']})")
        found += [
            f"{path}: {one['id']} {node['html'][:200]} {node['failureSummary'][:300]}"
            for one in result["violations"]
            for node in one["nodes"][:3]
        ]
        if page.evaluate("document.documentElement.scrollWidth > innerWidth + 1"):
            found.append(f"{path}: wider than the window")
    page.context.close()
    assert found + page.problems == [], "\n".join(found)  # type: ignore[attr-defined]


def test_it_works_without_a_script(browser: Browser, server: httpx2.Client) -> None:
    page = new_page(browser, server, java_script_enabled=False)
    page.goto("/")
    page.locator("#q").fill("retry with backoff")
    page.locator("#q").press("Enter")
    page.locator(".hit .name").first.click()
    expect(page.locator("#L4")).to_be_visible()
    page.goto("/file/project/src/long.py")
    page.get_by_role("link", name="Lines 801 to 1200").click()
    expect(page.locator("#L1000")).to_be_visible()
    page.context.close()


def test_a_page_can_be_printed(page: Page, tmp_path: Path) -> None:
    page.goto("/?q=retry")
    page.emulate_media(media="print")
    expect(page.locator(".top")).to_be_hidden()
    expect(page.locator(".hit").first).to_be_visible()
    assert page.pdf(path=tmp_path / "page.pdf").startswith(b"%PDF")
