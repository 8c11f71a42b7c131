"""plot and report: pictures and pages, made by the command, which comes with the package; arrays travel in a temporary folder."""
from __future__ import annotations

import csv
import os
import pathlib
import subprocess
import tempfile

import numpy as np

from . import _arrays, _model, _objects
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
    if _objects.are_objects(X):
        raise ValueError("plot draws rows of numbers, and X is a list of texts; give a data file with a column of them")
    X = X.toarray() if _arrays.is_sparse(X) else X
    columns, target = _names(model, X.shape[1])
    if y is not None:
        _arrays.check_length(X.shape[0], y, "y")
    with open(path, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(columns + ([] if y is None else [target]))
        for i, row in enumerate(X.tolist()):
            table.writerow([repr(value) for value in row] + ([] if y is None else [_arrays.label_text(np.asarray(y)[i])]))


def _run(arguments, folder):
    program = command()
    if program is None:
        raise Error(f"{arguments[0]}: the command mercer, which draws, is not installed beside this package")
    done = subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        said = done.stderr.strip().removeprefix("mercer: ")
        raise InvalidError(said or f"{arguments[0]}: the command ended with status {done.returncode}")


def plot(model: Any = None, X: Rows | Path | None = None, y: ArrayLike | None = None, *, kind: str | None = None, kernel: str | None = None,
         columns: str | None = None, size: tuple[float, float] | None = None, format: str = "svg") -> Picture:
    """A picture of a model (or a fitted estimator) and rows, of rows and a kernel, or of a kernel alone. X may be a data file.

    kind: regions, curve, residuals, confusion, calibration, scatter, gram, spectrum, profile, ...; None: what suits. columns: of regions
    and curve, by name or number. size: in points. format: svg, png or pdf.

    >>> import mercer
    >>> mercer.plot(kernel="rbf(gamma=0.5)").format
    'svg'
    """
    if format not in ("svg", "png", "pdf"):
        raise ValueError(f"format must be 'svg', 'png' or 'pdf', got {format!r}")
    options = {"kind": kind, "kernel": kernel, "columns": columns, "size": size and f"{size[0]:g}x{size[1]:g}"}
    return Picture(_command("plot", model, X, y, options, format), format)


def report(model: Any, X: Rows | Path | None = None, y: ArrayLike | None = None) -> str:
    """One page of HTML about a model (or a fitted estimator): its kernel, fit and certificate; with rows also scores and pictures. The page
    needs no network and no other file.

    >>> import mercer
    >>> mercer.report(mercer.KernelRidge(kernel="rbf").fit([[0.0], [1.0]], [0.0, 1.0])).startswith("<!DOCTYPE html>")
    True
    """
    return _command("report", model, X, y, {}, "html").decode()


def _command(verb, model, X, y, options, ending):
    """What a verb of the command writes about a model and rows."""
    model = getattr(model, "model_", model)
    if not isinstance(model, _model.Model) and (model is not None or verb == "report"):
        raise TypeError(f"{verb} takes a fitted estimator of mercer or a mercer.Model, got {type(model).__name__}")
    with tempfile.TemporaryDirectory(prefix="mercer-") as folder:
        arguments, out = [verb], "out." + ending
        if model is not None:
            arguments.append("model.mercer")
            model.save(os.path.join(folder, "model.mercer"))
        if isinstance(X, (str, os.PathLike)):
            arguments.append(os.path.abspath(X))
        elif X is not None:
            arguments.append("rows.csv")
            _write_table(os.path.join(folder, "rows.csv"), model, X, y)
            arguments += ["--no-target"] if y is None and model is None else []
        arguments += [f"--{name}={value}" for name, value in options.items() if value is not None]
        _run(arguments + ["-o", out], folder)
        return pathlib.Path(folder, out).read_bytes()
