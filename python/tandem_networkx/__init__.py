"""Tandem as a backend of NetworkX: what it offers. This module is light; `tandem_networkx.backend` computes.

    >>> import networkx as nx
    >>> nx.pagerank(nx.path_graph(3), backend="tandem")[1] > 0.4
    True
"""

from __future__ import annotations

__all__ = ["FUNCTIONS", "NOT_YET", "get_info"]

_UNWEIGHTED = "a breadth-first search"
_WEIGHTED = ("a search by delta-stepping; weights are numbers from 0 on, named by an attribute. Distances are exact: in whole "
             "numbers of 32 bits where all fit, otherwise in 64-bit floats, as NetworkX sums them")
_PAIR = "one search from the source"
_ALL = "a search from every node"

#: Function by function, how Tandem computes it.
FUNCTIONS: dict[str, str] = {
    "pagerank": "dangling= and nstart= are left to NetworkX; 32-bit ranks, iterated further in 64 bits where tol asks for "
                "it; edges of different weights are iterated in 64 bits by NumPy, on the converted graph",
    "bfs_edges": _UNWEIGHTED + "; sort_neighbors= is left to NetworkX",
    "bfs_tree": _UNWEIGHTED + "; sort_neighbors= is left to NetworkX",
    "bfs_predecessors": _UNWEIGHTED + "; sort_neighbors= is left to NetworkX",
    "bfs_successors": _UNWEIGHTED + "; sort_neighbors= is left to NetworkX",
    "bfs_layers": _UNWEIGHTED + " from one source; several are left to NetworkX",
    "descendants_at_distance": _UNWEIGHTED,
    "descendants": _UNWEIGHTED,
    "ancestors": _UNWEIGHTED + " on the reversed graph",
    "single_source_shortest_path_length": _UNWEIGHTED,
    "single_source_shortest_path": _UNWEIGHTED,
    "single_target_shortest_path_length": _UNWEIGHTED + " on the reversed graph",
    "single_target_shortest_path": _UNWEIGHTED + " on the reversed graph",
    "all_pairs_shortest_path_length": _ALL,
    "all_pairs_shortest_path": _ALL,
    "bidirectional_shortest_path": _PAIR,
    "has_path": _PAIR,
    "shortest_path": "by the functions of its method",
    "shortest_path_length": "by the functions of its method",
    "average_shortest_path_length": _ALL + "; the methods of Floyd and Warshall are left to NetworkX",
    "dijkstra_path": _WEIGHTED,
    "dijkstra_path_length": _WEIGHTED,
    "single_source_dijkstra": _WEIGHTED,
    "single_source_dijkstra_path": _WEIGHTED,
    "single_source_dijkstra_path_length": _WEIGHTED,
    "multi_source_dijkstra": _WEIGHTED + "; from one vertex with edges to all sources",
    "multi_source_dijkstra_path": _WEIGHTED + "; from one vertex with edges to all sources",
    "multi_source_dijkstra_path_length": _WEIGHTED + "; from one vertex with edges to all sources",
    "bidirectional_dijkstra": _WEIGHTED + "; from the source alone",
    "all_pairs_dijkstra": _WEIGHTED,
    "all_pairs_dijkstra_path": _WEIGHTED,
    "all_pairs_dijkstra_path_length": _WEIGHTED,
    "bellman_ford_path": _WEIGHTED + "; negative weights are left to NetworkX",
    "bellman_ford_path_length": _WEIGHTED + "; negative weights are left to NetworkX",
    "single_source_bellman_ford": _WEIGHTED + "; negative weights are left to NetworkX",
    "single_source_bellman_ford_path": _WEIGHTED + "; negative weights are left to NetworkX",
    "single_source_bellman_ford_path_length": _WEIGHTED + "; negative weights are left to NetworkX",
    "all_pairs_bellman_ford_path": _WEIGHTED + "; negative weights are left to NetworkX",
    "all_pairs_bellman_ford_path_length": _WEIGHTED + "; negative weights are left to NetworkX",
    "connected_components": "union-find",
    "number_connected_components": "union-find",
    "is_connected": "union-find",
    "node_connected_component": _UNWEIGHTED,
    "weakly_connected_components": "union-find",
    "number_weakly_connected_components": "union-find",
    "is_weakly_connected": "union-find",
    "core_number": "peeling",
    "k_core": "peeling; the subgraph is NetworkX's",
    "k_shell": "peeling; the subgraph is NetworkX's",
    "k_crust": "peeling; the subgraph is NetworkX's",
    "k_corona": "peeling; the subgraph is NetworkX's",
    "closeness_centrality": _ALL + " (of u, if given)",
    "harmonic_centrality": "a search from every source, or from every node asked for if these are fewer",
    "minimum_spanning_tree": "Boruvka's rounds over the ranks of edges, so that ties are Kruskal's; other algorithms are "
                             "left to NetworkX",
    "minimum_spanning_edges": "Boruvka's rounds over the ranks of edges, so that ties are Kruskal's; other algorithms "
                              "are left to NetworkX",
    "maximum_spanning_tree": "as minimum_spanning_tree",
    "maximum_spanning_edges": "as minimum_spanning_edges",
}

#: Near relatives that are not dispatched yet, and why.
NOT_YET: dict[str, str] = {
    "generic_bfs_edges": "its neighbors are a function",
    "bfs_labeled_edges": "labels every edge in NetworkX's order",
    "predecessor": "keeps all predecessors",
    "dijkstra_predecessor_and_distance": "keeps all predecessors",
    "bellman_ford_predecessor_and_distance": "keeps all predecessors",
    "all_shortest_paths": "keeps all predecessors",
    "goldberg_radzik": "for negative weights",
    "johnson": "for negative weights",
    "floyd_warshall": "a dense algorithm",
    "strongly_connected_components": "Tandem has no program for it",
    "betweenness_centrality": "Tandem has no program for it",
    "triangles": "Tandem has no program for it",
    "onion_layers": "needs the order of peeling",
    "k_truss": "Tandem has no program for it",
    "eigenvector_centrality": "Tandem has no program for it",
    "hits": "Tandem has no program for it",
}


def get_info() -> dict:
    """What NetworkX shows of the backend."""
    return {
        "backend_name": "tandem",
        "project": "tandem-graph",
        "package": "tandem_networkx",
        "short_summary": "Graph algorithms on all cores and GPUs of one machine",
        "functions": {name: {"extra_docstring": f"Tandem: {words}.", "additional_docs": f"{words}."}
                      for name, words in FUNCTIONS.items()},
    }
