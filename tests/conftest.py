"""Options of the test run."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

import pytest
from hypothesis import settings

# The key of this user's indexes, and indexes of trees that cannot hold one: not the user's own, but those of this run.
for variable in ("DOWSE_STATE_DIR", "DOWSE_CACHE_DIR"):
    os.environ[variable] = tempfile.mkdtemp(prefix="dowse-test-")
    atexit.register(shutil.rmtree, os.environ[variable], ignore_errors=True)

settings.register_profile("dowse", deadline=None)  # a busy machine is no failure
settings.load_profile("dowse")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite expected output")
