"""Rows that are no numbers: texts, which string kernels of the language read as the column `text`, and objects of any kind for a function as
kernel."""
import ctypes

import numpy as np

from . import _header

_TEXT = (str, bytes)


class Objects(np.ndarray):
    """A column of objects, n x 1: what a list of them becomes. A class of its own, for an array of objects may hold numbers as well."""


def are_objects(X):
    return isinstance(X, Objects)


def _is_list(X):
    """One object after the other, not rows of columns: a list, or a vector of NumPy or pandas of any dtype that is not of numbers."""
    return isinstance(X, (list, tuple)) or (getattr(X, "ndim", 0) == 1 and getattr(getattr(X, "dtype", None), "kind", "f") in "OUST")


def _is_matrix(X):
    """Whether NumPy makes numbers, or rows of numbers, of a list."""
    try:
        array = np.asarray(X)
    except ValueError:  # rows of different lengths
        return False
    return array.dtype.kind in "biufcmM" and array.ndim <= 2


def as_column(X):
    """A list of anything as a column of objects; what is no list stays as it is."""
    if are_objects(X) or not _is_list(X):
        return X
    rows = np.empty((len(X), 1), dtype=object)
    for i, row in enumerate(X):
        rows[i, 0] = row
    return rows.view(Objects)


def _refuse_other_than_text(X):
    for place, row in enumerate(X):
        if not isinstance(row, str):
            raise ValueError(f"X is a list of texts, but entry {place} is {row!r} ({type(row).__name__}); make it a str or leave the row out")
        if "\0" in row:
            raise ValueError(f"entry {place} of X holds the character NUL at place {row.index(chr(0))}, where texts end; leave it out")


def _are_sets(X):
    return isinstance(X, (list, tuple)) and all(isinstance(row, np.ndarray) and row.ndim == 2 and row.dtype.kind in "biuf" for row in X)


def _set_text(place, rows):
    """A set of rows as mean_map reads it."""
    rows = np.asarray(rows, dtype=np.float64)
    if not np.isfinite(rows).all():
        raise ValueError(f"entry {place} of X contains NaN or infinity")
    return "; ".join(" ".join(map(repr, row)) for row in rows.tolist())


def as_objects(X, for_function=False):
    """A list that holds texts or sets of rows, or for_function anything but numbers, as a column; None for all other rows."""
    if are_objects(X):
        return X
    if not _is_list(X) or (for_function and _is_matrix(X)):
        return None
    if for_function:
        return as_column(X)
    if _are_sets(X):
        return as_column([_set_text(place, rows) for place, rows in enumerate(X)])
    if not any(isinstance(row, _TEXT) for row in X):
        return None
    _refuse_other_than_text(X)
    return as_column(X)


def _encode(place, row):
    try:
        return row.encode()
    except UnicodeEncodeError as reason:
        raise ValueError(f"entry {place} of X cannot be written in UTF-8: {reason}") from None


def text_table(X, keep):
    """The table of a column of texts."""
    rows = (ctypes.c_char_p * len(X))(*(_encode(place, row) for place, row in enumerate(X[:, 0])))
    names = (ctypes.c_char_p * 1)(b"text")
    keep += [rows, names]
    return _header.mercer_table(n=len(X), d=0, dtype=_header.MERCER_F64, text=ctypes.addressof(rows), texts=1,
                                text_names=ctypes.addressof(names))


def check_same_kind(X, fitted, name):
    """Objects are predicted for after a fit to objects, numbers after one to numbers; fitted: whether these were objects."""
    if are_objects(X) != fitted:
        given, wanted = ("texts or objects", "numbers") if are_objects(X) else ("numbers", "a list of texts or objects")
        raise ValueError(f"X holds {given}, but {name} was fitted to {wanted}")


def refuse_objects(X, kernel):
    """For kernels of numbers."""
    if are_objects(X):
        raise ValueError(f"X is a list of texts, which kernel={kernel!r} does not read; take kernel='normalize(spectrum(p=3)[text])' or a "
                         "function of two texts")
