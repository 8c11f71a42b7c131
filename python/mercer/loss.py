"""Machines with other convex losses: probabilities, quantiles, errors that outliers do not rule."""
from __future__ import annotations

import numpy as np

from ._base import ClassifierBase, ClassifierScore, RegressorBase
from ._sklearn import RegressorMixin
from ._types import Any, ArrayLike, Kernel, NDArray, Rows, Self

__all__ = ["KernelLogisticRegression", "KernelQuantileRegressor", "KernelHuberRegressor"]


def _settings(estimator, penalty, **more):
    return {"lambda": penalty, "tolerance": estimator.tol, "scale": "none", **more}


def _newton_settings(estimator, penalty, **more):
    return _settings(estimator, penalty, iterations=estimator.max_iter, solver=estimator.solver,
                     intercept=bool(estimator.fit_intercept), **more)


class KernelLogisticRegression(ClassifierScore, ClassifierBase):
    """min over f and b of 1/2 |f|^2 + C sum_i log(1 + exp(-y_i (f(x_i) + b))); softmax for more than two classes.

    The probabilities are the model: predict is their argmax. C as in sklearn.linear_model.LogisticRegression.

    >>> import mercer
    >>> clf = mercer.KernelLogisticRegression(C=10).fit([[0.0], [1.0], [2.0], [3.0]], ["low", "low", "high", "high"])
    >>> clf.predict_proba([[0.0]]).sum(axis=1).round(12).tolist(), clf.predict([[0.0], [3.0]]).tolist()
    ([1.0], ['low', 'high'])
    """

    def __init__(self, C: float = 1.0, *, kernel: Kernel = "rbf", gamma: float | str | None = "scale", degree: float | None = 3,
                 coef0: float | None = 1, tol: float = 1e-6, fit_intercept: bool = True, class_weight: dict | str | None = None,
                 max_iter: int = 200, solver: str = "auto", random_state: Any = None, verbose: bool = False) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.solver = solver
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Rows, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to rows X and classes y."""
        X = self._check_fit_rows(X)
        self._fit_classes("logistic", X, y, sample_weight, _newton_settings(self, 1 / self.C))
        self.n_iter_ = max(int(self.model_.fact("iterations")), 1)
        return self

    def predict_proba(self, X: Rows) -> NDArray:
        """Probabilities, one column for each of classes_."""
        return self._by_class("mercer_predict_proba", X)

    def predict_log_proba(self, X: Rows) -> NDArray:
        """Their logarithms."""
        return np.log(self.predict_proba(X))

    def decision_function(self, X: Rows) -> NDArray:
        """Two classes: log odds of classes_[1]. More: the scores whose softmax the probabilities are."""
        if len(getattr(self, "classes_", ())) > 2:
            return self._by_class("mercer_predict", X)
        proba = self.predict_proba(X)
        return np.log(proba[:, 1]) - np.log(proba[:, 0])


class KernelQuantileRegressor(RegressorMixin, RegressorBase):
    """min over f and b of sum_i pinball(y_i - f(x_i) - b) + alpha/2 |f|^2: the quantile of y given x.

    >>> import mercer, numpy as np
    >>> X, y = np.zeros((9, 1)), np.arange(9.0)
    >>> mercer.KernelQuantileRegressor(quantile=0.5).fit(X, y).predict(X[:1]).round(3).tolist()
    [4.0]
    """

    def __init__(self, *, quantile: float = 0.5, alpha: Any = 1.0, kernel: Kernel = "rbf", gamma: float | str | None = "scale",
                 degree: float | None = 3, coef0: float | None = 1, tol: float = 1e-6, verbose: bool = False) -> None:
        self.quantile = quantile
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.verbose = verbose

    def fit(self, X: Rows, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to rows X and numbers y."""
        X = self._check_fit_rows(X)
        self._fit_numbers("quantile", X, y, sample_weight, _settings(self, self.alpha, tau=self.quantile))
        return self


class KernelHuberRegressor(RegressorMixin, RegressorBase):
    """min over f and b of sum_i huber(y_i - f(x_i) - b) + alpha/2 |f|^2: squares up to delta, straight lines beyond.

    >>> import mercer, numpy as np
    >>> X = np.linspace(-1, 1, 21)[:, None]
    >>> y = X[:, 0].copy(); y[3] = 100.0
    >>> huber = mercer.KernelHuberRegressor(kernel="linear", alpha=1e-3, delta=0.1).fit(X, y)
    >>> bool(abs(huber.predict([[0.5]])[0] - 0.5) < 0.1)
    True
    """

    def __init__(self, *, delta: float = 1.35, alpha: Any = 1.0, kernel: Kernel = "rbf", gamma: float | str | None = "scale",
                 degree: float | None = 3, coef0: float | None = 1, tol: float = 1e-6, fit_intercept: bool = True, max_iter: int = 200,
                 solver: str = "auto", verbose: bool = False) -> None:
        self.delta = delta
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.solver = solver
        self.verbose = verbose

    def fit(self, X: Rows, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to rows X and numbers y."""
        X = self._check_fit_rows(X)
        self._fit_numbers("huber", X, y, sample_weight, _newton_settings(self, self.alpha, delta=self.delta))
        self.n_iter_ = max(int(self.model_.fact("iterations")), 1)
        return self
