"""Made by `python -m tandem.stubs`; do not edit."""
import os
from typing import Any, Callable, Hashable, Iterable, Literal, Mapping, NamedTuple, Sequence, overload

import numpy as np

from ._batch import Batch
from ._result import Result, Row

__all__ = ["Programs", "PROGRAMS", "Program", "Parameter"]

class Parameter(NamedTuple):
    name: str
    help: str
    choices: tuple[str, ...]
    text: bool
    whole: bool
    lowest: float
    highest: float
    default: str

class Program(NamedTuple):
    name: str
    summary: str
    result: str
    groups: bool
    needs_source: bool
    takes_source: bool
    gives_parents: bool
    asynchronous: bool
    measured: bool
    uses_weights: bool
    needs_weights: bool
    iterations: int
    tolerance: float
    parameters: tuple[Parameter, ...]

PROGRAMS: dict[str, Program]

def arguments(program: Program) -> list[tuple[str, str | None, str, str]]: ...
def docstring(program: Program) -> str: ...
def signature(program: Program, start: str | None = None) -> str: ...
def source(program: Program) -> str: ...
def stub() -> str: ...

class Programs:
    def _run(self, program: str, parameters: dict[str, Any], **options: Any) -> Any: ...
    @overload
    def bfs(self, source: Hashable, *, mode: Literal['sync', 'async'] | None = None, parents: bool = False, iterations: int | None = None, engine: str | None = None, devices: str | Sequence[str] | None = None, memory: int | str | None = None, gpu_memory: int | str | None = None, gpu_edges: float | str | None = None, checkpoint: str | os.PathLike[str] | None = None, checkpoint_every: int | None = None, resume: str | os.PathLike[str] | None = None, settings: Mapping[str, object] | None = None, progress: bool | Callable[[Row], object] | None = None) -> Result:
        """Levels of a breadth-first search from one vertex.
        
        The result has the level of every vertex. The program ignores edge weights.
        
        Parameters
        ----------
        source : Hashable, optional
            the id or label of the vertex to start from.
        sources : Iterable[Hashable] | None, optional
            instead of source: many vertices to start from, one run each; the result is a `Batch`.
        mode : Literal['sync', 'async'] | None, optional
            'async': an iteration also reads values that it has updated itself.
        parents : bool, optional
            also computes the previous vertex on the path to each vertex.
        iterations : int | None, optional
            at most so many iterations; alone, exactly so many unless nothing changes.
        engine : str | None, optional
            cpu, resident, stream, hybrid, coop, multi, paths; None: Tandem's choice.
        devices : str | Sequence[str] | None, optional
            'cpu', 'cuda:0', ['cuda:0', 'cuda:1'], 'emu'; None: Tandem's choice.
        memory : int | str | None, optional
            bytes that the session may hold during the run, such as '2G'.
        gpu_memory : int | str | None, optional
            bytes of a GPU's memory that may be used.
        gpu_edges : float | str | None, optional
            limit on edges on a GPU: up to 1 a share, otherwise bytes.
        checkpoint : str | os.PathLike[str] | None, optional
            a folder: the run writes its state there, also when it is stopped.
        checkpoint_every : int | None, optional
            iterations between two checkpoints; None: one every ten seconds at most.
        resume : str | os.PathLike[str] | None, optional
            a folder whose last checkpoint the run starts from.
        settings : Mapping[str, object] | None, optional
            settings of engines: {'stream.compress': 'on'}.
        progress : bool | Callable[[Row], object] | None, optional
            True: a bar (tqdm, if installed); a function: called with every iteration, stops the run by returning False.
        """
    @overload
    def bfs(self, *, sources: Iterable[Hashable], mode: Literal['sync', 'async'] | None = None, parents: bool = False, iterations: int | None = None, engine: str | None = None, devices: str | Sequence[str] | None = None, memory: int | str | None = None, gpu_memory: int | str | None = None, gpu_edges: float | str | None = None, checkpoint: str | os.PathLike[str] | None = None, checkpoint_every: int | None = None, resume: str | os.PathLike[str] | None = None, settings: Mapping[str, object] | None = None, progress: bool | Callable[[Row], object] | None = None) -> Batch: ...
    @overload
    def sssp(self, source: Hashable, *, precision: str | None = None, mode: Literal['sync', 'async'] | None = None, parents: bool = False, iterations: int | None = None, engine: str | None = None, devices: str | Sequence[str] | None = None, memory: int | str | None = None, gpu_memory: int | str | None = None, gpu_edges: float | str | None = None, checkpoint: str | os.PathLike[str] | None = None, checkpoint_every: int | None = None, resume: str | os.PathLike[str] | None = None, settings: Mapping[str, object] | None = None, progress: bool | Callable[[Row], object] | None = None) -> Result:
        """Shortest distances from one vertex, over edge weights.
        
        The result has the distance of every vertex. The program needs edge weights.
        
        Parameters
        ----------
        source : Hashable, optional
            the id or label of the vertex to start from.
        sources : Iterable[Hashable] | None, optional
            instead of source: many vertices to start from, one run each; the result is a `Batch`.
        precision : str | None, optional
            distances of 4 or 8 bytes; auto: 8 for real weights, and where 32-bit integers are too small (auto or single or double); default auto.
        mode : Literal['sync', 'async'] | None, optional
            'async': an iteration also reads values that it has updated itself.
        parents : bool, optional
            also computes the previous vertex on the path to each vertex.
        iterations : int | None, optional
            at most so many iterations; alone, exactly so many unless nothing changes.
        engine : str | None, optional
            cpu, resident, stream, hybrid, coop, multi, paths; None: Tandem's choice.
        devices : str | Sequence[str] | None, optional
            'cpu', 'cuda:0', ['cuda:0', 'cuda:1'], 'emu'; None: Tandem's choice.
        memory : int | str | None, optional
            bytes that the session may hold during the run, such as '2G'.
        gpu_memory : int | str | None, optional
            bytes of a GPU's memory that may be used.
        gpu_edges : float | str | None, optional
            limit on edges on a GPU: up to 1 a share, otherwise bytes.
        checkpoint : str | os.PathLike[str] | None, optional
            a folder: the run writes its state there, also when it is stopped.
        checkpoint_every : int | None, optional
            iterations between two checkpoints; None: one every ten seconds at most.
        resume : str | os.PathLike[str] | None, optional
            a folder whose last checkpoint the run starts from.
        settings : Mapping[str, object] | None, optional
            settings of engines: {'stream.compress': 'on'}.
        progress : bool | Callable[[Row], object] | None, optional
            True: a bar (tqdm, if installed); a function: called with every iteration, stops the run by returning False.
        """
    @overload
    def sssp(self, *, sources: Iterable[Hashable], precision: str | None = None, mode: Literal['sync', 'async'] | None = None, parents: bool = False, iterations: int | None = None, engine: str | None = None, devices: str | Sequence[str] | None = None, memory: int | str | None = None, gpu_memory: int | str | None = None, gpu_edges: float | str | None = None, checkpoint: str | os.PathLike[str] | None = None, checkpoint_every: int | None = None, resume: str | os.PathLike[str] | None = None, settings: Mapping[str, object] | None = None, progress: bool | Callable[[Row], object] | None = None) -> Batch: ...
    def wcc(self, *, iterations: int | None = None, engine: str | None = None, devices: str | Sequence[str] | None = None, memory: int | str | None = None, gpu_memory: int | str | None = None, gpu_edges: float | str | None = None, checkpoint: str | os.PathLike[str] | None = None, checkpoint_every: int | None = None, resume: str | os.PathLike[str] | None = None, settings: Mapping[str, object] | None = None, progress: bool | Callable[[Row], object] | None = None) -> Result:
        """Weakly connected components (label: lowest id).
        
        The result has the component of every vertex. The program ignores edge weights.
        
        Parameters
        ----------
        iterations : int | None, optional
            at most so many iterations; alone, exactly so many unless nothing changes.
        engine : str | None, optional
            cpu, resident, stream, hybrid, coop, multi, paths; None: Tandem's choice.
        devices : str | Sequence[str] | None, optional
            'cpu', 'cuda:0', ['cuda:0', 'cuda:1'], 'emu'; None: Tandem's choice.
        memory : int | str | None, optional
            bytes that the session may hold during the run, such as '2G'.
        gpu_memory : int | str | None, optional
            bytes of a GPU's memory that may be used.
        gpu_edges : float | str | None, optional
            limit on edges on a GPU: up to 1 a share, otherwise bytes.
        checkpoint : str | os.PathLike[str] | None, optional
            a folder: the run writes its state there, also when it is stopped.
        checkpoint_every : int | None, optional
            iterations between two checkpoints; None: one every ten seconds at most.
        resume : str | os.PathLike[str] | None, optional
            a folder whose last checkpoint the run starts from.
        settings : Mapping[str, object] | None, optional
            settings of engines: {'stream.compress': 'on'}.
        progress : bool | Callable[[Row], object] | None, optional
            True: a bar (tqdm, if installed); a function: called with every iteration, stops the run by returning False.
        """
    def pagerank(self, *, damping: float | None = None, dangling: str | None = None, personal: str | os.PathLike[str] | Mapping[Any, float] | np.ndarray | None = None, precision: str | None = None, tolerance: float | None = None, mode: Literal['sync', 'async'] | None = None, iterations: int | None = None, engine: str | None = None, devices: str | Sequence[str] | None = None, memory: int | str | None = None, gpu_memory: int | str | None = None, gpu_edges: float | str | None = None, checkpoint: str | os.PathLike[str] | None = None, checkpoint_every: int | None = None, resume: str | os.PathLike[str] | None = None, settings: Mapping[str, object] | None = None, progress: bool | Callable[[Row], object] | None = None) -> Result:
        """PageRank of every vertex.
        
        The result has the rank of every vertex. The program ignores edge weights.
        
        Parameters
        ----------
        damping : float | None, optional
            probability of following an edge instead of jumping; default 0.85.
        dangling : str | None, optional
            rank of vertices without out-edges: spread or lost (spread or ignore); default spread.
        personal : str | os.PathLike[str] | Mapping[Any, float] | np.ndarray | None, optional
            file of 'id weight' lines: targets of jumps (default: all vertices); or a dict of numbers by id, or an array with a number per vertex.
        precision : str | None, optional
            ranks of 4 or 8 bytes; auto: 8 where the tolerance is below what 4 reach (auto or single or double); default auto.
        tolerance : float | None, optional
            ends when an iteration changes the values by no more; default 1e-06.
        mode : Literal['sync', 'async'] | None, optional
            'async': an iteration also reads values that it has updated itself.
        iterations : int | None, optional
            at most so many iterations; alone, exactly so many unless nothing changes.
        engine : str | None, optional
            cpu, resident, stream, hybrid, coop, multi, paths; None: Tandem's choice.
        devices : str | Sequence[str] | None, optional
            'cpu', 'cuda:0', ['cuda:0', 'cuda:1'], 'emu'; None: Tandem's choice.
        memory : int | str | None, optional
            bytes that the session may hold during the run, such as '2G'.
        gpu_memory : int | str | None, optional
            bytes of a GPU's memory that may be used.
        gpu_edges : float | str | None, optional
            limit on edges on a GPU: up to 1 a share, otherwise bytes.
        checkpoint : str | os.PathLike[str] | None, optional
            a folder: the run writes its state there, also when it is stopped.
        checkpoint_every : int | None, optional
            iterations between two checkpoints; None: one every ten seconds at most.
        resume : str | os.PathLike[str] | None, optional
            a folder whose last checkpoint the run starts from.
        settings : Mapping[str, object] | None, optional
            settings of engines: {'stream.compress': 'on'}.
        progress : bool | Callable[[Row], object] | None, optional
            True: a bar (tqdm, if installed); a function: called with every iteration, stops the run by returning False.
        """
    def mst(self, *, iterations: int | None = None, engine: str | None = None, devices: str | Sequence[str] | None = None, memory: int | str | None = None, gpu_memory: int | str | None = None, gpu_edges: float | str | None = None, checkpoint: str | os.PathLike[str] | None = None, checkpoint_every: int | None = None, resume: str | os.PathLike[str] | None = None, settings: Mapping[str, object] | None = None, progress: bool | Callable[[Row], object] | None = None) -> Result:
        """Minimum spanning forest of the undirected view.
        
        The result has the tree of every vertex. The program needs edge weights.
        
        Parameters
        ----------
        iterations : int | None, optional
            at most so many iterations; alone, exactly so many unless nothing changes.
        engine : str | None, optional
            cpu, resident, stream, hybrid, coop, multi, paths; None: Tandem's choice.
        devices : str | Sequence[str] | None, optional
            'cpu', 'cuda:0', ['cuda:0', 'cuda:1'], 'emu'; None: Tandem's choice.
        memory : int | str | None, optional
            bytes that the session may hold during the run, such as '2G'.
        gpu_memory : int | str | None, optional
            bytes of a GPU's memory that may be used.
        gpu_edges : float | str | None, optional
            limit on edges on a GPU: up to 1 a share, otherwise bytes.
        checkpoint : str | os.PathLike[str] | None, optional
            a folder: the run writes its state there, also when it is stopped.
        checkpoint_every : int | None, optional
            iterations between two checkpoints; None: one every ten seconds at most.
        resume : str | os.PathLike[str] | None, optional
            a folder whose last checkpoint the run starts from.
        settings : Mapping[str, object] | None, optional
            settings of engines: {'stream.compress': 'on'}.
        progress : bool | Callable[[Row], object] | None, optional
            True: a bar (tqdm, if installed); a function: called with every iteration, stops the run by returning False.
        """
    def kcore(self, *, degree: str | None = None, iterations: int | None = None, engine: str | None = None, devices: str | Sequence[str] | None = None, memory: int | str | None = None, gpu_memory: int | str | None = None, gpu_edges: float | str | None = None, checkpoint: str | os.PathLike[str] | None = None, checkpoint_every: int | None = None, resume: str | os.PathLike[str] | None = None, settings: Mapping[str, object] | None = None, progress: bool | Callable[[Row], object] | None = None) -> Result:
        """Core number of every vertex.
        
        The result has the core of every vertex. The program ignores edge weights.
        
        Parameters
        ----------
        degree : str | None, optional
            what counts: edges of the undirected view, in-edges, or distinct neighbours (both or in or neighbours); default both.
        iterations : int | None, optional
            at most so many iterations; alone, exactly so many unless nothing changes.
        engine : str | None, optional
            cpu, resident, stream, hybrid, coop, multi, paths; None: Tandem's choice.
        devices : str | Sequence[str] | None, optional
            'cpu', 'cuda:0', ['cuda:0', 'cuda:1'], 'emu'; None: Tandem's choice.
        memory : int | str | None, optional
            bytes that the session may hold during the run, such as '2G'.
        gpu_memory : int | str | None, optional
            bytes of a GPU's memory that may be used.
        gpu_edges : float | str | None, optional
            limit on edges on a GPU: up to 1 a share, otherwise bytes.
        checkpoint : str | os.PathLike[str] | None, optional
            a folder: the run writes its state there, also when it is stopped.
        checkpoint_every : int | None, optional
            iterations between two checkpoints; None: one every ten seconds at most.
        resume : str | os.PathLike[str] | None, optional
            a folder whose last checkpoint the run starts from.
        settings : Mapping[str, object] | None, optional
            settings of engines: {'stream.compress': 'on'}.
        progress : bool | Callable[[Row], object] | None, optional
            True: a bar (tqdm, if installed); a function: called with every iteration, stops the run by returning False.
        """
    def adsorption(self, source: Hashable = None, *, injection: float | None = None, continuation: float | None = None, seeds: str | os.PathLike[str] | Mapping[Any, float] | np.ndarray | None = None, tolerance: float | None = None, mode: Literal['sync', 'async'] | None = None, iterations: int | None = None, engine: str | None = None, devices: str | Sequence[str] | None = None, memory: int | str | None = None, gpu_memory: int | str | None = None, gpu_edges: float | str | None = None, checkpoint: str | os.PathLike[str] | None = None, checkpoint_every: int | None = None, resume: str | os.PathLike[str] | None = None, settings: Mapping[str, object] | None = None, progress: bool | Callable[[Row], object] | None = None) -> Result:
        """Scores spread from seeds along weighted edges.
        
        The result has the score of every vertex. The program uses edge weights, if there are any.
        
        Parameters
        ----------
        source : Hashable, optional
            the id or label of a vertex.
        injection : float | None, optional
            weight of the seed in a score; default 0.25.
        continuation : float | None, optional
            weight of the in-neighbours' mean in a score; the rest is abandoned; default 0.7.
        seeds : str | os.PathLike[str] | Mapping[Any, float] | np.ndarray | None, optional
            file of 'id score' lines: the seeds (default: 1 at source, or at the first vertex); or a dict of numbers by id, or an array with a number per vertex.
        tolerance : float | None, optional
            ends when an iteration changes the values by no more; default 1e-06.
        mode : Literal['sync', 'async'] | None, optional
            'async': an iteration also reads values that it has updated itself.
        iterations : int | None, optional
            at most so many iterations; alone, exactly so many unless nothing changes.
        engine : str | None, optional
            cpu, resident, stream, hybrid, coop, multi, paths; None: Tandem's choice.
        devices : str | Sequence[str] | None, optional
            'cpu', 'cuda:0', ['cuda:0', 'cuda:1'], 'emu'; None: Tandem's choice.
        memory : int | str | None, optional
            bytes that the session may hold during the run, such as '2G'.
        gpu_memory : int | str | None, optional
            bytes of a GPU's memory that may be used.
        gpu_edges : float | str | None, optional
            limit on edges on a GPU: up to 1 a share, otherwise bytes.
        checkpoint : str | os.PathLike[str] | None, optional
            a folder: the run writes its state there, also when it is stopped.
        checkpoint_every : int | None, optional
            iterations between two checkpoints; None: one every ten seconds at most.
        resume : str | os.PathLike[str] | None, optional
            a folder whose last checkpoint the run starts from.
        settings : Mapping[str, object] | None, optional
            settings of engines: {'stream.compress': 'on'}.
        progress : bool | Callable[[Row], object] | None, optional
            True: a bar (tqdm, if installed); a function: called with every iteration, stops the run by returning False.
        """
    def nn(self, *, activation: str | None = None, inputs: str | os.PathLike[str] | Mapping[Any, float] | np.ndarray | None = None, tolerance: float | None = None, iterations: int | None = None, engine: str | None = None, devices: str | Sequence[str] | None = None, memory: int | str | None = None, gpu_memory: int | str | None = None, gpu_edges: float | str | None = None, checkpoint: str | os.PathLike[str] | None = None, checkpoint_every: int | None = None, resume: str | os.PathLike[str] | None = None, settings: Mapping[str, object] | None = None, progress: bool | Callable[[Row], object] | None = None) -> Result:
        """Forward pass of a weighted network.
        
        The result has the value of every vertex. The program needs edge weights.
        
        Parameters
        ----------
        activation : str | None, optional
            activation function of a neuron (tanh or sigmoid or relu); default tanh.
        inputs : str | os.PathLike[str] | Mapping[Any, float] | np.ndarray | None, optional
            file of 'id value' lines: inputs (default: 1 for every neuron without in-edges); or a dict of numbers by id, or an array with a number per vertex.
        tolerance : float | None, optional
            ends when an iteration changes the values by no more; default 0.
        iterations : int | None, optional
            at most so many iterations; alone, exactly so many unless nothing changes.
        engine : str | None, optional
            cpu, resident, stream, hybrid, coop, multi, paths; None: Tandem's choice.
        devices : str | Sequence[str] | None, optional
            'cpu', 'cuda:0', ['cuda:0', 'cuda:1'], 'emu'; None: Tandem's choice.
        memory : int | str | None, optional
            bytes that the session may hold during the run, such as '2G'.
        gpu_memory : int | str | None, optional
            bytes of a GPU's memory that may be used.
        gpu_edges : float | str | None, optional
            limit on edges on a GPU: up to 1 a share, otherwise bytes.
        checkpoint : str | os.PathLike[str] | None, optional
            a folder: the run writes its state there, also when it is stopped.
        checkpoint_every : int | None, optional
            iterations between two checkpoints; None: one every ten seconds at most.
        resume : str | os.PathLike[str] | None, optional
            a folder whose last checkpoint the run starts from.
        settings : Mapping[str, object] | None, optional
            settings of engines: {'stream.compress': 'on'}.
        progress : bool | Callable[[Row], object] | None, optional
            True: a bar (tqdm, if installed); a function: called with every iteration, stops the run by returning False.
        """
    def heat(self, source: Hashable = None, *, step: float | None = None, initial: str | os.PathLike[str] | Mapping[Any, float] | np.ndarray | None = None, tolerance: float | None = None, iterations: int | None = None, engine: str | None = None, devices: str | Sequence[str] | None = None, memory: int | str | None = None, gpu_memory: int | str | None = None, gpu_edges: float | str | None = None, checkpoint: str | os.PathLike[str] | None = None, checkpoint_every: int | None = None, resume: str | os.PathLike[str] | None = None, settings: Mapping[str, object] | None = None, progress: bool | Callable[[Row], object] | None = None) -> Result:
        """Explicit steps of the heat equation.
        
        The result has the temperature of every vertex. The program uses edge weights, if there are any.
        
        Parameters
        ----------
        source : Hashable, optional
            the id or label of a vertex.
        step : float | None, optional
            length of a step; 0: half the largest stable one; default 0.
        initial : str | os.PathLike[str] | Mapping[Any, float] | np.ndarray | None, optional
            file of 'id temperature' lines (default: 100 at source, or at the first vertex); or a dict of numbers by id, or an array with a number per vertex.
        tolerance : float | None, optional
            ends when an iteration changes the values by no more; default 0.
        iterations : int | None, optional
            at most so many iterations; alone, exactly so many unless nothing changes.
        engine : str | None, optional
            cpu, resident, stream, hybrid, coop, multi, paths; None: Tandem's choice.
        devices : str | Sequence[str] | None, optional
            'cpu', 'cuda:0', ['cuda:0', 'cuda:1'], 'emu'; None: Tandem's choice.
        memory : int | str | None, optional
            bytes that the session may hold during the run, such as '2G'.
        gpu_memory : int | str | None, optional
            bytes of a GPU's memory that may be used.
        gpu_edges : float | str | None, optional
            limit on edges on a GPU: up to 1 a share, otherwise bytes.
        checkpoint : str | os.PathLike[str] | None, optional
            a folder: the run writes its state there, also when it is stopped.
        checkpoint_every : int | None, optional
            iterations between two checkpoints; None: one every ten seconds at most.
        resume : str | os.PathLike[str] | None, optional
            a folder whose last checkpoint the run starts from.
        settings : Mapping[str, object] | None, optional
            settings of engines: {'stream.compress': 'on'}.
        progress : bool | Callable[[Row], object] | None, optional
            True: a bar (tqdm, if installed); a function: called with every iteration, stops the run by returning False.
        """
    def circuit(self, source: Hashable = None, *, sources: str | os.PathLike[str] | Mapping[Any, float] | np.ndarray | None = None, ground: str | int | None = None, tolerance: float | None = None, mode: Literal['sync', 'async'] | None = None, iterations: int | None = None, engine: str | None = None, devices: str | Sequence[str] | None = None, memory: int | str | None = None, gpu_memory: int | str | None = None, gpu_edges: float | str | None = None, checkpoint: str | os.PathLike[str] | None = None, checkpoint_every: int | None = None, resume: str | os.PathLike[str] | None = None, settings: Mapping[str, object] | None = None, progress: bool | Callable[[Row], object] | None = None) -> Result:
        """Node voltages of a resistor network.
        
        The result has the volts of every vertex. The program uses edge weights, if there are any.
        
        Parameters
        ----------
        source : Hashable, optional
            the id or label of a vertex.
        sources : str | os.PathLike[str] | Mapping[Any, float] | np.ndarray | None, optional
            file of 'id volts' lines: nodes held at a voltage (default: source at 1 V); or a dict of numbers by id, or an array with a number per vertex.
        ground : str | int | None, optional
            id of a node held at 0 V (default without sources: the last vertex).
        tolerance : float | None, optional
            ends when an iteration changes the values by no more; default 1e-09.
        mode : Literal['sync', 'async'] | None, optional
            'async': an iteration also reads values that it has updated itself.
        iterations : int | None, optional
            at most so many iterations; alone, exactly so many unless nothing changes.
        engine : str | None, optional
            cpu, resident, stream, hybrid, coop, multi, paths; None: Tandem's choice.
        devices : str | Sequence[str] | None, optional
            'cpu', 'cuda:0', ['cuda:0', 'cuda:1'], 'emu'; None: Tandem's choice.
        memory : int | str | None, optional
            bytes that the session may hold during the run, such as '2G'.
        gpu_memory : int | str | None, optional
            bytes of a GPU's memory that may be used.
        gpu_edges : float | str | None, optional
            limit on edges on a GPU: up to 1 a share, otherwise bytes.
        checkpoint : str | os.PathLike[str] | None, optional
            a folder: the run writes its state there, also when it is stopped.
        checkpoint_every : int | None, optional
            iterations between two checkpoints; None: one every ten seconds at most.
        resume : str | os.PathLike[str] | None, optional
            a folder whose last checkpoint the run starts from.
        settings : Mapping[str, object] | None, optional
            settings of engines: {'stream.compress': 'on'}.
        progress : bool | Callable[[Row], object] | None, optional
            True: a bar (tqdm, if installed); a function: called with every iteration, stops the run by returning False.
        """
    def labels(self, *, mode: Literal['sync', 'async'] | None = None, iterations: int | None = None, engine: str | None = None, devices: str | Sequence[str] | None = None, memory: int | str | None = None, gpu_memory: int | str | None = None, gpu_edges: float | str | None = None, checkpoint: str | os.PathLike[str] | None = None, checkpoint_every: int | None = None, resume: str | os.PathLike[str] | None = None, settings: Mapping[str, object] | None = None, progress: bool | Callable[[Row], object] | None = None) -> Result:
        """Weakly connected components by label propagation.
        
        The result has the component of every vertex. The program ignores edge weights.
        
        Parameters
        ----------
        mode : Literal['sync', 'async'] | None, optional
            'async': an iteration also reads values that it has updated itself.
        iterations : int | None, optional
            at most so many iterations; alone, exactly so many unless nothing changes.
        engine : str | None, optional
            cpu, resident, stream, hybrid, coop, multi, paths; None: Tandem's choice.
        devices : str | Sequence[str] | None, optional
            'cpu', 'cuda:0', ['cuda:0', 'cuda:1'], 'emu'; None: Tandem's choice.
        memory : int | str | None, optional
            bytes that the session may hold during the run, such as '2G'.
        gpu_memory : int | str | None, optional
            bytes of a GPU's memory that may be used.
        gpu_edges : float | str | None, optional
            limit on edges on a GPU: up to 1 a share, otherwise bytes.
        checkpoint : str | os.PathLike[str] | None, optional
            a folder: the run writes its state there, also when it is stopped.
        checkpoint_every : int | None, optional
            iterations between two checkpoints; None: one every ten seconds at most.
        resume : str | os.PathLike[str] | None, optional
            a folder whose last checkpoint the run starts from.
        settings : Mapping[str, object] | None, optional
            settings of engines: {'stream.compress': 'on'}.
        progress : bool | Callable[[Row], object] | None, optional
            True: a bar (tqdm, if installed); a function: called with every iteration, stops the run by returning False.
        """
