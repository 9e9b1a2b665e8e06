"""Graphs: opened, made from other libraries' objects, and run."""

from __future__ import annotations

import contextlib
import ctypes
import os
from typing import Any, Callable, Iterable, Iterator, Mapping

import numpy as np

from . import _html
from ._arguments import NumberFile, count, parse_size, setting, share, text
from ._arrays import given, is_array, laid_out, numbers, taken, view, whole
from ._batch import Batch
from ._library import (ITERATION_FN, RELEASE, Array, Csr, EdgeArrays, Error, GraphOptions, GraphParts, Held, Request, check,
                       Device, NoMemory, NotFound, lib)
from ._labels import Coded, ends, is_labels, number, objects
from ._programs import PROGRAMS, Programs
from ._result import Edges, Plan, Result, _row
from ._session import QUICK_EDGES, Session, default_session, note_device

__all__ = ["Graph"]

_PLACES = {"auto": 0, "memory": 1, "disk": 2}
_MODES = {None: 0, "sync": 1, "async": 2}
_keep_nothing = RELEASE(lambda context: None)  # the graph's handle keeps the arrays
QUICK_WORK = 200_000_000  # edges processed in well under a second


_WEIGHT_TYPES = {None: None, "float32": "f32", "float64": "f64"}


def _stored(weight_type: str | None) -> str | None:
    if weight_type not in _WEIGHT_TYPES:
        raise ValueError(f"weight_type={weight_type!r} is none of 'float32', 'float64'")
    return _WEIGHT_TYPES[weight_type]


@contextlib.contextmanager
def _words_of_weights() -> Iterator[None]:
    """Of a graph of arrays the type of weights is not an argument called weights=, as it is of a file."""
    try:
        yield
    except Error as raised:
        raised.message = raised.message.replace("weights= f64", "weight_type='float64'")
        raised.option = "weight_type=" if raised.option == "weights=" else raised.option
        raise


def _options(directed: bool, dedup: bool, drop_loops: bool, weights: str | None = None, seed: int = 1,
             drop_weights: bool = False, format: str | None = None, edges: str = "auto") -> GraphOptions:
    if edges not in _PLACES:
        raise ValueError(f"edges={edges!r} is none of {', '.join(_PLACES)}")
    return GraphOptions(symmetrize=not directed, dedup=dedup, drop_loops=drop_loops, drop_weights=drop_weights,
                        weights=text(weights, "weights") if weights else None,
                        weight_seed=count(seed, "weight_seed", most=(1 << 64) - 1),
                        format=text(format, "format") if format else None, edges=_PLACES[edges])


class Graph(Programs):
    """A graph in the library's memory, or a .tg file on disk.

    Vertices are numbered from 0 in ascending order of their ids; `ids` translates. Results are arrays in that order.
    Make a graph with `Graph.open`, `from_edges`, `from_scipy`, `from_pandas`, `from_arrow` or `from_networkx`, and run
    a program on it by its name: `graph.pagerank()`, `graph.bfs(source)`.
    """

    def __init__(self, handle: int, session: Session, *, labels: np.ndarray | None = None, kept: Any = None,
                 copies: Iterable[str] = (), name: str | None = None):
        self._handle, self._session = handle, session
        self._held = Held(handle, lib.td_graph_destroy, kept)
        self._labels = labels
        self._numbers: dict[Any, int] | None = None
        self._parts: GraphParts | None = None
        self._ids: np.ndarray | None = None
        self._vertices, self._edges = lib.td_graph_vertices(handle), lib.td_graph_edges(handle)
        self.name = name
        self.copies: tuple[str, ...] = tuple(copies)

    # Making graphs.

    @classmethod
    def open(cls, path: str | os.PathLike, *, format: str | None = None, directed: bool = True, dedup: bool = False,
             drop_loops: bool = False, weights: str | None = None, weight_seed: int = 1, drop_weights: bool = False,
             edges: str = "auto", memory: int | str | None = None, session: Session | None = None) -> "Graph":
        """Reads a graph file of any format that Tandem knows.

        Parameters
        ----------
        path : str or path
            The file, also compressed; "web.txt.gz", "graph.tg".
        format : str, optional
            The format; None: recognised by name and contents.
        directed : bool
            False adds the reverse of every edge.
        dedup, drop_loops, drop_weights : bool
            Keep one edge per pair of vertices, the lightest; drop edges from a vertex to itself; drop weights.
        weights : str, optional
            Random weights of a range: "1:100", "0.5:2.0", from `weight_seed`. "f64": those of the file as 64-bit
            floats; "f32": as 32-bit ones.
        edges : {"auto", "memory", "disk"}
            Where the edges of a .tg stay; "auto": in memory if the graph and a run fit the budget.
        memory : int or str, optional
            Bytes that the session may hold while the graph is read.
        session : Session, optional
            None: the process's default session.
        """
        session = session or default_session()
        options = _options(directed, dedup, drop_loops, weights, weight_seed, drop_weights, format, edges)
        handle = session._make(False, lib.td_graph_destroy, lib.td_graph_open, text(path, "path"),
                               ctypes.byref(options), memory=parse_size(memory, "memory"))
        return cls(handle, session, name=os.path.basename(os.fsdecode(path)))

    @classmethod
    def from_edges(cls, source: Any, target: Any, weights: Any = None, *, vertices: int | None = None,
                   directed: bool = True, dedup: bool = False, drop_loops: bool = False,
                   weight_type: str | None = None, session: Session | None = None) -> "Graph":
        """A graph from arrays with an entry per edge.

        Parameters
        ----------
        source, target : array of int, or of str or other labels
            The ends. Whole numbers of any type are read as they are, without a copy besides the graph itself.
        weights : array of numbers, optional
            Reals are stored as 32-bit floats; whole numbers exactly, up to 4294967295.
        weight_type : str, optional
            "float64" stores weights as 64-bit floats, "float32" as 32-bit ones, whatever they are.
        vertices : int, optional
            All ids below this exist; None: vertices are the ids that occur.
        directed : bool
            False adds the reverse of every edge.
        dedup, drop_loops : bool
            Keep one edge per pair of vertices, the lightest; drop edges from a vertex to itself.
        """
        source, target = ends(source, "source"), ends(target, "target")
        labels, copies = None, ["edges: sorted into rows"]
        if is_labels(source) or is_labels(target):
            if vertices is not None:
                raise ValueError("vertices= is for ids that are numbers")
            labels, source, target = number(source, target)
            vertices = len(labels)
            copies.append("ids: labels were numbered")
        if source.shape != target.shape:
            raise ValueError(f"source has the shape {source.shape}, target {target.shape}")
        source, target = whole(source, "source"), whole(target, "target")
        numeric = numbers(weights, "weights", len(source))
        session = session or default_session()
        edges = EdgeArrays(count=len(source), sources=given(source), targets=given(target), weights=given(numeric),
                           vertices=0 if vertices is None else count(vertices, "vertices", 1 if len(source) else 0))
        options = _options(directed, dedup, drop_loops, _stored(weight_type))
        with _words_of_weights():
            handle = session._make(len(source) <= QUICK_EDGES, lib.td_graph_destroy, lib.td_graph_from_arrays,
                                   ctypes.byref(edges), ctypes.byref(options))
        return cls(handle, session, labels=labels, copies=copies)

    @classmethod
    def from_csr(cls, offsets: Any, targets: Any, weights: Any = None, *, directed: bool = True, dedup: bool = False,
                 drop_loops: bool = False, weight_type: str | None = None, labels: np.ndarray | None = None,
                 session: Session | None = None) -> "Graph":
        """A graph from compressed sparse rows: the targets of vertex v are targets[offsets[v]:offsets[v + 1]].

        Without a copy where the arrays are what a graph stores: 64-bit offsets, 32-bit targets in ascending order,
        32-bit float weights. Such arrays must not change while the graph lives. `copies` says what was copied.
        `weight_type` as in `from_edges`.
        """
        handed = {"offsets": offsets, "targets": targets, "weights": weights}
        offsets, targets = whole(offsets, "offsets"), whole(targets, "targets")
        if len(offsets) == 0:
            offsets = np.zeros(1, np.uint64)
        numeric = numbers(weights, "weights", len(targets))
        session = session or default_session()
        rows = Csr(vertices=len(offsets) - 1, edges=len(targets), offsets=given(offsets), targets=given(targets),
                   weights=given(numeric), release=_keep_nothing)
        options = _options(directed, dedup, drop_loops, _stored(weight_type))
        with _words_of_weights():
            handle = session._make(len(targets) <= QUICK_EDGES, lib.td_graph_destroy, lib.td_graph_from_csr,
                                   ctypes.byref(rows), ctypes.byref(options))
        graph = cls(handle, session, labels=labels, kept=(offsets, targets, numeric))
        parts = graph._describe()
        stated = (("offsets", offsets, parts.borrows_offsets, "uint64"),
                ("targets", targets, parts.borrows_targets, "uint32"),
                ("weights", numeric, parts.borrows_weights, graph.weight_type))
        graph.copies = tuple(
            f"{what}: not contiguous, or not aligned" for what, array, *_ in stated if laid_out(handed[what], array)
        ) + tuple(
            f"{what}: {type(handed[what]).__name__} to array" for what, array, borrowed, _ in stated
            if array is not None and borrowed and len(array) and not is_array(handed[what])
        ) + tuple(
            f"{what}: {array.dtype} to {stored}" if array.dtype.itemsize != np.dtype(stored).itemsize
            or (array.dtype.kind == "f") != (np.dtype(stored).kind == "f") else f"{what}: put in order"
            for what, array, borrowed, stored in stated if array is not None and not borrowed)
        return graph

    @classmethod
    def from_scipy(cls, matrix: Any, *, weights: bool = True, directed: bool = True, dedup: bool = False,
                   drop_loops: bool = False, weight_type: str | None = None,
                   session: Session | None = None) -> "Graph":
        """A graph from a SciPy sparse matrix or array: entry (u, v) is the edge u -> v, its value the weight.

        A CSR matrix with sorted indices is used without a copy as far as its types allow (`from_csr`). Entries that
        are stored as zeros are edges. `weights=False` leaves the values out; so does a matrix of booleans.
        """
        if not hasattr(matrix, "format"):
            raise TypeError(f"{type(matrix).__name__} is no sparse matrix of SciPy")
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise ValueError(f"the matrix has the shape {matrix.shape}; a graph's is square")
        with_values = weights and matrix.dtype != bool
        if matrix.format == "coo":
            return cls.from_edges(matrix.row, matrix.col, matrix.data if with_values else None,
                                  vertices=matrix.shape[0] or None, directed=directed, dedup=dedup,
                                  drop_loops=drop_loops, weight_type=weight_type, session=session)
        rows = matrix if matrix.format == "csr" else matrix.tocsr()
        graph = cls.from_csr(rows.indptr, rows.indices, rows.data if with_values else None, directed=directed,
                             dedup=dedup, drop_loops=drop_loops, weight_type=weight_type, session=session)
        if rows is not matrix:
            graph.copies = (f"matrix: {matrix.format} to csr", *graph.copies)
        return graph

    @classmethod
    def from_pandas(cls, frame: Any, source: str = "source", target: str = "target", weight: str | None = None,
                    **options: Any) -> "Graph":
        """A graph from a DataFrame with a row per edge; `options` are those of `from_edges`.

        Columns of strings or categories become labels of the vertices.
        """
        import pandas
        for column in (source, target) + (() if weight is None else (weight,)):
            if frame[column].isna().any():
                row = int(np.argmax(frame[column].isna().to_numpy()))
                raise ValueError(f"column {column!r} has no value in row {row}; edges have two ends and a weight")
        weights = None if weight is None else frame[weight].to_numpy()
        columns = [frame[source], frame[target]]
        labelled = any(column.dtype.kind not in "iufb" for column in columns)

        def ready(column: Any) -> Any:
            if isinstance(column.dtype, pandas.CategoricalDtype):
                return Coded(column.cat.codes.to_numpy(), np.asarray(column.cat.categories, object))
            if not labelled:
                return column.to_numpy()
            codes, labels = pandas.factorize(column)
            return Coded(codes, np.asarray(labels, object))
        return cls.from_edges(ready(columns[0]), ready(columns[1]), weights, **options)

    @classmethod
    def from_arrow(cls, table: Any, source: str | int = 0, target: str | int = 1,
                   weight: str | int | None = None, **options: Any) -> "Graph":
        """A graph from anything with Arrow's C stream: tables of pyarrow, polars, DuckDB, pandas.

        `source`, `target` and `weight` are columns by name or place. Strings and dictionaries become labels of the
        vertices. `options` are those of `from_edges`. Columns in one piece are read without a copy.
        """
        from ._arrow import columns
        wanted = [source, target] + ([] if weight is None else [weight])
        read, copies, keep = columns(table, wanted)
        if len(read) == 3 and isinstance(read[2], Coded):
            raise TypeError(f"column {weight!r} has labels; weights are numbers")
        graph = cls.from_edges(read[0], read[1], read[2] if weight is not None else None, **options)
        graph.copies = (*copies, *graph.copies)
        del keep
        return graph

    @classmethod
    def from_networkx(cls, graph: Any, weight: str | None = None, *, session: Session | None = None) -> "Graph":
        """A graph from NetworkX's: nodes are vertices in the order of the graph, and their names the labels.

        `weight` is the edge attribute to use as weight (1 where an edge has none); None: no weights.
        """
        nodes = list(graph)
        place = {node: i for i, node in enumerate(nodes)}
        entries = list(graph.edges(data=weight, default=1)) if weight is not None else list(graph.edges())
        count = len(entries)
        source = np.fromiter((place[e[0]] for e in entries), np.uint32, count)
        target = np.fromiter((place[e[1]] for e in entries), np.uint32, count)
        weights = [e[-1] for e in entries] if weight is not None and count else None
        made = cls.from_edges(source, target, weights, vertices=len(nodes) or None, directed=graph.is_directed(),
                              session=session)
        if nodes != list(range(len(nodes))):
            made._labels = objects(nodes)
        return made

    def reverse(self) -> "Graph":
        """The same vertices with every edge turned round; shares this graph's memory."""
        handle = self._session._make(True, lib.td_graph_destroy, lib.td_graph_reversed, self._handle)
        return Graph(handle, self._session, labels=self._labels, kept=self._held, name=self.name)

    def on(self, session: Session) -> "Graph":
        """This graph for the runs of another session, so that several threads may run on it at once."""
        other = object.__new__(Graph)
        other.__dict__.update(self.__dict__)
        other._session = session
        return other

    def __copy__(self) -> "Graph":
        return self.on(self._session)

    def __reduce__(self) -> Any:
        raise TypeError("a graph cannot be pickled: save it to a file, and let the other process open it")

    # What it is.

    @property
    def session(self) -> Session:
        """The session that runs on it."""
        return self._session

    def __len__(self) -> int:
        return self._vertices

    def __contains__(self, vertex: Any) -> bool:
        """Whether the graph has a vertex of this id or label."""
        try:
            self.find(vertex)
        except (NotFound, TypeError):
            return False
        return True

    @property
    def vertices(self) -> int:
        """The number of vertices."""
        return self._vertices

    @property
    def edges(self) -> int:
        """The number of directed edges; an undirected edge counts twice."""
        return self._edges

    @property
    def symmetric(self) -> bool:
        """Whether every edge has its reverse, of the same weight."""
        return lib.td_graph_symmetric(self._handle)

    @property
    def on_disk(self) -> bool:
        """Whether the edges stay on disk."""
        return lib.td_graph_on_disk(self._handle)

    @property
    def weight_type(self) -> str | None:
        """The type in which weights are stored: uint8, uint16, uint32, float32, float64; None: no weights."""
        kind = lib.td_graph_weights(self._handle).decode()
        return {"none": None, "u8": "uint8", "u16": "uint16", "u32": "uint32", "f32": "float32",
                "f64": "float64"}[kind]

    def _describe(self) -> GraphParts:
        if self._parts is None:
            self._parts = GraphParts()
            check(lib.td_graph_describe_parts(self._handle, ctypes.byref(self._parts)))
        return self._parts

    @property
    def offsets(self) -> np.ndarray:
        """Where the targets of each vertex begin, and the end (a view)."""
        return view(self._in_memory().offsets, self._vertices + 1, np.uint64, self._held)

    @property
    def targets(self) -> np.ndarray:
        """The targets of all vertices, each list in ascending order (a view)."""
        return view(self._in_memory().targets, self._edges, np.uint32, self._held)

    @property
    def weights(self) -> np.ndarray | None:
        """The weights of all edges, in the order of `targets` (a view); None: there are none."""
        return taken(self._in_memory().weights, self._edges, self._held)

    def _in_memory(self) -> GraphParts:
        if self.on_disk:
            raise ValueError("the edges of this graph stay on disk; open it with edges='memory'")
        return self._describe()

    @property
    def ids(self) -> np.ndarray:
        """The ids or labels of the vertices, in their order."""
        if self._labels is not None:
            return self._labels
        if self._ids is None:
            parts = self._describe()
            first = parts.first_id
            self._ids = (view(parts.ids, self._vertices, np.uint64, self._held) if parts.ids
                         else np.arange(first, first + self._vertices, dtype=np.uint64 if first >> 63 else np.int64))
        return self._ids

    def find(self, vertex: Any) -> int:
        """The number of a vertex, from its id or label; raises `tandem.NotFound`."""
        found = ctypes.c_uint32()
        check(lib.td_graph_find(self._handle, self._id(vertex), ctypes.byref(found)))
        return found.value

    def _id(self, vertex: Any) -> int:
        """The library's id of a vertex."""
        if self._labels is None:
            try:
                number = vertex.__index__()
            except AttributeError:
                raise TypeError(f"vertex {vertex!r} is no whole number; the graph's ids are") from None
            if not 0 <= number < 1 << 64:
                raise NotFound(f"vertex {vertex!r} is not in the graph")
            return number
        if self._numbers is None:
            self._numbers = {label: i for i, label in enumerate(self._labels.tolist())}
        try:
            return self._numbers[vertex]
        except KeyError:
            raise NotFound(f"vertex {vertex!r} is not in the graph") from None

    def _label(self, number: int) -> Any:
        """The id or label of a vertex number."""
        if self._labels is not None:
            return self._labels[number]
        return lib.td_graph_vertex_id(self._handle, number)

    def degree(self, vertex: Any) -> int:
        """The number of out-edges of a vertex."""
        return lib.td_graph_degree(self._handle, self.find(vertex))

    def neighbors(self, vertex: Any) -> np.ndarray:
        """The ids or labels of the targets of a vertex's out-edges; from disk too."""
        number = self.find(vertex)
        found = np.empty(lib.td_graph_degree(self._handle, number), np.uint32)
        check(lib.td_graph_read_targets(self._handle, number, found.ctypes.data))
        return self.ids[found]

    def _edges_at(self, places: np.ndarray) -> Edges:
        """Edges by their numbers."""
        offsets, weights = self.offsets, self.weights
        source = (np.searchsorted(offsets, places, side="right") - 1).astype(np.uint32)
        picked = places.astype(np.int64)
        return Edges(source, self.targets[picked], np.ones(len(places)) if weights is None else weights[picked])

    def to_scipy(self) -> Any:
        """A SciPy CSR array that shares the graph's targets and weights (ones, if it has none)."""
        from scipy import sparse
        weights = self.weights
        data = np.ones(self._edges, np.uint8) if weights is None else weights
        indices = self.targets.view(np.int32)
        small = self._edges < 1 << 31
        made = sparse.csr_array((self._vertices, self._vertices), dtype=data.dtype)
        made.data, made.indices = data, indices if small else indices.astype(np.int64)
        made.indptr = self.offsets.astype(np.int32) if small else self.offsets.view(np.int64)
        return made

    def save(self, path: str | os.PathLike, format: str | None = None) -> None:
        """Writes the graph: .tg, or another format by the suffix of the path or by `format`."""
        self._session._call(self._edges <= QUICK_EDGES, lib.td_graph_save, self._handle, text(path, "path"),
                            text(format, "format") if format else None)

    # Running.

    def _plan(self, program: str, parameters: dict, *, source: Any = None, sources: Any = None,
              tolerance: float | None = None, mode: str | None = None, parents: bool = False, iterations: int | None = None,
              engine: str | None = None, devices: Any = None, memory: Any = None, gpu_memory: Any = None,
              gpu_edges: Any = None, checkpoint: Any = None, checkpoint_every: int | None = None, resume: Any = None,
              settings: Mapping[str, object] | None = None, progress: Any = None) -> Plan:
        request = Request()
        kept: list[Any] = []
        if source is not None:
            request.has_source, request.source = True, self._id(source)
        if sources is not None:
            sources = list(sources)
            ids = (ctypes.c_uint64 * len(sources))(*[self._id(vertex) for vertex in sources])
            kept.append(ids)
            request.sources, request.source_count = ids, len(sources)
        if tolerance is not None:
            request.has_tolerance, request.tolerance = True, tolerance
        if iterations is not None:
            request.has_iterations, request.iterations = True, count(iterations, "iterations")
        if mode is not None:
            if mode not in _MODES:
                raise ValueError(f"mode={mode!r} is neither 'sync' nor 'async'")
            request.mode = _MODES[mode]
        request.parents = parents
        if engine is not None:
            request.engine = text(engine, "engine")
        if devices is not None:
            request.devices = text(devices if isinstance(devices, str) else ",".join(devices), "devices")
        if gpu_memory is not None:
            request.gpu_memory = parse_size(gpu_memory, "gpu_memory")
        if gpu_edges is not None:
            request.gpu_edges = share(gpu_edges)
        if checkpoint is not None:
            request.checkpoint = text(checkpoint, "checkpoint")
        if checkpoint_every is not None:
            if checkpoint is None:
                raise ValueError("checkpoint_every= is for runs with checkpoint=")
            request.checkpoint_every = count(checkpoint_every, "checkpoint_every", 1)
        if resume is not None:
            request.resume = text(resume, "resume")
        if settings or any(value is not None for value in parameters.values()):
            request.settings = self._settings(program, parameters, settings or {}, kept)
        if progress:
            request.progress = _progress(progress, program, kept, self._session)
        budget = parse_size(memory, "memory")
        limit = iterations or PROGRAMS[program].iterations or 1
        quick = (self._edges <= QUICK_EDGES and self._edges * limit <= QUICK_WORK and not progress
                 and engine in (None, "cpu") and devices in (None, "cpu"))
        try:
            handle = self._session._make(quick, lib.td_plan_destroy, lib.td_session_plan, self._handle,
                                         program.encode(), ctypes.byref(request), memory=budget)
        except (Device, NoMemory):
            if devices not in (None, "cpu"):
                note_device(str(devices))  # it may have been opened before the plan failed
            raise
        return Plan(self, program, handle, kept, budget, quick)

    def _run(self, program: str, parameters: dict, *, sources: Any = None, **options: Any) -> Any:
        if sources is None:
            return self._plan(program, parameters, **options).run()
        sources = list(sources)
        return Batch(self, self._plan(program, parameters, sources=sources, **options), sources)

    def _settings(self, program: str, parameters: dict, settings: Mapping[str, object], kept: list) -> Any:
        texts = [f"{key}={setting(value)}" for key, value in settings.items()]
        for key, value in parameters.items():
            if value is not None:
                texts.append(f"{program}.{key}={self._parameter(key, value, kept)}")
        array = (ctypes.c_char_p * (len(texts) + 1))(*[text(words, "settings") for words in texts], None)
        kept.append(array)
        return ctypes.cast(array, ctypes.POINTER(ctypes.c_char_p))

    def _parameter(self, name: str, value: Any, kept: list) -> str:
        """A parameter as the library reads it; numbers per vertex go through a file."""
        if isinstance(value, Mapping) or hasattr(value, "items"):
            for vertex in value.keys():
                self.find(vertex)
            pairs = [(self._id(vertex), part) for vertex, part in value.items()]
        elif isinstance(value, (np.ndarray, list, tuple)):
            if len(value) != self._vertices:
                raise ValueError(f"there are {len(value)} numbers for {self._vertices} vertices")
            number_of = self._label if self._labels is None else int
            pairs = [(number_of(v), part) for v, part in enumerate(value)]
        elif isinstance(value, (str, os.PathLike)):
            return os.fspath(value)
        else:
            return setting(value)
        file = NumberFile(pairs, name)
        kept.append(file)
        return file.path

    def plan(self, program: str, **options: Any) -> Plan:
        """What a run of a program would do and take; `options` are those of the program's method.

        A program that needs a source is planned for the first vertex if none is given.
        """
        if program not in PROGRAMS:
            raise NotFound(f"unknown program {program!r}; there are {', '.join(PROGRAMS)}")
        facts = PROGRAMS[program]
        own = {p.name: options.pop(p.name, None) for p in facts.parameters}
        if facts.needs_source and options.get("source") is None and not options.get("sources") and self._vertices:
            options["source"] = self._label(0)
        return self._plan(program, own, **options)

    def run(self, program: str, **options: Any) -> Result:
        """Runs a program by its name; `options` are those of the program's method."""
        if program not in PROGRAMS:
            raise NotFound(f"unknown program {program!r}; there are {', '.join(PROGRAMS)}")
        return getattr(self, program)(**options)

    def __repr__(self) -> str:
        what = "symmetric" if self.symmetric else "directed"
        return (f"<tandem.Graph {self.name + ': ' if self.name else ''}{self._vertices} vertices, {self._edges} edges, "
                f"{what}, weights {self.weight_type or 'none'}{', on disk' if self.on_disk else ''}>")

    def _repr_html_(self) -> str:
        return _html.graph(self)


# Progress.

def _progress(wanted: Any, program: str, kept: list, session: Session) -> Any:
    """The callback of a run: a bar, or the user's function. What it raises stops the run and is raised by the call."""
    if wanted is not True and not callable(wanted):
        raise TypeError(f"progress={wanted!r} is neither True nor a function")
    notify = wanted if callable(wanted) else _bar_of(program, kept)

    def report(context: Any, row: Any) -> bool:
        try:
            return notify(_row(row.contents)) is not False
        except BaseException as raised:
            session._raised = session._raised or raised
            return False
    function = ITERATION_FN(report)
    kept.append(function)
    return function


def _bar_of(program: str, kept: list) -> Callable[[Any], None]:
    """Shows iterations in a bar, if tqdm is installed."""
    bar = _bar(program)
    kept.append(bar)

    def notify(row: Any) -> None:
        if bar is not None:
            bar.update(1)
            bar.set_postfix_str(f"change {row.change:.3g}" if row.change else f"{row.active_vertices} active")
    return notify


def _bar(program: str) -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(desc=program, unit="iteration")
