"""HTTP client for JSON APIs: timeouts, retries with exponential backoff and jitter, size limit, no redirects, TLS
checked.

An API key is looked up when it is needed, sent only where it cannot be overheard, and never part of a message.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from dowse.errors import DowseError, EmbedderError, SettingsError

if TYPE_CHECKING:
    from email.message import Message
    from http.client import HTTPResponse
    from urllib.error import HTTPError
    from urllib.request import OpenerDirector

MAX_BODY_BYTES = 64_000_000
"""Bytes of an answer that are read: 1,000 vectors of 3,000 dimensions fit."""

MAX_ERROR_BYTES = 20_000
"""Bytes that are read of an answer that reports an error."""

FIRST_PAUSE_SECONDS = 0.5
"""Seconds before the second attempt; each further pause is twice as long."""

MAX_PAUSE_SECONDS = 90.0
"""Seconds that a service may ask to wait: limits are usually per minute. One that asks for more is given up."""

BUSY_ATTEMPTS, FAULT_ATTEMPTS, TIMEOUT_ATTEMPTS = 8, 5, 2
"""Attempts: a busy service gets a minute, one that fails some seconds, one that does not answer a second chance."""

DEADLINE_SECONDS = 10.0
DEADLINE_PAUSE_SECONDS = 1.0
DEADLINE_ATTEMPTS = 2
FAILURE_CACHE_SECONDS = 15.0
"""What somebody who waits for the result of a search puts up with: seconds for an answer, seconds between attempts,
attempts, and seconds for which a failure is not tried again."""

_BUSY_STATUS = frozenset({408, 425, 429, 503, 529})
_FAULT_STATUS = frozenset({500, 502, 504})


class _RetryableError(Exception):
    """An attempt failed in a way that may pass: how often to try, and how long the service asks to wait."""

    def __init__(self, problem: str, attempts: int, after: float | None = None) -> None:
        super().__init__(problem)
        self.attempts = attempts
        self.after = after


@dataclass
class Client:
    """A client of one JSON service. ``advice`` says what to do about a status, ``start`` if nothing answers at all.

    ``setting`` is the name of the setting with its address, ``error`` what is raised if it does not answer.
    """

    url: str
    timeout: float
    start: str = "check embedder_url and your connection"
    advice: Mapping[int, str] | None = None
    key: Callable[[str], str] | None = None  # from the name of a host to the key it may see
    attempts: int = BUSY_ATTEMPTS
    max_pause: float = MAX_PAUSE_SECONDS
    setting: str = "embedder_url"
    error: type[DowseError] = EmbedderError
    _last_failure: tuple[float, DowseError] | None = field(default=None, init=False, repr=False)

    def with_deadline(self) -> Client:
        """Return a client of this service with a short deadline, for somebody who waits."""
        if self.attempts == DEADLINE_ATTEMPTS:
            return self
        timeout = min(self.timeout, DEADLINE_SECONDS)
        return replace(self, timeout=timeout, attempts=DEADLINE_ATTEMPTS, max_pause=DEADLINE_PAUSE_SECONDS)

    def post(self, path: str, body: Mapping[str, object]) -> dict[str, Any]:
        """Send a request and return the answer; try again as long as that may help."""
        self._raise_recent_failure()
        try:
            return self._retry(path, body)
        except self.error as error:
            self._last_failure = (time.monotonic(), error)
            raise

    def _raise_recent_failure(self) -> None:
        """Raise the last failure again if it is recent: who waits does not wait for the same failure twice."""
        if self.attempts == DEADLINE_ATTEMPTS and self._last_failure:
            moment, error = self._last_failure
            if time.monotonic() - moment < FAILURE_CACHE_SECONDS:
                raise error

    def _retry(self, path: str, body: Mapping[str, object]) -> dict[str, Any]:
        key = self._validate_key()
        data = json.dumps(body, ensure_ascii=False).encode()
        attempt = 1
        while True:
            try:
                return self._attempt(path, data, key)
            except _RetryableError as failed:
                pause = _choose_pause(attempt, failed.after)
                if attempt >= min(failed.attempts, self.attempts):
                    tried = f" ({attempt} attempts)" if attempt > 1 else ""
                    raise self._make_error(f"{failed}{tried}") from failed
                if pause > self.max_pause:
                    raise self._make_error(f"{failed}, and it asks to wait {pause:.0f} s") from failed
            time.sleep(pause)
            attempt += 1

    def _attempt(self, path: str, data: bytes, key: str) -> dict[str, Any]:
        """Send a request once."""
        import ssl
        from http.client import HTTPException
        from urllib.error import HTTPError, URLError
        from urllib.request import Request

        request = Request(self.url + path, data, {"Content-Type": "application/json", "User-Agent": "dowse"})
        if key:
            request.add_unredirected_header("Authorization", f"Bearer {key}")
        try:
            with self._opener.open(request, timeout=self.timeout) as response:
                return self._parse_json(self._read(response))
        except HTTPError as error:
            raise self._translate_status(error, key) from error
        except URLError as error:
            reason = error.reason
            if isinstance(reason, ssl.SSLError):
                raise self._make_error(f"no safe connection: {reason}", f"check {self.setting}") from error
            if isinstance(reason, OSError):
                raise self._translate_failure(reason) from error
            raise self._make_error(str(reason), self.start) from error
        except (OSError, HTTPException) as error:
            raise self._translate_failure(error) from error

    def _read(self, response: HTTPResponse) -> bytes:
        """Read the body of an answer, within limits of size and time."""
        deadline = time.monotonic() + self.timeout
        parts: list[bytes] = []
        size = 0
        while part := response.read1(65_536):
            parts.append(part)
            size += len(part)
            if size > MAX_BODY_BYTES:
                raise self._make_error(
                    f"an answer of more than {MAX_BODY_BYTES // 1_000_000} MB", f"check {self.setting}"
                )
            if time.monotonic() > deadline:
                raise TimeoutError
        return b"".join(parts)

    def _parse_json(self, body: bytes) -> dict[str, Any]:
        try:
            answer = json.loads(body)
        except (ValueError, RecursionError) as error:
            if body.lstrip().startswith(b"{"):
                raise _RetryableError("the answer is cut off or corrupt", FAULT_ATTEMPTS) from error
            raise self._make_error("the answer is not JSON", f"check {self.setting}") from error
        if not isinstance(answer, dict):
            raise self._make_error("the answer is not a JSON object", f"check {self.setting}")
        return answer

    def _translate_status(self, error: HTTPError, key: str) -> Exception:
        """Translate an answer with an error status to an exception."""
        try:
            body = error.read(MAX_ERROR_BYTES)
        except (OSError, ValueError):
            body = b""
        message = _read_message(body, key)
        problem = f"status {error.code}" + (f": {message}" if message else "")
        if error.code in _BUSY_STATUS and b"insufficient_quota" not in body:
            return _RetryableError(problem, BUSY_ATTEMPTS, retry_after(error.headers))
        if error.code in _FAULT_STATUS:
            return _RetryableError(problem, FAULT_ATTEMPTS, retry_after(error.headers))
        if 300 <= error.code < 400:
            return self._make_error(
                "it redirects to another address", f"set {self.setting} to the address it moved to"
            )
        return self._make_error(problem, (self.advice or {}).get(error.code, ""))

    def _translate_failure(self, error: Exception) -> Exception:
        """Translate a connection that could not be made, or broke, to an exception."""
        import socket

        if isinstance(error, TimeoutError):
            return _RetryableError(f"no answer within {self.timeout:g} s", TIMEOUT_ATTEMPTS)
        if isinstance(error, ConnectionRefusedError | socket.gaierror):
            return self._make_error("nothing answers there", self.start)
        return _RetryableError(f"the connection broke ({error or type(error).__name__})", FAULT_ATTEMPTS)

    def _make_error(self, problem: str, what_to_do: str = "") -> DowseError:
        return self.error(f"{self.url}: {problem}" + (f"; {what_to_do}" if what_to_do else ""))

    @cached_property
    def _opener(self) -> OpenerDirector:
        import ssl
        from urllib import request

        encrypted = self.url.startswith("https:")
        opener = request.OpenerDirector()
        for handler in (  # none for redirects, files or FTP
            request.ProxyHandler({} if is_local(self.url) else None),
            request.HTTPSHandler(context=ssl.create_default_context())
            if encrypted
            else request.HTTPHandler(),
            request.HTTPDefaultErrorHandler(),
            request.HTTPErrorProcessor(),
        ):
            opener.add_handler(handler)
        return opener

    def find_key(self) -> str:
        """Find the key to send; empty if there is none."""
        return self.key(host(self.url)).strip() if self.key else ""

    def _validate_key(self) -> str:
        key = self.find_key()
        if key and not (key.isascii() and key.isprintable() and " " not in key):
            raise self._make_error(
                "the key in the environment has characters that no key has", "set it again"
            )
        if key and self.url.startswith("http:") and not is_local(self.url):
            raise self._make_error("a key is not sent over a connection that is not encrypted", "use https")
        return key


def validate_url(url: str, setting: str = "embedder_url") -> str:
    """Return the address of a service without a slash at its end; raise an error if something is wrong with it."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise SettingsError(f"{setting} is not an address: {error}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise SettingsError(f"{setting} must be like http://localhost:11434 or https://example.org/v1")
    if parts.username or parts.password:
        raise SettingsError(f"{setting} must not hold a password: put a key into {key_variable(setting)}")
    if parts.query or parts.fragment or not url.isascii() or not url.isprintable() or " " in url:
        raise SettingsError(f"{setting} must be a plain address, without '?', '#' and special characters")
    return url.rstrip("/")


def key_variable(setting: str) -> str:
    """Name the environment variable with the key for the service whose address is in a setting."""
    return f"DOWSE_{setting.removesuffix('_url').upper()}_KEY"


def host(url: str) -> str:
    """Return the name of the machine that an address leads to."""
    return urlsplit(url).hostname or ""


def is_local(url: str) -> bool:
    """Whether an address leads to this machine."""
    name = host(url)
    return name in ("localhost", "::1") or (name.startswith("127.") and name.replace(".", "").isdigit())


def retry_after(headers: Message) -> float | None:
    """Read how many seconds a service asks to wait: as seconds, milliseconds or a date; None if it does not say."""
    from email.utils import parsedate_to_datetime

    text = headers.get("retry-after-ms", "").strip()
    scale = 1e-3 if text else 1.0
    text = text or headers.get("retry-after", "").strip()
    try:
        seconds = float(text) * scale
    except ValueError:
        try:
            seconds = parsedate_to_datetime(text).timestamp() - time.time()
        except (ValueError, TypeError, OverflowError):
            return None
    return max(0.0, seconds) if seconds == seconds else None


def _choose_pause(attempt: int, requested: float | None) -> float:
    """Choose the seconds before the next attempt; random, so that several clients do not come back at once."""
    if requested is not None:
        return requested * random.uniform(1.0, 1.1)
    return float(FIRST_PAUSE_SECONDS * 2 ** (attempt - 1)) * random.uniform(0.5, 1.0)


def _read_message(body: bytes, key: str) -> str:
    """Read what a service says about an error, in one line that can be shown."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        message = body.decode("utf-8", "replace") if not body.lstrip().startswith(b"<") else ""
    for name in ("error", "message", "detail"):
        if isinstance(message, dict):
            message = message.get(name, message)
    text = message if isinstance(message, str) else json.dumps(message) if message else ""
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return (text.replace(key, "***") if key else text)[:300]
