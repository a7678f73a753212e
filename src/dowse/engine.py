"""The engine: one tree, its index, its settings. What every interface calls, and the Python API.

from dowse import Engine

with Engine.open("~/src/project") as engine:
    for hit in engine.search("where is the token refreshed").results:
        print(hit.path, hit.start_line, hit.entity)
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from dowse import embedders, index_folder, roots, stores
from dowse import settings as settings_module
from dowse.code import tokens
from dowse.code.languages import Languages, check_tables, extend_builtin
from dowse.errors import (
    EmbedderError,
    IndexCorrupt,
    IndexMissing,
    IndexUnwritable,
    SettingsError,
    UsageError,
)
from dowse.filters import file_passes
from dowse.index_folder import IndexFolder
from dowse.indexing.freshness import Freshness, FreshnessContext, retry_while_locked
from dowse.query_filters import merge_filters
from dowse.search import pipeline
from dowse.search.answer_cache import AnswerCache, CachingEmbedder
from dowse.search.output import read_place
from dowse.search.pipeline import Searcher
from dowse.search.query import parse
from dowse.search.query.analyze import analyze_query
from dowse.search.ranking.candidates import Ranking
from dowse.search.timing import StageTimer
from dowse.settings import ResolvedSettings, Settings
from dowse.stores.protocol import KnownFile, Snapshot, Store
from dowse.types.answers import SearchOptions, SearchResponse, SearchResult
from dowse.types.discovered import FoundFile, IndexReport, Revision, Skipped
from dowse.types.explanations import Explanation, Verdict
from dowse.types.queries import ParsedQuery, RewriteTrace
from dowse.types.source import Role
from dowse.types.stored import Collected, FileFacts, Filter, IndexState, IndexStatus, ServerStatus, StoredFile

if TYPE_CHECKING:
    from dowse.embedders.embedder import Embedder
    from dowse.graph.api import CodeGraph
    from dowse.indexing.pipeline import IndexConfig, Progress
    from dowse.search.query.llm_rewriter import Rewriter
    from dowse.search.query.term_graph import TermGraph

GO_ON = (
    "what was indexed is kept: run 'dowse index' again to go on from there, "
    "or with --without-vectors to go on without this embedder"
)
"""What to do when the embedder failed."""


class Engine:
    """A tree and its index. Use from several threads is safe; close it, or use it in a ``with`` block."""

    def __init__(self, root: Path, resolved: ResolvedSettings) -> None:
        self.root = root
        self.settings: Settings = resolved.settings
        self.origins = resolved.origins
        self.notes: tuple[str, ...] = resolved.notes
        self.read_only = False
        self._cache = AnswerCache()

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str] | None = None,
        *,
        any_root: bool = False,
        read_only: bool = False,
        **given: Any,
    ) -> Self:
        """The engine for a folder, or for the project around the working directory.

        Keyword arguments are settings and win over the configuration file and the environment. Nothing is
        read or indexed yet. ``any_root`` allows ``/`` and the home folder; with ``read_only``, the index is
        searched as it is.
        """
        root = roots.resolve_root(path, any_root=any_root)
        resolved = settings_module.resolve(root, given)
        engine = cls(root, _drop_broken_languages(resolved))
        engine.read_only = read_only
        return engine

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the index."""
        if "_freshness" in self.__dict__:
            self._freshness.close()
        if "store" in self.__dict__:
            self.store.close()

    # --- parts, made when first needed ---

    @cached_property
    def languages(self) -> Languages:
        """The languages in force."""
        return extend_builtin(self.settings.languages)

    @cached_property
    def embedder(self) -> Embedder | None:
        """What turns text into vectors, if anything."""
        return embedders.create(self.settings.embedder, self._resolved, self.root)

    @cached_property
    def _query_embedder(self) -> Embedder | None:
        """The same for questions, each of which is looked at more than once."""
        return CachingEmbedder(self.embedder) if self.embedder else None

    @property
    def _searcher(self) -> Searcher:
        return Searcher(str(self.root), self.settings, self._query_embedder, self._cache, self._is_extension)

    @cached_property
    def store(self) -> Store:
        """Where the index is."""
        return self.store_at(self.settings.store)

    @cached_property
    def _freshness(self) -> Freshness:
        means = FreshnessContext(
            self.root,
            self.store,
            index_config=lambda: self._recipe(hurried=True),
            index=self.index,
            checks_changes=self.settings.refresh,
            read_only=self.read_only,
        )
        return Freshness(means)

    def store_at(self, name: str) -> Store:
        """The store of a name or address for this tree; source leaves the machine only if the user says so."""
        if not stores.is_server(name):
            place = self._index_place if name == "embedded" else None
            return stores.create(name, place, str(self.root), self.fingerprint)
        if name == self.settings.store and not stores.is_local_server(name):
            address = settings_module.mask_passwords(name)
            self._resolved.require_user("store", f"send the source of this tree to {address}", "DOWSE_STORE")
        s, names = self.settings, roots.shared_names(self.root)
        shared = stores.SharedIndexOptions(
            self._shared_setting("store_repository", name) or names.repository,
            s.store_view or names.view,
            self._shared_setting("store_schema", name),
            s.store_timeout,
        )
        return stores.create(name, None, str(self.root), self.fingerprint, shared)

    @property
    def index_folder(self) -> Path:
        """The folder of the index as a user knows it, there or not."""
        return self._index_place.path

    def _shared_setting(self, setting: str, store: str) -> str:
        """Return a name for a store; one that the tree gives is for the tree's own store, not for a copy elsewhere."""
        source = self.settings
        if store != source.store and self._resolved.is_from_tree(setting):
            source = Settings()
        return str(getattr(source, setting))

    @property
    def _resolved(self) -> ResolvedSettings:
        return ResolvedSettings(self.settings, self.origins)

    @cached_property
    def _index_place(self) -> IndexFolder:
        place = roots.locate_index(self.root, self.settings)
        if place.note:
            self.notes = (*self.notes, place.note)
        return place.folder

    @property
    def fingerprint(self) -> str:
        """What an index must have been made with to serve these settings."""
        model = self.embedder.name if self.embedder else ""
        return self.settings.index_fingerprint(tokens=tokens.VERSION, model=model)

    def _recipe(self, *, hurried: bool = False) -> IndexConfig:
        """How the tree becomes an index; ``hurried`` if somebody waits for the answer to a question."""
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
            without_vectors=s.without_vectors,
        )

    @cached_property
    def _rewriter(self) -> Rewriter | None:
        """What says questions in other words, if anything."""
        if self.settings.rewriter == "none":
            return None
        from dowse.search.query.llm_rewriter import create_rewriter

        return create_rewriter(self._resolved)

    def term_graph(self) -> TermGraph | None:
        """The term graph as its file has it now, if there is one."""
        if not self.settings.terms:
            return None
        from dowse.search.query.term_graph import load_term_graph

        file = (self.root / Path(self.settings.terms).expanduser()).resolve()
        if not file.is_relative_to(self.root):
            self._resolved.require_user("terms", f"read {file}, outside of {self.root}", "DOWSE_TERMS")
        return load_term_graph(file)

    def _rewrite(self, parsed: ParsedQuery) -> ParsedQuery:
        """Rewrite the text of a query, if the settings say so, and note how."""
        if not self.settings.terms and self.settings.rewriter == "none":
            return parsed._replace(rewrite=RewriteTrace(parsed.text, parsed.text, parsed.text))
        from dowse.search.query.rewriting import rewrite_query

        return rewrite_query(parsed, self.term_graph(), self._rewriter)

    def _log(self, query: str, response: SearchResponse) -> None:
        """Keep the query, if the user wants that."""
        if self.settings.search_log:
            from dowse.search.query_log import log_query

            log_query(roots.search_log_path(self.root), query, response)

    # --- what it does ---

    def index(self, progress: Progress | None = None, *, rebuild: bool = False) -> IndexReport:
        """Bring the index up to what is on disk; ``rebuild`` starts from nothing."""
        from dowse.indexing import pipeline as indexing

        if self.read_only:
            raise IndexUnwritable(f"the index of {self.root} is open for reading only: nothing is indexed")
        if rebuild:
            self.clear()
        try:
            return indexing.index(self.root, self.store, self._recipe(), progress or indexing.ignore_progress)
        except EmbedderError as error:
            raise EmbedderError(f"{error}; {GO_ON}") from error

    def search(
        self, query: str, options: SearchOptions | None = None, *, progress: Progress | None = None
    ) -> SearchResponse:
        """Find the places that answer a query, best first; index what is new or changed before."""
        parsed, options = self._parse_query(query, options)
        try:
            response = self._search(query, parsed, options, progress)
        except IndexCorrupt as error:
            note = self._repair(error, progress)
            response = self._search(query, parsed, options, progress)
            response = replace(response, notes=(*response.notes, note))
        self._log(query, response)
        if options.neighbours:
            response = replace(response, results=tuple(map(self._add_neighbours, response.results)))
        return response

    def _search(
        self, text: str, parsed: ParsedQuery, options: SearchOptions, progress: Progress | None
    ) -> SearchResponse:
        """Search a fresh snapshot and verify the files of the answer; reindex stale ones and search once more."""
        timer = StageTimer()
        with closing(self._freshness.readings(progress)) as readings:
            for reading in readings:
                timer.finish("refresh")
                response = pipeline.search(self._searcher, reading.snapshot, parsed, options)
                results = reading.verify(response.results)
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
        parsed, options = self._parse_query(query, options)
        try:
            explained = self._explain(parsed, path, line, options, progress)
        except IndexCorrupt as error:
            note = self._repair(error, progress)
            explained = self._explain(parsed, path, line, options, progress)
            explained = replace(explained, notes=(*explained.notes, note))
        return replace(explained, query=replace(explained.query, text=query))

    def _explain(
        self, parsed: ParsedQuery, path: str, line: int, options: SearchOptions, progress: Progress | None
    ) -> Explanation:
        from dowse.search.output import explanation

        with self._freshness.fresh_snapshot(progress) as (snapshot, refresh_notes):
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
        found = self.why(path)
        verdict, detail = Verdict.NOT_INDEXED, "it belongs there: 'dowse index' says what went wrong"
        if isinstance(found, Skipped):
            verdict = Verdict.LEFT_OUT
            detail = f"{found.reason} ({found.detail})" if found.detail else found.reason
        return Explanation(
            response.query,
            response.root,
            found.path,
            line,
            verdict,
            detail,
            stages=response.stages,
            notes=notes,
        )

    @contextmanager
    def ranking(self, query: str, options: SearchOptions | None = None) -> Iterator[tuple[Snapshot, Ranking]]:
        """Give the whole trace of a search over the index as it is, for those who study ranking."""
        parsed, options = self._parse_query(query, options)
        with self.store.snapshot() as snapshot:
            yield snapshot, self._rank(snapshot, parsed, options)[0]

    def _rank(
        self, snapshot: Snapshot, parsed: ParsedQuery, options: SearchOptions
    ) -> tuple[Ranking, SearchResponse]:
        """Rank without the cache, for the whole trace."""
        timer = StageTimer()
        query = analyze_query(parsed, options.filter, self._is_extension)
        timer.finish("read")
        return pipeline.rank_and_respond(self._searcher, snapshot, query, options, timer)

    def _parse_query(self, query: str, options: SearchOptions | None) -> tuple[ParsedQuery, SearchOptions]:
        """Parse and rewrite a query, and add its filters to the options."""
        if not query.strip("\0 \t\r\n"):
            raise UsageError("the query is empty: say what to look for, in words or by name")
        options = options or SearchOptions(limit=self.settings.limit)
        parsed = self._rewrite(parse.parse_query(query))
        if not (parsed.text.strip() or parsed.names or parsed.phrases or parsed.regexes):
            what = "only has filters" if parsed.has_filters else "asks for nothing"
            raise UsageError(f'the query {what}: add words, a name:PATTERN, a "phrase" or a /regex/')
        if parsed.has_filters:
            options = replace(options, filter=merge_filters(options.filter, parsed, self.languages))
        return parsed, options

    def _repair(self, error: IndexCorrupt, progress: Progress | None) -> str:
        """Make a corrupt index anew, which is a cache, and return a note on it; not where nothing may be written."""
        if self.read_only:
            raise error
        rebuild = not error.is_repairable and not stores.is_server(self.settings.store)
        retry_while_locked(lambda: self.index(progress, rebuild=rebuild), progress)
        return f"the index was repaired after this error: {error.what}"

    def related(
        self,
        path: str,
        line: int = 0,
        options: SearchOptions | None = None,
        *,
        progress: Progress | None = None,
    ) -> SearchResponse:
        """Find what belongs to a place: its tests or what it tests, and similar code; line 0 means the whole file."""
        options = options or SearchOptions(limit=self.settings.limit)
        with closing(self._freshness.readings(progress)) as readings:
            for reading in readings:
                file = reading.snapshot.file_at(path)
                if file is None:
                    raise UsageError(f"{path} is not in the index: 'dowse status --why {path}' says why")
                if line:
                    read_place.check_lines(reading.snapshot, file, line)
                response = pipeline.find_related(self._searcher, reading.snapshot, file, line, options)
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
        with closing(self._freshness.readings(progress)) as readings:
            for reading in readings:
                results = reading.verify(read(reading.snapshot, place))
        return results

    def path_inside(self, path: str) -> str:
        """A path as the index has it: relative to the root, with forward slashes; it need not exist."""
        if os.path.isabs(path):
            inside = os.path.relpath(path, self.root)
        else:
            inside = os.path.normpath(path)
        inside = inside.replace(os.sep, "/")
        if inside == ".." or inside.startswith("../") or os.path.isabs(inside):
            raise UsageError(f"{path} is outside {self.root}: give a path below it")
        return inside

    def revision(self, paths: Iterable[str] = ()) -> Revision | None:
        """The commit that the tree is at, and which of some files differ from it; None without git."""
        from dowse.indexing import git_index

        return git_index.read_revision(self.root, paths)

    # --- the graph ---

    @cached_property
    def graph(self) -> CodeGraph:
        """What the code graph can be asked: ``engine.graph.callers("Session.send")``."""
        from dowse.graph.api import CodeGraph

        return CodeGraph(_GraphSource(self))

    def near(self, place: str) -> tuple[tuple[str, float], ...]:
        """The files around a cursor, ``path`` or ``path:line``, for ``SearchOptions.near``."""
        path, _, line = place.rpartition(":") if place.rpartition(":")[2].isdigit() else (place, "", "0")
        return tuple(self.graph.rate_near_files(self.path_inside(path), int(line)))

    def _add_neighbours(self, result: SearchResult) -> SearchResult:
        uses, used_by = self.graph.list_neighbours(result.path, result.entity)
        tests = self.graph.list_tests(result.path)
        return result._replace(uses=tuple(uses), used_by=tuple(used_by), tests=tuple(tests))

    def _is_extension(self, suffix: str) -> bool:
        return suffix in self.languages.extensions

    def filter(
        self,
        languages: Iterable[str] = (),
        paths: Iterable[str] = (),
        not_paths: Iterable[str] = (),
        kinds: Iterable[str] = (),
        names: Iterable[str] = (),
        tests: bool | None = None,
    ) -> Filter:
        """Make a filter from what people write: aliases of languages, kinds by name."""
        given = ParsedQuery(
            languages=tuple(languages),
            paths=tuple(paths),
            not_paths=tuple(not_paths),
            kinds=tuple(kinds),
            names=tuple(names),
            roles=(Role.TEST,) if tests else (),
            not_roles=(Role.TEST,) if tests is False else (),
        )
        return merge_filters(Filter(), given, self.languages)

    def status(self) -> IndexStatus:
        """The index at a glance."""
        return self.store.status()

    def find_corrupt_parts(self) -> tuple[str, ...]:
        """The parts of the index that are not as they were written; reads all of it."""
        return self.store.find_corrupt_parts()

    def generation(self) -> int:
        """The generation of the index that a search would see now."""
        with self.store.snapshot() as snapshot:
            return snapshot.generation

    def count_pending(self) -> int | None:
        """How many files and folders changed since the index was written; None where nobody looks."""
        return self._freshness.count_pending()

    def files(self, *patterns: str) -> Iterator[StoredFile]:
        """The files of the index as it is, by path; patterns are those of a filter's paths."""
        if self.store.state() is IndexState.MISSING:
            raise IndexMissing(f"there is no index of {self.root}: run 'dowse index'")
        wanted = Filter(paths=patterns)
        with self.store.snapshot() as snapshot:
            for path in sorted(snapshot.manifest()):
                if file_passes(wanted, FileFacts(path, "", "", 0)) and (file := snapshot.file_at(path)):
                    yield file

    def why(self, path: str) -> FoundFile | Skipped:
        """Whether a file belongs in the index, and if not, why."""
        from dowse.indexing import pipeline as indexing

        return indexing.check_file(self.root, path, self._recipe())

    def list_skipped(self, *patterns: str) -> Iterator[Skipped]:
        """The files and folders that are left out as the disk is now, and why; patterns as those of ``files``."""
        from dowse.indexing import pipeline as indexing

        wanted = Filter(paths=patterns)
        manifest: Mapping[str, KnownFile] = {}
        if self.store.state() is IndexState.CURRENT:  # with other settings, a run looks at every file anew
            with self.store.snapshot() as snapshot:
                manifest = snapshot.manifest()
        for skipped in indexing.find_skipped(self.root, self._recipe(), manifest):
            if file_passes(wanted, FileFacts(skipped.path, "", "", 0)):
                yield skipped

    def init_server(self, grant_read: Sequence[str] = (), *, rebuild: bool = False) -> None:
        """Make what the server of the index lacks: extensions, schema, tables, rights of readers."""
        stores.require_shared_store(self.store).init(grant_read, rebuild=rebuild)

    def server_status(self) -> ServerStatus:
        """All that the server of the index has."""
        return stores.require_shared_store(self.store).server_status()

    def collect_garbage(self, forget: Sequence[str] = (), older_than_days: float | None = None) -> Collected:
        """Take out of the server repositories and views by name or age, and then what nobody uses."""
        return stores.require_shared_store(self.store).collect_garbage(forget, older_than_days)

    def copy_index(self, source: str, target: str, progress: Progress | None = None) -> int:
        """Make the index in one store (a name or an address) what it is in another; how many files were copied."""
        from dowse.indexing import pipeline as indexing
        from dowse.stores import copy_store

        if source == target:
            raise UsageError("source and target are the same store: name two")
        with closing(self.store_at(source)) as one, closing(self.store_at(target)) as two:
            return copy_store.copy(one, two, progress or indexing.ignore_progress)

    def index_files(self) -> list[Path]:
        """List the files that ``clear`` deletes; none of an index on a server."""
        files = getattr(self.store, "files", None)
        return files() if files else []

    def clear(self) -> None:
        """Remove the index: our own files by name, and nothing else."""
        self.store.clear()

    def trust_index(self, *, fresh: bool = False) -> Path:
        """Take the index that is in the folder of this tree for the user's own, though it was made elsewhere.

        All of it is looked at first. ``fresh`` makes a new one beside it instead.
        """
        path = roots.default_index_folder(self.root, self.settings)
        if fresh:
            return index_folder.make_fresh(path).path
        folder = index_folder.find_foreign(path)
        with closing(stores.create("embedded", folder, str(self.root), self.fingerprint)) as store:
            if damaged := store.find_corrupt_parts():
                raise IndexCorrupt(f"of the index at {path} {', '.join(damaged)} cannot be read")
        index_folder.seal(folder.data)
        return path

    # --- freshness ---

    def force_check(self) -> None:
        """Make sure that the next search looks at the tree, however short ago the last did."""
        self._freshness.force_check()

    def refresh(self, progress: Progress | None = None) -> list[str]:
        """Bring the index up to what is on disk if it is not; what stood in the way."""
        return self._freshness.refresh(progress)

    def reindex(self, paths: Iterable[str]) -> list[str]:
        """Bring files that are said to have changed up to date, however large the tree; what stood in the way."""
        return self._freshness.reindex(paths)


class _GraphSource:
    """The engine as the graph sees it."""

    def __init__(self, engine: Engine) -> None:
        self.root = engine.root
        self._engine = engine

    def fresh_snapshot(self) -> AbstractContextManager[Snapshot]:
        """The index as the disk is."""
        self._engine.refresh()
        return self._engine.store.snapshot()

    def put_blob(self, name: str, data: bytes) -> None:
        """Keep something beside the index; where that cannot be written, it is made again next time."""
        if self._engine.read_only:
            return
        with suppress(IndexUnwritable):
            self._engine.store.put_blob(name, data)

    def get_blob(self, name: str) -> bytes | None:
        """What was kept."""
        return self._engine.store.get_blob(name)

    def search(self, query: str, filter: Filter, limit: int) -> Sequence[SearchResult]:
        """What a search finds."""
        return self._engine.search(query, SearchOptions(limit=limit, filter=filter, text=False)).results


def _drop_broken_languages(resolved: ResolvedSettings) -> ResolvedSettings:
    """Return the settings without what a tree gets wrong about languages, and notes on it; an error if a user does.

    The files of such a language would not be found at all: the built-in definition is used instead.
    """
    tables = resolved.settings.languages
    if not resolved.is_from_tree("languages"):
        check_tables(tables)
        return resolved
    problems = {name: problem for name, table in tables.items() if (problem := _find_problem(name, table))}
    sound = {name: table for name, table in tables.items() if name not in problems}
    origin = resolved.origins["languages"]
    notes = [
        f"languages.{name} in {origin} is not used, and the language is as built in, or plain text: {problem}"
        for name, problem in problems.items()
    ]
    settings = replace(resolved.settings, languages=sound)
    return replace(resolved, settings=settings, notes=(*resolved.notes, *notes))


def _find_problem(name: str, table: Any) -> SettingsError | None:
    """Return what is wrong with the table of a language; queries are compiled only if it has some."""
    try:
        check_tables({name: table})
        if not table.keys() & {"grammar", "definitions", "references"}:
            return None
        from dowse.code import parsing

        return parsing.find_problem(extend_builtin({name: table}).by_name[name])
    except SettingsError as error:
        return error
