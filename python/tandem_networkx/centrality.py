"""Centralities by distances."""

from __future__ import annotations

from typing import Any

import numpy as np

from .graph import TandemGraph
from .search import Distances, distances, distances_of_all, find
from .table import named_weight, serves, wrap
from .weighted import NOT_FOUND


@serves(lambda arguments: named_weight(arguments, "distance"))
def closeness_centrality(G: Any, u: Any = None, distance: str | None = None, wf_improved: bool = True) -> Any:
    G = wrap(G)
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


@serves(lambda arguments: named_weight(arguments, "distance"))
def harmonic_centrality(G: Any, nbunch: Any = None, distance: str | None = None, sources: Any = None) -> dict:
    G = wrap(G)
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
