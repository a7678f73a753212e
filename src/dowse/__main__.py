"""Entry point of the program: where ``dowse`` and ``python -m dowse`` begin."""

from __future__ import annotations

import os
import sys

from dowse import __version__
from dowse.server_client import ask_server

INTERRUPTED = 130
"""The exit code of a program stopped by Ctrl-C: 128 and the number of the signal."""


def main() -> None:
    """Run the command line and leave with its exit code; a server that runs may answer."""
    try:
        code = ask_server(sys.argv[1:], os.environ, __version__)
        if code is None:
            from dowse.gc_pause import gc_paused

            with gc_paused():
                from dowse.interfaces.cli.run_command import run

            code = run(sys.argv[1:])
    except KeyboardInterrupt:  # while modules were being loaded, or at the very end
        code = INTERRUPTED
    sys.exit(code)


if __name__ == "__main__":
    main()
