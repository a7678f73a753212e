"""A git configuration: the ignore file that it names, or none."""

from dowse import git_config
from fuzz.inputs import make_folder


def run(data: bytes) -> None:
    """Read a configuration file."""
    path = make_folder("git-config") / "config"
    path.write_bytes(data)
    found = git_config.read_excludes_file(path)
    assert found is None or "\0" not in found
