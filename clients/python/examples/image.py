"""Sends images as byte arrays with the dimensions rows, columns and colors. Pillow converts images to such arrays and
back."""

import numpy
from numpy.typing import NDArray

from frisbee_rpc import Client, Server

try:
    from PIL import Image
except ImportError:
    Image = None  # type: ignore[assignment]

server = Server("example.Images")


@server
def grey(image: NDArray[numpy.uint8]) -> NDArray[numpy.uint8]:
    if Image is not None:
        return numpy.asarray(Image.fromarray(image).convert("L"))
    return (image @ numpy.array([0.299, 0.587, 0.114])).round().astype(numpy.uint8)


with server.start("127.0.0.1:0"), Client(server.address) as client:
    red = numpy.zeros((64, 48, 3), dtype=numpy.uint8)
    red[..., 0] = 255
    print("grey:", client.grey(red).shape, client.grey(red)[0, 0])
