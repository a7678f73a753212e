"""CircleCI, Azure Pipelines, Cloud Build and Jenkins: workflows, stages, jobs and steps, what they need and run."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dowse.code.formats.outline import OutlineNode
from dowse.code.formats.reading import IN_FILE, FormatResult, FormatSource, make_item
from dowse.code.formats.script_paths import find_paths
from dowse.code.formats.yaml_outline import read_documents
from dowse.types.source import Kind

_JENKINS_RUN = re.compile(r"\b(?:sh|bat|powershell|load)\b")
_AZURE_LISTS = {"stages": "stage", "jobs": "job"}


def read(source: FormatSource) -> FormatResult:
    """Read a pipeline."""
    lines = source.content.decode("utf-8", "replace").split("\n")
    if source.language.name == "jenkins":
        return _read_jenkins(source, lines)
    result = FormatResult(apart=frozenset({Kind.JOB}))
    for document in read_documents(source.content):
        if source.language.name == "circleci":
            _read_circleci(result, document, lines)
        elif source.language.name == "cloud-build":
            _read_cloud_build(result, document, lines)
        else:
            _read_azure(result, document, lines)
    return result


def _read_circleci(result: FormatResult, document: OutlineNode, lines: Sequence[str]) -> None:
    for part, kind, word in (
        ("jobs", Kind.JOB, "job"),
        ("commands", Kind.TEMPLATE, "command"),
        ("executors", Kind.RESOURCE, "executor"),
    ):
        for node in (document.get(part) or document).fields() if document.get(part) else ():
            result.items.append(make_item(kind, node, f"{word}/{node.key}", f"{word} {node.key}"))
            result.link(f"executor/{node.text('executor')}", node.row, IN_FILE)
            for step in node.items("steps"):
                name = step.value or next((child.key for child in step.fields()), "")
                result.link(f"command/{name}", step.row, IN_FILE)
            _link_scripts(result, node, lines)
    if workflows := document.get("workflows"):
        for workflow in workflows.fields():
            if not workflow.children:
                continue
            signature = f"workflow {workflow.key}"
            result.items.append(make_item(Kind.WORKFLOW, workflow, f"workflow/{workflow.key}", signature))
            for job in workflow.items("jobs"):
                name = job.value or next((child.key for child in job.fields()), "")
                result.link(f"job/{name}", job.row, IN_FILE)


def _read_cloud_build(result: FormatResult, document: OutlineNode, lines: Sequence[str]) -> None:
    for number, step in enumerate(document.items("steps"), 1):
        name = step.text("id") or f"step {number}"
        signature = f"step {name} {step.text('name')}"
        result.items.append(make_item(Kind.STEP, step, f"step/{name}", signature, name))
        for needed, row in step.scalars("waitFor"):
            result.link(f"step/{needed}", row, IN_FILE)
        _link_scripts(result, step, lines)


def _read_azure(result: FormatResult, document: OutlineNode, lines: Sequence[str]) -> None:
    for node in document.walk():
        for key, word in _AZURE_LISTS.items():
            for entry in node.items(key) if node.key != key else ():
                _read_azure_entry(result, entry, word, lines)
        if node.key == "template" and "/" not in node.value.partition("@")[0][:1]:
            result.link(node.value.partition("@")[0], node.row, "path")
    for key, word in _AZURE_LISTS.items():
        for entry in document.items(key):
            _read_azure_entry(result, entry, word, lines)


def _read_azure_entry(result: FormatResult, entry: OutlineNode, word: str, lines: Sequence[str]) -> None:
    name = entry.text(word) or entry.text("deployment")
    if not name:
        return
    kind = Kind.JOB if word == "job" else Kind.STAGE
    signature = f"{word} {name} {entry.text('displayName')}"
    result.items.append(make_item(kind, entry, f"{word}/{name}", signature, name))
    for needed, row in entry.scalars("dependsOn"):
        result.link(f"{word}/{needed}", row, IN_FILE)
    if word == "job":
        for number, step in enumerate(entry.items("steps"), 1):
            title = step.text("displayName") or step.text("task") or step.text("script") or f"step {number}"
            result.items.append(make_item(Kind.STEP, step, f"job/{name}/{title}", title, title))
        _link_scripts(result, entry, lines)


def _link_scripts(result: FormatResult, node: OutlineNode, lines: Sequence[str]) -> None:
    for path, row in find_paths(lines, node.row, node.last_row):
        result.link(path, row, "path")


def _read_jenkins(source: FormatSource, lines: Sequence[str]) -> FormatResult:
    """Read a Jenkinsfile, which is Groovy."""
    code = source.parse_as("groovy")
    result = FormatResult(tree=code.tree, health=code.health)
    result.add_embedded(code)
    for item in result.items:
        if item.kind is Kind.BLOCK and item.signature.startswith("stage"):
            item.kind, item.qualified = Kind.STAGE, f"stage/{item.name.rpartition('.')[2]}"
    for row, line in enumerate(lines):
        if _JENKINS_RUN.search(line[:1000]):
            for path, at in find_paths(lines, row, row):
                result.link(path, at, "path")
    return result
