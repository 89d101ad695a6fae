"""Calls of blocking clients, and the functions that serve them."""

from __future__ import annotations

import builtins
import contextvars
import copy
import dataclasses
import enum
import gc
import itertools
import os
import pickle
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import weakref
from concurrent import futures
from pathlib import Path
from typing import Any, Callable, Iterator, Optional

import numpy
import pytest

from frisbee_rpc import AsyncClient, Client, Code, Context, Server, ServerTls, Status, Tls

from .conftest import LIMIT, run

Connect = Callable[..., Client]


@dataclasses.dataclass
class Point:
    x: int
    y: int = 3


@dataclasses.dataclass
class Shape:
    name: str
    corners: list[Point]
    center: Optional[Point] = None
    tags: dict[str, int] = dataclasses.field(default_factory=dict)


class Level(enum.Enum):
    LOW = "low"
    HIGH = "high"


def test_a_function_is_called_by_its_name(server: Server, connect: Connect) -> None:
    @server
    def sum(a: int, b: int) -> int:
        return a + b

    client = connect()
    assert client.sum(a=2, b=2) == 4
    assert client.sum(2, -(2**40)) == 2 - 2**40


def test_every_type_of_a_hint_arrives_as_it_was_sent(server: Server, connect: Connect) -> None:
    @server
    def echo(
        number: int, ratio: float, text: str, raw: bytes, flag: bool, shape: Shape, lists: list[bytes], maybe: int | None
    ) -> Shape:
        assert (number, ratio, text, raw, flag, lists, maybe) == (-(2**63), -0.5, "é", b"\0\xff", True, [b"", b"1"], None)
        return shape

    corners = [Point(1), Point(0, 0), Point(-5, 2**62)]
    client = connect()
    sent = Shape("q", corners, None, {"a": 1, "": -1})
    reply = client.echo(-(2**63), -0.5, "é", b"\0\xff", True, sent, [b"", b"1"], None)
    assert (reply.name, reply.center, reply.tags) == ("q", None, {"a": 1, "": -1})
    assert [(corner.x, corner.y) for corner in reply.corners] == [(1, 3), (0, 0), (-5, 2**62)]


def test_long_bytes_and_texts_arrive_whole(server: Server, connect: Connect) -> None:
    @server
    def echo(raw: bytes, text: str) -> bytes:
        return raw + text.encode()

    raw = bytes(range(256)) * 1000
    client = connect()
    assert client.echo(raw, "é" * 50_000) == raw + ("é" * 50_000).encode()
    assert client.echo(bytearray(raw), "") == raw
    assert client.echo(memoryview(raw)[1:], "") == raw[1:]


def test_defaults_of_parameters_stand_for_fields_that_are_not_sent(server: Server, connect: Connect) -> None:
    @server
    def greet(name: str = "you", times: int = 0, center: Point = Point(8, 9)) -> str:
        return f"{name} {times} {center.x}"

    client = connect()
    assert client.greet() == "you 0 8"
    assert client.greet(name="") == " 0 8"


def test_a_message_that_has_to_be_sent_is_missed_by_name(server: Server, connect: Connect) -> None:
    @server
    def area(shape: Shape) -> int:
        return len(shape.corners)

    @server
    def union(first: Shape, second: Shape) -> int:
        return len(first.corners) + len(second.corners)

    client = connect()
    with pytest.raises(Status, match="shape is missing") as caught:
        client.area()
    assert caught.value.code is Code.INVALID_ARGUMENT
    # The error names all missing arguments.
    with pytest.raises(Status, match="first, second are missing"):
        client.union()


def test_argument_that_is_absent_is_missed_by_its_name(server: Server, connect: Connect) -> None:
    """Regression test: an absent argument was decoded as 0, an empty text or an empty message."""

    @server
    def sum(a: int, b: float, c: str, d: bytes, e: bool, f: int = 1) -> int:
        return a

    @server.batch()
    def longest(texts: list[str], limits: list[int]) -> list[int]:
        return [len(text) for text in texts]

    @server
    def count(n: int) -> Iterator[int]:
        yield n

    client = connect()
    for call, text in [
        (client.sum, "the request is not a valid test.SumRequest: a, b, c, d, e are missing"),
        (lambda: client.sum(1, c="", e=False), "SumRequest: b, d are missing"),
        (lambda: client.longest(""), "LongestRequest: limits is missing"),
        (lambda: list(client.count()), "CountRequest: n is missing"),
    ]:
        with pytest.raises(Status) as caught:
            call()
        assert caught.value.code is Code.INVALID_ARGUMENT and caught.value.message.endswith(text), caught.value
    assert client.sum(0, 0, "", b"", False) == 0


@pytest.mark.parametrize("body", [b"", b"text", b"x", b"\xff\xff", b"\x08", b"\x0a\x01", b"\x06\x05\x0a\x01!"])
def test_native_request_that_is_malformed_is_refused(server: Server, connect: Connect, body: bytes) -> None:
    """Regression test: bodies that start with an invalid kind byte were decoded as empty messages."""

    @server
    def count(n: int = 0) -> int:
        return n

    @server.batch()
    def counts(n: list[int]) -> list[int]:
        return n

    @server(blocking=True)
    def later(n: int = 0) -> int:
        return n

    connect()
    host, port = server.address.split(":")
    for id, operation in enumerate((10, 11, 12), 1):
        with socket.create_connection((host, int(port)), LIMIT) as peer:
            peer.sendall(struct.pack(">HHHI", 0x000F, id, operation, len(body)) + body)
            _, _, _, length = struct.unpack(">HHHI", peer.recv(10, socket.MSG_WAITALL))
            reply = peer.recv(length, socket.MSG_WAITALL)
        assert reply.startswith(b"\x06\x05") and (b"the request is " in reply), (operation, reply)


def test_context_is_any_parameter(server: Server, connect: Connect) -> None:
    """Regression test: the context had to be the last parameter. In any other position, every call failed with
    INTERNAL."""

    @server
    def first(context: Context, name: str, times: int) -> str:
        return name * times + context.metadata["mark"]

    @server(blocking=True)
    def middle(name: str, context: Context, times: int = 2) -> str:
        return name * times + context.metadata["mark"]

    @server
    def named(name: str, *, context: Context) -> Iterator[str]:
        yield name + context.metadata["mark"]

    @server
    def summed(context: Context, numbers: Iterator[int]) -> str:
        return f"{sum(numbers)}{context.metadata['mark']}"

    client = connect().with_options(metadata={"mark": "!"})
    assert (client.first("a", 3), client.middle("b"), list(client.named("c"))) == ("aaa!", "bb!", ["c!"])
    assert client.summed([1, 2]) == "3!"

    def batch(texts: list[str], context: Context) -> list[str]:
        return texts

    def twice(one: Context, other: Context) -> None: ...

    for add, function, text in ((server.batch(), batch, "no context"), (server, twice, "other is its second context")):
        add(function)
        with pytest.raises(TypeError, match=text):
            server.proto()
        server._functions.pop()


def test_calls_have_variables_of_their_own(server: Server, connect: Connect) -> None:
    """Regression test: context variables set by a call were visible to the next call on the same thread."""
    caller: contextvars.ContextVar[str] = contextvars.ContextVar("caller", default="unset")

    def enter(name: str) -> str:
        before = caller.get()
        caller.set(name)
        return before

    for number in range(2):
        server(name=f"plain{number}", blocking=number == 1)(enter)

    @server
    def steps(name: str) -> Iterator[str]:
        caller.set(name)
        yield caller.get()
        yield caller.get()

    @server(blocking=True)
    def slow(name: str) -> Iterator[str]:
        before = caller.get()
        caller.set(name)
        yield before
        yield caller.get()

    @server.batch(max_size=1)
    def batch(names: list[str]) -> list[str]:
        return [enter(name) for name in names]

    client = connect()
    for call in (client.plain0, client.plain1, client.batch):
        assert [call(name) for name in ("a", "b", "c")] == ["unset"] * 3
    one, two = client.steps("one"), client.steps("two")
    assert [next(one), next(two), next(one), next(two)] == ["one", "two", "one", "two"]
    assert [list(client.slow("a")), list(client.slow("b"))] == [["unset", "a"], ["unset", "b"]]


def test_a_value_of_another_type_is_refused_before_it_is_sent(server: Server, connect: Connect) -> None:
    @server
    def sum(a: int, b: int) -> int:
        return a + b

    @server
    def half(ratio: float) -> float:
        return ratio / 2

    client = connect()
    with pytest.raises(TypeError, match="a: an int expected, not str"):
        client.sum(a="2", b=2)
    with pytest.raises(ValueError, match="a: .* does not fit"):
        client.sum(a=2**63, b=2)
    with pytest.raises(ValueError, match="a: the number does not fit"):
        client.sum(a=10**5000, b=2)
    with pytest.raises(ValueError, match="ratio: 100* does not fit"):
        client.half(ratio=10**400)
    with pytest.raises(TypeError, match=r"sum\(\) has no argument 'c'; it has: a, b"):
        client.sum(c=2)
    with pytest.raises(AttributeError, match="no method product; it has: sum"):
        client.product


def test_unknown_names_are_reported_with_the_known_ones() -> None:
    server = Server("zoo.Zoo")

    @server
    def find(name: str) -> str:
        return name

    with server.start("127.0.0.1:0"), Client(server.address) as client:
        for service in ("zoo.Zoo", "Zoo"):
            with pytest.raises(AttributeError, match="^the server has no method look; it has: find$"):
                client[service].look
        with pytest.raises(AttributeError, match="^the server has no service Barn; it has: zoo.Zoo$"):
            client["Barn"].find


def test_replies_can_be_pickled_and_copied(server: Server, connect: Connect) -> None:
    @server
    def find(level: Level) -> Shape:
        assert level is Level.HIGH
        return Shape("s", [Point(3)], Point(1, 2), {"a": 7})

    @server
    def top() -> list[Level]:
        return [Level.HIGH]

    client = connect()
    level = client.top()[0]
    for reply in (client.find("HIGH"), level):
        for copied in (pickle.loads(pickle.dumps(reply)), copy.deepcopy(reply)):
            assert copied == reply and type(copied) is type(reply)
    assert client.find(pickle.loads(pickle.dumps(level))).tags == {"a": 7}


def test_server_holds_no_more_memory_than_it_may() -> None:
    def length(data: bytes) -> int:
        return len(data)

    for memory_max, fits in [(1 << 20, False), (64 << 20, True)]:
        server = Server(body_max=8 << 20, memory_max=memory_max)
        server(length)
        with server.start("127.0.0.1:0"), Client(server.address, timeout=LIMIT, body_max=8 << 20) as client:
            if fits:
                assert client.length(bytes(4 << 20)) == 4 << 20
            else:
                with pytest.raises(Status) as caught:
                    client.length(bytes(4 << 20))
                assert caught.value.code is Code.RESOURCE_EXHAUSTED


@pytest.mark.skipif(not shutil.which("openssl"), reason="the certificate is one of openssl")
def test_certificate_of_an_authority_is_named(tmp_path: Path) -> None:
    """Regression test: the error text was the name of a Rust type."""
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost"]
    command += ["-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    server = Server(tls=ServerTls(certificate.read_bytes(), key.read_bytes()))
    server(name="nothing")(lambda: None)
    tls = Tls(certificate.read_bytes(), server_name="localhost")
    with server.start("127.0.0.1:0"), Client(server.address, tls=tls, timeout=LIMIT) as client:
        with pytest.raises(Status, match="certificate is invalid: it is that of an authority .* add `-addext"):
            client.nothing()


def test_a_status_is_raised_with_all_of_its_parts(server: Server, connect: Connect) -> None:
    @server
    def find(name: str) -> None:
        raise Status(Code.NOT_FOUND, f"no {name}", details=b"\1\2", metadata={"hint": "look", "raw-bin": b"\xff"})

    with pytest.raises(Status) as caught:
        connect().find("cup")
    status = caught.value
    assert (status.code, status.message, status.details, status.may_have_run) == (Code.NOT_FOUND, "no cup", b"\1\2", True)
    assert (status.metadata, status.binary_metadata) == ({"hint": "look"}, {"raw-bin": b"\xff"})


def test_a_handler_can_declare_that_it_had_no_effect(server: Server, connect: Connect) -> None:
    """Regression test: the caller was told that the call may have run."""
    client: Client | None = None

    @server
    def work(is_forwarded: bool) -> None:
        if is_forwarded:
            assert client is not None
            client.work(False)
        raise Status(Code.RESOURCE_EXHAUSTED, "the queue is full", may_have_run=False)

    client = connect()
    for is_forwarded in (False, True):
        with pytest.raises(Status) as caught:
            client.work(is_forwarded)
        assert caught.value.may_have_run is is_forwarded
        restored = pickle.loads(pickle.dumps(caught.value))
        assert (restored.may_have_run, restored._is_rejection) == (is_forwarded, False)


def test_the_text_of_an_exception_is_sent_only_if_asked_for(caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> None:
        raise KeyError("secret")

    for shows_errors, text in [(False, "the handler has failed"), (True, "KeyError: 'secret'")]:
        server = Server(shows_errors=shows_errors)
        server(fail)
        with server.start("127.0.0.1:0"), Client(server.address) as client:
            with pytest.raises(Status) as caught:
                client.fail()
        assert (caught.value.code, caught.value.message) == (Code.INTERNAL, text)
    assert "secret" in caplog.text


def test_generators_are_streams_that_are_closed_when_nobody_reads_on(server: Server, connect: Connect) -> None:
    closed = threading.Event()

    @server
    def count(n: int) -> Iterator[int]:
        try:
            yield from range(n)
        finally:
            closed.set()

    @server(blocking=True)
    def slowly(n: int) -> Iterator[Point]:
        for number in range(n):
            yield Point(number)

    client = connect()
    assert list(client.count(1000)) == list(range(1000))
    assert [point.x for point in client.slowly(40)] == list(range(40))
    closed.clear()
    stream = client.count(10**9)
    assert next(stream) == 0
    stream.close()
    assert closed.wait(LIMIT)


def test_generator_that_is_closed_early_makes_calls(server: Server, connect: Connect) -> None:
    """Regression test: a call in a ``finally`` block panicked if the stream was closed early."""
    inner = Server()
    results: list[Any] = []
    closed = threading.Event()

    @inner
    def double(a: int) -> int:
        return 2 * a

    with inner.start("127.0.0.1:0"), Client(inner.address) as other:

        @server
        def count() -> Iterator[int]:
            try:
                yield from range(10**9)
            finally:
                try:
                    results.append(other.double(4))
                    server.stop()
                except RuntimeError as error:
                    results.append(str(error))
                finally:
                    closed.set()

        stream = connect().count()
        assert next(stream) == 0
        stream.close()
        assert closed.wait(LIMIT)
    assert results == [8, "a function cannot stop its server, which would wait for it: use another thread"]


def test_closing_a_stream_ends_an_iteration_in_another_thread(server: Server, connect: Connect) -> None:
    arrived, ended, leave = threading.Event(), threading.Event(), threading.Event()

    @server(blocking=True)
    def count() -> Iterator[int]:
        yield 0
        leave.wait(LIMIT)
        yield 1

    stream = connect().count()

    def iterate() -> None:
        for _ in stream:
            arrived.set()
        ended.set()

    threading.Thread(target=iterate).start()
    assert arrived.wait(LIMIT)
    stream.close()
    assert ended.wait(LIMIT / 2)
    leave.set()


def test_messages_of_slow_generator_are_sent_one_by_one(server: Server, connect: Connect) -> None:
    """Regression test: the first message was sent after the generator had made 128."""
    received = threading.Event()

    @server
    def count() -> Iterator[bool]:
        until = time.monotonic() + 0.005
        while time.monotonic() < until:
            pass
        yield False
        yield received.wait(LIMIT)

    stream = connect().count()
    assert next(stream) is False
    received.set()
    assert list(stream) == [True]


def test_stream_that_its_own_requests_refer_to_is_collected(server: Server, connect: Connect) -> None:
    """Regression test: an object that held a stream, and was held by its requests, kept the call open forever."""
    has_ended = threading.Event()

    @server
    def double(numbers: Iterator[int]) -> Iterator[int]:
        try:
            for number in numbers:
                yield 2 * number
        finally:
            has_ended.set()

    class Session:
        def __init__(self, client: Client) -> None:
            self.replies = client.double(self.requests())

        def requests(self) -> Iterator[int]:
            yield from itertools.count(1)

    session = Session(connect())
    assert next(session.replies) == 2
    left = weakref.ref(session)
    del session
    gc.collect()
    assert left() is None
    assert has_ended.wait(LIMIT)


def test_an_exception_in_a_generator_ends_the_stream_with_its_status(server: Server, connect: Connect) -> None:
    @server
    def count() -> Iterator[int]:
        yield 1
        raise Status(Code.ABORTED, "enough")

    stream = connect().count()
    assert next(stream) == 1
    with pytest.raises(Status, match="ABORTED: enough"):
        next(stream)
    assert list(stream) == []


def test_a_deadline_ends_a_call_and_the_next_one_works(server: Server, connect: Connect) -> None:
    leave = threading.Event()

    @server(blocking=True)
    def wait() -> None:
        leave.wait(LIMIT)

    @server
    def ready() -> bool:
        return True

    client = connect()
    with pytest.raises(Status) as caught:
        client.with_options(timeout=0.05).wait()
    assert caught.value.code is Code.DEADLINE_EXCEEDED
    assert client.ready()
    leave.set()


def test_metadata_and_the_deadline_reach_the_handler(server: Server, connect: Connect) -> None:
    @server
    def show(context: Context) -> str:
        assert context.timeout is not None and 50 < context.timeout <= 60
        assert context.remote_address is not None
        return f"{context.metadata['user']!r} {context.binary_metadata['key-bin']!r}"

    client = connect().with_options(timeout=60, metadata={"user": "Ada", "key-bin": b"\0"})
    assert client.show() == "'Ada' b'\\x00'"


def test_other_threads_run_while_a_call_waits(server: Server, connect: Connect) -> None:
    arrived, leave = threading.Event(), threading.Event()

    @server(blocking=True)
    def wait() -> bool:
        arrived.set()
        return leave.wait(LIMIT)

    client = connect()
    replies: list[bool] = []
    threads = [threading.Thread(target=lambda: replies.append(client.wait())) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert arrived.wait(LIMIT), "the GIL is not held"
    leave.set()
    for thread in threads:
        thread.join(LIMIT)
    assert replies == [True] * 3


def test_a_signal_ends_a_call_at_once_and_the_handler_hears_of_it(server: Server, connect: Connect) -> None:
    arrived, left = threading.Event(), threading.Event()

    @server
    def count() -> Iterator[int]:
        arrived.set()
        try:
            for number in range(30_000):
                time.sleep(0.001)
                yield number
        finally:
            left.set()

    client = connect()

    def interrupt() -> None:
        arrived.wait(LIMIT)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        for _ in client.count():
            pass
    thread.join(LIMIT)
    assert left.wait(LIMIT)


def test_a_signal_ends_a_call_that_waits_for_its_reply(server: Server, connect: Connect) -> None:
    arrived, leave = threading.Event(), threading.Event()

    @server(blocking=True)
    def wait() -> bool:
        arrived.set()
        return leave.wait(LIMIT)

    client = connect()

    def interrupt() -> None:
        arrived.wait(LIMIT)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        client.wait()
    assert not leave.is_set()
    leave.set()
    thread.join(LIMIT)


def test_a_client_finds_a_server_that_has_come_back(server: Server, connect: Connect) -> None:
    def sum(a: int, b: int) -> int:
        return a + b

    server(sum)
    client = connect()
    assert client.sum(1, 2) == 3
    address = server.address
    server.stop()
    again = Server("test.Functions")
    again(sum)
    with again.start(address):
        assert client.sum(3, 4) == 7


def test_a_call_that_was_not_sent_has_not_run() -> None:
    with Client("127.0.0.1:1", timeout=0.2) as client:
        with pytest.raises(Status) as caught:
            client.sum(1, 2)
    assert not caught.value.may_have_run


def test_unix_sockets_carry_calls(tmp_path: Path) -> None:
    server = Server()

    @server
    def sum(a: int, b: int) -> int:
        return a + b

    address = f"unix:{tmp_path}/socket"
    with server.start(address), Client(address) as client:
        assert client.sum(1, 2) == 3


@pytest.mark.skipif(sys.platform != "linux", reason="other systems wait by themselves")
def test_clients_wait_for_a_full_backlog_of_a_unix_socket(tmp_path: Path) -> None:
    """Regression test: calls over a Unix socket failed at once if the backlog of its listener was full."""
    path = f"{tmp_path}/socket"

    def block() -> None:
        with Client(f"unix:{path}") as client:
            client.sum(1, 2)

    async def wait() -> None:
        async with AsyncClient(f"unix:{path}") as client:
            await client.sum(1, 2)

    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as queued:
        listener.bind(path)
        listener.listen(0)
        queued.connect(path)
        with futures.ThreadPoolExecutor() as threads:
            for call in [threads.submit(block), threads.submit(run, wait)]:
                with pytest.raises(Status, match="no connection to .* within 5s"):
                    call.result()


def test_a_handler_calls_another_server(server: Server, connect: Connect) -> None:
    inner = Server()

    @inner
    def double(a: int) -> int:
        return 2 * a

    with inner.start("127.0.0.1:0"), Client(inner.address) as other:

        @server
        def outer(a: int) -> int:
            return int(other.double(a)) + 1

        assert connect().outer(4) == 9


def test_function_starts_and_stops_another_server(server: Server, connect: Connect) -> None:
    """Regression test: starting and stopping a server panicked on a thread that drives connections."""

    @server
    def outer(a: int) -> int:
        inner = Server()

        @inner
        def double(a: int) -> int:
            return 2 * a

        with inner.start("127.0.0.1:0"), Client(inner.address) as other:
            return int(other.double(a)) + 1

    @server
    def refused() -> str:
        agent = Server("test.Agent")
        agent(refused)
        try:
            Client("nowhere", serves=agent)
        except ConnectionError as error:
            return type(error).__name__
        return ""

    client = connect()
    assert [client.outer(a) for a in range(4)] == [1, 3, 5, 7]
    assert client.refused() == "ConnectionError"


def test_a_file_takes_the_place_of_reflection(server: Server, connect: Connect, tmp_path: Path) -> None:
    @server
    def sum(a: int, b: int) -> int:
        return a + b

    (tmp_path / "sum.proto").write_text(server.proto())
    connect()
    with Client(server.address, proto=tmp_path / "sum.proto") as client:
        assert client.sum(1, 2) == 3
        assert client["test.Functions"].sum(1, 2) == 3


def test_a_function_takes_a_stream_of_requests(server: Server, connect: Connect) -> None:
    @server
    def total(numbers: Iterator[int]) -> int:
        return sum(numbers)

    @server
    def shout(points: Iterator[Point], context: Context) -> Iterator[str]:
        for point in points:
            yield f"{point.x}!"

    client = connect()
    assert client.total(iter(range(1000))) == 499_500
    assert client.total([]) == 0
    assert list(client.shout(Point(x) for x in range(3))) == ["0!", "1!", "2!"]
    assert "rpc total(stream TotalRequest) returns (TotalResult);" in server.proto()


def test_elements_of_an_iterator_arrive_beside_an_optional_argument(server: Server, connect: Connect) -> None:
    """Regression test: a message with an optional argument is encoded twice, and the second time, an iterator was
    exhausted. The function got an empty list."""

    @server
    def scaled(numbers: list[int], scale: float = 2.0) -> float:
        return sum(numbers) * scale

    client = connect()
    words: Any = map(int, ["1", "2", "3"])
    assert client.scaled(words) == 12
    assert client.scaled((number for number in (4, 5)), 1.0) == 9


def test_replies_leave_before_all_requests_have_come(server: Server, connect: Connect) -> None:
    seen = threading.Event()

    @server
    def echo(numbers: Iterator[int]) -> Iterator[int]:
        for number in numbers:
            yield number
            if number == 0:
                # The caller sends the second request only after it has received the first reply.
                assert seen.wait(LIMIT)

    replies = connect().echo(iter([0, 1]))
    assert next(replies) == 0
    seen.set()
    assert list(replies) == [1]


def test_a_call_that_is_given_up_ends_its_stream_of_requests(server: Server, connect: Connect) -> None:
    arrived, left = threading.Event(), threading.Event()

    @server
    def total(numbers: Iterator[int]) -> int:
        arrived.set()
        try:
            return sum(numbers)
        except Status as status:
            assert status.code is Code.CANCELLED
            left.set()
            raise

    client = connect()

    def requests() -> Iterator[int]:
        while not arrived.is_set():
            yield 1
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        client.total(requests())
    assert left.wait(LIMIT)


@pytest.mark.parametrize("serves", [False, True])
def test_source_of_requests_makes_calls(server: Server, connect: Connect, serves: bool) -> None:
    agent = Server("test.Agent")

    @agent
    @server
    def sum(a: int, b: int) -> int:
        return a + b

    @server
    def total(numbers: Iterator[int]) -> int:
        return builtins.sum(numbers)

    @server
    def double(numbers: Iterator[int]) -> Iterator[int]:
        for number in numbers:
            yield 2 * number

    client = connect(serves=agent if serves else None)

    def requests() -> Iterator[int]:
        for number in range(3):
            yield client.sum(number, 1)

    assert client.total(requests()) == 6
    assert list(client.double(requests())) == [2, 4, 6]


def test_numpy_bools_are_bools(server: Server, connect: Connect) -> None:
    @dataclasses.dataclass
    class Flags:
        first: bool
        others: list[bool]

    @server
    def check(flag: bool, flags: list[bool], by_flag: dict[bool, bool]) -> Flags:
        assert type(flag) is bool
        return Flags(numpy.bool_(flag), [numpy.bool_(True)])  # type: ignore[arg-type, list-item]

    @server
    def anything(value: Any) -> Any:
        assert type(value) is bool, value
        return numpy.array([1]).all()

    client = connect()
    array = numpy.array([1, 2])
    reply = client.check((array > 0).all(), [array[0] > 1], {numpy.bool_(True): numpy.bool_(False)})
    assert (reply.first, reply.others) == (True, [True])
    assert client.anything(numpy.bool_(True)) is True
    with pytest.raises(TypeError, match="flag: a bool expected, not int"):
        client.check(1, [], {})


@pytest.mark.parametrize("kind", ["def", "blocking", "generator", "batch"])
def test_exceptions_are_logged_with_their_traceback(kind: str, server: Server, connect: Connect, caplog: Any) -> None:
    if kind == "generator":

        @server
        def fail(number: int) -> Iterator[int]:
            yield number // 0

    elif kind == "batch":

        @server.batch(max_size=1, name="fail")
        def fail_all(number: list[int]) -> list[int]:
            return [one // 0 for one in number]

    else:

        @server(blocking=kind == "blocking", name="fail")
        def fail_one(number: int) -> int:
            return number // 0

    client = connect()
    with pytest.raises(Status):
        list(client.fail(1)) if kind == "generator" else client.fail(1)
    (record,) = [record for record in caplog.records if record.name == "frisbee_rpc"]
    assert "ZeroDivisionError" in record.exc_text and "// 0" in record.exc_text


def test_status_with_wrong_metadata_is_logged(server: Server, connect: Connect, caplog: Any) -> None:
    @server
    def fail() -> None:
        raise Status(Code.NOT_FOUND, "none", metadata={"count": 7})  # type: ignore[dict-item]

    with pytest.raises(Status) as caught:
        connect().fail()
    assert caught.value.code is Code.INTERNAL
    assert "metadata count: a str or bytes expected" in caplog.text


def test_messages_are_as_long_as_both_ends_allow() -> None:
    server = Server("test.Functions", body_max=16 << 20)

    @server
    def length(array: numpy.ndarray) -> int:
        return array.nbytes

    array = numpy.zeros(2 << 20)
    with server.start("127.0.0.1:0"), Client(server.address) as short, Client(server.address, body_max=32 << 20) as long:
        assert long.length(array[: 15 << 17]) == 15 << 20
        for client in (short, long):
            with pytest.raises(Status, match="body_max") as caught:
                client.length(array)
            assert caught.value.code is Code.RESOURCE_EXHAUSTED


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: ServerTls("cert.pem", "key.pem"), "certificate: not in PEM; pass the content of the file"),
        (lambda: ServerTls(7, b""), "certificate: PEM as bytes or str expected, not int"),  # type: ignore[arg-type]
        (lambda: Tls("ca.pem"), "authorities: not in PEM"),
    ],
)
def test_tls_of_a_path_is_refused(make: Callable[[], object], text: str) -> None:
    with pytest.raises((TypeError, ValueError), match=text):
        make()


def test_tls_takes_text() -> None:
    text = "-----BEGIN CERTIFICATE-----\n"
    assert ServerTls(text, text.encode()).pem == (text.encode(), text.encode(), None)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda client: client.sum(c=2), r"sum\(\) has no argument 'c'; it has: a, b"),
        (lambda client: client.sum(1, a=2), r"sum\(\) got 'a' by its position and by its name"),
        (lambda client: client.sum(1, 2, 3), r"sum\(\) has 2 arguments, not 3; it has: a, b"),
    ],
)
def test_misspelt_arguments_name_the_function(
    call: Callable[[Client], Any], text: str, server: Server, connect: Connect
) -> None:
    @server
    def sum(a: int, b: int) -> int:
        return a + b

    with pytest.raises(TypeError, match=text):
        call(connect())


def test_eight_threads_share_a_client_and_a_server(server: Server, connect: Connect) -> None:
    @server(blocking=True)
    def sum(numbers: list[int]) -> int:
        return builtins.sum(numbers)

    @server
    def count(n: int) -> Iterator[int]:
        yield from range(n)

    client = connect()
    together = threading.Barrier(8, timeout=LIMIT)
    wrong: list[object] = []

    def call(own: int) -> None:
        together.wait()
        for at in range(50):
            if (found := client.sum([own, at])) != own + at:
                wrong.append(found)
            if (listed := list(client.count(own))) != list(range(own)):
                wrong.append(listed)

    threads = [threading.Thread(target=call, args=(own,)) for own in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LIMIT)
    assert not wrong and not any(thread.is_alive() for thread in threads)


def test_thread_that_reads_a_stream_of_another_one_is_refused(server: Server, connect: Connect) -> None:
    released = threading.Event()

    @server(blocking=True)
    def count() -> Iterator[int]:
        assert released.wait(LIMIT)
        yield 1

    replies = connect().count()
    with futures.ThreadPoolExecutor(2) as pool:
        calls = [pool.submit(next, replies) for _ in range(2)]
        done, waiting = futures.wait(calls, LIMIT, futures.FIRST_COMPLETED)
        released.set()
        assert "one thread at a time" in str(done.pop().exception())
        assert waiting.pop().result(LIMIT) == 1


class Changing:
    """An integer that changes the list or dict which contains it when it is converted."""

    def __init__(self, change: Callable[[], Any]) -> None:
        self.change = change

    def __index__(self) -> int:
        self.change()
        return 1


def test_list_and_dict_that_change_while_they_are_sent(server: Server, connect: Connect) -> None:
    @server
    def names(numbers: list[int], ages: dict[str, int]) -> list[str]:
        return list(ages)

    client = connect()
    numbers: list[Any] = [1, 2]
    numbers.append(Changing(numbers.clear))
    numbers.append(3)
    with pytest.raises(ValueError, match="the list has changed while it was sent"):
        client.names(numbers, {})
    ages: dict[str, Any] = {}
    ages["a"] = Changing(lambda: ages.update(b=2))
    assert client.names([1], ages) == ["a"]
