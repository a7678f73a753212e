"""GitHub Actions: workflows with their jobs and steps, and actions of the tree."""

from __future__ import annotations

from collections.abc import Sequence

from dowse.code.formats.outline import OutlineNode
from dowse.code.formats.reading import IN_FILE, FormatResult, FormatSource, Item, make_item
from dowse.code.formats.script_paths import find_paths
from dowse.code.formats.yaml_outline import read_documents
from dowse.types.source import Kind


def read(source: FormatSource) -> FormatResult:
    """Read a workflow or an action."""
    result = FormatResult(apart=frozenset({Kind.WORKFLOW, Kind.JOB}))
    lines = source.content.decode("utf-8", "replace").split("\n")
    for document in read_documents(source.content):
        name = document.text("name") or source.name.rpartition(".")[0]
        workflow = Item(Kind.WORKFLOW, name, 1, document.last_row + 1, name, f"workflow {name}")
        workflow.doc = document.text("description")
        result.items.append(workflow)
        if jobs := document.get("jobs"):
            for job in jobs.fields():
                _read_job(result, job, lines)
        if runs := document.get("runs"):
            _read_steps(result, runs, "", lines)
            for key in ("main", "pre", "post", "image"):
                result.link(runs.text(key), runs.row, "path")
    return result


def _read_job(result: FormatResult, job: OutlineNode, lines: Sequence[str]) -> None:
    qualified = f"job/{job.key}"
    signature = f"job {job.key} {job.text('name')} {job.text('runs-on')}"
    result.items.append(make_item(Kind.JOB, job, qualified, signature))
    for needed, row in job.scalars("needs"):
        result.link(f"job/{needed}", row, IN_FILE)
    _link_use(result, job)
    _read_steps(result, job, qualified, lines)


def _read_steps(result: FormatResult, around: OutlineNode, qualified: str, lines: Sequence[str]) -> None:
    for number, step in enumerate(around.items("steps"), 1):
        run = step.get("run")
        said = step.text("name") or step.text("uses") or (_first_line(run, lines) if run else "")
        name = said or f"step {number}"
        result.items.append(make_item(Kind.STEP, step, f"{qualified}/{name}".lstrip("/"), name, name))
        _link_use(result, step)
        if run:
            for path, row in find_paths(lines, run.row, run.last_row):
                result.link(path, row, "path")


def _first_line(run: OutlineNode, lines: Sequence[str]) -> str:
    """Return the first line of a script."""
    return run.value or next((lines[n].strip() for n in range(run.row + 1, run.last_row + 1)), "")


def _link_use(result: FormatResult, node: OutlineNode) -> None:
    """Link an action or a workflow of the tree."""
    used = node.get("uses")
    if used and used.value.startswith("./"):
        result.link(used.value[2:].partition("@")[0], used.row, "path")
