"""``dowse doctor``: diagnose the installation, the tree and its index (health check)."""

from __future__ import annotations

from typing import Any

import click

from dowse.interfaces.cli import doctor_checks, options, output
from dowse.interfaces.json_values import SCHEMA
from dowse.interfaces.theme import escape_text

NOT_IN_ORDER = 3


@click.command()
@options.tree
@options.as_json
@options.debug
def doctor(root: str | None, as_json: bool, **given: Any) -> int:
    """Check the installation and the index.

    Exits with 3 if a check fails; a warning is not a failure.
    """
    results = [
        *doctor_checks.check_installation(),
        *doctor_checks.check_tree(root, **given),
    ]
    if as_json:
        output.write_json({"schema": SCHEMA, "checks": [result._asdict() for result in results]})
    else:
        for result in results:
            output.write(f"{result.verdict:<5}{result.name}: {escape_text(result.found)}")
            if result.advice:
                output.write(f"     {result.advice}")
    failed = any(result.verdict is doctor_checks.CheckVerdict.FAIL for result in results)
    return NOT_IN_ORDER if failed else 0
