"""Replies of services that embed texts or rewrite queries: vectors of length one, one line of text, or an error."""

import io
from email.message import Message
from http.client import responses
from urllib.request import BaseHandler, HTTPDefaultErrorHandler, HTTPErrorProcessor, OpenerDirector, Request
from urllib.response import addinfourl

import numpy as np

from dowse.embedders.ollama import OllamaEmbedder
from dowse.embedders.openai import OpenAIEmbedder
from dowse.errors import EmbedderError, RewriterError
from dowse.search.query.llm_rewriter import MAX_REWRITTEN_CHARS, ServiceRewriter
from dowse.services.http_client import Client
from fuzz.inputs import choose, decode_text, split

STATUSES = (200, 200, 200, 201, 302, 400, 401, 404, 429, 500, 503)
TEXTS = ["first", "second"]
URL = "http://localhost:1"


class _Replay(BaseHandler):
    """Answers every request with the same bytes, as a connection would."""

    def __init__(self, status: int, wait: str, body: bytes) -> None:
        self._status, self._wait, self._body = status, wait, body

    def http_open(self, request: Request) -> addinfourl:
        headers = Message()
        headers["Retry-After"] = self._wait
        response = addinfourl(io.BytesIO(self._body), headers, request.full_url, self._status)
        response.msg = responses[self._status]  # type: ignore[attr-defined]
        return response


def run(data: bytes) -> None:
    """Ask for vectors of two texts, or for a query in other words; there is one attempt."""
    service, rest = choose(data, 4)
    status, rest = choose(rest, len(STATUSES))
    body, header = split(rest, 2)
    wait = "".join(c for c in decode_text(header)[:40] if c.isascii() and c.isprintable())
    client = Client(URL, 5.0, attempts=1, error=EmbedderError if service < 2 else RewriterError)
    client._opener = OpenerDirector()
    for handler in (_Replay(STATUSES[status], wait, body), HTTPDefaultErrorHandler(), HTTPErrorProcessor()):
        client._opener.add_handler(handler)
    if service < 2:
        try:
            rows = (OllamaEmbedder, OpenAIEmbedder)[service](client, "m").embed_documents(TEXTS)
        except EmbedderError:
            return
        assert rows.shape[0] == len(TEXTS)
        assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-3), rows
    else:
        try:
            rewritten = ServiceRewriter(client, ("ollama", "openai")[service - 2], "m").rewrite("where is it")
        except RewriterError:
            return
        assert rewritten.strip()
        assert len(rewritten) <= MAX_REWRITTEN_CHARS
        assert "\n" not in rewritten
