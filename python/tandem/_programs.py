"""One method per program, made from the library's tables: a new program has its method at once."""

from __future__ import annotations

import ctypes
import keyword
from typing import Any, NamedTuple

from ._library import ProgramFacts, SettingFacts, lib, texts

__all__ = ["Programs", "PROGRAMS", "Program", "Parameter"]


class Parameter(NamedTuple):
    """A parameter of a program."""
    name: str
    help: str
    choices: tuple[str, ...]
    text: bool
    whole: bool
    lowest: float
    highest: float
    default: str


class Program(NamedTuple):
    """What the library's tables say of a program."""
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


def _parameters(owner: str) -> tuple[Parameter, ...]:
    found: list[Parameter] = []
    while True:
        facts = SettingFacts()
        if lib.td_setting_describe(owner.encode(), len(found), ctypes.byref(facts)):
            return tuple(found)
        choices = tuple(facts.choices.decode().split("|")) if facts.choices else ()
        found.append(Parameter(facts.name.decode(), facts.help.decode().replace("{", "").replace("}", ""), choices,
                               facts.text, facts.whole, facts.lowest, facts.highest, facts.fallback.decode()))


def _program(name: str) -> Program:
    facts = ProgramFacts()
    lib.td_program_describe(name.encode(), ctypes.byref(facts))
    fields = {field: getattr(facts, field) for field in Program._fields
              if field not in ("name", "summary", "result", "parameters")}
    return Program(name=name, summary=lib.td_program_summary(name.encode()).decode(), result=facts.result.decode(),
                   parameters=_parameters(name), **fields)


PROGRAMS: dict[str, Program] = {name: _program(name) for name in texts(lib.td_program_name)}

# What every method takes besides: name, default, annotation, help.
COMMON = (
    ("iterations", "None", "int | None", "at most so many iterations; alone, exactly so many unless nothing changes"),
    ("engine", "None", "str | None", f"{', '.join(texts(lib.td_engine_name))}; None: Tandem's choice"),
    ("devices", "None", "str | Sequence[str] | None", "'cpu', 'cuda:0', ['cuda:0', 'cuda:1'], 'emu'; None: Tandem's choice"),
    ("memory", "None", "int | str | None", "bytes that the session may hold during the run, such as '2G'"),
    ("gpu_memory", "None", "int | str | None", "bytes of a GPU's memory that may be used"),
    ("gpu_edges", "None", "float | str | None", "limit on edges on a GPU: up to 1 a share, otherwise bytes"),
    ("checkpoint", "None", "str | os.PathLike[str] | None", "a folder: the run writes its state there, also when it is stopped"),
    ("checkpoint_every", "None", "int | None", "iterations between two checkpoints; None: one every ten seconds at most"),
    ("resume", "None", "str | os.PathLike[str] | None", "a folder whose last checkpoint the run starts from"),
    ("settings", "None", "Mapping[str, object] | None", "settings of engines: {'stream.compress': 'on'}"),
    ("progress", "None", "bool | Callable[[Row], object] | None",
     "True: a bar (tqdm, if installed); a function: called with every iteration, stops the run by returning False"),
)


def _type(parameter: Parameter) -> str:
    if parameter.choices:
        return "str | None"
    if parameter.text:
        return "str | os.PathLike[str] | Mapping[Any, float] | np.ndarray | None" if "file" in parameter.help else "str | int | None"
    return "int | None" if parameter.whole else "float | None"


def arguments(program: Program) -> list[tuple[str, str | None, str, str]]:
    """Name, default, annotation and help of everything that a method takes; the first may be positional."""
    found: list[tuple[str, str | None, str, str]] = []
    if program.needs_source:
        found.append(("source", "None", "Hashable", "the id or label of the vertex to start from"))
        found.append(("sources", "None", "Iterable[Hashable] | None",
                      "instead of source: many vertices to start from, one run each; the result is a `Batch`"))
    elif program.takes_source:
        found.append(("source", "None", "Hashable", "the id or label of a vertex"))
    for p in program.parameters:
        words = p.help
        if p.choices:
            words += f" ({' or '.join(p.choices)})"
        if p.text and "file" in p.help:
            words += "; or a dict of numbers by id, or an array with a number per vertex"
        if p.default:
            words += f"; default {p.default}"
        found.append((p.name + "_" * keyword.iskeyword(p.name), "None", _type(p), words))
    if program.measured:
        found.append(("tolerance", "None", "float | None",
                      f"ends when an iteration changes the values by no more; default {program.tolerance:g}"))
    if program.asynchronous:
        found.append(("mode", "None", "Literal['sync', 'async'] | None",
                      "'async': an iteration also reads values that it has updated itself"))
    if program.gives_parents:
        found.append(("parents", "False", "bool", "also computes the previous vertex on the path to each vertex"))
    return found + list(COMMON)


def docstring(program: Program) -> str:
    """The documentation of a method."""
    summary = program.summary[0].upper() + program.summary[1:]
    weights = ("needs edge weights" if program.needs_weights else
               "uses edge weights, if there are any" if program.uses_weights else "ignores edge weights")
    lines = [f"{summary}.", "",
             f"The result has the {program.result} of every vertex. The program {weights}.", "",
             "Parameters", "----------"]
    for name, default, annotation, words in arguments(program):
        lines += [f"{name} : {annotation}{'' if default is None else ', optional'}", f"    {words}."]
    return "\n        ".join(lines) + "\n        "


def signature(program: Program, start: str | None = None) -> str:
    """The arguments of a method as Python writes them. `start`: the one of source and sources that is given."""
    words, starred = ["self"], False
    for name, default, annotation, _ in arguments(program):
        if start is not None and name in ("source", "sources"):
            if name != start:
                continue
            default, annotation = None, annotation.removesuffix(" | None")
        if name != "source" and not starred:
            words.append("*")
            starred = True
        words.append(f"{name}: {annotation}" + (f" = {default}" if default is not None else ""))
    return ", ".join(words)


def source(program: Program) -> str:
    """A method as text."""
    own = {p.name + "_" * keyword.iskeyword(p.name): p.name for p in program.parameters}
    passed = [f"{name}={name}" for name, *_ in arguments(program) if name not in own]
    parameters = ", ".join(f"{key!r}: {name}" for name, key in own.items())
    kind = "Result | Batch" if program.needs_source else "Result"
    return (f"def {program.name}({signature(program)}) -> {kind}:\n"
            f"    return self._run({program.name!r}, {{{parameters}}}, {', '.join(passed)})\n")


class Programs:
    """The programs as methods."""

    def _run(self, program: str, parameters: dict[str, Any], **options: Any) -> Any:
        raise NotImplementedError


def _add_methods() -> None:
    for program in PROGRAMS.values():
        space: dict[str, Any] = {}
        exec("from __future__ import annotations\n" + source(program), space)
        method = space[program.name]
        method.__doc__ = docstring(program)
        method.__module__, method.__qualname__ = "tandem", f"Graph.{program.name}"
        setattr(Programs, program.name, method)


_add_methods()


def stub() -> str:
    """The text of _programs.pyi."""
    lines = ['"""Made by `python -m tandem.stubs`; do not edit."""', "import os",
             "from typing import Any, Callable, Hashable, Iterable, Literal, Mapping, NamedTuple, Sequence, "
             "overload", "", "import numpy as np", "", "from ._batch import Batch", "from ._result import Result, Row", "",
             '__all__ = ["Programs", "PROGRAMS", "Program", "Parameter"]', ""]
    for cls in (Parameter, Program):
        lines += [f"class {cls.__name__}(NamedTuple):"]
        lines += [f"    {name}: {getattr(kind, '__forward_arg__', kind)}" for name, kind in cls.__annotations__.items()] + [""]
    lines += ["PROGRAMS: dict[str, Program]", "",
              "def arguments(program: Program) -> list[tuple[str, str | None, str, str]]: ...",
              "def docstring(program: Program) -> str: ...",
              "def signature(program: Program, start: str | None = None) -> str: ...",
              "def source(program: Program) -> str: ...", "def stub() -> str: ...", "",
              "class Programs:",
              "    def _run(self, program: str, parameters: dict[str, Any], **options: Any) -> Any: ..."]
    for program in PROGRAMS.values():
        if program.needs_source:
            lines += ["    @overload", f"    def {program.name}({signature(program, 'source')}) -> Result:",
                      f'        """{docstring(program)}"""',
                      "    @overload", f"    def {program.name}({signature(program, 'sources')}) -> Batch: ..."]
        else:
            lines += [f"    def {program.name}({signature(program)}) -> Result:",
                      f'        """{docstring(program)}"""']
    return "\n".join(lines) + "\n"
