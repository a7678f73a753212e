"""JSON Schema of our own types: dataclasses, named tuples and enumerations, as ``json_values`` writes them."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, Union, get_args, get_origin, get_type_hints

Schema = dict[str, Any]

_PLAIN: dict[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    Any: {},
}


def describe_object(fields: Mapping[str, Schema], optional: Sequence[str] = ()) -> Schema:
    """Describe an object by its fields; others may be added to it later."""
    required = [name for name in fields if name not in optional]
    return {"type": "object", "required": required, "properties": dict(fields)}


def describe_type(type_: type, drop: Sequence[str] = (), **changes: Schema) -> Schema:
    """Describe a dataclass or named tuple as an object; ``changes`` adds fields or replaces them."""
    hints = {name: hint for name, hint in get_type_hints(type_).items() if name in _field_names(type_)}
    fields = {
        name: changes.get(name) or describe_value(hint) for name, hint in hints.items() if name not in drop
    }
    return describe_object(fields | changes)


def _field_names(type_: type) -> Sequence[str]:
    if dataclasses.is_dataclass(type_):
        return [field.name for field in dataclasses.fields(type_)]
    return tuple(getattr(type_, "_fields", ()))


def describe_value(hint: Any) -> Schema:
    """Describe the values that a type annotation allows."""
    if hint in _PLAIN:
        return dict(_PLAIN[hint])
    if hint is type(None):
        return {"type": "null"}
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return {"anyOf": [describe_value(argument) for argument in arguments]}
    if origin is tuple and not (len(arguments) == 2 and arguments[1] is ...):
        items = [describe_value(argument) for argument in arguments]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
    if origin in (tuple, list, Sequence):
        return describe_list(describe_value(arguments[0]))
    if origin in (dict, Mapping):
        return {"type": "object", "additionalProperties": describe_value(arguments[1])}
    if isinstance(hint, type) and issubclass(hint, Enum):
        return {"type": "string", "enum": [str(member.value) for member in hint]}
    if isinstance(hint, type) and _field_names(hint):
        return describe_type(hint)
    raise TypeError(f"{hint} has no JSON form")


def describe_list(items: Schema) -> Schema:
    """Describe a list."""
    return {"type": "array", "items": items}
