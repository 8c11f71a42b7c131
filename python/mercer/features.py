"""Explicit features whose inner products approximate a kernel."""
import numpy as np

from . import _kernels
from ._base import KernelEstimator
from ._functions import gram
from ._sklearn import ClassNamePrefixFeaturesOutMixin, TransformerMixin

__all__ = ["Nystroem"]


def _generator(random_state):
    if isinstance(random_state, (np.random.RandomState, np.random.Generator)):
        return random_state
    return np.random.RandomState(random_state)


class Nystroem(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelEstimator):
    """Features from the kernel values with a few rows drawn at random, as sklearn.kernel_approximation.Nystroem.

    After a fit: components_, component_indices_, normalization_.

    >>> import mercer, numpy as np
    >>> X = np.linspace(0, 1, 20)[:, None]
    >>> Z = mercer.Nystroem(n_components=10, gamma=1.0, random_state=0).fit_transform(X)
    >>> bool(np.abs(Z @ Z.T - mercer.gram("rbf(gamma=1)", X)).max() < 1e-6)
    True
    """

    def __init__(self, kernel="rbf", *, gamma=None, coef0=None, degree=None, n_components=100, random_state=None):
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.n_components = n_components
        self.random_state = random_state

    def fit(self, X, y=None):
        """Choose the rows; y is not looked at."""
        X = self._check_fit_rows(X)
        count = min(self.n_components, X.shape[0])
        self.component_indices_ = _generator(self.random_state).permutation(X.shape[0])[:count]
        self.components_ = X[self.component_indices_]
        self._kernel = self._expression(X)
        U, S, V = np.linalg.svd(gram(self._kernel, self.components_))
        self.normalization_ = (U / np.sqrt(np.maximum(S, 1e-12))) @ V
        self._n_features_out = count
        return self

    def transform(self, X):
        """n x n_components."""
        return gram(self._kernel, self._check_rows(X), self.components_) @ self.normalization_.T
