"""Functions that run in the processes of a server."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from frisbee_rpc import Context, Server

from .conftest import LIMIT, program

PROGRAM = """
import os, time
from typing import Any
import numpy
from frisbee_rpc import Client, Code, Server, Status

server = Server(processes=1)

@server(process=True)
def pid(array: numpy.ndarray) -> list[int]:
    return [os.getpid(), int(array.sum())]

@server(process=True)
def fail(kind: str) -> None:
    if kind == "status":
        raise Status(Code.NOT_FOUND, "nothing", metadata={"hint": "x"})
    raise ValueError("secret")

@server(process=True)
def die() -> None:
    os._exit(3)

@server
def plain() -> int:
    return 7

@server(process=True)
def sleep(seconds: float) -> None:
    time.sleep(seconds)

class Picky(Exception):
    def __init__(self, first, second):
        super().__init__(f"{first} {second}")

class Broken:
    def __reduce__(self):
        return eval, ("1 / 0",)

@server(process=True)
def picky() -> int:
    raise Picky("a", "b")

@server(process=True)
def broken() -> Any:
    return Broken()

@server(process=True)
def leave() -> int:
    raise SystemExit(3)

def status(call):
    try:
        call()
    except Status as status:
        return status
"""


def ran(folder: Path, main: str) -> str:
    """Runs a program in a file, so that its processes can import the functions. Returns its output."""
    file = folder / "served.py"
    body = "\n".join(f"    {line}" for line in main.strip().splitlines())
    guarded = f"with server.start('127.0.0.1:0'), Client(server.address) as client:\n{body}"
    file.write_text(PROGRAM + "\nif __name__ == '__main__':\n" + "\n".join(f"    {line}" for line in guarded.splitlines()))
    text = f"import runpy, sys; sys.argv = [{str(file)!r}]; runpy.run_path({str(file)!r}, run_name='__main__')"
    # The limit is long, because each new process imports NumPy. On a busy machine this takes seconds.
    return program(text, limit=10 * LIMIT)


def test_a_function_runs_in_another_process_that_stays(tmp_path: Path) -> None:
    main = """
first = client.pid(numpy.arange(100_000))
again = client.pid(numpy.arange(3))
print(first[0] != os.getpid(), first[0] == again[0], first[1], again[1])
"""
    assert ran(tmp_path, main) == "True True 4999950000 3\n"


def test_exceptions_of_a_process_are_those_of_the_call(tmp_path: Path) -> None:
    main = """
found = status(lambda: client.fail("status"))
print(found.code.name, found.message, found.metadata)
print(status(lambda: client.fail("other")))
"""
    assert ran(tmp_path, main) == "NOT_FOUND nothing {'hint': 'x'}\nINTERNAL: the handler has failed\n"


def test_a_process_that_dies_fails_its_calls_and_is_replaced(tmp_path: Path) -> None:
    """Regression test: in Python 3.12 and later, the end of the call dropped the pool while it held a lock that the
    pool's finalizer acquires."""
    main = """
import threading
worker = client.pid(numpy.arange(1))[0]
codes = []
waiting = [threading.Thread(target=lambda: codes.append(status(lambda: client.sleep(60)).code.name)) for _ in range(3)]
for thread in waiting:
    thread.start()
while server._processes[1]._waiting < 3:
    pass
os.kill(worker, 9)
for thread in waiting:
    thread.join()
print(codes, status(client.die).code.name, client.pid(numpy.arange(2))[1], client.plain())
server.stop()
print("stopped")
"""
    assert ran(tmp_path, main) == "['UNAVAILABLE', 'UNAVAILABLE', 'UNAVAILABLE'] UNAVAILABLE 1 7\nstopped\n"


def test_calls_that_wait_are_bounded_and_those_given_up_do_not_run(tmp_path: Path) -> None:
    main = """
import threading
client.pid(numpy.arange(1))
threads = [threading.Thread(target=lambda: status(lambda: client.with_options(timeout=2).sleep(1.0))) for _ in range(40)]
for thread in threads:
    thread.start()
while (code := status(lambda: client.with_options(timeout=0.5).sleep(0.0))) is None or code.code is not Code.RESOURCE_EXHAUSTED:
    pass
print("refused")
for thread in threads:
    thread.join()
print(client.pid(numpy.arange(2))[1])
"""
    assert ran(tmp_path, main) == "refused\n1\n"


@pytest.mark.parametrize("method", ["picky", "broken", "leave"])
def test_outcome_that_does_not_unpickle_fails_its_call_alone(tmp_path: Path, method: str) -> None:
    main = f"""
import threading
first = client.pid(numpy.arange(1))[0]
codes = []
slow = threading.Thread(target=lambda: codes.append(status(lambda: client.sleep(0.3))))
slow.start()
print(status(lambda: client.{method}()))
slow.join()
print(codes, client.pid(numpy.arange(1))[0] == first)
"""
    assert ran(tmp_path, main) == "INTERNAL: the handler has failed\n[None] True\n"


def test_traceback_of_a_process_is_logged(tmp_path: Path) -> None:
    main = """
import io, logging
logged = io.StringIO()
logging.getLogger("frisbee_rpc").addHandler(logging.StreamHandler(logged))
status(lambda: client.picky())
print("raise Picky" in logged.getvalue())
"""
    assert ran(tmp_path, main) == "True\n"


def test_processes_end_with_a_server_that_is_killed(tmp_path: Path) -> None:
    file = tmp_path / "served.py"
    main = """
if __name__ == '__main__':
    server.start('127.0.0.1:0')
    with Client(server.address) as client:
        print(client.pid(numpy.arange(1))[0], flush=True)
    os.kill(os.getpid(), 9)
"""
    file.write_text(PROGRAM + main)
    # The process inherits the pipe, so the pipe is closed only when the process has exited.
    with subprocess.Popen([sys.executable, str(file)], stdout=subprocess.PIPE, text=True) as killed:
        assert killed.stdout is not None
        pid = int(killed.stdout.readline())
        assert killed.stdout.read() == ""
        assert killed.wait(LIMIT) == -9
    assert pid > 0


def test_only_plain_functions_run_in_processes() -> None:
    async def coroutine() -> int:
        return 1

    def with_context(context: Context) -> int:
        return 1

    for function in (coroutine, with_context):
        server = Server()
        server(process=True)(function)
        with pytest.raises(TypeError, match="in a process runs a plain function"):
            server.proto()
