"""The shape of the program, held: imports point downwards, and side effects stay where they belong."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "dowse"
MODULES = sorted(SOURCE.rglob("*.py"))

LAYERS = [
    {"frozen", "lazy_regex", "server_client"},
    {"types", "errors", "gc_pause", "lazy_rows", "lru", "serialization", "safe_files", "lifeline"},
    {"filters", "settings_files", "settings_schema", "tree_settings", "query_files"},
    {"git_config"},
    {"settings", "roots", "index_folder"},
    {"code", "services"},
    {"stores", "embedders"},
    {"indexing", "search", "graph"},
    {"tree_context"},
    {"managed_index"},
    {"engine"},
    {"multi_repo", "evaluation"},
    {"interfaces"},
    {"__main__"},
]
LEVEL = {part: level for level, parts in enumerate(LAYERS) for part in parts}

MAY_IMPORT_BESIDE = {("roots", "settings"), ("roots", "index_folder"), ("index_folder", "settings")}
"""Parts of one layer that may see each other; any others of one layer may not."""

SQL = re.compile(
    r"\b(SELECT .+ FROM|INSERT (OR IGNORE )?INTO|DELETE FROM|UPDATE \w+ SET|CREATE TABLE|PRAGMA )\b"
)

POSSESSIVE_GROUP = re.compile(r"\)(?:[*+?]|\{\d*,?\d*\})\+")
"""Before 3.11.5, Python matches these wrongly where the group can go back; an atomic group does the same."""


def part_of(module: str) -> str:
    """``dowse.search.ranking.fusion`` -> ``search``."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def module_name(path: Path) -> str:
    parts = ("dowse", *path.relative_to(SOURCE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path) -> Iterator[str]:
    """Every dowse module that a file imports, also inside functions."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "dowse":
            if node.module == "dowse":
                yield from (f"dowse.{alias.name}" for alias in node.names)
            else:
                yield node.module
                yield from (
                    f"{node.module}.{alias.name}"
                    for alias in node.names
                    if (SOURCE / Path(*node.module.split(".")[1:]) / f"{alias.name}.py").exists()
                )
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "dowse")


def test_every_part_has_a_place() -> None:
    parts = {part_of(module_name(path)) for path in MODULES} - {"__init__"}
    assert parts <= LEVEL.keys()


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_imports_point_downwards(path: Path) -> None:
    here = part_of(module_name(path))
    if here == "__init__":
        return
    for target in imports(path):
        there = part_of(target)
        if there in (here, "__init__", "__version__"):
            continue
        allowed = LEVEL[there] < LEVEL[here] or (here, there) in MAY_IMPORT_BESIDE
        assert allowed, f"{module_name(path)} imports {target}"


@pytest.mark.parametrize("part", ["indexing", "search", "graph"])
def test_pipelines_see_only_the_protocols(part: str) -> None:
    for path in (SOURCE / part).rglob("*.py"):
        for target in imports(path):
            if part_of(target) in ("stores", "embedders"):
                assert target in ("dowse.stores.protocol", "dowse.embedders.embedder"), (
                    f"{module_name(path)}: {target}"
                )


MAY_BYPASS_THE_ENGINE = {("dowse.interfaces.hooks", "dowse.indexing.git_index")}
"""Hooks are files of git: there need be no index, nor an engine."""


@pytest.mark.parametrize("path", sorted((SOURCE / "interfaces").rglob("*.py")), ids=module_name)
def test_interfaces_ask_the_engine(path: Path) -> None:
    for target in imports(path):
        if part_of(target) in ("stores", "indexing") and target != "dowse.indexing":
            assert (module_name(path), target) in MAY_BYPASS_THE_ENGINE
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and re.search(r"\b_?engine$", ast.unparse(node.value)):
            assert node.attr != "store" and not node.attr.startswith("_"), ast.unparse(node)


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_sql_only_in_stores(path: Path) -> None:
    if "stores" not in path.relative_to(SOURCE).parts and "languages" not in path.parts:
        assert not SQL.search(path.read_text(encoding="utf-8")), f"SQL in {module_name(path)}"


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_no_possessive_groups(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
            text = node.value if isinstance(node.value, str) else node.value.decode("latin-1")
            assert not POSSESSIVE_GROUP.search(text), f"write (?>(?:...)*) instead, in {module_name(path)}"


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_environment_only_in_settings(path: Path) -> None:
    if path.name not in ("settings.py", "__main__.py"):  # which asks a server before it imports anything
        assert not re.search(r"\bos\.(environ|getenv)\b", path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_printing_only_in_interfaces(path: Path) -> None:
    if part_of(module_name(path)) in ("interfaces", "__main__"):
        return
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            assert called not in ("print", "click.echo", "sys.stdout.write", "sys.stderr.write"), module_name(
                path
            )


def test_architecture_page_names_every_folder() -> None:
    page = (SOURCE.parent.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
    folders = {path.parent.relative_to(SOURCE).as_posix() for path in MODULES} - {"."}
    missing = [folder for folder in sorted(folders) if f"`{folder}/`" not in page]
    assert not missing


ONE_FILE_PER_ROW = (
    "code/formats",
    "code/languages",
    "graph/import_rules",
    "search/ranking/features",
    "interfaces/cli",
)
"""Folders of files that a table names: the page says what they have in common."""


def test_architecture_page_names_every_module() -> None:
    page = (SOURCE.parent.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(?:[\w/]+/)?(\w+\.py)`", page))
    modules = [path for path in MODULES if not path.name.startswith("__")]
    missing = [path.relative_to(SOURCE) for path in modules if path.name not in named]
    assert [path for path in missing if path.parent.as_posix() not in ONE_FILE_PER_ROW] == []


def late_imports(path: Path) -> Iterator[str]:
    """Every module that a file imports inside a function."""
    for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                modules = [f"{node.module}.{alias.name}" for alias in node.names]
                yield from (
                    (m for m in modules if is_module(m)) if any(map(is_module, modules)) else [node.module]
                )


def is_module(name: str) -> bool:
    return (SOURCE.parent / (name.replace(".", "/") + ".py")).is_file()


def test_late_imports_are_those_that_the_architecture_page_has() -> None:
    page = (SOURCE.parent.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
    section = page.partition("## Which modules are imported late?")[2].partition("\n## ")[0]
    listed = set(re.findall(r"`([\w.]+)`", section))
    late = {name.removeprefix("dowse.") for path in MODULES for name in late_imports(path)}
    covers = {name: {part for part in listed if f"{name}.".startswith(f"{part}.")} for name in late}
    assert sorted(name for name, parts in covers.items() if not parts) == []
    assert sorted(listed - set().union(*covers.values())) == []
