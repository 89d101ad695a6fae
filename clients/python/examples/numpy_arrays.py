"""Arrays go as they are: a long one that comes is a view of the buffer that was received."""

import numpy
from numpy.typing import NDArray

from frisbee_rpc import Client, Server

server = Server("example.Arrays")


@server
def normalize(array: NDArray[numpy.float32]) -> NDArray[numpy.float32]:
    assert not array.flags.writeable
    return (array - array.mean()) / array.std()


with server.start("127.0.0.1:0"), Client(server.address) as client:
    array = numpy.arange(2**18, dtype="float32").reshape(512, 512)
    normal = client.normalize(array)
    print("shape:", normal.shape, "mean:", round(abs(float(normal.mean())), 3), "deviation:", round(float(normal.std()), 3))
