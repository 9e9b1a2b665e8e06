"""The functions that NetworkX dispatches, each as NetworkX defines it, computed by Tandem.

A function that cannot serve an argument says so in `can_run`; what only the graph's data shows (weights that are
negative, or no numbers) raises NotImplementedError, whereupon NetworkX computes it itself.
"""

from __future__ import annotations

import inspect
import math
from collections import Counter
from typing import Any, Callable, Mapping, NamedTuple

import networkx as nx
import numpy as np

from . import FUNCTIONS
from .graph import TandemGraph
from .search import (UNREACHED, Distances, by_node, distances, distances_of_all, find, in_order, lengths, levels,
                     levels_of_all, paths, several)

__all__ = ["backend", "TandemGraph", "calls"]

#: How often each function was computed by Tandem, in this process.
calls: Counter = Counter()

SMALL = 1000         # entries below which NetworkX is as fast as a call of the library
CONVERTING = 20_000  # and below which it is as fast as the conversion
_TABLE: dict[str, Callable] = {}
_Check = Callable[[dict], "bool | str"]
_CHECKS: dict[str, "tuple[_Check, ...]"] = {}
_PLACES: dict[str, "frozenset[str]"] = {}  # the arguments that a function has here: a later NetworkX may have more


def serves(*checks: _Check) -> Callable[[Callable], Callable]:
    """Adds a function to the table; every check says of its arguments whether Tandem can compute it, or why not."""
    def add(function: Callable) -> Callable:
        name = function.__name__
        places = _PLACES[name] = frozenset(inspect.signature(function).parameters)

        def counted(*args: Any, **kwargs: Any) -> Any:
            calls[name] += 1
            return function(*args, **{place: value for place, value in kwargs.items() if place in places})
        counted.__name__, counted.__doc__ = name, FUNCTIONS[name]
        _TABLE[name] = counted
        _CHECKS[name] = checks
        return function
    return add


def _wrap(graph: Any) -> TandemGraph:
    return graph if isinstance(graph, TandemGraph) else TandemGraph(graph)


# What arguments are served.

def _named_weight(arguments: dict, name: str = "weight") -> bool | str:
    weight = arguments.get(name)
    if weight is None or isinstance(weight, str):
        return True
    return f"{name}= is no name of an attribute"


def _check_pagerank(arguments: dict) -> bool | str:
    if arguments["nstart"] is not None:
        return "nstart= is not supported"
    if arguments["dangling"] is not None:
        return "dangling= is not supported"
    if not _is_number(arguments["alpha"]) or not 0 <= arguments["alpha"] <= 1:
        return "alpha= is outside 0..1"
    if not _is_number(arguments["tol"]):
        return "tol= is no number"
    if not isinstance(arguments["max_iter"], (int, np.integer)):
        return "max_iter= is no whole number"
    given = arguments["personalization"]
    if given is not None and not isinstance(given, Mapping):
        return "personalization= is no dict"
    if given is not None and any(not (_is_number(value) and 0 <= value < math.inf) for value in given.values()):
        return "personalization= has a value that is no finite number from 0 on"
    return _named_weight(arguments)


def _is_number(value: Any) -> bool:
    """Whether it is a number, and not NaN."""
    return isinstance(value, (int, float, np.integer, np.floating)) and value == value


def _whole_limit(name: str) -> _Check:
    """NetworkX counts levels up to the limit, and a fraction counts as one level more: left to NetworkX."""
    def check(arguments: dict) -> bool | str:
        value = arguments[name]
        whole = value is None or isinstance(value, (int, np.integer)) or isinstance(value, float) and value == math.inf
        return whole or f"{name}= is no whole number"
    return check


_depth_limit, _level_cutoff = _whole_limit("depth_limit"), _whole_limit("cutoff")


def _cutoff(arguments: dict) -> bool | str:
    value = arguments["cutoff"]
    return value is None or _is_number(value) and value >= 0 or "cutoff= is no number from 0 on"


def _distance(arguments: dict) -> bool | str:
    return _is_number(arguments["distance"]) or "distance= is no number"


def _two_nodes(arguments: dict) -> bool | str:
    """NetworkX's has_path takes None for "every node"."""
    return arguments["source"] is not None and arguments["target"] is not None or "source= or target= is None"


def _collection(arguments: dict) -> bool | str:
    return hasattr(arguments["sources"], "__len__") or "sources= can be read only once"


def _no_sorting(arguments: dict) -> bool | str:
    return arguments["sort_neighbors"] is None or "sort_neighbors= is not supported"


def _one_source(arguments: dict) -> bool | str:
    try:
        return arguments["sources"] in arguments["G"] or "several sources= are not supported"
    except TypeError:
        return "several sources= are not supported"


def _kruskal(arguments: dict) -> bool | str:
    if arguments["algorithm"] != "kruskal":
        return "only Kruskal's choice among equal edges is supported"
    if arguments["ignore_nan"]:
        return "ignore_nan= is not supported"
    return _named_weight(arguments)


def _methods(arguments: dict) -> bool | str:
    if arguments["method"] not in (None, "unweighted", "dijkstra", "bellman-ford"):
        return f"method={arguments['method']!r} is not supported"
    return _named_weight(arguments)


# PageRank.

@serves(_check_pagerank)
def pagerank(G: Any, alpha: float = 0.85, personalization: dict | None = None, max_iter: int = 100, tol: float = 1e-6,
             nstart: None = None, weight: str | None = "weight", dangling: None = None) -> dict:
    G = _wrap(G)
    count = len(G)
    if count == 0:
        return {}
    numbers = None if weight is None or G.equal(weight) else G.values(weight)
    jumps = _jumps(G, personalization)
    if max_iter < 1:
        raise nx.PowerIterationFailedConvergence(max_iter)
    ranks, done, change = np.full(count, 1 / count), 0, math.inf
    if numbers is None:
        ranks, done, change = _iterate(G, alpha, jumps, max_iter, count * tol)
    if not change < count * tol:
        ranks, change = _iterate_on(G, alpha, jumps, ranks, max_iter - done, count * tol, numbers)
    if not change < count * tol:
        raise nx.PowerIterationFailedConvergence(max_iter)
    return dict(zip(G.structure.nodes, ranks.tolist()))


def _jumps(G: TandemGraph, personalization: dict | None) -> np.ndarray | None:
    if personalization is None:
        return None
    found = np.array([personalization.get(node, 0) for node in G.structure.nodes], float)
    if found.sum() == 0:
        raise ZeroDivisionError
    return found / found.sum()


REACHABLE = 1e-6  # a change of all 32-bit ranks together that is reached for certain
LONGEST = 4294967295  # iterations of a run


def _iterate(G: TandemGraph, alpha: float, jumps: np.ndarray | None, most: int,
             bound: float) -> tuple[np.ndarray, int, float]:
    """Iterations of Tandem: as many as NetworkX does where both start from the same ranks."""
    tolerance = max(np.nextafter(bound, 0), REACHABLE) if jumps is None else REACHABLE
    personal = None if jumps is None else dict(zip(np.flatnonzero(jumps).tolist(), jumps[jumps > 0].tolist()))
    result = G.structure.graph.pagerank(damping=float(alpha), personal=personal, iterations=min(most, LONGEST),
                                         tolerance=tolerance)
    return result.values.astype(np.float64), result.iterations, result.facts["final_change"]


def _iterate_on(G: TandemGraph, alpha: float, jumps: np.ndarray | None, ranks: np.ndarray, most: int,
                bound: float, weights: np.ndarray | None) -> tuple[np.ndarray, float]:
    """Iterations by NumPy, in 64 bits: for a tolerance that 32 bits do not reach, and of edges with different weights,
    which Tandem's program ignores."""
    structure, count = G.structure, len(G)
    sources, targets = structure.sources.astype(np.intp), structure.targets.astype(np.intp)
    sent = np.diff(structure.offsets) if weights is None else np.bincount(sources, weights, count)
    jumps = np.full(count, 1 / count) if jumps is None else jumps
    share = np.divide(1.0, sent, out=np.zeros(count), where=sent > 0)
    flow = 1.0 if weights is None else weights
    change = math.inf
    for _ in range(most):
        before = ranks
        arrives = np.bincount(targets, (before * share)[sources] * flow, count)
        ranks = alpha * (arrives + before[sent == 0].sum() * jumps) + (1 - alpha) * jumps
        change = float(np.abs(ranks - before).sum())
        if change < bound:
            break
    return ranks, change


# Breadth-first search.

def _first(G: TandemGraph, source: Any, reverse: bool = False) -> int:
    place = G.structure.find(source)
    if place is None:
        G._nx.predecessors(source) if reverse and G.is_directed() else G._nx.neighbors(source)  # raises
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    return place


def _bfs(G: Any, source: Any, reverse: bool = False, depth_limit: int | None = None) -> tuple[list, list]:
    """Nodes as NetworkX discovers them, and the parents of all but the first."""
    G = _wrap(G)
    order, parent, _ = in_order(G, _first(G, source, reverse), reverse, depth_limit)
    names = G.structure.names(order)
    return names, [names[above] for above in parent[1:].tolist()]


@serves(_no_sorting, _depth_limit)
def bfs_edges(G: Any, source: Any, reverse: bool = False, depth_limit: int | None = None,
              sort_neighbors: None = None) -> Any:
    names, above = _bfs(G, source, reverse, depth_limit)
    yield from zip(above, names[1:])


@serves(_no_sorting, _depth_limit)
def bfs_tree(G: Any, source: Any, reverse: bool = False, depth_limit: int | None = None,
             sort_neighbors: None = None) -> nx.DiGraph:
    tree = nx.DiGraph()
    tree.add_node(source)
    names, above = _bfs(G, source, reverse, depth_limit)
    tree.add_edges_from(zip(above, names[1:]))
    return tree


@serves(_no_sorting, _depth_limit)
def bfs_predecessors(G: Any, source: Any, depth_limit: int | None = None, sort_neighbors: None = None) -> Any:
    names, above = _bfs(G, source, False, depth_limit)
    yield from zip(names[1:], above)


@serves(_no_sorting, _depth_limit)
def bfs_successors(G: Any, source: Any, depth_limit: int | None = None, sort_neighbors: None = None) -> Any:
    names, above = _bfs(G, source, False, depth_limit)
    parent, children = source, []
    for over, child in zip(above, names[1:]):
        if over == parent:
            children.append(child)
            continue
        yield parent, children
        parent, children = over, [child]
    yield parent, children


@serves(_one_source)
def bfs_layers(G: Any, sources: Any) -> Any:
    G = _wrap(G)
    order, _, level = in_order(G, _first(G, sources))
    names, ends = G.structure.names(order), np.cumsum(np.bincount(level[order]))
    for begin, end in zip([0, *ends[:-1].tolist()], ends.tolist()):
        yield names[begin:end]


@serves(_distance)
def descendants_at_distance(G: Any, source: Any, distance: int) -> set:
    G = _wrap(G)
    if source not in G:
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    if not (distance >= 0 and int(distance) == distance):
        return set()
    return set(G.structure.names(np.flatnonzero(levels(G, G.structure.find(source)) == distance)))


@serves()
def descendants(G: Any, source: Any) -> set:
    return _others(_wrap(G), source, False)


@serves()
def ancestors(G: Any, source: Any) -> set:
    return _others(_wrap(G), source, True)


def _others(G: TandemGraph, source: Any, reverse: bool) -> set:
    level = levels(G, _first(G, source, reverse), reverse)
    return set(G.structure.names(np.flatnonzero((level != UNREACHED) & (level > 0))))


# Shortest paths by edges.

@serves(_level_cutoff)
def single_source_shortest_path_length(G: Any, source: Any, cutoff: float | None = None) -> dict:
    G = _wrap(G)
    return lengths(G, find(G, source, "Source {} is not in G"), False, cutoff)


@serves(_level_cutoff)
def single_target_shortest_path_length(G: Any, target: Any, cutoff: float | None = None) -> Any:
    G = _wrap(G)
    place = find(G, target, "Target {} is not in G")
    if _AT_LEAST_3_5:
        return lengths(G, place, True, cutoff)
    order, _, level = in_order(G, place, True, cutoff)  # NetworkX 3.4 has an iterator, in the order of discovery
    return zip(G.structure.names(order), level[order].tolist())


@serves(_level_cutoff)
def single_source_shortest_path(G: Any, source: Any, cutoff: float | None = None) -> dict:
    G = _wrap(G)
    return paths(G, find(G, source, "Source {} not in G"), False, cutoff)


@serves(_level_cutoff)
def single_target_shortest_path(G: Any, target: Any, cutoff: float | None = None) -> dict:
    G = _wrap(G)
    return paths(G, find(G, target, "Target {} not in G"), True, cutoff)


@serves(_level_cutoff)
def all_pairs_shortest_path_length(G: Any, cutoff: float | None = None) -> Any:
    G = _wrap(G)
    nodes = G.structure.nodes
    for node, level in zip(nodes, levels_of_all(G, range(len(nodes)))):
        yield node, by_node(G, level, cutoff)


@serves(_level_cutoff)
def all_pairs_shortest_path(G: Any, cutoff: float | None = None) -> Any:
    G = _wrap(G)
    for place, node in enumerate(G.structure.nodes):
        yield node, paths(G, place, False, cutoff)


@serves()
def bidirectional_shortest_path(G: Any, source: Any, target: Any) -> list:
    G = _wrap(G)
    start = find(G, source, "Source {} is not in G")
    return _between(G, start, find(G, target, "Target {} is not in G"), source, target)


def _between(G: TandemGraph, start: int, end: int, source: Any, target: Any) -> list:
    found = distances(G, start, None, with_paths=True)
    if not found.reached[end]:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return found.path(end)


@serves(_two_nodes)
def has_path(G: Any, source: Any, target: Any) -> bool:
    G = _wrap(G)
    start = find(G, source, "Source {} is not in G")
    return bool(levels(G, start)[find(G, target, "Target {} is not in G")] != UNREACHED)


# Shortest paths by weights.

def _single(G: TandemGraph, source: Any, weight: str | None, with_paths: bool, words: str) -> Any:
    hash(source)  # NetworkX puts it into a set
    return distances(G, find(G, source, words), weight, with_paths=with_paths)


def _to(found: Any, G: TandemGraph, target: Any, words: str) -> int:
    hash(target)
    place = G.structure.find(target)
    if place is None or not found.reached[place]:
        raise nx.NetworkXNoPath(words)
    return place


def _number(value: Any) -> Any:
    number = value.item()
    return 0 if number == 0 else number


NOT_FOUND = "Node {} not found in graph"


@serves(_named_weight)
def dijkstra_path(G: Any, source: Any, target: Any, weight: str | None = "weight") -> list:
    return single_source_dijkstra(G, source, target, weight=weight)[1]


@serves(_named_weight)
def dijkstra_path_length(G: Any, source: Any, target: Any, weight: str | None = "weight") -> Any:
    G = _wrap(G)
    start = find(G, source, NOT_FOUND)
    if source == target:
        return 0
    found = distances(G, start, weight)
    return _number(found.value[_to(found, G, target, f"Node {target} not reachable from {source}")])


@serves(_named_weight, _cutoff)
def single_source_dijkstra_path(G: Any, source: Any, cutoff: Any = None, weight: str | None = "weight") -> dict:
    return _single(_wrap(G), source, weight, True, NOT_FOUND).paths(cutoff)


@serves(_named_weight, _cutoff)
def single_source_dijkstra_path_length(G: Any, source: Any, cutoff: Any = None, weight: str | None = "weight") -> dict:
    return _single(_wrap(G), source, weight, False, NOT_FOUND).lengths(cutoff)


@serves(_named_weight, _cutoff)
def single_source_dijkstra(G: Any, source: Any, target: Any = None, cutoff: Any = None,
                           weight: str | None = "weight") -> tuple:
    return multi_source_dijkstra(G, {source}, target, cutoff, weight)


def _sources(G: TandemGraph, sources: Any) -> list[int]:
    if not sources:
        raise ValueError("sources must not be empty")
    return [find(G, source, NOT_FOUND) for source in sources]


@serves(_named_weight, _cutoff, _collection)
def multi_source_dijkstra(G: Any, sources: Any, target: Any = None, cutoff: Any = None,
                          weight: str | None = "weight") -> tuple:
    G = _wrap(G)
    places = _sources(G, sources)
    if target in sources:
        return 0, [target]
    found = several(G, places, weight, True)
    if target is None:
        return found.lengths(cutoff), found.paths(cutoff)
    place = _to(found, G, target, f"No path to {target}.")
    if cutoff is not None and found.value[place] > cutoff:
        raise nx.NetworkXNoPath(f"No path to {target}.")
    return _number(found.value[place]), found.path(place)


@serves(_named_weight, _cutoff, _collection)
def multi_source_dijkstra_path(G: Any, sources: Any, cutoff: Any = None, weight: str | None = "weight") -> dict:
    G = _wrap(G)
    return several(G, _sources(G, sources), weight, True).paths(cutoff)


@serves(_named_weight, _cutoff, _collection)
def multi_source_dijkstra_path_length(G: Any, sources: Any, cutoff: Any = None, weight: str | None = "weight") -> dict:
    G = _wrap(G)
    return several(G, _sources(G, sources), weight, False).lengths(cutoff)


@serves(_named_weight)
def bidirectional_dijkstra(G: Any, source: Any, target: Any, weight: str | None = "weight") -> tuple:
    G = _wrap(G)
    start = find(G, source, "Source {} is not in G")
    find(G, target, "Target {} is not in G")
    if source == target:
        return 0, [source]
    found = distances(G, start, weight, with_paths=True)
    place = _to(found, G, target, f"No path between {source} and {target}.")
    return _number(found.value[place]), found.path(place)


def _from_all(G: TandemGraph, weight: str | None, form: Callable[[Any], Any], with_paths: bool) -> Any:
    """What a search from every node gives. Weights are read before the first, so that NetworkX can take over."""
    if weight is not None:
        G.weights(weight)
    nodes = G.structure.nodes
    return ((node, form(found))
            for node, found in zip(nodes, distances_of_all(G, range(len(nodes)), weight, with_paths=with_paths)))


@serves(_named_weight, _cutoff)
def all_pairs_dijkstra(G: Any, cutoff: Any = None, weight: str | None = "weight") -> Any:
    return _from_all(_wrap(G), weight, lambda found: (found.lengths(cutoff), found.paths(cutoff)), True)


@serves(_named_weight, _cutoff)
def all_pairs_dijkstra_path(G: Any, cutoff: Any = None, weight: str | None = "weight") -> Any:
    return _from_all(_wrap(G), weight, lambda found: found.paths(cutoff), True)


@serves(_named_weight, _cutoff)
def all_pairs_dijkstra_path_length(G: Any, cutoff: Any = None, weight: str | None = "weight") -> Any:
    return _from_all(_wrap(G), weight, lambda found: found.lengths(cutoff), False)


@serves(_named_weight)
def bellman_ford_path(G: Any, source: Any, target: Any, weight: str | None = "weight") -> list:
    return single_source_bellman_ford(G, source, target, weight)[1]


@serves(_named_weight)
def bellman_ford_path_length(G: Any, source: Any, target: Any, weight: str | None = "weight") -> Any:
    G = _wrap(G)
    if source == target:
        find(G, source, NOT_FOUND)
        return 0
    found = _single(G, source, weight, False, "Source {} not in G")
    return _number(found.value[_to(found, G, target, f"node {target} not reachable from {source}")])


@serves(_named_weight)
def single_source_bellman_ford(G: Any, source: Any, target: Any = None, weight: str | None = "weight") -> tuple:
    G = _wrap(G)
    if source == target:
        find(G, source, "Node {} is not found in the graph")
        return 0, [source]
    found = _single(G, source, weight, True, "Source {} not in G")
    if target is None:
        return found.lengths(), found.paths()
    place = _to(found, G, target, f"Target {target} cannot be reached from given sources")
    return _number(found.value[place]), found.path(place)


@serves(_named_weight)
def single_source_bellman_ford_path(G: Any, source: Any, weight: str | None = "weight") -> dict:
    return single_source_bellman_ford(G, source, weight=weight)[1]


@serves(_named_weight)
def single_source_bellman_ford_path_length(G: Any, source: Any, weight: str | None = "weight") -> dict:
    return _single(_wrap(G), source, weight, False, "Source {} not in G").lengths()


@serves(_named_weight)
def all_pairs_bellman_ford_path(G: Any, weight: str | None = "weight") -> Any:
    return all_pairs_dijkstra_path(G, None, weight)


@serves(_named_weight)
def all_pairs_bellman_ford_path_length(G: Any, weight: str | None = "weight") -> Any:
    return all_pairs_dijkstra_path_length(G, None, weight)


# Either.

def _check_method(method: str) -> None:
    if method not in ("dijkstra", "bellman-ford"):
        raise ValueError(f"method not supported: {method}")


def _single_words(weight: str | None, method: str, length: bool = False) -> str:
    """What NetworkX's function for one source says of a node that is missing."""
    if weight is None:
        return "Source {} is not in G" if length else "Source {} not in G"
    return NOT_FOUND if method == "dijkstra" else "Source {} not in G"


@serves(_methods)
def shortest_path(G: Any, source: Any = None, target: Any = None, weight: str | None = None,
                  method: str = "dijkstra") -> Any:
    _check_method(method)
    G = _wrap(G)
    if source is None and target is None:
        found = all_pairs_shortest_path(G) if weight is None else all_pairs_dijkstra_path(G, None, weight)
        return found if _AT_LEAST_3_5 else dict(found)
    if source is not None and target is not None:
        if weight is None:
            return bidirectional_shortest_path(G, source, target)
        return (bidirectional_dijkstra if method == "dijkstra" else single_source_bellman_ford)(
            G, source, target, weight=weight)[1]
    start, reverse = (source, False) if target is None else (target, True)
    place = find(G, start, _single_words(weight, method))
    if weight is None:
        return paths(G, place, reverse)
    found = distances(G, place, weight, reverse, with_paths=True).paths()
    return {node: path[::-1] for node, path in found.items()} if reverse else found


@serves(_methods)
def shortest_path_length(G: Any, source: Any = None, target: Any = None, weight: str | None = None,
                         method: str = "dijkstra") -> Any:
    _check_method(method)
    G = _wrap(G)
    if source is None and target is None:
        return all_pairs_shortest_path_length(G) if weight is None else all_pairs_dijkstra_path_length(G, None, weight)
    if source is not None and target is not None:
        if weight is None:
            return len(bidirectional_shortest_path(G, source, target)) - 1
        return (dijkstra_path_length if method == "dijkstra" else bellman_ford_path_length)(
            G, source, target, weight=weight)
    start, reverse = (source, False) if target is None else (target, True)
    place = find(G, start, _single_words(weight, method, True))
    return lengths(G, place, reverse) if weight is None else distances(G, place, weight, reverse).lengths()


@serves(_methods)
def average_shortest_path_length(G: Any, weight: str | None = None, method: str | None = None) -> float:
    G = _wrap(G)
    count = len(G)
    if count == 0:
        raise nx.NetworkXPointlessConcept("the null graph has no paths, thus there is no average shortest path length")
    if count == 1:
        return 0
    attribute = None if method == "unweighted" else weight
    _check_connected(G)
    total = 0
    for found in distances_of_all(G, range(count), attribute):
        total += found.value.sum().item()
    return total / (count * (count - 1))


def _check_connected(G: TandemGraph) -> None:
    """All reach the first node, and it reaches all."""
    if not np.all(levels(G, 0) != UNREACHED) or not np.all(levels(G, 0, True) != UNREACHED):
        strongly = "strongly " if G.is_directed() else ""
        raise nx.NetworkXError(f"Graph is not {strongly}connected.")


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
    yield from _sets(_wrap(G))


@serves()
def number_connected_components(G: Any) -> int:
    return len(_components(_wrap(G))[1])


@serves()
def is_connected(G: Any) -> bool:
    return _one_component(_wrap(G))


@serves()
def node_connected_component(G: Any, n: Any) -> set:
    G = _wrap(G)
    hash(n)
    place = G.structure.find(n)
    if place is None:
        raise KeyError(n)
    return set(G.structure.names(np.flatnonzero(levels(G, place) != UNREACHED)))


@serves()
def weakly_connected_components(G: Any) -> Any:
    yield from _sets(_wrap(G))


@serves()
def number_weakly_connected_components(G: Any) -> int:
    return len(_components(_wrap(G))[1])


@serves()
def is_weakly_connected(G: Any) -> bool:
    return _one_component(_wrap(G))


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
    G = _wrap(G)
    return dict(zip(G.structure.nodes, _cores(G).tolist()))


def _core_subgraph(name: str, G: Any, k: int | None, core: dict | None) -> nx.Graph:
    G = _wrap(G)
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


# Centralities.

@serves(lambda arguments: _named_weight(arguments, "distance"))
def closeness_centrality(G: Any, u: Any = None, distance: str | None = None, wf_improved: bool = True) -> Any:
    G = _wrap(G)
    if u is not None:
        words = "Source {} is not in G" if distance is None else NOT_FOUND
        return _closeness(G, distances(G, find(G, u, words), distance, reverse=True), wf_improved)
    nodes = G.structure.nodes
    return {node: _closeness(G, found, wf_improved)
            for node, found in zip(nodes, distances_of_all(G, range(len(nodes)), distance, reverse=True))}


def _closeness(G: TandemGraph, found: Distances, improved: bool) -> float:
    others, total, count = int(found.reached.sum()) - 1.0, found.value[found.reached].sum().item(), len(G)
    if total <= 0 or count <= 1:
        return 0.0
    return others / total * (others / (count - 1) if improved else 1)


@serves(lambda arguments: _named_weight(arguments, "distance"))
def harmonic_centrality(G: Any, nbunch: Any = None, distance: str | None = None, sources: Any = None) -> dict:
    G = _wrap(G)
    asked = set(G._nx.nbunch_iter(nbunch)) if nbunch is not None else set(G.structure.nodes)
    starts = set(G._nx.nbunch_iter(sources)) if sources is not None else set(G.structure.nodes)
    few = len(asked) < len(starts)  # search from the nodes asked for, against the edges
    total, place = np.zeros(len(G)), G.structure.find
    others = np.array([place(node) for node in (starts if few else asked)], np.int64)
    result = {node: 0 for node in asked}
    nodes = list(asked if few else starts)
    for node, found in zip(nodes, distances_of_all(G, (place(node) for node in nodes), distance, reverse=few)):
        shares = _inverse(found)
        if few:
            result[node] += shares[others].sum().item()
        else:
            total += shares
    if not few:
        result = {node: total[place(node)].item() for node in asked}
    return {node: value or 0 for node, value in result.items()}


def _inverse(found: Any) -> np.ndarray:
    counts = found.reached & (found.value != 0)
    return np.divide(1.0, found.value, out=np.zeros(len(found.value)), where=counts)


# Spanning trees.

def _spanning(G: Any, minimum: bool, weight: str | None) -> list[tuple]:
    """The edges that Kruskal's algorithm takes, in its order: a forest over the ranks of edges, which differ."""
    import tandem
    G = _wrap(G)
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
    G = _wrap(G)
    for edge in _spanning(G, minimum, weight):
        ends = edge[:3] if G.is_multigraph() and keys else edge[:2]
        yield (*ends, edge[-1]) if data else ends


def _spanning_tree(G: Any, minimum: bool, weight: str | None) -> nx.Graph:
    G = _wrap(G)
    if G.is_directed():
        raise nx.NetworkXNotImplemented("not implemented for directed type")
    tree = G._nx.__class__()
    tree.graph.update(G._nx.graph)
    tree.add_nodes_from(G._nx.nodes.items())
    tree.add_edges_from(_spanning(G, minimum, weight))
    return tree


@serves(_kruskal)
def minimum_spanning_edges(G: Any, algorithm: str = "kruskal", weight: str | None = "weight", keys: bool = True,
                           data: bool = True, ignore_nan: bool = False) -> Any:
    return _spanning_edges(G, True, weight, keys, data)


@serves(_kruskal)
def maximum_spanning_edges(G: Any, algorithm: str = "kruskal", weight: str | None = "weight", keys: bool = True,
                           data: bool = True, ignore_nan: bool = False) -> Any:
    return _spanning_edges(G, False, weight, keys, data)


@serves(_kruskal)
def minimum_spanning_tree(G: Any, weight: str | None = "weight", algorithm: str = "kruskal",
                          ignore_nan: bool = False) -> nx.Graph:
    return _spanning_tree(G, True, weight)


@serves(_kruskal)
def maximum_spanning_tree(G: Any, weight: str | None = "weight", algorithm: str = "kruskal",
                          ignore_nan: bool = False) -> nx.Graph:
    return _spanning_tree(G, False, weight)


# The backend itself.

_AT_LEAST_3_5 = tuple(int(part) for part in nx.__version__.split(".")[:2]) >= (3, 5)
# NetworkX answers these from a few nodes around both ends.
_LOCAL = {"has_path", "bidirectional_shortest_path", "bidirectional_dijkstra", "descendants_at_distance"}


class Backend:
    """What NetworkX asks a backend."""

    calls = calls

    @staticmethod
    def convert_from_nx(graph: nx.Graph, **_: Any) -> TandemGraph:
        return _wrap(graph)

    @staticmethod
    def convert_to_nx(obj: Any, **_: Any) -> Any:
        return obj._nx.copy() if isinstance(obj, TandemGraph) else obj

    @staticmethod
    def can_run(name: str, args: tuple, kwargs: dict) -> bool | str:
        if name not in _TABLE:
            return "Tandem does not have this function"
        signature = _signature(name)
        if not _CHECKS[name] and _PLACES[name].issuperset(signature.parameters):
            return True
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as wrong:
            return f"the arguments do not fit: {wrong}"
        for place, value in bound.arguments.items():
            if place not in _PLACES[name] and value is not signature.parameters[place].default:
                return f"{place}= is not supported"
        bound.apply_defaults()
        return next((reason for check in _CHECKS[name] if (reason := check(bound.arguments)) is not True), True)

    @staticmethod
    def should_run(name: str, args: tuple, kwargs: dict) -> bool | str:
        graph: Any = args[0] if args else kwargs.get("G")
        size = graph.number_of_edges() + len(graph)
        if size < SMALL:
            return f"a graph of {size} nodes and edges is below {SMALL}, where NetworkX is as fast"
        if isinstance(graph, TandemGraph) or "tandem" in (getattr(graph, "__networkx_cache__", None) or ()):
            return True
        if size < CONVERTING:
            return f"converting {size} nodes and edges takes as long as NetworkX does below {CONVERTING}"
        if name in _LOCAL:
            return "converting the whole graph takes longer than a search around two nodes"
        return True

    def __getattr__(self, name: str) -> Any:
        try:
            return _TABLE[name]
        except KeyError:
            raise AttributeError(name) from None


_signatures: dict[str, inspect.Signature] = {}


def _signature(name: str) -> inspect.Signature:
    """Of NetworkX's function."""
    if name not in _signatures:
        _signatures[name] = inspect.signature(nx.utils.backends._registered_algorithms[name].orig_func)
    return _signatures[name]


backend = Backend()
assert set(_TABLE) == set(FUNCTIONS)
