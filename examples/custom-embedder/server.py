"""An embedding service in the form of OpenAI's: python server.py PORT. Put a real model into ``embed``."""

import json
import math
import sys
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DIMENSIONS = 64


def embed(text: str) -> list[float]:
    """Embed a text by the words it has. A stand-in: words are all that it knows."""
    vector = [0.0] * DIMENSIONS
    for word in text.lower().split():
        vector[zlib.crc32(word.encode()) % DIMENSIONS] += 1.0
    length = math.sqrt(sum(value * value for value in vector)) or 1.0
    return [value / length for value in vector]


class Handler(BaseHTTPRequestHandler):
    """Answers ``POST .../embeddings``."""

    def do_POST(self) -> None:
        """Embed the texts of a request."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
        rows = [{"index": i, "embedding": embed(text)} for i, text in enumerate(texts)]
        body = json.dumps({"data": rows}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet."""


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
