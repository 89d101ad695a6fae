"""The second implementation of the protocol: both ends of a connection, written from docs/wire.md alone.

It uses only the standard library. `reference_messages.py` contains the messages, and `reference_checks.py` the services
and checks. A test of the repository checks that all numbers above 1 in these files are on the page.
"""

import asyncio
import itertools
import re
import struct
from collections import namedtuple
from contextlib import suppress
from types import SimpleNamespace

from reference_messages import ERROR, NIL, Reader, decode, item, number, read, require, write

PING, PONG, STREAM, EXTENSION, GOING_AWAY, CREDIT, CANCEL, END, HAND_OFF, BATCH = range(10)
HELLO, ASK, LAYOUT, CALLS, CLOSE, HEADERS, TRAILERS = range(7)
OK, CANCELLED, UNKNOWN, INVALID, DEADLINE = 0, 1, 2, 3, 4
EXHAUSTED, UNIMPLEMENTED, INTERNAL, UNAVAILABLE, CODES = 8, 12, 13, 14, 17
BODY_LIMIT, STREAMS_LIMIT, CALLS_LIMIT, INITIAL_CREDIT, TAKES_CANCEL, TAKES_BATCH = range(1, 7)  # Items of HELLO.
CHANNELS, OFFERED, CALLED, LOAD, COMPRESSION, MUST_UNDERSTAND = 8, 32, 33, 34, 35, 128
TIMEOUT, METADATA, STATUS, NOT_RUN, TRACE, TEXT = 1, 2, 3, 5, 6, 8  # Items of a prefix.
BODY_MAX, EXTENSION_MAX, LEAST_BODY = 5242880, 65536, 1024
CALLS_MAX, STREAMS_MAX, WINDOW, AHEAD, HALF, OVERHEAD = 16384, 256, 256 * 1024, 16384, 32768, 64

MAGIC, OLD, PREFIX, EOF = b"\x00\x0f", b"", b"\x10", ERROR + write("string", "EOF")
LIMITS = {BODY_LIMIT: BODY_MAX, STREAMS_LIMIT: STREAMS_MAX, CALLS_LIMIT: CALLS_MAX, INITIAL_CREDIT: WINDOW}
GREETING = b"fris\1" + b"".join(item(kind, number(limit)) for kind, limit in LIMITS.items()) \
    + item(TAKES_CANCEL) + item(TAKES_BATCH)

# A method that an end serves. `handler` takes a context, and either the fields of the request or a stream.
Method = namedtuple("Method", "request reply handler streams", defaults=(False,))


class Status(Exception):
    """The status of a failed call."""

    def __init__(self, code, text="", details=b"", metadata=(), not_run=False):
        super().__init__(code, text)
        self.code, self.text, self.details, self.metadata, self.not_run = code, text, details, metadata, not_run


def prefix_items(metadata=(), timeout=None, status=None):
    items = [] if timeout is None else [item(TIMEOUT, number(int(timeout * 10**6)))]
    items += [item(METADATA, number(len(key)) + key.encode() + value) for key, value in metadata]
    items += [item(STATUS, number(status.code) + status.details)] if status else []
    return b"".join(items) + (item(NOT_RUN) if status and status.not_run else b"")


def parse_items(items):
    """Parses the items of a prefix, of HEADERS or of TRAILERS."""
    metadata, values = [], {STATUS: Reader(number(OK)), TEXT: Reader()}
    for kind, value in Reader(items).items(once={TIMEOUT, STATUS, NOT_RUN, TRACE, TEXT}):
        values[kind] = value
        if kind == METADATA:
            key, content = value.counted(), value.read()
            require(re.fullmatch(rb"[a-z0-9\-_.]{1,256}", key), "a key of metadata")
            require(key.endswith(b"-bin") or re.fullmatch(rb"[ -~]*", content), "a value of metadata")
            metadata.append((key.decode(), content))
    size = sum(len(key) + len(content) + 8 for key, content in metadata)
    require(size <= 61440 and len(metadata) <= 256, "too much metadata")
    timeout = values[TIMEOUT].whole() / 10**6 if TIMEOUT in values else None
    code, details, text = values[STATUS].number(), values[STATUS].read(), values[TEXT].read().decode(errors="replace")
    status = Status(code if OK < code < CODES else UNKNOWN, text, details, metadata, NOT_RUN in values)
    return SimpleNamespace(metadata=metadata, timeout=timeout, status=status if code != OK or status.not_run else None,
                           unknown=[kind for kind in values if kind >= MUST_UNDERSTAND])


def split(body, native=True):
    """Returns the prefix of a body, and the bytes after it."""
    if body[:1] != PREFIX or not native:
        return parse_items(b""), body
    reader = Reader(body[1:])
    items = reader.counted()
    require(len(items) <= EXTENSION_MAX, "an overlong prefix")
    return parse_items(items), reader.read()


def parse_reply(body):
    """Returns the metadata and the message of a reply. Raises the status of a failed call."""
    try:
        found, rest = split(body)
        require(not found.unknown, f"unknown items {found.unknown}")
        if rest[:1] != ERROR:
            return found.metadata, rest
        status = found.status or Status(UNKNOWN, metadata=found.metadata)
        status.text = read("string", Reader(rest[1:]))
    except ValueError as why:
        raise Status(INTERNAL, f"the reply is malformed: {why}") from None
    raise status


def service_name(reader):
    """Returns the name of an announced service."""
    name, _, operations = reader.counted().decode(), reader.take(16), sum(reader.each(reader.number))
    require(operations <= 65535, "an operation above 65 535")
    return name


class Peer:
    """One end of a connection. The keys of `methods` are operations, and `items` are added to the HELLO."""

    def __init__(self, reader, writer, dialled, methods=(), native=True, magic=MAGIC, items=b"", hand_offs=()):
        self.reader, self.writer, self.dialled, self.greeting = reader, writer, dialled, GREETING + items
        self.methods, self.hand_offs, self.magic = dict(methods), dict(hand_offs), magic if dialled else None
        self.native, self.has_left, self.decision = False, False, None  # `native` is valid once `known` is set.
        self.known, self.going, self.closed = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.limits = {**LIMITS, INITIAL_CREDIT: 0, CHANNELS: 0}  # Of the peer.
        self.takes_batch, self.services, self.asked = False, {OFFERED: [], CALLED: []}, []
        self.calls, self.handlers, self.streams, self.strays, self.reason = {}, {}, {}, 0, None
        self.half, self.opened = (0, HALF - 1) if dialled else (HALF, 0)
        self.call_ids = itertools.cycle(range(self.half, self.half + HALF))
        self.stream_ids = itertools.cycle(range(self.half or 1, self.half + HALF))
        if dialled and native:
            self.send(EXTENSION, HELLO, self.greeting)
            self.send(PING, 1)
        elif dialled:
            self.known.set()
        self.keep_alive()
        self.task = asyncio.ensure_future(self.run())

    def send(self, operation, id, body=b"", **items):
        """Sends a packet. `items` are those of a prefix, which a compat peer does not receive."""
        items = prefix_items(**items) if self.native else b""
        body = PREFIX + number(len(items)) + items + body if items else body
        if len(body) > self.limits[BODY_LIMIT] and operation != EXTENSION:
            raise Status(EXHAUSTED, f"body of {len(body)} bytes exceeds the limit of {self.limits[BODY_LIMIT]}")
        if not self.has_left:
            self.writer.write(self.magic + struct.pack(">HHI", id, operation, len(body)) + body)

    def keep_alive(self):
        if self.known.is_set() and not self.decision:
            self.send(PING, 0)
        self.timer = asyncio.get_running_loop().call_later(2, self.keep_alive)

    async def packet(self):
        header = await self.reader.readexactly(8)
        if self.magic is None:
            self.magic = MAGIC if header.startswith(MAGIC) else OLD
        require(header.startswith(self.magic), "another magic")
        header += await self.reader.readexactly(len(self.magic))
        id, operation, length = struct.unpack(">HHI", header[len(self.magic):])
        opens = operation == PING and not length or operation in (STREAM, EXTENSION) or operation in self.methods
        require(self.magic or self.known.is_set() or opens, "another protocol")
        require(length <= BODY_MAX, f"body of {length} bytes is too long")
        return operation, id, await self.reader.readexactly(length)

    async def run(self):
        try:
            while not self.closed.is_set():  # A hand-off also sets it.
                self.handle(*await asyncio.wait_for(self.packet(), 10))
                await asyncio.sleep(0)  # Lets the handler start, because a task cancelled earlier would not reply.
        except ValueError as why:
            self.reason = str(why)
            await self.leave(self.reader.read(-1))
        except (asyncio.IncompleteReadError, asyncio.TimeoutError, ConnectionError):
            self.writer.close()
        self.timer.cancel()
        self.closed.set()
        self.known.set()
        for _, future in self.calls.values():
            future.set_exception(Status(UNAVAILABLE, "the connection closed"))
        for stream in list(self.streams.values()):
            stream.fail(Status(UNAVAILABLE, "the connection closed"))

    async def leave(self, end=None):
        """Sends the reason, ends the output, and reads for up to a second, so that no reset destroys the reason."""
        with suppress(OSError, asyncio.TimeoutError):
            if self.native and self.reason:
                self.send(EXTENSION, CLOSE, number(INTERNAL) + self.reason.encode()[:200])
            self.has_left = True
            self.writer.write_eof()
            await asyncio.wait_for(end or self.closed.wait(), 1)
        self.writer.close()

    def greet(self, reader):
        require(reader.left() <= EXTENSION_MAX - 4 and reader.take(1) != NIL, "HELLO is too long or has version 0")
        for kind, value in reader.items(once={*self.limits, TAKES_CANCEL, TAKES_BATCH, LOAD, COMPRESSION}):
            require(kind < MUST_UNDERSTAND, f"item {kind} of HELLO is unknown")
            self.takes_batch |= kind == TAKES_BATCH
            if kind in self.limits:
                self.limits[kind] = value.whole()
            elif kind in self.services:
                self.services[kind].append((service_name(value), value.getvalue()))
        self.limits[BODY_LIMIT] = max(self.limits[BODY_LIMIT], LEAST_BODY)
        self.native = True
        self.known.set()
        if not self.dialled:
            self.send(EXTENSION, HELLO, self.greeting)

    def handle(self, operation, id, body):
        if not self.known.is_set():
            if operation == EXTENSION and id == HELLO and body.startswith(b"fris"):
                return self.greet(Reader(body[4:]))
            if not self.dialled or operation == PONG:
                self.known.set()
        is_request = (id // HALF * HALF != self.half) if self.native else not self.dialled
        if operation in (PING, PONG):
            require(not body, "PING or PONG with a body")
            if operation == PING and not self.decision:
                self.send(PONG, 0)
        elif operation == STREAM and id in self.streams:
            self.streams[id].handle_message(body)
        elif operation == STREAM and is_request and (not self.native or 0 < (id - self.opened) % HALF <= AHEAD):
            self.opened = id
            stream = self.streams[id] = Stream(self, id)
            stream.task = asyncio.ensure_future(self.serve(operation, id, body, stream))
        elif operation > BATCH and is_request:
            self.handlers[id] = asyncio.ensure_future(self.serve(operation, id, body))
        elif operation > BATCH:
            self.handle_reply(operation, id, body)
        elif self.native:  # Messages without a stream have crossed its end, and are ignored.
            self.handle_control(operation, id, Reader(body), self.streams.get(id))

    def handle_reply(self, operation, id, body):
        wanted, future = self.calls.get(id, (None, None))
        if wanted == operation:
            del self.calls[id]
            future.set_result(body)
        else:
            require(self.dialled or not self.native, "a request with an id of the wrong half")
            self.strays += 1
            require(self.strays <= 100000, "too many replies that match no call")

    def handle_control(self, operation, id, reader, stream):
        if operation == EXTENSION:
            self.handle_extension(id, reader)
        elif operation == HAND_OFF:
            self.handle_hand_off(reader)
        elif operation == GOING_AWAY:
            if self.dialled and not self.going.is_set():
                self.send(GOING_AWAY, 0)
            self.going.set()
        elif operation == CANCEL and id in self.handlers:
            self.handlers[id].cancel()
        elif operation == CREDIT and stream:
            stream.credit += reader.whole()
            stream.writable.set()
        elif operation == END and stream:
            if reader.left():
                stream.fail(Status(reader.number(), reader.read(4 * 1024).decode(errors="replace")))
            stream.handle_end()
        elif operation == BATCH:
            messages = list(reader.each(reader.counted))
            require(messages, "a BATCH without messages")
            for message in messages if stream else ():
                stream.handle_message(message)

    def handle_extension(self, id, reader):
        require(id < HALF, f"type {id} must be understood")
        if id == ASK:
            fingerprints = list(reader.each(lambda: reader.take(16)))
            require(1 <= len(fingerprints) <= 64, "an ASK without 1 to 64 fingerprints")
            self.asked += fingerprints
            for fingerprint in fingerprints:  # This end has no descriptions.
                self.send(EXTENSION, LAYOUT, NIL + fingerprint)
        elif id == CALLS:
            service_name(reader)
        elif id == CLOSE:
            require(reader.left(), "a CLOSE without a code")
            self.writer.close()
        elif id in (HEADERS, TRAILERS):
            stream_id = reader.number()
            require(stream_id < 2 * HALF, f"no stream has the id {stream_id}")
            if stream_id in self.streams:
                self.streams[stream_id].handle_items(reader.read(), id == TRAILERS)

    def handle_hand_off(self, reader):
        if self.dialled:
            require(self.decision, "an unrequested HAND_OFF")
            decision = reader.take(1)[0]
            require(decision <= 3, f"decision {decision} of a HAND_OFF")
            self.decision.set_result((decision, reader.read()))
            self.decision = None
        else:
            decide = self.hand_offs.get(reader.number(), lambda _: (3, b"", None))
            is_busy = self.calls or self.streams or self.handlers
            decision, reply, owner = (2, b"", None) if is_busy else decide(reader.read())
            self.send(HAND_OFF, 0, bytes([decision]) + reply)
            if decision == 1:
                self.task = asyncio.ensure_future(owner(self.reader, self.writer))
        if decision == 1:
            self.closed.set()

    async def hand_off(self, operation, request):
        """Requests the connection. If the decision is 1, `reader` and `writer` belong to the caller."""
        self.send(HAND_OFF, 0, number(operation) + request)
        self.decision = asyncio.get_running_loop().create_future()
        return await self.decision

    async def serve(self, operation, id, body, stream=None):
        """Runs the handler of a unary call or of a stream, and sends its outcome."""
        if stream and len(self.streams) > STREAMS_MAX:
            return stream.reset(EXHAUSTED, "too many streams")
        status, code = None, INVALID  # `code` is that of malformed input.
        try:
            context, rest = split(body, self.native)
            operation = read("u16", Reader(rest)) if stream else operation
            method, context.peer, context.reply = self.methods.get(operation), self, []
            if context.unknown or not method or method.streams != bool(stream):
                raise Status(UNIMPLEMENTED, f"unknown operation {operation} or items {context.unknown}", not_run=True)
            code = INTERNAL if stream else INVALID
            work = method.handler(context, stream or decode(method.request, rest))
            fields = await asyncio.wait_for(work, context.timeout)
            if not stream:
                self.send(operation, id, write(method.reply, fields), metadata=context.reply)
        except Status as raised:
            status = raised
        except ValueError as why:
            status = Status(code, f"malformed: {why}", not_run=code == INVALID)
        except asyncio.TimeoutError:
            status = Status(DEADLINE, "the deadline has passed")
        except asyncio.CancelledError:
            status = Status(CANCELLED, "cancelled by the caller")
        if stream and not self.native and status and status.code == code == INVALID:
            del self.streams[id]  # The message has crossed the end of its stream.
        elif stream:
            stream.end(status)
        else:
            if status:
                self.send(operation, id, ERROR + write("string", status.text), metadata=status.metadata, status=status)
            self.handlers.pop(id, None)

    async def call(self, operation, body, metadata=(), timeout=None):
        """Returns the metadata and the message of the reply. Cancelling the caller cancels the handler."""
        await self.known.wait()
        if self.closed.is_set():
            raise Status(UNAVAILABLE, "the connection closed")
        while len(self.calls) >= min(self.limits[CALLS_LIMIT], CALLS_MAX):
            await asyncio.wait([future for _, future in self.calls.values()], return_when="FIRST_COMPLETED")
        id = next(id for id in self.call_ids if id not in self.calls)
        future = asyncio.get_running_loop().create_future()
        self.send(operation, id, body, metadata=metadata, timeout=timeout)
        self.calls[id] = operation, future
        try:
            return parse_reply(await asyncio.shield(future))
        except asyncio.CancelledError:
            if self.native:
                self.send(CANCEL, id, number(operation))  # The id stays in use until the call has been answered.
            raise

    async def open(self, operation, metadata=(), timeout=None):
        await self.known.wait()
        id = next(id for id in self.stream_ids if id not in self.streams)
        stream = self.streams[id] = Stream(self, id)
        self.send(STREAM, id, write("u16", operation), metadata=metadata, timeout=timeout)
        return stream


class Stream:
    """One end of a stream, with a native peer or a compat peer."""

    def __init__(self, peer, id):
        self.peer, self.id, self.native, self.task = peer, id, peer.native, None
        self.queue, self.writable, self.metadata, self.failure = asyncio.Queue(), asyncio.Event(), [], None
        self.credit, self.window, self.unreturned = peer.limits[INITIAL_CREDIT], WINDOW, 0
        self.has_ended = self.is_ended = False  # This end's direction; the peer's.

    async def send(self, *bodies):
        """Sends messages, in one BATCH if the peer supports it and the credit is sufficient."""
        cost = sum(len(body) + OVERHEAD for body in bodies)
        if len(bodies) > 1 and (not self.peer.takes_batch or self.credit <= cost):
            for body in bodies:
                await self.send(body)
            return
        while self.native and self.credit <= 0 and not self.failure:
            self.writable.clear()
            await self.writable.wait()
        if self.failure:
            raise self.failure
        self.credit -= cost
        batch = b"".join(number(len(body)) + body for body in bodies)
        self.peer.send(*(BATCH, self.id, batch) if len(bodies) > 1 else (STREAM, self.id, *bodies))
        with suppress(ConnectionError):  # The end of input reports it.
            await self.peer.writer.drain()

    def lead(self, metadata):
        self.peer.send(EXTENSION, HEADERS, number(self.id) + prefix_items(metadata))

    def end(self, status=None):
        """Ends this end's direction. `status` is that of a failed handler."""
        if self.has_ended:
            return
        self.has_ended = True
        if self.native and status:
            items = prefix_items(status.metadata, status=status) + item(TEXT, status.text.encode())
            self.peer.send(EXTENSION, TRAILERS, number(self.id) + items)
        elif self.native:
            self.peer.send(END, self.id)
        else:
            if status:
                text = "aborted: EOF" if status.text == "EOF" else status.text  # EOF alone would be the end.
                self.peer.send(STREAM, self.id, ERROR + write("string", text))
            self.peer.send(STREAM, self.id, EOF)
            if not self.peer.dialled:
                asyncio.get_running_loop().call_later(10, self.reset, OK)
        self.forget()

    def forget(self):
        """Closes the stream if both directions have ended."""
        if self.has_ended and self.is_ended and self.peer.streams.pop(self.id, None) and not self.native:
            self.peer.send(STREAM, self.id)

    def reset(self, code, text=""):
        if self.peer.streams.get(self.id) is self:
            self.peer.send(*(END, self.id, number(code) + text.encode()) if self.native else (STREAM, self.id))
            self.fail(Status(code, text))

    def fail(self, status):
        self.peer.streams.pop(self.id, None)
        self.failure, self.has_ended = status, True
        self.handle_end(status)
        self.writable.set()
        if self.task:
            self.task.cancel()

    def handle_message(self, body):
        if not self.native and not body:
            self.fail(Status(CANCELLED, "closed by the peer"))
        elif not self.native and body == EOF:
            self.handle_end()
        elif self.native and self.window <= 0:
            self.reset(EXHAUSTED, "a message without credit")
        elif not self.is_ended:
            self.window -= len(body) + OVERHEAD
            self.queue.put_nowait(body)

    def handle_items(self, items, are_last):
        try:
            found = parse_items(items)
        except ValueError as why:
            return self.reset(INTERNAL, f"malformed: {why}")
        self.metadata += found.metadata
        if are_last:
            self.handle_end(found.status)

    def handle_end(self, status=None):
        if not self.is_ended:
            self.is_ended = True
            self.queue.put_nowait(status)
            self.forget()

    async def receive(self):
        """Returns the next message, or `None` at the end."""
        body = await self.queue.get()
        if not isinstance(body, bytes):
            self.queue.put_nowait(body)
            if body:
                raise body
            return None
        self.unreturned += len(body) + OVERHEAD
        if self.native and self.unreturned >= WINDOW // 2 and not self.is_ended:
            self.peer.send(CREDIT, self.id, number(self.unreturned))
            self.window, self.unreturned = self.window + self.unreturned, 0
        return parse_reply(body)[1]
