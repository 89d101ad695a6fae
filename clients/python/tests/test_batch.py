"""Batches: calls of many clients that are combined into one call of a function."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from frisbee_rpc import Client, Code, Server, Status

from .conftest import LIMIT


def calls(server: Server, count: int, **options: Any) -> list[Any]:
    """Makes calls concurrently, and returns their outcomes in the order of the arguments."""
    outcomes: list[Any] = [None] * count

    def call(at: int) -> None:
        try:
            outcomes[at] = client.with_options(**options).double(at, "x")
        except Status as status:
            outcomes[at] = status

    with Client(server.address) as client:
        client.double
        threads = [threading.Thread(target=call, args=(at,)) for at in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(LIMIT)
    return outcomes


def test_calls_at_the_same_time_are_one_call(server: Server) -> None:
    sizes: list[int] = []

    @server.batch(max_size=8, max_delay="10s")
    def double(numbers: list[int], names: list[str]) -> list[str]:
        sizes.append(len(numbers))
        return [f"{2 * number}{name}" for number, name in zip(numbers, names)]

    server.start("127.0.0.1:0")
    assert calls(server, 8) == [f"{2 * number}x" for number in range(8)]
    assert sizes == [8]


def test_a_single_call_waits_for_no_longer_than_the_delay(server: Server) -> None:
    @server.batch(max_size=64, max_delay="1ms")
    def double(numbers: list[int], names: list[str]) -> list[int]:
        return [2 * number for number in numbers]

    server.start("127.0.0.1:0")
    assert calls(server, 1) == [0]


def test_lone_caller_waits_once(server: Server) -> None:
    @server.batch(max_size=64, max_delay="2s")
    def double(numbers: list[int], names: list[str]) -> list[int]:
        return numbers

    server.start("127.0.0.1:0")
    with Client(server.address) as client:
        client.double(0, "x")
        # If a batch waited twice, all of these calls would exceed their deadlines.
        assert [client.with_options(timeout=1.9).double(at, "x") for at in range(20)] == list(range(20))


def test_a_bad_item_fails_alone(server: Server) -> None:
    @server.batch(max_size=3, max_delay="10s")
    def double(numbers: list[int], names: list[str]) -> list[int]:
        results: list[Any] = [2 * number for number in numbers]
        results[numbers.index(1)] = Status(Code.OUT_OF_RANGE, "one")
        return results

    server.start("127.0.0.1:0")
    zero, one, two = calls(server, 3)
    assert (zero, one.code, two) == (0, Code.OUT_OF_RANGE, 4)


@pytest.mark.parametrize("results", [[], [1, 2, 3], 7])
def test_a_function_with_another_number_of_results_fails_its_calls(server: Server, results: Any) -> None:
    @server.batch(max_size=2, max_delay="10s")
    def double(numbers: list[int], names: list[str]) -> list[int]:
        return results  # type: ignore[no-any-return]

    server.start("127.0.0.1:0")
    assert [outcome.code for outcome in calls(server, 2)] == [Code.INTERNAL] * 2


def test_calls_whose_deadline_has_passed_are_not_made(server: Server) -> None:
    made: list[int] = []

    @server.batch(max_size=3, max_delay="10s")
    def double(numbers: list[int], names: list[str]) -> list[int]:
        made.extend(numbers)
        return numbers

    @server
    async def wait() -> None:
        await asyncio.Event().wait()

    server.start("127.0.0.1:0")
    assert [outcome.code for outcome in calls(server, 2, timeout=0.05)] == [Code.DEADLINE_EXCEEDED] * 2
    # The server measures deadlines from the arrival of a call. When this later call has failed, the deadlines of the
    # earlier calls have passed too.
    with Client(server.address) as client, pytest.raises(Status):
        client.with_options(timeout=0.5).wait()
    # The two calls are still queued. Three more calls fill a batch.
    calls(server, 3)
    assert sorted(made) == [0, 1, 2]


def test_too_many_calls_that_wait_are_refused_at_once(server: Server) -> None:
    came, leave = threading.Event(), threading.Event()

    @server.batch(max_size=1, max_delay=0)
    def double(numbers: list[int], names: list[str]) -> list[int]:
        came.set()
        leave.wait(LIMIT)
        return numbers

    server.start("127.0.0.1:0")
    blocked = threading.Thread(target=calls, args=(server, 1))
    blocked.start()
    assert came.wait(LIMIT)
    waiting = threading.Thread(target=calls, args=(server, 60))
    with Client(server.address) as client:
        client.double
        waiting.start()
        while True:
            try:
                client.with_options(timeout=0.2).double(1, "x")
            except Status as status:
                if status.code is Code.RESOURCE_EXHAUSTED:
                    break
                assert status.code is Code.DEADLINE_EXCEEDED
    leave.set()
    blocked.join(LIMIT)
    waiting.join(LIMIT)
