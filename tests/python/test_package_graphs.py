"""Graphs from other libraries' objects, without copies where the types allow."""

import gc
import tempfile

import numpy as np
import tandem
from harness import need, raises, wakes
from reference import distances, drawn, rows

VERTICES = 60


def levels(graph, source=0):
    return [None if v == 0xFFFFFFFF else v for v in graph.bfs(source).values.tolist()]


def test_arrays_that_are_not_aligned_are_copied():
    record = np.zeros(6, np.dtype([("pad", "u1"), ("u", "<u4"), ("v", "<u4"), ("w", "<f4")]))
    record["u"], record["v"], record["w"] = [0, 0, 1, 2, 3, 4], [1, 2, 3, 3, 4, 5], [1, 2, 3, 4, 5, 6]
    graph = tandem.Graph.from_edges(record["u"], record["v"], record["w"])
    assert graph.sssp(0).values.tolist() == [0, 1, 2, 4, 9, 15]

    def moved(array):  # contiguous, but one byte off
        memory = np.empty(array.nbytes + 1, np.uint8)
        off = memory[1:].view(array.dtype)
        off[:] = array
        assert off.flags.c_contiguous and not off.flags.aligned
        return off
    offsets = moved(np.array([0, 2, 3, 4], np.uint64))
    targets, weights = moved(np.array([1, 2, 2, 0], np.uint32)), moved(np.array([1, 5, 1, 2], np.float32))
    rows = tandem.Graph.from_csr(offsets, targets, weights)
    assert rows.sssp(0).values.tolist() == [0, 1, 2]
    assert rows.copies == tuple(f"{what}: not contiguous, or not aligned" for what in ("offsets", "targets", "weights"))
    assert tandem.Graph.from_edges(targets, moved(np.array([3, 3, 3, 3], np.int64))).edges == 4


def test_edges_of_every_type_give_the_same_graph():
    source, target, weight = drawn(1)
    out = rows(VERTICES, source, target, weight)
    for ids in (np.int8, np.uint16, np.int32, np.int64, np.uint32, np.uint64):
        for numbers in (np.int8, np.uint8, np.int32, np.int64, np.float32, np.float64):
            graph = tandem.Graph.from_edges(np.array(source, ids), np.array(target, ids), np.array(weight, numbers),
                                            vertices=VERTICES)
            found = graph.sssp(0)
            assert [found[v] for v in range(VERTICES)] == distances(out, 0), (ids, numbers)


def test_arrays_that_are_not_contiguous_are_read():
    both = np.array(drawn(2)[:2]).T.copy()
    graph = tandem.Graph.from_edges(both[:, 0], both[:, 1], vertices=VERTICES)
    assert levels(graph) == distances(rows(VERTICES, both[:, 0], both[:, 1]), 0)
    assert levels(tandem.Graph.from_edges(both[::-1, 0], both[::-1, 1], vertices=VERTICES)) == levels(graph)


def test_messages_name_the_arguments_of_python():
    for weight in (1e300, 1e-300):
        with raises(tandem.Invalid, "weight_type='float64'"):
            tandem.Graph.from_edges([0, 1], [1, 2], [1.5, weight])
        with raises(tandem.Invalid, "weight_type='float64'"):
            tandem.Graph.from_csr([0, 1, 2, 2], [1, 2], [1.5, weight])
        wide = tandem.Graph.from_edges([0, 1], [1, 2], [1.5, weight], weight_type="float64")
        assert wide.sssp(0)[2] == 1.5 + weight


def test_wrong_edges_are_refused():
    with raises(TypeError, "source=0 is no column"):
        tandem.Graph.from_edges(0, 1)
    with raises(TypeError, "source has an entry that can be no label"):
        tandem.Graph.from_edges([[0, 1]], [[1, 2]])
    with raises(ValueError, "shape"):
        tandem.Graph.from_edges([0, 1], [1])
    with raises(TypeError, "float64"):
        tandem.Graph.from_edges([0.5], [1])
    with raises(tandem.Invalid, "source" if False else "sources[1] is -3"):
        tandem.Graph.from_edges([0, -3], [1, 2])
    with raises(ValueError, "2 edges"):
        tandem.Graph.from_edges([0, 1], [1, 2], [1.0])
    with raises(tandem.Invalid, "weights[0]"):
        tandem.Graph.from_edges([0], [1], [float("nan")])
    with raises(tandem.Limit, "4294967296"):
        tandem.Graph.from_edges([0], [1], np.array([1 << 32]))


def test_sparse_ids_keep_their_names():
    graph = tandem.Graph.from_edges([10**12, 5], [5, 7])
    assert graph.ids.tolist() == [5, 7, 10**12]
    assert graph.bfs(10**12)[7] == 2
    assert graph.bfs(5)[10**12] is None


def test_numbers_that_the_library_could_not_hold_are_refused():
    for vertices in (-1, 0, 1 << 32, (1 << 64) + 3):
        with raises(ValueError, "vertices="):
            tandem.Graph.from_edges([0], [1], vertices=vertices)
    with raises(TypeError, "vertices=2.5"):
        tandem.Graph.from_edges([0], [1], vertices=2.5)
    with raises(ValueError, "null character"):
        tandem.Graph.open("graph\0.tg")
    with raises(TypeError, "sparse"):
        tandem.Graph.from_scipy(np.eye(3))


def test_labels_of_lists_stay_what_they_are():
    graph = tandem.Graph.from_edges(["a", 1, ("b", 2)], [1, ("b", 2), "1"])
    assert graph.ids.tolist() == ["a", 1, ("b", 2), "1"]
    assert graph.bfs("a")["1"] == 3 and 1 in graph and ("b", 2) in graph and 2 not in graph
    for missing in (None, float("nan")):
        with raises(ValueError, "target[1] is"):
            tandem.Graph.from_edges(["a", "b"], ["b", missing])


def test_labels_are_numbered_and_given_back():
    graph = tandem.Graph.from_edges(["b", "a", "c"], ["a", "c", "d"])
    assert graph.bfs("b")["d"] == 3
    assert graph.bfs("b", parents=True).path("d") == ["b", "a", "c", "d"]
    assert sorted(graph.neighbors("a").tolist()) == ["c"]
    with raises(tandem.NotFound, "'z'"):
        graph.bfs("z")


def csr():
    return (np.array([0, 2, 3, 4, 5], np.int64), np.array([1, 2, 3, 3, 0], np.int32),
            np.array([.5, 2, 1, .25, 8], np.float32))


def test_rows_of_the_stored_types_are_not_copied():
    offsets, targets, weights = csr()
    graph = tandem.Graph.from_csr(offsets, targets, weights)
    assert graph.copies == ()
    assert graph.targets.ctypes.data == targets.ctypes.data
    assert graph.weights.ctypes.data == weights.ctypes.data
    assert graph.offsets.ctypes.data == offsets.ctypes.data
    del offsets, targets, weights
    gc.collect()
    assert graph.targets.tolist() == [1, 2, 3, 3, 0] and graph.sssp(0)[3] == 1.5


def test_what_is_copied_is_said():
    offsets, targets, weights = csr()
    graph = tandem.Graph.from_csr(offsets.astype(np.int32), targets.astype(np.int64), weights.astype(np.float64))
    assert graph.copies == ("offsets: int32 to uint64", "targets: int64 to uint32", "weights: float64 to float32")
    mixed = tandem.Graph.from_csr(offsets, targets[[1, 0, 2, 3, 4]], weights[[1, 0, 2, 3, 4]])
    assert "targets: put in order" in mixed.copies
    assert mixed.targets.tolist() == graph.targets.tolist() and mixed.weights.tolist() == graph.weights.tolist()


def test_scipy_matrices_of_every_format():
    sparse = need("scipy.sparse")
    source, target, weight = drawn(3)
    ends = np.array([source, target], np.int32)
    matrix = sparse.coo_array((np.array(weight), (ends[0], ends[1])), shape=(VERTICES, VERTICES)).tocsr()
    matrix.sort_indices()
    lengths = distances(rows(VERTICES, *_entries(matrix)), 0)
    for form in ("csr", "csc", "coo", "lil"):
        graph = tandem.Graph.from_scipy(matrix.asformat(form))
        found = graph.sssp(0)
        assert [found[v] for v in range(VERTICES)] == lengths, form
    graph = tandem.Graph.from_scipy(matrix)
    assert graph.targets.ctypes.data == matrix.indices.ctypes.data
    assert (graph.to_scipy() != matrix).nnz == 0
    assert tandem.Graph.from_scipy(matrix, weights=False).weight_type is None
    with raises(ValueError, "square"):
        tandem.Graph.from_scipy(matrix[:5])


def _entries(matrix):
    found = matrix.tocoo()
    return found.row.tolist(), found.col.tolist(), found.data.tolist()


def test_pandas_frames_of_numbers_strings_and_categories():
    pandas = need("pandas")
    source, target, weight = drawn(4)
    frame = pandas.DataFrame({"a": source, "b": target, "w": weight})
    expected = distances(rows(VERTICES, source, target, weight), source[0])
    graph = tandem.Graph.from_pandas(frame, "a", "b", "w", vertices=VERTICES)
    assert [graph.sssp(source[0])[v] for v in range(VERTICES)] == expected
    names = frame.assign(a="v" + frame.a.astype(str), b=("v" + frame.b.astype(str)))
    for kind in (str, "category"):
        graph = tandem.Graph.from_pandas(names.astype({"a": kind, "b": kind}), "a", "b", "w")
        series = graph.sssp(f"v{source[0]}").to_series()
        assert {int(k[1:]): v for k, v in series.dropna().items()} == \
            {v: d for v, d in enumerate(expected) if d is not None and v in source + target}


def test_pandas_frames_with_missing_values_are_refused():
    pandas = need("pandas")
    frame = pandas.DataFrame({"a": [0, 1, None], "s": ["x", None, "z"], "b": [1, 2, 3], "w": [1, None, 2], "f": [.5, 1, 2]})
    for source, weight, row in (("a", None, 2), ("s", None, 1), ("b", "w", 1)):
        with raises(ValueError, f"in row {row}"):
            tandem.Graph.from_pandas(frame, source, "b", weight)
    with raises(TypeError, "float64"):
        tandem.Graph.from_pandas(frame, "f", "b")
    kept = pandas.DataFrame({"a": pandas.Categorical(["x", "y"], ["unused", "y", "x"]), "b": ["z", "x"]})
    graph = tandem.Graph.from_pandas(kept, "a", "b")
    assert sorted(graph.ids) == ["x", "y", "z"] and graph.bfs("y")["z"] == 2
    mixed = pandas.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    assert tandem.Graph.from_pandas(mixed, "a", "b").ids.tolist() == [1, 2, "x", "y"]


def test_arrow_tables_in_one_piece_and_in_several():
    arrow = need("pyarrow")
    source, target, weight = drawn(5)
    expected = distances(rows(VERTICES, source, target, weight), 0)
    table = arrow.table({"a": arrow.array(source, arrow.int32()), "b": arrow.array(target, arrow.uint64()),
                         "w": arrow.array(weight, arrow.float32())})
    pieces = arrow.concat_tables([table.slice(0, 100), table.slice(100)])
    for given, joined in ((table, False), (pieces, True), (table.slice(0, 0), None)):
        graph = tandem.Graph.from_arrow(given, "a", "b", "w", vertices=VERTICES)
        assert joined is None or any("joined" in text for text in graph.copies) == joined
        if joined is not None:
            assert [graph.sssp(0)[v] for v in range(VERTICES)] == expected
    with raises(KeyError, "zz"):
        tandem.Graph.from_arrow(table, "zz", "b")
    with raises(ValueError, "null"):
        tandem.Graph.from_arrow(arrow.table({"a": [0, None], "b": [1, 2]}))


def test_arrow_strings_and_dictionaries_become_labels():
    arrow = need("pyarrow")
    source, target, _ = drawn(6)
    expected = distances(rows(VERTICES, source, target), source[0])
    expected = {f"vertex number {v}": d for v, d in enumerate(expected) if d is not None}
    for kind in ("string", "large_string", "string_view", "dictionary"):
        columns = [arrow.array([f"vertex number {v}" for v in ends]) for ends in (source, target)]
        columns = [c.dictionary_encode() if kind == "dictionary" else c.cast(getattr(arrow, kind)()) for c in columns]
        graph = tandem.Graph.from_arrow(arrow.table({"a": columns[0], "b": columns[1]}))
        series = graph.bfs(f"vertex number {source[0]}").to_series() if _has("pandas") else None
        if series is not None:
            assert dict(series.dropna()) == expected, kind


def test_dictionaries_are_numbered_by_their_labels():
    """Codes are not decoded edge by edge; labels that no edge has are no vertices; pieces may have other labels."""
    arrow = need("pyarrow")

    def column(codes, labels):
        return arrow.DictionaryArray.from_arrays(arrow.array(codes, arrow.int8()), arrow.array(labels))
    first, second = ["unused", "b", "a"], ["c", "a", "b"]
    pieces = [arrow.table({"u": column([1, 2], first), "v": column([0, 0], ["c"])}),
              arrow.table({"u": column([0], second), "v": column([2], second)})]
    for table in (pieces[0], arrow.concat_tables(pieces)):
        graph = tandem.Graph.from_arrow(table, "u", "v")
        expected = list(zip(table["u"].to_pylist(), table["v"].to_pylist()))
        places = np.repeat(np.arange(len(graph)), np.diff(graph.offsets.astype(np.int64)))
        assert sorted(zip(graph.ids[places].tolist(), graph.ids[graph.targets].tolist())) == sorted(expected)
    numbers = arrow.table({"u": column([0, 1], [7, 10**12]), "v": arrow.array([3, 7])})
    assert tandem.Graph.from_arrow(numbers).ids.tolist() == [3, 7, 10**12]
    with raises(ValueError, "null"):
        tandem.Graph.from_arrow(arrow.table({"u": column([0, 1], ["a", None]), "v": [1, 2]}))
    with raises(TypeError, "weights are numbers"):
        tandem.Graph.from_arrow(pieces[0], "u", "v", "v")

    class Counted(str):
        """A label that counts how often it is hashed."""
        hashed = 0

        def __hash__(self):
            Counted.hashed += 1
            return str.__hash__(self)
    from tandem._labels import Coded, number
    labels = np.array([Counted(f"label {i}") for i in range(10)], object)
    number(Coded(np.arange(10_000) % 10, labels), Coded(np.arange(10_000) % 9, labels))
    assert 0 < Counted.hashed < 100


def test_relations_of_duckdb():
    duckdb = need("duckdb")
    source, target, weight = drawn(5)
    expected = distances(rows(VERTICES, source, target, weight), 0)
    base = duckdb.connect()
    base.execute("create table edges(a bigint, b integer, w float)")
    base.executemany("insert into edges values (?, ?, ?)", list(zip(source, target, weight))[:])
    graph = tandem.Graph.from_arrow(base.sql("select * from edges"), "a", "b", "w", vertices=VERTICES)
    assert [graph.sssp(0)[v] for v in range(VERTICES)] == expected
    names = base.sql("select 'v' || a as a, 'v' || b as b, w from edges")
    found = tandem.Graph.from_arrow(names, "a", "b", "w").sssp("v0")
    assert [found[f"v{v}"] for v in sorted(set(source + target))] == [expected[v] for v in sorted(set(source + target))]


def test_frames_of_polars():
    polars = need("polars")
    source, target, weight = drawn(5)
    expected = distances(rows(VERTICES, source, target, weight), 0)
    frame = polars.DataFrame({"a": source, "b": target, "w": weight})
    graph = tandem.Graph.from_arrow(frame, "a", "b", "w", vertices=VERTICES)
    assert [graph.sssp(0)[v] for v in range(VERTICES)] == expected
    names = frame.with_columns(polars.format("a vertex called {}", "a").alias("a"),
                               polars.format("a vertex called {}", "b").alias("b"))
    graph = tandem.Graph.from_arrow(names, "a", "b", "w")
    found = graph.sssp("a vertex called 0")
    coded = tandem.Graph.from_arrow(names.with_columns(polars.col("a", "b").cast(polars.Categorical)), "a", "b", "w")
    assert dict(zip(coded.ids, coded.sssp("a vertex called 0"))) == dict(zip(graph.ids, found))
    assert [found[f"a vertex called {v}"] for v in sorted(set(source + target))] == \
        [expected[v] for v in sorted(set(source + target))]


def _has(name):
    try:
        __import__(name)
    except ImportError:
        return False
    return True


def test_networkx_graphs_keep_labels_weights_and_directions():
    nx = need("networkx")
    for make in (nx.Graph, nx.DiGraph, nx.MultiDiGraph):
        given = make()
        for a, b, w in zip(*drawn(7)):
            given.add_edge(f"n{a}", f"n{b}", weight=w)
        graph = tandem.Graph.from_networkx(given, weight="weight")
        lengths = nx.single_source_dijkstra_path_length(given, "n0")
        found = graph.sssp("n0")
        assert {node: found[node] for node in given if found[node] is not None} == lengths


def test_files_are_written_and_opened():
    source, target, weight = drawn(8)
    graph = tandem.Graph.from_edges(source, target, weight, vertices=VERTICES)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("g.tg", "g.wel"):
            graph.save(f"{folder}/{name}")
            again = tandem.Graph.open(f"{folder}/{name}")
            assert again.edges == graph.edges
            again = tandem.Graph.open(f"{folder}/{name}", directed=False, drop_weights=True)
            assert again.symmetric and again.weight_type is None
        disk = tandem.Graph.open(f"{folder}/g.tg", edges="disk")
        assert disk.on_disk and levels(disk) == levels(graph)
        with raises(ValueError, "edges='memory'"):
            disk.targets
        with raises(tandem.NotFound if False else tandem.Error, "absent"):
            tandem.Graph.open(f"{folder}/absent.tg")


def test_reversed_graphs_share_the_memory():
    source, target, _ = drawn(9)
    graph = tandem.Graph.from_edges(source, target, vertices=VERTICES)
    turned = graph.reverse()
    del graph
    gc.collect()
    assert levels(turned) == distances(rows(VERTICES, target, source), 0)


def test_weights_in_lists_are_read_as_an_array_would_be_or_refused():
    makes = (lambda weights: tandem.Graph.from_edges([0, 0, 1], [1, 2, 2], weights),
             lambda weights: tandem.Graph.from_csr(np.array([0, 2, 3, 3], np.uint64), np.array([1, 2, 2], np.uint32), weights))
    for make in makes:
        for weights, stored in (([27, 95, 10], "uint8"), ((1, 2, 300), "uint16"), ([1.5, 2, 3], "float32"), (range(3), "uint8"),
                                ([True, False, True], "uint8"), ([-1, 2, 3], "float32"), ([np.float32(0.5)] * 3, "float32"),
                                ([2**32 - 1, 0, 1], "uint32")):
            found, expected = make(weights), make(np.array(weights))
            assert found.weight_type == expected.weight_type == stored, weights
            assert found.weights.tolist() == expected.weights.tolist() == list(weights)
            assert len(found.copies) >= len(expected.copies)
        assert make(iter([3, 1, 2])).weights.tolist() == [3, 1, 2]
        for weights, kind, words in (([1, 2, None], TypeError, "weights[2] is None"), (["1", 2, 3], TypeError, "weights[0] is '1'"),
                                     ([1, [2, 3], 4], TypeError, "weights[1] is [2, 3]"), ([1, 2**64, 2], tandem.Limit, "weights[1]"),
                                     ([2**63, 1, 2], tandem.Limit, "weights[0] is 9223372036854775808"), ([1j, 1, 1], TypeError, "complex"),
                                     ([2**32, 1, 2], tandem.Limit, "weights[0]"), ({0: 1}, TypeError, "weights is a dict"),
                                     ({1, 2, 3}, TypeError, "in the order of the edges"), ("abc", TypeError, "weights is a str"),
                                     (5, TypeError, "weights is a int"), ([1, 2], ValueError, "shape (2,)"),
                                     ([[1], [2], [3]], ValueError, "shape (3, 1)"), ([float("nan"), 1, 2], tandem.Invalid, "nan")):
            with raises(kind, words):
                make(weights)
    assert makes[1]([np.float32(0.5)] * 3).copies == ("weights: list to array",)
    nx = need("networkx")
    graph = nx.Graph([(0, 1, {"km": 3}), (1, 2, {"km": "far"})])
    with raises(TypeError, "weights[1] is 'far'"):
        tandem.Graph.from_networkx(graph, "km")


def test_small_graphs_are_built_without_waking_workers():
    session = tandem.Session(threads=3)
    rng = np.random.default_rng(1)
    few, many = rng.integers(0, 500, 1500), rng.integers(0, 50_000, 150_000)
    assert wakes(lambda: tandem.Graph.from_edges(few, few[::-1], session=session)) == 0
    assert wakes(lambda: tandem.Graph.from_csr([0, 2, 3, 3], [1, 2, 2], [3, 4, 5], session=session)) == 0
    assert wakes(lambda: tandem.Graph.from_edges(many, many[::-1], session=session)) > 0


def test_empty_graphs():
    graph = tandem.Graph.from_edges([], [])
    assert len(graph) == 0 and graph.edges == 0
    with raises(tandem.Invalid, "no vertices"):
        graph.wcc()
    assert tandem.Graph.from_edges([], [], vertices=3).wcc().values.tolist() == [0, 1, 2]
