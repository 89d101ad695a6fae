"""frpc clients and servers in Python.

A server consists of functions with type hints, which a client calls by name::

    from frisbee_rpc import Client, Server

    server = Server()

    @server
    def sum(a: int, b: int) -> int:
        return a + b

    with server.start("127.0.0.1:0"):
        assert Client(server.address).sum(a=2, b=2) == 4
"""

from __future__ import annotations

import atexit
import os

from ._client import AsyncClient, Client, Tls
from ._datagrams import AsyncUdpClient, UdpClient
from ._native import Context, Schema, forked
from ._server import Server, ServerTls, forget_all, stop_all
from ._status import Code, Metadata, Status
from ._topics import AsyncSubscription, AsyncTopics, Message, Position, Subscription, Topics

__all__ = [
    "AsyncClient",
    "AsyncSubscription",
    "AsyncTopics",
    "AsyncUdpClient",
    "Client",
    "Code",
    "Context",
    "Message",
    "Metadata",
    "Position",
    "Schema",
    "Server",
    "ServerTls",
    "Status",
    "Subscription",
    "Tls",
    "Topics",
    "UdpClient",
    "serve",
]

serve = Server()
"""A default server for simple programs."""

os.register_at_fork(after_in_child=forked)
os.register_at_fork(after_in_child=forget_all)
atexit.register(stop_all)
