"""A headless browser for tests: one that is installed, as Playwright brings none of its own here."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip

AXE_VERSION = "4.14.0"

NPM_SECONDS = 60

PATIENCE_MS = 60_000
"""What is waited for at the most: on a busy machine, a page takes many times what it should."""


@contextmanager
def open_browser() -> Iterator[Browser]:
    """A browser that is installed; without one, the tests are skipped."""
    program = os.environ.get("DOWSE_TEST_BROWSER") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if not program:
        pytest.skip(f"no browser is installed: one of {', '.join(BROWSERS)}, or DOWSE_TEST_BROWSER")
    with sync_playwright() as playwright:
        expect.set_options(timeout=PATIENCE_MS)
        browser = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        yield browser
        browser.close()


@cache
def fetch_axe() -> str:
    """The script of axe-core, from npm; without npm, the tests that need it are skipped."""
    npm = shutil.which("npm")
    if not npm:
        pytest.skip("npm is not installed: axe-core cannot be fetched")
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [npm, "pack", "--silent", f"axe-core@{AXE_VERSION}"],
            check=False,
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=NPM_SECONDS,
        )
        packed = next(Path(folder).glob("*.tgz"), None)
        if done.returncode or packed is None:
            pytest.skip(f"axe-core could not be fetched: {done.stderr.strip()[-200:]}")
        with tarfile.open(fileobj=io.BytesIO(packed.read_bytes())) as archive:
            script = archive.extractfile("package/axe.min.js")
            assert script
            return script.read().decode()
