"""Topics of a server's broker. The broker delivers each message to all subscribers of its topic."""

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
    """A published message with its topic. ``value`` is its bytes, or an object of the subscription's ``kind``.

    ``position`` is the position of the message in the history of its topic. A later subscription can start there. It is
    present only if the subscription has a ``start`` and the broker keeps a history.
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
    """Returns the codec for a class of a generated module. The message must be used by a method of the module's
    services."""
    package = getattr(sys.modules.get(kind.__module__), "_PACKAGE", None)
    names = [name for name, known in getattr(package, "_classes", {}).items() if known is kind]
    return (package.bound()[0], names[0]) if package is not None and names else None


def _hinted(kind: type) -> tuple[Api, str]:
    """Returns the codec for a dataclass. The schema of its message is created from type hints."""
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
    """Publishes and subscribes to topics. Uses a separate connection, which is opened on demand.

    A topic consists of words separated by dots: ``orders.north.created``. In a pattern, ``*`` matches one word, and a
    final ``>`` matches all remaining words. If the connection is lost, it is replaced and subscriptions continue.
    Messages are bytes, text, or objects of dataclasses and of generated classes.
    """

    def __init__(self, native: NativeTopics) -> None:
        self._native = native

    def publish(self, topic: str, value: Any) -> None:
        """Publishes a message without waiting for the broker. Use :meth:`sync` to wait until the broker has received
        it."""
        self._native.publish(instance("topic", topic, str), _body(value))

    def sync(self) -> None:
        """Waits until the broker has received all previously published messages. Raises a ``Status`` if the broker has
        rejected one of them, or with the code ``DATA_LOSS`` if a connection was lost before the broker confirmed the
        messages published on it."""
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
        """Subscribes to a pattern. The subscription yields new messages, with values that are bytes or objects of
        ``kind``. If subscriptions have the same ``group``, each message is delivered to only one of them.

        With ``start``, the subscription uses the history of the broker. After a lost connection, it continues from the
        history. If messages are no longer in the history, iterating raises a :class:`Status` with the number of lost
        messages.
        """
        if kind is not None:
            _codec(kind)
        return Subscription(self._native.subscribe(instance("pattern", pattern, str), group, start), kind)

    def close(self) -> None:
        """Closes the connection and its subscriptions. Later calls fail with ``FAILED_PRECONDITION``."""
        self._native.close()


class Subscription(Generic[_T]):
    """An iterator over the messages of a pattern. It raises a :class:`Status` if messages were lost, and iteration can
    continue afterwards."""

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
        """Ends the subscription. An iteration on another thread ends too."""
        self._native.close()


class AsyncTopics:
    """Like :class:`Topics`, for asyncio."""

    def __init__(self, native: NativeTopics) -> None:
        self._native = native

    async def publish(self, topic: str, value: Any) -> None:
        """Publishes a message without waiting for the broker. Use :meth:`sync` to wait until the broker has received
        it."""
        await _wait(self._native.start_publish, instance("topic", topic, str), _body(value))

    async def sync(self) -> None:
        """Waits until the broker has received all previously published messages. Raises a ``Status`` if the broker has
        rejected one of them, or with the code ``DATA_LOSS`` if a connection was lost before the broker confirmed the
        messages published on it."""
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
        """Subscribes to a pattern. The subscription yields new messages, with values that are bytes or objects of
        ``kind``. If subscriptions have the same ``group``, each message is delivered to only one of them.

        With ``start``, the subscription uses the history of the broker. After a lost connection, it continues from the
        history. If messages are no longer in the history, iterating raises a :class:`Status` with the number of lost
        messages.
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
        """Ends the subscription. An iteration in another task ends too."""
        self._native.close()
