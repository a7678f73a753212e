"""Frozen value classes: what ``@dataclass(frozen=True, slots=True)`` makes, at a thirtieth of its cost at import.

``dataclasses`` writes the methods of each class as source text and compiles it, whenever a program starts. Here all
classes share the same methods. ``fields``, ``replace`` and ``asdict`` of ``dataclasses`` work on them as on any other,
but the first time they make the fields of a class, which takes a millisecond: ``replace`` here does not.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform, overload

T = TypeVar("T")

_set = object.__setattr__


@overload
def frozen(cls: type[T], /) -> type[T]: ...
@overload
def frozen(*, slots: bool = ..., kw_only: bool = ...) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(frozen_default=True)
def frozen(cls: type[T] | None = None, /, *, slots: bool = True, kw_only: bool = False) -> Any:
    """Make a value class of one with annotated fields: frozen, comparable, hashable, and without a ``__dict__``.

    ``slots=False`` leaves the ``__dict__``, for cached properties. ``kw_only`` is for type checkers alone.
    """
    return _make_class(cls, slots) if cls is not None else lambda given: _make_class(given, slots)


if TYPE_CHECKING:
    from dataclasses import replace as replace
else:

    def replace(value: T, /, **changed: Any) -> T:
        """Make a value like another of a class made by ``frozen``, with some fields changed."""
        made = object.__new__(type(value))
        for name, known in zip(value.__match_args__, value._get_values(value), strict=True):
            _set(made, name, changed.pop(name, known))
        if changed:
            raise TypeError(f"{type(value).__name__} has no field {', '.join(changed)}")
        return made


def _make_class(cls: type[T], slots: bool) -> type[T]:
    own = list(cls.__annotations__)
    inherited: tuple[str, ...] = getattr(cls, "__match_args__", ())
    names = tuple(dict.fromkeys((*inherited, *own)))
    defaults = {name: value for name, value in getattr(cls, "_defaults", {}).items() if name not in own}
    namespace = {**_METHODS, **cls.__dict__}
    defaults |= {name: namespace.pop(name) for name in own if name in namespace}
    namespace.pop("__dict__", None)  # of the class as it was
    namespace.pop("__weakref__", None)
    if slots:
        namespace["__slots__"] = tuple(name for name in own if name not in inherited)
    namespace |= {
        "__match_args__": names,
        "__dataclass_fields__": _LazyFields(),
        "_defaults": defaults,
        "_get_values": staticmethod(_make_getter(names)),
    }
    made: Any = type(cls)
    return made(cls.__name__, cls.__bases__, namespace | {"__qualname__": cls.__qualname__})  # type: ignore[no-any-return]


def _make_getter(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    """Make a function that reads all fields of a value."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: tuple(getattr(value, name) for name in names)


class _LazyFields:
    """The fields of a class as ``dataclasses`` has them, made when they are first asked for."""

    def __get__(self, instance: object, cls: type[Any]) -> dict[str, Any]:
        from dataclasses import field, make_dataclass

        def describe(name: str) -> Any:
            if name not in cls._defaults:
                return field()
            default = cls._defaults[name]
            return (
                field(default_factory=default.copy) if isinstance(default, dict) else field(default=default)
            )

        specs = [(name, Any, describe(name)) for name in cls.__match_args__]
        made: Any = make_dataclass(cls.__name__, specs, init=False, repr=False, eq=False, kw_only=True)
        fields: dict[str, Any] = made.__dataclass_fields__
        cls.__dataclass_fields__ = fields
        return fields


# --- the methods of every value class ---


def _init(self: Any, *args: Any, **given: Any) -> None:
    names, defaults = self.__match_args__, self._defaults
    if len(args) > len(names):
        raise TypeError(f"{type(self).__name__} has {len(names)} fields, but {len(args)} values were given")
    for name, value in zip(names, args, strict=False):
        _set(self, name, value)
    for name in names[len(args) :]:
        if name in given:
            _set(self, name, given.pop(name))
        elif name in defaults:
            _set(self, name, defaults[name])
        else:
            raise TypeError(f"{type(self).__name__} lacks a value for '{name}'")
    if given:
        raise TypeError(f"{type(self).__name__} has no field {', '.join(given)}, or it was given twice")


def _equals(self: Any, other: Any) -> Any:
    if type(other) is not type(self):
        return NotImplemented
    return self._get_values(self) == self._get_values(other)


def _hash(self: Any) -> int:
    return hash(self._get_values(self))


def _describe(self: Any) -> str:
    values = zip(self.__match_args__, self._get_values(self), strict=True)
    return f"{type(self).__qualname__}({', '.join(f'{name}={value!r}' for name, value in values)})"


def _refuse_change(self: Any, name: str, value: object = None) -> None:
    raise AttributeError(f"cannot change '{name}': a {type(self).__name__} is frozen")


def _get_state(self: Any) -> tuple[Any, ...]:
    values: tuple[Any, ...] = self._get_values(self)
    return values


def _set_state(self: Any, values: tuple[Any, ...]) -> None:
    for name, value in zip(self.__match_args__, values, strict=True):
        _set(self, name, value)


_METHODS = {
    "__init__": _init,
    "__eq__": _equals,
    "__hash__": _hash,
    "__repr__": _describe,
    "__setattr__": _refuse_change,
    "__delattr__": _refuse_change,
    "__getstate__": _get_state,
    "__setstate__": _set_state,
}
