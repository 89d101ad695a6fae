"""Schemas that are created from type hints."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import enum
import functools
import sys
from typing import Annotated, Any, AsyncIterator, Awaitable, Callable, Iterator, Literal, NamedTuple, Optional

import numpy
import numpy.typing
import pytest

from frisbee_rpc import AsyncClient, Client, Server, Status
from frisbee_rpc._native import Api, Schema

from .conftest import run


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
        "message FindRequest {\n  optional string name = 1;\n  optional int64 limit = 2;\n}\n\n"
        "message User {\n  optional string name = 1;\n  optional int64 age = 2;\n  repeated string friends = 3;\n}\n\n"
        "message FindResult {\n  repeated User result = 1;\n}\n\n"
        "message WatchRequest {\n  User user = 1;\n  map<string, double> weights = 2;\n}\n\n"
        "message ScaleRequest {\n  frpc.Tensor tensor = 1;\n}\n\n"
        "message ScaleResult {\n  frpc.Tensor result = 1;\n}\n"
    )


def constrained(a: Annotated[int, range(3)]) -> int:
    return a


def unnamed(a: collections.namedtuple("Pair", "x y")) -> int:  # type: ignore[valid-type]
    return 0


def accented(größe: int) -> int:
    return größe


class Wide(enum.IntEnum):
    SMALL = 1
    BIG = 2**40


def wide(a: Wide) -> int:
    return a


class Letter(enum.Enum):
    a = "a"
    A = "A"


def letter(a: Letter) -> int:
    return 0


def untyped(a, b: int) -> int:  # type: ignore[no-untyped-def]
    return b


def optional_list(a: Optional[list[int]]) -> int:
    return 0


def ambiguous(a: tuple[Literal["a"], int], b: tuple[Literal["b"], int]) -> int:
    return 0


def mixed(a: Literal[1, "b"]) -> int:
    return 0


class Rights(enum.Flag):
    READ = 1


def flags(a: Rights) -> int:
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
        (constrained, "function constrained: a: range.0, 3. would not be checked"),
        (unnamed, "Pair.x needs a type"),
        (accented, "the name 'größe' has letters"),
        (wide, "Wide.BIG is 1099511627776, and numbers of enums in a schema have 32 bits"),
        (letter, "a and A of Letter are one name in a schema"),
        (optional_list, "a: a list or dict is empty rather than None"),
        (ambiguous, "b: .* are one message; make one a dataclass"),
        (mixed, "a: the values of a Literal are of one type"),
        (flags, "a: Rights is a flag"),
        (choice, "is a choice that no field has"),
        (keys, "keys of a dict"),
        (anything, "has no type in a schema"),
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


class Color(enum.Enum):
    RED = "red"
    DARK_BLUE = "blue"


class Level(enum.IntEnum):
    HIGH = 5
    LOW = 0


class Place(NamedTuple):
    x: float
    y: float = 0.5


@dataclasses.dataclass
class Item:
    place: Place
    color: Color = Color.RED
    tags: frozenset[str] = frozenset()


UTC = datetime.timezone.utc


def rich() -> Server:
    server = Server("rich.Rich", shows_errors=True)

    @server
    def paint(color: Color, level: Level, mode: Literal["a", "b"] = "b") -> list[Color]:
        assert isinstance(color, Color) and isinstance(level, Level)
        return [color, Color.DARK_BLUE] if mode == "b" else []

    @server
    def later(when: datetime.datetime, by: datetime.timedelta) -> datetime.datetime:
        return when + by

    @server
    def transposed(rows: list[list[int]]) -> list[tuple[int, ...]]:
        return list(zip(*rows))

    @server
    def pair(point: tuple[int, str], sizes: tuple[int, ...], names: dict[str, list[str]]) -> tuple[str, int]:
        assert isinstance(point, tuple) and isinstance(sizes, tuple)
        return point[1] + names["a"][0], point[0] + sizes[-1]

    @server
    def nested(a: tuple[set[int], tuple[list[int], str]], b: dict[str, Literal["x", "y"]]) -> int:
        assert isinstance(a[0], set) and isinstance(a[1][0], list)
        return len(a[0]) + len(b)

    @server
    def move(item: Item) -> Item:
        assert isinstance(item.place, Place) and isinstance(item.tags, frozenset)
        return item

    @server
    def longest(times: list[datetime.timedelta], modes: list[Literal[1, 2]]) -> datetime.timedelta:
        return max(times)

    return server


def test_hints_of_enums_times_tuples_and_nested_lists_arrive() -> None:
    when = datetime.datetime(1969, 12, 31, 23, 59, 59, 999_999, UTC)
    with rich().start("127.0.0.1:0") as server, Client(server.address) as client:
        red, blue = client.paint("RED", Level.HIGH)
        assert (red, blue, red.name) == (1, 2, "COLOR_RED")
        assert client.paint(color=blue, level=0, mode="a") == []
        assert client.later(when, datetime.timedelta(microseconds=1)) == datetime.datetime(1970, 1, 1, tzinfo=UTC)
        assert client.later(when, datetime.timedelta(days=-1, microseconds=-1)).microsecond == 999_998
        assert client.transposed([[1, 2], [3, 4]]) == [[1, 3], [2, 4]]
        assert client.pair((1, "b"), [2, 3], {"a": ["c"]}) == ("bc", 4)
        assert client.nested(([1, 1], ([2], "c")), {"d": "x"}) == 2
        assert client.longest([datetime.timedelta(0), datetime.timedelta(hours=-1)], [1]) == datetime.timedelta(0)
        item = client.move(client._schemas.forms["rich.Item"](client._schemas.forms["rich.Place"](1.5, None), None, ["b"]))  # type: ignore[union-attr]
        assert (item.place.x, item.place.y, item.color, item.tags) == (1.5, 0.5, 1, ["b"])


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda client: client.paint(level=0), "color is missing"),
        (lambda client: client.paint("GREEN", 0), "no value 'GREEN'|no value \"GREEN\""),
        (lambda client: client.paint("RED", 0, mode="c"), "mode: 'c' is none of 'a', 'b'"),
        (lambda client: client.longest([], [1, 3]), "modes: 3 is none of 1, 2"),
        (lambda client: client.nested(([], ([], "")), {"d": "z"}), "b: 'z' is none of 'x', 'y'"),
        (lambda client: client.later(datetime.datetime(2000, 1, 1), datetime.timedelta()), "without a time zone"),
        (lambda client: client.pair((1,), [], {}), "a tuple of 2 values expected, not of 1"),
        (lambda client: client.pair(), "PairRequest: point is missing"),
        (lambda client: client.later(), "LaterRequest: when, by are missing"),
    ],
)
def test_values_that_do_not_fit_a_hint_are_refused(call: Callable[[Client], Any], text: str) -> None:
    with rich().start("127.0.0.1:0") as server, Client(server.address) as client:
        with pytest.raises((Status, TypeError, ValueError), match=text):
            call(client)


class Crossed(str, enum.Enum):
    A = "B"
    B = "A"
    c = "D"


class State(enum.Enum):
    ON = 7
    OFF = 1
    UNSPECIFIED = 3


class Mode(enum.Enum):
    UNSPECIFIED = "none"
    FAST = "fast"


def test_members_and_texts_of_enums_are_arguments() -> None:
    """Regression test: the client rejected enum members of its own classes. It confused members if the name of one was
    the text of another, and sent the position of a member instead of its number."""
    server = Server("test.Enums")

    @server
    def crossed(value: Crossed) -> Crossed:
        assert isinstance(value, Crossed)
        return value

    @server
    def state(value: State, mode: Mode = Mode.FAST) -> list[State]:
        assert isinstance(value, State) and isinstance(mode, Mode)
        return [value]

    assert "STATE_ON = 7;" in server.proto()
    with server.start("127.0.0.1:0"), Client(server.address) as client:
        for member in Crossed:
            assert client.crossed(member).name == f"CROSSED_{member.name.upper()}"
        assert [client.crossed(text).name for text in ("CROSSED_A", "C", "c")] == ["CROSSED_A", "CROSSED_C", "CROSSED_C"]
        for value in State:
            for given in (value, value.name, value.name.lower(), value.value):
                assert client.state(given, Mode.UNSPECIFIED) == [value.value]
        with pytest.raises(ValueError, match="no value \"LOST\""):
            client.state("LOST")
    builder = server._described()
    api = Api(Schema.parse([("enums.proto", builder.proto())]), builder.forms, builder.fields)
    with pytest.raises(ValueError, match='"A" is the name of one value .* and the text of another: use CROSSED_A'):
        api.encode("test.CrossedRequest", ("A",))


@pytest.mark.skipif(sys.version_info < (3, 12), reason="aliases are a statement of Python 3.12")
def test_alias_of_a_type_is_the_type() -> None:
    """Regression test: aliases of types were rejected. `NDArray` has been such an alias since NumPy 2.5."""
    names: dict[str, Any] = {"numpy": numpy}
    exec("type Names[T] = dict[str, list[T]]\ntype Count = int\ntype Of[K, T] = numpy.ndarray[K, numpy.dtype[T]]", names)
    server = Server("test.Aliases")

    def find(names, count, array) -> None: ...  # type: ignore[no-untyped-def]

    find.__annotations__ = {
        "names": names["Names"][names["Count"]],
        "count": names["Count"],
        "array": names["Of"][Any, numpy.int8],
        "return": Annotated[names["Count"], "how many"],
    }
    server(find)
    assert "map<string, ListOfInt64> names = 1;\n  optional int64 count = 2;\n  frpc.Tensor array = 3;" in server.proto()
    assert "int64 result = 1;" in server.proto()
    assert server._described().fields["test.FindRequest.array"][1] == "int8"


made: list[int] = []


def new_id() -> str:
    made.append(len(made))
    return f"id{made[-1]}"


@dataclasses.dataclass
class Record:
    id: str = dataclasses.field(default_factory=new_id)
    place: Place = dataclasses.field(default_factory=lambda: Place(7, 8))


def test_default_factory_makes_absent_fields() -> None:
    server = Server("test.Records")

    @server
    def store(record: Record, label: str = "x") -> str:
        return f"{record.id} {record.place.x} {label}"

    with server.start("127.0.0.1:0"), Client(server.address) as client:
        record = client._call(client._schemas or (client.store and client._schemas), "store")  # type: ignore[arg-type]
        forms = client._schemas.forms  # type: ignore[union-attr]
        made.clear()
        absent = forms["test.Record"](None, None)
        assert [record(absent), record(absent)] == ["id0 7 x", "id1 7 x"]
        assert record(forms["test.Record"]("", None), "") == " 7 "


class Scaler:
    def __call__(self, number: int) -> int:
        return 3 * number


def test_partials_and_callable_objects_are_served() -> None:
    def scaled(factor: int, number: int, offset: int) -> int:
        return factor * number + offset

    server = Server()
    server(functools.partial(scaled, 2, offset=1))
    server(name="triple")(Scaler())
    with pytest.raises(TypeError, match=r"an object of Scaler has no name as a method: server\(name=…\)\(object\)"):
        server(Scaler())
    with server.start("127.0.0.1:0"), Client(server.address) as client:
        assert (client.scaled(number=4), client.triple(4)) == (9, 12)


def test_coroutine_behind_a_plain_wrapper_is_awaited() -> None:
    def logged(function: Callable[..., Awaitable[int]]) -> Callable[..., Awaitable[int]]:
        @functools.wraps(function)
        def wrapper(*arguments: Any) -> Awaitable[int]:
            return function(*arguments)

        return wrapper

    server = Server()

    @server
    @logged
    async def double(number: int) -> int:
        return 2 * number

    async def main() -> None:
        import asyncio

        started = asyncio.Event()
        serving = asyncio.create_task(server.serve("127.0.0.1:0", started=started.set))
        await started.wait()
        async with AsyncClient(server.address) as client:
            assert await client.double(4) == 8
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)

    assert server._needs_loop()
    run(main)


def test_local_classes_are_known_where_the_function_is() -> None:
    @dataclasses.dataclass
    class Local:
        x: int

    server = Server()

    @server
    def show(local: Local) -> int:
        return local.x

    assert "message Local {" in server.proto()
    with pytest.raises(TypeError, match="function lost: b: 'Unknown' of the hint 'list\\[Unknown\\]' is not defined"):

        @server
        def lost(a: int, b: list[Unknown]) -> int:  # type: ignore[name-defined]  # noqa: F821
            return 0


@dataclasses.dataclass
class Node:
    value: int
    next: Optional[Node] = None
    children: list[Node] = dataclasses.field(default_factory=list)


def test_dataclass_may_contain_itself() -> None:
    server = Server("test.Trees")

    @server
    def depth(node: Node) -> int:
        return 1 + (depth(node.next) if node.next else 0)

    with server.start("127.0.0.1:0"), Client(server.address) as client:
        node = (client.depth and client._schemas).forms["test.Node"]  # type: ignore[union-attr]
        assert client.depth(node(1, node(2), [])) == 2


def test_coroutine_that_returns_a_stream_is_refused() -> None:
    async def walk() -> AsyncIterator[int]:
        raise NotImplementedError

    server = Server()
    server(walk)
    with pytest.raises(TypeError, match="function walk: .* has to be a generator"):
        server.proto()


def test_coroutine_that_may_block_is_refused() -> None:
    """Regression test: the option was ignored, and the function blocked the event loop."""

    async def wait() -> None:
        raise NotImplementedError

    server = Server()
    server(blocking=True)(wait)
    with pytest.raises(TypeError, match="function wait: .* leave out blocking=True"):
        server.proto()
