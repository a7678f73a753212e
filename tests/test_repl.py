"""The conversation: a line in, text out; and the command around it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from dowse import Engine
from dowse.errors import UsageError
from dowse.interfaces.editor import build_editor_command
from dowse.interfaces.render import View
from dowse.interfaces.repl import COMMANDS, HELP, PLAIN_COMMANDS, Conversation, Quit
from tests.test_cli import Shell, make_tree


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[Conversation]:
    with Engine.open(make_tree(tmp_path / "tree")) as engine:
        yield Conversation(engine, View(cwd=str(engine.root)))


def test_questions_are_numbered_and_go_on(talk: Conversation) -> None:
    talk.answer(":limit 1")
    first = talk.answer("retry")
    assert first.startswith(" 1  ")
    more = talk.answer(":more")
    assert more.startswith(" 2  ") and " 1  " not in more.split("\n")[0]


def test_what_is_set_stays_set(talk: Conversation) -> None:
    assert "lang: go" in talk.answer(":lang go")
    assert "server.go" in talk.answer("retry queue") and ".py" not in talk.answer("retry queue")
    talk.answer(":lang")
    talk.answer(":path tests")
    answer = talk.answer("retry")
    assert "test_retry.py" in answer and "src/retry.py" not in answer
    assert "path: tests" in talk.answer(":set")
    assert "explain: on" in talk.answer(":explain")
    assert "type " in talk.answer("retry")


def test_hits_are_opened_at_their_line(talk: Conversation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", "vim -u NONE")
    opened: list[Sequence[str]] = []
    talk.run = opened.append
    talk.answer("Token refresh")
    assert talk.last_response
    hit = talk.last_response.results[0]
    talk.answer(":1")
    assert opened == [["vim", "-u", "NONE", f"+{hit.start_line}", str(talk.engine.root / hit.path)]]
    with pytest.raises(UsageError, match="no hit 99"):
        talk.answer(":99")


@pytest.mark.parametrize(
    ("editor", "expected"),
    [
        ("code --wait", ["code", "--wait", "-g", "x.py:7"]),
        ("nano", ["nano", "+7", "x.py"]),
        ("hx", ["hx", "x.py:7"]),
    ],
)
def test_editors(monkeypatch: pytest.MonkeyPatch, editor: str, expected: list[str]) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", editor)
    assert build_editor_command("x.py", 7) == expected
    monkeypatch.delenv("EDITOR")
    with pytest.raises(UsageError, match="EDITOR"):
        build_editor_command("x.py", 7)


def test_commands(talk: Conversation) -> None:
    talk.answer("retry_with_backoff")
    assert "test_retry.py" in talk.answer(":related 1")
    assert "current" in talk.answer(":status")
    assert talk.answer("") == ""
    assert all(f":{name}" in HELP or name == "q" for name in COMMANDS)
    for line in (":limit x", ":lang klingon", ":related x", ":nonsense"):
        with pytest.raises(UsageError):
            talk.answer(line)
    with pytest.raises(UsageError, match="did you mean :limit"):
        talk.answer(":limt 3")
    with pytest.raises(Quit):
        talk.answer(":quit")
    assert talk.answer("help") == talk.answer("?") == HELP
    with pytest.raises(Quit):
        talk.answer("exit")
    assert set(PLAIN_COMMANDS.values()) <= {f":{name}" for name in COMMANDS}


def test_completion(talk: Conversation) -> None:
    talk.answer("retry")
    assert talk.completions(":li") == [":limit"]
    assert talk.completions("lang:py") == ["lang:python", "lang:python-project", "lang:python-requirements"]
    assert talk.completions("sr") == ["src/"]
    assert talk.completions("path:src/se") == ["path:src/server.go", "path:src/session.py"]


def test_command(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "tree")
    done = Shell(tree, tmp_path)("shell", stdin=b"retry with backoff\n:limit zero\n:quit\nnever asked\n")
    assert done.returncode == 0
    assert "retry_with_backoff" in done.stdout and "never asked" not in done.stdout
    assert ":limit takes a number" in done.stderr
