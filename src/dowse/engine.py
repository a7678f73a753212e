"""The engine: one tree, its index, its settings. What every interface calls, and the Python API.

from dowse import Engine

with Engine.open("~/src/project") as engine:
    for hit in engine.search("where is the token refreshed").results:
        print(hit.path, hit.start_line, hit.entity)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from dataclasses import replace
from datetime import datetime, timedelta
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from dowse import embedders, index_folder, location, stores
from dowse import settings as settings_module
from dowse.code import tokens
from dowse.code.languages import Languages, check_tables, extended
from dowse.errors import (
    EmbedderError,
    IndexCorrupt,
    IndexMissing,
    IndexUnwritable,
    SettingsError,
    UsageError,
)
from dowse.filtering import file_passes
from dowse.garbage import uncollected
from dowse.index_folder import IndexFolder
from dowse.indexing.freshness import Freshness, Means, patiently
from dowse.search import pipeline as searching
from dowse.search import query_language
from dowse.search import read as reading
from dowse.search.cache import AnswerCache, Asking, RememberingEmbedder
from dowse.search.laps import Laps
from dowse.settings import Resolved, Settings
from dowse.stores.base import KnownFile, Snapshot, Store
from dowse.types import (
    AnalysedQuery,
    Candidate,
    Collected,
    Explanation,
    FileFacts,
    Filter,
    IndexReport,
    IndexState,
    IndexStatus,
    Kind,
    ParsedQuery,
    Revision,
    Role,
    SearchOptions,
    SearchResponse,
    SearchResult,
    ServerStatus,
    Skipped,
    StoredFile,
    Verdict,
    Wording,
)

if TYPE_CHECKING:
    from dowse.embedders.base import Embedder
    from dowse.graph.questions import CodeGraph
    from dowse.indexing.pipeline import Progress, Recipe
    from dowse.search.rewrite import Rewriter
    from dowse.search.terms import TermGraph

Answer = TypeVar("Answer", SearchResponse, Explanation)

LARGE = 300_000
"""Chunks from which on a full round of the collector takes tens of milliseconds, and is kept out of questions. A server
with fewer needs its rounds, which are short: without them it grew half as much again."""

GO_ON = (
    "what was indexed is kept: run 'dowse index' again to go on from there, "
    "or with --without-vectors to go on without this embedder"
)
"""What to do when the embedder failed."""


class Engine:
    """A tree and its index. Use from several threads is safe; close it, or use it in a ``with`` block."""

    def __init__(self, root: Path, resolved: Resolved) -> None:
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
        root = location.root_of(path, any_root=any_root)
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
        return extended(self.settings.languages)

    @cached_property
    def embedder(self) -> Embedder | None:
        """What turns text into vectors, if anything."""
        return embedders.create(self.settings.embedder, self._resolved, self.root)

    @cached_property
    def _query_embedder(self) -> Embedder | None:
        """The same for questions, each of which is looked at more than once."""
        return RememberingEmbedder(self.embedder) if self.embedder else None

    @cached_property
    def store(self) -> Store:
        """Where the index is."""
        return self.store_at(self.settings.store)

    @cached_property
    def _freshness(self) -> Freshness:
        means = Means(
            self.root,
            self.store,
            recipe=lambda: self._recipe(hurried=True),
            index=self.index,
            looks=self.settings.refresh,
            read_only=self.read_only,
        )
        return Freshness(means)

    def store_at(self, name: str) -> Store:
        """The store of a name or address for this tree; source leaves the machine only if the user says so."""
        if not stores.is_server(name):
            place = self._index_place if name == "embedded" else None
            return stores.create(name, place, str(self.root), self.fingerprint)
        if name == self.settings.store and not stores.is_local(name):
            address = settings_module.masked(name)
            self._resolved.require_user("store", f"send the source of this tree to {address}", "DOWSE_STORE")
        s, names = self.settings, location.shared_names(self.root)
        shared = stores.Shared(
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
    def _resolved(self) -> Resolved:
        return Resolved(self.settings, self.origins)

    @cached_property
    def _index_place(self) -> IndexFolder:
        place = location.index_place(self.root, self.settings)
        if place.note:
            self.notes = (*self.notes, place.note)
        return place.folder

    @property
    def fingerprint(self) -> str:
        """What an index must have been made with to serve these settings."""
        model = self.embedder.name if self.embedder else ""
        return self.settings.index_fingerprint(tokens=tokens.VERSION, model=model)

    def _recipe(self, *, hurried: bool = False) -> Recipe:
        """How the tree becomes an index; ``hurried`` if somebody waits for the answer to a question."""
        from dowse.indexing.discover import Rules
        from dowse.indexing.pipeline import Recipe
        from dowse.indexing.understand import Understanding

        s = self.settings
        return Recipe(
            rules=Rules(
                include=s.include,
                exclude=s.exclude,
                max_file_size=s.max_file_size,
                use_ignore_files=s.use_ignore_files,
                default_excludes=s.default_excludes,
                global_ignore=settings_module.global_git_ignore() if s.use_ignore_files else None,
            ),
            understanding=Understanding(self.languages, s.chunk_size, s.chunk_overlap),
            mask_secrets=s.mask_secrets,
            content_key=s.content_key(),
            embedder=embedders.hurried(self.embedder) if hurried else self.embedder,
            processes=s.workers or os.cpu_count() or 1,
            without_vectors=s.without_vectors,
        )

    @cached_property
    def _rewriter(self) -> Rewriter | None:
        """What says questions in other words, if anything."""
        if self.settings.rewriter == "none":
            return None
        from dowse.search.rewrite import create

        return create(self._resolved)

    def term_graph(self) -> TermGraph | None:
        """The term graph as its file has it now, if there is one."""
        if not self.settings.terms:
            return None
        from dowse.search.terms import load

        file = (self.root / Path(self.settings.terms).expanduser()).resolve()
        if not file.is_relative_to(self.root):
            self._resolved.require_user("terms", f"read {file}, outside of {self.root}", "DOWSE_TERMS")
        return load(file)

    def _worded(self, parsed: ParsedQuery) -> ParsedQuery:
        """The question as it is searched for, and how it became that."""
        if not self.settings.terms and self.settings.rewriter == "none":
            return parsed._replace(wording=Wording(parsed.text, parsed.text, parsed.text))
        from dowse.search.wording import worded

        return worded(parsed, self.term_graph(), self._rewriter)

    def _log(self, query: str, response: SearchResponse) -> None:
        """Keep the query, if the user wants that."""
        if self.settings.search_log:
            from dowse.search.log import append

            append(location.search_log(self.root), query, response)

    # --- what it does ---

    def index(self, progress: Progress | None = None, *, rebuild: bool = False) -> IndexReport:
        """Bring the index up to what is on disk; ``rebuild`` starts from nothing."""
        from dowse.indexing import pipeline

        if self.read_only:
            raise IndexUnwritable(f"the index of {self.root} is open for reading only: nothing is indexed")
        if rebuild:
            self.clear()
        try:
            return pipeline.index(self.root, self.store, self._recipe(), progress or pipeline.quiet)
        except EmbedderError as error:
            raise EmbedderError(f"{error}; {GO_ON}") from error

    def search(
        self, query: str, options: SearchOptions | None = None, *, progress: Progress | None = None
    ) -> SearchResponse:
        """The places that answer a question, best first; indexes what is new or changed before."""
        parsed, options = self._asked(query, options)
        response = self._repairing(progress, lambda: self._search(query, parsed, options, progress))
        self._log(query, response)
        if options.neighbours:
            response = replace(response, results=tuple(map(self._with_neighbours, response.results)))
        return response

    def explain(
        self,
        query: str,
        path: str,
        line: int = 0,
        options: SearchOptions | None = None,
        *,
        progress: Progress | None = None,
    ) -> Explanation:
        """Why a place ranks where it does in the answer to a question, or why it is not there.

        ``path`` is relative to the root; line 0 means the best place of the file.
        """
        parsed, options = self._asked(query, options)
        told = self._repairing(progress, lambda: self._explain(parsed, path, line, options, progress))
        return replace(told, query=replace(told.query, text=query))

    def _asked(self, query: str, options: SearchOptions | None) -> tuple[ParsedQuery, SearchOptions]:
        """A question taken apart, and the options with its filters."""
        if not query.strip("\0 \t\r\n"):
            raise UsageError("the query is empty: say what to look for, in words or by name")
        options = options or SearchOptions(limit=self.settings.limit)
        parsed = self._worded(query_language.parse(query))
        if not (parsed.text.strip() or parsed.names or parsed.phrases or parsed.regexes):
            what = "only has filters" if parsed.has_filters else "asks for nothing"
            raise UsageError(f'the query {what}: add words, a name:PATTERN, a "phrase" or a /regex/')
        if parsed.has_filters:
            options = replace(options, filter=self._narrowed(options.filter, parsed))
        return parsed, options

    def _repairing(self, progress: Progress | None, work: Callable[[], Answer]) -> Answer:
        """What the work returns; where the index is damaged, after making it anew: an index is a cache."""
        try:
            return work()
        except IndexCorrupt as error:
            if self.read_only:
                raise
            anew = not error.is_repairable and not stores.is_server(self.settings.store)
            patiently(lambda: self.index(progress, rebuild=anew), progress)
            answered: Answer = work()
            return replace(
                answered, notes=(*answered.notes, f"the index was repaired after this error: {error.what}")
            )

    def _search(
        self, text: str, query: ParsedQuery, options: SearchOptions, progress: Progress | None
    ) -> SearchResponse:
        laps = Laps()
        with self._freshness.current(progress) as (snapshot, refreshed):
            laps.done("refresh")
            response, results, taken_in = self._freshness.checked(
                snapshot,
                lambda snapshot: self._answer(snapshot, query, options),
                lambda response: response.results,
            )
        notes = [*self.notes, *query.notes, *refreshed, *taken_in]
        if not (results or refreshed or self._file_count()):
            notes.append(f"the index of {self.root} is empty: 'dowse index' says why")
        return replace(
            response,
            query=response.query if response.query.text == text else replace(response.query, text=text),
            results=results,
            notes=tuple(dict.fromkeys((*notes, *response.notes))),  # the same may be said of two attempts
            stages=(*laps.stages, *response.stages),
            wording=query.wording,
        )

    def _file_count(self) -> int:
        with self.store.snapshot() as snapshot:
            return snapshot.file_count()

    def _answer(self, snapshot: Snapshot, query: ParsedQuery, options: SearchOptions) -> SearchResponse:
        """The answer, from the cache if it was given before."""
        laps = Laps()
        read = self._read(query, laps)
        if self.settings.cache == "off":
            return self._ranked(snapshot, query, read, options, laps)[1]
        asking = Asking(snapshot, query, read, options, self.settings, self._query_embedder)
        return self._cache.answer(asking, laps, lambda: self._ranked(snapshot, query, read, options, laps)[1])

    def _read(self, query: ParsedQuery, laps: Laps) -> AnalysedQuery:
        read = searching.read(query, self._is_extension)
        laps.done("read")
        return read

    def _ranked(
        self,
        snapshot: Snapshot,
        query: ParsedQuery,
        read: AnalysedQuery,
        options: SearchOptions,
        laps: Laps,
    ) -> tuple[searching.Ranking, SearchResponse]:
        """The whole trace, and what is shown of it."""
        is_large = snapshot.chunk_count() >= LARGE
        with uncollected() if is_large else nullcontext():
            ranking = searching.rank(
                snapshot, query, read, options, self.settings, self._query_embedder, laps
            )
            return searching.answer(snapshot, ranking, options, self.settings, str(self.root))

    @contextmanager
    def ranking(
        self, query: str, options: SearchOptions | None = None
    ) -> Iterator[tuple[Snapshot, searching.Ranking]]:
        """The whole trace of a search over the index as it is, for those who study ranking."""
        parsed, options = self._asked(query, options)
        laps = Laps()
        with self.store.snapshot() as snapshot:
            read = self._read(parsed, laps)
            yield snapshot, self._ranked(snapshot, parsed, read, options, laps)[0]

    def _explain(
        self, query: ParsedQuery, path: str, line: int, options: SearchOptions, progress: Progress | None
    ) -> Explanation:
        from dowse.search import explain

        with self._freshness.current(progress) as (snapshot, refreshed):
            notes = (*self.notes, *query.notes, *refreshed)
            file = snapshot.file_at(path)
            if file is not None and line:
                reading.check_lines(snapshot, file, line)
            laps = Laps()
            read = self._read(query, laps)
            ranking, response = self._ranked(snapshot, query, read, options, laps)
            asked = explain.Asked(query, options, self.settings, ranking, response, self._query_embedder)
            if file is not None:
                return replace(explain.explain(snapshot, asked, file, line), notes=notes)
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

    def related(
        self,
        path: str,
        line: int = 0,
        options: SearchOptions | None = None,
        *,
        progress: Progress | None = None,
    ) -> SearchResponse:
        """What belongs to a place: its tests or what it tests, and code that is alike; line 0 means the whole file."""
        asked = options or SearchOptions(limit=self.settings.limit)

        def find(snapshot: Snapshot) -> SearchResponse:
            file = snapshot.file_at(path)
            if file is None:
                raise UsageError(f"{path} is not in the index: 'dowse status --why {path}' says why")
            if line:
                reading.check_lines(snapshot, file, line)
            return searching.relate(snapshot, file, line, asked, self.settings, str(self.root))

        with self._freshness.current(progress) as (snapshot, refreshed):
            response, results, taken_in = self._freshness.checked(
                snapshot, find, lambda response: response.results
            )
        return replace(response, results=results, notes=(*self.notes, *refreshed, *taken_in))

    def read(
        self, target: str, *, outline: bool = False, progress: Progress | None = None
    ) -> tuple[SearchResult, ...]:
        """What stands at a place: ``path``, ``path:first-last``, ``path:Name`` or ``Name``; or a file's definitions.

        Only what is in the index can be read, as the index has it: nothing outside the tree, nothing that is
        ignored, and no secret that was masked.
        """
        place = reading.parsed(target)
        place = place._replace(path=self.path_inside(place.path))
        find = reading.outline if outline else reading.read
        with self._freshness.current(progress) as (snapshot, _):
            return self._freshness.checked(
                snapshot, lambda snapshot: find(snapshot, place), lambda found: found
            )[1]

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
        from dowse.indexing import git

        return git.revision(self.root, paths)

    # --- the graph ---

    @cached_property
    def graph(self) -> CodeGraph:
        """What the code graph can be asked: ``engine.graph.callers("Session.send")``."""
        from dowse.graph.questions import CodeGraph

        return CodeGraph(_GraphSource(self))

    def near(self, place: str) -> tuple[tuple[str, float], ...]:
        """The files around a cursor, ``path`` or ``path:line``, for ``SearchOptions.near``."""
        path, _, line = place.rpartition(":") if place.rpartition(":")[2].isdigit() else (place, "", "0")
        return tuple(self.graph.near(self.path_inside(path), int(line)))

    def _with_neighbours(self, result: SearchResult) -> SearchResult:
        uses, used_by = self.graph.around(result.path, result.entity)
        tests = self.graph.tests_of(result.path)
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
        """A filter from what people write: aliases of languages, kinds by name."""
        return Filter(
            languages=self._language_names(languages),
            paths=tuple(paths),
            not_paths=tuple(not_paths),
            roles=frozenset({Role.TEST}) if tests else frozenset(),
            not_roles=frozenset({Role.TEST}) if tests is False else frozenset(),
            kinds=frozenset(map(_kind, kinds)),
            names=tuple(names),
        )

    def _language_names(self, names: Iterable[str]) -> frozenset[str]:
        return frozenset(self.languages.named(name).name for name in names)

    def _narrowed(self, filter: Filter, query: ParsedQuery) -> Filter:
        """A filter with what the question itself asks for; values of one field are alternatives."""
        return Filter(
            languages=filter.languages | self._language_names(query.languages),
            not_languages=filter.not_languages | self._language_names(query.not_languages),
            paths=(*filter.paths, *query.paths),
            not_paths=(*filter.not_paths, *query.not_paths),
            roles=filter.roles | frozenset(query.roles),
            not_roles=filter.not_roles | frozenset(query.not_roles),
            changed_since_ns=_moment(query.changed) if query.changed is not None else filter.changed_since_ns,
            kinds=filter.kinds | frozenset(map(_kind, query.kinds)),
            not_kinds=filter.not_kinds | frozenset(map(_kind, query.not_kinds)),
            names=(*filter.names, *query.names),
        )

    def status(self) -> IndexStatus:
        """The index at a glance."""
        return self.store.status()

    def damaged(self) -> tuple[str, ...]:
        """The parts of the index that are not as they were written; reads all of it."""
        return self.store.damaged()

    def generation(self) -> int:
        """The generation of the index that a search would see now."""
        with self.store.snapshot() as snapshot:
            return snapshot.generation

    def pending(self) -> int | None:
        """How many files and folders changed since the index was written; None where nobody looks."""
        return self._freshness.pending()

    def files(self, *patterns: str) -> Iterator[StoredFile]:
        """The files of the index as it is, by path; patterns are those of a filter's paths."""
        if self.store.state() is IndexState.MISSING:
            raise IndexMissing(f"there is no index of {self.root}: run 'dowse index'")
        wanted = Filter(paths=patterns)
        with self.store.snapshot() as snapshot:
            for path in sorted(snapshot.manifest()):
                if file_passes(wanted, FileFacts(path, "", "", 0)) and (file := snapshot.file_at(path)):
                    yield file

    def why(self, path: str) -> Candidate | Skipped:
        """Whether a file belongs in the index, and if not, why."""
        from dowse.indexing import pipeline

        return pipeline.why(self.root, path, self._recipe())

    def left_out(self, *patterns: str) -> Iterator[Skipped]:
        """The files and folders that are left out as the disk is now, and why; patterns as those of ``files``."""
        from dowse.indexing import pipeline

        wanted = Filter(paths=patterns)
        manifest: Mapping[str, KnownFile] = {}
        if self.store.state() is IndexState.CURRENT:  # with other settings, a run looks at every file anew
            with self.store.snapshot() as snapshot:
                manifest = snapshot.manifest()
        for skipped in pipeline.left_out(self.root, self._recipe(), manifest):
            if file_passes(wanted, FileFacts(skipped.path, "", "", 0)):
                yield skipped

    def init_server(self, grant_read: Sequence[str] = (), *, rebuild: bool = False) -> None:
        """Make what the server of the index lacks: extensions, schema, tables, rights of readers."""
        stores.server(self.store).init(grant_read, rebuild=rebuild)

    def server_status(self) -> ServerStatus:
        """All that the server of the index has."""
        return stores.server(self.store).server_status()

    def collect_garbage(self, forget: Sequence[str] = (), older_than_days: float | None = None) -> Collected:
        """Take out of the server repositories and views by name or age, and then what nobody uses."""
        return stores.server(self.store).collect_garbage(forget, older_than_days)

    def copy_index(self, source: str, target: str, progress: Progress | None = None) -> int:
        """Make the index in one store (a name or an address) what it is in another; how many files were copied."""
        from dowse.indexing import pipeline
        from dowse.stores import copying

        if source == target:
            raise UsageError("source and target are the same store: name two")
        with closing(self.store_at(source)) as one, closing(self.store_at(target)) as two:
            return copying.copy(one, two, progress or pipeline.quiet)

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
        path = location.default_folder(self.root, self.settings)
        if fresh:
            return index_folder.make_fresh(path).path
        folder = index_folder.find_foreign(path)
        with closing(stores.create("embedded", folder, str(self.root), self.fingerprint)) as store:
            if damaged := store.damaged():
                raise IndexCorrupt(f"of the index at {path} {', '.join(damaged)} cannot be read")
        index_folder.seal(folder.data)
        return path

    # --- freshness ---

    def check_soon(self) -> None:
        """Make sure that the next search looks at the tree, however short ago the last did."""
        self._freshness.check_soon()

    def refresh(self, progress: Progress | None = None) -> list[str]:
        """Bring the index up to what is on disk if it is not; what stood in the way."""
        return self._freshness.refresh(progress)

    def take_in(self, paths: Iterable[str]) -> list[str]:
        """Bring files that are said to have changed up to date, however large the tree; what stood in the way."""
        return self._freshness.take_in(paths)


class _GraphSource:
    """The engine as the graph sees it."""

    def __init__(self, engine: Engine) -> None:
        self.root = engine.root
        self._engine = engine

    def fresh(self) -> AbstractContextManager[Snapshot]:
        """The index as the disk is."""
        self._engine.refresh()
        return self._engine.store.snapshot()

    def keep(self, name: str, data: bytes) -> None:
        """Keep something beside the index; where that cannot be written, it is made again next time."""
        if self._engine.read_only:
            return
        with suppress(IndexUnwritable):
            self._engine.store.keep(name, data)

    def kept(self, name: str) -> bytes | None:
        """What was kept."""
        return self._engine.store.kept(name)

    def found(self, query: str, filter: Filter, limit: int) -> Sequence[SearchResult]:
        """What a search finds."""
        return self._engine.search(query, SearchOptions(limit=limit, filter=filter, text=False)).results


def _drop_broken_languages(resolved: Resolved) -> Resolved:
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

        return parsing.problem(extended({name: table}).by_name[name])
    except SettingsError as error:
        return error


def _moment(changed: timedelta | datetime) -> int:
    """A time back from now, or a moment, in nanoseconds as the file system has it."""
    moment = datetime.now() - changed if isinstance(changed, timedelta) else changed
    return int(moment.timestamp() * 1e9)


def _kind(name: str) -> Kind:
    try:
        return Kind(name.lower())
    except ValueError:
        close = get_close_matches(name.lower(), list(Kind), n=1)
        hint = f"did you mean '{close[0]}'? " if close else ""
        raise UsageError(f"unknown kind '{name}': {hint}known are {', '.join(Kind)}") from None
