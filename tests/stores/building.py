"""Makes files for stores out of small sources, by the same steps as indexing does."""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path

from dowse import stores
from dowse.code import chunk_fields, languages, tokens
from dowse.embedders.hashing import HashingEmbedder
from dowse.index_folder import IndexFolder
from dowse.indexing.analyze_file import ParserConfig, analyze
from dowse.stores.protocol import Snapshot, Store
from dowse.types.discovered import (
    ChunkVector,
    FileStamp,
    IndexReport,
    Skipped,
    SkipReason,
    SourceFile,
    WatchedPath,
    WatchedTime,
    WatchKind,
)
from dowse.types.queries import Term
from dowse.types.source import Role
from dowse.types.stored import Filter, NameHit, NameTier, Scored, split_chunk_id

HOW = ParserConfig(languages.load_builtin(), 1000, 0)
EMBEDDER = HashingEmbedder()
ANY = Filter()
EQUAL_FIELDS = {"name": 1.0, "path": 1.0, "signature": 1.0, "doc": 1.0, "body": 1.0}
BODY = {"body": 1.0}

REPORT = IndexReport(
    seen=5,
    indexed=3,
    added=2,
    changed=1,
    removed=1,
    unchanged=0,
    skipped={"binary": 1, "failed to index": 1},
    failures=(Skipped("bad.py", SkipReason.FAILED, "ValueError: no"),),
    seconds=0.5,
)

TREE = {
    "src/auth/token.py": '''"""Tokens of users."""

class TokenStore:
    """Keeps refresh tokens."""

    def refresh(self, user):
        """Give the user a new token."""
        return self.issue(user)

    def issue(self, user):
        return sign(user)
''',
    "src/auth/login.py": '''from auth.token import TokenStore

def login(name, password):
    """Check a password and start a session."""
    store = TokenStore()
    return store.refresh(name)

def logout(name):
    end_session(name)
''',
    "src/web/server.js": """import { login } from './auth';

class HttpServer {
  listen(port) { return open(port); }
}

function parseRequest(raw) { return raw.split('\\n'); }
""",
    "tests/test_login.py": '''from auth.login import login

def test_login():
    assert login("ada", "secret")

def test_refresh():
    """A token can be refreshed."""
    assert refresh("ada")
''',
    "docs/guide.md": """# Guide

How to log in and refresh a token.

## Größe ändern (v2.0)

Sessions end after an hour.
""",
    "README.md": "# Project\n\nServes requests over HTTP.\n",
    "main.py": "def main():\n    serve()\n",
}


def watch_folders(times: dict[str, int]) -> dict[WatchedPath, WatchedTime]:
    """Folders with their times, as a writer takes them."""
    return {WatchedPath(WatchKind.FOLDER, path): WatchedTime(time) for path, time in times.items()}


def source(path: str, text: str, stamp: FileStamp | None = None, how: ParserConfig = HOW) -> SourceFile:
    """A file ready to be stored."""
    content = text.encode()
    understood = analyze(how, path, content)
    language = understood.parsed.language
    texts = chunk_fields.build_embedding_texts(path, content, understood.parsed, understood.definitions)
    vectors = EMBEDDER.embed_documents(texts)
    return SourceFile(
        path,
        stamp or FileStamp(len(content), 1_000_000_000 + len(content)),
        blake2b(f"{how.chunk_size} {language} ".encode() + content, digest_size=16).digest(),
        Role.TEST if path.startswith("tests/") else Role.SOURCE,
        content,
        understood.parsed,
        understood.definitions,
        understood.terms,
        references=understood.references,
        vectors=tuple(
            ChunkVector(blake2b(text.encode(), digest_size=16).digest(), row.astype("<f4").tobytes())
            for text, row in zip(texts, vectors, strict=True)
        ),
    )


def sources(tree: Mapping[str, str]) -> list[SourceFile]:
    """The files of a tree."""
    return [source(path, text) for path, text in tree.items()]


def write(store: Store, tree: Mapping[str, str], removed: Sequence[str] = ()) -> int:
    """One commit; the generation it makes."""
    with store.writer() as writer:
        return writer.apply(removed, sources(tree))


def build(store: Store, tree: Mapping[str, str]) -> None:
    """A complete run."""
    with store.writer() as writer:
        writer.apply([], sources(tree))
        writer.finish(REPORT, watch_folders({"": 1, "src": 2}))


def embedded(folder: Path, root: str = "/tree", fingerprint: str = "one") -> Store:
    """An embedded store."""
    return stores.create("embedded", IndexFolder.from_data_folder(folder), root, fingerprint)


def terms_of(text: str) -> list[Term]:
    """Terms of equal weight."""
    return [Term(token, 1.0) for token in tokens.tokenize(text).split()]


def lexical(
    snapshot: Snapshot, text: str, filter: Filter = ANY, limit: int = 100, fields: Mapping[str, float] = BODY
) -> list[str]:
    """Paths of the chunks that a search for some tokens finds, best first."""
    return paths(snapshot, snapshot.lexical(terms_of(text), fields, filter, limit))


def dense(snapshot: Snapshot, text: str, filter: Filter = ANY, limit: int = 100) -> list[str]:
    """Paths of the chunks that are nearest to a text, best first."""
    return paths(snapshot, snapshot.dense(EMBEDDER.embed_query(text), filter, limit))


def names(
    snapshot: Snapshot, pattern: str, tier: NameTier, filter: Filter = ANY, limit: int = 100
) -> list[str]:
    """Qualified names of the entities that a pattern finds."""
    return [qualified(snapshot, hit) for hit in snapshot.names(pattern, tier, filter, limit)]


def named_files(snapshot: Snapshot, name: str, filter: Filter = ANY, limit: int = 100) -> list[str]:
    """Paths of the files of a name."""
    return [path_of(snapshot, id) for id in snapshot.find_files_named(name, filter, limit)]


def paths(snapshot: Snapshot, hits: Iterable[Scored]) -> list[str]:
    """The path of each hit's file."""
    return [place(snapshot, hit.chunk)[0] for hit in hits]


def place(snapshot: Snapshot, chunk: int) -> tuple[str, int]:
    """A chunk by path and ordinal, which two stores agree upon."""
    file, ordinal = split_chunk_id(chunk)
    return path_of(snapshot, file), ordinal


def path_of(snapshot: Snapshot, id: int) -> str:
    """The path of a file that the snapshot has."""
    file = snapshot.file(id)
    assert file is not None, f"a hit in file {id}, which this generation does not have"
    return file.path


def qualified(snapshot: Snapshot, hit: NameHit) -> str:
    """The qualified name of a hit."""
    file = snapshot.file(hit.file)
    assert file is not None
    return file.parsed.entities[hit.entity].qualified
