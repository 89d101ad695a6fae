"""The process pool of a server. Imported with the first function that is served there."""

from __future__ import annotations

import concurrent.futures
import contextvars
import multiprocessing
import os
import pickle
import signal
import threading
import traceback
from multiprocessing import connection
from typing import Any, Callable

from ._native import Completion
from ._status import Code, Status

AHEAD = 16
"""Maximum number of queued calls per process. A further call would wait for as many runs of a function."""

#: Whether a function has returned, the pickled result or exception, and for an exception its traceback as text.
_Outcome = tuple[bool, bytes, str]
_Future = concurrent.futures.Future[_Outcome]


def _prepare() -> None:
    """Makes a process exit with its parent, for whatever reason the parent exits."""
    # Ctrl-C in a terminal reaches all processes. The parent drains.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def watch(sentinel: int) -> None:
        connection.wait([sentinel])
        os._exit(1)

    if parent is not None:
        threading.Thread(target=watch, args=(parent.sentinel,), daemon=True).start()


def _run(call: bytes) -> _Outcome:
    """Runs a function in a process. Pickles the outcome here, because an exception in the pool's own pickling would
    fail all of its calls."""
    try:
        function, arguments = pickle.loads(call)
        # Isolates context variables between calls.
        result = contextvars.copy_context().run(function, *arguments)
        return True, pickle.dumps(result), ""
    except BaseException as error:
        text = "".join(traceback.format_exception(error))
        try:
            pickled = pickle.dumps(error)
            pickle.loads(pickled)
        except Exception:
            pickled = pickle.dumps(RuntimeError(f"{type(error).__name__}: {error}"))
        return False, pickled, text


class _RemoteTraceback(Exception):
    """The traceback of an exception in another process."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


class Processes:
    """Processes that import the program and run its functions. Arguments and results are pickled only between the
    program and its own processes. Bytes from peers are decoded in this process and never unpickled."""

    def __init__(self, count: int | None) -> None:
        self._count = count or os.cpu_count() or 1
        self._pool: concurrent.futures.ProcessPoolExecutor | None = None
        self._lock = threading.Lock()
        self._waiting = 0

    def served(self, function: Callable[..., Any]) -> Callable[..., _Future]:
        """Returns a function that runs another one in a process and passes the outcome to a completion."""

        def submit(completion: Completion, *arguments: Any) -> _Future:
            call = pickle.dumps((function, arguments))
            with self._lock:
                if self._waiting >= self._count * AHEAD:
                    raise Status(Code.RESOURCE_EXHAUSTED, "too many calls wait for the processes", may_have_run=False)
                self._waiting += 1
            try:
                future = self._submit(call)
            except BaseException:
                self._leave()
                raise
            future.add_done_callback(lambda future: self._finish(completion, future))
            return future

        return submit

    def _submit(self, call: bytes) -> _Future:
        while True:
            with self._lock:
                if self._pool is None:
                    # A fork would copy locks held by threads of the server.
                    context = multiprocessing.get_context("spawn")
                    self._pool = concurrent.futures.ProcessPoolExecutor(self._count, context, _prepare)
                pool = self._pool
            try:
                return pool.submit(_run, call)
            except concurrent.futures.BrokenExecutor:
                # A process has died, and the call did not start.
                with self._lock:
                    if self._pool is pool:
                        self._pool = None
                _retire(pool)

    def _leave(self) -> None:
        with self._lock:
            self._waiting -= 1

    def _finish(self, completion: Completion, future: _Future) -> None:
        self._leave()
        try:
            completion.finish(self._outcome(future))
        except BaseException as error:
            completion.fail(error)

    def _outcome(self, future: _Future) -> Any:
        """Returns the result of a function, or raises its exception."""
        try:
            has_returned, pickled, text = future.result()
        except concurrent.futures.CancelledError:
            # Cancelled by its caller, or because the server is shutting down.
            raise Status(Code.UNAVAILABLE, "the server is ending", may_have_run=False) from None
        except concurrent.futures.BrokenExecutor:
            # The next call replaces the pool. The last reference must not be dropped here: this callback runs on the
            # pool's own thread, which holds the lock that the pool's finalizer acquires.
            raise Status(Code.UNAVAILABLE, "the process has ended") from None
        outcome = pickle.loads(pickled)
        if has_returned:
            return outcome
        outcome.__cause__ = _RemoteTraceback(text)
        raise outcome

    def close(self) -> None:
        """Ends the processes after their running calls."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            _retire(pool)


def _retire(pool: concurrent.futures.ProcessPoolExecutor) -> None:
    """Ends a pool after its running calls. A thread holds the pool until then, because dropping the last reference
    waits for a lock that the pool's own thread holds while its processes exit."""
    end = threading.Thread(target=pool.shutdown, kwargs={"cancel_futures": True}, daemon=True)
    try:
        end.start()
    except RuntimeError:
        # The interpreter is exiting, and has already shut down the pool.
        pool.shutdown(cancel_futures=True)
