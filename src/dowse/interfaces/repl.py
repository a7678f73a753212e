"""A conversation with the index: questions one after another, with what was set staying set.

Everything but reading a line and printing the answer: a line in, text out.
"""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path

from dowse import settings
from dowse.engine import Engine
from dowse.errors import UsageError
from dowse.interfaces import render, render_index
from dowse.interfaces.theme import visible
from dowse.types import SearchOptions, SearchResponse

HELP = """\
words            a question, in the query language: retry with backoff lang:py path:src/** "exact" /regex/
:N               open hit N of the last answer in the editor ($VISUAL or $EDITOR)
:more            more hits of the last question
:lang [NAME...]  only these languages; without a name: all
:path [GLOB...]  only files like these; without a pattern: all
:limit N         hits in an answer
:explain         switch on or off why each hit ranks where it does
:full            switch on or off whole hits in place of excerpts
:related N       what belongs to hit N: its tests, code that is alike
:status          the index at a glance
:set             what is set
:help, :quit     this text; leave (or Ctrl-D)"""

GOTO = {
    "code": "-g {path}:{line}",
    "codium": "-g {path}:{line}",
    "cursor": "-g {path}:{line}",
    "windsurf": "-g {path}:{line}",
    "zed": "{path}:{line}",
    "subl": "{path}:{line}",
    "hx": "{path}:{line}",
    "idea": "--line {line} {path}",
    "pycharm": "--line {line} {path}",
    "notepad": "{path}",
}
"""How editors are told a line; all others understand ``+LINE PATH`` (vi, vim, nvim, nano, emacs, micro, kak)."""


class Quit(Exception):
    """The user has seen enough."""


@dataclass
class Conversation:
    """What is set, and what was answered last."""

    engine: Engine
    view: render.View
    run: Callable[[Sequence[str]], object] = subprocess.call  # starts the editor
    languages: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    limit: int = 0
    question: str = ""
    last: SearchResponse | None = None
    _shown: int = field(default=0)

    def __post_init__(self) -> None:
        self.limit = self.limit or self.engine.settings.limit

    def answer(self, line: str) -> str:
        """What to print for a line."""
        line = line.strip()
        if not line:
            return ""
        if not line.startswith(":"):
            self.question = line
            return self._asked(0)
        word, _, rest = line[1:].partition(" ")
        if word.isdigit():
            return self._open(int(word))
        if word not in COMMANDS:
            close = get_close_matches(word, COMMANDS, n=1)
            hint = f"did you mean :{close[0]}?" if close else ":help lists them"
            raise UsageError(f"there is no command :{word}: {hint}")
        return COMMANDS[word](self, rest.strip())

    def completions(self, text: str) -> list[str]:
        """What a word could become: commands, languages, files."""
        if text.startswith(":"):
            return [f":{name}" for name in COMMANDS if name.startswith(text[1:])]
        field, colon, value = text.rpartition(":")
        if colon and field.lstrip("-") == "lang":
            return [
                f"{field}:{name}" for name in sorted(self.engine.languages.by_name) if name.startswith(value)
            ]
        start = f"{field}:" if colon else ""
        return [f"{start}{path}" for path in self._paths(value or text)]

    def _paths(self, start: str) -> Iterator[str]:
        """Files and folders of the index that begin so, to the next slash."""
        with self.engine.store.snapshot() as snapshot:
            paths = list(snapshot.manifest())
        depth = start.count("/") + 1
        found = {"/".join(path.split("/")[:depth]) for path in paths if path.startswith(start)}
        folders = {"/".join(path.split("/")[:depth]) for path in paths if path.count("/") >= depth}
        return (f"{name}/" if name in folders else name for name in sorted(found))

    # --- questions ---

    def _asked(self, skipped: int) -> str:
        if not self.question:
            raise UsageError("ask something first")
        options = SearchOptions(
            limit=skipped + self.limit, filter=self.engine.filter(languages=self.languages, paths=self.paths)
        )
        response = self.engine.search(self.question, options)
        self._shown = len(response.results)
        self.last = response
        return self._told(replace(response, results=response.results[skipped:]), skipped)

    def _told(self, response: SearchResponse, skipped: int) -> str:
        text = render.search_text(response, self.view)
        number = skipped
        lines = []
        headers = {render.header(result, response.root, self.view) for result in response.results}
        for line in text.split("\n") if text else ():
            number += line in headers
            mark = f"{self.view.paint(f'{number:>2}', 'found')}  " if line in headers else ""
            lines.append(mark + line)
        summary = render.search_summary(response, self.view)
        return "\n".join([*lines, "", summary] if lines else [summary])

    def _hit(self, number: int) -> tuple[str, int]:
        results = self.last.results if self.last else ()
        if not 1 <= number <= len(results):
            raise UsageError(f"there is no hit {number}: the last answer has {len(results)}")
        return results[number - 1].path, results[number - 1].start_line

    def _open(self, number: int) -> str:
        path, line = self._hit(number)
        self.run(editor_command(str(self.engine.root / path), line))
        return ""

    # --- commands ---

    def _more(self, rest: str) -> str:
        return self._asked(self._shown)

    def _related(self, rest: str) -> str:
        if not rest.isdigit():
            raise UsageError("say which hit: :related 1")
        path, line = self._hit(int(rest))
        self.last = self.engine.related(path, line)
        return self._told(self.last, 0)

    def _set_languages(self, rest: str) -> str:
        names = tuple(rest.split())
        self.engine.filter(languages=names)  # an unknown one is an error
        self.languages = names
        return self._set("")

    def _set_paths(self, rest: str) -> str:
        self.paths = tuple(rest.split())
        return self._set("")

    def _set_limit(self, rest: str) -> str:
        if not rest.isdigit() or not 1 <= int(rest) <= 1000:
            raise UsageError(":limit takes a number from 1 to 1000")
        self.limit = int(rest)
        return self._set("")

    def _switch_explain(self, rest: str) -> str:
        self.view = replace(self.view, explain=not self.view.explain)
        return self._set("")

    def _switch_full(self, rest: str) -> str:
        self.view = replace(self.view, whole=not self.view.whole)
        return self._set("")

    def _set(self, rest: str) -> str:
        rows = {
            "lang": ", ".join(self.languages) or "all",
            "path": ", ".join(map(visible, self.paths)) or "all",
            "limit": str(self.limit),
            "explain": "on" if self.view.explain else "off",
            "full": "on" if self.view.whole else "off",
        }
        return "  ".join(f"{name}: {value}" for name, value in rows.items())

    def _status(self, rest: str) -> str:
        return render_index.status_text(self.engine.status(), str(self.engine.root), self.engine.pending())

    def _help(self, rest: str) -> str:
        return HELP

    def _quit(self, rest: str) -> str:
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
    "set": Conversation._set,
    "help": Conversation._help,
    "quit": Conversation._quit,
    "q": Conversation._quit,
}


def editor_command(path: str, line: int) -> list[str]:
    """How the user's editor opens a file at a line."""
    editor = settings.variable("VISUAL") or settings.variable("EDITOR")
    if not editor:
        raise UsageError("set VISUAL or EDITOR to your editor, for example EDITOR=vim")
    words = shlex.split(editor, posix=settings.is_posix())
    template = GOTO.get(Path(words[0]).stem.lower(), "+{line} {path}")
    return [*words, *(word.format(path=path, line=line) for word in template.split(" "))]
