"""Encodes and decodes every message of the golden schemas. The values and bodies come from generated Rust code."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import json
import sys
import typing
from pathlib import Path
from typing import Any, Callable, Iterator, Sequence

from frisbee_rpc._native import Api, Schema

FOLDER = Path(__file__).parent.parent.parent.parent / "crates/frpc-build/tests"
GOLDEN = FOLDER.parent.parent / "frpc-languages/tests/golden/python"
PROTO = FOLDER / "proto"
VECTORS = [json.loads(line) for line in (FOLDER / "golden/vectors.jsonl").read_text("utf-8").splitlines()]
SCALARS: dict[str, Callable[[Any], Any]] = {"bool": bool, "int": int, "float": float, "str": str, "bytes": bytes.fromhex}
Field = tuple[str, str, str, str]


def classes() -> dict[str, Any]:
    """Returns the classes of all golden modules by the names of their messages."""
    spec = importlib.util.spec_from_file_location("golden_vectors", GOLDEN / "__init__.py")
    assert spec and spec.loader
    sys.modules["golden_vectors"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules["golden_vectors"])
    found: dict[str, Any] = {}
    for file in sorted(GOLDEN.glob("*.py")):
        if file.stem != "__init__":
            found.update(importlib.import_module(f"golden_vectors.{file.stem}")._PACKAGE._classes)
    return found


class Golden:
    """A service with one method for each golden message."""

    def __init__(self) -> None:
        self.classes = classes()
        self.names = sorted({vector["type"] for vector in VECTORS} & self.classes.keys())
        files = {path.relative_to(PROTO).as_posix(): path.read_text("utf-8") for path in PROTO.rglob("*.proto")}
        # No Python modules are generated for these schemas.
        files = {name: text for name, text in files.items() if name not in ("containers.proto", "only_service.proto", "tools.proto", "vec.proto")}
        imports = "".join(f'import "{name}";' for name in files)
        methods = "".join(f"rpc M{at}(.{name}) returns (.{name});" for at, name in enumerate(self.names))
        source = f'syntax = "proto3"; package vectors; {imports} service All {{ {methods} }}'
        schema = Schema.parse([*files.items(), ("vectors.proto", source)])
        self.fields: dict[str, Sequence[Field]] = dict(schema.messages())
        self.api = Api(schema, self.classes, {})

    def made(self, name: str, values: list[Any]) -> Any:
        """Converts the value of a vector to an object of the message's class."""
        of = self.classes[name]
        attributes = [field.name for field in dataclasses.fields(of)]
        declared = list(zip(attributes, self.fields[name], strict=True))
        left = iter(values)
        members = list(oneofs(of))
        arguments: dict[str, Any] = {}
        seen: set[tuple[str, ...]] = set()
        for attribute, field in sorted(declared, key=lambda it: self.group(it[1])):
            oneof = next((oneof for oneof in members if attribute in oneof), None)
            if oneof is None:
                arguments[attribute] = self.value(field, next(left))
            elif oneof not in seen:
                seen.add(oneof)
                chosen = next(left)
                if chosen is not None:
                    member = oneof[chosen[0] - 1]
                    arguments[member] = self.single(dict(declared)[member][2], chosen[1])
        assert next(left, self) is self, f"{name} has fewer fields than its vector"
        return of(**arguments)

    def group(self, field: Field) -> int:
        """Returns the position of a field's group on the wire: singular scalars, then lists, then messages and maps."""
        _, shape, kind, _ = field
        return 2 if shape == "map" else 1 if shape == "list" else 2 if kind in self.fields else 0

    def value(self, field: Field, value: Any) -> Any:
        _, shape, kind, key = field
        if shape == "list":
            return [self.single(kind, one) for one in value]
        if shape == "map":
            return {self.single(key, name): self.single(kind, one) for name, one in value}
        return self.single(kind, value)

    def single(self, kind: str, value: Any) -> Any:
        if value is None:
            return None
        # All other kinds are enums. Their members equal their numbers.
        return self.made(kind, value) if kind in self.fields else SCALARS.get(kind, int)(value)


def oneofs(of: type) -> Iterator[tuple[str, ...]]:
    """Returns the members of each oneof, in the order of declaration."""
    for value in vars(of).values():
        if isinstance(value, property):
            hint = typing.get_type_hints(value.fget)["return"]
            yield typing.get_args(typing.get_args(hint)[0])


def test_golden_messages_are_encoded_and_decoded_as_in_rust() -> None:
    golden = Golden()
    assert len(golden.names) > 80
    for vector in VECTORS:
        name, body = vector["type"], bytes.fromhex(vector["body"])
        if name in golden.classes:
            made = golden.made(name, vector["value"])
            assert golden.api.encode(name, made) == body, vector
            assert golden.api.decode(name, body) == made, vector
