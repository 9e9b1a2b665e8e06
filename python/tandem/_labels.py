"""Labels of vertices: numbered on the way in. A column is a code per edge and the labels that the codes stand for, so
that a table of a dictionary or of categories is numbered by its few labels, not by its many edges."""

from __future__ import annotations

from typing import Any, Iterable, NamedTuple

import numpy as np

__all__ = ["Coded", "coded", "ends", "is_labels", "joined", "number", "objects"]


class Coded(NamedTuple):
    """A column whose values are labels[codes]."""
    codes: np.ndarray
    labels: np.ndarray


def objects(values: Iterable) -> np.ndarray:
    """An array of any objects, tuples among them."""
    values = list(values)
    made = np.empty(len(values), object)
    made[:] = values
    return made


def ends(values: Any, name: str) -> Any:
    """The ends of edges as an array. Of lists, what is no number stays what it is: NumPy would make ["a", 1] texts."""
    if isinstance(values, Coded) or hasattr(values, "__array__") or hasattr(values, "__array_interface__"):
        return values if isinstance(values, Coded) else np.asarray(values)
    try:
        values = list(values)
    except TypeError:
        raise TypeError(f"{name}={values!r} is no column of ids or labels: an entry per edge is needed") from None
    try:
        found = np.asarray(values)
    except ValueError:  # of several shapes
        return objects(values)
    return objects(values) if found.ndim != 1 or found.dtype.kind in "USO" else found


def is_labels(column: Any) -> bool:
    return isinstance(column, Coded) or column.dtype.kind in "OUST"


def _factorize(values: np.ndarray) -> tuple[np.ndarray, Any]:
    """A code per value, -1 for what is missing, and the labels of the codes."""
    try:
        import pandas
        return pandas.factorize(values)
    except ImportError:
        place: dict[Any, int] = {}
        codes = np.fromiter((-1 if label is None or label != label else place.setdefault(label, len(place))
                             for label in values), np.int64, len(values))
        return codes, objects(place)


def coded(column: Any, name: str) -> Coded:
    """A column of labels as codes; refuses what is missing."""
    if isinstance(column, Coded):
        return column
    values = np.asarray(column).astype(object)
    try:
        codes, labels = _factorize(values)
    except TypeError as raised:  # of lists, sets, dicts
        raise TypeError(f"{name} has an entry that can be no label: {raised}") from None
    if len(codes) and codes.min() < 0:
        at = int(np.argmin(codes))
        raise ValueError(f"{name}[{at}] is {values[at]!r}; an edge has two ends")
    return Coded(codes, np.asarray(labels, object))


def joined(pieces: list[Coded]) -> Coded:
    """One column of several pieces, whose labels may differ."""
    place: dict[Any, int] = {}
    maps = [np.fromiter((place.setdefault(label, len(place)) for label in piece.labels.tolist()), np.uint32,
                        len(piece.labels)) for piece in pieces]
    return Coded(np.concatenate([new[piece.codes] for new, piece in zip(maps, pieces)]), objects(place))


def number(source: Any, target: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The labels that occur, and both ends as their numbers: those of the sources first, each in the order of its
    column's labels."""
    columns = []
    for column in (coded(source, "source"), coded(target, "target")):
        used = np.zeros(len(column.labels), bool)
        used[column.codes] = True
        if not used.all():  # a dictionary may have more labels than its column
            column = Coded((np.cumsum(used) - 1)[column.codes], column.labels[used])
        columns.append(column)
    both = joined(columns)
    return both.labels, both.codes[:len(columns[0].codes)], both.codes[len(columns[0].codes):]
