"""Nearest neighbours in the space of a kernel: the rows z with the least |phi(x) - phi(z)|."""
from __future__ import annotations

from ._base import ClassifierBase, RegressorBase
from ._sklearn import ClassifierMixin, RegressorMixin
from ._types import ArrayLike, Kernel, NDArray, Rows, Self

__all__ = ["KernelKNeighborsClassifier", "KernelKNeighborsRegressor"]


class _Neighbors:
    def __init__(self, n_neighbors: int = 5, *, weights: str = "uniform", kernel: Kernel = "rbf", gamma: float | str | None = "scale",
                 degree: float | None = 3, coef0: float | None = 1) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    def _settings(self, n):
        if self.n_neighbors > n:
            raise ValueError(f"Expected n_neighbors <= n_samples,  but n_samples = {n}, n_neighbors = {self.n_neighbors}")
        return {"neighbors": self.n_neighbors, "weighting": self.weights, "scale": "none"}


class KernelKNeighborsClassifier(_Neighbors, ClassifierMixin, ClassifierBase):
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
        return self

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
        return self
