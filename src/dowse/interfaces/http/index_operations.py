"""API operations on indexes: repositories, status, files, languages, saved evaluations, indexing."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from dowse.errors import DowseError, UsageError
from dowse.evaluation import storage
from dowse.interfaces import json_values
from dowse.interfaces.http import answer_schemas
from dowse.interfaces.http.access import Permission
from dowse.interfaces.http.operations import REPOSITORY, ApiAnswer, ApiCall, Operation, indexed
from dowse.interfaces.http.parameters import Parameter
from dowse.interfaces.http.problems import HttpProblem
from dowse.interfaces.http.served import Served
from dowse.interfaces.json_values import SCHEMA

MAX_FILES = 100_000
"""Files of one list."""

_EVALUATION_NAME = re.compile(r"[\w][\w .+-]{0,100}")

GLOB = Parameter("glob", "Only paths like this.", max_chars=1000)


def repositories(call: ApiCall) -> ApiAnswer:
    """List the repositories with the state of their indexes."""
    rows = []
    for name, folder in call.served.folders(call.caller).items():
        row: dict[str, Any] = {
            "name": name,
            "root": str(folder),
            "state": "",
            "generation": 0,
            "files": 0,
            "problem": "",
        }
        try:
            found = call.served.engine(call.caller, name).status()
            row |= {"state": found.state, "generation": found.generation, "files": found.files}
        except DowseError as error:
            row["problem"] = str(error)
        rows.append(row)
    return ApiAnswer({"schema": SCHEMA, "repositories": rows})


def status(call: ApiCall) -> ApiAnswer:
    """Give the state of an index."""
    engine = call.bare_engine
    values = json_values.status_values(engine.status(), str(engine.root), engine.count_pending())
    return ApiAnswer(values | {"notes": list(engine.notes)})


def why(call: ApiCall) -> ApiAnswer:
    """Say whether a file belongs in the index."""
    engine = call.bare_engine
    return ApiAnswer(json_values.why_values(engine.why(engine.path_inside(call.values["path"]))))


def files(call: ApiCall) -> ApiAnswer:
    """List the files of an index."""
    engine, glob = call.engine, call.values["glob"]
    found = json_values.files_values(engine.files(*([glob] if glob else [])), str(engine.root))
    if len(found["files"]) > MAX_FILES:
        raise UsageError(f"there are more than {MAX_FILES} files: narrow them down with 'glob'")
    return indexed(found, engine)


def skipped(call: ApiCall) -> ApiAnswer:
    """List the files that are skipped."""
    engine, glob = call.bare_engine, call.values["glob"]
    found = list(engine.list_skipped(*([glob] if glob else [])))
    return ApiAnswer(json_values.skipped_values(found, str(engine.root)))


def languages(call: ApiCall) -> ApiAnswer:
    """List the supported languages."""
    known, name = call.bare_engine.languages, call.values["name"]
    chosen = [known.find(name)] if name else sorted(known.by_name.values(), key=lambda one: one.name)
    return ApiAnswer(json_values.languages_values(chosen))


def index(call: ApiCall) -> ApiAnswer:
    """Bring an index up to what is on disk."""
    call.served.require_index(call.caller)
    engine = call.bare_engine
    report = call.served.builds.index(engine, call.call.progress, rebuild=call.values["rebuild"])
    values = json_values.report_values(report, engine.status(), str(engine.root))
    return ApiAnswer(values | {"notes": list(engine.notes)})


# --- saved evaluations ---


def list_evaluations(served: Served) -> list[str]:
    """List the names of the evaluations that are saved in the folder of the server, newest first."""
    if served.evaluations is None:
        return []
    found = [file for file in served.evaluations.glob("*.json") if _EVALUATION_NAME.fullmatch(file.stem)]
    return [file.stem for file in sorted(found, key=lambda file: file.stat().st_mtime, reverse=True)]


def find_evaluation(served: Served, name: str) -> Path:
    """Find the file of a saved evaluation."""
    if served.evaluations is None or name not in list_evaluations(served):
        raise HttpProblem(404, f"there is no saved evaluation '{name}' (see --evaluations)")
    return served.evaluations / f"{name}.json"


def evaluations(call: ApiCall) -> ApiAnswer:
    """List the saved evaluations."""
    return ApiAnswer({"schema": SCHEMA, "evaluations": list_evaluations(call.served)})


def evaluation(call: ApiCall) -> ApiAnswer:
    """Give one saved evaluation."""
    found = storage.load(find_evaluation(call.served, call.values["name"]))
    return ApiAnswer(storage.evaluation_as_json(found))


OPERATIONS = (
    Operation("/repositories", "List the repositories and the state of their indexes.", repositories,
              answer_schemas.REPOSITORIES),
    Operation("/status", "Show the state of the index.", status, answer_schemas.STATUS, (REPOSITORY,),
              command="dowse status"),
    Operation("/why", "Say whether a file belongs in the index or, if not, which rule skips it.", why,
              answer_schemas.WHY, (Parameter("path", "Path of the file.", required=True), REPOSITORY),
              command="dowse status --why"),
    Operation("/files", "List the files of the index.", files, answer_schemas.FILES, (GLOB, REPOSITORY),
              command="dowse list"),
    Operation("/skipped", "List skipped files, each with the rule that skips it.", skipped, answer_schemas.SKIPPED,
              (GLOB, REPOSITORY), command="dowse list --skipped"),
    Operation("/languages", "List the supported languages.", languages, answer_schemas.LANGUAGES,
              (Parameter("name", "A language, an alias or an extension.", max_chars=100), REPOSITORY),
              command="dowse languages"),
    Operation("/evaluations", "List the saved evaluations.", evaluations, answer_schemas.EVALUATIONS),
    Operation("/evaluation", "Give a saved evaluation.", evaluation, answer_schemas.EVALUATION,
              (Parameter("name", "Its name.", required=True, max_chars=200),), command="dowse eval"),
    Operation("/index", "Bring the index up to what is on disk; as text/event-stream, with its progress.", index,
              answer_schemas.INDEX,
              (Parameter("rebuild", "Start from nothing.", "boolean", default=False), REPOSITORY),
              command="dowse index", only_body=True, permission=Permission.INDEX),
)  # fmt: skip
