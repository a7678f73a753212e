"""Command line of the running installation, by which other programs (agents, git hooks) start this very dowse."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path


def launch_command() -> list[str]:
    """Return the script beside this Python, or else the call of the module."""
    script = shutil.which("dowse", path=str(Path(sys.executable).parent))
    return [script] if script else [sys.executable, "-m", "dowse"]
