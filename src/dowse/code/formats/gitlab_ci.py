"""GitLab CI: jobs and hidden jobs, what they extend and need, files that are included, scripts that are run."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dowse.code.formats.outline import OutlineNode
from dowse.code.formats.reading import IN_TREE, FormatResult, FormatSource, make_item
from dowse.code.formats.script_paths import find_paths
from dowse.code.formats.yaml_outline import read_documents
from dowse.types.source import Kind

_GLOBAL_KEYS = frozenset({
    "stages", "variables", "include", "default", "workflow", "image", "services", "cache", "before_script",
    "after_script", "spec", "types",
})  # fmt: skip
_REFERENCE = re.compile(r"!reference\s*\[\s*([^,\]\s]+)")
_SCRIPTS = ("script", "before_script", "after_script")


def read(source: FormatSource) -> FormatResult:
    """Read the jobs of a pipeline."""
    result = FormatResult(apart=frozenset({Kind.JOB}))
    lines = source.content.decode("utf-8", "replace").split("\n")
    for document in read_documents(source.content):
        for node in document.fields():
            if node.key == "include":
                _link_included(result, document, node)
            elif node.key not in _GLOBAL_KEYS and node.children:
                _read_job(result, node, lines)
    return result


def _link_included(result: FormatResult, document: OutlineNode, node: OutlineNode) -> None:
    for path, row in document.scalars("include"):
        result.link(path.lstrip("/"), row, "path")
    for entry in (node, *node.children):
        if local := entry.get("local"):
            result.link(local.value.lstrip("/"), local.row, "path")


def _read_job(result: FormatResult, job: OutlineNode, lines: Sequence[str]) -> None:
    signature = f"job {job.key} {job.text('stage')} {job.text('image')}"
    result.items.append(make_item(Kind.JOB, job, f"job/{job.key}", signature))
    for key in ("extends", "needs", "dependencies"):
        for name, row in job.scalars(key):
            result.link(f"job/{name}", row, IN_TREE)
        for entry in job.items(key):
            result.link(f"job/{entry.text('job')}" if entry.get("job") else "", entry.row, IN_TREE)
    if trigger := job.get("trigger"):
        _link_included(result, trigger, trigger.get("include") or trigger)
    for key in _SCRIPTS:
        if script := job.get(key):
            for path, row in find_paths(lines, script.row, script.last_row):
                result.link(path, row, "path")
            for row in range(script.row, script.last_row + 1):
                for found in _REFERENCE.finditer(lines[row]):
                    result.link(f"job/{found[1]}", row, IN_TREE)
