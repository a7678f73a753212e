"""Writes what an agent must know into its files, shows what changes, and takes it back.

What a file said before is kept in the user's cache: as long as nobody else has changed the file since, taking back
restores it to the byte; otherwise only the entry is taken out.
"""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from dowse import settings
from dowse.errors import UsageError
from dowse.interfaces.agents import instructions, jsonc, toml_editor
from dowse.interfaces.agents.clients import AGENTS, NAME, Agent
from dowse.interfaces.self_command import launch_command


@dataclass(frozen=True, slots=True)
class Change:
    """A file as it is and as it is to be; None where there is no file."""

    path: Path
    before: str | None
    after: str | None

    @property
    def is_one(self) -> bool:
        """Whether anything changes."""
        return self.before != self.after

    def diff(self) -> str:
        """The change as lines."""
        old, new = ((text or "").splitlines(keepends=True) for text in (self.before, self.after))
        old_name, new_name = (
            str(self.path) if text is not None else "/dev/null" for text in (self.before, self.after)
        )
        lines = difflib.unified_diff(old, new, old_name, new_name)
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def agent_named(name: str) -> Agent:
    """The agent of this name."""
    if name not in AGENTS:
        close = difflib.get_close_matches(name, AGENTS, n=1)
        hint = f"did you mean '{close[0]}'? " if close else ""
        raise UsageError(f"unknown agent '{name}': {hint}known are {', '.join(AGENTS)}")
    return AGENTS[name]


def detected() -> list[str]:
    """Agents that seem to be in use here: the folder of their own settings is there."""
    found = []
    for name, agent in AGENTS.items():
        path = agent.user() if agent.user else None
        if path and (path.is_file() or (path.parent.is_dir() and path.parent != Path.home())):
            found.append(name)
    return found


def file_of(agent: Agent, root: Path | None) -> Path:
    """The file of an agent: the project's if a root is given, else the user's."""
    if root is not None:
        if not agent.project:
            raise UsageError(f"{agent.title} has no settings for a project: leave out --project")
        return root / agent.project
    if agent.user is None:
        raise UsageError(f"{agent.title} has settings for a project only: use --project")
    return agent.user()


def command_for(agent: Agent, root: Path | None, folder: Path) -> tuple[str, list[str]]:
    """How the agent starts the server; what is shared with others must not name a place on this machine."""
    if root is not None:
        return "dowse", ["mcp"]
    args = ["mcp", str(folder)] if agent.names_folder else ["mcp"]
    program, *words = launch_command()
    return program, [*words, *args]


def entry_for(agent: Agent, root: Path | None, folder: Path) -> dict[str, object]:
    """What is written for the agent."""
    return agent.entry(*command_for(agent, root, folder))


def rendered(agent: Agent, root: Path | None, folder: Path) -> str:
    """The configuration alone, to be pasted."""
    keys = (*agent.keys, NAME)
    value = entry_for(agent, root, folder)
    return toml_editor.set_entry("", keys, value) if agent.is_toml else jsonc.set_entry("", keys, value)


def installing(agent: Agent, root: Path | None, folder: Path) -> Change:
    """The agent's file with the server in it."""
    path = file_of(agent, root)
    before = _read(path)
    keys = (*agent.keys, NAME)
    change = toml_editor.set_entry if agent.is_toml else jsonc.set_entry
    value = entry_for(agent, root, folder)
    if before is not None and _entry(agent, before, keys) == value:
        return Change(path, before, before)
    return Change(path, before, _changing(path, lambda text: change(text, keys, value), before or ""))


def uninstalling(agent: Agent, root: Path | None) -> Change:
    """The agent's file without the server: as it was before, if nobody has changed it since."""
    path = file_of(agent, root)
    keys = (*agent.keys, NAME)
    change = toml_editor.remove_entry if agent.is_toml else jsonc.remove_entry
    return _taking_back(path, lambda text: _changing(path, lambda t: change(t, keys), text))


def advising(root: Path, names: Sequence[str]) -> Iterator[Change]:
    """The section for agents in the files that the agents read."""
    for name in dict.fromkeys(agent_named(name).guidance for name in names):
        path = root / name
        before = _read(path)
        yield Change(path, before, instructions.with_section(before or ""))


def advising_no_more(root: Path) -> Iterator[Change]:
    """The same files without it."""
    for name in dict.fromkeys(agent.guidance for agent in AGENTS.values()):
        yield _taking_back(root / name, instructions.without_section)


def teaching(root: Path) -> Change:
    """The skill."""
    path = root / instructions.SKILL_PATH
    return Change(path, _read(path), instructions.SKILL)


def teaching_no_more(root: Path) -> Change:
    """No skill."""
    path = root / instructions.SKILL_PATH
    before = _read(path)
    return Change(path, before, None if before == instructions.SKILL else before)


def apply(change: Change) -> None:
    """Write a change, and keep what there was before."""
    if not change.is_one:
        return
    record = _record(change.path)
    try:
        kept = _kept(change.path)
        if change.after is None:
            change.path.unlink(missing_ok=True)
            _remove_empty(kept["made"] if kept else ())
            record.unlink(missing_ok=True)
            return
        first = _first_before(change)
        made = [str(folder) for folder in change.path.parents if not folder.exists()]
        change.path.parent.mkdir(parents=True, exist_ok=True)
        _write(change.path, change.after)
        record.parent.mkdir(parents=True, exist_ok=True)
        made = made or (kept["made"] if kept else [])
        _write(record, json.dumps(_Kept(path=str(change.path), before=first, after=change.after, made=made)))
    except OSError as error:
        raise UsageError(f"{change.path} cannot be written: {error}") from error


def _remove_empty(folders: Iterable[str]) -> None:
    """Remove folders that were made for a file, the innermost first, unless somebody else uses them by now."""
    for folder in folders:
        with suppress(OSError):
            Path(folder).rmdir()


def forget(change: Change) -> None:
    """What was kept of a file is not needed any more."""
    _record(change.path).unlink(missing_ok=True)


def _first_before(change: Change) -> str | None:
    """What the file said before dowse came to it, also if this is not the first change."""
    kept = _kept(change.path)
    if kept and kept["after"] == change.before:
        return kept["before"]
    return change.before


def _taking_back(path: Path, remove: Callable[[str], str]) -> Change:
    current = _read(path)
    kept = _kept(path)
    if current is None:
        return Change(path, None, None)
    if kept and kept["after"] == current:
        return Change(path, current, kept["before"])
    return Change(path, current, remove(current))


def _changing(path: Path, change: Callable[[str], str], text: str) -> str:
    try:
        return change(text)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error


def _entry(agent: Agent, text: str, keys: Sequence[str]) -> object:
    try:
        return toml_editor.get_entry(text, keys) if agent.is_toml else jsonc.get_entry(text, keys)
    except (UsageError, ValueError):
        return None


class _Kept(TypedDict):
    """What is kept of a file that was changed: what it said before and after, and which folders were made for it."""

    path: str
    before: str | None
    after: str
    made: list[str]


def _kept(path: Path) -> _Kept | None:
    try:
        kept = json.loads(_record(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(kept, dict) or not {"before", "after"} <= kept.keys():
        return None
    return _Kept(path=str(path), before=kept["before"], after=kept["after"], made=kept.get("made", []))


def _record(path: Path) -> Path:
    digest = hashlib.sha256(str(path.absolute()).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return settings.user_cache_dir() / "agents" / f"{digest}.json"


def _read(path: Path) -> str | None:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error


def _write(path: Path, text: str) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(text)
