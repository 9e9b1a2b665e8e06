"""The package on a GPU: results of every engine against those of the CPU, and a fork.

TANDEM_TEST_DEVICE=emu runs the same on an emulated GPU."""

import os

import numpy as np
import tandem
from harness import Skip

DEVICE = os.environ.get("TANDEM_TEST_DEVICE", "cuda:0")


def graph():
    random = np.random.default_rng(1)
    count, edges = (1 << 17, 1 << 21) if DEVICE.startswith("cuda") else (1 << 10, 1 << 14)
    return tandem.Graph.from_edges(random.integers(0, count, edges), random.integers(0, count, edges),
                                   random.integers(1, 100, edges).astype(np.uint8))


def opened():
    """A graph, where the device can be opened."""
    try:
        tandem.Graph.from_edges([0, 1], [1, 2]).bfs(0, devices=DEVICE, engine="resident")
    except tandem.Unsupported as why:
        raise Skip(str(why)) from None
    return graph()


def test_engines_on_a_gpu_agree_with_the_cpu():
    g = opened()
    source = int(g.ids[0])
    for name, given, options in (("bfs", (source,), {}), ("sssp", (source,), {}), ("wcc", (), {}), ("kcore", (), {}),
                                 ("pagerank", (), {"iterations": 20})):
        expected = getattr(g, name)(*given, engine="cpu", **options).values
        for engine, limits in (("resident", {}), ("stream", {"gpu_edges": 0.25}), ("coop", {"gpu_edges": 0.25})):
            result = getattr(g, name)(*given, engine=engine, devices=DEVICE, **options, **limits)
            case = name, engine, result.engine, result.devices
            if engine != "coop":  # coop leaves programs to the CPU that gain nothing from sharing
                assert result.engine == engine and any(d["device"].startswith(DEVICE[:3]) for d in result.devices), case
            if expected.dtype.kind == "f":
                np.testing.assert_allclose(result.values, expected, rtol=1e-4, atol=1e-9, err_msg=f"{name} {engine}")
            else:
                assert (result.values == expected).all(), (name, engine)
    assert result.verify()


def test_a_fork_after_a_gpu_was_opened_is_refused():
    g = opened()
    child = os.fork()
    if child == 0:
        try:
            g.bfs(int(g.ids[0]), engine="cpu")
        except tandem.Forked:
            os._exit(0)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
