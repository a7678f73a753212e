"""Discovery: what is indexed, and why the rest is not. Where git has an opinion, git is the witness."""

from __future__ import annotations

import os
import random
import shutil
import socket
import subprocess
from pathlib import Path

import pytest

from dowse.errors import RootError
from dowse.indexing.discover import Rules, check_path, discover
from dowse.indexing.stamps import stamp_of
from dowse.types.discovered import FoundFile, Skipped, SkipReason, Watched, WatchedPath, WatchKind

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is the witness")
posix_only = pytest.mark.skipif(os.name == "nt", reason="Windows has no such thing")

GIT_ENVIRONMENT = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
PLAIN = Rules(default_excludes=False)


def write(root: Path, *paths: str, **contents: str) -> None:
    """Files with a line each; keyword arguments are ignore files: ``gitignore="*.log"``."""
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x\n")
    for name, content in contents.items():
        (root / f".{name}").write_text(content)


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=x", "-c", "user.email=x@example.com", *arguments]
    done = subprocess.run(command, cwd=folder, env=GIT_ENVIRONMENT, capture_output=True, check=True)
    return done.stdout.decode()


def git_files(folder: Path, *options: str) -> list[str]:
    listed = git(folder, *options, "ls-files", "-z", "-co", "--exclude-standard")
    return sorted(path for path in listed.split("\0") if path and not path.endswith("/"))


def candidates(root: Path, rules: Rules = Rules()) -> list[str]:  # noqa: B008 - frozen
    return sorted(item.path for item in discover(root, rules) if isinstance(item, FoundFile))


def skipped(root: Path, rules: Rules = Rules()) -> dict[str, tuple[SkipReason, str]]:  # noqa: B008 - frozen
    return {item.path: item[1:] for item in discover(root, rules) if isinstance(item, Skipped)}


# --- ignore files -------------------------------------------------------------------------------


@needs_git
@posix_only
@pytest.mark.parametrize("seed", range(12))
def test_random_trees_with_nested_ignore_files_as_in_git(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    names = ["a", "b", "c", "ab", "x.py", "y.log", "#h", "!i", "s p", "long.name.txt"]
    patterns = [
        "*.log", "!*.log", "/a", "a/", "!a/", "b/*", "**/c", "a/**", "!a/b", "x.*", "[a-b]", "!ab", "\\#h", "\\!i",
        "s\\ p", "ab/  ", "*/", "!*/", "/*/b", "a/**/x.py", "?", "!?", "*.name.*", "c/**/", "/**/ab", "",
    ]  # fmt: skip
    git(tmp_path, "init", "-q")
    drawn = {"/".join(rng.choices(names, k=rng.randint(1, 4))) for _ in range(60)}
    folders = {path[:i] for path in drawn for i, char in enumerate(path) if char == "/"}
    write(tmp_path, *(drawn - folders))
    for folder in ["", *rng.sample(sorted(folders), 4)]:
        (tmp_path / folder / ".gitignore").write_text("\n".join(rng.choices(patterns, k=5)))
    (tmp_path / ".git/info/exclude").write_text("\n".join(rng.choices(patterns, k=2)))
    own = tmp_path / ".git/global"
    own.write_text("\n".join(rng.choices(patterns, k=2)))
    rules = Rules(default_excludes=False, global_ignore=own)
    expected = git_files(tmp_path, "-c", f"core.excludesFile={own}")
    assert candidates(tmp_path, rules) == expected
    for sub in {path.rpartition("/")[0] for path in expected} - {""}:
        below = [path.removeprefix(f"{sub}/") for path in expected if path.startswith(f"{sub}/")]
        assert candidates(tmp_path / sub, rules) == below


def test_a_verdict_names_file_line_and_pattern(tmp_path: Path) -> None:
    write(tmp_path, "a.log", "src/build/x.py", "src/a.py", gitignore="# logs\n\n*.log\n")
    (tmp_path / "src/.gitignore").write_text("/build/\n")
    assert skipped(tmp_path) == {
        "a.log": (SkipReason.IGNORED, ".gitignore:3 *.log"),
        "src/build/": (SkipReason.IGNORED, "src/.gitignore:1 /build/"),
    }


@needs_git
def test_ignore_files_above_the_root_and_of_the_repository(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    write(
        tmp_path,
        "sub/a.log",
        "sub/b.tmp",
        "sub/c.bak",
        "sub/d.py",
        "sub/e.txt",
        gitignore="*.log\n/sub/e.txt\n",
    )
    (tmp_path / ".git/info/exclude").write_text("*.tmp\n")
    (tmp_path / "own-ignore").write_text("*.bak\n")
    rules = Rules(global_ignore=tmp_path / "own-ignore")
    assert candidates(tmp_path / "sub", rules) == ["d.py"]
    assert skipped(tmp_path / "sub", rules) == {
        "a.log": (SkipReason.IGNORED, "../.gitignore:1 *.log"),
        "b.tmp": (SkipReason.IGNORED, "../.git/info/exclude:1 *.tmp"),
        "c.bak": (SkipReason.IGNORED, f"{tmp_path / 'own-ignore'}:1 *.bak"),
        "e.txt": (SkipReason.IGNORED, "../.gitignore:2 /sub/e.txt"),
    }


@needs_git
def test_a_root_that_git_ignores_is_indexed_all_the_same(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    write(tmp_path, "build/x.py", "build/x.log", gitignore="/build/\n*.log\n")
    assert candidates(tmp_path / "build") == ["x.py"]


def test_folders_above_that_are_no_repository_do_not_count(tmp_path: Path) -> None:
    write(tmp_path, "sub/a.log", gitignore="*.log\n", dowseignore="*.log\n")
    (tmp_path / ".git").mkdir()
    assert candidates(tmp_path / "sub") == ["a.log"]


@needs_git
@pytest.mark.parametrize("separate", [False, True], ids=[".git folder", ".git file"])
def test_a_repository_inside_starts_anew(separate: bool, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    write(
        tree,
        "a.log",
        "a.tmp",
        "inner/a.log",
        "inner/a.tmp",
        "inner/a.bak",
        "inner/a.py",
        gitignore="*.log\n*.py",
    )
    (tree / ".dowseignore").write_text("*.tmp\n")
    git(tree, "init", "-q")
    elsewhere = ["--separate-git-dir", str(tmp_path / "elsewhere")] if separate else []
    git(tree / "inner", "init", "-q", *elsewhere)
    exclude = (tmp_path / "elsewhere" if separate else tree / "inner/.git") / "info/exclude"
    exclude.write_text("*.bak\n")
    assert candidates(tree) == [".dowseignore", ".gitignore", "inner/a.log", "inner/a.py"]
    assert git_files(tree / "inner") == ["a.log", "a.py", "a.tmp"]
    own = str(exclude.resolve()) if separate else "inner/.git/info/exclude"
    assert skipped(tree)["inner/a.bak"] == (SkipReason.IGNORED, f"{own}:1 *.bak")


@needs_git
def test_a_worktree_shares_the_exclude_file(tmp_path: Path) -> None:
    main = tmp_path / "main"
    main.mkdir()
    git(main, "init", "-q")
    git(main, "commit", "-q", "--allow-empty", "-m", "x")
    (main / ".git/info/exclude").write_text("*.tmp\n")
    git(main, "worktree", "add", "-q", str(tmp_path / "other"))
    write(tmp_path / "other", "a.tmp", "a.py")
    assert candidates(tmp_path / "other") == git_files(tmp_path / "other") == ["a.py"]


@needs_git
@pytest.mark.parametrize(
    "configured", ["own-ignore", "{}/own-ignore", ""], ids=["relative", "absolute", "none"]
)
def test_a_repository_is_configured_to_have_an_ignore_file_of_its_own(
    configured: str, tmp_path: Path
) -> None:
    for folder in (tmp_path, tmp_path / "inner"):
        write(folder, "a.log", "a.tmp", "sub/b.log", "sub/b.tmp")
        git(folder, "init", "-q")
    git(tmp_path, "config", "core.excludesFile", configured.format(tmp_path))
    (tmp_path / "own-ignore").write_text("*.log\n")
    users = tmp_path / ".git/users-ignore"
    users.write_text("*.tmp\n")
    rules = Rules(default_excludes=False, global_ignore=users)
    (tmp_path / ".git/config-of-user").write_text(f"[core]\n\texcludesFile = {users}\n")
    inner = ["inner/a.log", "inner/sub/b.log"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(GIT_ENVIRONMENT, "GIT_CONFIG_GLOBAL", str(tmp_path / ".git/config-of-user"))
        expected = git_files(tmp_path)
        assert [f"inner/{path}" for path in git_files(tmp_path / "inner")] == inner
    assert candidates(tmp_path, rules) == sorted([*expected, *inner])
    below = [path.removeprefix("sub/") for path in expected if path.startswith("sub/")]
    assert candidates(tmp_path / "sub", rules) == below


@needs_git
@posix_only
def test_a_configuration_of_git_that_makes_no_sense_stops_nothing(tmp_path: Path) -> None:
    for name in ("null", "nobody", "pipe"):
        write(tmp_path, f"{name}/a.py")
        git(tmp_path / name, "init", "-q")
    (tmp_path / "null/.git/config").write_text("[core]\nexcludesFile = a\0b\n")
    (tmp_path / "nobody/.git/config").write_text("[core]\nexcludesFile = ~nobody-of-this-name/x\n")
    (tmp_path / "pipe/.git/config").unlink()
    os.mkfifo(tmp_path / "pipe/.git/config")
    assert candidates(tmp_path) == ["nobody/a.py", "null/a.py", "pipe/a.py"]


@needs_git
def test_a_work_tree_inside_is_left_out_unless_asked_for(tmp_path: Path) -> None:
    write(tmp_path, "src/a.py")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "x")
    git(tmp_path, "worktree", "add", "-q", "agents/one")
    git(tmp_path, "worktree", "add", "-q", "agents/one/inner")
    left_out = Skipped("agents/one/", SkipReason.WORK_TREE, f"of the repository at {tmp_path.resolve()}")
    assert candidates(tmp_path) == ["src/a.py"]
    assert skipped(tmp_path)["agents/one/"] == left_out[1:]
    assert check_path(tmp_path, "agents/one/src/a.py", Rules()) == left_out
    assert candidates(tmp_path / "agents") == []
    assert candidates(tmp_path / "agents/one") == ["src/a.py"]
    everything = ["agents/one/inner/src/a.py", "agents/one/src/a.py", "src/a.py"]
    assert candidates(tmp_path, PLAIN) == everything
    assert candidates(tmp_path, Rules(include=("src/", "agents/one/src/**"))) == everything[1:]
    (tmp_path / ".dowseignore").write_text("!agents/one/\n")
    assert candidates(tmp_path) == [".dowseignore", *everything[1:]]


@needs_git
def test_a_work_tree_that_repeats_nothing_is_indexed(tmp_path: Path) -> None:
    source, tree, several = (tmp_path / name for name in ("source", "tree", "several"))
    for folder in (source, tree, several):
        write(folder, "a.py")
    git(source, "init", "-q")
    git(source, "add", ".")
    git(source, "commit", "-q", "-m", "x")
    git(tree, "init", "-q")
    git(source, "worktree", "add", "-q", str(tree / "of-another"))
    git(tree, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(source), "module")
    assert candidates(tree) == [".gitmodules", "a.py", "module/a.py", "of-another/a.py"]
    git(several, "clone", "-q", "--bare", str(source), ".bare")
    (several / ".git").write_text("gitdir: ./.bare\n")
    git(several, "worktree", "add", "-q", "-b", "one", "one")
    assert "one/a.py" in candidates(several, Rules(exclude=(".bare/",)))


def test_ignore_files_can_be_switched_off(tmp_path: Path) -> None:
    write(tmp_path, "a.log", "b.tmp", gitignore="*.log\n", dowseignore="*.tmp\n")
    assert {"a.log", "b.tmp"} <= set(candidates(tmp_path, Rules(use_ignore_files=False)))


@posix_only
def test_an_ignore_file_that_is_a_link_or_a_pipe_is_not_read(tmp_path: Path) -> None:
    write(tmp_path, "a.log", "sub/a.log", "patterns")
    (tmp_path / "patterns").write_text("*.log\n")
    (tmp_path / ".gitignore").symlink_to("patterns")
    os.mkfifo(tmp_path / "sub/.gitignore")
    assert candidates(tmp_path) == ["a.log", "patterns", "sub/a.log"]


# --- .dowseignore, include, exclude -------------------------------------------------------------


def test_dowseignore_wins_over_gitignore(tmp_path: Path) -> None:
    write(tmp_path, "a.log", "keep.log", "b.py", gitignore="*.log\n", dowseignore="!keep.log\nb.py\n")
    assert candidates(tmp_path, PLAIN) == [".dowseignore", ".gitignore", "keep.log"]
    assert skipped(tmp_path)["b.py"] == (SkipReason.IGNORED, ".dowseignore:2 b.py")


def test_dowseignore_brings_back_one_file_of_an_ignored_folder(tmp_path: Path) -> None:
    write(tmp_path, "gen/api/a.py", "gen/api/b.py", "gen/c.py", "gen/x/d.py", gitignore="gen/\n")
    assert candidates(tmp_path) == [".gitignore"]
    (tmp_path / ".dowseignore").write_text("!gen/api/a.py\n")
    assert candidates(tmp_path) == [".dowseignore", ".gitignore", "gen/api/a.py"]
    because = (SkipReason.IGNORED, ".gitignore:1 gen/")
    assert skipped(tmp_path) == {"gen/api/b.py": because, "gen/c.py": because, "gen/x/": because}


def test_gitignore_cannot_bring_back_a_file_of_an_ignored_folder(tmp_path: Path) -> None:
    write(tmp_path, "gen/a.py", gitignore="gen/\n!gen/a.py\n")
    assert skipped(tmp_path) == {"gen/": (SkipReason.IGNORED, ".gitignore:1 gen/")}


def test_dowseignore_brings_back_a_folder_with_what_is_in_it(tmp_path: Path) -> None:
    write(tmp_path, "node_modules/ours/a.js", "node_modules/theirs/b.js", "gen/a.py", gitignore="gen/\n")
    (tmp_path / ".dowseignore").write_text("!gen/\n!node_modules/ours/\n")
    found = candidates(tmp_path)
    assert found == [".dowseignore", ".gitignore", "gen/a.py", "node_modules/ours/a.js"]


def test_a_catch_all_in_dowseignore_does_not_open_what_others_closed(tmp_path: Path) -> None:
    write(tmp_path, "src/a.py", "src/a.txt", "node_modules/a.py", "gen/a.py", gitignore="gen/\n")
    (tmp_path / ".dowseignore").write_text("*\n!*/\n!*.py\n")
    assert candidates(tmp_path) == ["src/a.py"]
    assert {"node_modules/", "gen/"} <= skipped(tmp_path).keys()


def test_exclude_wins_over_everything(tmp_path: Path) -> None:
    write(tmp_path, "a.py", "b.py", "old/c.py", "old/keep.py", dowseignore="!a.py\n!old/keep.py\n")
    rules = Rules(include=("*.py", "old/keep.py"), exclude=("a.py", "/old/", "!b.py"))
    assert candidates(tmp_path, rules) == ["b.py"]
    assert skipped(tmp_path, rules)["a.py"] == (SkipReason.EXCLUDED, "exclude a.py")
    assert skipped(tmp_path, rules)["old/"] == (SkipReason.EXCLUDED, "exclude /old/")


def test_include_selects(tmp_path: Path) -> None:
    write(tmp_path, "src/a.py", "src/deep/b.py", "src/c.txt", "docs/d.py", "top.py")
    assert candidates(tmp_path, Rules(include=("*.py",))) == [
        "docs/d.py",
        "src/a.py",
        "src/deep/b.py",
        "top.py",
    ]
    assert candidates(tmp_path, Rules(include=("src/",))) == ["src/a.py", "src/c.txt", "src/deep/b.py"]
    assert candidates(tmp_path, Rules(include=("src/**/*.py",))) == ["src/a.py", "src/deep/b.py"]
    assert candidates(tmp_path, Rules(include=("/src/*.py", "!a.py", "top.py"))) == ["top.py"]
    reasons = skipped(tmp_path, Rules(include=("src/*.py",)))
    assert reasons["docs/"] == (SkipReason.NOT_INCLUDED, "no pattern leads here")
    assert reasons["src/c.txt"] == (SkipReason.NOT_INCLUDED, "no pattern matches")


@pytest.mark.parametrize(
    ("include", "expected"),
    [
        ("*.py", ["a.py"]),
        ("*.lock", []),
        ("uv.lock", ["uv.lock"]),
        ("gen/*.py", ["gen/a.py", "gen/ignored.py"]),
        ("gen/ignored.py", ["gen/ignored.py"]),
        ("gen/**", ["gen/a.py"]),
        ("vendor/lib/**", ["vendor/lib/a.py"]),
        ("vendor/lib/*", ["vendor/lib/a.py"]),
        ("vendor/lib/node_modules/x.py", ["vendor/lib/node_modules/x.py"]),
        ("node_modules/", ["node_modules/y.py", "vendor/lib/node_modules/x.py"]),
    ],
)
def test_include_brings_back_what_it_names(include: str, expected: list[str], tmp_path: Path) -> None:
    write(tmp_path, "a.py", "uv.lock", "gen/a.py", "gen/ignored.py", "vendor/lib/a.py", "vendor/other/a.py")
    write(tmp_path, "vendor/lib/node_modules/x.py", "node_modules/y.py")
    (tmp_path / ".gitignore").write_text("/gen/\nignored.py\n/vendor\n")
    if include == "node_modules/":  # unanchored: names the folder wherever a walk comes by it
        (tmp_path / ".gitignore").write_text("/gen/\nignored.py\n")
    assert candidates(tmp_path, Rules(include=(include,))) == expected


# --- what is skipped by default ----------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        ".git/config", ".hg/x", ".dowse/x", ".venv/x.py", "venv/x.py", "node_modules/x.js", "a/__pycache__/x.py",
        ".idea/x.xml", "pkg.egg-info/PKG-INFO", "package-lock.json", "Cargo.lock", "go.sum", "a.min.js", "a-min.css",
        "a.js.map", "a.bundle.js", "x.PNG", "x.tar.gz", "x.woff2", "x.so", "x.docx",
    ],
)  # fmt: skip
def test_left_out_by_default(path: str, tmp_path: Path) -> None:
    write(tmp_path, path)
    assert candidates(tmp_path) == []
    assert {reason for reason, _ in skipped(tmp_path).values()} <= {
        SkipReason.DEFAULT_EXCLUDED,
        SkipReason.MINIFIED,
        SkipReason.BINARY,
    }


@pytest.mark.parametrize(
    ("beside", "path"),
    [
        ("Cargo.toml", "target/x.rs"),
        ("pom.xml", "target/x.java"),
        ("build.gradle.kts", "build/x.java"),
        ("package.json", "dist/x.js"),
        ("tsconfig.json", "out/x.js"),
        ("App.csproj", "obj/x.json"),
        ("mix.exs", "deps/x.ex"),
        ("env/pyvenv.cfg", "env/x.py"),
        ("release/CMakeCache.txt", "release/x.cmake"),
        ("store/CACHEDIR.TAG", "store/x.json"),
        ("build/bdist.linux-x86_64/x", "build/lib/x.py"),
    ],
)
def test_output_folders_are_known_by_their_surroundings(beside: str, path: str, tmp_path: Path) -> None:
    write(tmp_path, path)
    assert candidates(tmp_path) == [path]
    write(tmp_path, beside)
    folder = path.split("/")[0]
    assert path not in candidates(tmp_path)
    assert skipped(tmp_path)[f"{folder}/"][0] is SkipReason.DEFAULT_EXCLUDED


@pytest.mark.parametrize(
    ("tool", "signs"),
    [
        ("javadoc", ["allclasses-index.html", "help-doc.html"]),
        ("javadoc", ["package-list", "index-all.html"]),
        ("doxygen", ["doxygen.css", "index.html"]),
        ("sphinx", ["objects.inv", "searchindex.js"]),
        ("rustdoc", ["search-index.js", "static.files/x.js"]),
        ("typedoc", ["assets/search.js", "modules.html", "index.html"]),
        ("dokka", ["navigation.html", "package-list"]),
        ("yard", ["_index.html", "class_list.html", "method_list.html"]),
        ("ex_doc", ["api-reference.html", "search.html", "dist/x.css"]),
    ],
)
def test_documentation_that_a_tool_made_of_code_is_skipped(
    tool: str, signs: list[str], tmp_path: Path
) -> None:
    pages = [f"site/api/shop/Class{n}.html" for n in range(20)]
    write(tmp_path, "site/guide.html", *pages, *(f"site/api/{sign}" for sign in signs))
    assert candidates(tmp_path) == ["site/guide.html"]
    assert skipped(tmp_path)["site/api/"] == (
        SkipReason.DEFAULT_EXCLUDED,
        f"documentation generated by {tool}",
    )
    write(tmp_path, "site/api/guide.md")  # somebody writes here as well
    assert len(candidates(tmp_path)) > len(pages)


@pytest.mark.parametrize(
    "paths",
    [
        ["docs/index.html", "docs/search.html"],
        ["docs/index.html", "docs/package-list"],
        ["assets/a.css", "index.html"],
        ["build/x.py"],
        ["build/webpack.conf.js", "package.json"],
        ["dist/__init__.py", "dist/x.py", "package.json"],
        ["venv/__init__.py", "venv/x.py"],
        ["src/target/x.rs", "Cargo.toml"],
        ["lib/out/x.ts", "tsconfig.json"],
        ["linker.map", "latest.lock.py", "a.svg", "x.mo", "CVS"],
        [".github/workflows/ci.yml", ".env.example", ".vscode/settings.json"],
    ],
)
def test_not_left_out_by_default(paths: list[str], tmp_path: Path) -> None:
    write(tmp_path, *paths)
    assert candidates(tmp_path) == sorted(paths)


def test_defaults_can_be_switched_off_but_not_for_version_control(tmp_path: Path) -> None:
    write(tmp_path, "node_modules/x.js", "uv.lock", ".git/x", ".dowse/x", "target/x.rs", "Cargo.toml")
    expected = ["Cargo.toml", "node_modules/x.js", "target/x.rs", "uv.lock"]
    assert candidates(tmp_path, Rules(default_excludes=False)) == expected
    assert candidates(tmp_path, Rules(include=(".git/x",))) == []


def test_the_root_itself_is_not_judged(tmp_path: Path) -> None:
    write(tmp_path / "node_modules", "x.js", "pyvenv.cfg")
    assert candidates(tmp_path / "node_modules") == ["pyvenv.cfg", "x.js"]


# --- the file system ----------------------------------------------------------------------------


def test_size_limits(tmp_path: Path) -> None:
    write(tmp_path, "fits.txt", "large.txt", "empty.txt")
    (tmp_path / "large.txt").write_text("x" * 11)
    (tmp_path / "fits.txt").write_text("x" * 10)
    (tmp_path / "empty.txt").write_text("")
    assert candidates(tmp_path, Rules(max_file_size=10)) == ["empty.txt", "fits.txt"]
    assert skipped(tmp_path, Rules(max_file_size=10)) == {
        "large.txt": (SkipReason.TOO_LARGE, "11 bytes, the limit is 10"),
    }


@posix_only
def test_links_are_not_followed(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    write(tree, "a/x.py")
    write(tmp_path, "outside/y.py")
    for name, target in {
        "inside": "a", "out": "../outside", "file.py": "a/x.py", "broken": "nowhere", "a/loop": "..", "self": "self",
    }.items():  # fmt: skip
        (tree / name).symlink_to(target)
    assert candidates(tree) == ["a/x.py"]
    found = skipped(tree)
    assert sorted(found) == ["a/loop", "broken", "file.py", "inside", "out", "self"]
    assert found["out"] == (SkipReason.SYMLINK, "to ../outside")
    assert {reason for reason, _ in found.values()} == {SkipReason.SYMLINK}


@posix_only
def test_the_root_may_be_a_link(tmp_path: Path) -> None:
    write(tmp_path / "real", "x.py")
    (tmp_path / "link").symlink_to("real")
    assert candidates(tmp_path / "link") == ["x.py"]
    assert isinstance(check_path(tmp_path / "link", str(tmp_path / "link/x.py"), Rules()), FoundFile)
    assert isinstance(check_path(tmp_path / "link", str(tmp_path / "real/x.py"), Rules()), FoundFile)


@posix_only
def test_pipes_and_sockets_are_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    monkeypatch.chdir(tmp_path)  # the path of a socket must be short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket.py")
        assert skipped(tmp_path) == {
            "pipe.py": (SkipReason.NOT_A_FILE, "a pipe"),
            "socket.py": (SkipReason.NOT_A_FILE, "a socket"),
        }


def test_what_vanishes_during_the_walk_is_reported_and_the_walk_goes_on(tmp_path: Path) -> None:
    write(tmp_path, "a.py", "b.py", "c/x.py", "d.py")
    walk = discover(tmp_path, Rules())
    assert [next(walk).path, next(walk).path] == [WatchedPath(WatchKind.FOLDER, ""), "a.py"]
    (tmp_path / "b.py").unlink()
    shutil.rmtree(tmp_path / "c")
    lost, folder, last = walk
    assert (lost.path, folder.path, last.path) == ("b.py", "c/", "d.py")
    assert isinstance(lost, Skipped)
    assert isinstance(folder, Skipped)
    assert lost.reason is folder.reason is SkipReason.UNREADABLE
    assert isinstance(last, FoundFile)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_folder_is_reported(tmp_path: Path) -> None:
    write(tmp_path, "a/x.py", "b.py")
    (tmp_path / "a").chmod(0)
    try:
        assert skipped(tmp_path) == {"a/": (SkipReason.UNREADABLE, "Permission denied")}
    finally:
        (tmp_path / "a").chmod(0o700)


@posix_only
def test_unusual_names(tmp_path: Path) -> None:
    names = ["two\nlines.py", "émoji 🎉.py", "back\\slash.py", " space ", "-rf", "*.py", "ﬁ.py"]
    write(tmp_path, *names)
    assert candidates(tmp_path) == sorted(names)


@posix_only
def test_a_name_that_is_not_utf8_is_reported(tmp_path: Path) -> None:
    try:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.py")).write_text("x")
    except OSError:
        pytest.skip("this file system has no such names")
    write(tmp_path, "x.py")
    assert candidates(tmp_path) == ["x.py"]
    assert skipped(tmp_path) == {"caf\\xe9.py": (SkipReason.UNREADABLE, "its name is not valid UTF-8")}


def test_a_deep_tree_is_walked(tmp_path: Path) -> None:
    deep = "/".join(["d"] * 200 if os.name != "nt" else ["d"] * 20)
    write(tmp_path, f"{deep}/x.py")
    assert candidates(tmp_path) == [f"{deep}/x.py"]


def test_order_and_folders(tmp_path: Path) -> None:
    write(tmp_path, "b/z.py", "b/a/x.py", "a.py", "c.py", "b.py")
    found = list(discover(tmp_path, Rules()))
    paths = [item.path.path if isinstance(item, Watched) else item.path for item in found]
    assert paths == ["", "a.py", "b", "b/a", "b/a/x.py", "b/z.py", "b.py", "c.py"]
    watched = [item.path for item in found if isinstance(item, Watched)]
    assert watched == [WatchedPath(WatchKind.FOLDER, path) for path in ("", "b", "b/a")]
    for path, item in zip(paths, found, strict=True):
        assert not isinstance(item, Skipped)
        changed_ns = item.stamp.changed_ns if isinstance(item, FoundFile) else item.time.changed_ns
        assert changed_ns == stamp_of((tmp_path / path).stat()).changed_ns
    assert [item.path for item in found] == [item.path for item in discover(tmp_path, Rules())]


def test_a_root_that_cannot_be_read(tmp_path: Path) -> None:
    write(tmp_path, "x.py")
    for root in (tmp_path / "missing", tmp_path / "x.py"):
        with pytest.raises(RootError, match="cannot read"):
            list(discover(root, Rules()))


# --- one path ------------------------------------------------------------------------------------


def test_why_says_what_discover_says(tmp_path: Path) -> None:
    write(tmp_path, "src/a.py", "src/b.log", "gen/deep/a.py", "gen/keep.py", "node_modules/x/y.js", "uv.lock")
    write(tmp_path, gitignore="*.log\ngen/\n", dowseignore="!gen/keep.py\n")
    rules = Rules()
    said = {item for item in discover(tmp_path, rules) if not isinstance(item, Watched)}
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files
    answers = {check_path(tmp_path, path.relative_to(tmp_path).as_posix(), rules) for path in files}
    assert answers == said


def test_why_names_the_folder_that_is_left_out(tmp_path: Path) -> None:
    write(tmp_path, "gen/deep/a.py", gitignore="gen/\n")
    expected = Skipped("gen/", SkipReason.IGNORED, ".gitignore:1 gen/")
    assert check_path(tmp_path, "gen/deep/a.py", Rules()) == expected
    assert check_path(tmp_path, "./gen/../gen/deep/missing.py", Rules()) == expected


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("missing.py", SkipReason.MISSING),
        ("src/missing/x.py", SkipReason.MISSING),
        ("src/a.py/x", SkipReason.MISSING),
        ("nul\0.py", SkipReason.MISSING),
        ("../x.py", SkipReason.OUTSIDE),
        ("/etc/passwd", SkipReason.OUTSIDE),
        ("src", SkipReason.NOT_A_FILE),
        (".", SkipReason.NOT_A_FILE),
    ],
)
def test_why_without_a_file(path: str, reason: SkipReason, tmp_path: Path) -> None:
    write(tmp_path, "src/a.py")
    answer = check_path(tmp_path, path, Rules())
    assert isinstance(answer, Skipped)
    assert answer.reason is reason
    assert answer.detail


@posix_only
def test_why_does_not_follow_links(tmp_path: Path) -> None:
    write(tmp_path, "tree/a.py", "outside/b.py")
    (tmp_path / "tree/link").symlink_to("../outside")
    answer = check_path(tmp_path / "tree", "link/b.py", Rules())
    assert answer == Skipped("link", SkipReason.SYMLINK, "to ../outside")
