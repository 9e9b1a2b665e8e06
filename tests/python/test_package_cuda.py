"""The package on a GPU: every engine and program against the CPU, batches of sources, sessions in threads, an interrupt,
and forks. Needs NumPy alone.

TANDEM_TEST_DEVICE names the GPU (cuda:0); with emu the same tests run on emulated GPUs and smaller graphs."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import tandem
from harness import Skip, raises

DEVICE = os.environ.get("TANDEM_TEST_DEVICE", "cuda:0")
CUDA = DEVICE.startswith("cuda")
SEVERAL = f"{DEVICE}/2" if CUDA else f"{DEVICE}:2"  # slices of the one GPU
COUNT, EDGES = (1 << 14, 1 << 18) if CUDA else (1 << 9, 1 << 14)
LEVELS = 1 << (23 if CUDA else 18)  # of a path, whose search lasts many seconds

#: How each engine runs so that it needs its GPU, on a graph of a few pages.
WAYS = {
    "resident": {"devices": DEVICE},
    "stream": {"devices": DEVICE, "gpu_edges": 0.25},
    "coop": {"devices": DEVICE, "gpu_edges": 0.25},
    "multi": {"devices": SEVERAL},
    "hybrid": {"devices": DEVICE},
    "paths": {"devices": DEVICE},
}
#: Engines that divide the work themselves use the GPU for sure with these, but for programs that they leave to the CPU.
FORCED = {"coop": {"coop.invoke": "always"}, "hybrid": {"hybrid.use": "gpu", "hybrid.page": "64K"}}
BY_CPU = {(engine, name) for engine in FORCED for name in ("wcc", "mst", "kcore")} | {("hybrid", "labels")}
#: Sweeps in any order, and numbers of rounds, which paths does not have.
REFUSED = {("paths", name) for name in ("wcc", "mst", "nn", "heat")}
SLOW = {("paths", "circuit")}  # converges after a minute on an emulated GPU; test_paths_gpu runs it


def drawn(weights=True):
    draw = np.random.default_rng(1)
    source, target = draw.integers(0, COUNT, (2, EDGES))
    return tandem.Graph.from_edges(source, target, draw.integers(1, 100, EDGES).astype(np.uint8) if weights else None,
                                   vertices=COUNT)


def opened(weights=True):
    """A graph, where the device can be opened."""
    try:
        tandem.Graph.from_edges([0, 1], [1, 2]).bfs(0, devices=DEVICE, engine="resident")
    except tandem.Unsupported as why:
        raise Skip(str(why)) from None
    return drawn(weights)


def used(result):
    """Names of the GPUs that a run launched kernels on."""
    return {row["device"] for row in result.devices if row["device"].startswith(DEVICE[:3]) and row["launches"]}


def same(found, expected, case, relative=1e-4):
    if expected.dtype.kind == "f":
        least = relative * 1e-2 * np.abs(expected[np.isfinite(expected)]).max()  # sums of both signs
        np.testing.assert_allclose(found, expected, relative, least, err_msg=str(case))
    else:
        assert np.array_equal(found, expected), case


def options_of(name, engine):
    program = tandem.programs[name]
    ends = {} if not program.measured else {"tolerance": 1e-7} if engine == "paths" else {"iterations": 10}
    return ({"source": 0} if program.needs_source else {}) | ends


def run(graph, name, engine):
    """A run, and whether it must have used the GPU; None where an engine has no way to run a program."""
    options = options_of(name, engine) | WAYS[engine]
    if (engine, name) in REFUSED:
        with raises(tandem.Usage, name):
            graph.run(name, engine=engine, **options)
        return None, False
    if engine not in FORCED or (engine, name) in BY_CPU:
        return graph.run(name, engine=engine, **options), (engine, name) not in BY_CPU
    return graph.run(name, engine=engine, settings=FORCED[engine], **options), True


def test_every_engine_with_a_gpu_is_tried():
    assert set(WAYS) | {"cpu"} == set(tandem.engines)


def test_engines_on_a_gpu_agree_with_the_cpu():
    graph = opened()
    for name in tandem.programs:
        for engine in WAYS:
            result, needed = run(graph, name, engine) if (engine, name) not in SLOW else (None, False)
            if result is None:
                continue
            expected = graph.run(name, engine="cpu", **options_of(name, engine))
            case = name, engine, result.engine, result.devices
            assert (result.engine == engine and used(result)) or not needed, case
            assert engine != "multi" or len(used(result)) == 2, case
            same(result.values, expected.values, case, 1e-3 if engine == "paths" else 1e-4)
            assert result.verify(), case


def test_batches_on_a_gpu_give_the_values_of_single_runs():
    graph = opened()
    sources = [0, 17, COUNT - 1, 17] + list(range(100, 160))
    for name in ("bfs", "sssp"):
        few = sources if name == "bfs" else sources[:4]
        rows = [graph.run(name, source=source, engine="cpu").values for source in few]
        for engine, way in WAYS.items():
            ends = few if engine == "resident" else few[:4]
            batch = graph.run(name, sources=ends, engine=engine, settings=FORCED.get(engine), **way)
            case = name, engine, batch.facts
            assert batch.plan.engine == engine, case
            for source, found, row in zip(ends, batch, rows):
                assert found.source == source, case
                same(found.values, row, case)
            assert batch.facts["done"] == len(ends), case
            if name == "bfs" and engine == "resident":
                assert batch.facts["at_once"] == 64 and batch.facts["searches"] == 1, case


def path(session=None):
    """A directed path: its search has as many levels as vertices, and cannot end early."""
    offsets = np.minimum(np.arange(LEVELS + 1, dtype=np.uint64), LEVELS - 1)
    return tandem.Graph.from_csr(offsets, np.arange(1, LEVELS, dtype=np.uint32), session=session)


def test_two_sessions_in_threads_run_at_once_and_are_cancelled_alone():
    graph = opened()
    expected = graph.bfs(0, engine="cpu").values
    ranks = graph.pagerank(iterations=10, engine="cpu").values
    long, short = tandem.Session(threads=1), graph.on(tandem.Session(threads=1))
    ends, line = [], path(long)

    def search():
        try:
            line.bfs(0, engine="resident", devices=DEVICE)
            ends.append("by itself")
        except tandem.Cancelled:
            ends.append("cancelled")
    thread, before = threading.Thread(target=search), long.memory_held[0]
    thread.start()
    while thread.is_alive() and long.memory_held[0] < before + LEVELS:  # the run has its values
        time.sleep(0.01)
    time.sleep(0.5)
    same(short.bfs(0, engine="resident", devices=DEVICE).values, expected, "bfs")
    same(short.pagerank(iterations=10, engine="stream", devices=DEVICE, gpu_edges=0.25).values, ranks, "pagerank")
    assert ends == [], "the long search ended before the short runs of the other session"
    long.cancel()
    thread.join()
    assert ends == ["cancelled"]
    same(short.bfs(0, engine="resident", devices=DEVICE).values, expected, "after the cancel")
    same(graph.on(long).bfs(0, engine="resident", devices=DEVICE).values, expected, "the cancelled session")


def test_sessions_on_a_gpu_have_budgets_of_their_own():
    graph = opened()
    tight = graph.on(tandem.Session(threads=1, memory=COUNT))
    with raises(tandem.NoMemory):
        tight.sssp(0, engine="resident", devices=DEVICE)
    result = graph.on(tandem.Session(threads=1)).sssp(0, engine="resident", devices=DEVICE)
    same(result.values, graph.sssp(0, engine="cpu").values, "without a budget")


INTERRUPTED = """
import signal, sys, threading, time
import numpy as np, tandem
sys.path.insert(0, sys.argv[1])
from test_package_cuda import DEVICE, WAYS, path
engine, way = sys.argv[2], WAYS[sys.argv[2]]
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that starts jobs in the background has it ignored
small, devices = tandem.Graph.from_edges([0, 1], [1, 2]), way["devices"]
small.bfs(0, engine=engine, devices=devices)
line = path()
threading.Timer(1.0, print, ("running",), {"flush": True}).start()
try:
    line.bfs(0, engine=engine, **way)
    print("ended by itself", flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
print(small.bfs(0, engine=engine, devices=devices).values.tolist(), flush=True)
"""


def test_an_interrupt_stops_a_run_on_a_gpu_within_a_second():
    opened()
    for engine in ("resident", "stream", "multi"):
        child = subprocess.Popen([sys.executable, "-B", "-c", INTERRUPTED, os.path.dirname(os.path.abspath(__file__)), engine],
                                 stdout=subprocess.PIPE, text=True)
        guard = threading.Timer(120, child.kill)
        guard.start()
        try:
            assert child.stdout.readline() == "running\n", engine
            begun = time.perf_counter()
            child.send_signal(signal.SIGINT)
            said = child.stdout.readline()
            taken = time.perf_counter() - begun
            assert said == "interrupted\n", (engine, said)
            assert child.stdout.readline() == "[0, 1, 2]\n", engine  # the session and the device are in order
            assert child.wait() == 0, engine
        finally:
            guard.cancel()
            child.kill()
        assert taken < 2, f"{engine}: {taken:.1f} s"  # one second on a quiet machine


FORKED = """
import os, sys
import tandem
graph = tandem.Graph.from_edges([0, 1], [1, 2])
options = {"engine": "resident", "devices": sys.argv[1]}
if sys.argv[2] == "plan": graph.plan("bfs", **options)
elif sys.argv[2] == "batch": list(graph.bfs(sources=[0, 1], **options))
else: graph.bfs(0, **options)
child = os.fork()
if child == 0:
    for again in ({}, {"engine": "cpu"}, options):
        try:
            graph.bfs(0, **again)
            os.write(1, b"computed ")
        except tandem.Forked as why:
            os.write(1, (b"told " if sys.argv[1] in str(why) and "spawn" in str(why) else str(why).encode()))
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print(graph.bfs(0, **options).values.tolist())
"""


def test_a_fork_after_a_gpu_was_opened_is_told():
    opened()
    for way in ("run", "plan", "batch"):
        done = subprocess.run([sys.executable, "-c", FORKED, DEVICE, way], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0 and done.stdout == "told told told [0, 1, 2]\n", (way, done.stdout, done.stderr)


SPAWNED = """
import multiprocessing, sys
import tandem
def search(device):
    return tandem.Graph.from_edges([0, 1], [1, 2]).bfs(0, engine="resident", devices=device).values.tolist()
if __name__ == "__main__":
    assert search(sys.argv[1]) == [0, 1, 2]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(search, [sys.argv[1]]) == [[0, 1, 2]]
    print("both")
"""


def test_a_process_that_is_spawned_may_use_the_gpu_too():
    import tempfile
    opened()
    with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
        script.write(SPAWNED)
        script.flush()
        done = subprocess.run([sys.executable, script.name, DEVICE], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stdout == "both\n", (done.stdout, done.stderr)
