"""Searches whose answers are NetworkX's: breadth-first in its order, and weighted distances that are exact."""

from __future__ import annotations

from typing import Any, Iterable, Iterator

import networkx as nx
import numpy as np
import tandem

from .graph import LARGEST, UNREACHED, Structure, TandemGraph, Weights

BEYOND = "whole distances beyond 2**61"


# Breadth-first.

def levels(G: TandemGraph, source: int, reverse: bool = False, cutoff: float | None = None) -> np.ndarray:
    """The level of every node; UNREACHED beyond the cutoff."""
    graph = G.structure.reverse if reverse else G.structure.graph
    found = graph.bfs(source).values
    if cutoff is not None:
        found = np.where(found <= max(cutoff, 0), found, np.uint32(UNREACHED))
    return found


def in_order(G: TandemGraph, source: int, reverse: bool = False,
             cutoff: float | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Nodes in the order in which NetworkX discovers them, the place in that order of each one's parent, and levels.

    Tandem finds the levels. In NetworkX a node's parent is the first node of the level before, in order of discovery,
    that has it as a neighbour; nodes of a level follow their parents, and brothers the order of the parent's row.
    """
    level = levels(G, source, reverse, cutoff)
    offsets, targets = G.structure.in_rows(reverse, lambda: G._nx._pred)
    reached = np.flatnonzero(level != UNREACHED)
    last = int(level[reached].max())
    sizes = np.bincount(level[reached], minlength=last + 1)
    orders, parents = [np.array([source])], [np.array([-1])]
    first = 0  # place of the level's first node
    for depth in range(1, last + 1):
        nodes = orders[-1]
        entries, owner = _entries(offsets, nodes)
        fresh = level[targets[entries]] == depth
        found, owner = targets[entries[fresh]], owner[fresh]
        _, once = np.unique(found, return_index=True)
        once.sort()
        orders.append(found[once].astype(np.int64))
        parents.append(owner[once] + first)
        first += int(sizes[depth - 1])
    return np.concatenate(orders), np.concatenate(parents), level


def _entries(offsets: np.ndarray, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places of the rows of nodes, one after the other, and which node each is of."""
    begins, lengths = offsets[nodes], offsets[nodes + 1] - offsets[nodes]
    owner = np.repeat(np.arange(len(nodes)), lengths)
    ahead = np.cumsum(lengths) - lengths
    return np.arange(int(lengths.sum())) - ahead[owner] + begins[owner], owner


def levels_of_all(G: TandemGraph, sources: Iterable[int], reverse: bool = False) -> Iterator[np.ndarray]:
    """The levels of every node, from each source in turn: a batch, whose searches share their edges."""
    graph, places = G.structure.reverse if reverse else G.structure.graph, list(sources)
    return (found.values for found in graph.bfs(sources=places)) if places else iter(())


def lengths(G: TandemGraph, source: int, reverse: bool = False, cutoff: float | None = None) -> dict:
    """Levels by node, nearest first."""
    return by_node(G, levels(G, source, reverse, cutoff))


def by_node(G: TandemGraph, level: np.ndarray, cutoff: float | None = None) -> dict:
    """Levels by node, nearest first."""
    if cutoff is not None:
        level = np.where(level <= max(cutoff, 0), level, np.uint32(UNREACHED))
    reached = np.flatnonzero(level != UNREACHED)
    found = level[reached]
    order = np.argsort(found, kind="stable")
    return dict(zip(G.structure.names(reached[order]), found[order].tolist()))


def paths(G: TandemGraph, source: int, reverse: bool = False, cutoff: float | None = None) -> dict:
    """Paths by node, as NetworkX finds them."""
    order, parent, _ = in_order(G, source, reverse, cutoff)
    names = G.structure.names(order)
    found = [[names[0]]]
    for name, above in zip(names[1:], parent[1:].tolist()):
        found.append([name] + found[above] if reverse else found[above] + [name])
    return dict(zip(names, found))


# With weights.

class Distances:
    """Exact distances from a node, and the tree of paths."""

    def __init__(self, structure: Structure, value: np.ndarray, reached: np.ndarray, parent: np.ndarray | None):
        self.structure, self.value, self.reached, self.parent = structure, value, reached, parent

    def within(self, cutoff: float | None) -> np.ndarray:
        """Reached nodes, nearest first."""
        places = np.flatnonzero(self.reached if cutoff is None else self.reached & (self.value <= cutoff))
        return places[np.argsort(self.value[places], kind="stable")]

    def lengths(self, cutoff: float | None = None) -> dict:
        places = self.within(cutoff)
        return dict(zip(self.structure.names(places), _numbers(self.value[places])))

    def path(self, target: int) -> list:
        found = [target]
        while (above := int(self.parent[found[-1]])) != found[-1] and above != UNREACHED:  # type: ignore[index]
            found.append(above)
        return self.structure.names(np.array(found[::-1]))

    def paths(self, cutoff: float | None = None) -> dict:
        found: dict[int, list] = {}
        for place in self.within(cutoff).tolist():
            chain = [place]
            while chain[-1] not in found:
                above = int(self.parent[chain[-1]])  # type: ignore[index]
                if above == chain[-1] or above == UNREACHED:
                    break
                chain.append(above)
            for number in reversed(chain):
                if number not in found:
                    above = int(self.parent[number])  # type: ignore[index]
                    ahead = found[above] if above != number and above != UNREACHED else []
                    found[number] = ahead + [self.structure.nodes[number]]
        return {self.structure.nodes[number]: path for number, path in found.items()}


def _numbers(values: np.ndarray) -> list:
    """Distances as Python's; a source's is the whole 0."""
    found = values.tolist()
    return [0 if value == 0 else value for value in found] if values.dtype.kind == "f" else found


def distances(G: TandemGraph, source: int, attribute: str | None, reverse: bool = False,
              with_paths: bool = False) -> Distances:
    """Exact distances from a node by the weights of an attribute; None: every edge counts 1."""
    structure = G.structure
    if attribute is None:
        result = (structure.reverse if reverse else structure.graph).bfs(source, parents=with_paths)
        reached = result.values != UNREACHED
        return Distances(structure, result.values.astype(np.int64), reached, result.parents)
    weights = G.weights(attribute)
    result = (weights.reverse if reverse else weights.graph).sssp(source, parents=with_paths or weights.refined)
    return _exact(structure, weights, result, source, reverse)


def distances_of_all(G: TandemGraph, sources: Iterable[int], attribute: str | None, reverse: bool = False,
                     with_paths: bool = False) -> Iterator[Distances]:
    """The same from each source in turn; without weights and paths, searches share their edges."""
    if attribute is not None or with_paths:
        return (distances(G, source, attribute, reverse, with_paths) for source in sources)
    return (Distances(G.structure, level.astype(np.int64), level != UNREACHED, None)
            for level in levels_of_all(G, sources, reverse))


def _exact(structure: Structure, weights: Weights, result: tandem.Result, source: int, reverse: bool) -> Distances:
    if not weights.refined:
        return Distances(structure, *weights.exact(result.values), result.parents)
    tail, head, length = structure.sources, structure.targets, weights.values
    if reverse and structure.directed:
        tail, head = head, tail
    return refine(structure, result, source, tail, head, length)


def refine(structure: Structure, result: tandem.Result, source: int, tail: np.ndarray, head: np.ndarray,
           length: np.ndarray) -> Distances:
    """Whole distances in 64 bits from a search in 32.

    The tree of the search is summed again in 64 bits, from the root on as NetworkX sums, and edges that improve a
    distance are relaxed until none does: the fixpoint is what NetworkX finds.
    """
    unreached = np.iinfo(np.int64).max // 4
    if length.max(initial=0) >= unreached:
        raise NotImplementedError(BEYOND)
    length = length.astype(np.int64)
    reached = np.isfinite(result.values)
    parent = result.parents.astype(np.int64)  # type: ignore[union-attr]
    value = np.full(len(structure), unreached)
    value[source] = 0
    best = _lightest(structure, tail, head, length, parent)
    order = np.argsort(result.values, kind="stable")[:int(reached.sum())].tolist()
    total, above, step = value.tolist(), parent.tolist(), best.tolist()
    known = bytearray(len(structure))
    known[source] = 1
    for place in order:
        chain = []
        while not known[place]:
            chain.append(place)
            place = above[place]
        for number in reversed(chain):
            total[number] = total[above[number]] + step[number]
            known[number] = 1
    if max(total) > unreached:
        raise NotImplementedError(BEYOND)
    value = np.array(total, value.dtype)
    return Distances(structure, _relax(value, parent, tail, head, length), reached, parent)


def _lightest(structure: Structure, tail: np.ndarray, head: np.ndarray, length: np.ndarray,
              parent: np.ndarray) -> np.ndarray:
    """The length of the lightest edge from each node's parent."""
    best = np.zeros(len(structure), length.dtype)
    edges = np.flatnonzero(parent[head] == tail)
    heaviest_first = edges[np.argsort(-length[edges].astype(np.float64), kind="stable")]
    best[head[heaviest_first]] = length[heaviest_first]
    return best


def _relax(value: np.ndarray, parent: np.ndarray, tail: np.ndarray, head: np.ndarray,
           length: np.ndarray) -> np.ndarray:
    while True:
        offered = value[tail] + length
        better = np.flatnonzero(offered < value[head])
        if len(better) == 0:
            return value
        np.minimum.at(value, head[better], offered[better])
        won = better[offered[better] == value[head[better]]]
        parent[head[won]] = tail[won]


def several(G: TandemGraph, sources: list[int], attribute: str | None, with_paths: bool) -> Distances:
    """Distances from the nearest of several nodes: a search from one more vertex, with edges of 0 to them."""
    structure = G.structure
    if len(sources) == 1:
        return distances(G, sources[0], attribute, with_paths=with_paths)
    count = len(structure)
    weights = G.weights(attribute) if attribute is not None else None
    if weights is not None and weights.refined:
        raise NotImplementedError("several sources with distances that no 64-bit float has")
    stored = np.ones(structure.edges, np.uint32) if weights is None else weights.stored()
    offsets = np.concatenate([structure.offsets, [structure.edges + len(sources)]])
    graph = tandem.Graph.from_csr(offsets, np.concatenate([structure.targets, np.array(sources, np.uint32)]),
                                  np.concatenate([stored, np.zeros(len(sources), stored.dtype)]),
                                  weight_type="float64" if weights is not None and weights.doubles else None)
    result = graph.sssp(count, parents=True)
    above = result.parents.astype(np.int64)  # type: ignore[union-attr]
    values = result.values[:count]
    parent = np.where(above[:count] == count, np.arange(count), above[:count])
    value, reached = (values.astype(np.int64), values != UNREACHED) if weights is None else weights.exact(values)
    return Distances(structure, value, reached, parent)


def find(G: TandemGraph, node: Any, words: str) -> int:
    """The number of a node; NodeNotFound with the words of NetworkX's function otherwise."""
    place = G.structure.find(node)
    if place is None:
        raise nx.NodeNotFound(words.format(node))
    return place
