"""Sessions: the worker threads, a memory budget, and how a call is run so that Ctrl-C stops it."""

from __future__ import annotations

import ctypes
import os
import threading
import weakref
from typing import Any, Callable

from ._arguments import count, parse_size
from ._library import (Error, Forked, OptionName, SessionOptions, Usage, check, failure, lib)

__all__ = ["Session", "default_session"]

#: A call on a graph of no more edges ends before anybody could press Ctrl-C twice, and needs no thread of its own.
QUICK_EDGES = 200_000
#: Seconds between two looks of the main thread at its signals.
POLL_SECONDS = 0.1

_NAMES = {"memory": "memory=", "session_memory": "memory=", "threads": "threads=", "source": "source=",
          "sources": "sources=",
          "iterations": "iterations=", "tolerance": "tolerance=", "sync": "mode='sync'", "async": "mode='async'",
          "parents": "parents=True", "engine": "engine=", "set": "settings=", "devices": "devices=",
          "gpu_memory": "gpu_memory=", "gpu_edges": "gpu_edges=", "checkpoint": "checkpoint=",
          "every": "checkpoint_every=", "resume": "resume=", "format": "format=", "to": "format=",
          "weights": "weights=", "out_only": "out_only="}
_table = (OptionName * (len(_NAMES) + 1))(*[OptionName(k.encode(), v.encode()) for k, v in _NAMES.items()])

# Forks. A child has the parent's memory, but none of its threads and no right to its devices.

_pid = os.getpid()
_sessions: "weakref.WeakSet[Session]" = weakref.WeakSet()
_inherited: str | None = None  # why a child may not compute
_device: str | None = None  # the first device but the CPU that a session of the process used; its driver stays open


def note_device(name: str) -> None:
    """Remembers that a device was opened, or may have been."""
    global _device
    _device = _device or name


def _before_fork() -> None:
    global _why
    _why = None
    if _device is not None:
        _why = f"after {_device} had been opened"
    elif any(session._busy.locked() for session in list(_sessions)):
        _why = "while another thread ran a call of Tandem"


def _in_child() -> None:
    global _pid, _inherited, _default, _default_lock
    _pid, _inherited, _default, _default_lock = os.getpid(), _why, None, threading.Lock()
    for session in list(_sessions):
        session._handle = None  # its threads are the parent's; what it holds is lost with them
        session._busy, session._caller, session._raised = threading.Lock(), None, None


_why: str | None = None
os.register_at_fork(before=_before_fork, after_in_child=_in_child)


class Session:
    """Worker threads with a memory budget of their own.

    Parameters
    ----------
    threads : int
        Worker threads; 0: one per available processor.
    memory : int or str, optional
        Bytes that the graphs and runs of the session may hold ("2G"); None: no limit.

    A session does one call at a time; a second thread's call waits. Threads that are to compute at the same time use
    a session each. Graphs that are made without one share the process's default session.
    """

    def __init__(self, threads: int = 0, memory: int | str | None = None):
        self._threads, self._budget = count(threads, "threads", 0, (1 << 31) - 1), parse_size(memory, "memory")
        self._handle: int | None = None
        self._busy = threading.Lock()
        self._caller: int | None = None  # the thread in the library, whose callbacks may not call again
        self._raised: BaseException | None = None  # by a progress function of the call
        self._open()

    def _open(self) -> None:
        if _inherited is not None and _pid == os.getpid():
            raise Forked(f"this process was forked {_inherited}; a child of it cannot compute: start processes with "
                         "multiprocessing's 'spawn' or 'forkserver' method, or fork before the first run")
        handle = ctypes.c_void_p()
        options = SessionOptions(threads=self._threads, names=_table)
        check(lib.td_session_open(ctypes.byref(options), ctypes.byref(handle)))
        self._handle = handle.value or 0
        if self._budget:
            check(lib.td_session_set_budget(self._handle, self._budget))
        _sessions.add(self)
        weakref.finalize(self, _destroy, self._handle, os.getpid()).atexit = False

    @property
    def handle(self) -> int:
        """The library's handle; in a forked child a new one."""
        if self._handle is None:
            self._open()
        return self._handle  # type: ignore[return-value]

    @property
    def threads(self) -> int:
        """The number of worker threads."""
        return lib.td_session_threads(self.handle)

    @property
    def memory(self) -> int | None:
        """The budget in bytes; None: no limit."""
        return self._budget or None

    @memory.setter
    def memory(self, size: int | str | None) -> None:
        self._budget = parse_size(size, "memory")
        check(lib.td_session_set_budget(self.handle, self._budget))

    @property
    def memory_held(self) -> tuple[int, int]:
        """Bytes that the session holds at present, and the most that it held."""
        now, peak = ctypes.c_uint64(), ctypes.c_uint64()
        check(lib.td_session_memory(self.handle, ctypes.byref(now), ctypes.byref(peak)))
        return now.value, peak.value

    def cancel(self) -> None:
        """Asks the call that the session is doing to stop: it raises `tandem.Cancelled`. Any thread."""
        if self._handle is not None and self._busy.locked():
            lib.td_session_cancel(self._handle)

    def __repr__(self) -> str:
        budget = f", memory={self._budget}" if self._budget else ""
        return f"tandem.Session(threads={self.threads}{budget})"

    # Calls.

    def _call(self, quick: bool, function: Callable[..., int], *arguments: Any, memory: int = 0) -> None:
        """Calls the library with this session as its first argument; raises what it fails with, or what a progress
        function raised meanwhile."""
        if self._caller == threading.get_ident():
            raise Usage("a progress function cannot call the session that runs it, and would wait for itself: use a "
                        "graph of another session (graph.on(tandem.Session()))")
        handle = self.handle
        with self._busy:
            self._raised = None
            if memory:
                check(lib.td_session_set_budget(handle, memory))
            try:
                if quick or threading.current_thread() is not threading.main_thread():
                    failed = self._enter(handle, function, arguments)
                else:
                    failed = self._call_watched(handle, function, arguments)
            finally:
                raised, self._raised = self._raised, None
                lib.td_session_cancel_clear(handle)
                if memory:
                    lib.td_session_set_budget(handle, self._budget)
        if raised is not None:
            raise raised
        if failed is not None:
            raise failed

    def _enter(self, handle: int, function: Callable[..., int], arguments: tuple) -> Error | None:
        """The call itself, by the thread that makes it; what it failed with."""
        self._caller = threading.get_ident()
        try:
            status = function(handle, *arguments)
            return failure(status) if status else None
        finally:
            self._caller = None

    def _make(self, quick: bool, destroy: Callable[[int], None], function: Callable[..., int], *arguments: Any,
              memory: int = 0) -> int:
        """The handle that a call fills in as its last argument; nothing stays if it is interrupted."""
        made = ctypes.c_void_p()
        try:
            self._call(quick, function, *arguments, ctypes.byref(made), memory=memory)
        except BaseException:
            if made.value:
                destroy(made.value)
            raise
        return made.value  # type: ignore[return-value]

    def _call_watched(self, handle: int, function: Callable[..., int], arguments: tuple) -> Error | None:
        """The call runs in a worker thread while the main thread takes signals; what it failed with."""
        outcome: list[Error | None] = []
        gate, begun, ended = threading.Lock(), threading.Event(), threading.Event()
        given_up = False

        def work() -> None:
            with gate:  # a thread that comes too late does nothing: what the call would read may be gone
                if given_up:
                    return
                begun.set()
            try:
                outcome.append(self._enter(handle, function, arguments))
            finally:
                ended.set()

        worker = threading.Thread(target=work, name="tandem", daemon=True)
        interrupt: BaseException | None = None
        started = False
        while True:  # no way out while the call runs: it reads what the caller owns
            try:
                if not started:
                    started = True
                    worker.start()
                if interrupt is not None:
                    with gate:
                        given_up = not begun.is_set()  # it was interrupted before the worker was there
                    if given_up:
                        break
                    lib.td_session_cancel(handle)
                if ended.wait(POLL_SECONDS):
                    break
            except BaseException as signal:  # KeyboardInterrupt, or what a handler of the user's raises
                interrupt = interrupt or signal
        if begun.is_set():
            worker.join()
        if interrupt is not None:
            raise interrupt
        return outcome[0] if outcome else None


def _destroy(handle: int, pid: int) -> None:
    if os.getpid() == pid:
        lib.td_session_destroy(handle)


_default: Session | None = None
_default_lock = threading.Lock()


def default_session() -> Session:
    """The session that graphs without one share: one thread per available processor, no budget."""
    global _default
    with _default_lock:
        if _default is None:
            _default = Session()
        return _default
