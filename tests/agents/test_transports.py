"""The SDK's client drives the real process over both transports."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from filelock import FileLock
from mcp import Client, MCPError
from mcp_types import TextContent

from dowse.interfaces.mcp.tools import MIN_BUDGET_TOKENS
from dowse.search.output.token_estimate import estimate_tokens
from tests.agents.clients import http_server, make_tree, run, stdio_client

Connect = Callable[..., AbstractAsyncContextManager[Client]]
ERAS = ["legacy", "auto"]  # the handshake, and requests that carry their version


@pytest.fixture(params=["stdio", "http"])
def connect(request: pytest.FixtureRequest, tree: Path, home: Path) -> Connect:
    """Clients of a server on the tree."""

    @asynccontextmanager
    async def connected(*args: str, **options: Any) -> AsyncIterator[Client]:
        if request.param == "stdio":
            async with stdio_client(tree, home, *args, **options) as client:
                yield client
        else:
            with http_server(tree, home, *args) as server:
                async with server.client(**options) as client:
                    yield client

    return connected


def text(result: Any) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


@pytest.mark.parametrize("mode", ERAS)
def test_every_tool(connect: Connect, mode: str) -> None:
    async def work() -> None:
        async with connect(mode=mode) as client:
            assert {tool.name for tool in (await client.list_tools()).tools} >= {
                "search",
                "read",
                "graph",
                "locate",
                "changes",
                "status",
            }
            found = await client.call_tool("search", {"query": "retry with backoff", "limit": 3})
            assert not found.is_error
            first = found.structured_content["hits"][0]
            assert first["at"].startswith("src/retry.py:")
            assert (first["name"], first["kind"], first["fresh"]) == ("retry_with_backoff", "function", True)
            assert first["why"].startswith("strong: ") and len(first["why"].split()) <= 7
            assert "def retry_with_backoff" in text(found)
            read = await client.call_tool("read", {"target": ["Token.refresh", "src/session.py:1-2"]})
            assert [hit["at"] for hit in read.structured_content["hits"]] == [
                "src/session.py:4-5",
                "src/session.py:1-2",
            ]
            asked = {"query": "token refresh", "near": "src/retry.py:2", "show_low_confidence": True}
            from_there = await client.call_tool("search", asked)
            files = {hit["at"].partition(":")[0] for hit in from_there.structured_content["hits"]}
            assert "src/retry.py" in files
            astray = await client.call_tool("search", {"query": "token", "near": "src/gone.py"})
            assert astray.is_error and "src/gone.py is not in the index" in text(astray)
            nothing = await client.call_tool("search", {"query": "name:nothing_is_called_so"})
            assert not nothing.is_error and not nothing.structured_content["hits"]
            assert "nothing" in text(nothing)
            related = await client.call_tool("graph", {"ask": "related", "target": "src/retry.py"})
            assert related.structured_content["hits"][0]["at"].startswith("tests/test_retry.py")
            callers = await client.call_tool("graph", {"ask": "callers", "target": "retry_with_backoff"})
            assert "tests/test_retry.py:test_retry_gives_up" in text(callers)
            assert callers.structured_content["edges"][0]["relation"] == "invoked-by"
            explained = await client.call_tool("status", {"query": "retry", "target": "src/retry.py"})
            assert explained.structured_content["verdict"] == "shown"
            status = await client.call_tool("status", {"refresh": True, "target": "src/retry.py"})
            (repository,) = status.structured_content["repositories"]
            assert (repository["state"], repository["files"]) == ("current", 3)
            assert "belongs in the index" in text(status)

    run(work)


def test_what_is_asked_again_is_not_answered_with_worse_hits(connect: Connect) -> None:
    async def work() -> None:
        async with connect(mode="legacy") as client:  # a session, which remembers
            first = await client.call_tool("search", {"query": "retry with backoff"})
            again = await client.call_tool("search", {"query": "retry with backoff"})
            assert text(again).count("[sent before]") == min(3, len(first.structured_content["hits"]))
            assert "nothing new (repeat: true sends the code again)" in text(again)
            assert "def retry_with_backoff(call, attempts=3):\n    " not in text(again)
            whole = await client.call_tool("search", {"query": "retry with backoff", "repeat": True})
            assert "nothing new" not in text(whole) and "[sent before]" not in text(whole)

    run(work)


def test_a_wrong_name_gets_the_right_one(connect: Connect) -> None:
    calls = (
        ("search", {"qery": "x"}, "did you mean 'query'?"),
        ("search", {"q": "x"}, "did you mean 'query'?"),
        ("read", {"targets": ["x"]}, "did you mean 'target'?"),
        ("graph", {"action": "callers", "symbol": "x"}, "did you mean 'ask'?"),
        ("changes", {"ask": "history", "zzzz": 1}, "it takes ask, query"),
    )

    async def work() -> None:
        async with connect() as client:
            for tool, arguments, hint in calls:
                answer = await client.call_tool(tool, arguments)
                assert answer.is_error and hint in text(answer)
            with pytest.raises(MCPError, match="did you mean 'search'"):
                await client.call_tool("serch", {"query": "x"})
            one = await client.call_tool("read", {"target": "Token.refresh"})
            assert not one.is_error and "refresh" in text(one)
            located = await client.call_tool("locate", {"text": 'File "src/retry.py", line 5, in x'})
            assert "src/retry.py" in text(located)

    run(work)


def test_changes_are_told(connect: Connect, tree: Path) -> None:
    def commit(message: str) -> None:
        environment = os.environ | {
            f"GIT_{who}_{what}": f"{who}@x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
        }
        for command in (["init", "-q"], ["add", "."], ["commit", "-qm", message]):
            subprocess.run(["git", *command], cwd=tree, env=environment, check=True)

    commit("Set up the project")
    (tree / "src/limits.py").write_text("def throttle(calls):\n    return calls[:10]\n")
    commit("Slow down clients that ask too often")
    (tree / "src/limits.py").write_text("def throttle(calls):\n    return calls[:20]\n")

    async def work() -> None:
        async with connect() as client:
            found = await client.call_tool(
                "changes", {"ask": "history", "query": "why are clients slowed down"}
            )
            assert found.structured_content["commits"][0]["subject"] == "Slow down clients that ask too often"
            assert "+def throttle(calls):" in text(found)
            blamed = await client.call_tool("changes", {"ask": "blame", "target": "throttle"})
            assert "Slow down clients" in text(blamed) and "not committed yet" in text(blamed)
            affected = await client.call_tool("changes", {"ask": "affected"})
            assert "src/limits.py:throttle" in text(affected)
            wrong = await client.call_tool("changes", {"ask": "blame"})
            assert wrong.is_error and "'target'" in text(wrong)

    run(work)


def test_a_graph_shows_what_is_near_before_what_is_far(connect: Connect, tree: Path) -> None:
    (tree / "src/base.py").write_text("def base():\n    pass\n")
    for number in range(30):
        (tree / f"src/far{number}.py").write_text("from a_near import near\n\n\ndef far():\n    near()\n")
    for name in ("a_near", "z_near"):
        (tree / f"src/{name}.py").write_text("from base import base\n\n\ndef near():\n    base()\n")

    async def work() -> None:
        async with connect() as client:
            asked = {"ask": "impact", "target": "src/base.py", "budget": 300}
            answer = await client.call_tool("graph", asked)
            assert not answer.is_error
            assert "src/a_near.py" in text(answer) and "src/z_near.py" in text(answer)
            assert "src/far0.py" in text(answer) and " more: ask with a larger budget" in text(answer)
            values = answer.structured_content
            assert {"src/a_near.py", "src/z_near.py"} <= {edge["to"] for edge in values["edges"]}
            assert values["omitted"] > 0
            for steps, is_far_shown in ((1, False), (-1, True)):
                answer = await client.call_tool("graph", asked | {"depth": steps, "budget": 5000})
                assert ("src/far0.py" in text(answer)) is is_far_shown

    run(work)


def test_a_file_that_is_left_out_cannot_be_read_and_the_answer_says_why(connect: Connect, tree: Path) -> None:
    (tree / "poetry.lock").write_text("x = 1\n")
    (tree / ".gitignore").write_text("notes.py\n")
    (tree / "notes.py").write_text("x = 1\n")

    async def work() -> None:
        async with connect() as client:
            for target, why in (("poetry.lock", "lock file"), ("notes.py:1-2", "skipped: ignored")):
                answer = await client.call_tool("read", {"target": [target]})
                assert answer.is_error and why in text(answer)
            for target in ("gone.py", "src", "src/retry.py:999", "src/retry.py:nothing", "/etc/passwd"):
                answer = await client.call_tool("read", {"target": [target]})
                assert answer.is_error and "skipped" not in text(answer)

    run(work)


def test_tools_of_locagent(connect: Connect) -> None:
    async def work() -> None:
        async with connect("--profile", "locagent", mode="legacy") as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert names == [
                "search_entities",
                "traverse_graph",
                "retrieve_entity",
                "search_code_snippets",
                "explore_tree_structure",
                "get_entity_contents",
            ]
            found = await client.call_tool(
                "search_entities", {"search_terms": ["retry_with*", "Token"], "snippet_mode": "fold"}
            )
            places = {hit["at"] for hit in found.structured_content["hits"]}
            assert {"src/retry.py:4-10", "src/session.py:1-5"} <= places
            lines = await client.call_tool(
                "search_entities", {"file_pattern": "src/session.py", "line_nums": [5]}
            )
            assert lines.structured_content["hits"][0]["name"] == "Token.refresh"
            walked = await client.call_tool(
                "traverse_graph",
                {"start_entities": ["src/retry.py:retry_with_backoff"], "direction": "upstream"},
            )
            assert "invoked-by" in text(walked)
            code = await client.call_tool(
                "retrieve_entity", {"entity_ids": ["src/session.py:Token", "nothing"]}
            )
            assert "class Token" in text(code) and "nothing has the name 'nothing'" in text(code)
            assert "src/session.py:Token is a class" in text(code)

    run(work)


def test_tools_of_locagent_under_its_own_names(connect: Connect) -> None:
    async def work() -> None:
        async with connect("--profile", "locagent", mode="legacy") as client:
            found = await client.call_tool("search_code_snippets", {"search_terms": ["refresh the token"]})
            assert "content" in text(found), "ranked by the profile, below the names"
            elsewhere = {"search_terms": ["Token"], "file_path_or_pattern": "docs/**"}
            assert "0 entities" in text(await client.call_tool("search_code_snippets", elsewhere))
            start = {"start_entities": ["src/retry.py:retry_with_backoff"], "direction": "upstream"}
            walk = {"traversal_depth": 1, "dependency_type_filter": ["invokes"]}
            walked = await client.call_tool("explore_tree_structure", start | walk)
            assert "invoked-by" in text(walked)
            edges = await client.call_tool(
                "traverse_graph", start | {"relation_filter": ["invokes"], "format": "graph"}
            )
            assert "src/retry.py:retry_with_backoff -[invoked-by]-> " in text(edges)
            code = await client.call_tool(
                "get_entity_contents", {"entity_names": ["src/session.py:Token"], "repeat": True}
            )
            assert "class Token" in text(code)

    run(work)


@pytest.mark.parametrize("mode", ERAS)
def test_resources_and_prompts(connect: Connect, mode: str) -> None:
    async def work() -> None:
        async with connect(mode=mode) as client:
            await client.call_tool("search", {"query": "retry"})
            listed = (await client.list_resources()).resources
            assert [resource.name for resource in listed] == [
                "src/retry.py",
                "src/session.py",
                "tests/test_retry.py",
            ]
            content = (await client.read_resource(listed[1].uri)).contents[0]
            assert "class Token" in content.model_dump()["text"]
            entity = await client.read_resource(f"{listed[1].uri}:Token.refresh")
            assert entity.contents[0].model_dump()["text"].startswith("    def refresh")
            assert len((await client.list_resource_templates()).resource_templates) == 3
            with pytest.raises(MCPError, match=r"outside|no file"):
                await client.read_resource("dowse://project/..%2f..%2fetc%2fpasswd")
            names = {prompt.name for prompt in (await client.list_prompts()).prompts}
            assert names == {"onboard", "impact"}
            prompt = await client.get_prompt("impact", {"target": "Token.refresh"})
            assert "Token.refresh" in prompt.messages[0].content.model_dump()["text"]

    run(work)


def test_errors_leave_the_server_alive(connect: Connect) -> None:
    async def work() -> None:
        async with connect(mode="legacy") as client:
            with pytest.raises(MCPError, match="unknown tool"):
                await client.call_tool("grep", {})
            for arguments, said in (
                ({}, "needs 'query'"),
                ({"query": 3}, "must be text"),
                ({"query": "x", "limit": 0}, "from 1 to 100"),
                ({"query": "x", "limit": True}, "whole number"),
                ({"query": "x", "colour": "red"}, "no argument 'colour'"),
                ({"query": "x" * 200_000}, "too long"),
                ({"query": "x", "detail": "all"}, "one of ids"),
                ({"query": "lang:klingon x"}, "klingon"),
                ({"query": "x", "repo": "other"}, "no repository 'other'"),
                ({"query": "x", "cursor": "1.zzz"}, "another query"),
            ):
                result = await client.call_tool("search", arguments)
                assert result.is_error and said in text(result), arguments
            assert not (await client.call_tool("search", {"query": "retry"})).is_error

    run(work)


def test_what_was_sent_is_not_sent_again(connect: Connect, tree: Path) -> None:
    async def work() -> None:
        async with connect(mode="legacy") as client:
            asked = {"query": "retry with backoff", "limit": 1}
            first = await client.call_tool("search", asked)
            again = await client.call_tool("search", asked)
            assert "pause(2**attempt)" in text(first)
            assert "pause(2**attempt)" not in text(again) and "sent before" in text(again)
            assert again.structured_content["hits"][0]["sent_before"] is True
            repeated = await client.call_tool("search", asked | {"repeat": True})
            assert "pause(2**attempt)" in text(repeated)
            changed = (tree / "src/retry.py").read_text().replace("pause(2**attempt)", "pause(3**attempt)")
            (tree / "src/retry.py").write_text(changed)
            fresh = await client.call_tool("search", asked)
            assert "pause(3**attempt)" in text(fresh) and "pause(2**attempt)" not in text(fresh)
        async with connect("--no-memory", mode="legacy") as client:
            for _ in range(2):
                assert "pause(3**attempt)" in text(await client.call_tool("search", asked))

    run(work)


def test_pages_and_budget(connect: Connect, tree: Path) -> None:
    for number in range(30):
        (tree / f"src/part{number:02}.py").write_text(
            f"def handle_part_{number}(job):\n    return job + {number}\n" * 3
        )

    async def work() -> None:
        async with connect(mode="legacy") as client:
            seen: list[str] = []
            asked: dict[str, Any] = {"query": "handle part job", "limit": 7, "detail": "ids"}
            while True:
                page = (await client.call_tool("search", asked)).structured_content
                seen += [hit["at"] for hit in page["hits"]]
                if not page["cursor"] or len(seen) > 200:
                    break
                asked["cursor"] = page["cursor"]
            assert len(seen) == len(set(seen)) >= 30
            asked = {"query": "handle part job", "budget": 400, "repeat": True}
            result = await client.call_tool("search", asked)
            first = result.structured_content
            second = (
                await client.call_tool("search", asked | {"cursor": first["cursor"]})
            ).structured_content
            both = [hit["at"] for hit in first["hits"] + second["hits"]]
            assert both == seen[: len(both)] and 2 < len(first["hits"]) < 10
            assert "return job" in text(result)
            for budget in (1, 20, 60, 150, 400):
                result = await client.call_tool(
                    "search", {"query": "handle part job", "budget": budget, "repeat": True}
                )
                body, _, note = text(result).partition("\nnote: the budget was raised")
                assert estimate_tokens(body) <= max(budget, MIN_BUDGET_TOKENS)
                assert bool(note) == (budget < MIN_BUDGET_TOKENS)
                values = json.dumps(result.structured_content, separators=(",", ":"))
                assert estimate_tokens(values) <= max(budget, MIN_BUDGET_TOKENS)
                assert "index" in result.structured_content

    run(work)


def test_progress_and_cancellation(connect: Connect, tree: Path) -> None:
    for number in range(500):
        body = "\n".join(
            f"def function_{number}_{i}(argument):\n    return argument * {i}\n" for i in range(40)
        )
        (tree / f"src/many{number}.py").write_text(body)

    async def work() -> None:
        heard: list[tuple[float, str]] = []
        begun = anyio.Event()

        async def listen(progress: float, total: float | None, message: str | None) -> None:
            heard.append((progress, message or ""))
            begun.set()

        async with connect(mode="legacy") as client:
            async with anyio.create_task_group() as group:

                async def asking() -> None:
                    await client.call_tool("search", {"query": "function"}, progress_callback=listen)

                group.start_soon(asking)
                await begun.wait()
                group.cancel_scope.cancel()
            started = time.monotonic()
            status = await client.call_tool("status", {})
            assert status.structured_content["repositories"][0]["state"] != "current"
            assert time.monotonic() - started < 20
            done = await client.call_tool("search", {"query": "function_7_7"}, progress_callback=listen)
            assert "function_7_7" in text(done)
        numbers = [number for number, _ in heard]
        assert any("indexing" in message for _, message in heard)
        assert numbers[:1] and all(0 <= number <= 100 for number in numbers)

    run(work)


def test_read_only(connect: Connect, tree: Path) -> None:
    async def work() -> None:
        async with connect("--read-only", mode="legacy") as client:
            result = await client.call_tool("search", {"query": "retry"})
            assert result.is_error and "dowse index" in text(result)
            assert not list(tree.glob(".dowse/*/*.db"))
        async with connect(mode="legacy") as client:
            await client.call_tool("search", {"query": "retry"})
        (tree / "src/retry.py").write_text("def something_else():\n    pass\n")
        async with connect("--read-only", mode="legacy") as client:
            result = await client.call_tool("search", {"query": "retry_with_backoff"})
            stale = [hit for hit in result.structured_content["hits"] if hit["at"].startswith("src/retry.py")]
            assert stale and not stale[0]["fresh"]
            refused = await client.call_tool("status", {"refresh": True})
            assert refused.is_error and "reading only" in text(refused)

    run(work)


def test_repository_that_goes_away_and_comes_back(connect: Connect, tree: Path) -> None:
    async def work() -> None:
        async with connect(str(tree), mode="legacy") as client:
            assert not (await client.call_tool("search", {"query": "retry"})).is_error
            tree.rename(tree.with_name("moved"))
            gone = await client.call_tool("search", {"query": "retry"})
            assert gone.is_error and "exist" in text(gone)
            tree.with_name("moved").rename(tree)
            assert not (await client.call_tool("search", {"query": "retry"})).is_error

    run(work)


def test_repository_or_index_deleted_in_mid_session(connect: Connect, tree: Path) -> None:
    async def work() -> None:
        async with connect(str(tree), mode="legacy") as client:
            assert not (await client.call_tool("search", {"query": "retry"})).is_error
            shutil.rmtree(tree)
            for tool, asked in (
                ("search", {"query": "retry"}),
                ("read", {"target": ["src/retry.py"]}),
                ("graph", {"ask": "callers", "target": "retry_with_backoff"}),
                ("status", {}),
            ):
                gone = await client.call_tool(tool, asked)
                assert gone.is_error and "exist" in text(gone)
            assert not tree.exists()  # nor does the server make it again
            make_tree(tree)
            (tree / "src/session.py").write_text("def made_anew():\n    pass\n")
            found = await client.call_tool("search", {"query": "made_anew"})
            assert found.structured_content["hits"][0]["name"] == "made_anew"
            shutil.rmtree(tree / ".dowse")
            found = await client.call_tool("search", {"query": "made_anew", "repeat": True})
            assert found.structured_content["hits"][0]["fresh"] and "there was no index" in text(found)

    run(work)


def test_index_that_another_process_writes(connect: Connect, tree: Path) -> None:
    async def work() -> None:
        async with connect(mode="legacy") as client:
            assert not (await client.call_tool("search", {"query": "retry"})).is_error
            (data,) = (tree / ".dowse").iterdir()
            with FileLock(data / "lock"):
                (tree / "src/retry.py").write_text("def changed_meanwhile():\n    pass\n")
                answer = await client.call_tool("search", {"query": "retry_with_backoff", "repeat": True})
                assert not answer.is_error and "another process" in text(answer)
                stale = [hit for hit in answer.structured_content["hits"] if "src/retry.py" in hit["at"]]
                assert stale and not stale[0]["fresh"]
            found = await client.call_tool("search", {"query": "changed_meanwhile"})
            assert found.structured_content["hits"][0]["name"] == "changed_meanwhile"
            assert found.structured_content["hits"][0]["fresh"]

    run(work)


def test_waits_for_who_makes_the_first_index(connect: Connect, tree: Path) -> None:
    async def work() -> None:
        async with connect(mode="legacy") as client:
            assert not (await client.call_tool("search", {"query": "retry"})).is_error
            (data,) = (tree / ".dowse").iterdir()
            found: list[Any] = []

            async def asking() -> None:
                found.append(await client.call_tool("search", {"query": "retry", "repeat": True}))

            async with anyio.create_task_group() as group:
                with FileLock(data / "lock"):
                    (data / "catalogue.db").unlink()
                    group.start_soon(asking)
                    await anyio.sleep(1)
                    status = await client.call_tool("status", {})  # it waits, and is alive
                    assert status.structured_content["repositories"][0]["state"] == "missing"
                    assert not found
            assert not found[0].is_error and found[0].structured_content["hits"]

    run(work)


def test_several_folders(connect: Connect, tree: Path, tmp_path: Path) -> None:
    other = make_tree(tmp_path / "other")
    (other / "src" / "retry.py").write_text("def retry_in_other_project():\n    return 2\n")

    async def work() -> None:
        async with connect(str(tree), str(other), mode="legacy") as client:
            found = await client.call_tool("search", {"query": "retry"})
            places = [hit["at"] for hit in found.structured_content["hits"]]
            assert any(at.startswith("project:src/retry.py") for at in places)
            assert any(at.startswith("other:src/retry.py") for at in places)
            one = await client.call_tool("search", {"query": "retry", "repo": "other"})
            assert all(hit["at"].startswith(("src", "tests")) for hit in one.structured_content["hits"])
            read = await client.call_tool("read", {"target": ["other:src/retry.py:1-2"]})
            assert "retry_in_other_project" in text(read)
            assert len(found.structured_content["index"]) == 2
            other.rename(tmp_path / "elsewhere")
            partly = await client.call_tool("search", {"query": "retry"})
            assert not partly.is_error
            status = await client.call_tool("status", {})
            assert [r["repo"] for r in status.structured_content["repositories"]] == ["project"]

    run(work)
