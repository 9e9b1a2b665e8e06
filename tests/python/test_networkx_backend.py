"""The backend against NetworkX itself: every function, its exceptions, and what is left to NetworkX."""

import inspect

from harness import need, raises

nx = need("networkx")
np = need("numpy")

nx.config.warnings_to_ignore.add("cache")

import tandem_networkx  # noqa: E402
from tandem_networkx import FUNCTIONS, NOT_YET  # noqa: E402
from tandem_networkx.backend import backend, calls  # noqa: E402
from reference import drawn  # noqa: E402


def graph_of(kind, seed=1, weights=None, labels=False, vertices=30, edges=75):
    source, target, weight = drawn(seed, vertices, edges)
    graph = kind()
    name = (lambda v: f"n{v}") if labels else (lambda v: v)
    graph.add_nodes_from(map(name, range(vertices)))
    for a, b, w in zip(source, target, weight):
        if a != b:
            graph.add_edge(name(a), name(b), **({} if weights is None else {"weight": weights(w)}))
    return graph


KINDS = [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]
UNDIRECTED, SIMPLE = {nx.Graph, nx.MultiGraph}, {nx.Graph, nx.DiGraph}
PAIR = {"bidirectional_shortest_path", "has_path", "dijkstra_path", "dijkstra_path_length", "bidirectional_dijkstra",
        "bellman_ford_path", "bellman_ford_path_length"}
ONE = {"bfs_edges", "bfs_tree", "bfs_predecessors", "bfs_successors", "descendants", "ancestors",
       "single_source_shortest_path_length", "single_source_shortest_path", "single_target_shortest_path_length",
       "single_target_shortest_path", "node_connected_component", "bfs_layers", "single_source_dijkstra",
       "single_source_dijkstra_path", "single_source_dijkstra_path_length", "single_source_bellman_ford",
       "single_source_bellman_ford_path", "single_source_bellman_ford_path_length"}
MULTI = {"multi_source_dijkstra", "multi_source_dijkstra_path", "multi_source_dijkstra_path_length"}
TIES = {"dijkstra_path", "bellman_ford_path", "bidirectional_dijkstra", "bidirectional_shortest_path",
        "single_source_dijkstra", "single_source_dijkstra_path", "single_source_bellman_ford",
        "single_source_bellman_ford_path", "all_pairs_dijkstra", "all_pairs_dijkstra_path",
        "all_pairs_bellman_ford_path", "multi_source_dijkstra", "multi_source_dijkstra_path"}


def allowed(name, kind):
    """Whether NetworkX has the function for this kind of graph."""
    if "weakly" in name:
        return kind not in UNDIRECTED
    if "connected" in name or "spanning" in name:
        return kind in UNDIRECTED
    return kind in SIMPLE or not (name.startswith("k_") or name == "core_number")


def arguments(name, labels=False):
    node = (lambda v: f"n{v}") if labels else (lambda v: v)
    if name in PAIR:
        return (node(0), node(17))
    if name in ONE:
        return (node(0),)
    if name in MULTI:
        return ({node(0), node(5)},)
    return {"descendants_at_distance": (node(0), 2), "k_corona": (2,)}.get(name, ())


def called(name, graph, *given, backend_name, **options):
    """What a function returns or raises, in a form that can be compared."""
    try:
        found = getattr(nx, name)(graph, *given, backend=backend_name, **options)
        return plain(found)
    except Exception as raised:
        return type(raised), str(raised)


def plain(found):
    if isinstance(found, nx.Graph):
        return dict(found.nodes.items()), {a: dict(row) for a, row in found.adj.items()}, found.graph
    if inspect.isgenerator(found) or hasattr(found, "__next__"):
        return [plain(item) for item in found]
    if isinstance(found, tuple):
        return tuple(plain(item) for item in found)
    return found


def near(a, b):
    if isinstance(a, float) or isinstance(b, float):
        return abs(a - b) <= 1e-6 * max(1, abs(a))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(near(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(near(x, y) for x, y in zip(a, b))
    return a == b


def length(graph, path, weight="weight"):
    total = 0
    for a, b in zip(path, path[1:]):
        data = graph.get_edge_data(a, b)
        total += min(d.get(weight, 1) for d in data.values()) if graph.is_multigraph() else data.get(weight, 1)
    return total


def paths_of(found):
    """The paths in a result, by their ends."""
    if isinstance(found, list) and found and not isinstance(found[0], (tuple, list)):
        return {(found[0], found[-1]): found}
    if isinstance(found, tuple) and len(found) == 2:
        return paths_of(found[1])
    if isinstance(found, dict):
        return {(path[0], path[-1]): path for path in found.values()}
    return {key: path for _, item in found for key, path in paths_of(item).items()}


def compare(name, graph, given):
    expected = called(name, graph, *given, backend_name="networkx")
    before = calls[name]
    found = called(name, graph, *given, backend_name="tandem")
    assert calls[name] == before + 1, f"{name} was not computed by Tandem"
    if isinstance(expected, tuple) and expected and isinstance(expected[0], type):
        assert found == expected, f"{name}: {found} instead of {expected}"
        return
    if name in TIES and expected != found:  # another of several shortest paths
        mine, theirs = paths_of(found), paths_of(expected)
        if name not in MULTI:
            assert mine.keys() == theirs.keys(), name
        ends = {key[-1]: path for key, path in theirs.items()}
        attribute = None if name == "bidirectional_shortest_path" else "weight"
        for key, path in mine.items():
            other = theirs.get(key) or ends[key[-1]]
            assert near(float(length(graph, path, attribute)), float(length(graph, other, attribute))), (name, key)
        return
    assert near(expected, found), f"{name}: {str(found)[:300]} instead of {str(expected)[:300]}"


def test_every_function_is_dispatched_with_its_default_parameters_and_agrees():
    for name in FUNCTIONS:
        for kind in KINDS:
            if allowed(name, kind):
                compare(name, graph_of(kind, 1, vertices=20, edges=50), arguments(name))
        assert calls[name] > 0, name


def test_labels_and_whole_weights():
    for name in FUNCTIONS:
        for kind in KINDS:
            if allowed(name, kind):
                compare(name, graph_of(kind, 2, int, labels=True, vertices=20, edges=50), arguments(name, labels=True))


def test_real_weights_are_exact():
    for name in sorted(TIES | {"single_source_dijkstra_path_length", "all_pairs_dijkstra_path_length"} - MULTI):
        for kind in KINDS:
            for weights in (lambda w: w / 4, lambda w: w / 7):
                graph = graph_of(kind, 3, weights, vertices=20, edges=50)
                # NetworkX's Bellman-Ford loses paths where real sums are equal (3.6: 50 of 52 from node 27 here).
                if name not in MULTI and "bellman" not in name:
                    compare(name, graph, arguments(name))
    for seed in range(5):
        graph = graph_of(nx.DiGraph, seed, lambda w: w / 7, vertices=300, edges=1500)
        lengths = nx.single_source_dijkstra_path_length(graph, 0, backend="networkx")
        assert nx.single_source_dijkstra_path_length(graph, 0, backend="tandem") == lengths  # to the last bit


def test_huge_whole_weights_are_exact():
    for least, refined in ((10**9, False), (10**14, False), (10**15, True)):  # in 64-bit floats, and beyond
        graph = graph_of(nx.DiGraph, 4, lambda w: least + w)
        assert tandem_networkx.backend.TandemGraph(graph).weights("weight").refined == refined
        lengths = nx.single_source_dijkstra_path_length(graph, 0, backend="networkx")
        found = nx.single_source_dijkstra_path_length(graph, 0, backend="tandem")
        assert found == lengths and all(type(value) is int for value in found.values())


def test_whole_distances_beyond_64_bits_are_left_to_networkx():
    """A node that is not reached has an edge, too: its weight must not wrap."""
    for weights, served in (([2**60, 2**59], True), ([2**60] * 3, False), ([2**62] * 2, False), ([2**63 - 1], False),
                            ([2**63, 2**63 + 1], False), ([np.uint64(2**54 + 1), np.uint64(3)], True)):
        nodes = len(weights) + 1
        graph = nx.DiGraph()
        graph.add_weighted_edges_from([(place, place + 1, weight) for place, weight in enumerate(weights)])
        graph.add_edge(nodes, 1, weight=weights[0])
        expected = {node: sum(map(int, weights[:node])) for node in range(nodes)}
        if served:
            assert nx.single_source_dijkstra_path_length(graph, 0, backend="tandem") == expected
            continue
        converted = backend.convert_from_nx(graph)
        with raises(NotImplementedError, "beyond 2**61"):
            backend.single_source_dijkstra_path_length(converted, 0)


def test_several_sources_with_real_weights_are_exact():
    for seed in range(5):
        graph = graph_of(nx.DiGraph, seed, lambda w: w / 7, vertices=300, edges=1500)
        before = calls["multi_source_dijkstra"]
        (lengths, ways), (expected, _) = (nx.multi_source_dijkstra(graph, {0, 5, 9}, backend=name) for name in ("tandem", "networkx"))
        assert calls["multi_source_dijkstra"] == before + 1
        assert lengths == expected  # to the last bit
        for node, way in ways.items():
            assert way[0] in (0, 5, 9) and way[-1] == node
            total = 0
            for a, b in zip(way, way[1:]):
                total = total + graph[a][b]["weight"]
            assert total == lengths[node]


def test_weights_of_both_kinds_give_floats_of_the_same_value():
    graph = nx.Graph()
    graph.add_weighted_edges_from([(0, 1, 1), (1, 2, 2.5), (0, 2, 4), (2, 3, 1)])
    theirs = nx.single_source_dijkstra_path_length(graph, 0, backend="networkx")
    ours = nx.single_source_dijkstra_path_length(graph, 0, backend="tandem")
    assert ours == theirs and type(theirs[1]) is int
    assert [type(value) for value in ours.values()] == [int, float, float, float]  # as the guide says
    whole = nx.Graph()
    whole.add_weighted_edges_from([(0, 1, 1), (1, 2, 2)])
    assert type(nx.dijkstra_path_length(whole, 0, 2, backend="tandem")) is int


def test_the_suite_runs_with_the_networkx_that_is_wanted():
    import nx_suite
    for version, rule, right in (("3.4.2", "3.4", True), ("3.4", "3.4", True), ("3.6.1", "3.4", False), ("3.40", "3.4", False),
                                 ("3.6.1", "3.6+", True), ("3.10rc0.dev0", "3.6+", True), ("4.0", "3.6+", True),
                                 ("3.5", "3.6+", False), ("3.4.2", "3.6+", False)):
        assert nx_suite.wanted(version, rule) == right, (version, rule)
    assert nx_suite.main("/dev/null", "1.0") == 1


def test_weights_read_in_pieces_have_the_type_of_all():
    """Rows are read a few at a time; the last of them may have other numbers than the first, or none at all."""
    for ends in ([1, 2, 3], [1, 2.5, 3], [0.5, 2, 3], [True, 2, 3], [True, False, True], [2**53 + 1, 0.5, 1], [2**60, 1, 2**63],
                 [np.float32(0.1), 1, 2], [np.uint8(3), 300, 1]):
        for kind in (nx.DiGraph, nx.MultiDiGraph):
            graph = kind()
            graph.add_nodes_from(range(500))  # most pieces are empty
            for place, weight in zip((0, 200, 400), ends):
                graph.add_edge(place, place + 1, weight=weight)
            found, expected = tandem_networkx.backend.TandemGraph(graph).numbers("weight"), np.array(ends)
            assert found.dtype == expected.dtype and np.array_equal(found, expected), (ends, found)
            for wrong in ("2", None, [3], (3, 4), 1j, 10**400):
                graph.add_edge(450, 451, weight=wrong)
                with raises(NotImplementedError, "no number of 64 bits"):
                    tandem_networkx.backend.TandemGraph(graph).numbers("weight")
                if graph.is_multigraph():
                    graph.remove_edge(450, 451)
    bare = nx.MultiGraph()
    bare.add_nodes_from(range(3))
    assert tandem_networkx.backend.TandemGraph(bare).numbers("weight").dtype == np.int64


def test_weights_beyond_floats_are_left_to_networkx():
    wide = graph_of(nx.Graph, 8, lambda w: w * 1e300)  # beyond 32-bit floats, not beyond 64-bit ones
    found = nx.single_source_dijkstra_path_length(wide, 0, backend="tandem")
    assert found == nx.single_source_dijkstra_path_length(wide, 0, backend="networkx") and max(found.values()) > 1e300
    graph = graph_of(nx.Graph, 8, lambda w: w * 4e306)
    converted = tandem_networkx.backend.backend.convert_from_nx(graph)
    with raises(NotImplementedError, "beyond the largest 64-bit float"):
        tandem_networkx.backend.backend.single_source_dijkstra_path_length(converted, 0)
    before = calls["single_source_dijkstra_path_length"]
    with nx.config(backend_priority=["tandem"], fallback_to_nx=True):
        found = nx.single_source_dijkstra_path_length(graph, 0)
    assert found == nx.single_source_dijkstra_path_length(graph, 0, backend="networkx")
    assert calls["single_source_dijkstra_path_length"] == before
    assert max(found.values()) > 1e300


def test_the_breadth_first_order_is_networkx_own():
    for seed in range(20):
        for kind in (nx.Graph, nx.DiGraph):
            graph = graph_of(kind, seed, labels=True)
            for reverse in (False, True):
                for limit in (None, 2):
                    options = {"reverse": reverse, "depth_limit": limit}
                    assert called("bfs_edges", graph, "n0", backend_name="tandem", **options) == \
                        called("bfs_edges", graph, "n0", backend_name="networkx", **options)


def test_spanning_trees_break_ties_as_kruskal_does():
    for seed in range(20):
        for kind in (nx.Graph, nx.MultiGraph):
            graph = graph_of(kind, seed, lambda w: w % 3 - 1)
            for name in ("minimum_spanning_tree", "maximum_spanning_tree", "minimum_spanning_edges"):
                compare(name, graph, ())


def test_cores_of_a_directed_graph_with_both_directions():
    for name in ("core_number", "k_core", "k_shell", "k_crust"):
        compare(name, graph_of(nx.Graph, 1).to_directed(), ())


def test_pagerank_as_networkx_iterates():
    for seed in range(10):
        graph = graph_of(nx.DiGraph, seed)
        for options in ({}, {"alpha": 0.5}, {"tol": 1e-10}, {"personalization": {0: 1, 5: 3}, "tol": 1e-9},
                        {"weight": None}):
            found = nx.pagerank(graph, backend="tandem", **options)
            expected = nx.pagerank(graph, backend="networkx", **options)
            assert max(abs(found[v] - expected[v]) for v in graph) < 1e-5, options
    for options in ({"max_iter": 0}, {"max_iter": 1, "tol": 1e-12}, {"personalization": {0: 0}}):
        assert called("pagerank", graph, backend_name="tandem", **options) == \
            called("pagerank", graph, backend_name="networkx", **options)


def test_pagerank_of_edges_with_different_weights():
    """As NetworkX iterates, in the same precision: nodes whose weights are all 0 are dangling, parallel edges add up."""
    for kind in KINDS:
        for weights in (int, lambda w: w / 7, lambda w: w % 3):
            graph = graph_of(kind, 8, weights, labels=True)
            graph.add_edge("n3", "n3", weight=2.5)
            for options in ({}, {"alpha": 0.5, "tol": 1e-12}, {"personalization": {"n0": 1, "n5": 3}}, {"weight": "absent"}):
                before = calls["pagerank"]
                found = nx.pagerank(graph, backend="tandem", **options)
                expected = nx.pagerank(graph, backend="networkx", **options)
                error = max(abs(found[v] - expected[v]) for v in graph)
                assert error < (1e-12 if "weight" not in options else 1e-5), (kind, options, error)
                assert calls["pagerank"] == before + 1
    karate = nx.karate_club_graph()
    assert nx.pagerank(karate, backend="tandem")[33] != nx.pagerank(karate, weight=None, backend="tandem")[33]
    karate.add_edge(0, 1, weight=-1)
    with raises(NotImplementedError, "pagerank"):
        nx.pagerank(karate, backend="tandem")


def test_exceptions_are_networkx_own():
    for kind in KINDS:
        graph, empty = graph_of(kind, 5, int, vertices=18, edges=40), kind()
        cut = graph_of(kind, 5, int, vertices=18, edges=8)
        for name in FUNCTIONS:
            if not allowed(name, kind) or name == "bfs_layers":  # of several sources, which are left to NetworkX
                continue
            wrong = tuple("absent" for _ in arguments(name)) if name in PAIR | ONE else arguments(name)
            for case, words in ((graph, wrong), (empty, arguments(name)), (cut, arguments(name))):
                if name in MULTI and case is empty:
                    words = ({"absent"},)
                expected = called(name, case, *words, backend_name="networkx")
                found = called(name, case, *words, backend_name="tandem")
                raised = isinstance(expected, tuple) and expected and isinstance(expected[0], type)
                if raised:
                    assert found[0] is expected[0], f"{name}: {found} instead of {expected}"


def test_what_is_not_served_is_said():
    graph = graph_of(nx.Graph, 6, int)

    def reason(name, **options):
        return backend.can_run(name, (graph, *arguments(name)), options)
    for name, options in (("pagerank", {"nstart": {0: 1}}), ("pagerank", {"dangling": {0: 1}}),
                          ("pagerank", {"alpha": 1.5}), ("pagerank", {"personalization": {0: -1}}),
                          ("bfs_edges", {"sort_neighbors": sorted}),
                          ("dijkstra_path", {"weight": lambda a, b, d: 1}),
                          ("minimum_spanning_tree", {"algorithm": "prim"}),
                          ("minimum_spanning_tree", {"ignore_nan": True}),
                          ("average_shortest_path_length", {"method": "floyd-warshall"}),
                          ("shortest_path", {"weight": len})):
        assert isinstance(reason(name, **options), str), name
        assert reason(name) is True
    assert isinstance(backend.can_run("triangles", (graph,), {}), str)
    assert isinstance(backend.can_run("bfs_layers", (graph, [0, 1]), {}), str)
    assert isinstance(backend.can_run("multi_source_dijkstra", (graph, iter([0, 1])), {}), str)
    # What the data shows goes to NetworkX by itself.
    graph.add_edge(0, 1, weight=-3)
    before = calls["bellman_ford_path_length"]
    with nx.config(backend_priority=["tandem"], fallback_to_nx=True):
        assert nx.pagerank(graph) == nx.pagerank(graph, backend="networkx")
    assert calls["bellman_ford_path_length"] == before


def test_arguments_of_a_later_networkx_are_refused_unless_they_have_their_defaults():
    import tandem_networkx.backend as module
    graph, known = nx.path_graph(5), module._signature("core_number")
    more = inspect.Parameter("later", inspect.Parameter.KEYWORD_ONLY, default=None)
    module._signatures["core_number"] = known.replace(parameters=[*known.parameters.values(), more])
    try:
        assert backend.can_run("core_number", (graph,), {}) is True
        assert backend.can_run("core_number", (graph,), {"later": None}) is True
        assert backend.can_run("core_number", (graph,), {"later": 3}) == "later= is not supported"
        assert backend.core_number(graph, later=None) == nx.core_number(graph, backend="networkx")
    finally:
        module._signatures["core_number"] = known


ODD_NODES = [0, "absent", None, [1], 1.0, True, -1, float("nan")]
ODD_LIMITS = [None, 0, 1, 2.5, -1, float("inf"), float("nan"), "x"]
ODD = {"source": ODD_NODES, "target": ODD_NODES, "n": ODD_NODES, "u": ODD_NODES, "nbunch": [None, [0, 1], 0, ["absent"], []],
       "sources": [{0, 5}, [0, 0], [], 0, {"absent"}, None, (0,)], "cutoff": ODD_LIMITS,
       "depth_limit": ODD_LIMITS, "distance": [0, 2, -1, 2.5, None, "weight", "absent", len],
       "weight": ["weight", None, "absent", lambda a, b, d: 1, 5], "wf_improved": [True, False, None],
       "method": ["dijkstra", "bellman-ford", "unweighted", "floyd-warshall", "x", None],
       "alpha": [0, 1, 1.5, -1, "x", float("nan"), None], "max_iter": [0, 1, -1, 2.5, "x", None, 2**32 + 5],
       "personalization": [{}, {0: 1}, {0: -1, 1: 3}, {"absent": 1}, {0: float("nan")}, {0: 0}, {0: "x"}, [1, 2]],
       "tol": [0, 1e-10, -1, "x", float("nan"), None, 1e300], "nstart": [None, {}, {0: 1}], "dangling": [None, {}, {0: 1}],
       "reverse": [False, True, None], "sort_neighbors": [None, sorted], "k": [None, 0, 2, 100, -1, 2.5],
       "core_number": [None, {}], "algorithm": ["kruskal", "prim", "x", None], "ignore_nan": [False, True],
       "data": [True, False], "keys": [True, False], "sp": [None, {}]}


def test_arguments_of_every_kind_are_refused_or_answered_as_networkx_does():
    """can_run is honest: what it accepts gives NetworkX's answer, or its exception."""
    graphs = [graph_of(nx.Graph, 1, vertices=8, edges=13), graph_of(nx.MultiDiGraph, 2, vertices=8, edges=13)]
    computed, refused = 0, 0
    for name, graph in ((name, graph) for name in FUNCTIONS for graph in graphs):
        places = list(inspect.signature(getattr(nx, name).orig_func).parameters)[1:]
        usual = dict(zip(places, [5 if given == 17 else given for given in arguments(name)]))
        for place, value in ((place, value) for place in places for value in ODD[place]):
            given = {**usual, place: value}
            answer = backend.can_run(name, (graph,), given)
            refused += answer is not True
            if answer is True:
                expected, found = (called(name, graph, backend_name=who, **given) for who in ("networkx", "tandem"))
                case = f"{name}({given}): {str(found)[:200]} instead of {str(expected)[:200]}"
                if isinstance(expected, tuple) and expected and isinstance(expected[0], type):
                    assert found[0] is expected[0], case
                elif name in TIES | {"shortest_path"} and not near(expected, found):
                    assert not isinstance(found, tuple) or not isinstance(found[0], type), case
                else:
                    assert near(expected, found) or name == "pagerank" and near_ranks(expected, found), case
                computed += 1
            else:
                assert isinstance(answer, str) and answer, name
    assert computed > 1000 and refused > 100, (computed, refused)


def near_ranks(expected, found):
    """Both stop at a change of 1e-6 per node, from different ranks if there is a personalization."""
    return expected.keys() == found.keys() and max(abs(expected[v] - found[v]) for v in found) < 1e-5


def test_small_graphs_stay_with_networkx_and_large_ones_do_not():
    small, large = nx.path_graph(10), nx.path_graph(50_000)
    assert "below" in backend.should_run("pagerank", (small,), {})
    assert backend.should_run("pagerank", (large,), {}) is True
    assert "converting" in backend.should_run("has_path", (large, 0, 1), {})
    middle = nx.path_graph(2000)
    assert "converting" in backend.should_run("pagerank", (middle,), {})
    nx.pagerank(middle, backend="tandem")
    assert backend.should_run("pagerank", (middle,), {}) is True


def test_a_changed_graph_is_converted_again():
    graph = nx.path_graph(5)
    assert nx.has_path(graph, 0, 4, backend="tandem")
    graph.remove_edge(2, 3)
    assert not nx.has_path(graph, 0, 4, backend="tandem")
    graph.add_edge(0, 4)
    assert nx.shortest_path_length(graph, 0, 4, backend="tandem") == 1


def test_converted_graphs_answer_as_graphs():
    graph = graph_of(nx.DiGraph, 7, int, labels=True)
    converted = backend.convert_from_nx(graph)
    assert len(converted) == len(graph) and list(converted) == list(graph) and "n3" in converted
    assert nx.pagerank(converted, weight=None) == nx.pagerank(graph, weight=None, backend="tandem")
    assert plain(backend.convert_to_nx(converted)) == plain(graph)
    assert [] not in converted


def test_graphs_that_were_converted_are_copied_and_pickled():
    import copy
    import pickle
    graph = graph_of(nx.Graph, 8, int)
    expected = nx.single_source_dijkstra_path_length(graph, 0, backend="tandem")
    for other in (copy.deepcopy(graph), pickle.loads(pickle.dumps(graph)), graph.copy()):
        assert nx.single_source_dijkstra_path_length(other, 0, backend="tandem") == expected
        other.remove_node(0)
        assert 0 not in nx.core_number(other, backend="tandem")
    converted = pickle.loads(pickle.dumps(backend.convert_from_nx(graph)))
    assert nx.single_source_dijkstra_path_length(converted, 0) == expected


def test_views_are_read_as_they_are():
    graph = graph_of(nx.MultiGraph, 9, int)
    view = graph.edge_subgraph(list(graph.edges(keys=True))[::2])
    assert nx.number_connected_components(view, backend="tandem") == \
        nx.number_connected_components(view.copy(), backend="networkx")


def test_neighbours_that_equal_whole_numbers_are_read_as_these():
    graph = nx.Graph()
    graph.add_nodes_from(range(4))
    graph.add_edges_from([(0, 1.0), (np.int64(1), 2), (True, 3)])
    assert nx.single_source_shortest_path_length(graph, 0, backend="tandem") == {0: 0, 1: 1, 2: 2, 3: 2}
    named = nx.relabel_nodes(graph, {0: "a", 3: (3,)})
    assert nx.single_source_shortest_path_length(named, "a", backend="tandem") == {"a": 0, 1: 1, 2: 2, (3,): 2}


def test_the_info_is_light_and_the_table_complete():
    info = tandem_networkx.get_info()
    known = nx.utils.backends._registered_algorithms
    assert set(info["functions"]) == set(FUNCTIONS) and not set(FUNCTIONS) & set(NOT_YET)
    assert set(FUNCTIONS) <= set(known) and set(NOT_YET) <= set(known)
    from pathlib import Path
    text = (Path(__file__).parents[2] / "docs" / "guide" / "networkx.md").read_text()
    for name, words in {**FUNCTIONS, **NOT_YET}.items():
        assert f"| `{name}` |" in text, f"docs/guide/networkx.md lacks {name}"
