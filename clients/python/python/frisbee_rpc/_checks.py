"""Validates arguments. Errors name the argument and the accepted values."""

from __future__ import annotations

import re
from typing import Any, Iterable, TypeVar

_Kind = TypeVar("_Kind")

#: The minimum and maximum configurable message length, in bytes.
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


def origins(values: Iterable[Any]) -> list[str]:
    """Validates the origins of web pages. An origin must have the form that browsers send, because any other form would
    match no page."""
    for value in (checked := texts("origins", values)):
        scheme, _, rest = value.partition("://")
        usual = {"http": ":80", "https": ":443"}.get(scheme, " ")
        if not re.fullmatch(r"[a-z][a-z0-9+.-]*://[^/?#@*\sA-Z]+", value) or rest.endswith(usual):
            raise ValueError(f"origins: {value!r} matches no page; one is such as 'https://app.example.com' or 'http://localhost:3000'")
    return checked


def hosts(values: Iterable[Any]) -> list[str]:
    """Validates the host names of a server. A host must have the form that requests contain, because any other form
    would match no request."""
    for value in (checked := texts("hosts", values)):
        if not re.fullmatch(r"[\w.-]+|\[?[0-9a-fA-F]*:[0-9a-fA-F:.]*:[0-9a-fA-F.]*\]?", value):
            raise ValueError(f"hosts: {value!r} matches no request; a host is a name without scheme and port, such as 'app.example.com'")
    return checked


def instance(name: str, value: Any, kind: type[_Kind]) -> _Kind:
    if not isinstance(value, kind):
        raise TypeError(f"{name}: {kind.__name__} expected, not {type(value).__name__}")
    return value
