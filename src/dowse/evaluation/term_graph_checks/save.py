"""Save the validation of a term graph: baseline, enriched, comparison, enrichment log (JSON), an analysis (Markdown).

No times and no paths of the machine: the same index, queries and term graph write the same files.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dowse.errors import UsageError
from dowse.evaluation.term_graph_checks.validate import HIT_DEPTH, MIN_GAIN, Validation, ValidationRow

MIN_EXAMPLES, MAX_EXAMPLES = 3, 5
"""Worked examples of an analysis."""

ANALYSIS_FILE = "analysis.md"


def save_validation(found: Validation, folder: Path) -> list[Path]:
    """Write the files of a validation into a folder, over those of an earlier one."""
    texts = {f"{name}.json": _format_json(values) for name, values in _list_values(found).items()}
    texts[ANALYSIS_FILE] = "\n".join(_write_analysis(found)) + "\n"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error}") from error
    return [folder / name for name in texts]


def _format_json(values: Any) -> str:
    return json.dumps(values, indent=1, ensure_ascii=False) + "\n"


def _list_values(found: Validation) -> Mapping[str, Any]:
    metric = f"hit@{HIT_DEPTH}"

    def run(score: float, ranks: Mapping[str, int]) -> dict[str, Any]:
        return {"term_graph": found.file, metric: score, "ranks": ranks}

    return {
        "baseline": run(found.baseline, {row.id: row.before for row in found.rows}) | {"term_graph": ""},
        "enriched": run(found.enriched, {row.id: row.after for row in found.rows}),
        "comparison": {
            "term_graph": found.file,
            "queries": len(found.rows),
            "gain": round(found.enriched - found.baseline, 6),
            "fired": found.fired,
            "improved": found.improved,
            "regressed": found.regressed,
            "validated": found.validated,
            "rows": [
                {"id": r.id, "query": r.query, "before": r.before, "after": r.after, "change": r.change}
                for r in found.rows
            ],
        },
        "enrichment-log": [
            {"id": r.id, "original": r.query, "enriched": r.enriched, "added": list(r.added)}
            for r in found.rows
        ],
    }


# --- the analysis ---


def _write_analysis(found: Validation) -> Iterator[str]:
    yield from (f"# What `{found.file}` is worth", "", "## Summary", "")
    yield from (f"- {line}" for line in found.describe())
    yield from ("", "## Every query", "")
    yield "Rank of the first right file, 0 for none."
    yield from ("", "| query | before | after | change | added |", "|---|---:|---:|---|---|")
    for row in found.rows:
        cells = (row.query, row.before, row.after, row.change, ", ".join(row.added))
        yield f"| {' | '.join(_escape_cell(str(cell)) for cell in cells)} |"
    yield from ("", "## Examples", "")
    for row in choose_examples(found.rows):
        yield f"- {_explain_row(row)}"
    yield from ("", "## Conclusion", "", _conclude(found), "", "## Next steps", "")
    yield from (f"- {step}" for step in _list_next_steps(found))


def choose_examples(rows: tuple[ValidationRow, ...]) -> list[ValidationRow]:
    """Choose queries that show what the graph does: those it changed, then those it touched or should have."""
    changed = [row for row in rows if row.change != "unchanged"]
    touched = [row for row in rows if row.added and row.change == "unchanged"]
    missed = [row for row in rows if not row.added and not 0 < row.after <= HIT_DEPTH]
    others = [row for row in rows if row not in changed + touched + missed]
    chosen = (changed + touched + missed)[:MAX_EXAMPLES]
    return chosen + others[: max(0, MIN_EXAMPLES - len(chosen))]


def _escape_cell(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ")


def _explain_row(row: ValidationRow) -> str:
    def rank(number: int) -> str:
        return f"at rank {number}" if number else "not found"

    query = f"“{row.query}”"
    if not row.added:
        return f"{query} has no term of the graph; the right file is {rank(row.after)}."
    added = ", ".join(row.added)
    return (
        f"{query} got {added}; the right file was {rank(row.before)} and is {rank(row.after)}: {row.change}."
    )


def _conclude(found: Validation) -> str:
    share = f"It fired on {found.fired} of {len(found.rows)} queries."
    if found.validated:
        return f"Validated. {share} Hit@{HIT_DEPTH} rises by {MIN_GAIN:.0%} or more, and no query got worse."
    if found.fired:
        per_fired = f"{found.improved} of these improved and {found.regressed} got worse"
        return f"Not validated. {share} {per_fired[0].upper()}{per_fired[1:]}: the gain over all queries is too small."
    return f"Not validated. {share} A graph that matches no query changes nothing."


def _list_next_steps(found: Validation) -> Iterator[str]:
    missed = [row for row in found.rows if not row.added and not 0 < row.after <= HIT_DEPTH]
    if found.regressed:
        yield "Look at what was added to the queries that got worse, and remove or narrow those synonyms."
    if missed:
        yield (
            f"{len(missed)} queries without a term of the graph miss their file: look at the words in them before the "
            "next validation, which needs other queries."
        )
    yield (
        "Take synonyms from what users asked (`dowse terms suggest`), and validate with queries that no entry was "
        "written for."
    )
