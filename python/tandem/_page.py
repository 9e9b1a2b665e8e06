"""Pages that show runs: one HTML file each, which loads nothing."""

from __future__ import annotations

import ctypes
import json
import os
import re
from typing import TYPE_CHECKING, Iterable, Sequence, Union

from ._library import PageReport, check, lib

if TYPE_CHECKING:
    from ._result import Result

__all__ = ["page", "report"]


Name = Union[str, bytes, os.PathLike]


def _shown(name: Name) -> str:
    """A name as a page can show it: those of files need not be UTF-8."""
    raw = os.fspath(name)
    if isinstance(raw, bytes):
        return raw.decode("utf-8", "replace")
    return re.sub("[\ud800-\udfff]", "\ufffd", raw)


def page(reports: Iterable[tuple[Name, str]]) -> str:
    """The page (HTML) about runs, from (name, JSON text of the report) pairs: what `tandem run --json` wrote, or
    `json.dumps(result.stats())`."""
    given = [(_shown(name).encode(), text.encode()) for name, text in reports]
    structs = [PageReport(name=name, json=text, bytes=len(text)) for name, text in given]
    pointers = (ctypes.POINTER(PageReport) * max(1, len(structs)))(*map(ctypes.pointer, structs))
    html = ctypes.c_void_p()
    check(lib.td_page_html(pointers, len(structs), ctypes.byref(html)))
    try:
        return ctypes.string_at(html.value).decode()  # type: ignore[arg-type]
    finally:
        lib.td_text_free(html)


def _described(result: "Result") -> str:
    """The report with the facts about the graph that the tool would add."""
    graph = result.graph
    facts: dict[str, object] = {"threads": graph.session.threads, "vertices": graph.vertices, "edges": graph.edges}
    if graph.name:
        facts["input"] = _shown(graph.name)
    return json.dumps({**facts, **result.stats()})


def report(results: "Sequence[Result]", path: Name | None = None, names: Sequence[Name] | None = None) -> str:
    """A page about several runs side by side, on common scales; `names` are their headings.

    Returns the HTML; with `path` it is written there, whole or not at all.
    """
    results = list(results)
    for result in results:
        if not hasattr(result, "stats"):
            raise TypeError(f"{result!r} is no result of a run; a page shows one or more of them")
    if names is None:
        names = [f"{i}: {r.program} on {r.engine}" if len(results) > 1 else f"{r.program} on {r.engine}"
                 for i, r in enumerate(results, 1)]
    if len(names) != len(results):
        raise ValueError(f"there are {len(names)} names for {len(results)} runs")
    html = page(zip(names, map(_described, results)))
    if path is not None:
        path = os.fsdecode(path)
        unfinished = f"{path}.{os.getpid()}.part"
        try:
            with open(unfinished, "w", encoding="utf-8") as file:
                file.write(html)
            os.replace(unfinished, path)
        except BaseException as raised:
            if isinstance(raised, OSError) and raised.filename == unfinished:
                raised.filename = path
            if os.path.exists(unfinished):
                os.unlink(unfinished)
            raise
    return html
