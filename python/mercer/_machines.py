"""The verbs of the command over arrays or data files, for every machine with all its settings: fit, plan, path, folds, and a loss of one's
own."""
from __future__ import annotations

import ctypes
import os
import time

import numpy as np

from . import _arrays, _header
from ._library import Handle, defaults, lib, parse, record, session
from ._model import Model, Record, machine as machine_row, setting_names, settings_struct
from ._types import Any, ArrayLike, Callable, Path, Rows

_SEARCHED = ("ridge", "svc", "svr", "logistic")  # machines for which the library chooses gamma and a penalty where nothing is said
_LEAST = 20                                      # rows for that


def open_data(context, X, y, row, kernel=None, weights=None):
    """Rows and target as the machine wants them, from arrays or from a data file, which holds both."""
    if isinstance(X, (str, os.PathLike)):
        reading = defaults("read")
        reading.kind = row.contents.target
        if kernel is not None:
            lib.mercer_kernel_reading(kernel.address, ctypes.byref(reading))
        return Handle(context.make("mercer_data_read", os.fsencode(X), ctypes.byref(reading)), "data")
    X = _arrays.check_rows(X)
    return _arrays.data(context, X, weights=_arrays.check_weights(weights, X.shape[0]),
                        **_arrays.target_of(row.contents.target, y, X.shape[0]))


def fit(X: Rows | Path, y: ArrayLike | None = None, machine: str = "ridge", kernel: str | None = None, *,
        sample_weight: ArrayLike | None = None, random_state: int = 0, verbose: bool = False, **settings: Any) -> Model:
    """A model of any machine with any of its settings, as `mercer fit` makes it: the columns are scaled as there, X may be a data file, and
    with no kernel and no lambda_ or C a short search chooses them.

    >>> import mercer, numpy as np
    >>> X = np.random.RandomState(0).randn(60, 2)
    >>> model = mercer.fit(X, np.sin(X[:, 0]), "lms", "rbf(gamma=1)", epochs=50)
    >>> model.machine, model.report.iterations
    ('lms', 50)
    >>> mercer.fit(X, np.sin(X[:, 0]), scale="none").kernel.startswith("rbf(gamma=")
    True
    """
    row, named = machine_row(machine), setting_names(settings)
    with session(random_state, verbose) as context:
        expression = parse(context, kernel or "rbf")
        data, struct = open_data(context, X, y, row, expression, sample_weight), settings_struct(context, row, named)
        if not _searches(data, machine, kernel, named):
            return Model(Handle(context.make("mercer_fit", machine.encode(), struct, expression, data), "model"))
        began = time.monotonic()
        found = Handle(context.make("mercer_tune_default", machine.encode(), struct, data), "search")
        context.limit_rest(time.monotonic() - began)
        return Model(Handle(context.make("mercer_search_fit", found, data), "model"))


def _searches(data, machine, kernel, named):
    """Whether fit chooses by itself what it was not given."""
    return kernel is None and machine in _SEARCHED and not {"lambda", "C"} & set(named) and lib.mercer_data_rows(data) >= _LEAST


def plan(X: Rows | Path, y: ArrayLike | None = None, machine: str = "ridge", kernel: str | None = None, **settings: Any) -> Record:
    """Which solver a fit would take and why, with bytes and seconds forecast; runs nothing but a short measurement. Settings are those
    of `mercer fit`, with _ for -. search: what the fit would search before it, or None.

    >>> import mercer
    >>> mercer.plan([[0.0], [1.0]], [0.0, 1.0], solver="cholesky").solver
    'cholesky'
    """
    row, named, out, before = machine_row(machine), setting_names(settings), _header.mercer_plan(), _header.mercer_tune_plan()
    with session() as context:
        expression = parse(context, kernel or "rbf")
        data, struct = open_data(context, X, y, row, expression), settings_struct(context, row, named)
        context.call("mercer_plan_fit", machine.encode(), struct, expression, data, ctypes.byref(out))
        search = _searches(data, machine, kernel, named)
        if search:
            context.call("mercer_plan_default", machine.encode(), struct, data, ctypes.byref(before))
    chosen = Record(record(out.chosen))
    chosen["search"] = Record(record(before)) if search else None
    chosen["alternatives"] = [Record(record(out.alternatives[i])) for i in range(out.alternative_count)]
    return chosen


def fold_numbers(context, data, folds, groups, seed):
    """The fold of every row: given one by one, or so many drawn, the rows of a group together."""
    n = lib.mercer_data_rows(data)
    if folds is not None and np.ndim(folds):
        _arrays.check_length(n, folds, "folds")
        _arrays.refuse_missing(folds, "folds")
        return np.ascontiguousarray(np.unique(folds, return_inverse=True)[1], dtype=np.int64)
    fold, texts = np.empty(n, dtype=np.int64), None
    if groups is not None:
        texts = (ctypes.c_char_p * n)(*_arrays.group_texts(groups, n))
    context.call("mercer_data_folds", data, int(folds or 0), texts and ctypes.addressof(texts), seed, fold.ctypes.data)
    return fold


def run_path(context, machine, kernel, data, struct, values, fold=None, test=None):
    """The rows of mercer_fit_path, one for each value."""
    out, wish = (_header.mercer_path_row * len(values))(), _header.mercer_path()
    wish.row_size, wish.values, wish.count = ctypes.sizeof(_header.mercer_path_row), values.ctypes.data, len(values)
    wish.fold, wish.test = None if fold is None else fold.ctypes.data, None if test is None else test.address
    context.call("mercer_fit_path", machine.encode(), struct, kernel, data, ctypes.byref(wish), ctypes.byref(out))
    return out


# What a path of each kind has, by the names it has there.
_FITS = {name: name for name in ("primal", "dual", "gap_relative", "support_vectors", "steps", "norm", "test", "seconds")}
_OF_SVM = {"C": "value", **_FITS, **{name: name for name in ("kkt_violation", "free_vectors", "bounded_vectors")}}
_OF_LOSS = {"lambda": "value", **_FITS, **{name: name for name in ("distance", "test_log_loss", "fold", "fold_log_loss")}}
_OF_RIDGE = {"lambda": "value", "fold_rmse": "fold", **{name: name for name in ("loo_rmse", "gcv", "dof", "norm", "objective")}}
_PATHS = {"ridge": _OF_RIDGE, "svc": _OF_SVM, "svr": _OF_SVM}


def path_columns(machine, rows):
    """The rows of a path as arrays by name."""
    return Record({name: np.asarray([getattr(row, field) for row in rows]) for name, field in _PATHS.get(machine, _OF_LOSS).items()})


def path(X: Rows | Path, y: ArrayLike | None = None, machine: str = "ridge", kernel: str = "rbf", *, values: ArrayLike, folds: Any = None,
         test: tuple[Rows, ArrayLike] | None = None, sample_weight: ArrayLike | None = None, random_state: int = 0, verbose: bool = False,
         **settings: Any) -> Record:
    """What each of the values of lambda (C of svc and svr, which rise) gives, each fit from the one before: arrays by name, such as
    loo_rmse, dof and norm of ridge, gap_relative and support_vectors of svc. folds: a number of folds or the fold of every row, for ridge
    and the convex losses. test: rows and target to measure on, for all but ridge.

    >>> import mercer, numpy as np
    >>> X = np.random.RandomState(0).randn(60, 2)
    >>> rows = mercer.path(X, np.sin(X[:, 0]), kernel="rbf(gamma=1)", values=[1e-3, 1e-1, 10], folds=5)
    >>> int(rows.loo_rmse.argmin()), sorted(rows)
    (0, ['dof', 'fold_rmse', 'gcv', 'lambda', 'loo_rmse', 'norm', 'objective'])
    >>> mercer.path(X, X[:, 0] > 0, "svc", values=[0.1, 1, 10]).support_vectors.tolist()[0] > 10
    True
    """
    row, steps = machine_row(machine), np.ascontiguousarray(np.ravel(values), dtype=np.float64)
    with session(random_state, verbose) as context:
        expression = parse(context, kernel)
        data, struct = open_data(context, X, y, row, expression, sample_weight), settings_struct(context, row, setting_names(settings))
        fold = None if folds is None else fold_numbers(context, data, folds, None, random_state)
        other = None if test is None else open_data(context, test[0], test[1], row, expression)
        out = run_path(context, machine, expression, data, struct, steps, fold, other)
    return path_columns(machine, out)


def folds(X: Rows | Path, y: ArrayLike | None = None, kernel: str = "rbf", *, folds: Any = None, groups: ArrayLike | None = None,
          sample_weight: ArrayLike | None = None, random_state: int = 0, verbose: bool = False, **settings: Any) -> Record:
    """Every row predicted by ridge from the rows of other folds, exactly and without refitting: residuals (y less the prediction),
    variances, rmse, fold. folds: a number, or the fold of every row; None: every row, or every group, is one of its own.

    >>> import mercer, numpy as np
    >>> X = np.random.RandomState(0).randn(40, 2)
    >>> left_out = mercer.folds(X, np.sin(X[:, 0]), "rbf(gamma=1)", lambda_=0.01)
    >>> left_out.residuals.shape, bool(left_out.rmse < 0.2)
    ((40, 1), True)
    """
    row, rmse = machine_row("ridge"), ctypes.c_double()
    with session(random_state, verbose) as context:
        expression = parse(context, kernel)
        data, struct = open_data(context, X, y, row, expression, sample_weight), settings_struct(context, row, setting_names(settings))
        fold = fold_numbers(context, data, folds, groups, random_state)
        outputs = lib.mercer_data_outputs(data) or lib.mercer_data_classes(data)
        residuals, variances = np.empty((len(fold), outputs)), np.empty(len(fold))
        context.call("mercer_fit_folds", b"ridge", struct, expression, data, fold.ctypes.data, residuals.ctypes.data,
                     variances.ctypes.data, ctypes.byref(rmse))
    return Record(residuals=residuals, variances=variances, rmse=rmse.value, fold=fold)


# ---- A loss of one's own ----

_OF_TWO = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p, ctypes.c_double, ctypes.c_double)
_RANGE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_double, ctypes.POINTER(ctypes.c_double), ctypes.POINTER(ctypes.c_double))


class _OwnLoss:
    """The struct of a loss, its functions kept alive, and what one of them raised, which C cannot carry: it gets NaN and stops."""

    def __init__(self, name, classes, functions, limits):
        self.raised = None
        self._kept = {key: _OF_TWO(self._guard(function)) for key, function in functions.items() if function is not None}
        if limits is not None:
            self._kept["range"] = _RANGE(self._write_range(limits))
        pointers = {key: ctypes.cast(function, ctypes.c_void_p) for key, function in self._kept.items()}
        self.struct = _header.mercer_own_loss(name=name.encode(), classes=classes, **pointers)

    def _guard(self, function):
        def guarded(user, y, F):
            try:
                return float(function(y, F))
            except BaseException as reason:
                self.raised = self.raised or reason
                return float("nan")
        return guarded

    def _write_range(self, limits):
        def write(user, y, low, high):
            low[0], high[0] = float("nan"), float("nan")
            try:
                low[0], high[0] = limits(y)
            except BaseException as reason:
                self.raised = self.raised or reason
        return write


def fit_loss(X: Rows, y: ArrayLike, value: Callable[[float, float], float], slope: Callable[[float, float], float],
             curvature: Callable[[float, float], float], kernel: str = "rbf", *, conjugate: Callable[[float, float], float] | None = None,
             range: Callable[[float], tuple[float, float]] | None = None, classes: bool = False, name: str = "own",
             sample_weight: ArrayLike | None = None, verbose: bool = False, **settings: Any) -> Model:
    """min over f and b of sum_i loss(y_i, f(x_i) + b) + lambda/2 |f|^2 for a convex loss of your own: its value, slope and curvature in the
    second argument; with conjugate (sup over F of v F - value) and range (of the slope) the certificate is exact. Classes: y is 1 or -1.

    >>> import mercer, numpy as np
    >>> X = np.random.RandomState(0).randn(30, 2)
    >>> model = mercer.fit_loss(X, X[:, 0], lambda y, F: (F - y)**2 / 2, lambda y, F: F - y, lambda y, F: 1.0, "linear", lambda_=0.01)
    >>> model.machine, bool(np.abs(model.predict(X) - X[:, 0]).max() < 0.01)
    ('own-loss', True)
    """
    loss = _OwnLoss(name, classes, {"value": value, "slope": slope, "curvature": curvature, "conjugate": conjugate}, range)
    X = _arrays.check_rows(X, "fit_loss")
    target = _arrays.target_of(_header.MERCER_TARGET_CLASS if classes else _header.MERCER_TARGET_NUMBER, y, X.shape[0])
    set_ = defaults("loss", b"own-loss")
    set_.own = ctypes.addressof(loss.struct)
    for key, wanted in setting_names(settings).items():
        field = key.replace("-", "_")
        if not hasattr(set_, field):
            raise ValueError(f"fit_loss has no setting {key!r}")
        setattr(set_, field, wanted.encode() if isinstance(wanted, str) else wanted)
    try:
        with session(0, verbose) as context:
            expression = parse(context, kernel)
            data = _arrays.data(context, X, weights=_arrays.check_weights(sample_weight, X.shape[0]), **target)
            return Model(Handle(context.make("mercer_fit", b"own-loss", ctypes.byref(set_), expression, data), "model"))
    finally:
        if loss.raised is not None:
            raise loss.raised
