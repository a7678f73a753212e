"""Dependency wiring of one source tree: its settings, and the languages, embedder, store and rewriter they name.

Each part is created when it is first needed. The base of the engine, together with ``managed_index``.
"""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from dowse import embedders, roots, stores
from dowse import settings as settings_module
from dowse.code import tokens
from dowse.code.languages import Languages, extend_builtin, list_missing_grammars
from dowse.embedders.embedder import MatchesWords
from dowse.index_folder import IndexFolder
from dowse.settings import ResolvedSettings, Settings
from dowse.stores.protocol import Store

if TYPE_CHECKING:
    from dowse.embedders.embedder import Embedder
    from dowse.indexing.pipeline import IndexConfig
    from dowse.search.locagent.ranking import LocAgentRanking
    from dowse.search.query.llm_rewriter import Rewriter
    from dowse.search.query.term_graph import TermGraph


class TreeContext:
    """A source tree, its resolved settings with their origins, and the parts that they name."""

    def __init__(self, root: Path, resolved: ResolvedSettings) -> None:
        self.root = root
        self.settings: Settings = resolved.settings
        self.origins = resolved.origins
        self._resolved = resolved
        self.notes: tuple[str, ...] = resolved.notes
        self.read_only = False

    @cached_property
    def languages(self) -> Languages:
        """The built-in languages, as the settings extend them."""
        return extend_builtin(self.settings.languages)

    @cached_property
    def embedder(self) -> Embedder | None:
        """What turns text into vectors, if anything."""
        return embedders.create(self.settings.embedder, self._resolved, self.root)

    @cached_property
    def _query_embedder(self) -> Embedder | None:
        """The embedder of queries, each of which is embedded more than once."""
        return embedders.CachingEmbedder(self.embedder) if self.embedder else None

    @property
    def word_vectors(self) -> MatchesWords | None:
        """What compares single words by meaning, if the embedder has vectors of words."""
        return self.embedder if isinstance(self.embedder, MatchesWords) else None

    def _is_extension(self, suffix: str) -> bool:
        return suffix in self.languages.extensions

    @property
    def subject_embedder(self) -> Embedder | None:
        """The embedder for the subjects of commits; none where it is a service: there are thousands."""
        return self._query_embedder if self.settings.embedder == "static" else None

    @cached_property
    def store(self) -> Store:
        """The store that the settings name."""
        return self.store_at(self.settings.store)

    def store_at(self, name: str) -> Store:
        """Open the store of a name or address for this tree; source leaves the machine only if the user says so."""
        if not stores.is_server(name):
            place = self._index_location if name == "embedded" else None
            return stores.create(name, place, str(self.root), self.fingerprint)
        if name == self.settings.store and not stores.is_local_server(name):
            address = settings_module.mask_passwords(name)
            self._resolved.require_user("store", f"send the source of this tree to {address}", "DOWSE_STORE")
        s, names = self.settings, roots.name_shared_index(self.root)
        shared = stores.SharedIndexOptions(
            self._choose_shared_setting("store_repository", name) or names.repository,
            s.store_view or names.view,
            self._choose_shared_setting("store_schema", name),
            s.store_timeout,
            s.store_catalogue,
        )
        return stores.create(name, None, str(self.root), self.fingerprint, shared)

    @property
    def index_folder(self) -> Path:
        """The folder of the index as a user knows it, there or not."""
        return self._index_location.path

    def _choose_shared_setting(self, setting: str, store: str) -> str:
        """Return a name for a store; one that the tree gives is for the tree's own store, not for a copy elsewhere."""
        source = self.settings
        if store != source.store and self._resolved.is_from_tree(setting):
            source = Settings()
        return str(getattr(source, setting))

    @cached_property
    def _index_location(self) -> IndexFolder:
        place = roots.locate_index(self.root, self.settings)
        if place.note:
            self.notes = (*self.notes, place.note)
        return place.folder

    @property
    def fingerprint(self) -> str:
        """What an index must have been made with to serve these settings."""
        model = self.embedder.name if self.embedder else ""
        missing = {"missing_grammars": found} if (found := list_missing_grammars()) else {}
        return self.settings.index_fingerprint(tokens=tokens.VERSION, model=model, **missing)

    def _index_config(self, *, hurried: bool = False) -> IndexConfig:
        """Return how the tree is indexed; ``hurried`` if somebody waits for the answer to a query."""
        from dowse.indexing.analyze_file import ParserConfig
        from dowse.indexing.discover import Rules
        from dowse.indexing.pipeline import IndexConfig

        s = self.settings
        return IndexConfig(
            rules=Rules(
                include=s.include,
                exclude=s.exclude,
                max_file_size=s.max_file_size,
                use_ignore_files=s.use_ignore_files,
                default_excludes=s.default_excludes,
                global_ignore=settings_module.global_git_ignore() if s.use_ignore_files else None,
            ),
            parser=ParserConfig(self.languages, s.chunk_size, s.chunk_overlap),
            mask_secrets=s.mask_secrets,
            content_key=s.content_key(),
            embedder=embedders.with_deadline(self.embedder) if hurried else self.embedder,
            processes=s.workers or os.cpu_count() or 1,
            allow_missing_vectors=s.allow_missing_vectors,
        )

    @cached_property
    def _rewriter(self) -> Rewriter | None:
        """The language model that rewrites queries, if any."""
        if self.settings.rewriter == "none":
            return None
        from dowse.search.query.llm_rewriter import create_rewriter

        return create_rewriter(self._resolved)

    @cached_property
    def _locagent(self) -> LocAgentRanking | None:
        """What ranks with the profile of that name."""
        if self.settings.profile != "locagent":
            return None
        from dowse.search.locagent.ranking import LocAgentRanking

        return LocAgentRanking()

    @property
    def search_log(self) -> Path:
        """The file with the queries of this tree, there or not."""
        return roots.search_log_path(self.root)

    @property
    def term_graph_file(self) -> Path | None:
        """The file with the term graph that the settings name, if they name one."""
        if not self.settings.term_graph:
            return None
        return (self.root / Path(self.settings.term_graph).expanduser()).resolve()

    def term_graph(self, file: Path | None = None) -> TermGraph | None:
        """Load a term graph as its file has it now: the user's choice, or the one of the settings, if there is one."""
        from dowse.search.query.term_graph import load_term_graph

        if file is not None:
            return load_term_graph(file)
        if (file := self.term_graph_file) is None:
            return None
        if not file.is_relative_to(self.root):
            self._resolved.require_user(
                "term_graph", f"read {file}, outside of {self.root}", "DOWSE_TERM_GRAPH"
            )
        return load_term_graph(file)
