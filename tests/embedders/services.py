"""A real HTTP server that speaks the protocols of Ollama and OpenAI, and misbehaves when it is told to."""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from dowse.embedders.hashing import HashingEmbedder

Vectors = list[list[float]]


class Asked(NamedTuple):
    """A request as it came in."""

    path: str
    body: dict[str, Any]
    headers: Mapping[str, str]

    @property
    def texts(self) -> list[str]:
        return list(self.body["input"])


class Handler(BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"
    service: Service

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asked = Asked(self.path, body, {name.lower(): value for name, value in self.headers.items()})
        self.service.requests.append(asked)
        behave = self.service.script.popleft() if self.service.script else self.service.behaviour
        self.close_connection = True
        behave(self, asked)

    def log_message(self, format: str, *args: object) -> None:
        """Nobody reads it."""

    def answer(self, status: int, content: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)


Behaviour = Callable[[Handler, Asked], None]


class Service:
    """The server: what it was asked, and how it behaves, once for each entry of the script and then always."""

    def __init__(self) -> None:
        self.requests: list[Asked] = []
        self.script: deque[Behaviour] = deque()
        self.behaviour: Behaviour = well
        handler = type("ServiceHandler", (Handler,), {"service": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def server(self) -> ThreadingHTTPServer:
        return self._server

    @property
    def texts(self) -> list[str]:
        """Every text that came in, in order."""
        return [text for asked in self.requests for text in asked.texts]

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Nothing answers from now on."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()


@contextmanager
def running() -> Iterator[Service]:
    """A service for as long as it is needed."""
    service = Service()
    service.start()
    try:
        yield service
    finally:
        service.stop()


# --- behaviour ---


def vectors(asked: Asked) -> Vectors:
    """Vectors that say which words a text has, and never nothing."""
    wanted = int(asked.body.get("dimensions") or {"nomic-embed-text": 768}.get(asked.body["model"], 256))
    found = []
    for text in asked.texts:
        values = [*HashingEmbedder().embed_query(text), *([0.0] * wanted)][:wanted]
        values[-1] += 0.01
        found.append(values)
    return found


def told(asked: Asked, rows: object) -> bytes:
    """The answer to a request in its own protocol."""
    if asked.path == "/api/embed":
        return json.dumps({"model": asked.body["model"], "embeddings": rows}).encode()
    assert asked.path == "/v1/embeddings"
    assert isinstance(rows, list)
    data = [{"object": "embedding", "index": i, "embedding": row} for i, row in enumerate(rows)]
    data.reverse()  # allowed: the index tells the order
    return json.dumps({"object": "list", "data": data, "model": asked.body["model"]}).encode()


def well(handler: Handler, asked: Asked) -> None:
    handler.answer(200, told(asked, vectors(asked)))


def altered(change: Callable[[Vectors], object]) -> Behaviour:
    """Answers as asked, except that the vectors are not what they should be."""
    return lambda handler, asked: handler.answer(200, told(asked, change(vectors(asked))))


def status(code: int, message: str = "", headers: Mapping[str, str] | None = None) -> Behaviour:
    """Refuses."""
    body = json.dumps({"error": {"message": message}}).encode()
    return lambda handler, asked: handler.answer(code, body, headers)


def slow(seconds: float) -> Behaviour:
    """Answers as asked, but not soon."""

    def behave(handler: Handler, asked: Asked) -> None:
        time.sleep(seconds)
        try:
            well(handler, asked)
        except OSError:
            return  # whoever asked has gone

    return behave


def content(body: bytes) -> Behaviour:
    """Answers with something else."""
    return lambda handler, asked: handler.answer(200, body)


def truncated(handler: Handler, asked: Asked) -> None:
    """Answers with half of the JSON, and says that this is all."""
    body = told(asked, vectors(asked))
    handler.answer(200, body[: len(body) // 2])


def broken_off(handler: Handler, asked: Asked) -> None:
    """Closes the connection in the middle of the answer."""
    body = told(asked, vectors(asked))
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body[: len(body) // 2])


def hangs_up(handler: Handler, asked: Asked) -> None:
    """Closes the connection without a word."""


def huge(handler: Handler, asked: Asked) -> None:
    """Answers without an end."""
    handler.send_response(200)
    handler.end_headers()
    try:
        while True:
            handler.wfile.write(b" " * 1_000_000)
    except OSError:
        return  # whoever asked has had enough


def trickle(handler: Handler, asked: Asked) -> None:
    """Answers a byte at a time, each soon enough after the one before."""
    body = told(asked, vectors(asked))
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    try:
        for byte in body:
            handler.wfile.write(bytes([byte]))
            time.sleep(0.05)
    except OSError:
        return
