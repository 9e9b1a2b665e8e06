"""What NetworkX asks of the backend. The functions that it dispatches, each as NetworkX defines it, are in modules by topic.

A function that cannot serve an argument says so in `can_run`; what only the graph's data shows (weights that are
negative, or no numbers) raises NotImplementedError, whereupon NetworkX computes it itself.
"""

from __future__ import annotations

import inspect
from typing import Any

import networkx as nx

from . import FUNCTIONS, centrality, pagerank, structure, unweighted, weighted  # noqa: F401 (they fill the table)
from .graph import TandemGraph
from .table import CHECKS, PLACES, TABLE, calls, wrap

__all__ = ["backend", "TandemGraph", "calls"]

SMALL = 1000         # entries below which NetworkX is as fast as a call of the library
CONVERTING = 20_000  # and below which it is as fast as the conversion
# NetworkX answers these from a few nodes around both ends.
_LOCAL = {"has_path", "bidirectional_shortest_path", "bidirectional_dijkstra", "descendants_at_distance"}


class Backend:
    """What NetworkX asks a backend."""

    calls = calls

    @staticmethod
    def convert_from_nx(graph: nx.Graph, **_: Any) -> TandemGraph:
        return wrap(graph)

    @staticmethod
    def convert_to_nx(obj: Any, **_: Any) -> Any:
        return obj._nx.copy() if isinstance(obj, TandemGraph) else obj

    @staticmethod
    def can_run(name: str, args: tuple, kwargs: dict) -> bool | str:
        if name not in TABLE:
            return "Tandem does not have this function"
        signature = _signature(name)
        if not CHECKS[name] and PLACES[name].issuperset(signature.parameters):
            return True
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as wrong:
            return f"the arguments do not fit: {wrong}"
        for place, value in bound.arguments.items():
            if place not in PLACES[name] and value is not signature.parameters[place].default:
                return f"{place}= is not supported"
        bound.apply_defaults()
        return next((reason for check in CHECKS[name] if (reason := check(bound.arguments)) is not True), True)

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
            return TABLE[name]
        except KeyError:
            raise AttributeError(name) from None


_signatures: dict[str, inspect.Signature] = {}


def _signature(name: str) -> inspect.Signature:
    """Of NetworkX's function."""
    if name not in _signatures:
        _signatures[name] = inspect.signature(nx.utils.backends._registered_algorithms[name].orig_func)
    return _signatures[name]


backend = Backend()
assert set(TABLE) == set(FUNCTIONS)
