from __future__ import annotations

from pathlib import Path

import pytest

from tests.agents.clients import make_tree


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return make_tree(tmp_path / "project")
