"""Sends NumPy arrays without conversion. A long received array is a view of the receive buffer."""

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
