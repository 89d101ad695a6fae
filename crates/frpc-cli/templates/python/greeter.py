"""The service. `python server.py` serves it, `python client.py` calls it."""

from typing import Iterator

from frisbee_rpc import Code, Server, Status

server = Server("greet.Greeter", protocols=["json-rpc", "http"])


@server
def greet(name: str) -> str:
    """Greets one person."""
    if not name:
        raise Status(Code.INVALID_ARGUMENT, "the name is empty")
    return f"Hello, {name}!"


@server
def recite(name: str) -> Iterator[str]:
    """Greets one person several times."""
    for verse in range(1, 4):
        yield f"Hello {verse}, {name}!"
