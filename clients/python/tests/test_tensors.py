"""Arrays of NumPy as ``frpc.Tensor``, and where their elements are."""

from __future__ import annotations

import gc
from typing import Any, Callable

import numpy
import numpy.typing
import pytest

from frisbee_rpc import Client, Code, Server, Status

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
        # The buffer is not exported any more, so the array can be resized.
        gc.collect()
        array.resize(1, refcheck=False)


def test_the_type_of_elements_in_a_hint_is_held(server: Server, connect: Connect) -> None:
    @server
    def scale(array: numpy.typing.NDArray[numpy.float32]) -> float:
        return float(array.sum())

    client = connect()
    assert client.scale(numpy.ones(3, "float32")) == 3
    with pytest.raises(Status, match="float32 expected, not of float64") as caught:
        client.scale(numpy.ones(3))
    assert caught.value.code is Code.INVALID_ARGUMENT


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
