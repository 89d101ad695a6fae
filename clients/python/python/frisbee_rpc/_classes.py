"""Classes for the messages of a schema that is known only at run time."""

from __future__ import annotations

import dataclasses
import enum
import functools
import keyword
from typing import Any

from ._native import Schema

_ANY = ["truth", "integer", "number", "text", "raw", "array", "image", "list", "dict"]
"""The fields of the message for values of any type, in a schema created from type hints."""

_TIMES = {"google.protobuf.Timestamp": "datetime", "google.protobuf.Duration": "timedelta"}

_ZERO: dict[str, Any] = {"bool": False, "int": 0, "float": 0.0, "str": "", "bytes": b""}


def classes(schema: Schema, methods: list[tuple[str, str, bool, bool, str, str]]) -> dict[str, Any]:
    """Creates a class with slots for each message of a schema.

    ``frpc.Tensor`` becomes a NumPy array. Two kinds of messages become plain values: a result message such as
    ``SumResult`` with the only field ``result``, and a request message such as ``SumRequest`` with a single field in a
    stream.
    """
    values = {output for _, name, _, _, _, output in methods if output.rpartition(".")[2] == f"{_camel(name)}Result"}
    streamed = {request for _, name, takes, _, request, _ in methods if takes and request.rpartition(".")[2] == f"{_camel(name)}Request"}
    forms: dict[str, Any] = {}
    for name, members in schema.enums():
        forms[name] = _enum_class(name.rpartition(".")[2], tuple(_members(members)))
    for name, fields in schema.messages():
        names = [field for field, *_ in fields]
        if name == "frpc.Tensor":
            forms[name] = "tensor"
        elif name == "frpc.Image":
            forms[name] = "image" if _has_pillow() else _class(name, fields, forms)
        elif name in _TIMES:
            forms[name] = _TIMES[name]
        elif name.rpartition(".")[2] == "AnyValue" and names == _ANY:
            forms[name] = "any"
        elif name.rpartition(".")[2] in ("AnyList", "AnyDict") and names in (["items"], ["entries"]):
            forms[name] = "value"
        elif name.rpartition(".")[2].startswith(("ListOf", "MapOf")) and names in (["items"], ["entries"]):
            forms[name] = "value"
        elif name.rpartition(".")[2].startswith("TupleOf") and names == [f"item{at}" for at in range(1, len(names) + 1)]:
            forms[name] = "arguments"
        elif name in values and names in (["result"], []):
            forms[name] = "value"
        elif name in streamed and len(names) == 1:
            forms[name] = "value"
        else:
            forms[name] = _class(name, fields, forms)
    return forms


def _has_pillow() -> bool:
    import importlib.util

    return importlib.util.find_spec("PIL") is not None


def _camel(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def _free(name: str, taken: set[str]) -> str:
    """Returns the name, or the name with underscores appended if it is a keyword or taken. Generated modules use the
    same rules."""
    while keyword.iskeyword(name) or name in taken:
        name += "_"
    taken.add(name)
    return name


def _attribute(name: str) -> str:
    """Returns the attribute name for a field. The name must have no special meaning in Python or ``dataclasses``."""
    name = f"_{name.lstrip('_')}" if name.startswith("__") else name
    return f"{name}_" if name.startswith("_dflt_") or name == "_HAS_DEFAULT_FACTORY" else name


def _members(values: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Returns the members of an enum. Their names must not start with underscores or collide with attributes of
    ``IntEnum``."""
    taken: set[str] = set()
    made = []
    for name, number in values:
        name = name.lstrip("_")
        if not name[:1].isalpha() or name in ("name", "value") or hasattr(enum.IntEnum, name):
            name = f"VALUE_{name}"
        made.append((_free(name, taken), number))
    return made


def _class(name: str, fields: list[tuple[str, str, str, str]], forms: dict[str, Any]) -> type:
    made: list[_Field] = []
    taken: set[str] = set()
    for field, shape, kind, _ in fields:
        field = _free(_attribute(field), taken)
        zero = _ZERO.get(kind)
        if shape in ("list", "map"):
            made.append((field, shape, None))
        elif shape != "optional" and isinstance(forms.get(kind), enum.EnumType):
            made.append((field, "enum", _MADE[forms[kind]]))
        else:
            made.append((field, type(zero).__name__, None if shape == "optional" else zero))
    return _message_class(name.rpartition(".")[2], tuple(made))


_Field = tuple[str, str, Any]
"""The name of a field, and its default: the kind, and the value or, for an enum, its class."""

#: The name and fields of each message class, or the members of an enum.
_MADE: dict[type, tuple[str, Any]] = {}


@functools.cache
def _message_class(name: str, fields: tuple[_Field, ...]) -> type:
    """Creates a class with these fields. An object can be unpickled where the class does not exist, because its class
    is then created again."""
    made: list[tuple[str, Any, Any]] = []
    for field, kind, zero in fields:
        if kind in ("list", "map"):
            empty: Any = list if kind == "list" else dict
            made.append((field, empty, dataclasses.field(default_factory=empty)))
        else:
            made.append((field, Any, _enum_class(*zero)(0) if kind == "enum" else zero))
    namespace = {"__module__": "frisbee_rpc.messages", "__reduce__": _reduce}
    of = dataclasses.make_dataclass(name, made, slots=True, namespace=namespace)
    _MADE[of] = (name, fields)
    return of


@functools.cache
def _enum_class(name: str, members: tuple[tuple[str, int], ...]) -> Any:
    make: Any = enum.IntEnum  # Type checkers expect names that are known before the program runs.
    of = make(name, members, module="frisbee_rpc.messages")
    of.__reduce_ex__ = _reduce_member
    _MADE[of] = (name, members)
    return of


def _reduce(message: Any) -> tuple[Any, ...]:
    name, fields = _MADE[type(message)]
    return _message, (name, fields, tuple(getattr(message, field) for field, *_ in fields))


def _message(name: str, fields: tuple[_Field, ...], values: tuple[Any, ...]) -> Any:
    return _message_class(name, fields)(*values)


def _reduce_member(member: Any, _: int) -> tuple[Any, ...]:
    return _member, (*_MADE[type(member)], int(member))


def _member(name: str, members: tuple[tuple[str, int], ...], number: int) -> Any:
    return _enum_class(name, members)(number)
