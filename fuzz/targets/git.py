"""Git's own files: index, HEAD, references, packed references, the file that points to them, configuration, ignores."""

from dowse.indexing import git_index
from dowse.indexing.ignore_files import IgnoreFiles
from fuzz.inputs import choose, make_folder

PATHS = ("a", "src/a.py", "src/b.py", "src/naïve.py")
COMMIT = b"0123456789abcdef0123456789abcdef01234567"


def run(data: bytes) -> None:
    """Put the input where one of the files is, and read the revision and the ignore files."""
    folder = make_folder("git")
    git_folder = folder / "main" / ".git"
    (git_folder / "refs" / "heads").mkdir(parents=True, exist_ok=True)
    linked = folder / "linked"
    linked.mkdir(exist_ok=True)
    files = {
        git_folder / "index": b"",
        git_folder / "HEAD": b"ref: refs/heads/main\n",
        git_folder / "packed-refs": COMMIT + b" refs/heads/main\n",
        git_folder / "refs" / "heads" / "main": COMMIT + b"\n",
        git_folder / "commondir": b".",
        git_folder / "config": b"[core]\n\tbare = false\n",
        linked / ".git": b"gitdir: ../main/.git\n",
    }
    choice, content = choose(data, len(files))
    for number, (path, plain) in enumerate(files.items()):
        path.write_bytes(content if number == choice else plain)
    if choice == 2:
        (git_folder / "refs" / "heads" / "main").unlink()
    git_index._find_common_folder.cache_clear()
    for root in (folder / "main", linked):
        found = git_index.read_revision(root, PATHS)
        assert found is None or set(found.dirty) <= set(PATHS)
        git_index.find_hooks_folder(root)
        IgnoreFiles(root, None).read_outer()
