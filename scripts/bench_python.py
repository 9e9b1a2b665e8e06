"""Figures of the Python package: bench_python.py build|call|networkx|others [--edges N] [--repeat N]

build     from_edges and from_scipy against the library's own call on 64-bit arrays: time and memory
call      the overhead of a method on a tiny graph
networkx  the NetworkX backend against NetworkX, 100,000 nodes and a million edges
others    against igraph, NetworKit and SciPy's csgraph, two threads each

Times are the least of several; on a crowded machine the processor time beside the clock says more. Needs the packages
that it compares with (PyPI: networkx, scipy, igraph, networkit); those that are missing are left out.
"""

import argparse
import ctypes
import gc
import importlib
import resource
import time

import numpy as np
import tandem


def module(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def least(work, repeat):
    """The least time and the least processor time of a few calls."""
    clock, processor = float("inf"), float("inf")
    for _ in range(repeat):
        begun, used = time.perf_counter(), time.process_time()
        found = work()
        clock, processor = min(clock, time.perf_counter() - begun), min(processor, time.process_time() - used)
        del found
    return clock, processor


def interleaved(ways, repeat):
    """The least time and processor time of each way; they take turns, so that a busy minute slows all of them."""
    found = {name: (float("inf"), float("inf")) for name in ways}
    for _ in range(repeat):
        for name, way in ways.items():
            found[name] = tuple(map(min, found[name], least(way, 1)))
    return found


def drawn(edges, seed=1):
    """An rmat-like graph without loops: ends are squares of uniform numbers, so that some vertices are popular."""
    draw = np.random.default_rng(seed)
    vertices = edges // 16
    ends = (draw.random((2, edges), np.float32) ** 2 * vertices).astype(np.int32)
    order = draw.permutation(vertices).astype(np.int32)
    source, target = order[ends[0]], order[ends[1]]
    kept = source != target
    return vertices, source[kept], target[kept]


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def measured(name, work, repeat):
    """One build: time, and the most that the library held meanwhile."""
    from tandem._library import lib
    best, most = None, 0
    for _ in range(repeat):
        gc.collect()
        held = tandem.memory_held()
        lib.td_memory_restart_peak()
        begun, used = time.perf_counter(), time.process_time()
        graph = work()
        taken = time.perf_counter() - begun, time.process_time() - used
        most = tandem.memory_peak() - held
        kept = tandem.memory_held() - held
        best = taken if best is None else min(best, taken, key=lambda t: t[1])
        del graph
    print(f"{name:42} {best[0]:7.2f} s  processor {best[1]:7.2f} s  library's peak {most / 1e6:7.0f} MB, "
          f"graph {kept / 1e6:6.0f} MB, process's peak {peak() / 1e6:7.0f} MB", flush=True)
    return best


def build(edges, repeat):
    from tandem import _library as library
    from tandem._arrays import given
    vertices, source, target = drawn(edges)
    session = tandem.default_session()
    print(f"{len(source)} edges, {vertices} vertices, {session.threads} threads; arrays of int32")

    def native():  # td_graph_from_edges on 64-bit arrays, as a C program calls it
        class Edges(library.Sized):
            _fields_ = [("size", ctypes.c_size_t), ("count", ctypes.c_uint64), ("sources", ctypes.c_void_p),
                        ("targets", ctypes.c_void_p), ("whole", ctypes.c_void_p), ("real", ctypes.c_void_p),
                        ("vertices", ctypes.c_uint64)]
        made, arrays = ctypes.c_void_p(), Edges(count=len(wide[0]), sources=wide[0].ctypes.data,
                                                 targets=wide[1].ctypes.data, vertices=vertices)
        library.lib.td_graph_from_edges.argtypes = [ctypes.c_void_p] * 4
        library.check(library.lib.td_graph_from_edges(session.handle, ctypes.addressof(arrays), None,
                                                      ctypes.addressof(made)))
        return tandem.Graph(made.value, session)
    measured("Graph.from_edges", lambda: tandem.Graph.from_edges(source, target, vertices=vertices), repeat)
    if module("scipy"):
        from scipy import sparse
        matrix = sparse.coo_array((np.ones(len(source), np.float32), (source, target)), shape=(vertices, vertices))
        matrix = matrix.tocsr()
        matrix.sort_indices()
        gc.collect()
        measured("Graph.from_scipy(csr, weights=False)", lambda: tandem.Graph.from_scipy(matrix, weights=False), repeat)
        measured("Graph.from_scipy(csr)", lambda: tandem.Graph.from_scipy(matrix), repeat)
        del matrix
    wide = source.astype(np.uint64), target.astype(np.uint64)
    measured("td_graph_from_edges", native, repeat)


def call(repeat):
    for threads in (1, 2):
        graph = tandem.Graph.from_edges([0, 0, 1, 2], [1, 2, 3, 3], session=tandem.Session(threads=threads))
        for name, work in (("bfs", lambda: graph.bfs(0)), ("wcc", graph.wcc),
                           ("bfs(...).values", lambda: graph.bfs(0).values)):
            rounds = [least(lambda: [work() for _ in range(200)], 1)[0] / 200 for _ in range(5 * repeat)]
            print(f"{name:20} {threads} threads  {min(rounds) * 1e6:6.1f} us")


def networkx(repeat, only=""):
    nx = module("networkx")
    nx.config.warnings_to_ignore.add("cache")
    draw = np.random.default_rng(1)
    ends = draw.integers(0, 100_000, (1_000_000, 2))
    ends = ends[ends[:, 0] != ends[:, 1]].tolist()
    plain, weighted = nx.Graph(), nx.Graph()
    for graph in (plain, weighted):
        graph.add_nodes_from(range(100_000))
    plain.add_edges_from(ends)
    weighted.add_weighted_edges_from((a, b, w) for (a, b), w in zip(ends, draw.random(len(ends)).tolist()))
    print(f"{len(plain)} nodes, {plain.number_of_edges()} edges; NetworkX {nx.__version__}")
    cases = [("pagerank", plain, lambda g, **k: nx.pagerank(g, **k)),
             ("pagerank, weights", weighted, lambda g, **k: nx.pagerank(g, **k)),
             ("single_source_shortest_path_length", plain, lambda g, **k: nx.single_source_shortest_path_length(g, 0, **k)),
             ("core_number", plain, lambda g, **k: nx.core_number(g, **k)),
             ("number_connected_components", plain, lambda g, **k: nx.number_connected_components(g, **k)),
             ("connected_components", plain, lambda g, **k: list(nx.connected_components(g, **k))),
             ("single_source_shortest_path", plain, lambda g, **k: nx.single_source_shortest_path(g, 0, **k)),
             ("bfs_edges", plain, lambda g, **k: list(nx.bfs_edges(g, 0, **k))),
             ("dijkstra lengths, reals", weighted, lambda g, **k: nx.single_source_dijkstra_path_length(g, 0, **k)),
             ("dijkstra paths, reals", weighted, lambda g, **k: nx.single_source_dijkstra_path(g, 0, **k)),
             ("minimum_spanning_tree", weighted, lambda g, **k: nx.minimum_spanning_tree(g, **k))]
    for name, graph, work in cases:
        if only not in name:
            continue

        def anew(graph=graph, work=work):
            graph.__networkx_cache__.clear()
            return work(graph, backend="tandem")
        taken = interleaved({"own": lambda: work(graph, backend="networkx"), "first": anew}, repeat)
        own, first = taken["own"], taken["first"]
        cached = least(lambda: work(graph, backend="tandem"), repeat)
        print(f"{name:36} NetworkX {own[1]:7.2f} s  first {first[1]:6.2f} s ({own[1] / first[1]:5.1f}x)  "
              f"cached {cached[1]:8.4f} s ({own[1] / cached[1]:6.1f}x)   (processor time; clock "
              f"{own[0]:.2f}, {first[0]:.2f}, {cached[0]:.4f})", flush=True)


def others(edges, repeat, only=""):
    vertices, source, target = drawn(edges)
    weights = np.random.default_rng(2).integers(1, 100, len(source)).astype(np.float32)
    session = tandem.Session(threads=2)
    print(f"{len(source)} edges drawn, undirected, {vertices} vertices, two threads")
    graph = tandem.Graph.from_edges(source, target, weights, vertices=vertices, directed=False, dedup=True,
                                    session=session)
    offsets, targets = graph.offsets.astype(np.int64), graph.targets.astype(np.int32)
    rows = np.repeat(np.arange(vertices, dtype=np.int32), np.diff(offsets))
    once = rows < targets
    print(f"{graph.edges // 2} edges without parallel ones")
    start = int(np.argmax(np.diff(offsets)))
    work = {"bfs": {}, "sssp": {}, "components": {}, "pagerank": {}, "cores": {}, "forest": {}}
    work["bfs"]["tandem"] = lambda: graph.bfs(start)
    work["sssp"]["tandem"] = lambda: graph.sssp(start)
    work["components"]["tandem"] = graph.wcc
    work["pagerank"]["tandem"] = lambda: graph.pagerank(iterations=20)
    work["cores"]["tandem"] = graph.kcore
    work["forest"]["tandem"] = graph.mst
    if module("scipy"):
        from scipy import sparse
        from scipy.sparse import csgraph
        matrix = sparse.csr_array((graph.weights.astype(np.float64), targets, offsets), shape=(vertices, vertices))
        work["bfs"]["scipy"] = lambda: csgraph.breadth_first_order(matrix, start)
        work["sssp"]["scipy"] = lambda: csgraph.dijkstra(matrix, indices=start)
        work["components"]["scipy"] = lambda: csgraph.connected_components(matrix, directed=False)
        work["forest"]["scipy"] = lambda: csgraph.minimum_spanning_tree(matrix)
    if module("networkit"):
        nk = module("networkit")
        nk.setNumberOfThreads(2)
        ends = rows[once].astype(np.uint64), targets[once].astype(np.uint64)
        network = nk.GraphFromCoo((graph.weights[once].astype(np.float64), ends), n=vertices, weighted=True,
                                  directed=False)
        plain = nk.graphtools.toUnweighted(network)
        work["bfs"]["networkit"] = lambda: nk.distance.BFS(plain, start, storePaths=False).run()
        work["sssp"]["networkit"] = lambda: nk.distance.Dijkstra(network, start, storePaths=False).run()
        work["components"]["networkit"] = lambda: nk.components.ParallelConnectedComponents(plain).run()

        def ranks():
            algorithm = nk.centrality.PageRank(plain, tol=0.0)
            algorithm.maxIterations = 20
            algorithm.run()
        work["pagerank"]["networkit"] = ranks
        work["cores"]["networkit"] = lambda: nk.centrality.CoreDecomposition(plain).run()
        work["forest"]["networkit"] = lambda: nk.graph.RandomMaximumSpanningForest(network).run()
    if module("igraph"):
        ig = module("igraph")
        made = ig.Graph(n=vertices, edges=np.stack([rows[once], targets[once]], 1), directed=False)
        lengths = graph.weights[once].astype(float).tolist()
        work["bfs"]["igraph"] = lambda: made.distances(source=start)
        work["sssp"]["igraph"] = lambda: made.distances(source=start, weights=lengths)

        def members():
            getattr(made, "__invalidate_cache")()  # it remembers that a graph is connected
            return made.connected_components().membership
        work["components"]["igraph"] = members
        work["pagerank"]["igraph"] = lambda: made.pagerank()
        work["cores"]["igraph"] = lambda: made.coreness()
        work["forest"]["igraph"] = lambda: made.spanning_tree(weights=lengths, return_tree=False)
    for program, ways in work.items():
        if only not in program:
            continue
        found = interleaved(ways, repeat)
        base = found["tandem"]
        for name, taken in found.items():
            print(f"{program:12} {name:10} {taken[0]:8.3f} s  processor {taken[1]:8.3f} s   "
                  f"{taken[0] / base[0]:6.1f}x Tandem's time, {taken[1] / base[1]:6.1f}x its processor time", flush=True)


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("what", choices=["build", "call", "networkx", "others"])
    words.add_argument("--edges", type=int, default=20_000_000)
    words.add_argument("--repeat", type=int, default=3)
    words.add_argument("--only", default="", help="networkx, others: functions or programs whose name contains this")
    given = words.parse_args()
    {"build": lambda: build(given.edges, given.repeat), "call": lambda: call(given.repeat),
     "networkx": lambda: networkx(given.repeat, given.only),
     "others": lambda: others(given.edges, given.repeat, given.only)}[given.what]()


if __name__ == "__main__":
    main()
