"""The pool of processes of a server. The module is imported with the first function that is served there."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import os
import threading
from typing import Any, Callable

from ._native import Completion
from ._status import Code, Status

AHEAD = 16
"""How many calls may wait for each process. One behind them would wait for as many runs of a function."""

_Future = concurrent.futures.Future[Any]


class Processes:
    """Processes that import the program anew and run functions of it: what they take and return is pickled by this program
    and its own processes, after it has been read from the wire here."""

    def __init__(self, count: int | None) -> None:
        self._count = count or os.cpu_count() or 1
        self._pool: concurrent.futures.ProcessPoolExecutor | None = None
        self._lock = threading.Lock()
        self._waiting = 0

    def served(self, function: Callable[..., Any]) -> Callable[..., _Future]:
        """Has a process run a function; the outcome goes to a completion."""

        def submit(completion: Completion, *arguments: Any) -> _Future:
            with self._lock:
                if self._waiting >= self._count * AHEAD:
                    raise Status(Code.RESOURCE_EXHAUSTED, "too many calls wait for the processes", may_have_run=False)
                self._waiting += 1
            try:
                future = self._submit(function, arguments)
            except BaseException:
                self._leave()
                raise
            future.add_done_callback(lambda future: self._finish(completion, future))
            return future

        return submit

    def _submit(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> _Future:
        with self._lock:
            if self._pool is None:
                # A fork would copy locks that threads of the server hold.
                context = multiprocessing.get_context("spawn")
                self._pool = concurrent.futures.ProcessPoolExecutor(self._count, context)
            pool = self._pool
        try:
            return pool.submit(function, *arguments)
        except concurrent.futures.BrokenExecutor:
            # One of its processes has died. The next call has new ones.
            with self._lock:
                if self._pool is pool:
                    self._pool = None
            raise Status(Code.UNAVAILABLE, "a process has ended", may_have_run=False) from None

    def _leave(self) -> None:
        with self._lock:
            self._waiting -= 1

    def _finish(self, completion: Completion, future: _Future) -> None:
        self._leave()
        if future.cancelled():
            return
        error = future.exception()
        if isinstance(error, concurrent.futures.BrokenExecutor):
            with self._lock:
                self._pool = None
            error = Status(Code.UNAVAILABLE, "the process has ended")
        if error is None:
            completion.finish(future.result())
        else:
            completion.fail(error)

    def close(self) -> None:
        """Ends the processes, once what they run is done."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)
