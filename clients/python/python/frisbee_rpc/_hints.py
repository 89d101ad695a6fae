"""Creates the schema of functions from their type hints.

The parameters of a function become the fields of its request message, and a dataclass becomes a message. A result that
is not a message becomes the field ``result`` of a message named after the function. ``Any`` and a missing hint for the
result become the message ``AnyValue``.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import datetime
import enum
import functools
import inspect
import re
import sys
import types
import typing
from typing import Any, Callable, Iterator, Mapping

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

Absent = tuple[str, Any]
"""The value of an absent field: ``"required"``, ``"default"``, ``"value"`` with a value, or ``"factory"`` with a
function."""

_TIMES = {datetime.datetime: "google.protobuf.Timestamp", datetime.timedelta: "google.protobuf.Duration"}
_SETS = {set: set, frozenset: frozenset, collections.abc.Set: frozenset, collections.abc.MutableSet: set}


class _Factory:
    """A function that creates the default value of a field."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make


@dataclasses.dataclass
class _Type:
    """The schema type of a hint."""

    label: str
    #: Names of messages contain a dot, and names of scalars do not.
    kind: str
    #: The element type of an array.
    dtype: str | None = None
    is_optional: bool = False
    #: Converts or rejects a decoded value.
    convert: Callable[[Any], Any] | None = None
    #: Whether the value has no default, so that it must be given.
    is_required: bool = False


def base_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the function that partials wrap, or the ``__call__`` method of an object."""
    while isinstance(function, functools.partial):
        function = function.func
    if inspect.isroutine(function) or isinstance(function, type):
        return function
    call: Callable[..., Any] = type(function).__call__
    return call


def name_of(function: Callable[..., Any]) -> str:
    """Returns the name of a function."""
    while isinstance(function, functools.partial):
        function = function.func
    name = getattr(function, "__name__", None)
    if name is None:
        raise TypeError(f"an object of {type(function).__name__} has no name as a method: server(name=…)(object)")
    return str(name)


def hints_of(holder: Any, what: str, local: Mapping[str, Any] | None) -> dict[str, Any]:
    """Returns the type hints of a function or class. ``local`` contains the local names at its definition."""
    try:
        return typing.get_type_hints(holder, localns=dict(local) if local else None, include_extras=True)
    except NameError as error:
        unknown = error.name
        for name, hint in getattr(holder, "__annotations__", {}).items():
            if isinstance(hint, str) and unknown in re.findall(r"\w+", hint):
                part = "the result" if name == "return" else name
                raise TypeError(f"{what}: {part}: {unknown!r} of the hint {hint!r} is not defined") from None
        raise TypeError(f"{what}: {error}") from None


def _plain(hint: Any, what: str) -> Any:
    """Resolves aliases (``type Name = …``) and removes annotations from a hint. Rejects annotations that restrict
    values, because the restriction would not be enforced."""
    while True:
        origin = typing.get_origin(hint)
        alias = hint if origin is None else origin
        if origin is typing.Annotated:
            for extra in hint.__metadata__:
                if not isinstance(extra, str) and type(extra).__name__ != "Doc":
                    raise TypeError(f"{what}: {extra!r} would not be checked: check the value in the function")
            hint = hint.__origin__
        elif hasattr(alias, "__value__") and hasattr(alias, "__type_params__"):
            given = dict(zip(alias.__type_params__, typing.get_args(hint)))
            hint = alias.__value__
            if parameters := getattr(hint, "__parameters__", ()):
                hint = hint[tuple(given.get(parameter, Any) for parameter in parameters)]
        else:
            return hint


def _identifier(name: str, what: str) -> str:
    """Returns the name if it is valid in a schema. Raises ``TypeError`` otherwise."""
    if not name.isascii():
        raise TypeError(f"{what}: the name {name!r} has letters that no name in a schema has: use those of ASCII")
    return name


def form_of(function: Callable[..., Any]) -> str:
    """Returns ``"coroutine"``, ``"async generator"``, ``"generator"`` or ``""``. For a wrapper that is a plain
    function, returns the form of the function that it wraps."""
    base: Any = base_of(function)
    while True:
        if inspect.isasyncgenfunction(base):
            return "async generator"
        if inspect.iscoroutinefunction(base):
            return "coroutine"
        if inspect.isgeneratorfunction(base):
            return "generator"
        wrapped = getattr(base, "__wrapped__", None)
        if wrapped is None:
            return ""
        base = base_of(wrapped)


def camel(name: str) -> str:
    """Converts ``get_user`` to ``GetUser``."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


@dataclasses.dataclass
class Described:
    """A function, described as a method of the schema."""

    name: str
    call: Callable[..., Any]
    kind: str
    #: The position of the parameter for the context, or its name if it is keyword-only.
    context: int | str | None
    batch: tuple[int, float] | None


class Builder:
    """Builds a schema of methods and messages."""

    def __init__(self, service: str) -> None:
        package, _, name = service.rpartition(".")
        self.package, self.service = package, name
        self.forms: dict[str, Any] = {}
        self.fields: dict[str, tuple[Absent, str | None, Callable[[Any], Any] | None]] = {}
        self.functions: list[Described] = []
        self._messages: list[str] = []
        self._classes: dict[str, type] = {}
        self._methods: list[str] = []
        #: Hints of messages that correspond to no named Python type.
        self._unnamed: dict[str, Any] = {}
        #: The local names at the definition of the functions.
        self._local: dict[str, Any] = {}

    def full_name(self, name: str) -> str:
        return f"{self.package}.{name}" if self.package else name

    def proto(self) -> str:
        """Returns the schema as the text of a ``.proto`` file."""
        head = ['syntax = "proto3";']
        if self.package:
            head.append(f"package {self.package};")
        if "frpc.Tensor" in self.forms or "frpc.Image" in self.forms:
            head.append('import "frpc/tensor.proto";')
        for time in _TIMES.values():
            if time in self.forms:
                head.append(f'import "{time.lower().replace(".", "/")}.proto";')
        service = "\n".join([f"service {self.service} {{", *self._methods, "}"])
        return "\n\n".join([*head, service, *self._messages]) + "\n"

    def add(
        self,
        function: Callable[..., Any],
        name: str,
        blocking: bool,
        batch: tuple[int, float] | None,
        in_process: bool = False,
        local: Mapping[str, Any] | None = None,
    ) -> None:
        """Adds a function."""
        what = f"function {name}"
        self._local.update(local or {})
        hints = hints_of(base_of(function), what, local)
        context: int | str | None = None
        request = f"{camel(_identifier(name, what))}Request"
        lines: list[str] = []
        streams: list[tuple[str, Any]] = []
        for parameter in inspect.signature(function).parameters.values():
            if isinstance(function, functools.partial) and parameter.name in function.keywords:
                continue
            hint = _plain(hints.get(parameter.name), f"{what}: {parameter.name}")
            if hint is Context:
                if context is not None:
                    raise TypeError(f"{what}: {parameter.name} is its second context")
                if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                    raise TypeError(f"{what}: {parameter} has to be one parameter")
                context = parameter.name if parameter.kind is parameter.KEYWORD_ONLY else len(lines) + len(streams)
                continue
            if parameter.kind not in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
                raise TypeError(f"{what}: {parameter} has to be a parameter that can be given by its position")
            if parameter.name not in hints:
                raise TypeError(f"{what}: {parameter.name} needs a type, such as `{parameter.name}: int`")
            if typing.get_origin(hint) in _REQUESTS + _ASYNC_REQUESTS and not batch:
                streams.append((parameter.name, hint))
                continue
            if batch:
                hint = self._element(hint, f"{what}: {parameter.name}")
            self._field(lines, request, parameter.name, hint, parameter.default, what)
        returned = _plain(hints.get("return", Any), f"{what}: the result")
        kind, returned = self._kind(function, returned, blocking, batch, what)
        if batch and context is not None:
            raise TypeError(f"{what}: a batch of many calls has no context")
        if blocking and kind in ("loop", "async generator"):
            raise TypeError(f"{what}: a coroutine function runs in the event loop and must not block: leave out blocking=True")
        if in_process:
            if kind not in ("here", "pool") or streams or context is not None:
                raise TypeError(f"{what}: in a process runs a plain function without streams and without the context")
            kind = "process"
        if streams:
            if len(streams) > 1 or lines:
                raise TypeError(f"{what}: a stream of requests is the only parameter except the context")
            request = self._requests(request, *streams[0], kind in ("loop", "async generator"), what)
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
        """Returns the request message of a method that receives a stream."""
        if is_async != (typing.get_origin(hint) in _ASYNC_REQUESTS):
            raise TypeError(f"{what}: {name} is an AsyncIterator in a coroutine function, and else an Iterator")
        (inner,) = typing.get_args(hint)[:1] or (None,)
        inner = _plain(inner, f"{what}: {name}")
        if dataclasses.is_dataclass(inner) and isinstance(inner, type):
            return self._dataclass(inner, what)
        lines: list[str] = []
        self._field(lines, message, name, inner, inspect.Parameter.empty, what)
        self._add_message(message, "value", lines)
        return message

    def _kind(
        self, function: Callable[..., Any], returned: Any, blocking: bool, batch: object, what: str
    ) -> tuple[str, Any]:
        """Returns the kind of call of a function, and the type of its result or of the messages in its stream."""
        origin = typing.get_origin(returned)
        form = form_of(function)
        if batch:
            if form:
                raise TypeError(f"{what}: a batch is a plain function")
            return "batch", self._element(returned, f"{what}: the result")
        if form == "coroutine" and origin in _ASYNC_STREAMS + _STREAMS[:2]:
            raise TypeError(f"{what}: a coroutine function that returns a stream has to be a generator: `yield` its messages")
        if form == "async generator" or origin in _ASYNC_STREAMS:
            return "async generator", self._argument(returned, _ASYNC_STREAMS, f"{what}: the result")
        if form == "generator" or origin in _STREAMS[:2]:
            kind = "pool generator" if blocking else "generator"
            return kind, self._argument(returned, _STREAMS, f"{what}: the result")
        if form == "coroutine":
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
        return _plain(arguments[0], what)

    def _reply(self, name: str, returned: Any, what: str) -> str:
        if dataclasses.is_dataclass(returned) and isinstance(returned, type):
            return self._dataclass(returned, what)
        reply = f"{camel(name)}Result"
        lines: list[str] = []
        if returned not in (None, type(None)):
            self._field(lines, reply, "result", returned, inspect.Parameter.empty, what, is_result=True)
        self._add_message(reply, "value", lines)
        return reply

    def _field(
        self,
        lines: list[str],
        message: str,
        name: str,
        hint: Any,
        default: Any,
        what: str,
        is_result: bool = False,
    ) -> None:
        of = self._type(hint, f"{what}: {_identifier(name, what)}")
        is_message = "." in of.kind
        is_given = default is not inspect.Parameter.empty
        given: Absent = ("factory", default.make) if isinstance(default, _Factory) else ("value", default)
        absent: Absent = ("default", None)
        label, is_optional = of.label, of.is_optional
        if is_optional:
            absent = given if is_given else ("value", None)
        elif label:
            # Only in JSON, an absent list or dict is different from an empty one.
            absent = given if is_given else absent
        elif is_message or of.is_required:
            absent, is_optional = given if is_given else ("required", None), True
        elif is_given and (isinstance(default, _Factory) or default is None or bool(default)):
            # On the wire, an absent value is different from the default only if the field is optional.
            absent, is_optional = given, True
        elif not is_given and not is_result:
            absent, is_optional = ("required", None), True
        if is_optional and not is_message:
            label = "optional "
        if absent[0] != "default" or of.dtype or of.convert:
            self.fields[f"{self.full_name(message)}.{name}"] = (absent, of.dtype, of.convert)
        lines.append(f"  {'' if label == 'map' else label}{self._shown(of.kind)} {name} = {len(lines) + 1};")

    def _shown(self, kind: str) -> str:
        """Returns the text of a type for the ``.proto`` file."""
        kind = kind[len(self.package) + 1 :] if self.package and kind.startswith(f"{self.package}.") else kind
        return kind.lstrip(".")

    def _type(self, hint: Any, what: str) -> _Type:
        hint = _plain(hint, what)
        origin, arguments = typing.get_origin(hint), typing.get_args(hint)
        if origin is typing.Union or origin is types.UnionType:
            others = [_plain(argument, what) for argument in arguments if argument is not type(None)]
            if len(others) != 1 or len(others) == len(arguments):
                raise TypeError(f"{what}: {hint} is a choice that no field has; Optional is")
            of = self._type(others[0], what)
            if of.label:
                raise TypeError(f"{what}: a list or dict is empty rather than None")
            return dataclasses.replace(of, is_optional=True)
        if origin is typing.Literal:
            return _Type("", self._single(hint, what), convert=_one_of(arguments), is_required=True)
        if origin in _LISTS or hint is list:
            return self._repeated(self._argument(hint, _LISTS, what), None, what)
        if origin in _SETS:
            return self._repeated(self._argument(hint, tuple(_SETS), what), _SETS[origin], what)
        if origin is tuple and len(arguments) == 2 and arguments[1] is Ellipsis:
            return self._repeated(arguments[0], tuple, what)
        if origin in _DICTS or hint is dict:
            if len(arguments) != 2 or arguments[0] not in _KEYS:
                raise TypeError(f"{what}: the keys of a dict are of the type str, int or bool")
            inner = _plain(arguments[1], what)
            value = self._shown(self._single(inner, what))
            convert = _each_of(typing.get_args(inner)) if typing.get_origin(inner) is typing.Literal else None
            return _Type("map", f"map<{_KEYS[arguments[0]]}, {value}>", convert=convert)
        dtype = _dtype(hint)
        if dtype is not None:
            self.forms["frpc.Tensor"] = "tensor"
            return _Type("", "frpc.Tensor", dtype or None)
        if hint is Any:
            return _Type("", self._any(), is_optional=True)
        kind = self._single(hint, what)
        is_required = isinstance(hint, enum.EnumType) and 0 not in self.forms[self.full_name(kind)]
        return _Type("", kind, is_required=is_required)

    def _repeated(self, inner: Any, make: Callable[[Any], Any] | None, what: str) -> _Type:
        """Returns the type of a list. ``make`` converts a decoded list to the type of the hint."""
        inner = _plain(inner, what)
        convert = make
        if typing.get_origin(inner) is typing.Literal:
            check = _one_of(typing.get_args(inner))

            def convert(values: Any) -> Any:
                return (make or list)(check(value) for value in values)

        return _Type("repeated ", self._single(inner, what), convert=convert)

    def _single(self, hint: Any, what: str) -> str:
        """Returns the type of a single value."""
        hint = _plain(hint, what)
        origin, arguments = typing.get_origin(hint), typing.get_args(hint)
        scalar = _SCALARS.get(hint) if isinstance(hint, type) else None
        if scalar is not None:
            return scalar
        if isinstance(hint, type) and (dataclasses.is_dataclass(hint) or hasattr(hint, "_field_defaults")):
            return self._full(self._dataclass(hint, what))
        if isinstance(hint, enum.EnumType):
            return self._enum(hint, what)
        if isinstance(hint, type) and hint in _TIMES:
            self.forms[_TIMES[hint]] = hint.__name__
            return _TIMES[hint]
        if origin is typing.Literal:
            kinds = {type(value) for value in arguments}
            if len(kinds) != 1 or not kinds <= {str, int, bool}:
                raise TypeError(f"{what}: the values of a Literal are of one type: str, int or bool")
            return _SCALARS[kinds.pop()]
        if origin is tuple and Ellipsis not in arguments:
            return self._full(self._tuple(arguments, what))
        if origin in _LISTS or origin in _SETS or origin in _DICTS or origin is tuple:
            return self._full(self._nested(hint, what))
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
            f"{what}: {shown} has no type in a schema; int, float, str, bytes, bool, enums, Literal, datetime, timedelta, "
            "dataclasses, arrays of NumPy, images of Pillow, and lists, tuples, sets and dicts of these have"
        )

    def _full(self, name: str) -> str:
        # The leading dot marks messages without a package.
        return self.full_name(name) if self.package else f".{name}"

    def _nested(self, hint: Any, what: str) -> str:
        """Returns the message that wraps a list or dict inside another list or dict."""
        of = self._type(hint, what)
        field, kind = ("entries", "MapOf") if of.label == "map" else ("items", "ListOf")
        words = re.findall(r"\w+", self._shown(of.kind).rpartition(".")[2] if of.label != "map" else of.kind[4:])
        name = kind + "".join(camel(word) for word in words)
        if of.convert is not None:
            # Sets and tuples use the same lists on the wire, but are different types in Python.
            name += "As" + camel(getattr(typing.get_origin(hint), "__name__", "") or "list")
        lines: list[str] = []
        self._field(lines, name, field, hint, inspect.Parameter.empty, what)
        self._add_unnamed(name, "value", lines, hint, what)
        return name

    def _add_unnamed(self, name: str, form: str, lines: list[str], hint: Any, what: str) -> None:
        """Adds a message for a hint that has no name, unless it was added before."""
        if name not in self._unnamed:
            self._add_message(name, form, lines)
        elif self._unnamed[name] != hint:
            raise TypeError(f"{what}: {hint} and {self._unnamed[name]} are one message; make one a dataclass")
        self._unnamed[name] = hint

    def _tuple(self, arguments: tuple[Any, ...], what: str) -> str:
        """Returns the message that represents a tuple."""
        lines: list[str] = []
        words: list[str] = []
        items = []
        for at, argument in enumerate(arguments, 1):
            # The name of the message depends on its fields, so they are added without a name at first. They are removed
            # at once, because the next argument may contain another tuple.
            self._field(lines, "", f"item{at}", argument, inspect.Parameter.empty, what)
            given = self.fields.pop(f"{self.full_name('')}.item{at}", None)
            items.append(given)
            is_required = given is not None and given[0][0] == "required"
            words += [word for word in re.findall(r"\w+", lines[-1].partition(" item")[0]) if word != "optional" or not is_required]
        name = "TupleOf" + "".join(camel(word) for word in words)
        for at, given in enumerate(items, 1):
            if given is not None:
                self.fields[f"{self.full_name(name)}.item{at}"] = given
        self._add_unnamed(name, "arguments", lines, arguments, what)
        return name

    def _enum(self, kind: Any, what: str) -> str:
        name: str = kind.__name__
        known = self._classes.get(name)
        if known is kind:
            return name
        if known is not None or self.full_name(name) in self.forms:
            raise TypeError(f"two types are called {name}")
        if issubclass(kind, enum.Flag):
            raise TypeError(f"{what}: {name} is a flag, whose values are many; use int")
        numbered = _numbered(kind, what)
        prefix = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", _identifier(name, what)).upper()
        names: dict[Any, str] = {}
        for member in kind:
            value = f"{prefix}_{_identifier(member.name, what).upper()}"
            if value in names:
                raise TypeError(f"{what}: {names[value]} and {member.name} of {name} are one name in a schema, without case")
            names[value] = member.name
        unspecified = f"{prefix}_UNSPECIFIED"
        while unspecified in names:
            unspecified += "0"
        names = {number: value for number, value in zip(numbered, names)}
        names = {0: names.pop(0, unspecified), **names}
        lines = [f"  {value} = {number};" for number, value in names.items()]
        self._classes[name] = kind
        self.forms[self.full_name(name)] = numbered
        self._messages.append("\n".join([f"enum {name} {{", *lines, "}"]))
        return name

    def _any(self) -> str:
        """Returns the message that represents values of any type."""
        name = self.full_name("AnyValue")
        if self.forms.get(name) != "any":
            self.forms.update({"frpc.Tensor": "tensor", "frpc.Image": "image"})
            for message, form in (("AnyValue", "any"), ("AnyList", "value"), ("AnyDict", "value")):
                if self.full_name(message) in self.forms:
                    raise TypeError(f"two messages are called {message}")
                self.forms[self.full_name(message)] = form
            self._messages.append(_ANY)
        return name if self.package else ".AnyValue"

    def _dataclass(self, kind: type, what: str) -> str:
        name = _identifier(kind.__name__, what)
        known = self._classes.get(name)
        if known is kind:
            return name
        if known is not None or self.full_name(name) in self.forms:
            raise TypeError(f"two messages are called {name}")
        self._classes[name] = kind
        hints = hints_of(kind, name, self._local)
        lines: list[str] = []
        for field, default in _fields(kind):
            if field not in hints:
                raise TypeError(f"{what}: {name}.{field} needs a type: derive {name} from typing.NamedTuple")
            self._field(lines, name, field, hints[field], default, name)
        self._add_message(name, kind, lines)
        return name

    def _add_message(self, name: str, form: Any, lines: list[str]) -> None:
        if self.full_name(name) in self.forms:
            raise TypeError(f"two messages are called {name}")
        self.forms[self.full_name(name)] = form
        self._messages.append("\n".join([f"message {name} {{", *lines, "}"]))


def _fields(kind: Any) -> Iterator[tuple[str, Any]]:
    """Returns the fields of a dataclass or named tuple with their defaults."""
    if not dataclasses.is_dataclass(kind):
        for name in kind._fields:
            yield name, kind._field_defaults.get(name, inspect.Parameter.empty)
        return
    for field in dataclasses.fields(kind):
        if not field.init or field.kw_only:
            raise TypeError(f"{kind}.{field.name}: fields of messages are given by their position")
        if field.default is not dataclasses.MISSING:
            yield field.name, field.default
        elif field.default_factory is not dataclasses.MISSING:
            yield field.name, _Factory(field.default_factory)
        else:
            yield field.name, inspect.Parameter.empty


def _numbered(kind: Any, what: str) -> dict[int, Any]:
    """Returns the members of an enum by number. The numbers are the values if all of them are integers, and count from
    1 otherwise."""
    members: list[Any] = list(kind)
    if not members:
        raise TypeError(f"{what}: {kind.__name__} has no members")
    if not all(isinstance(member.value, int) and not isinstance(member.value, bool) for member in members):
        return dict(enumerate(members, 1))
    for member in members:
        if not -(2**31) <= member.value < 2**31:
            raise TypeError(f"{what}: {kind.__name__}.{member.name} is {member.value:d}, and numbers of enums in a schema have 32 bits")
    return {int(member.value): member for member in members}


def _one_of(values: tuple[Any, ...]) -> Callable[[Any], Any]:
    """Returns a function that rejects values other than those of a ``Literal``."""

    def check(value: Any) -> Any:
        if value not in values:
            raise ValueError(f"{value!r} is none of {', '.join(map(repr, values))}")
        return value

    return check


def _each_of(values: tuple[Any, ...]) -> Callable[[Any], Any]:
    """Returns a function that rejects dicts with values other than those of a ``Literal``."""
    check = _one_of(values)
    return lambda entries: {key: check(value) for key, value in entries.items()}


def _is_image(hint: Any) -> bool:
    """Returns whether a hint is the image class of Pillow. If it is, the program has imported Pillow."""
    pillow = sys.modules.get("PIL.Image")
    return pillow is not None and hint is pillow.Image


def _dtype(hint: Any) -> str | None:
    """Returns the element type of an array hint, or an empty text if any type is accepted. Returns ``None`` if the hint
    is not an array."""
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
