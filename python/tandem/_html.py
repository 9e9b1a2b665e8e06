"""Graphs, plans and results as small tables with inline drawings, for notebooks."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

_STYLE = ("<style>.td-t td,.td-t th{text-align:left;padding:1px 8px}.td-t{border-collapse:collapse}"
          ".td-b{fill:currentColor;opacity:.55}</style>")

MOST_VERTICES = 1_000_000  # whose degrees are read for a drawing


def size(count: int) -> str:
    """Bytes as people read them."""
    value = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} TiB"


def _table(rows: list[tuple[str, Any]]) -> str:
    cells = "".join(f"<tr><th scope='row'>{escape(str(k))}</th><td>{escape(str(v))}</td></tr>" for k, v in rows)
    return f"<table class='td-t'>{cells}</table>"


def _bars(heights: np.ndarray, title: str, width: int = 260, height: int = 60) -> str:
    """A bar chart; the title says what it shows, for people who do not see it."""
    if len(heights) == 0 or not np.any(heights > 0):
        return ""
    step, most = width / len(heights), float(np.max(heights))
    bars = "".join(f"<rect class='td-b' x='{i * step:.1f}' y='{height - h / most * height:.1f}' "
                   f"width='{max(step - .5, .5):.1f}' height='{h / most * height:.1f}'/>"
                   for i, h in enumerate(heights) if h > 0)
    return (f"<svg role='img' width='{width}' height='{height}' viewBox='0 0 {width} {height}'>"
            f"<title>{escape(title)}</title>{bars}</svg><div><small>{escape(title)}</small></div>")


def graph(self: Any) -> str:
    rows = [("vertices", f"{len(self):,}"), ("edges", f"{self.edges:,}"),
            ("kind", "symmetric" if self.symmetric else "directed"), ("weights", self.weight_type or "none"),
            ("edges are", "on disk" if self.on_disk else "in memory")]
    chart = ""
    if not self.on_disk and 0 < len(self):
        offsets, step = self.offsets, -(-len(self) // MOST_VERTICES)
        degrees = (offsets[1::step] - offsets[:-1:step]).astype(np.int64)
        counts = np.bincount(np.ceil(np.log2(degrees + 1)).astype(np.int64))
        which = "vertices" if step == 1 else f"one of {step} vertices"
        chart = _bars(counts, f"{which} by out-degree: 0, 1, 2-3, 4-7, ... up to {int(degrees.max(initial=0)):,}")
    return f"<div>{_STYLE}<b>{escape(self.name or 'graph')}</b>{_table(rows)}{chart}</div>"


def batch(self: Any) -> str:
    rows = [("sources", f"{len(self):,}"), ("engine", self.plan.engine)]
    rows += [(name.replace("_", " "), f"{self.facts[name]:,}") for name in ("done", "searches", "edges_processed")
             if name in self.facts]
    return f"<div>{_STYLE}<b>{escape(self.program)} from many sources</b>{_table(rows)}</div>"


def plan(self: Any) -> str:
    rows = [("engine", self.engine), ("because", self.why)]
    rows += [(row["place"], f"graph {size(row['graph'])}, run {size(row['program'])}, free {size(row['free'])}"
              + ("" if row["fits"] else ": does not fit")) for row in self.memory]
    rows += [(row["engine"] + (" (chosen)" if row["chosen"] else ""),
              row["refusal"] or f"{row['seconds']:.3g} s expected, processing {row['processing']:.3g}")
             for row in self.estimates]
    return f"<div>{_STYLE}<b>{escape(self.program)}: plan</b>{_table(rows)}</div>"


def result(self: Any) -> str:
    rows = [("values", f"{len(self):,} of {self.values.dtype}"), ("engine", self.engine),
            ("iterations", f"{self.iterations}{'' if self.converged else ', not converged'}"),
            ("seconds", f"{self.seconds:.3g}")]
    top = "".join(f"<tr><td>{escape(str(k))}</td><td>{escape(str(v))}</td></tr>" for k, v in self.top(5))
    head = "<tr><th>group</th><th>vertices</th></tr>" if self.groups else "<tr><th>vertex</th><th>value</th></tr>"
    edges = np.array([row.edges for row in self.rows[:400]], float)
    return (f"<div>{_STYLE}<b>{escape(self.program)}</b>{_table(rows)}<table class='td-t'>{head}{top}</table>"
            f"{_bars(edges, 'edges processed in each iteration')}</div>")
