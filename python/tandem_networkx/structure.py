"""Components, cores and spanning trees."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple

import networkx as nx
import numpy as np

from .graph import TandemGraph
from .search import UNREACHED, levels
from .table import kruskal, serves, wrap

# Components.

def _components(G: TandemGraph) -> tuple[np.ndarray, np.ndarray]:
    """Nodes in the order of components, these in the order of their first nodes, and where each begins."""
    names = G.structure.graph.wcc().values if len(G) else np.empty(0, np.uint32)
    order = np.argsort(names, kind="stable")
    begins = np.flatnonzero(np.diff(names[order], prepend=np.int64(-1))) if len(order) else order
    return order, begins


def _sets(G: TandemGraph) -> Any:
    order, begins = _components(G)
    names = G.structure.names(order)
    for begin, end in zip(begins.tolist(), [*begins[1:].tolist(), len(names)]):
        yield set(names[begin:end])


def _one_component(G: TandemGraph) -> bool:
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return bool(np.all(G.structure.graph.wcc().values == 0))


@serves()
def connected_components(G: Any) -> Any:
    yield from _sets(wrap(G))


@serves()
def number_connected_components(G: Any) -> int:
    return len(_components(wrap(G))[1])


@serves()
def is_connected(G: Any) -> bool:
    return _one_component(wrap(G))


@serves()
def node_connected_component(G: Any, n: Any) -> set:
    G = wrap(G)
    hash(n)
    place = G.structure.find(n)
    if place is None:
        raise KeyError(n)
    return set(G.structure.names(np.flatnonzero(levels(G, place) != UNREACHED)))


@serves()
def weakly_connected_components(G: Any) -> Any:
    yield from _sets(wrap(G))


@serves()
def number_weakly_connected_components(G: Any) -> int:
    return len(_components(wrap(G))[1])


@serves()
def is_weakly_connected(G: Any) -> bool:
    return _one_component(wrap(G))


# Cores.

def _cores(G: TandemGraph) -> np.ndarray:
    if G.structure.loops:
        raise nx.NetworkXNotImplemented("Input graph has self loops which is not permitted; Consider using "
                                        "G.remove_edges_from(nx.selfloop_edges(G)).")
    if len(G) == 0:
        return np.empty(0, np.uint32)
    found = G.structure.graph.kcore().values
    # In a directed graph NetworkX counts both directions of an edge; Tandem has a symmetric graph's once.
    return found * 2 if G.is_directed() and G.structure.graph.symmetric else found


@serves()
def core_number(G: Any) -> dict:
    G = wrap(G)
    return dict(zip(G.structure.nodes, _cores(G).tolist()))


def _core_subgraph(name: str, G: Any, k: int | None, core: dict | None) -> nx.Graph:
    G = wrap(G)
    if core is None and G.is_multigraph():  # as NetworkX's core_number says
        raise nx.NetworkXNotImplemented("not implemented for multigraph type")
    original = nx.utils.backends._registered_algorithms[name].orig_func
    return original(G._nx, k, core_number(G) if core is None else core)


@serves()
def k_core(G: Any, k: int | None = None, core_number: dict | None = None) -> nx.Graph:
    return _core_subgraph("k_core", G, k, core_number)


@serves()
def k_shell(G: Any, k: int | None = None, core_number: dict | None = None) -> nx.Graph:
    return _core_subgraph("k_shell", G, k, core_number)


@serves()
def k_crust(G: Any, k: int | None = None, core_number: dict | None = None) -> nx.Graph:
    return _core_subgraph("k_crust", G, k, core_number)


@serves()
def k_corona(G: Any, k: int, core_number: dict | None = None) -> nx.Graph:
    return _core_subgraph("k_corona", G, k, core_number)


# Spanning trees.

def _spanning(G: Any, minimum: bool, weight: str | None) -> list[tuple]:
    """The edges that Kruskal's algorithm takes, in its order: a forest over the ranks of edges, which differ."""
    import tandem
    G = wrap(G)
    edges = _edges_once(G, weight)
    if not len(edges.values):
        return []
    _check_nan(edges)
    values = edges.values
    order = np.argsort(values if minimum else -values.astype(np.float64) if values.dtype.kind == "f" else
                       -values.astype(np.int64), kind="stable")
    rank = np.empty(len(values), np.uint32)
    rank[order] = np.arange(len(values), dtype=np.uint32)
    forest = tandem.Graph.from_edges(edges.sources, edges.targets, rank, vertices=len(G), directed=False).mst()
    chosen = np.sort(forest.edges.weight)  # type: ignore[union-attr]
    return [edges.edge(number) for number in order[chosen].tolist()]


class _Edges(NamedTuple):
    """The edges in NetworkX's order: the numbers of their ends, their weights, and the edge of a place."""
    sources: np.ndarray
    targets: np.ndarray
    values: np.ndarray
    edge: Callable[[int], tuple]


def _edges_once(G: TandemGraph, weight: str | None) -> _Edges:
    """NetworkX lists an edge with the end that comes first. Only the edges that a tree takes become tuples; of a
    multigraph all do, since rows have no keys."""
    structure = G.structure
    if not G.is_multigraph():
        sources, targets = structure.sources, structure.targets
        once = np.flatnonzero(sources <= targets)
        nodes, adj = structure.nodes, G._nx._adj

        def edge(place: int) -> tuple:
            source = nodes[sources[once[place]]]
            target = nodes[targets[once[place]]]
            return source, target, adj[source][target]
        return _Edges(sources[once], targets[once], G.numbers(weight)[once], edge)
    edges = list(G._nx.edges(keys=True, data=True))
    values = np.array([edge[-1].get(weight, 1) for edge in edges])
    if edges and values.dtype.kind not in "iubf":
        raise NotImplementedError("weights that are no numbers of 64 bits")
    sources, targets = (structure.numbers([edge[end] for edge in edges]) for end in (0, 1))
    return _Edges(sources, targets, values, edges.__getitem__)


def _check_nan(edges: _Edges) -> None:
    if edges.values.dtype.kind == "f" and np.isnan(edges.values).any():
        raise ValueError(f"NaN found as an edge weight. Edge {edges.edge(int(np.argmax(np.isnan(edges.values))))}")


def _spanning_edges(G: Any, minimum: bool, weight: str | None, keys: bool, data: bool) -> Any:
    G = wrap(G)
    for edge in _spanning(G, minimum, weight):
        ends = edge[:3] if G.is_multigraph() and keys else edge[:2]
        yield (*ends, edge[-1]) if data else ends


def _spanning_tree(G: Any, minimum: bool, weight: str | None) -> nx.Graph:
    G = wrap(G)
    if G.is_directed():
        raise nx.NetworkXNotImplemented("not implemented for directed type")
    tree = G._nx.__class__()
    tree.graph.update(G._nx.graph)
    tree.add_nodes_from(G._nx.nodes.items())
    tree.add_edges_from(_spanning(G, minimum, weight))
    return tree


@serves(kruskal)
def minimum_spanning_edges(G: Any, algorithm: str = "kruskal", weight: str | None = "weight", keys: bool = True,
                           data: bool = True, ignore_nan: bool = False) -> Any:
    return _spanning_edges(G, True, weight, keys, data)


@serves(kruskal)
def maximum_spanning_edges(G: Any, algorithm: str = "kruskal", weight: str | None = "weight", keys: bool = True,
                           data: bool = True, ignore_nan: bool = False) -> Any:
    return _spanning_edges(G, False, weight, keys, data)


@serves(kruskal)
def minimum_spanning_tree(G: Any, weight: str | None = "weight", algorithm: str = "kruskal",
                          ignore_nan: bool = False) -> nx.Graph:
    return _spanning_tree(G, True, weight)


@serves(kruskal)
def maximum_spanning_tree(G: Any, weight: str | None = "weight", algorithm: str = "kruskal",
                          ignore_nan: bool = False) -> nx.Graph:
    return _spanning_tree(G, False, weight)
