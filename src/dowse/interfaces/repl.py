"""Interactive shell (REPL) logic: queries one after another, with filters that stay set, and tab completion.

Takes a line and returns text; reading the line and printing the text is up to ``cli/shell.py``.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches

from dowse.engine import Engine
from dowse.errors import UsageError
from dowse.interfaces import render, render_index
from dowse.interfaces.editor import build_editor_command
from dowse.interfaces.terminal_hits import terminal_text
from dowse.interfaces.theme import escape_text
from dowse.types.answers import SearchOptions, SearchResponse

HOW_TO_GO_ON = ":N opens one", ":more"
"""What the summary of an answer names: how to open a hit, and how to see more."""

HELP = """\
words            a query, in the query language: retry with backoff lang:py path:src/** "exact" /regex/
:N               open hit N of the last answer in the editor ($VISUAL or $EDITOR)
:more            more hits of the last query
:lang [NAME...]  only these languages; without a name: all
:path [GLOB...]  only files like these; without a pattern: all
:limit N         hits in an answer
:explain         switch on or off why each hit ranks where it does
:full            switch on or off whole hits in place of their best lines
:related N       what belongs to hit N: its tests, code that is alike
:status          the index at a glance
:set             what is set
:help, :quit     this text; leave (or Ctrl-D); help, ? and exit do too"""

PLAIN_COMMANDS = {"help": ":help", "?": ":help", "exit": ":quit", "quit": ":quit"}
"""Lines that are commands in every shell: whoever types one does not look for code."""


class Quit(Exception):
    """Raised when the user leaves the shell."""


@dataclass
class Conversation:
    """The state of a shell: what is set, and the last answer."""

    engine: Engine
    view: render.View
    run: Callable[[Sequence[str]], object] = subprocess.call  # starts the editor
    languages: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    limit: int = 0
    query: str = ""
    last_response: SearchResponse | None = None
    _shown_hits: int = field(default=0)

    def __post_init__(self) -> None:
        self.limit = self.limit or self.engine.settings.limit

    def answer(self, line: str) -> str:
        """Return what to print for a line."""
        line = line.strip()
        if not line:
            return ""
        if line in PLAIN_COMMANDS:
            line = PLAIN_COMMANDS[line]
        if not line.startswith(":"):
            self.query = line
            return self._search(0)
        word, _, argument = line[1:].partition(" ")
        if word.isdigit():
            return self._open(int(word))
        if word not in COMMANDS:
            close = get_close_matches(word, COMMANDS, n=1)
            hint = f"did you mean :{close[0]}?" if close else ":help lists them"
            raise UsageError(f"there is no command :{word}: {hint}")
        return COMMANDS[word](self, argument.strip())

    def completions(self, text: str) -> list[str]:
        """Complete a word: commands, languages, files."""
        if text.startswith(":"):
            return [f":{name}" for name in COMMANDS if name.startswith(text[1:])]
        field, colon, value = text.rpartition(":")
        if colon and field.lstrip("-") == "lang":
            return [
                f"{field}:{name}" for name in sorted(self.engine.languages.by_name) if name.startswith(value)
            ]
        start = f"{field}:" if colon else ""
        return [f"{start}{path}" for path in self._complete_paths(value or text)]

    def _complete_paths(self, start: str) -> Iterator[str]:
        """Complete a path of the index, up to the next slash."""
        paths = self.engine.paths()
        depth = start.count("/") + 1
        completions = {"/".join(path.split("/")[:depth]) for path in paths if path.startswith(start)}
        folders = {"/".join(path.split("/")[:depth]) for path in paths if path.count("/") >= depth}
        return (f"{name}/" if name in folders else name for name in sorted(completions))

    # --- queries ---

    def _search(self, skipped: int) -> str:
        if not self.query:
            raise UsageError("ask something first")
        options = SearchOptions(
            limit=skipped + self.limit, filter=self.engine.filter(languages=self.languages, paths=self.paths)
        )
        begun = time.monotonic()
        response = self.engine.search(self.query, options)
        self._shown_hits = len(response.results)
        self.last_response = response
        shown = replace(response, results=response.results[skipped:])
        return self._render_answer(shown, skipped, time.monotonic() - begun)

    def _render_answer(self, response: SearchResponse, skipped: int, seconds: float) -> str:
        text = terminal_text(response, self.view, skipped + 1)
        summary = render.search_summary(response, seconds, self.view, HOW_TO_GO_ON)
        return f"{text}\n\n{summary}" if text else summary

    def _find_hit(self, number: int) -> tuple[str, int]:
        results = self.last_response.results if self.last_response else ()
        if not 1 <= number <= len(results):
            raise UsageError(f"there is no hit {number}: the last answer has {len(results)}")
        return results[number - 1].path, results[number - 1].start_line

    def _open(self, number: int) -> str:
        path, line = self._find_hit(number)
        self.run(build_editor_command(str(self.engine.root / path), line))
        return ""

    # --- commands ---

    def _more(self, argument: str) -> str:
        return self._search(self._shown_hits)

    def _related(self, argument: str) -> str:
        if not argument.isdigit():
            raise UsageError("say which hit: :related 1")
        path, line = self._find_hit(int(argument))
        begun = time.monotonic()
        self.last_response = self.engine.related(path, line, SearchOptions(limit=self.limit))
        return self._render_answer(self.last_response, 0, time.monotonic() - begun)

    def _set_languages(self, argument: str) -> str:
        names = tuple(argument.split())
        self.engine.filter(languages=names)  # an unknown one is an error
        self.languages = names
        return self._show_settings("")

    def _set_paths(self, argument: str) -> str:
        self.paths = tuple(argument.split())
        return self._show_settings("")

    def _set_limit(self, argument: str) -> str:
        if not argument.isdigit() or not 1 <= int(argument) <= 1000:
            raise UsageError(":limit takes a number from 1 to 1000")
        self.limit = int(argument)
        return self._show_settings("")

    def _switch_explain(self, argument: str) -> str:
        self.view = replace(self.view, explain=not self.view.explain)
        return self._show_settings("")

    def _switch_full(self, argument: str) -> str:
        self.view = replace(self.view, whole=not self.view.whole)
        return self._show_settings("")

    def _show_settings(self, argument: str) -> str:
        rows = {
            "lang": ", ".join(self.languages) or "all",
            "path": ", ".join(map(escape_text, self.paths)) or "all",
            "limit": str(self.limit),
            "explain": "on" if self.view.explain else "off",
            "full": "on" if self.view.whole else "off",
        }
        return "  ".join(f"{name}: {value}" for name, value in rows.items())

    def _status(self, argument: str) -> str:
        return render_index.status_text(
            self.engine.status(), str(self.engine.root), self.engine.count_pending()
        )

    def _help(self, argument: str) -> str:
        return HELP

    def _quit(self, argument: str) -> str:
        raise Quit


COMMANDS: dict[str, Callable[[Conversation, str], str]] = {
    "more": Conversation._more,
    "lang": Conversation._set_languages,
    "path": Conversation._set_paths,
    "limit": Conversation._set_limit,
    "explain": Conversation._switch_explain,
    "full": Conversation._switch_full,
    "related": Conversation._related,
    "status": Conversation._status,
    "set": Conversation._show_settings,
    "help": Conversation._help,
    "quit": Conversation._quit,
    "q": Conversation._quit,
}
