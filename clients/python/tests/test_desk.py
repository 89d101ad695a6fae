"""Calls of every kind to a server in Rust, with a `.proto` file and its lock.

The server is the one that the tests of the TypeScript client use. `FRISBEE_DESK` names its program, and defaults to the
debug build. The tests are skipped if the program does not exist.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path
from typing import Any, AsyncIterator, Iterator

import pytest

from frisbee_rpc import AsyncClient, Client, Code, Status, Tls

from .conftest import LIMIT, run

ROOT = Path(__file__).parent.parent.parent.parent
DESK = Path(os.environ.get("FRISBEE_DESK", ROOT / "target/debug/desk"))
PROTO = ROOT / "tests/typescript/proto/desk.proto"

pytestmark = pytest.mark.skipif(not DESK.exists(), reason=f"there is no {DESK.name}: cargo build -p typescript-tests")


def desk(*arguments: str) -> Iterator[str]:
    """Starts the server, and yields its address."""
    serving = subprocess.Popen([DESK, "127.0.0.1:0", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert serving.stdin and serving.stdout
    try:
        yield serving.stdout.readline().strip()
    finally:
        serving.stdin.close()
        serving.wait(LIMIT)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    yield from desk()


@pytest.fixture
def client(address: str) -> Iterator[Client]:
    with Client(address, proto=PROTO, timeout=LIMIT) as client:
        yield client


def everything(client: Any) -> Any:
    """Creates a message with fields of every kind, from the client's classes."""
    forms = client._schemas.forms
    pair, make = forms["desk.Pair"], forms["desk.All"]
    inner = make(both=pair(1, 2), tint=0, l=-1)
    return make(
        flag=True, i=-(2**31), u=2**32 - 1, l=-(2**63), w=2**64 - 1, f=0.5, d=-0.0, s="ä", y=b"\0\xff", color=7,
        pair=pair(), names=["", "b"], pairs=[pair(1), pair(0, -1)], ages={"a": 1, "": -1}, by_number={-5: pair(3, 4)},
        maybe=0, text="", inner=inner, colors=[0, -3, 7],
    )  # fmt: skip


def test_a_message_of_every_kind_of_field_comes_back_as_it_was_sent(client: Client) -> None:
    sent = everything(client)
    reply = client.echo(sent)
    assert reply == sent
    assert (reply.maybe, reply.word, reply.yes, reply.text, reply.inner.both.b) == (0, None, None, "", 2)
    default = type(sent)()
    assert client.echo() == default


def test_two_members_of_a_oneof_are_refused(client: Client) -> None:
    with pytest.raises(ValueError, match="more than one member"):
        client.echo(yes=True, text="x")


def test_streams_go_in_both_directions(client: Client) -> None:
    forms = client._schemas.forms  # type: ignore[union-attr]
    number, text = forms["desk.Number"], forms["desk.Text"]
    assert [reply.value for reply in client.count(from_=5, count=100)] == list(range(5, 105))
    assert client.total(number(value) for value in range(1000)).total == 499_500
    assert client.total([]).count == 0
    replies = client.chat(text(str(at)) for at in range(500))
    assert len(list(replies)) == 500
    stream = client.count(count=-2)
    with pytest.raises(Status) as caught:
        list(stream)
    assert caught.value.code is Code.OUT_OF_RANGE


def test_an_exception_of_the_requests_ends_their_call(client: Client) -> None:
    forms = client._schemas.forms  # type: ignore[union-attr]

    def requests() -> Iterator[Any]:
        yield forms["desk.Number"](1)
        raise KeyError("gone")

    with pytest.raises(KeyError, match="gone"):
        client.total(requests())
    with pytest.raises(TypeError, match="a Number expected, not int"):
        client.total([7])
    assert client.add(1, 2).total == 3


def test_streams_of_a_loop_go_in_both_directions(address: str) -> None:
    async def main() -> None:
        async with AsyncClient(address, proto=PROTO, timeout=LIMIT) as client:
            assert client._schemas
            forms = client._schemas.forms
            number, text = forms["desk.Number"], forms["desk.Text"]

            async def numbers() -> AsyncIterator[Any]:
                for value in range(1000):
                    yield number(value)

            async def failing() -> AsyncIterator[Any]:
                yield number(1)
                raise KeyError("gone")

            assert (await client.total(numbers())).total == 499_500
            assert (await client.total([number(3)])).total == 3
            with pytest.raises(KeyError, match="gone"):
                await client.total(failing())
            replies = [reply.value async for reply in client.chat(text(str(at)) for at in range(200))]
            assert len(replies) == 200
            assert [reply.value async for reply in client.count(from_=5, count=50)] == list(range(5, 55))
            assert await client.echo(everything(client)) == everything(client)

    run(main)


def test_calls_that_are_given_up_reach_the_server_at_once(address: str) -> None:
    async def main() -> None:
        async with AsyncClient(address, proto=PROTO, timeout=LIMIT) as client:
            before = (await client.state()).dropped
            calls = [asyncio.create_task(client.wait(millis=60_000)) for _ in range(10)]
            while (await client.state()).waiting < 10:
                await asyncio.sleep(0)
            for call in calls:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)
            while (await client.state()).dropped < before + 10:
                await asyncio.sleep(0)

    run(main)


def test_tls_carries_calls_and_refuses_strangers(tmp_path: Path) -> None:
    for address in desk("--tls", str(tmp_path)):
        certificate = (tmp_path / "certificate.pem").read_bytes()
        port = address.rsplit(":")[1]
        with Client(f"localhost:{port}", tls=Tls(certificate), proto=PROTO) as client:
            assert client.add(1, 2).total == 3
        with Client(f"localhost:{port}", tls=Tls(certificate, server_name="other"), proto=PROTO, timeout=5) as client:
            with pytest.raises(Status) as caught:
                client.add(1, 2)
            assert not caught.value.may_have_run
