"""NumPy arrays and the library's memory, without copies where the types allow."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from ._library import Array

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


def numbers(values: Any, name: str, count: int) -> np.ndarray | None:
    """Weights as a contiguous array of a type that the library reads."""
    if values is None:
        return None
    array = np.asarray(values)
    if array.shape != (count,):
        raise ValueError(f"{name} has the shape {array.shape}; there are {count} edges")
    if array.dtype == bool:
        array = array.astype(np.uint8)
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name} has values of type {array.dtype}; weights are numbers")
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
