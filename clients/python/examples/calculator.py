"""Serves functions with type hints, and calls them by name."""

from frisbee_rpc import Client, Code, Server, Status

server = Server("example.Calculator")


@server
def add(a: float, b: float) -> float:
    return a + b


@server
def divide(a: float, b: float) -> float:
    if b == 0:
        raise Status(Code.INVALID_ARGUMENT, "nothing divides by zero")
    return a / b


with server.start("127.0.0.1:0"), Client(server.address) as client:
    print("2 + 2 =", client.add(2, 2))
    print("1 / 4 =", client.divide(a=1, b=4))
    try:
        client.divide(1, 0)
    except Status as status:
        print("1 / 0 :", status)
    print(server.proto())
