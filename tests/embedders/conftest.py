"""What tests of embedders share: a service that can be asked, and nothing of the user's own environment."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.embedders import services


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No keys, settings or remembered hashes of whoever runs the tests."""
    for name in list(os.environ):
        if name.startswith("DOWSE_") or name == "OPENAI_API_KEY":
            monkeypatch.delenv(name)
    monkeypatch.setenv("DOWSE_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def service() -> Iterator[services.Service]:
    with services.running() as running:
        yield running
