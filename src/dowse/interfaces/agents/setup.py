"""Install and uninstall the MCP server in configuration files of coding agents, with a diff, a backup and undo.

The text of a file before the edit is kept in the user's cache: as long as nobody else has changed the file since,
uninstalling restores it to the byte; otherwise only the entry is removed.
"""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypedDict

from dowse import safe_files, settings
from dowse.errors import UsageError
from dowse.interfaces.agents import instructions, jsonc, toml_editor, yaml_editor
from dowse.interfaces.agents.clients import AGENTS, SERVER_NAME, Agent
from dowse.interfaces.self_command import launch_command

BYTE_ORDER_MARK = "\ufeff"
"""What some editors write before the text; it is kept."""

MAX_FILE_BYTES = 50_000_000
"""Of an agent's file: some keep all their conversations in the same one."""


@dataclass(frozen=True, slots=True)
class FileEdit:
    """An edit of a file: its text before and after; None where there is no file."""

    path: Path
    before: str | None
    after: str | None

    @property
    def has_changes(self) -> bool:
        """Whether the new content of the file differs from the old."""
        return self.before != self.after

    def diff(self) -> str:
        """Return the edit as a unified diff."""
        old, new = ((text or "").splitlines(keepends=True) for text in (self.before, self.after))
        old_name, new_name = (
            str(self.path) if text is not None else "/dev/null" for text in (self.before, self.after)
        )
        lines = difflib.unified_diff(old, new, old_name, new_name)
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def get_agent(name: str) -> Agent:
    """Return the agent of this name."""
    if name not in AGENTS:
        close = difflib.get_close_matches(name, AGENTS, n=1)
        hint = f"did you mean '{close[0]}'? " if close else ""
        raise UsageError(f"unknown agent '{name}': {hint}known are {', '.join(AGENTS)}")
    return AGENTS[name]


def detect_agents() -> list[str]:
    """Find the agents that seem to be in use here: those whose folder of settings exists."""
    found = []
    for name, agent in AGENTS.items():
        path = agent.user() if agent.user else None
        if path and (path.is_file() or (path.parent.is_dir() and path.parent != Path.home())):
            found.append(name)
    return found


def config_path(agent: Agent, root: Path | None) -> Path:
    """Return the file of an agent: the project's if a root is given, else the user's."""
    if root is not None:
        if not agent.project:
            raise UsageError(f"{agent.title} has no settings for a project: omit --project")
        return find_inside(root, agent.project)
    if agent.user is None:
        raise UsageError(f"{agent.title} has settings for a project only: use --project")
    return agent.user()


def build_command(agent: Agent, root: Path | None, folder: Path) -> tuple[str, list[str]]:
    """Build the command of the server; a project's file is shared, so it must not name a path of this machine."""
    if root is not None:
        return "dowse", ["mcp"]
    args = ["mcp", str(folder)] if agent.needs_folder else ["mcp"]
    program, *words = launch_command()
    return program, [*words, *args]


def build_entry(agent: Agent, root: Path | None, folder: Path) -> dict[str, object]:
    """Build the entry of the server as the agent writes it."""
    return agent.entry(*build_command(agent, root, folder))


def render_entry(agent: Agent, root: Path | None, folder: Path) -> str:
    """Render the entry alone, to be pasted."""
    keys = (*agent.keys, SERVER_NAME)
    return _choose_editor(agent).set_entry("", keys, build_entry(agent, root, folder))


def plan_install(agent: Agent, root: Path | None, folder: Path) -> FileEdit:
    """Plan to add the server to the file of an agent."""
    path = config_path(agent, root)
    before = read_text(path)
    keys = (*agent.keys, SERVER_NAME)
    edit = _choose_editor(agent).set_entry
    value = build_entry(agent, root, folder)
    if before is not None and _read_entry(agent, before, keys) == value:
        return FileEdit(path, before, before)
    return FileEdit(path, before, edit_text(path, lambda text: edit(text, keys, value), before or ""))


def plan_uninstall(agent: Agent, root: Path | None) -> FileEdit:
    """Plan to remove the server from the file of an agent: back to what it was, if nobody has changed it since."""
    path = config_path(agent, root)
    keys = (*agent.keys, SERVER_NAME)
    edit = _choose_editor(agent).remove_entry
    return plan_removal(path, lambda text: edit_text(path, lambda t: edit(t, keys), text))


def plan_instructions(root: Path, names: Sequence[str]) -> Iterator[FileEdit]:
    """Plan to add the section to the instruction files that the agents read."""
    for name in dict.fromkeys(get_agent(name).instructions_file for name in names):
        path = find_inside(root, name)
        before = read_text(path)
        yield FileEdit(path, before, edit_text(path, instructions.add_section, before or ""))


def plan_instructions_removal(root: Path) -> Iterator[FileEdit]:
    """Plan to remove the section from every instruction file."""
    for name in dict.fromkeys(agent.instructions_file for agent in AGENTS.values()):
        path = find_inside(root, name)
        yield plan_removal(path, instructions.remove_section)


def apply(edit: FileEdit) -> None:
    """Write an edit, and back up the text from before."""
    if not edit.has_changes:
        return
    backup_file = _backup_path(edit.path)
    try:
        backup = _load_backup(edit.path)
        if edit.after is None:
            edit.path.unlink(missing_ok=True)
            _remove_empty(backup["made"] if backup else ())
            backup_file.unlink(missing_ok=True)
            return
        first = _original_text(edit)
        ours = _list_made_folders()
        made = [str(each) for each in edit.path.parents if not each.exists() or str(each) in ours]
        edit.path.parent.mkdir(parents=True, exist_ok=True)
        _write(edit.path, edit.after)
        backup_file.parent.mkdir(parents=True, exist_ok=True)
        _write(
            backup_file, json.dumps(_Backup(path=str(edit.path), before=first, after=edit.after, made=made))
        )
    except OSError as error:
        raise UsageError(f"{edit.path} cannot be written: {error}") from error


def _remove_empty(folders: Iterable[str]) -> None:
    """Remove folders that were made for a file, the innermost first, unless somebody else uses them by now."""
    for folder in folders:
        with suppress(OSError):
            Path(folder).rmdir()


def forget_backup(edit: FileEdit) -> None:
    """Remove the backup of a file."""
    _backup_path(edit.path).unlink(missing_ok=True)


def has_backup(path: Path) -> bool:
    """Return whether there is a backup of a file: it was written from here."""
    return _load_backup(path) is not None


def _original_text(edit: FileEdit) -> str | None:
    """Return the text of the file before the first edit by dowse."""
    backup = _load_backup(edit.path)
    if backup and backup["after"] == edit.before:
        return backup["before"]
    return edit.before


def plan_removal(path: Path, remove: Callable[[str], str]) -> FileEdit:
    """Plan to undo an edit: back to what the file was, if nobody has changed it since; else only ours is removed."""
    current = read_text(path)
    backup = _load_backup(path)
    if current is None:
        return FileEdit(path, None, None)
    if backup and backup["after"] == current:
        return FileEdit(path, current, backup["before"])
    return FileEdit(path, current, remove(current))


def edit_text(path: Path, edit: Callable[[str], str], text: str) -> str:
    """Edit the text of a file, behind its byte order mark; an error names the file."""
    mark = BYTE_ORDER_MARK if text.startswith(BYTE_ORDER_MARK) else ""
    try:
        return mark + edit(text.removeprefix(mark))
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error


class _Editor(Protocol):
    """What sets and removes one entry of a file."""

    def get_entry(self, text: str, keys: Sequence[str]) -> Any: ...
    def set_entry(self, text: str, keys: Sequence[str], value: dict[str, Any]) -> str: ...
    def remove_entry(self, text: str, keys: Sequence[str]) -> str: ...


_EDITORS: Mapping[str, _Editor] = {".toml": toml_editor, ".yaml": yaml_editor}


def _choose_editor(agent: Agent) -> _Editor:
    """Choose what edits the file of an agent."""
    return _EDITORS.get(agent.suffix, jsonc)


def _read_entry(agent: Agent, text: str, keys: Sequence[str]) -> object:
    try:
        return _choose_editor(agent).get_entry(text.removeprefix(BYTE_ORDER_MARK), keys)
    except (UsageError, ValueError):
        return None


class _Backup(TypedDict):
    """The backup of an edited file: its text before and after, and the folders that were made for it."""

    path: str
    before: str | None
    after: str
    made: list[str]


def _load_backup(path: Path) -> _Backup | None:
    return _read_backup(_backup_path(path))


def _read_backup(file: Path) -> _Backup | None:
    try:
        backup = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(backup, dict) or not {"path", "before", "after"} <= backup.keys():
        return None
    before, after, made = backup["before"], backup["after"], backup.get("made", [])
    return _Backup(path=backup["path"], before=before, after=after, made=made)


def _list_made_folders() -> set[str]:
    """List the folders that were made for files which are still installed."""
    backups = (_read_backup(file) for file in _backup_folder().glob("*.json"))
    return {folder for backup in backups if backup for folder in backup["made"]}


def _backup_folder() -> Path:
    return settings.user_cache_dir() / "agents"


def _backup_path(path: Path) -> Path:
    digest = hashlib.sha256(str(path.absolute()).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return _backup_folder() / f"{digest}.json"


def find_inside(root: Path, name: str) -> Path:
    """Return the path of a file of a project; raise an error if a link in it leads out of the project."""
    path = root / name
    try:
        target = path.resolve()
    except (OSError, RuntimeError) as error:  # links in a circle
        raise UsageError(f"{path} cannot be read: {error}") from error
    if not target.is_relative_to(root.resolve()):
        raise UsageError(
            f"{path} is {target}, outside the project: remove the link, or write that file yourself"
        )
    return path


def read_text(path: Path) -> str | None:
    """Read a file; None if it does not exist."""
    try:
        return safe_files.read_regular(path.resolve(), MAX_FILE_BYTES).decode()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error


def _write(path: Path, text: str) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(text)
