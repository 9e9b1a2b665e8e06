"""PageRank."""

from __future__ import annotations

import math
from typing import Any

import networkx as nx
import numpy as np

from .graph import TandemGraph
from .table import check_pagerank, serves, wrap


@serves(check_pagerank)
def pagerank(G: Any, alpha: float = 0.85, personalization: dict | None = None, max_iter: int = 100, tol: float = 1e-6,
             nstart: None = None, weight: str | None = "weight", dangling: None = None) -> dict:
    G = wrap(G)
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
