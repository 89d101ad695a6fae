"""The schema of functions, made of their type hints.

Messages of requests have the parameters as fields. A dataclass is a message; another result is the only field, called
``result``, of a message that is called after its function. ``Any``, or no hint for a result, is the message ``AnyValue``.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import inspect
import sys
import types
import typing
from typing import Any, Callable

from ._native import Context

_SCALARS = {bool: "bool", int: "int64", float: "double", str: "string", bytes: "bytes"}
_KEYS = {bool: "bool", int: "int64", str: "string"}
_LISTS = (list, collections.abc.Sequence, collections.abc.Iterable, collections.abc.MutableSequence)
_DICTS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)
_STREAMS = (collections.abc.Iterator, collections.abc.Generator, collections.abc.Iterable)
_REQUESTS = (collections.abc.Iterator, collections.abc.Generator)
_ASYNC_REQUESTS = (collections.abc.AsyncIterator, collections.abc.AsyncGenerator, collections.abc.AsyncIterable)
_ASYNC_STREAMS = (collections.abc.AsyncIterator, collections.abc.AsyncGenerator, collections.abc.AsyncIterable)

_ANY = """message AnyValue {
  oneof kind {
    bool truth = 1;
    int64 integer = 2;
    double number = 3;
    string text = 4;
    bytes raw = 5;
    frpc.Tensor array = 6;
    frpc.Image image = 7;
    AnyList list = 8;
    AnyDict dict = 9;
  }
}

message AnyList {
  repeated AnyValue items = 1;
}

message AnyDict {
  map<string, AnyValue> entries = 1;
}"""

Absent = Any
"""``"required"``, ``"default"``, or a tuple with the value."""


def camel(name: str) -> str:
    """``get_user`` as ``GetUser``."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


@dataclasses.dataclass
class Described:
    """A function as a method."""

    name: str
    call: Callable[..., Any]
    kind: str
    context: str | None
    batch: tuple[int, float] | None


class Builder:
    """Collects methods and messages."""

    def __init__(self, service: str) -> None:
        package, _, name = service.rpartition(".")
        self.package, self.service = package, name
        self.forms: dict[str, Any] = {}
        self.fields: dict[str, tuple[Absent, str | None]] = {}
        self.functions: list[Described] = []
        self._messages: list[str] = []
        self._classes: dict[str, type] = {}
        self._methods: list[str] = []

    def full_name(self, name: str) -> str:
        return f"{self.package}.{name}" if self.package else name

    def proto(self) -> str:
        """The schema as the text of a file."""
        head = ['syntax = "proto3";']
        if self.package:
            head.append(f"package {self.package};")
        if "frpc.Tensor" in self.forms or "frpc.Image" in self.forms:
            head.append('import "frpc/tensor.proto";')
        service = "\n".join([f"service {self.service} {{", *self._methods, "}"])
        return "\n\n".join([*head, service, *self._messages]) + "\n"

    def add(
        self,
        function: Callable[..., Any],
        name: str,
        blocking: bool,
        batch: tuple[int, float] | None,
        in_process: bool = False,
    ) -> None:
        """Adds a function."""
        hints = typing.get_type_hints(function)
        what = f"function {function.__name__}"
        context, request = None, f"{camel(name)}Request"
        lines: list[str] = []
        streams: list[tuple[str, Any]] = []
        for parameter in inspect.signature(function).parameters.values():
            if parameter.kind not in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
                raise TypeError(f"{what}: {parameter} has to be a parameter that can be given by its position")
            hint = hints.get(parameter.name)
            if hint is None:
                raise TypeError(f"{what}: {parameter.name} needs a type, such as `{parameter.name}: int`")
            if hint is Context:
                context = parameter.name
                continue
            if typing.get_origin(hint) in _REQUESTS + _ASYNC_REQUESTS and not batch:
                streams.append((parameter.name, hint))
                continue
            if batch:
                hint = self._element(hint, f"{what}: {parameter.name}")
            self._field(lines, request, parameter.name, hint, parameter.default, what)
        kind, returned = self._kind(function, hints.get("return", Any), blocking, batch, what)
        if in_process:
            if kind not in ("here", "pool") or streams or context is not None:
                raise TypeError(f"{what}: in a process runs a plain function without streams and without the context")
            kind = "process"
        if streams:
            if len(streams) > 1 or lines:
                raise TypeError(f"{what}: a stream of requests is the only parameter beside the context")
            request = self._requests(request, *streams[0], kind in ("loop", "async generator"), what)
            kind = f"requests {kind}"
        else:
            self._add_message(request, "arguments", lines)
        reply = self._reply(name, returned, what)
        stream = "stream " if kind.endswith("generator") else ""
        if streams:
            request = f"stream {request}"
        for line in (inspect.getdoc(function) or "").splitlines():
            self._methods.append(f"  // {line}".rstrip())
        self._methods.append(f"  rpc {name}({request}) returns ({stream}{reply});")
        self.functions.append(Described(name, function, kind, context, batch))

    def _requests(self, message: str, name: str, hint: Any, is_async: bool, what: str) -> str:
        """The message of a stream of requests."""
        if is_async != (typing.get_origin(hint) in _ASYNC_REQUESTS):
            raise TypeError(f"{what}: {name} is an AsyncIterator in a coroutine function, and else an Iterator")
        (inner,) = typing.get_args(hint)[:1] or (None,)
        if dataclasses.is_dataclass(inner) and isinstance(inner, type):
            return self._dataclass(inner)
        lines: list[str] = []
        self._field(lines, message, name, inner, inspect.Parameter.empty, what)
        self._add_message(message, "value", lines)
        return message

    def _kind(
        self, function: Callable[..., Any], returned: Any, blocking: bool, batch: object, what: str
    ) -> tuple[str, Any]:
        """How a function is called, and what it returns for a call, or for a message of a stream."""
        origin = typing.get_origin(returned)
        if batch:
            if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
                raise TypeError(f"{what}: a batch is a plain function")
            return "batch", self._element(returned, f"{what}: what it returns")
        if inspect.isasyncgenfunction(function) or origin in _ASYNC_STREAMS:
            return "async generator", self._argument(returned, _ASYNC_STREAMS, f"{what}: what it returns")
        if inspect.isgeneratorfunction(function) or origin in _STREAMS[:2]:
            kind = "pool generator" if blocking else "generator"
            return kind, self._argument(returned, _STREAMS, f"{what}: what it returns")
        if inspect.iscoroutinefunction(function):
            return "loop", returned
        return ("pool" if blocking else "here"), returned

    def _element(self, hint: Any, what: str) -> Any:
        return self._argument(hint, _LISTS, what)

    @staticmethod
    def _argument(hint: Any, origins: tuple[Any, ...], what: str) -> Any:
        if hint is Any:
            return Any
        arguments = typing.get_args(hint)
        if typing.get_origin(hint) not in origins or not arguments:
            names = ", ".join(origin.__name__ for origin in origins)
            raise TypeError(f"{what} has to be one of {names}, with the type of its elements")
        return arguments[0]

    def _reply(self, name: str, returned: Any, what: str) -> str:
        if dataclasses.is_dataclass(returned) and isinstance(returned, type):
            return self._dataclass(returned)
        reply = f"{camel(name)}Result"
        lines: list[str] = []
        if returned not in (None, type(None)):
            self._field(lines, reply, "result", returned, inspect.Parameter.empty, what)
        self._add_message(reply, "value", lines)
        return reply

    def _field(self, lines: list[str], message: str, name: str, hint: Any, default: Any, what: str) -> None:
        label, kind, dtype, is_optional = self._type(hint, f"{what}: {name}")
        empty = inspect.Parameter.empty
        absent: Absent = "default"
        if is_optional:
            absent = (None if default is empty else default,)
        elif label == "" and "." in kind:
            absent = "required" if default is empty else (default,)
        elif label == "" and default is not empty and (bool(default) or default is None):
            # The wire does not tell the default of a type from an absent value, unless it is optional.
            absent, is_optional = (default,), True
        if is_optional and "." not in kind:
            label = "optional "
        if absent != "default" or dtype:
            self.fields[f"{self.full_name(message)}.{name}"] = (absent, dtype)
        kind = kind[len(self.package) + 1 :] if self.package and kind.startswith(f"{self.package}.") else kind.lstrip(".")
        lines.append(f"  {'' if label == 'map' else label}{kind} {name} = {len(lines) + 1};")

    def _type(self, hint: Any, what: str) -> tuple[str, str, str | None, bool]:
        """Label, type, the type of an array's elements, and whether it may be ``None``. Messages have a dot."""
        origin = typing.get_origin(hint)
        if origin is typing.Union or origin is types.UnionType:
            others = [argument for argument in typing.get_args(hint) if argument is not type(None)]
            if len(others) != 1 or len(others) == len(typing.get_args(hint)):
                raise TypeError(f"{what}: {hint} is a choice that no field has; Optional is")
            label, kind, dtype, _ = self._type(others[0], what)
            if label:
                raise TypeError(f"{what}: a list or dict is empty rather than None")
            return label, kind, dtype, True
        if origin in _LISTS or hint is list:
            inner = self._argument(hint, _LISTS, what)
            return "repeated ", self._single(inner, what), None, False
        if origin in _DICTS or hint is dict:
            arguments = typing.get_args(hint)
            if len(arguments) != 2 or arguments[0] not in _KEYS:
                raise TypeError(f"{what}: the keys of a dict are of the type str, int or bool")
            value = self._single(arguments[1], what)
            value = value[len(self.package) + 1 :] if self.package and value.startswith(f"{self.package}.") else value
            return "map", f"map<{_KEYS[arguments[0]]}, {value.lstrip('.')}>", None, False
        dtype = _dtype(hint)
        if dtype is not None:
            self.forms["frpc.Tensor"] = "tensor"
            return "", "frpc.Tensor", dtype or None, False
        if hint is Any:
            return "", self._any(), None, True
        return "", self._single(hint, what), None, False

    def _single(self, hint: Any, what: str) -> str:
        scalar = _SCALARS.get(hint) if isinstance(hint, type) else None
        if scalar is not None:
            return scalar
        if dataclasses.is_dataclass(hint) and isinstance(hint, type):
            name = self._dataclass(hint)
            # A dot tells messages from scalars, also without a package.
            return self.full_name(name) if self.package else f".{name}"
        if _dtype(hint) is not None:
            self.forms["frpc.Tensor"] = "tensor"
            return "frpc.Tensor"
        if hint is Any:
            return self._any()
        if _is_image(hint):
            self.forms["frpc.Image"] = "image"
            return "frpc.Image"
        shown = hint.__name__ if isinstance(hint, type) else hint
        raise TypeError(
            f"{what}: {shown} has no place in a schema; int, float, str, bytes, bool, dataclasses, arrays of NumPy, images "
            "of Pillow, and lists and dicts of these have"
        )

    def _any(self) -> str:
        """The message of values of any type."""
        name = self.full_name("AnyValue")
        if self.forms.get(name) != "any":
            self.forms.update({"frpc.Tensor": "tensor", "frpc.Image": "image"})
            for message, form in (("AnyValue", "any"), ("AnyList", "value"), ("AnyDict", "value")):
                if self.full_name(message) in self.forms:
                    raise TypeError(f"two messages are called {message}")
                self.forms[self.full_name(message)] = form
            self._messages.append(_ANY)
        return name if self.package else ".AnyValue"

    def _dataclass(self, kind: type) -> str:
        name = kind.__name__
        known = self._classes.get(name)
        if known is kind:
            return name
        if known is not None or self.full_name(name) in self.forms:
            raise TypeError(f"two messages are called {name}")
        self._classes[name] = kind
        hints = typing.get_type_hints(kind)
        lines: list[str] = []
        for field in dataclasses.fields(kind):
            if not field.init or field.kw_only:
                raise TypeError(f"{name}.{field.name}: fields of messages are given by their position")
            default = inspect.Parameter.empty if field.default is dataclasses.MISSING else field.default
            self._field(lines, name, field.name, hints[field.name], default, name)
        self._add_message(name, kind, lines)
        return name

    def _add_message(self, name: str, form: Any, lines: list[str]) -> None:
        if self.full_name(name) in self.forms:
            raise TypeError(f"two messages are called {name}")
        self.forms[self.full_name(name)] = form
        self._messages.append("\n".join([f"message {name} {{", *lines, "}"]))


def _is_image(hint: Any) -> bool:
    """Whether a hint is the class of Pillow's images. One who writes it has imported it."""
    pillow = sys.modules.get("PIL.Image")
    return pillow is not None and hint is pillow.Image


def _dtype(hint: Any) -> str | None:
    """The name of an array's type, empty if it is any, or ``None`` if the hint is no array."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return None
    if hint is numpy.ndarray:
        return ""
    if typing.get_origin(hint) is not numpy.ndarray:
        return None
    arguments = typing.get_args(hint)
    inner = typing.get_args(arguments[1])[0] if len(arguments) == 2 and typing.get_args(arguments[1]) else Any
    try:
        return str(numpy.dtype(inner).name) if isinstance(inner, type) else ""
    except TypeError:
        return ""
