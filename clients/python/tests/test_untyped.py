"""Functions without a type hint for the result, Pillow images, and the client with the API of the package UCall."""

from __future__ import annotations

import io
from typing import Any, Callable

import numpy
import pytest

from frisbee_rpc import Client, Code, Server, Status, ucall
from frisbee_rpc._classes import _class, classes
from frisbee_rpc._native import Api, Schema

Connect = Callable[..., Client]

VALUES: list[Any] = [
    None,
    True,
    False,
    0,
    -7,
    2**62,
    0.0,
    0.5,
    "",
    "a",
    b"",
    b"\xff" * 20_000,
    [],
    [1, [2.5, ["x", None]]],
    {},
    {"a": 1, "b": {"c": [b"d", True]}},
]


def add_echo(server: Server) -> None:
    @server
    def echo(value: Any):  # type: ignore[no-untyped-def]
        return value


@pytest.mark.parametrize("value", VALUES, ids=lambda value: repr(value)[:20])
def test_a_value_without_a_type_comes_back_with_the_same_type(server: Server, connect: Connect, value: Any) -> None:
    add_echo(server)
    back = connect().echo(value)
    assert back == value and type(back) is type(value)


def test_arrays_and_numbers_of_numpy_need_no_hint(server: Server, connect: Connect) -> None:
    add_echo(server)
    client = connect()
    array = numpy.arange(12, dtype="float32").reshape(3, 4)
    back = client.echo({"array": array, "flat": [numpy.zeros(0)]})
    assert (back["array"] == array).all() and back["array"].dtype == array.dtype and back["flat"][0].shape == (0,)
    assert client.echo((numpy.int16(3), numpy.float32(0.5))) == [3, 0.5]


def test_what_has_no_place_without_a_hint_is_refused_by_its_name(server: Server, connect: Connect) -> None:
    add_echo(server)

    @server
    def broken():  # type: ignore[no-untyped-def]
        return object()

    client = connect()
    with pytest.raises(TypeError, match="set is not known without a type hint"):
        client.echo({1})
    with pytest.raises(ValueError, match="does not fit"):
        client.echo(2**70)
    with pytest.raises(Status) as caught:
        client.broken()
    assert caught.value.code is Code.INTERNAL


def test_a_generator_and_a_batch_need_no_hint_for_what_they_return(server: Server, connect: Connect) -> None:
    @server
    def count(limit: int):  # type: ignore[no-untyped-def]
        yield from range(limit)

    @server.batch(max_size=1)
    def double(numbers: list[int]):  # type: ignore[no-untyped-def]
        return [2 * number for number in numbers]

    client = connect()
    assert list(client.count(3)) == [0, 1, 2] and client.double(4) == 8


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "I;16", "F"])
def test_an_image_comes_back_with_the_same_pixels(server: Server, connect: Connect, mode: str) -> None:
    image = pytest.importorskip("PIL.Image")

    def mirror(picture: object) -> object:
        return picture.transpose(image.Transpose.FLIP_LEFT_RIGHT)  # type: ignore[attr-defined]

    mirror.__annotations__ = {"picture": image.Image, "return": image.Image}
    server(mirror)
    add_echo(server)
    client = connect()
    picture = image.new(mode, (3, 2))
    picture.putpixel((0, 1), 255 if mode == "1" else 1 if len(picture.getbands()) == 1 else (1,) * len(picture.getbands()))
    back = client.mirror(picture)
    assert (back.mode, back.size) == (picture.mode, (3, 2)) and back.getpixel((2, 1)) == picture.getpixel((0, 1))
    assert client.echo(picture).tobytes() == picture.tobytes()


def test_orientation_of_a_photo_arrives_and_frames_are_refused(server: Server, connect: Connect) -> None:
    image = pytest.importorskip("PIL.Image")

    @server
    def orientation(photo: Any) -> list[int]:
        assert 0x010F not in photo.getexif()
        return [photo.getexif().get(0x0112, 1), photo.width]

    exif = image.Exif()
    exif[0x0112], exif[0x010F] = 6, "maker"
    client = connect()
    # CMYK images are sent as TIFF. Pillow applies the orientation of a TIFF when it reads the file.
    for mode, seen in (("RGB", [6, 3]), ("CMYK", [1, 2])):
        file = io.BytesIO()
        image.new(mode, (3, 2)).save(file, "JPEG", exif=exif)
        assert client.orientation(image.open(file)) == seen, mode
    file = io.BytesIO()
    image.new("L", (3, 2)).save(file, "GIF", save_all=True, append_images=[image.new("L", (3, 2), 9)])
    with pytest.raises(ValueError, match="2 frames"):
        client.orientation(image.open(file))


def test_images_that_are_broken_or_too_large_are_refused(server: Server, connect: Connect) -> None:
    image = pytest.importorskip("PIL.Image")
    from frisbee_rpc._images import read

    def size(picture: object) -> int:
        return picture.width  # type: ignore[attr-defined, no-any-return]

    size.__annotations__ = {"picture": image.Image, "return": int}
    server(size)
    client = connect()
    with pytest.raises(TypeError, match="an image of Pillow expected"):
        client.size(b"raw")
    with pytest.raises(Status, match="of 9000 x 9000 takes 324000000 bytes, and 67108864 of 67108864 bytes are left"):
        # A pixel takes one bit in the file, but at least one byte in memory.
        client.size(image.new("1", (9000, 9000)))
    file = io.BytesIO()
    image.new("RGB", (40, 40)).save(file, "PNG")
    for data in (b"", b"no image", file.getvalue()[:40], b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n"):
        with pytest.raises(ValueError, match="cannot be read"):
            read(data)


def test_the_client_by_the_names_of_ucall_calls_functions(server: Server, connect: Connect) -> None:
    image = pytest.importorskip("PIL.Image")

    @server
    def sum(a: int, b: int):  # type: ignore[no-untyped-def]
        return a + b

    def shape(label: str, photo: object) -> object:
        return numpy.array([len(label), photo.width, photo.height])  # type: ignore[attr-defined]

    shape.__annotations__ = {"label": str, "photo": image.Image, "return": numpy.ndarray}
    server(shape)

    @server
    def fail() -> None:
        raise Status(Code.NOT_FOUND, "nothing is there")

    connect()
    host, port = server.address.split(":")
    with ucall.Client(host, int(port)) as client:
        assert client.sum(a=2, b=3).json == client.sum(2, 3).json == 5
        request = {"method": "sum", "params": {"a": 2, "b": 2}, "jsonrpc": "2.0", "id": 100}
        assert client(request).json == 4 and client({**request, "params": [1, 2]}).json == 3
        photo = image.new("RGB", (4, 5))
        assert list(client.shape(label="abc", photo=photo).numpy) == [3, 4, 5]
        failed = client.fail()
        with pytest.raises(Status, match="nothing is there"):
            failed.json


def test_the_result_of_a_response_is_bytes_an_array_or_an_image() -> None:
    image = pytest.importorskip("PIL.Image")
    file = io.BytesIO()
    image.new("L", (2, 3)).save(file, "PNG")
    assert ucall.Response(file.getvalue()).image.size == (2, 3)
    assert ucall.Response(numpy.zeros((3, 2), "uint8")).image.size == (2, 3)
    assert ucall.Response(bytearray(b"a")).bytes == b"a"
    assert list(ucall.Response([1, 2]).numpy) == [1, 2]


NAMES = """
syntax = "proto3";
package odd;
service Odd { rpc Echo(Names) returns (Names); }
message Names {
  int32 class = 1;
  int32 mro = 2;
  int32 __init__ = 3;
  int32 __slots__ = 4;
  int32 _HAS_DEFAULT_FACTORY = 5;
  repeated int32 _dflt_mro = 6;
  int32 self = 7;
  Kind kind = 8;
}
enum Kind { None = 0; mro = 1; name = 2; _sunder_ = 3; __init__ = 4; real = 5; plain = 6; }
"""


def test_names_of_a_schema_that_python_has_itself_get_underscores() -> None:
    schema = Schema.parse([("odd.proto", NAMES)])
    forms = classes(schema, schema.methods())
    names = ["class_", "mro", "_init__", "_slots__", "_HAS_DEFAULT_FACTORY_", "_dflt_mro_", "self", "kind"]
    assert list(forms["odd.Names"].__match_args__) == names
    assert list(forms["odd.Kind"].__members__) == [
        "None_", "VALUE_mro", "VALUE_name", "sunder_", "init__", "VALUE_real", "plain",
    ]  # fmt: skip
    message = forms["odd.Names"](1, 2, 3, 4, 5, [6], 7, forms["odd.Kind"](4))
    api = Api(schema, forms, {})
    assert api.decode("odd.Names", api.encode("odd.Names", message)) == message


def test_fields_of_a_server_with_one_name_in_python_are_distinct() -> None:
    """Protobuf compilers reject such a schema, but a server may report it by reflection."""
    fields = [(name, "plain", "int", "") for name in ("class_", "class", "__init__", "_init__")]
    assert list(getattr(_class("Odd", fields, {}), "__match_args__")) == ["class_", "class__", "_init__", "_init___"]
