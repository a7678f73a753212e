"""Ansible: plays, tasks and handlers by their names, the roles, files and handlers that they lead to."""

from __future__ import annotations

from dowse.code.formats.outline import OutlineNode
from dowse.code.formats.reading import IN_TREE, FormatResult, FormatSource, make_item
from dowse.code.formats.yaml_outline import read_documents
from dowse.types.source import Kind

_TASK_LISTS = ("tasks", "pre_tasks", "post_tasks", "handlers", "block", "rescue", "always")
_FILES = frozenset(
    {"include_tasks", "import_tasks", "include", "import_playbook", "include_vars", "vars_files"}
)
_ROLES = frozenset({"import_role", "include_role"})
_SOURCES = {"template": "templates", "copy": "files", "script": "files", "unarchive": "files"}


def read(source: FormatSource) -> FormatResult:
    """Read a playbook, or the tasks of a role."""
    result = FormatResult()
    for document in read_documents(source.content):
        for entry in document.children:
            if not entry.is_item:
                continue
            if entry.get("hosts"):
                _read_play(result, entry)
            else:
                _read_task(result, entry, "task")
    return result


def _read_play(result: FormatResult, play: OutlineNode) -> None:
    name = play.text("name") or play.text("hosts")
    item = make_item(Kind.WORKFLOW, play, f"play/{name}", f"play {name} hosts {play.text('hosts')}", name)
    result.items.append(item)
    for role in play.items("roles"):
        _link_role(result, role.value or role.text("role") or role.text("name"), role.row)
    for path, row in play.scalars("vars_files"):
        result.link(path, row, "path")
    for key in _TASK_LISTS:
        for task in play.items(key):
            _read_task(result, task, "handler" if key == "handlers" else "task")


def _read_task(result: FormatResult, task: OutlineNode, word: str) -> None:
    """Read a task, and those of a block."""
    waiting = [task]
    while waiting:
        node = waiting.pop()
        if name := node.text("name"):
            result.items.append(make_item(Kind.STEP, node, f"task/{name}", f"{word} {name}", name))
        for part in node.fields():
            if part.key in _TASK_LISTS:
                waiting += [child for child in part.children if child.is_item]
            else:
                _link_part(result, node, part)


def _link_part(result: FormatResult, task: OutlineNode, part: OutlineNode) -> None:
    module = part.key.rpartition(".")[2]
    if module in _FILES:
        result.link(part.value or part.text("file"), part.row, "path")
    elif module in _ROLES:
        _link_role(result, part.text("name"), part.row)
    elif module in _SOURCES:
        path = part.text("src") or part.value
        result.link(f"../{_SOURCES[module]}/{path}", part.row, "path")
        result.link(f"{_SOURCES[module]}/{path}", part.row, "path")
    elif module == "notify":
        for name, row in task.scalars("notify"):
            result.link(f"task/{name}", row, IN_TREE)


def _link_role(result: FormatResult, name: str, row: int) -> None:
    """Link the tasks of a role, beside the playbook or beside the role of the file."""
    if name:
        for folder in ("roles", "../roles", "../.."):
            result.link(f"{folder}/{name}/tasks/main.yml", row, "path")
