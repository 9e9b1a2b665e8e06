"""What a user writes, for `mypy --strict`: it must find no error in it, and find those that are expected. Never run."""

from typing import Any

import numpy as np
import tandem

graph: tandem.Graph = tandem.Graph.from_edges([0, 1], [1, 2])
result: tandem.Result = graph.bfs(0, engine="cpu", parents=True)
batch: tandem.Batch = graph.bfs(sources=[0, 1])
levels: np.ndarray[Any, Any] = result.values
for found in batch:
    print(found.source, found.values.sum(), found.seconds)
top: list[tuple[Any, ...]] = graph.pagerank(damping=0.9, personal={0: 1.0}).top(3)
plan: tandem.Plan = graph.plan("sssp", source=1)
print(plan.engine, plan.fits, plan.memory[0]["place"], result.path(1), graph.wcc().summary, 1 in graph)
edges = graph.mst().edges
if edges is not None:
    print(edges.source, edges.weight)
other: tandem.Graph = graph.on(tandem.Session(threads=2, memory="2G"))
try:
    other.sssp(0, memory="1M", devices=["cuda:0"], progress=lambda row: row.number < 3)
except tandem.NoMemory as error:
    print(error.needed, error.resource, error.message)
print(tandem.engines, tandem.programs["bfs"].parameters, tandem.__version__)
html: str = tandem.report([result], "x.html", names=["a"])

graph.bfs(0, engin="cpu")  # type: ignore[call-overload]
graph.pagerank(damping="high")  # type: ignore[arg-type]
graph.wcc(sources=[0])  # type: ignore[call-arg]
wrong: tandem.Result = graph.bfs(sources=[0])  # type: ignore[assignment]
