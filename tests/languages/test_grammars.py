"""Which grammars are loaded: installed ones and, whatever the settings of a tree say, no others."""

from pathlib import Path

import pytest

from dowse.code import parsing
from dowse.errors import SettingsError

TRAP = "raise SystemExit('ran what lies in the tree')\n"


@pytest.mark.parametrize(
    "spec",
    ["evil:language", "os:abort", "os.path:language", "tree_sitter_python:abort", "tree_sitter:Parser"],
)
def test_what_is_not_called_like_a_grammar_is_not_imported(
    spec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "evil.py").write_text(TRAP)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(SettingsError, match=r"must be an installed package that is called tree_sitter_\*"):
        parsing.load_grammar(spec)


@pytest.mark.parametrize("folder", ["src", "site-packages"])
@pytest.mark.parametrize("file", ["tree_sitter_evil.py", "tree_sitter_evil/__init__.py"])
def test_what_lies_in_the_working_directory_is_not_imported(
    folder: str, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = tmp_path / folder / file
    module.parent.mkdir(parents=True)
    module.write_text(TRAP)
    monkeypatch.chdir(tmp_path / folder)
    monkeypatch.syspath_prepend(tmp_path / folder)
    with pytest.raises(
        SettingsError, match="not a folder of installed packages; install the package with pip"
    ):
        parsing.load_grammar("tree_sitter_evil:language")


def test_an_installed_grammar_is_found_in_any_folder_of_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages = tmp_path / "dist-packages"
    packages.mkdir()
    (packages / "tree_sitter_elsewhere.py").write_text("from tree_sitter_python import language\n")
    monkeypatch.syspath_prepend(packages)
    assert parsing.load_grammar("tree_sitter_elsewhere").node_kind_count


def test_a_missing_grammar_says_what_is_missing() -> None:
    with pytest.raises(
        SettingsError, match=r"No module named 'tree_sitter_no_such'\): is its package installed"
    ):
        parsing.load_grammar("tree_sitter_no_such:language")
