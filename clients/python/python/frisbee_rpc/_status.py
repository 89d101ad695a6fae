"""Statuses, which describe why calls failed."""

from __future__ import annotations

import enum
from typing import Any, Mapping, Union

__all__ = ["Code", "Metadata", "Status"]

Metadata = Mapping[str, Union[str, bytes]]
"""Lowercase keys with text values, or with bytes if the key ends with ``-bin``."""


class Code(enum.IntEnum):
    """Reason why a call failed. The numbers are those of gRPC."""

    CANCELLED = 1
    UNKNOWN = 2
    INVALID_ARGUMENT = 3
    DEADLINE_EXCEEDED = 4
    NOT_FOUND = 5
    ALREADY_EXISTS = 6
    PERMISSION_DENIED = 7
    RESOURCE_EXHAUSTED = 8
    FAILED_PRECONDITION = 9
    ABORTED = 10
    OUT_OF_RANGE = 11
    UNIMPLEMENTED = 12
    INTERNAL = 13
    UNAVAILABLE = 14
    DATA_LOSS = 15
    UNAUTHENTICATED = 16


class Status(Exception):
    """The failure of a call. A handler raises a status to fail its call with it.

    ``may_have_run`` is whether the handler may have run. If it is false, retrying the call is safe. A handler that has
    had no effect may pass false, for example because its queue is full. A status that a handler has received from
    another call never counts as such.
    """

    code: Code
    message: str
    details: bytes
    #: Metadata with text values.
    metadata: dict[str, str]
    #: Metadata with binary values.
    binary_metadata: dict[str, bytes]
    may_have_run: bool
    _is_rejection: bool
    """Whether a handler declares that it has had no effect."""

    def __init__(
        self,
        code: int,
        message: str = "",
        details: bytes = b"",
        metadata: Metadata | None = None,
        may_have_run: bool = True,
    ) -> None:
        super().__init__(code, message)
        self.code = Code(code)
        self.message = message
        self.details = details
        given = {} if metadata is None else metadata
        self.metadata = {key: value for key, value in given.items() if isinstance(value, str)}
        self.binary_metadata = {key: value for key, value in given.items() if not isinstance(value, str)}
        self.may_have_run = may_have_run
        self._is_rejection = not may_have_run

    def __reduce__(self) -> tuple[Any, ...]:
        metadata = {**self.metadata, **self.binary_metadata}
        arguments = (self.code, self.message, self.details, metadata, not self._is_rejection)
        return Status, arguments, {"may_have_run": self.may_have_run}

    def __str__(self) -> str:
        return f"{self.code.name}: {self.message}"
