"""Batches: runs of one program from many sources, which share one plan and, where the engine can, their searches."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Iterator, NamedTuple

import numpy as np

from . import _html
from ._arrays import view
from ._library import BatchFacts, Held, Summary, check, lib
from ._result import _KINDS, Plan

if TYPE_CHECKING:
    from ._graph import Graph

__all__ = ["Batch", "Found"]

_FIGURES = ("reached", "lowest", "highest", "sum", "digest")


class Found(NamedTuple):
    """What the run from one source found."""
    source: Any
    values: np.ndarray
    seconds: float


class Batch:
    """Runs from many sources. Iterating gives a `Found` for each, in their order: the source, one value per vertex and
    the seconds of processing (of a search that several sources share, its part).

    Nothing runs before the first is asked for, and only a few results are held at a time; `values` has all of them, a
    row for each source. Every iteration runs anew.
    """

    def __init__(self, graph: "Graph", plan: Plan, sources: list):
        self.graph, self.plan, self.sources = graph, plan, sources
        self._facts: dict = {}
        self._values: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.sources)

    @property
    def program(self) -> str:
        """The name of the program."""
        return self.plan.program

    @property
    def facts(self) -> dict:
        """The last iteration over the batch in a few figures: sources, at_once (of one search), searches,
        edges_processed, words, prepare_seconds, seconds, finish_seconds."""
        return self._facts

    def _results(self) -> Iterator[int]:
        """The library's results, each valid until the next."""
        session, quick = self.graph.session, self.plan._quick
        handle = session._make(quick, lib.td_batch_destroy, lib.td_batch_create, self.plan._handle)
        held = Held(handle, lib.td_batch_destroy, self.plan._held)
        while result := session._make(quick, lambda _: None, lib.td_batch_next, held.value, memory=self.plan._memory):
            found = BatchFacts()
            check(lib.td_batch_describe(held.value, ctypes.byref(found)))
            self._facts = {name: getattr(found, name) for name, *_ in BatchFacts._fields_ if name != "size"}
            yield result

    def _copy(self, result: int) -> np.ndarray:
        kind, pointer = _KINDS[lib.td_result_kind(result)]
        return view(pointer(result), len(self.graph), kind, None).copy()

    def __iter__(self) -> Iterator[Found]:
        for source, result in zip(self.sources, self._results()):
            yield Found(source, self._copy(result), lib.td_result_seconds(result))

    @property
    def values(self) -> np.ndarray:
        """All values: a row for each source, a column for each vertex. Computed once."""
        if self._values is None:
            rows = [found.values for found in self]
            self._values = np.stack(rows)
        return self._values

    def summary(self) -> list[dict]:
        """The values of each source in a few figures: source, reached, lowest, highest, sum, digest, seconds."""
        rows = []
        for source, result in zip(self.sources, self._results()):
            found = Summary()
            self.graph.session._call(self.plan._quick, lib.td_result_summarise, result, ctypes.byref(found))
            row = {"source": source, "seconds": lib.td_result_seconds(result)}
            rows.append(row | {name: getattr(found, name) for name in _FIGURES})
        return rows

    def __repr__(self) -> str:
        return f"<tandem {self.program} from {len(self)} sources on {self.plan.engine}>"

    def _repr_html_(self) -> str:
        return _html.batch(self)
