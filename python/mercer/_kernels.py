"""kernel=: scikit-learn's names with its parameters, or any expression of the kernel language.

The bare names mean what they mean in scikit-learn, defaults included; everything else is read by the library. sigmoid is not positive
definite: it becomes tanh, and the machines that can are told to fit it all the same."""
import numpy as np

from ._arrays import is_sparse

# name -> (template, parameters it takes); gamma, degree and coef0 are put in as numbers that read back to the same double
SKLEARN = {
    "linear": "linear",
    "rbf": "rbf(gamma={gamma})",
    "poly": "poly(degree={degree}, c={coef0}, gamma={gamma})",
    "polynomial": "poly(degree={degree}, c={coef0}, gamma={gamma})",
    "sigmoid": "tanh(a={gamma}, c={coef0})",
    "laplacian": "laplacian(gamma={gamma})",
    "chi2": "chi2(gamma={gamma})",
    "cosine": "cosine",
}


def gamma_value(gamma, X, kernel=None):
    """'scale': 1/(d var X); 'auto' and None: 1/d (1 for chi2, as in scikit-learn); a number is itself."""
    if isinstance(gamma, str):
        if gamma == "scale":
            variance = X.multiply(X).mean() - X.mean() ** 2 if is_sparse(X) else X.var()
            return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
        if gamma != "auto":
            raise ValueError(f"gamma must be 'scale', 'auto' or a number that is not negative, got {gamma!r}")
    elif gamma is not None:
        if gamma < 0:
            raise ValueError(f"gamma must be 'scale', 'auto' or a number that is not negative, got {gamma!r}")
        return float(gamma)
    return 1.0 if kernel == "chi2" else 1.0 / X.shape[1]


def number(value):
    return repr(int(value)) if isinstance(value, (int, np.integer)) else repr(float(value))


def expression(kernel, X, gamma=None, degree=3, coef0=1):
    """The expression of kernel= for rows X."""
    template = SKLEARN.get(kernel)
    if template is None:
        if kernel == "additive_chi2":
            raise ValueError("additive_chi2 is not positive definite; chi2 is, or use kernel='precomputed'")
        return kernel
    whole = int(degree) if degree is not None and float(degree).is_integer() else degree
    return template.format(gamma=number(gamma_value(gamma, X, kernel)) if "{gamma}" in template else "",
                           degree=number(3 if whole is None else whole), coef0=number(1 if coef0 is None else coef0))
