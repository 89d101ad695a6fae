"""Topics: messages to all subscribers of a server's broker."""

from __future__ import annotations

import sys
from typing import Any, AsyncIterator, Generic, Iterator, Literal, NamedTuple, TypeVar, Union, overload

from ._checks import instance
from ._client import _next_item, _wait
from ._native import Api, Schema, Subscribed
from ._native import Topics as NativeTopics

__all__ = ["AsyncSubscription", "AsyncTopics", "Message", "Position", "Subscription", "Topics"]

_T = TypeVar("_T")


class Position(NamedTuple):
    """The position of a message in the history of its topic. Offsets start at 1 and have no gaps."""

    epoch: int
    offset: int


Start = Union[Literal["now", "last", "oldest"], Position]
"""The start of a subscription: new messages only, the last or the oldest message of each topic, or the message after
a position."""


class Message(Generic[_T]):
    """A published message: its topic, and its bytes or object.

    With ``start`` and a broker that keeps a history, ``position`` is the position of the message in its topic, where a
    later subscription can start.
    """

    __slots__ = ("topic", "value", "position")

    def __init__(self, topic: str, value: _T, position: Position | None = None) -> None:
        self.topic, self.value, self.position = topic, value, position

    def __repr__(self) -> str:
        return f"Message({self.topic!r}, {self.value!r})"


class _Codec:
    """Encodes and decodes objects of a class as messages."""

    def __init__(self, kind: type) -> None:
        self.api, self.name = _generated(kind) or _hinted(kind)

    def encode(self, value: Any) -> bytes:
        return self.api.encode(self.name, value)

    def decode(self, body: bytes) -> Any:
        return self.api.decode(self.name, body)


_CODECS: dict[type, _Codec] = {}


def _codec(kind: type) -> _Codec:
    codec = _CODECS.get(kind)
    if codec is None:
        codec = _CODECS[kind] = _Codec(kind)
    return codec


def _generated(kind: type) -> tuple[Api, str] | None:
    """Returns the codec of a message class of a generated module, which a method of its services must use."""
    package = getattr(sys.modules.get(kind.__module__), "_PACKAGE", None)
    names = [name for name, known in getattr(package, "_classes", {}).items() if known is kind]
    return (package.bound()[0], names[0]) if package is not None and names else None


def _hinted(kind: type) -> tuple[Api, str]:
    """Returns the codec of a dataclass, whose message is derived from its type hints."""
    import dataclasses

    from ._hints import Builder

    if not dataclasses.is_dataclass(kind):
        raise TypeError(f"messages of topics are bytes or dataclasses, not {kind.__name__}")

    def topic(message: Any) -> None: ...

    topic.__annotations__ = {"message": kind, "return": None}
    builder = Builder("topics.Topics")
    builder.add(topic, "topic", False, None)
    schema = Schema.parse([("topics.proto", builder.proto())])
    return Api(schema, builder.forms, builder.fields), builder.full_name(kind.__name__)


def _body(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    return _codec(type(value)).encode(value)


def _message(kind: type | None, shown: tuple[str, bytes, tuple[int, int] | None]) -> Message[Any]:
    topic, body, position = shown
    value = body if kind is None else _codec(kind).decode(body)
    return Message(topic, value, Position(*position) if position else None)


class Topics:
    """Publishes and subscribes over a separate connection that is established on demand.

    Topics are words separated by dots, ``orders.north.created``. In a pattern, ``*`` matches one word, and a final
    ``>`` matches all remaining words. A lost connection is replaced, and subscriptions continue. Messages are bytes,
    text, or objects of dataclasses and of generated classes.
    """

    def __init__(self, native: NativeTopics) -> None:
        self._native = native

    def publish(self, topic: str, value: Any) -> None:
        """Publishes a message without waiting for an acknowledgement; :meth:`sync` waits until the broker has
        received it."""
        self._native.publish(instance("topic", topic, str), _body(value))

    def sync(self) -> None:
        """Waits until the broker has received all previously published messages."""
        self._native.sync()

    @overload
    def subscribe(
        self, pattern: str, kind: None = None, *, group: str | None = None, start: Start | None = None
    ) -> Subscription[bytes]: ...
    @overload
    def subscribe(
        self, pattern: str, kind: type[_T], *, group: str | None = None, start: Start | None = None
    ) -> Subscription[_T]: ...
    def subscribe(
        self, pattern: str, kind: Any = None, *, group: str | None = None, start: Start | None = None
    ) -> Subscription[Any]:
        """Subscribes to a pattern. Yields new messages as bytes, or as objects of ``kind``. Each message is delivered
        to one member of a ``group``.

        With ``start`` the broker's history is used. After a lost connection, messages continue from the history, or a
        :class:`Status` reports how many were lost.
        """
        if kind is not None:
            _codec(kind)
        return Subscription(self._native.subscribe(instance("pattern", pattern, str), group, start), kind)

    def close(self) -> None:
        """Closes the connection and its subscriptions. Later calls fail with ``FAILED_PRECONDITION``."""
        self._native.close()


class Subscription(Generic[_T]):
    """An iterator over the messages of a pattern. If messages were lost, raises a :class:`Status`, after which
    iteration can continue."""

    def __init__(self, native: Subscribed, kind: type | None) -> None:
        self._native, self._kind = native, kind

    def __iter__(self) -> Iterator[Message[_T]]:
        return self

    def __next__(self) -> Message[_T]:
        shown = self._native.next_message()
        if shown is None:
            raise StopIteration
        return _message(self._kind, shown)

    def __enter__(self) -> Subscription[_T]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the subscription, and an iteration on another thread."""
        self._native.close()


class AsyncTopics:
    """Like :class:`Topics`, for asyncio."""

    def __init__(self, native: NativeTopics) -> None:
        self._native = native

    async def publish(self, topic: str, value: Any) -> None:
        """Publishes a message without waiting for an acknowledgement; :meth:`sync` waits until the broker has
        received it."""
        await _wait(self._native.start_publish, instance("topic", topic, str), _body(value))

    async def sync(self) -> None:
        """Waits until the broker has received all previously published messages."""
        await _wait(self._native.start_sync)

    @overload
    async def subscribe(
        self, pattern: str, kind: None = None, *, group: str | None = None, start: Start | None = None
    ) -> AsyncSubscription[bytes]: ...
    @overload
    async def subscribe(
        self, pattern: str, kind: type[_T], *, group: str | None = None, start: Start | None = None
    ) -> AsyncSubscription[_T]: ...
    async def subscribe(
        self, pattern: str, kind: Any = None, *, group: str | None = None, start: Start | None = None
    ) -> AsyncSubscription[Any]:
        """Subscribes to a pattern. Yields new messages as bytes, or as objects of ``kind``. Each message is delivered
        to one member of a ``group``.

        With ``start`` the broker's history is used. After a lost connection, messages continue from the history, or a
        :class:`Status` reports how many were lost.
        """
        if kind is not None:
            _codec(kind)
        native = await _wait(self._native.start_subscribe, instance("pattern", pattern, str), group, start)
        return AsyncSubscription(native, kind)

    def close(self) -> None:
        """Closes the connection and its subscriptions. Later calls fail with ``FAILED_PRECONDITION``."""
        self._native.close()


class AsyncSubscription(Generic[_T]):
    """Like :class:`Subscription`, for ``async for``."""

    def __init__(self, native: Subscribed, kind: type | None) -> None:
        self._native, self._kind = native, kind

    def __aiter__(self) -> AsyncIterator[Message[_T]]:
        return self

    async def __anext__(self) -> Message[_T]:
        return _message(self._kind, await _next_item(self._native))

    async def __aenter__(self) -> AsyncSubscription[_T]:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    async def aclose(self) -> None:
        """Ends the subscription."""
        self.close()

    def close(self) -> None:
        """Ends the subscription, and an iteration in another task."""
        self._native.close()
