"""Runs the code of docs/python.md, docs/python-servers.md and the package's README."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from .conftest import LIMIT, program

FOLDER = Path(__file__).parent.parent
PLUGIN = Path(os.environ.get("FRISBEE_PLUGIN", FOLDER / "../../target/debug/protoc-gen-frpc"))


def blocks(page: str) -> list[str]:
    """Returns the Python code blocks of a page."""
    parts = page.split("```python\n")[1:]
    return [part.split("```")[0] for part in parts]


def generated(folder: Path, page: str) -> None:
    """Generates modules from the schemas of a page."""
    schemas = page.split("```proto\n")[1:]
    for schema in schemas:
        proto = folder / "greet.proto"
        proto.write_text(schema.split("```")[0])
        subprocess.run([PLUGIN, "generate", "lang=py", folder / "greeting", proto], check=True, timeout=LIMIT)


@pytest.mark.parametrize(
    "pages",
    [[FOLDER / "../../docs/python.md", FOLDER / "../../docs/python-servers.md"], [FOLDER / "README.md"]],
    ids=["page", "readme"],
)
def test_the_blocks_of_a_page_run(pages: list[Path], tmp_path: Path) -> None:
    page = "".join(page.read_text() for page in pages)
    server, client, *others = blocks(page)
    if PLUGIN.exists():
        generated(tmp_path, page)
    else:
        others = [other for other in others if "greeting" not in other]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    serving = subprocess.Popen([sys.executable, "-c", server.replace("127.0.0.1:8545", address)])
    try:
        # Waits until the interpreter has started and the server listens. The client itself waits only a few seconds for
        # its server.
        until = time.monotonic() + LIMIT
        while time.monotonic() < until:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", int(address.rsplit(":")[1]))) == 0:
                    break
        program(client.replace("127.0.0.1:8545", address))
    finally:
        serving.terminate()
        serving.wait(LIMIT)
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    for other in others:
        program(other, PYTHONPATH=path)
