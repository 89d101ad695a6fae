"""Servers of functions. The schema is created from type hints."""

from __future__ import annotations

import contextlib
import sys
import weakref
from typing import TYPE_CHECKING, Any, Awaitable, Callable, Iterable, Mapping, TypeVar, overload

from ._checks import BODY_MAX, hosts as checked_hosts, instance, integer, origins as checked_origins, seconds, texts
from ._client import DEFAULT_ADDRESS, inbox_of, pem, raise_at_yield
from ._native import Api, Completion, Reply, Schema
from ._native import Server as NativeServer
from ._status import Code, Status

if TYPE_CHECKING:
    import asyncio
    import threading
    import types
    from contextvars import Context

    from ._hints import Builder, Described
    from ._processes import Processes
    from ._topics import AsyncTopics, Topics
    from .generated import Service

__all__ = ["Server", "ServerTls"]

_Function = TypeVar("_Function", bound=Callable[..., Any])

#: A method that can be called: the schema and the index of the method in it, the function, how it is called, its
#: parameter for the context, and the maximum size and delay in seconds of a batch.
_Bound = tuple[Api, int, Callable[..., Any], str, "int | str | None", "tuple[int, float] | None"]

_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}


class ServerTls:
    """TLS settings of a server. ``certificate`` and ``key`` are the server's certificate chain and private key in PEM.
    If ``clients`` is set, clients must present a certificate signed by one of these authorities."""

    def __init__(self, certificate: str | bytes, key: str | bytes, *, clients: str | bytes | None = None) -> None:
        authorities = None if clients is None else pem("clients", clients)
        self.pem = (pem("certificate", certificate), pem("key", key), authorities)


class _Added:
    """An added function with its options."""

    def __init__(self, function: Callable[..., Any], name: str | None, frame: types.FrameType) -> None:
        from ._hints import base_of, hints_of, name_of

        self.function = function
        self.name = name_of(function) if name is None else name
        self.blocking = self.process = False
        self.batch: tuple[int, float] | None = None
        # Type hints in the form of text may refer to local names.
        self.local = None if frame.f_locals is frame.f_globals else dict(frame.f_locals)
        base = base_of(function)
        if self.local is not None and any(isinstance(hint, str) for hint in base.__annotations__.values()):
            hints_of(base, f"function {self.name}", self.local)


def _seconds(text: str | float) -> float:
    if isinstance(text, (int, float)):
        return float(text)
    for unit, factor in _UNITS.items():
        number = text.removesuffix(unit)
        if number != text and number.strip().replace(".", "", 1).isdigit():
            return float(number) * factor
    raise ValueError(f"{text!r} is no time such as '2ms'")


class Server:
    """Serves functions: decorate them with ``@server``, and call ``server.run()`` at the end.

    ``workers`` threads drive the connections. A plain function runs on such a thread, so it should return quickly. With
    ``blocking=True`` it runs on one of ``threads`` pool threads, and with ``process=True`` in one of ``processes``
    processes. Coroutine functions run in the event loop of :meth:`run` or :meth:`serve`. A generator produces a stream
    of replies.

    If a function raises a :class:`Status`, the caller receives this status. Any other exception is logged, and the
    caller receives the status ``INTERNAL``. The status contains the text of the exception only if ``shows_errors`` is
    set.

    ``protocols`` enables further protocols: ``"json-rpc"``, ``"http"`` (Connect), ``"grpc"`` and ``"websocket"``.
    ``hosts`` and ``origins`` list the accepted host names and the accepted origins of web pages. With ``topics`` the
    server is also a broker, and any client may publish and subscribe. ``history`` maps topic patterns to the number of
    messages to keep per topic, optionally with a maximum age in seconds: ``{"prices.>": 1, "orders.>": (100, 60.0)}``.

    ``body_max`` limits the length of a message in bytes, and ``memory_max`` the memory for all peers in bytes.
    ``shutdown_timeout`` is the time in seconds that calls in flight have when the server stops.
    """

    def __init__(
        self,
        name: str = "python.Functions",
        *,
        protocols: Iterable[str] = (),
        hosts: Iterable[str] = (),
        origins: Iterable[str] = (),
        tls: ServerTls | None = None,
        threads: int = 16,
        workers: int = 1,
        processes: int | None = None,
        shows_errors: bool = False,
        topics: bool = False,
        history: Mapping[str, int | tuple[int, float]] | None = None,
        body_max: int | None = None,
        memory_max: int | None = None,
        shutdown_timeout: float = 20.0,
    ) -> None:
        self._name = instance("name", name, str)
        self._has_topics = topics or bool(history)
        self._settings: dict[str, Any] = {
            "shows_errors": shows_errors,
            "threads": integer("threads", threads, 1, 65536),
            "workers": integer("workers", workers, 1, 1024),
            "protocols": texts("protocols", protocols),
            "hosts": checked_hosts(hosts),
            "origins": checked_origins(origins),
            "tls": None if tls is None else instance("tls", tls, ServerTls).pem,
            "has_topics": topics or bool(history),
            "history": [
                (pattern, *(kept if isinstance(kept, tuple) else (kept, None))) for pattern, kept in (history or {}).items()
            ],
            "body_max": None if body_max is None else integer("body_max", body_max, *BODY_MAX),
            "memory_max": None if memory_max is None else integer("memory_max", memory_max, 1024, 2**63 - 1),
            "shutdown_timeout": seconds("shutdown_timeout", shutdown_timeout),
        }
        self._functions: list[_Added] = []
        count = None if processes is None else integer("processes", processes, 1, 1024)
        self._processes: tuple[int | None, Processes | None] = (count, None)
        self._services: list[tuple[Service, bool]] = []
        self._native: NativeServer | None = None
        self._stopped: Any = None
        #: The loop of coroutine functions after :meth:`start`, and the thread that runs it.
        self._background: tuple[asyncio.AbstractEventLoop, threading.Thread] | None = None
        #: The tasks of coroutine functions. They are stored here because a loop holds only weak references to its
        #: tasks.
        self._tasks: set[asyncio.Task[None]] = set()

    @overload
    def __call__(self, function: _Function) -> _Function: ...
    @overload
    def __call__(
        self, *, name: str | None = None, blocking: bool = False, process: bool = False
    ) -> Callable[[_Function], _Function]: ...
    def __call__(
        self, function: Any = None, *, name: str | None = None, blocking: bool = False, process: bool = False
    ) -> Any:
        """Adds a function to the server, and returns it unchanged."""

        if function is not None:
            self._functions.append(_Added(function, name, sys._getframe(1)))
            return function

        def add(function: _Function) -> _Function:
            added = _Added(function, name, sys._getframe(1))
            added.blocking, added.process = blocking, process
            self._functions.append(added)
            return function

        return add

    def batch(
        self, *, max_size: int = 64, max_delay: str | float = "2ms", name: str | None = None
    ) -> Callable[[_Function], _Function]:
        """Adds a function that takes a list for each parameter and returns a list. Concurrent calls are combined into
        one call of the function.

        The function is called in three cases: ``max_size`` calls are queued, as many calls are queued as were in flight
        with the last batch, or the first call has waited for ``max_delay``. A single caller waits only once. An
        exception in the returned list fails only the corresponding call. When 16 batches are queued, further calls fail
        immediately with ``RESOURCE_EXHAUSTED``.
        """
        if max_size < 1:
            raise ValueError("a batch has one call at least")
        options = (max_size, _seconds(max_delay))

        def add(function: _Function) -> _Function:
            added = _Added(function, name, sys._getframe(1))
            added.batch = options
            self._functions.append(added)
            return function

        return add

    def add(self, service: Service, *, blocking: bool = False) -> Server:
        """Adds a service of a schema. ``service`` is an object of a class that derives from the generated one.

        Methods may be plain functions, coroutine functions, or generators of both kinds, and run like added functions.
        Calls of methods that are not implemented fail with ``UNIMPLEMENTED``.
        """
        self._services.append((service, blocking))
        return self

    def _described(self) -> Builder:
        from ._hints import Builder

        builder = Builder(self._name)
        for added in self._functions:
            builder.add(added.function, added.name, added.blocking, added.batch, added.process, added.local)
        return builder

    def proto(self) -> str:
        """Returns the schema as the text of a ``.proto`` file, for callers in other languages."""
        return self._described().proto()

    @property
    def address(self) -> str:
        """Returns the address that the server is bound to, including the port."""
        if self._native is None:
            raise RuntimeError("the server has not started")
        return self._native.address

    def start(self, address: str = DEFAULT_ADDRESS, *, _loop: asyncio.AbstractEventLoop | None = None) -> Server:
        """Starts to serve in the background. Coroutine functions run in an event loop on a separate thread."""
        if self._native is not None:
            raise RuntimeError("the server has started before")
        functions = self._all_bound()
        if not functions and not self._has_topics:
            raise RuntimeError("the server has no functions")
        own = None
        if _loop is None and self._needs_loop():
            import asyncio

            _loop = own = asyncio.new_event_loop()
        event_loop = None if _loop is None else (inbox_of(_loop), _beginner(_loop, self._tasks))
        try:
            self._native = NativeServer(address, functions, _report, self._settings, event_loop)
        except BaseException:
            if own is not None:
                own.close()
            raise
        if own is not None:
            import threading

            thread = threading.Thread(target=_drive, args=(own,), name="frisbee-rpc-loop", daemon=True)
            self._background = (own, thread)
            thread.start()
        _RUNNING.add(self)
        return self

    def topics(self) -> Topics:
        """Returns the topics of this server's broker, to publish and subscribe within this process."""
        from ._topics import Topics

        if self._native is None:
            raise RuntimeError("the server has not started")
        return Topics(self._native.topics())

    def async_topics(self) -> AsyncTopics:
        """Like :meth:`topics`, for asyncio."""
        from ._topics import AsyncTopics

        if self._native is None:
            raise RuntimeError("the server has not started")
        return AsyncTopics(self._native.topics())

    def _offered(self) -> Any:
        """Returns the functions for a client that serves them to its server. Coroutine functions run in the current
        event loop."""
        import asyncio

        loop = asyncio._get_running_loop()
        event_loop = None if loop is None else (inbox_of(loop), _beginner(loop, self._tasks))
        return self._all_bound(), _report, self._settings["shows_errors"], self._settings["threads"], event_loop

    def _all_bound(self) -> list[_Bound]:
        functions = self._bound_functions() if self._functions else []
        for service, blocking in self._services:
            functions += _methods(service, blocking)
        return functions

    def _bound_functions(self) -> list[_Bound]:
        described = self._described()
        file = f"{self._name.replace('.', '/')}.proto"
        # Methods of functions are numbered after those of services, because the schema of services is fixed.
        last = max((service._package.last_operation for service, _ in self._services), default=None)
        schema = Schema.parse([(file, described.proto())], None if last is None else (last // 100 + 1) * 100)
        indexes = {name: index for index, (_, name, *_) in enumerate(schema.methods())}
        api = Api(schema, described.forms, described.fields)
        return [
            (api, indexes[function.name], self._call(function), function.kind, function.context, function.batch)
            for function in described.functions
        ]

    def _call(self, function: Described) -> Callable[..., Any]:
        """Returns what to call for a function: the function itself, or a function that runs it in a process."""
        if function.kind != "process":
            return function.call
        from ._processes import Processes

        count, pool = self._processes
        if pool is None:
            pool = Processes(count)
            self._processes = (count, pool)
        return pool.served(function.call)

    def _close_processes(self) -> None:
        count, pool = self._processes
        self._processes = (count, None)
        if pool is not None:
            pool.close()

    def stop(self) -> None:
        """Shuts the server down. Returns when the calls in flight have ended.

        Raises ``RuntimeError`` if the server has failed. Also raises it within a function of the server, because the
        call of this function is in flight.
        """
        self._stop(None)

    def _stop(self, limit: float | None) -> None:
        if self._is_in_function():
            raise RuntimeError("a function cannot stop its server, which would wait for it: use another thread")
        native, self._native = self._native, None
        background, self._background = self._background, None
        try:
            if native is not None:
                native.stop(limit=limit)
        finally:
            self._close_processes()
            if background is not None:
                loop, thread = background
                # A task that has called `sys.exit` has already closed the loop.
                with contextlib.suppress(RuntimeError):
                    loop.call_soon_threadsafe(loop.stop)
                thread.join(limit)
            if self._stopped is not None:
                self._stopped()

    def _is_in_function(self) -> bool:
        """Returns whether the current thread is running a function of this server."""
        if self._native is None:
            return False
        import threading

        own = None if self._background is None else self._background[1]
        if self._native.is_in_function() or threading.current_thread() is own:
            return True
        import asyncio

        return asyncio._get_running_loop() is not None and asyncio.current_task() in self._tasks

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    async def serve(self, address: str = DEFAULT_ADDRESS, *, started: Callable[[], Any] | None = None) -> None:
        """Serves in the current event loop until the task is cancelled, another thread calls :meth:`stop`, or SIGTERM is
        received.

        A program that handles SIGTERM itself keeps its handler. ``started`` is a function or coroutine function that is
        called once the server listens.
        """
        import asyncio
        import signal
        import threading

        loop = asyncio.get_running_loop()
        self.start(address, _loop=loop)
        until = loop.create_future()
        self._stopped = lambda: loop.call_soon_threadsafe(_end, until)
        task = asyncio.current_task()

        def terminate() -> None:
            if not until.done():
                until.set_result(None)
            elif task is not None:
                task.cancel()

        has_signals = threading.current_thread() is threading.main_thread()
        handles = has_signals and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
        if handles:
            loop.add_signal_handler(signal.SIGTERM, terminate)
        try:
            if started is not None and asyncio.iscoroutine(begun := started()):
                await begun
            await until
        finally:
            self._stopped = None
            native, self._native = self._native, None
            try:
                if native is not None:
                    ended = Reply(loop)
                    native.stop(inbox_of(loop), ended)
                    try:
                        await ended
                    finally:
                        native.close()
            finally:
                self._close_processes()
                if handles:
                    loop.remove_signal_handler(signal.SIGTERM)

    def run(self, address: str = DEFAULT_ADDRESS, *, started: Callable[[], Any] | None = None) -> None:
        """Serves until Ctrl-C, SIGTERM, or a call of :meth:`stop` on another thread.

        Calls in flight may then continue for ``shutdown_timeout``. A second signal ends them. ``started`` is a function
        or coroutine function that is called once the server listens.
        """
        import signal
        import threading

        def begin() -> Any:
            self._announce()
            return None if started is None else started()

        has_signals = threading.current_thread() is threading.main_thread()
        if self._needs_loop() or (started is not None and _kind(started) == "loop"):
            import asyncio

            async def main() -> None:
                try:
                    await self.serve(address, started=begin)
                except asyncio.CancelledError:
                    # A second SIGTERM cancels the task. A second Ctrl-C raises KeyboardInterrupt instead.
                    pass

            try:
                asyncio.run(main())
            except KeyboardInterrupt:
                pass
            return
        stopped = threading.Event()
        self._stopped = stopped.set
        before = signal.signal(signal.SIGTERM, signal.default_int_handler) if has_signals else None
        try:
            self.start(address)
            begin()
            # The wait has a limit, because a signal on another thread or immediately before the wait does not interrupt
            # it.
            while not stopped.wait(0.5):
                pass
        except KeyboardInterrupt:
            pass
        finally:
            self._stopped = None
            try:
                self.stop()
            except KeyboardInterrupt:
                # A second signal ends the calls.
                pass
            finally:
                if has_signals:
                    signal.signal(signal.SIGTERM, before)

    def _needs_loop(self) -> bool:
        functions = self._described().functions if self._functions else []
        kinds = [function.kind for function in functions]
        kinds += [_kind(getattr(service, name)) for service, _ in self._services for name in service._methods]
        return any("loop" in kind or "async" in kind for kind in kinds)

    def _announce(self) -> None:
        protocols = ", ".join(["native", *self._settings["protocols"]])
        print(f"{self._name}: listening on {self.address} ({protocols}); Ctrl-C stops it", file=sys.stderr, flush=True)


def _kind(call: Callable[..., Any], gives: bool = False, blocking: bool = False) -> str:
    """Returns how a function is called."""
    from ._hints import form_of

    form = form_of(call)
    if form == "async generator":
        return form
    if form == "coroutine":
        return "loop"
    if gives:
        return "pool generator" if blocking else "generator"
    return "pool" if blocking else "here"


def _methods(service: Service, blocking: bool) -> list[_Bound]:
    """Returns the methods of an object with the way in which each is called."""
    api, indexes, streams = service._package.bound()
    bound: list[_Bound] = []
    for own, name in service._methods.items():
        call = getattr(service, own)
        _, gives = streams[service._service, name]
        kind = _kind(call, gives, blocking)
        if gives != kind.endswith("generator"):
            raise TypeError(f"{type(service).__name__}.{own}: {'it has to be a generator' if gives else 'no generator'}")
        bound.append((api, indexes[service._service, name], call, kind, 1, None))
    return bound


def _drive(loop: asyncio.AbstractEventLoop) -> None:
    """Runs a loop until it is stopped. Cancels the remaining tasks afterwards."""
    import asyncio

    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()


def _end(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def _beginner(loop: asyncio.AbstractEventLoop, tasks: set[asyncio.Task[None]]) -> Callable[..., None]:
    """Returns a function that starts a task for an awaitable or an asynchronous generator. The task is added to
    ``tasks``, and its outcome is passed to a completion. For a generator, the last argument is the name of the method.
    """
    from asyncio import CancelledError, current_task

    async def complete(awaitable: Awaitable[Any], completion: Completion) -> None:
        try:
            completion.finish(await awaitable)
        except CancelledError as error:
            task = current_task()
            if task is not None and task.cancelling():
                completion.fail(Status(Code.UNAVAILABLE, "the handler was cancelled"))
            else:
                # The coroutine awaited an operation that was cancelled.
                completion.fail(error)
            raise
        except BaseException as error:
            completion.fail(error)
            if _is_signal(error):
                raise
        finally:
            # The traceback of an exception refers to this frame. Deleting the variables breaks the reference cycle.
            del awaitable, completion

    async def produce(generator: Any, completion: Completion, method: str) -> None:
        try:
            async for value in generator:
                while True:
                    wanted = Reply(loop)
                    completion.send(value, wanted)
                    try:
                        await wanted
                        break
                    except CancelledError as error:
                        value = await raise_at_yield(generator, error)
        except StopAsyncIteration:
            pass  # The generator has ended after a cancellation.
        except BaseException:
            # A generator that has raised the exception itself is closed already.
            await close(generator, method)
            raise

    async def close(generator: Any, method: str) -> None:
        try:
            # Iterators other than generators have no `aclose` method.
            if aclose := getattr(generator, "aclose", None):
                await aclose()
        except CancelledError:
            raise
        except BaseException as error:
            _report(method, error)
            if _is_signal(error):
                raise

    def begin(made: Any, completion: Completion, variables: Context, generator_of: str | None) -> None:
        awaitable = made if generator_of is None else produce(made, completion, generator_of)
        task = loop.create_task(complete(awaitable, completion), context=variables)
        completion.set_task(task)
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    return begin


def _is_signal(error: BaseException) -> bool:
    """Returns whether an exception is the result of Ctrl-C. A KeyboardInterrupt that a function raises itself only
    fails its own call."""
    import signal
    import threading
    from asyncio import Runner

    if not isinstance(error, KeyboardInterrupt) or threading.current_thread() is not threading.main_thread():
        return False
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        return True
    # At the second signal, the handler of `asyncio.run` raises the exception.
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_code is Runner._on_sigint.__code__  # type: ignore[attr-defined]


def _report(method: str, error: BaseException) -> None:
    # Imported here, because importing this package should be cheap.
    import logging

    logging.getLogger("frisbee_rpc").error("%s has failed", method, exc_info=error)


_RUNNING: weakref.WeakSet[Server] = weakref.WeakSet()

#: Parts of servers that belong to the parent process. They are kept, because dropping them could wait for threads that
#: exist only in the parent.
_OF_PARENT: list[Any] = []

EXIT = 1.0
"""Time limit in seconds for calls in flight when the interpreter exits."""


def forget_all() -> None:
    """Removes the servers of the parent process. Called in the child after a fork."""
    for server in list(_RUNNING):
        _OF_PARENT.append((server._background, server._processes))
        server._background = None
        server._processes = (server._processes[0], None)
    _RUNNING.clear()


def stop_all() -> None:
    """Stops servers that are still running before the interpreter exits."""
    # Stops all of them even if one has failed.
    with contextlib.ExitStack() as stack:
        for server in list(_RUNNING):
            stack.callback(server._stop, EXIT)
