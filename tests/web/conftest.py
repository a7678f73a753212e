from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.agents.clients import make_tree
from tests.web.serving import serve_here


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = make_tree(tmp_path_factory.mktemp("trees") / "project")
    quiet = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*quiet, *command], cwd=folder, check=True)
    return folder


@pytest.fixture(scope="module")
def client(tree: Path) -> Iterator[httpx2.Client]:
    with serve_here(tree) as client:
        client.get("/api/v1/search", params={"query": "anything"})  # there is an index from now on
        yield client
