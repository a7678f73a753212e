"""Requests made up from the description of the API (schemathesis): the server keeps to what it says of itself."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.agents.clients import make_tree
from tests.web.serving import TOKEN, serve_here

EXAMPLES = 5
"""Requests made up for each operation, beside those that cover its description."""

NOT_CHECKED = "positive_data_acceptance,ignored_auth"
"""A made-up name of a file or a language is refused, as it should be; tokens are tested on their own."""


def test_the_api_keeps_to_its_description(tmp_path: Path) -> None:
    with serve_here(make_tree(tmp_path / "tree"), allow_index=True, unlimited=True) as client:
        done = subprocess.run(
            [
                sys.executable, "-W", "ignore", "-m", "schemathesis.cli", "run", f"{client.base_url}/api/openapi.json",
                "--header", f"Authorization: Bearer {TOKEN}",
                "--max-examples", str(EXAMPLES),
                "--phases", "examples,coverage,fuzzing",
                "--exclude-checks", NOT_CHECKED,
                "--generation-database", "none",
                "--seed", "1",
                "--no-color",
            ],
            check=False,
            cwd=tmp_path,
            env=os.environ | {"SCHEMATHESIS_HOOKS": ""},
            capture_output=True,
            encoding="utf-8",
            timeout=300,
        )  # fmt: skip
    summary = done.stdout.partition("= SUMMARY =")[2]
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr
    assert "Tested:" in summary and "Tested: 0" not in summary
