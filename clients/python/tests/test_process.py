"""Behavior that concerns the whole process: imports, forks, and the exit of the interpreter."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import frisbee_rpc

from .conftest import LIMIT, program

SERVER = """
import os, threading, time, asyncio
from frisbee_rpc import AsyncClient, Client, Server
server = Server()
came = threading.Event()
@server
def sum(a: int, b: int) -> int:
    return a + b
@server(blocking=True)
def wait() -> None:
    came.set()
    time.sleep(60)
server.start("127.0.0.1:0")
"""


def test_an_import_takes_few_milliseconds_and_no_asyncio() -> None:
    text = "import sys, frisbee_rpc; print([name for name in ('asyncio', 'numpy', 'dataclasses', 'logging') if name in sys.modules])"
    assert program(text) == "[]\n"


def test_installed_package_has_every_file_of_its_folder() -> None:
    """A file that is missing in a wheel may go unnoticed, because few programs need it. An example is the module for
    images."""
    source = Path(__file__).parents[1] / "python/frisbee_rpc"
    installed = Path(frisbee_rpc.__file__).parent
    names = [path.name for path in source.iterdir() if path.suffix in (".py", ".pyi", ".typed")]
    assert "py.typed" in names and "_images.py" in names
    assert [name for name in names if not (installed / name).is_file()] == []
    assert [name for name in names if (installed / name).read_bytes() != (source / name).read_bytes()] == []


def test_after_a_fork_calls_fail_and_do_not_hang() -> None:
    text = SERVER + """
client = Client(server.address)
assert client.sum(1, 2) == 3
pid = os.fork()
if pid == 0:
    try:
        client.sum(1, 2)
    except RuntimeError as error:
        print(error, flush=True)
    with Client(server.address) as own:
        print(own.sum(2, 3), flush=True)
    del client
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
print(client.sum(3, 4))
"""
    said = "it was made before this process was forked: connect after the fork\n"
    # A server does not survive a fork, so the child calls the server of its parent.
    assert program(text) == f"{said}5\n7\n"


def test_udp_clients_fail_after_a_fork() -> None:
    """Regression test: parent and child shared a socket and request ids, and received each other's replies."""
    text = """
import asyncio, os, socket, threading
from frisbee_rpc import AsyncUdpClient, UdpClient

bound = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
bound.bind(("127.0.0.1", 0))

def answer():
    for _ in range(4):
        _, sender = bound.recvfrom(65536)
        for number in (1, 2):
            bound.sendto(b'{"jsonrpc":"2.0","id":%d,"result":7}' % number, sender)

thread = threading.Thread(target=answer)
thread.start()
address = f"127.0.0.1:{bound.getsockname()[1]}"
client, other = UdpClient(address, timeout=30), AsyncUdpClient(address, timeout=30)
assert client.call("Get") == 7

def fail(call):
    try:
        call()
    except RuntimeError as error:
        print(error, flush=True)

async def main():
    assert await other.call("Get") == 7
    pid = os.fork()
    if pid == 0:
        fail(lambda: client.call("Get"))
        fail(lambda: client.notify("Get"))
        fail(lambda: other.call("Get").send(None))
        fail(lambda: other.notify("Get").send(None))
        client.close()
        other.close()
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    print(await other.call("Get"), client.call("Get"))

asyncio.run(main())
thread.join()
"""
    assert program(text) == 4 * "it was made before this process was forked: connect after the fork\n" + "7 7\n"


def test_the_interpreter_ends_with_calls_in_flight() -> None:
    text = SERVER + """
client = Client(server.address)
client.sum(1, 2)
threading.Thread(target=client.wait, daemon=True).start()
came.wait(20)
print("end")
server._native = None
"""
    assert program(text) == "end\n"


def test_the_interpreter_ends_with_calls_of_a_loop_in_flight() -> None:
    text = SERVER + """
async def main():
    client = await AsyncClient.connect(server.address)
    task = asyncio.create_task(client.wait())
    while not came.is_set():
        await asyncio.sleep(0.001)
    print("end")
asyncio.run(main())
server._native = None
"""
    assert program(text) == "end\n"


def test_the_interpreter_ends_with_a_subscription_and_a_client_that_serves() -> None:
    text = """
import threading
from frisbee_rpc import Client, Server, Status
server, agent = Server(topics=True), Server("test.Agent")
@server
def one() -> int:
    return 1
agent(one)
server.start("127.0.0.1:0")
subscription = Client(server.address).topics().subscribe("never")
def wait() -> None:
    try:
        next(subscription)
    except Status:
        pass
threading.Thread(target=wait, daemon=True).start()
client = Client(server.address, serves=agent)
print(client.one())
"""
    assert program(text) == "1\n"


def test_after_a_fork_topics_and_clients_that_serve_fail_and_do_not_hang() -> None:
    text = SERVER + """
agent = Server("test.Agent")
agent(sum)
broker = Server(topics=True)
broker.start("127.0.0.1:0")
topics = Client(broker.address).topics()
subscription = topics.subscribe("a")
client = Client(server.address, serves=agent)
assert client.sum(1, 2) == 3
pid = os.fork()
if pid == 0:
    for use in (lambda: client.sum(1, 2), lambda: topics.publish("a", "b"), lambda: next(subscription), topics.sync):
        try:
            use()
        except RuntimeError as error:
            print("refused", flush=True)
    del client, topics, subscription
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
topics.publish("a", "b")
print(next(subscription).value, client.sum(3, 4))
"""
    assert program(text) == 4 * "refused\n" + "b'b' 7\n"


def test_a_subscription_of_the_parent_is_dropped_in_a_child_without_its_locks() -> None:
    """Regression test: a publishing thread may hold a lock during the fork. About one child process in ten hung when it
    dropped the subscription."""
    text = """
import os, threading
from frisbee_rpc import Client, Server
broker = Server(topics=True)
broker.start("127.0.0.1:0")
topics = Client(broker.address).topics()
subscription = topics.subscribe("a")
over = threading.Event()
def publish():
    while not over.is_set():
        topics.publish("b", bytes(100))
threads = [threading.Thread(target=publish) for _ in range(2)]
for thread in threads:
    thread.start()
for _ in range(100):
    pid = os.fork()
    if pid == 0:
        subscription.close()
        del subscription, topics
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
over.set()
for thread in threads:
    thread.join()
topics.publish("a", "b")
print(next(subscription).value)
"""
    assert program(text) == "b'b'\n"


def test_a_stream_of_the_parent_is_dropped_in_a_child_without_its_locks() -> None:
    """Regression test: about one child process in forty hung when it dropped the stream."""
    text = """
import os, threading
from typing import Iterator
from frisbee_rpc import Client, Server
server = Server()
@server
def count(to: int) -> Iterator[int]:
    yield from range(to)
@server
def add(a: int, b: int) -> int:
    return a + b
server.start("127.0.0.1:0")
client = Client(server.address)
numbers = client.count(1_000_000)
assert next(numbers) == 0
over = threading.Event()
def call():
    while not over.is_set():
        client.add(1, 2)
threads = [threading.Thread(target=call) for _ in range(2)]
for thread in threads:
    thread.start()
for _ in range(100):
    pid = os.fork()
    if pid == 0:
        numbers.close()
        del numbers, client
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
over.set()
for thread in threads:
    thread.join()
print(next(numbers))
"""
    assert program(text) == "1\n"


@pytest.mark.parametrize("kind", ["def", "async def"])
def test_a_server_of_functions_or_coroutines_ends_with_ctrl_c(kind: str) -> None:
    text = f"""
from frisbee_rpc import Server
server = Server()
@server
{kind} sum(a: int, b: int) -> int:
    return a + b
import threading, os, signal
def interrupt():
    while server._native is None:
        pass
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
server.run("127.0.0.1:0")
print("stopped")
"""
    assert program(text) == "stopped\n"


def test_a_signal_that_another_thread_gets_ends_a_server() -> None:
    """Regression test: the server waited for a signal to interrupt its own thread. A Ctrl-C immediately before this
    wait, or on another thread, was lost."""
    text = """
from frisbee_rpc import Server
server = Server()
@server
def sum(a: int, b: int) -> int:
    return a + b
import os, signal, sys, threading
main = threading.get_ident()
def interrupt():
    seen = 0
    while seen < 1000:
        os.sched_yield()
        # In a wait without a limit this place does not change.
        place = sys._current_frames()[main]
        seen = seen + 1 if place.f_code.co_filename == threading.__file__ and server._native else 0
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)
threading.Thread(target=interrupt).start()
server.run("127.0.0.1:0")
print("stopped")
"""
    assert program(text) == "stopped\n"


DRAIN = """
import asyncio, os, signal, sys, threading
from frisbee_rpc import Client, Context, Server
server = Server("zoo.Zoo", protocols=["http"])
asynchronous = {asynchronous}
leave = threading.Event()
if asynchronous:
    @server
    async def wait() -> int:
        os.kill(os.getpid(), signal.SIGTERM)
        # The signal is noticed by the loop before this ends.
        await asyncio.get_running_loop().run_in_executor(None, leave.wait)
        return 7
else:
    @server(blocking=True)
    def wait() -> int:
        os.kill(os.getpid(), signal.SIGTERM)
        leave.wait()
        return 7
stop = server._native_stop = None
def call():
    while server._native is None:
        pass
    client = Client(server.address)
    client.wait
    thread = threading.Thread(target=lambda: print(client.wait(), flush=True))
    thread.start()
    # The server takes no new connections, or does not live any more.
    while server._native is not None:
        pass
    leave.set()
    thread.join()
threading.Thread(target=call).start()
server.run("127.0.0.1:0")
print("stopped")
"""


@pytest.mark.parametrize("asynchronous", [False, True])
def test_sigterm_lets_calls_in_flight_end(asynchronous: bool) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", DRAIN.replace("{asynchronous}", str(asynchronous))],
        capture_output=True, text=True, timeout=LIMIT,
    )  # fmt: skip
    assert (ran.returncode, ran.stdout) == (0, "7\nstopped\n"), ran
    assert ran.stderr.startswith("zoo.Zoo: listening on 127.0.0.1:"), ran.stderr
    assert ran.stderr.endswith(" (native, http); Ctrl-C stops it\n"), ran.stderr


def test_sigterm_ends_serve_and_lets_its_program_go_on() -> None:
    text = """
import asyncio, os, signal
from frisbee_rpc import Server
server = Server()
@server
async def sum(a: int, b: int) -> int:
    return a + b
async def main():
    await server.serve("127.0.0.1:0", started=lambda: os.kill(os.getpid(), signal.SIGTERM))
    print("stopped", signal.getsignal(signal.SIGTERM) is signal.SIG_DFL)
asyncio.run(main())
"""
    assert program(text) == "stopped True\n"


@pytest.mark.parametrize(("kind", "hook"), [("def", "def"), ("def", "async def"), ("async def", "def"), ("async def", "async def")])
def test_run_calls_a_function_once_it_listens(kind: str, hook: str) -> None:
    text = f"""
import os, signal
from frisbee_rpc import Server
server = Server()
@server
{kind} sum(a: int, b: int) -> int:
    return a + b
{hook} begin():
    print(server.address.rpartition(":")[0])
    os.kill(os.getpid(), signal.SIGTERM)
server.run("127.0.0.1:0", started=begin)
"""
    assert program(text) == "127.0.0.1\n"


@pytest.mark.parametrize("kind", ["def", "async def"])
def test_exit_does_not_wait_for_open_streams(kind: str) -> None:
    """Regression test: the exit waited for the whole shutdown timeout."""
    text = f"""
from typing import AsyncIterator, Iterator
from frisbee_rpc import Client, Server
server = Server(shutdown_timeout=3600.0)
@server
{kind} count() -> {"Iterator" if kind == "def" else "AsyncIterator"}[int]:
    while True:
        yield 1
client = Client(server.start("127.0.0.1:0").address)
numbers = client.count()
print(next(numbers))
"""
    assert program(text) == "1\n"


def test_a_server_that_fails_at_exit_leaves_no_other_running() -> None:
    """Regression test: servers after the failed one were not stopped."""
    text = """
import os
from frisbee_rpc import Server, stop_all
stopped = []
class Failing(Server):
    def _stop(self, limit):
        stopped.append(self)
        raise OSError
servers = [Failing(), Failing()]
for server in servers:
    @server
    def echo(text: str) -> str:
        return text
    server.start("127.0.0.1:0")
try:
    stop_all()
except OSError:
    print(len(stopped), flush=True)
os._exit(0)
"""
    assert program(text) == "2\n"


def test_call_of_a_destructor_at_exit_does_not_panic() -> None:
    """Regression test: the call panicked, because signals were checked without an interpreter."""
    text = SERVER + """
import builtins
class Late:
    def __init__(self) -> None:
        self.client = Client(server.address)
    def __del__(self) -> None:
        try:
            self.client.sum(1, 2)
        except BaseException as error:
            print("failed" if isinstance(error, Exception) else "panicked", flush=True)
builtins.late = Late()
"""
    assert "panicked" not in program(text)


def test_clients_and_servers_of_the_parent_close_in_a_child() -> None:
    """Regression test: closing a client of the parent raised an exception in the child."""
    text = SERVER + """
with server, Client(server.address) as client, Client(server.address) as other:
    print(client.sum(1, 2), other.sum(1, 1), flush=True)
    pid = os.fork()
    if pid:
        assert os.waitpid(pid, 0)[1] == 0
        print(client.sum(3, 4), flush=True)
print("left", flush=True)
if not pid:
    os._exit(0)
"""
    assert program(text) == "3 2\nleft\n7\nleft\n"


def can_be_first() -> bool:
    """Returns whether a program can run as the first process of a PID namespace."""
    return subprocess.run(["unshare", "--pid", "--fork", "true"], capture_output=True).returncode == 0


@pytest.mark.skipif(not shutil.which("unshare") or not can_be_first(), reason="it needs the right to make a namespace")
def test_sigterm_ends_the_first_process_of_a_container() -> None:
    text = DRAIN.replace("{asynchronous}", "False").replace("signal.SIGTERM)", "signal.SIGTERM); assert os.getpid() == 1")
    ran = subprocess.run(
        ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", sys.executable, "-c", text],
        capture_output=True, text=True, timeout=LIMIT,
    )  # fmt: skip
    assert (ran.returncode, ran.stdout) == (0, "7\nstopped\n"), ran


def test_mypy_accepts_a_natural_program() -> None:
    text = """
import asyncio
from frisbee_rpc import AsyncClient, Client, Code, Context, Server, Status

server = Server()

@server
def greet(name: str, context: Context) -> str:
    language: str = context.metadata.get("language", "en")
    user = context.metadata.get("user")
    token = context.binary_metadata.get("token-bin", b"")
    return f"{language.upper()} {user.title() if user else name} {len(token)}"

def hint(status: Status) -> str:
    return status.metadata["hint"]
"""
    ran = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "-c", text], capture_output=True, text=True, timeout=10 * LIMIT
    )
    assert ran.returncode == 0, ran.stdout


def test_mypy_finds_nothing_in_a_program_that_uses_the_package() -> None:
    text = "from frisbee_rpc import Client, Server\nserver = Server()\n\n@server\ndef sum(a: int, b: int) -> int:\n    return a + b\n"
    ran = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "-c", text], capture_output=True, text=True, timeout=10 * LIMIT
    )
    assert ran.returncode == 0, ran.stdout
