"""MCP prompts (templates) that a person can pick in a client: tour of a code base, impact review of a change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Prompt(NamedTuple):
    """A prompt: what it is for, its arguments (name, description, whether it must be given), and its text."""

    title: str
    description: str
    arguments: tuple[tuple[str, str, bool], ...]
    text: str


PROMPTS = {
    "onboard": Prompt(
        "Get to know this code base",
        "A tour of the code base: what it is, how it is laid out, where to begin.",
        (("focus", "a part or topic to look at first", False),),
        """Get to know this code base with the dowse tools, then explain it to a developer who is new to it.

1. `status` says what is indexed and in which languages.
2. `search` for the entry points (main, command line, server, routes), the central types, configuration, tests; \
`read` with outline the files that matter most.
3. Follow one typical request or command from its entry to its end.
{focus}
Answer with: what it is for; the parts and what each does (with path:line); how they work together, along the one \
example; where to add a feature, where tests are and how to run them; what surprised you. Cite path:line for every \
claim, and say so where you are not sure.""",
    ),
    "impact": Prompt(
        "Review the impact of a change",
        "What a change to a place would touch: callers, tests, configuration, documentation.",
        (("target", "path, path:line or the name of a definition", True),),
        """Find out what a change to {target} would touch, with the dowse tools.

1. `read` {target}: what does it promise to its callers?
2. Everything that uses it: {graph}`search` for its name (also as a phrase, "{target}", and in configuration and docs).
3. `graph` related {target}: the tests that cover it; note what they do not cover.

Answer with a table of the places affected (path:line, how it depends, what could break), the tests to run, the tests \
that are missing, and the order in which to make the change. Cite path:line for every row.""",
    ),
}

_GRAPH_STEP = "`graph` callers and impact; "


def list_prompts() -> list[dict[str, Any]]:
    """List the prompts as the protocol wants them."""
    return [
        {
            "name": name,
            "title": prompt.title,
            "description": prompt.description,
            "arguments": [
                {"name": argument, "description": description, "required": required}
                for argument, description, required in prompt.arguments
            ],
        }
        for name, prompt in PROMPTS.items()
    ]


def fill_prompt(name: str, arguments: Mapping[str, str], *, graph: bool) -> str:
    """Fill the arguments into the text of a prompt."""
    focus = f"4. Look more closely at: {arguments['focus']}.\n" if arguments.get("focus") else ""
    target = arguments.get("target", "")
    return PROMPTS[name].text.format(focus=focus, target=target, graph=_GRAPH_STEP if graph else "")
