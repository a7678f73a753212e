"""Messages of an MCP client, a line each: every request gets one answer, and none of them an internal error."""

import io
import json
from functools import cache
from typing import Any

from dowse.engine import Engine
from dowse.interfaces.mcp import stdio
from dowse.interfaces.mcp.service import INTERNAL_ERROR, Service
from dowse.interfaces.workspace import ServerScope
from fuzz.inputs import decode_json, make_folder

FILES = {
    "src/users.py": "class User:\n    def load(self, id):\n        return fetch(id)\n\n\ndef fetch(id):\n    pass\n",
    "tests/test_users.py": "from src.users import User\n\n\ndef test_load():\n    assert User().load(1)\n",
    "README.md": "# Users\n\nWhere users are loaded.\n",
}
MAX_LINES = 5
stdio.ROOTS_SECONDS = 0.01  # nobody answers


@cache
def _make_service() -> Service:
    """Index a small tree once; no request can widen what is searched."""
    folder = make_folder("mcp")
    for path, text in FILES.items():
        (folder / "tree" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "tree" / path).write_text(text, encoding="utf-8")
    given: dict[str, Any] = {"index_dir": str(folder / "index"), "embedder": "hashing"}
    with Engine.open(folder / "tree", **given) as engine:
        engine.index()
    return Service(ServerScope((str(folder / "tree"),), trust_client=False, read_only=True, given=given))


def run(data: bytes) -> None:
    """Hand the lines to a server and read what it writes."""
    lines = data.split(b"\n")[:MAX_LINES]
    out = io.BytesIO()
    server = stdio.StdioServer(_make_service(), out)
    server.run(io.BytesIO(b"\n".join(lines)))
    server._pool.shutdown(wait=True)
    answers = [json.loads(line) for line in out.getvalue().splitlines()]
    for answer in answers:
        assert answer["jsonrpc"] == "2.0"
        assert "error" not in answer or answer["error"]["code"] != INTERNAL_ERROR, (lines, answer)
    requests = [message for line in lines if (message := _parse_request(line)) is not None]
    cancelled = any(b"cancelled" in line for line in lines)
    answered = [answer for answer in answers if "method" not in answer]
    assert cancelled or len(answered) >= len(requests), (lines, answers)


def _parse_request(line: bytes) -> Any:
    """Decode a line that wants an answer."""
    message = decode_json(line)
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return None
    return message if isinstance(message.get("id"), int) and isinstance(message.get("method"), str) else None
