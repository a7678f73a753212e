"""Settings: what the user gave, resolved once into one frozen, complete value.

Sources, later ones win: ``dowse/dowse.toml`` in the user's configuration folder, ``dowse.toml`` or
``[tool.dowse]`` in ``pyproject.toml`` of the tree, the environment
(``DOWSE_CHUNK_SIZE=800``), flags. This is the only module that reads the environment.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from dowse import tree_settings
from dowse.errors import SettingsError
from dowse.safe_files import UnsafeFile, read_inside, read_regular

CONFIG_FILE = "dowse.toml"
USER_ORIGIN = "user settings"
ENVIRONMENT_PREFIX = "DOWSE_"

MAX_CONFIG_BYTES = 1_000_000
"""A larger file of settings was not written by a person."""

_MAX_DOTS = 500
"""Dots in a line of TOML: reading a key takes time by the square of its parts, minutes for one that fills a file."""

_OTHER_VARIABLES = frozenset({"embedder_key", "rewriter_key", "mcp_token", "state_dir", "cache_dir"})
"""What else is read of the environment behind the prefix."""

_ALIKE = 0.75
"""How much (of 1) a variable's name has in common with a setting's to be taken for a slip of it."""

SIGNALS = (
    "verbatim",
    "definition",
    "entity_name",
    "file_name",
    "inline_test",
    "file_coherence",
    "role",
    "partner",
    "cursor",
)
"""The ranking signals that can be switched off, in the order they act."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be set. Units are in the names or beside the field."""

    # what is indexed
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    max_file_size: int = 1_000_000  # bytes
    use_ignore_files: bool = True
    default_excludes: bool = True
    mask_secrets: bool = True
    languages: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    # how it is cut and embedded
    chunk_size: int = 1000  # bytes
    chunk_overlap: int = 0  # bytes
    embedder: str = "static"
    embedder_url: str = ""  # "" = the provider's usual address
    embedder_dimensions: int = 0  # 0 = as many as the model has
    embedder_batch: int = 64  # texts per request or run of the model
    embedder_timeout: float = 60.0  # seconds
    embedder_query_prefix: str = "auto"  # "auto" = what the model expects
    embedder_document_prefix: str = "auto"
    without_vectors: bool = False  # index without vectors if the embedder fails

    # where it lives
    store: str = "embedded"  # or "memory", or the address of a server: "postgresql://host/database"
    store_schema: str = "dowse"
    store_repository: str = ""  # what the tree is called there; "" = by its git remote, or by its folder
    store_view: str = ""  # what this checkout is called there; "" = by machine and folder
    store_timeout: float = 30.0  # seconds that a statement may take
    repositories: Mapping[str, str] = field(default_factory=dict)  # other trees by name; relative to the root
    index_dir: str = ""  # "" = .dowse in the root, or the user cache if that is not ours or cannot be written
    trust_index: bool = False  # use the index that is there, whoever made it
    workers: int = 0  # processes that parse; 0 = as many as there are cores

    # how it is searched
    limit: int = 10
    refresh: bool = True  # notice changed files at query time
    hybrid: str = "auto"  # whether meaning counts beside words: "auto" (by the question), "on" or "off"
    fusion: str = "scores"  # or "rrf" or "zscore"
    lexical_weight: float = 1.0
    dense_weight: float = 0.2
    name_weight: float = 0.3
    file_weight: float = 1.0
    signals_off: tuple[str, ...] = ()
    min_score: float = 0.0  # hits of less relevance are left out
    show_weak: bool = False  # show all hits even if none is good
    cache: str = "all"  # answers given before: "all", only the "exact" same question, or "off"
    entity_threshold: int = 5  # fewer entities found by name than this: their contents are searched too
    context_lines: int = 50  # an enclosing definition of up to this many lines is shown whole

    # what becomes of a question before it is searched for
    terms: str = ""  # file with the term graph, relative to the root; "" = none
    rewriter: str = "none"  # what rewrites questions: ollama:MODEL or openai:MODEL
    rewriter_url: str = ""  # "" = the provider's usual address
    rewriter_timeout: float = 5.0  # seconds
    search_log: bool = False  # keep a local list of questions for 'dowse terms suggest'

    def index_fingerprint(self, **versions: object) -> str:
        """A hash of what changes the index (and of the versions given): a difference means a rebuild."""
        relevant = {name: getattr(self, name) for name in _INDEXED} | versions
        return hashlib.sha256(json.dumps(relevant, sort_keys=True, default=list).encode()).hexdigest()[:16]

    def content_key(self) -> str:
        """What changes how a content is cut, as text: contents under other keys are other contents."""
        return json.dumps({name: getattr(self, name) for name in _CUT}, sort_keys=True, default=list)


_CUT = ("chunk_size", "chunk_overlap", "languages", "mask_secrets")
"""The settings that change what becomes of a file's content."""

_INDEXED = (
    "include", "exclude", "max_file_size", "use_ignore_files", "default_excludes", "mask_secrets", "languages",
    "chunk_size", "chunk_overlap", "embedder",
)  # fmt: skip
"""The settings that change what an index holds."""

_PASSWORD = re.compile(r"(?<=://)([^/@\s:]*):([^@\s]*)@")
_PASSWORD_WORD = re.compile(r"(?i)\b(password|sslpassword|passwd)=('[^']*'|[^&\s]+)")
"""Where an address has a password: before the host, or as an option."""

_FIELDS = {f.name: f for f in fields(Settings)}
_CHOICES = {
    "fusion": ("scores", "rrf", "zscore"),
    "hybrid": ("auto", "on", "off"),
    "cache": ("all", "exact", "off"),
}
_MINIMUM = {
    "max_file_size": 1,
    "chunk_size": 100,
    "chunk_overlap": 0,
    "limit": 1,
    "context_lines": 1,
    "entity_threshold": 0,
    "workers": 0,
    "embedder_dimensions": 0,
    "embedder_batch": 1,
    "embedder_timeout": 0.1,
    "store_timeout": 0.1,
    "rewriter_timeout": 0.1,
    "lexical_weight": 0.0,
    "dense_weight": 0.0,
    "name_weight": 0.0,
    "file_weight": 0.0,
    "min_score": 0.0,
}
_MAXIMUM = {
    "max_file_size": 1_000_000_000,  # a file is read as a whole, and several times that large while it is indexed
    "min_score": 1.0,
}


@dataclass(frozen=True, slots=True)
class Resolved:
    """The settings in force, and for each where its value comes from; notes say what was not understood."""

    settings: Settings
    origins: Mapping[str, str]
    notes: tuple[str, ...] = ()

    def is_from_tree(self, name: str) -> bool:
        """Whether a file in the tree decided a setting, and not the user."""
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


def resolve(root: Path, given: Mapping[str, Any] | None = None) -> Resolved:
    """Settings for a tree: the user's own file, the tree's, the environment, what the caller gave; later ones win.

    In ``given``, None means "not given". Of the tree's, what ``tree_settings`` allows is used; notes name the rest.
    """
    values: dict[str, Any] = {}
    origins = dict.fromkeys(_FIELDS, "default")
    environment = _from_environment()
    flags = {key: value for key, value in (given or {}).items() if value is not None}
    name = _config_name(root)
    tree, notes = _from_tree(root, name, environment.keys() | flags.keys())
    for origin, table in (
        (USER_ORIGIN, _from_user_file()),
        (name, tree),
        ("environment", environment),
        ("flag", flags),
    ):
        for key, given_value in table.items():
            value = _check_maximum(key, _checked(key, given_value, origin), origin)
            values[key] = {**values.get(key, {}), **value} if key == "repositories" else value
            origins[key] = origin
    return Resolved(Settings(**values), origins, (*notes, *_misspelt()))


def _from_tree(root: Path, name: str, decided: Set[str]) -> tuple[dict[str, Any], list[str]]:
    """Read what a tree sets as far as it may, and what to say about the rest that nobody decided otherwise."""
    table = {key: _checked(key, value, name) for key, value in _from_file(root).items()}
    tree = tree_settings.Tree(root, {key: value for key, value in table.items() if key not in decided})
    used: dict[str, Any] = {}
    notes: list[str] = []
    for key, value in table.items():
        admission = tree_settings.admit(key, value, tree)
        if admission.value is not None:
            used[key] = admission.value
        if admission.refusal and (key not in decided or key == "repositories"):
            notes.append(tree_settings.describe_refusal(key, name, admission.refusal, user_config_file()))
    return used, notes


def parsed(key: str, text: str, origin: str = "flag") -> Any:
    """The value of a setting from text, as in ``key=value`` on a command line."""
    value = _checked(key, _from_text(key, text) if key in _FIELDS else text, origin)
    return _check_maximum(key, value, origin)


def config_file(root: Path) -> Path | None:
    """The configuration file of a tree, if it has one."""
    found = _from_file(root)  # a broken one is an error here too
    return root / _config_name(root) if found or (root / CONFIG_FILE).is_file() else None


def masked(text: str) -> str:
    """A text without the passwords of addresses in it."""
    return _PASSWORD_WORD.sub(r"\1=***", _PASSWORD.sub(r"\1:***@", text))


def passwords(url: str) -> list[str]:
    """The passwords in an address in every spelling, longest first, for taking them out of messages of others."""
    written = [match[2] for match in _PASSWORD.finditer(url)]
    written += [match[2].strip("'") for match in _PASSWORD_WORD.finditer(url)]
    spellings = {form for word in written if word for form in (word, unquote(word), quote(word, safe=""))}
    return sorted(spellings, key=len, reverse=True)


def wants_color() -> bool:
    """Whether the user's environment has nothing against colours (https://no-color.org)."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def variable(name: str) -> str:
    """An environment variable that is not a setting, or an empty string."""
    return os.environ.get(name, "")


def is_posix() -> bool:
    """Whether command lines are written as POSIX has it."""
    return os.name == "posix"


def embedder_key(host: str) -> str:
    """The key for an embedding service, if there is one; OpenAI's own key is for nobody else to see."""
    return variable("DOWSE_EMBEDDER_KEY") or (variable("OPENAI_API_KEY") if host == "api.openai.com" else "")


def rewriter_key(host: str) -> str:
    """The key for a service that rewrites questions; OpenAI's own key is for nobody else to see."""
    return variable("DOWSE_REWRITER_KEY") or (variable("OPENAI_API_KEY") if host == "api.openai.com" else "")


def global_git_ignore() -> Path | None:
    """The user's own ignore file for all repositories, if there is one."""
    base = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    instead = os.environ.get("GIT_CONFIG_GLOBAL")
    files = (
        [Path.home() / ".gitconfig", Path(base) / "git" / "config"] if instead is None else [Path(instead)]
    )
    configured = next(filter(None, map(git_excludes_file, files)), None)
    path = Path(configured) if configured else Path(base) / "git" / "ignore"
    return path if path.is_file() else None


def user_state_dir() -> Path:
    """Find where the user's own key is kept, and what they did if they want that."""
    return _user_folder("DOWSE_STATE_DIR", "XDG_STATE_HOME", ".local/state", "Application Support", "")


def user_cache_dir() -> Path:
    """Find where indexes are whose tree cannot be written, or is not the user's own."""
    return _user_folder("DOWSE_CACHE_DIR", "XDG_CACHE_HOME", ".cache", "Caches", "Cache")


def _user_folder(own: str, standard: str, linux: str, mac: str, windows: str) -> Path:
    """Find a folder for what belongs to the user, where the system's rules put it.

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


def _config_name(root: Path) -> str:
    return CONFIG_FILE if os.path.lexists(root / CONFIG_FILE) else "pyproject.toml"


def user_config_file() -> Path:
    """The user's own settings, for every tree; it need not be there."""
    roaming = os.environ.get("APPDATA") if os.name == "nt" else None
    base = os.environ.get("XDG_CONFIG_HOME") or roaming or str(Path.home() / ".config")
    return Path(base) / "dowse" / CONFIG_FILE


def _from_user_file() -> dict[str, Any]:
    path = user_config_file()
    if not path.is_file():
        return {}
    try:
        return _parse_toml(path.name, read_regular(path.resolve(), MAX_CONFIG_BYTES))  # it may be a link
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error}") from error


def _from_file(root: Path) -> dict[str, Any]:
    """Read what the files of a tree say: only regular files, of no more than some size, that are in the tree."""
    for name, section in ((CONFIG_FILE, ()), ("pyproject.toml", ("tool", "dowse"))):
        try:
            table: Any = _parse_toml(name, read_inside(root, name, MAX_CONFIG_BYTES))
        except FileNotFoundError:
            continue
        except OSError as error:
            if section and isinstance(error, UnsafeFile):
                continue  # as one that is broken
            raise SettingsError(f"{name} cannot be read: {error}") from error
        except _BrokenToml:
            if section:
                continue  # somebody else's broken pyproject.toml is not ours to report
            raise
        for key in section:
            table = table.get(key, {})
            if not isinstance(table, dict):
                raise SettingsError(f"'{key}' in {name} must be a table, not {table!r}")
        if table or not section:
            return dict(table)
    return {}


class _BrokenToml(SettingsError):
    """A file of settings is not TOML."""


def _parse_toml(name: str, content: bytes) -> dict[str, Any]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SettingsError(f"{name} cannot be read: {error}") from error
    if any(line.count(".") > _MAX_DOTS for line in text.splitlines()):
        raise _BrokenToml(f"{name} is not valid TOML: a line with more than {_MAX_DOTS} dots")
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise _BrokenToml(f"{name} is not valid TOML: {error}") from error


def _from_environment() -> dict[str, Any]:
    found = {}
    for variable, text in os.environ.items():
        key = variable.removeprefix(ENVIRONMENT_PREFIX).lower()
        if variable.startswith(ENVIRONMENT_PREFIX) and key in _FIELDS and text:
            found[key] = _from_text(key, text)
    return found


def _misspelt() -> Iterator[str]:
    """Variables that look like a setting and are none; an error would stop whoever has one for something else."""
    for name in sorted(os.environ):
        key = name.removeprefix(ENVIRONMENT_PREFIX).lower()
        if not name.startswith(ENVIRONMENT_PREFIX) or key in _FIELDS or key in _OTHER_VARIABLES:
            continue
        if close := get_close_matches(key, _FIELDS, n=1, cutoff=_ALIKE):
            meant = ENVIRONMENT_PREFIX + close[0].upper()
            yield f"{name} in the environment is no setting: did you mean {meant}?"


def _from_text(key: str, text: str) -> Any:
    """A value written as text: in the environment, or as ``key=value`` on a command line."""
    default = getattr(Settings(), key)
    try:
        if isinstance(default, bool):
            return {
                "1": True,
                "true": True,
                "yes": True,
                "on": True,
                "0": False,
                "false": False,
                "no": False,
                "off": False,
            }[text.lower()]
        if isinstance(default, tuple):
            return tuple(part.strip() for part in text.split(",") if part.strip())
        if key == "repositories":
            pairs = (part.partition("=") for part in text.split(",") if part.strip())
            return {name.strip(): path.strip() for name, _, path in pairs}
        return type(default)(text) if isinstance(default, int | float) else text
    except (KeyError, ValueError):
        raise SettingsError(
            f"{ENVIRONMENT_PREFIX}{key.upper()}={text}: not a valid {type(default).__name__}"
        ) from None


_TYPES = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    tuple: "a list of strings",
    dict: "a table",
}
"""What the types of settings are called."""


def _checked(key: str, value: Any, origin: str) -> Any:
    """The value in the type of its setting, or an error that says what would be right."""
    if key not in _FIELDS:
        close = get_close_matches(key, _FIELDS, n=1)
        hint = f"did you mean '{close[0]}'?" if close else "see 'dowse config show' for the known ones"
        raise SettingsError(f"unknown setting '{key}' in {origin}: {hint}")
    default = getattr(Settings(), key)
    if (
        isinstance(default, tuple)
        and isinstance(value, list | tuple)
        and all(isinstance(v, str) for v in value)
    ):
        value = tuple(value)
    elif isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    elif key == "repositories" and not _is_names(value):
        raise SettingsError(
            f"setting '{key}' in {origin} must be a table of names and folders, not {value!r}"
        )
    elif type(value) is not type(default):
        raise SettingsError(f"setting '{key}' in {origin} must be {_TYPES[type(default)]}, not {value!r}")
    if key in _MINIMUM and not _MINIMUM[key] <= value < float("inf"):  # "nan" is neither
        raise SettingsError(f"setting '{key}' in {origin} must be at least {_MINIMUM[key]}, not {value}")
    if key in _CHOICES and value not in _CHOICES[key]:
        raise SettingsError(
            f"setting '{key}' in {origin} must be one of {', '.join(_CHOICES[key])}, not {value!r}"
        )
    if key == "signals_off" and (unknown := set(value) - set(SIGNALS)):
        raise SettingsError(f"unknown signal '{min(unknown)}' in {origin}: known are {', '.join(SIGNALS)}")
    return value


def _check_maximum(key: str, value: Any, origin: str) -> Any:
    """Return a value that is not too large for anybody; what is too large for a tree is no error."""
    if key in _MAXIMUM and value > _MAXIMUM[key]:
        raise SettingsError(f"setting '{key}' in {origin} must be at most {_MAXIMUM[key]}, not {value}")
    return value


def _is_names(value: Any) -> bool:
    return isinstance(value, dict) and all(
        name and isinstance(path, str) and path for name, path in value.items()
    )


_GIT_SECTION = re.compile(r"""\s*\[([^\]"]*)((?:"(?:\\.|[^"\\])*")?)\](.*)""")
"""The name of a section, that of a part of it in quotes, and what follows on the line."""


def git_excludes_file(config: Path) -> str | None:
    """``core.excludesFile`` of a git configuration file, if it says any; an empty string is for no file at all."""
    import configparser

    parser = configparser.ConfigParser(
        strict=False, interpolation=None, allow_no_value=True, inline_comment_prefixes=("#", ";")
    )
    try:
        content = read_regular(config.resolve(), MAX_CONFIG_BYTES)  # the user's own is often a link
        lines = content.decode("utf-8", "replace").splitlines()
        parser.read_string("\n".join(map(_as_parsed, lines)))
    except (OSError, RuntimeError, configparser.Error):
        return None
    value = parser.get("core", "excludesfile", fallback=None)
    return None if value is None or "\0" in value else os.path.expanduser(value.strip('"'))


def _as_parsed(line: str) -> str:
    """A line of a git configuration as Python's parser reads it: an indented one would go on with the one above."""
    header = _GIT_SECTION.match(line)
    # Case counts only within quotes, and the first value may stand behind the name of its section.
    return f"[{header[1].lower()}{header[2]}]\n{header[3].strip()}" if header else line.strip()
