"""Calls made within event loops, and coroutine functions that serve calls."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import threading
import time
from pathlib import Path
from typing import Any, AsyncIterator, Iterator

import pytest

from frisbee_rpc import AsyncClient, Client, Code, Context, Server, Status

from .conftest import LIMIT, run


def functions() -> Server:
    server = Server()

    @server
    def sum(a: int, b: int) -> int:
        return a + b

    @server
    def count(n: int) -> Iterator[int]:
        yield from range(n)

    return server


def waiting() -> tuple[Server, threading.Event]:
    """Provides a server with a function that returns when the event is set."""
    leave = threading.Event()
    server = Server()

    @server(blocking=True)
    def wait() -> None:
        leave.wait(LIMIT)

    return server, leave


def test_calls_of_a_loop_run_side_by_side() -> None:
    async def main() -> None:
        with functions().start("127.0.0.1:0") as server:
            async with AsyncClient(server.address) as client:
                sums = await asyncio.gather(*(client.sum(a, 1) for a in range(500)))
                assert sums == list(range(1, 501))
                assert [number async for number in client.count(300)] == list(range(300))
                with pytest.raises(TypeError, match="an int expected"):
                    await client.sum("a", 1)

    run(main)


def test_two_loops_in_two_threads_share_a_client() -> None:
    with functions().start("127.0.0.1:0") as server:
        client: AsyncClient = run(lambda: AsyncClient.connect(server.address))
        sums: list[int] = []

        async def main() -> None:
            for a in range(200):
                sums.append(await client.sum(a, 1))

        threads = [threading.Thread(target=run, args=(main,)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(LIMIT)
        assert sorted(sums) == sorted([*range(1, 201), *range(1, 201)])
        client.close()


def test_loop_continues_in_another_thread() -> None:
    with functions().start("127.0.0.1:0") as server:
        loop = asyncio.new_event_loop()
        client: AsyncClient = loop.run_until_complete(AsyncClient.connect(server.address))
        assert loop.run_until_complete(client.sum(1, 2)) == 3
        thread = threading.Thread(target=loop.run_forever)
        thread.start()
        try:
            for a in range(3):
                assert asyncio.run_coroutine_threadsafe(client.sum(a, 2), loop).result(LIMIT) == a + 2
        finally:
            loop.call_soon_threadsafe(loop.stop)
            thread.join(LIMIT)
        assert loop.run_until_complete(client.sum(3, 4)) == 7
        client.close()
        loop.close()


def test_a_task_that_is_cancelled_ends_its_call_and_its_handler() -> None:
    async def main() -> None:
        arrived, left = asyncio.Event(), asyncio.Event()
        server = Server()

        @server
        async def wait() -> None:
            arrived.set()
            try:
                await asyncio.sleep(LIMIT)
            finally:
                left.set()

        started: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        serving = asyncio.create_task(server.serve("127.0.0.1:0", started=lambda: started.set_result(None)))
        await started
        async with AsyncClient(server.address) as client:
            call = asyncio.create_task(client.wait())
            await arrived.wait()
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            await left.wait()
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)

    run(main)


def test_coroutines_and_their_generators_serve_in_the_loop() -> None:
    async def main() -> None:
        closed = asyncio.Event()
        server = Server(shows_errors=True)

        @server
        async def sum(a: int, b: int, context: Context) -> int:
            await asyncio.sleep(0)
            return a + b

        @server
        async def fail() -> None:
            raise ValueError("no")

        @server
        async def count(n: int) -> AsyncIterator[int]:
            try:
                for number in range(n):
                    await asyncio.sleep(0)
                    yield number
            finally:
                closed.set()

        started: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        serving = asyncio.create_task(server.serve("127.0.0.1:0", started=lambda: started.set_result(None)))
        await started
        async with AsyncClient(server.address) as client:
            assert await client.sum(1, 2) == 3
            with pytest.raises(Status, match="ValueError: no") as caught:
                await client.fail()
            assert caught.value.code is Code.INTERNAL
            assert [number async for number in client.count(100)] == list(range(100))
            closed.clear()
            numbers = client.count(10**9)
            assert await numbers.__anext__() == 0
            await numbers.aclose()
            await closed.wait()
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)

    run(main)


def test_a_loop_that_is_blocked_loses_nothing() -> None:
    async def main() -> None:
        with functions().start("127.0.0.1:0") as server:
            async with AsyncClient(server.address) as client:
                tasks = [asyncio.create_task(client.sum(a, 0)) for a in range(100)]
                await asyncio.sleep(0)
                # The replies arrive while the loop is blocked here.
                with Client(server.address) as other:
                    assert all(other.sum(a, 0) == a for a in range(100))
                assert await asyncio.gather(*tasks) == list(range(100))

    run(main)


def test_a_client_without_a_schema_says_what_to_do() -> None:
    async def main() -> Any:
        with pytest.raises(RuntimeError, match="async with"):
            AsyncClient("127.0.0.1:1").sum

    run(main)


def test_coroutines_take_streams_of_requests() -> None:
    async def main() -> None:
        server = Server()

        @server
        async def total(numbers: AsyncIterator[int]) -> int:
            return sum([number async for number in numbers])

        @server
        async def double(numbers: AsyncIterator[int]) -> AsyncIterator[int]:
            async for number in numbers:
                yield 2 * number

        started = asyncio.Event()
        serving = asyncio.create_task(server.serve("127.0.0.1:0", started=started.set))
        await started.wait()
        async with AsyncClient(server.address) as client:
            assert await client.total(range(100)) == 4950
            assert [number async for number in client.double(range(100))] == list(range(0, 200, 2))
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)

    run(main)


def test_long_messages_go_both_ways_while_a_loop_drives_the_connection() -> None:
    server = Server()

    @server
    def echo(raw: bytes) -> bytes:
        return raw

    async def main() -> None:
        with server.start("127.0.0.1:0"):
            async with AsyncClient(server.address) as client:
                # More bytes than the socket accepts at once.
                raw = bytes(range(256)) * 16_000
                sent = [raw, b"a", raw[1:]]
                assert list(await asyncio.gather(*map(client.echo, sent))) == sent

    run(main)


def test_a_deadline_ends_a_call_of_a_loop() -> None:
    server, leave = waiting()

    async def main() -> None:
        with server.start("127.0.0.1:0"):
            async with AsyncClient(server.address) as client:
                for timeout in [0.05, 1.0]:
                    with pytest.raises(Status) as caught:
                        await client.with_options(timeout=timeout).wait()
                    assert caught.value.code is Code.DEADLINE_EXCEEDED
            leave.set()

    run(main)


def test_a_loop_finds_a_server_that_has_come_back() -> None:
    async def main() -> None:
        first = functions().start("127.0.0.1:0")
        async with AsyncClient(first.address) as client:
            assert await client.sum(1, 2) == 3
            address = first.address
            # The loop must keep running, because it closes the client's connection.
            await asyncio.to_thread(first.stop)
            second = functions().start(address)
            assert await client.sum(3, 4) == 7
            await asyncio.to_thread(second.stop)

    run(main)


def test_a_loop_within_a_handler_makes_calls() -> None:
    server = Server()

    @server
    def outer(address: str) -> int:
        async def call() -> int:
            async with AsyncClient(address) as client:
                return int(await client.sum(1, 2))

        return asyncio.run(call())

    with functions().start("127.0.0.1:0") as inner, server.start("127.0.0.1:0"), Client(server.address) as client:
        assert client.outer(inner.address) == 3


def test_a_client_serves_one_loop_after_the_other() -> None:
    with functions().start("127.0.0.1:0") as server:
        client: AsyncClient = run(lambda: AsyncClient.connect(server.address))
        for _ in range(3):
            assert run(lambda: client.sum(1, 2)) == 3
        client.close()
        with pytest.raises(Status) as caught:
            run(lambda: client.sum(1, 2))
        assert caught.value.code is Code.FAILED_PRECONDITION


def test_call_in_flight_continues_after_its_client_closes() -> None:
    async def main() -> None:
        server, leave = waiting()

        @server
        async def count() -> AsyncIterator[int]:
            for number in range(3):
                yield number

        with server.start("127.0.0.1:0"):
            async with AsyncClient(server.address) as client:
                wait, numbers = asyncio.ensure_future(client.wait()), client.count()
                assert await anext(numbers) == 0
            leave.set()
            assert [await wait, await anext(numbers), await anext(numbers)] == [None, 1, 2]

    run(main)


def test_server_whose_loop_was_stopped_stops() -> None:
    """Regression test: `stop` raised an exception, because the loop was closed."""
    server = Server()
    threads: list[threading.Thread] = []

    @server
    async def end() -> None:
        threads.append(threading.current_thread())
        asyncio.get_running_loop().stop()

    server.start("127.0.0.1:0")
    with Client(server.address, timeout=LIMIT) as client:
        client.end()
    threads[0].join(LIMIT)
    server.stop()


def test_server_in_the_thread_of_a_closed_client_stops_at_once() -> None:
    async def main() -> None:
        server = functions().start("127.0.0.1:0")
        async with AsyncClient(server.address) as client:
            await client.sum(1, 2)
        # The loop is blocked during `stop`. If the loop were needed to close the connections, the server would wait for
        # its shutdown timeout of 10 s.
        start = time.monotonic()
        server.stop()
        assert time.monotonic() - start < 5

    run(main)


class CountingLoop(asyncio.SelectorEventLoop):
    """An event loop that counts its iterations."""

    rounds = 0

    def _run_once(self) -> None:
        self.rounds += 1
        super()._run_once()  # type: ignore[misc]


def test_a_task_goes_on_in_the_round_of_the_loop_that_brings_its_reply() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, CountingLoop)
        async with AsyncClient(server.address) as client:
            await client.sum(0, 0)
            before = loop.rounds
            for a in range(500):
                assert await client.sum(a, 1) == a + 1
            # With an asyncio future, each call would take two iterations. A few additional iterations run timers.
            assert loop.rounds - before < 750
            assert [number async for number in client.count(3)] == [0, 1, 2]

    with functions().start("127.0.0.1:0") as server, asyncio.Runner(loop_factory=CountingLoop) as runner:
        runner.run(asyncio.wait_for(main(), LIMIT))


def test_replies_that_a_task_reads_for_others_wake_them_afterwards() -> None:
    async def main() -> None:
        with functions().start("127.0.0.1:0") as server:
            async with AsyncClient(server.address) as client:
                tasks = [asyncio.create_task(client.sum(a, 0)) for a in range(10)]
                await asyncio.sleep(0)
                # The loop has not read for so long that the next call reads replies itself.
                with Client(server.address) as other:
                    until = time.monotonic() + 0.02
                    while time.monotonic() < until:
                        other.sum(0, 0)
                assert await client.sum(1, 2) == 3
                assert await asyncio.gather(*tasks) == list(range(10))

    run(main)


def test_tasks_that_go_on_with_a_reply_have_their_own_context() -> None:
    name: contextvars.ContextVar[int] = contextvars.ContextVar("name")

    async def main() -> None:
        with functions().start("127.0.0.1:0") as server:
            async with AsyncClient(server.address) as client:

                async def call(own: int) -> None:
                    name.set(own)
                    for _ in range(20):
                        assert await client.sum(own, 0) == own
                        assert name.get() == own
                        assert asyncio.current_task() is tasks[own]

                tasks = [asyncio.create_task(call(own)) for own in range(20)]
                await asyncio.gather(*tasks)

    run(main)


def test_coroutines_of_a_started_server_have_a_loop() -> None:
    server = Server()
    threads = set()

    @server
    async def double(n: int) -> int:
        await asyncio.sleep(0)
        threads.add(threading.current_thread().name)
        return 2 * n

    @server
    async def count(n: int) -> AsyncIterator[int]:
        for number in range(n):
            yield number

    @server
    async def leave() -> str:
        try:
            server.stop()
        except RuntimeError as error:
            return str(error)
        return ""

    with server.start("127.0.0.1:0"), Client(server.address, timeout=LIMIT) as client:
        assert (client.double(4), list(client.count(3))) == (8, [0, 1, 2])
        assert "cannot stop its server" in client.leave()
    assert threads == {"frisbee-rpc-loop"} and not [
        thread for thread in threading.enumerate() if thread.name == "frisbee-rpc-loop"
    ]


def test_coroutines_have_variables_of_their_own() -> None:
    """Regression test: each step of a generator ran in a new context, and calls saw the context variables that a
    wrapper had set in an earlier call."""
    caller: contextvars.ContextVar[str] = contextvars.ContextVar("caller", default="unset")
    server = Server()

    def marked(function: Any) -> Any:
        @functools.wraps(function)
        def wrapper(name: str) -> Any:
            before = caller.get()
            caller.set(name)
            return function(before)

        return wrapper

    @server
    @marked
    async def enter(name: str) -> str:
        await asyncio.sleep(0)
        return f"{name} {caller.get()}"

    @server
    async def steps(name: str) -> AsyncIterator[str]:
        before = caller.get()
        caller.set(name)
        yield before
        await asyncio.sleep(0)
        yield caller.get()

    async def main() -> None:
        started = asyncio.Event()
        serving = asyncio.create_task(server.serve("127.0.0.1:0", started=started.set))
        await started.wait()
        async with AsyncClient(server.address) as client:
            assert await asyncio.gather(*(client.enter(name) for name in "abc")) == ["unset a", "unset b", "unset c"]
            for name in "ab":
                assert [step async for step in client.steps(name)] == ["unset", name]
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)

    run(main)


def test_an_exit_behind_a_reply_ends_the_loop() -> None:
    async def main() -> None:
        async with AsyncClient(server.address) as client:

            async def leave() -> None:
                await client.sum(1, 2)
                raise SystemExit(7)

            leaving = asyncio.create_task(leave())
            await asyncio.Event().wait()
            await leaving

    with functions().start("127.0.0.1:0") as server, pytest.raises(SystemExit, match="7"):
        run(main)


def test_a_cancelled_call_tells_its_task_why() -> None:
    server, leave = waiting()

    async def main() -> None:
        with server.start("127.0.0.1:0"):
            async with AsyncClient(server.address) as client:
                task = asyncio.create_task(client.wait())
                await asyncio.sleep(0)
                assert task.cancel("enough")
                with pytest.raises(asyncio.CancelledError, match="enough"):
                    await task
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(0.01):
                        await client.wait()
            leave.set()

    run(main)


def switches(name: str) -> int:
    """Returns the number of voluntary context switches of the threads with this name."""
    count = 0
    for task in Path("/proc/self/task").iterdir():
        if (task / "comm").read_text().strip() == name:
            lines = (task / "status").read_text().splitlines()
            count += sum(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches"))
    return count


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="it counts by /proc")
def test_calls_of_a_loop_wake_no_other_thread_of_the_client() -> None:
    async def main() -> None:
        with functions().start("127.0.0.1:0") as server:
            async with AsyncClient(server.address) as client:
                await client.sum(0, 0)
                before = switches("frisbee-rpc")
                for a in range(1000):
                    await client.sum(a, 1)
                # The thread wakes up twenty times per second to check its timers.
                assert switches("frisbee-rpc") - before < 500

    run(main)
