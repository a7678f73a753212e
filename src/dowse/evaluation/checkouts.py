"""The trees that questions are asked about: the user's own with its index, or a copy in a temporary folder.

A copy is made where measuring on the tree as it is would give answers away: with the documentation of definitions
blanked out for questions that were mined from it, or as it was at a commit for questions mined from later ones. The
user's own index is brought up to date like by any search, and never gets anything of a copy.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from dowse.code import strip_docs
from dowse.engine import Engine
from dowse.evaluation import commit_history
from dowse.evaluation.eval_types import Question
from dowse.indexing.pipeline import Progress
from dowse.settings import Resolved, Settings
from dowse.types import IndexState

QUIET = {"refresh": False, "search_log": False, "cache": "off"}
"""While measuring, the index does not change between two questions, and nothing is remembered of them."""

LOCAL: Mapping[str, Any] = {"store": "embedded"}
"""A temporary index is in a temporary folder, wherever the user's own is: not on a server that others use."""

AS_COPIED: Mapping[str, Any] = {
    "include": (),
    "exclude": (),
    "use_ignore_files": False,
    "default_excludes": False,
}
"""A copy of what was indexed is indexed whole: what to leave out was decided before."""

MASKED_SOURCE = "docs"
"""Questions of this source were taken from the documentation of definitions."""

_SETTINGS = frozenset(f.name for f in fields(Settings))


class Setting(NamedTuple):
    """Which tree a question is about: at which commit ("": as it is), and whether without documentation."""

    base: str = ""
    masked: bool = False


def setting_of(question: Question) -> Setting:
    """The tree that does not give the answer away."""
    return Setting(question.base, question.source == MASKED_SOURCE)


@dataclass
class _Copy:
    """A tree, and the folder of its index; ``held`` says which commit's content its files have."""

    root: Path
    folder: Path
    held: dict[str, bytes] = field(default_factory=dict)


@dataclass
class Trees:
    """Makes engines for trees and settings. What is temporary goes when the stack is closed.

    All commits are put into one folder in turn: an index knows files by their content, so that the next commit costs
    only what it changes.
    """

    own: Engine
    stack: ExitStack
    progress: Progress | None = None
    _copies: dict[bool, _Copy] = field(default_factory=dict)  # by whether it is masked

    def engine(self, setting: Setting, changed: Mapping[str, Any]) -> Engine:
        """An engine whose index is ready: the tree's own, or another one where the changed settings need it."""
        if setting == Setting():
            root, index, fixed = self._own_tree, self.own.index_folder, dict[str, Any]()
        else:
            copy = self._copied(setting)
            root, index, fixed = (
                copy.root,
                copy.folder / "index",
                {**LOCAL, **(AS_COPIED if setting.masked else {})},
            )
        engine = self._opened(root, index, {**changed, **fixed})
        if engine.fingerprint != self._opened(root, index, fixed).fingerprint:
            place = self._elsewhere / f"{root.parent.name}-{engine.fingerprint}"
            engine = self._opened(root, place, {**changed, **fixed, **LOCAL})
        if setting != Setting() or engine.store.state() is not IndexState.CURRENT:
            engine.index(self.progress)
        return engine

    @cached_property
    def _own_tree(self) -> Path:
        self.own.index(self.progress)
        return self.own.root

    @cached_property
    def _elsewhere(self) -> Path:
        return self._folder()

    def _copied(self, setting: Setting) -> _Copy:
        """A copy in the state that is asked for."""
        copy = self._copies.get(setting.masked)
        if copy is None:
            folder = self._folder()
            copy = self._copies[setting.masked] = _Copy(folder / (self.own.root.name or "tree"), folder)
            copy.root.mkdir()
        if setting.masked:
            _write_masked(self.engine(Setting(setting.base), {}), copy.root)
        else:
            copy.held = commit_history.export(self.own.root, setting.base, copy.root, copy.held)
        return copy

    def _folder(self) -> Path:
        made = tempfile.TemporaryDirectory(prefix="dowse-eval-", ignore_cleanup_errors=True)
        return Path(self.stack.enter_context(made)).resolve()

    def _opened(self, root: Path, index: Path, changed: Mapping[str, Any]) -> Engine:
        quiet = {key: value for key, value in QUIET.items() if key in _SETTINGS}
        settings = replace(self.own.settings, **{**changed, **quiet, "index_dir": str(index)})
        if root != self.own.root:
            settings = self._from_elsewhere(settings)
        origins = {**self.own.origins, **dict.fromkeys(changed, "flag")}
        return self.stack.enter_context(Engine(root, Resolved(settings, origins)))

    def _from_elsewhere(self, settings: Settings) -> Settings:
        """Settings whose paths are relative to the user's tree, for a tree that is somewhere else."""
        name, colon, path = settings.embedder.partition(":")
        if colon and name in ("onnx", "model2vec"):
            settings = replace(settings, embedder=f"{name}:{self.own.root / Path(path).expanduser()}")
        if settings.terms:
            settings = replace(settings, terms=str(self.own.root / Path(settings.terms).expanduser()))
        return settings


def _write_masked(engine: Engine, folder: Path) -> None:
    """Every file of an index, its documentation blanked out, at the same path in a folder."""
    with engine.store.snapshot() as snapshot:
        for path in sorted(snapshot.manifest()):
            if (file := snapshot.file_at(path)) is None:
                continue
            content = snapshot.content(file.id)
            language = engine.languages.by_name.get(file.parsed.language)
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(strip_docs.blanked(language, content) if language else content)
