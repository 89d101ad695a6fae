"""Handlers whose tasks are cancelled, handlers that end without a reply, and event loops that end during calls."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import itertools
import threading
from typing import Any, AsyncIterator, Callable, Coroutine, Iterator

import pytest

from frisbee_rpc import AsyncClient, Client, Code, Context, Server, Status

from .conftest import LIMIT, block_until_callback, program, run


async def cancelled() -> None:
    """Waits for a task, which must end by cancellation."""
    task = asyncio.ensure_future(asyncio.Event().wait())
    asyncio.get_running_loop().call_soon(task.cancel)
    await task


@contextlib.asynccontextmanager
async def served(server: Server) -> AsyncIterator[AsyncClient]:
    """Serves within the current event loop, and provides a client."""
    started = asyncio.Event()
    serving = asyncio.create_task(server.serve("127.0.0.1:0", started=started.set))
    await started.wait()
    async with AsyncClient(server.address) as client:
        yield client
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)


def failing() -> Server:
    server = Server(shows_errors=True)

    @server
    async def wait() -> int:
        await cancelled()
        return 1

    @server
    async def count() -> AsyncIterator[int]:
        yield 1
        await cancelled()

    @server
    async def total(numbers: AsyncIterator[int]) -> int:
        await cancelled()
        return 1

    @server
    async def exhausted() -> int:
        async def nothing() -> AsyncIterator[int]:
            return
            yield 1

        return await anext(nothing())

    return server


def logged(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "frisbee_rpc"]


@pytest.mark.parametrize(
    ("method", "call"),
    [
        ("wait", lambda client: client.wait()),
        ("total", lambda client: client.total([1, 2])),
        ("exhausted", lambda client: client.exhausted()),
    ],
)
def test_handler_whose_awaited_task_is_cancelled_fails(
    method: str, call: Callable[[AsyncClient], Coroutine[Any, Any, Any]], caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        async with served(failing()) as client:
            with pytest.raises(Status) as caught:
                await call(client)
            assert caught.value.code is Code.INTERNAL
            assert logged(caplog) == [f"python.Functions/{method} has failed"]
            assert caplog.records[0].exc_info is not None and caplog.records[0].exc_info[2] is not None

    run(main)


def test_stream_whose_awaited_task_is_cancelled_fails(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        async with served(failing()) as client:
            numbers = client.count()
            assert await anext(numbers) == 1
            with pytest.raises(Status, match="CancelledError"):
                await anext(numbers)
            assert logged(caplog) == ["python.Functions/count has failed"]

    run(main)


def test_generator_runs_in_one_task() -> None:
    """Regression test: each step of a generator ran in a task of its own, so a timeout or task group around a `yield`
    did not work."""

    async def main() -> None:
        server = Server()

        @server
        async def count() -> AsyncIterator[int]:
            first = asyncio.current_task()
            yield 1
            assert asyncio.current_task() is first
            try:
                # Long enough for the next request to arrive. If it expired at the `yield`, the call would fail.
                async with asyncio.timeout(0.5):
                    yield 2
                    await asyncio.Event().wait()
            except TimeoutError:
                yield 3

        async with served(server) as client:
            assert [number async for number in client.count()] == [1, 2, 3]

    run(main)


def test_timeout_expires_while_its_generator_waits_at_a_yield() -> None:
    """Regression test: the call failed if a timeout around a `yield` expired before the next message was requested."""

    async def main() -> None:
        server, expired = Server(), asyncio.Event()

        @server
        async def ends() -> AsyncIterator[bytes]:
            try:
                async with asyncio.timeout(0):
                    while True:
                        yield bytes(100_000)
            except TimeoutError:
                expired.set()

        @server
        async def continues() -> AsyncIterator[bytes]:
            try:
                async with asyncio.timeout(0):
                    while True:
                        yield bytes(100_000)
            except TimeoutError:
                expired.set()
                yield b"end"

        async with served(server) as client:
            for call, last in ((client.continues, [b"end"]), (client.ends, [])):
                expired.clear()
                parts = call()
                assert len(await anext(parts)) == 100_000
                await expired.wait()
                assert [part async for part in parts if len(part) < 100_000] == last

    run(main)


def test_timeout_around_yield_of_requests_is_raised_there() -> None:
    """Regression test: a timeout around a `yield` in a generator of requests cancelled the call. Its caller received a
    CancelledError, although nobody had cancelled its task."""

    async def main() -> None:
        server = Server()

        @server
        async def count(parts: AsyncIterator[bytes]) -> int:
            return sum([len(part) async for part in parts if len(part) < 10])

        @server
        async def echo(parts: AsyncIterator[bytes]) -> AsyncIterator[int]:
            async for part in parts:
                if len(part) < 10:
                    yield len(part)

        async def fails() -> AsyncIterator[bytes]:
            async with asyncio.timeout(0):
                while True:
                    yield bytes(100_000)

        async def handles() -> AsyncIterator[bytes]:
            try:
                async with asyncio.timeout(0):
                    while True:
                        yield bytes(100_000)
            except TimeoutError:
                yield b"end"

        async with served(server) as client:
            assert await client.count(handles()) == 3
            assert [size async for size in client.echo(handles())] == [3]
            with pytest.raises(TimeoutError):
                await client.count(fails())
            with pytest.raises(TimeoutError):
                async for _ in client.echo(fails()):
                    pass

    run(main)


def test_messages_after_timeouts_are_limited() -> None:
    async def main() -> None:
        server, ended = Server(), asyncio.Event()

        @server
        async def insists() -> AsyncIterator[bytes]:
            try:
                while True:
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(0):
                            yield bytes(100_000)
            finally:
                ended.set()

        async with served(server) as client:
            parts = client.insists()
            await anext(parts)
            await ended.wait()
            with pytest.raises(Status, match="the caller has not requested") as raised:
                async for _ in parts:
                    pass
            assert raised.value.code is Code.RESOURCE_EXHAUSTED

    run(main)


def test_generator_is_resumed_when_its_next_message_is_requested() -> None:
    async def main() -> None:
        server = Server()
        produced = 0

        @server
        async def fill() -> AsyncIterator[bytes]:
            nonlocal produced
            while True:
                produced += 1
                yield bytes(64 * 1024)

        @server
        def ping() -> None: ...

        async with served(server) as client:
            messages = client.fill()
            await anext(messages)
            # The client reads nothing else, so the generator has to wait. Each call lets it run.
            before = -1
            while before != produced:
                before = produced
                for _ in range(100):
                    await client.ping()
            assert produced < 1000
            await messages.aclose()

    run(main)


def test_method_that_returns_no_generator_fails(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        server = Server(shows_errors=True)

        @server
        def count() -> AsyncIterator[int]:
            return 7  # type: ignore[return-value]

        async with served(server) as client:
            with pytest.raises(Status, match="__aiter__"):
                await anext(client.count())

    run(main)


@pytest.mark.parametrize("leave", [SystemExit, KeyboardInterrupt])
def test_exit_within_a_handler_ends_its_call_alone(leave: type[BaseException]) -> None:
    """Regression test: SystemExit in a handler, as raised by `argparse`, ended the event loop of the server and with it
    all other calls."""
    text = f"""
import asyncio, threading
from typing import AsyncIterator
from frisbee_rpc import Client, Server, Status
server = Server()
@server
async def leave() -> None:
    raise {leave.__name__}
@server
async def count(n: int) -> AsyncIterator[int]:
    try:
        for number in range(n):
            yield number
    finally:
        raise {leave.__name__}
def call():
    with Client(server.address) as client:
        for call in (client.leave, lambda: list(client.count(1)), lambda: next(client.count(1000)), client.leave):
            try:
                print(call(), flush=True)
            except Status as status:
                print(status.code.name, flush=True)
    server.stop()
thread = threading.Thread(target=call)
async def main():
    await server.serve("127.0.0.1:0", started=thread.start)
    print("stopped")
asyncio.run(main())
"""
    assert program(text) == "INTERNAL\nINTERNAL\n0\nINTERNAL\nstopped\n"


def test_main_that_returns_during_a_stream_ends_the_loop() -> None:
    text = """
import asyncio
from typing import AsyncIterator
from frisbee_rpc import AsyncClient, Server
server = Server()
@server
async def count() -> AsyncIterator[int]:
    yield 1
    await asyncio.Event().wait()
@server
async def wait() -> int:
    await asyncio.Event().wait()
    return 1
async def main():
    started = asyncio.Event()
    asyncio.get_running_loop().serving = asyncio.create_task(server.serve("127.0.0.1:0", started=started.set))
    await started.wait()
    client = await AsyncClient.connect(server.address)
    numbers = client.count()
    print(await anext(numbers))
    asyncio.get_running_loop().kept = client, numbers, asyncio.create_task(client.wait())
    await asyncio.sleep(0)
asyncio.run(main())
print("end")
"""
    assert program(text, limit=15) == "1\nend\n"


def test_calls_of_a_client_whose_loop_has_ended_fail() -> None:
    kept: list[AsyncClient] = []
    callers: list[Client] = []
    server, agent = Server(), Server("agent.Agent")

    @agent
    async def name() -> str:
        return "Ada"

    @server(blocking=True)
    def keep(context: Context) -> None:
        callers.append(context.client)

    async def main() -> None:
        client = AsyncClient(server.address, serves=agent)
        await client.__aenter__()
        kept.append(client)
        await client.keep()

    with server.start("127.0.0.1:0"):
        run(main)
        gc.collect()
        with pytest.raises(Status, match="the event loop of the handler is closed") as caught:
            callers[0].with_options(timeout=LIMIT).name()
        assert caught.value.code is Code.UNAVAILABLE
        kept[0].close()


def test_failed_handler_keeps_no_frame_of_its_call() -> None:
    async def main() -> None:
        server = Server()
        errors: list[BaseException] = []

        @server
        async def fail() -> None:
            try:
                await cancelled()
            except asyncio.CancelledError as error:
                errors.append(error)
                raise

        async with served(server) as client:
            with pytest.raises(Status):
                await client.fail()
            assert all("completion" not in frame.f_locals for frame in frames(errors[0]))

    run(main)


def frames(error: BaseException) -> Iterator[Any]:
    at = error.__traceback__
    while at is not None:
        yield at.tb_frame
        at = at.tb_next


@pytest.mark.parametrize("kind", ["total", "double"])
def test_requests_that_wait_for_a_cancelled_task_end_the_call(kind: str) -> None:
    async def main() -> None:
        server = Server()

        @server
        async def total(numbers: AsyncIterator[int]) -> int:
            return sum([number async for number in numbers])

        @server
        async def double(numbers: AsyncIterator[int]) -> AsyncIterator[int]:
            for number in [number async for number in numbers]:
                yield 2 * number

        async def numbers() -> AsyncIterator[int]:
            yield 1
            await cancelled()

        async with served(server) as client:
            with pytest.raises(asyncio.CancelledError):
                if kind == "total":
                    await client.total(numbers())
                else:
                    await anext(client.double(numbers()))
            # The cancellation within the source must not cancel this task. Only the time limit of the test may do so.
            task = asyncio.current_task()
            assert task is not None and not task.cancelling()

    run(main)


def test_reply_for_a_cancelled_task_is_the_next_one() -> None:
    released = threading.Semaphore(0)
    server, agent = Server(), Server("agent.Agent")

    @server(blocking=True)
    def count() -> Iterator[int]:
        for number in range(3):
            released.acquire(timeout=LIMIT)
            yield number

    @agent
    def name() -> str:
        return "Ada"

    async def main() -> None:
        # A client that serves functions drives its connection on another thread.
        async with AsyncClient(server.address, serves=agent) as client:
            numbers = client.count()
            released.release()
            assert await anext(numbers) == 0
            for number in (1, 2):
                task = asyncio.ensure_future(anext(numbers))
                await asyncio.sleep(0)
                released.release()
                block_until_callback()
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                assert await anext(numbers) == number

    with server.start("127.0.0.1:0"):
        run(main)


def test_request_for_a_cancelled_task_is_the_next_one() -> None:
    released = threading.Semaphore(0)
    seen: list[int] = []

    async def main() -> None:
        server = Server()

        @server
        async def total(numbers: AsyncIterator[int]) -> int:
            for _ in range(3):
                task = asyncio.ensure_future(anext(numbers))
                await asyncio.sleep(0)
                released.release()
                block_until_callback()
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
                seen.append(await anext(numbers))
            return sum(seen)

        async def requests() -> AsyncIterator[int]:
            for number in range(3):
                await asyncio.to_thread(released.acquire, timeout=LIMIT)
                yield number

        async def call() -> None:
            async with AsyncClient(server.address) as client:
                assert await client.total(requests()) == 3

        started = asyncio.Event()
        serving = asyncio.create_task(server.serve("127.0.0.1:0", started=started.set))
        await started.wait()
        await asyncio.to_thread(run, call)
        assert seen == [0, 1, 2]
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)

    run(main)


def test_requests_that_fail_end_a_stream_without_replies() -> None:
    async def main() -> None:
        server = Server()

        @server
        async def double(numbers: AsyncIterator[int]) -> AsyncIterator[int]:
            for number in [number async for number in numbers]:
                yield 2 * number

        async def numbers() -> AsyncIterator[int]:
            yield 1
            raise ValueError("no more")

        async with served(server) as client:
            with pytest.raises(ValueError, match="no more"):
                await anext(client.double(numbers()))

    run(main)


def doubling() -> Server:
    server = Server()

    @server
    async def double(numbers: AsyncIterator[int]) -> AsyncIterator[int]:
        async for number in numbers:
            yield 2 * number

    @server
    async def total(numbers: AsyncIterator[int]) -> int:
        return sum([number async for number in numbers])

    @server
    async def first(numbers: AsyncIterator[int]) -> int:
        return await anext(numbers)

    return server


def test_two_way_stream_outlives_a_cancelled_wait() -> None:
    async def main() -> None:
        released = asyncio.Event()

        async def numbers() -> AsyncIterator[int]:
            yield 1
            await released.wait()
            yield 2

        async with served(doubling()) as client:
            doubled = client.double(numbers())
            assert await anext(doubled) == 2
            for _ in range(2):
                with pytest.raises(TimeoutError):
                    await asyncio.wait_for(anext(doubled), 0.01)
            released.set()
            assert [number async for number in doubled] == [4]

    run(main)


def test_two_way_stream_that_is_dropped_ends_its_source() -> None:
    async def main() -> None:
        ended = asyncio.Event()

        async def numbers() -> AsyncIterator[int]:
            try:
                yield 1
                await asyncio.Event().wait()
            finally:
                ended.set()

        async with served(doubling()) as client:
            doubled = client.double(numbers())
            assert await anext(doubled) == 2
            del doubled
            await ended.wait()

    run(main)


@pytest.mark.parametrize("kind", ["total", "double"])
def test_source_of_requests_that_raises_a_status_fails_its_call(kind: str) -> None:
    async def main() -> None:
        async def numbers() -> AsyncIterator[int]:
            yield 1
            # A source that relays another call may raise the status of that call.
            raise Status(Code.ABORTED, "from elsewhere")

        async with served(doubling()) as client:
            with pytest.raises(Status, match="from elsewhere"):
                if kind == "total":
                    await client.total(numbers())
                else:
                    [number async for number in client.double(numbers())]

    run(main)


def test_reply_before_the_end_of_requests_leaves_no_exception() -> None:
    async def main() -> None:
        problems: list[dict[str, Any]] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: problems.append(context))
        async with served(doubling()) as client:
            for _ in range(50):
                assert await client.first(itertools.count(7)) == 7
            gc.collect()
            await asyncio.sleep(0)
        assert problems == []

    run(main)


@pytest.mark.parametrize("kind", ["count", "double"])
def test_closed_stream_ends_the_wait_of_another_task(kind: str) -> None:
    async def main() -> None:
        async def numbers() -> AsyncIterator[int]:
            yield 1
            await asyncio.Event().wait()

        server = doubling()

        @server
        async def count() -> AsyncIterator[int]:
            yield 2
            await asyncio.Event().wait()

        async with served(server) as client:
            stream = client.count() if kind == "count" else client.double(numbers())
            assert await anext(stream) == 2
            task = asyncio.ensure_future(anext(stream))
            await asyncio.sleep(0)
            await stream.aclose()
            with pytest.raises(StopAsyncIteration):
                await task
            await stream.aclose()

    run(main)


@pytest.mark.parametrize("kind", ["single", "stream", "requests"])
def test_call_that_is_cancelled_before_it_has_a_thread_never_runs(kind: str) -> None:
    begun, released = threading.Event(), threading.Event()
    seen: list[int] = []
    server = Server(threads=1)

    def work(number: int) -> None:
        seen.append(number)
        begun.set()
        assert released.wait(LIMIT)

    @server(blocking=True)
    def single(number: int) -> None:
        work(number)

    @server(blocking=True)
    def stream(number: int) -> Iterator[int]:
        work(number)
        yield number

    @server
    def requests(numbers: Iterator[int]) -> None:
        work(next(numbers))

    @server
    def ping() -> None:
        pass

    def call(client: Client, number: int) -> None:
        if kind == "single":
            client.single(number)
        elif kind == "stream":
            list(client.stream(number))
        else:
            client.requests([number])

    with server.start("127.0.0.1:0"), Client(server.address, timeout=LIMIT) as client:
        first, last = (threading.Thread(target=call, args=(client, number)) for number in (1, 4))
        first.start()
        assert begun.wait(LIMIT)
        for number in (2, 3):
            with pytest.raises(Status) as caught:
                call(client.with_options(timeout=0.2), number)
            assert caught.value.code is Code.DEADLINE_EXCEEDED
            # The replies follow the cancellation, so the server has processed it by now.
            client.ping()
            client.ping()
        last.start()
        released.set()
        first.join(LIMIT)
        last.join(LIMIT)
        assert seen == [1, 4]


@pytest.mark.parametrize("kind", ["here", "pool", "loop", "batch"])
def test_function_that_stops_its_server_is_refused(kind: str) -> None:
    server = Server(shows_errors=True, shutdown_timeout=0.1)

    @server
    def here(number: int) -> None:
        server.stop()

    @server(blocking=True)
    def pool(number: int) -> None:
        server.stop()

    @server
    async def loop(number: int) -> None:
        server.stop()

    @server.batch()
    def batch(numbers: list[int]) -> list[int]:
        server.stop()
        return numbers

    async def main() -> None:
        async with served(server) as client:
            with pytest.raises(Status, match="RuntimeError: a function cannot stop its server.*another thread"):
                await getattr(client, kind)(1)

    run(main)


def test_generator_that_cleans_up_after_its_cancellation_reports_nothing(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        waiting, ended = asyncio.Event(), asyncio.Event()
        server = Server()

        @server
        async def count() -> AsyncIterator[int]:
            try:
                yield 1
                waiting.set()
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(0)
                ended.set()

        async with served(server) as client:
            numbers = client.count()
            assert await anext(numbers) == 1
            await waiting.wait()
            await numbers.aclose()
            await ended.wait()
        assert logged(caplog) == []

    run(main)
