"""The library's sentences in the words of Python. It speaks of settings by the names of the command (lambda, --scale none); whoever reads
the sentence here has written alpha= of an estimator, or lambda_= of mercer.fit. Every message on its way to an exception passes here."""
from __future__ import annotations

import re

# setting -> the parameter of the estimators that stands for it
PARAMETER = {"lambda": "alpha", "tolerance": "tol", "iterations": "max_iter", "neighbors": "n_neighbors", "weighting": "weights",
             "noise": "alpha", "restarts": "n_restarts_optimizer", "learn": "optimizer", "tau": "quantile", "components": "n_components",
             "intercept": "fit_intercept", "clusters": "n_clusters", "class-weight": "class_weight"}
OTHER = {("KernelPCA", "solver"): "eigen_solver", ("KernelRidgeCV", "lambda"): "alphas"}
# machine -> the estimator a sentence may advise to take
ESTIMATOR = {"svc": "SVC", "nu-svc": "NuSVC", "svr": "SVR", "nu-svr": "NuSVR", "one-class": "OneClassSVM", "ridge": "KernelRidge",
             "gp": "GaussianProcessRegressor", "logistic": "KernelLogisticRegression", "quantile": "KernelQuantileRegressor",
             "huber": "KernelHuberRegressor", "pca": "KernelPCA"}
_PHRASES = ((r" \(allow_indefinite in C and Python\)", ""), (r", mercer_read\.target\b", ""),
            (r"\bmercer (fit|tune|path|folds|plan)\b", r"mercer.\1"),
            (r"--target-kind class\b", "y as text or whole numbers"), (r"--target-kind number\b", "y as numbers"))
_FLAGS = {"allow-indefinite", "center", "intercept", "loo", "learn", "ard", "no-target"}
_VALUE = r"(?: (none|auto|mean|drop|error|stored|cholesky|dense|krylov|nystrom|fourier|standard|minmax|\d[\w.+-]*))?"


def python_name(setting, owner=None):
    """What a setting is called in the constructor of an estimator, or among the arguments of mercer.fit."""
    if owner is None:
        return "lambda_" if setting == "lambda" else setting.replace("-", "_")
    return OTHER.get((owner, setting)) or PARAMETER.get(setting, setting.replace("-", "_"))


def _option(found, owner):
    name, value = python_name(found.group(1), owner), found.group(2)
    if value is not None:
        return f"{name}={value}" if value[0].isdigit() else f"{name}={value!r}"
    return f"{name}=True" if found.group(1) in _FLAGS else name


def _say(part, owner):
    """A stretch between quotation marks."""
    for pattern, words in _PHRASES:
        part = re.sub(pattern, words, part)
    part = re.sub(r"--(C\b|[a-z]+(?:-[a-z]+)*)" + _VALUE, lambda found: _option(found, owner), part)
    names = [name for name in PARAMETER if python_name(name, owner) != name]
    part = re.sub(rf"(?<![\w.=-])({'|'.join(names)})(?![\w=-])", lambda found: python_name(found.group(1), owner), part)
    if owner is None:
        return part
    return re.sub(rf"\b(take|solver) ({'|'.join(ESTIMATOR)})\b", lambda found: f"{found.group(1)} {ESTIMATOR[found.group(2)]}", part)


def in_python(message, owner=None):
    """A sentence of the library for someone who called an estimator, the owner, or a function."""
    if owner is not None:
        message = re.sub(r"^[a-z][a-z-]*: ", f"{owner}: ", message)
    parts = re.split(r"('[^']*')", message)  # what is quoted is the user's
    return "".join(part if place % 2 else _say(part, owner) for place, part in enumerate(parts))
