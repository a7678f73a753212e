"""The page about the HTTP API: every operation with its parameters, the command that says the same, a form to try."""

from __future__ import annotations

import inspect
from collections.abc import Iterable

from dowse import errors
from dowse.interfaces.http.api_description import OPENAPI_VERSION
from dowse.interfaces.http.operations import API_PATH, Operation, group_operations
from dowse.interfaces.http.parameters import Parameter
from dowse.interfaces.web.html_builder import Html, element, join
from dowse.interfaces.web.page_frame import PageRequest, full_page

EXAMPLE = f"""\
curl -H "Authorization: Bearer $DOWSE_SERVE_TOKEN" \\
  "http://127.0.0.1:7334{API_PATH}/search?query=token+refresh\""""


def api_page(request: PageRequest) -> str:
    """Make the page."""
    inner = join(
        element("h1", "HTTP API"),
        element("p", "Answers have the fields of the command line's ", element("code", "--json"),
                "; errors are problem details (RFC 9457). The whole description: ",
                element("a", f"OpenAPI {OPENAPI_VERSION}", href="/api/openapi.json"), ".", class_="lead"),
        element("pre", EXAMPLE, tabindex="0"),
        [_render_group(title, operations) for title, operations in group_operations().items()],
        element("section", element("h2", "Errors"),
                element("table", element("tbody", _error_rows()), class_="wide"), class_="card"),
    )  # fmt: skip
    return full_page(request, "HTTP API", inner, kind="api")


def _render_group(title: str, operations: Iterable[Operation]) -> Html:
    rows = map(_render_operation, operations)
    return element("section", element("h2", title), rows, class_="card operations")


def _render_operation(operation: Operation) -> Html:
    """Render a row that opens: methods, path and summary; then the command, a form to try it, the parameters."""
    same = element("p", "The same as ", element("code", f"{operation.command} --json"), ".", class_="soft")
    rows = [_render_parameter(parameter) for parameter in operation.parameters]
    return element(
        "details",
        element(
            "summary",
            [element("span", method, class_="verb") for method in operation.methods],
            element("code", f"{API_PATH}{operation.path}"),
            element("span", operation.summary, class_="soft"),
        ),
        same if operation.command else None,
        None if operation.only_body else _render_trial(operation),
        element("table", element("tbody", rows), class_="wide") if rows else None,
        id=operation.name,
    )


def _render_trial(operation: Operation) -> Html:
    """Render a form that asks the operation with what it needs at the least."""
    fields = [
        element(
            "input",
            name=parameter.name,
            placeholder=parameter.name,
            aria_label=f"{parameter.name} of {operation.path}",
            required=True,
            autocomplete="off",
        )
        for parameter in operation.parameters
        if parameter.required
    ]
    return element(
        "form",
        fields,
        element("button", "Try it", type="submit"),
        method="get",
        action=f"{API_PATH}{operation.path}",
        class_="trial",
    )


def _render_parameter(parameter: Parameter) -> Html:
    kind = parameter.type + ("[]" if parameter.many else "") + (", required" if parameter.required else "")
    choices = f" One of: {', '.join(parameter.choices)}." if parameter.choices else ""
    return element(
        "tr",
        element("th", element("code", parameter.name), scope="row"),
        element("td", kind, class_="soft"),
        element("td", parameter.description + choices),
    )


def _error_rows() -> list[Html]:
    found = [
        kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, errors.DowseError)
    ]
    return [
        element(
            "tr",
            element("th", element("code", kind.__name__), scope="row", id=kind.__name__),
            element("td", f"exit code {kind.exit_code}", class_="soft"),
            element("td", (kind.__doc__ or "").strip()),
        )
        for kind in found
    ]
