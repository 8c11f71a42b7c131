"""Samples: data sets that are read or made up, and tests by permutation."""
from __future__ import annotations

import ctypes
import os

import numpy as np

from . import _arrays, _header
from ._library import Handle, defaults, lib, parse, record, session, text
from ._model import Record, number_or_text
from ._types import Path, Rows


def _arrays_of(data):
    """A mercer_data as arrays: X, y (None without a target), columns, weights."""
    n, d, at = lib.mercer_data_rows(data), lib.mercer_data_columns(data), data
    X = np.empty((n, d))
    for i in range(n):
        lib.mercer_data_row(at, i, X[i].ctypes.data)
    y, outputs, classes = None, lib.mercer_data_outputs(at), lib.mercer_data_classes(at)
    if classes:
        labels = number_or_text([text(lib.mercer_data_label(at, k)) for k in range(classes)])
        y = labels[[lib.mercer_data_class(at, i) for i in range(n)]]
    elif outputs:
        y = np.asarray([[lib.mercer_data_target(at, i, k) for k in range(outputs)] for i in range(n)])
        y = y[:, 0] if outputs == 1 else y
    columns = [text(lib.mercer_data_column_name(at, j)) for j in range(d)]
    return Record(X=X, y=y, columns=columns, weights=np.asarray([lib.mercer_data_weight(at, i) for i in range(n)]))


def _chosen(name, value, ways):
    if value not in ways:
        raise ValueError(f"{name} must be one of {', '.join(ways)}, got {value!r}")
    return ways[value]


def read(path: Path, *, target: str | None = None, weights: str | None = None, missing: str = "error", header: str = "auto",
         drop: str | None = None) -> Record:
    """A data file as the command reads it (CSV, TSV, LIBSVM, .npy, gzipped or not): X, y, columns, weights. target: the name or number of a
    column, '' for none; missing: 'error', 'mean' or 'drop'; header: 'auto', 'yes' or 'no', whether the first line of CSV names the columns; drop: names or
    numbers of columns left out, with commas.

    >>> import mercer, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "table.csv")
    >>> with open(path, "w") as file:
    ...     print("size,colour,kind\\n1,red,a\\n2,blue,b", file=file)
    >>> table = mercer.read(path)
    >>> table.columns, table.y.tolist()
    (['size', 'colour=blue', 'colour=red'], ['a', 'b'])
    """
    ways = {"error": _header.MERCER_MISSING_ERROR, "mean": _header.MERCER_MISSING_MEAN, "drop": _header.MERCER_MISSING_DROP}
    headers = {"auto": _header.MERCER_HEADER_AUTO, "yes": _header.MERCER_HEADER_YES, "no": _header.MERCER_HEADER_NO}
    reading = defaults("read")
    reading.missing = _chosen("missing", missing, ways)
    reading.header = _chosen("header", header, headers)
    reading.drop = None if drop is None else drop.encode()
    reading.target = None if target is None else target.encode()
    reading.weights = None if weights is None else weights.encode()
    with session() as context:
        return _arrays_of(Handle(context.make("mercer_data_read", os.fsencode(path), ctypes.byref(reading)), "data"))


def generators() -> list[str]:
    """The names that generate knows.

    >>> import mercer
    >>> "moons" in mercer.generators()
    True
    """
    count = ctypes.c_int()
    names = lib.mercer_generators(ctypes.byref(count))
    return [text(names[i]) for i in range(count.value)]


def generate(name: str, n: int = 100, *, noise: float = 0.1, random_state: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """X and y of a made-up data set (moons, circles, spirals, blobs, sinc, friedman1, ...), bit for bit that of `mercer generate`.

    >>> import mercer
    >>> X, y = mercer.generate("moons", 50, noise=0.2, random_state=3)
    >>> X.shape, len(set(y))
    ((50, 2), 2)
    """
    with session() as context:
        made = _arrays_of(Handle(context.make("mercer_data_generate", name.encode(), n, noise, random_state), "data"))
    return made.X, made.y


def mmd(X: Rows, Z: Rows, kernel: str = "rbf", *, permutations: int = 1000, random_state: int = 0) -> Record:
    """Are X and Z drawn alike? The distance of their means in the space of the kernel, and its p-value by permutation.

    >>> import mercer, numpy as np
    >>> rng = np.random.RandomState(0)
    >>> mercer.mmd(rng.randn(50, 2), rng.randn(50, 2) + 1, permutations=200).p_value < 0.01
    True
    """
    out = _header.mercer_test()
    with session() as context:
        x, z = (_arrays.data(context, _arrays.check_rows(A, "mmd")) for A in (X, Z))
        context.call("mercer_test_mmd", parse(context, kernel), x, z, permutations, random_state, ctypes.byref(out))
    return Record(record(out))


def hsic(X: Rows, kernel: str, other: str, *, permutations: int = 1000, random_state: int = 0) -> Record:
    """Are what the two kernels see of a row, such as 'rbf[1]' and 'rbf[2]', independent? HSIC and its p-value by permutation.

    >>> import mercer, numpy as np
    >>> X = np.random.RandomState(0).randn(60, 2)
    >>> mercer.hsic(np.column_stack([X, X[:, 0] ** 2]), "rbf[1]", "rbf[3]", permutations=200).p_value < 0.01
    True
    """
    out = _header.mercer_test()
    with session() as context:
        data, k, l = _arrays.data(context, _arrays.check_rows(X, "hsic")), parse(context, kernel), parse(context, other)
        context.call("mercer_test_hsic", k, l, data, permutations, random_state, ctypes.byref(out))
    return Record(record(out))
