"""The table of the functions that Tandem computes, and what of their arguments it serves."""

from __future__ import annotations

import inspect
import math
from collections import Counter
from typing import Any, Callable, Mapping

import networkx as nx
import numpy as np

from . import FUNCTIONS
from .graph import TandemGraph

#: How often each function was computed by Tandem, in this process.
calls: Counter = Counter()

AT_LEAST_3_5 = tuple(int(part) for part in nx.__version__.split(".")[:2]) >= (3, 5)

TABLE: dict[str, Callable] = {}
_Check = Callable[[dict], "bool | str"]
CHECKS: dict[str, "tuple[_Check, ...]"] = {}
PLACES: dict[str, "frozenset[str]"] = {}  # the arguments that a function has here: a later NetworkX may have more


def serves(*checks: _Check) -> Callable[[Callable], Callable]:
    """Adds a function to the table; every check says of its arguments whether Tandem can compute it, or why not."""
    def add(function: Callable) -> Callable:
        name = function.__name__
        places = PLACES[name] = frozenset(inspect.signature(function).parameters)

        def counted(*args: Any, **kwargs: Any) -> Any:
            calls[name] += 1
            return function(*args, **{place: value for place, value in kwargs.items() if place in places})
        counted.__name__, counted.__doc__ = name, FUNCTIONS[name]
        TABLE[name] = counted
        CHECKS[name] = checks
        return function
    return add


def wrap(graph: Any) -> TandemGraph:
    return graph if isinstance(graph, TandemGraph) else TandemGraph(graph)


# What arguments are served.

def named_weight(arguments: dict, name: str = "weight") -> bool | str:
    weight = arguments.get(name)
    if weight is None or isinstance(weight, str):
        return True
    return f"{name}= is no name of an attribute"


def check_pagerank(arguments: dict) -> bool | str:
    if arguments["nstart"] is not None:
        return "nstart= is not supported"
    if arguments["dangling"] is not None:
        return "dangling= is not supported"
    if not is_number(arguments["alpha"]) or not 0 <= arguments["alpha"] <= 1:
        return "alpha= is outside 0..1"
    if not is_number(arguments["tol"]):
        return "tol= is no number"
    if not isinstance(arguments["max_iter"], (int, np.integer)):
        return "max_iter= is no whole number"
    given = arguments["personalization"]
    if given is not None and not isinstance(given, Mapping):
        return "personalization= is no dict"
    if given is not None and any(not (is_number(value) and 0 <= value < math.inf) for value in given.values()):
        return "personalization= has a value that is no finite number from 0 on"
    return named_weight(arguments)


def is_number(value: Any) -> bool:
    """Whether it is a number, and not NaN."""
    return isinstance(value, (int, float, np.integer, np.floating)) and value == value


def _whole_limit(name: str) -> _Check:
    """NetworkX counts levels up to the limit, and a fraction counts as one level more: left to NetworkX."""
    def check(arguments: dict) -> bool | str:
        value = arguments[name]
        whole = value is None or isinstance(value, (int, np.integer)) or isinstance(value, float) and value == math.inf
        return whole or f"{name}= is no whole number"
    return check


depth_limit_check, level_cutoff = _whole_limit("depth_limit"), _whole_limit("cutoff")


def cutoff_check(arguments: dict) -> bool | str:
    value = arguments["cutoff"]
    return value is None or is_number(value) and value >= 0 or "cutoff= is no number from 0 on"


def distance_check(arguments: dict) -> bool | str:
    return is_number(arguments["distance"]) or "distance= is no number"


def two_nodes(arguments: dict) -> bool | str:
    """NetworkX's has_path takes None for "every node"."""
    return arguments["source"] is not None and arguments["target"] is not None or "source= or target= is None"


def collection(arguments: dict) -> bool | str:
    return hasattr(arguments["sources"], "__len__") or "sources= can be read only once"


def no_sorting(arguments: dict) -> bool | str:
    return arguments["sort_neighbors"] is None or "sort_neighbors= is not supported"


def one_source(arguments: dict) -> bool | str:
    try:
        return arguments["sources"] in arguments["G"] or "several sources= are not supported"
    except TypeError:
        return "several sources= are not supported"


def kruskal(arguments: dict) -> bool | str:
    if arguments["algorithm"] != "kruskal":
        return "only Kruskal's choice among equal edges is supported"
    if arguments["ignore_nan"]:
        return "ignore_nan= is not supported"
    return named_weight(arguments)


def methods(arguments: dict) -> bool | str:
    if arguments["method"] not in (None, "unweighted", "dijkstra", "bellman-ford"):
        return f"method={arguments['method']!r} is not supported"
    return named_weight(arguments)
