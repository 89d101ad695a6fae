"""JSON-RPC clients over UDP. A request is one datagram, and so is its reply."""

from __future__ import annotations

import base64
import errno
import itertools
import json
import os
import socket
import time
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Sequence, Union, cast

from ._status import Code, Metadata, Status

if TYPE_CHECKING:
    import asyncio
    from types import TracebackType

__all__ = ["AsyncUdpClient", "UdpClient"]

Params = Union[Mapping[str, Any], Sequence[Any], None]

DATAGRAM_MAX = 65_507
"""Maximum payload of a datagram over IPv4, in bytes."""

TIMEOUT_MAX = 2e6
"""Maximum timeout of a call in seconds. Sockets accept no timeouts of 2**31 ms or more."""

_CODES = {-32700: Code.INVALID_ARGUMENT, -32600: Code.INVALID_ARGUMENT, -32601: Code.UNIMPLEMENTED}
_CODES |= {-32602: Code.INVALID_ARGUMENT, -32603: Code.INTERNAL}
_CODES |= {-32000 - code: code for code in Code}


class _Settings:
    """The settings of a client, and the encoding of its datagrams."""

    def __init__(self, address: str, timeout: float, pad: int) -> None:
        host, colon, port = address.rpartition(":")
        # The system would use the port modulo 65536.
        if not colon or not port.isdecimal() or int(port) > 65_535:
            raise ValueError(f"{address!r} is not an address; write HOST:PORT")
        self.address = address
        self.host, self.port = host.strip("[]"), int(port)
        self.timeout = _checked(timeout)
        self.pad = pad
        self.ids = itertools.count(1)
        self._process = os.getpid()

    def is_forked(self) -> bool:
        """Returns whether this process was forked after the client was created. A child process shares the sockets and
        request ids of its parent, so it could receive the replies to the parent's calls."""
        return os.getpid() != self._process

    def check_process(self) -> None:
        if self.is_forked():
            raise RuntimeError("it was made before this process was forked: connect after the fork")

    def request(self, number: int, method: str, params: Params, timeout: float, metadata: Metadata | None) -> bytes:
        members = {"jsonrpc": "2.0", "id": number, **_members(method, params, metadata)}
        members["timeoutMs"] = max(1, int(timeout * 1000))
        return _encode(members).ljust(min(self.pad, DATAGRAM_MAX))

    def times(self, timeout: float | None, retries: int) -> tuple[float, int]:
        """Validates the options of a call. Returns its timeout, and the maximum number of times that its request is
        sent."""
        timeout = self.timeout if timeout is None else _checked(timeout)
        if not 0 <= retries <= 10:
            raise ValueError(f"{retries} retries are not between 0 and 10")
        return timeout, retries + 1

    def silence(self, timeout: float, sent: int) -> Status:
        datagrams = "1 datagram" if sent == 1 else f"{sent} datagrams"
        text = f"no reply from {self.address} within {timeout:g} s to {datagrams}: check that its server has `Gateway::udp`"
        text += " and this port, raise timeout, or pass retries if the method may run twice"
        return Status(Code.DEADLINE_EXCEEDED, text)

    def unreachable(self, error: OSError) -> Status:
        text = f"no datagrams to {self.address}: {error}; check that its server has `Gateway::udp` and this port"
        return Status(Code.UNAVAILABLE, text)


def _checked(timeout: float) -> float:
    """Validates a timeout in seconds."""
    if timeout <= 0:
        raise ValueError(f"a timeout of {timeout} s is not positive")
    if not timeout <= TIMEOUT_MAX:
        raise ValueError(f"a timeout of {timeout} s is not at most {TIMEOUT_MAX:.0f} s")
    return timeout


def _members(method: str, params: Params, metadata: Metadata | None) -> dict[str, Any]:
    members: dict[str, Any] = {"method": method, "params": {} if params is None else params}
    if metadata:
        members["metadata"] = {
            key: value if isinstance(value, str) else base64.b64encode(value).decode() for key, value in metadata.items()
        }
    return members


def _encode(members: Mapping[str, Any]) -> bytes:
    datagram = json.dumps(members, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
    if len(datagram) > DATAGRAM_MAX:
        raise ValueError(f"the request of {len(datagram)} bytes exceeds a datagram of {DATAGRAM_MAX}; use Client, over TCP")
    return datagram


def _notification(method: str, params: Params, metadata: Metadata | None) -> bytes:
    return _encode({"jsonrpc": "2.0", **_members(method, params, metadata)})


def _reply(datagram: bytes) -> dict[str, Any] | None:
    """Parses a datagram as a reply. Returns its members, or ``None`` if it is not a reply."""
    try:
        reply = json.loads(datagram)
    except (ValueError, RecursionError):
        return None
    return reply if isinstance(reply, dict) and ("result" in reply or isinstance(reply.get("error"), dict)) else None


def _result(reply: Mapping[str, Any]) -> Any:
    if "result" in reply:
        return reply["result"]
    error = reply["error"]
    data = error.get("data")
    data = data if isinstance(data, dict) else {}
    number = error.get("code")
    known = _CODES.get(number, Code.UNKNOWN) if isinstance(number, int) else Code.UNKNOWN
    code = Code.__members__.get(str(data.get("status")), known)
    metadata: dict[str, str | bytes] = {}
    try:
        details = base64.b64decode(str(data.get("details", "")))
        for key, value in dict(data.get("metadata", {})).items():
            metadata[str(key)] = base64.b64decode(value) if str(key).endswith("-bin") else str(value)
    except (TypeError, ValueError):
        details = b""
    raise Status(code, str(error.get("message", "")), details, metadata)


def _connected(found: tuple[Any, ...]) -> socket.socket:
    """Returns a socket that is connected to a result of ``getaddrinfo``."""
    family, kind, protocol, _, address = found
    peer = socket.socket(family, kind, protocol)
    try:
        peer.connect(address)
    except OSError:
        peer.close()
        raise
    return peer


def _send(peer: socket.socket, datagram: bytes) -> None:
    try:
        peer.send(datagram)
    except ConnectionRefusedError:
        # The error was caused by an earlier datagram, and this one was not sent.
        peer.send(datagram)


class UdpClient:
    """Calls methods with JSON-RPC over UDP: ``client.call("greet.Greeter/Greet", {"name": "Ada"})``.

    The network may lose a request or its reply. With ``retries``, the request is sent up to this many times again, at
    even intervals within the timeout. Use retries only for idempotent methods, because the server may then run the
    method several times. Threads may share a client.
    """

    def __init__(self, address: str, *, timeout: float = 3.0, pad: int = 400) -> None:
        """Creates a client of ``HOST:PORT``.

        ``timeout`` is the maximum duration of a call in seconds. Requests are padded with spaces to ``pad`` bytes,
        because a server sends at most three times as many bytes as it has received.
        """
        self._settings = _Settings(address, timeout, pad)
        #: Connected sockets without a call in progress. After a failed call, its socket is closed instead, because a
        #: late reply may still arrive.
        self._idle: list[socket.socket] = []

    def __enter__(self) -> UdpClient:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Closes the sockets that no call uses."""
        while self._idle:
            self._idle.pop().close()

    def call(
        self,
        method: str,
        params: Params = None,
        *,
        timeout: float | None = None,
        retries: int = 0,
        metadata: Metadata | None = None,
    ) -> Any:
        """Makes a call and returns its result as decoded JSON.

        Raises ``Status`` if the call fails or no reply arrives. Raises ``ValueError`` if the request does not fit into
        a datagram.
        """
        self._settings.check_process()
        timeout, sent_max = self._settings.times(timeout, retries)
        number = next(self._settings.ids)
        request = self._settings.request(number, method, params, timeout, metadata)
        begun = time.monotonic()
        try:
            for peer, is_last in self._sockets():
                try:
                    reply = self._exchange(peer, number, request, begun, timeout, sent_max, is_last)
                except BaseException as error:
                    peer.close()
                    if is_last or not isinstance(error, ConnectionRefusedError):
                        raise
                    continue
                self._idle.append(peer)
                return _result(reply)
        except OSError as error:
            raise self._settings.unreachable(error) from None

    def notify(self, method: str, params: Params = None, *, metadata: Metadata | None = None) -> None:
        """Sends a notification. It has no reply, and the network may lose it."""
        self._settings.check_process()
        datagram = _notification(method, params, metadata)
        try:
            for peer, is_last in self._sockets():
                peer.settimeout(self._settings.timeout)
                _send(peer, datagram)
                # On loopback, the kernel reports immediately that no socket listens on the port.
                if is_last or not peer.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                    self._idle.append(peer)
                    return
                peer.close()
        except OSError as error:
            raise self._settings.unreachable(error) from None

    def _sockets(self) -> Iterator[tuple[socket.socket, bool]]:
        """Yields sockets to try in turn: an idle socket, or one socket for each address. Each comes with whether it is
        the last one."""
        try:
            idle = self._idle.pop()
        except IndexError:
            pass
        else:
            yield idle, True
            return
        found = socket.getaddrinfo(self._settings.host, self._settings.port, type=socket.SOCK_DGRAM)
        for at, one in enumerate(found, 1):
            try:
                peer = _connected(one)
            except OSError:
                if at == len(found):
                    raise
                continue
            yield peer, at == len(found)

    def _exchange(
        self, peer: socket.socket, number: int, request: bytes, begun: float, timeout: float, sent_max: int, is_last: bool
    ) -> dict[str, Any]:
        for sent in range(1, sent_max + 1):
            until = begun + timeout * sent / sent_max
            try:
                peer.settimeout(timeout)
                _send(peer, request)
                while (left := until - time.monotonic()) > 0:
                    peer.settimeout(left)
                    reply = _reply(peer.recv(DATAGRAM_MAX + 1))
                    if reply is not None and reply.get("id") == number:
                        return reply
            except TimeoutError:
                continue
            except ConnectionRefusedError:
                # The server may be restarting, and listen again at the next attempt.
                if sent == sent_max or not is_last:
                    raise
                time.sleep(max(0.0, until - time.monotonic()))
        raise self._settings.silence(timeout, sent_max)


class _Receiver:
    """The calls in progress on one socket. Has the methods of ``asyncio.DatagramProtocol``, without importing asyncio.
    """

    def __init__(self) -> None:
        self.calls: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._is_sending = False
        #: Why the kernel has rejected the datagram that is being sent.
        self._rejected: OSError | None = None

    def send(self, transport: asyncio.DatagramTransport, datagram: bytes) -> None:
        """Sends a datagram. Raises ``OSError`` if the kernel rejects it because of its length."""
        self._is_sending = True
        try:
            transport.sendto(datagram)
        finally:
            self._is_sending = False
        rejected, self._rejected = self._rejected, None
        if rejected is not None:
            raise rejected

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        pass

    def connection_lost(self, exc: Exception | None) -> None:
        pass

    def pause_writing(self) -> None:
        pass

    def resume_writing(self) -> None:
        pass

    def datagram_received(self, data: bytes, addr: Any) -> None:
        reply = _reply(data)
        number = None if reply is None else reply.get("id")
        future = self.calls.get(number) if isinstance(number, int) else None
        if reply is not None and future is not None and not future.done():
            future.set_result(reply)

    def error_received(self, exc: Exception) -> None:
        if self._is_sending and isinstance(exc, OSError) and exc.errno in (errno.EMSGSIZE, errno.ENOBUFS):
            # The error concerns only the datagram that is being sent. Other errors are caused by earlier datagrams.
            self._rejected = exc
            return
        for future in self.calls.values():
            if not future.done():
                future.set_exception(exc)


class AsyncUdpClient:
    """Like ``UdpClient``, for asyncio. Several calls may be in progress at the same time."""

    def __init__(self, address: str, *, timeout: float = 3.0, pad: int = 400) -> None:
        """Creates a client of ``HOST:PORT``. The parameters are those of ``UdpClient``. The first call opens the
        socket."""
        self._settings = _Settings(address, timeout, pad)
        self._receiver = _Receiver()
        self._transport: asyncio.DatagramTransport | None = None
        #: The remaining addresses of the server. The transport uses the first one.
        self._found: list[Any] = []
        #: The loop of the transport, and a lock that is held while the transport is opened.
        self._loop: tuple[asyncio.AbstractEventLoop, asyncio.Lock] | None = None

    async def __aenter__(self) -> AsyncUdpClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the socket. Calls in progress time out. Does nothing in a forked process, which shares the socket with
        its parent."""
        if self._transport is not None and not self._settings.is_forked():
            self._transport.close()
            self._transport = None

    async def call(
        self,
        method: str,
        params: Params = None,
        *,
        timeout: float | None = None,
        retries: int = 0,
        metadata: Metadata | None = None,
    ) -> Any:
        """Makes a call and returns its result, like ``UdpClient.call``."""
        from asyncio import get_running_loop, sleep, timeout_at

        self._settings.check_process()
        timeout, sent_max = self._settings.times(timeout, retries)
        number = next(self._settings.ids)
        request = self._settings.request(number, method, params, timeout, metadata)
        loop = get_running_loop()
        begun = loop.time()
        receiver = self._receiver_of(loop)
        calls = receiver.calls
        try:
            transport, sent = await self._open(loop), 0
            while sent < sent_max:
                sent += 1
                calls[number] = loop.create_future()
                receiver.send(transport, request)
                if calls[number].done() and calls[number].exception():
                    # Sent twice for the same reason as in `_send`.
                    calls[number] = loop.create_future()
                    receiver.send(transport, request)
                until = begun + timeout * sent / sent_max
                try:
                    async with timeout_at(until):
                        return _result(await calls[number])
                except TimeoutError:
                    continue
                except ConnectionRefusedError:
                    other = await self._open(loop, transport)
                    if other is not transport:
                        transport, sent = other, sent - 1
                        continue
                    if sent == sent_max:
                        raise
                    await sleep(max(0.0, until - loop.time()))
        except OSError as error:
            raise self._settings.unreachable(error) from None
        finally:
            calls.pop(number, None)
        raise self._settings.silence(timeout, sent_max)

    async def notify(self, method: str, params: Params = None, *, metadata: Metadata | None = None) -> None:
        """Sends a notification. It has no reply, and the network may lose it."""
        from asyncio import get_running_loop

        self._settings.check_process()
        datagram = _notification(method, params, metadata)
        loop = get_running_loop()
        receiver = self._receiver_of(loop)
        try:
            receiver.send(await self._open(loop), datagram)
        except OSError as error:
            raise self._settings.unreachable(error) from None

    def _receiver_of(self, loop: asyncio.AbstractEventLoop) -> _Receiver:
        """Returns the receiver of the current loop. If the loop has changed, the calls of the previous loop have ended,
        and its socket is closed."""
        from asyncio import Lock

        if self._loop is None or self._loop[0] is not loop:
            try:
                self.close()
            except RuntimeError:
                # A transport cannot be closed when its loop is closed.
                self._transport = None
            self._receiver, self._loop = _Receiver(), (loop, Lock())
        return self._receiver

    async def _open(
        self, loop: asyncio.AbstractEventLoop, refused: asyncio.DatagramTransport | None = None
    ) -> asyncio.DatagramTransport:
        """Opens the transport. If the current transport was ``refused``, opens one to the next address of the server.
        """
        assert self._loop is not None
        receiver = cast("asyncio.DatagramProtocol", self._receiver)
        async with self._loop[1]:
            if self._transport is None:
                found: list[Any] = await loop.getaddrinfo(self._settings.host, self._settings.port, type=socket.SOCK_DGRAM)
                self._found = found
            elif self._transport is not refused or len(self._found) == 1:
                return self._transport
            else:
                self._transport.close()
                self._found = self._found[1:]
            while True:
                try:
                    # Connect the socket here, because asyncio would drop the scope of an IPv6 address.
                    opened = await loop.create_datagram_endpoint(lambda: receiver, sock=_connected(self._found[0]))
                except OSError:
                    if len(self._found) == 1:
                        raise
                    self._found = self._found[1:]
                else:
                    self._transport = opened[0]
                    return self._transport
