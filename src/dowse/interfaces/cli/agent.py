"""``dowse agent``: install, uninstall or print the set-up of coding agents, answer their hooks, report savings."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from dowse import roots
from dowse.errors import UsageError
from dowse.interfaces.agents import extras, nudges, savings, setup
from dowse.interfaces.agents.extras import Extras
from dowse.interfaces.cli import options, output
from dowse.interfaces.text_layout import format_count
from dowse.interfaces.theme import escape_code, escape_text

if TYPE_CHECKING:
    from dowse.interfaces.agents.setup import FileEdit

F = TypeVar("F", bound=Callable[..., Any])
Plan = Callable[[], "Iterable[FileEdit]"]

FAILED = 2
"""The exit code if the file of one of several agents could not be edited."""


def _project(command: F) -> F:
    return click.option(
        "--project", is_flag=True, help="Write the project's own file (to share it), not the user's."
    )(command)


def _dry_run(command: F) -> F:
    return click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")(
        command
    )


def _extras(command: F) -> F:
    """Add the options of what goes beside the server."""
    for name, about in (
        ("--hooks", "Claude Code: context at the start of a session, a nudge when grep is used."),
        ("--commands", "Claude Code: the slash commands dowse-find, dowse-impact and dowse-why."),
        ("--subagent", "Claude Code: a sub-agent that searches and reads only."),
        ("--skill", "A skill (.claude/skills/dowse)."),
        ("--instructions", "A section in AGENTS.md, CLAUDE.md, GEMINI.md or QWEN.md."),
    ):
        command = click.option(name, is_flag=True, help=about)(command)
    return command


@click.group(no_args_is_help=False)
def agent() -> None:
    """Set up coding agents to use dowse.

    Known are claude-code, claude-desktop, cursor, vscode, codex, opencode, gemini, windsurf, zed, copilot-cli,
    kiro, roo, cline, kilo, qwen, goose, amp, antigravity, junie, droid, crush, augment, openhands and continue.
    """


@agent.command("install")
@click.argument("names", nargs=-1, metavar="[AGENT]...")
@_project
@_extras
@_dry_run
@options.root
@options.debug
def install(
    names: tuple[str, ...], project: bool, instructions: bool, dry_run: bool, root: str | None, **wanted: bool
) -> int:
    """Write the set-up of dowse into the files of agents, and show what changed.

    Without AGENT: all agents that seem to be in use on this machine. A second run changes nothing. A file that cannot
    be edited is named, and does not keep the others from being written.
    """
    chosen = names or tuple(setup.detect_agents())
    if not chosen:
        raise UsageError("no agent was found here: name one (see 'dowse agent --help')")
    folder = roots.resolve_root(root, allow_home=True)
    scope = folder if project else None
    agents = [setup.get_agent(name) for name in chosen]
    plans: list[Plan] = [partial(_plan_one, setup.plan_install, one, scope, folder) for one in agents]
    if instructions:
        plans.append(lambda: setup.plan_instructions(folder, chosen))
    plans.append(lambda: extras.plan_extras(Extras(**wanted), scope))
    return _apply_plans(plans, dry_run=dry_run)


@agent.command("uninstall")
@click.argument("names", nargs=-1, required=True, metavar="AGENT...")
@_project
@_extras
@_dry_run
@options.root
@options.debug
def uninstall(
    names: tuple[str, ...], project: bool, instructions: bool, dry_run: bool, root: str | None, **wanted: bool
) -> int:
    """Undo install: restore the files as they were."""
    folder = roots.resolve_root(root, allow_home=True)
    scope = folder if project else None
    agents = [setup.get_agent(name) for name in names]
    plans: list[Plan] = [partial(_plan_one, setup.plan_uninstall, one, scope) for one in agents]
    if instructions:
        plans.append(lambda: setup.plan_instructions_removal(folder))
    plans.append(lambda: extras.plan_extras_removal(Extras(**wanted), scope))
    return _apply_plans(plans, dry_run=dry_run, forget=True)


@agent.command("config")
@click.argument("name", metavar="AGENT")
@_project
@options.root
@options.debug
def config(name: str, project: bool, root: str | None) -> int:
    """Print what 'install' would write, and where, to paste it yourself."""
    chosen, folder = setup.get_agent(name), roots.resolve_root(root, allow_home=True)
    scope = folder if project else None
    output.remark(f"{chosen.title}: {setup.config_path(chosen, scope)}")
    output.write(setup.render_entry(chosen, scope, folder).rstrip("\n"))
    return 0


@agent.command("plugin")
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
@click.option("--remove", is_flag=True, help="Remove the files again, except those that were changed.")
@_dry_run
@options.debug
def plugin(folder: Path, remove: bool, dry_run: bool) -> int:
    """Write a plugin for Claude Code into DIR: the server, hooks, sub-agent, slash commands and skill.

    DIR is a marketplace of one plugin too: '/plugin marketplace add DIR', then '/plugin install dowse@dowse'.
    """
    target = folder.absolute()
    plan = extras.plan_plugin_removal if remove else extras.plan_plugin
    return _apply_plans([lambda: plan(target)], dry_run=dry_run, forget=remove)


@agent.command("hook", hidden=True)
@options.debug
def hook() -> int:
    """Answer an event of an agent, given as JSON on standard input; whatever goes wrong, it says nothing."""
    try:
        event = json.loads(sys.stdin.buffer.read(nudges.MAX_EVENT_BYTES))
    except (ValueError, RecursionError):
        return 0
    answer = nudges.answer_event(event) if isinstance(event, dict) else None
    if answer:
        output.write_json(answer)
    return 0


@agent.command("stats")
@click.option("--on/--off", "switched", default=None, help="Begin to count calls, or stop and forget them.")
@options.as_json
@options.debug
def stats(switched: bool | None, as_json: bool) -> int:
    """Report what agents were sent, and what reading the files whole would have taken.

    Off unless switched on. Calls are counted on this machine only, without queries and code.
    """
    if switched is not None:
        savings.switch(switched)
    is_on, tools = savings.find_log().exists(), savings.add_up(savings.read_log())
    total = savings.ToolSavings(
        "all", *(sum(column) for column in list(zip(*tools, strict=True))[1:] or [()] * 3)
    )
    if as_json:
        output.write_json(
            {"on": is_on, "tools": [each._asdict() for each in tools], "total": total._asdict()}
        )
    elif not is_on:
        output.remark("calls are not counted: 'dowse agent stats --on' begins")
    elif not tools:
        output.remark("calls are counted; there were none yet")
    else:
        output.write("\n".join(_draw_savings(tools, total)))
    return 0


def _draw_savings(tools: Sequence[savings.ToolSavings], total: savings.ToolSavings) -> list[str]:
    rows = [
        f"{each.tool:<10} {format_count(each.calls, 'call'):>12} {each.returned:>12,} {each.files:>14,}"
        for each in (*tools, total)
    ]
    share = 1 - total.returned / total.files if total.files else 0.0
    heading = f"{'tool':<10} {'':>12} {'tokens sent':>12} {'files, whole':>14}"
    return [heading, *rows, f"{share:.0%} fewer tokens than reading the files of the hits"]


def _plan_one(plan: Callable[..., FileEdit], *arguments: Any) -> list[FileEdit]:
    return [plan(*arguments)]


def _apply_plans(plans: Iterable[Plan], *, dry_run: bool, forget: bool = False) -> int:
    """Apply edits; a file that cannot be edited is named, and the others are edited all the same."""
    failed = False
    for plan in plans:
        try:
            edits = list(plan())
            _apply_edits(edits, dry_run=dry_run)
            for edit in edits if forget and not dry_run else ():
                setup.forget_backup(edit)
        except UsageError as error:
            output.remark(f"error: {escape_text(str(error))}")
            failed = True
    return FAILED if failed else 0


def _apply_edits(edits: Iterable[FileEdit], *, dry_run: bool) -> None:
    for edit in edits:
        if not edit.has_changes:
            output.remark(f"{_display(edit.path)}: nothing to change")
            continue
        output.write(escape_code(edit.diff()).rstrip("\n"))
        if not dry_run:
            setup.apply(edit)
            done = "removed" if edit.after is None else "written"
            output.remark(f"{_display(edit.path)}: {done}")


def _display(path: Path) -> str:
    return escape_text(str(path))
