"""``dowse languages``: list the supported languages, and what is extracted of each (symbols, imports, calls)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from dowse.interfaces import json_values, text_layout
from dowse.interfaces.cli import options, output

if TYPE_CHECKING:
    from dowse.code.languages.spec import Language


@click.command()
@click.argument("name", required=False, metavar="[NAME]")
@options.root
@options.as_json
@options.debug
def languages(name: str | None, root: str | None, as_json: bool) -> int:
    """List the supported languages.

    Includes those that the settings add. NAME is a language, an alias or an extension: show only that one, in
    full. Files of other languages are searched as text.
    """
    with options.open_engine(root, allow_home=True) as engine:
        known = engine.languages
    chosen = [known.find(name)] if name else sorted(known.by_name.values(), key=lambda one: one.name)
    if as_json:
        output.write_json(json_values.languages_values(chosen))
    elif name:
        output.write(
            text_layout.format_table(
                [(key, _format_cell(value)) for key, value in json_values.language_values(chosen[0]).items()]
            )
        )
    else:
        output.write(text_layout.format_table([_HEADINGS, *map(_language_row, chosen)]))
        if missing := [language.name for language in chosen if language.extra]:
            output.write("")
            output.write(
                f"{', '.join(missing)}: pip install 'dowse[languages]' adds imports, calls and a syntax tree."
            )
    return 0


_HEADINGS = ("NAME", "SYMBOLS", "IMPORTS", "CALLS", "GRAMMAR", "ALIASES", "FILES")


def _language_row(language: Language) -> tuple[str, ...]:
    values = json_values.language_values(language)
    recognized = [f"some {base}" for base in language.bases]
    files = _format_cell([*language.extensions, *language.filenames, *recognized])
    if language.extra:
        values["grammar"] = f"dowse[{language.extra}]"
    columns = ("name", "symbols", "imports", "calls", "grammar", "aliases")
    return (*(_format_cell(values[column]) for column in columns), files)


def _format_cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return (" ".join(value) if isinstance(value, list) else str(value)) or "-"
