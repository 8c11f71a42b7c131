"""Groups of rows that are near each other in the space of a kernel."""
from __future__ import annotations

import ctypes

import numpy as np

from . import _arrays, _header, _kernels
from ._base import KernelEstimator, seed_of
from ._functions import fitted_gram_apply, gram
from ._library import defaults, lib, parse, session
from ._sklearn import ClusterMixin
from ._types import Any, ArrayLike, Kernel, NDArray, Rows, Self

__all__ = ["KernelKMeans", "SpectralClustering"]


class _Clusterer(ClusterMixin, KernelEstimator):
    n_clusters: int
    n_init: int
    random_state: Any

    def _cluster(self, function, X, iterations, eigenvalues=None):
        """labels_, inertia_, n_iter_ of one of the calls that make groups."""
        if X.shape[0] < self.n_clusters:
            raise ValueError(f"n_samples={X.shape[0]} should be >= n_clusters={self.n_clusters}.")
        labels, found, wish = np.empty(X.shape[0], dtype=np.int64), _header.mercer_clusters(), defaults("clustering")
        wish.clusters, wish.restarts, wish.seed = self.n_clusters, self.n_init, seed_of(self.random_state)
        wish.iterations = iterations or wish.iterations
        more = () if eigenvalues is None else (eigenvalues.ctypes.data,)
        with session(wish.seed, bool(getattr(self, "verbose", False)), type(self).__name__) as context:
            data, kernel = _arrays.data(context, self._to_library(X, True)), parse(context, self._expression(X))
            context.call(function, kernel.address, data, ctypes.byref(wish), labels.ctypes.data, *more, ctypes.byref(found))
        self.labels_, self.n_iter_ = labels.astype(np.int32), max(found.iterations, 1)
        self.inertia_, self.total_ = found.objective, found.total
        return self


class KernelKMeans(_Clusterer):
    """Groups of rows with the least sum of |phi(x) - mean of its group|^2, from several starts; with kernel='linear' this is k-means.

    After a fit: labels_, inertia_ (that sum), total_ (the same with one group), n_iter_.

    >>> import mercer, numpy as np
    >>> mercer.KernelKMeans(2, kernel="linear", random_state=0).fit([[0.0], [0.1], [5.0], [5.1]]).labels_.tolist()
    [0, 0, 1, 1]
    """

    def __init__(self, n_clusters: int = 8, *, kernel: Kernel = "rbf", gamma: float | str | None = "scale", degree: float | None = 3,
                 coef0: float | None = 1, n_init: int = 10, max_iter: int = 300, random_state: Any = None, verbose: bool = False) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Rows, y: ArrayLike | None = None) -> Self:
        """Group the rows X; y is not looked at."""
        X = self._check_fit_rows(X)
        self._cluster("mercer_cluster", X, self.max_iter)
        self._fit_X, self._kernel = X, self._expression(X)
        member = np.equal.outer(self.labels_, np.arange(self.n_clusters)).astype(float)
        self._mean = member / np.maximum(member.sum(axis=0), 1)
        self._square = (self._mean * self._products(X)).sum(axis=0)
        return self

    def _products(self, X):
        """<phi(x), mean of each group> for rows x."""
        if _kernels.is_precomputed(self.kernel):
            return X @ self._mean
        if callable(self.kernel):
            return _kernels.values(self.kernel, X, self._fit_X, self._function_of_rows) @ self._mean
        return fitted_gram_apply(self._kernel, self._fit_X, X, self._mean, self._fit_X)

    def predict(self, X: Rows) -> NDArray:
        """The group whose mean is nearest, for every row."""
        X = self._check_rows(X)
        return (self._square - 2 * self._products(X)).argmin(axis=1).astype(np.int32)


class SpectralClustering(_Clusterer):
    """Groups of any shape, from the eigenvectors of the normalised Laplacian of a graph that joins rows as strongly as the kernel says, as
    sklearn.cluster.SpectralClustering finds them.

    affinity: a name, an expression, 'precomputed' or a function, as kernel= elsewhere; no value may be negative. After a fit: labels_,
    eigenvalues_ (one per group, rising from 0), affinity_matrix_ (computed when asked for).

    >>> import mercer
    >>> X, y = mercer.generate("circles", 200, noise=0.03)
    >>> labels = mercer.SpectralClustering(2, gamma=30.0, random_state=0).fit(X).labels_
    >>> len({(label, kind) for label, kind in zip(labels.tolist(), y.tolist())})
    2
    """

    def __init__(self, n_clusters: int = 8, *, affinity: Kernel = "rbf", gamma: float | str | None = 1.0, degree: float | None = 3,
                 coef0: float | None = 1, n_init: int = 10, random_state: Any = None, verbose: bool = False) -> None:
        self.n_clusters = n_clusters
        self.affinity = affinity
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_init = n_init
        self.random_state = random_state
        self.verbose = verbose

    @property
    def kernel(self) -> Kernel:
        """affinity, by the name it has in the other estimators."""
        return self.affinity

    def fit(self, X: Rows, y: ArrayLike | None = None) -> Self:
        """Group the rows X; y is not looked at."""
        X = self._check_fit_rows(X)
        self.eigenvalues_ = np.empty(self.n_clusters)
        self._cluster("mercer_cluster_spectral", X, 0, self.eigenvalues_)
        self._fit_X, self._kernel = X, self._expression(X)
        return self

    @property
    def affinity_matrix_(self) -> NDArray:
        """How strongly the rows of the fit are joined."""
        if _kernels.is_precomputed(self.affinity):
            return self._fit_X
        if callable(self.affinity):
            return _kernels.values(self.affinity, self._fit_X, self._fit_X, self._function_of_rows)
        return gram(self._kernel, self._fit_X)
