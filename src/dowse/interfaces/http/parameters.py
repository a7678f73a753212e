"""Parameters of API operations: one declaration for reading a query string or a JSON body, and for its description."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from dowse.errors import UsageError

MAX_TEXT_CHARS = 10_000
"""Characters of a parameter's value, unless it says otherwise."""

MAX_VALUES = 100
"""Values of a parameter that may be repeated."""

_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}

_TYPE_NAMES = {
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "string": "text",
}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter: its name, JSON type, what it is for, and which values it may have."""

    name: str
    description: str
    type: str = "string"  # or integer, number, boolean
    required: bool = False
    many: bool = False  # may be repeated; in a body, a list
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    max_chars: int = MAX_TEXT_CHARS
    default: Any = None

    def schema(self) -> dict[str, Any]:
        """Describe the values as JSON Schema."""
        values: dict[str, Any] = {"type": self.type}
        if self.choices:
            values["enum"] = list(self.choices)
        elif self.type == "string":
            values |= {"maxLength": self.max_chars} | ({"minLength": 1} if self.required else {})
        bounds = {"minimum": self.minimum, "maximum": self.maximum}
        values |= {name: bound for name, bound in bounds.items() if bound is not None}
        if self.many:
            return {"type": "array", "items": values, "maxItems": MAX_VALUES} | (
                {"minItems": 1} if self.required else {}
            )
        return values if self.default is None else values | {"default": self.default}

    def parse(self, text: str) -> Any:
        """Parse a value of a query string."""
        try:
            if self.type == "boolean":
                value: Any = _BOOLEANS[text.lower()]
            elif self.type == "integer":
                value = int(text[:20]) if text.isascii() else int("x")
            else:
                value = float(text) if self.type == "number" else text
        except (KeyError, ValueError):
            raise UsageError(f"'{self.name}' must be {_TYPE_NAMES[self.type]}, not {text[:100]!r}") from None
        return self.check(value)

    def check(self, value: Any) -> Any:
        """Return a value if the parameter may have it."""
        if not self._has_type(value):
            raise UsageError(f"'{self.name}' must be {_TYPE_NAMES[self.type]}, not {str(value)[:100]!r}")
        if self.choices and value not in self.choices:
            raise UsageError(f"'{self.name}' must be one of {', '.join(self.choices)}, not {value[:100]!r}")
        if isinstance(value, str) and len(value) > self.max_chars:
            raise UsageError(f"'{self.name}' is too long: it may have {self.max_chars} characters")
        if isinstance(value, str) and "\0" in value:
            raise UsageError(f"'{self.name}' has a character of code 0: leave it out")
        if not isinstance(value, str | bool):
            low, high = self.minimum, self.maximum
            if not ((low is None or value >= low) and (high is None or value <= high)):
                raise UsageError(f"'{self.name}' must be {_describe_range(low, high)}, not {value}")
        return value

    def _has_type(self, value: Any) -> bool:
        if self.type == "string":
            return isinstance(value, str)
        if self.type == "boolean":
            return isinstance(value, bool)
        is_number = isinstance(value, int) or (self.type == "number" and isinstance(value, float))
        return is_number and not isinstance(value, bool)


def _describe_range(low: float | None, high: float | None) -> str:
    if high is None:
        return f"at least {low}"
    return f"at most {high}" if low is None else f"from {low} to {high}"


def read_query(parameters: Sequence[Parameter], items: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Read parameters from a query string; all are there, those that were not given with their default."""
    known = {parameter.name: parameter for parameter in parameters}
    given: dict[str, Any] = {}
    for name, text in items:
        value = _find(known, name).parse(text)
        if known[name].many:
            given.setdefault(name, []).append(value)
        elif name in given:
            raise UsageError(f"'{name}' is given twice: once is enough")
        else:
            given[name] = value
    return _complete(parameters, given)


def read_body(parameters: Sequence[Parameter], body: Any) -> dict[str, Any]:
    """Read parameters from a JSON body."""
    if not isinstance(body, Mapping):
        raise UsageError('the body must be a JSON object, as in {"query": "..."}')
    known = {parameter.name: parameter for parameter in parameters}
    given: dict[str, Any] = {}
    for name, value in body.items():
        parameter = _find(known, name)
        if parameter.many:
            if not isinstance(value, list):
                raise UsageError(f"'{name}' must be a list")
            given[name] = [parameter.check(one) for one in value]
        else:
            given[name] = parameter.check(value)
    return _complete(parameters, given)


def _find(known: Mapping[str, Parameter], name: str) -> Parameter:
    if name in known:
        return known[name]
    close = get_close_matches(name, known, n=1)
    hint = f"did you mean '{close[0]}'?" if close else f"known are {', '.join(known) or 'none'}"
    raise UsageError(f"unknown parameter '{name[:100]}': {hint}")


def _complete(parameters: Sequence[Parameter], given: dict[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for parameter in parameters:
        found = given.get(parameter.name)
        if parameter.required and (found is None or found in ("", [])):
            raise UsageError(f"'{parameter.name}' is missing: {parameter.description}")
        if parameter.many and found is not None and len(found) > MAX_VALUES:
            raise UsageError(f"'{parameter.name}' has too many values: {MAX_VALUES} at the most")
        default = () if parameter.many else parameter.default
        values[parameter.name] = default if found is None else found
    return values
