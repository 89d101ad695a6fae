"""NumPy arrays as ``frpc.Tensor``, and the location of their elements in memory."""

from __future__ import annotations

import asyncio
import gc
import sys
from typing import Any, Callable

import numpy
import numpy.typing
import pytest

from frisbee_rpc import AsyncClient, Client, Code, Server, Status

from .conftest import program, run

Array = numpy.typing.NDArray[Any]
Connect = Callable[..., Client]


@pytest.mark.parametrize(
    "array",
    [
        numpy.arange(6, dtype="float32").reshape(2, 3),
        numpy.array(3.5),
        numpy.zeros((0, 4), "int8"),
        numpy.array([True, False]),
        numpy.arange(100_000, dtype="uint16").reshape(10, -1),
        numpy.array([1 + 2j]),
        numpy.arange(12, dtype=">i4").reshape(3, 4),
        numpy.arange(60_000, dtype=">f8")[::3],
        numpy.arange(12).reshape(3, 4).T,
        numpy.asfortranarray(numpy.arange(40_000.0).reshape(200, 200)),
    ],
    ids=lambda array: f"{array.dtype.str}-{array.shape}",
)
def test_an_array_comes_back_as_it_was_sent(server: Server, connect: Connect, array: Array) -> None:
    @server
    def echo(array: numpy.ndarray) -> numpy.ndarray:
        return array

    reply = connect().echo(array)
    assert reply.shape == array.shape
    assert reply.dtype == array.dtype.newbyteorder("=")
    assert (reply == array).all()


def test_elements_of_long_arrays_stay_in_the_buffer_that_was_received(server: Server, connect: Connect) -> None:
    owners: list[Any] = []

    @server
    def keep(array: numpy.ndarray) -> numpy.ndarray:
        owners.append(array)
        return array

    client = connect()
    reply = client.keep(numpy.arange(1 << 17, dtype="float64"))
    for array in (owners[0], reply):
        view: Any = array
        while isinstance(view, numpy.ndarray):
            view = view.base
        view = view.obj if isinstance(view, memoryview) else view
        assert type(view).__name__ == "View"
        assert view.address == array.__array_interface__["data"][0], "no copy has been made"
        assert not array.flags.writeable
    client.close()
    server.stop()
    del owners[:], view, array
    gc.collect()
    assert reply.sum() == sum(range(1 << 17)), "it lives longer than its connection"


def test_an_array_is_sent_from_its_own_memory() -> None:
    from frisbee_rpc._native import View

    assert View is not None
    array = numpy.arange(1 << 17, dtype="float64")
    server = Server()

    @server
    def first() -> numpy.ndarray:
        return array

    with server.start("127.0.0.1:0"), Client(server.address) as client:
        before = array.__array_interface__["data"][0]
        assert (client.first() == array).all()
        assert array.__array_interface__["data"][0] == before
        # The buffer is no longer exported, so the array can be resized.
        gc.collect()
        array.resize(1, refcheck=False)


LONG = 80_000
PLACES = [*range(48), 2048, 4095]


def placed(place: int) -> Array:
    """Returns a long array that starts at this offset within a memory page."""
    memory = numpy.zeros(LONG + 8192, "uint8")
    skipped = (place - memory.__array_interface__["data"][0]) % 4096
    array = memory[skipped : skipped + LONG]
    array[:] = numpy.arange(place, place + LONG) % 251
    return array


def test_arrays_arrive_from_any_place_of_a_page(server: Server, connect: Connect) -> None:
    @server
    def echo(array: numpy.ndarray) -> numpy.ndarray:
        return array

    client = connect()
    for place in PLACES:
        assert (client.echo(placed(place)) == placed(place)).all()

    async def main() -> None:
        async with AsyncClient(server.address) as client:
            for place in PLACES:
                assert (await client.echo(placed(place)) == placed(place)).all()
            replies = await asyncio.gather(*(client.echo(placed(place)) for place in PLACES))
            assert all((reply == placed(place)).all() for place, reply in zip(PLACES, replies))

    run(main)


PIPES = """
import asyncio, os, signal, sys, numpy
from frisbee_rpc import AsyncClient, Client, Server
memory = numpy.arange(100_000, dtype="uint8")
def placed(place: int) -> numpy.ndarray:
    skipped = (place - memory.__array_interface__["data"][0]) % 4096
    return memory[skipped : skipped + 80_000]
server = Server()
server(placed)
@server
def total(array: numpy.ndarray) -> int:
    return int(array.sum())
server.start("127.0.0.1:0")
def pipes() -> set[str]:
    names = []
    for fd in os.listdir("/proc/self/fd"):
        try:
            names.append(os.readlink(f"/proc/self/fd/{fd}"))
        except FileNotFoundError:
            pass
    return {name for name in names if name.startswith("pipe:")}
def call(client: Client) -> None:
    for place in range(1, 41):
        assert client.total(placed(place)) == placed(place).sum()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="heads leave apart on Linux alone")
@pytest.mark.parametrize("change", ["pass", "signal.signal(signal.SIGPIPE, signal.SIG_DFL)"])
def test_heads_leave_apart_at_both_ends(change: str) -> None:
    text = f"""{PIPES}
{change}
with Client(server.address) as client:
    client.total(numpy.zeros(1))
    before = pipes()
    call(client)
    own = pipes()
    servers = set()
    for place in range(1, 41):
        assert (client.placed(place) == placed(place)).all()
        servers |= pipes() - own
    print(len(own - before), bool(servers))
"""
    # Not the number of the server's pipes: if a function is slow, another thread replaces its thread, which ends.
    assert program(text) == "1 True\n", "the caller's thread has one, and so has the server's"


@pytest.mark.skipif(sys.platform != "linux", reason="heads leave apart on Linux alone")
def test_after_a_fork_both_processes_send_arrays_of_their_own() -> None:
    text = f"""{PIPES}
client = Client(server.address)
client.total(numpy.zeros(1))
before = pipes()
call(client)
parents = pipes() - before
pid = os.fork()
if pid == 0:
    with Client(server.address) as own:
        call(own)
    print(len(parents), len(pipes() - before), len(pipes() & parents), flush=True)
    os._exit(0)
call(client)
assert os.waitpid(pid, 0)[1] == 0
client.close()
"""
    assert program(text) == "1 1 0\n", "the pipe of the parent is closed, and another one is used"


def test_the_type_of_elements_in_a_hint_is_held(server: Server, connect: Connect) -> None:
    @server
    def scale(array: numpy.typing.NDArray[numpy.float32]) -> float:
        return float(array.sum())

    client = connect()
    assert client.scale(numpy.ones(3, "float32")) == 3
    with pytest.raises(Status, match="float32 expected, not of float64") as caught:
        client.scale(numpy.ones(3))
    assert caught.value.code is Code.INVALID_ARGUMENT


class Named(numpy.ndarray): ...


@pytest.mark.parametrize("array", [numpy.ma.masked_array([1.0, 2.0], [False, True]), numpy.ones(2).view(Named)])
def test_subclass_of_an_array_is_refused(server: Server, connect: Connect, array: Any) -> None:
    """Regression test: the mask of an array was silently dropped."""

    @server
    def total(array: numpy.ndarray) -> float:
        return array.sum()  # type: ignore[no-any-return]

    @server
    def echo(value: Any) -> Any:
        return value

    client = connect()
    for call in (client.total, client.echo):
        with pytest.raises(TypeError, match="an array of NumPy expected, not .*: pass numpy.asarray"):
            call(array)
    assert client.total(numpy.asarray(array)) > 0


def test_scalar_of_numpy_is_an_array_without_dimensions(server: Server, connect: Connect) -> None:
    @server
    def total(array: numpy.typing.NDArray[numpy.float32]) -> numpy.typing.NDArray[numpy.float32]:
        return array.sum()  # type: ignore[return-value, no-any-return, unused-ignore]

    reply = connect().total(numpy.ones(3, "float32"))
    assert (reply.shape, reply.dtype, float(reply)) == ((), numpy.float32, 3.0)


def test_objects_are_never_sent(server: Server, connect: Connect) -> None:
    @server
    def echo(array: numpy.ndarray) -> None:
        raise AssertionError

    client = connect()
    for array in (numpy.array([object()]), numpy.array(["text"]), numpy.array(["2020-01-01"], "M8[D]")):
        with pytest.raises(TypeError, match="no elements of the type"):
            client.echo(array)
    with pytest.raises(TypeError, match="an array of NumPy expected, not list"):
        client.echo([1, 2])
