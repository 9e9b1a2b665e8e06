"""Tandem: graph algorithms on all of one machine.

    >>> import tandem
    >>> graph = tandem.Graph.from_edges([0, 0, 1, 2], [1, 2, 3, 3])
    >>> graph.bfs(0).values.tolist()
    [0, 1, 1, 2]

A `Graph` is opened from a file or made from arrays, SciPy, pandas, Arrow or NetworkX. It has one method per program;
each returns a `Result`, whose values are a NumPy view. `tandem.programs` and `tandem.engines` say what there is.
"""

from __future__ import annotations

import ctypes as _ctypes

from . import _library
from ._batch import Batch, Found
from ._graph import Graph
from ._library import (Cancelled, Corrupt, Device, Error, Format, Forked, InputOutput, Internal, Invalid, Limit,
                       NoMemory, NotFound, Unsupported, Usage, Verify)
from ._page import page, report
from ._programs import PROGRAMS as programs
from ._programs import Parameter, Program
from ._result import Edges, Plan, Result, Row
from ._session import Session, default_session

__version__: str = _library.version
__all__ = ["Graph", "Result", "Batch", "Found", "Plan", "Edges", "Row", "Session", "default_session", "programs",
           "Program", "Parameter", "page", "report", "engines", "memory_held", "memory_peak", "Error", "NoMemory", "Invalid", "Usage",
           "NotFound", "InputOutput", "Format", "Corrupt", "Limit", "Unsupported", "Cancelled", "Device", "Verify",
           "Internal", "Forked"]


def _engines() -> dict[str, str]:
    found = {}
    for name in _library.texts(_library.lib.td_engine_name):
        facts = _library.EngineFacts()
        _library.lib.td_engine_describe(name.encode(), _ctypes.byref(facts))
        found[name] = facts.summary.decode()
    return found


#: The engines, and what each does.
engines: dict[str, str] = _engines()


def memory_held() -> int:
    """Bytes that the library holds at present, in all sessions."""
    return _library.lib.td_memory_held()


def memory_peak() -> int:
    """The most bytes that the library held."""
    return _library.lib.td_memory_peak()
