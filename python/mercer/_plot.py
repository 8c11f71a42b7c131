"""plot: the pictures of `mercer plot`. They are drawn by the command, which comes with the package; arrays travel in a temporary folder."""
from __future__ import annotations

import csv
import os
import pathlib
import subprocess
import tempfile

import numpy as np

from . import _arrays, _model
from .__main__ import command
from ._library import Error, InvalidError, lib, text
from ._types import Any, ArrayLike, Path, Rows


class Picture:
    """A picture as bytes: shown by notebooks, written by save."""

    def __init__(self, data: bytes, kind: str) -> None:
        self.bytes, self.format = data, kind

    def save(self, path: Path) -> None:
        """Write the file as it is."""
        pathlib.Path(path).write_bytes(self.bytes)

    def _repr_svg_(self):
        return self.bytes.decode() if self.format == "svg" else None

    def _repr_png_(self):
        return self.bytes if self.format == "png" else None

    def __repr__(self):
        return f"<mercer.Picture: {self.format}, {len(self.bytes)} bytes>"


def _names(model, d):
    """The columns of the table: those of the model, and its target."""
    if model is None:
        return [f"x{j + 1}" for j in range(d)], "y"
    return ([text(lib.mercer_model_column_name(model.address, j)) for j in range(d)],
            text(lib.mercer_model_target_name(model.address, 0)) or "y")


def _write_table(path, model, X, y):
    X = _arrays.check_rows(X, "plot")
    X = X.toarray() if _arrays.is_sparse(X) else X
    columns, target = _names(model, X.shape[1])
    if y is not None:
        _arrays.check_length(X.shape[0], y, "y")
    with open(path, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(columns + ([] if y is None else [target]))
        for i, row in enumerate(X.tolist()):
            table.writerow([repr(value) for value in row] + ([] if y is None else [_arrays.label_text(np.asarray(y)[i])]))


def _run(arguments):
    program = command()
    if program is None:
        raise Error("plot: the command mercer, which draws, is not installed beside this package")
    done = subprocess.run([program, *arguments], capture_output=True, text=True)
    if done.returncode:
        raise InvalidError(done.stderr.strip().removeprefix("mercer: ") or f"plot: the command ended with status {done.returncode}")


def plot(model: Any = None, X: Rows | Path | None = None, y: ArrayLike | None = None, *, kind: str | None = None, kernel: str | None = None,
         columns: str | None = None, size: tuple[float, float] | None = None, format: str = "svg") -> Picture:
    """A picture of a model (or a fitted estimator) and rows, of rows and a kernel, or of a kernel alone. X may be a data file.

    kind: regions, curve, residuals, confusion, calibration, scatter, gram, spectrum, profile, ...; None: what suits. columns: of regions and
    curve, by name or number. size: in points. format: svg, png or pdf.

    >>> import mercer
    >>> mercer.plot(kernel="rbf(gamma=0.5)").format
    'svg'
    """
    if format not in ("svg", "png", "pdf"):
        raise ValueError(f"format must be 'svg', 'png' or 'pdf', got {format!r}")
    model = getattr(model, "model_", model)
    if model is not None and not isinstance(model, _model.Model):
        raise TypeError(f"plot takes a fitted estimator of mercer or a mercer.Model, got {type(model).__name__}")
    with tempfile.TemporaryDirectory(prefix="mercer-") as folder:
        out, arguments = os.path.join(folder, "picture." + format), ["plot"]
        if model is not None:
            arguments.append(os.path.join(folder, "model.mercer"))
            model.save(arguments[-1])
        if isinstance(X, (str, os.PathLike)):
            arguments.append(os.fspath(X))
        elif X is not None:
            arguments.append(os.path.join(folder, "rows.csv"))
            _write_table(arguments[-1], model, X, y)
            arguments += ["--no-target"] if y is None and model is None else []
        for name, value in (("kind", kind), ("kernel", kernel), ("columns", columns), ("size", size and f"{size[0]:g}x{size[1]:g}")):
            arguments += [] if value is None else [f"--{name}={value}"]
        _run(arguments + ["-o", out])
        return Picture(pathlib.Path(out).read_bytes(), format)
