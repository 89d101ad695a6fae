"""Topics: messages for all subscribers of a server's broker."""

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
    """The position of a message in the history of its topic: offsets count from 1 without gaps."""

    epoch: int
    offset: int


Start = Union[Literal["now", "last", "oldest"], Position]
"""The first message of a subscription: published from now on, the last or the oldest of each topic, or the one after a position."""


class Message(Generic[_T]):
    """A message that was published: its topic, and its bytes or object.

    With ``start`` and a broker that keeps a history, ``position`` is the position of the message in its topic, from which a later
    subscription may start.
    """

    __slots__ = ("topic", "value", "position")

    def __init__(self, topic: str, value: _T, position: Position | None = None) -> None:
        self.topic, self.value, self.position = topic, value, position

    def __repr__(self) -> str:
        return f"Message({self.topic!r}, {self.value!r})"


class _Codec:
    """Objects of a class as messages."""

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
    """A message of a generated module that a method of its services reaches."""
    package = getattr(sys.modules.get(kind.__module__), "_PACKAGE", None)
    names = [name for name, known in getattr(package, "_classes", {}).items() if known is kind]
    return (package.bound()[0], names[0]) if package is not None and names else None


def _hinted(kind: type) -> tuple[Api, str]:
    """A dataclass, whose message is made of its type hints."""
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
    """Publishes and subscribes, over a connection of its own that is made when it is needed.

    Topics are words with dots between them, ``orders.north.created``; in a pattern ``*`` matches one word, and ``>`` at
    the end for all that follow. A connection that is lost is replaced, and subscriptions continue. Messages are bytes, text, or objects of dataclasses and of generated classes.
    """

    def __init__(self, native: NativeTopics) -> None:
        self._native = native

    def publish(self, topic: str, value: Any) -> None:
        """Publishes a message without an acknowledgement; :meth:`sync` waits until the broker has it."""
        self._native.publish(instance("topic", topic, str), _body(value))

    def sync(self) -> None:
        """Waits until the broker has all that was published before."""
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
        """The messages of a pattern from now on: bytes, or objects of ``kind``. Of the members of a ``group`` one gets each.

        With ``start`` the broker's history is used: after a lost connection the messages continue where they were, or a
        :class:`Status` says how many are missing.
        """
        if kind is not None:
            _codec(kind)
        return Subscription(self._native.subscribe(instance("pattern", pattern, str), group, start), kind)

    def close(self) -> None:
        """Ends the connection, and with it the subscriptions. Later calls fail with ``FAILED_PRECONDITION``."""
        self._native.close()


class Subscription(Generic[_T]):
    """The messages of a pattern: an iterator. After lost messages a :class:`Status` is raised, and the next call continues."""

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
        """Ends the subscription, and an iteration in another thread."""
        self._native.close()


class AsyncTopics:
    """As :class:`Topics`, for asyncio."""

    def __init__(self, native: NativeTopics) -> None:
        self._native = native

    async def publish(self, topic: str, value: Any) -> None:
        """Publishes a message without an acknowledgement; :meth:`sync` waits until the broker has it."""
        await _wait(self._native.start_publish, instance("topic", topic, str), _body(value))

    async def sync(self) -> None:
        """Waits until the broker has all that was published before."""
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
        """The messages of a pattern from now on: bytes, or objects of ``kind``. Of the members of a ``group`` one gets each.

        With ``start`` the broker's history is used: after a lost connection the messages continue where they were, or a
        :class:`Status` says how many are missing.
        """
        if kind is not None:
            _codec(kind)
        native = await _wait(self._native.start_subscribe, instance("pattern", pattern, str), group, start)
        return AsyncSubscription(native, kind)

    def close(self) -> None:
        """Ends the connection, and with it the subscriptions. Later calls fail with ``FAILED_PRECONDITION``."""
        self._native.close()


class AsyncSubscription(Generic[_T]):
    """As :class:`Subscription`, for ``async for``."""

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
