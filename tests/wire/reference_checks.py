"""Services, calls and malformed input for the reference implementation at either end.

    reference_checks.py serve interop|extension   serves a schema of tests/proto and prints its address
    reference_checks.py call ADDRESS              calls interop.Interop in every way, natively and as a compat peer
    reference_checks.py extend ADDRESS            calls extension.Extension: metadata, statuses, deadlines, cancels
    reference_checks.py offer ADDRESS             offers interop.Interop to a server that calls it, and leaves with it
    reference_checks.py hand-off ADDRESS          requests the connection of a server that echoes it after "accept"
    reference_checks.py topics ADDRESS            publishes and subscribes at a broker with a history
    reference_checks.py malform ADDRESS           sends the input of malformed.txt to a server of interop.Interop
    reference_checks.py deceive                   sends it to clients; prints its port, and a line for each connection

A failed check prints what it found, and the exit code is 1.
"""

import asyncio
import itertools
import pathlib
import re
import struct
import sys

import reference as wire
from reference import Method, Peer, Status
from reference_messages import SCHEMA, Reader, decode, item, number, write

CODES = ["OK", "Cancelled", "Unknown", "InvalidArgument", "DeadlineExceeded", "NotFound", "AlreadyExists",
         "PermissionDenied", "ResourceExhausted", "FailedPrecondition", "Aborted", "OutOfRange", "Unimplemented",
         "Internal", "Unavailable", "DataLoss", "Unauthenticated"]
LIMIT = 120  # Seconds of a check on a slow machine.

# The services of tests/proto.

KINDS = "bool i32 i64 u32 u64 i32 i64 u32 i64 f32 f64 string Inner".split()
MAPS = "string string i32 string u64 bool bool i64 string f64 string enum string Inner".split()
SCHEMA.update({
    "Empty": [], "Inner": ["i32", "string"], "Middle": ["u64", "Inner"], "Text": ["string"], "Pair": ["i64", "i64"],
    "Scalars": "bool i32 i64 u32 u64 i32 i64 u32 u64 i32 i64 f32 f64 string bytes enum".split(),
    "Nested": ["string", "Inner", "Middle", "Inner"], "Lists": [("list", kind) for kind in KINDS],
    "Maps": [("map", *MAPS[at:at + 2]) for at in range(0, len(MAPS), 2)],
    "Mixed": ["i32", "string", "enum", ("list", "string"), ("list", "Inner"), "Inner", ("map", "string", "i32")],
    "Payload": ["u32", "bytes"], "Sleep": ["u32", "u32"], "Count": ["i64"], "Time": ["u64"], "Chunk": ["bytes"],
    "Maybe": [("optional", "i32"), ("optional", "string"), ("oneof", "bool", "string", "Time"), "i32"],
    "Failure": ["i32", "string", "bytes"],
})
ECHOES = ["Scalars", "Nested", "Lists", "Maps", "Mixed", "Empty"]
FAIL, PAYLOAD, ADD, SLEEP, DESCRIBE, COUNT_UP, SUM_UP, CHAT = range(16, 24)
ECHO, TELL, WAIT, ASK, GET, FLOOD, SINK = range(10, 17)


def message(name, *fields):
    return write(name, list(fields))


def wrapped(value):
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


async def same(_, fields):
    return fields


async def sleep(_, fields):
    await asyncio.sleep(fields[0] / 1000)
    return fields


async def fail(_, fields):
    raise Status(2, fields[0])


async def add(_, fields):
    return [wrapped(sum(fields)), 2]


async def describe(_, fields):
    names = "flag i32 i64 u32 u64 s32 s64 fx32 fx64 sfx32 sfx64 f d text raw color".split()
    text = {"bool": lambda value: str(value).lower(), "enum": lambda value: str(value[1]), "bytes": bytes.hex,
            "string": lambda value: value.encode().hex(), "f32": bytes.hex, "f64": bytes.hex}
    kinds = SCHEMA["Scalars"]
    return [" ".join(f"{name}={text.get(kind, str)(value)}" for name, kind, value in zip(names, kinds, fields))]


async def count_up(_, stream):
    first, count = await request("Pair", stream)
    values = (message("Count", wrapped(first + step)) for step in range(2 if count < 0 else count))
    while batch := list(itertools.islice(values, 16)):
        await stream.send(*batch)
    if count < 0:
        raise Status(11, "negative count")


async def request(name, stream):
    try:
        return decode(name, await one(stream))
    except ValueError as why:
        raise Status(3, f"the request is malformed: {why}") from None


async def one(stream):
    body = await stream.receive()
    if body is None:
        raise Status(3, "the stream ended without a request")
    return body


async def every(stream):
    while (body := await stream.receive()) is not None:
        yield body


async def sum_up(_, stream):
    values = [decode("Count", body)[0] async for body in every(stream)]
    await stream.send(message("Pair", wrapped(sum(values)), len(values)))


async def chat(_, stream):
    async for body in every(stream):
        await stream.send(message("Text", "re:" + decode("Text", body)[0]))


def returned(metadata):
    return [(key.replace("sent-", "got-", 1), value) for key, value in metadata if key.startswith("sent-")]


async def echo_maybe(context, fields):
    context.reply = returned(context.metadata)
    return fields


async def tell(context, fields):
    raise Status(*fields, returned(context.metadata))


async def ask(context, fields):
    """Calls the client back if it offers a service. Otherwise returns the timeout of the caller."""
    if context.peer.services[wire.OFFERED]:
        return decode("Time", (await context.peer.call(GET, message("Time", *fields)))[1])
    return [int((context.timeout or 0) * 1000)]


async def flood(context, stream):
    count, = await request("Time", stream)
    if returned(context.metadata):
        stream.lead(returned(context.metadata))
    for _ in range(count) if count else itertools.count():
        await stream.send(message("Chunk", b"\1" * 1024))


async def sink(_, stream):
    await stream.send(message("Time", len([body async for body in every(stream)])))


SERVICES = {
    "interop": [*(Method(name, name, same) for name in ECHOES), Method("Text", "Text", fail),
                Method("Payload", "Payload", same), Method("Pair", "Pair", add), Method("Sleep", "Sleep", sleep),
                Method("Scalars", "Text", describe), Method("Pair", "Count", count_up, True),
                Method("Count", "Pair", sum_up, True), Method("Text", "Text", chat, True)],
    "extension": [Method("Maybe", "Maybe", echo_maybe), Method("Failure", "Maybe", tell), Method("Time", "Time", sleep),
                  Method("Time", "Time", ask), Method("Time", "Time", sleep), Method("Time", "Chunk", flood, True),
                  Method("Chunk", "Time", sink, True)],
}


def methods(service):
    return dict(enumerate(SERVICES[service], 10))


async def echo(reader, writer):
    while data := await reader.read(1 << 16):
        writer.write(data)
        await writer.drain()
    writer.close()


async def serve(service):
    def decide(request):
        return (1, b"yours", echo) if request == b"accept" else (0, b"mine", None)

    def accept(reader, writer):
        Peer(reader, writer, False, methods(service), hand_offs={10: decide})
    await listen(accept)
    await asyncio.get_running_loop().create_future()


async def listen(accept):
    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    return server


# Calls to a server.

def connect(address):
    return asyncio.open_connection(*address.rsplit(":", 1))


async def dial(address, **options):
    return Peer(*await connect(address), True, **options)


def expect(found, wanted, name):
    if found != wanted:
        raise AssertionError(f"{name}: {found!r} instead of {wanted!r}")


async def status(awaitable):
    try:
        return "OK", await awaitable
    except Status as failure:
        return CODES[failure.code], failure.text


async def call_every_kind(peer, native):
    async def sum_of(first, second):
        return decode("Pair", (await peer.call(ADD, message("Pair", first, second)))[1])
    for at, found in enumerate(await asyncio.gather(*(sum_of(at, 1) for at in range(200)))):
        expect(found, [at + 1, 2], "a sum")
    inner = [-7, "漢"]
    texts = [("one", "two"), ("", "three")]
    scalars = [True, -7, -1 << 63, 1 << 31, (1 << 64) - 1, -300, 300, 32, 64, -32, -64, b"\x7f\xc0\x12\x34",
               b"\x7f\xf8\0\0\xde\xad\xbe\xef", "a text", bytes(range(256)), ("u32", 2)]
    lists = [[value] * 3 for value in [True, -1, 1 << 40, 7, 8, -9, -10, 11, 12, b"abcd", b"abcdefgh", "text", inner]]
    maps = [texts, [(-1, "x")], [(1 << 63, True)], [(True, 5)], [("k", b"abcdefgh")], [("k", ("u32", 3))],
            [("k", inner)]]
    mixed = [3, "five", ("u32", 1), ["a", ""], [inner], inner, [("k", 1)]]
    values = [scalars, ["label", inner, [3, None], None], lists, maps, mixed, []]
    for operation, (name, fields) in enumerate(zip(ECHOES, values), 10):
        body = (await peer.call(operation, message(name, *fields)))[1]
        found = [sorted(value) if isinstance(value, list) and name == "Maps" else value for value in decode(name, body)]
        expect(found, [sorted(value) if name == "Maps" else value for value in fields], name)
    found = decode("Text", (await peer.call(DESCRIBE, message("Scalars", *scalars)))[1])
    expect(found, await describe(None, scalars), "a description")
    expect(await status(peer.call(FAIL, message("Text", "EOF"))), ("Unknown", "EOF"), "a failure")
    code, _ = await status(peer.call(9999, message("Empty")))
    expect(code, "Unimplemented" if native else "Unknown", "an unknown method")
    large = message("Payload", 1, bytes(4 << 20))
    expect((await peer.call(PAYLOAD, large))[1], large, "4 MiB")
    expect((await status(peer.call(PAYLOAD, large + large)))[0], "ResourceExhausted", "8 MiB")


async def stream_every_kind(peer, native):
    async def counted(first, count):
        stream = await peer.open(COUNT_UP)
        await stream.send(message("Pair", first, count))
        if native:
            stream.end()
        found = [decode("Count", body)[0] async for body in every(stream)]
        expect(found, list(range(first, first + count)), "a count")
        if not native:
            stream.reset(0)
    await asyncio.gather(*(counted(-3, count) for count in (0, 1, 100, 5000)))
    failing = await peer.open(COUNT_UP)
    await failing.send(message("Pair", 5, -1))
    if native:
        failing.end()
    expect([decode("Count", await failing.receive())[0] for _ in range(2)], [5, 6], "messages before a failure")
    found = await status(failing.receive())
    expect(found, ("OutOfRange" if native else "Unknown", "negative count"), "a failing stream")
    for _ in range(20):
        left = await peer.open(COUNT_UP)
        await left.send(message("Pair", 0, 100000 if native else 100))
        expect(decode("Count", await left.receive()), [0], "a first message")
        left.reset(1, "no longer needed")
    summing = await peer.open(SUM_UP)
    await summing.send(*(message("Count", value) for value in range(100)))
    for value in range(100, 2000):
        await summing.send(message("Count", value))
    summing.end()
    expect(decode("Pair", await one(summing)), [sum(range(2000)), 2000], "a sum of a stream")
    expect(await summing.receive(), None, "its end")
    talking = await peer.open(CHAT)
    for text in ["one", "two", "x" * (1 << 20), "y" * (1 << 20)]:
        await talking.send(message("Text", text))
        expect(decode("Text", await one(talking)), ["re:" + text], "an answer")
    talking.end()
    expect(await talking.receive(), None, "the end of a talk")
    refused = await peer.open(9999)
    if native:
        expect((await status(refused.receive()))[0], "Unimplemented", "a stream of an unknown method")


async def call(address):
    for native, magic in ((True, wire.MAGIC), (False, wire.MAGIC), (False, wire.OLD)):
        peer = await dial(address, native=native, magic=magic)
        await call_every_kind(peer, native)
        await stream_every_kind(peer, native)
        expect(peer.native, native, "the kind of the server")
        if native:
            await call_with_limits(peer)
            await announce_layouts(address)
        peer.send(wire.PING, 0)
        await peer.call(ADD, message("Pair", 1, 2))
        await peer.leave()


async def call_with_limits(peer):
    """Checks that deadlines and cancellations end handlers, and that ids of cancelled calls are used again."""
    found = await status(peer.call(SLEEP, message("Sleep", 600000, 1), timeout=0.05))
    expect(found[0], "DeadlineExceeded", "a deadline")
    tasks = [asyncio.ensure_future(peer.call(SLEEP, message("Sleep", 600000, tag))) for tag in range(100)]
    await peer.call(ADD, message("Pair", 1, 2))
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    while peer.calls:  # Each has exactly one reply, which frees its id.
        await asyncio.wait([future for _, future in peer.calls.values()], return_when="FIRST_COMPLETED")
        await peer.call(ADD, message("Pair", 1, 2))


async def announce_layouts(address):
    """Checks that CALLS announces a caller's operations, and that the server asks for a layout that it does not know.
    """
    for fingerprint, wanted in ((None, ("OK", [3, 2])), (bytes(16), ("FailedPrecondition", None))):
        peer = await dial(address)
        await peer.known.wait()
        service, = [Reader(value) for name, value in peer.services[wire.OFFERED] if name == "interop.Interop"]
        name, known = service.take(service.number()), service.take(16)
        operations = number(110) + number(1) * (len(methods("interop")) - 1)
        peer.send(wire.EXTENSION, wire.CALLS, number(len(name)) + name + (fingerprint or known) + operations)
        code, found = await status(peer.call(100 + ADD, message("Pair", 1, 2)))
        expect((code, decode("Pair", found[1]) if code == "OK" else None), wanted, "a call of an announced service")
        expect(peer.asked, [fingerprint] if fingerprint else [], "fingerprints that the server asked for")
        await peer.leave()


async def extend(address):
    peer = await dial(address)
    entries = [("sent-text", b"a"), ("sent-text", b"b"), ("sent-raw-bin", bytes([0, 255]))]
    wanted = [(key.replace("sent", "got"), value) for key, value in entries]
    for fields in itertools.product([None, 0, -1], [None, "", "text"], [None, (1, False), (2, ""), (3, [7])], [3]):
        metadata, body = await peer.call(ECHO, message("Maybe", *fields), metadata=entries)
        expect((metadata, decode("Maybe", body)), (wanted, list(fields)), "an echo")
    for code in range(1, 17):
        try:
            await peer.call(TELL, message("Failure", code, "text", b"\1\2"), metadata=entries)
        except Status as found:
            expect((found.code, found.text, found.details, found.metadata), (code, "text", b"\1\2", wanted), "a status")
    left, = decode("Time", (await peer.call(ASK, message("Time", 0), timeout=50))[1])
    expect(0 < left <= 50000, True, f"{left} ms of a deadline of 50 s")
    flooding = await peer.open(FLOOD, metadata=entries)
    await flooding.send(message("Time", 0))
    flooding.end()
    for _ in range(1000):
        expect(len(decode("Chunk", await one(flooding))[0]), 1024, "a chunk")
    expect(flooding.metadata, wanted, "metadata of a stream")
    flooding.reset(1, "enough")
    sinking = await peer.open(SINK)
    for _ in range(1000):
        await sinking.send(message("Chunk", bytes(1024)))
    sinking.end()
    expect(decode("Time", await one(sinking)), [1000], "messages beyond the first credit")
    waiting = await peer.open(SINK, timeout=0.05)
    expect((await status(waiting.receive()))[0], "DeadlineExceeded", "the deadline of a stream")
    await peer.leave()


async def offer(address):
    first = await dial(address)
    await first.known.wait()
    service, = [value for name, value in first.services[wire.OFFERED] if name == "interop.Interop"]
    await first.leave()
    peer = await dial(address, methods=methods("interop"), items=item(32, service))
    for at in range(1000):  # Calls both ways, until the server leaves.
        if not peer.going.is_set():
            found = await peer.call(ADD, message("Pair", at, 1))
            expect(decode("Pair", found[1])[0], at + 1, "a sum")
    await peer.going.wait()
    while peer.calls or peer.streams or peer.handlers:
        await asyncio.sleep(0.01)
    await peer.closed.wait()
    expect(peer.reason, None, "the end after GOING_AWAY")


async def hand_off(address):
    peer = await dial(address)
    await peer.known.wait()
    expect(await peer.hand_off(11, b"accept"), (3, b""), "another operation")
    expect(await peer.hand_off(10, b"refuse"), (0, b"mine"), "a refusal")
    peer.send(10, 1, b"a packet")
    expect(await peer.hand_off(10, b"accept"), (1, b"yours"), "a hand-off")
    peer.writer.write(b"raw" * 100000)
    peer.writer.write_eof()
    expect(await peer.reader.read(-1), b"raw" * 100000, "raw bytes")


async def topics(address):
    async def next_packet():
        while True:
            packet = await peer_packet(reader)
            if packet[0] > wire.BATCH:
                return packet[0] - 65280, packet[1], packet[2]

    def name(text):
        return number(len(text)) + text.encode()

    def send(operation, id, body=b""):
        writer.write(packed(65280 + operation, id, body))
    reader, writer = await connect(address)
    send(0, 1, name("a.*"))
    expect(await next_packet(), (0, 1, b""), "a subscription")
    send(2, 9, name("a.b") + b"hi")
    expect(await next_packet(), (2, 0, name("a.b") + b"hi"), "a message")
    send(2, 9, name("b.c") + b"unseen")
    send(3, 5)
    expect(await next_packet(), (3, 5, b""), "a SYNC")
    send(0, 0, name("a.b"))
    operation, id, body = await next_packet()
    expect((operation, id, body[0]), (0, 0, 2), "a subscription with id 0")
    send(1, 1)
    send(6, 2, name("a.b") + bytes([2]))
    operation, id, body = await next_packet()
    answer = Reader(body)
    expect((operation, id, *answer.take(2), len(answer.take(8)), answer.number()), (6, 2, 0, 1, 8, 1), "a FOLLOW")
    operation, id, body = await next_packet()
    position = Reader(body)
    expect((operation, id, position.take(position.number()), len(position.take(8)), position.number()),
           (7, 2, b"a.b", 8, 1), "a POSITION")
    expect(await next_packet(), (2, 2, name("a.b") + b"hi"), "a message of the history")
    send(0, 3, number(9) + b"a")
    expect(await reader.read(1), b"", "a name beyond the body")


# Malformed input.

def packed(operation, id, body=b""):
    return wire.MAGIC + struct.pack(">HHI", id, operation, len(body)) + body


async def peer_packet(reader):
    id, operation, length = struct.unpack(">HHI", (await reader.readexactly(10))[2:])
    return operation, id, await reader.readexactly(length)


def content(text):
    levels = [b""]
    for token in re.findall(r'"[^"]*"|\S+', text):
        if token == "(":
            levels.append(b"")
            continue
        if token == ")":
            inner = levels.pop()
            data = number(len(inner)) + inner
        elif token[0] == '"':
            data = token[1:-1].encode()
        else:
            count, _, digits = token.rpartition("*")
            data = int(count or 1) * bytes.fromhex(digits)
        levels[-1] += data
    data, = levels
    return data


class Case:
    def __init__(self, line):
        self.line = line
        self.rule, self.receiver, self.sender, self.reaction, self.packets = line.split(" | ", 4)

    def bytes(self, call):
        data = b""
        for packet in self.packets.split(";"):
            place, _, text = packet.strip().partition(" ")
            if place == "raw":
                data += content(text)
            else:
                operation, id = place.split("/")
                data += packed(int(operation), call if id == "call" else int(id), content(text))
        return data


def cases(receiver):
    root = pathlib.Path(__file__).resolve().parents[2]
    lines = (root / "crates/frpc-cli/src/conformance/malformed.txt").read_text().splitlines()
    found = [Case(line) for line in lines if " | " in line and not line.startswith("#")]
    return [case for case in found if case.receiver in (receiver, "both")]


GREETING = packed(wire.EXTENSION, wire.HELLO, b"fris\1" + item(4, number(wire.WINDOW)))
SUM = write("Pair", [1, 2])


def outcome(operation, body):
    if operation == wire.END:
        return CODES[Reader(body).number()]
    if operation == wire.EXTENSION:
        reader = Reader(body)
        reader.number()
        status = wire.parse_items(reader.read()).status
        return CODES[status.code] if status else "accepted"
    try:
        wire.parse_reply(body)
        return "accepted"
    except Status as found:
        return CODES[found.code]


async def reaction(address, case):
    """Sends a case and then a call. Returns the reaction to the case, which precedes the reply to the call."""
    reader, writer = await connect(address)
    first = {"native": GREETING, "base": packed(wire.PING, 0)}.get(case.sender, b"")
    probe = b"" if case.reaction.startswith("decision") else packed(ADD, 9, SUM)
    wanted = "Unknown" if case.sender == "base" and case.reaction in CODES else case.reaction
    writer.write(first + case.bytes(7) + probe)
    found, has_probed = "ignored", not probe
    try:
        while found != wanted or not has_probed:
            operation, id, body = await asyncio.wait_for(peer_packet(reader), LIMIT)
            if operation == wire.HAND_OFF:
                found = f"decision {body[0]}"
            elif (operation, id) == (ADD, 9):
                has_probed = True
            elif operation > wire.BATCH or found == "ignored" and body and (
                    operation in (wire.STREAM, wire.END) or (operation, id) == (wire.EXTENSION, wire.TRAILERS)):
                found = outcome(operation, body)
    except (asyncio.IncompleteReadError, ConnectionError):
        found = "close"
    writer.close()
    return case.reaction if found == wanted else found


async def malform(address):
    permits, wrong = asyncio.Semaphore(8), []

    async def check(case):
        async with permits:
            found = await asyncio.wait_for(reaction(address, case), LIMIT)
        if found != case.reaction:
            wrong.append(f"{case.line[:200]}: {found}")
    every_case = cases("server")
    await asyncio.gather(*map(check, every_case))
    expect(wrong, [], "reactions")
    print(len(every_case), "cases")


async def deceive():
    waiting, over = iter(cases("client")), asyncio.Event()

    async def accept(reader, writer):
        case = next(waiting)
        try:
            operation, id = 0, 0
            while operation != ADD:
                operation, id, _ = await peer_packet(reader)
            first = {"native": GREETING, "base": packed(wire.PONG, 0)}.get(case.sender, b"")
            writer.write(first + case.bytes(id) + packed(ADD, id, write("Pair", [3, 2])))
            await reader.read(-1)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        writer.close()
        if not announce():
            over.set()

    def announce():
        nonlocal waiting
        case = next(waiting, None)
        waiting = itertools.chain([case], waiting)
        print(case.line if case else "end", flush=True)
        return case
    await listen(accept)
    announce()
    await over.wait()


async def main(command, *arguments):
    commands = {"serve": serve, "call": call, "extend": extend, "offer": offer, "hand-off": hand_off, "topics": topics,
                "malform": malform, "deceive": deceive}
    await commands[command](*arguments)

if __name__ == "__main__":
    try:
        asyncio.run(main(*sys.argv[1:]))
    except AssertionError as failed:
        sys.exit(str(failed))
