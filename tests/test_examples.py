"""The examples and what the documentation shows, run as they stand."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import yaml

from dowse.interfaces.cli import cli
from tests.test_docs import PAGES, ROOT

EXAMPLES = ROOT / "examples"

PYTHON_PAGES = ("README.md", "docs/python.md")

FILES = {
    "shop/money.py": "def round_price(price: float) -> float:\n    return round(price, 2)\n",
    "shop/mail.py": (
        "from shop.money import round_price\n\n\n"
        "def send_receipt(price: float) -> str:\n"
        '    """Send the receipt to the customer."""\n'
        "    return str(round_price(price))\n"
    ),
    "tests/test_mail.py": (
        "from shop.mail import send_receipt\n\n\ndef test_send_receipt():\n    assert send_receipt(1) == '1'\n"
    ),
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "some-project"
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


def run(tree: Path, *args: str, code: int = 0) -> str:
    """Run a command in a tree; its standard output."""
    done = subprocess.run(args, cwd=tree, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def dowse(tree: Path, *args: str, code: int = 0) -> str:
    return run(tree, sys.executable, "-m", "dowse", *args, code=code)


def commit_all(tree: Path) -> None:
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    run(tree, "git", "init", "--quiet")
    run(tree, "git", "add", ".")
    run(tree, "git", *identity, "commit", "--quiet", "--message", "Begin")


def test_python(tree: Path) -> None:
    text = run(tree, sys.executable, str(EXAMPLES / "python/find.py"), str(tree), "where is a price rounded")
    assert text.startswith("shop/money.py:1-2 round_price (")
    assert "\nwhy: " in text
    assert "called by shop/mail.py:send_receipt" in text


def test_the_gate_passes_then_fails(tree: Path) -> None:
    shutil.copy(EXAMPLES / "ci-gate/search-truth.jsonl", tree)
    gate = _find_step(EXAMPLES / "ci-gate/search-quality.yml", "dowse eval")
    args = [arg.replace("$GITHUB_STEP_SUMMARY", "summary.md") for arg in shlex.split(gate)][1:]
    dowse(tree, "eval", "search-truth.jsonl", "--save", "search-baseline.json")
    dowse(tree, *args)
    assert "hit@5" in (tree / "summary.md").read_text()
    (tree / "shop/mail.py").unlink()
    (tree / "shop/money.py").unlink()
    dowse(tree, *args, code=1)


def test_affected_tests(tree: Path) -> None:
    commit_all(tree)
    (tree / "shop/money.py").write_text(
        "def round_price(price: float) -> float:\n    return round(price, 3)\n"
    )
    workflow = EXAMPLES / "affected-tests/affected-tests.yml"
    (command,) = re.findall(r"dowse (affected .*) > tests.txt", _find_step(workflow, "tests.txt"))
    assert dowse(tree, *command.replace('"$BASE"', "HEAD").split()).split() == ["tests/test_mail.py"]
    (command,) = re.findall(r"dowse (affected [^;]*);", _find_step(workflow, "comment.md"))
    assert "shop/mail.py" in dowse(tree, *command.replace('"$BASE"', "HEAD").split())


def _find_step(workflow: Path, part: str) -> str:
    """Find the command of the step that has some text."""
    (job,) = yaml.safe_load(workflow.read_text())["jobs"].values()
    (command,) = (step["run"] for step in job["steps"] if part in step.get("run", ""))
    return str(command)


def test_the_configuration_of_an_agent(tree: Path) -> None:
    server = json.loads((EXAMPLES / "agents/mcp.json").read_text())["mcpServers"]["dowse"]
    assert server["command"] == "dowse"
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})
    done = subprocess.run(
        [sys.executable, "-m", "dowse", *server["args"]],
        cwd=tree, input=request + "\n", capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert json.loads(done.stdout.splitlines()[0])["result"]["serverInfo"]["name"] == "dowse"


def test_custom_languages(tree: Path) -> None:
    shutil.copy(EXAMPLES / "custom-language/dowse.toml", tree)
    (tree / "tea.mlua").write_text("function pour_tea(cup)\n  return fill(cup)\nend\n")
    (tree / "tea.brew").write_text("steep four minutes\n")
    found = json.loads(dowse(tree, "search", "pour_tea", "--json"))["results"][0]
    assert (found["path"], found["entity"], found["language"]) == ("tea.mlua", "pour_tea", "moon")
    found = json.loads(dowse(tree, "search", "steep", "--lang", "brew", "--json"))["results"][0]
    assert found["path"] == "tea.brew"


@pytest.fixture
def port() -> Iterator[int]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number = free.getsockname()[1]
    server = subprocess.Popen([sys.executable, EXAMPLES / "custom-embedder/server.py", str(number)])
    try:
        for _ in range(100):
            with socket.socket() as client:
                if client.connect_ex(("127.0.0.1", number)) == 0:
                    break
            time.sleep(0.1)
        yield number
    finally:
        server.kill()
        server.wait()


def test_a_custom_embedder(tree: Path, port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOWSE_EMBEDDER", "openai:mine")
    monkeypatch.setenv("DOWSE_EMBEDDER_URL", f"http://127.0.0.1:{port}/v1")
    dowse(tree, "index")
    text = dowse(tree, "search", "send the receipt to the customer", "--explain")
    assert text.count("shop/mail.py") and re.search(r"channel  dense: [1-9]", text)


@pytest.mark.parametrize("page", PYTHON_PAGES)
def test_python_of_the_documentation(tree: Path, page: str) -> None:
    for block in re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(encoding="utf-8"), re.M | re.S):
        code = block.replace("~/src/some-project", str(tree)).replace("Session.send", "round_price")
        commit_all(tree)
        assert run(tree, sys.executable, "-c", code)


def list_commands(page: Path) -> Iterator[list[str]]:
    """List the arguments of the commands that the blocks of a page show."""
    blocks = re.findall(
        r"^```(?:\w*)\n(.*?)^```|((?:^    .*\n)+)", page.read_text(encoding="utf-8"), re.M | re.S
    )
    for line in "".join(fenced or indented for fenced, indented in blocks).splitlines():
        for part in re.split(r"\s[|&;>]+\s|[;{}]", re.sub(r"\s#.*", "", line)):
            if match := re.match(r"\s*(?:\$ )?dowse(?: (.*))?$", part):
                yield shlex.split(match[1] or "")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_that_are_shown_exist(page: Path) -> None:
    for args in list_commands(page):
        parse(cli, "dowse", args)


def parse(command: click.Command, name: str, args: list[str], parent: click.Context | None = None) -> None:
    """Parse arguments as the command would; files that are named need not be there."""
    context = click.Context(command, info_name=name, parent=parent)
    try:
        command.parse_args(context, list(args))
    except click.exceptions.Exit:
        return
    except (click.BadParameter, click.MissingParameter):
        return
    if isinstance(command, click.Group):
        rest = [*context._protected_args, *context.args]
        if rest:
            found, sub, rest = command.resolve_command(context, rest)
            assert sub is not None
            parse(sub, str(found), rest, context)
