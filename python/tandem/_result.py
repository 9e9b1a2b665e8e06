"""Results and plans of runs."""

from __future__ import annotations

import ctypes
import json
from typing import TYPE_CHECKING, Any, Iterator, NamedTuple

import numpy as np

from . import _html
from ._arrays import view
from ._arguments import count as whole_number
from ._arguments import text
from ._library import DeviceRow, Held, PlanEstimate, PlanMemory, ResultFacts, Summary, check, lib, texts
from ._session import note_device

if TYPE_CHECKING:
    from ._graph import Graph

__all__ = ["Result", "Plan", "Edges", "Row"]

UNREACHED = 0xFFFFFFFF
_KINDS = (("<u4", lib.td_result_u32), ("<f4", lib.td_result_f32), ("<f8", lib.td_result_f64),
          ("<u8", lib.td_result_u64))


class Edges(NamedTuple):
    """Edges as three arrays; the ends are vertex numbers."""
    source: np.ndarray
    target: np.ndarray
    weight: np.ndarray


class Row(NamedTuple):
    """An iteration of a run."""
    number: int
    direction: str
    active_vertices: int
    active_edges: int
    edges: int
    change: float
    start: float
    seconds: float


def _row(found: Any) -> Row:
    return Row(found.number, found.direction.decode() if found.direction else "", found.active_vertices,
               found.active_edges, found.edges, found.change, found.start, found.seconds)


def _rows(call: Any, handle: int, cls: Any) -> list[dict]:
    rows: list[dict] = []
    while True:
        row = cls()
        if call(handle, len(rows), ctypes.byref(row)):
            return rows
        rows.append({name: value.decode() if isinstance(value := getattr(row, name), bytes) else value
                     for name, *_ in cls._fields_ if name != "size"})


class Plan:
    """What a run would do and take: the engine, the reason, and the memory on the host and every device.

    A plan runs, once or several times: `plan.run()`.
    """

    def __init__(self, graph: "Graph", program: str, handle: int, kept: Any, memory: int, quick: bool):
        self._graph, self.program, self._handle = graph, program, handle
        self._held = Held(handle, lib.td_plan_destroy, graph._held, kept)
        self._memory, self._quick = memory, quick
        if self.engine != "cpu":  # of the same graph another engine may take long; a plan opens its devices
            self._quick = False
            for row in self.devices:
                if row["device"] != "cpu":
                    note_device(row["device"])

    @property
    def engine(self) -> str:
        """The engine that would run."""
        return lib.td_plan_engine(self._handle).decode()

    @property
    def why(self) -> str:
        """Why this engine was chosen."""
        return lib.td_plan_why(self._handle).decode()

    @property
    def fits(self) -> bool:
        """Whether the run is expected to fit the memory."""
        return lib.td_plan_fits(self._handle)

    @property
    def memory(self) -> list[dict]:
        """A row for the host's memory and for that of every device: bytes of the graph, of the run, and free."""
        return _rows(lib.td_plan_memory_row, self._handle, PlanMemory)

    @property
    def devices(self) -> list[dict]:
        """A row for every device that computes."""
        return _rows(lib.td_plan_device_row, self._handle, DeviceRow)

    @property
    def estimates(self) -> list[dict]:
        """A row for every engine: the expected seconds by phase, bytes, whether it was chosen, or why it cannot run."""
        return _rows(lib.td_estimates_row, lib.td_plan_estimates(self._handle), PlanEstimate)

    @property
    def advice(self) -> list[str]:
        """What would change the choice of the engine."""
        return texts(lib.td_estimates_advice, lib.td_plan_estimates(self._handle))

    @property
    def counters(self) -> dict[str, int]:
        """Further figures of the engine's plan, by name."""
        return {name: lib.td_plan_counter(self._handle, name.encode())
                for name in texts(lib.td_plan_counter_name, self._handle)}

    def run(self) -> "Result":
        """Runs the plan."""
        session = self._graph.session
        handle = session._make(self._quick, lib.td_result_destroy, lib.td_plan_run, self._handle,
                               memory=self._memory)
        return Result(self._graph, self, handle)

    def __str__(self) -> str:
        lines = [f"{self.program}: engine {self.engine}, because {self.why}"]
        for row in self.memory:
            lines.append(f"  {row['place']}: graph {_html.size(row['graph'])}, run {_html.size(row['program'])}, "
                         f"free {_html.size(row['free'])}{'' if row['fits'] else '; does not fit'}")
        lines += [f"  {name}: {value}" for name, value in self.counters.items()]
        for row in self.estimates:
            mark, why_not = " *" if row["chosen"] else "", row["refusal"]
            lines.append(f"  {row['engine']}{mark}: " + (why_not or f"{row['seconds']:.3g} s: open {row['open']:.3g}, prepare "
                         f"{row['prepare']:.3g}, processing {row['processing']:.3g}, finish {row['finish']:.3g}"))
        lines += [f"  {words}" for words in self.advice]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return _html.plan(self)


class Result:
    """The result of a run: one value per vertex, in the order of the graph's vertices.

    `values` is a read-only NumPy view of the library's array, which lives as long as the view; `np.asarray(result)` is
    the same. Levels and distances that were not reached are 4294967295 in whole numbers, infinity in reals: `reached`
    is the mask. Where values name groups (components, trees), a value is the number of a vertex of the group.
    """

    def __init__(self, graph: "Graph", plan: Plan, handle: int):
        self.graph, self._plan, self._handle = graph, plan, handle
        self._held = Held(handle, lib.td_result_destroy, plan._held)
        self._values: np.ndarray | None = None

    # Values.

    @property
    def program(self) -> str:
        """The name of the program."""
        return self._plan.program

    @property
    def values(self) -> np.ndarray:
        """One value per vertex; a read-only view that keeps the result alive."""
        if self._values is None:
            kind, pointer = _KINDS[lib.td_result_kind(self._handle)]
            self._values = view(pointer(self._handle), len(self.graph), kind, self._held)
        return self._values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        values = self.values
        if dtype is not None and np.dtype(dtype) != values.dtype:
            if copy is False:
                raise ValueError(f"values of type {values.dtype} become {np.dtype(dtype)} by a copy only")
            return values.astype(dtype)
        return values.copy() if copy else values

    def __len__(self) -> int:
        return len(self.graph)

    def __iter__(self) -> Iterator[Any]:
        """The values, one after the other, in the order of the graph's vertices."""
        return iter(self.values.tolist())

    def __getitem__(self, vertex: Any) -> Any:
        """The value of a vertex, by its id or label; None if it was not reached."""
        number = self.graph.find(vertex)
        value = self.values[number]
        if self.groups:
            return self.graph._label(int(value))
        return value.item() if self._is_reached(value) else None

    @staticmethod
    def _is_reached(value: Any) -> Any:
        return value != np.iinfo(value.dtype).max if value.dtype.kind == "u" else np.isfinite(value)

    @property
    def groups(self) -> bool:
        """Whether values name groups of vertices."""
        from ._programs import PROGRAMS
        return PROGRAMS[self.program].groups

    @property
    def reached(self) -> np.ndarray:
        """Whether each vertex has a value."""
        return np.ones(len(self), bool) if self.groups else self._is_reached(self.values)

    @property
    def parents(self) -> np.ndarray | None:
        """With parents=True: the vertex before each one on its path (a view); 4294967295: none."""
        address = lib.td_result_parents(self._handle)
        return view(address, len(self), "<u4", self._held) if address else None

    def path(self, target: Any) -> list | None:
        """With parents=True: the vertices on the path to a vertex, from the source on; None if there is none."""
        parents = self.parents
        if parents is None:
            raise ValueError("the run kept no parents; run it with parents=True")
        number, found = self.graph.find(target), []
        if not self._is_reached(self.values[number]):
            return None
        while True:
            found.append(number)
            above = int(parents[number])
            if above in (number, UNREACHED):
                break
            number = above
        return [self.graph._label(v) for v in reversed(found)]

    @property
    def edges(self) -> Edges | None:
        """Of a spanning forest: its edges."""
        count = ctypes.c_uint64()
        address = lib.td_result_edges(self._handle, ctypes.byref(count))
        if self.program != "mst":
            return None
        return self.graph._edges_at(view(address, count.value, "<u8", self._held))

    @property
    def total_weight(self) -> float:
        """Of a spanning forest: the sum of the weights of its edges."""
        return lib.td_result_total_weight(self._handle)

    # How it was computed.

    @property
    def converged(self) -> bool:
        """Whether the run ended by itself; False: at its limit of iterations."""
        return lib.td_result_converged(self._handle)

    @property
    def iterations(self) -> int:
        """Iterations, including those before a checkpoint that the run resumed from."""
        return lib.td_result_iterations(self._handle)

    @property
    def resumed(self) -> int:
        """Iterations before the checkpoint that the run resumed from."""
        return lib.td_result_resumed(self._handle)

    @property
    def seconds(self) -> float:
        """Seconds of processing."""
        return lib.td_result_seconds(self._handle)

    @property
    def engine(self) -> str:
        """The engine that ran."""
        return self.facts["engine"]

    @property
    def facts(self) -> dict:
        """The run in a few figures."""
        found = ResultFacts()
        check(lib.td_result_describe(self._handle, ctypes.byref(found)))
        return {name: value.decode() if isinstance(value := getattr(found, name), bytes) else value
                for name, *_ in ResultFacts._fields_ if name != "size"}

    @property
    def devices(self) -> list[dict]:
        """A row for every device that computed."""
        return _rows(lib.td_result_device_row, self._handle, DeviceRow)

    @property
    def rows(self) -> list[Row]:
        """The recorded iterations."""
        facts = self.facts
        return [_row(lib.td_result_iteration(self._handle, n).contents)
                for n in range(facts["first_row"], facts["first_row"] + facts["rows"])]

    @property
    def summary(self) -> dict:
        """The values in a few figures: reached, lowest, highest, sum, groups, largest, digest."""
        found = Summary()
        self.graph.session._call(self._plan._quick, lib.td_result_summarise, self._handle, ctypes.byref(found))
        return {name: getattr(found, name) for name, *_ in Summary._fields_ if name != "size"}

    def stats(self) -> dict:
        """The run's report, as `tandem run --json` writes it."""
        made = ctypes.c_void_p()
        self.graph.session._call(self._plan._quick, lib.td_report_json, self._plan._handle, self._handle, None,
                                 ctypes.byref(made))
        try:
            return json.loads(ctypes.string_at(made.value))  # type: ignore[arg-type]
        finally:
            lib.td_text_free(made)

    def report(self, path: Any = None) -> str:
        """A page (HTML, one file that loads nothing) that shows the run: the plan, its iterations, where the time went,
        memory. Written to `path` if one is given; `tandem.report` puts several runs side by side."""
        from ._page import report
        return report([self], path)

    def verify(self) -> str:
        """Checks the claims that a correct result fulfils, and says which; raises `tandem.Verify` if one does not
        hold."""
        claims = ctypes.c_char_p()
        self.graph.session._call(self._plan._quick, lib.td_result_claims, self._handle, ctypes.byref(claims))
        return (claims.value or b"").decode()

    # Other forms.

    def top(self, count: int = 10) -> list[tuple]:
        """The vertices with the largest values, or the largest groups with their sizes: (id, value) pairs."""
        most = min(whole_number(count, "count", most=(1 << 63) - 1), len(self))
        vertices, values, found = np.empty(most, np.uint32), np.empty(most), ctypes.c_uint64()
        if most > 0:
            self.graph.session._call(self._plan._quick, lib.td_result_top, self._handle, most, vertices.ctypes.data,
                                     values.ctypes.data, ctypes.byref(found))
        whole = self.groups or self.values.dtype.kind == "u"
        return [(self.graph._label(int(v)), int(x) if whole else float(x))
                for v, x in zip(vertices[:found.value], values[:found.value])]

    def to_series(self) -> Any:
        """A pandas Series: the index has the ids or labels of the vertices; what was not reached is <NA>."""
        import pandas
        from ._programs import PROGRAMS
        index = pandas.Index(self.graph.ids, name="vertex", copy=False)
        name = PROGRAMS[self.program].result
        if self.groups:
            return pandas.Series(self.graph.ids[self.values], index, name=name)
        reached = self.reached
        if self.values.dtype.kind == "u" and not reached.all():
            return pandas.Series(pandas.arrays.IntegerArray(self.values.copy(), ~reached), index, name=name)
        return pandas.Series(self.values, index, name=name, copy=False)

    def to_pandas(self) -> Any:
        """A pandas DataFrame: vertex, value and, with parents=True, parent; of a forest: source, target, weight."""
        import pandas
        ids = self.graph.ids
        if (edges := self.edges) is not None:
            return pandas.DataFrame({"source": ids[edges.source], "target": ids[edges.target],
                                     "weight": edges.weight})
        series = self.to_series()
        frame = pandas.DataFrame({"vertex": ids, series.name: series.array})
        if (parents := self.parents) is not None:
            none = parents == UNREACHED
            found = pandas.Series(ids[np.where(none, 0, parents)], dtype=object if ids.dtype == object else None)
            frame["parent"] = found.convert_dtypes().mask(none)
        return frame

    def save(self, path: Any, format: str | None = None) -> None:
        """Writes a line "id value" per vertex, or "source target weight" per edge of a forest. `format`: "tsv" (None),
        "csv" or "graphalytics"."""
        self.graph.session._call(self._plan._quick, lib.td_result_save, self._handle, text(path, "path"),
                                 text(format, "format") if format else None)

    def __repr__(self) -> str:
        state = "" if self.converged else ", not converged"
        return (f"<tandem {self.program}: {len(self)} values of {self.values.dtype}, {self.iterations} iterations, "
                f"{self.seconds:.3g} s on {self.engine}{state}>")

    def _repr_html_(self) -> str:
        return _html.result(self)
