"""Breadth-first searches, and shortest paths by their edges."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from .graph import TandemGraph
from .search import UNREACHED, by_node, distances, find, in_order, lengths, levels, levels_of_all, paths
from .table import (AT_LEAST_3_5, depth_limit_check, distance_check, level_cutoff, no_sorting, one_source, serves,
                    two_nodes, wrap)

# Breadth-first search.

def _first(G: TandemGraph, source: Any, reverse: bool = False) -> int:
    place = G.structure.find(source)
    if place is None:
        G._nx.predecessors(source) if reverse and G.is_directed() else G._nx.neighbors(source)  # raises
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    return place


def _bfs(G: Any, source: Any, reverse: bool = False, depth_limit: int | None = None) -> tuple[list, list]:
    """Nodes as NetworkX discovers them, and the parents of all but the first."""
    G = wrap(G)
    order, parent, _ = in_order(G, _first(G, source, reverse), reverse, depth_limit)
    names = G.structure.names(order)
    return names, [names[above] for above in parent[1:].tolist()]


@serves(no_sorting, depth_limit_check)
def bfs_edges(G: Any, source: Any, reverse: bool = False, depth_limit: int | None = None,
              sort_neighbors: None = None) -> Any:
    names, above = _bfs(G, source, reverse, depth_limit)
    yield from zip(above, names[1:])


@serves(no_sorting, depth_limit_check)
def bfs_tree(G: Any, source: Any, reverse: bool = False, depth_limit: int | None = None,
             sort_neighbors: None = None) -> nx.DiGraph:
    tree = nx.DiGraph()
    tree.add_node(source)
    names, above = _bfs(G, source, reverse, depth_limit)
    tree.add_edges_from(zip(above, names[1:]))
    return tree


@serves(no_sorting, depth_limit_check)
def bfs_predecessors(G: Any, source: Any, depth_limit: int | None = None, sort_neighbors: None = None) -> Any:
    names, above = _bfs(G, source, False, depth_limit)
    yield from zip(names[1:], above)


@serves(no_sorting, depth_limit_check)
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


@serves(one_source)
def bfs_layers(G: Any, sources: Any) -> Any:
    G = wrap(G)
    order, _, level = in_order(G, _first(G, sources))
    names, ends = G.structure.names(order), np.cumsum(np.bincount(level[order]))
    for begin, end in zip([0, *ends[:-1].tolist()], ends.tolist()):
        yield names[begin:end]


@serves(distance_check)
def descendants_at_distance(G: Any, source: Any, distance: int) -> set:
    G = wrap(G)
    if source not in G:
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    if not (distance >= 0 and int(distance) == distance):
        return set()
    return set(G.structure.names(np.flatnonzero(levels(G, G.structure.find(source)) == distance)))


@serves()
def descendants(G: Any, source: Any) -> set:
    return _others(wrap(G), source, False)


@serves()
def ancestors(G: Any, source: Any) -> set:
    return _others(wrap(G), source, True)


def _others(G: TandemGraph, source: Any, reverse: bool) -> set:
    level = levels(G, _first(G, source, reverse), reverse)
    return set(G.structure.names(np.flatnonzero((level != UNREACHED) & (level > 0))))


# Shortest paths by edges.

@serves(level_cutoff)
def single_source_shortest_path_length(G: Any, source: Any, cutoff: float | None = None) -> dict:
    G = wrap(G)
    return lengths(G, find(G, source, "Source {} is not in G"), False, cutoff)


@serves(level_cutoff)
def single_target_shortest_path_length(G: Any, target: Any, cutoff: float | None = None) -> Any:
    G = wrap(G)
    place = find(G, target, "Target {} is not in G")
    if AT_LEAST_3_5:
        return lengths(G, place, True, cutoff)
    order, _, level = in_order(G, place, True, cutoff)  # NetworkX 3.4 has an iterator, in the order of discovery
    return zip(G.structure.names(order), level[order].tolist())


@serves(level_cutoff)
def single_source_shortest_path(G: Any, source: Any, cutoff: float | None = None) -> dict:
    G = wrap(G)
    return paths(G, find(G, source, "Source {} not in G"), False, cutoff)


@serves(level_cutoff)
def single_target_shortest_path(G: Any, target: Any, cutoff: float | None = None) -> dict:
    G = wrap(G)
    return paths(G, find(G, target, "Target {} not in G"), True, cutoff)


@serves(level_cutoff)
def all_pairs_shortest_path_length(G: Any, cutoff: float | None = None) -> Any:
    G = wrap(G)
    nodes = G.structure.nodes
    for node, level in zip(nodes, levels_of_all(G, range(len(nodes)))):
        yield node, by_node(G, level, cutoff)


@serves(level_cutoff)
def all_pairs_shortest_path(G: Any, cutoff: float | None = None) -> Any:
    G = wrap(G)
    for place, node in enumerate(G.structure.nodes):
        yield node, paths(G, place, False, cutoff)


@serves()
def bidirectional_shortest_path(G: Any, source: Any, target: Any) -> list:
    G = wrap(G)
    start = find(G, source, "Source {} is not in G")
    return _between(G, start, find(G, target, "Target {} is not in G"), source, target)


def _between(G: TandemGraph, start: int, end: int, source: Any, target: Any) -> list:
    found = distances(G, start, None, with_paths=True)
    if not found.reached[end]:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return found.path(end)


@serves(two_nodes)
def has_path(G: Any, source: Any, target: Any) -> bool:
    G = wrap(G)
    start = find(G, source, "Source {} is not in G")
    return bool(levels(G, start)[find(G, target, "Target {} is not in G")] != UNREACHED)
