"""The client API of the package UCall, so that programs that use it only need to change an import.

Replies are objects with ``json``, ``bytes``, ``numpy`` and ``image``. The server's API has the same names already::

    from frisbee_rpc.ucall import Client, Server
"""

from __future__ import annotations

from typing import Any, Mapping, Sequence

from ._client import Client as _Client
from ._client import Tls
from ._server import Server
from ._status import Status

__all__ = ["Client", "Response", "Server"]


class Response:
    """The outcome of a call. Its result may be of any type."""

    def __init__(self, value: Any, status: Status | None = None) -> None:
        self._value, self._status = value, status

    def raise_for_status(self) -> None:
        """Raises the :class:`Status` of a call that has failed."""
        if self._status is not None:
            raise self._status

    @property
    def json(self) -> Any:
        """The result."""
        self.raise_for_status()
        return self._value

    @property
    def bytes(self) -> bytes:
        """The result as bytes."""
        return bytes(self.json)

    @property
    def numpy(self) -> Any:
        """The result as a NumPy array."""
        import numpy

        return numpy.asarray(self.json)

    @property
    def image(self) -> Any:
        """The result as a Pillow image. An array or the bytes of an image file are converted."""
        value = self.json
        if isinstance(value, (bytes, bytearray, memoryview)):
            from ._images import read

            return read(bytes(value))
        if hasattr(value, "__array_interface__") and not hasattr(value, "tobitmap"):
            from PIL import Image

            return Image.fromarray(value)
        return value


class Client:
    """Calls the functions of a server: ``client.sum(a=2, b=2).json``."""

    def __init__(self, uri: str = "127.0.0.1", port: int = 8545, *, tls: Tls | None = None) -> None:
        self._client = _Client(f"{uri}:{port}", tls=tls)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)

        def call(*values: Any, **fields: Any) -> Response:
            return self._call(name, values, fields)

        return call

    def __call__(self, request: Mapping[str, Any]) -> Response:
        """Makes the call that a JSON-RPC object describes by its ``method`` and ``params``."""
        params = request.get("params", ())
        if isinstance(params, Mapping):
            return self._call(request["method"], (), params)
        return self._call(request["method"], params, {})

    def _call(self, name: str, values: Sequence[Any], fields: Mapping[str, Any]) -> Response:
        try:
            return Response(getattr(self._client, name)(*values, **fields))
        except Status as status:
            return Response(None, status)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connection."""
        self._client.close()
