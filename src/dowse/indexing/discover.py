"""File discovery: walk a directory tree and decide for every file whether it is indexed, or why it is skipped.

Settings, .dowseignore, .gitignore, default excludes and size decide, in the order that ``_EntryChecker`` gives.
A folder that is skipped is reported once and not walked. Only a path that is spelled out leads into it:
``!build/api/schema.py`` in ``.dowseignore`` or ``build/api/*.py`` in ``include`` opens ``build/`` for that.
Files that git tracks although an ignore file matches them are skipped too: the git index is not read.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from pathlib import Path

from dowse.errors import RootError
from dowse.indexing import decode, default_excludes
from dowse.indexing.ignore import Pattern, PatternList, ancestor_dirs, parse_lines
from dowse.indexing.ignore_files import IGNORE_FILES, ActiveIgnoreFiles, IgnoreFiles
from dowse.indexing.stamps import judge_time, read_changed_ns, stamp_of
from dowse.roots import find_main_checkout
from dowse.safe_files import describe_excess, describe_kind, is_utf8
from dowse.types.discovered import FoundFile, Skipped, SkipReason, Watched, WatchedPath, WatchKind

SIZE_REASONS = (SkipReason.TOO_LARGE,)
"""Files that are skipped for this may be indexed as soon as they change."""

_GIT = ".git"

_Entry = os.DirEntry[str]
_Verdict = tuple[SkipReason, str]


@dataclass(frozen=True, slots=True)
class Rules:
    """What to index. ``include`` and ``exclude`` are patterns in the syntax of .gitignore, from the root on.

    ``include``, if not empty, is what is indexed and nothing else. It also brings back what ignore files and
    defaults skip, but only what it names: a file by a pattern that ends in its full name (``uv.lock``)
    or that spells out its folder (``dist/*.js``), a folder by the part of a pattern before the first wildcard
    (``vendor/lib/**``). ``*.py`` and ``src/**`` name no file, they only select.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    max_file_size: int = 1_000_000
    use_ignore_files: bool = True
    default_excludes: bool = True
    global_ignore: Path | None = None


def discover(
    root: Path, rules: Rules, partial: PartialWalk | None = None
) -> Iterator[FoundFile | Skipped | Watched]:
    """Walk the tree and yield every file below the root, and what is to be watched, by name within each folder.

    ``partial`` limits this to folders that changed and to those that were not there before.
    """
    checker = _EntryChecker(root, rules)
    top = checker.open_root()
    if partial is None or partial.includes(top.watched.path):
        yield top.watched
    stack = [(top, iter(top.entries.values()))]
    while stack:
        folder, entries = stack[-1]
        for entry in entries:
            if partial is not None and not partial.includes_entry(
                folder.watched.path, folder.prefix + entry.name
            ):
                continue
            found = checker.check(folder, entry)
            if isinstance(found, _WalkedFolder):
                if partial is None or partial.includes(found.watched.path):
                    yield found.watched
                stack.append((found, iter(found.entries.values())))
                break
            yield found
            if isinstance(found, Skipped):
                yield from checker.watch_skipped(found, entry)
        else:
            stack.pop()
    yield from (rule for rule in checker.outer_rules() if partial is None or partial.includes(rule.path))


class PartialWalk:
    """Which folders of a tree that was walked before have to be walked again."""

    def __init__(self, known: Collection[WatchedPath], changed: Collection[str]) -> None:
        self._known = known
        self._changed = {WatchedPath(WatchKind.FOLDER, folder) for folder in changed}
        self._ancestors = {parent for folder in changed for parent in _ancestor_folders(folder)}

    def includes(self, path: WatchedPath) -> bool:
        """Return whether what is watched is read again, of a folder its entries: it changed, or it is new."""
        return path in self._changed or path not in self._known

    def includes_entry(self, folder: WatchedPath, path: str) -> bool:
        """Return whether an entry of a folder has to be checked, or leads to one that has."""
        entry = WatchedPath(WatchKind.FOLDER, path)
        if entry in self._known:
            return entry in self._changed or path in self._ancestors
        return self.includes(folder)


def _ancestor_folders(folder: str) -> Iterator[str]:
    """Yield the folders above a folder, without the root."""
    while folder := folder.rpartition("/")[0]:
        yield folder


def check_path(root: Path, relative_path: str, rules: Rules) -> FoundFile | Skipped:
    """Decide about one path as ``discover`` does; if a folder above it is skipped, return that."""
    path = _normalize(root, relative_path)
    if path is None:
        return Skipped(relative_path, SkipReason.OUTSIDE, f"not below {root}")
    checker = _EntryChecker(root, rules)
    folder = checker.open_root()
    parts = path.split("/") if path else []
    for depth, name in enumerate(parts, 1):
        entry = folder.entries.get(name)
        if entry is None:
            return Skipped(path, SkipReason.MISSING, f"no such entry in {folder.prefix or './'}")
        found = checker.check(folder, entry)
        if isinstance(found, FoundFile) and depth < len(parts):
            return Skipped(path, SkipReason.MISSING, f"{found.path} is a file")
        if not isinstance(found, _WalkedFolder):
            return found
        folder = found
    return Skipped(folder.prefix or "./", SkipReason.NOT_A_FILE, "a folder: its files are judged one by one")


def _normalize(root: Path, relative_path: str) -> str | None:
    """Write a path as discovery does; None if it leads out of the root."""
    # Not Path.resolve(): a link in the path is to be reported, not followed.
    path = os.path.abspath(root / relative_path)
    for base in (os.path.realpath(root), os.path.abspath(root)):
        if path == base:
            return ""
        prefix = base.rstrip(os.sep) + os.sep
        if path.startswith(prefix):
            return path.removeprefix(prefix).replace(os.sep, "/")
    return None


@dataclass(frozen=True, slots=True)
class _WalkedFolder:
    """A folder being walked, with the rules that apply in it."""

    prefix: str  # its path with a slash at the end; "" for the root
    watched: Watched
    entries: dict[str, _Entry]
    ignore: ActiveIgnoreFiles
    skip: _Verdict | None = None  # why the folder is skipped, and with it everything in it that is not named
    is_included: bool = (
        False  # it matches ``include``: so does everything in it that does not match otherwise
    )


class _EntryChecker:
    """Decides about the entries of one tree by these rules; the first that applies decides:

    1. links are not followed, and what is neither file nor folder is never opened;
    2. ``exclude`` of the settings;
    3. ``include`` of the settings: skips what it does not match, and brings back what it names;
    4. ``.dowseignore``, nearest first, up to the top of the repository; ``!pattern`` brings back what a later
       rule would skip (a catch-all such as ``!*/`` only takes back what ``.dowseignore`` itself said);
    5. git: ``.gitignore``, nearest first, up to the top of the repository, ``.git/info/exclude``, the user's own
       ignore file or the one that the repository configures instead. A repository inside the tree starts again;
    6. what is skipped by default (``default_excludes``; also linked git work trees, which repeat files), then size.
    """

    def __init__(self, root: Path, rules: Rules) -> None:
        self._root = Path(os.path.realpath(root))
        self._rules = rules
        self._exclude = parse_lines("exclude", rules.exclude)
        self._include = _Include(rules.include) if rules.include else None
        self._files = IgnoreFiles(self._root, rules.global_ignore) if rules.use_ignore_files else None

    def open_root(self) -> _WalkedFolder:
        """List the root, and read the rules of the folders above it."""
        try:
            watched = _watch(WatchKind.FOLDER, "", stamp_of(self._root.stat()).changed_ns)
            entries = _list_entries(str(self._root))
        except OSError as error:
            problem = error.strerror or str(error)
            raise RootError(f"cannot read {self._root}: {problem}; give a readable folder") from error
        ignore = (
            self._files.within("", entries, self._files.read_outer()) if self._files else ActiveIgnoreFiles()
        )
        return _WalkedFolder("", watched, entries, ignore)

    def outer_rules(self) -> Iterator[Watched]:
        """Yield the ignore files outside of the tree that were looked for."""
        for path, time in self._files.outer.items() if self._files else ():
            yield Watched(WatchedPath(WatchKind.OUTER_RULES, path), time)

    def watch_skipped(self, skipped: Skipped, entry: _Entry) -> Iterator[Watched]:
        """Yield what shows that a skipped entry changes: it may be smaller then, readable, or have other rules."""
        if skipped.reason in SIZE_REASONS:
            changed_ns = stamp_of(entry.stat(follow_symlinks=False)).changed_ns
            yield _watch(WatchKind.SKIPPED_FILE, skipped.path, changed_ns)
        elif skipped.reason is SkipReason.UNREADABLE and skipped.is_folder:
            if (folder_ns := read_changed_ns(entry.path)) is not None:  # else the folder above tells
                yield _watch(WatchKind.FOLDER, skipped.path.rstrip("/"), folder_ns)
        elif skipped.reason is SkipReason.WORK_TREE:
            mark = f"{entry.path}/{_GIT}"
            yield _watch(WatchKind.OUTER_RULES, mark, read_changed_ns(mark))
        elif self._files and entry.name in IGNORE_FILES:
            yield _watch(WatchKind.OUTER_RULES, entry.path, read_changed_ns(entry.path))

    def check(self, folder: _WalkedFolder, entry: _Entry) -> FoundFile | Skipped | _WalkedFolder:
        """Decide about one entry of a folder: a file to index, something to skip, or a folder to walk."""
        path = folder.prefix + entry.name
        shown = path
        try:
            if not is_utf8(entry.name):
                return Skipped(_to_printable(path), SkipReason.UNREADABLE, "its name is not valid UTF-8")
            if _is_link(entry):
                return Skipped(
                    path, SkipReason.SYMLINK, f"to {_to_printable(str(Path(entry.path).readlink()))}"
                )
            is_folder = entry.is_dir(follow_symlinks=False)
            shown = f"{path}/" if is_folder else path
            never = default_excludes.NEVER_FOLDERS if is_folder else default_excludes.NEVER_FILES
            if entry.name in never:
                return Skipped(shown, SkipReason.DEFAULT_EXCLUDED, never[entry.name])
            if is_folder:
                return self._check_folder(folder, path, entry)
            if entry.is_file(follow_symlinks=False):
                return self._check_file(folder, path, entry)
            return Skipped(
                path, SkipReason.NOT_A_FILE, describe_kind(entry.stat(follow_symlinks=False).st_mode)
            )
        except OSError as error:
            return Skipped(shown, SkipReason.UNREADABLE, error.strerror or str(error))

    def _check_file(self, folder: _WalkedFolder, path: str, entry: _Entry) -> FoundFile | Skipped:
        request = self._check_request(folder, path, entry.name, is_folder=False)
        if isinstance(request, tuple):
            return Skipped(path, *request)
        if not request and (verdict := self._check_defaults(folder, path, entry.name, is_folder=False)):
            return Skipped(path, *verdict)
        status = entry.stat(follow_symlinks=False)
        size, limit = status.st_size, decode.limit_size(path, self._rules.max_file_size)
        if size > limit:
            return Skipped(path, SkipReason.TOO_LARGE, describe_excess(size, limit))
        return FoundFile(path, stamp_of(status))

    def _check_folder(self, folder: _WalkedFolder, path: str, entry: _Entry) -> Skipped | _WalkedFolder:
        name, include = entry.name, self._include
        request = self._check_request(folder, path, name, is_folder=True)
        skip = request if isinstance(request, tuple) else None
        if request is False:
            skip = self._check_defaults(folder, path, name, is_folder=True)
        if skip and not self._leads_on(folder, path, skip):
            return Skipped(f"{path}/", *skip)
        is_included = include is not None and include.matches(path, name, folder.is_included, is_folder=True)
        if include and not is_included and not include.reaches_into(path):
            return Skipped(f"{path}/", SkipReason.NOT_INCLUDED, "no pattern leads here")
        watched = _watch(WatchKind.FOLDER, path, stamp_of(entry.stat(follow_symlinks=False)).changed_ns)
        entries = _list_entries(entry.path)
        if request is False and not skip and self._rules.default_excludes:
            reason = default_excludes.check_folder_entries(name, entries.keys(), folder.entries.keys())
            skip = (SkipReason.DEFAULT_EXCLUDED, reason) if reason else self._check_work_tree(entries)
            if skip and not self._leads_on(folder, path, skip):
                return Skipped(f"{path}/", *skip)
        ignore = self._files.within(f"{path}/", entries, folder.ignore) if self._files else folder.ignore
        return _WalkedFolder(f"{path}/", watched, entries, ignore, skip, is_included)

    def _check_work_tree(self, entries: dict[str, _Entry]) -> _Verdict | None:
        """Skip a linked work tree if another checkout of its repository is in the tree or around it anyway."""
        mark = entries.get(_GIT)
        if mark is None or not mark.is_file(follow_symlinks=False):
            return None
        main = find_main_checkout(Path(mark.path).parent)
        if main is None or not (main.is_relative_to(self._root) or main in self._checkouts_around):
            return None
        return SkipReason.WORK_TREE, f"of the repository at {main}"

    @cached_property
    def _checkouts_around(self) -> frozenset[Path]:
        """The main checkouts of the repositories that the root may be in."""
        folders = (self._root, *self._root.parents)
        return frozenset({*folders, *filter(None, map(find_main_checkout, folders))})

    def _check_request(
        self, folder: _WalkedFolder, path: str, name: str, *, is_folder: bool
    ) -> _Verdict | bool:
        """Check what the user asked for: a verdict, True if the entry is asked for by name, False if neither."""
        if self._exclude:
            found = self._exclude.last_match(path, name, is_folder=is_folder)
            if found and not found.negated:
                return SkipReason.EXCLUDED, f"exclude {found.text}"
        if include := self._include:
            if not is_folder and not include.matches(path, name, folder.is_included, is_folder=False):
                return SkipReason.NOT_INCLUDED, "no pattern matches"
            if include.names(path, name, is_folder=is_folder):
                return True
        for scoped in folder.ignore.dowse:
            if found := scoped.last_match(path, name, is_folder=is_folder):
                if not found.negated:
                    return SkipReason.IGNORED, scoped.patterns.describe(found)
                return not found.is_catch_all
        return False

    def _check_defaults(
        self, folder: _WalkedFolder, path: str, name: str, *, is_folder: bool
    ) -> _Verdict | None:
        """Check what git and the defaults say about an entry that nobody asked for."""
        if folder.skip:
            return folder.skip
        for scoped in folder.ignore.git:
            if found := scoped.last_match(path, name, is_folder=is_folder):
                if not found.negated:
                    return SkipReason.IGNORED, scoped.patterns.describe(found)
                break
        if not self._rules.default_excludes:
            return None
        if not is_folder:
            return default_excludes.check_file_name(name)
        reason = default_excludes.check_folder_name(name)
        return (SkipReason.DEFAULT_EXCLUDED, reason) if reason else None

    def _leads_on(self, folder: _WalkedFolder, path: str, verdict: _Verdict) -> bool:
        """Return whether a skipped folder lies on the way to something that is asked for by name."""
        if verdict[0] is SkipReason.EXCLUDED:
            return False
        if self._include and path in self._include.ancestor_dirs:
            return True
        return any(scoped.leads_to(path) for scoped in folder.ignore.dowse)


class _Include:
    """The ``include`` patterns: what they match, and what they name."""

    def __init__(self, patterns: tuple[str, ...]) -> None:
        self._all_patterns = parse_lines("include", patterns)
        wanted = [pattern for pattern in self._all_patterns.patterns[::-1] if not pattern.negated]
        self._naming_patterns = PatternList(
            "include", [pattern for pattern in wanted if _names_files(pattern)]
        )
        self._spelled_prefixes = ["/".join(pattern.leading) for pattern in wanted]
        self._opened_folders = {"/".join(p.leading) for p in wanted if 0 < len(p.leading) < len(p.segments)}
        self.ancestor_dirs = ancestor_dirs(wanted)

    def matches(self, path: str, name: str, inherited: bool, *, is_folder: bool) -> bool:
        """Return whether the entry, or the folder it is in, matches."""
        found = self._all_patterns.last_match(path, name, is_folder=is_folder)
        return inherited if found is None else not found.negated

    def names(self, path: str, name: str, *, is_folder: bool) -> bool:
        """Return whether a pattern does not only match the entry but names it (see ``Rules``)."""
        if is_folder and path in self._opened_folders:
            return True
        found = self._naming_patterns.last_match(path, name, is_folder=is_folder)
        return found is not None and (found.is_literal or not is_folder)

    def reaches_into(self, folder: str) -> bool:
        """Return whether something below a folder that does not match itself may still match."""
        return any(
            not prefix or f"{prefix}/".startswith(f"{folder}/") or folder.startswith(f"{prefix}/")
            for prefix in self._spelled_prefixes
        )


def _names_files(pattern: Pattern) -> bool:
    spells_folder = 0 < len(pattern.segments) - 1 == len(pattern.leading)
    return pattern.is_literal or (spells_folder and "**" not in pattern.segments[-1])


def _watch(kind: WatchKind, path: str, changed_ns: int | None) -> Watched:
    return Watched(WatchedPath(kind, path), judge_time(changed_ns))


def _list_entries(folder: str) -> dict[str, _Entry]:
    with os.scandir(folder) as entries:
        return {entry.name: entry for entry in sorted(entries, key=attrgetter("name"))}


def _is_link(entry: _Entry) -> bool:
    # Junctions are what Windows has used longer than links; Python tells them apart since 3.12.
    is_junction = getattr(entry, "is_junction", None)
    return entry.is_symlink() or (is_junction is not None and is_junction())


def _to_printable(path: str) -> str:
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
