"""Generated modules: `tests/generated/desk.py`, and the golden files of frpc-languages."""

from __future__ import annotations

import asyncio
import dataclasses
import importlib.util
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import AsyncIterator, Iterator

import pytest

from frisbee_rpc import AsyncClient, Client, Code, Context, Server, Status
from frisbee_rpc.generated import Requests

from .conftest import LIMIT, run
from .generated import desk
from .test_desk import DESK
from .test_desk import desk as serving_desk

GOLDEN = Path(__file__).parent.parent.parent.parent / "crates/frpc-languages/tests/golden/python"


class Numbers(desk.Desk):
    """Implements a part of the service with plain functions."""

    def echo(self, request: desk.All, context: Context) -> desk.All:
        return request

    def add(self, request: desk.Pair, context: Context) -> desk.Sum:
        return desk.Sum(request.a + request.b)

    def count(self, request: desk.Range, context: Context) -> Iterator[desk.Number]:
        for n in range(request.from_, request.from_ + request.count):
            yield desk.Number(n)

    def total(self, requests: Requests[desk.Number], context: Context) -> desk.Sum:
        return desk.Sum(sum(number.value for number in requests))

    def chat(self, requests: Requests[desk.Text], context: Context) -> Iterator[desk.Text]:
        for text in requests:
            yield desk.Text(text.value.upper())


class AsyncNumbers(desk.Desk):
    """Implements the same part with coroutine functions."""

    async def add(self, request: desk.Pair, context: Context) -> desk.Sum:
        await asyncio.sleep(0)
        return desk.Sum(request.a + request.b)

    async def count(self, request: desk.Range, context: Context) -> AsyncIterator[desk.Number]:
        for n in range(request.from_, request.from_ + request.count):
            yield desk.Number(n)

    async def total(self, requests: Requests[desk.Number], context: Context) -> desk.Sum:
        return desk.Sum(sum([number.value async for number in requests]))

    async def chat(self, requests: Requests[desk.Text], context: Context) -> AsyncIterator[desk.Text]:
        async for text in requests:
            yield desk.Text(text.value.upper())


def everything() -> desk.All:
    inner = desk.All(l=-1, word="")
    return desk.All(
        flag=True, i=-(2**31), u=2**32 - 1, l=-(2**63), w=2**64 - 1, f=0.5, d=-0.0, s="ä", y=b"\0\xff",
        color=desk.Color(7), pair=desk.Pair(), names=["", "b"], pairs=[desk.Pair(1), desk.Pair(0, -1)],
        ages={"a": 1, "": -1}, by_number={-5: desk.Pair(3, 4)}, maybe=0, text="", inner=inner,
        colors=[desk.Color(0), desk.Color(-3)],
    )  # fmt: skip


def call_all(client: desk.DeskClient) -> None:
    """Makes calls of each kind."""
    reply = client.echo(everything())
    assert reply == everything()
    assert reply.color is desk.Color(7) and reply.choice == "text"
    assert client.add(desk.Pair(1, 2), timeout=LIMIT).total == 3
    assert [number.value for number in client.count(desk.Range(4, 3))] == [4, 5, 6]
    assert client.total(desk.Number(n) for n in range(10)).total == 45


def test_a_generated_client_calls_a_generated_server() -> None:
    with Server().add(Numbers()).start("127.0.0.1:0") as server, desk.DeskClient(server.address) as client:
        call_all(client)
        assert [text.value for text in client.chat(desk.Text(word) for word in ("a", "b"))] == ["A", "B"]
        with pytest.raises(Status, match="does not implement Fail") as caught:
            client.fail(desk.Failure())
        assert caught.value.code is Code.UNIMPLEMENTED


def test_a_generated_server_of_coroutines_answers_calls_of_a_loop() -> None:
    async def main() -> None:
        started = asyncio.Event()
        server = Server().add(AsyncNumbers())
        serving = asyncio.create_task(server.serve("127.0.0.1:0", started=started.set))
        await started.wait()

        async def words() -> AsyncIterator[desk.Text]:
            yield desk.Text("a")
            yield desk.Text("b")

        async with desk.DeskAsyncClient(server.address) as client:
            assert (await client.add(desk.Pair(1, 2))).total == 3
            assert [number.value async for number in client.count(desk.Range(4, 3))] == [4, 5, 6]
            assert (await client.total(desk.Number(n) for n in range(10))).total == 45
            assert [text.value async for text in client.chat(words())] == ["A", "B"]
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)

    run(main)


@pytest.mark.skipif(not DESK.exists(), reason=f"there is no {DESK.name}: cargo build -p typescript-tests")
def test_generated_clients_call_a_server_in_rust() -> None:
    for address in serving_desk():
        with Client(address, timeout=LIMIT) as connection:
            call_all(desk.DeskClient(connection))

        async def main() -> None:
            async with desk.DeskAsyncClient(AsyncClient(address)) as client:
                assert await client.echo(everything()) == everything()

        run(main)


def test_a_client_without_the_module_calls_a_generated_server() -> None:
    with Server().add(Numbers()).start("127.0.0.1:0") as server, Client(server.address) as client:
        assert client.add(1, 2).total == 3


def test_functions_and_services_are_served_side_by_side() -> None:
    server = Server().add(Numbers())

    @server
    def double(a: int) -> int:
        return 2 * a

    with server.start("127.0.0.1:0"), Client(server.address) as client:
        assert client.double(4) == 8
        assert desk.DeskClient(client).add(desk.Pair(1, 2)).total == 3


def test_a_method_of_the_wrong_kind_is_refused_when_the_server_starts() -> None:
    class Wrong(desk.Desk):
        async def count(self, request: desk.Range, context: Context) -> desk.Number:  # type: ignore[override]
            return desk.Number()

    with pytest.raises(TypeError, match="Wrong.count: it has to be a generator"):
        Server().add(Wrong()).start("127.0.0.1:0")


def test_two_members_of_a_oneof_are_no_reply_in_any_protocol() -> None:
    """Regression test: in JSON, a reply contained all members of the oneof that were set."""

    class Both(desk.Desk):
        def echo(self, request: desk.All, context: Context) -> desk.All:
            return desk.All(yes=True, text="a", both=desk.Pair())

    server = Server(protocols=["http"]).add(Both())
    with server.start("127.0.0.1:0"), desk.DeskClient(server.address) as client:
        with pytest.raises(Status, match="the handler has failed"):
            client.echo(desk.All())
        request = urllib.request.Request(
            f"http://{server.address}/desk.Desk/Echo", b"{}", {"content-type": "application/json"}
        )
        with pytest.raises(urllib.error.HTTPError, match="500"):
            urllib.request.urlopen(request, timeout=30)


def test_messages_have_slots_and_know_which_member_of_a_oneof_is_set() -> None:
    message = desk.All()
    assert dataclasses.is_dataclass(message) and not hasattr(message, "__dict__")
    assert message.choice is None
    message.text = ""
    assert message.choice == "text"


def test_golden_modules_are_imported_and_mypy_finds_nothing_in_them() -> None:
    spec = importlib.util.spec_from_file_location("golden", GOLDEN / "__init__.py")
    assert spec and spec.loader
    sys.modules["golden"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules["golden"])
    names = sorted(file.stem for file in GOLDEN.glob("*.py") if file.stem != "__init__")
    assert len(names) > 10
    for name in names:
        package = importlib.import_module(f"golden.{name}")._PACKAGE
        package.bound()
    account = importlib.import_module("golden.redacted").Account("Ada", "secret", keys=[b"secret"], email="secret")
    assert "Ada" in repr(account) and "secret" not in repr(account)
    ran = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", GOLDEN], capture_output=True, text=True, timeout=10 * LIMIT
    )
    assert ran.returncode == 0, ran.stdout
