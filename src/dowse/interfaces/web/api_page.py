"""The page about the HTTP API: every operation with its parameters and the command that says the same."""

from __future__ import annotations

import inspect

from dowse import errors
from dowse.interfaces.http.api_description import OPENAPI_VERSION
from dowse.interfaces.http.operations import API_PATH, Operation, list_operations
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
        [_render_operation(operation) for operation in list_operations()],
        element("h2", "Errors"),
        element("table", element("tbody", _error_rows()), class_="wide"),
    )  # fmt: skip
    return full_page(request, "HTTP API", inner, kind="api")


def _render_operation(operation: Operation) -> Html:
    methods = element("span", " ".join(operation.methods), class_="kind")
    same = element("p", "The same as ", element("code", f"{operation.command} --json"), ".", class_="soft")
    rows = [_render_parameter(parameter) for parameter in operation.parameters]
    return element(
        "section",
        element("h2", element("code", f"{API_PATH}{operation.path}"), " ", methods),
        element("p", operation.summary),
        same if operation.command else None,
        element(
            "details",
            element("summary", f"{len(rows)} parameters"),
            element("table", element("tbody", rows), class_="wide"),
        )
        if rows
        else None,
        id=operation.name,
        class_="card",
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
