"""Measures the CPU time of a small call at each end, compared with other installed libraries.

    python bench/calls.py [CALLS]

Each server runs in its own process. The CPU time of a process includes all its threads. The candidates take turns in
several rounds, and the medians are printed. Build the wheel in release mode first. FastAPI runs on uvloop with
httptools, and is called with httpx.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import resource
import socket
import statistics
import subprocess
import sys
import time
from typing import Any, Callable

ROUNDS = 5

OURS = """
import sys
from frisbee_rpc import Server
server = Server()
@server
def sum(a: int, b: int) -> int:
    return a + b
server.run(sys.argv[1])
"""

FASTAPI = """
import sys
import fastapi, uvicorn
app = fastapi.FastAPI()
@app.get("/sum")
async def sum(a: int, b: int) -> int:
    return a + b
host, port = sys.argv[1].split(":")
uvicorn.run(app, host=host, port=int(port), loop="uvloop", http="httptools", log_level="warning")
"""

GRPC = """
import sys
from concurrent import futures
import grpc
def sum(request, context):
    a, b = request.split()
    return b"%d" % (int(a) + int(b))
handlers = {"sum": grpc.unary_unary_rpc_method_handler(sum)}
server = grpc.server(futures.ThreadPoolExecutor(4))
server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("bench", handlers),))
server.add_insecure_port(sys.argv[1])
server.start()
server.wait_for_termination()
"""


#: A server that handles each connection on its own thread.
LISTEN = """
host, port = sys.argv[1].split(":")
listener = socket.create_server((host, int(port)))
while True:
    connection, _ = listener.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    threading.Thread(target=serve, args=(connection,), daemon=True).start()
"""

SOCKETS = """
import json, socket, sys, threading
def serve(connection):
    with connection, connection.makefile("rwb") as file:
        for line in file:
            call = json.loads(line)
            a, b = call["params"].values()
            file.write(json.dumps({"jsonrpc": "2.0", "id": call["id"], "result": a + b}).encode() + b"\\n")
            file.flush()
""" + LISTEN

#: A server that echoes its input through one buffer. This measures the cost of the kernel and of Python without any
#: library.
PLAIN = """
import socket, sys, threading
def serve(connection):
    buffer = memoryview(bytearray(1 << 21))
    while True:
        got = 0
        while got < 4 or got < 4 + int.from_bytes(buffer[:4], "little"):
            count = connection.recv_into(buffer[got:])
            if not count:
                return
            got += count
        connection.sendall(buffer[:got])
""" + LISTEN

UCALL = """
import sys
from ucall.posix import Server
host, port = sys.argv[1].split(":")
server = Server(hostname=host, port=int(port))
@server
def sum(a: int, b: int):
    return a + b
server.run()
"""


def ours(address: str, calls: int) -> None:
    from frisbee_rpc import Client

    with Client(address) as client:
        for number in range(calls):
            assert client.sum(number, 1) == number + 1


def ours_asyncio(address: str, calls: int) -> None:
    from frisbee_rpc import AsyncClient

    async def main() -> None:
        async with AsyncClient(address) as client:
            for number in range(calls):
                assert await client.sum(number, 1) == number + 1

    asyncio.run(main())


def ours_asyncio_32(address: str, calls: int) -> None:
    from frisbee_rpc import AsyncClient

    async def main() -> None:
        async with AsyncClient(address) as client:

            async def one(begin: int) -> None:
                for number in range(begin, calls, 32):
                    assert await client.sum(number, 1) == number + 1

            await asyncio.gather(*map(one, range(32)))

    asyncio.run(main())


def httpx_client(address: str, calls: int) -> None:
    import httpx

    with httpx.Client() as client:
        for number in range(calls):
            assert client.get(f"http://{address}/sum", params={"a": number, "b": 1}).json() == number + 1


def httpx_client_32(address: str, calls: int) -> None:
    import httpx

    async def main() -> None:
        async with httpx.AsyncClient() as client:

            async def one(begin: int) -> None:
                for number in range(begin, calls, 32):
                    reply = await client.get(f"http://{address}/sum", params={"a": number, "b": 1})
                    assert reply.json() == number + 1

            await asyncio.gather(*map(one, range(32)))

    asyncio.run(main())


def sockets_client(address: str, calls: int) -> None:
    import json

    host, port = address.split(":")
    with socket.create_connection((host, int(port))) as connection, connection.makefile("rwb") as file:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for number in range(calls):
            call = {"jsonrpc": "2.0", "id": number, "method": "sum", "params": {"a": number, "b": 1}}
            file.write(json.dumps(call).encode() + b"\n")
            file.flush()
            assert json.loads(file.readline())["result"] == number + 1


def plain_message(length: int) -> bytes:
    """Returns a message of this length for the echo server."""
    return (length - 4).to_bytes(4, "little") + bytes(length - 4)


def plain_client(address: str, calls: int, length: int = 16) -> None:
    host, port = address.split(":")
    message, buffer = plain_message(length), memoryview(bytearray(length))
    with socket.create_connection((host, int(port))) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(calls):
            connection.sendall(message)
            got = 0
            while got < length:
                got += connection.recv_into(buffer[got:])


def plain_asyncio_client(address: str, calls: int) -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        host, port = address.split(":")
        message, buffer = plain_message(16), memoryview(bytearray(16))
        with socket.socket() as connection:
            connection.setblocking(False)
            await loop.sock_connect(connection, (host, int(port)))
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for _ in range(calls):
                await loop.sock_sendall(connection, message)
                got = 0
                while got < len(message):
                    got += await loop.sock_recv_into(connection, buffer[got:])

    asyncio.run(main())


def plain_streams_client(address: str, calls: int) -> None:
    async def main() -> None:
        host, port = address.split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        message = plain_message(16)
        for _ in range(calls):
            writer.write(message)
            await reader.readexactly(len(message))
        writer.close()

    asyncio.run(main())


def ucall_client(address: str, calls: int) -> None:
    from ucall.client import Client

    host, port = address.split(":")
    for number in range(calls):
        # Opens a new client for each call, because the server does not keep connections alive.
        client = Client(host, int(port))
        assert client.sum(a=number, b=1).json == number + 1
        client.sock.close()


def grpc_aio_client(address: str, calls: int) -> None:
    import grpc.aio

    async def main() -> None:
        async with grpc.aio.insecure_channel(address) as channel:
            sum = channel.unary_unary("/bench/sum")
            for number in range(calls):
                assert await sum(b"%d 1" % number) == b"%d" % (number + 1)

    asyncio.run(main())


def grpc_aio_client_32(address: str, calls: int) -> None:
    import grpc.aio

    async def main() -> None:
        async with grpc.aio.insecure_channel(address) as channel:
            sum = channel.unary_unary("/bench/sum")

            async def one(begin: int) -> None:
                for number in range(begin, calls, 32):
                    assert await sum(b"%d 1" % number) == b"%d" % (number + 1)

            await asyncio.gather(*map(one, range(32)))

    asyncio.run(main())


def grpc_client(address: str, calls: int) -> None:
    import grpc

    with grpc.insecure_channel(address) as channel:
        sum = channel.unary_unary("/bench/sum")
        for number in range(calls):
            assert sum(b"%d 1" % number) == b"%d" % (number + 1)


#: The baseline with which all other rows are compared.
FLOOR = "plain sockets, 16 bytes"

CANDIDATES: dict[str, tuple[str, Callable[[str, int], None], list[str]]] = {
    "frisbee-rpc": (OURS, ours, []),
    "frisbee-rpc, asyncio": (OURS, ours_asyncio, []),
    "frisbee-rpc, asyncio, 32 tasks": (OURS, ours_asyncio_32, []),
    FLOOR: (PLAIN, plain_client, []),
    "plain asyncio, sock_sendall and sock_recv_into": (PLAIN, plain_asyncio_client, []),
    "plain asyncio, streams": (PLAIN, plain_streams_client, []),
    "FastAPI and httpx": (FASTAPI, httpx_client, ["fastapi", "uvicorn", "uvloop", "httptools", "httpx"]),
    "FastAPI and httpx, 32 tasks": (FASTAPI, httpx_client_32, ["fastapi", "uvicorn", "uvloop", "httptools", "httpx"]),
    "grpcio": (GRPC, grpc_client, ["grpc"]),
    "grpc.aio, to a server of grpcio": (GRPC, grpc_aio_client, ["grpc"]),
    "grpc.aio, to a server of grpcio, 32 tasks": (GRPC, grpc_aio_client_32, ["grpc"]),
    "JSON-RPC over plain sockets": (SOCKETS, sockets_client, []),
    "UCall, posix, a connection for each call": (UCALL, ucall_client, ["ucall"]),
}


#: The header row of a table.
HEAD = "| {} | client, us | x plain | server, us | x plain |\n|---|---|---|---|---|"


def listens(process: subprocess.Popen[bytes], address: str) -> bool:
    """Waits until a server accepts connections. Returns false if the server has exited, or after a minute."""
    host, port = address.split(":")
    until = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < until:
        with socket.socket() as probe:
            if probe.connect_ex((host, int(port))) == 0:
                return True
        time.sleep(0.05)
    process.kill()
    return False


def server_cpu(process: subprocess.Popen[bytes]) -> float:
    """Returns the CPU time of a process in seconds."""
    fields = open(f"/proc/{process.pid}/stat").read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(call: Callable[[str, int], None], process: subprocess.Popen[bytes], address: str, calls: int) -> list[float]:
    """Returns the CPU time per call in microseconds: of the client, and of the server."""
    call(address, 50)
    server = server_cpu(process)
    before = resource.getrusage(resource.RUSAGE_SELF)
    call(address, calls)
    after = resource.getrusage(resource.RUSAGE_SELF)
    client = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return [client / calls * 1e6, (server_cpu(process) - server) / calls * 1e6]


def compare(candidates: dict[str, tuple[str, Callable[[str, int], None], list[str]]], floor: str, calls: int) -> None:
    """Prints the rows of a table. Each row has the cost of a call with one installed candidate, in microseconds and
    relative to the baseline."""
    chosen: dict[str, tuple[subprocess.Popen[bytes], str, Any]] = {}
    for at, (name, (source, call, needs)) in enumerate(candidates.items()):
        missing = [need for need in needs if importlib.util.find_spec(need) is None]
        if missing:
            print(f"skipped: {name}, since {', '.join(missing)} is not installed")
            continue
        address = f"127.0.0.1:{18545 + at}"
        chosen[name] = subprocess.Popen([sys.executable, "-c", source, address]), address, call
    try:
        for name in [name for name, (process, address, _) in chosen.items() if not listens(process, address)]:
            print(f"skipped: {name}, since its server does not start")
            del chosen[name]
        results: dict[str, list[list[float]]] = {name: [] for name in chosen}
        for _ in range(ROUNDS):
            for name, (process, address, call) in chosen.items():
                results[name].append(measure(call, process, address, calls))
        for name, rounds in results.items():
            client, server = (statistics.median(side) for side in zip(*rounds))
            of_floor = [
                statistics.median(ours / max(least, 1e-3) for ours, least in zip(side, floors))
                for side, floors in zip(zip(*rounds), zip(*results[floor]))
            ]
            print(f"| {name} | {client:.1f} | {of_floor[0]:.2f} | {server:.1f} | {of_floor[1]:.2f} |", flush=True)
    finally:
        for process, *_ in chosen.values():
            process.terminate()


if __name__ == "__main__":
    print(HEAD.format("small calls"))
    compare(CANDIDATES, FLOOR, int(sys.argv[1]) if len(sys.argv) > 1 else 5000)
