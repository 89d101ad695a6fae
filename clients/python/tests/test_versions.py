"""Peers that use different versions of a schema."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable, Iterator

import pytest

from frisbee_rpc import Client, Server
from frisbee_rpc._classes import classes
from frisbee_rpc._native import Api, Schema
from frisbee_rpc._native import Server as NativeServer
from frisbee_rpc._server import _report

from .conftest import LIMIT

OLD = """syntax = "proto3"; package shop;
service Shop { rpc Get(Query) returns (Item); rpc Sum(stream Query) returns (Item); }
message Query { string id = 1; }
message Item { oneof kind { int32 count = 1; string name = 2; } }
"""
#: The change adds fields before others and in between, and a method before the existing one.
NEW = (
    OLD.replace("string id = 1;", "string more = 2; string id = 1;")
    .replace("oneof kind", "string note = 3; oneof kind")
    .replace("rpc Get", "rpc First(Query) returns (Item); rpc Get")
)


@pytest.fixture
def protos(tmp_path: Path) -> tuple[Path, Path]:
    """Provides the files of the schema before and after a change."""
    old, new = tmp_path / "old/shop.proto", tmp_path / "new/shop.proto"
    for path, text in ((old, OLD), (new, NEW)):
        path.parent.mkdir()
        path.write_text(text)
    return old, new


def serving(proto: Path, get: Callable[[Any, Any], Any]) -> Iterator[NativeServer]:
    """Serves a schema. `get` receives the class of the reply and a request."""
    schema = Schema.load([proto], [proto.parent])
    forms = classes(schema, schema.methods())
    item, api = forms["shop.Item"], Api(schema, forms, {})

    def last(queries: Any) -> Any:
        return [get(item, query) for query in queries][-1]

    index = {name: index for index, (_, name, *_) in enumerate(schema.methods())}
    functions = [
        (api, index["Get"], lambda query: get(item, query), "here", None, None),
        (api, index["Sum"], last, "here", None, None),
    ]
    native = NativeServer("127.0.0.1:0", functions, _report, Server()._settings, None)
    yield native
    native.stop()


def test_request_without_new_fields_has_their_defaults(protos: tuple[Path, Path]) -> None:
    old, new = protos
    for server in serving(new, lambda item, query: item(name=f"{query.id}{query.more!r}", note="unknown there")):
        with Client(server.address, proto=old, timeout=LIMIT) as client:
            assert client.get("a").name == "a''"
            query = client._schemas.forms["shop.Query"]  # type: ignore[union-attr]
            assert client.sum([query("b"), query("c")]).name == "c''"


@pytest.mark.parametrize("kind", [{"count": 7}, {"name": "Ada"}, {}])
def test_reply_without_new_fields_has_their_defaults(protos: tuple[Path, Path], kind: dict[str, Any]) -> None:
    old, new = protos
    for server in serving(old, lambda item, _: item(**kind)):
        with Client(server.address, proto=new, timeout=LIMIT) as client:
            reply = client.get("a", "unknown there")
            assert (reply.count, reply.name, reply.note) == (kind.get("count"), kind.get("name"), "")
