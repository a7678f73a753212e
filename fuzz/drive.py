"""Run one target under atheris: ``python -m fuzz.drive TARGET [options of libFuzzer] FOLDER...``."""

from __future__ import annotations

import sys
import warnings


def main() -> None:
    """Watch the branches of dowse that a target takes, and hand it input after input; does not return."""
    import atheris

    warnings.simplefilter("ignore")  # about bytes that the instrumentation makes of valid code
    name, *options = sys.argv[1:]
    with atheris.instrument_imports(include=["dowse", "fuzz.targets"], enable_loader_override=False):
        from fuzz.targets import TARGETS

        run = TARGETS[name].load()
    atheris.Setup([f"fuzz {name}", *options], run)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
