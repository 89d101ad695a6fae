"""Compares one client and 32 clients of a Python server, each in its own process, over common protocols.

    python bench/clients.py [SECONDS]

Prints, for each candidate, the duration of a call of a single client, and the calls per second of 32 clients, with
clients and server on one machine. The candidates take turns in several rounds, and the medians are printed. Build the
wheel in release mode first.
"""

from __future__ import annotations

import importlib.util
import multiprocessing
import socket
import statistics
import subprocess
import sys
import time
from typing import Callable

from calls import FASTAPI, GRPC, OURS, ROUNDS, SOCKETS, UCALL, grpc_client, httpx_client, listens, ours, sockets_client, ucall_client

OURS_JSON_RPC = OURS.replace("Server()", 'Server(protocols=["json-rpc"])')

FASTAPI_WEBSOCKET = FASTAPI.replace(
    '@app.get("/sum")',
    """
@app.websocket("/sum")
async def sums(socket: fastapi.WebSocket):
    await socket.accept()
    try:
        while True:
            call = await socket.receive_json()
            await socket.send_json(call["a"] + call["b"])
    except fastapi.WebSocketDisconnect:
        pass
@app.get("/sum")""",
)


def json_rpc_client(address: str, calls: int) -> None:
    import json

    host, port = address.split(":")
    with socket.create_connection((host, int(port))) as connection, connection.makefile("rwb") as file:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for number in range(calls):
            params = {"a": number, "b": 1}
            call = {"jsonrpc": "2.0", "id": number, "method": "python.Functions.sum", "params": params}
            file.write(json.dumps(call).encode() + b"\n")
            file.flush()
            # The JSON mapping of proto3 encodes 64-bit integers as strings.
            assert int(json.loads(file.readline())["result"]["result"]) == number + 1


def websocket_client(address: str, calls: int) -> None:
    import json

    from websockets.sync.client import connect

    with connect(f"ws://{address}/sum") as connected:
        for number in range(calls):
            connected.send(json.dumps({"a": number, "b": 1}))
            assert json.loads(connected.recv()) == number + 1


WEB = ["fastapi", "uvicorn", "uvloop", "httptools"]
CANDIDATES: dict[str, tuple[str, Callable[[str, int], None], list[str]]] = {
    "frisbee-rpc": (OURS, ours, []),
    "frisbee-rpc, called by JSON-RPC over plain sockets": (OURS_JSON_RPC, json_rpc_client, []),
    "JSON-RPC over plain sockets, a thread for each client": (SOCKETS, sockets_client, []),
    "grpcio": (GRPC, grpc_client, ["grpc"]),
    "FastAPI over WebSocket": (FASTAPI_WEBSOCKET, websocket_client, [*WEB, "websockets"]),
    "FastAPI over REST, called by httpx": (FASTAPI, httpx_client, [*WEB, "httpx"]),
    "UCall, posix, a connection for each call": (UCALL, ucall_client, ["ucall"]),
}


def work(address: str, name: str, ready, go, done, seconds: float) -> None:  # type: ignore[no-untyped-def]
    """Makes calls on one connection for about this number of seconds, and reports the calls per second."""
    call = CANDIDATES[name][1]
    call(address, 1)
    ready.release()
    go.wait()
    begun = time.monotonic()
    call(address, 50)
    calls = int(50 * seconds / (time.monotonic() - begun)) + 1
    begun = time.monotonic()
    call(address, calls)
    done.put(calls / (time.monotonic() - begun))


def rate(address: str, name: str, clients: int, seconds: float) -> float:
    """Returns the calls per second of this number of clients together."""
    context = multiprocessing.get_context("spawn")
    ready, go, done = context.Semaphore(0), context.Event(), context.SimpleQueue()
    processes = [context.Process(target=work, args=(address, name, ready, go, done, seconds), daemon=True) for _ in range(clients)]
    for process in processes:
        process.start()
    for _ in processes:
        assert ready.acquire(timeout=120), f"a client of {name} does not come"
    go.set()
    results = [done.get() for _ in processes]
    for process in processes:
        process.join()
    return sum(results)


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 2.0
    results: dict[str, list[tuple[float, float]]] = {}
    for turn in range(ROUNDS):
        for at, (name, (source, _, needs)) in enumerate(CANDIDATES.items()):
            missing = [need for need in needs if importlib.util.find_spec(need) is None]
            address = f"127.0.0.1:{18645 + at}"
            if missing:
                if turn == 0:
                    print(f"skipped: {name}, since {', '.join(missing)} is not installed")
                continue
            server = subprocess.Popen([sys.executable, "-c", source, address], stdout=subprocess.DEVNULL)
            try:
                if listens(server, address):
                    results.setdefault(name, []).append((rate(address, name, 1, seconds), rate(address, name, 32, seconds)))
                else:
                    print(f"skipped: {name}, since its server does not start")
            finally:
                server.terminate()
                server.wait()
    print("| | one client, us a call | 32 clients, calls/s |\n|---|---|---|")
    for name, rounds in results.items():
        one, many = (statistics.median(side) for side in zip(*rounds))
        print(f"| {name} | {1e6 / one:.0f} | {many:.0f} |", flush=True)


if __name__ == "__main__":
    main()
