"""Settings that come with a tree: what they may decide, and what is said about the rest."""

from __future__ import annotations

import os
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from dowse import embedders
from dowse.engine import Engine
from dowse.errors import SettingsError
from dowse.multi_repo import Repositories
from dowse.settings import ENVIRONMENT_PREFIX, Settings, resolve, user_config_file
from dowse.tree_settings import POLICIES
from tests.agents.clients import make_tree, run, stdio_client
from tests.test_cli import Shell


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """No settings of whoever runs the tests, and a home of our own."""
    for name in list(os.environ):
        if name.startswith(ENVIRONMENT_PREFIX):
            monkeypatch.delenv(name)
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("USERPROFILE", str(folder))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
    return folder


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return make_tree(tmp_path / "tree")


def config(root: Path, text: str) -> None:
    (root / "dowse.toml").write_text(text, encoding="utf-8")


def test_every_setting_has_a_row() -> None:
    assert list(POLICIES) == [field.name for field in fields(Settings)]
    assert all(row.reason for row in POLICIES.values() if row.bounds != "anything")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('index_dir = "/tmp/elsewhere"', "index_dir"),
        ('index_dir = "../other/.dowse"', "index_dir"),
        ('index_dir = "src/../../other/.dowse"', "index_dir"),
        ('index_dir = "~/.dowse"', "index_dir"),
        ("max_file_size = 100_000_000_000", "max_file_size"),
        ("max_file_size = 10_000_001", "max_file_size"),
        ("workers = 100_000", "workers"),
        ("chunk_size = 1_000_000_000", "chunk_size"),
        ("chunk_overlap = 1_000_000", "chunk_overlap"),
        ("limit = 1_000_000_000", "limit"),
        ("max_definition_lines = 1_000_000_000", "max_definition_lines"),
        ("entity_threshold = 1_000_000", "entity_threshold"),
        ("embedder_batch = 1_000_000", "embedder_batch"),
        ("embedder_dimensions = 1_000_000", "embedder_dimensions"),
        ("embedder_timeout = 1e9", "embedder_timeout"),
        ("store_timeout = 1e9", "store_timeout"),
        ("rewriter_timeout = 1e9", "rewriter_timeout"),
        ("lexical_weight = 1e300", "lexical_weight"),
        (f'embedder_document_prefix = "{"x" * 10_000}"', "embedder_document_prefix"),
        (f"exclude = {['x'] * 2000}", "exclude"),
        ("mask_secrets = false", "mask_secrets"),
        ("search_log = true", "search_log"),
        ("trust_index = true", "trust_index"),
        ('store_repository = "github.com/team/other"', "store_repository"),
        ('store_schema = "other"', "store_schema"),
        ('store = "embedded"\nstore_repository = "github.com/team/other"', "store_repository"),
        ('store = "postgresql:///mine"\nstore_view = "laptop:/home/me/other"', "store_view"),
        ('[repositories]\nother = "../other"', "repositories"),
        ('[repositories]\nother = "/etc"', "repositories"),
        ('[repositories]\nother = "~/secret"', "repositories"),
    ],
)
def test_what_a_tree_may_not_set_is_not_used_and_said_once(tree: Path, text: str, name: str) -> None:
    config(tree, text + "\n")
    resolved = resolve(tree)
    assert getattr(resolved.settings, name) == getattr(Settings(), name)
    assert resolved.origins[name] == "default"
    (note,) = resolved.notes
    assert note.startswith(f"{name} in dowse.toml is not used: ")
    assert f"DOWSE_{name.upper()} in your environment" in note and str(user_config_file()) in note


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ('index_dir = "build/index"', "index_dir", "build/index"),
        ("max_file_size = 10_000_000", "max_file_size", 10_000_000),
        ("workers = 1", "workers", 1),
        ("mask_secrets = true", "mask_secrets", True),
        ('[repositories]\nsources = "src"', "repositories", {"sources": "src"}),
        ('store = "postgresql:///mine"\nstore_schema = "x"', "store_schema", "x"),
    ],
)
def test_what_a_tree_may_set(tree: Path, text: str, name: str, value: Any) -> None:
    config(tree, text + "\n")
    resolved = resolve(tree)
    assert (getattr(resolved.settings, name), resolved.notes) == (value, ())


def test_the_users_own_value_is_used_instead(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    user_config_file().parent.mkdir(parents=True)
    user_config_file().write_text("max_file_size = 20_000_000\nlimit = 5\n", encoding="utf-8")
    config(tree, "max_file_size = 30_000_000\nlimit = 2000\nmask_secrets = false\n")
    monkeypatch.setenv("DOWSE_MASK_SECRETS", "0")
    resolved = resolve(tree, {"limit": 7})
    found = resolved.settings
    assert (found.max_file_size, found.limit, found.mask_secrets) == (20_000_000, 7, False)
    (note,) = resolved.notes
    assert note.startswith("max_file_size "), "what the user decided needs no note"


def test_no_more_than_a_gigabyte_for_anybody(tree: Path) -> None:
    with pytest.raises(SettingsError, match="must be at most 1000000000"):
        resolve(tree, {"max_file_size": 1_000_000_001})


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
@pytest.mark.parametrize("place", ["link", "link/index", "src/link"])
def test_an_index_behind_a_link_is_refused(tree: Path, tmp_path: Path, place: str) -> None:
    (tmp_path / "other").mkdir()
    link = tree / place.removesuffix("/index")
    link.symlink_to(tmp_path / "other")
    config(tree, f'index_dir = "{place}"\n')
    resolved = resolve(tree)
    assert not resolved.settings.index_dir and "is a link" in resolved.notes[0]


def test_a_tree_cannot_clear_the_index_of_another(tree: Path, tmp_path: Path) -> None:
    other = make_tree(tmp_path / "other")
    with Engine.open(other) as engine:
        engine.index()
        made = engine.index_files()
    config(tree, f'index_dir = "{(other / ".dowse").as_posix()}"\n')
    with Engine.open(tree) as engine:
        engine.index()
        engine.clear()
    assert made and all(path.exists() for path in made)


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_repository_behind_a_link_is_refused_and_the_others_stay(tree: Path, tmp_path: Path) -> None:
    (tree / "link").symlink_to(tmp_path)
    config(tree, '[repositories]\nsources = "src"\nout = "link"\n')
    resolved = resolve(tree)
    assert resolved.settings.repositories == {"sources": "src"}
    assert "'out'" in resolved.notes[0] and "sources" not in resolved.notes[0]


def test_notes_of_the_tree_that_names_repositories(tree: Path) -> None:
    config(tree, '[repositories]\nsources = "src"\nout = ".."\n')
    with Repositories.open(["sources"], tree) as some:
        response = some.search("retry")
    assert response.results and len([note for note in response.notes if "'out'" in note]) == 1


@pytest.mark.parametrize("provider", ["onnx", "model2vec"])
def test_a_tree_cannot_have_its_model_loaded(
    tree: Path, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tree / "model").mkdir()
    (tree / "model" / "model.onnx").write_bytes(b"\0" * 100)
    config(tree, f'embedder = "{provider}:model"\n')
    resolved = resolve(tree)
    with pytest.raises(SettingsError, match="for you to decide"):
        embedders.create(resolved.settings.embedder, resolved, tree)
    with Engine.open(tree) as engine, pytest.raises(SettingsError, match=f"DOWSE_EMBEDDER={provider}:model"):
        engine.search("retry")
    with Engine.open(tree, embedder="none") as engine:
        assert engine.search("retry").results


def test_names_of_a_tree_are_not_used_for_a_store_that_is_copied_to(tree: Path) -> None:
    config(tree, 'store = "postgresql:///mine"\nstore_repository = "victim"\nstore_schema = "theirs"\n')
    with Engine.open(tree) as engine:
        assert engine._choose_shared_setting("store_repository", "postgresql:///mine") == "victim"
        assert engine._choose_shared_setting("store_repository", "postgresql://team/index") == ""
        assert engine._choose_shared_setting("store_schema", "postgresql://team/index") == "dowse"


def test_every_interface_shows_the_notes(tree: Path, home: Path) -> None:
    config(tree, "mask_secrets = false\n")
    shell = Shell(tree, home)
    for command in (["index"], ["search", "retry"], ["status"], ["config", "show"]):
        notes = [note for note in shell.json(*command)["notes"] if "mask_secrets" in note]
        assert len(notes) == 1, command
        told = shell(*command)
        assert (told.stdout + told.stderr).count("mask_secrets in dowse.toml is not used") == 1

    async def work() -> None:
        async with stdio_client(tree, home) as client:
            for tool, asked in (
                ("search", {"query": "retry"}),
                ("status", {}),
                ("status", {"query": "retry", "target": "src/retry.py"}),
                ("locate", {"text": "retry_with_backoff failed"}),
            ):
                answer = await client.call_tool(tool, asked)
                assert str(answer.content).count("mask_secrets in dowse.toml is not used") == 1, tool
                assert "mask_secrets in dowse.toml is not used" in str(answer.structured_content)

    run(work)


@pytest.mark.parametrize(
    "table",
    [
        "definitions = '(no_such_node) @function'",
        'grammar = "tree_sitter_no_such:language"',
        'extensions = ".py"',
        "no_such_key = 1",
    ],
)
def test_a_broken_language_of_a_tree_is_as_built_in(tree: Path, table: str) -> None:
    config(tree, f"[languages.python]\n{table}\n")
    for _ in range(2):
        with Engine.open(tree) as engine:
            response = engine.search("retry_with_backoff")
            assert response.results[0].entity == "retry_with_backoff"
            (note,) = (
                note for note in response.notes if "languages.python in dowse.toml is not used" in note
            )
            assert note in engine.notes
    user_config_file().parent.mkdir(parents=True)
    (tree / "dowse.toml").rename(user_config_file())
    if "key" in table or "extensions" in table:
        with pytest.raises(SettingsError):
            Engine.open(tree)


def test_the_page_says_what_a_tree_may_set() -> None:
    page = (Path(__file__).parents[2] / "docs" / "settings.md").read_text(encoding="utf-8")
    assert not [name for name, row in POLICIES.items() if f"| `{name}` | {row.bounds} |\n" not in page]
