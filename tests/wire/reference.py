"""The second implementation of the protocol: both ends of a connection, written from docs/wire.md alone.

It uses only the standard library. `reference_messages.py` contains the messages, and `reference_checks.py` the services
and checks. A test of the repository checks that all numbers above 1 in these files are on the page.
"""

import asyncio
import itertools
import re
import struct
import time
from collections import namedtuple
from types import SimpleNamespace

from reference_messages import ERROR, NIL, Malformed, Reader, decode, item, number, read, write

PING, PONG, STREAM, EXTENSION, GOING_AWAY, CREDIT, CANCEL, END, HAND_OFF, BATCH = range(10)
HELLO, ASK, LAYOUT, CALLS, CLOSE, HEADERS, TRAILERS = range(7)
MAGIC, OLD = b"\x00\x0f", b""
BODY_MAX, EXTENSION_MAX, LEAST_BODY = 5242880, 65536, 1024
CALLS_UNKNOWN, CALLS_MAX, STREAMS_MAX, WINDOW, AHEAD, HALF, OVERHEAD = 32, 16384, 256, 256 * 1024, 16384, 32768, 64
U32_MAX, MUST_UNDERSTAND = 4294967295, 128
OK, CANCELLED, UNKNOWN, INVALID, DEADLINE = 0, 1, 2, 3, 4
EXHAUSTED, UNIMPLEMENTED, INTERNAL, UNAVAILABLE = 8, 12, 13, 14
CODES, PREFIX = 17, b"\x10"


class Close(Exception):
    """The peer violated a rule, for which the connection must be closed."""


class Status(Exception):
    """The status of a failed call."""

    def __init__(self, code, text="", details=b"", metadata=(), not_run=False):
        super().__init__(code, text)
        self.code, self.text, self.details, self.metadata, self.not_run = code, text, details, list(metadata), not_run

# The prefix, and the bodies of requests and replies.


def prefix(metadata=(), timeout=None, status=None):
    items = b"" if timeout is None else item(1, number(int(timeout * 10**6)))
    items += metadata_items(metadata)
    items += status_items(status) if status else b""
    return PREFIX + number(len(items)) + items if items else b""


def metadata_items(metadata):
    return b"".join(item(2, number(len(key)) + key.encode() + value) for key, value in metadata)


def status_items(status):
    return item(3, number(status.code) + status.details) + (item(5) if status.not_run else b"")


class Prefix:
    def __init__(self, items=b""):
        self.metadata, self.timeout, self.status, self.unknown, self.text = [], None, None, None, ""
        seen, size = set(), 0
        for kind, value in Reader(items).items():
            value = Reader(value)
            value.require(kind not in seen or kind not in (1, 3, 5, 6, 8), f"item {kind} occurs twice")
            seen.add(kind)
            if kind == 1:
                self.timeout = value.whole() / 10**6
            elif kind == 2:
                key, content = value.take(value.number()).decode("latin"), value.rest()
                is_text = key.endswith("-bin") or all(32 <= byte < 127 for byte in content)
                size += len(key) + len(content) + 8
                self.metadata.append((key, content))
                value.require(re.fullmatch(r"[a-z0-9\-_.]{1,256}", key) and is_text, "an entry of metadata")
                value.require(size <= 61440 and len(self.metadata) <= 256, "too much metadata")
            elif kind == 3:
                code = value.number()
                self.status = Status(code if OK < code < CODES else UNKNOWN, "", value.rest())
            elif kind == 8:
                self.text = value.rest().decode(errors="replace")
            elif kind >= MUST_UNDERSTAND:
                self.unknown = kind
        if 5 in seen:
            self.status = self.status or Status(UNKNOWN)
            self.status.not_run = True


def split(body):
    """Returns the prefix of a body, and the bytes after it."""
    if body[:1] != PREFIX:
        return Prefix(), body
    reader = Reader(body[1:])
    length = reader.number()
    reader.require(length <= EXTENSION_MAX, "an overlong prefix")
    return Prefix(reader.take(length)), reader.rest()


def parse_request(body):
    try:
        found, rest = split(body)
    except Malformed as why:
        raise Status(INVALID, f"the prefix is malformed: {why}", not_run=True) from None
    if found.unknown:
        raise Status(UNIMPLEMENTED, f"item {found.unknown} of the prefix is unknown", not_run=True)
    return found, rest


def parse_reply(body):
    """Returns the metadata and the message of a reply. Raises the status of a failed call."""
    try:
        found, rest = split(body)
        if found.unknown:
            raise Malformed(f"item {found.unknown} is unknown")
        if rest[:1] == ERROR:
            status = found.status or Status(UNKNOWN)
            status.text, status.metadata = read("error", Reader(rest)), found.metadata
            raise status
        return found.metadata, rest
    except Malformed as why:
        raise Status(INTERNAL, f"the reply is malformed: {why}") from None


def failure(status, native):
    # A compat peer would interpret the text EOF as the end of a direction.
    text = f"aborted: {status.text}" if status.text == "EOF" and not native else status.text
    return (prefix(status.metadata, status=status) if native else b"") + write("error", text)

# A method that an end serves. `handler` takes a context, and either the fields of the request or a stream.
Method = namedtuple("Method", "request reply handler streams", defaults=(False,))


class Peer:
    """One end of a connection. The keys of `methods` are operations, and `items` are added to the HELLO."""

    def __init__(self, reader, writer, dialled, methods=(), native=True, magic=MAGIC, items=b"", hand_offs=()):
        self.reader, self.writer, self.dialled, self.native_here, self.items = reader, writer, dialled, native, items
        self.methods, self.hand_offs, self.magic = dict(methods), dict(hand_offs), magic if dialled else None
        self.native, self.known = None, asyncio.Event()  # Whether the peer is native.
        self.limits, self.flags, self.services = {1: BODY_MAX, 2: U32_MAX, 3: U32_MAX, 4: 0}, set(), []
        self.calls, self.handlers, self.streams, self.strays, self.tasks = {}, {}, {}, 0, set()
        self.half = 0 if dialled else HALF
        self.call_ids = itertools.cycle(range(HALF))
        self.stream_ids = itertools.cycle(range(self.half or 1, self.half + HALF))
        self.opened = HALF - 1 if dialled else 0
        self.is_quiet, self.has_left, self.decision = False, False, None
        self.going, self.closed = asyncio.Event(), asyncio.Event()
        self.told, self.reason, self.heard, self.asked = None, None, time.monotonic(), []
        if dialled and native:
            self.send(EXTENSION, HELLO, self.greeting())
            self.send(PING, 1)
        elif dialled:
            self.know(False)
        self.spawn(self.run())
        self.spawn(self.keep_alive())

    def spawn(self, work):
        task = asyncio.ensure_future(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    def know(self, native):
        self.native = native
        self.known.set()

    def greeting(self):
        limits = {1: BODY_MAX, 2: STREAMS_MAX, 3: CALLS_MAX, 4: WINDOW}
        return b"fris\1" + b"".join(item(*pair) for pair in zip(limits, map(number, limits.values()))) + item(5) \
            + item(6) + self.items

    def send(self, operation, id, body=b""):
        if len(body) > self.limits[1] and operation != EXTENSION:
            raise Status(EXHAUSTED, f"body of {len(body)} bytes exceeds the limit of {self.limits[1]}", not_run=True)
        if not self.has_left:
            self.writer.write(self.magic + struct.pack(">HHI", id, operation, len(body)) + body)

    async def drain(self):
        try:
            await self.writer.drain()
        except ConnectionError:
            pass  # The end of input reports it.

    async def keep_alive(self):
        while not self.closed.is_set():
            await asyncio.sleep(2)
            if time.monotonic() - self.heard > 10:
                self.writer.close()
            elif not self.is_quiet and (self.dialled or self.known.is_set()):
                self.send(PING, 0)

    async def packet(self):
        header = await self.reader.readexactly(2 + len(self.magic or b""))
        if self.magic is None:
            self.magic = MAGIC if header == MAGIC else OLD
            if self.magic:
                header += await self.reader.readexactly(2)
        if not header.startswith(self.magic):
            raise Close("another magic")
        header = header[len(self.magic):] + await self.reader.readexactly(6)
        id, operation, length = struct.unpack(">HHI", header)
        opens = operation == PING and not length or operation in (STREAM, EXTENSION) or operation in self.methods
        if self.magic == OLD and not self.known.is_set() and not opens:
            raise Close("another protocol")
        if length > BODY_MAX:
            raise Close(f"body of {length} bytes is too long")
        return operation, id, await self.reader.readexactly(length)

    async def run(self):
        try:
            while not self.handle(*await self.packet()):
                self.heard = time.monotonic()
            return  # The connection has another owner.
        except Close as why:
            self.reason = str(why)
            await self.leave(self.reader.read(-1))
        except (asyncio.IncompleteReadError, ConnectionError):
            self.writer.close()
        self.closed.set()
        self.known.set()
        for _, future in self.calls.values():
            if not future.done():
                future.set_exception(Status(UNAVAILABLE, "the connection closed"))
        for stream in list(self.streams.values()):
            stream.fail(Status(UNAVAILABLE, "the connection closed"))

    async def leave(self, end=None):
        """Sends the reason, ends the output, and reads for up to a second, so that no reset destroys the reason."""
        try:
            if self.native and self.reason:
                self.send(EXTENSION, CLOSE, number(13) + self.reason.encode()[:200])
            self.has_left = True
            self.writer.write_eof()
            await asyncio.wait_for(end or self.closed.wait(), 1)
        except (OSError, asyncio.TimeoutError):
            pass
        self.writer.close()

    def greet(self, body):
        reader, seen = Reader(body[4:]), []
        try:
            reader.require(len(body) <= EXTENSION_MAX and reader.take(1) != NIL, "too long, or version 0")
            for kind, value in reader.items():
                once = kind not in seen or kind not in (1, 2, 3, 4, 5, 6, 8, 34, 35)
                reader.require(once and kind < MUST_UNDERSTAND, f"item {kind} is repeated or unknown")
                seen.append(kind)
                if kind in (*self.limits, 8):
                    self.limits[kind] = min(Reader(value).whole(), U32_MAX)
                elif kind in (32, 33):
                    service = Reader(value)
                    service.name = service.take(service.number()).decode()
                    service.take(16)
                    operations = sum(iter(lambda: service.left() and service.number(), 0))
                    service.require(operations <= 65535, f"item {kind}")
                    self.services += [(service.name, value)] if kind == 32 else []
        except (Malformed, UnicodeDecodeError) as why:
            raise Close(f"HELLO: {why}") from None
        self.limits[1], self.flags = max(self.limits[1], LEAST_BODY), set(seen)
        self.know(True)

    def handle(self, operation, id, body):
        """Handles a packet. Returns whether the connection now belongs to another owner."""
        if not self.known.is_set():
            is_hello = operation == EXTENSION and id == HELLO and body.startswith(b"fris") and self.native_here
            if is_hello:
                self.greet(body)
            if is_hello and not self.dialled:
                self.send(EXTENSION, HELLO, self.greeting())
            if is_hello:
                return False
            if not self.dialled or operation == PONG:
                self.know(False)
        if operation in (PING, PONG):
            if body:
                raise Close("PING or PONG with a body")
            if operation == PING and not self.is_quiet:
                self.send(PONG, 0)
        elif operation == STREAM:
            self.handle_stream(id, body)
        elif operation <= BATCH:
            try:
                return self.native and self.handle_control(operation, id, body)
            except Malformed as why:
                raise Close(f"operation {operation}: {why}") from None
        elif (id // HALF * HALF != self.half) if self.native else not self.dialled:
            self.handlers[id] = self.spawn(self.answer(operation, id, body))
        else:
            self.handle_reply(operation, id, body)
        return False

    def handle_reply(self, operation, id, body):
        wanted, future = self.calls.get(id, (None, None))
        if wanted == operation:
            del self.calls[id]
            if not future.done():
                future.set_result(body)
        elif self.native and not self.dialled:
            raise Close("a request with an id of the wrong half")
        else:
            self.strays += 1
            if self.strays > 100000:
                raise Close("too many replies that match no call")

    def handle_control(self, operation, id, body):
        reader, stream = Reader(body), self.streams.get(id)
        if operation == EXTENSION:
            return self.handle_extension(id, reader)
        if operation == HAND_OFF:
            return self.handle_hand_off(reader)
        if operation == GOING_AWAY:
            if self.dialled and not self.going.is_set():
                self.send(GOING_AWAY, 0)
            self.going.set()
        elif operation == CANCEL and id in self.handlers:
            self.handlers[id].cancel()
        elif operation == CREDIT and stream:
            stream.add_credit(reader.whole())
        elif operation == END and stream:
            stream.handle_end(reader)
        elif operation == BATCH:
            messages = [reader.take(reader.number())]
            while reader.left():
                messages.append(reader.take(reader.number()))
            for message in messages if stream else ():
                stream.handle_message(message)
        return False

    def handle_extension(self, id, reader):
        reader.require(id < HALF, f"type {id} must be understood")
        if id == ASK:
            fingerprints = [reader.take(16)]
            while reader.left():
                fingerprints.append(reader.take(16))
            reader.require(len(fingerprints) <= 64, "too many fingerprints")
            self.asked += fingerprints
            for fingerprint in fingerprints:  # This end has no descriptions.
                self.send(EXTENSION, LAYOUT, NIL + fingerprint)
        elif id == CLOSE:
            self.told = reader.number(), reader.take(min(200, reader.left())).decode(errors="replace")
        elif id in (HEADERS, TRAILERS):
            stream, found = self.streams.get(reader.number()), Prefix(reader.rest())
            if stream:
                stream.handle_headers(found, id == TRAILERS)

    def handle_hand_off(self, reader):
        if self.dialled:
            reader.require(self.decision, "it was not requested")
            decision = reader.take(1)[0]
            reader.require(decision <= 3, "no such decision")
            self.is_quiet = decision == 1
            self.decision.set_result((decision, reader.rest()))
            self.decision = None
            return self.is_quiet
        operation, request = reader.number(), reader.rest()
        decide = self.hand_offs.get(operation, lambda _: (3, b"", None))
        decision, reply, owner = (2, b"", None) if self.calls or self.streams or self.handlers else decide(request)
        self.send(HAND_OFF, 0, bytes([decision]) + reply)
        if decision == 1:
            self.is_quiet = True
            self.spawn(owner(self.reader, self.writer))
        return self.is_quiet

    async def hand_off(self, operation, request):
        """Requests the connection. If the decision is 1, `reader` and `writer` belong to the caller."""
        self.is_quiet, self.decision = True, asyncio.get_running_loop().create_future()
        self.send(HAND_OFF, 0, number(operation) + request)
        return await self.decision

    async def answer(self, operation, id, body):
        native = self.native
        try:
            found, rest = parse_request(body) if native else (Prefix(), body)
            method = self.methods.get(operation)
            if not method or method.streams:
                raise Status(UNIMPLEMENTED, f"no unary method has the operation {operation}", not_run=True)
            context = SimpleNamespace(peer=self, metadata=found.metadata, timeout=found.timeout, reply=[])
            fields = await asyncio.wait_for(method.handler(context, decode(method.request, rest)), found.timeout)
            reply = (prefix(context.reply) if native else b"") + write(method.reply, fields)
        except Malformed as why:
            reply = failure(Status(INVALID, f"the request is malformed: {why}"), native)
        except asyncio.TimeoutError:
            reply = failure(Status(DEADLINE, "the deadline has passed"), native)
        except asyncio.CancelledError:
            reply = failure(Status(CANCELLED, "cancelled by the caller"), native)
        except Status as status:
            reply = failure(status, native)
        self.handlers.pop(id, None)
        self.send(operation, id, reply)
        await self.drain()

    async def call(self, operation, body, metadata=(), timeout=None):
        """Returns the metadata and the message of the reply. Cancelling the caller cancels the handler."""
        if metadata or len(body) > LEAST_BODY or len(self.calls) >= CALLS_UNKNOWN:
            await self.known.wait()
        while len(self.calls) >= min(self.limits[3], CALLS_MAX):
            await asyncio.wait([future for _, future in self.calls.values()], return_when="FIRST_COMPLETED")
        id = next(id for id in self.call_ids if self.half + id not in self.calls) + self.half
        future = asyncio.get_running_loop().create_future()
        self.send(operation, id, (b"" if self.native is False else prefix(metadata, timeout)) + body)
        self.calls[id] = operation, future
        try:
            await self.drain()
            return parse_reply(await future)
        except asyncio.CancelledError:
            if self.native:
                self.send(CANCEL, id, number(operation))  # The id stays in use until the call has been answered.
            raise

    async def open(self, operation, metadata=(), timeout=None):
        await self.known.wait()
        id = next(id for id in self.stream_ids if id not in self.streams)
        stream = self.streams[id] = Stream(self, id)
        self.send(STREAM, id, (prefix(metadata, timeout) if self.native else b"") + write("u16", operation))
        return stream

    def handle_stream(self, id, body):
        if id in self.streams:
            return self.streams[id].handle_message(body)
        ahead = (id - self.opened) % HALF
        if (id // HALF * HALF == self.half or not 0 < ahead <= AHEAD) if self.native else self.dialled:
            return None  # It has crossed the end of its stream.
        if not self.native and len(self.streams) >= STREAMS_MAX:
            raise Close("too many streams")
        self.opened, stream = id, Stream(self, id)
        try:
            found, rest = parse_request(body) if self.native else (Prefix(), body)
            operation = read("u16", Reader(rest))
            method = self.methods.get(operation)
            if not method or not method.streams:
                raise Status(UNIMPLEMENTED, f"no streaming method has the operation {operation}", not_run=True)
            if len(self.streams) >= STREAMS_MAX:
                raise Status(EXHAUSTED, "too many streams", not_run=True)
        except Malformed as why:
            return self.native and stream.refuse(Status(INVALID, f"the opening is malformed: {why}", not_run=True))
        except Status as status:
            return stream.refuse(status)
        self.streams[id] = stream
        context = SimpleNamespace(peer=self, metadata=found.metadata, timeout=found.timeout, reply=[])
        stream.task = self.spawn(stream.serve(method, context))


class Stream:
    """One end of a stream, with a native peer or a compat peer."""

    def __init__(self, peer, id):
        self.peer, self.id, self.native, self.task = peer, id, peer.native, None
        self.queue, self.writable, self.metadata, self.failure = asyncio.Queue(), asyncio.Event(), [], None
        self.credit, self.window, self.unreturned = peer.limits[4], WINDOW, 0
        self.has_ended = self.is_ended = False  # This end's direction; the peer's.

    def add_credit(self, credit):
        self.credit += credit
        self.writable.set()

    async def send(self, body):
        while self.native and self.credit <= 0 and not self.failure:
            self.writable.clear()
            await self.writable.wait()
        if self.failure:
            raise self.failure
        self.credit -= len(body) + OVERHEAD
        self.peer.send(STREAM, self.id, body)
        await self.peer.drain()

    async def send_all(self, bodies):
        """Sends messages in one BATCH if the peer supports it and the credit is sufficient."""
        cost = sum(len(body) + OVERHEAD for body in bodies)
        if not self.native or 6 not in self.peer.flags or self.credit <= cost or self.failure:
            for body in bodies:
                await self.send(body)
        else:
            self.credit -= cost
            self.peer.send(BATCH, self.id, b"".join(number(len(body)) + body for body in bodies))

    def end(self):
        if not self.has_ended and not self.failure:
            self.has_ended = True
            self.peer.send(*(END, self.id) if self.native else (STREAM, self.id, write("error", "EOF")))
            self.forget()

    def lead(self, metadata):
        self.peer.send(EXTENSION, HEADERS, number(self.id) + metadata_items(metadata))

    def trail(self, status):
        body = number(self.id) + metadata_items(status.metadata) + status_items(status) + item(8, status.text.encode())
        self.peer.send(EXTENSION, TRAILERS, body)
        self.has_ended = True
        self.forget()

    def forget(self):
        if self.has_ended and self.is_ended and (self.native or self.peer.dialled):
            if not self.native:
                self.peer.send(STREAM, self.id)
            self.peer.streams.pop(self.id, None)

    def reset(self, code, text=""):
        if self.peer.streams.pop(self.id, None):
            self.peer.send(*(END, self.id, number(code) + text.encode()) if self.native else (STREAM, self.id))
            self.fail(Status(code, text))

    def refuse(self, status):
        """Rejects a new stream. A credit of zero states that no handler has received it."""
        if self.native:
            self.peer.send(CREDIT, self.id, number(0))
            self.peer.send(END, self.id, number(status.code) + status.text.encode())
        else:
            for body in failure(status, False), write("error", "EOF"), b"":
                self.peer.send(STREAM, self.id, body)

    def fail(self, status):
        self.failure = status
        self.peer.streams.pop(self.id, None)
        self.queue.put_nowait(None if self.is_ended else status)
        self.writable.set()
        if self.task:
            self.task.cancel()

    def handle_message(self, body):
        if not self.native and not body:
            self.fail(Status(CANCELLED, "closed by the peer"))
        elif not self.native and body == write("error", "EOF"):
            self.handle_end(Reader(b""))
        elif self.native and self.window <= 0:
            self.reset(EXHAUSTED, "a message without credit")
        elif not self.is_ended:
            self.window -= len(body) + OVERHEAD
            self.queue.put_nowait(body)

    def handle_end(self, reader):
        if reader.left():
            self.fail(Status(reader.number(), reader.take(min(4 * 1024, reader.left())).decode(errors="replace")))
        elif not self.is_ended:
            self.is_ended = True
            self.queue.put_nowait(None)
            self.forget()

    def handle_headers(self, found, is_end):
        self.metadata += found.metadata
        if is_end:
            if found.status:
                found.status.text = found.text
                self.queue.put_nowait(found.status)
            self.handle_end(Reader(b""))

    async def receive(self):
        """Returns the next message, or `None` at the end."""
        while True:
            body = await self.queue.get()
            if isinstance(body, Status):
                self.queue.put_nowait(None)
                raise body
            if body is None:
                self.queue.put_nowait(None)
                return None
            self.unreturned += len(body) + OVERHEAD
            if self.native and self.unreturned >= WINDOW // 2 and not self.is_ended and not self.failure:
                self.peer.send(CREDIT, self.id, number(self.unreturned))
                self.window, self.unreturned = self.window + self.unreturned, 0
            return parse_reply(body)[1]

    async def serve(self, method, context):
        try:
            await asyncio.wait_for(method.handler(context, self), context.timeout)
        except asyncio.TimeoutError:
            return self.reset(DEADLINE, "the deadline has passed")
        except Malformed as why:
            return self.reset(INTERNAL, f"a message is malformed: {why}")
        except Status as status:
            if self.native and not self.failure:
                return self.trail(status)
            if not self.failure:
                self.peer.send(STREAM, self.id, failure(status, False))
        self.end()
        if not self.native:
            for _ in range(100):  # An end on a stream that is closed is an error in Go.
                if not self.is_ended:
                    await asyncio.sleep(10 / 100)
            self.reset(OK)
