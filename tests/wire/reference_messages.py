"""Numbers, items and messages of the wire format, written from docs/wire.md. Connections are in reference.py.

The kind of a value is a name in `KINDS`, "enum", a name in `SCHEMA`, or a tuple that starts with list, map, optional or
oneof and contains kinds. Bytes that violate a rule raise a ValueError.
"""

import io

KINDS = "nil list map any bytes string error bool u8 u16 u32 u64 i32 i64 f32 f64".split()
NIL, ANY, ERROR, MESSAGE = b"\x00", b"\x03", b"\x06", b"\x08"
DEFAULTS = {"list": [], "map": [], "string": "", "bytes": b"", "bool": False, "enum": ("u32", 0), "f32": bytes(4),
            "f64": bytes(8)}  # The other kinds of numbers default to 0.
SCHEMA = {}  # The fields of messages in wire order: single values, lists, then messages and maps.


def require(is_so, problem):
    if not is_so:
        raise ValueError(problem)


def number(value):
    return bytes([value]) if value < 128 else bytes([value % 128 + 128]) + number(value >> 7)


def item(kind, value=b""):
    return bytes([kind]) + number(len(value)) + value


class Reader(io.BytesIO):
    """The bytes of a body or an item. `read` returns the remaining bytes, and `getvalue` all of them."""

    def left(self):
        return len(self.getvalue()) - self.tell()

    def take(self, length):
        require(length <= self.left(), "cut off")
        return self.read(length)

    def varint(self, longest):
        require(longest, "an overlong number")
        byte = self.take(1)[0]
        return byte if byte < 128 else byte % 128 + (self.varint(longest - 1) << 7)

    def number(self):
        value = self.varint(10)
        require(not value >> 64, "a number above 64 bits")
        return value

    def whole(self):
        value = self.number()
        require(not self.left(), "bytes after a number")
        return value

    def counted(self):
        """Returns bytes that follow their length."""
        return self.take(self.number())

    def each(self, read):
        """Yields results of `read` up to the end."""
        while self.left():
            yield read()

    def items(self, once):
        """Yields the kind and the value of each item. Only kinds that are not in `once` may be repeated."""
        seen = set()
        for kind in self.each(lambda: self.take(1)[0]):
            require(kind not in seen, f"item {kind} occurs twice")
            seen.update({kind} & once)
            yield kind, Reader(self.counted())


def head(*kinds):
    """Returns the first byte of a value, and the kinds that the head of a list or map contains."""
    names = [kind if kind in KINDS else "u32" if kind == "enum" else "any" for kind in kinds]
    return bytes(map(KINDS.index, names))


def write(kind, value):
    form, *parts = kind if isinstance(kind, tuple) else [kind]
    if form == "optional":
        return NIL if value is None else write(parts[0], value)
    if form == "enum":
        return write(*value)
    if form in SCHEMA:
        return NIL if value is None else MESSAGE + NIL + b"".join(map(write, SCHEMA[form], value))
    if form == "oneof":
        member, inner = value or (0, None)
        return ANY + number(member) + (write(parts[member - 1], inner) if member else b"")
    start = head(form, *parts)
    if form in ("list", "map"):
        entries = value if form == "map" else [[element] for element in value]
        written = [write(part, one) for entry in entries for part, one in zip(parts, entry)]
        return start + write("u32", len(value)) + b"".join(written)
    if form in ("string", "bytes"):
        data = value.encode() if form == "string" else value
        return start + write("u32", len(data)) + data
    if form == "bool":
        return start + bytes([value])
    if form[0] == "f":
        return start + value  # Four or eight bytes as they came, because every bit pattern survives.
    return start + number(value if form[0] == "u" else value << 1 if value >= 0 else ~(value << 1))


def read(kind, reader, first=None):
    """Reads a value. `first` is its first byte if that has been read."""
    form, *parts = kind if isinstance(kind, tuple) else [kind]
    first = first or reader.take(1)
    if first == NIL and (form in SCHEMA or form in ("optional", "map")):
        return [] if form == "map" else None
    if form == "optional":
        return read(parts[0], reader, first)
    if form == "enum":
        written = "i32" if first == head("i32") else "u32"
        return written, read(written, reader, first)
    if form in SCHEMA:
        require(first == MESSAGE and reader.take(1), "no message")
        return [read(field, reader) for field in SCHEMA[form]]
    if form == "oneof":
        member = reader.number()
        require(first == ANY and member <= len(parts), "no oneof, or no such member")
        return (member, read(parts[member - 1], reader)) if member else None
    require(first + reader.take(len(parts)) == head(form, *parts), f"another kind than {form}")
    if form in ("list", "map"):
        count = read("u32", reader)
        require(count <= reader.left(), "a count beyond the input")
        entries = [[read(part, reader) for part in parts] for _ in range(count)]
        return list(dict(entries).items()) if form == "map" else [element for element, in entries]
    if form in ("string", "bytes"):
        data = reader.take(read("u32", reader))
        return data.decode() if form == "string" else data
    if form == "bool":
        return b"\0\1".index(reader.take(1)) == 1  # Another byte raises a ValueError.
    bits = int(form[1:])
    if form[0] == "f":
        return reader.take(bits // 8)
    value = reader.varint(bits // 7 + 1) % (1 << bits)
    return value if form[0] == "u" else value >> 1 ^ -(value & 1)


def decode(name, body):
    """Returns the fields of a message, which are defaults if the body is nil. Bytes after it are ignored."""
    fields = read(name, Reader(body))
    forms = [kind[0] if isinstance(kind, tuple) else kind for kind in SCHEMA[name]]
    return [DEFAULTS.get(form, 0 if form in KINDS else None) for form in forms] if fields is None else fields
