"""A NetworkX graph as Tandem has it: the nodes in order, the rows in NetworkX's order, and the graphs built of them."""

from __future__ import annotations

import contextlib
from array import array
from collections import deque
from copy import deepcopy
from itertools import chain, repeat
from typing import Any, Callable, Hashable, Iterable, Sequence

import networkx as nx
import numpy as np
import tandem

__all__ = ["Structure", "TandemGraph", "Weights"]

LARGEST = 4294967293  # the largest whole distance
WHOLE = 2.0**53       # up to which 64-bit floats have every whole number
UNREACHED = 0xFFFFFFFF
FINEST = 30           # bits behind the point of reals that are searched as whole numbers
ROWS = 64             # rows whose attributes are read at a time


class Structure:
    """Nodes and rows of a graph, without attributes. A row has the neighbours in NetworkX's order."""

    def __init__(self, graph: nx.Graph):
        self.directed, self.multi = graph.is_directed(), graph.is_multigraph()
        self.nodes = list(graph)
        count = len(self.nodes)
        self.plain = all(type(node) is int for node in self.nodes) and self.nodes == list(range(count))
        self.place = None if self.plain else {node: i for i, node in enumerate(self.nodes)}
        self.objects: np.ndarray | None = None
        self._read(graph.adj if not hasattr(graph, "_adj") else graph._adj)
        self._graph: tandem.Graph | None = None
        self._reverse: tandem.Graph | None = None
        self._in_rows: tuple[np.ndarray, np.ndarray] | None = None

    def _read(self, adj: Any) -> None:
        count = len(self.nodes)
        # A row of a view may be longer than what it yields.
        rows = list(adj.values()) if isinstance(adj, dict) else [list(row) for row in adj.values()]
        if self.multi:
            copies = np.fromiter((sum(1 for _ in keys) for row in adj.values() for keys in row.values()), np.int64)
        degrees = np.fromiter(map(len, rows), np.int64, count)
        edges = int(degrees.sum())
        targets = self._numbered(rows, edges)
        if self.multi:
            owners = np.repeat(np.arange(count), degrees)
            degrees = np.bincount(owners, copies, count).astype(np.int64) if edges else degrees
            targets = np.repeat(targets, copies) if edges else targets
        self.offsets = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64)
        self.targets = targets
        self.loops = bool(edges and np.any(targets == np.repeat(np.arange(count, dtype=np.uint32), degrees)))

    def _numbered(self, rows: Sequence[Iterable], edges: int) -> np.ndarray:
        """The numbers of the neighbours in all rows. A row at a time is a list of the interpreter's own making and then
        an array, which takes half the time of one iterator over all."""
        numbers = array("I")
        if self.place is not None:
            _exhaust(map(numbers.fromlist, map(list, map(map, repeat(self.place.__getitem__), rows))))
        else:
            try:
                _exhaust(map(numbers.fromlist, map(list, rows)))
            except TypeError:  # a neighbour equals a whole number and is none: 1.0
                return np.fromiter(chain.from_iterable(rows), np.uint32, edges)
        return np.frombuffer(numbers, np.uintc).astype(np.uint32, copy=False)

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def edges(self) -> int:
        """Entries of rows: an edge of an undirected graph counts twice."""
        return len(self.targets)

    @property
    def sources(self) -> np.ndarray:
        return np.repeat(np.arange(len(self), dtype=np.uint32), np.diff(self.offsets))

    @property
    def graph(self) -> tandem.Graph:
        """Without weights."""
        if self._graph is None:
            self._graph = tandem.Graph.from_csr(self.offsets, self.targets)
        return self._graph

    @property
    def reverse(self) -> tandem.Graph:
        if self._reverse is None:
            self._reverse = self.graph.reverse() if self.directed else self.graph
        return self._reverse

    def find(self, node: Hashable) -> int | None:
        """The number of a node; None if it is not in the graph."""
        try:
            if self.place is not None:
                return self.place.get(node)
            return int(node) if node in _Range(len(self)) else None  # type: ignore[call-overload]
        except TypeError:  # not hashable
            return None

    def numbers(self, nodes: Any) -> np.ndarray:
        """Numbers of nodes that are in the graph."""
        found = nodes if self.place is None else map(self.place.__getitem__, nodes)
        return np.fromiter(found, np.uint32, len(nodes))

    def names(self, numbers: np.ndarray) -> list:
        """Nodes by their numbers."""
        if self.plain:
            return numbers.tolist()
        if self.objects is None:
            self.objects = np.empty(len(self.nodes), object)
            self.objects[:] = self.nodes
        return self.objects[numbers].tolist()

    def __deepcopy__(self, memo: dict) -> "Structure":
        return self  # it does not change; a graph that does gets another

    def __reduce__(self) -> tuple:
        return _forgotten, ()  # of a graph that is pickled with its cache

    def in_rows(self, reverse: bool, in_order: Callable[[], Any]) -> tuple[np.ndarray, np.ndarray]:
        """Offsets and neighbours in NetworkX's order, of out-edges or of in-edges."""
        if not (reverse and self.directed):
            return self.offsets, self.targets
        if self._in_rows is None:
            rows = [list(row) for row in in_order().values()]
            degrees = np.fromiter(map(len, rows), np.int64, len(self))
            self._in_rows = (np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64),
                             self._numbered(rows, int(degrees.sum())))
        return self._in_rows


def _exhaust(steps: Iterable) -> None:
    deque(steps, maxlen=0)


def _forgotten() -> None:
    """What is left of a cached structure in a pickled graph: it is made again."""


class _Range:
    """Whether something equals a whole number of a range, as a dict of them would say."""

    def __init__(self, count: int):
        self.count = count

    def __contains__(self, node: Any) -> bool:
        hash(node)
        try:
            return 0 <= node < self.count and int(node) == node
        except (TypeError, ValueError):
            return False


class Weights:
    """The weights of one attribute, and the graph in which distances are whole numbers of 32 bits, scaled, if all fit;
    otherwise 64-bit floats (`doubles`); where even these would round whole numbers, 32-bit ones, to be refined."""

    def __init__(self, structure: Structure, values: np.ndarray):
        self.structure, self.values = structure, values
        self.whole = values.dtype.kind in "iub"
        self.longest = float(values.max(initial=0)) * max(len(structure) - 1, 1)
        self.scale = self._scale()
        self.doubles = self.scale is None and (not self.whole or self.longest <= WHOLE)
        self.graph = tandem.Graph.from_csr(structure.offsets, structure.targets, self.stored(),
                                           weight_type="float64" if self.doubles else None)
        self._reverse: tandem.Graph | None = None

    @property
    def reverse(self) -> tandem.Graph:
        if self._reverse is None:
            self._reverse = self.graph.reverse() if self.structure.directed else self.graph
        return self._reverse

    @property
    def refined(self) -> bool:
        """Whether distances of a search are rounded, and made exact afterwards."""
        return self.scale is None and not self.doubles

    def _scale(self) -> int | None:
        """Bits behind the point that make every weight whole; None: distances need rounding."""
        if self.whole:
            return 0 if self.longest <= LARGEST else None
        for bits in (0, 1, 2, 4, 8, 16, FINEST):
            scaled = self.values * 2.0 ** bits
            if self.longest * 2.0 ** bits > LARGEST:
                return None
            if np.array_equal(scaled, np.rint(scaled)):
                return bits
        return None

    def stored(self) -> np.ndarray:
        """The weights as the graph has them."""
        if self.scale is not None:
            return (self.values * 2 ** self.scale).astype(np.uint32)
        if not np.isfinite(self.longest):
            raise NotImplementedError("distances beyond the largest 64-bit float")
        return self.values.astype(np.float64 if self.doubles else np.float32)

    def exact(self, found: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Distances of a search as NetworkX has them, and which nodes were reached."""
        if self.doubles:
            reached = np.isfinite(found)
            return np.where(reached, found, 0).astype(np.int64) if self.whole else found, reached
        values = found.astype(np.int64)
        return values if self.whole else values / 2.0 ** self.scale, values != UNREACHED  # type: ignore[operator]


class TandemGraph:
    """A graph of NetworkX's, converted. It answers as the original does, which it keeps."""

    __networkx_backend__ = "tandem"

    def __init__(self, graph: nx.Graph):
        if type(graph).__getitem__ is not nx.Graph.__getitem__ or type(graph).adjacency is not nx.Graph.adjacency:
            raise NotImplementedError(f"{type(graph).__name__} has rows of its own making")
        self._nx = graph
        self.__networkx_cache__: dict = {}
        # NetworkX clears the cache of a graph that changes, but not those of its views.
        cache = None if hasattr(graph, "_graph") else getattr(graph, "__networkx_cache__", None)
        kept = None if cache is None else cache.get("tandem")
        if kept is None:
            kept = Structure(graph)
            if cache is not None:
                cache["tandem"] = kept
        self.structure: Structure = kept
        self._weights: dict = {}

    def __deepcopy__(self, memo: dict) -> "TandemGraph":
        made = object.__new__(TandemGraph)
        memo[id(self)] = made
        made.__networkx_cache__, made.structure, made._weights = {}, self.structure, {}
        made._nx = deepcopy(self._nx, memo)
        return made

    def __getstate__(self) -> dict:
        return {"_nx": self._nx}

    def __setstate__(self, state: dict) -> None:
        self._nx, self.__networkx_cache__, self._weights = state["_nx"], {}, {}

    def weights(self, attribute: str) -> Weights:
        """The weights of an attribute; NotImplementedError if Tandem cannot search with them."""
        if attribute not in self._weights:
            self._weights[attribute] = Weights(self.structure, self.values(attribute))
        return self._weights[attribute]

    def equal(self, attribute: str) -> bool:
        """Whether all edges have the same weight above 0."""
        key = ("equal", attribute)
        if key not in self._weights:
            values = np.empty(0) if self._bare() else self.values(attribute)
            self._weights[key] = bool(values.size == 0 or values[0] > 0 and np.all(values == values[0]))
        return self._weights[key]

    def _bare(self) -> bool:
        """Whether no edge has any attribute; False for multigraphs, whose edges are not asked."""
        rows = self._nx._adj.values()
        return not self.structure.multi and not any(map(any, (row.values() for row in rows)))

    def numbers(self, attribute: str | None) -> np.ndarray:
        """The numbers of an attribute in the order of rows, 1 where it is missing."""
        key = ("numbers", attribute)
        if key not in self._weights:
            self._weights[key] = self._read_numbers(attribute)
        return self._weights[key]

    def _read_numbers(self, attribute: str | None) -> np.ndarray:
        if self._bare():
            return np.ones(self.structure.edges, np.int64)
        rows = list(self._nx._adj.values())
        parts = [self._numbers_of(rows[begin:begin + ROWS], attribute) for begin in range(0, len(rows), ROWS)]
        return np.concatenate([part for part in parts if part.size] or [np.empty(0, np.int64)])

    def _numbers_of(self, rows: list, attribute: str | None) -> np.ndarray:
        """The numbers of a few rows. NumPy visits them twice, for their type and for their values: so few are cached."""
        if self.structure.multi:
            found = [data.get(attribute, 1) for row in rows for keys in row.values() for data in keys.values()]
        else:
            found = [data.get(attribute, 1) for row in rows for data in row.values()]
        with contextlib.suppress(ValueError, OverflowError):  # lists of unlike lengths; a number beyond all floats
            values = np.array(found) if found else np.empty(0, np.int64)
            if values.dtype.kind in "iubf" and values.ndim == 1:
                return values
        raise NotImplementedError(f"some {attribute!r} of an edge is no number of 64 bits")

    def values(self, attribute: str) -> np.ndarray:
        """The same, where Tandem can search with them."""
        values = self.numbers(attribute)
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            raise NotImplementedError(f"some {attribute!r} of an edge is not finite")
        if values.size and values.min() < 0:
            raise NotImplementedError(f"some {attribute!r} of an edge is negative")
        return values

    def is_directed(self) -> bool:
        return self.structure.directed

    def is_multigraph(self) -> bool:
        return self.structure.multi

    def __len__(self) -> int:
        return len(self.structure)

    def __iter__(self) -> Any:
        return iter(self.structure.nodes)

    def __contains__(self, node: Any) -> bool:
        return self.structure.find(node) is not None

    def __getitem__(self, node: Any) -> Any:
        return self._nx[node]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("_nx", "_weights"):
            raise AttributeError(name)
        if name == "structure":  # after unpickling
            self.structure = Structure(self._nx)
            return self.structure
        return getattr(self._nx, name)
