"""``dowse agent``: install, uninstall or print the MCP configuration of coding agents."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from dowse import roots
from dowse.errors import UsageError
from dowse.interfaces.agents import setup
from dowse.interfaces.cli import options, output
from dowse.interfaces.theme import escape_code, escape_text

if TYPE_CHECKING:
    from dowse.interfaces.agents.setup import FileEdit

F = TypeVar("F", bound=Callable[..., Any])


def _project(command: F) -> F:
    return click.option(
        "--project", is_flag=True, help="Write the project's own file (to share it), not the user's."
    )(command)


def _dry_run(command: F) -> F:
    return click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")(
        command
    )


@click.group(no_args_is_help=False)
def agent() -> None:
    """Set up coding agents to use dowse.

    Known are claude-code, claude-desktop, cursor, vscode, codex, opencode, gemini, windsurf, zed, copilot-cli,
    kiro and roo.
    """


@agent.command("install")
@click.argument("names", nargs=-1, metavar="[AGENT]...")
@_project
@click.option("--instructions", is_flag=True, help="Also add a section to AGENTS.md, CLAUDE.md or GEMINI.md.")
@click.option("--skill", is_flag=True, help="Also add a skill (.claude/skills/dowse).")
@_dry_run
@options.root
@options.debug
def install(
    names: tuple[str, ...], project: bool, instructions: bool, skill: bool, dry_run: bool, root: str | None
) -> int:
    """Write the set-up of dowse into the files of agents, and show what changed.

    Without AGENT: all agents that seem to be in use on this machine. A second run changes nothing.
    """
    chosen = names or tuple(setup.detect_agents())
    if not chosen:
        raise UsageError("no agent was found here: name one (see 'dowse agent --help')")
    folder = roots.resolve_root(root, allow_home=True)
    scope = folder if project else None
    edits = [setup.plan_install(setup.get_agent(name), scope, folder) for name in chosen]
    edits += setup.plan_instructions(folder, chosen) if instructions else []
    edits += [setup.plan_skill(folder)] if skill else []
    return _apply_edits(edits, dry_run=dry_run)


@agent.command("uninstall")
@click.argument("names", nargs=-1, required=True, metavar="AGENT...")
@_project
@click.option("--instructions", is_flag=True, help="Also take the section out of AGENTS.md and the like.")
@click.option("--skill", is_flag=True, help="Also remove the skill.")
@_dry_run
@options.root
@options.debug
def uninstall(
    names: tuple[str, ...], project: bool, instructions: bool, skill: bool, dry_run: bool, root: str | None
) -> int:
    """Undo install: restore the files as they were."""
    folder = roots.resolve_root(root, allow_home=True)
    scope = folder if project else None
    edits = [setup.plan_uninstall(setup.get_agent(name), scope) for name in names]
    edits += setup.plan_instructions_removal(folder) if instructions else []
    edits += [setup.plan_skill_removal(folder)] if skill else []
    code = _apply_edits(edits, dry_run=dry_run)
    for edit in edits if not dry_run else ():
        setup.forget_backup(edit)
    return code


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


def _apply_edits(edits: Iterable[FileEdit], *, dry_run: bool) -> int:
    for edit in edits:
        if not edit.has_changes:
            output.remark(f"{_display(edit.path)}: nothing to change")
            continue
        output.write(escape_code(edit.diff()).rstrip("\n"))
        if not dry_run:
            setup.apply(edit)
            done = "removed" if edit.after is None else "written"
            output.remark(f"{_display(edit.path)}: {done}")
    return 0


def _display(path: Path) -> str:
    return escape_text(str(path))
