"""Methods, results, plans, sessions, cancelling, threads and forks."""

import gc
import inspect
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np
import reference
import tandem
from harness import Skip, need, raises, wakes
from reference import drawn, rows

VERTICES = 60


def small(seed=1, **options):
    source, target, weight = drawn(seed)
    return tandem.Graph.from_edges(source, target, weight, vertices=VERTICES, **options), (source, target, weight)


def large(session=None, edges=2_000_000):
    draw = np.random.default_rng(1)
    return tandem.Graph.from_edges(draw.integers(0, 200_000, edges), draw.integers(0, 200_000, edges),
                                   vertices=200_000, session=session)


def test_every_program_agrees_with_its_reference():
    graph, (source, target, weight) = small()
    found = graph.bfs(0)
    assert [found[v] for v in range(VERTICES)] == reference.distances(rows(VERTICES, source, target), 0)
    found = graph.sssp(0)
    assert [found[v] for v in range(VERTICES)] == reference.distances(rows(VERTICES, source, target, weight), 0)
    assert graph.wcc().values.tolist() == reference.components(VERTICES, source, target)
    assert graph.labels().values.tolist() == graph.wcc().values.tolist()
    ranks = reference.pagerank(VERTICES, source, target)
    assert np.allclose(graph.pagerank(tolerance=1e-7).values, ranks, atol=1e-6)
    forest = graph.mst()
    assert forest.total_weight == reference.forest_weight(VERTICES, source, target, weight)
    assert forest.edges.weight.sum() == forest.total_weight and len(forest.edges.source) == len(forest.edges.target)


def test_every_program_has_a_method_with_a_signature_and_documentation():
    graph, _ = small()
    for name, program in tandem.programs.items():
        method = getattr(tandem.Graph, name)
        parameters = inspect.signature(method).parameters
        assert ("source" in parameters) == (program.needs_source or program.takes_source)
        assert ("parents" in parameters) == program.gives_parents
        for parameter in program.parameters:
            assert parameter.name in parameters and parameter.help.split(":")[0] in method.__doc__
        for word in ("engine", "devices", "memory", "gpu_memory", "checkpoint", "resume", "progress"):
            assert word in parameters and f"{word} :" in method.__doc__
        result = graph.run(name, **({"source": 0} if program.needs_source else {}))
        assert len(result) == VERTICES and result.program == name
        assert program.needs_source or "converged" in repr(result) or result.converged or result.iterations
    with raises(TypeError, "unexpected"):
        graph.bfs(0, colour="red")


def test_parameters_reach_the_program():
    graph, (source, target, _) = small()
    assert not np.allclose(graph.pagerank(damping=0.5).values, graph.pagerank().values, atol=1e-4)
    assert graph.pagerank(iterations=3).iterations == 3
    assert graph.kcore(degree="in").values.tolist() != graph.kcore().values.tolist()
    jumps = graph.pagerank(personal={3: 1.0}, tolerance=1e-7).values
    array = np.zeros(VERTICES)
    array[3] = 5
    assert np.array_equal(jumps, graph.pagerank(personal=array, tolerance=1e-7).values)
    assert jumps[3] > 0.1
    with raises(tandem.Usage, "dangling"):
        graph.pagerank(dangling="sometimes")
    with raises(ValueError, "numbers for"):
        graph.pagerank(personal=[1.0])


def test_values_keep_the_result_alive():
    graph, (source, target, _) = small()
    gc.collect()
    before = tandem.memory_held()
    values = graph.bfs(0, parents=True).values
    assert tandem.memory_held() >= before + values.nbytes
    parents = graph.bfs(0, parents=True).parents
    expected = values.tolist()
    held = tandem.memory_held()
    del graph
    gc.collect()
    assert values.tolist() == expected and not values.flags.writeable
    assert all(p == 0xFFFFFFFF or p < VERTICES for p in parents.tolist())
    assert tandem.memory_held() == held
    del values, parents
    gc.collect()
    assert tandem.memory_held() < held


def test_results_in_other_forms():
    graph, (source, target, weight) = small()
    result = graph.sssp(0, parents=True)
    assert np.asarray(result).ctypes.data == result.values.ctypes.data
    best = max((d, -v) for v, d in enumerate(reference.distances(rows(VERTICES, source, target, weight), 0)) if d is not None)
    assert result.top(1) == [(-best[1], best[0])]
    path = result.path(-best[1])
    assert path[0] == 0 and path[-1] == -best[1]
    lightest = {}
    for a, b, w in zip(source, target, weight):
        lightest[a, b] = min(w, lightest.get((a, b), w))
    assert sum(lightest[pair] for pair in zip(path, path[1:])) == best[0]
    assert result.summary["highest"] == best[0]
    assert "distance" in result.verify() or result.verify()
    assert result.stats()["program"] == "sssp" and result.rows[0].active_vertices >= 1
    pandas = need("pandas")
    series, frame = result.to_series(), result.to_pandas()
    assert isinstance(series, pandas.Series) and series.name == "distance" and series[-best[1]] == best[0]
    assert list(frame.columns) == ["vertex", "distance", "parent"] and len(frame) == VERTICES
    assert list(graph.mst().to_pandas().columns) == ["source", "target", "weight"]
    assert graph.wcc().to_series().tolist() == reference.components(VERTICES, source, target)


def test_unreached_vertices_are_missing_values():
    need("pandas")
    graph = tandem.Graph.from_edges([0], [1], vertices=3)
    assert graph.bfs(0).to_series().isna().tolist() == [False, False, True]
    assert graph.bfs(0)[2] is None and graph.bfs(0).path is not None
    assert graph.bfs(0, parents=True).path(2) is None


def test_a_plan_states_engine_reason_and_memory():
    graph, _ = small()
    plan = graph.plan("sssp")
    assert plan.engine == "cpu" and plan.why in str(plan) and plan.fits
    assert plan.memory[0]["place"] == "host" and plan.memory[0]["program"] > 0
    assert plan.run().values.tolist() == graph.sssp(graph.ids[0]).values.tolist()
    with raises(tandem.NotFound, "pagerank"):
        graph.plan("nothing")
    other = graph.plan("bfs", engine="resident", devices="emu")
    assert other.engine == "resident" and other.memory[1]["place"].startswith("emu")


def test_emulated_gpus_give_the_same_result():
    graph, _ = small()
    for engine in ("resident", "stream"):
        result = graph.bfs(0, engine=engine, devices=["emu"])
        assert result.engine == engine and result.values.tolist() == graph.bfs(0).values.tolist()


def test_errors_are_exceptions_with_fields():
    graph, _ = small()
    with raises(tandem.NotFound, "99"):
        graph.bfs(99)
    with raises(LookupError):
        graph.bfs(99)
    with raises(tandem.Usage, "engine"):
        graph.bfs(0, engine="steam")
    with raises(TypeError, "whole number"):
        graph.bfs("zero")
    try:
        graph.bfs(0, memory=100)
    except MemoryError as found:
        assert found.status == "NO_MEMORY" and found.resource == "session_memory" and "memory=" in found.message
        assert found.needed > 100 and found.option in ("memory", "session_memory")
    else:
        raise AssertionError("100 bytes were enough")
    assert graph.bfs(0)[0] == 0  # the budget was the call's
    with raises(ValueError, "2G"):
        graph.bfs(0, memory="much")


def test_arguments_that_would_be_cut_off_are_refused():
    """ctypes keeps the low bits of a number, and a text up to its first null character."""
    graph, _ = small()
    wrong = [(ValueError, {"iterations": n}) for n in ((1 << 32) + 1, 1 << 32, -1)]
    wrong += [(ValueError, {"checkpoint": ".", "checkpoint_every": n}) for n in (-1, 0, 1 << 32)]
    wrong += [(ValueError, {"memory": 0}), (ValueError, {"memory": "0.5"}), (ValueError, {"gpu_memory": 0}),
              (ValueError, {"gpu_edges": 0}), (ValueError, {"gpu_edges": "0%"}), (ValueError, {"gpu_edges": 25}),
              (ValueError, {"gpu_edges": "x%"}), (ValueError, {"gpu_edges": float("nan")}),
              (ValueError, {"engine": "cpu\0x"}), (ValueError, {"devices": "cpu\0x"}),
              (ValueError, {"checkpoint": "a\0b"}), (ValueError, {"settings": {"cpu.batch": "bits\0"}}),
              (ValueError, {"checkpoint_every": 3}), (TypeError, {"iterations": 1.5}), (TypeError, {"engine": 5})]
    for kind, options in wrong:
        with raises(kind, list(options)[-1] + "=" if "settings" not in options else "settings"):
            graph.pagerank(**options)
    for threads in (-1, (1 << 32) + 1):
        with raises(ValueError, "threads="):
            tandem.Session(threads=threads)
    with raises(ValueError, "count=-1"):
        graph.pagerank().top(-1)
    assert graph.plan("bfs", sources=iter([0, 1])).engine == "cpu"
    assert graph.bfs(0, engine="stream", devices="emu", gpu_edges="300%").engine in ("stream", "resident")


def test_numbers_per_vertex_are_checked_and_their_file_is_removed():
    graph, _ = small()
    with tempfile.TemporaryDirectory() as folder:
        before, tempfile.tempdir = tempfile.tempdir, folder
        try:
            plan = graph.plan("pagerank", personal={0: 1, 5: 3})
            assert len(os.listdir(folder)) == 1
            assert np.array_equal(plan.run().values, graph.pagerank(personal={0: 1, 5: 3}).values)
            with raises(tandem.NotFound, f"vertex {VERTICES + 7} "):
                graph.pagerank(personal={VERTICES + 7: 1})
            with raises(ValueError, "personal= has nan for vertex 5"):
                graph.pagerank(personal={5: float("nan")})
            del plan
            gc.collect()
            assert os.listdir(folder) == []
        finally:
            tempfile.tempdir = before


def test_graphs_and_results_are_containers():
    import copy
    import pickle
    graph, _ = small()
    assert 0 in graph and VERTICES not in graph and "a" not in graph
    assert list(graph.wcc()) == graph.wcc().values.tolist() and len(list(graph.pagerank())) == VERTICES
    assert copy.copy(graph).bfs(0).values.tolist() == graph.bfs(0).values.tolist()
    with raises(TypeError, "save it to a file"):
        pickle.dumps(graph)


def test_a_budget_belongs_to_its_session():
    source, target, _ = drawn(1)
    with raises(tandem.NoMemory):
        tandem.Graph.from_edges(source, target, session=tandem.Session(threads=1, memory=1000))
    session = tandem.Session(threads=1, memory="64M")
    assert session.memory == 64 << 20 and session.threads == 1
    assert tandem.Graph.from_edges(source, target, session=session).session.memory_held[0] > 0


def test_progress_is_told_and_may_stop_a_run():
    graph, _ = small()
    seen = []
    result = graph.pagerank(progress=seen.append)
    assert [row.number for row in seen] == list(range(result.iterations))
    with raises(tandem.Cancelled):
        graph.pagerank(progress=lambda row: row.number < 2)
    need("tqdm")
    graph.pagerank(progress=True)


class Odd(Exception):
    pass


def test_what_a_progress_function_raises_is_raised_by_the_call():
    graph, _ = small()
    seen = []

    def tell(row):
        seen.append(row.number)
        if row.number == 2:
            raise Odd("at two") from KeyError("why")
    for _ in range(2):  # the second time the session is as it was
        seen.clear()
        with raises(Odd, "at two"):
            graph.pagerank(progress=tell)
        assert seen == [0, 1, 2]
    try:
        graph.pagerank(progress=tell)
    except Odd as found:
        assert isinstance(found.__cause__, KeyError) and found.__traceback__ is not None

    def exits(row):
        raise SystemExit(3)
    with raises(SystemExit):
        graph.pagerank(progress=exits)
    found = []

    def work():
        try:
            graph.pagerank(progress=tell)
        except Odd as raised:
            found.append(raised)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert len(found) == 1
    assert graph.pagerank().converged


def test_what_is_no_progress_function_is_refused():
    graph = tandem.Graph.from_edges([0, 1], [1, 2])
    with raises(TypeError, "progress=3 is neither True nor a function"):
        graph.bfs(0, progress=3)
    with raises(TypeError, "is no result of a run"):
        tandem.report([graph])


def test_what_a_progress_function_raises_in_the_last_iteration_is_not_lost():
    graph, _ = small()
    last = graph.pagerank(iterations=4).iterations - 1

    def tell(row):
        if row.number == last:
            raise Odd("at the end")
    with tempfile.TemporaryDirectory() as folder:  # with checkpoints the run ends by itself
        with raises(Odd, "at the end"):
            graph.pagerank(iterations=4, progress=tell, checkpoint=folder)


def test_a_progress_function_cannot_call_its_own_session():
    graph, _ = small()
    other = graph.on(tandem.Session(threads=1))
    found = []

    def tell(row):
        found.append(other.bfs(0).iterations)  # another session may be called
        graph.bfs(0)
    done = threading.Event()

    def work():
        try:
            graph.pagerank(progress=tell)
        except tandem.Usage as raised:
            found.append(str(raised))
        done.set()
    for body in (lambda: threading.Thread(target=work, daemon=True).start(), work):
        found.clear()
        done.clear()
        body()  # by a thread, and by the main one
        assert done.wait(20), "the call waits for itself"
        assert len(found) == 2 and "cannot call the session that runs it" in found[1], found
    assert graph.bfs(0).converged


def test_control_c_while_the_worker_starts():
    session = tandem.Session(threads=1)
    calls, start = [], threading.Thread.start

    def function(handle):
        calls.append(handle)
        return 0

    def check(patched, made):
        calls.clear()
        threading.Thread.start = patched
        try:
            with raises(KeyboardInterrupt):
                session._call(False, function)
        finally:
            threading.Thread.start = start
        time.sleep(0.3)
        assert len(calls) == made, (calls, made)
        session._call(False, function)  # the session is free

    def before(thread):
        raise KeyboardInterrupt

    def late(thread):  # the thread comes after the call was given up
        start(threading.Timer(0.1, start, (thread,)))
        raise KeyboardInterrupt

    def after(thread):
        start(thread)
        time.sleep(0.1)
        raise KeyboardInterrupt
    check(before, 0)
    check(late, 0)
    check(after, 1)


def test_checkpoints_resume():
    graph, _ = small()
    with tempfile.TemporaryDirectory() as folder:
        graph.pagerank(iterations=5, checkpoint=folder, checkpoint_every=1)
        result = graph.pagerank(resume=folder)
        assert result.resumed > 0
        assert np.allclose(result.values, graph.pagerank().values, atol=1e-6)


INTERRUPTED = """
import numpy as np, os, sys, time, tandem
draw = np.random.default_rng(1)
graph = tandem.Graph.from_edges(draw.integers(0, 200_000, 2_000_000), draw.integers(0, 200_000, 2_000_000))
state = {}
def tell(row):
    if row.number == 2: print("running", flush=True)
try:
    graph.pagerank(iterations=1_000_000, tolerance=0.0, progress=tell)
except KeyboardInterrupt:
    print("interrupted", graph.bfs(int(graph.ids[0])).iterations > 0, flush=True)
"""


def test_control_c_stops_a_run_within_a_second():
    child = subprocess.Popen([sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "running\n"
    guard = threading.Timer(30, child.kill)
    guard.start()
    child.send_signal(signal.SIGINT)
    begun = time.perf_counter()
    assert child.stdout.readline() == "interrupted True\n"
    taken = time.perf_counter() - begun
    assert child.wait() == 0
    guard.cancel()
    assert taken < 2, f"{taken:.1f} s"  # one second on a quiet machine; it includes the search that follows


def test_a_small_graph_on_a_slow_engine_can_be_interrupted():
    """Calls that end at once are made by the main thread itself; those of emulated and real GPUs are not among them."""
    graph, _ = small()
    watched = []

    class Watched(tandem.Session):
        def _call_watched(self, handle, function, arguments):
            watched.append(function.__name__)
            return super()._call_watched(handle, function, arguments)
    graph = graph.on(Watched(threads=1))
    graph.bfs(0)
    assert watched == []
    graph.bfs(0, engine="multi", devices="emu:2")
    assert watched == ["td_session_plan", "td_plan_run"]
    with tempfile.TemporaryDirectory() as folder:  # the planner's choice of an engine counts as well
        graph.save(f"{folder}/g.tg")
        disk = tandem.Graph.open(f"{folder}/g.tg", edges="disk", session=graph.session)
        watched.clear()
        assert disk.bfs(0).engine == "hybrid" and watched == ["td_plan_run"]


def test_another_thread_may_cancel():
    session = tandem.Session(threads=1)
    graph = large(session)
    timer = threading.Timer(0.3, session.cancel)
    timer.start()
    with raises(tandem.Cancelled):
        graph.pagerank(iterations=1_000_000, tolerance=0.0)
    timer.join()
    assert graph.bfs(0).converged


def test_threads_with_sessions_of_their_own_run_at_once():
    graph, (source, target, _) = small()
    expected = reference.components(VERTICES, source, target)
    wrong = []

    def work(seed):
        own = graph.on(tandem.Session(threads=1))
        for _ in range(50):
            if own.wcc().values.tolist() != expected:
                wrong.append(seed)
    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_threads_that_share_a_session_wait_for_each_other():
    graph, _ = small()
    expected, wrong = graph.bfs(0).values.tolist(), []

    def work():
        for _ in range(50):
            if graph.bfs(0).values.tolist() != expected:
                wrong.append(1)
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


FORKED = """
import os, sys, tandem
graph = tandem.Graph.from_edges([0, 1], [1, 2])
options = {"engine": "resident", "devices": "emu"}
way = sys.argv[1]
if way == "plan": graph.plan("bfs", **options)
elif way == "batch": list(graph.bfs(sources=[0, 1], **options))
elif way == "gone": tandem.Graph.from_edges([0, 1], [1, 2], session=tandem.Session()).bfs(0, **options)
else: graph.bfs(0, **(options if way == "device" else {}))
if os.fork() == 0:
    try:
        found = graph.bfs(0).values.tolist()
        os.write(1, f"computed {found}".encode())
    except tandem.Forked as told:
        os.write(1, f"told: {told}".encode())
    os._exit(0)
os.wait()
assert graph.bfs(0).values.tolist() == [0, 1, 2]
"""


def forked(kind):
    done = subprocess.run([sys.executable, "-c", FORKED, kind], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_forked_child_computes_on_the_cpu():
    assert forked("cpu") == "computed [0, 1, 2]"


def test_a_fork_after_a_device_was_opened_is_told():
    for way in ("device", "plan", "batch", "gone"):  # gone: the session that opened it does not live any more
        said = forked(way)
        assert "emu" in said and "spawn" in said, (way, said)


def test_notebooks_show_tables_and_drawings():
    graph, _ = small()
    graph.name = "<b>&"
    batch = graph.bfs(sources=[0, 1])
    assert batch.values.shape == (2, VERTICES)
    for shown in (graph, graph.pagerank(), graph.wcc(), graph.plan("bfs"), batch):
        text = shown._repr_html_()
        assert "<table" in text and text.count("<div") == text.count("</div>") and "http" not in text
    assert "<svg" in graph._repr_html_() and "&lt;b&gt;&amp;" in graph._repr_html_()
    assert "<svg" in graph.pagerank()._repr_html_() and "<title>" in graph._repr_html_()
    assert "<th scope='row'>searches</th><td>" in batch._repr_html_()
    from tandem import _html
    before, _html.MOST_VERTICES = _html.MOST_VERTICES, 16  # of a large graph some vertices are drawn
    try:
        assert "one of 4 vertices by out-degree" in graph._repr_html_()
    finally:
        _html.MOST_VERTICES = before


def test_a_batch_gives_the_values_of_single_runs():
    graph, _ = small()
    sources = [3, 0, 17, 3]
    for method in (graph.bfs, graph.sssp):
        batch = method(sources=sources)
        assert isinstance(batch, tandem.Batch) and len(batch) == 4
        rows = [method(source).values for source in sources]
        for source, found, row in zip(sources, batch, rows):
            assert found.source == source and np.array_equal(found.values, row) and found.seconds >= 0
        assert np.array_equal(batch.values, np.stack(rows)) and batch.values.shape == (4, VERTICES)
        for found, source in zip(batch.summary(), sources):
            own = method(source).summary
            assert found["source"] == source and found["digest"] == own["digest"] and found["reached"] == own["reached"]
        assert batch.facts["done"] == 4 and batch.program in repr(batch)
    assert graph.bfs(sources=[v % VERTICES for v in range(64)], engine="cpu").values.shape == (64, VERTICES)


def test_searches_of_a_batch_share_edges():
    graph, _ = small()
    shared, single = (graph.bfs(sources=[v % VERTICES for v in range(64)], engine="cpu", settings={"cpu.batch": way})
                      for way in ("bits", "single"))
    assert np.array_equal(shared.values, single.values)
    assert shared.facts["at_once"] == 64 and shared.facts["searches"] == 1 and single.facts["searches"] == 64
    assert 0 < shared.facts["edges_processed"] < single.facts["edges_processed"]


def test_values_of_a_batch_outlive_it():
    graph, _ = small()
    kept = [found.values for found in graph.bfs(sources=[0, 1, 2])]
    gc.collect()
    assert [row[source] for source, row in enumerate(kept)] == [0, 0, 0]
    first = next(iter(graph.bfs(sources=range(10))))  # the rest is not run
    assert first.values[0] == 0


def test_a_batch_that_is_none_is_refused():
    graph, _ = small()
    with raises(tandem.Usage, "give one of them"):
        graph.bfs(0, sources=[1])
    with raises(tandem.Usage, "there are none"):
        graph.bfs(sources=[])
    with raises(tandem.Usage, "needs a source vertex"):
        graph.bfs()
    with raises(tandem.NotFound):
        graph.bfs(sources=[0, VERTICES + 5])
    with raises(tandem.Usage, "a checkpoint is the state of one run"):
        graph.bfs(sources=[0, 1], checkpoint="somewhere")
    with raises(TypeError):
        graph.wcc(sources=[0])


def test_the_stub_is_what_the_tables_say():
    from tandem import _programs
    from pathlib import Path
    path = Path(tandem.__file__).with_name("_programs.pyi")
    assert path.read_text() == _programs.stub(), "run python -m tandem.stubs"
    assert path.with_name("py.typed").exists()


def test_everything_public_is_documented():
    for name in tandem.__all__:
        value = getattr(tandem, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert value.__doc__, name
    for cls in (tandem.Graph, tandem.Result, tandem.Plan, tandem.Session, tandem.Batch):
        for name, value in vars(cls).items():
            if not name.startswith("_"):
                assert inspect.getdoc(value) or not callable(value) and not isinstance(value, property), (cls, name)


def test_the_larger_component_of_a_small_graph_is_left_out():
    """The first edges show the components; of the larger one no edge is visited again, whichever vertices it has."""
    def visited(numbers, cut):
        ends = [(numbers[v], numbers[(v + step) % size + first]) for first, size in ((0, cut), (cut, 1000 - cut))
                for v in range(first, first + size) for step in (1 - first, 7 - first, 11 - first)]
        return tandem.Graph.from_edges(*np.array(ends).T, vertices=1000, directed=False).wcc(
            engine="cpu").stats()["edges_processed"]
    for cut in (494, 498):
        assert visited(np.arange(1000), cut) == visited(np.arange(1000)[::-1], cut)


def reads():
    with open("/proc/self/io") as file:
        return int(file.read().split("syscr: ")[1].split()[0])


def test_calls_on_a_small_graph_read_no_file():
    if not os.path.exists("/proc/self/io"):
        raise Skip("the system does not count reads")
    graph, _ = small()
    least = 1000
    for _ in range(50):  # the free memory is read every 10 ms
        before = reads()
        for _ in range(10):
            graph.bfs(0)
        least = min(least, reads() - before)
    assert least < 10, least


def test_runs_of_a_small_graph_wake_no_worker():
    """Neither the run nor the checks after it: waking one takes ten times as long as either."""
    source, target, weight = drawn(1)
    session = tandem.Session(threads=3)
    graph = tandem.Graph.from_edges(source, target, weight, vertices=VERTICES, session=session)
    for name, program in tandem.programs.items():
        options = {"source": 0} if program.needs_source else {}
        woken = wakes(lambda: graph.run(name, engine="cpu", **options))
        assert woken == 0, (name, woken)
    assert wakes(lambda: large(session)) > 0


def test_calls_on_a_small_graph_are_quick():
    graph, _ = small()
    session = graph.on(tandem.Session(threads=1))
    times = []
    for _ in range(20):
        begun = time.perf_counter()
        for _ in range(20):
            session.bfs(0)
        times.append((time.perf_counter() - begun) / 20)
    assert min(times) < 400e-6, f"{min(times) * 1e6:.0f} us"  # about 15 us on a quiet machine


def test_pages_of_files_whose_names_are_no_utf8():
    with tempfile.TemporaryDirectory() as folder:
        place = os.path.join(os.fsencode(folder), b"caf\xe9.txt")
        try:
            with open(place, "w") as file:
                file.write("1 2\n2 3\n")
        except OSError:
            raise Skip("the file system takes UTF-8 names only") from None
        for path in (place, os.fsdecode(place)):
            graph = tandem.Graph.open(path, format="edgelist")
            target = os.path.join(os.fsencode(folder), b"p\xe9ge.html")
            html = graph.bfs(1).report(target)
            assert "caf\ufffd.txt" in html and "caf" in repr(graph)
            with open(target, encoding="utf-8") as file:
                assert file.read() == html
            os.unlink(target)
            assert sorted(os.listdir(os.fsencode(folder))) == [b"caf\xe9.txt"]  # no unfinished page is left
        runs = [graph.bfs(1)] * 4
        html = tandem.report(runs, names=[b"b\xe9", "s\udce9", "odd \ud800", "µ"])
        for name in ("b\ufffd", "s\ufffd", "odd \ufffd", "µ"):
            assert f"<bdi>{name}</bdi>" in html
