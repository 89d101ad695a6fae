"""Publishing to and subscribing to topics, with blocking calls and in event loops."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import signal
import sys
import threading
from pathlib import Path

import numpy
import pytest

from frisbee_rpc import AsyncClient, AsyncSubscription, AsyncTopics, Client, Code, Position, Server, Status, Topics

from .conftest import LIMIT, block_until_callback, run
from .generated.desk import Pair


@dataclasses.dataclass
class Order:
    apples: int
    weights: numpy.ndarray


def test_messages_reach_those_who_have_subscribed_in_order() -> None:
    with Server(topics=True).start("127.0.0.1:0") as server, Client(server.address) as client:
        topics = client.topics()
        with topics.subscribe("orders.*.created") as orders, topics.subscribe("orders.>") as all:
            for number in range(100):
                topics.publish(f"orders.{number}.created", str(number))
            topics.publish("orders.7.gone", b"\xff")
            assert [next(orders).value for _ in range(100)] == [b"%d" % number for number in range(100)]
            seen = [next(all) for _ in range(101)]
            assert (seen[100].topic, seen[100].value) == ("orders.7.gone", b"\xff")
        topics.close()


def test_closed_topics_refuse_calls_and_end_a_wait_for_the_connection() -> None:
    failed: list[Status] = []
    server = Server(topics=True).start("127.0.0.1:0")
    topics = Client(server.address).topics()
    topics.sync()
    server.stop()

    def publish() -> None:
        with pytest.raises(Status) as caught:
            # Publishes until the client has noticed that the connection is closed.
            while True:
                topics.publish("a", "b")
        failed.append(caught.value)

    thread = threading.Thread(target=publish)
    thread.start()
    topics.close()
    thread.join(LIMIT)
    publish()
    topics.close()
    assert [status.code for status in failed] == [Code.FAILED_PRECONDITION] * 2


def test_topics_closed_without_a_connection_end_their_subscriptions() -> None:
    ended = threading.Event()
    server = Server(topics=True).start("127.0.0.1:0")
    topics = Client(server.address).topics()
    subscription = topics.subscribe("never")
    server.stop()

    def iterate() -> None:
        with pytest.raises(Status):
            next(subscription)
        ended.set()

    thread = threading.Thread(target=iterate, daemon=True)
    thread.start()
    topics.close()
    assert ended.wait(LIMIT)


def test_a_server_publishes_to_its_subscribers_and_hears_them() -> None:
    with Server(topics=True).start("127.0.0.1:0") as server, Client(server.address) as client:
        here, there = server.topics(), client.topics()
        with here.subscribe("up") as up, there.subscribe("down") as down:
            here.publish("down", "a")
            there.publish("up", "b")
            assert (next(down).value, next(up).value) == (b"a", b"b")


def test_calls_wait_together_for_a_lost_connection() -> None:
    async def main() -> None:
        server = Server(topics=True).start("127.0.0.1:0")
        topics = AsyncClient(server.address).topics()
        await topics.sync()
        server.stop()
        # Each call waits for 5 s, and `run` for 30 s.
        outcomes = await asyncio.gather(*(topics.sync() for _ in range(10)), return_exceptions=True)
        assert all(isinstance(outcome, Status) for outcome in outcomes)

    run(main)


def test_objects_are_messages_by_hints_or_by_a_schema() -> None:
    with Server(topics=True).start("127.0.0.1:0") as server, Client(server.address) as client:
        topics = client.topics()
        with topics.subscribe("orders", Order) as orders, topics.subscribe("pairs", Pair) as pairs:
            topics.publish("orders", Order(3, numpy.arange(10_000)))
            topics.publish("pairs", Pair())
            order = next(orders).value
            assert order.apples == 3 and (order.weights == numpy.arange(10_000)).all()
            assert next(pairs).value == Pair()
            topics.publish("orders", b"no order")
            with pytest.raises(ValueError):
                next(orders)
            topics.publish("orders", Order(4, numpy.zeros(1)))
            assert next(orders).value.apples == 4
        with pytest.raises(TypeError, match="bytes or dataclasses, not int"):
            topics.publish("orders", 7)


@pytest.mark.parametrize("payload", ["text", b"", b"\xff\xff", b"\0", b"\x06\x05\x0a\x01!"])
def test_message_that_is_none_of_its_class_is_refused(payload: str | bytes) -> None:
    """Regression test: an invalid message was decoded as an order of 0 apples."""
    with Server(topics=True).start("127.0.0.1:0") as server, Client(server.address) as client:
        topics = client.topics()
        with topics.subscribe("orders", Order) as orders:
            topics.publish("orders", payload)
            topics.publish("orders", Order(3, numpy.zeros(1)))
            with pytest.raises(ValueError, match="expected|missing|an error: !"):
                next(orders)
            assert next(orders).value.apples == 3


@dataclasses.dataclass
class Note:
    text: str


def test_message_of_another_layout_is_refused_by_name() -> None:
    with Server(topics=True).start("127.0.0.1:0") as server, Client(server.address) as client:
        topics = client.topics()
        with topics.subscribe("notes", Note) as notes, topics.subscribe("notes") as raw:
            topics.publish("notes", Note("Ada"))
            assert next(notes).value == Note("Ada")
            body = next(raw).value
            topics.publish("notes", b"\x12" + bytes(16) + body)
            with pytest.raises(ValueError, match=f"its layout is {'0' * 32}, and that of this schema ") as refused:
                next(notes)
            own = bytes.fromhex(str(refused.value)[-32:])
            topics.publish("notes", b"\x12" + own + body)
            assert next(notes).value == Note("Ada")
            topics.publish("notes", b"\x12" + own[:9])
            with pytest.raises(ValueError, match="its fingerprint is incomplete"):
                next(notes)


def test_each_message_goes_to_one_member_of_a_group() -> None:
    with Server(topics=True).start("127.0.0.1:0") as server, Client(server.address) as client:
        topics = client.topics()
        one, other = (topics.subscribe("work", group="workers") for _ in range(2))
        for number in range(10):
            topics.publish("work", str(number))
        topics.sync()
        for subscription in (one, other):
            topics.publish("work", "last")
            topics.publish("work", "last")
        seen: list[bytes] = []
        for subscription in (one, other):
            while (value := next(subscription).value) != b"last":
                seen.append(value)
        assert sorted(seen) == [b"%d" % number for number in range(10)]


def test_a_group_with_a_start_is_refused() -> None:
    """Regression test: the start was ignored."""
    with Server(topics=True).start("127.0.0.1:0") as server, Client(server.address) as client:
        with pytest.raises(Status, match="a group has no history"):
            client.topics().subscribe("work", group="workers", start="oldest")


def test_closing_ends_an_iteration_in_another_thread() -> None:
    with Server(topics=True).start("127.0.0.1:0") as server, Client(server.address) as client:
        subscription = client.topics().subscribe("never")
        ended = threading.Event()

        def iterate() -> None:
            for _ in subscription:
                pass
            ended.set()

        threading.Thread(target=iterate).start()
        subscription.close()
        assert ended.wait(LIMIT)


def test_a_loop_publishes_and_subscribes() -> None:
    async def main() -> None:
        with Server(topics=True).start("127.0.0.1:0") as server:
            client = AsyncClient(server.address)
            topics = client.topics()
            async with await topics.subscribe("orders.>", Order) as orders:
                for apples in range(5):
                    await topics.publish("orders.created", Order(apples, numpy.zeros(0)))
                await topics.sync()
                got = []
                async for message in orders:
                    got.append(message.value.apples)
                    if len(got) == 5:
                        orders.close()
                assert got == [0, 1, 2, 3, 4]
            waiting = await topics.subscribe("never")
            task = asyncio.ensure_future(waiting.__anext__())
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            client.close()

    run(main)


def test_message_for_a_cancelled_task_is_the_next_one() -> None:
    async def main() -> None:
        with Server(topics=True).start("127.0.0.1:0") as server, Client(server.address) as client:
            publisher = client.topics()
            subscription = await AsyncClient(server.address).topics().subscribe("a")
            for value in (b"1", b"2"):
                task = asyncio.ensure_future(subscription.__anext__())
                await asyncio.sleep(0)
                publisher.publish("a", value)
                block_until_callback()
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                assert (await subscription.__anext__()).value == value

    run(main)


def test_closing_after_a_cancelled_wait_leaves_the_group() -> None:
    async def read(subscription: AsyncSubscription[bytes]) -> None:
        async with subscription:
            await subscription.__anext__()

    async def check(publisher: Topics, topics: AsyncTopics, topic: str) -> None:
        closed, other = [await topics.subscribe(topic, group="workers") for _ in range(2)]
        task = asyncio.ensure_future(read(closed))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        # As long as the closed subscription is in the group, the other one misses every second message.
        last = -2
        for number in range(0, 2000, 2):
            publisher.publish(topic, str(number))
            publisher.publish(topic, str(number + 1))
            publisher.sync()
            value = int((await other.__anext__()).value)
            if value == last + 1:
                return
            last = value
        raise AssertionError("the closed subscription is still in its group")

    async def main() -> None:
        with Server(topics=True).start("127.0.0.1:0") as server, Client(server.address) as client:
            publisher, topics = client.topics(), AsyncClient(server.address).topics()
            # The cancelled wait ends on another thread, so it may end before or after the subscription is closed.
            for number in range(50):
                await check(publisher, topics, f"a.{number}")

    run(main)


def test_message_after_a_signal_is_the_next_one() -> None:
    with Server(topics=True).start("127.0.0.1:0") as server, Client(server.address) as client:
        subscription, topics = client.topics().subscribe("a"), server.topics()
        main = threading.get_ident()

        def interrupt() -> None:
            while sys._current_frames()[main].f_code is not type(subscription).__next__.__code__:
                pass
            os.kill(os.getpid(), signal.SIGINT)
            topics.publish("a", b"1")

        for _ in range(10):
            thread = threading.Thread(target=interrupt)
            thread.start()
            with pytest.raises(KeyboardInterrupt):
                next(subscription)
            thread.join()
            topics.publish("a", b"2")
            assert [next(subscription).value for _ in range(2)] == [b"1", b"2"]


def test_wrong_topics_and_servers_without_topics_are_refused(server: Server) -> None:
    @server
    def one() -> int:
        return 1

    server.start("127.0.0.1:0")
    with Client(server.address) as client:
        with pytest.raises(Status):
            client.topics().subscribe("a.b")
        with pytest.raises(Status) as caught:
            client.topics().publish("a..b", "x")
        assert caught.value.code is Code.INVALID_ARGUMENT
    with pytest.raises(RuntimeError, match="has no topics"):
        server.topics()


def test_topics_pass_a_unix_socket_and_come_back_with_their_server(tmp_path: Path) -> None:
    address = f"unix:{tmp_path / 'socket'}"
    topics = Client(address).topics()
    with pytest.raises(Status) as caught:
        topics.publish("a", "x")
    assert caught.value.code is Code.UNAVAILABLE
    for _ in range(2):
        with Server(topics=True).start(address):
            with topics.subscribe("a") as subscription:
                topics.publish("a", "x")
                assert next(subscription).value == b"x"
                topics.sync()
        with pytest.raises(Status):
            topics.sync()


def test_a_subscription_starts_in_the_history_and_resumes_there() -> None:
    with Server(history={"prices.>": 1, "orders.>": (100, 60.0)}).start("127.0.0.1:0") as server, Client(server.address) as client:
        topics = client.topics()
        for number in range(10):
            topics.publish("orders.north", str(number))
            topics.publish("prices.apples", str(number))
        topics.sync()
        with topics.subscribe("orders.*", start="oldest") as orders, topics.subscribe("prices.>", start="last") as prices:
            seen = [next(orders) for _ in range(10)]
            assert [message.value for message in seen] == [b"%d" % number for number in range(10)]
            assert [message.position.offset for message in seen if message.position] == list(range(1, 11))
            price = next(prices)
            assert price.value == b"9" and price.position is not None and price.position.offset == 10
        with topics.subscribe("orders.north", start=seen[6].position) as rest:
            assert next(rest).value == b"7"
        epoch, offset = seen[7].position or (0, 0)
        with topics.subscribe("orders.north", start=Position(epoch, offset)) as rest:
            assert next(rest).value == b"8"
        # A position with another epoch belongs to an earlier run of the broker.
        with topics.subscribe("orders.north", start=Position(epoch + 2, offset)) as rest, pytest.raises(Status) as caught:
            next(rest)
        assert caught.value.code is Code.DATA_LOSS
        with pytest.raises(ValueError):
            topics.subscribe("orders.north", start="yesterday")  # type: ignore[call-overload]
        topics.close()


def test_body_max_applies_to_topics() -> None:
    long = b"x" * (6 << 20)
    with Server(topics=True, body_max=8 << 20).start("127.0.0.1:0") as server, Client(server.address, body_max=8 << 20) as client:
        for topics in (client.topics(), server.topics()):
            with topics.subscribe("long") as messages:
                topics.publish("long", long)
                assert next(messages).value == long
            topics.close()
