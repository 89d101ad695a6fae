"""Memory that is not freed after calls. `FRISBEE_MANY` sets the number of calls. In addition, a tenth of this number of
calls are cancelled."""

from __future__ import annotations

import os

import pytest

from .conftest import LIMIT, program

MANY = int(os.environ.get("FRISBEE_MANY", 10_000))


def test_many_calls_and_those_that_are_given_up_leave_no_memory() -> None:
    text = f"""
import asyncio, os
from frisbee_rpc import AsyncClient, Client, Server
server = Server()
@server
def sum(a: int, b: int) -> int:
    return a + b
@server
def echo(raw: bytes) -> bytes:
    return raw
def held() -> int:
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
def blocking(calls: int) -> None:
    with Client(server.address) as client:
        for a in range(calls):
            assert client.sum(a, 1) == a + 1
async def given_up(calls: int) -> None:
    async with AsyncClient(server.address) as client:
        for _ in range(calls):
            task = asyncio.create_task(client.echo(b"a" * 1000))
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
def round(calls: int) -> int:
    blocking(calls)
    asyncio.run(given_up(calls // 10))
    return held()
with server.start("127.0.0.1:0"):
    round(2000)
    before = round(2000)
    # The memory kept by the allocator differs by as much from round to round.
    grown = round({MANY}) - before
    assert grown < max(4_000_000, {MANY} * 50), grown
"""
    program(text, limit=LIMIT + MANY / 100)


def test_exceptions_of_calls_are_freed_with_their_last_reference() -> None:
    text = """
import asyncio, gc
from typing import Iterator
from frisbee_rpc import AsyncClient, Server, Status
server = Server()
@server
def fail() -> None:
    raise Status(5, "no")
@server
def count() -> Iterator[int]:
    raise Status(5, "no")
    yield 1
async def call() -> None:
    async with AsyncClient(server.address) as client:
        for _ in range(100):
            for failing in (client.fail(), anext(client.count())):
                try:
                    await failing
                except Status:
                    pass
gc.disable()
with server.start("127.0.0.1:0"):
    asyncio.run(call())
    left = sum(isinstance(each, Status) for each in gc.get_objects())
    assert left < 10, left
"""
    program(text)


def test_server_that_starts_again_leaves_no_memory() -> None:
    text = """
import os
from frisbee_rpc import Server
server = Server()
def sum(a: int, b: int) -> int:
    return a + b
sum.__doc__ = "a" * 1_000_000
server(sum)
def held() -> int:
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
def round(starts: int) -> int:
    for _ in range(starts):
        with server.start("127.0.0.1:0"):
            pass
    return held()
before = round(5)
grown = round(30) - before
assert grown < 20_000_000, grown
"""
    program(text)


@pytest.mark.parametrize("waiting", ["client.wait()", "anext(client.count())", "anext(aiter(messages))"])
def test_closed_loop_frees_tasks_that_wait_for_calls(waiting: str) -> None:
    """Regression test: calls in flight kept the task, the client and its connection forever."""
    text = f"""
import asyncio, gc, weakref
from typing import AsyncIterator
from frisbee_rpc import AsyncClient, Server
server = Server(topics=True)
@server
async def wait() -> None:
    await asyncio.Event().wait()
@server
async def count() -> AsyncIterator[int]:
    await asyncio.Event().wait()
    yield 1
async def start() -> weakref.ref[object]:
    client = await AsyncClient.connect(server.address)
    messages = await client.topics().subscribe("news")
    async def main() -> None:
        await {waiting}
    task = asyncio.create_task(main())
    await asyncio.sleep(0)
    return weakref.ref(task)
with server.start("127.0.0.1:0"):
    loop = asyncio.new_event_loop()
    task = loop.run_until_complete(start())
    loop.close()
    # The thread of the topics' connection drops its reference concurrently. The next call into the package releases it.
    while task() is not None:
        server.address
        gc.collect()
"""
    program(text)


def test_closed_loop_frees_tasks_of_its_handlers() -> None:
    """Regression test: a call and the task of its handler kept each other."""
    text = """
import asyncio, gc, weakref
from frisbee_rpc import AsyncClient, Server
async def start() -> weakref.ref[object]:
    server, listens, tasks = Server(), asyncio.Event(), asyncio.Queue()
    @server
    async def wait() -> None:
        tasks.put_nowait(asyncio.current_task())
        await asyncio.Event().wait()
    serving = asyncio.create_task(server.serve("127.0.0.1:0", started=listens.set))
    await listens.wait()
    call = asyncio.create_task((await AsyncClient.connect(server.address)).wait())
    return weakref.ref(await tasks.get())
with Server(topics=True).start("127.0.0.1:0") as other:
    loop = asyncio.new_event_loop()
    task = loop.run_until_complete(start())
    loop.close()
    # The thread of the connection drops its reference concurrently. The next call into the package releases it.
    while task() is not None:
        other.address
        gc.collect()
"""
    program(text)
