"""Keys of the environment go to addresses that the user chose, never to one that a tree names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dowse import embedders
from dowse.engine import Engine
from dowse.errors import EmbedderError
from dowse.settings import resolve, user_config_file
from tests.agents.clients import make_tree
from tests.embedders.services import Service, running, status
from tests.test_llm_rewriter import says

KEY = "sk-of-the-user"


@pytest.fixture
def service() -> Iterator[Service]:
    with running() as service:
        yield service


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("DOWSE_EMBEDDER_KEY", "DOWSE_REWRITER_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, KEY)
    return make_tree(tmp_path / "tree")


def keys(service: Service) -> set[str | None]:
    """Return what came as a key, None for requests without one."""
    assert service.requests
    return {asked.headers.get("authorization") for asked in service.requests}


def embed(tree: Path) -> None:
    resolved = resolve(tree)
    embedder = embedders.create(resolved.settings.embedder, resolved, tree)
    assert embedder
    embedder.embed_query("retry")


def choose(tree: Path, kind: str, url: str, chooser: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let somebody choose an address: the tree, or the user in the environment or in a file."""
    file = tree / "dowse.toml" if chooser == "tree" else user_config_file()
    if chooser == "environment":
        monkeypatch.setenv(f"DOWSE_{kind.upper()}_URL", url)
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f'{kind}_url = "{url}"\n', encoding="utf-8")


@pytest.mark.parametrize(
    ("chooser", "sent"), [("tree", None), ("environment", f"Bearer {KEY}"), ("file", f"Bearer {KEY}")]
)
def test_the_key_of_an_embedder(
    tree: Path, service: Service, chooser: str, sent: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOWSE_EMBEDDER", "openai:x")
    choose(tree, "embedder", f"{service.url}/v1", chooser, monkeypatch)
    embed(tree)
    assert keys(service) == {sent}


@pytest.mark.parametrize(
    ("chooser", "sent"), [("tree", None), ("environment", f"Bearer {KEY}"), ("file", f"Bearer {KEY}")]
)
def test_the_key_of_a_rewriter(
    tree: Path, service: Service, chooser: str, sent: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOWSE_REWRITER", "openai:x")
    service.behaviour = says("retry_with_backoff")
    choose(tree, "rewriter", f"{service.url}/v1", chooser, monkeypatch)
    with Engine.open(tree) as engine:
        engine.search("again")
    assert keys(service) == {sent}


def test_a_service_that_wants_a_key_says_who_must_choose_it(
    tree: Path, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.behaviour = status(401, "no key")
    (tree / "dowse.toml").write_text(f'embedder = "openai:x"\nembedder_url = "{service.url}/v1"\n')
    with pytest.raises(EmbedderError, match="no key is sent to an address that a tree names"):
        embed(tree)
    assert keys(service) == {None}
