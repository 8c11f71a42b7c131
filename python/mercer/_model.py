"""Models: fitted by an estimator, or read from a file of the command; the same files either way."""
from __future__ import annotations

import ctypes
import itertools
import json
import os

import numpy as np

from . import _arrays, _few, _header
from ._library import Handle, defaults, lib, parse, record, session, text, thread_context
from ._types import Any, ArrayLike, NDArray, Path, Rows


class Record(dict):
    """Facts by name: report["solver"] or report.solver."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __repr__(self):
        width = max(map(len, self), default=0)
        return "\n".join(f"{name:<{width}}  {value}" for name, value in self.items() if not isinstance(value, dict))


def columns(rows):
    """An array of structs as arrays by the names of their fields."""
    listed = [record(row) for row in rows]
    return Record({name: np.asarray([row[name] for row in listed]) for name in listed[0]})


# ---- Settings ----

_machines: dict[str, Any] = {}


def machine(name):
    """What the library says of a machine."""
    if name not in _machines:
        row = lib.mercer_machine_find(name.encode())
        if not row:
            raise ValueError(f"there is no machine {name!r}; there are {', '.join(machines())}")
        _machines[name] = row
    return _machines[name]


def machines() -> list[str]:
    """The names of the machines.

    >>> import mercer
    >>> "ridge" in mercer.machines()
    True
    """
    rows = iter(map(lib.mercer_machine_at, itertools.count()))
    return [text(row.contents.name) for row in itertools.takewhile(bool, rows)]


def _setting_text(value):
    if isinstance(value, (bool, np.bool_)):
        return b"yes" if value else b"no"
    if isinstance(value, (float, np.floating)):
        return repr(float(value)).encode()
    return str(value).encode()


def setting_names(settings):
    """Settings by the names of the command: class_weight is class-weight, and lambda_, which Python cannot call lambda, is lambda."""
    return {name.rstrip("_").replace("_", "-"): value for name, value in settings.items()}


_structs: dict[tuple[Any, ...], Any] = {}
_STRUCTS = 64  # kept


def settings_struct(context, row, settings):
    """The settings struct of a machine: its defaults, then these by name. Texts in it live as long as the answer, which nobody changes: the same
    settings have the same struct."""
    key = (id(row), *settings, *map(_setting_text, settings.values()))
    struct = _structs.get(key)
    if struct is None:
        struct = _new_settings_struct(context, row.contents, settings)
        if len(_structs) >= _STRUCTS:
            _structs.clear()
        _structs[key] = struct
    return struct


def _new_settings_struct(context, machine, settings):
    struct: Any = ctypes.create_string_buffer(machine.size)
    context.call("mercer_settings_init", machine.name, struct, machine.size)
    struct.texts = [_setting_text(value) for value in settings.values()]
    for name, value in zip(settings, struct.texts):
        context.call("mercer_settings_put", struct, name.encode(), value)
    return struct


def fit(name, kernel, X, settings, target=None, labels=None, weights=None, names=None, seed=0, verbose=False, owner=None):
    """A model of a machine, from arrays that were checked."""
    row = machine(name)
    with session(seed, verbose, owner) as context:
        rows = _arrays.data(context, X, target, labels, weights, names, borrow=True)
        expression = parse(context, kernel)
        struct = settings_struct(context, row, settings)
        return Model(Handle(context.make("mercer_fit", name.encode(), struct, expression, rows), "model"))


# ---- A model ----

def number_or_text(labels):
    """Classes as they were before they were written to a file: whole numbers, numbers, or text."""
    for kind in (int, float):
        try:
            return np.asarray([kind(label) for label in labels])
        except ValueError:
            continue
    return np.asarray(labels)


_QUICK = 1 << 20  # rows times rows kept and columns: milliseconds at most
_STATES = ("absent", "unused", "free", "bounded")


class Model:
    """A fitted machine: what `mercer fit -o FILE` writes and an estimator holds as `model_`.

    >>> import mercer, os, tempfile
    >>> ridge = mercer.KernelRidge(kernel="rbf", alpha=1e-6).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 4.0])
    >>> path = os.path.join(tempfile.mkdtemp(), "squares.mercer")
    >>> ridge.model_.save(path)
    >>> model = mercer.Model.load(path)
    >>> model.machine, model.predict([[2.0]]).round(3).tolist()
    ('ridge', [4.0])
    """

    def __init__(self, handle: Handle) -> None:
        self._take(handle)

    def _take(self, handle):
        self._handle, self.address = handle, handle.address
        self.outputs = lib.mercer_model_outputs(handle.address)
        self.decisions = lib.mercer_model_decisions(handle.address)
        self._facts = lib.mercer_model_report(handle.address).contents

    # -- files --

    @classmethod
    def load(cls, path: Path) -> Model:
        """A model file of Mercer, or one of LIBSVM."""
        return cls(Handle(thread_context().make("mercer_model_load", os.fsencode(path)), "model"))

    def save(self, path: Path) -> None:
        """Write the model; a whole file or nothing."""
        thread_context().call("mercer_model_save", self.address, os.fsencode(path))

    def export(self, path: Path, to: str = "libsvm") -> None:
        """Write the model for another program: to is "libsvm", "c", "c-float", "onnx" or "onnx-double"."""
        thread_context().call("mercer_model_export", self.address, to.encode(), os.fsencode(path))

    def __getstate__(self):
        context, size = thread_context(), ctypes.c_size_t()
        context.call("mercer_model_to_memory", self.address, None, 0, ctypes.byref(size))
        room = ctypes.create_string_buffer(size.value)
        context.call("mercer_model_to_memory", self.address, room, size.value, ctypes.byref(size))
        return {"bytes": room.raw}

    def __setstate__(self, state):
        self._take(Handle(thread_context().make("mercer_model_from_memory", state["bytes"], len(state["bytes"])), "model"))

    # -- what it is --

    @property
    def report(self) -> Record:
        """Facts about the fit: solver, objective, norm, iterations, ..."""
        return Record({name: value for name, value in record(self._facts).items() if name != "certificate"})

    @property
    def certificate(self) -> Record:
        """How far the answer can be from the optimum, recomputed from the raw data."""
        return Record(record(self._facts.certificate))

    def fact(self, name: str) -> Any:
        """One fact of the report, without making all of it."""
        value = getattr(self._facts, name)
        return text(value) if isinstance(value, bytes) else value

    @property
    def machine(self) -> str:
        """The name of the machine."""
        return text(self._facts.machine)

    @property
    def kernel(self) -> str:
        """The kernel as it was fitted, every parameter a number."""
        return text(lib.mercer_kernel_text(lib.mercer_model_kernel(self.address)))

    @property
    def settings(self) -> str:
        """The settings of the fit as text."""
        return text(lib.mercer_model_settings(self.address))

    @property
    def n_features(self) -> int:
        """Columns of the rows it predicts for."""
        return lib.mercer_model_columns(self.address)

    @property
    def labels(self) -> list[str]:
        """The texts of the classes, in the order of the outputs; empty for numbers."""
        count = lib.mercer_model_classes(self.address)
        return [text(lib.mercer_model_label(self.address, k)) for k in range(count)]

    @property
    def classes(self) -> NDArray | None:
        """The classes as numbers where all are, else as text; None for machines that predict numbers."""
        labels = self.labels
        return number_or_text(labels) if labels else None

    @property
    def pairs(self) -> list[tuple[str | None, str | None]]:
        """The two classes of every decision: the first wins where it is positive. A second of None is all the others, a first of None
        numbers."""
        first, second, labels, out = ctypes.c_int64(), ctypes.c_int64(), self.labels, []
        for k in range(self.decisions):
            lib.mercer_model_decision(self.address, k, ctypes.byref(first), ctypes.byref(second))
            out.append((labels[first.value] if first.value >= 0 else None, labels[second.value] if second.value >= 0 else None))
        return out

    @property
    def has_proba(self) -> bool:
        """Whether there are probabilities."""
        return lib.mercer_model_has_proba(self.address)

    @property
    def rows(self) -> NDArray:
        """The places of the rows kept in the training data, from 0, rows of weight zero counted."""
        out = np.empty(self.centres, dtype=np.int64)
        lib.mercer_model_rows(self.address, _arrays.address(out))
        return out

    @property
    def centres(self) -> int:
        """How many rows are kept; 0 where weights of features are the whole model."""
        return lib.mercer_model_centres(self.address)

    @property
    def coefficients(self) -> NDArray:
        """Of the rows kept, in every decision: rows x decisions."""
        out = np.empty((self.centres, self.decisions))
        lib.mercer_model_coefficients(self.address, _arrays.address(out))
        return out

    @property
    def intercepts(self) -> NDArray:
        """One for every decision."""
        return np.asarray([lib.mercer_model_intercept(self.address, k) for k in range(self.decisions)])

    @property
    def weights(self) -> NDArray:
        """Of the features of the kernel (mercer.feature_map), in every decision: features x decisions; empty where the model keeps rows."""
        count = lib.mercer_model_features(self.address)
        return np.asarray([[lib.mercer_model_weight(self.address, j, k) for k in range(self.decisions)] for j in range(count)])

    @property
    def search(self) -> dict[str, Any] | None:
        """The search that chose the model; None without one."""
        found = text(lib.mercer_model_search(self.address))
        return json.loads(found) if found else None

    @property
    def stages(self) -> dict[str, Any] | None:
        """How a model came about that was fitted in stages, under a time limit or by default to many rows; None: in one go."""
        found = text(lib.mercer_model_stages(self.address))
        return json.loads(found) if found else None

    def __repr__(self):
        return f"<mercer.Model {self.machine}, {self.kernel}, {self.centres} rows kept>"

    # -- what it says --

    def evaluate(self, function: str, X: Rows, width: int) -> NDArray:
        """One of the calls mercer_predict, mercer_decide, mercer_predict_proba, mercer_prediction_bound for checked rows: n x width."""
        if _few.suits(X):
            return _few.evaluate(self.address, function, X, width)
        out = np.empty((X.shape[0], width))
        self._run(function, X, out)
        return out

    def _run(self, function, X, out):
        """A call that is over before anybody can press Ctrl-C does without looking out for it."""
        if X.shape[0] * (self.centres + X.shape[1]) <= _QUICK:
            context = thread_context()
            context.call(function, self.address, _arrays.data(context, X, borrow=True), _arrays.address(out))
            return
        with session() as context:
            context.call(function, self.address, _arrays.data(context, X, borrow=True), _arrays.address(out))

    def winners(self, X: Rows) -> NDArray:
        """The number of the class of every checked row."""
        if _few.suits(X):
            return _few.evaluate(self.address, "mercer_predict", X, self.outputs).argmax(axis=1)
        out = np.empty(X.shape[0], np.int64)
        self._run("mercer_classify", X, out)
        return out

    def _rows(self, X, kind=_header.MERCER_TARGET_AUTO):
        if isinstance(X, (str, os.PathLike)):
            reading = defaults("read")
            reading.kind = kind
            made = thread_context().make("mercer_model_read", self.address, os.fsencode(X), ctypes.byref(reading))
            return None, Handle(made, "data")
        return _arrays.check_rows(X), None

    def _values(self, function, X, width):
        array, handle = self._rows(X)
        if handle is None:
            return self.evaluate(function, array, width)
        out = np.empty((lib.mercer_data_rows(handle.address), width))
        with session() as context:
            context.call(function, self.address, handle.address, out.ctypes.data)
        return out

    def predict(self, X: Rows) -> NDArray:
        """Predictions for rows, or for the rows of a data file: classes, or numbers (n, or n x outputs)."""
        classes = self.classes
        if classes is not None:
            return classes[self._winners(X)]
        values = self._values("mercer_predict", X, self.outputs)
        return values[:, 0] if self.outputs == 1 else values

    def _winners(self, X):
        array, handle = self._rows(X)
        if handle is None:
            return self.winners(array)
        out = np.empty(lib.mercer_data_rows(handle.address), np.int64)
        with session() as context:
            context.call("mercer_classify", self.address, handle.address, _arrays.address(out))
        return out

    def decide(self, X: Rows) -> NDArray:
        """What the prediction is chosen by: n x decisions."""
        return self._values("mercer_decide", X, self.decisions)

    def prediction_bound(self, X: Rows) -> NDArray:
        """How far what decide gives at each of these rows (predict, for numbers) can be from the exact optimum, rounding included: n numbers,
        infinite where nothing can be said.

        >>> import mercer
        >>> model = mercer.KernelRidge(kernel="linear", alpha=1.0).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.5]).model_
        >>> near, far = model.prediction_bound([[1.0], [1000.0]])
        >>> bool(near < 1e-10), bool(near < far < 1e-7)
        (True, True)
        """
        return self._values("mercer_prediction_bound", X, 1)[:, 0]

    def predict_proba(self, X: Rows) -> NDArray:
        """Probabilities of the classes, for machines that have them."""
        return self._values("mercer_predict_proba", X, len(self.labels))

    def score(self, X: Rows, y: ArrayLike | None = None) -> Record:
        """Scores on rows with a target, or on a data file that holds it."""
        array, handle = self._rows(X, _header.MERCER_TARGET_NUMBER)
        scores = _header.mercer_scores()
        with session() as context:
            if handle is None:
                handle = self._with_target(context, array, y)
            context.call("mercer_score", self.address, handle.address, ctypes.byref(scores))
        return Record(record(scores))

    def confusion(self, X: Rows, y: ArrayLike | None = None) -> NDArray:
        """Which classes are predicted for which: entry (k, j) counts the rows of class labels[k] that are predicted as labels[j], on rows
        with a target or on a data file that holds it. One row more, the last: those of classes that the model does not know.

        >>> import mercer
        >>> model = mercer.fit([[0.], [0.1], [5.], [5.1]], ["a", "a", "b", "b"], "svc", "rbf(gamma=1)")
        >>> model.confusion([[0.], [5.], [5.2]], ["a", "b", "a"]).astype(int).tolist()
        [[1, 1], [0, 1], [0, 0]]
        """
        array, handle = self._rows(X, _header.MERCER_TARGET_CLASS)
        scores, table = _header.mercer_scores(), np.empty((len(self.labels) + 1, len(self.labels)))
        with session() as context:
            if handle is None:
                handle = self._with_target(context, array, y)
            context.call("mercer_score_classes", self.address, handle.address, ctypes.byref(scores), table.ctypes.data)
        return table

    def _with_target(self, context, X, y):
        kind = _header.MERCER_TARGET_CLASS if self.labels else _header.MERCER_TARGET_NUMBER
        return _arrays.data(context, X, **_arrays.target_of(kind, y, X.shape[0]))

    def calibration(self, X: Rows, y: ArrayLike, bins: int = 15) -> Record:
        """The calibration curve of a machine with probabilities: arrays low, high, weight, confidence, accuracy over equal bins."""
        out = (_header.mercer_calibration_bin * bins)()
        with session() as context:
            data = self._with_target(context, _arrays.check_rows(X), y)
            context.call("mercer_calibration", self.address, data, bins, ctypes.byref(out))
        return columns(out)

    def vectors(self, X: Rows, y: ArrayLike | None = None) -> Record:
        """How a support vector machine stands with the rows it was fitted to, in their order: arrays margin, slack, alpha and state
        ('absent', 'unused', 'free', 'bounded'), rows x decisions."""
        X = _arrays.check_rows(X)
        out = (_header.mercer_svm_view * (X.shape[0] * self.decisions))()
        with session() as context:
            data = self._with_target(context, X, y)
            context.call("mercer_svm_rows", self.address, data, ctypes.byref(out))
        found = columns(out)
        found["state"] = np.asarray(_STATES)[found["state"]]
        return Record({name: values.reshape(X.shape[0], -1) for name, values in found.items()})

    def boxes(self) -> list[Record]:
        """The bounds of a support vector machine, one for every decision: C, which nu-svc finds, and epsilon, which nu-svr finds."""
        return [Record(record(lib.mercer_model_box(self.address, k))) for k in range(self.decisions)]

    # -- functions in the space of the kernel --

    def inner(self, other: Model, decision: int = 0, other_decision: int = 0) -> float:
        """<f, g> of two decisions, their intercepts apart; with itself the square of the norm."""
        return self._pair("mercer_model_inner", other, decision, other_decision)

    def distance(self, other: Model, decision: int = 0, other_decision: int = 0) -> float:
        """|f - g| of two decisions, their intercepts apart."""
        return self._pair("mercer_model_distance", other, decision, other_decision)

    def _pair(self, function, other, decision, other_decision):
        out = ctypes.c_double()
        with session() as context:
            context.call(function, self.address, decision, other.address, other_decision, ctypes.byref(out))
        return out.value

    def update(self, X: Rows, y: ArrayLike, *, step: float = 0.0, budget: int = 0, passes: int = 1) -> Model:
        """A new model that has learned these rows as well, one by one: of lms, or of ridge, which becomes lms. step 0 is one that lowers
        their error; budget: the most rows kept, 0 for all. An update that would meet these rows worse than before raises NumericError."""
        wish = _header.mercer_update(step=step, budget=budget, passes=passes)
        with session() as context:
            data = self._with_target(context, _arrays.check_rows(X), y)
            return Model(Handle(context.make("mercer_model_update", self.address, data, ctypes.byref(wish)), "model"))
