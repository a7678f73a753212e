"""Several repositories asked as one: one question, one ranking, and who could not answer.

Each repository has its own engine and index. A channel whose scores have no bound gives its best hit in each
repository the full score; so that a repository that knows little of the matter does not come first with the best
it has, hits are weighed by what that best was worth beside the other repositories'.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from dowse.engine import Engine
from dowse.errors import DowseError, RootError
from dowse.search.ranking.fusion import BOUNDED
from dowse.types import ChannelReport, RepositoryReport, SearchOptions, SearchResponse, SearchResult

if TYPE_CHECKING:
    from dowse.indexing.pipeline import Progress

AT_ONCE = 4
"""Repositories asked at the same time."""


def folder_of(wanted: str, known: Mapping[str, str], root: Path) -> Path:
    """The folder of a repository that the settings name, or that is given as a path."""
    if wanted in known:
        return (root / Path(known[wanted]).expanduser()).resolve()
    path = Path(wanted).expanduser()
    if path.is_dir():
        return path.resolve()
    names = ", ".join(sorted(known)) or "none: [repositories] in dowse.toml names them"
    raise RootError(f"there is no repository '{wanted}': it is no folder, and the known names are {names}")


def names_for(folders: Iterable[Path], known: Mapping[str, Path]) -> dict[str, Path]:
    """A name for each folder: the one it is known by, or its own, made unique by what is above it."""
    names = {folder: name for name, folder in known.items()}
    named: dict[str, Path] = {}
    for folder in dict.fromkeys(folders):
        parts = folder.parts
        choices = [names[folder]] if folder in names else []
        choices += ["/".join(parts[-length:]) for length in range(1, len(parts) + 1)]
        named[next(name for name in choices if name not in named)] = folder
    return named


class Repositories:
    """Engines by the names of their repositories. Close it, or use it in a ``with`` block."""

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
        """Those of these names and folders that can be opened; names are those that the base's settings know."""
        home = Engine.open(base, any_root=True)
        known = home.settings.repositories
        problems: list[RepositoryReport] = []
        folders: list[Path] = []
        for name in wanted:
            try:
                folders.append(folder_of(name, known, home.root))
            except DowseError as error:
                problems.append(RepositoryReport(name, "", problem=str(error)))
        places = {name: (home.root / Path(path).expanduser()).resolve() for name, path in known.items()}
        engines: dict[str, Engine] = {}
        for name, folder in names_for(folders, places).items():
            try:
                engines[name] = Engine.open(folder, **given)
            except DowseError as error:
                problems.append(RepositoryReport(name, str(folder), problem=str(error)))
        if not engines:
            raise RootError("; ".join([*(report.problem for report in problems), *home.notes]))
        is_asked = home.root in (
            engine.root for engine in engines.values()
        )  # then its notes are in its answer
        return cls(engines, problems, () if is_asked else home.notes)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of every index."""
        for engine in self.engines.values():
            engine.close()

    def search(
        self, query: str, options: SearchOptions | None = None, *, progress: Progress | None = None
    ) -> SearchResponse:
        """The places that answer a question, best first, whatever their repository."""
        limit = (options or SearchOptions()).limit
        return self._asked(lambda engine: engine.search(query, options, progress=progress), limit)

    def _asked(self, ask: Callable[[Engine], SearchResponse], limit: int) -> SearchResponse:
        """One answer of all; an error only if none can answer."""
        answers: dict[str, SearchResponse] = {}
        failures: list[tuple[RepositoryReport, DowseError]] = []
        with ThreadPoolExecutor(min(AT_ONCE, len(self.engines))) as pool:
            tasks = {name: pool.submit(partial(ask, engine)) for name, engine in self.engines.items()}
            for name, task in tasks.items():
                try:
                    answers[name] = task.result()
                except DowseError as error:
                    root = str(self.engines[name].root)
                    failures.append((RepositoryReport(name, root, problem=str(error)), error))
        if not answers:
            raise failures[0][1]
        response = merged(answers, (*self.problems, *(report for report, _ in failures)), limit)
        return replace(response, notes=(*self.notes, *response.notes))


def merged(
    answers: Mapping[str, SearchResponse], problems: Sequence[RepositoryReport], limit: int
) -> SearchResponse:
    """One answer of several, in one ranking."""
    best = _best(response.channels for response in answers.values())
    results = [
        _weighed(result, name, response.channels, best)
        for name, response in answers.items()
        for result in response.results
    ]
    ranked = sorted(results, key=lambda hit: (-hit.score, hit.repository, hit.path, hit.start_line))[:limit]
    reports = [
        RepositoryReport(
            name, response.root, response.generation, sum(hit.repository == name for hit in ranked)
        )
        for name, response in answers.items()
    ]
    first = next(iter(answers.values()))
    notes = [f"{name}: {note}" for name, response in answers.items() for note in response.notes]
    notes += [f"{report.name} could not be searched: {report.problem}" for report in problems]
    return replace(
        first,
        channels=_together([response.channels for response in answers.values()]),
        results=tuple(ranked),
        milliseconds=max(response.milliseconds for response in answers.values()),
        notes=tuple(notes),
        weak=all(response.weak for response in answers.values()),
        repositories=(*reports, *problems),
    )


def _best(channels: Iterable[Sequence[ChannelReport]]) -> dict[str, float]:
    """The best score of each channel in any repository."""
    best: dict[str, float] = {}
    for reports in channels:
        for report in reports:
            best[report.name] = max(best.get(report.name, 0.0), report.best)
    return best


def _weighed(
    result: SearchResult, name: str, channels: Sequence[ChannelReport], best: Mapping[str, float]
) -> SearchResult:
    """A hit with what its channels gave it, as a share of what they gave in the best repository."""
    shares = {
        report.name: report.best / best[report.name]
        for report in channels
        if report.name not in BOUNDED and best[report.name] > 0
    }
    reasons = tuple(r._replace(value=r.value * shares.get(r.name, 1.0)) for r in result.reasons)
    known = {report.name for report in channels}
    before = sum(reason.value for reason in result.reasons if reason.name in known)
    after = sum(reason.value for reason in reasons if reason.name in known)
    share = after / before if before else 1.0
    return result._replace(
        repository=name,
        reasons=reasons,
        score=result.score * share,
    )


def _together(channels: Sequence[Sequence[ChannelReport]]) -> tuple[ChannelReport, ...]:
    """What each channel did in all repositories."""
    together: dict[str, ChannelReport] = {}
    for report in (report for reports in channels for report in reports):
        known = together.get(report.name)
        if known is None or not known.ran:
            together[report.name] = report if known is None or report.ran else known
        elif report.ran:
            together[report.name] = replace(
                known,
                hits=known.hits + report.hits,
                milliseconds=max(known.milliseconds, report.milliseconds),
                best=max(known.best, report.best),
            )
    return tuple(together.values())
