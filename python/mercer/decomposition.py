"""Kernel principal components."""
from __future__ import annotations

import re

import numpy as np

from . import _arrays, _kernels
from ._base import KernelEstimator, later
from ._library import InvalidError, lib
from ._sklearn import ClassNamePrefixFeaturesOutMixin, NotFittedError, TransformerMixin
from .ridge import KernelRidge
from ._types import Any, ArrayLike, Kernel, NDArray, Rows, Self

__all__ = ["KernelPCA"]


def _directions(refusal):
    """How many directions there are: the library says so when it refuses more."""
    found = re.search(r"vary in (?:at most )?(\d+) directions|there is no variance|it does not vary about its mean", str(refusal))
    if not found:
        raise refusal
    return int(found.group(1) or 0)


class KernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelEstimator):
    """The directions of feature space along which the rows vary most, as sklearn.decomposition.KernelPCA.

    n_components=None takes all whose eigenvalue is not zero. max_iter, iterated_power and n_jobs are how scikit-learn's solvers go about
    it; here the library decides that, and as there they do not change the answer. After a fit: eigenvalues_, eigenvectors_, X_fit_,
    gamma_, and with fit_inverse_transform X_transformed_fit_ and dual_coef_.

    >>> import mercer, numpy as np
    >>> X = np.asarray([[0.0, 0.0], [1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])
    >>> pca = mercer.KernelPCA(n_components=1).fit(X)
    >>> pca.eigenvalues_.round(6).tolist()
    [25.0]
    """

    _function_of_rows = True

    def __init__(self, n_components: int | None = None, *, kernel: Kernel = "linear", gamma: float | str | None = None,
                 degree: float | None = 3, coef0: float | None = 1, kernel_params: dict | None = None, alpha: Any = 1.0,
                 fit_inverse_transform: bool = False, eigen_solver: str = "auto", tol: float = 0, max_iter: int | None = None,
                 iterated_power: int | str = "auto", remove_zero_eig: bool = False, random_state: Any = None, copy_X: bool = True,
                 n_jobs: int | None = None, verbose: bool = False) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.alpha = alpha
        self.fit_inverse_transform = fit_inverse_transform
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.iterated_power = iterated_power
        self.remove_zero_eig = remove_zero_eig
        self.random_state = random_state
        self.copy_X = copy_X
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _pca_settings(self, n):
        solver = self.eigen_solver if self.eigen_solver in ("dense", "krylov") else "auto"
        settings = {"components": min(n, self.n_components or n), "scale": "none", "solver": solver, "allow-indefinite": True}
        return {**settings, "tolerance": self.tol} if self.tol > 0 else settings

    def fit(self, X: Rows, y: ArrayLike | None = None) -> Self:
        """Fit to rows X; y is not looked at."""
        X = self._check_fit_rows(X)
        if self.fit_inverse_transform and _kernels.is_precomputed(self.kernel):
            raise ValueError("Cannot fit_inverse_transform with a precomputed kernel.")
        self.gamma_ = _kernels.gamma_value(self.gamma, X)
        self.X_fit_ = X.copy() if self.copy_X else X
        self.__dict__.pop("model_", None)
        self._fit_pca(X)
        self._keep()
        if self.fit_inverse_transform:
            self._fit_inverse(X)
        return self

    def _fit_pca(self, X):
        """As many components as were asked for, or as there are. Rows that do not vary at all have none, and there is no model then."""
        settings = self._pca_settings(X.shape[0])
        while settings["components"]:
            try:
                self.model_ = self._fit_model("pca", X, settings)
                return
            except InvalidError as refusal:
                settings["components"] = _directions(refusal)

    def _keep(self):
        """Directions that were asked for and in which nothing varies have eigenvalue 0 and scores 0, as in scikit-learn."""
        n, count = self.X_fit_.shape[0], self.model_.outputs if hasattr(self, "model_") else 0
        empty = 0 if self.remove_zero_eig or self.n_components is None else min(self.n_components, n) - count
        self._n_features_out = count + empty
        if not count:
            self.eigenvalues_, self.eigenvectors_ = np.zeros(empty), np.zeros((n, empty))

    @later
    def eigenvalues_(self) -> NDArray:
        """The largest first."""
        values = np.zeros(self._n_features_out)
        values[:self.model_.outputs] = [lib.mercer_model_component(self.model_.address, k).eigenvalue for k in range(self.model_.outputs)]
        return values

    @later
    def eigenvectors_(self) -> NDArray:
        """Of the matrix of the rows of the fit, in columns."""
        count = self.model_.outputs
        vectors = np.zeros((self.X_fit_.shape[0], self._n_features_out))
        vectors[self.model_.rows, :count] = self.model_.coefficients * np.sqrt(self.eigenvalues_[:count])
        return vectors

    def _fit_inverse(self, X):
        """The way back, learned: ridge from the scores to the rows."""
        if self._of_objects:
            raise NotImplementedError("fit_inverse_transform learns rows of numbers, and X is a list of texts or objects")
        if _arrays.is_sparse(X):
            raise NotImplementedError("fit_inverse_transform learns dense rows; give X.toarray()")
        self.X_transformed_fit_ = np.ascontiguousarray(self._scores(X))
        parameters = {"kernel": self.kernel, "gamma": self.gamma_, "degree": self.degree, "coef0": self.coef0,
                      "kernel_params": self.kernel_params}
        self._inverse = KernelRidge(self.alpha, **parameters).fit(self.X_transformed_fit_, X)
        self.dual_coef_ = self._inverse.dual_coef_

    def _scores(self, X):
        scores = self._evaluate_checked("mercer_predict", X) if hasattr(self, "model_") else np.empty((X.shape[0], 0))
        empty = self._n_features_out - scores.shape[1]
        return scores if not empty else np.hstack([scores, np.zeros((len(scores), empty))])

    def transform(self, X: Rows) -> NDArray:
        """Scores of rows: n x components."""
        return self._scores(self._check_rows(X))

    def inverse_transform(self, X: Rows) -> NDArray:
        """Rows whose scores are about X; needs fit_inverse_transform=True."""
        if not self.fit_inverse_transform:
            raise NotFittedError("The fit_inverse_transform parameter was not set to True when instantiating and hence the inverse "
                                 "transform is not available.")
        return self._inverse.predict(X)
