"""Columns of anything that has Arrow's C stream interface, without pyarrow.

The structs and the formats are those of the Arrow C data and C stream interfaces. A column of numbers in one piece is
read in place; several pieces are joined, and strings become labels: both are copies and said so. A dictionary's codes
are read in place, and its labels once.
"""

from __future__ import annotations

import ctypes
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_int64, c_void_p
from typing import Any

import numpy as np

from ._arrays import view
from ._labels import Coded, joined


class _Schema(Structure):
    pass


class _Array(Structure):
    pass


class _Stream(Structure):
    pass


_Schema._fields_ = [("format", c_char_p), ("name", c_char_p), ("metadata", c_char_p), ("flags", c_int64),
                    ("n_children", c_int64), ("children", POINTER(POINTER(_Schema))), ("dictionary", POINTER(_Schema)),
                    ("release", CFUNCTYPE(None, POINTER(_Schema))), ("private_data", c_void_p)]
_Array._fields_ = [("length", c_int64), ("null_count", c_int64), ("offset", c_int64), ("n_buffers", c_int64),
                   ("n_children", c_int64), ("buffers", POINTER(c_void_p)), ("children", POINTER(POINTER(_Array))),
                   ("dictionary", POINTER(_Array)), ("release", CFUNCTYPE(None, POINTER(_Array))),
                   ("private_data", c_void_p)]
_Stream._fields_ = [("get_schema", CFUNCTYPE(c_int, POINTER(_Stream), POINTER(_Schema))),
                    ("get_next", CFUNCTYPE(c_int, POINTER(_Stream), POINTER(_Array))),
                    ("get_last_error", CFUNCTYPE(c_char_p, POINTER(_Stream))),
                    ("release", CFUNCTYPE(None, POINTER(_Stream))), ("private_data", c_void_p)]

_NUMBERS = {"c": np.int8, "C": np.uint8, "s": np.int16, "S": np.uint16, "i": np.int32, "I": np.uint32, "l": np.int64,
            "L": np.uint64, "f": np.float32, "g": np.float64}
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = c_void_p, [ctypes.py_object, c_char_p]


class _Batch:
    """An array of the stream; released with its last view."""

    def __init__(self) -> None:
        self.array = _Array()

    def __del__(self) -> None:
        if self.array.release:
            self.array.release(ctypes.byref(self.array))


def columns(table: Any, wanted: list[str | int]) -> tuple[list[Any], list[str], Any]:
    """The columns as arrays, what was copied, and what must live as long as they are read."""
    if not hasattr(table, "__arrow_c_stream__"):
        raise TypeError(f"{type(table).__name__} has no __arrow_c_stream__; tables of pyarrow, polars and DuckDB have")
    capsule = table.__arrow_c_stream__()
    stream = _Stream.from_address(_pointer(capsule, b"arrow_array_stream"))
    schema = _Schema()
    _check(stream, stream.get_schema(ctypes.byref(stream), ctypes.byref(schema)))
    try:
        places = [_place(schema, name) for name in wanted]
        batches = _read(stream)
        copies: list[str] = []
        found = [_column(schema, batches, place, copies) for place in places]
        return found, copies, (batches, capsule)
    finally:
        if schema.release:
            schema.release(ctypes.byref(schema))


def _check(stream: Any, code: int) -> None:
    if code:
        words = stream.get_last_error(ctypes.byref(stream)) or b"no reason given"
        raise OSError(code, f"the Arrow stream failed: {words.decode(errors='replace')}")


def _read(stream: Any) -> list[_Batch]:
    batches: list[_Batch] = []
    while True:
        batch = _Batch()
        _check(stream, stream.get_next(ctypes.byref(stream), ctypes.byref(batch.array)))
        if not batch.array.release:
            return batches
        batches.append(batch)


def _name(schema: Any, place: int) -> str:
    return (schema.children[place].contents.name or b"").decode()


def _place(schema: Any, column: str | int) -> int:
    names = [_name(schema, i) for i in range(schema.n_children)]
    if isinstance(column, int) and 0 <= column < len(names):
        return column
    if column in names:
        return names.index(column)  # type: ignore[arg-type]
    raise KeyError(f"there is no column {column!r}; there are {', '.join(names) or 'none'}")


def _no_nulls(part: Any, name: str) -> None:
    if part.null_count > 0 or (part.null_count < 0 and part.n_buffers and part.buffers[0]):
        raise ValueError(f"column {name!r} has nulls; edges have none")


def _column(schema: Any, batches: list[_Batch], place: int, copies: list[str]) -> Any:
    name, kind = _name(schema, place), schema.children[place].contents
    pieces = []
    for batch in batches:
        part = batch.array.children[place].contents
        _no_nulls(part, name)
        pieces.append(_values(kind, part, batch.array.offset, batch, name))
    if not pieces:
        return np.empty(0, np.uint32)
    if isinstance(pieces[0], Coded) or pieces[0].dtype == object:
        copies.append(f"{name}: labels were read")
    if len(pieces) == 1:
        return pieces[0]
    copies.append(f"{name}: {len(pieces)} pieces joined")
    return joined(pieces) if isinstance(pieces[0], Coded) else np.concatenate(pieces)


def _values(kind: Any, part: Any, ahead: int, owner: Any, name: str) -> Any:
    begin, count = part.offset + ahead, part.length
    if kind.dictionary:
        codes = _plain(kind.format.decode(), part, begin, count, owner, name)
        words = part.dictionary.contents
        _no_nulls(words, name)
        labels = _plain(kind.dictionary.contents.format.decode(), words, words.offset, words.length, owner, name)
        return Coded(codes, labels) if labels.dtype == object else labels[codes]  # numbers are ids themselves
    return _plain(kind.format.decode(), part, begin, count, owner, name)


def _plain(format: str, part: Any, begin: int, count: int, owner: Any, name: str) -> np.ndarray:
    if format in _NUMBERS:
        dtype = np.dtype(_NUMBERS[format])
        address = part.buffers[1]
        return view(address + begin * dtype.itemsize if address else None, count, dtype, owner)
    if format in ("u", "z", "U", "Z"):
        return _strings(part, begin, count, owner, np.int64 if format in "UZ" else np.int32)
    if format in ("vu", "vz"):
        return _string_views(part, begin, count)
    raise TypeError(f"column {name!r} has Arrow's type {format!r}; numbers, strings and dictionaries are allowed")


def _strings(part: Any, begin: int, count: int, owner: Any, kind: Any) -> np.ndarray:
    made = np.empty(count, object)
    if count:
        step = np.dtype(kind).itemsize
        ends = view(part.buffers[1] + begin * step, count + 1, kind, owner).tolist()
        first = ends[0]
        text = ctypes.string_at(part.buffers[2] + first, ends[-1] - first) if ends[-1] > first else b""
        made[:] = [text[a - first:b - first].decode() for a, b in zip(ends, ends[1:])]
    return made


def _string_views(part: Any, begin: int, count: int) -> np.ndarray:
    """Sixteen bytes each: the length, and the text itself (to 12 bytes) or its buffer and place."""
    made = np.empty(count, object)
    for i in range(count):
        at = part.buffers[1] + 16 * (begin + i)
        length = ctypes.c_int32.from_address(at).value
        if length > 12:
            buffer, place = ctypes.c_int32.from_address(at + 8).value, ctypes.c_int32.from_address(at + 12).value
            at = part.buffers[2 + buffer] + place - 4
        made[i] = ctypes.string_at(at + 4, length).decode()
    return made
