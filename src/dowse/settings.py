"""Configuration loading: resolve settings from files, environment variables and flags, with the origin of each value.

Later sources win: the user's ``dowse.toml``, the tree's ``dowse.toml`` or ``[tool.dowse]`` in ``pyproject.toml``
(``settings_files``), the environment (``DOWSE_CHUNK_SIZE=800``), flags. The settings themselves are in
``settings_schema``. The only module that reads the environment, so the user's folders and API keys are here too.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Set
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from dowse import tree_settings
from dowse.errors import SettingsError
from dowse.frozen import frozen
from dowse.git_config import read_excludes_file
from dowse.lazy_regex import compile_lazily
from dowse.query_files import DEFAULT_FOLDER as DEFAULT_QUERY_FOLDER
from dowse.query_files import add_queries, read_query_files
from dowse.settings_files import CONFIG_FILE as CONFIG_FILE
from dowse.settings_files import config_name, read_tree_file, read_user_file
from dowse.settings_schema import ENVIRONMENT_PREFIX as ENVIRONMENT_PREFIX
from dowse.settings_schema import FEATURE_GROUPS as FEATURE_GROUPS
from dowse.settings_schema import FIELDS, check_maximum, check_value, parse_text
from dowse.settings_schema import Settings as Settings

USER_ORIGIN = "user settings"

OPENAI_HOST = "api.openai.com"

_OTHER_VARIABLES = frozenset(
    {
        "embedder_key",
        "rewriter_key",
        "mcp_token",
        "serve_token",
        "state_dir",
        "cache_dir",
        "store_user",
        "store_password",
        "store_password_file",
    }
)
"""The other environment variables with the prefix, in lower case and without it."""

_MISSPELT_SIMILARITY = 0.75
"""How similar (0 to 1) a variable's name is to a setting's to be taken for a misspelling of it."""

_PASSWORD = compile_lazily(r"(?<=://)([^/@\s:]*):([^@\s]*)@")
_PASSWORD_WORD = compile_lazily(r"(?i)\b(password|sslpassword|passwd)=('[^']*'|[^&\s]+)")
"""Where a URL has a password: before the host, or as an option."""


@frozen
class ResolvedSettings:
    """The settings of a run, and where each value comes from; notes say what was refused or looks misspelt."""

    settings: Settings
    origins: Mapping[str, str]
    notes: tuple[str, ...] = ()

    def is_from_tree(self, name: str) -> bool:
        """Return whether a file in the tree decided a setting, and not the user."""
        return self.origins.get(name, "default") not in ("default", USER_ORIGIN, "environment", "flag")

    def may_send_key(self, url_setting: str) -> bool:
        """Return whether the user's key may go to an address: one that the user chose, or the provider's default."""
        return not getattr(self.settings, url_setting) or not self.is_from_tree(url_setting)

    def require_user(self, name: str, request: str, decision: str) -> None:
        """Raise an error if a file in the tree, and not the user, decided a setting that leads to a request."""
        if self.is_from_tree(name):
            raise SettingsError(
                f"{self.origins[name]} asks to {request}, which is for you to decide: "
                f"if you want it, set {decision} in your environment"
            )


def resolve(root: Path, given: Mapping[str, Any] | None = None) -> ResolvedSettings:
    """Resolve the settings for a tree: the user's own file, the tree's, the environment, ``given``; later ones win.

    In ``given``, None means "not given". Of the tree's file, only what ``tree_settings`` allows is used; notes name
    the rest.
    """
    values: dict[str, Any] = {}
    origins = dict.fromkeys(FIELDS, "default")
    environment = _read_environment()
    flags = {key: value for key, value in (given or {}).items() if value is not None}
    name = config_name(root)
    tree, notes = _read_tree_settings(root, name, environment.keys() | flags.keys())
    for origin, table in (
        (USER_ORIGIN, read_user_file(user_config_file())),
        (name, tree),
        ("environment", environment),
        ("flag", flags),
    ):
        for key, given_value in table.items():
            value = check_maximum(key, check_value(key, given_value, origin), origin)
            values[key] = {**values.get(key, {}), **value} if key == "repositories" else value
            origins[key] = origin
    if values.get("query_dir") or os.path.isdir(root / DEFAULT_QUERY_FOLDER):
        notes += _add_query_files(root, values, origins)
    return ResolvedSettings(Settings(**values), origins, (*notes, *_find_misspelt()))


def _add_query_files(root: Path, values: dict[str, Any], origins: dict[str, str]) -> Iterable[str]:
    """Add the queries that lie in files to the languages, which then count as the tree's; return notes."""
    found = read_query_files(root, values.get("query_dir", ""))
    if found.tables:
        known = values.get("languages", {})
        values["languages"] = add_queries(known, found.tables)
        origins["languages"] = f"{origins['languages']} and {found.folder}" if known else found.folder
    return found.notes


def _read_tree_settings(root: Path, name: str, decided: Set[str]) -> tuple[dict[str, Any], list[str]]:
    """Read what a tree may set; return also notes about the rest, unless the user decided that anyway."""
    table = {key: check_value(key, value, name) for key, value in read_tree_file(root).items()}
    tree = tree_settings.TreeConfig(root, {key: value for key, value in table.items() if key not in decided})
    used: dict[str, Any] = {}
    notes: list[str] = []
    for key, value in table.items():
        admission = tree_settings.admit(key, value, tree)
        if admission.value is not None:
            used[key] = admission.value
        if admission.refusal and (key not in decided or key == "repositories"):
            notes.append(tree_settings.describe_refusal(key, name, admission.refusal, user_config_file()))
    return used, notes


def parse_value(key: str, text: str, origin: str = "flag") -> Any:
    """Parse the value of a setting from text, as in ``key=value`` on a command line."""
    value = check_value(key, parse_text(key, text) if key in FIELDS else text, origin)
    return check_maximum(key, value, origin)


def config_file(root: Path) -> Path | None:
    """Find the configuration file of a tree, if it has one."""
    found = read_tree_file(root)  # a broken one is an error here too
    return root / config_name(root) if found or (root / CONFIG_FILE).is_file() else None


def mask_passwords(text: str) -> str:
    """Replace the passwords of URLs in a text by ``***``."""
    return _PASSWORD_WORD.sub(r"\1=***", _PASSWORD.sub(r"\1:***@", text))


def find_passwords(url: str) -> list[str]:
    """Find the passwords in a URL, in every spelling and longest first, so that messages of others can be masked."""
    written = [match[2] for match in _PASSWORD.finditer(url)]
    written += [match[2].strip("'") for match in _PASSWORD_WORD.finditer(url)]
    spellings = {form for word in written if word for form in (word, unquote(word), quote(word, safe=""))}
    return sorted(spellings, key=len, reverse=True)


def read_store_login() -> tuple[str, str]:
    """Read user and password for a cluster; the password may be in a file, whose name is in the environment."""
    password, file = read_variable("DOWSE_STORE_PASSWORD"), read_variable("DOWSE_STORE_PASSWORD_FILE")
    if file and not password:
        try:
            password = Path(file).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(f"DOWSE_STORE_PASSWORD_FILE cannot be read ({error})") from None
    return read_variable("DOWSE_STORE_USER"), password


def wants_color() -> bool:
    """Return whether the environment allows colours (https://no-color.org)."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def read_variable(name: str) -> str:
    """Read an environment variable that is not a setting; an empty string if it is not set."""
    return os.environ.get(name, "")


def read_variables() -> dict[str, str]:
    """Read all environment variables."""
    return dict(os.environ)


def is_posix() -> bool:
    """Return whether command lines are written as in POSIX."""
    return os.name == "posix"


def read_service_key(service: str, host: str) -> str:
    """Read the key for the embedder or the rewriter, if there is one; OpenAI's key is only sent to OpenAI."""
    return read_variable(f"DOWSE_{service.upper()}_KEY") or (
        read_variable("OPENAI_API_KEY") if host == OPENAI_HOST else ""
    )


def global_git_ignore() -> Path | None:
    """Find the user's own ignore file for all repositories, if there is one."""
    base = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    instead = os.environ.get("GIT_CONFIG_GLOBAL")
    files = (
        [Path.home() / ".gitconfig", Path(base) / "git" / "config"] if instead is None else [Path(instead)]
    )
    configured = next(filter(None, map(read_excludes_file, files)), None)
    path = Path(configured) if configured else Path(base) / "git" / "ignore"
    return path if path.is_file() else None


def user_state_dir() -> Path:
    """Find the folder of the user's own key, and of the search log if it is on."""
    return _find_user_folder("DOWSE_STATE_DIR", "XDG_STATE_HOME", ".local/state", "Application Support", "")


def user_cache_dir() -> Path:
    """Find the folder of indexes whose tree cannot be written, or is not the user's own."""
    return _find_user_folder("DOWSE_CACHE_DIR", "XDG_CACHE_HOME", ".cache", "Caches", "Cache")


def _find_user_folder(own: str, standard: str, linux: str, mac: str, windows: str) -> Path:
    """Find a folder for data of the user, where the conventions of the system put it.

    By hand: importing ``platformdirs`` takes 9 ms, and every command looks for the state directory.
    """
    if given := os.environ.get(own):
        return Path(given)
    if os.name == "nt":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
        return Path(base, "dowse", windows)
    if sys.platform == "darwin":
        return Path.home() / "Library" / mac / "dowse"
    base = os.environ.get(standard, "")
    return (Path(base) if os.path.isabs(base) else Path.home() / linux) / "dowse"


def user_config_file() -> Path:
    """Return the path of the user's own settings, for every tree; the file need not exist."""
    roaming = os.environ.get("APPDATA") if os.name == "nt" else None
    base = os.environ.get("XDG_CONFIG_HOME") or roaming or str(Path.home() / ".config")
    return Path(base) / "dowse" / CONFIG_FILE


def _read_environment() -> dict[str, Any]:
    found = {}
    for variable, text in os.environ.items():
        key = variable.removeprefix(ENVIRONMENT_PREFIX).lower()
        if variable.startswith(ENVIRONMENT_PREFIX) and key in FIELDS and text:
            found[key] = parse_text(key, text)
    return found


def _find_misspelt() -> Iterator[str]:
    """Yield notes about variables that look like a setting; no error, since they may be for something else."""
    for name in sorted(os.environ):
        key = name.removeprefix(ENVIRONMENT_PREFIX).lower()
        if not name.startswith(ENVIRONMENT_PREFIX) or key in FIELDS or key in _OTHER_VARIABLES:
            continue
        if close := get_close_matches(key, FIELDS, n=1, cutoff=_MISSPELT_SIMILARITY):
            meant = ENVIRONMENT_PREFIX + close[0].upper()
            yield f"{name} in the environment is no setting: did you mean {meant}?"
