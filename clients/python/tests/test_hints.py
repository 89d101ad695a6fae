"""The schema that is made of type hints."""

from __future__ import annotations

import dataclasses
from typing import Any, AsyncIterator, Callable, Iterator, Optional

import numpy
import numpy.typing
import pytest

from frisbee_rpc import Server


@dataclasses.dataclass
class User:
    name: str
    age: int = 18
    friends: list[str] = dataclasses.field(default_factory=list)


def test_the_schema_is_a_file_for_other_languages() -> None:
    server = Server("people.People")

    @server
    def find(name: str, limit: int = 10) -> list[User]:
        """Finds people."""
        raise NotImplementedError

    @server
    async def watch(user: Optional[User], weights: dict[str, float]) -> AsyncIterator[User]:
        raise NotImplementedError
        yield

    @server
    def scale(tensor: numpy.typing.NDArray[numpy.float32]) -> numpy.ndarray:
        raise NotImplementedError

    assert server.proto() == (
        'syntax = "proto3";\n\npackage people;\n\nimport "frpc/tensor.proto";\n\n'
        "service People {\n  // Finds people.\n  rpc find(FindRequest) returns (FindResult);\n"
        "  rpc watch(WatchRequest) returns (stream User);\n  rpc scale(ScaleRequest) returns (ScaleResult);\n}\n\n"
        "message FindRequest {\n  string name = 1;\n  optional int64 limit = 2;\n}\n\n"
        "message User {\n  string name = 1;\n  optional int64 age = 2;\n  repeated string friends = 3;\n}\n\n"
        "message FindResult {\n  repeated User result = 1;\n}\n\n"
        "message WatchRequest {\n  User user = 1;\n  map<string, double> weights = 2;\n}\n\n"
        "message ScaleRequest {\n  frpc.Tensor tensor = 1;\n}\n\n"
        "message ScaleResult {\n  frpc.Tensor result = 1;\n}\n"
    )


def untyped(a, b: int) -> int:  # type: ignore[no-untyped-def]
    return b


def nested(a: list[list[int]]) -> int:
    return 0


def choice(a: int | str) -> int:
    return 0


def keys(a: dict[float, int]) -> int:
    return 0


def anything(a: object) -> int:
    return 0


def many(*a: int) -> int:
    return 0


def no_list(a: int) -> Iterator[int]:
    yield a


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (untyped, "a needs a type"),
        (nested, "nested: a: "),
        (choice, "is a choice that no field has"),
        (keys, "keys of a dict"),
        (anything, "has no place in a schema"),
        (many, "given by its position"),
    ],
)
def test_hints_without_a_place_in_a_schema_are_refused_by_name(function: Callable[..., Any], text: str) -> None:
    server = Server()
    server(function)
    with pytest.raises(TypeError, match=text):
        server.proto()


def test_a_batch_takes_and_returns_lists() -> None:
    server = Server()
    server.batch()(no_list)
    with pytest.raises(TypeError, match="has to be one of list"):
        server.proto()


def test_a_stream_of_requests_is_the_only_parameter_and_of_the_kind_of_its_function() -> None:
    def two(numbers: Iterator[int], factor: int) -> int:
        return factor

    async def plain(numbers: Iterator[int]) -> int:
        return 0

    wrong: list[tuple[Callable[..., Any], str]]
    wrong = [(two, "the only parameter"), (plain, "an AsyncIterator in a coroutine function")]
    for function, text in wrong:
        server = Server()
        server(function)
        with pytest.raises(TypeError, match=text):
            server.proto()


def test_any_is_a_message_that_holds_values_of_every_type() -> None:
    server = Server("zoo.Zoo")

    @server
    def find(what: Any, others: list[Any]):  # type: ignore[no-untyped-def]
        return what

    proto = server.proto()
    assert "message FindRequest {\n  AnyValue what = 1;\n  repeated AnyValue others = 2;\n}" in proto
    assert "message FindResult {\n  AnyValue result = 1;\n}" in proto
    assert proto.count("message AnyValue {") == 1
