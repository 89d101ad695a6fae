"""Helpers that several tests share: fixtures with servers of functions, and separate programs."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import subprocess
import sys
from typing import Any, Callable, Coroutine, Iterator

import pytest

from frisbee_rpc import Client, Server
from frisbee_rpc._client import inbox_of

LIMIT = 30.0
"""The longest wait for an event that must happen, in seconds."""


@pytest.fixture
def server() -> Iterator[Server]:
    """Provides a server. A test adds functions to it before it starts it."""
    server = Server("test.Functions")
    yield server
    server.stop()


@pytest.fixture
def connect(server: Server) -> Iterator[Callable[..., Client]]:
    """Provides a function that starts the server and connects a client to it."""
    clients: list[Client] = []

    def connect(**options: Any) -> Client:
        server.start("127.0.0.1:0")
        clients.append(Client(server.address, timeout=LIMIT, **options))
        return clients[-1]

    yield connect
    for client in clients:
        client.close()


@pytest.fixture(autouse=True)
def interrupts() -> None:
    """Restores the default handler of Ctrl-C. A shell disables it for programs that it starts in the background."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def run(main: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    """Runs a coroutine function with a time limit."""
    return asyncio.run(asyncio.wait_for(main(), LIMIT))


def block_until_callback() -> None:
    """Blocks the running loop until another thread has queued a callback for it."""
    assert select.select([inbox_of(asyncio.get_running_loop())], [], [], LIMIT)[0]


def program(text: str, *, code: int = 0, limit: float = LIMIT, **environment: str) -> str:
    """Runs a separate program and returns its output. The program must end with the given exit code."""
    ran = subprocess.run(
        [sys.executable, "-c", f"import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n{text}"],
        capture_output=True,
        text=True,
        timeout=limit,
        env={**os.environ, **environment},
    )
    assert ran.returncode == code, (ran.returncode, ran.stdout, ran.stderr)
    return ran.stdout
