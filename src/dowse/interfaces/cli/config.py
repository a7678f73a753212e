"""``dowse config``: show the effective settings, and where each value comes from."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import click

from dowse import roots, settings
from dowse.interfaces import json_values, text_layout
from dowse.interfaces.cli import options, output
from dowse.interfaces.theme import escape_text
from dowse.settings import mask_passwords


@click.group(no_args_is_help=False)
def config() -> None:
    """Show the settings and where they come from.

    Later sources win: dowse.toml (or [tool.dowse] in pyproject.toml), the environment (DOWSE_LIMIT=20),
    flags.
    """


@config.command("show")
@options.root
@options.index_dir
@options.store
@options.embedder
@options.as_json
@options.debug
def show(root: str | None, as_json: bool, **given: Any) -> int:
    """Show every setting, its value and where it comes from."""
    with options.open_engine(root, allow_home=True, **given) as engine:
        values = {f.name: getattr(engine.settings, f.name) for f in fields(engine.settings)}
        values["store"] = mask_passwords(values["store"])
        origins = engine.origins
    if as_json:
        rows = {name: {"value": value, "origin": origins[name]} for name, value in values.items()}
        about = {"schema": json_values.SCHEMA, "root": str(engine.root), "notes": list(engine.notes)}
        output.write_json(about | {"settings": rows})
    else:
        cells = [(name, origins[name], escape_text(json.dumps(value))) for name, value in values.items()]
        output.write(text_layout.format_table([("SETTING", "FROM", "VALUE"), *cells]))
    for note in engine.notes:
        output.remark(f"note: {note}")
    return 0


@config.command("path")
@options.root
@options.debug
def path(root: str | None) -> int:
    """Print the configuration file in force; exits with 1 if there is none."""
    folder = roots.resolve_root(root, allow_home=True)
    file = settings.config_file(folder)
    if file is None:
        output.remark(f"no configuration file; {folder / settings.CONFIG_FILE} would be read")
        return 1
    output.write(str(file))
    return 0
