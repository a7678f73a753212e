"""A running server answers a search command, to the byte as the command would."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from dowse import server_client, settings

pytestmark = pytest.mark.skipif(os.name != "posix", reason="there are no Unix sockets")

QUIET: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}

SECONDS = re.compile(rb"\d+\.\d+ (m?s)\b|(?<=milliseconds\":)[\d.]+")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    (root / "dowse.toml").write_text('embedder = "none"\n')
    (root / "zoo.py").write_text(
        "def zebra_crossing():\n    return 1\n\n\ndef zebra_feeding():\n    return 2\n"
    )
    (root / "farm.py").write_text("def horse_riding():\n    return 'é'\n")
    return root


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("DOWSE_")}
    return {**kept, "DOWSE_STATE_DIR": str(tmp_path / "state"), "PYTHONPROFILEIMPORTTIME": "1"}


@pytest.fixture
def server(tree: Path, environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """Start the server of an agent, which keeps its standard input open."""
    subprocess.run([sys.executable, "-m", "dowse", "index"], cwd=tree, env=environment, check=True, **QUIET)
    command = [sys.executable, "-m", "dowse", "mcp"]
    with subprocess.Popen(
        command,
        cwd=tree,
        env=environment,
        stdin=subprocess.PIPE,
        **QUIET,
    ) as process:
        wait_for_socket(environment)
        yield process
        process.kill()


def wait_for_socket(environment: Mapping[str, str]) -> Path:
    folder = Path(server_client.find_socket_folder(environment))
    while not (found := list(folder.glob("*.sock"))):
        time.sleep(0.05)
    while found[0].stat().st_mode & 0o077:
        time.sleep(0.05)
    return found[0]


class Ran:
    """What a command did."""

    def __init__(self, args: tuple[str, ...], cwd: Path, environment: Mapping[str, str]) -> None:
        command = [sys.executable, "-m", "dowse", *args]
        ran = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, check=False)
        errors = ran.stderr.splitlines()
        self.by_server = not any(line.endswith(b" click.core") for line in errors)
        remarks = [SECONDS.sub(b"N", line) for line in errors if not line.startswith(b"import time:")]
        self.answer = SECONDS.sub(b"N", ran.stdout), remarks, ran.returncode


ANSWERED = (
    ("zebra_crossing",),
    ("search", "where are zebras fed", "-n", "1"),
    ("zebra", "--json"),
    ("horse_riding", "--explain"),
    ("zebra", "--files", "--path", "*.py"),
    ("zebra", "--budget", "100"),
    ("zebra", "--offset", "1"),
    ("nothing is called so", "--all"),
    ("lang:python", "path:zoo.py"),
    ("statsu",),
)


@pytest.mark.usefixtures("server")
def test_the_answer_is_the_same(tree: Path, environment: dict[str, str]) -> None:
    (tree / "inner").mkdir()
    for number, args in enumerate(ANSWERED):
        cwd = tree / "inner" if number % 2 else tree
        own = Ran((*args, "--no-server"), cwd, environment)
        served = Ran(args, cwd, environment)
        assert (own.by_server, served.by_server) == (False, True), args
        assert served.answer == own.answer, args


@pytest.mark.usefixtures("server")
def test_what_is_left_to_the_command(tree: Path, environment: dict[str, str], tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "sea.py").write_text("def whale_song():\n    return 1\n")
    for args, added in (
        (("zebra", "--store", "memory"), {}),
        (("zebra", "--near", "zoo.py"), {}),
        (("zebra", "--color", "always"), {}),
        (("zebra", "--path", "./zoo.py"), {}),
        (("zebra", "-n", "none"), {}),
        (("whale_song", "--root", str(other)), {}),
        (("zebra",), {"DOWSE_LIMIT": "1"}),
        (("zebra",), {"DOWSE_USE_SERVER": "off"}),
        (("callers", "zebra_crossing"), {}),
    ):
        ran = Ran(args, tree, {**environment, **added})
        own = Ran((*args, "--no-server"), tree, {**environment, **added})
        assert not ran.by_server, args
        assert args[0] == "callers" or ran.answer[0] == own.answer[0]
    (tree / "dowse.toml").write_text('embedder = "none"\nuse_server = false\n')
    assert not Ran(("zebra_crossing",), tree, environment).by_server


@pytest.mark.usefixtures("server")
def test_the_answer_is_as_fresh(tree: Path, environment: dict[str, str]) -> None:
    for name in ("okapi_watching", "tapir_watching", "panda_watching"):
        (tree / "farm.py").write_text(f"def {name}():\n    return 1\n")
        ran = Ran((name,), tree, environment)
        assert ran.by_server
        assert b"farm.py:1-2: " + name.encode() in ran.answer[0]


def test_without_a_server_any_more(
    tree: Path, environment: dict[str, str], server: subprocess.Popen[bytes]
) -> None:
    path = wait_for_socket(environment)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    path.parent.chmod(0o755)  # somebody else could have put a socket there
    assert not Ran(("zebra_crossing",), tree, environment).by_server
    path.parent.chmod(0o700)
    os.kill(server.pid, signal.SIGSTOP)  # it hangs
    ran = Ran(("zebra_crossing",), tree, environment)
    assert not ran.by_server
    assert b"zebra_crossing" in ran.answer[0]
    server.kill()
    server.wait()
    ran = Ran(("zebra_crossing",), tree, environment)
    assert path.exists()
    assert not ran.by_server
    assert b"zebra_crossing" in ran.answer[0]


def test_the_folder_is_where_the_settings_have_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variables in (
        {"DOWSE_STATE_DIR": str(tmp_path)},
        {"XDG_STATE_HOME": str(tmp_path)},
        {"XDG_STATE_HOME": "relative"},
        {},
    ):
        with monkeypatch.context() as context:
            for name in ("DOWSE_STATE_DIR", "XDG_STATE_HOME"):
                context.delenv(name, raising=False)
            for name, value in variables.items():
                context.setenv(name, value)
            folder = server_client.find_socket_folder(settings.read_variables())
            assert folder == f"{settings.user_state_dir()}/{server_client.SOCKET_FOLDER}"
