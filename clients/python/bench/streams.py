"""Measures the CPU time that a server takes per token, with clients that each receive a token every 50 ms.

    python bench/streams.py [CLIENTS [SECONDS [LOOP]]]

The first row is the floor: an event loop that runs the same generators and sends nothing. In the second row, the loop
also writes each token to a plain transport of asyncio. The candidates take turns in several rounds. Prints medians: the
CPU time of the process per token, its difference to the floor of the same round, and the share of the tokens that
arrived in time. LOOP is "asyncio" or "uvloop". Build the wheel in release mode first.
"""

from __future__ import annotations

import asyncio
import importlib.util
import statistics
import subprocess
import sys
import time
from typing import Any

from calls import ROUNDS, listens, server_cpu

TOKENS = """
import asyncio, sys
from typing import AsyncIterator
async def tokens() -> AsyncIterator[str]:
    while True:
        await asyncio.sleep(0.05)
        yield "data: token\\n\\n"
if sys.argv[2] == "uvloop":
    import uvloop
    asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())
"""

OURS = TOKENS + """
from frisbee_rpc import Server
server = Server()
server(tokens)
server.run(sys.argv[1])
"""

FASTAPI = TOKENS + """
import fastapi, fastapi.responses, uvicorn
app = fastapi.FastAPI()
@app.get("/tokens")
async def stream():
    return fastapi.responses.StreamingResponse(tokens(), media_type="text/event-stream")
host, port = sys.argv[1].split(":")
uvicorn.run(app, host=host, port=int(port), loop=sys.argv[2], http="httptools", log_level="warning")
"""

#: Starts a generator for each connection. A connection that sends nothing receives the number of all tokens.
PLAIN = TOKENS + """
count = 0
async def produce(writer):
    global count
    async for token in tokens():
        count += 1
        if SENDS:
            writer.write(token.encode())
async def start(reader, writer):
    if await reader.read(1):
        await produce(writer)
    writer.write(b"%d" % count)
    writer.close()
async def main():
    host, port = sys.argv[1].split(":")
    async with await asyncio.start_server(start, host, int(port)) as server:
        await server.serve_forever()
asyncio.run(main())
"""

FLOOR = PLAIN.replace("SENDS", "False")
TRANSPORT = PLAIN.replace("SENDS", "True")


class Load:
    """Clients that count the tokens that they receive."""

    def __init__(self, address: str) -> None:
        self.address, self.tokens = address, 0

    async def count(self) -> int:
        return self.tokens

    async def run(self) -> None:
        from frisbee_rpc import AsyncClient

        async with AsyncClient(self.address) as client:
            async for _ in client.tokens():
                self.tokens += 1


class Text(Load):
    """Clients that read the tokens as text after they have sent a request for them."""

    async def run(self) -> None:
        reader, writer = await asyncio.open_connection(*self.address.split(":"))
        writer.write(f"GET /tokens HTTP/1.1\r\nHost: {self.address}\r\n\r\n".encode())
        try:
            while data := await reader.read(4096):
                self.tokens += data.count(b"token")
        finally:
            writer.close()


class Floor(Text):
    """Clients that receive no tokens, which the server counts."""

    async def count(self) -> int:
        reader, writer = await asyncio.open_connection(*self.address.split(":"))
        writer.write_eof()
        count = int(await reader.read())
        writer.close()
        return count


CANDIDATES: dict[str, tuple[str, type[Load], list[str]]] = {
    "the generators alone": (FLOOR, Floor, []),
    "a plain transport": (TRANSPORT, Text, []),
    "frisbee-rpc": (OURS, Load, []),
    "FastAPI": (FASTAPI, Text, ["fastapi", "uvicorn", "httptools"]),
}


async def measure(name: str, loop: str, address: str, clients: int, seconds: float) -> list[float]:
    """Returns the CPU time per token in microseconds, and the share of the tokens that arrived in time."""
    source, kind, _ = CANDIDATES[name]
    process = subprocess.Popen([sys.executable, "-c", source, address, loop], stderr=subprocess.DEVNULL)
    try:
        assert listens(process, address), f"the server of {name} does not start"
        load, tasks = kind(address), []
        for _ in range(clients):
            tasks.append(asyncio.create_task(load.run()))
            await asyncio.sleep(0.002)  # Spread the tokens over time.
        await asyncio.sleep(1.0)
        begun, count, cpu = time.monotonic(), await load.count(), server_cpu(process)
        await asyncio.sleep(seconds)
        cpu, count, took = server_cpu(process) - cpu, await load.count() - count, time.monotonic() - begun
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return [cpu / max(count, 1) * 1e6, count / (clients * 20 * took)]
    finally:
        process.kill()
        process.wait()


def main() -> None:
    clients = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 4.0
    loop = sys.argv[3] if len(sys.argv) > 3 else "asyncio"
    results: dict[str, list[list[float]]] = {}
    for turn in range(ROUNDS):
        floor = 0.0
        for at, (name, (*_, needs)) in enumerate(CANDIDATES.items()):
            if missing := [need for need in needs if importlib.util.find_spec(need) is None]:
                print(f"skipped: {name}, since {', '.join(missing)} is not installed")
                continue
            address = f"127.0.0.1:{18745 + turn * len(CANDIDATES) + at}"
            token, share = asyncio.run(measure(name, loop, address, clients, seconds))
            floor = floor or token
            results.setdefault(name, []).append([token, token - floor, share])
    print(f"| {clients} clients, {loop} | us per token | over the floor | arrived |\n|---|---|---|---|")
    for name, rounds in results.items():
        token, over, share = (statistics.median(column) for column in zip(*rounds))
        print(f"| {name} | {token:.1f} | {over:.1f} | {share:.2f} |", flush=True)


if __name__ == "__main__":
    main()
