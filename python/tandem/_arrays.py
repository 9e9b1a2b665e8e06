"""NumPy arrays and the library's memory, without copies where the types allow."""

from __future__ import annotations

import ctypes
from array import ArrayType
from typing import AbstractSet as Set, Any, Iterable, Mapping

import numpy as np

from ._library import Array, Limit

TYPES = {np.dtype(name): number for number, name in enumerate(
    ("uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float32", "float64"))}
NAMES = [dtype for dtype in TYPES]


class _View:
    """Memory of an owner, as NumPy's array interface has it: an array made of it keeps the owner alive."""

    __slots__ = ("__array_interface__", "owner")

    def __init__(self, address: int, count: int, kind: str, owner: Any):
        self.owner = owner
        self.__array_interface__ = {"version": 3, "shape": (count,), "typestr": kind, "data": (address, True)}


def view(address: int | None, count: int, dtype: Any, owner: Any) -> np.ndarray:
    """A read-only array over memory that belongs to `owner`."""
    if not address or count == 0:
        return np.empty(0, dtype)
    return np.asarray(_View(address, count, np.dtype(dtype).str, owner))


def _readable(array: np.ndarray) -> np.ndarray:
    """The array as the library reads it: contiguous, aligned, in the processor's order of bytes; a copy if need be."""
    return np.require(array, array.dtype.newbyteorder("="), ["C", "A"])


def laid_out(handed: Any, array: np.ndarray | None) -> bool:
    """Whether an array was copied for its layout alone: the library reads its type."""
    return isinstance(handed, np.ndarray) and array is not None and handed.dtype == array.dtype and len(array) > 0 \
        and not np.may_share_memory(handed, array)


def whole(values: Any, name: str) -> np.ndarray:
    """Ids as a contiguous array of integers that the library reads as it is."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name} has {array.ndim} dimensions; one is allowed")
    if array.size == 0:
        return np.empty(0, np.uint32)
    if array.dtype == bool or array.dtype.kind not in "iu":
        raise TypeError(f"{name} has numbers of type {array.dtype}; ids are integers")
    return _readable(array)


def is_array(values: Any) -> bool:
    """Whether NumPy takes something as it is; of a list it makes an array, value by value."""
    return hasattr(values, "__array__") or hasattr(values, "__array_interface__") or isinstance(values, (ArrayType, memoryview))


def _listed(values: Any, name: str) -> np.ndarray:
    """The array of a list, or of anything else that gives a number per edge in their order."""
    if isinstance(values, (str, bytes, Mapping, Set)) or not isinstance(values, Iterable):
        raise TypeError(f"{name} is a {type(values).__name__}; a number per edge is needed, in the order of the edges")
    entries = values if isinstance(values, (list, tuple)) else list(values)
    try:
        found = np.asarray(entries)
    except ValueError:  # of several shapes
        _refuse(entries, name)
        raise
    kind = found.dtype.kind
    if kind in "OUS" or kind == "f" and found.ndim == 1 and entries and all(isinstance(entry, int) for entry in entries):
        _refuse(entries, name)  # NumPy rounds whole numbers of more than 64 bits
    return found


def _refuse(entries: Any, name: str) -> None:
    """Raises for the first entry that is no weight."""
    for at, entry in enumerate(entries):
        if not isinstance(entry, (int, float, np.number, np.bool_)):
            raise TypeError(f"{name}[{at}] is {entry!r}; weights are numbers: integers and floats")
        if isinstance(entry, int) and abs(entry) >= 1 << 63:
            raise Limit(f"{name}[{at}] is {entry}; integer weights go up to 4294967295")


def numbers(values: Any, name: str, count: int) -> np.ndarray | None:
    """Weights as a contiguous array of a type that the library reads."""
    if values is None:
        return None
    array = np.asarray(values) if is_array(values) else _listed(values, name)
    if array.shape != (count,):
        raise ValueError(f"{name} has the shape {array.shape}; there are {count} edges")
    if array.dtype == bool:
        array = array.astype(np.uint8)
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name} has values of type {array.dtype}; weights are numbers: integers and floats")
    if array.dtype.newbyteorder("=") not in TYPES:  # float16, long double
        array = array.astype(np.float64)
    return _readable(array)


def given(array: np.ndarray | None) -> Array:
    """An array as an argument; it must outlive the call."""
    if array is None:
        return Array(None, 0)
    return Array(array.ctypes.data, TYPES[array.dtype])


def taken(array: Array, count: int, owner: Any) -> np.ndarray | None:
    """An array of the library's as a view."""
    return view(array.data, count, NAMES[array.type], owner) if array.data else None
