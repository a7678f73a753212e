"""``dowse agent``: tell coding agents about dowse, or take it back."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from dowse.errors import UsageError
from dowse.interfaces.cli import options

if TYPE_CHECKING:
    from dowse.interfaces.agents.setup import Change

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
    """Tell agents how to start dowse, and show what changed.

    Without AGENT: all that seem to be in use on this machine. Doing it again changes nothing.
    """
    from dowse import roots
    from dowse.interfaces.agents import setup

    chosen = names or tuple(setup.detected())
    if not chosen:
        raise UsageError("no agent was found here: name one (see 'dowse agent --help')")
    folder = roots.root_of(root, any_root=True)
    scope = folder if project else None
    changes = [setup.installing(setup.agent_named(name), scope, folder) for name in chosen]
    changes += setup.advising(folder, chosen) if instructions else []
    changes += [setup.teaching(folder)] if skill else []
    return _carry_out(changes, dry_run=dry_run)


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
    """Take it back: the files are as they were before."""
    from dowse import roots
    from dowse.interfaces.agents import setup

    folder = roots.root_of(root, any_root=True)
    scope = folder if project else None
    changes = [setup.uninstalling(setup.agent_named(name), scope) for name in names]
    changes += setup.advising_no_more(folder) if instructions else []
    changes += [setup.teaching_no_more(folder)] if skill else []
    code = _carry_out(changes, dry_run=dry_run)
    for change in changes if not dry_run else ():
        setup.forget(change)
    return code


@agent.command("config")
@click.argument("name", metavar="AGENT")
@_project
@options.root
@options.debug
def config(name: str, project: bool, root: str | None) -> int:
    """Print what 'install' would write, to be pasted, and say where."""
    from dowse import roots
    from dowse.interfaces.agents import setup
    from dowse.interfaces.cli import output

    chosen, folder = setup.agent_named(name), roots.root_of(root, any_root=True)
    scope = folder if project else None
    output.remark(f"{chosen.title}: {setup.file_of(chosen, scope)}")
    output.write(setup.rendered(chosen, scope, folder).rstrip("\n"))
    return 0


def _carry_out(changes: Iterable[Change], *, dry_run: bool) -> int:
    from dowse.interfaces.agents import setup
    from dowse.interfaces.cli import output
    from dowse.interfaces.theme import visible_code

    for change in changes:
        if not change.is_one:
            output.remark(f"{_shown(change.path)}: nothing to change")
            continue
        output.write(visible_code(change.diff()).rstrip("\n"))
        if not dry_run:
            setup.apply(change)
            done = "removed" if change.after is None else "written"
            output.remark(f"{_shown(change.path)}: {done}")
    return 0


def _shown(path: Path) -> str:
    from dowse.interfaces.theme import visible

    return visible(str(path))
