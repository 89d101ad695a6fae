"""Clients, which call the methods of a server. Their schema is fetched by reflection or read from a file."""

from __future__ import annotations

import re
import weakref
from typing import TYPE_CHECKING, Any, AsyncIterator, Callable, ClassVar, Iterable, Mapping, TypeVar

from ._checks import BODY_MAX, instance, integer, seconds
from ._native import Api, AsyncMessages, Channel, Inbox, Reply, Requests, Schema
from ._native import Topics as NativeTopics
from ._status import Metadata, Status

if TYPE_CHECKING:
    import asyncio
    import os

    from ._server import Server
    from ._topics import AsyncTopics, Topics

__all__ = ["AsyncClient", "Client", "Tls"]

DEFAULT_ADDRESS = "127.0.0.1:8545"

_Self = TypeVar("_Self", bound="_Base")


def pem(name: str, content: str | bytes) -> bytes:
    """Returns the content of a PEM file."""
    if isinstance(content, str):
        content = content.encode()
    if not isinstance(content, bytes):
        raise TypeError(f"{name}: PEM as bytes or str expected, not {type(content).__name__}")
    if b"-----BEGIN " not in content:
        raise ValueError(f"{name}: not in PEM; pass the content of the file, such as Path(path).read_bytes()")
    return content


class Tls:
    """TLS settings of a client. ``authorities`` are the PEM certificates of the authorities that may sign the server's
    certificate. ``certificate`` and ``key`` identify the client, if the server requires this. ``server_name`` is the
    name to verify if it is not the host of the address."""

    def __init__(
        self,
        authorities: str | bytes,
        *,
        certificate: str | bytes | None = None,
        key: str | bytes | None = None,
        server_name: str | None = None,
    ) -> None:
        if (certificate is None) != (key is None):
            raise ValueError("a certificate comes with its key")
        identity = None if certificate is None or key is None else (pem("certificate", certificate), pem("key", key))
        self.pem = (pem("authorities", authorities), identity)
        self.server_name = server_name


class _Schemas:
    """The methods of a schema, by name."""

    def __init__(self, schema: Schema, messages: Mapping[str, Any] | None = None) -> None:
        from ._classes import classes

        self.methods = schema.methods()
        self.forms = classes(schema, self.methods)
        self.forms.update(messages or {})
        self.api = Api(schema, self.forms, {})

    def find(self, service: str | None, name: str) -> int:
        in_service = [
            index for index, (of, *_) in enumerate(self.methods) if service in (None, of, of.rpartition(".")[2])
        ]
        found = [index for index in in_service if name in (method := self.methods[index][1], _snake(method))]
        if len(found) > 1:
            # Methods of the server's built-in services match only if no other method does.
            found = [index for index in found if not _is_own(self.methods[index][0])] or found
        if len(found) == 1:
            return found[0]
        if found:
            services = ", ".join(self.methods[index][0] for index in found)
            raise AttributeError(f"several services have a method {name}: {services}; choose by client[SERVICE]")
        if not in_service:
            services = ", ".join(dict.fromkeys(of for of, *_ in self.methods if not _is_own(of)))
            raise AttributeError(f"the server has no service {service}; it has: {services}")
        shown = [index for index in in_service if service is not None or not _is_own(self.methods[index][0])]
        there = ", ".join(_snake(self.methods[index][1]) for index in shown)
        raise AttributeError(f"the server has no method {name}; it has: {there}")


def _is_own(service: str) -> bool:
    return service.startswith(("frpc.reflection.", "grpc."))


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


class _Base:
    """The part that blocking and asyncio clients share."""

    _channel: Channel
    #: The address, the authorities and the identity, the server name, and the maximum length of messages. ``None`` for
    #: a client of a caller.
    _where: Any
    _schemas: _Schemas | None
    _service: str | None
    _timeout: float | None
    _metadata: Metadata | None

    #: Whether calls block the calling thread instead of using an event loop.
    _blocking: ClassVar[bool]

    def __init__(
        self,
        address: str = DEFAULT_ADDRESS,
        *,
        tls: Tls | None = None,
        timeout: float | None = None,
        schema: Schema | None = None,
        proto: str | os.PathLike[str] | None = None,
        serves: Server | None = None,
        body_max: int | None = None,
    ) -> None:
        pem, name = (None, None) if tls is None else (instance("tls", tls, Tls).pem, tls.server_name)
        if body_max is not None:
            integer("body_max", body_max, *BODY_MAX)
        if timeout is not None:
            timeout = seconds("timeout", timeout)
        offered = None if serves is None else serves._offered()
        self._channel = Channel(instance("address", address, str), self._blocking, pem, name, timeout, offered, body_max)
        self._where = (address, pem, name, body_max)
        self._schemas = _schema(schema, proto)
        self._service = self._timeout = self._metadata = None

    @classmethod
    def _over(cls: type[_Self], channel: Channel) -> _Self:
        """Returns a client that shares the connection of another one."""
        client = object.__new__(cls)
        client._channel = channel
        client._where = client._schemas = client._service = client._timeout = client._metadata = None
        return client

    def _topics(self) -> NativeTopics:
        if self._where is None:
            raise RuntimeError("topics are the server's, which has them itself")
        return NativeTopics(*self._where)

    def _copy(self: _Self) -> _Self:
        copy = object.__new__(type(self))
        for name in ("_channel", "_where", "_schemas", "_service", "_timeout", "_metadata"):
            setattr(copy, name, getattr(self, name))
        return copy

    def with_options(self: _Self, *, timeout: float | None = None, metadata: Metadata | None = None) -> _Self:
        """Returns a client that shares the connection. Its calls have this ``timeout`` in seconds and carry
        ``metadata``. Omitted options keep their values."""
        copy = self._copy()
        copy._timeout = self._timeout if timeout is None else seconds("timeout", timeout)
        copy._metadata = self._metadata if metadata is None else metadata
        return copy

    def __getitem__(self: _Self, service: str) -> _Self:
        """Returns a client that shares the connection and only has the methods of this service."""
        copy = self._copy()
        copy._service = service
        return copy

    def close(self) -> None:
        """Closes the client. Further calls fail. The connection closes when the calls in flight have ended."""
        self._channel.close()


def _schema(schema: Schema | None, proto: str | os.PathLike[str] | None) -> _Schemas | None:
    if proto is not None:
        import os.path

        schema = Schema.load([os.fspath(proto)], [os.path.dirname(os.fspath(proto)) or "."])
    return None if schema is None else _Schemas(schema)


class Client(_Base):
    """Calls the methods of a server by name: ``client.sum(a=2, b=2)``.

    The first call fetches the schema from the server. If ``proto`` is the path of a ``.proto`` file, the schema is read
    from it instead. A call blocks until the reply arrives, and releases the GIL while it waits. A stream of requests is
    passed as an iterable, and a stream of replies is returned as an iterator.
    """

    _blocking = True

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def topics(self) -> Topics:
        """Returns a client for the server's topics. It uses a separate connection."""
        from ._topics import Topics

        return Topics(self._topics())

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if self._schemas is None:
            self._schemas = _Schemas(self._channel.reflect(self._timeout))
        call = self._call(self._schemas, name)
        self.__dict__[name] = call
        return call

    def _call(self, schemas: _Schemas, name: str) -> Any:
        index = schemas.find(self._service, name)
        _, _, is_input, is_output, request, _ = schemas.methods[index]
        make = schemas.forms[request]
        channel, api, timeout, metadata = self._channel, schemas.api, self._timeout, self._metadata
        calls = channel.stream if is_output else channel.call
        if is_input:

            def call_with_stream(requests: Iterable[Any]) -> Any:
                return calls(api, index, requests, timeout, metadata)

            return call_with_stream
        if not isinstance(make, type):
            return lambda value: calls(api, index, value, timeout, metadata)
        if timeout is None and metadata is None:

            def call(*values: Any, **fields: Any) -> Any:
                if len(values) == 1 and isinstance(values[0], make):
                    return calls(api, index, values[0])
                return calls(api, index, _message(name, make, values, fields))

            return call

        def call_with_options(*values: Any, **fields: Any) -> Any:
            if len(values) == 1 and isinstance(values[0], make):
                return calls(api, index, values[0], timeout, metadata)
            return calls(api, index, _message(name, make, values, fields), timeout, metadata)

        return call_with_options


def _message(name: str, make: type, values: tuple[Any, ...], fields: dict[str, Any]) -> Any:
    """Returns the request message for the arguments of a call."""
    try:
        return make(*values, **fields)
    except TypeError as error:
        if error.__traceback__ is not None and error.__traceback__.tb_next is not None:
            raise
    known = list(getattr(make, "__match_args__", ()))
    has = f"it has: {', '.join(known)}" if known else "it has none"
    for field in fields:
        if field not in known:
            raise TypeError(f"{name}() has no argument {field!r}; {has}")
        if field in known[: len(values)]:
            raise TypeError(f"{name}() got {field!r} by its position and by its name")
    raise TypeError(f"{name}() has {len(known)} arguments, not {len(values)}; {has}")


#: A loop uses its inbox until the loop is closed.
_INBOXES: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, weakref.ref[Inbox]] = weakref.WeakKeyDictionary()
#: The most recently used loop and its inbox. Most programs have only one loop.
_last: tuple[weakref.ref[asyncio.AbstractEventLoop], weakref.ref[Inbox]] | None = None


def inbox_of(loop: asyncio.AbstractEventLoop) -> Inbox:
    """Returns the inbox of a loop. Other threads queue callbacks for the loop there."""
    global _last
    last = _last
    if last is not None and last[0]() is loop and (inbox := last[1]()) is not None:
        return inbox
    known = _INBOXES.get(loop)
    inbox = None if known is None else known()
    if inbox is None:
        inbox = Inbox(weakref.ref(loop))
        loop.add_reader(inbox.fileno(), inbox.open)
        _INBOXES[loop] = weakref.ref(inbox)
    _last = (weakref.ref(loop), weakref.ref(inbox))
    return inbox


async def _wait(begin: Any, *arguments: Any) -> Any:
    """Starts an operation with ``begin`` and waits for it. If the task is cancelled, the operation is cancelled too."""
    loop = _running_loop()
    reply = Reply(loop)
    started = begin(*arguments, inbox_of(loop), reply)
    try:
        return await reply
    except BaseException:
        started.cancel()
        raise


async def _next_item(source: Any) -> Any:
    """Waits for the next item of a stream. If the task is cancelled, the item stays in the stream."""
    while True:
        await _wait(source.start_next)
        if (item := source.take()) is not None:
            return item[0]


#: Set at the first call, because importing this package must not import asyncio. An import statement in the function
#: below would take longer than the rest of a call.
_get_running_loop: Callable[[], asyncio.AbstractEventLoop] | None = None


def _running_loop() -> asyncio.AbstractEventLoop:
    global _get_running_loop
    if _get_running_loop is None:
        from asyncio import get_running_loop

        _get_running_loop = get_running_loop
    return _get_running_loop()


class AsyncClient(_Base):
    """Like :class:`Client`, for asyncio: ``await client.sum(a=2, b=2)`` and ``async for``.

    Create a client with ``async with AsyncClient(address) as client`` or ``await AsyncClient.connect(address)``,
    because both fetch the schema. Cancelling a task cancels its call immediately. Several event loops may share a
    client.
    """

    _blocking = False

    #: Why reflection failed, if this client calls back a caller.
    _refused: Status | None = None

    @classmethod
    async def connect(cls, address: str = DEFAULT_ADDRESS, **options: Any) -> AsyncClient:
        """Creates a client and fetches its schema."""
        client = cls(address, **options)
        return await client.__aenter__()

    async def __aenter__(self) -> AsyncClient:
        if self._schemas is None:
            try:
                self._schemas = _Schemas(await _wait(self._channel.start_reflect))
            except Status as status:
                if self._where is not None:
                    raise
                # A caller may have no reflection, such as a web page. Generated clients can still call it.
                self._refused = status
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def topics(self) -> AsyncTopics:
        """Returns a client for the server's topics. It uses a separate connection."""
        from ._topics import AsyncTopics

        return AsyncTopics(self._topics())

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if self._schemas is None:
            text = "write `async with client:`" if self._refused is None else "the caller has none, so use a generated client"
            raise RuntimeError(f"the client does not know its schema: {text}") from self._refused
        call = self._call(self._schemas, name)
        self.__dict__[name] = call
        return call

    def _call(self, schemas: _Schemas, name: str) -> Any:
        index = schemas.find(self._service, name)
        _, _, is_input, is_output, request, _ = schemas.methods[index]
        make = schemas.forms[request]
        channel, api, timeout, metadata = self._channel, schemas.api, self._timeout, self._metadata
        calls = _ASYNC_CALLS[is_input, is_output]
        if is_input:
            return lambda requests: calls(channel, api, index, requests, timeout, metadata)
        if not isinstance(make, type):
            return lambda value: calls(channel, api, index, value, timeout, metadata)

        def call(*values: Any, **fields: Any) -> Any:
            is_message = len(values) == 1 and isinstance(values[0], make)
            value = values[0] if is_message else _message(name, make, values, fields)
            return calls(channel, api, index, value, timeout, metadata)

        return call


async def unary(
    channel: Channel, api: Api, index: int, value: Any, timeout: float | None, metadata: Metadata | None
) -> Any:
    """Makes a unary call. Cancelling the task cancels the call."""
    loop = _running_loop()
    reply = Reply(loop)
    started = channel.start_unary(api, index, value, inbox_of(loop), reply, timeout, metadata)
    try:
        return await reply
    except BaseException:
        started.cancel()
        raise


def server_streaming(
    channel: Channel, api: Api, index: int, value: Any, timeout: float | None, metadata: Metadata | None
) -> AsyncIterator[Any]:
    """Makes a server-streaming call."""
    return _Replies(channel.open_server_streaming(api, index, value, timeout, metadata))


async def client_streaming(
    channel: Channel, api: Api, index: int, requests: Any, timeout: float | None, metadata: Metadata | None
) -> Any:
    """Makes a client-streaming call. The requests come from an iterable or asynchronous iterable."""
    loop = _running_loop()
    reply = Reply(loop)
    started, sink = channel.start_client_streaming(api, index, inbox_of(loop), reply, timeout, metadata)
    sending = loop.create_task(_send(sink, requests))
    sending.add_done_callback(lambda sending: _failed(sending, reply))
    try:
        return await reply
    finally:
        sending.cancel()
        started.cancel()


def streaming(
    channel: Channel, api: Api, index: int, requests: Any, timeout: float | None, metadata: Metadata | None
) -> AsyncIterator[Any]:
    """Makes a bidirectional streaming call."""
    return _Both(channel, api, index, requests, timeout, metadata)


#: The functions that make a call, by whether its requests are a stream and whether its replies are a stream.
_ASYNC_CALLS: dict[tuple[bool, bool], Any] = {
    (False, False): unary,
    (False, True): server_streaming,
    (True, False): client_streaming,
    (True, True): streaming,
}


class _Replies:
    """The replies of a call. If a loop over them is left early, the call is cancelled when the object is garbage
    collected."""

    def __init__(self, messages: AsyncMessages) -> None:
        self._messages = messages

    def __aiter__(self) -> _Replies:
        return self

    async def __anext__(self) -> Any:
        return await _next_item(self._messages)

    async def aclose(self) -> None:
        """Cancels the call."""
        self._messages.close()


class _Both:
    """The replies of a bidirectional streaming call. The call starts when the first reply is awaited."""

    def __init__(self, *call: Any) -> None:
        #: The arguments of `_open_both`; `None` after the end.
        self._call: tuple[Any, ...] | None = call
        self._streams: tuple[AsyncMessages, asyncio.Task[None]] | None = None

    def __aiter__(self) -> _Both:
        return self

    async def __anext__(self) -> Any:
        from asyncio import CancelledError

        if self._call is None:
            raise StopAsyncIteration
        messages, sending = self._streams = self._streams or _open_both(*self._call)
        try:
            return await _next_item(messages)
        except CancelledError:
            raise
        except BaseException:
            if self._call is None or not _has_failed(sending):
                await self.aclose()
                raise
        # The call has failed because the source of the requests raised an exception, which is raised here.
        await self.aclose()
        return sending.result()

    async def aclose(self) -> None:
        """Cancels the call."""
        self._call = None
        if self._streams is not None:
            messages, sending = self._streams
            sending.cancel()
            messages.close()

    def __del__(self) -> None:
        if self._call is None or self._streams is None:
            return
        messages, sending = self._streams
        messages.close()
        loop = sending.get_loop()
        if not loop.is_closed():
            # This method may run on any thread.
            loop.call_soon_threadsafe(sending.cancel)


def _open_both(
    channel: Channel, api: Api, index: int, requests: Any, timeout: float | None, metadata: Metadata | None
) -> tuple[AsyncMessages, asyncio.Task[None]]:
    """Starts a bidirectional streaming call, and a task that sends its requests."""
    loop = _running_loop()
    messages, sink = channel.open_streaming(api, index, inbox_of(loop), timeout, metadata)
    sending = loop.create_task(_send(sink, requests))

    def end(_: asyncio.Task[None]) -> None:
        if _has_failed(sending):
            messages.close()

    sending.add_done_callback(end)
    return messages, sending


def _has_failed(sending: asyncio.Task[None]) -> bool:
    """Returns whether the task that sends requests has ended with an exception."""
    return sending.done() and (sending.cancelled() or sending.exception() is not None)


async def raise_at_yield(generator: Any, error: asyncio.CancelledError) -> Any:
    """Throws a cancellation of the current task into a generator at its ``yield``, because a timeout around the
    ``yield`` may have caused it. Returns the next value if the generator handles the cancellation."""
    from asyncio import current_task

    athrow = getattr(generator, "athrow", None)
    if athrow is None:
        raise error
    value = await athrow(error)
    if (task := current_task()) is not None and task.cancelling():
        raise error  # The generator has ignored the cancellation.
    return value


async def _send(sink: Requests, requests: Any) -> None:
    """Sends the requests of a call. Stops at the first failure, because the caller receives the status of the call with
    its reply."""
    from asyncio import CancelledError

    from ._status import Status

    async def send(request: Any) -> bool:
        try:
            await _wait(sink.start_send, request)
            return True
        except Status:
            return False

    if hasattr(requests, "__aiter__"):
        source = aiter(requests)
        try:
            async for request in source:
                while True:
                    try:
                        is_sent = await send(request)
                        break
                    except CancelledError as error:
                        request = await raise_at_yield(source, error)
                if not is_sent:
                    return
        except StopAsyncIteration:
            pass  # The generator has ended after a cancellation.
    else:
        for request in requests:
            if not await send(request):
                return
    sink.close()


def _failed(sending: asyncio.Task[None], reply: Reply) -> None:
    """Fails a call whose source of requests has failed."""
    if sending.cancelled():
        # The source of the requests awaited an operation that was cancelled.
        reply.cancel()
    elif (error := sending.exception()) is not None:
        reply.set_exception(error)
