"""tune: a search over kernels and settings by the library, as `mercer tune` does it."""
from __future__ import annotations

import ctypes
import json

from . import _arrays, _header, _machines, _model
from ._library import Handle, defaults, lib, parse, record, session, text
from ._types import Any, ArrayLike, Path, Rows


class Search:
    """What tune found: model (the best candidate fitted to all rows), best (its Record), candidates (all of them in the order they were
    made), report (the score's name, how it was measured, how sure the choice is). As text it is a table of the best ten."""

    def __init__(self, model: _model.Model, candidates: list[_model.Record], report: _model.Record, json_text: str) -> None:
        self.model, self.candidates, self.report = model, candidates, report
        self.best = candidates[report.best]
        self.json = json.loads(json_text)

    def __repr__(self):
        sign = -1 if self.report.larger_is_better else 1
        ranked = sorted((c for c in self.candidates if c.score == c.score), key=lambda c: sign * c.score)
        lines = [f"{self.report.score:>12}  candidate"]
        lines += [f"{c.score:12.6g}  {' '.join(filter(None, (c.kernel, c.settings)))}" for c in ranked[:10]]
        return "\n".join(lines + ([f"{'...':>12}  {len(ranked) - 10} more"] if len(ranked) > 10 else []))


def _is_range(value):
    return isinstance(value, str) and (".." in value or value.strip().startswith("{"))


def _range(name, value):
    """name=low..high or name={a, b}, from text or from a list."""
    return f"{name}={value}" if isinstance(value, str) else f"{name}={{{', '.join(repr(float(v)) for v in value)}}}"


_OPTIONS = ("points", "search", "candidates", "folds", "repeats", "ordered", "score", "one_error", "halving", "journal")


class _Wish:
    """The struct of the search and everything its pointers point to."""

    def __init__(self, context, kernels, ranges, options):
        self.set = defaults("tune")
        self.kernels = [parse(context, kernel) for kernel in kernels]
        self.ranges = [text_of.encode() for text_of in ranges]
        if self.kernels:
            self.array = (ctypes.c_void_p * len(self.kernels))(*[kernel.address for kernel in self.kernels])
            self.set.kernels, self.set.kernel_count = ctypes.addressof(self.array), len(self.kernels)
        if self.ranges:
            self.list = (ctypes.c_char_p * (len(self.ranges) + 1))(*self.ranges, None)
            self.set.ranges = ctypes.addressof(self.list)
        for name, value in options.items():
            if value is not None:
                setattr(self.set, name, value.encode() if isinstance(value, str) else value)

    def group(self, groups, n):
        encoded = _arrays.group_texts(groups, n)
        self.groups = (ctypes.c_char_p * len(encoded))(*encoded)
        self.set.groups = ctypes.addressof(self.groups)


class _Task:
    """What tune and plan_tune say to the library, and what that must outlive."""

    def __init__(self, context, X, y, machine, kernel, groups, hold_out, settings, options):
        row, settings = _model.machine(machine), _model.setting_names(settings)
        searched = {name: value for name, value in settings.items() if _is_range(value) or isinstance(value, (list, tuple))}
        plain = {name: value for name, value in settings.items() if name not in searched}
        self.data = _machines.open_data(context, X, y, row)
        self.struct = _model.settings_struct(context, row, plain)
        ranges = [_range(name, value) for name, value in searched.items()]
        self.wish = _Wish(context, [kernel] if isinstance(kernel, str) else kernel or [], ranges, options)
        if groups is not None:
            self.wish.group(groups, lib.mercer_data_rows(self.data))
        if hold_out is not None:
            self.hold_out = _machines.open_data(context, hold_out[0], hold_out[1], row)
            self.wish.set.hold_out = self.hold_out.address
        self.arguments = (machine.encode(), self.struct, ctypes.byref(self.wish.set), self.data)


def tune(X: Rows | Path, y: ArrayLike | None = None, machine: str = "ridge", kernel: str | list[str] | None = None, *,
         points: int | None = None, search: str | None = None, candidates: int | None = None, folds: int | None = None,
         repeats: int | None = None, groups: ArrayLike | None = None, ordered: bool | None = None,
         hold_out: tuple[Rows, ArrayLike] | None = None, score: str | None = None, one_error: bool | None = None,
         halving: bool | None = None, journal: str | None = None, random_state: int = 0, verbose: bool = False, **settings: Any) -> Search:
    """The best kernel, parameters and settings on rows they were not fitted to, and the model fitted with them to all rows.

    kernel: expressions, in which a range (gamma=0.01..10) or a set (degree={2, 3}) may stand for a number; None: rbf around its default
        (knn: its default alone, every gamma having the same neighbours).
    settings: those of `mercer fit`, with _ for -; text with a range or a set, or a list of numbers, is searched, everything else is set.
    search: 'grid'; 'random' points; 'gradient': downhill from a few starts (ridge and gp), which candidates counts.
    hold_out: rows and target to measure on instead of folds. The other arguments are the options of `mercer tune`; score is 'accuracy',
    'rmse', 'log-loss', ...

    >>> import mercer, numpy as np
    >>> X = np.random.RandomState(0).randn(80, 2)
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, "even", "odd")
    >>> found = mercer.tune(X, y, "svc", "rbf(gamma=0.1..10)", C=[1, 100], points=3)
    >>> len(found.candidates), found.report.score, found.model.machine
    (6, 'accuracy', 'svc')
    >>> found = mercer.tune(X, X[:, 0] * X[:, 1], kernel="rbf(gamma=0.01..10)", search="gradient", candidates=1)
    >>> found.report.measured == len(found.candidates) > 3
    True
    """
    options = {"points": points, "search": search, "candidates": candidates, "folds": folds, "repeats": repeats, "ordered": ordered,
               "score": score, "one_error": one_error, "halving": halving, "journal": journal, "seed": random_state}
    with session(random_state, verbose) as context:
        task = _Task(context, X, y, machine, kernel, groups, hold_out, settings, options)
        found = Handle(context.make("mercer_tune_run", *task.arguments), "search")
        model = _model.Model(Handle(context.make("mercer_search_fit", found, task.data), "model"))
        listed = [_model.Record(record(lib.mercer_search_candidate(found, i))) for i in range(lib.mercer_search_count(found))]
        return Search(model, listed, _model.Record(record(lib.mercer_search_report(found).contents)), text(lib.mercer_search_json(found)))


def plan_tune(X: Rows | Path, y: ArrayLike | None = None, machine: str = "ridge", kernel: str | list[str] | None = None, *,
              groups: ArrayLike | None = None, hold_out: tuple[Rows, ArrayLike] | None = None, random_state: int = 0,
              **settings: Any) -> _model.Record:
    """What tune with these arguments would take, without running it: candidates, splits, fits, engine, memory_bytes, seconds, possible.
    settings: the options of tune too.

    >>> import mercer
    >>> mercer.plan_tune([[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 4.0, 9.0], kernel="rbf(gamma={1, 2})", lambda_=[0.1, 1]).candidates
    4
    """
    options = {name: settings.pop(name) for name in list(settings) if name in _OPTIONS}
    out = _header.mercer_tune_plan()
    with session(random_state) as context:
        task = _Task(context, X, y, machine, kernel, groups, hold_out, settings, {**options, "seed": random_state})
        context.call("mercer_plan_tune", *task.arguments, ctypes.byref(out))
    return _model.Record(record(out))
