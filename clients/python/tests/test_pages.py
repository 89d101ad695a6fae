"""The code of docs/python.md and of the package's README."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from .conftest import LIMIT, program

FOLDER = Path(__file__).parent.parent


def blocks(page: Path) -> list[str]:
    """The blocks of Python on a page."""
    parts = page.read_text().split("```python\n")[1:]
    return [part.split("```")[0] for part in parts]


@pytest.mark.parametrize("page", [FOLDER / "../../docs/python.md", FOLDER / "README.md"], ids=["page", "readme"])
def test_the_blocks_of_a_page_run(page: Path) -> None:
    server, client, *others = blocks(page)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    serving = subprocess.Popen([sys.executable, "-c", server.replace("127.0.0.1:8545", address)])
    try:
        # The client waits for its server for some seconds by itself; before that, for the start of the interpreter.
        until = time.monotonic() + LIMIT
        while time.monotonic() < until:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", int(address.rsplit(":")[1]))) == 0:
                    break
        program(client.replace("127.0.0.1:8545", address))
    finally:
        serving.terminate()
        serving.wait(LIMIT)
    for other in others:
        program(other)
