"""A process that runs commands of dowse one after another, each as if it had been started for it alone.

Reads a list of command lines and what they find on standard input; writes a line with exit code and text for each.
"""

from __future__ import annotations

import io
import json
import os
import resource
import signal
import sys
import threading
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from dowse.interfaces.cli.run_command import run


class Screen(io.StringIO):
    """Takes what a command writes; interrupts one that says that it goes on until it is interrupted."""

    def write(self, text: str) -> int:
        """Keep the text."""
        if "Ctrl-C ends it" in text:
            threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        return super().write(text)


def run_one(args: list[str], stdin: str) -> tuple[int, str]:
    """Run a command; its exit code, and all that it wrote."""
    screen = Screen()
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin.encode()), "utf-8")
    with redirect_stdout(screen), redirect_stderr(screen):
        code = run(args)
    return code, screen.getvalue()


def main(cpu_seconds: int, memory_bytes: int, folder: Path) -> None:
    """Run the commands that standard input names, in a folder, within limits; 0 bytes are no limit."""
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))
    if memory_bytes:
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    commands, stdin = json.load(sys.stdin)
    sys.path[:] = [os.path.abspath(entry) for entry in sys.path]
    os.chdir(folder)
    for args in commands:
        print(json.dumps(run_one(args, stdin)), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
