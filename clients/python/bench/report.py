"""Prints the tables of docs/performance/python.md: small calls, arrays of 1 MiB in both directions, batches, and the
import time.

    python bench/report.py [CALLS]

CPU time is measured as in calls.py, with candidates taking turns. Throughput and latency require an otherwise idle
machine. Build the wheel in release mode first.
"""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
import time
from typing import Any, Callable

from calls import CANDIDATES, FLOOR, HEAD, PLAIN, ROUNDS, compare, listens, plain_client

ARRAY = """
import sys, numpy
from frisbee_rpc import Server
server = Server()
@server
def echo(array: numpy.ndarray) -> numpy.ndarray:
    return array
server.run(sys.argv[1])
"""

ARRAY_GRPC = """
import sys, numpy
from concurrent import futures
import grpc
def echo(request, context):
    return numpy.frombuffer(request, "float32").tobytes()
handlers = {"echo": grpc.unary_unary_rpc_method_handler(echo)}
server = grpc.server(futures.ThreadPoolExecutor(4))
server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("bench", handlers),))
server.add_insecure_port(sys.argv[1])
server.start()
server.wait_for_termination()
"""

MODEL = """
import sys, threading, time
from frisbee_rpc import Server
server = Server(threads=64)
lock = threading.Lock()
def run(count):
    # Imitates a model that takes the same time for a batch as for a single item.
    with lock:
        time.sleep(0.002)
@server(blocking=True)
def single(number: int) -> int:
    run(1)
    return 2 * number
@server.batch(max_size=64, max_delay="2ms")
def batch(numbers: list[int]) -> list[int]:
    run(len(numbers))
    return [2 * number for number in numbers]
server.run(sys.argv[1])
"""


def arrays(address: str, calls: int) -> None:
    import numpy

    from frisbee_rpc import Client

    array = numpy.arange(256 * 1024, dtype="float32")
    with Client(address) as client:
        for _ in range(calls):
            assert client.echo(array)[-1] == array[-1]


def arrays_asyncio(address: str, calls: int) -> None:
    import numpy

    from frisbee_rpc import AsyncClient

    async def main() -> None:
        array = numpy.arange(256 * 1024, dtype="float32")
        async with AsyncClient(address) as client:
            for _ in range(calls):
                assert (await client.echo(array))[-1] == array[-1]

    asyncio.run(main())


def arrays_plain(address: str, calls: int) -> None:
    plain_client(address, calls, 4 + 1024 * 1024)


def arrays_grpc(address: str, calls: int) -> None:
    import grpc
    import numpy

    array = numpy.arange(256 * 1024, dtype="float32")
    with grpc.insecure_channel(address) as channel:
        echo = channel.unary_unary("/bench/echo")
        for _ in range(calls):
            assert numpy.frombuffer(echo(array.tobytes()), "float32")[-1] == array[-1]


ARRAYS_FLOOR = "plain sockets, into one buffer"

ARRAYS: dict[str, tuple[str, Callable[[str, int], None], list[str]]] = {
    "frisbee-rpc": (ARRAY, arrays, ["numpy"]),
    "frisbee-rpc, asyncio": (ARRAY, arrays_asyncio, ["numpy"]),
    ARRAYS_FLOOR: (PLAIN, arrays_plain, []),
    "grpcio": (ARRAY_GRPC, arrays_grpc, ["numpy", "grpc"]),
}


async def load(call: Any, callers: int, calls: int) -> tuple[float, float]:
    """Returns the calls per second, and the 99th percentile of the call durations in milliseconds."""
    took: list[float] = []

    async def caller() -> None:
        for number in range(calls):
            begun = time.perf_counter()
            assert await call(number) == 2 * number
            took.append(time.perf_counter() - begun)

    begun = time.perf_counter()
    await asyncio.gather(*(caller() for _ in range(callers)))
    return len(took) / (time.perf_counter() - begun), statistics.quantiles(took, n=100)[98] * 1e3


async def batches(address: str) -> None:
    from frisbee_rpc import AsyncClient

    async with AsyncClient(address) as client:
        for callers in (1, 64):
            rounds: dict[str, list[tuple[float, float]]] = {"single": [], "batch": []}
            for _ in range(ROUNDS):
                for name, results in rounds.items():
                    results.append(await load(getattr(client, name), callers, 20))
            for name, results in rounds.items():
                rate, p99 = (statistics.median(side) for side in zip(*results))
                print(f"| {name}, {callers} callers | {rate:.0f} | {p99:.1f} |", flush=True)


def imports() -> None:
    text = "import time; t = time.perf_counter(), time.process_time(); import frisbee_rpc; print(time.perf_counter() - t[0], time.process_time() - t[1])"
    runs = [subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stdout.split() for _ in range(21)]
    wall, cpu = (statistics.median(float(run[at]) for run in runs) * 1e3 for at in (0, 1))
    print(f"An import takes {wall:.1f} ms, with {cpu:.1f} ms of processor time.")


def main() -> None:
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    print(HEAD.format("small calls"))
    compare(CANDIDATES, FLOOR, calls)
    print("\n" + HEAD.format("arrays of 1 MiB there and back"))
    compare(ARRAYS, ARRAYS_FLOOR, max(calls // 20, 20))
    print("\n| a model of 2 ms | calls/s | p99, ms |\n|---|---|---|")
    address = "127.0.0.1:18599"
    server = subprocess.Popen([sys.executable, "-c", MODEL, address])
    try:
        assert listens(server, address)
        asyncio.run(batches(address))
    finally:
        server.terminate()
    print()
    imports()


if __name__ == "__main__":
    main()
