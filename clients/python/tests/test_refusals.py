"""Errors must name only settings, methods and types that a Python program can change, and none of the Rust library."""

from __future__ import annotations

import dataclasses
import inspect
import re
import socket
from functools import partial
from pathlib import Path
from typing import Any, Callable

import pytest

import frisbee_rpc
from frisbee_rpc import AsyncClient, Client, Schema, Server, ServerTls, Status, Tls, UdpClient

from .conftest import LIMIT, run

PEM = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
LOOPBACK = "127.0.0.1:0"


@dataclasses.dataclass
class Tree:
    children: list[Tree]


def echo(text: str) -> str:
    return text


def serve(address: str = LOOPBACK, function: Any = echo, **options: Any) -> None:
    server = Server(**options)
    server(function)
    try:
        server.start(address)
    finally:
        server.stop()


def serve_by_http(**options: Any) -> None:
    serve(protocols=["http", "websocket"], **options)


def call(served: dict[str, Any], options: dict[str, Any], use: Callable[[Any], Any]) -> None:
    """Starts a server with these settings, and calls `use` with a client that has these options."""
    with Server(topics=True, **served) as server:
        server(echo)

        @server
        def fill(count: int) -> str:
            return "x" * count

        @server
        def nest(tree: Tree) -> int:
            return len(tree.children)

        server.start(LOOPBACK)
        with Client(server.address, **({"timeout": LIMIT} | options)) as client:
            use(client)


def nested(depth: int) -> Tree:
    tree = Tree([])
    for _ in range(depth):
        tree = Tree([tree])
    return tree


def wide(key: str, value: Any) -> Callable[[Any], Any]:
    return lambda client: client.with_options(metadata={key: value}).echo("")


def echo_by(address: str, **options: Any) -> None:
    Client(address, **({"timeout": 1.0} | options)).echo("")


async def _echo_by(address: str) -> None:
    async with AsyncClient(address, timeout=1.0) as client:
        await client.echo("")


#: Invalid values for settings of a server.
OF_SERVERS: dict[str, list[Any]] = {
    "name": ["", "1x", "a b", "a..b", 1],
    "protocols": [["soap"], ["http", 1], 1],
    "tls": [ServerTls(PEM, PEM), ServerTls(PEM, PEM, clients=PEM), "certificate"],
    "threads": [0, -1, 1 << 40, "4"],
    "workers": [0, -1, 1 << 80, 1.5],
    "processes": [0, -1, 1 << 80, 1.5],
    "history": [{"a..b": 1}, {"": 1}, {"a": 0}, {"a": 1 << 20}, {"a": (1, -1.0)}, {"a": (1, float("nan"))}],
    "body_max": [0, 1, 1023, 1 << 32, -1, "1 MiB"],
    "memory_max": [0, -1, 1 << 64, "1 MiB"],
    "shutdown_timeout": [-1.0, float("nan"), 1e30, "20s"],
}

OF_PROTOCOLS: dict[str, list[Any]] = {
    "hosts": [[1], "localhost", 1, ["http://x"], ["x:80"], ["*"], ["x/"], [""]],
    "origins": [[1], "http://localhost", 1, ["*"], ["x"], ["http://x/"], ["http://X"], ["https://x:443"], ["https://*.x"], ["null"]],
}

OF_CLIENTS: dict[str, list[Any]] = {
    "tls": [Tls(PEM), Tls(PEM, certificate=PEM, key=PEM), Tls(PEM, server_name="a b"), "authorities"],
    "timeout": [-1.0, float("nan"), 1e30, "1s"],
    "body_max": [0, 1, 1023, 1 << 32, -1, "1 MiB"],
    "proto": ["/none/x.proto"],
}

#: Invalid settings. Each attempt must fail.
SETTINGS: dict[str, Callable[[], Any]] = {
    **{
        f"Server({name}={value!r})": partial(serve, **{name: value})
        for name, values in OF_SERVERS.items()
        for value in values
    },
    **{
        f"Server({name}={value!r}, protocols)": partial(serve_by_http, **{name: value})
        for name, values in OF_PROTOCOLS.items()
        for value in values
    },
    **{
        f"start({address!r})": partial(serve, address)
        for address in ["", "x", "127.0.0.1", "127.0.0.1:99999", "unix:", "unix:/none/x", "203.0.113.1:1", "tcp://x:1", "udp:x"]
    },
    **{
        f"Client({address!r})": partial(echo_by, address)
        for address in ["", "x", "127.0.0.1", "127.0.0.1:99999", "unix:", "unix:/none/x", "127.0.0.1:1", "http://127.0.0.1:1"]
    },
    **{
        f"Client({name}={value!r})": partial(echo_by, "127.0.0.1:1", **{name: value})
        for name, values in OF_CLIENTS.items()
        for value in values
    },
    **{
        f"AsyncClient({address!r})": partial(run, partial(_echo_by, address))
        for address in ["x", "127.0.0.1", "127.0.0.1:99999", "unix:/none/x", "127.0.0.1:1"]
    },
    "ServerTls(text)": lambda: ServerTls("x", "y"),
    "Tls(text)": lambda: Tls("x"),
    "Tls without key": lambda: Tls(PEM, certificate=PEM),
    "Schema.parse": lambda: Schema.parse([("x.proto", "syntax = 'proto3'; message A { B b = 1; }")]),
    "Schema.parse proto2": lambda: Schema.parse([("x.proto", "syntax = 'proto2'; message A { required int32 b = 1; }")]),
    "Schema.parse name": lambda: Schema.parse([("", "")]),
    "no functions": lambda: Server().start(LOOPBACK),
    "batch": lambda: Server().batch(max_size=0),
    "delay": lambda: Server().batch(max_delay="soon"),
    "delay below zero": lambda: _batch(max_delay=-1.0),
    "no topics": lambda: _without_topics(),
    "UdpClient": lambda: UdpClient("x"),
    "UdpClient timeout": lambda: UdpClient("127.0.0.1:1", timeout=0.0),
}


def _batch(**options: Any) -> None:
    def lengths(texts: list[str]) -> list[int]:
        return [len(text) for text in texts]

    server = Server()
    server.batch(**options)(lengths)
    try:
        server.start(LOOPBACK)
    finally:
        server.stop()


def _without_topics() -> None:
    with Server() as server:
        server(echo)
        server.start(LOOPBACK)
        with Client(server.address, timeout=LIMIT) as client:
            client.topics().subscribe("a")


KIB = 1024

#: Limits: settings of the server, options of the client, and a use that exceeds the limit.
LIMITS: dict[str, tuple[dict[str, Any], dict[str, Any], Callable[[Any], Any]]] = {
    "request exceeds the server": ({"body_max": 2 * KIB}, {}, lambda client: client.echo("x" * 4 * KIB)),
    "request exceeds the client": ({}, {"body_max": 2 * KIB}, lambda client: client.echo("x" * 4 * KIB)),
    "reply exceeds the client": ({}, {"body_max": 2 * KIB}, lambda client: client.fill(4 * KIB)),
    "reply exceeds the server": ({"body_max": 2 * KIB}, {}, lambda client: client.fill(4 * KIB)),
    "message nests too deep": ({}, {}, lambda client: client.nest(nested(200))),
    "message nests far too deep": ({}, {}, lambda client: client.nest(nested(5000))),
    "metadata too long": ({}, {}, wide("key", "x" * 100 * KIB)),
    "metadata key": ({}, {}, wide("a key", "x")),
    "metadata key in capitals": ({}, {}, wide("Key", "x")),
    "metadata key type": ({}, {}, wide(1, "x")),  # type: ignore[arg-type]
    "metadata control": ({}, {}, wide("key", "a\nb")),
    "metadata type": ({}, {}, wide("key", 1)),
    "metadata binary": ({}, {}, wide("key", b"\xff")),
    "timeout": ({}, {}, lambda client: client.with_options(timeout=1e-9).echo("")),
    "timeout below zero": ({}, {}, lambda client: client.with_options(timeout=-1.0).echo("")),
    "argument type": ({}, {}, lambda client: client.echo(1)),
    "argument range": ({}, {}, lambda client: client.fill(1 << 64)),
    "argument unknown": ({}, {}, lambda client: client.echo(texts="")),
    "argument missing": ({}, {}, lambda client: client.nest(None)),
    "method unknown": ({}, {}, lambda client: client.ech("")),
    "topic": ({}, {}, lambda client: client.topics().publish("a..b", "x")),
    "topic empty": ({}, {}, lambda client: client.topics().publish("", "x")),
    "topic pattern": ({}, {}, lambda client: client.topics().publish("a.*", "x")),
    "topic too long": ({}, {}, lambda client: client.topics().publish("a" * 10_000, "x")),
    "topic payload": ({}, {}, lambda client: client.topics().publish("a", b"x" * (6 << 20))),
    "topic type": ({}, {}, lambda client: client.topics().publish("a", 1)),
    "subscribe": ({}, {}, lambda client: client.topics().subscribe("a.>.b")),
    "subscribe type": ({}, {}, lambda client: client.topics().subscribe("a", int)),
    "subscribe word": ({}, {}, lambda client: client.topics().subscribe("a", start="first")),
    "closed": ({}, {}, lambda client: (client.close(), client.echo(""))),
}



def names() -> set[str]:
    """Returns the names that a Python program can use: classes, methods, functions and parameters of the package."""
    known = {"frisbee_rpc", *dir(Path)}

    def add(thing: Any, depth: int) -> None:
        for name in dir(thing):
            known.add(name)
            member = getattr(thing, name, None)
            if isinstance(member, type) and depth < 2:
                add(member, depth + 1)
            try:
                known.update(inspect.signature(member).parameters)  # type: ignore[arg-type]
            except (TypeError, ValueError):
                pass

    add(frisbee_rpc, 0)
    return known


def text_of(error: BaseException) -> str:
    return str(error)


def rust_words(text: str) -> list[str]:
    """Returns the words of a text that have a meaning only in Rust programs."""
    known = names()
    snakes = [word for word in re.findall(r"\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b", text) if word not in known]
    paths = re.findall(r"\w+::\w+", text)
    kinds = re.findall(r"\b(?:[ui](?:8|16|32|64|128|size)|f32|f64|Vec|Option|Some|Settings|Duration|[A-Z]\w*Error)\b", text)
    hints = re.findall(r"\b(?:builder|Builder|connector|crate|cargo|rustls|tokio|serde|integral)\b", text)
    return snakes + paths + kinds + hints


def test_words_of_rust_are_found() -> None:
    assert rust_words("set `stream_memory_max`, or `Config::body_max`") == ["stream_memory_max", "Config::body_max"]
    assert rust_words("a builder of u32") == ["u32", "builder"]
    assert rust_words("body_max = 0: must be at least 1024 bytes; timeout, 5 bytes of `text`") == []


@pytest.mark.parametrize("attempt", SETTINGS)
def test_refused_settings_name_nothing_of_rust(attempt: str) -> None:
    with pytest.raises(Exception) as refused:
        SETTINGS[attempt]()
    assert not rust_words(text_of(refused.value)), text_of(refused.value)


@pytest.mark.parametrize("attempt", LIMITS)
def test_refusals_by_limits_name_nothing_of_rust(attempt: str) -> None:
    served, options, use = LIMITS[attempt]
    with pytest.raises(Exception) as refused:
        call(served, options, use)
    assert not rust_words(text_of(refused.value)), text_of(refused.value)


def test_argument_of_a_wrong_type_is_named() -> None:
    with Server(topics=True).start(LOOPBACK) as server, Client(server.address) as client:
        uses: dict[str, Callable[[], Any]] = {
            "address: str expected, not int": lambda: Client(5),  # type: ignore[arg-type]
            "timeout: a time in seconds expected, not str": lambda: client.with_options(timeout="5"),  # type: ignore[arg-type]
            "topic: str expected, not int": lambda: client.topics().publish(5, "x"),  # type: ignore[arg-type]
            "pattern: str expected, not int": lambda: client.topics().subscribe(5),  # type: ignore[call-overload]
        }
        for text, use in uses.items():
            with pytest.raises(TypeError, match=text):
                use()


def test_metadata_key_of_a_wrong_type_is_named() -> None:
    with pytest.raises(TypeError, match="metadata key: a str expected, not int"):
        call({}, {}, wide(5, "x"))  # type: ignore[arg-type]


class Failing:
    """A number whose conversion fails."""

    def __index__(self) -> int:
        raise LookupError("on purpose")

    __float__ = __index__


def test_exception_of_a_number_is_raised() -> None:
    with Server() as server:

        @server
        def take(whole: int, real: float) -> None: ...

        server.start(LOOPBACK)
        with Client(server.address) as client:
            for arguments in [(Failing(), 1.0), (1, Failing())]:
                with pytest.raises(LookupError, match="on purpose"):
                    client.take(*arguments)


def test_timeout_limits_the_first_fetch_of_the_schema() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        attempts: list[Callable[[], Any]] = [
            lambda: echo_by(address, timeout=0.05),
            lambda: Client(address).with_options(timeout=0.05).echo(""),
            lambda: run(lambda: AsyncClient.connect(address, timeout=0.05)),
        ]
        for attempt in attempts:
            with pytest.raises(Status, match="DEADLINE_EXCEEDED: not sent: the schema was not fetched") as caught:
                attempt()
            assert not caught.value.may_have_run
