"""Settings: what the user gave, in two steps, with errors that say what would be right."""

import os
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from dowse.errors import SettingsError
from dowse.settings import (
    ENVIRONMENT_PREFIX,
    Settings,
    global_git_ignore,
    resolve,
    user_cache_dir,
)


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No settings of whoever runs the tests, and a home of our own."""
    for name in list(os.environ):
        if name.startswith(ENVIRONMENT_PREFIX):
            monkeypatch.delenv(name)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("GIT_CONFIG_GLOBAL", raising=False)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    folder.mkdir()
    return folder


def config(root: Path, text: str, name: str = "dowse.toml") -> None:
    (root / name).write_text(text, encoding="utf-8")


# --- precedence ------------------------------------------------------------------------------------


def test_defaults(root: Path) -> None:
    resolved = resolve(root)
    assert resolved.settings == Settings()
    assert set(resolved.origins.values()) == {"default"}
    assert set(resolved.origins) == {field.name for field in fields(Settings)}


def test_file_then_environment_then_flags(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config(root, "limit = 1\nchunk_size = 101\nworkers = 1\n")
    monkeypatch.setenv("DOWSE_LIMIT", "2")
    monkeypatch.setenv("DOWSE_CHUNK_SIZE", "202")
    resolved = resolve(root, {"limit": 3, "max_definition_lines": None})
    assert (resolved.settings.limit, resolved.origins["limit"]) == (3, "flag")
    assert (resolved.settings.chunk_size, resolved.origins["chunk_size"]) == (202, "environment")
    assert (resolved.settings.workers, resolved.origins["workers"]) == (1, "dowse.toml")
    assert resolved.origins["max_definition_lines"] == "default", "none is not given"


def test_a_flag_that_equals_the_default_still_wins(root: Path) -> None:
    config(root, "limit = 3\n")
    assert resolve(root, {"limit": Settings().limit}).settings.limit == Settings().limit


def test_pyproject(root: Path) -> None:
    config(root, '[project]\nname = "x"\n\n[tool.dowse]\nlimit = 7\n', "pyproject.toml")
    resolved = resolve(root)
    assert (resolved.settings.limit, resolved.origins["limit"]) == (7, "pyproject.toml")


def test_the_own_file_wins_over_pyproject_as_a_whole(root: Path) -> None:
    config(root, "[tool.dowse]\nlimit = 7\nworkers = 3\n", "pyproject.toml")
    config(root, "limit = 8\n")
    assert resolve(root).settings == Settings(limit=8)


def test_a_pyproject_without_our_section_says_nothing(root: Path) -> None:
    config(root, '[project]\nname = "x"\n[tool.other]\nlimit = 3\n', "pyproject.toml")
    assert resolve(root).settings == Settings()


def test_every_kind_of_value_in_a_file(root: Path) -> None:
    config(
        root,
        'include = ["src/**", "lib"]\nuse_ignore_files = false\nlexical_weight = 2\ndense_weight = 0.5\n'
        'embedder = "hashing"\n[languages.toml]\nextensions = [".lock"]\n',
    )
    settings = resolve(root).settings
    assert settings.include == ("src/**", "lib")
    assert settings.use_ignore_files is False
    assert (settings.lexical_weight, settings.dense_weight) == (2.0, 0.5)
    assert isinstance(settings.lexical_weight, float)
    assert settings.embedder == "hashing"
    assert settings.languages == {"toml": {"extensions": [".lock"]}}


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("limit", "5", 5),
        ("refresh", "no", False),
        ("refresh", "ON", True),
        ("refresh", "0", False),
        ("dense_weight", "0.25", 0.25),
        ("include", "src/**, lib ,", ("src/**", "lib")),
        ("embedder", "hashing", "hashing"),
        ("disabled_features", "file_role", ("file_role",)),
    ],
)
def test_every_kind_of_value_in_the_environment(
    root: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str, value: Any
) -> None:
    monkeypatch.setenv(f"DOWSE_{name.upper()}", text)
    assert getattr(resolve(root).settings, name) == value


def test_an_empty_variable_is_not_given(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOWSE_LIMIT", "")
    assert resolve(root).settings.limit == Settings().limit


def test_other_variables_are_nobodys_business(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOWSE_CACHE_DIR", "/somewhere")
    monkeypatch.setenv("DOWSE_SOMETHING_ELSE", "1")
    for name in ("EMBEDDER_KEY", "REWRITER_KEY", "MCP_TOKEN", "STATE_DIR"):
        monkeypatch.setenv(f"DOWSE_{name}", "1")
    assert resolve(root).settings == Settings()
    assert resolve(root).notes == ()


def test_a_misspelt_variable_is_named(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOWSE_LIMT", "3")
    monkeypatch.setenv("DOWSE_CHUNKSIZE", "800")
    assert resolve(root).settings == Settings()
    assert resolve(root).notes == (
        "DOWSE_CHUNKSIZE in the environment is no setting: did you mean DOWSE_CHUNK_SIZE?",
        "DOWSE_LIMT in the environment is no setting: did you mean DOWSE_LIMIT?",
    )


# --- errors ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("chunksize = 3\n", "unknown setting 'chunksize' in dowse.toml: did you mean 'chunk_size'?"),
        ("zzz = 3\n", "unknown setting 'zzz' in dowse.toml: see 'dowse config show'"),
        ('limit = "10"\n', "setting 'limit' in dowse.toml must be a whole number, not '10'"),
        ("limit = true\n", "setting 'limit' in dowse.toml must be a whole number, not True"),
        ("limit = 1.5\n", "setting 'limit' in dowse.toml must be a whole number, not 1.5"),
        ("refresh = 1\n", "setting 'refresh' in dowse.toml must be true or false, not 1"),
        ("dense_weight = true\n", "setting 'dense_weight' in dowse.toml must be a number, not True"),
        ('include = "src"\n', "setting 'include' in dowse.toml must be a list of strings, not 'src'"),
        ("include = [1]\n", "setting 'include' in dowse.toml must be a list of strings"),
        ("languages = 3\n", "setting 'languages' in dowse.toml must be a table, not 3"),
        ("limit = 0\n", "setting 'limit' in dowse.toml must be at least 1, not 0"),
        ("chunk_size = 99\n", "must be at least 100"),
        ("chunk_overlap = -1\n", "must be at least 0"),
        ("max_file_size = 0\n", "must be at least 1"),
        ("workers = -1\n", "must be at least 0"),
        ("max_definition_lines = 0\n", "must be at least 1"),
        ("lexical_weight = -0.5\n", "setting 'lexical_weight' in dowse.toml must be at least 0.0, not -0.5"),
        ("dense_weight = nan\n", "must be at least 0.0, not nan"),
        ("name_weight = inf\n", "must be at least 0.0, not inf"),
        ("min_relevance = 7.0\n", "setting 'min_relevance' in dowse.toml must be at most 1.0, not 7.0"),
        ('fusion = "best"\n', "must be one of learned, scores, rrf, zscore, not 'best'"),
        (
            'disabled_features = ["magic"]\n',
            "unknown group of features 'magic' in dowse.toml: known are lexical,",
        ),
        ("limit = \n", "dowse.toml is not valid TOML"),
        ("limit = 1\nlimit = 2\n", "dowse.toml is not valid TOML"),
    ],
)
def test_a_wrong_file_says_what_would_be_right(root: Path, text: str, message: str) -> None:
    config(root, text)
    with pytest.raises(SettingsError) as raised:
        resolve(root)
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("LIMIT", "ten", "DOWSE_LIMIT=ten: not a valid int"),
        ("LIMIT", "0", "setting 'limit' in environment must be at least 1"),
        ("REFRESH", "maybe", "DOWSE_REFRESH=maybe: not a valid bool"),
        ("DENSE_WEIGHT", "much", "DOWSE_DENSE_WEIGHT=much: not a valid float"),
        ("DENSE_WEIGHT", "nan", "must be at least 0.0"),
        ("LANGUAGES", "python", "setting 'languages' in environment must be a table"),
    ],
)
def test_a_wrong_variable_is_named(
    root: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str, message: str
) -> None:
    monkeypatch.setenv(f"DOWSE_{name}", text)
    with pytest.raises(SettingsError) as raised:
        resolve(root)
    assert message in str(raised.value)


def test_a_wrong_flag_is_named(root: Path) -> None:
    with pytest.raises(SettingsError, match="unknown setting 'limits' in flag: did you mean 'limit'"):
        resolve(root, {"limits": 3})


def test_a_broken_pyproject_is_somebody_elses(root: Path) -> None:
    config(root, "[tool.dowse\nlimit = 3\n", "pyproject.toml")
    assert resolve(root).settings == Settings()


@pytest.mark.parametrize("text", ["tool = 3 # of dowse\n", "[tool]\ndowse = 3\n"])
def test_a_section_that_is_no_table_is_named(root: Path, text: str) -> None:
    config(root, text, "pyproject.toml")
    with pytest.raises(SettingsError, match=r"in pyproject\.toml must be a table, not 3"):
        resolve(root)


def test_a_file_that_is_no_text_is_named(root: Path) -> None:
    (root / "dowse.toml").write_bytes(b"limit = 3 # caf\xe9\n")
    with pytest.raises(SettingsError, match=r"dowse\.toml cannot be read"):
        resolve(root)


def test_a_file_with_a_byte_order_mark_is_read(root: Path) -> None:
    (root / "dowse.toml").write_bytes(b"\xef\xbb\xbflimit = 3\n")
    assert resolve(root).settings.limit == 3


# --- fingerprints ----------------------------------------------------------------------------------

OTHERS: dict[str, Any] = {
    "include": ("a",),
    "exclude": ("a",),
    "max_file_size": 5,
    "use_ignore_files": False,
    "default_excludes": False,
    "mask_secrets": False,
    "languages": {"a": {"extensions": [".a"]}},
    "chunk_size": 500,
    "chunk_overlap": 5,
    "embedder": "other",
}
CONTENT = {"chunk_size", "chunk_overlap", "languages", "mask_secrets"}


@pytest.mark.parametrize("field", [field.name for field in fields(Settings)])
def test_only_what_changes_the_index_changes_its_fingerprint(field: str) -> None:
    default = getattr(Settings(), field)
    other = OTHERS.get(field, ("x",) if isinstance(default, tuple) else (not default))
    changed = replace(Settings(), **{field: other})
    same = changed.index_fingerprint() == Settings().index_fingerprint()
    assert same is (field not in OTHERS)
    assert (changed.content_key() == Settings().content_key()) is (field not in CONTENT)


def test_versions_are_part_of_the_fingerprint() -> None:
    settings = Settings()
    assert settings.index_fingerprint(tokens=1) != settings.index_fingerprint(tokens=2)
    assert settings.index_fingerprint(tokens=1) == Settings().index_fingerprint(tokens=1)


# --- the user's own files --------------------------------------------------------------------------


def home() -> Path:
    return Path.home()


def test_no_global_ignore_file() -> None:
    assert global_git_ignore() is None


def test_the_default_place_of_the_global_ignore_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    default = home() / ".config" / "git" / "ignore"
    default.parent.mkdir(parents=True)
    default.write_text("*.log\n")
    assert global_git_ignore() == default
    elsewhere = tmp_path / "xdg" / "git" / "ignore"
    elsewhere.parent.mkdir(parents=True)
    elsewhere.write_text("*.log\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    assert global_git_ignore() == elsewhere


@pytest.mark.parametrize(
    "text",
    [
        "[core]\n\texcludesfile = ~/mine\n",
        "[core]\n\texcludesFile = ~/mine\n",
        '[core]\nexcludesfile = "~/mine"\n',
        "[core]\n\teditor = vim\n    excludesfile = ~/mine\n",
        "[core]\n\texcludesfile = ~/mine ; of mine\n",
        '[alias]\n\tlg = log --format="%h %s"\n[filter "lfs"]\n\trequired\n[core]\n\texcludesfile=~/mine\n',
        "[core]\n\teditor = vim\n[core]\n\texcludesfile = ~/mine\n",
        "[Core]\n\tExcludesFile = ~/mine\n",
        "[core] excludesFile=~/mine\n",
        '[core "x"] excludesFile = ~/other\n[CORE] # mine\n\texcludesFile = ~/mine\n',
        '[remote "a]b"] url = x\n  [core] excludesfile = ~/mine # yes\n',
    ],
)
def test_a_configured_ignore_file(text: str) -> None:
    (home() / ".gitconfig").write_text(text)
    assert global_git_ignore() is None, "configured, but not there"
    (home() / "mine").write_text("*.log\n")
    assert global_git_ignore() == home() / "mine"


def test_the_environment_names_the_git_configuration(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("mine", "other"):
        (home() / name).write_text("*.log\n")
    (home() / ".gitconfig").write_text("[core]\n\texcludesfile = ~/mine\n")
    (tmp_path / "elsewhere").write_text("[core]\n\texcludesfile = ~/other\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "elsewhere"))
    assert global_git_ignore() == home() / "other"
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    assert global_git_ignore() is None


def test_the_other_place_of_the_git_configuration() -> None:
    (home() / ".config" / "git").mkdir(parents=True)
    (home() / ".config" / "git" / "config").write_text("[core]\n\texcludesfile = ~/mine\n")
    (home() / "mine").write_text("*.log\n")
    assert global_git_ignore() == home() / "mine"


@pytest.mark.parametrize(
    "text",
    [
        "no section = 1\n",
        "[core\n",
        "\0\0\0",
        "[core]\n\texcludesfile\n",
        "[core]\n\texcludesfile = a\0b\n",
        "[core]\n\texcludesfile = ~nobody-of-this-name/x\n",
    ],
)
def test_a_git_configuration_that_cannot_be_read_is_none(text: str) -> None:
    (home() / ".gitconfig").write_text(text)
    assert global_git_ignore() is None


def test_the_cache_folder_can_be_chosen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert user_cache_dir().name == "dowse"
    monkeypatch.setenv("DOWSE_CACHE_DIR", str(tmp_path))
    assert user_cache_dir() == tmp_path
