"""Queries of languages in files, and queries that do not work, which every search reports."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from dowse import Engine
from dowse.query_files import MAX_QUERY_BYTES

TASK = """(call function: (identifier) @_call (#eq? @_call "task")
  arguments: (argument_list . (string (string_content) @name))) @function
"""
BROKEN = "(no_such_node) @function"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    (root / "jobs.py").write_text('task("nightly")\n\n\ndef run():\n    pass\n')
    return root


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")


def entities(root: Path, **given: Any) -> tuple[set[str], str]:
    with Engine.open(root, embedder="none", **given) as engine:
        response = engine.search("run nightly")
        with engine.store.snapshot() as snapshot:
            file = snapshot.file_at("jobs.py")
            names = {entity.qualified for entity in file.parsed.entities} if file else set()
    return names, "\n".join(response.notes)


def test_a_file_adds_to_what_is_built_in(tree: Path) -> None:
    assert entities(tree)[0] == {"run"}
    write(tree, ".dowse/queries/python.scm", TASK)
    assert entities(tree)[0] == {"run", "nightly"}


def test_the_index_is_beside_the_queries_that_a_tree_brings(tree: Path) -> None:
    write(tree, ".dowse/queries/python.scm", TASK)
    names, notes = entities(tree)
    assert names == {"run", "nightly"} and "was not made by you" not in notes
    assert len(list((tree / ".dowse").iterdir())) == 2


def test_a_folder_named_in_the_settings(tree: Path) -> None:
    write(tree, "tools/queries/python.scm", TASK)
    write(tree, "dowse.toml", 'query_dir = "tools/queries"\n')
    assert entities(tree)[0] == {"run", "nightly"}


def test_files_add_to_the_table_in_the_settings(tree: Path) -> None:
    write(tree, "dowse.toml", f"[languages.python]\ndefinitions = '''\n{TASK}'''\n")
    write(tree, "jobs.py", 'task("nightly")\njob("weekly")\n')
    write(tree, ".dowse/queries/python.scm", TASK.replace('"task"', '"job"'))
    assert entities(tree)[0] == {"weekly", "nightly"}


def test_a_broken_file_is_named_by_every_search_and_the_language_is_as_built_in(tree: Path) -> None:
    write(tree, ".dowse/queries/python.scm", BROKEN)
    for _ in range(2):
        names, notes = entities(tree)
        assert names == {"run"}
        assert "languages.python in .dowse/queries is not used" in notes and "no_such_node" in notes


def test_a_broken_query_of_the_user_is_named_by_every_search(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "config"
    write(home, "dowse/dowse.toml", f'[languages.python]\ndefinitions = "{BROKEN}"\n')
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home))
    for _ in range(2):
        notes = entities(tree)[1]
        assert "languages.python in user settings does not work, and its files stay out of the index" in notes


def test_what_a_file_of_the_tree_may_not_be(tree: Path, tmp_path: Path) -> None:
    write(tmp_path, "outside.scm", TASK)
    (tree / ".dowse" / "queries").mkdir(parents=True)
    os.symlink(tmp_path / "outside.scm", tree / ".dowse" / "queries" / "python.scm")
    write(tree, ".dowse/queries/go.scm", " " * (MAX_QUERY_BYTES + 1))
    names, notes = entities(tree)
    assert names == {"run"}
    assert "python.scm is not used: a link that leads out of the tree" in notes
    assert "go.scm is not used" in notes


def test_the_folder_may_not_be_a_link_out_of_the_tree(tree: Path, tmp_path: Path) -> None:
    write(tmp_path, "elsewhere/python.scm", TASK)
    (tree / ".dowse").mkdir()
    os.symlink(tmp_path / "elsewhere", tree / ".dowse" / "queries")
    names, notes = entities(tree)
    assert names == {"run"} and "leads out of the tree" in notes


def test_a_tree_may_not_name_a_folder_outside_of_it(tree: Path, tmp_path: Path) -> None:
    write(tmp_path, "elsewhere/python.scm", TASK)
    write(tree, "dowse.toml", 'query_dir = "../elsewhere"\n')
    names, notes = entities(tree)
    assert names == {"run"} and "query_dir" in notes
    assert entities(tree, query_dir="../elsewhere")[0] == {"run", "nightly"}, "the user may"
