"""Checks of arguments. An error names the argument and the values that it takes."""

from __future__ import annotations

from typing import Any, Iterable, TypeVar

_Kind = TypeVar("_Kind")

#: The shortest and the longest limit of a message, in bytes.
BODY_MAX = (1024, 2**32 - 1)


def integer(name: str, value: Any, least: int, most: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name}: an int expected, not {type(value).__name__}")
    if not least <= value <= most:
        raise ValueError(f"{name}: {value} is not between {least} and {most}")
    return value


def seconds(name: str, value: Any) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise TypeError(f"{name}: a time in seconds expected, not {type(value).__name__}")
    return float(value)


def texts(name: str, values: Iterable[Any]) -> list[str]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise TypeError(f"{name}: a list of str expected, not {type(values).__name__}")
    values = list(values)
    for value in values:
        instance(name, value, str)
    return values


def instance(name: str, value: Any, kind: type[_Kind]) -> _Kind:
    if not isinstance(value, kind):
        raise TypeError(f"{name}: {kind.__name__} expected, not {type(value).__name__}")
    return value
