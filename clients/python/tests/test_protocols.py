"""Calls of Python functions over other protocols."""

from __future__ import annotations

import base64
import dataclasses
import datetime
import enum
import importlib
import io
import json
import socket
import struct
import types
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, Iterator, Optional

import numpy
import pytest
from numpy.typing import NDArray

from frisbee_rpc import Client, Server, Status
from frisbee_rpc._classes import classes
from frisbee_rpc._native import Api, Schema
from frisbee_rpc._native import Server as NativeServer
from frisbee_rpc._server import _report


@dataclasses.dataclass
class Point:
    x: int
    y: Optional[float] = None


class Color(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Mark:
    color: Color
    when: datetime.datetime


@pytest.fixture
def address() -> Iterator[str]:
    server = Server("test.Functions", protocols=["json-rpc", "http", "grpc"])

    @server
    def sum(a: int, b: int = 1) -> int:
        """Adds.

        Two numbers."""
        return a + b

    @server
    def narrow(array: NDArray[numpy.float32]) -> numpy.ndarray:
        assert array.dtype == numpy.float32
        return array

    @server
    def count(array: NDArray[numpy.bool_], flags: list[bool]) -> bool:
        return array.any()  # type: ignore[return-value]

    @server
    def ratio() -> float:
        return -0.0

    @server
    def split(text: str) -> list[str]:
        return text.split()

    @server
    def join(words: list[str] = ["a"]) -> str:
        return " ".join(words)

    @server
    def mark(color: Color, when: datetime.datetime) -> Mark:
        return Mark(color, when)

    @server
    def heavy(points: list[Point]) -> int:
        raise AssertionError("it is refused before")

    @server
    def move(point: Point, names: list[str], ages: dict[int, bool], raw: bytes = b"") -> Point:
        assert (names, ages, raw) == (["a"], {7: True}, b"\xff")
        return Point(point.x + 1, point.y)

    @server
    def scale(array: numpy.ndarray) -> numpy.ndarray:
        return array * 2

    @server
    def flags(kind: str) -> dict[bool, int]:
        return {"bool": {True: 1}, "str": {"True": 1}}[kind]  # type: ignore[return-value]

    @server
    def numbers(kind: str) -> dict[int, str]:
        return {"int": {-7: "a"}, "str": {"a": "a"}, "float": {1.5: "a"}}[kind]  # type: ignore[return-value]

    @server
    def texts(kind: str) -> dict[str, int]:
        return {"str": {"a": 1}, "int": {1: 1}}[kind]  # type: ignore[return-value]

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


def test_lists_have_the_type_of_the_hint(address: str) -> None:
    for rows in ([[1, 2.5]], {"data": [[1, 2.5]]}):
        reply = connect(address, "narrow", {"array": rows})["result"]
        assert (reply["dtype"], reply["shape"]) == ("float32", [1, 2])
    code, text = connect(address, "narrow", {"array": {"dtype": "float64", "data": [[1]]}})
    assert code == 400 and "an array of float32 expected, not of float64" in text
    assert connect(address, "count", {"array": [True, False], "flags": [True]}) == {"result": True}


def test_replies_leave_defaults_out(address: str) -> None:
    assert connect(address, "sum", {"a": 1, "b": -1}) == {}
    assert connect(address, "ratio", {}) == {"result": -0.0}
    assert connect(address, "split", {"text": ""}) == {}
    assert connect(address, "split", {"text": "a b"}) == {"result": ["a", "b"]}


def test_json_of_enums_and_times_is_that_of_proto3(address: str) -> None:
    for color in ("COLOR_RED", "RED", "red", 1):
        reply = connect(address, "mark", {"color": color, "when": "2026-01-02T03:04:05.5Z"})
        assert reply == {"color": "COLOR_RED", "when": "2026-01-02T03:04:05.500Z"}
    code, text = connect(address, "mark", {"color": "GREEN"})
    assert code == 400 and "GREEN" in text
    assert connect(address, "mark", {})[1].endswith("color, when are missing")


def test_keys_of_json_have_the_type_of_the_hint(address: str) -> None:
    """Regression test: in JSON, keys of any type were sent as their text. Native callers received ``INTERNAL``."""
    assert connect(address, "flags", {"kind": "bool"}) == {"result": {"true": "1"}}
    assert connect(address, "numbers", {"kind": "int"}) == {"result": {"-7": "a"}}
    assert connect(address, "texts", {"kind": "str"}) == {"result": {"a": "1"}}
    with Client(address) as client:
        for method, kind in (("flags", "str"), ("numbers", "str"), ("numbers", "float"), ("texts", "int")):
            assert connect(address, method, {"kind": kind}) == (500, "the handler has failed")
            with pytest.raises(Status, match="the handler has failed"):
                getattr(client, method)(kind)


def test_absent_arguments_are_refused_by_their_names(address: str) -> None:
    """Regression test: absent arguments were silently decoded as 0."""
    assert connect(address, "sum", {}) == (400, "the request is not a valid test.SumRequest: at byte 0: a is missing")
    assert connect(address, "move", {"ages": {"7": True}, "point": {}})[1].endswith(": x is missing")
    for params in ("{}", "[]", '{"b": 2}'):
        error = json_rpc(address, f'{{"jsonrpc": "2.0", "id": 1, "method": "test.Functions/sum", "params": {params}}}')["error"]
        assert (error["code"], error["message"].endswith("a is missing")) == (-32602, True), error
    with pytest.raises(urllib.error.HTTPError, match="400"):
        post(address, "/test.Functions/sum", b"\x10\x03", content_type="application/proto")


def test_absent_lists_have_their_default(address: str) -> None:
    assert connect(address, "join", {}) == {"result": "a"}
    assert connect(address, "join", {"words": []}) == {}


def test_discover_describes_functions(address: str) -> None:
    document = json_rpc(address, '{"jsonrpc": "2.0", "id": 1, "method": "rpc.discover"}')["result"]
    methods = {method["name"]: method for method in document["methods"]}
    method = methods["test.Functions/sum"]
    assert method["description"] == "Adds.\n\nTwo numbers."
    assert [parameter["name"] for parameter in method["params"]] == ["a", "b"]
    # Regression: these schemas were empty.
    reference = "#/components/schemas/test.SumRequest/properties/a"
    assert method["params"][0]["schema"] == {"$ref": reference} and method["x-request"] == "test.SumRequest"
    schemas = document["components"]["schemas"]
    assert schemas["test.SumRequest"]["properties"]["a"]["type"] == "string"
    assert schemas["test.MarkResult" if "test.MarkResult" in schemas else "test.Mark"]["properties"]["when"] == {
        "$ref": "#/components/schemas/google.protobuf.Timestamp"
    }
    references = {text.split('"')[0] for text in json.dumps(document).split('"#/components/schemas/')[1:]}
    assert {reference.split("/")[0] for reference in references} <= set(schemas)


def post(address: str, path: str, body: bytes, **headers: str) -> Any:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return urllib.request.urlopen(urllib.request.Request(f"http://{address}{path}", body, names), timeout=30)


def test_protobuf_calls_functions(address: str) -> None:
    # The request is a = 2, b = 3, and the reply is 5.
    with post(address, "/test.Functions/sum", b"\x08\x02\x10\x03", content_type="application/proto") as reply:
        assert reply.read() == b"\x08\x05"
    # b is absent and has its default.
    with post(address, "/test.Functions/sum", b"\x08\x02", content_type="application/proto") as reply:
        assert reply.read() == b"\x08\x03"
    message = b"\x0a\x02ab"
    framed = b"\0" + len(message).to_bytes(4, "big") + message
    with post(address, "/test.Functions/split", framed, content_type="application/grpc-web+proto") as reply:
        body = reply.read()
    assert body.startswith(b"\0\0\0\0\x04\x0a\x02ab") and b"grpc-status:0" in body.replace(b" ", b"")


@pytest.mark.parametrize("body", [b"\x08", b"\xff" * 20, b"\x0a\xff\xff\xff\xff\x0f", b"\x0b" * 500])
def test_hostile_protobuf_is_refused(address: str, body: bytes) -> None:
    with pytest.raises(urllib.error.HTTPError) as caught:
        post(address, "/test.Functions/sum", body, content_type="application/proto")
    assert caught.value.code == 400


def test_protobuf_of_many_parts_is_refused(address: str) -> None:
    # Half a million empty messages. Each takes two bytes in the body.
    with pytest.raises(urllib.error.HTTPError) as caught:
        post(address, "/test.Functions/heavy", b"\x0a\x02\x08\x00" * 500_000, content_type="application/proto")
    assert "bytes of memory" in json.load(caught.value)["message"]


def test_packed_numbers_of_protobuf_count_by_their_size() -> None:
    server = Server("test.Functions", protocols=["http"])

    @server
    def total(numbers: list[float]) -> float:
        return sum(numbers)

    # Regression test: the limit was charged for one number per byte of a packed field, so this request was rejected.
    body = b"\x0a\x80\xd4\x61" + struct.pack("<d", 0.5) * 200_000
    with server.start("127.0.0.1:0"), post(server.address, "/test.Functions/total", body, content_type="application/proto") as reply:
        assert reply.read() == b"\x09" + struct.pack("<d", 100_000)


def test_images_of_a_message_share_its_memory() -> None:
    """Regression test: the memory of each image was limited, but not that of all images of a message."""
    image = pytest.importorskip("PIL.Image")

    def count(pictures: list[Any]) -> int:
        return len(pictures)

    count.__annotations__ = {"pictures": types.GenericAlias(list, image.Image), "return": int}
    server = Server("test.Functions", protocols=["http"])
    server(count)
    # The pixels take 36 MB in memory. The file takes a few kilobytes.
    large, file = image.new("1", (3000, 3000)), io.BytesIO()
    large.save(file, "PNG")
    picture = {"mediaType": "image/png", "data": base64.b64encode(file.getvalue()).decode()}
    with server.start("127.0.0.1:0"), Client(server.address) as client:
        assert client.count([large]) == 1 and connect(server.address, "count", {"pictures": [picture]}) == {"result": "1"}
        with pytest.raises(Status, match="takes 36000000 bytes, and 31108864 of 67108864 bytes are left"):
            client.count([large, large])
        code, message = connect(server.address, "count", {"pictures": [picture, picture]})
        assert code == 400 and "and 31108864 of 67108864 bytes are left" in message


def test_pages_of_an_origin_may_fetch() -> None:
    server = Server("test.Functions", protocols=["http"], origins=["https://app.example.com"])

    @server
    def one() -> int:
        return 1

    with server.start("127.0.0.1:0"):
        path = "/test.Functions/one"
        headers = {"content_type": "application/json", "origin": "https://app.example.com"}
        with post(server.address, path, b"{}", **headers) as reply:
            assert reply.headers["access-control-allow-origin"] == "https://app.example.com"
        request = urllib.request.Request(
            f"http://{server.address}{path}",
            headers={
                "origin": "https://app.example.com",
                "access-control-request-method": "POST",
                "access-control-request-headers": "content-type",
            },
            method="OPTIONS",
        )
        with urllib.request.urlopen(request, timeout=30) as preflight:
            assert "content-type" in preflight.headers["access-control-allow-headers"].lower()
        with pytest.raises(urllib.error.HTTPError) as caught:
            post(server.address, path, b"{}", content_type="application/json", origin="https://evil.example.com")
        assert caught.value.code == 403 and "Http::" not in caught.value.read().decode()


def upgrade(address: str, **headers: str) -> str:
    host, port = address.rsplit(":", 1)
    fields = {
        "host": address, "upgrade": "websocket", "connection": "Upgrade", "sec-websocket-version": "13",
        "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==", "sec-websocket-protocol": "frisbee.1", **headers,
    }  # fmt: skip
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    with socket.create_connection((host, int(port)), 30) as connection:
        connection.sendall(f"GET / HTTP/1.1\r\n{head}\r\n".encode())
        return connection.makefile(newline="\r\n", encoding="latin-1").readline().split()[1]


def test_websocket_alone_has_origins_and_hosts() -> None:
    server = Server("test.Functions", protocols=["websocket"], origins=["https://app.example.com"], hosts=["api.example.com"])

    @server
    def one() -> int:
        return 1

    with server.start("127.0.0.1:0"):
        assert upgrade(server.address, origin="https://app.example.com") == "101"
        assert upgrade(server.address, origin="https://app.example.com", host="api.example.com") == "101"
        assert upgrade(server.address, origin="https://evil.example.com") == "403"
        assert upgrade(server.address, host="evil.example.com") in ("403", "421")


def test_unknown_protocol_is_refused_with_the_known_ones() -> None:
    server = Server(protocols=["htpp"])

    @server
    def one() -> int:
        return 1

    with pytest.raises(ValueError, match='protocol "htpp" is unknown: use "json-rpc", "http", "grpc" or "websocket"'):
        server.start("127.0.0.1:0")


def test_hostile_json_is_refused(address: str) -> None:
    nested = ('{"point":' * 100_000, '{"names": [' + "[" * 100_000)
    for text in (*nested, '{"a": 1, "a": 2}', '{"a": null, "a": 1}', '{"a": 1'):
        request = urllib.request.Request(
            f"http://{address}/test.Functions/sum", text.encode(), {"content-type": "application/json"}
        )
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(request, timeout=30)
        assert caught.value.code == 400


def test_grpcio_calls_over_a_unix_socket(tmp_path: Path) -> None:
    grpc = importlib.import_module("grpc")
    server = Server("test.Functions", protocols=["grpc"])

    @server
    def sum(a: int, b: int = 1) -> int:
        return a + b

    def call(options: list[tuple[str, str]]) -> bytes:
        with grpc.insecure_channel(f"unix:{tmp_path}/socket", options) as channel:
            method = channel.unary_unary("/test.Functions/sum", lambda message: message, lambda message: message)
            reply: bytes = method(b"\x08\x02\x10\x03", timeout=60)
            return reply

    with server.start(f"unix:{tmp_path}/socket"):
        assert call([("grpc.default_authority", "localhost")]) == b"\x08\x05"
        # By default, gRPC sends the percent-encoded path of the socket as the authority.
        assert call([]) == b"\x08\x05"


WELL_KNOWN = """syntax = "proto3"; package test;
import "google/protobuf/any.proto"; import "google/protobuf/duration.proto"; import "google/protobuf/field_mask.proto";
import "google/protobuf/struct.proto"; import "google/protobuf/timestamp.proto"; import "google/protobuf/wrappers.proto";
service Functions { rpc Echo(All) returns (All); }
message All {
  google.protobuf.Timestamp at = 9; google.protobuf.Duration span = 2; google.protobuf.StringValue name = 3;
  google.protobuf.Struct tree = 4; google.protobuf.FieldMask mask = 5; google.protobuf.Any any = 6;
  repeated google.protobuf.Value values = 7;
}"""


@dataclasses.dataclass
class Timestamp:
    """Like the class in a generated module."""

    seconds: int = 0
    nanos: int = 0


def test_well_known_types_of_generated_modules_have_their_json() -> None:
    schema = Schema.parse([("all.proto", WELL_KNOWN)])
    forms = {**classes(schema, schema.methods()), "google.protobuf.Timestamp": Timestamp}
    stamps: list[Timestamp] = []

    def echo(message: Any) -> Any:
        stamps.append(message.at)
        return message

    settings = Server(protocols=["json-rpc", "http"])._settings
    functions = [(Api(schema, forms, {}), 0, echo, "here", None, None)]
    native = NativeServer("127.0.0.1:0", functions, _report, settings, None)
    body = {
        "at": "1972-01-01T10:00:20.021Z", "span": "1.500s", "name": "", "tree": {"a": [1, None, {"b": "c"}]}, "mask": "a.b,cD",
        "any": {"@type": "type.googleapis.com/google.protobuf.Duration", "value": "3s"}, "values": [None, True],
    }  # fmt: skip
    assert connect(native.address, "Echo", body) == body
    head = '{"jsonrpc": "2.0", "id": 1, "method": "test.Functions/Echo", "params": '
    assert json_rpc(native.address, head + '["1970-01-01T00:00:01Z"]}')["result"] == {"at": "1970-01-01T00:00:01Z"}
    assert stamps == [Timestamp(63_108_020, 21_000_000), Timestamp(1)]
    schemas = json_rpc(native.address, '{"jsonrpc": "2.0", "id": 1, "method": "rpc.discover"}')["result"]["components"]
    assert schemas["schemas"]["google.protobuf.StringValue"] == {"type": "string"}
    native.stop()


SWAPPED = """syntax = "proto3"; package test;
service Functions { rpc Echo(Swapped) returns (Swapped); }
message Swapped { string first = 1 [json_name = "second"]; string second = 2 [json_name = "first"]; map<int32, bool> flags = 3; }"""


def test_json_names_take_precedence_over_names_of_other_fields() -> None:
    schema = Schema.parse([("swapped.proto", SWAPPED)])
    received: list[Any] = []

    def echo(message: Any) -> Any:
        received.append((message.first, message.second, message.flags))
        return message

    settings = Server(protocols=["http"])._settings
    functions = [(Api(schema, classes(schema, schema.methods()), {}), 0, echo, "here", None, None)]
    native = NativeServer("127.0.0.1:0", functions, _report, settings, None)
    assert connect(native.address, "Echo", {"second": "a", "first": "b"}) == {"second": "a", "first": "b"}
    assert connect(native.address, "Echo", {"first": "b"}) == {"first": "b"}
    # Map keys are parsed as JSON numbers, as in Rust.
    assert connect(native.address, "Echo", {"flags": {"1e1": True}}) == {"flags": {"10": True}}
    assert connect(native.address, "Echo", {"flags": {"+1": True}})[0] == 400
    assert received == [("a", "b", {}), ("", "b", {}), ("", "", {10: True})]
    native.stop()


QUOTED = r"""syntax = "proto3"; package test;
service Functions { rpc Echo(Quoted) returns (Quoted); }
message Quoted { string name = 1 [json_name = "a\"b\n"]; }"""


def test_discovery_escapes_json_names() -> None:
    schema = Schema.parse([("quoted.proto", QUOTED)])
    functions = [(Api(schema, classes(schema, schema.methods()), {}), 0, lambda message: message, "here", None, None)]
    native = NativeServer("127.0.0.1:0", functions, _report, Server(protocols=["json-rpc"])._settings, None)
    document = json_rpc(native.address, '{"jsonrpc": "2.0", "id": 1, "method": "rpc.discover"}')["result"]
    assert [param["name"] for param in document["methods"][0]["params"]] == ['a"b\n']
    assert list(document["components"]["schemas"]["test.Quoted"]["properties"]) == ['a"b\n']
    native.stop()
