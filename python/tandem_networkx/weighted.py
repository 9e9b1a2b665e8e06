"""Shortest paths by weights, and those that have weights or none."""

from __future__ import annotations

from typing import Any, Callable

import networkx as nx
import numpy as np

from .graph import TandemGraph
from .search import UNREACHED, distances, distances_of_all, find, lengths, levels, paths, several
from .table import AT_LEAST_3_5, collection, cutoff_check, methods, named_weight, serves, wrap
from .unweighted import all_pairs_shortest_path, all_pairs_shortest_path_length, bidirectional_shortest_path

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


@serves(named_weight)
def dijkstra_path(G: Any, source: Any, target: Any, weight: str | None = "weight") -> list:
    return single_source_dijkstra(G, source, target, weight=weight)[1]


@serves(named_weight)
def dijkstra_path_length(G: Any, source: Any, target: Any, weight: str | None = "weight") -> Any:
    G = wrap(G)
    start = find(G, source, NOT_FOUND)
    if source == target:
        return 0
    found = distances(G, start, weight)
    return _number(found.value[_to(found, G, target, f"Node {target} not reachable from {source}")])


@serves(named_weight, cutoff_check)
def single_source_dijkstra_path(G: Any, source: Any, cutoff: Any = None, weight: str | None = "weight") -> dict:
    return _single(wrap(G), source, weight, True, NOT_FOUND).paths(cutoff)


@serves(named_weight, cutoff_check)
def single_source_dijkstra_path_length(G: Any, source: Any, cutoff: Any = None, weight: str | None = "weight") -> dict:
    return _single(wrap(G), source, weight, False, NOT_FOUND).lengths(cutoff)


@serves(named_weight, cutoff_check)
def single_source_dijkstra(G: Any, source: Any, target: Any = None, cutoff: Any = None,
                           weight: str | None = "weight") -> tuple:
    return multi_source_dijkstra(G, {source}, target, cutoff, weight)


def _sources(G: TandemGraph, sources: Any) -> list[int]:
    if not sources:
        raise ValueError("sources must not be empty")
    return [find(G, source, NOT_FOUND) for source in sources]


@serves(named_weight, cutoff_check, collection)
def multi_source_dijkstra(G: Any, sources: Any, target: Any = None, cutoff: Any = None,
                          weight: str | None = "weight") -> tuple:
    G = wrap(G)
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


@serves(named_weight, cutoff_check, collection)
def multi_source_dijkstra_path(G: Any, sources: Any, cutoff: Any = None, weight: str | None = "weight") -> dict:
    G = wrap(G)
    return several(G, _sources(G, sources), weight, True).paths(cutoff)


@serves(named_weight, cutoff_check, collection)
def multi_source_dijkstra_path_length(G: Any, sources: Any, cutoff: Any = None, weight: str | None = "weight") -> dict:
    G = wrap(G)
    return several(G, _sources(G, sources), weight, False).lengths(cutoff)


@serves(named_weight)
def bidirectional_dijkstra(G: Any, source: Any, target: Any, weight: str | None = "weight") -> tuple:
    G = wrap(G)
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


@serves(named_weight, cutoff_check)
def all_pairs_dijkstra(G: Any, cutoff: Any = None, weight: str | None = "weight") -> Any:
    return _from_all(wrap(G), weight, lambda found: (found.lengths(cutoff), found.paths(cutoff)), True)


@serves(named_weight, cutoff_check)
def all_pairs_dijkstra_path(G: Any, cutoff: Any = None, weight: str | None = "weight") -> Any:
    return _from_all(wrap(G), weight, lambda found: found.paths(cutoff), True)


@serves(named_weight, cutoff_check)
def all_pairs_dijkstra_path_length(G: Any, cutoff: Any = None, weight: str | None = "weight") -> Any:
    return _from_all(wrap(G), weight, lambda found: found.lengths(cutoff), False)


@serves(named_weight)
def bellman_ford_path(G: Any, source: Any, target: Any, weight: str | None = "weight") -> list:
    return single_source_bellman_ford(G, source, target, weight)[1]


@serves(named_weight)
def bellman_ford_path_length(G: Any, source: Any, target: Any, weight: str | None = "weight") -> Any:
    G = wrap(G)
    if source == target:
        find(G, source, NOT_FOUND)
        return 0
    found = _single(G, source, weight, False, "Source {} not in G")
    return _number(found.value[_to(found, G, target, f"node {target} not reachable from {source}")])


@serves(named_weight)
def single_source_bellman_ford(G: Any, source: Any, target: Any = None, weight: str | None = "weight") -> tuple:
    G = wrap(G)
    if source == target:
        find(G, source, "Node {} is not found in the graph")
        return 0, [source]
    found = _single(G, source, weight, True, "Source {} not in G")
    if target is None:
        return found.lengths(), found.paths()
    place = _to(found, G, target, f"Target {target} cannot be reached from given sources")
    return _number(found.value[place]), found.path(place)


@serves(named_weight)
def single_source_bellman_ford_path(G: Any, source: Any, weight: str | None = "weight") -> dict:
    return single_source_bellman_ford(G, source, weight=weight)[1]


@serves(named_weight)
def single_source_bellman_ford_path_length(G: Any, source: Any, weight: str | None = "weight") -> dict:
    return _single(wrap(G), source, weight, False, "Source {} not in G").lengths()


@serves(named_weight)
def all_pairs_bellman_ford_path(G: Any, weight: str | None = "weight") -> Any:
    return all_pairs_dijkstra_path(G, None, weight)


@serves(named_weight)
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


@serves(methods)
def shortest_path(G: Any, source: Any = None, target: Any = None, weight: str | None = None,
                  method: str = "dijkstra") -> Any:
    _check_method(method)
    G = wrap(G)
    if source is None and target is None:
        found = all_pairs_shortest_path(G) if weight is None else all_pairs_dijkstra_path(G, None, weight)
        return found if AT_LEAST_3_5 else dict(found)
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


@serves(methods)
def shortest_path_length(G: Any, source: Any = None, target: Any = None, weight: str | None = None,
                         method: str = "dijkstra") -> Any:
    _check_method(method)
    G = wrap(G)
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


@serves(methods)
def average_shortest_path_length(G: Any, weight: str | None = None, method: str | None = None) -> float:
    G = wrap(G)
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
