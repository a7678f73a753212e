"""The search engine of one source tree: the Python API that every interface (CLI, MCP, HTTP) calls.

    from dowse import Engine

    with Engine.open("~/src/project") as engine:
        for hit in engine.search("where is the token refreshed").results:
            print(hit.path, hit.start_line, hit.entity)

Makes sure that the index is fresh, runs ``search/pipeline.py``, and verifies the files of the answer.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from dowse import roots
from dowse import settings as settings_module
from dowse.code.languages.tree_tables import report_broken_tables
from dowse.errors import IndexCorrupt, IndexUnwritable, UsageError
from dowse.frozen import replace
from dowse.indexing.freshness import Freshness, FreshnessContext
from dowse.managed_index import ManagedIndex
from dowse.search import pipeline
from dowse.search.answer_cache import AnswerCache
from dowse.search.output import read_place
from dowse.search.output.respond import make_response
from dowse.search.pipeline import Searcher
from dowse.search.query import parse
from dowse.search.query.analyze import analyze_query
from dowse.search.query.relax import found_nothing, relax_query
from dowse.search.query.resolve_options import merge_filters, resolve_options
from dowse.search.query.scope import check_scope
from dowse.search.query_log import log_query
from dowse.search.ranking.candidates import Ranking
from dowse.search.ranking.features.context import FeatureContext
from dowse.search.timing import StageTimer
from dowse.stores.protocol import Snapshot
from dowse.types.answers import ResolvedOptions, SearchOptions, SearchResponse, SearchResult
from dowse.types.explanations import Explanation
from dowse.types.queries import ParsedQuery, RewriteTrace
from dowse.types.source import Role
from dowse.types.stored import NO_FILTER, Filter

if TYPE_CHECKING:
    from dowse.graph.api import CodeGraph
    from dowse.indexing.pipeline import Progress
    from dowse.search.commit_search import CodeHistory


class Engine(ManagedIndex):
    """Searches a tree, keeping its index fresh. Safe to use from several threads; close it, or use a ``with`` block."""

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str] | None = None,
        *,
        allow_home: bool = False,
        read_only: bool = False,
        **given: Any,
    ) -> Self:
        """Open the engine for a folder, or for the project around the working directory.

        Keyword arguments are settings and win over the configuration file and the environment. Nothing is
        read or indexed yet. ``allow_home`` allows ``/`` and the home folder; with ``read_only``, the index is
        searched as it is.
        """
        root = roots.resolve_root(path, allow_home=allow_home)
        resolved = settings_module.resolve(root, given)
        if resolved.settings.languages:
            resolved = report_broken_tables(resolved)
        engine = cls(root, resolved)
        engine.read_only = read_only
        return engine

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the index."""
        if "_freshness" in self.__dict__:
            self._freshness.close()
        if "store" in self.__dict__:
            self.store.close()

    @cached_property
    def _cache(self) -> AnswerCache:
        return AnswerCache()

    @property
    def _searcher(self) -> Searcher:
        cache = self._cache if self.settings.cache != "off" else None
        means = self.settings, self._query_embedder, cache, self._is_extension
        return Searcher(str(self.root), *means, self.load_history, self.word_vectors, self._locagent)

    @cached_property
    def _freshness(self) -> Freshness:
        context = FreshnessContext(
            self.root,
            self.store,
            index_config=lambda: self._index_config(hurried=True),
            index=self.index,
            checks_changes=self.settings.refresh,
            read_only=self.read_only,
        )
        return Freshness(context)

    def try_terms(self, query: str, file: Path | None = None) -> RewriteTrace:
        """Say what a term graph (default: the one of the settings) adds to a query, and why; nothing is searched."""
        from dowse.search.query.rewriting import rewrite_query

        graph, most = self.term_graph(file), self.settings.term_graph_max_terms
        return rewrite_query(parse.parse_query(query), graph, None, most).rewrite

    # --- what it does ---

    def search(
        self, query: str, options: SearchOptions | None = None, *, progress: Progress | None = None
    ) -> SearchResponse:
        """Find the places that answer a query, best first; index what is new or changed before."""
        given = options
        parsed, options = self._parse_query(query, given)
        try:
            response = self._search(query, parsed, options, progress)
        except IndexCorrupt as error:
            note = self._repair(error, progress)
            response = self._search(query, parsed, options, progress)
            response = replace(response, notes=(*response.notes, note))
        if (parsed.is_exact or parsed.has_filters) and found_nothing(response):
            response = self._relax_and_search(query, parsed, given) or response
        if self.settings.search_log:
            log_query(self.search_log, query, response)
        if options.neighbours:
            response = replace(response, results=tuple(map(self._add_neighbours, response.results)))
        return response

    def _search(
        self, text: str, parsed: ParsedQuery, options: ResolvedOptions, progress: Progress | None
    ) -> SearchResponse:
        """Search a fresh snapshot and verify the files of the answer; reindex stale ones and search once more."""
        timer = StageTimer()
        for reading in self._freshness.readings(progress):
            with reading:
                timer.finish("refresh")
                response = pipeline.search(self._searcher, reading.snapshot, parsed, options)
                results = reading.verify(response.results, is_good=not response.low_confidence)
        notes = [*self.notes, *parsed.notes, *reading.notes]
        if not (results or reading.notes or self._count_files()):
            notes.append(f"the index of {self.root} is empty: 'dowse index' says why")
        return replace(
            response,
            query=replace(response.query, text=text, rewrite=parsed.rewrite),
            results=results,
            notes=tuple(dict.fromkeys((*notes, *response.notes))),  # the same may be noted in both rounds
            stages=(*timer.stages[:1], *response.stages),
        )

    def _relax_and_search(
        self, text: str, parsed: ParsedQuery, given: SearchOptions | None
    ) -> SearchResponse | None:
        """Search for what is found without the phrases, patterns and filters of a query; the caller's filter stays."""
        for relaxed, note in relax_query(parsed):
            response = self._search(text, relaxed, self._add_filters(relaxed, given), None)
            if response.results:
                return replace(response, notes=(note, *response.notes), relaxed=True)
        return None

    def _count_files(self) -> int:
        with self.store.snapshot() as snapshot:
            return snapshot.file_count()

    def explain(
        self,
        query: str,
        path: str,
        line: int = 0,
        options: SearchOptions | None = None,
        *,
        progress: Progress | None = None,
    ) -> Explanation:
        """Explain why a place ranks where it does in the answer to a query, or why it is not there.

        ``path`` is relative to the root; line 0 means the best place of the file.
        """
        if self._locagent:
            raise UsageError("explanations are of dowse's own ranking: ask with profile 'dowse'")
        parsed, options = self._parse_query(query, options)
        try:
            explained = self._explain(parsed, path, line, options, progress)
        except IndexCorrupt as error:
            note = self._repair(error, progress)
            explained = self._explain(parsed, path, line, options, progress)
            explained = replace(explained, notes=(*explained.notes, note))
        return replace(explained, query=replace(explained.query, text=query))

    def _explain(
        self, parsed: ParsedQuery, path: str, line: int, options: ResolvedOptions, progress: Progress | None
    ) -> Explanation:
        from dowse.search.output import explanation

        with self._freshness.fresh_snapshot(progress) as (snapshot, refresh_notes, *_):
            notes = (*self.notes, *parsed.notes, *refresh_notes)
            file = snapshot.file_at(path)
            if file is not None and line:
                read_place.check_lines(snapshot, file, line)
            ranking, response = self._rank(snapshot, parsed, options)
            search = explanation.FinishedSearch(
                options, self.settings, ranking, response, self._query_embedder
            )
            if file is not None:
                return replace(explanation.explain(snapshot, search, file, line), notes=notes)
        return replace(explanation.explain_unindexed(response, self.why(path), line), notes=notes)

    @contextmanager
    def candidates(self, query: str, options: SearchOptions | None = None) -> Iterator[FeatureContext]:
        """Give the candidates of a query in the index as it is, for those who learn and study ranking."""
        parsed, options = self._parse_query(query, options)
        with self.store.snapshot() as snapshot:
            analyzed = analyze_query(parsed, options.filter, self._is_extension)
            yield pipeline.find_candidates(self._searcher, snapshot, analyzed, options, StageTimer())

    def _rank(
        self, snapshot: Snapshot, parsed: ParsedQuery, options: ResolvedOptions
    ) -> tuple[Ranking, SearchResponse]:
        """Rank without the answer cache, since explaining needs the whole trace."""
        timer = StageTimer()
        query = analyze_query(parsed, options.filter, self._is_extension)
        timer.finish("analyze")
        ranking = pipeline.rank(self._searcher, snapshot, query, options, timer)
        return make_response(snapshot, ranking, options, self.settings, str(self.root))

    def _parse_query(self, query: str, given: SearchOptions | None) -> tuple[ParsedQuery, ResolvedOptions]:
        """Parse and rewrite a query, resolve the options, and add the filters of the query to them."""
        parsed = parse.parse_pasted(query) if given and given.pasted else parse.parse_query(query)
        check_scope(parsed, self.root.name, self.revision)
        options = self._add_filters(parsed, given)
        asked = parsed.text.strip("\0 \t\r\n") or parsed.has_filters or options.filter.names
        if not (asked or parsed.phrases or parsed.regexes):
            if not query.strip("\0 \t\r\n"):
                raise UsageError("the query is empty: say what to look for, in words or by name")
            raise UsageError('the query asks for nothing: add words, a name:PATTERN, a "phrase" or a /regex/')
        if not self.settings.term_graph and self.settings.rewriter == "none":
            return parsed._replace(rewrite=RewriteTrace(parsed.text, parsed.text, parsed.text)), options
        from dowse.search.query.rewriting import rewrite_query

        most = self.settings.term_graph_max_terms
        return rewrite_query(parsed, self.term_graph(), self._rewriter, most), options

    def _add_filters(self, parsed: ParsedQuery, given: SearchOptions | None) -> ResolvedOptions:
        """Resolve options, with the filters of a query beside those of the caller."""
        options = resolve_options(given, self.settings)
        merged = merge_filters(options.filter, parsed, self.languages) if parsed.has_filters else None
        return replace(options, filter=merged) if merged else options

    def _repair(self, error: IndexCorrupt, progress: Progress | None) -> str:
        """Make a corrupt index again, which is a cache, and return a note on it; not where nothing may be written."""
        if self.read_only:
            raise error
        self.index(progress, rebuild=not error.is_repairable and not self.is_on_server, wait=True)
        return f"the index was repaired after this error: {error.what}"

    def related(
        self,
        path: str,
        line: int = 0,
        options: SearchOptions | None = None,
        *,
        progress: Progress | None = None,
    ) -> SearchResponse:
        """Find code related to a place: its tests or what it tests, and similar code; line 0 means the whole file."""
        resolved = resolve_options(options, self.settings)
        for reading in self._freshness.readings(progress):
            with reading:
                file = reading.snapshot.file_at(path)
                if file is None:
                    raise UsageError(f"{path} is not in the index: 'dowse status --why {path}' says why")
                if line:
                    read_place.check_lines(reading.snapshot, file, line)
                response = pipeline.find_related(self._searcher, reading.snapshot, file, line, resolved)
                results = reading.verify(response.results)
        return replace(response, results=results, notes=(*self.notes, *reading.notes))

    def read(
        self, target: str, *, outline: bool = False, progress: Progress | None = None
    ) -> tuple[SearchResult, ...]:
        """Read a place: ``path``, ``path:first-last``, ``path:Name`` or ``Name``; or a file's definitions.

        Only what is in the index can be read, as the index has it: nothing outside the tree, nothing that is
        ignored, and no secret that was masked.
        """
        place = read_place.parse_location(target)
        place = place._replace(path=self.path_inside(place.path))
        read = read_place.list_outline if outline else read_place.read_location
        for reading in self._freshness.readings(progress):
            with reading:
                results = reading.verify(read(reading.snapshot, place))
        return results

    # --- the graph ---

    @cached_property
    def graph(self) -> CodeGraph:
        """What the code graph can be asked: ``engine.graph.callers("Session.send")``."""
        from dowse.graph.api import CodeGraph

        return CodeGraph(_GraphSource(self))

    @cached_property
    def history(self) -> CodeHistory:
        """What the history of the tree can be asked: ``engine.history.search("why was retry added")``."""
        from dowse.search.commit_search import CodeHistory

        return CodeHistory(self)

    def near(self, place: str, folder: Path | None = None) -> tuple[tuple[str, float], ...]:
        """List the files around a position, written as for ``parse_place``, for ``SearchOptions.near``."""
        path, line = self.parse_place(place, folder)
        return tuple(self.graph.rate_near_files(self.path_inside(path), line))

    def _add_neighbours(self, result: SearchResult) -> SearchResult:
        uses, used_by = self.graph.list_neighbours(result.path, result.entity)
        tests = self.graph.list_tests(result.path)
        return result._replace(uses=tuple(uses), used_by=tuple(used_by), tests=tuple(tests))

    def filter(
        self,
        languages: Iterable[str] = (),
        paths: Iterable[str] = (),
        not_paths: Iterable[str] = (),
        kinds: Iterable[str] = (),
        names: Iterable[str] = (),
        tests: bool | None = None,
    ) -> Filter:
        """Make a filter from names as users write them: aliases of languages, kinds."""
        given = ParsedQuery(
            languages=tuple(languages),
            paths=tuple(paths),
            not_paths=tuple(not_paths),
            kinds=tuple(kinds),
            names=tuple(names),
            roles=(Role.TEST,) if tests else (),
            not_roles=(Role.TEST,) if tests is False else (),
        )
        return merge_filters(NO_FILTER, given, self.languages) if given.has_filters else NO_FILTER

    def count_pending(self) -> int | None:
        """How many files and folders changed since the index was written; None where nobody looks."""
        return self._freshness.count_pending()

    def force_check(self) -> None:
        """Make sure that the next search looks at the tree, however short ago the last did."""
        self._freshness.force_check()

    def refresh(self, progress: Progress | None = None) -> list[str]:
        """Reindex what changed on disk; return notes on what prevented it."""
        return self._freshness.refresh(progress)

    def reindex(self, paths: Iterable[str]) -> list[str]:
        """Reindex files that are reported as changed, however large the tree; return notes on what prevented it."""
        return self._freshness.reindex(paths)


class _GraphSource:
    """Source of the code graph: what it needs of the engine."""

    def __init__(self, engine: Engine) -> None:
        self.root = engine.root
        self.settings = engine.settings
        self._engine = engine
        self.refresh, self.snapshot = engine.refresh, engine.store.snapshot

    def put_blob(self, name: str, data: bytes) -> None:
        """Store bytes beside the index; if it is not writable, they are made again next time."""
        if not self._engine.read_only:
            with suppress(IndexUnwritable):
                self._engine.store.put_blob(name, data)

    def get_blob(self, name: str) -> bytes | None:
        """Return what was stored under a name; None if there is nothing."""
        return self._engine.store.get_blob(name)

    def search(self, query: str, filter: Filter, limit: int) -> Sequence[SearchResult]:
        """Return the hits of a search."""
        return self._engine.search(query, SearchOptions(limit=limit, filter=filter, text=False)).results
