"""Every parameter of the package in one table: what it must be and what it is for. The estimators check by it, and the Parameters sections
of all docstrings are made from it; a test compares it with the signatures."""
from __future__ import annotations

import inspect
import numbers
import re
from typing import Any, Callable, NamedTuple

import numpy as np

from ._library import ParameterError


# ---- What a value may be ----

class Kind(NamedTuple):
    words: str
    accepts: Callable[[Any], bool]


class Row(NamedTuple):
    kind: Kind | None  # None: said by the annotation, and looked at where it is used
    text: str


def _is_real(value):
    return isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_)) and value == value


def _is_whole(value):
    return isinstance(value, numbers.Integral) and not isinstance(value, (bool, np.bool_))


def real(low=-np.inf, high=np.inf, above=False):
    """A number from low (or above it) to high."""
    least = "a number" if low == -np.inf else f"a number above {low:g}" if above else f"a number of at least {low:g}"
    words = least + ("" if high == np.inf else f" and at most {high:g}")
    return Kind(words, lambda value: _is_real(value) and (value > low if above else value >= low) and value <= high)


def whole(low):
    return Kind(f"a whole number of at least {low}", lambda value: _is_whole(value) and value >= low)


def choice(*names):
    return Kind(" or ".join(map(repr, names)), lambda value: isinstance(value, str) and value in names)


def either(*kinds):
    return Kind(" or ".join(kind.words for kind in kinds), lambda value: any(kind.accepts(value) for kind in kinds))


def _are_real(value, low, above):
    try:
        values = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return values.ndim == 1 and values.size > 0 and bool((values > low if above else values >= low).all())


def reals(low, above=False):
    """Several numbers."""
    bound = "" if low == -np.inf else f" {'above' if above else 'of at least'} {low:g}"
    return Kind(f"an array of numbers{bound}", lambda value: _are_real(value, low, above))


NOTHING = Kind("None", lambda value: value is None)
FLAG = Kind("True or False", lambda value: isinstance(value, (bool, np.bool_, numbers.Integral)))
KERNEL = Kind("a kernel: text (a name, an expression or 'precomputed') or a function",
              lambda value: isinstance(value, str) or callable(value))
DICT = Kind("a dict", lambda value: isinstance(value, dict))
SEED = Kind("None, a whole number or a generator of NumPy", lambda value: value is None or _is_whole(value)
            or isinstance(value, (np.random.RandomState, np.random.Generator)))
GAMMA = either(choice("scale", "auto"), real(0), NOTHING)
STEPS = Kind("-1 (no limit) or a whole number of at least 0", lambda value: _is_whole(value) and value >= -1)
PENALTY = either(real(0), reals(0))

# ---- The table: the parameters of estimators ----

_OURS = "taken for scikit-learn's sake; the library decides that itself, and the answer is the same."
PARAMETERS: dict[str, Row] = {
    "C": Row(real(0, above=True), "penalty of an error; small values make a smooth function, inf a hard margin."),
    "affinity": Row(KERNEL, "how strongly two rows are joined, as kernel elsewhere; no value may be negative."),
    "alpha": Row(PENALTY, "penalty of |f|^2; an array has one for each output."),
    "alphas": Row(either(reals(0), real(0)), "penalties to choose from."),
    "ard": Row(FLAG, "one length scale for every column."),
    "break_ties": Row(FLAG, "with three classes or more, equal votes go to the surest instead of the first."),
    "cache_size": Row(real(0, above=True), _OURS),
    "class_weight": Row(either(choice("balanced"), DICT, NOTHING),
                        "weights of the classes, by label; 'balanced': all classes weigh the same. They multiply the weights of rows."),
    "coef0": Row(either(real(), NOTHING), "the constant c of kernel='poly' and 'sigmoid'."),
    "copy_X": Row(FLAG, "keep a copy of the rows of the fit instead of the array given."),
    "copy_X_train": Row(FLAG, "keep a copy of the rows of the fit instead of the array given."),
    "cv": Row(None, "None: every row is left out in turn; a number of folds, a splitter of scikit-learn, or pairs (train, test)."),
    "decision_function_shape": Row(choice("ovr", "ovo"), "one number per class, or one per pair of classes."),
    "degree": Row(either(real(0), NOTHING), "the exponent of kernel='poly'."),
    "delta": Row(real(0, above=True), "errors up to this size are squared, larger ones are not."),
    "eigen_solver": Row(choice("auto", "dense", "arpack", "randomized", "krylov"),
                        "'dense': all eigenvalues of the stored matrix; 'krylov': the largest from products with it; the others "
                        "let the library decide."),
    "epsilon": Row(real(0), "errors up to this size cost nothing."),
    "fit_intercept": Row(FLAG, "add a constant to the function."),
    "fit_inverse_transform": Row(FLAG, "learn the way back from scores to rows, by ridge with penalty alpha."),
    "gamma": Row(GAMMA, "of kernel='rbf', 'poly', 'sigmoid', 'laplacian' and 'chi2'; 'scale' is 1 / (columns * variance), 'auto' "
                        "1 / columns."),
    "iterated_power": Row(either(choice("auto"), whole(0)), _OURS),
    "kernel": Row(KERNEL, "a name of scikit-learn with gamma, degree and coef0, an expression of the kernel language, 'precomputed', or a "
                          "function that gives kernel values."),
    "kernel_params": Row(either(DICT, NOTHING), "further arguments of a kernel that is a function."),
    "max_iter": Row(whole(1), "most steps; a fit that takes them all warns."),
    "n_clusters": Row(whole(1), "how many groups."),
    "n_components": Row(whole(1), "how many features."),
    "n_init": Row(whole(1), "starts, of which the best is kept."),
    "n_jobs": Row(either(NOTHING, Kind("a whole number", _is_whole)), "taken and not looked at: mercer.options(threads=) says how many."),
    "n_neighbors": Row(whole(1), "how many of the nearest rows count."),
    "n_restarts_optimizer": Row(whole(0), "further starts of the search for parameters."),
    "normalize_y": Row(FLAG, "take the mean off y and divide it by its spread first."),
    "nu": Row(real(0, 1, above=True), "the share of rows that may be errors, and that at least support the function."),
    "optimizer": Row(either(choice("fmin_l_bfgs_b"), NOTHING), "None: the parameters of the kernel stay as they are."),
    "probability": Row(FLAG, "fit sigmoids to decisions of five folds, for predict_proba."),
    "quantile": Row(real(0, 1, above=True), "which quantile, between 0 and 1."),
    "random_state": Row(SEED, "the seed; None is 0."),
    "rank": Row(whole(0), "landmarks or frequencies of the approximate solvers; 0: the library decides."),
    "remove_zero_eig": Row(FLAG, "leave out directions in which nothing varies; with n_components=None they always are."),
    "shrinking": Row(FLAG, _OURS),
    "solver": Row(choice("auto", "cholesky", "pcg"), "how the systems are solved; 'auto': the plan of the library."),
    "tol": Row(real(0, above=True), "how far from the optimum the answer may be; certificate_ says how far it is."),
    "verbose": Row(FLAG, "show how far the fit is, on standard error or in the notebook."),
    "weights": Row(choice("uniform", "distance"), "whether nearer rows count more."),
}

OWN: dict[tuple[str, str], Row] = {
    **{(name, "max_iter"): Row(STEPS, "maximum number of SMO steps per quadratic program, -1 for no limit; a fit that takes them all warns.")
       for name in ("SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM")},
    ("GaussianProcessRegressor", "alpha"): Row(either(choice("learn"), PENALTY), "variance of the noise, a number or one for each row; "
                                               "'learn' chooses it with the parameters of the kernel."),
    ("GaussianProcessRegressor", "kernel"): Row(either(Kind("an expression of the kernel language", lambda value: isinstance(value, str)),
                                                       NOTHING), "the covariance; its parameters are chosen to maximize the evidence. "
                                                "None is rbf(sigma=1), kept as it is."),
    ("KernelPCA", "alpha"): Row(PENALTY, "penalty of the ridge of fit_inverse_transform."),
    ("KernelPCA", "max_iter"): Row(either(NOTHING, whole(1)), _OURS),
    ("KernelPCA", "n_components"): Row(either(NOTHING, whole(1)), "how many components; None: all whose eigenvalue is not zero."),
    ("KernelPCA", "tol"): Row(real(0), "of eigen_solver='krylov', relative to the largest eigenvalue; 0: the library decides."),
    ("KernelLogisticRegression", "C"): Row(real(0, above=True), "weight of the losses beside |f|^2 / 2; 1 / C is the penalty."),
    ("KernelQuantileRegressor", "alpha"): Row(real(0), "penalty of |f|^2."),
    ("KernelHuberRegressor", "alpha"): Row(real(0), "penalty of |f|^2."),
    ("KernelRidge", "solver"): Row(choice("auto", "cholesky", "mixed", "eigen", "pcg", "primal", "nystrom", "fourier"),
                                   "'nystrom' and 'fourier' are approximate, with rank landmarks or frequencies, the others exact."),
    ("KernelRidge", "tol"): Row(real(0, above=True), "relative residual that the iterative solvers reach."),
    ("Nystroem", "kernel_params"): Row(either(DICT, NOTHING), "further arguments of a kernel that is a function; of a name those of "
                                       "gamma, degree and coef0 that are None."),
    ("Nystroem", "n_components"): Row(whole(1), "how many rows are drawn."),
    ("RandomFourierFeatures", "kernel"): Row(KERNEL, "'rbf' or 'laplacian' with gamma, or rbf, laplacian, exponential or matern as an "
                                             "expression."),
    ("RandomFourierFeatures", "n_components"): Row(whole(1), "how many random frequencies."),
}


def row_of(owner: str, name: str) -> Row | None:
    """The row of a parameter of an estimator."""
    return OWN.get((owner, name)) or PARAMETERS.get(name)


_PLAIN = (type(None), bool, int, float, str)  # nothing changes these but another value in their place


_checked: dict[Any, tuple[list[tuple[str, Kind]], dict[str, Any]]] = {}


def _checked_of(owner: Any) -> tuple[list[tuple[str, Kind]], dict[str, Any]]:
    """The parameters of a class that have a row to be checked against, and room for the plain values of the last that passed: most estimators
    differ from the one before in a parameter or two. (scikit-learn looks at the signature each time it is asked.)"""
    rows = [(name, row_of(owner.__name__, name)) for name in owner._get_param_names()]
    return [(name, row.kind) for name, row in rows if row is not None and row.kind is not None], {}


def check(estimator: Any) -> None:
    """Whether every parameter is what it must be; ParameterError names the first that is not."""
    owner = type(estimator)
    if owner not in _checked:
        _checked[owner] = _checked_of(owner)
    rows, passed = _checked[owner]
    for name, kind in rows:
        value = getattr(estimator, name)
        if name in passed and passed[name] is value:
            continue
        if not kind.accepts(value):
            raise ParameterError(f"The {name!r} parameter of {owner.__name__} must be {kind.words}. Got {value!r} instead.")
        if type(value) in _PLAIN:
            passed[name] = value


# ---- The table: the arguments of functions and methods ----

ARGUMENTS: dict[str, str] = {
    "K": "the matrix, square.",
    "keep_diagonal": "the diagonal stays as it is, as of a correlation.",
    "tolerance": "diagonal entries of what is left that are at most this, by the largest of K, are left out; 0: rounding.",
    "V": "a vector or a matrix with a row for each row of Y (of X without Y).",
    "X": "rows: n x d, an array, a data frame or a SciPy matrix; or a list of texts, for kernels of texts.",
    "Y": "other rows; None: those of X.",
    "Z": "rows of the other sample.",
    "argument": "the whole argument as text.",
    "bins": "how many bins of equal width.",
    "budget": "the most rows the new model keeps; 0: all.",
    "candidates": "how many candidates, or starts of search='gradient'.",
    "canonical": "the expression as it was understood.",
    "classes": "whether y is two classes, which the loss sees as 1 and -1.",
    "columns": "of regions and curve, by name or number.",
    "conjugate": "sup over F of v F - value, for an exact certificate.",
    "curvature": "the second derivative of the loss in its second argument.",
    "d": "columns of the rows; 0: whatever the expression allows.",
    "data": "the bytes of the picture.",
    "decision": "which decision of this model.",
    "deep": "also the parameters of estimators inside this one.",
    "derivation": "the steps of the argument.",
    "domain": "the rows for which the verdict holds; '' for all.",
    "estimator": "an estimator of mercer.",
    "fit_params": "further arguments of fit.",
    "folds": "a number of folds, or the fold of every row; None: every row, or every group, is one of its own.",
    "function": "'mercer_predict', 'mercer_decide', 'mercer_predict_proba' or 'mercer_prediction_bound'.",
    "format": "'svg', 'png' or 'pdf'.",
    "groups": "the group of every row; those of one group stay together.",
    "drop": "columns left out, by name or number, with commas.",
    "halving": "drop the worse half of the candidates on part of the rows first.",
    "handle": "the model in the library; Model.load and fit make them.",
    "header": "whether the first line of CSV names the columns: 'auto', 'yes' or 'no'.",
    "hold_out": "(rows, target) to measure on instead of folds.",
    "input_features": "names of the columns; not looked at.",
    "journal": "a file that keeps what was measured, so that the same search goes on where it stopped.",
    "json_text": "the whole search as JSON.",
    "kernel": "an expression of the kernel language.",
    "kind": "which picture: regions, curve, residuals, confusion, calibration, scatter, gram, spectrum, profile, ...; None: what suits.",
    "machine": "a name of mercer.machines().",
    "memory": "most bytes; None: as before.",
    "missing": "what becomes of empty cells: 'error', 'mean' or 'drop'.",
    "model": "a mercer.Model or a fitted estimator.",
    "n": "how many rows.",
    "n_neighbors": "how many; None: the parameter of the same name.",
    "n_samples": "how many functions.",
    "name": "its name.",
    "noise": "the spread of what is added at random.",
    "one_error": "take the simplest candidate within one standard error of the best.",
    "order": "of conditional positive definiteness that was proved: 1 or 2; 0 for none.",
    "ordered": "folds are stretches of rows in their order, as time has it.",
    "other": "the other model, or the other kernel.",
    "other_decision": "which decision of the other model.",
    "params": "parameters by name.",
    "passes": "how often the rows are gone through.",
    "path": "the file.",
    "permutations": "how many permutations the p-value comes from.",
    "points": "points of a range in a grid.",
    "random_state": "the seed.",
    "range": "(lowest, highest) slope of the loss at y, for an exact certificate.",
    "repeats": "how often the folds are drawn anew.",
    "report": "facts about the search.",
    "return_cov": "also the covariance of the function at the rows.",
    "return_distance": "also the distances.",
    "return_std": "also the standard deviation of the function.",
    "sample_weight": "weights of the rows, none negative; None: all 1.",
    "score": "what is measured: 'accuracy', 'rmse', 'log-loss', ...; None: what suits.",
    "search": "'grid', 'random', or 'gradient' (ridge and gp).",
    "settings": "settings of the machine by the names of `mercer fit`, with _ for -; lambda is lambda_.",
    "single": "in single precision, about twice as fast.",
    "size": "width and height in points.",
    "slope": "the derivative of the loss in its second argument.",
    "step": "of one row; 0: a safe one.",
    "target": "the name or number of a column, '' for none; None: the last.",
    "test": "(rows, target) to measure on, for all but ridge.",
    "theta": "None: parameters stand in the expression.",
    "threads": "most threads; None: as before.",
    "time_limit": "most seconds of one call; None: as before.",
    "comm": "a communicator of mpi4py, whose processes share the work; None: as before.",
    "device": "what computes products with K: 'cpu', 'cuda', 'cuda:1', or 'auto', a card where there is one and the work is large; None: as before.",
    "device_memory": "most bytes on the card; 0: 90% of what is free there; None: as before.",
    "to": "'libsvm', 'c', 'c-float', 'onnx' or 'onnx-double'.",
    "value": "the loss, of a target and a prediction.",
    "values": "penalties to go through.",
    "verbose": "show how far it is, on standard error or in the notebook.",
    "verdict": "'proved', 'refuted' or 'unknown'.",
    "weights": "the name or number of the column of weights; None: all 1.",
    "proof_object": "the whole argument as JSON; docs/proofs.md has the format.",
    "width": "columns of the answer.",
    "witness": "points and weights that refute; None without.",
    "frequency": "where the Fourier transform is negative; None without.",
    "y": "the target: numbers, or classes as text or whole numbers; none may be missing.",
}


# ---- Docstrings ----

def _entry(name: str, row: inspect.Parameter, owner: str) -> list[str]:
    found = row_of(owner, name) if owner else None
    words = found.kind.words if found is not None and found.kind is not None else str(row.annotation)
    text = found.text if found is not None else ARGUMENTS.get(name, "")
    default = "" if row.default is row.empty or row.kind is row.VAR_KEYWORD else f", default {row.default!r}"
    return [f"{'**' if row.kind is row.VAR_KEYWORD else ''}{name} : {words}{default}", f"    {text}"]


def section(function: Callable[..., Any], owner: str = "") -> list[str]:
    """The lines of the Parameters section of a function, or of the constructor of an estimator; none for one that takes nothing."""
    rows = [(name, row) for name, row in inspect.signature(function).parameters.items() if name not in ("self", "cls")]
    lines = [line for name, row in rows for line in _entry(name, row, owner)]
    return ["Parameters", "----------", *lines] if lines else []


def _with_section(doc: str | None, lines: list[str]) -> str | None:
    """The docstring with the section between its words and its examples."""
    if not doc or not lines or "\nParameters\n-----" in doc:
        return doc
    words, examples = re.match(r"(.*?)(\n>>> .*)?\Z", inspect.cleandoc(doc), flags=re.S).groups()  # type: ignore[union-attr]
    parts = [words.strip(), "\n".join(lines)] + (["Examples\n--------\n" + examples.strip()] if examples else [])
    return "\n\n".join(parts) + "\n"


def _document_function(function: Any) -> None:
    if (function.__module__ or "").startswith("mercer"):
        function.__doc__ = _with_section(function.__doc__, section(function))


def _document_class(kind: Any) -> None:
    for name, value in inspect.getmembers(kind):
        function = value.__func__ if inspect.ismethod(value) else value
        if inspect.isfunction(function) and not name.startswith("_"):
            _document_function(function)
    if inspect.isfunction(kind.__init__):
        kind.__doc__ = _with_section(kind.__doc__, section(kind.__init__, kind.__name__ if hasattr(kind, "get_params") else ""))


def document(value: Any) -> None:
    """Put Parameters sections into the docstring of a public function, or into those of a class and its public methods."""
    if inspect.isclass(value):
        _document_class(value)
    elif inspect.isfunction(value):
        _document_function(value)
