"""Calls that a server makes to its clients."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from typing import Any, Iterator

import pytest

from frisbee_rpc import AsyncClient, Client, Context, Server

from .conftest import LIMIT, run


def agent(name: str) -> Server:
    """Returns the functions that a client serves."""
    functions = Server("test.Agent")

    @functions
    def who(greeting: str) -> str:
        return f"{greeting}, I am {name}"

    @functions
    def count(limit: int) -> Iterator[int]:
        yield from range(limit)

    return functions


@pytest.fixture
def asking(server: Server) -> Server:
    """Provides a server with functions that call back their callers."""

    @server(blocking=True)
    def ask(greeting: str, context: Context) -> str:
        return str(context.client.who(greeting))

    @server
    async def ask_later(greeting: str, context: Context) -> str:
        client = context.async_client
        async with client:
            return str(await client.who(greeting)) + str([number async for number in client.count(3)])

    @server
    def ask_at_once(context: Context) -> str:
        try:
            return str(context.client.who("x"))
        except RuntimeError as error:
            return str(error)

    return server


def test_a_function_calls_the_client_that_has_called_it(asking: Server) -> None:
    async def main() -> None:
        async with Serving(asking) as address:

            def blocking() -> list[str]:
                with Client(address, serves=agent("Ada")) as ada, Client(address, serves=agent("Alan")) as alan:
                    return [ada.ask("Hi"), alan.ask("Hi"), ada.ask_later("Ho"), ada.ask_at_once()]

            said = await asyncio.to_thread(blocking)
            assert said == [
                "Hi, I am Ada",
                "Hi, I am Alan",
                "Ho, I am Ada[0, 1, 2]",
                "a function that calls its caller is a coroutine function, or has blocking=True",
            ]

    run(main)


class Serving:
    """Runs a server in the current event loop."""

    def __init__(self, server: Server) -> None:
        self.server = server

    async def __aenter__(self) -> str:
        started = asyncio.Event()
        self.task = asyncio.create_task(self.server.serve("127.0.0.1:0", started=started.set))
        await started.wait()
        return self.server.address

    async def __aexit__(self, *_: object) -> None:
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)


def test_a_loop_serves_coroutines_to_its_server(server: Server) -> None:
    functions = Server("test.Agent")

    @functions
    async def who(greeting: str) -> str:
        return f"{greeting} from a loop"

    @server(blocking=True)
    def ask(context: Context) -> str:
        return str(context.client.who("Hi"))

    server.start("127.0.0.1:0")

    async def main() -> None:
        async with AsyncClient(server.address, serves=functions) as client:
            assert await client.ask() == "Hi from a loop"

    run(main)


def test_a_client_without_functions_cannot_be_called(server: Server) -> None:
    said = threading.Event()

    @server(blocking=True)
    def ask(context: Context) -> str:
        try:
            return str(context.client.who("x"))
        except Exception as error:
            said.set()
            return type(error).__name__

    @server
    async def ask_later(context: Context) -> str:
        # A generated client does not need the schema of the caller. The caller may be a web page, which has no
        # reflection.
        async with context.async_client as client:
            try:
                return str(await client.who("x"))
            except RuntimeError as error:
                return str(error)

    server.start("127.0.0.1:0")
    with Client(server.address, timeout=LIMIT) as client:
        assert client.ask() == "Status" and said.is_set()
        assert "so use a generated client" in client.ask_later()


def test_a_server_calls_a_client_at_any_time_and_after_it_has_come_back(server: Server) -> None:
    callers: list[Context] = []

    @server(blocking=True)
    def register(context: Context) -> None:
        callers.append(context)

    server.start("127.0.0.1:0")
    address = server.address
    with Client(address, serves=agent("Ada"), timeout=LIMIT) as client:
        client.register()
        # The server calls the client although the client makes no call at this time.
        assert callers[0].client.who("Hi") == "Hi, I am Ada"
        server.stop()
        server.start(address)
        client.register()
        assert callers[1].client.who("Ho") == "Ho, I am Ada"


class Owner:
    """Owner of a client that serves one of its methods, so that both refer to each other."""

    client: Any
    numbers: Any

    def __init__(self) -> None:
        self.functions = Server("test.Agent")
        self.functions(self.who)

    def who(self, greeting: str) -> str:
        return f"{greeting}, I am an agent"


def serve_numbers(server: Server) -> None:
    """Adds a function with a stream of replies that tests do not read to its end."""

    @server
    def numbers() -> Iterator[int]:
        yield from range(1000)

    server.start("127.0.0.1:0")


def test_owner_of_an_asynchronous_stream_is_collected(server: Server) -> None:
    """Regression test: the client of the stream, and the owner of both, were kept forever."""
    serve_numbers(server)

    async def main() -> None:
        owner = Owner()
        owner.client = AsyncClient(server.address, serves=owner.functions)
        await owner.client.__aenter__()
        owner.numbers = owner.client.numbers()
        assert await anext(owner.numbers) == 0
        left = weakref.ref(owner)
        del owner
        gc.collect()
        assert left() is None

    run(main)


def test_client_that_serves_methods_of_its_owner_is_collected(asking: Server) -> None:
    """Regression test: the owner, and the connection of its client, were kept forever."""
    serve_numbers(asking)
    owner = Owner()
    owner.client = Client(asking.address, serves=owner.functions, timeout=LIMIT)
    owner.numbers = owner.client.numbers()
    assert owner.client.ask("Hi") == "Hi, I am an agent" and next(owner.numbers) == 0
    gc.collect()
    assert owner.client.ask("Ho") == "Ho, I am an agent"
    left = weakref.ref(owner)
    del owner
    gc.collect()
    assert left() is None
