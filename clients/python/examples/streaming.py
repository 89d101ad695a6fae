"""Streams in both directions. A generator produces a stream of replies, and a parameter may be an iterator of requests.
"""

import asyncio
from typing import AsyncIterator, Iterator

from frisbee_rpc import AsyncClient, Server

server = Server("example.Streams")


@server
def count(limit: int) -> Iterator[int]:
    yield from range(limit)


@server
async def mean(numbers: AsyncIterator[float]) -> float:
    values = [number async for number in numbers]
    return sum(values) / len(values)


@server
async def shout(words: AsyncIterator[str]) -> AsyncIterator[str]:
    async for word in words:
        yield word.upper()


async def main() -> None:
    started = asyncio.Event()
    serving = asyncio.create_task(server.serve("127.0.0.1:0", started=started.set))
    await started.wait()
    async with AsyncClient(server.address) as client:
        print("count:", [number async for number in client.count(5)])
        print("mean:", await client.mean([1.0, 2.0, 6.0]))
        print("shout:", [word async for word in client.shout(["a", "b"])])
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)


asyncio.run(main())
