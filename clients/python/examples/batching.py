"""Combines calls of many clients into one call of a model. For the model, a batch costs little more than a single call.
"""

import asyncio
import time

from frisbee_rpc import AsyncClient, Server

server = Server("example.Model")
sizes: list[int] = []


@server.batch(max_size=32, max_delay="5ms")
def length(texts: list[str]) -> list[int]:
    sizes.append(len(texts))
    time.sleep(0.01)  # the cost of a batch of any size
    return [len(text) for text in texts]


async def main() -> None:
    with server.start("127.0.0.1:0"):
        async with AsyncClient(server.address) as client:
            texts = ["a" * number for number in range(200)]
            lengths = await asyncio.gather(*(client.length(text) for text in texts))
    print("calls:", len(lengths), "right:", list(lengths) == list(range(200)), "in fewer batches:", len(sizes) < 100)


asyncio.run(main())
