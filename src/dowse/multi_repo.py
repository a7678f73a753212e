"""Multi-repository (federated) search: one query to several indexes, merged into one ranking.

Each repository has its own engine, searched in parallel. Scores compare the hits of one repository only. Relevance
means the same in all of them and orders the hits of all, so that a repository with only weak hits does not come first.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from dowse.engine import Engine
from dowse.errors import DowseError, RootError, UsageError
from dowse.frozen import replace
from dowse.search.query import parse
from dowse.search.query.query_format import format_query
from dowse.search.query.scope import matches_any
from dowse.types.answers import ChannelReport, RepositoryReport, SearchOptions, SearchResponse

if TYPE_CHECKING:
    from dowse.indexing.pipeline import Progress

MAX_PARALLEL_SEARCHES = 4
"""Repositories that are searched at the same time."""


def find_folder(wanted: str, known: Mapping[str, str], root: Path) -> Path:
    """Find the folder of a repository that the settings name, or that is given as a path."""
    if wanted in known:
        return (root / Path(known[wanted]).expanduser()).resolve()
    path = Path(wanted).expanduser()
    if path.is_dir():
        return path.resolve()
    names = ", ".join(sorted(known)) or "none: [repositories] in dowse.toml names them"
    raise RootError(f"there is no repository '{wanted}': it is not a folder, and the known names are {names}")


def name_folders(folders: Iterable[Path], known: Mapping[str, Path]) -> dict[str, Path]:
    """Name each folder: as the settings do, or by its own name, made unique by the folders above it."""
    names = {folder: name for name, folder in known.items()}
    named: dict[str, Path] = {}
    for folder in dict.fromkeys(folders):
        parts = folder.parts
        choices = [names[folder]] if folder in names else []
        choices += ["/".join(parts[-length:]) for length in range(1, len(parts) + 1)]
        named[next(name for name in choices if name not in named)] = folder
    return named


def choose_limit(engines: Iterable[Engine]) -> int:
    """Choose how many hits one answer from several trees has: as many as the most generous settings say."""
    return max(engine.settings.limit for engine in engines)


class Repositories:
    """Several engines by the names of their repositories, searched as one. Close it, or use it in a ``with`` block."""

    def __init__(
        self,
        engines: Mapping[str, Engine],
        problems: Sequence[RepositoryReport] = (),
        notes: Sequence[str] = (),
    ) -> None:
        self.engines = dict(engines)
        self.problems = tuple(problems)
        self.notes = tuple(notes)

    @classmethod
    def open(cls, wanted: Sequence[str], base: str | os.PathLike[str] | None = None, **given: Any) -> Self:
        """Open repositories by name or folder, as many as can be opened; the settings of ``base`` define the names."""
        home = Engine.open(base, allow_home=True)
        known = home.settings.repositories
        problems: list[RepositoryReport] = []
        folders: list[Path] = []
        for name in wanted:
            try:
                folders.append(find_folder(name, known, home.root))
            except DowseError as error:
                problems.append(RepositoryReport(name, "", problem=str(error)))
        known_folders = {
            name: (home.root / Path(path).expanduser()).resolve() for name, path in known.items()
        }
        engines: dict[str, Engine] = {}
        for name, folder in name_folders(folders, known_folders).items():
            try:
                engines[name] = Engine.open(folder, **given)
            except DowseError as error:
                problems.append(RepositoryReport(name, str(folder), problem=str(error)))
        if not engines:
            raise RootError("; ".join([*(report.problem for report in problems), *home.notes]))
        is_searched = any(
            engine.root == home.root for engine in engines.values()
        )  # its response has its notes
        return cls(engines, problems, () if is_searched else home.notes)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close every index."""
        for engine in self.engines.values():
            engine.close()

    def search(
        self, query: str, options: SearchOptions | None = None, *, progress: Progress | None = None
    ) -> SearchResponse:
        """Search all repositories; return the hits in one ranking, best first."""
        options = options or SearchOptions()
        limit = options.limit or choose_limit(self.engines.values())
        resolved = replace(options, limit=limit)
        chosen, rest = self._choose_engines(query, options)
        return chosen._search_all(lambda engine: engine.search(rest, resolved, progress=progress), limit)

    def _choose_engines(self, query: str, options: SearchOptions) -> tuple[Repositories, str]:
        """Choose the repositories that a query names (``repo:``), if any; return also the rest of the query."""
        if options.pasted or "repo:" not in query:
            return self, query
        parsed = parse.parse_query(query)
        if not parsed.repositories:
            return self, query
        chosen = {name: e for name, e in self.engines.items() if matches_any(name, parsed.repositories)}
        if not chosen:
            known = ", ".join(self.engines)
            raise UsageError(f"no repository is called {', '.join(parsed.repositories)}: known are {known}")
        return Repositories(chosen, (), self.notes), format_query(parsed._replace(repositories=()))

    def _search_all(self, search: Callable[[Engine], SearchResponse], limit: int) -> SearchResponse:
        """Search in parallel and merge the responses; raise an error only if all searches fail."""
        responses: dict[str, SearchResponse] = {}
        failures: list[tuple[RepositoryReport, DowseError]] = []
        with ThreadPoolExecutor(min(MAX_PARALLEL_SEARCHES, len(self.engines))) as pool:
            tasks = {name: pool.submit(partial(search, engine)) for name, engine in self.engines.items()}
            for name, task in tasks.items():
                try:
                    responses[name] = task.result()
                except DowseError as error:
                    root = str(self.engines[name].root)
                    failures.append((RepositoryReport(name, root, problem=str(error)), error))
        if not responses:
            raise failures[0][1]
        response = merge_responses(responses, (*self.problems, *(report for report, _ in failures)), limit)
        return replace(response, notes=(*self.notes, *response.notes))


def merge_responses(
    responses: Mapping[str, SearchResponse], problems: Sequence[RepositoryReport], limit: int
) -> SearchResponse:
    """Merge responses into one, by relevance: scores only compare the hits of one repository."""
    if any(response.results and not response.relaxed for response in responses.values()):
        responses = {name: _drop_guesses(response) for name, response in responses.items()}
    results = [
        (rank, result._replace(repository=name))
        for name, response in responses.items()
        for rank, result in enumerate(response.results)
    ]
    results.sort(key=lambda ranked: (-ranked[1].relevance, ranked[0], ranked[1].repository))
    ranked = [result for _, result in results[:limit]]
    reports = [
        RepositoryReport(
            name, response.root, response.generation, sum(hit.repository == name for hit in ranked)
        )
        for name, response in responses.items()
    ]
    first = next(iter(responses.values()))
    notes = [f"{name}: {note}" for name, response in responses.items() for note in response.notes]
    notes += [f"{report.name} could not be searched: {report.problem}" for report in problems]
    return replace(
        first,
        channels=_merge_channels([response.channels for response in responses.values()]),
        results=tuple(ranked),
        milliseconds=max(response.milliseconds for response in responses.values()),
        notes=tuple(notes),
        low_confidence=all(response.low_confidence for response in responses.values()),
        has_more=len(results) > limit or any(response.has_more for response in responses.values()),
        repositories=(*reports, *problems),
        relaxed=any(response.relaxed for response in responses.values()),
    )


def _drop_guesses(response: SearchResponse) -> SearchResponse:
    """Drop what does not meet the query, where another repository has what does."""
    return replace(response, results=(), notes=(), relaxed=False) if response.relaxed else response


def _merge_channels(channels: Sequence[Sequence[ChannelReport]]) -> tuple[ChannelReport, ...]:
    """Merge the reports of each channel in all repositories."""
    merged: dict[str, ChannelReport] = {}
    for report in (report for reports in channels for report in reports):
        known = merged.get(report.name)
        if known is None or not known.ran:
            merged[report.name] = report if known is None or report.ran else known
        elif report.ran:
            merged[report.name] = replace(
                known,
                hits=known.hits + report.hits,
                milliseconds=max(known.milliseconds, report.milliseconds),
                best=max(known.best, report.best),
            )
    return tuple(merged.values())
