"""Gaussian process regression."""
from __future__ import annotations

import numpy as np

from . import _arrays
from ._base import RegressorBase, later, seed_of
from ._functions import fitted_gram, gram
from ._library import Handle, session
from ._sklearn import RegressorMixin
from ._types import Any, ArrayLike, Kernel, NDArray, Rows, Self

__all__ = ["GaussianProcessRegressor"]

LEAST = 2.0**-100 # of the largest alpha of a row: a row without noise has that much, which no sum of doubles can tell from none


class GaussianProcessRegressor(RegressorMixin, RegressorBase):
    """y = f(x) + noise, f ~ GP(0, k), as sklearn.gaussian_process.GaussianProcessRegressor.

    kernel: an expression, whose parameters are chosen to maximize the evidence unless optimizer is None; None is rbf(sigma=1), kept
    as it is. alpha: the variance of the noise, a number or one per row; 'learn' chooses it with the kernel. ard: one length scale per
    column. After a fit: kernel_ (an expression), noise_, log_marginal_likelihood_value_, X_train_, y_train_, alpha_, L_.

    >>> import mercer, numpy as np
    >>> X = np.linspace(0, 6, 30)[:, None]
    >>> gp = mercer.GaussianProcessRegressor(kernel="rbf(sigma=1)", alpha="learn").fit(X, np.sin(X[:, 0]))
    >>> mean, std = gp.predict([[1.5]], return_std=True)
    >>> bool(abs(mean[0] - np.sin(1.5)) < 0.01), bool(std[0] < 0.1)
    (True, True)
    """

    _several_outputs = True

    def __init__(self, kernel: Kernel | None = None, *, alpha: Any = 1e-10, optimizer: str | None = "fmin_l_bfgs_b",
                 n_restarts_optimizer: int = 0, normalize_y: bool = False, copy_X_train: bool = True, ard: bool = False,
                 max_iter: int = 200, random_state: Any = None, verbose: bool = False) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.optimizer = optimizer
        self.n_restarts_optimizer = n_restarts_optimizer
        self.normalize_y = normalize_y
        self.copy_X_train = copy_X_train
        self.ard = ard
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def _kernel_parameters(self):
        return {"gamma": None, "degree": 3, "coef0": 1}

    def _expression(self, X, weights=None):
        return "rbf(sigma=1)" if self.kernel is None else self.kernel

    def _noise(self, n):
        """The setting and the weights that give row i the variance alpha_i."""
        if isinstance(self.alpha, str):
            return -1.0, None
        alpha = np.asarray(self.alpha, dtype=np.float64)
        if alpha.ndim == 0 or not alpha.any():
            return float(alpha.max()), None
        if alpha.shape != (n,):
            raise ValueError(f"alpha must be a scalar or an array with same number of entries as y. ({alpha.shape[0]} != {n})")
        return 1.0, 1.0 / np.maximum(alpha, LEAST * alpha.max())

    def fit(self, X: Rows, y: ArrayLike) -> Self:
        """Fit to rows X and numbers y, n or n x outputs."""
        X = self._check_fit_rows(X)
        self._require_y(y)
        target = _arrays.check_target(y, X.shape[0], outputs=True)
        self._y_mean, self._y_std = np.zeros(target.shape[1:]), np.ones(target.shape[1:])
        if self.normalize_y:
            self._y_mean, spread = target.mean(axis=0), target.std(axis=0)
            self._y_std = np.where(spread > 0, spread, 1.0)
            target = np.ascontiguousarray((target - self._y_mean) / self._y_std)
        noise, weights = self._noise(X.shape[0])
        learn = self.optimizer is not None and self.kernel is not None
        settings = {"noise": noise, "learn": learn, "ard": bool(self.ard), "restarts": self.n_restarts_optimizer,
                    "iterations": self.max_iter, "intercept": False, "scale": "none"}
        self._flat = target.ndim == 1 or target.shape[1] == 1  # of one column, as in scikit-learn, predictions are a vector
        self.model_ = self._fit_model("gp", X, settings, target=target, weights=weights)
        self._keep(X, target)
        return self

    def _keep(self, X, target):
        model = self.model_
        self.kernel_ = model.kernel
        self.noise_ = model.fact("lambda")
        self.n_iter_ = max(int(model.fact("iterations")), 1)
        self.log_marginal_likelihood_value_ = model.fact("log_evidence")
        self.X_train_, self.y_train_ = (X.copy(), target.copy()) if self.copy_X_train else (X, target)

    @later
    def alpha_(self) -> NDArray:
        """Coefficients row by row."""
        coefficients = self.model_.coefficients
        return coefficients[:, 0] if self.y_train_.ndim == 1 else coefficients

    def predict(self, X: Rows, return_std: bool = False, return_cov: bool = False) -> Any:
        """The mean; with return_std or return_cov also the uncertainty of f, scaled as y is."""
        if return_std and return_cov:
            raise RuntimeError("At most one of return_std or return_cov can be requested.")
        X = self._check_rows(X)
        values = self._evaluate_checked("mercer_predict", X)
        mean = (values[:, 0] if self._flat else values) * self._y_std + self._y_mean
        if return_cov:
            return mean, self._outputs(self._covariance(X), self._y_std**2)
        if return_std:
            return mean, self._outputs(self._std(X), self._y_std)
        return mean

    def _outputs(self, spread, factor):
        """The uncertainty is the same for every output but for its scale."""
        return spread * factor if self._flat else spread[..., None] * np.broadcast_to(factor, self.y_train_.shape[1])

    def _posterior(self, context):
        return Handle(context.make("mercer_posterior_open", self.model_.address), "posterior")

    def _std(self, X):
        out = np.empty(X.shape[0])
        with session() as context:
            data, posterior = _arrays.data(context, self._to_library(X)), self._posterior(context)
            context.call("mercer_posterior_std", posterior, data, out.ctypes.data)
        return out

    @property
    def L_(self) -> NDArray:
        """The lower triangle with L L' = K + noise over the rows of the fit; computed when asked for."""
        noise, weights = self._noise(self.X_train_.shape[0])
        K = gram(self.kernel_, self.X_train_)
        K[np.diag_indices_from(K)] += self.noise_ if weights is None else 1.0 / weights
        return np.linalg.cholesky(K)

    def _covariance(self, X):
        seen = np.linalg.solve(self.L_, gram(self.kernel_, self.X_train_, X))
        return fitted_gram(self.kernel_, self.X_train_, X) - seen.T @ seen

    def log_marginal_likelihood(self, theta: None = None) -> float:
        """The evidence of the fit. Of other parameters: that of a fit with them in the expression and optimizer=None."""
        if theta is not None:
            raise ValueError("parameters stand in the expression: fit with optimizer=None and ask log_marginal_likelihood_value_")
        return self.log_marginal_likelihood_value_

    def sample_y(self, X: Rows, n_samples: int = 1, random_state: Any = 0) -> NDArray:
        """Functions drawn from the posterior at rows X: n x n_samples (n x outputs x n_samples)."""
        X = self._check_rows(X)
        draws = []
        with session() as context:
            data, posterior = _arrays.data(context, self._to_library(X)), self._posterior(context)
            for k in range(self.model_.outputs):
                out = np.empty((X.shape[0], n_samples))
                context.call("mercer_posterior_sample", posterior, data, k, n_samples, seed_of(random_state) + k,
                             out.ctypes.data)
                draws.append(out * np.ravel(self._y_std)[k] + np.ravel(self._y_mean)[k])
        return draws[0] if self._flat else np.stack(draws, axis=1)
