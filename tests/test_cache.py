"""Answers that were given before: when they are given again, and when never."""

from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from dowse import Engine, SearchOptions, SearchResponse
from dowse.embedders import RETRY_SECONDS, CachingEmbedder
from dowse.errors import EmbedderError
from dowse.search import answer_cache
from dowse.search.answer_cache import AnswerCache, CacheRequest
from dowse.search.timing import StageTimer
from dowse.settings import Settings
from dowse.stores.channels_protocol import VisibleGeneration
from dowse.stores.composed import ComposedSnapshot
from dowse.stores.memory import MemoryCatalogueSnapshot
from dowse.stores.memory_channels import MemoryChannelsSnapshot
from dowse.stores.protocol import Snapshot
from dowse.types.answers import ResolvedOptions
from dowse.types.queries import Query
from dowse.types.stored import NO_FILTER, Filter

FILES = {
    "auth.py": "def refresh_token(user):\n    return renew(user)\n",
    "users.py": "def getUser(id):\n    return table[id]\n\n\ndef setUser(id, user):\n    table[id] = user\n",
    "retry.py": "def retry(call):\n    return call()\n",
}


def make_empty(generation: int) -> ComposedSnapshot:
    """A generation of an index without files."""
    visible = VisibleGeneration("this", "", generation)
    files = MemoryCatalogueSnapshot(visible, {}, {}, is_current=True)
    return ComposedSnapshot(files, MemoryChannelsSnapshot([], files.find_changed))


EMPTY = make_empty(1)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for path, text in FILES.items():
        (tmp_path / path).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def engine(root: Path) -> Iterator[Engine]:
    with Engine.open(root, embedder="hashing") as engine:
        yield engine


def search(engine: Engine, question: str, **options: Any) -> SearchResponse:
    engine.force_check()
    return engine.search(question, SearchOptions(**options))


def plain(response: SearchResponse) -> SearchResponse:
    """An answer without what tells when and how it was found."""
    channels = tuple(replace(channel, milliseconds=0.0) for channel in response.channels)
    return replace(response, channels=channels, milliseconds=0.0, stages=(), cached="", notes=())


# --- the same query ---------------------------------------------------------------------------


def test_the_same_question_gets_the_same_answer(engine: Engine) -> None:
    first, second = search(engine, "refresh token"), search(engine, "refresh token")
    assert (first.cached, second.cached) == ("", "exact")
    assert plain(first) == plain(second)
    assert [stage.name for stage in second.stages] == ["refresh", "analyze", "cache"]


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("token refresh", {}),
        ("refresh token ", {"limit": 3}),
        ("refresh token", {"before": 1}),
        ("refresh token", {"text": False}),
        ("refresh token", {"filter": Filter(languages=frozenset({"python"}))}),
        ("refresh token lang:py", {}),
        ('"refresh_token"', {}),
    ],
)
def test_another_question_does_not(root: Path, text: str, options: dict[str, Any]) -> None:
    with Engine.open(root, embedder="hashing", cache="exact") as engine:
        search(engine, "refresh token")
        assert search(engine, text, **options).cached == ""


DERIVED_PARTS = frozenset({"unknown", "spellings", "views", "words", "dropped", "type", "depends_on_time"})
"""Parts of a query that follow from the others."""


def test_every_parameter_counts() -> None:
    """A parameter that somebody adds must be part of the key: an option, a part of the query, a setting."""
    assert set(asking().options.__dataclass_fields__) == {field.name for field in fields(SearchOptions)}
    request, filter = asking(), Filter(names=("x",))
    for option in fields(request.options):
        value: Any = filter if option.name == "filter" else ("something else",)
        assert replace(request, options=replace(request.options, **{option.name: value})).key != request.key
    for part in fields(request.query):
        value = filter if part.name == "filter" else ("something else",)
        same = replace(request, query=replace(request.query, **{part.name: value})).key == request.key
        assert same == (part.name in DERIVED_PARTS), part.name
    for setting in fields(Settings):
        other: Any = {**vars_of(Settings()), setting.name: "something else"}
        assert asking(settings=Settings(**other)).key != asking().key, setting.name
    assert asking().key == asking().key


def test_every_generation_of_every_index_counts(root: Path) -> None:
    keys = []
    for name in ("one", "other"):
        with Engine.open(root, index_dir=str(root / name)) as engine:
            for text in ("def a(): pass\n", "def b(): pass\n"):
                (root / "new.py").write_text(text, encoding="utf-8")
                engine.index()
                with engine.store.snapshot() as snapshot:
                    keys.append(replace(asking(), snapshot=snapshot).key)
    assert len(set(keys)) == 4


def test_the_order_of_a_set_does_not_count() -> None:
    names = ["python", "go", "rust", "java", "c", "ruby"]
    one = Filter(languages=frozenset(names))
    other = Filter(languages=frozenset(reversed(names)))
    assert asking(filter=one).key == asking(filter=other).key


def test_it_can_be_switched_off(root: Path) -> None:
    with Engine.open(root, cache="off") as engine:
        search(engine, "refresh token")
        assert search(engine, "refresh token").cached == ""


# --- a query that means the same --------------------------------------------------------------


def test_a_question_that_means_the_same(engine: Engine) -> None:
    first = search(engine, "how do we refresh the token")
    second = search(engine, "how do we refresh the token?")
    assert second.cached == "semantic"
    assert plain(second).results == plain(first).results
    assert second.query.text == "how do we refresh the token?"
    assert any("how do we refresh the token'" in note for note in second.notes)


def test_only_where_an_embedder_runs_and_it_is_wanted(root: Path) -> None:
    for embedder, cached in (("none", "all"), ("hashing", "exact")):
        with Engine.open(root, index_dir=str(root / embedder), embedder=embedder, cache=cached) as engine:
            search(engine, "how do we refresh the token")
            assert search(engine, "how do we refresh the token?").cached == ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("where is getUser", "where is setUser"),
        ("http 404 error", "http 500 error"),
        ("users.py table", "auth.py table"),
        ("table lang:py", "table is:source"),
        ('table "getUser"', 'table "setUser"'),
        ("one two three four five six seven eight nine", "one two three four five six seven eight ten"),
    ],
)
def test_names_numbers_files_and_filters_must_be_the_same(root: Path, one: str, other: str) -> None:
    with Engine.open(root, embedder="hashing") as engine:
        engine._cache = AnswerCache()
        engine.__dict__["_query_embedder"] = Alike(engine)
        search(engine, one)
        assert search(engine, "where is it") is not None
        assert search(engine, other).cached == ""


class Alike:
    """To this embedder, all queries mean the same."""

    def __init__(self, engine: Engine) -> None:
        assert engine.embedder is not None
        self._embedder = engine.embedder
        self.name = engine.embedder.name

    def embed_documents(self, texts: Any) -> Any:
        return self._embedder.embed_documents(texts)

    def embed_query(self, text: str) -> Any:
        return self._embedder.embed_query("anything")


def test_the_nearest_one_answers(engine: Engine) -> None:
    engine.__dict__["_query_embedder"] = Alike(engine)
    assert search(engine, "refresh").cached == ""
    assert search(engine, "something else").cached == "semantic"


# --- when they go --------------------------------------------------------------------------------


def test_a_changed_file_is_seen(engine: Engine, root: Path) -> None:
    search(engine, "refresh token")
    (root / "auth.py").write_text("# moved\n\n\ndef refresh_token(user, now):\n    pass\n", encoding="utf-8")
    answer = search(engine, "refresh token")
    assert answer.cached == ""
    assert "refresh_token(user, now)" in answer.results[0].text


def test_a_cached_answer_is_checked_before_it_leaves(root: Path) -> None:
    with Engine.open(root, refresh=False) as engine:
        engine.index()
        search(engine, "refresh token")
        (root / "auth.py").write_text("# gone\n", encoding="utf-8")
        answer = search(engine, "refresh token")
        assert answer.cached == "exact"
        assert [hit.path for hit in answer.results if not hit.fresh] == ["auth.py"]


def test_an_index_made_anew_is_another(root: Path) -> None:
    with Engine.open(root) as engine:
        before = search(engine, "refresh token")
        engine.clear()
        (root / "auth.py").write_text("def refresh_token(other):\n    pass\n", encoding="utf-8")
        after = search(engine, "refresh token")
        assert before.generation == after.generation
        assert after.cached == ""
        assert "other" in after.results[0].text


def test_time_goes_by_in_a_question(engine: Engine) -> None:
    search(engine, "token changed:2w")
    assert search(engine, "token changed:2w").cached == ""


def test_an_answer_without_a_channel_that_failed_is_not_kept(engine: Engine) -> None:
    engine.__dict__["_query_embedder"] = Broken(engine)
    answer = search(engine, "token")
    assert any(channel.why_not == "down" for channel in answer.channels)
    assert search(engine, "token").cached == ""


class Broken(Alike):
    """An embedder whose service is down."""

    def embed_query(self, text: str) -> Any:
        raise EmbedderError("down")


def test_old_answers_go() -> None:
    now = 0.0
    kept = AnswerCache(clock=lambda: now)
    assert ask(kept, "a").cached == ""
    now = answer_cache.LIFETIME_SECONDS - 1
    assert ask(kept, "a").cached == "exact"
    now = answer_cache.LIFETIME_SECONDS
    assert ask(kept, "a").cached == ""


def test_the_least_recently_used_goes_first() -> None:
    kept = AnswerCache(size=2)
    for text in ("a", "b", "a", "c"):
        ask(kept, text)
    assert [ask(kept, text).cached for text in ("a", "c")] == ["exact", "exact"]
    assert ask(kept, "b").cached == ""


def test_a_new_generation_drops_all() -> None:
    kept = AnswerCache()
    ask(kept, "a")
    assert ask(kept, "a", make_empty(2)).cached == ""
    assert len(kept) == 1


def test_what_is_kept_cannot_be_changed(engine: Engine) -> None:
    answer = search(engine, "refresh token")
    with pytest.raises(AttributeError):
        answer.results[0].text = ""  # type: ignore[misc]
    assert isinstance(answer.results, tuple)


def test_a_question_is_embedded_once(engine: Engine) -> None:
    asked: list[str] = []

    class Counting(Alike):
        def embed_query(self, text: str) -> Any:
            asked.append(text)
            return self._embedder.embed_query(text)

    engine.__dict__["_query_embedder"] = CachingEmbedder(Counting(engine))
    search(engine, "refresh token")
    assert asked == ["refresh token"]


def test_an_embedder_that_fails_is_waited_for_once(engine: Engine) -> None:
    asked: list[str] = []

    class Failing(Alike):
        def embed_query(self, text: str) -> Any:
            asked.append(text)
            raise EmbedderError("down")

    now = 0.0
    engine.__dict__["_query_embedder"] = CachingEmbedder(Failing(engine), clock=lambda: now)
    search(engine, "refresh the token")
    assert asked == ["refresh the token"]
    now = RETRY_SECONDS
    search(engine, "refresh the token")
    assert len(asked) == 2


# --- made by hand --------------------------------------------------------------------------------


def vars_of(settings: Settings) -> dict[str, Any]:
    return {field.name: getattr(settings, field.name) for field in fields(settings)}


def asking(
    text: str = "refresh token",
    settings: Settings | None = None,
    filter: Filter = NO_FILTER,
    snapshot: Snapshot | None = None,
) -> CacheRequest:
    query = Query(text, (), (), (), (), (), "words")
    options = ResolvedOptions(limit=10, min_relevance=0.0, show_low_confidence=False, filter=filter)
    return CacheRequest(snapshot or EMPTY, query, options, settings or Settings(), embedder=None)


def ask(kept: AnswerCache, text: str, snapshot: Snapshot | None = None) -> SearchResponse:
    question = asking(text, snapshot=snapshot)
    known = kept.get(question, StageTimer())
    if known is None:
        kept.put(question, SearchResponse(question.query, "", (), (), 1, 0.0))
    return known or SearchResponse(question.query, "", (), (), 1, 0.0)
