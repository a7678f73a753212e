"""LLM query rewriting: a language model (Ollama or an OpenAI-compatible API) rephrases a query.

Off unless the settings name a model. It has a few seconds in all; after that, the query is searched unchanged.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from dowse.errors import RewriterError, SettingsError
from dowse.settings import ResolvedSettings, read_service_key

if TYPE_CHECKING:
    from dowse.services.http_client import Client

MAX_QUERY_CHARS = 2000
"""Characters of a query that are sent: a longer one needs no more words."""

MAX_REWRITTEN_CHARS = 500
"""Characters of an answer that can be a query; a longer one is a lecture."""

MAX_OUTPUT_TOKENS = 120
"""Tokens that a model may write."""

URL_SETTING = "rewriter_url"

SYSTEM_PROMPT = (
    "You help a code search engine. Rewrite the question so that it finds the right code or documentation: keep every "
    "name, file and error message exactly, spell out what is implied, use the technical words a programmer would have "
    "written. Answer with the rewritten question only, in one line, without quotes or explanation."
)

DEFAULT_URLS = {"ollama": "http://localhost:11434", "openai": "https://api.openai.com/v1"}
DEFAULT_MODELS = {"ollama": "llama3.2", "openai": "gpt-4o-mini"}
START_HINTS = {
    "ollama": "start it with 'ollama serve', or set rewriter_url to where it runs",
    "openai": "check rewriter_url and your connection",
}


class Rewriter(Protocol):
    """Says a query in other words."""

    @property
    def name(self) -> str:
        """Provider and model, for the rewrite trace."""
        ...

    def rewrite(self, text: str) -> str:
        """Rewrite a query; raises RewriterError if that does not work in time."""
        ...


def create_rewriter(resolved: ResolvedSettings) -> Rewriter | None:
    """Create the rewriter that the setting names (``ollama:MODEL``, ``openai:MODEL``), or none. Nothing is sent yet."""
    provider, _, model = resolved.settings.rewriter.partition(":")
    if provider == "none":
        return None
    if provider not in DEFAULT_URLS:
        raise SettingsError(f"unknown rewriter '{provider}': known are none, {', '.join(DEFAULT_URLS)}")
    return ServiceRewriter(_make_client(provider, resolved), provider, model or DEFAULT_MODELS[provider])


def _make_client(provider: str, resolved: ResolvedSettings) -> Client:
    """Make the HTTP client. Queries leave the machine only if the user says so: a file in the tree cannot."""
    from dowse.services.http_client import Client, is_local, validate_url

    s = resolved.settings
    url = validate_url(s.rewriter_url or DEFAULT_URLS[provider], URL_SETTING)
    if not is_local(url):
        decided_by = URL_SETTING if s.rewriter_url else "rewriter"
        resolved.require_user(decided_by, f"send your queries to {url}", f"DOWSE_REWRITER_URL={url}")
    may_send_key = resolved.may_send_key(URL_SETTING)
    key = partial(read_service_key, "rewriter") if provider == "openai" and may_send_key else None
    refused = "no key is sent to an address that a tree names: set DOWSE_REWRITER_URL if you want that"
    advice = {
        404: f"check the model: get it with 'ollama pull', or see {URL_SETTING}",
        401: "set DOWSE_REWRITER_KEY" if may_send_key else refused,
    }
    return Client(
        url,
        s.rewriter_timeout,
        start=START_HINTS[provider],
        advice=advice,
        key=key,
        attempts=1,
        setting=URL_SETTING,
        error=RewriterError,
    )


@dataclass(frozen=True)
class ServiceRewriter:
    """Asks Ollama, or a service that speaks OpenAI's protocol."""

    client: Client
    provider: str
    model: str

    @property
    def name(self) -> str:
        """Provider and model, as in the setting."""
        return f"{self.provider}:{self.model}"

    def rewrite(self, text: str) -> str:
        """Ask the model for one line, within the time limit."""
        return _clean_answer(self._ask_within_timeout(text[:MAX_QUERY_CHARS]))

    def _ask_within_timeout(self, text: str) -> str:
        """Return the answer, or raise when the time is up, whatever the connection does meanwhile."""
        outcome: list[str | Exception] = []

        def ask() -> None:
            try:
                outcome.append(self._ask_model(text))
            except RewriterError as error:
                outcome.append(error)

        thread = threading.Thread(target=ask, name="dowse-rewrite", daemon=True)
        thread.start()
        thread.join(self.client.timeout)
        if not outcome:
            raise RewriterError(f"{self.client.url}: no answer within {self.client.timeout:g} s")
        if isinstance(outcome[0], Exception):
            raise outcome[0]
        return outcome[0]

    def _ask_model(self, text: str) -> str:
        messages = [{"role": "system", "content": SYSTEM_PROMPT}, {"role": "user", "content": text}]
        body: dict[str, Any] = {"model": self.model, "messages": messages, "stream": False}
        if self.provider == "ollama":
            options = {"temperature": 0, "num_predict": MAX_OUTPUT_TOKENS}
            answer = self.client.post("/api/chat", body | {"options": options})
            content = _get_path(answer, "message", "content")
        else:
            limits = {"temperature": 0, "max_tokens": MAX_OUTPUT_TOKENS}
            answer = self.client.post("/chat/completions", body | limits)
            content = _get_path(answer, "choices", 0, "message", "content")
        if not isinstance(content, str):
            raise RewriterError(f"{self.client.url}: the answer has no text: is it the right service?")
        return content


def _get_path(value: Any, *steps: str | int) -> Any:
    """Return the value at the end of a path into JSON, or none."""
    for step in steps:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def _clean_answer(content: str) -> str:
    """Return the first line of what a model said, if it can be a query."""
    lines = [line.strip().strip("\"'`").strip() for line in content.replace("\0", " ").splitlines()]
    line = " ".join(next(filter(None, lines), "").split())
    if not line or not any(c.isalnum() for c in line):
        raise RewriterError("the model said nothing")
    if len(line) > MAX_REWRITTEN_CHARS:
        raise RewriterError(f"the model said {len(line)} characters: that is not a query")
    return line
