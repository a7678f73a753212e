"""``dowse completion``: shell completion scripts (bash, zsh, fish) for commands, options and their values."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from dowse.interfaces.cli import cli, options, output
from dowse.interfaces.cli.run_command import COMPLETE_VARIABLE


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@options.debug
def completion(shell: str) -> int:
    """Print the completion script of a shell.

    \b
      bash:  eval "$(dowse completion bash)"           in ~/.bashrc
      zsh:   eval "$(dowse completion zsh)"            in ~/.zshrc
      fish:  dowse completion fish | source            in ~/.config/fish/config.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None
    script = kind(cli, {}, "dowse", COMPLETE_VARIABLE)
    output.write(script.source_template % script.source_vars())
    return 0
