"""JSON-RPC over UDP: calls to a server in Rust, and to sockets that imitate servers."""

from __future__ import annotations

import json
import socket
import threading
from typing import Any, Callable, Iterator

import pytest

from frisbee_rpc import AsyncUdpClient, Code, Status, UdpClient, _datagrams

from .conftest import LIMIT, run
from .test_desk import DESK
from .test_desk import desk as serving_desk

needs_desk = pytest.mark.skipif(not DESK.exists(), reason=f"there is no {DESK.name}: cargo build -p typescript-tests")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    yield from serving_desk("--udp")


@pytest.fixture
def free() -> str:
    """Provides an address on which no socket listens."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as bound:
        bound.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{bound.getsockname()[1]}"


def peer(
    answer: Callable[[int, dict[str, Any]], bytes | None], port: int = 0
) -> tuple[str, threading.Thread, list[bytes]]:
    """Starts a server that passes datagrams to ``answer`` until it returns a reply. Returns the address, the thread,
    and the list of received datagrams."""
    bound = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    bound.bind(("127.0.0.1", port))
    bound.settimeout(LIMIT)
    datagrams: list[bytes] = []

    def serve() -> None:
        with bound:
            while True:
                datagram, sender = bound.recvfrom(65_536)
                datagrams.append(datagram)
                for other in (b"nonsense", b"[" * 5000, b'{"jsonrpc":"2.0","id":-1,"result":0}', b'{"id":[1],"result":0}'):
                    bound.sendto(other, sender)
                reply = answer(len(datagrams), json.loads(datagram))
                if reply is not None:
                    bound.sendto(reply, sender)
                    return

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    return f"127.0.0.1:{bound.getsockname()[1]}", thread, datagrams


def third(count: int, request: dict[str, Any]) -> bytes | None:
    """Answers the third datagram, as if the first two had been lost."""
    return None if count < 3 else json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": count}).encode()


@needs_desk
def test_a_call_by_datagram_has_a_result_or_a_status(address: str) -> None:
    with UdpClient(address, timeout=LIMIT) as client:
        assert client.call("desk.Desk/Add", {"a": 2, "b": 40})["total"] in (42, "42")
        assert client.call("desk.Desk/Add", [2, 40])["total"] in (42, "42")
        with pytest.raises(Status) as failed:
            client.call("desk.Desk/Fail", {"code": 5, "text": "none", "details": "AQI="})
        assert (failed.value.code, failed.value.message, failed.value.details) == (Code.NOT_FOUND, "none", b"\1\2")
        with pytest.raises(Status) as failed:
            client.call("desk.Desk/Sing")
        assert failed.value.code == Code.UNIMPLEMENTED
        with pytest.raises(Status) as failed:
            client.call("desk.Desk/Wait", {"millis": 60_000}, timeout=0.05)
        assert failed.value.code == Code.DEADLINE_EXCEEDED


@needs_desk
def test_threads_share_a_client(address: str) -> None:
    client, results = UdpClient(address, timeout=LIMIT), {}

    def call(number: int) -> None:
        for _ in range(20):
            results[number] = int(client.call("desk.Desk/Add", {"a": number, "b": 1})["total"])

    threads = [threading.Thread(target=call, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LIMIT)
    assert results == {number: number + 1 for number in range(8)}
    client.close()


@needs_desk
def test_calls_of_an_event_loop_are_in_progress_at_once(address: str) -> None:
    async def main() -> None:
        import asyncio

        async with AsyncUdpClient(address, timeout=LIMIT) as client:
            calls = [client.call("desk.Desk/Add", {"a": number, "b": 1}) for number in range(100)]
            assert [int(sum["total"]) for sum in await asyncio.gather(*calls)] == list(range(1, 101))
            with pytest.raises(Status) as failed:
                await client.call("desk.Desk/Fail", {"code": 7, "text": "no"})
            assert failed.value.code == Code.PERMISSION_DENIED

    run(main)


def test_a_lost_datagram_is_sent_again_only_if_allowed() -> None:
    at, thread, datagrams = peer(third)
    with UdpClient(at, timeout=3) as client:
        with pytest.raises(Status, match=r"no reply from .* within 0.05 s to 1 datagram: check") as silent:
            client.call("a.B/C", timeout=0.05)
        assert silent.value.code == Code.DEADLINE_EXCEEDED
        assert client.call("a.B/C", retries=2) == 3
    thread.join(LIMIT)
    assert datagrams[1] == datagrams[2] and len(datagrams[0]) == 400

    at, thread, datagrams = peer(third)

    async def main() -> None:
        async with AsyncUdpClient(at, timeout=3) as client:
            with pytest.raises(Status, match=r"no reply from .* within 0.05 s to 1 datagram: check"):
                await client.call("a.B/C", timeout=0.05)
            assert await client.call("a.B/C", retries=2) == 3

    run(main)
    thread.join(LIMIT)
    assert datagrams[1] == datagrams[2]


def test_an_error_without_a_valid_code_is_a_status() -> None:
    """Regression test: an unhashable error code, such as a list, raised a ``TypeError``."""
    for code in ("[]", "{}", "null", '"x"', "1.5"):
        reply = f'{{"jsonrpc":"2.0","id":1,"error":{{"code":{code},"message":"odd"}}}}'.encode()
        address, thread, _ = peer(lambda count, request: reply)
        with UdpClient(address, timeout=LIMIT) as client, pytest.raises(Status) as failure:
            client.call("Get")
        assert (failure.value.code, failure.value.message) == (Code.UNKNOWN, "odd")
        thread.join(LIMIT)


def test_a_closed_port_is_unavailable_at_once(free: str) -> None:
    with pytest.raises(Status, match=f"no datagrams to {free}: .*Gateway::udp") as closed, UdpClient(free) as client:
        client.call("a.B/C", timeout=3600)
    assert closed.value.code == Code.UNAVAILABLE

    async def main() -> None:
        async with AsyncUdpClient(free) as client:
            with pytest.raises(Status, match=f"no datagrams to {free}: .*Gateway::udp"):
                await client.call("a.B/C", timeout=3600)

    run(main)


def test_a_notification_has_no_id_and_waits_for_nothing() -> None:
    at, thread, datagrams = peer(lambda count, _: b"{}" if count == 2 else None)
    with UdpClient(at) as client:
        client.notify("metrics.Sink/Add", {"n": 1})

    async def main() -> None:
        async with AsyncUdpClient(at) as client:
            await client.notify("metrics.Sink/Add", [1], metadata={"key-bin": b"\0"})

    run(main)
    thread.join(LIMIT)
    assert datagrams[0] == b'{"jsonrpc":"2.0","method":"metrics.Sink/Add","params":{"n":1}}'
    assert json.loads(datagrams[1]) == {
        "jsonrpc": "2.0",
        "method": "metrics.Sink/Add",
        "params": [1],
        "metadata": {"key-bin": "AA=="},
    }


def test_a_lost_notification_fails_no_later_call(free: str) -> None:
    """Regression test: after a notification to a closed port, the next call was not sent and failed with the error of
    the notification."""
    port = int(free.rpartition(":")[2])

    def first(_: int, request: dict[str, Any]) -> bytes:
        return json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": 7}).encode()

    with UdpClient(free, timeout=LIMIT) as client:
        client.notify("metrics.Sink/Add")
        _, thread, _ = peer(first, port)
        assert client.call("a.B/C") == 7
        thread.join(LIMIT)

    async def main() -> None:
        async with AsyncUdpClient(free, timeout=LIMIT) as client:
            await client.notify("metrics.Sink/Add")
            _, thread, _ = peer(first, port)
            assert await client.call("a.B/C") == 7
            thread.join(LIMIT)

    run(main)


def test_too_long_datagram_fails_only_its_own_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """Regression test: when the kernel rejected the datagram of one call as too long, all calls in progress failed."""
    monkeypatch.setattr(_datagrams, "DATAGRAM_MAX", 70_000)
    long = ["x" * 66_000]
    received, release = threading.Event(), threading.Event()

    def answer(_: int, request: dict[str, Any]) -> bytes:
        received.set()
        assert release.wait(LIMIT)
        return json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": 7}).encode()

    address, thread, _ = peer(answer)

    async def main() -> None:
        import asyncio

        async with AsyncUdpClient(address, timeout=LIMIT) as client:
            call = asyncio.create_task(client.call("a.B/C"))
            await asyncio.to_thread(received.wait, LIMIT)
            with pytest.raises(Status) as failed:
                await client.call("a.B/C", long)
            assert failed.value.code == Code.UNAVAILABLE
            release.set()
            assert await call == 7
            with pytest.raises(Status) as failed:
                await client.notify("a.B/C", long)
            assert failed.value.code == Code.UNAVAILABLE

    run(main)
    thread.join(LIMIT)


def test_wrong_arguments_are_refused_with_a_remedy() -> None:
    for address in ("localhost", "127.0.0.1:65536"):
        with pytest.raises(ValueError, match=f"'{address}' is not an address; write HOST:PORT"):
            UdpClient(address)
    client = UdpClient("127.0.0.1:9")
    with pytest.raises(ValueError, match="exceeds a datagram of 65507; use Client"):
        client.call("a.B/C", ["x" * 65_507])
    with pytest.raises(ValueError, match="11 retries are not between 0 and 10"):
        client.call("a.B/C", retries=11)
    with pytest.raises(ValueError, match="a timeout of 0 s is not positive"):
        client.call("a.B/C", timeout=0)
    for timeout in (float("inf"), float("nan"), 2.0**31):
        with pytest.raises(ValueError, match=f"a timeout of {timeout} s is not at most 2000000 s"):
            client.call("a.B/C", timeout=timeout)
        with pytest.raises(ValueError, match="is not at most"):
            AsyncUdpClient("127.0.0.1:9", timeout=timeout)


def test_client_of_asyncio_is_used_in_one_loop_after_the_other() -> None:
    def answer(_: int, request: dict[str, Any]) -> bytes | None:
        return third(3, request)

    address, thread, _ = peer(answer)
    client = AsyncUdpClient(address, timeout=LIMIT)
    assert run(lambda: client.call("a")) == 3
    thread.join(LIMIT)
    peer(answer, int(address.rpartition(":")[2]))
    assert run(lambda: client.call("a")) == 3


@pytest.mark.parametrize("is_async", [False, True])
def test_next_address_is_called_if_one_refuses(free: str, monkeypatch: pytest.MonkeyPatch, is_async: bool) -> None:
    """Like ``localhost`` if it resolves to ``::1`` first and the server listens on 127.0.0.1."""

    def answer(count: int, request: dict[str, Any]) -> bytes | None:
        return None if "id" not in request else json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": count}).encode()

    address, thread, _ = peer(answer)
    ports = [int(at.rpartition(":")[2]) for at in (free, address)]
    found = [(socket.AF_INET, socket.SOCK_DGRAM, 17, "", ("127.0.0.1", port)) for port in ports]

    async def main() -> None:
        async with AsyncUdpClient("localhost:1", timeout=LIMIT) as client:
            assert await client.call("a.B/C") == 1

    with monkeypatch.context() as patch:
        patch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
        if is_async:
            run(main)
        else:
            with UdpClient("localhost:1", timeout=LIMIT) as client:
                client.notify("a.B/C")
                client.close()
                assert client.call("a.B/C") == 2
    thread.join(LIMIT)


@pytest.mark.parametrize("is_async", [False, True])
def test_link_local_address_keeps_its_scope(monkeypatch: pytest.MonkeyPatch, is_async: bool) -> None:
    """Regression test: the client of asyncio dropped the interface of a link-local address."""
    connected: list[Any] = []

    class Spy(socket.socket):
        def connect(self, address: Any) -> None:
            connected.append(address)
            raise ConnectionRefusedError

    address = ("fe80::1", 80, 0, 7)
    found = [(socket.AF_INET6, socket.SOCK_DGRAM, 17, "", address)]

    async def main() -> None:
        async with AsyncUdpClient("[fe80::1%eth0]:80") as client:
            await client.call("a.B/C")

    with pytest.raises(Status, match="no datagrams to"), monkeypatch.context() as patch:
        patch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
        patch.setattr(socket, "socket", Spy)
        if is_async:
            run(main)
        else:
            UdpClient("[fe80::1%eth0]:80").call("a.B/C")
    assert connected == [address]
