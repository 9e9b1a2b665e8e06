"""Arguments as the library reads them. ctypes would cut off a number of too many bits and a text at its first null
character: such arguments are refused here."""

from __future__ import annotations

import math
import operator
import os
import tempfile
from typing import Any, Iterable

__all__ = ["NumberFile", "count", "parse_size", "setting", "share", "text"]

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def text(value: Any, name: str) -> bytes:
    """A name or a path."""
    try:
        found = os.fsencode(value)
    except TypeError:
        raise TypeError(f"{name}={value!r} is no text") from None
    if b"\0" in found:
        raise ValueError(f"{name}={value!r} has a null character")
    return found


def count(value: Any, name: str, least: int = 0, most: int = (1 << 32) - 1) -> int:
    """A whole number that the library's field can hold."""
    try:
        found = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}={value!r} is no whole number") from None
    if not least <= found <= most:
        raise ValueError(f"{name}={value!r}: {least} to {most} are allowed")
    return found


def parse_size(size: int | float | str | None, name: str) -> int:
    """Bytes: a number, or a text like "2G", "512 MiB"; 0 for None."""
    if size is None:
        return 0
    given = size
    if isinstance(size, str):
        words = size.strip().lower().removesuffix("b").removesuffix("i").strip()
        unit = words[-1:] if words[-1:].isalpha() else ""
        try:
            size = float(words.removesuffix(unit)) * _UNITS[unit]
        except (ValueError, KeyError):
            raise ValueError(f"{name}={given!r} is no size; examples are 2000000000, '2G', '512M'") from None
    if not 1 <= size < 1 << 63:
        raise ValueError(f"{name}={given!r} is no size in bytes; one byte and more are allowed, None is no limit")
    return int(size)


def share(edges: Any) -> float:
    """A limit on edges: up to 1, or in percent, a share of the graph's; otherwise bytes."""
    if isinstance(edges, str) and edges.strip().endswith("%"):
        try:
            found = float(edges.strip()[:-1]) / 100
        except ValueError:
            raise ValueError(f"gpu_edges={edges!r} is no share; an example is '25%'") from None
        if found > 0:
            return min(found, 1)
    else:
        found = float(edges) if not isinstance(edges, str) else float(parse_size(edges, "gpu_edges"))
        if 1 < found <= 100:
            raise ValueError(f"gpu_edges={edges!r}: that is {found:g} bytes; a share is at most 1, or '{found:g}%'")
    if not 0 < found < math.inf:
        raise ValueError(f"gpu_edges={edges!r}: more than 0 is allowed, None is no limit")
    return found


def setting(value: Any) -> str:
    """The value of a setting."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return repr(float(value)) if isinstance(value, float) else str(value)


class NumberFile:
    """A temporary file with a line "id number" per vertex, removed with its last user."""

    def __init__(self, pairs: Iterable[tuple[int, Any]], name: str):
        lines = []
        for vertex, value in pairs:
            number = float(value)
            if not math.isfinite(number):
                raise ValueError(f"{name}= has {value!r} for vertex {vertex}; numbers are finite")
            lines.append(f"{vertex} {number!r}\n")
        handle, self.path = tempfile.mkstemp(prefix="tandem-", suffix=".txt")
        with open(handle, "w") as file:
            file.writelines(lines)

    def __del__(self) -> None:
        path = getattr(self, "path", None)
        if path is not None:
            os.unlink(path)
