"""Secrets in source files: the same length, the same lines, nothing changed but what becomes a star."""

from dowse.code import secrets
from fuzz.inputs import choose

PATHS = ("src/app.py", ".env", "deploy.yaml", "run.sh", "Dockerfile", "credentials")


def run(data: bytes) -> None:
    """Mask a file of some name."""
    choice, content = choose(data, len(PATHS))
    masked, found = secrets.mask(content, PATHS[choice])
    assert len(masked) == len(content)
    assert all(new in (old, ord("*")) for old, new in zip(content, masked, strict=True))
    assert masked.count(b"\n") == content.count(b"\n")
    assert bool(found) or masked == content
    lines = content.count(b"\n") + 1
    assert all(1 <= secret.line <= lines for secret in found)
