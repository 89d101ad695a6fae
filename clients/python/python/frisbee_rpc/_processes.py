"""The process pool of a server. This module is imported when the first function with ``process=True`` is added."""

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
"""Maximum number of queued and running calls per process. A further call would wait for as many runs of a function."""

#: Whether the function has returned, its pickled result or exception, and the text of the exception's traceback.
_Outcome = tuple[bool, bytes, str]
_Future = concurrent.futures.Future[_Outcome]


def _prepare() -> None:
    """Prepares a process of the pool. It must exit whenever its parent exits, even if the parent is killed."""
    # A Ctrl-C in a terminal reaches all processes. It is ignored here, because the parent drains its calls.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def watch(sentinel: int) -> None:
        connection.wait([sentinel])
        os._exit(1)

    if parent is not None:
        threading.Thread(target=watch, args=(parent.sentinel,), daemon=True).start()


def _run(call: bytes) -> _Outcome:
    """Runs a function in a process of the pool. The outcome is pickled here, because an exception while the pool
    pickles it would fail all calls of the pool."""
    try:
        function, arguments = pickle.loads(call)
        # A copy of the context prevents a call from seeing the context variables of an earlier call.
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
    """The traceback of an exception that was raised in another process."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


class Processes:
    """Processes that import the program and run its functions. Pickle is used only between the program and these
    processes. Bytes from peers are decoded in the main process and are never unpickled."""

    def __init__(self, count: int | None) -> None:
        self._count = count or os.cpu_count() or 1
        self._pool: concurrent.futures.ProcessPoolExecutor | None = None
        self._lock = threading.Lock()
        self._waiting = 0

    def served(self, function: Callable[..., Any]) -> Callable[..., _Future]:
        """Returns a function that runs another one in a process, and passes its outcome to a completion."""

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
                    # A forked process would copy locks that threads of the server hold.
                    context = multiprocessing.get_context("spawn")
                    self._pool = concurrent.futures.ProcessPoolExecutor(self._count, context, _prepare)
                pool = self._pool
            try:
                return pool.submit(_run, call)
            except concurrent.futures.BrokenExecutor:
                # A process has died before the call was started.
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
            # The call was cancelled by its caller, or because the server is shutting down.
            raise Status(Code.UNAVAILABLE, "the server is ending", may_have_run=False) from None
        except concurrent.futures.BrokenExecutor:
            # The next call creates a new pool. The last reference to this pool must not be dropped here. This callback
            # runs on a thread of the pool, and that thread holds the lock that the pool's finalizer acquires.
            raise Status(Code.UNAVAILABLE, "the process has ended") from None
        outcome = pickle.loads(pickled)
        if has_returned:
            return outcome
        outcome.__cause__ = _RemoteTraceback(text)
        raise outcome

    def close(self) -> None:
        """Ends the processes when their running calls have ended."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            _retire(pool)


def _retire(pool: concurrent.futures.ProcessPoolExecutor) -> None:
    """Ends a pool when its running calls have ended. A thread references the pool until then. Dropping the last
    reference here could block, because it waits for a lock that the pool's own thread holds while the processes exit.
    """
    end = threading.Thread(target=pool.shutdown, kwargs={"cancel_futures": True}, daemon=True)
    try:
        end.start()
    except RuntimeError:
        # The interpreter is exiting, so no thread can be started. It has already shut down the pool.
        pool.shutdown(cancel_futures=True)
