"""Nearest neighbours in the space of a kernel: the rows z with the least |phi(x) - phi(z)|."""
from __future__ import annotations

import numpy as np

from . import _arrays, _kernels
from ._base import ClassifierBase, ClassifierScore, KernelEstimator, RegressorBase
from ._functions import fitted_gram
from ._sklearn import RegressorMixin
from ._types import Any, ArrayLike, Kernel, NDArray, Rows, Self

__all__ = ["KernelKNeighborsClassifier", "KernelKNeighborsRegressor"]


BLOCK = 1 << 22  # kernel values held at a time while neighbours are looked for


def _diagonal(kernel, fitted, X, step=64):
    """k(x, x) for every row."""
    return np.concatenate([fitted_gram(kernel, fitted, X[i:i + step]).diagonal() for i in range(0, X.shape[0], step)])


class _Neighbors(KernelEstimator):
    def __init__(self, n_neighbors: int = 5, *, weights: str = "uniform", kernel: Kernel = "rbf", gamma: float | str | None = "scale",
                 degree: float | None = 3, coef0: float | None = 1) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    def _keep(self, X, sample_weight):
        """The rows that may be neighbours: those whose weight is not zero. Without weights they are the caller's own, as scikit-learn keeps them."""
        self._fit_X, self.n_samples_fit_, self._places = X, X.shape[0], None
        if sample_weight is not None:
            self._places = np.flatnonzero(_arrays.check_weights(sample_weight, X.shape[0]) > 0)
            self._fit_X = X[self._places]
        return self

    def _distances(self, X):
        """|phi(x) - phi(z)| for rows x of X and z of the fit."""
        kernel, Z = self.model_.kernel, self._fit_X
        squares = _diagonal(kernel, Z, X)[:, None] + _diagonal(kernel, Z, Z) - 2 * fitted_gram(kernel, Z, X, Z)
        return np.sqrt(np.maximum(squares, 0))

    def kneighbors(self, X: Rows | None = None, n_neighbors: int | None = None, return_distance: bool = True) -> Any:
        """(distances, places in the rows of the fit) of the nearest of every row of X, the nearest first; places alone without
        return_distance. X=None: of the rows of the fit, which are not their own neighbours."""
        if _kernels.by_matrix(self.kernel):
            raise NotImplementedError("kneighbors needs k(x, x), which a matrix of values does not hold; give kernel= as an expression")
        rows = self._check_rows(X) if X is not None else self._fit_X
        count, most = self.n_neighbors if n_neighbors is None else n_neighbors, self._fit_X.shape[0] - (X is None)
        if not 0 < count <= most:
            raise ValueError(f"Expected n_neighbors <= n_samples_fit, but n_neighbors = {count}, n_samples_fit = {most}")
        found, step = [], max(1, BLOCK // self._fit_X.shape[0])
        for begin in range(0, rows.shape[0], step):
            far = self._distances(rows[begin:begin + step])
            if X is None:
                far[np.arange(len(far)), begin + np.arange(len(far))] = np.inf
            nearest = np.argsort(far, axis=1, kind="stable")[:, :count]
            found.append((np.take_along_axis(far, nearest, axis=1), nearest if self._places is None else self._places[nearest]))
        distances, places = (np.concatenate(parts) for parts in zip(*found))
        return (distances, places) if return_distance else places

    def _settings(self, n):
        if self.n_neighbors > n:
            raise ValueError(f"Expected n_neighbors <= n_samples,  but n_samples = {n}, n_neighbors = {self.n_neighbors}")
        return {"neighbors": self.n_neighbors, "weighting": self.weights, "scale": "none"}


class KernelKNeighborsClassifier(_Neighbors, ClassifierScore, ClassifierBase):
    """Votes of the nearest rows; with kernel='linear' the distance is the Euclidean one.

    >>> import mercer
    >>> knn = mercer.KernelKNeighborsClassifier(n_neighbors=1).fit([[0.0], [1.0]], ["a", "b"])
    >>> knn.predict([[0.2], [0.9]]).tolist()
    ['a', 'b']
    """

    def fit(self, X: Rows, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Keep rows X and classes y; a row of weight w votes w times."""
        X = self._check_fit_rows(X)
        self._fit_classes("knn", X, y, sample_weight, self._settings(X.shape[0]))
        return self._keep(X, sample_weight)

    def predict_proba(self, X: Rows) -> NDArray:
        """The share of votes of each class."""
        votes = self._by_class("mercer_predict", X)
        return votes / votes.sum(axis=1, keepdims=True)


class KernelKNeighborsRegressor(_Neighbors, RegressorMixin, RegressorBase):
    """The mean of the nearest rows.

    >>> import mercer
    >>> mercer.KernelKNeighborsRegressor(n_neighbors=2).fit([[0.0], [1.0], [9.0]], [1.0, 3.0, 7.0]).predict([[0.4]]).tolist()
    [2.0]
    """

    _several_outputs = True

    def fit(self, X: Rows, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Keep rows X and numbers y, n or n x outputs."""
        X = self._check_fit_rows(X)
        self._fit_numbers("knn", X, y, sample_weight, self._settings(X.shape[0]), outputs=True)
        return self._keep(X, sample_weight)
