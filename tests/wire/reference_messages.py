"""Numbers, items and messages of the wire format, written from docs/wire.md. Connections are in reference.py.

The kind of a value is a name in `KINDS`, "enum", a name in `SCHEMA`, or a tuple that starts with list, map, optional or
oneof and contains kinds.
"""

KINDS = "nil list map any bytes string error bool u8 u16 u32 u64 i32 i64 f32 f64".split()
NIL, ANY, ERROR, MESSAGE = b"\x00", b"\x03", b"\x06", b"\x08"
LONGEST = {"u16": 3, "u32": 5, "u64": 10, "i32": 5, "i64": 10}
SIZES = {"u16": 16, "u32": 32, "u64": 64, "i32": 32, "i64": 64, "f32": 32, "f64": 64}
SCHEMA = {}  # The fields of messages in wire order: single values, lists, then messages and maps.



class Malformed(Exception):
    """Bytes that violate a rule."""


def number(value):
    low = []
    while value > 127:
        low.append(value % 128 + 128)
        value >>= 7
    return bytes(low + [value])


def item(kind, value=b""):
    return bytes([kind]) + number(len(value)) + value


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def left(self):
        return len(self.data) - self.at

    def require(self, is_so, problem):
        if not is_so:
            raise Malformed(problem)

    def take(self, length):
        self.require(length <= self.left(), "cut off")
        self.at += length
        return self.data[self.at - length:self.at]

    def rest(self):
        return self.take(self.left())

    def varint(self, longest):
        value = 0
        for at in range(longest):
            byte = self.take(1)[0]
            value |= byte % 128 << 7 * at
            if byte < 128:
                return value
        raise Malformed("an overlong number")

    def number(self):
        value = self.varint(10)
        self.require(not value >> 64, "a number above 64 bits")
        return value

    def whole(self):
        value = self.number()
        self.require(not self.left(), "bytes after a number")
        return value

    def items(self):
        while self.left():
            kind = self.take(1)[0]
            yield kind, self.take(self.number())


def head(*kinds):
    return bytes(KINDS.index("any" if kind in SCHEMA else "u32" if kind == "enum" else kind) for kind in kinds)


def write(kind, value):
    if isinstance(kind, tuple):
        form, *parts = kind
        if form == "optional":
            return NIL if value is None else write(parts[0], value)
        if form == "oneof":
            member, inner = value or (0, None)
            return ANY + number(member) + (write(parts[member - 1], inner) if member else b"")
        entries = value if form == "map" else [[element] for element in value]
        written = [write(part, one) for entry in entries for part, one in zip(parts, entry)]
        return head(form, *parts) + write("u32", len(value)) + b"".join(written)
    if kind in SCHEMA:
        return NIL if value is None else MESSAGE + NIL + b"".join(map(write, SCHEMA[kind], value))
    if kind == "enum":
        return write(*value)
    tag = head(kind)
    if kind == "error":
        return tag + write("string", value)
    if kind in ("string", "bytes"):
        data = value.encode() if kind == "string" else value
        return tag + write("u32", len(data)) + data
    if kind == "bool":
        return tag + bytes([value])
    if kind[0] == "f":
        return tag + value  # Four or eight bytes as they came, because every bit pattern survives.
    return tag + number(value if kind[0] == "u" else value << 1 if value >= 0 else ~(value << 1))


def read_container(form, parts, reader, first):
    if form == "optional":
        reader.at -= first != NIL
        return None if first == NIL else read(parts[0], reader)
    if form == "oneof":
        reader.require(first == ANY, "no oneof")
        member = reader.number()
        reader.require(member <= len(parts), "no such member")
        return (member, read(parts[member - 1], reader)) if member else None
    if first == NIL and form == "map":
        return []
    reader.require(first + reader.take(len(parts)) == head(form, *parts), "another kind in a head")
    count = read("u32", reader)
    reader.require(count <= reader.left(), "a count beyond the input")
    entries = [[read(part, reader) for part in parts] for _ in range(count)]
    return list(dict(entries).items()) if form == "map" else [element for element, in entries]


def read(kind, reader):
    first = reader.take(1)
    if isinstance(kind, tuple):
        return read_container(kind[0], kind[1:], reader, first)
    if kind in SCHEMA:
        if first == NIL:
            return None
        reader.require(first == MESSAGE and reader.take(1), "no message")
        return [read(field, reader) for field in SCHEMA[kind]]
    if kind == "enum":
        reader.at -= 1
        number_kind = "i32" if first == head("i32") else "u32"
        return number_kind, read(number_kind, reader)
    reader.require(first == head(kind), f"another kind than {kind}")
    if kind == "error":
        return read("string", reader)
    if kind in ("string", "bytes"):
        data = reader.take(read("u32", reader))
        try:
            return data.decode() if kind == "string" else data
        except UnicodeDecodeError:
            raise Malformed("not UTF-8") from None
    if kind == "bool":
        byte = reader.take(1)
        reader.require(byte <= b"\1", "no bool")
        return byte == b"\1"
    if kind[0] == "f":
        return reader.take(SIZES[kind] // 8)
    value = reader.varint(LONGEST[kind]) % (1 << SIZES[kind])
    return value if kind[0] == "u" else value >> 1 ^ -(value & 1)


def default(kind):
    if isinstance(kind, tuple):
        return [] if kind[0] in ("list", "map") else None
    values = {"string": "", "bytes": b"", "bool": False, "enum": ("u32", 0), "f32": bytes(4), "f64": bytes(8)}
    return None if kind in SCHEMA else values.get(kind, 0)


def decode(name, body):
    """Returns the fields of a message or nil in a body. Bytes after it are ignored."""
    fields = read(name, Reader(body))
    return [default(kind) for kind in SCHEMA[name]] if fields is None else fields
