"""Calls over a connection on loopback."""

from typing import Iterator

import pytest
from frisbee_rpc import Client, Code, Status

from greeter import server


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    server.start("127.0.0.1:0")
    with Client(server.address) as client:
        yield client
    server.stop()


def test_greeting_has_the_name(client: Client) -> None:
    assert client.greet("Ada") == "Hello, Ada!"


def test_empty_name_is_invalid(client: Client) -> None:
    with pytest.raises(Status) as raised:
        client.greet("")
    assert raised.value.code is Code.INVALID_ARGUMENT


def test_verses_arrive_in_order(client: Client) -> None:
    assert list(client.recite("Ada")) == [f"Hello {verse}, Ada!" for verse in range(1, 4)]
