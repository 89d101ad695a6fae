"""Support for generated modules. Programs rarely use this module directly."""

from __future__ import annotations

from functools import partial
from typing import (
    Any,
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    ClassVar,
    Iterable,
    Iterator,
    Mapping,
    Optional,
    Protocol,
    Sequence,
    TypeVar,
    Union,
)

from ._client import AsyncClient, Client, client_streaming, server_streaming, streaming, unary
from ._native import Api, Context, Schema
from ._status import Code, Metadata, Status

__all__ = [
    "Array",
    "AsyncServiceClient",
    "AsyncStream",
    "Context",
    "Metadata",
    "Package",
    "Replies",
    "Reply",
    "Requests",
    "Service",
    "ServiceClient",
    "Source",
    "Stream",
    "Timeout",
    "unimplemented",
    "which",
]

_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)
_Own = TypeVar("_Own", bound="_ServiceClient")

Timeout = Optional[float]
"""Timeout of a call in seconds, or ``None`` for that of the client."""

Array = Any
"""A NumPy array."""

Reply = Union[_T, Awaitable[_T]]
"""The return type of a server's method, with or without ``async``."""

Replies = Union[Iterator[_T], AsyncIterator[_T]]
"""The return type of a server's method with a stream of replies, a generator or asynchronous generator."""

Source = Union[Iterable[_T], AsyncIterable[_T]]
"""The requests of a stream, for an asyncio client."""


class Stream(Protocol[_T_co]):
    """The replies of a call. :meth:`close` cancels the call."""

    def __iter__(self) -> Iterator[_T_co]: ...
    def __next__(self) -> _T_co: ...
    def close(self) -> None: ...


class AsyncStream(Protocol[_T_co]):
    """The replies of an asyncio call. :meth:`aclose` cancels the call."""

    def __aiter__(self) -> AsyncIterator[_T_co]: ...
    def __anext__(self) -> Awaitable[_T_co]: ...
    async def aclose(self) -> None: ...


class Requests(Protocol[_T_co]):
    """The requests that a method receives as a stream. Iterate over them with ``for``, or with ``async for`` in a
    coroutine method."""

    def __iter__(self) -> Iterator[_T_co]: ...
    def __next__(self) -> _T_co: ...
    def __aiter__(self) -> AsyncIterator[_T_co]: ...
    def __anext__(self) -> Awaitable[_T_co]: ...


Layout = tuple[str, bytes, Sequence[tuple[str, int, bool]]]
"""The wire properties of a service: its name, the description of its layout, and for each method its name, its
operation and whether it is idempotent."""


_Bound = tuple[Api, dict[tuple[str, str], int], dict[tuple[str, str], tuple[bool, bool]]]


class Package:
    """The classes of a generated module, and the wire properties of its services."""

    def __init__(
        self,
        classes: Mapping[str, type],
        imports: Callable[[], Sequence[Package]],
        layouts: Sequence[Layout],
        files: bytes,
    ) -> None:
        self._classes = classes
        self._imports = imports
        self._described = (files, layouts)
        self._bound: _Bound | None = None

    def _forms(self) -> dict[str, Any]:
        """Returns the classes of this module and of the modules that it imports. Imports may be cyclic."""
        open, seen = [self], set()
        forms: dict[str, Any] = {"frpc.Tensor": "tensor"}
        while open:
            package = open.pop()
            if id(package) not in seen:
                seen.add(id(package))
                forms.update(package._classes)
                open.extend(package._imports())
        return forms

    @property
    def last_operation(self) -> int:
        """Returns the highest operation of any method in this module."""
        return max((operation for *_, methods in self._described[1] for _, operation, *_ in methods), default=0)

    def bound(self) -> _Bound:
        """Returns the schema, and two maps with the service and name of a method as key: to its index, and to whether
        its requests and its replies are streams."""
        if self._bound is None:
            schema = Schema.embedded(*self._described)
            methods = schema.methods()
            places = {(service, name): place for place, (service, name, *_) in enumerate(methods)}
            streams = {(service, name): (takes, gives) for service, name, takes, gives, *_ in methods}
            self._bound = Api(schema, self._forms(), {}), places, streams
        return self._bound


class _ServiceClient:
    """The part that blocking and asyncio clients of services share."""

    _package: ClassVar[Package]
    _service: ClassVar[str]

    def _bind(self, client: Client | AsyncClient) -> None:
        self._client = client
        self._channel = client._channel
        self._api, places, _ = self._package.bound()
        self._places = {name: place for (service, name), place in places.items() if service == self._service}

    def _call(
        self, call: Callable[..., Any], name: str, value: Any, timeout: Timeout, metadata: Metadata | None
    ) -> Any:
        """Calls a method. Options that are not given are those of the client."""
        if timeout is None:
            timeout = self._client._timeout
        if metadata is None:
            metadata = self._client._metadata
        return call(self._api, self._places[name], value, timeout, metadata)

    def close(self) -> None:
        """Closes the client and those that share its connection. Further calls fail. The connection closes when the calls
        in flight have ended."""
        self._client.close()


class ServiceClient(_ServiceClient):
    """Calls a service over the connection of a :class:`Client`. Opens a new connection if given an address."""

    def __init__(self, client: Client | str, **options: Any) -> None:
        self._bind(client if isinstance(client, Client) else Client(client, **options))

    def __enter__(self: _Own) -> _Own:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _unary(self, name: str, request: Any, timeout: Timeout, metadata: Metadata | None) -> Any:
        return self._call(self._channel.call, name, request, timeout, metadata)

    def _server_streaming(self, name: str, request: Any, timeout: Timeout, metadata: Metadata | None) -> Any:
        return self._call(self._channel.stream, name, request, timeout, metadata)

    def _client_streaming(self, name: str, requests: Any, timeout: Timeout, metadata: Metadata | None) -> Any:
        return self._call(self._channel.call, name, requests, timeout, metadata)

    def _streaming(self, name: str, requests: Any, timeout: Timeout, metadata: Metadata | None) -> Any:
        return self._call(self._channel.stream, name, requests, timeout, metadata)


class AsyncServiceClient(_ServiceClient):
    """Calls a service from asyncio, over the connection of an :class:`AsyncClient`. Opens a new connection if given an
    address."""

    def __init__(self, client: AsyncClient | str, **options: Any) -> None:
        self._bind(client if isinstance(client, AsyncClient) else AsyncClient(client, **options))

    async def __aenter__(self: _Own) -> _Own:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def _unary(self, name: str, request: Any, timeout: Timeout, metadata: Metadata | None) -> Any:
        return self._call(partial(unary, self._channel), name, request, timeout, metadata)

    def _server_streaming(self, name: str, request: Any, timeout: Timeout, metadata: Metadata | None) -> Any:
        return self._call(partial(server_streaming, self._channel), name, request, timeout, metadata)

    def _client_streaming(self, name: str, requests: Any, timeout: Timeout, metadata: Metadata | None) -> Any:
        return self._call(partial(client_streaming, self._channel), name, requests, timeout, metadata)

    def _streaming(self, name: str, requests: Any, timeout: Timeout, metadata: Metadata | None) -> Any:
        return self._call(partial(streaming, self._channel), name, requests, timeout, metadata)


class Service:
    """Base class of the services in a schema. The generated class derives from it, and the user's class derives from
    the generated class to implement the methods."""

    _package: ClassVar[Package]
    _service: ClassVar[str]
    #: The names of methods in the schema, by their names in Python.
    _methods: ClassVar[Mapping[str, str]]


def unimplemented(method: str) -> Status:
    """Returns the status of an unimplemented method."""
    return Status(Code.UNIMPLEMENTED, f"the server does not implement {method}")


def which(message: object, *members: _T) -> _T | None:
    """Returns the name of the member of a oneof that is set."""
    return next((member for member in members if getattr(message, str(member)) is not None), None)
