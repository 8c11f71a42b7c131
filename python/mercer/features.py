"""Explicit features whose inner products approximate a kernel."""
from __future__ import annotations

import re

import numpy as np

from . import _kernels
from ._base import KernelEstimator
from ._functions import bound_text, fitted_gram
from ._sklearn import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from ._types import Any, ArrayLike, Kernel, NDArray, Rows, Self

__all__ = ["Nystroem", "RandomFourierFeatures"]


def _generator(random_state):
    if isinstance(random_state, (np.random.RandomState, np.random.Generator)):
        return random_state
    return np.random.RandomState(random_state)


class Nystroem(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelEstimator):
    """Features from the kernel values with a few rows drawn at random, as sklearn.kernel_approximation.Nystroem.

    n_jobs is taken and not looked at: mercer.options(threads=) says how many. After a fit: components_, component_indices_, normalization_.

    >>> import mercer, numpy as np
    >>> X = np.linspace(0, 1, 20)[:, None]
    >>> Z = mercer.Nystroem(n_components=10, gamma=1.0, random_state=0).fit_transform(X)
    >>> bool(np.abs(Z @ Z.T - mercer.gram("rbf(gamma=1)", X)).max() < 1e-6)
    True
    """

    _function_of_rows = True

    def __init__(self, kernel: Kernel = "rbf", *, gamma: float | str | None = None, coef0: float | None = None,
                 degree: float | None = None, kernel_params: dict | None = None, n_components: int = 100, random_state: Any = None,
                 n_jobs: int | None = None) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.kernel_params = kernel_params
        self.n_components = n_components
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Rows, y: ArrayLike | None = None) -> Self:
        """Choose the rows; y is not looked at."""
        if _kernels.by_matrix(self.kernel) and any(getattr(self, name) is not None for name in ("gamma", "coef0", "degree")):
            raise ValueError("Don't pass gamma, coef0 or degree to Nystroem if using a callable or precomputed kernel")
        X = self._check_fit_rows(X)
        count = min(self.n_components, X.shape[0])
        self.component_indices_ = _generator(self.random_state).permutation(X.shape[0])[:count]
        self.components_ = X[self.component_indices_]
        self._kernel = self._expression(X)
        U, S, V = np.linalg.svd(self._values(self.components_))
        self.normalization_ = (U / np.sqrt(np.maximum(S, 1e-12))) @ V
        self._n_features_out = count
        return self

    def transform(self, X: Rows) -> NDArray:
        """n x n_components."""
        return self._values(self._check_rows(X)) @ self.normalization_.T

    def _kernel_parameters(self):
        """Those that are None may stand in kernel_params."""
        more = {} if callable(self.kernel) else self.kernel_params or {}
        return {name: more.get(name) if value is None else value for name, value in super()._kernel_parameters().items()}

    def _values(self, X):
        """K(X, components)."""
        if _kernels.is_precomputed(self.kernel):
            return X[:, self.component_indices_]
        if callable(self.kernel):
            return _kernels.values(self.kernel, X, self.components_, self._function_of_rows, self.kernel_params)
        return fitted_gram(self._kernel, self.components_, X, self.components_)


# How the frequencies of exp(-gamma |u|^2), exp(-gamma |u|_1), exp(-gamma |u|), and of matern, the t distribution, are drawn: d x count.
def _normal(rng, d, count, gamma):
    return np.sqrt(2 * gamma) * rng.normal(size=(d, count))


def _cauchy(rng, d, count, gamma):
    return gamma * rng.standard_cauchy(size=(d, count))


def _student(rng, d, count, freedom, scale):
    return rng.normal(size=(d, count)) * np.sqrt(freedom / rng.chisquare(freedom, size=count)) * scale


_SPECTRA = {
    "rbf": lambda rng, d, count, p: _normal(rng, d, count, p["gamma"] if "gamma" in p else 0.5 / p["sigma"] ** 2),
    "laplacian": lambda rng, d, count, p: _cauchy(rng, d, count, p["gamma"]),
    "exponential": lambda rng, d, count, p: _student(rng, d, count, 1, p["gamma"]),
    "matern": lambda rng, d, count, p: _student(rng, d, count, 2 * p.get("nu", 1.5), 1 / p["length_scale"]),
}


class RandomFourierFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelEstimator):
    """Random waves sqrt(2/n_components) cos(x W + b), whose inner products approach a kernel of x - z as their number grows; with 'rbf'
    and a seed those of sklearn.kernel_approximation.RBFSampler.

    kernel: 'rbf' or 'laplacian' with gamma, or rbf, laplacian, exponential or matern as an expression. After a fit: random_weights_,
    random_offset_.

    >>> import mercer, numpy as np
    >>> X = np.linspace(0, 1, 20)[:, None]
    >>> Z = mercer.RandomFourierFeatures("matern(nu=1.5, length_scale=1)", n_components=4000, random_state=0).fit_transform(X)
    >>> bool(np.abs(Z @ Z.T - mercer.gram("matern(nu=1.5, length_scale=1)", X)).max() < 0.1)
    True
    """

    def __init__(self, kernel: Kernel = "rbf", *, gamma: float | str | None = 1.0, n_components: int = 100,
                 random_state: Any = None) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.n_components = n_components
        self.random_state = random_state

    def _kernel_parameters(self):
        return {"gamma": self.gamma}

    def _spectrum(self, X):
        """Name and parameters of the kernel, every one of them a number."""
        if _kernels.by_matrix(self.kernel):
            raise ValueError("the frequencies of a function or a matrix are not known here; known are rbf, laplacian, exponential and matern")
        text = bound_text(self._expression(X), X)
        found = re.fullmatch(r"(\w+)\((.*)\)", text)
        name, inside = found.groups() if found else (text, "")
        numbers = re.findall(r"(\w+)=([-+.\deE]+)(?=,|$)", inside)
        if name not in _SPECTRA or len(numbers) != inside.count("="):
            raise ValueError(f"the frequencies of {text} are not known here; known are rbf, laplacian, exponential and matern with one "
                             "number for all columns")
        return name, {key: float(value) for key, value in numbers}

    def fit(self, X: Rows, y: ArrayLike | None = None) -> Self:
        """Draw the frequencies; of X only its columns count, and its spread where a bandwidth is left open."""
        X = self._check_fit_rows(X)
        name, parameters = self._spectrum(X)
        rng = _generator(self.random_state)
        self.random_weights_ = _SPECTRA[name](rng, X.shape[1], self.n_components, parameters)
        self.random_offset_ = rng.uniform(0, 2 * np.pi, size=self.n_components)
        self._n_features_out = self.n_components
        return self

    def transform(self, X: Rows) -> NDArray:
        """n x n_components."""
        X = self._check_rows(X)
        waves = np.asarray(X @ self.random_weights_) + self.random_offset_
        return np.cos(waves, out=waves) * np.sqrt(2.0 / self.n_components)
