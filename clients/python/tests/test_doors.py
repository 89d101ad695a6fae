"""Functions at the doors for other protocols."""

from __future__ import annotations

import base64
import dataclasses
import json
import socket
import urllib.error
import urllib.request
from typing import Any, Iterator, Optional

import numpy
import pytest

from frisbee_rpc import Server


@dataclasses.dataclass
class Point:
    x: int
    y: Optional[float] = None


@pytest.fixture
def address() -> Iterator[str]:
    server = Server("test.Functions", doors=["json-rpc", "http"])

    @server
    def sum(a: int, b: int = 1) -> int:
        return a + b

    @server
    def move(point: Point, names: list[str], ages: dict[int, bool], raw: bytes = b"") -> Point:
        assert (names, ages, raw) == (["a"], {7: True}, b"\xff")
        return Point(point.x + 1, point.y)

    @server
    def scale(array: numpy.ndarray) -> numpy.ndarray:
        return array * 2

    with server.start("127.0.0.1:0"):
        yield server.address


def json_rpc(address: str, text: str) -> Any:
    host, port = address.rsplit(":", 1)
    with socket.create_connection((host, int(port)), 30) as connection:
        connection.sendall(text.encode() + b"\n")
        return json.loads(connection.makefile().readline())


def connect(address: str, method: str, body: Any) -> Any:
    request = urllib.request.Request(
        f"http://{address}/test.Functions/{method}", json.dumps(body).encode(), {"content-type": "application/json"}
    )
    try:
        return json.load(urllib.request.urlopen(request, timeout=30))
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)["message"]


def test_json_rpc_calls_functions_by_names_and_by_places(address: str) -> None:
    head = '{"jsonrpc": "2.0", "id": 1, "method": "test.Functions/sum", "params": '
    assert json_rpc(address, head + '{"a": 2, "b": 3}}')["result"] == {"result": "5"}
    assert json_rpc(address, head + '["2"]}')["result"] == {"result": "3"}
    assert "more values" in json_rpc(address, head + "[1, 2, 3]}")["error"]["message"]
    assert "has no field" in json_rpc(address, head + '{"c": 1}}')["error"]["message"]


def test_connect_calls_functions(address: str) -> None:
    point = {"point": {"x": 1, "y": 0.5}, "names": ["a"], "ages": {"7": True}, "raw": base64.b64encode(b"\xff").decode()}
    assert connect(address, "move", point) == {"x": "2", "y": 0.5}
    del point["point"]
    code, text = connect(address, "move", point)
    assert code == 400 and "point is missing" in text
    code, text = connect(address, "sum", {"a": "x"})
    assert code == 400 and "a" in text


def test_arrays_come_as_lists_and_go_as_bytes(address: str) -> None:
    reply = connect(address, "scale", {"array": [[1, 2], [3, 4]]})["result"]
    assert (reply["dtype"], reply["shape"]) == ("int64", [2, 2])
    assert list(numpy.frombuffer(base64.b64decode(reply["data"]), "int64")) == [2, 4, 6, 8]


def test_hostile_json_is_refused(address: str) -> None:
    for text in ('{"point":' * 100_000, '{"names": [' + "[" * 100_000, '{"a": 1, "a": 2}', '{"a": 1'):
        request = urllib.request.Request(
            f"http://{address}/test.Functions/sum", text.encode(), {"content-type": "application/json"}
        )
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(request, timeout=30)
        assert caught.value.code == 400
