"""Kernel ridge regression, with scikit-learn's parameters, and with its penalty chosen from rows left out."""
from __future__ import annotations

import numbers

import numpy as np

from . import _arrays, _machines, _model
from ._base import RegressorBase, later, seed_of
from ._library import parse, session
from ._sklearn import RegressorMixin
from ._types import Any, ArrayLike, Kernel, NDArray, Rows, Self

__all__ = ["KernelRidge", "KernelRidgeCV"]


def folds_of(splits, n):
    """The fold of every row, from pairs (train, test) of which each leaves out other rows."""
    fold = np.full(n, -1, dtype=np.int64)
    for number, (learned, left_out) in enumerate(splits):
        rows = np.arange(n)[left_out]
        if (fold[rows] >= 0).any() or len(np.union1d(rows, np.arange(n)[learned])) < n:
            raise ValueError("cv must leave every row out once and learn from all the others: KFold does, ShuffleSplit does not")
        fold[rows] = number
    if (fold < 0).any():
        raise ValueError(f"cv leaves row {int(fold.argmin())} in every time; each must be left out once")
    return fold


class KernelRidge(RegressorMixin, RegressorBase):
    """min over f of sum_i w_i (y_i - f(x_i))^2 + alpha |f|^2, as sklearn.kernel_ridge.KernelRidge.

    solver, tol: how the system is solved ('auto', 'cholesky', 'mixed', 'eigen', 'pcg', 'primal': exact; 'nystrom', 'fourier':
    approximate, `rank` landmarks or frequencies) and, for the iterative ones, how far. After a fit: dual_coef_, X_fit_.

    >>> import mercer
    >>> ridge = mercer.KernelRidge(alpha=1.0, kernel="linear").fit([[1.0], [2.0]], [1.0, 2.0])
    >>> ridge.predict([[6.0]]).round(6).tolist()
    [5.0]
    """

    _several_outputs = _function_of_rows = True

    def __init__(self, alpha: Any = 1, *, kernel: Kernel = "linear", gamma: float | str | None = None, degree: float | None = 3,
                 coef0: float | None = 1, kernel_params: dict | None = None, solver: str = "auto", tol: float = 1e-6, rank: int = 0,
                 random_state: Any = None, verbose: bool = False) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.solver = solver
        self.tol = tol
        self.rank = rank
        self.random_state = random_state
        self.verbose = verbose

    def _ridge_settings(self, alpha):
        return {"lambda": alpha, "scale": "none", "solver": self.solver, "tolerance": self.tol, "rank": self.rank,
                "allow-indefinite": True}

    def fit(self, X: Rows, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to rows X and numbers y, n or n x outputs."""
        X = self._check_fit_rows(X)
        if np.ndim(self.alpha):
            return self._fit_each(X, y, sample_weight)
        target, weights = self._fit_numbers("ridge", X, y, sample_weight, self._ridge_settings(float(self.alpha)), outputs=True)
        self.X_fit_ = X
        counted = X.shape[0] if weights is None else np.count_nonzero(weights)
        if self.model_.centres != counted and self.alpha:
            self.dual_coef_ = self._dual_of_residuals(X, target, weights)
        return self

    def _dual_of_residuals(self, X, target, weights):
        """Of a model that keeps not all rows: alpha c = w (y - f)."""
        residual = target.reshape(X.shape[0], -1) - self._evaluate_checked("mercer_predict", X)
        out = residual * (1.0 if weights is None else weights[:, None]) / float(self.alpha)
        return out[:, 0] if self._flat else out

    @later
    def dual_coef_(self) -> NDArray:
        """Coefficients row by row, 0 for rows of weight zero."""
        out = np.zeros((self.X_fit_.shape[0], self.model_.outputs))
        out[self.model_.rows] = self.model_.coefficients
        return out[:, 0] if self._flat else out

    def _fit_each(self, X, y, sample_weight):
        """One alpha for every output: as many models."""
        self._require_y(y)
        target = _arrays.check_target(y, X.shape[0], outputs=True)
        weights = _arrays.check_weights(sample_weight, X.shape[0])
        columns, alphas = target.reshape(X.shape[0], -1), np.ravel(self.alpha).astype(float)
        if len(alphas) not in (1, columns.shape[1]):
            raise ValueError(f"Number of targets and number of penalties do not correspond: {columns.shape[1]} != {len(alphas)}")
        alphas = np.broadcast_to(alphas, columns.shape[1])
        parts = [KernelRidge(**self.get_params(deep=False)).set_params(alpha=float(a)).fit(X, columns[:, k], weights)
                 for k, a in enumerate(alphas)]
        self.model_, self._parts, self._flat = parts[0].model_, parts, target.ndim == 1
        self.X_fit_ = X
        dual = np.column_stack([part.dual_coef_ for part in parts])
        self.dual_coef_ = dual[:, 0] if self._flat else dual
        return self

    def predict(self, X: Rows) -> NDArray:
        """The predicted number of every row, or a row of numbers for several outputs."""
        if np.ndim(self.alpha) and hasattr(self, "_parts"):
            values = np.column_stack([part.predict(X) for part in self._parts])
            return values[:, 0] if self._flat else values
        return super().predict(X)


class KernelRidgeCV(RegressorMixin, RegressorBase):
    """Kernel ridge with the penalty of least error on rows that were left out, for all values of alpha from one decomposition of K.

    cv=None leaves every row out in turn, exactly and without refitting; cv=k leaves out k folds, as does one of scikit-learn's splitters or
    a list of (train, test), each row in one test set. After a fit: alpha_, best_score_ (minus the mean squared error), cv_results_
    (alpha, loo_rmse, fold_rmse, gcv, dof, norm for every value).

    >>> import mercer, numpy as np
    >>> X = np.linspace(0, 6, 50)[:, None]
    >>> ridge = mercer.KernelRidgeCV(alphas=(1e-6, 1e-3, 1.0), kernel="rbf").fit(X, np.sin(X[:, 0]))
    >>> ridge.alpha_
    1e-06
    """

    _several_outputs = _function_of_rows = True

    def __init__(self, alphas: ArrayLike = (0.1, 1.0, 10.0), *, kernel: Kernel = "linear", gamma: float | str | None = None,
                 degree: float | None = 3, coef0: float | None = 1, cv: Any = None, random_state: Any = None,
                 verbose: bool = False) -> None:
        self.alphas = alphas
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.cv = cv
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Rows, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Choose alpha, then fit to all rows."""
        X = self._check_fit_rows(X)
        self._require_y(y)
        if X.shape[0] < 2:
            raise ValueError(f"Leaving rows out needs at least two samples, got n_samples = {X.shape[0]}")
        alphas = np.ascontiguousarray(np.ravel(self.alphas), dtype=np.float64)
        if not len(alphas):
            raise ValueError("alphas must hold at least one number")
        target = _arrays.check_target(y, X.shape[0], outputs=True)
        self.cv_results_ = dict(self._path(X, target, _arrays.check_weights(sample_weight, X.shape[0]), alphas))
        self.cv_results_["alpha"] = self.cv_results_.pop("lambda")
        errors = self.cv_results_["loo_rmse" if self.cv is None else "fold_rmse"]
        best = int(np.nanargmin(errors)) if not np.isnan(errors).all() else 0
        self.alpha_, self.best_score_ = float(alphas[best]), -float(errors[best]) ** 2
        self._fit_numbers("ridge", X, target, sample_weight, {"lambda": self.alpha_, **self._fixed()}, outputs=True)
        self.X_fit_ = X
        return self

    def _fixed(self):
        return {"scale": "none", "allow-indefinite": True}

    def _folds(self, context, data, X, target):
        if isinstance(self.cv, numbers.Integral):
            return _machines.fold_numbers(context, data, self.cv, None, seed_of(self.random_state))
        return folds_of(self.cv.split(X, target) if hasattr(self.cv, "split") else self.cv, X.shape[0])

    def _path(self, X, target, weights, alphas):
        machine = _model.machine("ridge")
        with session(seed_of(self.random_state), bool(self.verbose), type(self).__name__) as context:
            data = _arrays.data(context, self._to_library(X, True), target, weights=weights)
            kernel = parse(context, self._expression(X, weights))
            struct = _model.settings_struct(context, machine, self._fixed())
            fold = None if self.cv is None else self._folds(context, data, X, target)
            return _machines.path_columns("ridge", _machines.run_path(context, "ridge", kernel, data, struct, alphas, fold))
