"""The native half of the package."""

from __future__ import annotations

import os
from typing import Any, Callable, Iterable, Iterator, Mapping, Sequence

from ._status import Metadata

class View:
    address: int
    def __buffer__(self, flags: int, /) -> memoryview: ...

class Context:
    """What a handler is told of a call beside its arguments."""

    @property
    def metadata(self) -> dict[str, str | bytes]: ...
    @property
    def remote_address(self) -> str | None: ...
    @property
    def timeout(self) -> float | None: ...

class Schema:
    """Descriptors, and what is known of each service on the wire."""

    @staticmethod
    def parse(sources: Sequence[tuple[str, str]], first: int | None = None) -> Schema: ...
    @staticmethod
    def load(paths: Sequence[str | os.PathLike[str]], includes: Sequence[str | os.PathLike[str]]) -> Schema: ...
    @staticmethod
    def embedded(
        files: bytes,
        services: Sequence[tuple[str, int, Sequence[int], Sequence[tuple[str, int, int, int, bool]]]],
    ) -> Schema: ...
    def methods(self) -> list[tuple[str, str, bool, bool, str, str]]: ...
    def messages(self) -> list[tuple[str, list[tuple[str, str, str, str]]]]: ...

class Api:
    def __init__(
        self, schema: Schema, forms: Mapping[str, Any], fields: Mapping[str, tuple[Any, str | None]]
    ) -> None: ...

class Inbox:
    def __init__(self, event_loop: Callable[[], Any]) -> None: ...
    def fileno(self) -> int: ...
    def open(self) -> None: ...

class Started:
    def cancel(self) -> None: ...

class Requests:
    def start_send(self, value: Any, inbox: Inbox, future: Any) -> Started: ...
    def close(self) -> None: ...

class Incoming(Iterator[Any]):
    def __next__(self) -> Any: ...
    def __aiter__(self) -> Incoming: ...
    def __anext__(self) -> Any: ...

class Messages(Iterator[Any]):
    def __next__(self) -> Any: ...
    def close(self) -> None: ...

class AsyncMessages:
    def start_next(self, inbox: Inbox, future: Any) -> Started: ...
    def close(self) -> None: ...

class Channel:
    def __init__(
        self,
        address: str,
        blocking: bool,
        tls: tuple[bytes, tuple[bytes, bytes] | None] | None = None,
        server_name: str | None = None,
        timeout: float | None = None,
    ) -> None: ...
    def close(self) -> None: ...
    def reflect(self) -> Schema: ...
    def unary(
        self, api: Api, place: int, value: Any, timeout: float | None = None, metadata: Metadata | None = None
    ) -> Any: ...
    def server_streaming(
        self, api: Api, place: int, value: Any, timeout: float | None = None, metadata: Metadata | None = None
    ) -> Messages: ...
    def client_streaming(
        self,
        api: Api,
        place: int,
        values: Iterable[Any],
        timeout: float | None = None,
        metadata: Metadata | None = None,
    ) -> Any: ...
    def streaming(
        self,
        api: Api,
        place: int,
        values: Iterable[Any],
        timeout: float | None = None,
        metadata: Metadata | None = None,
    ) -> Messages: ...
    def start_reflect(self, inbox: Inbox, future: Any) -> Started: ...
    def start_unary(
        self,
        api: Api,
        place: int,
        value: Any,
        inbox: Inbox,
        future: Any,
        timeout: float | None = None,
        metadata: Metadata | None = None,
    ) -> Started: ...
    def open_server_streaming(
        self, api: Api, place: int, value: Any, timeout: float | None = None, metadata: Metadata | None = None
    ) -> AsyncMessages: ...
    def start_client_streaming(
        self,
        api: Api,
        place: int,
        inbox: Inbox,
        future: Any,
        timeout: float | None = None,
        metadata: Metadata | None = None,
    ) -> tuple[Started, Requests]: ...
    def open_streaming(
        self, api: Api, place: int, inbox: Inbox, timeout: float | None = None, metadata: Metadata | None = None
    ) -> tuple[AsyncMessages, Requests]: ...

class Completion:
    def set_task(self, task: Any) -> None: ...
    def finish(self, value: Any) -> None: ...
    def fail(self, error: BaseException) -> None: ...

class Server:
    def __init__(
        self,
        address: str,
        functions: Sequence[tuple[Api, int, Callable[..., Any], str, str | None, tuple[int, float] | None]],
        report: Callable[[str, BaseException], None],
        shows_errors: bool,
        threads: int,
        workers: int,
        doors: Sequence[str],
        hosts: Sequence[str],
        origins: Sequence[str],
        tls: tuple[bytes, bytes, bytes | None] | None = None,
        event_loop: tuple[Inbox, Callable[..., None]] | None = None,
    ) -> None: ...
    @property
    def address(self) -> str: ...
    def stop(self, inbox: Inbox | None = None, future: Any = None) -> None: ...
    def close(self) -> None: ...

def forked() -> None: ...
