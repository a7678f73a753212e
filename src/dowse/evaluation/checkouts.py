"""Leak-free test corpora for evaluation: the user's own tree, or a temporary copy at an older commit or without
docstrings.

A copy is made where the tree as it is would give answers away: documentation blanked out for queries mined from it, an
older commit for queries mined from later ones. All commits are written to one folder in turn, so that incremental
indexing pays only for the difference. The user's own index never contains anything of a copy.
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
from dowse.evaluation.eval_types import EvalQuery
from dowse.indexing.pipeline import Progress
from dowse.settings import ResolvedSettings, Settings
from dowse.types.stored import IndexState

MEASURING_SETTINGS = {"refresh": False, "search_log": False, "cache": "off"}
"""While measuring, the index does not change between two queries, and nothing is logged or cached."""

LOCAL_STORE_SETTINGS: Mapping[str, Any] = {"store": "embedded"}
"""A temporary index is always in a temporary folder, never on a server that others use."""

COPY_SETTINGS: Mapping[str, Any] = {
    "include": (),
    "exclude": (),
    "use_ignore_files": False,
    "default_excludes": False,
}
"""A copy of indexed files is indexed whole: what to exclude was decided when they were indexed."""

DOCS_SOURCE = "docs"
"""The source of queries that were mined from the documentation of definitions."""

_SETTING_NAMES = frozenset(f.name for f in fields(Settings))


class TreeState(NamedTuple):
    """Which tree a query is run on: at which commit ("": as it is), and whether without documentation."""

    base: str = ""
    masked: bool = False


def choose_tree_state(eval_query: EvalQuery) -> TreeState:
    """Choose the state of the tree that does not give the answer of a query away."""
    return TreeState(eval_query.base, eval_query.source == DOCS_SOURCE)


@dataclass
class _TreeCopy:
    """A copy of the tree, and the folder of its index; ``blobs`` has the git blob that each file was written from."""

    root: Path
    folder: Path
    blobs: dict[str, bytes] = field(default_factory=dict)


@dataclass
class Checkouts:
    """Opens engines for states of the tree and for changed settings. Temporary folders go when the stack is closed.

    All commits are written to one folder in turn: the index is incremental, so that the next commit costs only what it
    changes.
    """

    own: Engine
    stack: ExitStack
    progress: Progress | None = None
    _copies: dict[bool, _TreeCopy] = field(default_factory=dict)  # key: whether it is masked

    def prepare_engine(self, state: TreeState, changed: Mapping[str, Any]) -> Engine:
        """Open an engine with an up-to-date index: the user's own, or a temporary one where the settings need it."""
        if state == TreeState():
            root, index, fixed = self._own_tree, self.own.index_folder, dict[str, Any]()
        else:
            copy = self._prepare_copy(state)
            root, index, fixed = (
                copy.root,
                copy.folder / "index",
                {**LOCAL_STORE_SETTINGS, **(COPY_SETTINGS if state.masked else {})},
            )
        engine = self._open_engine(root, index, {**changed, **fixed})
        if engine.fingerprint != self._open_engine(root, index, fixed).fingerprint:
            index = self._variants_folder / f"{root.parent.name}-{engine.fingerprint}"
            engine = self._open_engine(root, index, {**changed, **fixed, **LOCAL_STORE_SETTINGS})
        if state != TreeState() or engine.store.state() is not IndexState.CURRENT:
            engine.index(self.progress)
        return engine

    @cached_property
    def _own_tree(self) -> Path:
        self.own.index(self.progress)
        return self.own.root

    @cached_property
    def _variants_folder(self) -> Path:
        return self._make_folder()

    def _prepare_copy(self, state: TreeState) -> _TreeCopy:
        """Bring a copy of the tree into a state."""
        copy = self._copies.get(state.masked)
        if copy is None:
            folder = self._make_folder()
            copy = self._copies[state.masked] = _TreeCopy(folder / (self.own.root.name or "tree"), folder)
            copy.root.mkdir()
        if state.masked:
            _write_masked(self.prepare_engine(TreeState(state.base), {}), copy.root)
        else:
            copy.blobs = commit_history.export(self.own.root, state.base, copy.root, copy.blobs)
        return copy

    def _make_folder(self) -> Path:
        made = tempfile.TemporaryDirectory(prefix="dowse-eval-", ignore_cleanup_errors=True)
        return Path(self.stack.enter_context(made)).resolve()

    def _open_engine(self, root: Path, index: Path, changed: Mapping[str, Any]) -> Engine:
        measuring = {key: value for key, value in MEASURING_SETTINGS.items() if key in _SETTING_NAMES}
        settings = replace(self.own.settings, **{**changed, **measuring, "index_dir": str(index)})
        if root != self.own.root:
            settings = self._make_paths_absolute(settings)
        origins = {**self.own.origins, **dict.fromkeys(changed, "flag")}
        return self.stack.enter_context(Engine(root, ResolvedSettings(settings, origins)))

    def _make_paths_absolute(self, settings: Settings) -> Settings:
        """Make paths that are relative to the user's tree absolute, for a copy that is somewhere else."""
        name, colon, path = settings.embedder.partition(":")
        if colon and name in ("onnx", "model2vec"):
            settings = replace(settings, embedder=f"{name}:{self.own.root / Path(path).expanduser()}")
        if settings.term_graph:
            settings = replace(
                settings, term_graph=str(self.own.root / Path(settings.term_graph).expanduser())
            )
        return settings


def _write_masked(engine: Engine, folder: Path) -> None:
    """Write every file of an index into a folder, with its documentation blanked out."""
    with engine.store.snapshot() as snapshot:
        for path in sorted(snapshot.manifest()):
            if (file := snapshot.file_at(path)) is None:
                continue
            content = snapshot.content(file.id)
            language = engine.languages.by_name.get(file.parsed.language)
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(strip_docs.blank_docs(language, content) if language else content)
