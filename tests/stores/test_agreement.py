"""Two stores, the same edits, the same queries: every store is held against the one in memory."""

import math
import random
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest

from dowse import stores
from dowse.index_folder import IndexFolder
from dowse.stores.protocol import Snapshot, Store
from dowse.types.queries import Term
from dowse.types.source import ChunkTerms, Kind, Role
from dowse.types.stored import Filter, NameTier

from .building import ANY, BODY, EMBEDDER, EQUAL_FIELDS, TREE, build, path_of, place, sources, terms_of
from .conftest import KINDS, Create

WORDS = "user token session größe cache HTTPServer parse_request имя 日本語 retry2 load".split()
FOLDERS = ["", "src/", "src/core/", "tests/", "app dir/", "src/tests/unit/"]
STEMS = ["server", "token", "größe", "main", "a+b", "index.test"]
EXTENSIONS = [".py", ".js", ".go", ".md", ".txt"]
PATTERNS = ["src/**", "*.py", "tests", "core/*", "**/unit/**", "app dir", "*+*", "server*", "src/*/?ain.*"]
NAME_PATTERNS = ["user*", "*2", "*size*", "größe_?", "HTTP*", "*_*", "[a-z]*"]
SETTLED = 0.25
"""Scores that differ by more than this share must be in the same order: the engine counts one document more
than there are chunks, and rounds the length of a field beyond 40 tokens."""


def text(random: random.Random, extension: str) -> str:
    """A small source with a few definitions."""
    parts = []
    for _ in range(random.randint(1, 4)):
        name, words = (
            f"{random.choice(WORDS)}_{random.choice('abc')}",
            random.choices(WORDS, k=random.randint(1, 12)),
        )
        body = " ".join(words)
        parts.append(
            {
                ".py": f"class {name.title()}:\n    def {name}(self):\n"
                f"        '''{body}'''\n        return {words[0]}\n",
                ".js": f"function {name}() {{ return '{body}'; }}\n",
                ".go": f"package x\n\nfunc {name}() {{ {words[0]}() }}\n",
                ".md": f"# {name}\n\n{body}\n",
                ".txt": f"{body}\n",
            }[extension]
        )
    return "\n".join(parts)


def random_path(random: random.Random) -> str:
    return random.choice(FOLDERS) + random.choice(STEMS) + random.choice(EXTENSIONS)


def random_filter(random: random.Random) -> Filter:
    def some(values: list[str], chance: float) -> tuple[str, ...]:
        return tuple(random.sample(values, random.randint(1, 2))) if random.random() < chance else ()

    return Filter(
        languages=frozenset(some(["python", "go", "markdown", "javascript", "text"], 0.2)),
        paths=some(PATTERNS, 0.3),
        not_paths=some(PATTERNS, 0.2),
        kinds=frozenset(map(Kind, some(["function", "class", "method", "section"], 0.2))),
        names=some(NAME_PATTERNS, 0.2),
        not_languages=frozenset(some(["python", "text"], 0.1)),
        not_kinds=frozenset(map(Kind, some(["function", "section"], 0.1))),
        roles=frozenset(map(Role, some(["test", "source", "docs"], 0.1))),
        not_roles=frozenset(map(Role, some(["test", "docs"], 0.2))),
        changed_since_ns=random.choice([None, None, None, 1_000_000_100]),
    )


def edit(random: random.Random, tree: dict[str, str]) -> tuple[list[str], dict[str, str]]:
    """Paths to remove and files to write, and the tree as it is then; some files move, some come back."""
    removed = random.sample(sorted(tree), min(len(tree), random.randint(0, 3)))
    written: dict[str, str] = {}
    for _ in range(random.randint(0, 6)):
        path = random_path(random)
        known = random.choice(list(tree.values())) if tree and random.random() < 0.3 else ""
        written[path] = known or text(random, path[path.rindex(".") :])
    for path in removed:
        del tree[path]
    tree.update(written)
    return removed, written


Place = tuple[str, int]


def lexical_scores(
    snapshot: Snapshot, terms: list[Term], fields: dict[str, float], filter: Filter, limit: int
) -> dict[Place, float]:
    hits = snapshot.lexical(terms, fields, filter, limit)
    scores = {place(snapshot, hit.chunk): hit.score for hit in hits}
    assert len(scores) == len(hits), "no chunk twice"
    return scores


def dense_scores(snapshot: Snapshot, question: str, filter: Filter, limit: int) -> dict[Place, float]:
    hits = snapshot.dense(EMBEDDER.embed_query(question), filter, limit)
    return {place(snapshot, hit.chunk): hit.score for hit in hits}


def found_names(
    snapshot: Snapshot, pattern: str, tier: NameTier, filter: Filter, limit: int
) -> list[tuple[str, int, int, Kind]]:
    return [
        (path_of(snapshot, hit.file), hit.entity, hit.chunk, hit.kind)
        for hit in snapshot.names(pattern, tier, filter, limit)
    ]


def agree(random: random.Random, one: Snapshot, two: Snapshot) -> None:
    """The two snapshots give the same answers to random queries."""
    filter = random_filter(random)
    words = random.sample(WORDS, random.randint(1, 3))
    terms = terms_of(" ".join(words))
    expected = lexical_scores(one, terms, EQUAL_FIELDS, filter, 10_000)
    assert lexical_scores(two, terms, EQUAL_FIELDS, filter, 10_000).keys() == expected.keys(), filter
    few = lexical_scores(two, terms, EQUAL_FIELDS, filter, 3)
    assert len(few) == min(3, len(expected))
    assert few.keys() <= expected.keys()

    near = dense_scores(one, " ".join(words), filter, 10_000)
    also = dense_scores(two, " ".join(words), filter, 10_000)
    assert also.keys() == near.keys(), filter
    assert all(also[place] == pytest.approx(near[place], abs=0.02) for place in near)
    best = dense_scores(two, " ".join(words), filter, 3)
    assert len(best) == min(3, len(near))
    if best:
        assert min(best.values()) >= sorted(near.values(), reverse=True)[len(best) - 1] - 0.02

    name = f"{words[0]}_{random.choice('abc')}"
    for tier, pattern in (
        (NameTier.EXACT, name),
        (NameTier.CASE, name.upper()),
        (NameTier.PREFIX, words[0][:3]),
        (NameTier.GLOB, random.choice(NAME_PATTERNS)),
        (NameTier.FUZZY, name[1:]),
        (NameTier.FUZZY, name[:2] + name[3:2:-1] + name[4:]),
    ):
        for limit in (2, 10_000):
            hits = found_names(two, pattern, tier, filter, limit)
            assert hits == found_names(one, pattern, tier, filter, limit), (pattern, tier, filter)

    for wanted in (random.choice(STEMS), random_path(random).upper(), "core/" + random.choice(STEMS)):
        for limit in (1, 10_000):
            ours = [path_of(one, id) for id in one.find_files_named(wanted, filter, limit)]
            theirs = [path_of(two, id) for id in two.find_files_named(wanted, filter, limit)]
            assert ours == theirs, wanted


@pytest.fixture
def embedded_store(tmp_path: Path) -> Iterator[Store]:
    opened = stores.create("embedded", IndexFolder.from_data_folder(tmp_path / "index"), "/tree", "one")
    yield opened
    opened.close()


@pytest.fixture(params=[kind for kind in KINDS if kind != "memory"])
def other_store(request: pytest.FixtureRequest, create: Create, tmp_path: Path) -> Iterator[Store]:
    opened = create(request.param, tmp_path / "index")
    yield opened
    opened.close()


@pytest.fixture
def postgres_store(create: Create, tmp_path: Path) -> Iterator[Store]:
    opened = create("postgresql", tmp_path)
    yield opened
    opened.close()


@pytest.mark.parametrize("seed", range(4))
def test_the_same_edits_give_the_same_answers(
    request: pytest.FixtureRequest, other_store: Store, tmp_path: Path, seed: int
) -> None:
    if "opensearch" in request.node.name and seed:
        pytest.skip("every commit to a cluster takes long: the edits of one seed are enough")
    chance = random.Random(seed)
    memory = stores.create("memory", None, "/tree", "one")
    tree: dict[str, str] = {}
    for _ in range(8):
        removed, written = edit(chance, tree)
        files = sources(written)
        for store in (memory, other_store):
            with store.writer() as writer:
                writer.apply(removed, files)
        with memory.snapshot() as one, other_store.snapshot() as two:
            assert one.generation == two.generation
            assert set(one.manifest()) == set(two.manifest()) == set(tree)
            for _ in range(6):
                agree(chance, one, two)
    assert list(memory.dump()) == list(other_store.dump())


@pytest.mark.parametrize("seed", range(2))
def test_a_fresh_index_ranks_alike(other_store: Store, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    memory = stores.create("memory", None, "/tree", "one")
    tree: dict[str, str] = {}
    for _ in range(25):
        edit(chance, tree)
    for store in (memory, other_store):
        build(store, tree)
    with memory.snapshot() as one, other_store.snapshot() as two:
        for _ in range(20):
            terms = [
                Term(t.text, chance.choice([0.5, 1.0])) for t in terms_of(" ".join(chance.sample(WORDS, 3)))
            ]
            fields = {field: chance.choice([0.0, 0.5, 1.0, 2.0]) for field in ChunkTerms._fields}
            expected = lexical_scores(one, terms, fields, ANY, 10_000)
            ranked = list(lexical_scores(two, terms, fields, ANY, 10_000))
            assert set(ranked) == set(expected)
            for better, worse in pairwise(ranked):
                assert expected[better] > expected[worse] * (1 - SETTLED)


# --- the formula -----------------------------------------------------------------------------------

TEXTS = {
    "a.txt": "red red green",
    "b.txt": "red blue blue blue blue",
    "c.txt": "green",
    "d.txt": "yellow red " * 15,
}


def bm25(word: str, path: str, documents: int, average: float) -> float:
    """BM25 spelled out, with k1 = 1.2 and b = 0.75."""
    words = {path: text.split() for path, text in TEXTS.items()}
    holders = sum(word in of_file for of_file in words.values())
    idf = math.log(1 + (documents - holders + 0.5) / (holders + 0.5))
    frequency, length = words[path].count(word), len(words[path])
    return idf * frequency * 2.2 / (frequency + 1.2 * (0.25 + 0.75 * length / average))


@pytest.mark.parametrize("kind", ["memory", "postgresql"])
@pytest.mark.parametrize("question", ["red", "green", "blue", "yellow", "red green", "blue yellow"])
def test_bm25_is_bm25(create: Create, tmp_path: Path, kind: str, question: str) -> None:
    with closing(create(kind, tmp_path)) as store:
        build(store, TEXTS)
        average = sum(len(text.split()) for text in TEXTS.values()) / 4
        _compare_with_formula(store, question, average)


def _compare_with_formula(store: Store, question: str, average: float) -> None:
    with store.snapshot() as snapshot:
        for (path, _), score in lexical_scores(snapshot, terms_of(question), BODY, ANY, 10).items():
            expected = sum(bm25(w, path, 4, average) for w in question.split() if w in TEXTS[path].split())
            assert score == pytest.approx(expected)


@pytest.mark.parametrize("question", ["red", "green", "blue", "yellow", "red green", "blue yellow"])
def test_bm25_in_the_engine_is_bm25(embedded_store: Store, question: str) -> None:
    """Its one document more, which carries the generation, has no words and counts for the average too."""
    build(embedded_store, TEXTS)
    average = sum(len(text.split()) for text in TEXTS.values()) / 5
    with embedded_store.snapshot() as snapshot:
        scores = lexical_scores(snapshot, terms_of(question), BODY, ANY, 10)
        assert len(scores) == sum(any(w in t.split() for w in question.split()) for t in TEXTS.values())
        for (path, _), score in scores.items():
            expected = sum(bm25(w, path, 5, average) for w in question.split() if w in TEXTS[path].split())
            assert score == pytest.approx(expected, rel=1e-4)


def test_fields_and_weights_multiply(store: Store) -> None:
    build(store, TREE)
    with store.snapshot() as snapshot:
        for field in ChunkTerms._fields:
            plain = lexical_scores(snapshot, [Term("token", 1.0)], {field: 1.0}, ANY, 100)
            heavy = lexical_scores(snapshot, [Term("token", 0.5)], {field: 3.0}, ANY, 100)
            assert heavy == pytest.approx({place: score * 1.5 for place, score in plain.items()})


def test_lengths_of_fields_are_rounded_alike(embedded_store: Store, postgres_store: Store) -> None:
    """With one field of many lengths, the scores of the two differ by the one document more alone."""
    tree = {f"{n}.txt": " ".join(["needle", *["hay"] * (n * n)]) for n in range(40)}
    scores = []
    for store in (embedded_store, postgres_store):
        build(store, tree)
        with store.snapshot() as snapshot:
            scores.append(lexical_scores(snapshot, terms_of("needle"), BODY, ANY, 1000))
    ratios = [scores[0][place] / scores[1][place] for place in scores[0]]
    assert scores[0].keys() == scores[1].keys()
    assert max(ratios) / min(ratios) < 1.05


def test_lengths_of_fields_are_exact_up_to_forty_tokens(embedded_store: Store) -> None:
    """Two documents that differ by one token in length have different scores below 40, and may not above."""
    lengths = [*range(2, 41)]
    build(embedded_store, {f"{n}.txt": " ".join(["needle", *["hay"] * (n - 1)]) for n in lengths})
    average = sum(lengths) / (len(lengths) + 1)
    with embedded_store.snapshot() as snapshot:
        scores = lexical_scores(snapshot, terms_of("needle"), BODY, ANY, 100)
        idf = math.log(1 + 1.5 / (len(lengths) + 0.5))
        for n in lengths:
            expected = idf * 2.2 / (1 + 1.2 * (0.25 + 0.75 * n / average))
            assert scores[f"{n}.txt", 0] == pytest.approx(expected, rel=1e-4)
