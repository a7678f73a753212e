"""Walks a tree and says of every file that it is to be indexed, or why not.

An entry is judged by these rules; the first that has something to say decides:

1. links are not followed, and what is neither file nor folder is never opened;
2. ``exclude`` of the settings;
3. ``include`` of the settings: leaves out what it does not match, and brings back what it names;
4. ``.dowseignore``, nearest first, up to the top of the repository; ``!pattern`` brings back what a later
   rule would leave out (a catch-all such as ``!*/`` only takes back what ``.dowseignore`` itself said);
5. git: ``.gitignore``, nearest first, up to the top of the repository, ``.git/info/exclude``, the user's own
   ignore file or the one that the repository is configured to have instead. A repository inside the tree starts anew;
6. what is left out by default (see ``default_excludes``; also linked git work trees, which repeat files), then size.

A folder that is left out is reported once and not walked. Only a path that is spelled out leads into it:
``!build/api/schema.py`` in ``.dowseignore`` or ``build/api/*.py`` in ``include`` opens ``build/`` for that.
Files that git tracks although an ignore file matches them are left out too: the git index is not read.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from pathlib import Path

from dowse.errors import RootError
from dowse.indexing import default_excludes
from dowse.indexing.decode import stamp_of
from dowse.indexing.ignore import Pattern, PatternList, doors, parse_lines
from dowse.indexing.ignore_files import IGNORE_FILES, IgnoreFiles, InForce, modified
from dowse.roots import main_checkout
from dowse.safe_files import describe_excess, describe_kind
from dowse.types import LEFT_OUT, OUTER_RULES, Candidate, Folder, Skipped, SkipReason

BY_SIZE = (SkipReason.TOO_LARGE,)
"""Files left out for this may be indexed as soon as they change."""

_GIT = ".git"

_Entry = os.DirEntry[str]
_Verdict = tuple[SkipReason, str]


@dataclass(frozen=True, slots=True)
class Rules:
    """What to index. ``include`` and ``exclude`` are patterns in the syntax of .gitignore, from the root on.

    ``include``, if not empty, is what is indexed and nothing else. It also brings back what ignore files and
    defaults leave out, but only what it names: a file by a pattern that ends in its full name (``uv.lock``)
    or that spells out its folder (``dist/*.js``), a folder by the part of a pattern before the first wildcard
    (``vendor/lib/**``). ``*.py`` and ``src/**`` name no file, they only select.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    max_file_size: int = 1_000_000
    use_ignore_files: bool = True
    default_excludes: bool = True
    global_ignore: Path | None = None


def discover(root: Path, rules: Rules, again: Again | None = None) -> Iterator[Candidate | Skipped | Folder]:
    """Every file below the root, and every folder walked, ordered by name within each folder.

    ``again`` limits this to folders that changed and to those that were not there before.
    """
    judge = _Judge(root, rules)
    top = judge.top()
    if again is None or again.lists(""):
        yield top.stamp
    stack = [(top, iter(top.entries.values()))]
    while stack:
        place, entries = stack[-1]
        for entry in entries:
            if again is not None and not again.concerns(place.stamp.path, place.prefix + entry.name):
                continue
            found = judge.entry(place, entry)
            if isinstance(found, _Place):
                if again is None or again.lists(found.stamp.path):
                    yield found.stamp
                stack.append((found, iter(found.entries.values())))
                break
            yield found
            if isinstance(found, Skipped):
                yield from judge.looked_at_again(found, entry)
        else:
            stack.pop()
    yield from (rule for rule in judge.outer_rules() if again is None or again.lists(rule.path))


class Again:
    """Which folders of a tree that was walked before have to be walked again."""

    def __init__(self, known: Collection[str], changed: Collection[str]) -> None:
        self._known = known
        self._changed = frozenset(changed)
        self._on_the_way = {parent for folder in changed for parent in _parents(folder)}

    def lists(self, folder: str) -> bool:
        """Whether the entries of a folder are looked at: it changed, or it is new."""
        return folder in self._changed or folder not in self._known

    def concerns(self, folder: str, path: str) -> bool:
        """Whether an entry of a folder has to be looked at, or leads to one that has."""
        if path in self._known:
            return path in self._changed or path in self._on_the_way
        return self.lists(folder)


def _parents(folder: str) -> Iterator[str]:
    """The folders above a folder, the root left out."""
    while folder := folder.rpartition("/")[0]:
        yield folder


def why(root: Path, relative_path: str, rules: Rules) -> Candidate | Skipped:
    """What ``discover`` says of a path; for one in a folder that is left out, what it says of the folder."""
    path = _normalised(root, relative_path)
    if path is None:
        return Skipped(relative_path, SkipReason.OUTSIDE, f"not below {root}")
    judge = _Judge(root, rules)
    place = judge.top()
    parts = path.split("/") if path else []
    for depth, name in enumerate(parts, 1):
        entry = place.entries.get(name)
        if entry is None:
            return Skipped(path, SkipReason.MISSING, f"no such entry in {place.prefix or './'}")
        found = judge.entry(place, entry)
        if isinstance(found, Candidate) and depth < len(parts):
            return Skipped(path, SkipReason.MISSING, f"{found.path} is a file")
        if not isinstance(found, _Place):
            return found
        place = found
    return Skipped(place.prefix or "./", SkipReason.NOT_A_FILE, "a folder: its files are judged one by one")


def _normalised(root: Path, relative_path: str) -> str | None:
    """The path as discovery writes it, or None if it leads out of the root."""
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
class _Place:
    """A folder being walked, with the rules in force in it."""

    prefix: str  # its path with a slash at the end; "" for the root
    stamp: Folder
    entries: dict[str, _Entry]
    ignore: InForce
    closed: _Verdict | None = None  # the folder is left out: so is everything in it that is not named
    included: bool = False  # it matches ``include``: so does everything in it that does not match otherwise


class _Judge:
    """Decides about the entries of one tree."""

    def __init__(self, root: Path, rules: Rules) -> None:
        self._root = Path(os.path.realpath(root))
        self._rules = rules
        self._exclude = parse_lines("exclude", rules.exclude)
        self._include = _Include(rules.include) if rules.include else None
        self._files = IgnoreFiles(self._root, rules.global_ignore) if rules.use_ignore_files else None

    def top(self) -> _Place:
        """The root, with the rules of the folders above it."""
        try:
            stamp = Folder("", stamp_of(self._root.stat()).changed_ns)
            entries = _list(str(self._root))
        except OSError as error:
            problem = error.strerror or str(error)
            raise RootError(f"cannot read {self._root}: {problem}; give a readable folder") from error
        ignore = self._files.within("", entries, self._files.above()) if self._files else InForce()
        return _Place("", stamp, entries, ignore)

    def outer_rules(self) -> Iterator[Folder]:
        """The ignore files outside of the tree that were looked for."""
        for path, changed_ns in self._files.outer.items() if self._files else ():
            yield Folder(OUTER_RULES + path, changed_ns)

    def looked_at_again(self, skipped: Skipped, entry: _Entry) -> Iterator[Folder]:
        """Where it shows that what is left out changes: it may be smaller then, be readable, or say other rules."""
        if skipped.reason in BY_SIZE:
            yield Folder(LEFT_OUT + skipped.path, stamp_of(entry.stat(follow_symlinks=False)).changed_ns)
        elif skipped.reason is SkipReason.UNREADABLE and skipped.is_folder:
            if (changed_ns := modified(entry.path)) >= 0:  # else the folder above tells
                yield Folder(skipped.path.rstrip("/"), changed_ns)
        elif skipped.reason is SkipReason.WORK_TREE:
            mark = f"{entry.path}/{_GIT}"
            yield Folder(OUTER_RULES + mark, modified(mark))
        elif self._files and entry.name in IGNORE_FILES:
            yield Folder(OUTER_RULES + entry.path, modified(entry.path))

    def entry(self, place: _Place, entry: _Entry) -> Candidate | Skipped | _Place:
        """What becomes of one entry of a folder: a folder that is walked is a place."""
        path = place.prefix + entry.name
        shown = path
        try:
            if not _is_utf8(entry.name):
                return Skipped(_printable(path), SkipReason.UNREADABLE, "its name is not valid UTF-8")
            if _is_link(entry):
                return Skipped(path, SkipReason.SYMLINK, f"to {_printable(str(Path(entry.path).readlink()))}")
            is_folder = entry.is_dir(follow_symlinks=False)
            shown = f"{path}/" if is_folder else path
            never = default_excludes.NEVER_FOLDERS if is_folder else default_excludes.NEVER_FILES
            if entry.name in never:
                return Skipped(shown, SkipReason.DEFAULT_EXCLUDED, never[entry.name])
            if is_folder:
                return self._folder(place, path, entry)
            if entry.is_file(follow_symlinks=False):
                return self._file(place, path, entry)
            return Skipped(
                path, SkipReason.NOT_A_FILE, describe_kind(entry.stat(follow_symlinks=False).st_mode)
            )
        except OSError as error:
            return Skipped(shown, SkipReason.UNREADABLE, error.strerror or str(error))

    def _file(self, place: _Place, path: str, entry: _Entry) -> Candidate | Skipped:
        asked = self._asked(place, path, entry.name, is_folder=False)
        if isinstance(asked, tuple):
            return Skipped(path, *asked)
        if not asked and (verdict := self._unasked(place, path, entry.name, is_folder=False)):
            return Skipped(path, *verdict)
        status = entry.stat(follow_symlinks=False)
        size, limit = status.st_size, self._rules.max_file_size
        if size > limit:
            return Skipped(path, SkipReason.TOO_LARGE, describe_excess(size, limit))
        return Candidate(path, stamp_of(status))

    def _folder(self, place: _Place, path: str, entry: _Entry) -> Skipped | _Place:
        name, include = entry.name, self._include
        asked = self._asked(place, path, name, is_folder=True)
        closed = asked if isinstance(asked, tuple) else None
        if asked is False:
            closed = self._unasked(place, path, name, is_folder=True)
        if closed and not self._leads_on(place, path, closed):
            return Skipped(f"{path}/", *closed)
        included = include is not None and include.matches(path, name, place.included, is_folder=True)
        if include and not included and not include.reaches_into(path):
            return Skipped(f"{path}/", SkipReason.NOT_INCLUDED, "no pattern leads here")
        stamp = Folder(path, stamp_of(entry.stat(follow_symlinks=False)).changed_ns)
        entries = _list(entry.path)
        if asked is False and not closed and self._rules.default_excludes:
            reason = default_excludes.listed_folder(name, entries.keys(), place.entries.keys())
            closed = (SkipReason.DEFAULT_EXCLUDED, reason) if reason else self._repeated(entries)
            if closed and not self._leads_on(place, path, closed):
                return Skipped(f"{path}/", *closed)
        ignore = self._files.within(f"{path}/", entries, place.ignore) if self._files else place.ignore
        return _Place(f"{path}/", stamp, entries, ignore, closed, included)

    def _repeated(self, entries: dict[str, _Entry]) -> _Verdict | None:
        """A linked work tree repeats its repository if a checkout of that is in the tree or around it anyway."""
        mark = entries.get(_GIT)
        if mark is None or not mark.is_file(follow_symlinks=False):
            return None
        main = main_checkout(Path(mark.path).parent)
        if main is None or not (main.is_relative_to(self._root) or main in self._around):
            return None
        return SkipReason.WORK_TREE, f"of the repository at {main}"

    @cached_property
    def _around(self) -> frozenset[Path]:
        """The main checkouts of the repositories that the root may be in."""
        folders = (self._root, *self._root.parents)
        return frozenset({*folders, *filter(None, map(main_checkout, folders))})

    def _asked(self, place: _Place, path: str, name: str, *, is_folder: bool) -> _Verdict | bool:
        """What dowse was told: a verdict, True if the entry is asked for by name, False if nothing."""
        if self._exclude:
            found = self._exclude.last_match(path, name, is_folder=is_folder)
            if found and not found.negated:
                return SkipReason.EXCLUDED, f"exclude {found.text}"
        if include := self._include:
            if not is_folder and not include.matches(path, name, place.included, is_folder=False):
                return SkipReason.NOT_INCLUDED, "no pattern matches"
            if include.names(path, name, is_folder=is_folder):
                return True
        for scoped in place.ignore.dowse:
            if found := scoped.last_match(path, name, is_folder=is_folder):
                if not found.negated:
                    return SkipReason.IGNORED, scoped.patterns.describe(found)
                return not found.is_catch_all
        return False

    def _unasked(self, place: _Place, path: str, name: str, *, is_folder: bool) -> _Verdict | None:
        """What git and the defaults say of an entry that nobody asked for."""
        if place.closed:
            return place.closed
        for scoped in place.ignore.git:
            if found := scoped.last_match(path, name, is_folder=is_folder):
                if not found.negated:
                    return SkipReason.IGNORED, scoped.patterns.describe(found)
                break
        if not self._rules.default_excludes:
            return None
        if not is_folder:
            return default_excludes.file(name)
        reason = default_excludes.folder(name)
        return (SkipReason.DEFAULT_EXCLUDED, reason) if reason else None

    def _leads_on(self, place: _Place, path: str, verdict: _Verdict) -> bool:
        """A folder that is left out lies on the way to something that is asked for by name."""
        if verdict[0] is SkipReason.EXCLUDED:
            return False
        if self._include and path in self._include.doors:
            return True
        return any(scoped.leads_to(path) for scoped in place.ignore.dowse)


class _Include:
    """The ``include`` patterns: what they match, and what they name."""

    def __init__(self, patterns: tuple[str, ...]) -> None:
        self._all = parse_lines("include", patterns)
        wanted = [pattern for pattern in self._all.patterns[::-1] if not pattern.negated]
        self._naming = PatternList("include", [pattern for pattern in wanted if _names_files(pattern)])
        self._spelled = ["/".join(pattern.leading) for pattern in wanted]
        self._opened = {"/".join(p.leading) for p in wanted if 0 < len(p.leading) < len(p.segments)}
        self.doors = doors(wanted)

    def matches(self, path: str, name: str, inherited: bool, *, is_folder: bool) -> bool:
        """The entry, or the folder it is in, matches."""
        found = self._all.last_match(path, name, is_folder=is_folder)
        return inherited if found is None else not found.negated

    def names(self, path: str, name: str, *, is_folder: bool) -> bool:
        """A pattern does not only match the entry but names it (see ``Rules``)."""
        if is_folder and path in self._opened:
            return True
        found = self._naming.last_match(path, name, is_folder=is_folder)
        return found is not None and (found.is_literal or not is_folder)

    def reaches_into(self, folder: str) -> bool:
        """Something below a folder that does not match itself may still match."""
        return any(
            not spelled or f"{spelled}/".startswith(f"{folder}/") or folder.startswith(f"{spelled}/")
            for spelled in self._spelled
        )


def _names_files(pattern: Pattern) -> bool:
    spells_folder = 0 < len(pattern.segments) - 1 == len(pattern.leading)
    return pattern.is_literal or (spells_folder and "**" not in pattern.segments[-1])


def _list(folder: str) -> dict[str, _Entry]:
    with os.scandir(folder) as entries:
        return {entry.name: entry for entry in sorted(entries, key=attrgetter("name"))}


def _is_link(entry: _Entry) -> bool:
    # Junctions are what Windows has used longer than links; Python tells them apart since 3.12.
    is_junction = getattr(entry, "is_junction", None)
    return entry.is_symlink() or (is_junction is not None and is_junction())


def _is_utf8(name: str) -> bool:
    """Names that are not are carried as lone surrogates, which nothing downstream could store or print."""
    if name.isascii():
        return True
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _printable(path: str) -> str:
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
